/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS in front of a service's handlers: who calls, what was protected, and the
 * same for the answer.  What it decides by is src/gss/contexts.h.
 *
 * Setting up a context reads and writes files, so a thread of the service does that, one
 * at a time, and engines go on.  What waits for it is bounded; the rest is refused.
 *
 * Threads: a request belongs to its engine's thread, but for the time that the acceptor's
 * has it: from rr_acceptor_submit (false) until its post runs, or rr_acceptor_cancel returns.
 */
#ifndef RR_GSS_ACCEPTOR_H
#define RR_GSS_ACCEPTOR_H

#include <rpcrdma/gss.h>

#include "loop/engine.h"
#include "gss/contexts.h"

struct rr_acceptor;

/* What a request under RPCSEC_GSS has more than others. */
struct rr_acceptor_job {
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
int rr_acceptor_submit(struct rr_acceptor *, struct rr_acceptor_job *a,
                       bool *ret_now) RR_MUST_CHECK;
/* For a Call that no engine serves; blocks.  Any thread. */
enum rr_gss_verdict rr_acceptor_check_here(struct rr_acceptor *,
                                           const struct rr_gss_call *,
                                           struct rr_gss_request *ret);
/* First thing when the post runs: its thread is done with the engine. */
void rr_acceptor_posted(struct rr_acceptor *);
/* Takes @a out of the queue: the post will not run.  False: the thread works on it or
 * has decided, and the post runs.  Never blocks for long. */
bool rr_acceptor_withdraw(struct rr_acceptor *, struct rr_acceptor_job *a);
/* The post will not run.  Waits while the thread works on @a. */
void rr_acceptor_cancel(struct rr_acceptor *, struct rr_acceptor_job *a);

/* Results as they go to the caller; one piece, which lives as long as @a. */
int rr_acceptor_wrap(struct rr_acceptor_job *, const struct rr_piece *, unsigned n,
                     struct rr_piece *ret) RR_MUST_CHECK;
void rr_acceptor_job_free(struct rr_acceptor_job *);

#endif
