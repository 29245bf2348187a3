/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of one user of a connection, whichever way they go.
 *
 * A struct rpcrdma_conn is what the user holds: the calls all the time, a link while
 * there is one.  There are two kinds: a client (client.c) makes its links itself; a
 * server's object for calls in reverse (reverse.c) borrows that of a session.  This
 * part knows calls and the link in use, a kind the rest.
 *
 * Normal path: rpcrdma_call puts a call on the waiting list, rr_calls_submit hands it
 * to the link's connection, rr_calls_done decodes the Reply and tells the user.
 *
 * Failure: the calls of a link that was lost come back one by one and wait again, to be
 * sent anew under their old XIDs [v2 §4.5.5]; the kind decides how long, or says it
 * once for all calls (absence_ns), suspect.h how often.  A call that the peer's
 * transport refused is sent once more, under a new XID, if it can be asked otherwise
 * (rr_call_recover).
 *
 * Invariants: a call is on exactly one of waiting, sent, ending and the wait queue of
 * its security context (call_auth.h) until its done callback; done is called from the
 * engine's loop only; the object is freed after close when link, calls and timers are
 * gone.
 */
#ifndef RR_RPC_CALLS_H
#define RR_RPC_CALLS_H

#include "link/link.h"
#include "oncrpc/call_auth.h"

struct rr_calls_ops {
	/* The peer has answered a call. */
	void (*heard)(struct rpcrdma_conn *);
	/* A call was made, or came back, while there is no link. */
	void (*waits)(struct rpcrdma_conn *);
	/* The user has closed it; its calls are ending already. */
	void (*close)(struct rpcrdma_conn *);
	/* Stops timers and gives the memory back; nothing else is left. */
	void (*free)(struct rpcrdma_conn *);
};

/* The first member of each kind. */
struct rpcrdma_conn {
	struct rr_owner owner;
	const struct rr_calls_ops *ops;
	struct rpcrdma_engine *engine;
	struct rr_voice voice;
	const struct rr_prov_ops *prov;
	struct rr_link *link; /* new calls go there; NULL: they wait */
	struct rr_list waiting, sent;
	struct rr_list ending; /* calls that end without a link: see end_timer */
	unsigned n_sent;       /* on any link */
	unsigned n_here;       /* of these on @link */
	struct rpcrdma_call
	        *lone; /* has @link to itself until it ends, or lone_timer */
	struct rr_timer lone_timer;
	struct rr_auth_host auth;  /* for security contexts of its calls */
	struct rr_timer end_timer; /* delivers ending, frees a closed object */
	struct rpcrdma_stats past; /* links that are gone, and what no link counts */
	uint64_t absence_ns; /* a call waits so long without a link, then it ends with
				-EHOSTUNREACH; 0: the kind ends it */
	bool no_resend;      /* calls end with the link that they were sent on */
	bool closed;         /* by the user */
	bool over;           /* final: no link will come */
	int error;
	char why[160];
};

/* Of the connection and of the engine: no link counts these. */
#define rr_calls_count(c, what) ((c)->past.what++, (c)->engine->ended.what++)

/* A Call whose RPC header the caller makes, and whose Reply it reads, since it has
 * authenticators of its own. */
struct rr_call_passthrough {
	const void *header; /* borrowed; all of it, verifier included */
	size_t len;         /* at most RR_RPC_HEADER_MAX */
	bool no_reduce;     /* the payload is protected: [v2 §11.2.2] */
	bool bound;         /* signed: never sent under another XID, nor sent again */
	bool whole;         /* by a Position Zero Read chunk if the peer takes one */
	bool room;          /* a Reply chunk of reply_bytes however few they are */
};

/* rpcrdma_call, or with @pass a Call of that kind: program, version, procedure and
 * cred of the options are ignored then, and of the reply the status is the
 * transport's only. */
int rr_calls_make(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                  const struct rr_call_passthrough *pass,
                  struct rpcrdma_call **ret) RR_MUST_CHECK;
/* In done, with status 0: the whole Reply, RPC header included. */
const void *rr_call_message(const struct rpcrdma_call *, size_t *ret_len);
/* Likewise: the memory that this Reply lies in becomes the caller's, who gives it back
 * by rr_pool_put, in the engine.  False: it does not. */
bool rr_call_take_message(struct rpcrdma_call *, void **ret, size_t *ret_bytes);

/* @c is zeroed.  -ENOMEM. */
int rr_calls_init(struct rpcrdma_conn *c, struct rpcrdma_engine *,
                  const struct rr_calls_ops *) RR_MUST_CHECK;
/* For the kind's free: off the engine's list. */
void rr_calls_fini(struct rpcrdma_conn *);
/* Hands what waits to the link, as far as it takes it. */
void rr_calls_submit(struct rpcrdma_conn *);
/* A link's call ended: an owner operation of links. */
void rr_calls_done(struct rr_link *, struct rr_call *);
void rr_calls_end_waiting(struct rpcrdma_conn *, int verdict);
/* Of a list of calls that no link knows. */
void rr_calls_end_all(struct rpcrdma_conn *, struct rr_list *, int verdict);
/* Frees a closed object soon, if nothing is owed to it. */
void rr_calls_schedule_end(struct rpcrdma_conn *);
/* Its calls go to @l from now on.  Those that are out elsewhere stay there. */
void rr_calls_link(struct rpcrdma_conn *, struct rr_link *l);
/* Prepares @c for flavors (auth_host.c). */
void rr_calls_init_auth(struct rpcrdma_conn *c);
/* The state that a call with these options has for its flavor.  -EINVAL: the context
 * belongs to another connection; errors of new_call. */
int rr_calls_new_auth(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                      struct rr_call_auth **ret) RR_MUST_CHECK;
/* The link is gone, for @error; its calls have come back. */
void rr_calls_unlink(struct rpcrdma_conn *, int error, const char *why);

#endif
