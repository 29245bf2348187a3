/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognizes registrations of dead servers; contract in leftover.h. */
#include "rpcbind/leftover.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "rpcbind/addr.h"
#include "rpcbind/uaddr.h"
#include "loop/engine.h"

enum { ASK_S = 2, MAX_ASKED = 16 };

/* -- over TCP -------------------------------------------------------------- */

bool rr_is_dead_over_tcp(const struct rr_rpcb *r, const struct sockaddr *sa)
{
	struct rr_rpcbind at = {.len = rr_sockaddr_len(sa),
	                        .deadline = rr_after(rr_engine_clock(), RR_SEC(ASK_S))};
	int err;

	memcpy(&at.addr, sa, at.len);
	err = rr_rpcbind_null(&at, r->program, r->version);
	return err == -ECONNREFUSED || err == -EPROTONOSUPPORT;
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

/* Returns true if the server is dead at each of this host's addresses.  One address is
 * not enough, because an RDMA device serves only some addresses. */
static bool is_dead_everywhere(rr_is_dead_fn *dead, const struct rr_rpcb *r,
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
		memcpy(&own, i->ifa_addr, rr_sockaddr_len(sa));
		copy_port(&own, sa);
		all = asked++ < MAX_ASKED && dead(r, (struct sockaddr *)&own);
	}
	freeifaddrs(list);
	return all && asked;
}

bool rr_is_leftover(rr_is_dead_fn *dead, const struct rr_rpcb *r,
                    const struct sockaddr *sa)
{
	return is_unspecified(sa) ? is_dead_everywhere(dead, r, sa) : dead(r, sa);
}
