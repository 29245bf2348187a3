/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs provider's table of operations.
 *
 * Normal path: a post is queued; flush issues the queued posts to the device in one
 * call; progress handles completions and the connection manager's events.  The
 * descriptor is an epoll instance that watches three others: the connection manager's,
 * the completion channel's, and the device's.
 *
 * Failure: each post either is refused or completes exactly once.  A connection always
 * ends through vb_end.c.
 *
 * Invariants: base.out has space for the completions of all posted operations, and for
 * CONNECTED and DISCONNECTED.  Queues grow only when an operation is posted.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "prov/verbs/removals.h"
#include "prov/verbs/vb_internal.h"
#include "prov/verbs/verbs.h"

int rr_vb_reserve(struct rr_vb_ep *ep, uint32_t n)
{
	return rr_ep_reserve(&ep->base, ep->posted + ep->rq.count + n);
}

/* ---- creation and destruction ---- */

static void init_vb_ep(struct rr_vb_ep *ep, const struct rr_prov_config *cfg,
                       rr_time now)
{
	rr_ep_common_init(&ep->base, &rr_verbs_ops, cfg, now);
	ep->epfd = -1;
	ep->handshake = ep->base.deadline - now;
	ep->loss_at = RR_TIME_NEVER;
	ep->recvs = cfg->recvs;
	ep->chain.last_sent = -1;
	ep->rq_depth = ep->opts.rq ? ep->opts.rq : ep->recvs ? ep->recvs : RR_VB_RQ;
	rr_list_init(&ep->of_dev);
	rr_ring_init(&ep->wait, sizeof(struct rr_vb_op));
	rr_ring_init(&ep->sges, sizeof(struct rr_sge));
	rr_ring_init(&ep->sent, sizeof(struct rr_vb_op));
	rr_ring_init(&ep->reads, sizeof(struct rr_vb_op));
	rr_ring_init(&ep->mrs, sizeof(struct ibv_mr *));
	rr_ring_init(&ep->rmrs, sizeof(struct ibv_mr *));
	rr_ring_init(&ep->rq, sizeof(struct rr_vb_recv));
}

int rr_vb_new(const struct rr_prov_config *cfg, const void *priv, size_t priv_len,
              rr_time now, struct rr_vb_ep **ret)
{
	struct rr_verbs_opts opts;
	struct rr_vb_ep *ep;
	int rc = rr_verbs_opts_parse(cfg->options, &opts, RR_NO_REASON);

	if (rc)
		return rc;
	if (priv_len > RR_PROV_PRIVATE_MAX)
		return -EINVAL;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -ENOMEM;
	ep->lib = rr_rdma_lib();
	ep->opts = opts;
	init_vb_ep(ep, cfg, now);
	if (priv_len)
		memcpy(ep->priv, priv, priv_len);
	ep->priv_len = priv_len;
	ep->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (ep->epfd < 0)
		rc = -errno;
	if (!rc)
		rc = rr_vb_reserve(ep, 0);
	if (rc) {
		rr_vb_free(ep);
		return rc;
	}
	*ret = ep;
	return 0;
}

void rr_vb_free(struct rr_vb_ep *ep)
{
	rr_ep_common_fini(&ep->base);
	rr_ring_fini(&ep->wait);
	rr_ring_fini(&ep->sges);
	rr_ring_fini(&ep->sent);
	rr_ring_fini(&ep->reads);
	rr_ring_fini(&ep->mrs);
	rr_ring_fini(&ep->rmrs);
	rr_ring_fini(&ep->rq);
	if (ep->id)
		(void)ep->lib->rdma_destroy_id(ep->id);
	rr_vb_dev_put(ep); /* after destroying the id, which uses the device */
	if (ep->channel)
		ep->lib->rdma_destroy_event_channel(ep->channel);
	if (ep->epfd >= 0)
		close(ep->epfd);
	free(ep);
}

/* Frees the endpoint.  A connection that has not ended is aborted: its queue pair is
 * destroyed without a disconnect. */
static void vb_destroy(struct rr_ep *base)
{
	struct rr_vb_ep *ep;

	if (!base)
		return;
	ep = rr_vb_of(base);
	if (ep->state != RR_VB_DEAD)
		rr_vb_dead(ep);
	rr_vb_free(ep);
}

/* ---- posts ---- */

static int vb_post_recv(struct rr_ep *base, const struct rr_sge *sge, uint64_t token)
{
	struct rr_vb_ep *ep = rr_vb_of(base);
	struct rr_vb_recv *r;

	if (!rr_vb_is(ep, RR_VB_IN_USE))
		return -ENOTCONN;
	if (ep->rq.count >= ep->rq_depth)
		return -ENOBUFS;
	if (rr_ring_reserve(&ep->rq, ep->rq.count + 1) || rr_vb_reserve(ep, 1))
		return -ENOMEM;
	r = rr_ring_push(&ep->rq);
	*r = (struct rr_vb_recv){.sge = *sge, .token = token};
	rr_vb_rx_run(ep);
	return 0;
}

/* Appends an operation.  Changes nothing if an error is returned. */
static int append_op(struct rr_vb_ep *ep, enum rr_post_kind kind,
                     const struct rr_sge *sge, unsigned n, uint32_t handle,
                     uint64_t offset, uint64_t token)
{
	struct rr_ring *to = kind == RR_POST_READ ? &ep->reads : &ep->sent;
	struct rr_vb_op *op;
	uint32_t len;
	uint32_t max = ep->state == RR_VB_READY ? ep->max_msg : UINT32_MAX;
	int rc = rr_ep_total_len(sge, n, max, &len);

	if (rc)
		return rc;
	if (ep->state != RR_VB_READY)
		return -ENOTCONN;
	if (ep->posted >= RR_VB_MAX_SEND)
		return -ENOBUFS;
	if (rr_ring_reserve(&ep->wait, ep->wait.count + 1) ||
	    rr_ring_reserve(to, to->count + ep->wait.count + 1) ||
	    rr_ring_reserve(&ep->sges, ep->sges.count + n) || rr_vb_reserve(ep, 1))
		return -ENOMEM;
	op = rr_ring_push(&ep->wait);
	*op = (struct rr_vb_op){
	        .kind = (uint8_t)kind,
	        .nsge = (uint8_t)n,
	        .len = len,
	        .handle = handle,
	        .offset = offset,
	        .token = token,
	};
	for (unsigned i = 0; i < n; i++)
		*(struct rr_sge *)rr_ring_push(&ep->sges) = sge[i];
	rr_ep_count_post(&ep->base, kind, handle);
	ep->posted++;
	return 0;
}

static int vb_post_send(struct rr_ep *base, const struct rr_sge *sge, unsigned n,
                        uint32_t inv_handle, uint64_t token)
{
	return append_op(rr_vb_of(base), RR_POST_SEND, sge, n, inv_handle, 0, token);
}

static int vb_post_write(struct rr_ep *base, const struct rr_sge *sge, unsigned n,
                         uint32_t handle, uint64_t offset, uint64_t token)
{
	return append_op(rr_vb_of(base), RR_POST_WRITE, sge, n, handle, offset, token);
}

static int vb_post_read(struct rr_ep *base, const struct rr_sge *sge, uint32_t handle,
                        uint64_t offset, uint64_t token)
{
	struct rr_vb_ep *ep = rr_vb_of(base);

	if (ep->state == RR_VB_READY && !ep->ord)
		return -EOPNOTSUPP; /* the Read could never be sent */
	return append_op(ep, RR_POST_READ, sge, 1, handle, offset, token);
}

/* ---- progress ---- */

static int vb_flush(struct rr_ep *base, rr_time now)
{
	struct rr_vb_ep *ep = rr_vb_of(base);

	rr_ep_set_now(&ep->base, now);
	if (ep->state == RR_VB_CALLED)
		rr_vb_answer(ep);
	rr_vb_tx_run(ep);
	rr_vb_check_end(ep);
	return 0;
}

/* Handles the events of the three descriptors. */
static void poll_descriptors(struct rr_vb_ep *ep)
{
	struct epoll_event ev[4];
	bool cm = false;
	int n = epoll_wait(ep->epfd, ev, RR_ARRAY_SIZE(ev), 0);

	ep->base.count.syscalls++;
	for (int i = 0; i < n; i++) {
		if (ep->channel && ev[i].data.fd == ep->channel->fd)
			cm = true;
		else if (ep->cc && ev[i].data.fd == ep->cc->fd)
			rr_vb_cq_event(ep);
		else if (ep->dev && ev[i].data.fd == ep->dev->async_fd)
			ep->dev_ready = true;
	}
	if (cm)
		rr_vb_cm_events(ep);
}

static void vb_progress(struct rr_ep *base, rr_time now)
{
	struct rr_vb_ep *ep = rr_vb_of(base);
	uint32_t posted = ep->posted;

	rr_ep_set_now(&ep->base, now);
	if (ep->state == RR_VB_DEAD)
		return;
	poll_descriptors(ep);
	if (rr_vb_is(ep, RR_VB_IN_STREAM)) {
		rr_vb_cq_poll(ep);
		if (!ep->armed) {
			rr_vb_cq_arm(ep);
			rr_vb_cq_poll(ep); /* earlier completions cause no event */
		}
	}
	if (ep->state == RR_VB_DRAIN && ep->posted != posted)
		rr_ep_extend_drain(&ep->base);
	if (ep->state == RR_VB_CALLED)
		rr_vb_answer(ep);
	rr_vb_rx_run(ep);
	rr_vb_tx_run(ep);
	rr_vb_check_end(ep);
	rr_vb_end_step(ep);
	rr_vb_time_out(ep);
}

static int vb_fd(const struct rr_ep *base)
{
	return rr_vb_of(base)->epfd;
}

static uint32_t vb_events(const struct rr_ep *base)
{
	return rr_vb_of(base)->state == RR_VB_DEAD ? 0 : (uint32_t)EPOLLIN;
}

static rr_time vb_deadline(const struct rr_ep *base)
{
	const struct rr_vb_ep *ep = rr_vb_of(base);

	if (ep->base.out.count || ep->state == RR_VB_CALLED)
		return ep->base.now; /* no descriptor becomes ready in these cases */
	return RR_MIN(ep->base.deadline, ep->loss_at);
}

static void vb_disconnect(struct rr_ep *base, rr_time now)
{
	struct rr_vb_ep *ep = rr_vb_of(base);

	rr_ep_set_now(&ep->base, now);
	switch (ep->state) {
	case RR_VB_RESOLVE:
	case RR_VB_ROUTE:
	case RR_VB_ASKED:
	case RR_VB_CALLED:
	case RR_VB_ACCEPTED:
		rr_ep_set_reason(&ep->base, 0, "closed here");
		rr_vb_cm_disconnect(ep);
		rr_vb_dead(ep);
		break;
	case RR_VB_READY:
		rr_ep_set_reason(&ep->base, 0, "closed here");
		rr_vb_drain(ep);
		rr_vb_tx_run(ep);
		rr_vb_end_step(ep);
		break;
	case RR_VB_DRAIN:
	case RR_VB_SHUT:
	case RR_VB_DEAD:
		break;
	}
}

/* ---- queries ---- */

static void vb_limits(const struct rr_ep *base, struct rr_prov_limits *ret)
{
	const struct rr_vb_ep *ep = rr_vb_of(base);

	*ret = (struct rr_prov_limits){
	        .max_recv = ep->rq_depth,
	        .max_send = RR_VB_MAX_SEND,
	        .max_ord = ep->ord,
	        .max_ird = ep->ird,
	        .max_msg = ep->max_msg,
	        .remote_invalidate = ep->windows,
	        .send_invalidate =
	                ep->dev->attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS,
	};
}

static const void *vb_peer_private(const struct rr_ep *base, size_t *ret_len)
{
	const struct rr_vb_ep *ep = rr_vb_of(base);

	*ret_len = ep->peer_priv_len;
	return ep->peer_priv;
}

static int vb_local_addr(const struct rr_ep *base, struct sockaddr_storage *ret)
{
	return rr_ep_copy_addr(&rr_vb_of(base)->local, ret);
}

static int vb_take(struct rr_prov_listener *l, struct rr_prov_listener **ret,
                   struct sockaddr_storage *ret_peer)
{
	return -EOPNOTSUPP;
}

const struct rr_prov_ops rr_verbs_ops = {
        .name = "verbs",
        .remote_invalidate = false, /* some devices do not support it */
        .watch_removals = rr_verbs_watch_removals,
        .read_removals = rr_verbs_read_removals,
        .connect = rr_vb_connect,
        .listen = rr_vb_listen,
        .listener_fd = rr_vb_listener_fd,
        .accept = rr_vb_accept,
        .take = vb_take,
        .listener_close = rr_vb_listener_close,
        .post_recv = vb_post_recv,
        .post_send = vb_post_send,
        .post_write = vb_post_write,
        .post_read = vb_post_read,
        .register_mem = rr_vb_register,
        .invalidate = rr_vb_invalidate,
        .flush = vb_flush,
        .progress = vb_progress,
        .poll = rr_ep_poll,
        .fd = vb_fd,
        .events = vb_events,
        .deadline = vb_deadline,
        .disconnect = vb_disconnect,
        .destroy = vb_destroy,
        .limits = vb_limits,
        .counters = rr_ep_counters,
        .peer_private = vb_peer_private,
        .peer_addr = rr_ep_peer_addr,
        .local_addr = vb_local_addr,
        .reason = rr_ep_reason,
};
