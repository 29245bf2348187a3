/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items of arguments in memory of the program.
 *
 * Normal path: at ADMIT, rr_place_ask asks the program for memory, before the request
 * reserves memory of the library.  The items are read into it.  rr_place_over returns
 * it when the request has ended, for whatever reason.
 *
 * Failure: if the program refuses, the Reply is SYSTEM_ERR and nothing is read.
 *
 * Invariant: the program is called exactly once for each request that took memory,
 * after the last RDMA Read into it has ended.
 */
#ifndef RR_RPC_PLACE_H
#define RR_RPC_PLACE_H

#include "base/base.h"

struct rpcrdma_request;

/* Asks the program for memory for the items of @q, whose RPC header of @header octets
 * was checked.  Returns false if the program refuses; the request is answered with an
 * error then. */
bool rr_place_ask(struct rpcrdma_request *q, size_t header) RR_MUST_CHECK;
void rr_place_over(struct rpcrdma_request *q);

#endif
