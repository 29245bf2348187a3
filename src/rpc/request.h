/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a request, shared by dispatch.c, request.c and their helpers. */
#ifndef RR_RPC_REQUEST_H
#define RR_RPC_REQUEST_H

#include "rpc/dispatch.h"

enum { RR_REPLY_HEADER_MAX = 24 + RR_RPC_AUTH_MAX };

struct rr_request_alloc;

/* Memory for the Read chunks of a Call to a service that keeps items.  mem[i] is NULL if
 * the handler has taken ownership. */
struct own_sinks {
	unsigned n;
	void *mem[RR_REQUEST_MAX_READS];
};

struct rpcrdma_request {
	struct rr_post post; /* delivers a reply from another thread */
	struct rr_list all;  /* node in rr_dispatch.all */
	struct rr_dispatch *dispatch;
	struct rr_request *r;
	const struct rr_service_entry *entry;
	const struct rpcrdma_procedure *proc;
	struct rr_rpc_call rpc;
	/* the request's entry in the service's reply cache; or NULL */
	struct rr_reply_cache_entry *once;
	struct rr_reply_cache_waiter waiter;
	struct rr_request_alloc *allocs;
	struct own_sinks *sinks;
	struct rr_acceptor_job *gss; /* state for RPCSEC_GSS; or NULL */
	/* See reserve.h. */
	struct rr_claim claim;
	void (*ready)(struct rpcrdma_request *);
	uint64_t reserved;          /* octets reserved in total */
	uint64_t needed;            /* octets needed, not counting results */
	uint64_t room;              /* octets still available for results */
	uint64_t peer_bytes;        /* contribution to rr_dispatch.peer_bytes */
	struct rr_paced pull, send; /* jobs for the Read chunks and the Write chunks */
	unsigned n_args, n_reply;
	struct rr_rpc_reply status;
	void (*done)(void *);
	void *done_arg;
	void *place_token; /* see place.h */
	bool placed;
	bool waits;             /* waits for memory */
	bool begun;             /* passed on for execution */
	bool answered, waiting; /* @waiting: until an earlier, equal Call is complete */
	/* the handler's result must be stored in the reply cache */
	bool executing;
	bool replayed;   /* answered without executing the handler */
	bool own_header; /* the handler encoded the RPC header */
	bool accepting;  /* being authenticated by the acceptor */
	/* error code to send in RDMA2_ERROR instead of a Reply; 0 = none */
	uint32_t code;
	/* These arrays are not cleared: their counts give the valid elements. */
	struct rpcrdma_piece args[2 * RR_REQUEST_MAX_READS + 1];
	/* memory for Read chunks, provided by the program */
	struct rr_sge places[RR_REQUEST_MAX_READS];
	struct rr_piece reply[1 + RPCRDMA_MAX_PIECES];
	uint8_t header[RR_REPLY_HEADER_MAX];
};

void rr_request_free_allocs(struct rpcrdma_request *);
/* Sends the answer in q->status and q->reply.  Call in the engine's thread. */
void rr_request_send_answer(struct rpcrdma_request *q);

#endif
