/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls leave behind that end early: parts of Replies still to come, XIDs
 * being discarded, regions that a peer may yet use, credits that nobody gives back.
 */
#include "test_conn_v1.h"

/* -- sequences ------------------------------------------------------------- */

enum { XID = 0x99 };

static struct v1_call *started(struct side *s, uint32_t xid, bool chunk)
{
	struct v1_call *o = v1_call(xid, 8, chunk);

	v1_start(s, o);
	side_forget_sent(s);
	return o;
}

static struct side *client(rr_time drain_ns)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true,
	                                   .grant_ns = RR_TIME_NEVER,
	                                   .drain_ns = drain_ns};

	return raw_ready(RR_CONN_CLIENT, &cfg);
}

static void receive_xid(struct side *s, uint32_t xid, const char *rest)
{
	char hex[400];

	snprintf(hex, sizeof(hex), "%08x%s", xid, rest);
	raw_receive(s, hex);
}

/* A Reply to @xid as one message; the call must have it.  The Reply is in a Receive
 * buffer, which the user cannot take over. */
static void expect_answer(struct side *s, struct v1_call *o, uint32_t xid)
{
	char rest[200];
	size_t bytes;
	void *p;

	snprintf(rest, sizeof(rest), MSG_REPLY EMPTY "%08x 00000001 00000000 00000000",
	         xid);
	receive_xid(s, xid, rest);
	assert_int_equal(o->call.status, RR_CALL_OK);
	assert_false(rr_conn_call_take(&o->call, &p, &bytes));
	rr_conn_call_release(s->c, &o->call, s->now);
	free(o);
}

static void free_ended(struct side *s, struct v1_call *o)
{
	side_drain(s);
	side_complete_all(s);
	assert_int_equal(o->call.status, -ECANCELED);
	free(o);
}

static void tick(struct side *s, rr_time ns)
{
	s->now += ns;
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	side_complete_all(s);
}

/* [E12]: after an RDMA2_ERROR nothing else comes for its XID.  So what has begun is
 * over, however often that happens, and the XID can be used again. */
static void an_error_ends_the_reply_that_had_begun(void **state)
{
	struct side *s = client(0);

	for (unsigned i = 0; i < 40; i++) {
		struct v1_call *o = started(s, XID, false);

		receive_xid(s, XID, MSG_REPLY_MORE EMPTY "00000099");
		receive_xid(s, XID, ERRORMSG "00000064");
		assert_int_equal(o->call.status, RR_CALL_REMOTE_ERROR);
		free(o);
		raw_expect_silence(s);
		o = started(s, XID, false);
		expect_answer(s, o, XID);
	}
	raw_end(s);
}

/* The same where the Reply was refused before, and where its call was given up. */
static void an_error_ends_the_reply_that_is_discarded(void **state)
{
	struct side *s = client(0);

	for (unsigned i = 0; i < 40; i++) {
		struct v1_call *o = started(s, XID, true);

		receive_xid(s, XID, MSG_REPLY_MORE EMPTY "00000099");
		if (i & 1)
			rr_conn_cancel(s->c, &o->call, s->now);
		else
			receive_xid(s, XID,
			            MSG_REPLY_MORE "00000000 00000000 00000000 00000001"
			                           " 00000000 00000099");
		receive_xid(s, XID, ERRORMSG "00000064");
		assert_int_equal(o->call.status, i & 1 ? -ECANCELED : -EPROTO);
		free(o);
		raw_expect_silence(s);
		o = started(s, XID, false);
		expect_answer(s, o, XID);
	}
	raw_end(s);
}

/* ... and if the rest comes all the same it is discarded, to its last part. */
static void parts_after_an_error_are_discarded(void **state)
{
	struct side *s = client(0);
	struct v1_call *o = started(s, XID, false);

	receive_xid(s, XID, MSG_REPLY_MORE EMPTY "00000099");
	receive_xid(s, XID, ERRORMSG "00000064");
	free(o);
	receive_xid(s, XID, MSG_REPLY_MORE EMPTY "00000001");
	receive_xid(s, XID, MSG_REPLY EMPTY "00000000");
	raw_expect_silence(s);
	o = started(s, XID, false);
	expect_answer(s, o, XID);
	raw_end(s);
}

static void drop(struct side *s, struct rr_request *r)
{
	rr_conn_drop(s->c, r, s->now);
}

/* [M3], V2-7.1.3-02: one error for a failing XID, whatever else is wrong with the
 * parts that follow. */
static void one_error_for_a_sequence(void **state)
{
	static const char *const first[] = {
	        /* TPMORE; chunks too early; cut off in the lists */
	        V2 "00000000 00000006 " EMPTY "00000099",
	        MSG_MORE "00000000 00000000 00000000 00000001 00000000 00000099",
	        MSG_MORE "00000000 00000000",
	};
	static const uint32_t code[] = {RDMA2_ERR_INVAL_HTYPE, RDMA2_ERR_INVAL_CONT,
	                                RDMA2_ERR_BAD_XDR};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(first); i++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);
		char want[100];

		s->on_request = drop;
		snprintf(want, sizeof(want), "%08x" ERRORMSG "%08x", XID, code[i]);
		receive_xid(s, XID, first[i]);
		raw_expect(s, want);
		for (unsigned k = 0; k < RR_ARRAY_SIZE(first); k++) {
			receive_xid(s, XID, first[k]);
			raw_expect_silence(s);
		}
		receive_xid(s, XID, MSG "00000000 00000000"); /* the last part */
		raw_expect_silence(s);
		receive_xid(s, XID, MSG EMPTY CALL("00000099"));
		assert_int_equal(s->admitted, 1);
		raw_end(s);
	}
}

/* The same for properties that come too late. */
static void one_error_for_late_properties_in_parts(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	receive_xid(s, XID, CONNPROP_MORE "00000001");
	raw_expect(s, "00000099" ERRORMSG "00000004");
	receive_xid(s, XID, CONNPROP_MORE "0000ffff");
	raw_expect_silence(s);
	receive_xid(s, XID, CONNPROP "00000000");
	raw_expect_silence(s);
	receive_xid(s, XID, CONNPROP "00000000");
	raw_expect(s, "00000099" ERRORMSG "00000004");
	raw_end(s);
}

/* No bound means none. */
static void a_refused_reply_may_be_awaited_without_bound(void **state)
{
	struct side *s = client(RR_TIME_NEVER);
	struct v1_call *o = started(s, XID, true);

	receive_xid(s, XID, MSG_REPLY_MORE EMPTY "00000099");
	receive_xid(s, XID,
	            MSG_REPLY_MORE "00000000 00000000 00000000 00000001"
	                           " 00000000 00000099");
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	tick(s, RR_SEC(3600));
	assert_int_equal(s->calls_done, 0);
	receive_xid(s, XID, MSG_REPLY EMPTY "00000000");
	assert_int_equal(o->call.status, -EPROTO);
	raw_end(s);
	free(o);
}

/* The provider has lost the connection, and said so to the first who asked. */
static void a_registration_without_connection_ends_it(void **state)
{
	struct side *s = client(RR_SEC(1));
	struct v1_call *o = v1_call(XID, 8, true);

	s->fail_register = -ENOTCONN;
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	side_drain(s);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(o->call.status, -ENOTCONN);
	raw_expect_close(s, -ECONNRESET);
	raw_end(s);
	free(o);
}

#define WHOLE_REPLY MSG_REPLY EMPTY "00000099 00000001 00000000 00000000"

/* [K17]: a call without chunks has named no handle ... */
static void a_handle_beside_a_call_without_chunks_ends_it(void **state)
{
	struct side *s = client(RR_SEC(1));
	struct v1_call *o = started(s, XID, false);

	raw_receive_inv(s, "00000099" WHOLE_REPLY, 0x4321);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
	free(o);
}

/* ... and one that has not been sent none either. */
static void a_handle_beside_a_call_not_sent_ends_it(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct v1_call *o = v1_call(XID, 8, true);

	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	side_drain(s);
	raw_receive_inv(s, "00000099" WHOLE_REPLY, 0x4321);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
	free(o);
}

/* What a Reply under way may still invalidate is remembered, by handle: calls that
 * named none are not, so that they push nothing out. */
static void calls_without_a_handle_are_not_remembered(void **state)
{
	struct side *s = client(RR_SEC(1));
	struct v1_call *o = started(s, XID, true);
	uint32_t handle = s->region[0].handle;

	rr_conn_cancel(s->c, &o->call, s->now);
	free_ended(s, o);
	for (uint32_t i = 0; i < 100; i++) {
		struct v1_call *empty = v1_call(XID + 1 + i, 8, true);

		empty->dest = (struct rr_dest){0}; /* a Write chunk without segments */
		v1_start(s, empty);
		assert_int_equal(s->n_sent, 1);
		side_forget_sent(s);
		rr_conn_cancel(s->c, &empty->call, s->now);
		free_ended(s, empty);
		raw_receive(s, "00000000" V2 "00000001 00000000" EMPTY); /* a credit */
		side_forget_sent(s);
	}
	raw_receive_inv(s, "00000099" WHOLE_REPLY, handle);
	assert_false(s->disconnect);
	raw_end(s);
}

/* -- Sends that a peer does not take --------------------------------------- */

struct large_call {
	uint8_t words[600];
	struct rr_piece piece;
	struct rr_call call;
};

static void start_large(struct side *s, struct large_call *l, uint32_t xid, size_t len)
{
	memset(l, 0, sizeof(*l));
	rr_store_u32(l->words, xid);
	l->piece = (struct rr_piece){l->words, len, false};
	l->call = (struct rr_call){.xid = xid, .pieces = &l->piece, .n_pieces = 1};
	assert_int_equal(rr_conn_call(s->c, &l->call, s->now), 0);
	side_drain(s);
}

static void give_up(struct side *s, struct large_call *l)
{
	rr_conn_cancel(s->c, &l->call, s->now);
	side_drain(s);
}

static struct side *ready_client(rr_time drain_ns)
{
	const struct rr_conn_config cfg = {.drain_ns = drain_ns};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);

	side_complete_all(s);
	return s;
}

/* A call whose Send has not completed, of @len octets. */
static struct side *untaken(struct large_call *l, size_t len)
{
	struct side *s = ready_client(0);

	start_large(s, l, XID, len);
	give_up(s, l);
	return s;
}

/* What was copied is not lent, so the call need not wait for its Send. */
static void a_copied_call_ends_at_once(void **state)
{
	struct large_call l;
	struct side *s = untaken(&l, 200);

	assert_int_equal(s->calls_done, 1);
	assert_int_equal(l.call.status, -ECANCELED);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
}

/* Memory of the caller's is: the connection ends if it does not come back. */
static void a_call_that_is_not_taken_ends_the_connection(void **state)
{
	struct large_call l;
	struct side *s = untaken(&l, 600);

	assert_int_equal(s->calls_done, 0);
	assert_int_equal(rr_conn_deadline(s->c), s->now + RR_SEC(5));
	s->now += RR_SEC(5);
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	raw_expect_close(s, -ETIMEDOUT);
	assert_int_equal(s->calls_done, 0); /* the loss takes the memory back */
	side_lose(s, -ETIMEDOUT);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(l.call.status, -ECANCELED);
	raw_end(s);
}

static void a_call_that_is_taken_late_ends_itself_alone(void **state)
{
	struct large_call l;
	struct side *s = untaken(&l, 600);

	s->now += RR_SEC(4);
	side_complete_all(s);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	assert_false(s->disconnect);
	raw_end(s);
}

/* Asking again gives the peer no more time, nor is the call waited for twice. */
static void a_call_is_given_up_once(void **state)
{
	struct large_call l;
	struct side *s = untaken(&l, 600);
	rr_time at = rr_conn_deadline(s->c);

	s->now += RR_SEC(3);
	give_up(s, &l);
	assert_int_equal(rr_conn_deadline(s->c), at);
	side_complete_all(s);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
}

/* Several calls: the time runs from the first that was given up, and anew from each
 * that got its memory back, as long as there is another. */
static void each_call_that_is_taken_gives_the_others_time(void **state)
{
	struct large_call l[3];
	struct side *s = ready_client(0);
	rr_time from = s->now;

	for (unsigned i = 0; i < 3; i++)
		start_large(s, &l[i], XID + i, 600);
	for (unsigned i = 0; i < 3; i++) {
		give_up(s, &l[i]);
		assert_int_equal(rr_conn_deadline(s->c), from + RR_SEC(5));
		s->now += RR_SEC(1);
	}
	for (unsigned i = 0; i < 2; i++) {
		s->now += RR_SEC(1);
		side_complete_one(s);
		assert_int_equal(s->calls_done, i + 1);
		assert_int_equal(rr_conn_deadline(s->c), s->now + RR_SEC(5));
	}
	s->now += RR_SEC(5);
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	raw_expect_close(s, -ETIMEDOUT);
	raw_end(s);
	assert_int_equal(l[2].call.status, -ECANCELED);
}

/* Without a bound they are waited for as long as it takes. */
static void calls_may_be_given_up_without_bound(void **state)
{
	struct large_call l[2];
	struct side *s = ready_client(RR_TIME_NEVER);

	for (unsigned i = 0; i < 2; i++)
		start_large(s, &l[i], XID + i, 600);
	for (unsigned i = 0; i < 2; i++)
		give_up(s, &l[i]);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
		s->now += RR_SEC(3600);
		rr_conn_tick(s->c, s->now);
		side_drain(s);
		assert_false(s->disconnect);
		side_complete_one(s);
		assert_int_equal(s->calls_done, i + 1);
	}
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_error_ends_the_reply_that_had_begun),
	        cmocka_unit_test(an_error_ends_the_reply_that_is_discarded),
	        cmocka_unit_test(parts_after_an_error_are_discarded),
	        cmocka_unit_test(one_error_for_a_sequence),
	        cmocka_unit_test(one_error_for_late_properties_in_parts),
	        cmocka_unit_test(a_refused_reply_may_be_awaited_without_bound),
	        cmocka_unit_test(a_registration_without_connection_ends_it),
	        cmocka_unit_test(a_handle_beside_a_call_without_chunks_ends_it),
	        cmocka_unit_test(a_handle_beside_a_call_not_sent_ends_it),
	        cmocka_unit_test(calls_without_a_handle_are_not_remembered),
	        cmocka_unit_test(a_copied_call_ends_at_once),
	        cmocka_unit_test(a_call_that_is_not_taken_ends_the_connection),
	        cmocka_unit_test(a_call_that_is_taken_late_ends_itself_alone),
	        cmocka_unit_test(a_call_is_given_up_once),
	        cmocka_unit_test(each_call_that_is_taken_gives_the_others_time),
	        cmocka_unit_test(calls_may_be_given_up_without_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
