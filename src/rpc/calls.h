/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a user's calls over a connection, in either direction.
 *
 * The user has a struct rpcrdma_conn, "the object" below.  While the object is
 * connected, it has a link (a transport connection, link.h).  At other times, its calls
 * wait.  There are two kinds of objects, each with its own operations.  A client
 * (client.c) makes its own links.  A server's object for calls in the reverse direction
 * (reverse.c) borrows the link of a session.
 *
 * Normal path: rpcrdma_call puts a call on the waiting list.  rr_calls_submit passes
 * the call to the link's connection (conn.h).  rr_calls_done decodes the Reply and
 * calls the user's done function.
 *
 * Failure: when a link is lost, its calls return to the waiting list one by one, to be
 * sent again with their old XIDs [v2 §4.5.5].  Calls wait for at most absence_ns or, if
 * that is 0, as long as the object's operations allow.  The code in suspect.h limits
 * how often calls are sent.  A call that the peer's transport refused is sent once
 * more, with a new XID, if there is another way to send it (rr_call_recover).
 *
 * Invariants: until its done function runs, a call is on exactly one list: waiting,
 * sent, ending, or the wait queue of its security context (call_auth.h).  Done
 * functions run in the engine's loop only.  An object is freed when the user has closed
 * it and its link, calls and timers have ended.
 */
#ifndef RR_RPC_CALLS_H
#define RR_RPC_CALLS_H

#include "link/link.h"
#include "oncrpc/call_auth.h"

struct rr_calls_ops {
	/* Called when the peer has replied to a call. */
	void (*replied)(struct rpcrdma_conn *);
	/* Called when there are calls to send but no link. */
	void (*waits)(struct rpcrdma_conn *);
	/* Called when the user closes the object; its calls are already ending. */
	void (*close)(struct rpcrdma_conn *);
	/* Stops the timers and frees the object, which has no link and no calls
	 * left. */
	void (*free)(struct rpcrdma_conn *);
};

/* The object.  Clients, and objects for calls in the reverse direction, are structs
 * that have this struct as their first member. */
struct rpcrdma_conn {
	struct rr_owner owner;
	const struct rr_calls_ops *ops;
	struct rpcrdma_engine *engine;
	struct rr_voice voice;
	const struct rr_prov_ops *prov;
	struct rr_link *link; /* link for new calls; NULL = new calls wait */
	struct rr_list waiting, sent;
	struct rr_list ending; /* calls that end_timer ends; they have no link */
	unsigned n_sent;       /* number of calls sent, on all links */
	unsigned n_here;       /* number of calls sent on @link */
	/* suspected call, alone on @link (suspect.h); or NULL */
	struct rpcrdma_call *lone;
	struct rr_timer lone_timer;
	struct rr_auth_host auth;  /* security contexts of the calls */
	struct rr_timer end_timer; /* ends calls, frees a closed object */
	/* counters of former links, and of events without a link */
	struct rpcrdma_stats past;
	/* how long a call may wait for a link; 0 = decided by @ops */
	uint64_t absence_ns;
	bool no_resend; /* a call ends when its link does */
	bool closed;    /* closed by the user */
	bool over;      /* no other link will be made */
	int error;
	char reason[160];
};

/* Counts an event in the connection's and the engine's statistics.  Must not be used
 * for events that a link counts. */
#define rr_calls_count(c, what) ((c)->past.what++, (c)->engine->ended.what++)

/* A Call whose RPC header the caller encodes, and whose Reply it decodes. */
struct rr_call_passthrough {
	const void *header; /* complete RPC header, including the verifier; borrowed */
	size_t len;         /* octets in @header, at most RR_RPC_HEADER_MAX */
	/* send eligible items in the payload, not in chunks [v2 §11.2.2] */
	bool no_reduce;
	/* the Call is signed, so it must not be sent again, even with a new XID */
	bool bound;
	bool whole; /* send as a Position Zero Read chunk if the peer accepts one */
	bool room;  /* always offer a Reply chunk of reply_bytes */
};

/* Makes a call like rpcrdma_call.  If @pass is not NULL, the program, version,
 * procedure and credential in the options are ignored, and the RPC status in the Reply
 * is not decoded. */
int rr_calls_make(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                  const struct rr_call_passthrough *pass,
                  struct rpcrdma_call **ret) RR_MUST_CHECK;
/* Returns the complete Reply, including the RPC header.  To be called by a done
 * function that got status 0. */
const void *rr_call_message(const struct rpcrdma_call *, size_t *ret_len);
/* Transfers ownership of the Reply's memory to a done function that got status 0, which
 * frees it with rr_pool_put in the engine's thread.  Returns false if the memory cannot
 * be transferred. */
bool rr_call_take_message(struct rpcrdma_call *, void **ret, size_t *ret_bytes);

/* Initializes @c, which is zeroed.  Returns 0 or -ENOMEM. */
int rr_calls_init(struct rpcrdma_conn *c, struct rpcrdma_engine *,
                  const struct rr_calls_ops *) RR_MUST_CHECK;
/* Undoes rr_calls_init; for the free operation. */
void rr_calls_fini(struct rpcrdma_conn *);
/* Sends waiting calls, as many as the link accepts. */
void rr_calls_submit(struct rpcrdma_conn *);
/* Handles the end of a call that was sent.  For use as the call_done operation of a
 * link's owner. */
void rr_calls_done(struct rr_link *, struct rr_call *);
void rr_calls_end_waiting(struct rpcrdma_conn *, int verdict);
/* Ends all calls on a list.  None of these calls may be on a link. */
void rr_calls_end_all(struct rpcrdma_conn *, struct rr_list *, int verdict);
/* Has the engine end the calls on @ending soon, and free the object if it is closed and
 * nothing else uses it. */
void rr_calls_schedule_end(struct rpcrdma_conn *);
/* Makes @l the link for new calls.  Calls that were sent on another link stay there. */
void rr_calls_link(struct rpcrdma_conn *, struct rr_link *l);
/* Initializes the object's list of security contexts (auth_host.c). */
void rr_calls_init_auth(struct rpcrdma_conn *c);
/* Makes the security state of a call with these options.  Returns 0, -EINVAL if the
 * context belongs to another connection, or an error from new_call. */
int rr_calls_new_auth(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                      struct rr_call_auth **ret) RR_MUST_CHECK;
/* Records that the link was lost with @error.  The link's calls must already have been
 * returned to the waiting list. */
void rr_calls_unlink(struct rpcrdma_conn *, int error, const char *reason);

#endif
