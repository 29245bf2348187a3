/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners and sessions.  A session is the server's end of one connection: it owns the
 * link, and dispatches its requests.
 */
#ifndef RR_RPC_LISTENER_H
#define RR_RPC_LISTENER_H

#include "link/choose.h"
#include "rpc/crowd.h"
#include "rpc/dispatch.h"

/* Where a listener's connections arrive, by one provider. */
struct rr_entrance {
	struct rr_source source;
	const struct rr_prov_ops *ops;
	struct rr_prov_listener *prov; /* NULL: its device is gone, see reopen_timer */
	struct rpcrdma_listener *listener;
	struct rr_late late; /* accepts at the end of an iteration */
	unsigned postponed;  /* iterations in a row that did not accept */
};

struct rpcrdma_listener {
	struct rr_owner owner;
	struct rr_entrance at[RR_CHOICES];
	unsigned n_at;
	struct rr_timer drain_timer;
	struct rr_timer pause_timer;  /* accepts again after a lack of descriptors */
	struct rr_timer reopen_timer; /* looks for the device again; promised */
	struct rpcrdma_engine *engine;
	struct rr_link_config config;
	struct rpcrdma_service *service;
	struct rr_list sessions;
	unsigned n_sessions, max_sessions;
	struct rr_crowd crowd; /* sessions, to choose one that makes room */
	bool closing;
	void (*ended)(void *); /* called in the engine when it is freed; or NULL */
	void *ended_arg;
	rpcrdma_client_event_fn *event; /* or NULL */
	void *event_arg;
	struct sockaddr_storage addr;
};

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

/* Takes the link from all objects for calls in reverse (reverse.c). */
void rr_reverse_lost(struct rr_session *s, int error, const char *reason);

#endif
