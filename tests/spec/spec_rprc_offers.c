/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a Call provides for its Reply: a Reply chunk or nothing.              [ext §3.4]
 */
#include "test_conn_rprc.h"

#define EXPOSES PEER("2", TEN_SECONDS)
#define NOTHING "00000000"

enum {
	T = 4096 - 36,
	MIB = 1 << 20,
	ALWAYS = RR_CALL_LARGE_REPLY,
	ROOM = RR_CALL_ROOM
};

/* Returns the octets of the Reply chunk in a Call without other chunks. */
static uint64_t offered_by(const struct side_msg *m)
{
	uint64_t sum = 0;
	uint32_t n;

	assert_int_equal(spec_word(m, 6), 0);
	assert_int_equal(spec_word(m, 7), 0);
	if (!spec_word(m, 8))
		return 0;
	n = spec_word(m, 9);
	for (uint32_t i = 0; i < n; i++)
		sum += spec_word(m, 11 + 4 * i);
	return sum;
}

/* RR-5.3.1-01, -02, -03, -04, -05, RR-3.2-01, RR-4-02, RR-6-03, RR-5.2.2-05, RR-3-03,
 * RR-3.5-02 */
static void the_offer_follows_the_bounds(void **state)
{
	static const struct {
		const char *props;
		bool none; /* the policy: no Reply chunks */
		unsigned flags;
		size_t min, max; /* max 0: unknown */
		size_t offered;
	} row[] = {
	        {EXPOSES, false, 0, 0, 1000, 0},
	        {EXPOSES, false, 0, 0, T, 0},
	        {EXPOSES, false, 0, 100, MIB, 0},
	        {EXPOSES, false, 0, 100, 0, 0},
	        {EXPOSES, false, 0, T, MIB, 0},
	        {EXPOSES, false, 0, T + 4, MIB, MIB},
	        {EXPOSES, false, 0, 8192, 65536, 65536},
	        {EXPOSES, false, 0, 8192, 0, 0},
	        {EXPOSES, false, ALWAYS, 0, 65536, 65536},
	        {EXPOSES, false, ALWAYS, 0, T, 0},
	        {EXPOSES, false, ALWAYS, 0, T + 4, T + 4},
	        {EXPOSES, false, ALWAYS, 0, 0, 0},
	        {EXPOSES, true, 0, 0, 1000, 0},
	        {EXPOSES, true, 0, 8192, 65536, 0},
	        {EXPOSES, true, ALWAYS, 8192, MIB, 0},
	        {EXPOSES, true, ROOM, 0, 8192, 0},
	        {NOTHING, true, ROOM, 0, 8192, 8192},
	        {NOTHING, false, 0, 0, 1000, 0},
	        {NOTHING, false, 0, 8192, 8192, 0},
	        {NOTHING, false, 0, 0, MIB, MIB},
	        {NOTHING, true, 0, 0, MIB, MIB},
	        {NOTHING, false, ALWAYS, 0, 0, 0},
	        {PEER("1", "00000000"), false, 0, 0, MIB, MIB},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		const struct rr_conn_config cfg = {.features.no_reply_chunks =
		                                           row[i].none};
		struct side *s = rprc_puller(cfg, row[i].props);
		struct spec_call *k = spec_new(0x55, 0);
		struct rr_conn_counters n;

		k->call.reply_min = row[i].min;
		k->call.reply_bytes = row[i].max;
		k->call.flags = row[i].flags;
		assert_int_equal(offered_by(spec_sent(s, k)), row[i].offered);
		n = rprc_counters(s);
		assert_int_equal(n.reply_chunks_offered, row[i].offered != 0);
		assert_int_equal(n.registrations, row[i].offered != 0);
		assert_int_equal(s->n_regions, row[i].offered != 0);
		spec_end(s, k);
	}
}

/* RR-3.5-01: two Write chunks of three segments each come back in the Reply's header,
 * which then has 36 + 2 * (4 + 4 + 48) octets. */
static void returned_write_chunks_count_in_the_header(void **state)
{
	static uint8_t dest[2][3 * 4096];
	enum { HEADER = 36 + 2 * (4 + 4 + 48) };

	for (size_t over = 0; over <= 4; over += 4) {
		const struct rr_conn_config cfg = {.segment_bytes = 4096,
		                                   .max_segments = 64};
		struct side *s =
		        rprc_puller(cfg, "00000002 ffffff21 0000000c 00000002 00002710 "
		                         "00000000" PROP("00000004", "00000040"));
		struct spec_call *k = spec_new(0x55, 0);
		const struct side_msg *m;

		for (unsigned i = 0; i < 2; i++)
			spec_dest(k, dest[i], sizeof(dest[i]));
		k->call.reply_min = 4096 - HEADER + over;
		k->call.reply_bytes = 16384;
		m = spec_sent(s, k);
		assert_int_equal(spec_word(m, 7), 1);
		assert_int_equal(spec_word(m, 8), 3);
		assert_int_equal(rprc_counters(s).reply_chunks_offered, over != 0);
		spec_end(s, k);
	}
}

/* RR-5.3.1-05: without support a guess may be too small; the second Call provides what
 * the error asks for. */
static void a_guess_is_corrected_once(void **state)
{
	struct side *s = rprc_puller((struct rr_conn_config){0}, NOTHING);
	struct spec_call *k = spec_new(0x55, 0);

	k->call.reply_bytes = 8192;
	k->call.flags = RR_CALL_IDEMPOTENT | RR_CALL_ROOM;
	assert_int_equal(offered_by(spec_sent(s, k)), 8192);
	side_forget_sent(s);
	raw_receive(s, "00000055" ERRORMSG "0000000a 00005000");
	assert_int_equal(k->call.status, RR_CALL_REMOTE_ERROR);
	assert_true(rr_call_recover(s->c, &k->call));
	assert_int_equal(offered_by(spec_sent(s, k)), 20480);
	side_forget_sent(s);
	raw_receive(s, "00000055" ERRORMSG "0000000a 00006000");
	assert_false(rr_call_recover(s->c, &k->call));
	spec_end(s, k);
}

/* RR-P-04, RR-1-04: a Reply chunk that was offered and not used is fenced all the same
 * before the call ends. */
static void an_unused_reply_chunk_is_fenced(void **state)
{
	const struct rr_conn_config cfg = {0};
	struct side *s = rprc_puller(cfg, EXPOSES);
	struct spec_call *k = spec_new(0x55, 0);

	k->call.reply_min = 5000;
	k->call.reply_bytes = 5000;
	(void)spec_sent(s, k);
	side_forget_sent(s);
	assert_int_equal(s->n_regions, 1);
	rprc_receive_only(s, ONE("00000055"));
	side_complete_one(s); /* the Read */
	assert_int_equal(s->n_regions, 0);
	assert_int_equal(s->calls_done, 0); /* the fence has not completed */
	side_complete_all(s);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, RR_CALL_OK);
	rprc_release(s, k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_offer_follows_the_bounds),
	        cmocka_unit_test(returned_write_chunks_count_in_the_header),
	        cmocka_unit_test(a_guess_is_corrected_once),
	        cmocka_unit_test(an_unused_reply_chunk_is_fenced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
