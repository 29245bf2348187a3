/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of libtirpc and its clients, for tests of rpcbind:
 *
 *   where serve ADDRESS            over RDMA by svc_rdma_reg, until told to end
 *   where serve ADDRESS tcp        ... and over TCP by libtirpc's own svc_tli_create
 *   where tcp                      over TCP only
 *   where call HOST NETIDS         one call: "answered netid=NETID"
 *   where versions HOST            the highest of 1 to 9: "version 2 netid=NETID"
 *   where native HOST [PROGRAM]    one call by rpcrdma_connect with host and program
 *   where follow HOST              ... and another one after a line on stdin
 *   where leave HOST               ends its engine in the midst of looking up
 *   where lookup HOST NETID        "port N" of that program under that netid
 *
 * A server prints "ready", and ends by SIGTERM in order, its SVCXPRTs destroyed.
 * Clients print "error: ..." and exit 1 if there is no answer.
 */
#include <errno.h>
#include <netconfig.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rpcrdma/tirpc.h>

enum { PROG = 0x20000123, OLD = 1, NEW = 2, ANSWER = 4711, LIMIT_S = 8 };

#define VOID ((xdrproc_t)(void (*)(void))xdr_void)

/* The thread that the handler of SIGTERM interrupts sleeps: see end(). */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "report_signal_unsafe=0";
}

static void dispatch(struct svc_req *r, SVCXPRT *x)
{
	u_int answer = ANSWER;

	if (r->rq_proc == 0)
		svc_sendreply(x, VOID, NULL);
	else if (r->rq_proc == 1)
		svc_sendreply(x, (xdrproc_t)xdr_u_int, (char *)&answer);
	else
		svcerr_noproc(x);
}

static void other(struct svc_req *r, SVCXPRT *x)
{
	svcerr_systemerr(x);
}

/* -- servers --------------------------------------------------------------- */

/* The main thread sleeps in svc_run's poll, where it holds no lock: the library's own
 * thread takes no signals. */
static void end(int n)
{
	svc_exit();
}

static SVCXPRT *over_rdma(const char *address)
{
	SVCXPRT *x = svc_rdma_create(address, NULL);

	if (!x || !svc_rdma_reg(x, PROG, OLD, dispatch) ||
	    !svc_rdma_reg(x, PROG, NEW, dispatch)) {
		printf("error: %s\n", clnt_spcreateerror("rdma"));
		exit(1);
	}
	/* The same again does no harm, nor does what cannot be: the first stays. */
	if (!svc_rdma_reg(x, PROG, NEW, dispatch) ||
	    svc_rdma_reg(x, PROG, NEW, other)) {
		printf("error: registered anew\n");
		exit(1);
	}
	return x;
}

static SVCXPRT *over_tcp(void)
{
	struct netconfig *nc = getnetconfigent("tcp");
	SVCXPRT *x = nc ? svc_tli_create(RPC_ANYFD, nc, NULL, 0, 0) : NULL;

	if (!x || !svc_reg(x, PROG, OLD, dispatch, nc) ||
	    !svc_reg(x, PROG, NEW, dispatch, nc)) {
		printf("error: %s\n", clnt_spcreateerror("tcp"));
		exit(1);
	}
	freenetconfigent(nc);
	return x;
}

static int serve(const char *address, bool tcp)
{
	SVCXPRT *a = address ? over_rdma(address) : NULL;
	SVCXPRT *b = tcp ? over_tcp() : NULL;
	struct sigaction sa = {.sa_handler = end};

	sigaction(SIGTERM, &sa, NULL);
	printf("ready\n");
	fflush(stdout);
	svc_run();
	if (a)
		svc_destroy(a);
	if (b) {
		svc_unreg(PROG, OLD);
		svc_unreg(PROG, NEW);
		svc_destroy(b);
	}
	return 0;
}

/* -- clients of libtirpc --------------------------------------------------- */

static int ask(CLIENT *c)
{
	const struct timeval wait = {.tv_sec = LIMIT_S};
	u_int answer = 0;

	if (clnt_call(c, 1, VOID, NULL, (xdrproc_t)xdr_u_int, (char *)&answer, wait) !=
	            RPC_SUCCESS ||
	    answer != ANSWER) {
		printf("error: %s\n", clnt_sperror(c, "call"));
		return 1;
	}
	printf("answered netid=%s\n", c->cl_netid);
	return 0;
}

static int call(const char *host, const char *netids)
{
	const struct timeval wait = {.tv_sec = LIMIT_S};
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	CLIENT *c;
	int code;

	o.netids = strcmp(netids, "-") ? netids : NULL;
	c = clnt_rdma_create_timed(host, PROG, NEW, &wait, &o);
	if (!c) {
		printf("error: %s\n", clnt_spcreateerror("create"));
		return 1;
	}
	code = ask(c);
	clnt_destroy(c);
	return code;
}

/* rpcbind does not know the highest. */
static int versions(const char *host)
{
	rpcvers_t version = 0;
	CLIENT *c = clnt_rdma_create_vers(host, PROG, &version, 1, 9, NULL);

	if (!c) {
		printf("error: %s\n", clnt_spcreateerror("create"));
		return 1;
	}
	printf("version %lu netid=%s\n", (unsigned long)version, c->cl_netid);
	clnt_destroy(c);
	return 0;
}

/* -- a client without libtirpc --------------------------------------------- */

struct native {
	struct rpcrdma_engine *engine;
	struct rpcrdma_conn *conn;
	bool answered;
};

static void event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	struct rpcrdma_conn_info i;

	rpcrdma_conn_get_info(c, &i, sizeof(i));
	if (error)
		printf("event: %s\n", i.reason);
	if (final)
		rpcrdma_engine_stop(((struct native *)arg)->engine);
}

static void done(struct rpcrdma_call *call, const struct rpcrdma_reply *r, void *arg)
{
	struct native *n = arg;

	n->answered = r->status == 0;
	if (r->status)
		printf("error: %s\n", rpcrdma_strstatus(r->status));
	else
		printf("answered natively\n");
	rpcrdma_engine_stop(n->engine);
}

static uint32_t version_of(uint32_t program)
{
	return program == PROG ? NEW : 3;
}

static bool ask_natively(struct native *n, uint32_t program)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = program;
	o.version = version_of(program);
	o.timeout_ns = 10000000000u;
	o.done = done;
	o.arg = n;
	n->answered = false;
	if (rpcrdma_call(n->conn, &o, NULL))
		printf("error: no call\n");
	else
		(void)rpcrdma_engine_run(n->engine);
	return n->answered;
}

/* Until there is a line; the server may go meanwhile. */
static void wait_for_line(struct native *n)
{
	struct pollfd p = {.events = POLLIN};

	while (poll(&p, 1, 0) == 0)
		(void)rpcrdma_engine_process(n->engine, 50);
}

static int native(const char *host, uint32_t program, bool twice)
{
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct native n = {0};
	bool ok;

	co.program = program;
	co.program_version = version_of(program);
	co.handshake_ns = 5000000000u;
	co.retry_ns = 2000000000u;
	if (rpcrdma_engine_new(NULL, &n.engine) ||
	    rpcrdma_connect(n.engine, host, NULL, &co, event, &n, &n.conn)) {
		printf("error: it does not begin\n");
		return 1;
	}
	ok = ask_natively(&n, program);
	if (ok && twice) {
		wait_for_line(&n);
		ok = ask_natively(&n, program);
	}
	rpcrdma_conn_close(n.conn);
	while (!rpcrdma_engine_idle(n.engine))
		(void)rpcrdma_engine_process(n.engine, 100);
	rpcrdma_engine_free(n.engine);
	return !ok;
}

/* One connection is closed, one is abandoned. */
static int leave(const char *host)
{
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_conn *c[2];
	struct rpcrdma_engine *e;

	co.program = PROG;
	co.program_version = NEW;
	if (rpcrdma_engine_new(NULL, &e) ||
	    rpcrdma_connect(e, host, NULL, &co, NULL, NULL, &c[0]) ||
	    rpcrdma_connect(e, host, NULL, &co, NULL, NULL, &c[1]))
		return 1;
	for (int i = 0; i < 5; i++)
		(void)rpcrdma_engine_process(e, 50);
	rpcrdma_conn_close(c[0]);
	(void)rpcrdma_engine_process(e, 0);
	rpcrdma_engine_free(e);
	printf("left\n");
	return 0;
}

static int look_up(const char *host, const char *netid)
{
	char service[RPCRDMA_SERVICE_BYTES];
	int err = rpcrdma_lookup_netid(host, netid, PROG, NEW, 0, service);

	if (err)
		printf("error: %s\n", rpcrdma_strstatus(err));
	else
		printf("port %s\n", service);
	return err != 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *host = argc > 2 ? argv[2] : NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "serve") && host)
		return serve(host, argc > 3);
	if (!strcmp(what, "tcp"))
		return serve(NULL, true);
	if (!strcmp(what, "call") && argc == 4)
		return call(host, argv[3]);
	if (!strcmp(what, "versions") && host)
		return versions(host);
	if (!strcmp(what, "native") && host)
		return native(host, argc > 3 ? (uint32_t)atoi(argv[3]) : PROG, false);
	if (!strcmp(what, "follow") && host)
		return native(host, PROG, true);
	if (!strcmp(what, "leave") && host)
		return leave(host);
	if (!strcmp(what, "lookup") && argc == 4)
		return look_up(host, argv[3]);
	fprintf(stderr, "where: see the head of its source\n");
	return 2;
}
