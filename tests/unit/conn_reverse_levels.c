/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls in reverse by the level that the client advertised [R3, R4, R5]: the
 * client as Responder, against octets laid out by hand.
 */
#include "test_conn_raw.h"

#define WITH_READ                                                                      \
	"00000055" MSG "00000000" READ(                                                \
	        "00000010", "00000004") "00000000 00000000 00000000" CALL("00000055")
#define WITH_WRITE                                                                     \
	"00000055" MSG "00000000 00000000 00000001 00000001" SEG(                      \
	        "000000ab", "00000004") "00000000 00000000" CALL("00000055")
#define WITH_REPLY                                                                     \
	"00000055" MSG                                                                 \
	"00000000 00000000 00000000 00000001 00000001" SEG("000000ab", "00000004")     \
	        CALL("00000055")
#define SPECIAL                                                                        \
	"00000055" NOMSG                                                               \
	"00000000" READ("00000000", "00000020") "00000000 00000000 00000000"

static void answered(uint32_t level, const char *in, const char *out)
{
	const struct rr_conn_config cfg = {.rvrsdir = level};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	assert_int_equal(s->n_sent, 1);
	side_forget_sent(s);
	s->on_request = raw_answer_call;
	raw_receive(s, in);
	raw_expect(s, out);
	raw_expect_silence(s);
	raw_end(s);
}

/* V2-4.5.3-01, [R3] */
static void a_client_without_support_refuses_calls(void **state)
{
	answered(0, "00000055" MSG EMPTY CALL("00000055"), SYSTEM("00000055"));
	answered(0, "00000055" MSG_MORE EMPTY CALL("00000055"), SYSTEM("00000055"));
	answered(0, SPECIAL, SYSTEM("00000055"));
}

/* V2-5.2.5-03, V2-5.2.5-04 */
static void plain_calls_are_served_from_level_1_on(void **state)
{
	for (uint32_t level = 1; level <= 3; level++)
		answered(level, "00000055" MSG EMPTY CALL("00000055"),
		         "00000055" MSG_REPLY EMPTY REPLY("00000055"));
}

/* [R5] */
static void level_1_takes_no_continued_calls(void **state)
{
	answered(1, "00000055" MSG_MORE EMPTY CALL("00000055"), INVAL_CONT("00000055"));
}

/* V2-4.5.4-05, [R4] */
static void read_chunks_need_level_3(void **state)
{
	for (uint32_t level = 1; level <= 2; level++) {
		answered(level, WITH_READ, ERR("00000055", "00000006 00000000"));
		answered(level, SPECIAL, ERR("00000055", "00000006 00000000"));
	}
}

/* V2-4.5.4-05, V2-7.3.2-04, [E11]: without continuation it is the Reply's room. */
static void level_1_has_no_room_for_write_chunks(void **state)
{
	answered(1, WITH_WRITE, ERR("00000055", "0000000a 00000000"));
}

/* V2-4.5.4-05, [R4] */
static void level_2_takes_no_write_chunks(void **state)
{
	answered(2, WITH_WRITE, ERR("00000055", "00000007 00000000"));
}

/* V2-4.5.4-05, [R4] */
static void reply_chunks_need_level_3(void **state)
{
	answered(1, WITH_REPLY, ERR("00000055", "00000008 00000000"));
	answered(2, WITH_REPLY, ERR("00000055", "00000008 00000000"));
}

/* V2-5.2.5-05 */
static void level_3_takes_read_chunks(void **state)
{
	answered(3, WITH_READ, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_client_without_support_refuses_calls),
	        cmocka_unit_test(plain_calls_are_served_from_level_1_on),
	        cmocka_unit_test(level_1_takes_no_continued_calls),
	        cmocka_unit_test(read_chunks_need_level_3),
	        cmocka_unit_test(level_1_has_no_room_for_write_chunks),
	        cmocka_unit_test(level_2_takes_no_write_chunks),
	        cmocka_unit_test(reply_chunks_need_level_3),
	        cmocka_unit_test(level_3_takes_read_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
