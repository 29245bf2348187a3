/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for all connections: who gets it, in which order, and that none is lost. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "loop/budget.h"

enum { MIB = 1 << 20 };

struct peer {
	struct rr_holder holder;
	unsigned wakes;
	atomic_uint woken; /* of another thread's */
};

struct wish {
	struct rr_claim claim;
	struct peer *peer;
	unsigned granted; /* its place in the order of grants */
};

static _Atomic unsigned grants;

static void count_wake(struct rr_holder *h)
{
	struct peer *p = rr_container_of(h, struct peer, holder);

	p->wakes++;
	p->woken++;
}

static void note_grant(struct rr_claim *k)
{
	rr_container_of(k, struct wish, claim)->granted = ++grants;
}

static void peer_init(struct peer *p, struct rr_budget *b, uint64_t limit)
{
	*p = (struct peer){.wakes = 0};
	rr_holder_init(&p->holder, b, limit, count_wake);
}

static int ask(struct wish *w, struct peer *p, uint64_t bytes)
{
	*w = (struct wish){.peer = p, .claim = {.bytes = bytes, .granted = note_grant}};
	rr_list_init(&w->claim.link);
	return rr_holder_claim(&p->holder, &w->claim);
}

static int set_up(void **state)
{
	static struct rr_budget b;

	rr_budget_init(&b, 16 * MIB);
	grants = 0;
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	struct rr_budget *b = *state;

	assert_int_equal(b->used, 0);
	assert_int_equal(b->waiting, 0);
	assert_int_equal(b->wanted, 0);
	rr_budget_fini(b);
	return 0;
}

/* Newcomers before those that hold something; each group in order of arrival. */
static void order(void **state)
{
	struct rr_budget *b = *state;
	struct peer greedy, second, third;
	struct wish g[6], s, t;

	peer_init(&greedy, b, 64 * MIB);
	peer_init(&second, b, 64 * MIB);
	peer_init(&third, b, 64 * MIB);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(ask(&g[i], &greedy, 4 * MIB), 1);
	assert_int_equal(ask(&g[3], &greedy, 4 * MIB), 0);
	assert_int_equal(ask(&g[4], &greedy, 4 * MIB), 0);
	assert_int_equal(b->waiting, 1); /* one place a connection */
	assert_int_equal(ask(&s, &second, 6 * MIB), 0);
	assert_int_equal(ask(&t, &third, 2 * MIB), 0);
	assert_int_equal(rr_budget_wanted(b), 12 * MIB);

	rr_holder_give(&greedy.holder, 4 * MIB);
	assert_int_equal(second.wakes, 1);
	assert_int_equal(third.wakes + greedy.wakes, 0); /* 14 of 15 are used */
	rr_holder_woken(&second.holder);
	assert_int_equal(s.granted, 1);
	rr_holder_give(&greedy.holder, 4 * MIB);
	assert_int_equal(third.wakes, 1);
	assert_int_equal(greedy.wakes, 0); /* 12 and 4 exceed 14 */
	rr_holder_woken(&third.holder);
	assert_int_equal(t.granted, 2);
	rr_holder_give(&second.holder, 6 * MIB);
	assert_int_equal(greedy.wakes, 1);
	rr_holder_woken(&greedy.holder);
	assert_int_equal(g[3].granted, 3);
	assert_int_equal(g[4].granted, 4); /* 6 and 4 and 4: its next one as well */
	rr_holder_give(&third.holder, 2 * MIB);
	rr_holder_give(&greedy.holder, 12 * MIB);
	assert_int_equal(b->waits, 3);
}

/* One that has nothing left goes before those that still hold something. */
static void rest_becomes_first(void **state)
{
	struct rr_budget *b = *state;
	struct peer a, c, d;
	struct wish w[6];

	peer_init(&a, b, 64 * MIB);
	peer_init(&c, b, 64 * MIB);
	peer_init(&d, b, 64 * MIB);
	assert_int_equal(ask(&w[0], &a, 6 * MIB), 1);
	assert_int_equal(ask(&w[1], &c, 2 * MIB), 1);
	assert_int_equal(ask(&w[2], &d, 6 * MIB), 1);
	assert_int_equal(ask(&w[3], &a, 7 * MIB), 0);
	assert_int_equal(ask(&w[4], &c, 7 * MIB), 0);
	rr_holder_give(&c.holder, 2 * MIB);
	assert_int_equal(a.wakes + c.wakes, 0);
	rr_holder_give(&a.holder, 6 * MIB);
	assert_int_equal(c.wakes, 1);
	assert_int_equal(a.wakes, 0);
	rr_holder_woken(&c.holder);
	rr_holder_give(&d.holder, 6 * MIB);
	assert_int_equal(a.wakes, 1);
	rr_holder_woken(&a.holder);
	rr_holder_give(&a.holder, 7 * MIB);
	rr_holder_give(&c.holder, 7 * MIB);
}

/* What is small passes, once, whoever waits. */
static void small_ones(void **state)
{
	struct rr_budget *b = *state;
	struct peer big, waits, small;
	struct wish w[3], s[2];

	peer_init(&big, b, 64 * MIB);
	peer_init(&waits, b, 64 * MIB);
	peer_init(&small, b, 64 * MIB);
	assert_int_equal(ask(&w[0], &big, 8 * MIB), 1);
	assert_int_equal(ask(&w[1], &big, 6 * MIB), 1);
	assert_int_equal(ask(&w[2], &waits, 6 * MIB), 0);
	assert_int_equal(ask(&s[0], &small, RR_BUDGET_SMALL), 1);
	assert_int_equal(ask(&s[1], &small, RR_BUDGET_SMALL), 0);
	rr_holder_give(&small.holder, RR_BUDGET_SMALL);
	assert_int_equal(small.wakes, 0); /* behind the one that came before */
	rr_holder_give(&big.holder, 8 * MIB);
	assert_int_equal(small.wakes, 1);
	rr_holder_woken(&waits.holder);
	rr_holder_woken(&small.holder);
	rr_holder_give(&big.holder, 6 * MIB);
	rr_holder_give(&waits.holder, 6 * MIB);
	rr_holder_give(&small.holder, RR_BUDGET_SMALL);
}

/* A connection's own limit holds up its own claims only. */
static void own_limit(void **state)
{
	struct rr_budget *b = *state;
	struct peer a;
	struct wish w[3];

	peer_init(&a, b, MIB);
	assert_int_equal(ask(&w[0], &a, 2 * MIB), 1); /* alone */
	assert_int_equal(ask(&w[1], &a, MIB / 2), 0);
	assert_int_equal(ask(&w[2], &a, MIB / 2), 0);
	assert_int_equal(b->waiting, 0);
	rr_holder_give(&a.holder, 2 * MIB);
	assert_int_equal(w[1].granted, 1);
	assert_int_equal(w[2].granted, 2);
	assert_false(rr_holder_extend(&a.holder, 1));
	rr_holder_give(&a.holder, MIB);
	assert_true(rr_holder_extend(&a.holder, MIB));
	assert_false(rr_holder_extend(&a.holder, 1));
	rr_holder_give(&a.holder, MIB);
}

/* Refused at once, rather than never served. */
static void too_large(void **state)
{
	struct rr_budget *b = *state;
	struct peer a;
	struct wish w;

	peer_init(&a, b, 64 * MIB);
	assert_int_equal(ask(&w, &a, 8 * MIB + 1), -ENOMEM);
	assert_int_equal(ask(&w, &a, 8 * MIB), 1);
	assert_int_equal(b->refused, 1);
	assert_true(rr_holder_extend(&a.holder, 8 * MIB));
	assert_false(rr_holder_extend(&a.holder, 1));
	rr_holder_give(&a.holder, 16 * MIB);
}

/* A claim is withdrawn: before its turn, with its turn on the way, not as the first. */
static void leave(void **state)
{
	struct rr_budget *b = *state;
	struct peer a, c, d;
	struct wish w[6];

	peer_init(&a, b, 64 * MIB);
	peer_init(&c, b, 64 * MIB);
	peer_init(&d, b, 64 * MIB);
	assert_int_equal(ask(&w[0], &a, 8 * MIB), 1);
	assert_int_equal(ask(&w[1], &c, 8 * MIB), 0);
	assert_int_equal(ask(&w[2], &c, 6 * MIB), 0);
	assert_int_equal(ask(&w[3], &d, 8 * MIB), 0);
	rr_holder_leave(&c.holder, &w[2].claim);
	assert_int_equal(b->waiting, 2);
	rr_holder_leave(&c.holder, &w[1].claim);
	assert_int_equal(b->waiting, 1);
	rr_holder_give(&a.holder, 8 * MIB);
	assert_int_equal(d.wakes, 1);
	rr_holder_leave(&d.holder, &w[3].claim); /* not told yet */
	assert_int_equal(b->used, 0);
	/* The wake-up that is still to come finds another claim. */
	assert_int_equal(ask(&w[0], &a, 8 * MIB), 1);
	assert_int_equal(ask(&w[3], &d, 8 * MIB), 0);
	rr_holder_woken(&d.holder);
	assert_int_equal(grants, 0);
	rr_holder_give(&a.holder, 8 * MIB);
	assert_int_equal(d.wakes, 2);
	rr_holder_woken(&d.holder);
	assert_int_equal(w[3].granted, 1);
	rr_holder_give(&d.holder, 8 * MIB);
}

/* Fixed prices leave room for requests; a limit that is lowered stops nobody. */
static void fixed_prices(void **state)
{
	struct rr_budget *b = *state;
	struct peer p[8], a;
	struct wish w;

	for (unsigned i = 0; i < 7; i++) {
		peer_init(&p[i], b, 64 * MIB);
		assert_true(rr_holder_pay(&p[i].holder, MIB) == (i < 6));
	}
	peer_init(&a, b, 64 * MIB);
	assert_int_equal(ask(&w, &a, 8 * MIB), 1);
	rr_holder_give(&a.holder, 8 * MIB);
	b->limit = 4 * MIB;
	assert_int_equal(ask(&w, &a, 2 * MIB), 1);
	rr_holder_give(&a.holder, 2 * MIB);
	for (unsigned i = 0; i < 7; i++)
		rr_holder_fini(&p[i].holder);
	assert_int_equal(b->fixed, 0);
	assert_int_equal(b->refused, 1);
}

/* Half of what fixed amounts may take, 3/8 of 16 MiB, is 3 MiB. */
static void fixed_amounts_leave_half_to_spare(void **state)
{
	struct rr_budget *b = *state;
	struct peer p;

	peer_init(&p, b, 64 * MIB);
	assert_true(rr_budget_spares(b, 3 * MIB));
	assert_false(rr_budget_spares(b, 3 * MIB + 1));
	assert_true(rr_holder_pay(&p.holder, 2 * MIB));
	assert_true(rr_budget_spares(b, MIB));
	assert_false(rr_budget_spares(b, MIB + 1));
	assert_true(rr_holder_pay(&p.holder, 2 * MIB));
	assert_false(rr_budget_spares(b, 0));
	rr_holder_fini(&p.holder);
}

struct watcher {
	struct rr_budget_watch watch;
	unsigned told;
};

static void told(struct rr_budget_watch *w)
{
	rr_container_of(w, struct watcher, watch)->told++;
}

static void watches(void **state)
{
	struct rr_budget *b = *state;
	struct watcher early = {.watch.begin = told}, late = {.watch.begin = told};
	struct peer a, c;
	struct wish w[2];

	rr_budget_watch(b, &early.watch);
	peer_init(&a, b, 64 * MIB);
	peer_init(&c, b, 64 * MIB);
	assert_int_equal(ask(&w[0], &a, 8 * MIB), 1);
	assert_int_equal(early.told, 0);
	assert_int_equal(ask(&w[1], &c, 8 * MIB), 0);
	assert_int_equal(early.told, 1);
	rr_budget_watch(b, &late.watch);
	assert_int_equal(late.told, 1);
	rr_holder_give(&a.holder, 8 * MIB);
	rr_holder_woken(&c.holder);
	rr_holder_give(&c.holder, 8 * MIB);
	rr_budget_unwatch(b, &early.watch);
	rr_budget_unwatch(b, &late.watch);
}

/* -- several threads, each with a connection: as engines are --------------- */

enum { THREADS = 3, ROUNDS = 3000 };

static void *take_turns(void *arg)
{
	struct peer *p = arg;
	struct wish w;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t bytes = (1 + i % 7) * MIB;
		int got = ask(&w, p, bytes);

		if (got == 0 && i % 5 == 0) {
			rr_holder_leave(&p->holder, &w.claim);
			continue;
		}
		while (!got) { /* what an engine does in its sleep */
			if (!p->woken) {
				sched_yield();
				continue;
			}
			p->woken--;
			rr_holder_woken(&p->holder);
			got = rr_list_empty(&w.claim.link);
		}
		if (rr_holder_extend(&p->holder, MIB))
			bytes += MIB;
		rr_holder_give(&p->holder, bytes);
	}
	return NULL;
}

static void no_count(struct rr_holder *h)
{
	rr_container_of(h, struct peer, holder)->woken++;
}

/* Exposed replies have a limit of their own and count in the budget, but not towards the
 * holder's limit.  Their end serves those that wait, and a holder that has none left
 * goes before those that hold something. */
static void exposed_replies(void **state)
{
	struct rr_budget *b = *state;
	struct peer a, c, d;
	struct wish w[3];

	peer_init(&a, b, MIB);
	peer_init(&c, b, 64 * MIB);
	peer_init(&d, b, 64 * MIB);
	assert_true(rr_holder_expose(&a.holder, 6 * MIB, 7 * MIB, false));
	assert_false(rr_holder_expose(&c.holder, MIB + 1, 7 * MIB, false));
	assert_true(rr_holder_expose(&c.holder, MIB, 7 * MIB, false));
	assert_int_equal(b->used, 7 * MIB);
	assert_int_equal(b->exposed, 7 * MIB);
	assert_int_equal(ask(&w[0], &d, 8 * MIB), 1);
	assert_false(rr_holder_expose(&c.holder, MIB + 1, UINT64_MAX, false));
	assert_int_equal(b->exposed,
	                 7 * MIB); /* an attempt that fails leaves nothing */
	assert_int_equal(ask(&w[1], &a, MIB), 0);
	assert_int_equal(ask(&w[2], &c, MIB), 0);
	rr_holder_unexpose(&c.holder, MIB, false);
	assert_int_equal(c.wakes, 1);
	assert_int_equal(a.wakes, 0); /* 15 of 14 would be used */
	rr_holder_woken(&c.holder);
	rr_holder_unexpose(&a.holder, 6 * MIB, false);
	assert_int_equal(a.wakes, 1);
	rr_holder_woken(&a.holder);
	assert_int_equal(w[2].granted, 1);
	assert_int_equal(w[1].granted, 2);
	rr_holder_give(&a.holder, MIB);
	rr_holder_give(&c.holder, MIB);
	rr_holder_give(&d.holder, 8 * MIB);
	assert_int_equal(b->exposed, 0);
}

/* The memory of a reply that is exposed in place is already reserved for its request.
 * While the reply is exposed, that memory does not count towards the holder's limit, so
 * that the limit for exposed replies can be reached.  An exposed copy does not change
 * the holder's limit. */
static void replies_exposed_in_place(void **state)
{
	struct rr_budget *b = *state;
	struct peer a;
	struct wish w[2];

	peer_init(&a, b, 2 * MIB);
	assert_int_equal(ask(&w[0], &a, 2 * MIB), 1);
	assert_true(rr_holder_expose(&a.holder, 2 * MIB, 7 * MIB, false));
	assert_false(rr_holder_extend(&a.holder, 1));
	rr_holder_unexpose(&a.holder, 2 * MIB, false);
	assert_true(rr_holder_expose(&a.holder, 2 * MIB, 7 * MIB, true));
	assert_true(rr_holder_extend(&a.holder, MIB));
	assert_int_equal(ask(&w[1], &a, MIB), 1);
	assert_false(rr_holder_extend(&a.holder, 1));
	rr_holder_unexpose(&a.holder, 2 * MIB, true);
	assert_false(rr_holder_extend(&a.holder, 1));
	assert_int_equal(ask(&w[1], &a, MIB), 0); /* as much as before is in use */
	rr_holder_give(&a.holder, 3 * MIB);
	assert_int_equal(w[1].granted, 1);
	rr_holder_give(&a.holder, 2 * MIB);
	assert_int_equal(b->used, 0);
}

static void threads(void **state)
{
	struct rr_budget *b = *state;
	struct peer p[THREADS];
	pthread_t t[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		p[i] = (struct peer){.wakes = 0};
		rr_holder_init(&p[i].holder, b, 64 * MIB, no_count);
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, take_turns, &p[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < THREADS; i++)
		rr_holder_fini(&p[i].holder);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(order),
	        T(rest_becomes_first),
	        T(small_ones),
	        T(own_limit),
	        T(too_large),
	        T(leave),
	        T(watches),
	        T(fixed_prices),
	        T(fixed_amounts_leave_half_to_spare),
	        T(exposed_replies),
	        T(replies_exposed_in_place),
	        T(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
