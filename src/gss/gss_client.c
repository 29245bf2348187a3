/* SPDX-License-Identifier: BSD-3-Clause */
#include "gss/gss_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/sized.h"

enum {
	MAX_REFRESHES = 2, /* limit on context replacements per call */
	AUTH_INVALIDRESP = 6,
	CREDPROBLEM = 13,
	CTXPROBLEM = 14,
};

#define DEFAULT_TIMEOUT_NS RR_SEC(30)
#define DESTROY_NS         RR_SEC(5)

/* A call protected by RPCSEC_GSS. */
struct gss_call {
	struct rr_call_auth auth;
	uint32_t program, version, procedure;
	struct rr_gss_client_context *context; /* context used by this attempt; NULL =
						  no attempt */
	struct rr_list of_context;             /* in rr_gss_client_context.attempts */
	uint32_t seq;
	unsigned refreshes;
	struct rr_gss_body args, results;
	unsigned n_plain;
	struct rr_piece plain[RPCRDMA_MAX_PIECES];
};

static struct rpcrdma_gss *gss_of_context(struct rr_auth_context *a)
{
	return rr_container_of(a, struct rpcrdma_gss, auth);
}

static struct rpcrdma_gss *gss_of_call(const struct rr_call_auth *a)
{
	return gss_of_context(a->context);
}

static struct gss_call *gss_call_of(struct rr_call_auth *a)
{
	return rr_container_of(a, struct gss_call, auth);
}

/* -- contexts -------------------------------------------------------------- */

static void put_client_context(struct rr_gss_client_context *x)
{
	OM_uint32 minor;

	if (!x || --x->refs)
		return;
	/* Deleting the context has no effect on the server. */
	(void)gss_delete_sec_context(&minor, &x->id, GSS_C_NO_BUFFER);
	free(x);
}

static bool window_has_room(const struct rr_gss_client_context *x)
{
	const struct rr_list *first = rr_list_first(&x->attempts);

	return !first ||
	       x->next_seq - rr_container_of(first, struct gss_call, of_context)->seq <
	               x->window;
}

/* Stops using the context for new calls, so that the next call begins a new set-up. */
static void forget_client_context(struct rpcrdma_gss *g)
{
	put_client_context(g->context);
	g->context = NULL;
	g->state = RR_GSS_IDLE;
	g->info.established = false;
}

static bool needs_renewal(const struct rpcrdma_gss *g)
{
	const struct rr_gss_client_context *x = g->context;

	/* engine->now is not used, because it is out of date if the user's callbacks
	 * took a long time. */
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
	g->auth.host->ops->submit(g->auth.host);
}

void rr_gss_failed(struct rpcrdma_gss *g, int error)
{
	struct rr_auth_host *host = g->auth.host;

	g->state = RR_GSS_IDLE;
	g->info.error = error;
	rr_trace(host->trace, RR_TRACE_GSS_FAILED, 0, 0, (uint64_t)(int64_t)error,
	         g->info.major, g->info.minor);
	host->ops->end_calls(host, &g->auth.queue, error);
}

/* -- wrapping calls -------------------------------------------------------- */

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
	/* The MIC covers the header without the verifier.  The empty verifier written
	 * so far has 8 octets: flavor and length. */
	n = rr_gss_msg_sign(id, header, (size_t)n - 8, mic, sizeof(mic));
	if (n < 0)
		return n;
	h.verf = (struct rpcrdma_auth){RR_GSS_FLAVOR, mic, (uint32_t)n};
	return rr_rpc_put_call(header, RR_RPC_HEADER_MAX, &h);
}

static int write_context_header(struct rr_gss_client_context *x,
                                const struct rr_rpc_call *h, uint32_t proc,
                                uint32_t service, uint32_t seq, uint8_t *header)
{
	struct rr_gss_cred cred = {.proc = proc,
	                           .seq = seq,
	                           .service = service,
	                           .handle_len = x->handle_len};

	memcpy(cred.handle, x->handle, x->handle_len);
	return rr_gss_header(x->id, h, &cred, header);
}

static bool gss_is_unreducible(const struct rr_call_auth *a)
{
	return gss_of_call(a)->service != RR_GSS_NONE;
}

static size_t gss_reply_overhead(const struct rr_call_auth *a)
{
	return gss_is_unreducible(a) ? RR_GSS_PROTECTION_MAX : 0;
}

static int wrap_in_context(struct gss_call *k, struct rpcrdma_gss *g, uint32_t xid,
                           uint8_t *header, struct rr_piece *pieces, unsigned *ret_n)
{
	const struct rr_rpc_call h = {.xid = xid,
	                              .program = k->program,
	                              .version = k->version,
	                              .procedure = k->procedure};
	struct rr_gss_client_context *x = g->context;
	uint32_t service = g->service, seq = x->next_seq;
	int n, err;

	n = write_context_header(x, &h, RR_GSS_DATA, service, seq, header);
	if (n < 0)
		return n;
	if (service == RR_GSS_NONE) {
		memcpy(pieces, k->plain, k->n_plain * sizeof(*pieces));
		*ret_n = k->n_plain;
	} else {
		err = rr_gss_msg_wrap(x->id, service, seq, k->plain, k->n_plain,
		                      &k->args);
		if (err)
			return err;
		memcpy(pieces, k->args.pieces, k->args.n_pieces * sizeof(*pieces));
		*ret_n = k->args.n_pieces;
	}
	x->next_seq++;
	x->refs++;
	k->context = x;
	k->seq = seq;
	rr_list_push(&x->attempts, &k->of_context);
	return n;
}

static int wrap_gss_call(struct rr_call_auth *a, uint32_t xid,
                         uint8_t header[RR_RPC_HEADER_MAX], struct rr_piece *pieces,
                         unsigned *ret_n)
{
	struct rpcrdma_gss *g = gss_of_call(a);
	struct gss_call *k = gss_call_of(a);
	int n;

	RR_ASSERT(!k->context);
	if (g->state == RR_GSS_READY && needs_renewal(g))
		forget_client_context(g);
	if (g->state == RR_GSS_READY) {
		if (!window_has_room(g->context))
			return -EAGAIN;
		n = wrap_in_context(k, g, xid, header, pieces, ret_n);
		if (n != -EKEYEXPIRED)
			return n == -EKEYREJECTED ? -EACCES : n;
		if (k->refreshes++ >= MAX_REFRESHES)
			return -EACCES;
		forget_client_context(g);
	}
	n = g->state == RR_GSS_IDLE ? rr_gss_setup_begin(g) : 0;
	return n ? n : -EAGAIN;
}

static void end_gss_attempt(struct rr_call_auth *a)
{
	struct gss_call *k = gss_call_of(a);

	if (!k->context)
		return;
	rr_list_del(&k->of_context);
	put_client_context(k->context);
	k->context = NULL;
	rr_gss_body_fini(&k->args);
}

static struct rr_list *next_gss_call(struct rr_auth_context *a)
{
	struct rpcrdma_gss *g = gss_of_context(a);

	/* In state RR_GSS_IDLE, wrapping the call begins a set-up. */
	if (g->state == RR_GSS_SETUP ||
	    (g->state == RR_GSS_READY && !window_has_room(g->context)))
		return NULL;
	return rr_list_pop(&a->queue);
}

/* -- unwrapping replies ---------------------------------------------------- */

static bool retry_gss_call(struct rr_call_auth *a, const struct rr_rpc_reply *h)
{
	struct rpcrdma_gss *g = gss_of_call(a);
	struct gss_call *k = gss_call_of(a);

	if (h->status != RPCRDMA_AUTH_ERROR ||
	    (h->auth_stat != CREDPROBLEM && h->auth_stat != CTXPROBLEM) ||
	    k->refreshes >= MAX_REFRESHES || !a->context->host)
		return false;
	k->refreshes++;
	rr_trace(a->context->host->trace, RR_TRACE_GSS_REFUSED, 0, h->xid, h->auth_stat,
	         k->refreshes, 0);
	if (g->context == k->context) /* no other call has replaced the context */
		forget_client_context(g);
	return true;
}

static int reject_reply(struct rr_rpc_reply *h)
{
	h->status = RPCRDMA_AUTH_ERROR;
	h->auth_stat = AUTH_INVALIDRESP;
	return 0;
}

static int unwrap_gss_reply(struct rr_call_auth *a, struct rr_rpc_reply *h,
                            const uint8_t *results, size_t len, struct rr_piece *ret)
{
	struct gss_call *k = gss_call_of(a);
	uint32_t service = gss_of_call(a)->service;
	int err;

	*ret = (struct rr_piece){results, len, false};
	if (h->status >= RPCRDMA_RPC_MISMATCH)
		return 0; /* a denied call's Reply has no verifier */
	if (h->verf.flavor != RR_GSS_FLAVOR ||
	    rr_gss_msg_check_number(k->context->id, k->seq, h->verf.body, h->verf.len))
		return reject_reply(h);
	if (h->status || service == RR_GSS_NONE)
		return 0;
	err = rr_gss_msg_unwrap(k->context->id, service, k->seq, results, len,
	                        &k->results);
	if (err == -EKEYREJECTED || err == -EKEYEXPIRED)
		return reject_reply(h);
	if (!err)
		*ret = k->results.pieces[0];
	return err;
}

/* -- life cycle of a call -------------------------------------------------- */

static int new_gss_call(struct rr_auth_context *a, const struct rpcrdma_call_options *o,
                        struct rr_call_auth **ret)
{
	struct rpcrdma_gss *g = gss_of_context(a);
	struct gss_call *k;

	if (o->cred)
		return -EINVAL;
	k = rr_pool_get(&a->host->engine->pool, sizeof(*k));
	if (!k)
		return -ENOMEM;
	memset(k, 0, offsetof(struct gss_call, plain));
	k->auth.context = a;
	g->refs++;
	k->program = o->program;
	k->version = o->version;
	k->procedure = o->procedure;
	rr_list_init(&k->of_context);
	k->n_plain = o->n_args;
	for (unsigned i = 0; i < o->n_args; i++)
		k->plain[i] = (struct rr_piece){o->args[i].base, o->args[i].len,
		                                o->args[i].item};
	*ret = &k->auth;
	return 0;
}

static void free_gss_call(struct rr_call_auth *a)
{
	struct rpcrdma_gss *g = gss_of_call(a);
	struct gss_call *k = gss_call_of(a);

	end_gss_attempt(a);
	rr_gss_body_fini(&k->results);
	/* @host is not NULL, since a connection outlives its calls. */
	rr_pool_put(&g->auth.host->engine->pool, k, sizeof(*k));
	rr_gss_put(g);
}

static void detach_gss(struct rr_auth_context *a)
{
	rr_gss_setup_end(gss_of_context(a));
	a->host = NULL;
}

static const struct rr_call_auth_ops gss_ops = {
        .new_call = new_gss_call,
        .free_call = free_gss_call,
        .is_unreducible = gss_is_unreducible,
        .reply_overhead = gss_reply_overhead,
        .wrap = wrap_gss_call,
        .end_attempt = end_gss_attempt,
        .next_call = next_gss_call,
        .retries = retry_gss_call,
        .unwrap = unwrap_gss_reply,
        .detach = detach_gss,
};

/* -- life cycle of the object ---------------------------------------------- */

static void ignore_destroyed(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                             void *arg)
{
}

/* Asks the server to free its copy of the context now, rather than when it expires. */
static void destroy_at_server(struct rpcrdma_gss *g)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rr_auth_host *host = g->auth.host;
	uint8_t header[RR_RPC_HEADER_MAX];
	struct rr_rpc_call h = {.program = g->program, .version = g->version};
	int n;

	if (!host->ops->is_connected(host) || needs_renewal(g))
		return;
	h.xid = rr_engine_new_xid(host->engine);
	n = write_context_header(g->context, &h, RR_GSS_DESTROY, RR_GSS_NONE,
	                         g->context->next_seq++, header);
	if (n < 0)
		return;
	o.timeout_ns = DESTROY_NS;
	o.done = ignore_destroyed;
	(void)!host->ops->call(host, &o, header, (size_t)n, NULL);
}

void rr_gss_put(struct rpcrdma_gss *g)
{
	if (--g->refs)
		return;
	RR_ASSERT(rr_list_empty(&g->auth.queue));
	if (g->auth.host) {
		if (g->context)
			destroy_at_server(g);
		rr_gss_setup_end(g);
	}
	forget_client_context(g);
	rr_list_del(&g->auth.link);
	free(g);
}

static int check_gss_options(const struct rpcrdma_gss_options *o)
{
	if (!o->principal || !*o->principal ||
	    strlen(o->principal) >= sizeof(((struct rpcrdma_gss *)0)->principal) ||
	    (unsigned)o->service > RPCRDMA_GSS_KRB5P)
		return -EINVAL;
	return 0;
}

int rr_gss_client_new(struct rr_auth_host *host, const struct rpcrdma_gss_options *o,
                      struct rpcrdma_gss **ret)
{
	struct rpcrdma_gss_options own;
	struct rpcrdma_gss *g;
	int err = o ? RR_SIZED_TAKE(&own, principal, o) : -EINVAL;

	if (!err)
		err = check_gss_options(&own);
	if (err)
		return err;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	strcpy(g->principal, own.principal);
	g->refs = 1;
	g->service = own.service ? own.service : RPCRDMA_GSS_KRB5;
	g->info.service = (enum rpcrdma_gss_service)g->service;
	g->program = own.program;
	g->version = own.version;
	g->timeout_ns = own.timeout_ns ? own.timeout_ns : DEFAULT_TIMEOUT_NS;
	g->auth.ops = &gss_ops;
	g->auth.host = host;
	rr_list_init(&g->auth.queue);
	rr_list_push(&host->contexts, &g->auth.link);
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
