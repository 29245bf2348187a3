/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests that follow the sections of the specification: Calls laid out
 * piece by piece, and words of the messages that went out.  The other peer is
 * octets laid out by hand.
 */
#ifndef TESTS_UNIT_SPEC_RIG_H
#define TESTS_UNIT_SPEC_RIG_H

#include "conn_serve.h"

#define PROPS           "00000077 00000002 00200020 00000005 00000000 "
#define PROP(id, value) id " 00000004 " value " "
#define GRANT(low)      "00000000 00000002 0020" low " 00000001 00000000 " EMPTY

enum { SPEC_HEAD = 28 };

struct spec_call {
	struct rr_call call;
	struct rr_piece piece[8];
	struct rr_dest dest[4];
	uint8_t head[SPEC_HEAD]; /* XID, Call, 2, program, version, 7, count */
};

/* The connection of a peer that advertised @props: a count, then PROP. */
static inline struct side *
spec_ready(enum rr_conn_role role, const struct rr_conn_config *cfg, const char *props)
{
	struct side *s = raw_new(role, cfg);
	char hex[400];

	sprintf(hex, PROPS "%s", props);
	raw_receive(s, hex);
	assert_true(s->ready);
	rig_forget_sent(s);
	return s;
}

static inline uint32_t word_of(const struct rig_msg *m, unsigned i)
{
	assert_true(4 * (size_t)i + 4 <= m->len);
	return rr_load_u32(m->p + 4 * i);
}

static inline uint32_t flags_of(const struct rig_msg *m)
{
	return word_of(m, 4);
}

static inline struct spec_call *spec_new(uint32_t xid, uint32_t count)
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

static inline void spec_add(struct spec_call *k, const void *base, size_t len,
                            bool item)
{
	k->piece[k->call.n_pieces++] = (struct rr_piece){base, len, item};
}

static inline void spec_dest(struct spec_call *k, void *base, size_t len)
{
	k->dest[k->call.n_dests++] = (struct rr_dest){.base = base, .len = len};
}

static inline void spec_start(struct side *s, struct spec_call *k)
{
	assert_int_equal(rr_conn_call(s->c, &k->call, s->now), 0);
	rig_drain(s);
	rig_complete_all(s);
}

/* The one message that a Call became. */
static inline const struct rig_msg *spec_sent(struct side *s, struct spec_call *k)
{
	spec_start(s, k);
	assert_int_equal(s->n_sent, 1);
	return &s->sent[0];
}

static inline const struct rig_region *spec_region(const struct side *s,
                                                   const void *base)
{
	for (unsigned i = 0; i < s->n_regions; i++)
		if (s->region[i].base == base)
			return &s->region[i];
	fail_msg("not registered");
	return NULL;
}

/* Octets that differ from their neighbours. */
static inline const uint8_t *spec_octets(void)
{
	static uint8_t all[RIG_MSG];

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
	return all;
}

static inline void spec_end(struct side *s, struct spec_call *k)
{
	raw_end(s);
	free(k);
}

#endif
