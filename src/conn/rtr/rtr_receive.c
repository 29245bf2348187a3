/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups received, and reports about them.                            [ext §5.7]
 *
 * The transmissions of the open group stay in their Receive buffers; spare buffers are
 * posted instead.  The buffers of a group of several transmissions are charged to the
 * quota before the group begins.  A complete group is given to rtr_intake.c or
 * rtr_result.c.
 */
#include "conn/core.h"

/* -- transmissions --------------------------------------------------------- */

void rr_rtr_incoming_free(struct rr_conn *c, struct rr_rtr_incoming *in)
{
	if (!in)
		return;
	for (uint32_t k = 0; k < in->n; k++)
		rr_recv_put(c, in->rbuf[k]);
	for (uint32_t i = 0; i < in->h.n_items; i++)
		if (in->copy[i])
			rr_mem_put(&c->cfg.mem, in->copy[i], in->h.item[i].length);
	rr_quota_uncharge(&c->quota, in->charged);
	if (in->out)
		rr_slab_put(&c->rtr.out_slab, in->out);
	rr_slab_put(&c->rtr.in_slab, in);
}

uint64_t rr_rtr_payload_bytes(const struct rr_rtr_incoming *in)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < in->n; k++)
		sum += in->got[k].pslen;
	return sum;
}

void rr_rtr_copy_payload(const struct rr_rtr_incoming *in, uint8_t *to)
{
	for (uint32_t k = 0; k < in->n; k++) {
		memcpy(to, in->rbuf[k]->data + in->got[k].header, in->got[k].pslen);
		to += in->got[k].pslen;
	}
}

void rr_rtr_copy_item(const struct rr_rtr_incoming *in, uint32_t item, uint8_t *to)
{
	for (unsigned i = 0; i < in->place.n; i++) {
		const struct rr_rtr_fragment *f = &in->place.fragment[i];

		if (f->item != item)
			continue;
		memcpy(to, in->rbuf[f->number]->data + f->at, f->length);
		to += f->length;
	}
}

void rr_rtr_drop_group(struct rr_conn *c)
{
	rr_rtr_group_refuse(&c->rtr.group);
	rr_rtr_incoming_free(c, c->rtr.in);
	c->rtr.in = NULL;
}

/* -- reports --------------------------------------------------------------- */

void rr_rtr_name(const struct rr_rtr_incoming *in, struct rr_rtr_error *e)
{
	e->bad.xid = e->lead.xid = in->xid;
	e->bad.dir = e->lead.dir = in->response;
	e->has_lead = in->h.count > 1;
	if (!e->has_lead)
		e->lead = (struct rr_rtr_id){0};
}

void rr_rtr_report(struct rr_conn *c, bool response, const struct rr_rtr_error *e)
{
	struct rr_rtr *t = &c->rtr;

	if (!t->report)
		t->report = rr_mem_get(&c->cfg.mem,
		                       RR_RTR_MAX_REPORTS * sizeof(*t->report));
	if (!t->report || t->n_reports == RR_RTR_MAX_REPORTS) {
		/* There is no memory, or the peer sends faults faster than it takes
		 * reports. */
		rr_conn_fail(c, -EPROTO);
		return;
	}
	rr_feature_begin(c, RR_FEATURE_RTR);
	t->report[t->n_reports++] = (struct rr_rtr_report){
	        .xid = e->bad.xid,
	        .flags = response ? 0 : RDMA2_F_RESPONSE,
	        .e = *e,
	};
	rr_conn_trace(c, RR_TRACE_PEER_FAULT, e->bad.xid, e->code, e->arg[0],
	              e->arg[1]);
}

bool rr_rtr_send_report(struct rr_conn *c)
{
	enum { MOST = 64 };
	struct rr_rtr *t = &c->rtr;
	struct rr_rtr_report *r = t->report;
	struct rr_prefix p = {.vers = RPCRDMA_VERSION_TWO, .htype = RDMA2_XMOPT_ERR};
	struct rr_writer w;
	struct rr_xmit *x;

	if (!t->n_reports)
		return false;
	p.xid = r->xid;
	p.flags = r->flags;
	x = rr_xmit_begin(c, &p, MOST, &w);
	if (!x) {
		rr_conn_fail(c, -ENOMEM);
		return true;
	}
	rr_wire_rtr_put_error(&w, &r->e);
	rr_xmit_header(x, &w);
	memmove(r, r + 1, --t->n_reports * sizeof(*r));
	c->count.errors_sent++;
	rr_xmit_send(c, x);
	return true;
}

/* Reports a response as faulty, and lets its call wait for another one. */
static void report_response(struct rr_conn *c, uint32_t xid,
                            const struct rr_rtr_error *e)
{
	rr_rtr_report(c, true, e);
	rr_rtr_response_faulty(c, xid);
}

static void report_bad_message(struct rr_conn *c, const struct rr_msg *m,
                               const struct rr_rtr_error *e)
{
	bool response = e->has_lead ? e->lead.dir : m->response;

	rr_recv_discard(c, m, RR_DISCARD_FAULT);
	if (response)
		report_response(c, e->has_lead ? e->lead.xid : m->p.xid, e);
	else
		rr_rtr_report(c, false, e);
}

/* Drops the open group because message @m interrupts it. */
static bool interrupt_group(struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_error e = {.code = RDMA2_ERR_INVAL_CONT};
	struct rr_rtr_error report;
	bool response = rr_rtr_group_responds(&c->rtr.group);
	uint32_t xid = c->rtr.group.xid;

	if (!rr_rtr_group_other(&c->rtr.group, m->p.xid, m->response, m->p.htype,
	                        &report))
		return false;
	rr_rtr_incoming_free(c, c->rtr.in);
	c->rtr.in = NULL;
	if (m->p.htype != RDMA2_XMOPT_ERR && response)
		report_response(c, xid, &report);
	else if (m->p.htype != RDMA2_XMOPT_ERR)
		rr_rtr_report(c, false, &report);
	else if (!response) /* no report is sent about a report */
		rr_tx_error(c, xid, RPCRDMA_VERSION_TWO, &e, false);
	else if (rr_rtr_awaiting(c, xid))
		rr_call_end(c, rr_rtr_awaiting(c, xid), -EPROTO);
	return true;
}

void rr_rtr_interrupted(struct rr_conn *c, const struct rr_msg *m)
{
	(void)interrupt_group(c, m);
}

/* -- the first transmission ------------------------------------------------ */

/* Keeps the transmission's Receive buffer.  Returns false if there is no memory. */
static bool keep_transmission(struct rr_conn *c, struct rr_rtr_incoming *in,
                              struct rr_msg *m, size_t header, uint32_t pslen)
{
	if (rr_recv_keep(c, m))
		return false;
	in->got[in->n] = (struct rr_rtr_got){(uint32_t)m->len, (uint32_t)header, pslen};
	in->rbuf[in->n++] = m->rbuf;
	return true;
}

/* Begins to receive a group.  Returns false if there is no memory. */
static bool begin_group(struct rr_conn *c, struct rr_msg *m,
                        const struct rr_rtr_header *h, size_t header)
{
	struct rr_rtr_incoming *in = rr_slab_get(&c->rtr.in_slab);
	uint64_t charge = h->count > 1 ? (uint64_t)h->count * c->rbuf_bytes : 0;

	if (!in)
		return false;
	memset(in, 0, offsetof(struct rr_rtr_incoming, rbuf));
	in->xid = m->p.xid;
	in->response = m->response;
	rr_rtr_copy(&in->h, h);
	memset(in->base, 0, h->n_items * sizeof(in->base[0]));
	memset(in->copy, 0, h->n_items * sizeof(in->copy[0]));
	if (!rr_quota_charge(&c->quota, charge)) {
		rr_rtr_incoming_free(c, in);
		return false;
	}
	in->charged = charge;
	if (!keep_transmission(c, in, m, header, h->pslen)) {
		rr_rtr_incoming_free(c, in);
		return false;
	}
	c->rtr.in = in;
	return true;
}

static void finish_group(struct rr_conn *c)
{
	struct rr_rtr_incoming *in = c->rtr.in;

	c->rtr.in = NULL;
	if (in->response)
		rr_rtr_take_response(c, in);
	else
		rr_rtr_take_request(c, in);
}

/* Refuses a first transmission, and the rest of its group, with an error. */
static void refuse_lead(struct rr_conn *c, const struct rr_msg *m,
                        const struct rr_error *e, int status)
{
	rr_rtr_group_refuse(&c->rtr.group);
	rr_recv_fault(c, m, e, status);
}

/* Drops the open group because there is no memory for transmission @m.  If further
 * transmissions follow, the last one may invalidate a region of the call that the group
 * answers.  The call therefore ends when that one has arrived, or after drain_ns. */
static void drop_for_memory(struct rr_conn *c, const struct rr_msg *m, bool last)
{
	const struct rr_error full = {.code = RDMA2_ERR_SYSTEM};
	struct rr_call_state *s = m->response ? rr_call_find(c, m->p.xid) : NULL;

	rr_rtr_drop_group(c);
	if (last || !s) {
		rr_recv_fault(c, m, &full, -ENOMEM);
		return;
	}
	rr_recv_discard(c, m, RR_DISCARD_FAULT);
	rr_cont_discard(c, m->p.xid, true);
	if (s->phase == RR_CALL_WAITING)
		rr_call_drain(c, s, -ENOMEM);
}

static uint64_t item_octets(const struct rr_rtr_header *h)
{
	uint64_t sum = h->pslen;

	for (uint32_t i = 0; i < h->n_items; i++)
		sum += h->item[i].length;
	return sum;
}

/* Returns true if the request is too long, as far as its length is known.
 * [ext §5.7] */
static bool exceeds_length(const struct rr_conn *c, const struct rr_rtr_header *h)
{
	return item_octets(h) >
	       (uint64_t)c->cfg.max_message_bytes + c->cfg.max_chunk_bytes;
}

/* Returns true if the group has more transmissions than is allowed, and reports it. */
static bool exceeds_count(struct rr_conn *c, const struct rr_msg *m, uint32_t count,
                          uint32_t most)
{
	const struct rr_rtr_error e = {
	        .bad = {m->p.xid, m->response, 0},
	        .code = OPTRERR_BADSEQ,
	        .arg = {most, count},
	};

	if (count <= most)
		return false;
	rr_rtr_group_refuse(&c->rtr.group);
	report_bad_message(c, m, &e);
	return true;
}

/* Checks and keeps a first transmission whose header has been decoded.  @cut is true if
 * it has interrupted another group. */
static void take_lead(struct rr_conn *c, struct rr_msg *m,
                      const struct rr_rtr_header *h, size_t header, bool cut)
{
	if (h->count > 1 || !cut)
		rr_rtr_group_begin(&c->rtr.group, m->p.xid, m->p.htype, h->count);
	if (!begin_group(c, m, h, header))
		drop_for_memory(c, m, h->count == 1);
	else if (h->count == 1)
		finish_group(c);
}

static void receive_request(struct rr_conn *c, struct rr_msg *m, bool cut)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);
	uint32_t most = rr_rtr_own_request_limit(c);
	struct rr_error e = {.code = RDMA2_ERR_BAD_XDR};
	struct rr_rtr_header h;

	if (m->response || rr_wire_rtr_get_req(&cur, &h)) {
		refuse_lead(c, m, &e, -EBADMSG);
		return;
	}
	if (exceeds_count(c, m, h.count, most))
		return;
	if (!rr_rtr_check_request(c, &h, &e)) {
		refuse_lead(c, m, &e, 0);
		return;
	}
	e.code = RDMA2_ERR_SYSTEM;
	if (exceeds_length(c, &h))
		refuse_lead(c, m, &e, 0);
	else
		take_lead(c, m, &h, (size_t)(cur.pos - m->rbuf->data), cut);
}

static void receive_response(struct rr_conn *c, struct rr_msg *m, bool cut)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);
	const struct rr_error e = {.code = RDMA2_ERR_BAD_XDR};
	struct rr_call_state *s = rr_rtr_awaiting(c, m->p.xid);
	struct rr_rtr_header h;

	if (!m->response || rr_wire_rtr_get_resp(&cur, &h) || h.over) {
		refuse_lead(c, m, &e, -EBADMSG);
		return;
	}
	if (!s) {
		rr_rtr_group_refuse(&c->rtr.group);
		if (rr_call_sent(c, m->p.xid)) /* a Reply to a base Call has a base
		                                * type */
			rr_recv_fault(c, m, &e, -EPROTO);
		else
			rr_recv_discard(c, m, RR_DISCARD_NO_CALL);
		if (h.count == 1)
			rr_call_drained(c, m->p.xid);
		return;
	}
	if (exceeds_count(c, m, h.count, s->rtr->h.rsbuf))
		return;
	rr_rtr_unreserve(c, s, h.count);
	take_lead(c, m, &h, (size_t)(cur.pos - m->rbuf->data), cut);
}

static void receive_lead(struct rr_conn *c, struct rr_msg *m)
{
	const struct rr_error e = {.code = RDMA2_ERR_INVAL_CONT};
	bool cut = c->rtr.group.phase == RR_RTR_GROUP_OPEN;

	if (cut)
		(void)interrupt_group(c, m);
	if (c->cont.active) /* within a sequence of the base protocol */
		refuse_lead(c, m, &e, -EPROTO);
	else if (m->p.htype == RDMA2_XMOPT_REQ)
		receive_request(c, m, cut);
	else
		receive_response(c, m, cut);
}

/* -- later transmissions --------------------------------------------------- */

static void drop_undecodable(struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_error e = {.code = RDMA2_ERR_BAD_XDR};
	struct rr_rtr_incoming *in = c->rtr.in;

	if (in && in->xid == m->p.xid)
		rr_rtr_drop_group(c);
	rr_recv_fault(c, m, &e, -EBADMSG);
}

/* Returns true if the open group has become too long. */
static bool grows_too_long(const struct rr_conn *c, const struct rr_rtr_incoming *in,
                           uint32_t pslen)
{
	uint64_t most = in->response ? RR_MAX(c->cfg.features.max_pull,
	                                      (uint64_t)c->cfg.max_message_bytes)
	                             : c->cfg.max_message_bytes;

	return rr_rtr_payload_bytes(in) + pslen > most;
}

static void keep_continuation(struct rr_conn *c, struct rr_msg *m,
                              const struct rr_rtr_cont *k, bool last)
{
	struct rr_rtr_incoming *in = c->rtr.in;

	if (grows_too_long(c, in, k->pslen) ||
	    !keep_transmission(c, in, m, RR_WIRE_PREFIX + RR_WIRE_RTR_CONT, k->pslen))
		drop_for_memory(c, m, last);
	else if (last)
		finish_group(c);
}

static void receive_continuation(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);
	struct rr_rtr_error report;
	struct rr_rtr_cont k;
	enum rr_rtr_step step;

	if (rr_wire_rtr_get_cont(&cur, &k)) {
		drop_undecodable(c, m);
		return;
	}
	step = rr_rtr_group_next(&c->rtr.group, m->p.xid, m->response, &k, &report);
	if (step == RR_RTR_STEP_DROP) {
		rr_recv_discard(c, m, RR_DISCARD_SEQUENCE);
		if (rr_rtr_group_ends(&c->rtr.group, m->p.xid, m->response, &k))
			(void)rr_cont_discards(c, m); /* ends a DRAINING call */
	} else if (step == RR_RTR_STEP_REPORT) {
		rr_rtr_incoming_free(c, c->rtr.in);
		c->rtr.in = NULL;
		report_bad_message(c, m, &report);
	} else {
		keep_continuation(c, m, &k, step == RR_RTR_STEP_LAST);
	}
}

/* -- reports received ------------------------------------------------------ */

/* Handles a report.  It concerns the group, if one is named; the bad transmission may
 * be another message, which interrupted the group. */
static void receive_report(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);
	struct rr_rtr_error e;
	uint32_t xid;

	(void)interrupt_group(c, m);
	if (rr_wire_rtr_get_error(&cur, &e)) {
		rr_recv_discard(c, m, RR_DISCARD_ERROR);
		return;
	}
	c->count.errors_received++;
	xid = e.has_lead ? e.lead.xid : m->p.xid;
	rr_conn_trace(c, RR_TRACE_ERROR_RECEIVED, xid, e.code, e.arg[0], e.arg[1]);
	if (m->response)
		rr_rtr_call_reported(c, xid);
	else
		rr_rtr_response_reported(c, xid);
}

void rr_rtr_received(struct rr_conn *c, struct rr_msg *m)
{
	if (m->p.htype == RDMA2_XMOPT_CONT)
		receive_continuation(c, m);
	else if (m->p.htype == RDMA2_XMOPT_ERR)
		receive_report(c, m);
	else
		receive_lead(c, m);
}
