/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests that a link receives, and the memory that they hold.  A server's session
 * has one of these, and so has each link of a client with callbacks.
 */
#ifndef RR_RPC_DISPATCH_H
#define RR_RPC_DISPATCH_H

#include "loop/budget.h"
#include "link/link.h"
#include "oncrpc/rpc_header.h"
#include "rpc/service.h"

/* Octets of memory behind an item of a pass-through service: more than an allocator
 * adds to a block. */
enum { RR_ITEM_TAIL = 4096 + 64 };

struct rr_dispatch {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rr_link *link;
	uint64_t connection; /* number in the reply cache; 0: none yet */
	struct rr_list all; /* requests that wait, are executed or are being answered */
	unsigned requests;  /* length of @all */
	rr_time active;     /* when the last request began or ended */
	bool used; /* a Call was received, or an extension's message sent or received */
	uint32_t max_chunk_bytes, max_message_bytes, inline_bytes;
	struct rr_holder holder;  /* memory, see reserve.h */
	struct rr_post wake;      /* has the holder continue in the engine's thread */
	struct rr_claim sequence; /* memory of a Call that comes in parts */
	struct rr_list holders;   /* in the engine's list, see hostage.h */
	uint64_t peer_bytes;      /* held until the peer moves data */
	struct rr_hostage {
		uint64_t moved;                /* octets, when it moved enough */
		rr_time since;                 /* that time */
		uint64_t last;                 /* octets, when it moved at all */
		rr_time still;                 /* that time */
	} hostage;                             /* see hostage.c */
	void (*settled)(struct rr_dispatch *); /* a request has ended; or NULL */
	void (*touched)(struct rr_dispatch *); /* @active has changed; or NULL */
};

/* Notes that the connection is in use. */
void rr_dispatch_touch(struct rr_dispatch *);
/* Returns whether a handler has a request that it has not answered. */
bool rr_dispatch_is_executing(const struct rr_dispatch *);

/* Initializes @s, which is zeroed.  The caller sets @s->link and the link's dispatch
 * afterwards, and has called rr_hostage_watch. */
void rr_dispatch_init(struct rr_dispatch *s, struct rpcrdma_engine *,
                      const struct rr_link_config *, struct rpcrdma_service *);

/* Ends it; its link is over. */
void rr_dispatch_fini(struct rr_dispatch *);

struct rr_dispatch *rr_request_dispatch(const struct rpcrdma_request *);

/* -- pass-through services (service.h) ------------------------------------- */

/* Each item of their Calls lies in a block of its own, from malloc. */

/* Returns the Call's header, which is valid as long as the request. */
const struct rr_rpc_call *rr_request_rpc(const struct rpcrdma_request *);
/* Gives the block of the item at @base to the caller.  Returns false if the request has
 * no such item, or has given it already.  To be called by the thread that is to reply. */
bool rr_request_take_item(struct rpcrdma_request *, const void *base);
/* Like rpcrdma_request_reply, but the pieces are the whole Reply, RPC header included. */
int rr_request_reply_passthrough(struct rpcrdma_request *, const struct rpcrdma_piece *,
                                 unsigned n, void (*done)(void *),
                                 void *arg) RR_MUST_CHECK;
/* Closes the connection, because the peer does not receive the Reply; the done function
 * follows.  Engine's thread. */
void rr_request_give_up(struct rpcrdma_request *);

/* Handle the life of a request: owner operations of a link. */
void rr_dispatch_admit(struct rr_link *, struct rr_request *);
void rr_dispatch_begin(struct rr_link *, struct rr_request *);
void rr_dispatch_end(struct rr_link *, struct rr_request *, int status);
void rr_dispatch_drop(struct rr_link *);
/* Gives up requests that wait, after rr_conn_lost; those that are executed stay. */
void rr_dispatch_lost(struct rr_link *);
void rr_dispatch_used(struct rr_link *);

#endif
