/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_rtr.h"

uint8_t rtr_result[4][8192];

struct rr_conn_config rtr_client_config(uint32_t credits)
{
	return (struct rr_conn_config){
	        .recv_bytes = 4096,
	        .send_bytes = 4096,
	        .credits = credits,
	        .remote_invalidate = true,
	        .features = {.on = 1u << RR_FEATURE_RTR,
	                     .rtr_segments = 1,
	                     .rtr_segment_bytes = 8192},
	};
}

struct side *rtr_client(uint32_t credits)
{
	const struct rr_conn_config g = rtr_client_config(credits);

	return raw_ready_by(RR_CONN_CLIENT, &g, RTR_PEER);
}

struct spec_call *rtr_start_into(struct side *s, size_t len, enum rr_direct direct,
                                 size_t reply_bytes)
{
	struct spec_call *k = spec_new(RTR_XID, 0);

	spec_dest(k, rtr_result[0], len);
	k->dest[0].direct = direct;
	k->dest[0].above = 4096;
	k->call.reply_bytes = reply_bytes;
	spec_start(s, k);
	return k;
}

struct spec_call *rtr_start_read(struct side *s, enum rr_direct direct)
{
	return rtr_start_into(s, sizeof(rtr_result[0]), direct, 200);
}

uint32_t rtr_sent_type(const struct side *s)
{
	assert_true(s->n_sent > 0);
	return spec_word(&s->sent[0], 3);
}

void rtr_finish(struct side *s, struct spec_call *k, int status)
{
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, status);
	assert_int_equal(side_valid_regions(s), 0);
	rr_conn_call_release(s->c, &k->call, s->now);
	free(k);
	raw_end(s);
}

void rtr_receive_long(struct side *s, const char *hex, size_t len)
{
	static uint8_t buf[SIDE_MSG];
	size_t n;

	memset(buf, 0, sizeof(buf));
	n = raw_octets(hex, buf, sizeof(buf));
	side_receive(s, buf, RR_MAX(n, len), 0);
	side_complete_all(s);
}
