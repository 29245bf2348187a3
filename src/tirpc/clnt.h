/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libtirpc's CLIENT handle over RDMA.  A CLIENT has one connection at a time.  The
 * first connection is made together with the CLIENT.  After a connection was lost, the
 * next call makes another connection.
 *
 * Normal path of a call (clnt_call.c): the user's thread encodes the Call, posts it to
 * the engine, sleeps until the call is done, and decodes the Reply.  The posted object
 * is on the user's stack.  The engine does not use the object after it has woken the
 * thread, and the thread does not return until the engine has woken it: a thread that
 * is cancelled cancels its call and waits until the call has ended.
 *
 * Failure: a call that the transport could not carry ends with RPC_CANTSEND or
 * RPC_CANTRECV and an errno.  An error in the server's Reply is translated by
 * libtirpc's own _seterr_reply.
 */
#ifndef RR_TIRPC_CLNT_H
#define RR_TIRPC_CLNT_H

#include <netdb.h>

#include "rpc/calls.h"
#include "tirpc/shared.h"

struct rr_rpc_connect; /* a thread that waits for the connection */

/* Statistics on the lengths, in octets, of one procedure's Replies. */
struct rr_rpc_seen {
	bool any;
	rpcproc_t proc;
	size_t most;      /* longest Reply so far */
	size_t bytes;     /* estimate for the next Reply */
	size_t lately;    /* length of the longest of the last @replies Replies */
	unsigned replies; /* number of Replies in the current period of 64 */
};
enum { RR_RPC_SEEN = 16 };

struct rr_rpc_client {
	CLIENT clnt;
	struct rpcrdma_engine *engine;
	struct rr_rpc_options o;
	struct sockaddr_storage addr;
	socklen_t addr_len;
	char server[256]; /* the name that the server's certificate must have */
	char *provider;   /* provider's name, or NULL */
	char *features;   /* list of optional features, or NULL */
	int lost_fd;      /* eventfd: readable while the connection is lost */
	/* Held while a call is encoded or decoded, since authenticators have state;
	 * held during the entire call if RPCSEC_GSS is used.  Recursive, since
	 * AUTH_REFRESH makes calls. */
	pthread_mutex_t auth_lock;
	pthread_mutex_t lock; /* guards the members up to @vers */
	struct rpc_err error;
	struct timeval timeout;
	bool timeout_set;
	uint32_t last_xid;
	uint32_t chosen_xid; /* XID for the next call, set by CLSET_XID; 0 = not set */
	bool had_one_way;    /* a call with a zero timeout was made */
	/* Indexed by procedure modulo RR_RPC_SEEN.  The procedure called last replaces
	 * any other procedure with the same index. */
	struct rr_rpc_seen seen[RR_RPC_SEEN];
	rpcprog_t prog;
	rpcvers_t vers;
	/* Used in the engine's thread only: */
	struct rpcrdma_conn *conn; /* NULL = no connection */
	bool over;                 /* @conn has ended and does not reconnect */
	struct rr_rpc_connect *connecting;
	struct rr_list calls;        /* calls whose threads wait */
	struct rr_list one_way;      /* calls with a zero timeout: no thread waits */
	struct rr_rpc_wait *lingers; /* clnt_destroy waits until @one_way is empty */
};

/* Creates a CLIENT that is connected to the first address in @list that accepts a
 * connection.  On failure returns NULL and sets rpc_createerr. */
CLIENT *rr_rpc_client_new(const char *host, const struct addrinfo *list, rpcprog_t,
                          rpcvers_t, rr_time deadline, const struct rr_rpc_options *);

/* Returns the connection for a new call; makes a connection if there is none or if the
 * last connection has ended.  Called in the engine's thread.  @ret is valid until the
 * connection ends. */
int rr_rpc_client_conn(struct rr_rpc_client *, struct rpcrdma_conn **ret) RR_MUST_CHECK;

/* Length of the Reply chunk that a call should provide, for each version of the
 * transport; 0 = no chunk. */
struct rr_rpc_room {
	size_t v1, v2;
};
/* Estimates the Reply chunk for a procedure that has no binding. */
struct rr_rpc_room rr_rpc_room(struct rr_rpc_client *, rpcproc_t);
/* Records that a Reply of @len octets was received. */
void rr_rpc_room_note(struct rr_rpc_client *, rpcproc_t, size_t len);

enum clnt_stat rr_rpc_client_call(CLIENT *, rpcproc_t, xdrproc_t, void *, xdrproc_t,
                                  void *, struct timeval);
void rr_rpc_client_abort(CLIENT *);
/* Detaches the calls for which no thread waits, so that these calls can outlive the
 * CLIENT.  Called in the engine's thread. */
void rr_rpc_client_forget(struct rr_rpc_client *);
void rr_rpc_client_geterr(CLIENT *, struct rpc_err *);
bool_t rr_rpc_client_freeres(CLIENT *, xdrproc_t, void *);
bool_t rr_rpc_client_control(CLIENT *, u_int, void *);
void rr_rpc_client_destroy(CLIENT *);

/* Translates a negative errno from the transport into a libtirpc error. */
void rr_rpc_error_from(int err, struct rpc_err *ret);

static inline struct rr_rpc_client *rr_rpc_client_of(CLIENT *c)
{
	return c->cl_private;
}

#endif
