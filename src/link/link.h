/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link is one connection of the library: it makes the sans-I/O connection and the
 * provider endpoint, joins them by a pump (pump.h), and gives the pump its turns from
 * the engine.  Its owner (a client, or a server's session) sees calls and requests
 * only.
 *
 * Life: rr_link_connect or rr_link_accept, then events to the owner, then
 * rr_link_close or a loss, then ops->closed exactly once; the engine frees the link at
 * the end of that iteration.
 */
#ifndef RR_DRIVE_LINK_H
#define RR_DRIVE_LINK_H

#include "conn/conn.h"
#include "link/choose.h"
#include "link/pump.h"
#include "loop/engine.h"
#include "hostauth/hostauth.h"
#include "prov/prov.h"

struct rr_link;
struct rr_dispatch;

/* The owner's side.  Called while the link is turned, never from a function below. */
struct rr_link_owner_ops {
	void (*ready)(struct rr_link *);
	void (*admit)(struct rr_link *, struct rr_request *); /* must decide */
	void (*request)(struct rr_link *, struct rr_request *);
	void (*request_done)(struct rr_link *, struct rr_request *, int status);
	/* The engine is being freed: gives up the requests that handlers still hold. */
	void (*drop_requests)(struct rr_link *);
	/* These three may be NULL.  The peer's first message has arrived. */
	void (*heard)(struct rr_link *);
	/* A message of an extension was sent or received. */
	void (*used)(struct rr_link *);
	/* The connection is lost and its calls are about to come back: gives up the
	 * requests that only wait. */
	void (*disconnected)(struct rr_link *);
	void (*call_done)(struct rr_link *, struct rr_call *);
	/* The connection is lost and its calls have ended, but handlers still hold
	 * requests: closed follows when they have answered.  May be NULL. */
	void (*lost)(struct rr_link *);
	void (*closed)(struct rr_link *, int error, const char *why);
	/* Memory of Calls that come in parts; its ctx is the link.  NULL: the connection
	 * counts it. */
	const struct rr_room *room;
};

struct rr_link {
	struct rr_source source;
	struct rr_timer timer;
	struct rr_member member;
	struct rpcrdma_engine *engine;
	const struct rr_prov_ops *prov;
	struct rr_conn *conn;
	struct rr_pump pump; /* joins @prov's endpoint to @conn */
	const struct rr_link_owner_ops *ops;
	void *owner;
	struct rr_dispatch *dispatch; /* the owner's, if it serves requests */
	struct rr_exts *exts;         /* NULL: no extensions */
	struct rr_hostauth *hostauth; /* NULL: off */
	uint32_t id;
	struct rr_voice voice;
	bool server;  /* transport role */
	bool turning; /* the pump runs */
	bool pins;    /* the endpoint may keep blocks of the pool registered */
	const char
	        *cause; /* why this end closed, if the provider cannot know; static */
	char why[160];
	struct rpcrdma_stats stats; /* what the owner counts: retransmits ... */
};

/* Options common to both ends, checked and with defaults filled in. */
struct rr_link_config {
	struct rpcrdma_conn_options o;
	unsigned versions;              /* enum rr_conn_versions */
	const struct rr_prov_ops *prov; /* NULL: by address (choose.h) */
	char prov_options[RR_OPTIONS_MAX];
	uint32_t rvrsdir;        /* a client's property 5 */
	uint32_t special_bytes;  /* a Special Call; 0 = max_message_bytes */
	char hostauth_name[256]; /* "": any */
};

/* Checks the program's options (NULL: none) and fills in defaults.  @host is the name
 * that the peer's certificate must have if the options name none; "": any.  Returns
 * -EINVAL, -E2BIG (base/sized.h), -EPROTONOSUPPORT for an unknown version, -ENOPKG or
 * -ENODEV (choose.h). */
int rr_link_config_from(const struct rpcrdma_conn_options *, const char *host,
                        struct rr_link_config *ret);

/* Begins to connect to @sa, as a client. */
int rr_link_connect(struct rpcrdma_engine *, const struct rr_link_config *,
                    const struct sockaddr *sa, socklen_t len,
                    const struct rr_link_owner_ops *, void *owner,
                    struct rr_link **ret);
/* Accepts the next connection of @prov's listener.  Returns -EAGAIN if none waits. */
int rr_link_accept(struct rpcrdma_engine *, const struct rr_link_config *,
                   const struct rr_prov_ops *prov, struct rr_prov_listener *,
                   const struct rr_link_owner_ops *, void *owner, struct rr_link **ret);

/* To be called after every rr_conn_* event function: has the link turned soon. */
void rr_link_touch(struct rr_link *);
void rr_link_close(struct rr_link *, int status);
/* Ends the link at once, as if the connection had been lost for @why.  Not while the
 * link is turned. */
void rr_link_break(struct rr_link *, int error, const char *why);
/* Destroys the endpoint, and ends calls and requests, at once. */
void rr_link_abort(struct rr_link *);
/* Closes the link without waiting: the owner's closed is called with @why before this
 * returns.  Not while the link is turned. */
void rr_link_evict(struct rr_link *, int status, const char *why);

/* What has happened to the link, also before its present state. */
static inline bool rr_link_was_open(const struct rr_link *l)
{
	return rr_pump_past(&l->pump, RR_LINK_EV_CONNECT);
}

static inline bool rr_link_was_ready(const struct rr_link *l)
{
	return rr_pump_past(&l->pump, RR_LINK_EV_AGREE);
}

/* rr_link_close was called. */
static inline bool rr_link_was_closed(const struct rr_link *l)
{
	return rr_pump_past(&l->pump, RR_LINK_EV_LEAVE);
}

/* The endpoint has ended. */
static inline bool rr_link_is_lost(const struct rr_link *l)
{
	return rr_pump_lost(&l->pump);
}

/* The owner's closed was called. */
static inline bool rr_link_is_over(const struct rr_link *l)
{
	return rr_pump_over(&l->pump);
}

/* The first reason for the end; 0: none, or in order. */
static inline int rr_link_error(const struct rr_link *l)
{
	return l->pump.error;
}

void rr_link_stats(const struct rr_link *, struct rpcrdma_stats *ret);
void rr_link_info(const struct rr_link *, struct rpcrdma_conn_info *ret);
/* For the link's voice, see log.h. */
rr_describe_state_fn rr_link_describe_state;

#endif
