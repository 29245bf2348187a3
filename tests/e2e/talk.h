/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ends that serve the same procedures, and calls of every format whose octets
 * both sides compute by themselves.  Whatever the library refuses is taken for an
 * answer; what it accepts must end, once.
 */
#ifndef TESTS_E2E_TALK_H
#define TESTS_E2E_TALK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { PROG = 0x40000000, VERS = 1, MS = 1000000, MAX_ONES = 256 };
enum { P_WORK, P_ONCE, P_BIND, N_PROCS };
enum { BIG = 100003 };

/* A call and what it must give.  @in, @out: octets of arguments and results. */
struct shape {
	uint32_t in, out;
	bool in_item, out_item, special;
};

struct one {
	unsigned done;
	int status;
	bool wanted; /* it was taken */
	struct shape shape;
	uint8_t head[16];
	struct rpcrdma_dest dest;
	uint8_t room[BIG];
};

static struct {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service, *callbacks;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn, *back;
	struct rpcrdma_gss *gss; /* of @conn's calls; or NULL */
	uint64_t timeout_ns, retry_ns;
	uint16_t port;
	bool bound, small, ending;
	unsigned wanted, succeeded, failed, cancelled, reversed, refusals, requests;
	unsigned n_ones, n_done;
} t;

static struct one ones[MAX_ONES];
static uint8_t octets[BIG + 4];

static inline uint32_t be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return ntohl(v);
}

static inline void put32(void *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
}

static inline uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

static inline uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 2654435761u >> 11);
}

/* -- what both ends serve ---------------------------------------------------------- */

static inline void refuse(struct rpcrdma_request *q)
{
	t.refusals++;
	assert_int_equal(rpcrdma_request_error(q, RPCRDMA_SYSTEM_ERR, 0), 0);
}

/* Octets of arguments, octets of results, as an item or not, then the first: are
 * they right, and the second. */
static inline void h_work(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_piece *p;
	unsigned n = rpcrdma_request_args(q, &p);
	uint8_t *out = rpcrdma_request_alloc(q, BIG + 16);
	uint32_t in, len, at = 0;
	struct rpcrdma_piece r[2];

	t.requests++;
	if (!out) {
		refuse(q);
		return;
	}
	assert_true(n && p[0].len >= 12);
	in = be32(p[0].base);
	len = be32((const uint8_t *)p[0].base + 4);
	for (unsigned k = 0; k < n; k++)
		for (size_t i = k ? 0 : 12; i < p[k].len && at < in; i++, at++)
			assert_int_equal(((const uint8_t *)p[k].base)[i], pattern(at));
	assert_int_equal(at, in);
	put32(out, len);
	memcpy(out + 4, octets, len);
	memset(out + 4 + len, 0, 3);
	r[0] = (struct rpcrdma_piece){out, 4, false};
	r[1] = (struct rpcrdma_piece){out + 4, len, true};
	if (!be32((const uint8_t *)p[0].base + 8))
		r[1] = (struct rpcrdma_piece){out + 4, (len + 3) & ~3u, false};
	assert_int_equal(rpcrdma_request_reply(q, r, 2, NULL, NULL), 0);
}

/* Names the client, or fails. */
static inline void h_bind(struct rpcrdma_request *q, void *arg)
{
	int err = t.back ? rpcrdma_conn_rebind(t.back, q)
	                 : rpcrdma_request_reverse(q, t.retry_ns, &t.back);

	t.bound = !err;
	if (err)
		refuse(q);
	else
		assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure procs[N_PROCS] = {
        [P_WORK] = {"WORK", h_work, 1, 1, 0, false},
        [P_ONCE] = {"ONCE", h_work, 1, 1, 0, true},
        [P_BIND] = {"BIND", h_bind, 0, 0, 0, false},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, N_PROCS};

/* -- calls ------------------------------------------------------------------------- */

static inline void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                           void *arg)
{
	struct one *o = arg;
	const uint8_t *got;

	assert_true(o->wanted);
	assert_int_equal(o->done, 0);
	o->done++;
	t.n_done++;
	o->status = r->status;
	if (r->status) {
		t.cancelled += t.ending && r->status == -ECANCELED;
		t.failed += !t.ending || r->status != -ECANCELED;
		return;
	}
	t.succeeded++;
	if (!o->shape.out)
		return;
	assert_true(r->len >= 4);
	assert_int_equal(be32(r->results), o->shape.out);
	got = (const uint8_t *)r->results + 4;
	if (r->n_dests && r->dests[0].ret_used) {
		assert_int_equal(r->dests[0].ret_len, o->shape.out);
		got = r->dests[0].ret_base;
	} else {
		assert_true(r->len >= 4 + o->shape.out);
	}
	assert_memory_equal(got, octets, o->shape.out);
}

static inline void begin(struct rpcrdma_conn *c, uint32_t proc, struct shape s)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_piece a[2];
	struct one *x = &ones[t.n_ones];

	assert_true(t.n_ones < MAX_ONES);
	if (t.small) {
		s.in = s.in > 9000 ? 9001 : s.in;
		s.out = s.out > 9000 ? 9001 : s.out;
	}
	x->done = 0;
	x->shape = s;
	put32(x->head, s.in);
	put32(x->head + 4, s.out);
	put32(x->head + 8, s.out_item);
	x->dest = (struct rpcrdma_dest){.base = x->room, .len = s.out};
	a[0] = (struct rpcrdma_piece){x->head, 12, false};
	a[1] = (struct rpcrdma_piece){octets, s.in_item ? s.in : (s.in + 3) & ~3u,
	                              s.in_item};
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.args = a;
	o.n_args = proc == P_BIND ? 0 : 2;
	o.dests = &x->dest;
	o.n_dests = s.out_item;
	o.reply_bytes = s.out_item ? 4 : 8 + s.out;
	o.force_special = s.special;
	o.timeout_ns = t.timeout_ns;
	o.done = on_done;
	o.arg = x;
	o.gss = c == t.conn ? t.gss : NULL;
	x->wanted = true;
	t.wanted++;
	if (rpcrdma_call(c, &o, NULL)) {
		x->wanted = false;
		t.failed++;
		return;
	}
	t.n_ones++;
}

#endif
