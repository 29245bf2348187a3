/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server's contexts of RPCSEC_GSS beneath a script of Calls: good ones, and octets.
 *
 * GSS-API is a toy here, in front of the real one: a MIC is right if it begins with its
 * context's octet, what is wrapped has it in front.  So the input can say who signs
 * what, and the program knows what must come of it: a model has each context's numbers
 * and its end.  What is decided, and what comes back from the results, is compared with
 * that; the client's half of the code reads what the server's has written.
 */
#include <stdlib.h>
#include <string.h>

#include <gssapi/gssapi_ext.h>
#include <netinet/in.h>

#include "base/cursor.h"
#include "gss/context.h"
#include "gss/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* -- the toy --------------------------------------------------------------- */

struct gss_ctx_id_struct {
	uint8_t mark;
};
struct gss_name_struct {
	uint8_t mark;
};

/* What a MIC means besides, by its length. */
enum { FORGETS = 2, REPEATS = 3, DISORDERS = 4 };

static struct rr_gss *meanwhile;
static uint8_t next_mark;
static unsigned live_contexts, live_names;

static OM_uint32 give(gss_buffer_t out, const void *head, size_t head_len,
                      const gss_buffer_desc *in)
{
	size_t len = head_len + (in ? in->length : 0);
	uint8_t *p = malloc(len + 1);

	if (!p)
		abort();
	memcpy(p, head, head_len);
	if (in && in->length)
		memcpy(p + head_len, in->value, in->length);
	*out = (gss_buffer_desc){len, p};
	return GSS_S_COMPLETE;
}

static void *take(const void *what, size_t len)
{
	void *p = malloc(len);

	if (!p)
		abort();
	return memcpy(p, what, len);
}

/* The token: what becomes of it, how long it lasts, and what is answered. */
OM_uint32 gss_accept_sec_context(OM_uint32 *minor, gss_ctx_id_t *id, gss_cred_id_t cred,
                                 gss_buffer_t in, gss_channel_bindings_t cb,
                                 gss_name_t *name, gss_OID *mech, gss_buffer_t out,
                                 OM_uint32 *flags, OM_uint32 *seconds,
                                 gss_cred_id_t *delegated)
{
	const uint8_t *p = in->value;
	struct gss_ctx_id_struct c = {next_mark};

	RR_ASSERT(in->length && in->length <= RR_GSS_MAX_TOKEN);
	*minor = *p;
	if (*p % 4 == 1)
		return GSS_S_DEFECTIVE_TOKEN;
	*id = take(&c, sizeof(c));
	live_contexts++;
	give(out, "token", *p % 6, NULL);
	if (*p % 4 == 2)
		return GSS_S_CONTINUE_NEEDED;
	if (*p % 4 == 3)
		return GSS_S_FAILURE | GSS_S_CONTINUE_NEEDED;
	next_mark++;
	*name = take(&(struct gss_name_struct){c.mark}, sizeof(struct gss_name_struct));
	live_names++;
	*seconds = in->length > 1 ? p[1] : GSS_C_INDEFINITE;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_delete_sec_context(OM_uint32 *minor, gss_ctx_id_t *id, gss_buffer_t out)
{
	live_contexts -= *id != NULL;
	free(*id);
	*id = NULL;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_release_name(OM_uint32 *minor, gss_name_t *name)
{
	live_names -= *name != NULL;
	free(*name);
	*name = NULL;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_release_buffer(OM_uint32 *minor, gss_buffer_t b)
{
	free(b->value);
	*b = (gss_buffer_desc)GSS_C_EMPTY_BUFFER;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_release_cred(OM_uint32 *minor, gss_cred_id_t *cred)
{
	*cred = NULL;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_acquire_cred(OM_uint32 *minor, gss_name_t name, OM_uint32 seconds,
                           gss_OID_set mechs, gss_cred_usage_t usage,
                           gss_cred_id_t *cred, gss_OID_set *ret, OM_uint32 *left)
{
	static char there;

	*cred = (gss_cred_id_t)(void *)&there;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_inquire_context(OM_uint32 *minor, gss_ctx_id_t id, gss_name_t *from,
                              gss_name_t *to, OM_uint32 *seconds, gss_OID *mech,
                              OM_uint32 *flags, int *ours, int *open)
{
	*to = take(&(struct gss_name_struct){id->mark}, sizeof(struct gss_name_struct));
	live_names++;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_display_name(OM_uint32 *minor, gss_name_t name, gss_buffer_t text,
                           gss_OID *type)
{
	return give(text, &name->mark, 1, NULL);
}

OM_uint32 gss_pname_to_uid(OM_uint32 *minor, gss_name_t name, gss_OID mech, uid_t *uid)
{
	return GSS_S_FAILURE;
}

OM_uint32 gss_get_mic(OM_uint32 *minor, gss_ctx_id_t id, gss_qop_t qop, gss_buffer_t in,
                      gss_buffer_t mic)
{
	return give(mic, &id->mark, 1, NULL);
}

OM_uint32 gss_verify_mic(OM_uint32 *minor, gss_ctx_id_t id, gss_buffer_t in,
                         gss_buffer_t mic, gss_qop_t *qop)
{
	const uint8_t *p = mic->value;

	*qop = GSS_C_QOP_DEFAULT;
	if (!mic->length || *p != id->mark)
		return GSS_S_BAD_MIC;
	if (mic->length == FORGETS && meanwhile)
		rr_gss_forget(meanwhile); /* as another thread might */
	return mic->length == REPEATS     ? GSS_S_DUPLICATE_TOKEN
	       : mic->length == DISORDERS ? GSS_S_UNSEQ_TOKEN
	                                  : GSS_S_COMPLETE;
}

OM_uint32 gss_wrap(OM_uint32 *minor, gss_ctx_id_t id, int conf, gss_qop_t qop,
                   gss_buffer_t in, int *state, gss_buffer_t out)
{
	*state = 1;
	return give(out, &id->mark, 1, in);
}

OM_uint32 gss_unwrap(OM_uint32 *minor, gss_ctx_id_t id, gss_buffer_t in,
                     gss_buffer_t out, int *state, gss_qop_t *qop)
{
	const uint8_t *p = in->value;
	gss_buffer_desc rest = {in->length - 1, (void *)(uintptr_t)(p + 1)};

	*state = 1;
	*qop = GSS_C_QOP_DEFAULT;
	if (!in->length || *p != id->mark)
		return GSS_S_BAD_MIC;
	return give(out, p, 0, &rest);
}

/* -- the model ------------------------------------------------------------- */

enum { MAX_KNOWN = 16, MAX_CONTEXTS = 4, MAX_PER_ADDRESS = 3, MAX_SEEN = 64 };

struct known {
	uint8_t handle[16], mark;
	rr_time expires;
	uint32_t last, seen[MAX_SEEN];
	unsigned n_seen;
};

static struct state {
	struct rr_gss *g;
	struct rr_cursor in;
	rr_time now;
	struct known known[MAX_KNOWN];
	unsigned n_known;
	uint64_t crowded_out; /* contexts refused because there was no room */
	struct sockaddr_in from;
} s;

static uint8_t octet(void)
{
	const uint8_t *p = rr_get_bytes(&s.in, 1);

	return p ? *p : 0;
}

/* So many octets of the input, or what is left. */
static const uint8_t *octets(size_t want, size_t *ret_len)
{
	*ret_len = RR_MIN(want, rr_cursor_left(&s.in));
	return rr_get_bytes(&s.in, *ret_len);
}

static bool was_seen(const struct known *k, uint32_t seq)
{
	for (unsigned i = 0; i < k->n_seen; i++)
		if (k->seen[i] == seq)
			return true;
	return false;
}

static bool too_old(const struct known *k, uint32_t seq)
{
	return seq < k->last && k->last - seq >= RR_GSS_WINDOW;
}

static void see(struct known *k, uint32_t seq)
{
	k->seen[k->n_seen++ % MAX_SEEN] = seq;
	if (seq > k->last)
		k->last = seq;
}

/* -- calls ----------------------------------------------------------------- */

struct message {
	uint8_t cred[400], verf[400];
	struct rr_gss_call call;
	struct rpcrdma_piece args[3];
};

static void begin(struct message *m, uint32_t proc)
{
	memset(m, 0, sizeof(*m));
	m->call = (struct rr_gss_call){.xid = 7,
	                               .program = 100003,
	                               .version = 3,
	                               .procedure = proc,
	                               .cred = {RR_GSS_FLAVOR, m->cred, 0},
	                               .verf = {0, m->verf, 0},
	                               .args = m->args,
	                               .peer = (struct sockaddr *)&s.from,
	                               .now = s.now};
}

static void set_cred(struct message *m, uint32_t proc, uint32_t seq, uint32_t service,
                     const struct known *k)
{
	struct rr_gss_cred c = {.proc = proc, .seq = seq, .service = service};
	int n;

	if (k) {
		c.handle_len = sizeof(k->handle);
		memcpy(c.handle, k->handle, sizeof(k->handle));
	}
	n = rr_gss_msg_put_cred(m->cred, sizeof(m->cred), &c);
	RR_ASSERT(n > 0);
	m->call.cred.len = (uint32_t)n;
}

static void set_mic(struct message *m, uint8_t mark, uint8_t len)
{
	m->verf[0] = mark;
	m->call.verf.flavor = RR_GSS_FLAVOR;
	m->call.verf.len = len;
}

static void check_counts(void)
{
	unsigned n = s.g->count;

	RR_ASSERT(n <= MAX_CONTEXTS && live_contexts == n && live_names == n);
}

/* A Reply that is one, and what follows its header. */
static struct rr_cursor reply_of(const struct rr_gss_request *r)
{
	struct rr_cursor c = rr_cursor_over(r->reply, r->reply_len);
	uint32_t len;

	RR_ASSERT(r->reply_len % 4 == 0);
	RR_ASSERT(rr_get_u32(&c) == 7 && rr_get_u32(&c) == 1);
	if (r->auth_stat) {
		RR_ASSERT(rr_get_u32(&c) == 1 && rr_get_u32(&c) == 1 &&
		          rr_get_u32(&c) == r->auth_stat && !rr_cursor_left(&c));
		c.bad = true; /* nothing does */
		return c;
	}
	RR_ASSERT(rr_get_u32(&c) == 0);
	(void)rr_get_u32(&c);
	len = rr_get_u32(&c);
	(void)rr_get_bytes(&c, len + rr_pad(len));
	RR_ASSERT(!rr_cursor_bad(&c));
	return c;
}

/* Results through one half of the code and the other. */
static void results(struct rr_gss_request *r)
{
	static const uint8_t word[4] = {1, 2, 3, 4};
	static const uint8_t item[5] = {5, 6, 7, 8, 9};
	const struct rpcrdma_piece p[2] = {{word, 4, false}, {item, 5, true}};
	struct rr_gss_body b;
	void *wrapped;
	size_t len;

	if (r->service == RR_GSS_NONE) {
		RR_ASSERT(!r->args && rr_gss_wrap(r, p, 2, &wrapped, &len) == -EINVAL);
		return;
	}
	RR_ASSERT(!rr_gss_wrap(r, p, 2, &wrapped, &len));
	RR_ASSERT(!rr_gss_msg_unwrap(rr_gss_context_id(r), r->service, r->seq, wrapped,
	                             len, &b));
	RR_ASSERT(b.n_pieces == 1 && b.pieces[0].len == 12);
	RR_ASSERT(!memcmp(b.pieces[0].base, "\1\2\3\4\5\6\7\10\11\0\0", 12));
	rr_gss_body_fini(&b);
	free(wrapped);
}

static void count_crowded_out(void *arg, const struct sockaddr *peer)
{
	++*(uint64_t *)arg;
}

/* INIT with a token of the input's. */
static void set_up(void)
{
	struct message m;
	struct rr_gss_request r;
	struct rr_gss_init_res res;
	struct rr_cursor c;
	uint8_t words[4], mark = next_mark;
	size_t len;
	const uint8_t *token = octets(octet() % 8, &len);
	static const uint8_t zero[8];
	uint64_t crowded = s.crowded_out;

	begin(&m, 0);
	set_cred(&m, RR_GSS_INIT, 0, 0, NULL);
	rr_store_u32(words, (uint32_t)len);
	m.args[0] = (struct rpcrdma_piece){words, 4, false};
	m.args[1] = (struct rpcrdma_piece){token, len, false};
	m.args[2] = (struct rpcrdma_piece){zero, rr_pad(len), false};
	m.call.n_args = 3;
	RR_ASSERT(rr_gss_accept(s.g, &m.call, &r) == RR_GSS_ANSWER && !r.context);
	c = reply_of(&r);
	if (!len) {
		RR_ASSERT(rr_get_u32(&c) == 4); /* GARBAGE_ARGS */
	} else {
		RR_ASSERT(rr_get_u32(&c) == 0);
		RR_ASSERT(!rr_gss_msg_get_init_res(c.pos, rr_cursor_left(&c), &res));
		crowded = s.crowded_out - crowded;
		RR_ASSERT(crowded <= (s.n_known >= MAX_PER_ADDRESS));
		RR_ASSERT(!res.major == (*token % 4 == 0 && !crowded));
		RR_ASSERT(!res.major || GSS_ERROR(res.major));
		RR_ASSERT(!res.major || !(res.handle_len + res.token_len + res.window));
	}
	if (len && !res.major) {
		struct known *k = &s.known[s.n_known++ % MAX_KNOWN];

		*k = (struct known){.mark = mark};
		RR_ASSERT(res.handle_len == 16 && res.window == RR_GSS_WINDOW);
		RR_ASSERT(res.token_len == *token % 6);
		memcpy(k->handle, res.handle, 16);
		k->expires = len > 1 ? s.now + RR_SEC(token[1]) : RR_TIME_NEVER;
	}
	rr_gss_release(&r);
}

static void expect(struct known *k, struct rr_gss_request *r, uint32_t seq, bool good)
{
	bool fresh = !was_seen(k, seq) && !too_old(k, seq);

	switch (r->verdict) {
	case RR_GSS_PROCEED:
		RR_ASSERT(good && s.now < k->expires && seq <= RR_GSS_MAX_SEQ);
		RR_ASSERT(fresh && r->seq == seq);
		RR_ASSERT(r->verf.len == 1 &&
		          *(const uint8_t *)r->verf.body == k->mark);
		RR_ASSERT(*r->who->principal == (char)k->mark);
		see(k, seq);
		results(r);
		break;
	case RR_GSS_CLOSE:
		RR_ASSERT(good && !fresh);
		break;
	case RR_GSS_ANSWER:
		(void)reply_of(r);
		RR_ASSERT(!r->context);
		if (r->auth_stat)
			break;
		RR_ASSERT(good &&
		          fresh); /* but its arguments are garbage, or it was DESTROY */
		see(k, seq);
		break;
	}
}

/* A request of a context, signed or not; its arguments are what the input has. */
static void ask(void)
{
	struct known *k = &s.known[octet() % MAX_KNOWN];
	uint8_t how = octet(), far = octet(), mic = 1 + octet() % 4;
	uint32_t service = how % 4, seq = k->last + far;
	bool good = how & 4 && mic != REPEATS, destroy = (how & 0x30) == 0x30;
	struct rr_gss_request r;
	struct message m;
	size_t len;

	if (k->n_seen >= MAX_SEEN)
		return;
	if (how & 8)
		seq = k->last - far;
	if (how & 0x40)
		seq = (uint32_t)far << 24 | octet();
	begin(&m, destroy ? 0 : 5);
	set_cred(&m, destroy ? RR_GSS_DESTROY : RR_GSS_DATA, seq, service, k);
	set_mic(&m, how & 4 ? k->mark : (uint8_t)(k->mark + 1), mic);
	m.args[0].base = octets(octet(), &len);
	m.args[0].len = len;
	m.args[0].item = (how & 0xb0) == 0x80;
	m.call.n_args = 1 + (how >> 7);
	if (len && how & 0x80) { /* in two pieces */
		m.args[1] = m.args[0];
		m.args[0].len /= 2;
		m.args[1].base = (const uint8_t *)m.args[1].base + m.args[0].len;
		m.args[1].len -= m.args[0].len;
	}
	meanwhile = s.g;
	(void)rr_gss_accept(s.g, &m.call, &r);
	meanwhile = NULL;
	expect(k, &r, seq, good);
	rr_gss_release(&r);
}

/* A request that is right in each way; what was wrapped comes back. */
static void ask_well(void)
{
	struct known *k = &s.known[octet() % MAX_KNOWN];
	uint8_t how = octet();
	uint32_t service = 2 + how % 2, seq = k->last + 1;
	struct rr_gss_request r;
	struct rr_gss_body b;
	struct message m;
	struct gss_ctx_id_struct toy = {k->mark};
	struct rr_piece plain = {.item = true};

	if (k->n_seen >= MAX_SEEN || seq > RR_GSS_MAX_SEQ)
		return;
	plain.base = octets(octet(), &plain.len);
	begin(&m, 5);
	set_cred(&m, RR_GSS_DATA, seq, service, k);
	set_mic(&m, k->mark, how & 2 ? DISORDERS : 1);
	RR_ASSERT(!rr_gss_msg_wrap(&toy, service, seq, &plain, 1, &b));
	for (unsigned i = 0; i < b.n_pieces; i++)
		m.args[i] = (struct rpcrdma_piece){b.pieces[i].base, b.pieces[i].len,
		                                   false};
	m.call.n_args = b.n_pieces;
	(void)rr_gss_accept(s.g, &m.call, &r);
	if (r.verdict == RR_GSS_PROCEED) {
		RR_ASSERT(r.args_len == plain.len + rr_pad(plain.len));
		RR_ASSERT(!plain.len || !memcmp(r.args, plain.base, plain.len));
	} else {
		RR_ASSERT(r.auth_stat == 13 || r.auth_stat == 14); /* it is gone */
	}
	expect(k, &r, seq, true);
	rr_gss_release(&r);
	rr_gss_body_fini(&b);
}

/* Octets as they are: of a server's Call, and of a client's Reply. */
static void raw(void)
{
	struct gss_ctx_id_struct toy = {octet()};
	struct rr_gss_request r;
	struct rr_gss_init_res res;
	struct rr_gss_body b;
	struct message m;
	const uint8_t *p;
	size_t len;

	begin(&m, octet() % 2);
	p = octets(octet(), &len);
	m.call.cred.body = p; /* where it ends the input may end */
	m.call.cred.len = (uint32_t)len;
	p = octets(octet(), &len);
	m.call.verf = (struct rpcrdma_auth){len ? *p : 0, p, (uint32_t)len};
	m.args[0].base = p = octets(octet(), &len);
	m.args[0].len = len;
	m.call.n_args = 1;
	(void)rr_gss_may_block(&m.call.cred);
	if (rr_gss_accept(s.g, &m.call, &r) == RR_GSS_ANSWER)
		(void)reply_of(&r);
	else
		RR_ASSERT(r.verdict != RR_GSS_CLOSE || !r.reply);
	rr_gss_release(&r);
	(void)!rr_gss_msg_get_init_res(p, len, &res);
	for (uint32_t v = RR_GSS_INTEGRITY; v <= RR_GSS_PRIVACY; v++)
		if (!rr_gss_msg_unwrap(&toy, v, 1, p, len, &b)) {
			RR_ASSERT(b.n_pieces == 1 && b.pieces[0].len < len);
			rr_gss_body_fini(&b);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rr_gss_options o = {.max_contexts = MAX_CONTEXTS,
	                                 .max_per_address = MAX_PER_ADDRESS,
	                                 .idle_ns = RR_SEC(100),
	                                 .no_room = count_crowded_out,
	                                 .no_room_arg = &s.crowded_out};

	memset(&s, 0, sizeof(s));
	next_mark = 1;
	s.in = rr_cursor_over(data, size);
	s.now = RR_SEC(1);
	s.from.sin_family = AF_INET;
	if (rr_gss_new(&o, &s.g))
		return 0;
	for (unsigned n = 0; n < 200 && rr_cursor_left(&s.in); n++) {
		switch (octet() % 6) {
		case 0:
			set_up();
			break;
		case 1:
		case 2:
			ask();
			break;
		case 3:
			ask_well();
			break;
		case 4:
			raw();
			break;
		case 5:
			s.now += RR_SEC(octet());
			s.from.sin_addr.s_addr = octet() % 3;
			break;
		}
		check_counts();
	}
	rr_gss_free(s.g);
	RR_ASSERT(!live_contexts && !live_names);
	return 0;
}
