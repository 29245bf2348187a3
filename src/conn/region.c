/* SPDX-License-Identifier: BSD-3-Clause */
/* See region.h. */
#include "conn/core.h"

static void move_region(struct rr_mr *m, enum rr_mr_event by, enum rr_mr_phase to)
{
	RR_MACHINE_MOVE(rr_mr_machine, m->phase, by, to);
	m->phase = to;
}

void rr_mr_init(struct rr_mr *m, const struct rr_mr_owner *ops, void *owner,
                uint32_t xid, enum rr_mr_use use, const void *base, size_t len)
{
	*m = (struct rr_mr){
	        .ops = ops,
	        .owner = owner,
	        .xid = xid,
	        .use = use,
	        .base = (uint8_t *)(uintptr_t)base,
	        .len = len,
	};
	rr_list_init(&m->op.link);
}

unsigned rr_mr_access(const struct rr_mr *m)
{
	return m->use == RR_USE_WRITE || m->use == RR_USE_REPLY ? RR_ACCESS_REMOTE_WRITE
	                                                        : RR_ACCESS_REMOTE_READ;
}

void rr_mr_register(struct rr_conn *c, struct rr_mr *m)
{
	move_region(m, RR_MR_EV_REGISTER, RR_MR_REGISTERING);
	c->count.registrations++;
	rr_action_enqueue(c, &m->op, RR_ACT_REGISTER);
}

void rr_mr_registered(struct rr_conn *c, struct rr_mr *m, int status, uint32_t handle,
                      uint64_t offset)
{
	RR_ASSERT(m->phase == RR_MR_REGISTERING);
	if (status)
		move_region(m, RR_MR_EV_FAIL, RR_MR_IDLE);
	else
		move_region(m, RR_MR_EV_VALIDATE, RR_MR_VALID);
	m->handle = handle;
	m->offset = offset;
	if (!status)
		rr_conn_trace(c, RR_TRACE_REGION_REGISTERED, m->xid, handle, m->len,
		              m->use);
	if (status == -ENOTCONN) /* the connection is lost; rr_conn_lost is about to be
	                          * called */
		rr_conn_fail(c, -ECONNRESET);
	m->ops->registered(c, m, status);
}

int rr_mr_withdraw(struct rr_conn *c, struct rr_mr *m)
{
	RR_MACHINE_EVENT(rr_mr_machine, m->phase, RR_MR_EV_WITHDRAW);
	if (m->phase == RR_MR_REGISTERING && rr_action_cancel(&m->op)) {
		move_region(m, RR_MR_EV_WITHDRAW, RR_MR_IDLE);
		return -1;
	}
	if (m->phase != RR_MR_VALID)
		return 0;
	move_region(m, RR_MR_EV_WITHDRAW, RR_MR_INVALIDATING);
	if (rr_conn_live(c)) {
		c->count.local_invalidations++;
		rr_action_enqueue(c, &m->op, RR_ACT_INVALIDATE);
	}
	return 1;
}

void rr_mr_invalidated(struct rr_conn *c, struct rr_mr *m, int status)
{
	/* -EINVAL means that the region no longer exists, because the peer invalidated
	 * it first.  After any other failure the peer may still have access, and only
	 * closing the connection can end the access and the call. [v2 §7.4] */
	if (status && status != -EINVAL) {
		rr_conn_fail(c, status);
		return;
	}
	rr_conn_trace(c, RR_TRACE_REGION_INVALIDATED, m->xid, m->handle, 0, 0);
	move_region(m, RR_MR_EV_INVALIDATE, RR_MR_IDLE);
	m->ops->invalidated(c, m);
}

bool rr_mr_take_remote(struct rr_conn *c, struct rr_mr *m)
{
	if (m->phase != RR_MR_VALID)
		return false;
	move_region(m, RR_MR_EV_REMOTE, RR_MR_IDLE);
	c->count.remote_invalidations++;
	rr_conn_trace(c, RR_TRACE_REGION_INVALIDATED, m->xid, m->handle, 1, 0);
	return true;
}

/* -- segments -------------------------------------------------------------- */

static size_t max_segment_bytes(const struct rr_conn *c)
{
	return RR_MAX(c->props.segment_bytes, 1u);
}

size_t rr_mr_count_segments(const struct rr_conn *c, size_t len)
{
	size_t most = max_segment_bytes(c);

	return len / most + (len % most != 0);
}

struct rr_segment rr_mr_segment(const struct rr_conn *c, const struct rr_mr *m,
                                size_t at)
{
	return (struct rr_segment){
	        .handle = m->handle,
	        .length = (uint32_t)RR_MIN(max_segment_bytes(c), m->len - at),
	        .offset = m->offset + at,
	};
}

void rr_mr_list_read(const struct rr_conn *c, const struct rr_mr *m, struct rr_lists *l)
{
	for (size_t at = 0; at < m->len;) {
		struct rr_segment g = rr_mr_segment(c, m, at);
		int err = rr_lists_add_read(l, m->position, &g);

		RR_ASSERT(!err);
		at += g.length;
	}
}
