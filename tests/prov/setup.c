/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up: connect, listen, accept, private data, limits. */
#include "rig.h"

#include <arpa/inet.h>

static void table_is_complete(void **state)
{
	enum { FIRST = offsetof(struct rr_prov_ops, watch_removals) };

	for (unsigned side = CLIENT; side <= SERVER; side++) {
		const struct rr_prov_ops *ops = rig_provider(side);
		void *slot[(sizeof(*ops) - FIRST) / sizeof(void *)];

		assert_non_null(ops->name);
		memcpy(slot, (const uint8_t *)ops + FIRST, sizeof(slot));
		for (size_t i = 0; i < RR_ARRAY_SIZE(slot); i++)
			assert_non_null(slot[i]);
	}
}

static void check_private(struct rig *g, unsigned side, unsigned seed, size_t len)
{
	size_t got = 9999;
	const void *p = rig_ops(g, side)->peer_private(g->end[side].ep, &got);

	if (rig_lacks(side) & RIG_PADDED_PRIVATE) {
		assert_true(got >= len);
		for (size_t i = len; i < got; i++)
			assert_int_equal(0, ((const uint8_t *)p)[i]);
	} else {
		assert_int_equal(len, got);
	}
	rig_check(p, len, seed);
}

static void private_data(struct rig *g, size_t len)
{
	uint8_t a[RR_PROV_PRIVATE_MAX], b[RR_PROV_PRIVATE_MAX];

	rig_fill(a, len, 1);
	rig_fill(b, len, 2);
	rig_connect(g, CLIENT, a, len);
	memset(a, 0, sizeof(a)); /* borrowed */
	rig_accept(g, SERVER, b, len);
	memset(b, 0, sizeof(b));
	rig_wait(g, CLIENT, RR_WC_CONNECTED);
	rig_wait(g, SERVER, RR_WC_CONNECTED);
	check_private(g, SERVER, 1, len);
	check_private(g, CLIENT, 2, len);
	rig_round_trip(g, CLIENT);
}

static void private_data_none(void **state)
{
	private_data(*state, 0);
}

static void private_data_some(void **state)
{
	private_data(*state, 33);
}

static void private_data_most(void **state)
{
	private_data(*state, RR_PROV_PRIVATE_MAX);
}

static void private_data_too_long(void **state)
{
	struct rig *g = *state;
	uint8_t priv[RR_PROV_PRIVATE_MAX + 1] = {0};
	struct rr_ep *ep = NULL;
	socklen_t len;
	struct sockaddr *sa = rig_sockaddr(g, &len);

	assert_int_equal(-EINVAL,
	                 g->ops[CLIENT]->connect(&g->cfg[CLIENT], sa, len, priv,
	                                         sizeof(priv), rig_now(), &ep));
	assert_null(ep);
}

static void accept_without_connection(void **state)
{
	struct rig *g = *state;

	assert_int_equal(-EAGAIN,
	                 g->ops[SERVER]->accept(g->listener, &g->cfg[SERVER], NULL, 0,
	                                        rig_now(), &g->end[SERVER].ep));
	assert_null(g->end[SERVER].ep);
}

static void listen_port_zero_gives_a_port(void **state)
{
	struct rig *g = *state;
	struct sockaddr_in a;

	memcpy(&a, &g->addr, sizeof(a));
	assert_int_equal(AF_INET, a.sin_family);
	assert_int_not_equal(0, a.sin_port);
}

static void connect_refused(void **state)
{
	struct rig *g = *state;

	g->ops[SERVER]->listener_close(g->listener);
	g->listener = NULL;
	rig_connect(g, CLIENT, NULL, 0);
	rig_ended(g, CLIENT, -ECONNREFUSED);
	assert_int_equal(0, rig_seen(g, CLIENT, RR_WC_CONNECTED));
}

static void handshake_times_out(void **state)
{
	struct rig *g = *state;
	rr_time before = rig_now();

	g->cfg[CLIENT].handshake_ns = RR_MS(80);
	rig_connect(g, CLIENT, NULL, 0);
	rig_ended(g, CLIENT, -ETIMEDOUT);
	assert_true(rig_now() - before >= RR_MS(80));
}

static void destroy_before_connected(void **state)
{
	struct rig *g = *state;

	rig_connect(g, CLIENT, NULL, 0);
	rig_ops(g, CLIENT)->destroy(g->end[CLIENT].ep);
	g->end[CLIENT].ep = NULL;
	rig_settle(g);
	/* The server may or may not hear of it; if it does, it ends. */
	if (!g->ops[SERVER]->accept(g->listener, &g->cfg[SERVER], NULL, 0, rig_now(),
	                            &g->end[SERVER].ep)) {
		g->n_ends = 2;
		assert_int_not_equal(0, rig_wait(g, SERVER, RR_WC_DISCONNECTED).status);
		rig_audit(g, SERVER);
	}
	rig_connect_pair(g, 2);
	rig_round_trip(g, 2);
}

static void destroy_while_accepting(void **state)
{
	struct rig *g = *state;

	rig_connect(g, CLIENT, NULL, 0);
	rig_accept(g, SERVER, NULL, 0);
	rig_ops(g, SERVER)->destroy(g->end[SERVER].ep);
	g->end[SERVER].ep = NULL;
	assert_int_not_equal(0, rig_wait(g, CLIENT, RR_WC_DISCONNECTED).status);
	rig_audit(g, CLIENT);
}

static void disconnect_before_connected(void **state)
{
	struct rig *g = *state;

	rig_connect(g, CLIENT, NULL, 0);
	rig_recv(g, CLIENT, g->end[CLIENT].mem, 100);
	rig_ops(g, CLIENT)->disconnect(g->end[CLIENT].ep, rig_now());
	(void)rig_wait(g, CLIENT, RR_WC_DISCONNECTED);
	assert_int_equal(-ECANCELED, rig_wait(g, CLIENT, RR_WC_RECV).status);
	rig_settle(g);
	rig_audit(g, CLIENT);
}

static void posts_before_connected(void **state)
{
	struct rig *g = *state;
	struct rr_sge s = {.base = g->end[CLIENT].mem, .len = 64};
	struct rr_ep *ep;
	struct rr_wc wc;

	rig_connect(g, CLIENT, NULL, 0);
	ep = g->end[CLIENT].ep;
	assert_int_equal(-ENOTCONN, ep->ops->post_send(ep, &s, 1, 0, 1));
	assert_int_equal(-ENOTCONN, ep->ops->post_write(ep, &s, 1, 1, 0, 1));
	assert_int_equal(-ENOTCONN, ep->ops->post_read(ep, &s, 1, 0, 1));
	rig_recv(g, CLIENT, g->end[CLIENT].mem, 128);
	rig_accept(g, SERVER, NULL, 0);
	rig_recv(g, SERVER, g->end[SERVER].mem, 128);
	rig_wait(g, SERVER, RR_WC_CONNECTED);
	rig_wait(g, CLIENT, RR_WC_CONNECTED);
	rig_fill(g->end[SERVER].mem + 1000, 128, 3);
	rig_fill(g->end[CLIENT].mem + 1000, 128, 4);
	/* The client first: some set-ups let the server speak only then. */
	rig_send(g, CLIENT, g->end[CLIENT].mem + 1000, 128, 0);
	rig_flush(g, CLIENT);
	wc = rig_wait(g, SERVER, RR_WC_RECV);
	assert_int_equal(0, wc.status);
	rig_check(g->end[SERVER].mem, 128, 4);
	rig_send(g, SERVER, g->end[SERVER].mem + 1000, 128, 0);
	rig_flush(g, SERVER);
	wc = rig_wait(g, CLIENT, RR_WC_RECV);
	assert_int_equal(0, wc.status);
	assert_int_equal(128, wc.len);
	rig_check(g->end[CLIENT].mem, 128, 3);
}

static void addresses(void **state)
{
	struct rig *g = *state;
	struct sockaddr_storage a, b;
	struct sockaddr_in x, y;

	assert_int_equal(0, rig_ops(g, CLIENT)->peer_addr(g->end[CLIENT].ep, &a));
	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &g->addr, sizeof(y));
	assert_int_equal(x.sin_port, y.sin_port);
	assert_int_equal(0, rig_ops(g, CLIENT)->local_addr(g->end[CLIENT].ep, &a));
	assert_int_equal(0, rig_ops(g, SERVER)->peer_addr(g->end[SERVER].ep, &b));
	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	assert_int_equal(x.sin_port, y.sin_port);
	assert_int_equal(x.sin_addr.s_addr, y.sin_addr.s_addr);
}

static void limits_are_sane(void **state)
{
	struct rig *g = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct rr_prov_limits l = {0};

		rig_ops(g, i)->limits(g->end[i].ep, &l);
		assert_true(l.max_recv >= 34);
		assert_true(l.max_send >= 34);
		assert_true(l.max_ord >= 1);
		assert_true(l.max_ird >= 1);
		assert_true(l.max_msg >= 1 << 20);
		assert_true(l.remote_invalidate || !rig_ops(g, i)->remote_invalidate);
		assert_string_equal("", rig_ops(g, i)->reason(g->end[i].ep));
	}
}

/* Neither end may read more at once than the other permits.  (siw exchanges no
 * limits.) */
static void reads_are_within_the_peers_limit(void **state)
{
	struct rig *g = *state;
	struct rr_prov_limits l[2] = {{0}};

	for (unsigned i = 0; i < 2; i++) {
		rig_ops(g, i)->limits(g->end[i].ep, &l[i]);
		if (rig_lacks(i) & RIG_READS_ALL)
			return;
	}
	for (unsigned i = 0; i < 2; i++)
		assert_true(l[i].max_ord <= l[!i].max_ird);
}

static void connections_are_independent(void **state)
{
	struct rig *g = *state;

	rig_connect_pair(g, 2);
	rig_round_trip(g, CLIENT);
	rig_ops(g, CLIENT)->destroy(g->end[CLIENT].ep);
	g->end[CLIENT].ep = NULL;
	(void)rig_wait(g, SERVER, RR_WC_DISCONNECTED);
	rig_round_trip(g, 2);
}

#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
#define C(f) cmocka_unit_test_setup_teardown(f, rig_setup_connected, rig_teardown)

const struct CMUnitTest rig_setup_tests[] = {
        cmocka_unit_test(table_is_complete),
        T(private_data_none),
        T(private_data_some),
        T(private_data_most),
        T(private_data_too_long),
        T(accept_without_connection),
        T(listen_port_zero_gives_a_port),
        T(connect_refused),
        T(handshake_times_out),
        T(destroy_before_connected),
        T(destroy_while_accepting),
        T(disconnect_before_connected),
        T(posts_before_connected),
        C(addresses),
        C(limits_are_sane),
        C(reads_are_within_the_peers_limit),
        C(connections_are_independent),
};
const size_t rig_setup_count = RR_ARRAY_SIZE(rig_setup_tests);
