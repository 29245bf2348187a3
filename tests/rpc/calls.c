/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What users of libtirpc know of a CLIENT and an SVCXPRT holds over RDMA: calls through
 * the stubs of rpcgen, errors of each kind, timeouts, what can be asked of a handle,
 * servers that are gone.
 */
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define VOID ((xdrproc_t)(void (*)(void))xdr_void)

static struct rig rig;
static const struct timeval long_time = {.tv_sec = 30};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enum clnt_stat null_call(CLIENT *c, rpcproc_t proc, struct timeval timeout)
{
	return clnt_call(c, proc, VOID, NULL, VOID, NULL, timeout);
}

/* -- calls ----------------------------------------------------------------- */

static void stubs_work_unchanged(void **state)
{
	char octets[5000];
	blob_args a = {.id = 7, .data = {sizeof(octets), octets}, .tail = 3};
	CLIENT *c = rig_client(&rig, NULL);
	blob_res *r;

	rig_fill(octets, sizeof(octets), 1);
	for (u_int len = 0; len <= 4100; len += len < 8 ? 1 : 1021) {
		a.data.data_len = len;
		r = blob_echo_1(&a, c);
		assert_non_null(r);
		assert_int_equal(r->id, 7);
		assert_int_equal(r->data.data_len, len);
		assert_true(rig_filled(r->data.data_val, len, 1));
		assert_string_equal(r->note, "echo");
		assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_res, r));
	}
	clnt_destroy(c);
}

static void both_transports_of_one_server(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_port = htons((uint16_t)rig.tcp_port),
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct netbuf n = {sizeof(a), sizeof(a), &a};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	CLIENT *tcp = clnt_vc_create(fd, &n, BLOB_PROG, BLOB_VERS, 0, 0);
	CLIENT *rdma = rig_client(&rig, NULL);

	assert_non_null(tcp);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(null_call(tcp, BLOB_NULL, long_time), RPC_SUCCESS);
		assert_int_equal(null_call(rdma, BLOB_NULL, long_time), RPC_SUCCESS);
	}
	clnt_destroy(rdma);
	clnt_destroy(tcp);
	close(fd);
}

static void dispatch_knows_its_caller(void **state)
{
	CLIENT *one = rig_client(&rig, NULL), *two = rig_client(&rig, NULL);
	u_int a = *blob_caller_1(NULL, one), b = *blob_caller_1(NULL, two);

	assert_true(a > 0);
	assert_true(b > 0);
	assert_int_not_equal(a, b);
	assert_int_equal(*blob_caller_1(NULL, one), a);
	clnt_destroy(one);
	clnt_destroy(two);
}

static void credentials_arrive(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	char machine[] = "here";
	struct rpc_err e;
	AUTH *none = c->cl_auth;

	assert_null(blob_uid_1(NULL, c));
	clnt_geterr(c, &e);
	assert_int_equal(e.re_status, RPC_AUTHERROR);
	assert_int_equal(e.re_why, AUTH_TOOWEAK);
	auth_destroy(none);
	c->cl_auth = authunix_create(machine, 4711, 5, 0, NULL);
	assert_int_equal(*blob_uid_1(NULL, c), 4711);
	auth_destroy(c->cl_auth);
	clnt_destroy(c);
}

/* -- errors of servers ----------------------------------------------------- */

static void errors_are_those_of_rpc(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	rpcprog_t prog = BLOB_PROG + 1;
	rpcvers_t vers = 2;
	struct rpc_err e;
	u_int short_args = 5;

	assert_int_equal(null_call(c, 77, long_time), RPC_PROCUNAVAIL);
	assert_int_equal(clnt_call(c, BLOB_ECHO, (xdrproc_t)xdr_u_int,
	                           (char *)&short_args, VOID, NULL, long_time),
	                 RPC_CANTDECODEARGS);
	assert_true(clnt_control(c, CLSET_VERS, (char *)&vers));
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_PROGVERSMISMATCH);
	clnt_geterr(c, &e);
	assert_int_equal(e.re_status, RPC_PROGVERSMISMATCH);
	assert_int_equal(e.re_vers.low, 1);
	assert_int_equal(e.re_vers.high, 3);
	assert_true(clnt_control(c, CLSET_PROG, (char *)&prog));
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_PROGUNAVAIL);
	assert_non_null(strstr(clnt_sperror(c, "x"), "Program unavailable"));
	clnt_destroy(c);
}

static void silence_is_answered(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);

	/* More than there are credits: none is lost. */
	for (int i = 0; i < 100; i++)
		assert_int_equal(null_call(c, BLOB_SILENT, long_time), RPC_SYSTEMERROR);
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	clnt_destroy(c);
}

static bool_t xdr_no(XDR *x, void *p)
{
	return FALSE;
}

static void arguments_that_cannot_be_encoded(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);

	assert_int_equal(
	        clnt_call(c, BLOB_SWAP, (xdrproc_t)xdr_no, NULL, VOID, NULL, long_time),
	        RPC_CANTENCODEARGS);
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	clnt_destroy(c);
}

static void results_that_cannot_be_decoded(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	blob_res r = {0};

	assert_int_equal(clnt_call(c, BLOB_NULL, VOID, NULL, (xdrproc_t)xdr_blob_res,
	                           (char *)&r, long_time),
	                 RPC_CANTDECODERES);
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	clnt_destroy(c);
}

/* -- time ------------------------------------------------------------------ */

static void a_call_times_out(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	struct timeval set = {.tv_usec = 200000}, got = {0};
	u_int ms = 1000;
	double t = now();

	assert_int_equal(clnt_call(c, BLOB_SLEEP, (xdrproc_t)xdr_u_int, (char *)&ms,
	                           VOID, NULL, set),
	                 RPC_TIMEDOUT);
	assert_true(now() - t > 0.19 && now() - t < 0.9);
	/* What was set counts from now on, whatever the call says. */
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&set));
	assert_true(clnt_control(c, CLGET_TIMEOUT, (char *)&got));
	assert_int_equal(got.tv_usec, set.tv_usec);
	assert_int_equal(clnt_call(c, BLOB_SLEEP, (xdrproc_t)xdr_u_int, (char *)&ms,
	                           VOID, NULL, long_time),
	                 RPC_TIMEDOUT);
	set.tv_sec = 30;
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&set));
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	clnt_destroy(c);
}

static void a_zero_timeout_does_not_wait(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	const struct timeval zero = {0};
	u_int ms = 300;
	double t = now();

	assert_int_equal(clnt_call(c, BLOB_SLEEP, (xdrproc_t)xdr_u_int, (char *)&ms,
	                           NULL, NULL, zero),
	                 RPC_SUCCESS);
	ms = 1; /* its argument was taken */
	assert_int_equal(null_call(c, BLOB_NULL, zero), RPC_TIMEDOUT);
	assert_true(now() - t < 0.2);
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	assert_true(now() - t > 0.29); /* it was sent */
	clnt_destroy(c);
}

/* -- interruption ---------------------------------------------------------- */

static enum clnt_stat sleeping_stat;

static void *sleep_call(void *arg)
{
	u_int ms = 1500;

	sleeping_stat = clnt_call((CLIENT *)arg, BLOB_SLEEP, (xdrproc_t)xdr_u_int,
	                          (char *)&ms, VOID, NULL, long_time);
	return arg;
}

static void abort_ends_calls_of_other_threads(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	double t = now();
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, sleep_call, c), 0);
	usleep(200000);
	clnt_abort(c);
	pthread_join(thread, NULL);
	assert_int_equal(sleeping_stat, RPC_INTR);
	assert_true(now() - t < 1.4);
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	clnt_destroy(c);
}

static void a_cancelled_thread_leaves_nothing(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	double t = now();
	pthread_t thread;
	void *ret;

	assert_int_equal(pthread_create(&thread, NULL, sleep_call, c), 0);
	usleep(200000);
	pthread_cancel(thread);
	pthread_join(thread, &ret);
	assert_ptr_equal(ret, PTHREAD_CANCELED);
	assert_true(now() - t < 1.4);
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	clnt_destroy(c);
}

/* -- the handle ------------------------------------------------------------ */

static void control_tells(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	struct sockaddr_in a = {0};
	struct netbuf n = {0};
	uint32_t word = 0;
	int fd = -1;

	assert_true(clnt_control(c, CLGET_SERVER_ADDR, (char *)&a));
	assert_int_equal(ntohs(a.sin_port), rig.rdma_port);
	assert_true(clnt_control(c, CLGET_SVC_ADDR, (char *)&n));
	assert_int_equal(n.len, sizeof(a));
	assert_memory_equal(n.buf, &a, sizeof(a));
	assert_true(clnt_control(c, CLGET_PROG, (char *)&word));
	assert_int_equal(word, BLOB_PROG);
	assert_true(clnt_control(c, CLGET_VERS, (char *)&word));
	assert_int_equal(word, BLOB_VERS);
	word = 0x1234;
	assert_true(clnt_control(c, CLSET_XID, (char *)&word));
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	word = 0;
	assert_true(clnt_control(c, CLGET_XID, (char *)&word));
	assert_int_equal(word, 0x1234);
	assert_true(clnt_control(c, CLGET_FD, (char *)&fd));
	assert_true(fd >= 0);
	assert_true(clnt_control(c, CLSET_FD_CLOSE, NULL));
	assert_false(clnt_control(c, CLGET_FD, NULL));
	assert_false(clnt_control(c, CLSET_PUSH_TIMOD, (char *)&word));
	assert_string_equal(c->cl_netid, "rdma");
	clnt_destroy(c);
}

static void creation_says_why_not(void **state)
{
	struct rpcrdma_tirpc_options bad = {.size = 1};
	const struct timeval short_time = {.tv_sec = 1};
	double t = now();

	assert_null(clnt_rdma_create("127.0.0.1:1", BLOB_PROG, BLOB_VERS, NULL));
	assert_int_equal(rpc_createerr.cf_stat, RPC_SYSTEMERROR);
	assert_int_equal(rpc_createerr.cf_error.re_errno, ECONNREFUSED);
	assert_null(
	        clnt_rdma_create("no.such.host.invalid:1", BLOB_PROG, BLOB_VERS, NULL));
	assert_int_equal(rpc_createerr.cf_stat, RPC_UNKNOWNHOST);
	assert_null(clnt_rdma_create(rig.address, BLOB_PROG, BLOB_VERS, &bad));
	assert_int_equal(rpc_createerr.cf_error.re_errno, EINVAL);
	assert_null(clnt_rdma_create(NULL, BLOB_PROG, BLOB_VERS, NULL));
	/* 192.0.2.0/24 is nobody's [RFC 5737]. */
	assert_null(clnt_rdma_create_timed("192.0.2.1:1", BLOB_PROG, BLOB_VERS,
	                                   &short_time, NULL));
	assert_int_equal(rpc_createerr.cf_stat, RPC_SYSTEMERROR);
	assert_true(now() - t < 10);
	assert_null(svc_rdma_create(rig.address, NULL));
	assert_int_equal(rpc_createerr.cf_error.re_errno, EADDRINUSE);
}

static void the_highest_version_is_found(void **state)
{
	rpcvers_t vers = 0;
	CLIENT *c = clnt_rdma_create_vers(rig.address, BLOB_PROG, &vers, 1, 9, NULL);

	assert_non_null(c);
	assert_int_equal(vers, 3);
	assert_int_equal(null_call(c, 0, long_time), RPC_SUCCESS);
	clnt_destroy(c);
	assert_null(clnt_rdma_create_vers(rig.address, BLOB_PROG, &vers, 5, 9, NULL));
	assert_int_equal(rpc_createerr.cf_stat, RPC_PROGVERSMISMATCH);
}

/* -- servers that are gone ------------------------------------------------- */

static void a_lost_server_is_told_and_found_again(void **state)
{
	struct rig own = {0};
	CLIENT *c;
	struct rpc_err e;
	struct pollfd p = {.events = POLLIN};
	siginfo_t info;
	double t;

	rig_start(&own);
	c = rig_client(&own, NULL);
	assert_true(clnt_control(c, CLGET_FD, (char *)&p.fd));
	assert_int_equal(poll(&p, 1, 0), 0);
	t = now();
	assert_int_equal(null_call(c, BLOB_DIE, long_time), RPC_CANTRECV);
	clnt_geterr(c, &e);
	assert_int_equal(e.re_errno, ECONNRESET);
	assert_true(now() - t < 5);
	assert_int_equal(poll(&p, 1, 1000), 1);
	assert_int_equal(waitid(P_PID, (id_t)own.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(null_call(c, BLOB_NULL, long_time), RPC_CANTSEND);
	clnt_geterr(c, &e);
	assert_int_equal(e.re_errno, ECONNREFUSED);
	clnt_destroy(c);
	assert_int_equal(rig_stop(&own), 0);
}

static void a_server_may_end_while_it_serves(void **state)
{
	struct rig own = {0};
	CLIENT *c;

	rig_start(&own);
	c = rig_client(&own, NULL);
	assert_int_equal(null_call(c, BLOB_DESTROY, long_time), RPC_SUCCESS);
	assert_int_not_equal(null_call(c, BLOB_NULL, long_time), RPC_SUCCESS);
	clnt_destroy(c);
	kill(own.pid, SIGKILL);
	rig_stop(&own);
}

static int stop(void **state)
{
	return rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(stubs_work_unchanged),
	        cmocka_unit_test(both_transports_of_one_server),
	        cmocka_unit_test(dispatch_knows_its_caller),
	        cmocka_unit_test(credentials_arrive),
	        cmocka_unit_test(errors_are_those_of_rpc),
	        cmocka_unit_test(silence_is_answered),
	        cmocka_unit_test(arguments_that_cannot_be_encoded),
	        cmocka_unit_test(results_that_cannot_be_decoded),
	        cmocka_unit_test(a_call_times_out),
	        cmocka_unit_test(a_zero_timeout_does_not_wait),
	        cmocka_unit_test(abort_ends_calls_of_other_threads),
	        cmocka_unit_test(a_cancelled_thread_leaves_nothing),
	        cmocka_unit_test(control_tells),
	        cmocka_unit_test(creation_says_why_not),
	        cmocka_unit_test(the_highest_version_is_found),
	        cmocka_unit_test(a_lost_server_is_told_and_found_again),
	        cmocka_unit_test(a_server_may_end_while_it_serves),
	};

	rig_start(&rig);
	return cmocka_run_group_tests(tests, NULL, stop);
}
