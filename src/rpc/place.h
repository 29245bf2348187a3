/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places items of the arguments in memory that the program provides.
 *
 * Normal path: at ADMIT, rr_place_ask asks the program for memory, before the request
 * reserves the library's memory.  The items are read into the program's memory.
 * rr_place_over returns this memory to the program when the request has ended, for
 * whatever reason.
 *
 * Failure: if the program refuses, the Reply is SYSTEM_ERR and nothing is read.
 *
 * Invariant: the program's release function is called exactly once for each request for
 * which the program provided memory, after the last RDMA Read into this memory has
 * ended.
 */
#ifndef RR_RPC_PLACE_H
#define RR_RPC_PLACE_H

#include "base/base.h"

struct rpcrdma_request;

/* Asks the program for memory for @q's items.  The RPC header of @header octets has
 * been checked.  Returns false if the program refuses; the request must then be
 * answered with an error. */
bool rr_place_ask(struct rpcrdma_request *q, size_t header) RR_MUST_CHECK;
void rr_place_over(struct rpcrdma_request *q);

#endif
