/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_pair.h"

/* No credit is created and none is lost. [C3] */
static void pair_check(struct pair *p)
{
	struct side *s[2] = {&p->cl, &p->sv};
	struct rr_conn_info i[2];
	uint64_t sum = 0;

	for (int k = 0; k < 2; k++) {
		rr_conn_info(s[k]->c, &i[k]);
		sum += i[k].avail + i[k].owed;
		for (unsigned n = s[k]->in_head; n != s[k]->in_tail; n++) {
			const uint8_t *m = s[k]->in[n % SIDE_QUEUE].p;

			sum += (uint64_t)m[10] << 8 | m[11];
		}
	}
	if (i[0].ready && i[1].ready && !p->cl.lost && !p->sv.lost &&
	    !p->no_conservation)
		assert_int_equal(sum, i[0].cap + i[1].cap);
}

void pair_new(struct pair *p, uint64_t seed)
{
	rr_rng_seed(&p->rng, seed);
	p->cl.peer = &p->sv;
	p->sv.peer = &p->cl;
	side_new(&p->cl, RR_CONN_CLIENT);
	side_new(&p->sv, RR_CONN_SERVER);
	side_open(&p->cl);
	side_open(&p->sv);
}

void pair_lose(struct pair *p, int error)
{
	side_lose(&p->cl, error);
	side_lose(&p->sv, error);
}

bool pair_step(struct pair *p)
{
	struct side *s[2] = {&p->cl, &p->sv};
	unsigned first = (unsigned)rr_rng_below(&p->rng, 4);

	if (p->cl.misuse || p->sv.misuse || p->cl.disconnect || p->sv.disconnect) {
		if (p->cl.lost && p->sv.lost)
			return false;
		pair_lose(p, p->cl.misuse || p->sv.misuse ? -EREMOTEIO : 0);
		return true;
	}
	for (unsigned k = 0; k < 4; k++) {
		struct side *d = s[(first + k) & 1];
		bool messages = ((first + k) >> 1) & 1;

		if (d->lost)
			continue;
		if (messages && d->in_head != d->in_tail)
			side_next_message(d);
		else if (!messages && d->wc_head != d->wc_tail)
			side_complete_one(d);
		else
			continue;
		p->steps++;
		pair_check(p);
		return true;
	}
	return false;
}

void pair_run(struct pair *p)
{
	while (pair_step(p))
		assert_true(p->steps < 1000000);
}

bool pair_wait(struct pair *p, rr_time until)
{
	rr_time t = RR_MIN(rr_conn_deadline(p->cl.c), rr_conn_deadline(p->sv.c));

	if (t > until)
		return false;
	p->cl.now = p->sv.now = RR_MAX(t, p->cl.now);
	rr_conn_tick(p->cl.c, p->cl.now);
	side_drain(&p->cl);
	rr_conn_tick(p->sv.c, p->sv.now);
	side_drain(&p->sv);
	return true;
}

void pair_end(struct pair *p)
{
	pair_lose(p, 0);
	side_end(&p->cl);
	side_end(&p->sv);
}
