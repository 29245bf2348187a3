/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

/* What libkrb5 1.20 loses when there is no key of the name that was asked for. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:krb5_build_principal_alloc_va\n";
}

struct world w;

/* -- the server ------------------------------------------------------------ */

static void h_null(struct rpcrdma_request *q, void *arg)
{
	struct rpcrdma_piece p = {w.answer, w.answer_len, false};

	if (!rpcrdma_request_reply(q, &p, w.impostor, NULL, NULL))
		return;
	w.mistakes++;
	assert_int_equal(rpcrdma_request_error(q, RPCRDMA_SYSTEM_ERR, 0), 0);
}

/* Length and item come back as an item. */
static void h_echo(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_piece *in;
	unsigned n = rpcrdma_request_args(q, &in);
	struct rpcrdma_piece out[2];
	uint32_t len;
	uint8_t *p;
	size_t at = 0;

	assert_true(n && in[0].len >= 4);
	memcpy(&len, in[0].base, 4);
	p = rpcrdma_request_alloc(q, 4 + ntohl(len) + 4);
	memcpy(p, &len, 4);
	len = ntohl(len);
	for (unsigned i = 0; i < n; i++) {
		size_t skip = i ? 0 : 4, m = in[i].len - skip;

		if (m > len - at)
			m = len - at;
		memcpy(p + 4 + at, (const uint8_t *)in[i].base + skip, m);
		at += m;
	}
	assert_int_equal(at, len);
	out[0] = (struct rpcrdma_piece){p, 4, false};
	out[1] = (struct rpcrdma_piece){p + 4, len, true};
	assert_int_equal(rpcrdma_request_reply(q, out, 2, NULL, NULL), 0);
}

static void h_once(struct rpcrdma_request *q, void *arg)
{
	static const uint8_t word[4] = {0, 0, 0, 42};
	struct rpcrdma_piece p = {word, 4, false};

	w.once++;
	if (w.park)
		w.parked = q;
	else
		assert_int_equal(rpcrdma_request_reply(q, &p, 1, NULL, NULL), 0);
}

/* A program that knows less of the structure gets no more than that. */
static void get_half_of_caller(struct rpcrdma_request *q)
{
	struct rpcrdma_gss_caller half;
	const size_t n = offsetof(struct rpcrdma_gss_caller, uid);

	memset(&half, 0xa5, sizeof(half));
	assert_int_equal(rpcrdma_request_gss(q, &half, n), 0);
	assert_ptr_equal(half.principal, w.caller.principal);
	assert_int_equal(half.uid, 0xa5a5a5a5);
}

static void h_who(struct rpcrdma_request *q, void *arg)
{
	if (rpcrdma_request_gss(q, &w.caller, sizeof(w.caller))) {
		w.weak++;
		rpcrdma_request_error(q, RPCRDMA_AUTH_ERROR, 5);
		return;
	}
	get_half_of_caller(q);
	snprintf(w.principal, sizeof(w.principal), "%s", w.caller.principal);
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure procs[N_PROCS] = {
        [P_NULL] = {"NULL", h_null, 0, 0, 0, false},
        [P_ECHO] = {"ECHO", h_echo, 1, 1, 0, false},
        [P_ONCE] = {"ONCE", h_once, 0, 0, 0, true},
        [P_WHO] = {"WHO", h_who, 0, 0, 0, false},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, N_PROCS};

static void trace(void *arg, const char *json)
{
	w.contexts += strstr(json, "\"GSS_READY\"") != NULL;
	w.refused += strstr(json, "\"GSS_REFUSED\"") != NULL;
	w.sent += strstr(json, "\"CALL_SENT\"") != NULL;
	w.ended += strstr(json, "\"CALL_DONE\"") != NULL;
	if (w.sent - w.ended > w.most)
		w.most = w.sent - w.ended;
}

void start_service(void)
{
	struct rpcrdma_service_gss_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_service_gss_options);
	char why[256] = "";

	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	o.principal = "nfs@localhost";
	o.ret_reason = why;
	if (!w.impostor)
		assert_int_equal(rpcrdma_service_set_gss(w.service, &o), 0);
}

void start_listener(void)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage ss;
	char at[32];

	o.credits = 64;
	snprintf(at, sizeof(at), "127.0.0.1:%s", w.port[0] ? w.port : "0");
	assert_int_equal(rpcrdma_listen(w.engine, at, &o, w.service, 8, &w.listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &ss), 0);
	snprintf(w.port, sizeof(w.port), "%u",
	         ntohs(((struct sockaddr_in *)&ss)->sin_port));
}

/* -- the client ------------------------------------------------------------ */

struct rpcrdma_gss *context(const char *principal, enum rpcrdma_gss_service service,
                            uint64_t timeout_ns)
{
	struct rpcrdma_gss_options o = RPCRDMA_OPTIONS(struct rpcrdma_gss_options);
	struct rpcrdma_gss *g;

	o.principal = principal;
	o.service = service;
	o.program = PROG;
	o.version = VERS;
	o.timeout_ns = timeout_ns;
	assert_int_equal(rpcrdma_gss_new(w.conn, &o, &g), 0);
	return g;
}

void start(enum rpcrdma_gss_service service)
{
	struct rpcrdma_engine_options e =
	        RPCRDMA_OPTIONS(struct rpcrdma_engine_options);
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	e.trace = trace;
	assert_int_equal(rpcrdma_engine_new(&e, &w.engine), 0);
	start_service();
	start_listener();
	o.credits = 64;
	o.version = w.version;
	o.reconnect_min_ns = 1000000;
	o.reconnect_max_ns = 20000000;
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", w.port, &o, NULL, NULL, &w.conn),
	        0);
	w.gss = context("nfs@localhost", service, 0);
}

int clean_up(void **state)
{
	time_t end = time(NULL) + 20;

	rpcrdma_gss_free(w.gss);
	for (int i = 0; w.engine && i < 5; i++) /* DESTROY */
		(void)!rpcrdma_engine_process(w.engine, 5);
	if (w.conn)
		rpcrdma_conn_close(w.conn);
	if (w.listener)
		rpcrdma_listener_close(w.listener, 0);
	while (w.engine && !rpcrdma_engine_idle(w.engine) && time(NULL) < end)
		(void)!rpcrdma_engine_process(w.engine, 100);
	if (w.engine)
		assert_true(rpcrdma_engine_idle(w.engine));
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	memset(&w, 0, sizeof(w));
	if (strcmp(getenv("KRB5CCNAME"), getenv("ALICE_CC")) != 0)
		setenv("KRB5CCNAME", getenv("ALICE_CC"), 1);
	return 0;
}

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct wait *x = arg;
	const uint8_t *p = (const uint8_t *)r->results + 4;

	x->done++;
	x->status = r->status;
	x->auth_stat = r->auth_stat;
	x->reply_len = r->len;
	if (r->status || r->len < 4)
		return;
	memcpy(&x->word, r->results, 4);
	x->word = ntohl(x->word);
	x->used = r->n_dests && r->dests[0].ret_used;
	if (x->used)
		p = r->dests[0].ret_base;
	else if (x->expect && r->len != 4 + ((x->len + 3) & ~3u))
		return;
	x->right = !x->expect || (x->word == x->len && !memcmp(p, x->expect, x->len));
}

struct rpcrdma_call_options call_to(uint32_t proc, struct wait *x)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	memset(x, 0, sizeof(*x));
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.timeout_ns = 60000000000u;
	o.done = on_done;
	o.arg = x;
	o.gss = w.gss;
	return o;
}

void spin(const unsigned *count, unsigned want)
{
	time_t end = time(NULL) + 60;

	while (*count < want && time(NULL) < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 100), 0);
	assert_int_equal(*count, want);
}

void turn(unsigned times)
{
	while (times--)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
}

int run(struct rpcrdma_call_options *o)
{
	struct wait *x = o->arg;

	assert_int_equal(rpcrdma_call(w.conn, o, NULL), 0);
	spin(&x->done, 1);
	return x->status;
}

int run_null(struct rpcrdma_gss *g)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	o.gss = g;
	return run(&o);
}

/* @len octets there and back. */
bool echo(uint32_t len)
{
	uint8_t *data = malloc(len), *room = malloc(len), head[4];
	uint32_t n = htonl(len);
	struct rpcrdma_piece p[2] = {{head, 4, false}, {data, len, true}};
	struct rpcrdma_dest d = {.base = room, .len = len};
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_ECHO, &x);

	memcpy(head, &n, 4);
	for (uint32_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 7 + len);
	x.expect = data;
	x.len = len;
	o.args = p;
	o.n_args = 2;
	o.dests = &d;
	o.n_dests = !w.exact;
	o.reply_bytes = w.exact ? 4 + ((len + 3) & ~3u) : 0;
	assert_int_equal(run(&o), 0);
	assert_true(x.right);
	free(data);
	free(room);
	return x.used;
}

struct rpcrdma_stats stats(void)
{
	struct rpcrdma_stats s;

	rpcrdma_engine_get_stats(w.engine, &s, sizeof(s));
	return s;
}

struct rpcrdma_gss_info info(struct rpcrdma_gss *g)
{
	struct rpcrdma_gss_info i;

	rpcrdma_gss_get_info(g, &i, sizeof(i));
	return i;
}
