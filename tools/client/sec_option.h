/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Security flavors by name: none, sys, krb5, krb5i, krb5p, as MOUNT numbers them
 * [RFC 2623 §2.3.1].  Shared by the client tools and the NFS server.
 */
#ifndef RPCRDMA_TOOLS_SEC_H
#define RPCRDMA_TOOLS_SEC_H

#include <rpcrdma/gss.h>

enum { SEC_UNSAID = 0 /* AUTH_NONE, which nobody asks for */, SEC_SYS = 1 };

/* SEC_UNSAID: no such name. */
uint32_t sec_from_name(const char *name, size_t len);
/* "krb5i"; of others their number, in a ring of buffers. */
const char *sec_name(uint32_t flavor);
/* The service of a Kerberos flavor; 0: it is none. */
enum rpcrdma_gss_service sec_service(uint32_t flavor);
/* For struct tool_option: --sec FLAVOR into a uint32_t.  Messages are printed.  In connecting.c,
 * with what else talks to people. */
int sec_take(void *to, const char *arg);

#endif
