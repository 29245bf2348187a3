/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of the simulator.  A sim_conn contains the connection's two endpoints
 * (each a sim_end, "end" in names); it is freed when both endpoints are destroyed and
 * no event refers to it.  A sim_op is one post; it is freed when its completion is
 * queued and no event refers to it.  A dead op has been flushed: its events have no
 * effect.
 */
#ifndef RR_PROV_SIM_SIM_INTERNAL_H
#define RR_PROV_SIM_SIM_INTERNAL_H

#include "base/list.h"
#include "prov/sim/sim.h"

enum sim_state {
	SIM_NONE,  /* the accepting endpoint, before accept */
	SIM_SETUP, /* connecting or accepting */
	SIM_OPEN,
	SIM_CLOSING, /* disconnect was called */
	SIM_ENDED,   /* DISCONNECTED has been added to the completion queue */
};

struct sim_end;
struct sim_op;

typedef void (*sim_fn)(struct sim_end *, struct sim_op *, uint64_t arg);

struct sim_event {
	rr_time at;
	uint64_t seq;
	sim_fn fn;
	struct sim_end *end;
	struct sim_op *op;
	uint64_t arg;
};

struct sim_op {
	struct rr_list link; /* node in end->posted, until completed */
	/* node in end->held, end->txq or (Receives) end->recvs */
	struct rr_list txlink;
	struct sim_end *end;
	enum rr_wc_op kind;
	unsigned refs; /* references: one per event, plus one while in end->posted */
	bool dead;
	uint64_t token;
	struct rr_sge sge[RR_PROV_MAX_SGE];
	unsigned n_sge;
	uint32_t len;    /* sum of sge */
	uint32_t handle; /* remote region, or region to invalidate */
	uint64_t offset;
	uint64_t hash; /* digest of the contents when posted, for check_lent */
	/* copy of the contents, or NULL; made when a SEND or WRITE completes before its
	 * data is placed, and when the peer sends the data of a READ */
	uint8_t *copy;
	unsigned pieces_left; /* number of pieces not yet placed */
	struct sim_op *recv;  /* SEND: the Receive that takes the message */
	rr_time fence;        /* SEND: when all earlier Writes are placed */
	uint32_t got;         /* RECV: octets received */
};

struct sim_wc {
	struct rr_list link;
	struct rr_wc wc;
	rr_time seen_at;
	bool counts_sq, counts_rq;
};

struct sim_region {
	struct rr_list link;
	uint8_t *base;
	size_t len;
	unsigned access;
	uint32_t handle;
	uint64_t offset;
	bool open; /* the peer can access the region */
	/* invalidated by the peer; the completion that reports this has not been
	 * polled yet */
	bool reported;
};

struct sim_conn;

struct sim_end {
	struct rr_ep ep; /* must be first */
	struct sim_conn *conn;
	unsigned side;
	enum sim_state state;
	bool created, destroyed;
	rr_time ended_at; /* when the endpoint ended; valid in SIM_ENDED */
	bool fin_sent;
	struct rr_prov_config cfg;
	uint8_t priv[RR_PROV_PRIVATE_MAX]; /* private data of this endpoint */
	size_t priv_len;
	bool peer_priv_known;
	struct sockaddr_in addr;
	struct rr_list posted; /* posts of all kinds, in order, until they complete */
	struct rr_list held, txq;
	/* Receives for which no Send has arrived, linked by txlink */
	struct rr_list recvs;
	unsigned n_recvs; /* number of Receives in @recvs */
	struct rr_list cq;
	struct rr_list regions;
	unsigned sq_used, rq_used, reads_out, sends_out, inv_used;
	/* when the outgoing direction becomes free */
	rr_time busy_until;
	/* time when the last message sent arrives at the peer */
	rr_time arrive_last;
	/* times when the last Write is placed and the last Send is delivered */
	rr_time placed_last, deliver_last;
	/* time of the last completion of each kind */
	rr_time kind_last[RR_WC_DISCONNECTED + 1];
	/* time when the last of the peer's Read requests is served */
	rr_time read_last;
	rr_time seen_last;
	rr_time batch_until; /* completions up to this time become visible together */
	/* event number of the handshake or close timer; 0 = none */
	uint64_t timer;
	struct rr_prov_counters count;
	const char *why;
};

struct sim_conn {
	struct rr_list link;    /* world->conns */
	struct rr_list pending; /* listener->pending */
	struct rr_sim_world *world;
	struct rr_sim_options opt;
	struct sim_end end[2];
	unsigned refs; /* number of events that refer to the connection */
	bool cut;      /* messages in both directions are lost */
};

struct rr_prov_listener {
	struct rr_list link;
	struct rr_sim_world *world;
	struct sockaddr_in addr;
	struct rr_list pending;
};

enum { SIM_RETIRED = 1024 };

struct rr_sim_world {
	struct rr_sim_options opt;
	struct rr_rng rng;
	rr_time now;
	struct sim_event *heap;
	size_t n_heap, max_heap;
	uint64_t seq, events, posts, registrations, lent_changed;
	struct rr_list conns, listeners;
	uint16_t next_port;
	uint32_t retired[SIM_RETIRED]; /* ring of the most recently retired handles */
	unsigned n_retired;
};

static inline struct sim_end *sim_end_of(const struct rr_ep *ep)
{
	struct sim_end *e = (struct sim_end *)(uintptr_t)ep;

	RR_ASSERT(e->created && !e->destroyed);
	return e;
}

static inline struct sim_end *sim_peer(struct sim_end *e)
{
	return &e->conn->end[!e->side];
}

static inline struct rr_sim_world *sim_world(const struct sim_end *e)
{
	return e->conn->world;
}

/* world.c */
void *sim_alloc(size_t bytes);
rr_time sim_draw(struct rr_sim_world *, struct rr_sim_range);
uint64_t sim_at(struct sim_end *, rr_time at, sim_fn, struct sim_op *, uint64_t arg);
void sim_cancel(struct rr_sim_world *, uint64_t seq);
void sim_conn_put(struct sim_conn *);

/* sim_setup.c */
int sim_connect(const struct rr_prov_config *, const struct sockaddr *, socklen_t,
                const void *priv, size_t priv_len, rr_time now, struct rr_ep **ret);
int sim_listen(const struct rr_prov_config *, const struct sockaddr *, socklen_t,
               struct rr_prov_listener **ret, struct sockaddr_storage *ret_addr);
int sim_accept(struct rr_prov_listener *, const struct rr_prov_config *,
               const void *priv, size_t priv_len, rr_time now, struct rr_ep **ret);
void sim_listener_close(struct rr_prov_listener *);

/* sim_end.c: completions and the end of an endpoint */
void sim_end_now(struct sim_end *, int status, const char *why);
void sim_misuse(struct sim_end *, const char *why);
void sim_push(struct sim_end *, const struct rr_wc *, bool counts_sq, bool counts_rq);
/* Sends a notice, after all messages, that ends the peer's endpoint with @status. */
void sim_send_end(struct sim_end *, int status);
unsigned sim_poll(struct rr_ep *, struct rr_wc *, unsigned max);
void sim_disconnect(struct rr_ep *, rr_time now);
void sim_destroy(struct rr_ep *);
bool sim_running(const struct sim_end *);

/* post.c */
int sim_post_recv(struct rr_ep *, const struct rr_sge *, uint64_t token);
int sim_post_send(struct rr_ep *, const struct rr_sge *, unsigned n,
                  uint32_t inv_handle, uint64_t token);
int sim_post_write(struct rr_ep *, const struct rr_sge *, unsigned n, uint32_t handle,
                   uint64_t offset, uint64_t token);
int sim_post_read(struct rr_ep *, const struct rr_sge *, uint32_t handle,
                  uint64_t offset, uint64_t token);
int sim_invalidate(struct rr_ep *, uint32_t handle, uint64_t token);
int sim_flush(struct rr_ep *, rr_time now);
void sim_flush_held(struct sim_end *);
void sim_op_put(struct sim_op *);
void sim_op_complete(struct sim_op *, int status);
void sim_complete_later(struct sim_op *, rr_time at);
uint64_t sim_hash(const struct rr_sge *, unsigned n);

/* sim_wire.c */
void sim_transmit(struct sim_end *);
void sim_inv_start(struct sim_op *);
rr_time sim_wire(struct sim_end *, uint64_t octets);

/* sim_region.c */
int sim_register(struct rr_ep *, void *base, size_t len, unsigned access,
                 struct rr_region *ret);
/* Finds a region of the endpoint, whether or not the peer can access it. */
struct sim_region *sim_region_find(const struct sim_end *, uint32_t handle);
/* Returns the memory that the peer's request refers to.  If access is not allowed,
 * stores the reason in @ret_why and returns NULL. */
uint8_t *sim_region_check(struct sim_end *, uint32_t handle, uint64_t offset,
                          uint64_t len, unsigned access, const char **ret_why);
void sim_region_forget(struct sim_end *, struct sim_region *);
void sim_region_shut_all(struct sim_end *);

#endif
