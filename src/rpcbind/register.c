/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers programs with this host's rpcbind, and asks a server's rpcbind for ports;
 * contract in rpcbind.h.                                           [v2 §9; O6]
 *
 * A listener at the IPv6 any address accepts IPv4 connections too, so it is registered
 * under both netids.                                               [v2 §12]
 *
 * Programs served over TCP, such as MOUNT for NFS clients, and programs dispatched by
 * libtirpc are registered in the same way.
 */
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "loop/engine.h"
#include "rpcbind/addr.h"
#include "rpcbind/leftover.h"
#include "rpcbind/rpcbind.h"
#include "rpcbind/uaddr.h"

enum { WAIT_S = 5, MAX_PLACES = 2 };

static const char local_socket[] = "/var/run/rpcbind.sock";

static rr_time get_deadline(uint64_t timeout_ns)
{
	return rr_after(rr_engine_clock(), timeout_ns ? timeout_ns : RR_SEC(WAIT_S));
}

/* -- registration ---------------------------------------------------------- */

/* An address to register; its family determines the netid. */
struct place {
	struct sockaddr_storage addr;
	char uaddr[RR_UADDR_MAX];
};

/* Programs to register, each at all places. */
struct registration {
	const struct rr_rpcbind *at;
	const struct rr_rpcbind_program *programs;
	unsigned n_programs;
	struct place places[MAX_PLACES];
	unsigned n_places;
};

static int set_places(struct registration *r, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	struct sockaddr_in in4 = {.sin_family = AF_INET};
	struct place *p = r->places;
	int err = rr_uaddr_put(sa, p[0].uaddr);

	if (err)
		return err;
	r->n_places = 1;
	memcpy(&p[0].addr, sa, sa->sa_family == AF_INET6 ? sizeof(*in6) : sizeof(in4));
	if (sa->sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr)) {
		in4.sin_port = in6->sin6_port;
		memcpy(&p[1].addr, &in4, sizeof(in4));
		err = rr_uaddr_put((const struct sockaddr *)&in4, p[1].uaddr);
		r->n_places = 2;
	}
	return err;
}

static unsigned count_pairs(const struct registration *r)
{
	return r->n_programs * r->n_places;
}

/* Returns the i-th pair of program and place. */
static struct rr_rpcb get_pair(const struct registration *r, unsigned i)
{
	const struct place *at = &r->places[i % r->n_places];
	const struct rr_rpcbind_program *p = &r->programs[i / r->n_places];

	return (struct rr_rpcb){.program = p->program,
	                        .version = p->version,
	                        .netid = p->netid(at->addr.ss_family),
	                        .uaddr = at->uaddr};
}

/* Unregisters a pair if the registered address is still ours.  rpcbind checks only
 * which user owns the entry, and another server run by this user may have replaced the
 * address. */
static int unregister_pair(const struct registration *r, unsigned i)
{
	struct rr_rpcb one = get_pair(r, i);
	struct sockaddr_storage ss;
	char now[RR_UADDR_MAX];
	int err = rr_rpcbind_lookup(r->at, &one,
	                            r->places[i % r->n_places].addr.ss_family, &ss);

	if (!err)
		err = rr_uaddr_put((const struct sockaddr *)&ss, now);
	if (!err && strcmp(now, one.uaddr))
		err = -ENOENT;
	return err ? err : rr_rpcbind_unset(r->at, &one);
}

/* Unregisters the first @n pairs.  Continues after errors, and returns the first
 * error. */
static int unregister_pairs(const struct registration *r, unsigned n)
{
	int first = 0;

	for (unsigned i = 0; i < n; i++) {
		int err = unregister_pair(r, i);

		if (!first)
			first = err;
	}
	return first;
}

/* Replaces the registered address if its server is dead. */
static int replace_leftover(const struct registration *r, unsigned i)
{
	struct rr_rpcb one = get_pair(r, i);
	struct sockaddr_storage ss;
	int err = rr_rpcbind_lookup(r->at, &one,
	                            r->places[i % r->n_places].addr.ss_family, &ss);

	if (!err && !rr_is_leftover(r->programs[i / r->n_places].is_dead, &one,
	                            (const struct sockaddr *)&ss))
		return -EEXIST;
	if (!err)
		err = rr_rpcbind_unset(r->at, &one);
	if (err)
		return -EEXIST; /* registered by another user, or not readable */
	return rr_rpcbind_set(r->at, &one);
}

static int register_pairs(const struct registration *r)
{
	for (unsigned i = 0; i < count_pairs(r); i++) {
		struct rr_rpcb one = get_pair(r, i);
		int err = rr_rpcbind_set(r->at, &one);

		if (err == -EEXIST)
			err = replace_leftover(r, i);

		if (err) {
			/* Errors are ignored: the caller gets @err. */
			(void)!unregister_pairs(r, i);
			/* -ENOENT: rpcbind is not running, so there is no local
			 * socket. */
			return err == -ENOENT ? -ECONNREFUSED : err;
		}
	}
	return 0;
}

int rr_register(const struct rr_rpcbind *b, const struct rr_rpcbind_program *programs,
                unsigned n, const struct sockaddr *addr)
{
	struct registration r = {.at = b, .programs = programs, .n_programs = n};
	int err = set_places(&r, addr);

	return err ? err : register_pairs(&r);
}

int rr_unregister(const struct rr_rpcbind *b, const struct rr_rpcbind_program *programs,
                  unsigned n, const struct sockaddr *addr)
{
	struct registration r = {.at = b, .programs = programs, .n_programs = n};
	int err = set_places(&r, addr);

	return err ? err : unregister_pairs(&r, count_pairs(&r));
}

void rr_rpcbind_local(uint64_t timeout_ns, struct rr_rpcbind *ret)
{
	struct sockaddr_un *un = (void *)&ret->addr;

	*ret = (struct rr_rpcbind){.len = sizeof(*un),
	                           .deadline = get_deadline(timeout_ns)};
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, local_socket, sizeof(local_socket));
}

int rpcrdma_register_tcp(uint32_t program, uint32_t version,
                         const struct sockaddr *addr, uint64_t timeout_ns)
{
	const struct rr_rpcbind_program one = {.program = program,
	                                       .version = version,
	                                       .netid = rr_netid_tcp,
	                                       .is_dead = rr_is_dead_over_tcp};
	struct rr_rpcbind b;

	if (!addr)
		return -EINVAL;
	rr_rpcbind_local(timeout_ns, &b);
	return rr_register(&b, &one, 1, addr);
}

int rpcrdma_unregister_tcp(uint32_t program, uint32_t version,
                           const struct sockaddr *addr, uint64_t timeout_ns)
{
	const struct rr_rpcbind_program one = {
	        .program = program, .version = version, .netid = rr_netid_tcp};
	struct rr_rpcbind b;

	if (!addr)
		return -EINVAL;
	rr_rpcbind_local(timeout_ns, &b);
	return rr_unregister(&b, &one, 1, addr);
}

/* -- lookup ---------------------------------------------------------------- */

/* Returns the more informative of two errors.  Prefers -ENOENT to all others, because
 * this error is rpcbind's own answer.  Returns -ECONNREFUSED only if there is no other
 * error. */
static int pick_error(int a, int b)
{
	return !a || a == -ECONNREFUSED || b == -ENOENT ? b : a;
}

rr_time rr_share_time(rr_time deadline, unsigned of)
{
	rr_time now = rr_engine_clock();

	return deadline > now ? now + (deadline - now) / of : deadline;
}

unsigned rr_count_addresses(const struct addrinfo *list)
{
	unsigned n = 0;

	for (; list; list = list->ai_next)
		n++;
	return n;
}

int rr_lookup_at(const struct addrinfo *list, const struct rr_rpcbind_program *one,
                 rr_time deadline, uint16_t *ret_port)
{
	struct sockaddr_storage ss;
	unsigned left = rr_count_addresses(list);
	int err = 0;

	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		struct rr_rpcbind b = {.len = a->ai_addrlen,
		                       .deadline = rr_share_time(deadline, left--)};
		const char *exact = one->exact_netid;
		const struct rr_rpcb what = {.program = one->program,
		                             .version = one->version,
		                             .netid = exact ? exact
		                                            : one->netid(a->ai_family),
		                             .any_version = one->any_version};
		int family = exact ? rr_netid_family(exact) : a->ai_family, e;

		memcpy(&b.addr, a->ai_addr, a->ai_addrlen);
		e = rr_rpcbind_lookup(&b, &what, family, &ss);
		if (!e) {
			*ret_port = rr_sockaddr_port((const struct sockaddr *)&ss);
			return 0;
		}
		err = pick_error(err, e);
	}
	return err;
}

static int look_up_program(const char *host, const struct rr_rpcbind_program *one,
                           uint64_t timeout_ns, char ret_service[RPCRDMA_SERVICE_BYTES])
{
	struct addrinfo *list;
	uint16_t port;
	int err;

	if (!host || !ret_service)
		return -EINVAL;
	err = rr_addr_resolve(host, "111", false, &list);
	if (err)
		return err;
	err = rr_lookup_at(list, one, get_deadline(timeout_ns), &port);
	freeaddrinfo(list);
	if (!err)
		snprintf(ret_service, RPCRDMA_SERVICE_BYTES, "%u", (unsigned)port);
	return err;
}

int rpcrdma_lookup(const char *host, uint32_t program, uint32_t version,
                   uint64_t timeout_ns, char ret_service[RPCRDMA_SERVICE_BYTES])
{
	const struct rr_rpcbind_program one = {
	        .program = program, .version = version, .netid = rr_netid};

	return look_up_program(host, &one, timeout_ns, ret_service);
}

int rpcrdma_lookup_netid(const char *host, const char *netid, uint32_t program,
                         uint32_t version, uint64_t timeout_ns,
                         char ret_service[RPCRDMA_SERVICE_BYTES])
{
	const struct rr_rpcbind_program one = {
	        .program = program, .version = version, .exact_netid = netid};

	if (!netid || !*netid)
		return -EINVAL;
	return look_up_program(host, &one, timeout_ns, ret_service);
}
