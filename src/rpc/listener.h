/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners: accept connections by one provider or two, and keep the sessions
 * (session.h).
 *
 * Failure: without descriptors or memory, accepting pauses for a while.  If a device is
 * removed, the listener looks for it until it returns.
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

/* Frees a listener that was closed, when it has no session any more. */
void rr_listener_free_if_done(struct rpcrdma_listener *);

#endif
