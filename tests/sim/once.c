/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operation that is not idempotent is executed once, at whatever moment the
 * connection is lost.
 *
 * There are a client and a server over the simulated provider, the reply cache, and a
 * store of names with CREATE, exclusive CREATE, REMOVE and RENAME.  Two lanes of
 * operations run at the same time; the operations of a lane run one after the other.
 * Names are sent inline or in a Read chunk, results inline and in a Write chunk.  The
 * run is repeated for every event of the world, with the link broken at that event.
 * The client reconnects and sends the calls without a reply again, with the same XIDs.
 * The last run is the one that ends before its event.
 *
 * The oracle: the script alone determines the status of each operation.  A result also
 * has the number of operations executed before it in its lane.  An operation that is
 * executed twice has another number, and mostly another status.
 * [v2 §4.5.5, §7.5; V2-4.5.5-01, V2-4.5.5-02, V2-7.5-01]
 */
#include "once.h"

enum op { CREATE = 1, XCREATE, REMOVE, RENAME };
enum status { OK = 0, NOENT = 2, EXIST = 17 };

/* @verf is the verifier of an exclusive CREATE. */
struct step {
	enum op op;
	char name, to;
	uint32_t verf;
	bool long_name;
	enum status want;
};

static const struct step script[] = {
        {CREATE, 'a', 0, 0, false, OK},     {CREATE, 'a', 0, 0, true, EXIST},
        {REMOVE, 'a', 0, 0, true, OK},      {REMOVE, 'a', 0, 0, false, NOENT},
        {XCREATE, 'b', 0, 7, false, OK},    {XCREATE, 'b', 0, 7, false, OK},
        {XCREATE, 'b', 0, 8, true, EXIST},  {RENAME, 'b', 'c', 0, false, OK},
        {RENAME, 'b', 'c', 0, true, NOENT}, {XCREATE, 'b', 0, 7, true, OK},
        {REMOVE, 'c', 0, 0, false, OK},     {REMOVE, 'b', 0, 0, true, OK},
};
_Static_assert(RR_ARRAY_SIZE(script) == STEPS, "one number");

/* -- the store ------------------------------------------------------------------- */

static uint8_t pattern(unsigned lane, uint32_t serial, size_t i)
{
	return (uint8_t)(lane * 71 + serial * 13 + i * 7 + (i >> 8));
}

static enum status do_step(struct world *w, unsigned lane, const struct step *s)
{
	unsigned from = (unsigned)(s->name - 'a'), to = (unsigned)(s->to - 'a');
	bool there = w->file[lane][from].there;

	switch (s->op) {
	case CREATE:
	case XCREATE:
		if (there)
			return s->op == XCREATE && w->file[lane][from].verf == s->verf
			               ? OK
			               : EXIST;
		w->file[lane][from].there = true;
		w->file[lane][from].verf = s->verf;
		return OK;
	case REMOVE:
		w->file[lane][from].there = false;
		return there ? OK : NOENT;
	case RENAME:
		if (!there)
			return NOENT;
		w->file[lane][to] = w->file[lane][from];
		w->file[lane][from].there = false;
		return OK;
	}
	abort();
}

static void put32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* -- the server -------------------------------------------------------------------- */

static void send_reply(struct served *q, const struct rr_rpc_reply *r,
                       struct rr_piece *pieces, unsigned n)
{
	int len = rr_rpc_put_reply(q->header, sizeof(q->header), r);

	assert_true(len > 0);
	pieces[0] = (struct rr_piece){q->header, (size_t)len, false};
	q->state = ANSWERED;
	rr_conn_reply(q->end->pump.conn, q->request, pieces, 1 + n,
	              world_now(q->end->w));
}

static void send_cached(struct served *q)
{
	struct rr_piece pieces[1 + RPCRDMA_MAX_PIECES];
	struct rr_rpc_reply r;
	unsigned n = rr_reply_cache_reply(q->entry, &r, pieces + 1);

	send_reply(q, &r, pieces, n);
}

/* lane, step, padding words; then the name, which only the digest looks at */
static void execute(struct served *q)
{
	struct world *w = q->end->w;
	const uint8_t *args = q->args[0].base;
	unsigned lane = get32(args), step = get32(args + 4);
	struct rr_rpc_reply r = {.xid = q->call.xid};
	struct rr_piece pieces[3];
	uint32_t serial;

	assert_true(q->args[0].len >= 8 && lane < LANES && step < STEPS);
	w->executed[lane][step]++;
	serial = w->serial[lane]++;
	put32(q->head, do_step(w, lane, &script[step]));
	put32(q->head + 4, serial);
	for (size_t i = 0; i < RESULT_ITEM; i++)
		q->item[i] = pattern(lane, serial, i);
	pieces[1] = (struct rr_piece){q->head, 8, false};
	pieces[2] = (struct rr_piece){q->item, RESULT_ITEM, true};
	w->in_cache = true;
	rr_reply_cache_complete(&w->cache, q->entry, &r, pieces + 1, 2, world_now(w));
	w->in_cache = false;
	q->entry = NULL;
	send_reply(q, &r, pieces, 2);
}

static void on_ready(struct rr_reply_cache_waiter *x)
{
	rr_container_of(x, struct served, waiter)->state = TOLD;
}

static void set_args(struct served *q, size_t header)
{
	for (unsigned i = 0; i < q->request->n_pieces; i++) {
		const struct rr_piece *p = &q->request->pieces[i];
		size_t skip = i ? 0 : header;

		q->args[q->n_args++] = (struct rpcrdma_piece){
		        (const uint8_t *)p->base + skip, p->len - skip, p->item};
	}
}

static void send_refusal(struct served *q)
{
	const struct rr_rpc_reply r = {.xid = q->call.xid,
	                               .status = RPCRDMA_SYSTEM_ERR};
	struct rr_piece piece;

	send_reply(q, &r, &piece, 0);
}

static enum rr_reply_cache_verdict begin(struct world *w, struct served *q)
{
	struct sockaddr_storage peer;
	const struct rr_reply_cache_from from = {&peer, 1};
	enum rr_reply_cache_verdict v;

	assert_int_equal(rr_sim_ops.peer_addr(q->end->pump.ep, &peer), 0);
	w->in_cache = true;
	v = rr_reply_cache_begin(&w->cache, &from, &q->call, q->args, q->n_args,
	                         &q->waiter, world_now(w), &q->entry);
	w->in_cache = false;
	return v;
}

void on_request(struct end *e, struct rr_request *r)
{
	struct served *q = calloc(1, sizeof(*q));
	struct world *w = e->w;
	int n = rr_rpc_get_call(r->pieces[0].base, r->pieces[0].len, &q->call);

	assert_true(n > 0);
	*q = (struct served){.next = w->served,
	                     .end = e,
	                     .request = r,
	                     .call = q->call,
	                     .waiter.ready = on_ready};
	w->served = q;
	r->user = (uint64_t)(uintptr_t)q;
	set_args(q, (size_t)n);
	switch (begin(w, q)) {
	case RR_REPLY_CACHE_NEW: /* every third takes long enough to be asked for again */
		q->due = world_now(w) + (q->call.xid % 3 == 0 ? 8 * RETRY_NS : 0);
		q->state = EXECUTING;
		break;
	case RR_REPLY_CACHE_DONE:
		w->hits++;
		send_cached(q);
		break;
	case RR_REPLY_CACHE_WAIT:
		w->waits++;
		q->state = WAITING;
		break;
	case RR_REPLY_CACHE_REFUSED: /* nothing was executed */
		assert_true(w->fail_cache_get);
		send_refusal(q);
	}
}

void on_request_done(struct end *e, struct rr_request *r)
{
	struct served *q = (struct served *)(uintptr_t)r->user, **at = &e->w->served;

	if (!q)
		return;
	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	if (q->entry)
		rr_reply_cache_put(&e->w->cache, q->entry, world_now(e->w));
	free(q);
}

/* The connection is gone: who waits goes, what is being executed stays. */
void on_session_lost(struct end *e)
{
	for (struct served *q = e->w->served; q; q = q->next) {
		if (q->end != e || (q->state != WAITING && q->state != TOLD))
			continue;
		rr_reply_cache_leave(&e->w->cache, q->entry, &q->waiter,
		                     world_now(e->w));
		q->entry = NULL;
		q->state = ANSWERED;
		rr_conn_drop(e->pump.conn, q->request, world_now(e->w));
	}
}

static rr_time serve_due(struct world *w, bool *moved)
{
	rr_time next = RR_TIME_NEVER;

	for (struct served *q = w->served; q; q = q->next) {
		if (q->state == TOLD) {
			send_cached(q);
			*moved = true;
		} else if (q->state == EXECUTING && q->due <= world_now(w)) {
			execute(q);
			*moved = true;
		} else if (q->state == EXECUTING) {
			next = RR_MIN(next, q->due);
		}
	}
	return next;
}

/* -- the client ------------------------------------------------------------ */

static void fill(struct asked *a)
{
	const struct step *s = &script[a->step];
	struct rr_rpc_call c = {.xid = 100 + a->lane * 1000 + a->step,
	                        .program = 200000,
	                        .version = 1,
	                        .procedure = s->op};
	size_t len = s->long_name ? LONG_ITEM : 5;
	int n = rr_rpc_put_call(a->header, sizeof(a->header), &c);

	assert_true(n > 0);
	put32(a->args, a->lane);
	put32(a->args + 4, a->step);
	put32(a->args + 8, (uint32_t)len);
	for (size_t i = 0; i < len; i++)
		a->name[i] = (uint8_t)(s->name + i);
	memset(a->result, 0, sizeof(a->result));
	a->pieces[0] = (struct rr_piece){a->header, (size_t)n, false};
	a->pieces[1] = (struct rr_piece){a->args, 12, false};
	a->pieces[2] = (struct rr_piece){a->name, len, true};
	a->dest = (struct rr_dest){.base = a->result, .len = sizeof(a->result)};
	a->call = (struct rr_call){.xid = c.xid,
	                           .pieces = a->pieces,
	                           .n_pieces = 3,
	                           .dests = &a->dest,
	                           .n_dests = 1};
	a->attempts = 0;
	a->active = true;
}

/* The reply is the one of the only execution, unless something went wrong. */
static bool right(const struct asked *a)
{
	const uint8_t *p = a->call.reply;
	struct rr_rpc_reply r;
	int n = rr_rpc_get_reply(p, a->call.reply_len, &r);
	bool ok = n > 0 && !r.status && a->call.reply_len >= (size_t)n + 8 &&
	          get32(p + n) == script[a->step].want && get32(p + n + 4) == a->step &&
	          a->dest.ret_used && a->dest.ret_len == RESULT_ITEM;

	for (size_t i = 0; ok && i < RESULT_ITEM; i++)
		ok = a->result[i] == pattern(a->lane, a->step, i);
	return ok;
}

/* The server had no memory for it, and says so. */
static bool refused(const struct world *w, const struct rr_call *c)
{
	struct rr_rpc_reply r;

	if (c->status == RR_CALL_REMOTE_ERROR)
		return w->fail_get && c->error.code == RDMA2_ERR_SYSTEM;
	return w->fail_cache_get && c->status == RR_CALL_OK &&
	       rr_rpc_get_reply(c->reply, c->reply_len, &r) > 0 &&
	       r.status == RPCRDMA_SYSTEM_ERR;
}

void on_call_done(struct world *w, struct rr_call *c)
{
	struct asked *a = rr_container_of(c, struct asked, call);
	bool again = c->status < 0 || refused(w, c);

	a->sent = false;
	if (!again)
		w->wrong += !right(a);
	rr_conn_call_release(w->client.pump.conn, c, world_now(w));
	if (again)
		return; /* lost: to be sent again */
	w->finished++;
	a->active = false;
	if (++a->step < STEPS)
		fill(a);
}

/* True if a Call has to be tried again at once. */
static bool submit(struct world *w)
{
	bool failed = false;

	for (unsigned i = 0; i < LANES; i++) {
		struct asked *a = &w->asked[i];
		int err;

		if (!a->active || a->sent || !w->client.pump.conn ||
		    rr_pump_lost(&w->client.pump) || rr_pump_over(&w->client.pump))
			continue;
		err = rr_conn_call(w->client.pump.conn, &a->call, world_now(w));
		failed |= err == -ENOMEM;
		if (err)
			continue;
		a->sent = true;
		w->retransmits += a->attempts++ > 0;
	}
	return failed;
}

/* -- a run ----------------------------------------------------------------- */

static struct rr_prov_config prov_config(struct world *w)
{
	return (struct rr_prov_config){.instance = w->sim};
}

static void connect_client(struct world *w)
{
	struct rr_prov_config cfg = prov_config(w);
	struct rr_ep *ep;

	assert_int_equal(rr_sim_ops.connect(&cfg, (struct sockaddr *)&w->addr,
	                                    sizeof(struct sockaddr_in), NULL, 0,
	                                    world_now(w), &ep),
	                 0);
	end_open(w, &w->client, ep, false);
	w->connections++;
	w->retry_at = world_now(w) + RETRY_NS; /* if there was no memory for it */
}

static void accept_all(struct world *w)
{
	struct rr_prov_config cfg = prov_config(w);
	struct rr_ep *ep;

	while (!rr_sim_ops.accept(w->listener, &cfg, NULL, 0, world_now(w), &ep)) {
		struct end *e = &w->session[w->n_sessions++];

		assert_true(w->n_sessions <= MAX_SESSIONS);
		end_open(w, e, ep, true);
	}
}

/* A flush of one end may complete what another one posted. */
static bool move(struct world *w, rr_time *next)
{
	uint64_t before = rr_sim_events(w->sim);
	bool moved;

	accept_all(w);
	moved = submit(w);
	moved |= end_pump(&w->client);
	for (unsigned i = 0; i < w->n_sessions; i++)
		moved |= end_pump(&w->session[i]);
	*next = serve_due(w, &moved);
	moved |= rr_sim_events(w->sim) != before;
	if (rr_pump_over(&w->client.pump) && w->client.pump.conn) {
		end_close(&w->client);
		w->retry_at = world_now(w) + RETRY_NS;
		moved = true;
	}
	if (w->client.pump.conn || w->ending)
		return moved;
	if (w->retry_at <= world_now(w)) {
		connect_client(w);
		moved = true;
	} else {
		*next = RR_MIN(*next, w->retry_at);
	}
	return moved;
}

static rr_time deadlines(const struct world *w, rr_time t)
{
	if (w->client.pump.conn && !rr_pump_over(&w->client.pump))
		t = RR_MIN(t, w->client.timer);
	for (unsigned i = 0; i < w->n_sessions; i++)
		if (w->session[i].pump.conn && !rr_pump_over(&w->session[i].pump))
			t = RR_MIN(t, w->session[i].timer);
	return t;
}

/* Where the link breaks: at event @first, and again @more events later.  Which
 * allocation of the connections fails, and which of the cache. */
struct fault {
	uint64_t first, more, get, cache_get; /* 0: none */
};

static void set_up_world(struct world *w, const struct rr_sim_options *o,
                         const struct fault *f, size_t cache)
{
	const struct rr_reply_cache_options d = {.bytes = cache, .key = {3, 4}};
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rr_prov_config cfg;

	memset(w, 0, sizeof(*w));
	w->fail_get = f->get;
	w->fail_cache_get = f->cache_get;
	w->sim = rr_sim_world_new(1, o);
	cfg = prov_config(w);
	assert_int_equal(rr_reply_cache_init(&w->cache, &d), 0);
	assert_int_equal(rr_sim_ops.listen(&cfg, (struct sockaddr *)&any, sizeof(any),
	                                   &w->listener, &w->addr),
	                 0);
	for (unsigned i = 0; i < LANES; i++) {
		w->asked[i].lane = i;
		fill(&w->asked[i]);
	}
	connect_client(w);
}

static void tear_down_world(struct world *w)
{
	for (unsigned i = 0; i < w->n_sessions; i++)
		end_close(&w->session[i]);
	end_close(&w->client);
	rr_sim_ops.listener_close(w->listener);
	rr_sim_world_free(w->sim);
	rr_reply_cache_fini(&w->cache);
}

static bool all_closed(const struct world *w)
{
	for (unsigned i = 0; i < w->n_sessions; i++)
		if (!rr_pump_over(&w->session[i].pump))
			return false;
	return !w->client.pump.conn;
}

static void break_again(struct world *w, const struct fault *f)
{
	if (f->more && rr_sim_events(w->sim) >= f->first)
		rr_sim_options(w->sim)->drop_event = f->first + f->more;
}

static void begin_end(struct world *w)
{
	w->ending = true;
	if (w->client.pump.conn)
		rr_pump_close(&w->client.pump, 0, world_now(w));
}

static void advance(struct world *w, rr_time next)
{
	next = deadlines(w, next);
	assert_true(next != RR_TIME_NEVER || rr_sim_next(w->sim) != RR_TIME_NEVER);
	if (next < rr_sim_next(w->sim))
		rr_sim_run_until(w->sim, next);
	else
		rr_sim_step(w->sim);
}

/* Runs until all operations are answered, then until all ends are closed.  The
 * events that it took before that. */
static uint64_t run(struct world *w, const struct rr_sim_options *timing,
                    const struct fault *f, size_t cache)
{
	struct rr_sim_options o = *timing;
	uint64_t events = 0;
	unsigned rounds = 0;
	rr_time next;

	o.drop_event = f->first;
	set_up_world(w, &o, f, cache);
	for (;;) {
		assert_true(++rounds < MAX_ROUNDS);
		break_again(w, f);
		if (move(w, &next))
			continue;
		if (w->ending && all_closed(w) && !w->served)
			break;
		if (!w->ending && w->finished == LANES * STEPS) {
			events = rr_sim_events(w->sim);
			begin_end(w);
		} else {
			advance(w, next);
		}
	}
	tear_down_world(w);
	return events;
}

/* -- the cache's memory (the linker leads malloc and calloc here) ----------------- */

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);

static struct world w; /* of the last run */

static bool fails(void)
{
	return w.in_cache && ++w.cache_gets == w.fail_cache_get;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

/* -- tests ----------------------------------------------------------------- */

enum { CACHE = 1 << 20 };

static const struct rr_sim_options timings[] = {
        /* one thing after the other, in good order */
        {.dir = {{{1000, 1000}, 1000000000}, {{1000, 1000}, 1000000000}}},
        /* whatever the contract leaves free */
        {.dir = {{{500, 9000}, 0}, {{500, 9000}, 0}},
         .place = {0, 4000},
         .read_latency = {0, 3000},
         .send_done = {0, 20000},
         .inv_done = {0, 9000},
         .batch = {0, 6000},
         .pieces = 3,
         .scribble = true},
        /* slow enough that a retry meets what is still being executed */
        {.dir = {{{100, 100}, 0}, {{30000, 40000}, 0}}, .batch = {0, 2000}},
};

static unsigned executions(void)
{
	unsigned n = 0;

	for (unsigned l = 0; l < LANES; l++)
		for (unsigned i = 0; i < STEPS; i++)
			n += w.executed[l][i];
	return n;
}

static void check_once(const struct fault *f)
{
	for (unsigned l = 0; l < LANES; l++)
		for (unsigned i = 0; i < STEPS; i++)
			if (w.executed[l][i] != 1)
				fail_msg("loss at %u and %u more: lane %u, step %u "
				         "executed %u times",
				         (unsigned)f->first, (unsigned)f->more, l, i,
				         w.executed[l][i]);
	if (w.wrong)
		fail_msg("loss at %u and %u more: %u wrong replies", (unsigned)f->first,
		         (unsigned)f->more, w.wrong);
}

static void without_a_loss_each_operation_is_done_once(void **state)
{
	const struct fault none = {0};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(timings); i++) {
		assert_true(run(&w, &timings[i], &none, CACHE) > 100);
		check_once(&none);
		assert_int_equal(w.connections, 1);
		assert_int_equal(w.hits + w.waits + w.retransmits, 0);
	}
}

/* Breaks the link at every event there is; what was seen in all runs together. */
static void break_everywhere(const struct rr_sim_options *timing, uint64_t more)
{
	unsigned hits = 0, waits = 0, retransmits = 0;
	struct fault f = {.first = 1, .more = more};
	uint64_t events;

	for (;; f.first++) {
		events = run(&w, timing, &f, CACHE);
		check_once(&f);
		if (events < f.first)
			break;
		hits += w.hits;
		waits += w.waits;
		retransmits += w.retransmits;
	}
	assert_int_equal(w.connections, 1);
	assert_true(hits > 20);
	assert_true(waits > 0);
	assert_true(retransmits > hits + waits); /* some had not been executed */
}

static void a_loss_at_every_event_in_good_order(void **state)
{
	break_everywhere(&timings[0], 0);
}

static void a_loss_at_every_event_in_any_order(void **state)
{
	break_everywhere(&timings[1], 0);
}

static void a_loss_at_every_event_with_slow_replies(void **state)
{
	break_everywhere(&timings[2], 0);
}

/* The repetition, or its reply, is lost as well. */
static void a_second_loss_soon_after_every_first_one(void **state)
{
	for (uint64_t more = 2; more < 40; more += 7)
		break_everywhere(&timings[more % 3], more);
}

/* What the cache is for: the same losses without it. */
static void without_the_cache_operations_are_done_twice(void **state)
{
	unsigned twice = 0, wrong = 0;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(timings); i++) {
		struct fault f = {.first = 1};

		while (run(&w, &timings[i], &f, 0) >= f.first) {
			unsigned again = executions() - LANES * STEPS;

			twice += again > 0;
			wrong += w.wrong > 0;
			/* To the event the same run: what was done twice here is
			 * answered from the cache there. */
			run(&w, &timings[i], &f, CACHE);
			assert_int_equal(again, w.hits + w.waits);
			f.first++;
		}
	}
	assert_true(twice > 100);
	assert_true(wrong > 50);
}

/* Each allocation of the connections fails once: calls are refused, connections
 * end or do not come to be, and still everything is executed once. */
static void each_allocation_of_a_connection_may_fail(void **state)
{
	for (unsigned i = 0; i < RR_ARRAY_SIZE(timings); i++) {
		struct fault f = {.get = 1};

		for (;; f.get++) {
			run(&w, &timings[i], &f, CACHE);
			check_once(&f);
			assert_int_equal(w.finished, LANES * STEPS);
			if (w.gets < f.get)
				break;
		}
		assert_true(f.get > 50);
	}
}

/* What finds no room in the cache is refused and asked again; a reply that could not
 * be kept went out all the same. */
static void each_allocation_of_the_cache_may_fail(void **state)
{
	struct fault f = {.cache_get = 1};

	for (;; f.cache_get++) {
		run(&w, &timings[0], &f, CACHE);
		check_once(&f);
		assert_int_equal(w.finished, LANES * STEPS);
		if (w.cache_gets < f.cache_get)
			break;
	}
	assert_true(f.cache_get > 2 * LANES * STEPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(without_a_loss_each_operation_is_done_once),
	        cmocka_unit_test(a_loss_at_every_event_in_good_order),
	        cmocka_unit_test(a_loss_at_every_event_in_any_order),
	        cmocka_unit_test(a_loss_at_every_event_with_slow_replies),
	        cmocka_unit_test(a_second_loss_soon_after_every_first_one),
	        cmocka_unit_test(without_the_cache_operations_are_done_twice),
	        cmocka_unit_test(each_allocation_of_a_connection_may_fail),
	        cmocka_unit_test(each_allocation_of_the_cache_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
