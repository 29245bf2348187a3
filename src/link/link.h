/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link is one transport connection of the library.  It consists of the sans-I/O
 * connection (conn.h), the provider endpoint, and a pump (pump.h) between the two.  The
 * engine runs the pumps of its links in turn.  The link's owner (a client, or a
 * server's session) handles only calls and requests.
 *
 * Life: rr_link_connect or rr_link_accept makes the link; events are passed to the
 * owner; rr_link_close or a loss ends the link.  Then ops->closed is called exactly
 * once, and the engine frees the link at the end of its current iteration.
 */
#ifndef RR_LINK_LINK_H
#define RR_LINK_LINK_H

#include "conn/conn.h"
#include "link/choose.h"
#include "link/feature_options.h"
#include "link/pump.h"
#include "loop/engine.h"
#include "hostauth/hostauth.h"
#include "prov/prov.h"

struct rr_link;
struct rr_dispatch;

/* The owner's functions.  Called while the link's pump runs, never from a function
 * declared below. */
struct rr_link_owner_ops {
	void (*ready)(struct rr_link *);
	/* Must admit, refuse or serve the request, now or later. */
	void (*admit)(struct rr_link *, struct rr_request *);
	/* Serves the request.  The dispatch also calls this function, for a request that
	 * needs no admission (rr_conn_is_whole). */
	void (*request)(struct rr_link *, struct rr_request *);
	void (*request_done)(struct rr_link *, struct rr_request *, int status);
	/* Called when the engine is freed: drops the requests that handlers have not
	 * answered. */
	void (*drop_requests)(struct rr_link *);
	/* Called when the peer's first message has arrived.  May be NULL. */
	void (*heard)(struct rr_link *);
	/* Called when an extension message has been sent or received.  May be NULL. */
	void (*used)(struct rr_link *);
	/* Called when the connection is lost, before call_done is called for its calls.
	 * Drops the requests that are still waiting to be executed.  May be NULL. */
	void (*disconnected)(struct rr_link *);
	void (*call_done)(struct rr_link *, struct rr_call *);
	/* Called when the connection is lost and its calls have ended, but handlers
	 * have not answered all requests.  @closed is called after the last answer.
	 * May be NULL. */
	void (*lost)(struct rr_link *);
	void (*closed)(struct rr_link *, int error, const char *why);
	/* Reserves memory for Calls that arrive in parts; its ctx is the link.  NULL =
	 * the connection counts this memory itself. */
	const struct rr_room *room;
	/* Reserves memory for exposed replies; its ctx is the link.  NULL = no limit
	 * other than the connection's. */
	const struct rr_exposure_budget *exposures;
};

struct rr_link {
	struct rr_source source;
	struct rr_timer timer;
	struct rr_member member;
	struct rpcrdma_engine *engine;
	const struct rr_prov_ops *prov;
	struct rr_conn *conn;
	struct rr_pump pump;           /* joins @prov's endpoint to @conn */
	struct rr_link_memory *shared; /* by the engine's links */
	const struct rr_link_owner_ops *ops;
	void *owner;
	/* the owner's dispatch, if it serves requests; or NULL */
	struct rr_dispatch *dispatch;
	struct rr_exts *exts;         /* NULL = no extensions */
	struct rr_hostauth *hostauth; /* NULL = host authentication is off */
	uint32_t id;
	struct rr_voice voice;
	bool server;  /* transport role */
	bool turning; /* the pump is running */
	bool pins;    /* the endpoint may keep the pool's blocks registered */
	/* reason for a local close that the provider cannot know; static, or NULL */
	const char *cause;
	char why[160];
	/* events counted by the owner and the link, not by connection or provider */
	struct rpcrdma_stats stats;
};

/* Options for clients and servers, checked and with defaults filled in. */
struct rr_link_config {
	struct rpcrdma_conn_options o;
	unsigned versions;              /* enum rr_conn_versions */
	const struct rr_prov_ops *prov; /* NULL = chosen by address (choose.h) */
	char prov_options[RR_OPTIONS_MAX];
	uint32_t rvrsdir;        /* value of property 5 that a client sends */
	uint32_t special_bytes;  /* limit of a Special Call; 0 = max_message_bytes */
	char hostauth_name[256]; /* name in the peer's certificate; "" = any */
	struct rr_feature_options features;
};

/* Checks the program's options (NULL = none) and fills in defaults.  @host is the name
 * that the peer's certificate must contain if the options have no such name; "" = any.
 * Returns 0, -EINVAL, -E2BIG (base/sized.h), -EPROTONOSUPPORT for an unknown version,
 * -ENOPKG or -ENODEV (choose.h). */
int rr_link_config_from(const struct rpcrdma_conn_options *, const char *host,
                        struct rr_link_config *ret);

/* Starts to connect to @sa, as a client. */
int rr_link_connect(struct rpcrdma_engine *, const struct rr_link_config *,
                    const struct sockaddr *sa, socklen_t len,
                    const struct rr_link_owner_ops *, void *owner,
                    struct rr_link **ret);
/* Accepts the next connection at @prov's listener.  Returns -EAGAIN if none is
 * waiting. */
int rr_link_accept(struct rpcrdma_engine *, const struct rr_link_config *,
                   const struct rr_prov_ops *prov, struct rr_prov_listener *,
                   const struct rr_link_owner_ops *, void *owner, struct rr_link **ret);

/* Has the engine run the link's pump soon.  Call this after each rr_conn_* function
 * that may have made actions. */
void rr_link_touch(struct rr_link *);
void rr_link_close(struct rr_link *, int status);
/* Ends the link at once, as if the connection had been lost; @why is the reason that is
 * reported.  Must not be called while the pump is running. */
void rr_link_break(struct rr_link *, int error, const char *why);
/* Destroys the endpoint, and ends all calls and requests at once. */
void rr_link_abort(struct rr_link *);
/* Closes the link without waiting.  The owner's @closed is called with @why before this
 * function returns.  Must not be called while the pump is running. */
void rr_link_evict(struct rr_link *, int status, const char *why);

/* The next two functions return true if the endpoint has ever been connected, and if
 * the connection has ever been ready. */
static inline bool rr_link_was_open(const struct rr_link *l)
{
	return rr_pump_past(&l->pump, RR_LINK_EV_CONNECT);
}

static inline bool rr_link_was_ready(const struct rr_link *l)
{
	return rr_pump_past(&l->pump, RR_LINK_EV_AGREE);
}

/* Returns true if rr_link_close was called. */
static inline bool rr_link_was_closed(const struct rr_link *l)
{
	return rr_pump_past(&l->pump, RR_LINK_EV_LEAVE);
}

/* Returns true if the endpoint has ended. */
static inline bool rr_link_is_lost(const struct rr_link *l)
{
	return rr_pump_lost(&l->pump);
}

/* Returns true if the owner's @closed was called. */
static inline bool rr_link_is_over(const struct rr_link *l)
{
	return rr_pump_over(&l->pump);
}

/* Returns the first error that ended the link; 0 = none, or an orderly close. */
static inline int rr_link_error(const struct rr_link *l)
{
	return l->pump.error;
}

/* Returns true if the link ended without an error, was aborted locally, or was closed
 * because it was idle. */
bool rr_link_ended_in_order(const struct rr_link *);
void rr_link_stats(const struct rr_link *, struct rpcrdma_stats *ret);
void rr_link_info(const struct rr_link *, struct rpcrdma_conn_info *ret);
/* Describes the link's state in log lines, see log.h. */
rr_describe_state_fn rr_link_describe_state;

#endif
