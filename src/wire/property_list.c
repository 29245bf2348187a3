/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transport properties: rpcrdma2_propset and rpcrdma2_propsubset.
 *
 * A property set has two layers, each with its own error code.  The frame (count,
 * rdma_which, length word) is part of the header's XDR; a malformed frame causes
 * -EBADMSG.  The value (rdma_data) causes -EINVAL if it extends beyond the message, or
 * does not have exactly the length of the property's type.  An unknown property has no
 * type, so any data conforms.  Padding octets must be present, but may have any value.
 * [v2 §5.1, §7.2.2, P5, P6]
 */
#include "wire/wire.h"

enum { PROP_MIN_BYTES = 8 }; /* rdma_which and the length word of an empty rdma_data */

int rr_wire_get_props_begin(struct rr_cursor *c, uint32_t *ret_count)
{
	struct rr_cursor t = *c;
	uint32_t count = rr_get_u32(&t);

	if (rr_cursor_bad(&t) || count > RR_WIRE_MAX_PROPS ||
	    count > rr_cursor_left(&t) / PROP_MIN_BYTES)
		return -EBADMSG;
	*c = t;
	*ret_count = count;
	return 0;
}

int rr_wire_get_value_u32(const void *data, uint32_t len, uint32_t default_value,
                          uint32_t *ret)
{
	if (len != 0 && len != 4)
		return -EINVAL;
	*ret = len ? rr_load_u32(data) : default_value;
	return 0;
}

static int check_u32(struct rr_prop *p, uint32_t default_value)
{
	return rr_wire_get_value_u32(p->data, p->len, default_value, &p->value);
}

/* Checks that the value is exactly an opaque<>: a length word, that many octets and
 * their padding. */
static int check_opaque(const struct rr_prop *p)
{
	struct rr_cursor c = rr_cursor_over(p->data, p->len);
	uint32_t len;

	if (p->len == 0)
		return 0;
	len = rr_get_u32(&c);
	if (rr_cursor_bad(&c) || !rr_get_bytes(&c, len) ||
	    !rr_get_bytes(&c, rr_pad(len)))
		return -EINVAL;
	return rr_cursor_left(&c) ? -EINVAL : 0;
}

static int check_prop(struct rr_prop *p)
{
	switch ((enum rr_propid)p->id) {
	case RDMA2_PROPID_SBSIZ:
	case RDMA2_PROPID_RBSIZ:
		return check_u32(p, RR_WIRE_DEFAULT_INLINE);
	case RDMA2_PROPID_RSSIZ:
		return check_u32(p, RR_WIRE_DEFAULT_RSSIZ);
	case RDMA2_PROPID_RCSIZ:
		return check_u32(p, RR_WIRE_DEFAULT_RCSIZ);
	case RDMA2_PROPID_BRS:
		return check_u32(p, RDMA2_RVRSDIR_NONE);
	case RDMA2_PROPID_HOSTAUTH:
		return check_opaque(p);
	}
	return 0;
}

int rr_wire_get_prop(struct rr_cursor *c, struct rr_prop *ret)
{
	struct rr_cursor t = *c;
	struct rr_prop p = {.id = rr_get_u32(&t)};
	int err;

	p.len = rr_get_u32(&t);
	if (rr_cursor_bad(&t))
		return -EBADMSG;
	p.data = rr_get_bytes(&t, p.len);
	if (!p.data || !rr_get_bytes(&t, rr_pad(p.len)))
		return -EINVAL;
	err = check_prop(&p);
	if (err)
		return err;
	*c = t;
	*ret = p;
	return 0;
}

void rr_wire_put_props_begin(struct rr_writer *w, uint32_t count)
{
	rr_put_u32(w, count);
}

void rr_wire_put_prop(struct rr_writer *w, const struct rr_prop *p)
{
	rr_put_u32(w, p->id);
	rr_put_u32(w, p->len);
	rr_put_padded(w, p->data, p->len);
}

void rr_wire_put_prop_u32(struct rr_writer *w, uint32_t id, uint32_t value)
{
	rr_put_u32(w, id);
	rr_put_u32(w, 4);
	rr_put_u32(w, value);
}

int rr_wire_get_propsubset(struct rr_cursor *c, uint32_t *words, uint32_t max,
                           uint32_t *ret_count)
{
	struct rr_cursor t = *c;
	uint32_t count = rr_get_u32(&t);

	if (rr_cursor_bad(&t) || count > max || count > rr_cursor_left(&t) / 4)
		return -EBADMSG;
	for (uint32_t i = 0; i < count; i++)
		words[i] = rr_get_u32(&t);
	*c = t;
	*ret_count = count;
	return 0;
}

bool rr_wire_propsubset_has(const uint32_t *words, uint32_t count, uint32_t n)
{
	return n / 32 < count && (words[n / 32] >> (n % 32) & 1);
}

void rr_wire_put_propsubset(struct rr_writer *w, const uint32_t *words, uint32_t count)
{
	rr_put_u32(w, count);
	for (uint32_t i = 0; i < count; i++)
		rr_put_u32(w, words[i]);
}
