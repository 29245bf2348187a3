/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the provider of a connection.  If the user has named no provider, the address
 * decides: an address that an RDMA device serves uses the device, and any other address
 * uses software iWARP.  The kernel's software iWARP device (siw) does not count as a
 * device here; a user must name "verbs" to use siw.
 *
 * For a connection, the source address of the route to the server decides.  Loopback
 * addresses always use software iWARP.  If a server refuses a connection from one
 * provider, the other provider is not tried, because it would reach a different
 * service.
 *
 * A listener at the any address uses both providers.  Software iWARP listens at all
 * addresses, and also serves clients with iWARP devices.  InfiniBand and RoCE devices
 * listen, too, because their port numbers are separate from TCP's.  iWARP devices share
 * port numbers with TCP, and are used only if their address is named.
 */
#ifndef RR_LINK_CHOOSE_H
#define RR_LINK_CHOOSE_H

#include <sys/socket.h>

#include "prov/prov.h"

enum { RR_CHOICES = 2, RR_OPTIONS_MAX = 128 };

/* Finds the provider for "NAME[:OPTIONS]".  Returns 0, -EINVAL if the name or an option
 * is unknown, -ENOPKG without rdma-core, or -ENODEV without a device.  @ret is NULL if
 * @name is NULL or "auto".  @ret_options points into @name, or is NULL; the options are
 * shorter than RR_OPTIONS_MAX. */
int rr_choose_named(const char *name, const struct rr_prov_ops **ret,
                    const char **ret_options) RR_MUST_CHECK;

/* Chooses the provider for a connection to @sa. */
const struct rr_prov_ops *rr_choose_connect(const struct sockaddr *sa, socklen_t len);

/* Stores in @ret the providers for a listener at @sa, in the order in which the caller
 * tries them.  Returns the number of providers. */
unsigned rr_choose_listen(const struct sockaddr *sa, socklen_t len,
                          const struct rr_prov_ops *ret[RR_CHOICES]);

#endif
