/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host authentication under programs of libtirpc: a dispatch function learns what its
 * client proved to be, and a CLIENT wants the name that the user gave in the server's
 * certificate, also on the connections that it makes later.
 */
#include "rig.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <rpcrdma/hostauth.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "test_certs.h"

#undef rpc_createerr /* the structure is meant */

enum { PROG = 0x20000321, VERS = 1 };

static struct certs certs;
static struct rpcrdma_hostauth *server, *client;
static struct rpcrdma_conn_options conn;
static struct rpcrdma_tirpc_options served;
static struct rig rig;

static const struct timeval wait = {.tv_sec = 20};

/* Procedure 1: who asks? */
static void who(struct svc_req *r, SVCXPRT *x)
{
	char text[256], *p = text;

	snprintf(text, sizeof(text), "%s", svc_rdma_identity(x));
	svc_sendreply(x, (xdrproc_t)xdr_wrapstring, (char *)&p);
}

static void more(SVCXPRT *x)
{
	assert_true(svc_reg(x, PROG, VERS, who, NULL));
	assert_string_equal(svc_rdma_identity(x), ""); /* nobody's request */
}

static struct rpcrdma_hostauth *load(const char *cert, const char *key)
{
	struct rpcrdma_hostauth_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
	struct rpcrdma_hostauth *h;

	o.ca_file = certs_path(&certs, "ca.pem");
	o.cert_file = certs_path(&certs, cert);
	o.key_file = certs_path(&certs, key);
	assert_int_equal(rpcrdma_hostauth_new(&o, &h, NULL, 0), 0);
	return h;
}

/* A client that wants @name in the certificate; NULL: the host. */
static CLIENT *create(const char *host, const char *name)
{
	struct rpcrdma_conn_options c = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	char address[64], given[64] = "";
	CLIENT *clnt;

	c.hostauth = client;
	c.hostauth_policy = RPCRDMA_HOSTAUTH_REQUIRE;
	if (name)
		c.hostauth_name = strcpy(given, name);
	o.conn = &c;
	snprintf(address, sizeof(address), "%s:%u", host, rig.rdma_port);
	clnt = clnt_rdma_create(address, PROG, VERS, &o);
	strcpy(given, "nobody"); /* borrowed while it was made */
	return clnt;
}

static void expect(CLIENT *c, const char *identity)
{
	char *got = NULL;

	assert_non_null(c);
	assert_int_equal(clnt_call(c, 1, (xdrproc_t)(void (*)(void))xdr_void, NULL,
	                           (xdrproc_t)xdr_wrapstring, (char *)&got, wait),
	                 RPC_SUCCESS);
	assert_string_equal(got, identity);
	free(got);
}

static void a_service_learns_who_asks(void **state)
{
	CLIENT *c = create("127.0.0.1", NULL);
	CLIENT *d = clnt_rdma_create(rig.address, PROG, VERS, NULL);

	expect(c, "CN=client");
	expect(d, ""); /* has proved nothing */
	expect(c, "CN=client");
	clnt_destroy(c);
	clnt_destroy(d);
}

/* The certificate has 127.0.0.1, and that is what localhost is. */
static void the_certificate_must_have_the_name_that_was_given(void **state)
{
	assert_null(create("localhost", NULL));
	assert_int_equal(__rpc_createerr()->cf_stat, RPC_SYSTEMERROR);
	assert_int_equal(__rpc_createerr()->cf_error.re_errno, EACCES);
}

static void the_name_is_kept_for_later_connections(void **state)
{
	CLIENT *c = create("localhost", "server.example");
	struct pollfd lost = {.events = POLLIN};

	expect(c, "CN=client");
	assert_true(clnt_control(c, CLGET_FD, (char *)&lost.fd));
	assert_int_equal(poll(&lost, 1, 20000), 1); /* the server closes what is idle */
	expect(c, "CN=client");
	clnt_destroy(c);
}

static int begin(void **state)
{
	certs_begin(&certs);
	server = load("server.pem", "server.key");
	client = load("client.pem", "client.key");
	conn = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	conn.hostauth = server;
	conn.hostauth_policy = RPCRDMA_HOSTAUTH_PREFER;
	conn.idle_ns = 2000000000;
	served = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	served.conn = &conn;
	rig.options = &served;
	rig.more = more;
	rig_start(&rig);
	return 0;
}

static int finish(void **state)
{
	int status = rig_stop(&rig);

	rpcrdma_hostauth_free(client);
	rpcrdma_hostauth_free(server);
	certs_end(&certs);
	return status;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_service_learns_who_asks),
	        cmocka_unit_test(the_certificate_must_have_the_name_that_was_given),
	        cmocka_unit_test(the_name_is_kept_for_later_connections),
	};

	return cmocka_run_group_tests(tests, begin, finish);
}
