/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and destroys CLIENTs; see clnt.h. */
#include "tirpc/clnt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rpcbind/rpcbind.h"

static struct clnt_ops clnt_ops_table = {
        .cl_call = rr_rpc_client_call,
        .cl_abort = rr_rpc_client_abort,
        .cl_geterr = rr_rpc_client_geterr,
        .cl_freeres = rr_rpc_client_freeres,
        .cl_destroy = rr_rpc_client_destroy,
        .cl_control = rr_rpc_client_control,
};

/* Upper bound on the time that clnt_destroy waits for calls with a zero timeout. */
#define LINGER_NS RR_SEC(2)

struct rr_rpc_connect {
	struct rr_rpc_client *client;
	struct rr_rpc_wait wait;
	int error;
};

/* -- the connection -------------------------------------------------------- */

static void wake_connecting(struct rr_rpc_client *c, int error)
{
	struct rr_rpc_connect *w = c->connecting;

	if (!w)
		return;
	c->connecting = NULL;
	w->error = error;
	rr_rpc_wait_wake(&w->wait);
}

static void on_clnt_event(struct rpcrdma_conn *conn, int error, bool final, void *arg)
{
	struct rr_rpc_client *c = arg;
	uint64_t n = 1;

	/* Makes the descriptor from CLGET_FD readable for users that poll it.  A
	 * failure is harmless: the descriptor is readable already. */
	if (error)
		(void)!write(c->lost_fd, &n, sizeof(n));
	else
		(void)!read(c->lost_fd, &n, sizeof(n));
	c->over = final;
	wake_connecting(c, error);
}

static int open_clnt_conn(struct rr_rpc_client *c)
{
	char host[NI_MAXHOST], service[NI_MAXSERV];

	if (c->conn)
		rpcrdma_conn_close(c->conn);
	c->conn = NULL;
	c->over = false;
	/* Use numbers, so that the engine's thread does not wait for a resolver. */
	if (getnameinfo((struct sockaddr *)&c->addr, c->addr_len, host, sizeof(host),
	                service, sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV))
		return -ENXIO;
	return rpcrdma_connect(c->engine, host, service, &c->o.conn, on_clnt_event, c,
	                       &c->conn);
}

int rr_rpc_client_conn(struct rr_rpc_client *c, struct rpcrdma_conn **ret)
{
	int err = !c->conn || c->over ? open_clnt_conn(c) : 0;

	if (!err)
		*ret = c->conn;
	return err;
}

static void start_connecting(void *arg)
{
	struct rr_rpc_connect *w = arg;
	int err;

	w->client->connecting = w;
	err = open_clnt_conn(w->client);
	if (err)
		wake_connecting(w->client, err);
}

static void close_clnt_conn(void *arg)
{
	struct rr_rpc_client *c = arg;

	wake_connecting(c, -ETIMEDOUT);
	c->lingers = NULL;
	rr_rpc_client_forget(c);
	if (c->conn)
		rpcrdma_conn_close(c->conn);
	c->conn = NULL;
}

/* Connects to one address of the server, waiting no longer than until @deadline. */
static int try_address(struct rr_rpc_client *c, const struct addrinfo *a,
                       rr_time deadline)
{
	struct rr_rpc_connect w = {.client = c};
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	memcpy(&c->addr, a->ai_addr, a->ai_addrlen);
	c->addr_len = a->ai_addrlen;
	rr_rpc_wait_init(&w.wait);
	rr_rpc_in_engine(c->engine, start_connecting, &w);
	if (!rr_rpc_wait_until(&w.wait, deadline) || w.error) {
		rr_rpc_in_engine(c->engine, close_clnt_conn, c);
		/* After a time-out, w.error is 0 if the connection was established
		 * before it was closed here. */
		w.error = w.error ? w.error : -ETIMEDOUT;
	}
	rr_rpc_wait_fini(&w.wait);
	pthread_setcancelstate(old, NULL);
	return w.error;
}

static int try_addresses(struct rr_rpc_client *c, const struct addrinfo *list,
                         rr_time deadline)
{
	unsigned left = rr_count_addresses(list);
	int err = -ENXIO;

	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		err = try_address(c, a, rr_share_time(deadline, left--));
		if (!err || rr_engine_clock() >= deadline)
			break;
	}
	return err;
}

/* -- creation -------------------------------------------------------------- */

static void free_clnt(struct rr_rpc_client *c)
{
	if (c->lost_fd >= 0)
		close(c->lost_fd);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->auth_lock);
	free(c->clnt.cl_netid);
	free(c->clnt.cl_tp);
	free(c->provider);
	free(c->features);
	free(c);
}

static struct rr_rpc_client *new_clnt(rpcprog_t prog, rpcvers_t vers)
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
	rr_list_init(&c->one_way);
	c->clnt.cl_ops = &clnt_ops_table;
	c->clnt.cl_private = c;
	c->prog = prog;
	c->vers = vers;
	c->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->lost_fd < 0) {
		free_clnt(c);
		return NULL;
	}
	return c;
}

/* Sets the authenticator and the fields that users of libtirpc read. */
static bool set_clnt_names(struct rr_rpc_client *c)
{
	c->clnt.cl_auth = authnone_create();
	c->clnt.cl_netid = strdup(c->addr.ss_family == AF_INET6 ? "rdma6" : "rdma");
	c->clnt.cl_tp = strdup("-");
	return c->clnt.cl_auth && c->clnt.cl_netid && c->clnt.cl_tp;
}

/* Copies the borrowed options that later connections need. */
static int keep_clnt_options(struct rr_rpc_client *c, const char *host,
                             const struct rr_rpc_options *o)
{
	const char *name = o->conn.hostauth_name ? o->conn.hostauth_name : host;

	c->o = *o;
	c->o.conn.no_reconnect = !o->resend;
	if (strlen(name) >= sizeof(c->server))
		return -EINVAL;
	strcpy(c->server, name);
	c->o.conn.hostauth_name = c->server;
	c->provider = o->conn.provider ? strdup(o->conn.provider) : NULL;
	c->features = o->conn.features ? strdup(o->conn.features) : NULL;
	c->o.conn.provider = c->provider;
	c->o.conn.features = c->features;
	return !c->provider == !o->conn.provider && !c->features == !o->conn.features
	               ? 0
	               : -ENOMEM;
}

CLIENT *rr_rpc_client_new(const char *host, const struct addrinfo *list, rpcprog_t prog,
                          rpcvers_t vers, rr_time deadline,
                          const struct rr_rpc_options *o)
{
	struct rr_rpc_client *c = new_clnt(prog, vers);
	int err;

	if (!c)
		return rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, -ENOMEM);
	err = keep_clnt_options(c, host, o);
	if (!err)
		err = rr_rpc_engine(&c->engine);
	if (!err)
		err = try_addresses(c, list, deadline);
	if (err) {
		free_clnt(c);
		return rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, err);
	}
	if (!set_clnt_names(c)) {
		rr_rpc_client_destroy(&c->clnt);
		return rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, -ENOMEM);
	}
	return &c->clnt;
}

/* -- destruction ----------------------------------------------------------- */

static void start_lingering(void *arg)
{
	struct rr_rpc_connect *w = arg;

	w->client->lingers = &w->wait;
	if (rr_list_empty(&w->client->one_way))
		rr_rpc_wait_wake(&w->wait);
}

/* Closes the connection, after waiting up to LINGER_NS for Replies to the calls with a
 * zero timeout.  Without the wait, calls that were not yet sent would be cancelled. */
static void close_when_sent(struct rr_rpc_client *c)
{
	struct rr_rpc_connect w = {.client = c};
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	rr_rpc_wait_init(&w.wait);
	if (c->had_one_way) {
		rr_rpc_in_engine(c->engine, start_lingering, &w);
		/* The result does not matter: the connection is closed anyway. */
		(void)rr_rpc_wait_until(&w.wait,
		                        rr_after(rr_engine_clock(), LINGER_NS));
	}
	rr_rpc_in_engine(c->engine, close_clnt_conn, c);
	rr_rpc_wait_fini(&w.wait);
	pthread_setcancelstate(old, NULL);
}

void rr_rpc_client_destroy(CLIENT *clnt)
{
	struct rr_rpc_client *c = rr_rpc_client_of(clnt);

	if (rr_rpc_engine_runs(c->engine))
		close_when_sent(c);
	free_clnt(c);
}
