/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider contract: RDMA as the rest of the library sees it.
 *
 * A provider makes endpoints.  An endpoint is one reliable connection (an RC
 * queue pair, an iWARP stream, a simulated pipe) together with its own
 * protection domain and its one completion queue.  prov/sim is the reference
 * meaning of every sentence below; tests/prov holds every provider to it.
 *
 * Normal path: connect or accept, RR_WC_CONNECTED, posts and completions,
 * disconnect, RR_WC_DISCONNECTED, destroy.
 *
 * Promises
 *  - Each successful post yields exactly one completion, also when flushed
 *    (status -ECANCELED) by the end of the connection.  A failed post yields
 *    none.  RR_WC_DISCONNECTED is the endpoint's last completion: every flush
 *    comes before it, and from it on no memory of ours is read or written on
 *    the peer's behalf.
 *  - Sends, Writes, Reads and Invalidates complete in the order of posting
 *    among their own kind; Receives complete in the order of posting, one per
 *    Send of the peer, in the peer's order.
 *  - When a Receive completes, all Writes that the peer posted before that
 *    Send are placed.  A Read is complete when its data is placed.
 *  - A Send, Write or Read completion means that the local memory may be
 *    reused; for Send and Write it does not mean that the peer has the data.
 *  - A region is remotely accessible from the return of register (on a device:
 *    for a peer that learns of it by a later Send of ours) until its
 *    invalidation completes (local, or remote by the peer's Send With
 *    Invalidate, reported in the Receive completion), or the end of the
 *    connection.  Handles are never valid on another endpoint, are hard to
 *    guess, and do not repeat soon.
 *  - Posts may be held back until flush; a caller flushes after each batch.
 *    Nothing posted waits for more than the next flush.  (iWARP, unless
 *    an RTR message was agreed on: a server's posts wait for the client's first
 *    message.)
 *  - Messages of the peer that arrive after our disconnect may still complete
 *    Receives, until RR_WC_DISCONNECTED.
 *  - Remote misuse (bad handle, range, access; a Send without Receive, or
 *    longer than it) ends that connection only: RR_WC_DISCONNECTED, with
 *    -EREMOTEIO if the peer misbehaved, -ECONNRESET if it vanished, 0 if it
 *    or we closed in order, -ETIMEDOUT, -EPROTO and others as they fit.
 *
 * What a device does not tell, verbs cannot promise.  A peer whose process died
 * is closed by its kernel, in order; a Send without a Receive is told to its
 * sender alone; siw tells neither end of a bad handle or a Terminate: such ends
 * may have status 0.  Handles are the device's own.  Octets that the peer moved by
 * itself are not counted.  siw lets a peer read whatever it knows the handle
 * of, and so is for tests.  tests/prov/rig.h lists these, and the suite asks for
 * all else.
 *
 * Threads: an endpoint belongs to one thread at a time.
 *
 * Every slot of the table is callable; an unsupported operation answers
 * -EOPNOTSUPP.
 */
#ifndef RR_PROV_PROV_H
#define RR_PROV_PROV_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/trace.h"

/* Private data that every provider carries: InfiniBand leaves a request that much.
 * There the peer finds zeros behind it; who reads it must know where it ends. */
#define RR_PROV_PRIVATE_MAX 56
#define RR_PROV_MAX_SGE     28 /* gather pieces of one Send or Write */

enum rr_wc_op {
	RR_WC_SEND,
	RR_WC_RECV,
	RR_WC_READ,
	RR_WC_WRITE,
	RR_WC_INVALIDATE,
	RR_WC_CONNECTED,    /* private data and limits can be asked for now */
	RR_WC_DISCONNECTED, /* last one; status says why */
};

struct rr_wc {
	enum rr_wc_op op;
	int status;          /* 0 or a negative errno */
	uint64_t token;      /* as given to the post; 0 for CONNECTED, DISCONNECTED */
	uint32_t len;        /* RECV: octets received */
	bool invalidated;    /* RECV: the peer invalidated a region ... */
	uint32_t inv_handle; /* ... this one */
};

struct rr_region {
	uint32_t handle; /* STag or R_key, as it goes into rdma_handle; not 0 */
	uint64_t offset; /* address of the first octet, as in rdma_offset */
};

/* What an endpoint can do, known from RR_WC_CONNECTED on. */
struct rr_prov_limits {
	uint32_t max_recv;      /* Receives that may be posted at once */
	uint32_t max_send;      /* Sends, Writes, Reads posted and not completed */
	uint32_t max_ord;       /* RDMA Reads we may have in progress (excess waits
			     inside the provider) */
	uint32_t max_msg;       /* octets of one Read or Write */
	bool remote_invalidate; /* the peer's Send With Invalidate ends a region of
				   ours (that ours does at the peer is for the
				   peer to say) */
};

/* Counted by every provider, for operations per RPC. */
struct rr_prov_counters {
	uint64_t sends, recvs, reads, writes;
	uint64_t registrations, local_invalidations, remote_invalidations;
	uint64_t bytes_sent, bytes_received; /* on the wire where known */
	uint64_t syscalls;                   /* for data, not for set-up */
};

/* Memory that stays mapped while the endpoint lives, so that a device may keep
 * it registered for local use (never for the peer's). */
struct rr_prov_memory {
	/* The stable block that holds all of [@p, @p + @len); false: none does,
	 * what is posted is registered for the operation, or copied if small. */
	bool (*block)(void *ctx, const void *p, size_t len, void **ret_base,
	              size_t *ret_len);
	void *ctx;
};

struct rr_prov_config {
	const struct rr_trace_sink
	        *trace;       /* lent for the provider's life; may be NULL */
	uint32_t conn_id;     /* for traces */
	const char *options;  /* provider's own, "key=value,..." or NULL; borrowed */
	rr_time handshake_ns; /* limit of connection set-up; 0 = 10 s */
	struct rr_prov_memory memory; /* block NULL: no memory is known to stay */
	uint32_t recvs; /* Receives that are posted at once at most; 0 = not known */
	void *instance; /* sim: its struct rr_sim_world; others: NULL */
};

struct rr_ep; /* endpoint: providers embed it first */
struct rr_prov_listener;

struct rr_prov_ops {
	const char *name;

	/* Begins to connect.  RR_WC_CONNECTED or RR_WC_DISCONNECTED follows.
	 * @priv (borrowed) goes to the server. */
	int (*connect)(const struct rr_prov_config *, const struct sockaddr *,
	               socklen_t, const void *priv, size_t priv_len, rr_time now,
	               struct rr_ep **ret);

	/* Listens.  @ret_addr gives the bound address (port 0 = any). */
	int (*listen)(const struct rr_prov_config *, const struct sockaddr *, socklen_t,
	              struct rr_prov_listener **ret, struct sockaddr_storage *ret_addr);
	int (*listener_fd)(const struct rr_prov_listener *);
	/* The next incoming connection, or -EAGAIN; -ESHUTDOWN: no more will come
	 * (its device went), close it.  @cfg becomes the endpoint's.
	 * The set-up goes on inside the endpoint; the provider accepts by
	 * itself with @priv as its private data.  RR_WC_CONNECTED follows. */
	int (*accept)(struct rr_prov_listener *, const struct rr_prov_config *cfg,
	              const void *priv, size_t priv_len, rr_time now,
	              struct rr_ep **ret);
	void (*listener_close)(struct rr_prov_listener *);

	/* Posts.  @sge is borrowed, the memory it names is lent until the
	 * completion.  -ENOTCONN before CONNECTED (post_recv excepted, which
	 * may come at once) and after the end; -ENOBUFS when a queue is full. */
	int (*post_recv)(struct rr_ep *, const struct rr_sge *, uint64_t token);
	/* @inv_handle 0 = plain Send, else Send With Invalidate. */
	int (*post_send)(struct rr_ep *, const struct rr_sge *, unsigned n,
	                 uint32_t inv_handle, uint64_t token);
	int (*post_write)(struct rr_ep *, const struct rr_sge *, unsigned n,
	                  uint32_t handle, uint64_t offset, uint64_t token);
	int (*post_read)(struct rr_ep *, const struct rr_sge *, uint32_t handle,
	                 uint64_t offset, uint64_t token);
	/* Makes @len octets at @base (lent until invalidated) accessible;
	 * @access is a sum of RR_ACCESS_*. */
	int (*register_mem)(struct rr_ep *, void *base, size_t len, unsigned access,
	                    struct rr_region *ret);
	/* Ends access.  RR_WC_INVALIDATE follows.  Unknown handle: -EINVAL. */
	int (*invalidate)(struct rr_ep *, uint32_t handle, uint64_t token);

	/* Sends out what was posted. */
	int (*flush)(struct rr_ep *, rr_time now);
	/* Moves octets and time on; call when the descriptor is ready, when
	 * deadline() has come, and after flush returned -EAGAIN. */
	void (*progress)(struct rr_ep *, rr_time now);
	/* Up to @max completions, oldest first; returns how many. */
	unsigned (*poll)(struct rr_ep *, struct rr_wc *wc, unsigned max);
	/* For epoll: a descriptor (-1: none, as in sim) and the events wanted now. */
	int (*fd)(const struct rr_ep *);
	uint32_t (*events)(const struct rr_ep *);
	rr_time (*deadline)(const struct rr_ep *);

	/* Orderly end: what was posted goes out, then the stream closes.
	 * RR_WC_DISCONNECTED follows, within a second also if the peer is
	 * silent.  Harmless when repeated. */
	void (*disconnect)(struct rr_ep *, rr_time now);
	/* Frees.  Allowed after RR_WC_DISCONNECTED was polled, and before it as an
	 * abort: then no completion follows and the peer sees a reset. */
	void (*destroy)(struct rr_ep *);

	void (*limits)(const struct rr_ep *, struct rr_prov_limits *ret);
	void (*counters)(const struct rr_ep *, struct rr_prov_counters *ret);
	/* The peer's private data (lent for the endpoint's life) and address. */
	const void *(*peer_private)(const struct rr_ep *, size_t *ret_len);
	int (*peer_addr)(const struct rr_ep *, struct sockaddr_storage *ret);
	int (*local_addr)(const struct rr_ep *, struct sockaddr_storage *ret);
	/* Returns why the connection ended, as a text for a user; "" if unknown. */
	const char *(*reason)(const struct rr_ep *);
};

struct rr_ep {
	const struct rr_prov_ops *ops;
};

#endif
