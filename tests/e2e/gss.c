/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What RPCSEC_GSS means to the transport: Calls with integrity or privacy, and
 * those about a context, move as they are; others as ever.  Credentials are laid
 * out by hand; the provider's counters tell what went where.    [v2 §11.2.2]
 */
#include "test_both_ends.h"

enum { INIT = 1, DATA = 0, NONE = 1, INTEGRITY = 2, PRIVACY = 3 };

static uint8_t body[400];
static struct rpcrdma_auth cred;

static const struct rpcrdma_auth *gss(uint32_t proc, uint32_t service, uint32_t len)
{
	put32(body, 1);
	put32(body + 4, proc);
	put32(body + 8, 77);
	put32(body + 12, service);
	put32(body + 16, len - 20);
	cred = (struct rpcrdma_auth){6, body, len};
	return &cred;
}

static struct rpcrdma_stats stats(void)
{
	struct rpcrdma_stats s;

	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	return s;
}

/* An eligible argument of @len octets. */
static int sum(const struct rpcrdma_auth *a, uint32_t len, bool special)
{
	uint8_t *data = malloc((size_t)len + 3), head[8];
	struct rpcrdma_piece p[2] = {{head, 8, false}, {data, len, true}};
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_SUM, &x);
	int status;

	for (uint32_t i = 0; i < len; i++)
		data[i] = both_pattern(len, i);
	put32(head, len);
	put32(head + 4, len);
	o.cred = a;
	o.args = p;
	o.n_args = 2;
	o.force_special = special;
	status = both_run(both.conn, &o, &x);
	assert_int_equal(status ? 1 : be32(x.results), 1);
	free(data);
	return status;
}

struct fill {
	unsigned done;
	uint32_t len;
	bool used, offered, right;
};

static void on_fill(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct fill *f = arg;
	const uint8_t *p = (const uint8_t *)r->results + 4;

	f->done++;
	assert_int_equal(r->status, 0);
	assert_int_equal(be32(r->results), f->len);
	f->used = r->dests[0].ret_used;
	f->offered = r->dests[0].ret_offered;
	if (f->used)
		p = r->dests[0].ret_base;
	else
		assert_int_equal(r->len, 4 + ((f->len + 3) & ~3u));
	f->right = true;
	for (uint32_t i = 0; i < f->len; i++)
		f->right = f->right && p[i] == both_pattern(5, i);
}

/* An eligible result of @len octets, with room for it. */
static struct fill fill(const struct rpcrdma_auth *a, uint32_t len, size_t reply_bytes)
{
	uint8_t *room = malloc(len), args[12];
	struct rpcrdma_piece p = {args, 12, false};
	struct rpcrdma_dest d = {.base = room, .len = len};
	struct fill f = {.len = len};
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_FILL, &x);

	put32(args, 5);
	put32(args + 4, len);
	put32(args + 8, 1);
	o.cred = a;
	o.args = &p;
	o.n_args = 1;
	o.dests = &d;
	o.n_dests = 1;
	o.reply_bytes = reply_bytes;
	o.done = on_fill;
	o.arg = &f;
	assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	both_spin_until(&f.done, 1);
	free(room);
	return f;
}

/* V2-11.2.2.2-01 */
static void authentication_alone_reduces_as_ever(void **state)
{
	struct fill f;

	both_start();
	assert_int_equal(sum(gss(DATA, NONE, 60), BIG, false), 0);
	assert_int_equal(stats().bytes_read_chunk, 2 * BIG); /* counted by both ends */
	f = fill(gss(DATA, NONE, 60), BIG, 0);
	assert_true(f.used && f.offered && f.right);
	assert_int_equal(stats().bytes_write_chunk, 2 * BIG);
}

/* V2-11.2.2.3-01, -02: continued, the Reply in a Reply chunk perhaps. */
static void protected_calls_are_not_reduced(void **state)
{
	uint64_t before;

	both.options.features = "none";
	both_start();
	for (uint32_t service = INTEGRITY; service <= PRIVACY; service++) {
		struct fill f;

		before = stats().bytes_continued;
		assert_int_equal(sum(gss(DATA, service, 60), BIG, false), 0);
		assert_true(stats().bytes_continued - before >= 2ull * BIG);
		before = stats().bytes_continued + stats().bytes_reply_chunk;
		f = fill(gss(DATA, service, 60), BIG, 0);
		assert_true(!f.used && !f.offered && f.right);
		assert_true(stats().bytes_continued + stats().bytes_reply_chunk -
		                    before >=
		            BIG);
	}
	assert_int_equal(stats().rdma_reads, 0);
	assert_int_equal(stats().bytes_read_chunk + stats().bytes_write_chunk, 0);
}

/* V2-11.2.2.3-02, -03: as a whole, from and into buffers between. */
static void protected_messages_may_move_as_a_whole(void **state)
{
	struct fill f;

	both_start();
	assert_int_equal(sum(gss(DATA, PRIVACY, 60), BIG, true), 0);
	assert_true(stats().bytes_special_call >= BIG);
	assert_int_equal(stats().bytes_read_chunk, 0);
	f = fill(gss(DATA, PRIVACY, 60), BIG, BIG + 8);
	assert_true(!f.used && !f.offered && f.right);
	assert_true(stats().bytes_reply_chunk >= BIG);
	assert_int_equal(stats().bytes_write_chunk, 0);
}

/* V2-11.2.2-02: tokens, and credentials as long as they may be. */
static void elements_of_gss_are_not_reduced(void **state)
{
	both.options.send_item_bytes = 1;
	both_start();
	assert_int_equal(sum(gss(INIT, NONE, 60), 20000, false), 0);
	assert_int_equal(stats().bytes_read_chunk, 0);
	assert_int_equal(sum(gss(DATA, NONE, 400), 20000, false), 0);
	assert_int_equal(stats().bytes_read_chunk, 2 * 20000); /* the item alone */
	assert_int_equal(stats().registrations, 1);
}

/* V2-11.2.2-01: one message each way, with whatever credential. */
static void formats_are_those_of_any_call(void **state)
{
	struct rpcrdma_stats a, b, c;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);

	both_start();
	a = stats();
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	b = stats();
	for (uint32_t service = NONE; service <= PRIVACY; service++) {
		o = both_call(P_NULL, &x);
		o.cred = gss(DATA, service, 400);
		assert_int_equal(both_run(both.conn, &o, &x), 0);
	}
	c = stats();
	assert_int_equal(c.sends - c.grants - (b.sends - b.grants),
	                 3 * (b.sends - b.grants - (a.sends - a.grants)));
	assert_int_equal(c.bytes_continued + c.bytes_special_call + c.bytes_reply_chunk,
	                 0);
	assert_int_equal(both.server.executed, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(authentication_alone_reduces_as_ever),
	        TEST(protected_calls_are_not_reduced),
	        TEST(protected_messages_may_move_as_a_whole),
	        TEST(elements_of_gss_are_not_reduced),
	        TEST(formats_are_those_of_any_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
