/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions at the connection: messages of types of their own, with flags and
 * error codes of their own, octet by octet, beside a base that does not change.
 *                                              [v2 §B, §6.1, §6.2.2, §7.1.2, E7]
 */
#include "test_conn_pair.h"
#include "test_conn_raw.h"

/* Types 0x10 (with flags 0x100 and 0x80000000) and 0x11, code 0x1001. */
static const struct rr_ext_table table = {
        .n_htypes = 2,
        .htype = {0x10, 0x11},
        .flags = {0x80000100, 0},
        .n_errors = 1,
        .error = {0x1001},
};

#define TYPE10      V2 "00000010 00000000 "
#define TYPE10_FLAG V2 "00000010 00000100 "

struct told {
	unsigned n;
	struct rr_ext_event ev[128];
	uint8_t data[128][16];
	uint32_t answer; /* an error code, or 0 */
};

static void note(struct side *s, const struct rr_ext_event *ev)
{
	struct told *t = s->app;

	assert_true(t->n < 128);
	t->ev[t->n] = *ev;
	if (ev->len)
		memcpy(t->data[t->n], ev->data, RR_MIN(ev->len, (size_t)16));
	t->n++;
	if (t->answer)
		rr_conn_ext_refuse(s->c, ev, t->answer, s->now);
}

static struct side *ready_with(enum rr_conn_role role, const struct rr_ext_table *ext,
                               struct told *t)
{
	const struct rr_conn_config cfg = {.ext = ext, .xid_seed = 0x77};
	struct side *s = raw_ready(role, &cfg);

	s->on_extension = note;
	s->app = t;
	return s;
}

static int send8(struct side *s, uint32_t htype, uint32_t flags, uint32_t xid)
{
	uint32_t got = 0;
	int err =
	        rr_conn_ext_send(s->c, htype, flags, xid, "bodyBODY", 8, &got, s->now);

	side_drain(s);
	return err ? err : (int)got;
}

static void on_request(struct side *s, struct rr_request *r)
{
	static uint8_t words[16];
	const struct rr_piece p = {words, sizeof(words), false};

	memset(words, 0, sizeof(words));
	rr_store_u32(words, r->xid);
	words[7] = 1;
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

static void expect_service(struct side *s)
{
	s->on_request = on_request;
	raw_receive(s, "00000099" MSG EMPTY CALL("00000099"));
	raw_expect(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	raw_expect_silence(s);
}

/* -- sending --------------------------------------------------------------- */

/* V2-B-01, V2-6.2.2-01: the prefix, then the body; [V10]: an XID of our own. */
static void a_message_is_a_prefix_and_its_body(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_CLIENT, &table, &t);

	s->mem_fail_at = 1; /* the record of sent messages */
	assert_int_equal(send8(s, 0x10, 0, 0x77), -ENOMEM);
	assert_int_equal(s->mem_fail_at, 0);
	assert_int_equal(send8(s, 0x10, 0, 0), 0x78);
	raw_expect(s, "00000078" TYPE10 "626f6479 424f4459");
	assert_int_equal(send8(s, 0x11, 0, 0x1234), 0x1234);
	raw_expect(s, "00001234" V2 "00000011 00000000"
	              "626f6479 424f4459");
	assert_int_equal(rr_conn_ext_send(s->c, 0x11, 0, 0, NULL, 0, NULL, s->now), 0);
	side_drain(s);
	raw_expect(s, "00000079" V2 "00000011 00000000");
	raw_expect_silence(s);
	raw_end(s);
}

/* V2-B.3-01, V2-6.2.2-03: only with types for which the table has them. */
static void flags_go_with_their_types_only(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_CLIENT, &table, &t);

	assert_int_equal(send8(s, 0x10, 0x100, 0), 0x78);
	raw_expect(s, "00000078" TYPE10_FLAG "626f6479 424f4459");
	assert_int_equal(send8(s, 0x10, 0x80000001, 5), 5);
	raw_expect(s, "00000005" V2 "00000010 80000001 626f6479 424f4459");
	assert_int_equal(send8(s, 0x11, 0x100, 0), -EINVAL);
	assert_int_equal(send8(s, 0x10, 0x200, 0), -EINVAL);
	assert_int_equal(send8(s, 0x10, RDMA2_F_MORE, 0), -EINVAL);
	assert_int_equal(send8(s, 0x10, RDMA2_F_TPMORE, 0), -EINVAL);
	raw_expect_silence(s);
	raw_end(s);
}

static void only_types_of_the_table_are_sent(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_CLIENT, &table, &t);
	struct side *none = raw_ready(RR_CONN_CLIENT, NULL);

	assert_int_equal(send8(s, 0x12, 0, 0), -EINVAL);
	assert_int_equal(send8(s, RDMA2_MSG, 0, 0), -EINVAL);
	assert_int_equal(send8(none, 0x10, 0, 0), -EINVAL);
	raw_expect_silence(s);
	raw_expect_silence(none);
	raw_end(s);
	raw_end(none);
}

/* V2-4.2.2: header and body within the threshold, in words. */
static void a_body_keeps_to_the_threshold(void **state)
{
	static const uint8_t body[4096];
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_CLIENT, &table, &t);

	assert_int_equal(rr_conn_ext_send(s->c, 0x10, 0, 0, body, 4077, NULL, s->now),
	                 -EINVAL);
	assert_int_equal(rr_conn_ext_send(s->c, 0x10, 0, 0, body, 4080, NULL, s->now),
	                 -EMSGSIZE);
	assert_int_equal(rr_conn_ext_send(s->c, 0x10, 0, 0, body, 4076, NULL, s->now),
	                 0);
	side_drain(s);
	assert_int_equal(s->sent[0].len, 4096);
	raw_end(s);
}

/* [P1]: not before both exchanges are over; not after the end. */
static void nothing_goes_before_ready_or_after_the_end(void **state)
{
	const struct rr_conn_config cfg = {.ext = &table};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	assert_int_equal(send8(s, 0x10, 0, 0), -EAGAIN);
	side_forget_sent(s);
	raw_expect_silence(s);
	side_lose(s, -EPIPE);
	assert_int_equal(send8(s, 0x10, 0, 0), -EPIPE);
	raw_end(s);
}

/* [C5]: each costs a credit; the queue is bounded; RPC has its turn. */
static void messages_wait_for_credits_beside_calls(void **state)
{
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	const struct rr_conn_config cfg = {.ext = &table};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	unsigned calls = 0;

	side_forget_sent(s);
	raw_receive(s, "00000077 00000002 00020001 00000005 00000000 00000000");
	for (unsigned i = 0; i < 65; i++)
		assert_int_equal(send8(s, 0x10, 1, i), i);
	assert_int_equal(send8(s, 0x10, 0, 0), -ENOBUFS);
	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	for (unsigned i = 0; i < 2; i++) {
		side_forget_sent(s);
		raw_receive(s, "00000000 00000002 00020001 00000001 00000000" EMPTY);
		assert_int_equal(s->n_sent, 1);
		calls += s->sent[0].p[15] == RDMA2_MSG;
	}
	assert_int_equal(calls, 1);
	raw_end(s); /* with a queue: nothing is left behind */
}

/* An XID by which errors could not be told apart. */
static void an_xid_of_a_call_is_not_used_twice(void **state)
{
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_CLIENT, &table, &t);

	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	assert_int_equal(send8(s, 0x10, 0, 0x99), -EINVAL);
	assert_int_equal(send8(s, 0x10, RDMA2_F_RESPONSE, 0x99), 0x99);
	raw_end(s);
}

/* -- receiving ------------------------------------------------------------- */

/* V2-B-02: the handler gets the body; the base goes on. */
static void a_message_reaches_the_user(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_SERVER, &table, &t);

	raw_receive(s, "00000055" TYPE10 "61626364 65666768");
	assert_int_equal(t.n, 1);
	assert_int_equal(t.ev[0].what, RR_EXT_MESSAGE);
	assert_int_equal(t.ev[0].number, 0x10);
	assert_int_equal(t.ev[0].xid, 0x55);
	assert_int_equal(t.ev[0].flags, 0);
	assert_int_equal(t.ev[0].len, 8);
	assert_memory_equal(t.data[0], "abcdefgh", 8);
	raw_expect_silence(s);
	expect_service(s);
	raw_end(s);
}

/* V2-6.2.2-04: flags of the extension are told, all others ignored. */
static void only_its_own_flags_are_told(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_SERVER, &table, &t);

	raw_receive(s, "00000055" V2 "00000010 fffffff8");
	raw_receive(s, "00000055" V2 "00000011 fffffff9");
	assert_int_equal(t.n, 2);
	assert_int_equal(t.ev[0].flags, 0x80000100);
	assert_int_equal(t.ev[1].flags, RDMA2_F_RESPONSE);
	assert_int_equal(t.ev[1].len, 0);
	/* and with a Call they mean nothing */
	s->on_request = on_request;
	raw_receive(s, "00000099" V2 "00000000 80000100" EMPTY CALL("00000099"));
	raw_expect(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	raw_end(s);
}

/* V2-6.1-06, V2-6.2.2.2-07, -08, V2-6.2.2.3-02: [check: header type to MORE] come
 * first. */
static void what_the_prefix_forbids_does_not_reach_the_user(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_SERVER, &table, &t);

	raw_receive(s, "00000055" V2 "00000012 00000000");
	raw_expect(s, "00000055" ERRORMSG "00000004");
	raw_receive(s, "00000056" V2 "00000010 00000004");
	raw_expect(s, "00000056" ERRORMSG "00000004");
	raw_receive(s, "00000057" V2 "00000010 00000002");
	raw_expect(s, "00000057" ERRORMSG "00000005");
	raw_receive(s, "00000057" V2 "00000010 00000000"); /* no sequence hangs on */
	assert_int_equal(t.n, 1);
	expect_service(s);
	raw_end(s);
}

/* Without the extension a type is as unknown as ever. [V2-B-02, V2-6.1-06, E2] */
static void without_the_extension_the_type_is_unknown(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	raw_receive(s, "00000055" TYPE10_FLAG "61626364");
	raw_expect(s, "00000055" ERRORMSG "00000004");
	raw_receive(s, "00000056" V2 "00000010 00000001 61626364");
	raw_expect_silence(s);
	expect_service(s);
	raw_end(s);
}

/* V2-B.5-01: 24 octets, the void arm; never about a response [F6]. */
static void a_message_is_answered_by_a_code_of_the_extension(void **state)
{
	struct told t = {.answer = 0x1001};
	struct side *s = ready_with(RR_CONN_SERVER, &table, &t);

	raw_receive(s, "00000055" TYPE10 "61626364");
	raw_expect(s, "00000055" ERRORMSG "00001001");
	raw_receive(s, "00000056" V2 "00000010 00000001 61626364");
	raw_expect_silence(s);
	assert_int_equal(t.n, 2);
	expect_service(s);
	raw_end(s);
}

/* No memory for another Receive: refused, not kept. */
static void a_message_without_memory_is_refused(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_SERVER, &table, &t);

	s->mem_fail_at = 1;
	raw_receive(s, "00000055" TYPE10 "61626364");
	assert_int_equal(t.n, 0);
	raw_expect(s, "00000055" ERRORMSG "00000064");
	expect_service(s);
	raw_end(s);
}

/* ... and an answer, about which no error goes out, ends the connection: nothing
 * else can tell who asked. */
static void an_answer_without_memory_ends_the_connection(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_SERVER, &table, &t);

	s->mem_fail_at = 1;
	raw_receive(s, "00000055" V2 "00000010 00000001 61626364");
	assert_int_equal(t.n, 0);
	raw_expect_close(s, -ENOMEM);
	raw_end(s);
}

/* A default of which the user cannot be told ends the connection for good. */
static void a_default_without_memory_is_no_ready(void **state)
{
	struct rr_ext_table props = table;

	props.n_props = 1;
	props.prop[0] =
	        (struct rr_ext_prop){.id = 0x80000001, .deflt = "dflt", .deflt_len = 4};
	for (long at = 1; at <= 4; at++) {
		struct rr_conn_config cfg = {.ext = &props, .xid_seed = 0x77};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
		struct told t = {0};
		struct rr_conn_info info;

		s->on_extension = note;
		s->app = &t;
		s->mem_fail_at = at;
		raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
		rr_conn_info(s->c, &info);
		assert_int_equal(info.ready, s->ready);
		assert_int_equal(info.ready, !s->disconnect);
		assert_int_equal(s->ready, t.n == 1);
		s->mem_fail_at = 0;
		raw_end(s);
	}
}

/* The Receive that a message lies in is replaced, and comes back. */
static void many_messages_keep_the_receives(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_SERVER, &table, &t);
	struct rr_conn_info before, after;
	size_t blocks = 0;

	rr_conn_info(s->c, &before);
	for (unsigned i = 0; i < 100; i++) {
		raw_receive(s, "00000055" TYPE10 "61626364");
		side_forget_sent(s); /* grants */
		if (i == 10)
			blocks = s->mem_blocks;
	}
	assert_int_equal(s->mem_blocks, blocks);
	rr_conn_info(s->c, &after);
	assert_int_equal(t.n, 100);
	assert_int_equal(before.receives_posted, after.receives_posted);
	raw_end(s);
}

/* -- errors received ------------------------------------------------------- */

/* V2-7.1.2, [E7], V2-B.2-03: from then on the type stays here; others do not. */
static void a_type_the_peer_does_not_know_is_not_sent_again(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_CLIENT, &table, &t);

	assert_int_equal(send8(s, 0x11, 0, 0), 0x78);
	assert_int_equal(send8(s, 0x10, 0, 0), 0x79);
	side_forget_sent(s);
	raw_receive(s, "00000079" ERRORMSG "00000004");
	assert_int_equal(t.n, 1);
	assert_int_equal(t.ev[0].what, RR_EXT_ERROR);
	assert_int_equal(t.ev[0].number, 0x10);
	assert_int_equal(t.ev[0].xid, 0x79);
	assert_int_equal(t.ev[0].error, 4);
	assert_int_equal(send8(s, 0x10, 0, 0), -EOPNOTSUPP);
	assert_int_equal(send8(s, 0x10, RDMA2_F_RESPONSE, 7), -EOPNOTSUPP);
	raw_expect_silence(s);
	assert_int_equal(send8(s, 0x11, 0, 0), 0x7a);
	raw_end(s);
}

/* Another code says something about that message only; once. */
static void other_errors_do_not_forbid_the_type(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_CLIENT, &table, &t);

	assert_int_equal(send8(s, 0x10, 0, 0), 0x78);
	raw_receive(s, "00000078" ERRORMSG "00001001");
	raw_receive(s, "00000078" ERRORMSG "00001001");
	raw_receive(s, "00000000" ERRORMSG "00001001"); /* about a grant */
	assert_int_equal(t.n, 1);
	assert_int_equal(t.ev[0].error, 0x1001);
	assert_int_equal(send8(s, 0x10, 0, 0), 0x79);
	raw_receive(s, "00000079" ERRORMSG "00001002"); /* of no extension [E15] */
	assert_int_equal(t.n, 1);
	raw_receive(s, "00000079" ERRORMSG "00000002");
	assert_int_equal(t.n, 2);
	raw_end(s);
}

/* INVAL_HTYPE about a Call or about nothing marks no type. [E7] */
static void errors_about_calls_mark_nothing(void **state)
{
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_CLIENT, &table, &t);

	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	side_drain(s);
	side_complete_all(s);
	raw_receive(s, "00000099" ERRORMSG "00000004");
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(plain.status, RR_CALL_REMOTE_ERROR);
	raw_receive(s, "00000000" ERRORMSG "00000004");
	raw_receive(s, "00000055" ERRORMSG "00000004");
	assert_int_equal(t.n, 0);
	assert_int_equal(send8(s, 0x10, 0, 0), 0x78);
	rr_conn_call_release(s->c, &plain, s->now);
	raw_end(s);
}

/* V2-B.5-01: a code of an extension ends a call; without it, [E15]. */
static void a_code_of_an_extension_ends_a_call(void **state)
{
	for (unsigned known = 0; known < 2; known++) {
		static const uint8_t words[8] = {0, 0, 0, 0x99};
		const struct rr_piece p = {words, sizeof(words), false};
		struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
		struct told t = {0};
		struct side *s = ready_with(RR_CONN_CLIENT, known ? &table : NULL, &t);

		assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
		side_drain(s);
		side_complete_all(s);
		raw_receive(s, "00000099" ERRORMSG "00001001");
		assert_int_equal(s->calls_done, known);
		if (known) {
			assert_int_equal(plain.status, RR_CALL_REMOTE_ERROR);
			assert_int_equal(plain.error.code, 0x1001);
			rr_conn_call_release(s->c, &plain, s->now);
		}
		raw_end(s);
	}
}

/* A Call refused by a code of an extension: 24 octets. */
static void refuse_with_code(struct side *s, struct rr_request *r)
{
	const struct rr_error e = {.code = 0x1001};

	rr_conn_refuse(s->c, r, &e, s->now);
}

static void a_call_is_refused_by_a_code_of_the_extension(void **state)
{
	struct told t = {0};
	struct side *s = ready_with(RR_CONN_SERVER, &table, &t);

	s->on_request = refuse_with_code;
	raw_receive(s, "00000099" MSG EMPTY CALL("00000099"));
	raw_expect(s, "00000099" ERRORMSG "00001001");
	raw_expect_silence(s);
	raw_end(s);
}

/* -- both ends ------------------------------------------------------------- */

static void echo(struct side *s, const struct rr_ext_event *ev)
{
	struct told *t = s->app;

	if (ev->what != RR_EXT_MESSAGE) {
		t->answer = ev->error;
		return;
	}
	t->n++;
	if (!(ev->flags & RDMA2_F_RESPONSE))
		assert_int_equal(rr_conn_ext_send(s->c, ev->number,
		                                  ev->flags | RDMA2_F_RESPONSE, ev->xid,
		                                  ev->data, ev->len, NULL, s->now),
		                 0);
}

static void questions_and_answers_with_few_credits(void **state)
{
	for (unsigned seed = 0; seed < 40; seed++) {
		struct pair *p = calloc(1, sizeof(*p));
		struct told t[2] = {{0}};
		unsigned asked = 0;

		p->cl.cfg.credits = 2 + seed % 4;
		p->sv.cfg.credits = 2 + seed / 4 % 4;
		p->cl.cfg.ext = p->sv.cfg.ext = &table;
		p->cl.on_extension = p->sv.on_extension = echo;
		p->cl.app = &t[0];
		p->sv.app = &t[1];
		pair_new(p, seed);
		pair_run(p);
		while (asked < 300) {
			int err = rr_conn_ext_send(p->cl.c, 0x10, 0x100, 0, "12345678",
			                           8, NULL, p->cl.now);

			assert_true(err == 0 || err == -ENOBUFS);
			asked += !err;
			side_drain(&p->cl);
			if (err || seed & 1)
				pair_run(p);
			if (err)
				while (t[0].n < asked && pair_wait(p, RR_SEC(20)))
					pair_run(p);
		}
		pair_run(p);
		while (t[0].n < asked && pair_wait(p, RR_SEC(20)))
			pair_run(p);
		assert_int_equal(t[0].n, 300);
		assert_int_equal(t[1].n, 300);
		pair_end(p);
		free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_message_is_a_prefix_and_its_body),
	        cmocka_unit_test(flags_go_with_their_types_only),
	        cmocka_unit_test(only_types_of_the_table_are_sent),
	        cmocka_unit_test(a_body_keeps_to_the_threshold),
	        cmocka_unit_test(nothing_goes_before_ready_or_after_the_end),
	        cmocka_unit_test(messages_wait_for_credits_beside_calls),
	        cmocka_unit_test(an_xid_of_a_call_is_not_used_twice),
	        cmocka_unit_test(a_message_reaches_the_user),
	        cmocka_unit_test(only_its_own_flags_are_told),
	        cmocka_unit_test(what_the_prefix_forbids_does_not_reach_the_user),
	        cmocka_unit_test(without_the_extension_the_type_is_unknown),
	        cmocka_unit_test(a_message_is_answered_by_a_code_of_the_extension),
	        cmocka_unit_test(a_message_without_memory_is_refused),
	        cmocka_unit_test(an_answer_without_memory_ends_the_connection),
	        cmocka_unit_test(a_default_without_memory_is_no_ready),
	        cmocka_unit_test(many_messages_keep_the_receives),
	        cmocka_unit_test(a_type_the_peer_does_not_know_is_not_sent_again),
	        cmocka_unit_test(other_errors_do_not_forbid_the_type),
	        cmocka_unit_test(errors_about_calls_mark_nothing),
	        cmocka_unit_test(a_code_of_an_extension_ends_a_call),
	        cmocka_unit_test(a_call_is_refused_by_a_code_of_the_extension),
	        cmocka_unit_test(questions_and_answers_with_few_credits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
