/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host authentication: what somebody between says who changes no property, and a
 * dialogue that stands still.                          [V2-5.2.6-02, P4, P14, P17]
 */
#include "test_conn_raw.h"

#define STEP "00000001 00000006 0000000c 00000005 68656c6c 6f000000"

/* Says hello, hears hello, is content. */
struct hook {
	unsigned steps, told;
	bool server;
	bool refuses;        /* with words */
	unsigned refused_id; /* a property that it does not take */
};

static int hook_step(void *ctx, const void *in, size_t in_len, const void **ret_out,
                     size_t *ret_out_len)
{
	struct hook *h = ctx;
	bool last = h->server || h->steps;

	h->steps++;
	if (h->refuses) {
		*ret_out = "hello";
		*ret_out_len = 5;
		return -EACCES;
	}
	if (h->server || !last) {
		*ret_out = "hello";
		*ret_out_len = 5;
	}
	return last;
}

static bool hook_property(void *ctx, bool own, uint32_t id, const void *data,
                          size_t len)
{
	struct hook *h = ctx;

	h->told++;
	return id != h->refused_id;
}

static struct rr_conn_config config(struct hook *h, bool binds)
{
	return (struct rr_conn_config){
	        .xid_seed = 0x77, .auth = {hook_step, h, binds ? hook_property : NULL}};
}

enum when { BEFORE, AMID, AFTER };

/* A client whose peer proves itself, and an error about the client's properties. */
static struct side *refused(struct hook *h, bool binds, enum when when)
{
	const struct rr_conn_config cfg = config(h, binds);
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	if (when == BEFORE) {
		raw_receive(s, "00000077" ERRORMSG "00000003");
		assert_false(s->disconnect); /* it may yet have no proof */
	}
	raw_receive(s, "00000001" CONNPROP_TPMORE "00000000");
	assert_int_equal(h->steps, 1);
	if (when == AMID)
		raw_receive(s, "00000077" ERRORMSG "00000003");
	assert_false(s->disconnect);
	raw_receive(s, "00000002" CONNPROP_TPMORE STEP);
	if (!s->disconnect)
		raw_receive(s, "00000003" CONNPROP "00000000");
	if (when == AFTER) {
		assert_true(s->ready);
		raw_receive(s, "00000077" ERRORMSG "00000003");
	}
	return s;
}

/* Whoever proved itself has taken all that we sent, so it was another who said no. */
static void a_refusal_against_the_proof_closes(void **state)
{
	for (enum when when = BEFORE; when <= AFTER; when++) {
		struct hook h = {0};
		struct side *s = refused(&h, true, when);

		assert_int_equal(h.steps, 2);
		assert_int_equal(h.told, 5);
		raw_expect_close(s, -EACCES);
		assert_int_equal(s->ready, when == AFTER);
		raw_end(s);
	}
}

/* Where the proof says nothing of properties, they may be refused. */
static void a_refusal_beside_the_proof_is_heard(void **state)
{
	for (enum when when = BEFORE; when <= AFTER; when++) {
		struct hook h = {0};
		struct side *s = refused(&h, false, when);

		assert_true(s->ready);
		assert_false(s->disconnect);
		raw_end(s);
	}
}

/* A peer without a proof may refuse them as ever. */
static void a_refusal_without_a_proof_is_heard(void **state)
{
	struct hook h = {0};
	const struct rr_conn_config cfg = config(&h, true);
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_receive(s, "00000077" ERRORMSG "00000003");
	raw_receive(s, "00000001" CONNPROP "00000000");
	assert_true(s->ready);
	assert_false(s->disconnect);
	raw_end(s);
}

/* The peer says nothing more: the exchange ends when its time is over. */
static void a_dialogue_that_stands_still_is_given_up(void **state)
{
	for (unsigned server = 0; server < 2; server++) {
		struct hook h = {.server = server};
		const struct rr_conn_config cfg = config(&h, true);
		struct side *s =
		        raw_new(server ? RR_CONN_SERVER : RR_CONN_CLIENT, &cfg);
		rr_time began = s->now;

		raw_receive(s, "00000001" CONNPROP_TPMORE "00000000");
		if (server)
			raw_receive(s, "00000002" CONNPROP_TPMORE STEP);
		assert_int_equal(h.steps, 1);
		s->now = rr_conn_deadline(s->c);
		assert_true(s->now > began && s->now <= began + RR_SEC(30));
		while (!s->disconnect && s->now <= began + RR_SEC(30)) {
			rr_conn_tick(s->c, s->now);
			side_drain(s);
			if (!s->disconnect)
				s->now = rr_conn_deadline(s->c);
		}
		raw_expect_close(s, -ETIMEDOUT);
		assert_false(s->ready);
		raw_end(s);
	}
}

/* The last words go out, and then there is no more waiting for the peer. */
static void who_is_refused_hears_why(void **state)
{
	struct hook h = {.server = true, .refuses = true};
	const struct rr_conn_config cfg = config(&h, true);
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive(s, "00000001" CONNPROP_TPMORE "00000000");
	raw_skip(s);
	raw_receive(s, "00000002" CONNPROP_TPMORE STEP);
	raw_expect(s, "00000078" CONNPROP_TPMORE STEP);
	raw_expect_close(s, -EACCES);
	raw_end(s);
}

/* The hook may refuse a property, of either peer. */
static void a_property_may_be_refused(void **state)
{
	for (unsigned own = 0; own < 2; own++) {
		struct hook h = {.server = true, .refused_id = own ? 3 : 0x80000001};
		const struct rr_conn_config cfg = config(&h, true);
		struct side *s = raw_new(RR_CONN_SERVER, &cfg);

		raw_receive(s, "00000001" CONNPROP_TPMORE
		               "00000001 80000001 00000004 01020304");
		raw_expect_close(s, -EACCES);
		raw_end(s);
	}
}

/* Required: nor is anything of an extension done for who proved nothing. */
static void no_extension_before_the_proof(void **state)
{
	static const struct rr_ext_table table = {.n_htypes = 1, .htype = {0x80000001}};
	struct hook h = {.server = true};
	struct rr_conn_config cfg = config(&h, true);
	struct side *s;

	cfg.ext = &table;
	cfg.auth_required = true;
	s = raw_new(RR_CONN_SERVER, &cfg);
	raw_receive(s, "00000001 00000002 00200001 80000001 00000000 01020304");
	raw_expect_close(s, -EACCES);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_refusal_against_the_proof_closes),
	        cmocka_unit_test(a_refusal_beside_the_proof_is_heard),
	        cmocka_unit_test(a_refusal_without_a_proof_is_heard),
	        cmocka_unit_test(who_is_refused_hears_why),
	        cmocka_unit_test(a_property_may_be_refused),
	        cmocka_unit_test(no_extension_before_the_proof),
	        cmocka_unit_test(a_dialogue_that_stands_still_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
