/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs rpcrdma_lookup for callers that must not block: the lookup runs in a separate
 * thread, and the event loop reports the result.
 *
 * The thread does not use the engine.  It shares one object with the event loop, and
 * makes an eventfd readable when the lookup is done.  The object is freed when both the
 * thread and the loop have released it.  So a connection or an engine can be freed
 * without waiting for the thread.
 */
#ifndef RR_RPCBIND_LOOKUP_H
#define RR_RPCBIND_LOOKUP_H

#include "loop/engine.h"

struct rr_lookup;

struct rr_lookup_options {
	const char *host; /* borrowed */
	uint32_t program, version;
	uint64_t timeout_ns;
	/* Called once in the event loop, after the lookup was freed.  @error is 0 or
	 * the error from rpcrdma_lookup. */
	void (*done)(void *arg, int error, uint16_t port);
	void *arg;
};

/* Starts a lookup.  Returns 0, -ENOMEM, -EMFILE, or -EAGAIN if no thread could be
 * created. */
int rr_lookup_start(struct rpcrdma_engine *, const struct rr_lookup_options *,
                    struct rr_lookup **ret) RR_MUST_CHECK;
/* Cancels and frees a lookup, without calling its done function.  Ignores NULL. */
void rr_lookup_cancel(struct rr_lookup *);

#endif
