/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS for a service's handlers: authenticates requests, unwraps arguments, and
 * wraps results, using the contexts in gss/contexts.h.
 *
 * Creating a context reads and writes files.  To keep engines from blocking, a separate
 * thread of the service, the acceptor's thread, creates contexts, for one request at a
 * time.  The number of waiting requests is limited; further requests are refused.
 *
 * Threads: a request belongs to its engine's thread.  But if rr_acceptor_submit has set
 * @ret_now to false, the request belongs to the acceptor's thread until its post runs,
 * or until rr_acceptor_cancel returns.
 */
#ifndef RR_GSS_ACCEPTOR_H
#define RR_GSS_ACCEPTOR_H

#include <rpcrdma/gss.h>

#include "loop/engine.h"
#include "gss/contexts.h"

struct rr_acceptor;

/* The state of one RPCSEC_GSS request. */
struct rr_acceptor_job {
	struct rr_list link; /* in the acceptor's queue; guarded by rr_acceptor.lock */
	struct rr_post post; /* posted after the verdict; the caller sets fn */
	struct rpcrdma_engine *engine;
	void *user;
	struct rr_gss_call call;
	struct rr_gss_request request;
	struct sockaddr_storage peer;
	void *wrapped; /* protected results, allocated by malloc */
};

int rr_acceptor_new(const struct rpcrdma_service_gss_options *,
                    struct rr_acceptor **ret) RR_MUST_CHECK;
/* Frees the acceptor, which must have no requests. */
void rr_acceptor_free(struct rr_acceptor *);

/* Submits a request; the caller has set @a->call.  Sets @ret_now to true if @a->request
 * has its verdict already, or to false if it will have the verdict when the post runs.
 * Returns -EBUSY if too many requests are waiting. */
int rr_acceptor_submit(struct rr_acceptor *, struct rr_acceptor_job *a,
                       bool *ret_now) RR_MUST_CHECK;
/* Checks a Call that belongs to no engine.  Blocks.  May be called in any thread. */
enum rr_gss_verdict rr_acceptor_check_here(struct rr_acceptor *,
                                           const struct rr_gss_call *,
                                           struct rr_gss_request *ret);
/* Waits until the acceptor's thread no longer uses the engine.  The function that the
 * thread posted to the engine must call this before anything else. */
void rr_acceptor_posted(struct rr_acceptor *);
/* Removes @a from the queue, so that its post does not run.  Returns false if it is too
 * late: the thread is working on @a or has finished, and the post will run.  Does not
 * block for a long time. */
bool rr_acceptor_withdraw(struct rr_acceptor *, struct rr_acceptor_job *a);
/* Ends the work on @a, so that its post does not run.  Blocks while the thread is
 * working on @a. */
void rr_acceptor_cancel(struct rr_acceptor *, struct rr_acceptor_job *a);

/* Protects results.  Stores the results in @ret as one piece, which is valid until the
 * job is freed. */
int rr_acceptor_wrap(struct rr_acceptor_job *, const struct rr_piece *, unsigned n,
                     struct rr_piece *ret) RR_MUST_CHECK;
void rr_acceptor_job_free(struct rr_acceptor_job *);

#endif
