/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions: header types, flags, properties, error codes.              [v2 §B]
 *
 * The table in the configuration lists their numbers; the base protocol does not
 * change.  A message of an extension's type is a prefix and a body that only the
 * extension decodes.  It is subject to the checks of the prefix, costs a credit, must
 * fit within the inline threshold and is never continued.  The user reads it in its
 * Receive buffer.
 *
 * A peer that answers such a message with RDMA2_ERR_INVAL_HTYPE does not know the type,
 * which is then not sent again on this connection [v2 §7.1.2, E7].  To recognise such
 * answers, the XIDs of the last RR_EXT_XIDS messages are kept.  For types, properties
 * and flags that are not in the table, the rules of the base protocol for unknown
 * numbers apply.
 */
#include "conn/core.h"

int rr_ext_htype(const struct rr_conn *c, uint32_t htype)
{
	const struct rr_ext_table *t = c->cfg.ext;

	for (unsigned i = 0; t && i < t->n_htypes; i++)
		if (t->htype[i] == htype)
			return (int)i;
	return -1;
}

int rr_ext_prop(const struct rr_conn *c, uint32_t id)
{
	const struct rr_ext_table *t = c->cfg.ext;

	for (unsigned i = 0; t && i < t->n_props; i++)
		if (t->prop[i].id == id)
			return (int)i;
	return -1;
}

bool rr_ext_error(const struct rr_conn *c, uint32_t code)
{
	const struct rr_ext_table *t = c->cfg.ext;

	for (unsigned i = 0; t && i < t->n_errors; i++)
		if (t->error[i] == code)
			return true;
	return false;
}

/* -- reports to the user --------------------------------------------------- */

void rr_ext_free(struct rr_conn *c, struct rr_ext_node *n)
{
	rr_list_del(&n->op.link);
	rr_recv_put(c, n->rbuf);
	rr_mem_put(&c->cfg.mem, n->copy, n->copy_len);
	rr_slab_put(&c->ext_slab, n);
}

void rr_ext_lost(struct rr_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&c->tx.exts)))
		rr_xmit_free(c, rr_container_of(n, struct rr_xmit, op.link));
	c->tx.n_exts = 0;
}

void rr_ext_fini(struct rr_conn *c)
{
	rr_mem_put(&c->cfg.mem, c->ext.sent, RR_EXT_XIDS * sizeof(*c->ext.sent));
}

static struct rr_ext_node *queue_ext_event(struct rr_conn *c,
                                           const struct rr_ext_event *ev)
{
	struct rr_ext_node *n = rr_slab_get(&c->ext_slab);

	if (!n)
		return NULL;
	*n = (struct rr_ext_node){.ev = *ev};
	rr_list_init(&n->op.link);
	rr_conn_trace(c, RR_TRACE_EXTENSION, ev->xid, ev->what, ev->number, ev->len);
	rr_action_enqueue(c, &n->op, RR_ACT_EXTENSION);
	return n;
}

void rr_ext_report(struct rr_conn *c, unsigned i, enum rr_ext_what what,
                   const void *data, size_t len)
{
	struct rr_ext_event ev = {.what = what, .number = c->cfg.ext->prop[i].id};
	uint8_t *copy = len ? rr_mem_get(&c->cfg.mem, len) : NULL;
	struct rr_ext_node *n;

	if (copy)
		memcpy(copy, data, len);
	ev.data = copy;
	ev.len = copy ? len : 0;
	n = (!len || copy) ? queue_ext_event(c, &ev) : NULL;
	if (!n) {
		rr_mem_put(&c->cfg.mem, copy, len);
		rr_conn_fail(c, -ENOMEM);
		return;
	}
	n->copy = copy;
	n->copy_len = len;
}

void rr_ext_defaults(struct rr_conn *c)
{
	const struct rr_ext_table *t = c->cfg.ext;

	for (unsigned i = 0; t && i < t->n_props; i++)
		if (!(c->props.ext_seen & 1u << i))
			rr_ext_report(c, i, RR_EXT_DEFAULT, t->prop[i].deflt,
			              t->prop[i].deflt_len);
}

/* -- receiving ------------------------------------------------------------- */

void rr_ext_received(struct rr_conn *c, struct rr_msg *m)
{
	const struct rr_error full = {.code = RDMA2_ERR_SYSTEM};
	int i = rr_ext_htype(c, m->p.htype);
	const struct rr_ext_event ev = {
	        .what = RR_EXT_MESSAGE,
	        .number = m->p.htype,
	        .xid = m->p.xid,
	        .flags = m->p.flags & (RDMA2_F_RESPONSE | c->cfg.ext->flags[i]),
	        .data = m->body,
	        .len = m->body_len,
	};
	struct rr_ext_node *n = rr_recv_keep(c, m) ? NULL : queue_ext_event(c, &ev);

	if (!n) {
		if (m->kept)
			rr_recv_put(c, m->rbuf);
		rr_recv_fault(c, m, &full, -ENOMEM);
		if (m->response) /* we never answer a response with an error, so our own
		                  * request would wait forever */
			rr_conn_fail(c, -ENOMEM);
		return;
	}
	n->rbuf = m->rbuf;
	c->count.ext_received++;
}

void rr_conn_ext_refuse(struct rr_conn *c, const struct rr_ext_event *ev, uint32_t code,
                        rr_time now)
{
	const struct rr_error e = {.code = code};

	c->now = now;
	if (ev->what == RR_EXT_MESSAGE && !(ev->flags & RDMA2_F_RESPONSE))
		rr_tx_error(c, ev->xid, RPCRDMA_VERSION_TWO, &e, false);
}

bool rr_ext_answered(struct rr_conn *c, uint32_t xid, uint32_t code)
{
	struct rr_ext_event ev = {.what = RR_EXT_ERROR, .xid = xid, .error = code};

	for (unsigned i = 0; i < RR_MIN(c->ext.n_sent, (unsigned)RR_EXT_XIDS); i++) {
		struct rr_ext_sent *s = &c->ext.sent[i];

		if (s->xid != xid || !xid)
			continue;
		ev.number = s->htype;
		if (code == RDMA2_ERR_INVAL_HTYPE)
			c->ext.unsupported |= 1u << rr_ext_htype(c, s->htype);
		s->xid = 0;
		if (!queue_ext_event(c, &ev))
			rr_conn_fail(c, -ENOMEM);
		return true;
	}
	return false;
}

/* -- sending --------------------------------------------------------------- */

static int check_ext_send(const struct rr_conn *c, uint32_t htype, uint32_t flags,
                          uint32_t xid, size_t len)
{
	int i = rr_ext_htype(c, htype);

	if (c->error)
		return c->error;
	if (i < 0 || flags & ~(RDMA2_F_RESPONSE | c->cfg.ext->flags[i]) || len & 3)
		return -EINVAL;
	if (xid && !(flags & RDMA2_F_RESPONSE) && rr_call_find(c, xid))
		return -EINVAL; /* an RDMA2_ERROR with this XID could refer to either
		                 * message */
	if (c->state != RR_CONN_READY)
		return -EAGAIN;
	if (!c->version->properties || c->ext.unsupported & 1u << i)
		return -EOPNOTSUPP;
	if (len > c->props.send_inline - RR_WIRE_PREFIX)
		return -EMSGSIZE;
	return c->tx.n_exts == RR_EXT_QUEUE ? -ENOBUFS : 0;
}

/* Allocates the record of sent messages, unless it exists.  Returns false if there is no
 * memory. */
static bool has_ext_record(struct rr_conn *c)
{
	if (!c->ext.sent)
		c->ext.sent =
		        rr_mem_get(&c->cfg.mem, RR_EXT_XIDS * sizeof(*c->ext.sent));
	return c->ext.sent;
}

int rr_conn_ext_send(struct rr_conn *c, uint32_t htype, uint32_t flags, uint32_t xid,
                     const void *body, size_t len, uint32_t *ret_xid, rr_time now)
{
	int err = check_ext_send(c, htype, flags, xid, len);
	struct rr_prefix p = {
	        .vers = RPCRDMA_VERSION_TWO, .htype = htype, .flags = flags};
	struct rr_writer w;
	struct rr_xmit *x;

	c->now = now;
	if (err)
		return err;
	p.xid = xid || flags & RDMA2_F_RESPONSE ? xid : rr_conn_own_xid(c);
	x = has_ext_record(c) ? rr_xmit_begin(c, &p, len, &w) : NULL;
	if (!x)
		return -ENOMEM;
	rr_put_padded(&w, body, len);
	rr_xmit_header(x, &w);
	rr_list_push(&c->tx.exts, &x->op.link);
	c->tx.n_exts++;
	if (!(flags & RDMA2_F_RESPONSE))
		c->ext.sent[c->ext.n_sent++ % RR_EXT_XIDS] =
		        (struct rr_ext_sent){p.xid, htype};
	if (ret_xid)
		*ret_xid = p.xid;
	return 0;
}
