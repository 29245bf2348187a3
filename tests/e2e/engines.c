/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listener with several engines, each with a thread, over software iWARP: connections
 * are spread and stay with their engine, limits count all of them, and calls are
 * executed once although they are repeated at another engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

#include "test_octets.h"

enum { PROG = 0x20049002, VERS = 1, ENGINES = 3, CLIENTS = 12, MS = 1000000 };
enum { P_NULL, P_WHERE, P_ONCE, P_PARK, P_BIND, P_REBIND, N_PROCS };

/* One of the server's engines. */
struct host {
	struct rpcrdma_engine *engine;
	pthread_t thread;
	atomic_uint served;
};

struct client {
	struct rpcrdma_conn *conn;
	unsigned done, downs;
	int status;
	uint32_t result;
};

static struct world {
	struct host host[ENGINES];
	unsigned hosts;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_engine *engine; /* the clients' */
	struct client client[CLIENTS];
	atomic_uint executed, ups, ends;
	struct rpcrdma_request *_Atomic parked;
	struct rpcrdma_conn *back;
	_Atomic int bind_status;
	struct rpcrdma_stats total; /* when all has ended */
	char port[16];
} w;

/* -- the service ----------------------------------------------------------- */

static uint32_t host_of_thread(void)
{
	for (unsigned i = 0; i < w.hosts; i++)
		if (pthread_equal(w.host[i].thread, pthread_self()))
			return i;
	return 99;
}

static void answer(struct rpcrdma_request *q, uint32_t result)
{
	uint32_t *out = rpcrdma_request_alloc(q, sizeof(*out));

	assert_non_null(out);
	*out = htonl(result);
	assert_int_equal(rpcrdma_request_reply(q,
	                                       &(struct rpcrdma_piece){out, 4, false},
	                                       1, NULL, NULL),
	                 0);
}

static void h_where(struct rpcrdma_request *q, void *arg)
{
	uint32_t i = host_of_thread();

	assert_true(i < w.hosts);
	w.host[i].served++;
	answer(q, i);
}

static void h_once(struct rpcrdma_request *q, void *arg)
{
	answer(q, atomic_fetch_add(&w.executed, 1));
}

static void h_park(struct rpcrdma_request *q, void *arg)
{
	w.executed++;
	atomic_store(&w.parked, q);
}

/* The object is not closed when its connection ends, see rpcrdma_conn_rebind. */
static void h_bind(struct rpcrdma_request *q, void *arg)
{
	atomic_store(&w.bind_status, rpcrdma_request_reverse(q, 0, &w.back));
	answer(q, host_of_thread());
}

static void h_rebind(struct rpcrdma_request *q, void *arg)
{
	atomic_store(&w.bind_status, rpcrdma_conn_rebind(w.back, q));
	answer(q, host_of_thread());
}

static const struct rpcrdma_procedure procs[N_PROCS] = {
        [P_WHERE] = {.name = "WHERE", .handler = h_where},
        [P_ONCE] = {.name = "ONCE", .handler = h_once, .execute_once = true},
        [P_PARK] = {.name = "PARK", .handler = h_park, .execute_once = true},
        [P_BIND] = {.name = "BIND", .handler = h_bind},
        [P_REBIND] = {.name = "REBIND", .handler = h_rebind},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, N_PROCS};

/* -- the world ------------------------------------------------------------- */

static void count_client(struct rpcrdma_listener *l, const struct rpcrdma_conn_info *i,
                         void *arg)
{
	if (i->connected)
		w.ups++;
	else
		w.ends++;
}

static void *run_host(void *arg)
{
	assert_int_equal(rpcrdma_engine_run(arg), 0);
	return NULL;
}

static void start_server(unsigned hosts, unsigned limit, uint32_t per_address)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage ss;

	memset(&w, 0, sizeof(w));
	w.hosts = hosts;
	o.provider = "iwarp";
	o.max_per_address = per_address;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	for (unsigned i = 0; i < hosts; i++)
		assert_int_equal(rpcrdma_engine_new(NULL, &w.host[i].engine), 0);
	assert_int_equal(rpcrdma_listen(w.host[0].engine, "127.0.0.1:0", &o, w.service,
	                                limit, &w.listener),
	                 0);
	for (unsigned i = 1; i < hosts; i++)
		assert_int_equal(
		        rpcrdma_listener_add_engine(w.listener, w.host[i].engine), 0);
	rpcrdma_listener_set_event(w.listener, count_client, NULL);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &ss), 0);
	snprintf(w.port, sizeof(w.port), "%u",
	         ntohs(((struct sockaddr_in *)&ss)->sin_port));
	for (unsigned i = 0; i < hosts; i++)
		assert_int_equal(pthread_create(&w.host[i].thread, NULL, run_host,
		                                w.host[i].engine),
		                 0);
}

static void close_listener(void *arg)
{
	rpcrdma_listener_close(w.listener, 200 * MS);
	w.listener = NULL;
}

static void close_back(void *arg)
{
	rpcrdma_conn_close(w.back);
}

/* Stops the listener's engine first, then the others. */
static void stop_hosts(void)
{
	for (unsigned i = 0; i < w.hosts; i++)
		rpcrdma_engine_stop(w.host[i].engine);
	for (unsigned i = 0; i < w.hosts; i++)
		assert_int_equal(pthread_join(w.host[i].thread, NULL), 0);
}

static void free_all(void)
{
	rpcrdma_engine_free(w.engine);
	for (unsigned i = w.hosts; i--;)
		rpcrdma_engine_free(w.host[i].engine);
	rpcrdma_service_free(w.service);
}

static void spin_until(atomic_uint *n, unsigned want)
{
	uint64_t until = now_ns() + 20000 * (uint64_t)MS;

	while (atomic_load(n) < want && now_ns() < until)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	assert_true(atomic_load(n) >= want);
}

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	struct client *k = arg;

	if (error)
		k->downs++;
}

static void connect_client(struct client *c)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	o.reconnect_min_ns = 5 * MS;
	o.reconnect_max_ns = 20 * MS;
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", w.port, &o, on_event, c,
	                                 &c->conn),
	                 0);
}

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct client *c = arg;
	uint32_t x = 0;

	c->status = r->status;
	if (!r->status && r->len >= 4) {
		memcpy(&x, r->results, sizeof(x));
		c->result = ntohl(x);
	}
	c->done++;
}

static void begin_call(struct client *c, uint32_t proc)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.reply_bytes = 64;
	o.timeout_ns = 20000 * (uint64_t)MS;
	o.done = on_done;
	o.arg = c;
	assert_int_equal(rpcrdma_call(c->conn, &o, NULL), 0);
}

static void finish_call(struct client *c, unsigned done)
{
	uint64_t until = now_ns() + 20000 * (uint64_t)MS;

	while (c->done < done && now_ns() < until)
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
	assert_int_equal(c->done, done);
}

static uint32_t call(struct client *c, uint32_t proc)
{
	unsigned done = c->done + 1;

	begin_call(c, proc);
	finish_call(c, done);
	assert_int_equal(c->status, 0);
	return c->result;
}

/* While no thread runs the engines. */
static struct rpcrdma_stats sum_stats(void)
{
	struct rpcrdma_stats sum = {0}, s;

	for (unsigned i = 0; i < w.hosts; i++) {
		rpcrdma_engine_get_stats(w.host[i].engine, &s, sizeof(s));
		sum.connections += s.connections;
		sum.connections_evicted += s.connections_evicted;
		sum.connections_refused += s.connections_refused;
		sum.cache_hits += s.cache_hits;
		sum.cache_waits += s.cache_waits;
	}
	return sum;
}

static void end_orderly(void)
{
	uint64_t until = now_ns() + 20000 * (uint64_t)MS;

	assert_int_equal(rpcrdma_engine_post(w.host[0].engine, close_listener, NULL),
	                 0);
	while (atomic_load(&w.ends) < atomic_load(&w.ups) && now_ns() < until)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	stop_hosts();
	for (unsigned i = 0; i < CLIENTS; i++)
		if (w.client[i].conn)
			rpcrdma_conn_close(w.client[i].conn);
	while (!rpcrdma_engine_idle(w.host[0].engine) && now_ns() < until) {
		assert_int_equal(rpcrdma_engine_process(w.engine, 1), 0);
		for (unsigned k = 0; k < w.hosts; k++)
			assert_int_equal(rpcrdma_engine_process(w.host[k].engine, 1),
			                 0);
	}
	assert_true(rpcrdma_engine_idle(w.host[0].engine));
	w.total = sum_stats();
	free_all();
}

/* -- tests ----------------------------------------------------------------- */

static void connections_are_spread_and_stay(void **state)
{
	uint32_t at[CLIENTS];
	unsigned of[ENGINES] = {0};
	struct rpcrdma_proc_stats ps;

	start_server(ENGINES, 0, 0);
	for (unsigned i = 0; i < CLIENTS; i++) {
		connect_client(&w.client[i]);
		at[i] = call(&w.client[i], P_WHERE);
		of[at[i]]++;
	}
	for (unsigned i = 0; i < ENGINES; i++)
		assert_int_equal(of[i], CLIENTS / ENGINES);
	for (unsigned n = 0; n < 20; n++)
		for (unsigned i = 0; i < CLIENTS; i++)
			assert_int_equal(call(&w.client[i], P_WHERE), at[i]);
	assert_int_equal(rpcrdma_service_get_stats(w.service, PROG, VERS, P_WHERE, &ps,
	                                           sizeof(ps)),
	                 0);
	assert_int_equal(ps.calls, 21 * CLIENTS);
	assert_int_equal(ps.results_bytes, 4 * 21 * CLIENTS);
	end_orderly();
	assert_int_equal(w.ups, CLIENTS);
	assert_int_equal(w.ends, CLIENTS);
}

/* The engine that lost connections gets the next ones. */
static void the_emptiest_engine_gets_the_next(void **state)
{
	uint32_t at;

	start_server(ENGINES, 0, 0);
	for (unsigned i = 0; i < ENGINES; i++)
		connect_client(&w.client[i]), call(&w.client[i], P_WHERE);
	at = call(&w.client[1], P_WHERE);
	rpcrdma_conn_close(w.client[1].conn);
	w.client[1].conn = NULL;
	spin_until(&w.ends, 1);
	usleep(20000); /* the listener's engine counts it */
	connect_client(&w.client[1]);
	assert_int_equal(call(&w.client[1], P_WHERE), at);
	end_orderly();
}

static void cut_connections(void)
{
	for (int fd = 3; fd < 256; fd++) {
		struct sockaddr_in sin = {0};
		socklen_t len = sizeof(sin);

		if (!getpeername(fd, (struct sockaddr *)&sin, &len) &&
		    sin.sin_family == AF_INET && ntohs(sin.sin_port) == atoi(w.port))
			shutdown(fd, SHUT_RDWR);
	}
}

/* The other engine's connections go first, so that the client comes back elsewhere. */
static void a_call_is_executed_once_although_repeated_elsewhere(void **state)
{
	struct client *c = &w.client[0], *other = &w.client[1];
	uint32_t first, second;

	start_server(2, 0, 0);
	connect_client(c);
	first = call(c, P_WHERE); /* engine 0 */
	connect_client(other);
	assert_int_not_equal(call(other, P_WHERE), first);
	begin_call(c, P_PARK);
	while (!atomic_load(&w.parked))
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	rpcrdma_conn_close(other->conn); /* now engine 1 has none, engine 0 one */
	other->conn = NULL;
	spin_until(&w.ends, 1);
	usleep(20000);
	cut_connections();
	while (!c->downs)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	for (unsigned i = 0; i < 50; i++) /* connects and repeats the call */
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	answer(atomic_load(&w.parked), 77);
	finish_call(c, 2);
	assert_int_equal(c->status, 0);
	assert_int_equal(c->result, 77);
	assert_int_equal(atomic_load(&w.executed), 1);
	second = call(c, P_WHERE);
	assert_int_not_equal(second, first);
	end_orderly();
	assert_int_equal(w.total.cache_waits, 1);
}

/* The limits hold over all engines: for one more, the one that was idle longest ends,
 * whichever engine serves it. */
static void the_limit_counts_all_engines(void **state)
{
	enum { LIMIT = 4 };
	start_server(ENGINES, LIMIT, 0);
	for (unsigned i = 0; i < LIMIT; i++) {
		connect_client(&w.client[i]);
		call(&w.client[i], P_WHERE);
	}
	for (unsigned i = 0; i < LIMIT; i++)
		call(&w.client[i == 0 ? 0 : LIMIT - i], P_WHERE);
	/* the order is now 0, 3, 2, 1 */
	connect_client(&w.client[LIMIT]);
	call(&w.client[LIMIT], P_WHERE);
	spin_until(&w.ends, 1);
	while (!w.client[0].downs)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	for (unsigned i = 1; i < LIMIT; i++)
		assert_int_equal(w.client[i].downs, 0);
	end_orderly();
	assert_true(w.total.connections_evicted >= 1);
}

/* A connection with a request in a handler stays, in whichever engine. */
static void busy_connections_stay_and_others_are_refused(void **state)
{
	struct client *c = &w.client[0], *more = &w.client[1];
	uint64_t until;

	start_server(2, 1, 0);
	connect_client(more); /* so that the next one is with engine 1 */
	call(more, P_WHERE);
	connect_client(c);
	call(c, P_WHERE);
	while (!more->downs)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	rpcrdma_conn_close(more->conn);
	more->conn = NULL;
	if (!c->downs)
		begin_call(c, P_PARK);
	while (!atomic_load(&w.parked))
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	connect_client(more);
	until = now_ns() + 100 * (uint64_t)MS;
	while (now_ns() < until)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	answer(atomic_load(&w.parked), 5);
	finish_call(c, 2);
	assert_int_equal(c->result, 5);
	assert_int_equal(c->downs, 0);
	end_orderly();
	assert_true(w.total.connections_refused >= 1);
}

/* A storm of connections that end at once, at the limit. */
static void storms_leave_nothing_behind(void **state)
{
	start_server(ENGINES, 5, 0);
	for (unsigned n = 0; n < 20; n++) {
		for (unsigned i = 0; i < CLIENTS; i++) {
			connect_client(&w.client[i]);
			begin_call(&w.client[i], P_WHERE);
		}
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(rpcrdma_engine_process(w.engine, 1), 0);
		for (unsigned i = 0; i < CLIENTS; i++) {
			rpcrdma_conn_close(w.client[i].conn);
			w.client[i].conn = NULL;
		}
	}
	end_orderly();
}

/* An object for calls to a client stays with its engine. */
static void an_object_cannot_move_to_another_engine(void **state)
{
	uint32_t first;

	start_server(2, 0, 0);
	connect_client(&w.client[0]);
	first = call(&w.client[0], P_BIND);
	assert_int_equal(w.bind_status, 0);
	connect_client(&w.client[1]);
	assert_int_not_equal(call(&w.client[1], P_REBIND), first);
	assert_int_equal(w.bind_status, -EXDEV);
	connect_client(&w.client[2]);
	assert_int_equal(call(&w.client[2], P_REBIND), first);
	assert_int_equal(w.bind_status, 0);
	assert_int_equal(rpcrdma_engine_post(w.host[first].engine, close_back, NULL),
	                 0);
	call(&w.client[0], P_WHERE);
	end_orderly();
}

/* Engines are freed with connections and a request that no handler answered. */
static void engines_are_freed_while_busy(void **state)
{
	start_server(ENGINES, 0, 0);
	for (unsigned i = 0; i < CLIENTS; i++) {
		connect_client(&w.client[i]);
		call(&w.client[i], P_WHERE);
	}
	begin_call(&w.client[1], P_PARK);
	while (!atomic_load(&w.parked))
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	stop_hosts();
	free_all();
}

static void wrong_engines_are_refused(void **state)
{
	start_server(1, 0, 0);
	stop_hosts();
	assert_int_equal(rpcrdma_listener_add_engine(w.listener, NULL), -EINVAL);
	assert_int_equal(rpcrdma_listener_add_engine(NULL, w.engine), -EINVAL);
	assert_int_equal(rpcrdma_listener_add_engine(w.listener, w.host[0].engine),
	                 -EEXIST);
	assert_int_equal(rpcrdma_listener_add_engine(w.listener, w.engine), 0);
	assert_int_equal(rpcrdma_listener_add_engine(w.listener, w.engine), -EEXIST);
	free_all();
}

static void there_is_a_largest_number_of_engines(void **state)
{
	struct rpcrdma_engine *more[16];
	int err = 0;

	start_server(1, 0, 0);
	stop_hosts();
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(rpcrdma_engine_new(NULL, &more[i]), 0);
		err = rpcrdma_listener_add_engine(w.listener, more[i]);
		assert_int_equal(err, i < 15 ? 0 : -ENOSPC);
	}
	for (unsigned i = 0; i < 16; i++)
		rpcrdma_engine_free(more[i]);
	free_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(connections_are_spread_and_stay),
	        cmocka_unit_test(the_emptiest_engine_gets_the_next),
	        cmocka_unit_test(a_call_is_executed_once_although_repeated_elsewhere),
	        cmocka_unit_test(the_limit_counts_all_engines),
	        cmocka_unit_test(busy_connections_stay_and_others_are_refused),
	        cmocka_unit_test(storms_leave_nothing_behind),
	        cmocka_unit_test(an_object_cannot_move_to_another_engine),
	        cmocka_unit_test(engines_are_freed_while_busy),
	        cmocka_unit_test(wrong_engines_are_refused),
	        cmocka_unit_test(there_is_a_largest_number_of_engines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
