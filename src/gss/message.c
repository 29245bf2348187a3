/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's RPCSEC_GSS messages; contract in message.h. */
#include "gss/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

/* -- credentials ----------------------------------------------------------- */

int rr_gss_msg_put_cred(void *buf, size_t size, const struct rr_gss_cred *c)
{
	struct rr_writer w = rr_writer_over(buf, size);

	rr_put_u32(&w, RR_GSS_VERSION);
	rr_put_u32(&w, c->proc);
	rr_put_u32(&w, c->seq);
	rr_put_u32(&w, c->service);
	rr_put_u32(&w, c->handle_len);
	rr_put_padded(&w, c->handle, c->handle_len);
	return rr_writer_bad(&w) ? -EMSGSIZE : (int)rr_writer_used(&w);
}

/* -- MICs ------------------------------------------------------------------ */

/* Converts a GSS-API major status to 0 or a negative errno. */
static int gss_error(OM_uint32 major)
{
	if (major == GSS_S_COMPLETE)
		return 0;
	return GSS_ROUTINE_ERROR(major) == GSS_S_CONTEXT_EXPIRED ? -EKEYEXPIRED
	                                                         : -EKEYREJECTED;
}

static gss_buffer_desc borrow_buffer(const void *p, size_t len)
{
	return (gss_buffer_desc){.length = len, .value = (void *)(uintptr_t)p};
}

int rr_gss_msg_sign(gss_ctx_id_t ctx, const void *octets, size_t len, void *buf,
                    size_t size)
{
	gss_buffer_desc in = borrow_buffer(octets, len), mic = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor;
	int n = gss_error(gss_get_mic(&minor, ctx, GSS_C_QOP_DEFAULT, &in, &mic));

	if (!n) {
		n = mic.length > size ? -EMSGSIZE : (int)mic.length;
		if (n > 0)
			memcpy(buf, mic.value, mic.length);
	}
	(void)gss_release_buffer(&minor, &mic); /* cannot fail */
	return n;
}

int rr_gss_msg_check(gss_ctx_id_t ctx, const void *octets, size_t len, const void *mic,
                     size_t mic_len)
{
	gss_buffer_desc in = borrow_buffer(octets, len),
	                token = borrow_buffer(mic, mic_len);
	gss_qop_t qop;
	OM_uint32 minor;

	if (!mic_len)
		return -EKEYREJECTED;
	return gss_error(gss_verify_mic(&minor, ctx, &in, &token, &qop));
}

int rr_gss_msg_check_number(gss_ctx_id_t ctx, uint32_t number, const void *mic,
                            size_t mic_len)
{
	uint8_t octets[4];

	rr_store_u32(octets, number);
	return rr_gss_msg_check(ctx, octets, sizeof(octets), mic, mic_len);
}

/* -- arguments and results ------------------------------------------------- */

void rr_gss_body_fini(struct rr_gss_body *b)
{
	OM_uint32 minor;

	free(b->own);
	(void)gss_release_buffer(&minor, &b->token); /* cannot fail */
	b->own = NULL;
	b->n_pieces = 0;
}

static void add_piece(struct rr_gss_body *b, const void *base, size_t len)
{
	if (len)
		b->pieces[b->n_pieces++] = (struct rr_piece){base, len, false};
}

static size_t pad_item(const struct rr_piece *p)
{
	return p->item ? rr_pad(p->len) : 0;
}

/* Allocates memory for @room octets, the sequence number, the arguments and @more
 * octets, in this order.  Fills in the sequence number and the arguments, and stores
 * the length of both together in @ret_len. */
static int gather_plain(struct rr_gss_body *b, size_t room, size_t more, uint32_t seq,
                        const struct rr_piece *p, unsigned n, size_t *ret_len)
{
	size_t len = 4;
	uint8_t *at;

	for (unsigned i = 0; i < n; i++) {
		if (p[i].len > UINT32_MAX - 4096 - len)
			return -EMSGSIZE;
		len += p[i].len + pad_item(&p[i]);
	}
	if (len & 3)
		return -EINVAL;
	b->own = malloc(room + len + more);
	if (!b->own)
		return -ENOMEM;
	at = (uint8_t *)b->own + room;
	rr_store_u32(at, seq);
	at += 4;
	for (unsigned i = 0; i < n; i++) {
		if (p[i].len)
			memcpy(at, p[i].base, p[i].len);
		memset(at + p[i].len, 0, pad_item(&p[i]));
		at += p[i].len + pad_item(&p[i]);
	}
	*ret_len = len;
	return 0;
}

/* Makes an rpc_gss_integ_data: the plain data as an opaque, followed by its MIC. */
static int wrap_integrity(gss_ctx_id_t ctx, uint32_t seq, const struct rr_piece *p,
                          unsigned n, struct rr_gss_body *b)
{
	enum { MIC_MAX = RR_GSS_PROTECTION_MAX - 16 };
	size_t len;
	uint8_t *at;
	int r = gather_plain(b, 4, 4 + MIC_MAX + 4, seq, p, n, &len);

	if (r)
		return r;
	at = (uint8_t *)b->own + 4;
	rr_store_u32(b->own, (uint32_t)len);
	r = rr_gss_msg_sign(ctx, at, len, at + len + 4, MIC_MAX);
	if (r < 0)
		return r;
	rr_store_u32(at + len, (uint32_t)r);
	memset(at + len + 4 + r, 0, rr_pad((size_t)r));
	add_piece(b, b->own, 4 + len + 4 + (size_t)r + rr_pad((size_t)r));
	return 0;
}

/* Makes an rpc_gss_priv_data: the encrypted data as an opaque. */
static int wrap_privacy(gss_ctx_id_t ctx, uint32_t seq, const struct rr_piece *p,
                        unsigned n, struct rr_gss_body *b)
{
	gss_buffer_desc in;
	OM_uint32 minor;
	int encrypted = 0, r;
	size_t len;

	r = gather_plain(b, 0, 0, seq, p, n, &len);
	if (r)
		return r;
	in = borrow_buffer(b->own, len);
	r = gss_error(gss_wrap(&minor, ctx, 1, GSS_C_QOP_DEFAULT, &in, &encrypted,
	                       &b->token));
	free(b->own);
	b->own = NULL;
	if (r)
		return r;
	if (!encrypted)
		return -EKEYREJECTED;
	if (b->token.length > UINT32_MAX - 3)
		return -EMSGSIZE;
	rr_store_u32(b->head, (uint32_t)b->token.length);
	add_piece(b, b->head, sizeof(b->head));
	add_piece(b, b->token.value, b->token.length);
	add_piece(b, b->pad, rr_pad(b->token.length));
	return 0;
}

int rr_gss_msg_wrap(gss_ctx_id_t ctx, uint32_t service, uint32_t seq,
                    const struct rr_piece *p, unsigned n, struct rr_gss_body *ret)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = service == RR_GSS_INTEGRITY ? wrap_integrity(ctx, seq, p, n, ret)
	                                : wrap_privacy(ctx, seq, p, n, ret);
	if (r)
		rr_gss_body_fini(ret);
	return r;
}

/* Decodes an opaque<>.  If the opaque is longer than the remaining octets, returns NULL
 * and makes the cursor bad. */
static const uint8_t *get_counted_opaque(struct rr_cursor *c, uint32_t *ret_len)
{
	uint32_t len = rr_get_u32(c);

	if (len > rr_cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	*ret_len = len;
	return rr_get_bytes(c, (size_t)len + rr_pad(len));
}

/* Checks the sequence number at the start of the plain data, and makes the remaining
 * octets the only piece in @b. */
static int take_data(struct rr_gss_body *b, uint32_t seq, const uint8_t *data,
                     size_t len)
{
	if (len < 4 || rr_load_u32(data) != seq)
		return -EBADMSG;
	b->pieces[0] = (struct rr_piece){data + 4, len - 4, false};
	b->n_pieces = 1;
	return 0;
}

static int unwrap_integrity(gss_ctx_id_t ctx, uint32_t seq, struct rr_cursor *c,
                            struct rr_gss_body *b)
{
	uint32_t len = 0, mic_len = 0;
	const uint8_t *data = get_counted_opaque(c, &len),
	              *mic = get_counted_opaque(c, &mic_len);
	int r;

	if (rr_cursor_bad(c) || rr_cursor_left(c))
		return -EBADMSG;
	r = rr_gss_msg_check(ctx, data, len, mic, mic_len);
	return r ? r : take_data(b, seq, data, len);
}

static int unwrap_privacy(gss_ctx_id_t ctx, uint32_t seq, struct rr_cursor *c,
                          struct rr_gss_body *b)
{
	uint32_t len = 0;
	const uint8_t *data = get_counted_opaque(c, &len);
	gss_buffer_desc in = borrow_buffer(data, len);
	gss_qop_t qop;
	OM_uint32 minor;
	int encrypted = 0, r;

	if (rr_cursor_bad(c) || rr_cursor_left(c) || !len)
		return -EBADMSG;
	r = gss_error(gss_unwrap(&minor, ctx, &in, &b->token, &encrypted, &qop));
	if (r)
		return r;
	return encrypted ? take_data(b, seq, b->token.value, b->token.length)
	                 : -EKEYREJECTED;
}

int rr_gss_msg_unwrap(gss_ctx_id_t ctx, uint32_t service, uint32_t seq,
                      const void *body, size_t len, struct rr_gss_body *ret)
{
	struct rr_cursor c = rr_cursor_over(body, len);
	int r;

	memset(ret, 0, sizeof(*ret));
	r = service == RR_GSS_INTEGRITY ? unwrap_integrity(ctx, seq, &c, ret)
	                                : unwrap_privacy(ctx, seq, &c, ret);
	if (r)
		rr_gss_body_fini(ret);
	return r;
}

/* -- contexts -------------------------------------------------------------- */

int rr_gss_msg_get_init_res(const void *results, size_t len,
                            struct rr_gss_init_res *ret)
{
	struct rr_cursor c = rr_cursor_over(results, len);
	struct rr_gss_init_res m = {0};

	m.handle = get_counted_opaque(&c, &m.handle_len);
	m.major = rr_get_u32(&c);
	m.minor = rr_get_u32(&c);
	m.window = rr_get_u32(&c);
	m.token = get_counted_opaque(&c, &m.token_len);
	if (rr_cursor_bad(&c) || rr_cursor_left(&c) || m.handle_len > RR_GSS_HANDLE_MAX)
		return -EBADMSG;
	*ret = m;
	return 0;
}

static void append_status_text(OM_uint32 status, int type, gss_OID mech, char *buf,
                               size_t size)
{
	size_t used = strlen(buf);
	gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor, more = 0;

	if (gss_display_status(&minor, status, type, mech, &more, &text) !=
	    GSS_S_COMPLETE)
		return;
	snprintf(buf + used, size - used, "%s%.*s", used ? ": " : "", (int)text.length,
	         (const char *)text.value);
	(void)gss_release_buffer(&minor, &text); /* cannot fail */
}

void rr_gss_msg_reason(uint32_t major, uint32_t minor, gss_OID mech, char *buf,
                       size_t size)
{
	buf[0] = '\0';
	/* The mechanism's text is more specific than GSS-API's. */
	if (minor)
		append_status_text(minor, GSS_C_MECH_CODE, mech, buf, size);
	if (!buf[0])
		append_status_text(major, GSS_C_GSS_CODE, GSS_C_NO_OID, buf, size);
	if (!buf[0])
		snprintf(buf, size, "GSS-API status %08x, %u", (unsigned)major,
		         (unsigned)minor);
}
