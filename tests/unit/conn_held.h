/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A served side whose user holds one request and answers it when a test says so;
 * messages that arrive and are not looked at yet; peers with given properties.
 */
#ifndef TESTS_UNIT_CONN_HELD_H
#define TESTS_UNIT_CONN_HELD_H

#include "conn_serve.h"

static struct rr_request *held;

static inline void hold(struct side *s, struct rr_request *r)
{
	held = r;
}

static uint8_t reply_words[8192] = {0, 0, 0, 0x55, 0, 0, 0, 1};

static inline void answer(struct side *s, size_t len)
{
	const struct rr_piece p = {reply_words, len, false};

	rr_conn_reply(s->c, held, &p, 1, s->now);
	rig_drain(s);
	rig_complete_all(s);
}

/* A message that arrives, with nothing drawn after it. */
static inline void receive_undrawn(struct side *s, const char *hex)
{
	unsigned at = s->posted_head++ % RIG_QUEUE;
	size_t n = raw_octets(hex, s->posted_base[at], 4096);

	rr_conn_received(s->c, s->posted[at].token, n, 0, s->now);
}

static inline char *repeat(char *to, const char *words, unsigned n)
{
	while (n--)
		to = stpcpy(to, words);
	return to;
}

/* The peer's properties, and a ready connection. */
static inline struct side *ready_by(enum rr_conn_role role,
                                    const struct rr_conn_config *cfg, const char *props)
{
	struct side *s = raw_new(role, cfg);
	char hex[400];

	strcpy(hex, "00000077 00000002 00200020 00000005 00000000 ");
	raw_receive(s, strcat(hex, props));
	assert_true(s->ready);
	rig_forget_sent(s);
	return s;
}

#endif
