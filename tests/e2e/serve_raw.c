/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server against clients told octet by octet (raw_peer.h) that do what ours
 * never does: Write chunks beside RPCSEC_GSS, no credit for an answer.
 */
#include "test_raw_peer.h"

enum {
	PROGRAM = 0x20049002,
	FILL = 0, /* an item */
	PARK = 1, /* once; answered by unpark() */
	ITEM = 40,
	MSG = 0,
	CALL = 0,
	GSS = 6,
	PRIVACY = 3,
};

struct world {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct raw_peer peer;
	struct rpcrdma_request *parked;
	unsigned executed;
	uint8_t item[ITEM];
};

static struct world w;
static struct raw_msg msg;

/* -- the server ------------------------------------------------------------------ */

static void h_fill(struct rpcrdma_request *q, void *arg)
{
	struct rpcrdma_piece r = {w.item, ITEM, true};

	assert_int_equal(rpcrdma_request_reply(q, &r, 1, NULL, NULL), 0);
}

static void h_park(struct rpcrdma_request *q, void *arg)
{
	w.executed++;
	w.parked = q;
}

static void unpark(void)
{
	static uint8_t out[4] = {0x0a, 0x0b, 0x0c, 0x0d};
	struct rpcrdma_piece r = {out, 4, false};

	assert_int_equal(rpcrdma_request_reply(w.parked, &r, 1, NULL, NULL), 0);
	w.parked = NULL;
}

static const struct rpcrdma_procedure procs[] = {
        [FILL] = {.name = "FILL", .handler = h_fill, .max_write_items = 1},
        [PARK] = {.name = "PARK", .handler = h_park, .execute_once = true},
};
static const struct rpcrdma_program program = {PROGRAM, 1, procs, 2};

static int begin(void **state)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	memset(&w, 0, sizeof(w));
	for (unsigned i = 0; i < ITEM; i++)
		w.item[i] = (uint8_t)(i * 11 + 3);
	w.peer.fd = -1;
	o.version = 2;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	assert_int_equal(
	        rpcrdma_listen(w.engine, "127.0.0.1:0", &o, w.service, 4, &w.listener),
	        0);
	return 0;
}

static int end(void **state)
{
	raw_close(&w.peer);
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	return 0;
}

/* -- the client -------------------------------------------------------------------- */

/* Ready, and the server may say as much as @credit grants beyond its properties. */
static void open_connection(uint32_t credit)
{
	struct sockaddr_storage ss;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(rpcrdma_listener_addr(w.listener, &ss), 0);
	assert_int_equal(connect(fd, (void *)&ss, sizeof(struct sockaddr_in)), 0);
	raw_init(&w.peer, w.engine, fd);
	raw_send_mpa(&w.peer, "MPA ID Req Frame", NULL, 0);
	raw_receive_mpa(&w.peer, "MPA ID Rep Frame");
	raw_send_rtr(&w.peer);
	RAW_SEND(&w.peer, 0x77, 2, credit, 5, 0, 0);
	raw_receive_msg(&w.peer, &msg);
	assert_int_equal(msg.word[3], 5);
}

static void step(unsigned ms)
{
	uint64_t stop = raw_now() + (uint64_t)ms * RAW_MS;

	while (raw_now() < stop)
		assert_int_equal(rpcrdma_engine_process(w.engine, 1), 0);
}

static struct rpcrdma_stats stats(void)
{
	struct rpcrdma_stats s;

	rpcrdma_engine_get_stats(w.engine, &s, sizeof(s));
	return s;
}

static void await_none_open(void)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (stats().connections_open) {
		assert_true(raw_now() < stop);
		step(1);
	}
}

/* FILL with a Write chunk of 64 octets; RPCSEC_GSS [RFC 2203 §5.3.1]: version 1,
 * DATA, sequence number, service, handle; no verifier. */
static void say_gss_fill(uint32_t service)
{
	RAW_SEND(&w.peer, 0x55, 2, 0x00200001, MSG, 0, 0, /* lists: */ 0, 1, 1, 0xabcd,
	         64, 0, 0x10000, 0, 0, /* RPC: */ 0x55, CALL, 2, PROGRAM, 1, FILL, GSS,
	         24, 1, 0, 9, service, 4, 0x484e444c, 0, 0);
}

/* V2-11.2.2.3-01, [K18]: what is protected is not reduced, though there is a chunk:
 * that comes back unused, and nothing is written. */
static void a_protected_result_leaves_the_chunk_unused(void **state)
{
	open_connection(0x00200020);
	say_gss_fill(PRIVACY);
	raw_receive_msg(&w.peer, &msg);
	assert_int_equal(msg.word[0], 0x55);
	assert_int_equal(msg.word[3], MSG);
	assert_int_equal(msg.word[4], 1);
	assert_int_equal(msg.word[7], 1);
	assert_int_equal(msg.word[8], 1);
	assert_int_equal(msg.word[9], 0xabcd);
	assert_int_equal(msg.word[10], 0); /* octets written */
	assert_int_equal(msg.word[13], 0);
	assert_int_equal(msg.word[14], 0);
	assert_int_equal(msg.len, 4 * (15 + 6) + ITEM);
	for (unsigned i = 0; i < ITEM; i += 4)
		assert_int_equal(msg.word[21 + i / 4], raw_be(w.item + i, 4));
	assert_int_equal(stats().rdma_writes, 0);
}

static void say_park(uint32_t credit)
{
	RAW_SEND(&w.peer, 0x66, 2, credit, MSG, 0, 0, 0, 0, 0, /* RPC: */ 0x66, CALL, 2,
	         PROGRAM, 1, PARK, 0, 0, 0, 0);
}

static void await_wait(void)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (!stats().cache_waits) {
		assert_true(raw_now() < stop);
		step(1);
	}
}

/* V2-4.5.5-01: a Call that came again has its answer, which cannot be sent for
 * want of a credit, when its connection goes: the answer stays for the next. */
static void a_repetition_answered_and_not_sent_goes_with_its_connection(void **state)
{
	open_connection(0x00200020);
	say_park(0x00200001);
	while (!w.parked)
		step(1);
	raw_abort(&w.peer);
	open_connection(0x00200001); /* one, for the properties */
	say_park(0x00200000);
	await_wait();
	unpark();
	step(20);
	assert_false(raw_have_msg(&w.peer, &msg));
	raw_abort(&w.peer);
	await_none_open();
	open_connection(0x00200020);
	say_park(0x00200001);
	raw_receive_msg(&w.peer, &msg);
	RAW_IS(&msg, 0x66, 2, msg.word[2], MSG, 1, 0, 0, 0, 0, /* RPC: */ 0x66, 1, 0, 0,
	       0, 0, 0x0a0b0c0d);
	assert_int_equal(w.executed, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_protected_result_leaves_the_chunk_unused),
	        TEST(a_repetition_answered_and_not_sent_goes_with_its_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
