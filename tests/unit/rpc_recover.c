/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a client makes of RDMA2_ERROR, over software iWARP, against a server that
 * refuses what the script of the test says and looks at how it is asked again.
 *
 * The server answers a Call of one word n (and an item, which it checks) by n and
 * an item of n octets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <cmocka.h>

#include "conn/core.h"
#include "link/link.h"
#include "oncrpc/rpc_header.h"
#include "prov/iwarp/iwarp.h"

enum { ARG = 70000, MAX_SEEN = 8, RESULT_MAX = 8 << 20 };

/* What the server saw of a Call. */
struct seen {
	uint32_t xid;
	bool special, continued, reply_chunk, executed;
	unsigned reads, writes, segments;
	uint64_t write_bytes, reply_chunk_bytes;
};

struct world {
	struct rpcrdma_engine *engine;
	struct rr_prov_listener *listener;
	struct rr_link_config config;
	struct rr_link *link; /* the server's */
	struct rpcrdma_conn *conn;
	struct rpcrdma_conn_options options;
	/* the script: the n-th Call is refused by error[n]; those with codes 9 and
	 * 10 after they were executed */
	struct rr_error error[MAX_SEEN];
	struct seen seen[MAX_SEEN];
	unsigned n_seen;
	bool dead; /* the n-th Call ends the connection */
	unsigned dies_at;
	uint8_t head[32];
};

static struct world w;
static uint8_t result[RESULT_MAX];

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 2654435761u >> 9);
}

/* -- the server ------------------------------------------------------------------ */

static void on_ready(struct rr_link *l)
{
}

static bool executes(const struct rr_error *e)
{
	return !e->code || e->code == RDMA2_ERR_WRITE_RESOURCE ||
	       e->code == RDMA2_ERR_REPLY_RESOURCE;
}

static void on_admit(struct rr_link *l, struct rr_request *r)
{
	const struct rr_lists *lists = r->priv->lists;

	assert_true(w.n_seen < MAX_SEEN);
	w.seen[w.n_seen] = (struct seen){
	        .xid = r->xid,
	        .special = r->special,
	        .continued = r->continued,
	        .reads = r->n_reads,
	        .writes = r->n_writes,
	        .write_bytes = r->n_writes ? r->write_bytes[0] : 0,
	        .segments = lists ? lists->n_segs : 0,
	        .reply_chunk = r->has_reply_chunk,
	        .reply_chunk_bytes = r->reply_chunk_bytes,
	};
	if (executes(&w.error[w.n_seen]))
		rr_conn_admit(l->conn, r, NULL, l->engine->now);
	else
		rr_conn_refuse(l->conn, r, &w.error[w.n_seen++], l->engine->now);
}

/* The arguments: n, then the item's length and octets if there is one. */
static uint32_t take_arguments(const struct rr_request *r)
{
	static uint8_t flat[ARG + 256];
	struct rr_rpc_call c;
	size_t len = 0;
	int n;

	for (unsigned i = 0; i < r->n_pieces; i++) {
		assert_true(r->pieces[i].len <= sizeof(flat) - len);
		memcpy(flat + len, r->pieces[i].base, r->pieces[i].len);
		len += r->pieces[i].len;
	}
	n = rr_rpc_get_call(flat, len, &c);
	assert_true(n > 0);
	assert_int_equal(c.xid, r->xid);
	if (len == (size_t)n)
		return 0; /* NULL */
	if (rr_load_u32(flat + n + 4)) {
		assert_int_equal(rr_load_u32(flat + n + 4), ARG);
		assert_int_equal(len, (size_t)n + 8 + ARG);
		for (size_t i = 0; i < ARG; i++)
			assert_int_equal(flat[n + 8 + i], pattern(i));
	}
	return rr_load_u32(flat + n);
}

static void on_request(struct rr_link *l, struct rr_request *r)
{
	const struct rr_error *e = &w.error[w.n_seen];
	struct rr_rpc_reply reply = {.xid = r->xid};
	struct rr_piece p[2] = {{w.head, 0, false}, {result, 0, true}};
	uint32_t n = take_arguments(r);
	int len;

	w.seen[w.n_seen++].executed = true;
	if (w.dead && w.n_seen == w.dies_at) {
		w.dead = false;
		rr_conn_drop(l->conn, r, l->engine->now);
		rr_link_abort(l);
		return;
	}
	if (e->code) {
		rr_conn_refuse(l->conn, r, e, l->engine->now);
		return;
	}
	len = rr_rpc_put_reply(w.head, sizeof(w.head), &reply);
	assert_true(len > 0 && (size_t)len + 4 <= sizeof(w.head));
	rr_store_u32(w.head + len, n);
	p[0].len = (size_t)len + 4;
	p[1].len = n;
	rr_conn_reply(l->conn, r, p, 2, l->engine->now);
}

static void on_request_done(struct rr_link *l, struct rr_request *r, int status)
{
}

static void on_drop(struct rr_link *l)
{
}

static void on_call_done(struct rr_link *l, struct rr_call *c)
{
	fail();
}

static void on_closed(struct rr_link *l, int error, const char *why)
{
	w.link = NULL;
}

static const struct rr_link_owner_ops server_ops = {
        .ready = on_ready,
        .admit = on_admit,
        .request = on_request,
        .request_done = on_request_done,
        .drop_requests = on_drop,
        .call_done = on_call_done,
        .closed = on_closed,
};

/* -- the world --------------------------------------------------------------------- */

static int set_up_version(unsigned version)
{
	struct sockaddr_in any = {.sin_family = AF_INET,
	                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_storage at;
	struct rr_prov_config pc = {.handshake_ns = RR_SEC(10)};
	char port[16];

	memset(&w, 0, sizeof(w));
	for (size_t i = 0; i < RESULT_MAX; i++)
		result[i] = pattern(i);
	w.options = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	w.options.reconnect_min_ns = RR_MS(5);
	w.options.reconnect_max_ns = RR_MS(20);
	w.options.segment_bytes = version == 1 ? 1 << 20 : 16384;
	w.options.max_segments = 64;
	w.options.version = version;
	w.options.inline_bytes = version == 1 ? 1024 : 0;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rr_link_config_from(&w.options, "", &w.config), 0);
	assert_int_equal(rr_iwarp_ops.listen(&pc, (struct sockaddr *)&any, sizeof(any),
	                                     &w.listener, &at),
	                 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&at)->sin_port));
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", port, &w.options, NULL,
	                                 NULL, &w.conn),
	                 0);
	return 0;
}

static int set_up(void **state)
{
	return set_up_version(0);
}

/* Where a Reply chunk of 4,000 octets is offered for what is not known. */
static int set_up_v1(void **state)
{
	return set_up_version(1);
}

static void turn(void)
{
	if (!w.link)
		(void)!rr_link_accept(w.engine, &w.config, &rr_iwarp_ops, w.listener,
		                      &server_ops, NULL, &w.link);
	assert_int_equal(rpcrdma_engine_process(w.engine, 1), 0);
}

static int tear_down(void **state)
{
	rpcrdma_conn_close(w.conn);
	if (w.link)
		rr_link_close(w.link, 0);
	for (unsigned i = 0; i < 5000 && !rpcrdma_engine_idle(w.engine); i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 1), 0);
	assert_true(rpcrdma_engine_idle(w.engine));
	rr_iwarp_ops.listener_close(w.listener);
	rpcrdma_engine_free(w.engine);
	return 0;
}

/* A call and what came of it. */
struct ask {
	struct rpcrdma_call_options o;
	struct rpcrdma_dest dest;
	uint8_t words[8], *arg, *room;
	struct rpcrdma_piece piece[2];
	unsigned done;
	struct rpcrdma_reply reply;
	bool right; /* @n octets of the pattern came, wherever */
};

static bool is_pattern(const void *p, size_t len)
{
	return memcmp(p, result, len) == 0;
}

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct ask *a = arg;
	uint32_t n = rr_load_u32(a->words);

	a->done++;
	a->reply = *r;
	if (r->status)
		return;
	assert_true(r->len >= 4);
	assert_int_equal(rr_load_u32(r->results), n);
	if (a->dest.ret_used)
		a->right = a->dest.ret_len == n && is_pattern(a->dest.ret_base, n);
	else
		a->right = r->len == 4 + n + (-n & 3) &&
		           is_pattern((const uint8_t *)r->results + 4, n);
}

/* Asks for @n octets with room for @room of them, 0 = no destination. */
static struct ask *ask(uint32_t n, size_t room, bool item)
{
	struct ask *a = calloc(1, sizeof(*a));

	rr_store_u32(a->words, n);
	rr_store_u32(a->words + 4, item ? ARG : 0);
	a->piece[0] = (struct rpcrdma_piece){a->words, 8, false};
	a->arg = malloc(ARG);
	for (size_t i = 0; i < ARG; i++)
		a->arg[i] = pattern(i);
	a->piece[1] = (struct rpcrdma_piece){a->arg, ARG, true};
	a->room = malloc(room + 1);
	memset(a->room, 0xee, room + 1);
	a->dest = (struct rpcrdma_dest){.base = a->room, .len = room};
	a->o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	a->o.program = 7;
	a->o.version = 1;
	a->o.procedure = 1;
	a->o.args = a->piece;
	a->o.n_args = item ? 2 : 1;
	a->o.dests = &a->dest;
	a->o.n_dests = room != 0;
	a->o.timeout_ns = RR_SEC(20);
	a->o.done = on_done;
	a->o.arg = a;
	return a;
}

static void run(struct ask *a)
{
	assert_int_equal(rpcrdma_call(w.conn, &a->o, NULL), 0);
	for (unsigned i = 0; i < 30000 && !a->done; i++)
		turn();
	assert_int_equal(a->done, 1);
}

static void end(struct ask *a)
{
	free(a->arg);
	free(a->room);
	free(a);
}

static void expect_counts(uint64_t errors, uint64_t recoveries)
{
	struct rpcrdma_stats st;

	rpcrdma_conn_get_stats(w.conn, &st, sizeof(st));
	assert_int_equal(st.errors_received, errors);
	assert_int_equal(st.recoveries, recoveries);
	assert_int_equal(st.retransmits, 0);
	assert_int_equal(st.registrations,
	                 st.local_invalidations + st.remote_invalidations);
}

/* Asked twice, under two XIDs, with @errors in between. */
static void expect_second_attempt(const struct ask *a)
{
	assert_int_equal(a->reply.status, 0);
	assert_true(a->right);
	assert_int_equal(w.n_seen, 2);
	assert_int_not_equal(w.seen[0].xid, w.seen[1].xid); /* [E6] */
	assert_int_equal(a->reply.xid, w.seen[1].xid);
	assert_true(w.seen[1].executed);
	expect_counts(1, 1);
}

/* -- the five errors that can be recovered from ---------------------------- */

/* V2-7.3.1-04 */
static void read_chunks_are_left_out_and_the_call_comes_again(void **state)
{
	struct ask *a = ask(100, 0, true);

	w.error[0] = (struct rr_error){RDMA2_ERR_READ_CHUNKS, {0}};
	run(a);
	expect_second_attempt(a);
	assert_int_equal(w.seen[0].reads, 1);
	assert_false(w.seen[0].executed);
	assert_int_equal(w.seen[1].reads, 0);
	assert_true(w.seen[1].continued);
	end(a);
}

/* V2-7.3.2-02: without Write chunks, with a Reply chunk of appropriate size. */
static void write_chunks_become_a_reply_chunk(void **state)
{
	struct ask *a = ask(30001, 40000, false);

	w.error[0] = (struct rr_error){RDMA2_ERR_WRITE_CHUNKS, {0}};
	run(a);
	expect_second_attempt(a);
	assert_int_equal(w.seen[0].writes, 1);
	assert_false(w.seen[0].executed);
	assert_int_equal(w.seen[1].writes, 0);
	assert_true(w.seen[1].reply_chunk);
	assert_true(w.seen[1].reply_chunk_bytes >= 40000);
	assert_false(a->dest.ret_used);
	end(a);
}

/* V2-7.3.3-02, [P12]: so many segments in the whole header. */
static void segments_are_reduced_to_what_the_server_takes(void **state)
{
	struct ask *a = ask(30001, 40000, true);

	w.error[0] = (struct rr_error){RDMA2_ERR_SEGMENTS, {4}};
	run(a);
	expect_second_attempt(a);
	assert_int_equal(w.seen[0].segments, 3 + 5);
	assert_int_equal(w.seen[1].segments, 3);
	assert_int_equal(w.seen[1].writes, 1);
	assert_int_equal(w.seen[1].reads, 0);
	assert_true(a->dest.ret_used);
	end(a);
}

/* V2-7.3.4-04: the data come to memory of the library's. */
static void write_resource_brings_a_larger_chunk(void **state)
{
	struct ask *a = ask(70001, 1000, false);

	a->o.idempotent = true;
	w.error[0] = (struct rr_error){RDMA2_ERR_WRITE_RESOURCE, {1, 70001}};
	run(a);
	expect_second_attempt(a);
	assert_true(w.seen[0].executed);
	assert_int_equal(w.seen[0].write_bytes, 1000);
	assert_int_equal(w.seen[1].write_bytes, 70001);
	assert_ptr_not_equal(a->dest.ret_base, a->room);
	for (unsigned i = 0; i <= 1000; i++)
		assert_int_equal(a->room[i], 0xee);
	end(a);
}

/* V2-7.3.5-03 */
static void reply_resource_brings_a_reply_chunk(void **state)
{
	struct ask *a = ask(5000, 0, false);

	a->o.idempotent = true;
	w.error[0] = (struct rr_error){RDMA2_ERR_REPLY_RESOURCE, {5028}};
	run(a);
	expect_second_attempt(a);
	assert_false(w.seen[0].reply_chunk);
	assert_int_equal(w.seen[1].reply_chunk_bytes, 5028);
	end(a);
}

/* V2-11.2.2.2-02: whatever the flavor, for the longest verifier there is. */
static void reply_chunks_have_room_for_the_longest_header(void **state)
{
	struct ask *a = ask(100, 0, false);

	a->o.reply_bytes = a->o.reply_usual = 300000;
	run(a);
	assert_int_equal(a->reply.status, 0);
	/* XID, type, MSG_ACCEPTED, flavor, length, 400 octets, SUCCESS */
	assert_true(w.seen[0].reply_chunk_bytes >= 300000 + 20 + 400 + 4);
	end(a);
}

/* -- what is final --------------------------------------------------------- */

static void expect_final(const struct ask *a, const struct rr_error *e)
{
	assert_int_equal(a->reply.status, RPCRDMA_TRANSPORT_ERROR);
	assert_int_equal(a->reply.transport_error, e->code);
	assert_int_equal(a->reply.a, e->arg[0]);
	assert_int_equal(a->reply.b, e->arg[1]);
}

/* V2-7.3.4-05, V2-7.3.5-04: what may be executed only once. */
static void executed_calls_are_not_repeated_unless_idempotent(void **state)
{
	static const struct rr_error e[] = {{RDMA2_ERR_WRITE_RESOURCE, {1, 70001}},
	                                    {RDMA2_ERR_REPLY_RESOURCE, {5028}}};

	for (unsigned i = 0; i < 2; i++) {
		struct ask *a = ask(5000, 1000, false);

		w.error[i] = e[i];
		run(a);
		expect_final(a, &e[i]);
		assert_int_equal(w.n_seen, i + 1);
		end(a);
	}
	expect_counts(2, 0);
}

/* V2-7.1.1-06, V2-7.1.2-04, V2-7.1.3-03, V2-7.2.1-03, V2-7.4.1-03, -04 */
static void permanent_errors_reach_the_caller_at_once(void **state)
{
	static const uint32_t codes[] = {RDMA2_ERR_VERS,        RDMA2_ERR_BAD_XDR,
	                                 RDMA2_ERR_BAD_PROPVAL, RDMA2_ERR_INVAL_HTYPE,
	                                 RDMA2_ERR_INVAL_CONT,  RDMA2_ERR_SYSTEM};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(codes); i++) {
		const struct rr_error e = {
		        codes[i],
		        {codes[i] == RDMA2_ERR_VERS, codes[i] == RDMA2_ERR_VERS}};
		struct ask *a = ask(100, 1000, true);

		a->o.idempotent = true;
		w.error[i] = e;
		run(a);
		expect_final(a, &e);
		assert_int_equal(w.n_seen, i + 1);
		assert_string_not_equal(rpcrdma_strerror_transport(codes[i]),
		                        rpcrdma_strerror_transport(99));
		end(a);
	}
	expect_counts(RR_ARRAY_SIZE(codes), 0);
}

/* [E6]: once. */
static void a_second_error_is_final(void **state)
{
	struct ask *a = ask(70001, 1000, true);

	a->o.idempotent = true;
	w.error[0] = (struct rr_error){RDMA2_ERR_READ_CHUNKS, {0}};
	w.error[1] = (struct rr_error){RDMA2_ERR_WRITE_RESOURCE, {1, 70001}};
	run(a);
	expect_final(a, &w.error[1]);
	assert_int_equal(w.n_seen, 2);
	expect_counts(2, 1);
	end(a);
}

/* A second attempt that is lost with its connection is sent a third time, the same. */
static void a_second_attempt_survives_a_reconnect(void **state)
{
	struct ask *a = ask(70001, 1000, false);
	struct rpcrdma_stats st;

	a->o.idempotent = true;
	w.error[0] = (struct rr_error){RDMA2_ERR_WRITE_RESOURCE, {1, 70001}};
	w.dead = true;
	w.dies_at = 2;
	run(a);
	assert_int_equal(a->reply.status, 0);
	assert_true(a->right);
	assert_int_equal(w.n_seen, 3);
	assert_int_equal(w.seen[2].write_bytes, 70001);
	assert_int_equal(w.seen[1].xid, w.seen[2].xid);
	rpcrdma_conn_get_stats(w.conn, &st, sizeof(st));
	assert_int_equal(st.recoveries, 1);
	assert_int_equal(st.retransmits, 1);
	end(a);
}

/* -- version 1 -------------------------------------------------------------------- */

/* ERR_CHUNK names no length: room grows until it suffices. [RFC 8166 §4.5.3] */
static void err_chunk_brings_larger_reply_chunks(void **state)
{
	static const struct {
		uint32_t n, attempts;
	} t[] = {{5000, 2}, {65000, 2}, {200000, 3}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct ask *a = ask(t[i].n, 0, false);

		w.n_seen = 0;
		a->o.idempotent = true;
		run(a);
		assert_int_equal(a->reply.status, 0);
		assert_true(a->right);
		assert_int_equal(w.n_seen, t[i].attempts);
		for (unsigned k = 1; k < w.n_seen; k++) {
			assert_true(w.seen[k].reply_chunk_bytes >
			            w.seen[k - 1].reply_chunk_bytes);
			assert_int_not_equal(w.seen[k].xid, w.seen[k - 1].xid);
		}
		end(a);
	}
	expect_counts(4, 4);
}

/* A server that says so whatever is offered gets a few attempts, no more. */
static void err_chunk_is_final_when_there_is_no_more_room(void **state)
{
	struct ask *a = ask(5000, 0, false);

	a->o.idempotent = true;
	for (unsigned i = 0; i < MAX_SEEN; i++)
		w.error[i] = (struct rr_error){RDMA2_ERR_BAD_XDR, {0}};
	run(a);
	assert_int_equal(a->reply.status, RPCRDMA_TRANSPORT_ERROR);
	assert_int_equal(a->reply.transport_error, RPCRDMA_ERR_CHUNK);
	assert_in_range(w.n_seen, 3, 5);
	end(a);
}

/* It may have been executed. */
static void err_chunk_is_told_for_what_it_is(void **state)
{
	struct ask *a = ask(5000, 0, false);

	run(a);
	assert_int_equal(a->reply.status, RPCRDMA_TRANSPORT_ERROR);
	assert_int_equal(a->reply.transport_error, RPCRDMA_ERR_CHUNK);
	assert_non_null(strstr(rpcrdma_strerror_transport(a->reply.transport_error),
	                       "longer than the memory"));
	assert_int_equal(w.n_seen, 1);
	expect_counts(1, 0);
	end(a);
}

/* NULL has no results: nothing is registered for them. */
static void null_offers_no_reply_chunk(void **state)
{
	for (unsigned proc = 0; proc < 2; proc++) {
		struct ask *a = ask(0, 0, false);
		struct rpcrdma_stats st;

		a->o.procedure = proc;
		a->o.n_args = proc ? 1 : 0;
		run(a);
		assert_int_equal(a->reply.status, 0);
		assert_int_equal(w.seen[proc].reply_chunk, proc);
		rpcrdma_conn_get_stats(w.conn, &st, sizeof(st));
		assert_int_equal(st.registrations, proc);
		end(a);
	}
}

#define TEST(f)    cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define TEST_V1(f) cmocka_unit_test_setup_teardown(f, set_up_v1, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(read_chunks_are_left_out_and_the_call_comes_again),
	        TEST(write_chunks_become_a_reply_chunk),
	        TEST(segments_are_reduced_to_what_the_server_takes),
	        TEST(write_resource_brings_a_larger_chunk),
	        TEST(reply_resource_brings_a_reply_chunk),
	        TEST(reply_chunks_have_room_for_the_longest_header),
	        TEST(executed_calls_are_not_repeated_unless_idempotent),
	        TEST(permanent_errors_reach_the_caller_at_once),
	        TEST(a_second_error_is_final),
	        TEST(a_second_attempt_survives_a_reconnect),
	        TEST_V1(err_chunk_brings_larger_reply_chunks),
	        TEST_V1(err_chunk_is_final_when_there_is_no_more_room),
	        TEST_V1(err_chunk_is_told_for_what_it_is),
	        TEST_V1(null_offers_no_reply_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
