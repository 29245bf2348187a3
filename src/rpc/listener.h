/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners and sessions.  A session is a server's end of one connection; it
 * owns the link and what is served over it.
 */
#ifndef RR_RPC_LISTENER_H
#define RR_RPC_LISTENER_H

#include "link/choose.h"
#include "rpc/crowd.h"
#include "rpc/dispatch.h"

/* Where a listener's connections come in, by one provider. */
struct rr_entrance {
	struct rr_source source;
	const struct rr_prov_ops *ops;
	struct rr_prov_listener *prov; /* NULL: its device is gone, see reopen_timer */
	struct rpcrdma_listener *listener;
	struct rr_late late; /* accepts when the iteration is over ... */
	unsigned postponed;  /* or was put off, that often in a row */
};

struct rpcrdma_listener {
	struct rr_owner owner;
	struct rr_entrance at[RR_CHOICES];
	unsigned n_at;
	struct rr_timer drain_timer;
	struct rr_timer pause_timer;  /* accepts again, after a lack of descriptors */
	struct rr_timer reopen_timer; /* looks for the device again; reserved */
	struct rpcrdma_engine *engine;
	struct rr_link_config config;
	struct rpcrdma_service *service;
	struct rr_list sessions;
	unsigned n_sessions, max_sessions;
	struct rr_crowd crowd; /* of sessions, in order to make room */
	bool closing;
	void (*ended)(void *); /* the last word of it, in the engine; or NULL */
	void *ended_arg;
	rpcrdma_client_event_fn *event; /* or NULL */
	void *event_arg;
	struct sockaddr_storage addr;
};

struct rr_session {
	struct rr_dispatch dispatch;
	struct rr_list link_sessions; /* on the listener */
	struct rr_guest guest;        /* of the listener's crowd */
	struct rr_timer idle_timer;
	struct rpcrdma_listener *listener;
	struct rr_link *link;
	struct rr_list reverses;      /* objects that call over it */
	struct sockaddr_storage peer; /* for the last event: it outlives the endpoint */
};

/* For @s, whose link is lost or gone: reverse.c. */
void rr_reverse_lost(struct rr_session *s, int error, const char *why);

#endif
