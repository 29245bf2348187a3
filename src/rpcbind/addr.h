/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits and resolves addresses "HOST", "HOST:PORT" and "[IPv6]:PORT". */
#ifndef RR_RPCBIND_ADDR_H
#define RR_RPCBIND_ADDR_H

#include <netdb.h>

#include "base/base.h"

enum { RR_HOST_MAX = 256, RR_SERVICE_MAX = 32 };

/* Splits an address.  @service is set to "" if @text has no port.  Returns -EINVAL if
 * the address or the port is not valid. */
int rr_addr_split(const char *text, char host[RR_HOST_MAX],
                  char service[RR_SERVICE_MAX]) RR_MUST_CHECK;
/* Returns true if @service is a name or a number from 0 to 65535.  (getaddrinfo()
 * reduces larger numbers modulo 65536.) */
bool rr_addr_service_valid(const char *service);
/* Calls getaddrinfo() for stream sockets; the caller frees @ret with freeaddrinfo().
 * If @passive is true, the addresses are for listening, and a @host of NULL or "" means
 * the any address.  Returns -EINVAL if @service is not valid, or -ENXIO if the host
 * does not resolve. */
int rr_addr_resolve(const char *host, const char *service, bool passive,
                    struct addrinfo **ret) RR_MUST_CHECK;

#endif
