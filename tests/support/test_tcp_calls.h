/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ONC RPC over TCP by libtirpc to the server of test_nfsd.h with --mount-port 0.
 * Nothing waits for longer than TCP_CALL_S.
 */
#ifndef RR_TEST_TCP_CALLS_H
#define RR_TEST_TCP_CALLS_H

#include "test_nfsd.h"

enum { TCP_CALL_S = 20 };

/* Returns the port in the server's line "mountd @host:PORT tcp", or 0. */
unsigned tcp_port(const struct nfsd *, const char *host);
/* A connection to the loopback interface. */
int tcp_dial(int family, unsigned port);
/* A handle with the uid and gid of struct nfsd, on a connection of its own. */
CLIENT *tcp_client(const struct nfsd *, int family, unsigned port, u_long program,
                   u_long version);
void tcp_hang_up(CLIENT *);
enum clnt_stat tcp_call(CLIENT *, u_long proc, xdrproc_t xargs, void *args,
                        xdrproc_t xres, void *res);
/* Calls a procedure without arguments on a connection of its own, and expects it to
 * fail; where versions are the reason, with these. */
void tcp_refused(const struct nfsd *, unsigned port, u_long program, u_long version,
                 u_long proc, enum clnt_stat expected, unsigned low, unsigned high);

bool_t tcp_no_xdr(XDR *, ...);
#define NOTHING ((xdrproc_t)tcp_no_xdr)

#endif
