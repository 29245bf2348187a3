/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CLIENTs in less usual circumstances: calls that nobody waits for before clnt_destroy,
 * signals, results that are longer than was said, several addresses of one server.
 */
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "tirpc/clnt.h"

#define VOID RR_XDR_VOID

enum { PROG = BLOB_PROG + 9, VERS = 1, ADD = 1, SUM = 2, BOUND = 1000 };

static const struct timeval long_time = {.tv_sec = 60}, zero;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* -- a server that adds ------------------------------------------------------------ */

static void dispatch(struct svc_req *r, SVCXPRT *x)
{
	static u_int sum;
	blob_args a;

	memset(&a, 0, sizeof(a));
	if (r->rq_proc != ADD) {
		svc_sendreply(x, (xdrproc_t)xdr_u_int, (char *)&sum);
		return;
	}
	if (!svc_getargs(x, (xdrproc_t)xdr_blob_args, (char *)&a)) {
		svcerr_decode(x);
		return;
	}
	sum += a.id;
	svc_freeargs(x, (xdrproc_t)xdr_blob_args, (char *)&a);
	svc_sendreply(x, VOID, NULL);
}

static void more(SVCXPRT *x)
{
	if (!svc_reg(x, PROG, VERS, dispatch, NULL))
		abort();
}

static struct rig rig = {.more = more};

static CLIENT *adder(const struct rig *at)
{
	CLIENT *c = clnt_rdma_create(at->address, PROG, VERS, NULL);

	assert_non_null(c);
	return c;
}

/* Does not wait; @len octets beside the number. */
static void add(CLIENT *c, u_int n, u_int len, bool results)
{
	static char octets[200000];
	blob_args a = {.id = n, .data = {len, octets}};

	assert_int_equal(clnt_call(c, ADD, (xdrproc_t)xdr_blob_args, (char *)&a,
	                           results ? VOID : NULL, NULL, zero),
	                 results ? RPC_TIMEDOUT : RPC_SUCCESS);
}

static u_int sum(CLIENT *c)
{
	u_int n = 0;

	assert_int_equal(clnt_call(c, SUM, VOID, NULL, (xdrproc_t)xdr_u_int, (char *)&n,
	                           long_time),
	                 RPC_SUCCESS);
	return n;
}

/* -- nobody waits ------------------------------------------------------------------ */

static void messages_outlive_their_client(void **state)
{
	CLIENT *judge = adder(&rig);
	u_int was = sum(judge);

	for (u_int i = 0; i < 50; i++) {
		CLIENT *c = adder(&rig);

		add(c, 1, i * 1000, i & 1);
		if (i & 2)
			add(c, 1, 10, i & 1);
		clnt_destroy(c);
	}
	assert_int_equal(sum(judge), was + 50 + 24);
	clnt_destroy(judge);
}

/* One CLIENT's, as in a stream. */
static void messages_come_before_what_follows(void **state)
{
	CLIENT *c = adder(&rig);
	u_int was = sum(c);

	for (u_int i = 0; i < 40; i++)
		add(c, 1, i * 5000, false);
	assert_int_equal(sum(c), was + 40);
	clnt_destroy(c);
}

static void a_silent_server_does_not_hold_up_the_end(void **state)
{
	struct rig own = {.more = more};
	CLIENT *c;
	double t;

	rig_start(&own);
	c = adder(&own);
	assert_int_equal(kill(own.pid, SIGSTOP), 0);
	for (int i = 0; i < 100; i++) /* more than there are credits */
		add(c, 1, 10, true);
	t = now();
	clnt_destroy(c);
	assert_true(now() - t < 20);
	assert_int_equal(kill(own.pid, SIGCONT), 0);
	assert_int_equal(rig_stop(&own), 0);
}

/* -- signals ----------------------------------------------------------------------- */

static struct timespec came;

static void note(int n)
{
	clock_gettime(CLOCK_MONOTONIC, &came);
}

/* As over TCP: a handler that jumped away would leave the call behind. */
static void signals_wait_for_the_end_of_a_call(void **state)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 100000}};
	struct sigaction sa = {.sa_handler = note}, old;
	CLIENT *c = rig_client(&rig, NULL);
	u_int ms = 600;
	sigset_t set;
	double t;

	assert_int_equal(sigaction(SIGALRM, &sa, &old), 0);
	t = now();
	assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
	assert_int_equal(clnt_call(c, BLOB_SLEEP, (xdrproc_t)xdr_u_int, (char *)&ms,
	                           VOID, NULL, long_time),
	                 RPC_SUCCESS);
	assert_true((double)came.tv_sec + (double)came.tv_nsec / 1e9 >= t + 0.6);
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &set), 0);
	assert_false(sigismember(&set, SIGALRM));
	sigaction(SIGALRM, &old, NULL);
	clnt_destroy(c);
}

/* -- bounds ------------------------------------------------------------------------ */

/* A client that expects less than the server has. */
static const struct rpcrdma_tirpc_item small_got =
        RPCRDMA_TIRPC_ITEM(blob_got, blob_got_u.ok.data.data_val, BOUND);
static const struct rpcrdma_tirpc_item pair_items[] = {
        RPCRDMA_TIRPC_ITEM(blob_pair, first, 1 << 20),
        RPCRDMA_TIRPC_ITEM(blob_pair, second.second_val, SIZE_MAX), /* no memory */
};
static const struct rpcrdma_tirpc_item echo_args =
        RPCRDMA_TIRPC_ITEM(blob_args, data.data_val, 1 << 20);
static const struct rpcrdma_tirpc_item echo_res =
        RPCRDMA_TIRPC_ITEM(blob_res, data.data_val, BOUND);
static const struct rpcrdma_tirpc_procedure small_procs[] = {
        {BLOB_ECHO, &echo_args, 1, &echo_res, 1, 0},
        {BLOB_GET, NULL, 0, &small_got, 1, 0},
        {BLOB_SWAP, pair_items, 2, pair_items, 2, 0},
};
static const struct rpcrdma_tirpc_binding small = {BLOB_PROG, BLOB_VERS, small_procs,
                                                   3};
static const struct rpcrdma_tirpc_binding *const smalls[] = {&small};
static const struct rpcrdma_tirpc_options expects_little = {
        .size = sizeof(expects_little), .bindings = smalls, .n_bindings = 1};
static const struct rpcrdma_tirpc_options with_binding = {
        .size = sizeof(with_binding), .bindings = rig_bindings, .n_bindings = 1};

static enum clnt_stat get(CLIENT *c, u_int len, char *own, blob_got *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->blob_got_u.ok.data.data_val = own;
	return clnt_call(c, BLOB_GET, (xdrproc_t)xdr_u_int, (char *)&len,
	                 (xdrproc_t)xdr_blob_got, (char *)ret, long_time);
}

static void check_got(blob_got *g, u_int len, const char *own)
{
	assert_int_equal(g->status, 0);
	assert_int_equal(g->blob_got_u.ok.data.data_len, len);
	assert_true(rig_filled(g->blob_got_u.ok.data.data_val, len, len));
	if (own)
		assert_ptr_equal(g->blob_got_u.ok.data.data_val, own);
	else
		xdr_free((xdrproc_t)xdr_blob_got, (char *)g);
}

/* The server has executed it, and its answer does not come through. */
static void a_result_larger_than_its_bound(void **state)
{
	struct rig bound = {.options = &with_binding};
	struct rpc_err e;
	blob_got g;
	CLIENT *c;

	rig_start(&bound);
	c = rig_client(&bound, &expects_little);
	assert_int_equal(get(c, BOUND, NULL, &g), RPC_SUCCESS);
	check_got(&g, BOUND, NULL);
	assert_int_equal(get(c, BOUND + 1, NULL, &g), RPC_CANTRECV);
	clnt_geterr(c, &e);
	assert_int_equal(e.re_errno, EMSGSIZE);
	assert_int_equal(get(c, 1, NULL, &g), RPC_SUCCESS);
	check_got(&g, 1, NULL);
	clnt_destroy(c);
	assert_int_equal(rig_stop(&bound), 0);
}

/* A server without the binding sends all of it along. */
static void the_users_memory_is_not_overrun(void **state)
{
	CLIENT *c = rig_client(&rig, &expects_little);
	char *own = malloc(BOUND);
	blob_got g;

	assert_non_null(own);
	assert_int_equal(get(c, 5 * BOUND, NULL, &g), RPC_SUCCESS);
	check_got(&g, 5 * BOUND, NULL);
	assert_int_equal(get(c, BOUND, own, &g), RPC_SUCCESS);
	check_got(&g, BOUND, own);
	assert_int_equal(get(c, BOUND + 1, own, &g), RPC_CANTDECODERES);
	assert_int_equal(get(c, 5, own, &g), RPC_SUCCESS);
	check_got(&g, 5, own);
	free(own);
	clnt_destroy(c);
}

/* Neither when the server refuses the items, and all is sent again without them. */
static void nor_when_it_is_asked_again(void **state)
{
	CLIENT *c = rig_client(&rig, &expects_little);
	static char octets[5 * BOUND];
	char *own = malloc(BOUND);

	assert_non_null(own);
	for (u_int len = BOUND; len <= 5 * BOUND; len += 4 * BOUND) {
		blob_args a = {.data = {len, octets}};
		blob_res r = {.data = {0, own}};

		assert_int_equal(clnt_call(c, BLOB_ECHO, (xdrproc_t)xdr_blob_args,
		                           (char *)&a, (xdrproc_t)xdr_blob_res,
		                           (char *)&r, long_time),
		                 len > BOUND ? RPC_CANTDECODERES : RPC_SUCCESS);
		assert_ptr_equal(r.data.data_val, own);
		free(r.note);
	}
	free(own);
	clnt_destroy(c);
}

/* Of two results the second has no memory, and comes along with the message. */
static void a_result_without_memory(void **state)
{
	static char first[] = "first", octets[5000];
	blob_pair a = {.first = first, .second = {sizeof(octets), octets}, .tail = 1};
	struct rig bound = {.options = &with_binding};
	blob_pair *r;
	CLIENT *c;

	rig_fill(octets, sizeof(octets), 9);
	rig_start(&bound);
	c = rig_client(&bound, &expects_little);
	r = blob_swap_1(&a, c);
	if (!r)
		clnt_perror(c, "swap");
	assert_non_null(r);
	assert_string_equal(r->first, first);
	assert_int_equal(r->second.second_len, sizeof(octets));
	assert_true(rig_filled(r->second.second_val, sizeof(octets), 9));
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_pair, r));
	clnt_destroy(c);
	assert_int_equal(rig_stop(&bound), 0);
}

/* -- addresses --------------------------------------------------------------------- */

/* The first one takes connections and says nothing: it has its share of the time. */
static void a_silent_address_leaves_time_for_the_next(void **state)
{
	struct sockaddr_in at[2] = {
	        {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	struct addrinfo list[2];
	socklen_t len = sizeof(at[0]);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct rr_rpc_options o;
	double t = now();
	CLIENT *c;

	assert_int_equal(bind(fd, (struct sockaddr *)&at[0], len), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at[0], &len), 0);
	at[1] = at[0];
	at[1].sin_port = htons((uint16_t)rig.rdma_port);
	for (int i = 0; i < 2; i++)
		list[i] = (struct addrinfo){.ai_family = AF_INET,
		                            .ai_addr = (struct sockaddr *)&at[i],
		                            .ai_addrlen = sizeof(at[i]),
		                            .ai_next = i ? NULL : &list[1]};
	assert_int_equal(rr_rpc_options_from(NULL, false, &o), 0);
	c = rr_rpc_client_new("127.0.0.1", list, BLOB_PROG, BLOB_VERS,
	                      rr_after(rr_engine_clock(), RR_SEC(8)), &o);
	assert_non_null(c);
	assert_true(now() - t < 8);
	assert_int_equal(clnt_call(c, BLOB_NULL, VOID, NULL, VOID, NULL, long_time),
	                 RPC_SUCCESS);
	clnt_destroy(c);
	close(fd);
}

/* -- what is said to a CLIENT ------------------------------------------------------ */

static enum clnt_stat null_call(CLIENT *c, struct timeval timeout)
{
	return clnt_call(c, BLOB_NULL, VOID, NULL, VOID, NULL, timeout);
}

static void an_xid_is_chosen_for_one_call(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	uint32_t xid = 0x1234;

	assert_true(clnt_control(c, CLSET_XID, (char *)&xid));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(null_call(c, long_time), RPC_SUCCESS);
		assert_true(clnt_control(c, CLGET_XID, (char *)&xid));
		assert_int_equal(xid == 0x1234, i == 0);
	}
	clnt_destroy(c);
}

/* What is no time is passed over, and what was set stays. */
static void odd_timeouts(void **state)
{
	static const struct timeval bad[] = {
	        {-1, 0}, {100000001, 0}, {0, -1}, {0, 1000001}};
	const struct timeval most = {100000000, 1000000};
	CLIENT *c = rig_client(&rig, NULL);
	struct timeval t = {.tv_sec = -1};
	u_int ms = 300;

	assert_true(clnt_control(c, CLGET_TIMEOUT, (char *)&t));
	assert_int_equal(t.tv_sec, 0);
	assert_int_equal(null_call(c, long_time), RPC_SUCCESS);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		t = bad[i];
		assert_false(clnt_control(c, CLSET_TIMEOUT, (char *)&t));
		assert_int_equal(null_call(c, bad[i]), RPC_SUCCESS);
		assert_true(clnt_control(c, CLGET_TIMEOUT, (char *)&t));
		assert_int_equal(t.tv_sec, long_time.tv_sec);
		assert_int_equal(t.tv_usec, 0);
	}
	assert_int_equal(null_call(c, most), RPC_SUCCESS);
	t = most;
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&t));
	assert_int_equal(null_call(c, long_time), RPC_SUCCESS);
	/* None at all: it does not wait, nor for ever. */
	t = zero;
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&t));
	assert_int_equal(clnt_call(c, BLOB_SLEEP, (xdrproc_t)xdr_u_int, (char *)&ms,
	                           VOID, NULL, long_time),
	                 RPC_TIMEDOUT);
	clnt_destroy(c);
}

static void bindings_have_a_limit(void **state)
{
	static const struct rpcrdma_tirpc_item items[9];
	struct rpcrdma_tirpc_procedure p[2] = {{.procedure = 1}, {.procedure = 2}};
	const struct rpcrdma_tirpc_binding b = {BLOB_PROG, BLOB_VERS, p, 2}, *list = &b;
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);

	o.bindings = &list;
	o.n_bindings = 1;
	for (int i = 0; i < 4; i++) {
		const unsigned n = i & 2 ? 9 : 8;
		CLIENT *c;

		p[1] = (struct rpcrdma_tirpc_procedure){.procedure = 2};
		if (i & 1)
			p[1].args = items, p[1].n_args = n;
		else
			p[1].results = items, p[1].n_results = n;
		c = clnt_rdma_create(rig.address, BLOB_PROG, BLOB_VERS, &o);
		assert_int_equal(c != NULL, n == 8);
		if (c)
			clnt_destroy(c);
		else
			assert_int_equal(__rpc_createerr()->cf_error.re_errno, EINVAL);
	}
}

/* Readable while there is no connection. */
static void the_descriptor_follows_the_connection(void **state)
{
	struct rpcrdma_conn_options conn = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	struct rig own = {.options = &o};
	struct pollfd p = {.events = POLLIN};
	CLIENT *c;

	conn.idle_ns = 1000000000;
	o.conn = &conn;
	rig_start(&own);
	c = rig_client(&own, NULL);
	assert_true(clnt_control(c, CLGET_FD, (char *)&p.fd));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(poll(&p, 1, 30000), 1); /* the server closes it */
		assert_int_equal(null_call(c, long_time), RPC_SUCCESS);
		assert_int_equal(poll(&p, 1, 0), 0);
	}
	clnt_destroy(c);
	assert_int_equal(rig_stop(&own), 0);
}

/* -- one that does not take its answer --------------------------------------------- */

/* Asks, and stops before the answer is on its way. */
static void stop_in_the_midst(const struct rig *at)
{
	CLIENT *c = rig_client(at, NULL);
	u_int ms = 500, len = 64 << 20;

	alarm(120);
	(void)clnt_call(c, BLOB_SLEEP, (xdrproc_t)xdr_u_int, (char *)&ms, NULL, NULL,
	                zero);
	(void)clnt_call(c, BLOB_GET, (xdrproc_t)xdr_u_int, (char *)&len, VOID, NULL,
	                zero);
	usleep(200000);
	raise(SIGSTOP);
}

/* It holds the others up no longer than the server lets it. */
static void who_does_not_take_the_answer_is_left(void **state)
{
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	struct rig own = {.options = &o};
	CLIENT *c;
	int status;
	pid_t pid;
	double t;

	o.send_ns = 1000000000;
	rig_start(&own);
	pid = rig_fork();
	assert_true(pid >= 0);
	if (!pid) {
		stop_in_the_midst(&own);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	usleep(500000);
	t = now();
	c = rig_client(&own, NULL);
	assert_int_equal(null_call(c, long_time), RPC_SUCCESS);
	assert_true(now() - t < 25); /* 30 s is the default */
	clnt_destroy(c);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(rig_stop(&own), 0);
}

/* For ever is a long time, no short one. */
static void any_time_may_be_given(void **state)
{
	/* As many nanoseconds as 64 bits have no place for. */
	const struct timeval ages = {.tv_sec = (time_t)1 << 55};
	CLIENT *c =
	        clnt_rdma_create_timed(rig.address, BLOB_PROG, BLOB_VERS, &ages, NULL);

	assert_non_null(c);
	clnt_destroy(c);
}

static int stop(void **state)
{
	return rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(messages_outlive_their_client),
	        cmocka_unit_test(messages_come_before_what_follows),
	        cmocka_unit_test(a_silent_server_does_not_hold_up_the_end),
	        cmocka_unit_test(signals_wait_for_the_end_of_a_call),
	        cmocka_unit_test(a_result_larger_than_its_bound),
	        cmocka_unit_test(the_users_memory_is_not_overrun),
	        cmocka_unit_test(nor_when_it_is_asked_again),
	        cmocka_unit_test(a_result_without_memory),
	        cmocka_unit_test(a_silent_address_leaves_time_for_the_next),
	        cmocka_unit_test(any_time_may_be_given),
	        cmocka_unit_test(an_xid_is_chosen_for_one_call),
	        cmocka_unit_test(odd_timeouts),
	        cmocka_unit_test(bindings_have_a_limit),
	        cmocka_unit_test(the_descriptor_follows_the_connection),
	        cmocka_unit_test(who_does_not_take_the_answer_is_left),
	};

	rig_start(&rig);
	return cmocka_run_group_tests(tests, NULL, stop);
}
