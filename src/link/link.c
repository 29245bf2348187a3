/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/sized.h"
#include "link/devices.h"
#include "link/channel.h"
#include "prov/verbs/verbs.h"

/* Both ends' credits must fit a provider's Receive queue of 4096. */
enum { MAX_CREDITS = 2047, POLL_BATCH = 32, TURN_ROUNDS = 64 };

/* -- configuration ----------------------------------------------------------- */

/* A client without callbacks says that it has none. [R3] */
static int choose_reverse(struct rr_link_config *c)
{
	_Static_assert((int)RPCRDMA_REVERSE_SIMPLE == RDMA2_RVRSDIR_SIMPLE &&
	                       (int)RPCRDMA_REVERSE_CONT == RDMA2_RVRSDIR_CONT &&
	                       (int)RPCRDMA_REVERSE_GENL == RDMA2_RVRSDIR_GENL,
	               "one meaning");
	if ((unsigned)c->o.reverse > RPCRDMA_REVERSE_GENL ||
	    (c->o.reverse && !c->o.callbacks))
		return -EINVAL;
	c->rvrsdir = c->o.reverse     ? (uint32_t)c->o.reverse
	             : c->o.callbacks ? (uint32_t)RDMA2_RVRSDIR_GENL
	                              : (uint32_t)RDMA2_RVRSDIR_NONE;
	return 0;
}

/* Version 1 has no way to authenticate. */
static int choose_hostauth(struct rr_link_config *c, const char *host)
{
	const char *name = c->o.hostauth_name ? c->o.hostauth_name : host;
	bool fits = strlen(name) < sizeof(c->hostauth_name);

	if ((unsigned)c->o.hostauth_policy > RPCRDMA_HOSTAUTH_REQUIRE ||
	    (c->o.hostauth_policy && !c->o.hostauth) ||
	    (!fits && (c->o.hostauth_name || c->o.hostauth_policy)))
		return -EINVAL;
	if (fits)
		strcpy(c->hostauth_name, name);
	if (c->o.hostauth_policy == RPCRDMA_HOSTAUTH_REQUIRE)
		c->versions &= ~(unsigned)RR_CONN_V1;
	return c->versions ? 0 : -EPROTONOSUPPORT;
}

static int choose_provider(struct rr_link_config *c)
{
	const char *options;
	int err = rr_choose_named(c->o.provider, &c->prov, &options);

	if (err || !options)
		return err;
	strcpy(c->prov_options, options);
	return 0;
}

static void fill_defaults(struct rpcrdma_conn_options *o)
{
#define RR_DEFAULT(field, value) o->field = o->field ? o->field : (value)
	RR_DEFAULT(credits, 32);
	RR_DEFAULT(inline_bytes, RR_WIRE_DEFAULT_INLINE);
	RR_DEFAULT(segment_bytes, RR_WIRE_DEFAULT_RSSIZ);
	RR_DEFAULT(max_segments, RR_WIRE_DEFAULT_RCSIZ);
	RR_DEFAULT(max_requests, 256);
	RR_DEFAULT(max_message_bytes, 4u << 20);
	RR_DEFAULT(max_chunk_bytes, 8u << 20);
	RR_DEFAULT(max_held_bytes, 32u << 20);
	RR_DEFAULT(handshake_ns, RR_SEC(10));
	RR_DEFAULT(first_answer_ns, RR_SEC(5));
	RR_DEFAULT(keepalive_ns, RR_TIME_NEVER);
	RR_DEFAULT(version_cache_ns, RR_SEC(600));
	RR_DEFAULT(idle_ns, RR_SEC(360));
	RR_DEFAULT(reconnect_min_ns, RR_MS(100));
	RR_DEFAULT(reconnect_max_ns, RR_SEC(5));
	RR_DEFAULT(retry_ns, RR_SEC(60));
#undef RR_DEFAULT
}

int rr_link_config_from(const struct rpcrdma_conn_options *o, const char *host,
                        struct rr_link_config *ret)
{
	struct rr_link_config c = {.o.size = sizeof(c.o)};
	int err = o ? RR_SIZED_TAKE(&c.o, size, o) : 0;

	if (err)
		return err;
	fill_defaults(&c.o);
	if (c.o.version > RPCRDMA_VERSION_TWO)
		return -EPROTONOSUPPORT;
	c.versions = c.o.version ? 1u << c.o.version : RR_CONN_V1 | RR_CONN_V2;
	if (c.o.credits < 2 || c.o.credits > MAX_CREDITS ||
	    c.o.inline_bytes < RR_WIRE_MIN_INLINE || c.o.inline_bytes > 1u << 20 ||
	    c.o.max_segments > RR_WIRE_MAX_SEGMENTS || c.o.segment_bytes < 4096)
		return -EINVAL;
	err = choose_reverse(&c);
	if (!err)
		err = rpcrdma_extensions_check(c.o.extensions, c.o.n_extensions);
	if (!err)
		err = choose_hostauth(&c, host);
	if (!err)
		err = choose_provider(&c);
	if (err)
		return err;
	c.o.provider = c.o.hostauth_name = NULL; /* borrowed no longer */
	*ret = c;
	return 0;
}

/* -- memory ---------------------------------------------------------------------- */

static void *pool_get(void *ctx, size_t bytes)
{
	return rr_pool_get(ctx, bytes);
}

static void pool_put(void *ctx, void *p, size_t bytes)
{
	rr_pool_put(ctx, p, bytes);
}

/* Once an endpoint has asked, it may keep blocks registered until its end. */
static bool pool_block(void *ctx, const void *p, size_t len, void **ret_base,
                       size_t *ret_len)
{
	struct rr_link *l = ctx;

	if (!l->pins)
		rr_pool_pin(&l->engine->pool);
	l->pins = true;
	return rr_pool_block(&l->engine->pool, p, len, ret_base, ret_len);
}

static void destroy_endpoint(struct rr_link *l)
{
	if (l->ep)
		l->prov->destroy(l->ep);
	l->ep = NULL;
	if (l->pins)
		rr_pool_unpin(&l->engine->pool);
	l->pins = false;
}

/* -- actions become posts -------------------------------------------------- */

/* Completes a post that the provider refused, since the provider completes only what it
 * took.  A refused RDMA Read ends its request; any other refusal ends the connection. */
static void post_failed(struct rr_link *l, enum rr_action_kind kind, uint64_t token,
                        int err)
{
	rr_conn_completed(l->conn, token, err, l->engine->now);
	if (kind != RR_ACT_READ && l->ep && !l->closing && !l->lost) {
		l->closing = true;
		l->prov->disconnect(l->ep, l->engine->now);
	}
}

static void do_register(struct rr_link *l, const struct rr_action *a)
{
	struct rr_region r = {0};
	int err = l->lost ? -ENOTCONN
	                  : l->prov->register_mem(l->ep, a->sge[0].base, a->reg_len,
	                                          a->access, &r);

	rr_conn_registered(l->conn, a->token, err, r.handle, r.offset);
}

static int do_post(struct rr_link *l, const struct rr_action *a)
{
	const struct rr_prov_ops *p = l->prov;

	if (l->lost)
		return -ENOTCONN;
	switch (a->kind) {
	case RR_ACT_POST_RECV:
		return p->post_recv(l->ep, &a->sge[0], a->token);
	case RR_ACT_SEND:
		return p->post_send(l->ep, a->sge, a->n_sge, a->inv_handle, a->token);
	case RR_ACT_WRITE:
		return p->post_write(l->ep, a->sge, a->n_sge, a->handle, a->offset,
		                     a->token);
	case RR_ACT_READ:
		return p->post_read(l->ep, &a->sge[0], a->handle, a->offset, a->token);
	case RR_ACT_INVALIDATE:
		return p->invalidate(l->ep, a->handle, a->token);
	case RR_ACT_REGISTER:
	case RR_ACT_READY:
	case RR_ACT_EXTENSION:
	case RR_ACT_ADMIT:
	case RR_ACT_REQUEST:
	case RR_ACT_REQUEST_DONE:
	case RR_ACT_CALL_DONE:
	case RR_ACT_DISCONNECT:
	case RR_ACT_CLOSED:
		break;
	}
	return -EINVAL;
}

static void do_disconnect(struct rr_link *l, int status)
{
	if (!l->error)
		l->error = status;
	if (l->lost || l->closing)
		return;
	l->closing = true;
	l->prov->disconnect(l->ep, l->engine->now);
}

static void do_closed(struct rr_link *l)
{
	l->over = true;
	rr_timer_stop(&l->engine->timers, &l->timer);
	rr_poller_del(&l->engine->poller, &l->source);
	l->up->closed(l, l->error, l->why);
	rr_engine_member_over(l->engine, &l->member);
}

/* Does it take a place in the send queue, so that waiting helps? */
static bool queued(enum rr_action_kind k)
{
	return k == RR_ACT_SEND || k == RR_ACT_WRITE || k == RR_ACT_READ;
}

/* Many requests of many segments each can exceed any queue. */
static void stall(struct rr_link *l, const struct rr_action *a)
{
	struct rr_conn_info info;

	rr_conn_info(l->conn, &info);
	if (l->leaving || info.error) {
		/* The end does not wait behind a peer that takes nothing. */
		do_disconnect(l, info.error);
		post_failed(l, a->kind, a->token, -ECANCELED);
		return;
	}
	if (a != &l->held)
		l->held = *a;
	l->stalled = true;
}

static void act(struct rr_link *l, const struct rr_action *a)
{
	int err;

	switch (a->kind) {
	case RR_ACT_POST_RECV:
	case RR_ACT_SEND:
	case RR_ACT_WRITE:
	case RR_ACT_READ:
	case RR_ACT_INVALIDATE:
		err = do_post(l, a);
		/* -EINVAL: the peer's own invalidation came first, in the same
		 * batch; the connection takes that for done. */
		if (err == -EINVAL && a->kind == RR_ACT_INVALIDATE)
			rr_conn_completed(l->conn, a->token, err, l->engine->now);
		else if (err == -ENOBUFS && queued(a->kind) && l->open)
			stall(l, a);
		else if (err)
			post_failed(l, a->kind, a->token, err);
		break;
	case RR_ACT_REGISTER:
		do_register(l, a);
		break;
	case RR_ACT_READY:
		l->ready = true;
		rr_exts_up(l);
		l->up->ready(l);
		break;
	case RR_ACT_EXTENSION:
		rr_exts_event(l, a->ext);
		break;
	case RR_ACT_ADMIT:
		l->up->admit(l, a->request);
		break;
	case RR_ACT_REQUEST:
		l->up->request(l, a->request);
		break;
	case RR_ACT_REQUEST_DONE:
		l->up->request_done(l, a->request, a->status);
		break;
	case RR_ACT_CALL_DONE:
		l->up->call_done(l, a->call);
		break;
	case RR_ACT_DISCONNECT:
		do_disconnect(l, a->status);
		break;
	case RR_ACT_CLOSED:
		do_closed(l);
		break;
	}
}

static void drain(struct rr_link *l)
{
	struct rr_action a;

	if (l->stalled) {
		l->stalled = false;
		act(l, &l->held);
	}
	while (!l->over && !l->stalled && rr_conn_next(l->conn, &a))
		act(l, &a);
}

/* The endpoint is gone, and with it the queue that the held post waits for. */
static void lose(struct rr_link *l, int error)
{
	l->lost = true;
	rr_exts_down(l);
	rr_poller_del(&l->engine->poller, &l->source);
	if (l->stalled) {
		l->stalled = false;
		rr_conn_completed(l->conn, l->held.token, -ECANCELED, l->engine->now);
	}
	rr_conn_lost(l->conn, error, l->engine->now);
	if (l->up->disconnected)
		l->up->disconnected(l);
}

/* -- completions become events --------------------------------------------- */

static void connected(struct rr_link *l)
{
	size_t len;
	const void *priv = l->prov->peer_private(l->ep, &len);
	struct rr_prov_limits lim = {0};

	l->open = true;
	l->prov->limits(l->ep, &lim);
	if (!lim.remote_invalidate)
		rr_conn_no_remote_inv_in(l->conn);
	if (!lim.max_ord)
		rr_conn_cannot_read(l->conn);
	rr_conn_peer_private(l->conn, priv, len);
	rr_conn_open(l->conn, l->engine->now);
}

static const char *ended_why(const struct rr_link *l)
{
	if (l->cause)
		return l->cause;
	if (!l->hostauth || l->error != -EACCES)
		return l->prov->reason(l->ep);
	if (rr_hostauth_reason(l->hostauth)[0])
		return rr_hostauth_reason(l->hostauth);
	return "the peer does not authenticate itself (hostauth)";
}

static void note_first_message(struct rr_link *l)
{
	l->heard = true;
	if (l->up->heard)
		l->up->heard(l);
}

static void take(struct rr_link *l, const struct rr_wc *wc)
{
	rr_time now = l->engine->now;

	switch (wc->op) {
	case RR_WC_CONNECTED:
		connected(l);
		break;
	case RR_WC_DISCONNECTED:
		if (!l->error)
			l->error = wc->status;
		snprintf(l->why, sizeof(l->why), "%s", ended_why(l));
		lose(l, wc->status);
		drain(l);
		if (!l->over && l->up->lost)
			l->up->lost(l);
		return;
	case RR_WC_RECV:
		if (!wc->status) {
			if (!l->heard)
				note_first_message(l);
			rr_conn_received(l->conn, wc->token, wc->len,
			                 wc->invalidated ? wc->inv_handle : 0, now);
			break;
		}
		/* flushed */
		rr_conn_completed(l->conn, wc->token, wc->status, now);
		break;
	case RR_WC_SEND:
	case RR_WC_READ:
	case RR_WC_WRITE:
	case RR_WC_INVALIDATE:
		rr_conn_completed(l->conn, wc->token, wc->status, now);
		break;
	}
	drain(l);
}

static unsigned poll_once(struct rr_link *l)
{
	struct rr_wc wc[POLL_BATCH];
	unsigned n = l->prov->poll(l->ep, wc, POLL_BATCH);

	for (unsigned i = 0; i < n && !l->over; i++)
		take(l, &wc[i]);
	return n;
}

/* Descriptor events and the timer follow what the two cores want now. */
static void rearm(struct rr_link *l)
{
	rr_time d = rr_conn_deadline(l->conn);
	rr_time e = l->lost ? RR_TIME_NEVER : l->prov->deadline(l->ep);

	if (!l->lost)
		rr_poller_arm(&l->engine->poller, &l->source, l->prov->events(l->ep));
	if (l->stalled) /* what is due cannot be drawn before the queue moves */
		d = RR_MAX(d, l->engine->now + RR_MS(10));
	if (e < d)
		d = e;
	if (d == RR_TIME_NEVER)
		rr_timer_stop(&l->engine->timers, &l->timer);
	else if (!l->timer.place || l->timer.when != d)
		(void)!rr_timer_set(&l->engine->timers, &l->timer,
		                    d); /* promised: does not fail */
}

/* Drains, polls and flushes until nothing moves; the rounds are bounded so
 * that one busy link cannot keep the others waiting. */
static void turn_link(struct rr_member *m)
{
	struct rr_link *l = rr_container_of(m, struct rr_link, member);
	unsigned rounds = TURN_ROUNDS;
	bool moved = true;

	if (l->over)
		return;
	l->turning = true;
	while (moved && !l->over && rounds--) {
		moved = false;
		drain(l);
		if (l->over || l->lost)
			break;
		if (poll_once(l) > 0)
			moved = true;
		if (!l->over && !l->lost) {
			(void)l->prov->flush(l->ep, l->engine->now); /* its error comes
			                        as a completion */
			if (poll_once(l) > 0)
				moved = true;
		}
	}
	l->turning = false;
	if (l->over)
		return;
	if (moved)
		rr_link_touch(l);
	rearm(l);
}

void rr_link_touch(struct rr_link *l)
{
	if (!l->over)
		rr_engine_touch_member(l->engine, &l->member);
}

/* Who has more to do than a turn allows lets others go first. */
static void progress(struct rr_link *l)
{
	if (l->lost)
		return;
	l->prov->progress(l->ep, l->engine->now);
	l->source.greedy = l->prov->deadline(l->ep) <= l->engine->now;
}

static void source_ready(struct rr_source *s)
{
	struct rr_link *l = rr_container_of(s, struct rr_link, source);

	progress(l);
	rr_link_touch(l);
}

static void timer_fire(struct rr_timer *t)
{
	struct rr_link *l = rr_container_of(t, struct rr_link, timer);

	progress(l);
	rr_conn_tick(l->conn, l->engine->now);
	rr_link_touch(l);
}

/* -- life ------------------------------------------------------------------ */

static struct rr_room room_of(struct rr_link *l)
{
	struct rr_room room = l->up->room ? *l->up->room : (struct rr_room){NULL};

	room.ctx = l;
	return room;
}

static struct rr_conn_config conn_config(struct rr_link *l,
                                         const struct rr_link_config *c)
{
	const struct rpcrdma_conn_options *o = &c->o;

	return (struct rr_conn_config){
	        .role = l->server ? RR_CONN_SERVER : RR_CONN_CLIENT,
	        .id = l->id,
	        .mem = {pool_get, pool_put, &l->engine->pool},
	        .trace = &l->voice.sink,
	        .xid_seed = (uint32_t)rr_rng_next(&l->engine->rng),
	        .send_bytes = o->inline_bytes,
	        .recv_bytes = o->inline_bytes,
	        .segment_bytes = o->segment_bytes,
	        .max_segments = o->max_segments,
	        .credits = o->credits,
	        .max_requests = o->max_requests,
	        .max_message_bytes = o->max_message_bytes,
	        .max_special_bytes = c->special_bytes,
	        .max_chunk_bytes = o->max_chunk_bytes,
	        .max_held_bytes = o->max_held_bytes,
	        .room = room_of(l),
	        .rvrsdir = l->server ? 0 : c->rvrsdir,
	        .remote_invalidate = true,
	        .versions = c->versions,
	        .first_answer_ns = o->first_answer_ns,
	        .props_ns = o->handshake_ns,
	        .grant_ns = RR_MS(10),
	        .drain_ns = RR_SEC(5),
	        .keepalive_ns = o->keepalive_ns,
	        .ext = l->exts ? &l->exts->table : NULL,
	        .auth = l->hostauth ? (struct rr_auth){rr_hostauth_step, l->hostauth,
	                                               rr_hostauth_property}
	                            : (struct rr_auth){NULL},
	        .auth_required = o->hostauth_policy == RPCRDMA_HOSTAUTH_REQUIRE,
	};
}

static int new_hostauth(struct rr_link *l, const struct rr_link_config *c, bool server)
{
	bool must = c->o.hostauth_policy == RPCRDMA_HOSTAUTH_REQUIRE;

	if (c->o.hostauth_policy == RPCRDMA_HOSTAUTH_OFF)
		return 0;
	return rr_hostauth_new(c->o.hostauth, server,
	                       c->hostauth_name[0] ? c->hostauth_name : NULL, must,
	                       &l->hostauth);
}

static struct rr_link *alloc_link(struct rpcrdma_engine *e,
                                  const struct rr_link_config *c,
                                  const struct rr_prov_ops *prov, bool server,
                                  const struct rr_link_owner_ops *up, void *owner)
{
	struct rr_link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	if (rr_exts_new(&c->o, &l->exts) || /* checked before: no memory */
	    new_hostauth(l, c, server)) {
		free(l->exts);
		free(l);
		return NULL;
	}
	l->engine = e;
	l->prov = prov;
	l->up = up;
	l->owner = owner;
	l->server = server;
	l->id = ++e->next_conn_id;
	l->source = (struct rr_source){.ready = source_ready, .fd = -1};
	l->timer.fire = timer_fire;
	rr_voice_init(&l->voice, e, rr_link_describe_state);
	return l;
}

static struct rr_prov_config prov_config(struct rr_link *l,
                                         const struct rr_link_config *c)
{
	return (struct rr_prov_config){
	        .trace = &l->voice.sink,
	        .conn_id = l->id,
	        .options = c->prov_options[0] ? c->prov_options : NULL,
	        .handshake_ns = c->o.handshake_ns,
	        .memory = {pool_block, l},
	        .recvs = 2 * c->o.credits + 2, /* rr_credit_receives */
	};
}

static const struct rr_member_ops member_ops;

/* The endpoint exists: give it a connection, a place in the poller, a timer. */
static int start(struct rr_link *l, const struct rr_conn_config *cc)
{
	int err;

	/* Now, so that rearm() never has to allocate. */
	err = rr_timer_promise(&l->engine->timers, &l->timer);
	if (!err)
		err = rr_conn_new(cc, l->engine->now, &l->conn);
	if (err)
		return err;
	l->source.fd = l->prov->fd(l->ep);
	if (l->source.fd >= 0) {
		err = rr_poller_add(&l->engine->poller, &l->source,
		                    l->prov->events(l->ep));
		if (err) {
			l->source.fd = -1;
			return err;
		}
	}
	l->stats.connections = 1;
	l->stats.connections_open = 1;
	rr_engine_add_member(l->engine, &l->member, &member_ops);
	rr_link_touch(l);
	return 0;
}

static void undo_start(struct rr_link *l)
{
	rr_timer_release(&l->engine->timers, &l->timer);
	rr_poller_del(&l->engine->poller, &l->source);
	destroy_endpoint(l);
	rr_conn_free(l->conn);
	rr_hostauth_free(l->hostauth);
	rr_voice_fini(&l->voice);
	free(l->exts);
	free(l);
}

/* Private data of version 1 say whether our regions may be invalidated, before a
 * device is known: over verbs none is promised to do it. */
static size_t own_private(const struct rr_prov_ops *prov, struct rr_conn_config cc,
                          uint8_t ret[8])
{
	if (prov == &rr_verbs_ops)
		cc.remote_invalidate = false;
	return rr_conn_own_private(&cc, ret);
}

int rr_link_connect(struct rpcrdma_engine *e, const struct rr_link_config *c,
                    const struct sockaddr *sa, socklen_t len,
                    const struct rr_link_owner_ops *up, void *owner,
                    struct rr_link **ret)
{
	const struct rr_prov_ops *prov = c->prov ? c->prov : rr_choose_connect(sa, len);
	struct rr_link *l = alloc_link(e, c, prov, false, up, owner);
	struct rr_conn_config cc;
	struct rr_prov_config pc;
	uint8_t priv[8];
	int err;

	if (!l)
		return -ENOMEM;
	rr_devices_used(e, prov);
	e->now = rr_engine_clock();
	pc = prov_config(l, c);
	cc = conn_config(l, c);
	rr_voice_set_peer(&l->voice, sa, len);
	err = prov->connect(&pc, sa, len, priv, own_private(prov, cc, priv), e->now,
	                    &l->ep);
	if (!err)
		err = start(l, &cc);
	if (err) {
		undo_start(l);
		return err;
	}
	*ret = l;
	return 0;
}

int rr_link_accept(struct rpcrdma_engine *e, const struct rr_link_config *c,
                   const struct rr_prov_ops *prov, struct rr_prov_listener *pl,
                   const struct rr_link_owner_ops *up, void *owner,
                   struct rr_link **ret)
{
	struct rr_link *l = alloc_link(e, c, prov, true, up, owner);
	struct rr_conn_config cc;
	struct rr_prov_config pc;
	uint8_t priv[8];
	int err;

	if (!l)
		return -ENOMEM;
	pc = prov_config(l, c);
	cc = conn_config(l, c);
	err = prov->accept(pl, &pc, priv, own_private(prov, cc, priv), e->now, &l->ep);
	if (!err)
		err = start(l, &cc);
	if (!err) /* zero if unknown */
		(void)prov->peer_addr(l->ep, &l->voice.peer);
	if (err) {
		undo_start(l);
		return err;
	}
	*ret = l;
	return 0;
}

void rr_link_close(struct rr_link *l, int status)
{
	if (l->over)
		return;
	l->leaving = true;
	rr_conn_close(l->conn, status, l->engine->now);
	rr_link_touch(l);
}

/* Nothing posted survives the endpoint: no access, no completion. */
static void cut(struct rr_link *l, int error)
{
	if (!l->lost) {
		l->error = l->error ? l->error : error;
		rr_poller_del(&l->engine->poller, &l->source);
		destroy_endpoint(l);
		lose(l, error);
	}
	drain(l);
}

void rr_link_break(struct rr_link *l, int error, const char *why)
{
	RR_ASSERT(!l->turning);
	if (l->over || l->lost)
		return;
	snprintf(l->why, sizeof(l->why), "%s", why);
	cut(l, error);
	if (!l->over && l->up->lost)
		l->up->lost(l);
	if (!l->over)
		rearm(l);
}

void rr_link_abort(struct rr_link *l)
{
	if (l->over)
		return;
	cut(l, -ECANCELED);
	if (!l->over) {
		l->up->drop_requests(l);
		drain(l);
	}
	RR_ASSERT(l->over); /* nobody else holds anything of it */
}

void rr_link_evict(struct rr_link *l, int status, const char *why)
{
	rr_link_close(l, status);
	if (!l->over)
		snprintf(l->why, sizeof(l->why), "%s", why);
	drain(l); /* the peer is told, as far as that goes without waiting */
	rr_link_abort(l);
}

static void abort_member(struct rr_member *m)
{
	rr_link_abort(rr_container_of(m, struct rr_link, member));
}

static void member_stats(const struct rr_member *m, struct rpcrdma_stats *ret)
{
	rr_link_stats(rr_container_of((uintptr_t)m, struct rr_link, member), ret);
}

static void free_link(struct rr_member *m)
{
	struct rr_link *l = rr_container_of(m, struct rr_link, member);
	struct rpcrdma_stats s;

	rr_link_stats(l, &s);
	s.connections_open = 0;
	s.held_bytes = s.peak_held_bytes = 0;
	rr_stats_add(&l->engine->ended, &s);
	rr_engine_remove_member(l->engine, m);
	rr_timer_release(&l->engine->timers, &l->timer);
	rr_poller_del(&l->engine->poller, &l->source);
	destroy_endpoint(l);
	rr_conn_free(l->conn);
	rr_hostauth_free(l->hostauth);
	rr_voice_fini(&l->voice);
	free(l->exts);
	free(l);
}

static const struct rr_member_ops member_ops = {
        .turn = turn_link,
        .abort = abort_member,
        .free = free_link,
        .stats = member_stats,
};
