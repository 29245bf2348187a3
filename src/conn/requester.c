/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Requester's calls, from the queue to the result.
 *
 * Normal path: QUEUED -> REGISTERING (if there are regions) -> PREPARED -> the message
 * or its parts are sent -> WAITING -> the Reply arrives (answer.c) -> ENDING, while
 * regions are invalidated and Sends complete -> DONE.
 *
 * CALL_DONE is queued when three conditions hold: the call no longer waits for its
 * Reply, the Sends that gather its memory have completed, and the peer can no longer
 * access its regions.  If a part of a Reply breaks a rule, the result is known at once,
 * but the last part may still invalidate one of the call's regions.  The call is
 * DRAINING until the last part has arrived.  After rr_call_end the XID is free again,
 * and late messages for the call are discarded.
 */
#include "conn/core.h"

/* -- outstanding calls ----------------------------------------------------- */

struct rr_call_state *rr_call_find(const struct rr_conn *c, uint32_t xid)
{
	struct rr_call_entry *e = rr_call_table_find(&c->table, xid);

	return e ? rr_container_of(e, struct rr_call_state, entry) : NULL;
}

struct rr_call_state *rr_call_sent(const struct rr_conn *c, uint32_t xid)
{
	struct rr_call_state *s = rr_call_find(c, xid);

	if (s && (s->phase == RR_CALL_SENDING || s->phase == RR_CALL_WAITING))
		return s;
	return NULL;
}

/* -- queueing -------------------------------------------------------------- */

/* Returns true if the user's call is valid.  Items must begin, and the stream must end,
 * at a multiple of four octets. [K19] */
static bool validate_call(const struct rr_call *call)
{
	size_t at = 0;

	if (!call->n_pieces || call->n_pieces > RR_CALL_MAX_PIECES ||
	    call->n_dests > RR_WIRE_MAX_WRITES)
		return false;
	for (unsigned i = 0; i < call->n_pieces; i++) {
		const struct rr_piece *k = &call->pieces[i];

		if (k->len > UINT32_MAX - 3 || at > UINT32_MAX - 3 - k->len ||
		    (k->item && (at & 3)) || (k->len && !k->base))
			return false;
		at += k->len + (k->item ? rr_pad(k->len) : 0);
	}
	for (unsigned i = 0; i < call->n_dests; i++)
		if (call->dests[i].len && !call->dests[i].base)
			return false;
	return at >= RR_RPC_MIN && !(at & 3) && call->pieces[0].len >= 4 &&
	       rr_load_u32(call->pieces[0].base) == call->xid;
}

void rr_call_move(struct rr_call_state *s, enum rr_call_event by, enum rr_call_phase to)
{
	RR_MACHINE_MOVE(rr_call_machine, s->phase, by, to);
	s->phase = to;
}

static struct rr_call_state *new_call_state(struct rr_conn *c, struct rr_call *call)
{
	struct rr_call_state *s = rr_slab_get(&c->stock->calls);

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct rr_call_state, stream));
	rr_stream_init(&s->stream);
	rr_list_init(&s->op.link);
	rr_list_init(&s->kept);
	s->call = call;
	s->entry.xid = call->xid;
	return s;
}

static void free_call_state(struct rr_conn *c, struct rr_call_state *s)
{
	rr_call_table_del(&c->table, &s->entry);
	rr_call_chunks_free(c, s);
	if (c->cfg.features.on) {
		rr_reply_pull_free(c, s);
		rr_rtr_call_free(c, s);
	}
	rr_mbuf_free(&c->quota, &s->reply_buf);
	rr_recv_put(c, s->reply_rbuf);
	rr_list_del(&s->all);
	c->n_calls--;
	s->call->priv = NULL;
	rr_slab_put(&c->stock->calls, s);
}

int rr_conn_call(struct rr_conn *c, struct rr_call *call, rr_time now)
{
	struct rr_call_state *s;

	c->now = now;
	if (c->error || c->state == RR_CONN_CLOSING)
		return c->error ? c->error : -ECONNRESET;
	if (!validate_call(call) || rr_call_find(c, call->xid) ||
	    rr_notice_owed(c, call->xid))
		return -EINVAL;
	rr_conn_event(c, RR_CONN_EV_CALL);
	s = new_call_state(c, call);
	if (!s)
		return -ENOMEM;
	if (!rr_call_table_add(&c->table, &c->cfg.mem, &s->entry)) {
		rr_slab_put(&c->stock->calls, s);
		return -ENOMEM;
	}
	if (c->cfg.role == RR_CONN_SERVER)
		call->flags |= RR_CALL_REVERSE;
	for (unsigned i = 0; i < call->n_dests; i++) {
		call->dests[i].ret_len = 0;
		call->dests[i].ret_base = call->dests[i].base;
		call->dests[i].ret_used = false;
		call->dests[i].ret_offered = false;
	}
	call->priv = s;
	call->status = 0;
	call->error = (struct rr_error){0};
	call->reply = NULL;
	call->reply_len = 0;
	c->n_calls++;
	c->count.calls++;
	rr_list_push(&c->calls, &s->all);
	rr_list_push(&c->tx.calls, &call->link);
	return 0;
}

/* -- sending --------------------------------------------------------------- */

enum { FORMAT_SIMPLE, FORMAT_CONTINUED, FORMAT_SPECIAL };

static void count_call_sent(struct rr_conn *c, const struct rr_call_state *s,
                            uint64_t format, size_t payload)
{
	uint64_t reads = 0;

	if (s->chunks)
		for (uint16_t i = 0; i < s->chunks->lists.n_reads; i++)
			reads += s->chunks->lists.reads[i].length;
	if (format == FORMAT_SPECIAL)
		reads -= payload;
	c->count.bytes_read_chunk += reads;
	if (format == FORMAT_SPECIAL)
		c->count.bytes_special_call += payload;
	else if (format == FORMAT_CONTINUED)
		c->count.bytes_continued += payload;
	else
		c->count.bytes_inline += payload;
	rr_conn_trace(c, RR_TRACE_CALL_SENT, s->call->xid, format, payload, reads);
}

void rr_call_sent_whole(struct rr_conn *c, struct rr_call_state *s, bool continued,
                        size_t payload)
{
	uint64_t format = s->special  ? FORMAT_SPECIAL
	                  : continued ? FORMAT_CONTINUED
	                              : FORMAT_SIMPLE;

	count_call_sent(c, s, format, payload);
	rr_call_move(s, RR_CALL_EV_SEND, RR_CALL_WAITING);
}

static void note_call_sent(struct rr_conn *c, struct rr_call_state *s)
{
	rr_call_sent_whole(c, s, s->phase == RR_CALL_SENDING, s->stream.all);
	c->tx.call = NULL;
}

/* Has a Call that fits in one message carry notifications, if there are any and there is
 * space for them.  Returns the handle that the Send may invalidate, or 0. [ext §3.6] */
static uint32_t carry_notices(struct rr_conn *c, struct rr_call_state *s,
                              struct rr_head *h)
{
	struct rr_head base = *h;
	uint32_t inv_handle = 0;
	size_t len;

	base.family = &rr_base_family; /* only this family has RDMA2_MSG_DONE */
	rr_head_measure(c, &base);
	len = base.bytes + s->stream.left;
	if (len > c->props.send_inline)
		return 0;
	base.done = rr_notice_carry(c, s, c->props.send_inline - len, &inv_handle);
	if (base.done) {
		rr_head_measure(c, &base);
		c->count.done_sent += base.done->count;
		s->family = base.family;
		*h = base;
	}
	return inv_handle;
}

static struct rr_xmit *next_call_message(struct rr_conn *c, struct rr_call_state *s,
                                         bool *ret_last)
{
	struct rr_head h = {.family = s->family,
	                    .xid = s->call->xid,
	                    .htype = s->special ? RDMA2_NOMSG : RDMA2_MSG,
	                    .lists = s->chunks ? &s->chunks->lists : NULL};
	uint32_t inv_handle = 0;
	struct rr_xmit *x;
	size_t len = 0;

	if (s->special)
		rr_head_measure(c, &h);
	else
		len = rr_tx_part(c, s->stream.left, &h);
	*ret_last = !(h.flags & RDMA2_F_MORE);
	if (*ret_last && !s->special && s->phase == RR_CALL_PREPARED &&
	    c->rprc.n_notices)
		inv_handle = carry_notices(c, s, &h);
	x = rr_xmit_message(c, &h, &s->stream, len);
	if (x)
		x->inv_handle = inv_handle;
	return x;
}

void rr_call_await(struct rr_conn *c, struct rr_call_state *s)
{
	c->n_awaited += !s->awaited;
	s->awaited = true;
	rr_list_del(&s->call->link);
}

static void send_call_part(struct rr_conn *c, struct rr_call_state *s)
{
	bool last;
	struct rr_xmit *x = next_call_message(c, s, &last);

	if (!x) {
		rr_call_end(c, s, -ENOMEM);
		return;
	}
	rr_xmit_of_call(x, s);
	rr_call_await(c, s);
	rr_xmit_send(c, x);
	if (last) {
		note_call_sent(c, s);
	} else {
		rr_call_move(s, RR_CALL_EV_SEND, RR_CALL_SENDING);
		c->tx.call = s;
	}
}

/* Prepares a call.  Returns true if it can be sent at once: it has not failed, and needs
 * no registrations. */
static bool prepare_call(struct rr_conn *c, struct rr_call_state *s)
{
	int err = rr_call_chunks_prepare(c, s);

	if (err)
		rr_call_end(c, s, rr_recover_failed(s, err));
	return s->phase == RR_CALL_PREPARED;
}

bool rr_call_transmit(struct rr_conn *c, struct rr_call_state *s)
{
	if (s->phase == RR_CALL_REGISTERING)
		return false;
	if (s->phase == RR_CALL_QUEUED && !prepare_call(c, s))
		return true;
	RR_ASSERT(s->phase == RR_CALL_PREPARED || s->phase == RR_CALL_SENDING);
	rr_call_event(s, RR_CALL_EV_SEND);
	if (s->rtr && !s->rtr->plain)
		return rr_rtr_transmit_call(c, s);
	send_call_part(c, s);
	return true;
}

/* -- ending ---------------------------------------------------------------- */

/* Stops counting the call as waiting for a Reply. */
static void stop_awaiting(struct rr_conn *c, struct rr_call_state *s)
{
	c->n_awaited -= s->awaited;
	s->awaited = false;
}

/* Discards the parts of the Reply that have been received or are still to arrive. */
static void abandon_reply(struct rr_conn *c, const struct rr_call_state *s)
{
	if (!rr_cont_is(c, s->call->xid, true))
		return;
	rr_cont_drop(c);
	rr_cont_discard(c, s->call->xid, true);
}

/* Sets a deadline for the end of a cancelled call, which must wait until the provider
 * no longer uses the call's memory.  A peer that stops receiving could delay the end
 * forever.  So the connection is closed if no cancelled call ends within drain_ns. */
static void watch_end(struct rr_conn *c, struct rr_call_state *s)
{
	if (s->phase != RR_CALL_ENDING || s->overdue)
		return;
	s->overdue = true;
	if (!c->n_overdue++ && c->cfg.drain_ns != RR_TIME_NEVER)
		c->overdue_at = c->now + c->cfg.drain_ns;
}

/* Ends the work of features for the call: its group, its pull, the notifications that
 * it carried. */
static void end_features(struct rr_conn *c, struct rr_call_state *s, int status)
{
	rr_rtr_call_end(c, s);
	rr_reply_pull_end(c, s);
	if (s->carried)
		rr_notice_carried(c, s, status == RR_CALL_OK);
}

void rr_call_end(struct rr_conn *c, struct rr_call_state *s, int status)
{
	bool kept = !rr_list_empty(&s->kept);

	if (s->phase == RR_CALL_ENDING || s->phase == RR_CALL_DONE)
		return;
	rr_list_del(&s->kept);
	rr_call_table_del(&c->table, &s->entry);
	stop_awaiting(c, s);
	if (s->phase == RR_CALL_DRAINING ||
	    (s->phase == RR_CALL_WAITING && status != RR_CALL_OK))
		rr_answer_forget(c, s);
	rr_tx_forget_call(c, s);
	if (c->cfg.features.on)
		end_features(c, s, status);
	abandon_reply(c, s);
	rr_call_move(s, RR_CALL_EV_END, RR_CALL_ENDING);
	s->status = status;
	rr_call_chunks_withdraw(c, s);
	rr_call_settle(c, s);
	if (kept)
		watch_end(c, s);
}

void rr_call_keep(struct rr_conn *c, struct rr_call_state *s)
{
	rr_call_event(s, RR_CALL_EV_KEEP);
	if (s->phase == RR_CALL_WAITING)
		rr_call_move(s, RR_CALL_EV_KEEP, RR_CALL_DRAINING);
	s->status = -ECANCELED;
	abandon_reply(c, s);
}

void rr_call_drain(struct rr_conn *c, struct rr_call_state *s, int status)
{
	rr_call_move(s, RR_CALL_EV_TEAR, RR_CALL_DRAINING);
	s->status = status;
	if (c->cfg.drain_ns != RR_TIME_NEVER)
		rr_cont_wait(c, s->call->xid, c->now + c->cfg.drain_ns);
}

void rr_call_drained(struct rr_conn *c, uint32_t xid)
{
	struct rr_call_state *s = rr_call_find(c, xid);

	if (s && s->phase == RR_CALL_DRAINING)
		rr_call_end(c, s, s->status);
}

/* Returns the call's final status.  A Special Reply is checked only now, when the peer
 * can no longer change it; other Replies have been checked. */
static int final_status(const struct rr_call_state *s)
{
	if (s->status == RR_CALL_OK && s->chunks && s->reply == s->chunks->reply.p &&
	    !rr_answer_is_reply(s->reply, s->reply_len, s->call->xid))
		return -EBADMSG;
	return s->status;
}

static void unwatch_end(struct rr_conn *c, struct rr_call_state *s)
{
	if (!s->overdue)
		return;
	s->overdue = false;
	c->n_overdue--;
	if (!c->n_overdue || c->cfg.drain_ns == RR_TIME_NEVER)
		c->overdue_at = RR_TIME_NEVER;
	else
		c->overdue_at = c->now + c->cfg.drain_ns;
}

static void finish_call(struct rr_conn *c, struct rr_call_state *s,
                        enum rr_call_event by)
{
	unwatch_end(c, s);
	rr_call_move(s, by, RR_CALL_DONE);
	s->status = final_status(s);
	s->call->status = s->status;
	if (s->status == RR_CALL_OK) {
		s->call->reply = s->reply;
		s->call->reply_len = s->reply_len;
		c->count.replies++;
	}
	rr_action_enqueue(c, &s->op, RR_ACT_CALL_DONE);
}

void rr_call_settle(struct rr_conn *c, struct rr_call_state *s)
{
	if (s->phase == RR_CALL_ENDING && !s->sends_out && !s->regions_out &&
	    !s->reads_out)
		finish_call(c, s, RR_CALL_EV_SETTLE);
}

void rr_call_polled(struct rr_conn *c, struct rr_call_state *s)
{
	rr_call_event(s, RR_CALL_EV_POLL);
	rr_conn_trace(c, RR_TRACE_CALL_DONE, s->call->xid, (uint64_t)(int64_t)s->status,
	              0, 0);
	if (s->status != RR_CALL_OK)
		free_call_state(c, s);
}

void rr_conn_cancel(struct rr_conn *c, struct rr_call *call, rr_time now)
{
	struct rr_call_state *s = call->priv;

	c->now = now;
	if (!s)
		return;
	if (s->phase == RR_CALL_WAITING) /* in version 1 the call keeps its credit */
		rr_v1_give_up(c);
	if (rr_reminv_keep(c, s))
		return;
	rr_call_end(c, s, -ECANCELED);
	watch_end(c, s);
}

bool rr_conn_call_take(struct rr_call *call, void **ret, size_t *ret_bytes)
{
	struct rr_call_state *s = call->priv;
	struct rr_mbuf *b = s->chunks ? &s->chunks->reply : NULL;

	if (!b || s->reply != b->p || b->charged)
		return false;
	*ret = b->p;
	*ret_bytes = b->cap;
	*b = (struct rr_mbuf){0};
	return true;
}

void rr_conn_call_release(struct rr_conn *c, struct rr_call *call, rr_time now)
{
	struct rr_call_state *s = call->priv;

	c->now = now;
	if (s && s->phase == RR_CALL_DONE && rr_list_empty(&s->op.link)) {
		rr_call_event(s, RR_CALL_EV_RELEASE);
		free_call_state(c, s);
	}
}

/* Ends a call after the connection is lost.  No region is accessible any longer, and no
 * completion is outstanding. */
static void end_lost_call(struct rr_conn *c, struct rr_call_state *s, int status)
{
	if (s->phase == RR_CALL_DONE)
		return;
	rr_list_del(&s->call->link);
	rr_list_del(&s->kept);
	rr_call_table_del(&c->table, &s->entry);
	stop_awaiting(c, s);
	rr_rtr_unreserve(c, s, 0);
	if (s->phase != RR_CALL_ENDING && s->phase != RR_CALL_DRAINING)
		s->status = status;
	rr_reply_pull_free(c, s);
	rr_notice_carried(c, s, true); /* the peer forgets them, too */
	s->sends_out = s->regions_out = s->reads_out = 0;
	finish_call(c, s, RR_CALL_EV_LOSE);
}

void rr_call_lost(struct rr_conn *c, int status)
{
	struct rr_list *n;

	rr_list_for_each (n, &c->calls)
		end_lost_call(c, rr_container_of(n, struct rr_call_state, all), status);
}

void rr_call_fini(struct rr_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_first(&c->calls)))
		free_call_state(c, rr_container_of(n, struct rr_call_state, all));
	rr_call_table_fini(&c->table, &c->cfg.mem);
}
