/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs that a server offers, and what each procedure has done. */
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
	struct rpcrdma_place_options place; /* no function: not set */
};

/* One handler for all programs.  It replies by rr_request_reply_passthrough, and
 * decides itself whether a program exists.  Its Calls move as a whole where others have
 * items, so a Special Call may be as long as all that is held for one peer. */
struct rr_service_passthrough {
	/* The binding of a procedure, of which only the limits count; never NULL. */
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
	bool places;                  /* of any entry */
	struct rr_reply_cache cache;  /* of replies to what is executed once */
	struct rr_acceptor *acceptor; /* of RPCSEC_GSS; or NULL */
};

/* The entry for a program and version.  NULL: @ret_low > @ret_high if there is
 * no such program, else the range of versions there is. */
const struct rr_service_entry *rr_service_find(const struct rpcrdma_service *,
                                               uint32_t program, uint32_t version,
                                               uint32_t *ret_low, uint32_t *ret_high);
/* The same for a Call; NULL: @ret says why not. */
const struct rr_service_entry *rr_service_for(const struct rpcrdma_service *,
                                              const struct rr_rpc_call *,
                                              struct rr_rpc_reply *ret);
/* The procedure, or NULL if the program has none of that number. */
const struct rpcrdma_procedure *rr_service_proc(const struct rr_service_entry *,
                                                uint32_t procedure);
/* Adds to the statistics of a procedure. */
void rr_service_count(const struct rr_service_entry *, uint32_t procedure, bool error,
                      uint64_t args_bytes, uint64_t results_bytes);

struct rr_rpcbind;
/* rpcrdma_listener_register and _unregister at a given rpcbind, for a service that is
 * reached at @addr. */
int rr_service_register(const struct rpcrdma_service *, const struct rr_rpcbind *,
                        const struct sockaddr *addr) RR_MUST_CHECK;
int rr_service_unregister(const struct rpcrdma_service *, const struct rr_rpcbind *,
                          const struct sockaddr *addr) RR_MUST_CHECK;

#endif
