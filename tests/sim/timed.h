/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections over the simulator, joined by the library's pump, in a world whose
 * delays are fixed: each transfer and each call takes an exact time.
 */
#ifndef TESTS_SIM_TIMED_H
#define TESTS_SIM_TIMED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/pump.h"
#include "prov/sim/sim.h"

enum { TIMED_MEM = 2 << 20 };

/* The two ends; 0 is the client. */
struct timed {
	struct rr_sim_world *w;
	struct rr_prov_listener *l;
	struct timed_side {
		struct rr_pump pump;
		struct rr_ep *ep; /* before there is a connection */
		struct timed *pair;
		rr_time woken_at; /* last time at which a completion other than that of
		                   * a Send or Write was polled */
		unsigned wakeups; /* number of such times */
	} side[2];
	uint8_t *mem[2]; /* TIMED_MEM octets at each end */
	struct rr_call call;
	struct rr_piece reply[2]; /* what the server answers */
	rr_time done;             /* when the call ended; 0 = not yet */
};

/* Makes a world and two endpoints that are being connected. */
struct timed *timed_new(const struct rr_sim_options *);
void timed_free(struct timed *);
/* Gives each endpoint a connection, made from the two configurations, and lets the
 * exchange of properties come to rest.  Test limits replace what is 0. */
void timed_connect(struct timed *, const struct rr_conn_config cfg[2]);
/* Closes both connections and frees everything. */
void timed_end(struct timed *);
/* Moves both ends, and the clock to the next event or timer before @until.  Returns
 * false if there is none. */
bool timed_step(struct timed *, rr_time until);
/* Makes the call from @pieces, and returns the time that it took. */
rr_time timed_call(struct timed *, const struct rr_piece *pieces, unsigned n);

#endif
