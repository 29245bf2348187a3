/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_v1.h"

void v1_expect_inv(struct side *s, const char *hex, uint32_t inv)
{
	uint8_t want[1024];
	size_t n = raw_octets(hex, want, sizeof(want));

	assert_true(s->n_sent > 0);
	assert_int_equal(s->sent[0].len, n);
	assert_memory_equal(s->sent[0].p, want, n);
	assert_int_equal(s->sent[0].inv, inv);
	raw_skip(s);
}

void v1_expect(struct side *s, const char *hex)
{
	v1_expect_inv(s, hex, 0);
}

void v1_answer(struct side *s, struct rr_request *r)
{
	static uint8_t words[16];
	const struct rr_piece p = {words, sizeof(words), false};

	raw_octets("00000000 00000001 00000000 00000000", words, sizeof(words));
	rr_store_u32(words, r->xid);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

void v1_expect_service(struct side *s)
{
	raw_receive(s, "00000099" V1_MSG V1_EMPTY CALL("00000099"));
	v1_expect(s, "00000099" OUR_MSG V1_EMPTY REPLY("00000099"));
	raw_expect_silence(s);
}

struct side *v1_server(const struct rr_conn_config *cfg)
{
	struct rr_conn_config g = cfg ? *cfg : (struct rr_conn_config){0};
	struct side *s;

	g.versions = g.versions ? g.versions : RR_CONN_V1 | RR_CONN_V2;
	s = raw_new(RR_CONN_SERVER, &g);
	s->on_request = v1_answer;
	return s;
}

struct side *v1_new(enum rr_conn_role role, const struct rr_conn_config *cfg,
                    const char *hello)
{
	struct side *s = calloc(1, sizeof(*s));
	uint8_t data[64];

	if (cfg)
		s->cfg = *cfg;
	s->cfg.versions = RR_CONN_V1;
	side_new(s, role);
	if (hello)
		rr_conn_peer_private(s->c, data, raw_octets(hello, data, sizeof(data)));
	side_open(s);
	s->on_request = v1_answer;
	return s;
}

struct v1_call *v1_call(uint32_t xid, size_t len, bool chunk)
{
	struct v1_call *o = calloc(1, sizeof(*o));

	rr_store_u32(o->words, xid);
	o->piece[0] = (struct rr_piece){o->words, len, false};
	o->dest = (struct rr_dest){.base = o->result, .len = sizeof(o->result)};
	o->call = (struct rr_call){.xid = xid,
	                           .pieces = o->piece,
	                           .n_pieces = 1,
	                           .dests = &o->dest,
	                           .n_dests = chunk,
	                           .reply_bytes = 16,
	                           .status = -EINPROGRESS};
	return o;
}

void v1_start(struct side *s, struct v1_call *o)
{
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	side_drain(s);
	side_complete_all(s);
	o->call.status = -EINPROGRESS; /* until it ends */
}
