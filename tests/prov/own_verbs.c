/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs provider alone: what it asks the device for.  The device's table of
 * functions is replaced while a test counts work requests and completions.
 */
#include "rig.h"

#include <stdlib.h>
#include <unistd.h>

#include "prov/verbs/vb_internal.h"
#include "prov/verbs/verbs.h"

enum { BOTH = RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE, LEN = 8192 };

static struct {
	int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
	unsigned calls, wrs, signalled, inlined;
	uint32_t read_key; /* of the last Read's sink */
	uint64_t read_addr;
} seen;

static struct rr_vb_ep *vb(struct rig *g, unsigned side)
{
	return rr_vb_of(g->end[side].ep);
}

static int counting(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	seen.calls++;
	for (const struct ibv_send_wr *w = wr; w; w = w->next) {
		seen.wrs++;
		seen.signalled += (w->send_flags & IBV_SEND_SIGNALED) != 0;
		seen.inlined += (w->send_flags & IBV_SEND_INLINE) != 0;
		if (w->opcode == IBV_WR_RDMA_READ) {
			seen.read_key = w->sg_list[0].lkey;
			seen.read_addr = w->sg_list[0].addr;
		}
	}
	return seen.post_send(qp, wr, bad);
}

static void count_begin(struct rig *g, unsigned side)
{
	struct ibv_context *c = vb(g, side)->qp->context;

	memset(&seen, 0, sizeof(seen));
	seen.post_send = c->ops.post_send;
	c->ops.post_send = counting;
}

static void count_end(struct rig *g, unsigned side)
{
	vb(g, side)->qp->context->ops.post_send = seen.post_send;
}

/* 24 posts, one flush: one call, one completion asked for (siw: see tx.c). */
static void one_call_and_one_completion_a_batch(void **state)
{
	struct rig *g = *state;
	struct rr_region r = rig_register(g, SERVER, g->end[SERVER].mem, LEN, BOTH);

	for (unsigned i = 0; i < 4; i++)
		rig_recv(g, SERVER, g->end[SERVER].mem + LEN, LEN);
	count_begin(g, CLIENT);
	for (unsigned i = 0; i < 20; i++)
		rig_write(g, CLIENT, g->end[CLIENT].mem, 100, r.handle, r.offset);
	for (unsigned i = 0; i < 4; i++)
		rig_send(g, CLIENT, g->end[CLIENT].mem, 64, 0);
	rig_flush(g, CLIENT);
	count_end(g, CLIENT);
	assert_int_equal(1, seen.calls);
	assert_int_equal(24, seen.wrs);
	assert_int_equal(vb(g, CLIENT)->dev->caps.iwarp ? 24 : 1, seen.signalled);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_WRITE).status);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_SEND).status);
	rig_audit(g, CLIENT);
}

static unsigned asked;

static int counting_get_event(struct ibv_context *c, struct ibv_async_event *e)
{
	asked++;
	return rr_rdma_lib()->ibv_get_async_event(c, e);
}

/* Its events are taken under a lock that others hold, too, by a system call. */
static void device_is_not_asked_for_events_where_data_move(void **state)
{
	static struct rr_rdma_lib lib; /* until the rig is gone */
	struct rig *g = *state;

	lib = *rr_rdma_lib();
	lib.ibv_get_async_event = counting_get_event;
	rig_round_trip(g, CLIENT);
	rig_settle(g); /* rxe tells of the first packet */
	for (unsigned s = 0; s < 2; s++)
		vb(g, s)->lib = &lib;
	asked = 0;
	for (unsigned i = 0; i < 20; i++)
		rig_round_trip(g, CLIENT);
	assert_int_equal(0, asked);
	rig_ops(g, CLIENT)->disconnect(g->end[CLIENT].ep, rig_now());
	rig_ended(g, SERVER, 0);
	assert_int_not_equal(0, asked);
}

/* Few octets go along in the work request, whatever memory they are in. */
static void short_sends_are_inline(void **state)
{
	struct rig *g = *state;
	bool can = vb(g, CLIENT)->max_inline >= 40;

	rig_recv(g, SERVER, g->end[SERVER].mem, LEN);
	rig_recv(g, SERVER, g->end[SERVER].mem, LEN);
	count_begin(g, CLIENT);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 40, 0);
	rig_send(g, CLIENT, g->end[CLIENT].mem, LEN, 0);
	rig_flush(g, CLIENT);
	count_end(g, CLIENT);
	assert_int_equal(2, seen.wrs);
	assert_int_equal(can, seen.inlined);
	rig_wait(g, CLIENT, RR_WC_SEND);
	rig_wait(g, CLIENT, RR_WC_SEND);
}

/* A Write of many pieces takes several places of the device's queue: no more are
 * asked for than it has, and what waits goes out later. */
static void device_is_given_what_it_has_room_for(void **state)
{
	enum { N = 60, PIECES = RR_PROV_MAX_SGE, PART = 40, WRITE = PIECES * PART };
	struct rig *g = *state;
	struct rr_sge s[PIECES];
	struct rr_region r;
	uint8_t *out = g->end[CLIENT].mem, *in = g->end[SERVER].mem;

	g->cfg[CLIENT].options = "sq=64";
	rig_connect_pair(g, CLIENT);
	r = rig_register(g, SERVER, in, N * WRITE, RR_ACCESS_REMOTE_WRITE);
	rig_fill(out, N * WRITE, 6);
	rig_write(g, CLIENT, out, 0, r.handle, r.offset); /* one place: an odd one */
	for (unsigned i = 0; i < N; i++) {
		for (unsigned k = 0; k < PIECES; k++)
			s[k] = (struct rr_sge){.base = out + i * WRITE + k * PART,
			                       .len = PART};
		assert_int_equal(0, rig_ops(g, CLIENT)->post_write(
		                            g->end[CLIENT].ep, s, PIECES, r.handle,
		                            r.offset + i * WRITE,
		                            ++g->end[CLIENT].posted[RR_WC_WRITE]));
	}
	rig_flush(g, CLIENT);
	assert_true(vb(g, CLIENT)->wait.count > 0);
	assert_true(vb(g, CLIENT)->in_device <= vb(g, CLIENT)->sq_depth);
	for (unsigned i = 0; i <= N; i++)
		assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_WRITE).status);
	rig_round_trip(g, CLIENT);
	rig_check(in, N * WRITE, 6);
}

/* Small pieces of memory that need not stay are copied, round and round a ring. */
static void small_pieces_go_round_the_ring(void **state)
{
	enum { N = 15, TURNS = 6, PART = 3000 };
	struct rig *g = *state;
	struct rr_vb_ep *c = vb(g, CLIENT);
	uint8_t *out = g->end[CLIENT].mem, *in = g->end[SERVER].mem;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		for (unsigned i = 0; i < N; i++) {
			rig_recv(g, SERVER, in + i * PART, PART);
			rig_fill(out + i * PART, PART, turn * N + i);
			rig_send(g, CLIENT, out + i * PART, PART, 0);
		}
		rig_flush(g, CLIENT);
		assert_int_equal(0, c->mrs.count); /* there was room */
		assert_true(c->bounce_used >= N * PART);
		for (unsigned i = 0; i < N; i++) {
			assert_int_equal(0, rig_wait(g, SERVER, RR_WC_RECV).status);
			rig_check(in + i * PART, PART, turn * N + i);
			assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_SEND).status);
		}
		assert_int_equal(0, c->bounce_used);
	}
}

static struct {
	int (*notify)(struct ibv_cq *, int);
	struct rig *rig;
} arming;

/* Something is completed just before the queue is armed: no event tells of it. */
static int notify_too_late(struct ibv_cq *cq, int solicited)
{
	struct rig *g = arming.rig;

	if (g && cq == vb(g, SERVER)->cq) {
		arming.rig = NULL;
		rig_send(g, CLIENT, g->end[CLIENT].mem, 64, 0);
		rig_flush(g, CLIENT);
		while (vb(g, CLIENT)->sent.count) /* acknowledged: it is there */
			rig_ops(g, CLIENT)->progress(g->end[CLIENT].ep, rig_now());
		usleep(100000); /* iWARP acknowledges nothing */
	}
	return arming.notify(cq, solicited);
}

static void completion_before_arming_is_taken(void **state)
{
	struct rig *g = *state;
	struct rr_vb_ep *s = vb(g, SERVER);
	rr_time limit = rig_now() + RR_SEC(10);

	rig_round_trip(g, CLIENT);
	rig_settle(g);
	rig_recv(g, SERVER, g->end[SERVER].mem, 64);
	rig_recv(g, SERVER, g->end[SERVER].mem, 64);
	arming.notify = s->cq->context->ops.req_notify_cq;
	arming.rig = g;
	s->cq->context->ops.req_notify_cq = notify_too_late;
	rig_send(g, CLIENT, g->end[CLIENT].mem, 64, 0);
	rig_flush(g, CLIENT);
	while (arming.rig && rig_now() < limit)
		rig_ops(g, SERVER)->progress(g->end[SERVER].ep, rig_now());
	s->cq->context->ops.req_notify_cq = arming.notify;
	assert_null(arming.rig);
	assert_int_equal(0, s->rq.count); /* both, in that one call */
	assert_int_equal(0, rig_wait(g, SERVER, RR_WC_RECV).status);
}

/* A window that is being closed is none that can be closed. */
static void closing_is_asked_once(void **state)
{
	struct rig *g = *state;
	struct rr_region r = rig_register(g, SERVER, g->end[SERVER].mem, LEN, BOTH);

	rig_invalidate(g, SERVER, r.handle);
	assert_int_equal(-EINVAL, rig_ops(g, SERVER)->invalidate(g->end[SERVER].ep,
	                                                         r.handle, 9));
	rig_flush(g, SERVER);
	assert_int_equal(0, rig_wait(g, SERVER, RR_WC_INVALIDATE).status);
	rig_round_trip(g, CLIENT);
	rig_audit(g, SERVER);
}

/* Memory that need not stay is registered for the operation only. */
static void nothing_stays_registered(void **state)
{
	struct rig *g = *state;
	struct rr_vb_ep *c = vb(g, CLIENT);
	struct rr_region r = rig_register(g, SERVER, g->end[SERVER].mem, 8 * LEN, BOTH);

	rig_write(g, CLIENT, g->end[CLIENT].mem, 3 * LEN, r.handle, r.offset);
	rig_read(g, CLIENT, g->end[CLIENT].mem + 4 * LEN, 2 * LEN, r.handle, r.offset);
	rig_flush(g, CLIENT);
	assert_int_equal(1, c->mrs.count);
	assert_int_equal(1, c->rmrs.count);
	rig_wait(g, CLIENT, RR_WC_WRITE);
	rig_wait(g, CLIENT, RR_WC_READ);
	assert_int_equal(0, c->mrs.count);
	assert_int_equal(0, c->rmrs.count);
	assert_int_equal(0, c->n_blocks);
}

/* -- a stable block ------------------------------------------------------------ */

static bool one_block(void *ctx, const void *p, size_t len, void **ret_base,
                      size_t *ret_len)
{
	uint8_t *mem = ctx;

	if ((const uint8_t *)p < mem || (const uint8_t *)p + len > mem + RIG_MEM)
		return false;
	*ret_base = mem;
	*ret_len = RIG_MEM;
	return true;
}

static void connect_stable(struct rig *g)
{
	for (unsigned i = 0; i < 2; i++)
		g->cfg[i].memory = (struct rr_prov_memory){
		        .block = one_block,
		        .ctx = g->end[i].mem,
		};
	rig_connect_pair(g, CLIENT);
}

/* Everything that lies in it uses its one registration. */
static void stable_block_is_registered_once(void **state)
{
	struct rig *g = *state;
	struct rr_region r;
	uint8_t *m = g->end[CLIENT].mem;

	connect_stable(g);
	for (unsigned i = 0; i < 10; i++) {
		r = rig_register(g, SERVER, g->end[SERVER].mem, LEN, BOTH);
		rig_recv(g, SERVER, g->end[SERVER].mem + LEN, LEN);
		rig_fill(m + i * LEN, LEN, i);
		rig_write(g, CLIENT, m + i * LEN, LEN, r.handle, r.offset);
		rig_send(g, CLIENT, m + i * LEN, LEN, 0);
		rig_flush(g, CLIENT);
		assert_int_equal(0, vb(g, CLIENT)->mrs.count);
		assert_int_equal(0, rig_wait(g, SERVER, RR_WC_RECV).status);
		rig_check(g->end[SERVER].mem, LEN, i);
		rig_check(g->end[SERVER].mem + LEN, LEN, i);
		rig_invalidate(g, SERVER, r.handle);
		rig_flush(g, SERVER);
		assert_int_equal(0, rig_wait(g, SERVER, RR_WC_INVALIDATE).status);
	}
	assert_int_equal(1, vb(g, CLIENT)->n_blocks);
	assert_int_equal(1, vb(g, SERVER)->n_blocks);
	assert_int_equal(RIG_MEM, vb(g, CLIENT)->blocks[0].len);
}

/* ... which gives the peer nothing: its key is refused. */
static void stable_block_is_not_the_peers(void **state)
{
	struct rig *g = *state;
	uint32_t key;

	connect_stable(g);
	memset(g->end[SERVER].mem, 0xcc, LEN);
	rig_recv(g, SERVER, g->end[SERVER].mem, LEN);
	assert_int_equal(1, vb(g, SERVER)->n_blocks);
	key = vb(g, SERVER)->blocks[0].mr->rkey;
	rig_write(g, CLIENT, g->end[CLIENT].mem, 64, key,
	          (uintptr_t)g->end[SERVER].mem);
	rig_flush(g, CLIENT);
	rig_ended(g, SERVER, -EREMOTEIO);
	for (unsigned i = 0; i < LEN; i++)
		assert_int_equal(0xcc, g->end[SERVER].mem[i]);
}

static bool first_block(void *ctx, const void *p, size_t len, void **ret_base,
                        size_t *ret_len)
{
	uint8_t *mem = ctx;

	if ((const uint8_t *)p < mem || (const uint8_t *)p + len > mem + 65536)
		return false;
	*ret_base = mem;
	*ret_len = 65536;
	return true;
}

/* What lies half in a block is not in it. */
static void piece_across_the_end_of_a_block(void **state)
{
	struct rig *g = *state;
	uint8_t *out = g->end[CLIENT].mem, *in = g->end[SERVER].mem;
	struct rr_region r;

	g->cfg[CLIENT].memory =
	        (struct rr_prov_memory){.block = first_block, .ctx = out};
	rig_connect_pair(g, CLIENT);
	r = rig_register(g, SERVER, in, RIG_MEM, BOTH);
	rig_fill(out, 131072, 4);
	rig_write(g, CLIENT, out, 65536, r.handle, r.offset);
	rig_flush(g, CLIENT);
	assert_int_equal(1, vb(g, CLIENT)->n_blocks);
	rig_write(g, CLIENT, out + 60000, 20000, r.handle, r.offset + 60000);
	rig_round_trip(g, CLIENT);
	rig_check(in, 80000, 4);
	assert_int_equal(1, vb(g, CLIENT)->n_blocks);
}

/* ... nor does a region in it: the peer reaches that and not its neighbours. */
static void write_beside_a_region(struct rig *g, uint64_t skip)
{
	struct rr_region r;

	connect_stable(g);
	memset(g->end[SERVER].mem, 0xcc, 3 * LEN);
	r = rig_register(g, SERVER, g->end[SERVER].mem + LEN, LEN, BOTH);
	rig_write(g, CLIENT, g->end[CLIENT].mem, 10, r.handle, r.offset + skip);
	rig_flush(g, CLIENT);
	rig_ended(g, SERVER, -EREMOTEIO);
	for (unsigned i = 0; i < 3 * LEN; i++)
		assert_int_equal(0xcc, g->end[SERVER].mem[i]);
}

static void stable_block_before_a_region(void **state)
{
	write_beside_a_region(*state, -UINT64_C(1));
}

static void stable_block_beyond_a_region(void **state)
{
	write_beside_a_region(*state, LEN - 9);
}

/* -- fences ---------------------------------------------------------------------- */

/* The peer's Send With Invalidate closes the window: what it writes thereafter
 * is refused, changes nothing, and ends the connection. */
static void reply_closes_the_window(void **state)
{
	struct rig *g = *state;
	struct rr_region r;
	struct rr_wc wc;

	if (!vb(g, SERVER)->windows) { /* rxe has them unless told otherwise */
		assert_true(vb(g, SERVER)->dev->caps.iwarp || !vb(g, SERVER)->opts.mw);
		return;
	}
	memset(g->end[SERVER].mem, 0xcc, LEN);
	rig_fill(g->end[CLIENT].mem, LEN, 7);
	r = rig_register(g, SERVER, g->end[SERVER].mem, LEN, BOTH);
	rig_recv(g, SERVER, g->end[SERVER].mem + LEN, 64);
	rig_write(g, CLIENT, g->end[CLIENT].mem, 100, r.handle, r.offset);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 20, r.handle);
	rig_flush(g, CLIENT);
	wc = rig_wait(g, SERVER, RR_WC_RECV);
	assert_true(wc.invalidated);
	assert_int_equal(r.handle, wc.inv_handle);
	rig_check(g->end[SERVER].mem, 100, 7); /* before: placed */
	rig_write(g, CLIENT, g->end[CLIENT].mem, 100, r.handle, r.offset + 200);
	rig_flush(g, CLIENT);
	rig_ended(g, SERVER, -EREMOTEIO);
	rig_ended(g, CLIENT, -EREMOTEIO);
	for (unsigned i = 100; i < LEN; i++)
		assert_int_equal(0xcc, g->end[SERVER].mem[i]);
}

/* A Read's sink has rights for an iWARP peer: none are left once it is done. */
static void sink_is_closed_with_its_read(void **state)
{
	struct rig *g = *state;
	struct rr_region r = rig_register(g, SERVER, g->end[SERVER].mem, LEN, BOTH);
	uint8_t *to = g->end[CLIENT].mem;

	rig_fill(g->end[SERVER].mem, LEN, 3);
	count_begin(g, CLIENT);
	rig_read(g, CLIENT, to, LEN, r.handle, r.offset);
	rig_flush(g, CLIENT);
	count_end(g, CLIENT);
	assert_int_equal(1, seen.signalled);
	assert_int_equal((uintptr_t)to, seen.read_addr);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_READ).status);
	rig_check(to, LEN, 3);
	memset(to, 0xcc, LEN);
	rig_write(g, SERVER, g->end[SERVER].mem, LEN, seen.read_key, seen.read_addr);
	rig_flush(g, SERVER);
	(void)rig_wait(g, CLIENT, RR_WC_DISCONNECTED);
	rig_settle(g);
	for (unsigned i = 0; i < LEN; i++)
		assert_int_equal(0xcc, to[i]);
}

/* -- set-up -------------------------------------------------------------------- */

/* What comes is bound by what the client asked for, in both directions. */
static void reads_at_once_are_what_both_can(void **state)
{
	struct rig *g = *state;
	struct rr_prov_limits l;

	g->cfg[CLIENT].options = "ird=2,ord=3";
	rig_connect_pair(g, CLIENT);
	rig_ops(g, SERVER)->limits(g->end[SERVER].ep, &l);
	if (vb(g, SERVER)->dev->caps.iwarp) { /* siw lets neither know */
		assert_true(l.max_ord >= 1);
		return;
	}
	assert_int_equal(RR_MIN(2u, vb(g, SERVER)->opts.ord), l.max_ord);
	assert_int_equal(RR_MIN(3u, vb(g, SERVER)->opts.ird), vb(g, CLIENT)->ord);
	assert_int_equal(RR_MIN(3u, vb(g, SERVER)->opts.ird), l.max_ird);
	rig_ops(g, CLIENT)->limits(g->end[CLIENT].ep, &l);
	assert_int_equal(RR_MIN(2u, vb(g, SERVER)->opts.ord), l.max_ird);
}

static void no_reads_at_all(void **state)
{
	struct rig *g = *state;
	struct rr_sge s = {.base = g->end[CLIENT].mem, .len = 8};
	struct rr_prov_limits l;

	g->cfg[CLIENT].options = "ord=0";
	rig_connect_pair(g, CLIENT);
	rig_ops(g, SERVER)->limits(g->end[SERVER].ep, &l);
	assert_true(!l.max_ird || vb(g, SERVER)->dev->caps.iwarp);
	assert_int_equal(-EOPNOTSUPP,
	                 rig_ops(g, CLIENT)->post_read(g->end[CLIENT].ep, &s, 1, 0, 1));
	rig_round_trip(g, CLIENT);
	rig_audit(g, CLIENT);
}

/* A server that starts again does not wait for connections of the one before. */
static void listens_where_connections_are_left(void **state)
{
	struct rig *g = *state;
	struct sockaddr_storage again;

	g->ops[SERVER]->listener_close(g->listener);
	g->listener = NULL;
	assert_int_equal(0, g->ops[SERVER]->listen(
	                            &g->cfg[SERVER], (struct sockaddr *)&g->addr,
	                            sizeof(struct sockaddr_in), &g->listener, &again));
	assert_memory_equal(&again, &g->addr, sizeof(struct sockaddr_in));
	rig_connect_pair(g, 2);
	rig_round_trip(g, 2);
	rig_round_trip(g, CLIENT);
}

/* -- events that no device here makes --------------------------------------------- */

static struct rr_rdma_lib telling; /* until the rig is gone */
static struct ibv_async_event async_event;
static struct rdma_cm_event cm_event;
static bool given;

static int tell_async(struct ibv_context *c, struct ibv_async_event *ret)
{
	*ret = async_event;
	return given ? -1 : !(given = true);
}

static void no_ack_async(struct ibv_async_event *e)
{
}

static int tell_cm(struct rdma_event_channel *ch, struct rdma_cm_event **ret)
{
	*ret = &cm_event;
	return given ? -1 : !(given = true);
}

static int no_ack_cm(struct rdma_cm_event *e)
{
	return 0;
}

/* The device says @type of the queue pair of @of, and the client looks first. */
static void tell(struct rig *g, enum ibv_event_type type, unsigned of)
{
	rig_round_trip(g, CLIENT);
	telling = *rr_rdma_lib();
	telling.ibv_get_async_event = tell_async;
	telling.ibv_ack_async_event = no_ack_async;
	async_event = (struct ibv_async_event){.event_type = type,
	                                       .element.qp = vb(g, of)->qp};
	given = false;
	vb(g, CLIENT)->lib = &telling;
	vb(g, CLIENT)->dev_ready = true;
}

static void event_of_a_queue_pair_is_its_endpoints(void **state)
{
	struct rig *g = *state;

	rig_connect_pair(g, 2);
	tell(g, IBV_EVENT_QP_ACCESS_ERR, SERVER);
	rig_ended(g, SERVER, -EREMOTEIO);
	(void)rig_wait(g, CLIENT, RR_WC_DISCONNECTED);
	rig_round_trip(g, 2);
}

static void event_of_the_device_is_everybodys(void **state)
{
	struct rig *g = *state;

	rig_connect_pair(g, 2);
	tell(g, IBV_EVENT_DEVICE_FATAL, CLIENT);
	for (unsigned i = 0; i < 4; i++) {
		rig_ended(g, i, -ENODEV);
		assert_non_null(strstr(rig_ops(g, i)->reason(g->end[i].ep), "device"));
	}
}

static void event_that_means_nothing_ends_nothing(void **state)
{
	struct rig *g = *state;

	tell(g, IBV_EVENT_COMM_EST, CLIENT);
	rig_round_trip(g, CLIENT);
	assert_true(given);
}

static void connection_ends_when_its_address_moves(void **state)
{
	struct rig *g = *state;
	struct rr_vb_ep *ep = vb(g, CLIENT);

	rig_round_trip(g, CLIENT);
	rig_recv(g, CLIENT, g->end[CLIENT].mem, 100);
	telling = *rr_rdma_lib();
	telling.rdma_get_cm_event = tell_cm;
	telling.rdma_ack_cm_event = no_ack_cm;
	cm_event = (struct rdma_cm_event){.id = ep->id,
	                                  .event = RDMA_CM_EVENT_ADDR_CHANGE};
	given = false;
	ep->lib = &telling;
	rr_vb_cm_events(ep);
	rig_ended(g, CLIENT, -ENODEV);
	assert_non_null(
	        strstr(rig_ops(g, CLIENT)->reason(&ep->base.ep), "address moved"));
	(void)rig_wait(g, SERVER, RR_WC_DISCONNECTED);
	rig_audit(g, SERVER);
}

/* -- the device goes -------------------------------------------------------------- */

/* RR_REMOVE is the command that takes the device away, and may wait for this
 * process.  An end is told; the other too, or sees that one close; every post
 * ends, nothing hangs. */
static void device_is_removed(void **state)
{
	struct rig *g = *state;
	struct rr_region r = rig_register(g, SERVER, g->end[SERVER].mem, LEN, BOTH);
	rr_time before;
	unsigned told = 0;

	rig_round_trip(g, CLIENT);
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < 5; i++)
			rig_recv(g, s, g->end[s].mem + LEN, LEN);
	rig_write(g, CLIENT, g->end[CLIENT].mem, LEN, r.handle, r.offset);
	rig_flush(g, CLIENT);
	before = rig_now();
	assert_int_equal(0, system(getenv("RR_REMOVE")));
	for (unsigned s = 0; s < 2; s++) {
		int status = rig_wait(g, s, RR_WC_DISCONNECTED).status;

		assert_true(!status || status == -ENODEV || status == -ECONNRESET);
		told += status == -ENODEV;
		assert_int_not_equal(0, strlen(rig_ops(g, s)->reason(g->end[s].ep)));
	}
	assert_int_not_equal(0, told);
	assert_true(rig_now() - before < RR_SEC(10));
	rig_settle(g);
	for (unsigned s = 0; s < 2; s++)
		rig_audit(g, s);
}

#define C(f) cmocka_unit_test_setup_teardown(f, rig_setup_connected, rig_teardown)
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

/* With the provider at both ends; the mixed runs are for the wire. */
int rig_own_tests(void)
{
	static const struct CMUnitTest tests[] = {
	        C(one_call_and_one_completion_a_batch),
	        C(device_is_not_asked_for_events_where_data_move),
	        C(short_sends_are_inline),
	        T(device_is_given_what_it_has_room_for),
	        C(small_pieces_go_round_the_ring),
	        C(completion_before_arming_is_taken),
	        C(closing_is_asked_once),
	        C(nothing_stays_registered),
	        T(stable_block_is_registered_once),
	        T(stable_block_is_not_the_peers),
	        T(piece_across_the_end_of_a_block),
	        T(stable_block_before_a_region),
	        T(stable_block_beyond_a_region),
	        C(reply_closes_the_window),
	        C(sink_is_closed_with_its_read),
	        T(reads_at_once_are_what_both_can),
	        T(no_reads_at_all),
	        C(listens_where_connections_are_left),
	        C(event_of_a_queue_pair_is_its_endpoints),
	        C(event_of_the_device_is_everybodys),
	        C(event_that_means_nothing_ends_nothing),
	        C(connection_ends_when_its_address_moves),
	};

	static const struct CMUnitTest removal[] = {C(device_is_removed)};

	if (getenv("RR_REMOVE"))
		return cmocka_run_group_tests_name("removal", removal, NULL, NULL);
	if (rig_provider(CLIENT) != &rr_verbs_ops ||
	    rig_provider(SERVER) != &rr_verbs_ops)
		return 0;
	return cmocka_run_group_tests_name("own", tests, NULL, NULL);
}

bool rig_own_only(void)
{
	return getenv("RR_REMOVE") != NULL;
}
