/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma_lookup for those who must not wait: it runs in a thread of its own, and the
 * loop hears of its end.
 *
 * The thread knows nothing of the engine.  It shares the object with the loop, and
 * says by a descriptor that it is done; whoever lets go last frees it.  So neither a
 * connection nor an engine that ends has to wait for a thread that does.
 */
#ifndef RR_RPCBIND_FIND_H
#define RR_RPCBIND_FIND_H

#include "loop/engine.h"

struct rr_find;

struct rr_find_what {
	const char *host; /* borrowed */
	uint32_t program, version;
	uint64_t timeout_ns;
	/* In the loop, once: 0 and the port, or the error of rpcrdma_lookup.  The object is
	 * gone then. */
	void (*done)(void *arg, int error, uint16_t port);
	void *arg;
};

/* -ENOMEM, -EMFILE, -EAGAIN: no thread. */
int rr_find_start(struct rpcrdma_engine *, const struct rr_find_what *,
                  struct rr_find **ret) RR_MUST_CHECK;
/* done is not called any more. */
void rr_find_cancel(struct rr_find *);

#endif
