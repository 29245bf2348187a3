/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations that a server left behind.
 *
 * A server that was killed takes nothing back, and rpcbind keeps one address a program
 * and netid: without this no server at another port could register again.  The address
 * is asked for NULL.  It is a leftover if the connection is refused, or if what listens
 * there now is another program.  Silence is no proof: a server may be busy or stopped.
 */
#ifndef RR_RPCBIND_LEFTOVER_H
#define RR_RPCBIND_LEFTOVER_H

#include "rpcbind/rpcbind.h"

/* Is @addr, which is registered for this program and netid at the rpcbind of this
 * host, a leftover?  Blocks for a few seconds at most. */
bool rr_is_leftover(const struct rr_rpcb *, const struct sockaddr *addr);

#endif
