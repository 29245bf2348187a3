/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote Invalidation on the wire: where rdma_inv_handle occurs, and which Sends of a
 * Responder invalidate.                                      [ext §4.1, §4.2, §4.5]
 */
#include "test_conn_reminv.h"

static struct side *server_to(const char *props)
{
	const struct rr_conn_config cfg = inv_config(RR_INV_LARGEST);
	struct side *s = raw_ready_by(RR_CONN_SERVER, &cfg, props);

	s->on_request = raw_answer_call;
	return s;
}

/* A Call with Write chunk @handle. */
#define CALL_INV(xid, inv, handle)                                                     \
	xid MSG inv " 00000000 00000001 00000001" SEG(                                 \
	        handle, "00000004") "00000000 00000000" CALL(xid)

static void expect_inv(struct side *s, uint32_t inv)
{
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].inv, inv);
	side_forget_sent(s);
}

/* -- the Responder --------------------------------------------------------- */

/* RI-4.2-02, RI-4.2-04, RI-4.4-04, RI-5.3-02, RI-5.3-03, RI-3-02, RI-1-03 */
static void the_peers_property_can_only_forbid(void **state)
{
	static const struct {
		const char *props;
		bool allowed;
	} t[] = {
	        {"00000000", true},
	        {"00000001 ffffff02 00000004 00000001", true},
	        {"00000001 ffffff02 00000000", true},
	        {"00000001 ffffff02 00000004 00000000", false},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct side *s = server_to(t[i].props);

		raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
		expect_inv(s, t[i].allowed ? 0xab : 0);
		raw_receive(s, CALL_INV("00000056", "00000000", "000000ab"));
		expect_inv(s, 0);
		assert_int_equal(s->sends_inv, t[i].allowed);
		raw_end(s);
	}
}

/* The property of a feature that is off is unknown: only the handle counts. */
static void the_property_is_ignored_when_off(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = raw_ready_by(RR_CONN_SERVER, &cfg,
	                              "00000001 ffffff02 00000004 00000000");

	s->on_request = raw_answer_call;
	raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
	expect_inv(s, 0xab);
	raw_end(s);
}

/* RI-2.3-01, RI-4.4-05, RI-P-05, RI-6-01: the Requester chooses, in any list; what is
 * not in the header counts as 0. */
static void the_requester_chooses(void **state)
{
	static const char *const inv[] = {"000000aa", "000000ab", "000000ac",
	                                  "000000ad", "00000000", "0000aa00"};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(inv); i++) {
		struct side *s = server_to("00000000");
		char hex[600];

		snprintf(hex, sizeof(hex),
		         "00000055" MSG
		         "%s 00000001 00000010 000000aa 00000004 00000000 00010000 "
		         "00000000 00000001 00000002" SEG("000000ab", "00000004") SEG(
		                 "000000ac", "00000004") "00000000 "
		                                         "00000001 00000001" SEG(
		                                                 "000000ad", "00001000")
		                                                 CALL("00000055"),
		         inv[i]);
		raw_receive(s, hex);
		expect_inv(s, i < 4 ? 0xaa + i : 0);
		raw_end(s);
	}
}

/* RI-2.1-01: the device cannot post it; everything works. */
static void a_device_without_it_sends_plainly(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct rr_conn_config cfg = inv_config(RR_INV_LARGEST);
		struct side *s;

		cfg.remote_invalidate = i;
		s = raw_new(RR_CONN_SERVER, &cfg);
		s->on_request = raw_answer_call;
		if (i)
			rr_conn_no_remote_inv_out(s->c);
		raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
		side_forget_sent(s);
		raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
		expect_inv(s, 0);
		assert_int_equal(s->sends_inv, 0);
		raw_end(s);
	}
}

static void keep_request(struct side *s, struct rr_request *r)
{
	struct rr_request **held = s->app;

	held[s->requested - 1] = r;
}

/* RI-4.2-10: private data say nothing about version 2. */
static void version_2_ignores_private_data(void **state)
{
	static const uint8_t no[] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 0, 0};
	struct rr_conn_config cfg = inv_config(RR_INV_LARGEST);
	struct side *s = calloc(1, sizeof(*s));
	struct rr_conn_info info;

	cfg.versions = RR_CONN_V1 | RR_CONN_V2;
	cfg.v1_no_remote_inv = true;
	s->cfg = cfg;
	side_new(s, RR_CONN_SERVER);
	rr_conn_peer_private(s->c, no, sizeof(no));
	side_open(s);
	s->on_request = raw_answer_call;
	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	side_forget_sent(s);
	rr_conn_info(s->c, &info);
	assert_int_equal(info.version, 2);
	assert_int_equal(info.send_inline, 4096);
	assert_int_equal(info.recv_inline, 4096);
	assert_true(info.remote_invalidate);
	raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
	expect_inv(s, 0xab);
	raw_end(s);
}

/* RI-5.3-04, RI-4.6-01: each its own, in any order, and no other. */
static void each_reply_takes_the_value_of_its_call(void **state)
{
	struct side *s = server_to("00000000");
	struct rr_request *held[4];
	static const uint32_t want[] = {0xab, 0, 0xad, 0xae};

	s->app = held;
	s->on_request = keep_request;
	raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
	raw_receive(s, CALL_INV("00000056", "00000000", "000000ac"));
	raw_receive(s, CALL_INV("00000057", "000000ad", "000000ad"));
	raw_receive(s, CALL_INV("00000058", "000000ae", "000000ae"));
	for (unsigned i = 4; i-- > 0;) {
		raw_answer_call(s, held[i]);
		side_drain(s);
		side_complete_all(s);
		assert_int_equal(spec_word(&s->sent[0], 0), 0x55 + i);
		expect_inv(s, want[i]);
	}
	raw_end(s);
}

static void answer_long(struct side *s, struct rr_request *r)
{
	static uint8_t words[9000] = {0, 0, 0, 0x55, 0, 0, 0, 1};
	const struct rr_piece p = {words, sizeof(words), false};

	rr_conn_reply(s->c, r, &p, 1, s->now);
}

/* RI-P-02, RI-P-01: and rdma_inv_handle of all three is 0. */
static void the_last_of_three_parts_invalidates(void **state)
{
	static const uint32_t want[] = {0, 0, 0xab};
	struct side *s = server_to("00000000");

	s->on_request = answer_long;
	raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
	assert_int_equal(s->n_sent, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(s->sent[i].inv, want[i]);
		assert_int_equal(spec_word(&s->sent[i], 5), 0);
		assert_int_equal(spec_flags(&s->sent[i]), i < 2 ? 3 : 1);
	}
	raw_end(s);
}

static void refuse_call(struct side *s, struct rr_request *r)
{
	const struct rr_error e = {.code = RDMA2_ERR_SYSTEM};

	rr_conn_refuse(s->c, r, &e, s->now);
}

/* RI-P-03: after each kind of refusal, and in grant messages and properties. */
static void nothing_but_a_reply_invalidates(void **state)
{
	static const char *const call[] = {
	        CALL_INV("00000055", "000000ab", "000000ab"), /* the user refuses */
	        "00000055" MSG "000000ab 00000000 00000001 00000001" SEG(
	                "000000ab", "00000004") "00000000 00000000 00000054 00000000",
	        "00000055" V2 "00000000 00000004 000000ab 00000000 00000001 "
	        "00000001" SEG("000000ab", "00000004") "00000000 "
	                                               "00000000",
	        "00000055" MSG
	        "000000ab 00000000 00000001 00000002" SEG("000000ab", "00000004"),
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(call); i++) {
		const struct rr_conn_config cfg = {
		        .remote_invalidate = true,
		        .features = {.on = 1u << RR_FEATURE_REMINV}};
		struct side *s = raw_new(RR_CONN_SERVER, &cfg);

		s->on_request = refuse_call;
		raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
		raw_receive(s, call[i]);
		s->now += RR_MS(10); /* a grant message is due */
		rr_conn_tick(s->c, s->now);
		side_drain(s);
		side_complete_all(s);
		assert_true(s->n_sent >= 2);
		for (unsigned k = 0; k < s->n_sent; k++)
			assert_int_equal(s->sent[k].inv, 0);
		assert_int_equal(spec_word(&s->sent[0], 3), 5); /* RDMA2_CONNPROP */
		assert_int_equal(spec_word(&s->sent[1], 3), 4); /* RDMA2_ERROR */
		raw_end(s);
	}
}

/* RI-P-04, V2-3.2.2.4-01: the Reads have completed, the Writes are posted. */
static void the_send_comes_after_reads_and_writes(void **state)
{
	static uint8_t buf[512];
	struct side *s = server_to("00000000");
	size_t n = raw_octets("00000055" MSG
	                      "000000ab 00000001 00000014 000000ab 00000010 00000000 "
	                      "00010000 00000001 00000014 000000ab 00000400 00000000 "
	                      "00010010 00000000 00000000 00000001 00000001" SEG(
	                              "000000ab", "00001000") CALL("00000055"),
	                      buf, sizeof(buf));

	s->on_request = answer_long;
	side_receive(s, buf, n, 0);
	assert_int_equal(s->n_reads, 2);
	side_complete_one(s);
	assert_int_equal(s->n_sent, 0);
	assert_int_equal(s->requested, 0);
	side_complete_all(s);
	assert_true(s->n_sent > 0);
	assert_int_equal(s->sent[s->n_sent - 1].inv, 0xab);
	assert_int_equal(s->sent[s->n_sent - 1].n_reads, 2);
	raw_end(s);
	s = server_to("00000000");
	s->on_request = answer_long;
	raw_receive(s, "00000055" MSG "000000ab 00000000 00000000 00000001 "
	               "00000001" SEG("000000ab", "00003000") CALL("00000055"));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].inv, 0xab);
	assert_int_equal(s->sent[0].n_writes, 1);
	raw_end(s);
}

/* RI-P-01: what a part before the last says is not looked at. */
static void parts_of_a_call_name_no_handle(void **state)
{
	struct side *s = server_to("00000000");

	raw_receive(s, "00000055" MSG_MORE
	               "000000ab 00000000 00000000 00000000 00000055 00000000");
	raw_receive(s, "00000055" MSG "000000ac 00000000 00000001 00000001" SEG(
	                       "000000ac", "00000004") "00000000 00000000 00000002 "
	                                               "000186a3 00000003 00000000");
	expect_inv(s, 0xac);
	raw_receive(s, "00000055" MSG_MORE
	               "000000ab 00000000 00000000 00000000 00000055 00000000");
	raw_receive(s, "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                       "000000ab", "00000004") "00000000 00000000 00000002 "
	                                               "000186a3 00000003 00000000");
	expect_inv(s, 0);
	raw_end(s);
}

/* RI-4.4-01, RI-P-01: the first word after the prefix, in the last part alone. */
static void a_call_names_its_handle_in_its_last_message(void **state)
{
	static uint8_t long_arg[9000];
	struct side *s = inv_client(RR_INV_WRITE_FIRST);
	struct inv_call *v;
	struct spec_call *k = spec_new(0x56, 0);
	static uint8_t result[600];

	v = inv_start(s, 0x55, INV_READ | INV_WRITE);
	assert_int_equal(spec_word(&s->sent[0], 5), v->write);
	side_forget_sent(s);
	spec_add(k, long_arg, sizeof(long_arg), false);
	spec_dest(k, result, sizeof(result));
	spec_start(s, k);
	assert_int_equal(s->n_sent, 3);
	assert_int_equal(spec_word(&s->sent[0], 5), 0);
	assert_int_equal(spec_word(&s->sent[1], 5), 0);
	assert_int_equal(spec_word(&s->sent[2], 5), spec_region(s, result)->handle);
	raw_end(s);
	inv_free(v);
	free(k);
}

/* RI-4.4-06, RI-P-01: 36 octets, of which one word; grants and Replies have 0. */
static void the_cost_is_one_word(void **state)
{
	struct side *s = server_to("00000000");

	raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
	/* prefix 20, rdma_inv_handle 4, Read list 4, Write list 4 + 4 + 16 + 4, Reply
	 * chunk 4; the RPC Reply has 16 octets */
	assert_int_equal(s->sent[0].len, 20 + 4 + 4 + 28 + 4 + 16);
	assert_int_equal(spec_word(&s->sent[0], 5), 0);
	side_forget_sent(s);
	raw_receive(s, "00000056" MSG EMPTY CALL("00000056"));
	assert_int_equal(s->sent[0].len, 36 + 16);
	raw_end(s);
}

/* RI-4.4-02: property test. */
static void a_named_handle_is_in_the_header(void **state)
{
	struct side *s = inv_client(RR_INV_LARGEST);
	struct rr_rng rng;

	rr_rng_seed(&rng, 1);
	for (uint32_t xid = 0x1000; xid < 0x1000 + 200; xid++) {
		unsigned chunks = (unsigned)rr_rng_below(&rng, INV_ALL + 1);
		struct inv_call *v = inv_start(s, xid, chunks);
		uint32_t inv = inv_named(s);

		assert_int_equal(inv == 0, chunks == 0);
		assert_true(!inv || inv == v->read || inv == v->write ||
		            inv == v->write2 || inv == v->reply);
		inv_answer(s, v, inv);
		assert_int_equal(v->k->call.status, RR_CALL_OK);
		assert_int_equal(s->n_regions, 0);
		side_forget_sent(s);
		inv_free(v);
	}
	assert_int_equal(s->inv_twice, 0);
	raw_end(s);
}

/* -- reverse direction ----------------------------------------------------- */

/* RI-3.3-01, RI-5.1-02: the client invalidates the server's region. */
static void a_client_invalidates_for_its_server(void **state)
{
	struct rr_conn_config cfg = inv_config(RR_INV_LARGEST);
	struct side *s;
	struct inv_call *v;

	cfg.rvrsdir = RDMA2_RVRSDIR_GENL;
	s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	s->on_request = raw_answer_call;
	raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
	expect_inv(s, 0xab);
	raw_end(s);
	cfg.rvrsdir = 0;
	s = raw_ready_by(RR_CONN_SERVER, &cfg, "00000001" PROP("00000005", "00000003"));
	v = inv_start(s, 0x55, INV_WRITE);
	assert_int_equal(inv_named(s), v->write);
	inv_answer(s, v, v->write);
	assert_int_equal(v->k->call.status, RR_CALL_OK);
	assert_int_equal(inv_counters(s).remote_invalidations, 1);
	assert_int_equal(inv_counters(s).local_invalidations, 0);
	inv_free(v);
	raw_end(s);
}

/* RI-3.3-02: the abilities of the two ends are independent. */
static void each_direction_has_its_own_ability(void **state)
{
	struct rr_conn_config cfg = inv_config(RR_INV_LARGEST);
	struct side *s;
	struct inv_call *v;

	/* the client takes none, and says so; yet it invalidates for the server */
	cfg.rvrsdir = RDMA2_RVRSDIR_GENL;
	cfg.features.no_remote_inv = true;
	s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	s->on_request = raw_answer_call;
	v = inv_start(s, 0x99, INV_READ);
	assert_int_equal(inv_named(s), 0);
	side_forget_sent(s);
	raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
	expect_inv(s, 0xab);
	raw_end(s);
	inv_free(v);
	/* the server names its handle to such a client */
	s = server_to("00000002" PROP("00000005", "00000003")
	                      PROP("ffffff02", "00000000"));
	v = inv_start(s, 0x99, INV_READ);
	assert_int_equal(inv_named(s), v->read);
	raw_end(s);
	inv_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_peers_property_can_only_forbid),
	        cmocka_unit_test(the_property_is_ignored_when_off),
	        cmocka_unit_test(the_requester_chooses),
	        cmocka_unit_test(a_device_without_it_sends_plainly),
	        cmocka_unit_test(version_2_ignores_private_data),
	        cmocka_unit_test(each_reply_takes_the_value_of_its_call),
	        cmocka_unit_test(the_last_of_three_parts_invalidates),
	        cmocka_unit_test(nothing_but_a_reply_invalidates),
	        cmocka_unit_test(the_send_comes_after_reads_and_writes),
	        cmocka_unit_test(parts_of_a_call_name_no_handle),
	        cmocka_unit_test(a_call_names_its_handle_in_its_last_message),
	        cmocka_unit_test(the_cost_is_one_word),
	        cmocka_unit_test(a_named_handle_is_in_the_header),
	        cmocka_unit_test(a_client_invalidates_for_its_server),
	        cmocka_unit_test(each_direction_has_its_own_ability),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
