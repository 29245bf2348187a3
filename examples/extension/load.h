/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An example of an extension of RPC-over-RDMA version 2: a server reports to its clients
 * how many Calls it has served, and when it is busy.
 *
 *   header type LOAD     a question has no body; its answer has the question's XID and
 *                        two words: the number of Calls served, and the limit
 *   flag LOAD_F_RESET    in a question: resets the number
 *   property LOAD_LIMIT  uint32, default 0.  From a server: the largest piece of work
 *                        that it accepts.  From a client, any value: it knows LOAD_BUSY
 *   error LOAD_BUSY      instead of a Reply: too much work; void arm
 *
 * The numbers have the top bit set, since such numbers are not assigned.
 */
#ifndef EXAMPLES_EXTENSION_LOAD_H
#define EXAMPLES_EXTENSION_LOAD_H

#include <rpcrdma/extension.h>

#define LOAD         0x80000010u
#define LOAD_F_RESET 0x80000000u
#define LOAD_LIMIT   0x80000001u
#define LOAD_BUSY    0x80000002u

/* The extension at one end of a connection. */
struct load {
	struct rpcrdma_extension extension; /* for rpcrdma_conn_options */
	struct rpcrdma_extension_htype htype;
	struct rpcrdma_extension_property property;
	uint32_t code;
	uint8_t limit[4]; /* of this end, as XDR */
	uint32_t served;  /* Calls, at a server */
	/* Received from the peer, at either end. */
	bool up, peer_knows;
	uint32_t peer_limit;
	unsigned answers, refusals;
	uint32_t last_served, last_refusal;
};

void load_init(struct load *, uint32_t limit);
/* Sends a question.  Returns 0 or an error of rpcrdma_channel_send. */
int load_ask(struct rpcrdma_channel *, bool reset);
/* Server: refuses the request by LOAD_BUSY if @work is above the limit and the client
 * knows the extension.  Returns whether it has answered the request. */
bool load_busy(struct load *, struct rpcrdma_request *, uint32_t work);

#endif
