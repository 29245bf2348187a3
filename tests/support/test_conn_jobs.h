/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A workload for two connections back to back.  A job is a call, its data and the reply
 * that it asks for.  The users of both sides compare each message that arrives, octet by
 * octet, with a stream laid out here.
 */
#ifndef RR_TEST_CONN_JOBS_H
#define RR_TEST_CONN_JOBS_H

#include "test_conn_pair.h"

enum { MAX_ITEMS = 4, MAX_CALLS = 64 };

/* One call and the reply that it asks for. */
struct job {
	uint32_t xid;
	unsigned flags;
	size_t filler; /* octets of the Call beside its items, a multiple of 4 */
	unsigned n_items;
	size_t item[MAX_ITEMS];
	unsigned n_results;
	size_t result[MAX_ITEMS];
	size_t dest[MAX_ITEMS];
	unsigned n_dests;
	size_t reply_filler;
	size_t reply_bytes;
	bool user_sinks;
	enum rr_direct direct; /* of each destination, with the limits that follow */
	uint32_t min_len, above;
	bool lend;

	struct rr_call call;
	struct rr_piece piece[2 * MAX_ITEMS + 2];
	uint8_t *flat, *parts, *reply_parts; /* memory the pieces lie in */
	size_t flat_len;
	struct rr_piece reply_piece[2 * MAX_ITEMS + 2];
	unsigned n_reply_pieces;
	uint8_t *sink[MAX_ITEMS];
	struct rr_dest dests[MAX_ITEMS];
	bool served, done;
	unsigned ended;
	unsigned n_lent;  /* results that stayed in Receive buffers */
	bool take, taken; /* take the memory of its Reply; it was taken */
};

struct workload {
	struct pair p;
	struct job job[MAX_CALLS];
	unsigned n_jobs;
	struct rr_request *held[MAX_CALLS];
	unsigned n_held;
	bool hold; /* the server keeps its requests in held */
};

/* A pair without jobs; the test opens it by pair_new(). */
struct workload *workload_new(void);
/* Loses both sides, and fails if a job was not done or memory was left. */
void workload_end(struct workload *w);
/* Sets the limits of both sides alike. */
void workload_configure(struct workload *w, uint32_t credits, uint32_t recv,
                        uint32_t segment, bool inv);
/* Delivers at most @n events. */
void workload_steps(struct workload *w, unsigned n);
/* Answers the requests that the server holds. */
void workload_answer_held(struct workload *w);

/* Lays out a job of this shape. */
struct job *workload_add(struct workload *w, const struct job *shape);
/* Adds a job, runs it until nothing moves, and returns the call's status.  The first job
 * opens the connections. */
int workload_run(struct workload *w, const struct job *shape);
/* Makes the job's call on @s. */
void job_start(struct side *s, struct job *j);
void job_free(struct job *j);
/* Rounds up to a multiple of 4, as XDR does. */
size_t job_padded(size_t n);

#endif
