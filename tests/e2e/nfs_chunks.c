/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NFS client's items against a server told octet by octet (raw_peer.h): where
 * the data of a READ may come from, and what becomes of a READ and a WRITE whose
 * chunks the server refuses.  Every expected word is from the specification.
 */
#include "test_raw_peer.h"

#include "client/nfs.h"

enum {
	DATA = 3000, /* of a READ: enough for a chunk, and fits inline */
	SMALL = 1000,
	LONG = 5001, /* of a WRITE: does not fit inline */
	MSG = 0,
	ERROR = 4,
	CONNPROP = 5,
	RESPONSE = 1,
	MORE = 2,
	CREDITS = 0x00200020,
	CREDIT = 0x00200001,
	ERR_READ_CHUNKS = 6,
	ERR_WRITE_CHUNKS = 7,
	ERR_SEGMENTS = 8,
	HEADER_WORDS = 9, /* of a message without chunks */
};

struct world {
	struct rpcrdma_engine *engine;
	int listener;
	struct nfs_client client;
	struct loop loop;
	struct nfs_op op;
	struct raw_peer peer;
	bool done;
	uint8_t data[LONG + 3], got[DATA];
};

static struct world w;
static struct raw_msg msg;
static const struct nfs_fh file = {4, "FHFH"};

/* The tool's main loop has no part in this: nothing here waits in it. */
int loop_wait(struct loop *l, int timeout_ms)
{
	fail();
	return 0;
}

uint64_t tool_now_ns(void)
{
	return raw_now();
}

/* -- a connection ----------------------------------------------------------------- */

static void listen_here(char *ret_port, size_t size)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);

	w.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(w.listener, (void *)&sa, len), 0);
	assert_int_equal(listen(w.listener, 4), 0);
	assert_int_equal(getsockname(w.listener, (void *)&sa, &len), 0);
	snprintf(ret_port, size, "%u", ntohs(sa.sin_port));
}

static void accept_peer(void)
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
	raw_receive_msg(&w.peer, &msg);
	assert_int_equal(msg.word[3], CONNPROP);
	RAW_SEND(&w.peer, 0x77, 2, CREDITS, CONNPROP, 0, 0); /* all defaults */
}

static int begin(void **state)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	char port[16];

	memset(&w, 0, sizeof(w));
	for (unsigned i = 0; i < LONG; i++)
		w.data[i] = (uint8_t)(i * 2654435761u >> 11);
	o.version = 2;
	w.peer.fd = -1;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	listen_here(port, sizeof(port));
	o.send_item_bytes = 1; /* each WRITE has a Read chunk */
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", port, &o, NULL, NULL,
	                                 &w.client.link.conn),
	                 0);
	w.loop.engine = w.engine;
	w.client.link.loop = &w.loop;
	w.client.timeout_ns = 10000 * (uint64_t)RAW_MS;
	nfs_op_init(&w.op, &w.client);
	accept_peer();
	return 0;
}

static int end(void **state)
{
	nfs_op_fini(&w.op);
	rpcrdma_conn_close(w.client.link.conn);
	raw_close(&w.peer);
	close(w.listener);
	rpcrdma_engine_free(w.engine);
	return 0;
}

/* -- the client ------------------------------------------------------------ */

static void on_done(struct nfs_op *op, void *arg)
{
	assert_false(w.done);
	w.done = true;
}

static void read_file(uint32_t len)
{
	memset(w.got, 0xee, sizeof(w.got));
	w.done = false;
	nfs_op_read(&w.op, &file, 0, w.got, len, on_done, NULL);
	raw_receive_msg(&w.peer, &msg);
	assert_int_equal(msg.word[3], MSG);
	assert_int_equal(msg.word[4], 0);
}

static void await_end(int status)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (!w.done) {
		assert_true(raw_now() < stop);
		raw_step(&w.peer, 2);
	}
	assert_int_equal(w.op.status, status);
}

static void expect_data(uint32_t len)
{
	bool eof;

	await_end(0);
	assert_int_equal(nfs_read_count(&w.op, &eof), len);
	assert_memory_equal(w.got, w.data, len);
}

/* -- the server ------------------------------------------------------------ */

struct text {
	uint32_t word[RAW_WORDS];
	size_t n;
};

static void put(struct text *t, uint32_t v)
{
	t->word[t->n++] = v;
}

/* Is the Call's Write list one chunk of one segment of @len octets? */
static bool has_write(uint32_t len)
{
	return msg.word[6] == 0 && msg.word[7] == 1 && msg.word[8] == 1 &&
	       msg.word[10] == len && msg.word[13] == 0;
}

/* No chunk of any kind, the Reply chunk apart. */
static bool has_no_items(void)
{
	return msg.word[6] == 0 && msg.word[7] == 0;
}

/* The header of a Reply that gives the Call's Write list back, nothing written. */
static void put_header(struct text *t, bool with_write)
{
	*t = (struct text){.n = 0};
	put(t, msg.word[0]);
	put(t, 2);
	put(t, CREDIT);
	put(t, MSG);
	put(t, RESPONSE);
	put(t, 0); /* rdma_inv_handle */
	put(t, 0); /* no Read list */
	if (with_write) {
		put(t, 1);
		put(t, 1);
		put(t, msg.word[9]);
		put(t, 0); /* octets */
		put(t, msg.word[11]);
		put(t, msg.word[12]);
	}
	put(t, 0);
	put(t, 0); /* no Reply chunk */
	put(t, msg.word[0]);
	put(t, 1); /* REPLY */
	put(t, 0); /* MSG_ACCEPTED */
	put(t, 0); /* AUTH_NONE */
	put(t, 0);
	put(t, 0); /* SUCCESS */
}

/* READ3resok without attributes; the data follow inline.        [RFC 1813 §3.3.6] */
static void answer_inline(bool with_write, uint32_t len)
{
	struct text t;

	put_header(&t, with_write);
	put(&t, 0); /* NFS3_OK */
	put(&t, 0); /* no attributes */
	put(&t, len);
	put(&t, 1); /* eof */
	put(&t, len);
	for (uint32_t i = 0; i < len; i += 4)
		put(&t, raw_be(w.data + i, 4));
	raw_send_words(&w.peer, t.word, t.n);
}

static void refuse(uint32_t code, uint32_t max)
{
	RAW_SEND(&w.peer, msg.word[0], 2, CREDIT, ERROR, RESPONSE, code, max);
}

/* -- data inline ----------------------------------------------------------- */

/* V2-A.1-07: there was a chunk, the data came beside it. */
static void data_beside_an_available_chunk_are_an_error(void **state)
{
	read_file(DATA);
	assert_true(has_write(DATA));
	answer_inline(true, DATA);
	await_end(-EPROTO);
	/* that call alone: the connection goes on */
	read_file(SMALL);
	assert_true(has_no_items());
	answer_inline(false, SMALL);
	expect_data(SMALL);
}

/* V2-A.1-07: also a single octet. */
static void one_octet_beside_an_available_chunk_is_an_error(void **state)
{
	read_file(DATA);
	answer_inline(true, 1);
	await_end(-EPROTO);
}

/* [K21] */
static void no_data_leave_the_chunk_unused(void **state)
{
	read_file(DATA);
	answer_inline(true, 0);
	expect_data(0);
}

/* [K21]: the arm of an error has no data. */
static void an_error_leaves_the_chunk_unused(void **state)
{
	struct text t;

	read_file(DATA);
	put_header(&t, true);
	put(&t, NFS3ERR_IO);
	put(&t, 0); /* no attributes */
	raw_send_words(&w.peer, t.word, t.n);
	await_end(NFS3ERR_IO);
}

/* -- chunks refused -------------------------------------------------------- */

/* V2-7.3.2-02: without Write chunks the data come in the payload, which is right. */
static void a_read_without_its_write_chunk_has_its_data_inline(void **state)
{
	uint32_t first;

	read_file(DATA);
	assert_true(has_write(DATA));
	first = msg.word[0];
	refuse(ERR_WRITE_CHUNKS, 0);
	raw_receive_msg(&w.peer, &msg);
	assert_int_not_equal(msg.word[0], first);
	assert_true(has_no_items());
	assert_int_equal(msg.word[8], 1); /* a Reply chunk, which need not be used */
	assert_true(msg.word[11] >= DATA);
	answer_inline(false, DATA);
	expect_data(DATA);
}

/* V2-7.3.3-02: the same where no segment is left for it. */
static void a_read_without_segments_has_its_data_inline(void **state)
{
	read_file(DATA);
	assert_true(has_write(DATA));
	refuse(ERR_SEGMENTS, 0);
	raw_receive_msg(&w.peer, &msg);
	assert_true(has_no_items());
	assert_int_equal(msg.word[8], 0);
	answer_inline(false, DATA);
	expect_data(DATA);
}

/* One Send of a continued Call, its payload appended. */
static void hear_part(struct text *t, uint32_t flags)
{
	assert_int_equal(msg.word[3], MSG);
	assert_int_equal(msg.word[4], flags);
	for (size_t i = 5; i < HEADER_WORDS; i++)
		assert_int_equal(msg.word[i], 0); /* no chunks */
	for (size_t i = HEADER_WORDS; i < msg.len / 4; i++)
		put(t, msg.word[i]);
}

/* WRITE3resok: no attributes, all of it, FILE_SYNC, a verifier. [RFC 1813 §3.3.7] */
static void answer_write(void)
{
	struct text t;

	put_header(&t, false);
	put(&t, 0);
	put(&t, 0);
	put(&t, 0);
	put(&t, LONG);
	put(&t, 2);
	put(&t, 0x76657269);
	put(&t, 0x66696572);
	raw_send_words(&w.peer, t.word, t.n);
}

/* V2-7.3.1-04: the data, pulled no more, are a part of a continued Call. */
static void a_write_without_its_read_chunk_is_continued(void **state)
{
	static struct raw_msg asked;
	struct text t = {.n = 0};
	size_t head;

	nfs_op_write(&w.op, &file, 0, w.data, LONG, FILE_SYNC, on_done, NULL);
	raw_receive_msg(&w.peer, &asked);
	/* one Read segment: position, handle, length, offset */
	assert_int_equal(asked.word[6], 1);
	assert_int_equal(asked.word[9], LONG);
	assert_int_equal(asked.word[12], 0); /* the list's end */
	msg = asked;
	refuse(ERR_READ_CHUNKS, 0);
	raw_receive_msg(&w.peer, &msg);
	assert_int_not_equal(msg.word[0], asked.word[0]);
	hear_part(&t, MORE);
	raw_receive_msg(&w.peer, &msg);
	hear_part(&t, 0);
	head = asked.len / 4 - 15; /* of the first Call's payload */
	assert_int_equal(t.word[0], msg.word[0]);
	assert_memory_equal(t.word + 1, asked.word + 16, 4 * (head - 1));
	assert_int_equal(t.n, head + (LONG + 3) / 4);
	for (size_t i = 0; i < (LONG + 3) / 4; i++)
		assert_int_equal(t.word[head + i], raw_be(w.data + 4 * i, 4));
	answer_write();
	await_end(0);
	assert_int_equal(w.op.res.write.WRITE3res_u.resok.count, LONG);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(data_beside_an_available_chunk_are_an_error),
	        TEST(one_octet_beside_an_available_chunk_is_an_error),
	        TEST(no_data_leave_the_chunk_unused),
	        TEST(an_error_leaves_the_chunk_unused),
	        TEST(a_read_without_its_write_chunk_has_its_data_inline),
	        TEST(a_read_without_segments_has_its_data_inline),
	        TEST(a_write_without_its_read_chunk_is_continued),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
