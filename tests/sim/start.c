/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work besides calls, for some connections: long lists of properties, host
 * authentication, keep-alive, messages of an extension.  It has a random generator of
 * its own, so that the rest of a seed's plan does not depend on it.
 *
 * Checked: each property value of the peer is reported once and before READY, and the
 * default for each value that the peer does not send.  There is no READY without
 * consent where consent is required.  Each question of an extension is answered, or
 * refused by INVAL_HTYPE if the peer does not know its type; that type is not sent
 * again.
 */
#include "sim_test.h"

enum {
	TYPE = 0x40,
	OTHER_TYPE = 0x41,
	FLAG = 0x100,
	PROP = 0x80000001,
	NOISE = 1 << 16
};

static uint8_t noise[NOISE];

static bool one_in(struct rr_rng *r, unsigned n)
{
	return rr_rng_below(r, n) == 0;
}

static uint32_t skewed(struct rr_rng *r, uint32_t most)
{
	return 1 + (uint32_t)rr_rng_below(r, 1 + rr_rng_below(r, most));
}

static const uint8_t *words(unsigned side, unsigned i)
{
	return noise + 1000 * side + 37 * i;
}

static void draw_table(struct start *s, struct rr_rng *r, unsigned side, unsigned n)
{
	struct rr_ext_table *t = &s->table[side];

	t->n_htypes = one_in(r, 2) ? 2 : 1;
	t->htype[0] = TYPE;
	t->flags[0] = FLAG;
	t->htype[1] = OTHER_TYPE;
	t->n_props = n;
	for (unsigned i = 0; i < n; i++)
		t->prop[i] = (struct rr_ext_prop){
		        .id = PROP + i,
		        .data = one_in(r, 4) ? NULL : words(side, i),
		        .len = skewed(r, one_in(r, 3) ? 20000 : 300),
		        .deflt = "dflt",
		        .deflt_len = 4,
		};
	s->questions[side] = (unsigned)rr_rng_below(r, 20);
}

void start_draw(struct plan *p)
{
	struct start *s = &p->start;
	struct rr_rng r;
	unsigned n;

	rr_rng_seed(&r, p->seed ^ 0x57a7);
	for (uint32_t i = 0; !noise[NOISE - 1] && i < NOISE; i++)
		noise[i] = (uint8_t)(i * 2654435761u >> 13);
	s->ext = one_in(&r, 3);
	n = skewed(&r, RR_EXT_MAX);
	for (unsigned side = 0; side < 2 && s->ext; side++)
		draw_table(s, &r, side, n);
	s->auth = one_in(&r, 4);
	s->thanks = one_in(&r, 2);
	for (unsigned i = 0; i < 5; i++)
		s->words[i] = skewed(&r, one_in(&r, 3) ? 12000 : 100);
	for (unsigned side = 0; side < 2; side++) {
		struct rr_conn_config *c = &p->conn[side];

		c->auth_required = s->auth && one_in(&r, 2);
		if (one_in(&r, 4))
			c->keepalive_ns = 100000 * (rr_time)skewed(&r, 500);
		if (one_in(&r, 8))
			c->extra_receives = skewed(&r, 8);
	}
	/* Nobody proves anything in version 1. */
	if ((p->conn[CLIENT].versions | p->conn[SERVER].versions) & RR_CONN_V1)
		p->conn[CLIENT].auth_required = p->conn[SERVER].auth_required = false;
}

/* -- authentication ---------------------------------------------------------------- */

/* Five words in turn, the last one only if there are thanks to be said. */
static int step(void *ctx, const void *in, size_t in_len, const void **ret_out,
                size_t *ret_out_len)
{
	struct node *n = ctx;
	const struct start *s = &n->run->plan.start;
	unsigned heard = 2 * n->steps++ + n->side; /* words before this one */
	unsigned last = s->thanks ? 5 : 4;

	CHECK(n->run, heard <= last, "side %u: a step after the end", n->side);
	if (heard)
		CHECK(n->run,
		      in_len == s->words[heard - 1] &&
		              !memcmp(in, words(2, heard - 1), in_len),
		      "side %u: word %u is wrong", n->side, heard - 1);
	n->consent = heard + 1 >= last;
	tally.proved += n->consent && heard != last;
	if (heard == last)
		return 1;
	*ret_out = words(2, heard);
	*ret_out_len = s->words[heard];
	return n->consent;
}

void start_config(struct node *n, struct rr_conn_config *c)
{
	struct start *s = &n->run->plan.start;

	if (s->ext)
		c->ext = &s->table[n->side];
	if (s->auth)
		c->auth = (struct rr_auth){step, n};
}

/* -- the extension --------------------------------------------------------- */

static bool version_two(const struct node *n)
{
	struct rr_conn_info info;

	rr_conn_info(n->pump.conn, &info);
	return info.version == RPCRDMA_VERSION_TWO;
}

static void ask(struct node *n, uint32_t type, uint32_t len)
{
	int err =
	        rr_conn_ext_send(n->pump.conn, type, type == TYPE ? FLAG : 0, 0,
	                         words(3, len % 100), len & ~3u, NULL, run_now(n->run));

	if (err == -ENOMEM)
		return;
	if (err) { /* the connection is ending */
		CHECK(n->run,
		      rr_pump_lost(&n->pump) || run_may_lose(n->run) || n->run->closing,
		      "side %u: a question cannot be sent: %d", n->side, err);
		return;
	}
	n->asked_ext++;
}

void start_ready(struct node *n)
{
	const struct start *s = &n->run->plan.start;
	const struct rr_ext_table *mine = &s->table[n->side];
	const struct rr_ext_table *theirs = &s->table[!n->side];

	CHECK(n->run, !n->run->plan.conn[n->side].auth_required || n->consent,
	      "side %u: READY without consent", n->side);
	if (!s->ext || !version_two(n))
		return;
	for (unsigned i = 0; i < theirs->n_props; i++)
		CHECK(n->run,
		      n->told[i] == 1 && n->told_value[i] == !!theirs->prop[i].data,
		      "side %u: property %u told %u times", n->side, i, n->told[i]);
	for (unsigned i = 0; i < s->questions[n->side]; i++)
		ask(n, TYPE, 4 * (i * 13 % 240));
	if (mine->n_htypes == 2)
		ask(n, OTHER_TYPE, 8);
}

static void property(struct node *n, const struct rr_ext_event *ev)
{
	const struct rr_ext_prop *p;
	unsigned i = ev->number - PROP;

	CHECK(n->run, !n->ready && i < RR_EXT_MAX, "side %u: a late property", n->side);
	p = &n->run->plan.start.table[!n->side].prop[i];
	n->told[i]++;
	n->told_value[i] = ev->what == RR_EXT_PROPERTY;
	tally.list_octets += ev->len;
	if (n->told_value[i])
		CHECK(n->run,
		      p->data && ev->len == p->len &&
		              !memcmp(ev->data, p->data, p->len),
		      "side %u: property %u has another value", n->side, i);
	else
		CHECK(n->run, ev->len == 4 && !memcmp(ev->data, "dflt", 4),
		      "side %u: property %u has another default", n->side, i);
}

static void message(struct node *n, const struct rr_ext_event *ev)
{
	rr_time now = run_now(n->run);
	int err;

	CHECK(n->run, ev->number == TYPE ? ev->flags & FLAG : !(ev->flags & FLAG),
	      "side %u: flags %x", n->side, ev->flags);
	if (ev->flags & RDMA2_F_RESPONSE) {
		n->answered_ext++;
		return;
	}
	err = rr_conn_ext_send(n->pump.conn, ev->number, ev->flags | RDMA2_F_RESPONSE,
	                       ev->xid, ev->data, ev->len, NULL, now);
	if (err == -EMSGSIZE) /* the threshold is lower in this direction */
		err = rr_conn_ext_send(n->pump.conn, ev->number,
		                       ev->flags | RDMA2_F_RESPONSE, ev->xid, NULL, 0,
		                       NULL, now);
	CHECK(n->run, !err || err == -EAGAIN || run_may_lose(n->run) || n->run->closing,
	      "side %u: no answer: %d", n->side, err);
	if (err) /* not READY yet, or no memory: refused, so that it is not awaited */
		rr_conn_ext_refuse(n->pump.conn, ev, RDMA2_ERR_SYSTEM, now);
}

static void error(struct node *n, const struct rr_ext_event *ev)
{
	bool unknown = ev->error == RDMA2_ERR_INVAL_HTYPE;
	int err;

	n->answered_ext++;
	CHECK(n->run,
	      unknown == (ev->number == OTHER_TYPE &&
	                  n->run->plan.start.table[!n->side].n_htypes == 1) ||
	              ev->error == RDMA2_ERR_SYSTEM,
	      "side %u: error %u about type %x", n->side, ev->error, ev->number);
	if (!unknown)
		return;
	err = rr_conn_ext_send(n->pump.conn, ev->number, 0, 0, NULL, 0, NULL,
	                       run_now(n->run));
	CHECK(n->run, err == -EOPNOTSUPP || run_may_lose(n->run) || n->run->closing,
	      "side %u: an unknown type is sent again: %d", n->side, err);
}

void start_event(struct node *n, const struct rr_ext_event *ev)
{
	switch (ev->what) {
	case RR_EXT_MESSAGE:
		message(n, ev);
		break;
	case RR_EXT_ERROR:
		error(n, ev);
		break;
	case RR_EXT_PROPERTY:
	case RR_EXT_DEFAULT:
		property(n, ev);
		break;
	case RR_EXT_REFUSED:
		run_fail(n->run, "side %u: an own property was refused", n->side);
	}
}

bool start_finished(const struct node *n)
{
	return rr_pump_lost(&n->pump) || n->answered_ext == n->asked_ext;
}
