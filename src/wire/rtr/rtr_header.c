/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bodies of RDMA2_XMOPT_REQ and RDMA2_XMOPT_RESP: decoding, encoding, building.
 *
 * A decoder reads the octets once, into a local structure, and copies what is used of it
 * after all has been read.  Each count is compared with the remaining octets by division
 * before it is used.  Rules that concern order or sums are checked as the items pass by,
 * so they also hold for what is not stored.
 *                                                  [ext §5.3, §5.5, §5.8]
 */
#include "wire/chunks.h"
#include "wire/rtr/rtr_wire.h"

enum {
	WORD = 4,
	ITEM_BYTES = 12, /* displacement, length, place */
	SET_BYTES = 12,  /* begin, end, count of directions */
	DIR_BYTES = 8,   /* smallest length, place */
};

/* -- appending ------------------------------------------------------------- */

static bool items_full(const struct rr_rtr_header *h)
{
	return h->n_items == RR_WIRE_RTR_MAX_ITEMS;
}

static bool sets_full(const struct rr_rtr_header *h)
{
	return h->n_sets == RR_WIRE_RTR_MAX_SETS;
}

static bool dirs_full(const struct rr_rtr_header *h)
{
	return h->n_dirs == RR_WIRE_RTR_MAX_DIRS;
}

static bool tbsns_full(const struct rr_rtr_header *h)
{
	return h->n_tbsns == RR_WIRE_RTR_MAX_TBSNS;
}

/* Counts an item.  Returns where to store it, or NULL, and sets @over, if the array is
 * full. */
static struct rr_rtr_item *append_item(struct rr_rtr_header *h)
{
	h->total_items++;
	if (items_full(h)) {
		h->over = true;
		return NULL;
	}
	return &h->item[h->n_items++];
}

/* Counts a set and stores it if it fits; else sets @over and returns NULL. */
static struct rr_rtr_set *append_set(struct rr_rtr_header *h, uint32_t begin,
                                     uint32_t end)
{
	struct rr_rtr_set *s;

	h->total_sets++;
	if (sets_full(h)) {
		h->over = true;
		return NULL;
	}
	s = &h->set[h->n_sets++];
	*s = (struct rr_rtr_set){.begin = begin, .end = end, .first = h->n_dirs};
	return s;
}

/* Counts a direction of @s.  Returns where to store it, or NULL, and sets @over, if the
 * array is full or @s, its set, is not stored. */
static struct rr_rtr_dir *append_dir(struct rr_rtr_header *h, struct rr_rtr_set *s)
{
	h->total_dirs++;
	if (!s || dirs_full(h)) {
		h->over = true;
		return NULL;
	}
	s->count++;
	return &h->dir[h->n_dirs++];
}

/* Counts a segment, and appends it to chunk @k unless the array is full. */
static void append_rtr_segment(struct rr_rtr_header *h, struct rr_chunk *k,
                               const struct rr_segment *s)
{
	h->total_segs++;
	if (h->n_segs == RR_WIRE_MAX_SEGMENTS) {
		h->over = true;
		return;
	}
	h->seg[h->n_segs++] = *s;
	k->count++;
	k->length += s->length;
}

static void append_tbsn(struct rr_rtr_header *h, struct rr_chunk *k, uint32_t tbsn)
{
	h->total_tbsns++;
	if (tbsns_full(h)) {
		h->over = true;
		return;
	}
	h->tbsn[h->n_tbsns++] = tbsn;
	k->count++;
}

/* -- decoding -------------------------------------------------------------- */

/* What the rules for items that follow each other need to know. */
struct item_order {
	bool response;
	bool first;
	bool body;    /* the first item is the whole Payload stream */
	uint64_t end; /* of the item before, padding included */
};

/* Decodes a count of entries of at least @bytes octets each. */
static uint32_t get_count(struct rr_cursor *c, size_t bytes)
{
	uint32_t count = rr_get_u32(c);

	if (count > rr_cursor_left(c) / bytes) {
		c->bad = true;
		return 0;
	}
	return count;
}

/* Decodes a counted array of segments into @k.  Returns the sum of all their lengths,
 * also of those not stored. */
static uint64_t get_chunk_segments(struct rr_cursor *c, struct rr_rtr_header *h,
                                   struct rr_chunk *k)
{
	uint32_t count = get_count(c, RR_CHUNKS_SEGMENT);
	const uint8_t *p = rr_get_bytes(c, (size_t)count * RR_CHUNKS_SEGMENT);
	uint64_t sum = 0;

	k->first = h->n_segs;
	for (uint32_t i = 0; i < count; i++) {
		struct rr_segment s =
		        rr_chunks_load_segment(p + (size_t)i * RR_CHUNKS_SEGMENT);

		append_rtr_segment(h, k, &s);
		sum += s.length;
	}
	return sum;
}

/* Decodes the place of a TBSN item. */
static void get_tbsns(struct rr_cursor *c, struct rr_rtr_header *h,
                      struct rr_rtr_item *it)
{
	uint32_t count;

	it->offset = rr_get_u32(c);
	count = get_count(c, WORD);
	it->where.first = h->n_tbsns;
	for (uint32_t i = 0; i < count; i++)
		append_tbsn(h, &it->where, rr_get_u32(c));
}

/* Decodes the place of an item.  Returns false if such an item cannot be there. */
static bool get_item_place(struct rr_cursor *c, struct rr_rtr_header *h, bool response,
                           struct rr_rtr_item *it)
{
	switch ((enum rr_wire_rtr_place)it->type) {
	case XMDTYPE_EXRW:
		return get_chunk_segments(c, h, &it->where) == it->length;
	case XMDTYPE_TBSN:
		get_tbsns(c, h, it);
		return true;
	case XMDTYPE_TOOSHORT:
	case XMDTYPE_NOITEM:
		return response;
	case XMDTYPE_CHOICE:
	case XMDTYPE_BYSIZE:
		return false;
	}
	return false;
}

/* Returns true if @it may follow the items before it. */
static bool check_item_order(const struct rr_rtr_item *it, struct item_order *o)
{
	if (it->type == XMDTYPE_NOITEM)
		return !it->disp && !it->length;
	if (!it->disp) {
		o->body = o->first && !o->response && it->type == XMDTYPE_EXRW;
		return o->body;
	}
	if ((it->disp & 3) || it->disp < o->end)
		return false;
	o->end = (uint64_t)it->disp + it->length + rr_pad(it->length);
	return true;
}

static void get_items(struct rr_cursor *c, struct rr_rtr_header *h,
                      struct item_order *o)
{
	uint32_t count = get_count(c, ITEM_BYTES);

	for (uint32_t i = 0; i < count && !rr_cursor_bad(c); i++) {
		struct rr_rtr_item it = {.disp = rr_get_u32(c)}, *stored;

		it.length = rr_get_u32(c);
		it.type = rr_get_u32(c);
		it.where.position = it.disp;
		o->first = i == 0;
		if (!get_item_place(c, h, o->response, &it) ||
		    !check_item_order(&it, o))
			c->bad = true;
		stored = append_item(h);
		if (stored)
			*stored = it;
	}
}

/* Decodes the place of a direction.  Returns false if a direction cannot have it. */
static bool get_dir_place(struct rr_cursor *c, struct rr_rtr_header *h,
                          struct rr_rtr_dir *d)
{
	switch ((enum rr_wire_rtr_place)d->type) {
	case XMDTYPE_BYSIZE:
		d->above = rr_get_u32(c);
		(void)get_chunk_segments(c, h, &d->where); /* any sum */
		return true;
	case XMDTYPE_EXRW:
	case XMDTYPE_CHOICE:
		(void)get_chunk_segments(c, h, &d->where); /* any sum */
		return true;
	case XMDTYPE_TBSN:
		return true;
	case XMDTYPE_TOOSHORT:
	case XMDTYPE_NOITEM:
		return false;
	}
	return false;
}

static void get_dirs(struct rr_cursor *c, struct rr_rtr_header *h, struct rr_rtr_set *s)
{
	uint32_t count = get_count(c, DIR_BYTES);

	for (uint32_t i = 0; i < count && !rr_cursor_bad(c); i++) {
		struct rr_rtr_dir d = {.min_length = rr_get_u32(c)}, *stored;

		d.type = rr_get_u32(c);
		if (!get_dir_place(c, h, &d))
			c->bad = true;
		stored = append_dir(h, s);
		if (stored)
			*stored = d;
	}
}

static void get_sets(struct rr_cursor *c, struct rr_rtr_header *h)
{
	uint32_t count = get_count(c, SET_BYTES), last = 0;

	for (uint32_t i = 0; i < count && !rr_cursor_bad(c); i++) {
		uint32_t begin = rr_get_u32(c), end = rr_get_u32(c);

		if (begin >= end || begin < last) {
			c->bad = true;
			return;
		}
		last = end;
		get_dirs(c, h, append_set(h, begin, end));
	}
}

static void get_reply_chunk(struct rr_cursor *c, struct rr_rtr_header *h)
{
	h->has_reply = rr_chunks_get_present(c);
	if (h->has_reply)
		(void)get_chunk_segments(c, h, &h->reply); /* any sum */
}

void rr_rtr_copy(struct rr_rtr_header *to, const struct rr_rtr_header *from)
{
	memcpy(to, from, offsetof(struct rr_rtr_header, item));
	memcpy(to->item, from->item, from->n_items * sizeof(to->item[0]));
	memcpy(to->set, from->set, from->n_sets * sizeof(to->set[0]));
	memcpy(to->dir, from->dir, from->n_dirs * sizeof(to->dir[0]));
	memcpy(to->seg, from->seg, from->n_segs * sizeof(to->seg[0]));
	memcpy(to->tbsn, from->tbsn, from->n_tbsns * sizeof(to->tbsn[0]));
}

int rr_wire_rtr_get_req(struct rr_cursor *c, struct rr_rtr_header *ret)
{
	struct item_order order = {.response = false};
	struct rr_cursor t = *c;
	struct rr_rtr_header h;

	rr_rtr_init(&h);
	h.inv_handle = rr_get_u32(&t);
	get_items(&t, &h, &order);
	get_sets(&t, &h);
	get_reply_chunk(&t, &h);
	h.count = rr_get_u32(&t);
	h.rsbuf = rr_get_u32(&t);
	h.pslen = rr_get_u32(&t);
	if (rr_cursor_bad(&t) || !h.count || !h.rsbuf)
		return -EBADMSG;
	if (order.body && (h.pslen || h.count != 1))
		return -EBADMSG;
	*c = t;
	rr_rtr_copy(ret, &h);
	return 0;
}

int rr_wire_rtr_get_resp(struct rr_cursor *c, struct rr_rtr_header *ret)
{
	struct item_order order = {.response = true};
	struct rr_cursor t = *c;
	struct rr_rtr_header h;

	rr_rtr_init(&h);
	get_items(&t, &h, &order);
	get_reply_chunk(&t, &h);
	h.count = rr_get_u32(&t);
	h.pslen = rr_get_u32(&t);
	if (rr_cursor_bad(&t) || !h.count)
		return -EBADMSG;
	*c = t;
	rr_rtr_copy(ret, &h);
	return 0;
}

/* -- encoding -------------------------------------------------------------- */

static void put_chunk_segments(struct rr_writer *w, const struct rr_rtr_header *h,
                               const struct rr_chunk *k)
{
	rr_put_u32(w, k->count);
	for (uint16_t i = 0; i < k->count; i++) {
		uint8_t *p = rr_put_space(w, RR_CHUNKS_SEGMENT);

		if (!p)
			return;
		rr_chunks_store_segment(p, &h->seg[k->first + i]);
	}
}

static void put_item(struct rr_writer *w, const struct rr_rtr_header *h,
                     const struct rr_rtr_item *it)
{
	rr_put_u32(w, it->disp);
	rr_put_u32(w, it->length);
	rr_put_u32(w, it->type);
	switch ((enum rr_wire_rtr_place)it->type) {
	case XMDTYPE_EXRW:
		put_chunk_segments(w, h, &it->where);
		return;
	case XMDTYPE_TBSN:
		rr_put_u32(w, it->offset);
		rr_put_u32(w, it->where.count);
		for (uint16_t i = 0; i < it->where.count; i++)
			rr_put_u32(w, h->tbsn[it->where.first + i]);
		return;
	case XMDTYPE_TOOSHORT:
	case XMDTYPE_NOITEM:
		return;
	case XMDTYPE_CHOICE:
	case XMDTYPE_BYSIZE:
		break;
	}
	w->bad = true;
}

static void put_items(struct rr_writer *w, const struct rr_rtr_header *h)
{
	rr_put_u32(w, h->n_items);
	for (uint16_t i = 0; i < h->n_items; i++)
		put_item(w, h, &h->item[i]);
}

static void put_dir(struct rr_writer *w, const struct rr_rtr_header *h,
                    const struct rr_rtr_dir *d)
{
	rr_put_u32(w, d->min_length);
	rr_put_u32(w, d->type);
	switch ((enum rr_wire_rtr_place)d->type) {
	case XMDTYPE_BYSIZE:
		rr_put_u32(w, d->above);
		put_chunk_segments(w, h, &d->where);
		return;
	case XMDTYPE_EXRW:
	case XMDTYPE_CHOICE:
		put_chunk_segments(w, h, &d->where);
		return;
	case XMDTYPE_TBSN:
		return;
	case XMDTYPE_TOOSHORT:
	case XMDTYPE_NOITEM:
		break;
	}
	w->bad = true;
}

static void put_sets(struct rr_writer *w, const struct rr_rtr_header *h)
{
	rr_put_u32(w, h->n_sets);
	for (uint16_t i = 0; i < h->n_sets; i++) {
		const struct rr_rtr_set *s = &h->set[i];

		rr_put_u32(w, s->begin);
		rr_put_u32(w, s->end);
		rr_put_u32(w, s->count);
		for (uint16_t k = 0; k < s->count; k++)
			put_dir(w, h, &h->dir[s->first + k]);
	}
}

static void put_reply_chunk(struct rr_writer *w, const struct rr_rtr_header *h)
{
	rr_put_u32(w, h->has_reply);
	if (h->has_reply)
		put_chunk_segments(w, h, &h->reply);
}

/* Incomplete arrays would differ from those received. */
static bool refuse_incomplete(struct rr_writer *w, const struct rr_rtr_header *h)
{
	if (h->over)
		w->bad = true;
	return h->over;
}

void rr_wire_rtr_put_req(struct rr_writer *w, const struct rr_rtr_header *h)
{
	if (refuse_incomplete(w, h))
		return;
	rr_put_u32(w, h->inv_handle);
	put_items(w, h);
	put_sets(w, h);
	put_reply_chunk(w, h);
	rr_put_u32(w, h->count);
	rr_put_u32(w, h->rsbuf);
	rr_put_u32(w, h->pslen);
}

void rr_wire_rtr_put_resp(struct rr_writer *w, const struct rr_rtr_header *h)
{
	if (refuse_incomplete(w, h))
		return;
	put_items(w, h);
	put_reply_chunk(w, h);
	rr_put_u32(w, h->count);
	rr_put_u32(w, h->pslen);
}

/* -- sizes ----------------------------------------------------------------- */

static size_t measure_items(const struct rr_rtr_header *h)
{
	size_t size = WORD;

	for (uint16_t i = 0; i < h->n_items; i++) {
		const struct rr_rtr_item *it = &h->item[i];

		size += ITEM_BYTES;
		if (it->type == XMDTYPE_EXRW)
			size += WORD + (size_t)it->where.count * RR_CHUNKS_SEGMENT;
		else if (it->type == XMDTYPE_TBSN)
			size += WORD + WORD +
			        (size_t)it->where.count * RR_WIRE_RTR_TBSN;
	}
	return size;
}

static size_t measure_sets(const struct rr_rtr_header *h)
{
	size_t size = WORD + (size_t)h->n_sets * SET_BYTES;

	for (uint16_t i = 0; i < h->n_dirs; i++) {
		const struct rr_rtr_dir *d = &h->dir[i];

		size += DIR_BYTES;
		if (d->type != XMDTYPE_TBSN)
			size += WORD + (size_t)d->where.count * RR_CHUNKS_SEGMENT;
		if (d->type == XMDTYPE_BYSIZE)
			size += WORD;
	}
	return size;
}

static size_t measure_reply(const struct rr_rtr_header *h)
{
	if (!h->has_reply)
		return WORD;
	return WORD + WORD + (size_t)h->reply.count * RR_CHUNKS_SEGMENT;
}

size_t rr_wire_rtr_req_size(const struct rr_rtr_header *h)
{
	/* besides: inv_handle, count, rsbuf, pslen */
	return 4 * WORD + measure_items(h) + measure_sets(h) + measure_reply(h);
}

size_t rr_wire_rtr_resp_size(const struct rr_rtr_header *h)
{
	return 2 * WORD + measure_items(h) + measure_reply(h); /* count, pslen */
}

/* -- building -------------------------------------------------------------- */

void rr_rtr_init(struct rr_rtr_header *h)
{
	memset(h, 0, offsetof(struct rr_rtr_header, item));
	h->count = 1;
	h->rsbuf = 1;
}

int rr_rtr_add_item(struct rr_rtr_header *h, uint32_t disp, uint32_t length,
                    enum rr_wire_rtr_place type)
{
	RR_ASSERT(!h->n_sets && !h->has_reply);
	if (items_full(h))
		return -ENOSPC;
	*append_item(h) = (struct rr_rtr_item){
	        .disp = disp,
	        .length = length,
	        .type = type,
	        .where.position = disp,
	        .where.first = type == XMDTYPE_TBSN ? h->n_tbsns : h->n_segs,
	};
	return 0;
}

int rr_rtr_add_set(struct rr_rtr_header *h, uint32_t begin, uint32_t end)
{
	RR_ASSERT(!h->has_reply);
	if (sets_full(h))
		return -ENOSPC;
	(void)append_set(h, begin, end); /* appended as set[n_sets - 1] */
	return 0;
}

int rr_rtr_add_dir(struct rr_rtr_header *h, uint32_t min_length,
                   enum rr_wire_rtr_place type, uint32_t above)
{
	RR_ASSERT(h->n_sets && !h->has_reply);
	if (dirs_full(h))
		return -ENOSPC;
	*append_dir(h, &h->set[h->n_sets - 1]) = (struct rr_rtr_dir){
	        .min_length = min_length,
	        .type = type,
	        .above = above,
	        .where.first = h->n_segs,
	};
	return 0;
}

void rr_rtr_begin_reply(struct rr_rtr_header *h)
{
	RR_ASSERT(!h->has_reply);
	h->has_reply = true;
	h->reply = (struct rr_chunk){.first = h->n_segs};
}

int rr_rtr_add_segment(struct rr_rtr_header *h, const struct rr_segment *s)
{
	struct rr_chunk *k = &h->reply;

	RR_ASSERT(h->has_reply || h->n_dirs || h->n_items);
	if (h->n_segs == RR_WIRE_MAX_SEGMENTS)
		return -ENOSPC;
	if (!h->has_reply)
		k = h->n_dirs ? &h->dir[h->n_dirs - 1].where
		              : &h->item[h->n_items - 1].where;
	append_rtr_segment(h, k, s);
	return 0;
}

int rr_rtr_add_tbsn(struct rr_rtr_header *h, uint32_t tbsn)
{
	RR_ASSERT(h->n_items && !h->n_sets && !h->has_reply);
	if (tbsns_full(h))
		return -ENOSPC;
	append_tbsn(h, &h->item[h->n_items - 1].where, tbsn);
	return 0;
}
