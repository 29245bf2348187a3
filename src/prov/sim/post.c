/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts: checks, queues, and the single completion of each post.
 *
 * Each post is in end->posted until it completes.  The list is in the order of posting,
 * which is also the order of flushing.  Sends, Writes, Reads and Invalidates are kept
 * in end->held until flush; a Receive is available to the peer at once.
 */
#include "prov/sim/sim_internal.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x100000001b3u;
	return h ^ h >> 29;
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return w;
}

/* Uses two sums, which the processor can compute in parallel: tests with many seeds
 * spend much of their time here. */
static uint64_t hash_octets(uint64_t h, const uint8_t *p, uint32_t len)
{
	uint64_t other = h + 1;
	uint32_t k = 0;

	for (; k + 16 <= len; k += 16) {
		h = mix_word(h, word_at(p + k));
		other = mix_word(other, word_at(p + k + 8));
	}
	h = mix_word(h, other);
	if (k + 8 <= len) {
		h = mix_word(h, word_at(p + k));
		k += 8;
	}
	for (; k < len; k++)
		h = mix_word(h, p[k]);
	return h;
}

uint64_t sim_hash(const struct rr_sge *sge, unsigned n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (unsigned i = 0; i < n; i++)
		h = hash_octets(h, sge[i].base, sge[i].len);
	return h;
}

static bool post_fails(struct rr_sim_world *w)
{
	uint64_t n = ++w->posts;

	return w->opt.fail_post &&
	       (n == w->opt.fail_post || (w->opt.fail_on && n > w->opt.fail_post));
}

static int add_sge(struct sim_op *op, const struct rr_sge *sge, unsigned n)
{
	uint64_t len = 0;

	for (unsigned i = 0; i < n; i++) {
		if (sge[i].len && !sge[i].base && op->kind != RR_WC_RECV)
			return -EINVAL;
		op->sge[i] = sge[i];
		len += sge[i].len;
	}
	if (len > UINT32_MAX)
		return -EMSGSIZE;
	op->n_sge = n;
	op->len = (uint32_t)len;
	return 0;
}

/* Makes an op and adds it to the endpoint's list of posts.  Returns 0 or the error with
 * which the post fails. */
static int op_new(struct sim_end *e, enum rr_wc_op kind, const struct rr_sge *sge,
                  unsigned n, uint64_t token, struct sim_op **ret)
{
	struct sim_op *op;
	int err;

	if (n > RR_PROV_MAX_SGE)
		return -EINVAL;
	if (post_fails(sim_world(e)))
		return -ENOMEM;
	op = sim_alloc(sizeof(*op));
	op->end = e;
	op->kind = kind;
	op->token = token;
	rr_list_init(&op->txlink);
	err = add_sge(op, sge, n);
	if (err) {
		free(op);
		return err;
	}
	op->refs = 1;
	rr_list_push(&e->posted, &op->link);
	*ret = op;
	return 0;
}

static bool queue_full(struct sim_end *e)
{
	const struct rr_sim_options *o = &e->conn->opt;

	if (e->sq_used >= (o->max_send ? o->max_send : 4096))
		return true;
	return o->full_one_in && e->sq_used &&
	       rr_rng_below(&sim_world(e)->rng, o->full_one_in) == 0;
}

static int check_open(struct sim_end *e)
{
	if (e->state != SIM_OPEN)
		return -ENOTCONN;
	return queue_full(e) ? -ENOBUFS : 0;
}

static void hold_post_back(struct sim_op *op)
{
	struct sim_end *e = op->end;

	rr_list_push(&e->held, &op->txlink);
	e->sq_used++;
	if (e->conn->opt.check_lent && op->kind != RR_WC_READ)
		op->hash = sim_hash(op->sge, op->n_sge);
}

static void scribble_target(const struct sim_op *op)
{
	if (op->end->conn->opt.scribble && op->len && op->sge[0].base)
		memset(op->sge[0].base, 0xa5, op->len);
}

int sim_post_recv(struct rr_ep *ep, const struct rr_sge *sge, uint64_t token)
{
	struct sim_end *e = sim_end_of(ep);
	uint32_t max = e->conn->opt.max_recv ? e->conn->opt.max_recv : 4096;
	struct sim_op *op;
	int err;

	if (e->state != SIM_OPEN && e->state != SIM_SETUP)
		return -ENOTCONN;
	if (e->rq_used >= max)
		return -ENOBUFS;
	err = op_new(e, RR_WC_RECV, sge, 1, token, &op);
	if (err)
		return err;
	e->rq_used++;
	e->n_recvs++;
	rr_list_push(&e->recvs, &op->txlink);
	scribble_target(op);
	return 0;
}

int sim_post_send(struct rr_ep *ep, const struct rr_sge *sge, unsigned n,
                  uint32_t inv_handle, uint64_t token)
{
	struct sim_end *e = sim_end_of(ep);
	struct sim_op *op;
	int err = check_open(e);

	if (!err && inv_handle && e->conn->opt.no_remote_invalidate)
		err = -EOPNOTSUPP;
	if (!err)
		err = op_new(e, RR_WC_SEND, sge, n, token, &op);
	if (err)
		return err;
	op->handle = inv_handle;
	hold_post_back(op);
	return 0;
}

static int post_one_sided(struct sim_end *e, enum rr_wc_op kind,
                          const struct rr_sge *sge, unsigned n, uint32_t handle,
                          uint64_t offset, uint64_t token)
{
	uint32_t max = e->conn->opt.max_msg ? e->conn->opt.max_msg : 1u << 30;
	uint64_t len = 0;
	struct sim_op *op;
	int err = check_open(e);

	if (err)
		return err;
	for (unsigned i = 0; i < n && n <= RR_PROV_MAX_SGE; i++)
		len += sge[i].len;
	if (len > max)
		return -EMSGSIZE;
	err = op_new(e, kind, sge, n, token, &op);
	if (err)
		return err;
	op->handle = handle;
	op->offset = offset;
	hold_post_back(op);
	if (kind == RR_WC_READ)
		scribble_target(op);
	return 0;
}

int sim_post_write(struct rr_ep *ep, const struct rr_sge *sge, unsigned n,
                   uint32_t handle, uint64_t offset, uint64_t token)
{
	return post_one_sided(sim_end_of(ep), RR_WC_WRITE, sge, n, handle, offset,
	                      token);
}

int sim_post_read(struct rr_ep *ep, const struct rr_sge *sge, uint32_t handle,
                  uint64_t offset, uint64_t token)
{
	return post_one_sided(sim_end_of(ep), RR_WC_READ, sge, 1, handle, offset,
	                      token);
}

int sim_invalidate(struct rr_ep *ep, uint32_t handle, uint64_t token)
{
	struct sim_end *e = sim_end_of(ep);
	struct sim_op *op;
	int err;

	if (e->state != SIM_OPEN)
		return -ENOTCONN;
	if (!handle || !sim_region_find(e, handle))
		return -EINVAL;
	err = op_new(e, RR_WC_INVALIDATE, NULL, 0, token, &op);
	if (err)
		return err;
	op->handle = handle;
	rr_list_push(&e->held, &op->txlink);
	return 0;
}

void sim_flush_held(struct sim_end *e)
{
	struct rr_list *l;

	while ((l = rr_list_pop(&e->held))) {
		struct sim_op *op = rr_container_of(l, struct sim_op, txlink);

		if (op->kind == RR_WC_INVALIDATE)
			sim_inv_start(op);
		else
			rr_list_push(&e->txq, &op->txlink);
	}
	sim_transmit(e);
}

int sim_flush(struct rr_ep *ep, rr_time now)
{
	struct sim_end *e = sim_end_of(ep);

	rr_sim_run_until(sim_world(e), now);
	if (e->state == SIM_ENDED)
		return -ENOTCONN;
	if (e->state == SIM_OPEN)
		sim_flush_held(e);
	return 0;
}

void sim_op_put(struct sim_op *op)
{
	if (--op->refs)
		return;
	if (op->recv)
		sim_op_put(op->recv);
	free(op->copy);
	free(op);
}

static void check_lent(struct sim_op *op)
{
	struct sim_end *e = op->end;

	if (!e->conn->opt.check_lent ||
	    (op->kind != RR_WC_SEND && op->kind != RR_WC_WRITE))
		return;
	if (sim_hash(op->sge, op->n_sge) != op->hash)
		sim_world(e)->lent_changed++;
}

void sim_op_complete(struct sim_op *op, int status)
{
	bool sq = op->kind == RR_WC_SEND || op->kind == RR_WC_WRITE ||
	          op->kind == RR_WC_READ;
	struct rr_wc wc = {.op = op->kind, .status = status, .token = op->token};

	check_lent(op);
	if (op->kind == RR_WC_RECV && !status) {
		wc.len = op->got;
		wc.inv_handle = op->handle;
		wc.invalidated = op->handle != 0;
	}
	if (status)
		op->dead = true;
	rr_list_del(&op->link);
	if (op->kind == RR_WC_RECV && !rr_list_empty(&op->txlink))
		op->end->n_recvs--; /* flushed: no Send has used the Receive */
	rr_list_del(&op->txlink);
	sim_push(op->end, &wc, sq, op->kind == RR_WC_RECV);
	sim_op_put(op);
}
