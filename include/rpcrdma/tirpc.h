/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs libtirpc programs over RDMA. rpcgen's output is used unchanged; only the call
 * that creates the CLIENT or the SVCXPRT changes.  Link with -lrpcrdma -ltirpc, in this
 * order.
 *
 * All handles of a process share one engine (rpcrdma.h).  It runs in a library thread
 * that starts with the first handle, blocks all signals, and stays until the process
 * ends.  XDR routines and dispatch functions never run in the library thread; they run
 * in the thread that calls clnt_call or svc_run.  A child of fork() must make handles
 * of its own.  In a child that uses its parent's handle, calls end with RPC_CANTSEND
 * (ENOTCONN), and nothing is received or answered.  There, clnt_destroy and svc_destroy
 * only free the child's memory.
 *
 * Errors are reported as libtirpc does: a function that creates a handle returns NULL
 * and fills rpc_createerr.
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
 * A binding lists the items of a program's procedures that may move by RDMA straight to
 * their destination, without a copy on either side.  Client and server must agree on
 * the binding, as they agree on the .x file [v2 §A].  A program without a binding works
 * with messages of any size: a Call or Reply of more than chunk_bytes moves by RDMA as
 * a whole.  Its sender sends long opaques in place; its receiver copies them.
 */

/* An item: the octets of an opaque<> or string<> that is a direct member of the
 * argument or result, or of an arm of its union.  @offset locates the pointer to the
 * octets within the structure that is passed to clnt_call, svc_getargs or
 * svc_sendreply. */
struct rpcrdma_tirpc_item {
	size_t offset;
	size_t max_bytes; /* maximum length.  The library allocates a buffer of this
			     size for a result; the default limits allow 256 MiB in
			     total */
};
#define RPCRDMA_TIRPC_ITEM(type, member, max)                                          \
	{                                                                              \
		offsetof(type, member), (max)                                          \
	}

/*
 * The items of a procedure, in the order of the .x file.  The library allocates a
 * client's result with malloc at its maximum length.  If the program sets the pointer
 * before the call, it must point to @max_bytes octets (one more for a string): the
 * octets are placed there, as XDR routines do, and a longer result ends the call with
 * RPC_CANTDECODERES.  Under krb5i and krb5p only the .x file bounds the length.  A
 * server's arguments are allocated with malloc.  Decoded arguments and results belong
 * to the program (clnt_freeres, svc_freeargs, xdr_free).  XDR routines that the program
 * writes itself must allocate an item's memory with malloc, too.
 */
struct rpcrdma_tirpc_procedure {
	rpcproc_t procedure;
	const struct rpcrdma_tirpc_item *args;
	unsigned n_args; /* at most 8 */
	const struct rpcrdma_tirpc_item *results;
	unsigned n_results; /* at most 8 */
	size_t reply_bytes; /* maximum length of the other results; 0 = small */
};

struct rpcrdma_tirpc_binding {
	rpcprog_t program;
	rpcvers_t version;
	const struct rpcrdma_tirpc_procedure *procs;
	unsigned n_procs;
};

struct rpcrdma_tirpc_options {
	size_t size; /* RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options) */
	/* Limits of the connection.  NULL, or a zero member, selects the default.  The
	 * defaults of a client allow messages and chunks of up to 256 MiB.  A server
	 * has the defaults of rpcrdma_conn_options, because any host may call it; one
	 * Call that is moved as a whole by RDMA may use all of max_held_bytes, 32 MiB.
	 * If max_message_bytes is larger than that, chunks of that size are allowed
	 * too, and max_held_bytes becomes twice that size, within rpcrdma_budget_set.
	 */
	const struct rpcrdma_conn_options *conn;
	/* The array and the bindings are lent until the handle is destroyed. */
	const struct rpcrdma_tirpc_binding *const *bindings;
	unsigned n_bindings;
	/* Client: when a connection is lost, resends outstanding calls on the next
	 * connection, with the same XIDs.  Set this if every procedure may be executed
	 * twice or the server has a reply cache.  If false, outstanding calls end with
	 * RPC_CANTRECV, as over TCP.  In either case the CLIENT reconnects for the next
	 * call. */
	bool resend;
	/* Server: how long svc_sendreply waits for a client to accept the reply before
	 * the library closes the connection.  Default 30 s. */
	uint64_t send_ns;
	/* Client: transports in the order to try, see below; NULL = "rdma". */
	const char *netids;
	unsigned tcp_port; /* the program's TCP port; 0 = ask rpcbind */
	/* Client: called in the thread that creates the CLIENT when the first netid is
	 * not used.  @text is "HOST: no RDMA (REASON): using TCP", without a newline.
	 * NULL: the text is written to stderr. */
	void (*notice)(const char *text, void *arg);
	void *notice_arg;
	/* Server: name of the service whose key is used to accept RPCSEC_GSS contexts,
	 * such as "nfs@HOST"; copied.  NULL: any key in the keytab. */
	const char *gss_principal;
	/* Client: a Call longer than this, not counting items, moves by RDMA as a
	 * whole.  If the procedure has no binding, a Reply that is expected to be
	 * longer moves in the same way.  SIZE_MAX = never.  0 = 64 KiB, at which size
	 * an RDMA Read takes as long as 16 messages. */
	size_t chunk_bytes;
	/* Client: size of the Reply chunk for a call to a procedure without a binding.
	 * In version 2, used only until the CLIENT has received a Reply of that
	 * procedure.  Afterwards the chunk has the size of the longest recent Reply,
	 * but at most max_message_bytes.  A longer Reply is sent in several parts; in
	 * version 1 it is lost, and the call ends with RPC_CANTRECV (EMSGSIZE).  0 = 1
	 * MiB minus 4 KiB. */
	size_t reply_bytes;
};

/* ---- Client -------------------------------------------------------------------
 *
 * @host is "HOST" or "HOST:PORT", with brackets around an IPv6 address.  PORT is the
 * RDMA port; without it, the library asks the host's rpcbind (rpcrdma_lookup), and uses
 * port 20049 for NFS if there is no answer.  @options is borrowed; NULL = all defaults.
 * The returned CLIENT is connected and has AUTH_NONE; clnt_destroy frees it.
 *
 * Transports: netids lists up to four, separated by commas, each at most once:
 *   "rdma", "rdma6"  RDMA, at any address of the host, or only at its IPv6 addresses
 *   "tcp", "tcp6"    TCP, with the same choice of addresses.  The CLIENT is libtirpc's;
 *                    the rules below about calls and options do not apply to it.  Its
 *                    port is tcp_port, or the port from rpcbind.
 *   "netpath"        must be the only entry; the list is in the environment variable
 *                    NETPATH, as for libtirpc, separated by colons.  Other netids in
 *                    NETPATH are ignored.  If NETPATH is unset: "rdma,tcp".
 * The library uses the first transport that connects; cl_netid is then "rdma", "rdma6",
 * "tcp" or "tcp6", depending on the address.  Each attempt gets an equal share of the
 * remaining time.  If no transport connects, rpc_createerr has the first transport's
 * error.  Host authentication with REQUIRE excludes TCP, which does not support it
 * (EINVAL).
 *
 * Threads: several threads may use a CLIENT at the same time.  Their calls are
 * outstanding together; with RPCSEC_GSS, they are made one at a time.  clnt_geterr
 * returns the error of the call that ended last, in any thread.  No other thread may
 * use the CLIENT during clnt_destroy.
 *
 * clnt_call     returns RPC_TIMEDOUT after its timeout, or the CLSET_TIMEOUT value.
 *               With a zero timeout it sends and returns immediately: RPC_SUCCESS if
 *               xres is NULL, otherwise RPC_TIMEDOUT.  For RPC_CANTRECV and
 *               RPC_CANTSEND, re_errno from clnt_geterr has the cause.  clnt_call is a
 *               cancellation point; if the thread is cancelled, so is the call.
 *               Signals to the thread wait until the call ends, as over TCP.
 * clnt_destroy  waits at most 2 s until calls with a zero timeout have arrived.  A
 *               process that ends without clnt_destroy may lose such calls.
 * clnt_abort    ends the calls of other threads with RPC_INTR.
 * clnt_control  works as for TCP.  CLGET_FD gets a descriptor, for poll only, that
 *               becomes readable when the connection is lost.  CLSET_XID sets the XID of
 *               the next call, which must differ from every outstanding call's XID.
 */
RPCRDMA_API CLIENT *clnt_rdma_create(const char *host, rpcprog_t program,
                                     rpcvers_t version,
                                     const struct rpcrdma_tirpc_options *options);
/* Does what clnt_rdma_create does, but limits the time for look-up and connection to
 * @timeout; NULL = 25 s. */
RPCRDMA_API CLIENT *clnt_rdma_create_timed(const char *host, rpcprog_t program,
                                           rpcvers_t version,
                                           const struct timeval *timeout,
                                           const struct rpcrdma_tirpc_options *options);
/* Does what clnt_rdma_create does, with the highest version from @low to @high that the
 * server supports; calls procedure 0 to find it.  If rpcbind has no entry for @high,
 * uses the port of another version. */
RPCRDMA_API CLIENT *clnt_rdma_create_vers(const char *host, rpcprog_t program,
                                          rpcvers_t *ret_version, rpcvers_t low,
                                          rpcvers_t high,
                                          const struct rpcrdma_tirpc_options *options);

/* ---- Server ---------------------------------------------------------------------
 *
 * @address is "ADDR:PORT" as for rpcrdma_listen; port 0 selects a free port, see
 * xp_port and xp_ltaddr.  The SVCXPRT is registered with svc_run.  svc_reg with a NULL
 * netconfig adds programs; the same dispatch functions may serve TCP at the same time.
 * One SVCXPRT serves all clients; svc_getrpccaller returns the address of the client
 * whose request is being dispatched.
 *
 * If a dispatch function returns without a reply, the client gets SYSTEM_ERR.  Over
 * RDMA a missing reply would cost the client one of its credits forever.  svc_sendreply
 * returns when the provider has accepted the reply; the reply's memory may then be
 * freed.  Only one thread at a time dispatches the requests of an SVCXPRT.  A dispatch
 * function may run the loop, and may destroy the SVCXPRT, but it must return: if it is
 * left by longjmp, or its thread exits, the request is never answered.  Arguments are
 * valid until the reply.  After 16 requests, other transports are served.
 */
RPCRDMA_API SVCXPRT *svc_rdma_create(const char *address,
                                     const struct rpcrdma_tirpc_options *options);
/*
 * Does what svc_reg does, and registers the program with the rpcbind of this host:
 * under netid rdma, under rdma6 for an IPv6 address, or under both for the IPv6
 * wildcard address.  Returns FALSE, and registers nothing, if svc_reg refuses,
 * svc_rdma_create did not create the SVCXPRT, or rpcbind fails; rpc_createerr has the
 * reason.  EEXIST means that the program is registered at another address, where a
 * server may still answer; an address that a killed server left is replaced.  Waits at
 * most 5 s for rpcbind, and 2 s for each address that it probes.
 */
RPCRDMA_API bool_t svc_rdma_reg(SVCXPRT *, rpcprog_t program, rpcvers_t version,
                                void (*dispatch)(struct svc_req *, SVCXPRT *));
/* Removes the program's registration from rpcbind, if it is unchanged, within 5 s.  The
 * dispatch function stays registered, since other transports may use it; svc_unreg
 * removes it, along with the program's registrations under every netid.  svc_destroy
 * removes the registrations of all the SVCXPRT's programs within 5 s. */
RPCRDMA_API void svc_rdma_unreg(SVCXPRT *, rpcprog_t program, rpcvers_t version);
/*
 * The macros below replace svc_register, svc_reg, svc_unregister and pmap_unset of
 * libtirpc.  For an SVCXPRT from svc_rdma_create, svc_register and svc_reg do what
 * svc_rdma_reg does, for any protocol or netconfig; with 0 or NULL, as in libtirpc,
 * they do not register with rpcbind.  Other SVCXPRTs are passed to libtirpc.
 * svc_unregister and pmap_unset do what libtirpc's do, and also remove the
 * registrations that SVCXPRTs of this process have under rdma and rdma6.
 *
 * In a file that does not include this header, the library's svc_register function does
 * the same; such a file must not use svc_reg with a netconfig.
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

/* Returns the identity that the client of the dispatched request proved
 * (rpcrdma/hostauth.h); "" = none.  Valid until the dispatch function returns. */
RPCRDMA_API const char *svc_rdma_identity(const SVCXPRT *);

/* ---- RPCSEC_GSS ---------------------------------------------------------------------
 *
 * Programs use Kerberos 5 through the same functions of libtirpc as over TCP:
 * authgss_create, _create_default, rpc_gss_seccreate, rpc_gss_set_defaults;
 * rpc_gss_getcred, svcauth_gss_get_principal, rpc_gss_svc_max_data_length in dispatch
 * functions.  Items move by RDMA under krb5, but not under krb5i and krb5p, even with a
 * binding [v2 §11.2.2.3].
 *
 * Clients: calls with the same AUTH are made one at a time, even from several threads.
 * A call that is outstanding when its connection is lost is never sent again.  If the
 * server has lost the context, for instance in a restart, calls end with RPC_AUTHERROR
 * and re_why RPCSEC_GSS_CREDPROBLEM or _CTXPROBLEM.  libtirpc does not make a new
 * context: call auth_destroy and create the AUTH again.
 *
 * Servers: an SVCXPRT keeps up to 8192 contexts, at most 2048 for one address, for any
 * number of clients and connections.  A context ends when it has been idle for a day or
 * its ticket has expired.  When the maximum is reached, a new context replaces the
 * context that has been idle longest; if that context was used within the last ten
 * seconds, the new context is refused.  The keys come from the keytab (KRB5_KTNAME).
 * gss_principal sets the service, since libtirpc does not pass on the names given to
 * rpc_gss_set_svc_name and svcauth_gss_set_svc_name.  svc_principal from
 * rpc_gss_getcred is the principal in the client's ticket.  Functions set by
 * rpc_gss_set_callback are not called.  A replayed request, or one whose sequence
 * number is below the window of 1024, ends its connection.
 */

/* ---- Statistics ------------------------------------------------------------------ */

/* Counters for all handles of the process: octets of arguments and results, by how they
 * were moved. */
struct rpcrdma_tirpc_stats {
	uint64_t calls, requests;
	uint64_t items_placed, items_copied;
	uint64_t item_bytes_placed; /* octets of items that were sent from or received
				       in place */
	uint64_t item_bytes_copied; /* octets of items that were copied when decoded */
	uint64_t bytes_referred;    /* other octets that were sent in place */
	uint64_t bytes_copied;      /* other octets that were copied when encoded or
				       decoded */
};
/* Fills in these counters in @ret.  In @transport, fills in the engine's counters,
 * including those of ended connections.  @ret or @transport may be NULL.  Any thread.
 * Returns -ENODEV if no handle has been created yet. */
RPCRDMA_API int rpcrdma_tirpc_get_stats(struct rpcrdma_tirpc_stats *ret, size_t size,
                                        struct rpcrdma_stats *transport,
                                        size_t transport_size);

#ifdef __cplusplus
}
#endif
#endif
