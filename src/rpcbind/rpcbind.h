/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of rpcbind: registers, unregisters, and looks up programs.
 *                                                        [v2 §9; RFC 1833 §2]
 * These functions block, at most until the deadline.  Each makes a connection of its
 * own, and calls version 4 of the protocol; version 3 if rpcbind does not support 4.
 * Nothing is kept between calls.
 *
 * GETADDR cannot be used for lookups.  It ignores its netid argument and answers for
 * the transport of the call, which is TCP.  So the whole list is requested (DUMP), up
 * to a limit.
 *
 * libtirpc is not used.  Its connect has no time limit of ours, its timeout starts anew
 * with each fragment of a reply, and it allocates whatever a length word requests.
 *
 * Errors: -ECONNREFUSED and others of connect; -ETIMEDOUT; -EPROTONOSUPPORT: rpcbind
 * supports neither version; -EACCES: permission denied; -EPROTO: refused for another
 * reason; -EBADMSG, -EMSGSIZE: the reply is malformed or too long.
 */
#ifndef RR_RPCBIND_RPCBIND_H
#define RR_RPCBIND_RPCBIND_H

#include <netdb.h>
#include <sys/socket.h>

#include "base/base.h"

enum { RR_RPCBIND_MAX_REPLY = 1 << 18 }; /* some 4000 registrations */

struct rr_rpcbind {
	struct sockaddr_storage addr; /* for TCP, or of the local socket */
	socklen_t len;
	rr_time deadline; /* by rr_engine_clock */
};

/* An entry of rpcbind; its strings are borrowed. */
struct rr_rpcb {
	uint32_t program, version;
	const char *netid, *uaddr;
	bool any_version; /* lookup: accept another version if this one is missing */
};

/* Connects to the address, which need not be an rpcbind's; the socket is
 * non-blocking. */
int rr_rpcbind_open(const struct rr_rpcbind *, int *ret) RR_MUST_CHECK;

/* Registers an entry.  -EEXIST: the program has another address under this netid. */
int rr_rpcbind_set(const struct rr_rpcbind *, const struct rr_rpcb *) RR_MUST_CHECK;
/* Unregisters an entry, whatever its address is.  -ENOENT: it is not registered, or by
 * another user. */
int rr_rpcbind_unset(const struct rr_rpcbind *, const struct rr_rpcb *) RR_MUST_CHECK;
/* Looks up the address, of @family, of a program under a netid; the uaddr is ignored.
 * -ENOENT: not registered; -EAFNOSUPPORT: the netid is NULL. */
int rr_rpcbind_lookup(const struct rr_rpcbind *, const struct rr_rpcb *, int family,
                      struct sockaddr_storage *ret) RR_MUST_CHECK;

/* Calls procedure NULL of a program over TCP at that address.  -EPROTONOSUPPORT: the
 * server there lacks the program or the version. */
int rr_rpcbind_null(const struct rr_rpcbind *, uint32_t program,
                    uint32_t version) RR_MUST_CHECK;

/* A program to register or to look up, with the netid for each address family. */
struct rr_rpcbind_program {
	uint32_t program, version;
	const char *(*netid)(int family); /* rr_netid, rr_netid_tcp */
	const char *exact_netid;          /* lookup: this netid instead; or NULL */
	bool any_version;                 /* lookup: as in struct rr_rpcb */
};
/* Registers programs that are served at @addr: all, or none on failure, unless rpcbind
 * itself fails meanwhile.  An address of a dead server is replaced (leftover.h). */
int rr_register(const struct rr_rpcbind *, const struct rr_rpcbind_program *programs,
                unsigned n, const struct sockaddr *addr) RR_MUST_CHECK;
/* Unregisters programs, except those that have another address by now: -ENOENT. */
int rr_unregister(const struct rr_rpcbind *, const struct rr_rpcbind_program *programs,
                  unsigned n, const struct sockaddr *addr) RR_MUST_CHECK;
/* Fills in the local socket of this host's rpcbind, and the deadline; 0 = 5 s. */
void rr_rpcbind_local(uint64_t timeout_ns, struct rr_rpcbind *ret);
/* Returns the deadline of the next of @of attempts that share the remaining time
 * equally, so that one that times out leaves time for the others. */
rr_time rr_share_time(rr_time deadline, unsigned of);
unsigned rr_count_addresses(const struct addrinfo *list);
/* Asks the rpcbinds of one host, at each address of @list in turn, over TCP.  Returns
 * the port of the program in host order.  Without @exact_netid the entry must have the
 * netid of the address that was asked. */
int rr_lookup_at(const struct addrinfo *list, const struct rr_rpcbind_program *,
                 rr_time deadline, uint16_t *ret_port) RR_MUST_CHECK;

#endif
