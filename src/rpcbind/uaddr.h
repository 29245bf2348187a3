/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Network ids and universal addresses: the form in which rpcbind keeps addresses.  It
 * is "h1.h2.h3.h4.p1.p2" for IPv4 (netid "rdma"), the text of the address and ".p1.p2"
 * for IPv6 ("rdma6"); p1 and p2 are the two octets of the port.
 *                              [v2 §9, §12; RFC 5665 §5.2.3.3, §5.2.3.4; O6]
 */
#ifndef RR_RPCBIND_UADDR_H
#define RR_RPCBIND_UADDR_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"

enum { RR_UADDR_MAX = INET6_ADDRSTRLEN + 8 }; /* with the zero octet */

/* Returns "rdma" or "rdma6"; NULL for other families. */
const char *rr_netid(int family);
/* Returns "tcp" or "tcp6"; NULL for other families. */
const char *rr_netid_tcp(int family);
/* Returns the family of a netid's addresses: AF_INET6 if it ends in '6', else AF_INET.
 *                                                        [RFC 5665 §5.1.1] */
int rr_netid_family(const char *netid);
/* Returns the port in host order; 0 for other families. */
uint16_t rr_sockaddr_port(const struct sockaddr *);
/* Encodes an address, without its scope id, which has no place there. 
 * -EAFNOSUPPORT. */
int rr_uaddr_put(const struct sockaddr *, char ret[RR_UADDR_MAX]) RR_MUST_CHECK;
/* Decodes @len octets from a peer as an address of @family.  -EBADMSG: not valid, or
 * port 0. */
int rr_uaddr_get(const void *text, size_t len, int family,
                 struct sockaddr_storage *ret) RR_MUST_CHECK;

#endif
