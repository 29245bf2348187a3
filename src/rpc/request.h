/* SPDX-License-Identifier: BSD-3-Clause */
/* A request while dispatch.c and request.c work on it. */
#ifndef RR_RPC_REQUEST_H
#define RR_RPC_REQUEST_H

#include "rpc/dispatch.h"

enum { RR_REPLY_HEADER_MAX = 24 + RR_RPC_AUTH_MAX };

struct rr_request_alloc;

/* Memory for Read chunks of a pass-through service; NULL: given to the handler. */
struct own_sinks {
	unsigned n;
	void *mem[RR_REQUEST_MAX_READS];
};

struct rpcrdma_request {
	struct rr_post post; /* a reply from another thread */
	struct rr_list all;  /* in the list of the link's requests */
	struct rr_dispatch *dispatch;
	struct rr_request *r;
	const struct rr_service_entry *entry;
	const struct rpcrdma_procedure *proc;
	struct rr_rpc_call rpc;
	struct rr_reply_cache_entry *once; /* held, in the service's reply cache */
	struct rr_reply_cache_waiter waiter;
	struct rr_request_alloc *allocs;
	struct own_sinks *sinks;
	struct rr_acceptor_job *gss; /* RPCSEC_GSS; or NULL */
	/* See reserve.h. */
	struct rr_claim claim;
	void (*ready)(struct rpcrdma_request *);
	uint64_t reserved;   /* octets in all */
	uint64_t needed;     /* octets without results */
	uint64_t room;       /* octets left for results */
	uint64_t peer_bytes; /* part of the link's peer_bytes */
	unsigned n_args, n_reply;
	struct rr_rpc_reply status;
	void (*done)(void *);
	void *done_arg;
	void *place_token; /* see place.h */
	bool placed;
	bool waits;             /* for memory */
	bool begun;             /* was given to its handler */
	bool answered, waiting; /* waits for the first of equal Calls */
	bool executing;         /* the reply cache wants the handler's result */
	bool replayed;          /* answered with the result of another request */
	bool own_header;        /* the handler encoded the RPC header */
	bool accepting;         /* the acceptor has it */
	uint32_t code;          /* sent in RDMA2_ERROR instead of a Reply */
	/* These arrays are not cleared: their counts tell what is valid. */
	struct rpcrdma_piece args[2 * RR_REQUEST_MAX_READS + 1];
	struct rr_sge
	        places[RR_REQUEST_MAX_READS]; /* the program's memory for Read chunks */
	struct rr_piece reply[1 + RPCRDMA_MAX_PIECES];
	uint8_t header[RR_REPLY_HEADER_MAX];
};

void rr_request_free_allocs(struct rpcrdma_request *);
/* Sends the answer, by q->status and q->reply.  Engine's thread. */
void rr_request_send_answer(struct rpcrdma_request *q);

#endif
