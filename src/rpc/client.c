/* SPDX-License-Identifier: BSD-3-Clause */
/* CLIENTs: how they begin and end.  See client.h. */
#include "rpc/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "drive/addr.h"

#undef rpc_createerr /* the structure is meant */

static struct clnt_ops ops = {
        .cl_call = rr_rpc_client_call,
        .cl_abort = rr_rpc_client_abort,
        .cl_geterr = rr_rpc_client_geterr,
        .cl_freeres = rr_rpc_client_freeres,
        .cl_destroy = rr_rpc_client_destroy,
        .cl_control = rr_rpc_client_control,
};

struct rr_rpc_connect {
	struct rr_rpc_client *client;
	struct rr_rpc_wait wait;
	int error;
};

/* -- the connection ------------------------------------------------------------------
 */

static void told(struct rr_rpc_client *c, int error)
{
	struct rr_rpc_connect *w = c->connecting;

	if (!w)
		return;
	c->connecting = NULL;
	w->error = error;
	rr_rpc_wait_wake(&w->wait);
}

static void on_event(struct rpcrdma_conn *conn, int error, bool final, void *arg)
{
	struct rr_rpc_client *c = arg;
	uint64_t n = 1;

	/* For those who poll; a failure would mean that it is readable already, or
	 * empty already. */
	if (error)
		(void)!write(c->lost_fd, &n, sizeof(n));
	else
		(void)!read(c->lost_fd, &n, sizeof(n));
	c->over = final;
	told(c, error);
}

static int connect_now(struct rr_rpc_client *c)
{
	char host[NI_MAXHOST], service[NI_MAXSERV];

	if (c->conn)
		rpcrdma_conn_close(c->conn);
	c->conn = NULL;
	c->over = false;
	/* Numbers: nothing is looked up in the engine's thread. */
	if (getnameinfo((struct sockaddr *)&c->addr, c->addr_len, host, sizeof(host),
	                service, sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV))
		return -ENXIO;
	return rpcrdma_connect(c->engine, host, service, &c->o.conn, on_event, c,
	                       &c->conn);
}

int rr_rpc_client_conn(struct rr_rpc_client *c, struct rpcrdma_conn **ret)
{
	int err = !c->conn || c->over ? connect_now(c) : 0;

	if (!err)
		*ret = c->conn;
	return err;
}

static void begin_connect(void *arg)
{
	struct rr_rpc_connect *w = arg;
	int err;

	w->client->connecting = w;
	err = connect_now(w->client);
	if (err)
		told(w->client, err);
}

static void close_conn(void *arg)
{
	struct rr_rpc_client *c = arg;

	told(c, -ETIMEDOUT);
	if (c->conn)
		rpcrdma_conn_close(c->conn);
	c->conn = NULL;
}

/* One address of the server. */
static int try_address(struct rr_rpc_client *c, const struct addrinfo *a,
                       rr_time deadline)
{
	struct rr_rpc_connect w = {.client = c};
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	memcpy(&c->addr, a->ai_addr, a->ai_addrlen);
	c->addr_len = a->ai_addrlen;
	rr_rpc_wait_init(&w.wait);
	rr_rpc_in_engine(c->engine, begin_connect, &w);
	if (!rr_rpc_wait_until(&w.wait, deadline) || w.error)
		rr_rpc_in_engine(c->engine, close_conn, c);
	rr_rpc_wait_fini(&w.wait);
	pthread_setcancelstate(old, NULL);
	return w.error;
}

static int connect_any(struct rr_rpc_client *c, const struct addrinfo *list,
                       rr_time deadline)
{
	int err = -ENXIO;

	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		err = try_address(c, a, deadline);
		if (!err || rr_engine_clock() >= deadline)
			break;
	}
	return err;
}

/* -- its errors ----------------------------------------------------------------------
 */

static CLIENT *refuse(enum clnt_stat stat, enum clnt_stat inner, int error)
{
	struct rpc_createerr *e = __rpc_createerr();

	memset(e, 0, sizeof(*e));
	e->cf_stat = stat;
	e->cf_error.re_status = inner;
	e->cf_error.re_errno = -error;
	return NULL;
}

static void *refuse_lookup(int err)
{
	if (err == -ENXIO)
		return refuse(RPC_UNKNOWNHOST, RPC_UNKNOWNHOST, err);
	if (err == -ENOENT)
		return refuse(RPC_PROGNOTREGISTERED, RPC_PROGNOTREGISTERED, err);
	if (err == -ETIMEDOUT)
		return refuse(RPC_RPCBFAILURE, RPC_TIMEDOUT, err);
	return refuse(RPC_RPCBFAILURE, RPC_CANTRECV, err);
}

/* -- its beginning -------------------------------------------------------------------
 */

static void free_client(struct rr_rpc_client *c)
{
	if (c->lost_fd >= 0)
		close(c->lost_fd);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->auth_lock);
	free(c->clnt.cl_netid);
	free(c->clnt.cl_tp);
	free(c);
}

static struct rr_rpc_client *new_client(rpcprog_t prog, rpcvers_t vers)
{
	struct rr_rpc_client *c = calloc(1, sizeof(*c));
	pthread_mutexattr_t attr;

	if (!c)
		return NULL;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&c->auth_lock, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_mutex_init(&c->lock, NULL);
	rr_list_init(&c->calls);
	c->clnt.cl_ops = &ops;
	c->clnt.cl_private = c;
	c->prog = prog;
	c->vers = vers;
	c->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->lost_fd < 0) {
		free_client(c);
		return NULL;
	}
	return c;
}

/* The authenticator, and the names that svc and clnt functions show. */
static bool dress(struct rr_rpc_client *c)
{
	c->clnt.cl_auth = authnone_create();
	c->clnt.cl_netid = strdup(c->addr.ss_family == AF_INET6 ? "rdma6" : "rdma");
	c->clnt.cl_tp = strdup("-");
	return c->clnt.cl_auth && c->clnt.cl_netid && c->clnt.cl_tp;
}

static CLIENT *create(const char *host, const char *service, rpcprog_t prog,
                      rpcvers_t vers, rr_time deadline, const struct rr_rpc_options *o)
{
	struct rr_rpc_client *c = new_client(prog, vers);
	struct addrinfo *list;
	int err;

	if (!c)
		return refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, -ENOMEM);
	c->o = *o;
	c->o.conn.no_reconnect = !o->resend;
	err = rr_rpc_engine(&c->engine);
	if (!err) {
		err = rr_addr_resolve(host, service, false, &list);
		if (err) {
			free_client(c);
			return refuse(RPC_UNKNOWNHOST, RPC_UNKNOWNHOST, err);
		}
		err = connect_any(c, list, deadline);
		freeaddrinfo(list);
	}
	if (err) {
		free_client(c);
		return refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, err);
	}
	if (!dress(c)) {
		rr_rpc_client_destroy(&c->clnt);
		return refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, -ENOMEM);
	}
	return &c->clnt;
}

CLIENT *clnt_rdma_create_timed(const char *address, rpcprog_t prog, rpcvers_t vers,
                               const struct timeval *timeout,
                               const struct rpcrdma_tirpc_options *options)
{
	char host[RR_HOST_MAX] = "", service[RR_SERVICE_MAX] = "";
	rr_time left = RR_SEC(25), deadline;
	struct rr_rpc_options o;
	int err = rr_rpc_options_from(options, &o);

	if (!err)
		err = address ? rr_addr_split(address, host, service) : -EINVAL;
	if (!err && timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0))
		err = -EINVAL;
	if (err)
		return refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, err);
	if (timeout)
		left = RR_SEC(timeout->tv_sec) + (rr_time)timeout->tv_usec * 1000;
	deadline = rr_after(rr_engine_clock(), left);
	if (!*service) {
		err = rpcrdma_lookup(host, (uint32_t)prog, (uint32_t)vers,
		                     left ? left : 1, service);
		if (err)
			return refuse_lookup(err);
	}
	return create(host, service, prog, vers, deadline, &o);
}

CLIENT *clnt_rdma_create(const char *host, rpcprog_t prog, rpcvers_t vers,
                         const struct rpcrdma_tirpc_options *options)
{
	return clnt_rdma_create_timed(host, prog, vers, NULL, options);
}

/* Narrows the range by what the server said; false: nothing is left of it. */
static bool narrow(CLIENT *c, rpcvers_t *low, rpcvers_t *high)
{
	struct rpc_err e;

	clnt_geterr(c, &e);
	if (e.re_status != RPC_PROGVERSMISMATCH)
		return false;
	if (e.re_vers.high < *high)
		*high = e.re_vers.high;
	else if ((*high)-- == 0)
		return false;
	if (e.re_vers.low > *low)
		*low = e.re_vers.low;
	return *low <= *high;
}

CLIENT *clnt_rdma_create_vers(const char *host, rpcprog_t prog, rpcvers_t *ret_version,
                              rpcvers_t low, rpcvers_t high,
                              const struct rpcrdma_tirpc_options *options)
{
	const struct timeval wait = {.tv_sec = 10};
	CLIENT *c = clnt_rdma_create(host, prog, high, options);
	enum clnt_stat stat;
	struct rpc_err e;

	if (!c)
		return NULL;
	do {
		clnt_control(c, CLSET_VERS, &high);
		stat = clnt_call(c, NULLPROC, RR_XDR_VOID, NULL, RR_XDR_VOID, NULL,
		                 wait);
		if (stat == RPC_SUCCESS) {
			*ret_version = high;
			return c;
		}
	} while (narrow(c, &low, &high));
	clnt_geterr(c, &e);
	clnt_destroy(c);
	*__rpc_createerr() = (struct rpc_createerr){.cf_stat = stat, .cf_error = e};
	return NULL;
}

/* -- its end -------------------------------------------------------------------------
 */

void rr_rpc_client_destroy(CLIENT *clnt)
{
	struct rr_rpc_client *c = rr_rpc_client_of(clnt);

	rr_rpc_in_engine(c->engine, close_conn, c);
	free_client(c);
}
