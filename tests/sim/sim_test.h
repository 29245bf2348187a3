/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole connections under seeded schedules.
 *
 * plan.c draws everything from the seed: the timing and the fault of the world, both
 * configurations, and for each call its arguments and the results it must get.
 * node.c is one end: a connection, an endpoint, the library's pump between them, and
 * the checkers of ownership.  load.c makes and checks calls and requests; start.c does
 * so for long property lists, authentication and messages of an extension.  features.c
 * switches optional features on.  run.c moves both ends step by step until both are
 * closed.
 *
 * The oracle: contents and lengths follow from (seed, direction, index), and are
 * computed here without the code under test.  A failed check prints the seed, the step
 * and the command that replays the seed, and exits.
 */
#ifndef TESTS_SIM_SIM_TEST_H
#define TESTS_SIM_SIM_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/pump.h"
#include "prov/sim/sim.h"

enum { CLIENT, SERVER, MAX_ITEMS = 3, MAX_DESTS = 3, MAX_CALLS = 48 };
/* A cancel_wait beyond the end of any run. */
#define PLAN_LONG_WAIT RR_SEC(3600)

enum fault {
	FAULT_NONE,
	FAULT_DROP,     /* the link breaks at event @fault_at */
	FAULT_POST,     /* a post fails */
	FAULT_REGISTER, /* a registration fails */
	FAULT_MEMORY,   /* the connection gets no memory once */
	FAULT_ABORT,    /* one end is destroyed at step @fault_at */
	FAULT_CLOSE,    /* one end closes in order at step @fault_at */
	FAULT_STUCK,    /* nothing leaves from event @fault_at on, and one end closes */
};

/* A call: what the caller sends and what it must get. */
struct spec {
	unsigned dir; /* CLIENT: asked by the client */
	unsigned index;
	uint32_t xid;
	unsigned flags;
	unsigned n_items, n_dests, n_results;
	uint32_t item[MAX_ITEMS], gap[MAX_ITEMS + 1];
	uint32_t dest[MAX_DESTS];
	uint32_t result[MAX_DESTS + 1], rgap[MAX_DESTS + 2];
	uint32_t reply_bytes;
	bool split; /* the first piece comes in two of odd length */
	bool own_sinks;
	bool lend;              /* results may stay where they arrive */
	struct rr_error refuse; /* once; code 0: not at all */
	bool refuse_early;      /* at ADMIT */
	/* What has become of it: the error that it recovered from, Write chunks of
	 * the last attempt, and the one of them that has grown, from one. */
	struct rr_error first;
	unsigned n_chunks, grown;
	/* Write chunks of the last attempt without octets, though the destination has
	 * some: the result comes by Send, or stays in the payload. */
	bool empty[MAX_DESTS], in_payload[MAX_DESTS];
	rr_time issue_at, answer_after, cancel_after, release_after;
};

/* See start.c. */
struct start {
	bool ext, auth, thanks;
	struct rr_ext_table table[2];
	unsigned questions[2];
	uint32_t words[5]; /* octets of each, in turn */
};

struct plan {
	struct start start;
	uint64_t seed;
	struct rr_sim_options world;
	struct rr_conn_config conn[2];
	enum fault fault;
	uint64_t fault_at;
	unsigned fault_side;
	rr_time stuck_ns; /* FAULT_STUCK: from that event to the closing */
	unsigned rvrsdir;
	unsigned version;     /* that both come to speak */
	bool hello;           /* each gets the private data of the other */
	unsigned poll_max[2]; /* completions polled at once */
	unsigned rounds[2];   /* of one turn */
	unsigned n_calls[2];
	struct spec spec[2][MAX_CALLS];
};

void plan_draw(struct plan *, uint64_t seed);
void plan_print(const struct plan *);
struct spec *plan_find(struct plan *, unsigned dir, uint32_t xid);

/* Octets of the Reply's Payload stream without what goes to destinations. */
uint32_t spec_reply_bytes(const struct spec *);
/* Contents.  Streams are unreduced: items with their padding. */
uint8_t *spec_call_stream(const struct plan *, const struct spec *, size_t *ret_len);
/* As the caller gets it: what went to destinations is missing. */
uint8_t *spec_reply_stream(const struct plan *, const struct spec *, size_t *ret_len);
void spec_fill(const struct plan *, const struct spec *, unsigned stream, unsigned part,
               void *buf, size_t len);
enum { STREAM_CALL, STREAM_REPLY };

struct run;

struct asked {
	struct rr_call call;
	struct spec *spec;
	struct rr_piece pieces[2 * MAX_ITEMS + 2];
	struct rr_dest dests[MAX_DESTS];
	bool issued, cancelled, ended, released;
	unsigned attempts; /* after the first */
	rr_time issued_at, ended_at;
};

struct served {
	struct served *next;
	struct rr_request *request;
	struct spec *spec;
	struct rr_piece pieces[2 * MAX_DESTS + 4];
	unsigned n_pieces;
	uint8_t *sink[MAX_ITEMS];
	rr_time due;
	bool answered, ready; /* REQUEST was seen */
};

struct node {
	struct run *run;
	unsigned side;
	struct rr_pump pump;
	struct rr_trace_sink sink;
	bool ready, abandoned;
	int lost_status;
	rr_time timer;
	uint64_t live_bytes, live_blocks, gets;
	uint64_t exposed_bytes; /* features.c */
	struct asked asked[MAX_CALLS];
	unsigned n_ended;
	struct served *served;
	unsigned n_served;
	/* start.c */
	unsigned steps, told[RR_EXT_MAX];
	bool told_value[RR_EXT_MAX], consent;
	unsigned asked_ext, answered_ext;
};

struct run {
	struct plan plan;
	struct rr_sim_world *world;
	struct rr_prov_listener *listener;
	struct node node[2];
	uint64_t step, digest, sends, completions;
	rr_time close_at, closed_at; /* FAULT_STUCK; 0: not yet */
	bool may_lose; /* a cancel or a fault may have ended the connection */
	bool closing;
	bool trace;
};

_Noreturn void run_fail(struct run *, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
#define CHECK(run, x, ...)                                                             \
	do {                                                                           \
		if (!(x))                                                              \
			run_fail(run, __VA_ARGS__);                                    \
	} while (0)

void run_note(struct run *, const char *what, unsigned side, const uint64_t *v,
              unsigned n);

/* node.c */
void node_open(struct node *, struct rr_ep *); /* makes its connection and pump */
/* rr_prov_memory.receive of a node. */
void *node_receive_memory(void *ctx, uint64_t token, uint32_t have, uint32_t len);
bool node_pump(struct node *); /* true if anything completed */
void node_check(struct node *);
void node_fini(struct node *);
rr_time run_now(const struct run *);
/* A cancel or a fault may have ended the connection. */
bool run_may_lose(struct run *);

/* load.c: called by the node for actions, by the run for what is due */
void load_admit(struct node *, struct rr_request *);
void load_request(struct node *, struct rr_request *);
void load_request_done(struct node *, struct rr_request *, int status);
void load_call_done(struct node *, struct rr_call *);
bool load_due(struct node *); /* issues, answers, cancels, releases */
rr_time load_deadline(const struct node *);
bool load_finished(const struct node *);
void load_fini(struct node *);

/* features.c */
void features_draw(struct plan *);
void features_print(const struct plan *);
void features_config(struct node *, struct rr_conn_config *);

/* start.c */
void start_draw(struct plan *);
void start_config(struct node *, struct rr_conn_config *);
void start_ready(struct node *);
void start_event(struct node *, const struct rr_ext_event *);
bool start_finished(const struct node *);

/* run.c */
/* What was reached, over all seeds: a schedule that tries nothing proves nothing. */
struct tally {
	uint64_t seeds, version_1, lost, steps, sends;
	uint64_t stalls;                         /* held posts that were tried again */
	uint64_t ok, refused, failed, cancelled; /* calls */
	uint64_t proved, list_octets; /* with authentication; of properties */
	struct rr_conn_counters conn; /* both ends */
};
extern struct tally tally;
extern const char *run_program; /* to replay a seed by */

uint64_t run_seed(uint64_t seed, bool trace, bool verbose);
void run_tally_print(void);

#endif
