/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder-provided Read chunks, the Requester: Replies laid out by hand, what is read
 * of them, and the notification that follows.          [ext §3.4 to §3.7, §3.9, §7.3]
 */
#include "test_conn_rprc.h"

/* -- a Reply that is read -------------------------------------------------- */

/* RR-4.1.2-01, RR-4.1.2-03, RR-4.1.3-01, RR-4.1-03: three unequal segments are read in
 * order, and the notification follows the last Read. */
static void a_long_reply_is_read_then_notified(void **state)
{
	static const struct side_rdma want[] = {
	        {0xaa, 0x10000, 0x1000}, {0xab, 0x11000, 0x80000}, {0xac, 0x91000, 4}};
	struct spec_call *k;
	struct side *s = rprc_asking(NULL, PEER("3", TEN_SECONDS), &k);

	rprc_receive_only(
	        s, PULLED("00000055", "00000000",
	                  READ_OF("000000aa", "00001000", "00010000")
	                          READ_OF("000000ab", "00080000", "00011000")
	                                  READ_OF("000000ac", "00000004", "00091000")));
	assert_int_equal(s->n_reads, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(s->reads[i].handle, want[i].handle);
		assert_int_equal(s->reads[i].offset, want[i].offset);
		assert_int_equal(s->reads[i].len, want[i].len);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(s->n_sent, 0);
		assert_int_equal(s->calls_done, 0);
		side_complete_one(s);
	}
	assert_int_equal(s->sent[0].n_reads, 3);
	raw_expect(s, "00000055 00000002 00200001 00000003 00000000");
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, RR_CALL_OK);
	assert_int_equal(k->call.reply_len, 0x81004);
	assert_memory_equal(k->call.reply, rprc_stream, 0x81004);
	assert_int_equal(rprc_counters(s).bytes_reply_pulled, 0x81004);
	rprc_release(s, k);
}

/* RR-4.1-03: the stream begins with the XID; another one is no Reply to the Call. */
static void the_stream_read_must_be_the_reply(void **state)
{
	struct spec_call *k;
	struct side *s = rprc_asking(NULL, PEER("3", TEN_SECONDS), &k);

	rprc_lay_out(s, 0x56);
	raw_receive(s, ONE("00000055"));
	assert_int_equal(k->call.status, -EBADMSG);
	rprc_expect_done(s, 0x55, 0);
	raw_expect_silence(s);
	spec_end(s, k);
}

/* RR-4.1.4-01, RR-4.1.4-04, RR-4.1.4-05, RR-4.1.4-03: of three handles only the one in
 * rdma_inv_handle is invalidated, if it is one of them and both ends are able. */
static void the_notification_invalidates_the_handle_named(void **state)
{
#define THREE(inv)                                                                     \
	PULLED("00000055", inv,                                                        \
	       READ_OF("000000aa", "00001000", "00010000")                             \
	               READ_OF("000000ab", "00001000", "00011000")                     \
	                       READ_OF("000000ac", "00001000", "00012000"))
	static const struct {
		bool able;
		const char *reply;
		uint32_t inv;
	} row[] = {{true, THREE("000000ab"), 0xab},
	           {true, THREE("000000ad"), 0},
	           {true, THREE("00000000"), 0},
	           {false, THREE("000000ab"), 0}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		const struct rr_conn_config cfg = {.remote_invalidate = row[i].able};
		struct spec_call *k;
		struct side *s = rprc_asking(&cfg, PEER("3", TEN_SECONDS), &k);

		raw_receive(s, row[i].reply);
		assert_int_equal(k->call.status, RR_CALL_OK);
		rprc_expect_done(s, 0x55, row[i].inv);
		raw_expect_silence(s);
		rprc_release(s, k);
	}
}

/* RR-4.1.4-06: at 0.95 of the lifetime the peer may have invalidated it already. */
static void a_late_notification_invalidates_nothing(void **state)
{
	static const struct {
		const char *props;
		rr_time after;
		uint32_t inv;
	} row[] = {{PEER("3", TEN_SECONDS), RR_MS(8900), 0xaa},
	           {PEER("3", TEN_SECONDS), RR_MS(9000), 0},
	           {PEER("3", TEN_SECONDS), RR_MS(9500), 0},
	           {PEER("3", "00000000"), RR_SEC(100000), 0xaa}};
	const struct rr_conn_config cfg = {.remote_invalidate = true};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct spec_call *k;
		struct side *s = rprc_asking(&cfg, row[i].props, &k);

		rprc_receive_only(s, ONE_INV("00000055"));
		rprc_turn_clock(s, row[i].after);
		side_complete_all(s);
		assert_int_equal(k->call.status, RR_CALL_OK);
		rprc_expect_done(s, 0x55, row[i].inv);
		rprc_release(s, k);
	}
}

/* -- Replies that are not read --------------------------------------------- */

/* RR-P-05, RR-7-04, RR-4.1.4-03, RR-4.1.2-02 */
static void a_reply_that_breaks_a_rule_is_notified_plainly(void **state)
{
	static const struct {
		const char *reply;
		int status;
	} row[] = {
	        /* and a Reply chunk */
	        {"00000055" NOMSG_REPLY "000000aa" READ(
	                 "00000000", "00002000") "00000000 00000000 00000001 "
	                                         "00000001" SEG("000000ac", "00002000"),
	         -EPROTO},
	        /* another position, also after position 0 */
	        {PULLED("00000055", "000000aa",
	                "00000001 00000004 000000aa 00002000 00000000 00010000 "),
	         -EPROTO},
	        {PULLED("00000055", "000000aa",
	                READ_OF("000000aa", "00002000",
	                        "00010000") "00000001 00000008 000000aa 00002000 "
	                                    "00000000 00010000 "),
	         -EPROTO},
	        /* an empty segment */
	        {PULLED("00000055", "000000aa",
	                READ_OF("000000aa", "00002000", "00010000")
	                        READ_OF("000000ab", "00000000", "00010000")),
	         -EPROTO},
	        /* shorter than an RPC Reply */
	        {PULLED("00000055", "000000aa",
	                READ_OF("000000aa", "00000004", "00010000")),
	         -EPROTO},
	        /* RDMA2_MSG */
	        {"00000055" MSG_REPLY "000000aa" READ(
	                 "00000000",
	                 "00002000") "00000000 00000000 00000000" REPLY("00000055"),
	         -EPROTO},
	        /* a Write chunk that the Call did not offer */
	        {"00000055" NOMSG_REPLY "000000aa" READ(
	                 "00000000", "00002000") "00000000 00000001 "
	                                         "00000001" SEG("000000ac",
	                                                        "00000004") "00000000 "
	                                                                    "00000000",
	         -EPROTO},
	        /* longer than max_pull */
	        {TWO_MIB("00000055"), -EOVERFLOW},
	        {FOUR_GIB("00000055"), -EOVERFLOW},
	        {PULLED("00000055", "000000aa",
	                READ_OF("000000aa", "ffffffff", "00010000")
	                        READ_OF("000000ab", "ffffffff", "00010000")),
	         -EOVERFLOW},
	        /* one part of a sequence, which has no lists */
	        {"00000055" MSG_REPLY_MORE "000000aa" READ(
	                 "00000000",
	                 "00002000") "00000000 00000000 00000000" REPLY("00000055"),
	         0},
	};
	const struct rr_conn_config cfg = {.remote_invalidate = true,
	                                   .features.max_pull = 1 << 20};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct spec_call *k;
		struct side *s = rprc_asking(&cfg, PEER("3", TEN_SECONDS), &k);

		raw_receive(s, row[i].reply);
		rprc_expect_done(s, 0x55, 0);
		raw_expect_silence(s);
		assert_int_equal(k->call.status, row[i].status);
		assert_int_equal(s->calls_done, row[i].status != 0);
		assert_int_equal(s->n_reads, 0);
		spec_end(s, k);
	}
}

/* RR-P-05, [ext §7.3 V32]: in the middle of a Reply in parts, and after one that was
 * refused. */
static void a_read_chunk_within_a_sequence_is_notified(void **state)
{
	struct spec_call *k;
	struct side *s = rprc_asking(NULL, PEER("3", TEN_SECONDS), &k);

	raw_receive(s, "00000055" MSG_REPLY_MORE EMPTY REPLY("00000055"));
	raw_receive(s, ONE("00000055"));
	rprc_expect_done(s, 0x55, 0);
	assert_int_equal(k->call.status, -EPROTO);
	raw_receive(s, "00000056" MSG_REPLY_MORE EMPTY REPLY("00000056"));
	raw_receive(s, ONE("00000056"));
	rprc_expect_done(s, 0x56, 0);
	raw_expect_silence(s);
	assert_int_equal(s->n_reads, 0);
	spec_end(s, k);
}

/* RR-4.1.3-03, RR-4.1.4-03 */
static void a_reply_to_no_call_is_notified_plainly(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct spec_call *k;
	struct side *s = rprc_asking(&cfg, PEER("3", TEN_SECONDS), &k);

	raw_receive(s, ONE_INV("00000077"));
	rprc_expect_done(s, 0x77, 0);
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	raw_receive(s, ONE_INV("00000055"));
	rprc_expect_done(s, 0x55, 0);
	raw_receive(s, ONE_INV("00000055")); /* again */
	rprc_expect_done(s, 0x55, 0);
	raw_expect_silence(s);
	assert_int_equal(s->n_reads, 0);
	spec_end(s, k);
}

/* RR-4.1.3-05, RR-6-01: without support the exposure still ends. */
static void a_requester_without_support_notifies(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, PEER("3", TEN_SECONDS));
	struct spec_call *k = spec_new(0x55, 0);

	spec_start(s, k);
	side_forget_sent(s);
	raw_receive(s, ONE_INV("00000055"));
	rprc_expect_done(s, 0x55, 0);
	raw_expect_silence(s);
	assert_int_equal(k->call.status, -EPROTO);
	assert_int_equal(s->n_reads, 0);
	spec_end(s, k);
}

/* RR-6-01: the peer advertised nothing, or cannot be the one who exposes. */
static void a_reply_of_a_peer_without_support_is_not_read(void **state)
{
	static const char *const props[] = {"00000000", PEER("1", "00000000")};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(props); i++) {
		struct spec_call *k;
		struct side *s = rprc_asking(NULL, props[i], &k);

		raw_receive(s, ONE("00000055"));
		rprc_expect_done(s, 0x55, 0);
		assert_int_equal(k->call.status, -EPROTO);
		assert_int_equal(s->n_reads, 0);
		spec_end(s, k);
	}
}

/* -- a second Reply -------------------------------------------------------- */

/* RR-5.4.3-06, RR-4.1.2-03: one pull, one notification, one result.  It is the same if
 * the call was cancelled: a notification would end the exposure that is being read. */
static void a_second_reply_during_the_pull_is_dropped(void **state)
{
	for (unsigned cancelled = 0; cancelled < 2; cancelled++) {
		struct spec_call *k;
		struct side *s = rprc_asking(NULL, PEER("3", TEN_SECONDS), &k);

		rprc_receive_only(s, ONE("00000055"));
		if (cancelled)
			rr_conn_cancel(s->c, &k->call, s->now);
		rprc_receive_only(s, ONE("00000055"));
		assert_int_equal(s->n_reads, 1);
		raw_expect_silence(s);
		side_complete_all(s);
		rprc_expect_done(s, 0x55, 0);
		raw_expect_silence(s);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(k->call.status, cancelled ? -ECANCELED : RR_CALL_OK);
		rprc_release(s, k);
	}
}

/* -- failures -------------------------------------------------------------- */

/* RR-4.1.2-02: aborted while it is read; its memory stays until the Reads complete. */
static void a_call_cancelled_during_the_reads_is_notified(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct spec_call *k;
	struct side *s = rprc_asking(&cfg, PEER("3", TEN_SECONDS), &k);
	struct rr_conn_info i;

	rprc_receive_only(s, ONE_INV("00000055"));
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	rr_conn_info(s->c, &i);
	assert_int_equal(i.held_bytes, 0x2000);
	assert_int_equal(s->calls_done, 0);
	raw_expect_silence(s);
	side_complete_all(s);
	rprc_expect_done(s, 0x55, 0xaa);
	assert_int_equal(k->call.status, -ECANCELED);
	rr_conn_info(s->c, &i);
	assert_int_equal(i.held_bytes, 0);
	spec_end(s, k);
}

/* The status of the loss, with which a call is sent again, is the call's.  The status of
 * the flushed Read would mean that the user has cancelled the call. */
static void a_connection_lost_during_the_reads_is_no_cancellation(void **state)
{
	struct spec_call *k;
	struct side *s = rprc_asking(NULL, PEER("3", TEN_SECONDS), &k);

	rprc_receive_only(s, ONE("00000055"));
	assert_int_equal(s->n_reads, 1);
	side_lose(s, -ETIMEDOUT);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, -ETIMEDOUT);
	spec_end(s, k);
}

/* A Requester with two Calls: the Reply to 0x55 fills the quota, until it is released.
 * The one to 0x57 waits. */
static struct side *waiting_pull(const char *props, struct spec_call **ret_k,
                                 struct spec_call **ret_other)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true,
	                                   .max_held_bytes = 0x3000};
	struct side *s = rprc_asking(&cfg, props, ret_k);

	*ret_other = spec_new(0x57, 0);
	spec_start(s, *ret_other);
	side_forget_sent(s);
	raw_receive(s, ONE_INV("00000055"));
	side_forget_sent(s);
	rprc_lay_out(s, 0x57);
	raw_receive(s, ONE_INV("00000057"));
	assert_int_equal(s->n_reads, 1);
	raw_expect_silence(s);
	return s;
}

/* [ext §3.5]: a pull waits for the memory of those before it. */
static void a_pull_waits_for_memory(void **state)
{
	struct spec_call *k, *other;
	struct side *s = waiting_pull(PEER("3", TEN_SECONDS), &k, &other);

	rr_conn_call_release(s->c, &k->call, s->now);
	side_drain(s);
	side_complete_all(s);
	assert_int_equal(other->call.status, RR_CALL_OK);
	rprc_expect_done(s, 0x57, 0xaa);
	free(k);
	rprc_release(s, other);
}

/* RR-4.1.3-09, RR-4.1.4-06 */
static void a_reply_older_than_nine_tenths_is_not_read(void **state)
{
	struct spec_call *k, *other;
	struct side *s = waiting_pull(PEER("3", TEN_SECONDS), &k, &other);

	rprc_turn_clock(s, RR_MS(8999));
	raw_expect_silence(s);
	assert_true(rr_conn_deadline(s->c) <= s->now + RR_MS(1));
	rprc_turn_clock(s, RR_MS(1));
	rprc_expect_done(s, 0x57, 0);
	assert_int_equal(other->call.status, -ENOMEM);
	assert_int_equal(s->n_reads, 1);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, other);
	free(k);
}

/* RR-4.1.4-03: cancelled before a Read, it was not pulled. */
static void a_pull_cancelled_before_its_reads_is_notified_plainly(void **state)
{
	struct spec_call *k, *other;
	struct side *s = waiting_pull(PEER("3", "00000000"), &k, &other);

	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	rr_conn_cancel(s->c, &other->call, s->now);
	side_drain(s);
	rprc_expect_done(s, 0x57, 0);
	assert_int_equal(other->call.status, -ECANCELED);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, other);
	free(k);
}

/* RR-4.1.2-02: no memory for the pull, for what is read, or for a Read. */
static void no_memory_for_a_pull_is_notified(void **state)
{
	for (unsigned n = 1; n <= 3; n++) {
		struct spec_call *k;
		/* Without a lifetime nothing else would end the call. */
		struct side *s = rprc_asking(NULL, PEER("3", "00000000"), &k);

		s->mem_fail_at = n;
		raw_receive(s, ONE("00000055"));
		assert_int_equal(s->mem_fail_at, 0);
		assert_int_equal(k->call.status, -ENOMEM);
		assert_int_equal(s->n_reads, 0);
		rprc_expect_done(s, 0x55, 0);
		raw_expect_silence(s);
		spec_end(s, k);
	}
}

/* RR-4.1.2-02: the sixteenth Read has no memory; the others complete first. */
static void no_memory_for_a_later_read_is_notified(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	static char hex[8000];
	struct spec_call *k;
	struct side *s = rprc_asking(&cfg, PEER("3", TEN_SECONDS), &k);
	char *end = stpcpy(hex, "00000055" NOMSG_REPLY "000000aa");

	end = raw_repeat(end, READ_OF("000000aa", "00000010", "00010000"), 40);
	(void)stpcpy(end, "00000000 00000000 00000000");
	s->mem_fail_at = 4; /* after the pull, its memory and some Reads */
	rprc_receive_only(s, hex);
	assert_int_equal(s->mem_fail_at, 0);
	assert_in_range(s->n_reads, 1, 39);
	raw_expect_silence(s);
	side_complete_all(s);
	assert_int_equal(k->call.status, -ENOMEM);
	rprc_expect_done(s, 0x55, 0);
	raw_expect_silence(s);
	spec_end(s, k);
}

/* RR-4.1.2-02: Reads that fail while the connection lives. */
static void failed_reads_are_notified_plainly(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct spec_call *k;
	struct side *s = rprc_asking(&cfg, PEER("3", TEN_SECONDS), &k);

	s->fail_reads = true;
	raw_receive(s, PULLED("00000055", "000000aa",
	                      READ_OF("000000aa", "00001000", "00010000")
	                              READ_OF("000000aa", "00001000", "00011000")));
	assert_int_equal(k->call.status, -EIO);
	rprc_expect_done(s, 0x55, 0);
	spec_end(s, k);
}

/* [ext §3.5]: the connection ends while a pull waits for memory. */
static void a_closing_connection_pulls_nothing(void **state)
{
	struct spec_call *k, *other;
	struct side *s = waiting_pull(PEER("3", TEN_SECONDS), &k, &other);

	rr_conn_close(s->c, 0, s->now);
	rr_conn_call_release(s->c, &k->call, s->now);
	side_drain(s);
	assert_int_equal(s->n_reads, 1);
	assert_int_equal(s->n_sent, 0);
	spec_end(s, other);
	free(k);
}

/* RR-P-05: more segments than any Reply may have. */
static void too_many_segments_are_notified_plainly(void **state)
{
	static char hex[8000];
	struct spec_call *k;
	struct side *s = rprc_asking(NULL, PEER("3", TEN_SECONDS), &k);
	char *end = stpcpy(hex, "00000055" NOMSG_REPLY "00000000");

	end = raw_repeat(end, READ_OF("000000aa", "00000010", "00010000"), 65);
	(void)stpcpy(end, "00000000 00000000 00000000");
	raw_receive(s, hex);
	assert_int_equal(k->call.status, -EPROTO);
	rprc_expect_done(s, 0x55, 0);
	assert_int_equal(s->n_reads, 0);
	spec_end(s, k);
}

/* RR-4.1.3-03: a Reply to a Call of which parts have not been sent. */
static void a_reply_to_half_a_call_is_notified(void **state)
{
	const struct rr_conn_config cfg = {.features.on = 1u << RR_FEATURE_RPRC};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct spec_call *k = spec_new(0x55, 0);

	raw_receive(s, "00000077 00000002 00010001 00000005 00000000" PEER(
	                       "3", TEN_SECONDS));
	side_forget_sent(s);
	spec_add(k, spec_octets(), 12000, false);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 1);
	side_forget_sent(s);
	raw_receive(s, ONE("00000055"));
	assert_int_equal(k->call.status, -EPROTO);
	assert_int_equal(s->n_reads, 0);
	/* First the sequence is ended, [K3]. */
	assert_int_equal(spec_word(&s->sent[0], 3), 0);
	raw_skip(s);
	raw_receive(s, "00000000 00000002 00010001 00000001 00000000" EMPTY);
	rprc_expect_done(s, 0x55, 0);
	spec_end(s, k);
}

/* v2 §7.4: a notification that cannot be sent ends the connection. */
static void no_memory_for_a_notification(void **state)
{
	for (unsigned n = 1; n <= 2; n++) {
		const struct rr_conn_config none = {0};
		struct side *s = rprc_puller(none, PEER("3", TEN_SECONDS));
		struct spec_call *k = spec_new(0x55, 0);

		assert_int_equal(rr_conn_call(s->c, &k->call, s->now), 0);
		side_drain(s); /* its Send holds the message that was spare */
		s->mem_fail_at = n;
		rprc_receive_only(s, ONE("00000077"));
		assert_int_equal(s->mem_fail_at, 0);
		raw_expect_close(s, n == 1 ? -EPROTO : -ENOMEM);
		spec_end(s, k);
	}
}

/* A peer that answers what was not asked, and takes no notification, ends its
 * connection. */
static void owed_notifications_are_limited(void **state)
{
	struct spec_call *k;
	struct side *s = rprc_asking(NULL, PEER("7", TEN_SECONDS), &k);
	unsigned n = 0;

	while (!s->disconnect) {
		raw_receive(s, ONE("00000077"));
		side_forget_sent(s); /* credit grants */
		assert_true(++n < 5000);
	}
	assert_int_equal(s->disconnect_status, -EPROTO);
	assert_int_equal(n, 4097);
	spec_end(s, k);
}

/* -- credits --------------------------------------------------------------- */

/* RR-5.2.3-01, RR-5.2.3-03, RR-3-01: no credit is kept back for a pull in progress, and
 * a notification that is ready goes before Calls that wait. */
static void a_notification_costs_a_credit(void **state)
{
	const struct rr_conn_config cfg = {.features.on = 1u << RR_FEATURE_RPRC};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct spec_call *k[3];

	/* One credit, as in all that follows. */
	raw_receive(s, "00000077 00000002 00010001 00000005 00000000" PEER(
	                       "3", TEN_SECONDS));
	side_forget_sent(s);
	rprc_lay_out(s, 0x55);
	for (uint32_t i = 0; i < 3; i++) {
		k[i] = spec_new(0x55 + i, 0);
		spec_start(s, k[i]);
		assert_int_equal(s->n_sent, 1);
	}
	side_forget_sent(s);
	raw_receive(s, "00000055 00000002 00010001 00000001 00000001 00000000" READ_OF(
	                       "000000aa", "00002000",
	                       "00010000") "00000000 00000000 00000000");
	assert_int_equal(spec_word(&s->sent[0], 0), 0x56);
	raw_skip(s);
	assert_int_equal(k[0]->call.status, RR_CALL_OK);
	for (unsigned n = 0; n < 2; n++) {
		assert_int_equal(s->n_sent, 0);
		raw_receive(s, "00000000 00000002 00010001 00000001 00000000" EMPTY);
		if (n)
			assert_int_equal(spec_word(&s->sent[0], 0), 0x57);
		else
			rprc_expect_done(s, 0x55, 0);
	}
	rr_conn_call_release(s->c, &k[0]->call, s->now);
	raw_end(s);
	rprc_free_calls(k, 3);
}

/* A notification that has no credit waits for a message, and not for a time. */
static void no_timer_runs_for_a_notification_without_credit(void **state)
{
	const struct rr_conn_config cfg = {.features.on = 1u << RR_FEATURE_RPRC};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_receive(s, "00000077 00000002 00010001 00000005 00000000" PEER(
	                       "7", TEN_SECONDS));
	side_forget_sent(s);
	raw_receive(s, ONE("00000077"));
	raw_receive(s, ONE("00000078"));
	raw_receive(s, ONE("00000079"));
	assert_int_equal(rr_conn_deadline(s->c), s->now + RR_MS(1));
	rprc_turn_clock(s, RR_MS(1));
	assert_true(s->n_sent > 0 && s->n_sent < 4);
	assert_true(rr_conn_deadline(s->c) > s->now);
	raw_end(s);
}

/* [ext §2.4 rule 7] A peer that refuses RDMA2_DONE as an unknown type gets no other one,
 * also not one that waits.  Replies are still pulled. */
static void a_refused_notification_is_the_last(void **state)
{
	struct spec_call *k;
	struct side *s = rprc_asking(NULL, PEER("3", TEN_SECONDS), &k);

	raw_receive(s, ONE("00000099")); /* to no Call */
	rprc_expect_done(s, 0x99, 0);
	raw_receive(s, INVAL_HTYPE("00000098")); /* about nothing of ours */
	raw_receive(s, ONE("0000009a"));
	rprc_expect_done(s, 0x9a, 0);
	raw_receive(s, INVAL_HTYPE("00000099"));
	raw_receive(s, ONE("0000009b"));
	raw_expect_silence(s);
	rprc_lay_out(s, 0x55);
	raw_receive(s, ONE("00000055"));
	assert_int_equal(k->call.status, RR_CALL_OK);
	assert_int_equal(rprc_counters(s).done_sent, 2);
	raw_expect_silence(s);
	rprc_release(s, k);
}

/* The peer refuses RDMA2_DONE, but accepts RDMA2_MSG_DONE.  Calls carry as many
 * notifications as they can, and the others are dropped when they fall due. */
static void after_a_refusal_calls_still_carry(void **state)
{
	const struct rr_conn_config cfg = {.send_bytes = 4096};
	struct side *s = rprc_puller(cfg, PEER("7", TEN_SECONDS));
	struct spec_call *k = spec_new(0x60, 0);

	raw_receive(s, ONE("00000099"));
	rprc_pass_time(s, RR_SEC(1));
	rprc_expect_done(s, 0x99, 0);
	raw_receive(s, INVAL_HTYPE("00000099"));
	raw_receive(s, ONE("0000009a"));
	spec_start(s, k);
	assert_int_equal(spec_word(&s->sent[0], 3), 0xffffff22);
	assert_int_equal(spec_word(&s->sent[0], 6), 0x9a);
	side_forget_sent(s);
	raw_receive(s, ONE("0000009b"));
	rprc_pass_time(s, RR_SEC(1));
	raw_expect_silence(s);
	raw_receive(s, "00000060" MSG_REPLY EMPTY REPLY("00000060"));
	assert_int_equal(k->call.status, RR_CALL_OK);
	rprc_release(s, k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_long_reply_is_read_then_notified),
	        cmocka_unit_test(the_stream_read_must_be_the_reply),
	        cmocka_unit_test(the_notification_invalidates_the_handle_named),
	        cmocka_unit_test(a_late_notification_invalidates_nothing),
	        cmocka_unit_test(a_reply_that_breaks_a_rule_is_notified_plainly),
	        cmocka_unit_test(a_read_chunk_within_a_sequence_is_notified),
	        cmocka_unit_test(a_reply_to_no_call_is_notified_plainly),
	        cmocka_unit_test(a_requester_without_support_notifies),
	        cmocka_unit_test(a_reply_of_a_peer_without_support_is_not_read),
	        cmocka_unit_test(a_second_reply_during_the_pull_is_dropped),
	        cmocka_unit_test(a_call_cancelled_during_the_reads_is_notified),
	        cmocka_unit_test(a_connection_lost_during_the_reads_is_no_cancellation),
	        cmocka_unit_test(a_pull_waits_for_memory),
	        cmocka_unit_test(a_reply_older_than_nine_tenths_is_not_read),
	        cmocka_unit_test(a_pull_cancelled_before_its_reads_is_notified_plainly),
	        cmocka_unit_test(no_memory_for_a_pull_is_notified),
	        cmocka_unit_test(no_memory_for_a_later_read_is_notified),
	        cmocka_unit_test(failed_reads_are_notified_plainly),
	        cmocka_unit_test(a_closing_connection_pulls_nothing),
	        cmocka_unit_test(too_many_segments_are_notified_plainly),
	        cmocka_unit_test(a_reply_to_half_a_call_is_notified),
	        cmocka_unit_test(no_memory_for_a_notification),
	        cmocka_unit_test(owed_notifications_are_limited),
	        cmocka_unit_test(a_notification_costs_a_credit),
	        cmocka_unit_test(no_timer_runs_for_a_notification_without_credit),
	        cmocka_unit_test(a_refused_notification_is_the_last),
	        cmocka_unit_test(after_a_refusal_calls_still_carry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
