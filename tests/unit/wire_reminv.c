/* SPDX-License-Identifier: BSD-3-Clause */
/* The advisory property for Remote Invalidation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_codec.h"
#include "wire/reminv/reminv_wire.h"

/* RI-4.2-01: an XDR bool under the number 0xFFFFFF02 */
static void the_property_is_an_xdr_bool(void **state)
{
	uint8_t at[RR_WIRE_REMINV_VALUE];
	bool v = false;

	assert_true(RDMA2_PROPID_REQREMINV == 0xFFFFFF02);
	for (uint32_t word = 0; word < 2; word++) {
		struct rr_writer w = rr_writer_over(at, sizeof(at));

		rr_wire_reminv_put_value(&w, word);
		assert_false(rr_writer_bad(&w));
		assert_int_equal(rr_writer_used(&w), sizeof(at));
		assert_int_equal(rr_load_u32(at), word);
		v = !word;
		assert_int_equal(rr_wire_reminv_get_value(at, 4, &v), 0);
		assert_int_equal(v, word);
	}
}

static void no_octets_stand_for_true(void **state)
{
	bool v = false;

	assert_int_equal(rr_wire_reminv_get_value(NULL, 0, &v), 0);
	assert_true(v);
}

/* NS-xcharext-02 */
static void data_that_is_no_bool_is_refused(void **state)
{
	static const uint32_t words[] = {2, 0x01000000, 0xffffffff};
	uint8_t at[8] = {0, 0, 0, 1};
	bool v = false;

	for (uint32_t len = 1; len <= 8; len++)
		if (len != 4)
			assert_int_equal(rr_wire_reminv_get_value(at, len, &v),
			                 -EINVAL);
	for (size_t i = 0; i < RR_ARRAY_SIZE(words); i++) {
		rr_store_u32(at, words[i]);
		assert_int_equal(rr_wire_reminv_get_value(at, 4, &v), -EINVAL);
	}
	assert_false(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_property_is_an_xdr_bool),
	        cmocka_unit_test(no_octets_stand_for_true),
	        cmocka_unit_test(data_that_is_no_bool_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
