/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client against servers of either version, told octet by octet: what it says
 * first, what it says next, over how many connections and in which time, and what
 * it remembers.  The servers speak through plain sockets (raw_peer.h); every
 * expected word is from the specification.
 * V2-4.2.3-01 to -05, V2-4.2.3.1-01, V2-4.2.3.2-01 to -05, V2-4.2.3.3-03.
 */
#include "test_raw_peer.h"

#include <netdb.h>

enum {
	NFS = 100003,
	FIRST_ANSWER_MS = 200,
	V1 = 1,
	V2 = 2,
};

struct world {
	struct rpcrdma_engine *engine;
	int listener;
	char port[16];
	struct rpcrdma_conn_options options;
	struct rpcrdma_conn *conn;
	struct raw_peer peer; /* the server's end of the latest connection */
	unsigned accepted;
	unsigned ups, downs;
	bool final;
	int last_error;
	bool done;
	int status;
	uint8_t results[128];
	size_t len;
};

static struct world w;
static struct raw_msg msg;

/* -- the server's socket ------------------------------------------------------- */

static int begin(void **state)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);

	memset(&w, 0, sizeof(w));
	w.options = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	w.options.first_answer_ns = (uint64_t)FIRST_ANSWER_MS * RAW_MS;
	w.options.reconnect_min_ns = 10 * RAW_MS;
	w.options.reconnect_max_ns = 20 * RAW_MS;
	w.peer.fd = -1;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	w.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(w.listener, (void *)&sa, len), 0);
	assert_int_equal(listen(w.listener, 4), 0);
	assert_int_equal(getsockname(w.listener, (void *)&sa, &len), 0);
	snprintf(w.port, sizeof(w.port), "%u", ntohs(sa.sin_port));
	return 0;
}

static int end(void **state)
{
	if (w.conn)
		rpcrdma_conn_close(w.conn);
	raw_close(&w.peer);
	close(w.listener);
	rpcrdma_engine_free(w.engine);
	return 0;
}

/* A connection has come and waits for the MPA Reply. */
static bool knocks(void)
{
	int fd = accept(w.listener, NULL, NULL);

	if (fd < 0)
		return false;
	raw_close(&w.peer);
	raw_init(&w.peer, w.engine, fd);
	w.accepted++;
	return true;
}

static void await_knock(void)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (!knocks()) {
		assert_true(raw_now() < stop);
		assert_int_equal(rpcrdma_engine_process(w.engine, 2), 0);
	}
	raw_receive_mpa(&w.peer, "MPA ID Req Frame");
}

/* Accepts the next connection; version 1 is a possible outcome, so the client
 * names its sizes, 4096 octets each, and takes remote invalidation. [RFC 8797] */
static void take_connection(void)
{
	static const uint8_t sizes[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

	await_knock();
	if (w.options.version == V2) {
		assert_int_equal(w.peer.private_len, 0); /* [V14] */
	} else {
		assert_int_equal(w.peer.private_len, 8);
		assert_memory_equal(w.peer.private, sizes, 8);
	}
	raw_send_mpa(&w.peer, "MPA ID Rep Frame", NULL, 0);
}

static void nobody_knocks(unsigned ms)
{
	uint64_t stop = raw_now() + (uint64_t)ms * RAW_MS;

	while (raw_now() < stop) {
		assert_int_equal(rpcrdma_engine_process(w.engine, 2), 0);
		assert_false(knocks());
	}
}

/* -- the client -------------------------------------------------------------------- */

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	if (!error)
		w.ups++;
	else
		w.downs++;
	w.final = final;
	w.last_error = error;
}

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	assert_false(w.done);
	w.done = true;
	w.status = r->status;
	w.len = r->len;
	assert_true(r->len <= sizeof(w.results));
	if (!r->status && r->len)
		memcpy(w.results, r->results, r->len);
}

/* NFSPROC3_GETATTR of the handle "FHFH". */
static void call(void)
{
	static const uint8_t args[8] = {0, 0, 0, 4, 'F', 'H', 'F', 'H'};
	static const struct rpcrdma_piece piece = {args, sizeof(args), false};
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = NFS;
	o.version = 3;
	o.procedure = 1;
	o.args = &piece;
	o.n_args = 1;
	o.reply_bytes = 88;
	o.done = on_done;
	w.done = false;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
}

/* A name with two addresses; at the second one nobody listens. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
	struct two {
		struct addrinfo info[2];
		struct sockaddr_in in[2];
	} *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	for (int i = 0; i < 2; i++) {
		t->in[i].sin_family = AF_INET;
		t->in[i].sin_port = htons((uint16_t)atoi(service));
		t->in[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)i);
		t->info[i].ai_family = AF_INET;
		t->info[i].ai_socktype = SOCK_STREAM;
		t->info[i].ai_addr = (void *)&t->in[i];
		t->info[i].ai_addrlen = sizeof(t->in[i]);
	}
	t->info[0].ai_next = strcmp(host, "two.test") ? NULL : &t->info[1];
	*ret = t->info;
	return 0;
}

void freeaddrinfo(struct addrinfo *a)
{
	free(a);
}

static void start_at(const char *host)
{
	assert_int_equal(rpcrdma_connect(w.engine, host, w.port, &w.options, on_event,
	                                 NULL, &w.conn),
	                 0);
	call();
}

static void start(void)
{
	start_at("127.0.0.1");
}

static void stop(void)
{
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	raw_close(&w.peer);
	while (!rpcrdma_engine_idle(w.engine))
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
}

static void await_done(void)
{
	uint64_t until = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (!w.done) {
		assert_true(raw_now() < until);
		assert_int_equal(rpcrdma_engine_process(w.engine, 2), 0);
	}
}

static unsigned version(void)
{
	struct rpcrdma_conn_info i;

	rpcrdma_conn_get_info(w.conn, &i, sizeof(i));
	return i.version;
}

/* It ended for good, and says why. */
static void expect_no_version(const char *words)
{
	struct rpcrdma_conn_info i;

	await_done();
	assert_int_equal(w.status, -EPROTONOSUPPORT);
	assert_true(w.final);
	assert_int_equal(w.last_error, -EPROTONOSUPPORT);
	assert_int_equal(w.downs, 1); /* told once, at the end */
	rpcrdma_conn_get_info(w.conn, &i, sizeof(i));
	assert_string_equal(i.reason, words);
	nobody_knocks(100);
}

/* -- messages -------------------------------------------------------------- */

#define BASE_PROPS 1, 4, 4096, 2, 4, 4096, 3, 4, 1 << 20, 4, 4, 16, 5, 4, 0
/* RPRC: pulls, exposes, takes RDMA2_MSG_DONE; 10 s; 1 MiB.  REQREMINV.  RTR: all four, and
 * 16 transmissions each way, without a buffer structure. */
#define FEATURE_PROPS                                                                  \
	0xffffff21, 12, 7, 10000, 1 << 20, 0xffffff02, 4, 1, 0xffffff13, 4, 15,        \
	        0xffffff15, 4, 16, 0xffffff16, 4, 16

/* RDMA2_CONNPROP with our defaults; nothing may follow it.  Its XID. */
static uint32_t expect_first_of_two(void)
{
	uint32_t xid;

	raw_receive_msg(&w.peer, &msg);
	xid = msg.word[0];
	assert_int_not_equal(xid, 0);
	if (w.options.features)
		RAW_IS(&msg, xid, 2, 0x00200020, 5, 0, 5, BASE_PROPS);
	else
		RAW_IS(&msg, xid, 2, 0x00200020, 5, 0, 10, BASE_PROPS, FEATURE_PROPS);
	raw_expect_quiet(&w.peer, 20);
	return xid;
}

/* The RPC Call begins at word @at. */
static void expect_getattr(size_t at)
{
	const uint32_t rest[] = {0, 2, NFS, 3, 1, 0, 0, 0, 0, 4, 0x46484648};

	assert_int_equal(msg.len, 4 * (at + 1) + sizeof(rest));
	assert_int_equal(msg.word[at], msg.word[0]);
	assert_memory_equal(msg.word + at + 1, rest, sizeof(rest));
}

/* A version 1 Call, 32 credits wanted, no chunks.  Its XID. */
static uint32_t expect_call_of_one(void)
{
	const uint32_t head[] = {1, 32, 0, 0, 0, 0};

	raw_receive_msg(&w.peer, &msg);
	assert_true(msg.len >= 28);
	assert_memory_equal(msg.word + 1, head, sizeof(head));
	expect_getattr(7);
	return msg.word[0];
}

/* A version 2 Call; the first one gives back the credit of the server's first
 * message and one more. [C3] */
static uint32_t expect_call_of_two(void)
{
	const uint32_t head[] = {2, 0x00200002, 0, 0, 0, 0, 0, 0};

	raw_receive_msg(&w.peer, &msg);
	assert_true(msg.len >= 36);
	assert_memory_equal(msg.word + 1, head, sizeof(head));
	expect_getattr(9);
	return msg.word[0];
}

/* After the RPC header: NFS3_OK and 21 words of attributes. */
static const uint32_t attributes[22] = {0, 1,     0644, 1, 1000, 1000, 0, 12345,
                                        0, 16384, 0,    0, 0,    7,    0, 99,
                                        1, 0,     2,    0, 3,    0};

static void reply_with(const uint32_t *head, size_t n)
{
	uint32_t m[16 + 6 + 22] = {0};

	assert_true(n <= 16);
	memcpy(m, head, 4 * n);
	m[n] = head[0];
	m[n + 1] = 1; /* REPLY, accepted, AUTH_NONE, success */
	memcpy(m + n + 6, attributes, sizeof(attributes));
	raw_send_words(&w.peer, m, n + 6 + 22);
}

static void reply_of_one(uint32_t xid)
{
	reply_with((const uint32_t[]){xid, 1, 64, 0, 0, 0, 0}, 7);
}

static void reply_of_two(uint32_t xid)
{
	reply_with((const uint32_t[]){xid, 2, 0x00200001, 0, 1, 0, 0, 0, 0}, 9);
}

/* The call is over and brought the attributes. */
static void expect_attributes(void)
{
	await_done();
	assert_int_equal(w.status, RPCRDMA_OK);
	assert_int_equal(w.len, sizeof(attributes));
	for (size_t i = 0; i < 22; i++)
		assert_int_equal(raw_be(w.results + 4 * i, 4), attributes[i]);
}

/* A server of version 2 takes over after the client's first message. */
static void serve_two(void)
{
	uint32_t xid = expect_first_of_two();

	RAW_SEND(&w.peer, xid + 1, 2, 0x00200020, 5, 0, 0);
	xid = expect_call_of_two();
	assert_int_equal(version(), V2);
	reply_of_two(xid);
	expect_attributes();
}

static void serve_one(void)
{
	reply_of_one(expect_call_of_one());
	expect_attributes();
	assert_int_equal(version(), V1);
}

/* Leaves the first message without an answer until the client gives up. */
static void leave_unanswered(void)
{
	uint64_t since = raw_now(); /* before the client may begin to count */

	take_connection();
	expect_first_of_two();
	raw_expect_end(&w.peer);
	assert_in_range(raw_now() - since, FIRST_ANSWER_MS * RAW_MS,
	                (uint64_t)(FIRST_ANSWER_MS + 1500) * RAW_MS);
	raw_close(&w.peer);
}

static void answer_by_closing(void)
{
	take_connection();
	expect_first_of_two();
	raw_close(&w.peer);
}

/* -- servers of version 2 -------------------------------------------------- */

static void version_two_server(void **state)
{
	start();
	take_connection();
	serve_two();
	assert_int_equal(w.accepted, 1);
	assert_int_equal(w.ups, 1);
	assert_int_equal(w.downs, 0);
}

static void without_features_there_are_the_base_properties(void **state)
{
	w.options.features = "none";
	version_two_server(state);
}

static void on_any_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                        void *arg)
{
}

/* V2-4.2.3-02: however many calls wait, there is one message. */
static void one_message_until_the_answer(void **state)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = NFS;
	o.done = on_any_done;
	start();
	for (int i = 0; i < 8; i++)
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	take_connection();
	expect_first_of_two();
	raw_expect_quiet(&w.peer, FIRST_ANSWER_MS / 2);
}

/* One loss may be a restart: version 2 is asked for again, and all is well. */
static void one_restart_changes_nothing(void **state)
{
	start();
	answer_by_closing();
	take_connection();
	serve_two();
	stop();
	/* nor is it counted together with another one, later */
	start();
	answer_by_closing();
	take_connection();
	serve_two();
	assert_int_equal(w.accepted, 4);
	assert_int_equal(w.downs, 0); /* finding out is part of connecting */
}

/* -- servers without version 2, which say so ------------------------------- */

/* In words after the XID, as the server sends them. */
#define REFUSE(xid, ...) RAW_SEND(&w.peer, (xid), __VA_ARGS__)

/* V2-4.2.3.2-03: on with version 1 on the same connection; from then on at once. */
static void goes_down(void)
{
	serve_one();
	call();
	serve_one(); /* V2-4.2.3.3-03: for good */
	assert_int_equal(w.accepted, 1);
	assert_int_equal(w.ups, 1);
	assert_int_equal(w.downs, 0);
	stop();
	start();
	take_connection();
	serve_one();
	assert_int_equal(w.accepted, 2);
}

/* Linux: version 1 layout, the request's version copied, its credits a number. */
static void linux_server(void **state)
{
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 64, 4, 1, 1, 1);
	goes_down();
}

/* libevpl: the same with its own version. */
static void libevpl_server(void **state)
{
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 1, 64, 4, 1, 1, 1);
	goes_down();
}

/* Without a range: ERR_CHUNK of version 1. [V3] */
static void server_that_cannot_parse(void **state)
{
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 1, 64, 4, 2);
	goes_down();
}

/* Version 2 layout, from one that had version 2 switched off. */
static void server_that_speaks_the_later_layout(void **state)
{
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 0x00200001, 4, 1, 1, 1, 1);
	goes_down();
}

static void connect_with_sizes(const void *private, size_t len)
{
	start();
	await_knock();
	raw_send_mpa(&w.peer, "MPA ID Rep Frame", private, len);
	REFUSE(expect_first_of_two(), 2, 64, 4, 1, 1, 1);
	serve_one();
}

/* [RFC 8797]: the sizes that both have named, 1024 without. */
static void sizes_of_version_one(void **state)
{
	static const uint8_t sizes[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 1, 2};
	struct rpcrdma_conn_info i;

	connect_with_sizes(sizes, 8);
	rpcrdma_conn_get_info(w.conn, &i, sizeof(i));
	assert_int_equal(i.send_inline, 3072);
	assert_int_equal(i.recv_inline, 2048);
	assert_false(i.remote_invalidate);
}

static void sizes_that_nobody_named(void **state)
{
	struct rpcrdma_conn_info i;

	connect_with_sizes(NULL, 0);
	rpcrdma_conn_get_info(w.conn, &i, sizeof(i));
	assert_int_equal(i.send_inline, 1024);
	assert_int_equal(i.recv_inline, 1024);
	assert_false(i.remote_invalidate);
}

/* V2-4.2.3.2-04: the connection is dropped right after ERR_VERS. */
static void server_that_refuses_and_closes(void **state)
{
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 64, 4, 1, 1, 1);
	raw_close(&w.peer);
	take_connection();
	serve_one();
	assert_int_equal(w.accepted, 2);
}

/* No loop: one connection for each version, and that is the end. */
static void server_that_refuses_both(void **state)
{
	uint32_t xid;

	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 64, 4, 1, 1, 1);
	raw_close(&w.peer);
	take_connection();
	xid = expect_call_of_one();
	REFUSE(xid, 1, 64, 4, 1, 3, 3);
	await_done();
	assert_int_not_equal(w.status, RPCRDMA_OK);
	while (!w.final)
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
	assert_int_equal(w.last_error, -EPROTONOSUPPORT);
	nobody_knocks(100);
	assert_int_equal(w.accepted, 2);
}

/* V2-4.2.3-01: there is no version in common. */
static void no_version_in_range(void **state)
{
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 0x00200001, 4, 1, 1, 3, 7);
	expect_no_version("the server refuses RPC-over-RDMA versions 2 and 1");
	assert_int_equal(w.accepted, 1);
}

/* [V12] */
static void range_upside_down(void **state)
{
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 0x00200001, 4, 1, 1, 2, 1);
	expect_no_version("the server refuses RPC-over-RDMA versions 2 and 1");
	assert_int_equal(w.accepted, 1);
}

/* -- servers without version 2, which do not say so ------------------------ */

/* illumos: no answer at all.  Two times, then version 1. */
static void server_that_never_answers(void **state)
{
	start();
	leave_unanswered();
	leave_unanswered();
	take_connection();
	serve_one();
	assert_int_equal(w.accepted, 3);
	assert_int_equal(w.ups, 1);
	assert_int_equal(w.downs, 0);
	/* remembered: no waiting the next time */
	stop();
	start();
	take_connection();
	serve_one();
	assert_int_equal(w.accepted, 4);
}

static void server_that_closes(void **state)
{
	uint64_t since = raw_now();

	start();
	answer_by_closing();
	answer_by_closing();
	take_connection();
	serve_one();
	assert_in_range(raw_now() - since, 0, (uint64_t)3000 * RAW_MS);
	assert_int_equal(w.accepted, 3);
	assert_int_equal(w.downs, 0);
}

static void server_that_resets(void **state)
{
	start();
	for (int i = 0; i < 2; i++) {
		take_connection();
		expect_first_of_two();
		raw_abort(&w.peer);
	}
	take_connection();
	serve_one();
	assert_int_equal(w.accepted, 3);
}

/* Once silent, once closed: also twice. */
static void silence_and_closing_add_up(void **state)
{
	start();
	leave_unanswered();
	answer_by_closing();
	take_connection();
	serve_one();
	assert_int_equal(w.accepted, 3);
}

/* Negotiating is part of connecting, also for who does not want to reconnect. */
static void no_reconnect_still_negotiates(void **state)
{
	w.options.no_reconnect = true;
	start();
	answer_by_closing();
	answer_by_closing();
	take_connection();
	serve_one();
	raw_close(&w.peer);
	while (!w.final)
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
	assert_int_equal(w.last_error, -ECONNRESET);
	nobody_knocks(100);
	assert_int_equal(w.accepted, 3);
}

/* What is to be found out is found out of one address before the next one's turn. */
static void each_address_is_negotiated_with(void **state)
{
	start_at("two.test");
	answer_by_closing();
	answer_by_closing();
	take_connection();
	serve_one();
	assert_int_equal(w.accepted, 3);
	assert_int_equal(w.downs, 0); /* the second would have refused */
}

/* When nothing can be remembered, it is told in the end that nothing works. */
static void negotiation_is_not_hidden_for_ever(void **state)
{
	w.options.no_reconnect = true;
	w.options.version_cache_ns = 1;
	start();
	for (int i = 0; i < 5; i++)
		answer_by_closing();
	await_done();
	assert_int_equal(w.status, -ECONNRESET);
	assert_true(w.final);
	nobody_knocks(100);
	assert_int_equal(w.accepted, 5);
}

/* What says nothing about versions: the connection does not even come up. */
static void failed_set_up_is_no_answer(void **state)
{
	start();
	for (int i = 0; i < 4; i++) {
		await_knock();
		raw_abort(&w.peer);
	}
	take_connection();
	serve_two();
	assert_int_equal(w.accepted, 5);
	assert_int_equal(w.downs, 4);
}

/* -- what is remembered ---------------------------------------------------- */

static void memory_expires(void **state)
{
	w.options.version_cache_ns = 300 * RAW_MS;
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 64, 4, 1, 1, 1);
	serve_one();
	stop();
	nobody_knocks(350);
	start();
	take_connection();
	serve_two();
}

static void version_two_is_remembered_instead(void **state)
{
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 64, 4, 1, 1, 1);
	serve_one();
	stop();
	w.options.version = V2; /* it learnt version 2 meanwhile */
	start();
	take_connection();
	serve_two();
	stop();
	w.options.version = 0;
	start();
	take_connection();
	serve_two();
}

/* -- clients that want one version only ------------------------------------ */

static void only_two_against_one_that_refuses(void **state)
{
	w.options.version = V2;
	start();
	take_connection();
	REFUSE(expect_first_of_two(), 2, 64, 4, 1, 1, 1);
	expect_no_version("the server refuses RPC-over-RDMA version 2");
	assert_int_equal(w.accepted, 1);
}

static void only_two_against_silence(void **state)
{
	w.options.version = V2;
	start();
	leave_unanswered();
	leave_unanswered();
	expect_no_version("the server does not answer in RPC-over-RDMA version 2");
	assert_int_equal(w.accepted, 2);
}

/* It has spoken version 2 before, so it is ill and not old: no end before retry_ns. */
static void only_two_against_sudden_silence(void **state)
{
	w.options.version = V2;
	start();
	take_connection();
	serve_two();
	raw_close(&w.peer);
	call();
	for (int i = 0; i < 4; i++)
		answer_by_closing();
	take_connection();
	serve_two();
	assert_false(w.final);
}

static void only_one(void **state)
{
	w.options.version = V1;
	start();
	take_connection();
	serve_one();
	call();
	serve_one();
	assert_int_equal(w.accepted, 1);
}

static void only_one_against_one_that_refuses(void **state)
{
	w.options.version = V1;
	start();
	take_connection();
	REFUSE(expect_call_of_one(), 1, 0x20, 4, 1, 2, 2);
	await_done();
	while (!w.final)
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
	assert_int_equal(w.last_error, -EPROTONOSUPPORT);
	nobody_knocks(100);
	assert_int_equal(w.accepted, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	        TEST(version_two_server),
	        TEST(without_features_there_are_the_base_properties),
	        TEST(one_message_until_the_answer),
	        TEST(one_restart_changes_nothing),
	        TEST(linux_server),
	        TEST(libevpl_server),
	        TEST(server_that_cannot_parse),
	        TEST(server_that_speaks_the_later_layout),
	        TEST(sizes_of_version_one),
	        TEST(sizes_that_nobody_named),
	        TEST(server_that_refuses_and_closes),
	        TEST(server_that_refuses_both),
	        TEST(no_version_in_range),
	        TEST(range_upside_down),
	        TEST(server_that_never_answers),
	        TEST(server_that_closes),
	        TEST(server_that_resets),
	        TEST(silence_and_closing_add_up),
	        TEST(no_reconnect_still_negotiates),
	        TEST(each_address_is_negotiated_with),
	        TEST(negotiation_is_not_hidden_for_ever),
	        TEST(failed_set_up_is_no_answer),
	        TEST(memory_expires),
	        TEST(version_two_is_remembered_instead),
	        TEST(only_two_against_one_that_refuses),
	        TEST(only_two_against_silence),
	        TEST(only_two_against_sudden_silence),
	        TEST(only_one),
	        TEST(only_one_against_one_that_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
