/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names for MOUNT's security flavor numbers: none, sys, krb5, krb5i, krb5p
 * [RFC 2623 §2.3.1].  The client tools and the NFS server share them.
 */
#ifndef RPCRDMA_TOOLS_SEC_H
#define RPCRDMA_TOOLS_SEC_H

#include <rpcrdma/gss.h>

enum { SEC_UNSAID = 0 /* AUTH_NONE's number, which no user requests */, SEC_SYS = 1 };

/* Returns the flavor, or SEC_UNSAID if there is no such name. */
uint32_t sec_from_name(const char *name, size_t len);
/* Returns the name, such as "krb5i", or the number of an unknown flavor.  The text is
 * in a static buffer that later calls reuse. */
const char *sec_name(uint32_t flavor);
/* Returns the service of a Kerberos flavor, or 0 for other flavors. */
enum rpcrdma_gss_service sec_service(uint32_t flavor);
/* For struct tool_option: reads --sec FLAVOR into a uint32_t.  Returns 0, or prints a
 * message and returns -EINVAL.  Defined in connecting.c. */
int sec_take(void *to, const char *arg);

#endif
