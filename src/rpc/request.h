/* SPDX-License-Identifier: BSD-3-Clause */
/* A request on its way through a handler, between dispatch.c and request.c. */
#ifndef RR_RPC_REQUEST_H
#define RR_RPC_REQUEST_H

#include "rpc/dispatch.h"

enum { RR_REPLY_HEADER_MAX = 24 + RR_RPC_AUTH_MAX };

struct rr_request_alloc;

/* Memory that was given to Read chunks; NULL: taken. */
struct own_sinks {
	unsigned n;
	void *mem[RR_REQUEST_MAX_READS];
};

struct rpcrdma_request {
	struct rr_post post; /* an answer from another thread */
	struct rr_list all;  /* of its link's */
	struct rr_dispatch *dispatch;
	struct rr_request *r;
	const struct rr_service_entry *entry;
	const struct rpcrdma_procedure *proc;
	struct rr_rpc_call rpc;
	struct rr_reply_cache_entry *once; /* held, in the cache of the service */
	struct rr_reply_cache_waiter waiter;
	struct rr_request_alloc *allocs;
	struct own_sinks *sinks;
	struct rr_acceptor_job *gss; /* RPCSEC_GSS; or NULL */
	/* See reserve.h. */
	struct rr_claim claim;
	void (*ready)(struct rpcrdma_request *);
	uint64_t reserved;   /* in all */
	uint64_t needed;     /* of that, without results */
	uint64_t room;       /* for results to come */
	uint64_t peer_bytes; /* of reserved, in those of the link */
	unsigned n_args, n_reply;
	struct rr_rpc_reply status;
	void (*done)(void *);
	void *done_arg;
	void *place_token; /* see place.h */
	bool placed;
	bool waits;             /* for memory */
	bool begun;             /* its handler has it */
	bool answered, waiting; /* for the first of the same Calls */
	bool executing;         /* the handler's result is wanted by the cache */
	bool replayed;          /* not executed: another one's result */
	bool own_header;        /* the reply has a header already */
	bool accepting;         /* the acceptor has it */
	uint32_t code;          /* of RDMA2_ERROR, instead of a Reply */
	/* Not cleared at the beginning: their counts say what is valid. */
	struct rpcrdma_piece args[2 * RR_REQUEST_MAX_READS + 1];
	struct rr_sge
	        places[RR_REQUEST_MAX_READS]; /* of the program, for Read chunks */
	struct rr_piece reply[1 + RPCRDMA_MAX_PIECES];
	uint8_t header[RR_REPLY_HEADER_MAX];
};

void rr_request_free_allocs(struct rpcrdma_request *);

#endif
