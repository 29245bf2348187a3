/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work: makes calls and checks their results, checks requests and answers them.
 *
 * A call succeeds only with the right octets.  The plan must have a reason for any
 * other result: a refusal, a result larger than its chunk, limits that are too tight,
 * a cancel, a fault, or the end of the connection.
 */
#include "sim_test.h"

static bool failing(const struct node *n)
{
	return run_may_lose(n->run) || n->run->closing || rr_pump_lost(&n->pump);
}

/* -- Calls --------------------------------------------------------------------- */

static void *part(const struct plan *p, const struct spec *s, unsigned stream,
                  unsigned k, size_t len)
{
	uint8_t *mem = malloc(len ? len : 1);

	spec_fill(p, s, stream, k, mem, len);
	return mem;
}

static void add_piece(struct asked *a, void *mem, size_t len, bool item)
{
	a->pieces[a->call.n_pieces++] =
	        (struct rr_piece){.base = mem, .len = len, .item = item};
}

static void make_call(struct node *n, struct asked *a)
{
	const struct plan *p = &n->run->plan;
	const struct spec *s = a->spec;

	for (unsigned i = 0; i <= s->n_items; i++) {
		uint8_t *mem = part(p, s, STREAM_CALL, 2 * i, s->gap[i]);

		if (i == 0 && s->split) {
			/* Only the sum is a multiple of four. */
			uint8_t *rest = malloc(s->gap[0] - 13);

			memcpy(rest, mem + 13, s->gap[0] - 13);
			add_piece(a, mem, 13, false);
			add_piece(a, rest, s->gap[0] - 13, false);
		} else if (s->gap[i]) {
			add_piece(a, mem, s->gap[i], false);
		} else {
			free(mem);
		}
		if (i < s->n_items)
			add_piece(a, part(p, s, STREAM_CALL, 2 * i + 1, s->item[i]),
			          s->item[i], true);
	}
	for (unsigned i = 0; i < s->n_dests; i++) {
		a->dests[i] = (struct rr_dest){.base = malloc(s->dest[i]),
		                               .len = s->dest[i],
		                               .direct = s->lend ? RR_DIRECT_FIT
		                                                 : RR_DIRECT_NONE,
		                               .lend = s->lend};
		memset(a->dests[i].base, 0xd7, s->dest[i]);
	}
	a->call.xid = s->xid;
	a->call.flags = s->flags;
	a->call.pieces = a->pieces;
	a->call.dests = s->n_dests ? a->dests : NULL;
	a->call.n_dests = s->n_dests;
	a->call.reply_bytes = s->reply_bytes;
	a->call.user = s->index;
}

static void free_call(struct asked *a)
{
	for (unsigned i = 0; i < a->call.n_pieces; i++)
		free((void *)(uintptr_t)a->pieces[i].base);
	for (unsigned i = 0; i < a->call.n_dests; i++)
		free(a->dests[i].base);
	a->call.n_pieces = a->call.n_dests = 0;
}

static void end_unissued(struct node *n, struct asked *a)
{
	a->ended = a->released = true;
	n->n_ended++;
	free_call(a);
}

static uint64_t reply_octets(const struct spec *s)
{
	uint64_t len = 0;

	for (unsigned i = 0; i <= s->n_results; i++)
		len += s->rgap[i] + (i < s->n_results ? s->result[i] + 3 : 0);
	return len;
}

static void issue(struct node *n, struct asked *a)
{
	const uint64_t v[] = {a->spec->index, a->spec->xid};
	int err;

	a->issued = true;
	a->issued_at = run_now(n->run);
	make_call(n, a);
	run_note(n->run, "issue", n->side, v, 2);
	err = rr_conn_call(n->pump.conn, &a->call, run_now(n->run));
	if (!err)
		return;
	CHECK(n->run, failing(n), "side %u: rr_conn_call: %d", n->side, err);
	CHECK(n->run, err != -EINVAL, "side %u: a right call is -EINVAL", n->side);
	end_unissued(n, a);
}

static uint32_t segments(uint64_t len, uint32_t seg)
{
	return (uint32_t)((len + seg - 1) / seg);
}

/* Can the limits of both ends keep this call from being expressed? */
static bool tight(const struct plan *p, const struct spec *s)
{
	const struct rr_conn_config *a = &p->conn[0], *b = &p->conn[1];
	uint32_t seg = RR_MIN(a->segment_bytes, b->segment_bytes);
	uint32_t max = RR_MIN(a->max_segments, b->max_segments);
	uint32_t need = 2;
	uint64_t call = 0, reply = RR_MAX(s->reply_bytes, 100u);

	for (unsigned i = 0; i <= s->n_items; i++) {
		call += s->gap[i];
		if (i < s->n_items) {
			need += segments(s->item[i], seg);
			call += s->item[i];
		}
	}
	if (s->first.code == RDMA2_ERR_REPLY_RESOURCE)
		reply = RR_MAX(reply, s->first.arg[0]);
	if (s->first.code == RDMA2_ERR_WRITE_RESOURCE)
		need += segments(s->first.arg[1], seg);
	for (unsigned i = 0; i < s->n_dests; i++)
		need += segments(s->dest[i], seg);
	need += segments(call, seg) + segments(reply, seg) + s->n_items;
	if (need > max)
		return true;
	/* The chunk lists must fit in the last message beside some payload. */
	return 36 + need * 24 + s->n_dests * 8 + 64 > 1024;
}

static uint64_t call_octets(const struct spec *s)
{
	uint64_t len = 0;

	for (unsigned i = 0; i <= s->n_items; i++)
		len += s->gap[i] + (i < s->n_items ? s->item[i] + 3 : 0);
	return len;
}

static void check_placed(struct node *n, const struct asked *a)
{
	const struct plan *p = &n->run->plan;
	const struct spec *s = a->spec;

	for (unsigned i = 0; i < s->n_dests; i++) {
		const struct rr_dest *d = &a->dests[i];
		bool grown = s->grown == i + 1;
		bool lent = !grown && d->ret_base != d->base;
		uint32_t r = i < s->n_results && i < s->n_chunks && !s->in_payload[i]
		                     ? s->result[i]
		                     : 0;
		uint8_t *item = part(p, s, STREAM_REPLY, 2 * i + 1, r);

		CHECK(n->run, grown || r <= d->len,
		      "call %u: result %u cannot have fitted", s->index, i);
		CHECK(n->run, !r || (d->ret_base != d->base) == grown || s->lend,
		      "call %u: result %u is elsewhere", s->index, i);
		CHECK(n->run, d->ret_len == r && d->ret_used == (r > 0),
		      "call %u: result %u has %zu octets (used %d), not %u", s->index,
		      i, d->ret_len, d->ret_used, r);
		CHECK(n->run, !r || !memcmp(d->ret_base, item, r),
		      "call %u: result %u wrong", s->index, i);
		free(item);
		for (size_t k = grown || lent ? 0 : r; k < d->len; k++)
			CHECK(n->run, ((uint8_t *)d->base)[k] == 0xd7,
			      "call %u: octet %zu after result %u changed", s->index, k,
			      i);
	}
}

static void check_result(struct node *n, const struct asked *a)
{
	const struct plan *p = &n->run->plan;
	struct spec *s = a->spec;
	size_t len;
	uint8_t *want;

	for (unsigned i = 0; i < s->n_chunks; i++)
		s->in_payload[i] = s->empty[i] && !a->dests[i].ret_used;
	want = spec_reply_stream(p, s, &len);

	CHECK(n->run, a->call.reply_len == len, "call %u: reply of %zu octets, not %zu",
	      s->index, a->call.reply_len, len);
	CHECK(n->run, !memcmp(a->call.reply, want, len), "call %u: wrong reply",
	      s->index);
	free(want);
	CHECK(n->run, !s->refuse.code || s->first.code,
	      "call %u: answered though refused", s->index);
	check_placed(n, a);
}

/* Of a Write chunk in the last attempt: what the first error asked for may still be
 * too little. */
static uint32_t room(const struct spec *s, unsigned i)
{
	return s->grown == i + 1 ? s->first.arg[1] : s->dest[i];
}

/* The first result that does not fit, or n_dests. */
static unsigned too_large(const struct spec *s)
{
	for (unsigned i = 0; i < s->n_chunks; i++)
		if (i < s->n_results && s->result[i] > room(s, i))
			return i;
	return s->n_dests;
}

/* Returns true if the error names the first result that is too large, counted from one,
 * or a later one if the first may have been placed by Send. */
static bool names_too_large(const struct spec *s, unsigned first,
                            const struct rr_error *e)
{
	unsigned k = s->lend ? e->arg[0] - 1 : first;

	return k < s->n_chunks && k < s->n_results && e->arg[0] == k + 1 &&
	       e->arg[1] == s->result[k] && s->result[k] > room(s, k);
}

static bool same_error(const struct rr_error *a, const struct rr_error *b)
{
	return a->code == b->code && a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1];
}

/* Version 1 has one error, for many reasons. */
static bool err_chunk_is_due(struct node *n, const struct spec *s)
{
	const struct plan *p = &n->run->plan;
	/* Where the caller knows nothing it offers room for this many. */
	bool unknown = !s->reply_bytes && spec_reply_bytes(s) > 4000;

	if (s->dir == SERVER && p->rvrsdir != RDMA2_RVRSDIR_GENL)
		return !p->rvrsdir || spec_reply_bytes(s) > 1024 - 28 || s->refuse.code;
	return s->refuse.code || too_large(s) < s->n_dests || unknown ||
	       call_octets(s) > p->conn[!n->side].max_message_bytes ||
	       p->fault == FAULT_REGISTER || p->fault == FAULT_MEMORY;
}

/* Returns true if the call may have been sent as RDMA2_XMOPT_REQ and its reply is longer
 * than the caller promised by stating no length. [O13] */
static bool breaks_promise(const struct node *n, const struct spec *s)
{
	const struct plan *p = &n->run->plan;
	const struct rr_conn_config *own = &p->conn[n->side],
	                            *peer = &p->conn[!n->side];
	uint32_t threshold = RR_MIN(own->recv_bytes, peer->send_bytes);
	unsigned both = own->features.on & peer->features.on;

	return both >> RR_FEATURE_RTR & 1 && !s->reply_bytes &&
	       spec_reply_bytes(s) > 4 * threshold;
}

/* Returns true if the Responder may have given up waiting for the credits of a response
 * of several transmissions.  The peer grants credits after 10 ms at the latest.
 * [ext §5.8] */
static bool waits_too_briefly(const struct node *n)
{
	const struct plan *p = &n->run->plan;
	const struct rr_conn_config *peer = &p->conn[!n->side];
	unsigned both = p->conn[n->side].features.on & peer->features.on;

	return both >> RR_FEATURE_RTR & 1 && peer->features.group_wait < RR_MS(20);
}

static bool remote_error_is_due(struct node *n, const struct spec *s,
                                const struct rr_error *e)
{
	const struct plan *p = &n->run->plan;
	const struct rr_conn_config *peer = &p->conn[!n->side];
	unsigned k = too_large(s);

	if (p->version == 1)
		return e->code == RDMA2_ERR_BAD_XDR && err_chunk_is_due(n, s);
	if (!s->first.code && s->refuse.code && same_error(e, &s->refuse))
		return true;
	/* What cannot be asked otherwise ends as it did. */
	if (s->first.code && same_error(e, &s->first) &&
	    (tight(p, s) || (s->dir == SERVER && p->rvrsdir != RDMA2_RVRSDIR_GENL)))
		return true;
	if (k < s->n_dests && e->code == RDMA2_ERR_WRITE_RESOURCE)
		return names_too_large(s, k, e);
	if (e->code == RDMA2_ERR_SYSTEM &&
	    (p->fault == FAULT_REGISTER || p->fault == FAULT_MEMORY))
		return true;
	if (call_octets(s) > peer->max_message_bytes &&
	    (e->code == RDMA2_ERR_INVAL_CONT || e->code == RDMA2_ERR_SYSTEM))
		return true;
	if (e->code == RDMA2_ERR_REPLY_RESOURCE &&
	    (breaks_promise(n, s) || waits_too_briefly(n) ||
	     (s->lend && (!e->arg[0] || k < s->n_dests))))
		return true;
	/* Reverse, level 1: no continuation; what was asked for is too long. */
	return s->dir == SERVER && p->rvrsdir == RDMA2_RVRSDIR_SIMPLE &&
	       e->code == RDMA2_ERR_REPLY_RESOURCE;
}

static bool local_error_is_due(struct node *n, const struct spec *s,
                               const struct asked *a)
{
	const struct plan *p = &n->run->plan;
	int err = a->call.status;

	if (err == -ECANCELED) /* never because of a loss */
		return a->cancelled;
	if (failing(n))
		return true;
	if (p->fault == FAULT_REGISTER || p->fault == FAULT_MEMORY)
		return true;
	if (err == -EPROTONOSUPPORT)
		return p->version == 2 && s->dir == SERVER && !p->rvrsdir;
	if (reply_octets(s) > p->conn[n->side].max_message_bytes)
		return true;
	if (err == -EMSGSIZE)
		return tight(p, s) ||
		       (s->dir == SERVER && p->rvrsdir == RDMA2_RVRSDIR_SIMPLE);
	return false;
}

static void check_lent(struct node *n, const struct asked *a)
{
	if (!n->pump.ep || n->abandoned)
		return;
	for (unsigned i = 0; i < a->call.n_pieces; i++)
		CHECK(n->run,
		      !rr_sim_lent(n->pump.ep, a->pieces[i].base, a->pieces[i].len),
		      "call %u ended, argument piece %u still lent", a->spec->index, i);
	for (unsigned i = 0; i < a->call.n_dests; i++)
		CHECK(n->run,
		      !rr_sim_lent(n->pump.ep, a->dests[i].base, a->dests[i].len),
		      "call %u ended, destination %u still accessible", a->spec->index,
		      i);
}

/* Checks lent results.  They are not in the caller's memory, which has been freed. */
static void check_lent_results(struct node *n, const struct asked *a)
{
	const struct spec *s = a->spec;

	for (unsigned i = 0; i < RR_MIN(s->n_dests, s->n_results); i++) {
		const struct rr_dest *d = &a->dests[i];
		uint8_t *item =
		        part(&n->run->plan, s, STREAM_REPLY, 2 * i + 1, s->result[i]);

		CHECK(n->run,
		      !d->ret_used || d->ret_base == d->base ||
		              !memcmp(d->ret_base, item, d->ret_len),
		      "call %u: result %u changed before its release", s->index, i);
		free(item);
	}
}

static void release(struct node *n, struct asked *a)
{
	if (a->call.reply) {
		size_t len;
		uint8_t *want = spec_reply_stream(&n->run->plan, a->spec, &len);

		/* Lent to us until now. */
		CHECK(n->run, a->call.status || !memcmp(a->call.reply, want, len),
		      "call %u: reply changed before its release", a->spec->index);
		free(want);
		check_lent_results(n, a);
		rr_conn_call_release(n->pump.conn, &a->call, run_now(n->run));
	}
	a->released = true;
	memset(&a->call, 0xdc, sizeof(a->call));
}

enum { MAX_ATTEMPTS = 6 };

/* Version 1: ERR_CHUNK, which is answered by a few guesses. */
static bool one_error(const struct node *n)
{
	return n->run->plan.version == 1;
}

/* Asks once more, if that makes sense; false: the error is final. */
static bool recovers(struct node *n, struct asked *a)
{
	struct spec *s = a->spec;
	struct rr_error e = a->call.error;
	bool twice = e.code == RDMA2_ERR_WRITE_RESOURCE ||
	             e.code == RDMA2_ERR_REPLY_RESOURCE || one_error(n);
	int err;

	if (a->cancelled || failing(n) || !remote_error_is_due(n, s, &e) ||
	    !rr_call_recover(n->pump.conn, &a->call))
		return false;
	CHECK(n->run, !s->first.code || one_error(n), "call %u recovers twice",
	      s->index);
	CHECK(n->run, ++a->attempts <= MAX_ATTEMPTS, "call %u recovers for ever",
	      s->index);
	CHECK(n->run, !twice || (s->flags & RR_CALL_IDEMPOTENT),
	      "call %u is executed twice", s->index);
	s->first = e;
	if (e.code == RDMA2_ERR_WRITE_RESOURCE)
		s->grown = e.arg[0];
	s->xid += 0x10000;
	rr_store_u32((void *)(uintptr_t)a->pieces[0].base, s->xid);
	a->call.xid = s->xid;
	err = rr_conn_call(n->pump.conn, &a->call, run_now(n->run));
	CHECK(n->run, !err, "side %u: rr_conn_call again: %d", n->side, err);
	return true;
}

void load_call_done(struct node *n, struct rr_call *call)
{
	struct asked *a = rr_container_of(call, struct asked, call);
	const uint64_t v[] = {a->spec->index, (uint64_t)(int64_t)call->status};

	run_note(n->run, "done", n->side, v, 2);
	CHECK(n->run, a->issued && !a->ended, "call %u ends twice", a->spec->index);
	if (call->status == RR_CALL_REMOTE_ERROR && recovers(n, a))
		return;
	a->ended = true;
	a->ended_at = run_now(n->run);
	n->n_ended++;
	check_lent(n, a);
	if (call->status == RR_CALL_OK)
		check_result(n, a);
	else if (call->status == RR_CALL_REMOTE_ERROR)
		CHECK(n->run,
		      failing(n) || a->cancelled ||
		              remote_error_is_due(n, a->spec, &call->error),
		      "%s %u: remote error %u (%u, %u)", n->side ? "reverse" : "call",
		      a->spec->index, call->error.code, call->error.arg[0],
		      call->error.arg[1]);
	else
		CHECK(n->run, local_error_is_due(n, a->spec, a), "%s %u: error %d",
		      n->side ? "reverse" : "call", a->spec->index, call->status);
	*(call->status == RR_CALL_OK             ? &tally.ok
	  : call->status == RR_CALL_REMOTE_ERROR ? &tally.refused
	  : a->cancelled                         ? &tally.cancelled
	                                         : &tally.failed) += 1;
	free_call(a);
	if (!call->reply || !a->spec->release_after)
		release(n, a);
}

static void cancel(struct node *n, struct asked *a)
{
	const uint64_t v[] = {a->spec->index};

	run_note(n->run, "cancel", n->side, v, 1);
	a->cancelled = true;
	/* The peer may be using its chunks: then the connection is lost. */
	n->run->may_lose = true;
	rr_conn_cancel(n->pump.conn, &a->call, run_now(n->run));
}

/* -- Requests -------------------------------------------------------------------- */

static struct served *served_of(struct node *n, const struct rr_request *q)
{
	for (struct served *s = n->served; s; s = s->next)
		if (s->request == q)
			return s;
	run_fail(n->run, "side %u: unknown request", n->side);
}

static void refuse(struct node *n, struct served *v)
{
	v->answered = true;
	rr_conn_refuse(n->pump.conn, v->request, &v->spec->refuse, run_now(n->run));
}

static bool refuses(const struct spec *s)
{
	return s->refuse.code && !s->first.code;
}

/* Does the second attempt do what the error asked for? */
static void check_second_offer(struct node *n, const struct rr_request *q,
                               const struct spec *s)
{
	const struct rr_error *e = &s->first;

	switch (e->code) {
	case RDMA2_ERR_READ_CHUNKS:
		CHECK(n->run, q->n_reads <= e->arg[0], "request %u: %u Read chunks",
		      s->index, q->n_reads);
		break;
	case RDMA2_ERR_WRITE_CHUNKS:
		CHECK(n->run, q->n_writes == e->arg[0], "request %u: %u Write chunks",
		      s->index, q->n_writes);
		break;
	case RDMA2_ERR_SEGMENTS:
		CHECK(n->run,
		      q->n_reads + q->n_writes + q->has_reply_chunk + q->special <=
		              e->arg[0],
		      "request %u: too many chunks", s->index);
		break;
	case RDMA2_ERR_WRITE_RESOURCE:
		CHECK(n->run, q->write_bytes[e->arg[0] - 1] == e->arg[1],
		      "request %u: the chunk did not grow", s->index);
		break;
	case RDMA2_ERR_REPLY_RESOURCE: /* 0: a group's items do not fit */
		CHECK(n->run,
		      !e->arg[0] ||
		              (q->has_reply_chunk && q->reply_chunk_bytes >= e->arg[0]),
		      "request %u: the Reply chunk did not grow", s->index);
		break;
	case RDMA2_ERR_BAD_XDR: /* ERR_CHUNK */
		CHECK(n->run, q->has_reply_chunk, "request %u: no Reply chunk",
		      s->index);
		break;
	default:
		run_fail(n->run, "request %u: recovered from %u", s->index, e->code);
	}
}

/* Returns true if Write chunk @i has the length that the call offers.  A call that asks
 * for its results by Send offers none if it is sent by base types after all. */
static bool offers_its_length(const struct rr_request *q, const struct spec *s,
                              unsigned i)
{
	uint64_t bytes = q->write_bytes[i];

	return bytes == s->dest[i] || (s->lend && (!bytes || bytes > s->dest[i]));
}

static void check_offer(struct node *n, const struct rr_request *q, struct spec *s)
{
	bool again = s->first.code;
	uint64_t read = 0;

	CHECK(n->run, q->n_pieces == 1, "request %u: %u pieces at ADMIT", s->index,
	      q->n_pieces);
	if (again)
		check_second_offer(n, q, s);
	CHECK(n->run, again ? q->n_writes <= s->n_dests : q->n_writes == s->n_dests,
	      "request %u: %u Write chunks, not %u", s->index, q->n_writes, s->n_dests);
	s->n_chunks = q->n_writes;
	for (unsigned i = 0; i < s->n_chunks; i++) {
		CHECK(n->run, s->grown == i + 1 || offers_its_length(q, s, i),
		      "request %u: Write chunk %u of %llu octets", s->index, i,
		      (unsigned long long)q->write_bytes[i]);
		s->empty[i] = !q->write_bytes[i] && s->dest[i];
	}
	for (unsigned i = 0; i < s->n_items; i++)
		read += s->item[i];
	CHECK(n->run, q->n_reads <= s->n_items && q->read_bytes <= read,
	      "request %u: %u Read chunks of %llu octets", s->index, q->n_reads,
	      (unsigned long long)q->read_bytes);
	if ((s->flags & RR_CALL_SPECIAL) && !again)
		CHECK(n->run, q->special, "request %u is not special", s->index);
}

/* Own memory can be named when all items came in chunks. */
static bool own_sinks(struct served *v, struct rr_sge *sge)
{
	const struct spec *s = v->spec;

	if (!s->own_sinks || !s->n_items || v->request->n_reads != s->n_items)
		return false;
	for (unsigned i = 0; i < s->n_items; i++) {
		v->sink[i] = malloc(s->item[i]);
		sge[i] = (struct rr_sge){.base = v->sink[i], .len = s->item[i]};
	}
	return true;
}

/* No more are with the user than may be served at once. */
static void check_turns(struct node *n)
{
	uint32_t most = n->run->plan.conn[n->side].max_requests;
	unsigned sum = 0;

	for (const struct served *v = n->served; v; v = v->next)
		sum += !v->answered;
	CHECK(n->run, sum <= (most ? most : 256), "side %u: %u requests of %u", n->side,
	      sum, most);
}

void load_admit(struct node *n, struct rr_request *q)
{
	struct spec *s = plan_find(&n->run->plan, !n->side, q->xid);
	struct rr_sge sge[MAX_ITEMS];
	struct served *v;

	CHECK(n->run, s, "side %u: request with unknown xid %08x", n->side, q->xid);
	for (v = n->served; v; v = v->next)
		/* After a result by Send that was too long, the Send of the first answer
		 * may still have to complete. */
		CHECK(n->run, v->spec != s || (v->answered && s->first.code),
		      "request %u comes twice", s->index);
	v = calloc(1, sizeof(*v));
	v->next = n->served;
	v->request = q;
	v->spec = s;
	n->served = v;
	n->n_served++;
	check_turns(n);
	check_offer(n, q, s);
	q->user = s->index;
	if (refuses(s) && s->refuse_early)
		refuse(n, v);
	else if (s->index & 1 && rr_conn_is_whole(n->pump.conn, q))
		load_request(n, q);
	else
		rr_conn_admit(n->pump.conn, q, own_sinks(v, sge) ? sge : NULL,
		              run_now(n->run));
}

static void check_arguments(struct node *n, struct served *v)
{
	const struct rr_request *q = v->request;
	const struct spec *s = v->spec;
	size_t len, at = 0;
	uint8_t *want = spec_call_stream(&n->run->plan, s, &len);
	unsigned items = 0;

	for (unsigned i = 0; i < q->n_pieces; i++) {
		const struct rr_piece *p = &q->pieces[i];

		CHECK(n->run, p->len <= len - at && !memcmp(p->base, want + at, p->len),
		      "request %u: piece %u wrong (%zu octets at %zu of %zu)", s->index,
		      i, p->len, at, len);
		at += p->len;
		if (!p->item)
			continue;
		items++;
		while (at % 4 && at < len)
			at++;
	}
	free(want);
	CHECK(n->run, at == len, "request %u: %zu octets, not %zu", s->index, at, len);
	if (n->run->plan.conn[n->side].features.on >> RR_FEATURE_RTR & 1)
		items = RR_MIN(items, q->n_reads); /* others were placed by Send */
	CHECK(n->run, items == q->n_reads, "request %u: %u items, %u Read chunks",
	      s->index, items, q->n_reads);
	for (unsigned i = 0, k = 0; v->sink[0] && i < q->n_pieces; i++)
		if (q->pieces[i].item)
			CHECK(n->run, q->pieces[i].base == v->sink[k++],
			      "request %u: not in the sink", s->index);
}

void load_request(struct node *n, struct rr_request *q)
{
	struct served *v = served_of(n, q);

	CHECK(n->run, !v->ready && !v->answered, "request %u comes twice",
	      v->spec->index);
	CHECK(n->run, q->user == v->spec->index, "request %u lost its user word",
	      v->spec->index);
	v->ready = true;
	v->due = run_now(n->run) + v->spec->answer_after;
	check_arguments(n, v); /* nothing cut short comes this far */
}

static void answer(struct node *n, struct served *v)
{
	const struct plan *p = &n->run->plan;
	const struct spec *s = v->spec;

	if (refuses(s)) {
		refuse(n, v);
		return;
	}
	v->answered = true;
	for (unsigned i = 0; i <= s->n_results; i++) {
		v->pieces[v->n_pieces++] = (struct rr_piece){
		        .base = part(p, s, STREAM_REPLY, 2 * i, s->rgap[i]),
		        .len = s->rgap[i],
		};
		if (i < s->n_results)
			v->pieces[v->n_pieces++] = (struct rr_piece){
			        .base = part(p, s, STREAM_REPLY, 2 * i + 1,
			                     s->result[i]),
			        .len = s->result[i],
			        .item = true,
			};
	}
	rr_conn_reply(n->pump.conn, v->request, v->pieces, v->n_pieces,
	              run_now(n->run));
}

void load_request_done(struct node *n, struct rr_request *q, int status)
{
	struct served *v = served_of(n, q), **at = &n->served;

	CHECK(n->run, v->answered || failing(n) || n->run->plan.fault == FAULT_REGISTER,
	      "request %u ended by itself", v->spec->index);
	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
	for (unsigned i = 0; i < v->n_pieces; i++) {
		CHECK(n->run,
		      !n->pump.ep || !v->pieces[i].len ||
		              !rr_sim_lent(n->pump.ep, v->pieces[i].base,
		                           v->pieces[i].len),
		      "request %u ended, reply piece %u still lent", v->spec->index, i);
		free((void *)(uintptr_t)v->pieces[i].base);
	}
	for (unsigned i = 0; i < MAX_ITEMS; i++)
		free(v->sink[i]);
	free(v);
	n->n_served--;
}

/* -- What is due ---------------------------------------------------------------- */

static rr_time asked_due(const struct node *n, const struct asked *a)
{
	if (!a->issued)
		return a->spec->issue_at;
	if (!a->ended)
		return a->cancelled || a->spec->cancel_after == RR_TIME_NEVER
		               ? RR_TIME_NEVER
		               : a->issued_at + a->spec->cancel_after;
	return a->released ? RR_TIME_NEVER : a->ended_at + a->spec->release_after;
}

static void asked_act(struct node *n, struct asked *a)
{
	if (!a->issued && (rr_pump_lost(&n->pump) || n->run->closing)) {
		a->issued = true;
		end_unissued(n, a);
	} else if (!a->issued) {
		issue(n, a);
	} else if (!a->ended) {
		cancel(n, a);
	} else {
		release(n, a);
	}
}

bool load_due(struct node *n)
{
	rr_time now = run_now(n->run);
	bool moved = false;

	for (unsigned i = 0; i < n->run->plan.n_calls[n->side]; i++) {
		struct asked *a = &n->asked[i];

		a->spec = &n->run->plan.spec[n->side][i];
		/* After CLOSED nothing but releases can be left, before open nothing.
		 */
		if (!n->pump.conn)
			continue;
		if (asked_due(n, a) <= now || (!a->issued && rr_pump_lost(&n->pump))) {
			asked_act(n, a);
			moved = true;
		}
	}
	for (struct served *v = n->served, *next; v; v = next) {
		next = v->next;
		if (v->ready && !v->answered && v->due <= now) {
			answer(n, v);
			moved = true;
		}
	}
	return moved;
}

rr_time load_deadline(const struct node *n)
{
	rr_time t = RR_TIME_NEVER;

	for (unsigned i = 0; n->pump.conn && i < n->run->plan.n_calls[n->side]; i++)
		t = RR_MIN(t, asked_due(n, &n->asked[i]));
	for (struct served *v = n->served; v; v = v->next)
		if (v->ready && !v->answered)
			t = RR_MIN(t, v->due);
	return t;
}

bool load_finished(const struct node *n)
{
	const struct run *r = n->run;

	/* A server of version 1 waits for the first message, which may never come. */
	if (n->side == SERVER && !n->ready && r->plan.version == 1)
		return r->node[CLIENT].n_ended == r->plan.n_calls[CLIENT];
	return n->n_ended == n->run->plan.n_calls[n->side] && !n->n_served;
}

void load_fini(struct node *n)
{
	for (unsigned i = 0; i < n->run->plan.n_calls[n->side]; i++) {
		struct asked *a = &n->asked[i];

		CHECK(n->run, !a->issued || a->ended, "call %u never ended", i);
		if (a->ended && !a->released)
			release(n, a);
	}
	CHECK(n->run, !n->served, "side %u: requests never ended", n->side);
}
