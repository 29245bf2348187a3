/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider contract: RDMA as the rest of the library sees it.
 *
 * A provider creates endpoints.  An endpoint is one reliable connection (an RC queue
 * pair, an iWARP stream, or a simulated pipe) with its own protection domain and
 * completion queue.  prov/sim is the reference implementation of this contract, and
 * tests/prov tests every provider against it.
 *
 * An endpoint's life: connect or accept, RR_WC_CONNECTED, posts and completions,
 * disconnect, RR_WC_DISCONNECTED, destroy.
 *
 * Every provider gives its caller eight guarantees.
 *
 *  1. Completion.  Each successful post yields exactly one completion, and a failed
 *     post yields none.  When the connection ends, each outstanding post completes
 *     with -ECANCELED.  RR_WC_DISCONNECTED is the last completion of an endpoint.
 *     From then on, neither the provider nor the peer reads or writes the caller's
 *     memory.
 *  2. Order.  Sends, Writes, Reads and Invalidates each complete in the order in
 *     which they were posted; there is no order between different kinds.  Receives
 *     complete in the order of posting, one for each Send from the peer, in the order
 *     in which the peer posted the Sends.
 *  3. Placement.  When a Receive completes, the data of all Writes that the peer
 *     posted before the Send is in place.  When a Read completes, its data is in
 *     place.
 *  4. Local memory.  When a Send, Write or Read completes, the caller may reuse the
 *     memory.  The completion of a Send or Write does not mean that the peer has
 *     the data.
 *  5. Regions.  The peer can access a region from the time register_mem returns until
 *     the region is invalidated or the connection ends.  (A device may grant access
 *     later, but before it sends the next Send.)  RR_WC_INVALIDATE reports the end of
 *     access.  If the peer invalidated the region by Send With Invalidate, the
 *     completion of the Receive reports it instead.  A handle is valid on one endpoint
 *     only, is hard to guess, and is not used again soon.
 *  6. Progress.  A provider may delay posts until flush, and the caller flushes after
 *     each batch.  A post waits for nothing but the next flush and the network, with
 *     one exception: on iWARP without an RTR message, a server's posts wait for the
 *     client's first message.
 *  7. After disconnect.  Messages from the peer may still arrive and complete
 *     Receives, until RR_WC_DISCONNECTED.
 *  8. Misuse.  A peer that misuses a connection loses that connection and no other.
 *     The following are misuse: an access with an invalid handle, an access outside a
 *     region, an access that the region does not permit, a Send for which there is no
 *     Receive, and a Send longer than its Receive.
 *
 * The status of RR_WC_DISCONNECTED is 0 after an orderly disconnect by either side,
 * -EREMOTEIO if the peer misused the connection, or -ECONNRESET if the peer vanished.
 * In other cases it is -ETIMEDOUT, -EPROTO or another suitable errno.
 *
 * Devices do not report every event, so the verbs provider cannot give all of these
 * guarantees.  The exceptions, which tests/prov/rig.h also lists, are the following;
 * the test suite checks everything else.
 *  - The status may be 0 although the peer misused the connection or vanished.  When
 *    a process dies, its kernel disconnects in an orderly way; only the sender learns
 *    of a Send without a Receive; siw reports neither an invalid handle nor a
 *    Terminate.
 *  - The device chooses the handles.
 *  - The provider does not count octets that the peer transfers by RDMA Read or Write.
 *  - rxe lets a peer invalidate a region of another connection whose handle the peer
 *    knows.
 *  - siw lets a peer read every region whose handle the peer knows.  siw is only for
 *    tests.
 *
 * Threads: an endpoint belongs to one thread at a time.
 *
 * Every function pointer in struct rr_prov_ops is set; an unsupported operation
 * returns -EOPNOTSUPP.
 */
#ifndef RR_PROV_PROV_H
#define RR_PROV_PROV_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/trace.h"

/* Maximum number of octets of private data, set by the InfiniBand connection request.
 * InfiniBand pads private data with zeros, so the data must contain its length. */
#define RR_PROV_PRIVATE_MAX 56
#define RR_PROV_MAX_SGE     28 /* maximum number of pieces in a Send or Write */

enum rr_wc_op {
	RR_WC_SEND,
	RR_WC_RECV,
	RR_WC_READ,
	RR_WC_WRITE,
	RR_WC_INVALIDATE,
	RR_WC_CONNECTED,    /* the peer's private data and the limits are known */
	RR_WC_DISCONNECTED, /* the last completion; status: how the connection ended */
};

struct rr_wc {
	enum rr_wc_op op;
	int status;          /* 0 or a negative errno */
	uint64_t token;      /* the post's argument @token; 0 if there was no post */
	uint32_t len;        /* RECV: octets received */
	bool invalidated;    /* RECV: a Send With Invalidate invalidated our region */
	uint32_t inv_handle; /* RECV: the handle of the invalidated region */
};

struct rr_region {
	uint32_t handle;  /* STag or R_key, for rdma_handle; never 0 */
	uint64_t offset;  /* address of the first octet, for rdma_offset */
	bool irrevocable; /* the peer must not invalidate the region: the device cannot
	                   * do it, or the handle is also that of other memory */
};

/* An endpoint's limits, known from RR_WC_CONNECTED on. */
struct rr_prov_limits {
	uint32_t max_recv; /* maximum number of outstanding Receives */
	uint32_t max_send; /* maximum number of outstanding Sends, Writes and Reads */
	uint32_t max_ord;  /* maximum number of RDMA Reads in progress; others wait */
	uint32_t max_ird;  /* maximum number of RDMA Reads that the peer may have in
	                    * progress; 0 = the peer cannot read */
	uint32_t max_msg;  /* maximum number of octets in one Read or Write */
	/* True if the peer can invalidate our regions by Send With Invalidate. */
	bool remote_invalidate;
	/* True if our Sends can invalidate the peer's regions. */
	bool send_invalidate;
	/* True if the connection survives when the peer invalidates a region that
	 * invalidate has already closed.  RDMA protocols allow a device to end the
	 * connection in this case. */
	bool survives_inv_twice;
};

/* Counters that every provider keeps, to measure the operations per RPC. */
struct rr_prov_counters {
	uint64_t sends, recvs, reads, writes;
	uint64_t sends_inv; /* those of @sends that invalidate */
	uint64_t registrations, local_invalidations, remote_invalidations;
	uint64_t bytes_sent, bytes_received; /* octets on the wire, if known */
	uint64_t syscalls;                   /* to transfer data, excluding set-up */
};

/* The caller's memory.  The functions may be called from progress; they must not call
 * into the endpoint. */
struct rr_prov_memory {
	/* Finds the block of memory that contains [@p, @p + @len) and stays mapped as
	 * long as the endpoint exists ("lasting").  A device may keep the block
	 * registered for local use, without giving the peer access.  Returns false if
	 * there is no such block; the provider then registers the memory for each
	 * operation, or copies a small amount of memory. */
	bool (*block)(void *ctx, const void *p, size_t len, void **ret_base,
	              size_t *ret_len);
	/* Provides @len octets of memory, at least 1 and at most the length posted, for
	 * the message that arrives in the pooled Receive posted with @token.  If a
	 * longer part of the message follows, the function is called again; the first
	 * @have octets are then preserved, and the memory may move.  Returns NULL if
	 * there is no memory: the connection then ends with -ENOMEM.  The memory is
	 * lent until the Receive completes. */
	void *(*receive)(void *ctx, uint64_t token, uint32_t have, uint32_t len);
	void *ctx;
};

/* Buffers for octets that are being sent or received.  The endpoints of one thread use
 * them in turn: an endpoint has one only while it has such octets.  All members but
 * @mem are initially zero.  The owner frees @spare with @mem when no endpoint is
 * left. */
struct rr_prov_buffers {
	struct rr_mem mem; /* source of the buffers */
	struct rr_prov_spare {
		void *p; /* a buffer that no endpoint uses, or NULL */
		size_t bytes;
	} spare[2];
};

struct rr_prov_config {
	const struct rr_trace_sink *trace; /* lent until destroy; may be NULL */
	uint32_t conn_id;                  /* for traces */
	const char *options;  /* provider options, "key=number,..."; NULL: defaults */
	rr_time handshake_ns; /* time limit for connection set-up; 0 means 10 s */
	/* @block may be NULL, @receive too if no Receive is pooled */
	struct rr_prov_memory memory;
	/* lent until destroy; NULL: the endpoint has buffers of its own, from the heap */
	struct rr_prov_buffers *buffers;
	uint32_t recvs; /* limit on posted Receives; 0: unknown */
	void *instance; /* sim: its struct rr_sim_world; others: NULL */
};

struct rr_ep; /* an endpoint: the first member of each provider's structure */
struct rr_prov_listener;

struct rr_prov_ops {
	const char *name;
	/* True if limits.remote_invalidate is true for every endpoint, on any device.
	 * Version 1 announces this in private data, before an endpoint exists. */
	bool remote_invalidate;
	/* True if Receives may be pooled: posted without memory, for which the provider
	 * calls rr_prov_memory.receive when a message arrives. */
	bool pooled_receives;

	/* Opens a descriptor that becomes readable when a device that the provider
	 * keeps open is removed.  The caller then calls read_removals, and eventually
	 * closes the descriptor.  Returns -EOPNOTSUPP if the provider keeps no device
	 * open, or another error if the kernel does not report removals. */
	int (*watch_removals)(void);
	void (*read_removals)(int fd);

	/* Starts to connect.  RR_WC_CONNECTED or RR_WC_DISCONNECTED follows.  The
	 * server receives @priv as private data. */
	int (*connect)(const struct rr_prov_config *, const struct sockaddr *,
	               socklen_t, const void *priv, size_t priv_len, rr_time now,
	               struct rr_ep **ret);

	/* Listens on an address; port 0 means any free port.  Stores the bound address
	 * in @ret_addr. */
	int (*listen)(const struct rr_prov_config *, const struct sockaddr *, socklen_t,
	              struct rr_prov_listener **ret, struct sockaddr_storage *ret_addr);
	int (*listener_fd)(const struct rr_prov_listener *);
	/* Accepts the next incoming connection, and sends @priv as private data.
	 * RR_WC_CONNECTED or RR_WC_DISCONNECTED follows.  Returns -EAGAIN if no
	 * connection is waiting, or -ESHUTDOWN if the device or the address has been
	 * removed.  After -ESHUTDOWN no connection arrives, and the caller must close
	 * the listener. */
	int (*accept)(struct rr_prov_listener *, const struct rr_prov_config *cfg,
	              const void *priv, size_t priv_len, rr_time now,
	              struct rr_ep **ret);
	/* Takes the next incoming connection out of a listener.  Stores a listener in @ret
	 * whose only connection it is, for accept and listener_close in any one thread,
	 * and the peer's address in @ret_peer (AF_UNSPEC if unknown).  Returns the errors
	 * of accept, or -EOPNOTSUPP if connections cannot be accepted elsewhere. */
	int (*take)(struct rr_prov_listener *, struct rr_prov_listener **ret,
	            struct sockaddr_storage *ret_peer);
	void (*listener_close)(struct rr_prov_listener *);

	/* The post functions.  The gather list @sge need not outlive the call; the
	 * memory that it lists is lent until the completion.  A post returns -ENOTCONN
	 * after the connection has ended and, except for post_recv, before
	 * RR_WC_CONNECTED.  It returns -ENOBUFS if a queue is full, -EINVAL if there
	 * are more than RR_PROV_MAX_SGE pieces, or -EMSGSIZE if their total length
	 * exceeds max_msg. */

	/* If the base of @sge is NULL, the Receive is pooled: its memory is provided when
	 * a message arrives, and before the Receive completes with status 0. */
	int (*post_recv)(struct rr_ep *, const struct rr_sge *, uint64_t token);
	/* @inv_handle: the peer's handle for a Send With Invalidate; 0 for a Send. */
	int (*post_send)(struct rr_ep *, const struct rr_sge *, unsigned n,
	                 uint32_t inv_handle, uint64_t token);
	int (*post_write)(struct rr_ep *, const struct rr_sge *, unsigned n,
	                  uint32_t handle, uint64_t offset, uint64_t token);
	/* Returns -EOPNOTSUPP if max_ord is 0. */
	int (*post_read)(struct rr_ep *, const struct rr_sge *, uint32_t handle,
	                 uint64_t offset, uint64_t token);
	/* Gives the peer access to @len octets at @base, which are lent until the
	 * region is invalidated.  @access is a combination of RR_ACCESS_*. */
	int (*register_mem)(struct rr_ep *, void *base, size_t len, unsigned access,
	                    struct rr_region *ret);
	/* Ends the peer's access to a region.  RR_WC_INVALIDATE follows.  Returns
	 * -EINVAL for an unknown handle. */
	int (*invalidate)(struct rr_ep *, uint32_t handle, uint64_t token);

	/* Sends the posted operations.  Returns -EAGAIN if progress must send some of
	 * them later. */
	int (*flush)(struct rr_ep *, rr_time now);
	/* Receives messages, continues sending, and ends the connection if a time
	 * limit has passed.  The caller must call progress when the descriptor is
	 * ready, when deadline() has passed, and after flush has returned -EAGAIN. */
	void (*progress)(struct rr_ep *, rr_time now);
	/* Moves completions, oldest first, to @wc: @max, or all if there are fewer.
	 * Returns the number moved. */
	unsigned (*poll)(struct rr_ep *, struct rr_wc *wc, unsigned max);
	/* Returns the descriptor to poll, or -1 if there is none (sim). */
	int (*fd)(const struct rr_ep *);
	/* Returns the epoll events for which the caller must wait now. */
	uint32_t (*events)(const struct rr_ep *);
	/* Returns the time by which progress must be called, or RR_TIME_NEVER. */
	rr_time (*deadline)(const struct rr_ep *);

	/* Starts an orderly disconnect: sends the posted operations, then disconnects.
	 * RR_WC_DISCONNECTED follows, within a second if the peer does not respond.
	 * A second call has no effect. */
	void (*disconnect)(struct rr_ep *, rr_time now);
	/* Frees the endpoint.  If RR_WC_DISCONNECTED has not been polled, the
	 * connection is aborted: no completion follows, and the peer sees a reset. */
	void (*destroy)(struct rr_ep *);

	void (*limits)(const struct rr_ep *, struct rr_prov_limits *ret);
	void (*counters)(const struct rr_ep *, struct rr_prov_counters *ret);
	/* Returns the peer's private data, lent until destroy. */
	const void *(*peer_private)(const struct rr_ep *, size_t *ret_len);
	int (*peer_addr)(const struct rr_ep *, struct sockaddr_storage *ret);
	int (*local_addr)(const struct rr_ep *, struct sockaddr_storage *ret);
	/* Returns a message for the user about why the connection ended; "" if
	 * unknown. */
	const char *(*reason)(const struct rr_ep *);
};

struct rr_ep {
	const struct rr_prov_ops *ops;
};

#endif
