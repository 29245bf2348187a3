/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of a user over one connection, in either direction.
 *
 * The user holds a struct rpcrdma_conn.  It has a link while it is connected, and keeps
 * the calls while it is not.  There are two kinds, with operations of their own: a
 * client (client.c) makes its links itself; a server's object for calls in the reverse
 * direction (reverse.c) borrows the link of a session.
 *
 * Normal path: rpcrdma_call puts a call on the waiting list.  rr_calls_submit gives it
 * to the connection of the link.  rr_calls_done decodes the Reply and calls the user's
 * done function.
 *
 * Failure: when a link is lost, its calls come back one by one and wait to be sent
 * again under their old XIDs [v2 §4.5.5].  How long they wait is up to the kind of the
 * object, or absence_ns; how often they are sent is up to suspect.h.  A call that the
 * peer's transport refused is sent once more, under a new XID, if there is another way
 * to send it (rr_call_recover).
 *
 * Invariants: until its done function runs, a call is on exactly one list: waiting,
 * sent, ending, or the wait queue of its security context (call_auth.h).  Done
 * functions run in the engine's loop only.  The object is freed after it was closed,
 * when its link, calls and timers have ended.
 */
#ifndef RR_RPC_CALLS_H
#define RR_RPC_CALLS_H

#include "link/link.h"
#include "oncrpc/call_auth.h"

struct rr_calls_ops {
	/* The peer has replied to a call. */
	void (*replied)(struct rpcrdma_conn *);
	/* Calls wait while there is no link. */
	void (*waits)(struct rpcrdma_conn *);
	/* The user has closed the object; its calls are ending already. */
	void (*close)(struct rpcrdma_conn *);
	/* Stops timers and frees the object, which has nothing else left. */
	void (*free)(struct rpcrdma_conn *);
};

/* The first member of a client and of an object for calls in reverse. */
struct rpcrdma_conn {
	struct rr_owner owner;
	const struct rr_calls_ops *ops;
	struct rpcrdma_engine *engine;
	struct rr_voice voice;
	const struct rr_prov_ops *prov;
	struct rr_link *link; /* for new calls; NULL: calls wait */
	struct rr_list waiting, sent;
	struct rr_list ending;     /* calls without a link that end with end_timer */
	unsigned n_sent;           /* on all links */
	unsigned n_here;           /* on @link */
	struct rpcrdma_call *lone; /* call that has @link to itself */
	struct rr_timer lone_timer;
	struct rr_auth_host auth;  /* security contexts of its calls */
	struct rr_timer end_timer; /* ends calls, frees a closed object */
	struct rpcrdma_stats past; /* former links, and what no link counts */
	uint64_t absence_ns;       /* limit without a link; 0: up to @ops */
	bool no_resend;            /* calls end with their link */
	bool closed;               /* by the user */
	bool over;                 /* no link will follow */
	int error;
	char reason[160];
};

/* Counts an event that no link counts, for the connection and the engine. */
#define rr_calls_count(c, what) ((c)->past.what++, (c)->engine->ended.what++)

/* A Call whose RPC header the caller encodes, and whose Reply it decodes. */
struct rr_call_passthrough {
	const void *header; /* all of it, verifier included; borrowed */
	size_t len;         /* at most RR_RPC_HEADER_MAX */
	bool no_reduce;     /* the payload is sent in one piece [v2 §11.2.2] */
	bool bound;         /* signed: must not be sent again, nor under another XID */
	bool whole; /* sent by a Position Zero Read chunk if the peer takes one */
	bool room;  /* with a Reply chunk of reply_bytes, however few */
};

/* Makes a call like rpcrdma_call.  With @pass, the program, version, procedure and
 * credential of the options are ignored, and the status of the reply is that of the
 * transport only. */
int rr_calls_make(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                  const struct rr_call_passthrough *pass,
                  struct rpcrdma_call **ret) RR_MUST_CHECK;
/* Returns the whole Reply, RPC header included, to a done function with status 0. */
const void *rr_call_message(const struct rpcrdma_call *, size_t *ret_len);
/* Gives the memory of the Reply to a done function with status 0, which returns it by
 * rr_pool_put in the engine's thread.  Returns false if it cannot be given. */
bool rr_call_take_message(struct rpcrdma_call *, void **ret, size_t *ret_bytes);

/* Initializes @c, which is zeroed.  -ENOMEM. */
int rr_calls_init(struct rpcrdma_conn *c, struct rpcrdma_engine *,
                  const struct rr_calls_ops *) RR_MUST_CHECK;
/* Releases what rr_calls_init has made; for the free operation. */
void rr_calls_fini(struct rpcrdma_conn *);
/* Gives calls that wait to the link, as many as it takes. */
void rr_calls_submit(struct rpcrdma_conn *);
/* Handles the end of a link's call: an owner operation of links. */
void rr_calls_done(struct rr_link *, struct rr_call *);
void rr_calls_end_waiting(struct rpcrdma_conn *, int verdict);
/* Ends all calls on a list that have no link. */
void rr_calls_end_all(struct rpcrdma_conn *, struct rr_list *, int verdict);
/* Has a closed object freed soon, if nothing else is left of it. */
void rr_calls_schedule_end(struct rpcrdma_conn *);
/* Has calls use @l from now on.  Calls that were sent on another link stay there. */
void rr_calls_link(struct rpcrdma_conn *, struct rr_link *l);
/* Prepares the object for security contexts (auth_host.c). */
void rr_calls_init_auth(struct rpcrdma_conn *c);
/* Makes the state that a call with these options has for its flavor.  -EINVAL: the
 * context belongs to another connection; errors of new_call. */
int rr_calls_new_auth(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                      struct rr_call_auth **ret) RR_MUST_CHECK;
/* Notes that the link is gone, because of @error; its calls have come back. */
void rr_calls_unlink(struct rpcrdma_conn *, int error, const char *reason);

#endif
