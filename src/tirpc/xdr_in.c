/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoding stream; see streams.h. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/dispatch.h"
#include "tirpc/streams.h"

static struct rr_xdr_in *in_of(XDR *x)
{
	return rr_container_of(x, struct rr_xdr_in, xdr);
}

void *rr_xdr_item_alloc(size_t len)
{
	return len > PTRDIFF_MAX - RR_ITEM_TAIL ? NULL : malloc(len + RR_ITEM_TAIL);
}

/* Returns true if an item of @len octets may replace the memory at the k-th pointer:
 * the XDR routine has allocated that memory, and the item's memory is at least as
 * large. */
static bool is_replaceable(const struct rr_xdr_in *in, unsigned k, size_t len)
{
	char *old = *rr_xdr_slot(&in->items, k);

	return !in->own[k] && !in->swaps[k].old &&
	       malloc_usable_size(old) <= len + RR_ITEM_TAIL;
}

/* Sets the k-th pointer to the item at @base.  RR_ITEM_TAIL octets must follow the
 * item. */
static void swap_item_memory(struct rr_xdr_in *in, unsigned k, void *base, size_t len)
{
	char **slot = rr_xdr_slot(&in->items, k);

	memset((char *)base + len, 0, RR_ITEM_TAIL);
	in->swaps[k] = (struct rr_xdr_swap){*slot, base, len};
	*slot = base;
}

/* Returns true if a routine has written to its memory beyond the item's octets. */
static bool has_written_more(const struct rr_xdr_swap *s)
{
	size_t size = malloc_usable_size(s->old);

	for (size_t i = s->len; i < size; i++)
		if (s->old[i])
			return true;
	return false;
}

static void undo_swap(struct rr_xdr_in *in, unsigned k)
{
	struct rr_xdr_swap *s = &in->swaps[k];

	memcpy(s->old, s->base, s->len);
	*rr_xdr_slot(&in->items, k) = s->old;
	free(s->base);
	in->count.items_placed--;
	in->count.item_bytes_placed -= s->len;
	in->count.items_copied++;
	in->count.item_bytes_copied += s->len;
}

void rr_xdr_in_settle(struct rr_xdr_in *in)
{
	for (unsigned k = 0; k < in->items.n; k++) {
		struct rr_xdr_swap *s = &in->swaps[k];

		if (!s->old)
			continue;
		/* If the pointer has changed, the item's memory belongs to the user. */
		if (*rr_xdr_slot(&in->items, k) == s->base && has_written_more(s))
			undo_swap(in, k);
		else
			free(s->old);
		s->old = NULL;
	}
}

/* Returns the index of the item whose pointer is @to, or -1. */
static int find_item_slot(const struct rr_xdr_in *in, const char *to)
{
	for (unsigned k = 0; k < in->items.n; k++)
		if (*rr_xdr_slot(&in->items, k) == to)
			return (int)k;
	return -1;
}

static void count_placed(struct rr_xdr_in *in, size_t len)
{
	in->count.items_placed++;
	in->count.item_bytes_placed += len;
	in->swallow = (unsigned)(-len & 3);
}

static void copy_in_item(struct rr_xdr_in *in, char *to, const void *base, size_t len)
{
	memcpy(to, base, len);
	in->count.items_copied++;
	in->count.item_bytes_copied += len;
	in->swallow = (unsigned)(-len & 3);
}

/* Decodes a result that arrived by a Write chunk.  Returns false if @to is not the
 * pointer of such a result. */
static bool take_from_dest(struct rr_xdr_in *in, char *to, size_t len)
{
	int k = in->dests ? find_item_slot(in, to) : -1;
	struct rr_xdr_item *d = k < 0 ? NULL : &in->dests[k];

	if (!d || !d->came || d->done || d->len != len)
		return false;
	d->done = true;
	if (to == d->base) {
		count_placed(in, len);
	} else if (d->mine && is_replaceable(in, (unsigned)k, len)) {
		swap_item_memory(in, (unsigned)k, d->base, len);
		d->mine = false;
		count_placed(in, len);
	} else {
		copy_in_item(in, to, d->base, len);
	}
	return true;
}

/* Decodes an argument that arrived by Read chunks.  Returns false if the next piece is
 * not an item of @len octets. */
static bool take_from_item(struct rr_xdr_in *in, char *to, size_t len)
{
	const struct rpcrdma_piece *p;
	int k;

	while (in->at < in->n && in->pos == in->pieces[in->at].len) {
		in->at++;
		in->pos = 0;
	}
	p = &in->pieces[in->at];
	if (in->at == in->n || !p->item || in->pos || p->len != len)
		return false;
	in->at++;
	k = find_item_slot(in, to);
	/* The transport allocates RR_ITEM_TAIL octets after each item. */
	if (k >= 0 && in->take && is_replaceable(in, (unsigned)k, len) &&
	    in->take(in->take_arg, p->base)) {
		swap_item_memory(in, (unsigned)k, (void *)(uintptr_t)p->base, len);
		count_placed(in, len);
	} else {
		copy_in_item(in, to, p->base, len);
	}
	return true;
}

/*
 * The static buffer into which libtirpc decodes XDR padding.  All threads share it, and
 * writing to it would be a data race.  So the streams do not write to it; nothing reads
 * it.  The buffer's address is found by decoding an opaque of one octet.
 */
static char *roundup;
static pthread_once_t roundup_once = PTHREAD_ONCE_INIT;

static bool_t note_roundup(XDR *x, char *to, u_int len)
{
	if (len == 3)
		roundup = to;
	return TRUE;
}

static void find_roundup(void)
{
	static const struct xdr_ops probe_ops = {.x_getbytes = note_roundup};
	XDR probe = {.x_op = XDR_DECODE, .x_ops = (void *)&probe_ops};
	char octet;

	(void)xdr_opaque(&probe, &octet, 1); /* cannot fail */
}

static bool copy_from_pieces(struct rr_xdr_in *in, void *to, size_t len)
{
	char *t = to;
	bool write = to != roundup;

	while (len) {
		const struct rpcrdma_piece *p = &in->pieces[in->at];
		size_t n;

		if (in->at == in->n)
			return false;
		n = RR_MIN(len, p->len - in->pos);
		if (write)
			memcpy(t, (const char *)p->base + in->pos, n);
		in->pos += n;
		t += n;
		len -= n;
		if (in->pos < p->len)
			continue;
		/* The piece ends here.  If the piece is an item, its padding was not
		 * sent. */
		if (p->item)
			in->swallow = (unsigned)(-p->len & 3);
		in->at++;
		in->pos = 0;
		if (in->swallow)
			return len == 0;
	}
	return true;
}

/* Skips the next @len octets and returns their address.  Returns NULL if the current
 * piece is an item, or if the piece does not extend beyond these octets. */
static const char *skip_within(struct rr_xdr_in *in, size_t len)
{
	const struct rpcrdma_piece *p = &in->pieces[in->at];
	const char *at;

	if (in->at == in->n || p->item || len >= p->len - in->pos)
		return NULL;
	at = (const char *)p->base + in->pos;
	in->pos += len;
	return at;
}

/* Returns true if @to is memory that the user has provided for an item, and @len
 * exceeds the item's maximum size in the binding. */
static bool is_too_long(const struct rr_xdr_in *in, const char *to, size_t len)
{
	int k = find_item_slot(in, to);

	return k >= 0 && in->own[k] && len > in->items.item[k].max_bytes;
}

static bool_t decode_bytes(XDR *x, char *to, u_int len)
{
	struct rr_xdr_in *in = in_of(x);
	const char *at;

	if (is_too_long(in, to, len))
		return FALSE;
	if (in->swallow) {
		if (len != in->swallow)
			return FALSE;
		if (to != roundup)
			memset(to, 0, len);
		in->swallow = 0;
		return TRUE;
	}
	if (!len || take_from_dest(in, to, len) || take_from_item(in, to, len))
		return TRUE;
	in->count.bytes_copied += len;
	at = to == roundup ? NULL : skip_within(in, len);
	if (!at)
		return copy_from_pieces(in, to, len);
	memcpy(to, at, len);
	return TRUE;
}

static bool_t decode_long(XDR *x, long *v)
{
	struct rr_xdr_in *in = in_of(x);
	const char *at = in->swallow ? NULL : skip_within(in, 4);
	uint32_t be;

	if (at)
		memcpy(&be, at, 4);
	else if (in->swallow || !copy_from_pieces(in, &be, 4))
		return FALSE;
	*v = (int32_t)ntohl(be);
	return TRUE;
}

static int32_t *decode_inline(XDR *x, u_int len)
{
	struct rr_xdr_in *in = in_of(x);
	const struct rpcrdma_piece *p = &in->pieces[in->at];
	const char *at;

	if (in->swallow || in->at == in->n || p->item || len > p->len - in->pos)
		return NULL;
	at = (const char *)p->base + in->pos;
	if ((uintptr_t)at % 4)
		return NULL;
	in->pos += len;
	return (int32_t *)(uintptr_t)at;
}

static u_int get_in_pos(XDR *x)
{
	const struct rr_xdr_in *in = in_of(x);
	size_t n = in->pos;

	for (unsigned i = 0; i < in->at; i++)
		n += in->pieces[i].len;
	return (u_int)n;
}

static bool_t set_in_pos(XDR *x, u_int pos)
{
	struct rr_xdr_in *in = in_of(x);
	size_t left = pos;
	unsigned i = 0;

	while (i < in->n && left > in->pieces[i].len)
		left -= in->pieces[i++].len;
	if (i == in->n && left)
		return FALSE;
	in->at = i;
	in->pos = left;
	in->swallow = 0;
	return TRUE;
}

static bool_t refuse_put_long(XDR *x, const long *v)
{
	return FALSE;
}

static bool_t refuse_put_bytes(XDR *x, const char *p, u_int len)
{
	return FALSE;
}

static void destroy_in(XDR *x)
{
}

static const struct xdr_ops in_ops = {
        .x_getlong = decode_long,
        .x_putlong = refuse_put_long,
        .x_getbytes = decode_bytes,
        .x_putbytes = refuse_put_bytes,
        .x_getpostn = get_in_pos,
        .x_setpostn = set_in_pos,
        .x_inline = decode_inline,
        .x_destroy = destroy_in,
};

void rr_xdr_in_init(struct rr_xdr_in *in, const struct rpcrdma_piece *pieces,
                    unsigned n)
{
	pthread_once(&roundup_once, find_roundup);
	memset(in, 0, sizeof(*in));
	in->xdr.x_op = XDR_DECODE;
	in->xdr.x_ops = (void *)&in_ops;
	in->pieces = pieces;
	in->n = n;
}

void rr_xdr_in_items(struct rr_xdr_in *in, const struct rr_xdr_items *i)
{
	in->items = *i;
	if (!i->object)
		in->items.n = 0;
	for (unsigned k = 0; k < in->items.n; k++)
		in->own[k] = *rr_xdr_slot(i, k) != NULL;
}

bool rr_xdr_in_complete(const struct rr_xdr_in *in)
{
	for (unsigned k = 0; in->dests && k < in->items.n; k++)
		if (in->dests[k].came && in->dests[k].len && !in->dests[k].done)
			return false;
	return true;
}
