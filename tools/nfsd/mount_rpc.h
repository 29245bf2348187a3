/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers one ONC RPC record for MOUNT or NLM: decodes the call's header, executes the
 * procedure and encodes the reply.                        [RFC 5531 §9, §14]
 */
#ifndef RPCRDMA_MOUNT_RPC_H
#define RPCRDMA_MOUNT_RPC_H

#include "op.h"

enum {
	MOUNT_RPC_RECORD = 5120, /* octets; an NLM LOCK call has at most 4988 */
	MOUNT_RPC_BYTES = MOUNT_LIST_BYTES + 128, /* octets; fits any reply */
};

struct mount_rpc {
	struct nfsd *nfsd;
	uint64_t nlm_calls;
	uint8_t room[MOUNT_LIST_BYTES]; /* memory for a list in the results */
};

/* A tcpd_answer_fn; @arg is a struct mount_rpc. */
void *mount_rpc_answer(void *arg, const struct sockaddr_storage *peer,
                       const void *record, size_t len, size_t *ret_len,
                       bool *ret_failed);

#endif
