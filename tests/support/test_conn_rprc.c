/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_rprc.h"

/* -- a Responder that exposes ----------------------------------------------- */

struct side *rprc_exposer(const struct rr_conn_config *cfg, const char *props)
{
	struct rr_conn_config g = cfg ? *cfg : (struct rr_conn_config){0};
	struct side *s;

	g.features.on = 1u << RR_FEATURE_RPRC;
	if (!g.features.cont_max_sends)
		g.features.cont_max_sends = 1;
	s = raw_ready_by(RR_CONN_SERVER, &g, props);
	s->on_request = raw_hold;
	return s;
}

uint8_t rprc_reply[3 << 20];

void rprc_answer_runs(struct side *s, size_t len, unsigned n)
{
	struct rr_piece p[8];
	size_t each = len / n & ~(size_t)3;

	rr_store_u32(rprc_reply, raw_held->xid);
	rr_store_u32(rprc_reply + 4, 1);
	for (unsigned i = 0; i < n; i++)
		p[i] = (struct rr_piece){
		        rprc_reply + i * (each + 64),
		        i + 1 < n ? each : len - (n - 1) * each,
		        false,
		};
	rr_conn_reply(s->c, raw_held, p, n, s->now);
}

void rprc_answer(struct side *s, size_t len)
{
	rprc_answer_runs(s, len, 1);
	side_drain(s);
}

void rprc_expose(struct side *s, size_t len)
{
	raw_receive(s, PLAIN_CALL);
	rprc_answer(s, len);
	side_complete_all(s);
}

struct rr_conn_counters rprc_counters(const struct side *s)
{
	struct rr_conn_counters n;

	rr_conn_counters(s->c, &n);
	return n;
}

void rprc_pass_time(struct side *s, rr_time ns)
{
	s->now += ns;
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	side_complete_all(s);
}

void rprc_expect_nothing(const struct side *s)
{
	assert_int_equal(side_valid_regions(s), 0);
	assert_int_equal(s->requests_done, s->requested);
}

const struct side_msg *rprc_own_props(const struct rr_conn_config *cfg,
                                      enum rr_conn_role role, bool read, bool be_read,
                                      struct side **ret)
{
	struct side *s = calloc(1, sizeof(*s));

	s->cfg = *cfg;
	side_new(s, role);
	if (!read)
		rr_conn_cannot_read(s->c);
	if (!be_read)
		rr_conn_cannot_be_read(s->c);
	side_open(s);
	if (role == RR_CONN_SERVER)
		raw_receive(s, PROPS "00000000");
	*ret = s;
	return &s->sent[0];
}

enum way rprc_way(const struct side *s)
{
	const struct side_msg *m = &s->sent[0];

	assert_true(s->n_sent > 0);
	if (spec_word(m, 3) == 4) {
		assert_int_equal(spec_word(m, 5), 10); /* REPLY_RESOURCE */
		return TOO_LONG;
	}
	if (spec_word(m, 3) == 0)
		return spec_flags(m) & 2 ? PARTS : SIMPLE;
	assert_int_equal(s->n_sent, 1);
	return spec_word(m, 6) ? EXPOSED : CHUNK;
}

/* -- a Requester that pulls ------------------------------------------------- */

uint8_t rprc_stream[2 << 20];

void rprc_lay_out(struct side *s, uint32_t xid)
{
	for (size_t i = 8; i < sizeof(rprc_stream); i++)
		rprc_stream[i] = (uint8_t)(i * 11 + (i >> 9));
	rr_store_u32(rprc_stream, xid);
	rr_store_u32(rprc_stream + 4, 1);
	s->read_from = rprc_stream;
}

struct side *rprc_puller(struct rr_conn_config cfg, const char *props)
{
	struct side *s;

	cfg.features.on = 1u << RR_FEATURE_RPRC;
	s = raw_ready_by(RR_CONN_CLIENT, &cfg, props);
	rprc_lay_out(s, 0x55);
	return s;
}

struct side *rprc_asking(const struct rr_conn_config *cfg, const char *props,
                         struct spec_call **ret)
{
	const struct rr_conn_config none = {0};
	struct side *s = rprc_puller(cfg ? *cfg : none, props);

	*ret = spec_new(0x55, 0);
	spec_start(s, *ret);
	side_forget_sent(s);
	return s;
}

void rprc_receive_only(struct side *s, const char *hex)
{
	static uint8_t buf[SIDE_MSG];

	side_receive(s, buf, raw_octets(hex, buf, sizeof(buf)), 0);
}

void rprc_turn_clock(struct side *s, rr_time ns)
{
	s->now += ns;
	rr_conn_tick(s->c, s->now);
	side_drain(s);
}

void rprc_expect_done(struct side *s, uint32_t xid, uint32_t inv)
{
	const struct side_msg *m = &s->sent[0];

	assert_true(s->n_sent > 0);
	assert_int_equal(m->len, 20);
	assert_int_equal(spec_word(m, 0), xid);
	assert_int_equal(spec_word(m, 1), 2);
	assert_int_equal(spec_word(m, 3), 3);
	assert_int_equal(spec_flags(m), 0);
	assert_int_equal(m->inv, inv);
	raw_skip(s);
}

void rprc_release(struct side *s, struct spec_call *k)
{
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

void rprc_free_calls(struct spec_call *k[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free(k[i]);
}
