/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: a server's ends of connections.  A session owns its link, and dispatches the
 * link's requests.
 *
 * Normal path: rr_session_accept makes a session, and another one has to make room if
 * there are too many.  A session that is idle for too long is closed.  When its link has
 * ended, the session is freed.
 */
#ifndef RR_RPC_SESSION_H
#define RR_RPC_SESSION_H

#include "rpc/crowd.h"
#include "rpc/dispatch.h"

struct rr_session {
	struct rr_dispatch dispatch;
	struct rr_list link_sessions; /* in the listener's list */
	struct rr_guest guest;        /* in the listener's crowd */
	struct rr_timer idle_timer;
	struct rpcrdma_listener *listener;
	struct rr_link *link;
	struct rr_list reverses;      /* objects for calls in reverse */
	struct sockaddr_storage peer; /* for the last event */
};

/* Accepts a connection, if one waits.  -EAGAIN: none does; other errors of
 * rr_link_accept; -ENOMEM. */
int rr_session_accept(struct rpcrdma_listener *, const struct rr_prov_ops *,
                      struct rr_prov_listener *) RR_MUST_CHECK;
/* Returns whether requests are executed, or calls in reverse are outstanding. */
bool rr_session_is_busy(const struct rr_session *);
/* Takes the link from all objects for calls in reverse (reverse.c). */
void rr_reverse_lost(struct rr_session *s, int error, const char *reason);

#endif
