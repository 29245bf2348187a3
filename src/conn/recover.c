/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second attempt after an error.                       [v2 §7.3, E6, K11, P12]
 *
 * The five errors of section 7.3 report that the Responder could not use the chunks of
 * a Call.  Three of them (READ_CHUNKS, WRITE_CHUNKS, SEGMENTS) are sent before the Call
 * is executed, so any call may be sent again.  The other two are sent after execution,
 * so only calls that may be executed twice are sent again.  RDMA2_ERR_INVAL_HTYPE for a
 * header type of an optional feature leads to a base type [ext §2.4].  All other errors
 * are permanent.
 *
 * Normal path: when the error arrives, the chunks that the Call provided are recorded
 * in rr_call.recovery -> CALL_DONE -> the user calls rr_call_recover, which stores
 * limits in the call -> call_plan.c applies them when the user queues the call again.
 *
 * An error is final if the call already meets the limit in the error, or if the call
 * has already been sent a second time.  So a peer cannot make us send a call again and
 * again.
 *
 * Version 1 has a single error, ERR_CHUNK, for all five errors and for malformed
 * headers (which we do not send).  ERR_CHUNK may be sent before or after execution, and
 * carries no length.  So a call that may be executed twice provides a Reply chunk that
 * grows with each attempt.  The longest Reply allowed limits the number of attempts.
 * [RFC 8166 §4.5.3]
 */
#include "conn/core.h"

#include <limits.h>

void rr_recover_note(struct rr_call_state *s)
{
	struct rr_recovery *r = &s->call->recovery;
	const struct rr_lists *l = s->chunks ? &s->chunks->lists : NULL;

	r->special = s->special;
	r->as_group = s->rtr && !s->rtr->plain;
	r->carried = s->carries;
	r->reads = l ? (unsigned)l->n_reads - s->special : 0;
	r->reads += s->rtr ? s->rtr->n_items : 0;
	r->writes = l ? l->n_writes : 0;
	r->segments = l ? l->n_segs : 0;
	r->reply_chunk_bytes = l && l->has_reply ? l->reply.length : 0;
}

unsigned rr_recover_most(const struct rr_call *call, unsigned limit, unsigned n)
{
	return call->recovery.error.code ? RR_MIN(limit, n) : n;
}

int rr_recover_failed(struct rr_call_state *s, int err)
{
	uint32_t code = s->call->recovery.error.code;

	/* If the length of the Reply chunk was guessed, -ENOMEM means that the guess
	 * was too large. */
	if (!code ||
	    (err != -EMSGSIZE && !(err == -ENOMEM && code == RDMA2_ERR_BAD_XDR)))
		return err;
	s->call->error = s->call->recovery.error;
	return RR_CALL_REMOTE_ERROR;
}

/* Applies the peer's limit on Read chunks.  A Position Zero chunk does not count
 * towards @max, but an error with @max 0 may mean that not even a Position Zero chunk
 * is allowed.  Returns false if the call already meets the limit. [K12, R4] */
static bool limit_reads(struct rr_call *call, struct rr_recovery *r, uint32_t max)
{
	bool special = r->special && !max;

	if (max >= r->reads && !special)
		return false;
	if (special)
		call->flags &= ~(unsigned)(RR_CALL_SPECIAL | RR_CALL_WHOLE);
	r->max_reads = max; /* 0 = no Read chunk of any kind */
	return true;
}

static bool limit_writes(struct rr_recovery *r, uint32_t max)
{
	if (max >= r->writes)
		return false;
	r->max_writes = max;
	r->reply_chunk = true;
	return true;
}

static bool limit_segments(struct rr_recovery *r, uint32_t max)
{
	if (max >= r->segments)
		return false;
	r->max_segments = max;
	return true;
}

static bool enlarge_dest(const struct rr_conn *c, const struct rr_call *call,
                         struct rr_recovery *r, uint32_t index, uint32_t bytes)
{
	if (!index || index > r->writes || bytes <= call->dests[index - 1].len ||
	    bytes > c->cfg.max_message_bytes)
		return false;
	r->dest = index;
	r->dest_bytes = bytes;
	return true;
}

static bool enlarge_reply(const struct rr_conn *c, const struct rr_call *call,
                          struct rr_recovery *r, uint32_t bytes)
{
	size_t most = RR_MAX((size_t)c->cfg.max_message_bytes, call->reply_bytes);

	if (!bytes)
		return r->as_group; /* the response cannot hold the results */
	if (bytes <= r->reply_chunk_bytes || bytes > most)
		return false;
	r->reply_bytes = bytes;
	return true;
}

enum { GUESS_FIRST = 65536, GUESS_FACTOR = 16 };

/* Picks a larger length for a Reply chunk that was too small or missing.  Returns false
 * if the previous length was the maximum, or if the Call could not provide even a chunk
 * of that length. */
static bool guess_reply(const struct rr_conn *c, const struct rr_call *call,
                        struct rr_recovery *r)
{
	uint64_t most = RR_MAX((size_t)c->cfg.max_message_bytes, call->reply_bytes);
	uint64_t want = RR_MAX(GUESS_FACTOR * r->reply_chunk_bytes, GUESS_FIRST);

	if (!c->version->one_error || r->reply_chunk_bytes >= most ||
	    r->reply_chunk_bytes < r->reply_bytes)
		return false;
	r->reply_bytes = (size_t)RR_MIN(want, most);
	return true;
}

/* Has the call use base header types, if the peer refused its types unseen. */
static bool revert_to_base(struct rr_recovery *r)
{
	if (!r->group_refused)
		return false;
	r->group_refused = false;
	r->base_types = true;
	return true;
}

static bool adapt_call(const struct rr_conn *c, struct rr_call *call,
                       struct rr_recovery *r)
{
	const struct rr_error *e = &call->error;
	bool twice = call->flags & RR_CALL_IDEMPOTENT;

	switch (e->code) {
	case RDMA2_ERR_READ_CHUNKS:
		return limit_reads(call, r, e->arg[0]);
	case RDMA2_ERR_WRITE_CHUNKS:
		return limit_writes(r, e->arg[0]);
	case RDMA2_ERR_SEGMENTS:
		return limit_segments(r, e->arg[0]);
	case RDMA2_ERR_WRITE_RESOURCE:
		return twice && enlarge_dest(c, call, r, e->arg[0], e->arg[1]);
	case RDMA2_ERR_REPLY_RESOURCE:
		return twice && enlarge_reply(c, call, r, e->arg[0]);
	case RDMA2_ERR_BAD_XDR:
		return twice && guess_reply(c, call, r);
	case RDMA2_ERR_INVAL_HTYPE:
		return revert_to_base(r);
	case RDMA2_ERR_INVAL_CONT:
		return revert_to_base(r) || r->carried;
	default:
		return false;
	}
}

/* Returns true if @call was already a second attempt and must not be sent again.  In
 * version 1 the same error may lead to several further attempts. */
static bool was_adapted(const struct rr_conn *c, const struct rr_call *call)
{
	uint32_t code = call->recovery.error.code;

	return code && !(c->version->one_error && call->error.code == code);
}

bool rr_call_recover(struct rr_conn *c, struct rr_call *call)
{
	struct rr_recovery r = call->recovery;

	if (call->status != RR_CALL_REMOTE_ERROR || was_adapted(c, call))
		return false;
	r.max_reads = r.max_writes = r.max_segments = UINT_MAX;
	if (!adapt_call(c, call, &r))
		return false;
	r.error = call->error;
	call->recovery = r;
	c->count.recoveries++;
	rr_conn_trace(c, RR_TRACE_CALL_RETRIED, call->xid, r.error.code, r.error.arg[0],
	              r.error.arg[1]);
	return true;
}
