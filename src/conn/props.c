/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of transport properties.                   [v2 §5, §6.3.4, V1]
 *
 * Each peer's first message is RDMA2_CONNPROP.  The client sends it when the connection
 * opens, and the server sends it after it has received the client's.  Our first message
 * carries the numeric properties, and the extension properties that fit.  The other
 * properties follow in further sets (TPMORE).  A property that is too long for any
 * message is sent in parts (MORE) [P2, P3].  The steps of host authentication (auth.c)
 * come last.  Between these messages only errors and grants may be sent, so a few
 * credits are enough.  We accept all these forms from the peer.  If both peers have
 * feature HTFAM, whole sets after the first have header types of their own [ext §6.1].
 *
 * Values are collected until both peers have sent their final message.  The values then
 * take effect at once, and RPC traffic begins [P18].
 *
 * A message with one bad value is refused entirely, but still counts towards the end of
 * the exchange [P4].  Unknown properties are skipped.  The connection ends if the peer
 * does not finish in time [P17], sends more than the local limits allow [P20], or would
 * make the inline threshold too small [P8].
 */
#include "conn/core.h"

void rr_props_init(struct rr_conn *c)
{
	struct rr_props *p = &c->props;

	p->peer = (struct rr_peer_props){
	        .send_bytes = RR_WIRE_DEFAULT_INLINE,
	        .recv_bytes = RR_WIRE_DEFAULT_INLINE,
	        .segment_bytes = RR_WIRE_DEFAULT_RSSIZ,
	        .max_segments = RR_WIRE_DEFAULT_RCSIZ,
	        .rvrsdir = RDMA2_RVRSDIR_NONE,
	};
	p->own_send_bytes = c->cfg.send_bytes;
	p->own_recv_bytes = c->cfg.recv_bytes;
	p->own_segment_bytes = c->cfg.segment_bytes;
	p->answer_at = p->done_at = RR_TIME_NEVER;
	p->send_inline = RR_MIN(c->cfg.send_bytes, (uint32_t)RR_WIRE_DEFAULT_INLINE);
	p->send_inline = RR_MAX(p->send_inline, (uint32_t)RR_WIRE_MIN_INLINE);
	p->recv_inline = RR_WIRE_DEFAULT_INLINE;
	p->segment_bytes =
	        RR_MIN(c->cfg.segment_bytes, (uint32_t)RR_WIRE_DEFAULT_RSSIZ);
	p->max_segments = RR_WIRE_DEFAULT_RCSIZ;
	rr_auth_init(c);
}

static unsigned ext_props_count(const struct rr_conn *c)
{
	return c->cfg.ext ? c->cfg.ext->n_props : 0;
}

size_t rr_props_least_inline(const struct rr_conn *c)
{
	return c->state == RR_CONN_READY ? c->props.send_inline : RR_WIRE_MIN_INLINE;
}

/* Changes the state of the properties that we send. */
static void move_props_out(struct rr_props *p, enum rr_props_out_event by,
                           enum rr_props_out to)
{
	RR_MACHINE_MOVE(rr_props_out_machine, p->out, by, to);
	p->out = to;
}

/* Changes the state of the properties that we receive. */
static void move_props_in(struct rr_props *p, enum rr_props_in to)
{
	RR_MACHINE_MOVE(rr_props_in_machine, p->in, RR_PROPS_IN_EV_SET, to);
	p->in = to;
}

void rr_props_allow(struct rr_conn *c)
{
	if (c->props.out == RR_PROPS_OUT_HELD)
		move_props_out(&c->props, RR_PROPS_OUT_EV_ALLOW, RR_PROPS_OUT_FIRST);
}

void rr_props_begin(struct rr_conn *c)
{
	if (c->cfg.props_ns != RR_TIME_NEVER)
		c->props.done_at = c->now + c->cfg.props_ns;
}

static void take_effect(struct rr_conn *c)
{
	struct rr_props *p = &c->props;

	p->send_inline = RR_MIN(RR_MIN(p->own_send_bytes, c->cfg.send_bytes),
	                        p->peer.recv_bytes);
	p->recv_inline = RR_MIN(p->own_recv_bytes, p->peer.send_bytes);
	p->segment_bytes = RR_MIN(c->cfg.segment_bytes, p->peer.segment_bytes);
	p->max_segments = RR_MIN(p->peer.max_segments, (uint32_t)RR_WIRE_MAX_SEGMENTS);
}

static void finish_exchange(struct rr_conn *c)
{
	struct rr_props *p = &c->props;

	if (p->out != RR_PROPS_OUT_FINAL || p->in != RR_PROPS_IN_FINAL ||
	    c->state != RR_CONN_PROPS)
		return;
	take_effect(c);
	if (p->send_inline < RR_WIRE_MIN_INLINE ||
	    p->recv_inline < RR_WIRE_MIN_INLINE) {
		rr_conn_fail(c, -EPROTO); /* [P8] */
		return;
	}
	p->done_at = RR_TIME_NEVER;
	rr_features_agree(c);
	rr_ext_defaults(c);
	if (c->state != RR_CONN_PROPS)
		return; /* the connection failed for lack of memory */
	rr_conn_trace(c, RR_TRACE_PROPS_DONE, 0, p->send_inline, p->recv_inline,
	              p->max_segments);
	rr_conn_move(c, RR_CONN_EV_AGREE, RR_CONN_READY);
	rr_action_enqueue(c, &c->ready_op, RR_ACT_READY);
	rr_mbuf_free(&c->quota, &c->auth.out);
}

bool rr_props_rejected(struct rr_conn *c, uint32_t xid)
{
	struct rr_props *p = &c->props;
	bool ours = xid && xid == p->xid;

	if (!c->version->properties)
		return false;
	if (ours) {
		p->own_send_bytes = p->own_recv_bytes = RR_WIRE_DEFAULT_INLINE;
		p->own_segment_bytes =
		        RR_MAX(c->cfg.segment_bytes, (uint32_t)RR_WIRE_DEFAULT_RSSIZ);
		rr_features_refused(c);
		if (c->state == RR_CONN_READY)
			take_effect(c);
	}
	for (unsigned i = 0; xid && i < ext_props_count(c); i++) {
		if (p->ext_xid[i] != xid)
			continue;
		ours = true;
		rr_ext_report(c, i, RR_EXT_REFUSED, NULL, 0);
	}
	if (ours)
		rr_auth_rejected(c);
	if (xid && xid == c->auth.xid) {
		ours = true;
		rr_conn_fail(c, -EACCES); /* the peer refused our authentication step */
	}
	return ours;
}

/* -- sending --------------------------------------------------------------- */

/* Returns the index, @i or greater, of the first extension property that has a value to
 * send. */
static unsigned ext_next(const struct rr_conn *c, unsigned i)
{
	while (i < ext_props_count(c) && !c->cfg.ext->prop[i].data)
		i++;
	return i;
}

static bool ext_more(const struct rr_conn *c)
{
	return ext_next(c, c->props.next) < ext_props_count(c);
}

/* Returns the maximum length of the next message in octets. [V1] */
static size_t props_message_limit(const struct rr_conn *c)
{
	if (c->cfg.role == RR_CONN_CLIENT && c->props.out == RR_PROPS_OUT_FIRST)
		return RR_WIRE_FIRST_MESSAGE;
	return c->props.send_inline;
}

static size_t prop_entry_octets(uint32_t len)
{
	return 8 + (size_t)len + rr_pad(len);
}

bool rr_props_come_first(const struct rr_conn *c)
{
	return c->props.out == RR_PROPS_OUT_FIRST || c->props.out == RR_PROPS_OUT_PARTS;
}

bool rr_props_pending(const struct rr_conn *c)
{
	const struct rr_props *p = &c->props;

	if (!c->version->properties)
		return false;
	if (p->out != RR_PROPS_OUT_MORE)
		return rr_props_come_first(c);
	if (rr_htfam_awaits_props(c))
		return false;
	return ext_more(c) || c->auth.phase == RR_AUTH_SENDING || rr_auth_settled(c);
}

static void put_numbers(const struct rr_conn *c, struct rr_writer *w, uint32_t *count)
{
	const struct rr_conn_config *g = &c->cfg;

	rr_wire_put_prop_u32(w, RDMA2_PROPID_SBSIZ, g->send_bytes);
	rr_wire_put_prop_u32(w, RDMA2_PROPID_RBSIZ, g->recv_bytes);
	rr_wire_put_prop_u32(w, RDMA2_PROPID_RSSIZ, g->segment_bytes);
	rr_wire_put_prop_u32(w, RDMA2_PROPID_RCSIZ, g->max_segments);
	*count += 4;
	if (g->role != RR_CONN_CLIENT) /* only a client sends this property [P13] */
		return;
	rr_wire_put_prop_u32(w, RDMA2_PROPID_BRS, g->rvrsdir);
	*count += 1;
}

/* Appends extension properties until one does not fit. */
static void put_ext_props(struct rr_conn *c, struct rr_writer *w, uint32_t xid,
                          uint32_t *count)
{
	struct rr_props *p = &c->props;

	for (; (p->next = ext_next(c, p->next)) < ext_props_count(c); p->next++) {
		const struct rr_ext_prop *e = &c->cfg.ext->prop[p->next];
		const struct rr_prop v = {.id = e->id, .len = e->len, .data = e->data};

		if (prop_entry_octets(e->len) > (size_t)(w->end - w->pos))
			return;
		rr_wire_put_prop(w, &v);
		p->ext_xid[p->next] = xid;
		*count += 1;
	}
}

/* Passes our encoded properties from @set to @end to host authentication. */
static void report_set(struct rr_conn *c, const uint8_t *set, const uint8_t *end)
{
	struct rr_cursor cur = rr_cursor_over(set, (size_t)(end - set));
	uint32_t count;
	struct rr_prop v;
	int err;

	if (!c->cfg.auth.property)
		return;
	err = rr_wire_get_props_begin(&cur, &count);
	RR_ASSERT(!err);
	for (; count; count--) {
		err = rr_wire_get_prop(&cur, &v);
		RR_ASSERT(!err);
		rr_auth_property(c, true, &v);
	}
}

/* Returns true if the message being built is our final RDMA2_CONNPROP. */
static bool is_final_set(const struct rr_conn *c)
{
	return !ext_more(c) && rr_auth_settled(c);
}

/* Writes the header type and the flags of a whole set, which is the final one if
 * @final. */
static void mark_set(const struct rr_conn *c, struct rr_xmit *x, bool final)
{
	uint32_t flags = final ? 0 : RDMA2_F_TPMORE, htype = RDMA2_CONNPROP;

	if (c->props.out != RR_PROPS_OUT_FIRST && rr_htfam_sends_props(c)) {
		htype = final ? RDMA2_X_CONNPROP_LAST : RDMA2_X_CONNPROP_MIDDLE;
		flags = 0;
	}
	rr_store_u32(x->buf + 12, htype);
	rr_store_u32(x->buf + 16, flags);
}

static void fail_no_memory(struct rr_conn *c)
{
	rr_conn_fail(c, -ENOMEM);
}

/* Sends a set of complete properties: the numeric properties if this is the first set,
 * and the extension properties that fit. */
static void send_prop_set(struct rr_conn *c)
{
	struct rr_props *p = &c->props;
	struct rr_prefix prefix = {
	        .xid = rr_conn_own_xid(c),
	        .vers = RPCRDMA_VERSION_TWO,
	        .htype = RDMA2_CONNPROP,
	};
	uint32_t count = 0;
	/* Without extension properties the set is short. */
	size_t limit =
	        ext_more(c) ? props_message_limit(c) : (size_t)RR_WIRE_FIRST_MESSAGE;
	struct rr_writer w;
	struct rr_xmit *x = rr_xmit_begin(c, &prefix, limit - RR_WIRE_PREFIX, &w);
	uint8_t *count_at;

	if (!x) {
		fail_no_memory(c);
		return;
	}
	count_at = w.pos;
	rr_wire_put_props_begin(&w, 0);
	if (p->out == RR_PROPS_OUT_FIRST) {
		put_numbers(c, &w, &count);
		count += rr_features_put_props(c, &w);
		p->xid = prefix.xid;
	}
	put_ext_props(c, &w, prefix.xid, &count);
	rr_store_u32(count_at, count);
	report_set(c, count_at, w.pos);
	mark_set(c, x, is_final_set(c));
	move_props_out(p, RR_PROPS_OUT_EV_SET,
	               is_final_set(c) ? RR_PROPS_OUT_FINAL : RR_PROPS_OUT_MORE);
	rr_xmit_header(x, &w);
	rr_xmit_send(c, x);
}

/* -- one property in parts [P2, P3] ---------------------------------------- */

/* Returns the maximum number of octets of the encoded set in one part. */
static size_t prop_part_room(const struct rr_conn *c)
{
	return (props_message_limit(c) - RR_WIRE_PREFIX) & ~(size_t)3;
}

/* Returns true if RDMA2_F_TPMORE is clear in the parts of the property.  With feature
 * HTFAM, only a set in one message can be the final one.               [ext §6.1] */
static bool is_final_property(const struct rr_conn *c)
{
	if (rr_htfam_sends_props(c) && c->props.part_len > prop_part_room(c))
		return false;
	return is_final_set(c);
}

static void begin_prop_parts(struct rr_conn *c, uint32_t id, const void *data,
                             size_t len)
{
	struct rr_props *p = &c->props;

	move_props_out(p, RR_PROPS_OUT_EV_SPLIT, RR_PROPS_OUT_PARTS);
	p->part_id = id;
	p->part_data = data;
	p->part_at = 0;
	p->part_len = 4 + prop_entry_octets((uint32_t)len);
	p->part_xid = rr_conn_own_xid(c);
	p->part_flags =
	        is_final_property(c) ? 0 : RDMA2_F_TPMORE; /* the same in all parts */
	rr_store_u32(p->part_head, 1);
	rr_store_u32(p->part_head + 4, id);
	rr_store_u32(p->part_head + 8, (uint32_t)len);
}

/* Copies @n octets from offset @at of the encoded set: head, data, padding. */
static void copy_prop_part(const struct rr_props *p, size_t at, uint8_t *to, size_t n)
{
	size_t head = sizeof(p->part_head), len = rr_load_u32(p->part_head + 8);

	for (size_t i = 0; i < n; i++, at++)
		to[i] = at < head         ? p->part_head[at]
		        : at < head + len ? p->part_data[at - head]
		                          : 0;
}

static void finish_prop_parts(struct rr_conn *c)
{
	struct rr_props *p = &c->props;
	const struct rr_prop v = {.id = p->part_id,
	                          .len = rr_load_u32(p->part_head + 8),
	                          .data = p->part_data};

	move_props_out(p, RR_PROPS_OUT_EV_PART,
	               p->part_flags ? RR_PROPS_OUT_MORE : RR_PROPS_OUT_FINAL);
	if (p->part_id == RDMA2_PROPID_HOSTAUTH)
		rr_auth_step_sent(c);
	else
		rr_auth_property(c, true, &v);
}

static void send_prop_part(struct rr_conn *c)
{
	struct rr_props *p = &c->props;
	size_t n = RR_MIN(p->part_len - p->part_at, prop_part_room(c));
	bool last = p->part_at + n == p->part_len;
	struct rr_prefix prefix = {
	        .xid = p->part_xid,
	        .vers = RPCRDMA_VERSION_TWO,
	        .htype = RDMA2_CONNPROP,
	        .flags = p->part_flags | (last ? 0 : RDMA2_F_MORE),
	};
	struct rr_writer w;
	struct rr_xmit *x = rr_xmit_begin(c, &prefix, n, &w);

	if (!x) {
		fail_no_memory(c);
		return;
	}
	copy_prop_part(p, p->part_at, rr_put_space(&w, n), n);
	if (n == p->part_len)
		mark_set(c, x, !p->part_flags);
	rr_xmit_header(x, &w);
	rr_xmit_send(c, x);
	p->part_at += n;
	if (last)
		finish_prop_parts(c);
	else
		move_props_out(p, RR_PROPS_OUT_EV_PART, RR_PROPS_OUT_PARTS);
}

static bool needs_prop_parts(const struct rr_conn *c, const struct rr_ext_prop *e)
{
	return RR_WIRE_PREFIX + 4 + prop_entry_octets(e->len) > c->props.send_inline;
}

void rr_props_send(struct rr_conn *c)
{
	struct rr_props *p = &c->props;
	unsigned at = ext_next(c, p->next);
	const struct rr_ext_prop *e =
	        at < ext_props_count(c) ? &c->cfg.ext->prop[at] : NULL;

	if (p->out == RR_PROPS_OUT_MORE) {
		if (e && needs_prop_parts(c, e)) {
			p->next = at + 1;
			begin_prop_parts(c, e->id, e->data, e->len);
			p->ext_xid[at] = p->part_xid;
		} else if (!e && c->auth.phase == RR_AUTH_SENDING) {
			begin_prop_parts(c, RDMA2_PROPID_HOSTAUTH, c->auth.out.p,
			                 c->auth.out.len);
			c->auth.xid = p->part_xid;
		}
	}
	if (p->out == RR_PROPS_OUT_PARTS)
		send_prop_part(c);
	else
		send_prop_set(c);
	rr_auth_go_on(c);
	finish_exchange(c);
}

/* -- receiving ------------------------------------------------------------- */

static void apply_number(struct rr_conn *c, struct rr_peer_props *v,
                         const struct rr_prop *p)
{
	switch ((enum rr_propid)p->id) {
	case RDMA2_PROPID_SBSIZ:
		v->send_bytes = p->value;
		break;
	case RDMA2_PROPID_RBSIZ:
		v->recv_bytes = p->value;
		v->recv_sent = p->len > 0;
		break;
	case RDMA2_PROPID_RSSIZ:
		v->segment_bytes = p->value;
		break;
	case RDMA2_PROPID_RCSIZ:
		v->max_segments = p->value;
		break;
	case RDMA2_PROPID_BRS: /* values above GENL count as NONE [P13] */
		v->rvrsdir = p->value > RDMA2_RVRSDIR_GENL
		                     ? (uint32_t)RDMA2_RVRSDIR_NONE
		                     : p->value;
		break;
	case RDMA2_PROPID_HOSTAUTH: /* see take_other_props */
		return;
	}
	rr_conn_trace(c, RR_TRACE_PROP_APPLIED, 0, p->id, p->value, 0);
}

/* Returns true if the set is well-formed, but has more properties than our limit.
 * [P20] */
static bool exceeds_prop_count(const uint8_t *body, size_t len)
{
	return len >= 4 && rr_load_u32(body) > RR_WIRE_MAX_PROPS &&
	       rr_load_u32(body) <= (len - 4) / 8;
}

/* Returns true if an extension rejects the value. */
static bool refused_by_extension(const struct rr_conn *c, const struct rr_prop *p)
{
	int i = rr_ext_prop(c, p->id);
	const struct rr_ext_prop *e = i < 0 ? NULL : &c->cfg.ext->prop[i];

	return e && e->conforms && p->len && !e->conforms(p->data, p->len);
}

/* Processes the non-numeric properties.  The set has already been checked. */
static void take_other_props(struct rr_conn *c, struct rr_cursor cur, uint32_t count)
{
	struct rr_prop p;

	while (count--) {
		int i, err = rr_wire_get_prop(&cur, &p);

		RR_ASSERT(!err);
		i = rr_ext_prop(c, p.id);
		if (p.id == RDMA2_PROPID_HOSTAUTH)
			rr_auth_received(c, p.data, p.len);
		else
			rr_auth_property(c, false, &p);
		if (i < 0)
			continue;
		if (p.len) {
			c->props.ext_seen |= 1u << i;
			rr_ext_report(c, (unsigned)i, RR_EXT_PROPERTY, p.data, p.len);
		} else { /* no data: the default value is reported when the exchange
		          * ends */
			c->props.ext_seen &= ~(1u << i);
		}
	}
}

/* Applies all values of the set, or none.  Returns 0 or the rdma_err code. */
static uint32_t decode_props(struct rr_conn *c, const uint8_t *body, size_t len)
{
	struct rr_cursor cur = rr_cursor_over(body, len);
	struct rr_cursor others;
	struct rr_peer_props v = c->props.peer;
	uint32_t count;

	if (rr_wire_get_props_begin(&cur, &count))
		return RDMA2_ERR_BAD_XDR;
	others = cur;
	c->props.received += count;
	for (uint32_t i = 0; i < count; i++) {
		struct rr_prop p;
		int err = rr_wire_get_prop(&cur, &p);

		if (err)
			return err == -EINVAL ? RDMA2_ERR_BAD_PROPVAL
			                      : RDMA2_ERR_BAD_XDR;
		if (refused_by_extension(c, &p) || !rr_features_take_prop(c, &p, &v))
			return RDMA2_ERR_BAD_PROPVAL;
		apply_number(c, &v, &p);
	}
	if (!rr_features_check_props(c, &v))
		return RDMA2_ERR_BAD_PROPVAL;
	c->props.peer = v;
	if (c->cfg.ext || c->cfg.auth.step)
		take_other_props(c, others, count);
	return 0;
}

uint32_t rr_props_received(struct rr_conn *c, const uint8_t *body, size_t len,
                           bool tpmore)
{
	struct rr_props *p = &c->props;
	uint32_t code = 0;

	p->received_bytes += len;
	if (!exceeds_prop_count(body, len))
		code = decode_props(c, body, len);
	else
		p->received = RR_WIRE_MAX_PROPS + 1;
	if (p->received > RR_WIRE_MAX_PROPS || p->received_bytes > RR_MAX_PROPS_BYTES) {
		rr_conn_fail(c, -EPROTO);
		return 0;
	}
	move_props_in(p, tpmore ? RR_PROPS_IN_MORE : RR_PROPS_IN_FINAL);
	rr_auth_go_on(c);
	finish_exchange(c);
	return code;
}
