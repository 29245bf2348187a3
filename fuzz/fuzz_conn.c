/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection under a hostile peer and a restless user.  The input is a list
 * of events: an octet that says what, then its arguments.  The first octet says
 * what the connection is:
 *
 *   1      a client       2      the peer's properties have come already
 *   4, 8   speaks version 2; 1; both; 2 with authentication
 *   16     small limits   32     has an extension
 *   64 128 calls in reverse: all; none; simple; continued
 *
 * fuzz_conn_ext.c is the same with all optional features at both peers.
 *
 * Calls that were refused are asked again as rr_call_recover wants, once.
 *
 * The input chooses when each post completes and how, also against the provider
 * contract, so the connection is moved here by hand and not by the library's pump.
 *
 * Properties: each call and each request ends exactly once, memory comes back,
 * credits stay within their cap, no Receive is posted twice, CLOSED comes and is
 * the last.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "conn/conn.h"

#include "../tests/support/test_conn_limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef FUZZ_FEATURES
#define FUZZ_FEATURES 0
#endif

enum { MAX_RECVS = 256, MAX_CALLS = 16, MAX_HELD = 32, BIG = 20000 };

struct recv {
	void *base;
	uint32_t len;
	uint64_t token;
};

struct world {
	struct rr_conn *conn;
	rr_time now;
	size_t out_bytes;
	struct recv recvs[MAX_RECVS];
	unsigned n_recvs;
	struct rr_call calls[MAX_CALLS];
	struct rr_piece pieces[MAX_CALLS][3];
	struct rr_dest dests[MAX_CALLS][2];
	uint8_t heads[MAX_CALLS][40];
	bool out[MAX_CALLS], again[MAX_CALLS];
	unsigned n_requests, steps;
	struct rr_request *held[MAX_HELD];
	unsigned n_held;
	uint32_t handles;
	bool lost, closed, hold;
};

static uint8_t big[BIG];

static void *get(void *ctx, size_t bytes)
{
	struct world *w = ctx;

	w->out_bytes += bytes;
	return malloc(bytes ? bytes : 1);
}

static void put(void *ctx, void *p, size_t bytes)
{
	struct world *w = ctx;

	w->out_bytes -= bytes;
	free(p);
}

static void answer(struct world *w, struct rr_request *r)
{
	static uint8_t head[28];
	struct rr_piece p[2] = {{head, sizeof(head), false}, {big, 5000, true}};
	struct rr_error e = {.code = RDMA2_ERR_SYSTEM};

	rr_store_u32(head, r->xid);
	rr_store_u32(head + 4, 1);
	if (r->xid % 5 == 0)
		rr_conn_refuse(w->conn, r, &e, w->now);
	else if (r->xid % 7 == 0)
		rr_conn_drop(w->conn, r, w->now);
	else
		rr_conn_reply(w->conn, r, p, 1 + r->xid % 2, w->now);
}

/* Types 0x80000010 (flag 8) and 0x80000011, one property, one error code. */
static const struct rr_ext_table extension = {
        .n_htypes = 2,
        .htype = {0x80000010, 0x80000011},
        .flags = {8, 0},
        .n_props = 1,
        .prop = {{.id = 0x80000001, .deflt = "dflt", .deflt_len = 4}},
        .n_errors = 1,
        .error = {0x80000001},
};

static void send_extension(struct world *w, uint8_t how)
{
	uint32_t xid = 0;
	int err = rr_conn_ext_send(w->conn, 0x80000010 + (how & 1),
	                           how & 2 ? RDMA2_F_RESPONSE : 0, how & 4 ? 0x300 : 0,
	                           big, how & 1 ? 2000 : 8, &xid, w->now);

	RR_ASSERT(err || xid || how & 2);
}

static void extension_event(struct world *w, const struct rr_ext_event *ev)
{
	for (size_t i = 0; i < ev->len; i += 61) /* all of it must be readable */
		w->handles ^= ((const uint8_t *)ev->data)[i] & 0;
	if (ev->what == RR_EXT_MESSAGE && ev->len % 8)
		rr_conn_ext_refuse(w->conn, ev, 0x80000001, w->now);
}

/* The peer's words come back; empty ones are an end, and 0xff a refusal. */
static int authenticate(void *ctx, const void *in, size_t len, const void **ret_out,
                        size_t *ret_len)
{
	struct world *w = ctx;
	const uint8_t *b = in;

	for (size_t i = 0; i < len; i++) /* all of it must be readable */
		w->handles ^= b[i] & 0;
	*ret_out = big;
	*ret_len = len ? b[0] * 20u : 12;
	w->steps++;
	return !len ? in != NULL : b[0] == 0xff ? -EACCES : b[0] & 1;
}

static void call_done(struct world *w, struct rr_call *call)
{
	size_t i = (size_t)(call - w->calls);

	RR_ASSERT(i < MAX_CALLS && w->out[i]);
	w->out[i] = false;
	for (size_t k = 0; !call->status && k < call->reply_len; k += 61)
		w->handles ^= ((const uint8_t *)call->reply)[k] & 0;
	rr_conn_call_release(w->conn, call, w->now);
	if (w->closed || !rr_call_recover(w->conn, call))
		return;
	RR_ASSERT(!w->again[i] && call->status == RR_CALL_REMOTE_ERROR);
	w->again[i] = true;
	call->xid += 0x100;
	rr_store_u32(w->heads[i], call->xid);
	w->out[i] = rr_conn_call(w->conn, call, w->now) == 0;
}

static void post_receive(struct world *w, const struct rr_action *a)
{
	for (unsigned i = 0; i < w->n_recvs; i++)
		RR_ASSERT(w->recvs[i].token != a->token &&
		          w->recvs[i].base != a->sge[0].base);
	RR_ASSERT(w->n_recvs < MAX_RECVS);
	w->recvs[w->n_recvs++] = (struct recv){a->sge[0].base, a->sge[0].len, a->token};
}

static void act(struct world *w, const struct rr_action *a)
{
	switch (a->kind) {
	case RR_ACT_POST_RECV:
		post_receive(w, a);
		break;
	case RR_ACT_READ:
		memset(a->sge[0].base, 7, a->sge[0].len);
		rr_conn_completed(w->conn, a->token, w->lost ? -ECANCELED : 0, w->now);
		break;
	case RR_ACT_SEND:
	case RR_ACT_WRITE:
		for (unsigned i = 0; i < a->n_sge; i++) /* all of it must be readable */
			for (uint32_t k = 0; k < a->sge[i].len; k += 61)
				w->handles ^= ((const uint8_t *)a->sge[i].base)[k] & 0;
		rr_conn_completed(w->conn, a->token, w->lost ? -ECANCELED : 0, w->now);
		break;
	case RR_ACT_INVALIDATE:
		rr_conn_completed(w->conn, a->token, 0, w->now);
		break;
	case RR_ACT_REGISTER:
		w->handles += 3;
		rr_conn_registered(w->conn, a->token, w->lost ? -ENOTCONN : 0,
		                   w->handles, w->handles * 16);
		break;
	case RR_ACT_ADMIT: {
		struct rr_error e = {.code = RDMA2_ERR_READ_CHUNKS};

		w->n_requests++;
		if (a->request->xid % 11 == 10)
			rr_conn_refuse(w->conn, a->request, &e, w->now);
		else
			rr_conn_admit(w->conn, a->request, NULL, w->now);
		break;
	}
	case RR_ACT_REQUEST:
		for (unsigned i = 0; i < a->request->n_pieces; i++)
			if (a->request->pieces[i].len)
				w->handles ^= ((const uint8_t *)a->request->pieces[i]
				                       .base)[0] &
				              0;
		if (w->hold && w->n_held < MAX_HELD)
			w->held[w->n_held++] = a->request;
		else
			answer(w, a->request);
		break;
	case RR_ACT_CALL_DONE:
		call_done(w, a->call);
		break;
	case RR_ACT_DISCONNECT:
		break;
	case RR_ACT_CLOSED:
		RR_ASSERT(w->lost && !w->closed && !w->n_requests);
		w->closed = true;
		break;
	case RR_ACT_EXTENSION:
		extension_event(w, a->ext);
		break;
	case RR_ACT_REQUEST_DONE:
		RR_ASSERT(w->n_requests--);
		break;
	case RR_ACT_READY:
		break;
	}
}

static void drain(struct world *w)
{
	struct rr_conn_info info;
	struct rr_action a;

	memset(&a, 0xee, sizeof(a)); /* a member that is not set must not be used */
	while (!w->closed && rr_conn_next(w->conn, &a))
		act(w, &a);
	rr_conn_info(w->conn, &info);
	RR_ASSERT(info.avail <= info.cap || !info.cap);
}

static void receive(struct world *w, const uint8_t *p, size_t len, uint32_t inv)
{
	struct recv r;

	if (!w->n_recvs)
		return;
	r = w->recvs[0];
	memmove(w->recvs, w->recvs + 1, --w->n_recvs * sizeof(r));
	if (len > r.len)
		len = r.len;
	if (len)
		memcpy(r.base, p, len);
	rr_conn_received(w->conn, r.token, len, inv, w->now);
}

static void start_call(struct world *w, uint8_t how)
{
	for (unsigned i = 0; i < MAX_CALLS; i++) {
		struct rr_call *c = &w->calls[i];

		if (w->out[i])
			continue;
		rr_store_u32(w->heads[i], 0x100 + i);
		memset(w->heads[i] + 4, 0, 36);
		w->pieces[i][0] = (struct rr_piece){w->heads[i], 40, false};
		w->pieces[i][1] = (struct rr_piece){big, how & 1 ? 9001 : 601, how & 2};
		if (!(how & 2))
			w->pieces[i][1].len = 9000;
		w->pieces[i][2] = (struct rr_piece){big, 700, true};
		w->dests[i][0] = (struct rr_dest){.base = big, .len = 3001};
		w->dests[i][1] = (struct rr_dest){.base = big + 4000, .len = 6000};
		w->again[i] = false;
		*c = (struct rr_call){
		        .xid = 0x100 + i,
		        .flags = (how & 4 ? RR_CALL_SPECIAL : 0u) |
		                 (i & 1 ? RR_CALL_IDEMPOTENT : 0u),
		        .pieces = w->pieces[i],
		        .n_pieces = how & 8 ? 2 + (i & 1) : 1,
		        .dests = w->dests[i],
		        .n_dests = how & 16 ? 1 + (i & 1) : 0,
		        .reply_bytes = i & 4 ? 200000 : 0,
		};
		w->out[i] = rr_conn_call(w->conn, c, w->now) == 0;
		return;
	}
}

static void lose(struct world *w)
{
	if (w->lost)
		return;
	w->lost = true;
	while (w->n_recvs) /* every post is flushed first */
		rr_conn_completed(w->conn, w->recvs[--w->n_recvs].token, -ECANCELED,
		                  w->now);
	rr_conn_lost(w->conn, -ECONNRESET, w->now);
}

static void event(struct world *w, struct rr_cursor *c)
{
	const uint8_t *op = rr_get_bytes(c, 1), *b;
	uint8_t what = op ? *op & 7 : 7, arg = op ? *op >> 3 : 0;
	size_t len;

	switch (what) {
	case 0:
	case 1: /* a message; arg 1: it invalidates a handle */
		b = rr_get_bytes(c, 2);
		len = b ? rr_load_u16(b) : 0;
		if (len > rr_cursor_left(c))
			len = rr_cursor_left(c);
		b = rr_get_bytes(c, len);
		receive(w, b, b ? len : 0, arg == 1 ? w->handles : 0);
		break;
	case 2:
		start_call(w, arg);
		break;
	case 3:
		if (w->out[arg % MAX_CALLS])
			rr_conn_cancel(w->conn, &w->calls[arg % MAX_CALLS], w->now);
		break;
	case 4:
		w->now += RR_MS(1) << (arg & 15);
		rr_conn_tick(w->conn, w->now);
		break;
	case 5:
		w->hold = arg & 1;
		if (w->n_held)
			answer(w, w->held[--w->n_held]);
		break;
	case 6:
		if (arg < 8)
			send_extension(w, arg);
		else if (arg == 31)
			lose(w);
		else if (arg == 30)
			rr_conn_close(w->conn, 0, w->now);
		break;
	default:
		break;
	}
	drain(w);
}

static void properties(struct world *w)
{
	static const uint32_t base[] = {0x77, 2, 0x00200020, 5, 0, 0};
	static const uint32_t all[] = {
	        0x77,       2,  0x00200020, 5,     0,      6, /* six properties */
	        0xffffff31, 4,  3,                            /* HTFAM */
	        0xffffff21, 12, 7,          10000, 100000,    /* RPRC */
	        0xffffff02, 4,  1,                            /* REQREMINV */
	        0xffffff13, 4,  15,                           /* RTRSUPP */
	        0xffffff15, 4,  4,                            /* REQRXLIM */
	        0xffffff16, 4,  4,                            /* RESPSXLIM */
	};
	const uint32_t *words = FUZZ_FEATURES ? all : base;
	size_t n = FUZZ_FEATURES ? RR_ARRAY_SIZE(all) : RR_ARRAY_SIZE(base);
	uint8_t m[sizeof(all)];

	for (size_t i = 0; i < n; i++)
		rr_store_u32(m + 4 * i, words[i]);
	receive(w, m, 4 * n, 0);
	drain(w);
}

static struct rr_conn_config configuration(struct world *w, uint8_t how)
{
	static const unsigned versions[4] = {RR_CONN_V2, RR_CONN_V1,
	                                     RR_CONN_V1 | RR_CONN_V2, RR_CONN_V2};
	static const uint32_t reverse[4] = {RDMA2_RVRSDIR_GENL, RDMA2_RVRSDIR_NONE,
	                                    RDMA2_RVRSDIR_SIMPLE, RDMA2_RVRSDIR_CONT};
	const bool small = how & 16;

	struct rr_conn_config g = {
	        .role = how & 1 ? RR_CONN_CLIENT : RR_CONN_SERVER,
	        .mem = {get, put, w},
	        .xid_seed = 1,
	        .credits = small ? 2 : 8,
	        .send_bytes = small ? 1024 : 0,
	        .recv_bytes = small ? 1024 : 4096,
	        .segment_bytes = small ? 4096 : 0,
	        .max_segments = small ? 2 : 0,
	        .max_requests = small ? 1 : 8,
	        .max_message_bytes = small ? 8192 : 65536,
	        .max_chunk_bytes = small ? 8192 : 65536,
	        .max_held_bytes = small ? 20000 : 200000,
	        .rvrsdir = reverse[how >> 6],
	        .versions = versions[how >> 2 & 3],
	        .auth = {(how & 12) == 12 ? authenticate : NULL, w},
	        .auth_required = (how & 12) == 12,
	        .ext = how & 32 ? &extension : NULL,
	        .remote_invalidate = true,
	        .features = {.on = FUZZ_FEATURES,
	                     .cont_max_sends = 2,
	                     .rtr_segments = 1},
	};

	conn_limits(&g);
	return g;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_cursor c = rr_cursor_over(data, size);
	const uint8_t *first = rr_get_bytes(&c, 1);
	struct world *w = calloc(1, sizeof(*w));
	struct rr_conn_config cfg;

	if (!w)
		abort();
	w->now = RR_SEC(1);
	cfg = configuration(w, first ? *first : 0);
	RR_ASSERT(rr_conn_new(&cfg, w->now, &w->conn) == 0);
	drain(w);
	rr_conn_open(w->conn, w->now);
	drain(w);
	if (first && *first & 2)
		properties(w);
	while (!w->closed && rr_cursor_left(&c))
		event(w, &c);
	if (!w->closed) {
		lose(w);
		drain(w);
		while (w->n_held) {
			answer(w, w->held[--w->n_held]);
			drain(w);
		}
	}
	RR_ASSERT(w->closed);
	for (unsigned i = 0; i < MAX_CALLS; i++)
		RR_ASSERT(!w->out[i]);
	rr_conn_free(w->conn);
	RR_ASSERT(w->out_bytes == 0);
	free(w);
	return 0;
}
