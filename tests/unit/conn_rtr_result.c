/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client with the feature RTR whose server is octets laid out by hand: responses that
 * the directions allow and those that they do not, reports, refusals, and reservations.
 */
#include "test_conn_rtr.h"

static struct side *new_client_with(uint32_t credits, unsigned features)
{
	struct rr_conn_config g = rtr_client_config(credits);

	g.features.on |= features;
	return raw_ready_by(RR_CONN_CLIENT, &g, RTR_PEER);
}

/* Receives a response with one result of this type: 0x1000 octets. */
static void answer_with(struct side *s, struct spec_call *k, unsigned type)
{
	const struct side_region *r =
	        side_valid_regions(s) ? spec_region(s, rtr_result[0]) : NULL;
	char hex[600] = X XRESP "00000001 ", *end = hex + strlen(hex);

	(void)k;
	if (type == 6)
		end = stpcpy(end, "00000000 00000000 00000006 ");
	else
		end += sprintf(end, "0000000c 00001000 %08x ", type);
	if (type == 1 && r)
		end += sprintf(end, "00000001 %08x 00001000 %08x %08x ", r->handle,
		               (uint32_t)((uintptr_t)r->base >> 32),
		               (uint32_t)(uintptr_t)r->base);
	else if (type == 1)
		end += sprintf(end, "00000001 " SEG("000000aa", "00001000"));
	else if (type == 2)
		end += sprintf(end, "00000000 00000001 00000000 ");
	strcpy(end, "00000000 00000001 00000010 " REPLY(X));
	rtr_receive_long(s, hex, RTR_BUFFER);
}

/* NS-s18-05: each direction with each result that rtrext Table 2 has. */
static void directions_allow_their_results(void **state)
{
	static const enum rr_direct direct[] = {RR_DIRECT_WRITE, RR_DIRECT_SEND,
	                                        RR_DIRECT_CHOICE, RR_DIRECT_BY_SIZE};
	static const unsigned type[] = {1, 2, 5, 6};

	(void)state;
	for (unsigned d = 0; d < 4; d++)
		for (unsigned t = 0; t < 4; t++) {
			struct side *s = rtr_client(32);
			struct spec_call *k = rtr_start_read(s, direct[d]);
			bool valid = !(d == 0 && t == 1) && !(d == 1 && t == 0);

			assert_int_equal(rtr_sent_type(s), RTR_REQ);
			answer_with(s, k, type[t]);
			if (valid && t < 2)
				assert_int_equal(k->dest[0].ret_len, 0x1000);
			else
				assert_int_equal(k->dest[0].ret_len, 0);
			rtr_finish(s, k, valid ? RR_CALL_OK : -EPROTO);
		}
}

/* Segments that are not those of the request, filled from the front. */
static void strange_segments_end_the_call(void **state)
{
	static const struct {
		uint32_t n, add_handle, add_offset, len[2];
		int status;
	} row[] = {
	        {2, 0, 0, {0x1000, 0xffc}, RR_CALL_OK},
	        {2, 0, 0, {0xffc, 0}, RR_CALL_OK},
	        {1, 0, 0, {0x1000, 0}, -EPROTO},
	        {2, 1, 0, {0x1000, 0x1000}, -EPROTO},
	        {2, 0, 4, {0x1000, 0x1000}, -EPROTO},
	        {2, 0, 0, {0x1004, 0}, -EPROTO},
	        {2, 0, 0, {0xffc, 4}, -EPROTO},
	};
	struct rr_conn_config g = rtr_client_config(32);

	(void)state;
	g.segment_bytes = 4096;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, &g, RTR_PEER);
		struct spec_call *k = rtr_start_read(s, RR_DIRECT_WRITE);
		const struct side_region *m = spec_region(s, rtr_result[0]);
		char hex[600] = X XRESP "00000001 0000000c ", *end = hex + strlen(hex);

		end += sprintf(end, "%08x 00000001 %08x ",
		               row[i].len[0] + row[i].len[1], row[i].n);
		for (unsigned j = 0; j < row[i].n; j++) {
			uint64_t at =
			        (uintptr_t)m->base + 4096u * j + row[i].add_offset;

			end += sprintf(end, "%08x %08x %08x %08x ",
			               m->handle + row[i].add_handle, row[i].len[j],
			               (uint32_t)(at >> 32), (uint32_t)at);
		}
		strcpy(end, "00000000 00000001 00000010 " REPLY(X));
		raw_receive(s, hex);
		rtr_finish(s, k, row[i].status);
	}
}

/* The peer did not know the length, so the error is that of a Write chunk which is too
 * short.  A call that may be executed twice provides more memory the second time. */
static void a_result_longer_than_its_memory_ends_the_call(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_into(s, 100, RR_DIRECT_SEND, 200);

	(void)state;
	k->call.flags |= RR_CALL_IDEMPOTENT;
	memset(rtr_result[0], 0x5a, sizeof(rtr_result[0]));
	answer_with(s, k, 2);
	assert_int_equal(rtr_result[0][0], 0x5a);
	assert_int_equal(k->dest[0].ret_len, 0);
	assert_int_equal(k->call.error.code, RDMA2_ERR_WRITE_RESOURCE);
	assert_int_equal(k->call.error.arg[0], 1);
	assert_int_equal(k->call.error.arg[1], 4096);
	assert_true(rr_call_recover(s->c, &k->call));
	assert_int_equal(k->call.recovery.dest, 1);
	assert_int_equal(k->call.recovery.dest_bytes, 4096);
	rtr_finish(s, k, RR_CALL_REMOTE_ERROR);
}

/* A Reply in a Reply chunk has no Payload stream, and the segments of the request. */
static void a_reply_chunk_holds_the_whole_reply(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct side *s = rtr_client(32);
		struct spec_call *k = rtr_start_into(s, 8192, RR_DIRECT_SEND, 200000);
		const struct side_region *m = &s->region[0];
		char hex[600];

		assert_int_equal(rtr_sent_type(s), RTR_REQ);
		assert_int_equal(m->len, 200000);
		raw_octets(REPLY(X), m->base, 16);
		sprintf(hex,
		        X XRESP "00000001 00000000 00000000 00000006 00000001 00000001 "
		                "%08x 00000010 %08x %08x 00000001 %08x %s",
		        m->handle + (i == 1), (uint32_t)((uintptr_t)m->base >> 32),
		        (uint32_t)(uintptr_t)m->base, i == 2 ? 16u : 0u,
		        i == 2 ? REPLY(X) : "");
		raw_receive(s, hex);
		rtr_finish(s, k, i ? -EPROTO : RR_CALL_OK);
	}
}

/* Results that are not as they were directed. */
static void strange_responses_end_the_call(void **state)
{
	static const char *const body[] = {
	        "00000000 00000000 00000001 00000010 ", /* no result */
	        "00000002 00000000 00000000 00000006 00000000 00000000 00000006 "
	        "00000000 00000001 00000010 ", /* one too many */
	        "00000001 0000000c 00001000 00000001 00000001 " SEG(
	                "000000aa", "00001000") "00000000 "
	                                        "00000001 "
	                                        "00000010 ",
	        "00000001 0000000c 00001000 00000001 00000000 00000000 00000001 "
	        "00000010 ", /* segments are missing */
	        "00000001 00000000 00000000 00000006 00000001 00000001 " SEG(
	                "000000aa",
	                "00000010") "00000001 00000000 ", /* no chunk offered */
	        "00000001 00000000 00000000 00000003 00000000 00000001 00000010 ",
	        "00000001 00000000 00000000 00000006 00000000 00000000 00000010 ",
	};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(body); i++) {
		struct side *s = rtr_client(32);
		struct spec_call *k = rtr_start_read(s, RR_DIRECT_CHOICE);
		char hex[800] = X XRESP;

		raw_receive(s, strcat(strcat(hex, body[i]), REPLY(X)));
		rtr_finish(s, k, i == 3 || i >= 5 ? -EBADMSG : -EPROTO);
	}
}

/* More results than any request of ours has directions. */
static void too_many_results_end_the_call(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_read(s, RR_DIRECT_CHOICE);
	char hex[800] = X XRESP "00000011 ", *end = hex + strlen(hex);

	(void)state;
	end = raw_repeat(end, "00000000 00000000 00000006 ", 17);
	strcpy(end, "00000000 00000001 00000010 " REPLY(X));
	raw_receive(s, hex);
	rtr_finish(s, k, -EBADMSG);
}

static void a_reply_of_another_type_ends_a_base_call(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = spec_new(RTR_XID, 0);

	(void)state;
	spec_start(s, k);
	assert_int_equal(rtr_sent_type(s), 0);
	raw_receive(s, X XRESP "00000000 00000000 00000001 00000010 " REPLY(X));
	rtr_finish(s, k, -EPROTO);
}

static void responses_to_nothing_are_dropped(void **state)
{
	struct side *s = rtr_client(32);

	(void)state;
	raw_receive(s, X XRESP "00000000 00000000 00000003 00000010 " REPLY(X));
	raw_receive(s, X XCONT_R "00000001 ffffff16 00000000 ");
	raw_receive(s, X XCONT_R "00000002 ffffff16 00000000 ");
	raw_expect_silence(s);
	raw_end(s);
}

/* A continuation is reported even if no call waits for a response. */
static void a_continuation_of_nothing_is_reported(void **state)
{
	struct side *s = rtr_client(32);

	(void)state;
	raw_receive(s, X XCONT_R "00000001 ffffff16 00000000 ");
	raw_expect(s,
	           X V2 "ffffff18 00000000 " X " 00000001 00000001 00000000 00000003");
	raw_expect_silence(s);
	raw_end(s);
}

static void what_is_no_reply_ends_the_call(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_read(s, RR_DIRECT_SEND);

	(void)state;
	raw_receive(s, X XRESP "00000001 00000000 00000000 00000006 00000000 00000001 "
	                       "00000018 " CALL(X));
	rtr_finish(s, k, -EBADMSG);
}

/* -- reports --------------------------------------------------------------- */

/* NS-s21-05, NS-rtrext-13: more transmissions than were reserved are reported; the call
 * waits for another response, and the second fault ends it. */
static void too_long_a_response_is_reported(void **state)
{
	(void)state;
	for (unsigned again = 0; again < 2; again++) {
		struct side *s = rtr_client(32);
		struct spec_call *k = rtr_start_read(s, RR_DIRECT_SEND);

		raw_skip(s);
		raw_receive(s, X XRESP
		            "00000001 00000000 00000000 00000006 00000000 00000009 "
		            "00000010 " REPLY(X));
		raw_expect(s, X V2
		           "ffffff18 00000000 " X
		           " 00000001 00000000 00000000 00000004 00000001 00000009");
		raw_receive(s, X XCONT_R "00000001 ffffff16 00000000 ");
		raw_expect_silence(s);
		assert_int_equal(s->calls_done, 0);
		if (again) {
			raw_receive(s, X XRESP "00000001 00000000 00000000 00000006 "
			                       "00000000 00000009 00000010 " REPLY(X));
			rtr_finish(s, k, -EPROTO);
		} else {
			answer_with(s, k, 2);
			rtr_finish(s, k, RR_CALL_OK);
		}
	}
}

/* An error instead of the second response. */
static void misplaced_results_are_reported(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_read(s, RR_DIRECT_SEND);

	(void)state;
	raw_skip(s);
	raw_receive(s, X XRESP "00000001 0000000c 00001000 00000002 00000000 00000001 "
	                       "00000007 00000000 00000001 00000010 " REPLY(X));
	raw_expect(s, X V2 "ffffff18 00000000 " X
	                   " 00000001 00000000 00000000 00000007 00000007 00000000 "
	                   "00000000");
	assert_int_equal(s->calls_done, 0);
	raw_receive(s, SYSTEM(X));
	rtr_finish(s, k, RR_CALL_REMOTE_ERROR);
}

/* A group of a response that another message interrupts, and one that is reported. */
static void an_interrupted_response_is_reported(void **state)
{
	static const char *const other[] = {
	        GRANT("0001"),
	        "00000056" REPORT "00000056 00000000 00000000 00000000 00000003",
	        "00000056" XCONT_R "00000001 ffffff16 00000000 ",
	        X XCONT_R "00000001 ",
	};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(other); i++) {
		struct side *s = rtr_client(32);
		struct spec_call *k = spec_new(RTR_XID, 0);

		spec_dest(k, rtr_result[0], sizeof(rtr_result[0]));
		spec_dest(k, rtr_result[1], sizeof(rtr_result[1]));
		k->dest[0].direct = k->dest[1].direct = RR_DIRECT_SEND;
		k->call.reply_bytes = 200;
		spec_start(s, k);
		raw_skip(s);
		raw_receive(s, X XRESP "00000002 00000000 00000000 00000006 00000000 "
		                       "00000000 00000006 00000000 00000002 00000008 " X
		                       " 00000001 ");
		raw_receive(s, other[i]);
		if (i == 0 || i == 2) {
			assert_int_equal(rtr_sent_type(s), 0xffffff18);
			assert_int_equal(spec_flags(&s->sent[0]), 0);
			raw_receive(s, SYSTEM(X));
			rtr_finish(s, k, RR_CALL_REMOTE_ERROR);
		} else {
			rtr_finish(s, k, i == 1 ? -EPROTO : -EBADMSG);
		}
	}
}

/* Adds one result that is written, and two that are placed by Send. */
static void add_three_results(struct spec_call *k)
{
	for (unsigned i = 0; i < 3; i++) {
		spec_dest(k, rtr_result[i], sizeof(rtr_result[i]));
		k->dest[i].direct = i ? RR_DIRECT_SEND : RR_DIRECT_WRITE;
	}
}

/* A cancelled call is kept for a response that may still invalidate the handle that it
 * named: a report within that response leaves it so. */
static void a_report_does_not_end_a_kept_call(void **state)
{
	struct side *s = new_client_with(32, 1u << RR_FEATURE_REMINV);
	struct spec_call *k = spec_new(RTR_XID, 0);

	(void)state;
	add_three_results(k);
	k->call.reply_bytes = 200;
	spec_start(s, k);
	raw_skip(s);
	raw_receive(s, X XRESP "00000003 00000000 00000000 00000006 00000000 00000000 "
	                       "00000006 00000000 00000000 00000006 00000000 00000002 "
	                       "00000008 " X " 00000001 ");
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	raw_receive(s,
	            "00000056" REPORT "00000056 00000000 00000000 00000000 00000003");
	assert_int_equal(s->calls_done, 0);
	raw_receive(s, X XCONT_R "00000001 ffffff16 00000008 00000000 00000000 ");
	raw_expect_silence(s);
	assert_int_equal(side_valid_regions(s), 1);
	raw_receive(s, X XRESP "00000000 00000000 00000001 00000010 " REPLY(X));
	rtr_finish(s, k, -ECANCELED);
}

/* Starts a call, and receives the first of three transmissions of its response, which is
 * longer than the client accepts. */
static struct side *new_overlong(struct spec_call **ret, unsigned features)
{
	struct rr_conn_config g = rtr_client_config(32);
	struct spec_call *k = spec_new(RTR_XID, 0);
	struct side *s;

	g.features.on |= features;
	g.max_message_bytes = g.features.max_pull = 6000;
	s = raw_ready_by(RR_CONN_CLIENT, &g, RTR_PEER);
	add_three_results(k);
	k->call.reply_bytes = 6000;
	spec_start(s, k);
	raw_skip(s);
	raw_receive(s, X XRESP "00000003 00000000 00000000 00000006 00000000 00000000 "
	                       "00000006 00000000 00000000 00000006 00000000 00000003 "
	                       "00000008 " X " 00000001 ");
	*ret = k;
	return s;
}

static void receive_too_much(struct side *s)
{
	rtr_receive_long(s, X XCONT_R "00000001 ffffff16 00001f40 ", 28 + 8000);
	raw_expect_silence(s);
}

/* The last transmission of a response that was dropped. */
#define LAST X XCONT_R "00000002 ffffff16 00000008 00000000 00000000 "

/* The call ends only when the peer can no longer invalidate its region. */
static void a_dropped_response_ends_its_call_at_its_end(void **state)
{
	(void)state;
	for (unsigned invalidates = 0; invalidates < 2; invalidates++) {
		struct spec_call *k;
		struct side *s = new_overlong(&k, 0);
		uint32_t handle = spec_region(s, rtr_result[0])->handle;
		uint8_t buf[64];
		size_t len = raw_octets(LAST, buf, sizeof(buf));

		receive_too_much(s);
		assert_int_equal(s->calls_done, 0);
		assert_int_equal(side_valid_regions(s), 1);
		side_receive(s, buf, len, invalidates ? handle : 0);
		side_complete_all(s);
		rtr_finish(s, k, -ENOMEM);
	}
}

static void a_dropped_response_without_end(void **state)
{
	struct spec_call *k;
	struct side *s = new_overlong(&k, 0);

	(void)state;
	receive_too_much(s);
	assert_int_equal(s->calls_done, 0);
	s->now += RR_SEC(5);
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	side_complete_all(s);
	rtr_finish(s, k, -ENOMEM);
}

static void a_dropped_response_of_a_kept_call(void **state)
{
	struct spec_call *k;
	struct side *s = new_overlong(&k, 1u << RR_FEATURE_REMINV);

	(void)state;
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	receive_too_much(s);
	assert_int_equal(s->calls_done, 0);
	raw_receive(s, LAST);
	rtr_finish(s, k, -ECANCELED);
}

/* NS-rtrext-14: the call may be sent again, by base header types. */
static void a_reported_request_goes_another_way(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_read(s, RR_DIRECT_SEND);

	(void)state;
	raw_skip(s);
	raw_receive(s,
	            "00000099" REPORT "00000099 00000000 00000000 00000000 00000003");
	assert_int_equal(s->calls_done, 0); /* another RTR_XID */
	raw_receive(s,
	            X REPORT X " 00000000 00000000 00000000 00000007 00000009 00000000 "
	                       "00000007");
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, RR_CALL_REMOTE_ERROR);
	assert_true(rr_call_recover(s->c, &k->call));
	spec_start(s, k);
	assert_int_equal(rtr_sent_type(s), 0);
	raw_receive(s, INVAL_CONT(X)); /* final */
	assert_int_equal(s->calls_done, 2);
	assert_false(rr_call_recover(s->c, &k->call));
	free(k);
	raw_end(s);
}

/* NS-s22-03: as a peer of the base protocol answers that says otherwise. */
static void an_unknown_type_is_not_tried_again(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_read(s, RR_DIRECT_SEND);

	(void)state;
	raw_skip(s);
	raw_receive(s, INVAL_HTYPE(X));
	assert_int_equal(k->call.status, RR_CALL_REMOTE_ERROR);
	assert_true(rr_call_recover(s->c, &k->call));
	rr_store_u32(k->head, RTR_XID + 1);
	k->call.xid = RTR_XID + 1;
	spec_start(s, k);
	assert_int_equal(rtr_sent_type(s), 0);
	raw_skip(s);
	raw_receive(s, "00000056" V2 "00000004 00000001 00000064");
	free(k);
	k = rtr_start_read(s, RR_DIRECT_SEND);
	assert_int_equal(rtr_sent_type(s), 0);
	raw_receive(s, SYSTEM(X));
	free(k);
	raw_end(s);
}

/* -- reservations ---------------------------------------------------------- */

/* Starts a call that reserves @n Receives.  Returns NULL if it has to wait. */
static struct spec_call *start_reserving(struct side *s, uint32_t xid, unsigned n)
{
	struct spec_call *k = spec_new(xid, 0);
	unsigned before = s->n_sent;

	for (unsigned i = 0; i < n; i++) {
		spec_dest(k, rtr_result[i], sizeof(rtr_result[i]));
		k->dest[i].direct = RR_DIRECT_SEND;
	}
	k->call.reply_bytes = 200;
	spec_start(s, k);
	if (s->n_sent > before) {
		const struct side_msg *m = &s->sent[s->n_sent - 1];

		assert_int_equal(spec_word(m, (unsigned)(m->len - SPEC_HEAD) / 4 - 2),
		                 n);
	}
	return k;
}

/* NS-s21-06: at ceiling 10, eight Receives can be reserved. */
static void reservations_end_with_the_transmissions(void **state)
{
	struct side *s = rtr_client(10);
	struct spec_call *k[4];

	(void)state;
	k[0] = start_reserving(s, 0x55, 4);
	k[1] = start_reserving(s, 0x56, 4);
	assert_int_equal(s->n_sent, 2);
	k[2] = start_reserving(s, 0x57, 2);
	k[3] = start_reserving(s, 0x58, 2);
	assert_int_equal(s->n_sent, 2); /* no more */
	raw_receive(s, X XRESP "00000004 00000000 00000000 00000006 00000000 00000000 "
	                       "00000006 00000000 00000000 00000006 00000000 00000000 "
	                       "00000006 00000000 00000002 00000008 " X " 00000001 ");
	assert_int_equal(s->n_sent, 3); /* the first transmission has freed two */
	raw_receive(s, X XCONT_R "00000001 ffffff16 00000008 00000000 00000000 ");
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k[0]->call.status, RR_CALL_OK);
	assert_int_equal(s->n_sent, 4); /* and the last one the others */
	rr_conn_call_release(s->c, &k[0]->call, s->now);
	side_lose(s, 0);
	for (unsigned i = 0; i < 4; i++)
		free(k[i]);
	raw_end(s);
}

/* NS-rtrext-19: the handle is named in the request, and the response may invalidate
 * it. */
static void a_response_may_invalidate_the_handle(void **state)
{
	struct side *s = rtr_client(32);
	struct spec_call *k = rtr_start_read(s, RR_DIRECT_WRITE);
	uint32_t handle = spec_region(s, rtr_result[0])->handle;

	(void)state;
	assert_int_equal(spec_word(&s->sent[0], 5), handle);
	raw_receive_inv(s,
	                X XRESP "00000001 00000000 00000000 00000006 00000000 00000001 "
	                        "00000010 " REPLY(X),
	                handle);
	rtr_finish(s, k, RR_CALL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(directions_allow_their_results),
	        cmocka_unit_test(strange_segments_end_the_call),
	        cmocka_unit_test(a_result_longer_than_its_memory_ends_the_call),
	        cmocka_unit_test(a_reply_chunk_holds_the_whole_reply),
	        cmocka_unit_test(strange_responses_end_the_call),
	        cmocka_unit_test(too_many_results_end_the_call),
	        cmocka_unit_test(a_reply_of_another_type_ends_a_base_call),
	        cmocka_unit_test(responses_to_nothing_are_dropped),
	        cmocka_unit_test(a_continuation_of_nothing_is_reported),
	        cmocka_unit_test(what_is_no_reply_ends_the_call),
	        cmocka_unit_test(too_long_a_response_is_reported),
	        cmocka_unit_test(misplaced_results_are_reported),
	        cmocka_unit_test(an_interrupted_response_is_reported),
	        cmocka_unit_test(a_report_does_not_end_a_kept_call),
	        cmocka_unit_test(a_dropped_response_ends_its_call_at_its_end),
	        cmocka_unit_test(a_dropped_response_without_end),
	        cmocka_unit_test(a_dropped_response_of_a_kept_call),
	        cmocka_unit_test(a_reported_request_goes_another_way),
	        cmocka_unit_test(an_unknown_type_is_not_tried_again),
	        cmocka_unit_test(reservations_end_with_the_transmissions),
	        cmocka_unit_test(a_response_may_invalidate_the_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
