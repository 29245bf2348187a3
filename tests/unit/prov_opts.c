/* SPDX-License-Identifier: BSD-3-Clause */
/* Option strings of the providers: one parser, a table for each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prov/iwarp/iw_opts.h"
#include "prov/verbs/vb_opts.h"

static void iwarp_defaults(void **state)
{
	struct rr_iwarp_opts o;

	(void)state;
	assert_int_equal(rr_iwarp_opts_parse(NULL, &o, RR_NO_REASON), 0);
	assert_true(o.crc == 1 && o.rev == 2 && o.p2p == 0 && o.fpdu == 65535);
	assert_true(o.ird == 64 && o.ord == 64 && o.ord1 == 1);
	assert_true(o.sndbuf == 131072 && o.rcvbuf == 0);
}

static void iwarp_values_replace_defaults(void **state)
{
	struct rr_iwarp_opts o;

	(void)state;
	assert_int_equal(rr_iwarp_opts_parse("crc=0,ird=1,ord=0,sndbuf=1073741824", &o,
	                                     RR_NO_REASON),
	                 0);
	assert_true(o.crc == 0 && o.ird == 1 && o.ord == 0 && o.sndbuf == 1u << 30);
	assert_true(o.rev == 2 && o.fpdu == 65535);
}

static void verbs_begins_with_a_device_or_not(void **state)
{
	struct rr_verbs_opts o;

	(void)state;
	assert_int_equal(rr_verbs_opts_parse(NULL, &o, RR_NO_REASON), 0);
	assert_string_equal(o.device, "");
	assert_true(o.mw == 1 && o.inline_bytes == 256 && o.ird == 64 && o.ord == 64);
	assert_true(o.sq == 0 && o.rq == 0);
	assert_int_equal(rr_verbs_opts_parse("mlx5_0,mw=0,sq=64", &o, RR_NO_REASON), 0);
	assert_string_equal(o.device, "mlx5_0");
	assert_true(o.mw == 0 && o.sq == 64 && o.rq == 0);
	assert_int_equal(rr_verbs_opts_parse("rq=16384,inline=0", &o, RR_NO_REASON), 0);
	assert_string_equal(o.device, "");
	assert_true(o.rq == 16384 && o.inline_bytes == 0);
}

static void a_device_name_has_1_to_63_octets(void **state)
{
	char name[RR_VB_DEVICE_MAX + 1] = "", text[100];
	struct rr_reason reason = {text, sizeof(text)};
	struct rr_verbs_opts o;

	(void)state;
	memset(name, 'a', RR_VB_DEVICE_MAX - 1);
	assert_int_equal(rr_verbs_opts_parse(name, &o, reason), 0);
	assert_string_equal(o.device, name);
	name[RR_VB_DEVICE_MAX - 1] = 'a';
	assert_int_equal(rr_verbs_opts_parse(name, &o, reason), -EINVAL);
	assert_non_null(strstr(text, "1 to 63 octets"));
	assert_int_equal(rr_verbs_opts_parse(",mw=0", &o, reason), -EINVAL);
	/* only the first item may be a name */
	assert_int_equal(rr_verbs_opts_parse("mw=0,rxe0", &o, reason), -EINVAL);
	assert_int_equal(rr_verbs_opts_parse("rxe0,rxe1", &o, reason), -EINVAL);
}

/* "ird" is an option of both. */
static void both_refuse_what_is_not_a_number_in_range(void **state)
{
	static const char *bad[] = {
	        "=1",         "nope=1",           "IRD=1",
	        "ird=",       "ird=1 ",           "ird= 1",
	        "ird=+1",     "ird=-1",           "ird=0x10",
	        "ird=1025",   "ird=99999999999",  "ird=00000000001",
	        "ird=1,,",    "ird=4294967297",   "ird=18446744073709551617",
	        "ird=1=1",    "ird=1,ird",        "ird=1,,ord=1",
	        "ird=1,ord=", "ird=1,nonsense=2",
	};
	struct rr_iwarp_opts iw = {.ird = 77}, iw_before = iw;
	struct rr_verbs_opts vb = {.ird = 77}, vb_before = vb;
	char text[200];

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(bad); i++) {
		text[0] = '\0';
		assert_int_equal(
		        rr_iwarp_opts_parse(bad[i], &iw,
		                            (struct rr_reason){text, sizeof(text)}),
		        -EINVAL);
		assert_non_null(strstr(text, "\"iwarp\""));
		assert_int_equal(
		        rr_verbs_opts_parse(bad[i], &vb,
		                            (struct rr_reason){text, sizeof(text)}),
		        -EINVAL);
		assert_non_null(strstr(text, "\"verbs\""));
		assert_memory_equal(&iw, &iw_before, sizeof(iw));
		assert_memory_equal(&vb, &vb_before, sizeof(vb));
	}
}

static void the_range_is_of_each_option(void **state)
{
	static const char *iwarp_bad[] = {"crc=2",    "rev=0",      "rev=3",
	                                  "fpdu=127", "fpdu=65536", "sndbuf=1073741825",
	                                  "markers=1"};
	static const char *verbs_bad[] = {"mw=2",  "inline=4097", "ird=256", "sq=0",
	                                  "sq=63", "rq=15",       "rq=16385"};
	struct rr_iwarp_opts iw;
	struct rr_verbs_opts vb;

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(iwarp_bad); i++)
		assert_int_equal(rr_iwarp_opts_parse(iwarp_bad[i], &iw, RR_NO_REASON),
		                 -EINVAL);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(verbs_bad); i++)
		assert_int_equal(rr_verbs_opts_parse(verbs_bad[i], &vb, RR_NO_REASON),
		                 -EINVAL);
}

static void the_last_of_two_values_counts(void **state)
{
	struct rr_iwarp_opts o;

	(void)state;
	assert_int_equal(rr_iwarp_opts_parse("ird=1,ord=3,ird=2,", &o, RR_NO_REASON),
	                 0);
	assert_true(o.ird == 2 && o.ord == 3);
}

static void the_reason_names_the_options_and_the_range(void **state)
{
	struct rr_iwarp_opts o;
	char text[200], little[8];

	(void)state;
	assert_int_equal(
	        rr_iwarp_opts_parse("x=1", &o, (struct rr_reason){text, sizeof(text)}),
	        -EINVAL);
	assert_string_equal(text, "provider \"iwarp\" has no option \"x\"; it has crc, "
	                          "rev, p2p, fpdu, ird, ord, ord1, sndbuf, rcvbuf");
	assert_int_equal(rr_iwarp_opts_parse("fpdu=5", &o,
	                                     (struct rr_reason){text, sizeof(text)}),
	                 -EINVAL);
	assert_string_equal(text, "option \"fpdu\" of provider \"iwarp\" is a number "
	                          "from 128 to 65535, not \"5\"");
	assert_int_equal(rr_iwarp_opts_parse(
	                         "x=1", &o, (struct rr_reason){little, sizeof(little)}),
	                 -EINVAL);
	assert_string_equal(little, "provide");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(iwarp_defaults),
	        cmocka_unit_test(iwarp_values_replace_defaults),
	        cmocka_unit_test(verbs_begins_with_a_device_or_not),
	        cmocka_unit_test(a_device_name_has_1_to_63_octets),
	        cmocka_unit_test(both_refuse_what_is_not_a_number_in_range),
	        cmocka_unit_test(the_range_is_of_each_option),
	        cmocka_unit_test(the_last_of_two_values_counts),
	        cmocka_unit_test(the_reason_names_the_options_and_the_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
