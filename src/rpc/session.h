/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: connections as seen by a server.  A session owns its link, and dispatches
 * the requests that the link receives.
 *
 * Normal path: rr_session_accept makes a session, and closes another one if there are
 * too many.  A session that is idle for too long is closed.  When its link has ended,
 * the session is freed.
 */
#ifndef RR_RPC_SESSION_H
#define RR_RPC_SESSION_H

#include "rpc/crowd.h"
#include "rpc/dispatch.h"

struct rr_session {
	struct rr_dispatch dispatch;
	struct rr_list link_sessions; /* node in the listener's list */
	/* node in the listener's table of connections (crowd.h) */
	struct rr_guest guest;
	struct rr_timer idle_timer;
	struct rpcrdma_listener *listener;
	struct rr_link *link;
	struct rr_list reverses;      /* objects for calls in the reverse direction */
	struct sockaddr_storage peer; /* the peer's address, kept for the last event */
};

/* Accepts a connection.  Returns 0, -EAGAIN if no connection is waiting, -ENOMEM, or an
 * error from rr_link_accept. */
int rr_session_accept(struct rpcrdma_listener *, const struct rr_prov_ops *,
                      struct rr_prov_listener *) RR_MUST_CHECK;
/* Returns true if requests are being executed, calls in the reverse direction are
 * outstanding, or the client may still read a reply. */
bool rr_session_is_busy(const struct rr_session *);
/* Unlinks the session's objects for calls in the reverse direction (reverse.c), because
 * the session is lost. */
void rr_reverse_lost(struct rr_session *s, int error, const char *reason);

#endif
