/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that come in parts reserve their memory with the first one.  Without it the
 * parts are held where they were received, and all else goes on.
 */
#include "test_conn_raw.h"

static const struct rr_conn_config by_default;

/* Who has the room. */
static struct {
	int answer;
	uint64_t bytes;
	unsigned asked, left;
	uint64_t taken, given;
} desk;

static int ask(void *ctx, uint64_t *ret_bytes)
{
	desk.asked++;
	if (desk.answer == 1) {
		*ret_bytes = desk.bytes;
		desk.taken += desk.bytes;
	}
	return desk.answer;
}

static void leave(void *ctx)
{
	desk.left++;
}

static void give(void *ctx, uint64_t bytes)
{
	desk.given += bytes;
}

static struct rr_request admitted;

static void note_admit(struct side *s, struct rr_request *r)
{
	admitted = *r;
	desk.given += r->roomed_bytes; /* the user's */
	rr_conn_admit(s->c, r, NULL, s->now);
}

static struct side *open_desk(int answer, uint64_t bytes, struct rr_conn_config cfg)
{
	struct side *s;

	memset(&desk, 0, sizeof(desk));
	memset(&admitted, 0, sizeof(admitted));
	desk.answer = answer;
	desk.bytes = bytes;
	cfg.room = (struct rr_room){ask, leave, give, NULL};
	/* Its client may be called. */
	s = raw_ready_by(RR_CONN_SERVER, &cfg, "00000001 00000005 00000004 00000003");
	s->on_admit = note_admit;
	s->on_request = raw_answer_call;
	return s;
}

static void close_desk(struct side *s)
{
	raw_end(s);
	assert_int_equal(desk.given, desk.taken);
}

static void room(struct side *s, uint64_t bytes)
{
	desk.taken += bytes;
	rr_conn_room(s->c, bytes, s->now);
	side_drain(s);
	side_complete_all(s);
}

#define FIRST(xid) xid MSG_MORE EMPTY CALL(xid)
#define NEXT(xid)  xid MSG_MORE EMPTY "00000001 00000002"
#define LAST(xid)  xid MSG EMPTY "00000003"

static void expect_reply(struct side *s)
{
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_expect_silence(s);
}

/* -- with room --------------------------------------------------------------------- */

static void reserves_with_the_first_part(void **state)
{
	struct side *s = open_desk(1, 5000, by_default);

	raw_receive(s, FIRST("00000055"));
	assert_int_equal(desk.asked, 1);
	raw_receive(s, NEXT("00000055"));
	assert_int_equal(s->admitted, 0);
	raw_receive(s, LAST("00000055"));
	assert_int_equal(desk.asked, 1);
	assert_int_equal(admitted.roomed_bytes, 5000);
	assert_int_equal(admitted.held_bytes, 5000); /* its buffer is no larger */
	assert_true(admitted.continued);
	assert_int_equal(admitted.pieces[0].len, 24 + 8 + 4);
	expect_reply(s);
	close_desk(s);
}

/* The message may be no longer than is allowed, and no longer than its room. */
static void longer_than_the_room(void **state)
{
	struct side *s = open_desk(1, 30, by_default);

	raw_receive(s, FIRST("00000055"));
	raw_receive(s, NEXT("00000055"));
	raw_expect(s, SYSTEM("00000055"));
	assert_int_equal(desk.given, 30);
	raw_receive(s, LAST("00000055")); /* thrown away */
	raw_expect_silence(s);
	raw_expect_service(s);
	close_desk(s);
}

static void no_room_at_all(void **state)
{
	struct side *s = open_desk(-ENOMEM, 0, by_default);

	raw_receive(s, FIRST("00000055"));
	raw_expect(s, SYSTEM("00000055"));
	raw_receive(s, LAST("00000055"));
	raw_expect_service(s);
	assert_int_equal(desk.left, 0);
	close_desk(s);
}

/* What the last part offers is refused: the room goes back. */
static void given_back_with_a_fault(void **state)
{
	static const char *const last[] = {
	        "00000055" MSG READ("00000003", "00000004") "00000000 00000000 00000000"
	                                                    "00000003",
	        "00000055" MSG "00000000 " READ(
	                "00000010", "7ffffff0") "00000000 00000000 00000000 00000003",
	};
	static const char *const want[] = {BAD_XDR("00000055"), SYSTEM("00000055")};

	for (int i = 0; i < 2; i++) {
		struct side *s = open_desk(1, 5000, by_default);

		raw_receive(s, FIRST("00000055"));
		raw_receive(s, last[i]);
		raw_expect(s, want[i]);
		assert_int_equal(desk.given, 5000);
		raw_expect_service(s);
		close_desk(s);
	}
}

/* Its first words come in two parts. */
static void no_call(void **state)
{
	struct side *s = open_desk(1, 5000, by_default);

	raw_receive(s, "00000055" MSG_MORE EMPTY "00000055");
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000000");
	raw_receive(s, LAST("00000055"));
	expect_reply(s);
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000055");
	raw_receive(s, "00000055" MSG EMPTY "00000001");
	raw_expect(s, BAD_XDR("00000055"));
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000055");
	raw_receive(s, "00000055" MSG EMPTY "00000000 00000003");
	expect_reply(s);
	close_desk(s);
}

/* -- without ----------------------------------------------------------------------- */

/* All else goes on, the Receives stand, and what was held is put together. */
static void waits_for_room(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct side *s = open_desk(0, 0, by_default);
		struct rr_conn_info before, after;

		rr_conn_info(s->c, &before);
		raw_receive(s, FIRST("00000055"));
		raw_receive(s, NEXT("00000055"));
		raw_receive(s, "00000000" NOMSG EMPTY); /* a grant */
		if (late) {
			raw_receive(s, LAST("00000055"));
			raw_expect_service(s); /* a Call behind it */
			assert_int_equal(admitted.xid, 0x99);
			raw_receive(s, FIRST("00000056"));
		}
		rr_conn_info(s->c, &after);
		assert_int_equal(before.receives_posted, after.receives_posted);
		assert_int_equal(desk.asked, 1);
		desk.answer = 1;
		desk.bytes = 3000;
		room(s, 5000);
		if (!late)
			raw_receive(s, LAST("00000055"));
		assert_int_equal(admitted.xid, 0x55);
		assert_int_equal(admitted.roomed_bytes, 5000);
		assert_int_equal(admitted.pieces[0].len, 24 + 8 + 4);
		assert_int_equal(desk.asked, late ? 2 : 1);
		assert_int_equal(desk.left, 0);
		expect_reply(s);
		close_desk(s);
	}
}

/* What is held is more than the room: in the middle of it, and when it is whole. */
static void room_for_less_than_is_held(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct side *s = open_desk(0, 0, by_default);

		raw_receive(s, FIRST("00000055"));
		raw_receive(s, NEXT("00000055"));
		raw_receive(s, NEXT("00000055"));
		if (late)
			raw_receive(s, LAST("00000055"));
		room(s, 26);
		raw_expect(s, SYSTEM("00000055"));
		assert_int_equal(desk.given, 26);
		if (!late)
			raw_receive(s, LAST("00000055"));
		raw_expect_service(s);
		close_desk(s);
	}
}

/* No more parts are held than stand for the credits; at low ceilings a few. */
static void too_many_parts(void **state)
{
	for (unsigned credits = 2; credits <= 32; credits += 30) {
		struct rr_conn_config cfg = {.credits = credits};
		struct side *s = open_desk(0, 0, cfg);

		raw_receive(s, FIRST("00000055"));
		for (unsigned i = 1; i < RR_MAX(3 * credits, 32u); i++)
			raw_receive(s, NEXT("00000055"));
		assert_int_equal(desk.left, 0);
		side_forget_sent(s); /* grants */
		raw_receive(s, NEXT("00000055"));
		assert_int_equal(desk.left, 1);
		assert_int_equal(rr_load_u32(s->sent[0].p), 0x55);
		assert_int_equal(rr_load_u32(s->sent[0].p + 12), RDMA2_ERROR);
		assert_int_equal(rr_load_u32(s->sent[0].p + 20), RDMA2_ERR_SYSTEM);
		side_forget_sent(s);
		raw_receive(s, LAST("00000055"));
		raw_receive(s, "00000099" MSG EMPTY CALL("00000099"));
		assert_int_equal(s->requested, 1);
		close_desk(s);
	}
}

/* A fault in a Call that waits, and a Call that is longer than any may be. */
static void faults_while_it_waits(void **state)
{
	struct rr_conn_config cfg = {.max_message_bytes = 28};
	struct side *s = open_desk(0, 0, cfg);

	raw_receive(s, FIRST("00000055"));
	raw_receive(s, "00000055" MSG READ("00000003", "00000004") "00000000 00000000 "
	                                                           "00000000 00000003");
	raw_expect(s, BAD_XDR("00000055"));
	raw_receive(s, FIRST("00000056"));
	raw_receive(s, NEXT("00000056"));
	raw_expect(s, INVAL_CONT("00000056"));
	assert_int_equal(desk.asked, 2);
	assert_int_equal(desk.left, 2);
	close_desk(s);
}

static void lost_while_it_waits(void **state)
{
	struct side *s = open_desk(0, 0, by_default);

	raw_receive(s, FIRST("00000055"));
	raw_receive(s, LAST("00000055"));
	raw_receive(s, FIRST("00000056"));
	close_desk(s);
	assert_int_equal(desk.left, 1);
}

/* The room is there, and nothing was done with it yet. */
static void lost_with_room(void **state)
{
	struct side *s = open_desk(0, 0, by_default);

	raw_receive(s, FIRST("00000055"));
	desk.taken = 700;
	rr_conn_room(s->c, 700, s->now);
	side_lose(s, 0);
	assert_int_equal(desk.left, 0);
	close_desk(s);

	s = open_desk(1, 700, by_default);
	raw_receive(s, FIRST("00000055"));
	close_desk(s);
}

/* -- memory that is not there ---------------------------------------------- */

static void no_memory(void **state)
{
	/* The request; the first buffer. */
	for (unsigned n = 1; n <= 2; n++) {
		struct side *s = open_desk(1, 5000, by_default);

		s->mem_fail_at = n;
		raw_receive(s, FIRST("00000055"));
		assert_int_equal(s->mem_fail_at, 0);
		raw_expect(s, SYSTEM("00000055"));
		raw_receive(s, LAST("00000055"));
		raw_expect_service(s);
		close_desk(s);
	}
}

static void no_memory_to_hold_a_part(void **state)
{
	struct side *s = open_desk(0, 0, by_default);

	s->mem_fail_at = 2;
	raw_receive(s, FIRST("00000055"));
	assert_int_equal(s->mem_fail_at, 0);
	raw_expect(s, SYSTEM("00000055"));
	assert_int_equal(desk.left, 1);
	raw_receive(s, LAST("00000055"));
	raw_expect_service(s);
	close_desk(s);
}

/* -- order ------------------------------------------------------------------------- */

static void start_call(struct side *s, struct rr_call *call)
{
	static uint8_t words[8];
	static const struct rr_piece p = {words, sizeof(words), false};

	rr_store_u32(words, 0x77);
	*call = (struct rr_call){.xid = 0x77, .pieces = &p, .n_pieces = 1};
	assert_int_equal(rr_conn_call(s->c, call, s->now), 0);
	side_drain(s);
	side_complete_all(s);
	side_forget_sent(s);
}

/* No more credits are handed back than stand for parts that can be held, 64 in all, but
 * if a Reply to a call of ours can only come behind them. */
static void credits_are_withheld(void **state)
{
	for (int own = 0; own < 2; own++) {
		struct side *s = open_desk(0, 0, by_default);
		struct rr_call call;
		unsigned granted = 0;

		if (own)
			start_call(s, &call);
		raw_receive(s, FIRST("00000055"));
		for (unsigned i = 0; i < 60; i++)
			raw_receive(s, NEXT("00000055"));
		for (unsigned i = 0; i < s->n_sent; i++)
			granted += s->sent[i].p[11];
		assert_in_range(granted, own ? 48 : 1, own ? 61 : 64 - 32);
		side_forget_sent(s);
		room(s, 5000);
		assert_int_equal(s->n_sent, !own); /* the rest */
		side_forget_sent(s);
		close_desk(s);
	}
}

/* With one request at a time: what has room goes before those that wait for a turn, but
 * not while another is served. */
static void room_before_turn(void **state)
{
	struct rr_conn_config cfg = {.max_requests = 1};
	struct side *s = open_desk(1, 5000, cfg);

	s->on_request = raw_hold;
	raw_receive(s, "00000054" MSG EMPTY CALL("00000054"));
	assert_int_equal(s->requested, 1);
	raw_receive(s, "00000053" MSG EMPTY CALL("00000053"));
	raw_receive(s, FIRST("00000055"));
	assert_int_equal(desk.asked, 1);
	raw_receive(s, LAST("00000055"));
	assert_int_equal(s->requested, 1);
	s->on_request = raw_answer_call;
	side_forget_sent(s);
	rr_conn_drop(s->c, raw_held, s->now);
	side_drain(s);
	side_complete_all(s);
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(rr_load_u32(s->sent[0].p), 0x55);
	assert_int_equal(rr_load_u32(s->sent[1].p), 0x53);
	close_desk(s);
}

/* A Special Call asks for its memory when its beginning is there: until then the
 * later Call does not ask. */
static void behind_a_special_call(void **state)
{
	static uint8_t words[24] = {0, 0, 0, 0x54};
	struct side *s = open_desk(1, 5000, by_default);

	s->hold_reads = true;
	s->read_from = words;
	raw_receive(s, "00000054" NOMSG "00000000 " READ(
	                       "00000000", "00000018") "00000000 00000000 00000000");
	raw_receive(s, FIRST("00000055"));
	assert_int_equal(desk.asked, 0);
	raw_receive(s, LAST("00000055"));
	assert_int_equal(desk.asked, 0);
	assert_int_equal(s->admitted, 0);
	close_desk(s);
}

/* What came before it has asked first, though nobody has drawn it yet. */
static void behind_what_is_not_drawn(void **state)
{
	struct side *s = open_desk(1, 5000, by_default);

	raw_receive_undrawn(s, "00000054" MSG EMPTY CALL("00000054"));
	raw_receive_undrawn(s, FIRST("00000055"));
	assert_int_equal(desk.asked, 0);
	side_drain(s);
	side_complete_all(s);
	assert_int_equal(desk.asked, 1);
	assert_int_equal(admitted.xid, 0x54);
	side_forget_sent(s);
	raw_receive(s, LAST("00000055"));
	expect_reply(s);
	close_desk(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(reserves_with_the_first_part),
	        cmocka_unit_test(longer_than_the_room),
	        cmocka_unit_test(no_room_at_all),
	        cmocka_unit_test(given_back_with_a_fault),
	        cmocka_unit_test(no_call),
	        cmocka_unit_test(waits_for_room),
	        cmocka_unit_test(room_for_less_than_is_held),
	        cmocka_unit_test(too_many_parts),
	        cmocka_unit_test(faults_while_it_waits),
	        cmocka_unit_test(lost_while_it_waits),
	        cmocka_unit_test(lost_with_room),
	        cmocka_unit_test(no_memory),
	        cmocka_unit_test(no_memory_to_hold_a_part),
	        cmocka_unit_test(credits_are_withheld),
	        cmocka_unit_test(room_before_turn),
	        cmocka_unit_test(behind_a_special_call),
	        cmocka_unit_test(behind_what_is_not_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
