/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ONC RPC message header: what comes before arguments and results.
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
	/* largest header: six words and two full authenticators */
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
	struct rpcrdma_auth verf; /* of an accepted one */
};

/* Octets used; -EMSGSIZE if @size is too small or the credential too long. */
int rr_rpc_put_call(void *buf, size_t size, const struct rr_rpc_call *) RR_MUST_CHECK;
int rr_rpc_put_reply(void *buf, size_t size, const struct rr_rpc_reply *) RR_MUST_CHECK;
/* Octets of header read; -EBADMSG.  A call with rpcvers other than 2 is read
 * as far as rpcvers only (the rest is zero). */
int rr_rpc_get_call(const void *buf, size_t len, struct rr_rpc_call *ret) RR_MUST_CHECK;
int rr_rpc_get_reply(const void *buf, size_t len,
                     struct rr_rpc_reply *ret) RR_MUST_CHECK;

/* What follows a header with this credential must stay in one piece: RPCSEC_GSS
 * with integrity or privacy, or about a context of its own.
 *                                      [v2 §11.2.2, §11.2.2.3; RFC 2203 §5; K18] */
bool rr_rpc_unreducible(const struct rpcrdma_auth *cred);

/* Are these XDR: a multiple of four octets before each item, between items, and behind
 * the last? */
bool rr_rpc_aligned(const struct rpcrdma_piece *p, unsigned n);

#endif
