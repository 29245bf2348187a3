/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pull completion notifications that the Requester owes.     [ext §3.5, §3.6, §3.7]
 *
 * A notification waits up to done_delay for a Call that can carry it in an
 * RDMA2_MSG_DONE; then it is sent as an RDMA2_DONE.  All wait equally long, so the queue
 * is in the order in which they fall due.  An RDMA2_MSG_DONE may be refused before its
 * list is processed.  So its notifications stay with the Call until the Call ends.  If
 * there was no Reply, each is repeated in an RDMA2_DONE, before any other.
 *
 * After a peer has refused RDMA2_DONE as an unknown type, no further one is sent.
 * Notifications that no Call carries are then dropped, and the peer's exposures end
 * with their lifetime.
 *
 * A notification may invalidate the memory that was read.  If the peer may already have
 * invalidated that memory, the notification does not, because a second invalidation can
 * end the connection.
 */
#include "conn/core.h"

static struct rr_notice *first_notice(const struct rr_conn *c)
{
	struct rr_list *n = rr_list_first(&c->rprc.notices);

	return n ? rr_container_of(n, struct rr_notice, link) : NULL;
}

/* Returns how long a new notification may wait for a Call. */
static rr_time carry_delay(const struct rr_conn *c)
{
	rr_time half = RR_MS((rr_time)c->rprc.lifetime_ms) / 2;

	if (!c->rprc.carries)
		return 0;
	return half ? RR_MIN(c->cfg.features.done_delay, half)
	            : c->cfg.features.done_delay;
}

/* Returns a new notification that is due at once, or NULL. */
static struct rr_notice *new_notice(struct rr_conn *c, uint32_t xid)
{
	struct rr_notice *n = NULL;

	if (!rr_conn_live(c))
		return NULL;
	if (c->rprc.n_notices < RR_MAX_NOTICES)
		n = rr_slab_get(&c->rprc.notice_slab);
	if (!n) {
		rr_conn_fail(c, -EPROTO); /* the peer makes us owe more than it lets us
		                           * send */
		return NULL;
	}
	*n = (struct rr_notice){.xid = xid, .due = c->now};
	c->rprc.n_notices++;
	rr_feature_begin(c, RR_FEATURE_RPRC);
	return n;
}

void rr_notice_queue(struct rr_conn *c, uint32_t xid, const struct rr_reply_pull *pull)
{
	struct rr_notice *n = new_notice(c, xid);

	if (!n)
		return;
	n->due += carry_delay(c);
	if (pull) {
		n->inv_handle = pull->inv_handle;
		n->inv_until = rr_rprc_exposed_until(c, pull->received);
	}
	rr_list_push(&c->rprc.notices, &n->link);
}

static void repeat_notice(struct rr_conn *c, uint32_t xid)
{
	struct rr_notice *n = new_notice(c, xid);

	if (n)
		rr_list_push_front(&c->rprc.notices, &n->link);
}

static void free_notice(struct rr_conn *c, struct rr_notice *n)
{
	rr_list_del(&n->link);
	c->rprc.n_notices--;
	rr_slab_put(&c->rprc.notice_slab, n);
}

static uint32_t usable_inv(const struct rr_conn *c, const struct rr_notice *n)
{
	return c->now < n->inv_until ? n->inv_handle : 0;
}

static void drop_due_notices(struct rr_conn *c)
{
	struct rr_notice *n;

	while ((n = first_notice(c)) && c->now >= n->due)
		free_notice(c, n);
}

bool rr_notice_refused(struct rr_conn *c, uint32_t xid)
{
	struct rr_rprc *r = &c->rprc;
	unsigned n = RR_MIN(r->n_done_xids, (unsigned)RR_DONE_XIDS);

	for (unsigned i = 0; i < n; i++) {
		if (r->done_xids[i] != xid)
			continue;
		r->mute = true;
		return true;
	}
	return false;
}

bool rr_notice_transmit(struct rr_conn *c)
{
	struct rr_notice *n = first_notice(c);
	struct rr_prefix p = {.vers = RPCRDMA_VERSION_TWO, .htype = RDMA2_DONE};
	struct rr_writer w;
	struct rr_xmit *x;

	if (c->rprc.mute)
		drop_due_notices(c);
	if (c->rprc.mute || c->now < n->due)
		return false;
	p.xid = n->xid;
	x = rr_xmit_begin(c, &p, 0, &w);
	if (!x) {
		rr_conn_fail(c, -ENOMEM);
		return true;
	}
	rr_xmit_header(x, &w);
	x->inv_handle = usable_inv(c, n);
	c->rprc.done_xids[c->rprc.n_done_xids++ % RR_DONE_XIDS] = n->xid;
	free_notice(c, n);
	c->count.done_sent++;
	rr_xmit_send(c, x);
	return true;
}

rr_time rr_notice_deadline(const struct rr_conn *c)
{
	struct rr_notice *n = first_notice(c);

	/* A notification that is due waits for an event, not for a time. */
	return n && n->due > c->now ? n->due : RR_TIME_NEVER;
}

/* -- XIDs ------------------------------------------------------------------ */

static bool carries_xid(const struct rr_carried *k, uint32_t xid)
{
	for (uint32_t i = 0; i < k->list.count; i++)
		if (k->list.xid[i] == xid)
			return true;
	return false;
}

bool rr_notice_owed(const struct rr_conn *c, uint32_t xid)
{
	struct rr_list *n;

	rr_list_for_each (n, &c->rprc.notices)
		if (rr_container_of(n, struct rr_notice, link)->xid == xid)
			return true;
	rr_list_for_each (n, &c->rprc.carried)
		if (carries_xid(rr_container_of(n, struct rr_carried, link), xid))
			return true;
	return rr_reply_pull_busy(c, xid);
}

/* -- RDMA2_MSG_DONE -------------------------------------------------------- */

/* Returns how many of the waiting notifications may be carried in @space octets, of
 * which the list's count takes four. */
static uint32_t carry_count(const struct rr_conn *c, size_t space)
{
	size_t fit = space >= 8 ? space / 4 - 1 : 0;

	return (uint32_t)RR_MIN(RR_MIN(fit, (size_t)RDMA2_MSG_DONE_MAX),
	                        (size_t)c->rprc.n_notices);
}

const struct rr_wire_done_list *rr_notice_carry(struct rr_conn *c,
                                                struct rr_call_state *s, size_t space,
                                                uint32_t *ret_inv)
{
	uint32_t count = c->rprc.carries ? carry_count(c, space) : 0;
	struct rr_carried *k = count ? rr_slab_get(&c->rprc.carried_slab) : NULL;

	if (!k)
		return NULL;
	*ret_inv = 0;
	k->list.count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct rr_notice *n = first_notice(c);

		k->list.xid[i] = n->xid;
		if (!*ret_inv)
			*ret_inv = usable_inv(c, n);
		free_notice(c, n);
	}
	rr_list_push(&c->rprc.carried, &k->link);
	s->carried = k;
	return &k->list;
}

void rr_notice_carried(struct rr_conn *c, struct rr_call_state *s, bool processed)
{
	struct rr_carried *k = s->carried;

	if (!k)
		return;
	s->carried = NULL;
	rr_list_del(&k->link);
	for (uint32_t i = k->list.count; !processed && i--;)
		repeat_notice(c, k->list.xid[i]);
	rr_slab_put(&c->rprc.carried_slab, k);
}

void rr_notice_lost(struct rr_conn *c)
{
	struct rr_notice *n;

	while ((n = first_notice(c)))
		free_notice(c, n);
}
