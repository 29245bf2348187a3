/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider contract: RDMA as the rest of the library sees it.
 *
 * A provider makes endpoints.  An endpoint is one reliable connection (an RC queue
 * pair, an iWARP stream, or a simulated pipe) with a protection domain and a
 * completion queue of its own.  prov/sim is the reference implementation of this
 * contract, and tests/prov holds every provider to it.
 *
 * Life of an endpoint: connect or accept, RR_WC_CONNECTED, posts and completions,
 * disconnect, RR_WC_DISCONNECTED, destroy.
 *
 * Every provider keeps eight promises to its caller.
 *
 *  1. Completion.  Each successful post yields exactly one completion, and a failed
 *     post yields none.  The end of the connection flushes what is still posted:
 *     each such post completes with -ECANCELED.  RR_WC_DISCONNECTED is the last
 *     completion of an endpoint.  From then on neither the provider nor the peer
 *     reads or writes the caller's memory.
 *  2. Order.  Sends, Writes, Reads and Invalidates each complete in the order in
 *     which they were posted; there is no order between two kinds.  Receives
 *     complete in the order of posting, one for each Send of the peer, in the
 *     order in which the peer posted the Sends.
 *  3. Placement.  When a Receive completes, the data of all Writes that the peer
 *     posted before the Send is in place.  When a Read completes, its data is in
 *     place.
 *  4. Local memory.  When a Send, Write or Read completes, the caller may reuse the
 *     memory.  The completion of a Send or Write does not mean that the peer has
 *     the data.
 *  5. Regions.  The peer can access a region from the return of register_mem until
 *     the region is invalidated or the connection ends.  (A device may open the
 *     region later, but before it sends the next Send.)  The end of access is
 *     reported: by RR_WC_INVALIDATE, or, if the peer invalidated the region by Send
 *     With Invalidate, in the completion of the Receive.  A handle is valid on one
 *     endpoint only, is hard to guess, and is not used again soon.
 *  6. Progress.  A provider may hold posts back until flush, and the caller flushes
 *     after each batch.  No post waits for anything but the next flush and the
 *     network.  One exception: on iWARP without an RTR message, what a server posts
 *     waits for the client's first message.
 *  7. After disconnect.  Messages of the peer may still arrive and complete Receives,
 *     until RR_WC_DISCONNECTED.
 *  8. Misuse.  An access with an invalid handle, outside a region or without the
 *     right to it, a Send without a Receive, and a Send longer than its Receive end
 *     the connection of the peer that did it, and no other.
 *
 * The status of RR_WC_DISCONNECTED is -EREMOTEIO if the peer misused the connection,
 * -ECONNRESET if the peer vanished, 0 if either side closed in order, and -ETIMEDOUT,
 * -EPROTO or another errno as it fits.
 *
 * Some events stay inside a device, so that the verbs provider cannot keep all of
 * this.  tests/prov/rig.h lists the exceptions; the test suite asks for all else.
 *  - The status may be 0 although the peer misused the connection or vanished.  The
 *    kernel of a peer whose process died closes in order; only the sender learns of
 *    a Send without a Receive; siw reports neither an invalid handle nor a
 *    Terminate.
 *  - The device chooses the handles.
 *  - Octets that the peer moved by RDMA Read or Write are not counted.
 *  - siw lets a peer read every region whose handle the peer knows.  It is for tests.
 *
 * Threads: an endpoint belongs to one thread at a time.
 *
 * Every slot of the table can be called; an unsupported operation returns
 * -EOPNOTSUPP.
 */
#ifndef RR_PROV_PROV_H
#define RR_PROV_PROV_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/trace.h"

/* Octets of private data that every provider carries: the room of an InfiniBand
 * connection request.  InfiniBand pads them with zeros, so that their format must show
 * where they end. */
#define RR_PROV_PRIVATE_MAX 56
#define RR_PROV_MAX_SGE     28 /* gather pieces of one Send or Write */

enum rr_wc_op {
	RR_WC_SEND,
	RR_WC_RECV,
	RR_WC_READ,
	RR_WC_WRITE,
	RR_WC_INVALIDATE,
	RR_WC_CONNECTED,    /* private data and limits are known */
	RR_WC_DISCONNECTED, /* the last completion; status: how the connection ended */
};

struct rr_wc {
	enum rr_wc_op op;
	int status;          /* 0 or a negative errno */
	uint64_t token;      /* as passed to the post; 0: CONNECTED, DISCONNECTED */
	uint32_t len;        /* RECV: octets received */
	bool invalidated;    /* RECV: by a Send With Invalidate of a region ... */
	uint32_t inv_handle; /* ... with this handle */
};

struct rr_region {
	uint32_t handle; /* STag or R_key, for rdma_handle; never 0 */
	uint64_t offset; /* address of the first octet, for rdma_offset */
};

/* Limits of an endpoint, known from RR_WC_CONNECTED on. */
struct rr_prov_limits {
	uint32_t max_recv; /* Receives posted at once */
	uint32_t max_send; /* Sends, Writes and Reads posted and not completed */
	uint32_t max_ord;  /* RDMA Reads in progress; more wait inside the provider */
	uint32_t max_msg;  /* octets of one Read or Write */
	/* The peer's Send With Invalidate invalidates a region of ours.  Whether ours
	 * invalidates a region of the peer, only the peer knows. */
	bool remote_invalidate;
};

/* Counted by every provider, to state operations per RPC. */
struct rr_prov_counters {
	uint64_t sends, recvs, reads, writes;
	uint64_t registrations, local_invalidations, remote_invalidations;
	uint64_t bytes_sent, bytes_received; /* on the wire, where the provider knows */
	uint64_t syscalls;                   /* that move data; not those of set-up */
};

/* Memory that stays mapped while the endpoint lives.  A device may keep it registered
 * for local use, without rights for the peer. */
struct rr_prov_memory {
	/* Finds the stable block that holds all of [@p, @p + @len).  Returns false if
	 * there is none; then the memory is registered for each operation, or copied
	 * if it is small. */
	bool (*block)(void *ctx, const void *p, size_t len, void **ret_base,
	              size_t *ret_len);
	void *ctx;
};

struct rr_prov_config {
	const struct rr_trace_sink *trace; /* lent until destroy; may be NULL */
	uint32_t conn_id;                  /* for traces */
	const char *options;  /* the provider's, "key=value,..."; NULL: defaults */
	rr_time handshake_ns; /* limit of connection set-up; 0: 10 s */
	struct rr_prov_memory memory; /* block NULL: no memory is known to be stable */
	uint32_t recvs;               /* most Receives posted at once; 0: not known */
	void *instance;               /* sim: its struct rr_sim_world; others: NULL */
};

struct rr_ep; /* an endpoint; each provider embeds it first in its own */
struct rr_prov_listener;

struct rr_prov_ops {
	const char *name;
	/* Each endpoint will have limits.remote_invalidate, whatever its device: private
	 * data of version 1 state it before there is an endpoint. */
	bool remote_invalidate;

	/* Opens a descriptor that is readable when a device goes that the provider
	 * keeps open; the caller then calls read_removals, and closes the descriptor
	 * in the end.  Returns -EOPNOTSUPP if the provider keeps no device open, or
	 * another error if the kernel does not report removals. */
	int (*watch_removals)(void);
	void (*read_removals)(int fd);

	/* Begins to connect.  RR_WC_CONNECTED or RR_WC_DISCONNECTED follows.  The
	 * server gets @priv as private data. */
	int (*connect)(const struct rr_prov_config *, const struct sockaddr *,
	               socklen_t, const void *priv, size_t priv_len, rr_time now,
	               struct rr_ep **ret);

	/* Listens.  Port 0 is any; @ret_addr gets the bound address. */
	int (*listen)(const struct rr_prov_config *, const struct sockaddr *, socklen_t,
	              struct rr_prov_listener **ret, struct sockaddr_storage *ret_addr);
	int (*listener_fd)(const struct rr_prov_listener *);
	/* Takes the next incoming connection, and answers it with @priv as private
	 * data.  The endpoint has the configuration @cfg and finishes set-up by itself:
	 * RR_WC_CONNECTED or RR_WC_DISCONNECTED follows.  Returns -EAGAIN if no
	 * connection waits, and -ESHUTDOWN if the device or the address is gone: no
	 * further connection will arrive, and the caller closes the listener. */
	int (*accept)(struct rr_prov_listener *, const struct rr_prov_config *cfg,
	              const void *priv, size_t priv_len, rr_time now,
	              struct rr_ep **ret);
	void (*listener_close)(struct rr_prov_listener *);

	/* Posts.  The gather list @sge is borrowed; the memory it names is lent until
	 * the completion.  A post returns -ENOTCONN before RR_WC_CONNECTED (except
	 * post_recv, which may be called at once) and after the end; -ENOBUFS if a
	 * queue is full; -EINVAL above RR_PROV_MAX_SGE pieces; -EMSGSIZE above
	 * max_msg. */
	int (*post_recv)(struct rr_ep *, const struct rr_sge *, uint64_t token);
	/* @inv_handle: 0 for a Send, else that of a Send With Invalidate. */
	int (*post_send)(struct rr_ep *, const struct rr_sge *, unsigned n,
	                 uint32_t inv_handle, uint64_t token);
	int (*post_write)(struct rr_ep *, const struct rr_sge *, unsigned n,
	                  uint32_t handle, uint64_t offset, uint64_t token);
	/* Returns -EOPNOTSUPP if max_ord is 0. */
	int (*post_read)(struct rr_ep *, const struct rr_sge *, uint32_t handle,
	                 uint64_t offset, uint64_t token);
	/* Gives the peer access to @len octets at @base, lent until they are
	 * invalidated.  @access is a sum of RR_ACCESS_*. */
	int (*register_mem)(struct rr_ep *, void *base, size_t len, unsigned access,
	                    struct rr_region *ret);
	/* Ends the peer's access to a region.  RR_WC_INVALIDATE follows.  Returns
	 * -EINVAL for an unknown handle. */
	int (*invalidate)(struct rr_ep *, uint32_t handle, uint64_t token);

	/* Sends what was posted.  Returns -EAGAIN if some of it is left to progress. */
	int (*flush)(struct rr_ep *, rr_time now);
	/* Receives, sends what waits, and checks time limits.  The caller calls it when
	 * the descriptor is ready, when deadline() has passed, and after flush
	 * returned -EAGAIN. */
	void (*progress)(struct rr_ep *, rr_time now);
	/* Takes up to @max completions, oldest first.  Returns how many. */
	unsigned (*poll)(struct rr_ep *, struct rr_wc *wc, unsigned max);
	/* For epoll: the descriptor (-1 if there is none, as in sim), and the events
	 * to wait for now. */
	int (*fd)(const struct rr_ep *);
	uint32_t (*events)(const struct rr_ep *);
	/* Returns when to call progress at the latest, or RR_TIME_NEVER. */
	rr_time (*deadline)(const struct rr_ep *);

	/* Begins the orderly end: sends what was posted, then closes.
	 * RR_WC_DISCONNECTED follows, within a second also if the peer is silent.
	 * A second call has no effect. */
	void (*disconnect)(struct rr_ep *, rr_time now);
	/* Frees the endpoint.  Before RR_WC_DISCONNECTED was polled this is an abort:
	 * no completion follows, and the peer sees a reset. */
	void (*destroy)(struct rr_ep *);

	void (*limits)(const struct rr_ep *, struct rr_prov_limits *ret);
	void (*counters)(const struct rr_ep *, struct rr_prov_counters *ret);
	/* Returns the peer's private data, lent until destroy. */
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
