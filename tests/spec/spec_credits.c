/* SPDX-License-Identifier: BSD-3-Clause */
/* Credits and what waits for them.            [v2 §4.2.1, §6.2.2.2, §C.3; C3, C5] */
#include "test_conn_spec.h"

/* V2-6.2.2.2-13, V2-C.3-01: two parts, then three more. */
static void a_sequence_waits_for_credits_and_goes_on(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct spec_call *k = spec_new(0x55, 0);

	raw_receive(s, "00000077 00000002 00200002 00000005 00000000 00000000");
	side_forget_sent(s);
	spec_add(k, spec_octets(), 24000, false);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 2);
	raw_receive(s, GRANT("0003"));
	assert_int_equal(s->n_sent, 5);
	assert_int_equal(spec_flags(&s->sent[4]), 2);
	raw_receive(s, GRANT("0005"));
	assert_int_equal(s->n_sent, 6); /* no more than there are */
	assert_int_equal(spec_flags(&s->sent[5]), 0);
	spec_end(s, k);
}

/* V2-4.2.1.2-01, V2-6.2.2.2-14: grants come before the final part. */
static void a_long_sequence_is_granted_credits_on_its_way(void **state)
{
	const struct rr_conn_config cfg = {.credits = 4};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	unsigned allowed = 0, parts = 0;

	s->on_request = raw_answer_call;
	raw_receive(s, "00000077 00000002 00040004 00000005 00000000 00000000");
	allowed = spec_word(&s->sent[0], 2) & 0xffff;
	side_forget_sent(s);
	raw_receive(s, "00000055 00000002 00040001 00000000 00000002" EMPTY CALL(
	                       "00000055"));
	for (parts = 1; parts < 40; parts++) {
		for (unsigned i = 0; i < s->n_sent; i++) {
			const struct side_msg *m = &s->sent[i];

			assert_int_equal(m->len, 36);
			assert_int_equal(spec_word(m, 0), 0);
			assert_int_equal(spec_word(m, 3), 1);
			for (unsigned w = 4; w < 9; w++)
				assert_int_equal(spec_word(m, w), 0);
			allowed += spec_word(m, 2) & 0xffff;
		}
		side_forget_sent(s);
		assert_true(parts < allowed); /* the next part may come */
		raw_receive(s, "00000055 00000002 00040001 00000000 00000002" EMPTY
		               "00000000");
	}
	assert_int_equal(s->requested, 0);
	raw_receive(s, "00000055 00000002 00040001 00000000 00000000" EMPTY "00000000");
	assert_int_equal(s->requested, 1);
	raw_end(s);
}

/* V2-4.2.1.1-04: no credit this way, yet messages of the other way are taken,
 * and the other way round. */
static void directions_have_credits_of_their_own(void **state)
{
	const struct rr_conn_config cfg = {.rvrsdir = 3};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct spec_call *k = spec_new(0x55, 0), *more = spec_new(0x56, 0);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000077 00000002 00200001 00000005 00000000 00000000");
	side_forget_sent(s);
	spec_start(s, k); /* the last credit */
	spec_start(s, more);
	assert_int_equal(s->n_sent, 1);
	side_forget_sent(s);
	for (unsigned i = 0; i < 20; i++) {
		/* without one new credit */
		raw_receive(s,
		            "00000066 00000002 00200000 00000000 00000000" EMPTY CALL(
		                    "00000066"));
		assert_int_equal(s->requested, i + 1);
	}
	assert_int_equal(s->n_sent, 0);
	raw_receive(s, GRANT("0015"));
	assert_int_equal(s->n_sent, 21);
	raw_end(s);
	free(k);
	free(more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_sequence_waits_for_credits_and_goes_on),
	        cmocka_unit_test(a_long_sequence_is_granted_credits_on_its_way),
	        cmocka_unit_test(directions_have_credits_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
