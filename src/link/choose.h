/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which provider carries a connection: the one that the user named, or, for each
 * address as it is used, RDMA devices where one serves it and software iWARP
 * elsewhere, also where that device is a siw: who wants a siw names "verbs".
 *
 * Connecting, the address that counts is our own, the one that the route to the
 * server begins at.  Loopback addresses are software's.  What was chosen is not
 * taken back: a server that refuses RDMA is not asked again by other means, since
 * the two are different services of it.
 *
 * Listening at the any address takes both: software iWARP at all addresses (which
 * serves iWARP devices of clients as well), and devices beside it as far as the
 * port is theirs: those of InfiniBand and RoCE have ports of their own, iWARP
 * devices share TCP's and stay out unless their address is named.
 */
#ifndef RR_DRIVE_CHOOSE_H
#define RR_DRIVE_CHOOSE_H

#include <sys/socket.h>

#include "prov/prov.h"

enum { RR_CHOICES = 2, RR_OPTIONS_MAX = 128 };

/* What "NAME[:OPTIONS]" names: *@ret NULL for NULL and "auto".  @ret_options is in
 * @name, or NULL, and shorter than RR_OPTIONS_MAX.  -EINVAL: nothing of ours, or not with
 * these options.  Devices: -ENOPKG, there is no rdma-core;
 * -ENODEV, there is no device. */
int rr_choose_named(const char *name, const struct rr_prov_ops **ret,
                    const char **ret_options) RR_MUST_CHECK;

/* For a connection to @sa. */
const struct rr_prov_ops *rr_choose_connect(const struct sockaddr *sa, socklen_t len);

/* For a listener at @sa: how many, in the order to try. */
unsigned rr_choose_listen(const struct sockaddr *sa, socklen_t len,
                          const struct rr_prov_ops *ret[RR_CHOICES]);

#endif
