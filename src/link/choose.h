/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the provider of a connection: the one that the user named, otherwise by
 * address: RDMA devices for an address that a device serves, software iWARP for any
 * other.  The kernel's software iWARP device (siw) does not count as a device here; a
 * user must name "verbs" to use it.
 *
 * For a connection, the source address of the route to the server decides.  Loopback
 * addresses always use software iWARP.  If a server refuses a connection by one
 * provider, the other one is not tried, because it would reach a different service.
 *
 * A listener at the any address uses both providers: software iWARP at all addresses,
 * which also serves clients with iWARP devices, and those RDMA devices whose port
 * numbers are separate.  InfiniBand and RoCE have their own port numbers.  iWARP
 * devices share port numbers with TCP, and are used only if their address is named.
 */
#ifndef RR_LINK_CHOOSE_H
#define RR_LINK_CHOOSE_H

#include <sys/socket.h>

#include "prov/prov.h"

enum { RR_CHOICES = 2, RR_OPTIONS_MAX = 128 };

/* Finds the provider for "NAME[:OPTIONS]".  Returns 0, -EINVAL if the name or an option
 * is unknown, -ENOPKG without rdma-core, or -ENODEV without a device.  @ret is NULL if
 * @name is NULL or "auto".  @ret_options points into @name, or is NULL; it is shorter
 * than RR_OPTIONS_MAX. */
int rr_choose_named(const char *name, const struct rr_prov_ops **ret,
                    const char **ret_options) RR_MUST_CHECK;

/* Chooses the provider for a connection to @sa. */
const struct rr_prov_ops *rr_choose_connect(const struct sockaddr *sa, socklen_t len);

/* Chooses the providers for a listener at @sa.  Returns their number; @ret has them in
 * the order in which to try them. */
unsigned rr_choose_listen(const struct sockaddr *sa, socklen_t len,
                          const struct rr_prov_ops *ret[RR_CHOICES]);

#endif
