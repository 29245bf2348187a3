/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes before the exchange of properties is over: Calls, steps of the host
 * authentication out of turn, octets without end, messages without credits.
 */
#include "test_conn_raw.h"

#define EARLY "00000055 00000002 00200001 00000000 00000000 00000000 00000000 "
#define RBSIZ_1024                                                                     \
	"00000077 00000002 00200020 00000005 00000000 00000001 00000002 00000004 "     \
	"00000400"

/* A Call before the exchange is over, with Write and Reply chunks of that many
 * segments.  It brings one credit, which the server's properties take. */
static struct side *early(unsigned writes, unsigned replies)
{
	const struct rr_conn_config cfg = {.max_segments = 64};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	static char hex[8000];
	char *p;

	raw_held = NULL;
	s->on_request = raw_hold;
	p = hex + sprintf(hex, EARLY "00000001 %08x ", writes);
	p = raw_repeat(p, SEG("000000ab", "00000010"), writes);
	p += sprintf(p, "00000000 ");
	p += replies ? sprintf(p, "00000001 %08x ", replies) : sprintf(p, "00000000 ");
	p = raw_repeat(p, SEG("000000ac", "00001000"), replies);
	stpcpy(p, CALL("00000055"));
	raw_receive(s, hex);
	assert_int_equal(s->sent[0].p[15], RDMA2_CONNPROP);
	raw_skip(s);
	return s;
}

/* [P8, P18, P12]: 36 + 8 + 61 * 16 octets, and a word of payload, fit into 1024. */
static void an_early_call_is_planned_for_the_least_threshold(void **state)
{
	struct side *s = early(62, 0);

	raw_receive(s, RBSIZ_1024);
	raw_expect(s, "00000055" ERRORMSG "00000008 0000003d");
	assert_null(raw_held);
	raw_end(s);

	s = early(61, 0);
	assert_non_null(raw_held);
	raw_answer_held(s, 8);
	raw_expect_silence(s); /* without a credit */
	raw_receive(s, RBSIZ_1024);
	raw_expect(s, "00000055" MSG_REPLY_MORE EMPTY "00000055");
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 1024);
	assert_int_equal(rr_load_u32(s->sent[0].p + 16), RDMA2_F_RESPONSE);
	assert_memory_equal(s->sent[0].p + 1020, "\0\0\0\1", 4);
	raw_end(s);
}

/* [K9]: a Special Reply whose header could be too long is none; later it may be. */
static void a_special_reply_keeps_to_the_least_threshold(void **state)
{
	const struct rr_conn_config cfg = {.max_segments = 64};
	struct side *s = early(31, 31);
	const struct side_msg *m;

	raw_answer_held(s, 5000);
	raw_receive(s, RBSIZ_1024);
	assert_int_equal(s->sent[0].p[15], RDMA2_MSG);
	assert_int_equal(s->sent[0].len, 1024);
	assert_int_equal(s->sent[0].p[19], RDMA2_F_RESPONSE | RDMA2_F_MORE);
	assert_int_equal(s->n_writes, 0);
	assert_int_equal(s->n_sent, 6);
	m = &s->sent[5]; /* gives the Write list back, and no Reply chunk [K8] */
	assert_int_equal(rr_load_u32(m->p + 16), RDMA2_F_RESPONSE);
	assert_int_equal(rr_load_u32(m->p + 32), 31);
	assert_int_equal(rr_load_u32(m->p + 536), 0);
	assert_int_equal(m->len, 540 + 5000 - 5 * 988);
	raw_end(s);

	s = early(31, 30); /* 1024 octets */
	raw_answer_held(s, 5000);
	raw_receive(s, RBSIZ_1024);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].p[15], RDMA2_NOMSG);
	assert_int_equal(s->sent[0].len, 1024);
	raw_end(s);

	s = raw_ready_by(RR_CONN_SERVER, &cfg, "00000000");
	s->on_request = raw_hold;
	raw_receive(s, "00000055" MSG
	               "00000000 00000000 00000000 00000001 00000002" SEG("000000ab",
	                                                                  "00001000")
	                       SEG("000000ac", "00001000") CALL("00000055"));
	raw_answer_held(s, 5000);
	assert_int_equal(s->sent[0].p[15], RDMA2_NOMSG);
	raw_end(s);
}

/* A hook that says no is not asked again, whatever else the message holds. */
static unsigned asked;

static int say(void *ctx, const void *in, size_t in_len, const void **ret_out,
               size_t *ret_out_len)
{
	asked++;
	*ret_out = "hello";
	*ret_out_len = 5;
	return *(int *)ctx;
}

#define STEP "00000006 0000000c 00000005 68656c6c 6f000000 "

/* [P14] */
static void a_refused_peer_is_not_heard_again(void **state)
{
	int no = -1;
	const struct rr_conn_config cfg = {.auth = {say, &no}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	asked = 0;
	raw_receive(s, "00000001" CONNPROP_TPMORE "00000002" STEP STEP);
	raw_expect_close(s, -EACCES);
	assert_int_equal(asked, 1);
	raw_end(s);
}

#define MANY_CREDITS "00000001 00000002 00200020 00000005 00000004 "

/* [P14]: its words go out first, so that the peer knows why. */
static void who_refuses_says_why(void **state)
{
	int no = -1;
	const struct rr_conn_config cfg = {.auth = {say, &no}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	const struct side_msg *m;

	raw_receive(s, MANY_CREDITS "00000001" STEP);
	raw_expect_close(s, -EACCES);
	assert_int_equal(s->n_sent, 2); /* numbers, words */
	m = &s->sent[1];
	assert_int_equal(m->len, 20 + 24);
	assert_int_equal(rr_load_u32(m->p + 16), RDMA2_F_TPMORE);
	assert_memory_equal(m->p + 36, "hello\0\0\0", 8);
	raw_end(s);
}

/* What a hook hears of properties: whose, which, what. */
struct heard {
	unsigned own, peers, refuse_at;
	uint32_t sum;
};

static bool hear(void *ctx, bool own, uint32_t id, const void *data, size_t len)
{
	struct heard *h = ctx;

	h->own += own;
	h->peers += !own;
	assert_int_not_equal(id, 6);
	if (!own && len == 4)
		h->sum += id * rr_load_u32(data);
	return h->own + h->peers != h->refuse_at;
}

static int listen_on(void *ctx, const void *in, size_t in_len, const void **ret_out,
                     size_t *ret_out_len)
{
	*ret_out_len = 0;
	return 0;
}

#define THREE_PROPS                                                                    \
	MANY_CREDITS "00000003 00000004 00000004 00000010" STEP                        \
	             "00000077 00000003 61626300"

/* [P14]: each property but its own, of both ends, in sets and in parts. */
static void the_hook_hears_of_every_property(void **state)
{
	static uint8_t big[5000];
	struct heard h = {0};
	const struct rr_ext_table ext = {
	        .n_props = 1, .prop = {{.id = 0x99, .data = big, .len = sizeof(big)}}};
	const struct rr_conn_config cfg = {.auth = {listen_on, &h, hear}, .ext = &ext};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive(s, THREE_PROPS);
	assert_false(s->disconnect);
	assert_int_equal(h.own, 4 + 1); /* no property 5 from a server */
	assert_int_equal(h.peers, 2);
	assert_int_equal(h.sum, 4 * 16);
	raw_end(s);
}

/* [P14]: it may refuse one, of either end, and hears of no further. */
static void the_hook_may_refuse_a_property(void **state)
{
	for (unsigned at = 1; at <= 6; at++) {
		struct heard h = {.refuse_at = at};
		const struct rr_conn_config cfg = {.auth = {listen_on, &h, hear}};
		struct side *s = raw_new(RR_CONN_SERVER, &cfg);

		raw_receive(s, THREE_PROPS);
		raw_expect_close(s, -EACCES);
		assert_int_equal(h.own + h.peers, at);
		raw_end(s);
	}
}

/* [P14, P6]: a step is nothing to a peer without a hook, also if it has extensions. */
static void a_step_without_a_hook_is_ignored(void **state)
{
	const struct rr_ext_table none = {0};
	const struct rr_conn_config cfg = {.ext = &none};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000001" STEP);
	assert_false(s->disconnect);
	assert_true(s->ready);
	raw_end(s);
}

/* [P14]: both have said their last, and then the server says something more. */
static void a_step_in_the_last_message_closes(void **state)
{
	int yes = 1;
	const struct rr_conn_config cfg = {.auth = {say, &yes}};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	assert_int_equal(s->n_sent, 3); /* numbers, words, the end */
	assert_int_equal(rr_load_u32(s->sent[2].p + 16), 0);
	raw_receive(s, "00000002" CONNPROP "00000001" STEP);
	raw_expect_close(s, -EACCES);
	assert_false(s->ready);
	raw_end(s);
}

/* [P14]: nothing is done for a peer that has not proved itself. */
static void an_extension_before_the_proof_closes(void **state)
{
	int more = 0;
	const struct rr_ext_table table = {.n_htypes = 1, .htype = {0x10}};
	const struct rr_conn_config cfg = {
	        .ext = &table, .auth = {say, &more}, .auth_required = true};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	struct rr_conn_counters n;

	raw_receive(s, "00000001 00000002 00200020 00000010 00000000");
	raw_expect_close(s, -EACCES);
	rr_conn_counters(s->c, &n);
	assert_int_equal(n.ext_received, 0);
	raw_end(s);
}

/* [P20]: octets without end, in sets that are each within the limits. */
static void properties_have_a_limit_of_octets(void **state)
{
	enum { LEN = 65536, DATA = LEN - 20 - 12, WHOLE = (1 << 20) / (LEN - 20) };
	const struct rr_conn_config cfg = {.recv_bytes = LEN};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	static uint8_t m[LEN];

	raw_octets("00000001 00000002 00200020 00000005 00000004"
	           "00000001 80000001",
	           m, sizeof(m));
	rr_store_u32(m + 28, DATA);
	for (unsigned i = 0; i < WHOLE; i++) {
		side_receive(s, m, LEN, 0);
		side_complete_all(s);
		assert_false(s->disconnect);
		side_forget_sent(s);
	}
	side_receive(s, m, LEN, 0);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* [C9, C3]: a first message that grants nothing stalls the server. */
static void a_server_without_a_credit_stalls(void **state)
{
	int more = 0;
	const struct rr_conn_config cfg = {.auth = {say, &more}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	struct rr_conn_counters n;

	raw_receive(s, "00000001 00000002 00200000 00000005 00000004 00000000");
	raw_expect_silence(s);
	rr_conn_counters(s->c, &n);
	assert_int_equal(n.credit_stalls, 1);
	raw_receive(s, "00000000 00000002 00200001 00000001 00000000" EMPTY);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].p[15], RDMA2_CONNPROP);
	raw_end(s);
}

/* [C3 surplus]: the server was faster than the client's first message. */
static void a_credit_not_spent_yet_is_given_back(void **state)
{
	struct side *s = calloc(1, sizeof(*s));
	struct rr_conn_info i;

	side_new(s, RR_CONN_CLIENT);
	raw_receive_undrawn(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	rr_conn_info(s->c, &i);
	assert_int_equal(i.avail, 32);
	assert_int_equal(i.owed, 2);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_early_call_is_planned_for_the_least_threshold),
	        cmocka_unit_test(a_special_reply_keeps_to_the_least_threshold),
	        cmocka_unit_test(a_refused_peer_is_not_heard_again),
	        cmocka_unit_test(who_refuses_says_why),
	        cmocka_unit_test(the_hook_hears_of_every_property),
	        cmocka_unit_test(the_hook_may_refuse_a_property),
	        cmocka_unit_test(a_step_without_a_hook_is_ignored),
	        cmocka_unit_test(a_step_in_the_last_message_closes),
	        cmocka_unit_test(an_extension_before_the_proof_closes),
	        cmocka_unit_test(properties_have_a_limit_of_octets),
	        cmocka_unit_test(a_server_without_a_credit_stalls),
	        cmocka_unit_test(a_credit_not_spent_yet_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
