/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder's checks of the chunk lists in a Call's header, before any memory is
 * allocated for the chunks. [check: positions to limits]
 */
#include "conn/core.h"

/* -- positions [check: positions] ------------------------------------------ */

/* Returns true if there is a Position Zero chunk, which is always first in the Read
 * list. */
static bool has_position_zero(const struct rr_lists *l)
{
	return l->n_reads && l->reads[0].position == 0;
}

/* Returns true if each chunk, with its padding, ends before the next chunk begins, and
 * each Position lies within or at the end of the stream rebuilt from @payload_len
 * octets and the chunks. [K2, K3, M8] */
static bool check_positions(const struct rr_lists *l, uint64_t payload_len)
{
	uint64_t pulled = 0, end = 0;

	for (uint16_t i = has_position_zero(l); i < l->n_reads; i++) {
		const struct rr_chunk *k = &l->reads[i];

		/* XID and msg_type must not be part of a chunk. */
		if ((k->position & 3) || k->position < RR_RPC_MIN ||
		    k->position < end || k->position - pulled > payload_len)
			return false;
		pulled += k->length + rr_pad(k->length & 3);
		end = k->position + k->length + rr_pad(k->length & 3);
	}
	return true;
}

static bool check_read_list(const struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_lists *l = &m->lists;
	bool special = m->p.htype == RDMA2_NOMSG;
	uint64_t payload = c->cont.call ? c->cont.call->collected : 0;

	if (m->more)
		return true; /* the chunk lists of this part are empty */
	if (has_position_zero(l) != special || l->reads_descend) /* [K1] */
		return false;
	if (l->over)
		return true; /* incomplete lists; [check: limits] refuses them */
	if (special && l->reads[0].length < RR_RPC_MIN) /* [ext §7.2 V17] */
		return false;
	payload += special ? l->reads[0].length : m->payload_len;
	return check_positions(l, payload);
}

/* -- reverse direction [check: reverse level] ------------------------------ */

static bool check_level(const struct rr_conn *c, const struct rr_msg *m,
                        struct rr_error *e)
{
	uint32_t level = c->cfg.rvrsdir;
	const struct rr_lists *l = &m->lists;

	if (c->cfg.role == RR_CONN_SERVER || level == RDMA2_RVRSDIR_GENL)
		return true;
	if (level == RDMA2_RVRSDIR_NONE)
		e->code = RDMA2_ERR_SYSTEM; /* [R3] */
	else if (level == RDMA2_RVRSDIR_SIMPLE && m->more)
		e->code = RDMA2_ERR_INVAL_CONT; /* [R5] */
	else if (l->n_reads)
		e->code = RDMA2_ERR_READ_CHUNKS; /* [R4] */
	else if (l->n_writes)
		e->code = level == RDMA2_RVRSDIR_CONT ? RDMA2_ERR_WRITE_CHUNKS
		                                      : RDMA2_ERR_REPLY_RESOURCE;
	else if (l->has_reply)
		e->code = RDMA2_ERR_SEGMENTS;
	return !e->code;
}

/* -- limits [check: limits] ------------------------------------------------ */

/*
 * Each Reply returns the Call's Write list, and in version 1 also its Reply chunk.  If
 * the Reply's header can hold all segments of these chunks, returns UINT32_MAX;
 * otherwise returns the number of segments that it can hold.  This is checked before
 * the Call is accepted, because the items have already been written when the Reply's
 * header is built. [K6, P12]
 */
static uint32_t max_returnable(const struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_version_ops *v = c->version;
	const struct rr_lists *l = &m->lists;
	const struct rr_head empty = {
	        .family = m->family, .htype = RDMA2_MSG, .flags = RDMA2_F_RESPONSE};
	size_t header = m->family->header_bytes(c, &empty) + (v->continues ? 4 : 0);
	size_t most = rr_props_least_inline(c), segs = 0;

	for (uint16_t i = 0; i < l->n_writes; i++) {
		header += 8;
		segs += l->writes[i].count;
	}
	if (l->has_reply && v->returns_reply_chunk) {
		header += 4;
		segs += l->reply.count;
	}
	if (header + 16 * segs <= most)
		return UINT32_MAX;
	return (uint32_t)((most - header) / 16);
}

/* Returns the maximum number of Read chunks, which includes a Position Zero chunk if
 * the Call has one [K12].  Returns 0 if RDMA Reads are impossible. */
static uint32_t max_reads(const struct rr_conn *c, const struct rr_lists *l)
{
	return c->cannot_read ? 0
	                      : RR_REQUEST_MAX_READS + (uint32_t)has_position_zero(l);
}

static bool check_counts(const struct rr_conn *c, const struct rr_msg *m,
                         struct rr_error *e)
{
	const struct rr_lists *l = &m->lists;
	uint32_t most = c->cfg.max_segments;

	if (rr_lists_empty(l))
		return true;
	if (!c->version->properties) /* our limit was not announced */
		most = RR_WIRE_MAX_SEGMENTS;
	if (l->total_segs > most)
		*e = (struct rr_error){RDMA2_ERR_SEGMENTS, {most}};
	else if (l->total_reads > max_reads(c, l))
		*e = (struct rr_error){RDMA2_ERR_READ_CHUNKS,
		                       {RR_MIN(max_reads(c, l), RR_REQUEST_MAX_READS)}};
	else if (l->total_writes > RR_WIRE_MAX_WRITES)
		*e = (struct rr_error){RDMA2_ERR_WRITE_CHUNKS, {RR_WIRE_MAX_WRITES}};
	else if (max_returnable(c, m) != UINT32_MAX)
		*e = (struct rr_error){RDMA2_ERR_SEGMENTS, {max_returnable(c, m)}};
	return !e->code;
}

bool rr_request_check(const struct rr_conn *c, const struct rr_msg *m,
                      struct rr_error *ret)
{
	struct rr_error e = {0};

	if (!check_read_list(c, m))
		e.code = RDMA2_ERR_BAD_XDR;
	else if (check_level(c, m, &e) && check_counts(c, m, &e))
		return true;
	*ret = e;
	return false;
}

/* Returns true if no segment of the Read chunk is longer than we have advertised.
 * [P11, ext §7.2 V21] */
static bool check_read_segments(const struct rr_conn *c, const struct rr_lists *l,
                                const struct rr_chunk *k)
{
	for (uint16_t i = 0; i < k->count; i++)
		if (l->seg[k->first + i].length > c->props.own_segment_bytes)
			return false;
	return true;
}

bool rr_request_check_sizes(const struct rr_conn *c, const struct rr_lists *l,
                            uint64_t *ret_pull)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < l->n_reads; i++) {
		uint64_t most = l->reads[i].position ? c->cfg.max_chunk_bytes
		                                     : c->cfg.max_special_bytes;

		if (l->reads[i].length > most ||
		    (c->version->properties &&
		     !check_read_segments(c, l, &l->reads[i])))
			return false;
		sum += l->reads[i].length;
	}
	*ret_pull = sum;
	return sum <= c->quota.limit;
}

/* -- the RPC message [check: RPC message] ---------------------------------- */

bool rr_request_is_call(const uint8_t *p, size_t len, uint32_t xid)
{
	return len >= RR_RPC_MIN && rr_load_u32(p) == xid && rr_load_u32(p + 4) == 0;
}
