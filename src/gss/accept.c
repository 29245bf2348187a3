/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepts or refuses a Call with flavor RPCSEC_GSS: makes the checks in the required
 * order, and builds the replies.  Contract in contexts.h.
 *
 * Data request: credential well-formed -> handle known -> MIC of the header verified ->
 * context still valid -> sequence number new -> arguments verified or decrypted.  Until
 * the MIC is verified, a Call changes only the order in which contexts were last used.
 * [RFC 2203 §5.3.3]
 *
 * Context creation: one token is received and one token is sent; then the context is
 * either complete or refused.  A refusal is a Reply with SUCCESS that contains
 * GSS-API's status codes.                                       [RFC 2203 §5.2.3]
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "gss/context.h"

enum {
	ACCEPTED = 0,
	DENIED = 1,
	AUTH_ERROR = 1,
	SUCCESS = 0,
	GARBAGE_ARGS = 4,
	/* auth_stat */
	BADCRED = 1,
	REJECTEDCRED = 2,
	BADVERF = 3,
	CREDPROBLEM = 13,
	CTXPROBLEM = 14,
	MAX_REPLY_HEADER = 6 * 4 + RR_GSS_AUTH_MAX,
};

struct credential {
	uint32_t version, proc, seq, service, handle_len;
	const void *handle;
};

static bool get_credential(const struct rpcrdma_auth *a, struct credential *ret)
{
	struct rr_cursor c = rr_cursor_over(a->body, a->len);

	ret->version = rr_get_u32(&c);
	ret->proc = rr_get_u32(&c);
	ret->seq = rr_get_u32(&c);
	ret->service = rr_get_u32(&c);
	ret->handle_len = rr_get_u32(&c);
	ret->handle = rr_get_bytes(&c, ret->handle_len);
	(void)rr_get_bytes(&c, rr_pad(ret->handle_len)); /* if missing, @c is bad */
	return a->flavor == RR_GSS_FLAVOR && !rr_cursor_bad(&c) && !rr_cursor_left(&c);
}

bool rr_gss_may_block(const struct rpcrdma_auth *cred)
{
	struct credential c;

	/* This includes DESTROY, since destroying a context releases a name, which
	 * makes GSS-API read krb5.conf. */
	return get_credential(cred, &c) && c.proc > RR_GSS_DATA &&
	       c.proc <= RR_GSS_DESTROY;
}

/* -- replies --------------------------------------------------------------- */

/* Allocates the Reply, with space for @more octets after the header.  If there is no
 * memory, returns false and sets the verdict to RR_GSS_CLOSE. */
static bool begin_gss_reply(struct rr_gss_request *r, size_t more, struct rr_writer *w)
{
	size_t size = MAX_REPLY_HEADER + more;

	r->verdict = RR_GSS_CLOSE;
	r->reply = malloc(size);
	*w = rr_writer_over(r->reply, r->reply ? size : 0);
	return r->reply;
}

static void end_gss_reply(struct rr_gss_request *r, const struct rr_writer *w)
{
	RR_ASSERT(!rr_writer_bad(w));
	r->reply_len = rr_writer_used(w);
	r->verdict = RR_GSS_ANSWER;
}

static void put_accepted(struct rr_writer *w, const struct rr_gss_call *k,
                         const struct rpcrdma_auth *verf, uint32_t stat)
{
	rr_put_u32(w, k->xid);
	rr_put_u32(w, 1); /* REPLY */
	rr_put_u32(w, ACCEPTED);
	rr_put_u32(w, verf->flavor);
	rr_put_u32(w, verf->len);
	rr_put_padded(w, verf->body, verf->len);
	rr_put_u32(w, stat);
}

static void accept_with_stat(const struct rr_gss_call *k, struct rr_gss_request *r,
                             uint32_t stat)
{
	struct rr_writer w;

	if (!begin_gss_reply(r, 0, &w))
		return;
	put_accepted(&w, k, &r->verf, stat);
	end_gss_reply(r, &w);
}

static void deny_call(const struct rr_gss_call *k, struct rr_gss_request *r,
                      uint32_t auth_stat)
{
	struct rr_writer w;

	r->auth_stat = auth_stat;
	if (!begin_gss_reply(r, 0, &w))
		return;
	rr_put_u32(&w, k->xid);
	rr_put_u32(&w, 1); /* REPLY */
	rr_put_u32(&w, DENIED);
	rr_put_u32(&w, AUTH_ERROR);
	rr_put_u32(&w, auth_stat);
	end_gss_reply(r, &w);
}

/* -- context creation ------------------------------------------------------ */

/* The result that GSS-API returned for a token. */
struct outcome {
	OM_uint32 major, minor;
	gss_buffer_desc token;          /* token to send */
	struct rr_gss_context *context; /* a reference; NULL = refused */
};

/* Copies the token from the arguments to contiguous memory.  Returns false if there is
 * no valid token.  The caller must free *@ret_copy even if the result is false. */
static bool gather_token(const struct rr_gss_call *k, gss_buffer_desc *ret,
                         void **ret_copy)
{
	const size_t most = RR_GSS_MAX_TOKEN + 8;
	struct rr_cursor c;
	uint8_t *p;
	size_t len = 0;

	*ret_copy = NULL;
	for (unsigned i = 0; i < k->n_args; i++) {
		if (k->args[i].item || k->args[i].len > most - len)
			return false;
		len += k->args[i].len;
	}
	*ret_copy = p = malloc(len ? len : 1);
	if (!p)
		return false;
	c = rr_cursor_over(p, len);
	for (unsigned i = 0; i < k->n_args; i++) {
		if (k->args[i].len)
			memcpy(p, k->args[i].base, k->args[i].len);
		p += k->args[i].len;
	}
	ret->length = rr_get_u32(&c);
	ret->value = (void *)(uintptr_t)rr_get_bytes(&c, ret->length);
	(void)rr_get_bytes(&c, rr_pad(ret->length)); /* if missing, @c is bad */
	return !rr_cursor_bad(&c) && ret->length && ret->length <= RR_GSS_MAX_TOKEN;
}

static void copy_address(const struct sockaddr *a, uint8_t ret[RR_GSS_ADDRESS])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memset(ret, 0, RR_GSS_ADDRESS);
	if (a && a->sa_family == AF_INET) {
		memcpy(ret, mapped, sizeof(mapped));
		memcpy(ret + 12, &((const struct sockaddr_in *)a)->sin_addr, 4);
	} else if (a && a->sa_family == AF_INET6) {
		memcpy(ret, &((const struct sockaddr_in6 *)a)->sin6_addr, 16);
	}
}

static rr_time expire_at(rr_time now, OM_uint32 seconds)
{
	return seconds == GSS_C_INDEFINITE ? RR_TIME_NEVER : now + RR_SEC(seconds);
}

/* Sets o->context to a new context, made from a GSS-API context that is established.
 * Takes ownership of @id and @name. */
static void adopt_context(struct rr_gss *g, const struct rr_gss_call *k,
                          gss_ctx_id_t id, gss_name_t name, gss_OID mech,
                          OM_uint32 seconds, struct outcome *o)
{
	struct rr_gss_context *c = rr_gss_context_new(id);
	OM_uint32 minor;

	o->major = GSS_S_FAILURE;
	if (!c) {
		(void)gss_release_name(&minor, &name);
		return;
	}
	copy_address(k->peer, c->address);
	c->expires = expire_at(k->now, seconds);
	if (rr_gss_identity_init(&c->who, name, mech, id)) {
		rr_gss_context_put(g, c);
		return;
	}
	o->major = GSS_S_COMPLETE;
	o->context = c;
}

static void accept_token(struct rr_gss *g, const struct rr_gss_call *k,
                         gss_buffer_desc *token, struct outcome *o)
{
	gss_ctx_id_t id = GSS_C_NO_CONTEXT;
	gss_name_t name = GSS_C_NO_NAME;
	gss_OID mech = GSS_C_NO_OID;
	OM_uint32 seconds = 0, minor;
	gss_cred_id_t cred;

	if (!rr_gss_cred(g, k->now, &cred, &o->major, &o->minor))
		return;
	o->major = gss_accept_sec_context(&o->minor, &id, cred, token,
	                                  GSS_C_NO_CHANNEL_BINDINGS, &name, &mech,
	                                  &o->token, NULL, &seconds, NULL);
	if (o->major == GSS_S_COMPLETE) {
		adopt_context(g, k, id, name, mech, seconds, o);
		return;
	}
	/* Refuse a context that needs more tokens: its peer is not authenticated. */
	if (!GSS_ERROR(o->major))
		o->major = GSS_S_FAILURE;
	(void)gss_delete_sec_context(&minor, &id, GSS_C_NO_BUFFER);
	(void)gss_release_name(&minor, &name);
}

/* Enters the context into the table, before its handle is sent to the client.  If the
 * table is full, refuses the context. */
static void keep_context(struct rr_gss *g, const struct rr_gss_call *k,
                         struct outcome *o)
{
	if (!o->context || rr_gss_context_keep(g, o->context, k->now))
		return;
	rr_gss_context_put(g, o->context);
	o->context = NULL;
	o->major = GSS_S_FAILURE;
	o->minor = 0;
	if (g->o.no_room)
		g->o.no_room(g->o.no_room_arg, k->peer);
}

/* Replies with the status, the handle and the token; the verifier is the MIC of the
 * window.  If the context was refused, handle and token are empty, and the verifier is
 * AUTH_NONE. */
static void answer_token(struct rr_gss *g, const struct rr_gss_call *k,
                         struct rr_gss_request *r, struct outcome *o)
{
	struct rr_gss_context *c = o->context;
	size_t token_len;
	struct rr_writer w;

	if (c && (o->token.length > RR_GSS_MAX_TOKEN ||
	          !rr_gss_sign_word(c, GSS_C_QOP_DEFAULT, RR_GSS_WINDOW, r))) {
		rr_gss_context_drop(g, c);
		rr_gss_context_put(g, c);
		o->context = c = NULL;
		o->major = GSS_S_FAILURE;
	}
	token_len = c ? o->token.length : 0;
	if (!begin_gss_reply(r, 6 * 4 + RR_GSS_HANDLE + token_len + 3, &w))
		return;
	put_accepted(&w, k, &r->verf, SUCCESS);
	rr_put_u32(&w, c ? RR_GSS_HANDLE : 0);
	if (c)
		rr_put_padded(&w, c->handle, RR_GSS_HANDLE);
	rr_put_u32(&w, o->major);
	rr_put_u32(&w, o->minor);
	rr_put_u32(&w, c ? RR_GSS_WINDOW : 0);
	rr_put_u32(&w, (uint32_t)token_len);
	rr_put_padded(&w, o->token.value, token_len);
	end_gss_reply(r, &w);
}

static void set_up_context(struct rr_gss *g, const struct rr_gss_call *k,
                           const struct credential *cred, struct rr_gss_request *r)
{
	struct outcome o = {.token = GSS_C_EMPTY_BUFFER};
	gss_buffer_desc token;
	OM_uint32 minor;
	void *copy;

	/* CONTINUE_INIT is refused because our Replies never ask for it.  CREDPROBLEM
	 * and CTXPROBLEM must not be used for context creation [RFC 2203 §5.2.3.2]. */
	if (cred->version != RR_GSS_VERSION || cred->proc != RR_GSS_INIT ||
	    cred->handle_len || k->procedure) {
		deny_call(k, r, REJECTEDCRED);
		return;
	}
	if (!gather_token(k, &token, &copy)) {
		free(copy);
		accept_with_stat(k, r, GARBAGE_ARGS);
		return;
	}
	accept_token(g, k, &token, &o);
	free(copy);
	keep_context(g, k, &o);
	answer_token(g, k, r, &o);
	if (o.context && r->verdict != RR_GSS_ANSWER)
		rr_gss_context_drop(g, o.context);
	if (o.context)
		rr_gss_context_put(g, o.context);
	(void)gss_release_buffer(&minor, &o.token);
}

/* -- requests -------------------------------------------------------------- */

/* Finds the context, and checks the header and the sequence number.  Returns false if
 * the Call is refused; @r then has the verdict. */
static bool authenticate_call(struct rr_gss *g, const struct rr_gss_call *k,
                              const struct credential *cred, struct rr_gss_request *r)
{
	struct rr_gss_context *c =
	        rr_gss_context_find(g, cred->handle, cred->handle_len, k->now);
	uint32_t problem = 0;

	r->context = c;
	if (!c ||
	    (k->verf.flavor == RR_GSS_FLAVOR && !rr_gss_verify_header(c, k, &r->qop)))
		problem = CREDPROBLEM;
	else if (k->verf.flavor != RR_GSS_FLAVOR)
		problem = BADVERF;
	else if (k->now >= c->expires || cred->seq > RR_GSS_MAX_SEQ)
		problem = CTXPROBLEM;
	if (problem) {
		deny_call(k, r, problem);
		if (c && k->now >= c->expires)
			rr_gss_context_drop(g, c);
		return false;
	}
	if (!rr_gss_see(c, cred->seq)) {
		r->verdict = RR_GSS_CLOSE;
		return false;
	}
	if (!rr_gss_sign_word(c, r->qop, cred->seq, r)) {
		deny_call(k, r, CTXPROBLEM); /* [RFC 2203 §5.3.3.4.1] */
		return false;
	}
	return true;
}

static void proceed_call(const struct rr_gss_call *k, struct rr_gss_request *r)
{
	if (r->service != RR_GSS_NONE && !rr_gss_unwrap(r, k)) {
		accept_with_stat(k, r, GARBAGE_ARGS);
		return;
	}
	r->who = &r->context->who;
	r->verdict = RR_GSS_PROCEED;
}

static void serve_data(struct rr_gss *g, const struct rr_gss_call *k,
                       const struct credential *cred, struct rr_gss_request *r)
{
	r->service = cred->service;
	r->seq = cred->seq;
	if (cred->version != RR_GSS_VERSION || cred->service < RR_GSS_NONE ||
	    cred->service > RR_GSS_PRIVACY ||
	    (cred->proc == RR_GSS_DESTROY && k->procedure)) {
		deny_call(k, r, BADCRED);
		return;
	}
	if (!authenticate_call(g, k, cred, r))
		return;
	if (cred->proc == RR_GSS_DATA) {
		proceed_call(k, r);
		return;
	}
	/* DESTROY has a void argument and result.  Some clients wrap void and others do
	 * not, so the argument is not checked, and the result is not wrapped. */
	rr_gss_context_drop(g, r->context);
	accept_with_stat(k, r, SUCCESS);
}

enum rr_gss_verdict rr_gss_accept(struct rr_gss *g, const struct rr_gss_call *k,
                                  struct rr_gss_request *r)
{
	struct credential cred;

	memset(r, 0, sizeof(*r));
	r->table = g;
	r->verf.body = r->verf_body;
	if (!get_credential(&k->cred, &cred))
		deny_call(k, r, BADCRED);
	else if (cred.proc == RR_GSS_INIT || cred.proc == RR_GSS_CONTINUE_INIT)
		set_up_context(g, k, &cred, r);
	else if (cred.proc == RR_GSS_DATA || cred.proc == RR_GSS_DESTROY)
		serve_data(g, k, &cred, r);
	else
		deny_call(k, r, BADCRED);
	if (r->verdict != RR_GSS_PROCEED && r->context) {
		rr_gss_context_put(g, r->context);
		r->context = NULL;
	}
	return r->verdict;
}

void rr_gss_release(struct rr_gss_request *r)
{
	OM_uint32 minor;

	if (r->context)
		rr_gss_context_put(r->table, r->context);
	(void)gss_release_buffer(&minor, &r->plain);
	free(r->copy);
	free(r->reply);
	memset(r, 0, sizeof(*r));
}

gss_ctx_id_t rr_gss_context_id(const struct rr_gss_request *r)
{
	return r->context->id;
}
