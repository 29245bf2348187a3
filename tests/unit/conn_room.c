/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that connections share: Calls that come in parts take it as they grow, at
 * once or not at all, and nothing of it is left behind.
 */
#include "conn_serve.h"

/* What all connections may have, and how much of it is taken. */
struct room {
	uint64_t limit, taken;
	unsigned refused;
};

static struct room room;

static bool take(void *ctx, uint64_t bytes)
{
	struct room *r = ctx;

	if (bytes > r->limit - r->taken) {
		r->refused++;
		return false;
	}
	r->taken += bytes;
	return true;
}

static void give(void *ctx, uint64_t bytes)
{
	struct room *r = ctx;

	assert_in_range(bytes, 1, r->taken);
	r->taken -= bytes;
}

enum { FIRST = 16384, PART = 3000 }; /* of the first size, of one message */

static uint64_t requested_bytes;

/* From ADMIT on the user has what was taken. */
static void on_room_request(struct side *s, struct rr_request *r)
{
	requested_bytes = r->roomed_bytes;
	on_request(s, r);
}

static struct side *server(uint64_t limit)
{
	const struct rr_conn_config cfg = {.room = {take, give, &room}};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

	room = (struct room){.limit = limit};
	requested_bytes = 0;
	s->on_request = on_room_request;
	return s;
}

/* One part of a message, with @rest octets more than the RPC header has. */
static void receive_part(struct side *s, const char *hex, size_t rest)
{
	static uint8_t buf[RIG_MSG];
	size_t n = raw_octets(hex, buf, sizeof(buf) - rest);

	memset(buf + n, 0, rest);
	rig_receive(s, buf, n + rest, 0);
	rig_complete_all(s);
}

/* Parts that do not end the Call: so many octets, and the RPC header. */
static void receive_parts(struct side *s, unsigned n)
{
	while (n--)
		receive_part(s, "00000055" MSG_MORE EMPTY CALL("00000055"), PART);
}

static uint64_t pinned(const struct side *s)
{
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	return i.pinned_bytes;
}

/* It goes to the user with the Call. */
static void a_call_in_parts_takes_what_it_needs(void **state)
{
	struct side *s = server(10 * FIRST);

	receive_parts(s, 1);
	assert_int_equal(room.taken, FIRST);
	receive_parts(s, 6);
	assert_int_equal(room.taken, 2 * FIRST);
	assert_int_equal(pinned(s), 2 * FIRST);
	rig_forget_sent(s);
	receive_part(s, "00000055" MSG EMPTY, 4);
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(requested_bytes, 2 * FIRST);
	assert_int_equal(room.taken, 2 * FIRST); /* the user gives it back */
	assert_int_equal(pinned(s), 0);
	raw_end(s);
	assert_int_equal(room.taken, 2 * FIRST);
}

/* What is refused ends that Call alone, and keeps nothing.  With @n parts the room
 * does not suffice. */
static void expect_refusal(struct side *s, unsigned n)
{
	receive_parts(s, n - 1);
	assert_int_equal(room.refused, 0);
	rig_forget_sent(s); /* grants */
	receive_parts(s, 1);
	assert_int_equal(room.refused, 1);
	raw_expect(s, SYSTEM("00000055"));
	assert_int_equal(room.taken, 0);
	assert_int_equal(pinned(s), 0);
	receive_part(s, "00000055" MSG EMPTY, 4); /* its last part */
	assert_int_equal(s->admitted, 0);
	assert_false(s->disconnect);
	rig_forget_sent(s);
	expect_service(s);
	raw_end(s);
}

static void a_call_that_no_room_is_left_for_is_refused(void **state)
{
	expect_refusal(server(FIRST - 1), 1);
}

static void a_call_that_grows_beyond_the_room_is_refused(void **state)
{
	expect_refusal(server(2 * FIRST - 1), 6);
}

/* The own limit is asked first, and then nobody else. */
static void beyond_its_own_limit_a_connection_takes_nothing(void **state)
{
	const struct rr_conn_config cfg = {.room = {take, give, &room},
	                                   .max_pinned_bytes = FIRST - 1};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

	room = (struct room){.limit = 0};
	receive_parts(s, 1);
	raw_expect(s, SYSTEM("00000055"));
	assert_int_equal(room.refused, 0);
	assert_int_equal(pinned(s), 0);
	raw_end(s);
}

/* There is room, and then no memory. */
static void without_memory_room_is_given_back(void **state)
{
	struct side *s = server(10 * FIRST);

	s->mem_fail_at = 1;
	receive_parts(s, 1);
	assert_int_equal(s->mem_fail_at, 0);
	raw_expect(s, SYSTEM("00000055"));
	assert_int_equal(room.taken, 0);
	assert_int_equal(pinned(s), 0);
	raw_end(s);
}

static void a_loss_gives_the_room_of_parts_back(void **state)
{
	struct side *s = server(10 * FIRST);

	receive_parts(s, 3);
	assert_int_equal(room.taken, FIRST);
	rig_lose(s, -ECONNRESET);
	assert_int_equal(room.taken, 0);
	raw_end(s);
}

/* Only what peers make us hold: a Reply is what we asked for. */
static void replies_in_parts_take_no_room(void **state)
{
	static uint8_t words[8] = {0, 0, 0, 0x55};
	const struct rr_piece piece = {words, sizeof(words), false};
	const struct rr_conn_config cfg = {.room = {take, give, &room}};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	struct rr_call call = {.xid = 0x55, .pieces = &piece, .n_pieces = 1};

	room = (struct room){.limit = 0};
	assert_int_equal(rr_conn_call(s->c, &call, s->now), 0);
	rig_drain(s);
	rig_complete_all(s);
	receive_part(s, "00000055" MSG_REPLY_MORE EMPTY REPLY("00000055"), PART);
	assert_int_equal(pinned(s), FIRST);
	receive_part(s, "00000055" MSG_REPLY EMPTY, 4);
	assert_int_equal(call.status, RR_CALL_OK);
	assert_int_equal(call.reply_len, 16 + PART + 4);
	assert_int_equal(room.refused, 0);
	rr_conn_call_release(s->c, &call, s->now);
	assert_int_equal(pinned(s), 0);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_call_in_parts_takes_what_it_needs),
	        cmocka_unit_test(a_call_that_no_room_is_left_for_is_refused),
	        cmocka_unit_test(a_call_that_grows_beyond_the_room_is_refused),
	        cmocka_unit_test(beyond_its_own_limit_a_connection_takes_nothing),
	        cmocka_unit_test(without_memory_room_is_given_back),
	        cmocka_unit_test(a_loss_gives_the_room_of_parts_back),
	        cmocka_unit_test(replies_in_parts_take_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
