/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server that lies about the lengths of what RPCSEC_GSS protects: libtirpc, which
 * would allocate what is claimed, is not even asked.  No Kerberos is needed for that.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "blob.h"
#include <rpcrdma/tirpc.h>

#include "base/cursor.h"
#include "rpc/dispatch.h"

#define VOID ((xdrproc_t)(void (*)(void))xdr_void)

static const struct timeval long_time = {.tv_sec = 60};

/* -- the server ------------------------------------------------------------ */

static uint32_t lie[8];
static unsigned lie_words;

static void on_request(struct rpcrdma_request *q, void *arg)
{
	static uint8_t reply[24 + sizeof(lie)];
	const struct rpcrdma_piece p = {reply, 24 + 4 * lie_words, false};

	memset(reply, 0, 24);
	rr_store_u32(reply, rr_request_rpc(q)->xid);
	rr_store_u32(reply + 4, 1);
	for (unsigned i = 0; i < lie_words; i++)
		rr_store_u32(reply + 24 + 4 * i, lie[i]);
	assert_int_equal(rr_request_reply_passthrough(q, &p, 1, NULL, NULL), 0);
}

static const struct rpcrdma_procedure *any_procedure(void *arg, uint32_t prog,
                                                     uint32_t vers, uint32_t proc)
{
	static const struct rpcrdma_procedure p = {.name = "any"};

	return &p;
}

static void *run_engine(void *e)
{
	assert_int_equal(rpcrdma_engine_run(e), 0);
	return NULL;
}

/* -- the client ------------------------------------------------------------ */

static uint32_t service;
static unsigned unwrapped;

static int marshal(AUTH *a, XDR *x)
{
	uint8_t body[20] = {[3] = 1, [11] = 1, [15] = (uint8_t)service};
	struct opaque_auth cred = {RPCSEC_GSS, (caddr_t)body, sizeof(body)};

	return xdr_opaque_auth(x, &cred) && xdr_opaque_auth(x, &_null_auth);
}

static int wrap(AUTH *a, XDR *x, xdrproc_t proc, caddr_t where)
{
	return (*proc)(x, where);
}

static int count_unwrap(AUTH *a, XDR *x, xdrproc_t proc, caddr_t where)
{
	unwrapped++;
	return TRUE;
}

static int validate(AUTH *a, struct opaque_auth *v)
{
	return TRUE;
}

static int refresh(AUTH *a, void *m)
{
	return FALSE;
}

static void nothing(AUTH *a)
{
}

static struct auth_ops ops = {
        .ah_nextverf = nothing,
        .ah_marshal = marshal,
        .ah_validate = validate,
        .ah_refresh = refresh,
        .ah_destroy = nothing,
        .ah_wrap = wrap,
        .ah_unwrap = count_unwrap,
};

/* Asks once; were the results given to libtirpc? */
static bool believed(CLIENT *c, const uint32_t *words, unsigned n)
{
	unsigned before = unwrapped;
	enum clnt_stat stat;

	memcpy(lie, words, 4 * n);
	lie_words = n;
	stat = clnt_call(c, 1, VOID, NULL, VOID, NULL, long_time);
	assert_int_equal(stat, unwrapped > before ? RPC_SUCCESS : RPC_CANTDECODERES);
	return unwrapped > before;
}

static void ask(CLIENT *c)
{
	for (service = 2; service <= 3; service++) {
		const bool integrity = service == 2;

		assert_true(believed(c, (uint32_t[]){8, 1, 2, 4, 3}, 5));
		assert_int_equal(believed(c, (uint32_t[]){8, 1, 2, 8, 3}, 5),
		                 !integrity);
		assert_int_equal(believed(c, (uint32_t[]){8, 1, 2}, 3), !integrity);
		assert_false(believed(c, (uint32_t[]){9, 1, 2}, 3));
		assert_false(believed(c, (uint32_t[]){0xffffffff, 1, 2, 4, 3}, 5));
		assert_false(believed(c, (uint32_t[]){0xfffffffc}, 1));
		assert_false(believed(c, (uint32_t[]){0}, 0));
	}
	service = 1; /* nothing is protected */
	assert_true(believed(c, (uint32_t[]){0xffffffff}, 1));
}

static void lengths_are_compared(void **state)
{
	static const struct rr_service_passthrough pass = {.binding = any_procedure,
	                                                   .handler = on_request};
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	AUTH auth = {.ah_cred.oa_flavor = RPCSEC_GSS, .ah_ops = &ops};
	struct rpcrdma_engine *e;
	struct rpcrdma_service *s;
	struct rpcrdma_listener *l;
	struct sockaddr_storage a;
	pthread_t t;
	char at[40];
	CLIENT *c;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	assert_int_equal(rpcrdma_service_new(&s), 0);
	s->pass = &pass;
	assert_int_equal(rpcrdma_listen(e, "127.0.0.1:0", &o, s, 0, &l), 0);
	assert_int_equal(rpcrdma_listener_addr(l, &a), 0);
	assert_int_equal(pthread_create(&t, NULL, run_engine, e), 0);
	snprintf(at, sizeof(at), "127.0.0.1:%u",
	         ntohs(((struct sockaddr_in *)&a)->sin_port));
	c = clnt_rdma_create(at, BLOB_PROG, BLOB_VERS, NULL);
	assert_non_null(c);
	c->cl_auth = &auth;
	ask(c);
	clnt_destroy(c);
	rpcrdma_engine_stop(e);
	pthread_join(t, NULL);
	rpcrdma_engine_free(e);
	rpcrdma_service_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lengths_are_compared)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
