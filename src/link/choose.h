/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider of a connection: the one that the user named, or else by address: RDMA
 * devices for an address that a device serves, software iWARP for any other.  A siw
 * counts as no device here; a user names "verbs" to use it.
 *
 * For a connection the source address of the route to the server decides.  Loopback
 * addresses are left to software iWARP.  There is no second choice: a server that
 * refuses a connection by one provider is not asked by the other, since the two are
 * different services.
 *
 * A listener at the any address uses both: software iWARP at all addresses, which also
 * serves clients with iWARP devices, and RDMA devices whose port numbers are separate.
 * InfiniBand and RoCE have port numbers of their own.  iWARP devices share those of
 * TCP, and are used only if their address is named.
 */
#ifndef RR_DRIVE_CHOOSE_H
#define RR_DRIVE_CHOOSE_H

#include <sys/socket.h>

#include "prov/prov.h"

enum { RR_CHOICES = 2, RR_OPTIONS_MAX = 128 };

/* Finds the provider of "NAME[:OPTIONS]"; NULL for NULL and "auto".  @ret_options
 * points into @name, or is NULL; it is shorter than RR_OPTIONS_MAX.  Returns -EINVAL if
 * the name or an option is unknown, -ENOPKG without rdma-core, -ENODEV without a device. */
int rr_choose_named(const char *name, const struct rr_prov_ops **ret,
                    const char **ret_options) RR_MUST_CHECK;

/* Chooses for a connection to @sa. */
const struct rr_prov_ops *rr_choose_connect(const struct sockaddr *sa, socklen_t len);

/* Chooses for a listener at @sa.  Returns how many, in the order to try. */
unsigned rr_choose_listen(const struct sockaddr *sa, socklen_t len,
                          const struct rr_prov_ops *ret[RR_CHOICES]);

#endif
