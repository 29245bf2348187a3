/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Network ids and universal addresses: how rpcbind writes where a service is.
 * "h1.h2.h3.h4.p1.p2" under the netid "rdma", the text of an IPv6 address and
 * ".p1.p2" under "rdma6"; p1 and p2 are the halves of the port.
 *                              [v2 §9, §12; RFC 5665 §5.2.3.3, §5.2.3.4; O6]
 */
#ifndef RR_RPCBIND_UADDR_H
#define RR_RPCBIND_UADDR_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"

enum { RR_UADDR_MAX = INET6_ADDRSTRLEN + 8 }; /* with the zero octet */

/* "rdma", "rdma6"; NULL for other families. */
const char *rr_netid(int family);
/* "tcp", "tcp6"; NULL for other families. */
const char *rr_netid_tcp(int family);
/* The family of the addresses under a netid: AF_INET6 if it ends in '6', else AF_INET.
 *                                                        [RFC 5665 §5.1.1] */
int rr_netid_family(const char *netid);
/* The port, in host order; 0 for other families. */
uint16_t rr_sockaddr_port(const struct sockaddr *);
/* Writes; a scope id is left out, there is no place for it.  -EAFNOSUPPORT. */
int rr_uaddr_put(const struct sockaddr *, char ret[RR_UADDR_MAX]) RR_MUST_CHECK;
/* Reads @len octets that a peer sent as an address of @family.  -EBADMSG: it is
 * none, or names port 0, where nobody listens. */
int rr_uaddr_get(const void *text, size_t len, int family,
                 struct sockaddr_storage *ret) RR_MUST_CHECK;

#endif
