/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An extension of RPC-over-RDMA version 2, as an example: a server tells its
 * clients how much it has done, and says when it is busy.
 *
 *   header type LOAD   a question has no body; its answer carries the question's
 *                      XID and two words: Calls served, and the limit
 *   flag LOAD_F_RESET  in a question: begin to count anew
 *   property LOAD_LIMIT  uint32, default 0: the largest piece of work taken; from a
 *                      client: any value says that it understands LOAD_BUSY
 *   error LOAD_BUSY    instead of a Reply: too much work; void arm
 *
 * The numbers have the top bit set: nobody has assigned them.
 */
#ifndef EXAMPLES_EXTENSION_LOAD_H
#define EXAMPLES_EXTENSION_LOAD_H

#include <rpcrdma/extension.h>

#define LOAD         0x80000010u
#define LOAD_F_RESET 0x80000000u
#define LOAD_LIMIT   0x80000001u
#define LOAD_BUSY    0x80000002u

/* One end. */
struct load {
	struct rpcrdma_extension extension; /* for rpcrdma_conn_options */
	struct rpcrdma_extension_htype htype;
	struct rpcrdma_extension_property property;
	uint32_t code;
	uint8_t limit[4]; /* ours, as XDR */
	uint32_t served;  /* Calls, at a server */
	/* What was heard, at either end. */
	bool up, peer_knows;
	uint32_t peer_limit;
	unsigned answers, refusals;
	uint32_t last_served, last_refusal;
};

void load_init(struct load *, uint32_t limit);
/* 0, or why not: see rpcrdma_channel_send. */
int load_ask(struct rpcrdma_channel *, bool reset);
/* At a server: too much for us, and does the client understand that?  Then the
 * request has been answered. */
bool load_busy(struct load *, struct rpcrdma_request *, uint32_t work);

#endif
