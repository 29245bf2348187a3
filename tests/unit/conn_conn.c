/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Odd moments: posts that fail, events that come at the wrong time, actions
 * that are never drawn, memory that is not there.
 */
#include "test_conn_raw.h"

struct one {
	uint8_t words[9000];
	struct rr_piece piece[2];
	struct rr_dest dest;
	uint8_t result[64];
	struct rr_call call;
};

static struct one *new_call(uint32_t xid, size_t len, bool chunk)
{
	struct one *o = calloc(1, sizeof(*o));

	rr_store_u32(o->words, xid);
	o->piece[0] = (struct rr_piece){o->words, len, false};
	o->dest = (struct rr_dest){.base = o->result, .len = sizeof(o->result)};
	o->call = (struct rr_call){.xid = xid,
	                           .pieces = o->piece,
	                           .n_pieces = 1,
	                           .dests = &o->dest,
	                           .n_dests = chunk};
	return o;
}

static void queue(struct side *s, struct one *o)
{
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
}

static void start(struct side *s, struct one *o)
{
	queue(s, o);
	side_drain(s);
}

/* -- memory ---------------------------------------------------------------- */

static void creation_fails_cleanly(void **state)
{
	for (long n = 1;; n++) {
		struct side *s = calloc(1, sizeof(*s));
		int err;

		s->cfg.credits = 4;
		s->cfg.mem = (struct rr_mem){side_get, side_put, s};
		conn_limits(&s->cfg);
		s->mem_fail_at = n;
		err = rr_conn_new(&s->cfg, 0, &s->c);
		if (!err) {
			s->mem_fail_at = 0;
			rr_conn_free(s->c);
			assert_int_equal(s->mem_blocks, 0);
			free(s);
			assert_true(n > 10);
			return;
		}
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(s->mem_blocks, 0);
		free(s);
	}
}

static void free_accepts_null(void **state)
{
	rr_conn_free(NULL);
}

/* Calls queued on a connection that never opens. */
static void freed_before_it_opens(void **state)
{
	struct side *s = calloc(1, sizeof(*s));
	struct one *o = new_call(1, 8, true);

	side_new(s, RR_CONN_CLIENT);
	start(s, o);
	rr_conn_free(s->c);
	assert_null(o->call.priv);
	assert_int_equal(s->mem_blocks, 0);
	free(o);
	free(s);
}

/* The Reply chunk's memory is not there: continuation will do. [v2 §A.2] */
static void no_memory_for_a_reply_chunk(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, false);

	o->call.reply_bytes = 100000;
	queue(s, o);
	s->mem_fail_at = 2; /* after the offer itself */
	side_drain(s);
	raw_expect(s, "00000099" MSG EMPTY "00000099 00000000");
	raw_end(s);
	free(o);
}

static void no_spare_for_a_call_is_a_system_error(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->mem_fail_at = 2; /* the request's state, then the spare */
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	s->mem_fail_at = 0;
	raw_expect(s, "00000055" ERRORMSG "00000064");
	assert_int_equal(s->requested, 0);
	raw_end(s);
}

static void no_spare_for_a_reply_ends_the_call(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, false);

	start(s, o);
	side_complete_all(s);
	s->mem_fail_at = 1;
	raw_receive(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	assert_int_equal(o->call.status, -ENOMEM);
	raw_end(s);
	free(o);
}

/* -- posts that fail ------------------------------------------------------- */

static void a_failed_send_closes(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, false);

	start(s, o);
	s->wc[s->wc_head % SIDE_QUEUE].status = -EIO;
	side_complete_all(s);
	raw_expect_close(s, -EIO);
	raw_end(s);
	assert_int_equal(o->call.status, -EIO);
	free(o);
}

static void a_failed_receive_closes(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);

	rr_conn_completed(s->c, s->posted[s->posted_head++ % SIDE_QUEUE].token, -EIO,
	                  s->now);
	side_drain(s);
	raw_expect_close(s, -EIO);
	raw_end(s);
}

/* V2-7.4-02: closed before the transaction is complete. */
static void a_failed_invalidation_closes_first(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, true);

	start(s, o);
	side_complete_all(s);
	rr_conn_cancel(s->c, &o->call, s->now);
	side_drain(s);
	s->wc[s->wc_head % SIDE_QUEUE].status = -EIO;
	side_complete_all(s);
	raw_expect_close(s, -EIO);
	assert_int_equal(s->calls_done, 0);
	side_lose(s, 0);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(o->call.status, -ECANCELED);
	raw_end(s);
	free(o);
}

/* -- events at the wrong time ---------------------------------------------- */

static void a_message_before_open_opens(void **state)
{
	struct side *s = calloc(1, sizeof(*s));

	side_new(s, RR_CONN_SERVER);
	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	assert_true(s->ready);
	side_open(s); /* harmless */
	raw_end(s);
}

static void messages_after_close_are_ignored(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	rr_conn_close(s->c, 0, s->now);
	rr_conn_close(s->c, -EPROTO, s->now); /* harmless */
	side_drain(s);
	raw_expect_close(s, 0);
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	raw_receive(s, "00000055" V2 "00000009 00000000");
	assert_int_equal(s->admitted, 0);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
}

static void events_after_the_loss_are_ignored(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, true);
	uint64_t token = s->posted[s->posted_head % SIDE_QUEUE].token;

	side_lose(s, -ETIMEDOUT);
	rr_conn_completed(s->c, token, 0, s->now);
	rr_conn_received(s->c, token, 0, 0, s->now);
	rr_conn_registered(s->c, token, 0, 1, 1);
	rr_conn_lost(s->c, 0, s->now);
	rr_conn_open(s->c, s->now);
	rr_conn_close(s->c, 0, s->now);
	rr_conn_tick(s->c, s->now + RR_SEC(100));
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), -ETIMEDOUT);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	side_drain(s);
	raw_end(s);
	free(o);
}

/* Nothing was drawn between the event and the loss. */
static void loss_with_actions_undrawn(void **state)
{
	static uint8_t buf[200];
	size_t n;
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, true), *p = new_call(0x9a, 8, false);
	struct rr_action a;

	queue(s, o);
	queue(s, p);
	assert_true(rr_conn_next(s->c, &a)); /* lets the first one begin */
	assert_int_equal(a.kind, RR_ACT_REGISTER);
	rr_conn_registered(s->c, a.token, 0, 1, 1);
	side_lose(s, 0);
	assert_int_equal(s->calls_done, 2);
	raw_end(s);
	free(o);
	free(p);

	s = raw_ready(RR_CONN_SERVER, NULL);
	n = raw_octets("00000055" MSG EMPTY CALL("00000055"), buf, sizeof(buf));
	memcpy(s->posted_base[s->posted_head % SIDE_QUEUE], buf, n);
	rr_conn_received(s->c, s->posted[s->posted_head++ % SIDE_QUEUE].token, n, 0,
	                 s->now);
	side_lose(s, 0);
	assert_int_equal(s->admitted, 0); /* the user never heard of it */
	assert_int_equal(s->requests_done, 0);
	raw_end(s);
}

static struct rr_request *held;

static void hold(struct side *s, struct rr_request *r)
{
	held = r;
}

static void drop(struct side *s, struct rr_request *r)
{
	rr_conn_drop(s->c, r, s->now);
}

/* Reads are queued but not drawn when the end comes. */
static void loss_with_reads_and_writes_undrawn(void **state)
{
	struct rr_piece p[2];
	static uint8_t words[8] = {0, 0, 0, 0x55, 0, 0, 0, 1};

	for (unsigned k = 0; k < 2; k++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);

		s->on_admit = hold;
		s->on_request = hold;
		raw_receive(
		        s, "00000055" MSG "00000000" READ(
		                   "00000010",
		                   "00000004") "00000000"
		                               "00000001 00000001" SEG(
		                                       "000000ab",
		                                       "00000010") "00000000"
		                                                   "00000000" CALL(
		                                                           "00000055"));
		rr_conn_admit(s->c, held, NULL, s->now);
		if (k) {
			side_drain(s);
			side_complete_all(s);
			p[0] = (struct rr_piece){words, 8, false};
			p[1] = (struct rr_piece){words, 3, true};
			rr_conn_reply(s->c, held, p, 2, s->now);
		}
		side_lose(s, 0);
		assert_int_equal(s->requests_done, 1);
		raw_end(s);
	}
}

/* The user takes its time over each decision; the connection ends meanwhile. */
static void decisions_after_the_end(void **state)
{
	static uint8_t words[8] = {0, 0, 0, 0x55, 0, 0, 0, 1};
	const struct rr_piece p = {words, 8, false};
	const struct rr_error e = {.code = RDMA2_ERR_SYSTEM};

	for (unsigned k = 0; k < 10; k++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);
		bool closing = k >= 5; /* asked to close, not yet lost */

		s->on_admit = k % 5 < 3 ? hold : NULL;
		s->on_request = hold;
		raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
		if (closing) {
			rr_conn_close(s->c, 0, s->now);
			side_drain(s);
		} else {
			side_lose(s, 0);
			assert_false(s->closed);
		}
		if (k % 5 == 0)
			rr_conn_admit(s->c, held, NULL, s->now);
		else if (k % 5 == 1)
			rr_conn_refuse(s->c, held, &e, s->now);
		else if (k % 5 == 4)
			rr_conn_reply(s->c, held, &p, 1, s->now);
		else
			rr_conn_drop(s->c, held, s->now);
		side_drain(s);
		assert_int_equal(s->requests_done, 1);
		assert_int_equal(s->n_sent, 0);
		raw_end(s);
	}
}

/* A reply may come at ADMIT: an RPC-level refusal needs nothing pulled. */
static void a_reply_at_admission(void **state)
{
	static uint8_t words[8] = {0, 0, 0, 0x55, 0, 0, 0, 1};
	const struct rr_piece p = {words, 8, false};
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_admit = hold;
	raw_receive(s,
	            "00000055" MSG "00000000" READ(
	                    "00000010",
	                    "00000004") "00000000 00000000 00000000" CALL("00000055"));
	rr_conn_reply(s->c, held, &p, 1, s->now);
	side_drain(s);
	side_complete_all(s);
	assert_int_equal(s->n_reads, 0);
	raw_expect(s, "00000055" MSG_REPLY EMPTY "00000055 00000001");
	assert_int_equal(s->requests_done, 1);
	raw_end(s);
}

/* More pieces than fit, or a stream that is no XDR: ours to refuse. */
static void a_reply_that_cannot_be_expressed(void **state)
{
	static uint8_t words[8] = {0, 0, 0, 0x55, 0, 0, 0, 1};
	struct rr_piece p[RR_CALL_MAX_PIECES + 1];

	for (unsigned k = 0; k < 3; k++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);

		for (unsigned i = 0; i <= RR_CALL_MAX_PIECES; i++)
			p[i] = (struct rr_piece){words, k ? 7 : 8, false};
		s->on_request = hold;
		raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
		rr_conn_reply(s->c, held, p,
		              k == 2 ? 0
		              : k    ? 1
		                     : RR_CALL_MAX_PIECES + 1,
		              s->now);
		side_drain(s);
		raw_expect(s, "00000055" ERRORMSG "00000064");
		assert_int_equal(s->requests_done, 1);
		raw_end(s);
	}
}

/* -- regions --------------------------------------------------------------- */

/* Cancelled while the provider registers: invalidated all the same. */
static void cancel_while_registering(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, true);
	struct rr_action a;

	queue(s, o);
	assert_true(rr_conn_next(s->c, &a));
	assert_int_equal(a.kind, RR_ACT_REGISTER);
	assert_int_equal(a.access, 2);
	rr_conn_cancel(s->c, &o->call, s->now);
	assert_false(rr_conn_next(s->c, &a));
	rr_conn_registered(s->c, a.token, 0, 0x4444, 0);
	assert_true(rr_conn_next(s->c, &a));
	assert_int_equal(a.kind, RR_ACT_INVALIDATE);
	assert_int_equal(a.handle, 0x4444);
	rr_conn_completed(s->c, a.token, 0, s->now);
	side_drain(s);
	assert_int_equal(o->call.status, -ECANCELED);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
	free(o);
}

static void cancel_before_registering(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, true);
	struct rr_dest d[2] = {o->dest, o->dest};
	struct rr_action a;

	o->call.dests = d;
	o->call.n_dests = 2;
	queue(s, o);
	assert_true(rr_conn_next(s->c, &a));
	rr_conn_cancel(s->c, &o->call, s->now); /* the second is not drawn yet */
	rr_conn_registered(s->c, a.token, -ENOMEM, 0, 0);
	side_drain(s);
	assert_int_equal(o->call.status, -ECANCELED);
	raw_end(s);
	free(o);
}

/* Invalidated from both ends at once: either order is fine. */
static void invalidation_from_both_ends(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	struct one *o = new_call(0x99, 8, true);
	uint32_t handle;

	start(s, o);
	side_complete_all(s);
	handle = s->region[0].handle;
	s->n_regions = 0; /* the peer's Send did it and is still in the queue */
	rr_conn_cancel(s->c, &o->call, s->now);
	side_drain(s); /* the provider answers -EINVAL */
	assert_false(s->disconnect);
	assert_int_equal(o->call.status, -ECANCELED);
	raw_receive_inv(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"), handle);
	assert_false(s->disconnect);
	raw_end(s);
	free(o);
}

static void invalidating_twice_closes(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	struct one *o = new_call(0x99, 8, true);
	uint32_t handle;

	start(s, o);
	side_complete_all(s);
	handle = s->region[0].handle;
	raw_receive_inv(s, "00000099" MSG_REPLY_MORE EMPTY "00000099", handle);
	assert_false(s->disconnect);
	raw_receive_inv(s, "00000099" MSG_REPLY_MORE EMPTY "00000001", handle);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
	free(o);
}

/* -- sequences ------------------------------------------------------------- */

/* A final part with a Read chunk that no stream and no region can have. */
#define CLOSER                                                                         \
	MSG "00000000 00000001 fffffffc 00000000 ffffffff 00000000 00000000 "          \
	    "00000000 00000000 00000000 00000000"

/* An answer to a Call that is half sent: the call ends, the sequence too. */
static void an_answer_to_half_a_call(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct side *s = raw_new(RR_CONN_CLIENT, NULL);
		struct one *o = new_call(0x99, 9000, false);

		side_forget_sent(s);
		raw_receive(s, "00000001 00000002 00200001 00000005 00000000 00000000");
		o->words[4060] = 1;
		o->words[4063] = 0x42;
		start(s, o);
		side_complete_all(s);
		assert_int_equal(s->n_sent, 1); /* one credit, one part */
		side_forget_sent(s);
		raw_receive(
		        s,
		        k ? "00000099 00000002 00200001 00000004 00000001 00000005"
		          : "00000099 00000002 00200001 00000000 00000001" EMPTY REPLY(
		                    "00000099"));
		assert_int_equal(o->call.status,
		                 k ? (int)RR_CALL_REMOTE_ERROR : -EPROTO);
		raw_expect(s, "00000099" CLOSER);
		raw_end(s);
		free(o);
	}
}

/* V2-7.2.1-01, -02: what we close with is refused and not executed, whatever came
 * before it; V2-7.1.3-02, [M3]: in silence where the sequence was refused already. */
static void the_closing_part_is_refused(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = drop;
	raw_receive(s, "00000099" MSG_MORE EMPTY CALL("00000099"));
	raw_receive(s, "00000099" CLOSER);
	raw_expect(s, "00000099" ERRORMSG "00000002");
	raw_receive(s, "00000000" MSG_MORE EMPTY CALL("00000000")); /* [O11] */
	raw_receive(s, "00000000" CLOSER);
	raw_expect(s, "00000000" ERRORMSG "00000002");
	raw_receive(s, "00000098" MSG_MORE
	               "00000000 00000000 00000000 00000001 00000000" CALL("00000098"));
	raw_expect(s, "00000098" ERRORMSG "00000005");
	raw_receive(s, "00000098" CLOSER);
	raw_expect_silence(s);
	assert_int_equal(s->admitted, 0);
	raw_receive(s, "00000098" MSG EMPTY CALL("00000098"));
	assert_int_equal(s->admitted, 1); /* all three sequences are over */
	raw_end(s);
}

static void a_reply_without_end_is_dropped_with_its_call(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, false);

	start(s, o);
	side_complete_all(s);
	side_forget_sent(s);
	raw_receive(s, "00000099" MSG_REPLY_MORE EMPTY REPLY("00000099"));
	rr_conn_cancel(s->c, &o->call, s->now);
	side_drain(s);
	assert_int_equal(o->call.status, -ECANCELED);
	raw_receive(s, "00000099" MSG_REPLY_MORE EMPTY "00000000");
	raw_receive(s, "00000099" MSG_REPLY EMPTY "00000000");
	raw_expect_silence(s);
	raw_end(s);
	free(o);
}

/* [M7] at a Requester: longer than the call allows.  It ends with the Reply. */
static void a_reply_beyond_the_limit_ends_the_call(void **state)
{
	const struct rr_conn_config cfg = {.max_message_bytes = 64};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	struct one *o = new_call(0x99, 8, false);

	o->call.reply_bytes = 72;
	start(s, o);
	side_complete_all(s);
	side_forget_sent(s);
	for (unsigned i = 0; i < 5; i++)
		raw_receive(s, "00000099" MSG_REPLY_MORE EMPTY REPLY("00000099"));
	assert_int_equal(s->calls_done, 0);
	raw_receive(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(o->call.status, -EOVERFLOW);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
	free(o);
}

/* A call whose Reply has broken a rule in one of its parts, and the handle that the
 * last of them will invalidate. */
static struct one *half_refused(struct side *s, uint32_t *ret_handle)
{
	struct one *o = new_call(0x99, 8, true);

	start(s, o);
	side_complete_all(s);
	side_forget_sent(s);
	*ret_handle = s->region[0].handle;
	raw_receive(s, "00000099" MSG_REPLY_MORE EMPTY "00000099");
	raw_receive(s,
	            "00000099" MSG_REPLY_MORE
	            "00000000 00000000 00000000 00000001 00000000" REPLY("00000099"));
	assert_int_equal(s->calls_done, 0);
	assert_int_equal(side_valid_regions(s), 1);
	raw_receive(s, "00000099" MSG_REPLY_MORE EMPTY "00000000");
	raw_expect_silence(s);
	assert_int_equal(s->calls_done, 0);
	return o;
}

/* [M9, M3]: the rest is discarded, and its last part may invalidate. */
static void a_refused_reply_is_awaited_to_its_end(void **state)
{
	static const char *const end[] = {
	        "00000099" MSG_REPLY EMPTY "00000000",
	        "00000099" MSG_REPLY "00000000", /* malformed */
	};
	const struct rr_conn_config cfg = {.remote_invalidate = true,
	                                   .grant_ns = RR_TIME_NEVER};

	for (unsigned k = 0; k < RR_ARRAY_SIZE(end); k++) {
		struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
		struct rr_conn_counters n;
		uint32_t handle;
		struct one *o = half_refused(s, &handle);

		raw_receive_inv(s, end[k], handle);
		raw_expect_silence(s);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(o->call.status, -EPROTO);
		assert_int_equal(side_valid_regions(s), 0);
		rr_conn_counters(s->c, &n);
		assert_int_equal(n.remote_invalidations, 1);
		assert_int_equal(n.local_invalidations, 0);
		assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
		raw_end(s);
		free(o);
	}
}

/* ... but not for ever, and not when something else ends it. */
static void a_refused_reply_without_end_is_given_up(void **state)
{
	for (unsigned k = 0; k < 4; k++) {
		const struct rr_conn_config cfg = {.remote_invalidate = true,
		                                   .grant_ns = RR_TIME_NEVER,
		                                   .drain_ns = RR_MS(70)};
		struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
		uint32_t handle;
		struct one *o = half_refused(s, &handle);

		assert_int_equal(rr_conn_deadline(s->c), s->now + RR_MS(70));
		if (k == 0) {
			rr_conn_tick(s->c, s->now + RR_MS(70) - 1);
			side_drain(s);
			assert_int_equal(s->calls_done, 0);
			s->now += RR_MS(70);
			rr_conn_tick(s->c, s->now);
			assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
			side_drain(s);
		} else if (k == 1) {
			rr_conn_cancel(s->c, &o->call, s->now);
			side_drain(s);
		} else if (k == 2) {
			raw_receive(s, "00000099" ERRORMSG "00000064"); /* [E12] */
		} else {
			side_lose(s, -ECONNRESET);
		}
		side_complete_all(s);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(o->call.status, k == 1 ? -ECANCELED : -EPROTO);
		assert_int_equal(side_valid_regions(s), 0);
		if (k < 3) { /* the rest comes after all */
			raw_receive(s, "00000099" MSG_REPLY EMPTY "00000000");
			raw_expect_silence(s);
		}
		raw_end(s);
		free(o);
	}
}

/* [M1]: properties are no part of another message's sequence. */
static void properties_in_a_sequence(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, NULL);

	s->on_admit = drop;
	raw_receive(s, "00000077 00000002 00200020 00000005 00000004 00000000");
	side_forget_sent(s);
	raw_receive(s, "00000055" MSG_MORE EMPTY CALL("00000055"));
	raw_receive(s, "00000078" CONNPROP "00000000");
	raw_expect(s, "00000078" ERRORMSG "00000005");
	assert_false(s->ready);
	raw_receive(s, "00000079" CONNPROP_MORE "00000001");
	raw_expect(s, "00000079" ERRORMSG "00000005");
	raw_receive(s, "00000055" MSG EMPTY "00000000");
	raw_receive(s, "00000079" CONNPROP "00000000"); /* [M3]: that one's end */
	raw_expect_silence(s);
	assert_false(s->ready);
	raw_receive(s, "00000079" CONNPROP "00000000");
	assert_true(s->ready);
	raw_end(s);
}

/* An error about the own properties when traffic flows already. */
static void properties_refused_late(void **state)
{
	const struct rr_conn_config cfg = {
	        .xid_seed = 0x77, .send_bytes = 65536, .recv_bytes = 65536};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	struct rr_conn_info i;

	raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000002"
	               "00000001 00000004 00010000 00000002 00000004 00010000");
	rr_conn_info(s->c, &i);
	assert_int_equal(i.send_inline, 65536);
	raw_receive(s, "00000077" ERRORMSG "00000003");
	rr_conn_info(s->c, &i);
	assert_int_equal(i.send_inline, 4096);
	assert_false(s->disconnect);
	raw_end(s);
}

/* -- budget ---------------------------------------------------------------- */

/* Its own first words leave too little for what it wants pulled: it would
 * wait for itself. */
static void a_request_does_not_wait_for_itself(void **state)
{
	const struct rr_conn_config cfg = {.max_held_bytes = 40000};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);
	struct rr_conn_info i;

	raw_receive(s, "00000055" MSG_MORE EMPTY "00000055 00000000 00000000");
	rr_conn_info(s->c, &i);
	assert_int_equal(i.held_bytes, 16384);
	raw_receive(s, "00000055" MSG "00000000" READ(
	                       "0000000c",
	                       "00006000") "00000000 00000000 00000000 00000000");
	raw_expect(s, "00000055" ERRORMSG "00000064");
	rr_conn_info(s->c, &i);
	assert_int_equal(i.held_bytes, 0);
	assert_int_equal(i.requests, 0);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(creation_fails_cleanly),
	        cmocka_unit_test(free_accepts_null),
	        cmocka_unit_test(freed_before_it_opens),
	        cmocka_unit_test(no_memory_for_a_reply_chunk),
	        cmocka_unit_test(no_spare_for_a_call_is_a_system_error),
	        cmocka_unit_test(no_spare_for_a_reply_ends_the_call),
	        cmocka_unit_test(a_failed_send_closes),
	        cmocka_unit_test(a_failed_receive_closes),
	        cmocka_unit_test(a_failed_invalidation_closes_first),
	        cmocka_unit_test(a_message_before_open_opens),
	        cmocka_unit_test(messages_after_close_are_ignored),
	        cmocka_unit_test(events_after_the_loss_are_ignored),
	        cmocka_unit_test(loss_with_actions_undrawn),
	        cmocka_unit_test(loss_with_reads_and_writes_undrawn),
	        cmocka_unit_test(decisions_after_the_end),
	        cmocka_unit_test(a_reply_at_admission),
	        cmocka_unit_test(a_reply_that_cannot_be_expressed),
	        cmocka_unit_test(cancel_while_registering),
	        cmocka_unit_test(cancel_before_registering),
	        cmocka_unit_test(invalidation_from_both_ends),
	        cmocka_unit_test(invalidating_twice_closes),
	        cmocka_unit_test(an_answer_to_half_a_call),
	        cmocka_unit_test(the_closing_part_is_refused),
	        cmocka_unit_test(a_reply_without_end_is_dropped_with_its_call),
	        cmocka_unit_test(a_reply_beyond_the_limit_ends_the_call),
	        cmocka_unit_test(a_refused_reply_is_awaited_to_its_end),
	        cmocka_unit_test(a_refused_reply_without_end_is_given_up),
	        cmocka_unit_test(properties_in_a_sequence),
	        cmocka_unit_test(properties_refused_late),
	        cmocka_unit_test(a_request_does_not_wait_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
