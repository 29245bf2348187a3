/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One record of ONC RPC for MOUNT: the call's header is read, the procedure executed,
 * the reply written.                                       [RFC 5531 §9, §14]
 */
#ifndef RPCRDMA_MOUNT_RPC_H
#define RPCRDMA_MOUNT_RPC_H

#include "nfsd.h"

enum { MOUNT_RPC_BYTES = MOUNT_LIST_BYTES + 128 }; /* room for any reply */

/* @call: its peer and room are set.  The reply's length; 0: that was no call, and
 * there is nothing to answer.  *ret_failed: the reply is an error. */
size_t mount_rpc(struct nfsd *, struct mount_call *call, const void *record, size_t len,
                 uint8_t ret[MOUNT_RPC_BYTES], bool *ret_failed);

#endif
