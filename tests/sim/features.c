/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Optional features as properties of both ends, each drawn by itself: one end may use
 * what the other does not know.  A feature is a row of the table.
 */
#include "sim_test.h"

static bool one_in(struct rr_rng *r, unsigned n)
{
	return rr_rng_below(r, n) == 0;
}

/* Limits so small that replies take other ways, and lifetimes beyond any delay. */
static void draw_rprc(struct plan *p, struct rr_rng *r, unsigned side)
{
	static const uint64_t most[] = {0, 0, 1 << 20, 100000, 20000};
	struct rr_feature_config *g = &p->conn[side].features;

	g->rprc_no_lifetime = one_in(r, 4);
	g->rprc_no_piggyback = one_in(r, 3);
	g->rprc_max_pending = one_in(r, 3) ? 1 + (uint32_t)rr_rng_below(r, 3) : 0;
	g->rprc_max_bytes = most[rr_rng_below(r, RR_ARRAY_SIZE(most))];
	g->max_pull = most[rr_rng_below(r, RR_ARRAY_SIZE(most))];
	g->done_delay = one_in(r, 2) ? 1 + rr_rng_below(r, 5000000) : 0;
	g->cont_max_sends = one_in(r, 2) ? 1 : (uint32_t)rr_rng_below(r, 9);
	g->reply_chunk_first = one_in(r, 4);
	g->no_reply_chunks = one_in(r, 4);
	for (unsigned i = 0; i < p->n_calls[side]; i++)
		if (one_in(r, 4))
			p->spec[side][i].flags |= RR_CALL_LARGE_REPLY;
}

/* Structures of every size, limits that groups exceed, and each ability switched off. */
static void draw_rtr(struct plan *p, struct rr_rng *r, unsigned side)
{
	struct rr_feature_config *g = &p->conn[side].features;

	g->rtr_segments = (uint32_t)rr_rng_below(r, 4);
	g->rtr_segment_bytes = 1024u << rr_rng_below(r, 4);
	g->rtr_requests = 1 + (uint32_t)rr_rng_below(r, 20);
	g->rtr_responses = 1 + (uint32_t)rr_rng_below(r, 20);
	g->rtr_no_continuation = one_in(r, 4);
	g->rtr_no_send_results = one_in(r, 4);
	g->tbsn_max = 1 + (uint32_t)rr_rng_below(r, 65536);
	g->group_wait = 1 + rr_rng_below(r, 50000000);
	for (unsigned i = 0; i < p->n_calls[side]; i++)
		p->spec[side][i].lend = one_in(r, 2);
}

static const struct {
	enum rr_feature feature;
	uint64_t salt; /* of its generator: the other draws stay as they are */
	void (*draw)(struct plan *, struct rr_rng *, unsigned side);
} table[] = {
        {RR_FEATURE_RPRC, 0x4c0, draw_rprc},
        {RR_FEATURE_RTR, 0x47c, draw_rtr},
};

void features_draw(struct plan *p)
{
	for (size_t i = 0; i < RR_ARRAY_SIZE(table); i++) {
		struct rr_rng r;

		rr_rng_seed(&r, p->seed ^ table[i].salt);
		for (unsigned side = 0; side < 2; side++) {
			if (one_in(&r, 3))
				continue;
			p->conn[side].features.on |= 1u << table[i].feature;
			table[i].draw(p, &r, side);
		}
	}
}

/* -- memory of the process for exposed replies ----------------------------------- */

static bool take_exposed(void *ctx, uint64_t bytes, bool in_place)
{
	struct node *n = ctx;

	if (n->run->plan.conn[n->side].features.rprc_max_pending == 2 &&
	    n->exposed_bytes)
		return false; /* others have it */
	n->exposed_bytes += bytes;
	return true;
}

static void give_exposed(void *ctx, uint64_t bytes, bool in_place)
{
	struct node *n = ctx;

	CHECK(n->run, n->exposed_bytes >= bytes, "side %u: more exposed memory back",
	      n->side);
	n->exposed_bytes -= bytes;
}

void features_config(struct node *n, struct rr_conn_config *cfg)
{
	cfg->exposure_budget =
	        (struct rr_exposure_budget){take_exposed, give_exposed, n};
}

void features_print(const struct plan *p)
{
	for (unsigned side = 0; side < 2; side++) {
		const struct rr_feature_config *g = &p->conn[side].features;

		printf("  %s features %x: lifetime %u%s pending %u bytes %llu pull "
		       "%llu delay "
		       "%llu piggyback %d continued %u\n",
		       side == CLIENT ? "client" : "server", g->on, g->rprc_lifetime_ms,
		       g->rprc_no_lifetime ? " (none)" : "", g->rprc_max_pending,
		       (unsigned long long)g->rprc_max_bytes,
		       (unsigned long long)g->max_pull,
		       (unsigned long long)g->done_delay, !g->rprc_no_piggyback,
		       g->cont_max_sends);
	}
}
