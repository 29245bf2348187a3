/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads XDR from the pieces of a Payload stream: see <rpcrdma/cursor.h>.
 *
 * XDR padding is skipped late, by the next read, because only then is it known whether
 * padding follows.  An item that was transferred by RDMA should not be followed by
 * padding.  Some peers send it nevertheless, at the end of the chunk or of the message.
 *
 * Invariants: @pos and @end point into the same piece.  Nothing is read unless all of
 * it is present.  No read crosses the boundary of an item.
 */
#include <string.h>

#include "base/cursor.h"
#include "rpc/request.h"
#include <rpcrdma/cursor.h>

static void spoil_cursor(struct rpcrdma_cursor *c, int error)
{
	if (c->error)
		return;
	*c = (struct rpcrdma_cursor){.error = error};
}

static void set_piece(struct rpcrdma_cursor *c, const void *base, size_t len, bool item)
{
	c->pos = base;
	c->end = len ? c->pos + len : c->pos;
	c->item = item;
}

/* Called at the end of an item.  Decides whether the next piece begins with the item's
 * padding: only if the piece without the padding has a multiple of four octets. */
static void leave_item(struct rpcrdma_cursor *c)
{
	if (!c->n_next || c->next->item || ((c->next->len + c->odd) & 3))
		c->odd = 0;
}

/* Moves to the next piece if the current one has been read.  @pos equals @end if there
 * are no more octets. */
static void seek_octet(struct rpcrdma_cursor *c)
{
	while (c->pos == c->end) {
		if (c->item)
			leave_item(c);
		c->item = false;
		if (!c->n_next)
			return;
		set_piece(c, c->next->base, c->next->len, c->next->item);
		c->next++;
		c->n_next--;
	}
}

static size_t octets_here(const struct rpcrdma_cursor *c)
{
	return (size_t)(c->end - c->pos);
}

/* Returns true if @len octets are present before the boundary of an item. */
static bool has_octets(const struct rpcrdma_cursor *c, size_t len)
{
	size_t missing = len;

	if (len <= octets_here(c))
		return true;
	missing -= octets_here(c);
	for (unsigned i = 0; !c->item && i < c->n_next && !c->next[i].item; i++) {
		if (missing <= c->next[i].len)
			return true;
		missing -= c->next[i].len;
	}
	return false;
}

/* Reads @len octets, which must be present, into @to, or skips them if @to is NULL. */
static void move_over(struct rpcrdma_cursor *c, uint8_t *to, size_t len)
{
	while (len) {
		size_t n;

		seek_octet(c);
		n = RR_MIN(len, octets_here(c));
		if (to) {
			memcpy(to, c->pos, n);
			to += n;
		}
		c->pos += n;
		c->odd = (unsigned)(c->odd + n) & 3;
		len -= n;
	}
}

/* Skips the padding of the last read.  An item has all of its padding or none. */
static void skip_roundup(struct rpcrdma_cursor *c)
{
	size_t n;

	seek_octet(c);
	n = rr_pad(c->odd);
	if (!has_octets(c, n) || (c->item && n && octets_here(c) != n)) {
		spoil_cursor(c, -EBADMSG);
		return;
	}
	move_over(c, NULL, n);
	seek_octet(c);
}

/* Skips the last read's padding, and checks that the next @len octets are present. */
static bool begin_read(struct rpcrdma_cursor *c, size_t len)
{
	if (c->error)
		return false;
	skip_roundup(c);
	if (!c->error && !has_octets(c, len))
		spoil_cursor(c, -EBADMSG);
	return !c->error;
}

void rpcrdma_cursor_init(struct rpcrdma_cursor *c, const struct rpcrdma_piece *pieces,
                         unsigned n)
{
	*c = (struct rpcrdma_cursor){.next = pieces, .n_next = n};
}

void rpcrdma_cursor_init_octets(struct rpcrdma_cursor *c, const void *octets,
                                size_t len)
{
	*c = (struct rpcrdma_cursor){.item = false};
	set_piece(c, octets, len, false);
}

void rpcrdma_request_cursor(const struct rpcrdma_request *q, struct rpcrdma_cursor *ret)
{
	rpcrdma_cursor_init(ret, q->args, q->n_args);
}

void rpcrdma_reply_cursor(const struct rpcrdma_reply *r, struct rpcrdma_cursor *ret)
{
	rpcrdma_cursor_init_octets(ret, r->results, r->len);
}

/* Reads a number of @len octets.  Fails in an item, because items contain no
 * numbers. */
static bool take_number(struct rpcrdma_cursor *c, uint8_t *ret, size_t len)
{
	if (!begin_read(c, len))
		return false;
	if (c->item) {
		spoil_cursor(c, -EBADMSG);
		return false;
	}
	move_over(c, ret, len);
	return true;
}

uint32_t rpcrdma_cursor_u32(struct rpcrdma_cursor *c)
{
	uint8_t b[4];

	return take_number(c, b, sizeof(b)) ? rr_load_u32(b) : 0;
}

uint64_t rpcrdma_cursor_u64(struct rpcrdma_cursor *c)
{
	uint8_t b[8];

	return take_number(c, b, sizeof(b)) ? rr_load_u64(b) : 0;
}

const void *rpcrdma_cursor_fixed(struct rpcrdma_cursor *c, void *buf, size_t len)
{
	const void *p;

	if (!begin_read(c, len))
		return NULL;
	if (!len)
		return ""; /* not @pos, which may be NULL if there are no octets */
	if (len > octets_here(c)) {
		p = buf;
		if (!buf)
			spoil_cursor(c, -EBADMSG);
		else
			move_over(c, buf, len);
		return p;
	}
	p = c->pos;
	move_over(c, NULL, len);
	return p;
}

const void *rpcrdma_cursor_opaque(struct rpcrdma_cursor *c, void *buf, uint32_t max,
                                  uint32_t *ret_len)
{
	uint32_t len = rpcrdma_cursor_u32(c);
	const void *p;

	if (len > max)
		spoil_cursor(c, -EBADMSG);
	p = rpcrdma_cursor_fixed(c, buf, len);
	*ret_len = p ? len : 0;
	return p;
}

bool rpcrdma_cursor_copy(struct rpcrdma_cursor *c, void *to, size_t len)
{
	if (!begin_read(c, len))
		return false;
	move_over(c, to, len);
	return true;
}

void rpcrdma_cursor_skip(struct rpcrdma_cursor *c, size_t len)
{
	if (begin_read(c, len))
		move_over(c, NULL, len);
}

const void *rpcrdma_cursor_dest(struct rpcrdma_cursor *c,
                                const struct rpcrdma_dest *dest, uint32_t *ret_len)
{
	struct rpcrdma_cursor at = *c;
	uint32_t len = rpcrdma_cursor_u32(&at);

	*ret_len = 0;
	if (!at.error && !dest->ret_used) {
		if (dest->ret_offered && len)
			spoil_cursor(c, -EPROTO);
		return rpcrdma_cursor_opaque(
		        c, NULL, (uint32_t)RR_MIN(dest->len, (size_t)UINT32_MAX),
		        ret_len);
	}
	*c = at;
	if (dest->ret_len != len || len > dest->len)
		spoil_cursor(c, -EBADMSG);
	if (c->error)
		return NULL;
	*ret_len = len;
	return len ? dest->ret_base : "";
}

size_t rpcrdma_cursor_left(const struct rpcrdma_cursor *c)
{
	size_t n = octets_here(c);

	for (unsigned i = 0; i < c->n_next; i++)
		n += c->next[i].len;
	return n;
}

int rpcrdma_cursor_error(const struct rpcrdma_cursor *c)
{
	return c->error;
}

int rpcrdma_cursor_end(struct rpcrdma_cursor *c)
{
	if (begin_read(c, 0) && rpcrdma_cursor_left(c))
		spoil_cursor(c, -EBADMSG);
	return c->error;
}
