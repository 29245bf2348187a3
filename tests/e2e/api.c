/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public interface end to end over software iWARP: a client and a server
 * in one engine, or in threads where a test says so.  The oracle is the octet
 * pattern that each side computes by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { PROG = 0x20049000, VERS = 1, MS = 1000000 };
enum { P_NULL, P_SUM, P_FILL, P_LATER, P_NEVER, P_NO_SUCH, P_AUTH, P_HOARD };

struct world {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	struct rpcrdma_conn_options options;
	char port[16];
	unsigned ups, downs;
	int last_error;
	struct rpcrdma_request *parked[64];
	unsigned n_parked, n_never;
	unsigned executed;
	uint32_t xids[64];
};

static struct world w;

static uint8_t pattern(uint32_t seed, size_t i)
{
	return (uint8_t)((i * 2654435761u + seed * 40503u) >> 7);
}

static uint32_t be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return ntohl(v);
}

static void put32(void *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* -- the service ---------------------------------------------------------------- */

static void h_null(struct rpcrdma_request *q, void *arg)
{
	w.executed++;
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

/* seed, length, item: checks the pattern; answers 1 for right. */
static void h_sum(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_piece *p;
	unsigned n = rpcrdma_request_args(q, &p);
	const uint8_t *item;
	uint32_t seed, len, good = 1;
	uint8_t *out = rpcrdma_request_alloc(q, 4);
	struct rpcrdma_piece r = {out, 4, false};

	w.executed++;
	if (w.executed < 64)
		w.xids[w.executed] = rpcrdma_request_xid(q);
	if (n == 0 || p[0].len < 8) {
		assert_int_equal(rpcrdma_request_error(q, RPCRDMA_GARBAGE_ARGS, 0), 0);
		return;
	}
	seed = be32(p[0].base);
	len = be32((const uint8_t *)p[0].base + 4);
	if (p[0].len == 8) {
		assert_true(len == 0 || n == 2);
		item = len ? p[1].base : NULL;
		if (len)
			assert_true(p[1].len == len);
	} else {
		item = (const uint8_t *)p[0].base + 8;
		assert_true(p[0].len >= 8 + len);
	}
	for (uint32_t i = 0; i < len; i++)
		good &= item[i] == pattern(seed, i);
	put32(out, good);
	assert_int_equal(rpcrdma_request_reply(q, &r, 1, NULL, NULL), 0);
}

/* seed, length, as an item or not: a pattern as result. */
static void h_fill(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_piece *p;
	uint32_t seed, len, item;
	struct rpcrdma_piece r[2];
	uint8_t *out;

	w.executed++;
	assert_int_equal(rpcrdma_request_args(q, &p), 1);
	seed = be32(p[0].base);
	len = be32((const uint8_t *)p[0].base + 4);
	item = be32((const uint8_t *)p[0].base + 8);
	out = rpcrdma_request_alloc(q, 4 + (size_t)len + 3);
	assert_non_null(out);
	put32(out, len);
	memset(out + 4 + len, 0, 3);
	for (uint32_t i = 0; i < len; i++)
		out[4 + i] = pattern(seed, i);
	r[0] = (struct rpcrdma_piece){out, 4, false};
	r[1] = (struct rpcrdma_piece){out + 4, item ? len : (len + 3) & ~3u, item != 0};
	assert_int_equal(rpcrdma_request_reply(q, r, 2, NULL, NULL), 0);
}

static void *later_thread(void *arg)
{
	struct rpcrdma_request *q = arg;
	uint8_t *out = rpcrdma_request_alloc(q, 4);
	struct rpcrdma_piece r = {out, 4, false};

	put32(out, 77);
	(void)rpcrdma_request_reply(q, &r, 1, NULL, NULL);
	return NULL;
}

static void h_later(struct rpcrdma_request *q, void *arg)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, later_thread, q), 0);
	pthread_detach(t);
}

static void h_never(struct rpcrdma_request *q, void *arg)
{
	w.n_never++;
	assert_true(w.n_parked < 64);
	w.parked[w.n_parked++] = q;
}

/* Parks as well, with a megabyte. */
static void h_hoard(struct rpcrdma_request *q, void *arg)
{
	/* All but 4 KiB of the connection's 256: less than another request takes. */
	assert_null(rpcrdma_request_alloc(q, 256 << 10));
	assert_non_null(rpcrdma_request_alloc(q, 248 << 10));
	h_never(q, arg);
}

static void h_auth(struct rpcrdma_request *q, void *arg)
{
	assert_int_equal(rpcrdma_request_error(q, RPCRDMA_AUTH_ERROR, 5), 0);
}

static const struct rpcrdma_procedure procs[] = {
        [P_NULL] = {"NULL", h_null, 0, 0, 0},
        [P_SUM] = {"SUM", h_sum, 1, 0, 0},
        [P_FILL] = {"FILL", h_fill, 0, 1, 0},
        [P_LATER] = {"LATER", h_later, 0, 0, 0},
        [P_NEVER] = {"NEVER", h_never, 0, 0, 0},
        [P_NO_SUCH] = {0},
        [P_AUTH] = {"AUTH", h_auth, 0, 0, 0},
        [P_HOARD] = {"HOARD", h_hoard, 0, 0, 0},
};

static const struct rpcrdma_program program = {PROG, VERS, procs, 8};

/* -- the world ------------------------------------------------------------- */

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	if (error)
		w.downs++;
	else
		w.ups++;
	w.last_error = error;
}

static void listen_at(const char *address)
{
	struct sockaddr_storage sa;

	assert_int_equal(rpcrdma_listen(w.engine, address, &w.options, w.service, 8,
	                                &w.listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(w.port, sizeof(w.port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
}

static int set_up(void **state)
{
	memset(&w, 0, sizeof(w));
	w.options = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	w.options.reconnect_min_ns = 5 * MS;
	w.options.reconnect_max_ns = 20 * MS;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), -EEXIST);
	return 0;
}

static void start(void)
{
	listen_at("127.0.0.1:0");
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", w.port, &w.options,
	                                 on_event, NULL, &w.conn),
	                 0);
}

static void answer_parked(void)
{
	for (unsigned i = 0; i < w.n_parked; i++)
		(void)rpcrdma_request_reply(w.parked[i], NULL, 0, NULL, NULL);
	w.n_parked = 0;
}

static int tear_down(void **state)
{
	uint64_t end = now_ns() + 5000ull * MS;

	rpcrdma_conn_close(w.conn);
	rpcrdma_listener_close(w.listener, 0);
	answer_parked();
	while (!rpcrdma_engine_idle(w.engine) && now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
	assert_true(rpcrdma_engine_idle(w.engine));
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	return 0;
}

struct wait {
	unsigned done;
	int status;
	struct rpcrdma_reply reply;
	uint8_t results[64];
};

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct wait *x = arg;

	x->done++;
	x->status = r->status;
	x->reply = *r;
	if (r->results && r->len <= sizeof(x->results))
		memcpy(x->results, r->results, r->len);
}

static struct rpcrdma_call_options call_to(uint32_t proc, struct wait *x)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.timeout_ns = 20000ull * MS;
	o.done = on_done;
	o.arg = x;
	return o;
}

static void spin_until(const unsigned *flag, unsigned want)
{
	uint64_t end = now_ns() + 30000ull * MS;

	while (*flag < want && now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 100), 0);
	assert_true(*flag >= want);
}

static int run(struct rpcrdma_call_options *o, struct wait *x)
{
	memset(x, 0, sizeof(*x));
	o->done = on_done;
	o->arg = x;
	assert_int_equal(rpcrdma_call(w.conn, o, NULL), 0);
	spin_until(&x->done, 1);
	assert_int_equal(x->done, 1);
	return x->status;
}

/* -- tests ----------------------------------------------------------------- */

static void null_call_and_what_was_negotiated(void **state)
{
	struct rpcrdma_conn_info info;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	start();
	assert_int_equal(run(&o, &x), 0);
	assert_int_equal(x.reply.len, 0);
	rpcrdma_conn_get_info(w.conn, &info, sizeof(info));
	assert_true(info.connected);
	assert_int_equal(info.version, 2);
	assert_string_equal(info.provider, "iwarp");
	assert_int_equal(info.send_inline, 4096);
	assert_int_equal(info.recv_inline, 4096);
	assert_int_equal(w.ups, 1);
	assert_int_equal(w.downs, 0);
}

static const uint32_t sizes[] = {0,     1,     3,           4,       5,       511,
                                 1000,  4000,  4096,        4097,    8191,    65535,
                                 65536, 70001, 1048576 - 1, 1048576, 1048577, 3000001};

static void arguments_of_every_size_arrive_by_every_path(void **state)
{
	struct rpcrdma_stats st;

	start();
	for (unsigned mode = 0; mode < 3; mode++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			uint32_t len = sizes[i];
			uint8_t head[8], *body = malloc(len + 4);
			struct rpcrdma_piece a[2] = {
			        {head, 8, false},
			        {body, mode ? (len + 3) & ~3u : len, mode == 0},
			};
			struct wait x;
			struct rpcrdma_call_options o = call_to(P_SUM, &x);

			put32(head, len + mode);
			put32(head + 4, len);
			for (uint32_t k = 0; k < len; k++)
				body[k] = pattern(len + mode, k);
			memset(body + len, 0, 4);
			o.args = a;
			o.n_args = 2;
			o.force_special = mode == 2;
			assert_int_equal(run(&o, &x), 0);
			assert_int_equal(x.reply.len, 4);
			assert_int_equal(be32(x.results), 1);
			free(body);
		}
	}
	rpcrdma_conn_get_stats(w.conn, &st, sizeof(st));
	assert_true(st.bytes_read_chunk > 4000000);
	assert_true(st.bytes_continued > 4000000);
	assert_true(st.bytes_special_call > 4000000);
	assert_true(st.registrations ==
	            st.local_invalidations + st.remote_invalidations);
}

static uint8_t *grab;
static size_t grab_len;

static void on_done_grab(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                         void *arg)
{
	grab = malloc(r->len ? r->len : 1);
	grab_len = r->len;
	if (r->len)
		memcpy(grab, r->results, r->len);
	on_done(k, r, arg);
}

static struct rpcrdma_stats fetch_every_size(const char *features)
{
	struct rpcrdma_stats st;

	w.options.features = features;
	start();
	for (unsigned mode = 0; mode < 3; mode++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			uint32_t len = sizes[i], seed = len * 3 + mode;
			uint8_t args[12], *room = malloc(len + 64);
			struct rpcrdma_piece a = {args, 12, false};
			struct rpcrdma_dest d = {.base = room, .len = len};
			const uint8_t *got;
			struct wait x = {0};
			struct rpcrdma_call_options o = call_to(P_FILL, &x);

			memset(room, 0xee, len + 64);
			put32(args, seed);
			put32(args + 4, len);
			put32(args + 8, mode < 2);
			o.args = &a;
			o.n_args = 1;
			if (mode == 0 && len) { /* a Write chunk */
				o.dests = &d;
				o.n_dests = 1;
			} else if (mode == 1) { /* a Reply chunk when large */
				o.reply_bytes = 4 + len + 3;
			}
			o.done = on_done_grab;
			assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
			spin_until(&x.done, 1);
			assert_int_equal(x.status, 0);
			assert_int_equal(be32(grab), len);
			if (mode == 0 && len) {
				assert_true(d.ret_used);
				assert_int_equal(d.ret_len, len);
				assert_int_equal(grab_len, 4);
				got = room;
			} else {
				assert_int_equal(grab_len, 4 + ((len + 3) & ~3u));
				got = grab + 4;
			}
			for (uint32_t k = 0; k < len; k++)
				assert_int_equal(got[k], pattern(seed, k));
			for (unsigned k = 0; k < 64; k++)
				assert_int_equal(room[len + k], 0xee);
			free(grab);
			free(room);
		}
	}
	rpcrdma_conn_get_stats(w.conn, &st, sizeof(st));
	assert_true(st.bytes_write_chunk > 4000000);
	return st;
}

static void results_of_every_size_arrive_by_every_path(void **state)
{
	struct rpcrdma_stats st = fetch_every_size("none");

	assert_true(st.bytes_reply_chunk > 1000000);
	assert_true(st.bytes_continued > 1000000);
}

static void long_results_are_read_by_default(void **state)
{
	struct rpcrdma_stats st = fetch_every_size(NULL);

	assert_true(st.bytes_reply_pulled > 100000); /* up to 1 MiB each */
	assert_true(st.bytes_reply_chunk > 1000000);
}

static void rpc_errors_reach_the_caller(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	start();
	o.program = PROG + 1;
	assert_int_equal(run(&o, &x), RPCRDMA_PROG_UNAVAIL);
	o.program = PROG;
	o.version = 9;
	assert_int_equal(run(&o, &x), RPCRDMA_PROG_MISMATCH);
	assert_int_equal(x.reply.low, VERS);
	assert_int_equal(x.reply.high, VERS);
	o.version = VERS;
	o.procedure = P_NO_SUCH;
	assert_int_equal(run(&o, &x), RPCRDMA_PROC_UNAVAIL);
	o.procedure = 1000000;
	assert_int_equal(run(&o, &x), RPCRDMA_PROC_UNAVAIL);
	o.procedure = P_SUM;
	assert_int_equal(run(&o, &x), RPCRDMA_GARBAGE_ARGS);
	o.procedure = P_AUTH;
	assert_int_equal(run(&o, &x), RPCRDMA_AUTH_ERROR);
	assert_int_equal(x.reply.auth_stat, 5);
	o.procedure = P_NULL;
	assert_int_equal(run(&o, &x), 0);
}

/* V2-7.3.4-01..03, V2-7.3.1-01, -04, V2-7.3.2-01, -02, V2-A.1-03, V2-A.1-05: more
 * chunks than the binding allows are left out; a small one is an error. */
static void chunks_against_the_binding_get_the_specified_errors(void **state)
{
	uint8_t args[12], room[5000], *big = calloc(1, 70000);
	struct rpcrdma_piece a[2] = {{args, 12, false}};
	struct rpcrdma_dest d[2] = {{.base = room, .len = 999},
	                            {.base = room + 1000, .len = 999}};
	struct rpcrdma_stats st;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_FILL, &x);

	start();
	put32(args, 1);
	put32(args + 4, 1000);
	put32(args + 8, 1);
	o.args = a;
	o.n_args = 1;
	o.dests = d;
	o.n_dests = 1;
	assert_int_equal(run(&o, &x), RPCRDMA_TRANSPORT_ERROR);
	assert_int_equal(x.reply.transport_error, 9); /* WRITE_RESOURCE */
	assert_int_equal(x.reply.a, 1); /* first chunk, counted from one */
	assert_int_equal(x.reply.b, 1000);
	d[0].len = 1000;
	o.n_dests = 2;
	assert_int_equal(run(&o, &x), 0); /* after WRITE_CHUNKS, 1 */
	assert_true(d[0].ret_used && !d[1].ret_used);
	assert_int_equal(d[0].ret_len, 1000);
	assert_ptr_equal(d[0].ret_base, room);
	rpcrdma_conn_get_stats(w.conn, &st, sizeof(st));
	assert_int_equal(st.errors_received, 2);
	assert_int_equal(st.recoveries, 1);
	o = call_to(P_NULL, &x);
	a[1] = (struct rpcrdma_piece){big, 70000, true};
	put32(args + 8, 70000);
	o.args = a;
	o.n_args = 2;
	w.executed = 0;
	assert_int_equal(run(&o, &x), 0); /* after READ_CHUNKS, 0 */
	assert_int_equal(w.executed, 1);
	rpcrdma_conn_get_stats(w.conn, &st, sizeof(st));
	assert_int_equal(st.errors_received, 3);
	assert_int_equal(st.recoveries, 2);
	free(big);
}

static void many_calls_finish_with_two_credits(void **state)
{
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	w.options.credits = 2;
	start();
	for (unsigned i = 0; i < 500; i++)
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.done, 500);
	assert_int_equal(w.executed, 500);
}

static void the_most_credits_there_are_work(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	w.options.credits = 2047;
	start();
	assert_int_equal(run(&o, &x), 0);
	assert_int_equal(w.ups, 1);
	assert_int_equal(w.downs, 0);
}

static void answers_come_from_other_threads(void **state)
{
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_LATER, &x);

	start();
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.done, 50);
	assert_int_equal(x.status, 0);
	assert_int_equal(be32(x.results), 77);
}

static void timeout_and_cancel_end_a_call_once(void **state)
{
	struct wait x = {0}, y = {0};
	struct rpcrdma_call_options o = call_to(P_NEVER, &x);
	struct rpcrdma_call *k;

	start();
	o.timeout_ns = 30 * MS;
	assert_int_equal(run(&o, &x), -ETIMEDOUT);
	o.timeout_ns = 0;
	o.arg = &y;
	assert_int_equal(rpcrdma_call(w.conn, &o, &k), 0);
	spin_until(&w.n_never, 2);
	rpcrdma_call_cancel(k);
	assert_int_equal(y.done, 0);
	spin_until(&y.done, 1);
	assert_int_equal(y.status, -ECANCELED);
	answer_parked(); /* late replies match nothing */
	o = call_to(P_NULL, &x);
	assert_int_equal(run(&o, &x), 0);
	assert_int_equal(y.done, 1);
}

/* V2-4.5.5-01, V2-7.5-01 */
static void calls_survive_a_server_restart_under_their_xid(void **state)
{
	uint8_t head[8];
	struct rpcrdma_piece a = {head, 8, false};
	struct wait x = {0}, y = {0};
	struct rpcrdma_call_options o = call_to(P_NEVER, &x);
	struct rpcrdma_stats st;
	char address[32];

	start();
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&w.n_never, 1);
	snprintf(address, sizeof(address), "127.0.0.1:%s", w.port);
	rpcrdma_listener_close(w.listener, 0);
	answer_parked();
	w.listener = NULL;
	spin_until(&w.downs, 1);
	if (!x.done) /* the drained answer may just have made it */
		assert_int_equal(x.done, 0);
	put32(head, 0);
	put32(head + 4, 0);
	o = call_to(P_SUM, &y);
	o.args = &a;
	o.n_args = 1;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	listen_at(address);
	spin_until(&w.ups, 2);
	spin_until(&y.done, 1);
	assert_int_equal(y.status, 0);
	if (!x.done) {
		spin_until(&w.n_never, 2);
		answer_parked();
		spin_until(&x.done, 1);
		rpcrdma_conn_get_stats(w.conn, &st, sizeof(st));
		assert_true(st.retransmits >= 1);
	}
	rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	assert_true(st.reconnects >= 1);
	assert_int_equal(x.status, 0);
}

static void unreachable_server_is_reported_and_given_up(void **state)
{
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	w.options.retry_ns = 100 * MS;
	start();
	rpcrdma_conn_close(w.conn);
	rpcrdma_listener_close(w.listener, 0);
	w.listener = NULL;
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", w.port, &w.options,
	                                 on_event, NULL, &w.conn),
	                 0);
	assert_int_equal(run(&o, &x), -EHOSTUNREACH);
	assert_true(w.downs > 1);
	assert_int_equal(w.last_error, -ECONNREFUSED);
	rpcrdma_conn_close(w.conn);
	w.options.no_reconnect = true;
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", w.port, &w.options,
	                                 on_event, NULL, &w.conn),
	                 0);
	assert_int_equal(run(&o, &x), -ECONNREFUSED);
	assert_int_equal(rpcrdma_connect(w.engine, "no.such.host.invalid", NULL, NULL,
	                                 NULL, NULL, &w.conn),
	                 -ENXIO);
}

static int raw_connect(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
	                         .sin_port = htons((uint16_t)atoi(w.port)),
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static void strangers_do_not_disturb_the_others(void **state)
{
	static const char garbage[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct rpcrdma_stats st;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);
	uint64_t end;
	int half, bad, silent;

	w.options.handshake_ns = 200 * MS;
	start();
	half = raw_connect();
	bad = raw_connect();
	silent = raw_connect();
	assert_int_equal(write(half, "MPA ID Re", 9), 9);
	assert_int_equal(write(bad, garbage, sizeof(garbage)), sizeof(garbage));
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(run(&o, &x), 0);
	end = now_ns() + 10000ull * MS;
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
		rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	} while (st.connections_open > 2 && now_ns() < end);
	assert_int_equal(st.connections_open, 2); /* our own two ends */
	assert_int_equal(run(&o, &x), 0);
	close(half);
	close(bad);
	close(silent);
}

/* A process of its own that calls and then waits to be killed. */
static pid_t spawn_caller(unsigned calls)
{
	struct rpcrdma_engine *e;
	struct rpcrdma_conn *c;
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_NEVER, &x);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (rpcrdma_engine_new(NULL, &e) ||
	    rpcrdma_connect(e, "127.0.0.1", w.port, &w.options, NULL, NULL, &c))
		_exit(1);
	while (calls--)
		if (rpcrdma_call(c, &o, NULL))
			_exit(1);
	(void)rpcrdma_engine_run(e);
	_exit(1);
}

/* Has a client call 20 times, kills it, and waits until its connection has ended. */
static void lose_a_caller(void)
{
	struct rpcrdma_stats before, after;
	uint64_t end = now_ns() + 10000ull * MS;
	unsigned parked = w.n_never;
	pid_t pid;

	rpcrdma_engine_get_stats(w.engine, &before, sizeof(before));
	pid = spawn_caller(20);
	spin_until(&w.n_never, parked + 20);
	rpcrdma_engine_get_stats(w.engine, &after, sizeof(after));
	assert_int_equal(after.connections_open, before.connections_open + 1);
	assert_true(after.held_bytes > before.held_bytes);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	answer_parked(); /* answers to nobody */
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		rpcrdma_engine_get_stats(w.engine, &after, sizeof(after));
	} while (after.connections_open != before.connections_open && now_ns() < end);
	assert_int_equal(after.connections_open, before.connections_open);
}

/* The first client that is lost leaves objects that the engine's connections share. */
static void killed_client_leaves_nothing_behind(void **state)
{
	struct rpcrdma_stats before, after;
	struct wait y;
	struct rpcrdma_call_options o = call_to(P_NULL, &y);

	start();
	assert_int_equal(run(&o, &y), 0);
	lose_a_caller();
	rpcrdma_engine_get_stats(w.engine, &before, sizeof(before));
	lose_a_caller();
	rpcrdma_engine_get_stats(w.engine, &after, sizeof(after));
	assert_int_equal(after.held_bytes, before.held_bytes);
	assert_int_equal(run(&o, &y), 0);
}

/* Eight may be; what never became ready makes room, the client that calls stays. */
static void connections_beyond_the_limit_push_out_silent_ones(void **state)
{
	struct rpcrdma_stats st;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);
	uint64_t end = now_ns() + 10000ull * MS;
	int fd[12];
	char c;

	start();
	assert_int_equal(run(&o, &x), 0);
	for (unsigned i = 0; i < 12; i++)
		fd[i] = raw_connect();
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	} while ((st.connections_evicted < 5 || st.connections_open > 9) &&
	         now_ns() < end);
	assert_int_equal(st.connections_evicted, 5);
	assert_int_equal(st.connections_refused, 0);
	assert_true(st.connections_open <= 9); /* eight and our client's end */
	for (unsigned i = 0; i < 12; i++)      /* the oldest went */
		assert_int_equal(recv(fd[i], &c, 1, MSG_DONTWAIT) < 0 &&
		                         errno == EAGAIN,
		                 i >= 5);
	assert_int_equal(run(&o, &x), 0);
	assert_int_equal(w.ups, 1);
	for (unsigned i = 0; i < 12; i++)
		close(fd[i]);
}

/* A child process keeps copies of the descriptors, so closing one does not take it out
 * of the set that epoll watches.  Events of an evicted connection must not arrive. */
static void connections_pushed_out_are_watched_no_more(void **state)
{
	struct rpcrdma_stats st;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);
	uint64_t end = now_ns() + 10000ull * MS;
	int fd[12];
	pid_t pid;

	start();
	assert_true(rpcrdma_engine_fd(w.engine) >= 0); /* by epoll, not poll */
	assert_int_equal(run(&o, &x), 0);
	for (unsigned i = 0; i < 7; i++)
		fd[i] = raw_connect();
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	} while (st.connections_open < 9 && now_ns() < end);
	assert_int_equal(st.connections_open, 9);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	for (unsigned i = 7; i < 12; i++)
		fd[i] = raw_connect();
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	} while (st.connections_evicted < 5 && now_ns() < end);
	assert_int_equal(st.connections_evicted, 5);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(shutdown(fd[i], SHUT_WR), 0);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(run(&o, &x), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (unsigned i = 0; i < 12; i++)
		close(fd[i]);
}

/* The handlers have a Call of each: none may go. */
static void connections_with_calls_are_not_pushed_out(void **state)
{
	struct rpcrdma_stats st;
	struct wait x = {0};
	struct rpcrdma_call_options never = call_to(P_NEVER, &x);
	uint64_t end = now_ns() + 10000ull * MS;
	pid_t pid[7];
	int fd;

	start();
	assert_int_equal(rpcrdma_call(w.conn, &never, NULL), 0);
	for (unsigned i = 0; i < 7; i++)
		pid[i] = spawn_caller(1);
	spin_until(&w.n_never, 8);
	fd = raw_connect();
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	} while (!st.connections_refused && now_ns() < end);
	assert_int_equal(st.connections_refused, 1);
	assert_int_equal(st.connections_evicted, 0);
	close(fd);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(kill(pid[i], SIGKILL), 0);
		assert_int_equal(waitpid(pid[i], NULL, 0), pid[i]);
	}
	answer_parked();
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

static void addresses_can_have_a_limit(void **state)
{
	struct rpcrdma_stats st;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);
	uint64_t end = now_ns() + 10000ull * MS;
	int fd[4];

	w.options.max_per_address = 3; /* one of them is the client's */
	start();
	assert_int_equal(run(&o, &x), 0);
	for (unsigned i = 0; i < 4; i++)
		fd[i] = raw_connect();
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	} while ((st.connections_evicted < 2 || st.connections_open > 4) &&
	         now_ns() < end);
	assert_int_equal(st.connections_evicted, 2);
	assert_true(st.connections_open <= 4); /* three and our client's end */
	assert_int_equal(run(&o, &x), 0);
	assert_int_equal(w.ups, 1);
	for (unsigned i = 0; i < 4; i++)
		close(fd[i]);
}

/* Connected, and no Call: not for as long as one that was of use. */
static void a_client_that_never_calls_is_not_kept(void **state)
{
	uint64_t began = now_ns();

	w.options.handshake_ns = 300 * MS;
	start();
	spin_until(&w.downs, 1);
	assert_true(now_ns() - began < 5000ull * MS);
}

/* It has no calls, so it does not come back until it has one. */
static void a_client_without_calls_stays_away(void **state)
{
	struct rpcrdma_stats st;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);
	uint64_t end;

	w.options.idle_ns = 50 * MS;
	start();
	assert_int_equal(run(&o, &x), 0);
	spin_until(&w.downs, 1);
	for (end = now_ns() + 600ull * MS; now_ns() < end;)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	assert_int_equal(st.connections_open, 0);
	assert_int_equal(w.ups, 1);
	assert_int_equal(run(&o, &x), 0);
	assert_int_equal(w.ups, 2);
}

static void idle_connection_is_closed_and_opened_again(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	w.options.idle_ns = 50 * MS;
	start();
	assert_int_equal(run(&o, &x), 0);
	spin_until(&w.downs, 1);
	assert_int_equal(run(&o, &x), 0);
	assert_true(w.ups >= 2);
}

static void misuse_is_answered_not_executed(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);
	struct rpcrdma_conn_options bad = w.options;
	struct rpcrdma_conn *c;

	start();
	o.size = 1;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), -EINVAL);
	o = call_to(P_NULL, &x);
	o.done = NULL;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), -EINVAL);
	bad.provider = "verb";
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", w.port, &bad, NULL, NULL, &c),
	        -EINVAL);
	bad.provider = "auto:crc=0"; /* whose options? */
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", w.port, &bad, NULL, NULL, &c),
	        -EINVAL);
	bad = w.options;
	bad.credits = 1;
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", w.port, &bad, NULL, NULL, &c),
	        -EINVAL);
	bad.credits = 2048; /* both ends' would not fit a Receive queue */
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", w.port, &bad, NULL, NULL, &c),
	        -EINVAL);
	bad = w.options;
	bad.version = 3;
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", w.port, &bad, NULL, NULL, &c),
	        -EPROTONOSUPPORT);
}

static unsigned trace_lines;

static void count_line(void *arg, const char *json)
{
	trace_lines++;
	assert_true(json[0] == '{' && json[strlen(json) - 1] == '}');
}

static void trace_lines_are_json_objects(void **state)
{
	struct rpcrdma_engine_options eo =
	        RPCRDMA_OPTIONS(struct rpcrdma_engine_options);
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	rpcrdma_engine_free(w.engine);
	eo.trace = count_line;
	assert_int_equal(rpcrdma_engine_new(&eo, &w.engine), 0);
	start();
	assert_int_equal(run(&o, &x), 0);
	assert_true(trace_lines > 4);
}

/* -- callbacks that close and cancel -------------------------------------------- */

static void on_done_cancel_itself(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                                  void *arg)
{
	struct wait *x = arg;

	x->done++;
	x->status = r->status;
	rpcrdma_call_cancel(k); /* valid until we return, and harmless */
}

static void cancel_within_done_is_harmless(void **state)
{
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	start();
	o.done = on_done_cancel_itself;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	o.procedure = P_NEVER;
	o.timeout_ns = 20 * MS; /* ends through the link */
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.done, 2);
	rpcrdma_listener_close(w.listener, 0);
	w.listener = NULL;
	answer_parked();
	spin_until(&w.downs, 1);
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0); /* ends without one */
	spin_until(&x.done, 3);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	assert_int_equal(x.done, 3);
}

static struct rpcrdma_call *victim;

static void on_done_end_all(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                            void *arg)
{
	struct wait *x = arg;

	x->done++;
	rpcrdma_call_cancel(victim);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	rpcrdma_listener_close(w.listener, 0);
	w.listener = NULL;
}

static void everything_may_be_closed_within_done(void **state)
{
	struct wait x = {0}, y = {0};
	struct rpcrdma_call_options o = call_to(P_NEVER, &y);

	start();
	assert_int_equal(rpcrdma_call(w.conn, &o, &victim), 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	o = call_to(P_NULL, &x);
	o.done = on_done_end_all;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.done, 1);
	spin_until(&y.done, 6);
	assert_int_equal(y.status, -ECANCELED);
}

static void close_listener(void *arg)
{
	rpcrdma_listener_close(w.listener, 0);
	w.listener = NULL;
}

static void listener_closed_while_somebody_knocks(void **state)
{
	int fd;

	listen_at("127.0.0.1:0");
	/* One wait reports both: the post first, then the listener. */
	assert_int_equal(rpcrdma_engine_post(w.engine, close_listener, NULL), 0);
	fd = raw_connect();
	assert_int_equal(rpcrdma_engine_process(w.engine, 100), 0);
	assert_null(w.listener);
	close(fd);
}

/* -- scarce resources ------------------------------------------------------------- */

static void no_descriptors_is_no_reason_to_spin(void **state)
{
	struct rlimit old, low;
	struct rpcrdma_stats st;
	uint64_t end, before;
	int fd, next;

	listen_at("127.0.0.1:0");
	fd = raw_connect();
	next = dup(fd);
	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	before = st.syscalls;
	end = now_ns() + 300 * MS;
	while (now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
	rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(st.connections, 0);
	assert_true(st.syscalls - before < 100);
	end = now_ns() + 10000ull * MS;
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
		rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	} while (!st.connections && now_ns() < end);
	assert_int_equal(st.connections, 1);
	close(fd);
}

/* More RDMA operations at once than a send queue takes. */
static void many_small_segments_wait_for_the_queue(void **state)
{
	enum { CALLS = 128, BYTES = 60 * 4096 };
	static uint8_t args[CALLS][12];
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_FILL, &x);
	struct rpcrdma_dest *dest = calloc(CALLS, sizeof(*dest));
	struct rpcrdma_stats st;

	w.options.segment_bytes = 4096;
	w.options.max_segments = 64;
	w.options.credits = 256;
	w.options.max_held_bytes = 256u << 20;
	start();
	for (unsigned i = 0; i < CALLS; i++) {
		struct rpcrdma_piece a = {args[i], 12, false};

		put32(args[i], i);
		put32(args[i] + 4, BYTES);
		put32(args[i] + 8, 1);
		dest[i] = (struct rpcrdma_dest){.base = malloc(BYTES), .len = BYTES};
		o.args = &a;
		o.n_args = 1;
		o.dests = &dest[i];
		o.n_dests = 1;
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	}
	spin_until(&x.done, CALLS);
	for (unsigned i = 0; i < CALLS; i++) {
		assert_true(dest[i].ret_used);
		assert_int_equal(dest[i].ret_len, BYTES);
		assert_int_equal(((uint8_t *)dest[i].base)[BYTES - 1],
		                 pattern(i, BYTES - 1));
		free(dest[i].base);
	}
	free(dest);
	rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	assert_int_equal(w.downs, 0);
	assert_int_equal(st.retransmits, 0);
}

static void requests_without_a_caller_are_not_begun(void **state)
{
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_HOARD, &x);
	struct rpcrdma_stats st;
	uint64_t end = now_ns() + 10000ull * MS;

	w.options.max_held_bytes = 256 << 10;
	start();
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&w.n_never, 1);
	o.procedure = P_NULL;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0); /* held for memory */
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	spin_until(&x.done, 2);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	answer_parked();
	do {
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		rpcrdma_engine_get_stats(w.engine, &st, sizeof(st));
	} while (st.connections_open && now_ns() < end);
	assert_int_equal(st.connections_open, 0);
	assert_int_equal(w.executed, 0);
}

/* -- time -------------------------------------------------------------------------- */

static void fire(void *arg)
{
	(*(unsigned *)arg)++;
}

static void for_ever_is_not_at_once(void **state)
{
	unsigned fired = 0;
	struct rpcrdma_timer *t;
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_NEVER, &x);

	start();
	assert_int_equal(rpcrdma_timer_start(w.engine, UINT64_MAX, fire, &fired, &t),
	                 0);
	o.timeout_ns = UINT64_MAX;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&w.n_never, 1);
	rpcrdma_listener_close(w.listener, UINT64_MAX);
	w.listener = NULL;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	assert_int_equal(w.downs, 0);
	answer_parked();
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(fired, 0);
	rpcrdma_timer_cancel(t);
}

static void a_long_silence_is_not_an_unreachable_server(void **state)
{
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_NEVER, &x);
	uint64_t end;
	char address[32];

	w.options.retry_ns = 200 * MS;
	start();
	spin_until(&w.ups, 1);
	end = now_ns() + 300 * MS;
	while (now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&w.n_never, 1);
	snprintf(address, sizeof(address), "127.0.0.1:%s", w.port);
	rpcrdma_listener_close(w.listener, 0); /* ends the connection at once */
	spin_until(&w.downs, 1);
	answer_parked();
	listen_at(address);
	while (!x.done && w.n_never < 2)
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
	assert_int_equal(w.n_never, 2);
	answer_parked();
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

/* -- the rest -------------------------------------------------------------- */

static void procedures_count_octets_both_ways(void **state)
{
	uint8_t head[8];
	struct rpcrdma_piece a[2] = {{head, 8, false}, {NULL, 0, true}};
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_SUM, &x);
	struct rpcrdma_proc_stats st;
	uint8_t *item = malloc(100000);

	start();
	for (size_t i = 0; i < 100000; i++)
		item[i] = pattern(3, i);
	put32(head, 3);
	put32(head + 4, 100000);
	a[1].base = item;
	a[1].len = 100000;
	o.args = a;
	o.n_args = 2;
	assert_int_equal(run(&o, &x), 0);
	assert_int_equal(be32(x.results), 1);
	assert_int_equal(rpcrdma_service_get_stats(w.service, PROG, VERS, P_SUM, &st,
	                                           sizeof(st)),
	                 0);
	assert_int_equal(st.calls, 1);
	assert_int_equal(st.errors, 0);
	assert_int_equal(st.args_bytes, 100008);
	assert_int_equal(st.results_bytes, 4);
	free(item);
}

static void engine_with_live_objects_can_be_freed(void **state)
{
	unsigned fired = 0;
	struct wait x = {0};
	struct rpcrdma_call_options o = call_to(P_NEVER, &x);

	start();
	assert_int_equal(rpcrdma_timer_start(w.engine, MS, fire, &fired, NULL), 0);
	assert_int_equal(
	        rpcrdma_timer_start(w.engine, 100000ull * MS, fire, &fired, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&w.n_never, 3);
	assert_int_equal(rpcrdma_engine_post(w.engine, fire, &fired), 0);
	rpcrdma_engine_free(w.engine);
	assert_int_equal(x.done, 3);
	assert_int_equal(x.status, -ECANCELED);
	w.conn = NULL;
	w.listener = NULL;
	w.n_parked = 0;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	start(); /* and with one that did not even begin */
	rpcrdma_conn_close(w.conn);
	rpcrdma_engine_free(w.engine);
	w.conn = NULL;
	w.listener = NULL;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(null_call_and_what_was_negotiated),
	        TEST(arguments_of_every_size_arrive_by_every_path),
	        TEST(results_of_every_size_arrive_by_every_path),
	        TEST(long_results_are_read_by_default),
	        TEST(rpc_errors_reach_the_caller),
	        TEST(chunks_against_the_binding_get_the_specified_errors),
	        TEST(many_calls_finish_with_two_credits),
	        TEST(the_most_credits_there_are_work),
	        TEST(answers_come_from_other_threads),
	        TEST(timeout_and_cancel_end_a_call_once),
	        TEST(calls_survive_a_server_restart_under_their_xid),
	        TEST(unreachable_server_is_reported_and_given_up),
	        TEST(strangers_do_not_disturb_the_others),
	        TEST(killed_client_leaves_nothing_behind),
	        TEST(connections_beyond_the_limit_push_out_silent_ones),
	        TEST(connections_pushed_out_are_watched_no_more),
	        TEST(connections_with_calls_are_not_pushed_out),
	        TEST(addresses_can_have_a_limit),
	        TEST(a_client_that_never_calls_is_not_kept),
	        TEST(a_client_without_calls_stays_away),
	        TEST(idle_connection_is_closed_and_opened_again),
	        TEST(misuse_is_answered_not_executed),
	        TEST(trace_lines_are_json_objects),
	        TEST(cancel_within_done_is_harmless),
	        TEST(everything_may_be_closed_within_done),
	        TEST(listener_closed_while_somebody_knocks),
	        TEST(no_descriptors_is_no_reason_to_spin),
	        TEST(many_small_segments_wait_for_the_queue),
	        TEST(requests_without_a_caller_are_not_begun),
	        TEST(for_ever_is_not_at_once),
	        TEST(a_long_silence_is_not_an_unreachable_server),
	        TEST(procedures_count_octets_both_ways),
	        TEST(engine_with_live_objects_can_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
