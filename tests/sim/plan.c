/* SPDX-License-Identifier: BSD-3-Clause */
/* From a seed to everything that will be tried. */
#include "sim_test.h"

#include "../support/test_conn_limits.h"

static uint64_t below(struct rr_rng *r, uint64_t n)
{
	return rr_rng_below(r, n);
}

static uint64_t between(struct rr_rng *r, uint64_t lo, uint64_t hi)
{
	return lo + below(r, hi - lo + 1);
}

static bool one_in(struct rr_rng *r, unsigned n)
{
	return below(r, n) == 0;
}

/* Small values are as likely as large ones. */
static uint32_t skewed(struct rr_rng *r, uint32_t lo, uint32_t hi)
{
	unsigned bits = 0;
	uint64_t top;

	while (bits < 31 && (lo + 1u) << bits < hi)
		bits++;
	top = (uint64_t)(lo + 1) << below(r, bits + 1);
	top = RR_MIN((uint64_t)hi, top);
	return (uint32_t)between(r, lo, RR_MAX(top, lo));
}

static struct rr_sim_range range(struct rr_rng *r, rr_time most)
{
	rr_time a = below(r, most), b = below(r, most);

	if (one_in(r, 4))
		return (struct rr_sim_range){a, a};
	return (struct rr_sim_range){RR_MIN(a, b), RR_MAX(a, b)};
}

static void draw_world(struct plan *p, struct rr_rng *r)
{
	static const uint64_t rates[] = {0, 100000000, 1000000000, 12500000000};
	struct rr_sim_options *o = &p->world;
	rr_time scale = 1 + skewed(r, 100, 200000);

	for (unsigned i = 0; i < 2; i++) {
		o->dir[i].delay = range(r, scale);
		o->dir[i].bytes_per_sec = rates[below(r, RR_ARRAY_SIZE(rates))];
	}
	if (one_in(r, 2))
		o->place = range(r, scale);
	if (one_in(r, 2))
		o->read_latency = range(r, scale);
	o->send_done = range(r, 4 * scale);
	if (one_in(r, 2))
		o->inv_done = range(r, scale);
	if (one_in(r, 2))
		o->batch = range(r, scale);
	o->pieces = (unsigned)below(r, 5);
	o->ord_blocks = one_in(r, 2);
	o->max_ord = (uint32_t)skewed(r, 1, 32);
	o->no_remote_invalidate = one_in(r, 4);
	o->scribble = true;
	o->check_lent = true;
}

static void draw_fault(struct plan *p, struct rr_rng *r)
{
	p->fault_side = (unsigned)below(r, 2);
	if (!one_in(r, 3))
		return;
	p->fault = one_in(r, 2) ? FAULT_DROP : FAULT_DROP + (enum fault)below(r, 6);
	p->fault_at = one_in(r, 2) ? skewed(r, 1, 3000) : between(r, 1, 3000);
	switch (p->fault) {
	case FAULT_DROP:
		p->world.drop_event = p->fault_at;
		break;
	case FAULT_POST:
		p->world.fail_post = p->fault_at;
		p->world.fail_on = one_in(r, 2);
		break;
	case FAULT_REGISTER:
		p->fault_at = skewed(r, 1, 60);
		p->world.fail_register = p->fault_at;
		p->world.fail_on = one_in(r, 2);
		break;
	case FAULT_MEMORY:
		p->fault_at = skewed(r, 1, 200);
		break;
	case FAULT_NONE:
	case FAULT_ABORT:
	case FAULT_CLOSE:
	case FAULT_STUCK:
		break;
	}
}

/* From a generator of its own: what version 2 is tried with stays as it is. */
static void draw_versions(struct plan *p)
{
	static const struct {
		unsigned client, server, version;
	} t[] = {
	        {RR_CONN_V1, RR_CONN_V1, 1},
	        {RR_CONN_V1, RR_CONN_V1 | RR_CONN_V2, 1},
	        {RR_CONN_V1 | RR_CONN_V2, RR_CONN_V1, 1},
	        {RR_CONN_V1 | RR_CONN_V2, RR_CONN_V1 | RR_CONN_V2, 2},
	        {RR_CONN_V1 | RR_CONN_V2, RR_CONN_V2, 2},
	        {RR_CONN_V2, RR_CONN_V1 | RR_CONN_V2, 2},
	};
	struct rr_rng r;
	uint64_t k;

	p->version = 2;
	rr_rng_seed(&r, p->seed ^ 0x8166);
	if (!one_in(&r, 2))
		return;
	k = below(&r, RR_ARRAY_SIZE(t));
	p->conn[CLIENT].versions = t[k].client;
	p->conn[SERVER].versions = t[k].server;
	p->version = t[k].version;
	p->hello = !one_in(&r, 4);
}

/* Version 1 has fewer levels, limits and messages. */
static void fit_version_1(struct plan *p)
{
	for (unsigned side = 0; side < 2; side++) {
		p->conn[side].segment_bytes = 1 << 20;
		p->conn[side].max_segments = 64;
		p->conn[side].rvrsdir = p->rvrsdir;
	}
}

/* How the pump is moved, and queues that are full; from a generator of its own too. */
static void draw_pump(struct plan *p)
{
	struct rr_rng r;

	rr_rng_seed(&r, p->seed ^ 0x9069);
	for (unsigned side = 0; side < 2; side++)
		p->rounds[side] = one_in(&r, 2) ? 64 : 1 + (unsigned)below(&r, 3);
	if (one_in(&r, 2))
		p->world.max_send = skewed(&r, 1, 64);
	if (one_in(&r, 3))
		p->world.full_one_in = 1 + skewed(&r, 1, 30);
	if (p->fault == FAULT_NONE && one_in(&r, 12)) {
		p->fault = FAULT_STUCK;
		p->fault_at = p->world.stuck_event = skewed(&r, 1, 3000);
		p->stuck_ns = skewed(&r, 1, 20000000);
		p->world.max_send = skewed(&r, 1, 8);
	}
}

static void draw_conn(struct plan *p, struct rr_rng *r, unsigned side)
{
	static const uint32_t segs[] = {4096, 30000, 65536, 1 << 20, 1 << 20};
	struct rr_conn_config *c = &p->conn[side];

	c->role = side == CLIENT ? RR_CONN_CLIENT : RR_CONN_SERVER;
	c->id = side;
	c->xid_seed = (uint32_t)rr_rng_next(r);
	if (one_in(r, 4))
		c->xid_seed = 0xfffffffe; /* wraps: own XIDs skip 0 */
	c->credits =
	        one_in(r, 4) ? 2 + (uint32_t)below(r, 3) : (uint32_t)between(r, 2, 64);
	c->send_credits = one_in(r, 2) ? 0 : c->credits + (uint32_t)below(r, 64);
	c->send_bytes = (uint32_t)skewed(r, 1024, 16384);
	c->recv_bytes = (uint32_t)skewed(r, 1024, 16384);
	if (one_in(r, 4))
		c->send_bytes = c->recv_bytes = 0;
	c->segment_bytes = segs[below(r, RR_ARRAY_SIZE(segs))];
	if (one_in(r, 12))
		c->segment_bytes = 1024;
	c->max_segments = one_in(r, 4) ? (uint32_t)between(r, 4, 16) : 64;
	c->remote_invalidate = true;
	c->max_message_bytes = one_in(r, 8) ? 40000 : 1u << (19 + below(r, 4));
	if (one_in(r, 8))
		c->max_requests = 1 + (uint32_t)below(r, 4);
	if (one_in(r, 4))
		c->grant_ns = 1 + skewed(r, 1000, 10000000);
	if (side == CLIENT)
		c->rvrsdir = p->rvrsdir;
}

/* Drawn from numbers of their own. */
static void draw_features(struct plan *p)
{
	struct rr_rng r;

	rr_rng_seed(&r, p->seed ^ 0xfea7);
	p->world.survive_inv_twice = one_in(&r, 8);
	for (unsigned side = 0; side < 2; side++) {
		struct rr_feature_config *g = &p->conn[side].features;

		if (one_in(&r, 2))
			g->on |= 1u << RR_FEATURE_REMINV;
		g->inv_policy = (enum rr_inv_policy)below(&r, 6);
		g->no_remote_inv = one_in(&r, 8);
		g->cancel_wait =
		        one_in(&r, 2) ? 1 + skewed(&r, 1, 1000000) : PLAN_LONG_WAIT;
		if (one_in(&r, 2))
			g->on |= 1u << RR_FEATURE_HTFAM;
	}
}

static void draw_arguments(struct spec *s, struct rr_rng *r, uint32_t most)
{
	s->n_items = most ? (unsigned)below(r, MAX_ITEMS + 1) : 0;
	for (unsigned i = 0; i < s->n_items; i++)
		s->item[i] = skewed(r, 1, most);
	for (unsigned i = 0; i <= s->n_items; i++)
		s->gap[i] = 4 * skewed(r, 1, 100);
	s->gap[0] += 12;
	if (most && one_in(r, 3))
		s->gap[0] += 4 * skewed(r, 1, 10000);
	if (one_in(r, 2) && s->n_items)
		s->gap[s->n_items] = 0;
	s->split = one_in(r, 2);
	if (one_in(r, 6))
		s->flags |= RR_CALL_NO_REDUCE;
	if (most && one_in(r, 6))
		s->flags |= RR_CALL_SPECIAL;
}

static void draw_results(struct spec *s, struct rr_rng *r, uint32_t most, bool dests)
{
	s->n_dests = dests ? (unsigned)below(r, MAX_DESTS + 1) : 0;
	s->n_results = most ? (unsigned)below(r, MAX_DESTS + 1) : 0;
	for (unsigned i = 0; i < s->n_dests; i++)
		s->dest[i] = skewed(r, 1, most);
	for (unsigned i = 0; i < s->n_results; i++) {
		uint32_t top = i < s->n_dests ? s->dest[i] : most;

		s->result[i] = one_in(r, 3) ? top : skewed(r, 1, top);
		if (i < s->n_dests && one_in(r, 8))
			s->result[i] = 0; /* absent: the chunk comes back unused */
		if (i < s->n_dests && one_in(r, 24))
			s->result[i] = top + 1 + (uint32_t)below(r, 100);
	}
	for (unsigned i = 0; i <= s->n_results; i++)
		s->rgap[i] = 4 * skewed(r, 1, 100);
	s->rgap[0] += 12;
	if (most && one_in(r, 3))
		s->rgap[0] += 4 * skewed(r, 1, 10000);
}

uint32_t spec_reply_bytes(const struct spec *s)
{
	uint32_t n = 0;

	for (unsigned i = 0; i <= s->n_results; i++)
		n += s->rgap[i];
	for (unsigned i = s->n_dests; i < s->n_results; i++)
		n += (s->result[i] + 3) & ~3u;
	return n;
}

static void draw_times(struct spec *s, struct rr_rng *r)
{
	s->issue_at = one_in(r, 2) ? 0 : skewed(r, 1, 5000000);
	s->answer_after = one_in(r, 2) ? 0 : skewed(r, 1, 1000000);
	s->release_after = one_in(r, 2) ? 0 : skewed(r, 1, 1000000);
	s->cancel_after = RR_TIME_NEVER;
}

/* Codes that come before execution come at ADMIT or later, the others later. */
static void draw_refusal(struct spec *s, struct rr_rng *r)
{
	static const uint32_t codes[] = {
	        RDMA2_ERR_SYSTEM,         RDMA2_ERR_BAD_XDR,
	        RDMA2_ERR_READ_CHUNKS,    RDMA2_ERR_WRITE_CHUNKS,
	        RDMA2_ERR_SEGMENTS,       RDMA2_ERR_SEGMENTS,
	        RDMA2_ERR_WRITE_RESOURCE, RDMA2_ERR_REPLY_RESOURCE};
	struct rr_error *e = &s->refuse;

	e->code = codes[below(r, RR_ARRAY_SIZE(codes))];
	if (e->code == RDMA2_ERR_WRITE_RESOURCE) {
		e->arg[0] = (uint32_t)below(r, MAX_DESTS + 1);
		e->arg[1] = skewed(r, 0, 300000);
	} else if (e->code == RDMA2_ERR_REPLY_RESOURCE) {
		e->arg[0] = skewed(r, 0, 300000);
	} else if (e->code == RDMA2_ERR_SEGMENTS) {
		e->arg[0] = skewed(r, 0, 40);
	} else if (e->code == RDMA2_ERR_READ_CHUNKS ||
	           e->code == RDMA2_ERR_WRITE_CHUNKS) {
		e->arg[0] = (uint32_t)below(r, 3);
	}
	s->refuse_early = e->code != RDMA2_ERR_WRITE_RESOURCE &&
	                  e->code != RDMA2_ERR_REPLY_RESOURCE && one_in(r, 2);
}

static void draw_spec(struct plan *p, struct rr_rng *r, unsigned dir, unsigned i,
                      bool cancels)
{
	struct spec *s = &p->spec[dir][i];
	/* What the caller may use: reverse levels allow less. */
	unsigned level = dir == CLIENT ? RDMA2_RVRSDIR_GENL : p->rvrsdir;
	uint32_t most = level >= RDMA2_RVRSDIR_CONT ? 100000 : 0;

	s->dir = dir;
	s->index = i;
	s->xid = 0x7000 + i; /* the same in both directions */
	if (i == 3)
		s->xid = 0;
	draw_arguments(s, r, most);
	draw_results(s, r, most, level == RDMA2_RVRSDIR_GENL);
	if (level != RDMA2_RVRSDIR_GENL)
		s->flags &= ~(unsigned)RR_CALL_SPECIAL;
	s->reply_bytes = one_in(r, 3) ? 0 : spec_reply_bytes(s);
	if (s->reply_bytes && one_in(r, 3))
		s->reply_bytes += skewed(r, 1, 20000);
	s->own_sinks = one_in(r, 2);
	s->n_chunks = s->n_dests;
	if (one_in(r, 2))
		s->flags |= RR_CALL_IDEMPOTENT;
	if (one_in(r, 10))
		draw_refusal(s, r);
	draw_times(s, r);
	if (cancels && one_in(r, 4))
		s->cancel_after = skewed(r, 1, 1000000);
}

void plan_draw(struct plan *p, uint64_t seed)
{
	struct rr_rng r;
	bool cancels;

	memset(p, 0, sizeof(*p));
	rr_rng_seed(&r, seed ^ 0x5eed);
	p->seed = seed;
	draw_versions(p);
	p->rvrsdir = one_in(&r, 2) ? 0 : (unsigned)between(&r, 1, 3);
	if (p->version == 1 && p->rvrsdir == RDMA2_RVRSDIR_CONT)
		p->rvrsdir = RDMA2_RVRSDIR_SIMPLE;
	draw_world(p, &r);
	draw_fault(p, &r);
	draw_pump(p);
	for (unsigned side = 0; side < 2; side++) {
		draw_conn(p, &r, side);
		p->poll_max[side] = one_in(&r, 2) ? 32 : 1 + (unsigned)below(&r, 4);
	}
	draw_features(p);
	if (p->version == 1)
		fit_version_1(p);
	cancels = one_in(&r, 6);
	p->n_calls[CLIENT] = 1 + skewed(&r, 1, MAX_CALLS - 2);
	p->n_calls[SERVER] = p->rvrsdir ? skewed(&r, 1, 16) : one_in(&r, 8);
	for (unsigned dir = 0; dir < 2; dir++)
		for (unsigned i = 0; i < p->n_calls[dir]; i++)
			draw_spec(p, &r, dir, i, cancels);
	features_draw(p);
	for (unsigned side = 0; side < 2; side++)
		conn_limits(&p->conn[side]);
	p->conn[CLIENT].pooled_receives = seed & 1;
	p->conn[SERVER].pooled_receives = seed & 2;
}

struct spec *plan_find(struct plan *p, unsigned dir, uint32_t xid)
{
	for (unsigned i = 0; i < p->n_calls[dir]; i++)
		if (p->spec[dir][i].xid == xid)
			return &p->spec[dir][i];
	return NULL;
}

static void print_spec(const struct spec *s)
{
	printf("  %s %2u xid %08x flags %x args", s->dir == CLIENT ? "call" : "reverse",
	       s->index, s->xid, s->flags);
	for (unsigned i = 0; i <= s->n_items; i++) {
		printf(" %u", s->gap[i]);
		if (i < s->n_items)
			printf(" [%u]", s->item[i]);
	}
	printf(" results");
	for (unsigned i = 0; i <= s->n_results; i++) {
		printf(" %u", s->rgap[i]);
		if (i < s->n_results)
			printf(" [%u]", s->result[i]);
	}
	printf(" dests");
	for (unsigned i = 0; i < s->n_dests; i++)
		printf(" %u", s->dest[i]);
	printf(" reply_bytes %u refuse %u (%u, %u) at %llu answer +%llu cancel +%lld\n",
	       s->reply_bytes, s->refuse.code, s->refuse.arg[0], s->refuse.arg[1],
	       (unsigned long long)s->issue_at, (unsigned long long)s->answer_after,
	       (long long)s->cancel_after);
}

void plan_print(const struct plan *p)
{
	static const char *const faults[] = {"none",   "drop",  "post",  "register",
	                                     "memory", "abort", "close", "stuck"};

	printf("seed %llu: fault %s at %llu side %u, reverse level %u, rem.inv. %d, "
	       "ord %u%s\n",
	       (unsigned long long)p->seed, faults[p->fault],
	       (unsigned long long)p->fault_at, p->fault_side, p->rvrsdir,
	       !p->world.no_remote_invalidate, p->world.max_ord,
	       p->world.ord_blocks ? " blocking" : "");
	printf("  version %u (client %x, server %x), private data %d\n", p->version,
	       p->conn[CLIENT].versions, p->conn[SERVER].versions, p->hello);
	for (unsigned i = 0; i < 2; i++) {
		const struct rr_conn_config *c = &p->conn[i];

		printf("  %s: credits %u/%u inline send %u recv %u segments %u x %u "
		       "max "
		       "message %u requests %u grant %llu features %x policy %d wait "
		       "%llu\n",
		       i == CLIENT ? "client" : "server", c->credits, c->send_credits,
		       c->send_bytes, c->recv_bytes, c->max_segments, c->segment_bytes,
		       c->max_message_bytes, c->max_requests,
		       (unsigned long long)c->grant_ns, c->features.on,
		       (int)c->features.inv_policy,
		       (unsigned long long)c->features.cancel_wait);
	}
	features_print(p);
	for (unsigned dir = 0; dir < 2; dir++)
		for (unsigned i = 0; i < p->n_calls[dir]; i++)
			print_spec(&p->spec[dir][i]);
}

/* -- Contents ------------------------------------------------------------------ */

static void put_word(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static uint64_t filler_at(uint64_t key)
{
	uint64_t x = key * 0xbf58476d1ce4e5b9u;

	return x ^ x >> 29;
}

/* Part 0 is the first piece, part 2k + 1 item k, part 2k + 2 the piece after. */
void spec_fill(const struct plan *p, const struct spec *s, unsigned stream,
               unsigned part, void *buf, size_t len)
{
	uint64_t key = p->seed * 0x9e3779b97f4a7c15u + s->dir * 0x1000003u +
	               s->index * 8191u + stream * 131u + part;
	uint8_t *to = buf;
	uint64_t x;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		x = filler_at(key + i);
		memcpy(to + i, &x, 8);
	}
	x = filler_at(key + i);
	memcpy(to + i, &x, len - i);
	if (part == 0) {
		put_word(to, s->xid);
		put_word(to + 4, stream == STREAM_REPLY);
		put_word(to + 8, s->index);
	}
}

static size_t append(const struct plan *p, const struct spec *s, unsigned stream,
                     unsigned part, uint8_t *buf, size_t at, uint32_t len)
{
	spec_fill(p, s, stream, part, buf + at, len);
	at += len;
	while (at % 4)
		buf[at++] = 0;
	return at;
}

uint8_t *spec_call_stream(const struct plan *p, const struct spec *s, size_t *ret_len)
{
	size_t max = 0, at = 0;
	uint8_t *buf;

	for (unsigned i = 0; i <= s->n_items; i++)
		max += s->gap[i] + (i < s->n_items ? s->item[i] + 3 : 0);
	buf = malloc(max);
	for (unsigned i = 0; i <= s->n_items; i++) {
		at = append(p, s, STREAM_CALL, 2 * i, buf, at, s->gap[i]);
		if (i < s->n_items)
			at = append(p, s, STREAM_CALL, 2 * i + 1, buf, at, s->item[i]);
	}
	*ret_len = at;
	return buf;
}

uint8_t *spec_reply_stream(const struct plan *p, const struct spec *s, size_t *ret_len)
{
	size_t max = 0, at = 0;
	uint8_t *buf;

	for (unsigned i = 0; i <= s->n_results; i++)
		max += s->rgap[i] + (i < s->n_results ? s->result[i] + 3 : 0);
	buf = malloc(max);
	for (unsigned i = 0; i <= s->n_results; i++) {
		at = append(p, s, STREAM_REPLY, 2 * i, buf, at, s->rgap[i]);
		if ((i >= s->n_chunks || s->in_payload[i]) && i < s->n_results)
			at = append(p, s, STREAM_REPLY, 2 * i + 1, buf, at,
			            s->result[i]);
	}
	*ret_len = at;
	return buf;
}
