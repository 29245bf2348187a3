/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest budget, and everything at once: several connections of one server,
 * continued Calls, Special ones, Read, Write and Reply chunks, calls in both
 * directions, and requests that call back before they answer and hold their memory
 * meanwhile.  Each end's user reserves as rpc/reserve.c does.
 *
 * Checked: each call ends with the right reply.  A call that is refused for lack of
 * memory is made again, as a client does.  Nothing waits for ever: a world without a
 * next event fails.  No budget is exceeded, no memory is reserved at the end, and no
 * end has more requests with its user than max_requests.
 *
 *   sim_budget [SEED [COUNT]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop/budget.h"
#include "link/pump.h"
#include "prov/sim/sim.h"

#include "../support/test_conn_limits.h"

enum { CLIENT, SERVER, PAIRS = 4, CALLS = 20, LONG = 100000, HEAD = 24 };
enum { OVERHEAD = 4096, INLINE = 4096, MAX_ROUNDS = 1000000 };

#define LIMIT ((uint64_t)RR_BUDGET_LEAST)

struct end;

struct ask {
	struct end *end;
	struct rr_call call;
	struct rr_piece pieces[2];
	struct rr_dest dest;
	uint8_t head[HEAD];
	uint8_t *result;
	uint32_t in, out; /* octets beyond the head, each way */
	bool nested;      /* its handler calls back first */
	bool out_item, active, ended;
	rr_time at;
	struct served *for_request; /* or NULL */
};

struct served {
	struct served *next;
	struct end *end;
	struct rr_request *r;
	struct rr_claim claim;
	uint64_t reserved;
	uint8_t head[HEAD], *result;
	uint32_t out;
	bool answered, out_item;
	rr_time due; /* RR_TIME_NEVER: waits for its own call */
	struct ask own;
};

struct end {
	struct world *w;
	unsigned side;
	struct rr_pump pump;
	rr_time timer;
	struct rr_budget *budget;
	struct rr_holder holder;
	struct rr_claim sequence;
	bool ready, woken;
	uint32_t max_requests, next_xid;
	struct served *served;
	struct ask ask[CALLS];
	unsigned n_ended;
};

struct world {
	uint64_t seed;
	struct rr_sim_world *sim;
	struct rr_prov_listener *listener;
	struct rr_rng rng;
	struct rr_budget budget[2]; /* of the server, of the clients */
	struct end end[2][PAIRS];
	bool ending;
};

static struct {
	uint64_t calls, refused, waits, rooms, continued, special, pulled, nested;
	uint64_t stalls; /* held posts that were tried again */
} tally;

static uint8_t octets[LONG + 4];

#define CHECK(w, x, ...)                                                               \
	do {                                                                           \
		if (!(x)) {                                                            \
			fprintf(stderr,                                                \
			        "seed %" PRIu64 ", %" PRIu64 " ns: ", (w)->seed,       \
			        (uint64_t)rr_sim_now((w)->sim));                       \
			fprintf(stderr, __VA_ARGS__);                                  \
			fprintf(stderr, "\nreplay: sim_budget %" PRIu64 "\n",          \
			        (w)->seed);                                            \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

static struct end *end_of(struct rr_pump *p)
{
	return rr_container_of(p, struct end, pump);
}

static rr_time now(const struct world *w)
{
	return rr_sim_now(w->sim);
}

static uint32_t below(struct world *w, uint32_t n)
{
	return (uint32_t)rr_rng_below(&w->rng, n);
}

/* -- asking ------------------------------------------------------------------------ */

static uint32_t size(struct world *w)
{
	switch (below(w, 4)) {
	case 0:
		return below(w, 100) * 4;
	case 1:
		return below(w, LONG / 4) * 4;
	default:
		return below(w, 10000) * 4;
	}
}

/* The head: XID, CALL, octets in, octets out, nested, whether the result is an item. */
static void draw(struct world *w, struct ask *a, bool nested)
{
	uint32_t flags = RR_CALL_IDEMPOTENT;

	a->in = size(w);
	a->out = size(w);
	a->nested = nested;
	a->out_item = below(w, 2);
	a->pieces[0] = (struct rr_piece){a->head, HEAD, false};
	a->pieces[1] = (struct rr_piece){octets, a->in, below(w, 2)};
	if (below(w, 5) == 0)
		flags |= RR_CALL_SPECIAL;
	if (a->out_item) {
		a->result = malloc(a->out + 1);
		a->dest = (struct rr_dest){.base = a->result, .len = a->out};
	}
	a->call.flags = flags;
	a->call.pieces = a->pieces;
	a->call.n_pieces = a->in ? 2 : 1;
	a->call.dests = a->out_item ? &a->dest : NULL;
	a->call.n_dests = a->out_item;
	a->call.reply_bytes = HEAD + (a->out_item ? 0 : a->out);
}

static void issue(struct ask *a)
{
	struct end *e = a->end;
	const uint32_t words[HEAD / 4] = {++e->next_xid, 0,         a->in,
	                                  a->out,        a->nested, a->out_item};

	for (unsigned i = 0; i < HEAD / 4; i++)
		rr_store_u32(a->head + 4 * i, words[i]);
	a->call.xid = words[0];
	a->active = true;
	CHECK(e->w, !rr_conn_call(e->pump.conn, &a->call, now(e->w)),
	      "a call is not taken");
}

static void check_reply(struct ask *a)
{
	struct world *w = a->end->w;
	const uint8_t *p = a->call.reply, *result = p + HEAD;
	size_t len = a->call.reply_len;

	CHECK(w, len >= HEAD && rr_load_u32(p) == a->call.xid, "no reply");
	CHECK(w, rr_load_u32(p + 8) == a->out, "the reply to another call");
	if (a->out_item && a->dest.ret_used) {
		result = a->dest.ret_base;
		CHECK(w, a->dest.ret_len == a->out, "%zu octets", a->dest.ret_len);
	} else {
		CHECK(w, len == HEAD + a->out, "%zu octets", len);
	}
	CHECK(w, !memcmp(result, octets, a->out), "wrong octets");
}

static void on_call_done(struct rr_pump *p, struct rr_call *call)
{
	struct end *e = end_of(p);
	struct ask *a = rr_container_of(call, struct ask, call);
	struct world *w = e->w;

	a->active = false;
	if (call->status == RR_CALL_REMOTE_ERROR &&
	    call->error.code == RDMA2_ERR_SYSTEM) {
		tally.refused++;
		memset(&call->recovery, 0, sizeof(call->recovery));
		a->at = now(w) + RR_MS(1) + below(w, 1000000);
		return;
	}
	CHECK(w, call->status == RR_CALL_OK, "side %u: status %d, error %u (%u, %u)",
	      e->side, call->status, call->error.code, call->error.arg[0],
	      call->error.arg[1]);
	check_reply(a);
	rr_conn_call_release(e->pump.conn, call, now(w));
	tally.calls++;
	free(a->result);
	a->result = NULL;
	a->ended = true;
	if (a->for_request)
		a->for_request->due = now(w);
	else
		e->n_ended++;
}

/* -- reserving --------------------------------------------------------------------- */

static void wake(struct rr_holder *h)
{
	rr_container_of(h, struct end, holder)->woken = true;
}

static void admitted(struct served *q)
{
	rr_conn_admit(q->end->pump.conn, q->r, NULL, now(q->end->w));
}

static void granted(struct rr_claim *k)
{
	struct served *q = rr_container_of(k, struct served, claim);

	q->reserved = k->bytes;
	admitted(q);
}

static void refuse(struct served *q)
{
	const struct rr_error e = {.code = RDMA2_ERR_SYSTEM};

	q->answered = true;
	rr_conn_refuse(q->end->pump.conn, q->r, &e, now(q->end->w));
}

static void sequence_granted(struct rr_claim *k)
{
	struct end *e = rr_container_of(k, struct end, sequence);

	rr_conn_room(e->pump.conn, k->bytes, now(e->w));
}

static int ask_room(void *ctx, uint64_t *ret_bytes)
{
	struct end *e = ctx;
	int n;

	tally.continued++;
	*ret_bytes = 2 * LONG + OVERHEAD + INLINE;
	e->sequence =
	        (struct rr_claim){.bytes = *ret_bytes, .granted = sequence_granted};
	rr_list_init(&e->sequence.link);
	n = rr_holder_claim(&e->holder, &e->sequence);
	tally.rooms += !n;
	return n;
}

static void leave_room(void *ctx)
{
	struct end *e = ctx;

	rr_holder_leave(&e->holder, &e->sequence);
}

static void give_room(void *ctx, uint64_t bytes)
{
	struct end *e = ctx;

	rr_holder_give(&e->holder, bytes);
}

static uint64_t wanted(const struct rr_request *r)
{
	uint64_t n = r->held_bytes + OVERHEAD + r->call_bytes + r->read_bytes;

	for (unsigned i = 0; i < r->n_writes; i++)
		n += r->write_bytes[i];
	return n + (r->has_reply_chunk ? r->reply_chunk_bytes : (uint64_t)INLINE);
}

/* What has room must not wait for more. */
static void adjust(struct served *q, uint64_t bytes)
{
	struct rr_holder *h = &q->end->holder;
	uint64_t has = q->r->roomed_bytes;

	q->reserved = has;
	if (bytes > has && !rr_holder_extend(h, bytes - has)) {
		refuse(q);
		return;
	}
	q->reserved = bytes;
	admitted(q);
	if (bytes < has)
		rr_holder_give(h, has - bytes);
}

static void check_users(const struct end *e)
{
	unsigned n = 0;

	for (const struct served *q = e->served; q; q = q->next)
		n += !q->answered;
	CHECK(e->w, n <= e->max_requests, "%u requests with the user", n);
}

static void on_admit(struct rr_pump *p, struct rr_request *r)
{
	struct end *e = end_of(p);
	struct served *q = calloc(1, sizeof(*q));

	*q = (struct served){.next = e->served, .end = e, .r = r, .due = RR_TIME_NEVER};
	e->served = q;
	r->user = (uint64_t)(uintptr_t)q;
	tally.special += r->special;
	tally.pulled += r->n_reads > 0;
	check_users(e);
	if (r->roomed_bytes) {
		adjust(q, wanted(r));
		return;
	}
	q->claim = (struct rr_claim){.bytes = wanted(r), .granted = granted};
	rr_list_init(&q->claim.link);
	switch (rr_holder_claim(&e->holder, &q->claim)) {
	case 1:
		granted(&q->claim);
		break;
	case 0:
		tally.waits++;
		break;
	default:
		CHECK(e->w, false, "a claim that can never be");
	}
}

/* -- serving ----------------------------------------------------------------------- */

static void check_args(const struct end *e, const struct rr_request *r, uint32_t in)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < r->n_pieces; i++) {
		size_t skip = i ? 0 : HEAD;

		CHECK(e->w, r->pieces[i].len >= skip, "a short head");
		CHECK(e->w, at + r->pieces[i].len - skip <= in, "too many octets");
		CHECK(e->w,
		      !memcmp((const uint8_t *)r->pieces[i].base + skip, octets + at,
		              r->pieces[i].len - skip),
		      "wrong arguments");
		at += r->pieces[i].len - skip;
	}
	CHECK(e->w, at == in, "%" PRIu64 " octets, not %u", at, in);
}

static void on_request(struct rr_pump *p, struct rr_request *r)
{
	struct end *e = end_of(p);
	struct served *q = (struct served *)(uintptr_t)r->user;
	const uint8_t *head = r->pieces[0].base;

	check_args(e, r, rr_load_u32(head + 8));
	q->out = rr_load_u32(head + 12);
	q->out_item = rr_load_u32(head + 20);
	q->due = now(e->w) + below(e->w, 300000);
	if (!rr_load_u32(head + 16))
		return;
	tally.nested++;
	q->due = RR_TIME_NEVER;
	q->own.end = e;
	q->own.for_request = q;
	draw(e->w, &q->own, false);
	issue(&q->own);
}

static void answer(struct served *q)
{
	struct rr_piece p[2] = {{q->head, HEAD, false}};

	q->due = RR_TIME_NEVER;
	q->answered = true;
	q->result = malloc(q->out + 1);
	memcpy(q->result, octets, q->out);
	rr_store_u32(q->head, q->r->xid);
	rr_store_u32(q->head + 4, 1);
	rr_store_u32(q->head + 8, q->out);
	p[1] = (struct rr_piece){q->result, q->out, q->out_item};
	rr_conn_reply(q->end->pump.conn, q->r, p, q->out ? 2 : 1, now(q->end->w));
}

static void on_request_done(struct rr_pump *p, struct rr_request *r, int status)
{
	struct end *e = end_of(p);
	struct served *q = (struct served *)(uintptr_t)r->user, **at = &e->served;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	rr_holder_give(&e->holder, q->reserved);
	free(q->result);
	free(q);
}

/* -- the pump ---------------------------------------------------------------------- */

static void *mem_get(void *ctx, size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void mem_put(void *ctx, void *mem, size_t bytes)
{
	free(mem);
}

static void check_action(struct rr_pump *p, const struct rr_action *a)
{
	CHECK(end_of(p)->w, a->kind != RR_ACT_DISCONNECT || end_of(p)->w->ending,
	      "side %u: disconnects: %d", end_of(p)->side, a->status);
	tally.stalls += a == &p->held;
}

static void check_lost(struct rr_pump *p)
{
	CHECK(end_of(p)->w, end_of(p)->w->ending, "side %u: ended: %s", end_of(p)->side,
	      rr_sim_ops.reason(p->ep));
}

static void on_ready(struct rr_pump *p)
{
	end_of(p)->ready = true;
}

static const struct rr_pump_ops pump_ops = {
        .admit = on_admit,
        .request = on_request,
        .request_done = on_request_done,
        .call_done = on_call_done,
        .ready = on_ready,
        .lost = check_lost,
        .acting = check_action,
};

static bool due(struct end *e)
{
	rr_time t = now(e->w);
	bool moved = false;

	for (unsigned i = 0; i < CALLS; i++) {
		struct ask *a = &e->ask[i];

		if (!e->ready || a->active || a->ended || a->at > t)
			continue;
		issue(a);
		moved = true;
	}
	for (struct served *q = e->served; q; q = q->next) {
		struct ask *a = &q->own;

		if (q->due <= t) {
			answer(q);
			return true; /* it may be gone with the next action */
		}
		if (a->end && !a->active && !a->ended && a->at <= t) {
			issue(a);
			moved = true;
		}
	}
	return moved;
}

static bool pump(struct end *e)
{
	rr_time t = now(e->w);
	bool moved = false;

	if (!e->pump.conn || rr_pump_over(&e->pump))
		return false;
	if (e->woken) {
		e->woken = false;
		rr_holder_woken(&e->holder);
		moved = true;
	}
	if (e->timer <= t)
		rr_pump_tick(&e->pump, t);
	moved |= due(e);
	moved |= rr_pump_turn(&e->pump, MAX_ROUNDS, t) > 0;
	e->timer =
	        rr_pump_over(&e->pump) ? RR_TIME_NEVER : rr_pump_deadline(&e->pump, t);
	return moved;
}

/* -- a world ----------------------------------------------------------------------- */

static void open_end(struct world *w, unsigned side, unsigned i, struct rr_ep *ep)
{
	struct end *e = &w->end[side][i];
	struct rr_conn_config cfg = {
	        .role = side == SERVER ? RR_CONN_SERVER : RR_CONN_CLIENT,
	        .mem = {mem_get, mem_put, NULL},
	        .remote_invalidate = true,
	        .xid_seed = 1u << 30,
	        .rvrsdir = side == CLIENT ? RDMA2_RVRSDIR_GENL : 0,
	        .credits = 8 + below(w, 32),
	        .max_requests = below(w, 2) ? 256 : 1 + below(w, 20),
	        .max_message_bytes = 2 * LONG,
	        .room = {ask_room, leave_room, give_room, e},
	};
	struct rr_conn *conn;

	conn_limits(&cfg);
	e->w = w;
	e->side = side;
	e->budget = &w->budget[side];
	e->max_requests = cfg.max_requests;
	rr_holder_init(&e->holder, e->budget, LIMIT, wake);
	CHECK(w, !rr_conn_new(&cfg, now(w), &conn), "no connection");
	rr_pump_init(&e->pump, &rr_sim_ops, ep, conn, &pump_ops);
	for (unsigned k = 0; k < CALLS; k++) {
		e->ask[k].end = e;
		e->ask[k].at = below(w, 300000);
		draw(w, &e->ask[k], side == CLIENT && below(w, 3) == 0);
	}
}

static void begin(struct world *w)
{
	const struct rr_sim_options o = {
	        .dir = {{{1000, 50000}, 1000000000}, {{1000, 50000}, 1000000000}},
	        .place = {0, 2000},
	        .read_latency = {100, 20000},
	        .send_done = {0, 5000},
	        .batch = {0, 3000},
	        .pieces = 3,
	        .full_one_in = w->seed % 2 ? 8 : 0,
	};
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rr_prov_config cfg = {0};
	struct sockaddr_storage addr;
	struct rr_ep *ep;

	rr_rng_seed(&w->rng, w->seed);
	rr_budget_init(&w->budget[CLIENT], LIMIT);
	rr_budget_init(&w->budget[SERVER], LIMIT);
	w->sim = cfg.instance = rr_sim_world_new(w->seed, &o);
	CHECK(w,
	      !rr_sim_ops.listen(&cfg, (struct sockaddr *)&any, sizeof(any),
	                         &w->listener, &addr),
	      "no listener");
	for (unsigned i = 0; i < PAIRS; i++) {
		CHECK(w,
		      !rr_sim_ops.connect(&cfg, (struct sockaddr *)&addr, sizeof(any),
		                          NULL, 0, 0, &ep),
		      "no connection");
		open_end(w, CLIENT, i, ep);
		while (rr_sim_ops.accept(w->listener, &cfg, NULL, 0, now(w), &ep))
			CHECK(w, rr_sim_step(w->sim), "nothing to accept");
		open_end(w, SERVER, i, ep);
	}
}

static bool all(const struct world *w, bool (*test)(const struct end *))
{
	for (unsigned i = 0; i < 2 * PAIRS; i++)
		if (!test(&w->end[i % 2][i / 2]))
			return false;
	return true;
}

static bool served_all(const struct end *e)
{
	return e->n_ended == CALLS && !e->served;
}

static bool is_closed(const struct end *e)
{
	return rr_pump_over(&e->pump);
}

static rr_time next_due(const struct world *w)
{
	rr_time t = RR_TIME_NEVER;

	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		const struct end *e = &w->end[i % 2][i / 2];

		if (rr_pump_over(&e->pump))
			continue;
		t = RR_MIN(t, e->timer);
		for (unsigned k = 0; k < CALLS; k++)
			if (e->ready && !e->ask[k].active && !e->ask[k].ended)
				t = RR_MIN(t, e->ask[k].at);
		for (const struct served *q = e->served; q; q = q->next) {
			t = RR_MIN(t, q->due);
			if (q->own.end && !q->own.active && !q->own.ended)
				t = RR_MIN(t, q->own.at);
		}
	}
	return t;
}

_Noreturn static void stuck(const struct world *w, const char *how)
{
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		const struct end *e = &w->end[i % 2][i / 2];
		struct rr_conn_info f;
		unsigned n = 0;

		rr_conn_info(e->pump.conn, &f);
		for (const struct served *q = e->served; q; q = q->next)
			n++;
		fprintf(stderr,
		        "  pair %u side %u: %u of %d ended, serves %u; avail %u owed "
		        "%u "
		        "calls %u requests %u; holds %" PRIu64 " queued %d\n",
		        i / 2, e->side, e->n_ended, CALLS, n, f.avail, f.owed, f.calls,
		        f.requests, (uint64_t)e->holder.used, e->holder.queued);
	}
	CHECK(w, false, "%s", how);
	abort();
}

static void advance(struct world *w)
{
	rr_time t = next_due(w), s = rr_sim_next(w->sim);

	if (t == RR_TIME_NEVER && s == RR_TIME_NEVER)
		stuck(w, "somebody waits for ever");
	if (t < s)
		rr_sim_run_until(w->sim, t);
	else
		rr_sim_step(w->sim);
}

static void run_to(struct world *w, bool (*end)(const struct end *))
{
	for (unsigned rounds = 0; !all(w, end); rounds++) {
		uint64_t events = rr_sim_events(w->sim);
		bool moved = false;

		for (unsigned i = 0; i < 2 * PAIRS; i++)
			moved |= pump(&w->end[i % 2][i / 2]);
		moved |= rr_sim_events(w->sim) != events;
		for (unsigned i = 0; i < 2; i++)
			CHECK(w, w->budget[i].used <= LIMIT, "a budget is exceeded");
		if (rounds > MAX_ROUNDS)
			stuck(w, "no end in sight");
		if (!moved)
			advance(w);
	}
}

static void finish(struct world *w)
{
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		struct end *e = &w->end[i % 2][i / 2];

		CHECK(w, !e->holder.used, "%" PRIu64 " octets are held for ever",
		      (uint64_t)e->holder.used);
		rr_holder_fini(&e->holder);
		rr_sim_ops.destroy(e->pump.ep);
		rr_conn_free(e->pump.conn);
	}
	rr_budget_fini(&w->budget[CLIENT]);
	rr_budget_fini(&w->budget[SERVER]);
	rr_sim_ops.listener_close(w->listener);
	rr_sim_world_free(w->sim);
}

static void run_seed(uint64_t seed)
{
	struct world *w = calloc(1, sizeof(*w));

	w->seed = seed;
	begin(w);
	run_to(w, served_all);
	w->ending = true;
	for (unsigned i = 0; i < PAIRS; i++)
		rr_pump_close(&w->end[CLIENT][i].pump, 0, now(w));
	run_to(w, is_closed);
	finish(w);
	free(w);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	for (unsigned i = 0; i < sizeof(octets); i++)
		octets[i] = (uint8_t)(i * 2654435761u >> 11);
	for (uint64_t i = 0; i < count; i++)
		run_seed(seed + i);
	printf("%" PRIu64 " seeds: %" PRIu64 " calls answered, %" PRIu64
	       " times refused and asked again; %" PRIu64 " requests waited; %" PRIu64
	       " of %" PRIu64 " continued Calls waited; %" PRIu64 " Special, %" PRIu64
	       " with Read chunks, %" PRIu64 " called back; %" PRIu64
	       " held posts tried\n",
	       count, tally.calls, tally.refused, tally.waits, tally.rooms,
	       tally.continued, tally.special, tally.pulled, tally.nested,
	       tally.stalls);
	return 0;
}
