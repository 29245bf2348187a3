/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TLS 1.3 as the mechanism of host authentication: one dialogue of one
 * connection, without I/O.  Words go in and come out of memory; the caller
 * carries them (property 6).  <rpcrdma/hostauth.h> says what it proves.
 *
 *   client                                server
 *     ClientHello              ------->
 *                              <-------    ServerHello ... Finished
 *     Certificate ... Finished
 *     [client's tag]           ------->
 *                              <-------    [server's tag]
 *
 * A tag is an exporter value whose context is the two digests of the properties
 * that the client and the server sent.  Once an end made its tag, a further
 * property is refused.
 */
#ifndef RR_HOSTAUTH_H
#define RR_HOSTAUTH_H

#include <rpcrdma/hostauth.h>

#include "base/base.h"

enum { RR_HOSTAUTH_BINDING = 32, RR_HOSTAUTH_REASON = 160, RR_HOSTAUTH_IDENTITY = 256 };

struct rr_hostauth; /* a dialogue */

/* Can a server use it?  -EINVAL: it could not prove itself, by a certificate or a
 * shared key; -ENOKEY: no authority was named whose clients it believes. */
int rr_hostauth_serves(const struct rpcrdma_hostauth *);

/* @name (borrowed): a client's, whom the server must be; NULL: any whom we
 * believe.  @must: a client without certificate is refused. */
int rr_hostauth_new(const struct rpcrdma_hostauth *, bool server, const char *name,
                    bool must, struct rr_hostauth **ret);
void rr_hostauth_free(struct rr_hostauth *);

/* As struct rr_auth of conn wants them; @ctx is a struct rr_hostauth. */
int rr_hostauth_step(void *ctx, const void *in, size_t in_len, const void **ret_out,
                     size_t *ret_out_len);
bool rr_hostauth_property(void *ctx, bool own, uint32_t id, const void *data,
                          size_t len);

const char *rr_hostauth_identity(const struct rr_hostauth *); /* "" before done */
const char *rr_hostauth_reason(const struct rr_hostauth *); /* of a failure; else "" */
int rr_hostauth_binding(const struct rr_hostauth *, uint8_t ret[RR_HOSTAUTH_BINDING]);

#endif
