/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits: the arithmetic of [C3] and what is seen of it on the wire.
 */
#include "test_conn_raw.h"

#include "conn/credit.h"

static uint32_t word(uint32_t high, uint32_t low)
{
	return high << 16 | low;
}

/* [C7, C3 giving] */
static void first_word_grants_the_ceiling(void **state)
{
	struct rr_credit c, s;

	rr_credit_init(&c, 32, 32, 1);
	rr_credit_init(&s, 16, 16, 0);
	assert_int_equal(rr_credit_spend(&c), word(32, 32));
	assert_int_equal(c.avail, 0);
	rr_credit_apply(&s, word(32, 32));
	assert_int_equal(s.cap, 16);
	assert_int_equal(s.avail, 16);
	assert_int_equal(s.owed, 0); /* dropped: the own limit is lower */
	assert_int_equal(rr_credit_spend(&s), word(16, 16));
	rr_credit_apply(&c, word(16, 16));
	assert_int_equal(c.avail, 16);
	assert_int_equal(c.owed, 1);
	assert_int_equal(rr_credit_spend(&c), word(32, 2)); /* 1 and what is owed */
	assert_int_equal(rr_credit_spend(&c), word(32, 1));
}

/* [C3 surplus]: what is above the ceiling is owed, never more than H. */
static void surplus_is_owed(void **state)
{
	struct rr_credit c;

	rr_credit_init(&c, 4, 4, 1);
	(void)rr_credit_spend(&c);
	rr_credit_apply(&c, word(4, 4));
	rr_credit_apply(&c, word(4, 2));
	assert_int_equal(c.avail, 4);
	assert_int_equal(c.owed, 3);
	assert_true(rr_credit_grant_due(&c));
	rr_credit_apply(&c, word(4, 0xffff));
	assert_int_equal(c.avail, 4);
	assert_int_equal(c.owed, 4);
	assert_int_equal(rr_credit_spend(&c), word(4, 4)); /* low is at most H */
	assert_int_equal(c.owed, 1);
}

/* [ext §2.5]: a group keeps credits that are owed, and only as many as it lacks. */
static void a_group_uses_credits_that_are_owed(void **state)
{
	struct rr_credit c;

	rr_credit_init(&c, 4, 4, 1);
	(void)rr_credit_spend(&c);
	rr_credit_apply(&c, word(4, 4));
	rr_credit_apply(&c, word(4, 2));
	(void)rr_credit_spend(&c); /* hands back three */
	rr_credit_apply(&c, word(4, 3));
	for (unsigned i = 0; i < 3; i++) {
		c.room = 0; /* all are withheld */
		(void)rr_credit_spend(&c);
	}
	assert_int_equal(c.avail, 1);
	assert_int_equal(c.owed, 2);
	assert_false(rr_credit_gather(&c, 4));
	assert_int_equal(c.avail, 1);
	assert_true(rr_credit_gather(&c, 1));
	assert_int_equal(c.owed, 2);
	assert_true(rr_credit_gather(&c, 3));
	assert_int_equal(c.avail, 3);
	assert_int_equal(c.owed, 0);
	c.owed = 4;
	assert_false(rr_credit_gather(&c, 5)); /* above the cap */
}

/* [C4, C10] */
static void strange_words_do_no_harm(void **state)
{
	struct rr_credit c;

	rr_credit_init(&c, 8, 8, 1);
	(void)rr_credit_spend(&c);
	rr_credit_apply(&c, 0); /* nothing at all */
	assert_int_equal(c.avail, 0);
	rr_credit_apply(&c, word(0, 5)); /* a plain number is a limit */
	assert_int_equal(c.cap, 5);
	assert_int_equal(c.avail, 5);
	rr_credit_apply(&c, word(0xffff, 0)); /* a higher ceiling changes nothing */
	assert_int_equal(c.cap, 5);
	rr_credit_apply(&c, word(2, 1)); /* a lower one does: the rest is owed */
	assert_int_equal(c.cap, 2);
	assert_int_equal(c.avail, 2);
	assert_int_equal(c.owed, 5);
	rr_credit_apply(&c, word(3, 9)); /* the low half is the larger one */
	assert_int_equal(c.cap, 2);
	assert_int_equal(c.owed, 8);
}

static void configured_values_are_clamped(void **state)
{
	struct rr_credit c;

	rr_credit_init(&c, 0, 0, 0);
	assert_int_equal(c.ceiling, 2);
	assert_int_equal(c.limit, 2);
	rr_credit_init(&c, 100000, 1000000, 0);
	assert_int_equal(c.ceiling, 32767);
	assert_int_equal(c.limit, 32767);
	rr_credit_init(&c, 16, 4, 0); /* not below H [model-checked] */
	assert_int_equal(c.limit, 16);
	assert_int_equal(rr_credit_receives(&c), 34); /* H + limit + 2 */
}

/* -- on the wire ----------------------------------------------------------- */

struct load {
	uint8_t words[40][8];
	struct rr_piece piece[40];
	struct rr_call call[40];
};

static void queue_calls(struct side *s, struct load *l, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		rr_store_u32(l->words[i], 0x100 + i);
		l->piece[i] = (struct rr_piece){l->words[i], 8, false};
		l->call[i] = (struct rr_call){
		        .xid = 0x100 + i, .pieces = &l->piece[i], .n_pieces = 1};
		assert_int_equal(rr_conn_call(s->c, &l->call[i], s->now), 0);
	}
	side_drain(s);
	side_complete_all(s);
}

/* V2-4.2.1.1-01, -06, -09: exactly as many as were granted. */
static void no_more_sends_than_granted(void **state)
{
	struct load *l = calloc(1, sizeof(*l));
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct rr_conn_counters n;

	queue_calls(s, l, 40);
	assert_int_equal(s->n_sent, 1); /* V2-4.2.3-02 */
	raw_receive(s, "00000001 00000002 00200003 00000005 00000000 00000000");
	assert_int_equal(s->n_sent, 1 + 3);
	raw_receive(s, "00000000 00000002 00200001 00000001 00000000" EMPTY);
	assert_int_equal(s->n_sent, 1 + 3 + 1);
	raw_receive(s, "00000000 00000002 00200002 00000001 00000000" EMPTY);
	assert_int_equal(s->n_sent, 1 + 3 + 1 + 2);
	raw_receive(s, "00000000 00000002 00200000 00000001 00000000" EMPTY);
	assert_int_equal(s->n_sent, 7);
	/* [C8]: a message that is refused brings its credits all the same; the
	 * answer takes the one */
	raw_receive(s, "00000055 00000002 00200001 00000007 00000000");
	assert_int_equal(s->n_sent, 8);
	assert_int_equal(s->sent[7].p[15], RDMA2_ERROR);
	/* but not one that is too short, or of another version */
	raw_receive(s, "00000055 00000002 00200009 00000001 000000");
	assert_int_equal(s->n_sent, 8);
	rr_conn_counters(s->c, &n);
	assert_int_equal(n.credit_stalls, 4); /* one a wait, however long */
	raw_end(s);
	free(l);
}

/* V2-4.2.1.1-07, -08: every word we send. */
static void no_grant_is_zero(void **state)
{
	struct load *l = calloc(1, sizeof(*l));
	const struct rr_conn_config cfg = {.credits = 5};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	queue_calls(s, l, 40);
	for (unsigned i = 0; i < 12; i++)
		raw_receive(
		        s, i ? "00000000 00000002 00200004 00000001 00000000" EMPTY
		             : "00000001 00000002 00200003 00000005 00000000 00000000");
	for (unsigned i = 0; i < s->n_sent; i++) {
		unsigned low = (unsigned)s->sent[i].p[10] << 8 | s->sent[i].p[11];

		assert_int_equal(s->sent[i].p[8] << 8 | s->sent[i].p[9], 5);
		assert_in_range(low, 1, 5);
	}
	raw_end(s);
	free(l);
}

/* [C3 grant message]: at once when half is owed. */
static void much_owed_is_granted_at_once(void **state)
{
	const struct rr_conn_config cfg = {.credits = 8};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive(s, "00000001 00000002 00080008 00000005 00000000 00000000");
	assert_int_equal(s->n_sent, 1);
	side_forget_sent(s);
	/* avail 7 of 8: the next fills it, then one after the other is owed */
	for (unsigned i = 0; i < 4; i++) {
		raw_receive(s, "00000000 00000002 00080001 00000001 00000000" EMPTY);
		assert_int_equal(s->n_sent, 0);
	}
	raw_receive(s, "00000000 00000002 00080001 00000001 00000000" EMPTY);
	assert_int_equal(s->n_sent, 1);
	assert_memory_equal(s->sent[0].p + 8, "\0\x08\0\x05", 4); /* 1 + 4 */
	assert_memory_equal(s->sent[0].p,
	                    "\0\0\0\0\0\0\0\2\0\x08\0\x05\0\0\0\1\0\0\0\0"
	                    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
	                    36);
	assert_int_equal(s->sent[0].len, 36);
	raw_end(s);
}

/* and after 10 ms of silence when two are. */
static void little_owed_is_granted_after_a_while(void **state)
{
	const struct rr_conn_config cfg = {.credits = 32};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	rr_time t;

	raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000000");
	side_forget_sent(s);
	raw_receive(s, "00000000 00000002 00200001 00000001 00000000" EMPTY);
	raw_receive(s, "00000000 00000002 00200001 00000001 00000000" EMPTY);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER); /* one is owed */
	raw_receive(s, "00000000 00000002 00200001 00000001 00000000" EMPTY);
	t = rr_conn_deadline(s->c);
	assert_int_equal(t, s->now + RR_MS(10));
	s->now = t;
	rr_conn_tick(s->c, t);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	assert_memory_equal(s->sent[0].p + 8, "\0\x20\0\x03", 4);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
}

#define CALL_2(xid)                                                                    \
	xid " 00000002 00200001 00000000 00000000" EMPTY xid                           \
	    " 00000000 00000002 000186a3 00000003 00000000"

struct parked {
	struct rr_request *r[8];
	unsigned n;
};

static void park(struct side *s, struct rr_request *r)
{
	struct parked *p = s->app;

	p->r[p->n++] = r;
}

static void answer_first(struct side *s)
{
	struct parked *p = s->app;
	struct rr_request *r = p->r[0];
	uint8_t words[24] = {0};
	const struct rr_piece piece = {words, sizeof(words), false};

	memmove(p->r, p->r + 1, --p->n * sizeof(p->r[0]));
	rr_store_u32(words, r->xid);
	rr_store_u32(words + 4, 1);
	rr_conn_reply(s->c, r, &piece, 1, s->now);
	side_drain(s);
	side_complete_all(s);
}

static unsigned low_half(const struct side_msg *m)
{
	return (unsigned)m->p[10] << 8 | m->p[11];
}

/* V2-4.2.1.1-08: no credits for Calls that could not be served. */
static void credits_are_withheld_while_all_is_served(void **state)
{
	const struct rr_conn_config cfg = {.credits = 32, .max_requests = 4};
	struct parked p = {.n = 0};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	s->app = &p;
	s->on_request = park;
	raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000000");
	assert_memory_equal(s->sent[0].p + 8, "\0\x04\0\x04", 4);
	side_forget_sent(s);
	for (unsigned i = 0; i < 3; i++) /* this credit and three more are owed */
		raw_receive(s, "00000000 00000002 00200001 00000001 00000000" EMPTY);
	side_forget_sent(s);
	raw_receive(s, CALL_2("00000011"));
	raw_receive(s, CALL_2("00000012"));
	raw_receive(s, CALL_2("00000013"));
	raw_receive(s, CALL_2("00000014"));
	assert_int_equal(p.n, 4);
	assert_int_equal(s->n_sent, 0);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	answer_first(s); /* hands back the one */
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(low_half(&s->sent[0]), 1);
	/* in the middle of a message credits flow all the same */
	raw_receive(s, "00000015 00000002 00200001 00000000 00000002" EMPTY
	               "00000015 00000000 00000002 000186a3 00000003 00000000");
	raw_receive(s, "00000015 00000002 00200001 00000000 00000002" EMPTY "00000000");
	assert_true(s->n_sent > 1);
	assert_true(low_half(&s->sent[1]) > 1);
	raw_receive(s, "00000015 00000002 00200001 00000000 00000000" EMPTY "00000000");
	assert_int_equal(p.n, 4);
	raw_receive(s, CALL_2("00000016")); /* too many: it waits */
	assert_int_equal(p.n, 4);
	while (p.n)
		answer_first(s);
	assert_int_equal(s->requested, 6);
	raw_end(s);
}

static unsigned calls_sent(const struct side *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_sent; i++)
		n += s->sent[i].p[15] == RDMA2_MSG && !(s->sent[i].p[19] & 1);
	return n;
}

/* The last credit is for the Reply that is owed, unless ceilings are very low. */
static void a_credit_stays_for_replies(void **state)
{
	static const struct {
		const char *first;
		unsigned calls;
	} t[] = {
	        {"00000001 00000002 00080002 00000005 00000000 00000000", 1},
	        {"00000001 00000002 00030002 00000005 00000000 00000000", 2},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct load *l = calloc(1, sizeof(*l));
		const struct rr_conn_config cfg = {.rvrsdir = RDMA2_RVRSDIR_GENL,
		                                   .credits = 8};
		struct parked p = {.n = 0};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

		s->app = &p;
		s->on_request = park;
		raw_receive(s, t[i].first);
		side_forget_sent(s);
		raw_receive(s, "00000011 00000002 00080000 00000000 00000000" EMPTY
		               "00000011 00000000 00000002 000186a3 00000003 00000000");
		queue_calls(s, l, 2);
		assert_int_equal(p.n, 1);
		assert_int_equal(calls_sent(s), t[i].calls);
		answer_first(s);
		assert_int_equal(s->sent[s->n_sent - 1].p[19] & 1, i == 0);
		raw_end(s);
		free(l);
	}
}

/* A client that has said nothing costs little: it has one credit.  Then a peer that
 * sends without credit: the Receives last for H + limit + 2. */
static void receives_stand_from_the_start(void **state)
{
	const struct rr_conn_config cfg = {.credits = 7, .send_credits = 9};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	assert_int_equal(s->posted_tail - s->posted_head, RR_FIRST_RECEIVES);
	for (unsigned i = 0; i < 1000; i++) {
		raw_receive(s, "00000055 00000002 00200001 00000001 00000000" EMPTY);
		assert_int_equal(s->posted_tail - s->posted_head, 7 + 9 + 2);
		side_forget_sent(s);
	}
	raw_end(s);
}

/* [M1]: in a sequence that waits for credits, grants go on being received, and
 * an error waits for its end. */
static void errors_wait_for_the_end_of_a_sequence(void **state)
{
	static uint8_t words[12000] = {0, 0, 0, 0x99};
	struct rr_piece p = {words, sizeof(words), false};
	struct rr_call call = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);

	side_forget_sent(s);
	raw_receive(s, "00000001 00000002 00200001 00000005 00000000 00000000");
	assert_int_equal(rr_conn_call(s->c, &call, s->now), 0);
	side_drain(s);
	side_complete_all(s);
	assert_int_equal(s->n_sent, 1);
	raw_receive(s, "00000055 00000002 00200001 00000007 00000000");
	assert_int_equal(s->n_sent, 2);
	raw_receive(s, "00000000 00000002 00200002 00000001 00000000" EMPTY);
	assert_int_equal(s->n_sent, 4);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(s->sent[i].p[15], RDMA2_MSG);
	assert_int_equal(s->sent[0].p[19], RDMA2_F_MORE);
	assert_int_equal(s->sent[2].p[19], 0);
	assert_int_equal(s->sent[3].p[15], RDMA2_ERROR);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(first_word_grants_the_ceiling),
	        cmocka_unit_test(surplus_is_owed),
	        cmocka_unit_test(a_group_uses_credits_that_are_owed),
	        cmocka_unit_test(strange_words_do_no_harm),
	        cmocka_unit_test(configured_values_are_clamped),
	        cmocka_unit_test(no_more_sends_than_granted),
	        cmocka_unit_test(no_grant_is_zero),
	        cmocka_unit_test(much_owed_is_granted_at_once),
	        cmocka_unit_test(little_owed_is_granted_after_a_while),
	        cmocka_unit_test(credits_are_withheld_while_all_is_served),
	        cmocka_unit_test(a_credit_stays_for_replies),
	        cmocka_unit_test(receives_stand_from_the_start),
	        cmocka_unit_test(errors_wait_for_the_end_of_a_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
