/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iWARP provider's table of operations.
 *
 * Normal path: a post appends to a queue and reserves space for its completion; flush
 * writes the posted operations as FPDUs; progress reads octets, places data and
 * completes operations; poll returns the completions.  All work is done inside these
 * calls.
 *
 * Failure: each post either is refused or completes exactly once.  A connection always
 * ends through iw_end.c, which completes the remaining posts.
 *
 * Invariants: base.out has space for the completions of all posted operations except
 * Receives, and for CONNECTED and DISCONNECTED.  Messages that arrive add space for
 * theirs.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "prov/iwarp/iw_ep.h"
#include "prov/iwarp/iwarp.h"

/* Invalidates are refused while this many completions wait to be polled. */
#define CQ_MAX (4u * (RR_IW_MAX_RECV + RR_IW_MAX_SEND))

struct rr_prov_listener {
	/* a socket that listens or, if @taken, that is connected; -1 = accepted */
	int fd;
	bool taken;
	struct rr_iwarp_opts opts;
};

/* ---- completions ---- */

int rr_iw_reserve(struct rr_iw_ep *ep, uint32_t n)
{
	return rr_ep_reserve(&ep->base, ep->sq.count + ep->reads.count + n);
}

/* Moves completions, and after the end those of the Receives that are still posted,
 * before the last completion. */
static unsigned iw_poll(struct rr_ep *base, struct rr_wc *wc, unsigned max)
{
	struct rr_iw_ep *ep = rr_iw_of(base);
	unsigned n = rr_ep_poll(base, wc, max);

	if (ep->state != RR_IW_DEAD || ep->finished || n == max)
		return n;
	for (; n < max && ep->rq.count; rr_ring_pop(&ep->rq, 1)) {
		const struct rr_iw_recv *r = rr_ring_first(&ep->rq);

		wc[n++] = (struct rr_wc){
		        .op = RR_WC_RECV, .token = r->token, .status = -ECANCELED};
	}
	if (n == max)
		return n;
	ep->finished = true;
	rr_ep_finish(&ep->base);
	return n + rr_ep_poll(base, wc + n, max - n);
}

/* ---- creation and destruction ---- */

static void free_iw_ep(struct rr_iw_ep *ep, bool reset)
{
	rr_iw_tx_drop(ep);
	rr_iw_rx_drop(ep);
	rr_ep_common_fini(&ep->base);
	rr_ring_fini(&ep->sq);
	rr_ring_fini(&ep->sges);
	rr_ring_fini(&ep->rq);
	rr_ring_fini(&ep->reads);
	rr_ring_fini(&ep->resps);
	rr_stags_fini(&ep->stags);
	free(ep->priv);
	free(ep->peer_priv);
	if (ep->fd >= 0)
		rr_sock_close(ep->fd, reset);
	free(ep);
}

static int copy_private(struct rr_iw_ep *ep, const void *priv, size_t len)
{
	if (len > RR_PROV_PRIVATE_MAX)
		return -EINVAL;
	if (!len)
		return 0;
	ep->priv = malloc(len);
	if (!ep->priv)
		return -ENOMEM;
	memcpy(ep->priv, priv, len);
	ep->priv_len = len;
	return 0;
}

static void init_iw_ep(struct rr_iw_ep *ep, const struct rr_prov_config *cfg,
                       rr_time now)
{
	rr_ep_common_init(&ep->base, &rr_iwarp_ops, cfg, now);
	ep->fd = -1;
	ep->quiet = ep->kick_at = RR_TIME_NEVER;
	ep->recvs = RR_MIN(cfg->recvs, (uint32_t)RR_IW_MAX_RECV);
	rr_ring_init(&ep->sq, sizeof(struct rr_iw_wr));
	rr_ring_init(&ep->sges, sizeof(struct rr_sge));
	rr_ring_init(&ep->rq, sizeof(struct rr_iw_recv));
	rr_ring_init(&ep->reads, sizeof(struct rr_iw_read));
	rr_ring_init(&ep->resps, sizeof(struct rr_iw_resp));
	for (unsigned q = 0; q < RR_QN_COUNT; q++)
		ep->tx.msn[q] = ep->rx.msn[q] = 1;
}

static int new_iw_ep(const struct rr_prov_config *cfg, const void *priv,
                     size_t priv_len, rr_time now, struct rr_iw_ep **ret)
{
	uint8_t secret[RR_STAG_SECRET];
	struct rr_iw_ep *ep = calloc(1, sizeof(*ep));
	int rc;

	if (!ep)
		return -ENOMEM;
	init_iw_ep(ep, cfg, now);
	rc = rr_iwarp_opts_parse(cfg->options, &ep->opts, RR_NO_REASON);
	if (!rc)
		rc = copy_private(ep, priv, priv_len);
	if (!rc)
		rc = rr_iw_reserve(ep, 0);
	if (!rc)
		rc = rr_sock_random(secret, sizeof(secret));
	if (rc) {
		free_iw_ep(ep, false);
		return rc;
	}
	rr_stags_init(&ep->stags, secret);
	*ret = ep;
	return 0;
}

static struct rr_sock_opts make_sock_opts(const struct rr_iwarp_opts *o)
{
	return (struct rr_sock_opts){
	        .sndbuf = (int)o->sndbuf,
	        .rcvbuf = (int)o->rcvbuf,
	};
}

static int iw_connect(const struct rr_prov_config *cfg, const struct sockaddr *sa,
                      socklen_t sa_len, const void *priv, size_t priv_len, rr_time now,
                      struct rr_ep **ret)
{
	struct rr_sock_opts so;
	struct rr_iw_ep *ep;
	int rc = new_iw_ep(cfg, priv, priv_len, now, &ep);

	if (rc)
		return rc;
	ep->initiator = true;
	ep->state = RR_IW_CONNECT;
	so = make_sock_opts(&ep->opts);
	if (sa_len <= sizeof(ep->base.peer))
		memcpy(&ep->base.peer, sa, sa_len);
	rc = rr_sock_connect(sa, sa_len, &so, &ep->fd);
	if (rc) {
		free_iw_ep(ep, false);
		return rc;
	}
	*ret = &ep->base.ep;
	return 0;
}

static int iw_listen(const struct rr_prov_config *cfg, const struct sockaddr *sa,
                     socklen_t sa_len, struct rr_prov_listener **ret,
                     struct sockaddr_storage *ret_addr)
{
	struct rr_iwarp_opts opts;
	struct rr_prov_listener *l;
	int rc = rr_iwarp_opts_parse(cfg->options, &opts, RR_NO_REASON);

	if (rc)
		return rc;
	l = malloc(sizeof(*l));
	if (!l)
		return -ENOMEM;
	*l = (struct rr_prov_listener){.opts = opts};
	rc = rr_sock_listen(sa, sa_len, ret_addr, &l->fd);
	if (rc) {
		free(l);
		return rc;
	}
	*ret = l;
	return 0;
}

static int iw_listener_fd(const struct rr_prov_listener *l)
{
	return l->fd;
}

static void iw_listener_close(struct rr_prov_listener *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		rr_sock_close(l->fd, l->taken);
	free(l);
}

/* Returns the socket of the next connection in @ret_fd. */
static int accept_socket(struct rr_prov_listener *l, int *ret_fd)
{
	struct rr_sock_opts so = make_sock_opts(&l->opts);

	if (!l->taken)
		return rr_sock_accept(l->fd, &so, ret_fd);
	if (l->fd < 0)
		return -EAGAIN;
	*ret_fd = l->fd;
	l->fd = -1;
	return 0;
}

static int iw_take(struct rr_prov_listener *l, struct rr_prov_listener **ret,
                   struct sockaddr_storage *ret_peer)
{
	struct rr_prov_listener *one = malloc(sizeof(*one));
	int rc;

	if (!one)
		return -ENOMEM;
	*one = (struct rr_prov_listener){.taken = true, .opts = l->opts};
	rc = accept_socket(l, &one->fd);
	if (rc) {
		free(one);
		return rc;
	}
	if (rr_sock_peer(one->fd, ret_peer))
		ret_peer->ss_family = AF_UNSPEC;
	*ret = one;
	return 0;
}

static int iw_accept(struct rr_prov_listener *l, const struct rr_prov_config *cfg,
                     const void *priv, size_t priv_len, rr_time now, struct rr_ep **ret)
{
	struct rr_iw_ep *ep;
	int rc = new_iw_ep(cfg, priv, priv_len, now, &ep);

	if (rc)
		return rc;
	ep->state = RR_IW_LISTEN;
	rc = accept_socket(l, &ep->fd);
	if (!rc && rr_sock_peer(ep->fd, &ep->base.peer))
		ep->base.peer.ss_family = AF_UNSPEC; /* the first read will fail */
	if (rc) {
		free_iw_ep(ep, false);
		return rc;
	}
	*ret = &ep->base.ep;
	return 0;
}

static void iw_destroy(struct rr_ep *base)
{
	struct rr_iw_ep *ep;

	if (!base)
		return;
	ep = rr_iw_of(base);
	/* In SHUT everything has been written, so the connection needs no reset. */
	free_iw_ep(ep, ep->state != RR_IW_DEAD && ep->state != RR_IW_SHUT);
}

/* ---- posts ---- */

/* Reserves space for one more Receive.  After the first few, reserves space for as many
 * as the caller announced. */
static int reserve_receive(struct rr_iw_ep *ep)
{
	uint32_t want = ep->rq.count + 1;

	return rr_ring_reserve(
	        &ep->rq, want > RR_IW_FIRST_RECV ? RR_MAX(want, ep->recvs) : want);
}

static int iw_post_recv(struct rr_ep *base, const struct rr_sge *sge, uint64_t token)
{
	struct rr_iw_ep *ep = rr_iw_of(base);
	struct rr_iw_recv *r;

	if (!rr_iw_is(ep, RR_IW_IN_USE))
		return -ENOTCONN;
	if (ep->rq.count >= RR_IW_MAX_RECV)
		return -ENOBUFS;
	if (reserve_receive(ep))
		return -ENOMEM;
	r = rr_ring_push(&ep->rq);
	*r = (struct rr_iw_recv){
	        .sge = *sge, .token = token, .room = sge->base ? sge->len : 0};
	return 0;
}

/* Counts the caller's outstanding operations.  A framed Read is in both @sq and @reads,
 * but counts once; the RTR message does not count. */
static uint32_t count_under_way(const struct rr_iw_ep *ep)
{
	const struct rr_iw_read *r = rr_ring_first(&ep->reads);

	return ep->sq.count - ep->sq_reads + ep->reads.count - (r && r->rtr);
}

/* Appends a work request.  Changes nothing if an error is returned. */
static int append_wr(struct rr_iw_ep *ep, enum rr_post_kind kind,
                     const struct rr_sge *sge, unsigned n, uint32_t handle,
                     uint64_t offset, uint64_t token)
{
	struct rr_iw_wr *wr;
	uint32_t len;
	int rc = rr_ep_total_len(sge, n, UINT32_MAX, &len);

	if (rc)
		return rc;
	if (ep->state != RR_IW_READY)
		return -ENOTCONN;
	if (count_under_way(ep) >= RR_IW_MAX_SEND)
		return -ENOBUFS;
	if (rr_ring_reserve(&ep->sq, ep->sq.count + 1) ||
	    rr_ring_reserve(&ep->sges, ep->sges.count + n) || rr_iw_reserve(ep, 1))
		return -ENOMEM;
	if (kind == RR_POST_READ &&
	    rr_ring_reserve(&ep->reads, RR_MIN(ep->reads.count + ep->sq.count + 1,
	                                       (uint32_t)ep->agreed.ord)))
		return -ENOMEM;
	wr = rr_ring_push(&ep->sq);
	*wr = (struct rr_iw_wr){
	        .kind = kind,
	        .sge = ep->sge_first + ep->sges.count,
	        .handle = handle,
	        .len = len,
	        .offset = offset,
	        .token = token,
	};
	rr_ep_count_post(&ep->base, kind, handle);
	if (rr_iw_tx_posted(ep, wr, sge, n))
		return 0;
	wr->nsge = n;
	for (unsigned i = 0; i < n; i++)
		*(struct rr_sge *)rr_ring_push(&ep->sges) = sge[i];
	return 0;
}

static int iw_post_send(struct rr_ep *base, const struct rr_sge *sge, unsigned n,
                        uint32_t inv_handle, uint64_t token)
{
	return append_wr(rr_iw_of(base), RR_POST_SEND, sge, n, inv_handle, 0, token);
}

static int iw_post_write(struct rr_ep *base, const struct rr_sge *sge, unsigned n,
                         uint32_t handle, uint64_t offset, uint64_t token)
{
	return append_wr(rr_iw_of(base), RR_POST_WRITE, sge, n, handle, offset, token);
}

static int iw_post_read(struct rr_ep *base, const struct rr_sge *sge, uint32_t handle,
                        uint64_t offset, uint64_t token)
{
	struct rr_iw_ep *ep = rr_iw_of(base);

	if (ep->state == RR_IW_READY && !ep->agreed.ord)
		return -EOPNOTSUPP; /* the Read could never be sent */
	return append_wr(ep, RR_POST_READ, sge, 1, handle, offset, token);
}

/* ---- regions ---- */

static int iw_register(struct rr_ep *base, void *mem, size_t len, unsigned access,
                       struct rr_region *ret)
{
	struct rr_iw_ep *ep = rr_iw_of(base);
	const struct rr_stag *s;
	int rc;

	if (access & ~(unsigned)(RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE) ||
	    (uint64_t)len >> 47)
		return -EINVAL;
	if (!rr_iw_is(ep, RR_IW_IN_USE))
		return -ENOTCONN;
	rc = rr_stags_add(&ep->stags, RR_STAG_REGION, mem, len, access, &s);
	if (rc)
		return rc;
	ret->handle = s->stag;
	ret->offset = s->to;
	ep->base.count.registrations++;
	rr_trace(ep->base.trace, RR_TRACE_REGION_REGISTERED, ep->base.conn_id, 0,
	         s->stag, len, access);
	return 0;
}

static int iw_invalidate(struct rr_ep *base, uint32_t handle, uint64_t token)
{
	struct rr_iw_ep *ep = rr_iw_of(base);
	struct rr_stag *s = rr_stags_find(&ep->stags, handle);
	int rc;

	if (ep->state == RR_IW_DEAD)
		return -ENOTCONN;
	if (!s || s->kind != RR_STAG_REGION)
		return -EINVAL;
	if (ep->base.out.count >= CQ_MAX)
		return -ENOBUFS;
	if (rr_iw_reserve(ep, 1))
		return -ENOMEM;
	rc = rr_iw_revoke(ep, s, false);
	if (rc)
		return rc;
	ep->base.count.local_invalidations++;
	rr_ep_complete(&ep->base, RR_WC_INVALIDATE, token, 0);
	return 0;
}

/* ---- progress ---- */

static void free_empty_queue(struct rr_ring *r)
{
	if (!r->count)
		rr_ring_fini(r);
}

/* Replaces the empty queue of completions by the smallest one. */
static void free_completions(struct rr_iw_ep *ep)
{
	struct rr_ring old = ep->base.out;

	rr_ring_init(&ep->base.out, old.size);
	if (old.count || rr_iw_reserve(ep, 0))
		ep->base.out = old;
	else
		rr_ring_fini(&old);
}

/* Frees queues that the next post or request allocates again. */
static void free_idle_queues(struct rr_iw_ep *ep)
{
	free_empty_queue(&ep->sq);
	free_empty_queue(&ep->sges);
	free_empty_queue(&ep->reads);
	free_empty_queue(&ep->resps);
	free_completions(ep);
	ep->quiet = RR_TIME_NEVER;
}

/*
 * Wakes up a responder that may be asleep.  If the first FPDU arrives before Linux's
 * siw starts to watch its socket, siw does not notice the FPDU until more octets
 * arrive.  With a quick client this happens often.  Therefore an initiator that has
 * sent its first FPDU and received none sends a zero-length RDMA Write ("kick"), up to
 * RR_IW_KICKS times.  The responder does not check a zero-length Write.
 * [RFC 5041 §4.1]
 */
static void kick_responder(struct rr_iw_ep *ep)
{
	if (ep->kicks > RR_IW_KICKS || !ep->initiator || ep->tx.mute ||
	    !rr_iw_is(ep, RR_IW_BIT(READY) | RR_IW_BIT(DRAIN))) {
		ep->kick_at = RR_TIME_NEVER; /* cancels a planned kick */
		return;
	}
	if (ep->base.count.bytes_received != ep->setup_received) {
		ep->kicks = RR_IW_KICKS + 1; /* the responder is awake */
		ep->kick_at = RR_TIME_NEVER;
		return;
	}
	if (ep->kick_at == RR_TIME_NEVER ? ep->tx.framed == ep->setup_sent
	                                 : ep->base.now < ep->kick_at)
		return;
	if (ep->kick_at != RR_TIME_NEVER) {
		ep->tx.due |= RR_IW_DUE_KICK;
		(void)rr_iw_tx_run(ep); /* unsent octets wait for the descriptor */
	}
	ep->kick_at = ep->kicks == RR_IW_KICKS
	                      ? RR_TIME_NEVER
	                      : ep->base.now + (RR_IW_KICK_NS << 2 * ep->kicks);
	ep->kicks++;
}

bool rr_iw_may_sleep(const struct rr_iw_ep *ep)
{
	return ep->initiator && ep->agreed.rtr && !ep->tx.mute && !ep->rx.fin &&
	       ep->kicks <= RR_IW_PARTING &&
	       ep->base.count.bytes_received == ep->setup_received;
}

static void check_deadline(struct rr_iw_ep *ep)
{
	if (ep->base.now < ep->base.deadline)
		return;
	if (rr_iw_is(ep, RR_IW_IN_SETUP))
		rr_ep_set_timed_out(&ep->base, ep->state);
	rr_sock_shutdown(ep->fd, true);
	rr_iw_dead(ep);
}

void rr_iw_run(struct rr_iw_ep *ep, rr_time now)
{
	uint64_t sent = ep->base.count.bytes_sent;
	uint64_t moved = ep->base.count.bytes_received + sent;

	rr_ep_set_now(&ep->base, now);
	if (ep->state == RR_IW_CONNECT)
		rr_iw_setup_connected(ep);
	if (rr_iw_is(ep, RR_IW_IN_FRAMES | RR_IW_IN_STREAM))
		rr_iw_rx_run(ep);
	if (rr_iw_is(ep, RR_IW_IN_FRAMES | RR_IW_IN_STREAM))
		(void)rr_iw_tx_run(ep); /* unsent octets wait for the descriptor */
	kick_responder(ep);
	if (ep->state == RR_IW_DRAIN && ep->base.count.bytes_sent != sent)
		rr_ep_extend_drain(&ep->base);
	rr_iw_end_step(ep);
	if (ep->state != RR_IW_DEAD)
		check_deadline(ep);
	if (ep->base.count.bytes_received + ep->base.count.bytes_sent != moved)
		ep->quiet = ep->base.now + RR_IW_QUIET_NS;
	else if (ep->base.now >= ep->quiet)
		free_idle_queues(ep);
}

static int iw_flush(struct rr_ep *base, rr_time now)
{
	struct rr_iw_ep *ep = rr_iw_of(base);
	uint64_t sent = ep->base.count.bytes_sent;
	int rc;

	if (ep->state != RR_IW_READY)
		return 0;
	rr_ep_set_now(&ep->base, now);
	if (ep->tx.blocked)
		return -EAGAIN;
	rc = rr_iw_tx_run(ep);
	kick_responder(ep);
	if (ep->base.count.bytes_sent != sent)
		ep->quiet = ep->base.now + RR_IW_QUIET_NS;
	return rc;
}

static void iw_progress(struct rr_ep *base, rr_time now)
{
	struct rr_iw_ep *ep = rr_iw_of(base);

	if (ep->state != RR_IW_DEAD)
		rr_iw_run(ep, now);
}

static int iw_fd(const struct rr_ep *base)
{
	return rr_iw_of(base)->fd;
}

static uint32_t iw_events(const struct rr_ep *base)
{
	const struct rr_iw_ep *ep = rr_iw_of(base);

	if (ep->state == RR_IW_DEAD)
		return 0;
	if (ep->state == RR_IW_CONNECT)
		return EPOLLOUT;
	return (ep->rx.fin ? 0u : (uint32_t)EPOLLIN) |
	       (ep->tx.blocked ? (uint32_t)EPOLLOUT : 0u);
}

static rr_time iw_deadline(const struct rr_ep *base)
{
	const struct rr_iw_ep *ep = rr_iw_of(base);
	rr_time next;

	if (ep->state == RR_IW_DEAD)
		return RR_TIME_NEVER;
	if (ep->rx.more)
		return ep->base.now;
	next = RR_MIN(ep->base.deadline, ep->quiet);
	return RR_MIN(next, ep->kick_at);
}

/*
 * Postpones a disconnect until the Reply has arrived.  We may have to send an RTR
 * message first, and siw mistakes a close before its Reply for a close of its listener.
 */
static void leave_after_reply(struct rr_iw_ep *ep)
{
	rr_ep_set_reason(&ep->base, 0, "closed here");
	if (!ep->leaving)
		ep->base.deadline =
		        RR_MIN(ep->base.deadline, ep->base.now + RR_EP_END_NS);
	ep->leaving = true;
}

static void iw_disconnect(struct rr_ep *base, rr_time now)
{
	struct rr_iw_ep *ep = rr_iw_of(base);

	rr_ep_set_now(&ep->base, now);
	switch (ep->state) {
	case RR_IW_ASKED:
		leave_after_reply(ep);
		break;
	case RR_IW_CONNECT:
	case RR_IW_LISTEN:
		rr_ep_set_reason(&ep->base, 0, "closed here");
		rr_iw_dead(ep);
		break;
	case RR_IW_READY:
		rr_ep_set_reason(&ep->base, 0, "closed here");
		rr_iw_drain(ep);
		(void)rr_iw_tx_run(ep); /* unsent octets wait for the descriptor */
		rr_iw_end_step(ep);
		break;
	case RR_IW_DRAIN:
	case RR_IW_SHUT:
	case RR_IW_DEAD:
		break;
	}
}

/* ---- queries ---- */

static void iw_limits(const struct rr_ep *base, struct rr_prov_limits *ret)
{
	const struct rr_iw_ep *ep = rr_iw_of(base);

	*ret = (struct rr_prov_limits){
	        .max_recv = RR_IW_MAX_RECV,
	        .max_send = RR_IW_MAX_SEND,
	        .max_ord = ep->agreed.ord,
	        .max_ird = RR_MIN(ep->agreed.ird, ep->agreed.peer_ord),
	        .max_msg = UINT32_MAX,
	        .remote_invalidate = true,
	        .send_invalidate = true,
	};
}

static const void *iw_peer_private(const struct rr_ep *base, size_t *ret_len)
{
	const struct rr_iw_ep *ep = rr_iw_of(base);

	*ret_len = ep->peer_priv_len;
	return ep->peer_priv;
}

static int iw_local_addr(const struct rr_ep *base, struct sockaddr_storage *ret)
{
	return rr_sock_local(rr_iw_of(base)->fd, ret);
}

/* Not needed, because this provider opens no device. */
static int iw_watch_removals(void)
{
	return -EOPNOTSUPP;
}

static void iw_read_removals(int fd)
{
}

const struct rr_prov_ops rr_iwarp_ops = {
        .name = "iwarp",
        .remote_invalidate = true,
        .pooled_receives = true,
        .watch_removals = iw_watch_removals,
        .read_removals = iw_read_removals,
        .connect = iw_connect,
        .listen = iw_listen,
        .listener_fd = iw_listener_fd,
        .accept = iw_accept,
        .take = iw_take,
        .listener_close = iw_listener_close,
        .post_recv = iw_post_recv,
        .post_send = iw_post_send,
        .post_write = iw_post_write,
        .post_read = iw_post_read,
        .register_mem = iw_register,
        .invalidate = iw_invalidate,
        .flush = iw_flush,
        .progress = iw_progress,
        .poll = iw_poll,
        .fd = iw_fd,
        .events = iw_events,
        .deadline = iw_deadline,
        .disconnect = iw_disconnect,
        .destroy = iw_destroy,
        .limits = iw_limits,
        .counters = rr_ep_counters,
        .peer_private = iw_peer_private,
        .peer_addr = rr_ep_peer_addr,
        .local_addr = iw_local_addr,
        .reason = rr_ep_reason,
};
