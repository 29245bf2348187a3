/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ONC RPC over TCP to the server of a rig that has --mount-port 0, by libtirpc; nothing
 * waits for longer than TCP_CALL_S.
 */
#ifndef TESTS_E2E_TCP_CALLS_H
#define TESTS_E2E_TCP_CALLS_H

#include "nfsd_rig.h"

enum { TCP_CALL_S = 20 };

/* The port in the server's line "mountd @host:PORT tcp"; 0: there is none. */
unsigned tcp_port(const struct rig *, const char *host);
/* A connection to the loopback interface. */
int tcp_dial(int family, unsigned port);
/* A handle with the rig's uid and gid; it has a connection of its own. */
CLIENT *tcp_client(const struct rig *, int family, unsigned port, u_long program,
                   u_long version);
void tcp_hang_up(CLIENT *);
enum clnt_stat tcp_call(CLIENT *, u_long proc, xdrproc_t xargs, void *args,
                        xdrproc_t xres, void *res);
/* Calls a procedure without arguments on a connection of its own, and expects it to
 * fail; where versions are the reason, with these. */
void tcp_refused(const struct rig *, unsigned port, u_long program, u_long version,
                 u_long proc, enum clnt_stat expected, unsigned low, unsigned high);

bool_t tcp_no_xdr(XDR *, ...);
#define NOTHING ((xdrproc_t)tcp_no_xdr)

#endif
