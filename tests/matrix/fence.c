/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls given up, and peers that come late, over the providers themselves.
 * The Responder is held at a point of its own choice; the Requester's user
 * cancels; then the Responder goes on with what the Call had offered.  The
 * memory is the caller's again from CALL_DONE on: nothing may change or leave
 * it any more, and the late peer's access ends the connection.
 *
 * V2-11.1.3-02, -04, V2-11.1.4-05, V2-11.1-01.
 */
#include "matrix.h"

enum { MARK = 0x3d };

struct mx_setting mx_fence_settings[] = {
        {"one segment", 2, 4096, 4096, 1 << 20, 16, 32, true, 0},
        {"many segments", 2, 1024, 1024, 501, 64, 8, false, 1},
        {"slow", 2, 2048, 4096, 3000, 64, 8, true, 4},
};

const size_t mx_fence_settings_count = RR_ARRAY_SIZE(mx_fence_settings);
static const struct mx_setting *const settings = mx_fence_settings;

static struct mx_world *start(const struct mx_setting *s, const struct mx_case *k,
                              enum mx_hold hold)
{
	struct mx_world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	mx_world_open(w, s, k);
	w->hold = hold;
	mx_world_call(w);
	assert_false(w->call_done);
	assert_non_null(w->held);
	return w;
}

/* The caller has its memory back and uses it. */
static void give_up(struct mx_world *w)
{
	mx_world_cancel(w);
	assert_true(w->call_done);
	assert_int_equal(w->call_status, -ECANCELED);
	for (unsigned i = 0; i < w->k->n_dests; i++)
		memset(w->dest[i].p, MARK, w->dest[i].len);
}

static void finish(struct mx_world *w)
{
	mx_world_resume(w, true);
	assert_int_equal(w->side[w->asker].lost_status, -EREMOTEIO);
	for (unsigned i = 0; i < w->k->n_dests; i++) {
		for (size_t at = 0; at < w->dest[i].len; at++)
			assert_int_equal(w->dest[i].p[at], MARK);
		mx_mem_check(&w->dest[i]);
	}
	mx_world_close(w);
	free(w);
}

static void write_late(unsigned setting, enum mx_dir dir, bool by_kind, bool placed)
{
	struct mx_case k = {
	        .dir = dir,
	        .n_dests = 2,
	        .dest = {3001, 5000},
	        .n_results = 2,
	        .result = {2999, 5000},
	        .call_filler = 4,
	        .reply_filler = 4,
	        .reply_bytes = 100,
	        .direct = placed ? RR_DIRECT_WRITE : RR_DIRECT_NONE,
	};
	struct mx_world *w;

	if (by_kind)
		mx_add_feature(&k, RR_FEATURE_HTFAM);
	if (placed)
		mx_add_feature(&k, RR_FEATURE_RTR);
	w = start(&settings[setting], &k, MX_HOLD_REQUEST);
	give_up(w);
	finish(w);
}

static void late_writes_change_nothing(void **state)
{
	for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
		for (unsigned i = 0; i < mx_fence_settings_count; i++)
			write_late(i, dir, false, false);
}

/* The same for the header types of the optional features. */
static void late_writes_of_optional_types_change_nothing(void **state)
{
	for (unsigned i = 0; i < mx_fence_settings_count; i++) {
		write_late(i, MX_FORWARD, true, false);
		write_late(i, MX_REVERSE, true, false);
		write_late(i, MX_FORWARD, false, true);
	}
}

/* A Reply chunk is the connection's own memory, and is freed by then: guards
 * and sanitizers would see a write. */
static void a_late_special_reply_changes_nothing(void **state)
{
	for (unsigned i = 0; i < mx_fence_settings_count; i++) {
		const struct mx_setting *s = &settings[i];
		const struct mx_case k = {
		        .reply_bytes = 16 * s->to_client + 4,
		        .reply_filler = 3 * s->to_client,
		        .call_filler = 4,
		};
		struct mx_world *w = start(s, &k, MX_HOLD_REQUEST);

		give_up(w);
		finish(w);
	}
}

/* Arguments leave no more: the Reads fail, and nothing of them is in the sinks. */
static void late_reads_get_nothing(void **state)
{
	for (unsigned i = 0; i < mx_fence_settings_count; i++) {
		const struct mx_case k = {
		        .n_items = 1,
		        .item = {2001},
		        .own_sinks = true,
		        .call_filler = 4,
		        .reply_filler = 4,
		};
		struct mx_world *w = start(&settings[i], &k, MX_HOLD_ADMIT);
		uint8_t secret[16];

		memcpy(secret, w->call.item[0].p, sizeof(secret));
		give_up(w);
		mx_world_resume(w, true);
		assert_int_equal(w->side[CLIENT].lost_status, -EREMOTEIO);
		assert_false(w->request_seen);
		for (size_t at = 0; at + sizeof(secret) <= w->sink[0].len; at++)
			assert_memory_not_equal(w->sink[0].p + at, secret,
			                        sizeof(secret));
		mx_world_close(w);
		free(w);
	}
}

/* Without chunks there is nothing to reach: the late Reply is dropped and the
 * connection lives.  V2-3.1.2-03 */
static void a_late_reply_without_chunks_is_dropped(void **state)
{
	for (unsigned dir = 0; dir < MX_DIRS; dir++) {
		const struct mx_case k = {
		        .dir = dir,
		        .call_filler = 4,
		        .reply_filler = 8,
		        .reply_bytes = 32,
		};
		struct mx_world *w = start(&settings[0], &k, MX_HOLD_REQUEST);

		give_up(w);
		mx_world_resume(w, false);
		assert_false(rr_pump_lost(&w->side[CLIENT].pump));
		assert_false(rr_pump_lost(&w->side[SERVER].pump));
		mx_world_close(w);
		free(w);
	}
}

/* V2-11.1.2-02, -11.1.3-01: before the Call nothing, and between its end and
 * the next one nothing: no memory can be reached on an idle connection. */
static void an_idle_connection_has_no_region(void **state)
{
	const struct mx_case k = {
	        .n_items = 1,
	        .item = {2001},
	        .n_dests = 1,
	        .dest = {900},
	        .n_results = 1,
	        .result = {900},
	        .call_filler = 4,
	        .reply_filler = 4,
	        .reply_bytes = 32,
	};
	struct mx_world *w = calloc(1, sizeof(*w));
	struct rr_prov_counters c;

	mx_world_open(w, &settings[1], &k);
	mx_provider()->counters(w->side[CLIENT].pump.ep, &c);
	assert_int_equal(c.registrations, 0);
	mx_world_call(w);
	for (unsigned i = 0; i < 2; i++) {
		mx_provider()->counters(w->side[i].pump.ep, &c);
		assert_int_equal(c.registrations, i == CLIENT ? 2 : 0);
		assert_int_equal(c.local_invalidations + c.remote_invalidations,
		                 c.registrations);
	}
	mx_world_close(w);
	free(w);
}

const struct CMUnitTest mx_fence_tests[] = {
        cmocka_unit_test(late_writes_change_nothing),
        cmocka_unit_test(late_writes_of_optional_types_change_nothing),
        cmocka_unit_test(a_late_special_reply_changes_nothing),
        cmocka_unit_test(late_reads_get_nothing),
        cmocka_unit_test(a_late_reply_without_chunks_is_dropped),
        cmocka_unit_test(an_idle_connection_has_no_region),
};
const size_t mx_fence_count = RR_ARRAY_SIZE(mx_fence_tests);
