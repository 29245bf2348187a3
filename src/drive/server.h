/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners and sessions.  A session is a server's end of one connection; it
 * owns the link, its requests and the memory they hold.
 */
#ifndef RR_DRIVE_SERVER_H
#define RR_DRIVE_SERVER_H

#include "drive/link.h"
#include "drive/rpcmsg.h"
#include "drive/service.h"

struct rpcrdma_listener {
	struct rr_owner owner;
	struct rr_source source;
	struct rr_timer drain_timer;
	struct rr_timer pause_timer; /* accepts again, after a lack of descriptors */
	struct rpcrdma_engine *engine;
	struct rr_link_config config;
	struct rr_prov_listener *prov;
	struct rpcrdma_service *service;
	struct rr_list sessions;
	unsigned n_sessions, max_sessions;
	bool closing;
	struct sockaddr_storage addr;
};

struct rr_session {
	struct rr_list link_sessions; /* on the listener */
	struct rr_timer idle_timer;
	struct rpcrdma_listener *listener;
	struct rr_link *link;
	struct rr_list all; /* requests with handlers, held, or being answered */
	struct rr_list held; /* requests that wait for memory of others */
	unsigned requests; /* with handlers, or being answered */
	rr_time active; /* last request began or ended */
	uint64_t alloc_bytes; /* held by requests' results; atomic */
};

/* A request's life: serve.c.  The session's owner operations call these. */
void rr_serve_admit(struct rr_link *, struct rr_request *);
void rr_serve_begin(struct rr_link *, struct rr_request *);
void rr_serve_end(struct rr_link *, struct rr_request *, int status);
void rr_serve_drop(struct rr_link *);
/* After a request ended: the listener may be waiting for it. */
void rr_session_settle(struct rr_session *);

#endif
