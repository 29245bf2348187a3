/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Talks to an rpcbind: registers, takes back, and finds.   [v2 §9; RFC 1833 §2]
 *
 * These functions block, until the deadline at the latest.  Each makes a
 * connection of its own, asks in version 4 of the protocol and, where that is
 * not spoken, in 3.  Nothing is kept between calls.
 *
 * GETADDR cannot find what we look for: it ignores the netid it is given and
 * answers for the transport that it was asked over, which is TCP.  The whole list
 * (DUMP) is asked for instead, and bounded.
 *
 * Why not libtirpc: it waits for a connection as long as TCP does, for each piece
 * of an answer anew, and allocates what a length word says.
 *
 * Errors: -ECONNREFUSED and others of connect; -ETIMEDOUT; -EPROTONOSUPPORT it
 * speaks neither version; -EACCES it does not let us; -EPROTO it refused
 * otherwise; -EBADMSG, -EMSGSIZE its answer is malformed, or longer than any list
 * should be.
 */
#ifndef RR_RPCBIND_RPCBIND_H
#define RR_RPCBIND_RPCBIND_H

#include <netdb.h>
#include <sys/socket.h>

#include "base/base.h"

enum { RR_RPCBIND_MAX_REPLY = 1 << 18 }; /* some 4000 registrations */

struct rr_rpcbind {
	struct sockaddr_storage addr; /* TCP, or the local socket */
	socklen_t len;
	rr_time deadline; /* by rr_engine_clock */
};

/* What is registered; borrowed. */
struct rr_rpcb {
	uint32_t program, version;
	const char *netid, *uaddr;
	bool any_version; /* to find: another one if that is not there */
};

/* Connects to the address, whatever serves it; the descriptor does not block. */
int rr_rpcbind_open(const struct rr_rpcbind *, int *ret) RR_MUST_CHECK;

/* -EEXIST: it is registered with another address. */
int rr_rpcbind_set(const struct rr_rpcbind *, const struct rr_rpcb *) RR_MUST_CHECK;
/* Whatever the address.  -ENOENT: it is not there, or it is somebody else's. */
int rr_rpcbind_unset(const struct rr_rpcbind *, const struct rr_rpcb *) RR_MUST_CHECK;
/* The address, of @family, that is registered for a program under a netid; the uaddr
 * is not looked at.  -ENOENT; -EAFNOSUPPORT: no netid. */
int rr_rpcbind_find(const struct rr_rpcbind *, const struct rr_rpcb *, int family,
                    struct sockaddr_storage *ret) RR_MUST_CHECK;

/* Calls NULL of a program that is reached over TCP at that address.  -EPROTONOSUPPORT:
 * what answers has no such program, or not that version. */
int rr_rpcbind_null(const struct rr_rpcbind *, uint32_t program,
                    uint32_t version) RR_MUST_CHECK;

/* One program, under the netids that a transport has by family. */
struct rr_one {
	uint32_t program, version;
	const char *(*netid)(int family); /* rr_netid, rr_netid_tcp */
	const char *exact_netid;          /* to look up: this one instead; or NULL */
	bool any_version;                 /* to look up: as above */
};
/* Registers programs that are reached at @addr: all, or none after a failure that rpcbind
 * outlives.  Another address under the same netid is replaced if it is a dead server's
 * (leftover.h). */
int rr_register(const struct rr_rpcbind *, const struct rr_one *programs, unsigned n,
                const struct sockaddr *addr) RR_MUST_CHECK;
/* Takes registrations back, except where another address stands by now (-ENOENT). */
int rr_unregister(const struct rr_rpcbind *, const struct rr_one *programs, unsigned n,
                  const struct sockaddr *addr) RR_MUST_CHECK;
/* Names the rpcbind of this host, at its local socket; 0 = 5 s. */
void rr_rpcbind_local(uint64_t timeout_ns, struct rr_rpcbind *ret);
/* Addresses that are tried in turn: one that does not answer has its share only of the
 * time that is left, for as many as come with it. */
rr_time rr_share(rr_time deadline, unsigned of);
unsigned rr_addresses(const struct addrinfo *list);
/* Asks the rpcbinds of one host, at each address of @list in turn, over TCP.  Returns
 * the port of the program in host order.  Without @exact_netid the entry must have the
 * netid of the address that was asked. */
int rr_lookup_at(const struct addrinfo *list, const struct rr_one *, rr_time deadline,
                 uint16_t *ret_port) RR_MUST_CHECK;

#endif
