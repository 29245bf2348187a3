/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners.  A listener accepts connections with one or two providers, and hands them
 * to its engines (seat.h).
 *
 * Failure: if no descriptor or no memory is available, the listener stops accepting for
 * a while.  If a device is removed, the listener tries to listen again every second.
 */
#ifndef RR_RPC_LISTENER_H
#define RR_RPC_LISTENER_H

#include "link/choose.h"
#include "rpc/crowd.h"
#include "rpc/dispatch.h"
#include "rpc/seat.h"

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
	/* resumes accepting after a shortage of descriptors or memory */
	struct rr_timer pause_timer;
	struct rr_timer reopen_timer;  /* looks for the device again; always reserved */
	struct rpcrdma_engine *engine; /* accepts connections; also in halls[0] */
	struct rr_link_config config;
	struct rpcrdma_service *service;
	struct rr_hall halls[RR_MAX_HALLS];
	unsigned n_halls, halls_over; /* over: those that have ended */
	unsigned n_counted, max_sessions;
	struct rr_crowd crowd; /* the connections, for choosing one to close */
	bool closing;
	uint64_t drain_ns; /* set before the halls are closed */
	/* called in the engine's thread when the listener is freed; or NULL */
	void (*ended)(void *);
	void *ended_arg;
	/* called for each session that begins or ends, in its engine's thread; or NULL */
	rpcrdma_client_event_fn *event;
	void *event_arg;
	struct sockaddr_storage addr;
};

/* Counts a hall that has ended.  Frees the listener when all have. */
void rr_listener_hall_over(struct rpcrdma_listener *);

#endif
