/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PATIENCE RR_SEC(20)

/* -- Life -------------------------------------------------------------------- */

/* Listens at any free port.  librdmacm does not know the ports that TCP connections of
 * software iWARP still occupy, so siw may refuse the port that it chose. */
static int listen_anywhere(struct rig *g)
{
	struct sockaddr_in any = rig_address();
	int err = -EADDRINUSE;

	for (unsigned i = 0; i < 20 && err == -EADDRINUSE; i++)
		err = g->ops[SERVER]->listen(&g->cfg[SERVER], (struct sockaddr *)&any,
		                             sizeof(any), &g->listener, &g->addr);
	return err;
}

int rig_setup(void **state)
{
	struct rig *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	for (unsigned side = CLIENT; side <= SERVER; side++) {
		g->ops[side] = rig_provider(side);
		rig_provider_begin(&g->cfg[side], side);
	}
	for (unsigned i = 0; i < 4; i++)
		g->end[i].mem = malloc(RIG_MEM);
	assert_int_equal(0, listen_anywhere(g));
	*state = g;
	return 0;
}

int rig_setup_connected(void **state)
{
	int err = rig_setup(state);

	if (!err)
		rig_connect_pair(*state, CLIENT);
	return err;
}

int rig_teardown(void **state)
{
	struct rig *g = *state;

	for (unsigned i = 0; i < 4; i++) {
		if (g->end[i].ep)
			rig_ops(g, i)->destroy(g->end[i].ep);
		free(g->end[i].mem);
	}
	if (g->listener)
		g->ops[SERVER]->listener_close(g->listener);
	rig_provider_end();
	free(g);
	return 0;
}

struct sockaddr *rig_sockaddr(struct rig *g, socklen_t *ret_len)
{
	*ret_len = sizeof(struct sockaddr_in);
	return (struct sockaddr *)&g->addr;
}

void rig_connect(struct rig *g, unsigned side, const void *priv, size_t len)
{
	socklen_t sa_len;
	struct sockaddr *sa = rig_sockaddr(g, &sa_len);

	assert_int_equal(0,
	                 g->ops[side % 2]->connect(&g->cfg[side % 2], sa, sa_len, priv,
	                                           len, rig_now(), &g->end[side].ep));
	g->n_ends = RR_MAX(g->n_ends, side + 1);
}

void rig_accept(struct rig *g, unsigned side, const void *priv, size_t len)
{
	rr_time limit = rig_now() + PATIENCE;
	int err;

	do {
		err = g->ops[side % 2]->accept(g->listener, &g->cfg[side % 2], priv,
		                               len, rig_now(), &g->end[side].ep);
		if (err == -EAGAIN)
			rig_turn(g);
	} while (err == -EAGAIN && rig_now() < limit);
	assert_int_equal(0, err);
	g->n_ends = RR_MAX(g->n_ends, side + 1);
}

void rig_connect_pair(struct rig *g, unsigned first)
{
	rig_connect(g, first, NULL, 0);
	rig_accept(g, first + 1, NULL, 0);
	assert_int_equal(0, rig_wait(g, first, RR_WC_CONNECTED).status);
	assert_int_equal(0, rig_wait(g, first + 1, RR_WC_CONNECTED).status);
}

/* -- Time ---------------------------------------------------------------------- */

static unsigned poll_end(struct rig *g, struct rig_end *e)
{
	struct rr_wc wc[7];
	unsigned n, all = 0;

	if (!e->ep || e->deaf)
		return 0;
	e->ep->ops->progress(e->ep, rig_now());
	do {
		n = e->ep->ops->poll(e->ep, wc, RR_ARRAY_SIZE(wc));
		assert_true(n <= RR_ARRAY_SIZE(wc));
		for (unsigned i = 0; i < n; i++) {
			assert_true(e->n_log < RIG_LOG);
			e->log[e->n_log++] = wc[i];
		}
		all += n;
	} while (n);
	return all;
}

static unsigned poll_all(struct rig *g)
{
	unsigned n = 0;

	for (unsigned i = 0; i < g->n_ends; i++)
		n += poll_end(g, &g->end[i]);
	return n;
}

void rig_turn(struct rig *g)
{
	if (!poll_all(g))
		(void)rig_pass(g);
}

/* The next of @op in the log that was not drawn; NULL if none yet. */
static struct rr_wc *draw(struct rig_end *e, enum rr_wc_op op)
{
	for (unsigned *i = &e->drawn[op]; *i < e->n_log;)
		if (e->log[(*i)++].op == op)
			return &e->log[*i - 1];
	return NULL;
}

struct rr_wc rig_wait(struct rig *g, unsigned side, enum rr_wc_op op)
{
	rr_time limit = rig_now() + PATIENCE;
	struct rr_wc *wc;

	while (!(wc = draw(&g->end[side], op))) {
		if (!poll_all(g) && (!rig_pass(g) || rig_now() > limit))
			fail_msg("side %u: completion of kind %d did not come", side,
			         op);
	}
	return *wc;
}

unsigned rig_seen(struct rig *g, unsigned side, enum rr_wc_op op)
{
	unsigned n = 0;

	for (unsigned i = 0; i < g->end[side].n_log; i++)
		n += g->end[side].log[i].op == op;
	return n;
}

void rig_settle(struct rig *g)
{
	rr_time limit = rig_now() + RR_MS(30);

	while (rig_pass(g) && (poll_all(g) || rig_now() < limit))
		;
	poll_all(g);
}

/* -- Checks ----------------------------------------------------------------------- */

void rig_audit(struct rig *g, unsigned side)
{
	struct rig_end *e = &g->end[side];
	uint64_t last[RIG_KINDS] = {0};
	bool ended = false;

	for (unsigned i = 0; i < e->n_log; i++) {
		const struct rr_wc *wc = &e->log[i];

		assert_false(ended);
		ended = wc->op == RR_WC_DISCONNECTED;
		if (wc->op == RR_WC_CONNECTED || ended) {
			assert_int_equal(0, wc->token);
			continue;
		}
		assert_int_equal(last[wc->op] + 1, wc->token);
		last[wc->op] = wc->token;
	}
	for (unsigned k = RR_WC_SEND; k <= RR_WC_INVALIDATE; k++) {
		assert_true(last[k] <= e->posted[k]);
		if (ended)
			assert_int_equal(last[k], e->posted[k]);
	}
}

void rig_ended(struct rig *g, unsigned side, int status)
{
	assert_int_equal(status, rig_wait(g, side, RR_WC_DISCONNECTED).status);
	rig_settle(g);
	rig_audit(g, side);
}

/* -- Posts ----------------------------------------------------------------- */

static uint64_t next_token(struct rig *g, unsigned side, enum rr_wc_op op)
{
	return ++g->end[side].posted[op];
}

static struct rr_sge sge(const void *base, size_t len)
{
	return (struct rr_sge){.base = (void *)(uintptr_t)base, .len = (uint32_t)len};
}

void rig_recv(struct rig *g, unsigned side, void *base, size_t len)
{
	struct rr_sge s = sge(base, len);

	assert_int_equal(0,
	                 rig_ops(g, side)->post_recv(g->end[side].ep, &s,
	                                             next_token(g, side, RR_WC_RECV)));
}

void rig_send(struct rig *g, unsigned side, const void *base, size_t len, uint32_t inv)
{
	struct rr_sge s = sge(base, len);

	assert_int_equal(0,
	                 rig_ops(g, side)->post_send(g->end[side].ep, &s, 1, inv,
	                                             next_token(g, side, RR_WC_SEND)));
}

void rig_write(struct rig *g, unsigned side, const void *base, size_t len,
               uint32_t handle, uint64_t offset)
{
	struct rr_sge s = sge(base, len);

	assert_int_equal(
	        0, rig_ops(g, side)->post_write(g->end[side].ep, &s, 1, handle, offset,
	                                        next_token(g, side, RR_WC_WRITE)));
}

void rig_read(struct rig *g, unsigned side, void *base, size_t len, uint32_t handle,
              uint64_t offset)
{
	struct rr_sge s = sge(base, len);

	assert_int_equal(
	        0, rig_ops(g, side)->post_read(g->end[side].ep, &s, handle, offset,
	                                       next_token(g, side, RR_WC_READ)));
}

struct rr_region rig_register(struct rig *g, unsigned side, void *base, size_t len,
                              unsigned access)
{
	struct rr_region r = {0};

	assert_int_equal(0, rig_ops(g, side)->register_mem(g->end[side].ep, base, len,
	                                                   access, &r));
	assert_int_not_equal(0, r.handle);
	rig_registered(g, side);
	return r;
}

void rig_invalidate(struct rig *g, unsigned side, uint32_t handle)
{
	assert_int_equal(
	        0, rig_ops(g, side)->invalidate(g->end[side].ep, handle,
	                                        next_token(g, side, RR_WC_INVALIDATE)));
}

void rig_flush(struct rig *g, unsigned side)
{
	int err = rig_ops(g, side)->flush(g->end[side].ep, rig_now());

	assert_true(err == 0 || err == -EAGAIN);
}

static void one_way(struct rig *g, unsigned from, unsigned to, uint8_t *out,
                    uint8_t *in)
{
	struct rr_wc wc;

	rig_fill(out, 64, 99);
	rig_recv(g, to, in, 64);
	rig_send(g, from, out, 64, 0);
	rig_flush(g, from);
	do {
		wc = rig_wait(g, to, RR_WC_RECV);
		assert_int_equal(0, wc.status);
	} while (wc.token != g->end[to].posted[RR_WC_RECV]);
	assert_int_equal(64, wc.len);
	rig_check(in, 64, 99);
	assert_int_equal(0, rig_wait(g, from, RR_WC_SEND).status);
}

void rig_round_trip(struct rig *g, unsigned client)
{
	static uint8_t mem[2][64];

	one_way(g, client, client + 1, mem[0], mem[1]);
	one_way(g, client + 1, client, mem[0], mem[1]);
}

/* -- Contents -------------------------------------------------------------- */

uint8_t rig_octet(unsigned seed, size_t i)
{
	uint64_t x = (i / 8 + 1) * 0x9e3779b97f4a7c15u ^
	             (uint64_t)seed * 0xbf58476d1ce4e5b9u;

	return (uint8_t)(x >> (8 + (i % 8) * 5));
}

void rig_fill(void *base, size_t len, unsigned seed)
{
	uint8_t *p = base;

	for (size_t i = 0; i < len; i++)
		p[i] = rig_octet(seed, i);
}

void rig_check(const void *base, size_t len, unsigned seed)
{
	const uint8_t *p = base;

	for (size_t i = 0; i < len; i++)
		if (p[i] != rig_octet(seed, i))
			fail_msg("octet %zu of %zu of stream %u is %02x, not %02x", i,
			         len, seed, p[i], rig_octet(seed, i));
}

/* -- Main ------------------------------------------------------------------ */

int main(void)
{
	int failed = 0;

	if (!rig_ready())
		return 77;
	for (unsigned v = 0; v < rig_variants(); v++) {
		rig_choose(v);
		if (rig_own_only())
			return rig_own_tests() != 0;
#define GROUP(x)                                                                       \
	_cmocka_run_group_tests(#x, rig_##x##_tests, rig_##x##_count, NULL, NULL)
		failed += GROUP(setup) + GROUP(transfer) + GROUP(access) + GROUP(end);
		if (rig_provider(SERVER)->pooled_receives)
			failed += GROUP(pooled);
		failed += rig_own_tests();
		if (failed) {
			fprintf(stderr, "providers %s, %s, variant %u\n",
			        rig_provider(CLIENT)->name, rig_provider(SERVER)->name,
			        v);
			break;
		}
	}
	return failed != 0;
}
