/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport header of version 1: four fixed words, then chunk lists or an error.
 * The decoder fills the structures of version 2, and chooses values for the fields that
 * version 1 lacks.  In RDMA_ERROR, which is always an answer, flags is
 * RDMA2_F_RESPONSE; in other messages it is 0.  rdma_inv_handle is 0.
 *
 * There are two errors: ERR_VERS, and ERR_CHUNK for every fault in a chunk, a length or
 * a limit.  ERR_CHUNK has the value of RDMA2_ERR_BAD_XDR. [RFC 8166 §4]
 */
#include "wire/chunks.h"

int rr_wire_v1_get_prefix(struct rr_cursor *c, struct rr_prefix *ret)
{
	struct rr_cursor t = *c;
	const uint8_t *p = rr_get_bytes(&t, RR_WIRE_V1_PREFIX);

	if (!p)
		return -EBADMSG;
	*c = t;
	*ret = (struct rr_prefix){
	        .xid = rr_load_u32(p),
	        .vers = rr_load_u32(p + 4),
	        .credit = rr_load_u32(p + 8),
	        .htype = rr_load_u32(p + 12),
	};
	if (ret->htype == RDMA2_ERROR)
		ret->flags = RDMA2_F_RESPONSE;
	return 0;
}

void rr_wire_v1_put_prefix(struct rr_writer *w, const struct rr_prefix *p)
{
	rr_put_u32(w, p->xid);
	rr_put_u32(w, p->vers);
	rr_put_u32(w, p->credit);
	rr_put_u32(w, p->htype);
}

int rr_wire_v1_get_lists(struct rr_cursor *c, struct rr_lists *ret)
{
	struct rr_cursor t = *c;
	struct rr_lists l;

	rr_lists_init(&l);
	rr_chunks_get(&t, &l);
	if (rr_cursor_bad(&t))
		return -EBADMSG;
	*c = t;
	rr_chunks_copy(ret, &l);
	return 0;
}

void rr_wire_v1_put_lists(struct rr_writer *w, const struct rr_lists *l)
{
	rr_chunks_put(w, l);
}

size_t rr_wire_v1_lists_size(const struct rr_lists *l)
{
	return rr_chunks_size(l);
}

/* Decodes an RDMA_ERROR body.  A code other than ERR_VERS and ERR_CHUNK is malformed,
 * because the XDR union has no default arm. */
int rr_wire_v1_get_error(struct rr_cursor *c, struct rr_error *ret)
{
	struct rr_cursor t = *c;
	struct rr_error e = {.code = rr_get_u32(&t)};

	if (e.code == RDMA2_ERR_VERS) {
		e.arg[0] = rr_get_u32(&t);
		e.arg[1] = rr_get_u32(&t);
	} else if (e.code != RDMA2_ERR_BAD_XDR) {
		return -EBADMSG;
	}
	if (rr_cursor_bad(&t))
		return -EBADMSG;
	*c = t;
	*ret = e;
	return 0;
}

void rr_wire_v1_put_error(struct rr_writer *w, const struct rr_error *e)
{
	if (e->code != RDMA2_ERR_VERS) {
		rr_put_u32(w, RDMA2_ERR_BAD_XDR);
		return;
	}
	rr_put_u32(w, RDMA2_ERR_VERS);
	rr_put_u32(w, e->arg[0]);
	rr_put_u32(w, e->arg[1]);
}
