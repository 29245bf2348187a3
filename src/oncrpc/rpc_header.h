/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ONC RPC message header, which precedes the arguments or results.
 * Pure functions over octets.                                  [RFC 5531 §9]
 */
#ifndef RR_ONCRPC_RPC_HEADER_H
#define RR_ONCRPC_RPC_HEADER_H

#include "base/base.h"
#include <rpcrdma/rpcrdma.h>

enum {
	RR_RPC_CALL = 0,
	RR_RPC_REPLY = 1,
	RR_RPC_AUTH_MAX = 400,
	/* Largest header: six words, and two authenticators of maximum length. */
	RR_RPC_HEADER_MAX = 24 + 2 * (8 + RR_RPC_AUTH_MAX),
};

struct rr_rpc_call {
	uint32_t xid, rpcvers, program, version, procedure;
	struct rpcrdma_auth cred, verf; /* bodies within the message */
};

struct rr_rpc_reply {
	uint32_t xid;
	int status; /* enum rpcrdma_status, >= 0 */
	uint32_t auth_stat, low, high;
	struct rpcrdma_auth verf; /* of an accepted Reply */
};

/* Encode a header.  Return its length in octets, or -EMSGSIZE if @size is too small or
 * an authenticator is too long. */
int rr_rpc_put_call(void *buf, size_t size, const struct rr_rpc_call *) RR_MUST_CHECK;
int rr_rpc_put_reply(void *buf, size_t size, const struct rr_rpc_reply *) RR_MUST_CHECK;
/* Decode a header.  Return its length in octets, or -EBADMSG.  If rpcvers is not 2, the
 * members after rpcvers are not decoded; they are zero. */
int rr_rpc_get_call(const void *buf, size_t len, struct rr_rpc_call *ret) RR_MUST_CHECK;
int rr_rpc_get_reply(const void *buf, size_t len,
                     struct rr_rpc_reply *ret) RR_MUST_CHECK;

/* Returns true if a message with this credential must not be reduced: RPCSEC_GSS with
 * integrity or privacy, or an RPCSEC_GSS control message.
 *                                      [v2 §11.2.2, §11.2.2.3; RFC 2203 §5; K18] */
bool rr_rpc_unreducible(const struct rpcrdma_auth *cred);

/* Returns true if the pieces have lengths that XDR allows: the total length of the
 * pieces before each item, and after the last item, is a multiple of four octets. */
bool rr_rpc_aligned(const struct rpcrdma_piece *p, unsigned n);

#endif
