/* SPDX-License-Identifier: BSD-3-Clause */
#include "prov/verbs/self_test_pair.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_GIDS = 64, PSN = 0x1234 };

static rr_time read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return RR_SEC(ts.tv_sec) + (rr_time)ts.tv_nsec;
}

/* Returns the error of a function that returned NULL, perhaps without setting errno. */
static int get_null_error(void)
{
	return errno > 0 ? -errno : -EIO;
}

/* -- the device --------------------------------------------------------------- */

static int find_active_port(struct rr_test_pair *t)
{
	struct ibv_device_attr dev;

	memset(&dev, 0, sizeof(dev));
	if (t->lib->ibv_query_device(t->ctx, &dev))
		return -EIO;
	for (unsigned p = 1; p <= dev.phys_port_cnt; p++) {
		if (!rr_rdma_query_port(t->lib, t->ctx, (uint8_t)p, &t->attr) &&
		    t->attr.state == IBV_PORT_ACTIVE) {
			t->port = (uint8_t)p;
			return 0;
		}
	}
	return -EAGAIN;
}

/* Registers part of the page without remote access, which only windows grant. */
static struct ibv_mr *register_part(struct rr_test_pair *t, size_t at, size_t len)
{
	return t->lib->ibv_reg_mr(t->pd, t->mem + at, len,
	                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
}

int rr_test_pair_init(struct rr_test_pair *t, const struct rr_rdma_lib *lib,
                      struct ibv_device *dev, rr_time within)
{
	int err;

	*t = (struct rr_test_pair){.lib = lib, .deadline = read_clock() + within};
	t->ctx = lib->ibv_open_device(dev);
	if (!t->ctx)
		return get_null_error();
	err = find_active_port(t);
	if (err)
		return err;
	t->mem = aligned_alloc(TEST_BYTES, TEST_BYTES);
	if (!t->mem)
		return -ENOMEM;
	memset(t->mem, 0, TEST_BYTES);
	t->pd = lib->ibv_alloc_pd(t->ctx);
	if (!t->pd)
		return get_null_error();
	t->mr = register_part(t, 0, TEST_BYTES);
	t->tight = t->mr ? register_part(t, TEST_TARGET, TEST_LEN) : NULL;
	if (!t->tight)
		return get_null_error();
	t->channel = lib->ibv_create_comp_channel(t->ctx);
	if (!t->channel)
		return get_null_error();
	t->cq = lib->ibv_create_cq(t->ctx, 16, NULL, t->channel, 0);
	return t->cq ? 0 : get_null_error();
}

/* Ignores errors.  An object that cannot be freed stays allocated. */
void rr_test_pair_fini(struct rr_test_pair *t)
{
	rr_test_pair_disconnect(t);
	if (t->cq)
		(void)t->lib->ibv_destroy_cq(t->cq);
	if (t->channel)
		(void)t->lib->ibv_destroy_comp_channel(t->channel);
	if (t->tight)
		(void)t->lib->ibv_dereg_mr(t->tight);
	if (t->mr)
		(void)t->lib->ibv_dereg_mr(t->mr);
	if (t->pd)
		(void)t->lib->ibv_dealloc_pd(t->pd);
	if (t->ctx)
		(void)t->lib->ibv_close_device(t->ctx);
	free(t->mem);
}

/* -- addresses ------------------------------------------------------------------ */

/* Returns the rank of a GID: 0 for an IPv4 address, 1 for other addresses, 2 for a
 * link-local address, which may still be tentative, or 3 for an unset entry. */
static unsigned rank_gid(const union ibv_gid *g)
{
	static const uint8_t zero[16], v4[12] = {[10] = 0xff, [11] = 0xff};

	if (!memcmp(g->raw, zero, sizeof(zero)))
		return 3;
	if (!memcmp(g->raw, v4, sizeof(v4)))
		return 0;
	return g->raw[0] == 0xfe && (g->raw[1] & 0xc0) == 0x80 ? 2 : 1;
}

int rr_test_pair_next_gid(const struct rr_test_pair *t, unsigned *state, unsigned *ret)
{
	unsigned n = RR_MIN((unsigned)t->attr.gid_tbl_len, (unsigned)MAX_GIDS);
	union ibv_gid g;

	if (t->attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		n = RR_MIN(n, 1u); /* InfiniBand connects by LID */
	for (; *state < 3 * MAX_GIDS; (*state)++) {
		unsigned i = *state % MAX_GIDS;

		if (i < n && !t->lib->ibv_query_gid(t->ctx, t->port, (int)i, &g) &&
		    rank_gid(&g) == *state / MAX_GIDS) {
			(*state)++;
			*ret = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* -- the pair ------------------------------------------------------------------- */

static int move_to_init(struct rr_test_pair *t, struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
	        .qp_state = IBV_QPS_INIT,
	        .port_num = t->port,
	        .qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
	                           IBV_ACCESS_REMOTE_READ,
	};

	return -t->lib->ibv_modify_qp(qp, &a,
	                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	                                      IBV_QP_ACCESS_FLAGS);
}

static int move_to_rtr(struct rr_test_pair *t, struct ibv_qp *qp, uint32_t other)
{
	struct ibv_qp_attr a = {
	        .qp_state = IBV_QPS_RTR,
	        .path_mtu = t->attr.active_mtu,
	        .dest_qp_num = other,
	        .rq_psn = PSN,
	        .max_dest_rd_atomic = 1,
	        .min_rnr_timer = 12,
	        .ah_attr = {.dlid = t->attr.lid, .port_num = t->port},
	};
	union ibv_gid g;

	if (t->attr.link_layer == IBV_LINK_LAYER_ETHERNET) {
		if (t->lib->ibv_query_gid(t->ctx, t->port, (int)t->gid, &g))
			return -EIO;
		a.ah_attr.is_global = 1;
		a.ah_attr.grh.dgid = g;
		a.ah_attr.grh.sgid_index = (uint8_t)t->gid;
		a.ah_attr.grh.hop_limit = 64;
	}
	return -t->lib->ibv_modify_qp(qp, &a,
	                              IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
	                                      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	                                      IBV_QP_MAX_DEST_RD_ATOMIC |
	                                      IBV_QP_MIN_RNR_TIMER);
}

static int move_to_rts(struct rr_test_pair *t, struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
	        .qp_state = IBV_QPS_RTS,
	        .timeout = 14, /* 67 ms */
	        .retry_cnt = 7,
	        .sq_psn = PSN,
	        .max_rd_atomic = 1,
	};

	return -t->lib->ibv_modify_qp(qp, &a,
	                              IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
	                                      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	                                      IBV_QP_MAX_QP_RD_ATOMIC);
}

static struct ibv_qp *make_rc_qp(struct rr_test_pair *t)
{
	struct ibv_qp_init_attr a = {
	        .send_cq = t->cq,
	        .recv_cq = t->cq,
	        .cap = {.max_send_wr = 4,
	                .max_recv_wr = 4,
	                .max_send_sge = 1,
	                .max_recv_sge = 1},
	        .qp_type = IBV_QPT_RC,
	};

	return t->lib->ibv_create_qp(t->pd, &a);
}

int rr_test_pair_connect(struct rr_test_pair *t)
{
	int err;

	t->owner = make_rc_qp(t);
	t->peer = t->owner ? make_rc_qp(t) : NULL;
	if (!t->peer)
		return get_null_error();
	err = move_to_init(t, t->owner);
	err = err ? err : move_to_init(t, t->peer);
	err = err ? err : move_to_rtr(t, t->owner, t->peer->qp_num);
	err = err ? err : move_to_rtr(t, t->peer, t->owner->qp_num);
	err = err ? err : move_to_rts(t, t->owner);
	err = err ? err : move_to_rts(t, t->peer);
	if (err)
		return err;
	t->mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_2);
	return t->mw ? 0 : -EOPNOTSUPP;
}

void rr_test_pair_disconnect(struct rr_test_pair *t)
{
	struct ibv_wc wc;

	if (t->mw)
		(void)ibv_dealloc_mw(t->mw);
	if (t->peer)
		(void)t->lib->ibv_destroy_qp(t->peer);
	if (t->owner)
		(void)t->lib->ibv_destroy_qp(t->owner);
	t->mw = NULL;
	t->owner = t->peer = NULL;
	while (t->cq && ibv_poll_cq(t->cq, 1, &wc) > 0)
		; /* drops completions of the destroyed queue pairs */
}

/* -- one work request ------------------------------------------------------------- */

/* Waits for a completion.  The queue is polled again after arming, so that no
 * completion is missed. */
static int wait_completion(struct rr_test_pair *t, struct ibv_wc *ret)
{
	struct pollfd p = {.fd = t->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *ctx;

	for (;;) {
		rr_time at = read_clock();
		int n = ibv_poll_cq(t->cq, 1, ret);

		if (n)
			return n > 0 ? 0 : -EIO;
		if (at >= t->deadline)
			return -ETIMEDOUT;
		if (ibv_req_notify_cq(t->cq, 0))
			return -EIO;
		n = ibv_poll_cq(t->cq, 1, ret);
		if (n)
			return n > 0 ? 0 : -EIO;
		n = poll(&p, 1, (int)((t->deadline - at) / RR_MS(1)) + 1);
		if (n > 0 && t->lib->ibv_get_cq_event(t->channel, &cq, &ctx) == 0)
			t->lib->ibv_ack_cq_events(cq, 1);
	}
}

static int post_signaled(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	return -ibv_post_send(qp, wr, &bad);
}

int rr_test_pair_run(struct rr_test_pair *t, struct ibv_qp *qp, struct ibv_send_wr *wr,
                     struct ibv_wc *ret)
{
	int err = post_signaled(qp, wr);

	return err ? err : wait_completion(t, ret);
}

int rr_test_pair_send(struct rr_test_pair *t, struct ibv_send_wr *wr,
                      struct ibv_wc *ret_send, struct ibv_wc *ret_recv)
{
	struct ibv_sge sge = {(uintptr_t)t->mem + TEST_SINK, TEST_LEN, t->mr->lkey};
	struct ibv_recv_wr rwr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_wc wc;
	bool sent = false, received = false;
	int err;

	if (ibv_post_recv(t->owner, &rwr, &bad))
		return -EIO;
	err = post_signaled(t->peer, wr);
	while (!err && !(sent && received)) {
		err = wait_completion(t, &wc);
		if (err)
			break;
		if (wc.qp_num == t->owner->qp_num) {
			*ret_recv = wc;
			received = true;
		} else {
			*ret_send = wc;
			sent = true;
		}
	}
	return err;
}
