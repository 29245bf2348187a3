/* SPDX-License-Identifier: BSD-3-Clause */
#include "gss/gss_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/sized.h"

enum {
	REFRESHES = 2, /* of the context, for one call */
	AUTH_INVALIDRESP = 6,
	CREDPROBLEM = 13,
	CTXPROBLEM = 14,
};

#define DEFAULT_TIMEOUT_NS RR_SEC(30)
#define DESTROY_NS         RR_SEC(5)

/* -- contexts -------------------------------------------------------------- */

static void put_context(struct rr_gss_client_context *x)
{
	OM_uint32 minor;

	if (!x || --x->refs)
		return;
	(void)gss_delete_sec_context(&minor, &x->id, GSS_C_NO_BUFFER); /* local */
	free(x);
}

static bool has_room(const struct rr_gss_client_context *x)
{
	const struct rr_list *first = rr_list_first(&x->sealed);

	return !first ||
	       x->next_seq - rr_container_of(first, struct rr_sealed, of_context)->seq <
	               x->window;
}

/* New calls need another one. */
static void forget_context(struct rpcrdma_gss *g)
{
	put_context(g->context);
	g->context = NULL;
	g->state = RR_GSS_IDLE;
	g->info.established = false;
}

static bool worn_out(const struct rpcrdma_gss *g)
{
	const struct rr_gss_client_context *x = g->context;

	/* The loop's time may be of long ago, if the user has done something else. */
	return x->next_seq > RR_GSS_MAX_SEQ || rr_engine_clock() >= x->renew;
}

void rr_gss_ready(struct rpcrdma_gss *g, struct rr_gss_client_context *x)
{
	g->context = x;
	g->state = RR_GSS_READY;
	g->info.established = true;
	g->info.window = x->window;
	g->info.contexts++;
	g->info.error = 0;
	g->info.major = g->info.minor = 0;
	g->info.reason[0] = '\0';
	rr_calls_submit(g->conn);
}

void rr_gss_failed(struct rpcrdma_gss *g, int error)
{
	g->state = RR_GSS_IDLE;
	g->info.error = error;
	rr_trace(&g->conn->voice.sink, RR_TRACE_GSS_FAILED, 0, 0,
	         (uint64_t)(int64_t)error, g->info.major, g->info.minor);
	rr_calls_end_all(g->conn, &g->gate, error);
}

/* -- sealing --------------------------------------------------------------- */

int rr_gss_header(gss_ctx_id_t id, const struct rr_rpc_call *call,
                  const struct rr_gss_cred *cred, uint8_t header[RR_RPC_HEADER_MAX])
{
	uint8_t body[RR_RPC_AUTH_MAX], mic[RR_RPC_AUTH_MAX];
	struct rr_rpc_call h = *call;
	int n = rr_gss_msg_put_cred(body, sizeof(body), cred);

	if (n < 0)
		return n;
	h.cred = (struct rpcrdma_auth){RR_GSS_FLAVOR, body, (uint32_t)n};
	n = rr_rpc_put_call(header, RR_RPC_HEADER_MAX, &h);
	if (n < 0 || id == GSS_C_NO_CONTEXT)
		return n;
	/* All but the verifier, of which there is flavor and length so far. */
	n = rr_gss_msg_sign(id, header, (size_t)n - 8, mic, sizeof(mic));
	if (n < 0)
		return n;
	h.verf = (struct rpcrdma_auth){RR_GSS_FLAVOR, mic, (uint32_t)n};
	return rr_rpc_put_call(header, RR_RPC_HEADER_MAX, &h);
}

static int context_header(struct rr_gss_client_context *x, const struct rr_rpc_call *h,
                          uint32_t proc, uint32_t service, uint32_t seq,
                          uint8_t *header)
{
	struct rr_gss_cred cred = {.proc = proc,
	                           .seq = seq,
	                           .service = service,
	                           .handle_len = x->handle_len};

	memcpy(cred.handle, x->handle, x->handle_len);
	return rr_gss_header(x->id, h, &cred, header);
}

bool rr_sealed_keep(const struct rr_sealed *s)
{
	return s->gss->service != RR_GSS_NONE;
}

size_t rr_sealed_reply_bytes(const struct rr_sealed *s)
{
	return rr_sealed_keep(s) ? RR_GSS_PROTECTION_MAX : 0;
}

static int seal(struct rr_sealed *s, uint32_t xid, uint8_t *header,
                struct rr_piece *pieces, unsigned *ret_n)
{
	const struct rr_rpc_call h = {.xid = xid,
	                              .program = s->program,
	                              .version = s->version,
	                              .procedure = s->procedure};
	struct rr_gss_client_context *x = s->gss->context;
	uint32_t service = s->gss->service, seq = x->next_seq;
	int n, err;

	n = context_header(x, &h, RR_GSS_DATA, service, seq, header);
	if (n < 0)
		return n;
	if (service == RR_GSS_NONE) {
		memcpy(pieces, s->plain, s->n_plain * sizeof(*pieces));
		*ret_n = s->n_plain;
	} else {
		err = rr_gss_msg_wrap(x->id, service, seq, s->plain, s->n_plain,
		                      &s->args);
		if (err)
			return err;
		memcpy(pieces, s->args.pieces, s->args.n_pieces * sizeof(*pieces));
		*ret_n = s->args.n_pieces;
	}
	x->next_seq++;
	x->refs++;
	s->context = x;
	s->seq = seq;
	rr_list_push(&x->sealed, &s->of_context);
	return n;
}

int rr_seal(struct rr_sealed *s, uint32_t xid, uint8_t header[RR_RPC_HEADER_MAX],
            struct rr_piece *pieces, unsigned *ret_n)
{
	struct rpcrdma_gss *g = s->gss;
	int n;

	RR_ASSERT(!s->context);
	if (g->state == RR_GSS_READY && worn_out(g))
		forget_context(g);
	if (g->state == RR_GSS_READY) {
		if (!has_room(g->context))
			return -EAGAIN;
		n = seal(s, xid, header, pieces, ret_n);
		if (n != -EKEYEXPIRED)
			return n == -EKEYREJECTED ? -EACCES : n;
		if (s->refreshes++ >= REFRESHES)
			return -EACCES;
		forget_context(g);
	}
	n = g->state == RR_GSS_IDLE ? rr_gss_setup_begin(g) : 0;
	return n ? n : -EAGAIN;
}

void rr_unseal(struct rr_sealed *s)
{
	if (!s->context)
		return;
	rr_list_del(&s->of_context);
	put_context(s->context);
	s->context = NULL;
	rr_gss_body_fini(&s->args);
}

struct rr_list *rr_sealed_gate(struct rr_sealed *s)
{
	return &s->gss->gate;
}

struct rr_list *rr_gss_next(struct rpcrdma_gss *g)
{
	/* Without a context: whoever is the first begins to make one. */
	if (g->state == RR_GSS_SETUP ||
	    (g->state == RR_GSS_READY && !has_room(g->context)))
		return NULL;
	return rr_list_pop(&g->gate);
}

/* -- opening --------------------------------------------------------------- */

bool rr_sealed_refused(struct rr_sealed *s, const struct rr_rpc_reply *h)
{
	struct rpcrdma_gss *g = s->gss;

	if (h->status != RPCRDMA_AUTH_ERROR ||
	    (h->auth_stat != CREDPROBLEM && h->auth_stat != CTXPROBLEM) ||
	    s->refreshes >= REFRESHES || !g->conn)
		return false;
	s->refreshes++;
	rr_trace(&g->conn->voice.sink, RR_TRACE_GSS_REFUSED, 0, h->xid, h->auth_stat,
	         s->refreshes, 0);
	if (g->context == s->context) /* else it is a new one already */
		forget_context(g);
	return true;
}

int rr_open(struct rr_sealed *s, struct rr_rpc_reply *h, const uint8_t *results,
            size_t len, struct rr_piece *ret)
{
	uint32_t service = s->gss->service;
	int err;

	*ret = (struct rr_piece){results, len, false};
	if (h->status >= RPCRDMA_RPC_MISMATCH)
		return 0; /* denied: has no verifier */
	if (h->verf.flavor != RR_GSS_FLAVOR ||
	    rr_gss_msg_check_number(s->context->id, s->seq, h->verf.body,
	                            h->verf.len)) {
		h->status = RPCRDMA_AUTH_ERROR;
		h->auth_stat = AUTH_INVALIDRESP;
		return 0;
	}
	if (h->status || service == RR_GSS_NONE)
		return 0;
	err = rr_gss_msg_unwrap(s->context->id, service, s->seq, results, len,
	                        &s->results);
	if (err == -EKEYREJECTED || err == -EKEYEXPIRED) {
		h->status = RPCRDMA_AUTH_ERROR;
		h->auth_stat = AUTH_INVALIDRESP;
		return 0;
	}
	if (!err)
		*ret = s->results.pieces[0];
	return err;
}

/* -- a call's life --------------------------------------------------------- */

int rr_sealed_new(struct rpcrdma_conn *c, const struct rpcrdma_call_options *o,
                  struct rr_sealed **ret)
{
	struct rr_sealed *s;

	if (o->gss->conn != c || o->cred)
		return -EINVAL;
	s = rr_pool_get(&c->engine->pool, sizeof(*s));
	if (!s)
		return -ENOMEM;
	memset(s, 0, offsetof(struct rr_sealed, plain));
	s->gss = o->gss;
	s->gss->refs++;
	s->program = o->program;
	s->version = o->version;
	s->procedure = o->procedure;
	rr_list_init(&s->of_context);
	s->n_plain = o->n_args;
	for (unsigned i = 0; i < o->n_args; i++)
		s->plain[i] = (struct rr_piece){o->args[i].base, o->args[i].len,
		                                o->args[i].item};
	*ret = s;
	return 0;
}

void rr_sealed_free(struct rr_sealed *s)
{
	struct rpcrdma_gss *g = s->gss;

	rr_unseal(s);
	rr_gss_body_fini(&s->results);
	/* Its connection outlives its calls. */
	rr_pool_put(&g->conn->engine->pool, s, sizeof(*s));
	rr_gss_put(g);
}

/* -- the object's ---------------------------------------------------------- */

static void destroyed(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
}

/* A courtesy: the server forgets it anyway, later. */
static void destroy_context(struct rpcrdma_gss *g)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	uint8_t header[RR_RPC_HEADER_MAX];
	struct rr_call_raw raw = {.header = header, .no_reduce = true};
	struct rr_rpc_call h = {.program = g->program, .version = g->version};
	int n;

	if (g->conn->closed || g->conn->over || !g->conn->link || worn_out(g))
		return;
	h.xid = rr_calls_new_xid(g->conn->engine);
	n = context_header(g->context, &h, RR_GSS_DESTROY, RR_GSS_NONE,
	                   g->context->next_seq++, header);
	if (n < 0)
		return;
	raw.len = (size_t)n;
	o.timeout_ns = DESTROY_NS;
	o.done = destroyed;
	(void)!rr_calls_make(g->conn, &o, &raw, NULL);
}

void rr_gss_put(struct rpcrdma_gss *g)
{
	if (--g->refs)
		return;
	RR_ASSERT(rr_list_empty(&g->gate));
	if (g->conn) {
		if (g->context)
			destroy_context(g);
		rr_gss_setup_end(g);
	}
	forget_context(g);
	rr_list_del(&g->link);
	free(g);
}

static int check_options(const struct rpcrdma_conn *c,
                         const struct rpcrdma_gss_options *o)
{
	if (!o->principal || !*o->principal ||
	    strlen(o->principal) >= sizeof(((struct rpcrdma_gss *)0)->principal) ||
	    (unsigned)o->service > RPCRDMA_GSS_KRB5P)
		return -EINVAL;
	return c->closed ? -ECANCELED : 0;
}

int rpcrdma_gss_new(struct rpcrdma_conn *c, const struct rpcrdma_gss_options *o,
                    struct rpcrdma_gss **ret)
{
	struct rpcrdma_gss_options own;
	struct rpcrdma_gss *g;
	int err = c && o && ret ? RR_SIZED_TAKE(&own, principal, o) : -EINVAL;

	if (!err)
		err = check_options(c, &own);
	if (err)
		return err;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	strcpy(g->principal, own.principal);
	g->conn = c;
	g->refs = 1;
	g->service = own.service ? own.service : RPCRDMA_GSS_KRB5;
	g->info.service = (enum rpcrdma_gss_service)g->service;
	g->program = own.program;
	g->version = own.version;
	g->timeout_ns = own.timeout_ns ? own.timeout_ns : DEFAULT_TIMEOUT_NS;
	rr_list_init(&g->gate);
	rr_list_push(&c->contexts, &g->link);
	*ret = g;
	return 0;
}

void rpcrdma_gss_free(struct rpcrdma_gss *g)
{
	if (g)
		rr_gss_put(g);
}

void rpcrdma_gss_get_info(const struct rpcrdma_gss *g, struct rpcrdma_gss_info *ret,
                          size_t size)
{
	rr_sized_give(ret, size, &g->info, sizeof(g->info));
}

/* -- the connection's ------------------------------------------------------ */

void rr_gss_end_waiting(struct rpcrdma_conn *c, int verdict)
{
	struct rr_list *n;

	rr_list_for_each (n, &c->contexts)
		rr_calls_end_all(c, &rr_container_of(n, struct rpcrdma_gss, link)->gate,
		                 verdict);
}

void rr_gss_detach(struct rpcrdma_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&c->contexts))) {
		struct rpcrdma_gss *g = rr_container_of(n, struct rpcrdma_gss, link);

		rr_gss_setup_end(g);
		g->conn = NULL;
	}
}
