/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With all optional features off, each message is octet for octet what it was before
 * there were any.  The digests below were computed by the last build without them.
 *
 * Addresses differ from run to run: in a capture an address within a region is replaced
 * by the region's number and an offset.
 */
#include "test_conn_jobs.h"

static uint64_t digest; /* FNV-1a of the capture */
static unsigned messages;

static void add_octets(const void *p, size_t len)
{
	const uint8_t *at = p;

	for (size_t i = 0; i < len; i++)
		digest = (digest ^ at[i]) * 0x100000001b3u;
}

/* Returns true if @at is an address in a region of the side, and replaces it. */
static bool replace_address(const struct side *s, uint8_t *at)
{
	uint64_t a = rr_load_u64(at);

	for (unsigned i = 0; i < s->n_regions; i++) {
		uint64_t base = (uintptr_t)s->region[i].base;

		if (a < base || a - base >= s->region[i].len)
			continue;
		rr_store_u64(at, (uint64_t)i << 32 | (a - base));
		return true;
	}
	return false;
}

static void capture(struct side *s, const struct side_msg *m)
{
	uint8_t *copy = malloc(m->len);
	uint32_t facts[] = {s->cfg.role, (uint32_t)m->len, m->inv, m->n_reads,
	                    m->n_writes};

	memcpy(copy, m->p, m->len);
	for (size_t i = 20; i + 8 <= m->len; i += 4)
		if (replace_address(s, copy + i) || replace_address(s->peer, copy + i))
			i += 4;
	add_octets(facts, sizeof(facts));
	add_octets(copy, m->len);
	messages++;
	free(copy);
}

static const struct job shapes[] = {
        {.filler = 100, .reply_filler = 16},
        {.filler = 9000,
         .n_items = 2,
         .item = {3001, 9000},
         .n_results = 3,
         .result = {777, 5000, 9},
         .n_dests = 2,
         .dest = {778, 5000},
         .reply_filler = 12000},
        {.filler = 60000, .n_items = 1, .item = {600}, .reply_filler = 40000},
        {.flags = RR_CALL_SPECIAL,
         .n_items = 2,
         .item = {3001, 100},
         .n_results = 1,
         .result = {700},
         .n_dests = 1,
         .dest = {4000},
         .reply_bytes = 100000,
         .reply_filler = 80000},
        {.n_results = 3, .result = {0, 0, 4097}, .n_dests = 3, .dest = {100, 0, 5000}},
};

/* Captures a connection on which each shape of call is made, in both directions. */
static void capture_calls(const struct rr_conn_config *server, uint64_t seed)
{
	struct workload *w = workload_new();

	workload_configure(w, 4, 4096, 4000, true);
	w->p.cl.cfg.rvrsdir = RDMA2_RVRSDIR_GENL;
	w->p.sv.cfg.features = server->features;
	w->p.cl.on_sent = w->p.sv.on_sent = capture;
	digest = 0xcbf29ce484222325u;
	messages = 0;
	pair_new(&w->p, seed);
	pair_run(&w->p);
	for (unsigned i = 0; i < 3 * RR_ARRAY_SIZE(shapes); i++)
		job_start(i % 3 ? &w->p.cl : &w->p.sv,
		          workload_add(w, &shapes[i % RR_ARRAY_SIZE(shapes)]));
	do
		pair_run(&w->p);
	while (pair_wait(&w->p, w->p.cl.now + RR_MS(50)));
	for (unsigned i = 0; i < w->n_jobs; i++)
		assert_int_equal(w->job[i].call.status, RR_CALL_OK);
	workload_end(w);
}

/* LS-s02-01 */
static void messages_without_features_are_unchanged(void **state)
{
	static const struct {
		uint64_t seed, digest;
		unsigned messages;
	} known[] = {
	        {1, 0x2786914fce5b5836u, 120},
	        {2, 0xa6874d4c54440009u, 124},
	        {77, 0xf1087a2ba3d99a5cu, 124},
	};
	static const struct rr_conn_config base;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(known); i++) {
		capture_calls(&base, known[i].seed);
		assert_int_equal(messages, known[i].messages);
		assert_true(digest == known[i].digest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(messages_without_features_are_unchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
