/* SPDX-License-Identifier: BSD-3-Clause */
#include "oncrpc/rpc_header.h"

#include "base/cursor.h"

enum { MSG_ACCEPTED = 0, MSG_DENIED = 1, DENIED_RPC_MISMATCH = 0, DENIED_AUTH = 1 };
enum { CALL_FIXED = 24 }; /* octets of a Call before the credential */

/* -- authenticators -------------------------------------------------------- */

static bool is_auth_too_long(const struct rpcrdma_auth *a)
{
	return a->len > RR_RPC_AUTH_MAX;
}

static size_t auth_bytes(const struct rpcrdma_auth *a)
{
	return 8 + a->len + rr_pad(a->len);
}

/* Encodes an authenticator at @p, where there is space.  Returns the address after
 * it. */
static uint8_t *put_auth(uint8_t *p, const struct rpcrdma_auth *a)
{
	rr_store_u32(p, a->flavor);
	rr_store_u32(p + 4, a->len);
	if (a->len) {
		memcpy(p + 8, a->body, a->len);
		memset(p + 8 + a->len, 0, rr_pad(a->len));
	}
	return p + auth_bytes(a);
}

/* Decodes the authenticator at @p, which must end at or before @end.  Returns the
 * address after it, or NULL if it is too long. */
static const uint8_t *get_auth(const uint8_t *p, const uint8_t *end,
                               struct rpcrdma_auth *ret)
{
	size_t left = (size_t)(end - p);

	if (left < 8)
		return NULL;
	ret->flavor = rr_load_u32(p);
	ret->len = rr_load_u32(p + 4);
	ret->body = p + 8;
	return is_auth_too_long(ret) || auth_bytes(ret) > left ? NULL
	                                                       : p + auth_bytes(ret);
}

/* -- Calls ----------------------------------------------------------------- */

int rr_rpc_put_call(void *buf, size_t size, const struct rr_rpc_call *m)
{
	uint8_t *b = buf;
	size_t n;

	if (is_auth_too_long(&m->cred) || is_auth_too_long(&m->verf))
		return -EMSGSIZE;
	n = CALL_FIXED + auth_bytes(&m->cred) + auth_bytes(&m->verf);
	if (n > size)
		return -EMSGSIZE;
	rr_store_u32(b, m->xid);
	rr_store_u32(b + 4, RR_RPC_CALL);
	rr_store_u32(b + 8, 2);
	rr_store_u32(b + 12, m->program);
	rr_store_u32(b + 16, m->version);
	rr_store_u32(b + 20, m->procedure);
	(void)put_auth(put_auth(b + CALL_FIXED, &m->cred), &m->verf);
	return (int)n;
}

int rr_rpc_get_call(const void *buf, size_t len, struct rr_rpc_call *ret)
{
	const uint8_t *b = buf, *end, *p;
	struct rr_rpc_call m = {0};

	if (len < 12 || rr_load_u32(b + 4) != RR_RPC_CALL)
		return -EBADMSG;
	end = b + len;
	p = b + 12;
	m.xid = rr_load_u32(b);
	m.rpcvers = rr_load_u32(b + 8);
	if (m.rpcvers == 2) {
		if (len < CALL_FIXED)
			return -EBADMSG;
		m.program = rr_load_u32(b + 12);
		m.version = rr_load_u32(b + 16);
		m.procedure = rr_load_u32(b + 20);
		p = get_auth(b + CALL_FIXED, end, &m.cred);
		if (p)
			p = get_auth(p, end, &m.verf);
		if (!p)
			return -EBADMSG;
	}
	*ret = m;
	return (int)(p - b);
}

/* -- Replies --------------------------------------------------------------- */

static void put_denied_reply(struct rr_writer *w, const struct rr_rpc_reply *m)
{
	if (m->status == RPCRDMA_AUTH_ERROR) {
		rr_put_u32(w, DENIED_AUTH);
		rr_put_u32(w, m->auth_stat);
	} else {
		rr_put_u32(w, DENIED_RPC_MISMATCH);
		rr_put_u32(w, m->low);
		rr_put_u32(w, m->high);
	}
}

static void put_accepted_reply(struct rr_writer *w, const struct rr_rpc_reply *m)
{
	uint8_t *p = is_auth_too_long(&m->verf)
	                     ? NULL
	                     : rr_put_space(w, auth_bytes(&m->verf) + 4);

	if (!p) {
		w->bad = true;
		return;
	}
	p = put_auth(p, &m->verf);
	rr_store_u32(p, (uint32_t)m->status);
	if (m->status == RPCRDMA_PROG_MISMATCH) {
		rr_put_u32(w, m->low);
		rr_put_u32(w, m->high);
	}
}

int rr_rpc_put_reply(void *buf, size_t size, const struct rr_rpc_reply *m)
{
	bool denied = m->status >= RPCRDMA_RPC_MISMATCH;
	struct rr_writer w = rr_writer_over(buf, size);
	uint8_t *b = rr_put_space(&w, 12);

	if (!b)
		return -EMSGSIZE;
	rr_store_u32(b, m->xid);
	rr_store_u32(b + 4, RR_RPC_REPLY);
	rr_store_u32(b + 8, denied ? MSG_DENIED : MSG_ACCEPTED);
	if (denied)
		put_denied_reply(&w, m);
	else
		put_accepted_reply(&w, m);
	return rr_writer_bad(&w) ? -EMSGSIZE : (int)rr_writer_used(&w);
}

static void get_denied(struct rr_cursor *c, struct rr_rpc_reply *m)
{
	uint32_t why = rr_get_u32(c);

	if (why == DENIED_RPC_MISMATCH) {
		m->status = RPCRDMA_RPC_MISMATCH;
		m->low = rr_get_u32(c);
		m->high = rr_get_u32(c);
	} else if (why == DENIED_AUTH) {
		m->status = RPCRDMA_AUTH_ERROR;
		m->auth_stat = rr_get_u32(c);
	} else {
		c->bad = true;
	}
}

static void get_accepted(struct rr_cursor *c, struct rr_rpc_reply *m)
{
	const uint8_t *p = get_auth(c->pos, c->end, &m->verf);
	uint32_t stat;

	if (!p) {
		c->bad = true;
		return;
	}
	c->pos = p;
	stat = rr_get_u32(c);
	if (stat > RPCRDMA_SYSTEM_ERR) {
		c->bad = true;
		return;
	}
	m->status = (int)stat;
	if (stat == RPCRDMA_PROG_MISMATCH) {
		m->low = rr_get_u32(c);
		m->high = rr_get_u32(c);
	}
}

int rr_rpc_get_reply(const void *buf, size_t len, struct rr_rpc_reply *ret)
{
	struct rr_cursor c = rr_cursor_over(buf, len);
	const uint8_t *b = rr_get_bytes(&c, 12);
	struct rr_rpc_reply m = {0};
	uint32_t stat;

	if (!b || rr_load_u32(b + 4) != RR_RPC_REPLY)
		return -EBADMSG;
	m.xid = rr_load_u32(b);
	stat = rr_load_u32(b + 8);
	if (stat == MSG_ACCEPTED)
		get_accepted(&c, &m);
	else if (stat == MSG_DENIED)
		get_denied(&c, &m);
	else
		c.bad = true;
	if (rr_cursor_bad(&c))
		return -EBADMSG;
	*ret = m;
	return (int)(c.pos - (const uint8_t *)buf);
}

/* An RPCSEC_GSS credential contains the version, procedure, sequence number, service
 * and handle.                                                  [RFC 2203 §5] */
bool rr_rpc_unreducible(const struct rpcrdma_auth *cred)
{
	enum { RPCSEC_GSS = 6, DATA = 0, SERVICE_NONE = 1 };
	const uint8_t *p = cred->body;

	if (cred->flavor != RPCSEC_GSS)
		return false;
	return cred->len < 16 || rr_load_u32(p + 4) != DATA ||
	       rr_load_u32(p + 12) != SERVICE_NONE;
}

bool rr_rpc_aligned(const struct rpcrdma_piece *p, unsigned n)
{
	size_t run = 0;

	for (unsigned i = 0; i < n; i++) {
		if (p[i].item && (run & 3))
			return false;
		run = p[i].item ? 0 : run + p[i].len;
	}
	return !(run & 3);
}
