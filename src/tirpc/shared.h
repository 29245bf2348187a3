/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the handles of libtirpc share: the engine of the process, options, bindings
 * and the translation of errors.
 *
 * The engine's thread begins with the first handle and stays.  Other threads hand it
 * work by posts (struct rr_post), which live on their stacks, and wait for the word
 * that it was done (struct rr_rpc_wait).  No lock is held while it works.
 *
 * Headers of this folder must not have the name of one of libtirpc's <rpc/...>.
 */
#ifndef RR_RPC_SHARED_H
#define RR_RPC_SHARED_H

#include <pthread.h>

#include "loop/engine.h"
#include "tirpc/streams.h"

/* Its prototype is not that of the others. */
#define RR_XDR_VOID ((xdrproc_t)(void (*)(void))xdr_void)

/* -- the engine ------------------------------------------------------------------ */

/* The engine of this process, running.  -ENOMEM and the like. */
int rr_rpc_engine(struct rpcrdma_engine **ret) RR_MUST_CHECK;
/* False: it is that of the parent, before fork(), and nobody runs it here. */
bool rr_rpc_engine_runs(const struct rpcrdma_engine *);
/* Unlike those of any message that is out, unless the user chose one; never 0. */
uint32_t rr_rpc_new_xid(void);
void rr_rpc_count(const struct rr_xdr_count *);
void rr_rpc_count_call(void);
void rr_rpc_count_request(void);

/* -- waiting --------------------------------------------------------------------- */

struct rr_rpc_wait {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done; /* by @lock */
};

void rr_rpc_wait_init(struct rr_rpc_wait *);
void rr_rpc_wait_fini(struct rr_rpc_wait *);
/* In the engine; @w may be gone when it returns. */
void rr_rpc_wait_wake(struct rr_rpc_wait *);
/* Sleeps; a cancellation point if @deadline is RR_TIME_NEVER and cancelling is enabled.
 * False: @deadline (rr_engine_clock) passed. */
bool rr_rpc_wait_until(struct rr_rpc_wait *, rr_time deadline);

/* Runs @fn in the engine's thread and waits for it; not cancellable. */
void rr_rpc_in_engine(struct rpcrdma_engine *, void (*fn)(void *), void *arg);

/* -- options --------------------------------------------------------------------- */

/* A transport that a CLIENT may be made by. */
struct rr_rpc_netid {
	const char *name;
	const char *word; /* for people */
	bool tcp;
	int family; /* AF_UNSPEC: any */
};
enum { RR_RPC_NETIDS = 4 };

struct rr_rpc_options {
	struct rpcrdma_conn_options conn;
	const struct rpcrdma_tirpc_binding *const *bindings;
	unsigned n_bindings;
	bool resend;
	uint64_t send_ns;
	const struct rr_rpc_netid *netids[RR_RPC_NETIDS]; /* in the order to try */
	unsigned n_netids;
	uint16_t tcp_port;
	void (*notice)(const char *text, void *arg);
	void *notice_arg;
	const char *gss_principal;
	size_t chunk_bytes, reply_bytes;
};

/* "rdma,tcp" or "netpath" into @ret; NULL = "rdma".  -EINVAL. */
int rr_rpc_netids_from(const char *text, struct rr_rpc_options *ret) RR_MUST_CHECK;

int rr_rpc_options_from(const struct rpcrdma_tirpc_options *, bool server,
                        struct rr_rpc_options *ret) RR_MUST_CHECK;
/* NULL: no binding names it. */
const struct rpcrdma_tirpc_procedure *rr_rpc_binding(const struct rr_rpc_options *,
                                                     rpcprog_t, rpcvers_t, rpcproc_t);

/* -- libtirpc's word of what could not be created ---------------------------------- */

/* Fills rpc_createerr; NULL. */
void *rr_rpc_refuse(enum clnt_stat stat, enum clnt_stat inner, int err);
/* ... where rpcbind was asked. */
void *rr_rpc_refuse_lookup(int err);

#endif
