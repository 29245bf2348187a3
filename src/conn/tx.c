/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of the next message.  If there is a credit, the first available of these
 * is sent:
 *
 *   1. our first RDMA2_CONNPROP; nothing is sent before it       [V1]
 *   2. the next part of a message that is being sent in parts    [V2-4.1-05]
 *   3. an RDMA2_ERROR                                            [C9]
 *   4. the next RDMA2_CONNPROP, until all of ours are sent       [P1]
 *   5. a message that a feature sends by itself, such as RDMA2_DONE
 *   6. a reply, a call or an extension's message; these take turns
 *   7. a grant message, if many credits are owed, or at least two have been owed for
 *      grant_ns                                                  [C3 grant message]
 *
 * A call does not use the last credit while replies are owed.
 *
 * Credits owed to the peer are withheld while they could lead to more Calls than may be
 * served at once [v2 §4.2.1].  They are not withheld while the peer is in the middle of
 * a message or owes us a Reply, because the peer needs credits to finish.  While parts
 * of continued Calls wait for memory (collect.c), the number of credits returned is
 * limited to the number of further parts that can be kept.  This limit does not apply
 * while any of our calls is outstanding, because the peer sends the Reply after those
 * parts.
 *
 * A call is prepared (its memory registered) only when its turn comes.  Each part
 * except the last fills the inline threshold.  A call may be cancelled after some of
 * its parts have been sent.  Its sequence must still be ended, and the peer must not
 * execute a Call with a missing part, even if the other parts can be parsed.  So an
 * aborting final part is sent, which every Responder must refuse [K3].
 */
#include "conn/core.h"

void rr_tx_init(struct rr_conn *c)
{
	rr_list_init(&c->tx.errors);
	rr_list_init(&c->tx.calls);
	rr_list_init(&c->tx.replies);
	rr_list_init(&c->tx.exts);
	c->tx.keepalive_at = RR_TIME_NEVER;
	c->tx.grant_at = RR_TIME_NEVER;
}

void rr_tx_fini(struct rr_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&c->tx.errors)))
		rr_slab_put(&c->error_slab,
		            rr_container_of(n, struct rr_error_node, link));
	c->tx.n_errors = 0;
	c->tx.call = NULL;
	c->tx.reply = NULL;
	c->tx.abort_pending = false;
}

size_t rr_tx_part_header(const struct rr_conn *c, const struct rr_head *h)
{
	const struct rr_head part = {.family = h->family,
	                             .xid = h->xid,
	                             .htype = RDMA2_MSG,
	                             .flags = h->flags | RDMA2_F_MORE};

	return h->family->header_bytes(c, &part);
}

size_t rr_tx_part(const struct rr_conn *c, size_t left, struct rr_head *h)
{
	size_t room;

	rr_head_measure(c, h);
	if (h->bytes + left <= c->props.send_inline)
		return left;
	h->flags |= RDMA2_F_MORE;
	h->lists = NULL;
	rr_head_measure(c, h);
	room = c->props.send_inline - h->bytes;
	/* The result is a multiple of four and leaves at least four octets for the last
	 * part. [M6] */
	return RR_MIN(room & ~(size_t)3, (left - 4) & ~(size_t)3);
}

/* -- errors ---------------------------------------------------------------- */

void rr_tx_error(struct rr_conn *c, uint32_t xid, uint32_t vers,
                 const struct rr_error *e, bool unsettled)
{
	struct rr_error_node *n = NULL;

	if (!rr_conn_live(c))
		return;
	if (c->tx.n_errors < RR_MAX_WAITING_ERRORS)
		n = rr_slab_get(&c->error_slab);
	if (!n) {
		rr_conn_fail(c, -EPROTO); /* [v2 §7.4, C9] */
		return;
	}
	*n = (struct rr_error_node){
	        .xid = xid, .vers = vers, .error = *e, .unsettled = unsettled};
	rr_list_push(&c->tx.errors, &n->link);
	c->tx.n_errors++;
}

static void encode_error(const struct rr_conn *c, const struct rr_error_node *n,
                         struct rr_xmit *x)
{
	struct rr_writer w = rr_writer_over(x->buf, x->cap);
	struct rr_prefix p = {
	        .xid = n->xid,
	        .vers = n->vers,
	        .credit = c->version->idle_word(c), /* overwritten if the Send costs a
	                                             * credit */
	        .htype = RDMA2_ERROR,
	        .flags = RDMA2_F_RESPONSE,
	};

	if (n->vers == RPCRDMA_VERSION_ONE && c->version != &rr_v1_ops) {
		rr_wire_put_error_v1(&w, &p, &n->error); /* [V4] */
	} else {
		c->version->put_prefix(&w, &p);
		c->version->put_error(&w, &n->error);
	}
	rr_xmit_header(x, &w);
}

static bool send_queued_error(struct rr_conn *c)
{
	struct rr_list *l = rr_list_pop(&c->tx.errors);
	struct rr_error_node *n = rr_container_of(l, struct rr_error_node, link);
	struct rr_xmit *x = rr_xmit_new(c, 0);

	c->tx.n_errors--;
	if (x) {
		encode_error(c, n, x);
		rr_conn_trace(c, RR_TRACE_ERROR_SENT, n->xid, n->error.code,
		              n->error.arg[0], n->error.arg[1]);
		c->count.errors_sent++;
		if (n->unsettled)
			rr_xmit_send_free(c, x);
		else
			rr_xmit_send(c, x);
		if (n->vers == RPCRDMA_VERSION_ONE)
			rr_store_u16(x->buf + 8, 0); /* clears the ceiling, which
			                              * version 1 does not have */
	}
	rr_slab_put(&c->error_slab, n);
	if (!x)
		rr_conn_fail(c, -ENOMEM);
	return true;
}

/* Returns true if the next queued error answers a first message whose version is not
 * allowed.  Such an error needs no credit. */
static bool first_error_unsettled(const struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->tx.errors);

	return l && rr_container_of(l, struct rr_error_node, link)->unsettled;
}

/* -- sequences ------------------------------------------------------------- */

static bool in_sequence(const struct rr_tx *t)
{
	return t->abort_pending || t->call || t->reply;
}

/*
 * Builds a final part with an invalid Read chunk: its Position is beyond the end of any
 * stream, its length exceeds any region, and its handle belongs to none of our regions.
 * The Responder answers with RDMA2_ERR_BAD_XDR, whose XID no longer matches any call
 * [E4].  A Responder that has refused the sequence discards this part [M3].
 */
static struct rr_xmit *build_abort_part(struct rr_conn *c)
{
	static const uint8_t word[4];
	const struct rr_segment nowhere = {.handle = 0, .length = UINT32_MAX};
	struct rr_lists *l = rr_slab_get(&c->stock->lists);
	struct rr_head head = {.family = c->tx.abort_family,
	                       .xid = c->tx.abort_xid,
	                       .htype = RDMA2_MSG,
	                       .lists = l};
	struct rr_stream s;
	struct rr_xmit *x;
	int err;

	if (!l)
		return NULL;
	rr_lists_init(l);
	err = rr_lists_add_read(l, UINT32_MAX - 3, &nowhere);
	RR_ASSERT(!err);
	rr_stream_init(&s);
	(void)rr_stream_add(&s, word, sizeof(word), 0);
	rr_head_measure(c, &head);
	x = rr_xmit_message(c, &head, &s, s.left);
	rr_slab_put(&c->stock->lists, l);
	return x;
}

static bool send_abort_part(struct rr_conn *c)
{
	struct rr_xmit *x = build_abort_part(c);

	c->tx.abort_pending = false;
	if (x)
		rr_xmit_send(c, x);
	else
		rr_conn_fail(c, -ENOMEM);
	return true;
}

static bool send_next_part(struct rr_conn *c)
{
	if (c->tx.abort_pending)
		return send_abort_part(c);
	if (c->tx.call)
		return rr_call_transmit(c, c->tx.call);
	return rr_reply_transmit(c, c->tx.reply);
}

void rr_tx_forget_call(struct rr_conn *c, struct rr_call_state *s)
{
	rr_list_del(&s->call->link);
	if (c->tx.call != s)
		return;
	c->tx.call = NULL;
	c->tx.abort_pending = true;
	c->tx.abort_xid = s->call->xid;
	c->tx.abort_family = s->family;
}

/* -- turns ----------------------------------------------------------------- */

/* Returns true if a message other than a Call, a property or a grant waits. */
static bool has_queued(const struct rr_tx *t)
{
	return !rr_list_empty(&t->replies) || !rr_list_empty(&t->errors) ||
	       !rr_list_empty(&t->exts) || in_sequence(t);
}

static bool has_waiting(const struct rr_conn *c)
{
	return has_queued(&c->tx) || rr_props_pending(c) ||
	       (c->state == RR_CONN_READY && !rr_list_empty(&c->tx.calls));
}

static void note_stall(struct rr_conn *c)
{
	bool stalled = has_waiting(c);

	if (stalled && !c->tx.stalled) {
		c->count.credit_stalls++;
		rr_conn_trace(c, RR_TRACE_CREDIT_STALL, 0, c->tx.n_errors,
		              c->credit.avail, c->credit.owed);
	}
	c->tx.stalled = stalled;
}

static bool send_next_reply(struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->tx.replies);
	struct rr_request *q;

	if (!l)
		return false;
	q = rr_container_of(l, struct rr_request, link);
	return rr_reply_transmit(c, q->priv);
}

static bool send_next_call(struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->tx.calls);

	if (!l || c->state != RR_CONN_READY)
		return false;
	if (!c->version->may_call(c)) {
		note_stall(c);
		return false;
	}
	return rr_call_transmit(c, rr_container_of(l, struct rr_call, link)->priv);
}

static void send_next_ext(struct rr_conn *c)
{
	struct rr_list *l = rr_list_pop(&c->tx.exts);

	c->tx.n_exts--;
	c->count.ext_sent++;
	rr_xmit_send(c, rr_container_of(l, struct rr_xmit, op.link));
}

static bool send_rpc(struct rr_conn *c)
{
	if (rr_list_empty(&c->tx.replies) && rr_list_empty(&c->tx.calls))
		return false;
	c->tx.replies_first = !c->tx.replies_first;
	if (c->tx.replies_first)
		return send_next_reply(c) || send_next_call(c);
	return send_next_call(c) || send_next_reply(c);
}

static bool send_turn(struct rr_conn *c)
{
	if (rr_list_empty(&c->tx.exts))
		return send_rpc(c);
	c->tx.ext_first = !c->tx.ext_first;
	if (c->tx.ext_first || !send_rpc(c))
		send_next_ext(c);
	return true;
}

void rr_tx_withhold(struct rr_conn *c)
{
	uint32_t budget = RR_MAX(c->cfg.max_requests, c->credit.ceiling);
	bool begun = c->cont.active || c->n_awaited;

	if (c->n_held && !c->n_calls)
		rr_credit_withhold(&c->credit, 2 * c->credit.ceiling, c->n_held,
		                   c->cont.n_discards);
	else
		rr_credit_withhold(&c->credit, budget, c->n_serving,
		                   begun || c->cont.n_discards);
}

static bool send_grant_message(struct rr_conn *c)
{
	struct rr_head head = {.family = rr_htfam_grant_family(c),
	                       .htype = RDMA2_NOMSG};
	struct rr_xmit *x;

	rr_tx_withhold(c);
	if (!rr_credit_grant_due(&c->credit) && !c->tx.grant_now) {
		if (rr_credit_due(&c->credit) >= RR_CREDIT_GRANT_MIN &&
		    c->tx.grant_at == RR_TIME_NEVER && c->cfg.grant_ns != RR_TIME_NEVER)
			c->tx.grant_at = c->now + c->cfg.grant_ns;
		return false;
	}
	rr_head_measure(c, &head);
	x = rr_xmit_message(c, &head, NULL, 0);
	if (!x)
		return false; /* the credits stay owed */
	rr_xmit_send(c, x);
	c->count.grants++;
	rr_conn_trace(c, RR_TRACE_GRANT_SENT, 0, rr_load_u32(x->buf + 8) & 0xffff,
	              c->credit.avail, 0);
	return true;
}

static bool is_grant_possible(const struct rr_conn *c)
{
	/* Withholding only lowers the number of credits that are due. */
	return c->credit.owed >= RR_CREDIT_GRANT_MIN || c->tx.grant_now;
}

static bool send_grant(struct rr_conn *c)
{
	return is_grant_possible(c) && send_grant_message(c);
}

/* -- choosing the next message --------------------------------------------- */

static bool send_props(struct rr_conn *c)
{
	rr_props_send(c);
	return true;
}

/* Returns true if a message may have to be sent, on a connection that is READY.
 * Otherwise rr_tx_send_next() would have nothing to do. */
static bool may_have_message(const struct rr_conn *c)
{
	const struct rr_tx *t = &c->tx;

	return c->busy || !rr_list_empty(&t->calls) || has_queued(t) || t->stalled ||
	       is_grant_possible(c);
}

bool rr_tx_send_next(struct rr_conn *c)
{
	bool exchanging;

	if (c->state == RR_CONN_READY && !may_have_message(c))
		return false;
	exchanging = c->version->properties && c->props.out != RR_PROPS_OUT_FINAL;
	if (!rr_conn_live(c) || rr_tx_clogged(c))
		return false;
	if (first_error_unsettled(c))
		return send_queued_error(c);
	if (!c->version->may_send(c)) {
		note_stall(c);
		return false;
	}
	if (c->tx.stalled && c->version->may_call(c))
		c->tx.stalled = false;
	if (exchanging && rr_props_come_first(c))
		return send_props(c);
	if (in_sequence(&c->tx))
		return send_next_part(c);
	if (!rr_list_empty(&c->tx.errors))
		return send_queued_error(c);
	if (exchanging)
		return rr_props_pending(c) ? send_props(c) : send_grant(c);
	if (c->rprc.n_notices && rr_notice_transmit(c))
		return true;
	if (rr_rtr_waits(&c->rtr))
		return rr_rtr_send_waiting(c) || send_grant(c);
	return (c->busy && rr_features_transmit(c)) || send_turn(c) ||
	       (c->version->grants && send_grant(c));
}

void rr_tx_tick(struct rr_conn *c)
{
	if (c->now >= c->tx.grant_at) { /* nothing was sent since grant_at was set */
		c->tx.grant_now = true;
		c->tx.grant_at = RR_TIME_NEVER;
	}
	if (c->now < c->tx.keepalive_at)
		return;
	/* The grant message that follows is a keepalive: if its Send succeeds, the peer
	 * is alive.  It needs a credit; without a credit, only the peer can send.
	 * [C12] */
	c->tx.keepalive_at = c->now + c->cfg.keepalive_ns;
	if (c->state != RR_CONN_READY || !c->version->grants || !c->credit.avail)
		return;
	c->tx.grant_now = true;
	rr_conn_trace(c, RR_TRACE_KEEPALIVE, 0, c->credit.avail, 0, 0);
}

/* Returns the next deadline.  Ignores grant_at if there is no credit, because a grant
 * message needs one. */
rr_time rr_tx_deadline(const struct rr_conn *c)
{
	return RR_MIN(c->credit.avail ? c->tx.grant_at : RR_TIME_NEVER,
	              c->tx.keepalive_at);
}
