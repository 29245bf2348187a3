/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for a pooled Receive whose message comes in several segments: a few octets never
 * get memory for the largest message.
 */
#include "prov/common/ep_common.h"
#include "test_iwarp_raw.h"

enum { MOST = 80000 }; /* length of the Receive */

static uint8_t *memory;
static uint32_t asked[8]; /* octets asked for, by request */
static unsigned n_asked;

static void *provide(void *ctx, uint64_t token, uint32_t have, uint32_t len)
{
	uint8_t *mem = malloc(len);

	assert_true(n_asked < RR_ARRAY_SIZE(asked));
	asked[n_asked++] = len;
	if (have)
		memcpy(mem, memory, have);
	free(memory);
	memory = mem;
	return mem;
}

struct row {
	const char *name;
	uint32_t segment[4]; /* octets, 0 = no further segment */
	uint32_t cut;        /* octets of the stream sent at first; 0 = all */
	uint32_t asked[4];
};

static void run_row(const struct row *t)
{
	static struct peer r;
	static struct bytes o;
	struct rr_sge pooled = {.len = MOST};
	uint8_t *data = pattern(MOST, 5);
	uint32_t at = 0;

	print_message("           %s\n", t->name);
	peer_start(&r, NULL);
	rr_ep_common_of(r.e.ep)->memory.receive = provide;
	assert_int_equal(OPS->post_recv(r.e.ep, &pooled, 7), 0);
	o.n = 0;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(t->segment) && t->segment[i]; i++) {
		bool last = i + 1 == RR_ARRAY_SIZE(t->segment) || !t->segment[i + 1];

		add_untagged(&o, last ? 0x4143 : 0x0143, 0, 0, 1, at, data + at,
		             t->segment[i]);
		at += t->segment[i];
	}
	if (t->cut) {
		peer_send(&r, o.b, t->cut);
		peer_step(&r, 10);
		assert_int_equal(n_asked, 1);
	}
	peer_send(&r, o.b + t->cut, o.n - t->cut);
	assert_int_equal(end_expect_wc(&r.e, NULL, RR_WC_RECV, 7, 0)->len, at);
	check_pattern(memory, at, 5);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(t->asked); i++)
		assert_int_equal(asked[i], t->asked[i]);
	peer_fini(&r);
	free(data);
	free(memory);
	memory = NULL;
	n_asked = 0;
	memset(asked, 0, sizeof(asked));
}

static void memory_grows_with_the_message(void **state)
{
	static const struct row rows[] = {
	        {"one segment", {200}, 0, {200}},
	        {"one segment, placed directly", {30000}, 1000, {30000}},
	        {"short segments", {200, 200, 100}, 0, {400, 500}},
	        {"a short segment, then a long one", {200, 60000}, 0, {400, 60200}},
	        {"a long segment, then a short one", {60000, 200}, 0, {MOST}},
	        {"the same, placed directly", {60000, 200}, 1000, {MOST}},
	        {"a segment of two octets", {2, 2}, 0, {4}},
	        {"four segments", {10, 10, 10, 39970}, 0, {20, 60, 40000}},
	        {"half of the Receive", {100, 39900, 1}, 0, {200, MOST}},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++)
		run_row(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(memory_grows_with_the_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
