/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pump: carries the actions of one connection to one provider endpoint, and the
 * endpoint's completions back to the connection.
 *
 * It knows conn.h and prov.h only; link_states.h has its states.  It makes no system
 * call, allocates nothing and reads no clock: @now is a parameter of each function that
 * needs the time.  The library (link.c), the simulator and the matrix run this file.
 *
 * Normal path: rr_pump_turn draws the connection's actions and posts them, flushes,
 * polls, gives each completion to the connection, and draws the actions that follow.
 * Actions for the user of the connection go to the owner's functions.
 *
 * A full queue (-ENOBUFS for a Send, Write or Read): the post is held, and no action
 * is drawn until a later drain has posted it.  A connection that is ending does not
 * wait for its peer to make room: the held post fails by -ECANCELED.
 *
 * Any other post that fails is completed by its error, since the provider completes
 * only posts that it accepted.  Unless the post was a Read, which ends its request
 * alone, the endpoint is then disconnected.
 *
 * The end: RR_WC_DISCONNECTED, or rr_pump_cut after the owner has destroyed the
 * endpoint.  The connection is told, takes a held post for flushed, and ends its
 * calls.
 *
 * Invariants: posts reach the endpoint in the order in which the connection drew
 * them; the actions that follow from a completion are drawn before the next
 * completion is given to the connection; nothing is posted after the loss; nothing
 * is drawn after RR_ACT_CLOSED.
 */
#ifndef RR_LINK_PUMP_H
#define RR_LINK_PUMP_H

#include "conn/conn.h"
#include "link/link_states.h"
#include "prov/prov.h"

struct rr_pump;

/* The owner's side, called while the pump runs.  The first four must be there, each
 * other one may be NULL. */
struct rr_pump_ops {
	void (*admit)(struct rr_pump *, struct rr_request *); /* must decide */
	void (*request)(struct rr_pump *, struct rr_request *);
	void (*request_done)(struct rr_pump *, struct rr_request *, int status);
	void (*call_done)(struct rr_pump *, struct rr_call *);
	void (*ready)(struct rr_pump *);
	void (*extension)(struct rr_pump *, const struct rr_ext_event *);
	/* The peer's first message has arrived. */
	void (*heard)(struct rr_pump *);
	/* The endpoint has ended; the connection learns of it next. */
	void (*ended)(struct rr_pump *);
	/* The connection has learnt of it; no action has been drawn since. */
	void (*lost)(struct rr_pump *);
	/* RR_ACT_CLOSED was drawn.  The pump is not used after this returns. */
	void (*closed)(struct rr_pump *);

	/* For checkers, NULL in the library. */
	/* Before an action is carried out, also each time that a held post is tried. */
	void (*acting)(struct rr_pump *, const struct rr_action *);
	/* Before a completion is given to the connection. */
	void (*completing)(struct rr_pump *, const struct rr_wc *);
};

enum { RR_PUMP_BATCH = 32 };

struct rr_pump {
	const struct rr_prov_ops *prov;
	struct rr_ep *ep; /* NULL once the owner has destroyed it */
	struct rr_conn *conn;
	const struct rr_pump_ops *ops;
	unsigned batch; /* completions polled at once, RR_PUMP_BATCH at most */
	enum rr_link_state state;
	unsigned past; /* by 1u << enum rr_link_event: those that have come */
	bool heard;    /* a message of the peer has arrived */
	bool stalled;  /* @held waits for the endpoint's send queue */
	bool more;     /* the last turn ended before completions ran out */
	int error;     /* the first reason for the end, 0: none */
	struct rr_action held;
};

/* Joins @conn to @ep; all are lent until the pump is over. */
void rr_pump_init(struct rr_pump *, const struct rr_prov_ops *, struct rr_ep *,
                  struct rr_conn *, const struct rr_pump_ops *);

static inline bool rr_pump_over(const struct rr_pump *p)
{
	return p->state == RR_LINK_OVER;
}

/* The endpoint has ended. */
static inline bool rr_pump_lost(const struct rr_pump *p)
{
	return p->state == RR_LINK_LOST || p->state == RR_LINK_OVER;
}

/* CONNECT, AGREE and LEAVE are kept: has the event come, whatever followed? */
static inline bool rr_pump_past(const struct rr_pump *p, enum rr_link_event event)
{
	return p->past & 1u << event;
}

/* Draws and carries out all actions, or all up to one that stalls. */
void rr_pump_drain(struct rr_pump *, rr_time now);
/* Drains and polls, then flushes and polls until no completion comes, @rounds times at
 * most.  Returns how many completions it took. */
unsigned rr_pump_turn(struct rr_pump *, unsigned rounds, rr_time now);
/* rr_pump_deadline has come.  A turn must follow. */
void rr_pump_tick(struct rr_pump *, rr_time now);
/* When the connection's timer is due; the endpoint's is not included. */
rr_time rr_pump_deadline(const struct rr_pump *, rr_time now);

/* Begins an orderly end; @status as for rr_conn_close.  A turn must follow. */
void rr_pump_close(struct rr_pump *, int status, rr_time now);
/* After the owner has destroyed the endpoint and set @ep to NULL, not while the pump
 * runs: ends the connection by @error, and drains.  No effect on a lost connection but
 * the draining. */
void rr_pump_cut(struct rr_pump *, int error, rr_time now);

#endif
