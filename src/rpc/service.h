/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs that a server offers, and statistics of their procedures. */
#ifndef RR_RPC_SERVICE_H
#define RR_RPC_SERVICE_H

#include "gss/acceptor.h"
#include "rpc/reply_cache.h"
#include "oncrpc/rpc_header.h"
#include <rpcrdma/relay.h>

enum {
	RR_SERVICE_MAX_PROGRAMS = 32,
	/* tables of statistics, so that engines seldom share one */
	RR_SERVICE_TABLES = 8,
};

struct rr_service_entry {
	const struct rpcrdma_program *program;
	void *arg;
	/* RR_SERVICE_TABLES tables, each with one element per procedure and, at its end,
	 * room for a cache line; incremented atomically */
	struct rpcrdma_proc_stats *stats;
	/* memory for items (place.h); zero if not set */
	struct rpcrdma_place_options place;
};

/* A single handler for all programs, which must itself check that a program exists.
 * The handler replies with rr_request_reply_passthrough.  Clients may send all data in
 * the message, even data that other services receive as items.  So a Special Call may
 * be as long as the limit on memory for one peer. */
struct rr_service_passthrough {
	/* Returns a procedure's binding; only its limits are used.  Never returns
	 * NULL. */
	const struct rpcrdma_procedure *(*binding)(void *arg, uint32_t program,
	                                           uint32_t version,
	                                           uint32_t procedure);
	rpcrdma_handler_fn *handler;
	/* The arguments of a request are the complete Call, including the RPC header. */
	bool complete;
	/* The handler may keep items: each item is in its own block, see dispatch.h. */
	bool keeps_items;
	void *arg;
};

struct rpcrdma_service {
	const struct rr_service_passthrough *pass; /* lent; NULL = none */
	struct rr_service_passthrough relay_pass;  /* @pass of a relay */
	struct rpcrdma_relay_options relay;        /* call NULL = not a relay */
	struct rr_service_entry entries[RR_SERVICE_MAX_PROGRAMS];
	unsigned count;
	bool places; /* at least one entry has place functions */
	/* replies of procedures that must not be executed twice */
	struct rr_reply_cache cache;
	struct rr_acceptor *acceptor; /* for RPCSEC_GSS; NULL = not supported */
};

/* Finds the entry for a program and version.  If there is none, returns NULL and sets
 * @ret_low and @ret_high to the range of the program's versions.  If the program does
 * not exist, sets @ret_low to a larger number than @ret_high. */
const struct rr_service_entry *rr_service_find(const struct rpcrdma_service *,
                                               uint32_t program, uint32_t version,
                                               uint32_t *ret_low, uint32_t *ret_high);
/* Finds the entry for a Call.  If there is none, returns NULL and sets @ret's status to
 * the reason. */
const struct rr_service_entry *rr_service_for(const struct rpcrdma_service *,
                                              const struct rr_rpc_call *,
                                              struct rr_rpc_reply *ret);
/* Returns the procedure, or NULL if the program has no such procedure. */
const struct rpcrdma_procedure *rr_service_proc(const struct rr_service_entry *,
                                                uint32_t procedure);
/* Adds one call to a procedure's statistics, in the table of the listener's engine
 * @hall. */
void rr_service_count(const struct rr_service_entry *, unsigned hall,
                      uint32_t procedure, bool error, uint64_t args_bytes,
                      uint64_t results_bytes);

struct rr_rpcbind;
/* Register and unregister the programs of a service at @addr with the given rpcbind. */
int rr_service_register(const struct rpcrdma_service *, const struct rr_rpcbind *,
                        const struct sockaddr *addr) RR_MUST_CHECK;
int rr_service_unregister(const struct rpcrdma_service *, const struct rr_rpcbind *,
                          const struct sockaddr *addr) RR_MUST_CHECK;

#endif
