/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder-provided Read chunks, the Responder: which replies become one, and what it
 * looks like.  The property of both roles.      [ext §2.4, §3.1 to §3.3, §3.8, §3.10]
 */
#include "test_conn_rprc.h"

/* -- the property ---------------------------------------------------------- */

/* Returns the index of the first of the three words, or 0. */
static unsigned find_rprc(const struct side_msg *m)
{
	for (unsigned i = 6; 4 * (size_t)i + 20 <= m->len; i++)
		if (spec_word(m, i) == 0xffffff21) {
			assert_int_equal(spec_word(m, i + 1), 12);
			return i + 2;
		}
	return 0;
}

/* RR-P-01, RR-P-12, RR-7-04: flags by what the connection can do, the lifetime, and
 * max_pull. */
static void the_property_says_what_the_end_can_do(void **state)
{
	static const struct {
		bool read, be_read, none, alone;
		uint32_t words[3];
	} row[] = {
	        {true, true, false, false, {7, 10000, 1 << 20}},
	        {true, true, true, false, {7, 0, 1 << 20}},
	        {true, true, false, true, {3, 10000, 1 << 20}},
	        {false, true, false, false, {6, 10000, 0}},
	        {true, false, false, false, {1, 0, 1 << 20}},
	        {false, false, false, false, {0}},
	};

	for (unsigned i = 0; i < 2 * RR_ARRAY_SIZE(row); i++) {
		const struct rr_conn_config cfg = {
		        .features = {.on = 1u << RR_FEATURE_RPRC,
		                     .max_pull = 1 << 20,
		                     .rprc_no_lifetime = row[i / 2].none,
		                     .rprc_no_piggyback = row[i / 2].alone}};
		struct side *s;
		const struct side_msg *m =
		        rprc_own_props(&cfg, i & 1 ? RR_CONN_SERVER : RR_CONN_CLIENT,
		                       row[i / 2].read, row[i / 2].be_read, &s);
		unsigned at = find_rprc(m);

		assert_int_equal(at != 0, row[i / 2].words[0] != 0);
		for (unsigned w = 0; at && w < 3; w++)
			assert_int_equal(spec_word(m, at + w), row[i / 2].words[w]);
		raw_end(s);
	}
}

/* RR-P-01 [ext §2.4]: nothing of a feature that is switched off; a lifetime that the
 * property cannot say is the shortest that it can. */
static void the_property_is_sent_only_if_switched_on(void **state)
{
	const struct rr_conn_config off = {.features.rprc_lifetime_ms = 2000};
	const struct rr_conn_config brief = {
	        .features = {.on = 1u << RR_FEATURE_RPRC, .rprc_lifetime_ms = 1}};
	const struct rr_conn_config large = {
	        .features = {.on = 1u << RR_FEATURE_RPRC, .max_pull = UINT64_MAX},
	        .max_held_bytes = UINT64_MAX};
	struct side *s;
	const struct side_msg *m = rprc_own_props(&off, RR_CONN_CLIENT, true, true, &s);

	assert_int_equal(find_rprc(m), 0);
	raw_end(s);
	m = rprc_own_props(&brief, RR_CONN_CLIENT, true, true, &s);
	assert_int_equal(spec_word(m, find_rprc(m) + 1), 1000);
	raw_end(s);
	m = rprc_own_props(&large, RR_CONN_CLIENT, true, true, &s);
	assert_int_equal(spec_word(m, find_rprc(m) + 2), UINT32_MAX);
	raw_end(s);
}

/* RR-P-02: and no property of that message applies. */
static void a_faulty_property_is_refused(void **state)
{
	static const char *const bad[] = {
	        RPRC("4", "00000000", "00000000"),
	        RPRC("5", "00000000", "00000000"),
	        RPRC("2", "00000001", "00000000"),
	        RPRC("2", "000003e7", "00000000"),
	        "ffffff21 00000008 00000003 00002710",
	        "ffffff21 00000010 00000003 00002710 00000000 00000000"};
	const struct rr_conn_config cfg = {
	        .features = {.on = 1u << RR_FEATURE_RPRC, .cont_max_sends = 1}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(bad); i++) {
		struct side *s = raw_new(RR_CONN_SERVER, &cfg);
		char hex[300] = "00000077 00000002 00200020 00000005 00000004 "
		                "00000002 ffffff21 0000000c "
		                "00000001 00000000 00000000 ";

		raw_receive(s, strcat(hex, bad[i]));
		assert_int_equal(s->n_sent, 2);
		raw_skip(s); /* our own */
		raw_expect(s, "00000077" ERRORMSG "00000003");
		raw_receive(s, "00000078" CONNPROP "00000000");
		s->on_request = raw_hold;
		rprc_expose(s, 8192);
		assert_int_equal(rprc_counters(s).rprc_exposed, 0);
		raw_end(s);
	}
}

/* RR-P-02 [ext §2.4]: no data means the default, and unknown bits mean nothing. */
static void an_empty_property_is_the_default(void **state)
{
	static const struct {
		const char *props;
		unsigned exposed;
	} row[] = {{"00000002 ffffff21 0000000c 00000001 00000000 00000000 "
	            "ffffff21 00000000",
	            0},
	           {"00000001 ffffff21 0000000c ffffff09 00000001 00000000", 1}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = rprc_exposer(NULL, row[i].props);

		rprc_expose(s, 8192);
		assert_int_equal(rprc_counters(s).rprc_exposed, row[i].exposed);
		raw_end(s);
	}
}

/* RR-6-01, RR-4.1.1-01: of four combinations one. */
static void both_ends_must_support_it(void **state)
{
	static const char *const props[] = {"00000000", PULLS};
	static const struct rr_conn_config cfg[2] = {
	        {.features.cont_max_sends = 1},
	        {.features = {.on = 1u << RR_FEATURE_RPRC, .cont_max_sends = 1}}};

	for (unsigned i = 0; i < 4; i++) {
		struct side *s =
		        raw_ready_by(RR_CONN_SERVER, &cfg[i & 1], props[i >> 1]);

		s->on_request = raw_hold;
		rprc_expose(s, 8192);
		assert_int_equal(rprc_counters(s).rprc_exposed, i == 3);
		assert_int_equal(spec_word(&s->sent[0], 3), i == 3);
		raw_end(s);
	}
}

/* -- the Reply ------------------------------------------------------------- */

/* RR-4.1-02, RR-4.1-03, RR-7-01, RR-7-02, RR-5.1.4-01, RR-4.1.1-01: four octets more
 * than fit.  The memory was registered, to be read only, before the Send. */
static void a_long_reply_is_one_read_chunk(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = rprc_exposer(&cfg, PULLS);
	const struct side_region *r;
	const struct side_msg *m;
	enum { LEN = 4096 - 36 + 4 };

	raw_receive(s, PLAIN_CALL);
	rprc_answer(s, LEN);
	m = &s->sent[0];
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->n_regions, 1);
	r = &s->region[0];
	assert_int_equal(r->access, RR_ACCESS_REMOTE_READ);
	assert_int_equal(r->len, LEN);
	assert_memory_equal(r->base, rprc_reply, LEN);
	assert_int_equal(m->len, 60);
	assert_int_equal(spec_word(m, 0), 0x55);
	assert_int_equal(spec_word(m, 3), 1);
	assert_int_equal(spec_flags(m), 1);
	assert_int_equal(spec_word(m, 5), r->handle);
	assert_int_equal(spec_word(m, 6), 1);
	assert_int_equal(spec_word(m, 7), 0);
	assert_int_equal(spec_word(m, 8), r->handle);
	assert_int_equal(spec_word(m, 9), LEN);
	assert_int_equal((uint64_t)spec_word(m, 10) << 32 | spec_word(m, 11),
	                 (uintptr_t)r->base);
	for (unsigned w = 12; w < 15; w++)
		assert_int_equal(spec_word(m, w), 0);
	raw_end(s);
}

/* RR-4.1.4-03: a handle is named only if the peer may invalidate it. */
static void no_handle_is_named_without_remote_invalidation(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);

	rprc_expose(s, 8192);
	assert_int_equal(spec_word(&s->sent[0], 5), 0);
	raw_end(s);
}

/* RR-4.1-04, RR-P-04: the item goes into the Write chunk, the rest is exposed.  The
 * Reply chunk, which is too short, is not returned. */
static void write_chunks_are_used_as_well(void **state)
{
	static const uint8_t item[1000];
	struct side *s = rprc_exposer(NULL, PULLS);
	const struct side_msg *m;
	struct rr_piece p[2];

	raw_receive(s, "00000055" MSG "00000000 00000000 "
	               "00000001 00000001" SEG(
	                       "000000ab", "00000800") "00000000 "
	                                               "00000001 00000001" SEG(
	                                                       "000000ac", "00001000")
	                                                       CALL("00000055"));
	rr_store_u32(rprc_reply, 0x55);
	rr_store_u32(rprc_reply + 4, 1);
	p[0] = (struct rr_piece){rprc_reply, 65536, false};
	p[1] = (struct rr_piece){item, sizeof(item), true};
	rr_conn_reply(s->c, raw_held, p, 2, s->now);
	side_drain(s);
	m = &s->sent[0];
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(m->n_writes, 1);
	assert_int_equal(s->writes[0].handle, 0xab);
	assert_int_equal(s->writes[0].len, sizeof(item));
	assert_int_equal(m->len, 60 + 24);
	assert_int_equal(spec_word(m, 3), 1);
	assert_int_equal(spec_word(m, 6), 1);
	assert_int_equal(spec_word(m, 9), 65536);
	assert_int_equal(spec_word(m, 13), 1);
	assert_int_equal(spec_word(m, 14), 1);
	assert_int_equal(spec_word(m, 15), 0xab);
	assert_int_equal(spec_word(m, 16), sizeof(item));
	assert_int_equal(spec_word(m, 19), 0);
	assert_int_equal(spec_word(m, 20), 0);
	raw_end(s);
}

/* RR-4.1-01, RR-P-13: segments of at most RSSIZ octets, at most RCSIZ of them. */
static void segments_respect_the_peers_limits(void **state)
{
	static const struct {
		const char *props;
		size_t len;
		uint32_t segments;
	} row[] = {
#define SIZES(rssiz, rcsiz)                                                            \
	"00000003 " RPRC("1", "00000000", "00000000") PROP("00000003", rssiz)          \
	        PROP("00000004", rcsiz)
	        {SIZES("00010000", "00000010"), 200 * 1024, 4},
	        {SIZES("00010000", "00000002"), 200 * 1024, 0},
	        {SIZES("00010000", "00000002"), 128 * 1024, 2},
	        {SIZES("00010000", "00000002"), 128 * 1024 + 4, 0},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = rprc_exposer(NULL, row[i].props);
		const struct side_msg *m = &s->sent[0];
		uint64_t sum = 0;

		rprc_expose(s, row[i].len);
		if (!row[i].segments) {
			assert_int_equal(spec_word(m, 3), 0);
			assert_int_equal(spec_flags(m), 3);
			raw_end(s);
			continue;
		}
		assert_int_equal(m->len, 36 + 24 * row[i].segments);
		for (unsigned k = 0; k < row[i].segments; k++) {
			assert_int_equal(spec_word(m, 7 + 6 * k), 0);
			assert_true(spec_word(m, 9 + 6 * k) <= 65536);
			sum += spec_word(m, 9 + 6 * k);
		}
		assert_int_equal(sum, row[i].len);
		raw_end(s);
	}
}

/* [ext §3.2]: runs are exposed where they lie if they are few, long and not padded, and
 * if the peer takes so many segments. */
static void runs_are_exposed_in_place_or_copied(void **state)
{
#define RCSIZ(n) "00000002 " RPRC("1", "00000000", "00000000") PROP("00000004", n)
	static const struct {
		const char *props;
		size_t len;
		unsigned runs, regions;
		uint64_t copied;
	} row[] = {{RCSIZ("00000010"), 65536, 1, 1, 0},
	           {RCSIZ("00000010"), 65536, 4, 4, 0},
	           {RCSIZ("00000010"), 65536, 5, 1, 65536},
	           {RCSIZ("00000010"), 16384, 4, 4, 0},
	           {RCSIZ("00000010"), 16380, 4, 1, 16380},
	           {RCSIZ("00000002"), 65536, 3, 1, 65536}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = rprc_exposer(NULL, row[i].props);

		raw_receive(s, PLAIN_CALL);
		rprc_answer_runs(s, row[i].len, row[i].runs);
		side_drain(s);
		side_complete_all(s);
		assert_int_equal(rprc_counters(s).rprc_exposed, 1);
		assert_int_equal(s->n_regions, row[i].regions);
		assert_int_equal(rprc_counters(s).bytes_copied, row[i].copied);
		/* A request whose memory is exposed stays with its user. */
		assert_int_equal(s->requests_done, row[i].copied != 0);
		raw_receive(s, DONE("00000055"));
		side_complete_all(s);
		rprc_expect_nothing(s);
		raw_end(s);
	}
}

/* [ext §3.2]: with the Write list of the Call the header, or our lists, are full. */
static void a_header_without_room_is_not_sent(void **state)
{
	static char hex[4000];
	const struct rr_conn_config cfg = {.segment_bytes = 4096, .max_segments = 64};

	for (unsigned writes = 4; writes <= 5; writes++) {
		struct side *s = rprc_exposer(
		        &cfg, "00000003 " RPRC("1", "00000000", "00000000")
		                      PROP("00000003", "00001000")
		                              PROP("00000004", "00000040"));
		char *end = stpcpy(hex, "00000055" MSG "00000000 00000000 00000001 ");

		end += sprintf(end, "%08x", writes);
		end = raw_repeat(end, SEG("000000ab", "00000004"), writes);
		(void)stpcpy(end, "00000000 00000000" CALL("00000055"));
		raw_receive(s, hex);
		rprc_answer(s, 60 * 4096);
		assert_int_equal(rprc_counters(s).rprc_exposed, writes == 4);
		raw_end(s);
	}
}

/* [ext §3.3 row 4]: the header of §3.2 just fits in the threshold, or just does not. */
static void a_header_beyond_the_threshold_is_not_sent(void **state)
{
	const struct rr_conn_config cfg = {
	        .segment_bytes = 4096, .max_segments = 64, .send_bytes = 1024};

	for (size_t n = 41; n <= 42; n++) {
		struct side *s = rprc_exposer(
		        &cfg, "00000003 " RPRC("1", "00000000", "00000000")
		                      PROP("00000003", "00001000")
		                              PROP("00000004", "00000040"));

		rprc_expose(s, n * 4096);
		assert_int_equal(rprc_counters(s).rprc_exposed, n == 41);
		assert_true(s->sent[0].len <= 1024);
		raw_end(s);
	}
}

/* [ext §3.2]: padding is part of the stream, and is not in the user's memory. */
static void a_padded_item_is_copied(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);
	struct rr_piece p[2];

	raw_receive(s, PLAIN_CALL);
	rr_store_u32(rprc_reply, 0x55);
	rr_store_u32(rprc_reply + 4, 1);
	p[0] = (struct rr_piece){rprc_reply, 8192, false};
	p[1] = (struct rr_piece){rprc_reply + 8192, 8191, true};
	rr_conn_reply(s->c, raw_held, p, 2, s->now);
	side_drain(s);
	assert_int_equal(s->n_regions, 1);
	assert_int_equal(s->region[0].len, 16384);
	assert_memory_equal(s->region[0].base, rprc_reply, 16383);
	assert_int_equal(s->region[0].base[16383], 0);
	raw_end(s);
}

/* -- the choice ------------------------------------------------------------ */

/* RR-4.1.1-03, RR-5.3.2-01, -02, -03, RR-4-03, RR-1-03, RR-4.1.1-01, -02, RR-3.1-01, -02,
 * RR-6-02, RR-4-01, RR-5.5-01: the first of six ways that is possible. */
static void the_first_possible_way_is_taken(void **state)
{
	enum { FITS = 4096 - 36 };
	static const struct {
		bool on, first;
		uint32_t sends, hard;
		size_t chunk, len;
		enum way way;
	} row[] = {
	        {true, false, 8, 0, 0, 1000, SIMPLE},
	        {true, false, 8, 0, 0, FITS, SIMPLE},
	        {true, false, 1, 0, 65536, 100, SIMPLE},
	        {true, true, 1, 0, 65536, 100, CHUNK},
	        {true, true, 1, 0, 64, 100, SIMPLE},
	        {true, false, 1, 0, 16384, 9216, CHUNK},
	        {true, false, 1, 0, 9216, 9216, CHUNK},
	        {true, false, 1, 0, 8192, 9216, EXPOSED},
	        {true, false, 1, 0, 0, FITS + 4, EXPOSED},
	        {true, false, 2, 0, 0, FITS + 4, PARTS},
	        {true, false, 2, 0, 0, 2 * FITS, PARTS},
	        {true, false, 2, 0, 0, 2 * FITS + 4, EXPOSED},
	        {true, false, 8, 0, 8192, 8 * FITS, PARTS},
	        {true, false, 8, 0, 8192, 8 * FITS + 4, EXPOSED},
	        {false, false, 1, 0, 0, FITS + 4, PARTS},
	        {false, false, 1, 2, 0, 2 * FITS, PARTS},
	        {false, false, 1, 2, 0, 2 * FITS + 4, TOO_LONG},
	        {false, false, 1, 1, 0, FITS + 4, TOO_LONG},
	        {false, false, 1, 1, 1024, 5000, TOO_LONG},
	        {true, false, 1, 1, 1024, 5000, EXPOSED},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		const struct rr_conn_config cfg = {
		        .max_segments = 64,
		        .features = {.cont_max_sends = row[i].sends,
		                     .cont_hard_max = row[i].hard,
		                     .reply_chunk_first = row[i].first}};
		struct side *s = rprc_exposer(&cfg, row[i].on ? PULLS : "00000000");
		char hex[400];

		(void)snprintf(hex, sizeof(hex),
		               "%s00000000 00000000 00000000 00000001 00000001 "
		               "000000ac %08zx 00000000 00010000%s",
		               "00000055" MSG, row[i].chunk, CALL("00000055"));
		raw_receive(s, row[i].chunk ? hex : PLAIN_CALL);
		rprc_answer(s, row[i].len);
		assert_int_equal(rprc_way(s), row[i].way);
		assert_int_equal(s->n_writes, row[i].way == CHUNK);
		if (row[i].way == TOO_LONG)
			assert_int_equal(spec_word(&s->sent[0], 6), row[i].len);
		side_complete_all(s);
		side_forget_sent(s);
		s->on_request = raw_answer_call;
		raw_expect_service(s);
		raw_end(s);
	}
}

/* RR-P-03: what the peer would not pull. */
static void a_reply_that_the_peer_would_not_pull_is_not_exposed(void **state)
{
	static const char *const one_mib =
	        "00000001 " RPRC("1", "00000000", "00100000");

	for (unsigned hard = 0; hard < 2; hard++) {
		const struct rr_conn_config cfg = {.features.cont_hard_max = hard};
		struct side *s = rprc_exposer(&cfg, one_mib);

		rprc_expose(s, 1 << 20);
		assert_int_equal(rprc_way(s), EXPOSED);
		side_forget_sent(s);
		raw_receive(s, "00000057" MSG EMPTY CALL("00000057"));
		rprc_answer(s, 2 << 20);
		assert_int_equal(rprc_way(s), hard ? TOO_LONG : PARTS);
		if (hard)
			assert_int_equal(spec_word(&s->sent[0], 6), 2 << 20);
		raw_end(s);
	}
}

static uint64_t given_back;

static bool no_budget(void *ctx, uint64_t bytes, bool in_place)
{
	return bytes < 10000;
}

static void give_back(void *ctx, uint64_t bytes, bool in_place)
{
	given_back += bytes;
}

/* RR-5.4.3-05: full by number, by octets, by those of the endpoint. */
static void a_full_table_lets_replies_be_continued(void **state)
{
	const struct rr_conn_config cfg[] = {
	        {.features.rprc_max_pending = 1},
	        {.features.rprc_max_bytes = 12000},
	        {.exposure_budget = {.take = no_budget, .give = give_back}},
	};

	given_back = 0;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(cfg); i++) {
		struct side *s = rprc_exposer(&cfg[i], PULLS);

		rprc_expose(s, 8192);
		assert_int_equal(rprc_way(s), EXPOSED);
		side_forget_sent(s);
		raw_receive(s, "00000057" MSG EMPTY CALL("00000057"));
		rprc_answer(s, 12000);
		assert_int_equal(rprc_way(s), PARTS);
		side_complete_all(s);
		side_forget_sent(s);
		raw_receive(s, DONE("00000055"));
		side_complete_all(s);
		raw_receive(s, "00000058" MSG EMPTY CALL("00000058"));
		rprc_answer(s, 8192);
		assert_int_equal(rprc_way(s), EXPOSED);
		raw_end(s);
	}
	assert_int_equal(given_back, 2 * 8192);
}

/* -- registrations that fail ----------------------------------------------- */

/* [ext §3.8]: the reply goes another way, after its Writes. */
static void a_reply_that_cannot_be_registered_goes_another_way(void **state)
{
	for (unsigned hard = 0; hard < 2; hard++) {
		const struct rr_conn_config cfg = {.features.cont_hard_max = hard};
		struct side *s = rprc_exposer(&cfg, PULLS);

		s->fail_register = -ENOMEM;
		raw_receive(s, PLAIN_CALL);
		rprc_answer(s, 8192);
		assert_int_equal(rprc_way(s), hard ? TOO_LONG : PARTS);
		side_complete_all(s);
		rprc_expect_nothing(s);
		assert_int_equal(rprc_counters(s).rprc_exposed, 0);
		assert_int_equal(rprc_counters(s).bytes_continued, hard ? 0 : 8192);
		raw_end(s);
	}
}

/* [ext §3.8]: of three runs the last cannot be registered.  The memory of the others is
 * lent until it is invalid, however the reply is sent. */
static void memory_is_lent_until_it_is_invalid(void **state)
{
	for (unsigned hard = 0; hard < 2; hard++) {
		const struct rr_conn_config cfg = {.features.cont_hard_max = hard};
		struct side *s = rprc_exposer(&cfg, PULLS);

		raw_receive(s, PLAIN_CALL);
		s->fail_register_at = 3;
		rprc_answer_runs(s, 24576, 3);
		side_drain(s);
		assert_int_equal(s->n_regions, 0);     /* at the provider ... */
		assert_int_equal(s->requests_done, 0); /* ... which has not said so */
		side_complete_all(s);
		assert_int_equal(rprc_way(s), hard ? TOO_LONG : PARTS);
		rprc_expect_nothing(s);
		assert_int_equal(s->requests_done, 1);
		raw_end(s);
	}
}

/* [ext §3.8]: no memory for the entry, for the copy, for the lists. */
static void no_memory_for_an_exposure(void **state)
{
	for (unsigned n = 1; n <= 3; n++)
		for (unsigned runs = 1; runs <= 5; runs += 4) {
			struct side *s = rprc_exposer(NULL, PULLS);

			raw_receive(s, PLAIN_CALL);
			s->mem_fail_at = n;
			rprc_answer_runs(s, 65536, runs);
			side_drain(s);
			side_complete_all(s);
			if (!s->mem_fail_at && !s->disconnect)
				assert_int_equal(rprc_way(s), PARTS);
			s->mem_fail_at = 0;
			if (!s->disconnect && rprc_way(s) == PARTS)
				rprc_expect_nothing(s);
			raw_end(s);
		}
}

/* -- properties refused late ----------------------------------------------- */

/* [ext §2.4]: the peer refuses our properties after it has sent its own.  Nothing more
 * is exposed, and what is exposed still ends. */
static void a_late_refusal_ends_the_use(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);
	struct rr_conn_info i;

	rprc_expose(s, 8192);
	side_forget_sent(s);
	raw_receive(s, "00009000" ERRORMSG "00000003");
	rr_conn_info(s->c, &i);
	assert_int_equal(i.features, 0);
	raw_receive(s, "00000057" MSG EMPTY CALL("00000057"));
	rprc_answer(s, 8192);
	assert_int_equal(rprc_way(s), PARTS);
	side_complete_all(s);
	assert_int_equal(s->n_regions, 1);
	rprc_pass_time(s, RR_SEC(10));
	rprc_expect_nothing(s);
	raw_end(s);
}

/* -- reverse direction, version 1 ------------------------------------------ */

/* RR-P-10: by the level that the client advertised. */
static void a_client_exposes_at_level_3(void **state)
{
	static const enum way way[] = {[1] = TOO_LONG, [2] = PARTS, [3] = EXPOSED};

	for (uint32_t level = 1; level <= 3; level++) {
		const struct rr_conn_config cfg = {
		        .rvrsdir = level,
		        .features = {.on = 1u << RR_FEATURE_RPRC, .cont_max_sends = 1}};
		struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, PULLS);

		s->on_request = raw_hold;
		rprc_expose(s, 8192);
		assert_int_equal(rprc_way(s), way[level]);
		raw_end(s);
	}
}

/* RR-P-10: the server reads the client's Reply at level 3 only. */
static void a_server_pulls_at_level_3(void **state)
{
	for (uint32_t level = 2; level <= 3; level++) {
		const struct rr_conn_config cfg = {.features.on = 1u
		                                                  << RR_FEATURE_RPRC};
		struct spec_call *k = spec_new(0x55, 0);
		struct side *s;
		char props[200];

		(void)snprintf(props, sizeof(props),
		               "00000002 %s00000005 00000004 %08x",
		               RPRC("2", "00002710", "00000000"), level);
		s = raw_ready_by(RR_CONN_SERVER, &cfg, props);
		rr_store_u32(rprc_reply, 0x55);
		rr_store_u32(rprc_reply + 4, 1);
		s->read_from = rprc_reply;
		spec_start(s, k);
		side_forget_sent(s);
		raw_receive(s, "00000055" NOMSG_REPLY "00000000" READ(
		                       "00000000",
		                       "00002000") "00000000 00000000 00000000");
		assert_int_equal(s->n_reads, level == 3);
		assert_int_equal(k->call.status, level == 3 ? RR_CALL_OK : -EPROTO);
		raw_expect(s, DONE("00000055"));
		rr_conn_call_release(s->c, &k->call, s->now);
		spec_end(s, k);
	}
}

/* RR-P-11 */
static void version_1_has_no_read_chunks_in_replies(void **state)
{
	const struct rr_conn_config cfg = {
	        .versions = RR_CONN_V1 | RR_CONN_V2,
	        .features = {.on = 1u << RR_FEATURE_RPRC, .cont_max_sends = 1}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	s->on_request = raw_hold;
	raw_receive(s,
	            "00000055 00000001 00000020 00000000 00000000 00000000 "
	            "00000001 00000001" SEG("000000ac", "00004000") CALL("00000055"));
	rprc_answer(s, 8192);
	side_complete_all(s);
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(spec_word(&s->sent[0], 4), 0); /* the Read list */
	side_forget_sent(s);
	raw_receive(s, "00000057 00000001 00000020 00000000 00000000 00000000 "
	               "00000000" CALL("00000057"));
	rprc_answer(s, 8192);
	assert_int_equal(spec_word(&s->sent[0], 3), 4);
	assert_int_equal(s->n_regions, 0);
	raw_end(s);
}

/* RR-P-11: there such a Reply is refused, and nothing is sent. */
static void version_1_reads_no_reply(void **state)
{
	const struct rr_conn_config cfg = {.versions = RR_CONN_V1};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct spec_call *k = spec_new(0x55, 0);

	spec_start(s, k);
	side_forget_sent(s);
	raw_receive(s,
	            "00000055 00000001 00000020 00000000" READ(
	                    "00000000",
	                    "00002000") "00000000 00000000 00000000" REPLY("00000055"));
	assert_int_equal(k->call.status, -EPROTO);
	assert_int_equal(s->n_reads, 0);
	raw_expect_silence(s);
	spec_end(s, k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_property_says_what_the_end_can_do),
	        cmocka_unit_test(the_property_is_sent_only_if_switched_on),
	        cmocka_unit_test(a_faulty_property_is_refused),
	        cmocka_unit_test(an_empty_property_is_the_default),
	        cmocka_unit_test(both_ends_must_support_it),
	        cmocka_unit_test(a_long_reply_is_one_read_chunk),
	        cmocka_unit_test(no_handle_is_named_without_remote_invalidation),
	        cmocka_unit_test(write_chunks_are_used_as_well),
	        cmocka_unit_test(segments_respect_the_peers_limits),
	        cmocka_unit_test(runs_are_exposed_in_place_or_copied),
	        cmocka_unit_test(a_header_without_room_is_not_sent),
	        cmocka_unit_test(a_header_beyond_the_threshold_is_not_sent),
	        cmocka_unit_test(a_padded_item_is_copied),
	        cmocka_unit_test(the_first_possible_way_is_taken),
	        cmocka_unit_test(a_reply_that_the_peer_would_not_pull_is_not_exposed),
	        cmocka_unit_test(a_full_table_lets_replies_be_continued),
	        cmocka_unit_test(a_reply_that_cannot_be_registered_goes_another_way),
	        cmocka_unit_test(memory_is_lent_until_it_is_invalid),
	        cmocka_unit_test(no_memory_for_an_exposure),
	        cmocka_unit_test(a_late_refusal_ends_the_use),
	        cmocka_unit_test(a_client_exposes_at_level_3),
	        cmocka_unit_test(a_server_pulls_at_level_3),
	        cmocka_unit_test(version_1_has_no_read_chunks_in_replies),
	        cmocka_unit_test(version_1_reads_no_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
