/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: connections as seen by the engine that serves them.  A session owns its
 * link, and dispatches the requests that the link receives.
 *
 * Normal path: rr_session_open makes a session for a seat (seat.h), and
 * rr_session_begin serves it.  A session that is idle for too long is closed.  When its
 * link has ended, the session is freed.
 */
#ifndef RR_RPC_SESSION_H
#define RR_RPC_SESSION_H

#include "rpc/dispatch.h"
#include "rpc/seat.h"

struct rr_session {
	struct rr_dispatch dispatch;
	struct rr_list link_sessions; /* node in the hall's list */
	struct rr_timer idle_timer;
	struct rpcrdma_listener *listener; /* not to be changed in the hall's thread */
	struct rr_seat *seat;
	struct rr_link *link;
	struct rr_list reverses; /* objects for calls in the reverse direction */
	bool is_relayed; /* a relay has an object for the session, not yet closed */
	struct sockaddr_storage peer; /* the peer's address, kept for the last event */
};

/* Makes the session of a seat, with the next connection of the provider's listener.
 * Returns 0, -ENOMEM, or an error from rr_link_accept. */
int rr_session_open(struct rr_seat *, struct rr_prov_listener *) RR_MUST_CHECK;
/* Serves the session, or closes it if its seat was refused. */
void rr_session_begin(struct rr_session *);
/* Returns true if requests are being executed, calls in the reverse direction are
 * outstanding, or the client may still read a reply. */
bool rr_session_is_busy(const struct rr_session *);
/* Returns true if a session of @kind may be closed to make room: no handler is executing
 * a request, and the client cannot be executing a call in the reverse direction. */
bool rr_session_may_go(const struct rr_session *, enum rr_guest_kind kind);
/* Ends the session at once, to make room for another.  Returns false, without any
 * effect, if the session has changed since it was chosen and must stay. */
bool rr_session_evict(struct rr_session *);
/* Makes an object for calls in the reverse direction (reverse.c).  An object that @owns
 * the session closes it when the object is closed, and can make no calls after the end
 * of the session; its calls do not wait for another session.  Returns 0 or -ENOMEM. */
int rr_reverse_new(struct rr_session *, uint64_t retry_ns, bool owns,
                   struct rpcrdma_conn **ret) RR_MUST_CHECK;
/* Unlinks the session's objects for calls in the reverse direction (reverse.c), because
 * the session is lost. */
void rr_reverse_lost(struct rr_session *s, int error, const char *reason);

#endif
