/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs provider: RDMA devices through rdma-core (libibverbs, librdmacm), which is
 * loaded at run time.
 *
 * Options, "[DEVICE][,key=value...]" (an unknown key causes -EINVAL; defaults in
 * parentheses):
 *   DEVICE      use only this device, as named by `rdma link`; -ENODEV for an address
 *               that the device does not serve
 *   mw=0|1      use memory windows if they passed the device's self-test (1).
 *               Without windows, each region is a registration
 *   inline=N    largest Send or Write whose octets are copied into the work request
 *               (256); the device may allow less
 *   ird=N ord=N inbound and outbound RDMA Reads in progress, 0..255 (64), and no
 *               more than the device and the peer allow
 *   sq=N rq=N   depths of the device's send queue, 64..16384, and receive queue,
 *               16..16384.  Posts that exceed the send queue wait in the provider.
 *               Defaults: rq is the number of Receives in the configuration (1024 if
 *               unknown), sq twice that number, within 64..256.  Setting up a
 *               connection fails with -ENOBUFS if the device or rq allows fewer
 *               Receives than the configuration asks for
 *
 * Differences from the other providers: the device chooses the handles, which are
 * R_keys.  A window's key repeats after 255 values, and sixteen or more windows are
 * used in turn.  The reason for the end of a connection is only as accurate as the
 * device's reports; see prov.h.
 */
#ifndef RR_PROV_VERBS_VERBS_H
#define RR_PROV_VERBS_VERBS_H

#include "prov/prov.h"

extern const struct rr_prov_ops rr_verbs_ops;

#endif
