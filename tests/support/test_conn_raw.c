/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_raw.h"

struct rr_request *raw_held;
uint8_t raw_reply_words[8192] = {0, 0, 0, 0x55, 0, 0, 0, 1};

static int raw_digit(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	return -1;
}

size_t raw_octets(const char *hex, uint8_t *to, size_t room)
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

void raw_receive_inv(struct side *s, const char *hex, uint32_t inv)
{
	static uint8_t buf[SIDE_MSG];
	size_t n = raw_octets(hex, buf, sizeof(buf));

	side_receive(s, buf, n, inv);
	side_complete_all(s);
}

void raw_receive(struct side *s, const char *hex)
{
	raw_receive_inv(s, hex, 0);
}

void raw_expect(struct side *s, const char *hex)
{
	uint8_t want[512];
	size_t n = raw_octets(hex, want, sizeof(want));
	struct side_msg m;

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

void raw_skip(struct side *s)
{
	free(s->sent[0].p);
	s->n_sent--;
	memmove(&s->sent[0], &s->sent[1], s->n_sent * sizeof(s->sent[0]));
}

void raw_expect_silence(const struct side *s)
{
	assert_int_equal(s->n_sent, 0);
	assert_false(s->disconnect);
}

void raw_expect_close(const struct side *s, int status)
{
	assert_true(s->disconnect);
	assert_int_equal(s->disconnect_status, status);
}

struct side *raw_new(enum rr_conn_role role, const struct rr_conn_config *cfg)
{
	struct side *s = calloc(1, sizeof(*s));

	if (cfg)
		s->cfg = *cfg;
	side_new(s, role);
	side_open(s);
	return s;
}

struct side *raw_ready(enum rr_conn_role role, const struct rr_conn_config *cfg)
{
	struct side *s = raw_new(role, cfg);

	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	assert_true(s->ready);
	assert_int_equal(s->n_sent, 1);
	side_forget_sent(s);
	return s;
}

void raw_end(struct side *s)
{
	side_end(s);
	free(s);
}

/* -- a server whose user answers at once ----------------------------------- */

void raw_answer_call(struct side *s, struct rr_request *r)
{
	static uint8_t words[16];
	const struct rr_piece p = {words, sizeof(words), false};

	raw_octets("00000000 00000001 00000000 00000000", words, sizeof(words));
	rr_store_u32(words, r->xid);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

void raw_expect_service(struct side *s)
{
	raw_receive(s, "00000099" MSG EMPTY CALL("00000099"));
	raw_expect(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	raw_expect_silence(s);
}

/* -- a user who keeps one request ------------------------------------------ */

void raw_hold(struct side *s, struct rr_request *r)
{
	raw_held = r;
}

void raw_answer_held(struct side *s, size_t len)
{
	const struct rr_piece p = {raw_reply_words, len, false};

	rr_conn_reply(s->c, raw_held, &p, 1, s->now);
	side_drain(s);
	side_complete_all(s);
}

void raw_receive_undrawn(struct side *s, const char *hex)
{
	unsigned at = s->posted_head++ % SIDE_QUEUE;
	size_t n = raw_octets(hex, s->posted_base[at], 4096);

	rr_conn_received(s->c, s->posted[at].token, n, 0, s->now);
}

char *raw_repeat(char *to, const char *words, unsigned n)
{
	while (n--)
		to = stpcpy(to, words);
	return to;
}

struct side *raw_ready_by(enum rr_conn_role role, const struct rr_conn_config *cfg,
                          const char *props)
{
	struct side *s = raw_new(role, cfg);
	char hex[400];

	strcpy(hex, "00000077 00000002 00200020 00000005 00000000 ");
	raw_receive(s, strcat(hex, props));
	assert_true(s->ready);
	side_forget_sent(s);
	return s;
}
