/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Requester's RDMA Reads of Replies that the Responder exposes.       [ext §3.5]
 *
 * Normal path: a Reply with a Position Zero Read chunk passes its checks -> memory for
 * the whole stream is charged to the quota, in order of arrival -> its segments are read
 * -> the notification is queued -> the call ends.
 *
 * Whatever happens, the peer is notified exactly once for each such Reply, after the
 * last Read has completed.  A pull that waits for memory too long is given up, because
 * the peer may end the exposure: a Read after that would end the connection.
 */
#include "conn/core.h"

bool rr_rprc_may_pull(const struct rr_conn *c)
{
	return c->rprc.pulls && (c->cfg.role == RR_CONN_CLIENT ||
	                         c->props.peer.rvrsdir == RDMA2_RVRSDIR_GENL);
}

/* -- ending ---------------------------------------------------------------- */

void rr_reply_pull_free(struct rr_conn *c, struct rr_call_state *s)
{
	if (!s->pull)
		return;
	rr_list_del(&s->pull->link);
	rr_list_del(&s->pull->waiting);
	rr_slab_put(&c->rprc.pull_slab, s->pull);
	s->pull = NULL;
}

/* Notifies the peer and frees the pull.  @read is true if the Reply was read. */
static void conclude_pull(struct rr_conn *c, struct rr_call_state *s, bool read)
{
	rr_notice_queue(c, s->call->xid, read ? s->pull : NULL);
	rr_reply_pull_free(c, s);
}

static int check_pulled(const struct rr_call_state *s)
{
	return rr_answer_is_reply(s->reply, s->reply_len, s->call->xid) ? RR_CALL_OK
	                                                                : -EBADMSG;
}

/* Ends the call with the pulled Reply, or with the failure. */
static void deliver_pulled(struct rr_conn *c, struct rr_call_state *s, int status)
{
	s->reply_buf.len = s->reply_buf.cap;
	s->reply = s->reply_buf.p;
	s->reply_len = s->reply_buf.len;
	if (!status)
		status = check_pulled(s);
	if (status == RR_CALL_OK)
		c->count.bytes_reply_pulled += s->reply_len;
	rr_call_end(c, s, status);
}

/* Handles the completion of one Read.  If Reads were flushed, the provider will report
 * the loss of the connection, which ends the call. */
static void finish_reply_read(struct rr_conn *c, void *owner, int status)
{
	struct rr_call_state *s = owner;
	int failure;

	if (status && !s->pull->status)
		s->pull->status = status;
	if (--s->reads_out)
		return;
	failure = s->pull->status;
	conclude_pull(c, s, !failure);
	if (s->phase != RR_CALL_PULLING)
		rr_call_settle(c, s);
	else if (failure != -ECANCELED)
		deliver_pulled(c, s, failure);
}

void rr_reply_pull_end(struct rr_conn *c, struct rr_call_state *s)
{
	if (s->pull && !s->reads_out)
		conclude_pull(c, s, false);
}

/* -- starting -------------------------------------------------------------- */

/* Queues a Read for each segment.  If one cannot be queued, the others still have to
 * complete before the call may end. */
static void queue_reply_reads(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_reply_pull *k = s->pull;
	uint8_t *to = s->reply_buf.p;

	for (unsigned i = 0; i < k->n && !k->status; i++) {
		if (rr_read_queue(c, s->call->xid, &k->seg[i], to, finish_reply_read,
		                  s))
			s->reads_out++;
		else
			k->status = -ENOMEM;
		to += k->seg[i].length;
	}
	if (!s->reads_out)
		rr_call_end(c, s, k->status);
}

/* Starts the pull.  Returns false if it must wait until the quota has enough memory.
 * [D3] */
static bool start_pull(struct rr_conn *c, struct rr_call_state *s)
{
	uint64_t bytes = s->pull->bytes;

	if (bytes > c->quota.limit - c->quota.charged)
		return false;
	s->reply_buf.charged = true;
	if (rr_mbuf_alloc(&c->quota, &s->reply_buf, (size_t)bytes)) {
		rr_call_end(c, s, -ENOMEM); /* no event would announce more memory */
		return true;
	}
	rr_list_del(&s->pull->waiting);
	queue_reply_reads(c, s);
	return true;
}

bool rr_reply_pull_next(struct rr_conn *c)
{
	struct rr_list *n = rr_list_first(&c->rprc.waiting);
	struct rr_reply_pull *k;

	if (!n || !rr_conn_live(c))
		return false;
	k = rr_container_of(n, struct rr_reply_pull, waiting);
	if (c->now >= rr_rprc_exposed_until(c, k->received)) {
		rr_call_end(c, k->call, -ENOMEM);
		return true;
	}
	return start_pull(c, k->call);
}

rr_time rr_reply_pull_deadline(const struct rr_conn *c)
{
	struct rr_list *n = rr_list_first(&c->rprc.waiting);

	if (!n)
		return RR_TIME_NEVER;
	return rr_rprc_exposed_until(
	        c, rr_container_of(n, struct rr_reply_pull, waiting)->received);
}

/* -- the Reply ------------------------------------------------------------- */

/* Returns the octets of the Reply's Read chunk, or 0 if it breaks a rule: one Position
 * Zero chunk without empty segments, and no Reply chunk. */
static uint64_t read_chunk_octets(const struct rr_lists *l)
{
	const struct rr_chunk *k = &l->reads[0];

	if (l->over || l->n_reads != 1 || k->position || l->has_reply)
		return 0;
	for (uint16_t i = 0; i < k->count; i++)
		if (!l->seg[k->first + i].length)
			return 0;
	return k->length >= RR_RPC_MIN ? k->length : 0;
}

/* Returns rdma_inv_handle of the Reply if it is a handle of the Read chunk, and our
 * Sends may invalidate it; otherwise 0.                                   [ext §3.7] */
static uint32_t pulled_inv_handle(const struct rr_conn *c, const struct rr_lists *l)
{
	const struct rr_chunk *k = &l->reads[0];

	for (uint16_t i = 0; c->remote_inv_out && i < k->count; i++)
		if (l->seg[k->first + i].handle == l->inv_handle)
			return l->inv_handle;
	return 0;
}

static bool create_pull(struct rr_conn *c, struct rr_call_state *s,
                        const struct rr_msg *m)
{
	struct rr_reply_pull *k = rr_slab_get(&c->rprc.pull_slab);
	const struct rr_chunk *chunk = &m->lists.reads[0];

	if (!k)
		return false;
	k->call = s;
	k->received = c->now;
	k->inv_handle = pulled_inv_handle(c, &m->lists);
	k->status = 0;
	k->bytes = chunk->length;
	k->n = chunk->count;
	memcpy(k->seg, &m->lists.seg[chunk->first], k->n * sizeof(k->seg[0]));
	rr_list_push(&c->rprc.pulls_list, &k->link);
	rr_feature_begin(c, RR_FEATURE_RPRC);
	rr_list_push(&c->rprc.waiting, &k->waiting);
	s->pull = k;
	return true;
}

/* Notifies the peer of a Reply that is not pulled, and ends its call. */
static void refuse_pull(struct rr_conn *c, const struct rr_msg *m, int status)
{
	const struct rr_error none = {.code = RDMA2_ERR_BAD_XDR};

	rr_notice_queue(c, m->p.xid, NULL);
	rr_recv_fault(c, m, &none, status);
}

static void take_pull(struct rr_conn *c, struct rr_call_state *s,
                      const struct rr_msg *m)
{
	uint64_t bytes = read_chunk_octets(&m->lists);

	if (!bytes || !rr_rprc_may_pull(c) || !rr_answer_match_writes(s, m)) {
		refuse_pull(c, m, -EPROTO);
	} else if (bytes > RR_MIN(c->cfg.features.max_pull, c->quota.limit)) {
		refuse_pull(c, m, -EOVERFLOW);
	} else if (!create_pull(c, s, m)) {
		refuse_pull(c, m, -ENOMEM);
	} else {
		c->count.bytes_write_chunk += rr_answer_note_results(s, &m->lists);
		rr_conn_trace(c, RR_TRACE_REPLY_RECEIVED, m->p.xid, 3, bytes, 0);
		rr_call_move(s, RR_CALL_EV_PULL, RR_CALL_PULLING);
	}
}

bool rr_reply_pull_busy(const struct rr_conn *c, uint32_t xid)
{
	struct rr_list *n;

	rr_list_for_each (n, &c->rprc.pulls_list)
		if (rr_container_of(n, struct rr_reply_pull, link)->call->call->xid ==
		    xid)
			return true;
	return false;
}

void rr_reply_pull_unread(struct rr_conn *c, const struct rr_msg *m)
{
	if (m->response && m->lists.total_reads && !rr_reply_pull_busy(c, m->p.xid))
		rr_notice_queue(c, m->p.xid, NULL);
}

bool rr_reply_pull_received(struct rr_conn *c, struct rr_call_state *s,
                            const struct rr_msg *m)
{
	if (!c->version->properties)
		return false;
	if (s && s->phase == RR_CALL_WAITING && m->p.htype == RDMA2_NOMSG) {
		take_pull(c, s, m);
		return true;
	}
	rr_reply_pull_unread(c, m);
	return false;
}
