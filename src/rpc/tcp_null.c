/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers NULL calls that arrived over TCP.  Clients use such calls to create security
 * contexts, which belong to the service, not to a connection.  [v2 §11.2.2.1]
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/service.h"

struct null_call {
	struct rr_rpc_call rpc;
	struct rr_rpc_reply reply;
	struct rr_gss_request gss; /* zero = the call does not use RPCSEC_GSS */
	uint8_t *out;              /* the complete reply, from malloc */
	size_t out_len;
};

/* Checks the program and procedure numbers.  Call after authentication. */
static void check_null(const struct rpcrdma_service *s, struct null_call *k)
{
	k->reply.verf = k->gss.verf;
	if (rr_service_for(s, &k->rpc, &k->reply) && k->rpc.procedure)
		k->reply.status = RPCRDMA_PROC_UNAVAIL;
}

/* Returns 0 if the call is authentic, 1 if k->out is the reply, or a negative errno. */
static int authenticate_null(const struct rpcrdma_service *s, struct null_call *k,
                             const struct sockaddr *peer,
                             const struct rpcrdma_piece *args)
{
	const struct rr_gss_call call = {.xid = k->rpc.xid,
	                                 .program = k->rpc.program,
	                                 .version = k->rpc.version,
	                                 .procedure = k->rpc.procedure,
	                                 .cred = k->rpc.cred,
	                                 .verf = k->rpc.verf,
	                                 .args = args,
	                                 .n_args = args->len > 0,
	                                 .peer = peer,
	                                 .now = rr_engine_clock()};

	switch (rr_acceptor_check_here(s->acceptor, &call, &k->gss)) {
	case RR_GSS_PROCEED:
		return 0;
	case RR_GSS_ANSWER:
		k->out = k->gss.reply;
		k->out_len = k->gss.reply_len;
		k->gss.reply = NULL;
		return 1;
	case RR_GSS_CLOSE:
		break;
	}
	return -EACCES;
}

/* Encodes the header, and protects the void result as the context requires. */
static int write_null_reply(struct null_call *k)
{
	void *nothing = NULL;
	size_t len = 0;
	int n, err = 0;

	if (k->gss.verdict == RR_GSS_PROCEED && k->gss.service > RR_GSS_NONE &&
	    !k->reply.status)
		err = rr_gss_wrap(&k->gss, NULL, 0, &nothing, &len);
	if (err)
		return err;
	k->out = malloc(RR_RPC_HEADER_MAX + len);
	if (k->out) {
		n = rr_rpc_put_reply(k->out, RR_RPC_HEADER_MAX, &k->reply);
		RR_ASSERT(n > 0);
		if (len)
			memcpy(k->out + n, nothing, len);
		k->out_len = (size_t)n + len;
	}
	free(nothing);
	return k->out ? 0 : -ENOMEM;
}

static int dispatch_null(const struct rpcrdma_service *s, struct null_call *k,
                         const struct sockaddr *peer, const struct rpcrdma_piece *args)
{
	struct rr_rpc_reply *m = &k->reply;
	int r = 0;

	m->xid = k->rpc.xid;
	if (k->rpc.rpcvers != 2) {
		m->status = RPCRDMA_RPC_MISMATCH;
		m->low = m->high = 2;
	} else if (k->rpc.cred.flavor != RPCRDMA_AUTH_GSS) {
		check_null(s, k);
	} else if (!s->acceptor) {
		m->status = RPCRDMA_AUTH_ERROR;
		m->auth_stat = 1; /* AUTH_BADCRED: unknown flavor */
	} else {
		r = authenticate_null(s, k, peer, args);
		if (!r)
			check_null(s, k);
	}
	return r ? r : write_null_reply(k);
}

int rpcrdma_service_answer_tcp(struct rpcrdma_service *s, const struct sockaddr *peer,
                               const void *call, size_t len, void **ret_reply,
                               size_t *ret_len)
{
	struct null_call k = {.out = NULL};
	struct rpcrdma_piece args;
	int n = rr_rpc_get_call(call, len, &k.rpc), r;

	if (n < 0)
		return n;
	args = (struct rpcrdma_piece){(const uint8_t *)call + n, len - (size_t)n,
	                              false};
	r = dispatch_null(s, &k, peer, &args);
	rr_gss_release(&k.gss);
	if (r < 0)
		return r;
	*ret_reply = k.out;
	*ret_len = k.out_len;
	return 0;
}
