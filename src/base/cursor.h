/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Big-endian readers and writers that remember whether an operation failed. [RFC 4506]
 *
 * A cursor reads borrowed octets.  A read past the end returns zero and sets the
 * cursor's @bad flag, so one rr_cursor_bad() after the last read is enough.  A writer
 * fills the caller's memory and reports lack of space in the same way.  Only this file
 * converts byte order for the wire.
 */
#ifndef RR_BASE_CURSOR_H
#define RR_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rr_cursor {
	const uint8_t *pos;
	const uint8_t *end;
	bool bad;
};

static inline struct rr_cursor rr_cursor_over(const void *base, size_t len)
{
	const uint8_t *p = base;

	return (struct rr_cursor){.pos = p, .end = p ? p + len : p};
}

static inline bool rr_cursor_bad(const struct rr_cursor *c)
{
	return c->bad;
}

static inline size_t rr_cursor_left(const struct rr_cursor *c)
{
	return c->bad ? 0 : (size_t)(c->end - c->pos);
}

/* Returns the next @len octets.  If fewer are left, sets @bad and returns NULL. */
static inline const void *rr_get_bytes(struct rr_cursor *c, size_t len)
{
	const uint8_t *p = c->pos;

	if (c->bad || len > (size_t)(c->end - c->pos)) {
		c->bad = true;
		return NULL;
	}
	c->pos += len;
	return p;
}

static inline uint32_t rr_load_u32(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
	       (uint32_t)b[3];
}

static inline uint16_t rr_load_u16(const void *p)
{
	const uint8_t *b = p;

	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint64_t rr_load_u64(const void *p)
{
	return (uint64_t)rr_load_u32(p) << 32 | rr_load_u32((const uint8_t *)p + 4);
}

static inline void rr_store_u16(void *p, uint16_t v)
{
	uint8_t *b = p;

	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static inline void rr_store_u32(void *p, uint32_t v)
{
	uint8_t *b = p;

	b[0] = (uint8_t)(v >> 24);
	b[1] = (uint8_t)(v >> 16);
	b[2] = (uint8_t)(v >> 8);
	b[3] = (uint8_t)v;
}

static inline void rr_store_u64(void *p, uint64_t v)
{
	rr_store_u32(p, (uint32_t)(v >> 32));
	rr_store_u32((uint8_t *)p + 4, (uint32_t)v);
}

static inline uint32_t rr_get_u32(struct rr_cursor *c)
{
	const void *p = rr_get_bytes(c, 4);

	return p ? rr_load_u32(p) : 0;
}

struct rr_writer {
	uint8_t *base;
	uint8_t *pos;
	uint8_t *end;
	bool bad;
};

static inline struct rr_writer rr_writer_over(void *base, size_t len)
{
	uint8_t *p = base;

	return (struct rr_writer){.base = p, .pos = p, .end = p ? p + len : p};
}

static inline bool rr_writer_bad(const struct rr_writer *w)
{
	return w->bad;
}

static inline size_t rr_writer_used(const struct rr_writer *w)
{
	return (size_t)(w->pos - w->base);
}

/* Returns memory for the next @len octets.  If there is less space, sets @bad and
 * returns NULL. */
static inline void *rr_put_space(struct rr_writer *w, size_t len)
{
	uint8_t *p = w->pos;

	if (w->bad || len > (size_t)(w->end - w->pos)) {
		w->bad = true;
		return NULL;
	}
	w->pos += len;
	return p;
}

static inline void rr_put_u32(struct rr_writer *w, uint32_t v)
{
	void *p = rr_put_space(w, 4);

	if (p)
		rr_store_u32(p, v);
}

/* Writes @len octets and their XDR padding. */
static inline void rr_put_padded(struct rr_writer *w, const void *src, size_t len)
{
	size_t pad = (4 - (len & 3)) & 3;
	uint8_t *p = len > SIZE_MAX - 3 ? NULL : rr_put_space(w, len + pad);

	if (!p) {
		w->bad = true;
		return;
	}
	if (len)
		memcpy(p, src, len);
	memset(p + len, 0, pad);
}

/* Returns the number of XDR padding octets after @len octets.  [RFC 4506 §4] */
static inline size_t rr_pad(size_t len)
{
	return (4 - (len & 3)) & 3;
}

#endif
