/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message to send: a header, written into the message's own buffer, and the pieces
 * that follow it.  Long pieces are gathered in place.  Short pieces and XDR padding are
 * copied after the header, because a gather entry costs more than a few cache lines.
 * The credit word is filled in as late as possible, when the Send is queued.
 *
 * A message that gathers memory of a call or a request is counted in the call's
 * sends_out or the request's xmits_out.  The memory is lent to the provider until the
 * message has completed; its completion decrements the count.
 */
#include "conn/core.h"

/* -- copies and references ------------------------------------------------- */

static bool is_gathered(const struct rr_slice *run, unsigned refs)
{
	return run->len > RR_COPY_MAX && refs < RR_MAX_REFS;
}

size_t rr_xmit_count_copied(struct rr_stream *s, size_t len, unsigned *refs)
{
	size_t sum = 0;

	while (len) {
		struct rr_slice run = rr_stream_next_run(s, len);
		size_t n = run.len + run.pad;

		if (is_gathered(&run, *refs))
			(*refs)++;
		else
			sum += n;
		len -= n;
		rr_stream_skip(s, n);
	}
	return sum;
}

/* Returns how many of the next @len octets will be copied instead of gathered. */
static size_t count_copied(const struct rr_stream *stream, size_t len)
{
	struct rr_stream s;
	unsigned refs = 0;

	if (len <= RR_COPY_MAX)
		return len; /* a run this short is never gathered */
	s = *stream;
	return rr_xmit_count_copied(&s, len, &refs);
}

/* -- messages -------------------------------------------------------------- */

struct rr_xmit *rr_xmit_new(struct rr_conn *c, size_t bytes)
{
	size_t cap = RR_MAX(bytes, (size_t)RR_XMIT_BYTES);
	struct rr_list *n = cap == RR_XMIT_BYTES ? rr_list_pop(&c->stock->xmits) : NULL;
	struct rr_xmit *x;

	if (n) {
		x = rr_container_of(n, struct rr_xmit, op.link);
		c->stock->n_xmits--;
	} else {
		x = rr_mem_get(&c->cfg.mem, sizeof(*x) + cap);
	}
	if (!x)
		return NULL;
	rr_list_init(&x->op.link);
	x->call = NULL;
	x->request = NULL;
	x->of_call = x->refers = false;
	x->inv_handle = x->handle = 0;
	x->offset = 0;
	x->n_sge = x->n_refs = 0;
	x->cap = cap;
	x->used = 0;
	return x;
}

void rr_xmit_free(struct rr_conn *c, struct rr_xmit *x)
{
	rr_list_del(&x->op.link);
	if (x->cap != RR_XMIT_BYTES || c->stock->n_xmits == RR_XMIT_CACHED) {
		rr_mem_put(&c->cfg.mem, x, sizeof(*x) + x->cap);
		return;
	}
	rr_list_push_front(&c->stock->xmits, &x->op.link);
	c->stock->n_xmits++;
}

/* Appends the next @n octets of the message's own buffer and returns a pointer to them.
 * Extends the last gather entry if it is adjacent. */
static uint8_t *append_own(struct rr_xmit *x, size_t n)
{
	uint8_t *p = x->buf + x->used;
	struct rr_sge *last = x->n_sge ? &x->sge[x->n_sge - 1] : NULL;

	RR_ASSERT(n <= x->cap - x->used);
	x->used += n;
	if (last && (uint8_t *)last->base + last->len == p) {
		last->len += (uint32_t)n;
		return p;
	}
	RR_ASSERT(x->n_sge < RR_ACTION_MAX_SGE);
	x->sge[x->n_sge++] = (struct rr_sge){.base = p, .len = (uint32_t)n};
	return p;
}

static void append_reference(struct rr_xmit *x, const struct rr_slice *run)
{
	RR_ASSERT(x->n_sge < RR_ACTION_MAX_SGE);
	x->refers = true;
	/* The provider only reads this memory. */
	x->sge[x->n_sge++] = (struct rr_sge){
	        .base = (void *)(uintptr_t)run->base,
	        .len = (uint32_t)run->len,
	};
}

void rr_xmit_header(struct rr_xmit *x, const struct rr_writer *w)
{
	RR_ASSERT(!rr_writer_bad(w) && !x->n_sge);
	x->used = rr_writer_used(w);
	x->sge[x->n_sge++] = (struct rr_sge){.base = x->buf, .len = (uint32_t)x->used};
}

void rr_xmit_append(struct rr_xmit *x, struct rr_stream *s, size_t len)
{
	while (len) {
		struct rr_slice run = rr_stream_next_run(s, len);
		size_t n = run.len + run.pad;

		if (is_gathered(&run, x->n_refs)) {
			append_reference(x, &run);
			x->n_refs++;
		} else {
			rr_stream_copy_run(&run, append_own(x, n));
		}
		rr_stream_skip(s, n);
		len -= n;
	}
}

void rr_xmit_append_zeros(struct rr_xmit *x, size_t len)
{
	if (len)
		memset(append_own(x, len), 0, len);
}

struct rr_xmit *rr_xmit_begin(struct rr_conn *c, const struct rr_prefix *p, size_t len,
                              struct rr_writer *ret_w)
{
	struct rr_xmit *x = rr_xmit_new(c, RR_WIRE_PREFIX + len);

	if (!x)
		return NULL;
	*ret_w = rr_writer_over(x->buf, RR_WIRE_PREFIX + len);
	rr_wire_put_prefix(ret_w, p);
	return x;
}

struct rr_xmit *rr_xmit_message(struct rr_conn *c, const struct rr_head *h,
                                struct rr_stream *stream, size_t len)
{
	struct rr_xmit *x = rr_xmit_new(c, h->bytes + count_copied(stream, len));
	struct rr_writer w;

	if (!x)
		return NULL;
	w = rr_writer_over(x->buf, x->cap);
	h->family->put_header(c, &w, h, len ? (uint32_t)(stream->left - len) : 0);
	rr_xmit_header(x, &w);
	if (len)
		rr_xmit_append(x, stream, len);
	return x;
}

struct rr_xmit *rr_xmit_write(struct rr_conn *c, struct rr_stream *stream, size_t len)
{
	struct rr_xmit *x = rr_xmit_new(c, count_copied(stream, len));

	if (x)
		rr_xmit_append(x, stream, len);
	return x;
}

/* -- sending --------------------------------------------------------------- */

void rr_xmit_of_call(struct rr_xmit *x, struct rr_call_state *s)
{
	x->of_call = true;
	if (x->refers) {
		x->call = s;
		s->sends_out++;
	}
}

void rr_xmit_of_request(struct rr_xmit *x, struct rr_request_state *q)
{
	if (x->refers || q->exposure) { /* the exposure's lifetime begins with the end
	                                 * of the Send */
		x->request = q;
		q->xmits_out++;
	}
}

static size_t xmit_octets(const struct rr_xmit *x)
{
	size_t sum = 0;

	for (unsigned i = 0; i < x->n_sge; i++)
		sum += x->sge[i].len;
	return sum;
}

static void launch_send(struct rr_conn *c, struct rr_xmit *x)
{
	if (rr_conn_traced(c))
		rr_conn_trace(c, RR_TRACE_MSG_SENT, rr_load_u32(x->buf),
		              rr_load_u32(x->buf + 12), xmit_octets(x),
		              rr_load_u32(x->buf + 8));
	c->count.sends++;
	c->sends_out++;
	c->tx.grant_at = RR_TIME_NEVER;
	c->tx.grant_now = false;
	if (c->cfg.keepalive_ns != RR_TIME_NEVER)
		c->tx.keepalive_at = c->now + c->cfg.keepalive_ns;
	rr_action_enqueue(c, &x->op, RR_ACT_SEND);
}

void rr_xmit_send(struct rr_conn *c, struct rr_xmit *x)
{
	rr_store_u32(x->buf + 8, c->version->spend(c, x->of_call));
	launch_send(c, x);
}

void rr_xmit_send_free(struct rr_conn *c, struct rr_xmit *x)
{
	launch_send(c, x);
}

void rr_xmit_completed(struct rr_conn *c, struct rr_xmit *x, int status)
{
	struct rr_call_state *s = x->call;
	struct rr_request_state *q = x->request;

	if (x->op.kind == RR_ACT_SEND) {
		c->sends_out--;
		if (q && q->exposure)
			rr_exposure_sent(c, q->exposure);
	}
	rr_xmit_free(c, x);
	/* -ECANCELED means that the work request was flushed; the provider will report
	 * the loss of the connection.  After any other failure a message or result is
	 * missing, and only closing the connection can inform the peer. [v2 §7.4] */
	if (status && status != -ECANCELED)
		rr_conn_fail(c, status);
	if (s) {
		s->sends_out--;
		rr_call_settle(c, s);
	}
	if (q) {
		q->xmits_out--;
		rr_reply_settle(c, q);
	}
}

void rr_xmit_lost(struct rr_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&c->in_flight)))
		rr_xmit_completed(c, rr_container_of(n, struct rr_xmit, op.link),
		                  -ECANCELED);
}
