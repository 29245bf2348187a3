/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CLIENT of libtirpc: one connection at a time, made when the CLIENT is, and again
 * for the first call after it was lost.
 *
 * Normal path of a call (clnt_call.c): the user's thread encodes, posts to the engine,
 * sleeps, and decodes.  What it posts lies on its stack; the engine touches nothing of
 * it after its word that the call is done, and no thread leaves before that word: one
 * that is cancelled cancels its call and waits for it.
 *
 * Failure: a call that the transport could not carry ends with RPC_CANTSEND or
 * RPC_CANTRECV and an errno; what the server says goes through libtirpc's own
 * _seterr_reply.
 */
#ifndef RR_RPC_CLIENT_H
#define RR_RPC_CLIENT_H

#include <netdb.h>

#include "rpc/calls.h"
#include "tirpc/shared.h"

struct rr_rpc_connect; /* a wait for the first connection */

/* What the Replies of a procedure were like. */
struct rr_rpc_seen {
	bool any;
	rpcproc_t proc;
	size_t most;      /* the longest */
	size_t bytes;     /* what is likely */
	size_t lately;    /* the longest of ... */
	unsigned replies; /* ... so many, the last ones */
};
enum { RR_RPC_SEEN = 16 };

struct rr_rpc_client {
	CLIENT clnt;
	struct rpcrdma_engine *engine;
	struct rr_rpc_options o;
	struct sockaddr_storage addr;
	socklen_t addr_len;
	char server[256]; /* whom its certificate must name */
	char *provider;   /* or NULL */
	int lost_fd;      /* readable when the connection is lost */
	/* Encoding and decoding: authenticators have states.  Recursive, since their
	 * refreshing makes calls; with RPCSEC_GSS held during the whole call. */
	pthread_mutex_t auth_lock;
	pthread_mutex_t lock; /* guards these: */
	struct rpc_err error;
	struct timeval timeout;
	bool timeout_set;
	uint32_t last_xid, chosen_xid; /* chosen: of the next call; 0 = none */
	bool had_one_way;              /* calls of which nobody waits for the answer */
	struct rr_rpc_seen
	        seen[RR_RPC_SEEN]; /* by procedure, the last of each remainder */
	rpcprog_t prog;
	rpcvers_t vers;
	/* The engine's: */
	struct rpcrdma_conn *conn; /* NULL: none yet */
	bool over;                 /* no link will come any more */
	struct rr_rpc_connect *connecting;
	struct rr_list calls;        /* being made by threads that wait */
	struct rr_list one_way;      /* ... of which nobody waits for the answer */
	struct rr_rpc_wait *lingers; /* until these are gone; or NULL */
};

/* Connects to the first address of @list that lets it.  NULL: rpc_createerr says why. */
CLIENT *rr_rpc_client_new(const char *host, const struct addrinfo *list, rpcprog_t,
                          rpcvers_t, rr_time deadline, const struct rr_rpc_options *);

/* Until it ended, in the engine: the connection for a new call.  Negative errno. */
int rr_rpc_client_conn(struct rr_rpc_client *, struct rpcrdma_conn **ret) RR_MUST_CHECK;

/* Room that a Reply of this procedure may need; 0: it needs no chunk. */
struct rr_rpc_room {
	size_t v1, v2;
};
struct rr_rpc_room rr_rpc_room(struct rr_rpc_client *, rpcproc_t);
/* A Reply of @len octets came. */
void rr_rpc_room_note(struct rr_rpc_client *, rpcproc_t, size_t len);

enum clnt_stat rr_rpc_client_call(CLIENT *, rpcproc_t, xdrproc_t, void *, xdrproc_t,
                                  void *, struct timeval);
void rr_rpc_client_abort(CLIENT *);
/* In the engine: calls of which nobody waits for the answer know it no longer. */
void rr_rpc_client_forget(struct rr_rpc_client *);
void rr_rpc_client_geterr(CLIENT *, struct rpc_err *);
bool_t rr_rpc_client_freeres(CLIENT *, xdrproc_t, void *);
bool_t rr_rpc_client_control(CLIENT *, u_int, void *);
void rr_rpc_client_destroy(CLIENT *);

/* What libtirpc says where the transport failed with a negative errno. */
void rr_rpc_error_from(int err, struct rpc_err *ret);

static inline struct rr_rpc_client *rr_rpc_client_of(CLIENT *c)
{
	return c->cl_private;
}

#endif
