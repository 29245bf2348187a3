/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4: the published vectors, and digests of data that is added in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/siphash.h"

/* Vectors of the paper's appendix: data 0, 1, 2... under the key 0, 1, 2... 15. */
static void published_vectors_are_met_in_any_parts(void **state)
{
	static const struct {
		size_t len;
		uint64_t digest;
	} all[] = {{0, 0x726fdb47dd0e0e31u},
	           {1, 0x74f839c593dc67fdu},
	           {8, 0x93f5f5799a932462u},
	           {15, 0xa129ca6149be45e5u}};
	const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
	struct rr_siphash h;
	uint8_t in[15];

	for (unsigned i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)i;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(rr_siphash_once(key, in, all[i].len), all[i].digest);
		for (size_t cut = 0; cut <= all[i].len; cut++) {
			rr_siphash_init(&h, key);
			rr_siphash_add(&h, in, cut);
			rr_siphash_add(&h, in + cut, all[i].len - cut);
			assert_int_equal(rr_siphash_end(&h), all[i].digest);
		}
	}
}

static void parts_do_not_change_the_digest(void **state)
{
	const uint64_t key[2] = {1, 2};
	struct rr_siphash one, part;
	uint8_t in[100];

	for (unsigned i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 37);
	for (unsigned len = 0; len <= sizeof(in); len++)
		for (unsigned cut = 0; cut <= len; cut++) {
			rr_siphash_init(&one, key);
			for (unsigned i = 0; i < len; i++)
				rr_siphash_add(&one, in + i, 1);
			rr_siphash_init(&part, key);
			rr_siphash_add(&part, in, cut);
			rr_siphash_add(&part, in + cut, len - cut);
			assert_int_equal(rr_siphash_end(&one), rr_siphash_end(&part));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(published_vectors_are_met_in_any_parts),
	        cmocka_unit_test(parts_do_not_change_the_digest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
