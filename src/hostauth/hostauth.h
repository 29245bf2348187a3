/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TLS 1.3 as the mechanism of host authentication: the dialogue on one connection,
 * without I/O.  Messages are read from and written to memory; the caller carries them
 * in property 6.  <rpcrdma/hostauth.h> states what the dialogue proves.
 *
 *   client                                server
 *     ClientHello              ------->
 *                              <-------    ServerHello ... Finished
 *     Certificate ... Finished
 *     [client's tag]           ------->
 *                              <-------    [server's tag]
 *
 * A tag is an exporter value.  Its context is the digest of the properties that the
 * client sent, followed by the digest of those that the server sent.  After a peer has
 * made its tag, it refuses further properties.
 */
#ifndef RR_HOSTAUTH_H
#define RR_HOSTAUTH_H

#include <rpcrdma/hostauth.h>

#include "base/base.h"

enum { RR_HOSTAUTH_BINDING = 32, RR_HOSTAUTH_REASON = 160, RR_HOSTAUTH_IDENTITY = 256 };

struct rr_hostauth; /* a dialogue */

/* Checks whether a server can use the credentials.  Returns 0, -EINVAL if they contain
 * neither a certificate nor a shared key, or -ENOKEY if they contain no authority that
 * could certify clients. */
int rr_hostauth_serves(const struct rpcrdma_hostauth *);

/* Creates a dialogue.  The credentials are lent until the dialogue is freed.  @name
 * (borrowed) is the name that a client requires in the server's certificate; NULL
 * accepts any name.  If @must is true, a server refuses clients without a
 * certificate. */
int rr_hostauth_new(const struct rpcrdma_hostauth *, bool server, const char *name,
                    bool must, struct rr_hostauth **ret);
void rr_hostauth_free(struct rr_hostauth *);

/* These functions implement struct rr_auth of src/conn.  @ctx is a struct
 * rr_hostauth. */
int rr_hostauth_step(void *ctx, const void *in, size_t in_len, const void **ret_out,
                     size_t *ret_out_len);
bool rr_hostauth_property(void *ctx, bool own, uint32_t id, const void *data,
                          size_t len);

const char *rr_hostauth_identity(const struct rr_hostauth *); /* "" until done */
const char *rr_hostauth_reason(const struct rr_hostauth *);   /* "" unless failed */
int rr_hostauth_binding(const struct rr_hostauth *, uint8_t ret[RR_HOSTAUTH_BINDING]);

#endif
