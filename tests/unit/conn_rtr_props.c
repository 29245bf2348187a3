/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The properties of the feature RTR: which structure our Receive buffers have, and which
 * structures of the peer's are accepted.  The peer is octets laid out by hand.
 */
#include "test_conn_rtr.h"

#define SUPPORT "ffffff13 00000004 0000000f ffffff15 00000004 00000010 "
#define GROUP   "00000001 00000400 00000004 00000001 "

enum { RBSTRUCT = 0xffffff14, MANY = 17 };

static uint8_t payload[8000] = {0, 0, 0, 0x55, 0, 0, 0, 1};
static uint8_t data[4096];
static size_t payload_len;

/* Answers with one result. */
static void answer_with_data(struct side *s, struct rr_request *r)
{
	const struct rr_piece p[2] = {{.base = payload, .len = payload_len},
	                              {data, sizeof(data), true}};

	rr_conn_reply(s->c, r, p, 2, s->now);
}

static struct side *new_side(uint32_t segments, uint32_t bytes)
{
	const struct rr_conn_config g = {
	        .recv_bytes = 16384,
	        .send_bytes = 16384,
	        .features = {.on = 1u << RR_FEATURE_RTR,
	                     .rtr_segments = segments,
	                     .rtr_segment_bytes = bytes},
	};
	struct side *s = raw_new(RR_CONN_SERVER, &g);

	s->on_request = answer_with_data;
	return s;
}

/* Receives the feature's properties with this structure, as the only other one. */
static void receive_structure(struct side *s, const char *structure)
{
	char hex[2000] = "00000077 00000002 00200020 00000005 00000000 00000003 ";

	strcat(strcat(hex, SUPPORT "ffffff14 "), structure);
	raw_receive(s, hex);
}

static bool sent_structure(const struct side *s)
{
	for (size_t i = 0; i + 4 <= s->sent[0].len; i += 4)
		if (rr_load_u32(s->sent[0].p + i) == RBSTRUCT)
			return true;
	return false;
}

/* -- our structure --------------------------------------------------------- */

/* Segments outside of the limits are not made. */
static void odd_segments_are_left_out(void **state)
{
	static const struct {
		uint32_t segments, bytes;
		bool made;
	} rows[] = {
	        {0, 1024, false},      {1, 1023, false}, {1, 1024, true},
	        {1, 1027, true},       {2, 4096, true},  {1, UINT32_MAX, false},
	        {256, 1 << 23, false},
	};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		struct side *s = new_side(rows[i].segments, rows[i].bytes);

		receive_structure(s, "00000018 00000400 00000001 00000001 00000400 "
		                     "00000004 00000000 ");
		assert_true(s->ready);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(sent_structure(s), rows[i].made);
		raw_end(s);
	}
}

/* -- the peer's structure -------------------------------------------------- */

/* The length is below the smallest inline threshold. [ext §5.2] */
static void too_small_a_buffer_ends_the_connection(void **state)
{
	struct side *s = new_side(0, 0);

	(void)state;
	receive_structure(s, "00000018 000003fc 00000001 00000001 000003fc "
	                     "00000004 00000000 ");
	assert_false(s->ready);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* A structure of more groups than are stored counts as one segment of its length, so
 * that nothing is placed by Send, but the length is used. */
static void too_many_groups_are_one_segment(void **state)
{
	struct side *s = new_side(0, 0);
	char hex[1200];

	(void)state;
	sprintf(hex, "%08x %08x %08x ", 8 + 16 * MANY, 1024 * MANY, MANY);
	raw_repeat(hex + strlen(hex), GROUP, MANY);
	receive_structure(s, hex);
	assert_true(s->ready);
	side_forget_sent(s);
	payload_len = sizeof(payload);
	raw_receive(s, X XREQ
	            "00000000 00000000 00000001 00000000 ffffffff 00000001 "
	            "00000000 00000003 00000001 " SEG(
	                    "000000aa",
	                    "00001000") "00000000 00000001 00000004 00000018 " CALL(X));
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->writes[0].len, sizeof(data));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(rr_load_u32(s->sent[0].p + 12), RTR_RESP);
	assert_true(s->sent[0].len > sizeof(payload));
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(odd_segments_are_left_out),
	        cmocka_unit_test(too_small_a_buffer_ends_the_connection),
	        cmocka_unit_test(too_many_groups_are_one_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
