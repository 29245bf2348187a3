/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First messages, versions and transport properties, octet by octet.
 */
#include "test_conn_raw.h"

#define PROP(id, value) id " 00000004 " value " "

/* V2-4.2.3-02, -04, -05, V2-5.2: the client's first message, and no other. */
static void the_client_sends_one_message_first(void **state)
{
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	const struct rr_conn_config cfg = {.xid_seed = 0x77,
	                                   .send_bytes = 65536,
	                                   .recv_bytes = 65536,
	                                   .rvrsdir = 2};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	assert_memory_equal(s->sent[0].p + 8, "\0\x20\0\x20", 4); /* H credits */
	raw_expect(s, "00000077 00000002 00200020 00000005 00000000 00000005" PROP(
	                      "00000001", "00010000") PROP("00000002", "00010000")
	                      PROP("00000003", "00100000") PROP("00000004", "00000010")
	                              PROP("00000005", "00000002"));
	side_complete_all(s);
	raw_receive(s, "00000001" CONNPROP_TPMORE "00000000"); /* not the final one */
	raw_expect_silence(s);
	assert_false(s->ready);
	raw_receive(s, "00000001" CONNPROP "00000000");
	assert_true(s->ready);
	raw_expect(s, "00000099" MSG EMPTY "00000099 00000000");
	raw_end(s);
}

/* [V2]: the server answers; its first message is RDMA2_CONNPROP too. */
static void the_server_speaks_second(void **state)
{
	const struct rr_conn_config cfg = {.xid_seed = 0x88};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_expect_silence(s);
	raw_receive(s, "00000077 00000002 00200020 00000005 00000004 00000000");
	assert_memory_equal(s->sent[0].p + 8, "\0\x20\0\x20", 4);
	raw_expect(s,
	           "00000088 00000002 00200020 00000005 00000000 00000004" PROP(
	                   "00000001", "00001000") PROP("00000002", "00001000")
	                   PROP("00000003", "00100000") PROP("00000004", "00000010"));
	assert_false(s->ready);
	raw_receive(s, "00000078" CONNPROP "00000000");
	assert_true(s->ready);
	raw_end(s);
}

/* XID seed 0 and XIDs in use are stepped over. [V10] */
static void own_xids_are_neither_zero_nor_in_use(void **state)
{
	static const uint8_t words[8] = {0, 0, 0, 1};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 1, .pieces = &p, .n_pieces = 1};
	struct side *s = calloc(1, sizeof(*s));

	s->cfg.xid_seed = UINT32_MAX;
	side_new(s, RR_CONN_CLIENT);
	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	side_open(s);
	assert_memory_equal(s->sent[0].p, "\xff\xff\xff\xff", 4);
	raw_end(s);
	s = calloc(1, sizeof(*s));
	side_new(s, RR_CONN_CLIENT);
	side_lose(s, 0);
	rr_conn_free(s->c);
	free(s);
}

/* -- thresholds [P8, P9, V2-4.2.2-02, -03] ----------------------------------------- */

struct threshold {
	uint32_t send, recv; /* ours */
	const char *peer_send, *peer_recv;
	uint32_t want_send, want_recv; /* 0: the connection is closed */
};

static void thresholds_are_the_smaller_of_two(void **state)
{
	static const struct threshold t[] = {
	        {65536, 65536, "00010000", "00010000", 65536, 65536},
	        {8192, 65536, "00010000", "00001388", 5000, 65536},
	        {5000, 65536, "00010000", "00002000", 5000, 65536},
	        {65536, 16384, "00001000", "00010000", 65536, 4096},
	        {65536, 65536, "00000400", "00000400", 1024, 1024},
	        {65536, 65536, "000003ff", "00010000", 0, 0},
	        {65536, 65536, "00010000", "00000000", 0, 0},
	        {4096, 4096, "ffffffff", "ffffffff", 4096, 4096},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rr_conn_config cfg = {.send_bytes = t[i].send,
		                                   .recv_bytes = t[i].recv};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
		struct rr_conn_info info;
		char hex[300];

		side_forget_sent(s);
		sprintf(hex,
		        "00000001" CONNPROP "00000002 00000001 00000004 %s"
		        "00000002 00000004 %s",
		        t[i].peer_send, t[i].peer_recv);
		raw_receive(s, hex);
		rr_conn_info(s->c, &info);
		if (t[i].want_send) {
			assert_true(s->ready);
			assert_int_equal(info.send_inline, t[i].want_send);
			assert_int_equal(info.recv_inline, t[i].want_recv);
		} else {
			assert_false(s->ready);
			raw_expect_close(s, -EPROTO);
		}
		raw_end(s);
	}
}

/* [P9]: a message of exactly the threshold goes in one Send, one more does not. */
static void a_message_of_exactly_the_threshold(void **state)
{
	static uint8_t words[4096] = {0, 0, 0, 0x99};

	for (unsigned more = 0; more < 8; more += 4) {
		struct rr_piece p = {words, 4096 - 36 + more, false};
		struct rr_call call = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
		struct side *s = raw_ready(RR_CONN_CLIENT, NULL);

		assert_int_equal(rr_conn_call(s->c, &call, s->now), 0);
		side_drain(s);
		assert_int_equal(s->n_sent, more ? 2 : 1);
		assert_true(s->sent[0].len <= 4096);
		assert_int_equal(s->sent[0].p[19], more ? RDMA2_F_MORE : 0);
		if (more) {
			assert_int_equal(s->sent[0].len + s->sent[1].len, 4100 + 36);
			assert_int_equal(s->sent[1].p[19], 0);
		}
		raw_end(s);
	}
}

/* -- sets ------------------------------------------------------------------ */

struct set {
	const char *name;
	const char *in[3];
	const char *out;   /* NULL = silence */
	uint32_t segments; /* the peer's property 4 afterwards */
	uint32_t rvrsdir;  /* and its property 5 */
};

#define BAD_PROPVAL "00000001 00000002 00200001 00000004 00000001 00000003"

static const struct set properties_take_effect_sets[] = {
        {"none", {"00000001" CONNPROP "00000000"}, NULL, 16, 0},
        {"segments",
         {"00000001" CONNPROP "00000001" PROP("00000004", "00000007")},
         NULL,
         7,
         0},
        {"trailing octets", /* [P5] */
         {"00000001" CONNPROP "00000001" PROP("00000004", "00000007") "010203"},
         NULL,
         7,
         0},
        {"level 3",
         {"00000001" CONNPROP "00000001" PROP("00000005", "00000003")},
         NULL,
         16,
         3},
};

static const struct set no_data_is_the_default_sets[] = {
        {"no data is the default", /* V2-5.1-04 */
         {"00000001" CONNPROP_TPMORE "00000001" PROP("00000004", "00000007"),
          "00000001" CONNPROP "00000001 00000004 00000000"},
         NULL,
         16,
         0},
};

static const struct set the_last_of_two_values_counts_sets[] = {
        {"the last of two counts", /* [P7] */
         {"00000001" CONNPROP "00000002" PROP("00000004", "00000007")
                  PROP("00000004", "00000009")},
         NULL,
         9,
         0},
};

static const struct set unknown_properties_are_skipped_sets[] = {
        {"unknown ones are skipped", /* V2-5.1-10, -11 */
         {"00000001" CONNPROP "00000003 00000063 00000005 6162636465 000000"
          "80000001 00000000" PROP("00000004", "00000009")},
         NULL,
         9,
         0},
};

static const struct set authentication_without_a_hook_is_ignored_sets[] = {
        {"authentication without a hook", /* [P14, P6] */
         {"00000001" CONNPROP "00000003 00000006 0000000c 00000005 61626364 65000000"
          "00000006 00000000" PROP("00000004", "00000009")},
         NULL,
         9,
         0},
};

static const struct set levels_above_3_are_none_sets[] = {
        {"levels above 3 are none", /* [P13] */
         {"00000001" CONNPROP "00000001" PROP("00000005", "00000004")},
         NULL,
         16,
         0},
};

static const struct set response_is_not_looked_at_in_properties_sets[] = {
        {"RESPONSE is not looked at", /* [F3] */
         {"00000001" V2 "00000005 00000001 00000001" PROP("00000004", "00000007")},
         NULL,
         7,
         0},
};

static const struct set data_of_another_length_is_bad_propval_sets[] = {
        /* V2-5.1-06 to -09, V2-7.2.2, [P4, P5] */
        {"two octets for a number",
         {"00000001" CONNPROP
          "00000002" PROP("00000004", "00000007") "00000005 00000002 00030000"},
         BAD_PROPVAL,
         16,
         0},
        {"eight octets for a number",
         {"00000001" CONNPROP "00000002" PROP(
                 "00000004", "00000007") "00000005 00000008 00000000 00000003"},
         BAD_PROPVAL,
         16,
         0},
};

static const struct set data_beyond_the_message_is_bad_propval_sets[] = {
        {"data beyond the end",
         {"00000001" CONNPROP "00000001 00000063 00000005 61626364"},
         BAD_PROPVAL,
         16,
         0},
        {"a length of all ones",
         {"00000001" CONNPROP "00000001 00000063 ffffffff 61626364"},
         BAD_PROPVAL,
         16,
         0},
};

static const struct set a_bad_opaque_is_bad_propval_sets[] = {
        {"a bad opaque",
         {"00000001" CONNPROP "00000001 00000006 00000008 00000005 61626364"},
         BAD_PROPVAL,
         16,
         0},
};

static const struct set a_bad_message_leaves_the_others_in_effect_sets[] = {
        {"a bad message keeps the others",
         {"00000001" CONNPROP_TPMORE "00000001" PROP("00000004", "00000007"),
          "00000001" CONNPROP
          "00000002" PROP("00000005", "00000003") "00000004 00000001 00"},
         BAD_PROPVAL,
         7,
         0},
};

static const struct set counts_beyond_the_message_are_bad_xdr_sets[] = {
        {"no count", {"00000001" CONNPROP}, BAD_XDR("00000001"), 16, 0},
        {"a count too large",
         {"00000001" CONNPROP "00000002" PROP("00000004", "00000007")},
         BAD_XDR("00000001"),
         16,
         0},
        {"a count of all ones",
         {"00000001" CONNPROP "ffffffff" PROP("00000004", "00000007")},
         BAD_XDR("00000001"),
         16,
         0},
};

static const struct set a_set_may_come_in_parts_sets[] = {
        /* V2-C.5-02, [P2, P3]: one set in parts */
        {"parts",
         {"00000001" CONNPROP_MORE "00000002 00000004",
          "00000001" CONNPROP_MORE "00000004 00",
          "00000001" CONNPROP "000009" PROP("00000005", "00000001")},
         NULL,
         9,
         1},
        {"parts that are bad together",
         {"00000001" CONNPROP_MORE "00000001 00000004",
          "00000001" CONNPROP "00000003 01020300"},
         BAD_PROPVAL,
         16,
         0},
};

static void run_sets(const struct set *sets, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct rr_conn_config cfg = {.xid_seed = 5};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
		struct rr_conn_info info;

		print_message("    %s\n", sets[i].name);
		side_forget_sent(s);
		for (unsigned k = 0; k < 3 && sets[i].in[k]; k++) {
			assert_false(s->ready);
			raw_receive(s, sets[i].in[k]);
		}
		if (sets[i].out)
			raw_expect(s, sets[i].out);
		raw_expect_silence(s);
		assert_true(s->ready);
		rr_conn_info(s->c, &info);
		assert_int_equal(info.peer_max_segments, sets[i].segments);
		assert_int_equal(info.peer_rvrsdir, sets[i].rvrsdir);
		raw_end(s);
	}
}

#define SETS(name)                                                                     \
	static void name(void **state)                                                 \
	{                                                                              \
		run_sets(name##_sets, RR_ARRAY_SIZE(name##_sets));                     \
	}

SETS(properties_take_effect)
SETS(no_data_is_the_default)
SETS(the_last_of_two_values_counts)
SETS(unknown_properties_are_skipped)
SETS(authentication_without_a_hook_is_ignored)
SETS(levels_above_3_are_none)
SETS(response_is_not_looked_at_in_properties)
SETS(data_of_another_length_is_bad_propval)
SETS(data_beyond_the_message_is_bad_propval)
SETS(a_bad_opaque_is_bad_propval)
SETS(a_bad_message_leaves_the_others_in_effect)
SETS(counts_beyond_the_message_are_bad_xdr)
SETS(a_set_may_come_in_parts)

/* [P20] */
static void too_many_properties_close(void **state)
{
	static char hex[8000];
	struct side *s = raw_new(RR_CONN_SERVER, NULL);
	int n = sprintf(hex, "00000001" CONNPROP "00000101");

	for (unsigned i = 0; i < 257; i++)
		n += sprintf(hex + n, "000000ff 00000000");
	raw_receive(s, hex);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
	s = raw_new(RR_CONN_SERVER, NULL);
	for (unsigned i = 0; i < 129 && !s->disconnect; i++)
		raw_receive(s, "00000001" CONNPROP_TPMORE "00000002 000000ff 00000000"
		               "000000ff 00000000");
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

static void a_property_without_end_closes(void **state)
{
	static char hex[9000];
	struct side *s = raw_new(RR_CONN_SERVER, NULL);
	int n = sprintf(hex, "00000001" CONNPROP_MORE);

	for (unsigned i = 0; i < 1000; i++)
		n += sprintf(hex + n, "01020304");
	for (unsigned i = 0; i < 300 && !s->disconnect; i++) {
		raw_receive(s, hex);
		side_forget_sent(s);
	}
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* [P1]: an early Call gets the own properties first, then its Reply. */
static void on_request(struct side *s, struct rr_request *r)
{
	static uint8_t words[8] = {0, 0, 0, 0, 0, 0, 0, 1};
	const struct rr_piece p = {words, sizeof(words), false};

	rr_store_u32(words, r->xid);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

static void an_early_call_is_served_with_defaults(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, NULL);

	s->on_request = on_request;
	raw_receive(s, "00000055 00000002 00200020 00000000 00000000" EMPTY CALL(
	                       "00000055"));
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(s->sent[0].p[15], RDMA2_CONNPROP);
	raw_skip(s);
	raw_expect(s, "00000055" MSG_REPLY EMPTY "00000055 00000001");
	assert_false(s->ready);
	raw_receive(s, "00000077" CONNPROP "00000000");
	assert_true(s->ready);
	raw_expect_silence(s);
	raw_end(s);
}

/* [P4]: the peer refused our properties, so it believes the defaults. */
static void a_refused_set_leaves_the_defaults(void **state)
{
	const struct rr_conn_config cfg = {
	        .xid_seed = 0x77, .send_bytes = 65536, .recv_bytes = 65536};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct rr_conn_info info;

	side_forget_sent(s);
	raw_receive(s, "00000077" ERRORMSG "00000003");
	assert_false(s->ready); /* [V9]: it still waits for the server's */
	raw_receive(s, "00000001" CONNPROP "00000002" PROP("00000001", "00010000")
	                       PROP("00000002", "00010000"));
	assert_true(s->ready);
	rr_conn_info(s->c, &info);
	assert_int_equal(info.send_inline, 4096);
	assert_int_equal(info.recv_inline, 4096);
	raw_end(s);
}

/* -- no version 2 [V3, V8] ------------------------------------------------- */

static void answers_of_other_versions_end_the_connection(void **state)
{
	static const struct {
		const char *in;
		int status;
	} t[] = {
	        /* version 1 layout, version copied, and version 1 put there */
	        {"00007000 00000002 00000020 00000004 00000001 00000001 00000001",
	         -EPROTONOSUPPORT},
	        {"00007000 00000001 00000020 00000004 00000001 00000001 00000001",
	         -EPROTONOSUPPORT},
	        /* version 2 layout */
	        {"00007000 00000002 00200001 00000004 00000001 00000001 00000001 "
	         "00000001",
	         -EPROTONOSUPPORT},
	        /* a version 1 error without a range */
	        {"00007000 00000001 00000020 00000004 00000002", -EPROTONOSUPPORT},
	        /* something of version 3 */
	        {"00007000 00000003 00000020 00000000 00000000 00000000 00000000",
	         -EPROTO},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		static const uint8_t words[8] = {0, 0, 0, 0x99};
		const struct rr_piece p = {words, sizeof(words), false};
		struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
		struct side *s = raw_new(RR_CONN_CLIENT, NULL);

		assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
		side_forget_sent(s);
		raw_receive(s, t[i].in);
		raw_expect_close(s, t[i].status);
		assert_int_equal(s->n_sent, 0);
		raw_end(s);
		assert_int_equal(plain.status,
		                 t[i].status == -EPROTO ? -ECONNRESET : t[i].status);
	}
}

/* [V8] in mid-connection, at the client. */
static void another_version_later_closes_the_client(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);

	raw_receive(s,
	            "00000001 00000001 00000020 00000000 00000000 00000000 00000000");
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* -- timers [V7, P17] ------------------------------------------------------ */

static void tick(struct side *s, rr_time t)
{
	s->now = t;
	rr_conn_tick(s->c, t);
	side_drain(s);
}

static void silence_ends_the_client(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	rr_time t = s->now + RR_SEC(5);

	assert_int_equal(rr_conn_deadline(s->c), t);
	tick(s, t - 1);
	assert_false(s->disconnect);
	tick(s, t);
	raw_expect_close(s, -ETIMEDOUT);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
}

static void an_exchange_without_end_is_given_up(void **state)
{
	for (int role = 0; role < 2; role++) {
		struct side *s = raw_new((enum rr_conn_role)role, NULL);
		rr_time t = s->now + RR_SEC(30);

		raw_receive(s, "00000001" CONNPROP_TPMORE "00000000");
		assert_int_equal(rr_conn_deadline(s->c), t);
		tick(s, t - 1);
		assert_false(s->disconnect);
		tick(s, t);
		raw_expect_close(s, -ETIMEDOUT);
		raw_end(s);
	}
}

static void timers_can_be_off(void **state)
{
	const struct rr_conn_config cfg = {.first_answer_ns = RR_TIME_NEVER,
	                                   .props_ns = RR_TIME_NEVER,
	                                   .grant_ns = RR_TIME_NEVER};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_client_sends_one_message_first),
	        cmocka_unit_test(the_server_speaks_second),
	        cmocka_unit_test(own_xids_are_neither_zero_nor_in_use),
	        cmocka_unit_test(thresholds_are_the_smaller_of_two),
	        cmocka_unit_test(a_message_of_exactly_the_threshold),
	        cmocka_unit_test(properties_take_effect),
	        cmocka_unit_test(no_data_is_the_default),
	        cmocka_unit_test(the_last_of_two_values_counts),
	        cmocka_unit_test(unknown_properties_are_skipped),
	        cmocka_unit_test(authentication_without_a_hook_is_ignored),
	        cmocka_unit_test(levels_above_3_are_none),
	        cmocka_unit_test(response_is_not_looked_at_in_properties),
	        cmocka_unit_test(data_of_another_length_is_bad_propval),
	        cmocka_unit_test(data_beyond_the_message_is_bad_propval),
	        cmocka_unit_test(a_bad_opaque_is_bad_propval),
	        cmocka_unit_test(a_bad_message_leaves_the_others_in_effect),
	        cmocka_unit_test(counts_beyond_the_message_are_bad_xdr),
	        cmocka_unit_test(a_set_may_come_in_parts),
	        cmocka_unit_test(too_many_properties_close),
	        cmocka_unit_test(a_property_without_end_closes),
	        cmocka_unit_test(an_early_call_is_served_with_defaults),
	        cmocka_unit_test(a_refused_set_leaves_the_defaults),
	        cmocka_unit_test(answers_of_other_versions_end_the_connection),
	        cmocka_unit_test(another_version_later_closes_the_client),
	        cmocka_unit_test(silence_ends_the_client),
	        cmocka_unit_test(an_exchange_without_end_is_given_up),
	        cmocka_unit_test(timers_can_be_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
