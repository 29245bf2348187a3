/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulator of RDMA in memory, with virtual time: the reference implementation of
 * prov.h.
 *
 * A world consists of a clock, a seeded random generator, listeners and connections.
 * Nothing happens by itself: every effect is an event with a time, and rr_sim_step
 * processes the next event.  Two worlds that were made from the same seed and receive
 * the same calls do the same things at the same times.
 *
 * The contract leaves some choices to the provider, which the ranges below control:
 * delays, when Sends and Writes complete relative to their arrival, when and in which
 * pieces data is placed, and how many completions become visible together.  The
 * simulator always gives the contract's guarantees.  It reads local memory as late as
 * the contract allows: when the post completes or when the data is placed, whichever is
 * first.  It accesses remote memory when data is placed or sent, and looks up the
 * handle for each access.  A test therefore detects memory that is reused too early,
 * and a region that is invalidated too early.
 *
 * With fixed ranges (min = max), times are exact.  A message of n octets starts when
 * its direction of the link is free, occupies this direction for
 * n * 10^9 / bytes_per_sec ns, and arrives @delay later.  The time of a Read is the
 * time of an empty message, plus @read_latency, plus the time of a message with the
 * Read's data in the other direction.
 *
 * A world and its endpoints belong to one thread.  The simulator uses no real clock and
 * no socket.
 */
#ifndef RR_PROV_SIM_SIM_H
#define RR_PROV_SIM_SIM_H

#include "prov/prov.h"

struct rr_sim_world;

extern const struct rr_prov_ops rr_sim_ops;

struct rr_sim_range {
	rr_time min, max; /* inclusive */
};

/* One direction of a link.  Direction 0 is from the connecting to the accepting
 * endpoint. */
struct rr_sim_dir {
	struct rr_sim_range delay;
	uint64_t bytes_per_sec; /* 0 = no limit */
};

/* Options, copied into each new connection.  If all are zero, everything happens at
 * once. */
struct rr_sim_options {
	struct rr_sim_dir dir[2];
	/* time from arrival until the data is placed */
	struct rr_sim_range place;
	struct rr_sim_range read_latency; /* time from a Read request to its data */
	/* time from sending the last octet to completion */
	struct rr_sim_range send_done;
	/* time from flush to the completion of an Invalidate */
	struct rr_sim_range inv_done;
	/* time for which a completion waits for others; then all become visible */
	struct rr_sim_range batch;
	/* maximum number of pieces in which a Write or Read is placed; 0 = 1 */
	unsigned pieces;
	/* while max_ord delays a Read, later Sends and Writes wait, too */
	bool ord_blocks;
	bool no_remote_invalidate;
	/* a Send With Invalidate of a region that its owner has invalidated does no
	 * harm */
	bool survive_inv_twice;
	bool scribble;   /* overwrite Receive and Read memory when posted */
	bool check_lent; /* count posts whose Send or Write memory changes while lent */
	/* Limits; 0 = 4096, 4096, 16 and 2^30, respectively. */
	uint32_t max_recv, max_send, max_ord, max_msg;
	/* Makes posts fail at random with -ENOBUFS while a Send, Write or Read is
	 * outstanding, on average one in @full_one_in; 0 = never.  Real devices do
	 * this when they use queue entries for other purposes. */
	uint32_t full_one_in;

	/* Faults. */
	bool refuse; /* connections end with -ECONNREFUSED */
	bool silent; /* all messages are lost */
	/* no post is sent after the event with this number */
	uint64_t stuck_event;
	uint64_t drop_event; /* all links break at the event with this number */
	uint64_t fail_post;  /* the post with this number fails with -ENOMEM */
	/* the registration with this number fails with -ENOMEM */
	uint64_t fail_register;
	bool fail_on; /* later posts or registrations fail, too */
};

/* Makes a world.  @options may be NULL; they are copied. */
struct rr_sim_world *rr_sim_world_new(uint64_t seed,
                                      const struct rr_sim_options *options);
/* Frees a world with its endpoints and listeners. */
void rr_sim_world_free(struct rr_sim_world *);

/* Returns the world's options, which the caller may change.  A change affects only
 * connections made later, but faults other than @refuse affect all connections. */
struct rr_sim_options *rr_sim_options(struct rr_sim_world *);

rr_time rr_sim_now(const struct rr_sim_world *);
/* Returns the time of the next event, or RR_TIME_NEVER. */
rr_time rr_sim_next(const struct rr_sim_world *);
/* Advances the clock to the next event, and processes the event.  Returns false if
 * there is none. */
bool rr_sim_step(struct rr_sim_world *);
/* Processes all events up to @t, and moves the clock to @t. */
void rr_sim_run_until(struct rr_sim_world *, rr_time t);
uint64_t rr_sim_events(const struct rr_sim_world *);

/* Breaks the endpoint's connection: both endpoints end with -ECONNRESET. */
void rr_sim_drop(struct rr_ep *);

/* -- functions for tests that check each step ------------------------------ */

/* Returns true if the connection has ended at this endpoint, even if RR_WC_DISCONNECTED
 * has not been polled yet. */
bool rr_sim_over(const struct rr_ep *);
/* Returns the number of the endpoint's regions that the peer can access now. */
unsigned rr_sim_regions(const struct rr_ep *);
bool rr_sim_region_live(const struct rr_ep *, uint32_t handle);
/* Returns the number of Receives posted for which no Send has arrived. */
unsigned rr_sim_receives(const struct rr_ep *);
/* Returns the number of this endpoint's Sends that were sent and have not arrived. */
unsigned rr_sim_sends_under_way(const struct rr_ep *);
/* Returns true if any octet of the memory belongs to an outstanding post, or to a
 * region that the peer can access. */
bool rr_sim_lent(const struct rr_ep *, const void *base, size_t len);
/* Returns the number of posts whose completions have not been polled yet. */
unsigned rr_sim_owed(const struct rr_ep *);
/* Returns the number of posts whose memory changed while it was lent, if check_lent is
 * set. */
uint64_t rr_sim_lent_changed(const struct rr_sim_world *);

#endif
