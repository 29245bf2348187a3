/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream that XDR routines of programs decode from, with everything in it as a peer
 * may have laid it: pieces of any length, items where the binding has none, items that
 * came on their own and others that did not, memory of the user's, and a union that has
 * a pointer to something else where its other arm has an item.
 *
 * The judge is libtirpc's own stream over the same octets as one message: what decodes
 * here decodes there, to the same values; without items among the pieces also the other
 * way round.  Sanitizers judge the memory: all pieces are exactly as long as they say,
 * and all that was allocated is freed by its owner.
 *
 * Input: flags, lengths of two items, up to eight pieces (two octets each, the topmost
 * bit: an item), then the octets.
 */
#include <stdlib.h>
#include <string.h>

#include "tirpc/streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_PIECES = 8, MAX_OCTETS = 1 << 14, MAX_WORDS = 64, FIXED = 5 };

enum {
	CLIENT_SIDE = 1,
	BOUND = 2,
	OWN_DATA = 4,
	OWN_NOTE = 8,
	CAME_0 = 16,
	CAME_1 = 32,
	REFUSE = 64,
	AGAIN = 128
};

/* -- what is decoded --------------------------------------------------------------- */

enum { OTHER_ARM = 2, LARGE = 4, HEAD = 16, TAIL = 48 };

/* What @data is in the other arm. */
struct other {
	char head[HEAD];
	char tail[TAIL];
};

struct object {
	u_int id; /* its lowest bits say which arm it is */
	u_int data_len;
	char *data;
	char *note;
	char fixed[FIXED];
	u_int n_words;
	u_int *words;
	int32_t pair[2];
};

static bool is_other(uint32_t id)
{
	return (id & 3) == OTHER_ARM;
}

/* The large one has more behind it than there is behind an item. */
static u_int size_of_other(uint32_t id)
{
	return sizeof(struct other) + (id & LARGE ? 5000 : 0);
}

static bool_t xdr_other(XDR *x, struct other *o)
{
	return xdr_opaque(x, o->head, HEAD) && xdr_opaque(x, o->tail, TAIL);
}

static bool_t xdr_arm(XDR *x, struct object *o)
{
	return is_other(o->id) ? xdr_reference(x, &o->data, size_of_other(o->id),
	                                       (xdrproc_t)xdr_other)
	                       : xdr_bytes(x, &o->data, &o->data_len, MAX_OCTETS);
}

static bool_t xdr_object(XDR *x, struct object *o)
{
	int32_t *in;

	if (!xdr_u_int(x, &o->id) || !xdr_arm(x, o) ||
	    !xdr_string(x, &o->note, MAX_OCTETS) ||
	    !xdr_opaque(x, o->fixed, sizeof(o->fixed)) ||
	    !xdr_array(x, (char **)&o->words, &o->n_words, MAX_WORDS, sizeof(u_int),
	               (xdrproc_t)xdr_u_int))
		return FALSE;
	if (x->x_op == XDR_FREE)
		return TRUE;
	/* As rpcgen does it for several small ones. */
	in = XDR_INLINE(x, 8);
	if (!in)
		return xdr_int32_t(x, &o->pair[0]) && xdr_int32_t(x, &o->pair[1]);
	o->pair[0] = IXDR_GET_INT32(in);
	o->pair[1] = IXDR_GET_INT32(in);
	return TRUE;
}

static void check_equal(const struct object *a, const struct object *b)
{
	RR_ASSERT(a->id == b->id && a->data_len == b->data_len);
	RR_ASSERT(!a->data_len || memcmp(a->data, b->data, a->data_len) == 0);
	RR_ASSERT(!is_other(a->id) ||
	          memcmp(a->data, b->data, size_of_other(a->id)) == 0);
	RR_ASSERT(strcmp(a->note, b->note) == 0);
	RR_ASSERT(memcmp(a->fixed, b->fixed, FIXED) == 0);
	RR_ASSERT(a->n_words == b->n_words);
	RR_ASSERT(!a->n_words ||
	          memcmp(a->words, b->words, a->n_words * sizeof(u_int)) == 0);
	RR_ASSERT(a->pair[0] == b->pair[0] && a->pair[1] == b->pair[1]);
}

/* -- a message ------------------------------------------------------------- */

static const struct rpcrdma_tirpc_item binding[2] = {
        RPCRDMA_TIRPC_ITEM(struct object, data, MAX_OCTETS),
        RPCRDMA_TIRPC_ITEM(struct object, note, MAX_OCTETS),
};

struct message {
	uint8_t flags;
	struct rpcrdma_piece pieces[MAX_PIECES];
	bool taken[MAX_PIECES];
	unsigned n;
	bool has_items;
	struct rr_xdr_item dests[2];
	uint8_t *flat; /* what libtirpc decodes */
	size_t flat_len;
};

static void append(struct message *m, const void *p, size_t len)
{
	if (len)
		memcpy(m->flat + m->flat_len, p, len);
	m->flat_len += len;
}

static void pad(struct message *m, size_t len)
{
	append(m, "\0\0", -len & 3);
}

static uint32_t word(const uint8_t *p, size_t at, size_t size)
{
	return size >= 4 && at <= size - 4
	               ? (uint32_t)p[at] << 24 | (uint32_t)p[at + 1] << 16 |
	                         (uint32_t)p[at + 2] << 8 | p[at + 3]
	               : 0;
}

static void make_pieces(struct message *m, const uint8_t *specs, unsigned n,
                        const uint8_t *p, size_t left)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned spec = (unsigned)specs[2 * i] << 8 | specs[2 * i + 1];
		size_t len = i == n - 1 ? left : RR_MIN((size_t)(spec & 0x7fff), left);
		bool item = !(m->flags & CLIENT_SIDE) && spec & 0x8000;
		void *base = item ? rr_xdr_item_alloc(len) : malloc(len ? len : 1);

		RR_ASSERT(base);
		if (len)
			memcpy(base, p, len);
		m->pieces[m->n++] = (struct rpcrdma_piece){base, len, item};
		append(m, p, len);
		if (item)
			pad(m, len);
		m->has_items |= item;
		p += len;
		left -= len;
	}
}

/* A result that came on its own: the octets are what @fill says. */
static void make_dest(struct message *m, unsigned k, size_t len)
{
	struct rr_xdr_item *d = &m->dests[k];

	d->base = rr_xdr_item_alloc(MAX_OCTETS);
	RR_ASSERT(d->base);
	d->mine = true;
	d->len = len;
	d->came = m->flags & (k ? CAME_1 : CAME_0);
	memset(d->base, 'a' + (int)k, len);
}

/* Where in the message as it came the model is. */
struct place {
	const uint8_t *whole;
	size_t at, size;
};

static void copy(struct message *m, struct place *p, size_t len)
{
	size_t n = RR_MIN(len, p->size - p->at);

	append(m, p->whole + p->at, n);
	p->at += n;
}

/* @len octets that the routine wants to have where the k-th item belongs. */
static void lay(struct message *m, struct place *p, unsigned k, size_t len)
{
	const struct rr_xdr_item *d = &m->dests[k];

	if (d->came && len && len == d->len) {
		append(m, d->base, len);
		pad(m, len);
	} else {
		copy(m, p, len + (-len & 3));
	}
}

/* Lays the items that came into the message, where the routine will look for them. */
static void lay_dests(struct message *m)
{
	struct place p = {m->flat, 0, m->flat_len};
	uint8_t *whole = m->flat;

	m->flat = malloc(p.size + 2 * (MAX_OCTETS + 3));
	RR_ASSERT(m->flat);
	m->flat_len = 0;
	copy(m, &p, 4);
	for (unsigned k = 0; k < 2; k++) {
		size_t len = word(whole, p.at, p.size);

		if (!k && is_other(word(whole, 0, p.size))) {
			lay(m, &p, k, HEAD);
			copy(m, &p, TAIL);
		} else if (p.at + 4 <= p.size) {
			copy(m, &p, 4);
			lay(m, &p, k, len);
		}
	}
	copy(m, &p, p.size - p.at);
	free(whole);
}

/* -- decoding -------------------------------------------------------------- */

static bool take(void *arg, const void *base)
{
	struct message *m = arg;

	if (m->flags & REFUSE)
		return false;
	for (unsigned i = 0; i < m->n; i++)
		if (m->pieces[i].base == base && !m->taken[i])
			return m->taken[i] = true;
	RR_ASSERT(!"it is one of the pieces");
	return false;
}

/* The user's memory, as long as the binding says, or none. */
static void prepare(struct message *m, struct object *o)
{
	memset(o, 0, sizeof(*o));
	if (m->flags & OWN_DATA)
		o->data = calloc(1, MAX_OCTETS);
	if (m->flags & OWN_NOTE)
		o->note = calloc(1, MAX_OCTETS + 1);
}

static bool decode(struct message *m, struct object *o)
{
	struct rr_xdr_items items = {binding, 2, (char *)o};
	struct rr_xdr_in in;
	bool ok;

	prepare(m, o);
	rr_xdr_in_init(&in, m->pieces, m->n);
	if (m->flags & BOUND) {
		rr_xdr_in_items(&in, &items);
		in.take = take;
		in.take_arg = m;
		in.dests = m->flags & CLIENT_SIDE ? m->dests : NULL;
	}
	if (m->flags & AGAIN) { /* some routines look ahead */
		u_int at = XDR_GETPOS(&in.xdr);
		u_int id;

		if (xdr_u_int(&in.xdr, &id))
			RR_ASSERT(XDR_SETPOS(&in.xdr, at));
		else
			return false;
	}
	ok = xdr_object(&in.xdr, o);
	rr_xdr_in_settle(&in);
	if (ok && (m->flags & BOUND) && (m->flags & CLIENT_SIDE))
		(void)rr_xdr_in_complete(&in);
	return ok;
}

static void release(struct message *m, struct object *o)
{
	xdr_free((xdrproc_t)xdr_object, (char *)o);
	for (unsigned i = 0; i < m->n; i++)
		if (!m->taken[i])
			free((void *)(uintptr_t)m->pieces[i].base);
	for (unsigned k = 0; k < 2; k++)
		if (m->dests[k].mine)
			free(m->dests[k].base);
	free(m->flat);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object ours, theirs = {0};
	struct message m = {0};
	unsigned n;
	bool ok;
	XDR x;

	if (size < 6)
		return 0;
	m.flags = data[0];
	n = 1 + data[5] % MAX_PIECES;
	if (size < 6 + 2 * n || size > MAX_OCTETS)
		return 0;
	m.flat = malloc(size + 3 * MAX_PIECES);
	RR_ASSERT(m.flat);
	make_pieces(&m, data + 6, n, data + 6 + 2 * n, size - 6 - 2 * n);
	if ((m.flags & CLIENT_SIDE) && (m.flags & BOUND)) {
		for (unsigned k = 0; k < 2; k++)
			make_dest(&m, k,
			          (data[1 + 2 * k] << 8 | data[2 + 2 * k]) % 0x1000);
		lay_dests(&m);
	}
	xdrmem_create(&x, (char *)m.flat, (u_int)m.flat_len, XDR_DECODE);
	ok = xdr_object(&x, &theirs);
	if (decode(&m, &ours)) {
		RR_ASSERT(ok);
		check_equal(&ours, &theirs);
	} else {
		RR_ASSERT(!ok || m.has_items);
	}
	release(&m, &ours);
	xdr_free((xdrproc_t)xdr_object, (char *)&theirs);
	return 0;
}
