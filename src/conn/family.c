/* SPDX-License-Identifier: BSD-3-Clause */
/* See family.h.  The family of the base protocol, in both versions. */
#include "conn/core.h"

static size_t base_header_bytes(const struct rr_conn *c, const struct rr_head *h)
{
	const struct rr_version_ops *e = c->version;
	size_t done = h->done ? 4 + 4 * (size_t)h->done->count : 0;

	return done +
	       (h->lists ? e->prefix_bytes + e->lists_size(h->lists) : e->empty_bytes);
}

static void put_done_list(struct rr_writer *w, const struct rr_wire_done_list *done)
{
	rr_put_u32(w, done->count);
	for (uint32_t i = 0; i < done->count; i++)
		rr_put_u32(w, done->xid[i]);
}

static void put_empty_lists(struct rr_writer *w, const struct rr_version_ops *e)
{
	size_t n = e->empty_bytes - e->prefix_bytes;

	memset(rr_put_space(w, n), 0, n); /* the buffer has enough space */
}

static void put_base_header(const struct rr_conn *c, struct rr_writer *w,
                            const struct rr_head *h, uint32_t rest)
{
	const struct rr_version_ops *e = c->version;
	const struct rr_prefix p = {
	        .xid = h->xid,
	        .vers = e->vers,
	        .htype = h->done ? (uint32_t)RDMA2_MSG_DONE : h->htype,
	        .flags = h->flags,
	};

	(void)rest; /* base headers do not announce it */
	e->put_prefix(w, &p);
	if (h->done)
		put_done_list(w, h->done);
	if (h->lists)
		e->put_lists(w, h->lists);
	else
		put_empty_lists(w, e);
}

static int get_base_lists(struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);
	int err = rr_wire_get_lists(&cur, &m->lists);

	if (err)
		return err;
	m->payload = cur.pos;
	m->payload_len = rr_cursor_left(&cur);
	return 0;
}

const struct rr_family rr_base_family = {
        .header_bytes = base_header_bytes,
        .put_header = put_base_header,
        .get_lists = get_base_lists,
};
