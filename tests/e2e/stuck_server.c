/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server that stops reading, as a stopped process does, after it has asked for so
 * much by RDMA Read that nothing goes out any more: each call ends by its own timeout,
 * and its memory is its caller's again, who frees it at once.  Whatever the library
 * still did with it is the address sanitizer's to tell.  The server speaks through a
 * plain socket (raw_peer.h).
 */
#include "test_raw_peer.h"

enum {
	PROG = 0x20051123,
	BIG = 8 << 20, /* more than the sockets take */
	WITHOUT_MS = 300,
	LIMIT_MS = 40000, /* TCP gives up after 120 s */
};

struct world {
	struct rpcrdma_engine *engine;
	int listener;
	struct rpcrdma_conn *conn;
	struct raw_peer peer;
	unsigned version, downs;
};

static struct world w;
static struct raw_msg msg;

/* A call, its arguments and room for its results. */
struct ask {
	struct rpcrdma_call_options o;
	struct rpcrdma_piece piece[2];
	struct rpcrdma_dest dest;
	uint8_t *arg, *item, *room;
	unsigned done;
	int status;
};

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct ask *a = arg;

	a->done++;
	a->status = r->status;
	free(a->arg);
	free(a->item);
	free(a->room);
}

static void ask(struct ask *a, size_t arg, size_t item, size_t room)
{
	*a = (struct ask){.o = RPCRDMA_OPTIONS(struct rpcrdma_call_options)};
	a->arg = calloc(1, arg + 4);
	raw_put(a->arg + arg, (uint32_t)item, 4);
	a->item = calloc(1, item + 1);
	a->room = calloc(1, room + 1);
	a->piece[0] = (struct rpcrdma_piece){a->arg, arg + 4, false};
	a->piece[1] = (struct rpcrdma_piece){a->item, item, true};
	a->dest = (struct rpcrdma_dest){.base = a->room, .len = room};
	a->o.program = PROG;
	a->o.version = 1;
	a->o.procedure = 1;
	a->o.args = a->piece;
	a->o.n_args = item ? 2 : 1;
	a->o.dests = &a->dest;
	a->o.n_dests = room != 0;
	a->o.reply_bytes = 16;
	a->o.done = on_done;
	a->o.arg = a;
}

static void begin_call(struct ask *a, uint64_t timeout_ns)
{
	a->o.timeout_ns = timeout_ns;
	assert_int_equal(rpcrdma_call(w.conn, &a->o, NULL), 0);
}

/* The server is not moved. */
static void spin(const unsigned *done, unsigned ms)
{
	uint64_t stop = raw_now() + (uint64_t)ms * RAW_MS;

	while (!(done && *done) && raw_now() < stop)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
}

/* -- the server ------------------------------------------------------------ */

/* Little is read ahead. */
static void make_listener(char port[16])
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);
	int small = 16384;

	w.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(
	        setsockopt(w.listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)),
	        0);
	assert_int_equal(bind(w.listener, (void *)&sa, len), 0);
	assert_int_equal(listen(w.listener, 4), 0);
	assert_int_equal(getsockname(w.listener, (void *)&sa, &len), 0);
	snprintf(port, 16, "%u", ntohs(sa.sin_port));
}

static void take_connection(void)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;
	int fd;

	while ((fd = accept(w.listener, NULL, NULL)) < 0) {
		assert_true(raw_now() < stop);
		assert_int_equal(rpcrdma_engine_process(w.engine, 2), 0);
	}
	raw_init(&w.peer, w.engine, fd);
	raw_receive_mpa(&w.peer, "MPA ID Req Frame");
	raw_send_mpa(&w.peer, "MPA ID Rep Frame", NULL, 0);
	if (w.version == 1)
		return;
	raw_receive_msg(&w.peer, &msg);
	RAW_SEND(&w.peer, msg.word[0] + 1, 2, 0x00200020, 5, 0, 0);
}

/* Messages that only give credit are passed over. */
static void hear_call(void)
{
	do
		raw_receive_msg(&w.peer, &msg);
	while (msg.word[3]);
}

/* Results: none. */
static void answer(void)
{
	uint32_t xid;

	hear_call();
	xid = msg.word[0];
	if (w.version == 1)
		RAW_SEND(&w.peer, xid, 1, 32, 0, 0, 0, 0, xid, 1, 0, 0, 0, 0);
	else
		RAW_SEND(&w.peer, xid, 2, 0x00200020, 0, 1, 0, 0, 0, 0, xid, 1, 0, 0, 0,
		         0);
}

/* Reads all of the Read chunk of the Call that has come, at once. */
static void ask_for_item(void)
{
	uint8_t f[2 + 18 + 28 + 8] = {0, 0, 0x41, 0x41};
	size_t at = w.version == 1 ? 4 : 6; /* the list of Read chunks */

	hear_call();
	assert_int_equal(msg.word[at], 1);
	raw_put(f + 8, 1, 4);  /* queue 1 */
	raw_put(f + 12, 1, 4); /* its first message */
	raw_put(f + 20, 0x1234, 4);
	raw_put(f + 32, BIG, 4);
	raw_put(f + 36, msg.word[at + 2], 4);
	raw_put(f + 40, msg.word[at + 4], 4);
	raw_put(f + 44, msg.word[at + 5], 4);
	raw_fpdu(&w.peer, f, 18 + 28);
}

/* -- the world ------------------------------------------------------------- */

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	w.downs += error != 0;
}

/* Ready, and one call was answered: version 1 has credits from there on. */
static int set_up(void **state)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	static struct ask first;
	char port[16];

	w = (struct world){.version = *(const unsigned *)*state, .peer.fd = -1};
	o.version = w.version;
	o.provider = "iwarp";
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	make_listener(port);
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", port, &o, on_event,
	                                 NULL, &w.conn),
	                 0);
	ask(&first, 0, 0, 0);
	begin_call(&first, 0);
	take_connection();
	answer();
	spin(&first.done, RAW_HANG_MS);
	assert_int_equal(first.done, 1);
	assert_int_equal(first.status, 0);
	return 0;
}

static int tear_down(void **state)
{
	rpcrdma_conn_close(w.conn);
	raw_close(&w.peer);
	close(w.listener);
	rpcrdma_engine_free(w.engine);
	return 0;
}

/* From here on the client's socket is full. */
static void fill_socket(struct ask *big, uint64_t timeout_ns)
{
	ask(big, 0, BIG, 0);
	begin_call(big, timeout_ns);
	ask_for_item();
	spin(NULL, 200);
	assert_int_equal(big->done, 0);
}

static void expect_timeout(struct ask *a)
{
	spin(&a->done, LIMIT_MS);
	assert_int_equal(a->done, 1);
	assert_int_equal(a->status, -ETIMEDOUT);
}

static void expect_end_by_close(struct ask *a)
{
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	spin(&a->done, LIMIT_MS);
	assert_int_equal(a->done, 1);
	assert_int_equal(a->status, -ECANCELED);
}

/* What waits behind it has been copied, or is not lent to anybody any more: such calls
 * end, and the connection goes on. */
static void calls_end_by_their_timeouts_alone(void **state)
{
	static const struct {
		size_t arg, item, room, reply;
	} t[] = {
	        {0, 0, 0, 16},     /* inline */
	        {0, 65536, 0, 16}, /* a Read chunk */
	        {0, 0, 65536, 16}, /* a Write chunk */
	        {0, 0, 0, 300000}, /* a Reply chunk */
	        {0, 65536, 65536, 300000},
	};
	static struct ask big, a[sizeof(t) / sizeof(t[0])];

	fill_socket(&big, 0);
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ask(&a[i], t[i].arg, t[i].item, t[i].room);
		a[i].o.reply_bytes = t[i].reply;
		begin_call(&a[i], (uint64_t)WITHOUT_MS * RAW_MS);
	}
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		expect_timeout(&a[i]);
	assert_int_equal(w.downs, 0);
	assert_int_equal(big.done, 0);
	expect_end_by_close(&big);
}

/* Memory that a message is being sent from comes back with the connection, which ends a
 * few seconds later. */
static void memory_being_sent_comes_back_with_the_connection(void **state)
{
	static struct ask big, arg;

	fill_socket(&big, 0);
	ask(&arg, 700, 0, 0); /* too much to be copied */
	begin_call(&arg, (uint64_t)WITHOUT_MS * RAW_MS);
	expect_timeout(&arg);
	assert_int_equal(big.done, 0); /* it is sent again */
	expect_end_by_close(&big);
}

/* And so does memory that the server is reading from. */
static void memory_being_read_comes_back_with_the_connection(void **state)
{
	static struct ask big;

	fill_socket(&big, (uint64_t)2 * WITHOUT_MS * RAW_MS);
	expect_timeout(&big);
}

#define TEST(f, version)                                                               \
	{                                                                              \
#f ", version " #version, f, set_up, tear_down,                        \
		        (void *)&(const unsigned)                                      \
		{                                                                      \
			version                                                        \
		}                                                                      \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(calls_end_by_their_timeouts_alone, 2),
	        TEST(calls_end_by_their_timeouts_alone, 1),
	        TEST(memory_being_sent_comes_back_with_the_connection, 2),
	        TEST(memory_being_sent_comes_back_with_the_connection, 1),
	        TEST(memory_being_read_comes_back_with_the_connection, 2),
	        TEST(memory_being_read_comes_back_with_the_connection, 1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
