/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs provider: RDMA devices through rdma-core (libibverbs, librdmacm),
 * found at run time.
 *
 * Options, "[DEVICE][,key=value...]" (an unknown key is -EINVAL):
 *   DEVICE      only this one, as `rdma link` names it; an address that it does
 *               not serve is -ENODEV
 *   mw=0|1      memory windows where the device has been seen to do them (1);
 *               without, a region is a registration of its own, and the device is
 *               not tried
 *   inline=N    octets of a Send that go along in the work request (256); the
 *               device may grant fewer
 *   ird=N ord=N inbound and outbound RDMA Reads at once, 0..255 (64), and no
 *               more than the device and the peer allow
 *   sq=N rq=N   depth of the device's send and receive queues, 64 (rq: 16)
 *               ..16384; what exceeds the send queue waits here.  Default: as many
 *               Receives as the configuration says that there will be (1024 if it
 *               does not), twice as many sends, 64 to 256.  -ENOBUFS: the device or
 *               rq has fewer Receives than will be posted
 *
 * What differs from the other providers: a handle is the device's R_key, so how
 * hard it is to guess and how soon it repeats is the device's doing (a window's
 * key counts through 255 values before it repeats, and sixteen or more windows
 * take turns).  Why a connection ended is known as far as the device tells:
 * see prov.h.
 */
#ifndef RR_PROV_VERBS_VERBS_H
#define RR_PROV_VERBS_VERBS_H

#include "prov/prov.h"

extern const struct rr_prov_ops rr_verbs_ops;

#endif
