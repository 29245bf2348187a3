/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State and helpers shared by all CLIENTs and SVCXPRTs of a process: the engine,
 * options, bindings and the translation of errors.
 *
 * The engine's thread starts with the first handle and runs until the process ends.
 * Other threads give it work by posts (struct rr_post) on their stacks, and sleep until
 * the work is done (struct rr_rpc_wait).  They hold no lock meanwhile, except for
 * authenticators (see clnt.h).
 *
 * No header of this folder may have the name of one of libtirpc's <rpc/...>.
 */
#ifndef RR_TIRPC_SHARED_H
#define RR_TIRPC_SHARED_H

#include <pthread.h>

#include "loop/engine.h"
#include "tirpc/streams.h"

/* xdr_void has another prototype than xdrproc_t. */
#define RR_XDR_VOID ((xdrproc_t)(void (*)(void))xdr_void)

/* -- the engine ------------------------------------------------------------ */

/* Returns the running engine of this process, and starts it if needed.  -ENOMEM and
 * errors of pthread_create. */
int rr_rpc_engine(struct rpcrdma_engine **ret) RR_MUST_CHECK;
/* Returns false for an engine inherited through fork(): it has no thread here. */
bool rr_rpc_engine_runs(const struct rpcrdma_engine *);
/* Returns a new XID, never 0.  An outstanding call has the same only if a user chose it
 * by CLSET_XID. */
uint32_t rr_rpc_new_xid(void);
/* These add to rpcrdma_tirpc_get_stats. */
void rr_rpc_count(const struct rr_xdr_count *);
void rr_rpc_count_call(void);
void rr_rpc_count_request(void);

/* -- waiting --------------------------------------------------------------- */

struct rr_rpc_wait {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done; /* guarded by @lock */
};

void rr_rpc_wait_init(struct rr_rpc_wait *);
void rr_rpc_wait_fini(struct rr_rpc_wait *);
/* Called in the engine's thread.  The waiter may free @w before this returns. */
void rr_rpc_wait_wake(struct rr_rpc_wait *);
/* Sleeps until rr_rpc_wait_wake, or until @deadline by rr_engine_clock: then returns
 * false.  A cancellation point. */
bool rr_rpc_wait_until(struct rr_rpc_wait *, rr_time deadline);

/* Runs @fn in the engine's thread and waits until it has returned; not cancellable. */
void rr_rpc_in_engine(struct rpcrdma_engine *, void (*fn)(void *), void *arg);

/* -- options --------------------------------------------------------------- */

/* A transport of a CLIENT. */
struct rr_rpc_netid {
	const char *name;
	const char *label; /* for messages */
	bool tcp;
	int family; /* AF_UNSPEC: any */
};
enum { RR_RPC_NETIDS = 4 };

struct rr_rpc_options {
	struct rpcrdma_conn_options conn;
	const struct rpcrdma_tirpc_binding *const *bindings;
	unsigned n_bindings;
	bool resend;      /* calls after the loss of a connection */
	uint64_t send_ns; /* limit for a client to take a Reply */
	const struct rr_rpc_netid *netids[RR_RPC_NETIDS]; /* in the order to try */
	unsigned n_netids;
	uint16_t tcp_port;
	void (*notice)(const char *text, void *arg);
	void *notice_arg;
	const char *gss_principal;
	size_t chunk_bytes, reply_bytes;
};

/* Parses "rdma,tcp", "netpath" and the like into @ret; NULL = "rdma".  -EINVAL. */
int rr_rpc_netids_from(const char *text, struct rr_rpc_options *ret) RR_MUST_CHECK;

/* Checks a user's options and fills in defaults; @ret borrows what they point to. */
int rr_rpc_options_from(const struct rpcrdma_tirpc_options *, bool server,
                        struct rr_rpc_options *ret) RR_MUST_CHECK;
/* Returns the entry of a procedure, or NULL if it has no binding. */
const struct rpcrdma_tirpc_procedure *rr_rpc_binding(const struct rr_rpc_options *,
                                                     rpcprog_t, rpcvers_t, rpcproc_t);

/* -- rpc_createerr --------------------------------------------------------- */

/* Fills rpc_createerr, and returns NULL; @err is a negative errno. */
void *rr_rpc_refuse(enum clnt_stat stat, enum clnt_stat inner, int err);
/* The same for an error of rr_lookup_at or rr_register_one. */
void *rr_rpc_refuse_lookup(int err);

#endif
