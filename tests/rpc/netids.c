/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which transport a CLIENT is made by: the first of the user's list that works, RDMA or
 * TCP, within the time given, and the user is told if that is not the first.  Ports are
 * named, no rpcbind is asked here (tests/interop/rpcbind_tirpc.sh does).
 */
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rpcrdma/hostauth.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#undef rpc_createerr /* the structure is meant */

static struct rig rig;
static char dead[32]; /* an address where nothing listens */
static unsigned dead_port;
static char told[256];
static int times_told;

static void take_notice(const char *text, void *arg)
{
	assert_ptr_equal(arg, told);
	assert_true(strlen(text) < sizeof(told));
	strcpy(told, text);
	times_told++;
}

static struct rpcrdma_tirpc_options options(const char *netids)
{
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);

	o.netids = netids;
	o.tcp_port = rig.tcp_port;
	o.notice = take_notice;
	o.notice_arg = told;
	times_told = 0;
	told[0] = '\0';
	return o;
}

static CLIENT *create(const char *host, const struct rpcrdma_tirpc_options *o)
{
	const struct timeval wait = {.tv_sec = 6};

	return clnt_rdma_create_timed(host, BLOB_PROG, BLOB_VERS, &wait, o);
}

/* It is by @netid, calls work, @words were said. */
static void expect(CLIENT *c, const char *netid, const char *words)
{
	char octets[100];
	blob_args a = {.id = 7, .data = {sizeof(octets), octets}};
	blob_res *r;

	if (!c)
		clnt_pcreateerror("create");
	assert_non_null(c);
	assert_string_equal(c->cl_netid, netid);
	rig_fill(octets, sizeof(octets), 1);
	r = blob_echo_1(&a, c);
	assert_non_null(r);
	assert_int_equal(r->id, 7);
	assert_true(rig_filled(r->data.data_val, sizeof(octets), 1));
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_res, r));
	clnt_destroy(c);
	assert_string_equal(told, words);
	assert_int_equal(times_told, *words ? 1 : 0);
}

static void expect_none(CLIENT *c, enum clnt_stat stat, int error)
{
	assert_null(c);
	assert_int_equal(__rpc_createerr()->cf_stat, stat);
	assert_int_equal(__rpc_createerr()->cf_error.re_errno, error);
	assert_int_equal(times_told, 0);
}

static void the_first_that_works_is_taken(void **state)
{
	static const char no_rdma[] =
	        "127.0.0.1: no RDMA (connection refused: nothing listens there): "
	        "using TCP";
	static const char no_tcp[] = "127.0.0.1: no TCP (connection refused: nothing "
	                             "listens there): using RDMA";
	struct rpcrdma_tirpc_options o = options("rdma,tcp");

	expect(create(rig.address, &o), "rdma", "");
	expect(create(dead, &o), "tcp", no_rdma);
	o = options("tcp,rdma");
	expect(create(dead, &o), "tcp", "");
	o.tcp_port = dead_port;
	expect(create(rig.address, &o), "rdma", no_tcp);
	o = options(NULL);
	expect(create(rig.address, &o), "rdma", "");
}

static void nothing_else_is_tried_unasked(void **state)
{
	struct rpcrdma_tirpc_options o = options(NULL);

	expect_none(create(dead, &o), RPC_SYSTEMERROR, ECONNREFUSED);
	o.netids = "rdma";
	expect_none(create(dead, &o), RPC_SYSTEMERROR, ECONNREFUSED);
	o = options("tcp");
	o.tcp_port = dead_port;
	expect_none(create(rig.address, &o), RPC_SYSTEMERROR, ECONNREFUSED);
}

static void the_error_is_that_of_the_preferred(void **state)
{
	struct rpcrdma_tirpc_options o = options("rdma6,tcp");

	o.tcp_port = dead_port;
	expect_none(create(rig.address, &o), RPC_UNKNOWNHOST, ENXIO);
	o.netids = "tcp,rdma6";
	expect_none(create(rig.address, &o), RPC_SYSTEMERROR, ECONNREFUSED);
}

static void ipv6_is_not_taken_from_ipv4(void **state)
{
	struct rpcrdma_tirpc_options o = options("rdma6,tcp6,tcp");

	expect(create(rig.address, &o), "tcp",
	       "127.0.0.1: no RDMA over IPv6 (it has no such address): using TCP");
}

/* A server that takes connections and says nothing has its share of the time. */
static void a_silent_one_leaves_time_for_the_next(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rpcrdma_tirpc_options o = options("rdma,tcp");
	const struct timeval wait = {.tv_sec = 2};
	socklen_t len = sizeof(a);
	time_t began = time(NULL);
	char address[32];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(a.sin_port));
	expect(clnt_rdma_create_timed(address, BLOB_PROG, BLOB_VERS, &wait, &o), "tcp",
	       "127.0.0.1: no RDMA (timed out): using TCP");
	o.netids = "rdma";
	times_told = 0;
	expect_none(clnt_rdma_create_timed(address, BLOB_PROG, BLOB_VERS, &wait, &o),
	            RPC_SYSTEMERROR, ETIMEDOUT);
	assert_true(time(NULL) - began < 15);
	close(fd);
}

static void lists_that_are_none_are_refused(void **state)
{
	static const char *const bad[] = {"",         "rdma,",     ",rdma",
	                                  "udp",      "rdma,rdma", "RDMA",
	                                  "rdma tcp", "rdma:tcp",  "netpath,tcp"};
	struct rpcrdma_tirpc_options o;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		o = options(bad[i]);
		expect_none(create(rig.address, &o), RPC_SYSTEMERROR, EINVAL);
	}
	o = options("tcp");
	o.tcp_port = 65536;
	expect_none(create(rig.address, &o), RPC_SYSTEMERROR, EINVAL);
}

static void the_environment_counts_where_asked_for(void **state)
{
	struct rpcrdma_tirpc_options o = options("netpath");

	setenv("NETPATH", "udp:tcp:rdma:tcp", 1);
	expect(create(rig.address, &o), "tcp", "");
	setenv("NETPATH", "rdma", 1);
	expect_none(create(dead, &o), RPC_SYSTEMERROR, ECONNREFUSED);
	setenv("NETPATH", "udp", 1);
	expect_none(create(dead, &o), RPC_SYSTEMERROR, EINVAL);
	unsetenv("NETPATH");
	expect(create(rig.address, &o), "rdma", "");
	setenv("NETPATH", "tcp", 1);
	o = options(NULL);
	expect(create(rig.address, &o), "rdma", "");
	unsetenv("NETPATH");
}

/* What must be proved to connect cannot be proved over TCP. */
static void required_authentication_excludes_tcp(void **state)
{
	struct rpcrdma_conn_options conn = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_tirpc_options o = options("rdma,tcp");

	conn.hostauth_policy = RPCRDMA_HOSTAUTH_REQUIRE;
	o.conn = &conn;
	expect_none(create(dead, &o), RPC_SYSTEMERROR, EINVAL);
}

static void versions_are_found_over_tcp_too(void **state)
{
	struct rpcrdma_tirpc_options o = options("rdma,tcp");
	rpcvers_t version = 0;
	CLIENT *c = clnt_rdma_create_vers(dead, BLOB_PROG, &version, 1, 9, &o);

	assert_non_null(c);
	assert_string_equal(c->cl_netid, "tcp");
	assert_int_equal(version, BLOB_VERS_3); /* the dispatch functions are shared */
	assert_int_equal(times_told, 1);
	clnt_destroy(c);
}

static void options_need_not_live_on(void **state)
{
	struct rpcrdma_conn_options *conn = malloc(sizeof(*conn));
	const struct timeval wait = {.tv_sec = 20};
	struct rpcrdma_tirpc_options o = options("rdma");
	struct rig other = {0};
	siginfo_t info;
	CLIENT *c;

	*conn = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	conn->provider = strdup("iwarp");
	conn->features = strdup("reminv");
	o.conn = conn;
	rig_start(&other);
	c = create(other.address, &o);
	assert_non_null(c);
	free((char *)(uintptr_t)conn->provider);
	free((char *)(uintptr_t)conn->features);
	free(conn);
	assert_int_not_equal(clnt_call(c, BLOB_DIE, (xdrproc_t)(void (*)(void))xdr_void,
	                               NULL, (xdrproc_t)(void (*)(void))xdr_void, NULL,
	                               wait),
	                     RPC_SUCCESS);
	assert_int_equal(waitid(P_PID, (id_t)other.pid, &info, WEXITED | WNOWAIT), 0);
	/* It connects again, by what it was told then. */
	assert_int_equal(clnt_call(c, NULLPROC, (xdrproc_t)(void (*)(void))xdr_void,
	                           NULL, (xdrproc_t)(void (*)(void))xdr_void, NULL,
	                           wait),
	                 RPC_CANTSEND);
	clnt_destroy(c);
	(void)rig_stop(&other);
}

static void only_transports_of_ours_are_registered(void **state)
{
	SVCXPRT *x = svc_raw_create();

	assert_non_null(x);
	assert_false(svc_rdma_reg(x, BLOB_PROG, BLOB_VERS, NULL));
	assert_int_equal(__rpc_createerr()->cf_error.re_errno, EINVAL);
	assert_false(svc_rdma_reg(NULL, BLOB_PROG, BLOB_VERS, NULL));
	svc_rdma_unreg(x, BLOB_PROG, BLOB_VERS);
	assert_string_equal(svc_rdma_identity(x), "");
}

static int begin(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	rig_start(&rig);
	/* Bound, so that it is nobody else's, and not listening. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) ||
	    getsockname(fd, (struct sockaddr *)&a, &len))
		return -1;
	dead_port = ntohs(a.sin_port);
	snprintf(dead, sizeof(dead), "127.0.0.1:%u", dead_port);
	return 0;
}

static int finish(void **state)
{
	return rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_first_that_works_is_taken),
	        cmocka_unit_test(nothing_else_is_tried_unasked),
	        cmocka_unit_test(the_error_is_that_of_the_preferred),
	        cmocka_unit_test(ipv6_is_not_taken_from_ipv4),
	        cmocka_unit_test(a_silent_one_leaves_time_for_the_next),
	        cmocka_unit_test(lists_that_are_none_are_refused),
	        cmocka_unit_test(the_environment_counts_where_asked_for),
	        cmocka_unit_test(required_authentication_excludes_tcp),
	        cmocka_unit_test(versions_are_found_over_tcp_too),
	        cmocka_unit_test(options_need_not_live_on),
	        cmocka_unit_test(only_transports_of_ours_are_registered),
	};

	return cmocka_run_group_tests(tests, begin, finish);
}
