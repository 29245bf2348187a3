/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test bench for struct rr_conn: plays provider and user for one object (a
 * side), or for two of them back to back (a pair).
 *
 * One-sided operations touch the other side's memory at once, through a table
 * of regions with handles, bounds and rights; a misuse ends the connection,
 * as a provider would.  Completions and messages wait in queues, and a seeded
 * generator picks which queue goes next, so that their order varies as far as
 * the provider contract leaves it free.  All memory is counted.
 *
 * It moves the connection by itself and not by the library's pump, since a test may
 * look at the connection between an action and its completion; tests/sim runs the pump.
 */
#ifndef TESTS_UNIT_CONN_RIG_H
#define TESTS_UNIT_CONN_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conn/conn.h"

#include "../conn_limits.h"

enum { RIG_QUEUE = 4096, RIG_REGIONS = 512, RIG_MSG = 65536, RIG_LOG = 64 };

struct rig_wc {
	uint64_t token;
	int status;
};

struct rig_msg {
	uint8_t *p;
	size_t len;
	uint32_t inv;
	unsigned n_reads, n_writes; /* posted before it */
};

/* An RDMA Read or Write as it was posted. */
struct rig_rdma {
	uint32_t handle;
	uint64_t offset;
	size_t len;
	uint8_t first[8]; /* of what was written */
};

struct rig_region {
	uint32_t handle;
	uint8_t *base;
	size_t len;
	unsigned access;
	bool valid;
	uint64_t token; /* of a pending local invalidation */
};

struct side;
typedef void rig_request_fn(struct side *, struct rr_request *);
typedef void rig_call_fn(struct side *, struct rr_call *);
typedef void rig_ext_fn(struct side *, const struct rr_ext_event *);

struct side {
	struct rr_conn *c;
	struct side *peer; /* NULL: messages are logged */
	struct rr_conn_config cfg;
	rr_time now;
	/* provider */
	struct rig_wc posted[RIG_QUEUE];
	uint8_t *posted_base[RIG_QUEUE];
	unsigned posted_head, posted_tail;
	struct rig_wc wc[RIG_QUEUE];
	unsigned wc_head, wc_tail;
	struct rig_msg in[RIG_QUEUE]; /* from the peer, not yet received */
	unsigned in_head, in_tail;
	struct rig_region region[RIG_REGIONS];
	unsigned n_regions;
	uint32_t next_handle;
	bool misuse; /* the peer touched what it must not */
	bool fail_reads;
	const uint8_t *read_from; /* what is at offset 0x10000, without a peer */
	bool hold_reads;          /* never answered */
	int fail_register;
	/* what was seen */
	struct rig_msg sent[RIG_LOG]; /* without a peer */
	unsigned n_sent;
	unsigned n_reads, n_writes;
	struct rig_rdma reads[RIG_LOG], writes[RIG_LOG]; /* the first of them */
	bool ready, disconnect, closed, lost;
	int disconnect_status;
	unsigned calls_done, admitted, requested, requests_done;
	/* user */
	rig_request_fn *on_admit, *on_request, *on_request_done;
	rig_call_fn *on_call_done;
	rig_ext_fn *on_extension;
	void *app;
	/* memory */
	size_t mem_used, mem_blocks;
	long mem_fail_at; /* the n-th get from now fails; 0 = never */
	bool mem_fail_on;
};

/* -- memory ---------------------------------------------------------------------- */

static inline void *rig_get(void *ctx, size_t bytes)
{
	struct side *s = ctx;
	void *p;

	if (s->mem_fail_at && (--s->mem_fail_at == 0 || s->mem_fail_on)) {
		s->mem_fail_at = s->mem_fail_on ? 1 : 0;
		return NULL;
	}
	p = aligned_alloc(64, (bytes + 63) / 64 * 64);
	assert_non_null(p);
	memset(p, 0xa5, bytes);
	s->mem_used += bytes;
	s->mem_blocks++;
	return p;
}

static inline void rig_put(void *ctx, void *p, size_t bytes)
{
	struct side *s = ctx;

	memset(p, 0xdd, bytes);
	free(p);
	s->mem_used -= bytes;
	s->mem_blocks--;
}

/* -- provider -------------------------------------------------------------------- */

static inline void rig_complete(struct side *s, uint64_t token, int status)
{
	s->wc[s->wc_tail++ % RIG_QUEUE] = (struct rig_wc){token, status};
}

static inline struct rig_region *rig_find(struct side *s, uint32_t handle)
{
	for (unsigned i = 0; i < s->n_regions; i++)
		if (s->region[i].valid && s->region[i].handle == handle)
			return &s->region[i];
	return NULL;
}

/* The peer's memory behind a handle, or NULL (and the mark) on misuse. */
static inline uint8_t *rig_remote(struct side *owner, uint32_t handle, uint64_t offset,
                                  size_t len, unsigned access)
{
	struct rig_region *r = rig_find(owner, handle);
	uint64_t base = r ? (uint64_t)(uintptr_t)r->base : 0;

	if (!r || !(r->access & access) || offset < base || offset - base > r->len ||
	    len > r->len - (offset - base)) {
		owner->misuse = true;
		return NULL;
	}
	return r->base + (offset - base);
}

static inline size_t rig_gather(const struct rr_action *a, uint8_t *to, size_t room)
{
	size_t len = 0;

	assert_true(a->n_sge >= 1 && a->n_sge <= RR_ACTION_MAX_SGE);
	for (unsigned i = 0; i < a->n_sge; i++) {
		assert_true(a->sge[i].len <= room - len);
		memcpy(to + len, a->sge[i].base, a->sge[i].len);
		len += a->sge[i].len;
	}
	return len;
}

static inline void rig_send(struct side *s, const struct rr_action *a)
{
	static uint8_t buf[RIG_MSG];
	size_t len = rig_gather(a, buf, sizeof(buf));
	struct rig_msg m = {malloc(len), len, a->inv_handle, s->n_reads, s->n_writes};

	memcpy(m.p, buf, len);
	rig_complete(s, a->token, 0);
	if (s->peer) {
		s->peer->in[s->peer->in_tail++ % RIG_QUEUE] = m;
	} else {
		assert_true(s->n_sent < RIG_LOG);
		s->sent[s->n_sent++] = m;
	}
}

static inline void rig_write(struct side *s, const struct rr_action *a)
{
	static uint8_t buf[8 << 20];
	size_t len = rig_gather(a, buf, sizeof(buf));
	uint8_t *to =
	        s->peer ? rig_remote(s->peer, a->handle, a->offset, len, 2) : NULL;

	if (s->n_writes < RIG_LOG) {
		struct rig_rdma *w = &s->writes[s->n_writes];

		*w = (struct rig_rdma){a->handle, a->offset, len, {0}};
		memcpy(w->first, buf, len < 8 ? len : 8);
	}
	s->n_writes++;
	if (to)
		memcpy(to, buf, len);
	rig_complete(s, a->token, 0);
}

static inline void rig_read(struct side *s, const struct rr_action *a)
{
	uint8_t *from = NULL;

	assert_int_equal(a->n_sge, 1);
	if (s->n_reads < RIG_LOG)
		s->reads[s->n_reads] =
		        (struct rig_rdma){a->handle, a->offset, a->sge[0].len, {0}};
	s->n_reads++;
	if (s->hold_reads)
		return;
	if (s->fail_reads) {
		rig_complete(s, a->token, -EIO);
		return;
	}
	if (s->peer)
		from = rig_remote(s->peer, a->handle, a->offset, a->sge[0].len, 1);
	else if (s->read_from)
		memcpy(a->sge[0].base, s->read_from + (a->offset - 0x10000),
		       a->sge[0].len);
	if (from)
		memcpy(a->sge[0].base, from, a->sge[0].len);
	else if (!s->read_from)
		memset(a->sge[0].base, 0x5a, a->sge[0].len);
	rig_complete(s, a->token, 0);
}

static inline void rig_register(struct side *s, const struct rr_action *a)
{
	struct rig_region *r = &s->region[s->n_regions++];

	assert_true(s->n_regions <= RIG_REGIONS);
	if (s->fail_register) {
		s->n_regions--;
		rr_conn_registered(s->c, a->token, s->fail_register, 0, 0);
		return;
	}
	*r = (struct rig_region){.handle = ++s->next_handle,
	                         .base = a->sge[0].base,
	                         .len = a->reg_len,
	                         .access = a->access,
	                         .valid = true};
	rr_conn_registered(s->c, a->token, 0, r->handle, (uint64_t)(uintptr_t)r->base);
}

static inline void rig_compact(struct side *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_regions; i++)
		if (s->region[i].valid)
			s->region[n++] = s->region[i];
	s->n_regions = n;
}

static inline void rig_invalidate(struct side *s, const struct rr_action *a)
{
	struct rig_region *r = rig_find(s, a->handle);

	if (!r) { /* the peer was faster */
		rr_conn_completed(s->c, a->token, -EINVAL, s->now);
		return;
	}
	r->valid = false;
	rig_compact(s);
	rig_complete(s, a->token, 0);
}

static inline unsigned rig_valid_regions(const struct side *s)
{
	return s->n_regions;
}

/* -- draining ---------------------------------------------------------------------- */

static inline void rig_act(struct side *s, const struct rr_action *a)
{
	assert_false(s->closed);
	switch (a->kind) {
	case RR_ACT_POST_RECV:
		s->posted_base[s->posted_tail % RIG_QUEUE] = a->sge[0].base;
		s->posted[s->posted_tail++ % RIG_QUEUE].token = a->token;
		break;
	case RR_ACT_SEND:
		rig_send(s, a);
		break;
	case RR_ACT_WRITE:
		rig_write(s, a);
		break;
	case RR_ACT_READ:
		rig_read(s, a);
		break;
	case RR_ACT_REGISTER:
		rig_register(s, a);
		break;
	case RR_ACT_INVALIDATE:
		rig_invalidate(s, a);
		break;
	case RR_ACT_READY:
		assert_false(s->ready);
		s->ready = true;
		break;
	case RR_ACT_EXTENSION:
		if (s->on_extension)
			s->on_extension(s, a->ext);
		break;
	case RR_ACT_ADMIT:
		s->admitted++;
		if (s->on_admit)
			s->on_admit(s, a->request);
		else
			rr_conn_admit(s->c, a->request, NULL, s->now);
		break;
	case RR_ACT_REQUEST:
		s->requested++;
		if (s->on_request)
			s->on_request(s, a->request);
		break;
	case RR_ACT_REQUEST_DONE:
		s->requests_done++;
		if (s->on_request_done)
			s->on_request_done(s, a->request);
		break;
	case RR_ACT_CALL_DONE:
		s->calls_done++;
		if (s->on_call_done)
			s->on_call_done(s, a->call);
		break;
	case RR_ACT_DISCONNECT:
		assert_false(s->disconnect);
		s->disconnect = true;
		s->disconnect_status = a->status;
		break;
	case RR_ACT_CLOSED:
		s->closed = true;
		break;
	}
}

static inline void rig_check(const struct side *s)
{
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	assert_true(i.avail <= i.cap);
	assert_int_equal(i.receives_posted,
	                 s->lost ? 0 : s->posted_tail - s->posted_head);
}

static inline void rig_drain(struct side *s)
{
	struct rr_action a;

	memset(&a, 0xee, sizeof(a));
	while (rr_conn_next(s->c, &a))
		rig_act(s, &a);
	rig_check(s);
}

/* -- events ---------------------------------------------------------------- */

static inline void rig_new(struct side *s, enum rr_conn_role role)
{
	s->cfg.role = role;
	s->cfg.mem = (struct rr_mem){rig_get, rig_put, s};
	if (!s->cfg.xid_seed)
		s->cfg.xid_seed = role == RR_CONN_CLIENT ? 0x7000 : 0x9000;
	conn_limits(&s->cfg);
	s->now = RR_SEC(1);
	s->next_handle = role == RR_CONN_CLIENT ? 0x1000 : 0x2000;
	assert_int_equal(rr_conn_new(&s->cfg, s->now, &s->c), 0);
	rig_drain(s);
}

static inline void rig_open(struct side *s)
{
	rr_conn_open(s->c, s->now);
	rig_drain(s);
}

/* One message into the oldest Receive. */
static inline void rig_receive(struct side *s, const uint8_t *p, size_t len,
                               uint32_t inv)
{
	unsigned at = s->posted_head++ % RIG_QUEUE;

	assert_true(s->posted_head <= s->posted_tail); /* no Receive: an overrun */
	memcpy(s->posted_base[at], p, len);
	if (inv) {
		struct rig_region *r = rig_find(s, inv);

		if (r)
			r->valid = false;
		rig_compact(s);
	}
	rr_conn_received(s->c, s->posted[at].token, len, inv, s->now);
	rig_drain(s);
}

static inline void rig_complete_one(struct side *s)
{
	struct rig_wc w = s->wc[s->wc_head++ % RIG_QUEUE];

	rr_conn_completed(s->c, w.token, w.status, s->now);
	rig_drain(s);
}

static inline void rig_complete_all(struct side *s)
{
	while (s->wc_head != s->wc_tail)
		rig_complete_one(s);
}

/* Everything posted is flushed, then the end is told. */
static inline void rig_lose(struct side *s, int error)
{
	if (s->lost)
		return;
	while (s->wc_head != s->wc_tail) {
		struct rig_wc w = s->wc[s->wc_head++ % RIG_QUEUE];

		rr_conn_completed(s->c, w.token, -ECANCELED, s->now);
	}
	while (s->posted_head != s->posted_tail)
		rr_conn_completed(s->c, s->posted[s->posted_head++ % RIG_QUEUE].token,
		                  -ECANCELED, s->now);
	s->n_regions = 0;
	s->lost = true;
	rr_conn_lost(s->c, error, s->now);
	rig_drain(s);
	while (s->in_head != s->in_tail)
		free(s->in[s->in_head++ % RIG_QUEUE].p);
}

static inline void rig_forget_sent(struct side *s)
{
	for (unsigned i = 0; i < s->n_sent; i++)
		free(s->sent[i].p);
	s->n_sent = 0;
}

/* Loses, frees, and looks for what was left behind. */
static inline void rig_end(struct side *s)
{
	rig_lose(s, 0);
	assert_true(s->closed);
	rr_conn_free(s->c);
	assert_int_equal(s->mem_used, 0);
	assert_int_equal(s->mem_blocks, 0);
	rig_forget_sent(s);
}

/* -- pairs ----------------------------------------------------------------- */

struct pair {
	struct side cl, sv;
	struct rr_rng rng;
	unsigned steps;
	bool no_conservation; /* a first message was lost on the way, or so */
};

/* Nothing is created and nothing is lost. [C3] */
static inline void pair_check(struct pair *p)
{
	struct side *s[2] = {&p->cl, &p->sv};
	struct rr_conn_info i[2];
	uint64_t sum = 0;

	for (int k = 0; k < 2; k++) {
		rr_conn_info(s[k]->c, &i[k]);
		sum += i[k].avail + i[k].owed;
		for (unsigned n = s[k]->in_head; n != s[k]->in_tail; n++) {
			const uint8_t *m = s[k]->in[n % RIG_QUEUE].p;

			sum += (uint64_t)m[10] << 8 | m[11];
		}
	}
	if (i[0].ready && i[1].ready && !p->cl.lost && !p->sv.lost &&
	    !p->no_conservation)
		assert_int_equal(sum, i[0].cap + i[1].cap);
}

static inline void pair_new(struct pair *p, uint64_t seed)
{
	rr_rng_seed(&p->rng, seed);
	p->cl.peer = &p->sv;
	p->sv.peer = &p->cl;
	rig_new(&p->cl, RR_CONN_CLIENT);
	rig_new(&p->sv, RR_CONN_SERVER);
	rig_open(&p->cl);
	rig_open(&p->sv);
}

static inline void pair_lose(struct pair *p, int error)
{
	rig_lose(&p->cl, error);
	rig_lose(&p->sv, error);
}

static inline void side_next_message(struct side *s)
{
	struct rig_msg m = s->in[s->in_head++ % RIG_QUEUE];

	rig_receive(s, m.p, m.len, m.inv);
	free(m.p);
}

/* One event; false when nothing is pending. */
static inline bool pair_step(struct pair *p)
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
			rig_complete_one(d);
		else
			continue;
		p->steps++;
		pair_check(p);
		return true;
	}
	return false;
}

/* Until nothing happens any more without time passing. */
static inline void pair_run(struct pair *p)
{
	while (pair_step(p))
		assert_true(p->steps < 1000000);
}

/* Lets time pass up to the next deadline, if it comes before @until. */
static inline bool pair_wait(struct pair *p, rr_time until)
{
	rr_time t = RR_MIN(rr_conn_deadline(p->cl.c), rr_conn_deadline(p->sv.c));

	if (t > until)
		return false;
	p->cl.now = p->sv.now = RR_MAX(t, p->cl.now);
	rr_conn_tick(p->cl.c, p->cl.now);
	rig_drain(&p->cl);
	rr_conn_tick(p->sv.c, p->sv.now);
	rig_drain(&p->sv);
	return true;
}

static inline void pair_end(struct pair *p)
{
	pair_lose(p, 0);
	rig_end(&p->cl);
	rig_end(&p->sv);
}

#endif
