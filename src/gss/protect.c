/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls GSS-API to sign, verify, wrap and unwrap, and maintains the window of sequence
 * numbers.                                              [RFC 2203 §5.3.2, §5.3.3]
 *
 * A thread holds the lock in struct rr_gss_context while it uses the GSS-API context.
 * Data is made contiguous before the lock is acquired.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "gss/context.h"

/* Returns true if @major means success.  Accepts tokens out of order, but neither
 * duplicates nor tokens that are too old to be checked for duplicates. */
static bool is_good(OM_uint32 major)
{
	return !GSS_ERROR(major) &&
	       !(major & (GSS_S_DUPLICATE_TOKEN | GSS_S_OLD_TOKEN));
}

/* -- header and sequence number -------------------------------------------- */

bool rr_gss_verify_header(struct rr_gss_context *c, const struct rr_gss_call *k,
                          gss_qop_t *ret_qop)
{
	uint8_t head[8 * 4 + RR_GSS_AUTH_MAX];
	struct rr_writer w = rr_writer_over(head, sizeof(head));
	gss_buffer_desc text = {.value = head};
	gss_buffer_desc mic = {.length = k->verf.len,
	                       .value = (void *)(uintptr_t)k->verf.body};
	OM_uint32 major, minor;

	rr_put_u32(&w, k->xid);
	rr_put_u32(&w, 0); /* CALL */
	rr_put_u32(&w, 2);
	rr_put_u32(&w, k->program);
	rr_put_u32(&w, k->version);
	rr_put_u32(&w, k->procedure);
	rr_put_u32(&w, k->cred.flavor);
	rr_put_u32(&w, k->cred.len);
	rr_put_padded(&w, k->cred.body, k->cred.len);
	if (rr_writer_bad(&w))
		return false;
	text.length = rr_writer_used(&w);
	pthread_mutex_lock(&c->lock);
	major = gss_verify_mic(&minor, c->id, &text, &mic, ret_qop);
	pthread_mutex_unlock(&c->lock);
	return is_good(major);
}

static uint64_t get_seen_bit(uint32_t seq)
{
	return 1ull << seq % 64;
}

static uint64_t *get_seen_word(struct rr_gss_context *c, uint32_t seq)
{
	return &c->seen[seq % RR_GSS_WINDOW / 64];
}

/* Moves the window up to @seq.  Records @seq as received, and the skipped numbers as
 * not received. */
static void advance_window(struct rr_gss_context *c, uint32_t seq)
{
	if (seq - c->last >= RR_GSS_WINDOW)
		memset(c->seen, 0, sizeof(c->seen));
	else
		for (uint32_t s = c->last + 1; s != seq; s++)
			*get_seen_word(c, s) &= ~get_seen_bit(s);
	c->last = seq;
	*get_seen_word(c, seq) |= get_seen_bit(seq);
}

/* Initially the window ends at 0 and no number has been received, so 0 is accepted
 * once. */
bool rr_gss_see(struct rr_gss_context *c, uint32_t seq)
{
	bool fresh = true;

	pthread_mutex_lock(&c->lock);
	if (seq > c->last)
		advance_window(c, seq);
	else if (c->last - seq >= RR_GSS_WINDOW ||
	         *get_seen_word(c, seq) & get_seen_bit(seq))
		fresh = false;
	else
		*get_seen_word(c, seq) |= get_seen_bit(seq);
	pthread_mutex_unlock(&c->lock);
	return fresh;
}

bool rr_gss_sign_word(struct rr_gss_context *c, gss_qop_t qop, uint32_t word,
                      struct rr_gss_request *r)
{
	uint8_t be[4];
	gss_buffer_desc text = {.length = sizeof(be), .value = be};
	gss_buffer_desc mic = GSS_C_EMPTY_BUFFER;
	OM_uint32 major, minor;
	bool ok;

	rr_store_u32(be, word);
	pthread_mutex_lock(&c->lock);
	major = gss_get_mic(&minor, c->id, qop, &text, &mic);
	pthread_mutex_unlock(&c->lock);
	ok = is_good(major) && mic.length <= sizeof(r->verf_body);
	if (ok) {
		memcpy(r->verf_body, mic.value, mic.length);
		r->verf = (struct rpcrdma_auth){RR_GSS_FLAVOR, r->verf_body,
		                                (uint32_t)mic.length};
	}
	(void)gss_release_buffer(&minor, &mic);
	return ok;
}

/* -- arguments ------------------------------------------------------------- */

/* Makes the arguments contiguous.  Returns false if there is no memory, or if an item
 * was reduced, since reduced items cannot be protected. */
static bool gather_args(struct rr_gss_request *r, const struct rr_gss_call *k,
                        struct rr_cursor *ret)
{
	size_t len = 0;
	uint8_t *p;

	for (unsigned i = 0; i < k->n_args; i++) {
		if (k->args[i].item)
			return false;
		len += k->args[i].len;
	}
	if (k->n_args == 1) {
		*ret = rr_cursor_over(k->args[0].base, len);
		return true;
	}
	r->copy = p = malloc(len ? len : 1);
	if (!p)
		return false;
	*ret = rr_cursor_over(p, len);
	for (unsigned i = 0; i < k->n_args; i++) {
		if (k->args[i].len)
			memcpy(p, k->args[i].base, k->args[i].len);
		p += k->args[i].len;
	}
	return true;
}

static bool get_gss_opaque(struct rr_cursor *c, gss_buffer_desc *ret)
{
	size_t len = rr_get_u32(c);

	ret->length = len;
	ret->value = (void *)(uintptr_t)rr_get_bytes(c, len);
	(void)rr_get_bytes(c, rr_pad(len)); /* if missing, @c is bad */
	return !rr_cursor_bad(c);
}

static bool check_integrity(struct rr_gss_request *r, struct rr_cursor *c,
                            gss_buffer_desc *ret)
{
	gss_buffer_desc mic;
	OM_uint32 major, minor;
	gss_qop_t qop;

	if (!get_gss_opaque(c, ret) || !get_gss_opaque(c, &mic) || rr_cursor_left(c))
		return false;
	pthread_mutex_lock(&r->context->lock);
	major = gss_verify_mic(&minor, r->context->id, ret, &mic, &qop);
	pthread_mutex_unlock(&r->context->lock);
	return is_good(major) && qop == r->qop;
}

static bool decrypt_args(struct rr_gss_request *r, struct rr_cursor *c,
                         gss_buffer_desc *ret)
{
	gss_buffer_desc cipher;
	OM_uint32 major, minor;
	gss_qop_t qop;
	int private = 0;

	if (!get_gss_opaque(c, &cipher) || rr_cursor_left(c))
		return false;
	pthread_mutex_lock(&r->context->lock);
	major = gss_unwrap(&minor, r->context->id, &cipher, &r->plain, &private, &qop);
	pthread_mutex_unlock(&r->context->lock);
	*ret = r->plain;
	return is_good(major) && private && qop == r->qop;
}

bool rr_gss_unwrap(struct rr_gss_request *r, const struct rr_gss_call *k)
{
	gss_buffer_desc body;
	struct rr_cursor c;

	if (!gather_args(r, k, &c))
		return false;
	if (r->service == RR_GSS_INTEGRITY ? !check_integrity(r, &c, &body)
	                                   : !decrypt_args(r, &c, &body))
		return false;
	c = rr_cursor_over(body.value, body.length);
	if (rr_get_u32(&c) != r->seq || rr_cursor_bad(&c) || rr_cursor_left(&c) % 4)
		return false;
	r->args = c.pos;
	r->args_len = rr_cursor_left(&c);
	return true;
}

/* -- results --------------------------------------------------------------- */

/* Writes the data to protect.  @w must have enough space. */
static void put_body(struct rr_writer *w, uint32_t seq, const struct rpcrdma_piece *p,
                     unsigned n)
{
	rr_put_u32(w, seq);
	for (unsigned i = 0; i < n; i++) {
		void *to;

		if (p[i].item) {
			rr_put_padded(w, p[i].base, p[i].len);
			continue;
		}
		to = rr_put_space(w, p[i].len);
		if (to && p[i].len)
			memcpy(to, p[i].base, p[i].len);
	}
}

static int body_length(const struct rpcrdma_piece *p, unsigned n, size_t *ret)
{
	size_t len = 4;

	for (unsigned i = 0; i < n; i++) {
		if (p[i].len > INT_MAX - len)
			return -EMSGSIZE;
		len += p[i].len + (p[i].item ? rr_pad(p[i].len) : 0);
	}
	*ret = len;
	return len % 4 ? -EINVAL : 0;
}

static int sign_results(struct rr_gss_request *r, struct rr_writer *w, size_t len)
{
	gss_buffer_desc text = {.length = len, .value = w->base + 4};
	gss_buffer_desc mic = GSS_C_EMPTY_BUFFER;
	OM_uint32 major, minor;
	bool ok;

	pthread_mutex_lock(&r->context->lock);
	major = gss_get_mic(&minor, r->context->id, r->qop, &text, &mic);
	pthread_mutex_unlock(&r->context->lock);
	ok = is_good(major);
	rr_put_u32(w, (uint32_t)mic.length);
	if (ok)
		rr_put_padded(w, mic.value, mic.length);
	(void)gss_release_buffer(&minor, &mic);
	return ok && !rr_writer_bad(w) ? 0 : -EKEYREJECTED;
}

/* Replaces the plain data in @w with the encrypted data. */
static int encrypt_results(struct rr_gss_request *r, struct rr_writer *w, size_t len)
{
	gss_buffer_desc text = {.length = len, .value = w->base + 4};
	gss_buffer_desc cipher = GSS_C_EMPTY_BUFFER;
	OM_uint32 major, minor;
	int private = 0;
	bool ok;

	pthread_mutex_lock(&r->context->lock);
	major = gss_wrap(&minor, r->context->id, 1, r->qop, &text, &private, &cipher);
	pthread_mutex_unlock(&r->context->lock);
	ok = is_good(major) && private;
	w->pos = w->base;
	rr_put_u32(w, (uint32_t)cipher.length);
	if (ok)
		rr_put_padded(w, cipher.value, cipher.length);
	(void)gss_release_buffer(&minor, &cipher);
	return ok && !rr_writer_bad(w) ? 0 : -EKEYREJECTED;
}

int rr_gss_wrap(struct rr_gss_request *r, const struct rpcrdma_piece *pieces,
                unsigned n, void **ret, size_t *ret_len)
{
	struct rr_writer w;
	size_t len;
	uint8_t *p;
	int err;

	if (!r->context || r->service == RR_GSS_NONE)
		return -EINVAL;
	err = body_length(pieces, n, &len);
	if (err)
		return err;
	p = malloc(len + RR_GSS_OVERHEAD);
	if (!p)
		return -ENOMEM;
	w = rr_writer_over(p, len + RR_GSS_OVERHEAD);
	rr_put_u32(&w, (uint32_t)len);
	put_body(&w, r->seq, pieces, n);
	err = r->service == RR_GSS_INTEGRITY ? sign_results(r, &w, len)
	                                     : encrypt_results(r, &w, len);
	if (err) {
		free(p);
		return err;
	}
	*ret = p;
	*ret_len = rr_writer_used(&w);
	return 0;
}
