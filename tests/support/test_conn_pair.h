/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections back to back, a client and a server.  A seeded generator picks
 * which queue of which side goes next, so that the order of completions and messages
 * varies as far as the provider contract leaves it free.
 */
#ifndef RR_TEST_CONN_PAIR_H
#define RR_TEST_CONN_PAIR_H

#include "test_conn_side.h"

struct pair {
	struct side cl, sv;
	struct rr_rng rng;
	unsigned steps;
	bool no_conservation; /* credits may get lost, with a first message for example */
};

/* Creates and opens both sides.  Their cfg and user are set before. */
void pair_new(struct pair *p, uint64_t seed);
/* Loses and frees both sides, and fails if they left memory behind. */
void pair_end(struct pair *p);

/* Delivers one event.  Returns false when nothing is pending. */
bool pair_step(struct pair *p);
/* Delivers events until none is pending without time passing. */
void pair_run(struct pair *p);
/* Advances time to the next deadline.  Returns false if that is after @until. */
bool pair_wait(struct pair *p, rr_time until);
void pair_lose(struct pair *p, int error);

#endif
