/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server against clients of either version, told octet by octet: it examines the
 * first message, answers in that version, and stays with it.  The clients speak
 * through plain sockets (raw_peer.h); every expected word is from the specification.
 * V2-4.2.3.1-01, V2-4.2.3.2-01, V2-4.2.3.2-02, V2-4.2.3.3-01, V2-4.2.3.3-02.
 */
#include "test_raw_peer.h"

enum { PROGRAM = 0x20049001, V1 = 1, V2 = 2 };

struct world {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct raw_peer peer; /* the client's end */
	unsigned executed;
};

static struct world w;
static struct raw_msg msg;

/* -- the server ----------------------------------------------------------------- */

/* Answers with what it got, doubled. */
static void h_double(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_piece *p;
	uint8_t *out = rpcrdma_request_alloc(q, 4);
	struct rpcrdma_piece r = {out, 4, false};

	w.executed++;
	assert_int_equal(rpcrdma_request_args(q, &p), 1);
	assert_int_equal(p[0].len, 4);
	raw_put(out, 2 * raw_be(p[0].base, 4), 4);
	assert_int_equal(rpcrdma_request_reply(q, &r, 1, NULL, NULL), 0);
}

static const struct rpcrdma_procedure procs[] = {
        {.name = "DOUBLE", .handler = h_double}};
static const struct rpcrdma_program program = {PROGRAM, 1, procs, 1};

static int begin(void **state)
{
	memset(&w, 0, sizeof(w));
	w.peer.fd = -1;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	return 0;
}

static int end(void **state)
{
	raw_close(&w.peer);
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	return 0;
}

static void serve(unsigned version)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	o.version = version;
	assert_int_equal(
	        rpcrdma_listen(w.engine, "127.0.0.1:0", &o, w.service, 4, &w.listener),
	        0);
}

/* -- the client ------------------------------------------------------------------- */

/* What the server says of its sizes: 4096 octets each, remote invalidation. */
static const uint8_t sizes[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

static void connect_with(const void *private, size_t len)
{
	struct sockaddr_storage ss;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(rpcrdma_listener_addr(w.listener, &ss), 0);
	assert_int_equal(connect(fd, (void *)&ss, sizeof(struct sockaddr_in)), 0);
	raw_close(&w.peer);
	raw_init(&w.peer, w.engine, fd);
	raw_send_mpa(&w.peer, "MPA ID Req Frame", private, len);
	raw_receive_mpa(&w.peer, "MPA ID Rep Frame");
	raw_send_rtr(&w.peer);
}

static void say_call(const uint32_t *head, size_t n, uint32_t value)
{
	const uint32_t rpc[] = {head[0], 0, 2, PROGRAM, 1, 0, 0, 0, 0, 0, value};
	uint32_t m[16 + 11];

	assert_true(n <= 16);
	memcpy(m, head, 4 * n);
	memcpy(m + n, rpc, sizeof(rpc));
	raw_send_words(&w.peer, m, n + 11);
}

/* A version 1 Call and its Reply: @granted by the server. */
static void call_in_one(uint32_t xid, uint32_t value)
{
	const uint32_t head[] = {xid, 1, 20, 0, 0, 0, 0};

	say_call(head, 7, value);
	raw_receive_msg(&w.peer, &msg);
	assert_in_range(msg.word[2], 1, 0xffff); /* a plain number, never 0 */
	RAW_IS(&msg, xid, 1, msg.word[2], 0, 0, 0, 0, /* RPC: */ xid, 1, 0, 0, 0, 0,
	       2 * value);
}

static void call_in_two(uint32_t xid, uint32_t value)
{
	const uint32_t head[] = {xid, 2, 0x00200001, 0, 0, 0, 0, 0, 0};

	say_call(head, 9, value);
	raw_receive_msg(&w.peer, &msg);
	RAW_IS(&msg, xid, 2, msg.word[2], 0, 1, 0, 0, 0, 0, /* RPC: */ xid, 1, 0, 0, 0,
	       0, 2 * value);
}

/* RDMA2_CONNPROP from both. */
static void open_in_two(uint32_t xid)
{
	RAW_SEND(&w.peer, xid, 2, 0x00200020, 5, 0, 0);
	raw_receive_msg(&w.peer, &msg);
	assert_true(msg.len >= 24);
	assert_int_not_equal(msg.word[0], 0);
	assert_int_equal(msg.word[1], 2);
	assert_int_equal(msg.word[2], 0x00200020);
	assert_int_equal(msg.word[3], 5);
	assert_int_equal(msg.word[4], 0);
}

/* -- both versions ----------------------------------------------------------------- */

/* V2-4.2.3.3-01: Linux: private data, 4096 octets each way. */
static void version_one_client_is_served_in_one(void **state)
{
	serve(0);
	connect_with(sizes, 8);
	assert_int_equal(w.peer.private_len, 8);
	assert_memory_equal(w.peer.private, sizes, 8);
	call_in_one(0x11, 21);
	call_in_one(0x12, 4);
	assert_int_equal(w.executed, 2);
}

static void version_one_client_without_private_data(void **state)
{
	serve(0);
	connect_with(NULL, 0);
	call_in_one(0x11, 21);
	raw_expect_quiet(&w.peer, 30); /* no property, no grant */
}

/* V2-4.2.3.1-01 */
static void version_two_client_is_served_in_two(void **state)
{
	serve(0);
	connect_with(NULL, 0);
	open_in_two(0x77);
	call_in_two(0x11, 21);
	assert_int_equal(w.executed, 1);
}

/* The private data of a client that may speak both change nothing. [V14] */
static void private_data_beside_version_two(void **state)
{
	serve(0);
	connect_with(sizes, 8);
	open_in_two(0x77);
	call_in_two(0x11, 21);
}

/* [V2]: it learns version and credits from the client's first message. */
static void server_waits_for_the_first_message(void **state)
{
	serve(0);
	connect_with(NULL, 0);
	raw_expect_quiet(&w.peer, 50);
	open_in_two(0x77);
}

/* V2-4.2.3.3-02, [V8]: no way back from version 1 ... */
static void no_version_two_after_one(void **state)
{
	serve(0);
	connect_with(NULL, 0);
	call_in_one(0x11, 1);
	RAW_SEND(&w.peer, 0x77, 2, 0x00200020, 5, 0, 0);
	raw_receive_msg(&w.peer, &msg);
	assert_int_equal(msg.word[0], 0x77);
	assert_int_equal(msg.word[3], 4);
	/* version 1 is all there is: [low, high] ends the message */
	assert_int_equal(msg.word[msg.len / 4 - 2], 1);
	assert_int_equal(msg.word[msg.len / 4 - 1], 1);
	call_in_one(0x12, 2);
}

/* ... nor from version 2; version 1 is told in its own layout. [V4] */
static void no_version_one_after_two(void **state)
{
	const uint32_t head[] = {0x11, 1, 20, 0, 0, 0, 0};

	serve(0);
	connect_with(NULL, 0);
	open_in_two(0x77);
	say_call(head, 7, 1);
	raw_receive_msg(&w.peer, &msg);
	assert_int_equal(msg.word[2] >> 16, 0);
	RAW_IS(&msg, 0x11, 1, msg.word[2], 4, 1, 2, 2);
	call_in_two(0x12, 2);
	assert_int_equal(w.executed, 1);
}

/* -- versions that nobody has ---------------------------------------------- */

static void unknown_then(uint32_t version)
{
	serve(0);
	connect_with(NULL, 0);
	RAW_SEND(&w.peer, 0x66, version, 0x00200020, 5, 0, 0);
	raw_receive_msg(&w.peer, &msg);
	/* version and XID are copied; version 2 layout; both versions are offered */
	RAW_IS(&msg, 0x66, version, msg.word[2], 4, 1, 1, 1, 2);
}

static void version_three_goes_down_to_two(void **state)
{
	unknown_then(3);
	open_in_two(0x77);
	call_in_two(0x11, 3);
}

static void version_three_goes_down_to_one(void **state)
{
	unknown_then(3);
	call_in_one(0x11, 3);
}

static void version_zero_is_refused(void **state)
{
	unknown_then(0);
	open_in_two(0x77);
}

static void greatest_version_is_refused(void **state)
{
	unknown_then(0xffffffff);
	open_in_two(0x77);
}

/* [V13] */
static void short_first_message_is_dropped(void **state)
{
	serve(0);
	connect_with(NULL, 0);
	RAW_SEND(&w.peer, 0x66, 3, 0x00200020, 5);
	RAW_SEND(&w.peer, 0x66, 2, 0x00200020, 5);
	RAW_SEND(&w.peer, 0x66, 3);
	raw_expect_quiet(&w.peer, 30);
	open_in_two(0x77);
	call_in_two(0x11, 3);
}

/* -- one version only ------------------------------------------------------ */

/* [V4]: a version 1 client can read it. */
static void only_two_refuses_version_one(void **state)
{
	const uint32_t head[] = {0x11, 1, 20, 0, 0, 0, 0};

	serve(V2);
	connect_with(sizes, 8);
	assert_int_equal(w.peer.private_len, 0);
	say_call(head, 7, 1);
	raw_receive_msg(&w.peer, &msg);
	assert_int_equal(msg.word[2] >> 16, 0);
	RAW_IS(&msg, 0x11, 1, msg.word[2], 4, 1, 2, 2);
	assert_int_equal(w.executed, 0);
	open_in_two(0x77);
	call_in_two(0x12, 2);
}

/* V2-4.2.3.2-01, V2-4.2.3.2-02: 28 octets, XID and version copied. */
static void only_one_refuses_version_two(void **state)
{
	serve(V1);
	connect_with(NULL, 0);
	assert_int_equal(w.peer.private_len, 8);
	RAW_SEND(&w.peer, 0x66, 2, 0x00200020, 5, 0, 0);
	raw_receive_msg(&w.peer, &msg);
	assert_in_range(msg.word[2], 1, 0xffff);
	RAW_IS(&msg, 0x66, 2, msg.word[2], 4, 1, 1, 1);
	call_in_one(0x11, 2); /* V2-4.2.3.2-03: the same connection goes on */
}

static void only_one_serves_version_one(void **state)
{
	serve(V1);
	connect_with(sizes, 8);
	call_in_one(0x11, 2);
	call_in_one(0x12, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	        TEST(version_one_client_is_served_in_one),
	        TEST(version_one_client_without_private_data),
	        TEST(version_two_client_is_served_in_two),
	        TEST(private_data_beside_version_two),
	        TEST(server_waits_for_the_first_message),
	        TEST(no_version_two_after_one),
	        TEST(no_version_one_after_two),
	        TEST(version_three_goes_down_to_two),
	        TEST(version_three_goes_down_to_one),
	        TEST(version_zero_is_refused),
	        TEST(greatest_version_is_refused),
	        TEST(short_first_message_is_dropped),
	        TEST(only_two_refuses_version_one),
	        TEST(only_one_refuses_version_two),
	        TEST(only_one_serves_version_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
