/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections back to back: every format with every kind of chunk, odd
 * lengths, cancellation and loss at every step, memory that runs out, credits
 * that are scarce.  What arrives is compared octet by octet with a stream that
 * the test lays out by itself.  After each step credits are conserved; at the
 * end nothing is left allocated and no region is accessible.
 */
#include "conn_rig.h"

enum { MAX_ITEMS = 4, MAX_CALLS = 64 };

/* One call and the reply that it asks for. */
struct job {
	uint32_t xid;
	unsigned flags;
	size_t filler; /* octets of the Call beside its items, a multiple of 4 */
	unsigned n_items;
	size_t item[MAX_ITEMS];
	unsigned n_results;
	size_t result[MAX_ITEMS];
	size_t dest[MAX_ITEMS];
	unsigned n_dests;
	size_t reply_filler;
	size_t reply_bytes;
	bool user_sinks;

	struct rr_call call;
	struct rr_piece piece[2 * MAX_ITEMS + 2];
	uint8_t *flat, *parts, *reply_parts; /* memory the pieces lie in */
	size_t flat_len;
	struct rr_piece reply_piece[2 * MAX_ITEMS + 2];
	unsigned n_reply_pieces;
	uint8_t *sink[MAX_ITEMS];
	struct rr_dest dests[MAX_ITEMS];
	bool served, done;
	unsigned ended;
};

struct world {
	struct pair p;
	struct job job[MAX_CALLS];
	unsigned n_jobs;
	struct rr_request *held[MAX_CALLS];
	unsigned n_held;
	bool hold;
};

static uint8_t pattern(uint32_t salt, size_t i)
{
	return (uint8_t)((salt * 31 + i * 7 + (i >> 8) * 13) ^ (i >> 16));
}

static uint8_t *make_pattern(uint32_t salt, size_t len)
{
	uint8_t *p = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		p[i] = pattern(salt, i);
	return p;
}

static size_t pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* header piece (xid, type, filler with the first count word at its end), item,
 * count word, item, ...: writes the flat stream too. */
static unsigned lay_out(uint32_t xid, uint32_t type, size_t filler, unsigned n,
                        const size_t *len, struct rr_piece *piece, uint8_t **mem,
                        uint8_t **flat, size_t *flat_len)
{
	size_t total = 8 + filler, at = 0, word = 0;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++)
		total += 4 + pad4(len[i]);
	*flat = calloc(1, total);
	*mem = calloc(1, 8 + filler + 4 * n + n + 8);
	for (unsigned i = 0; i < n; i++)
		assert_non_null(piece);
	rr_store_u32(*mem, xid);
	rr_store_u32(*mem + 4, type);
	for (size_t i = 0; i < filler; i++)
		(*mem)[8 + i] = pattern(xid + type, i);
	word = 8 + filler;
	memcpy(*flat, *mem, word);
	piece[k++] = (struct rr_piece){*mem, word, false};
	at = word;
	for (unsigned i = 0; i < n; i++) {
		uint8_t *data = make_pattern(xid * 10 + type * 5 + i, len[i]);

		rr_store_u32(*mem + word, (uint32_t)len[i]);
		memcpy(*flat + at, *mem + word, 4);
		if (i == 0)
			piece[0].len += 4;
		else
			piece[k++] = (struct rr_piece){*mem + word, 4, false};
		word += 4;
		at += 4;
		memcpy(*flat + at, data, len[i]);
		at += pad4(len[i]);
		piece[k++] = (struct rr_piece){data, len[i], true};
	}
	assert_int_equal(at, total);
	*flat_len = total;
	return k;
}

static void free_pieces(struct rr_piece *piece, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (piece[i].item)
			free((void *)(uintptr_t)piece[i].base);
}

static struct job *find_job(struct world *w, uint32_t xid)
{
	for (unsigned i = 0; i < w->n_jobs; i++)
		if (w->job[i].xid == xid)
			return &w->job[i];
	fail_msg("no job %#x", xid);
	return NULL;
}

/* -- the server's user ------------------------------------------------------------- */

static void on_admit(struct side *s, struct rr_request *r)
{
	struct job *j = find_job(s->app, r->xid);
	struct rr_sge sinks[RR_REQUEST_MAX_READS] = {{0}};

	assert_int_equal(r->n_pieces, 1);
	assert_int_equal(rr_load_u32(r->pieces[0].base), j->xid);
	assert_int_equal(r->user, 0);
	if (j->user_sinks) {
		assert_true(r->n_reads <= MAX_ITEMS);
		for (unsigned i = 0; i < r->n_reads; i++) {
			free(j->sink[i]);
			j->sink[i] = malloc((size_t)r->read_bytes);
			sinks[i] =
			        (struct rr_sge){j->sink[i], (uint32_t)r->read_bytes, 0};
		}
	}
	rr_conn_admit(s->c, r, j->user_sinks ? sinks : NULL, s->now);
}

static void check_request(const struct job *j, const struct rr_request *r)
{
	uint8_t *all = calloc(1, j->flat_len + 64);
	size_t at = 0;

	for (unsigned i = 0; i < r->n_pieces; i++) {
		const struct rr_piece *k = &r->pieces[i];

		assert_true(at + k->len <= j->flat_len);
		memcpy(all + at, k->base, k->len);
		at += k->item ? pad4(k->len) : k->len;
	}
	assert_int_equal(at, j->flat_len);
	assert_memory_equal(all, j->flat, j->flat_len);
	free(all);
}

static void answer(struct side *s, struct rr_request *r)
{
	struct job *j = find_job(s->app, r->xid);
	uint8_t *flat;
	size_t len;

	if (!j->n_reply_pieces) {
		j->n_reply_pieces =
		        lay_out(j->xid, 1, j->reply_filler, j->n_results, j->result,
		                j->reply_piece, &j->reply_parts, &flat, &len);
		free(flat);
	}
	j->served = true;
	rr_conn_reply(s->c, r, j->reply_piece, j->n_reply_pieces, s->now);
}

static void on_request(struct side *s, struct rr_request *r)
{
	struct world *w = s->app;

	check_request(find_job(w, r->xid), r);
	if (w->hold)
		w->held[w->n_held++] = r;
	else
		answer(s, r);
}

/* -- the client's user ---------------------------------------------------------------
 */

static void check_reply(struct job *j)
{
	uint8_t *flat, *mem, *want;
	struct rr_piece piece[2 * MAX_ITEMS + 2];
	size_t flat_len, at = 8 + j->reply_filler, n = at;
	unsigned k = lay_out(j->xid, 1, j->reply_filler, j->n_results, j->result, piece,
	                     &mem, &flat, &flat_len);

	want = calloc(1, flat_len);
	memcpy(want, flat, n);
	for (unsigned i = 0; i < j->n_results; i++) {
		size_t len = j->result[i];
		bool by_chunk = i < j->n_dests && j->dest[i];

		memcpy(want + n, flat + at, 4);
		n += 4;
		at += 4;
		if (by_chunk) {
			assert_int_equal(j->dests[i].ret_used, len > 0);
			assert_int_equal(j->dests[i].ret_len, len);
			assert_memory_equal(j->dests[i].base, flat + at, len);
			/* not one octet beyond [V2-4.3.6.2-02] */
			for (size_t x = len; x < j->dest[i]; x++)
				assert_int_equal(((uint8_t *)j->dests[i].base)[x],
				                 0xcc);
		} else {
			memcpy(want + n, flat + at, len);
			n += pad4(len);
		}
		at += pad4(len);
	}
	assert_int_equal(j->call.reply_len, n);
	assert_memory_equal(j->call.reply, want, n);
	free(want);
	free(flat);
	free(mem);
	free_pieces(piece, k);
}

static void on_call_done(struct side *s, struct rr_call *call)
{
	struct job *j = rr_container_of(call, struct job, call);

	j->done = true;
	j->ended++;
	assert_int_equal(j->ended, 1);
	if (call->status == RR_CALL_OK) {
		check_reply(j);
		rr_conn_call_release(s->c, call, s->now);
	} else {
		assert_null(call->reply);
		assert_null(call->priv);
	}
}

/* -- worlds
 * ---------------------------------------------------------------------------- */

static struct world *new_world(void)
{
	struct world *w = calloc(1, sizeof(*w));

	w->p.cl.app = w->p.sv.app = w;
	w->p.cl.on_call_done = on_call_done;
	w->p.sv.on_call_done = on_call_done;
	w->p.cl.on_request = w->p.sv.on_request = on_request;
	w->p.cl.on_admit = w->p.sv.on_admit = on_admit;
	return w;
}

static void free_job(struct job *j)
{
	free_pieces(j->piece, j->call.n_pieces);
	free_pieces(j->reply_piece, j->n_reply_pieces);
	free(j->parts);
	free(j->reply_parts);
	free(j->flat);
	for (unsigned i = 0; i < MAX_ITEMS; i++) {
		free(j->dests[i].base);
		free(j->sink[i]);
	}
}

static void answer_held(struct world *w)
{
	while (w->n_held)
		answer(&w->p.sv, w->held[--w->n_held]);
	rig_drain(&w->p.sv);
}

static void end_world(struct world *w)
{
	pair_lose(&w->p, 0);
	answer_held(w);
	pair_end(&w->p);
	assert_int_equal(w->p.sv.requests_done, w->p.sv.admitted);
	for (unsigned i = 0; i < w->n_jobs; i++) {
		assert_true(w->job[i].done);
		free_job(&w->job[i]);
	}
	free(w);
}

static struct job *add_job(struct world *w, const struct job *shape)
{
	struct job *j = &w->job[w->n_jobs++];
	uint8_t *flat;

	*j = *shape;
	j->xid = 0x40000000u + w->n_jobs;
	j->call.n_pieces = lay_out(j->xid, 0, j->filler, j->n_items, j->item, j->piece,
	                           &j->parts, &flat, &j->flat_len);
	j->flat = flat;
	for (unsigned i = 0; i < j->n_dests; i++) {
		if (!j->dest[i])
			continue;
		j->dests[i].base = malloc(j->dest[i]);
		memset(j->dests[i].base, 0xcc, j->dest[i]);
		j->dests[i].len = j->dest[i];
	}
	j->call.xid = j->xid;
	j->call.flags = j->flags;
	j->call.pieces = j->piece;
	j->call.dests = j->dests;
	j->call.n_dests = j->n_dests;
	j->call.reply_bytes = j->reply_bytes;
	return j;
}

static void start_job(struct side *s, struct job *j)
{
	assert_int_equal(rr_conn_call(s->c, &j->call, s->now), 0);
	rig_drain(s);
}

static void configure(struct world *w, uint32_t credits, uint32_t recv,
                      uint32_t segment, bool inv)
{
	struct rr_conn_config *g[2] = {&w->p.cl.cfg, &w->p.sv.cfg};

	for (int i = 0; i < 2; i++) {
		g[i]->credits = credits;
		g[i]->recv_bytes = g[i]->send_bytes = recv;
		g[i]->segment_bytes = segment;
		g[i]->max_segments = 64;
		g[i]->remote_invalidate = inv;
	}
}

/* -- the matrix
 * ---------------------------------------------------------------------------- */

static const size_t lengths[] = {0,   1,   2,    3,    4,    5,    511,
                                 512, 513, 1027, 4095, 4096, 4097, 70001};

static void run_job(struct world *w, const struct job *shape)
{
	struct job *j = add_job(w, shape);
	struct rr_conn_info i;

	start_job(&w->p.cl, j);
	pair_run(&w->p);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_true(j->done);
	assert_int_equal(j->call.status, RR_CALL_OK);
	assert_int_equal(rig_valid_regions(&w->p.cl), 0);
	rr_conn_info(w->p.cl.c, &i);
	assert_int_equal(i.calls, 0);
	rr_conn_info(w->p.sv.c, &i);
	assert_int_equal(i.requests, 0);
	assert_int_equal(i.pinned_bytes, 0);
	free_job(j);
	w->n_jobs--;
}

/* V2-4.4-01, V2-4.3.5-04 to 06, V2-4.3.6-04 to 09, V2-4.4.2, V2-4.4.3. */
static void matrix(uint32_t credits, uint32_t recv, uint32_t segment, bool inv)
{
	static const size_t fillers[] = {0, 4, 3000, 4040, 9000, 40000};
	struct world *w = new_world();
	unsigned flags[] = {0, RR_CALL_SPECIAL, RR_CALL_NO_REDUCE,
	                    RR_CALL_NO_REDUCE | RR_CALL_SPECIAL};
	uint32_t turn = 0;

	configure(w, credits, recv, segment, inv);
	pair_new(&w->p, credits * 1000 + segment);
	pair_run(&w->p);
	assert_true(w->p.cl.ready && w->p.sv.ready);
	for (unsigned fl = 0; fl < RR_ARRAY_SIZE(flags); fl++)
		for (unsigned f = 0; f < RR_ARRAY_SIZE(fillers); f++)
			for (unsigned a = 0; a < RR_ARRAY_SIZE(lengths); a++) {
				struct job j = {
				        .flags = flags[fl],
				        .filler = fillers[f],
				        .n_items = turn % 4,
				        .n_results = turn / 4 % 4,
				        .n_dests = turn / 16 % 4,
				        .reply_filler = fillers[(f + turn) % 6],
				        .user_sinks = turn & 1,
				};

				for (unsigned i = 0; i < 3; i++) {
					j.item[i] = lengths[(a + i * 5) % 14];
					j.result[i] = lengths[(a + i * 3 + 1) % 14];
					j.dest[i] = j.result[i] + (turn >> i & 1);
				}
				if (turn % 3 == 0)
					j.reply_bytes = 300000;
				turn++;
				run_job(w, &j);
			}
	end_world(w);
}

static void formats_and_chunks_with_defaults(void **state)
{
	matrix(32, 4096, 1 << 20, false);
}

static void formats_and_chunks_with_remote_invalidation(void **state)
{
	matrix(8, 4096, 65536, true);
}

/* The smallest window and odd segments. */
static void formats_and_chunks_with_two_credits(void **state)
{
	matrix(2, 4096, 9001, true);
}

static void formats_and_chunks_with_long_messages(void **state)
{
	matrix(16, 16384, 40000, false);
}

/* V2-4.1-05, V2-4.2.1.1-09: many at once, every window size. */
static void many_calls_at_once(void **state)
{
	for (uint32_t credits = 2; credits <= 33; credits += credits < 8 ? 1 : 5) {
		struct world *w = new_world();

		configure(w, credits, 4096, 0, true);
		w->p.sv.cfg.credits = credits / 2 + 1;
		pair_new(&w->p, credits);
		for (unsigned i = 0; i < MAX_CALLS; i++) {
			struct job j = {.filler = (i * 997 % 20000) & ~3u,
			                .n_items = i % 3,
			                .item = {i * 31, 5000},
			                .n_results = 2,
			                .result = {i * 100, i * 10},
			                .n_dests = i % 2,
			                .dest = {6400},
			                .reply_filler = (i * 1009 % 30000) & ~3u};

			start_job(&w->p.cl, add_job(w, &j));
		}
		do {
			pair_run(&w->p);
		} while (w->p.cl.calls_done < MAX_CALLS && pair_wait(&w->p, RR_SEC(3)));
		for (unsigned i = 0; i < MAX_CALLS; i++)
			assert_int_equal(w->job[i].call.status, RR_CALL_OK);
		assert_false(w->p.cl.misuse || w->p.sv.misuse);
		end_world(w);
	}
}

/* -- interruptions
 * ---------------------------------------------------------------------------- */

static const struct job everything = {
        .filler = 9000,
        .n_items = 2,
        .item = {3001, 9000},
        .n_results = 3,
        .result = {777, 5000, 9},
        .n_dests = 2,
        .dest = {778, 5000},
        .reply_filler = 12000,
};

static const struct job long_call = {
        .filler = 60000,
        .n_items = 1,
        .item = {600},
        .n_results = 1,
        .result = {7},
        .n_dests = 1,
        .dest = {8},
};

static const struct job special = {
        .flags = RR_CALL_SPECIAL,
        .n_items = 2,
        .item = {3001, 100},
        .n_results = 1,
        .result = {700},
        .n_dests = 1,
        .dest = {4000},
        .reply_bytes = 100000,
        .reply_filler = 80000,
};

static void steps(struct world *w, unsigned n)
{
	while (n-- && pair_step(&w->p))
		;
}

/* V2-11.1.4-05: no region is accessible once a cancelled call has ended.  The
 * server checks what it is given to serve: a Call given up between its parts is
 * not among it (V2-7.2.1-02), the closing part is refused. */
static void cancel_at(const struct job *shape, unsigned at, bool *ret_late,
                      unsigned *ret_torn)
{
	struct world *w = new_world();
	struct rr_conn_counters n;
	struct job *j, *k;

	configure(w, 4, 4096, 2000, at & 1);
	pair_new(&w->p, at * 7);
	j = add_job(w, shape);
	start_job(&w->p.cl, j);
	steps(w, at);
	*ret_late = j->done;
	rr_conn_cancel(w->p.cl.c, &j->call, w->p.cl.now);
	rig_drain(&w->p.cl);
	while (!j->done && pair_step(&w->p))
		;
	assert_true(j->done);
	assert_int_equal(rig_valid_regions(&w->p.cl), 0);
	if (!*ret_late && j->call.status != RR_CALL_OK && !w->p.cl.lost)
		assert_int_equal(j->call.status, -ECANCELED);
	/* the connection goes on, unless the server was still at the memory */
	if (!w->p.cl.lost && !w->p.sv.misuse && !w->p.cl.misuse) {
		struct job plain = {.filler = 100, .reply_filler = 5000};

		k = add_job(w, &plain);
		start_job(&w->p.cl, k);
		pair_run(&w->p);
		assert_true(k->done);
		if (!w->p.cl.misuse && !w->p.sv.misuse)
			assert_int_equal(k->call.status, RR_CALL_OK);
	}
	rr_conn_counters(w->p.sv.c, &n);
	*ret_torn += (unsigned)n.errors_sent;
	end_world(w);
}

static void cancel_at_every_step(void **state)
{
	const struct job *shape[] = {&everything, &special, &long_call};
	unsigned torn = 0;

	for (unsigned k = 0; k < 3; k++) {
		bool late = false;

		for (unsigned at = 0; !late; at++)
			cancel_at(shape[k], at, &late, &torn);
	}
	assert_true(torn > 0);
}

/* V2-3.2.2-02: everything ends once, whatever was going on. */
static void loss_at_every_step(void **state)
{
	const struct job *shape[] = {&everything, &special};

	for (unsigned k = 0; k < 2; k++) {
		bool late = false;

		for (unsigned at = 0; !late; at++) {
			struct world *w = new_world();
			struct job *j;

			w->hold = at & 1;
			configure(w, 4, 4096, 2000, at & 2);
			pair_new(&w->p, at * 3);
			j = add_job(w, shape[k]);
			start_job(&w->p.cl, j);
			steps(w, at);
			late = j->done || at > 400;
			pair_lose(&w->p, -ECONNRESET);
			assert_true(j->done);
			/* a result that was known stays */
			if (!late && j->call.status != RR_CALL_OK)
				assert_int_equal(j->call.status, -ECONNRESET);
			assert_int_equal(w->p.sv.closed, !w->n_held);
			answer_held(w);
			assert_true(w->p.sv.closed);
			end_world(w);
		}
	}
}

/* Closing from either end, at every step. */
static void close_at_every_step(void **state)
{
	for (unsigned at = 0; at < 60; at++) {
		struct world *w = new_world();
		struct side *s = at & 1 ? &w->p.cl : &w->p.sv;

		configure(w, 4, 4096, 2000, true);
		pair_new(&w->p, at);
		start_job(&w->p.cl, add_job(w, &everything));
		steps(w, at);
		rr_conn_close(s->c, 0, s->now);
		rig_drain(s);
		assert_true(s->disconnect);
		pair_run(&w->p);
		assert_true(w->job[0].done);
		end_world(w);
	}
}

/* The n-th allocation fails, once or from then on, for every n. */
static void memory_runs_out(void **state)
{
	for (unsigned mode = 0; mode < 4; mode++)
		for (long n = 1; n < 40; n++) {
			struct world *w = new_world();
			struct side *s = mode & 1 ? &w->p.sv : &w->p.cl;

			configure(w, 4, 4096, 2000, true);
			pair_new(&w->p, (uint64_t)n);
			pair_run(&w->p);
			s->mem_fail_at = n;
			s->mem_fail_on = mode & 2;
			for (unsigned k = 0; k < 2; k++) {
				const struct job *shape = k ? &special : &everything;
				struct job *j = add_job(w, shape);

				if (rr_conn_call(w->p.cl.c, &j->call, w->p.cl.now))
					j->done = true;
				rig_drain(&w->p.cl);
				pair_run(&w->p);
			}
			s->mem_fail_at = 0;
			s->mem_fail_on = false;
			end_world(w);
		}
}

/* V2-3.1.3.3-01, V2-3.1.3.4-01, -04: both directions at once, same XIDs. */
static void calls_in_both_directions(void **state)
{
	struct world *w = new_world();
	struct world *r = calloc(1, sizeof(*r));

	configure(w, 4, 4096, 4000, true);
	w->p.cl.cfg.rvrsdir = RDMA2_RVRSDIR_GENL;
	w->p.cl.app = w->p.sv.app = w;
	pair_new(&w->p, 77);
	pair_run(&w->p);
	for (unsigned i = 0; i < 20; i++)
		start_job(i & 1 ? &w->p.sv : &w->p.cl,
		          add_job(w, i % 3 ? &everything : &special));
	pair_run(&w->p);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(w->job[i].call.status, RR_CALL_OK);
	end_world(w);
	free(r);
}

/* R2: no reverse Call before, and without, support. */
static void reverse_call_without_support_ends_locally(void **state)
{
	struct world *w = new_world();
	struct job plain = {.filler = 100};

	pair_new(&w->p, 1);
	start_job(&w->p.sv, add_job(w, &plain));
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, -EPROTONOSUPPORT);
	end_world(w);
}

/* R5: level 1 carries one message, no chunks, and no more. */
static void reverse_level_one_is_simple_only(void **state)
{
	struct world *w = new_world();
	struct job plain = {.filler = 100,
	                    .n_results = 1,
	                    .result = {300},
	                    .n_dests = 1,
	                    .dest = {0},
	                    .n_items = 1,
	                    .item = {1000}};
	struct job large = {.filler = 9000};
	struct job large_reply = {.filler = 0, .reply_filler = 9000};

	w->p.cl.cfg.rvrsdir = RDMA2_RVRSDIR_SIMPLE;
	pair_new(&w->p, 1);
	start_job(&w->p.sv, add_job(w, &plain));
	start_job(&w->p.sv, add_job(w, &large));
	start_job(&w->p.sv, add_job(w, &large_reply));
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, RR_CALL_OK);
	assert_int_equal(w->job[1].call.status, -EMSGSIZE);
	assert_int_equal(w->job[2].call.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(w->job[2].call.error.code, RDMA2_ERR_REPLY_RESOURCE);
	assert_int_equal(w->n_jobs, 3);
	end_world(w);
}

/* -- resources
 * ------------------------------------------------------------------------------- */

/* K10: V2-7.3.4-01 to 03. */
static void write_chunk_too_small_is_reported(void **state)
{
	struct world *w = new_world();
	struct job j = {
	        .n_results = 2, .result = {10, 5001}, .n_dests = 2, .dest = {10, 5000}};

	pair_new(&w->p, 1);
	start_job(&w->p.cl, add_job(w, &j));
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(w->job[0].call.error.code, RDMA2_ERR_WRITE_RESOURCE);
	assert_int_equal(w->job[0].call.error.arg[0], 2);
	assert_int_equal(w->job[0].call.error.arg[1], 5001);
	assert_int_equal(w->p.sv.n_writes, 0);
	assert_int_equal(rig_valid_regions(&w->p.cl), 0);
	end_world(w);
}

/* K14, V2-7.4.1: a Read fails and the connection lives. */
static void failed_read_is_a_system_error(void **state)
{
	struct world *w = new_world();

	pair_new(&w->p, 1);
	w->p.sv.fail_reads = true;
	start_job(&w->p.cl, add_job(w, &everything));
	start_job(&w->p.cl, add_job(w, &special));
	pair_run(&w->p);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(w->job[i].call.status, RR_CALL_REMOTE_ERROR);
		assert_int_equal(w->job[i].call.error.code, RDMA2_ERR_SYSTEM);
	}
	end_world(w);
}

static void failed_registration_ends_the_call(void **state)
{
	struct world *w = new_world();

	pair_new(&w->p, 1);
	w->p.cl.fail_register = -ENOSPC;
	start_job(&w->p.cl, add_job(w, &everything));
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, -ENOSPC);
	end_world(w);
}

/* V2-5.2.4-02: too many segments for the peer. */
static void segments_stay_within_the_peers_limit(void **state)
{
	struct world *w = new_world();
	struct job items = {.n_items = 3, .item = {9000, 9000, 9000}};
	struct job results = {
	        .n_results = 2, .result = {1, 1}, .n_dests = 2, .dest = {9000, 9000}};

	w->p.sv.cfg.max_segments = 4;
	w->p.sv.cfg.segment_bytes = 4000;
	pair_new(&w->p, 1);
	start_job(&w->p.cl, add_job(w, &items));   /* one reduced, the rest inline */
	start_job(&w->p.cl, add_job(w, &results)); /* cannot be offered */
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, RR_CALL_OK);
	assert_int_equal(w->p.sv.n_reads, 3);
	assert_int_equal(w->job[1].call.status, -EMSGSIZE);
	end_world(w);
}

/* Pulls wait for memory, and go on in order. */
static void budget_makes_pulls_wait(void **state)
{
	struct world *w = new_world();
	struct rr_conn_info i;

	w->hold = true;
	w->p.sv.cfg.max_pinned_bytes = 45000;
	pair_new(&w->p, 5);
	for (unsigned k = 0; k < 6; k++) {
		struct job j = {.n_items = 1, .item = {20000}};

		start_job(&w->p.cl, add_job(w, &j));
	}
	for (unsigned round = 0; round < 3; round++) {
		pair_run(&w->p);
		assert_int_equal(w->n_held, 2);
		rr_conn_info(w->p.sv.c, &i);
		assert_int_equal(i.pinned_bytes, 40000);
		answer_held(w);
	}
	pair_run(&w->p);
	for (unsigned k = 0; k < 6; k++)
		assert_int_equal(w->job[k].call.status, RR_CALL_OK);
	end_world(w);
}

/* One request larger than the whole budget, or than a chunk may be. */
static void too_large_is_a_system_error(void **state)
{
	struct world *w = new_world();
	struct job budget = {.n_items = 2, .item = {30000, 30000}};
	struct job chunk = {.n_items = 1, .item = {40001}};
	struct job call = {.flags = RR_CALL_SPECIAL, .filler = 10000};
	struct job parts = {.filler = 10000};

	w->p.sv.cfg.max_pinned_bytes = 50000;
	w->p.sv.cfg.max_chunk_bytes = 40000;
	w->p.sv.cfg.max_message_bytes = 8192;
	pair_new(&w->p, 5);
	start_job(&w->p.cl, add_job(w, &budget));
	start_job(&w->p.cl, add_job(w, &chunk));
	start_job(&w->p.cl, add_job(w, &call));
	start_job(&w->p.cl, add_job(w, &parts));
	pair_run(&w->p);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(w->job[i].call.status, RR_CALL_REMOTE_ERROR);
		assert_int_equal(w->job[i].call.error.code,
		                 i < 3 ? RDMA2_ERR_SYSTEM : RDMA2_ERR_INVAL_CONT);
	}
	end_world(w);
}

static void too_many_requests_are_refused(void **state)
{
	struct world *w = new_world();
	struct job plain = {.filler = 8};
	unsigned refused = 0;

	w->hold = true;
	w->p.sv.cfg.max_requests = 3;
	pair_new(&w->p, 5);
	for (unsigned k = 0; k < 8; k++)
		start_job(&w->p.cl, add_job(w, &plain));
	pair_run(&w->p);
	for (unsigned k = 0; k < 8; k++)
		refused += w->job[k].done;
	assert_int_equal(refused, 5);
	answer_held(w);
	pair_run(&w->p);
	end_world(w);
}

/* -- credits
 * ------------------------------------------------------------------------------------
 */

/* C3 rule 4: after traffic one way the grants die out. */
static void grants_die_out(void **state)
{
	for (uint32_t h = 2; h < 70; h += 3) {
		struct world *w = new_world();
		struct job plain = {.filler = 60000, .reply_filler = 0};
		struct rr_conn_counters a, b;

		configure(w, h, 4096, 0, false);
		pair_new(&w->p, h);
		for (unsigned k = 0; k < 8; k++)
			start_job(&w->p.cl, add_job(w, &plain));
		pair_run(&w->p);
		for (unsigned k = 0; k < 8; k++)
			assert_int_equal(w->job[k].call.status, RR_CALL_OK);
		for (unsigned k = 0; k < 200 && pair_wait(&w->p, RR_SEC(60)); k++)
			pair_run(&w->p);
		rr_conn_counters(w->p.cl.c, &a);
		rr_conn_counters(w->p.sv.c, &b);
		assert_int_equal(rr_conn_deadline(w->p.cl.c), RR_TIME_NEVER);
		assert_int_equal(rr_conn_deadline(w->p.sv.c), RR_TIME_NEVER);
		assert_true(a.grants + b.grants < 8 * 16 + 8);
		end_world(w);
	}
}

/* Counters of paths tell what went where. */
static void counters_tell_the_path(void **state)
{
	struct world *w = new_world();
	struct rr_conn_counters n;

	configure(w, 8, 4096, 0, true);
	pair_new(&w->p, 3);
	start_job(&w->p.cl, add_job(w, &everything));
	start_job(&w->p.cl, add_job(w, &special));
	pair_run(&w->p);
	rr_conn_counters(w->p.sv.c, &n);
	assert_int_equal(n.requests, 2);
	assert_int_equal(n.request_replies, 2);
	assert_int_equal(n.bytes_read_chunk, 3001 + 9000 + 3001);
	assert_int_equal(n.bytes_write_chunk, 777 + 5000 + 700);
	assert_int_equal(n.bytes_reply_chunk, 8 + 80000 + 4);
	rr_conn_counters(w->p.cl.c, &n);
	assert_int_equal(n.replies, 2);
	assert_int_equal(n.bytes_write_chunk, 777 + 5000 + 700);
	assert_int_equal(n.registrations,
	                 n.local_invalidations + n.remote_invalidations);
	assert_int_equal(n.remote_invalidations, 2);
	end_world(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(formats_and_chunks_with_defaults),
	        cmocka_unit_test(formats_and_chunks_with_remote_invalidation),
	        cmocka_unit_test(formats_and_chunks_with_two_credits),
	        cmocka_unit_test(formats_and_chunks_with_long_messages),
	        cmocka_unit_test(many_calls_at_once),
	        cmocka_unit_test(cancel_at_every_step),
	        cmocka_unit_test(loss_at_every_step),
	        cmocka_unit_test(close_at_every_step),
	        cmocka_unit_test(memory_runs_out),
	        cmocka_unit_test(calls_in_both_directions),
	        cmocka_unit_test(reverse_call_without_support_ends_locally),
	        cmocka_unit_test(reverse_level_one_is_simple_only),
	        cmocka_unit_test(write_chunk_too_small_is_reported),
	        cmocka_unit_test(failed_read_is_a_system_error),
	        cmocka_unit_test(failed_registration_ends_the_call),
	        cmocka_unit_test(segments_stay_within_the_peers_limit),
	        cmocka_unit_test(budget_makes_pulls_wait),
	        cmocka_unit_test(too_large_is_a_system_error),
	        cmocka_unit_test(too_many_requests_are_refused),
	        cmocka_unit_test(grants_die_out),
	        cmocka_unit_test(counters_tell_the_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
