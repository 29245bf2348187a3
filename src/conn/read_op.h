/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA Reads of the Read chunks in a Call or a Reply. */
#ifndef RR_CONN_READ_OP_H
#define RR_CONN_READ_OP_H

#include "conn/action.h"

struct rr_read_op {
	struct rr_op op;
	/* Called when the Read has completed or failed, but not if the connection is
	 * lost. */
	void (*completed)(struct rr_conn *, void *owner, int status);
	void *owner;
	struct rr_sge sge;
	uint32_t handle;
	uint64_t offset;
};

/* Queues an RDMA Read of a segment into the memory at @to.  Returns false if there is
 * no memory for the operation. */
bool rr_read_queue(struct rr_conn *, uint32_t xid, const struct rr_segment *, void *to,
                   void (*completed)(struct rr_conn *, void *owner, int status),
                   void *owner);
/* Handles the completion of a Read. */
void rr_read_completed(struct rr_conn *, struct rr_read_op *, int status);

#endif
