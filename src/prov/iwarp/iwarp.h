/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iWARP provider: RDMA over TCP in user space (MPA, DDP and RDMAP of
 * RFC 5044, 6581, 5041 and 5040).
 *
 * Options, "key=value,..." (an unknown key is -EINVAL):
 *   crc=0|1     ask for CRC32C (1); it is off only if both sides say 0
 *   rev=1|2     highest MPA revision (2); 2 negotiates IRD and ORD
 *   p2p=0|1     a client asks for the RTR message of RFC 6581 (0), so that
 *               the server may speak first.  A client of RPC speaks first
 *               anyway, and Linux's siw brings its kernel down when a client
 *               that asked goes away before its RTR message was looked at.
 *               With 1 an orderly end sends it in any case, and gives a server
 *               that may sleep on it a second chance; a client that is killed
 *               cannot.
 *   fpdu=N      largest ULPDU sent, 128..65535 (65535).  siw (Linux 6.1) takes a
 *               CRC that is split between two TCP segments for a wrong one, so
 *               with CRC let small ones fill segments: 1454 for 1460 octets
 *   ird=N ord=N inbound and outbound RDMA Reads at once, 0..1024 (64)
 *   ord1=N      outbound RDMA Reads at once to a peer that does not say how many
 *               it holds, as with MPA revision 1 (1; never more than ord).  More
 *               than it holds end the connection
 *   sndbuf=N rcvbuf=N  socket buffers in octets, 0: left to the system.  Linux
 *               doubles the number.  131072 sent is best when both ends share a
 *               core (half as much again as the system's own choice) and no
 *               worse when they do not; a long fat network wants more.
 */
#ifndef RR_PROV_IWARP_IWARP_H
#define RR_PROV_IWARP_IWARP_H

#include "prov/prov.h"

extern const struct rr_prov_ops rr_iwarp_ops;

#endif
