/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of a connection in a simulated world: actions become posts, completions
 * become events.  What a test checks, counts or decides is in its hooks.
 */
#ifndef TESTS_SIM_SIM_END_H
#define TESTS_SIM_SIM_END_H

#include "conn/conn.h"
#include "prov/sim/sim.h"

struct sim_end;

struct sim_end_hooks {
	/* What a user of a connection answers. */
	void (*admit)(struct sim_end *, struct rr_request *);
	void (*request)(struct sim_end *, struct rr_request *);
	void (*request_done)(struct sim_end *, struct rr_request *, int status);
	void (*call_done)(struct sim_end *, struct rr_call *);
	/* The others may be NULL. */
	void (*ready)(struct sim_end *);
	void (*extension)(struct sim_end *, const struct rr_ext_event *);
	/* Before each action is carried out, and each completion told. */
	void (*acting)(struct sim_end *, const struct rr_action *);
	void (*completing)(struct sim_end *, const struct rr_wc *);
	/* Before the connection is told that a post or a registration failed. */
	void (*post_failed)(struct sim_end *, const struct rr_action *, int err);
	void (*register_failed)(struct sim_end *, int err);
	/* After the connection was told that the endpoint is over. */
	void (*lost)(struct sim_end *, int status);
};

struct sim_end {
	struct rr_sim_world *world;
	const struct sim_end_hooks *hooks;
	struct rr_conn *conn;
	struct rr_ep *ep;
	bool lost;   /* the endpoint is over */
	bool closed; /* so is the connection */
};

/* Tells the connection of the time if it waits for it; whether it did. */
bool sim_end_tick(struct sim_end *);
/* Carries out all actions; whether there were any. */
bool sim_end_drain(struct sim_end *);
/* Sends what was posted. */
void sim_end_flush(struct sim_end *);
enum { SIM_END_MOST = 32 };
/* Takes completions, @max of them at most, and carries out what each leads to; how
 * many there were. */
unsigned sim_end_take(struct sim_end *, unsigned max);

#endif
