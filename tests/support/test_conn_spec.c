/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_spec.h"

uint32_t spec_word(const struct side_msg *m, unsigned i)
{
	assert_true(4 * (size_t)i + 4 <= m->len);
	return rr_load_u32(m->p + 4 * i);
}

uint32_t spec_flags(const struct side_msg *m)
{
	return spec_word(m, 4);
}

struct spec_call *spec_new(uint32_t xid, uint32_t count)
{
	struct spec_call *k = calloc(1, sizeof(*k));

	raw_octets("00000000 00000000 00000002 000186a3 00000003 00000007 00000000",
	           k->head, SPEC_HEAD);
	rr_store_u32(k->head, xid);
	rr_store_u32(k->head + 24, count);
	k->piece[0] = (struct rr_piece){k->head, SPEC_HEAD, false};
	k->call.xid = xid;
	k->call.pieces = k->piece;
	k->call.n_pieces = 1;
	k->call.dests = k->dest;
	return k;
}

void spec_add(struct spec_call *k, const void *base, size_t len, bool item)
{
	k->piece[k->call.n_pieces++] = (struct rr_piece){base, len, item};
}

void spec_dest(struct spec_call *k, void *base, size_t len)
{
	k->dest[k->call.n_dests++] = (struct rr_dest){.base = base, .len = len};
}

void spec_start(struct side *s, struct spec_call *k)
{
	assert_int_equal(rr_conn_call(s->c, &k->call, s->now), 0);
	side_drain(s);
	side_complete_all(s);
}

const struct side_msg *spec_sent(struct side *s, struct spec_call *k)
{
	spec_start(s, k);
	assert_int_equal(s->n_sent, 1);
	return &s->sent[0];
}

const struct side_region *spec_region(const struct side *s, const void *base)
{
	for (unsigned i = 0; i < s->n_regions; i++)
		if (s->region[i].base == base)
			return &s->region[i];
	fail_msg("not registered");
	return NULL;
}

const uint8_t *spec_octets(void)
{
	static uint8_t all[SIDE_MSG];

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
	return all;
}

void spec_end(struct side *s, struct spec_call *k)
{
	raw_end(s);
	free(k);
}
