/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognizes registrations that a dead server left behind.
 *
 * A server that is killed does not unregister, and rpcbind keeps one address for each
 * program and netid.  So a leftover registration prevents a new server from registering
 * another port.  To recognize a leftover, this code calls procedure NULL at the
 * registered address.  The registration is a leftover if the connection is refused, or
 * if another program listens there now.  A timeout proves nothing: the server may be
 * busy or stopped.
 */
#ifndef RR_RPCBIND_LEFTOVER_H
#define RR_RPCBIND_LEFTOVER_H

#include "rpcbind/rpcbind.h"

/* Returns true if the server that registered @addr is dead: @is_dead returns true for
 * @addr or, if @addr is the any address, for each address of this host.  @addr is the
 * address that this host's rpcbind lists for the program and netid.  Blocks for a few
 * seconds at most. */
bool rr_is_leftover(rr_is_dead_fn *is_dead, const struct rr_rpcb *,
                    const struct sockaddr *addr);
/* For programs that are served over TCP.  rpc/leftover_rdma.h has the function for
 * RDMA. */
rr_is_dead_fn rr_is_dead_over_tcp;

#endif
