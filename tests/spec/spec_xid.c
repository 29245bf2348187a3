/* SPDX-License-Identifier: BSD-3-Clause */
/* XIDs and whose they are.                      [v2 §3.1.2, §3.1.3.4, §6.2.2.1, §C.1]
 */
#include "test_conn_spec.h"

static const struct rr_conn_config reverse = {.rvrsdir = 3};

/* V2-3.1.2-02, V2-3.1.3.4-02: free again once its Call has ended. */
static void an_xid_in_use_is_refused(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 0), *again = spec_new(0x55, 0);

	spec_start(s, k);
	assert_int_equal(rr_conn_call(s->c, &again->call, s->now), -EINVAL);
	assert_int_equal(s->n_sent, 1);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(k->call.status, RR_CALL_OK);
	spec_start(s, again);
	assert_int_equal(s->n_sent, 2);
	rr_conn_call_release(s->c, &k->call, s->now);
	raw_end(s);
	free(k);
	free(again);
}

/* V2-3.1.3.4-01, V2-6.2.2.1-05: executed, and no Reply to ours. */
static void a_call_under_our_own_xid_is_a_call(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &reverse, "00000000");
	struct spec_call *k = spec_new(0x55, 0);

	s->on_request = raw_answer_call;
	spec_start(s, k);
	side_forget_sent(s);
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	assert_int_equal(s->requested, 1);
	assert_int_equal(s->calls_done, 0);
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, RR_CALL_OK);
	assert_int_equal(s->requested, 1);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

/* V2-3.1.3.4-04: a server may call under an XID that it is serving. */
static void keep(struct side *s, struct rr_request *r)
{
	s->app = r;
}

static void both_sides_may_use_one_xid(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_SERVER, NULL,
	                              "00000001" PROP("00000005", "00000003"));
	struct spec_call *k = spec_new(0x55, 0);

	s->on_request = keep;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	assert_int_equal(s->requested, 1);
	assert_int_equal(spec_sent(s, k)->p[3], 0x55);
	side_forget_sent(s);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(k->call.status, RR_CALL_OK);
	assert_int_equal(s->calls_done, 1);
	raw_answer_call(s, s->app);
	side_drain(s);
	side_complete_all(s);
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

/* V2-3.1.3.4-03, [O11] */
static void reverse_replies_carry_any_xid(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &reverse, "00000000");

	s->on_request = raw_answer_call;
	raw_receive(s, "00000000" MSG EMPTY CALL("00000000"));
	raw_expect(s, "00000000" MSG_REPLY EMPTY REPLY("00000000"));
	raw_receive(s, "00000001" MSG EMPTY CALL("00000001"));
	raw_expect(s, "00000001" MSG_REPLY EMPTY REPLY("00000001"));
	raw_receive(s, "ffffffff" MSG EMPTY CALL("ffffffff"));
	raw_expect(s, "ffffffff" MSG_REPLY EMPTY REPLY("ffffffff"));
	raw_end(s);
}

/* V2-C.1-01: a Call with XID 0 meets a grant, one with another properties. */
static void grants_and_properties_complete_no_call(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *zero = spec_new(0, 0), *k = spec_new(0x55, 0);

	spec_start(s, zero);
	spec_start(s, k);
	side_forget_sent(s);
	raw_receive(s, "00000000" NOMSG EMPTY);
	raw_receive(s, "00000000" NOMSG_REPLY EMPTY);
	raw_expect_silence(s);
	raw_receive(s, "00000055" CONNPROP "00000000");
	raw_expect(s, INVAL_HTYPE("00000055")); /* late, that is all */
	assert_int_equal(s->calls_done, 0);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_receive(s, "00000000" MSG_REPLY EMPTY REPLY("00000000"));
	assert_int_equal(s->calls_done, 2);
	assert_int_equal(zero->call.status, RR_CALL_OK);
	assert_int_equal(k->call.status, RR_CALL_OK);
	rr_conn_call_release(s->c, &k->call, s->now);
	rr_conn_call_release(s->c, &zero->call, s->now);
	raw_end(s);
	free(zero);
	free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_xid_in_use_is_refused),
	        cmocka_unit_test(a_call_under_our_own_xid_is_a_call),
	        cmocka_unit_test(both_sides_may_use_one_xid),
	        cmocka_unit_test(reverse_replies_carry_any_xid),
	        cmocka_unit_test(grants_and_properties_complete_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
