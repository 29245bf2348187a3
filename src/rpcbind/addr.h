/* SPDX-License-Identifier: BSD-3-Clause */
/* "HOST", "HOST:PORT", "[IPv6]:PORT" and their resolution. */
#ifndef RR_RPCBIND_ADDR_H
#define RR_RPCBIND_ADDR_H

#include <netdb.h>

#include "base/base.h"

enum { RR_HOST_MAX = 256, RR_SERVICE_MAX = 32 };

/* Splits; the port is "" if absent.  -EINVAL, also for a port that is not valid. */
int rr_addr_split(const char *text, char host[RR_HOST_MAX],
                  char service[RR_SERVICE_MAX]) RR_MUST_CHECK;
/* A name, or a number from 0 to 65535: getaddrinfo takes the rest of a larger one. */
bool rr_addr_service_valid(const char *service);
/* getaddrinfo for stream sockets; -EINVAL: @service is not valid; -ENXIO if nothing
 * resolves.  The caller
 * frees with freeaddrinfo.  @host NULL or "" = any address (passive). */
int rr_addr_resolve(const char *host, const char *service, bool passive,
                    struct addrinfo **ret) RR_MUST_CHECK;

#endif
