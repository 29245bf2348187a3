/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that answer a CLIENT with anything, and clients that ask an SVCXPRT for
 * anything: RPC headers and XDR that end in the middle, lengths and flavors of all
 * kinds, items where none belong and of the wrong length.  Each call ends, what follows
 * is served, nothing is lost.  The variations come from numbers that begin alike each
 * time.  Worth the most under the address sanitizer.
 */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/cursor.h"
#include "rpc/calls.h"
#include "rpc/dispatch.h"

#define VOID ((xdrproc_t)(void (*)(void))xdr_void)

enum { ROUNDS = 1500, MOST = 1 << 20, ITEM = 5000 };

static const struct timeval long_time = {.tv_sec = 60};

/* As the rig's, with room for what may come here. */
static const struct rpcrdma_tirpc_item
        data_item = RPCRDMA_TIRPC_ITEM(blob_res, data.data_val, ITEM),
        got_item = RPCRDMA_TIRPC_ITEM(blob_got, blob_got_u.ok.data.data_val, ITEM),
        pair_items[] = {RPCRDMA_TIRPC_ITEM(blob_pair, first, ITEM),
                        RPCRDMA_TIRPC_ITEM(blob_pair, second.second_val, ITEM)};
static const struct rpcrdma_tirpc_procedure client_procs[] = {
        {BLOB_ECHO, NULL, 0, &data_item, 1, 0},
        {BLOB_GET, NULL, 0, &got_item, 1, 0},
        {BLOB_SWAP, pair_items, 2, pair_items, 2, 0},
};
static const struct rpcrdma_tirpc_binding client_binding = {BLOB_PROG, BLOB_VERS,
                                                            client_procs, 3};
static const struct rpcrdma_tirpc_binding *const client_bindings[] = {&client_binding};
static const struct rpcrdma_tirpc_options bound = {
        .size = sizeof(bound), .bindings = client_bindings, .n_bindings = 1};

static uint32_t below(uint32_t *state, uint32_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % n;
}

/* A message in the making: words, then an item, then words. */
struct message {
	uint32_t *random;
	size_t words, tail_words, item_len;
	bool item;
	uint8_t head[1024], tail[16], octets[ITEM];
};

static void put(struct message *m, uint32_t v)
{
	rr_store_u32(m->head + 4 * m->words++, v);
}

static void put_many(struct message *m, size_t n, uint32_t most)
{
	while (n--)
		put(m, below(m->random, most));
}

/* Lengths that a routine may allocate are not for the sanitizer to die of. */
static uint32_t odd_word(uint32_t *random)
{
	static const uint32_t odd[] = {0, 1, 2, 3, 5, 399, 400, 401, 4096, 65535};

	return below(random, 2) ? odd[below(random, 10)] : below(random, MOST);
}

/* Changes a word from the @from-th on, or cuts it short, or leaves it. */
static void spoil(struct message *m, size_t from)
{
	switch (below(m->random, 5)) {
	case 0:
		if (m->words > from)
			m->words -= below(m->random, (uint32_t)(m->words - from) + 1);
		m->tail_words = 0;
		break;
	case 1:
		m->item = !m->item;
		break;
	case 2:
		m->item_len = below(m->random, ITEM);
		break;
	default:
		for (uint32_t n = below(m->random, 3); n && m->words > from; n--) {
			uint32_t at = below(m->random, (uint32_t)(m->words - from));

			rr_store_u32(m->head + 4 * (from + at), odd_word(m->random));
		}
	}
}

static unsigned pieces(const struct message *m, struct rpcrdma_piece ret[3])
{
	/* The transport carries whole words only. */
	size_t len = m->item ? m->item_len : m->item_len & ~(size_t)3;
	unsigned n = 0;

	ret[n++] = (struct rpcrdma_piece){m->head, 4 * m->words, false};
	if (len)
		ret[n++] = (struct rpcrdma_piece){m->octets, len, m->item};
	if (m->tail_words)
		ret[n++] = (struct rpcrdma_piece){m->tail, 4 * m->tail_words, false};
	return n;
}

static struct message *new_message(uint32_t *random)
{
	struct message *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->random = random;
	/* Nor are these, where they are taken for lengths. */
	for (size_t i = 0; i < sizeof(m->octets); i++)
		m->octets[i] = i % 4 > 1;
	return m;
}

/* -- a server ---------------------------------------------------------------------- */

static uint32_t answers = 1;
static enum { ANYTHING, PLAIN, SHORTHAND, DENIAL, UNASKED } manners;
static unsigned asked[4]; /* by flavor */

static void put_results(struct message *m, uint32_t proc)
{
	m->item_len = below(m->random, ITEM);
	m->item = below(m->random, 2);
	if (proc == BLOB_GET)
		put(m, below(m->random, 4) == 0); /* the other arm, at times */
	if (proc == BLOB_ECHO)
		put(m, 1);
	if (proc == BLOB_SWAP) {
		put(m, 4);
		put_many(m, 1, UINT32_MAX);
	}
	put(m, (uint32_t)m->item_len);
	m->tail_words = 1 + below(m->random, 2);
	rr_store_u32(m->tail, below(m->random, 8));
}

static void put_anything(struct message *m, uint32_t proc)
{
	uint32_t verifier = below(m->random, 4) ? 0 : 4 * below(m->random, 101);

	put(m, 0);
	put(m, 0);
	put(m, verifier);
	put_many(m, verifier / 4, UINT32_MAX);
	put(m, 0);
	put_results(m, proc);
	spoil(m, 1);
}

static void put_words(struct message *m, const uint32_t *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put(m, words[i]);
}

/* AUTH_SHORT in the verifier of what AUTH_SYS asked; it is good for nothing. */
static void put_shorthand(struct message *m, uint32_t flavor)
{
	static const uint32_t given[] = {0, AUTH_SHORT, 12, AUTH_SHORT,
	                                 4, 0x11223344, 0};
	static const uint32_t denied[] = {1, 1, AUTH_REJECTEDCRED};

	if (flavor == AUTH_SYS)
		put_words(m, given, 7);
	else
		put_words(m, denied, 3);
}

/* An item where the results have the arm without one. */
static void put_unasked(struct message *m)
{
	static const uint32_t words[] = {0, 0, 0, 0, 1, 0};

	put_words(m, words, 6);
	m->item = true;
	m->item_len = 100;
}

static void on_request(struct rpcrdma_request *q, void *arg)
{
	static const uint32_t plain[4];
	const struct rr_rpc_call *c = rr_request_rpc(q);
	struct message *m = new_message(&answers);
	struct rpcrdma_piece p[3];

	asked[c->cred.flavor & 3]++;
	put(m, c->xid);
	put(m, RR_RPC_REPLY);
	switch (manners) {
	case ANYTHING:
		put_anything(m, c->procedure);
		break;
	case PLAIN:
		put_words(m, plain, 4);
		break;
	case SHORTHAND:
		put_shorthand(m, c->cred.flavor);
		break;
	case DENIAL:
		put_shorthand(m, AUTH_SHORT);
		break;
	case UNASKED:
		put_unasked(m);
		break;
	}
	/* Nothing shorter is an answer. */
	while (manners == ANYTHING && m->words < 6)
		put(m, odd_word(&answers));
	assert_int_equal(rr_request_reply_passthrough(q, p, pieces(m, p), free, m), 0);
}

static const struct rpcrdma_procedure *any_procedure(void *arg, uint32_t prog,
                                                     uint32_t vers, uint32_t proc)
{
	static const struct rpcrdma_procedure p = {
	        .name = "any", .max_read_items = 8, .max_write_items = 8};

	return &p;
}

struct server {
	pthread_t thread;
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	char address[32];
};

static void *run_engine(void *e)
{
	assert_int_equal(rpcrdma_engine_run(e), 0);
	return NULL;
}

static void begin_server(struct server *s)
{
	static const struct rr_service_passthrough pass = {.binding = any_procedure,
	                                                   .handler = on_request};
	struct sockaddr_storage ss;

	assert_int_equal(rpcrdma_engine_new(NULL, &s->engine), 0);
	assert_int_equal(rpcrdma_service_new(&s->service), 0);
	s->service->pass = &pass;
	assert_int_equal(rpcrdma_listen(s->engine, "127.0.0.1:0", NULL, s->service, 0,
	                                &s->listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(s->listener, &ss), 0);
	snprintf(s->address, sizeof(s->address), "127.0.0.1:%u",
	         ntohs(((struct sockaddr_in *)&ss)->sin_port));
	assert_int_equal(pthread_create(&s->thread, NULL, run_engine, s->engine), 0);
}

static void end_server(struct server *s)
{
	rpcrdma_engine_stop(s->engine);
	pthread_join(s->thread, NULL);
	rpcrdma_engine_free(s->engine);
	rpcrdma_service_free(s->service);
}

/* One call, whatever comes; false: nothing came. */
static bool any_call(CLIENT *c, uint32_t *random)
{
	static char octets[100], word[] = "word";
	static const rpcproc_t procs[] = {BLOB_GET, BLOB_ECHO, BLOB_SWAP, BLOB_CALLER};
	static const xdrproc_t out[] = {(xdrproc_t)xdr_blob_got,
	                                (xdrproc_t)xdr_blob_res,
	                                (xdrproc_t)xdr_blob_pair, (xdrproc_t)xdr_u_int};
	union {
		blob_got got;
		blob_res res;
		blob_pair pair;
		u_int n;
	} r;
	blob_args a = {.data = {sizeof(octets), octets}};
	blob_pair pair = {.first = word, .second = {sizeof(octets), octets}};
	u_int n = 7, k = below(random, 4);
	xdrproc_t in[] = {(xdrproc_t)xdr_u_int, (xdrproc_t)xdr_blob_args,
	                  (xdrproc_t)xdr_blob_pair, VOID};
	void *args[] = {&n, &a, &pair, NULL};
	enum clnt_stat stat;

	memset(&r, 0, sizeof(r));
	stat = clnt_call(c, procs[k], in[k], args[k], out[k], (char *)&r, long_time);
	xdr_free(out[k], (char *)&r);
	return stat != RPC_TIMEDOUT;
}

static void a_client_survives_any_answer(void **state)
{
	uint32_t random = 7;
	struct server s;
	CLIENT *c[2];

	begin_server(&s);
	for (int i = 0; i < 2; i++) {
		c[i] = clnt_rdma_create(s.address, BLOB_PROG, BLOB_VERS,
		                        i ? &bound : NULL);
		assert_non_null(c[i]);
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (!any_call(c[i & 1], &random))
			fail_msg("call %u has no end", i);
	}
	manners = PLAIN;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
		        clnt_call(c[i], BLOB_NULL, VOID, NULL, VOID, NULL, long_time),
		        RPC_SUCCESS);
		clnt_destroy(c[i]);
	}
	end_server(&s);
}

/* The credential that the server gave is used, and when it takes it no longer the
 * first one is again. */
static void a_shorthand_is_used_and_given_up(void **state)
{
	char machine[] = "here";
	struct server s;
	CLIENT *c;

	manners = SHORTHAND;
	begin_server(&s);
	c = clnt_rdma_create(s.address, BLOB_PROG, BLOB_VERS, NULL);
	assert_non_null(c);
	c->cl_auth = authunix_create(machine, 1, 2, 0, NULL);
	memset(asked, 0, sizeof(asked));
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(
		        clnt_call(c, BLOB_NULL, VOID, NULL, VOID, NULL, long_time),
		        RPC_SUCCESS);
		assert_int_equal(asked[AUTH_SYS], i + 1);
		assert_int_equal(asked[AUTH_SHORT], i);
	}
	auth_destroy(c->cl_auth);
	clnt_destroy(c);
	end_server(&s);
}

static unsigned refreshed;

static bool_t always(AUTH *auth, void *msg)
{
	refreshed++;
	return TRUE;
}

/* An authenticator that always hopes, and a server that always says no. */
static void a_credential_is_refreshed_twice_at_most(void **state)
{
	char machine[] = "here";
	AUTH *sys = authunix_create(machine, 1, 2, 0, NULL), hopeful = *sys;
	__typeof__(*sys->ah_ops) ops = *sys->ah_ops;
	struct server s;
	CLIENT *c;

	manners = DENIAL;
	begin_server(&s);
	ops.ah_refresh = always;
	hopeful.ah_ops = &ops;
	c = clnt_rdma_create(s.address, BLOB_PROG, BLOB_VERS, NULL);
	assert_non_null(c);
	c->cl_auth = &hopeful;
	memset(asked, 0, sizeof(asked));
	assert_int_equal(clnt_call(c, BLOB_NULL, VOID, NULL, VOID, NULL, long_time),
	                 RPC_AUTHERROR);
	assert_int_equal(asked[AUTH_SYS], 3);
	assert_int_equal(refreshed, 2);
	clnt_destroy(c);
	auth_destroy(sys);
	end_server(&s);
}

/* What came on its own and belongs nowhere is not passed over. */
static void an_item_that_nobody_decodes(void **state)
{
	struct server s;
	u_int len = 100;
	blob_got g;
	CLIENT *c;

	manners = UNASKED;
	begin_server(&s);
	c = clnt_rdma_create(s.address, BLOB_PROG, BLOB_VERS, &bound);
	assert_non_null(c);
	memset(&g, 0, sizeof(g));
	assert_int_equal(clnt_call(c, BLOB_GET, (xdrproc_t)xdr_u_int, (char *)&len,
	                           (xdrproc_t)xdr_blob_got, (char *)&g, long_time),
	                 RPC_CANTDECODERES);
	assert_int_equal(g.status, 1);
	xdr_free((xdrproc_t)xdr_blob_got, (char *)&g);
	clnt_destroy(c);
	end_server(&s);
}

/* -- clients ----------------------------------------------------------------------- */

enum { PROG = BLOB_PROG + 7, VERS = 1 };

static const struct rpcrdma_tirpc_item args_item =
        RPCRDMA_TIRPC_ITEM(blob_args, data.data_val, RIG_MAX);
static const struct rpcrdma_tirpc_procedure procs[] = {
        {1, &args_item, 1, &args_item, 1, 0}};
static const struct rpcrdma_tirpc_binding binding = {PROG, VERS, procs, 1};
static const struct rpcrdma_tirpc_binding *const bindings[] = {&binding};
static const struct rpcrdma_tirpc_options served = {
        .size = sizeof(served), .bindings = bindings, .n_bindings = 1};

/* Gives back what it got, and loses nothing of what it could not read. */
static void dispatch(struct svc_req *r, SVCXPRT *x)
{
	xdrproc_t proc =
	        r->rq_proc == 2 ? (xdrproc_t)xdr_blob_pair : (xdrproc_t)xdr_blob_args;
	union {
		blob_args args;
		blob_pair pair;
	} a;

	memset(&a, 0, sizeof(a));
	if (!r->rq_proc)
		svc_sendreply(x, VOID, NULL);
	else if (!svc_getargs(x, proc, (char *)&a))
		svcerr_decode(x);
	else if (!svc_sendreply(x, proc, (char *)&a))
		svcerr_systemerr(x);
	if (!svc_freeargs(x, proc, (char *)&a))
		abort();
}

static void more(SVCXPRT *x)
{
	if (!svc_reg(x, PROG, VERS, dispatch, NULL))
		abort();
}

/* AUTH_SYS as it is meant, or octets. */
static void put_auth(struct message *m)
{
	static const uint32_t flavors[] = {0, 1, 1, 1, 2, 3, 6, 6, 77, UINT32_MAX};
	uint32_t flavor = flavors[below(m->random, 10)];
	uint32_t n = below(m->random, 4) ? below(m->random, 30) : below(m->random, 101);

	if (flavor == AUTH_SYS)
		n = below(m->random, 17);
	put(m, flavor);
	put(m, flavor == AUTH_SYS ? 24 + 4 * n : 4 * n);
	if (flavor == AUTH_SYS) {
		put(m, 0);
		put(m, 4);
		put(m, 0x68657265);
		put(m, 1);
		put(m, 2);
		put(m, n);
	}
	put_many(m, n, 5);
}

static void put_call(struct message *m, uint32_t xid)
{
	uint32_t proc = below(m->random, 3);

	put(m, xid);
	put(m, RR_RPC_CALL);
	put(m, below(m->random, 50) ? 2 : 3);
	put(m, PROG);
	put(m, below(m->random, 50) ? VERS : 2);
	put(m, proc);
	put_auth(m);
	put(m, 0);
	put(m, 0);
}

static void put_args(struct message *m)
{
	m->item_len = below(m->random, ITEM);
	m->item = below(m->random, 4);
	put(m, below(m->random, 2) ? 4 : below(m->random, 100));
	if (below(m->random, 2))
		put(m, 0x00000001);
	put(m, (uint32_t)m->item_len);
	m->tail_words = below(m->random, 3);
	rr_store_u32(m->tail, 9);
}

struct attack {
	struct rpcrdma_engine *engine;
	struct rpcrdma_conn *conn;
	uint32_t random, xid;
	unsigned answered, refused, lost;
	bool over;
	int status;
};

static void done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct attack *a = arg;

	a->over = true;
	a->status = r->status;
}

/* The head is the RPC header, as far as the library is told: what can be cut off
 * is sent in the same message all the same. */
static void attack(struct attack *a)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct message *m = new_message(&a->random);
	struct rpcrdma_piece p[3];
	char room[2][1000];
	struct rpcrdma_dest dests[2] = {{.base = room[0], .len = sizeof(room[0])},
	                                {.base = room[1], .len = sizeof(room[1])}};
	struct rr_call_passthrough pass = {.bound = true};

	put_call(m, ++a->xid);
	put_args(m);
	spoil(m, 1);
	while (m->words < 5)
		put(m, odd_word(&a->random));
	o.n_args = pieces(m, p) - 1;
	o.args = p + 1;
	o.dests = dests;
	o.n_dests = below(&a->random, 3);
	o.timeout_ns = 60000000000u;
	o.done = done;
	o.arg = a;
	pass.header = m->head;
	pass.len = 4 * m->words;
	a->over = false;
	assert_int_equal(rr_calls_make(a->conn, &o, &pass, NULL), 0);
	while (!a->over)
		assert_int_equal(rpcrdma_engine_process(a->engine, 1000), 0);
	a->answered += a->status == 0;
	a->refused += a->status == RPCRDMA_TRANSPORT_ERROR;
	a->lost += a->status < 0;
	assert_int_not_equal(a->status, -ETIMEDOUT);
	free(m);
}

static void a_server_survives_any_call(void **state)
{
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rig rig = {.options = &served, .more = more};
	struct attack a = {.random = 99};
	char port[16];
	CLIENT *c;

	co.reconnect_min_ns = 1000000;
	co.reconnect_max_ns = 10000000;
	rig_start(&rig);
	snprintf(port, sizeof(port), "%u", rig.rdma_port);
	assert_int_equal(rpcrdma_engine_new(NULL, &a.engine), 0);
	assert_int_equal(
	        rpcrdma_connect(a.engine, "127.0.0.1", port, &co, NULL, NULL, &a.conn),
	        0);
	for (unsigned i = 0; i < ROUNDS; i++)
		attack(&a);
	print_message("%u answered, %u refused, %u lost\n", a.answered, a.refused,
	              a.lost);
	assert_true(a.answered > ROUNDS / 4);
	assert_true(a.refused > 0);
	rpcrdma_engine_free(a.engine);
	c = clnt_rdma_create(rig.address, PROG, VERS, NULL);
	assert_non_null(c);
	assert_int_equal(clnt_call(c, 0, VOID, NULL, VOID, NULL, long_time),
	                 RPC_SUCCESS);
	clnt_destroy(c);
	assert_int_equal(rig_stop(&rig), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_client_survives_any_answer),
	        cmocka_unit_test(a_shorthand_is_used_and_given_up),
	        cmocka_unit_test(a_credential_is_refreshed_twice_at_most),
	        cmocka_unit_test(an_item_that_nobody_decodes),
	        cmocka_unit_test(a_server_survives_any_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
