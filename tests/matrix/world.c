/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections over two endpoints, and their users.
 *
 * The pump gets a provider that writes down what passes between (watch.c).  The
 * connection's own memory lies between guards too.
 */
#include "matrix.h"

#include "../support/test_conn_limits.h"

#include <arpa/inet.h>

#define PATIENCE RR_SEC(20)

/* A Call without chunks, and what answers it. */
static uint8_t greeting[] = {0x3f, 0xff, 0xff, 0xff, 0, 0, 0, 0};
static uint8_t welcome[] = {0x3f, 0xff, 0xff, 0xff, 0, 0, 0, 1};

/* -- memory of the connection ---------------------------------------------------- */

static void *mem_get(void *ctx, size_t bytes)
{
	struct mx_side *s = ctx;
	size_t room = (bytes + 63) & ~(size_t)63;
	uint8_t *p = aligned_alloc(64, room + 2 * MX_GUARD);

	assert_non_null(p);
	memset(p, 0xa7, room + 2 * MX_GUARD);
	s->mem_bytes += bytes;
	s->mem_peak = RR_MAX(s->mem_peak, s->mem_bytes);
	return p + MX_GUARD;
}

static void mem_put(void *ctx, void *mem, size_t bytes)
{
	struct mx_side *s = ctx;
	uint8_t *p = mem, *end = p + ((bytes + 63) & ~(size_t)63) + MX_GUARD;

	for (const uint8_t *q = p - MX_GUARD; q < p; q++)
		assert_int_equal(*q, 0xa7);
	for (const uint8_t *q = p + bytes; q < end; q++)
		assert_int_equal(*q, 0xa7);
	s->mem_bytes -= bytes;
	free(p - MX_GUARD);
}

/* -- the users ------------------------------------------------------------- */

static bool hold(struct mx_world *w, struct rr_request *r, enum mx_hold where)
{
	if (w->hold != where)
		return false;
	w->held = r;
	return true;
}

static void on_admit(struct mx_side *s, struct rr_request *r)
{
	struct mx_world *w = s->w;
	struct rr_sge sinks[MX_ITEMS];
	unsigned n = 0;

	if (hold(w, r, MX_HOLD_ADMIT))
		return;
	if (w->greeting || !w->k->own_sinks || !r->n_reads) {
		rr_conn_admit(s->pump.conn, r, NULL, mx_now());
		return;
	}
	assert_true(r->n_reads <= w->k->n_items);
	/* The items that were reduced are those of the sizes told. */
	for (unsigned i = 0; i < w->k->n_items && n < r->n_reads; i++) {
		if (w->k->item[i] < 512)
			continue;
		mx_mem_new(&w->sink[n], w->k->item[i], (n + 1) % 4);
		sinks[n] = (struct rr_sge){w->sink[n].p, (uint32_t)w->sink[n].len, 0};
		n++;
	}
	assert_int_equal(n, r->n_reads);
	rr_conn_admit(s->pump.conn, r, sinks, mx_now());
}

/* The Responder's user gets the whole Call, whatever way it came. */
static void on_request(struct mx_side *s, struct rr_request *r)
{
	struct mx_world *w = s->w;
	const struct mx_stream *c = &w->call;
	size_t at = 0;

	if (w->greeting) {
		struct rr_piece p = {welcome, sizeof(welcome), false};

		rr_conn_reply(s->pump.conn, r, &p, 1, mx_now());
		return;
	}
	assert_int_equal(r->xid, w->xid);
	assert_false(w->request_seen);
	w->request_seen = true;
	mx_note(s, MX_REQUEST);
	for (unsigned i = 0; i < r->n_pieces; i++) {
		const struct rr_piece *k = &r->pieces[i];

		assert_true(at + k->len <= c->flat_len);
		assert_memory_equal(k->base, c->flat + at, k->len);
		at += k->item ? (k->len + 3) & ~(size_t)3 : k->len;
	}
	assert_int_equal(at, c->flat_len);
	if (!hold(w, r, MX_HOLD_REQUEST))
		rr_conn_reply(s->pump.conn, r, w->reply.piece, w->reply.n_pieces,
		              mx_now());
}

/* The caller may look at its memory from here on: nobody else can reach it. */
static void on_call_done(struct mx_side *s, struct rr_call *c)
{
	struct mx_world *w = s->w;

	if (w->greeting) {
		assert_int_equal(c->status, RR_CALL_OK);
		assert_int_equal(c->reply_len, sizeof(welcome));
		rr_conn_call_release(s->pump.conn, c, mx_now());
		w->greeting--;
		return;
	}
	assert_ptr_equal(c, &w->rc);
	assert_false(w->call_done);
	mx_note(s, MX_CALL_DONE);
	assert_int_equal(s->n_live, 0);
	w->call_done = true;
	w->call_status = c->status;
	if (c->status == RR_CALL_OK) {
		w->got = malloc(c->reply_len + 1);
		memcpy(w->got, c->reply, c->reply_len);
		w->got_len = c->reply_len;
		rr_conn_call_release(s->pump.conn, c, mx_now());
	}
}

/* -- the pump -------------------------------------------------------------- */

static struct mx_side *side_of(struct rr_pump *p)
{
	return rr_container_of(p, struct mx_side, pump);
}

static void pass_ready(struct rr_pump *p)
{
	side_of(p)->ready = true;
}

static void pass_admit(struct rr_pump *p, struct rr_request *r)
{
	on_admit(side_of(p), r);
}

static void pass_request(struct rr_pump *p, struct rr_request *r)
{
	on_request(side_of(p), r);
}

static void pass_request_done(struct rr_pump *p, struct rr_request *r, int status)
{
	struct mx_side *s = side_of(p);

	if (s->w->greeting) {
		s->w->greeting--;
	} else if (r->xid ==
	           s->w->xid) { /* not one whose reply was exposed until now */
		mx_note(s, MX_REQUEST_DONE);
		s->w->request_done = true;
	}
}

static void pass_call_done(struct rr_pump *p, struct rr_call *c)
{
	on_call_done(side_of(p), c);
}

static const struct rr_pump_ops pump_ops = {
        .ready = pass_ready,
        .admit = pass_admit,
        .request = pass_request,
        .request_done = pass_request_done,
        .call_done = pass_call_done,
};

static bool pump(struct mx_side *s)
{
	rr_time now = mx_now();

	if (!s->pump.conn || rr_pump_over(&s->pump))
		return false;
	if (rr_pump_deadline(&s->pump, now) <= now)
		rr_pump_tick(&s->pump, now);
	rr_pump_drain(&s->pump, now);
	if (!rr_pump_lost(&s->pump))
		mx_provider()->progress(s->pump.ep, now);
	return rr_pump_turn(&s->pump, MX_LOG, now) > 0;
}

/* -- life ------------------------------------------------------------------ */

/* Each threshold is the smaller of two numbers [P8]; the other is larger.  How
 * long segments may be is not told in version 1: each side takes its own word. */
static struct rr_conn_config config_of(struct mx_world *w, unsigned side)
{
	static const uint32_t level[MX_DIRS] = {
	        [MX_FORWARD] = RDMA2_RVRSDIR_NONE,
	        [MX_REVERSE] = RDMA2_RVRSDIR_GENL,
	        [MX_REVERSE_CONT] = RDMA2_RVRSDIR_CONT,
	        [MX_REVERSE_SIMPLE] = RDMA2_RVRSDIR_SIMPLE,
	};
	const struct mx_setting *set = w->set;
	uint32_t more = set->version == 1 ? 0 : 8;

	struct rr_conn_config g = {
	        .role = side == CLIENT ? RR_CONN_CLIENT : RR_CONN_SERVER,
	        .mem = {mem_get, mem_put, &w->side[side]},
	        .xid_seed = 0x51000000,
	        .send_bytes = side == CLIENT ? set->to_server : set->to_client + 500,
	        .recv_bytes = side == CLIENT ? set->to_client : set->to_server + 500,
	        .segment_bytes =
	                side == CLIENT ? set->segment_bytes : set->segment_bytes + more,
	        .max_segments = set->max_segments,
	        .credits = set->credits,
	        .rvrsdir = level[w->k->dir],
	        .remote_invalidate = set->remote_invalidate,
	        .versions = set->version == 1 ? RR_CONN_V1 : RR_CONN_V2,
	        .features = w->k->features[side],
	        .ext = &w->side[side].ext,
	};

	conn_limits(&g);
	return g;
}

/* Properties of an extension, in the range for experiments: one of the case's length, a
 * third of it, and a short one. */
static void extend(struct mx_side *s)
{
	const size_t len[] = {s->w->k->property, s->w->k->property / 3, 5};
	size_t at = 0;

	if (!s->w->k->property)
		return;
	s->ext_data = malloc(len[0] + len[1] + len[2]);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(len); at += len[i++]) {
		mx_fill(s->ext_data + at, len[i], 0x600 + 2 * i + s->side);
		s->ext.prop[i] = (struct rr_ext_prop){.id = 0xffffff71 + i,
		                                      .data = s->ext_data + at,
		                                      .len = (uint32_t)len[i]};
	}
	s->ext.n_props = RR_ARRAY_SIZE(len);
}

static void new_conn(struct mx_world *w, unsigned side, struct rr_ep *ep)
{
	struct mx_side *s = &w->side[side];
	struct rr_conn_config cfg = config_of(w, side);
	struct rr_conn *conn;

	*s = (struct mx_side){.w = w, .side = side, .least_receive = SIZE_MAX};
	extend(s);
	assert_int_equal(rr_conn_new(&cfg, mx_now(), &conn), 0);
	rr_pump_init(&s->pump, mx_watch(w), ep, conn, &pump_ops);
	s->pump.batch = 1; /* the watch's poll returns at most one */
}

/* What the ends tell each other of version 1.            [RFC 8797 §4] */
static size_t own_private(struct mx_world *w, unsigned side, uint8_t ret[8])
{
	struct rr_conn_config cfg = config_of(w, side);

	return rr_conn_own_private(&cfg, ret);
}

static void try_accept(struct mx_world *w)
{
	uint8_t priv[8];
	size_t len = own_private(w, SERVER, priv);
	struct rr_ep *ep;

	if (!mx_provider()->accept(w->listener, &w->prov, priv, len, mx_now(), &ep))
		new_conn(w, SERVER, ep);
}

static bool turn(struct mx_world *w)
{
	struct mx_side *sv = &w->side[SERVER];
	bool moved;

	if (!sv->pump.conn)
		try_accept(w);
	/* Its Receives precede its peer's messages. */
	moved = pump(sv);
	moved |= pump(&w->side[CLIENT]);
	/* One end's flush can complete a post of the other end. */
	return moved || pump(sv) || pump(&w->side[CLIENT]);
}

/* The nearest timer that matters here; those of seconds are of no interest. */
static rr_time deadline(struct mx_world *w, rr_time limit)
{
	rr_time t = limit;

	for (unsigned i = 0; i < 2; i++)
		if (w->side[i].pump.conn && !rr_pump_over(&w->side[i].pump))
			t = RR_MIN(t, rr_pump_deadline(&w->side[i].pump, mx_now()));
	return t;
}

typedef bool mx_until(const struct mx_world *);

static void run(struct mx_world *w, mx_until *until)
{
	rr_time limit = mx_now() + PATIENCE;

	while (!until(w)) {
		if (mx_now() >= limit)
			fail_msg("nothing happens any more");
		if (!turn(w))
			mx_pass(w, deadline(w, limit));
	}
	/* Late grants and completions, also those that nobody waits for. */
	while (turn(w) || mx_busy(w))
		mx_pass(w, mx_now() + RR_MS(1));
}

static bool both_ready(const struct mx_world *w)
{
	return w->side[CLIENT].ready && w->side[SERVER].ready;
}

static bool client_ready(const struct mx_world *w)
{
	return w->side[CLIENT].ready;
}

static bool greeted(const struct mx_world *w)
{
	return !w->greeting;
}

static bool both_closed(const struct mx_world *w)
{
	return rr_pump_over(&w->side[CLIENT].pump) &&
	       rr_pump_over(&w->side[SERVER].pump);
}

/* A request whose reply is exposed ends with the notification. */
static bool stays_exposed(const struct mx_world *w)
{
	return w->side[!w->asker].n_live;
}

static bool answered(const struct mx_world *w)
{
	return w->held || (w->call_done &&
	                   (w->request_done || !w->request_seen || stays_exposed(w)));
}

/* A server of version 1 is ready, and credits are granted, with the first Call. */
static void greet(struct mx_world *w)
{
	struct rr_piece p = {greeting, sizeof(greeting), false};
	struct rr_call c = {
	        .xid = 0x3fffffff, .pieces = &p, .n_pieces = 1, .reply_bytes = 8};

	run(w, client_ready);
	w->greeting = 2;
	assert_int_equal(rr_conn_call(w->side[CLIENT].pump.conn, &c, mx_now()), 0);
	run(w, greeted);
}

void mx_world_open(struct mx_world *w, const struct mx_setting *set,
                   const struct mx_case *k)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct sockaddr_storage addr;
	struct rr_ep *ep;
	uint8_t priv[8];
	size_t len;

	memset(w, 0, sizeof(*w));
	w->set = set;
	w->k = k;
	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	mx_provider_begin(&w->prov, set->variant);
	assert_int_equal(mx_provider()->listen(&w->prov, (struct sockaddr *)&any,
	                                       sizeof(any), &w->listener, &addr),
	                 0);
	len = own_private(w, CLIENT, priv);
	assert_int_equal(mx_provider()->connect(&w->prov, (struct sockaddr *)&addr,
	                                        sizeof(any), priv, len, mx_now(), &ep),
	                 0);
	new_conn(w, CLIENT, ep);
	if (set->version == 1)
		greet(w);
	run(w, both_ready);
}

/* Each two destinations are for the results of one operation of the Call. */
enum { OPERATION = 64 };

static void new_dest(struct mx_world *w, unsigned i)
{
	const struct mx_case *k = w->k;
	uint32_t begin = (i / 2 + 1) * OPERATION;

	mx_mem_new(&w->dest[i], k->dest[i], (i + 2) % 4);
	memset(w->dest[i].p, 0xcc, k->dest[i]);
	w->dests[i] = (struct rr_dest){
	        .base = k->dest[i] ? w->dest[i].p : NULL,
	        .len = k->dest[i],
	        .direct = k->direct,
	        .min_len = k->min_len,
	        .above = k->above,
	        .begin = k->ranges ? begin : 0,
	        .end = k->ranges ? begin + OPERATION : 0,
	};
}

/* Sets the operation to which each result belongs. */
static void tie_results(struct mx_world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; w->k->ranges && i < w->reply.n_pieces; i++)
		if (w->reply.piece[i].item)
			w->reply.piece[i].position =
			        (w->k->operation[n++] + 1) * OPERATION;
}

static void start_call(struct mx_world *w)
{
	const struct mx_case *k = w->k;
	struct mx_side *s = &w->side[w->asker];

	mx_call_stream(&w->call, k, w->xid);
	mx_reply_stream(&w->reply, k, w->xid);
	tie_results(w);
	for (unsigned i = 0; i < k->n_dests; i++)
		new_dest(w, i);
	w->rc = (struct rr_call){
	        .xid = w->xid,
	        .flags = k->call_flags,
	        .pieces = w->call.piece,
	        .n_pieces = w->call.n_pieces,
	        .dests = w->dests,
	        .n_dests = k->n_dests,
	        .reply_bytes = k->reply_bytes,
	        .reply_min = k->reply_min,
	};
	w->call_at = w->n_log;
	assert_int_equal(rr_conn_call(s->pump.conn, &w->rc, mx_now()), 0);
	run(w, answered);
}

void mx_world_call(struct mx_world *w)
{
	w->asker = w->k->dir == MX_FORWARD ? CLIENT : SERVER;
	w->xid = 0x40000001;
	w->first_call_at = w->n_log;
	start_call(w);
}

/* Frees the call's memory, except the reply, which may still be exposed. */
static void end_call(struct mx_world *w)
{
	assert_true(w->n_earlier < MX_OWED);
	w->earlier[w->n_earlier++] = w->reply;
	mx_stream_free(&w->call);
	for (unsigned i = 0; i < MX_ITEMS; i++) {
		mx_mem_free(&w->dest[i]);
		mx_mem_free(&w->sink[i]);
	}
	free(w->got);
	w->got = NULL;
	w->call_done = w->request_seen = w->request_done = false;
}

void mx_world_again(struct mx_world *w, const struct mx_case *k)
{
	end_call(w);
	w->k = k;
	w->xid++;
	start_call(w);
}

static bool given_up(const struct mx_world *w)
{
	return w->call_done;
}

/* The late Reply, not a grant, has come to the Requester. */
static bool late_reply(const struct mx_world *w)
{
	for (unsigned i = w->resumed_at; i < w->n_log; i++)
		if (w->log[i].side == w->asker && w->log[i].kind == MX_RECV &&
		    w->log[i].len > mx_empty(w->set))
			return w->request_done;
	return false;
}

void mx_world_cancel(struct mx_world *w)
{
	rr_conn_cancel(w->side[w->asker].pump.conn, &w->rc, mx_now());
	run(w, given_up);
}

void mx_world_resume(struct mx_world *w, bool breaks)
{
	struct mx_side *s = &w->side[!w->asker];
	struct rr_request *r = w->held;
	enum mx_hold was = w->hold;

	w->held = NULL;
	w->hold = MX_HOLD_NOT;
	w->abandon = breaks;
	w->resumed_at = w->n_log;
	if (was == MX_HOLD_ADMIT)
		on_admit(s, r);
	else
		rr_conn_reply(s->pump.conn, r, w->reply.piece, w->reply.n_pieces,
		              mx_now());
	run(w, breaks ? both_closed : late_reply);
}

void mx_world_probe(struct mx_world *w, const struct mx_event *region)
{
	const struct rr_prov_ops *p = mx_provider();
	struct mx_side *s = &w->side[!w->asker];
	const struct mx_mem *target = NULL;
	struct rr_sge g;
	struct mx_mem m;
	uint8_t before[4];

	for (unsigned i = 0; i < w->k->n_dests; i++)
		if (w->dest[i].p == region->base)
			target = &w->dest[i];
	memcpy(before, target ? target->p : (const uint8_t *)"....", 4);
	mx_mem_new(&m, 4, 0);
	memset(m.p, 0xee, 4);
	g = (struct rr_sge){m.p, 4, 0};
	w->abandon = true;
	if (region->access & RR_ACCESS_REMOTE_WRITE)
		assert_int_equal(p->post_write(s->pump.ep, &g, 1, region->handle,
		                               region->offset, MX_PROBE_TOKEN),
		                 0);
	else
		assert_int_equal(p->post_read(s->pump.ep, &g, region->handle,
		                              region->offset, MX_PROBE_TOKEN),
		                 0);
	(void)p->flush(s->pump.ep, mx_now()); /* the pump does not know the post */
	run(w, both_closed);
	assert_int_equal(w->side[w->asker].lost_status, -EREMOTEIO);
	if (target)
		assert_memory_equal(target->p, before, 4);
	/* sim fills the sink of a Read when it is posted; nothing of the region */
	for (unsigned i = 0; i < w->k->n_items && region->base == w->call.item[i].p;
	     i++)
		assert_memory_not_equal(m.p, region->base, 4);
	mx_mem_free(&m);
}

void mx_world_close(struct mx_world *w)
{
	w->abandon = true;
	if (!rr_pump_over(&w->side[CLIENT].pump))
		rr_pump_close(&w->side[CLIENT].pump, 0, mx_now());
	run(w, both_closed);
	for (unsigned i = 0; i < 2; i++) {
		rr_conn_free(w->side[i].pump.conn);
		assert_int_equal(w->side[i].mem_bytes, 0);
		free(w->side[i].ext_data);
		mx_provider()->destroy(w->side[i].pump.ep);
	}
	for (unsigned i = 0; i < MX_ITEMS; i++) {
		mx_mem_free(&w->dest[i]);
		mx_mem_free(&w->sink[i]);
	}
	for (unsigned i = 0; i < w->n_earlier; i++)
		mx_stream_free(&w->earlier[i]);
	for (unsigned i = 0; i < w->n_log; i++)
		free(w->log[i].data);
	free(w->got);
	mx_stream_free(&w->call);
	mx_stream_free(&w->reply);
	mx_provider()->listener_close(w->listener);
	mx_provider_end();
}
