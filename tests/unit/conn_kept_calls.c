/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Requester's bookkeeping of invalidated handles, and cancelled calls that wait for
 * the peer's invalidation.                                                [ext §4.4]
 */
#include "test_conn_reminv.h"

enum { WAIT = 5000 }; /* default of cancel_wait, ms */

static void tick_at(struct side *s, rr_time t)
{
	s->now = t;
	rr_conn_tick(s->c, t);
	side_drain(s);
	side_complete_all(s);
}

static void cancel(struct side *s, struct inv_call *v)
{
	rr_conn_cancel(s->c, &v->k->call, s->now);
	side_drain(s);
	side_complete_all(s);
}

static void expect_counts(const struct side *s, unsigned local, unsigned remote)
{
	assert_int_equal(inv_counters(s).local_invalidations, local);
	assert_int_equal(inv_counters(s).remote_invalidations, remote);
	assert_int_equal(s->inv_twice, 0);
}

/* Starts a Call with three regions, named by policy WRITE_FIRST, and cancels it. */
static struct side *with_kept_call(struct inv_call **ret)
{
	struct side *s = inv_client(RR_INV_WRITE_FIRST);

	*ret = inv_start(s, 0x55, INV_READ | INV_WRITE | INV_WRITE2);
	assert_int_equal(inv_named(s), (*ret)->write);
	side_forget_sent(s);
	cancel(s, *ret);
	assert_int_equal(s->calls_done, 0);
	expect_counts(s, 2, 0);
	assert_true(inv_valid(s, (*ret)->write));
	assert_int_equal(s->n_regions, 1);
	return s;
}

static void expect_cancelled(struct side *s, struct inv_call *v)
{
	raw_expect_silence(s);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(v->k->call.status, -ECANCELED);
	assert_int_equal(s->n_regions, 0);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
	inv_free(v);
}

/* -- live calls ------------------------------------------------------------ */

/* RI-3.2-02, RI-3.2-04, RI-2.4-03, RI-4.5-01, RI-3.2-01: whichever handle it is, also
 * one that the Call did not name. */
static void any_region_of_the_call_may_be_invalidated(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		struct side *s = inv_client(RR_INV_FIRST);
		struct inv_call *v =
		        inv_start(s, 0x55, INV_READ | INV_WRITE | INV_WRITE2);
		const uint32_t handle[] = {0, v->read, v->write, v->write2};

		inv_answer(s, v, handle[i]);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(v->k->call.status, RR_CALL_OK);
		expect_counts(s, i ? 2 : 3, i ? 1 : 0);
		assert_int_equal(s->n_regions, 0);
		raw_end(s);
		inv_free(v);
	}
}

/* RI-1-01, RI-1-02, RI-3.2-02: the call ends when the last region is invalid. */
static void a_call_ends_when_its_last_region_is_invalid(void **state)
{
	for (unsigned remote = 0; remote < 2; remote++) {
		static uint8_t buf[256];
		struct side *s = inv_client(RR_INV_FIRST);
		struct inv_call *v = inv_start(s, 0x55, INV_READ);
		size_t n = raw_octets("00000055" MSG_REPLY EMPTY REPLY("00000055"), buf,
		                      sizeof(buf));

		side_receive(s, buf, n, remote ? v->read : 0);
		assert_int_equal(s->calls_done, remote);
		side_complete_all(s);
		assert_int_equal(s->calls_done, 1);
		expect_counts(s, !remote, remote);
		raw_end(s);
		inv_free(v);
	}
}

/* RI-P-09: the others as well as the named one. */
static void an_error_leaves_all_regions_to_us(void **state)
{
	struct side *s = inv_client(RR_INV_FIRST);
	struct inv_call *v = inv_start(s, 0x55, INV_READ | INV_WRITE);

	raw_receive(s, "00000055" ERRORMSG "00000064");
	assert_int_equal(v->k->call.status, RR_CALL_REMOTE_ERROR);
	expect_counts(s, 2, 0);
	raw_end(s);
	inv_free(v);
}

/* RI-P-08, RI-3.1-03: the completion counts although the message does not. */
static void a_malformed_reply_has_invalidated_its_handle(void **state)
{
	static const char *const bad[] = {
	        "00000055" MSG_REPLY "00000000",
	        "00000055" MSG_REPLY EMPTY "00000054 00000001 00000000",
	        "00000055" V2 "ffffff77 00000001",
	        "00000055" V2 "00000000 00000005" EMPTY REPLY("00000055"),
	        "00000055" NOMSG_REPLY EMPTY,
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(bad); i++) {
		struct side *s = inv_client(RR_INV_FIRST);
		struct inv_call *v = inv_start(s, 0x55, INV_READ | INV_WRITE);

		raw_receive_inv(s, bad[i], v->read);
		assert_int_equal(s->calls_done, 1);
		assert_true(v->k->call.status < 0);
		assert_false(s->disconnect);
		expect_counts(s, 1, 1);
		raw_end(s);
		inv_free(v);
	}
}

/* -- what closes the connection -------------------------------------------- */

/* RI-4.6-02, RI-P-08: nothing is invalidated twice, and nothing leaks. */
static void invalidation_without_leave_closes(void **state)
{
	static const char *const in[] = {
	        "00000056" MSG_REPLY EMPTY REPLY("00000056"), /* another call's */
	        "00000099" MSG_REPLY EMPTY REPLY("00000099"), /* no call */
	        "00000055" MSG EMPTY CALL("00000055"),
	        "00000000" NOMSG EMPTY, /* a grant message */
	        "00000055" ERRORMSG "00000064",
	        "00000055" V2 "00000005 00000001 00000000",
	        "00000055" V2 "ffffff18 00000001 00000000", /* RDMA2_XMOPT_ERR */
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(in); i++) {
		struct rr_conn_config cfg = inv_config(RR_INV_FIRST);
		struct side *s;
		struct inv_call *v, *other, *plain;

		cfg.rvrsdir = RDMA2_RVRSDIR_SIMPLE;
		s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
		plain = inv_start(s, 0x54, 0);
		v = inv_start(s, 0x55, INV_READ | INV_WRITE);
		other = inv_start(s, 0x56, INV_WRITE2);
		raw_receive_inv(s, in[i], v->read);
		raw_expect_close(s, -EPROTO);
		assert_int_equal(s->calls_done, 0);
		expect_counts(s, 0, 1);
		raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
		assert_int_equal(s->calls_done, 0);  /* too late */
		assert_true(inv_valid(s, v->write)); /* until the connection is gone */
		side_lose(s, -ECONNRESET);
		assert_int_equal(s->calls_done, 3);
		assert_int_equal(v->k->call.status, -ECONNRESET);
		assert_int_equal(other->k->call.status, -ECONNRESET);
		expect_counts(s, 0, 1);
		raw_end(s);
		inv_free(v);
		inv_free(other);
		inv_free(plain);
	}
}

/* Its chunks would be in its last part, which has not been sent. */
static void a_region_not_yet_offered_closes(void **state)
{
	const struct rr_conn_config cfg = inv_config(RR_INV_FIRST);
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct inv_call *v;

	raw_receive(s, "00000077 00000002 00200002 00000005 00000000 00000000");
	side_forget_sent(s);
	v = inv_start(s, 0x55, INV_READ | INV_LONG);
	assert_int_equal(spec_flags(&s->sent[s->n_sent - 1]), RDMA2_F_MORE);
	raw_receive_inv(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"), v->read);
	raw_expect_close(s, -EPROTO);
	expect_counts(s, 0, 1);
	raw_end(s);
	inv_free(v);
}

/* RI-P-08, RI-6-01 */
static void an_unknown_handle_closes(void **state)
{
	for (unsigned kept = 0; kept < 2; kept++) {
		struct side *s = inv_client(RR_INV_FIRST);
		struct inv_call *v = inv_start(s, 0x55, INV_READ);

		if (kept)
			cancel(s, v);
		raw_receive_inv(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"),
		                0x7777);
		raw_expect_close(s, -EPROTO);
		assert_int_equal(inv_counters(s).remote_invalidations, 0);
		raw_end(s);
		inv_free(v);
	}
}

/* In a second Reply, and in two parts of one. */
static void a_handle_invalidated_twice_closes(void **state)
{
	for (unsigned parts = 0; parts < 2; parts++) {
		struct side *s = inv_client(RR_INV_FIRST);
		struct inv_call *v = inv_start(s, 0x55, INV_READ);

		if (parts)
			raw_receive_inv(s, "00000055" MSG_REPLY_MORE EMPTY "00000055",
			                v->read);
		else
			inv_answer(s, v, v->read);
		assert_false(s->disconnect);
		inv_answer(s, v, v->read);
		raw_expect_close(s, -EPROTO);
		assert_int_equal(inv_counters(s).remote_invalidations, 1);
		raw_end(s);
		inv_free(v);
	}
}

/* -- cancelled calls ------------------------------------------------------- */

/* RI-P-07: what the Reply does not invalidate, we do; nothing twice. */
static void a_kept_region_waits_for_the_reply(void **state)
{
	static const struct {
		const char *in;
		bool inv;
	} t[] = {
	        {"00000055" MSG_REPLY EMPTY REPLY("00000055"), true},
	        {"00000055" MSG_REPLY EMPTY REPLY("00000055"), false},
	        {"00000055" NOMSG_REPLY EMPTY, true},
	        {"00000055" NOMSG_REPLY EMPTY, false},
	        {"00000055" MSG_REPLY "00000000", true}, /* malformed */
	        {"00000055" MSG_REPLY "00000000", false},
	        {"00000055" V2 "ffffff77 00000001", true},
	        {"00000055" V2 "ffffff77 00000001", false},
	        {"00000055" ERRORMSG "00000064", false},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct inv_call *v;
		struct side *s = with_kept_call(&v);

		assert_int_equal(rr_conn_deadline(s->c), s->now + RR_MS(WAIT));
		raw_receive_inv(s, t[i].in, t[i].inv ? v->write : 0);
		expect_counts(s, t[i].inv ? 2 : 3, t[i].inv);
		expect_cancelled(s, v);
	}
}

/* RI-P-07 */
static void a_kept_region_waits_for_cancel_wait_at_most(void **state)
{
	struct inv_call *v;
	struct side *s = with_kept_call(&v);
	rr_time end = s->now + RR_MS(WAIT);

	tick_at(s, end - 1);
	assert_int_equal(s->calls_done, 0);
	assert_int_equal(rr_conn_deadline(s->c), end);
	tick_at(s, end);
	assert_int_equal(s->calls_done, 1);
	expect_counts(s, 3, 0);
	/* the device has taken it: so do we */
	raw_receive_inv(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"), v->write);
	assert_int_equal(s->inv_twice, 1);
	expect_cancelled(s, v);
}

static void the_wait_may_have_another_length(void **state)
{
	static const rr_time wait[] = {RR_MS(70), RR_TIME_NEVER};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(wait); i++) {
		struct rr_conn_config cfg = inv_config(RR_INV_FIRST);
		struct side *s;
		struct inv_call *v;

		cfg.features.cancel_wait = wait[i];
		s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
		v = inv_start(s, 0x55, INV_READ);
		cancel(s, v);
		assert_int_equal(rr_conn_deadline(s->c),
		                 i ? RR_TIME_NEVER : s->now + RR_MS(70));
		raw_end(s);
		assert_int_equal(v->k->call.status, -ECANCELED);
		inv_free(v);
	}
}

/* RI-P-07: each has its own time. */
static void kept_calls_end_in_turn(void **state)
{
	struct inv_call *v, *w;
	struct side *s = with_kept_call(&v);
	rr_time start = s->now;

	tick_at(s, start + RR_MS(10));
	w = inv_start(s, 0x56, INV_READ);
	cancel(s, w);
	tick_at(s, start + RR_MS(WAIT));
	assert_int_equal(v->k->call.status, -ECANCELED);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(rr_conn_deadline(s->c), start + RR_MS(WAIT + 10));
	tick_at(s, start + RR_MS(WAIT + 10));
	assert_int_equal(s->calls_done, 2);
	expect_counts(s, 4, 0);
	raw_end(s);
	inv_free(v);
	inv_free(w);
}

/* A refusal of our properties switches the feature off, but not the timer. */
static void a_kept_call_ends_although_the_properties_were_refused(void **state)
{
	struct rr_conn_config cfg = inv_config(RR_INV_FIRST);
	struct side *s;
	struct inv_call *v;

	cfg.xid_seed = 0x77;
	s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	v = inv_start(s, 0x55, INV_READ);
	cancel(s, v);
	raw_receive(s, "00000077" ERRORMSG "00000003");
	assert_int_equal(rr_conn_deadline(s->c), s->now + RR_MS(WAIT));
	tick_at(s, s->now + RR_MS(WAIT));
	assert_int_equal(s->calls_done, 1);
	raw_end(s);
	inv_free(v);
}

static void cancelling_twice_changes_nothing(void **state)
{
	struct inv_call *v;
	struct side *s = with_kept_call(&v);
	rr_time end = s->now + RR_MS(WAIT);

	tick_at(s, s->now + RR_MS(100));
	cancel(s, v);
	assert_int_equal(s->calls_done, 0);
	assert_int_equal(rr_conn_deadline(s->c), end);
	raw_receive_inv(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"), v->write);
	expect_counts(s, 2, 1);
	cancel(s, v);
	expect_cancelled(s, v);
}

static void a_loss_ends_kept_calls(void **state)
{
	struct inv_call *v;
	struct side *s = with_kept_call(&v);

	side_lose(s, -ECONNRESET);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(v->k->call.status, -ECANCELED);
	raw_end(s);
	inv_free(v);
}

static void a_closing_connection_ends_kept_calls(void **state)
{
	struct side *s = inv_client(RR_INV_FIRST);
	struct inv_call *v = inv_start(s, 0x55, INV_READ);

	rr_conn_close(s->c, 0, s->now);
	cancel(s, v);
	side_lose(s, 0);
	assert_int_equal(v->k->call.status, -ECANCELED);
	raw_end(s);
	inv_free(v);
}

/* RI-P-08: the memory of a cancelled call belongs to no call any more. */
static void a_reply_to_another_call_may_release_a_kept_region(void **state)
{
	struct inv_call *v, *w;
	struct side *s = with_kept_call(&v);

	w = inv_start(s, 0x56, INV_READ);
	inv_answer(s, w, v->write);
	assert_false(s->disconnect);
	assert_int_equal(s->calls_done, 2);
	assert_int_equal(v->k->call.status, -ECANCELED);
	assert_int_equal(w->k->call.status, RR_CALL_OK);
	expect_counts(s, 3, 1);
	raw_end(s);
	inv_free(v);
	inv_free(w);
}

/* ... but other messages may not. */
static void a_call_that_invalidates_a_kept_region_closes(void **state)
{
	struct inv_call *v;
	struct side *s = with_kept_call(&v);

	raw_receive_inv(s, "00000000" NOMSG EMPTY, v->write);
	raw_expect_close(s, -EPROTO);
	expect_counts(s, 2, 1);
	raw_end(s);
	assert_int_equal(v->k->call.status, -ECANCELED);
	inv_free(v);
	s = with_kept_call(&v);
	raw_receive_inv(s, "00000000" NOMSG EMPTY, v->read); /* invalid already */
	raw_expect_close(s, -EPROTO);
	raw_end(s);
	inv_free(v);
}

/* The peer's Send was in transit when we invalidated the others. */
static void a_late_invalidation_of_another_region_is_accepted(void **state)
{
	struct inv_call *v;
	struct side *s = with_kept_call(&v);

	raw_receive_inv(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"), v->read);
	assert_int_equal(s->inv_twice, 1);
	assert_int_equal(inv_counters(s).local_invalidations, 3);
	expect_cancelled(s, v);
}

/* -- cancelled calls that need not wait ------------------------------------ */

/* RI-P-07 */
static void a_device_that_survives_lets_all_go_at_once(void **state)
{
	const struct rr_conn_config cfg = inv_config(RR_INV_FIRST);
	struct side *s = calloc(1, sizeof(*s));
	struct inv_call *v;

	s->cfg = cfg;
	side_new(s, RR_CONN_CLIENT);
	rr_conn_survives_inv_twice(s->c);
	side_open(s);
	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	side_forget_sent(s);
	v = inv_start(s, 0x55, INV_READ | INV_WRITE);
	cancel(s, v);
	assert_int_equal(s->calls_done, 1);
	expect_counts(s, 2, 0);
	raw_receive_inv(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"), v->read);
	assert_false(s->disconnect);
	raw_end(s);
	inv_free(v);
}

static void a_call_that_named_nothing_ends_at_once(void **state)
{
	static const unsigned chunks[] = {INV_READ | INV_WRITE, 0};
	struct inv_call *v;
	struct side *s;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(chunks); i++) {
		s = inv_client(RR_INV_NONE);
		v = inv_start(s, 0x55, chunks[i]);

		cancel(s, v);
		assert_int_equal(s->calls_done, 1);
		expect_counts(s, i ? 0 : 2, 0);
		raw_end(s);
		inv_free(v);
	}
	/* a handle 0 that was not named either */
	s = inv_client(RR_INV_FIRST);
	s->no_handle = 1;
	v = inv_start(s, 0x55, INV_READ);
	cancel(s, v);
	assert_int_equal(s->calls_done, 1);
	raw_end(s);
	inv_free(v);
}

/* Its chunks are unknown to the peer. */
static void a_call_that_was_not_sent_ends_at_once(void **state)
{
	const struct rr_conn_config cfg = inv_config(RR_INV_FIRST);
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct inv_call *first, *v;

	raw_receive(s, "00000077 00000002 00200001 00000005 00000000 00000000");
	first = inv_start(s, 0x54, 0);
	side_forget_sent(s);
	v = inv_start(s, 0x55, INV_READ);
	cancel(s, v);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(s->n_regions, 0);
	raw_end(s);
	inv_free(first);
	inv_free(v);
}

/* A part of the Reply has invalidated the named region already. */
static void a_call_whose_region_is_gone_ends_at_once(void **state)
{
	struct side *s = inv_client(RR_INV_FIRST);
	struct inv_call *v = inv_start(s, 0x55, INV_READ);

	side_forget_sent(s);
	raw_receive_inv(s, "00000055" MSG_REPLY_MORE EMPTY "00000055", v->read);
	cancel(s, v);
	assert_int_equal(s->calls_done, 1);
	raw_receive(s, "00000055" MSG_REPLY EMPTY "00000001 00000000");
	expect_counts(s, 0, 1);
	raw_expect_silence(s);
	raw_end(s);
	inv_free(v);
}

/* -- Replies in parts ------------------------------------------------------ */

/* The last part still comes, and may invalidate. */
static void a_call_cancelled_between_parts_waits_for_the_last(void **state)
{
	for (unsigned inv = 0; inv < 2; inv++) {
		struct side *s = inv_client(RR_INV_FIRST);
		struct inv_call *v = inv_start(s, 0x55, INV_READ | INV_WRITE);
		struct rr_conn_info info;

		side_forget_sent(s);
		raw_receive(s, "00000055" MSG_REPLY_MORE EMPTY "00000055");
		cancel(s, v);
		rr_conn_info(s->c, &info);
		assert_int_equal(info.held_bytes, 0); /* no more parts are kept */
		raw_receive(s, "00000055" MSG_REPLY_MORE EMPTY "00000001");
		assert_int_equal(s->calls_done, 0);
		raw_receive_inv(s, "00000055" MSG_REPLY EMPTY "00000000",
		                inv ? v->read : 0);
		expect_counts(s, inv ? 1 : 2, inv);
		expect_cancelled(s, v);
	}
}

/* All parts come after the call was cancelled. */
static void a_reply_in_parts_ends_the_wait_by_its_last(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		bool inv = i & 1, malformed = i & 2;
		struct inv_call *v;
		struct side *s = with_kept_call(&v);

		raw_receive(s, malformed ? "00000055" MSG_REPLY_MORE "00000000"
		                         : "00000055" MSG_REPLY_MORE EMPTY "00000055");
		raw_receive(s, "00000055" MSG_REPLY_MORE "00000000");
		assert_int_equal(s->calls_done, 0);
		raw_receive_inv(s, "00000055" MSG_REPLY EMPTY "00000001",
		                inv ? v->write : 0);
		expect_counts(s, inv ? 2 : 3, inv);
		expect_cancelled(s, v);
	}
}

/* The peer invalidates before its last part: the memory is released at once. */
static void an_early_invalidation_ends_the_wait(void **state)
{
	struct inv_call *v;
	struct side *s = with_kept_call(&v);

	raw_receive_inv(s, "00000055" MSG_REPLY_MORE EMPTY "00000055", v->write);
	assert_int_equal(s->calls_done, 1);
	raw_receive(s, "00000055" MSG_REPLY EMPTY "00000001");
	expect_counts(s, 2, 1);
	expect_cancelled(s, v);
}

/* A refused Reply was being awaited to its end already. */
static void a_call_cancelled_while_draining_keeps_waiting(void **state)
{
	for (unsigned inv = 0; inv < 2; inv++) {
		struct side *s = inv_client(RR_INV_FIRST);
		struct inv_call *v = inv_start(s, 0x55, INV_READ | INV_WRITE);

		side_forget_sent(s);
		raw_receive(s, "00000055" MSG_REPLY_MORE "00000000"); /* malformed */
		assert_int_equal(s->calls_done, 0);
		cancel(s, v);
		assert_int_equal(s->calls_done, 0);
		expect_counts(s, 1, 0);
		raw_receive_inv(s, "00000055" MSG_REPLY EMPTY "00000001",
		                inv ? v->read : 0);
		expect_counts(s, inv ? 1 : 2, inv);
		expect_cancelled(s, v);
	}
}

/* -- a provider that does not let go --------------------------------------- */

/* The wait is over, but the invalidation never completes: the peer is stuck. */
static void a_kept_region_that_cannot_be_invalidated_closes(void **state)
{
	struct inv_call *v;
	struct side *s = with_kept_call(&v);

	s->now += RR_MS(WAIT);
	rr_conn_tick(s->c, s->now);
	side_drain(s); /* INVALIDATE is polled and not completed */
	assert_int_equal(s->calls_done, 0);
	assert_int_equal(rr_conn_deadline(s->c), s->now + RR_SEC(5));
	s->now += RR_SEC(5);
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	raw_expect_close(s, -ETIMEDOUT);
	raw_end(s);
	inv_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(any_region_of_the_call_may_be_invalidated),
	        cmocka_unit_test(a_call_ends_when_its_last_region_is_invalid),
	        cmocka_unit_test(an_error_leaves_all_regions_to_us),
	        cmocka_unit_test(a_malformed_reply_has_invalidated_its_handle),
	        cmocka_unit_test(invalidation_without_leave_closes),
	        cmocka_unit_test(a_region_not_yet_offered_closes),
	        cmocka_unit_test(an_unknown_handle_closes),
	        cmocka_unit_test(a_handle_invalidated_twice_closes),
	        cmocka_unit_test(a_kept_region_waits_for_the_reply),
	        cmocka_unit_test(a_kept_region_waits_for_cancel_wait_at_most),
	        cmocka_unit_test(the_wait_may_have_another_length),
	        cmocka_unit_test(kept_calls_end_in_turn),
	        cmocka_unit_test(a_kept_call_ends_although_the_properties_were_refused),
	        cmocka_unit_test(cancelling_twice_changes_nothing),
	        cmocka_unit_test(a_loss_ends_kept_calls),
	        cmocka_unit_test(a_closing_connection_ends_kept_calls),
	        cmocka_unit_test(a_reply_to_another_call_may_release_a_kept_region),
	        cmocka_unit_test(a_call_that_invalidates_a_kept_region_closes),
	        cmocka_unit_test(a_late_invalidation_of_another_region_is_accepted),
	        cmocka_unit_test(a_device_that_survives_lets_all_go_at_once),
	        cmocka_unit_test(a_call_that_named_nothing_ends_at_once),
	        cmocka_unit_test(a_call_that_was_not_sent_ends_at_once),
	        cmocka_unit_test(a_call_whose_region_is_gone_ends_at_once),
	        cmocka_unit_test(a_call_cancelled_between_parts_waits_for_the_last),
	        cmocka_unit_test(a_reply_in_parts_ends_the_wait_by_its_last),
	        cmocka_unit_test(an_early_invalidation_ends_the_wait),
	        cmocka_unit_test(a_call_cancelled_while_draining_keeps_waiting),
	        cmocka_unit_test(a_kept_region_that_cannot_be_invalidated_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
