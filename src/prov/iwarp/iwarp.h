/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iWARP provider: RDMA over TCP in user space (MPA, DDP and RDMAP of
 * RFC 5044, 6581, 5041 and 5040).
 *
 * Options, "key=value,..." (an unknown key causes -EINVAL; defaults in parentheses):
 *   crc=0|1     ask for CRC32C (1); it is off only if both sides ask for 0
 *   rev=1|2     highest MPA revision (2); revision 2 negotiates IRD and ORD
 *   p2p=0|1     a client asks for the RTR message of RFC 6581 (0), which allows the
 *               server to send first.  An RPC client always sends first.  Linux's siw
 *               crashes its kernel if a client that asked for the RTR message closes
 *               before siw has read it.  With 1, an orderly disconnect therefore
 *               always sends the RTR message, and wakes up a server that has not
 *               noticed the message.  This does not help if the client is killed
 *   fpdu=N      largest ULPDU sent, 128..65535 (65535).  siw in Linux 6.1 reports a
 *               wrong CRC if the CRC is split between two TCP segments.  With CRC,
 *               choose a size that fills one segment: 1454 for 1460 octets
 *   ird=N ord=N inbound and outbound RDMA Reads in progress, 0..1024 (64)
 *   ord1=N      outbound RDMA Reads in progress to a peer that does not announce its
 *               IRD, as with MPA revision 1 (1; never more than ord).  If it exceeds
 *               the peer's IRD, the connection can fail
 *   sndbuf=N rcvbuf=N  socket buffers in octets (131072, 0); 0: the system's choice.
 *               Linux doubles the value.  A sndbuf of 131072 is 1.5 times as fast as
 *               the system's choice if both sides run on one core, and equally fast
 *               otherwise; a network with high bandwidth and delay needs more.
 */
#ifndef RR_PROV_IWARP_IWARP_H
#define RR_PROV_IWARP_IWARP_H

#include "prov/prov.h"

extern const struct rr_prov_ops rr_iwarp_ops;

#endif
