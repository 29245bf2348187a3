/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Issues posts as work requests.
 *
 * Normal path: a post waits in ep->wait until flush.  Then each post is added to a
 * chain as one work request, or as several for a Write with many pieces.  The chain is
 * posted to the device in one call.  Posts that exceed the device's queue wait for
 * completions.  The last request of a chain is signaled.  All Reads are signaled, too,
 * because their data sinks may have to be deregistered.  A completion also covers the
 * unsignaled requests before it (wc.c).  On iWARP devices all requests are signaled:
 * siw sends the octets of an unsignaled request in place, and reports the request as
 * done before TCP has sent them.
 *
 * A small Send or Write is copied into the work request itself.  Otherwise, each piece
 * is in a lasting block, in the bounce ring, or in memory registered for this
 * operation.
 *
 * Failure: if memory cannot be allocated or registered, the connection ends with a
 * reason, because the post was already accepted.  If the device refuses work, the
 * connection is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "prov/verbs/vb_internal.h"

static void post_chain(struct rr_vb_ep *ep)
{
	struct rr_vb_chain *c = &ep->chain;
	struct ibv_send_wr *bad;
	int rc;

	if (!c->n)
		return;
	if (c->last_sent >= 0)
		c->wr[c->last_sent].send_flags |= IBV_SEND_SIGNALED;
	ep->base.count.syscalls++;
	rc = ibv_post_send(ep->qp, c->wr, &bad);
	if (rc) { /* the queue pair is in error, or the device was removed */
		ep->flushed = ep->unsent = true;
		rr_vb_qp_error(ep);
	}
	for (unsigned i = 0; i < c->n; i++)
		if (c->wr[i].opcode == IBV_WR_BIND_MW)
			c->wr[i].bind_mw.mw->rkey = c->wr[i].bind_mw.rkey;
	c->n = c->n_sge = 0;
	c->last_sent = -1;
}

/* Adds a work request to the chain, with space for the maximum number of pieces. */
static struct ibv_send_wr *add_chain_wr(struct rr_vb_ep *ep, struct rr_vb_op *op,
                                        enum ibv_wr_opcode opcode)
{
	struct rr_vb_chain *c = &ep->chain;
	bool read = op->kind == RR_VB_READ;
	struct ibv_send_wr *wr;

	if (c->n == RR_VB_CHAIN || c->n_sge + ep->max_sge > RR_ARRAY_SIZE(c->sge))
		post_chain(ep);
	wr = &c->wr[c->n];
	memset(wr, 0, sizeof(*wr));
	if (c->n)
		c->wr[c->n - 1].next = wr;
	op->last = ++ep->seq;
	op->wrs++;
	ep->in_device++;
	wr->wr_id = RR_VB_WR_ID(ep->seq, read ? RR_VB_Q_READ : RR_VB_Q_SENT);
	wr->opcode = opcode;
	wr->send_flags = read || ep->dev->caps.iwarp ? IBV_SEND_SIGNALED : 0;
	wr->sg_list = &c->sge[c->n_sge];
	if (!read)
		c->last_sent = (int)c->n;
	c->n++;
	return wr;
}

static void add_wr_sge(struct rr_vb_ep *ep, struct ibv_send_wr *wr, const void *p,
                       uint32_t len, uint32_t lkey)
{
	wr->sg_list[wr->num_sge++] = (struct ibv_sge){
	        .addr = (uintptr_t)p,
	        .length = len,
	        .lkey = lkey,
	};
	ep->chain.n_sge++;
}

/* ---- memory of the pieces ---- */

static struct ibv_mr *register_for_op(struct rr_vb_ep *ep, struct rr_vb_op *op,
                                      struct rr_ring *mrs, void *p, size_t len,
                                      int access)
{
	struct ibv_mr *mr;

	if (rr_ring_reserve(mrs, mrs->count + 1))
		return NULL;
	mr = rr_vb_reg(ep, p, len, access);
	if (!mr)
		return NULL;
	*(struct ibv_mr **)rr_ring_push(mrs) = mr;
	op->mrs++;
	return mr;
}

/* Makes a piece of a Send or Write readable for the device, and updates @s to describe
 * the memory that the device reads. */
static int place_piece(struct rr_vb_ep *ep, struct rr_vb_op *op, struct rr_sge *s)
{
	const struct ibv_mr *mr = rr_vb_block_mr(ep, s->base, s->len);
	uint32_t took;
	uint8_t *to;

	if (!mr && s->len <= RR_VB_SMALL) {
		to = rr_vb_bounce_get(ep, s->len, &took);
		if (to) {
			op->bounce += took;
			memcpy(to, s->base, s->len);
			s->base = to;
			mr = ep->bounce_mr;
		}
	}
	if (!mr)
		mr = register_for_op(ep, op, &ep->mrs, s->base, s->len, 0);
	if (!mr)
		return -ENOMEM;
	s->lkey = mr->lkey;
	return 0;
}

/* Copies the pieces of a Send into one piece, because there are more pieces than a work
 * request can have. */
static int copy_pieces(struct rr_vb_ep *ep, struct rr_vb_op *op, struct rr_sge *s,
                       unsigned n)
{
	uint32_t took, at = 0;
	uint8_t *to = rr_vb_bounce_get(ep, op->len, &took);
	const struct ibv_mr *mr;

	if (to)
		op->bounce += took;
	else
		to = op->copy = malloc(op->len);
	if (!to)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		memcpy(to + at, s[i].base, s[i].len);
		at += s[i].len;
	}
	mr = op->copy ? register_for_op(ep, op, &ep->mrs, to, op->len, 0)
	              : ep->bounce_mr;
	if (!mr)
		return -ENOMEM;
	s[0] = (struct rr_sge){.base = to, .len = op->len, .lkey = mr->lkey};
	return 0;
}

/* Removes empty pieces.  Returns the number of pieces that remain. */
static unsigned drop_empty(struct rr_sge *s, unsigned n)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++)
		if (s[i].len)
			s[k++] = s[i];
	return k;
}

static int place_all(struct rr_vb_ep *ep, struct rr_vb_op *op, struct rr_sge *s,
                     unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++)
		rc = place_piece(ep, op, &s[i]);
	return rc;
}

static bool may_inline(const struct rr_vb_ep *ep, const struct rr_vb_op *op, unsigned n)
{
	return n && n <= ep->max_sge && op->len <= ep->max_inline;
}

/* ---- kinds of operations ---- */

static int issue_send(struct rr_vb_ep *ep, struct rr_vb_op *op, struct rr_sge *s,
                      unsigned n)
{
	bool in_wr = may_inline(ep, op, n);
	struct ibv_send_wr *wr;
	int rc = 0;

	if (n > ep->max_sge) {
		rc = copy_pieces(ep, op, s, n);
		n = 1;
	} else if (!in_wr) {
		rc = place_all(ep, op, s, n);
	}
	if (rc)
		return rc;
	wr = add_chain_wr(ep, op, op->handle ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND);
	if (in_wr)
		wr->send_flags |= IBV_SEND_INLINE;
	if (op->handle) {
		wr->invalidate_rkey = op->handle; /* read by most drivers */
		wr->wr.rdma.rkey = op->handle;    /* read by libsiw */
	}
	for (unsigned i = 0; i < n; i++)
		add_wr_sge(ep, wr, s[i].base, s[i].len, s[i].lkey);
	return 0;
}

/* Issues a Write as one or more work requests. */
static int issue_write(struct rr_vb_ep *ep, struct rr_vb_op *op, struct rr_sge *s,
                       unsigned n)
{
	bool in_wr = may_inline(ep, op, n);
	int rc = in_wr ? 0 : place_all(ep, op, s, n);
	uint64_t at = op->offset;
	unsigned i = 0;

	if (rc)
		return rc;
	do {
		struct ibv_send_wr *wr = add_chain_wr(ep, op, IBV_WR_RDMA_WRITE);

		if (in_wr)
			wr->send_flags |= IBV_SEND_INLINE;
		wr->wr.rdma.remote_addr = at;
		wr->wr.rdma.rkey = op->handle;
		for (; i < n && (uint32_t)wr->num_sge < ep->max_sge; i++) {
			add_wr_sge(ep, wr, s[i].base, s[i].len, s[i].lkey);
			at += s[i].len;
		}
	} while (i < n);
	return 0;
}

/* Issues a Read.  An iWARP peer writes into the data sink by its key, so the sink is
 * registered for this Read only. */
static int issue_read(struct rr_vb_ep *ep, struct rr_vb_op *op, struct rr_sge *s)
{
	const struct ibv_mr *mr = NULL;
	struct ibv_send_wr *wr;
	int access = IBV_ACCESS_LOCAL_WRITE;

	if (!s->len)
		return 0; /* zero-length: not sent; completes in its turn */
	if (ep->dev->caps.iwarp)
		access |= IBV_ACCESS_REMOTE_WRITE;
	else
		mr = rr_vb_block_mr(ep, s->base, s->len);
	if (!mr)
		mr = register_for_op(ep, op, &ep->rmrs, s->base, s->len, access);
	if (!mr)
		return -ENOMEM;
	wr = add_chain_wr(ep, op, IBV_WR_RDMA_READ);
	wr->wr.rdma.remote_addr = op->offset;
	wr->wr.rdma.rkey = op->handle;
	add_wr_sge(ep, wr, s->base, s->len, mr->lkey);
	return 0;
}

static void issue_bind(struct rr_vb_ep *ep, struct rr_vb_op *op)
{
	const struct rr_vb_region *r = op->region;
	struct ibv_send_wr *wr = add_chain_wr(ep, op, IBV_WR_BIND_MW);

	wr->bind_mw.mw = r->mw;
	wr->bind_mw.rkey = r->handle;
	wr->bind_mw.bind_info = (struct ibv_mw_bind_info){
	        .mr = r->mr,
	        .addr = (uintptr_t)r->base,
	        .length = r->len,
	        .mw_access_flags = rr_vb_rights(r->access),
	};
}

/* Issues the invalidation of a window.  Does nothing if the peer has already
 * invalidated the window: invalidating a closed window makes a device end the
 * connection, or even crashes the machine (self_test.h). */
static void issue_unbind(struct rr_vb_ep *ep, struct rr_vb_op *op)
{
	struct ibv_send_wr *wr;

	rr_vb_cq_poll(ep);
	if (op->region->state == RR_VB_CLOSED || ep->flushed)
		return;
	wr = add_chain_wr(ep, op, IBV_WR_LOCAL_INV);
	wr->invalidate_rkey = op->region->handle;
}

static int issue_op(struct rr_vb_ep *ep, struct rr_vb_op *op, struct rr_sge *s)
{
	unsigned n = drop_empty(s, op->nsge);

	switch ((enum rr_vb_kind)op->kind) {
	case RR_VB_SEND:
		return issue_send(ep, op, s, n);
	case RR_VB_WRITE:
		return issue_write(ep, op, s, n);
	case RR_VB_READ:
		return issue_read(ep, op, s);
	case RR_VB_BIND:
		issue_bind(ep, op);
		return 0;
	case RR_VB_UNBIND:
		issue_unbind(ep, op);
		return 0;
	}
	RR_NEVER("kind of operation");
}

/* Returns an upper bound on the number of the operation's work requests. */
static uint32_t count_max_wrs(const struct rr_vb_ep *ep, const struct rr_vb_op *op)
{
	if (op->kind != RR_VB_WRITE)
		return 1;
	return 1 + op->nsge / ep->max_sge;
}

static void issue_first(struct rr_vb_ep *ep)
{
	struct rr_vb_op op = *(struct rr_vb_op *)rr_ring_first(&ep->wait);
	struct rr_ring *to = op.kind == RR_VB_READ ? &ep->reads : &ep->sent;
	struct rr_sge s[RR_PROV_MAX_SGE];
	int rc;

	for (unsigned i = 0; i < op.nsge; i++)
		s[i] = *(struct rr_sge *)rr_ring_at(&ep->sges, i);
	rr_ring_pop(&ep->sges, op.nsge);
	rr_ring_pop(&ep->wait, 1);
	rc = issue_op(ep, &op, s);
	if (rc && op.kind == RR_VB_READ)
		op.status = rc; /* only this Read fails, in its turn */
	else if (rc)
		op.last = UINT64_MAX; /* the operation completes only when flushed */
	if (!op.last && !to->count && !ep->flushed)
		rr_vb_op_done(ep, op, op.status); /* it has no work request */
	else
		*(struct rr_vb_op *)rr_ring_push(to) = op;
	if (op.last != UINT64_MAX)
		return;
	ep->flushed = ep->unsent = true;
	rr_ep_set_reason(
	        &ep->base, rc,
	        "memory could not be registered for the device (see ulimit -l)");
}

void rr_vb_tx_run(struct rr_vb_ep *ep)
{
	const struct rr_vb_op *op;

	if (!rr_vb_is(ep, RR_VB_BIT(READY) | RR_VB_BIT(DRAIN)))
		return;
	while (!ep->flushed && (op = rr_ring_first(&ep->wait)) &&
	       ep->in_device + count_max_wrs(ep, op) <= ep->sq_depth)
		issue_first(ep);
	post_chain(ep);
}

/* Returns the registration of a Receive's memory, or NULL on failure.  If the memory is
 * not in a lasting block, Sends will need the bounce ring.  If the ring cannot be
 * created, the Receive also fails, so that a connection that could never send is
 * refused at once. */
static struct ibv_mr *find_recv_mr(struct rr_vb_ep *ep, struct rr_vb_recv *r)
{
	struct ibv_mr *mr = rr_vb_block_mr(ep, r->sge.base, r->sge.len);

	if (mr || !rr_vb_bounce_have(ep))
		return mr;
	r->mr = rr_vb_reg(ep, r->sge.base, r->sge.len, IBV_ACCESS_LOCAL_WRITE);
	return r->mr;
}

void rr_vb_rx_run(struct rr_vb_ep *ep)
{
	while (ep->qp && !ep->flushed && ep->rq_issued < ep->rq.count &&
	       ep->rq_issued < ep->rq_depth) {
		struct rr_vb_recv *r = rr_ring_at(&ep->rq, ep->rq_issued);
		struct ibv_mr *mr = r->sge.len ? find_recv_mr(ep, r) : NULL;
		struct ibv_sge sge = {.addr = (uintptr_t)r->sge.base,
		                      .length = r->sge.len};
		struct ibv_recv_wr wr = {.wr_id = RR_VB_WR_ID(0, RR_VB_Q_RECV),
		                         .sg_list = &sge,
		                         .num_sge = r->sge.len ? 1 : 0},
		                   *bad;

		if (!mr && r->sge.len) {
			rr_ep_set_reason(&ep->base, -ENOMEM,
			                 "a Receive could not be registered "
			                 "for the device (see ulimit -l)");
			ep->flushed = true;
			return;
		}
		sge.lkey = mr ? mr->lkey : 0;
		if (ibv_post_recv(ep->qp, &wr, &bad)) {
			ep->flushed = true;
			return;
		}
		ep->rq_issued++;
	}
}
