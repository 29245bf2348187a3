/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items of arguments in memory of the program's own.
 *
 * Normal path: at ADMIT rr_place_ask asks the program for memory, before the request
 * reserves what it needs of the library's; the items are read into it; rr_place_over
 * gives it back when the request has ended, by whatever way.
 *
 * Failure: what was refused is answered with SYSTEM_ERR, and nothing is read.
 *
 * Invariant: for each request that took memory the program is told once that it is free,
 * and not before the last RDMA Read into it has ended.
 */
#ifndef RR_RPC_PLACE_H
#define RR_RPC_PLACE_H

#include "base/base.h"

struct rpcrdma_request;

/* Asks the program for memory for the items of @q, whose RPC header of @header octets was
 * checked.  False: the program refused, and the request is to be answered with an error. */
bool rr_place_ask(struct rpcrdma_request *q, size_t header) RR_MUST_CHECK;
void rr_place_over(struct rpcrdma_request *q);

#endif
