/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls from a server to its clients, through the public interface: levels,
 * both directions at once, threads.  The oracle is the octet pattern that both
 * sides compute by themselves, and what the provider counted.
 */
#include <pthread.h>

#include "test_both_ends.h"

struct filled {
	unsigned done;
	int status;
	uint32_t seed, len;
	uint32_t transport_error;
	uint8_t *dest;
};

static void on_filled(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct filled *f = arg;
	const uint8_t *got;

	f->done++;
	f->status = r->status;
	f->transport_error = r->transport_error;
	if (r->status)
		return;
	assert_true(r->len >= 4);
	assert_int_equal(be32(r->results), f->len);
	got = (const uint8_t *)r->results + 4;
	if (r->n_dests && r->dests[0].ret_used) {
		assert_int_equal(r->len, 4);
		assert_int_equal(r->dests[0].ret_len, f->len);
		got = r->dests[0].base;
	} else {
		assert_int_equal(r->len, 4 + ((f->len + 3) & ~3u));
	}
	for (uint32_t i = 0; i < f->len; i++)
		assert_int_equal(got[i], both_pattern(f->seed, i));
}

/* @item: into memory of ours by RDMA Write, if the peer may. */
static int fill(struct rpcrdma_conn *c, uint32_t len, bool item, struct filled *f)
{
	uint8_t args[12];
	struct rpcrdma_piece a = {args, 12, false};
	struct rpcrdma_dest d = {.len = len};
	struct wait unused;
	struct rpcrdma_call_options o = both_call(P_FILL, &unused);

	*f = (struct filled){.seed = len * 7, .len = len};
	d.base = f->dest = malloc((size_t)len + 1);
	put32(args, f->seed);
	put32(args + 4, len);
	put32(args + 8, item);
	o.args = &a;
	o.n_args = 1;
	o.dests = &d;
	o.n_dests = item;
	o.reply_bytes = item ? 4 : 4 + (size_t)len + 3;
	o.done = on_filled;
	o.arg = f;
	assert_int_equal(rpcrdma_call(c, &o, NULL), 0);
	both_spin_until(&f->done, 1);
	free(f->dest);
	return f->status;
}

/* -- levels ---------------------------------------------------------------- */

/* V2-3.1.3.2-01, V2-4.5.3-03: over the connection that the client made. */
static void a_server_calls_its_client(void **state)
{
	struct rpcrdma_conn_info back, front;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);

	both_start();
	assert_int_equal(both_run(both.back, &o, &x), 0);
	assert_int_equal(both.client.executed, 1);
	assert_int_equal(both.server.executed, 0);
	rpcrdma_conn_get_info(both.back, &back, sizeof(back));
	rpcrdma_conn_get_info(both.conn, &front, sizeof(front));
	assert_true(back.connected);
	assert_int_equal(back.version, front.version);
	assert_int_equal(back.peer_reverse, RPCRDMA_REVERSE_GENL);
	assert_memory_equal(&back.peer, &front.local, sizeof(struct sockaddr_in));
	assert_int_equal(both.ups, 1);
}

/* RPC's own answers: the client's service speaks for itself. */
static void rpc_errors_come_back_from_the_client(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(99, &x);

	both_start();
	assert_int_equal(both_run(both.back, &o, &x), RPCRDMA_PROC_UNAVAIL);
	o = both_call(P_NULL, &x);
	o.program++;
	assert_int_equal(both_run(both.back, &o, &x), RPCRDMA_PROG_UNAVAIL);
	o = both_call(P_NULL, &x);
	o.version = 7;
	assert_int_equal(both_run(both.back, &o, &x), RPCRDMA_PROG_MISMATCH);
	assert_int_equal(x.reply.low, VERS);
	assert_int_equal(x.reply.high, VERS);
}

/* [R2], V2-4.5.3-01, -02, -04, V2-5.2.5-02: nothing is sent. */
static void a_client_without_callbacks_is_not_called(void **state)
{
	struct rpcrdma_conn_info info;
	struct rpcrdma_stats before, after;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);

	both.options.callbacks = NULL;
	both_start();
	both_spin_for(30); /* what is owed has been said */
	rpcrdma_engine_get_stats(both.engine, &before, sizeof(before));
	assert_int_equal(both_run(both.back, &o, &x), -EPROTONOSUPPORT);
	both_spin_for(30);
	rpcrdma_engine_get_stats(both.engine, &after, sizeof(after));
	assert_int_equal(after.sends, before.sends);
	rpcrdma_conn_get_info(both.back, &info, sizeof(info));
	assert_int_equal(info.peer_reverse, 0);
	o = both_call(P_NULL, &x);
	assert_int_equal(both_run(both.conn, &o, &x), 0); /* forward as ever */
	assert_int_equal(both.downs, 0);
}

static void one_sided(uint64_t *reads, uint64_t *writes)
{
	struct rpcrdma_stats s;

	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	*reads = s.rdma_reads;
	*writes = s.rdma_writes;
}

/* [R5], V2-5.2.5-03, V2-4.5.4-04: one message each way, or none. */
static void level_simple_is_one_message_each_way(void **state)
{
	uint64_t reads, writes;
	struct filled f;

	both.options.reverse = RPCRDMA_REVERSE_SIMPLE;
	both_start();
	assert_int_equal(both_sum(both.back, 3000, true), 0);
	assert_int_equal(fill(both.back, 3000, true, &f), 0);
	assert_int_equal(both_sum(both.back, 5000, true), -EMSGSIZE);
	assert_int_equal(both_sum(both.back, 5000, false), -EMSGSIZE);
	assert_int_equal(fill(both.back, 5000, false, &f), RPCRDMA_TRANSPORT_ERROR);
	assert_int_equal(f.transport_error, 10); /* RDMA2_ERR_REPLY_RESOURCE */
	assert_int_equal(fill(both.back, 5000, true, &f), RPCRDMA_TRANSPORT_ERROR);
	assert_int_equal(f.transport_error, 10);
	assert_int_equal(both_sum(both.back, 3000, true), 0);
	one_sided(&reads, &writes);
	assert_int_equal(reads, 0);
	assert_int_equal(writes, 0);
	/* forward: no such limit */
	assert_int_equal(both_sum(both.conn, BIG, true), 0);
	assert_int_equal(both.downs, 0);
}

/* V2-5.2.5-04, V2-4.5.2-04: long ones are continued, chunks are not offered. */
static void level_continued_carries_no_chunks(void **state)
{
	uint64_t reads, writes;
	struct rpcrdma_stats s;
	struct filled f;

	both.options.reverse = RPCRDMA_REVERSE_CONT;
	both_start();
	assert_int_equal(both_sum(both.back, BIG, true), 0);
	assert_int_equal(fill(both.back, BIG, true, &f), 0);
	assert_int_equal(fill(both.back, BIG, false, &f), 0);
	one_sided(&reads, &writes);
	assert_int_equal(reads, 0);
	assert_int_equal(writes, 0);
	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	assert_int_equal(s.registrations, 0);
	assert_true(s.bytes_continued >= 3ull * BIG);
}

/* V2-4.5.4-01, -02, V2-5.2.5-05, [R6]: Read, Write and Reply chunks, and a Special
 * Call; the client does the RDMA. */
static void level_general_moves_chunks(void **state)
{
	struct rpcrdma_stats s, last = {0};
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);
	struct filled f;

	both.options.features = "none"; /* the base protocol's way for long replies */
	both_start();
	assert_int_equal(both_sum(both.back, BIG, true), 0);
	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	assert_int_equal(s.bytes_read_chunk, 2 * BIG); /* counted by both ends */
	assert_true(s.rdma_reads >= 1);
	assert_int_equal(s.rdma_writes, 0);
	assert_int_equal(fill(both.back, BIG, true, &f), 0);
	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	assert_true(s.rdma_writes >= 1);
	assert_int_equal(s.bytes_write_chunk, 2 * BIG);
	last = s;
	assert_int_equal(fill(both.back, BIG, false, &f), 0);
	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	assert_true(s.rdma_writes > last.rdma_writes);
	assert_true(s.bytes_reply_chunk > BIG);
	o.force_special = true;
	assert_int_equal(both_run(both.back, &o, &x), 0);
	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	assert_true(s.bytes_special_call > 0);
	assert_int_equal(both.downs, 0);
}

/* RFC 8167: version 1 has no levels, so the server takes the least for granted. */
static void version_1_carries_plain_calls_in_reverse(void **state)
{
	struct rpcrdma_conn_info info;
	struct filled f;

	both.options.version = 1;
	both_start();
	assert_int_equal(both_sum(both.back, 3000, true), 0);
	assert_int_equal(fill(both.back, 3000, true, &f), 0);
	assert_int_equal(both_sum(both.back, 5000, true), -EMSGSIZE);
	assert_int_equal(both_sum(both.conn, BIG, true), 0);
	rpcrdma_conn_get_info(both.back, &info, sizeof(info));
	assert_int_equal(info.version, 1);
	assert_int_equal(info.peer_reverse, RPCRDMA_REVERSE_SIMPLE);
	assert_int_equal(both.downs, 0);
}

/* What version 1 could not tell beforehand, the client's answer tells. */
static void a_version_1_client_without_callbacks_refuses(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;

	both.options.version = 1;
	both.options.callbacks = NULL;
	both_start();
	o = both_call(P_NULL, &x);
	assert_int_equal(both_run(both.back, &o, &x), RPCRDMA_TRANSPORT_ERROR);
	o = both_call(P_NULL, &x);
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(both.downs, 0);
}

/* What was asked for has a meaning, or is refused. */
static void levels_without_callbacks_are_misuse(void **state)
{
	struct rpcrdma_conn *c;

	both.options.reverse = (enum rpcrdma_reverse)4;
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", "1", &both.options,
	                                 NULL, NULL, &c),
	                 -EINVAL);
	both.options.reverse = RPCRDMA_REVERSE_CONT;
	both.options.callbacks = NULL;
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", "1", &both.options,
	                                 NULL, NULL, &c),
	                 -EINVAL);
}

/* -- both ways ------------------------------------------------------------- */

struct flow {
	struct rpcrdma_conn *conn;
	unsigned started, ended, goal, bad;
};

struct job {
	struct flow *flow;
	unsigned kind;
	uint32_t seed, len;
	uint8_t args[12];
	uint8_t *data;
	struct rpcrdma_dest dest;
};

static void next_job(struct flow *f);

static bool job_good(const struct job *j, const struct rpcrdma_reply *r)
{
	const uint8_t *got = (const uint8_t *)r->results + 4;

	if (r->status || j->kind == P_NULL)
		return !r->status && r->len == 0;
	if (j->kind == P_SUM)
		return r->len == 4 && be32(r->results) == 1;
	if (j->dest.ret_used && j->dest.ret_len != j->len)
		return false;
	if (j->dest.ret_used)
		got = j->dest.base;
	for (uint32_t i = 0; i < j->len; i++)
		if (got[i] != both_pattern(j->seed, i))
			return false;
	return true;
}

static void job_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct job *j = arg;
	struct flow *f = j->flow;

	if (!job_good(j, r))
		f->bad++;
	free(j->data);
	free(j);
	__atomic_fetch_add(&f->ended, 1, __ATOMIC_RELEASE);
	next_job(f);
}

/* Of all kinds, and of lengths that go by all paths. */
static void next_job(struct flow *f)
{
	static const uint32_t lens[] = {0, 1, 700, 4000, 9001, 70000};
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_piece a[2];
	struct job *j;

	if (f->started == f->goal)
		return;
	j = calloc(1, sizeof(*j));
	assert_non_null(j);
	j->flow = f;
	j->seed = f->started++;
	j->kind = j->seed % 7 == 0 ? P_NULL : j->seed % 2 ? P_SUM : P_FILL;
	j->len = lens[(j->seed / 3) % 6];
	j->data = malloc(j->len + 4);
	put32(j->args, j->seed);
	put32(j->args + 4, j->len);
	put32(j->args + 8, j->seed % 4 != 0);
	a[0] = (struct rpcrdma_piece){j->args, j->kind == P_SUM ? 8 : 12, false};
	a[1] = (struct rpcrdma_piece){j->data, j->len, true};
	for (uint32_t i = 0; i < j->len && j->kind == P_SUM; i++)
		j->data[i] = both_pattern(j->seed, i);
	j->dest = (struct rpcrdma_dest){.base = j->data, .len = j->len};
	o.program = PROG;
	o.version = VERS;
	o.procedure = j->kind;
	o.args = a;
	o.n_args = j->kind == P_NULL ? 0 : j->kind == P_SUM ? 2 : 1;
	o.dests = &j->dest;
	o.n_dests = j->kind == P_FILL && j->seed % 4 != 0 && j->len;
	o.reply_bytes = j->kind == P_FILL ? 8 + (size_t)j->len : 0;
	o.done = job_done;
	o.arg = j;
	assert_int_equal(rpcrdma_call(f->conn, &o, NULL), 0);
}

static void start_flow(struct flow *f, struct rpcrdma_conn *c, unsigned goal)
{
	*f = (struct flow){.conn = c, .goal = goal};
	for (unsigned i = 0; i < 20; i++)
		next_job(f);
}

/* V2-3.1.3.3-01: only Calls of the server's, and none of the client's. */
static void reverse_only_for_thousands_of_calls(void **state)
{
	struct flow f;

	both_start();
	start_flow(&f, both.back, 2000);
	both_spin_until(&f.ended, 2000);
	assert_int_equal(f.bad, 0);
	assert_int_equal(both.client.executed, 2000);
	assert_int_equal(both.server.executed, 0);
	assert_int_equal(both.downs, 0);
}

/* V2-3.1.3.3-01, V2-3.1.3.4-01, -02: both ends Requester and Responder at once. */
static void both_directions_for_thousands_of_calls(void **state)
{
	struct flow there, back;

	both_start();
	start_flow(&there, both.conn, 2500);
	start_flow(&back, both.back, 2500);
	both_spin_until(&there.ended, 2500);
	both_spin_until(&back.ended, 2500);
	assert_int_equal(there.bad, 0);
	assert_int_equal(back.bad, 0);
	assert_int_equal(both.server.executed, 2500);
	assert_int_equal(both.client.executed, 2500);
	assert_int_equal(both.downs, 0);
}

/* The fewest credits there are do not lock the two directions up. */
static void both_directions_with_two_credits(void **state)
{
	struct flow there, back;

	both.options.credits = both.listen_options.credits = 2;
	both_start();
	start_flow(&there, both.conn, 300);
	start_flow(&back, both.back, 300);
	both_spin_until(&there.ended, 300);
	both_spin_until(&back.ended, 300);
	assert_int_equal(there.bad, 0);
	assert_int_equal(back.bad, 0);
}

/* A call whose answer needs a call the other way, eight deep. */
static void a_handler_may_call_back_before_it_answers(void **state)
{
	uint8_t depth[4];
	struct rpcrdma_piece a = {depth, 4, false};
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NEST, &x);

	both_start();
	put32(depth, 8);
	o.args = &a;
	o.n_args = 1;
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(both.server.executed, 5); /* and its NULL */
	assert_int_equal(both.client.executed, 4);
}

/* Several objects for one client: each call has an XID of its own. */
static void two_objects_share_a_connection(void **state)
{
	struct rpcrdma_conn *first;
	struct flow a, b;

	both_start();
	first = both.back;
	both.back = NULL;
	both_bind(both.conn);
	assert_int_equal(both.bind_status, 0);
	start_flow(&a, first, 500);
	start_flow(&b, both.back, 500);
	both_spin_until(&a.ended, 500);
	rpcrdma_conn_close(first); /* the other one goes on */
	both_spin_until(&b.ended, 500);
	assert_int_equal(a.bad + b.bad, 0);
	assert_int_equal(both.downs, 0);
}

/* -- threads --------------------------------------------------------------- */

/* The client's handlers may answer from any thread. */
static void callbacks_are_answered_from_other_threads(void **state)
{
	struct wait x[40];

	both_start();
	for (unsigned i = 0; i < 40; i++) {
		struct rpcrdma_call_options o = both_call(P_LATER, &x[i]);

		assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	}
	for (unsigned i = 0; i < 40; i++) {
		both_spin_until(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
	}
}

struct server_thread {
	struct rpcrdma_engine *engine;
	struct flow flow;
	bool closing;
};

static void begin_flow(void *arg)
{
	struct server_thread *s = arg;

	start_flow(&s->flow, both.back, 1500);
}

static void end_server(void *arg)
{
	struct server_thread *s = arg;

	rpcrdma_conn_close(both.back);
	rpcrdma_listener_close(both.listener, 0);
	s->closing = true;
}

static void *run_server(void *arg)
{
	struct server_thread *s = arg;

	while (!s->closing || !rpcrdma_engine_idle(s->engine))
		if (rpcrdma_engine_process(s->engine, 100) < 0)
			break;
	return NULL;
}

/* Each end in a thread of its own. */
static void ends_in_threads_call_each_other(void **state)
{
	struct rpcrdma_engine *mine = both.engine;
	struct server_thread s = {0};
	struct flow there;
	pthread_t t;

	assert_int_equal(rpcrdma_engine_new(NULL, &s.engine), 0);
	both.engine = s.engine;
	both_listen("127.0.0.1:0");
	both.engine = mine;
	assert_int_equal(pthread_create(&t, NULL, run_server, &s), 0);
	both_connect(&both.conn);
	both_bind(both.conn);
	assert_int_equal(both.bind_status, 0);
	assert_int_equal(rpcrdma_engine_post(s.engine, begin_flow, &s), 0);
	start_flow(&there, both.conn, 1500);
	both_spin_until(&there.ended, 1500);
	while (__atomic_load_n(&s.flow.ended, __ATOMIC_ACQUIRE) < 1500)
		assert_int_equal(rpcrdma_engine_process(both.engine, 10), 0);
	rpcrdma_conn_close(both.conn);
	assert_int_equal(rpcrdma_engine_post(s.engine, end_server, &s), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(there.bad, 0);
	assert_int_equal(s.flow.bad, 0);
	rpcrdma_engine_free(s.engine);
	both.conn = both.back = NULL;
	both.listener = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_server_calls_its_client),
	        TEST(rpc_errors_come_back_from_the_client),
	        TEST(a_client_without_callbacks_is_not_called),
	        TEST(level_simple_is_one_message_each_way),
	        TEST(level_continued_carries_no_chunks),
	        TEST(level_general_moves_chunks),
	        TEST(version_1_carries_plain_calls_in_reverse),
	        TEST(a_version_1_client_without_callbacks_refuses),
	        TEST(levels_without_callbacks_are_misuse),
	        TEST(reverse_only_for_thousands_of_calls),
	        TEST(both_directions_for_thousands_of_calls),
	        TEST(both_directions_with_two_credits),
	        TEST(a_handler_may_call_back_before_it_answers),
	        TEST(two_objects_share_a_connection),
	        TEST(callbacks_are_answered_from_other_threads),
	        TEST(ends_in_threads_call_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
