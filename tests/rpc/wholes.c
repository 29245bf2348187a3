/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs without a binding, with default options: long Calls and Replies move by RDMA
 * as a whole, in both versions, and what the options say of that holds.
 */
#include "rig.h"

#include "tirpc/clnt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { BIG = 16 << 20, MIDDLE = 100000 };

static struct rig rig = {.modest = true}; /* a server with the library's limits */
static char *octets;

static struct rpcrdma_stats stats(void)
{
	struct rpcrdma_stats s;

	assert_int_equal(rpcrdma_tirpc_get_stats(NULL, 0, &s, sizeof(s)), 0);
	return s;
}

static CLIENT *client_with(const char *features, unsigned version, size_t chunk_bytes,
                           size_t reply_bytes)
{
	const struct timeval wait = {.tv_sec = 100};
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	CLIENT *c;

	co.version = version;
	co.features = features;
	o.conn = &co;
	o.chunk_bytes = chunk_bytes;
	o.reply_bytes = reply_bytes;
	c = rig_client(&rig, &o);
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&wait));
	return c;
}

/* A client that uses the base protocol. */
static CLIENT *client(unsigned version, size_t chunk_bytes, size_t reply_bytes)
{
	return client_with("none", version, chunk_bytes, reply_bytes);
}

static void put(CLIENT *c, u_int len)
{
	blob_args a = {.id = 1, .data = {len, octets}, .tail = 2};
	u_int *n = blob_put_1(&a, c), sum = 3;

	for (u_int i = 0; i < len; i++)
		sum += (u_char)octets[i];
	if (!n)
		clnt_perror(c, "put");
	assert_non_null(n);
	assert_int_equal(*n, sum);
}

static void get(CLIENT *c, u_int len)
{
	blob_got *g = blob_get_1(&len, c);

	if (!g)
		clnt_perror(c, "get");
	assert_non_null(g);
	assert_int_equal(g->status, 0);
	assert_int_equal(g->blob_got_u.ok.data.data_len, len);
	assert_true(rig_filled(g->blob_got_u.ok.data.data_val, len, len));
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_got, g));
}

static void long_calls_are_pulled(void **state)
{
	for (unsigned version = 1; version <= 2; version++) {
		CLIENT *c = client(version, 0, 0);
		struct rpcrdma_stats was = stats();

		put(c, BIG);
		put(c, BIG - 1);
		assert_in_range(stats().bytes_special_call - was.bytes_special_call,
		                2 * BIG - 1, 2 * BIG + 400);
		assert_int_equal(stats().bytes_continued, was.bytes_continued);
		clnt_destroy(c);
	}
}

/* In version 2 the first one does not fit and is continued; then its length is known.
 */
static void long_replies_are_written(void **state)
{
	CLIENT *c = client(2, 0, 0);
	struct rpcrdma_stats was = stats();

	get(c, MIDDLE); /* within reply_bytes */
	assert_in_range(stats().bytes_reply_chunk - was.bytes_reply_chunk, MIDDLE,
	                MIDDLE + 200);
	get(c, BIG);
	assert_in_range(stats().bytes_continued - was.bytes_continued, BIG, BIG + 200);
	was = stats();
	for (int i = 0; i < 3; i++)
		get(c, BIG - i);
	assert_in_range(stats().bytes_reply_chunk - was.bytes_reply_chunk, 3 * BIG - 3,
	                3 * BIG + 600);
	assert_int_equal(stats().bytes_continued, was.bytes_continued);
	clnt_destroy(c);
}

static void long_replies_are_read(void **state)
{
	CLIENT *c = client_with("rprc,rprc-pull=33554432", 2, 0, 0);
	struct rpcrdma_stats was = stats();

	get(c, BIG);
	assert_in_range(stats().bytes_reply_pulled - was.bytes_reply_pulled, BIG,
	                BIG + 200);
	assert_int_equal(stats().bytes_reply_chunk, was.bytes_reply_chunk);
	get(c, BIG); /* the length is known: it is written */
	assert_in_range(stats().bytes_reply_chunk - was.bytes_reply_chunk, BIG,
	                BIG + 200);
	assert_int_equal(stats().bytes_continued, was.bytes_continued);
	clnt_destroy(c);
}

/* In version 1 there is no other way: room is made by the option. */
static void replies_of_version_1_need_room(void **state)
{
	struct rpc_err e;
	u_int len = BIG;
	CLIENT *c = client(1, 0, 0);

	get(c, MIDDLE);
	get(c, (1 << 20) - 8192);
	assert_null(blob_get_1(&len, c));
	clnt_geterr(c, &e);
	assert_int_equal(e.re_status, RPC_CANTRECV);
	assert_int_equal(e.re_errno, EMSGSIZE);
	get(c, MIDDLE);
	clnt_destroy(c);
	c = client(1, 0, BIG + 4096);
	get(c, BIG);
	get(c, 5);
	clnt_destroy(c);
}

static void the_threshold_is_an_option(void **state)
{
	CLIENT *c = client(2, SIZE_MAX, 1);
	struct rpcrdma_stats was = stats();

	put(c, MIDDLE);
	get(c, MIDDLE);
	get(c, MIDDLE);
	assert_int_equal(stats().bytes_special_call, was.bytes_special_call);
	assert_int_equal(stats().bytes_reply_chunk, was.bytes_reply_chunk);
	clnt_destroy(c);
	c = client(2, 10000, 1);
	was = stats();
	put(c, 9000);
	assert_int_equal(stats().bytes_special_call, was.bytes_special_call);
	put(c, 11000);
	assert_true(stats().bytes_special_call - was.bytes_special_call > 11000);
	get(c, 11000);
	assert_int_equal(stats().bytes_reply_chunk, was.bytes_reply_chunk);
	get(c, 11000);
	assert_true(stats().bytes_reply_chunk - was.bytes_reply_chunk > 11000);
	clnt_destroy(c);
}

/* More than is held for one peer: refused, not pulled; the connection goes on. */
static void what_is_too_long_is_refused(void **state)
{
	blob_args a = {.data = {40 << 20, calloc(40, 1 << 20)}};
	CLIENT *c = client(2, 0, 0);

	assert_null(blob_put_1(&a, c));
	put(c, BIG);
	clnt_destroy(c);
	free(a.data.data_val);
}

static void room_follows_the_replies(void **state)
{
	struct rr_rpc_client c = {.o = {.chunk_bytes = 65536, .reply_bytes = 5000}};
	const rpcproc_t p = 3, same_place = p + RR_RPC_SEEN;

	c.o.conn.max_message_bytes = 4 << 20;
	pthread_mutex_init(&c.lock, NULL);
	assert_int_equal(rr_rpc_room(&c, p).v1, 5000);
	assert_int_equal(rr_rpc_room(&c, p).v2, 5000);
	rr_rpc_room_note(&c, p, 200);
	assert_int_equal(rr_rpc_room(&c, p).v1, 65536);
	assert_int_equal(rr_rpc_room(&c, p).v2, 0);
	rr_rpc_room_note(&c, p, 1 << 20);
	assert_int_equal(rr_rpc_room(&c, p).v2, (9 << 17)); /* an eighth more */
	for (int i = 0; i < 62; i++)
		rr_rpc_room_note(&c, p, 200);
	assert_int_equal(rr_rpc_room(&c, p).v2, (9 << 17));
	for (int i = 0; i < 64; i++)
		rr_rpc_room_note(&c, p, 70000);
	assert_int_equal(rr_rpc_room(&c, p).v2, 2 << 16);
	assert_int_equal(rr_rpc_room(&c, p).v1, (9 << 17));
	/* Replies that fill all their room do not make it grow without end. */
	for (int i = 0; i < 100; i++)
		rr_rpc_room_note(&c, p, rr_rpc_room(&c, p).v1);
	assert_int_equal(rr_rpc_room(&c, p).v1, 4 << 20);
	assert_int_equal(rr_rpc_room(&c, p).v2, 4 << 20);
	/* Another procedure knows nothing of it. */
	assert_int_equal(rr_rpc_room(&c, same_place).v2, 5000);
	rr_rpc_room_note(&c, same_place, 10);
	assert_int_equal(rr_rpc_room(&c, p).v2, 5000);
	pthread_mutex_destroy(&c.lock);
}

static int stop(void **state)
{
	free(octets);
	return rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(long_calls_are_pulled),
	        cmocka_unit_test(long_replies_are_written),
	        cmocka_unit_test(long_replies_are_read),
	        cmocka_unit_test(replies_of_version_1_need_room),
	        cmocka_unit_test(the_threshold_is_an_option),
	        cmocka_unit_test(what_is_too_long_is_refused),
	        cmocka_unit_test(room_follows_the_replies),
	};

	octets = malloc(BIG);
	rig_fill(octets, BIG, 5);
	rig_start(&rig);
	return cmocka_run_group_tests(tests, NULL, stop);
}
