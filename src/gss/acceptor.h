/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS in front of a service's handlers: authenticates requests, unwraps
 * arguments, and wraps results, by the contexts of gss/contexts.h.
 *
 * To create a context reads and writes files, so a thread of the service does that for
 * one request at a time, while engines go on.  The number of requests that wait is
 * limited; more are refused.
 *
 * Threads: a request belongs to its engine's thread, except while the acceptor's thread
 * has it: from rr_acceptor_submit (@ret_now false) until its post runs, or until
 * rr_acceptor_cancel returns.
 */
#ifndef RR_GSS_ACCEPTOR_H
#define RR_GSS_ACCEPTOR_H

#include <rpcrdma/gss.h>

#include "loop/engine.h"
#include "gss/contexts.h"

struct rr_acceptor;

/* The state of a request under RPCSEC_GSS. */
struct rr_acceptor_job {
	struct rr_list link; /* in the acceptor's queue; guarded by its lock */
	struct rr_post post; /* runs after the verdict; the user sets fn */
	struct rpcrdma_engine *engine;
	void *user;
	struct rr_gss_call call;
	struct rr_gss_request request;
	struct sockaddr_storage peer;
	void *wrapped; /* results; from malloc */
};

int rr_acceptor_new(const struct rpcrdma_service_gss_options *,
                    struct rr_acceptor **ret) RR_MUST_CHECK;
/* Frees the acceptor, which has no request any more. */
void rr_acceptor_free(struct rr_acceptor *);

/* Submits a request; @a->call is set.  @ret_now: true, @a->request has the verdict;
 * false, it will have when the post runs.  -EBUSY: too many requests wait. */
int rr_acceptor_submit(struct rr_acceptor *, struct rr_acceptor_job *a,
                       bool *ret_now) RR_MUST_CHECK;
/* Checks a Call that belongs to no engine.  Blocks.  Any thread. */
enum rr_gss_verdict rr_acceptor_check_here(struct rr_acceptor *,
                                           const struct rr_gss_call *,
                                           struct rr_gss_request *ret);
/* Must be called first when the post runs: waits until the thread has left the engine. */
void rr_acceptor_posted(struct rr_acceptor *);
/* Removes @a from the queue, so that its post does not run.  Returns false if the
 * thread works on it or has finished, and the post runs.  Does not block for long. */
bool rr_acceptor_withdraw(struct rr_acceptor *, struct rr_acceptor_job *a);
/* Ends the work on @a, so that its post does not run.  Waits while the thread works on
 * it. */
void rr_acceptor_cancel(struct rr_acceptor *, struct rr_acceptor_job *a);

/* Wraps results into one piece, which is valid as long as @a. */
int rr_acceptor_wrap(struct rr_acceptor_job *, const struct rr_piece *, unsigned n,
                     struct rr_piece *ret) RR_MUST_CHECK;
void rr_acceptor_job_free(struct rr_acceptor_job *);

#endif
