/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State and helpers shared by all CLIENTs and SVCXPRTs of a process: the engine,
 * options, bindings and the translation of errors.
 *
 * The engine's thread is started with the first handle and runs until the process ends.
 * Other threads pass work to the engine by posts (struct rr_post) on their stacks, and
 * sleep until the work is done (struct rr_rpc_wait).  While they sleep, they hold no
 * lock except a CLIENT's auth_lock (see clnt.h).
 *
 * No header in this folder may have the same name as a libtirpc header in <rpc/...>.
 */
#ifndef RR_TIRPC_SHARED_H
#define RR_TIRPC_SHARED_H

#include <pthread.h>

#include "loop/engine.h"
#include "tirpc/streams.h"

/* xdr_void as an xdrproc_t.  The cast is needed because the types of the two differ. */
#define RR_XDR_VOID ((xdrproc_t)(void (*)(void))xdr_void)

/* -- the engine ------------------------------------------------------------ */

/* Returns the engine of this process in @ret, starting it if needed.  Returns 0,
 * -ENOMEM, or an error from pthread_create. */
int rr_rpc_engine(struct rpcrdma_engine **ret) RR_MUST_CHECK;
/* Returns false if the engine was inherited through fork(), and so has no thread. */
bool rr_rpc_engine_runs(const struct rpcrdma_engine *);
/* Returns a new XID, never 0.  No outstanding call has the same XID, unless a user
 * chose it with CLSET_XID. */
uint32_t rr_rpc_new_xid(void);
/* Add to the counters that rpcrdma_tirpc_get_stats returns. */
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
/* Wakes the waiting thread, which may free the object before this returns.  Called in
 * the engine's thread. */
void rr_rpc_wait_wake(struct rr_rpc_wait *);
/* Sleeps until rr_rpc_wait_wake is called; then returns true.  Returns false if
 * @deadline, a time of rr_engine_clock, passes first.  A cancellation point. */
bool rr_rpc_wait_until(struct rr_rpc_wait *, rr_time deadline);

/* Calls @fn in the engine's thread and waits until it has returned.  Not a cancellation
 * point. */
void rr_rpc_in_engine(struct rpcrdma_engine *, void (*fn)(void *), void *arg);

/* -- options --------------------------------------------------------------- */

/* A transport of a CLIENT. */
struct rr_rpc_netid {
	const char *name;
	const char *label; /* for messages */
	bool tcp;
	int family; /* AF_UNSPEC = any */
};
enum { RR_RPC_NETIDS = 4 };

struct rr_rpc_options {
	struct rpcrdma_conn_options conn;
	const struct rpcrdma_tirpc_binding *const *bindings;
	unsigned n_bindings;
	bool resend;      /* resend calls after a connection was lost */
	uint64_t send_ns; /* time limit for a client to receive a Reply */
	const struct rr_rpc_netid *netids[RR_RPC_NETIDS]; /* in order of preference */
	unsigned n_netids;
	uint16_t tcp_port;
	void (*notice)(const char *text, void *arg);
	void *notice_arg;
	const char *gss_principal;
	size_t chunk_bytes, reply_bytes;
};

/* Parses a list such as "rdma,tcp" or "netpath" into ret->netids.  NULL means "rdma".
 * Returns 0 or -EINVAL. */
int rr_rpc_netids_from(const char *text, struct rr_rpc_options *ret) RR_MUST_CHECK;

/* Checks a user's options and fills in defaults.  @ret borrows all memory that the
 * options point to. */
int rr_rpc_options_from(const struct rpcrdma_tirpc_options *, bool server,
                        struct rr_rpc_options *ret) RR_MUST_CHECK;
/* Returns the binding of a procedure, or NULL if there is none. */
const struct rpcrdma_tirpc_procedure *rr_rpc_binding(const struct rr_rpc_options *,
                                                     rpcprog_t, rpcvers_t, rpcproc_t);

/* -- rpc_createerr --------------------------------------------------------- */

/* Fills in rpc_createerr, and returns NULL.  @err is a negative errno. */
void *rr_rpc_refuse(enum clnt_stat stat, enum clnt_stat inner, int err);
/* Fills in rpc_createerr for an error from rr_lookup_at or rr_register, and returns
 * NULL. */
void *rr_rpc_refuse_lookup(int err);

#endif
