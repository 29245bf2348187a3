/* SPDX-License-Identifier: BSD-3-Clause */
/* See feature.h. */
#include "conn/feature.h"
#include "conn/core.h"
#include "conn/htfam/htfam.h"
#include "conn/rprc/rprc.h"

/* Indexed by enum rr_feature. */
static const struct rr_feature_ops *const feature_table[RR_FEATURES] = {
        [RR_FEATURE_RPRC] = &rr_rprc_ops,
        [RR_FEATURE_RTR] = &rr_rtr_ops,
        [RR_FEATURE_HTFAM] = &rr_htfam_ops,
        [RR_FEATURE_REMINV] = &rr_reminv_ops,
};

const char *rr_feature_name(enum rr_feature f)
{
	static const char *const name[RR_FEATURES] = {
	        [RR_FEATURE_RPRC] = "rprc",
	        [RR_FEATURE_REMINV] = "reminv",
	        [RR_FEATURE_RTR] = "rtr",
	        [RR_FEATURE_HTFAM] = "htfam",
	};

	return name[f];
}

static void default_u32(uint32_t *v, uint32_t value)
{
	if (!*v)
		*v = value;
}

static void default_u64(uint64_t *v, uint64_t value)
{
	if (!*v)
		*v = value;
}

void rr_feature_defaults(struct rr_feature_config *g)
{
	default_u32(&g->rprc_lifetime_ms, 10000);
	g->rprc_lifetime_ms =
	        RR_MAX(g->rprc_lifetime_ms, (uint32_t)RR_WIRE_RPRC_MIN_LIFETIME);
	default_u32(&g->rprc_max_pending, 64);
	default_u64(&g->rprc_max_bytes, 64 << 20);
	default_u64(&g->max_pull, 1 << 20);
	default_u64(&g->done_delay, RR_MS(1));
	default_u32(&g->cont_max_sends, 8);
	default_u64(&g->cancel_wait, RR_MS(5000));
	default_u32(&g->rtr_segment_bytes, 4096);
	default_u32(&g->rtr_requests, 16);
	default_u32(&g->rtr_responses, 16);
	default_u64(&g->group_wait, RR_MS(1000));
	default_u32(&g->tbsn_max, 65536);
}

/* Returns the table of feature @f, or NULL if the feature is not in @mask. */
static const struct rr_feature_ops *pick_feature(unsigned mask, unsigned f)
{
	return mask >> f & 1 ? feature_table[f] : NULL;
}

enum { ALL_FEATURES = (1 << RR_FEATURES) - 1 };

/* Runs the statement that follows for each feature @f in @mask whose table has function
 * @fn. */
#define FOR_EACH_FEATURE(mask, f, fn)                                                  \
	for (unsigned i_ = 0; i_ < RR_FEATURES && (unsigned)(mask) >> i_; i_++)        \
		for (const struct rr_feature_ops *f = pick_feature(mask, i_);          \
		     f && f->fn; f = NULL)

const struct rr_feature_ops *rr_feature_of(const struct rr_conn *c, uint32_t htype)
{
	if (htype == RDMA2_MSG || htype == RDMA2_NOMSG)
		return NULL;
	FOR_EACH_FEATURE (c->features, f, accepts)
		if (f->accepts(c, htype))
			return f;
	return NULL;
}

uint32_t rr_features_put_props(const struct rr_conn *c, struct rr_writer *w)
{
	uint32_t n = 0;

	FOR_EACH_FEATURE (c->features, f, put_props)
		n += f->put_props(c, w);
	return n;
}

bool rr_features_take_prop(const struct rr_conn *c, const struct rr_prop *p,
                           struct rr_peer_props *v)
{
	FOR_EACH_FEATURE (c->features, f, take_prop)
		if (f->take_prop(c, p, v) == -EINVAL)
			return false;
	return true;
}

bool rr_features_check_props(const struct rr_conn *c, const struct rr_peer_props *v)
{
	FOR_EACH_FEATURE (c->features, f, check_props)
		if (!f->check_props(v))
			return false;
	return true;
}

void rr_features_agree(struct rr_conn *c)
{
	FOR_EACH_FEATURE (c->features, f, agree)
		f->agree(c);
}

/* [D6] */
void rr_features_refused(struct rr_conn *c)
{
	unsigned keep = 0;

	for (unsigned i = 0; c->state == RR_CONN_READY && i < RR_FEATURES; i++) {
		const struct rr_feature_ops *f = pick_feature(c->features, i);

		if (f && f->refused) {
			f->refused(c);
			keep |= 1u << i;
		}
	}
	c->features = keep;
}

unsigned rr_features_agreed(const struct rr_conn *c)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < RR_FEATURES; i++) {
		const struct rr_feature_ops *f = pick_feature(c->features, i);

		if (f && f->agreed(c))
			mask |= 1u << i;
	}
	return mask;
}

void rr_feature_begin(struct rr_conn *c, enum rr_feature f)
{
	c->busy |= 1u << f;
}

static void forget_idle_features(struct rr_conn *c)
{
	for (unsigned i = 0; i < RR_FEATURES; i++) {
		const struct rr_feature_ops *f = pick_feature(c->busy, i);

		if (f && f->idle(c))
			c->busy &= ~(1u << i);
	}
}

bool rr_features_progress(struct rr_conn *c)
{
	FOR_EACH_FEATURE (c->busy, f, progress)
		if (f->progress(c))
			return true;
	forget_idle_features(c);
	return false;
}

bool rr_features_transmit(struct rr_conn *c)
{
	FOR_EACH_FEATURE (c->features & c->busy, f, transmit)
		if (f->transmit(c))
			return true;
	return false;
}

void rr_features_tick(struct rr_conn *c)
{
	FOR_EACH_FEATURE (c->busy, f, tick)
		f->tick(c);
}

rr_time rr_features_deadline(const struct rr_conn *c)
{
	rr_time t = RR_TIME_NEVER;

	FOR_EACH_FEATURE (c->busy, f, deadline)
		t = RR_MIN(t, f->deadline(c));
	return t;
}

void rr_features_lost(struct rr_conn *c)
{
	FOR_EACH_FEATURE (ALL_FEATURES, f, lost)
		f->lost(c);
}

void rr_features_fini(struct rr_conn *c)
{
	FOR_EACH_FEATURE (ALL_FEATURES, f, fini)
		f->fini(c);
}
