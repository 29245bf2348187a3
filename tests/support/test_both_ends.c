/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "test_both_ends.h"

struct both_ends both;

uint8_t both_pattern(uint32_t seed, size_t i)
{
	return (uint8_t)((i * 2654435761u + seed * 40503u) >> 7);
}

/* -- what either end serves ------------------------------------------------ */

static void h_null(struct rpcrdma_request *q, void *arg)
{
	((struct end *)arg)->executed++;
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

/* Arguments: seed, length, item.  Checks the pattern and answers 1 if it is right. */
static void h_sum(struct rpcrdma_request *q, void *arg)
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
			good &= ((const uint8_t *)p[k].base)[i] ==
			        both_pattern(seed, at);
	put32(out, good && at == len);
	assert_int_equal(rpcrdma_request_reply(q, &r, 1, NULL, NULL), 0);
}

/* Arguments: seed, length, whether as an item.  Answers with a pattern. */
static void h_fill(struct rpcrdma_request *q, void *arg)
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
		out[4 + i] = both_pattern(seed, i);
	r[0] = (struct rpcrdma_piece){out, 4, false};
	r[1] = (struct rpcrdma_piece){out + 4, item ? len : (len + 3) & ~3u, item != 0};
	assert_int_equal(rpcrdma_request_reply(q, r, 2, NULL, NULL), 0);
}

static void *later_thread(void *arg)
{
	(void)rpcrdma_request_reply(arg, NULL, 0, NULL, NULL);
	return NULL;
}

static void h_later(struct rpcrdma_request *q, void *arg)
{
	pthread_t t;

	((struct end *)arg)->executed++;
	assert_int_equal(pthread_create(&t, NULL, later_thread, q), 0);
	pthread_detach(t);
}

static void h_park(struct rpcrdma_request *q, void *arg)
{
	struct end *e = arg;

	assert_true(e->n_parked < 16);
	e->xids[e->n_parked] = rpcrdma_request_xid(q);
	e->parked[e->n_parked++] = q;
}

/* The first call makes the server's object for its client, later calls rebind it. */
static void h_bind(struct rpcrdma_request *q, void *arg)
{
	if (both.back)
		both.bind_status = rpcrdma_conn_rebind(both.back, q);
	else
		both.bind_status =
		        rpcrdma_request_reverse(q, both.retry_ns, &both.back);
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static void nested(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	if (r->status)
		assert_int_equal(rpcrdma_request_error(arg, RPCRDMA_SYSTEM_ERR, 0), 0);
	else
		assert_int_equal(rpcrdma_request_reply(arg, NULL, 0, NULL, NULL), 0);
}

/* Argument: depth.  Calls the peer, and answers when the peer has answered. */
static void h_nest(struct rpcrdma_request *q, void *arg)
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
	assert_int_equal(
	        rpcrdma_call(arg == &both.server ? both.back : both.conn, &o, NULL), 0);
}

const struct rpcrdma_procedure both_procs[N_PROCS] = {
        [P_NULL] = {"NULL", h_null, 0, 0, 0, false},
        [P_SUM] = {"SUM", h_sum, 1, 0, 0, false},
        [P_FILL] = {"FILL", h_fill, 0, 1, 0, false},
        [P_LATER] = {"LATER", h_later, 0, 0, 0, false},
        [P_PARK] = {"PARK", h_park, 0, 0, 0, false},
        [P_BIND] = {"BIND", h_bind, 0, 0, 0, false},
        [P_NEST] = {"NEST", h_nest, 0, 0, 0, false},
};

const struct rpcrdma_program both_program = {PROG, VERS, both_procs, N_PROCS};

/* -- both ends ------------------------------------------------------------- */

void both_on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	if (error)
		both.downs++;
	else
		both.ups++;
}

int both_set_up(void **state)
{
	memset(&both, 0, sizeof(both));
	both.options = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	both.options.reconnect_min_ns = 5 * MS;
	both.options.reconnect_max_ns = 20 * MS;
	both.listen_options = both.options;
	assert_int_equal(rpcrdma_engine_new(NULL, &both.engine), 0);
	assert_int_equal(rpcrdma_service_new(&both.service), 0);
	assert_int_equal(rpcrdma_service_new(&both.callbacks), 0);
	assert_int_equal(rpcrdma_service_add(both.service, &both_program, &both.server),
	                 0);
	assert_int_equal(
	        rpcrdma_service_add(both.callbacks, &both_program, &both.client), 0);
	both.options.callbacks = both.callbacks;
	return 0;
}

void both_port(struct rpcrdma_listener *l, char port[16])
{
	struct sockaddr_storage sa;

	assert_int_equal(rpcrdma_listener_addr(l, &sa), 0);
	snprintf(port, 16, "%u", ntohs(((struct sockaddr_in *)&sa)->sin_port));
}

void both_listen(const char *address)
{
	assert_int_equal(rpcrdma_listen(both.engine, address, &both.listen_options,
	                                both.service, 8, &both.listener),
	                 0);
	both_port(both.listener, both.port);
}

void both_connect(struct rpcrdma_conn **ret)
{
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", both.port,
	                                 &both.options, both_on_event, NULL, ret),
	                 0);
}

void both_answer_parked(struct end *e)
{
	for (unsigned i = 0; i < e->n_parked; i++)
		(void)rpcrdma_request_reply(e->parked[i], NULL, 0, NULL, NULL);
	e->n_parked = 0;
}

int both_tear_down(void **state)
{
	uint64_t end = now_ns() + 5000ull * MS;

	rpcrdma_conn_close(both.back);
	rpcrdma_conn_close(both.conn);
	rpcrdma_listener_close(both.listener, 0);
	both_answer_parked(&both.server);
	both_answer_parked(&both.client);
	while (!rpcrdma_engine_idle(both.engine) && now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(both.engine, 10), 0);
	assert_true(rpcrdma_engine_idle(both.engine));
	rpcrdma_engine_free(both.engine);
	rpcrdma_service_free(both.service);
	rpcrdma_service_free(both.callbacks);
	return 0;
}

void both_on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct wait *x = arg;

	x->done++;
	x->status = r->status;
	x->reply = *r;
	if (r->results && r->len <= sizeof(x->results))
		memcpy(x->results, r->results, r->len);
}

struct rpcrdma_call_options both_call(uint32_t proc, struct wait *x)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	memset(x, 0, sizeof(*x));
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.timeout_ns = 20000ull * MS;
	o.done = both_on_done;
	o.arg = x;
	return o;
}

void both_spin_until(const unsigned *flag, unsigned want)
{
	uint64_t end = now_ns() + 30000ull * MS;

	while (*flag < want && now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(both.engine, 100), 0);
	assert_true(*flag >= want);
}

void both_spin_for(uint64_t ms)
{
	uint64_t end = now_ns() + ms * MS;

	while (now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(both.engine, 5), 0);
}

int both_run(struct rpcrdma_conn *c, struct rpcrdma_call_options *o, struct wait *x)
{
	assert_int_equal(rpcrdma_call(c, o, NULL), 0);
	both_spin_until(&x->done, 1);
	assert_int_equal(x->done, 1);
	return x->status;
}

void both_bind(struct rpcrdma_conn *c)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_BIND, &x);

	both.bind_status = 1;
	assert_int_equal(both_run(c, &o, &x), 0);
}

void both_start(void)
{
	both_listen("127.0.0.1:0");
	both_connect(&both.conn);
	both_bind(both.conn);
	assert_int_equal(both.bind_status, 0);
	assert_non_null(both.back);
}

int both_sum(struct rpcrdma_conn *c, uint32_t len, bool item)
{
	uint8_t *data = malloc((size_t)len + 3), head[8];
	struct rpcrdma_piece a[2] = {{head, 8, false}, {data, len, item}};
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_SUM, &x);
	int status;

	if (!item)
		a[1].len = (len + 3) & ~3u;
	for (uint32_t i = 0; i < len + 3; i++)
		data[i] = both_pattern(len, i);
	put32(head, len);
	put32(head + 4, len);
	o.args = a;
	o.n_args = 2;
	status = both_run(c, &o, &x);
	if (!status)
		assert_int_equal(be32(x.results), 1);
	free(data);
	return status;
}

void both_cut(void)
{
	struct sockaddr_in sa;

	for (int fd = 3; fd < 256; fd++) {
		socklen_t len = sizeof(sa);

		if (getpeername(fd, (struct sockaddr *)&sa, &len) == 0 &&
		    sa.sin_family == AF_INET && ntohs(sa.sin_port) == atoi(both.port))
			assert_int_equal(shutdown(fd, SHUT_RDWR), 0);
	}
}
