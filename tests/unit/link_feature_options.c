/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of optional features: what each item sets, and which lists are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "link/feature_options.h"
#include <rpcrdma/rpcrdma.h>

enum { GIB = 1 << 30 };

static struct rr_feature_options parsed(const char *text)
{
	struct rr_feature_options o;
	char reason[256] = "";

	if (rr_feature_options_parse(text, &o, (struct rr_reason){reason, 256}))
		fail_msg("'%s': %s", text, reason);
	return o;
}

/* The default is stated in one place. */
static void nothing_chosen_is_the_default(void **state)
{
	struct rr_feature_options o = parsed(NULL), d = parsed("default");

	(void)state;
	assert_memory_equal(&o, &d, sizeof(o));
	assert_int_equal(o.config.on, RPCRDMA_FEATURE_RPRC | RPCRDMA_FEATURE_REMINV |
	                                      RPCRDMA_FEATURE_RTR);
	assert_int_equal(o.config.inv_policy, RR_INV_LARGEST);
	assert_int_equal(o.config.rtr_segments, 0); /* no larger Receives */
	assert_int_equal(parsed("none").config.on, 0);
}

static void names_switch_features_on(void **state)
{
	(void)state;
	assert_int_equal(parsed("rprc").config.on, RPCRDMA_FEATURE_RPRC);
	assert_int_equal(parsed("reminv").config.on, RPCRDMA_FEATURE_REMINV);
	assert_int_equal(parsed("rtr").config.on, RPCRDMA_FEATURE_RTR);
	assert_int_equal(parsed("htfam").config.on, RPCRDMA_FEATURE_HTFAM);
	assert_int_equal(parsed("rtr,rprc").config.on,
	                 RPCRDMA_FEATURE_RTR | RPCRDMA_FEATURE_RPRC);
	assert_int_equal(parsed("all").config.on, 15);
	assert_int_equal(parsed("default,htfam").config.on, 15);
	assert_int_equal(parsed("default,rtr-segments=3").config.rtr_segments, 3);
}

static void limits_have_the_defaults_of_the_specification(void **state)
{
	struct rr_feature_options o = parsed("all");

	(void)state;
	assert_int_equal(o.config.rprc_lifetime_ms, 10000);
	assert_int_equal(o.config.rprc_max_pending, 64);
	assert_int_equal(o.config.rprc_max_bytes, 64 << 20);
	assert_int_equal(o.config.max_pull, 1 << 20);
	assert_int_equal(o.config.cont_max_sends, 8);
	assert_int_equal(o.rprc_total_bytes, GIB);
	assert_int_equal(o.config.inv_policy, RR_INV_LARGEST);
	assert_false(o.config.rprc_no_lifetime || o.config.rprc_no_piggyback ||
	             o.config.no_reply_chunks);
}

static void a_policy_switches_reminv_on(void **state)
{
	static const struct {
		const char *text;
		enum rr_inv_policy policy;
	} t[] = {
	        {"reminv=none", RR_INV_NONE},
	        {"reminv=largest", RR_INV_LARGEST},
	        {"reminv=read-first", RR_INV_READ_FIRST},
	        {"reminv=write-first", RR_INV_WRITE_FIRST},
	        {"reminv=first", RR_INV_FIRST},
	        {"reminv=single", RR_INV_SINGLE},
	        {"all,reminv=first,reminv=single", RR_INV_SINGLE},
	};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct rr_feature_options o = parsed(t[i].text);

		assert_true(o.config.on & RPCRDMA_FEATURE_REMINV);
		assert_int_equal(o.config.inv_policy, t[i].policy);
	}
}

/* Each key sets its member and no other. */
static void keys_set_limits(void **state)
{
	struct rr_feature_options o, all = parsed("all");

	(void)state;
#define SETS(text, member, value)                                                      \
	o = parsed(text);                                                              \
	assert_int_equal(o.member, value);                                             \
	o.member = all.member;                                                         \
	assert_memory_equal(&o, &all, sizeof(o))

	SETS("all,rprc-lifetime=1000", config.rprc_lifetime_ms, 1000);
	SETS("rprc-lifetime=4294967295,all", config.rprc_lifetime_ms, UINT32_MAX);
	SETS("all,rprc-lifetime=0", config.rprc_no_lifetime, true);
	SETS("all,rprc-lifetime=0,rprc-lifetime=10000", config.rprc_no_lifetime, false);
	SETS("all,rprc-pending=65536", config.rprc_max_pending, 65536);
	SETS("all,rprc-bytes=1099511627776", config.rprc_max_bytes, (uint64_t)1 << 40);
	SETS("all,rprc-total=5000000000", rprc_total_bytes, 5000000000);
	SETS("all,rprc-pull=1", config.max_pull, 1);
	SETS("all,rprc-sends=1", config.cont_max_sends, 1);
	SETS("all,rprc-piggyback=0", config.rprc_no_piggyback, true);
	SETS("all,rprc-piggyback=1", config.rprc_no_piggyback, false);
	SETS("all,rprc-reply-chunks=0", config.no_reply_chunks, true);
	SETS("all,rprc-reply-chunks=1", config.no_reply_chunks, false);
	SETS("all,rprc-delay=250", config.done_delay, 250000);
	SETS("all,reminv-allow=0", config.no_remote_inv, true);
	SETS("all,reminv-wait=1500", config.cancel_wait, RR_MS(1500));
	SETS("all,rtr-segments=7", config.rtr_segments, 7);
	SETS("all,rtr-segment-bytes=8192", config.rtr_segment_bytes, 8192);
	SETS("all,rtr-segment-bytes=1024", config.rtr_segment_bytes, 1024);
	SETS("all,rtr-requests=3", config.rtr_requests, 3);
	SETS("all,rtr-responses=5", config.rtr_responses, 5);
	SETS("all,rtr-item=4000000000", config.tbsn_max, 4000000000);
	SETS("all,rtr-wait=20", config.group_wait, RR_MS(20));
#undef SETS
}

/* A list that is refused changes nothing, and the reason quotes what is wrong. */
static void wrong_lists_are_refused_with_the_reason(void **state)
{
	static const struct {
		const char *text, *reason;
	} t[] = {
	        {"", "there is no feature \"\"; there are rprc, reminv, rtr, htfam"},
	        {"rprc,", "there is no feature \"\""},
	        {",rprc", "there is no feature \"\""},
	        {"rprc,,rtr", "there is no feature \"\""},
	        {"rprcx", "there is no feature \"rprcx\""},
	        {"rpr", "there is no feature \"rpr\""},
	        {"RPRC", "there is no feature \"RPRC\""},
	        {"rprc, rtr", "there is no feature \" rtr\""},
	        {"none,rprc", "there is no feature \"none\""},
	        {"reminv=",
	         "feature \"reminv\" has no policy \"\"; it has largest, none, "
	         "read-first, write-first, first, single"},
	        {"reminv=read_first", "has no policy \"read_first\""},
	        {"rprc=1", "the features have no option \"rprc\"; they have reminv, "
	                   "rprc-lifetime, rprc-pending, rprc-bytes,"},
	        {"rprc,rprc-lifetime=999", "option \"rprc-lifetime\" of the features "
	                                   "is 0 or a number from 1000 to "
	                                   "4294967295, not \"999\""},
	        {"rprc,rprc-lifetime=4294967296", "not \"4294967296\""},
	        {"rprc,rprc-pending=0", "is a number from 1 to 65536, not \"0\""},
	        {"rprc,rprc-pending=65537", "not \"65537\""},
	        {"rprc,rprc-pending=-1", "not \"-1\""},
	        {"rprc,rprc-pending= 1", "not \" 1\""},
	        {"rprc,rprc-pending=", "not \"\""},
	        {"rprc,rprc-bytes=1099511627777", "not \"1099511627777\""},
	        {"rprc,rprc-bytes=18446744073709551617",
	         "not \"18446744073709551617\""},
	        {"rprc,rprc-piggyback=2", "is a number from 0 to 1, not \"2\""},
	        {"rprc-lifetime=2000",
	         "there is an option of feature \"rprc\", which is off"},
	        {"rprc,reminv-wait=600001",
	         "is a number from 1 to 600000, not \"600001\""},
	        {"rprc,rtr-segments=1", "of feature \"rtr\", which is off"},
	        {"rtr,rtr-segment-bytes=1023",
	         "is a number from 1024 to 1048576, not \"1023\""},
	        {"rtr,rprc-piggyback=1", "of feature \"rprc\", which is off"},
	};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct rr_feature_options o = {.rprc_total_bytes = 77}, was = o;
		char reason[256] = "";

		assert_int_equal(
		        rr_feature_options_parse(t[i].text, &o,
		                                 (struct rr_reason){reason, 256}),
		        -EINVAL);
		assert_memory_equal(&o, &was, sizeof(o));
		if (!strstr(reason, t[i].reason))
			fail_msg("'%s': %s", t[i].text, reason);
		assert_int_equal(rpcrdma_features_check(t[i].text, NULL, 0), -EINVAL);
	}
}

/* A reason is cut to the space that there is. */
static void reasons_fit_their_space(void **state)
{
	char reason[80], whole[256];

	(void)state;
	assert_int_equal(rpcrdma_features_check("reminv=x", whole, sizeof(whole)),
	                 -EINVAL);
	for (size_t n = 1; n < sizeof(reason); n++) {
		memset(reason, 'x', sizeof(reason));
		assert_int_equal(rpcrdma_features_check("reminv=x", reason, n),
		                 -EINVAL);
		assert_true(memchr(reason, 0, n) == reason + n - 1);
		assert_memory_equal(reason, whole, n - 1);
		assert_true(n == sizeof(reason) || reason[n] == 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_chosen_is_the_default),
	        cmocka_unit_test(names_switch_features_on),
	        cmocka_unit_test(limits_have_the_defaults_of_the_specification),
	        cmocka_unit_test(a_policy_switches_reminv_on),
	        cmocka_unit_test(keys_set_limits),
	        cmocka_unit_test(wrong_lists_are_refused_with_the_reason),
	        cmocka_unit_test(reasons_fit_their_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
