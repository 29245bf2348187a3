/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What servers do with an SVCXPRT beside svc_run: loops of their own by select and by
 * poll, loops within a dispatch function, several transports, each of the svcerr
 * functions, svc_register, fork; and that one busy transport neither starves the others
 * nor holds up svc_exit.  Clients are threads of this process.
 */
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define VOID ((xdrproc_t)(void (*)(void))xdr_void)

enum { PROG = 0x20000456, VERS = 1, SLOW_CALLS = 200, EXIT_AT = 20, IN_A_ROW = 16 };

/* The procedures: an unsigned in and out, unless they fail. */
enum {
	NOTHING,
	NEXT,
	DECODE,
	SYSTEM,
	REFUSE,
	WEAK,
	NO_PROG,
	VERSIONS,
	TWICE,
	TOO_LATE,
	NO_RESULT,
	OUTER,
	SLOW,
	FACTS,
	FORK,
	AGAIN,
	DESTROY,
	UNKNOWN
};

static const struct timeval long_time = {.tv_sec = 60};

static const struct rpcrdma_tirpc_item args_item =
        RPCRDMA_TIRPC_ITEM(blob_args, data.data_val, 1 << 20);
static const struct rpcrdma_tirpc_procedure procs[] = {
        {AGAIN, &args_item, 1, NULL, 0, 0}};
static const struct rpcrdma_tirpc_binding binding = {PROG, VERS, procs, 1};
static const struct rpcrdma_tirpc_binding *const bindings[] = {&binding};
static const struct rpcrdma_tirpc_options options = {
        .size = sizeof(options), .bindings = bindings, .n_bindings = 1};

/* -- the loops --------------------------------------------------------------------- */

static void turn_poll(void)
{
	struct pollfd p[32];
	int n = svc_max_pollfd;

	assert_true(n <= 32);
	memcpy(p, svc_pollfd, (size_t)n * sizeof(p[0]));
	n = poll(p, (nfds_t)n, 20);
	if (n > 0)
		svc_getreq_poll(p, n);
}

static void turn_select(void)
{
	struct timeval t = {.tv_usec = 20000};
	fd_set fds = svc_fdset;

	if (select(svc_maxfd + 1, &fds, NULL, NULL, &t) > 0)
		svc_getreqset(&fds);
}

/* -- the server -------------------------------------------------------------------- */

static atomic_uint slow_calls, outer_runs, inner_done, destroying, refused;
static bool exit_soon;

static bool_t xdr_no(XDR *x, void *p)
{
	return FALSE;
}

static u_int caller_port(SVCXPRT *x)
{
	const struct netbuf *n = svc_getrpccaller(x);

	return ntohs(((struct sockaddr_in *)n->buf)->sin_port);
}

/* What may be looked at; the number of the first that is wrong, or the caller's port.
 */
static u_int facts(SVCXPRT *x)
{
	const struct netbuf *n = svc_getrpccaller(x);
	const struct sockaddr_in *in = (const void *)svc_getcaller(x);
	int word = 0;
	const bool right[] = {
	        x->xp_fd >= 0,
	        x->xp_netid && !strcmp(x->xp_netid, "rdma"),
	        x->xp_tp != NULL,
	        x->xp_p3 != NULL,
	        n->len == sizeof(*in),
	        !memcmp(n->buf, in, sizeof(*in)),
	        x->xp_addrlen == (int)sizeof(*in),
	        in->sin_family == AF_INET,
	        in->sin_addr.s_addr == htonl(INADDR_LOOPBACK),
	        x->xp_ltaddr.len == sizeof(*in),
	        ntohs(((struct sockaddr_in *)x->xp_ltaddr.buf)->sin_port) == x->xp_port,
	        x->xp_verf.oa_flavor == AUTH_NONE,
	        !SVC_CONTROL(x, SVCGET_CONNMAXREC, &word),
	        !SVC_CONTROL(x, SVCSET_VERSQUIET, &word),
	};

	for (u_int i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		if (!right[i])
			return i + 1;
	return caller_port(x);
}

/* Serves others in the midst of it; is it itself again thereafter? */
static u_int outer(SVCXPRT *x)
{
	u_int port = caller_port(x);

	svc_getreq_common(x->xp_fd); /* there is nothing */
	atomic_store(&outer_runs, 1);
	while (!atomic_load(&inner_done))
		turn_poll();
	return caller_port(x) == port;
}

static void slow(u_int ms)
{
	usleep(ms * 1000);
	if (atomic_fetch_add(&slow_calls, 1) + 1 == EXIT_AT && exit_soon)
		svc_exit();
}

/* Its child has the request too, and cannot answer it. */
static u_int forked(SVCXPRT *x)
{
	u_int zero = 0;
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(svc_sendreply(x, (xdrproc_t)xdr_u_int, (char *)&zero) ? 1 : 7);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 0;
	return (u_int)WEXITSTATUS(status);
}

/* While it goes on others are told that nobody is there. */
static void destroy(SVCXPRT *x)
{
	svc_destroy(x);
	atomic_store(&destroying, 1);
	for (int i = 0; i < 2000 && !atomic_load(&refused); i++)
		usleep(10000);
}

/* Decodes twice; how often it worked. */
static u_int again(SVCXPRT *x)
{
	u_int n = 0;

	for (int i = 0; i < 2; i++) {
		blob_args a;

		memset(&a, 0, sizeof(a));
		if (svc_getargs(x, (xdrproc_t)xdr_blob_args, (char *)&a))
			n++;
		svc_freeargs(x, (xdrproc_t)xdr_blob_args, (char *)&a);
	}
	return n;
}

static void refuse(u_int proc, SVCXPRT *x)
{
	switch (proc) {
	case DECODE:
		svcerr_decode(x);
		break;
	case SYSTEM:
		svcerr_systemerr(x);
		break;
	case REFUSE:
		svcerr_auth(x, AUTH_REJECTEDVERF);
		break;
	case WEAK:
		svcerr_weakauth(x);
		break;
	case NO_PROG:
		svcerr_noprog(x);
		break;
	case VERSIONS:
		svcerr_progvers(x, 5, 8);
		break;
	default:
		svcerr_noproc(x);
	}
}

static void dispatch(struct svc_req *r, SVCXPRT *x)
{
	u_int n = 0;

	if (r->rq_proc == NOTHING) {
		svc_sendreply(x, VOID, NULL);
		return;
	}
	if (r->rq_proc <= VERSIONS && r->rq_proc > NEXT) {
		refuse(r->rq_proc, x);
		return;
	}
	if (r->rq_proc == AGAIN) {
		n = again(x);
		svc_sendreply(x, (xdrproc_t)xdr_u_int, (char *)&n);
		return;
	}
	if (!svc_getargs(x, (xdrproc_t)xdr_u_int, (char *)&n)) {
		svcerr_decode(x);
		return;
	}
	switch (r->rq_proc) {
	case NEXT:
		n++;
		break;
	case TWICE: /* the first counts */
		svc_sendreply(x, (xdrproc_t)xdr_u_int, (char *)&n);
		n = svc_sendreply(x, (xdrproc_t)xdr_u_int, (char *)&n) ? 1 : 2;
		svcerr_systemerr(x);
		return;
	case TOO_LATE: /* arguments are there until the answer */
		n = 5;
		svc_sendreply(x, (xdrproc_t)xdr_u_int, (char *)&n);
		if (svc_getargs(x, (xdrproc_t)xdr_u_int, (char *)&n))
			abort();
		return;
	case NO_RESULT:
		if (svc_sendreply(x, (xdrproc_t)xdr_no, (char *)&n))
			abort();
		svcerr_systemerr(x);
		return;
	case OUTER:
		n = outer(x);
		break;
	case SLOW:
		slow(n);
		break;
	case FACTS:
		n = facts(x);
		break;
	case FORK:
		n = forked(x);
		break;
	case DESTROY:
		destroy(x);
		break;
	default:
		svcerr_noproc(x);
		return;
	}
	svc_sendreply(x, (xdrproc_t)xdr_u_int, (char *)&n);
}

static SVCXPRT *serve(void)
{
	SVCXPRT *x = svc_rdma_create("127.0.0.1:0", &options);

	assert_non_null(x);
	assert_true(svc_reg(x, PROG, VERS, dispatch, NULL));
	return x;
}

/* -- its clients ------------------------------------------------------------------- */

struct asker {
	pthread_t thread;
	void (*ask)(struct asker *);
	CLIENT *c;
	rpcproc_t proc;
	u_int arg, answer;
	enum clnt_stat stat;
	struct rpc_err err;
	atomic_bool over;
};

static CLIENT *client_of(const SVCXPRT *x)
{
	char address[32];
	CLIENT *c;

	snprintf(address, sizeof(address), "127.0.0.1:%u", x->xp_port);
	c = clnt_rdma_create(address, PROG, VERS, &options);
	assert_non_null(c);
	return c;
}

static void ask(struct asker *a)
{
	a->stat = clnt_call(a->c, a->proc, (xdrproc_t)xdr_u_int, (char *)&a->arg,
	                    (xdrproc_t)xdr_u_int, (char *)&a->answer, long_time);
	clnt_geterr(a->c, &a->err);
}

static void *run(void *arg)
{
	struct asker *a = arg;

	a->ask(a);
	atomic_store(&a->over, true);
	return NULL;
}

static void start(struct asker *a)
{
	a->ask = a->ask ? a->ask : ask;
	assert_int_equal(pthread_create(&a->thread, NULL, run, a), 0);
}

static void serve_until_over(struct asker *a, void (*turn)(void))
{
	while (!atomic_load(&a->over))
		turn();
	pthread_join(a->thread, NULL);
}

/* One call. */
static void one(struct asker *a, CLIENT *c, rpcproc_t proc, u_int arg)
{
	memset(a, 0, sizeof(*a));
	a->c = c;
	a->proc = proc;
	a->arg = arg;
	start(a);
	serve_until_over(a, turn_poll);
}

/* -- loops of their own ------------------------------------------------------------ */

static void ask_many(struct asker *a)
{
	for (u_int i = 0; i < 50; i++) {
		a->arg = i;
		ask(a);
		if (a->stat != RPC_SUCCESS || a->answer != i + 1)
			return;
	}
	a->answer = 4711;
}

static void by_poll_and_by_select(void **state)
{
	SVCXPRT *x = serve();

	for (int i = 0; i < 2; i++) {
		struct asker a = {.ask = ask_many, .c = client_of(x), .proc = NEXT};

		start(&a);
		serve_until_over(&a, i ? turn_select : turn_poll);
		assert_int_equal(a.answer, 4711);
		clnt_destroy(a.c);
	}
	svc_destroy(x);
}

static void several_at_once(void **state)
{
	SVCXPRT *x[3] = {serve(), serve(), serve()};
	struct asker a[3] = {0};

	for (int i = 0; i < 3; i++) {
		a[i].ask = ask_many;
		a[i].c = client_of(x[i]);
		a[i].proc = NEXT;
		start(&a[i]);
	}
	for (int i = 0; i < 3; i++) {
		serve_until_over(&a[i], turn_poll);
		assert_int_equal(a[i].answer, 4711);
	}
	/* The others go on without the first. */
	svc_destroy(x[0]);
	one(&a[1], a[1].c, NEXT, 1);
	assert_int_equal(a[1].answer, 2);
	one(&a[0], a[0].c, NEXT, 1);
	assert_int_not_equal(a[0].stat, RPC_SUCCESS);
	for (int i = 0; i < 3; i++)
		clnt_destroy(a[i].c);
	svc_destroy(x[1]);
	svc_destroy(x[2]);
}

static void ask_inner(struct asker *a)
{
	while (!atomic_load(&outer_runs))
		usleep(1000);
	ask(a);
	atomic_store(&inner_done, 1);
}

static void a_loop_within_a_dispatch_function(void **state)
{
	SVCXPRT *x = serve();
	struct asker outer_one = {.c = client_of(x), .proc = OUTER};
	struct asker inner = {
	        .ask = ask_inner, .c = client_of(x), .proc = NEXT, .arg = 8};

	start(&outer_one);
	start(&inner);
	serve_until_over(&outer_one, turn_poll);
	pthread_join(inner.thread, NULL);
	assert_int_equal(outer_one.stat, RPC_SUCCESS);
	assert_int_equal(outer_one.answer, 1);
	assert_int_equal(inner.stat, RPC_SUCCESS);
	assert_int_equal(inner.answer, 9);
	clnt_destroy(outer_one.c);
	clnt_destroy(inner.c);
	svc_destroy(x);
}

/* -- what dispatch functions see and say ------------------------------------------- */

static void the_handle_has_what_programs_look_at(void **state)
{
	SVCXPRT *x = serve();
	struct asker a;
	CLIENT *c = client_of(x);

	one(&a, c, FACTS, 0);
	assert_int_equal(a.stat, RPC_SUCCESS);
	assert_true(a.answer > 100); /* a port, no number of what is wrong */
	clnt_destroy(c);
	svc_destroy(x);
}

static void each_error_arrives(void **state)
{
	static const struct {
		rpcproc_t proc;
		enum clnt_stat stat;
		enum auth_stat why;
	} errors[] = {
	        {DECODE, RPC_CANTDECODEARGS, AUTH_OK},
	        {SYSTEM, RPC_SYSTEMERROR, AUTH_OK},
	        {REFUSE, RPC_AUTHERROR, AUTH_REJECTEDVERF},
	        {WEAK, RPC_AUTHERROR, AUTH_TOOWEAK},
	        {NO_PROG, RPC_PROGUNAVAIL, AUTH_OK},
	        {VERSIONS, RPC_PROGVERSMISMATCH, AUTH_OK},
	        {UNKNOWN, RPC_PROCUNAVAIL, AUTH_OK},
	        {NO_RESULT, RPC_SYSTEMERROR, AUTH_OK},
	};
	SVCXPRT *x = serve();
	CLIENT *c = client_of(x);
	struct asker a;

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		one(&a, c, errors[i].proc, 1);
		assert_int_equal(a.stat, errors[i].stat);
		assert_int_equal(a.err.re_status, errors[i].stat);
		if (a.stat == RPC_AUTHERROR)
			assert_int_equal(a.err.re_why, errors[i].why);
		if (a.stat == RPC_PROGVERSMISMATCH) {
			assert_int_equal(a.err.re_vers.low, 5);
			assert_int_equal(a.err.re_vers.high, 8);
		}
	}
	clnt_destroy(c);
	svc_destroy(x);
}

static void a_request_has_one_answer(void **state)
{
	SVCXPRT *x = serve();
	CLIENT *c = client_of(x);
	struct asker a;

	one(&a, c, TWICE, 70);
	assert_int_equal(a.stat, RPC_SUCCESS);
	assert_int_equal(a.answer, 70);
	one(&a, c, TOO_LATE, 1);
	assert_int_equal(a.answer, 5);
	one(&a, c, NEXT, 70);
	assert_int_equal(a.answer, 71);
	clnt_destroy(c);
	svc_destroy(x);
}

static void ask_with_octets(struct asker *a)
{
	static char octets[100000];
	blob_args args = {.data = {a->arg, octets}};

	a->stat = clnt_call(a->c, a->proc, (xdrproc_t)xdr_blob_args, (char *)&args,
	                    (xdrproc_t)xdr_u_int, (char *)&a->answer, long_time);
}

/* Arguments can be decoded again, but for items, whose memory was given away. */
static void what_was_given_away_is_not_decoded_again(void **state)
{
	SVCXPRT *x = serve();
	struct asker a = {.ask = ask_with_octets, .c = client_of(x), .proc = AGAIN};

	for (u_int len = 0; len <= 100000; len += 100000) {
		a.arg = len;
		atomic_store(&a.over, false);
		start(&a);
		serve_until_over(&a, turn_poll);
		assert_int_equal(a.stat, RPC_SUCCESS);
		assert_int_equal(a.answer, len ? 1 : 2);
	}
	clnt_destroy(a.c);
	svc_destroy(x);
}

/* Protocol 0: rpcbind is not told, which knows no protocol number of RDMA. */
static void the_older_registration_works(void **state)
{
	SVCXPRT *x = svc_rdma_create("127.0.0.1:0", NULL);
	struct asker a;
	CLIENT *c;

	assert_non_null(x);
	svc_unreg(PROG, VERS); /* what was there before */
	assert_true(svc_register(x, PROG, VERS, dispatch, 0));
	c = client_of(x);
	one(&a, c, NEXT, 1);
	assert_int_equal(a.answer, 2);
	svc_unregister(PROG, VERS);
	one(&a, c, NEXT, 1);
	assert_int_equal(a.stat, RPC_PROGUNAVAIL);
	clnt_destroy(c);
	svc_destroy(x);
}

/* -- one that is busy -------------------------------------------------------------- */

static void flood(struct asker *a)
{
	const struct timeval zero = {0};

	for (int i = 0; i < SLOW_CALLS; i++)
		(void)clnt_call(a->c, SLOW, (xdrproc_t)xdr_u_int, (char *)&a->arg, VOID,
		                NULL, zero);
	ask(a);
}

static void ask_when_busy(struct asker *a)
{
	while (!atomic_load(&slow_calls))
		usleep(1000);
	ask(a);
	a->answer = atomic_load(&slow_calls);
}

static SVCXPRT *over_tcp(struct sockaddr_in *ret)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	SVCXPRT *x;

	assert_int_equal(bind(fd, (struct sockaddr *)&in, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &len), 0);
	x = svc_vc_create(fd, 0, 0);
	assert_non_null(x);
	return x;
}

/* RDMA has requests in its queue all the time: TCP has its turn all the same. */
static void a_busy_transport_lets_others_have_their_turn(void **state)
{
	struct sockaddr_in in;
	SVCXPRT *x = serve(), *tcp = over_tcp(&in);
	struct netbuf at = {sizeof(in), sizeof(in), &in};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct asker busy = {.ask = flood, .c = client_of(x), .proc = SLOW, .arg = 5};
	struct asker other = {.proc = NEXT, .arg = 1};

	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	other.c = clnt_vc_create(fd, &at, PROG, VERS, 0, 0);
	assert_non_null(other.c);
	one(&other, other.c, NEXT, 1); /* it is connected */
	assert_int_equal(other.answer, 2);
	other.ask = ask_when_busy;
	atomic_store(&other.over, false);
	atomic_store(&slow_calls, 0);
	start(&busy);
	start(&other);
	serve_until_over(&other, turn_poll);
	assert_int_equal(other.stat, RPC_SUCCESS);
	assert_true(other.answer < SLOW_CALLS);
	serve_until_over(&busy, turn_poll);
	assert_int_equal(busy.stat, RPC_SUCCESS);
	assert_int_equal(slow_calls, SLOW_CALLS + 1);
	clnt_destroy(busy.c);
	clnt_destroy(other.c);
	close(fd);
	svc_destroy(x);
	svc_destroy(tcp);
}

static void a_busy_transport_lets_svc_run_end(void **state)
{
	SVCXPRT *x = serve();
	struct asker busy = {.ask = flood, .c = client_of(x), .proc = SLOW, .arg = 2};
	unsigned done;

	atomic_store(&slow_calls, 0);
	exit_soon = true;
	start(&busy);
	svc_run();
	exit_soon = false;
	done = atomic_load(&slow_calls);
	assert_in_range(done, EXIT_AT, EXIT_AT + IN_A_ROW);
	svc_destroy(x); /* answers what is left */
	pthread_join(busy.thread, NULL);
	assert_int_not_equal(busy.stat, RPC_SUCCESS);
	clnt_destroy(busy.c);
}

/* -- fork -------------------------------------------------------------------------- */

/* What the child of a server with clients can still do with its handles: nothing, and
 * it does not wait for it, nor take anything from the parent. */
static int child(SVCXPRT *x, CLIENT *c)
{
	struct rpc_err e;
	CLIENT *own;
	int fd = x->xp_fd;

	alarm(60);
	if (clnt_call(c, NOTHING, VOID, NULL, VOID, NULL, long_time) != RPC_CANTSEND)
		return 2;
	clnt_geterr(c, &e);
	if (e.re_errno != ENOTCONN)
		return 3;
	clnt_abort(c);
	clnt_destroy(c);
	if (!FD_ISSET(fd, &svc_fdset))
		return 4;
	turn_poll(); /* it is readable, by what is the parent's */
	if (FD_ISSET(fd, &svc_fdset))
		return 5;
	if (svc_rdma_reg(x, PROG, VERS, dispatch) || *svc_rdma_identity(x))
		return 6;
	own = client_of(x);
	clnt_destroy(own);
	svc_destroy(x);
	return 0;
}

static void a_child_does_not_touch_the_parents_handles(void **state)
{
	const struct timeval zero = {0};
	SVCXPRT *x = serve();
	CLIENT *c = client_of(x);
	struct pollfd p = {.fd = x->xp_fd, .events = POLLIN};
	struct asker a;
	u_int ms = 0;
	int status;
	pid_t pid;

	atomic_store(&slow_calls, 0);
	(void)clnt_call(c, SLOW, (xdrproc_t)xdr_u_int, (char *)&ms, NULL, NULL, zero);
	assert_int_equal(poll(&p, 1, 60000), 1); /* it waits to be dispatched */
	pid = rig_fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(child(x, c));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(poll(&p, 1, 0), 1);
	turn_poll();
	assert_int_equal(slow_calls, 1);
	one(&a, c, FORK, 0);
	assert_int_equal(a.stat, RPC_SUCCESS);
	assert_int_equal(a.answer, 7);
	clnt_destroy(c);
	svc_destroy(x);
}

/* A page that cannot be written until it is told: who copies there holds what he
 * locked. */
static char *barred;
static int held[2], go_on[2];

static void on_barred(int sig)
{
	char c = 0;

	(void)!write(held[1], &c, 1);
	(void)!read(go_on[0], &c, 1);
	mprotect(barred, 4096, PROT_READ | PROT_WRITE);
}

static void *ask_into_barred(void *arg)
{
	CLIENT *c = arg;

	return clnt_control(c, CLGET_TIMEOUT, barred) ? c : NULL;
}

static int child_of_held(CLIENT *c)
{
	struct timeval t;
	struct rpc_err e;

	if (clnt_call(c, NOTHING, VOID, NULL, VOID, NULL, long_time) != RPC_CANTSEND)
		return 2;
	clnt_geterr(c, &e);
	if (e.re_status != RPC_CANTSEND || e.re_errno != ENOTCONN)
		return 3;
	if (clnt_control(c, CLGET_TIMEOUT, &t) || clnt_control(c, CLSET_TIMEOUT, &t))
		return 4;
	return 0;
}

/* The child's status; one that waits for ever, with all signals blocked, is killed. */
static int status_of(pid_t pid)
{
	int status;

	for (unsigned i = 0; i < 3000; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(10000);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Another thread holds the CLIENT's lock when the process forks, so nobody ever gives
 * it back in the child. */
static void a_child_waits_for_no_lock(void **state)
{
	struct sigaction act = {.sa_handler = on_barred}, old;
	SVCXPRT *x = serve();
	CLIENT *c = client_of(x);
	pthread_t thread;
	void *ok;
	int status;
	pid_t pid;
	char byte;

	barred = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(barred != MAP_FAILED);
	assert_int_equal(pipe(held), 0);
	assert_int_equal(pipe(go_on), 0);
	assert_int_equal(sigaction(SIGSEGV, &act, &old), 0);
	assert_int_equal(pthread_create(&thread, NULL, ask_into_barred, c), 0);
	assert_int_equal(read(held[0], &byte, 1), 1);
	pid = rig_fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(child_of_held(c));
	status = status_of(pid);
	assert_int_equal(write(go_on[1], "", 1), 1);
	assert_int_equal(pthread_join(thread, &ok), 0);
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
	assert_int_equal(status, 0);
	assert_non_null(ok);
	for (unsigned i = 0; i < 2; i++) {
		close(held[i]);
		close(go_on[i]);
	}
	munmap(barred, 4096);
	clnt_destroy(c);
	svc_destroy(x);
}

/* -- the end ----------------------------------------------------------------------- */

/* Connections on which nothing comes do not hold it up. */
static void it_ends_beside_silent_clients(void **state)
{
	static const char begun[] = "MPA ID Req Frame";
	SVCXPRT *x = serve();
	struct sockaddr_in in = {.sin_family = AF_INET,
	                         .sin_port = htons(x->xp_port),
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	time_t began = time(NULL);
	CLIENT *c = client_of(x);
	int fd[3];

	for (int i = 0; i < 3; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fd[i], (struct sockaddr *)&in, sizeof(in)), 0);
		assert_int_equal(write(fd[i], begun, (size_t)i * 8), i * 8);
	}
	clnt_destroy(client_of(x)); /* those before are accepted when it is */
	svc_destroy(x);
	assert_true(time(NULL) - began < 20);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	assert_int_not_equal(clnt_call(c, NOTHING, VOID, NULL, VOID, NULL, long_time),
	                     RPC_SUCCESS);
	clnt_destroy(c);
}

static void ask_in_the_midst(struct asker *a)
{
	while (!atomic_load(&destroying))
		usleep(1000);
	ask(a);
	atomic_store(&refused, 1);
}

static void a_dispatch_function_may_destroy_it(void **state)
{
	SVCXPRT *x = serve();
	struct asker one_call = {.c = client_of(x), .proc = DESTROY, .arg = 3};
	struct asker other = {.ask = ask_in_the_midst, .c = client_of(x), .proc = NEXT};
	char address[32];

	snprintf(address, sizeof(address), "127.0.0.1:%u", x->xp_port);
	start(&one_call);
	start(&other);
	serve_until_over(&one_call, turn_poll);
	pthread_join(other.thread, NULL);
	assert_int_equal(one_call.stat, RPC_SUCCESS);
	assert_int_equal(one_call.answer, 3);
	assert_int_equal(other.stat, RPC_SYSTEMERROR);
	assert_null(clnt_rdma_create(address, PROG, VERS, NULL));
	assert_int_equal(__rpc_createerr()->cf_error.re_errno, ECONNREFUSED);
	clnt_destroy(one_call.c);
	clnt_destroy(other.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(by_poll_and_by_select),
	        cmocka_unit_test(several_at_once),
	        cmocka_unit_test(a_loop_within_a_dispatch_function),
	        cmocka_unit_test(the_handle_has_what_programs_look_at),
	        cmocka_unit_test(each_error_arrives),
	        cmocka_unit_test(a_request_has_one_answer),
	        cmocka_unit_test(what_was_given_away_is_not_decoded_again),
	        cmocka_unit_test(the_older_registration_works),
	        cmocka_unit_test(a_busy_transport_lets_others_have_their_turn),
	        cmocka_unit_test(a_busy_transport_lets_svc_run_end),
	        cmocka_unit_test(a_child_does_not_touch_the_parents_handles),
	        cmocka_unit_test(a_child_waits_for_no_lock),
	        cmocka_unit_test(it_ends_beside_silent_clients),
	        cmocka_unit_test(a_dispatch_function_may_destroy_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
