/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote Invalidation: the advisory property, and which handle a Call names.
 *                                                            [ext §4.3, §4.6]
 */
#include "test_conn_reminv.h"

enum { OFFERED = 1u << RR_FEATURE_REMINV };

/* -- the property ---------------------------------------------------------- */

#define NUMBERS                                                                        \
	PROP("00000001", "00001000")                                                   \
	PROP("00000002", "00001000")                                                   \
	PROP("00000003", "00100000") PROP("00000004", "00000010")

/* RI-4.2-03: FALSE if the device cannot, or if the user wants none. */
static void the_property_states_what_we_take(void **state)
{
	static const struct {
		bool able, declined, device;
		const char *want;
	} t[] = {
	        {true, false, true, "00000001"},
	        {false, false, true, "00000000"},
	        {true, true, true, "00000000"},
	        {true, false, false, "00000000"},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct side *s = calloc(1, sizeof(*s));
		char want[500] =
		        "00000077 00000002 00200020 00000005 00000000 00000006" NUMBERS
		                PROP("00000005", "00000000") PROP_REQREMINV;

		s->cfg = (struct rr_conn_config){
		        .xid_seed = 0x77,
		        .remote_invalidate = t[i].able,
		        .features = {.on = OFFERED, .no_remote_inv = t[i].declined}};
		side_new(s, RR_CONN_CLIENT);
		if (!t[i].device)
			rr_conn_no_remote_inv_in(s->c);
		side_open(s);
		raw_expect(s, strcat(want, t[i].want));
		raw_end(s);
	}
}

/* With the feature off the octets are those of the base. */
static void the_property_is_absent_when_off(void **state)
{
	const struct rr_conn_config cfg = {.xid_seed = 0x77, .remote_invalidate = true};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_expect(s,
	           "00000077 00000002 00200020 00000005 00000000 00000005" NUMBERS PROP(
	                   "00000005", "00000000"));
	raw_end(s);
}

/* RI-4.2-01: nothing of the message is applied. */
static void a_value_that_is_not_a_bool_is_refused(void **state)
{
	static const char *const bad[] = {
	        "ffffff02 00000004 00000002",
	        "ffffff02 00000008 00000001 00000000",
	        "ffffff02 00000002 00010000",
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(bad); i++) {
		const struct rr_conn_config cfg = inv_config(RR_INV_LARGEST);
		struct side *s = raw_new(RR_CONN_SERVER, &cfg);
		struct rr_conn_info info;
		char hex[300] =
		        "00000077 00000002 00200020 00000005 00000000 00000002" PROP(
		                "00000002", "00000400");

		raw_receive(s, strcat(hex, bad[i]));
		assert_int_equal(s->n_sent, 2); /* our properties, the error */
		raw_skip(s);
		raw_expect(s, "00000077 00000002 00200001 00000004 00000001 00000003");
		rr_conn_info(s->c, &info);
		assert_int_equal(info.send_inline, 4096);
		assert_int_equal(info.features, 0);
		raw_end(s);
	}
}

/* RI-4.2-04, RI-4.4-04 */
static void the_feature_is_agreed_if_both_sent_the_property(void **state)
{
	static const struct {
		const char *props;
		unsigned agreed;
		bool both_ways;
	} t[] = {
	        {"00000000", 0, true},
	        {"00000001 ffffff02 00000004 00000001", OFFERED, true},
	        {"00000001 ffffff02 00000000", OFFERED, true},
	        {"00000001 ffffff02 00000004 00000000", OFFERED, false},
	        {"00000001 ffffff99 00000004 00000000", 0, true},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rr_conn_config cfg = inv_config(RR_INV_LARGEST);
		struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, t[i].props);
		struct rr_conn_info info;

		rr_conn_info(s->c, &info);
		assert_int_equal(info.features, t[i].agreed);
		assert_int_equal(info.remote_invalidate, t[i].both_ways);
		raw_end(s);
	}
}

/* -- the choice ------------------------------------------------------------ */

enum { NOTHING, READ_IT, WRITE_IT, WRITE2_IT, REPLY_IT };

static uint32_t handle_at(const struct inv_call *v, unsigned which)
{
	const uint32_t h[] = {0, v->read, v->write, v->write2, v->reply};

	return h[which];
}

/* Regions are registered in this order: Write chunks, Reply chunk, Read chunk. */
static unsigned named(enum rr_inv_policy policy, unsigned chunks, unsigned irrevocable,
                      unsigned no_handle)
{
	struct side *s = inv_client(policy);
	struct inv_call *v;
	unsigned which = 0;

	s->irrevocable = irrevocable;
	s->no_handle = no_handle;
	v = inv_start(s, 0x55, chunks);
	if (inv_named(s))
		while (handle_at(v, ++which) != inv_named(s))
			assert_true(which < REPLY_IT);
	raw_end(s);
	inv_free(v);
	return which;
}

/* RI-5.2-01, RI-5.2-02, RI-4.3-01, RI-5.3-01, RI-4.4-02 */
static void policies_choose_as_specified(void **state)
{
	static const struct {
		enum rr_inv_policy policy;
		unsigned chunks, want;
	} t[] = {
	        {RR_INV_LARGEST, INV_ALL, REPLY_IT},
	        {RR_INV_LARGEST, INV_READ | INV_WRITE | INV_WRITE2, WRITE_IT},
	        {RR_INV_LARGEST, INV_READ | INV_WRITE2, READ_IT}, /* equal */
	        {RR_INV_LARGEST, 0, NOTHING},
	        {RR_INV_NONE, INV_ALL, NOTHING},
	        {RR_INV_NONE, INV_READ, NOTHING},
	        {RR_INV_READ_FIRST, INV_ALL, READ_IT},
	        {RR_INV_READ_FIRST, INV_WRITE | INV_WRITE2 | INV_REPLY, WRITE_IT},
	        {RR_INV_READ_FIRST, INV_REPLY, REPLY_IT},
	        {RR_INV_WRITE_FIRST, INV_ALL, WRITE_IT},
	        {RR_INV_WRITE_FIRST, INV_READ | INV_REPLY, REPLY_IT},
	        {RR_INV_WRITE_FIRST, INV_READ, READ_IT},
	        {RR_INV_FIRST, INV_ALL, READ_IT},
	        {RR_INV_FIRST, INV_WRITE | INV_REPLY, WRITE_IT},
	        {RR_INV_SINGLE, INV_ALL, NOTHING},
	        {RR_INV_SINGLE, INV_READ | INV_WRITE, NOTHING},
	        {RR_INV_SINGLE, INV_READ, READ_IT},
	        {RR_INV_SINGLE, INV_WRITE, WRITE_IT},
	        {RR_INV_SINGLE, INV_REPLY, REPLY_IT},
	        {RR_INV_SINGLE, 0, NOTHING},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++)
		assert_int_equal(named(t[i].policy, t[i].chunks, 0, 0), t[i].want);
}

/* RI-2.1-02, RI-2.2-02, RI-2.2-03, RI-2.2-04, RI-4.4-03, RI-5.3-01, RI-P-06: offered
 * beside others, never named.  Two regions under one handle are such a kind. */
static void an_irrevocable_region_is_never_named(void **state)
{
	static const struct {
		enum rr_inv_policy policy;
		unsigned chunks, fixed, want;
	} t[] = {
	        {RR_INV_LARGEST, INV_ALL, 4, WRITE_IT},
	        {RR_INV_LARGEST, INV_ALL, 4 | 1, READ_IT},
	        {RR_INV_LARGEST, INV_ALL, 15, NOTHING},
	        {RR_INV_FIRST, INV_ALL, 8, WRITE_IT},
	        {RR_INV_FIRST, INV_ALL, 8 | 1, WRITE2_IT},
	        {RR_INV_READ_FIRST, INV_ALL, 8 | 2 | 1, REPLY_IT},
	        {RR_INV_WRITE_FIRST, INV_ALL, 1, WRITE2_IT},
	        {RR_INV_WRITE_FIRST, INV_ALL, 7, READ_IT},
	        {RR_INV_WRITE_FIRST, INV_ALL, 15, NOTHING},
	        {RR_INV_SINGLE, INV_READ, 1, NOTHING},
	        /* one handle may be invalidated, but two are in the header */
	        {RR_INV_SINGLE, INV_READ | INV_WRITE, 1, NOTHING},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		assert_int_equal(named(t[i].policy, t[i].chunks, t[i].fixed, 0),
		                 t[i].want);
		/* RI-P-06: so is a region whose handle means "none" */
		assert_int_equal(named(t[i].policy, t[i].chunks, 0, t[i].fixed),
		                 t[i].want);
	}
}

/* RI-2.2-03: the irrevocable region stays valid until it is invalidated here. */
static void regions_of_both_kinds_share_a_header(void **state)
{
	struct side *s = inv_client(RR_INV_LARGEST);
	struct inv_call *v;

	s->irrevocable = 2; /* the Read chunk */
	v = inv_start(s, 0x55, INV_READ | INV_WRITE);
	assert_int_equal(inv_named(s), v->write);
	inv_answer(s, v, v->write);
	assert_int_equal(v->k->call.status, RR_CALL_OK);
	assert_int_equal(inv_counters(s).remote_invalidations, 1);
	assert_int_equal(inv_counters(s).local_invalidations, 1);
	inv_free(v);
	raw_end(s);
}

/* RI-5.2-01: the parts of a Position Zero chunk are regions like others. */
static void a_special_call_names_its_largest_run(void **state)
{
	static const enum rr_inv_policy policy[] = {RR_INV_LARGEST, RR_INV_FIRST};
	static uint8_t run[200000];

	for (unsigned i = 0; i < RR_ARRAY_SIZE(policy); i++) {
		struct side *s = inv_client(policy[i]);
		struct spec_call *k = spec_new(0x55, 0);
		const struct side_region *big;

		spec_add(k, run, sizeof(run), false);
		k->call.flags = RR_CALL_SPECIAL;
		spec_start(s, k);
		assert_int_equal(s->n_regions, 2);
		big = spec_region(s, run);
		assert_int_equal(inv_named(s) == big->handle, i == 0);
		assert_int_not_equal(inv_named(s), 0);
		raw_end(s);
		free(k);
	}
}

/* RI-4.2-03, RI-3.1-02 */
static void no_call_names_a_handle_if_we_take_none(void **state)
{
	for (unsigned i = 0; i < 3; i++) {
		struct rr_conn_config cfg = inv_config(RR_INV_LARGEST);
		struct side *s;
		struct inv_call *v;

		cfg.features.no_remote_inv = i == 0;
		cfg.remote_invalidate = i != 1;
		s = raw_ready_by(RR_CONN_SERVER, &cfg,
		                 "00000001" PROP("00000005", "00000003"));
		if (i == 2)
			rr_conn_no_remote_inv_in(s->c);
		v = inv_start(s, 0x55, INV_READ | INV_WRITE);
		assert_int_equal(inv_named(s), 0);
		/* RI-3.2-03: nothing depends on the peer */
		inv_answer(s, v, 0);
		assert_int_equal(v->k->call.status, RR_CALL_OK);
		assert_int_equal(inv_counters(s).local_invalidations, 2);
		inv_free(v);
		raw_end(s);
	}
}

/* The base's choice stays: a Write chunk first, whatever its length. */
static void the_policy_has_no_effect_when_off(void **state)
{
	struct rr_conn_config cfg = inv_config(RR_INV_NONE);
	struct side *s;
	struct inv_call *v;

	cfg.features.on = 0;
	s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	v = inv_start(s, 0x55, INV_READ | INV_WRITE2 | INV_REPLY);
	assert_int_equal(inv_named(s), v->write2);
	raw_end(s);
	inv_free(v);
}

/* A peer that refuses our properties changes nothing in what we choose. */
static void the_policy_survives_a_refusal(void **state)
{
	struct rr_conn_config cfg = inv_config(RR_INV_NONE);
	struct side *s;
	struct inv_call *v;

	cfg.xid_seed = 0x77;
	s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	raw_receive(s, "00000077" ERRORMSG "00000003");
	v = inv_start(s, 0x55, INV_READ);
	assert_int_equal(inv_named(s), 0);
	raw_end(s);
	inv_free(v);
}

/* RI-5.2-03: if the cost of an invalidation grows with the region, LARGEST leaves the
 * least to us. */
static void the_largest_region_saves_the_most_octets(void **state)
{
	static const uint64_t left[] = {
	        [RR_INV_LARGEST] = 600 + 700 + 600,
	        [RR_INV_NONE] = 600 + 700 + 600 + 70000,
	        [RR_INV_READ_FIRST] = 700 + 600 + 70000,
	        [RR_INV_WRITE_FIRST] = 600 + 600 + 70000,
	        [RR_INV_FIRST] = 700 + 600 + 70000,
	        [RR_INV_SINGLE] = 600 + 700 + 600 + 70000,
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(left); i++) {
		struct side *s = inv_client((enum rr_inv_policy)i);
		struct inv_call *v = inv_start(s, 0x55, INV_ALL);

		inv_answer(s, v, inv_named(s));
		assert_int_equal(v->k->call.status, RR_CALL_OK);
		assert_int_equal(s->inv_octets, left[i]);
		assert_true(left[i] >= left[RR_INV_LARGEST]);
		raw_end(s);
		inv_free(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_property_states_what_we_take),
	        cmocka_unit_test(the_property_is_absent_when_off),
	        cmocka_unit_test(a_value_that_is_not_a_bool_is_refused),
	        cmocka_unit_test(the_feature_is_agreed_if_both_sent_the_property),
	        cmocka_unit_test(policies_choose_as_specified),
	        cmocka_unit_test(an_irrevocable_region_is_never_named),
	        cmocka_unit_test(regions_of_both_kinds_share_a_header),
	        cmocka_unit_test(a_special_call_names_its_largest_run),
	        cmocka_unit_test(no_call_names_a_handle_if_we_take_none),
	        cmocka_unit_test(the_policy_has_no_effect_when_off),
	        cmocka_unit_test(the_policy_survives_a_refusal),
	        cmocka_unit_test(the_largest_region_saves_the_most_octets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
