/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One seed, from set-up to the end of both connections.
 *
 * In each step both ends are pumped until nothing moves, the work that is due is done,
 * and the checkers run.  Then the clock moves to the next event, timer or piece of
 * work.  The run fails if there is none before the end.  When all work is done, one end
 * closes, and both must reach CLOSED.
 */
#include "sim_test.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>

struct tally tally;
const char *run_program = "sim_run";

#define PATIENCE RR_SEC(100) /* virtual */
enum { MAX_STEPS = 3000000 };

_Noreturn void run_fail(struct run *r, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "seed %" PRIu64 ", step %" PRIu64 ", time %" PRIu64 " ns: ",
	        r->plan.seed, r->step, r->world ? rr_sim_now(r->world) : 0);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nreplay: %s --seed %" PRIu64 " --trace --verbose\n",
	        run_program, r->plan.seed);
	exit(1);
}

void run_note(struct run *r, const char *what, unsigned side, const uint64_t *v,
              unsigned n)
{
	uint64_t h = r->digest ^ rr_sim_now(r->world) ^ side;

	for (const char *c = what; *c; c++)
		h = (h ^ (uint8_t)*c) * 0x100000001b3u;
	for (unsigned i = 0; i < n; i++)
		h = ((h ^ v[i]) * 0x100000001b3u) ^ (h >> 31);
	r->digest = h;
	if (!r->trace)
		return;
	printf("%10" PRIu64 " %6" PRIu64 " %s %-20s", rr_sim_now(r->world), r->step,
	       side ? "server" : "client", what);
	for (unsigned i = 0; i < n; i++)
		printf(" %" PRIx64, v[i]);
	printf("\n");
}

static struct rr_prov_config prov_config(struct run *r, unsigned side)
{
	return (struct rr_prov_config){
	        .conn_id = side,
	        .instance = r->world,
	        .memory = {.receive = node_receive_memory, .ctx = &r->node[side]},
	};
}

static size_t own_private(const struct run *r, unsigned side, uint8_t ret[8])
{
	struct rr_conn_config cfg = r->plan.conn[side];

	cfg.remote_invalidate = !r->plan.world.no_remote_invalidate;
	return r->plan.hello ? rr_conn_own_private(&cfg, ret) : 0;
}

static void begin(struct run *r)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct sockaddr_storage addr;
	struct rr_prov_config cfg;
	struct rr_ep *ep;
	uint8_t priv[8];
	int err;

	for (unsigned i = 0; i < 2; i++) {
		r->node[i].run = r;
		r->node[i].side = i;
	}
	r->world = rr_sim_world_new(r->plan.seed, &r->plan.world);
	cfg = prov_config(r, CLIENT);
	err = rr_sim_ops.listen(&cfg, (struct sockaddr *)&any, sizeof(any),
	                        &r->listener, &addr);
	CHECK(r, !err, "listen: %d", err);
	err = rr_sim_ops.connect(&cfg, (struct sockaddr *)&addr, sizeof(any), priv,
	                         own_private(r, CLIENT, priv), 0, &ep);
	CHECK(r, !err, "connect: %d", err);
	node_open(&r->node[CLIENT], ep);
}

static void try_accept(struct run *r)
{
	struct rr_prov_config cfg = prov_config(r, SERVER);
	struct node *n = &r->node[SERVER];
	struct rr_ep *ep;
	uint8_t priv[8];

	if (n->pump.ep || n->pump.conn || rr_pump_over(&n->pump))
		return;
	if (!rr_sim_ops.accept(r->listener, &cfg, priv, own_private(r, SERVER, priv),
	                       rr_sim_now(r->world), &ep))
		node_open(n, ep);
}

/* -- Faults ---------------------------------------------------------------------- */

static void abandon(struct node *n)
{
	if (rr_pump_lost(&n->pump) || !n->pump.conn)
		return;
	rr_sim_ops.destroy(n->pump.ep);
	n->pump.ep = NULL;
	n->abandoned = true;
	rr_pump_cut(&n->pump, -ECONNRESET, run_now(n->run));
}

static bool is_stuck(const struct run *r)
{
	return r->plan.fault == FAULT_STUCK &&
	       rr_sim_events(r->world) >= r->plan.fault_at;
}

/* An end that closes does not wait for its peer to take what was posted. */
static void close_if_stuck(struct run *r)
{
	struct node *n = &r->node[r->plan.fault_side];
	rr_time now = rr_sim_now(r->world);

	if (!is_stuck(r))
		return;
	if (!n->pump.conn)
		n = &r->node[CLIENT];
	r->may_lose = true;
	if (!r->close_at)
		r->close_at = now + r->plan.stuck_ns;
	CHECK(r,
	      !r->closed_at || rr_pump_lost(&n->pump) ||
	              now <= r->closed_at + RR_SEC(1),
	      "side %u: it waits although it has closed", n->side);
	if (now < r->close_at || r->closed_at)
		return;
	r->closed_at = now;
	r->closing = true;
	if (!rr_pump_over(&n->pump))
		rr_pump_close(&n->pump, 0, now);
}

static void fault(struct run *r)
{
	struct plan *p = &r->plan;
	struct node *n = &r->node[p->fault_side];

	switch (p->fault) {
	case FAULT_NONE:
	case FAULT_DROP:
	case FAULT_POST:
	case FAULT_REGISTER:
	case FAULT_MEMORY:
		break;
	case FAULT_ABORT:
		if (r->step != p->fault_at)
			break;
		r->may_lose = true;
		abandon(n);
		break;
	case FAULT_CLOSE:
		if (r->step != p->fault_at || !n->pump.conn || rr_pump_over(&n->pump))
			break;
		r->closing = true;
		rr_pump_close(&n->pump, 0, rr_sim_now(r->world));
		break;
	case FAULT_STUCK:
		close_if_stuck(r);
		break;
	}
}

/* -- Steps ------------------------------------------------------------------------ */

/* Asked where it matters: an event may come in the middle of a step. */
bool run_may_lose(struct run *r)
{
	r->may_lose |= r->plan.fault == FAULT_DROP &&
	               rr_sim_events(r->world) >= r->plan.fault_at;
	return r->may_lose;
}

static void pump(struct run *r)
{
	unsigned rounds = 0;
	uint64_t events;
	bool moved;

	do {
		events = rr_sim_events(r->world);
		try_accept(r);
		moved = node_pump(&r->node[CLIENT]);
		moved |= node_pump(&r->node[SERVER]);
		moved |= load_due(&r->node[CLIENT]);
		moved |= load_due(&r->node[SERVER]);
		/* One end's flush can complete a post of the other end. */
		moved |= rr_sim_events(r->world) != events;
		CHECK(r, ++rounds < 100000, "the pump does not come to rest");
	} while (moved);
	for (unsigned i = 0; i < 2; i++)
		node_check(&r->node[i]);
	CHECK(r, !rr_sim_lent_changed(r->world), "memory changed while it was lent");
}

static bool closed(const struct node *n)
{
	return rr_pump_over(&n->pump) || !n->pump.conn;
}

static bool finished(struct run *r)
{
	/* A server that never came to be has nothing to end. */
	return closed(&r->node[CLIENT]) && closed(&r->node[SERVER]);
}

/* Everything is answered, and no reply is exposed any longer. */
static bool at_rest(const struct node *n)
{
	return load_finished(n) && start_finished(n) && !n->exposed_bytes;
}

static void maybe_close(struct run *r)
{
	unsigned side = r->plan.seed % 2;
	struct node *n = &r->node[side];

	for (unsigned i = 0; i < 2; i++)
		if (r->node[i].pump.conn && !at_rest(&r->node[i]) &&
		    !rr_pump_over(&r->node[i].pump))
			return;
	if (!n->pump.conn || rr_pump_over(&n->pump)) {
		side = !side;
		n = &r->node[side];
	}
	if (r->closing || !n->pump.conn || rr_pump_over(&n->pump) ||
	    rr_pump_lost(&n->pump))
		return;
	r->closing = true;
	run_note(r, "close", side, NULL, 0);
	rr_pump_close(&n->pump, 0, rr_sim_now(r->world));
	pump(r);
}

static rr_time next_time(struct run *r)
{
	rr_time t = RR_TIME_NEVER;

	if (is_stuck(r) && !r->closed_at)
		t = RR_MAX(r->close_at, rr_sim_now(r->world));
	for (unsigned i = 0; i < 2; i++) {
		struct node *n = &r->node[i];

		t = RR_MIN(t, load_deadline(n));
		if (n->pump.conn && !rr_pump_over(&n->pump))
			t = RR_MIN(t, n->timer);
	}
	return t;
}

static void stalled(struct run *r, const char *how)
{
	for (unsigned i = 0; i < 2; i++) {
		struct node *n = &r->node[i];
		struct rr_conn_info f = {0};

		if (n->pump.conn)
			rr_conn_info(n->pump.conn, &f);
		fprintf(stderr,
		        "  side %u: %u of %u calls ended, %u requests; avail %d cap %u "
		        "owed %u "
		        "receives %u calls %u requests %u ready %d lost %d closed %d "
		        "error %d\n",
		        i, n->n_ended, r->plan.n_calls[i], n->n_served, (int)f.avail,
		        f.cap, f.owed, f.receives_posted, f.calls, f.requests, f.ready,
		        rr_pump_lost(&n->pump), rr_pump_over(&n->pump), f.error);
	}
	run_fail(r, "%s", how);
}

static void advance(struct run *r)
{
	rr_time t = next_time(r), w = rr_sim_next(r->world);

	if (t == RR_TIME_NEVER && w == RR_TIME_NEVER)
		stalled(r, "nothing will ever happen");
	if (t < w)
		rr_sim_run_until(r->world, t);
	else
		rr_sim_step(r->world);
	if (rr_sim_now(r->world) > PATIENCE || r->step > MAX_STEPS)
		stalled(r, "no end in sight");
}

static void count(struct run *r)
{
	tally.seeds++;
	tally.version_1 += r->plan.version == 1;
	tally.steps += r->step;
	tally.sends += r->sends;
	tally.lost += r->node[CLIENT].lost_status != 0;
	for (unsigned i = 0; i < 2; i++) {
		struct rr_conn_counters c;
		uint64_t *to = (uint64_t *)&tally.conn;
		const uint64_t *from = (const uint64_t *)&c;

		if (!r->node[i].pump.conn)
			continue;
		rr_conn_counters(r->node[i].pump.conn, &c);
		for (size_t k = 0; k < sizeof(c) / sizeof(*to); k++)
			to[k] += from[k];
	}
}

void run_tally_print(void)
{
	const struct rr_conn_counters *c = &tally.conn;

#define N(what, value) printf("  %-22s %" PRIu64 "\n", what, (uint64_t)(value))
	N("seeds", tally.seeds);
	N("in version 1", tally.version_1);
	N("ended by loss", tally.lost);
	N("steps", tally.steps);
	N("held posts tried", tally.stalls);
	N("sends", tally.sends);
	N("calls answered", tally.ok);
	N("calls refused", tally.refused);
	N("calls cancelled", tally.cancelled);
	N("calls failed", tally.failed);
	N("grants", c->grants);
	N("errors sent", c->errors_sent);
	N("recoveries", c->recoveries);
	N("discards", c->discards);
	N("proved themselves", tally.proved);
	N("octets of properties", tally.list_octets);
	N("extension messages", c->ext_received);
	N("overruns", c->overruns);
	N("credit stalls", c->credit_stalls);
	N("octets inline", c->bytes_inline);
	N("octets continued", c->bytes_continued);
	N("octets in Read chunks", c->bytes_read_chunk);
	N("octets in Write chunks", c->bytes_write_chunk);
	N("octets in Reply chunks", c->bytes_reply_chunk);
	N("octets in Special Calls", c->bytes_special_call);
	N("registrations", c->registrations);
	N("local invalidations", c->local_invalidations);
	N("remote invalidations", c->remote_invalidations);
	N("exposed replies", c->rprc_exposed);
	N("octets pulled of them", c->bytes_reply_pulled);
	N("expired", c->rprc_expired);
	N("notifications sent", c->done_sent);
	N("notifications dropped", c->done_dropped);
#undef N
}

static void finish(struct run *r)
{
	count(r);
	for (unsigned i = 0; i < 2; i++)
		node_fini(&r->node[i]);
	rr_sim_ops.listener_close(r->listener);
	rr_sim_world_free(r->world);
}

uint64_t run_seed(uint64_t seed, bool trace, bool verbose)
{
	struct run *r = calloc(1, sizeof(*r));
	uint64_t digest;

	plan_draw(&r->plan, seed);
	start_draw(&r->plan);
	if (verbose)
		plan_print(&r->plan);
	r->trace = trace;
	begin(r);
	r->may_lose |= r->plan.fault == FAULT_POST;
	for (;;) {
		fault(r);
		pump(r);
		maybe_close(r);
		if (finished(r))
			break;
		advance(r);
		r->step++;
	}
	if (verbose)
		printf("  %" PRIu64 " steps, %" PRIu64 " sends, %" PRIu64
		       " ns, lost %d\n",
		       r->step, r->sends, rr_sim_now(r->world),
		       r->node[CLIENT].lost_status);
	finish(r);
	digest = r->digest;
	free(r);
	return digest;
}
