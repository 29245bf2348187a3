/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of properties, from a peer that sends anything.  The input is an
 * octet of options, then messages: an octet of flags, two of length, a body; all
 * are RDMA2_CONNPROP with the same XID.
 *
 * The oracle is a second reading of the draft's text, below: which error each
 * set deserves, which values are in effect when the exchange is over.  With
 * authentication only this is held: no READY without the hook's consent.
 * There is no provider, so the few actions that come are carried out here and not by
 * the library's pump.  The input is also read as an rpcrdma2_propsubset.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "conn/conn.h"

#include "../tests/support/test_conn_limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_RECVS = 128, MAX_OUT = 256, EXT_ID = 0x80000001 };

struct recv {
	void *base;
	uint64_t token;
};

struct world {
	struct rr_conn *conn;
	size_t out_bytes;
	struct recv recvs[MAX_RECVS];
	unsigned n_recvs;
	bool ready, closing, closed;
	uint32_t codes[MAX_OUT];
	unsigned n_codes;
	unsigned told; /* about the extension's property */
	bool consent;
};

/* What the text says about what has come so far. */
struct model {
	uint32_t value[6];
	uint8_t set[1 << 17];
	size_t len;
	uint32_t count;
	bool refused; /* the parts of a late sequence */
	bool final, over;
	uint32_t codes[MAX_OUT];
	unsigned n_codes;
};

static void *get(void *ctx, size_t bytes)
{
	((struct world *)ctx)->out_bytes += bytes;
	return malloc(bytes ? bytes : 1);
}

static void put(void *ctx, void *p, size_t bytes)
{
	((struct world *)ctx)->out_bytes -= bytes;
	free(p);
}

static bool four(const void *data, size_t len)
{
	return len == 4;
}

/* Consents to "yes" and to nothing else; says two octets. */
static int hook(void *ctx, const void *in, size_t in_len, const void **ret_out,
                size_t *ret_out_len)
{
	struct world *w = ctx;

	*ret_out = "me";
	*ret_out_len = 2;
	if (!in)
		return 0;
	w->consent = in_len == 3 && memcmp(in, "yes", 3) == 0;
	return w->consent ? 1 : in_len == 2 ? 0 : -1;
}

static void note_send(struct world *w, const struct rr_action *a)
{
	uint8_t m[64] = {0};
	size_t n = 0;

	for (unsigned i = 0; i < a->n_sge && n < sizeof(m); i++) {
		size_t k = RR_MIN((size_t)a->sge[i].len, sizeof(m) - n);

		memcpy(m + n, a->sge[i].base, k);
		n += k;
	}
	if (rr_load_u32(m + 12) == 4 && w->n_codes < MAX_OUT)
		w->codes[w->n_codes++] = rr_load_u32(m + 20);
	RR_ASSERT(rr_load_u32(m + 12) != 0); /* no RPC here */
}

static void act(struct world *w, const struct rr_action *a)
{
	switch (a->kind) {
	case RR_ACT_POST_RECV:
		RR_ASSERT(w->n_recvs < MAX_RECVS);
		w->recvs[w->n_recvs++] = (struct recv){a->sge[0].base, a->token};
		break;
	case RR_ACT_SEND:
		note_send(w, a);
		rr_conn_completed(w->conn, a->token, 0, 0);
		break;
	case RR_ACT_READY:
		w->ready = true;
		break;
	case RR_ACT_EXTENSION:
		RR_ASSERT(!w->ready && a->ext->number == EXT_ID);
		RR_ASSERT(a->ext->what != RR_EXT_PROPERTY || a->ext->len == 4);
		w->told++;
		break;
	case RR_ACT_DISCONNECT:
		w->closing = true;
		break;
	case RR_ACT_CLOSED:
		w->closed = true;
		break;
	case RR_ACT_WRITE:
	case RR_ACT_READ:
	case RR_ACT_REGISTER:
	case RR_ACT_INVALIDATE:
	case RR_ACT_ADMIT:
	case RR_ACT_REQUEST:
	case RR_ACT_REQUEST_DONE:
	case RR_ACT_CALL_DONE:
		RR_NEVER("nothing of that was asked for");
	}
}

static void drain(struct world *w)
{
	struct rr_action a;

	while (!w->closed && rr_conn_next(w->conn, &a))
		act(w, &a);
}

/* -- the second reading [v2 §5.1, §7.2.2, P4, P5, P7, P13, P20] ------------ */

static bool conforms(uint32_t id, const uint8_t *p, uint32_t len)
{
	uint32_t inner;

	if (!len)
		return true;
	if ((id >= 1 && id <= 5) || id == EXT_ID)
		return len == 4;
	if (id != 6)
		return true;
	if (len < 4)
		return false;
	inner = rr_load_u32(p);
	return inner <= len - 4 && len - 4 - inner == (4 - inner % 4) % 4;
}

static uint32_t preset(uint32_t id)
{
	static const uint32_t v[6] = {0, 4096, 4096, 1048576, 16, 0};

	return v[id];
}

/* 0 or the error; values only if it is 0. */
static uint32_t read_set(struct model *m)
{
	const uint8_t *p = m->set;
	size_t left = m->len;
	uint32_t v[6], count;

	memcpy(v, m->value, sizeof(v));
	if (left < 4)
		return 2;
	count = rr_load_u32(p);
	p += 4;
	left -= 4;
	if (count > left / 8)
		return 2;
	m->count += count;
	m->over = m->count > 256;
	while (count-- && !m->over) {
		uint32_t id, len, padded;

		if (left < 8)
			return 2;
		id = rr_load_u32(p);
		len = rr_load_u32(p + 4);
		p += 8;
		left -= 8;
		if (len > left || (len + 3) / 4 * 4 > left)
			return 3;
		padded = (len + 3) / 4 * 4;
		if (!conforms(id, p, len))
			return 3;
		if (id >= 1 && id <= 5)
			v[id] = len ? rr_load_u32(p) : preset(id);
		p += padded;
		left -= padded;
	}
	if (v[5] > 3)
		v[5] = 0;
	memcpy(m->value, v, sizeof(v));
	return 0;
}

static void model_message(struct model *m, uint8_t flags, const uint8_t *body,
                          size_t len)
{
	uint32_t code = 0;

	if (m->final) { /* late: one error for a sequence [M3] */
		code = m->refused ? 0 : 4;
		m->refused = flags & 2;
	} else {
		RR_ASSERT(len <= sizeof(m->set) - m->len);
		if (len)
			memcpy(m->set + m->len, body, len);
		m->len += len;
		if (flags & 2)
			return;
		code = read_set(m);
		m->len = 0;
		m->final = !(flags & 4);
	}
	if (code && m->n_codes < MAX_OUT)
		m->codes[m->n_codes++] = code;
}

/* -- both ------------------------------------------------------------------ */

static void receive(struct world *w, uint8_t flags, const uint8_t *body, size_t len)
{
	static const uint8_t prefix[20] = {0, 0,  0, 9,  0, 0, 0, 2,
	                                   0, 32, 0, 32, 0, 0, 0, 5};
	struct recv r = w->recvs[0];
	uint8_t *m = r.base;

	RR_ASSERT(w->n_recvs);
	memmove(w->recvs, w->recvs + 1, --w->n_recvs * sizeof(r));
	memcpy(m, prefix, 20);
	m[19] = flags;
	if (len)
		memcpy(m + 20, body, len);
	rr_conn_received(w->conn, r.token, 20 + len, 0, 0);
	drain(w);
}

static void compare(const struct world *w, const struct model *m)
{
	bool usable = m->value[1] >= 1024 && m->value[2] >= 1024;
	struct rr_conn_info i;

	RR_ASSERT(w->n_codes == m->n_codes);
	RR_ASSERT(!memcmp(w->codes, m->codes, m->n_codes * sizeof(m->codes[0])));
	RR_ASSERT(w->closing == (m->over || (m->final && !usable)));
	RR_ASSERT(w->ready == (m->final && !w->closing));
	if (!w->ready)
		return;
	RR_ASSERT(w->told > 0);
	rr_conn_info(w->conn, &i);
	RR_ASSERT(i.send_inline == RR_MIN(4096u, m->value[2]));
	RR_ASSERT(i.recv_inline == RR_MIN(4096u, m->value[1]));
	RR_ASSERT(i.peer_segment_bytes == m->value[3]);
	RR_ASSERT(i.peer_max_segments == m->value[4]);
	RR_ASSERT(i.peer_rvrsdir == m->value[5]);
}

static void exchange(struct world *w, struct rr_cursor *c, bool auth)
{
	static struct model m;

	memset(&m, 0, sizeof(m));
	for (uint32_t i = 1; i < 6; i++)
		m.value[i] = preset(i);
	while (!w->closing && rr_cursor_left(c)) {
		const uint8_t *head = rr_get_bytes(c, 3), *body;
		size_t len = head ? rr_load_u16(head + 1) : 0;
		uint8_t flags = head ? *head & 6 : 0;

		len = RR_MIN(RR_MIN(len, rr_cursor_left(c)), (size_t)4076);
		if (m.len + len > sizeof(m.set))
			return;
		body = rr_get_bytes(c, len);
		receive(w, flags, body, len);
		if (auth)
			continue;
		model_message(&m, flags, body, len);
		if (w->closing && !m.over) /* errors that were never sent */
			m.n_codes = w->n_codes;
		if (m.over) /* too many: nothing else counts */
			RR_ASSERT(w->closing);
		else
			compare(w, &m);
	}
}

static void subset(const uint8_t *data, size_t size)
{
	struct rr_cursor c = rr_cursor_over(data, size), before = c;
	uint32_t words[16], count;
	uint8_t out[4 + sizeof(words)];
	struct rr_writer w = rr_writer_over(out, sizeof(out));

	if (rr_wire_get_propsubset(&c, words, 16, &count)) {
		RR_ASSERT(c.pos == before.pos && !c.bad);
		return;
	}
	rr_wire_put_propsubset(&w, words, count);
	RR_ASSERT(!rr_writer_bad(&w));
	RR_ASSERT(rr_writer_used(&w) == (size_t)(c.pos - data));
	RR_ASSERT(memcmp(out, data, rr_writer_used(&w)) == 0);
	for (uint32_t n = 0; n < 640; n++) {
		bool set = n / 32 < count &&
		           data[4 + n / 32 * 4 + 3 - n % 32 / 8] >> n % 8 & 1;

		RR_ASSERT(rr_wire_propsubset_has(words, count, n) == set);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rr_ext_table table = {
	        .n_props = 1,
	        .prop = {{.id = EXT_ID, .conforms = four, .data = "abc", .len = 3}},
	};
	struct rr_cursor c = rr_cursor_over(data, size);
	const uint8_t *first = rr_get_bytes(&c, 1);
	uint8_t how = first ? *first : 0;
	struct world *w = calloc(1, sizeof(*w));
	struct rr_conn_config cfg = {
	        .role = how & 1 ? RR_CONN_CLIENT : RR_CONN_SERVER,
	        .mem = {get, put, w},
	        .xid_seed = 0x1000,
	        .ext = &table,
	};

	if (!w)
		abort();
	subset(data, size);
	if (how & 2) {
		cfg.auth = (struct rr_auth){hook, w};
		cfg.auth_required = true;
	}
	conn_limits(&cfg);
	RR_ASSERT(rr_conn_new(&cfg, 0, &w->conn) == 0);
	rr_conn_open(w->conn, 0);
	drain(w);
	exchange(w, &c, how & 2);
	RR_ASSERT(!(how & 2) || !w->ready || w->consent);
	while (w->n_recvs)
		rr_conn_completed(w->conn, w->recvs[--w->n_recvs].token, -ECANCELED, 0);
	rr_conn_lost(w->conn, -ECONNRESET, 0);
	drain(w);
	RR_ASSERT(w->closed);
	rr_conn_free(w->conn);
	RR_ASSERT(w->out_bytes == 0);
	free(w);
	return 0;
}
