/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Netids and universal addresses, the form in which rpcbind stores addresses.  A
 * universal address is "h1.h2.h3.h4.p1.p2" for IPv4 (netid "rdma"), and the text of the
 * IPv6 address followed by ".p1.p2" for IPv6 (netid "rdma6"); p1 and p2 are the two
 * octets of the port.
 *                              [v2 §9, §12; RFC 5665 §5.2.3.3, §5.2.3.4; O6]
 */
#ifndef RR_RPCBIND_UADDR_H
#define RR_RPCBIND_UADDR_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"

enum { RR_UADDR_MAX = INET6_ADDRSTRLEN + 8 }; /* including the final zero octet */

/* Returns "rdma" for AF_INET, "rdma6" for AF_INET6, NULL for other families. */
const char *rr_netid(int family);
/* Returns "tcp" for AF_INET, "tcp6" for AF_INET6, NULL for other families. */
const char *rr_netid_tcp(int family);
/* Returns the family of a netid's addresses: AF_INET6 if the netid ends in '6',
 * otherwise AF_INET.                                     [RFC 5665 §5.1.1] */
int rr_netid_family(const char *netid);
/* Returns the length of an IPv4 or IPv6 address structure. */
socklen_t rr_sockaddr_len(const struct sockaddr *);
/* Returns the port of an IPv4 or IPv6 address in host order; 0 for other families. */
uint16_t rr_sockaddr_port(const struct sockaddr *);
/* Encodes an address, without its scope id, which the format does not contain.  Returns
 * -EAFNOSUPPORT for families other than IPv4 and IPv6. */
int rr_uaddr_put(const struct sockaddr *, char ret[RR_UADDR_MAX]) RR_MUST_CHECK;
/* Decodes @len octets from a peer as an address of @family.  Returns -EBADMSG if the
 * address is not valid or the port is 0. */
int rr_uaddr_get(const void *text, size_t len, int family,
                 struct sockaddr_storage *ret) RR_MUST_CHECK;

#endif
