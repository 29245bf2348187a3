/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma_lookup for callers that must not block: it runs in a thread of its own, and
 * the result is reported in the loop.
 *
 * The thread does not use the engine.  It shares one object with the loop, and makes an
 * eventfd readable when it is done.  The object is freed with the last of the two
 * references.  So a connection or an engine that ends need not wait for the thread.
 */
#ifndef RR_RPCBIND_LOOKUP_H
#define RR_RPCBIND_LOOKUP_H

#include "loop/engine.h"

struct rr_lookup;

struct rr_lookup_options {
	const char *host; /* borrowed */
	uint32_t program, version;
	uint64_t timeout_ns;
	/* Called in the loop, once: with 0 and the port, or the error of
	 * rpcrdma_lookup.  The lookup has been freed then. */
	void (*done)(void *arg, int error, uint16_t port);
	void *arg;
};

/* Starts a lookup.  -ENOMEM; -EMFILE; -EAGAIN: no thread could be created. */
int rr_lookup_start(struct rpcrdma_engine *, const struct rr_lookup_options *,
                    struct rr_lookup **ret) RR_MUST_CHECK;
/* Cancels and frees a lookup: done is not called.  NULL is harmless. */
void rr_lookup_cancel(struct rr_lookup *);

#endif
