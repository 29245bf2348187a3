/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive buffers, and the first checks of a received message.
 *
 * At all times, the number of posted Receives is the sum of our ceiling H, the local
 * credit limit and two [C3 Receives, C6].  A server posts only RR_FIRST_RECEIVES until
 * its client's first message arrives, since the client has one credit until then.
 * extra_receives adds a reserve for peers that count credits differently and send more
 * than we granted.  Excess messages are counted, and are served while Receives are
 * posted.  If no Receive is posted, the provider closes the connection.
 *
 * A message whose payload is used in place keeps its buffer, and a spare buffer is
 * posted instead.  A message's credits are applied, and answers are sent, only after
 * another Receive has been posted.  Every path posts a Receive, including the path for
 * malformed messages.
 *
 * If the provider takes pooled Receives (config.pooled_receives), a buffer has memory only
 * from the arrival of a message's first octets until the buffer is posted again or
 * becomes a spare.
 *
 * Checks are made in the order of docs/decisions.md, and cited by the names given
 * there.  A message that fails a check is discarded without an answer, is answered with
 * RDMA2_ERROR (Calls), or ends its call (Replies).  A Reply or an error is never
 * answered with an error.
 */
#include "conn/core.h"

/* -- buffers --------------------------------------------------------------- */

size_t rr_conn_receive_bytes(const struct rr_conn *c)
{
	return rr_rtr_block_bytes(c, c->rbuf_bytes);
}

static void free_block(struct rr_conn *c, struct rr_rblock *k)
{
	rr_mem_put(&c->cfg.mem, k->p, k->bytes);
	k->p = NULL;
}

/* Takes the memory of a pooled Receive away.  The longest block is kept for the next
 * message, unless it is longer than the default inline threshold. */
static void drop_memory(struct rr_conn *c, struct rr_rbuf *b)
{
	struct rr_rblock *kept = &c->kept_block, k = b->block;

	if (k.p && k.bytes <= RR_WIRE_DEFAULT_INLINE &&
	    (!kept->p || k.bytes > kept->bytes)) {
		b->block = *kept;
		*kept = k;
	}
	free_block(c, &b->block);
	b->data = NULL;
}

/* Returns memory for @bytes octets; its pointer is NULL if there is none. */
static struct rr_rblock take_block(struct rr_conn *c, size_t bytes)
{
	struct rr_rblock k = c->kept_block;

	if (k.p && k.bytes >= bytes)
		c->kept_block.p = NULL;
	else
		k = (struct rr_rblock){rr_mem_get(&c->cfg.mem, bytes), bytes};
	return k;
}

/* Gives the buffer memory for @len octets, and keeps the first @have octets.  Returns
 * false if there is no memory. */
static bool give_memory(struct rr_conn *c, struct rr_rbuf *b, size_t have, size_t len)
{
	struct rr_rblock k = take_block(c, rr_rtr_block_bytes(c, len));
	uint8_t *data;

	if (!k.p)
		return false;
	data = rr_rtr_align(c, k.p);
	if (have)
		memcpy(data, b->data, have);
	free_block(c, &b->block);
	b->block = k;
	b->data = data;
	return true;
}

void *rr_conn_receive_memory(struct rr_conn *c, uint64_t token, size_t have, size_t len)
{
	struct rr_op *op = (struct rr_op *)(uintptr_t)token;
	struct rr_rbuf *b = rr_container_of(op, struct rr_rbuf, op);

	RR_ASSERT(op->kind == RR_ACT_POST_RECV && have <= len && len <= c->rbuf_bytes);
	return give_memory(c, b, have, len) ? b->data : NULL;
}

static struct rr_rbuf *new_rbuf(struct rr_conn *c)
{
	struct rr_rbuf *b = rr_slab_get(&c->stock->rbufs);

	if (!b)
		return NULL;
	b->block.p = b->data = NULL;
	if (!c->cfg.pooled_receives && !give_memory(c, b, 0, c->rbuf_bytes)) {
		rr_slab_put(&c->stock->rbufs, b);
		return NULL;
	}
	rr_list_init(&b->op.link);
	rr_list_push(&c->rbufs, &b->all);
	return b;
}

static void free_rbuf(struct rr_conn *c, struct rr_rbuf *b)
{
	rr_list_del(&b->op.link);
	rr_list_del(&b->all);
	free_block(c, &b->block);
	rr_slab_put(&c->stock->rbufs, b);
}

static struct rr_rbuf *get_rbuf(struct rr_conn *c)
{
	struct rr_list *n = rr_list_pop(&c->spares);

	if (!n)
		return new_rbuf(c);
	c->n_spares--;
	return rr_container_of(n, struct rr_rbuf, op.link);
}

void rr_recv_put(struct rr_conn *c, struct rr_rbuf *b)
{
	if (!b)
		return;
	if (c->n_spares >= c->credit.limit || rr_conn_dead(c)) {
		free_rbuf(c, b);
		return;
	}
	if (c->cfg.pooled_receives)
		drop_memory(c, b);
	rr_list_push_front(&c->spares, &b->op.link);
	c->n_spares++;
}

static void post_rbuf(struct rr_conn *c, struct rr_rbuf *b)
{
	c->posted++;
	if (c->cfg.pooled_receives)
		drop_memory(c, b);
	rr_action_enqueue(c, &b->op, RR_ACT_POST_RECV);
}

static int post_new(struct rr_conn *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct rr_rbuf *b = new_rbuf(c);

		if (!b)
			return -ENOMEM;
		post_rbuf(c, b);
	}
	return 0;
}

/* Posts the remaining Receives, now that the peer's first message has arrived and
 * before more credits are granted. */
static void post_late(struct rr_conn *c)
{
	uint32_t n = c->late_receives;

	c->late_receives = 0;
	if (post_new(c, n))
		rr_conn_fail(c, -ENOMEM);
}

int rr_recv_init(struct rr_conn *c)
{
	uint32_t n = rr_credit_receives(&c->credit) + c->cfg.extra_receives;
	uint32_t early =
	        c->cfg.role == RR_CONN_SERVER ? RR_MIN(n, RR_FIRST_RECEIVES) : n;

	rr_list_init(&c->rbufs);
	rr_list_init(&c->spares);
	/* The buffers have at least the default size, which applies until the
	 * properties have been exchanged. [P8] */
	c->rbuf_bytes = RR_MAX(c->cfg.recv_bytes, (uint32_t)RR_WIRE_DEFAULT_INLINE);
	c->rbuf_bytes = RR_MAX(c->rbuf_bytes, c->rtr.own.length);
	c->late_receives = n - early;
	return post_new(c, early);
}

void rr_recv_fini(struct rr_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_first(&c->rbufs)))
		free_rbuf(c, rr_container_of(n, struct rr_rbuf, all));
	free_block(c, &c->kept_block);
	c->n_spares = 0;
}

int rr_recv_keep(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_rbuf *b = get_rbuf(c);

	if (!b)
		return -ENOMEM;
	post_rbuf(c, b);
	m->kept = true;
	return 0;
}

void rr_recv_flushed(struct rr_conn *c, struct rr_rbuf *b, int status)
{
	c->posted--;
	rr_recv_put(c, b);
	if (status != -ECANCELED)
		rr_conn_fail(c, status);
}

/* -- faults ---------------------------------------------------------------- */

void rr_recv_discard(struct rr_conn *c, const struct rr_msg *m,
                     enum rr_discard_reason reason)
{
	c->count.discards++;
	rr_conn_trace(c, RR_TRACE_MSG_DISCARDED, m->p.xid, reason, m->len, 0);
}

static bool is_grant(const struct rr_msg *m)
{
	return m->p.htype == RDMA2_NOMSG && !m->p.xid;
}

/* Returns true if the message may be part of a sequence. [M3] */
static bool is_part(const struct rr_msg *m)
{
	return !is_grant(m) && (m->p.htype == RDMA2_MSG || m->p.htype == RDMA2_NOMSG ||
	                        m->p.htype == RDMA2_CONNPROP);
}

void rr_recv_fault(struct rr_conn *c, const struct rr_msg *m, const struct rr_error *e,
                   int call_status)
{
	/* The rest of the sequence is being discarded, and its error has already been
	 * sent. [M3] */
	if (is_part(m) && rr_cont_discards(c, m)) {
		rr_recv_discard(c, m, RR_DISCARD_SEQUENCE);
		return;
	}
	rr_recv_discard(c, m, RR_DISCARD_FAULT);
	rr_conn_trace(c, RR_TRACE_PEER_FAULT, m->p.xid, e->code, 0, 0);
	if (is_part(m) && m->more)
		rr_cont_discard(c, m->p.xid, m->response);
	if (m->p.htype != RDMA2_ERROR && rr_cont_is(c, m->p.xid, m->response))
		rr_cont_drop(c);
	if (!m->response && m->p.htype != RDMA2_ERROR) {
		rr_tx_error(c, m->p.xid, m->p.vers, e, false);
	} else if (m->response) {
		struct rr_call_state *s = rr_call_sent(c, m->p.xid);

		if (s && s->phase == RR_CALL_WAITING && m->more &&
		    m->p.htype == RDMA2_MSG)
			rr_call_drain(c, s, call_status);
		else if (s)
			rr_call_end(c, s, call_status);
		else if (!m->more)
			rr_call_drained(c, m->p.xid);
	}
}

static void answer_fault(struct rr_conn *c, const struct rr_msg *m, uint32_t code,
                         int call_status)
{
	struct rr_error e = {.code = code};

	rr_recv_fault(c, m, &e, call_status);
}

/* -- version [check: version; V3, V4, V5, V8] ------------------------------ */

/* Handles the server's refusal of our first message.  Returns false if the message is
 * not a refusal. */
static bool take_refusal(struct rr_conn *c, const struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->rbuf->data, m->len);
	const struct rr_version_ops *lower;
	struct rr_prefix p;
	struct rr_error e;
	int layout;

	if (c->cfg.role != RR_CONN_CLIENT || c->settled)
		return false;
	layout = rr_wire_get_first_error(&cur, &p, &e);
	if (layout < 0)
		return false;
	c->count.errors_received++;
	rr_conn_trace(c, RR_TRACE_ERROR_RECEIVED, p.xid, e.code, e.arg[0], e.arg[1]);
	/* Fall back only once: never retry the version just refused. [V5, V12] */
	lower = rr_version_ops_within(c->cfg.versions & ~(unsigned)RR_CONN_V2, e.arg[0],
	                              e.arg[1]);
	if (lower)
		rr_v1_fall_back(c, layout == 1 ? p.credit : p.credit & 0xffff);
	else
		rr_conn_fail(c, -EPROTONOSUPPORT);
	return true;
}

/* Returns an RDMA2_ERR_VERS error with the range of versions currently allowed. */
static struct rr_error version_range(const struct rr_conn *c)
{
	unsigned v = c->cfg.versions;
	uint32_t low = v & RR_CONN_V1 ? RPCRDMA_VERSION_ONE : RPCRDMA_VERSION_TWO;
	uint32_t high = v & RR_CONN_V2 ? RPCRDMA_VERSION_TWO : RPCRDMA_VERSION_ONE;

	if (c->settled) /* [V8] */
		low = high = c->version->vers;
	return (struct rr_error){RDMA2_ERR_VERS, {low, high}};
}

static void reject_version(struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_error e = version_range(c);
	/* rdma_htype is at the same offset in all versions. */
	bool error = m->p.htype == RDMA2_ERROR;

	rr_recv_discard(c, m, RR_DISCARD_VERSION);
	if (c->cfg.role == RR_CONN_CLIENT)
		rr_conn_fail(c, error && !c->heard ? -EPROTONOSUPPORT : -EPROTO);
	else if (!error)
		rr_tx_error(c, m->p.xid, m->p.vers, &e, !c->settled);
}

/* Switches a server to the version of its client's first message, if that version is
 * allowed. */
static void follow_client(struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_version_ops *theirs;
	uint32_t vers;

	if (c->cfg.role != RR_CONN_SERVER || m->len < RR_WIRE_PREFIX)
		return;
	vers = rr_load_u32(m->rbuf->data + 4);
	theirs = rr_version_ops_within(c->cfg.versions, vers, vers);
	c->version = theirs ? theirs : rr_version_ops_highest(c->cfg.versions);
}

/* -- RDMA2_CONNPROP -------------------------------------------------------- */

/* Processes an RDMA2_CONNPROP or a part of it.  Parts are decoded together, after the
 * last part has arrived. [check: header body, P3] */
static void take_connprop(struct rr_conn *c, struct rr_msg *m)
{
	bool whole = !m->more && !c->cont.active;
	uint32_t code;

	if (whole) {
		code = rr_props_received(c, m->body, m->body_len, m->tpmore);
	} else {
		code = rr_cont_append(c, m, m->body, m->body_len, RR_MAX_PROPS_BYTES);
		if (code) {
			rr_conn_fail(c, -EPROTO); /* [P20] */
			return;
		}
		if (m->more)
			return;
		code = rr_props_received(c, c->cont.buf.p, c->cont.buf.len, m->tpmore);
		rr_cont_drop(c);
	}
	if (code)
		answer_fault(c, m, code, -EPROTO);
}

/* -- the header [check: header type to sequence] --------------------------- */

static bool is_known_type(const struct rr_conn *c, uint32_t htype)
{
	return htype == RDMA2_MSG || htype == RDMA2_NOMSG || htype == RDMA2_ERROR ||
	       htype == RDMA2_CONNPROP || rr_ext_htype(c, htype) >= 0 ||
	       rr_feature_of(c, htype);
}

/* Checks the prefix.  Returns 0 or the rdma_err code.
 * [check: header type to late properties] */
static uint32_t check_prefix(const struct rr_conn *c, const struct rr_msg *m)
{
	if (!is_known_type(c, m->p.htype))
		return RDMA2_ERR_INVAL_HTYPE;
	if (m->tpmore && m->p.htype != RDMA2_CONNPROP)
		return RDMA2_ERR_INVAL_HTYPE;
	if (m->more && m->p.htype != RDMA2_MSG && m->p.htype != RDMA2_CONNPROP &&
	    m->p.htype != RDMA2_ERROR)
		return RDMA2_ERR_INVAL_CONT;
	if (m->p.htype == RDMA2_CONNPROP && c->props.in == RR_PROPS_IN_FINAL)
		return RDMA2_ERR_INVAL_HTYPE;
	return 0;
}

/* Decodes the chunk lists of an RDMA2_MSG or RDMA2_NOMSG.  Returns false if the message
 * is malformed. [check: header body] */
static bool decode_v2_lists(struct rr_msg *m)
{
	return !m->family->get_lists(m) &&
	       (m->p.htype != RDMA2_MSG || m->payload_len >= 4); /* [X9] */
}

/* Returns true if no sequence is in progress, or the message is a part of the current
 * sequence. [check: sequence, M2, M4] */
static bool fits_sequence(const struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_cont *k = &c->cont;

	return !k->active || (k->xid == m->p.xid && k->htype == m->p.htype &&
	                      k->family == m->family && k->response == m->response);
}

/* Returns true if the peer must authenticate itself before this message is served.
 * [P14] */
static bool must_authenticate(const struct rr_conn *c)
{
	return c->cfg.auth_required && c->state != RR_CONN_READY;
}

void rr_recv_rpc(struct rr_conn *c, struct rr_msg *m)
{
	bool misplaced =
	        (m->more && !rr_lists_empty(&m->lists)) || !fits_sequence(c, m);

	if (must_authenticate(c)) {
		rr_conn_fail(c, -EACCES);
	} else if (rr_cont_discards(c, m)) {
		rr_reply_pull_unread(c, m);
		rr_recv_discard(c, m, RR_DISCARD_SEQUENCE);
	} else if (misplaced) {
		rr_reply_pull_unread(c, m);
		answer_fault(c, m, RDMA2_ERR_INVAL_CONT, -EPROTO);
	} else if (m->response) {
		rr_answer_received(c, m);
	} else {
		rr_request_received(c, m);
	}
}

static void receive_rpc(struct rr_conn *c, struct rr_msg *m)
{
	if (!decode_v2_lists(m)) {
		answer_fault(c, m, RDMA2_ERR_BAD_XDR, -EBADMSG);
		return;
	}
	if (is_grant(m) && rr_lists_empty(&m->lists))
		return; /* a grant message, whose credits are applied later */
	rr_recv_rpc(c, m);
}

static void receive_props(struct rr_conn *c, struct rr_msg *m)
{
	if (rr_cont_discards(c, m))
		rr_recv_discard(c, m, RR_DISCARD_SEQUENCE);
	else if (!fits_sequence(c, m))
		answer_fault(c, m, RDMA2_ERR_INVAL_CONT, -EPROTO);
	else
		take_connprop(c, m);
}

static void receive_extension(struct rr_conn *c, struct rr_msg *m)
{
	if (must_authenticate(c))
		rr_conn_fail(c, -EACCES);
	else
		rr_ext_received(c, m);
}

/* Returns true if the message may have invalidated a region, and records that. [K17] */
static bool may_invalidate(struct rr_conn *c, const struct rr_feature_ops *f,
                           struct rr_msg *m)
{
	return f && f->invalidated ? f->invalidated(c, m) : rr_answer_invalidated(c, m);
}

static void receive_feature(struct rr_conn *c, const struct rr_feature_ops *f,
                            struct rr_msg *m)
{
	if (must_authenticate(c))
		rr_conn_fail(c, -EACCES);
	else
		f->received(c, m);
}

void rr_recv_v2(struct rr_conn *c, struct rr_msg *m)
{
	const struct rr_feature_ops *f =
	        c->features ? rr_feature_of(c, m->p.htype) : NULL;
	uint32_t code = 0;

	if (c->rtr.group.phase != RR_RTR_GROUP_IDLE && f != &rr_rtr_ops)
		rr_rtr_interrupted(c, m);
	if (f && f->translate) {
		code = f->translate(m);
		f = NULL;
	}
	if (m->inv_handle && !may_invalidate(c, f, m)) {
		rr_conn_fail(c, -EPROTO); /* [K17] */
		return;
	}
	if (!code)
		code = check_prefix(c, m);
	if (code) {
		answer_fault(c, m, code, -EPROTO);
		return;
	}
	if (f)
		receive_feature(c, f, m);
	else if (rr_ext_htype(c, m->p.htype) >= 0)
		receive_extension(c, m);
	else if (m->p.htype == RDMA2_ERROR)
		rr_answer_error(c, m);
	else if (m->p.htype == RDMA2_CONNPROP)
		receive_props(c, m);
	else
		receive_rpc(c, m);
}

/* -- length and version [check: length to credits] ------------------------- */

static void settle_version(struct rr_conn *c)
{
	if (c->settled)
		return;
	if (!c->version->properties) {
		rr_v1_begin(c);
		return;
	}
	c->settled = true;
	c->props.answer_at = RR_TIME_NEVER;
	rr_props_allow(c); /* a server may now send its properties [V2, P1] */
}

/* Checks the length and the version, and decodes the prefix.  Returns false if the
 * message must not be processed further.  The credits of such a message do not count.
 * [C8] */
static bool check_version(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->rbuf->data, m->len);
	int err;

	if (take_refusal(c, m))
		return false;
	if (!c->settled)
		follow_client(c, m);
	if (m->len < RR_WIRE_PREFIX) { /* the prefix of version 1 is shorter */
		rr_recv_discard(c, m, RR_DISCARD_SHORT);
		return false;
	}
	err = c->version->get_prefix(&cur, &m->p);
	RR_ASSERT(!err);
	rr_conn_trace(c, RR_TRACE_MSG_RECEIVED, m->p.xid, m->p.htype, m->len,
	              m->p.credit);
	if (m->p.vers != c->version->vers) {
		reject_version(c, m);
		return false;
	}
	if (m->len < c->version->least && m->p.htype != RDMA2_ERROR) {
		rr_recv_discard(c, m, RR_DISCARD_SHORT);
		return false;
	}
	m->body = cur.pos;
	m->body_len = rr_cursor_left(&cur);
	m->response = m->p.flags & RDMA2_F_RESPONSE;
	m->more = m->p.flags & RDMA2_F_MORE;
	m->tpmore = m->p.flags & RDMA2_F_TPMORE;
	return true;
}

static void examine_message(struct rr_conn *c, struct rr_msg *m)
{
	settle_version(c);
	c->version->received(c, m);
}

/* Sets the fields that may be read even if the prefix is never decoded. */
static void init_message(struct rr_msg *m, struct rr_rbuf *b, size_t len,
                         uint32_t inv_handle)
{
	m->rbuf = b;
	m->kept = false;
	m->len = len;
	m->inv_handle = inv_handle;
	m->p.xid = 0;
	m->family = &rr_base_family;
	m->rest = 0;
	m->is_answer = false;
}

void rr_conn_received(struct rr_conn *c, uint64_t token, size_t len,
                      uint32_t inv_handle, rr_time now)
{
	struct rr_op *op = (struct rr_op *)(uintptr_t)token;
	struct rr_msg m;
	bool counts;

	if (c->state == RR_CONN_NEW)
		rr_conn_open(c, now);
	c->now = now;
	if (rr_conn_dead(c))
		return;
	rr_conn_event(c, RR_CONN_EV_RECEIVE);
	RR_ASSERT(op->kind == RR_ACT_POST_RECV && len <= c->rbuf_bytes);
	init_message(&m, rr_container_of(op, struct rr_rbuf, op), len, inv_handle);
	c->posted--;
	if (c->late_receives && rr_conn_live(c))
		post_late(c);
	if (!rr_conn_live(c)) {
		rr_recv_put(c, m.rbuf);
		return;
	}
	counts = check_version(c, &m);
	if (counts && c->version->grants && !rr_credit_used(&c->credit)) {
		c->count.overruns++;
		rr_conn_trace(c, RR_TRACE_CREDIT_OVERRUN, m.p.xid, c->credit.used,
		              c->credit.given, 0);
	}
	if (counts)
		examine_message(c, &m);
	else if (inv_handle)
		rr_conn_fail(c, -EPROTO);
	if (!m.kept && rr_conn_live(c))
		post_rbuf(c, m.rbuf);
	else if (!m.kept)
		rr_recv_put(c, m.rbuf);
	if (counts)
		c->version->credited(c, &m);
	c->heard = true;
}
