/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoding stream; see streams.h. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tirpc/streams.h"

static struct rr_xdr_out *out_of(XDR *x)
{
	return rr_container_of(x, struct rr_xdr_out, xdr);
}

/* Appends @n octets to the buffer and returns their address.  Returns NULL if there is
 * no memory. */
static uint8_t *extend_buffer(struct rr_xdr_out *o, size_t n)
{
	size_t size = o->size;
	uint8_t *p;

	if (o->bad || n > PTRDIFF_MAX / 2 - o->len)
		return NULL;
	if (n > size - o->len) {
		while (n > size - o->len)
			size *= 2;
		p = o->buf == o->small ? malloc(size) : realloc(o->buf, size);
		if (!p) {
			o->bad = true;
			return NULL;
		}
		if (o->buf == o->small)
			memcpy(p, o->small, o->len);
		o->buf = p;
		o->size = size;
	}
	p = o->buf + o->len;
	o->len += n;
	return p;
}

static void add_reference(struct rr_xdr_out *o, const void *base, size_t len, bool item)
{
	o->refs[o->n_refs++] = (struct rr_xdr_ref){
	        .at = o->len, .base = base, .len = len, .item = item};
	o->ref_bytes += len;
}

/* Adds a reference if the data is an item not yet encoded; otherwise returns false.
 * Earlier items that have not been encoded are empty; each gets a zero-length
 * reference, because items are matched by their order. */
static bool add_item_reference(struct rr_xdr_out *o, const char *p, size_t len)
{
	for (unsigned k = o->next_item; k < o->items.n; k++) {
		if (*rr_xdr_slot(&o->items, k) != p || len > o->items.item[k].max_bytes)
			continue;
		while (o->next_item < k) {
			add_reference(o, NULL, 0, true);
			o->next_item++;
		}
		o->next_item++;
		add_reference(o, p, len, true);
		o->swallow = (unsigned)(-len & 3);
		o->count.items_placed += 1;
		o->count.item_bytes_placed += len;
		return true;
	}
	return false;
}

static bool_t encode_bytes(XDR *x, const char *p, u_int len)
{
	struct rr_xdr_out *o = out_of(x);
	uint8_t *to;

	if (o->swallow) {
		/* This is an item's XDR padding.  If the item is sent inline, the
		 * transport adds the padding. */
		if (len != o->swallow)
			return FALSE;
		o->swallow = 0;
		return TRUE;
	}
	if (!o->plain && !o->bad && len) {
		if (add_item_reference(o, p, len))
			return TRUE;
		/* Reserve one reference for each item that may follow. */
		if (len >= RR_XDR_REFER_BYTES &&
		    o->n_refs + o->items.n - o->next_item < RR_XDR_MAX_REFS) {
			add_reference(o, p, len, false);
			o->count.bytes_referred += len;
			return TRUE;
		}
	}
	to = extend_buffer(o, len);
	if (!to)
		return FALSE;
	memcpy(to, p, len);
	o->count.bytes_copied += len;
	return TRUE;
}

static bool_t encode_long(XDR *x, const long *v)
{
	struct rr_xdr_out *o = out_of(x);
	uint32_t be = htonl((uint32_t)*v);
	uint8_t *to;

	if (o->swallow)
		return FALSE;
	if (!o->bad && o->size - o->len >= 4) { /* the common case */
		memcpy(o->buf + o->len, &be, 4);
		o->len += 4;
		return TRUE;
	}
	to = extend_buffer(o, 4);
	if (!to)
		return FALSE;
	memcpy(to, &be, 4);
	return TRUE;
}

static int32_t *encode_inline(XDR *x, u_int len)
{
	struct rr_xdr_out *o = out_of(x);

	if (o->swallow || o->len % 4 || len % 4)
		return NULL;
	return (int32_t *)(void *)extend_buffer(o, len);
}

static u_int get_out_pos(XDR *x)
{
	return (u_int)(out_of(x)->len + out_of(x)->ref_bytes);
}

/* Seeks within the part of the buffer that follows the last reference. */
static bool_t set_out_pos(XDR *x, u_int pos)
{
	struct rr_xdr_out *o = out_of(x);
	size_t least = o->n_refs ? o->refs[o->n_refs - 1].at : 0;

	if (pos < o->ref_bytes || pos - o->ref_bytes < least ||
	    pos - o->ref_bytes > o->size)
		return FALSE;
	o->len = pos - o->ref_bytes;
	return TRUE;
}

static bool_t refuse_get_long(XDR *x, long *v)
{
	return FALSE;
}

static bool_t refuse_get_bytes(XDR *x, char *p, u_int len)
{
	return FALSE;
}

static void destroy_out(XDR *x)
{
}

static const struct xdr_ops out_ops = {
        .x_getlong = refuse_get_long,
        .x_putlong = encode_long,
        .x_getbytes = refuse_get_bytes,
        .x_putbytes = encode_bytes,
        .x_getpostn = get_out_pos,
        .x_setpostn = set_out_pos,
        .x_inline = encode_inline,
        .x_destroy = destroy_out,
};

void rr_xdr_out_init(struct rr_xdr_out *o, bool plain)
{
	memset(o, 0, offsetof(struct rr_xdr_out, small));
	o->xdr.x_op = XDR_ENCODE;
	o->xdr.x_ops = (void *)&out_ops;
	o->plain = plain;
	o->buf = o->small;
	o->size = sizeof(o->small);
}

void rr_xdr_out_fini(struct rr_xdr_out *o)
{
	if (o->buf != o->small)
		free(o->buf);
}

void rr_xdr_out_items(struct rr_xdr_out *o, const struct rr_xdr_items *i)
{
	o->items = *i;
	o->next_item = 0;
	if (!i->object || o->plain)
		o->items.n = 0;
}

unsigned rr_xdr_out_pieces(const struct rr_xdr_out *o, size_t from,
                           struct rpcrdma_piece *ret)
{
	unsigned n = 0;

	_Static_assert(2 * RR_XDR_MAX_REFS + 1 < RPCRDMA_MAX_PIECES, "they fit");
	for (unsigned i = 0; i <= o->n_refs; i++) {
		size_t to = i < o->n_refs ? o->refs[i].at : o->len;

		if (to > from)
			ret[n++] =
			        (struct rpcrdma_piece){o->buf + from, to - from, false};
		from = to;
		if (i < o->n_refs)
			ret[n++] = (struct rpcrdma_piece){
			        o->refs[i].base, o->refs[i].len, o->refs[i].item};
	}
	return n;
}
