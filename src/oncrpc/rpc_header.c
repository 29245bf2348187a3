/* SPDX-License-Identifier: BSD-3-Clause */
#include "oncrpc/rpc_header.h"

#include "base/cursor.h"

enum { MSG_ACCEPTED = 0, MSG_DENIED = 1, DENIED_RPC_MISMATCH = 0, DENIED_AUTH = 1 };

static void put_auth(struct rr_writer *w, const struct rpcrdma_auth *a)
{
	uint8_t *b = rr_put_space(w, 8);

	if (!b || a->len > RR_RPC_AUTH_MAX) {
		w->bad = true;
		return;
	}
	rr_store_u32(b, a->flavor);
	rr_store_u32(b + 4, a->len);
	if (a->len)
		rr_put_padded(w, a->body, a->len);
}

static void get_auth(struct rr_cursor *c, struct rpcrdma_auth *ret)
{
	const uint8_t *b = rr_get_bytes(c, 8);

	if (!b)
		return;
	ret->flavor = rr_load_u32(b);
	ret->len = rr_load_u32(b + 4);
	if (ret->len > RR_RPC_AUTH_MAX) {
		c->bad = true;
		return;
	}
	ret->body = rr_get_bytes(c, ret->len + rr_pad(ret->len));
}

int rr_rpc_put_call(void *buf, size_t size, const struct rr_rpc_call *m)
{
	struct rr_writer w = rr_writer_over(buf, size);
	uint8_t *b = rr_put_space(&w, 24);

	if (!b)
		return -EMSGSIZE;
	rr_store_u32(b, m->xid);
	rr_store_u32(b + 4, RR_RPC_CALL);
	rr_store_u32(b + 8, 2);
	rr_store_u32(b + 12, m->program);
	rr_store_u32(b + 16, m->version);
	rr_store_u32(b + 20, m->procedure);
	put_auth(&w, &m->cred);
	put_auth(&w, &m->verf);
	return rr_writer_bad(&w) ? -EMSGSIZE : (int)rr_writer_used(&w);
}

int rr_rpc_get_call(const void *buf, size_t len, struct rr_rpc_call *ret)
{
	struct rr_cursor c = rr_cursor_over(buf, len);
	const uint8_t *b = rr_get_bytes(&c, 12);
	struct rr_rpc_call m = {0};

	if (!b || rr_load_u32(b + 4) != RR_RPC_CALL)
		return -EBADMSG;
	m.xid = rr_load_u32(b);
	m.rpcvers = rr_load_u32(b + 8);
	if (m.rpcvers == 2) {
		b = rr_get_bytes(&c, 12);
		if (!b)
			return -EBADMSG;
		m.program = rr_load_u32(b);
		m.version = rr_load_u32(b + 4);
		m.procedure = rr_load_u32(b + 8);
		get_auth(&c, &m.cred);
		get_auth(&c, &m.verf);
	}
	if (rr_cursor_bad(&c))
		return -EBADMSG;
	*ret = m;
	return (int)(c.pos - (const uint8_t *)buf);
}

int rr_rpc_put_reply(void *buf, size_t size, const struct rr_rpc_reply *m)
{
	struct rr_writer w = rr_writer_over(buf, size);

	rr_put_u32(&w, m->xid);
	rr_put_u32(&w, RR_RPC_REPLY);
	if (m->status >= RPCRDMA_RPC_MISMATCH) {
		rr_put_u32(&w, MSG_DENIED);
		if (m->status == RPCRDMA_AUTH_ERROR) {
			rr_put_u32(&w, DENIED_AUTH);
			rr_put_u32(&w, m->auth_stat);
		} else {
			rr_put_u32(&w, DENIED_RPC_MISMATCH);
			rr_put_u32(&w, m->low);
			rr_put_u32(&w, m->high);
		}
	} else {
		rr_put_u32(&w, MSG_ACCEPTED);
		put_auth(&w, &m->verf);
		rr_put_u32(&w, (uint32_t)m->status);
		if (m->status == RPCRDMA_PROG_MISMATCH) {
			rr_put_u32(&w, m->low);
			rr_put_u32(&w, m->high);
		}
	}
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
	uint32_t stat;

	get_auth(c, &m->verf);
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
