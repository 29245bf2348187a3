/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognizes registrations of dead servers; contract in leftover.h. */
#include "rpcbind/leftover.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "rpcbind/addr.h"
#include "loop/engine.h"

enum { ASK_S = 2, MAX_ASKED = 16 };

static socklen_t get_addr_len(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	                                 : sizeof(struct sockaddr_in);
}

/* -- over TCP -------------------------------------------------------------- */

static bool is_dead_over_tcp(const struct rr_rpcb *r, const struct sockaddr *sa)
{
	struct rr_rpcbind at = {.len = get_addr_len(sa),
	                        .deadline = rr_after(rr_engine_clock(), RR_SEC(ASK_S))};
	int err;

	memcpy(&at.addr, sa, at.len);
	err = rr_rpcbind_null(&at, r->program, r->version);
	return err == -ECONNREFUSED || err == -EPROTONOSUPPORT;
}

/* -- over RDMA ------------------------------------------------------------- */

static int call_null(struct rpcrdma_conn *c, const struct rr_rpcb *r)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = r->program;
	o.version = r->version;
	o.timeout_ns = RR_SEC(ASK_S);
	return rpcrdma_call_sync(c, &o, NULL, 0, NULL, 0);
}

static int ask_by_rdma(struct rpcrdma_engine *e, const struct rr_rpcb *r,
                       const struct sockaddr *sa)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	char host[NI_MAXHOST], service[NI_MAXSERV];
	struct rpcrdma_conn *c;
	int err;

	o.no_reconnect = true;
	if (getnameinfo(sa, get_addr_len(sa), host, sizeof(host), service,
	                sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV))
		return -ENXIO;
	err = rpcrdma_connect(e, host, service, &o, NULL, NULL, &c);
	if (err)
		return err;
	err = call_null(c, r);
	rpcrdma_conn_close(c);
	while (!rpcrdma_engine_idle(e) && !rpcrdma_engine_process(e, 100))
		; /* ends, since closing has a time limit */
	return err;
}

/* Connects as clients would: through an RDMA device if one serves the address. */
static bool is_dead_over_rdma(const struct rr_rpcb *r, const struct sockaddr *sa)
{
	struct rpcrdma_engine *e;
	int status;

	if (rpcrdma_engine_new(NULL, &e))
		return false;
	status = ask_by_rdma(e, r, sa);
	rpcrdma_engine_free(e);
	return status == -ECONNREFUSED || status == RPCRDMA_PROG_UNAVAIL ||
	       status == RPCRDMA_PROG_MISMATCH;
}

/* -- at the any address ---------------------------------------------------- */

static bool is_unspecified(const struct sockaddr *sa)
{
	const struct sockaddr_in *in4 = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;

	return sa->sa_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr)
	                                 : in4->sin_addr.s_addr == htonl(INADDR_ANY);
}

/* Sets the port in @own to the port in @sa. */
static void copy_port(struct sockaddr_storage *own, const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET6)
		((struct sockaddr_in6 *)own)->sin6_port =
		        ((const struct sockaddr_in6 *)(const void *)sa)->sin6_port;
	else
		((struct sockaddr_in *)own)->sin_port =
		        ((const struct sockaddr_in *)(const void *)sa)->sin_port;
}

typedef bool is_dead_fn(const struct rr_rpcb *, const struct sockaddr *);

/* Returns true if the server is dead at each of this host's addresses.  Checks all of
 * them, because an RDMA device serves only some. */
static bool is_dead_everywhere(is_dead_fn *dead, const struct rr_rpcb *r,
                               const struct sockaddr *sa)
{
	struct ifaddrs *list;
	unsigned asked = 0;
	bool all = true;

	if (getifaddrs(&list))
		return false;
	for (const struct ifaddrs *i = list; i && all; i = i->ifa_next) {
		struct sockaddr_storage own = {0};

		if (!i->ifa_addr || i->ifa_addr->sa_family != sa->sa_family ||
		    !(i->ifa_flags & IFF_UP))
			continue;
		memcpy(&own, i->ifa_addr, get_addr_len(sa));
		copy_port(&own, sa);
		all = asked++ < MAX_ASKED && dead(r, (struct sockaddr *)&own);
	}
	freeifaddrs(list);
	return all && asked;
}

bool rr_is_leftover(const struct rr_rpcb *r, const struct sockaddr *sa)
{
	is_dead_fn *dead =
	        strncmp(r->netid, "rdma", 4) ? is_dead_over_tcp : is_dead_over_rdma;

	return is_unspecified(sa) ? is_dead_everywhere(dead, r, sa) : dead(r, sa);
}
