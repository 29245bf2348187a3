/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a listener, as seen by the engine that accepts them.
 *
 * A listener may hand its connections to several engines.  A hall is one of these
 * engines with its sessions (session.h); the first hall is the listener's own engine.
 * A seat is one connection: the listener's engine counts it, finds it in the table of
 * connections (crowd.h), and decides which hall gets it and when it must make room for
 * another.
 *
 * Normal path: rr_seat_accept takes a connection from the provider, makes room for it,
 * and posts it to the hall with the fewest connections.  The hall's engine completes
 * the handshake, serves the connection for its whole life, and posts its end back.
 *
 * Eviction: the seat no longer counts from the moment of the choice.  The hall's engine
 * ends the session, unless it has become busy meanwhile; then the seat is counted again,
 * and the listener has one connection too many until the next one is accepted.
 *
 * Threads: the posts are in order, so a hall learns of a seat before it learns of its
 * eviction or of the listener's end.  While both engines are the same, functions are
 * called instead of posted.  Nothing is posted for a Call.
 */
#ifndef RR_RPC_SEAT_H
#define RR_RPC_SEAT_H

#include "link/link.h"
#include "rpc/crowd.h"

enum { RR_MAX_HALLS = 16 };

struct rr_session;
struct rpcrdma_listener;

struct rr_hall {
	struct rr_owner owner; /* not used by the first hall */
	struct rpcrdma_listener *listener;
	struct rpcrdma_engine *engine;
	unsigned n_seats; /* used in the listener's thread */
	/* The hall's engine is being freed: it gets no more seats. */
	atomic_bool gone;
	struct rr_post close, over; /* to the hall; to the listener */
	/* The members below are used in the hall's thread. */
	struct rr_list sessions;
	struct rr_timer drain_timer; /* closes the sessions of a closing hall */
	bool closing, ended;
};

struct rr_seat {
	struct rr_guest guest; /* node in the listener's table */
	struct rpcrdma_listener *listener;
	const struct rr_prov_ops *ops;
	struct rr_prov_listener *arrival; /* see rr_prov_ops.take; or NULL */
	struct rr_hall *hall;
	struct sockaddr_storage peer;
	struct rr_session *session; /* used in the hall's thread; NULL = none */
	int refused;             /* reason to close the connection at once; 0 = none */
	unsigned neighbours;     /* connections from the peer's address at eviction */
	enum rr_guest_kind kind; /* kind of the connection when it was chosen */
	bool spared;             /* the hall's answer: the connection was not evicted */
	struct rr_post begin, evict; /* to the hall */
	struct rr_post end, answer;  /* to the listener */
	/* used in the listener's thread */
	bool counted, evicting, ended;
};

/* Accepts a connection.  Returns 0, -EAGAIN if no connection is waiting, -ENOMEM, or an
 * error of the provider. */
int rr_seat_accept(struct rpcrdma_listener *, const struct rr_prov_ops *,
                   struct rr_prov_listener *) RR_MUST_CHECK;
/* Reports that the seat's session has ended, or could not begin.  Called in the hall's
 * thread, which does not use the seat afterwards. */
void rr_seat_ended(struct rr_seat *);

/* Calls @p's function in the engine's thread: at once if @e is also the @from engine,
 * whose thread is the caller. */
void rr_hall_run(const struct rpcrdma_engine *from, struct rpcrdma_engine *e,
                 struct rr_post *p);
void rr_hall_init(struct rr_hall *, struct rpcrdma_listener *, struct rpcrdma_engine *);
/* Reports the hall's end to the listener, if the hall is closing and has no sessions
 * left.  Called in the hall's thread.  May free the listener. */
void rr_hall_end_if_done(struct rr_hall *);

#endif
