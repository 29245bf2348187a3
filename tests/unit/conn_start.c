/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of a connection at length: property lists that do not fit in one
 * message, properties that do not fit in any, few credits, host
 * authentication; then keep-alive, and credits that were never given.
 */
#include "test_conn_pair.h"
#include "test_conn_raw.h"

#define PROP(id, value) id " 00000004 " value " "

/* The first words of what was sent as message @i. */
static uint32_t word(const struct side *s, unsigned i, unsigned n)
{
	const uint8_t *p = s->sent[i].p + 4 * n;

	assert_true(i < s->n_sent && s->sent[i].len >= 4 * n + 4);
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint8_t octet(uint32_t id, size_t i)
{
	return (uint8_t)(id * 31 + i * 7 + (i >> 8));
}

/* @n properties of extensions, the i-th of @len[i] octets. */
struct list {
	struct rr_ext_table t;
	uint8_t data[RR_EXT_MAX][20000];
};

static struct list *list_of(unsigned n, const uint32_t *len)
{
	struct list *l = calloc(1, sizeof(*l));

	l->t.n_props = n;
	for (unsigned i = 0; i < n; i++) {
		l->t.prop[i] = (struct rr_ext_prop){
		        .id = 0x80000001 + i, .data = l->data[i], .len = len[i]};
		for (size_t k = 0; k < len[i]; k++)
			l->data[i][k] = octet(i, k);
	}
	return l;
}

/* The properties that the messages sent so far carry, taken from the octets. */
struct seen {
	unsigned messages, sets, parts, props;
	uint32_t id[64], len[64];
	bool final, data_wrong;
	size_t longest;
};

static void read_set(struct seen *v, const uint8_t *p, size_t len)
{
	uint32_t count = rr_load_u32(p);
	size_t at = 4;

	v->sets++;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t id = rr_load_u32(p + at), n = rr_load_u32(p + at + 4);

		assert_true(n <= len - at - 8);
		if (id >= 0x80000001)
			for (size_t k = 0; k < n; k++)
				if (p[at + 8 + k] != octet(id - 0x80000001, k))
					v->data_wrong = true;
		v->id[v->props] = id;
		v->len[v->props++] = n;
		at += 8 + ((n + 3) & ~3u);
	}
	assert_int_equal(at, len); /* nothing but the set */
}

static void read_messages(struct side *s, struct seen *v)
{
	static uint8_t whole[1 << 17];
	static size_t so_far;
	static uint32_t xid, tpmore;

	for (unsigned i = 0; i < s->n_sent; i++) {
		uint32_t flags = word(s, i, 4);
		size_t len = s->sent[i].len - 20;

		if (word(s, i, 3) != 5)
			continue; /* a grant or an error */
		assert_false(v->final);
		assert_int_equal(word(s, i, 1), 2);
		assert_int_equal(flags & ~6u, 0); /* V2-6.2.2-03, [F3] */
		assert_int_equal(len % 4, 0);
		v->messages++;
		v->longest = RR_MAX(v->longest, s->sent[i].len);
		if (so_far) { /* [V10, P2] */
			assert_int_equal(word(s, i, 0), xid);
			assert_int_equal(flags & 4, tpmore);
		}
		xid = word(s, i, 0);
		tpmore = flags & 4;
		assert_int_not_equal(xid, 0);
		memcpy(whole + so_far, s->sent[i].p + 20, len);
		so_far += len;
		if (flags & 2) {
			v->parts++;
			continue;
		}
		read_set(v, whole, so_far);
		so_far = 0;
		v->final = !(flags & 4);
	}
	side_forget_sent(s);
}

static void expect_all(const struct seen *v, unsigned numbers, unsigned n,
                       const uint32_t *len)
{
	assert_true(v->final);
	assert_false(v->data_wrong);
	assert_int_equal(v->props, numbers + n);
	for (unsigned i = 0; i < numbers; i++) {
		assert_int_equal(v->id[i], 1 + i);
		assert_int_equal(v->len[i], 4);
	}
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(v->id[numbers + i], 0x80000001 + i);
		assert_int_equal(v->len[numbers + i], len[i]);
	}
}

/* -- long lists -------------------------------------------------------------------- */

/* V2-4.2.3-05, V2-6.3.4-04, -05, V2-6.2.2.3-01, -04, [V1]: the client's first message
 * has at most 1024 octets and TPMORE; the others fill 4096. */
static void the_first_message_of_a_long_list_has_1024_octets(void **state)
{
	static const uint32_t len[] = {900, 30, 20, 3000, 1040, 5};
	struct list *l = list_of(6, len);
	const struct rr_conn_config cfg = {.ext = &l->t};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct seen v = {0};

	assert_int_equal(s->n_sent, 1);
	assert_true(s->sent[0].len <= 1024);
	assert_int_equal(s->sent[0].len, 84 + 908); /* the first of them fits beside */
	assert_int_equal(word(s, 0, 4), RDMA2_F_TPMORE);
	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	assert_int_equal(s->n_sent, 3);
	assert_int_equal(s->sent[1].len, 24 + 40 + 28 + 3008);
	assert_int_equal(word(s, 1, 4), RDMA2_F_TPMORE);
	assert_int_equal(word(s, 2, 4), 0);
	read_messages(s, &v);
	expect_all(&v, 5, 6, len);
	assert_int_equal(v.parts, 0);
	raw_end(s);
	free(l);
}

/* A list that fills the 1024 octets exactly goes in one, four more do not. */
static void exactly_1024_octets_are_one_message(void **state)
{
	for (uint32_t more = 0; more < 8; more += 4) {
		const uint32_t len[] = {1024 - 84 - 8 + more};
		struct list *l = list_of(1, len);
		const struct rr_conn_config cfg = {.ext = &l->t};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

		assert_int_equal(s->n_sent, 1);
		assert_int_equal(s->sent[0].len, more ? 84 : 1024);
		assert_int_equal(word(s, 0, 4), more ? RDMA2_F_TPMORE : 0);
		raw_end(s);
		free(l);
	}
}

/* V2-6.3.4-03, [V1]: the server's first message has at most 4096 octets, and it does
 * not wait for the client's final one. */
static void the_server_fills_4096_octets(void **state)
{
	static const uint32_t len[] = {2000, 2000, 12};
	struct list *l = list_of(3, len);
	const struct rr_conn_config cfg = {.ext = &l->t};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	struct seen v = {0};

	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(s->sent[0].len, 72 + 2 * 2008);
	assert_int_equal(s->sent[1].len, 24 + 20);
	read_messages(s, &v);
	expect_all(&v, 4, 3, len);
	assert_false(s->ready);
	raw_end(s);
	free(l);
}

/* A peer that advertises less than 4096 for its own Sends keeps to that. [5.2.1-02] */
static void a_small_send_size_bounds_property_messages(void **state)
{
	static const uint32_t len[] = {1200, 900, 900};
	struct list *l = list_of(3, len);
	const struct rr_conn_config cfg = {.ext = &l->t, .send_bytes = 1024};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	struct seen v = {0};

	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	read_messages(s, &v);
	expect_all(&v, 4, 3, len);
	assert_true(v.longest <= 1024);
	assert_int_equal(v.parts, 1); /* 1200 octets in two */
	raw_end(s);
	free(l);
}

/* [P2, P3], V2-6.2.2.2-04: one property of 10001 octets alone goes in parts. */
static void one_property_too_long_goes_in_parts(void **state)
{
	static const uint32_t len[] = {8, 10001, 8};
	struct list *l = list_of(3, len);
	const struct rr_conn_config cfg = {.ext = &l->t};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct seen v = {0};

	raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000000");
	assert_int_equal(s->n_sent, 5);
	assert_int_equal(word(s, 1, 4), 6); /* MORE and TPMORE */
	assert_int_equal(s->sent[1].len, 4096);
	assert_int_equal(word(s, 1, 5), 1);
	assert_int_equal(word(s, 1, 6), 0x80000002);
	assert_int_equal(word(s, 1, 7), 10001);
	assert_int_equal(word(s, 3, 4), 4);
	assert_int_equal(word(s, 4, 4), 0);
	read_messages(s, &v);
	expect_all(&v, 5, 3, len);
	assert_int_equal(v.parts, 2);
	assert_true(s->ready);
	raw_end(s);
	free(l);
}

/* One that fits exactly is not cut. */
static void one_property_of_4096_octets_goes_whole(void **state)
{
	for (uint32_t more = 0; more < 8; more += 4) {
		const uint32_t len[] = {4096 - 24 - 8 + more};
		struct list *l = list_of(1, len);
		const struct rr_conn_config cfg = {.ext = &l->t};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

		raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000000");
		assert_int_equal(s->n_sent, more ? 3 : 2);
		assert_int_equal(s->sent[1].len, 4096);
		assert_int_equal(word(s, 1, 4), more ? RDMA2_F_MORE : 0);
		raw_end(s);
		free(l);
	}
}

/* The long one at the end is the final message: TPMORE clear in all its parts. */
static void a_last_property_in_parts_is_final(void **state)
{
	static const uint32_t len[] = {10000};
	struct list *l = list_of(1, len);
	const struct rr_conn_config cfg = {.ext = &l->t};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000000");
	assert_int_equal(s->n_sent, 4);
	assert_int_equal(word(s, 1, 4), 2);
	assert_int_equal(word(s, 2, 4), 2);
	assert_int_equal(word(s, 3, 4), 0);
	assert_true(s->ready);
	raw_end(s);
	free(l);
}

/* V2-4.2.3-02, V2-6.2.2.2-13: each message costs a credit; with one at a time the
 * list goes through all the same, and nothing else comes between its parts. */
static void a_list_waits_for_credits(void **state)
{
	static const uint32_t len[] = {3000, 9000, 3000};
	struct list *l = list_of(3, len);
	const struct rr_conn_config cfg = {.ext = &l->t};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct seen v = {0};
	unsigned sent = 1;

	read_messages(s, &v);
	/* one credit, and an unknown type that wants an error */
	raw_receive(s, "00000001 00000002 00200001 00000005 00000000 00000000");
	while (!v.final) {
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(word(s, 0, 3), 5);
		read_messages(s, &v);
		assert_int_equal(v.messages, ++sent);
		assert_true(s->ready == v.final);
		if (!v.final) /* a grant of one credit */
			raw_receive(s, "00000000" NOMSG EMPTY);
	}
	expect_all(&v, 5, 3, len);
	raw_end(s);
	free(l);
}

/* [P1]: RPC waits for both ends of the exchange; errors and grants do not. */
static void errors_and_grants_go_between_sets(void **state)
{
	static const uint32_t len[] = {3000, 3000};
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	struct list *l = list_of(2, len);
	const struct rr_conn_config cfg = {.ext = &l->t};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	side_forget_sent(s);
	/* refused for its value; still it grants one credit: the error goes */
	raw_receive(s, "00000001" CONNPROP_TPMORE "00000001 00000004 00000001 00");
	raw_expect(s, "00000001" ERRORMSG "00000003");
	raw_expect_silence(s);
	raw_receive(s, "00000002 00000002 00200004 00000005 00000004 00000000");
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(word(s, 0, 3), 5);
	assert_int_equal(word(s, 1, 4), 0);
	side_forget_sent(s);
	raw_receive(s, "00000003" CONNPROP "00000000");
	assert_true(s->ready);
	raw_expect(s, "00000099" MSG EMPTY "00000099 00000000");
	raw_end(s);
	free(l);
}

/* -- properties of extensions received [V2-5.1-10, -11, V2-B.4-02] --------- */

struct told {
	unsigned n, messages, errors;
	struct rr_ext_event ev[64];
	uint8_t data[64][64];
	bool ready_before;
};

static void note(struct side *s, const struct rr_ext_event *ev)
{
	struct told *t = s->app;

	assert_true(t->n < 64);
	t->ev[t->n] = *ev;
	if (ev->len)
		memcpy(t->data[t->n], ev->data, RR_MIN(ev->len, (size_t)64));
	t->ready_before |= s->ready && ev->what != RR_EXT_MESSAGE;
	t->n++;
}

static bool four(const void *data, size_t len)
{
	return len == 4;
}

static struct side *with_extension(enum rr_conn_role role, struct told *t)
{
	static const struct rr_ext_table table = {
	        .n_props = 2,
	        .prop = {{.id = 0x80000001,
	                  .conforms = four,
	                  .deflt = "none",
	                  .deflt_len = 4},
	                 {.id = 0x80000002, .deflt = "", .deflt_len = 0}},
	};
	const struct rr_conn_config cfg = {.ext = &table};
	struct side *s = calloc(1, sizeof(*s));

	s->cfg = cfg;
	s->on_extension = note;
	s->app = t;
	side_new(s, role);
	side_open(s);
	return s;
}

static void expect_told(const struct told *t, unsigned i, enum rr_ext_what what,
                        uint32_t id, const char *data)
{
	assert_true(i < t->n);
	assert_int_equal(t->ev[i].what, what);
	assert_int_equal(t->ev[i].number, id);
	assert_int_equal(t->ev[i].len, strlen(data));
	assert_memory_equal(t->data[i], data, strlen(data));
}

static void a_property_of_an_extension_is_told_before_ready(void **state)
{
	struct told t = {0};
	struct side *s = with_extension(RR_CONN_SERVER, &t);

	raw_receive(s, "00000001" CONNPROP "00000003 80000002 00000003 61626300"
	               "80000003 00000000 80000001 00000004 76616c31");
	assert_true(s->ready);
	assert_int_equal(t.n, 2);
	expect_told(&t, 0, RR_EXT_PROPERTY, 0x80000002, "abc");
	expect_told(&t, 1, RR_EXT_PROPERTY, 0x80000001, "val1");
	assert_false(t.ready_before);
	raw_end(s);
}

/* Not sent, or sent without data [V2-5.1-04]: the default, once. */
static void a_property_that_does_not_come_has_its_default(void **state)
{
	struct told t = {0};
	struct side *s = with_extension(RR_CONN_SERVER, &t);

	raw_receive(s, "00000001" CONNPROP_TPMORE "00000001 80000002 00000000");
	assert_int_equal(t.n, 0);
	raw_receive(s, "00000001" CONNPROP "00000000");
	assert_int_equal(t.n, 2);
	expect_told(&t, 0, RR_EXT_DEFAULT, 0x80000001, "none");
	expect_told(&t, 1, RR_EXT_DEFAULT, 0x80000002, "");
	assert_false(t.ready_before);
	raw_end(s);
}

/* [P7]: the last one counts, also if it is the default. */
static void a_value_can_be_taken_back(void **state)
{
	struct told t = {0};
	struct side *s = with_extension(RR_CONN_SERVER, &t);

	raw_receive(s,
	            "00000001" CONNPROP_TPMORE "00000001 80000001 00000004 76616c31");
	raw_receive(s, "00000001" CONNPROP "00000001 80000001 00000000");
	expect_told(&t, 0, RR_EXT_PROPERTY, 0x80000001, "val1");
	expect_told(&t, 1, RR_EXT_DEFAULT, 0x80000001, "none");
	assert_int_equal(t.n, 3); /* and the other one's default */
	raw_end(s);
}

/* V2-7.2.2-01, -02, V2-5.1-06, [P4]: and none of the others in it is applied. */
static void a_property_of_the_wrong_type_is_refused_with_its_set(void **state)
{
	struct told t = {0};
	struct side *s = with_extension(RR_CONN_SERVER, &t);
	struct rr_conn_info info;

	raw_receive(s, "00000001 00000002 00200020 00000005 00000000"
	               "00000003" PROP("00000004",
	                               "00000007") "80000002 00000003 61626300 "
	                                           "80000001 00000003 76616c00");
	raw_skip(s);
	raw_expect(s, "00000001" ERRORMSG "00000003");
	assert_true(s->ready); /* its TPMORE counts */
	assert_int_equal(t.n, 2);
	expect_told(&t, 0, RR_EXT_DEFAULT, 0x80000001, "none");
	rr_conn_info(s->c, &info);
	assert_int_equal(info.peer_max_segments, 16);
	raw_end(s);
}

/* [P4]: what the peer refuses of ours is told. */
static void an_own_property_refused_is_told(void **state)
{
	static const uint32_t len[] = {900, 10000};
	struct list *l = list_of(2, len);
	const struct rr_conn_config cfg = {.ext = &l->t, .xid_seed = 0x77};
	struct told t = {0};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	s->on_extension = note;
	s->app = &t;
	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	assert_int_equal(s->n_sent, 4);
	assert_int_equal(word(s, 1, 0), 0x78);
	raw_receive(s, "00000078" ERRORMSG "00000003");
	assert_int_equal(t.n, 1);
	expect_told(&t, 0, RR_EXT_REFUSED, 0x80000002, "");
	raw_receive(s, "00000077" ERRORMSG "00000003");
	assert_int_equal(t.n, 2);
	expect_told(&t, 1, RR_EXT_REFUSED, 0x80000001, "");
	raw_receive(s, "00000079" ERRORMSG "00000003"); /* nobody's */
	assert_int_equal(t.n, 2);
	assert_false(s->disconnect);
	raw_end(s);
	free(l);
}

/* -- pairs: any list, any credits ------------------------------------------ */

static void count_props(struct side *s, const struct rr_ext_event *ev)
{
	struct told *t = s->app;

	assert_int_equal(ev->what, ev->len ? RR_EXT_PROPERTY : RR_EXT_DEFAULT);
	for (size_t k = 0; k < ev->len; k++)
		assert_int_equal(((const uint8_t *)ev->data)[k],
		                 octet(ev->number - 0x80000001, k));
	t->ev[ev->number - 0x80000001].len = ev->len;
	t->n++;
}

static void lists_pass_with_few_credits(void **state)
{
	static const uint32_t len[] = {5,    20000, 900,   4096, 3000, 4064,
	                               4068, 1,     19999, 4060, 0,    2,
	                               3000, 3000,  3000,  12345};
	struct list *l = list_of(16, len);

	for (unsigned seed = 0; seed < 200; seed++) {
		struct pair *p = calloc(1, sizeof(*p));
		struct told t[2] = {{0}};
		struct rr_ext_table half = l->t;

		half.n_props = 16;
		for (unsigned i = 0; i < 16; i++)
			if (seed & 1u << (i % 7))
				half.prop[i].data = NULL;
		p->cl.cfg =
		        (struct rr_conn_config){.credits = 2 + seed % 5, .ext = &l->t};
		p->sv.cfg = (struct rr_conn_config){.credits = 2 + seed / 5 % 5,
		                                    .send_bytes = seed % 3 ? 0 : 1024,
		                                    .ext = seed % 2 ? &half : &l->t};
		p->cl.on_extension = p->sv.on_extension = count_props;
		p->cl.app = &t[0];
		p->sv.app = &t[1];
		pair_new(p, seed);
		pair_run(p);
		while (!p->cl.ready && pair_wait(p, RR_SEC(2)))
			pair_run(p);
		assert_true(p->cl.ready);
		assert_true(p->sv.ready);
		assert_int_equal(t[1].n, 16);
		assert_int_equal(t[0].n, 16);
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(t[1].ev[i].len, len[i]);
		pair_end(p);
		free(p);
	}
	free(l);
}

/* -- host authentication [V2-5.2.6-01 to -03, P14, P15, P6] ---------------- */

#define STEP "00000001 00000006 0000000c 00000005 68656c6c 6f000000"

/* Says @say[i] at its i-th step and wants to hear @hear[i]. */
struct hook {
	const char *say[4], *hear[4];
	unsigned steps, last;
	int verdict; /* of the last step */
	size_t big;  /* octets of each word instead */
	uint8_t *words;
};

static int hook_step(void *ctx, const void *in, size_t in_len, const void **ret_out,
                     size_t *ret_out_len)
{
	struct hook *h = ctx;
	unsigned i = h->steps++;

	assert_true(i <= h->last);
	if (!h->hear[i]) {
		assert_null(in);
	} else if (h->big && in) {
		if (in_len != h->big)
			return -1;
	} else if (!in || in_len != strlen(h->hear[i]) ||
	           memcmp(in, h->hear[i], in_len) != 0) {
		return -1;
	}
	*ret_out = h->big && h->say[i] ? h->words : (const void *)h->say[i];
	*ret_out_len = !h->say[i] ? 0 : h->big ? h->big : strlen(h->say[i]);
	return i == h->last ? h->verdict : 0;
}

static struct rr_auth auth_of(struct hook *h)
{
	return (struct rr_auth){hook_step, h};
}

/* Three rounds: hello, challenge; response, proof; thanks. */
static struct hook client_hook(void)
{
	return (struct hook){.say = {"hello", "response!", "thanks"},
	                     .hear = {NULL, "challenge", "proof"},
	                     .last = 2,
	                     .verdict = 1};
}

static struct hook server_hook(void)
{
	return (struct hook){.say = {"challenge", "proof", NULL},
	                     .hear = {"hello", "response!", "thanks"},
	                     .last = 2,
	                     .verdict = 1};
}

/* The client's octets: each step alone, with TPMORE, in turn. */
static void the_client_takes_three_steps(void **state)
{
	struct hook h = client_hook();
	const struct rr_conn_config cfg = {
	        .xid_seed = 0x77, .auth = auth_of(&h), .auth_required = true};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	assert_int_equal(word(s, 0, 4), RDMA2_F_TPMORE);
	assert_int_equal(s->sent[0].len, 84);
	raw_skip(s);
	assert_int_equal(h.steps, 0);
	raw_receive(s, "00000001" CONNPROP_TPMORE "00000000");
	raw_expect(s, "00000078" CONNPROP_TPMORE
	              "00000001 00000006 0000000c 00000005 68656c6c 6f000000");
	raw_expect_silence(s);
	raw_receive(s,
	            "00000002" CONNPROP_TPMORE
	            "00000001 00000006 00000010 00000009 6368616c 6c656e67 65000000");
	raw_expect(s, "00000079" CONNPROP_TPMORE
	              "00000001 00000006 00000010 00000009 72657370 6f6e7365 21000000");
	raw_expect_silence(s);
	/* without data it is no step [P6] */
	raw_receive(s, "00000003" CONNPROP_TPMORE "00000001 00000006 00000000");
	raw_expect_silence(s);
	raw_receive(s, "00000004" CONNPROP_TPMORE
	               "00000001 00000006 0000000c 00000005 70726f6f 66000000");
	raw_expect(s, "0000007a" CONNPROP_TPMORE
	              "00000001 00000006 0000000c 00000006 7468616e 6b730000");
	raw_expect(s, "0000007b" CONNPROP "00000000");
	assert_false(s->ready);
	raw_receive(s, "00000005" CONNPROP "00000000");
	assert_true(s->ready);
	assert_int_equal(h.steps, 3);
	raw_end(s);
}

/* The server's: it never speaks first. */
static void the_server_answers_three_steps(void **state)
{
	struct hook h = server_hook();
	const struct rr_conn_config cfg = {.xid_seed = 0x88, .auth = auth_of(&h)};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	assert_int_equal(word(s, 0, 4), RDMA2_F_TPMORE);
	raw_skip(s);
	raw_expect_silence(s);
	raw_receive(s, "00000002" CONNPROP_TPMORE
	               "00000001 00000006 0000000c 00000005 68656c6c 6f000000");
	raw_expect(s, "00000089" CONNPROP_TPMORE
	              "00000001 00000006 00000010 00000009 6368616c 6c656e67 65000000");
	raw_expect_silence(s);
	raw_receive(s,
	            "00000003" CONNPROP_TPMORE
	            "00000001 00000006 00000010 00000009 72657370 6f6e7365 21000000");
	raw_expect(s, "0000008a" CONNPROP_TPMORE
	              "00000001 00000006 0000000c 00000005 70726f6f 66000000");
	raw_receive(s, "00000004" CONNPROP
	               "00000001 00000006 0000000c 00000006 7468616e 6b730000");
	raw_expect(s, "0000008b" CONNPROP "00000000");
	assert_true(s->ready);
	raw_end(s);
}

/* The client's last step may be its last message: the answer still goes out. */
static void a_last_step_may_be_final(void **state)
{
	struct hook h = server_hook();
	const struct rr_conn_config cfg = {
	        .xid_seed = 0x88, .auth = auth_of(&h), .auth_required = true};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	h.last = 1; /* content with the response, and says so */
	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	raw_receive(s, "00000002" CONNPROP_TPMORE STEP);
	side_forget_sent(s);
	raw_receive(s,
	            "00000003" CONNPROP
	            "00000001 00000006 00000010 00000009 72657370 6f6e7365 21000000");
	raw_expect(s, "0000008a" CONNPROP_TPMORE
	              "00000001 00000006 0000000c 00000005 70726f6f 66000000");
	raw_expect(s, "0000008b" CONNPROP "00000000");
	assert_true(s->ready);
	raw_end(s);
}

static struct pair *auth_pair(struct hook *cl, struct hook *sv, bool cl_must,
                              bool sv_must, unsigned seed)
{
	struct pair *p = calloc(1, sizeof(*p));

	p->cl.cfg.credits = 2 + seed % 3;
	p->sv.cfg.credits = 2 + seed / 3 % 3;
	if (cl)
		p->cl.cfg.auth = auth_of(cl);
	if (sv)
		p->sv.cfg.auth = auth_of(sv);
	p->cl.cfg.auth_required = cl_must;
	p->sv.cfg.auth_required = sv_must;
	pair_new(p, seed);
	return p;
}

static void pair_settle(struct pair *p)
{
	pair_run(p);
	while (!p->cl.lost && !(p->cl.ready && p->sv.ready) && pair_wait(p, RR_SEC(2)))
		pair_run(p);
}

static void both_prove_themselves(void **state)
{
	for (unsigned seed = 0; seed < 60; seed++) {
		struct hook c = client_hook(), v = server_hook();
		struct pair *p = auth_pair(&c, &v, seed & 1, seed & 2, seed);

		pair_settle(p);
		assert_true(p->cl.ready && p->sv.ready);
		assert_int_equal(c.steps, 3);
		assert_int_equal(v.steps, 3);
		pair_end(p);
		free(p);
	}
}

/* V2-6.3.4-04: words of 10000 octets and more go in parts. */
static void long_words_go_in_parts(void **state)
{
	for (unsigned seed = 0; seed < 20; seed++) {
		struct hook c = client_hook(), v = server_hook();
		struct pair *p;

		c.big = v.big = 10000 + seed;
		c.words = v.words = calloc(1, c.big);
		p = auth_pair(&c, &v, true, true, seed);
		pair_settle(p);
		assert_true(p->cl.ready && p->sv.ready);
		pair_end(p);
		free(p);
		free(c.words);
	}
}

/* V2-5.2.6-03: a peer without it: policy decides. */
static void a_peer_without_a_hook_is_local_policy(void **state)
{
	for (unsigned k = 0; k < 8; k++) {
		struct hook c = client_hook(), v = server_hook();
		bool at_client = k & 1, must = k & 2;
		struct pair *p = auth_pair(at_client ? &c : NULL, at_client ? NULL : &v,
		                           must && at_client, must && !at_client, k);

		pair_settle(p);
		if (must) {
			struct side *s = at_client ? &p->cl : &p->sv;

			assert_true(s->disconnect);
			assert_int_equal(s->disconnect_status, -EACCES);
			assert_false(s->ready);
		} else {
			assert_true(p->cl.ready && p->sv.ready);
		}
		pair_end(p);
		free(p);
	}
}

static void a_hook_that_says_no_closes(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct hook c = client_hook(), v = server_hook();
		struct pair *p;
		struct side *s;

		(k ? &c : &v)->hear[1] = "something else";
		p = auth_pair(&c, &v, false, false, k);
		pair_settle(p);
		s = k ? &p->cl : &p->sv;
		assert_true(s->disconnect);
		assert_int_equal(s->disconnect_status, -EACCES);
		assert_false(p->cl.ready || p->sv.ready);
		pair_end(p);
		free(p);
	}
}

static void expect_access_denied(struct side *s)
{
	raw_expect_close(s, -EACCES);
	assert_false(s->ready);
	raw_end(s);
}

/* Twice in a row, in the client's silence, after the end, gone in the middle. */
static void steps_out_of_turn_close(void **state)
{
	struct hook v = server_hook(), c = client_hook();
	const struct rr_conn_config sv = {.auth = auth_of(&v)},
	                            cl = {.auth = auth_of(&c)};
	struct side *s = raw_new(RR_CONN_SERVER, &sv);

	raw_receive(s,
	            "00000001" CONNPROP_TPMORE "00000002 00000006 0000000c 00000005"
	            "68656c6c 6f000000 00000006 0000000c 00000005 68656c6c 6f000000");
	expect_access_denied(s);

	s = raw_new(RR_CONN_CLIENT, &cl); /* the server must not begin */
	raw_receive(s, "00000001" CONNPROP_TPMORE STEP);
	expect_access_denied(s);

	v = server_hook();
	s = raw_new(RR_CONN_SERVER, &sv); /* gone in the middle */
	raw_receive(s, "00000001" CONNPROP_TPMORE STEP);
	raw_receive(s, "00000001" CONNPROP "00000000");
	expect_access_denied(s);

	v = server_hook();
	v.last = 0; /* satisfied at once; more comes */
	s = raw_new(RR_CONN_SERVER, &sv);
	raw_receive(s, "00000001" CONNPROP_TPMORE STEP);
	raw_receive(s, "00000001" CONNPROP_TPMORE STEP);
	expect_access_denied(s);
}

static int endless(void *ctx, const void *in, size_t in_len, const void **ret_out,
                   size_t *ret_out_len)
{
	++*(unsigned *)ctx;
	return 0;
}

static int shout(void *ctx, const void *in, size_t in_len, const void **ret_out,
                 size_t *ret_out_len)
{
	*ret_out = ctx;
	*ret_out_len = (1 << 18) + 1;
	return 0;
}

/* [P20]: neither steps nor octets without end. */
static void a_dialogue_without_end_closes(void **state)
{
	unsigned n = 0;
	const struct rr_conn_config cfg = {.auth = {endless, &n}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	for (unsigned i = 0; i < 40 && !s->disconnect; i++) {
		raw_receive(s, "00000001 00000002 00200002 00000005 00000004" STEP);
		side_forget_sent(s);
	}
	assert_int_equal(n, 32);
	expect_access_denied(s);
}

static void words_without_end_close(void **state)
{
	const struct rr_conn_config cfg = {.auth = {shout, NULL}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive(s, "00000001" CONNPROP_TPMORE STEP);
	expect_access_denied(s);
}

/* Required: nothing is executed for a peer that has not proved itself. */
static void no_call_before_the_proof(void **state)
{
	struct hook v = server_hook();
	const struct rr_conn_config cfg = {.auth = auth_of(&v), .auth_required = true};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive(s, "00000055 00000002 00200020 00000000 00000000" EMPTY CALL(
	                       "00000055"));
	assert_int_equal(s->requested, 0);
	assert_int_equal(s->admitted, 0);
	expect_access_denied(s);
}

/* A step refused as malformed did not arrive: there is no proof. */
static void a_refused_step_closes(void **state)
{
	struct hook c = client_hook();
	const struct rr_conn_config cfg = {.xid_seed = 0x77, .auth = auth_of(&c)};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_receive(s, "00000001" CONNPROP_TPMORE "00000000");
	assert_int_equal(word(s, 1, 0), 0x78);
	raw_receive(s, "00000078" ERRORMSG "00000003");
	expect_access_denied(s);
}

/* Nor a Reply before the own exchange is over. [P1] */
static void on_request(struct side *s, struct rr_request *r)
{
	static uint8_t words[8] = {0, 0, 0, 0, 0, 0, 0, 1};
	const struct rr_piece p = {words, sizeof(words), false};

	rr_store_u32(words, r->xid);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

static void a_reply_waits_for_the_own_last_words(void **state)
{
	struct hook v = server_hook();
	const struct rr_conn_config cfg = {.auth = auth_of(&v)}; /* not required */
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	s->on_request = on_request;
	raw_receive(s, "00000055 00000002 00200020 00000000 00000000" EMPTY CALL(
	                       "00000055"));
	assert_int_equal(s->requested, 1);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(word(s, 0, 4), RDMA2_F_TPMORE);
	raw_receive(s, "00000001" CONNPROP "00000000");
	assert_int_equal(s->n_sent, 3);
	assert_int_equal(word(s, 1, 4), 0);
	assert_int_equal(word(s, 2, 0), 0x55);
	raw_end(s);
}

/* Version 1 has no way to prove anything, so it is not spoken. */
static void a_proof_cannot_be_evaded_by_version_1(void **state)
{
	struct hook v = server_hook();
	struct rr_conn_config cfg = {.auth = auth_of(&v),
	                             .auth_required = true,
	                             .versions = RR_CONN_V1 | RR_CONN_V2};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg), none = {0};
	struct rr_conn *c;

	raw_receive(
	        s,
	        "00000055 00000001 00000020 00000000 00000000 00000000 00000000" CALL(
	                "00000055"));
	assert_int_equal(s->requested, 0);
	assert_false(s->ready);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 28);
	assert_int_equal(word(s, 0, 5), 2); /* from version 2 */
	assert_int_equal(word(s, 0, 6), 2); /* to version 2 */
	raw_end(s);
	cfg.versions = RR_CONN_V1;
	cfg.mem = (struct rr_mem){side_get, side_put, &none};
	conn_limits(&cfg);
	assert_int_equal(rr_conn_new(&cfg, 0, &c), -EINVAL);
}

static void requiring_needs_a_hook(void **state)
{
	struct side s = {.cfg = {.auth_required = true}};
	struct rr_conn *c;

	s.cfg.mem = (struct rr_mem){side_get, side_put, &s};
	conn_limits(&s.cfg);
	assert_int_equal(rr_conn_new(&s.cfg, 0, &c), -EINVAL);
	assert_int_equal(s.mem_blocks, 0);
}

static void a_limit_of_0_is_misuse(void **state)
{
#define MEMBER(m)                                                                      \
	{                                                                              \
		offsetof(struct rr_conn_config, m),                                    \
		        sizeof(((struct rr_conn_config *)0)->m)                        \
	}
	static const struct {
		size_t at, len;
	} member[] = {
	        MEMBER(send_bytes),        MEMBER(recv_bytes),
	        MEMBER(segment_bytes),     MEMBER(max_segments),
	        MEMBER(credits),           MEMBER(max_requests),
	        MEMBER(max_message_bytes), MEMBER(max_chunk_bytes),
	        MEMBER(max_held_bytes),    MEMBER(versions),
	        MEMBER(first_answer_ns),   MEMBER(props_ns),
	        MEMBER(grant_ns),          MEMBER(drain_ns),
	        MEMBER(keepalive_ns),
	};
#undef MEMBER
	struct side s = {.ready = false};
	struct rr_conn *c;

	s.cfg.mem = (struct rr_mem){side_get, side_put, &s};
	for (unsigned i = 0; i < RR_ARRAY_SIZE(member); i++) {
		struct rr_conn_config cfg = s.cfg;

		conn_limits(&cfg);
		memset((char *)&cfg + member[i].at, 0, member[i].len);
		assert_int_equal(rr_conn_new(&cfg, 0, &c), -EINVAL);
	}
	assert_int_equal(s.mem_blocks, 0);
}

/* Connections with one stock use the same blocks, and leave none when it is freed. */
static void a_stock_serves_connections_by_turns(void **state)
{
	struct side s = {.cfg = {.pooled_receives = true}};
	struct rr_conn *c[2];
	unsigned own, shared;

	s.cfg.mem = (struct rr_mem){side_get, side_put, &s};
	conn_limits(&s.cfg);
	assert_int_equal(rr_conn_new(&s.cfg, 0, &c[0]), 0);
	own = s.mem_blocks;
	rr_conn_free(c[0]);
	assert_int_equal(s.mem_blocks, 0);
	s.cfg.stock = rr_stock_new(&s.cfg.mem);
	assert_non_null(s.cfg.stock);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rr_conn_new(&s.cfg, 0, &c[0]), 0);
		shared = s.mem_blocks;
		assert_int_equal(shared, own);
		rr_conn_free(c[0]);
		assert_int_equal(s.mem_blocks,
		                 shared - 1); /* the stock keeps the rest */
	}
	rr_stock_free(s.cfg.stock);
	rr_stock_free(NULL);
	assert_int_equal(s.mem_blocks, 0);
}

/* -- keep-alive [C12, V2-4.2.1.2] ------------------------------------------ */

static void tick(struct side *s, rr_time t)
{
	s->now = t;
	rr_conn_tick(s->c, t);
	side_drain(s);
}

#define GRANT "00000000" NOMSG EMPTY

static void silence_is_broken_by_grants(void **state)
{
	const struct rr_conn_config cfg = {.keepalive_ns = RR_SEC(7)};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	rr_time t = s->now + RR_SEC(7);

	assert_int_equal(rr_conn_deadline(s->c), t);
	tick(s, t - 1);
	raw_expect_silence(s);
	tick(s, t);
	raw_expect(s, GRANT);
	raw_expect_silence(s);
	assert_int_equal(rr_conn_deadline(s->c), t + RR_SEC(7));
	tick(s, t + RR_SEC(7));
	raw_expect(s, GRANT);
	raw_end(s);
}

static void what_is_sent_puts_the_keep_alive_off(void **state)
{
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	const struct rr_conn_config cfg = {.keepalive_ns = RR_SEC(7)};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	rr_time t = s->now;

	s->now = t + RR_SEC(5);
	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	side_drain(s);
	raw_skip(s);
	tick(s, t + RR_SEC(7));
	raw_expect_silence(s);
	assert_int_equal(rr_conn_deadline(s->c), t + RR_SEC(12));
	raw_end(s);
}

/* Only if avail >= 1. */
static void without_a_credit_nothing_is_kept_alive(void **state)
{
	const struct rr_conn_config cfg = {.keepalive_ns = RR_SEC(7)};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	rr_time t = s->now + RR_SEC(7);

	side_forget_sent(s);
	raw_receive(s, "00000077 00000002 00010001 00000005 00000000 00000000");
	assert_true(s->ready);
	tick(s, t);
	raw_expect(s, GRANT);
	tick(s, t + RR_SEC(7));
	raw_expect_silence(s);
	assert_int_equal(rr_conn_deadline(s->c), t + RR_SEC(14));
	raw_receive(s, GRANT);
	raw_expect_silence(s); /* its time is not made up for */
	tick(s, t + RR_SEC(14));
	raw_expect(s, GRANT);
	raw_end(s);
}

/* The exchange has its own timer. */
static void the_exchange_is_not_kept_alive(void **state)
{
	const struct rr_conn_config cfg = {.keepalive_ns = RR_SEC(7)};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	side_forget_sent(s);
	raw_receive(s, "00000077 00000002 00200020 00000005 00000004 00000000");
	tick(s, s->now + RR_SEC(8));
	raw_expect_silence(s);
	raw_end(s);
}

static void it_is_off_by_default(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);

	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
}

/* Two idle peers do not keep each other awake but by the clock. */
static void keep_alives_do_not_provoke_each_other(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct rr_conn_counters n[2];

	p->cl.cfg.keepalive_ns = RR_SEC(10);
	p->sv.cfg.keepalive_ns = RR_SEC(13);
	pair_new(p, 5);
	pair_run(p);
	assert_true(p->cl.ready && p->sv.ready);
	while (pair_wait(p, RR_SEC(1000)))
		pair_run(p);
	rr_conn_counters(p->cl.c, &n[0]);
	rr_conn_counters(p->sv.c, &n[1]);
	assert_in_range(n[0].grants, 90, 200);
	assert_in_range(n[1].grants, 60, 200);
	assert_false(p->cl.disconnect || p->sv.disconnect);
	pair_end(p);
	free(p);
}

/* -- overruns, reserve [C3 model, V2-4.2.1] -------------------------------- */

static uint64_t overruns(const struct side *s)
{
	struct rr_conn_counters n;

	rr_conn_counters(s->c, &n);
	return n.overruns;
}

/* The server gave the client one credit, then 3 with its first message. */
static void messages_beyond_the_credits_are_counted(void **state)
{
	const struct rr_conn_config cfg = {.credits = 3};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(overruns(s), 0);
		raw_receive(s, "00000055 00000002 00030000 00000005 00000001 00000000");
	}
	assert_int_equal(overruns(s), 0);
	raw_receive(s, "00000055 00000002 00030000 00000004 00000001 00000002");
	assert_int_equal(overruns(s), 1);
	raw_receive(s, "00000055 00000002 00030000 00000004 00000001 00000002");
	assert_int_equal(overruns(s), 2);
	raw_receive(s, "00000055"); /* not one of the connection's [C8] */
	assert_int_equal(overruns(s), 2);
	assert_false(s->disconnect);
	raw_end(s);
}

/* The server has no credit before the client's first message. [C7] */
static void a_server_beyond_its_credits_is_counted_too(void **state)
{
	const struct rr_conn_config cfg = {.credits = 3};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);

	for (unsigned i = 0; i < 2; i++)
		raw_receive(s, "00000055 00000002 00030000 00000005 00000001 00000000");
	assert_int_equal(overruns(s), 0);
	raw_receive(s, "00000055 00000002 00030000 00000005 00000001 00000000");
	assert_int_equal(overruns(s), 1);
	raw_end(s);
}

static void what_was_overrun_is_not_counted_again(void **state)
{
	const struct rr_conn_config cfg = {.credits = 3};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

	for (unsigned i = 0; i < 6; i++)
		raw_receive(s, "00000055 00000002 00030000 00000005 00000001 00000000");
	assert_int_equal(overruns(s), 3);
	raw_receive(s, "00000055 00000002 00030001 00000005 00000000 00000000");
	assert_int_equal(overruns(s), 4);
	raw_expect(s, "00000055 00000002 00030001 00000004 00000001 00000004");
	raw_receive(s, "00000055 00000002 00030000 00000005 00000001 00000000");
	assert_int_equal(overruns(s), 4); /* that error gave a credit */
	raw_end(s);
}

static void two_of_ours_never_overrun(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));

	p->cl.cfg.credits = 2;
	p->cl.cfg.keepalive_ns = RR_MS(3);
	pair_new(p, 9);
	pair_run(p);
	while (pair_wait(p, RR_SEC(3)))
		pair_run(p);
	assert_int_equal(overruns(&p->cl), 0);
	assert_int_equal(overruns(&p->sv), 0);
	pair_end(p);
	free(p);
}

static void a_reserve_of_receives_is_posted(void **state)
{
	for (uint32_t extra = 0; extra < 10; extra += 9) {
		const struct rr_conn_config cfg = {
		        .credits = 5, .send_credits = 7, .extra_receives = extra};
		struct side *s = raw_ready(RR_CONN_SERVER, &cfg);
		struct rr_conn_info info;

		rr_conn_info(s->c, &info);
		assert_int_equal(info.receives_posted, 5 + 7 + 2 + extra);
		raw_end(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_first_message_of_a_long_list_has_1024_octets),
	        cmocka_unit_test(exactly_1024_octets_are_one_message),
	        cmocka_unit_test(the_server_fills_4096_octets),
	        cmocka_unit_test(a_small_send_size_bounds_property_messages),
	        cmocka_unit_test(one_property_too_long_goes_in_parts),
	        cmocka_unit_test(a_last_property_in_parts_is_final),
	        cmocka_unit_test(one_property_of_4096_octets_goes_whole),
	        cmocka_unit_test(a_list_waits_for_credits),
	        cmocka_unit_test(errors_and_grants_go_between_sets),
	        cmocka_unit_test(a_property_of_an_extension_is_told_before_ready),
	        cmocka_unit_test(a_property_that_does_not_come_has_its_default),
	        cmocka_unit_test(a_value_can_be_taken_back),
	        cmocka_unit_test(a_property_of_the_wrong_type_is_refused_with_its_set),
	        cmocka_unit_test(an_own_property_refused_is_told),
	        cmocka_unit_test(lists_pass_with_few_credits),
	        cmocka_unit_test(the_client_takes_three_steps),
	        cmocka_unit_test(the_server_answers_three_steps),
	        cmocka_unit_test(a_last_step_may_be_final),
	        cmocka_unit_test(both_prove_themselves),
	        cmocka_unit_test(long_words_go_in_parts),
	        cmocka_unit_test(a_peer_without_a_hook_is_local_policy),
	        cmocka_unit_test(a_hook_that_says_no_closes),
	        cmocka_unit_test(steps_out_of_turn_close),
	        cmocka_unit_test(a_dialogue_without_end_closes),
	        cmocka_unit_test(words_without_end_close),
	        cmocka_unit_test(no_call_before_the_proof),
	        cmocka_unit_test(a_reply_waits_for_the_own_last_words),
	        cmocka_unit_test(a_refused_step_closes),
	        cmocka_unit_test(a_proof_cannot_be_evaded_by_version_1),
	        cmocka_unit_test(requiring_needs_a_hook),
	        cmocka_unit_test(a_limit_of_0_is_misuse),
	        cmocka_unit_test(a_stock_serves_connections_by_turns),
	        cmocka_unit_test(silence_is_broken_by_grants),
	        cmocka_unit_test(what_is_sent_puts_the_keep_alive_off),
	        cmocka_unit_test(without_a_credit_nothing_is_kept_alive),
	        cmocka_unit_test(it_is_off_by_default),
	        cmocka_unit_test(the_exchange_is_not_kept_alive),
	        cmocka_unit_test(keep_alives_do_not_provoke_each_other),
	        cmocka_unit_test(messages_beyond_the_credits_are_counted),
	        cmocka_unit_test(a_server_beyond_its_credits_is_counted_too),
	        cmocka_unit_test(two_of_ours_never_overrun),
	        cmocka_unit_test(what_was_overrun_is_not_counted_again),
	        cmocka_unit_test(a_reserve_of_receives_is_posted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
