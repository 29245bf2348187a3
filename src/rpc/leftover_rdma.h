/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognizes registrations of dead RDMA servers; see rpcbind/leftover.h. */
#ifndef RR_RPC_LEFTOVER_RDMA_H
#define RR_RPC_LEFTOVER_RDMA_H

#include "rpcbind/rpcbind.h"

/* Calls procedure NULL over RDMA, with a new engine for this call. */
rr_is_dead_fn rr_is_dead_over_rdma;

#endif
