/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reception of continued messages. [v2 §6.2.2.2, M1 to M9]
 *
 * At most one sequence is in progress, whether of a Call, a Reply or properties: the
 * parts of one message are not interleaved with other messages.  The parts of a Reply
 * or of properties are collected in a buffer that grows with the octets received and is
 * charged to the quota.  Parts of Calls are collected by collect.c.
 *
 * After a fault, the remaining parts of the sequence are discarded without an answer.
 * The XIDs of such sequences are kept in a small table.  The connection is closed if
 * the table overflows.
 */
#include "conn/core.h"

static bool find_discard(const struct rr_cont *k, uint32_t xid, bool response,
                         unsigned *ret_at)
{
	for (unsigned i = 0; i < k->n_discards; i++) {
		if (k->discards[i].xid != xid || k->discards[i].response != response)
			continue;
		*ret_at = i;
		return true;
	}
	return false;
}

bool rr_cont_discards(struct rr_conn *c, const struct rr_msg *m)
{
	struct rr_cont *k = &c->cont;
	unsigned at;

	if (!find_discard(k, m->p.xid, m->response, &at))
		return false;
	if (m->more)
		return true;
	k->discards[at] = k->discards[--k->n_discards];
	if (m->response)
		rr_call_drained(c, m->p.xid);
	return true;
}

void rr_cont_discard(struct rr_conn *c, uint32_t xid, bool response)
{
	struct rr_cont *k = &c->cont;
	unsigned at;

	if (find_discard(k, xid, response, &at))
		return;
	if (k->n_discards == RR_MAX_DISCARDS) {
		rr_conn_fail(c, -EPROTO);
		return;
	}
	k->discards[k->n_discards++] = (struct rr_discard){
	        .xid = xid, .response = response, .until = RR_TIME_NEVER};
}

void rr_cont_wait(struct rr_conn *c, uint32_t xid, rr_time until)
{
	unsigned at;

	if (find_discard(&c->cont, xid, true, &at))
		c->cont.discards[at].until = until;
}

/* Ends calls whose drain time has passed.  If a later part of such a Reply arrives and
 * invalidates a handle, the connection is closed. */
void rr_cont_tick(struct rr_conn *c)
{
	struct rr_cont *k = &c->cont;

	for (unsigned i = 0; i < k->n_discards; i++) {
		if (c->now < k->discards[i].until)
			continue;
		k->discards[i].until = RR_TIME_NEVER;
		rr_call_drained(c, k->discards[i].xid);
	}
}

rr_time rr_cont_deadline(const struct rr_conn *c)
{
	rr_time t = RR_TIME_NEVER;

	for (unsigned i = 0; i < c->cont.n_discards; i++)
		t = RR_MIN(t, c->cont.discards[i].until);
	return t;
}

void rr_cont_drop(struct rr_conn *c)
{
	struct rr_request_state *call = c->cont.call;

	c->cont.active = false;
	c->cont.call = NULL;
	rr_mbuf_free(&c->quota, &c->cont.buf);
	if (call)
		rr_request_free(c, call);
}

void rr_cont_fini(struct rr_conn *c)
{
	rr_cont_drop(c);
	c->cont.n_discards = 0;
}

void rr_cont_over(struct rr_conn *c, uint32_t xid)
{
	struct rr_cont *k = &c->cont;
	unsigned at;

	if (rr_cont_is(c, xid, true))
		rr_cont_drop(c);
	if (find_discard(k, xid, true, &at))
		k->discards[at] = k->discards[--k->n_discards];
	rr_call_drained(c, xid);
}

void rr_cont_begin(struct rr_conn *c, const struct rr_msg *m)
{
	struct rr_cont *k = &c->cont;

	k->active = true;
	k->xid = m->p.xid;
	k->htype = m->p.htype;
	k->family = m->family;
	k->response = m->response;
	k->buf = (struct rr_mbuf){.charged = true};
}

uint32_t rr_cont_check_rest(const struct rr_conn *c, const struct rr_msg *m,
                            uint64_t max)
{
	const struct rr_cont *k = &c->cont;
	uint64_t left = (uint64_t)m->payload_len + m->rest;

	if (!m->family->counted)
		return 0;
	if ((m->more && !m->rest) || left != (k->active ? k->rest : left) || left > max)
		return RDMA2_ERR_INVAL_CONT;
	return 0;
}

uint32_t rr_cont_append(struct rr_conn *c, const struct rr_msg *m, const uint8_t *p,
                        size_t len, size_t max)
{
	struct rr_cont *k = &c->cont;

	if (!k->active)
		rr_cont_begin(c, m);
	if (k->buf.len + len > max)
		return RDMA2_ERR_INVAL_CONT; /* [M7] */
	k->rest = m->rest;
	if (rr_mbuf_reserve(&c->quota, &k->buf, k->buf.len + len + m->rest))
		return RDMA2_ERR_SYSTEM;
	memcpy(k->buf.p + k->buf.len, p, len);
	k->buf.len += len;
	return 0;
}
