/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents that depend on the place, memory between guards. */
#include "matrix.h"

enum { GUARD_OCTET = 0xa7 };

void mx_mem_new(struct mx_mem *m, size_t len, unsigned misalign)
{
	m->len = len;
	m->raw = malloc(len + 3 * MX_GUARD);
	assert_non_null(m->raw);
	memset(m->raw, GUARD_OCTET, len + 3 * MX_GUARD);
	m->p = m->raw + MX_GUARD + misalign;
}

void mx_mem_check(const struct mx_mem *m)
{
	const uint8_t *end = m->raw + m->len + 3 * MX_GUARD;

	for (const uint8_t *q = m->raw; q < end; q++) {
		if (q == m->p)
			q += m->len;
		if (*q != GUARD_OCTET)
			fail_msg("octet %td of memory of %zu has changed", q - m->p,
			         m->len);
	}
}

void mx_mem_free(struct mx_mem *m)
{
	if (!m->raw)
		return;
	mx_mem_check(m);
	free(m->raw);
	*m = (struct mx_mem){0};
}

uint8_t mx_octet(uint32_t seed, size_t i)
{
	uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + i * 0x2545f4914f6cdd1du;

	return (uint8_t)(x >> 37);
}

void mx_fill(void *base, size_t len, uint32_t seed)
{
	uint8_t *p = base;

	for (size_t i = 0; i < len; i++)
		p[i] = mx_octet(seed, i);
}

static size_t pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void put(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

struct layout {
	struct mx_stream *s;
	size_t words; /* octets written to words */
	size_t run;   /* where the run of words began that is no piece yet */
};

static void words(struct layout *l, const void *p, size_t len)
{
	memcpy(l->s->words + l->words, p, len);
	memcpy(l->s->flat + l->s->flat_len, p, len);
	l->words += len;
	l->s->flat_len += len;
}

static void end_run(struct layout *l)
{
	struct mx_stream *s = l->s;

	if (l->words > l->run)
		s->piece[s->n_pieces++] =
		        (struct rr_piece){s->words + l->run, l->words - l->run, false};
	l->run = l->words;
}

static void item(struct layout *l, size_t len, bool optional, uint32_t seed)
{
	struct mx_stream *s = l->s;
	struct mx_mem *m = &s->item[s->n_items];
	uint8_t count[4];

	/* The count, or "is present", stays in the stream. [v2 §4.3.4.1, §4.3.4.2] */
	put(count, optional ? 1 : (uint32_t)len);
	words(l, count, 4);
	end_run(l);
	mx_mem_new(m, len, s->n_items % 4);
	mx_fill(m->p, len, seed);
	s->item_at[s->n_items++] = s->flat_len;
	memcpy(s->flat + s->flat_len, m->p, len);
	s->flat_len += pad4(len);
	s->piece[s->n_pieces++] = (struct rr_piece){m->p, len, true};
}

static void filler(struct layout *l, size_t len, uint32_t seed)
{
	uint8_t *p = malloc(len + 1);

	mx_fill(p, len, seed);
	words(l, p, len);
	free(p);
}

static void lay_out(struct mx_stream *s, const struct mx_case *k,
                    const uint32_t *header, unsigned n_header, size_t fill,
                    const size_t *len, unsigned n)
{
	struct layout l = {.s = s};
	uint32_t seed = header[0] * 16 + header[1] * 8;
	size_t total = 4 * n_header + fill;
	uint8_t w[64];

	*s = (struct mx_stream){0};
	for (unsigned i = 0; i < n; i++)
		total += 4 + pad4(len[i]);
	s->flat = calloc(1, total);
	s->words = malloc(total);
	for (unsigned i = 0; i < n_header; i++)
		put(w + 4 * i, header[i]);
	words(&l, w, 4 * n_header);
	if (k->filler_first)
		filler(&l, fill, seed + 7);
	for (unsigned i = 0; i < n; i++)
		item(&l, len[i], k->optional, seed + i);
	if (!k->filler_first)
		filler(&l, fill, seed + 7);
	end_run(&l);
	assert_int_equal(s->flat_len, total);
}

void mx_call_stream(struct mx_stream *s, const struct mx_case *k, uint32_t xid)
{
	const uint32_t header[] = {xid, 0, 2, 0x20000099, 1, 7, 0, 0, 0, 0};

	lay_out(s, k, header, RR_ARRAY_SIZE(header), k->call_filler, k->item,
	        k->n_items);
}

void mx_reply_stream(struct mx_stream *s, const struct mx_case *k, uint32_t xid)
{
	const uint32_t header[] = {xid, 1, 0, 0, 0, 0};

	lay_out(s, k, header, RR_ARRAY_SIZE(header), k->reply_filler, k->result,
	        k->n_results);
}

void mx_stream_free(struct mx_stream *s)
{
	for (unsigned i = 0; i < s->n_items; i++)
		mx_mem_free(&s->item[i]);
	free(s->words);
	free(s->flat);
	*s = (struct mx_stream){0};
}

uint8_t *mx_reduced(const struct mx_stream *s, unsigned gone, size_t *ret_len)
{
	uint8_t *p = malloc(s->flat_len + 1);
	size_t at = 0, n = 0;

	for (unsigned i = 0; i < s->n_items; i++) {
		if (!(gone & 1u << i))
			continue;
		memcpy(p + n, s->flat + at, s->item_at[i] - at);
		n += s->item_at[i] - at;
		at = s->item_at[i] + pad4(s->item[i].len);
	}
	memcpy(p + n, s->flat + at, s->flat_len - at);
	*ret_len = n + s->flat_len - at;
	return p;
}
