/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the peer may access.
 *
 * With windows: rr_vb_register takes a free window, increments its key and posts a bind
 * request, which the device executes before any later Send.  If the device enforces
 * window bounds, the window covers part of a lasting block.  Otherwise it covers a
 * registration of exactly the region.  Neither registration gives the peer any rights.
 * The peer's Send With Invalidate or a local invalidation closes the window.  The local
 * invalidation is not posted if the completion queue shows that the peer has already
 * invalidated the window.  If the peer's Send arrives during or after our invalidation,
 * the connection ends.  Closed windows are appended to a queue, so that a key is not
 * used again soon.
 *
 * Without windows: a region is a registration with exactly the requested rights, and is
 * invalidated by deregistration, before rr_vb_invalidate returns.
 *
 * Invariant: every region in the table is open or closing, and a handle from the peer
 * is valid only if it is in the table.
 */
#include <stdlib.h>

#include "prov/verbs/vb_internal.h"

static struct rr_vb_region **find_region_bucket(const struct rr_vb_regions *t,
                                                uint32_t handle)
{
	return &t->bucket[(handle * 2654435761u >> 7) & (t->buckets - 1)];
}

static int grow_buckets(struct rr_vb_regions *t)
{
	struct rr_vb_regions n = *t;

	n.buckets = t->buckets ? t->buckets * 2 : 16;
	n.bucket = calloc(n.buckets, sizeof(struct rr_vb_region *));
	if (!n.bucket)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->buckets; i++)
		for (struct rr_vb_region *r = t->bucket[i], *next; r; r = next) {
			struct rr_vb_region **to = find_region_bucket(&n, r->handle);

			next = r->next;
			r->next = *to;
			*to = r;
		}
	free(t->bucket);
	*t = n;
	return 0;
}

static void insert_region(struct rr_vb_regions *t, struct rr_vb_region *r)
{
	struct rr_vb_region **to = find_region_bucket(t, r->handle);

	r->next = *to;
	*to = r;
	t->used++;
}

static void remove_region(struct rr_vb_regions *t, struct rr_vb_region *r)
{
	struct rr_vb_region **at = find_region_bucket(t, r->handle);

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	t->used--;
}

static struct rr_vb_region *find_region(const struct rr_vb_regions *t, uint32_t handle)
{
	struct rr_vb_region *r = t->buckets ? *find_region_bucket(t, handle) : NULL;

	while (r && r->handle != handle)
		r = r->next;
	return r;
}

static void queue_free_region(struct rr_vb_regions *t, struct rr_vb_region *r)
{
	r->state = RR_VB_FREE;
	r->next = NULL;
	if (t->free_last)
		t->free_last->next = r;
	else
		t->free_first = r;
	t->free_last = r;
	t->free_count++;
}

/* Takes a free region.  If there are too few free windows, creates a region. */
static struct rr_vb_region *take_region(struct rr_vb_ep *ep)
{
	struct rr_vb_regions *t = &ep->regions;
	struct rr_vb_region *r = t->free_first;

	if (r && (!ep->windows || t->free_count >= RR_VB_ROTATE)) {
		t->free_first = r->next;
		if (!r->next)
			t->free_last = NULL;
		t->free_count--;
		return r;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	if (ep->windows) {
		ep->base.count.syscalls++;
		r->mw = ibv_alloc_mw(ep->pd, IBV_MW_TYPE_2);
		if (!r->mw) {
			free(r);
			return NULL;
		}
		r->handle = r->mw->rkey;
	}
	r->all = t->all;
	t->all = r;
	return r;
}

int rr_vb_rights(unsigned access)
{
	return (access & RR_ACCESS_REMOTE_READ ? IBV_ACCESS_REMOTE_READ : 0) |
	       (access & RR_ACCESS_REMOTE_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0);
}

static int open_window(struct rr_vb_ep *ep, struct rr_vb_region *r)
{
	struct rr_vb_op *op;

	if (rr_ring_reserve(&ep->wait, ep->wait.count + 1) ||
	    rr_ring_reserve(&ep->sent, ep->sent.count + ep->wait.count + 1))
		return -ENOMEM;
	r->mr = ep->dev->caps.window_bounds ? rr_vb_block_mr(ep, r->base, r->len)
	                                    : NULL;
	r->own_mr = !r->mr;
	if (r->own_mr)
		r->mr = rr_vb_reg(ep, r->base, r->len,
		                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	if (!r->mr)
		return rr_vb_error(-1);
	do {
		r->handle = ibv_inc_rkey(r->handle);
	} while (!r->handle);
	op = rr_ring_push(&ep->wait);
	*op = (struct rr_vb_op){.kind = RR_VB_BIND, .region = r};
	return 0;
}

static int open_mr(struct rr_vb_ep *ep, struct rr_vb_region *r)
{
	int access = rr_vb_rights(r->access);

	if (access & IBV_ACCESS_REMOTE_WRITE)
		access |= IBV_ACCESS_LOCAL_WRITE;
	r->mr = rr_vb_reg(ep, r->base, r->len, access);
	if (!r->mr)
		return rr_vb_error(-1);
	r->own_mr = true;
	r->handle = r->mr->rkey;
	return 0;
}

int rr_vb_register(struct rr_ep *base, void *mem, size_t len, unsigned access,
                   struct rr_region *ret)
{
	struct rr_vb_ep *ep = rr_vb_of(base);
	struct rr_vb_region *r;
	int rc;

	if (access & ~(unsigned)(RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE) ||
	    !len)
		return -EINVAL;
	if (ep->state != RR_VB_READY)
		return -ENOTCONN;
	if (ep->regions.used >= ep->regions.buckets && grow_buckets(&ep->regions))
		return -ENOMEM;
	r = take_region(ep);
	if (!r)
		return -ENOMEM;
	r->base = mem;
	r->len = len;
	r->access = access;
	rc = ep->windows ? open_window(ep, r) : open_mr(ep, r);
	if (rc) {
		queue_free_region(&ep->regions, r);
		return rc;
	}
	r->state = RR_VB_OPEN;
	insert_region(&ep->regions, r);
	ret->handle = r->handle;
	ret->offset = (uintptr_t)mem;
	ret->irrevocable = !r->mw;
	ep->base.count.registrations++;
	rr_trace(ep->base.trace, RR_TRACE_REGION_REGISTERED, ep->base.conn_id, 0,
	         r->handle, len, access);
	return 0;
}

/* Frees a region that the peer can no longer access. */
static void close_region(struct rr_vb_ep *ep, struct rr_vb_region *r, bool remote)
{
	remove_region(&ep->regions, r);
	if (r->own_mr)
		rr_vb_dereg(ep, r->mr);
	r->mr = NULL;
	r->own_mr = false;
	rr_trace(ep->base.trace, RR_TRACE_REGION_INVALIDATED, ep->base.conn_id, 0,
	         r->handle, remote, 0);
	queue_free_region(&ep->regions, r);
}

int rr_vb_invalidate(struct rr_ep *base, uint32_t handle, uint64_t token)
{
	struct rr_vb_ep *ep = rr_vb_of(base);
	struct rr_vb_region *r;
	struct rr_vb_op *op;

	if (!rr_vb_is(ep, RR_VB_BIT(READY)))
		return -ENOTCONN;
	r = find_region(&ep->regions, handle);
	if (!r || r->state != RR_VB_OPEN)
		return -EINVAL;
	if (ep->posted + ep->base.out.count >= 4 * RR_VB_MAX_SEND)
		return -ENOBUFS;
	if (rr_vb_reserve(ep, 1))
		return -ENOMEM;
	if (!r->mw) {
		ep->base.count.local_invalidations++;
		close_region(ep, r, false);
		rr_ep_complete(&ep->base, RR_WC_INVALIDATE, token, 0);
		return 0;
	}
	if (rr_ring_reserve(&ep->wait, ep->wait.count + 1) ||
	    rr_ring_reserve(&ep->sent, ep->sent.count + ep->wait.count + 1))
		return -ENOMEM;
	ep->base.count.local_invalidations++;
	r->state = RR_VB_CLOSING;
	op = rr_ring_push(&ep->wait);
	*op = (struct rr_vb_op){.kind = RR_VB_UNBIND, .token = token, .region = r};
	ep->posted++;
	return 0;
}

bool rr_vb_region_closed_by_peer(struct rr_vb_ep *ep, uint32_t handle)
{
	struct rr_vb_region *r = find_region(&ep->regions, handle);

	if (!r || !r->mw)
		return false;
	if (r->state != RR_VB_OPEN) {
		r->state = RR_VB_CLOSED; /* the pending UNBIND will close the region */
		return false;
	}
	ep->base.count.remote_invalidations++;
	close_region(ep, r, true);
	return true;
}

void rr_vb_region_closed(struct rr_vb_ep *ep, struct rr_vb_region *r)
{
	close_region(ep, r, false);
}

void rr_vb_windows_fini(struct rr_vb_ep *ep)
{
	for (struct rr_vb_region *r = ep->regions.all; r; r = r->all) {
		if (r->mw) /* ibv_dealloc_mw fails only if the device was removed */
			(void)ibv_dealloc_mw(r->mw);
		r->mw = NULL;
	}
}

void rr_vb_regions_fini(struct rr_vb_ep *ep)
{
	struct rr_vb_regions *t = &ep->regions;

	for (struct rr_vb_region *r = t->all, *next; r; r = next) {
		next = r->all;
		if (r->own_mr)
			rr_vb_dereg(ep, r->mr);
		free(r);
	}
	free(t->bucket);
	*t = (struct rr_vb_regions){0};
}
