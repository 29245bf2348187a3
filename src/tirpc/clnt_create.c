/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clnt_rdma_create and its variants: create a CLIENT for a host, a program and a
 * version.  The transports (netids) that the user lists are tried in turn.  For RDMA
 * the result is a CLIENT from clnt.h, for TCP a CLIENT from libtirpc.
 *
 * Normal path for one netid: resolve the host, ask its rpcbind for the port unless the
 * user gave a port, connect to the first address that accepts a connection.
 *
 * Failure: the next netid is tried.  If the next netid succeeds, the user is notified
 * that the preferred transport is not in use.  If all netids fail, rpc_createerr has
 * the error from the first netid.  Each netid gets an equal share of the remaining
 * time.  So if a host drops one transport's packets, there is time left for the others.
 * Only getaddrinfo() is not subject to this time limit.
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpcbind/addr.h"
#include "rpcbind/rpcbind.h"
#include "rpcbind/uaddr.h"
#include "tirpc/clnt.h"

#undef rpc_createerr /* a macro that hides the structure's name */

enum { NFS = 100003, NOTICE_MAX = 512, MOST_S = 100000000 };

struct clnt_target {
	const char *host;
	uint16_t port; /* port for RDMA; 0 = ask rpcbind */
	rpcprog_t prog;
	rpcvers_t vers;
	bool any_version; /* accept a port registered for another version */
	const struct rr_rpc_options *o;
};

/* -- errors ---------------------------------------------------------------- */

void *rr_rpc_refuse(enum clnt_stat stat, enum clnt_stat inner, int err)
{
	struct rpc_createerr *e = __rpc_createerr();

	memset(e, 0, sizeof(*e));
	e->cf_stat = stat;
	e->cf_error.re_status = inner;
	e->cf_error.re_errno = -err;
	return NULL;
}

void *rr_rpc_refuse_lookup(int err)
{
	if (err == -ENXIO)
		return rr_rpc_refuse(RPC_UNKNOWNHOST, RPC_UNKNOWNHOST, err);
	if (err == -ENOENT)
		return rr_rpc_refuse(RPC_PROGNOTREGISTERED, RPC_PROGNOTREGISTERED, err);
	if (err == -ETIMEDOUT)
		return rr_rpc_refuse(RPC_RPCBFAILURE, RPC_TIMEDOUT, err);
	return rr_rpc_refuse(RPC_RPCBFAILURE, RPC_CANTRECV, err);
}

/* -- addresses ------------------------------------------------------------- */

static int resolve_clnt_host(const char *host, int family, struct addrinfo **ret)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = family};

	return !*host || getaddrinfo(host, "111", &hints, ret) ? -ENXIO : 0;
}

static void set_list_port(struct addrinfo *list, uint16_t port)
{
	for (struct addrinfo *a = list; a; a = a->ai_next) {
		if (a->ai_family == AF_INET)
			((struct sockaddr_in *)(void *)a->ai_addr)->sin_port =
			        htons(port);
		else if (a->ai_family == AF_INET6)
			((struct sockaddr_in6 *)(void *)a->ai_addr)->sin6_port =
			        htons(port);
	}
}

/* Finds the program's port, and sets it in each address of @list. */
static int find_server_port(const struct clnt_target *w, bool tcp,
                            struct addrinfo *list, rr_time deadline)
{
	const struct rr_rpcbind_program one = {.program = (uint32_t)w->prog,
	                                       .version = (uint32_t)w->vers,
	                                       .netid = tcp ? rr_netid_tcp : rr_netid,
	                                       .any_version = w->any_version};
	bool nfs = !tcp && w->prog == NFS;
	uint16_t port = tcp ? w->o->tcp_port : w->port;
	rr_time now = rr_engine_clock();
	int err = 0;

	if (!port) {
		/* Leave time for the default port if rpcbind does not respond. */
		if (nfs && deadline > now)
			deadline -= (deadline - now) / 2;
		err = rr_lookup_at(list, &one, deadline, &port);
	}
	if (err && nfs) {
		port = RPCRDMA_NFS_PORT;
		err = 0;
	}
	if (!err)
		set_list_port(list, port);
	return err;
}

/* -- TCP ------------------------------------------------------------------- */

/* Opens a connected, blocking socket for libtirpc.  libtirpc is not asked to connect,
 * because it connects without a time limit. */
static int open_tcp_socket(const struct addrinfo *a, rr_time deadline, int *ret)
{
	struct rr_rpcbind to = {.len = a->ai_addrlen, .deadline = deadline};
	int one = 1, err;

	memcpy(&to.addr, a->ai_addr, a->ai_addrlen);
	err = rr_rpcbind_open(&to, ret);
	if (err)
		return err;
	/* If this fails, calls are only slower. */
	(void)setsockopt(*ret, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (fcntl(*ret, F_SETFL, 0) == 0)
		return 0;
	err = -errno;
	close(*ret);
	return err;
}

static CLIENT *create_on_socket(const struct clnt_target *w, const struct addrinfo *a,
                                int fd)
{
	struct netbuf addr = {
	        .buf = a->ai_addr, .len = a->ai_addrlen, .maxlen = a->ai_addrlen};
	CLIENT *c = clnt_vc_create(fd, &addr, w->prog, w->vers, 0, 0);

	if (!c) {
		close(fd);
		return NULL;
	}
	clnt_control(c, CLSET_FD_CLOSE, NULL);
	c->cl_netid = strdup(rr_netid_tcp(a->ai_family));
	c->cl_tp = strdup("-");
	if (c->cl_netid && c->cl_tp)
		return c;
	clnt_destroy(c);
	return rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, -ENOMEM);
}

static CLIENT *create_over_tcp(const struct clnt_target *w, const struct addrinfo *list,
                               rr_time deadline)
{
	unsigned left = rr_count_addresses(list);
	int err = -ENXIO, fd;

	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		err = open_tcp_socket(a, rr_share_time(deadline, left--), &fd);
		if (!err)
			return create_on_socket(w, a, fd);
	}
	return rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, err);
}

/* -- attempts for each netid ----------------------------------------------- */

static CLIENT *try_netid(const struct clnt_target *w, const struct rr_rpc_netid *n,
                         rr_time deadline)
{
	struct addrinfo *list;
	CLIENT *c = NULL;
	int err = resolve_clnt_host(w->host, n->family, &list);

	if (err)
		return rr_rpc_refuse_lookup(err);
	err = find_server_port(w, n->tcp, list, deadline);
	if (err)
		rr_rpc_refuse_lookup(err);
	else if (n->tcp)
		c = create_over_tcp(w, list, deadline);
	else
		c = rr_rpc_client_new(w->host, list, w->prog, w->vers, deadline, w->o);
	freeaddrinfo(list);
	return c;
}

/* Writes the reason for error @e as text. */
static void put_reason(const struct rpc_createerr *e, char *ret, size_t size)
{
	const char *what = "";

	if (e->cf_stat == RPC_UNKNOWNHOST) {
		snprintf(ret, size, "it has no such address");
		return;
	}
	if (e->cf_stat == RPC_PROGNOTREGISTERED) {
		snprintf(ret, size, "its rpcbind has no such program there");
		return;
	}
	if (e->cf_stat == RPC_RPCBFAILURE)
		what = "its rpcbind: ";
	snprintf(ret, size, "%s%s", what, rpcrdma_strstatus(-e->cf_error.re_errno));
}

static void report_fallback(const struct clnt_target *w,
                            const struct rr_rpc_netid *used,
                            const struct rpc_createerr *first)
{
	char text[NOTICE_MAX], reason[128];

	put_reason(first, reason, sizeof(reason));
	snprintf(text, sizeof(text), "%s: no %s (%s): using %s", w->host,
	         w->o->netids[0]->label, reason, used->label);
	if (w->o->notice)
		w->o->notice(text, w->o->notice_arg);
	else
		fprintf(stderr, "%s\n", text);
}

static CLIENT *try_netids(const struct clnt_target *w, rr_time deadline)
{
	const struct rr_rpc_options *o = w->o;
	struct rpc_createerr first = {.cf_stat = RPC_SUCCESS};

	for (unsigned i = 0; i < o->n_netids; i++) {
		CLIENT *c = try_netid(w, o->netids[i],
		                      rr_share_time(deadline, o->n_netids - i));

		if (c && i)
			report_fallback(w, o->netids[i], &first);
		if (c)
			return c;
		if (!i)
			first = *__rpc_createerr();
	}
	*__rpc_createerr() = first;
	return NULL;
}

/* -- public functions ------------------------------------------------------ */

static int parse_service(const char *service, uint16_t *ret)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_INET};
	struct addrinfo *a;

	*ret = 0;
	if (!*service)
		return 0;
	if (getaddrinfo(NULL, service, &hints, &a))
		return -ENXIO;
	*ret = rr_sockaddr_port(a->ai_addr);
	freeaddrinfo(a);
	return *ret ? 0 : -ENXIO;
}

static CLIENT *create_clnt(struct clnt_target *w, const char *address,
                           const struct timeval *timeout,
                           const struct rpcrdma_tirpc_options *options)
{
	char host[RR_HOST_MAX] = "", service[RR_SERVICE_MAX] = "";
	rr_time left = RR_SEC(25);
	struct rr_rpc_options o;
	int err = rr_rpc_options_from(options, false, &o);
	CLIENT *c;
	int old;

	if (!err)
		err = address ? rr_addr_split(address, host, service) : -EINVAL;
	if (!err && timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0))
		err = -EINVAL;
	if (err)
		return rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, err);
	if (parse_service(service, &w->port))
		return rr_rpc_refuse_lookup(-ENXIO);
	if (timeout)
		left = RR_SEC(RR_MIN(timeout->tv_sec, MOST_S)) +
		       (rr_time)RR_MIN(timeout->tv_usec, MOST_S) * 1000;
	w->host = host;
	w->o = &o;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	c = try_netids(w, rr_after(rr_engine_clock(), left));
	pthread_setcancelstate(old, NULL);
	return c;
}

CLIENT *clnt_rdma_create_timed(const char *host, rpcprog_t prog, rpcvers_t vers,
                               const struct timeval *timeout,
                               const struct rpcrdma_tirpc_options *options)
{
	struct clnt_target w = {.prog = prog, .vers = vers};

	return create_clnt(&w, host, timeout, options);
}

CLIENT *clnt_rdma_create(const char *host, rpcprog_t prog, rpcvers_t vers,
                         const struct rpcrdma_tirpc_options *options)
{
	return clnt_rdma_create_timed(host, prog, vers, NULL, options);
}

/* Narrows the range to the versions that the server reports.  Returns false if no
 * version is left, or if the last call did not fail because of its version. */
static bool narrow_versions(CLIENT *c, rpcvers_t *low, rpcvers_t *high)
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
	struct clnt_target w = {.prog = prog, .vers = high, .any_version = true};
	CLIENT *c = create_clnt(&w, host, NULL, options);
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
	} while (narrow_versions(c, &low, &high));
	clnt_geterr(c, &e);
	clnt_destroy(c);
	*__rpc_createerr() = (struct rpc_createerr){.cf_stat = stat, .cf_error = e};
	return NULL;
}
