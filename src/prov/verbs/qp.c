/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of one connection: protection domain, completion channel and queue, queue
 * pair.
 *
 * Normal path: the objects are created within the device's limits, after the connection
 * manager has determined the device.  The queue pair becomes ready when the connection
 * is established.
 *
 * Failure: rr_vb_qp_close and rr_vb_qp_free free whichever objects were created.
 *
 * Order of destruction: the queue pair is put into the error state, which ends the
 * peer's access to memory.  Then the windows are freed, because each refers to the
 * queue pair (rxe would wait for them for most of a minute); then the queue pair; then
 * registrations, completion queue, channel and domain.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>

#include "prov/verbs/vb_internal.h"

/* Creates the completion queue, with space for every Receive and every work request. */
static int make_cq(struct rr_vb_ep *ep)
{
	uint32_t want = ep->sq_depth + ep->rq_depth + 4;
	int flags;

	ep->cc = ep->lib->ibv_create_comp_channel(ep->id->verbs);
	if (!ep->cc)
		return rr_vb_error(-1);
	flags = fcntl(ep->cc->fd, F_GETFL);
	if (flags < 0 || fcntl(ep->cc->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	ep->cq = ep->lib->ibv_create_cq(ep->id->verbs, (int)want, ep, ep->cc, 0);
	return ep->cq ? 0 : rr_vb_error(-1);
}

/* Creates the queue pair.  A device may refuse a combination of values even if each
 * value is within its limits.  In that case, reduces the inline octets, and then the
 * number of pieces. */
static int make_qp(struct rr_vb_ep *ep)
{
	struct ibv_qp_init_attr a = {
	        .qp_context = ep,
	        .send_cq = ep->cq,
	        .recv_cq = ep->cq,
	        .qp_type = IBV_QPT_RC,
	        .cap = {.max_send_wr = ep->sq_depth,
	                .max_recv_wr = ep->rq_depth,
	                .max_send_sge = ep->max_sge,
	                .max_recv_sge = 1,
	                .max_inline_data = ep->max_inline},
	};

	while (ep->lib->rdma_create_qp(ep->id, ep->pd, &a)) {
		int rc = rr_vb_error(-1);

		a.cap.max_send_wr = ep->sq_depth;
		a.cap.max_recv_wr = ep->rq_depth;
		a.cap.max_recv_sge = 1;
		if (ep->max_inline > 0)
			ep->max_inline = ep->max_inline > 64 ? 64 : 0;
		else if (ep->max_sge > 4)
			ep->max_sge = 4;
		else
			return rc;
		a.cap.max_inline_data = ep->max_inline;
		a.cap.max_send_sge = ep->max_sge;
	}
	ep->qp = ep->id->qp;
	ep->max_inline = a.cap.max_inline_data;
	return 0;
}

static int watch_fd(struct rr_vb_ep *ep, int fd, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.fd = fd};

	return epoll_ctl(ep->epfd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static uint32_t choose_sq_depth(const struct rr_vb_ep *ep)
{
	if (ep->opts.sq)
		return ep->opts.sq;
	if (!ep->recvs)
		return RR_VB_SQ;
	return RR_MIN(RR_MAX(2 * ep->recvs, 64u), (uint32_t)RR_VB_SQ);
}

/* Called if the device's receive queue has space for fewer Receives than the caller
 * wants to post.  Sets the reason and returns -ENOBUFS. */
static int fail_too_few(struct rr_vb_ep *ep, const char *name)
{
	rr_ep_set_reason(&ep->base, -ENOBUFS,
	                 "%s: a queue of %u Receives, %u are wanted: fewer credits%s",
	                 name, ep->rq_depth, ep->recvs,
	                 ep->opts.rq ? ", or a larger rq" : "");
	return -ENOBUFS;
}

static int derive_limits(struct rr_vb_ep *ep)
{
	const struct ibv_device_attr *a = &ep->dev->attr;
	struct ibv_port_attr port;
	uint8_t num = ep->id->port_num ? ep->id->port_num : 1;
	uint32_t wr = a->max_qp_wr > 16 ? (uint32_t)a->max_qp_wr : 16;
	uint32_t cqe = a->max_cqe > 64 ? (uint32_t)a->max_cqe : 64;
	int rc = rr_rdma_query_port(ep->lib, ep->id->verbs, num, &port);

	if (rc)
		return rc;
	ep->sq_depth = RR_MIN(RR_MIN(choose_sq_depth(ep), wr), cqe / 4);
	ep->rq_depth = RR_MIN(RR_MIN(ep->rq_depth, wr), cqe / 2);
	ep->max_sge = RR_MAX(1u, RR_MIN((uint32_t)a->max_sge, RR_VB_MAX_SGE));
	ep->max_inline = ep->opts.inline_bytes;
	ep->max_msg = port.max_msg_sz ? port.max_msg_sz : 1u << 20;
	ep->ird = (uint8_t)RR_MIN(ep->opts.ird, (uint32_t)RR_MAX(a->max_qp_rd_atom, 0));
	ep->ord = (uint8_t)RR_MIN(ep->opts.ord,
	                          (uint32_t)RR_MAX(a->max_qp_init_rd_atom, 0));
	ep->windows = ep->opts.mw && rr_vb_dev_windows(ep);
	return 0;
}

/* Creates all objects.  On failure, *ret_what names the object that is missing.  The
 * device's descriptor is watched edge-triggered, because other endpoints also read the
 * descriptor (dev.c). */
static int open_all(struct rr_vb_ep *ep, const char **ret_what)
{
	int rc;

	*ret_what = "its limits";
	rc = rr_vb_dev_get(ep);
	if (!rc)
		rc = derive_limits(ep);
	if (rc)
		return rc;
	if (ep->rq_depth < ep->recvs)
		return fail_too_few(
		        ep, ep->lib->ibv_get_device_name(ep->id->verbs->device));
	*ret_what = "a protection domain";
	ep->pd = ep->lib->ibv_alloc_pd(ep->id->verbs);
	if (!ep->pd)
		return rr_vb_error(-1);
	*ret_what = "a completion queue";
	rc = make_cq(ep);
	if (!rc)
		rc = watch_fd(ep, ep->cc->fd, EPOLLIN);
	if (!rc)
		rc = watch_fd(ep, ep->id->verbs->async_fd, EPOLLIN | EPOLLET);
	if (rc)
		return rc;
	*ret_what = "a queue pair";
	rc = make_qp(ep);
	if (rc)
		return rc;
	rr_vb_cq_arm(ep);
	rr_vb_rx_run(ep);
	return 0;
}

int rr_vb_qp_open(struct rr_vb_ep *ep)
{
	const char *name = ep->lib->ibv_get_device_name(ep->id->verbs->device), *what;
	int rc;

	if (ep->opts.device[0] && strcmp(name, ep->opts.device)) {
		rr_ep_set_reason(&ep->base, -ENODEV,
		                 "the address is served by %s, not by %s", name,
		                 ep->opts.device);
		return -ENODEV;
	}
	rc = open_all(ep, &what);
	if (rc)
		rr_ep_set_reason(&ep->base, rc, "%s does not give %s: %s%s", name, what,
		                 strerror(-rc),
		                 rc == -ENOMEM ? " (see ulimit -l)" : "");
	return rc;
}

bool rr_vb_qp_broken(struct rr_vb_ep *ep)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	if (!ep->qp || ep->lib->ibv_query_qp(ep->qp, &a, IBV_QP_STATE, &init))
		return false;
	return a.qp_state == IBV_QPS_ERR || a.qp_state == IBV_QPS_SQE;
}

void rr_vb_qp_error(struct rr_vb_ep *ep)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};

	if (ep->qp) /* may fail if the queue pair is in error or never connected */
		(void)ep->lib->ibv_modify_qp(ep->qp, &a, IBV_QP_STATE);
}

void rr_vb_qp_close(struct rr_vb_ep *ep)
{
	if (ep->dev) {
		pthread_mutex_lock(&ep->dev->lock);
		rr_list_del(&ep->of_dev); /* afterwards, no event is recorded in @ep */
		pthread_mutex_unlock(&ep->dev->lock);
	}
	rr_vb_windows_fini(ep);
	if (ep->qp) {
		ep->lib->rdma_destroy_qp(ep->id);
		ep->qp = NULL;
	}
}

void rr_vb_qp_free(struct rr_vb_ep *ep)
{
	RR_ASSERT(!ep->qp);
	rr_vb_regions_fini(ep);
	rr_vb_mem_fini(ep);
	if (ep->cq) {
		ep->lib->ibv_ack_cq_events(ep->cq, ep->cq_events);
		(void)ep->lib->ibv_destroy_cq(ep->cq);
	}
	if (ep->cc)
		(void)ep->lib->ibv_destroy_comp_channel(ep->cc);
	if (ep->pd)
		(void)ep->lib->ibv_dealloc_pd(ep->pd);
	if (ep->dev) /* the descriptor is shared and stays open */
		(void)epoll_ctl(ep->epfd, EPOLL_CTL_DEL, ep->dev->ctx->async_fd, NULL);
	ep->cq = NULL;
	ep->cc = NULL;
	ep->pd = NULL;
}
