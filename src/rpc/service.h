/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs that a server offers, and statistics of their procedures. */
#ifndef RR_RPC_SERVICE_H
#define RR_RPC_SERVICE_H

#include "gss/acceptor.h"
#include "rpc/reply_cache.h"
#include "oncrpc/rpc_header.h"

enum { RR_SERVICE_MAX_PROGRAMS = 32 };

struct rr_service_entry {
	const struct rpcrdma_program *program;
	void *arg;
	struct rpcrdma_proc_stats *stats;   /* by procedure; added to atomically */
	struct rpcrdma_place_options place; /* unset without functions */
};

/* One handler for all programs.  It replies by rr_request_reply_passthrough, and
 * decides itself whether a program exists.  Arguments that others receive as items are
 * part of its messages, so a Special Call may be as long as all memory for one peer. */
struct rr_service_passthrough {
	/* Returns the binding of a procedure, of which only the limits are used; never
	 * NULL. */
	const struct rpcrdma_procedure *(*binding)(void *arg, uint32_t program,
	                                           uint32_t version,
	                                           uint32_t procedure);
	rpcrdma_handler_fn *handler;
	void *arg;
};

struct rpcrdma_service {
	const struct rr_service_passthrough *pass; /* lent; or NULL */
	struct rr_service_entry entries[RR_SERVICE_MAX_PROGRAMS];
	unsigned count;
	bool places;                  /* some entry has them */
	struct rr_reply_cache cache;  /* replies of procedures that are executed once */
	struct rr_acceptor *acceptor; /* RPCSEC_GSS; or NULL */
};

/* Finds the entry of a program and version.  NULL: if the program exists, @ret_low and
 * @ret_high are its range of versions, otherwise @ret_low > @ret_high. */
const struct rr_service_entry *rr_service_find(const struct rpcrdma_service *,
                                               uint32_t program, uint32_t version,
                                               uint32_t *ret_low, uint32_t *ret_high);
/* Finds the entry for a Call.  NULL: the status of @ret is the reason. */
const struct rr_service_entry *rr_service_for(const struct rpcrdma_service *,
                                              const struct rr_rpc_call *,
                                              struct rr_rpc_reply *ret);
/* Returns the procedure, or NULL if the program has none of that number. */
const struct rpcrdma_procedure *rr_service_proc(const struct rr_service_entry *,
                                                uint32_t procedure);
/* Adds to the statistics of a procedure. */
void rr_service_count(const struct rr_service_entry *, uint32_t procedure, bool error,
                      uint64_t args_bytes, uint64_t results_bytes);

struct rr_rpcbind;
/* Register and unregister a service that is reached at @addr with a given rpcbind. */
int rr_service_register(const struct rpcrdma_service *, const struct rr_rpcbind *,
                        const struct sockaddr *addr) RR_MUST_CHECK;
int rr_service_unregister(const struct rpcrdma_service *, const struct rr_rpcbind *,
                          const struct sockaddr *addr) RR_MUST_CHECK;

#endif
