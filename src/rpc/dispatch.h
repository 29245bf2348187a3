/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests that come over one link, and the memory they hold.  A server's
 * session has one of these; so has a client that its server may call.
 */
#ifndef RR_RPC_DISPATCH_H
#define RR_RPC_DISPATCH_H

#include "loop/budget.h"
#include "link/link.h"
#include "oncrpc/rpc_header.h"
#include "rpc/service.h"

/* Octets of memory behind an item of a pass-through service: more than an allocator
 * adds to a request. */
enum { RR_ITEM_TAIL = 4096 + 64 };

struct rr_dispatch {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rr_link *link;
	uint64_t connection; /* its number in the reply cache; 0: none yet */
	struct rr_list all;  /* requests that wait, with handlers, or being answered */
	unsigned requests;   /* of these */
	rr_time active;      /* last request began or ended */
	bool used; /* a Call has come, or a message of an extension went or came */
	uint32_t max_chunk_bytes, max_message_bytes, inline_bytes;
	struct rr_holder holder;  /* of memory, see reserve.h */
	struct rr_post wake;      /* of the holder */
	struct rr_claim sequence; /* of a Call that comes in parts */
	struct rr_list holders;   /* of the engine's, see hostage.h */
	uint64_t peer_bytes;      /* held until the peer sends or takes something */
	struct rr_hostage {
		uint64_t moved;                /* when it was looked at last ... */
		rr_time since;                 /* ... and had moved enough */
		uint64_t last;                 /* when it was looked at last ... */
		rr_time still;                 /* ... and had moved anything */
	} hostage;                             /* see hostage.c */
	void (*settled)(struct rr_dispatch *); /* a request has ended; or NULL */
	void (*touched)(struct rr_dispatch *); /* @active has moved; or NULL */
};

/* The connection is in use. */
void rr_dispatch_touch(struct rr_dispatch *);
/* A handler has a request, and has not answered. */
bool rr_dispatch_is_executing(const struct rr_dispatch *);

/* @s is zeroed; its link comes later, and names it in link->served.  rr_hostage_watch
 * has been called. */
void rr_dispatch_init(struct rr_dispatch *s, struct rpcrdma_engine *,
                      const struct rr_link_config *, struct rpcrdma_service *);

/* Its link is over. */
void rr_dispatch_fini(struct rr_dispatch *);

struct rr_dispatch *rr_request_dispatch(const struct rpcrdma_request *);

/* -- pass-through services (service.h) ------------------------------------- */

/* Each item of their Calls lies in a block of its own, from malloc. */

/* The Call's header; as long as the request lives. */
const struct rr_rpc_call *rr_request_rpc(const struct rpcrdma_request *);
/* The memory of the item that begins at @base is the caller's from now on; false:
 * no item's of this request, or taken already.  The thread that is to answer. */
bool rr_request_take_item(struct rpcrdma_request *, const void *base);
/* As rpcrdma_request_reply, but the pieces are the whole Reply, RPC header included. */
int rr_request_reply_passthrough(struct rpcrdma_request *, const struct rpcrdma_piece *,
                                 unsigned n, void (*done)(void *),
                                 void *arg) RR_MUST_CHECK;
/* Its caller does not take the answer: closes the connection, so that done comes.
 * Engine's thread, before done. */
void rr_request_give_up(struct rpcrdma_request *);

/* A request's life: owner operations of a link. */
void rr_dispatch_admit(struct rr_link *, struct rr_request *);
void rr_dispatch_begin(struct rr_link *, struct rr_request *);
void rr_dispatch_end(struct rr_link *, struct rr_request *, int status);
void rr_dispatch_drop(struct rr_link *);
/* The connection is over, rr_conn_lost was called: what waits for the first of
 * several equal Calls goes, what is being executed stays. */
void rr_dispatch_lost(struct rr_link *);
void rr_dispatch_used(struct rr_link *);

#endif
