/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the verbs provider asks a device for.  The device and rdma-core are played here
 * by functions that note what they are given, so that no device is wanted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "prov/verbs/vb_internal.h"
#include "prov/verbs/verbs.h"

enum { WRS = 64, MEM = 65536, NOW = 1000000000 };

/* -- the device ----------------------------------------------------------------- */

static struct {
	struct ibv_device dev;
	struct ibv_context ctx[16]; /* one a test: what was learnt of it is kept */
	unsigned n_ctx;
	struct ibv_device_attr attr;
	struct ibv_pd pd;
	struct ibv_cq cq;
	struct ibv_comp_channel cc;
	struct ibv_qp qp;
	struct ibv_qp_cap cap;
	int cqe;
	struct ibv_mr mr[32];
	unsigned n_mr, n_mw;
	bool no_mr; /* no more can be had */
	struct ibv_mw mw[32];
	struct ibv_send_wr wr[WRS]; /* as posted, without their pieces */
	unsigned n_wr, n_recv, opened;
	struct ibv_wc wc[8]; /* what the next look finds */
	unsigned n_wc;
	struct rdma_cm_id id;
	struct rdma_cm_event event;
	bool has_event;
	struct rdma_conn_param param;
	size_t lockable; /* memory that may still be registered */
	bool rejected;
} d;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                     struct ibv_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		assert_true(d.n_wr < WRS);
		d.wr[d.n_wr++] = *wr;
	}
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
                     struct ibv_recv_wr **bad)
{
	d.n_recv++;
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *ret)
{
	int got = (int)d.n_wc;

	assert_true(got <= n);
	memcpy(ret, d.wc, d.n_wc * sizeof(d.wc[0]));
	d.n_wc = 0;
	return got;
}

static int arm(struct ibv_cq *cq, int solicited)
{
	return 0;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = &d.mw[d.n_mw++];

	mw->context = pd->context;
	mw->rkey = d.n_mw << 8;
	return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	return 0;
}

static const char *device_name(struct ibv_device *dev)
{
	return "played0";
}

static int query_device(struct ibv_context *c, struct ibv_device_attr *ret)
{
	*ret = d.attr;
	return 0;
}

static int query_port(struct ibv_context *c, uint8_t port,
                      struct _compat_ibv_port_attr *ret)
{
	struct ibv_port_attr a = {.max_msg_sz = 1u << 30};

	memcpy((void *)ret, &a, sizeof(a));
	return 0;
}

static struct ibv_context *open_device(struct ibv_device *dev)
{
	d.opened++;
	errno = ENODEV; /* the self-test comes no further */
	return NULL;
}

static struct ibv_pd *alloc_pd(struct ibv_context *c)
{
	d.pd.context = c;
	return &d.pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
	return 0;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *p, size_t len, int access)
{
	struct ibv_mr *mr = &d.mr[d.n_mr % RR_ARRAY_SIZE(d.mr)];

	if (d.no_mr || len > d.lockable) {
		errno = ENOMEM;
		return NULL;
	}
	d.lockable -= len;
	mr->lkey = mr->rkey = ++d.n_mr;
	return mr;
}

static int dereg_mr(struct ibv_mr *mr)
{
	return 0;
}

static struct ibv_comp_channel *create_channel(struct ibv_context *c)
{
	d.cc.fd = eventfd(0, EFD_NONBLOCK);
	return &d.cc;
}

static int destroy_channel(struct ibv_comp_channel *cc)
{
	return close(cc->fd);
}

static struct ibv_cq *create_cq(struct ibv_context *c, int cqe, void *ctx,
                                struct ibv_comp_channel *cc, int vector)
{
	d.cqe = cqe;
	d.cq.context = c;
	return &d.cq;
}

static int destroy_cq(struct ibv_cq *cq)
{
	return 0;
}

static void ack_cq(struct ibv_cq *cq, unsigned n)
{
}

static int no_async(struct ibv_context *c, struct ibv_async_event *e)
{
	return -1;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	return 0;
}

static int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask,
                    struct ibv_qp_init_attr *init)
{
	a->qp_state = IBV_QPS_RTS;
	return 0;
}

static const char *status_str(enum ibv_wc_status s)
{
	return "status";
}

static int create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
                     struct ibv_qp_init_attr *a)
{
	d.cap = a->cap;
	d.qp.context = id->verbs;
	id->qp = &d.qp;
	return 0;
}

static void destroy_qp(struct rdma_cm_id *id)
{
}

static int id_done(struct rdma_cm_id *id)
{
	return 0;
}

static int connecting(struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	d.param = *p;
	return 0;
}

static int rejecting(struct rdma_cm_id *id, const void *priv, uint8_t len)
{
	d.rejected = true;
	return 0;
}

static int get_event(struct rdma_event_channel *ch, struct rdma_cm_event **ret)
{
	*ret = &d.event;
	return d.has_event ? d.has_event = false : -1;
}

static int ack_event(struct rdma_cm_event *e)
{
	return 0;
}

static const struct rr_rdma_lib played = {
        .ibv_get_device_name = device_name,
        .ibv_open_device = open_device,
        .ibv_query_device = query_device,
        .ibv_query_port = query_port,
        .ibv_get_async_event = no_async,
        .ibv_alloc_pd = alloc_pd,
        .ibv_dealloc_pd = dealloc_pd,
        .ibv_reg_mr = reg_mr,
        .ibv_dereg_mr = dereg_mr,
        .ibv_create_comp_channel = create_channel,
        .ibv_destroy_comp_channel = destroy_channel,
        .ibv_create_cq = create_cq,
        .ibv_destroy_cq = destroy_cq,
        .ibv_ack_cq_events = ack_cq,
        .ibv_modify_qp = modify_qp,
        .ibv_query_qp = query_qp,
        .ibv_wc_status_str = status_str,
        .rdma_create_qp = create_qp,
        .rdma_destroy_qp = destroy_qp,
        .rdma_disconnect = id_done,
        .rdma_destroy_id = id_done,
        .rdma_connect = connecting,
        .rdma_accept = connecting,
        .rdma_reject = rejecting,
        .rdma_get_cm_event = get_event,
        .rdma_ack_cm_event = ack_event,
};

/* -- an endpoint on it ------------------------------------------------------------ */

static uint8_t mem[MEM];

static int setup(void **state)
{
	unsigned n = d.n_ctx;
	struct ibv_context keep[RR_ARRAY_SIZE(d.ctx)], *c;

	memcpy(keep, d.ctx, sizeof(keep));
	memset(&d, 0, sizeof(d));
	memcpy(d.ctx, keep, sizeof(keep));
	assert_true(n < RR_ARRAY_SIZE(d.ctx));
	d.n_ctx = n + 1;
	c = &d.ctx[n];
	c->device = &d.dev;
	c->cmd_fd = open("/dev/zero", O_RDWR);
	c->async_fd = eventfd(0, EFD_NONBLOCK);
	c->ops.post_send = post_send;
	c->ops.post_recv = post_recv;
	c->ops.poll_cq = poll_cq;
	c->ops.req_notify_cq = arm;
	c->ops.alloc_mw = alloc_mw;
	c->ops.dealloc_mw = dealloc_mw;
	d.dev.transport_type = IBV_TRANSPORT_IB;
	d.attr = (struct ibv_device_attr){.max_qp_wr = 16384,
	                                  .max_cqe = 65536,
	                                  .max_sge = 4,
	                                  .node_guid = n + 1, /* its own trial */
	                                  .max_qp_rd_atom = 16,
	                                  .max_qp_init_rd_atom = 16};
	d.id = (struct rdma_cm_id){.verbs = c, .port_num = 1};
	d.lockable = SIZE_MAX;
	return 0;
}

static struct rr_vb_ep *fresh(const char *options, uint32_t recvs)
{
	struct rr_prov_config cfg = {.options = options, .recvs = recvs};
	struct rr_vb_ep *ep;

	assert_int_equal(0, rr_vb_new(&cfg, NULL, 0, NOW, &ep));
	ep->lib = &played;
	ep->id = &d.id;
	ep->state = RR_VB_RESOLVE;
	return ep;
}

static struct rr_vb_ep *ready(const char *options)
{
	struct rr_vb_ep *ep = fresh(options, 0);

	assert_int_equal(0, rr_vb_qp_open(ep));
	ep->state = RR_VB_READY;
	ep->base.deadline = RR_TIME_NEVER;
	return ep;
}

static void gone(struct rr_vb_ep *ep)
{
	rr_verbs_ops.destroy(&ep->base.ep);
}

static void say(enum ibv_wc_opcode op, uint64_t wr_id)
{
	d.wc[d.n_wc++] = (struct ibv_wc){.wr_id = wr_id, .opcode = op, .qp_num = 1};
}

static struct rr_wc next(struct rr_vb_ep *ep)
{
	struct rr_wc wc;

	assert_int_equal(1, rr_verbs_ops.poll(&ep->base.ep, &wc, 1));
	return wc;
}

/* -- work requests --------------------------------------------------------- */

static void batch(struct rr_vb_ep *ep)
{
	struct rr_sge s = {.base = mem, .len = 20000};

	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(0,
		                 rr_verbs_ops.post_write(&ep->base.ep, &s, 1, 7, 0, i));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(0, rr_verbs_ops.post_send(&ep->base.ep, &s, 1, 0, i));
	assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	assert_int_equal(8, d.n_wr);
}

/* siw would send from memory that is ours again: see tx.c. */
static void iwarp_devices_tell_of_each_request(void **state)
{
	struct rr_vb_ep *ep;

	d.dev.transport_type = IBV_TRANSPORT_IWARP;
	ep = ready(NULL);
	batch(ep);
	for (unsigned i = 0; i < d.n_wr; i++)
		assert_true(d.wr[i].send_flags & IBV_SEND_SIGNALED);
	assert_true((uint32_t)d.cqe >= d.cap.max_send_wr + d.cap.max_recv_wr);
	for (unsigned i = 0; i < 5; i++) {
		say(IBV_WC_RDMA_WRITE, d.wr[i].wr_id);
		rr_verbs_ops.progress(&ep->base.ep, NOW);
		assert_int_equal(i, next(ep).token);
		assert_int_equal(7 - i, ep->posted);
	}
	gone(ep);
}

static void other_devices_tell_of_the_last(void **state)
{
	struct rr_vb_ep *ep = ready(NULL);

	batch(ep);
	for (unsigned i = 0; i < d.n_wr; i++)
		assert_int_equal(i == d.n_wr - 1,
		                 (d.wr[i].send_flags & IBV_SEND_SIGNALED) != 0);
	say(IBV_WC_SEND, d.wr[7].wr_id);
	rr_verbs_ops.progress(&ep->base.ep, NOW);
	assert_int_equal(0, ep->posted);
	gone(ep);
}

/* A sink that cannot be registered (ulimit -l): its Read fails, between Reads that do
 * not, and the connection goes on. */
static void a_read_without_registration_fails_alone(void **state)
{
	struct rr_vb_ep *ep = ready(NULL);
	struct rr_sge s = {.base = mem, .len = 20000};

	for (unsigned i = 0; i < 3; i++) {
		d.no_mr = i == 1;
		assert_int_equal(0, rr_verbs_ops.post_read(&ep->base.ep, &s, 7, 0, i));
		assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	}
	assert_int_equal(2, d.n_wr);
	say(IBV_WC_RDMA_READ, d.wr[0].wr_id);
	rr_verbs_ops.progress(&ep->base.ep, NOW);
	assert_int_equal(0, next(ep).status);
	assert_int_equal(-ENOMEM, next(ep).status);
	say(IBV_WC_RDMA_READ, d.wr[1].wr_id);
	rr_verbs_ops.progress(&ep->base.ep, NOW);
	assert_int_equal(0, next(ep).status);
	d.no_mr = true; /* and with none before it */
	assert_int_equal(0, rr_verbs_ops.post_read(&ep->base.ep, &s, 7, 0, 3));
	assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	assert_int_equal(-ENOMEM, next(ep).status);
	assert_false(ep->flushed);
	assert_int_equal(0, ep->posted);
	gone(ep);
}

/* libsiw reads another field than the other drivers. */
static void handle_to_invalidate_is_in_both_fields(void **state)
{
	struct rr_sge s = {.base = mem, .len = 100};
	struct rr_vb_ep *ep;

	d.dev.transport_type = IBV_TRANSPORT_IWARP;
	ep = ready(NULL);
	assert_int_equal(0, rr_verbs_ops.post_send(&ep->base.ep, &s, 1, 0xabcd01, 1));
	assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	assert_int_equal(1, d.n_wr);
	assert_int_equal(IBV_WR_SEND_WITH_INV, d.wr[0].opcode);
	assert_int_equal(0xabcd01, d.wr[0].invalidate_rkey);
	assert_int_equal(0xabcd01, d.wr[0].wr.rdma.rkey);
	gone(ep);
}

/* -- windows --------------------------------------------------------------- */

static struct rr_vb_ep *with_window(struct rr_region *ret)
{
	struct rr_vb_ep *ep = ready(NULL);
	struct rr_sge s = {.base = mem + 4096, .len = 64};

	ep->windows = true;
	ep->dev->caps.with_inv = IBV_WC_WITH_INV;
	assert_int_equal(0, rr_verbs_ops.post_recv(&ep->base.ep, &s, 77));
	assert_int_equal(0, rr_verbs_ops.register_mem(&ep->base.ep, mem, 100,
	                                              RR_ACCESS_REMOTE_READ, ret));
	assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	assert_int_equal(IBV_WR_BIND_MW, d.wr[0].opcode);
	say(IBV_WC_BIND_MW, d.wr[0].wr_id);
	rr_verbs_ops.progress(&ep->base.ep, NOW);
	return ep;
}

static void say_invalidated(uint32_t handle)
{
	say(IBV_WC_RECV, RR_VB_WR_ID(0, RR_VB_Q_RECV));
	d.wc[d.n_wc - 1].wc_flags = IBV_WC_WITH_INV;
	d.wc[d.n_wc - 1].invalidated_rkey = handle;
}

/* RI-2.1-02, RI-2.2-04: a registration without a window is no such region. */
static void only_windows_are_revocable(void **state)
{
	struct rr_region r;
	struct rr_vb_ep *ep = with_window(&r);

	assert_false(r.irrevocable);
	ep->windows = false;
	assert_int_equal(0, rr_verbs_ops.register_mem(&ep->base.ep, mem, 100,
	                                              RR_ACCESS_REMOTE_READ, &r));
	assert_true(r.irrevocable);
	gone(ep);
}

/* RI-2.1-01 */
static void a_device_states_whether_it_can_invalidate(void **state)
{
	for (unsigned able = 0; able < 2; able++) {
		struct rr_prov_limits l;
		struct rr_vb_ep *ep = ready("mw=0");

		ep->dev->attr.device_cap_flags =
		        able ? IBV_DEVICE_MEM_MGT_EXTENSIONS : 0;
		rr_verbs_ops.limits(&ep->base.ep, &l);
		assert_int_equal(able, l.send_invalidate);
		assert_false(l.remote_invalidate);
		assert_false(l.survives_inv_twice);
		gone(ep);
	}
}

static void window_is_closed_by_a_request(void **state)
{
	struct rr_region r;
	struct rr_vb_ep *ep = with_window(&r);

	assert_int_equal(0, rr_verbs_ops.invalidate(&ep->base.ep, r.handle, 5));
	assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	assert_int_equal(2, d.n_wr);
	assert_int_equal(IBV_WR_LOCAL_INV, d.wr[1].opcode);
	assert_int_equal(r.handle, d.wr[1].invalidate_rkey);
	say(IBV_WC_LOCAL_INV, d.wr[1].wr_id);
	rr_verbs_ops.progress(&ep->base.ep, NOW);
	assert_int_equal(RR_WC_INVALIDATE, next(ep).op);
	gone(ep);
}

/* The word of it is in the device's queue, and not read. */
static void window_that_the_peer_closed_is_left_alone(void **state)
{
	struct rr_region r;
	struct rr_vb_ep *ep = with_window(&r);
	struct rr_wc wc;

	assert_int_equal(0, rr_verbs_ops.invalidate(&ep->base.ep, r.handle, 5));
	say_invalidated(r.handle);
	assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	assert_int_equal(1, d.n_wr); /* no LOCAL_INV */
	wc = next(ep);
	assert_int_equal(RR_WC_RECV, wc.op);
	assert_false(wc.invalidated); /* it was given up before */
	wc = next(ep);
	assert_int_equal(RR_WC_INVALIDATE, wc.op);
	assert_int_equal(0, wc.status);
	assert_int_equal(5, wc.token);
	assert_int_equal(0, ep->posted);
	assert_int_equal(0, ep->regions.used);
	gone(ep);
}

/* ... and completes in its turn, behind what was posted before. */
static void left_alone_in_its_turn(void **state)
{
	struct rr_sge s = {.base = mem, .len = 100};
	struct rr_region r;
	struct rr_vb_ep *ep = with_window(&r);

	assert_int_equal(0, rr_verbs_ops.post_send(&ep->base.ep, &s, 1, 0, 1));
	assert_int_equal(0, rr_verbs_ops.invalidate(&ep->base.ep, r.handle, 5));
	say_invalidated(r.handle);
	assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	assert_int_equal(2, d.n_wr);
	assert_int_equal(RR_WC_RECV, next(ep).op);
	assert_int_equal(0, ep->base.out.count);
	say(IBV_WC_SEND, d.wr[1].wr_id);
	rr_verbs_ops.progress(&ep->base.ep, NOW);
	assert_int_equal(RR_WC_SEND, next(ep).op);
	assert_int_equal(RR_WC_INVALIDATE, next(ep).op);
	gone(ep);
}

/* The trial is for who would use windows, and once. */
static void windows_are_tried_where_they_are_used(void **state)
{
	struct rr_vb_ep *ep = ready("mw=0");

	assert_int_equal(0, d.opened);
	gone(ep);
	ep = ready(NULL);
	assert_int_equal(1, d.opened);
	gone(ep);
	ep = ready(NULL);
	assert_int_equal(1, d.opened);
	gone(ep);
}

/* -- queues ---------------------------------------------------------------- */

static void queues_are_as_long_as_credits_make_them(void **state)
{
	static const struct {
		uint32_t recvs, sends;
	} cases[] = {{66, 132}, {6, 64}, {4096, 256}};
	struct rr_sge s = {.base = mem, .len = 16};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(cases); i++) {
		struct rr_vb_ep *ep = fresh("mw=0", cases[i].recvs);

		for (unsigned n = 0; n < cases[i].recvs; n++)
			assert_int_equal(0,
			                 rr_verbs_ops.post_recv(&ep->base.ep, &s, n));
		assert_int_equal(-ENOBUFS, rr_verbs_ops.post_recv(&ep->base.ep, &s, 0));
		d.n_recv = 0;
		assert_int_equal(0, rr_vb_qp_open(ep));
		assert_int_equal(cases[i].recvs, d.cap.max_recv_wr);
		assert_int_equal(cases[i].recvs, d.n_recv);
		assert_int_equal(cases[i].sends, d.cap.max_send_wr);
		assert_true((uint32_t)d.cqe >= cases[i].recvs + cases[i].sends);
		gone(ep);
	}
}

static void refuses_what_it_has_no_queue_for(void **state)
{
	struct rr_vb_ep *ep;

	d.attr.max_qp_wr = 1000;
	ep = fresh(NULL, 1002);
	assert_int_equal(-ENOBUFS, rr_vb_qp_open(ep));
	assert_string_equal("played0: a queue of 1000 Receives, 1002 are wanted: "
	                    "fewer credits",
	                    rr_verbs_ops.reason(&ep->base.ep));
	gone(ep);
	ep = fresh("rq=64", 66);
	assert_int_equal(-ENOBUFS, rr_vb_qp_open(ep));
	assert_non_null(strstr(rr_verbs_ops.reason(&ep->base.ep), "or a larger rq"));
	gone(ep);
}

/* -- the connection -------------------------------------------------------- */

/* Who counts credits otherwise and comes too early waits for its Receive. [C3] */
static void sender_waits_for_a_receive(void **state)
{
	struct rr_vb_ep *ep = ready(NULL);

	ep->state = RR_VB_ROUTE;
	d.event.event = RDMA_CM_EVENT_ROUTE_RESOLVED;
	d.has_event = true;
	rr_vb_cm_events(ep);
	assert_int_equal(RR_VB_ASKED, ep->state);
	assert_int_equal(7, d.param.rnr_retry_count);
	memset(&d.param, 0, sizeof(d.param));
	ep->state = RR_VB_CALLED;
	rr_vb_answer(ep);
	assert_int_equal(7, d.param.rnr_retry_count);
	gone(ep);
}

/* All Receives can be registered, and then nothing to send from. */
static void client_that_could_not_be_answered_is_refused(void **state)
{
	struct rr_vb_ep *ep = fresh("mw=0", 8);
	struct rr_sge s = {.base = mem, .len = 4096};

	d.lockable = 8 * s.len;
	for (unsigned i = 0; i < 8; i++, s.base = (uint8_t *)s.base + s.len)
		assert_int_equal(0, rr_verbs_ops.post_recv(&ep->base.ep, &s, i));
	assert_int_equal(0, rr_vb_qp_open(ep));
	ep->state = RR_VB_CALLED;
	rr_vb_answer(ep);
	assert_true(d.rejected);
	assert_non_null(strstr(rr_verbs_ops.reason(&ep->base.ep), "ulimit -l"));
	gone(ep);
}

/* The wait for words about a loss is over when we end the connection ourselves. */
static void own_end_has_its_own_deadline(void **state)
{
	struct rr_vb_ep *ep;

	d.dev.transport_type = IBV_TRANSPORT_IWARP; /* where such words come late */
	ep = ready(NULL);
	ep->flushed = true;
	assert_int_equal(0, rr_verbs_ops.flush(&ep->base.ep, NOW));
	assert_int_equal(NOW + RR_VB_LOSS_NS, rr_verbs_ops.deadline(&ep->base.ep));
	rr_verbs_ops.disconnect(&ep->base.ep, NOW + RR_MS(1));
	rr_verbs_ops.progress(&ep->base.ep, NOW + RR_VB_LOSS_NS + RR_MS(1));
	assert_int_not_equal(RR_VB_DEAD, ep->state);
	assert_true(rr_verbs_ops.deadline(&ep->base.ep) >
	            NOW + RR_VB_LOSS_NS + RR_MS(1));
	gone(ep);
}

#define T(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(iwarp_devices_tell_of_each_request),
	        T(other_devices_tell_of_the_last),
	        T(a_read_without_registration_fails_alone),
	        T(handle_to_invalidate_is_in_both_fields),
	        T(window_is_closed_by_a_request),
	        T(window_that_the_peer_closed_is_left_alone),
	        T(left_alone_in_its_turn),
	        T(windows_are_tried_where_they_are_used),
	        T(only_windows_are_revocable),
	        T(a_device_states_whether_it_can_invalidate),
	        T(queues_are_as_long_as_credits_make_them),
	        T(refuses_what_it_has_no_queue_for),
	        T(sender_waits_for_a_receive),
	        T(client_that_could_not_be_answered_is_refused),
	        T(own_end_has_its_own_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
