/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests that a link receives, and the memory that these requests use.  Each
 * session of a server has a struct rr_dispatch.  If a client has callbacks, each of its
 * links has one too.
 */
#ifndef RR_RPC_DISPATCH_H
#define RR_RPC_DISPATCH_H

#include "loop/budget.h"
#include "link/link.h"
#include "oncrpc/rpc_header.h"
#include "rpc/pace.h"
#include "rpc/service.h"

/* Octets allocated after each item in a Call to a pass-through service that keeps items.
 * malloc() never adds so many octets to a block, so the handler can use the item's block
 * in place of a block of the item's length that an XDR routine has allocated. */
enum { RR_ITEM_TAIL = 4096 + 64 };

struct rr_dispatch {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rr_link *link;
	void *token; /* given to a relay's functions, see <rpcrdma/relay.h> */
	/* index of the engine in the listener (seat.h); 0 for a client */
	unsigned hall;
	/* the connection's number in the reply cache; 0 = not assigned yet */
	uint64_t connection;
	struct rr_list all; /* requests waiting, being executed or being answered */
	unsigned requests;  /* number of requests in @all */
	rr_time active;     /* when the connection was last used */
	bool used; /* a Call was received, or an extension message sent or received */
	uint32_t max_chunk_bytes, max_message_bytes, inline_bytes;
	/* the connection's account in the memory budget, see reserve.h */
	struct rr_holder holder;
	struct rr_post wake;      /* serves @holder's claims in the engine's thread */
	struct rr_claim sequence; /* reserves memory for a Call that arrives in parts */
	struct rr_list holders;   /* node in the engine's list, see hostage.h */
	struct rr_pace pulls, sends; /* of Read chunks; of Write chunks */
	/* octets of memory in use until the peer sends, receives or reads data */
	uint64_t peer_bytes;
	uint64_t rprc_total_bytes; /* see rr_feature_options */
	uint64_t unexposed_bytes;  /* octets of replies whose exposure has ended */
	struct rr_late unexposed;  /* calls @settled after an exposure has ended */
	struct rr_hostage {
		uint64_t moved; /* octets transferred until @since */
		/* when the peer last transferred enough octets */
		rr_time since;
		uint64_t last; /* octets transferred until @still */
		/* when the peer last transferred any octets */
		rr_time still;
	} hostage; /* see hostage.c */
	/* called when a request or an exposure has ended; or NULL */
	void (*settled)(struct rr_dispatch *);
	/* called when @active has changed; or NULL */
	void (*touched)(struct rr_dispatch *);
};

/* Records that the connection is in use. */
void rr_dispatch_touch(struct rr_dispatch *);
/* Returns true if a handler has a request that it has not answered. */
bool rr_dispatch_is_executing(const struct rr_dispatch *);

/* Initializes @s, which is zeroed.  The caller must have called rr_hostage_watch.  The
 * caller must afterwards set @s->link and the link's dispatch. */
void rr_dispatch_init(struct rr_dispatch *s, struct rpcrdma_engine *,
                      const struct rr_link_config *, struct rpcrdma_service *);

/* Releases the members of @s.  The link must have ended. */
void rr_dispatch_fini(struct rr_dispatch *);

struct rr_dispatch *rr_request_dispatch(const struct rpcrdma_request *);

/* -- pass-through services (service.h) ------------------------------------- */

/* Each item in a Call to a pass-through service that keeps items is in its own block
 * from malloc(). */

/* Returns the Call's header, which is valid until the request ends. */
const struct rr_rpc_call *rr_request_rpc(const struct rpcrdma_request *);
/* Transfers ownership of the block that contains the item at @base to the caller.
 * Returns false if the request has no such block, or no longer owns the block.  To be
 * called by the thread that is to reply. */
bool rr_request_take_item(struct rpcrdma_request *, const void *base);
/* Like rpcrdma_request_reply, but the pieces are the complete Reply, including the RPC
 * header. */
int rr_request_reply_passthrough(struct rpcrdma_request *, const struct rpcrdma_piece *,
                                 unsigned n, void (*done)(void *),
                                 void *arg) RR_MUST_CHECK;
/* Closes the connection, because the peer does not receive the Reply.  The done
 * function is called afterwards.  Call in the engine's thread. */
void rr_request_give_up(struct rpcrdma_request *);
/* Ends the request without a Reply, and closes the connection with @error.  Call in the
 * engine's thread. */
void rr_request_close(struct rpcrdma_request *, int error);

/* Admit, begin, end or drop requests.  For use as operations of a link's owner. */
void rr_dispatch_admit(struct rr_link *, struct rr_request *);
void rr_dispatch_begin(struct rr_link *, struct rr_request *);
void rr_dispatch_end(struct rr_link *, struct rr_request *, int status);
void rr_dispatch_drop(struct rr_link *);
/* Drops waiting requests after rr_conn_lost.  Requests that are being executed stay. */
void rr_dispatch_lost(struct rr_link *);
void rr_dispatch_used(struct rr_link *);

#endif
