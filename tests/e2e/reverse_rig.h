/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client and a server that offer the same procedures and call each other, in
 * one engine over software iWARP.  For the tests of calls in reverse.
 */
#ifndef REVERSE_RIG_H
#define REVERSE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { PROG = 0x40000000, VERS = 1, MS = 1000000, BIG = 300001 };
enum { P_NULL, P_SUM, P_FILL, P_LATER, P_PARK, P_BIND, P_NEST, N_PROCS };

/* One end as it serves. */
struct end {
	unsigned executed, n_parked;
	struct rpcrdma_request *parked[16];
	uint32_t xids[16]; /* of those parked, in order */
};

struct world {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service, *callbacks;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;           /* the client's */
	struct rpcrdma_conn *back;           /* the server's object for it */
	struct rpcrdma_conn_options options; /* the client's */
	struct rpcrdma_conn_options listen_options;
	struct end server, client;
	uint64_t retry_ns;
	char port[16];
	unsigned ups, downs;
	int bind_status;
};

static struct world w;

struct wait {
	unsigned done;
	int status;
	struct rpcrdma_reply reply;
	uint8_t results[64];
};

static inline uint8_t pattern(uint32_t seed, size_t i)
{
	return (uint8_t)((i * 2654435761u + seed * 40503u) >> 7);
}

static inline uint32_t be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return ntohl(v);
}

static inline void put32(void *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
}

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* -- what either end serves -------------------------------------------------------- */

static inline void h_null(struct rpcrdma_request *q, void *arg)
{
	((struct end *)arg)->executed++;
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

/* seed, length, item: checks the pattern; answers 1 for right. */
static inline void h_sum(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_piece *p;
	unsigned n = rpcrdma_request_args(q, &p);
	uint8_t *out = rpcrdma_request_alloc(q, 4);
	struct rpcrdma_piece r = {out, 4, false};
	uint32_t seed = be32(p[0].base), len = be32((const uint8_t *)p[0].base + 4);
	uint32_t good = n >= 1, at = 0;

	((struct end *)arg)->executed++;
	for (unsigned k = 0; k < n; k++)
		for (size_t i = k ? 0 : 8; i < p[k].len && at < len; i++, at++)
			good &= ((const uint8_t *)p[k].base)[i] == pattern(seed, at);
	put32(out, good && at == len);
	assert_int_equal(rpcrdma_request_reply(q, &r, 1, NULL, NULL), 0);
}

/* seed, length, as an item or not: a pattern as result. */
static inline void h_fill(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_piece *p;
	struct rpcrdma_piece r[2];
	uint32_t seed, len, item;
	uint8_t *out;

	((struct end *)arg)->executed++;
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

static inline void *later_thread(void *arg)
{
	(void)rpcrdma_request_reply(arg, NULL, 0, NULL, NULL);
	return NULL;
}

static inline void h_later(struct rpcrdma_request *q, void *arg)
{
	pthread_t t;

	((struct end *)arg)->executed++;
	assert_int_equal(pthread_create(&t, NULL, later_thread, q), 0);
	pthread_detach(t);
}

static inline void h_park(struct rpcrdma_request *q, void *arg)
{
	struct end *e = arg;

	assert_true(e->n_parked < 16);
	e->xids[e->n_parked] = rpcrdma_request_xid(q);
	e->parked[e->n_parked++] = q;
}

/* The first makes the server's object for its client, later ones rebind it. */
static inline void h_bind(struct rpcrdma_request *q, void *arg)
{
	if (w.back)
		w.bind_status = rpcrdma_conn_rebind(w.back, q);
	else
		w.bind_status = rpcrdma_request_reverse(q, w.retry_ns, &w.back);
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static inline void nested(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                          void *arg)
{
	if (r->status)
		assert_int_equal(rpcrdma_request_error(arg, RPCRDMA_SYSTEM_ERR, 0), 0);
	else
		assert_int_equal(rpcrdma_request_reply(arg, NULL, 0, NULL, NULL), 0);
}

/* Answers when the peer has answered a call of its own; depth as argument. */
static inline void h_nest(struct rpcrdma_request *q, void *arg)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	const struct rpcrdma_piece *p;
	uint8_t *depth = rpcrdma_request_alloc(q, 4);
	struct rpcrdma_piece a = {depth, 4, false};
	uint32_t left;

	((struct end *)arg)->executed++;
	assert_int_equal(rpcrdma_request_args(q, &p), 1);
	left = be32(p[0].base);
	put32(depth, left - 1);
	o.program = PROG;
	o.version = VERS;
	o.procedure = left > 1 ? P_NEST : P_NULL;
	o.args = &a;
	o.n_args = left > 1;
	o.done = nested;
	o.arg = q;
	assert_int_equal(rpcrdma_call(arg == &w.server ? w.back : w.conn, &o, NULL), 0);
}

static const struct rpcrdma_procedure procs[N_PROCS] = {
        [P_NULL] = {"NULL", h_null, 0, 0, 0, false},
        [P_SUM] = {"SUM", h_sum, 1, 0, 0, false},
        [P_FILL] = {"FILL", h_fill, 0, 1, 0, false},
        [P_LATER] = {"LATER", h_later, 0, 0, 0, false},
        [P_PARK] = {"PARK", h_park, 0, 0, 0, false},
        [P_BIND] = {"BIND", h_bind, 0, 0, 0, false},
        [P_NEST] = {"NEST", h_nest, 0, 0, 0, false},
};

static const struct rpcrdma_program program = {PROG, VERS, procs, N_PROCS};

/* -- the world ------------------------------------------------------------- */

static inline void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	if (error)
		w.downs++;
	else
		w.ups++;
}

static inline int set_up(void **state)
{
	memset(&w, 0, sizeof(w));
	w.options = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	w.options.reconnect_min_ns = 5 * MS;
	w.options.reconnect_max_ns = 20 * MS;
	w.listen_options = w.options;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_new(&w.callbacks), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, &w.server), 0);
	assert_int_equal(rpcrdma_service_add(w.callbacks, &program, &w.client), 0);
	w.options.callbacks = w.callbacks;
	return 0;
}

static inline void listen_at(const char *address)
{
	struct sockaddr_storage sa;

	assert_int_equal(rpcrdma_listen(w.engine, address, &w.listen_options, w.service,
	                                8, &w.listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(w.port, sizeof(w.port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
}

static inline void connect_client(struct rpcrdma_conn **ret)
{
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", w.port, &w.options,
	                                 on_event, NULL, ret),
	                 0);
}

static inline void answer_parked(struct end *e)
{
	for (unsigned i = 0; i < e->n_parked; i++)
		(void)rpcrdma_request_reply(e->parked[i], NULL, 0, NULL, NULL);
	e->n_parked = 0;
}

static inline int tear_down(void **state)
{
	uint64_t end = now_ns() + 5000ull * MS;

	rpcrdma_conn_close(w.back);
	rpcrdma_conn_close(w.conn);
	rpcrdma_listener_close(w.listener, 0);
	answer_parked(&w.server);
	answer_parked(&w.client);
	while (!rpcrdma_engine_idle(w.engine) && now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
	assert_true(rpcrdma_engine_idle(w.engine));
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	rpcrdma_service_free(w.callbacks);
	return 0;
}

static inline void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                           void *arg)
{
	struct wait *x = arg;

	x->done++;
	x->status = r->status;
	x->reply = *r;
	if (r->results && r->len <= sizeof(x->results))
		memcpy(x->results, r->results, r->len);
}

static inline struct rpcrdma_call_options call_to(uint32_t proc, struct wait *x)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	memset(x, 0, sizeof(*x));
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.timeout_ns = 20000ull * MS;
	o.done = on_done;
	o.arg = x;
	return o;
}

static inline void spin_until(const unsigned *flag, unsigned want)
{
	uint64_t end = now_ns() + 30000ull * MS;

	while (*flag < want && now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 100), 0);
	assert_true(*flag >= want);
}

static inline void spin_for(uint64_t ms)
{
	uint64_t end = now_ns() + ms * MS;

	while (now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
}

static inline int run(struct rpcrdma_conn *c, struct rpcrdma_call_options *o,
                      struct wait *x)
{
	assert_int_equal(rpcrdma_call(c, o, NULL), 0);
	spin_until(&x->done, 1);
	assert_int_equal(x->done, 1);
	return x->status;
}

/* The client @c says who it is. */
static inline void bind_over(struct rpcrdma_conn *c)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_BIND, &x);

	w.bind_status = 1;
	assert_int_equal(run(c, &o, &x), 0);
}

static inline void start(void)
{
	listen_at("127.0.0.1:0");
	connect_client(&w.conn);
	bind_over(w.conn);
	assert_int_equal(w.bind_status, 0);
	assert_non_null(w.back);
}

/* The network takes the client's connections, or those of any one process. */
static inline void cut(void)
{
	struct sockaddr_in sa;

	for (int fd = 3; fd < 256; fd++) {
		socklen_t len = sizeof(sa);

		if (getpeername(fd, (struct sockaddr *)&sa, &len) == 0 &&
		    sa.sin_family == AF_INET && ntohs(sa.sin_port) == atoi(w.port))
			assert_int_equal(shutdown(fd, SHUT_RDWR), 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
