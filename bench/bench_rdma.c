/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpcrdma through its public interface: the program of bench.x with its upper-layer
 * binding (READ's result and WRITE's argument are DDP-eligible), and any number of calls
 * in flight from one thread.
 *
 * After the row it prints operations per RPC: sums of both ends, or the numbers of each
 * end if their difference matters.  The client fetches the server's counters before and
 * after the work, by a separate procedure.
 *
 * "bench_rdma both" is for counting instructions, see instructions.sh: one thread turns the
 * engines of a client and of a server alternately, so each run executes the same
 * instructions.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rpcrdma/cursor.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum {
	ARGS_BYTES = BENCH_HANDLE + 16, /* handle, offset, count, reserved */
	ATTR_MAX = 20480, /* octets that the caller of BENCH_ATTR foresees */
};

/* Batches of calls that "both" makes; the first one warms up. */
enum { BATCHES = 6 };

static uint8_t *data;
static struct rpcrdma_engine *engine;  /* the client's */
static struct rpcrdma_engine *serving; /* the server's */

static void die(const char *what, int error)
{
	if (error)
		bench_die(what, error);
}

static void new_engine(const struct bench_options *o,
                       struct rpcrdma_engine **ret_engine,
                       struct rpcrdma_conn_options *ret)
{
	struct rpcrdma_engine_options eo =
	        RPCRDMA_OPTIONS(struct rpcrdma_engine_options);

	eo.spin_ns = o->spin_us * 1000;
	die("engine", rpcrdma_engine_new(&eo, ret_engine));
	*ret = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	ret->provider = o->provider;
	ret->features = o->features;
	ret->send_item_bytes = o->send_items;
	ret->credits = o->credits                ? o->credits
	               : o->role == BENCH_SERVER ? BENCH_MAX_DEPTH
	               : o->depth < 32           ? 32
	                                         : o->depth;
	ret->max_held_bytes = 64 << 20;
}

/* ---- The server ------------------------------------------------------------ */

static void serve_null(struct rpcrdma_request *r, void *arg)
{
	(void)arg;
	die("reply", rpcrdma_request_reply(r, NULL, 0, NULL, NULL));
}

static void garbage(struct rpcrdma_request *r)
{
	die("reply", rpcrdma_request_error(r, RPCRDMA_GARBAGE_ARGS, 0));
}

/* Reads handle, offset, count and a reserved word.  Returns the count. */
static uint32_t read_fixed(struct rpcrdma_cursor *c)
{
	uint32_t count;

	rpcrdma_cursor_skip(c, BENCH_HANDLE + 8);
	count = rpcrdma_cursor_u32(c);
	rpcrdma_cursor_skip(c, 4);
	return count;
}

/* Returns as many octets as the Call asks for, as a data item or not. */
static void serve_octets(struct rpcrdma_request *r, bool item)
{
	struct rpcrdma_cursor c;
	uint32_t count;
	uint8_t *head = rpcrdma_request_alloc(r, 12);
	struct rpcrdma_piece p[2] = {{.base = head, .len = 12},
	                             {.base = data, .item = item}};

	rpcrdma_request_cursor(r, &c);
	p[1].len = count = read_fixed(&c);
	if (rpcrdma_cursor_end(&c) || count > BENCH_MAX_BYTES || !head) {
		garbage(r);
		return;
	}
	bench_put_u32(head, 0);
	bench_put_u32(head + 4, 0);
	bench_put_u32(head + 8, count);
	die("reply", rpcrdma_request_reply(r, p, 2, NULL, NULL));
}

static void serve_read(struct rpcrdma_request *r, void *arg)
{
	(void)arg;
	serve_octets(r, true);
}

static void serve_list(struct rpcrdma_request *r, void *arg)
{
	(void)arg;
	serve_octets(r, false);
}

static void serve_write(struct rpcrdma_request *r, void *arg)
{
	struct rpcrdma_cursor c;
	uint8_t *res = rpcrdma_request_alloc(r, 8);
	struct rpcrdma_piece p = {.base = res, .len = 8};
	uint32_t count;

	(void)arg;
	rpcrdma_request_cursor(r, &c);
	(void)read_fixed(&c);
	(void)rpcrdma_cursor_opaque(&c, NULL, BENCH_MAX_BYTES, &count);
	if (rpcrdma_cursor_end(&c) || !res) {
		garbage(r);
		return;
	}
	bench_put_u32(res, 0);
	bench_put_u32(res + 4, count);
	die("reply", rpcrdma_request_reply(r, &p, 1, NULL, NULL));
}

static void serve_stats(struct rpcrdma_request *r, void *arg)
{
	struct rpcrdma_stats s;
	uint8_t *res = rpcrdma_request_alloc(r, sizeof(s));
	struct rpcrdma_piece p = {.base = res, .len = sizeof(s)};

	(void)arg;
	if (!res) {
		die("reply", rpcrdma_request_error(r, RPCRDMA_SYSTEM_ERR, 0));
		return;
	}
	rpcrdma_engine_get_stats(serving, &s, sizeof(s));
	memcpy(res, &s, sizeof(s)); /* both ends are this program */
	die("reply", rpcrdma_request_reply(r, &p, 1, NULL, NULL));
}

static const struct rpcrdma_procedure procedures[BENCH_PROCS] = {
        [BENCH_PROC_NULL] = {.name = "NULL", .handler = serve_null},
        [BENCH_PROC_READ] = {.name = "READ",
                             .handler = serve_read,
                             .max_write_items = 1},
        [BENCH_PROC_WRITE] = {.name = "WRITE",
                              .handler = serve_write,
                              .max_read_items = 1},
        [BENCH_PROC_LIST] = {.name = "LIST", .handler = serve_list},
        [BENCH_PROC_STATS] = {.name = "STATS", .handler = serve_stats},
};

static const struct rpcrdma_program program = {BENCH_PROGRAM, BENCH_VERSION, procedures,
                                               BENCH_PROCS};

static void stop(int sig)
{
	(void)sig;
	rpcrdma_engine_stop(serving);
}

struct served {
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	uint16_t port;
};

static void open_server(const struct bench_options *o, struct served *ret)
{
	struct rpcrdma_conn_options co;
	struct sockaddr_storage addr;

	new_engine(o, &serving, &co);
	die("service", rpcrdma_service_new(&ret->service));
	die("service", rpcrdma_service_add(ret->service, &program, NULL));
	die("listen", rpcrdma_listen(serving, "127.0.0.1:0", &co, ret->service,
	                             BENCH_MAX_CONNS, &ret->listener));
	die("address", rpcrdma_listener_addr(ret->listener, &addr));
	ret->port = ntohs(((struct sockaddr_in *)&addr)->sin_port);
}

static void close_server(struct served *s)
{
	rpcrdma_listener_close(s->listener, 0);
	while (!rpcrdma_engine_idle(serving))
		die("drain", rpcrdma_engine_process(serving, 100));
	rpcrdma_engine_free(serving);
	rpcrdma_service_free(s->service);
}

static void server(const struct bench_options *o)
{
	struct served s;

	open_server(o, &s);
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	bench_listening(s.port);
	die("run", rpcrdma_engine_run(serving));
	close_server(&s);
}

/* ---- The client ------------------------------------------------------------- */

/* A call in flight; reused for the next one. */
struct slot {
	struct work *work;
	struct rpcrdma_conn *conn;
	uint8_t args[ARGS_BYTES + 4];
	struct rpcrdma_piece pieces[2];
	struct rpcrdma_dest dest;
	struct rpcrdma_call_options call;
	uint64_t n; /* calls made */
};

struct work {
	const struct bench_options *o;
	struct rpcrdma_conn *conns[BENCH_MAX_CONNS];
	struct slot *slots; /* of each connection, one for each call in flight */
	struct bench_clock clock;
	uint64_t out;  /* calls in flight */
	uint64_t left; /* calls to start, if their number is given */
	struct rpcrdma_stats mine, theirs;
};

static void start(struct slot *s)
{
	if (s->work->o->test == BENCH_DIR)
		bench_put_u32(s->args + BENCH_HANDLE + 8,
		              bench_call_bytes(s->work->o, s->n++));
	s->work->out++;
	s->work->left--;
	die("call", rpcrdma_call(s->conn, &s->call, NULL));
}

static void finished(struct rpcrdma_call *call, const struct rpcrdma_reply *r,
                     void *arg)
{
	struct slot *s = arg;
	struct work *w = s->work;
	const struct bench_options *o = w->o;

	(void)call;
	if (r->status) {
		fprintf(stderr, "bench_rdma: %s\n", rpcrdma_strstatus(r->status));
		exit(1);
	}
	if (o->test == BENCH_READ && s->dest.ret_used && s->dest.ret_len != o->bytes)
		bench_die("short READ", EIO);
	w->out--;
	if (o->calls) {
		w->clock.ops++;
		if (w->left)
			start(s);
		return;
	}
	if (bench_clock_count(&w->clock, 1))
		start(s);
}

static uint32_t procedure_of(enum bench_test test)
{
	switch (test) {
	case BENCH_NULL:
		return BENCH_PROC_NULL;
	case BENCH_READ:
		return BENCH_PROC_READ;
	case BENCH_WRITE:
		return BENCH_PROC_WRITE;
	default:
		return BENCH_PROC_LIST;
	}
}

/* Sets the lengths of results that the library is to expect. */
static void foresee_reply(struct rpcrdma_call_options *c, const struct bench_options *o)
{
	if (o->test == BENCH_WRITE)
		c->reply_bytes = 8; /* reserves one Receive with rtr */
	if (o->test < BENCH_LIST || o->reply == BENCH_CONTINUED)
		return;
	c->reply_bytes = o->test == BENCH_ATTR ? ATTR_MAX : o->bytes + 12;
	if (o->reply == BENCH_CHUNK)
		c->reply_usual = c->reply_bytes;
}

static void prepare(struct work *w, struct slot *s)
{
	const struct bench_options *o = w->o;
	bool write = o->test == BENCH_WRITE;

	s->work = w;
	bench_put_u32(s->args + BENCH_HANDLE + 8, o->bytes);
	bench_put_u32(s->args + ARGS_BYTES, o->bytes);
	s->pieces[0] = (struct rpcrdma_piece){.base = s->args,
	                                      .len = ARGS_BYTES + (write ? 4 : 0)};
	s->pieces[1] = (struct rpcrdma_piece){data, o->bytes, true};
	s->call = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	s->call.program = BENCH_PROGRAM;
	s->call.version = BENCH_VERSION;
	s->call.procedure = procedure_of(o->test);
	s->call.args = s->pieces;
	s->call.n_args = o->test == BENCH_NULL ? 0 : write ? 2 : 1;
	s->call.done = finished;
	s->call.arg = s;
	foresee_reply(&s->call, o);
	if (o->test != BENCH_READ)
		return;
	s->dest = (struct rpcrdma_dest){.base = bench_data(o->bytes), .len = o->bytes};
	s->call.dests = &s->dest;
	s->call.n_dests = 1;
}

static void took_stats(struct rpcrdma_call *call, const struct rpcrdma_reply *r,
                       void *arg)
{
	struct work *w = arg;

	(void)call;
	if (r->status || r->len != sizeof(w->theirs))
		bench_die("the server's counters", EIO);
	memcpy(&w->theirs, r->results, sizeof(w->theirs));
	w->out--;
}

/* Gets the counters of both ends.  The same call asks for them before and after. */
static void take_stats(struct work *w)
{
	struct rpcrdma_call_options c = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	c.program = BENCH_PROGRAM;
	c.version = BENCH_VERSION;
	c.procedure = BENCH_PROC_STATS;
	c.done = took_stats;
	c.arg = w;
	w->out++;
	die("call", rpcrdma_call(w->conns[0], &c, NULL));
	while (w->out)
		die("process", rpcrdma_engine_process(engine, -1));
	rpcrdma_engine_get_stats(engine, &w->mine, sizeof(w->mine));
}

static void print_ops(const struct rpcrdma_stats *m, const struct rpcrdma_stats *m0,
                      const struct rpcrdma_stats *t, const struct rpcrdma_stats *t0)
{
	double n = (double)(m->calls - m0->calls - 1);

#define BOTH(field) ((double)(m->field - m0->field + t->field - t0->field) / n)
	printf(" sends=%.2f reads=%.2f writes=%.2f registrations=%.2f"
	       " invalidations=%.2f+%.2f syscalls=%.2f+%.2f stalls=%.2f"
	       " wakeups=%.2f+%.2f",
	       BOTH(sends), BOTH(rdma_reads), BOTH(rdma_writes), BOTH(registrations),
	       BOTH(local_invalidations), BOTH(remote_invalidations),
	       (double)(m->syscalls - m0->syscalls) / n,
	       (double)(t->syscalls - t0->syscalls) / n, BOTH(credit_stalls),
	       (double)(m->wakeups - m0->wakeups) / n,
	       (double)(t->wakeups - t0->wakeups) / n);
#undef BOTH
}

static void open_client(const struct bench_options *o, const char *port, struct work *w)
{
	struct rpcrdma_conn_options co;

	w->o = o;
	new_engine(o, &engine, &co);
	co.no_reconnect = true;
	w->slots = calloc((size_t)o->conns * o->depth, sizeof(*w->slots));
	if (!w->slots)
		bench_die("slots", ENOMEM);
	for (uint32_t c = 0; c < o->conns; c++) {
		die("connect", rpcrdma_connect(engine, "127.0.0.1", port, &co, NULL,
		                               NULL, &w->conns[c]));
		for (uint32_t d = 0; d < o->depth; d++) {
			prepare(w, &w->slots[c * o->depth + d]);
			w->slots[c * o->depth + d].conn = w->conns[c];
		}
	}
}

static void close_client(struct work *w)
{
	const struct bench_options *o = w->o;

	rpcrdma_engine_free(engine);
	for (size_t i = 0; i < (size_t)o->conns * o->depth; i++)
		free(w->slots[i].dest.base);
	free(w->slots);
}

static void start_all(struct work *w)
{
	const struct bench_options *o = w->o;

	w->left = o->calls;
	for (size_t i = 0; i < (size_t)o->conns * o->depth; i++)
		if (!o->calls || w->left)
			start(&w->slots[i]);
}

/* Waits until each connection has answered a call. */
static void wait_connected(struct work *w)
{
	for (uint32_t c = 0; c < w->o->conns; c++) {
		struct rpcrdma_call_options null =
		        RPCRDMA_OPTIONS(struct rpcrdma_call_options);

		null.program = BENCH_PROGRAM;
		null.version = BENCH_VERSION;
		die("connect", rpcrdma_call_sync(w->conns[c], &null, NULL, 0, NULL, 0));
	}
}

static void client(const struct bench_options *o)
{
	static struct work w;
	struct rpcrdma_stats mine, theirs;

	open_client(o, o->port, &w);
	wait_connected(&w);
	take_stats(&w);
	mine = w.mine;
	theirs = w.theirs;
	bench_clock_start(&w.clock, o);
	start_all(&w);
	while (w.out)
		die("process", rpcrdma_engine_process(engine, -1));
	if (o->calls)
		w.clock.now = bench_now();
	bench_row(o, &w.clock);
	take_stats(&w);
	print_ops(&w.mine, &mine, &w.theirs, &theirs);
	puts("");
	for (uint32_t c = 0; c < o->conns; c++)
		rpcrdma_conn_close(w.conns[c]);
	while (!rpcrdma_engine_idle(engine))
		die("close", rpcrdma_engine_process(engine, 1000));
	close_client(&w);
}

/* ---- Both ends ---------------------------------------------------------------- */

/* The next three functions are named in instructions.sh. */

static __attribute__((noinline)) void turn_client(struct work *w)
{
	if (!w->out)
		start_all(w);
	die("client", rpcrdma_engine_process(engine, 0));
}

static __attribute__((noinline)) void turn_server(void)
{
	die("server", rpcrdma_engine_process(serving, 0));
}

static __attribute__((noinline)) void run_batch(struct work *w)
{
	do {
		turn_client(w);
		turn_server();
	} while (w->out);
}

static void both(const struct bench_options *o)
{
	static struct work w;
	struct served s;
	char port[8];

	open_server(o, &s);
	snprintf(port, sizeof(port), "%u", s.port);
	open_client(o, port, &w);
	for (int i = 0; i < BATCHES; i++)
		run_batch(&w);
	w.clock.ops /= BATCHES;
	bench_row(o, &w.clock);
	puts("");
	close_client(&w);
	close_server(&s);
}

int main(int argc, char **argv)
{
	struct bench_options o;

	bench_options(argc, argv, &o);
	bench_allow_conns();
	data = bench_data(BENCH_MAX_BYTES);
	if (o.role == BENCH_SERVER)
		server(&o);
	else if (o.role == BENCH_CLIENT)
		client(&o);
	else
		both(&o);
	free(data);
	return 0;
}
