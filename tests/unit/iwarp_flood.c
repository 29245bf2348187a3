/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer that sends many frames of next to nothing: a call handles a share of them,
 * and who sends nothing else is not listened to for ever.
 */
#include "test_iwarp_raw.h"

enum { SHARE = 256, PATIENCE = 4096, RECVS = 4 };

static uint8_t in[RECVS][64];
static uint32_t msn;

static void begin(struct peer *r)
{
	peer_start(r, "rev=1,p2p=0");
	msn = 0;
	for (unsigned i = 0; i < RECVS; i++) {
		struct rr_sge g = {.base = in[i], .len = sizeof(in[i])};

		assert_int_equal(OPS->post_recv(r->e.ep, &g, 100 + i), 0);
	}
}

/* As many empty Writes; what the socket does not take at once moves the endpoint. */
static void add_nothing(struct bytes *o, unsigned n)
{
	while (n--)
		add_rtr(o);
}

static void add_send(struct bytes *o)
{
	add_untagged(o, 0x4143, 0, 0, ++msn, 0, "word", 4);
}

static void a_call_handles_a_share(void **state)
{
	enum { N = 2000 };
	static struct bytes o;
	struct peer r;
	unsigned calls = 0;
	rr_time t;

	begin(&r);
	o.n = 0;
	add_nothing(&o, N);
	add_send(&o);
	assert_int_equal(send(r.fd, o.b, o.n, 0), (ssize_t)o.n);
	t = test_now();
	do {
		OPS->progress(r.e.ep, t);
		end_poll(&r.e);
		calls++;
		if (r.e.taken == r.e.n) /* comes again at once */
			assert_true(OPS->deadline(r.e.ep) <= t);
	} while (r.e.taken == r.e.n && calls < N);
	assert_in_range(calls, N / SHARE, N / SHARE + 2);
	end_expect_wc(&r.e, NULL, RR_WC_RECV, 100, 0);
	OPS->progress(r.e.ep, t);
	assert_true(OPS->deadline(r.e.ep) > t);
	peer_fini(&r);
}

/* The end in order of a peer is not overlooked behind its flood. */
static void the_end_comes_behind_it(void **state)
{
	static struct bytes o;
	struct peer r;

	begin(&r);
	o.n = 0;
	add_nothing(&o, 1000);
	add_send(&o);
	peer_send(&r, o.b, o.n);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_RECV, 100, 0);
	for (unsigned i = 1; i < RECVS; i++)
		end_expect_wc(&r.e, NULL, RR_WC_RECV, 100 + i, -ECANCELED);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	end_fini(&r.e);
}

static void nothing_but_nothing_is_an_error(void **state)
{
	static struct bytes o;
	struct peer r;

	begin(&r);
	for (unsigned i = 0; i < 3; i++) { /* there is something between */
		o.n = 0;
		add_nothing(&o, PATIENCE - 1); /* the RTR message was one more */
		add_send(&o);
		peer_send(&r, o.b, o.n);
		end_expect_wc(&r.e, NULL, RR_WC_RECV, 100 + i, 0);
	}
	o.n = 0;
	add_nothing(&o, PATIENCE + 1);
	peer_send(&r, o.b, o.n);
	end_expect_wc(&r.e, NULL, RR_WC_RECV, 103, -ECANCELED);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -EREMOTEIO);
	peer_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_call_handles_a_share),
	        cmocka_unit_test(the_end_comes_behind_it),
	        cmocka_unit_test(nothing_but_nothing_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
