/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which version a connection comes to speak: each kind of peer that there is,
 * played by octets laid out by hand.       [v2 §4.2.3, V1 to V13]
 */
#include "test_conn_v1.h"

#define BOTH (RR_CONN_V1 | RR_CONN_V2)

/* -- the client ------------------------------------------------------------ */

static struct side *client(unsigned versions)
{
	const struct rr_conn_config cfg = {
	        .versions = versions, .xid_seed = 0x7000, .credits = 20};

	return raw_new(RR_CONN_CLIENT, &cfg);
}

static struct rr_conn_info info(const struct side *s)
{
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	return i;
}

/* A client with a Call queued from the beginning: V2-4.2.3-01, -02, -04, -05. */
struct waiting {
	struct side *s;
	struct v1_call *o;
};

static struct waiting waiting(unsigned versions)
{
	struct waiting w = {.s = client(versions), .o = v1_call(0x99, 8, false)};

	v1_start(w.s, w.o);
	assert_int_equal(w.s->n_sent, 1); /* [V1]: nothing else before the answer */
	assert_int_equal(rr_load_u32(w.s->sent[0].p + 4), 2);
	assert_int_equal(rr_load_u32(w.s->sent[0].p + 12), RDMA2_CONNPROP);
	assert_true(w.s->sent[0].len <= 1024);
	assert_false(w.s->ready);
	assert_int_equal(info(w.s).version, 0);
	assert_false(info(w.s).answered);
	side_forget_sent(w.s);
	return w;
}

static void end(struct waiting *w)
{
	rr_conn_call_release(w->s->c, &w->o->call, w->s->now);
	raw_end(w->s);
	free(w->o);
}

/* V2-4.2.3.1-01, [V1] */
static void a_server_of_version_2(void **state)
{
	struct waiting w = waiting(BOTH);

	raw_receive(w.s, "00000001 00000002 00200020 00000005 00000000 00000000");
	assert_true(w.s->ready);
	assert_int_equal(info(w.s).version, 2);
	assert_true(info(w.s).answered);
	assert_int_equal(w.s->n_sent, 1);
	assert_int_equal(w.s->sent[0].len, 36 + 8);
	assert_int_equal(rr_load_u32(w.s->sent[0].p + 4), 2);
	end(&w);
}

/* The Call that waited, with 20 credits asked for, and nothing else. */
static void expect_version_1(struct waiting *w)
{
	assert_false(w->s->disconnect);
	assert_true(w->s->ready);
	assert_int_equal(info(w->s).version, 1);
	assert_true(info(w->s).answered);
	v1_expect(w->s,
	          "00000099" V1("00000014", "00000000") V1_EMPTY "00000099 00000000");
	raw_expect_silence(w->s);
	assert_int_equal(rr_conn_deadline(w->s->c), RR_TIME_NEVER);
	raw_receive(w->s, "00000099" V1_MSG V1_EMPTY REPLY("00000099"));
	assert_int_equal(w->o->call.status, RR_CALL_OK);
}

static void goes_down(const char *in)
{
	struct waiting w = waiting(BOTH);
	struct rr_conn_counters n;

	raw_receive(w.s, in);
	rr_conn_counters(w.s->c, &n);
	assert_int_equal(n.errors_received, 1);
	expect_version_1(&w);
	end(&w);
}

/* V2-4.2.3.2-03, [V3]: XID and version copied, as RFC 8166 demands (Linux) */
static void a_version_1_layout_with_version_2_goes_down(void **state)
{
	goes_down("00007000 00000002 00000020 00000004 00000001 00000001 00000001");
}

/* [V3]: its own version instead (libevpl) */
static void a_version_1_layout_with_version_1_goes_down(void **state)
{
	goes_down("00007000 00000001 00000020 00000004 00000001 00000001 00000001");
}

/* [V3]: a header that could not be parsed, to a server that looked no further */
static void a_version_1_error_without_range_goes_down(void **state)
{
	goes_down("00007000 00000002 00000020 00000004 00000002");
	goes_down("00007000 00000001 00000020 00000004 00000002");
}

/* [V3]: in terms of this specification */
static void a_version_2_layout_goes_down(void **state)
{
	goes_down("00007000 00000002 00200001 00000004 00000001 00000001 00000001 "
	          "00000001");
}

/* [V12]: the highest in the range that is not the one just refused */
static void a_range_that_includes_version_1_goes_down(void **state)
{
	goes_down("00007000 00000002 00200001 00000004 00000001 00000001 00000000 "
	          "00000001");
	goes_down("00007000 00000002 00200001 00000004 00000001 00000001 00000001 "
	          "00000007");
}

static void refuses(unsigned versions, const char *in)
{
	struct waiting w = waiting(versions);

	raw_receive(w.s, in);
	raw_expect_close(w.s, -EPROTONOSUPPORT);
	assert_int_equal(w.s->n_sent, 0);
	assert_false(w.s->ready);
	assert_true(info(w.s).answered);
	side_lose(w.s, 0);
	assert_int_equal(w.o->call.status, -EPROTONOSUPPORT);
	end(&w);
}

/* [V12] */
static void no_version_in_common(void **state)
{
	refuses(BOTH, "00007000 00000002 00200001 00000004 00000001 00000001 00000003 "
	              "00000007");
	refuses(BOTH, "00007000 00000002 00200001 00000004 00000001 00000001 00000002 "
	              "00000002");
	refuses(BOTH, "00007000 00000002 00200001 00000004 00000001 00000001 00000000 "
	              "00000000");
	refuses(RR_CONN_V2,
	        "00007000 00000002 00000020 00000004 00000001 00000001 00000001");
}

static void a_range_upside_down_is_no_version(void **state)
{
	refuses(BOTH, "00007000 00000002 00200001 00000004 00000001 00000001 00000002 "
	              "00000001");
}

/* [V6]: the word of a refusal is a grant, if it is a sane number. */
static void the_refusal_grants(void **state)
{
	static const struct {
		const char *in;
		unsigned calls;
	} t[] = {
	        {"00007000 00000002 00000003 00000004 00000001 00000001 00000001", 3},
	        {"00007000 00000002 00000040 00000004 00000001 00000001 00000001", 20},
	        {"00007000 00000002 00000000 00000004 00000001 00000001 00000001", 1},
	        {"00007000 00000002 00007fff 00000004 00000001 00000001 00000001", 20},
	        {"00007000 00000002 00008000 00000004 00000001 00000001 00000001", 1},
	        {"00007000 00000002 00010005 00000004 00000001 00000001 00000001", 1},
	        {"00007000 00000002 00200002 00000004 00000001 00000001 00000001"
	         " 00000001",
	         2},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct side *s = client(BOTH);
		struct v1_call *o[25];

		for (unsigned k = 0; k < RR_ARRAY_SIZE(o); k++) {
			o[k] = v1_call(0x100 + k, 8, false);
			v1_start(s, o[k]);
		}
		side_forget_sent(s);
		raw_receive(s, t[i].in);
		assert_int_equal(s->n_sent, t[i].calls);
		raw_end(s);
		for (unsigned k = 0; k < RR_ARRAY_SIZE(o); k++)
			free(o[k]);
	}
}

/* [V5]: once.  What follows is about Calls. */
static void it_goes_down_once(void **state)
{
	struct waiting w = waiting(BOTH);

	raw_receive(w.s,
	            "00007000 00000002 00000020 00000004 00000001 00000001 00000001");
	side_forget_sent(w.s);
	raw_receive(w.s,
	            "00007000 00000001 00000020 00000004 00000001 00000001 00000001");
	raw_expect_silence(w.s);
	raw_receive(w.s,
	            "00000099 00000001 00000020 00000004 00000001 00000002 00000002");
	raw_expect_silence(w.s);
	assert_int_equal(w.o->call.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(w.o->call.error.code, RDMA2_ERR_VERS);
	assert_int_equal(info(w.s).version, 1);
	end(&w);
}

/* V2-4.2.3.3-03, [V5, V8]: after that the version is fixed. */
static void version_2_after_going_down_closes(void **state)
{
	struct waiting w = waiting(BOTH);

	raw_receive(w.s,
	            "00007000 00000002 00000020 00000004 00000001 00000001 00000001");
	raw_receive(w.s, "00000001 00000002 00200020 00000005 00000000 00000000");
	raw_expect_close(w.s, -EPROTO);
	end(&w);
}

static void version_1_after_version_2_closes(void **state)
{
	struct waiting w = waiting(BOTH);

	raw_receive(w.s, "00000001 00000002 00200020 00000005 00000000 00000000");
	raw_receive(w.s, "00000099" V1_MSG V1_EMPTY REPLY("00000099"));
	raw_expect_close(w.s, -EPROTO);
	end(&w);
}

/* A version 1 message that is no refusal, before the version is settled. */
static void an_answer_of_version_1_to_version_2_closes(void **state)
{
	struct waiting w = waiting(BOTH);

	raw_receive(w.s, "00000055" V1_MSG V1_EMPTY CALL("00000055"));
	raw_expect_close(w.s, -EPROTO);
	end(&w);
}

/* [V7]: the message was dropped; the two kinds of silence can be told apart */
static void a_server_that_never_answers(void **state)
{
	struct waiting w = waiting(BOTH);
	rr_time t = w.s->now + RR_SEC(5);

	assert_int_equal(rr_conn_deadline(w.s->c), t);
	w.s->now = t;
	rr_conn_tick(w.s->c, t);
	side_drain(w.s);
	raw_expect_close(w.s, -ETIMEDOUT);
	assert_int_equal(info(w.s).error, -ETIMEDOUT);
	assert_false(info(w.s).answered);
	assert_int_equal(info(w.s).version, 0);
	end(&w);
}

static void a_server_that_begins_and_does_not_finish(void **state)
{
	struct waiting w = waiting(BOTH);

	raw_receive(w.s, "00000001" CONNPROP_TPMORE "00000000");
	w.s->now += RR_SEC(30);
	rr_conn_tick(w.s->c, w.s->now);
	side_drain(w.s);
	raw_expect_close(w.s, -ETIMEDOUT);
	assert_true(info(w.s).answered);
	assert_int_equal(info(w.s).version, 2);
	end(&w);
}

/* [V7] */
static void a_server_that_closes(void **state)
{
	struct waiting w = waiting(BOTH);

	side_lose(w.s, -ECONNRESET);
	assert_int_equal(info(w.s).error, -ECONNRESET);
	assert_false(info(w.s).answered);
	assert_int_equal(info(w.s).version, 0);
	assert_int_equal(w.o->call.status, -ECONNRESET);
	end(&w);
}

/* V2-4.2.3.2-06, [V6]: Calls of any length, by the rules of version 1 with its default
 * threshold, or by that of the private data. */
static void what_was_queued_is_planned_anew(void **state)
{
	for (int hello = 0; hello < 2; hello++) {
		const struct rr_conn_config cfg = {.versions = BOTH};
		struct side *s = calloc(1, sizeof(*s));
		struct v1_call *o = v1_call(0x99, 2000, false);
		uint8_t data[8];

		s->cfg = cfg;
		side_new(s, RR_CONN_CLIENT);
		raw_octets("f6ab0e18 01000303", data, sizeof(data));
		if (hello)
			rr_conn_peer_private(s->c, data, sizeof(data));
		side_open(s);
		v1_start(s, o);
		side_forget_sent(s);
		raw_receive(s, "00007000 00000002 00000020 00000004 00000001 00000001 "
		               "00000001");
		side_complete_all(s);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(s->sent[0].len, hello ? 2028 : 28 + 24);
		assert_int_equal(rr_load_u32(s->sent[0].p + 12), !hello);
		raw_end(s);
		free(o);
	}
}

/* -- a client that begins with version 1 ----------------------------------- */

static void a_client_of_version_1_sends_its_call_first(void **state)
{
	struct side *s = client(RR_CONN_V1);
	struct v1_call *o = v1_call(0x99, 8, false);

	assert_true(s->ready);
	raw_expect_silence(s);
	v1_start(s, o);
	v1_expect(s,
	          "00000099" V1("00000014", "00000000") V1_EMPTY "00000099 00000000");
	assert_false(info(s).answered);
	raw_receive(s, "00000099" V1_MSG V1_EMPTY REPLY("00000099"));
	assert_true(info(s).answered);
	rr_conn_call_release(s->c, &o->call, s->now);
	raw_end(s);
	free(o);
}

/* A server of version 2 alone says so in a layout that version 1 knows. [V4] */
static void a_client_of_version_1_is_refused(void **state)
{
	static const char *const in[] = {
	        "00000099 00000001 00000020 00000004 00000001 00000002 00000002",
	        "00000099 00000001 00000020 00000004 00000001 00000002 00000001",
	        "00000099 00000002 00000020 00000004 00000001 00000002 00000002",
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(in); i++) {
		struct side *s = client(RR_CONN_V1);
		struct v1_call *o = v1_call(0x99, 8, false);

		v1_start(s, o);
		side_forget_sent(s);
		raw_receive(s, in[i]);
		raw_expect_close(s, -EPROTONOSUPPORT);
		side_lose(s, 0);
		assert_int_equal(o->call.status, -EPROTONOSUPPORT);
		raw_end(s);
		free(o);
	}
}

/* Once the server has answered in version 1, it is a fault. */
static void a_late_refusal_of_another_version_closes(void **state)
{
	struct side *s = client(RR_CONN_V1);

	raw_receive(s, "00000098" V1_MSG V1_EMPTY REPLY("00000098"));
	raw_expect_silence(s);
	raw_receive(s,
	            "00000099 00000002 00000020 00000004 00000001 00000002 00000002");
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

static void version_2_at_a_client_of_version_1_closes(void **state)
{
	struct side *s = client(RR_CONN_V1);

	raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000000");
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* -- the server ------------------------------------------------------------ */

static struct side *server(unsigned versions)
{
	const struct rr_conn_config cfg = {.versions = versions};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	s->on_request = v1_answer;
	raw_expect_silence(s); /* [V2] */
	assert_int_equal(info(s).version, 0);
	return s;
}

/* V2-4.2.3.3-01, -02 */
static void a_server_follows_a_client_of_version_2(void **state)
{
	struct side *s = server(BOTH);

	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	assert_true(s->ready);
	assert_int_equal(info(s).version, 2);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(rr_load_u32(s->sent[0].p + 4), 2);
	assert_int_equal(rr_load_u32(s->sent[0].p + 12), RDMA2_CONNPROP);
	raw_end(s);
}

/* V2-4.2.3.3-01, -02 */
static void a_server_follows_a_client_of_version_1(void **state)
{
	struct side *s = server(BOTH);

	v1_expect_service(s);
	assert_true(s->ready);
	assert_int_equal(info(s).version, 1);
	raw_end(s);
}

/* V2-4.2.3.2-01, -02, [V4, V11]: plain numbers; XID and version copied; the high half
 * of the client's credits is no matter */
static void a_server_of_version_1_refuses_version_2(void **state)
{
	struct side *s = server(RR_CONN_V1);

	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	v1_expect(s, "00000077 00000002 00000020 00000004 00000001 00000001 00000001");
	assert_false(s->ready);
	assert_int_equal(info(s).version, 0);
	/* and again, and then serves version 1 [V5] */
	raw_receive(s, "00000078 00000003 00200020 00000000 00000000 00000000");
	v1_expect(s, "00000078 00000003 00000020 00000004 00000001 00000001 00000001");
	v1_expect_service(s);
	raw_end(s);
}

/* [V4] */
static void a_server_of_both_tells_its_range(void **state)
{
	struct side *s = server(BOTH);

	raw_receive(s, "00000077 00000003 00000020 00000000 00000000");
	raw_expect(s, "00000077 00000003 00200001 00000004 00000001 00000001 00000001 "
	              "00000002");
	raw_receive(s, "00000077 00000000 00000020 00000000 00000000");
	raw_expect(s, "00000077 00000000 00200001 00000004 00000001 00000001 00000001 "
	              "00000002");
	v1_expect_service(s);
	raw_end(s);
}

/* [V4] */
static void a_server_of_version_2_refuses_version_1(void **state)
{
	struct side *s = server(RR_CONN_V2);

	raw_receive(s, "00000055" V1_MSG V1_EMPTY CALL("00000055"));
	v1_expect(s, "00000055 00000001 00000001 00000004 00000001 00000002 00000002");
	raw_end(s);
}

/* [E3]: no loop of errors */
static void an_error_of_another_version_is_not_answered(void **state)
{
	for (unsigned versions = RR_CONN_V1; versions <= BOTH; versions += 2) {
		struct side *s = server(versions);

		raw_receive(s, "00000077 00000003 00000020 00000004 00000001 00000001 "
		               "00000001");
		raw_expect_silence(s);
		assert_int_equal(info(s).version, 0);
		raw_end(s);
	}
}

/* [V13] */
static void fewer_than_20_octets_of_another_version(void **state)
{
	struct side *s = server(RR_CONN_V1);

	raw_receive(s, "00000077 00000002");
	raw_receive(s, "00000077 00000002 00200020 00000005");
	raw_receive(s, "00000077 00000002 00200020 00000005 000000");
	raw_expect_silence(s);
	raw_end(s);
}

/* Nor does an error end a server: it has asked for nothing. */
static void an_error_as_the_first_message(void **state)
{
	struct side *s = server(BOTH);

	raw_receive(s,
	            "00000055 00000001 00000020 00000004 00000001 00000002 00000002");
	raw_expect_silence(s);
	v1_expect_service(s);
	raw_end(s);
}

/* A message that is too short settles nothing. */
static void a_short_message_does_not_settle_the_version(void **state)
{
	struct side *s = server(BOTH);

	raw_receive(s, "00000055" V1_MSG "00000000");
	assert_false(s->ready);
	assert_int_equal(info(s).version, 0);
	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	assert_int_equal(info(s).version, 2);
	raw_end(s);
}

/* [V8] */
static void version_2_on_a_server_settled_at_1(void **state)
{
	struct side *s = server(BOTH);

	v1_expect_service(s);
	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	v1_expect(s, "00000077 00000002 00000020 00000004 00000001 00000001 00000001");
	raw_receive(s, "00000077 00000002 00200020 00000004 00000001 00000002");
	raw_expect_silence(s);
	v1_expect_service(s);
	raw_end(s);
}

/* [V8] */
static void version_1_on_a_server_settled_at_2(void **state)
{
	struct side *s = server(BOTH);

	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	side_forget_sent(s);
	raw_receive(s, "00000055" V1_MSG V1_EMPTY CALL("00000055"));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 28);
	assert_int_equal(rr_load_u16(s->sent[0].p + 8), 0);
	assert_int_equal(rr_load_u32(s->sent[0].p + 4), 1);
	assert_int_equal(rr_load_u32(s->sent[0].p + 20), 2);
	assert_int_equal(rr_load_u32(s->sent[0].p + 24), 2);
	raw_end(s);
}

/* Whichever version it may turn out to speak: its first message, and the exchange of
 * version 2, have a limit from the opening on. [P17] */
static void a_silent_client(void **state)
{
	for (unsigned versions = RR_CONN_V1; versions <= BOTH; versions += 2) {
		struct side *s = server(versions);
		rr_time limit = s->now + RR_SEC(30);

		assert_int_equal(rr_conn_deadline(s->c), limit);
		s->now = limit - 1;
		rr_conn_tick(s->c, s->now);
		side_drain(s);
		assert_false(s->disconnect);
		s->now = limit;
		rr_conn_tick(s->c, s->now);
		side_drain(s);
		raw_expect_close(s, -ETIMEDOUT);
		raw_end(s);
	}
}

static void a_client_that_stops_in_its_properties(void **state)
{
	struct side *s = server(BOTH);
	rr_time limit = s->now + RR_SEC(30);

	s->now += RR_SEC(10);
	raw_receive(s, "00000001" CONNPROP_TPMORE "00000000");
	assert_int_equal(rr_conn_deadline(s->c), limit);
	s->now = limit;
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	raw_expect_close(s, -ETIMEDOUT);
	raw_end(s);
}

static void unknown_versions_alone_are_misuse(void **state)
{
	struct side s = {.cfg = {.versions = 1u << 5}};
	struct rr_conn *c;

	s.cfg.mem = (struct rr_mem){side_get, side_put, &s};
	conn_limits(&s.cfg);
	assert_int_equal(rr_conn_new(&s.cfg, 0, &c), -EINVAL);
}

static void unknown_versions_beside_a_known_one_do_not_count(void **state)
{
	struct side *s = client(1u << 5 | RR_CONN_V1);

	assert_int_equal(info(s).version, 1);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_server_of_version_2),
	        cmocka_unit_test(a_version_1_layout_with_version_2_goes_down),
	        cmocka_unit_test(a_version_1_layout_with_version_1_goes_down),
	        cmocka_unit_test(a_version_1_error_without_range_goes_down),
	        cmocka_unit_test(a_version_2_layout_goes_down),
	        cmocka_unit_test(a_range_that_includes_version_1_goes_down),
	        cmocka_unit_test(no_version_in_common),
	        cmocka_unit_test(a_range_upside_down_is_no_version),
	        cmocka_unit_test(the_refusal_grants),
	        cmocka_unit_test(it_goes_down_once),
	        cmocka_unit_test(version_2_after_going_down_closes),
	        cmocka_unit_test(version_1_after_version_2_closes),
	        cmocka_unit_test(an_answer_of_version_1_to_version_2_closes),
	        cmocka_unit_test(a_server_that_never_answers),
	        cmocka_unit_test(a_server_that_begins_and_does_not_finish),
	        cmocka_unit_test(a_server_that_closes),
	        cmocka_unit_test(what_was_queued_is_planned_anew),
	        cmocka_unit_test(a_client_of_version_1_sends_its_call_first),
	        cmocka_unit_test(a_client_of_version_1_is_refused),
	        cmocka_unit_test(a_late_refusal_of_another_version_closes),
	        cmocka_unit_test(version_2_at_a_client_of_version_1_closes),
	        cmocka_unit_test(a_server_follows_a_client_of_version_2),
	        cmocka_unit_test(a_server_follows_a_client_of_version_1),
	        cmocka_unit_test(a_server_of_version_1_refuses_version_2),
	        cmocka_unit_test(a_server_of_both_tells_its_range),
	        cmocka_unit_test(a_server_of_version_2_refuses_version_1),
	        cmocka_unit_test(an_error_of_another_version_is_not_answered),
	        cmocka_unit_test(fewer_than_20_octets_of_another_version),
	        cmocka_unit_test(an_error_as_the_first_message),
	        cmocka_unit_test(a_short_message_does_not_settle_the_version),
	        cmocka_unit_test(version_2_on_a_server_settled_at_1),
	        cmocka_unit_test(version_1_on_a_server_settled_at_2),
	        cmocka_unit_test(a_silent_client),
	        cmocka_unit_test(a_client_that_stops_in_its_properties),
	        cmocka_unit_test(unknown_versions_alone_are_misuse),
	        cmocka_unit_test(unknown_versions_beside_a_known_one_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
