/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS in front of a service's handlers: who calls, what was protected, and the
 * same for the answer.  What it decides by is src/gss/contexts.h.
 *
 * Setting up a context reads and writes files, so a thread of the service does that, one
 * at a time, and engines go on.  What waits for it is bounded; the rest is refused.
 *
 * Threads: a request belongs to its engine's thread, but for the time that the acceptor's
 * has it: from rr_accept (false) until its post runs, or rr_accept_cancel returns.
 */
#ifndef RR_DRIVE_ACCEPTOR_H
#define RR_DRIVE_ACCEPTOR_H

#include <rpcrdma/gss.h>

#include "loop/engine.h"
#include "gss/contexts.h"

struct rr_acceptor;

/* What a request under RPCSEC_GSS has more than others. */
struct rr_accepted {
	struct rr_list link; /* of the acceptor's queue, by its lock */
	struct rr_post post; /* decided; fn is the user's */
	struct rpcrdma_engine *engine;
	void *user;
	struct rr_gss_call call;
	struct rr_gss_request request;
	struct sockaddr_storage peer;
	void *wrapped; /* results; from malloc */
};

int rr_acceptor_new(const struct rpcrdma_service_gss_options *,
                    struct rr_acceptor **ret) RR_MUST_CHECK;
/* Nothing is with it any more. */
void rr_acceptor_free(struct rr_acceptor *);

/* @a->call is filled.  True: @a->request has the verdict; false: it will have when the
 * post runs.  -EBUSY: too many wait. */
int rr_accept(struct rr_acceptor *, struct rr_accepted *a, bool *ret_now) RR_MUST_CHECK;
/* For a Call that no engine serves; blocks.  Any thread. */
enum rr_gss_verdict rr_accept_here(struct rr_acceptor *, const struct rr_gss_call *,
                                   struct rr_gss_request *ret);
/* First thing when the post runs: its thread is done with the engine. */
void rr_accept_posted(struct rr_acceptor *);
/* Takes @a out of the queue: the post will not run.  False: the thread works on it or
 * has decided, and the post runs.  Never blocks for long. */
bool rr_accept_withdraw(struct rr_acceptor *, struct rr_accepted *a);
/* The post will not run.  Waits while the thread works on @a. */
void rr_accept_cancel(struct rr_acceptor *, struct rr_accepted *a);

/* Results as they go to the caller; one piece, which lives as long as @a. */
int rr_accepted_wrap(struct rr_accepted *, const struct rr_piece *, unsigned n,
                     struct rr_piece *ret) RR_MUST_CHECK;
void rr_accepted_free(struct rr_accepted *);

#endif
