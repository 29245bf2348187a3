/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/sized.h"
#include "link/devices.h"
#include "link/channel.h"

/* Upper limit of credits: the credits for both directions must fit a provider's Receive
 * queue of 4096. */
enum { MAX_CREDITS = 2047, TURN_ROUNDS = 64 };

/* -- configuration --------------------------------------------------------- */

/* Chooses the level of reverse-direction support that a client announces.  A client
 * without callbacks announces NONE. [R3] */
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

/* Checks the host authentication options.  Removes version 1 if authentication is
 * required, because version 1 does not support it. */
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
	RR_DEFAULT(send_item_bytes, 32768);
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
	if (!err)
		err = rr_feature_options_parse(c.o.features, &c.features, RR_NO_REASON);
	if (err)
		return err;
	c.o.provider = c.o.hostauth_name = c.o.features = NULL; /* were borrowed */
	*ret = c;
	return 0;
}

/* -- memory ---------------------------------------------------------------- */

static void *pool_get(void *ctx, size_t bytes)
{
	return rr_pool_get(ctx, bytes);
}

static void pool_put(void *ctx, void *p, size_t bytes)
{
	rr_pool_put(ctx, p, bytes);
}

static struct rr_mem engine_memory(struct rr_link *l)
{
	return (struct rr_mem){pool_get, pool_put, &l->engine->pool};
}

/* Memory that an engine's links share, as long as there are any. */
struct rr_link_memory {
	struct rr_part part;
	unsigned links;
	struct rr_prov_buffers buffers;
	struct rr_stock *stock;
};

static void free_link_memory(struct rr_part *p)
{
	struct rr_link_memory *m = rr_container_of(p, struct rr_link_memory, part);
	struct rr_prov_buffers *b = &m->buffers;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(b->spare); i++)
		rr_mem_put(&b->mem, b->spare[i].p, b->spare[i].bytes);
	rr_stock_free(m->stock);
	free(m);
}

static struct rr_link_memory *new_link_memory(struct rr_link *l)
{
	struct rr_link_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->part.free = free_link_memory;
	m->buffers.mem = engine_memory(l);
	m->stock = rr_stock_new(&m->buffers.mem);
	if (!m->stock) {
		free(m);
		return NULL;
	}
	rr_engine_add_part(l->engine, &m->part);
	return m;
}

/* Finds the memory that the engine's links share, or creates it.  Returns false if there
 * is no memory. */
static bool join_link_memory(struct rr_link *l)
{
	struct rr_part *p = rr_engine_find_part(l->engine, free_link_memory);

	l->shared = p ? rr_container_of(p, struct rr_link_memory, part)
	              : new_link_memory(l);
	if (l->shared)
		l->shared->links++;
	return l->shared;
}

static void leave_link_memory(struct rr_link *l)
{
	struct rr_link_memory *m = l->shared;

	if (!m || --m->links)
		return;
	rr_list_del(&m->part.link);
	free_link_memory(&m->part);
}

/* Finds the pool's block that contains @p, and pins the pool, because the endpoint may
 * keep the block registered until the endpoint is destroyed. */
static bool pool_block(void *ctx, const void *p, size_t len, void **ret_base,
                       size_t *ret_len)
{
	struct rr_link *l = ctx;

	if (!l->pins)
		rr_pool_pin(&l->engine->pool);
	l->pins = true;
	return rr_pool_block(&l->engine->pool, p, len, ret_base, ret_len);
}

static void *receive_memory(void *ctx, uint64_t token, uint32_t have, uint32_t len)
{
	struct rr_link *l = ctx;

	return rr_conn_receive_memory(l->conn, token, have, len);
}

static void destroy_endpoint(struct rr_link *l)
{
	if (l->pump.ep)
		l->prov->destroy(l->pump.ep);
	l->pump.ep = NULL;
	if (l->pins)
		rr_pool_unpin(&l->engine->pool);
	l->pins = false;
}

/* -- operations for the pump ----------------------------------------------- */

static struct rr_link *pumped_link(struct rr_pump *p)
{
	return rr_container_of(p, struct rr_link, pump);
}

static void pass_ready(struct rr_pump *p)
{
	struct rr_link *l = pumped_link(p);

	rr_exts_up(l);
	l->ops->ready(l);
}

static void pass_extension(struct rr_pump *p, const struct rr_ext_event *event)
{
	rr_exts_event(pumped_link(p), event);
}

static void pass_admit(struct rr_pump *p, struct rr_request *r)
{
	struct rr_link *l = pumped_link(p);

	l->ops->admit(l, r);
}

static void pass_request(struct rr_pump *p, struct rr_request *r)
{
	struct rr_link *l = pumped_link(p);

	l->ops->request(l, r);
}

static void pass_request_done(struct rr_pump *p, struct rr_request *r, int status)
{
	struct rr_link *l = pumped_link(p);

	l->ops->request_done(l, r, status);
}

static void pass_call_done(struct rr_pump *p, struct rr_call *call)
{
	struct rr_link *l = pumped_link(p);

	l->ops->call_done(l, call);
}

static void pass_heard(struct rr_pump *p)
{
	struct rr_link *l = pumped_link(p);

	if (l->ops->heard)
		l->ops->heard(l);
}

static const char *ended_why(const struct rr_link *l)
{
	if (l->cause)
		return l->cause;
	if (!l->hostauth || l->pump.error != -EACCES)
		return l->prov->reason(l->pump.ep);
	if (rr_hostauth_reason(l->hostauth)[0])
		return rr_hostauth_reason(l->hostauth);
	return "the peer does not authenticate itself (hostauth)";
}

/* Records the reason for the end, and stops polling.  If the endpoint was destroyed,
 * rr_link_break or rr_link_evict has set the reason. */
static void note_end(struct rr_pump *p)
{
	struct rr_link *l = pumped_link(p);

	if (p->ep)
		snprintf(l->why, sizeof(l->why), "%s", ended_why(l));
	l->stats.connections_lost = rr_link_was_ready(l) && !rr_link_ended_in_order(l);
	rr_exts_down(l);
	rr_poller_del(&l->engine->poller, &l->source);
}

static void pass_disconnected(struct rr_pump *p)
{
	struct rr_link *l = pumped_link(p);

	if (l->ops->disconnected)
		l->ops->disconnected(l);
}

static void finish_link(struct rr_pump *p)
{
	struct rr_link *l = pumped_link(p);

	rr_timer_stop(&l->engine->timers, &l->timer);
	rr_poller_del(&l->engine->poller, &l->source);
	l->ops->closed(l, p->error, l->why);
	rr_engine_member_over(l->engine, &l->member);
}

static const struct rr_pump_ops pump_ops = {
        .admit = pass_admit,
        .request = pass_request,
        .request_done = pass_request_done,
        .call_done = pass_call_done,
        .ready = pass_ready,
        .extension = pass_extension,
        .heard = pass_heard,
        .ended = note_end,
        .lost = pass_disconnected,
        .closed = finish_link,
};

/* -- turns ----------------------------------------------------------------- */

/* Makes the engine wait for events on the endpoint's descriptor, and for the
 * connection's or the endpoint's deadline, whichever is earlier.  If the deadline was
 * only postponed, as in most turns, the timer is not moved and fires once too early. */
static void rearm_timer(struct rr_link *l)
{
	struct rr_pump *p = &l->pump;
	rr_time d = rr_pump_deadline(p, l->engine->now), e;

	if (!rr_pump_lost(p)) {
		rr_poller_arm(&l->engine->poller, &l->source, l->prov->events(p->ep));
		e = l->prov->deadline(p->ep);
		d = RR_MIN(d, e);
	}
	if (d == RR_TIME_NEVER)
		rr_timer_stop(&l->engine->timers, &l->timer);
	else if (!l->timer.place || l->timer.when > d)
		/* The timer is reserved, so this cannot fail. */
		(void)!rr_timer_set(&l->engine->timers, &l->timer, d);
}

/* Runs the link's pump.  The number of rounds is limited, so that one busy link does
 * not keep the others waiting. */
static void turn_link(struct rr_member *m)
{
	struct rr_link *l = rr_container_of(m, struct rr_link, member);
	struct rr_pump *p = &l->pump;
	bool lost = rr_pump_lost(p);

	if (rr_pump_over(p))
		return;
	l->turning = true;
	rr_pump_turn(p, TURN_ROUNDS, l->engine->now);
	l->turning = false;
	if (!lost && rr_pump_lost(p) && !rr_pump_over(p) && l->ops->lost)
		l->ops->lost(l);
	if (rr_pump_over(p))
		return;
	if (p->more)
		rr_link_touch(l);
	rearm_timer(l);
}

void rr_link_touch(struct rr_link *l)
{
	/* A running pump also draws actions that its owner's functions cause. */
	if (!l->turning && !rr_pump_over(&l->pump))
		rr_engine_touch_member(l->engine, &l->member);
}

/* Lets the endpoint read and write.  If the endpoint has more work than one turn
 * allows, the other links have a turn first. */
static void progress_endpoint(struct rr_link *l)
{
	rr_time now = l->engine->now;

	if (rr_pump_lost(&l->pump))
		return;
	l->prov->progress(l->pump.ep, now);
	l->source.greedy = l->prov->deadline(l->pump.ep) <= now;
}

static void source_ready(struct rr_source *s)
{
	struct rr_link *l = rr_container_of(s, struct rr_link, source);

	l->stats.wakeups++;
	progress_endpoint(l);
	rr_link_touch(l);
}

static void timer_fire(struct rr_timer *t)
{
	struct rr_link *l = rr_container_of(t, struct rr_link, timer);

	progress_endpoint(l);
	rr_pump_tick(&l->pump, l->engine->now);
	rr_link_touch(l);
}

/* -- set-up and destruction ------------------------------------------------ */

static struct rr_room room_of(struct rr_link *l)
{
	struct rr_room room = l->ops->room ? *l->ops->room : (struct rr_room){NULL};

	room.ctx = l;
	return room;
}

static struct rr_exposure_budget exposures_of(struct rr_link *l)
{
	struct rr_exposure_budget b = l->ops->exposures
	                                      ? *l->ops->exposures
	                                      : (struct rr_exposure_budget){NULL};

	b.ctx = l;
	return b;
}

/* Version 1's private data state whether the peer may invalidate our regions, before
 * the device is known.  So they permit it only if all devices of the provider support
 * it. */
static struct rr_conn_config conn_config(struct rr_link *l,
                                         const struct rr_link_config *c)
{
	const struct rpcrdma_conn_options *o = &c->o;

	return (struct rr_conn_config){
	        .role = l->server ? RR_CONN_SERVER : RR_CONN_CLIENT,
	        .id = l->id,
	        .mem = engine_memory(l),
	        .stock = l->shared->stock,
	        .trace = &l->voice.sink,
	        .xid_seed = (uint32_t)rr_rng_next(&l->engine->rng),
	        .send_bytes = o->inline_bytes,
	        .recv_bytes = o->inline_bytes,
	        .send_item_bytes = (uint32_t)RR_MIN(o->send_item_bytes, UINT32_MAX),
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
	        .pooled_receives = l->prov->pooled_receives,
	        .remote_invalidate = true,
	        .v1_no_remote_inv = !l->prov->remote_invalidate,
	        .versions = c->versions,
	        .first_answer_ns = o->first_answer_ns,
	        .props_ns = o->handshake_ns,
	        .grant_ns = RR_MS(10),
	        .drain_ns = RR_SEC(5),
	        .keepalive_ns = o->keepalive_ns,
	        .ext = l->exts ? &l->exts->table : NULL,
	        .features = c->features.config,
	        .exposure_budget = exposures_of(l),
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
                                  const struct rr_link_owner_ops *ops, void *owner)
{
	struct rr_link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->engine = e;
	/* the options were checked before, so the only error is a lack of memory */
	if (!join_link_memory(l) || rr_exts_new(&c->o, &l->exts) ||
	    new_hostauth(l, c, server)) {
		free(l->exts);
		leave_link_memory(l);
		free(l);
		return NULL;
	}
	l->prov = prov;
	l->ops = ops;
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
	        .memory = {pool_block, receive_memory, l},
	        .buffers = &l->shared->buffers,
	        .recvs = 2 * c->o.credits + 2, /* rr_credit_receives */
	};
}

static const struct rr_member_ops member_ops;

/* Makes the connection, initializes the pump, and adds the endpoint to the poller. */
static int start_link(struct rr_link *l, const struct rr_conn_config *cc)
{
	int err;

	/* Reserve the timer, so that rearm_timer() never allocates. */
	err = rr_timer_reserve(&l->engine->timers, &l->timer);
	if (!err)
		err = rr_conn_new(cc, l->engine->now, &l->conn);
	if (err)
		return err;
	rr_pump_init(&l->pump, l->prov, l->pump.ep, l->conn, &pump_ops);
	l->source.fd = l->prov->fd(l->pump.ep);
	if (l->source.fd >= 0) {
		err = rr_poller_add(&l->engine->poller, &l->source,
		                    l->prov->events(l->pump.ep));
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
	leave_link_memory(l);
	free(l);
}

int rr_link_connect(struct rpcrdma_engine *e, const struct rr_link_config *c,
                    const struct sockaddr *sa, socklen_t len,
                    const struct rr_link_owner_ops *ops, void *owner,
                    struct rr_link **ret)
{
	const struct rr_prov_ops *prov = c->prov ? c->prov : rr_choose_connect(sa, len);
	struct rr_link *l = alloc_link(e, c, prov, false, ops, owner);
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
	err = prov->connect(&pc, sa, len, priv, rr_conn_own_private(&cc, priv), e->now,
	                    &l->pump.ep);
	if (!err)
		err = start_link(l, &cc);
	if (err) {
		undo_start(l);
		return err;
	}
	*ret = l;
	return 0;
}

int rr_link_accept(struct rpcrdma_engine *e, const struct rr_link_config *c,
                   const struct rr_prov_ops *prov, struct rr_prov_listener *pl,
                   const struct rr_link_owner_ops *ops, void *owner,
                   struct rr_link **ret)
{
	struct rr_link *l = alloc_link(e, c, prov, true, ops, owner);
	struct rr_conn_config cc;
	struct rr_prov_config pc;
	uint8_t priv[8];
	int err;

	if (!l)
		return -ENOMEM;
	pc = prov_config(l, c);
	cc = conn_config(l, c);
	err = prov->accept(pl, &pc, priv, rr_conn_own_private(&cc, priv), e->now,
	                   &l->pump.ep);
	if (!err)
		err = start_link(l, &cc);
	if (!err) /* if the address is unknown, it stays zero */
		(void)prov->peer_addr(l->pump.ep, &l->voice.peer);
	if (err) {
		undo_start(l);
		return err;
	}
	*ret = l;
	return 0;
}

void rr_link_close(struct rr_link *l, int status)
{
	if (rr_pump_over(&l->pump))
		return;
	rr_pump_close(&l->pump, status, l->engine->now);
	rr_link_touch(l);
}

/* Ends the link with @error.  Destroys the endpoint, so that the peer has no more
 * access to memory, and no operation completes. */
static void cut_link(struct rr_link *l, int error)
{
	if (!rr_pump_lost(&l->pump)) {
		/* Do this first, because epoll keeps a closed descriptor while a child
		 * process has a copy. */
		rr_poller_del(&l->engine->poller, &l->source);
		destroy_endpoint(l);
	}
	rr_pump_cut(&l->pump, error, l->engine->now);
}

void rr_link_break(struct rr_link *l, int error, const char *why)
{
	RR_ASSERT(!l->turning);
	if (rr_pump_over(&l->pump) || rr_pump_lost(&l->pump))
		return;
	snprintf(l->why, sizeof(l->why), "%s", why);
	cut_link(l, error);
	if (!rr_pump_over(&l->pump) && l->ops->lost)
		l->ops->lost(l);
	if (!rr_pump_over(&l->pump))
		rearm_timer(l);
}

void rr_link_abort(struct rr_link *l)
{
	if (rr_pump_over(&l->pump))
		return;
	cut_link(l, -ECANCELED);
	if (!rr_pump_over(&l->pump)) {
		l->ops->drop_requests(l);
		rr_pump_drain(&l->pump, l->engine->now);
	}
	RR_ASSERT(rr_pump_over(&l->pump)); /* the owner has dropped all requests */
}

void rr_link_evict(struct rr_link *l, int status, const char *why)
{
	rr_link_close(l, status);
	if (!rr_pump_over(&l->pump))
		snprintf(l->why, sizeof(l->why), "%s", why);
	/* Sends what can be sent without waiting. */
	rr_pump_drain(&l->pump, l->engine->now);
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
	leave_link_memory(l);
	free(l);
}

static const struct rr_member_ops member_ops = {
        .turn = turn_link,
        .abort = abort_member,
        .free = free_link,
        .stats = member_stats,
};
