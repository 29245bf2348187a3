/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pump: passes the actions of one connection (conn.h) to one provider endpoint, and
 * the endpoint's completions to the connection.
 *
 * The pump uses conn.h and prov.h only; its states are in link_states.h.  It makes no
 * system call, allocates nothing and reads no clock: each function that needs the time
 * has a parameter @now.  The pump is run by the library (link.c), the simulator and the
 * tests' matrix.
 *
 * Normal path: rr_pump_turn draws (takes out, one by one) the connection's actions and
 * posts them, flushes, polls, and passes each completion to the connection.  After each
 * completion it draws the actions that the connection made in response.  Actions for
 * the connection's user are passed to the owner's functions.
 *
 * A full queue (-ENOBUFS for a Send, Write or Read): the pump keeps the post, and draws
 * no other action until a later drain has posted it.  If the connection is ending, the
 * pump does not wait for a place in the queue: the kept post fails with -ECANCELED.
 *
 * If a post fails with any other error, the pump completes the post with this error,
 * because the provider completes only posts that it accepted.  The endpoint is then
 * disconnected, unless the post was a Read, whose failure ends only its own request.
 *
 * The end: on RR_WC_DISCONNECTED, or if the owner calls rr_pump_cut after destroying
 * the endpoint, the pump reports the loss to the connection.  The connection treats a
 * kept post as flushed, and ends its calls.
 *
 * Invariants: posts reach the endpoint in the order in which they were drawn; actions
 * in response to a completion are drawn before the next completion is passed to the
 * connection; nothing is posted after the endpoint has ended; nothing is drawn after
 * RR_ACT_CLOSED.
 */
#ifndef RR_LINK_PUMP_H
#define RR_LINK_PUMP_H

#include "conn/conn.h"
#include "link/link_states.h"
#include "prov/prov.h"

struct rr_pump;

/* The owner's functions, called while the pump runs.  The first four are required; each
 * of the others may be NULL. */
struct rr_pump_ops {
	/* Must admit, refuse or serve the request, now or later. */
	void (*admit)(struct rr_pump *, struct rr_request *);
	void (*request)(struct rr_pump *, struct rr_request *);
	void (*request_done)(struct rr_pump *, struct rr_request *, int status);
	void (*call_done)(struct rr_pump *, struct rr_call *);
	void (*ready)(struct rr_pump *);
	void (*extension)(struct rr_pump *, const struct rr_ext_event *);
	/* Called when the peer's first message has arrived. */
	void (*heard)(struct rr_pump *);
	/* Called when the endpoint has ended, before this is reported to the
	 * connection. */
	void (*ended)(struct rr_pump *);
	/* Called after the connection has been informed that the endpoint has ended,
	 * before other actions are drawn. */
	void (*lost)(struct rr_pump *);
	/* Called when RR_ACT_CLOSED has been drawn.  The pump is not used after this
	 * function returns. */
	void (*closed)(struct rr_pump *);

	/* The last two functions are for tests; the library sets them to NULL. */
	/* Called before an action is carried out, and each time that a kept post is
	 * retried. */
	void (*acting)(struct rr_pump *, const struct rr_action *);
	/* Called before a completion is passed to the connection. */
	void (*completing)(struct rr_pump *, const struct rr_wc *);
};

enum { RR_PUMP_BATCH = 32 };

struct rr_pump {
	const struct rr_prov_ops *prov;
	struct rr_ep *ep; /* NULL after the owner has destroyed it */
	struct rr_conn *conn;
	const struct rr_pump_ops *ops;
	unsigned batch; /* completions polled at once, at most RR_PUMP_BATCH */
	enum rr_link_state state;
	unsigned past; /* bit mask of past events, 1u << enum rr_link_event */
	bool heard;    /* a message from the peer has arrived */
	bool stalled;  /* @held waits for a place in the endpoint's send queue */
	bool posted;   /* a post or a disconnect has not been flushed */
	bool more;     /* the last turn used all its rounds; work may remain */
	int error;     /* first error that ended the connection; 0 = none */
	struct rr_action held;
};

/* Initializes a pump between @conn and @ep.  All arguments are lent until RR_ACT_CLOSED
 * has been drawn. */
void rr_pump_init(struct rr_pump *, const struct rr_prov_ops *, struct rr_ep *,
                  struct rr_conn *, const struct rr_pump_ops *);

static inline bool rr_pump_over(const struct rr_pump *p)
{
	return p->state == RR_LINK_OVER;
}

/* Returns true if the endpoint has ended. */
static inline bool rr_pump_lost(const struct rr_pump *p)
{
	return p->state == RR_LINK_LOST || p->state == RR_LINK_OVER;
}

/* Returns true if @event, which is CONNECT, AGREE or LEAVE, has ever occurred. */
static inline bool rr_pump_past(const struct rr_pump *p, enum rr_link_event event)
{
	return p->past & 1u << event;
}

/* Draws and carries out all actions, or stops at a post that must wait. */
void rr_pump_drain(struct rr_pump *, rr_time now);
/* Drains the connection's actions and polls the endpoint.  Then flushes new posts and
 * polls the endpoint again, up to @rounds times, until there are neither posts nor
 * completions.  Returns the number of completions polled. */
unsigned rr_pump_turn(struct rr_pump *, unsigned rounds, rr_time now);
/* Call when the time returned by rr_pump_deadline has passed.  A turn must follow. */
void rr_pump_tick(struct rr_pump *, rr_time now);
/* Returns the time at which rr_pump_tick must be called.  The endpoint's deadline is
 * not included. */
rr_time rr_pump_deadline(const struct rr_pump *, rr_time now);

/* Begins an orderly disconnect; @status is as for rr_conn_close.  A turn must
 * follow. */
void rr_pump_close(struct rr_pump *, int status, rr_time now);
/* Ends the connection with @error, unless it is already lost, and carries out all
 * actions.  Call after destroying the endpoint and setting @ep to NULL, but not while
 * the pump runs. */
void rr_pump_cut(struct rr_pump *, int error, rr_time now);

#endif
