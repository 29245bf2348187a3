/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulator of RDMA in memory, with virtual time: the reference implementation of
 * prov.h.
 *
 * A world consists of a clock, a seeded random generator, listeners and connections.
 * Nothing happens by itself: every effect is an event with a time, and rr_sim_step
 * carries out the next event.  Two worlds made from the same seed, and given the same
 * calls, do the same things at the same times.
 *
 * The ranges below control what the contract leaves open: delays, when Sends and Writes
 * complete relative to their arrival, when and in which pieces data is placed, and how
 * many completions become visible together.  The promises of the contract always hold.
 * Local memory is read as late as the contract allows: when the post completes or when
 * the data is placed, whichever is first.  Remote memory is accessed when data is
 * placed or sent, and the handle is looked up for each access.  So a test notices if
 * memory is reused, or a region is invalidated, too early.
 *
 * With fixed ranges (min = max), times are exact: a message of n octets starts when its
 * direction of the link is free, occupies this direction for n * 10^9 / bytes_per_sec
 * ns, and arrives @delay later.  A Read takes an empty message, @read_latency, and a
 * message of the Read's length in the other direction.
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

/* One direction.  Direction 0 is from the connecting to the accepting endpoint. */
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
	/* maximum delay of a completion; later ones become visible with it */
	struct rr_sim_range batch;
	/* maximum number of pieces in which a Write or Read is placed; 0 = 1 */
	unsigned pieces;
	/* a Read that must wait because of max_ord also delays later Sends and
	 * Writes */
	bool ord_blocks;
	bool no_remote_invalidate;
	bool scribble;   /* overwrite Receive and Read memory when posted */
	bool check_lent; /* count posts whose Send or Write memory changes while lent */
	/* Limits; 0 = 4096, 4096, 16 and 2^30, respectively. */
	uint32_t max_recv, max_send, max_ord, max_msg;
	/* While a Send, Write or Read is in progress, one of @full_one_in further posts
	 * returns -ENOBUFS, like on a device that uses queue entries for other
	 * purposes; 0 = none does. */
	uint32_t full_one_in;

	/* Faults. */
	bool refuse; /* connections end with -ECONNREFUSED */
	bool silent; /* all messages are lost */
	/* posts are not sent from the event with this number on */
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

/* Returns the options for later connections, including the faults.  The caller may
 * change them. */
struct rr_sim_options *rr_sim_options(struct rr_sim_world *);

rr_time rr_sim_now(const struct rr_sim_world *);
/* Returns when the next event is due, or RR_TIME_NEVER. */
rr_time rr_sim_next(const struct rr_sim_world *);
/* Advances the clock to the next event, and processes the event.  Returns false if
 * there is none. */
bool rr_sim_step(struct rr_sim_world *);
/* Carries out all events up to @t, and moves the clock to @t. */
void rr_sim_run_until(struct rr_sim_world *, rr_time t);
uint64_t rr_sim_events(const struct rr_sim_world *);

/* Breaks the endpoint's connection: both endpoints end with -ECONNRESET. */
void rr_sim_drop(struct rr_ep *);

/* -- functions for tests that check each step ------------------------------ */

/* Returns true if the connection has ended at this endpoint, even if the completion has
 * not been polled yet. */
bool rr_sim_over(const struct rr_ep *);
/* Returns the number of the endpoint's regions that the peer can access now. */
unsigned rr_sim_regions(const struct rr_ep *);
bool rr_sim_region_live(const struct rr_ep *, uint32_t handle);
/* Returns the number of Receives posted for which no Send has arrived. */
unsigned rr_sim_receives(const struct rr_ep *);
/* Returns the number of this endpoint's Sends that were sent and have not arrived. */
unsigned rr_sim_sends_under_way(const struct rr_ep *);
/* Returns true if part of this memory belongs to an outstanding post, or to a region
 * that the peer can access. */
bool rr_sim_lent(const struct rr_ep *, const void *base, size_t len);
/* Returns the number of posts that have not completed or whose completion was not
 * polled. */
unsigned rr_sim_owed(const struct rr_ep *);
/* Returns the number of posts whose memory changed while it was lent (check_lent). */
uint64_t rr_sim_lent_changed(const struct rr_sim_world *);

#endif
