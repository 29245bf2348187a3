/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA in memory, on virtual time: the reference meaning of prov.h.
 *
 * A world holds a clock, a seeded generator, listeners and connections.
 * Nothing happens by itself: every effect is an event with a time, and
 * rr_sim_step carries out the next one.  Two worlds made from the same seed
 * and given the same calls do the same things at the same times.
 *
 * The ranges below say how the simulator uses the freedom that the contract leaves:
 * delays, when Sends and Writes complete relative to their arrival, when and in which
 * pieces data is placed, how completions bunch.  The promises of the contract always
 * hold.  Local memory is read as late as the contract allows: when the post completes
 * or when the data is placed, whichever is first.  Remote memory is accessed when data
 * is placed or sent.  The handle is looked up for each access.  So a test notices
 * memory that is used, or a region that is invalidated, too early.
 *
 * With fixed ranges times are exact: a message of n octets starts when its direction
 * of the link is free, occupies it for n * 10^9 / bytes_per_sec ns, and arrives @delay
 * later.  A Read takes an empty message, @read_latency, and a message of its length in
 * the other direction.
 *
 * A world and its endpoints belong to one thread.  There is no real clock and no
 * socket.
 */
#ifndef RR_PROV_SIM_SIM_H
#define RR_PROV_SIM_SIM_H

#include "prov/prov.h"

struct rr_sim_world;

extern const struct rr_prov_ops rr_sim_ops;

struct rr_sim_range {
	rr_time min, max; /* both included */
};

/* Direction 0 is from the connecting to the accepting end. */
struct rr_sim_dir {
	struct rr_sim_range delay;
	uint64_t bytes_per_sec; /* 0 = no limit */
};

/* All zero: everything happens at once.  Copied into each new connection. */
struct rr_sim_options {
	struct rr_sim_dir dir[2];
	struct rr_sim_range place;        /* from arrival to the end of placement */
	struct rr_sim_range read_latency; /* from a Read request to its data */
	struct rr_sim_range send_done;    /* from the last octet out to completion */
	struct rr_sim_range inv_done;     /* from flush to its completion */
	struct rr_sim_range batch;        /* most delay of completions, which bunch */
	unsigned pieces; /* most pieces in which a Write or Read is placed; 0: 1 */
	bool ord_blocks; /* a Read that waits for max_ord delays Sends and Writes */
	bool no_remote_invalidate;
	bool scribble;   /* fill Receive and Read memory at the post */
	bool check_lent; /* count Send and Write memory that changes while lent */
	/* Limits; 0: 4096, 4096, 16, 2^30. */
	uint32_t max_recv, max_send, max_ord, max_msg;
	/* While a Send, Write or Read is in progress, one further post in full_one_in
	 * returns -ENOBUFS, as on a device that uses the queue for more; 0: none. */
	uint32_t full_one_in;

	/* Faults. */
	bool refuse;            /* connections end with -ECONNREFUSED */
	bool silent;            /* all messages are lost */
	uint64_t stuck_event;   /* from this event of the world on no post is sent */
	uint64_t drop_event;    /* every link breaks at this event of the world */
	uint64_t fail_post;     /* this post of the world fails with -ENOMEM */
	uint64_t fail_register; /* this registration fails with -ENOMEM */
	bool fail_on;           /* ... and all that follow it */
};

/* @options may be NULL; copied. */
struct rr_sim_world *rr_sim_world_new(uint64_t seed,
                                      const struct rr_sim_options *options);
/* Frees a world with its endpoints and listeners. */
void rr_sim_world_free(struct rr_sim_world *);

/* The options of connections made from now on, and the faults. */
struct rr_sim_options *rr_sim_options(struct rr_sim_world *);

rr_time rr_sim_now(const struct rr_sim_world *);
/* Returns when the next event is due, or RR_TIME_NEVER. */
rr_time rr_sim_next(const struct rr_sim_world *);
/* Moves the clock to the next event and carries it out.  False: there is none. */
bool rr_sim_step(struct rr_sim_world *);
/* Carries out all events up to @t and moves the clock there. */
void rr_sim_run_until(struct rr_sim_world *, rr_time t);
uint64_t rr_sim_events(const struct rr_sim_world *);

/* Breaks the endpoint's connection: both ends see -ECONNRESET. */
void rr_sim_drop(struct rr_ep *);

/* -- For checkers ------------------------------------------------------------ */

/* Has the connection ended at this endpoint, polled or not? */
bool rr_sim_over(const struct rr_ep *);
/* Regions of the endpoint that the peer can reach now. */
unsigned rr_sim_regions(const struct rr_ep *);
bool rr_sim_region_live(const struct rr_ep *, uint32_t handle);
/* Receives posted, for which no Send has arrived. */
unsigned rr_sim_receives(const struct rr_ep *);
/* Sends of this endpoint that left and have not arrived. */
unsigned rr_sim_sends_under_way(const struct rr_ep *);
/* Does a post or a region that is in use name part of this memory? */
bool rr_sim_lent(const struct rr_ep *, const void *base, size_t len);
/* Posts not yet completed or not yet polled, and their memory that changed
 * while it was lent (check_lent). */
unsigned rr_sim_owed(const struct rr_ep *);
uint64_t rr_sim_lent_changed(const struct rr_sim_world *);

#endif
