/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body of RDMA2_ERROR, and the version 1 layouts of that message, which a server
 * sends and a client receives before the version is settled.
 *
 * The seven words of a version 1 ERR_VERS can also be the first seven words of a
 * version 2 RDMA2_ERR_VERS.  Only the length of the message distinguishes them, so
 * rr_wire_get_first_error needs the complete message. [v2 §6.3.3, V3, V4]
 */
#include "wire/wire.h"

enum {
	VERS_V1_BYTES = 28,
	CHUNK_V1_BYTES = 20,
	V1_ERR_VERS = 1, /* [RFC 8166 §4.4] */
	V1_ERR_CHUNK = 2,
};

/* Returns the number of argument words after rdma_err; 0 for an unknown code. */
static unsigned arm_words(uint32_t code)
{
	switch ((enum rr_errcode)code) {
	case RDMA2_ERR_VERS:
	case RDMA2_ERR_WRITE_RESOURCE:
		return 2;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
	case RDMA2_ERR_SEGMENTS:
	case RDMA2_ERR_REPLY_RESOURCE:
		return 1;
	case RDMA2_ERR_BAD_XDR:
	case RDMA2_ERR_BAD_PROPVAL:
	case RDMA2_ERR_INVAL_HTYPE:
	case RDMA2_ERR_INVAL_CONT:
	case RDMA2_ERR_SYSTEM:
		return 0;
	}
	return 0;
}

int rr_wire_get_error(struct rr_cursor *c, struct rr_error *ret)
{
	struct rr_cursor t = *c;
	struct rr_error e = {.code = rr_get_u32(&t)};

	for (unsigned i = 0; i < arm_words(e.code); i++)
		e.arg[i] = rr_get_u32(&t);
	if (rr_cursor_bad(&t))
		return -EBADMSG;
	*c = t;
	*ret = e;
	return 0;
}

void rr_wire_put_error(struct rr_writer *w, const struct rr_error *e)
{
	rr_put_u32(w, e->code);
	for (unsigned i = 0; i < arm_words(e->code); i++)
		rr_put_u32(w, e->arg[i]);
}

void rr_wire_put_error_v1(struct rr_writer *w, const struct rr_prefix *p,
                          const struct rr_error *e)
{
	rr_put_u32(w, p->xid);
	rr_put_u32(w, p->vers);
	/* In version 1 the credit word is a single number, so the ceiling is
	 * omitted. */
	rr_put_u32(w, p->credit & 0xffff);
	rr_put_u32(w, RDMA2_ERROR);
	rr_put_u32(w, V1_ERR_VERS);
	rr_put_u32(w, e->arg[0]);
	rr_put_u32(w, e->arg[1]);
}

/* Decodes the version 2 layout: 32 octets.  Any further octets are ignored.  Returns 2,
 * or -ENOMSG if the message does not have this layout. [E5] */
static int first_error_v2(struct rr_cursor c, const struct rr_prefix *p,
                          struct rr_error *ret)
{
	const uint32_t defined = RDMA2_F_RESPONSE | RDMA2_F_MORE | RDMA2_F_TPMORE;
	struct rr_error e;

	if ((p->flags & defined) != RDMA2_F_RESPONSE)
		return -ENOMSG;
	if (rr_wire_get_error(&c, &e) || e.code != RDMA2_ERR_VERS)
		return -ENOMSG;
	*ret = e;
	return 2;
}

/* Decodes the version 1 layout, in which rdma_err is at the offset of @p->flags.
 * Returns 1, or -ENOMSG if the message does not have this layout. */
static int first_error_v1(struct rr_cursor c, const struct rr_prefix *p,
                          struct rr_error *ret)
{
	struct rr_error e = {.code = RDMA2_ERR_VERS, .arg = {1, 1}};
	uint32_t v1_code = p->flags;

	if (p->vers != RPCRDMA_VERSION_ONE && p->vers != RPCRDMA_VERSION_TWO)
		return -ENOMSG;
	if (rr_cursor_left(&c) == VERS_V1_BYTES - RR_WIRE_PREFIX) {
		e.arg[0] = rr_get_u32(&c);
		e.arg[1] = rr_get_u32(&c);
		if (v1_code != V1_ERR_VERS || e.arg[0] > e.arg[1])
			return -ENOMSG;
	} else if (v1_code != V1_ERR_CHUNK) {
		return -ENOMSG;
	}
	*ret = e;
	return 1;
}

int rr_wire_get_first_error(const struct rr_cursor *c, struct rr_prefix *ret_prefix,
                            struct rr_error *ret)
{
	size_t len = rr_cursor_left(c);
	struct rr_cursor t = *c;
	struct rr_prefix p;
	int layout;

	if (rr_wire_get_prefix(&t, &p) || p.htype != RDMA2_ERROR)
		return -ENOMSG;
	if (len == VERS_V1_BYTES || len == CHUNK_V1_BYTES)
		layout = first_error_v1(t, &p, ret);
	else
		layout = first_error_v2(t, &p, ret);
	if (layout < 0)
		return layout;
	p.flags = RDMA2_F_RESPONSE;
	*ret_prefix = p;
	return layout;
}
