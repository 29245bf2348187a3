/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of RDMA2_PROPID_RPRC and of the body of RDMA2_MSG_DONE.
 *
 * A word of the property has no meaning if the flag that it belongs to is clear.  The
 * decoder then stores 0 and does not check the value of the word. [ext §3.1, §3.6]
 */
#include "wire/rprc/rprc_wire.h"

enum {
	KNOWN_FLAGS = RDMA2_RPRC_F_REQUESTER | RDMA2_RPRC_F_RESPONDER |
	              RDMA2_RPRC_F_PIGGYBACK,
};

/* Returns @v with unknown flags cleared, and with each word set to 0 if its flag is
 * clear. */
static struct rr_wire_rprc keep_meaning(struct rr_wire_rprc v)
{
	v.flags &= KNOWN_FLAGS;
	if (!(v.flags & RDMA2_RPRC_F_RESPONDER))
		v.lifetime_ms = 0;
	if (!(v.flags & RDMA2_RPRC_F_REQUESTER))
		v.max_reply = 0;
	return v;
}

int rr_wire_rprc_get_value(const void *data, uint32_t len, struct rr_wire_rprc *ret)
{
	struct rr_cursor c = rr_cursor_over(data, len);
	struct rr_wire_rprc v = {0};

	if (len != 0 && len != RR_WIRE_RPRC_VALUE)
		return -EINVAL;
	if (len) {
		v.flags = rr_get_u32(&c);
		v.lifetime_ms = rr_get_u32(&c);
		v.max_reply = rr_get_u32(&c);
	}
	v = keep_meaning(v);
	if ((v.flags & RDMA2_RPRC_F_PIGGYBACK) && !(v.flags & RDMA2_RPRC_F_RESPONDER))
		return -EINVAL;
	if (v.lifetime_ms && v.lifetime_ms < RR_WIRE_RPRC_MIN_LIFETIME)
		return -EINVAL;
	*ret = v;
	return 0;
}

void rr_wire_rprc_put_value(struct rr_writer *w, const struct rr_wire_rprc *v)
{
	struct rr_wire_rprc sent = keep_meaning(*v);

	rr_put_u32(w, sent.flags);
	rr_put_u32(w, sent.lifetime_ms);
	rr_put_u32(w, sent.max_reply);
}

int rr_wire_rprc_get_msg_done(struct rr_cursor *c, struct rr_wire_done_list *ret_done,
                              struct rr_lists *ret)
{
	struct rr_cursor t = *c;
	struct rr_wire_done_list done = {.count = rr_get_u32(&t)};

	if (done.count > RDMA2_MSG_DONE_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < done.count; i++)
		done.xid[i] = rr_get_u32(&t);
	/* also fails if an XID was incomplete, because the cursor is then bad */
	if (rr_wire_get_lists(&t, ret))
		return -EBADMSG;
	*c = t;
	*ret_done = done;
	return 0;
}

void rr_wire_rprc_put_msg_done(struct rr_writer *w,
                               const struct rr_wire_done_list *done,
                               const struct rr_lists *l)
{
	if (done->count > RDMA2_MSG_DONE_MAX || l->over) {
		w->bad = true;
		return;
	}
	rr_put_u32(w, done->count);
	for (uint32_t i = 0; i < done->count; i++)
		rr_put_u32(w, done->xid[i]);
	rr_wire_put_lists(w, l);
}

size_t rr_wire_rprc_msg_done_size(const struct rr_wire_done_list *done,
                                  const struct rr_lists *l)
{
	return 4 + 4 * (size_t)done->count + rr_wire_lists_size(l);
}
