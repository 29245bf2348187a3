/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_mixed_calls.h"

struct mixed mixed;
struct mixed_call mixed_calls[MIXED_MAX];
uint8_t mixed_octets[BIG + 4];

uint64_t now_ms(void)
{
	return now_ns() / 1000000;
}

uint8_t mixed_pattern(size_t i)
{
	return (uint8_t)(i * 2654435761u >> 11);
}

/* -- what both ends serve ---------------------------------------------------------- */

static void refuse(struct rpcrdma_request *q)
{
	mixed.refusals++;
	assert_int_equal(rpcrdma_request_error(q, RPCRDMA_SYSTEM_ERR, 0), 0);
}

/* Arguments: octets of arguments, octets of results, whether the results are an item,
 * and those octets.  Checks the octets and answers with the results. */
static void h_work(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_piece *p;
	unsigned n = rpcrdma_request_args(q, &p);
	uint8_t *out = rpcrdma_request_alloc(q, BIG + 16);
	uint32_t in, len, at = 0;
	struct rpcrdma_piece r[2];

	mixed.requests++;
	if (!out) {
		refuse(q);
		return;
	}
	assert_true(n && p[0].len >= 12);
	in = be32(p[0].base);
	len = be32((const uint8_t *)p[0].base + 4);
	for (unsigned k = 0; k < n; k++)
		for (size_t i = k ? 0 : 12; i < p[k].len && at < in; i++, at++)
			assert_int_equal(((const uint8_t *)p[k].base)[i],
			                 mixed_pattern(at));
	assert_int_equal(at, in);
	put32(out, len);
	memcpy(out + 4, mixed_octets, len);
	memset(out + 4 + len, 0, 3);
	r[0] = (struct rpcrdma_piece){out, 4, false};
	r[1] = (struct rpcrdma_piece){out + 4, len, true};
	if (!be32((const uint8_t *)p[0].base + 8))
		r[1] = (struct rpcrdma_piece){out + 4, (len + 3) & ~3u, false};
	assert_int_equal(rpcrdma_request_reply(q, r, 2, NULL, NULL), 0);
}

/* Makes or rebinds mixed.back, for calls to the client. */
static void h_bind(struct rpcrdma_request *q, void *arg)
{
	int err = mixed.back ? rpcrdma_conn_rebind(mixed.back, q)
	                     : rpcrdma_request_reverse(q, mixed.retry_ns, &mixed.back);

	mixed.bound = !err;
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
const struct rpcrdma_program mixed_program = {PROG, VERS, procs, N_PROCS};

/* -- calls ------------------------------------------------------------------------- */

void mixed_on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct mixed_call *o = arg;
	const uint8_t *got;

	assert_true(o->wanted);
	assert_int_equal(o->done, 0);
	o->done++;
	mixed.n_done++;
	o->status = r->status;
	if (r->status) {
		mixed.cancelled += mixed.ending && r->status == -ECANCELED;
		mixed.failed += !mixed.ending || r->status != -ECANCELED;
		return;
	}
	mixed.succeeded++;
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
	assert_memory_equal(got, mixed_octets, o->shape.out);
}

void mixed_begin(struct rpcrdma_conn *c, uint32_t proc, struct shape s)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_piece a[2];
	struct mixed_call *x = &mixed_calls[mixed.n_calls];

	assert_true(mixed.n_calls < MIXED_MAX);
	if (mixed.small) {
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
	a[1] = (struct rpcrdma_piece){mixed_octets, s.in_item ? s.in : (s.in + 3) & ~3u,
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
	o.timeout_ns = mixed.timeout_ns;
	o.done = mixed_on_done;
	o.arg = x;
	o.gss = c == mixed.conn ? mixed.gss : NULL;
	x->wanted = true;
	mixed.wanted++;
	if (rpcrdma_call(c, &o, NULL)) {
		x->wanted = false;
		mixed.failed++;
		return;
	}
	mixed.n_calls++;
}
