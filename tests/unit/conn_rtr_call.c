/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client with the feature RTR whose server is octets laid out by hand: requests that
 * are sent as groups, those that cannot be, and credits that do not come.
 */
#include "test_conn_rtr.h"

/* A peer that takes more segments. */
#define PEER_MANY                                                                      \
	"00000006 " PROP("00000004", "00000040") "00000001 00000004 "                  \
	                                         "00002400 " RTR_PROPS

enum { PART = 36 }; /* header of an RDMA2_MSG without chunks */

/* -- plans ----------------------------------------------------------------- */

/* A direction that is not known is by explicit RDMA. */
static void an_unknown_direction_is_explicit(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_read(s, (enum rr_direct)9);

	(void)state;
	assert_int_equal(rtr_sent_type(s), RTR_REQ);
	assert_int_equal(spec_word(&s->sent[0], 12), 1);
	raw_receive(s, SYSTEM(X));
	rtr_finish(s, k, RR_CALL_REMOTE_ERROR);
}

/* Destinations share a set only if both ends of their ranges are equal. */
static void each_range_has_a_set(void **state)
{
	static const uint32_t range[4][2] = {{4, 20}, {4, 20}, {20, 40}, {20, 44}};
	static const uint32_t want[] = {3,  4, 20, 2, 0,  2,  0, 2, 20,
	                                40, 1, 0,  2, 20, 44, 1, 0, 2};
	struct side *s = rtr_client(32);
	struct spec_call *k = spec_new(RTR_XID, 0);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		spec_dest(k, rtr_result[i], sizeof(rtr_result[i]));
		k->dest[i].direct = RR_DIRECT_SEND;
		k->dest[i].begin = range[i][0];
		k->dest[i].end = range[i][1];
	}
	k->call.reply_bytes = 200;
	spec_start(s, k);
	assert_int_equal(rtr_sent_type(s), RTR_REQ);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(want); i++)
		assert_int_equal(spec_word(&s->sent[0], 7 + i), want[i]);
	raw_receive(s, SYSTEM(X));
	rtr_finish(s, k, RR_CALL_REMOTE_ERROR);
}

/* A result with a length that no item can have fits neither a group nor a chunk. */
static void an_impossible_result_is_refused(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_into(s, 1ull << 33, RR_DIRECT_SEND, 200);

	(void)state;
	raw_expect_silence(s);
	rtr_finish(s, k, -EMSGSIZE);
}

/* A header has 16 items: 17 are neither placed by Send nor named in a group. */
static void too_many_items_make_no_group(void **state)
{
	const struct rr_conn_config g = rtr_client_config(32);
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &g, PEER_MANY);
	struct spec_call *k = spec_new(RTR_XID, 1024);
	struct rr_piece piece[18];

	(void)state;
	piece[0] = k->piece[0];
	for (unsigned i = 1; i < RR_ARRAY_SIZE(piece); i++)
		piece[i] = (struct rr_piece){rtr_result[0], 1024, true};
	k->call.pieces = piece;
	k->call.n_pieces = RR_ARRAY_SIZE(piece);
	k->call.reply_bytes = 200;
	spec_start(s, k);
	assert_int_equal(rtr_sent_type(s), 0);
	assert_int_equal(s->n_regions, 17);
	raw_receive(s, X MSG_REPLY EMPTY REPLY(X));
	rtr_finish(s, k, RR_CALL_OK);
}

/* The Call is too long for a group.  If there is no memory to pull it from, it is
 * continued. */
static void without_memory_a_call_is_not_pulled(void **state)
{
	unsigned pulled = 0, continued = 0;

	(void)state;
	for (unsigned at = 1; at < 12; at++) {
		struct side *s = rtr_client(32);
		struct spec_call *k = spec_new(RTR_XID, 0);

		for (unsigned i = 0; i < 3; i++)
			spec_add(k, spec_octets(), 60000, false);
		k->call.reply_bytes = 200;
		s->mem_fail_at = at;
		if (!rr_conn_call(s->c, &k->call, s->now))
			side_drain(s);
		side_complete_all(s);
		s->mem_fail_at = 0;
		pulled += s->n_sent && rtr_sent_type(s) == RTR_REQ;
		continued += s->n_sent && spec_flags(&s->sent[0]) == RDMA2_F_MORE;
		side_lose(s, 0);
		spec_end(s, k);
	}
	assert_true(pulled > 0);
	assert_true(continued > 0);
}

/* The end of a call drops its response, and not a request with the same RTR_XID. */
static void a_request_outlives_a_call_with_its_xid(void **state)
{
	struct rr_conn_config g = rtr_client_config(32);
	struct spec_call *k;
	struct side *s;

	(void)state;
	g.rvrsdir = RDMA2_RVRSDIR_GENL;
	s = raw_ready_by(RR_CONN_CLIENT, &g, RTR_PEER);
	s->on_request = raw_answer_call;
	k = rtr_start_read(s, RR_DIRECT_SEND);
	raw_skip(s);
	raw_receive(s, X XREQ "00000000 00000000 00000000 00000000 00000002 00000001 "
	                      "00000008 " X " 00000000 ");
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	assert_int_equal(s->requested, 0);
	raw_receive(s, X XCONT "00000001 ffffff15 00000010 00000002 000186a3 00000003 "
	                       "00000000 ");
	assert_int_equal(s->requested, 1);
	rtr_finish(s, k, -ECANCELED);
}

/* The peer refuses our properties after it has sent its own: no header type of the
 * feature is sent. */
static void refused_properties_end_the_feature(void **state)
{
	const struct rr_conn_config g = rtr_client_config(32);
	struct side *s = raw_new(RR_CONN_CLIENT, &g);
	struct spec_call *k;
	char hex[100];

	(void)state;
	sprintf(hex, "%08x" ERRORMSG "00000004", spec_word(&s->sent[0], 0));
	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 " RTR_PEER);
	assert_true(s->ready);
	raw_receive(s, hex);
	side_forget_sent(s);
	k = rtr_start_read(s, RR_DIRECT_SEND);
	assert_int_equal(rtr_sent_type(s), 0);
	raw_receive(s, SYSTEM(X));
	rtr_finish(s, k, RR_CALL_REMOTE_ERROR);
}

/* -- credits --------------------------------------------------------------- */

static struct spec_call *others[32];

/* Uses up all credits but one. */
static void use_credits(struct side *s)
{
	for (uint32_t i = 0; i < 31; i++) {
		others[i] = spec_new(0x100 + i, 0);
		spec_start(s, others[i]);
	}
	side_forget_sent(s);
}

static void lose_all(struct side *s)
{
	side_lose(s, 0);
	raw_end(s);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(others); i++) {
		free(others[i]);
		others[i] = NULL;
	}
}

/* Starts a call of two transmissions.  There is a credit for one. */
static struct spec_call *start_long(struct side *s, bool item)
{
	struct spec_call *k = spec_new(RTR_XID, item ? 16384 : 0);

	use_credits(s);
	spec_add(k, rtr_result[0], 16384, item);
	k->call.reply_bytes = 200;
	spec_start(s, k);
	assert_int_equal(s->n_sent, 0);
	return k;
}

static void expect_sent_plainly(struct side *s)
{
	s->now += RR_SEC(1);
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(rtr_sent_type(s), 0);
	assert_int_equal(spec_word(&s->sent[0], 0), RTR_XID);
	assert_int_equal(spec_flags(&s->sent[0]), RDMA2_F_MORE);
}

/* NS-s20-02, NS-s20-03: the peer hands nothing back.  A request of two transmissions
 * waits, is not overtaken, and goes by base header types after group_wait. */
static void a_group_does_not_wait_for_ever(void **state)
{
	(void)state;
	for (unsigned item = 0; item < 2; item++) {
		struct side *s = rtr_client(32);
		struct spec_call *k = start_long(s, item);

		others[31] = spec_new(0x77, 0);
		spec_start(s, others[31]);
		assert_int_equal(s->n_sent, 0);
		assert_true(rr_conn_deadline(s->c) <= s->now + RR_SEC(1));
		expect_sent_plainly(s);
		lose_all(s);
		free(k);
	}
}

/* NS-s20-03: of two items one was to be placed by Send.  In the base protocol it is part
 * of the stream, and the other one keeps its Read chunk. */
static void an_overdue_mix_keeps_its_read_chunk(void **state)
{
	struct side *s = rtr_client(32);
	static uint8_t large[200000];
	struct spec_call *k = spec_new(RTR_XID, sizeof(large));
	static const uint8_t count[] = {0, 0, 0x40, 0};

	(void)state;
	use_credits(s);
	spec_add(k, large, sizeof(large), true);
	spec_add(k, count, sizeof(count), false);
	spec_add(k, spec_octets(), 16384, true);
	k->call.reply_bytes = 200;
	spec_start(s, k);
	assert_int_equal(s->n_sent, 0);
	assert_int_equal(s->n_regions, 1);
	expect_sent_plainly(s);
	raw_receive(s, GRANT("0008"));
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(s->sent[0].len, RTR_BUFFER);
	assert_int_equal(s->sent[1].len, PART + 24 + 32 + 16384 - (RTR_BUFFER - PART));
	assert_int_equal(spec_word(&s->sent[1], 6), 1); /* a Read segment */
	assert_int_equal(spec_word(&s->sent[1], 7), 28);
	assert_int_equal(spec_word(&s->sent[1], 9), sizeof(large));
	lose_all(s);
	free(k);
}

/* A response of the feature does not answer a call that was sent by base header types
 * after all, and an error about the call's type does not end the feature. */
static void an_overdue_call_has_plain_answers(void **state)
{
	(void)state;
	for (unsigned error = 0; error < 2; error++) {
		struct side *s = rtr_client(32);
		struct spec_call *k = start_long(s, true);

		expect_sent_plainly(s);
		raw_receive(s, error ? INVAL_HTYPE(X)
		                     : X XRESP
		                       "00000000 00000000 00000001 00000010 " REPLY(X));
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(k->call.status,
		                 error ? RR_CALL_REMOTE_ERROR : -EPROTO);
		assert_false(k->call.recovery.group_refused);
		side_forget_sent(s);
		raw_receive(s, GRANT("0004"));
		others[31] = rtr_start_read(s, RR_DIRECT_SEND);
		assert_int_equal(rtr_sent_type(s), RTR_REQ);
		lose_all(s);
		free(k);
	}
}

/* The peer refuses our properties while a group waits for its credits: the call goes by
 * base header types at once, with all that it has registered. */
static void refused_properties_end_a_planned_group(void **state)
{
	(void)state;
	for (unsigned item = 0; item < 2; item++) {
		const struct rr_conn_config g = rtr_client_config(32);
		struct side *s = raw_new(RR_CONN_CLIENT, &g);
		struct spec_call *k;
		char hex[100];

		sprintf(hex, "%08x" ERRORMSG "00000004", spec_word(&s->sent[0], 0));
		raw_receive(s,
		            "00000077 00000002 00200020 00000005 00000000 " RTR_PEER);
		assert_true(s->ready);
		k = start_long(s, item);
		raw_receive(s, hex);
		assert_true(s->n_sent > 0);
		for (unsigned i = 0; i < s->n_sent; i++)
			assert_int_equal(spec_word(&s->sent[i], 3), 0);
		assert_int_equal(spec_word(&s->sent[0], 0), RTR_XID);
		lose_all(s);
		free(k);
	}
}

/* A group that waits goes out when the credits come, or is cancelled. */
static void a_group_that_waits_can_end(void **state)
{
	(void)state;
	for (unsigned cancel = 0; cancel < 2; cancel++) {
		struct side *s = rtr_client(32);
		struct spec_call *k = start_long(s, true);

		if (cancel) {
			rr_conn_cancel(s->c, &k->call, s->now);
			side_drain(s);
			assert_int_equal(s->calls_done, 1);
			others[31] = spec_new(0x78, 0);
			spec_start(s, others[31]);
			assert_int_equal(rtr_sent_type(s), 0);
		} else {
			raw_receive(s, GRANT("0004"));
			assert_int_equal(s->n_sent, 2);
			assert_int_equal(rtr_sent_type(s), RTR_REQ);
			assert_int_equal(spec_word(&s->sent[1], 3), RTR_CONT);
			assert_int_equal(s->sent[1].len, RTR_BUFFER);
		}
		lose_all(s);
		free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_unknown_direction_is_explicit),
	        cmocka_unit_test(each_range_has_a_set),
	        cmocka_unit_test(an_impossible_result_is_refused),
	        cmocka_unit_test(too_many_items_make_no_group),
	        cmocka_unit_test(without_memory_a_call_is_not_pulled),
	        cmocka_unit_test(a_request_outlives_a_call_with_its_xid),
	        cmocka_unit_test(refused_properties_end_the_feature),
	        cmocka_unit_test(a_group_does_not_wait_for_ever),
	        cmocka_unit_test(an_overdue_mix_keeps_its_read_chunk),
	        cmocka_unit_test(an_overdue_call_has_plain_answers),
	        cmocka_unit_test(refused_properties_end_a_planned_group),
	        cmocka_unit_test(a_group_that_waits_can_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
