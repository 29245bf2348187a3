/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits and resolves addresses "HOST", "HOST:PORT" and "[IPv6]:PORT". */
#ifndef RR_RPCBIND_ADDR_H
#define RR_RPCBIND_ADDR_H

#include <netdb.h>

#include "base/base.h"

enum { RR_HOST_MAX = 256, RR_SERVICE_MAX = 32 };

/* Splits an address; @service is "" without a port.  -EINVAL: the address or the port
 * is not valid. */
int rr_addr_split(const char *text, char host[RR_HOST_MAX],
                  char service[RR_SERVICE_MAX]) RR_MUST_CHECK;
/* Returns whether @service is a name or a number from 0 to 65535.  getaddrinfo()
 * reduces larger numbers modulo 65536. */
bool rr_addr_service_valid(const char *service);
/* Calls getaddrinfo() for stream sockets; the caller frees @ret by freeaddrinfo().
 * @passive: to listen; @host NULL or "" is the any address then.  -EINVAL: @service is
 * not valid; -ENXIO: the host does not resolve. */
int rr_addr_resolve(const char *host, const char *service, bool passive,
                    struct addrinfo **ret) RR_MUST_CHECK;

#endif
