/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of rpcbind: registers, unregisters, and looks up programs.
 *                                                        [v2 §9; RFC 1833 §2]
 * These functions block, at most until the deadline.  Each function makes its own
 * connection, and calls version 4 of the protocol, or version 3 if rpcbind does not
 * support 4.  The functions keep no state.
 *
 * GETADDR cannot be used for lookups.  It ignores its netid argument, and reports the
 * address for the transport of the call, which is TCP.  So the complete list is
 * requested (DUMP), up to a size limit.
 *
 * libtirpc is not used.  Its time limit for connecting cannot be set, its timeout
 * starts anew with each fragment of a reply, and it allocates as much memory as a
 * length word in the reply requests.
 *
 * Errors: the errors from connect(2), such as -ECONNREFUSED; -ETIMEDOUT;
 * -EPROTONOSUPPORT if rpcbind supports neither version; -EACCES if rpcbind denies
 * permission; -EPROTO if rpcbind refuses the call for another reason; -EBADMSG if the
 * reply is malformed, or -EMSGSIZE if it is too long.
 */
#ifndef RR_RPCBIND_RPCBIND_H
#define RR_RPCBIND_RPCBIND_H

#include <netdb.h>
#include <sys/socket.h>

#include "base/base.h"

enum { RR_RPCBIND_MAX_REPLY = 1 << 18 }; /* some 4000 registrations */

struct rr_rpcbind {
	struct sockaddr_storage addr; /* address of a TCP port or a local socket */
	socklen_t len;
	rr_time deadline; /* time on the clock of rr_engine_clock() */
};

/* An entry in rpcbind's table; the strings are borrowed. */
struct rr_rpcb {
	uint32_t program, version;
	const char *netid, *uaddr;
	bool any_version; /* lookup: accept another version if @version is missing */
};

/* Connects to the address; the server there need not be rpcbind.  The socket is
 * non-blocking. */
int rr_rpcbind_open(const struct rr_rpcbind *, int *ret) RR_MUST_CHECK;

/* Registers an entry.  Returns -EEXIST if the program is already registered with
 * another address under this netid. */
int rr_rpcbind_set(const struct rr_rpcbind *, const struct rr_rpcb *) RR_MUST_CHECK;
/* Unregisters an entry, whatever its address is.  Returns -ENOENT if the entry is not
 * registered, or was registered by another user. */
int rr_rpcbind_unset(const struct rr_rpcbind *, const struct rr_rpcb *) RR_MUST_CHECK;
/* Looks up the address of a program under a netid; the address must be of @family.  The
 * entry's uaddr is not used.  Returns -ENOENT if the program is not registered, or
 * -EAFNOSUPPORT if the netid is NULL. */
int rr_rpcbind_lookup(const struct rr_rpcbind *, const struct rr_rpcb *, int family,
                      struct sockaddr_storage *ret) RR_MUST_CHECK;

/* Calls a program's procedure NULL over TCP at the given address.  Returns
 * -EPROTONOSUPPORT if the server there does not serve the program or the version. */
int rr_rpcbind_null(const struct rr_rpcbind *, uint32_t program,
                    uint32_t version) RR_MUST_CHECK;

/* Returns true if no server of the program answers at the address; see leftover.h. */
typedef bool rr_is_dead_fn(const struct rr_rpcb *, const struct sockaddr *);

/* A program to register or to look up, with the netid for each address family. */
struct rr_rpcbind_program {
	uint32_t program, version;
	const char *(*netid)(int family); /* rr_netid or rr_netid_tcp */
	const char *exact_netid;          /* lookup: replaces @netid, or NULL */
	bool any_version;                 /* lookup: as in struct rr_rpcb */
	rr_is_dead_fn *is_dead; /* register: tests the address of another server */
};
/* Registers programs that are served at @addr.  If a program cannot be registered,
 * tries to unregister those registered before it.  Replaces the address of a dead
 * server (leftover.h). */
int rr_register(const struct rr_rpcbind *, const struct rr_rpcbind_program *programs,
                unsigned n, const struct sockaddr *addr) RR_MUST_CHECK;
/* Unregisters programs, except any program whose registered address is no longer @addr.
 * Returns the first error; the error for such a program is -ENOENT. */
int rr_unregister(const struct rr_rpcbind *, const struct rr_rpcbind_program *programs,
                  unsigned n, const struct sockaddr *addr) RR_MUST_CHECK;
/* Fills in @ret with the local socket of this host's rpcbind, and with a deadline
 * @timeout_ns from now; 0 = 5 s. */
void rr_rpcbind_local(uint64_t timeout_ns, struct rr_rpcbind *ret);
/* Divides the time until @deadline equally among @of attempts, and returns the deadline
 * for the first attempt.  An attempt that times out then leaves time for the others. */
rr_time rr_share_time(rr_time deadline, unsigned of);
unsigned rr_count_addresses(const struct addrinfo *list);
/* Asks the rpcbind at each address in @list in turn, over TCP, until an rpcbind knows
 * the program.  Returns the program's port in host order.  If @exact_netid is NULL, the
 * netid depends on the family of each address in @list. */
int rr_lookup_at(const struct addrinfo *list, const struct rr_rpcbind_program *,
                 rr_time deadline, uint16_t *ret_port) RR_MUST_CHECK;

#endif
