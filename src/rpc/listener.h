/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners.  A listener accepts connections with one or two providers, and has a list
 * of its sessions (session.h).
 *
 * Failure: if no descriptor or no memory is available, the listener stops accepting for
 * a while.  If a device is removed, the listener tries to listen again every second.
 */
#ifndef RR_RPC_LISTENER_H
#define RR_RPC_LISTENER_H

#include "link/choose.h"
#include "rpc/crowd.h"
#include "rpc/dispatch.h"

/* The part of a listener that accepts connections with one provider. */
struct rr_entrance {
	struct rr_source source;
	const struct rr_prov_ops *ops;
	/* NULL = the device was removed, see reopen_timer */
	struct rr_prov_listener *prov;
	struct rpcrdma_listener *listener;
	struct rr_late late; /* accepts connections at the end of a loop iteration */
	/* consecutive iterations that did not accept connections */
	unsigned postponed;
};

struct rpcrdma_listener {
	struct rr_owner owner;
	struct rr_entrance at[RR_CHOICES];
	unsigned n_at;
	struct rr_timer drain_timer;
	/* resumes accepting after a shortage of descriptors or memory */
	struct rr_timer pause_timer;
	struct rr_timer reopen_timer; /* looks for the device again; always reserved */
	struct rpcrdma_engine *engine;
	struct rr_link_config config;
	struct rpcrdma_service *service;
	struct rr_list sessions;
	unsigned n_sessions, max_sessions;
	struct rr_crowd crowd; /* the sessions, for choosing one to close */
	bool closing;
	/* called in the engine's thread when the listener is freed; or NULL */
	void (*ended)(void *);
	void *ended_arg;
	/* called for each session that begins or ends; or NULL */
	rpcrdma_client_event_fn *event;
	void *event_arg;
	struct sockaddr_storage addr;
};

/* Frees the listener if it was closed and has no sessions left. */
void rr_listener_free_if_done(struct rpcrdma_listener *);

#endif
