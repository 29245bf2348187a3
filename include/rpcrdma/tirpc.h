/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of libtirpc over RDMA: rpcgen's output as it is, after a change of the
 * call that creates the CLIENT or the SVCXPRT.  Link with -lrpcrdma -ltirpc, in this
 * order.
 *
 * All handles of a process share one engine (rpcrdma.h), in a thread of the library
 * that begins with the first handle, blocks all signals and stays until the process
 * ends.  It runs nothing of the user's: XDR routines and dispatch functions run in the
 * thread that calls clnt_call or svc_run.  After fork() the child makes its own; the
 * handles of the parent are of no use there: calls end with RPC_CANTSEND (ENOTCONN),
 * nothing is received or answered, and clnt_destroy and svc_destroy free the child's
 * memory of them.
 *
 * Errors are libtirpc's: functions that create return NULL and fill rpc_createerr.
 */
#ifndef RPCRDMA_TIRPC_H
#define RPCRDMA_TIRPC_H

#include <rpc/rpc.h>
#include <rpc/pmap_clnt.h> /* before the macros */
#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Bindings --------------------------------------------------------------
 *
 * Which items of a program's procedures may move by RDMA, placed where they belong
 * without a copy on either side.  Client and server must agree on it, like on the .x
 * file [v2 §A].  A program without one works at any size: a Call or Reply of more than
 * chunk_bytes moves by RDMA as a whole.  The client sends long octets from where they
 * lie; the receiver copies them where they belong.
 */

/* An item is the octets of an opaque<> or string<> that is a direct member of the
 * argument or result (or of an arm of its union): where, within what clnt_call,
 * svc_getargs or svc_sendreply are given, the pointer to the octets is. */
struct rpcrdma_tirpc_item {
	size_t offset;
	size_t max_bytes; /* the longest there is; of results, room is made for that: as
			     the defaults are, of at most 256 MiB in all */
};
#define RPCRDMA_TIRPC_ITEM(type, member, max)                                          \
	{                                                                              \
		offsetof(type, member), (max)                                          \
	}

/*
 * Items in the order of the .x file.  Memory: a client's results are malloc'ed at
 * their bound, unless the pointer is set before the call, and then as long as
 * @max_bytes says, and one more of a string: octets go there, as ever in XDR, and what
 * is longer is RPC_CANTDECODERES (but under krb5i and krb5p, where the .x file alone
 * says how long it may be).  A server's arguments are malloc'ed.  Both belong to the
 * user once decoded (clnt_freeres, svc_freeargs, xdr_free).  XDR routines of one's own
 * must take an item's memory from malloc, too.
 */
struct rpcrdma_tirpc_procedure {
	rpcproc_t procedure;
	const struct rpcrdma_tirpc_item *args;
	unsigned n_args; /* at most 8 */
	const struct rpcrdma_tirpc_item *results;
	unsigned n_results; /* at most 8 */
	size_t reply_bytes; /* bound of the results' other octets; 0 = small */
};

struct rpcrdma_tirpc_binding {
	rpcprog_t program;
	rpcvers_t version;
	const struct rpcrdma_tirpc_procedure *procs;
	unsigned n_procs;
};

struct rpcrdma_tirpc_options {
	size_t size; /* RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options) */
	/* What is zero in it, or NULL, is chosen.  Client: messages and chunks of any
	 * program, up to 256 MiB.  Server: those of rpcrdma_conn_options, since anybody
	 * may ask, but a Call that moves as a whole may take all that is held for one
	 * peer, 32 MiB; with a larger max_message_bytes chunks as long, and twice that
	 * held for one peer, within rpcrdma_budget_set. */
	const struct rpcrdma_conn_options *conn;
	/* The array is lent until the handle is destroyed, and what it names. */
	const struct rpcrdma_tirpc_binding *const *bindings;
	unsigned n_bindings;
	/* Client: calls that are out when a connection is lost are sent again on the next
	 * one, under the same XID: where each procedure may be executed twice, or the
	 * server remembers.  Otherwise they end with RPC_CANTRECV, as over TCP; either
	 * way the CLIENT connects again for the call after that. */
	bool resend;
	/* Server: the longest that svc_sendreply waits for a client to take what it sent;
	 * then the connection is closed.  Default 30 s. */
	uint64_t send_ns;
	/* Client: transports in the order to try, see below; NULL = "rdma". */
	const char *netids;
	unsigned tcp_port; /* of the same program over TCP; 0 = rpcbind knows */
	/* Client: told, in the thread that creates, when it is not the first of netids:
	 * "HOST: no RDMA (why): using TCP"; no newline.  NULL: stderr is told. */
	void (*notice)(const char *text, void *arg);
	void *notice_arg;
	/* Server: contexts of RPCSEC_GSS are accepted by the key of this service,
	 * "nfs@HOST"; copied.  NULL: by any key of the keytab. */
	const char *gss_principal;
	/* Client: a Call that is longer, items apart, moves by RDMA as a whole, and so does
	 * a Reply of a procedure without a binding that is expected to be; SIZE_MAX: none.
	 * 0 = 64 KiB, where one RDMA Read takes as long as 16 messages. */
	size_t chunk_bytes;
	/* Client: room that such a call offers for a Reply as long as the CLIENT has seen
	 * none of that procedure, in version 1 always.  Afterwards it is the longest of
	 * late, at most max_message_bytes.  A longer Reply comes in messages; in version 1 it
	 * is lost, RPC_CANTRECV with EMSGSIZE.  0 = 1 MiB less 4 KiB. */
	size_t reply_bytes;
};

/* ---- Client -------------------------------------------------------------------
 *
 * @host: "HOST", whose rpcbind knows the port (rpcrdma_lookup; if it does not, that of
 * NFS is 20049), or "HOST:PORT" with the port of RDMA; "[ADDRESS]" for IPv6.  @options
 * is borrowed, NULL = all defaults.  The CLIENT is connected, has AUTH_NONE, and ends
 * with clnt_destroy.
 *
 * Transports: netids lists up to four, with commas, each at most once:
 *   "rdma", "rdma6"  RDMA, at any address of the host, or at its IPv6 addresses only
 *   "tcp", "tcp6"    TCP, likewise: a CLIENT of libtirpc, for which of what is said here
 *                    of calls and options nothing holds; its port is tcp_port, or rpcbind
 *                    knows it
 *   "netpath"        alone: the list is the environment's NETPATH, as for libtirpc, with
 *                    colons; what it has beside these four is passed over; unset, it is
 *                    "rdma,tcp"
 * The first that a connection is made by is taken, and cl_netid says which: "rdma",
 * "rdma6", "tcp" or "tcp6" by the address.  Each has an equal share of what is left of
 * the time.  If none works, rpc_createerr says why the first does not.  With host
 * authentication REQUIREd TCP is misuse (EINVAL), since it has none.
 *
 * Threads: a CLIENT may be used by several at once.  Their calls are out together
 * (with RPCSEC_GSS one after the other); clnt_geterr tells of the last that ended,
 * whoever made it.  clnt_destroy: when no other thread uses it any more.
 *
 * clnt_call   RPC_TIMEDOUT after its timeout, or that of CLSET_TIMEOUT; a zero timeout
 *             sends and returns at once: RPC_SUCCESS if xres is NULL, else RPC_TIMEDOUT.
 *             RPC_CANTRECV, RPC_CANTSEND: see clnt_geterr's re_errno.  It is a
 *             cancellation point: a thread that is cancelled leaves no call behind.
 *             Its signals wait until the call ends, as over TCP.
 * clnt_destroy  waits for calls that were sent with a zero timeout until they have
 *             arrived, 2 s at most; those of a process that ends without it may be lost.
 * clnt_abort  the calls of other threads end with RPC_INTR.
 * clnt_control  as for TCP; CLGET_FD: a descriptor that becomes readable when the
 *             connection is lost (for poll only).  CLSET_XID: of the next call; it must
 *             differ from those of calls that are out.
 */
RPCRDMA_API CLIENT *clnt_rdma_create(const char *host, rpcprog_t program,
                                     rpcvers_t version,
                                     const struct rpcrdma_tirpc_options *options);
/* Looks up and connects @timeout long at most; NULL: 25 s. */
RPCRDMA_API CLIENT *clnt_rdma_create_timed(const char *host, rpcprog_t program,
                                           rpcvers_t version,
                                           const struct timeval *timeout,
                                           const struct rpcrdma_tirpc_options *options);
/* The highest version from @low to @high that the server has, found by calls of
 * procedure 0; if rpcbind does not know @high, at the port of another version. */
RPCRDMA_API CLIENT *clnt_rdma_create_vers(const char *host, rpcprog_t program,
                                          rpcvers_t *ret_version, rpcvers_t low,
                                          rpcvers_t high,
                                          const struct rpcrdma_tirpc_options *options);

/* ---- Server ---------------------------------------------------------------------
 *
 * @address "ADDR:PORT" as for rpcrdma_listen, port 0 = any free one: xp_port and
 * xp_ltaddr tell.  The SVCXPRT is registered with svc_run; programs are added by
 * svc_reg with a NULL netconfig, and the same dispatch functions may serve TCP at the
 * same time.  All clients are served by this one SVCXPRT: svc_getrpccaller says whose
 * request is being dispatched.
 *
 * A dispatch function that returns without a reply: the client is told SYSTEM_ERR,
 * since over RDMA silence would take one of its credits for ever.  svc_sendreply
 * returns when the reply was handed to the provider: what it named may be freed.
 * The requests of one SVCXPRT are dispatched by one thread at a time.  A dispatch
 * function may run the loop, and may destroy the SVCXPRT; but it must return: what is
 * left by longjmp, or by the end of the thread, stays unanswered for ever.  Arguments
 * are there until the reply.  After 16 requests other transports have their turn.
 */
RPCRDMA_API SVCXPRT *svc_rdma_create(const char *address,
                                     const struct rpcrdma_tirpc_options *options);
/*
 * svc_reg, and the rpcbind of this host is told where the program is: netid rdma, for
 * an IPv6 address rdma6, at the IPv6 any address both.  FALSE: svc_reg refused, it is no
 * SVCXPRT of ours, or rpcbind could not be told, and rpc_createerr says why: nothing
 * is registered then.  EEXIST: the program has another address there, where a server may
 * still answer; one where nobody does, as a killed server leaves it, is replaced.  Waits
 * for rpcbind 5 s at most, and 2 s for each address that it asks whether it is in use.
 */
RPCRDMA_API bool_t svc_rdma_reg(SVCXPRT *, rpcprog_t program, rpcvers_t version,
                                void (*dispatch)(struct svc_req *, SVCXPRT *));
/* Tells rpcbind that it is no longer there, if what it has is ours; 5 s at most.  The
 * dispatch function stays, since other transports may use it: svc_unreg removes it, and
 * the program's registrations under every netid.  svc_destroy does this for all that is
 * left, in 5 s at most. */
RPCRDMA_API void svc_rdma_unreg(SVCXPRT *, rpcprog_t program, rpcvers_t version);
/*
 * What programs write as svc_register, svc_reg, svc_unregister and pmap_unset, by the
 * macros below.  For an SVCXPRT of svc_rdma_create svc_register and svc_reg are
 * svc_rdma_reg, whatever protocol or netconfig they name; with 0 or NULL rpcbind is not
 * told, as ever.  Any other SVCXPRT is left to libtirpc.  svc_unregister and pmap_unset do as
 * libtirpc's, and take back what SVCXPRTs of this process have under rdma and rdma6.
 *
 * In a file that does not include this header svc_register does the same, by a symbol of
 * the library; svc_reg with a netconfig must not be used there.
 */
RPCRDMA_API bool_t svc_rdma_register(SVCXPRT *, u_long program, u_long version,
                                     void (*dispatch)(struct svc_req *, SVCXPRT *),
                                     int protocol);
RPCRDMA_API bool_t svc_rdma_reg_netconfig(SVCXPRT *, rpcprog_t program,
                                          rpcvers_t version,
                                          void (*dispatch)(struct svc_req *, SVCXPRT *),
                                          const struct netconfig *);
RPCRDMA_API void svc_rdma_unregister(u_long program, u_long version);
RPCRDMA_API bool_t svc_rdma_pmap_unset(u_long program, u_long version);
#define svc_register(xprt, prog, vers, dispatch, protocol)                             \
	svc_rdma_register(xprt, prog, vers, dispatch, protocol)
#define svc_reg(xprt, prog, vers, dispatch, nconf)                                     \
	svc_rdma_reg_netconfig(xprt, prog, vers, dispatch, nconf)
#define svc_unregister(prog, vers) svc_rdma_unregister(prog, vers)
#define pmap_unset(prog, vers)     svc_rdma_pmap_unset(prog, vers)

/* What the client whose request is being dispatched proved to be (rpcrdma/hostauth.h);
 * "" = nothing.  Valid until the dispatch function returns. */
RPCRDMA_API const char *svc_rdma_identity(const SVCXPRT *);

/* ---- RPCSEC_GSS ---------------------------------------------------------------------
 *
 * Kerberos V5, by libtirpc's functions, as over TCP: authgss_create, _create_default,
 * rpc_gss_seccreate, rpc_gss_set_defaults; rpc_gss_getcred, svcauth_gss_get_principal,
 * rpc_gss_svc_max_data_length in dispatch functions.  Under krb5 items move on their own
 * as ever; under krb5i and krb5p nothing does, binding or not [v2 §11.2.2.3].
 *
 * Clients: the calls of one AUTH go one after the other, even from several threads.  A
 * call that is out when its connection is lost is never sent again.  When the server has
 * lost the context (RPC_AUTHERROR, re_why RPCSEC_GSS_CREDPROBLEM or _CTXPROBLEM, after
 * a restart, say), libtirpc does not make a new one by itself: auth_destroy, and create.
 *
 * Servers: an SVCXPRT has up to 8192 contexts, 2048 for one address, of any number of
 * clients and connections.  A context ends when it was idle for a day, or its ticket has
 * expired.  When all are taken, a new one replaces the one that has been idle longest; if
 * that was used within the last ten seconds, the new one is refused.  Their keys are the keytab's
 * (KRB5_KTNAME): gss_principal names the service, since what rpc_gss_set_svc_name
 * and svcauth_gss_set_svc_name were told stays within libtirpc.  svc_principal of
 * rpc_gss_getcred is the one that the client had a ticket for.  Functions of
 * rpc_gss_set_callback are not called.  A request that was sent before, or whose number
 * is below the window of 1024, ends its connection.
 */

/* ---- Statistics ------------------------------------------------------------------ */

/* Octets of arguments and results of all handles of the process, by what became of
 * them here. */
struct rpcrdma_tirpc_stats {
	uint64_t calls, requests;
	uint64_t items_placed, items_copied;
	uint64_t
	        item_bytes_placed; /* of items: sent from, or received at, their place */
	uint64_t item_bytes_copied; /* ... found no place: copied on decoding */
	uint64_t bytes_referred;    /* no items; sent from their place */
	uint64_t bytes_copied;      /* no items; copied on encoding or decoding */
};
/* @transport: the engine's, connections that ended included.  Either may be NULL.  Any
 * thread.  -ENODEV: there was no handle yet. */
RPCRDMA_API int rpcrdma_tirpc_get_stats(struct rpcrdma_tirpc_stats *ret, size_t size,
                                        struct rpcrdma_stats *transport,
                                        size_t transport_size);

#ifdef __cplusplus
}
#endif
#endif
