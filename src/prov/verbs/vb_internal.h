/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs endpoint.  Only this folder and its tests include this header.
 *
 *   vb_ep.c      the table of operations: posts, progress, queries
 *   cm.c         connect, listen, accept; the events of the connection manager
 *   qp.c         protection domain, queues and queue pair of one connection
 *   dev.c        state shared by a device's connections: limits, asynchronous events
 *   vb_tx.c      issues posts as chains of work requests, one call per chain
 *   wc.c         converts the device's completions to the caller's
 *   mem.c        local memory: lasting blocks, registrations, the bounce ring
 *   vb_region.c  memory that the peer may access: windows, or registrations
 *   vb_end.c     orderly disconnect, failures, flush
 *
 * Ownership: posted memory is lent to the provider until the completion.  Memory that
 * was registered for one operation is deregistered before the operation's completion is
 * added.  Windows are pooled until the endpoint is destroyed.
 */
#ifndef RR_PROV_VERBS_VB_INTERNAL_H
#define RR_PROV_VERBS_VB_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/list.h"
#include "prov/common/ep_common.h"
#include "prov/verbs/dl.h"
#include "prov/verbs/vb_opts.h"
#include "prov/verbs/self_test.h"

#define RR_VB_MAX_SEND 4096  /* limit on outstanding operations */
#define RR_VB_MAX_SGE  16    /* limit on pieces per work request */
#define RR_VB_CHAIN    32    /* limit on work requests per call */
#define RR_VB_BOUNCE   65536 /* octets of the bounce ring */
#define RR_VB_SMALL    4096  /* largest piece that is copied, not registered */
#define RR_VB_RETRY    6     /* retries if the peer sends no acknowledgement */
#define RR_VB_RNR      7     /* retries if the peer has no Receive; 7 = no limit [C3] */
#define RR_VB_SQ       256   /* largest default depth of the send queue */
#define RR_VB_RQ       1024  /* default depth of the receive queue */
#define RR_VB_ROTATE   16    /* a window is reused only if this many are free */
#define RR_VB_LOSS_NS  RR_MS(200) /* time to wait for the reason for a flush */

#define RR_VB_STATES(X)                                                                \
	X(RESOLVE, "client: looking for a device that serves the address")             \
	X(ROUTE, "client: looking for the route")                                      \
	X(ASKED, "client: request sent")                                               \
	X(CALLED, "server: request received, not answered")                            \
	X(ACCEPTED, "server: answered")                                                \
	X(READY, "established")                                                        \
	X(DRAIN, "ending: sending what was posted")                                    \
	X(SHUT, "ending: disconnect sent, waiting for the peer's")                     \
	X(DEAD, "everything flushed")

enum rr_vb_state {
#define X(name, meaning) RR_VB_##name,
	RR_VB_STATES(X)
#undef X
};

#define RR_VB_BIT(state) (1u << RR_VB_##state)
#define RR_VB_IN_SETUP                                                                 \
	(RR_VB_BIT(RESOLVE) | RR_VB_BIT(ROUTE) | RR_VB_BIT(ASKED) |                    \
	 RR_VB_BIT(CALLED) | RR_VB_BIT(ACCEPTED))
#define RR_VB_IN_USE    (RR_VB_IN_SETUP | RR_VB_BIT(READY))
#define RR_VB_IN_STREAM (RR_VB_BIT(READY) | RR_VB_BIT(DRAIN) | RR_VB_BIT(SHUT))

enum rr_vb_kind {
	RR_VB_SEND = RR_POST_SEND,
	RR_VB_WRITE = RR_POST_WRITE,
	RR_VB_READ = RR_POST_READ,
	RR_VB_BIND,   /* opens a window; the caller gets no completion */
	RR_VB_UNBIND, /* closes a window */
};

/* A wr_id is a sequence number and, in the two lowest bits, one of these values. */
enum rr_vb_queue { RR_VB_Q_RECV, RR_VB_Q_SENT, RR_VB_Q_READ };
#define RR_VB_WR_ID(seq, queue) ((uint64_t)(seq) << 2 | (queue))

/* A post to the send queue.  Its gather list is in ep->sges until the post is
 * issued. */
struct rr_vb_op {
	uint8_t kind;
	uint8_t nsge;
	uint32_t len;
	uint32_t handle; /* peer's handle; Send: handle to invalidate, or 0 */
	uint32_t bounce; /* octets of the bounce ring to be freed */
	uint32_t mrs;    /* number of registrations to undo */
	uint32_t wrs;    /* number of the post's work requests */
	uint64_t offset;
	uint64_t token;
	uint64_t last; /* number of the post's last work request; 0: none */
	int status;    /* error of a Read that was never issued; otherwise 0 */
	struct rr_vb_region *region; /* BIND, UNBIND */
	void *copy;                  /* malloc'd copy of a Send's pieces, or NULL */
};

struct rr_vb_recv {
	struct rr_sge sge;
	uint64_t token;
	struct ibv_mr *mr; /* registration for this Receive only, or NULL */
};

/* Memory that stays registered for local use. */
struct rr_vb_block {
	uint8_t *base;
	size_t len;
	struct ibv_mr *mr;
};

/* CLOSED: the peer invalidated the region while our invalidation was pending. */
enum rr_vb_region_state { RR_VB_FREE, RR_VB_OPEN, RR_VB_CLOSING, RR_VB_CLOSED };

struct rr_vb_region {
	struct rr_vb_region *next; /* next in the bucket or the free list */
	struct rr_vb_region *all;  /* next in the list of all regions */
	enum rr_vb_region_state state;
	uint32_t handle;
	unsigned access;
	struct ibv_mw *mw; /* NULL: @mr gives the peer its rights */
	struct ibv_mr *mr;
	bool own_mr; /* @mr was registered for this region alone */
	uint8_t *base;
	size_t len;
};

struct rr_vb_regions {
	struct rr_vb_region **bucket;
	uint32_t buckets; /* a power of two */
	uint32_t used;    /* number of regions in the table: open or closing */
	struct rr_vb_region *all;
	struct rr_vb_region *free_first, *free_last;
	uint32_t free_count;
};

/* Work requests to be posted by one call of ibv_post_send. */
struct rr_vb_chain {
	unsigned n, n_sge;
	int last_sent; /* index of the last request that is not a Read, or -1 */
	struct ibv_send_wr wr[RR_VB_CHAIN];
	struct ibv_sge sge[RR_VB_CHAIN * 8];
};

/* State shared by the connections of one device; see dev.c. */
struct rr_vb_dev {
	struct rr_vb_dev *next;
	struct ibv_context *ctx;
	unsigned refs;        /* number of endpoints; under registry_lock */
	int cmd_fd, async_fd; /* descriptors of @ctx; may be closed while refs is 0 */
	struct stat node;     /* fstat() of cmd_fd, to detect reuse of its number */
	bool watched;         /* sysfs lists the device until its removal */
	bool queried;         /* @attr and caps.iwarp are known */
	bool tested;          /* all of @caps is known; under registry_lock */
	pthread_mutex_t lock; /* protects @eps and, in each endpoint, @async */
	struct rr_list eps;
	struct ibv_device_attr attr;
	struct rr_verbs_caps caps;
};

struct rr_vb_ep {
	struct rr_ep_common base;
	enum rr_vb_state state;
	const struct rr_rdma_lib *lib;
	struct rr_verbs_opts opts;
	rr_time handshake; /* time limit of connection set-up */

	int epfd;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rr_vb_dev *dev;
	struct rr_list of_dev;  /* node in dev->eps; protected by dev->lock */
	atomic_int async;       /* errno for an event, or 0; written under dev->lock */
	const char *async_text; /* text of the event; written under dev->lock */
	bool dev_ready;         /* the device's descriptor was readable */

	struct ibv_pd *pd;
	struct ibv_comp_channel *cc;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	bool armed;         /* the next completion makes @cc readable */
	unsigned cq_events; /* number of events received but not acknowledged */
	uint32_t recvs;     /* limit on Receives posted at a time; 0: unknown */
	uint32_t sq_depth, rq_depth, max_sge, max_inline;
	uint32_t max_msg;
	bool windows; /* regions are memory windows */
	uint8_t ird, ord;

	struct rr_ring wait;  /* struct rr_vb_op: not yet issued */
	struct rr_ring sges;  /* struct rr_sge: gather lists of @wait */
	struct rr_ring sent;  /* struct rr_vb_op: issued, except Reads */
	struct rr_ring reads; /* struct rr_vb_op: issued Reads */
	struct rr_ring mrs;   /* struct ibv_mr *: registrations of @sent */
	struct rr_ring rmrs;  /* struct ibv_mr *: registrations of @reads */
	struct rr_ring rq;    /* struct rr_vb_recv; the first rq_issued are posted */
	uint32_t rq_issued;
	uint32_t posted;    /* number of posts in @wait, @sent and @reads */
	uint32_t in_device; /* work requests in the device's send queue */
	uint64_t seq;       /* sequence number of the last work request */
	struct rr_vb_chain chain;

	struct rr_vb_block *blocks; /* sorted by address */
	unsigned n_blocks, cap_blocks;
	uint8_t *bounce;
	struct ibv_mr *bounce_mr;
	uint32_t bounce_head, bounce_used; /* first octet in use; octets in use */
	struct rr_vb_regions regions;

	bool flushed;    /* the device flushed work or refused it */
	bool unsent;     /* the flushed work includes the send queue */
	rr_time loss_at; /* deadline for learning the reason for a flush */
	uint8_t priv[RR_PROV_PRIVATE_MAX];
	size_t priv_len;
	uint8_t peer_priv[256];
	size_t peer_priv_len;
	struct sockaddr_storage local;
};

static inline bool rr_vb_is(const struct rr_vb_ep *ep, unsigned set)
{
	return set >> ep->state & 1;
}

static inline struct rr_vb_ep *rr_vb_of(const struct rr_ep *ep)
{
	return rr_container_of(ep, struct rr_vb_ep, base.ep);
}

/* Converts both error idioms of rdma-core, -1 with errno and a positive errno, to a
 * negative errno. */
static inline int rr_vb_error(int rc)
{
	if (rc > 0)
		return -rc;
	return rc == 0 ? 0 : errno > 0 ? -errno : -EIO;
}

/* ---- vb_ep.c ---- */
/* Reserves space for the completions of all posts and of @n more.  Returns 0 or
 * -ENOMEM. */
RR_MUST_CHECK int rr_vb_reserve(struct rr_vb_ep *ep, uint32_t n);
/* Creates an endpoint that has no device yet. */
RR_MUST_CHECK int rr_vb_new(const struct rr_prov_config *cfg, const void *priv,
                            size_t priv_len, rr_time now, struct rr_vb_ep **ret);
void rr_vb_free(struct rr_vb_ep *ep);

/* ---- cm.c ---- */
int rr_vb_connect(const struct rr_prov_config *cfg, const struct sockaddr *sa,
                  socklen_t sa_len, const void *priv, size_t priv_len, rr_time now,
                  struct rr_ep **ret);
int rr_vb_listen(const struct rr_prov_config *cfg, const struct sockaddr *sa,
                 socklen_t sa_len, struct rr_prov_listener **ret,
                 struct sockaddr_storage *ret_addr);
int rr_vb_listener_fd(const struct rr_prov_listener *l);
int rr_vb_accept(struct rr_prov_listener *l, const struct rr_prov_config *cfg,
                 const void *priv, size_t priv_len, rr_time now, struct rr_ep **ret);
void rr_vb_listener_close(struct rr_prov_listener *l);
/* Rejects or disconnects the connection, if its state allows it. */
void rr_vb_cm_disconnect(struct rr_vb_ep *ep);
/* In state CALLED, accepts the client's request.  By then the caller has had a chance
 * to post its first Receives. */
void rr_vb_answer(struct rr_vb_ep *ep);
/* Handles the connection manager's events. */
void rr_vb_cm_events(struct rr_vb_ep *ep);

/* ---- qp.c ---- */
/* Creates the endpoint's objects on the connection's device.  On failure, sets the
 * reason and returns a negative errno. */
RR_MUST_CHECK int rr_vb_qp_open(struct rr_vb_ep *ep);
/* Destroys the queue pair, which ends all access to memory. */
void rr_vb_qp_close(struct rr_vb_ep *ep);
/* Frees the other objects.  All posts must have been flushed. */
void rr_vb_qp_free(struct rr_vb_ep *ep);
/* Returns true if the queue pair is in the error state. */
bool rr_vb_qp_broken(struct rr_vb_ep *ep);
/* Puts the queue pair into the error state. */
void rr_vb_qp_error(struct rr_vb_ep *ep);

/* ---- dev.c ---- */
/* Finds the endpoint's device, and counts the endpoint as a user of the device. */
RR_MUST_CHECK int rr_vb_dev_get(struct rr_vb_ep *ep);
/* Returns true if the device's memory windows work.  The first call runs the self-test;
 * see self_test.h. */
bool rr_vb_dev_windows(struct rr_vb_ep *ep);
/* Records a device that librdmacm has opened for a listener. */
void rr_vb_dev_note(struct ibv_context *ctx);
void rr_vb_dev_put(struct rr_vb_ep *ep);
/* Closes devices that were removed and that no endpoint uses. */
void rr_vb_dev_sweep(void);
/* Handles the device's events.  If an event ends this endpoint's connection, returns
 * the event's negative errno and stores its text; otherwise returns 0. */
int rr_vb_dev_events(struct rr_vb_ep *ep, const char **ret_text);

/* ---- vb_tx.c ---- */
/* Issues as many waiting operations as fit in the device's queue. */
void rr_vb_tx_run(struct rr_vb_ep *ep);
/* Issues the waiting Receives. */
void rr_vb_rx_run(struct rr_vb_ep *ep);

/* ---- wc.c ---- */
/* Handles the completions in the device's queue. */
void rr_vb_cq_poll(struct rr_vb_ep *ep);
/* Reads an event from the completion channel, which must then be armed again. */
void rr_vb_cq_event(struct rr_vb_ep *ep);
/* Arms the completion channel, so that the next completion causes an event. */
void rr_vb_cq_arm(struct rr_vb_ep *ep);
/* Completes @op, which the caller has removed from its queue: frees the resources of
 * @op and adds its completion. */
void rr_vb_op_done(struct rr_vb_ep *ep, struct rr_vb_op op, int status);
/* Undoes the registration of a completed Receive. */
void rr_vb_recv_over(struct rr_vb_ep *ep, struct rr_vb_recv *r);

/* ---- mem.c ---- */
/* Returns the registration of the lasting block that contains the piece, or NULL. */
struct ibv_mr *rr_vb_block_mr(struct rr_vb_ep *ep, const void *p, size_t len);
/* Registers memory.  On failure, sets errno and returns NULL. */
struct ibv_mr *rr_vb_reg(struct rr_vb_ep *ep, void *p, size_t len, int access);
void rr_vb_dereg(struct rr_vb_ep *ep, struct ibv_mr *mr);
/* Creates the bounce ring if there is none.  Returns false if memory cannot be
 * allocated or locked. */
bool rr_vb_bounce_have(struct rr_vb_ep *ep);
/* Allocates @len adjacent octets of the bounce ring, or returns NULL.  *ret_took is the
 * number of octets to free later; it includes octets skipped at the ring's end. */
uint8_t *rr_vb_bounce_get(struct rr_vb_ep *ep, uint32_t len, uint32_t *ret_took);
void rr_vb_bounce_put(struct rr_vb_ep *ep, uint32_t took);
void rr_vb_mem_fini(struct rr_vb_ep *ep);

/* ---- vb_region.c ---- */
int rr_vb_register(struct rr_ep *base, void *mem, size_t len, unsigned access,
                   struct rr_region *ret);
int rr_vb_invalidate(struct rr_ep *base, uint32_t handle, uint64_t token);
/* Converts RR_ACCESS_* to IBV_ACCESS_*. */
int rr_vb_rights(unsigned access);
/* Closes a region that the peer has invalidated.  Returns false if no open region has
 * @handle. */
bool rr_vb_region_closed_by_peer(struct rr_vb_ep *ep, uint32_t handle);
/* Closes a region whose UNBIND has completed. */
void rr_vb_region_closed(struct rr_vb_ep *ep, struct rr_vb_region *r);
/* Frees the windows.  The queue pair must be in the error state, but not yet
 * destroyed. */
void rr_vb_windows_fini(struct rr_vb_ep *ep);
/* Frees the regions and their registrations.  The queue pair must have been
 * destroyed. */
void rr_vb_regions_fini(struct rr_vb_ep *ep);

/* ---- vb_end.c ---- */
/* Starts an orderly disconnect. */
void rr_vb_drain(struct rr_vb_ep *ep);
/* In state DRAIN, disconnects if all posted operations have completed. */
void rr_vb_end_step(struct rr_vb_ep *ep);
/* Ends the connection if the device has reported an error, or if a reason is set. */
void rr_vb_check_end(struct rr_vb_ep *ep);
/* Ends a connection that the peer has closed; @status is the event's status. */
void rr_vb_peer_closed(struct rr_vb_ep *ep, int status);
/* Flushes all posts and adds the last completion. */
void rr_vb_dead(struct rr_vb_ep *ep);
/* Ends the connection if its deadline has passed. */
void rr_vb_time_out(struct rr_vb_ep *ep);

#endif
