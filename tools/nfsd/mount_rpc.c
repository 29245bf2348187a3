/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount_rpc.h"
#include "nlm.h"
#include <stdlib.h>

enum { MAX_AUTH = 400 };

struct reader {
	const uint8_t *at;
	size_t len, pos;
	bool bad;
};

static uint32_t get_rpc_word(struct reader *r)
{
	uint32_t v = 0;

	if (nfs3_get_u32(r->at, r->len, &r->pos, &v))
		r->bad = true;
	return v;
}

static struct rpcrdma_auth get_rpc_auth(struct reader *r)
{
	struct rpcrdma_auth a = {.flavor = get_rpc_word(r), .len = get_rpc_word(r)};
	size_t padded = ((size_t)a.len + 3) & ~(size_t)3;

	if (r->bad || a.len > MAX_AUTH || padded > r->len - r->pos) {
		r->bad = true;
		a.len = 0;
		return a;
	}
	a.body = r->at + r->pos;
	r->pos += padded;
	return a;
}

struct writer {
	uint8_t *at;
	size_t len;
};

static void put_rpc_word(struct writer *w, uint32_t v)
{
	(void)nfs3_put_u32(w->at + w->len, v);
	w->len += 4;
}

/* Writes a reply's status, followed by the @n words in @more.  Returns the reply's
 * length so far. */
static size_t put_reply_status(struct writer *w, uint32_t stat, uint32_t reason,
                               const uint32_t *more, unsigned n)
{
	put_rpc_word(w, stat);
	if (stat == MSG_ACCEPTED) {
		put_rpc_word(w, RPCRDMA_AUTH_NONE); /* the verifier */
		put_rpc_word(w, 0);
	}
	put_rpc_word(w, reason);
	for (unsigned i = 0; i < n; i++)
		put_rpc_word(w, more[i]);
	return w->len;
}

struct header {
	uint32_t xid, rpc, program, version, proc;
};

/* Decodes the header of a call.  Returns false if the record is not a call. */
static bool get_call_header(struct reader *r, struct header *ret,
                            struct rpcrdma_auth *cred)
{
	ret->xid = get_rpc_word(r);
	if (get_rpc_word(r) != CALL)
		return false;
	ret->rpc = get_rpc_word(r);
	if (r->bad || ret->rpc != RPC_MSG_VERSION)
		return !r->bad; /* if the RPC version is not 2, decoding stops here */
	ret->program = get_rpc_word(r);
	ret->version = get_rpc_word(r);
	ret->proc = get_rpc_word(r);
	*cred = get_rpc_auth(r);
	(void)get_rpc_auth(r); /* verifier; empty for AUTH_NONE and AUTH_SYS */
	return !r->bad;
}

static size_t execute_call(struct mount_rpc *m, const struct header *h,
                           struct mount_call *call, struct writer *w, bool *ret_failed)
{
	enum { HEAD = 4 * 4 }; /* octets for reply status, verifier, accept status */
	uint8_t *results = w->at + w->len + HEAD;
	size_t n = 0, room = MOUNT_RPC_BYTES - w->len - HEAD;
	uint32_t auth_stat = 0;
	int status;

	m->nlm_calls += h->program == NLM_PROGRAM;
	if (h->program == NLM_PROGRAM)
		status = nlm_execute(h->version, h->proc, call->args, call->args_len,
		                     results, room, &n);
	else
		status = nfsd_mount_by_tcp(m->nfsd, h->proc, call, results, room, &n,
		                           &auth_stat);
	*ret_failed = status != 0;
	if (status == RPCRDMA_AUTH_ERROR)
		return put_reply_status(w, MSG_DENIED, AUTH_ERROR, &auth_stat, 1);
	return put_reply_status(w, MSG_ACCEPTED, (uint32_t)status, NULL, 0) + n;
}

/* Executes the call in @record and writes the reply to @ret.  Returns the reply's
 * length, or 0 if the record is not a call and must not be answered. */
static size_t answer_record(struct mount_rpc *m, struct mount_call *call,
                            const void *record, size_t len,
                            uint8_t ret[MOUNT_RPC_BYTES], bool *ret_failed)
{
	static const uint32_t rpc_versions[] = {RPC_MSG_VERSION, RPC_MSG_VERSION};
	static const uint32_t mount_versions[] = {3, 3};
	static const uint32_t nlm_versions[] = {NLM_LOWEST, NLM_HIGHEST};
	struct reader r = {record, len, 0, false};
	struct writer w = {ret, 0};
	struct header h = {0};

	*ret_failed = true;
	if (!get_call_header(&r, &h, &call->cred))
		return 0;
	put_rpc_word(&w, h.xid);
	put_rpc_word(&w, REPLY);
	if (h.rpc != RPC_MSG_VERSION)
		return put_reply_status(&w, MSG_DENIED, RPC_MISMATCH, rpc_versions, 2);
	if (h.program == RPCRDMA_MOUNT_PROGRAM && h.version != 3)
		return put_reply_status(&w, MSG_ACCEPTED, RPCRDMA_PROG_MISMATCH,
		                        mount_versions, 2);
	if (h.program == NLM_PROGRAM && !nlm_has_version(h.version))
		return put_reply_status(&w, MSG_ACCEPTED, RPCRDMA_PROG_MISMATCH,
		                        nlm_versions, 2);
	if (h.program != RPCRDMA_MOUNT_PROGRAM && h.program != NLM_PROGRAM)
		return put_reply_status(&w, MSG_ACCEPTED, RPCRDMA_PROG_UNAVAIL, NULL,
		                        0);
	call->args = r.at + r.pos;
	call->args_len = len - r.pos;
	return execute_call(m, &h, call, &w, ret_failed);
}

void *mount_rpc_answer(void *arg, const struct sockaddr_storage *peer,
                       const void *record, size_t len, size_t *ret_len,
                       bool *ret_failed)
{
	struct mount_rpc *m = arg;
	struct mount_call call = {
	        .peer = *peer, .room = m->room, .room_bytes = sizeof(m->room)};
	uint8_t *reply = malloc(MOUNT_RPC_BYTES);
	void *less;

	*ret_failed = !reply;
	*ret_len = reply ? answer_record(m, &call, record, len, reply, ret_failed) : 0;
	if (!*ret_len) {
		free(reply);
		return NULL;
	}
	less = realloc(reply, *ret_len);
	return less ? less : reply;
}
