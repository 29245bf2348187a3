/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that want our memory and never give anything back.  Each abuse goes
 * on far longer than any limit; what the connection holds is measured at its
 * peak and must stay below a ceiling computed from the limits configured, or
 * the connection must have ended by then.          [v2 §11.1.4, §7.4, M7, C9]
 *
 * Afterwards, if the connection lives, a plain Call is still served.
 */
#include "test_conn_raw.h"

enum {
	LIMIT = 1 << 20,  /* of a message, of a chunk */
	PINNED = 3 << 20, /* of all that is pulled and reassembled */
	REQUESTS = 40,
	TURNS = 256, /* Calls that wait to be served */
	ERRORS = 64, /* most that wait for a credit [C9] */
	/* A request beside its payload: its state, its lists, a Receive. */
	PER_REQUEST = 12 << 10,
	SLACK = 64 << 10,
};

static const struct rr_conn_config limits = {
        .max_message_bytes = LIMIT,
        .max_chunk_bytes = LIMIT,
        .max_held_bytes = PINNED,
        .max_requests = REQUESTS,
        .max_segments = 64,
};

struct meter {
	struct side *s;
	size_t base, peak;
};

static struct meter begin(enum rr_conn_role role)
{
	struct side *s = raw_ready(role, &limits);

	return (struct meter){s, s->mem_used, s->mem_used};
}

/* One message; what it was answered with is not looked at. */
static void abuse(struct meter *m, const char *hex)
{
	uint8_t buf[8192];
	size_t n = raw_octets(hex, buf, sizeof(buf));

	side_receive(m->s, buf, n, 0);
	m->peak = RR_MAX(m->peak, m->s->mem_used);
	side_forget_sent(m->s);
}

static void sends_complete(struct meter *m)
{
	side_complete_all(m->s);
	m->peak = RR_MAX(m->peak, m->s->mem_used);
	side_forget_sent(m->s);
}

static void expect_below(const struct meter *m, size_t ceiling)
{
	size_t grown = m->peak - m->base;

	if (grown > ceiling)
		fail_msg("%zu octets above the base of %zu, more than %zu", grown,
		         m->base, ceiling);
}

static void on_request(struct side *s, struct rr_request *r)
{
	static uint8_t words[16];
	const struct rr_piece p = {words, sizeof(words), false};

	raw_octets("00000000 00000001 00000000 00000000", words, sizeof(words));
	rr_store_u32(words, r->xid);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

static void expect_service(struct meter *m)
{
	side_forget_sent(m->s);
	m->s->on_request = on_request;
	raw_receive(m->s, "00000099" MSG EMPTY CALL("00000099"));
	assert_false(m->s->disconnect);
	assert_true(m->s->n_sent > 0);
	raw_expect(m->s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	side_forget_sent(m->s);
}

static void end(struct meter *m)
{
	raw_end(m->s);
}

/* A part of a Call with 4000 octets. */
static const char *part(uint32_t xid)
{
	static char hex[9000];
	int n = sprintf(hex, "%08x" MSG_MORE EMPTY "%08x 00000000", xid, xid);

	memset(hex + n, '7', 8000 - 16);
	hex[n + 8000 - 16] = 0;
	return hex;
}

/* V2-11.1.4, [M7]: sequences that never end: one at a time, up to the limit. */
static void sequences_without_end(void **state)
{
	struct meter m = begin(RR_CONN_SERVER);
	size_t once = 0;

	for (uint32_t xid = 1; xid <= 12; xid++) {
		for (unsigned i = 0; i < 2 * LIMIT / 4000; i++) {
			abuse(&m, part(xid));
			sends_complete(&m);
		}
		abuse(&m, "00000000" NOMSG EMPTY);
		/* a refused sequence is remembered until its end [M3] */
		if (m.s->disconnect)
			break;
		if (!once)
			once = m.peak;
		assert_in_range(m.peak, once, once + 4096); /* nothing accumulates */
	}
	/* while a reassembly grows, the old memory and the new are there */
	expect_below(&m, LIMIT + LIMIT / 2 + SLACK);
	if (!m.s->disconnect)
		expect_service(&m);
	end(&m);
}

/* Sequences begun, one after the other, and left: [M2] refuses each but the first. */
static void sequences_begun_and_left(void **state)
{
	struct meter m = begin(RR_CONN_SERVER);

	for (uint32_t xid = 1; xid < 10000 && !m.s->disconnect; xid++) {
		abuse(&m, part(xid));
		sends_complete(&m);
	}
	raw_expect_close(m.s, -EPROTO);
	expect_below(&m, 2 * 16384 + SLACK);
	end(&m);
}

/* V2-7.4, [C9]: Calls whose replies find no credit, for ever: the requests served
 * are bounded, and those that wait, then the errors, then the connection ends. */
static void calls_without_credit_for_replies(void **state)
{
	struct meter m = begin(RR_CONN_SERVER);
	unsigned n = 0;

	m.s->on_request = on_request;
	for (; n < 10000 && !m.s->disconnect; n++) {
		char hex[200];

		sprintf(hex,
		        "%08x 00000002 00200000 00000000 00000000" EMPTY
		        "%08x 00000000 00000002 000186a3 00000003 00000000",
		        n + 1, n + 1);
		abuse(&m, hex);
		sends_complete(&m);
	}
	raw_expect_close(m.s, -EPROTO);
	/* 31 credits left of 32, then those, then one more */
	assert_in_range(n, REQUESTS + TURNS + ERRORS,
	                32 + REQUESTS + TURNS + ERRORS + 1);
	expect_below(&m, (REQUESTS + TURNS) * PER_REQUEST + SLACK);
	end(&m);
}

/* A Call with a Read chunk of 256 KiB, or a Special one of that length. */
static void chunk_call(char *hex, uint32_t xid, bool special)
{
	if (special)
		sprintf(hex, "%08x" NOMSG "00000000" READ("00000000", "00040000") EMPTY,
		        xid);
	else
		sprintf(hex,
		        "%08x" MSG "00000000" READ(
		                "00000010", "00040000") "00000000 00000000 00000000"
		                                        "%08x 00000000 00000002 "
		                                        "000186a3 00000003 00000000",
		        xid, xid);
}

/* V2-11.1.4-01, -02: chunks offered whose Reads are never answered: what is
 * pulled at once is bounded, and so is what waits for its turn. */
static void reads_never_answered(bool special)
{
	struct meter m = begin(RR_CONN_SERVER);
	struct rr_conn_counters count;

	m.s->hold_reads = true;
	for (unsigned n = 0; n < 3000; n++) {
		uint8_t buf[200];
		char hex[400];

		chunk_call(hex, n + 1, special);
		side_receive(m.s, buf, raw_octets(hex, buf, sizeof(buf)), 0);
		m.peak = RR_MAX(m.peak, m.s->mem_used);
		sends_complete(&m);
		assert_false(m.s->disconnect);
	}
	rr_conn_counters(m.s->c, &count);
	assert_int_equal(count.errors_sent, 3000 - REQUESTS - TURNS);
	assert_int_equal(m.s->n_reads, PINNED / (256 << 10));
	expect_below(&m, PINNED + (REQUESTS + TURNS) * PER_REQUEST + SLACK);
	end(&m);
}

static void read_chunks_never_answered(void **state)
{
	reads_never_answered(false);
}

static void special_calls_never_answered(void **state)
{
	reads_never_answered(true);
}

/* V2-11.1.4-01: too large is refused before anything is taken or read. */
static void chunks_beyond_the_limit(void **state)
{
	static const char *const large[] = {
	        "00000055" MSG
	        "00000000" READ("00000010",
	                        "00100001") "00000000 00000000 00000000" CALL("000000"
	                                                                      "55"),
	        "00000055" NOMSG "00000000" READ("00000000", "00100004") EMPTY,
	        "00000055" MSG "00000000" READ("00000010", "000c0000")
	                READ("00000010",
	                     "00040001") "00000000 00000000 00000000" CALL("00000055"),
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(large); i++) {
		struct meter m = begin(RR_CONN_SERVER);

		for (unsigned n = 0; n < 1000; n++) {
			raw_receive(m.s, large[i]);
			m.peak = RR_MAX(m.peak, m.s->mem_used);
			raw_expect(m.s, ERR("00000055", "00000064"));
		}
		assert_int_equal(m.s->n_reads, 0);
		assert_int_equal(m.s->admitted, 0);
		expect_below(&m, SLACK);
		expect_service(&m);
		end(&m);
	}
}

/* Messages that ask for nothing, for ever: what they take is given back. */
static void floods_leave_nothing(void **state)
{
	static const char *const flood[] = {
	        "00000000" NOMSG EMPTY,                       /* grants */
	        "00000055" ERRORMSG "00000002",               /* errors about nothing */
	        "00000055" ERRORMSG "0000000b",               /* of unknown kind */
	        "00000055" ERRORMSG "00000009 0000",          /* cut */
	        "00000055" CONNPROP "00000000",               /* late properties */
	        "00000055" MSG_REPLY EMPTY REPLY("00000055"), /* Replies to nothing */
	        "00000055" MSG "00000000",                    /* malformed Calls */
	        "0000",                                       /* hardly a message */
	        "00000055" V2 "00000077 00000000",            /* unknown types */
	};

	for (unsigned i = 0; i < 2 * RR_ARRAY_SIZE(flood); i++) {
		struct meter m = begin(i & 1 ? RR_CONN_CLIENT : RR_CONN_SERVER);
		size_t once;

		abuse(&m, flood[i / 2]);
		sends_complete(&m);
		once = m.peak;
		for (unsigned n = 0; n < 20000; n++) {
			abuse(&m, flood[i / 2]);
			sends_complete(&m);
		}
		assert_false(m.s->disconnect);
		assert_int_equal(m.peak, once);
		expect_below(&m, SLACK);
		end(&m);
	}
}

/* Grants beyond all measure are worth no more than the limit. */
static void grants_beyond_measure(void **state)
{
	struct meter m = begin(RR_CONN_SERVER);
	struct rr_conn_info i;

	for (unsigned n = 0; n < 1000; n++) {
		abuse(&m, "00000000 00000002 7fff7fff 00000001 00000000" EMPTY);
		sends_complete(&m);
		rr_conn_info(m.s->c, &i);
		assert_true(i.avail <= i.cap && i.cap <= 32 && i.owed <= 32);
	}
	expect_below(&m, SLACK);
	expect_service(&m);
	end(&m);
}

/* The Requester too: Replies in parts without end, to a call that is there. */
static void a_reply_without_end(void **state)
{
	static uint8_t words[40];
	const struct rr_piece p = {words, sizeof(words), false};
	struct meter m = begin(RR_CONN_CLIENT);
	char hex[9000];
	int n;

	n = sprintf(hex, "00000055" MSG_REPLY_MORE EMPTY "00000055 00000001");
	memset(hex + n, '0', 8000);
	hex[n + 8000] = 0;
	rr_store_u32(words, 0x55);
	for (unsigned k = 0; k < 3; k++) {
		struct rr_call call = {.xid = 0x55, .pieces = &p, .n_pieces = 1};

		assert_int_equal(rr_conn_call(m.s->c, &call, m.s->now), 0);
		side_drain(m.s);
		sends_complete(&m);
		for (unsigned i = 0; i < 2 * LIMIT / 4000; i++) {
			abuse(&m, hex);
			sends_complete(&m);
		}
		assert_int_equal(m.s->calls_done, k); /* it may invalidate at its end */
		raw_receive(m.s, "00000055" MSG_REPLY EMPTY "00000000");
		assert_int_equal(m.s->calls_done, k + 1);
		assert_int_equal(call.status, -EOVERFLOW);
		side_forget_sent(m.s);
	}
	expect_below(&m, LIMIT + LIMIT / 2 + SLACK);
	assert_false(m.s->disconnect);
	end(&m);
}

/* Errors that nobody takes from the wire: the peer grants and sends, and never
 * reads, so that no Send of ours completes.  They stop, then the errors wait,
 * then the connection ends.                                        [C9, v2 §7.4] */
static void errors_never_taken(void **state)
{
	struct meter m = begin(RR_CONN_SERVER);
	unsigned n = 0;

	for (; n < 3000 && !m.s->disconnect; n++)
		abuse(&m, "00000055" MSG "00000000");
	raw_expect_close(m.s, -EPROTO);
	/* twice the credits and as many as may wait, out; then those that wait */
	assert_in_range(n, 2 * 32 + ERRORS, 2 * 32 + 2 * ERRORS + 1);
	expect_below(&m, (2 * 32 + ERRORS) * 2048 + SLACK);
	end(&m);
}

/* The same with Calls that are served, then refused for their number: nothing is
 * sent beyond the limit, and when the Sends complete the rest follows. */
static void replies_never_taken(void **state)
{
	struct meter m = begin(RR_CONN_SERVER);
	struct rr_conn_counters n;

	m.s->on_request = on_request;
	for (unsigned i = 0; i < 2 * 32 + ERRORS + REQUESTS; i++) {
		char hex[200];

		sprintf(hex,
		        "%08x" MSG EMPTY "%08x 00000000 00000002 000186a3 00000003",
		        i + 1, i + 1);
		abuse(&m, hex);
	}
	rr_conn_counters(m.s->c, &n);
	assert_in_range(n.sends, 2 * 32 + ERRORS, 2 * 32 + ERRORS + 2);
	assert_false(m.s->disconnect);
	sends_complete(&m);
	sends_complete(&m);
	rr_conn_counters(m.s->c, &n);
	assert_true(n.sends >= 2 * 32 + ERRORS + 32); /* as far as credits go */
	assert_false(m.s->disconnect);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(sequences_without_end),
	        cmocka_unit_test(sequences_begun_and_left),
	        cmocka_unit_test(calls_without_credit_for_replies),
	        cmocka_unit_test(read_chunks_never_answered),
	        cmocka_unit_test(special_calls_never_answered),
	        cmocka_unit_test(chunks_beyond_the_limit),
	        cmocka_unit_test(floods_leave_nothing),
	        cmocka_unit_test(grants_beyond_measure),
	        cmocka_unit_test(a_reply_without_end),
	        cmocka_unit_test(errors_never_taken),
	        cmocka_unit_test(replies_never_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
