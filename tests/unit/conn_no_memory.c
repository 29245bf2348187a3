/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is not there at one place: what can do without goes on, what cannot
 * ends by an error that says so, and nothing is left behind (raw_end counts).
 */
#include "test_conn_raw.h"

struct one {
	uint8_t words[2000];
	struct rr_piece piece[2];
	struct rr_call call;
};

static struct one *new_call(uint32_t xid, size_t len)
{
	struct one *o = calloc(1, sizeof(*o));

	rr_store_u32(o->words, xid);
	o->piece[0] = (struct rr_piece){o->words, len, false};
	o->call = (struct rr_call){.xid = xid, .pieces = o->piece, .n_pieces = 1};
	return o;
}

/* The @n-th memory that is asked for is not there, from the call's turn on. */
static void start_failing(struct side *s, struct one *o, long n)
{
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	s->mem_fail_at = n;
	side_drain(s);
	assert_int_equal(s->mem_fail_at, 0); /* it was asked for */
}

/* Sends of this message do not complete: their memory does not come back. */
static void receive_pending(struct side *s, const char *hex)
{
	static uint8_t buf[SIDE_MSG];

	side_receive(s, buf, raw_octets(hex, buf, sizeof(buf)), 0);
}

/* With two credits a server posts so many Receives when its client has spoken. */
enum { LATE = 2 + 2 + 2 - RR_FIRST_RECEIVES };

/* -- the exchange ---------------------------------------------------------- */

static int say(void *ctx, const void *in, size_t in_len, const void **ret_out,
               size_t *ret_out_len)
{
	*ret_out = "hello";
	*ret_out_len = 5;
	return 0;
}

static void no_memory_for_own_words(void **state)
{
	const struct rr_conn_config cfg = {.auth = {say, NULL}, .credits = 2};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	s->mem_fail_at = LATE + 1;
	raw_receive(s, "00000001" CONNPROP_TPMORE "00000001 00000006 0000000c 00000005 "
	               "68656c6c 6f000000");
	assert_int_equal(s->mem_fail_at, 0);
	raw_expect_close(s, -ENOMEM);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
}

/* The connection ends before the message is looked at. */
static void no_memory_for_late_receives(void **state)
{
	const struct rr_conn_config cfg = {.credits = 2};

	for (unsigned n = 1; n <= LATE; n++) {
		struct side *s = raw_new(RR_CONN_SERVER, &cfg);

		s->mem_fail_at = n;
		raw_receive(s, "00000001" CONNPROP "00000000");
		assert_int_equal(s->mem_fail_at, 0);
		raw_expect_close(s, -ENOMEM);
		assert_int_equal(s->n_sent, 0);
		raw_end(s);
	}
}

static void not_told(struct side *s, const struct rr_ext_event *ev)
{
	fail();
}

/* Its octets, then what tells of them; without octets only the latter. */
static void no_memory_for_a_property_of_an_extension(void **state)
{
	const struct rr_ext_table table = {.n_props = 1, .prop = {{.id = 0x80000001}}};
	const struct rr_conn_config cfg = {.ext = &table, .credits = 2};

	for (unsigned k = 0; k < 3; k++) {
		struct side *s = raw_new(RR_CONN_SERVER, &cfg);

		s->on_extension = not_told;
		s->mem_fail_at = LATE + (k == 1 ? 2 : 1);
		raw_receive(s, k < 2 ? "00000001" CONNPROP_TPMORE
		                       "00000001 80000001 00000004 00000007"
		                     : "00000001" CONNPROP "00000000");
		assert_int_equal(s->mem_fail_at, 0);
		raw_expect_close(s, -ENOMEM);
		raw_end(s);
	}
}

static void no_memory_for_a_part_of_a_property(void **state)
{
	static const uint8_t data[10000];
	const struct rr_ext_table table = {
	        .n_props = 1,
	        .prop = {{.id = 0x80000001, .data = data, .len = sizeof(data)}}};
	const struct rr_conn_config cfg = {.ext = &table};

	for (unsigned n = 1; n <= 3; n++) {
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

		side_complete_all(s);
		side_forget_sent(s);
		s->mem_fail_at = n; /* three parts */
		raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
		assert_int_equal(s->mem_fail_at, 0);
		raw_expect_close(s, -ENOMEM);
		assert_int_equal(s->n_sent, n - 1);
		assert_false(s->ready);
		raw_end(s);
	}
}

/* -- messages of the transport --------------------------------------------- */

/* [C9], v2 §7.4: an error that cannot be told ends the connection. */
static void no_memory_for_an_error(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	receive_pending(s, "00000055" V2 "00000009 00000000");
	raw_expect(s, "00000055" ERRORMSG "00000004");
	s->mem_fail_at = 1;
	receive_pending(s, "00000056" V2 "00000009 00000000");
	assert_int_equal(s->mem_fail_at, 0);
	raw_expect_close(s, -ENOMEM);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
}

/* Nothing is lost: what is owed stays owed. */
static void no_memory_for_a_grant(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);
	struct rr_conn_info i;

	receive_pending(s, "00000055" V2 "00000009 00000000");
	raw_skip(s); /* the error has all memory that was kept */
	rr_conn_info(s->c, &i);
	s->mem_fail_on = true;
	s->mem_fail_at = 1;
	for (unsigned n = 0; n < 20; n++)
		receive_pending(s, "00000000" V2 "00000001 00000000" EMPTY);
	raw_expect_silence(s);
	rr_conn_info(s->c, &i);
	assert_in_range(i.owed, 16, 20);
	s->mem_fail_on = false;
	s->mem_fail_at = 0;
	receive_pending(s, "00000000" V2 "00000001 00000000" EMPTY);
	assert_int_equal(s->n_sent, 1);
	assert_memory_equal(s->sent[0].p + 12, "\0\0\0\1\0\0\0\0", 8);
	assert_int_equal(s->sent[0].p[11], i.owed + 2); /* and what this one brought */
	raw_end(s);
}

/* A sequence that cannot be ended: the peer could not tell what comes next. [M3] */
static void no_memory_for_the_closing_part(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 2000);

	o->piece[1] = (struct rr_piece){o->words, 2000, false};
	o->call.n_pieces = 2;
	side_complete_all(s);
	side_forget_sent(s);
	raw_receive(s, "00000001 00000002 00200001 00000005 00000000 00000001"
	               "00000002 00000004 00000400");
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	side_drain(s);
	side_complete_all(s);
	assert_int_equal(s->n_sent, 1);
	rr_conn_cancel(s->c, &o->call, s->now);
	s->mem_fail_at = 1;
	raw_receive(s, "00000000" V2 "00000001 00000000" EMPTY); /* a credit */
	assert_int_equal(s->mem_fail_at, 0);
	raw_expect_close(s, -ENOMEM);
	assert_int_equal(s->n_sent, 1);
	raw_end(s);
	assert_int_equal(o->call.status, -ECANCELED);
	free(o);
}

/* -- calls ----------------------------------------------------------------- */

/* A.2: continuation will do. */
static void no_memory_to_offer_a_reply_chunk(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8);

	o->call.reply_bytes = 100000;
	start_failing(s, o, 1);
	raw_expect(s, "00000099" MSG EMPTY "00000099 00000000");
	raw_end(s);
	free(o);
}

/* An item that cannot be offered goes along. [A.1] */
static void no_memory_to_offer_an_item(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 12);

	rr_store_u32(o->words + 8, 600);
	memset(o->words + 12, 0x42, 600);
	o->piece[1] = (struct rr_piece){o->words + 12, 600, true};
	o->call.n_pieces = 2;
	start_failing(s, o, 1);
	assert_int_equal(s->n_regions, 0);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 36 + 612);
	assert_memory_equal(s->sent[0].p + 36, o->words, 612);
	raw_end(s);
	free(o);
}

static void no_memory_to_offer_a_special_call(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8);

	o->call.flags = RR_CALL_SPECIAL;
	start_failing(s, o, 1);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(o->call.status, -ENOMEM);
	raw_expect_silence(s);
	raw_end(s);
	free(o);
}

/* -- extensions ------------------------------------------------------------ */

static const struct rr_ext_table extension = {.n_htypes = 1, .htype = {0x10}};
static unsigned told;

static void tell(struct side *s, const struct rr_ext_event *ev)
{
	told++;
}

/* The buffer was replaced already: the one that the message lies in is kept for
 * the next. */
static void no_memory_to_tell_of_a_message(void **state)
{
	const struct rr_conn_config cfg = {.ext = &extension};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);
	size_t blocks = s->mem_blocks;

	told = 0;
	s->on_request = raw_answer_call;
	s->on_extension = tell;
	s->mem_fail_at = 2;
	raw_receive(s, "00000055" V2 "00000010 00000000");
	assert_int_equal(s->mem_fail_at, 0);
	assert_int_equal(told, 0);
	assert_int_equal(s->mem_blocks,
	                 blocks + 2); /* the buffer, and a block of errors */
	raw_expect(s, "00000055" ERRORMSG "00000064");
	raw_receive(s, "00000056" V2 "00000010 00000000");
	assert_int_equal(told, 1);
	assert_int_equal(s->mem_blocks, blocks + 3); /* a block of events, no buffer */
	raw_expect_service(s);
	raw_end(s);
}

static void no_memory_to_tell_of_an_error(void **state)
{
	const struct rr_conn_config cfg = {.ext = &extension};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	uint32_t xid;
	char hex[100];

	s->on_extension = not_told;
	assert_int_equal(rr_conn_ext_send(s->c, 0x10, 0, 0, NULL, 0, &xid, s->now), 0);
	side_drain(s);
	sprintf(hex, "%08x" ERRORMSG "00000005", xid);
	s->mem_fail_at = 1;
	raw_receive(s, hex);
	assert_int_equal(s->mem_fail_at, 0);
	raw_expect_close(s, -ENOMEM);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(no_memory_for_own_words),
	        cmocka_unit_test(no_memory_for_late_receives),
	        cmocka_unit_test(no_memory_for_a_property_of_an_extension),
	        cmocka_unit_test(no_memory_for_a_part_of_a_property),
	        cmocka_unit_test(no_memory_for_an_error),
	        cmocka_unit_test(no_memory_for_a_grant),
	        cmocka_unit_test(no_memory_for_the_closing_part),
	        cmocka_unit_test(no_memory_to_offer_a_reply_chunk),
	        cmocka_unit_test(no_memory_to_offer_an_item),
	        cmocka_unit_test(no_memory_to_offer_a_special_call),
	        cmocka_unit_test(no_memory_to_tell_of_a_message),
	        cmocka_unit_test(no_memory_to_tell_of_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
