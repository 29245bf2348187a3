/* SPDX-License-Identifier: BSD-3-Clause */
/* See htfam.h. */
#include "conn/htfam/htfam.h"
#include "conn/core.h"

/* -- translation ----------------------------------------------------------- */

/* The meaning of a header type in terms of the base protocol. */
struct meaning {
	uint32_t type;
	uint32_t htype, flags;
};

static const struct meaning meanings[] = {
        {RDMA2_X_CALL_LAST, RDMA2_MSG, 0},
        {RDMA2_X_CALL_MIDDLE, RDMA2_MSG, RDMA2_F_MORE},
        {RDMA2_X_CALL_EXTERNAL, RDMA2_NOMSG, 0},
        {RDMA2_X_REPLY_LAST, RDMA2_MSG, RDMA2_F_RESPONSE},
        {RDMA2_X_REPLY_MIDDLE, RDMA2_MSG, RDMA2_F_RESPONSE | RDMA2_F_MORE},
        {RDMA2_X_REPLY_EXTERNAL, RDMA2_NOMSG, RDMA2_F_RESPONSE},
        {RDMA2_X_GRANT, RDMA2_NOMSG, 0}, /* with XID 0 */
        {RDMA2_X_CONNPROP_MIDDLE, RDMA2_CONNPROP, RDMA2_F_TPMORE},
        {RDMA2_X_CONNPROP_LAST, RDMA2_CONNPROP, 0},
};

/* Returns the meaning of @type, or NULL if the feature does not have that type. */
static const struct meaning *find_meaning(uint32_t type)
{
	for (unsigned i = 0; i < RR_ARRAY_SIZE(meanings); i++)
		if (meanings[i].type == type)
			return &meanings[i];
	return NULL;
}

/* Returns the header type of a message to send. */
static uint32_t find_type(const struct rr_head *h)
{
	unsigned i = 0;

	if (h->htype == RDMA2_NOMSG && !h->lists)
		return RDMA2_X_GRANT;
	while (meanings[i].htype != h->htype || meanings[i].flags != h->flags)
		i++; /* there are types for all RPC messages */
	return meanings[i].type;
}

static uint32_t translate_htfam(struct rr_msg *m)
{
	const struct meaning *k = find_meaning(m->p.htype);
	bool more = m->more, tpmore = m->tpmore;

	m->family = &rr_htfam_family;
	if (m->p.htype == RDMA2_X_GRANT)
		m->p.xid = 0; /* whatever the peer sent */
	m->p.htype = k->htype;
	m->response = k->flags & RDMA2_F_RESPONSE;
	m->more = k->flags & RDMA2_F_MORE;
	m->tpmore = k->flags & RDMA2_F_TPMORE;
	if (tpmore)
		return RDMA2_ERR_INVAL_HTYPE;
	return more ? RDMA2_ERR_INVAL_CONT : 0;
}

/* -- the family ------------------------------------------------------------ */

static const struct rr_lists *lists_of(const struct rr_head *h)
{
	static const struct rr_lists none = {0};

	return h->lists ? h->lists : &none;
}

static size_t htfam_header_bytes(const struct rr_conn *c, const struct rr_head *h)
{
	(void)c;
	return RR_WIRE_PREFIX + rr_wire_htfam_lists_size(find_type(h), lists_of(h));
}

static void put_htfam_header(const struct rr_conn *c, struct rr_writer *w,
                             const struct rr_head *h, uint32_t rest)
{
	const struct rr_prefix p = {
	        .xid = h->xid,
	        .vers = RPCRDMA_VERSION_TWO,
	        .htype = find_type(h),
	        .flags = h->flags & RDMA2_F_RESPONSE,
	};

	(void)c;
	rr_wire_put_prefix(w, &p);
	rr_wire_htfam_put_lists(w, p.htype, lists_of(h), rest);
}

static int get_htfam_lists(struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);
	uint32_t type = rr_load_u32(m->rbuf->data + 12); /* before its translation */
	int err = rr_wire_htfam_get_lists(&cur, type, &m->lists, &m->rest);

	if (err)
		return err;
	m->payload = cur.pos;
	m->payload_len = rr_cursor_left(&cur);
	/* No payload follows the body chunk. [ext §6.5] */
	if (m->p.htype == RDMA2_NOMSG && type != RDMA2_X_GRANT && m->payload_len)
		return -EBADMSG;
	return 0;
}

const struct rr_family rr_htfam_family = {
        .header_bytes = htfam_header_bytes,
        .put_header = put_htfam_header,
        .get_lists = get_htfam_lists,
        .counted = true,
        .omits_unused = true,
};

/* -- the property ---------------------------------------------------------- */

static bool is_switched_on(const struct rr_conn *c)
{
	return c->features >> RR_FEATURE_HTFAM & 1;
}

static uint32_t put_htfam_prop(const struct rr_conn *c, struct rr_writer *w)
{
	(void)c;
	rr_wire_put_prop_u32(w, RDMA2_PROPID_HTFAM, RDMA2_HTFAM_RPC | RDMA2_HTFAM_CTRL);
	return 1;
}

static int take_htfam_prop(const struct rr_conn *c, const struct rr_prop *p,
                           struct rr_peer_props *v)
{
	(void)c;
	if (p->id != RDMA2_PROPID_HTFAM)
		return -ENOENT;
	return rr_wire_htfam_get_value(p->data, p->len, &v->htfam);
}

static void agree_htfam(struct rr_conn *c)
{
	c->htfam.calls = c->props.peer.htfam & RDMA2_HTFAM_RPC;
}

static bool htfam_agreed(const struct rr_conn *c)
{
	return c->props.peer.htfam != 0;
}

/* The types are known to the peer once our property has been sent.       [ext §2.4] */
static bool accepts_htfam(const struct rr_conn *c, uint32_t htype)
{
	return c->props.xid && find_meaning(htype);
}

const struct rr_feature_ops rr_htfam_ops = {
        .put_props = put_htfam_prop,
        .take_prop = take_htfam_prop,
        .agree = agree_htfam,
        .agreed = htfam_agreed,
        .accepts = accepts_htfam,
        .translate = translate_htfam,
};

/* -- choosing the family --------------------------------------------------- */

const struct rr_family *rr_htfam_call_family(const struct rr_conn *c)
{
	return is_switched_on(c) && c->htfam.calls ? &rr_htfam_family : &rr_base_family;
}

/* Returns true if the peer accepts grant messages and properties of this feature. */
static bool may_control(const struct rr_conn *c)
{
	return is_switched_on(c) && c->props.peer.htfam & RDMA2_HTFAM_CTRL &&
	       !c->htfam.no_control;
}

const struct rr_family *rr_htfam_grant_family(const struct rr_conn *c)
{
	return may_control(c) ? &rr_htfam_family : &rr_base_family;
}

bool rr_htfam_sends_props(const struct rr_conn *c)
{
	return may_control(c);
}

bool rr_htfam_awaits_props(const struct rr_conn *c)
{
	return is_switched_on(c) && c->props.in == RR_PROPS_IN_NONE;
}

bool rr_htfam_refused(struct rr_conn *c, const struct rr_family *family)
{
	if (family != &rr_htfam_family)
		return false;
	c->htfam.calls = false;
	return true;
}

void rr_htfam_control_refused(struct rr_conn *c)
{
	c->htfam.no_control = true;
}
