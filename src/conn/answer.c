/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that a Requester receives: Replies, parts of Replies, errors.
 *
 * A Reply is accepted only if it contains an RPC Reply with the same XID and returns
 * exactly the chunks that its Call provided.  The chunks must be filled from the front,
 * and the RPC Reply must be in the place that its format requires [K6 to K8, K15].  A
 * Simple Reply stays in its Receive buffer; a continued Reply is reassembled.  A
 * Special Reply is in the Reply chunk, and is read only after the peer can no longer
 * access that chunk [v2 §11.1.3].
 *
 * A faulty Reply ends its call with a local error; nothing is sent to the peer [E2].
 * But if the Reply's Send invalidated a handle that the call did not offer, the
 * connection is closed [K17].
 */
#include "conn/core.h"

/* -- returned chunks ------------------------------------------------------- */

/* Returns true if the returned chunk @r has the same segments as @k, none of them
 * longer than in @k, and the segments are filled from the front. */
static bool match_chunk(const struct rr_lists *ours, const struct rr_chunk *k,
                        const struct rr_lists *theirs, const struct rr_chunk *r)
{
	bool open = false;

	if (k->count != r->count)
		return false;
	for (uint16_t i = 0; i < k->count; i++) {
		const struct rr_segment *a = &ours->seg[k->first + i];
		const struct rr_segment *b = &theirs->seg[r->first + i];

		if (a->handle != b->handle || a->offset != b->offset ||
		    b->length > a->length || (open && b->length))
			return false;
		open = open || b->length < a->length;
	}
	return true;
}

/* Returns true if @theirs returns the Write chunks of @ours.  If @omits, a chunk without
 * segments stands for an unused chunk, and unused chunks at the end are absent.
 * [K6, ext §6.3] */
static bool match_writes(const struct rr_lists *ours, const struct rr_lists *theirs,
                         bool omits)
{
	uint16_t n = ours ? ours->n_writes : 0;

	if (theirs->n_writes > n || (theirs->n_writes < n && !omits))
		return false;
	for (uint16_t i = 0; i < theirs->n_writes; i++) {
		bool absent = omits && !theirs->writes[i].count;

		if (!absent &&
		    !match_chunk(ours, &ours->writes[i], theirs, &theirs->writes[i]))
			return false;
	}
	return true;
}

static bool match_reply_chunk(const struct rr_version_ops *e,
                              const struct rr_lists *ours, const struct rr_msg *m)
{
	const struct rr_lists *theirs = &m->lists;
	bool unused = m->p.htype == RDMA2_MSG;

	if (unused && !theirs->has_reply)
		return true;
	if (unused && (!e->returns_reply_chunk || theirs->reply.length)) /* [K8] */
		return false;
	return theirs->has_reply && ours && ours->has_reply && /* [K1] */
	       match_chunk(ours, &ours->reply, theirs, &theirs->reply);
}

bool rr_answer_match_writes(const struct rr_call_state *s, const struct rr_msg *m)
{
	return match_writes(s->chunks ? &s->chunks->lists : NULL, &m->lists,
	                    m->family->omits_unused);
}

static bool match_lists(const struct rr_conn *c, const struct rr_call_state *s,
                        const struct rr_msg *m)
{
	const struct rr_lists *ours = s->chunks ? &s->chunks->lists : NULL;

	return !m->lists.over && !m->lists.n_reads && /* [K15] */
	       rr_answer_match_writes(s, m) && match_reply_chunk(c->version, ours, m);
}

bool rr_answer_is_reply(const uint8_t *p, size_t len, uint32_t xid)
{
	return len >= RR_RPC_MIN && rr_load_u32(p) == xid && rr_load_u32(p + 4) == 1;
}

/* -- the Reply ------------------------------------------------------------- */

uint64_t rr_answer_note_results(struct rr_call_state *s, const struct rr_lists *l)
{
	uint16_t n = s->chunks ? s->chunks->lists.n_writes : 0;
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rr_dest *d = &s->call->dests[i];
		uint64_t len = i < l->n_writes ? l->writes[i].length : 0;

		if (s->call->recovery.dest == i + 1u)
			d->ret_base = s->chunks->dest.p;
		d->ret_len = (size_t)len;
		d->ret_used = len > 0;
		d->ret_offered = s->chunks->lists.writes[i].length > 0;
		sum += len;
	}
	return sum;
}

static int take_simple(struct rr_conn *c, struct rr_call_state *s, struct rr_msg *m)
{
	if (!rr_answer_is_reply(m->payload, m->payload_len, m->p.xid))
		return -EBADMSG;
	if (rr_recv_keep(c, m))
		return -ENOMEM;
	s->reply_rbuf = m->rbuf;
	s->reply = m->payload;
	s->reply_len = m->payload_len;
	c->count.bytes_inline += s->reply_len;
	return RR_CALL_OK;
}

static int take_continued(struct rr_conn *c, struct rr_call_state *s)
{
	s->reply_buf = c->cont.buf;
	c->cont.buf = (struct rr_mbuf){0};
	rr_cont_drop(c);
	s->reply = s->reply_buf.p;
	s->reply_len = s->reply_buf.len;
	if (!rr_answer_is_reply(s->reply, s->reply_len, s->call->xid))
		return -EBADMSG;
	c->count.bytes_continued += s->reply_len;
	return RR_CALL_OK;
}

static int take_special(struct rr_conn *c, struct rr_call_state *s,
                        const struct rr_msg *m)
{
	s->reply = s->chunks->reply.p;
	s->reply_len = (size_t)m->lists.reply.length;
	c->count.reply_chunks_used++;
	c->count.bytes_reply_chunk += s->reply_len;
	return RR_CALL_OK;
}

static void finish_reply(struct rr_conn *c, struct rr_call_state *s, struct rr_msg *m,
                         bool continued)
{
	const struct rr_error none = {.code = RDMA2_ERR_BAD_XDR};
	uint64_t written;
	int status;

	if (!match_lists(c, s, m)) {
		rr_recv_fault(c, m, &none, -EPROTO);
		return;
	}
	written = rr_answer_note_results(s, &m->lists);
	if (continued)
		status = take_continued(c, s);
	else if (m->p.htype == RDMA2_MSG)
		status = take_simple(c, s, m);
	else
		status = take_special(c, s, m);
	if (status == RR_CALL_OK)
		c->count.bytes_write_chunk += written;
	rr_conn_trace(c, RR_TRACE_REPLY_RECEIVED, m->p.xid,
	              continued                 ? 1
	              : m->p.htype == RDMA2_MSG ? 0
	                                        : 2,
	              s->reply_len, written);
	rr_call_end(c, s, status);
}

/* Returns the maximum length of a continued Reply: the larger of the length that the
 * call expects and the configured limit. [M7] */
static size_t max_reply_bytes(const struct rr_conn *c, const struct rr_call_state *s)
{
	return RR_MAX((size_t)c->cfg.max_message_bytes, s->reply_bound);
}

/* Collects a part of a continued Reply.  Returns 0, or the status that ends the call. */
static int take_reply_part(struct rr_conn *c, const struct rr_call_state *s,
                           const struct rr_msg *m)
{
	size_t max = max_reply_bytes(c, s);

	if (rr_cont_check_rest(c, m, max))
		return -EPROTO;
	switch (rr_cont_append(c, m, m->payload, m->payload_len, max)) {
	case 0:
		return 0;
	case RDMA2_ERR_SYSTEM:
		return -ENOMEM;
	default:
		return -EOVERFLOW;
	}
}

void rr_answer_received(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_call_state *s = rr_call_sent(c, m->p.xid);
	bool continued = m->more || rr_cont_is(c, m->p.xid, true);
	const struct rr_error e = {.code = RDMA2_ERR_INVAL_CONT};
	int status = 0;

	if (m->lists.total_reads && rr_reply_pull_received(c, s, m))
		return;
	if (!s) {
		if (m->more)
			rr_cont_discard(c, m->p.xid, true);
		else
			rr_call_drained(c, m->p.xid);
		rr_recv_discard(c, m, RR_DISCARD_NO_CALL);
		return;
	}
	rr_call_event(s, RR_CALL_EV_ANSWER);
	if (s->phase == RR_CALL_SENDING) { /* not all parts of the Call have been
	                                    * sent */
		rr_recv_fault(c, m, &e, -EPROTO);
		return;
	}
	if (continued)
		status = take_reply_part(c, s, m);
	if (status)
		rr_recv_fault(c, m, &e, status);
	else if (!m->more)
		finish_reply(c, s, m, continued);
}

/* -- RDMA2_ERROR ----------------------------------------------------------- */

static bool is_known_error(uint32_t code)
{
	return (code >= RDMA2_ERR_VERS && code <= RDMA2_ERR_REPLY_RESOURCE) ||
	       code == RDMA2_ERR_SYSTEM;
}

/* Handles RDMA2_ERR_INVAL_HTYPE for the call: its header type is not sent again, and the
 * call may be sent in a base type if its type belongs to a feature.      [ext §2.4] */
static void note_refused_type(struct rr_conn *c, struct rr_call_state *s)
{
	if (s->carried) {
		c->rprc.carries = false;
		s->call->recovery.group_refused = true;
	}
	if (rr_htfam_refused(c, s->family))
		s->call->recovery.group_refused = true;
	rr_rtr_refused(c, s);
}

void rr_answer_error(struct rr_conn *c, const struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);
	struct rr_call_state *s;
	struct rr_error e;

	if (m->more || c->version->get_error(&cur, &e) ||
	    (!is_known_error(e.code) && !rr_ext_error(c, e.code))) {
		rr_recv_discard(c, m, RR_DISCARD_ERROR); /* [M10, E5, E15] */
		return;
	}
	c->count.errors_received++;
	rr_conn_trace(c, RR_TRACE_ERROR_RECEIVED, m->p.xid, e.code, e.arg[0], e.arg[1]);
	rr_cont_over(c, m->p.xid);
	s = rr_call_sent(c, m->p.xid);
	if (s) {
		rr_call_event(s, RR_CALL_EV_ANSWER);
		s->call->error = e;
		rr_recover_note(s);
		if (e.code == RDMA2_ERR_INVAL_HTYPE)
			note_refused_type(c, s);
		rr_call_end(c, s, RR_CALL_REMOTE_ERROR);
		return;
	}
	if (e.code == RDMA2_ERR_INVAL_HTYPE && rr_notice_refused(c, m->p.xid))
		return;
	if (e.code == RDMA2_ERR_INVAL_HTYPE)
		rr_htfam_control_refused(c);
	if (!rr_props_rejected(c, m->p.xid) && !rr_ext_answered(c, m->p.xid, e.code))
		rr_recv_discard(c, m, RR_DISCARD_NO_CALL); /* [E4] */
}

/* -- remote invalidation --------------------------------------------------- */

static void retire_handle(struct rr_conn *c, uint32_t handle)
{
	c->retired_handles[c->n_retired_handles++ % RR_RETIRED_HANDLES] = handle;
}

void rr_answer_forget(struct rr_conn *c, const struct rr_call_state *s)
{
	const struct rr_call_chunks *o = s->chunks;

	if (!o || !c->remote_inv_in)
		return;
	if (c->version->names_handle && o->lists.inv_handle)
		retire_handle(c, o->lists.inv_handle);
	for (unsigned i = 0; !c->version->names_handle && i < o->n; i++)
		retire_handle(c, o->region[i].handle);
}

bool rr_answer_is_retired(const struct rr_conn *c, uint32_t handle)
{
	for (unsigned i = 0; i < RR_RETIRED_HANDLES; i++)
		if (c->retired_handles[i] == handle)
			return true;
	return false;
}

bool rr_answer_invalidated(struct rr_conn *c, const struct rr_msg *m)
{
	struct rr_call_state *s;

	if (rr_reminv_on(c))
		return rr_reminv_take(c, m);
	s = m->response ? rr_call_find(c, m->p.xid) : NULL;
	if (s && s->phase != RR_CALL_SENDING && s->phase != RR_CALL_WAITING &&
	    s->phase != RR_CALL_DRAINING)
		s = NULL;
	if (s && rr_call_chunks_take_remote(c, s, m->inv_handle))
		return true;
	return m->response && rr_answer_is_retired(c, m->inv_handle);
}
