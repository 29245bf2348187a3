/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection against octets laid out by hand.  Messages are written as
 * hexadecimal words; nothing here uses the codec under test.
 */
#ifndef TESTS_UNIT_CONN_RAW_H
#define TESTS_UNIT_CONN_RAW_H

#include "conn_rig.h"

/* Prefixes: XID, then by name.  The credit word is H 32, one new credit. */
#define V2               " 00000002 00200001 "
#define MSG              V2 "00000000 00000000 "
#define MSG_MORE         V2 "00000000 00000002 "
#define MSG_REPLY        V2 "00000000 00000001 "
#define MSG_REPLY_MORE   V2 "00000000 00000003 "
#define NOMSG            V2 "00000001 00000000 "
#define NOMSG_REPLY      V2 "00000001 00000001 "
#define CONNPROP         V2 "00000005 00000000 "
#define CONNPROP_TPMORE  V2 "00000005 00000004 "
#define CONNPROP_MORE    V2 "00000005 00000002 "
#define ERRORMSG         V2 "00000004 00000001 "
#define EMPTY            "00000000 00000000 00000000 00000000 "
#define CALL(xid)        xid " 00000000 00000002 000186a3 00000003 00000000 "
#define REPLY(xid)       xid " 00000001 00000000 00000000 "
#define SEG(handle, len) handle " " len " 00000000 00010000 "
#define READ(pos, len)   "00000001 " pos " " SEG("000000aa", len)

static inline int raw_digit(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	return -1;
}

static inline size_t raw_octets(const char *hex, uint8_t *to, size_t room)
{
	size_t n = 0;
	int half = -1;

	for (; *hex; hex++) {
		int d = raw_digit(*hex);

		if (d < 0)
			continue;
		if (half < 0) {
			half = d;
			continue;
		}
		assert_true(n < room);
		to[n++] = (uint8_t)(half << 4 | d);
		half = -1;
	}
	assert_int_equal(half, -1);
	return n;
}

static inline void raw_receive_inv(struct side *s, const char *hex, uint32_t inv)
{
	static uint8_t buf[RIG_MSG];
	size_t n = raw_octets(hex, buf, sizeof(buf));

	rig_receive(s, buf, n, inv);
	rig_complete_all(s);
}

static inline void raw_receive(struct side *s, const char *hex)
{
	raw_receive_inv(s, hex, 0);
}

/* Takes the oldest message sent and compares it, the credit word apart: there
 * the ceiling must be H and the grant not zero [V2-4.2.1.1-07, -08]. */
static inline void raw_expect(struct side *s, const char *hex)
{
	uint8_t want[512];
	size_t n = raw_octets(hex, want, sizeof(want));
	struct rig_msg m;

	assert_true(s->n_sent > 0);
	m = s->sent[0];
	assert_int_equal(m.len, n);
	assert_memory_equal(m.p, want, 8);
	assert_memory_equal(m.p + 12, want + 12, n - 12);
	assert_int_equal(m.p[8] << 8 | m.p[9], want[8] << 8 | want[9]);
	assert_true(m.p[10] || m.p[11]);
	assert_int_equal(m.inv, 0);
	free(m.p);
	s->n_sent--;
	memmove(&s->sent[0], &s->sent[1], s->n_sent * sizeof(s->sent[0]));
}

static inline void raw_skip(struct side *s)
{
	free(s->sent[0].p);
	s->n_sent--;
	memmove(&s->sent[0], &s->sent[1], s->n_sent * sizeof(s->sent[0]));
}

static inline void raw_expect_silence(const struct side *s)
{
	assert_int_equal(s->n_sent, 0);
	assert_false(s->disconnect);
}

static inline void raw_expect_close(const struct side *s, int status)
{
	assert_true(s->disconnect);
	assert_int_equal(s->disconnect_status, status);
}

static inline struct side *raw_new(enum rr_conn_role role,
                                   const struct rr_conn_config *cfg)
{
	struct side *s = calloc(1, sizeof(*s));

	if (cfg)
		s->cfg = *cfg;
	rig_new(s, role);
	rig_open(s);
	return s;
}

/* An exchange with defaults on the peer's side, much credit granted. */
static inline struct side *raw_ready(enum rr_conn_role role,
                                     const struct rr_conn_config *cfg)
{
	struct side *s = raw_new(role, cfg);

	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	assert_true(s->ready);
	assert_int_equal(s->n_sent, 1);
	rig_forget_sent(s);
	return s;
}

static inline void raw_end(struct side *s)
{
	rig_end(s);
	free(s);
}

#endif
