/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Presents an RPCSEC_GSS request to the functions of libtirpc; contract in svc_gss.h.
 *
 * These functions read a structure that is private to libtirpc.  The layout of that
 * structure is not in a header, but has not changed since libtirpc 0.3.  Before the
 * first use, the functions are called on a structure with known contents.  If they do
 * not return these contents, no context is accepted.
 */
#include "tirpc/svc_gss.h"

#include <stdlib.h>
#include <string.h>

#include <rpc/auth_gss.h>
#include <rpc/rpcsec_gss.h>
#include <rpc/svc_auth_gss.h>
#include <rpc/svc_mt.h>

/* libtirpc's private structure, with the names that libtirpc uses. */
struct svc_rpc_gss_data {
	bool_t established, locked;
	gss_ctx_id_t ctx;
	gss_cred_id_t deleg;
	struct rpc_gss_sec sec;
	gss_buffer_desc cname;
	u_int seq, win, seqlast;
	uint32_t seqmask;
	gss_name_t client_name;
	rpc_gss_rawcred_t rcred, scratch;
	rpc_gss_ucred_t ucred;
	gid_t gids[NGRPS];
	bool_t callback_done;
	void *cookie;
};

struct rr_rpc_gss {
	struct rr_gss_request request;
	struct svc_rpc_gss_data data;
	rpc_gss_principal_t principal;
};

/* -- libtirpc's view of a request ------------------------------------------ */

static int code_unprotected(SVCAUTH *auth, XDR *xdr, xdrproc_t proc, caddr_t where)
{
	return (*proc)(xdr, where);
}

static int destroy_nothing(SVCAUTH *auth)
{
	return TRUE;
}

/* These functions do not protect anything: src/gss unwraps arguments and wraps
 * results. */
static struct svc_auth_ops ops = {.svc_ah_wrap = code_unprotected,
                                  .svc_ah_unwrap = code_unprotected,
                                  .svc_ah_destroy = destroy_nothing};

static char *get_mechanism(void)
{
	return rpc_gss_get_mechanisms()[0]; /* Kerberos V5 is the only mechanism */
}

static bool fill_gss_data(struct rr_rpc_gss *s)
{
	const struct rr_gss_identity *w = s->request.who;
	struct svc_rpc_gss_data *d = &s->data;
	size_t len = strlen(w->principal);

	s->principal = calloc(1, sizeof(*s->principal) + len);
	if (!s->principal)
		return false;
	s->principal->len = (int)len;
	memcpy(s->principal->name, w->principal, len);
	d->established = TRUE;
	d->ctx = rr_gss_context_id(&s->request);
	d->sec.mech = w->mech;
	d->sec.qop = s->request.qop;
	d->sec.svc = (rpc_gss_svc_t)s->request.service;
	d->cname = (gss_buffer_desc){len, w->principal};
	d->seq = s->request.seq;
	d->win = RR_GSS_WINDOW;
	d->client_name = w->name;
	d->rcred = (rpc_gss_rawcred_t){
	        .version = RPCSEC_GSS_VERSION,
	        .mechanism = get_mechanism(),
	        .client_principal = s->principal,
	        .svc_principal = w->target,
	        .service = (rpc_gss_service_t)s->request.service,
	};
	d->callback_done = TRUE;
	return true;
}

/* -- check of the layout --------------------------------------------------- */

union layout_test {
	struct svc_rpc_gss_data data;
	char room[4096]; /* other versions of libtirpc may use a longer structure */
};

static bool principal_is_found(union layout_test *p)
{
	SVCAUTH auth = {.svc_ah_private = (caddr_t)p};
	char *name = svcauth_gss_get_principal(&auth);
	bool ok = name && strcmp(name, "probe") == 0;

	free(name);
	return ok;
}

static bool credential_is_found(union layout_test *p)
{
	SVCXPRT_EXT ext = {.xp_auth.svc_ah_private = (caddr_t)p};
	SVCXPRT x = {.xp_p3 = &ext, .xp_verf.oa_flavor = RPCSEC_GSS};
	struct svc_req r = {.rq_xprt = &x};
	rpc_gss_rawcred_t *raw = NULL;
	void *cookie = NULL;

	p->data.cookie = &ext;
	return rpc_gss_getcred(&r, &raw, NULL, &cookie) && raw == &p->data.scratch &&
	       cookie == &ext && raw->svc_principal == p->room &&
	       raw->service == rpcsec_gss_svc_privacy;
}

static bool is_layout_known(void)
{
	static char name[] = "probe";
	union layout_test *p = calloc(1, sizeof(*p));
	bool ok = false;

	if (p) {
		p->data.cname = (gss_buffer_desc){sizeof(name) - 1, name};
		p->data.sec.svc = RPCSEC_GSS_SVC_PRIVACY;
		p->data.rcred.mechanism = get_mechanism();
		p->data.rcred.svc_principal = p->room;
		ok = principal_is_found(p) && credential_is_found(p);
	}
	free(p);
	return ok;
}

static struct {
	pthread_once_t once;
	enum auth_stat (*authenticate)(struct svc_req *, struct rpc_msg *);
	bool ok;
} shared = {.once = PTHREAD_ONCE_INIT};

static void init_svc_gss(void)
{
	shared.ok =
	        is_layout_known() && svc_auth_reg(RR_RPC_GSS, shared.authenticate) == 0;
}

bool rr_rpc_gss_init(enum auth_stat (*authenticate)(struct svc_req *, struct rpc_msg *))
{
	shared.authenticate = authenticate; /* every caller passes the same function */
	pthread_once(&shared.once, init_svc_gss);
	return shared.ok;
}

/* -- requests -------------------------------------------------------------- */

enum rr_gss_verdict rr_rpc_gss_accept(struct rr_gss *g, const struct rr_gss_call *k,
                                      struct rr_rpc_gss **ret)
{
	struct rr_rpc_gss *s = calloc(1, sizeof(*s));
	enum rr_gss_verdict v;

	*ret = s;
	if (!s)
		return RR_GSS_CLOSE;
	v = rr_gss_accept(g, k, &s->request);
	return v == RR_GSS_PROCEED && !fill_gss_data(s) ? RR_GSS_CLOSE : v;
}

void rr_rpc_gss_free(struct rr_rpc_gss *s)
{
	if (!s)
		return;
	rr_gss_release(&s->request);
	free(s->principal);
	free(s);
}

struct rr_gss_request *rr_rpc_gss_request(struct rr_rpc_gss *s)
{
	return &s->request;
}

void rr_rpc_gss_show_xprt(struct rr_rpc_gss *s, SVCXPRT *x)
{
	const struct rpcrdma_auth *v = &s->request.verf;

	SVC_XP_AUTH(x).svc_ah_ops = &ops;
	SVC_XP_AUTH(x).svc_ah_private = (caddr_t)&s->data;
	x->xp_verf.oa_flavor = (enum_t)v->flavor;
	x->xp_verf.oa_length = v->len;
	memcpy(x->xp_verf.oa_base, v->body, v->len);
}

void rr_rpc_gss_show_req(struct rr_rpc_gss *s, struct svc_req *r)
{
	struct rpc_gss_cred *c = r->rq_clntcred;

	r->rq_cred.oa_flavor = RPCSEC_GSS;
	r->rq_clntname = (char *)s->data.client_name;
	r->rq_svcname = (char *)s->data.ctx;
	*c = (struct rpc_gss_cred){
	        .gc_v = RPCSEC_GSS_VERSION,
	        .gc_proc = RPCSEC_GSS_DATA,
	        .gc_seq = s->request.seq,
	        .gc_svc = s->data.sec.svc,
	};
}
