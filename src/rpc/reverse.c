/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server's object for calls to one of its clients.  [v2 §4.5]
 *
 * Normal path: the object is made from a request, and borrows the link of the request's
 * session.  Its calls are handled like a client's (calls.c).  The session is kept open
 * while such an object uses it.
 *
 * Failure: a server does not connect to clients.  When the session has ended, the
 * object's outstanding calls wait.  Only the upper layer can identify a client.  It
 * names another request from the same client, and the calls are sent on that request's
 * connection with their old XIDs.  A call that has waited for retry_ns ends with
 * -EHOSTUNREACH [v2 §4.5.5].
 *
 * A relay's object stands for one session, and ends with it (relay.h).
 *
 * Calls outstanding on an old connection are not moved while that connection exists: if
 * a call was sent on two connections, the client could execute it twice.
 */
#include <stdlib.h>

#include "rpc/calls.h"
#include "rpc/session.h"

struct reverse {
	struct rpcrdma_conn conn;
	struct rr_session *session; /* session whose link is used; or NULL */
	struct rr_list on_session;
	bool owns; /* closing the object closes the session */
};

static struct reverse *reverse_of(struct rpcrdma_conn *c)
{
	return rr_container_of(c, struct reverse, conn);
}

/* -- without a link -------------------------------------------------------- */

static void ignore_reply(struct rpcrdma_conn *c)
{
}

/* Does nothing: calls wait for another session, up to absence_ns. */
static void ignore_wait(struct rpcrdma_conn *c)
{
}

/* -- binding to sessions --------------------------------------------------- */

static void bind_session(struct reverse *r, struct rr_session *s)
{
	struct rpcrdma_conn *c = &r->conn;

	r->session = s;
	rr_list_push(&s->reverses, &r->on_session);
	rr_calls_link(c, s->link);
	c->error = 0;
	c->reason[0] = '\0';
	rr_calls_submit(c);
}

static void unbind_session(struct reverse *r)
{
	struct rr_session *s = r->session;

	if (!s)
		return;
	r->session = NULL;
	rr_list_del(&r->on_session);
	s->dispatch.active = s->dispatch.engine->now;
}

void rr_reverse_lost(struct rr_session *s, int error, const char *reason)
{
	struct rr_list *n;

	while ((n = rr_list_first(&s->reverses))) {
		struct reverse *r = rr_container_of(n, struct reverse, on_session);

		error = error ? error : -ECONNRESET;
		unbind_session(r);
		rr_calls_unlink(&r->conn, error, reason);
		r->conn.over = r->owns;
		if (r->owns)
			rr_calls_end_waiting(&r->conn, error);
		rr_calls_submit(&r->conn);
	}
}

/* -- set-up and destruction ------------------------------------------------ */

static void close_reverse(struct rpcrdma_conn *c)
{
	struct reverse *r = reverse_of(c);

	if (r->owns && r->session) {
		r->session->is_relayed = false;
		rr_link_close(r->session->link, 0);
	}
	unbind_session(r);
	c->link = NULL;
}

static void free_reverse(struct rpcrdma_conn *c)
{
	rr_calls_fini(c);
	free(reverse_of(c));
}

static const struct rr_calls_ops reverse_ops = {
        .replied = ignore_reply,
        .waits = ignore_wait,
        .close = close_reverse,
        .free = free_reverse,
};

/* Finds the session that received @q.  Returns 0, -EINVAL if @q was received by a
 * client, or -ENOTCONN if the session can no longer send calls. */
static int session_of_request(const struct rpcrdma_request *q, struct rr_session **ret)
{
	struct rr_dispatch *dispatch = rr_request_dispatch(q);
	struct rr_link *l = dispatch->link;

	if (!l->server)
		return -EINVAL; /* a client uses its own connection instead */
	if (rr_link_is_lost(l) || rr_link_was_closed(l))
		return -ENOTCONN;
	*ret = rr_container_of(dispatch, struct rr_session, dispatch);
	return 0;
}

int rr_reverse_new(struct rr_session *s, uint64_t retry_ns, bool owns,
                   struct rpcrdma_conn **ret)
{
	struct reverse *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	rr_list_init(&r->on_session);
	err = rr_calls_init(&r->conn, s->dispatch.engine, &reverse_ops);
	if (err) {
		free_reverse(&r->conn);
		return err;
	}
	r->conn.prov = s->link->prov;
	r->conn.absence_ns = retry_ns ? retry_ns : RR_SEC(60);
	r->owns = owns;
	bind_session(r, s);
	*ret = &r->conn;
	return 0;
}

int rpcrdma_request_reverse(struct rpcrdma_request *q, uint64_t retry_ns,
                            struct rpcrdma_conn **ret)
{
	struct rr_session *s;
	int err;

	if (!q || !ret)
		return -EINVAL;
	err = session_of_request(q, &s);
	return err ? err : rr_reverse_new(s, retry_ns, false, ret);
}

int rpcrdma_conn_rebind(struct rpcrdma_conn *c, struct rpcrdma_request *q)
{
	struct rr_session *s;
	int err;

	if (!c || !q || c->ops != &reverse_ops || c->closed || reverse_of(c)->owns)
		return -EINVAL;
	err = session_of_request(q, &s);
	if (err)
		return err;
	if (c->engine != s->dispatch.engine)
		return -EXDEV;
	unbind_session(reverse_of(c));
	bind_session(reverse_of(c), s);
	return 0;
}
