/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feature RPRC: responder-provided Read chunks.                             [ext §3]
 *
 * A Responder may send a long Reply as an RDMA2_NOMSG with a Position Zero Read chunk.
 * The Requester reads the Reply from the Responder's memory and then sends a pull
 * completion notification: an RDMA2_DONE, or an RDMA2_MSG_DONE that also carries a Call.
 *
 *   rprc.c         properties; notifications received; timers
 *   exposure.c     the Responder's table of exposed replies
 *   reply_pull.c   the Requester's RDMA Reads of a Reply
 *   notice.c       the notifications that the Requester owes
 */
#ifndef RR_CONN_RPRC_RPRC_H
#define RR_CONN_RPRC_RPRC_H

#include "conn/feature.h"
#include "conn/requester.h"
#include "conn/responder.h"
#include "conn/slab.h"
#include "conn/rprc/rprc_states.h"
#include "wire/rprc/rprc_wire.h"

enum {
	RR_CONT_HARD_MAX = 1024,   /* default limit on the messages of a continued
	                            * reply, if replies can be exposed */
	RR_EXPOSED_RUNS = 4,       /* contiguous runs of a reply exposed in place */
	RR_EXPOSED_RUN_MIN = 4096, /* octets of the shortest such run */
	RR_DONE_XIDS = 64,         /* maximum number of XIDs in @done_xids */
	RR_MAX_NOTICES = 4096,     /* notifications that wait to be sent; the connection
	                            * ends if there are more */
};

/* A reply that the peer may read.                                         [ext §3.8] */
struct rr_exposure {
	struct rr_list link; /* rr_rprc.exposures */
	struct rr_list due;  /* rr_rprc.due, while the deadline runs */
	enum rr_exposure_phase phase;
	uint32_t xid;
	struct rr_request_state
	        *request;     /* the request that it answers; NULL after that
	                                   * request has ended */
	struct rr_mbuf copy;  /* the reply; empty if the user's memory is exposed */
	uint64_t bytes;       /* octets exposed */
	bool in_place;        /* the exposed octets are in the user's memory */
	rr_time since;        /* when the memory was reserved */
	rr_time deadline;     /* when the exposure ends; RR_TIME_NEVER = when the peer
	                      * notifies */
	unsigned regions_out; /* outstanding registrations and invalidations */
	bool failed;          /* a region could not be registered */
	unsigned n;           /* number of regions */
	struct rr_mr region[RR_EXPOSED_RUNS];
};

/* The pull of a Reply. */
struct rr_reply_pull {
	struct rr_list link;    /* rr_rprc.pulls */
	struct rr_list waiting; /* rr_rprc.waiting, while there is no memory */
	struct rr_call_state *call;
	rr_time received;    /* when the Reply was received */
	uint32_t inv_handle; /* handle that the notification may invalidate; 0 = none */
	int status;          /* first failure; 0 = none */
	uint64_t bytes;      /* octets of the Reply's Payload stream */
	unsigned n;          /* number of segments */
	struct rr_segment seg[RR_WIRE_MAX_SEGMENTS];
};

/* The notifications that a Call has carried in an RDMA2_MSG_DONE. */
struct rr_carried {
	struct rr_list link; /* rr_rprc.carried */
	struct rr_wire_done_list list;
};

/* A pull completion notification that waits to be sent.                   [ext §3.5] */
struct rr_notice {
	struct rr_list link; /* rr_rprc.notices */
	uint32_t xid;
	uint32_t inv_handle; /* handle that its Send may invalidate; 0 = none */
	rr_time inv_until;   /* when the peer may have invalidated the handle itself */
	rr_time due;         /* when it no longer waits for a Call to carry it */
};

/* State of the feature in one connection. */
struct rr_rprc {
	bool exposes;         /* as Responder, we may send Replies with a Read chunk */
	bool pulls;           /* as Requester, we pull Replies */
	bool carries;         /* the peer accepts RDMA2_MSG_DONE */
	uint32_t lifetime_ms; /* of the peer's exposures; 0 = no limit */
	uint32_t max_reply;   /* longest reply that the peer pulls, octets; 0 = no
	                       * limit */
	struct rr_list exposures;
	struct rr_list due; /* exposures with a deadline, the first one first */
	unsigned n_exposures;
	uint64_t exposed_bytes;
	struct rr_list pulls_list; /* every pull */
	struct rr_list waiting;    /* pulls that wait for memory */
	struct rr_list notices;
	unsigned n_notices;
	struct rr_list carried; /* notifications that outstanding Calls have carried */
	bool mute;              /* the peer does not know RDMA2_DONE */
	uint32_t done_xids[RR_DONE_XIDS]; /* ring of XIDs of RDMA2_DONE messages sent */
	unsigned n_done_xids;             /* number of XIDs ever stored in the ring */
	struct rr_slab exposure_slab, pull_slab, notice_slab, carried_slab;
};

extern const struct rr_feature_ops rr_rprc_ops;

void rr_rprc_init(struct rr_conn *);
/* Returns until when the peer surely exposes a Reply that was received at @received:
 * nine tenths of the lifetime that the peer has advertised. */
rr_time rr_rprc_exposed_until(const struct rr_conn *, rr_time received);

/* -- exposure.c ------------------------------------------------------------ */

/* Returns true if our replies may be exposed. */
bool rr_rprc_may_expose(const struct rr_conn *);
/* Returns true if a reply of @bytes octets may be exposed while no other reply is. */
bool rr_exposure_allows(const struct rr_conn *, uint64_t bytes);
/* Exposes the stream of the request's reply.  Returns false, and changes nothing, if
 * that is not possible.  Otherwise the provider registers the memory, and
 * rr_reply_exposed or rr_reply_not_exposed follows. */
bool rr_exposure_begin(struct rr_conn *, struct rr_request_state *) RR_MUST_CHECK;
/* Replaces the request's chunk lists by lists that have the exposed memory as Position
 * Zero Read chunk.  Returns false if there is no memory. */
bool rr_exposure_list(struct rr_conn *, struct rr_exposure *) RR_MUST_CHECK;
/* Call when a message of the request's reply is sent.  Has no effect if the message does
 * not announce the exposure, because that has failed. */
void rr_exposure_post(struct rr_exposure *);
/* Call when that Send has completed: the lifetime begins. */
void rr_exposure_sent(struct rr_conn *, struct rr_exposure *);
/* Call when the Reply cannot be sent. */
void rr_exposure_drop(struct rr_conn *, struct rr_exposure *);
/* Returns true if the request must not end yet: its user's memory is exposed. */
bool rr_exposure_holds(const struct rr_request_state *);
/* Detaches the exposure from its request. */
void rr_exposure_detach(struct rr_request_state *);
/* Ends the exposure of every reply to @xid that was announced.  Returns false if there
 * is none. */
bool rr_exposure_notified(struct rr_conn *, uint32_t xid);
/* Records that the peer's Send has invalidated @handle.  Returns false if no announced
 * reply to @xid has that handle. */
bool rr_exposure_take_remote(struct rr_conn *, uint32_t xid, uint32_t handle);
/* Ends the exposures whose lifetime has passed. */
void rr_exposure_tick(struct rr_conn *);
rr_time rr_exposure_deadline(const struct rr_conn *);
/* Returns when the oldest exposure began, or RR_TIME_NEVER. */
rr_time rr_exposure_since(const struct rr_conn *);
/* Frees every exposure, after the connection is lost. */
void rr_exposure_lost(struct rr_conn *);

/* -- reply_pull.c ---------------------------------------------------------- */

/* Returns true if we pull Replies to our calls. */
bool rr_rprc_may_pull(const struct rr_conn *);
/* Processes a Reply with a Read list; @s is its call, or NULL.  Returns false if the
 * Reply must be processed, and refused, like any other. */
bool rr_reply_pull_received(struct rr_conn *, struct rr_call_state *s,
                            const struct rr_msg *);
/* Returns true if a Reply to @xid is being pulled, even if its call has ended. */
bool rr_reply_pull_busy(const struct rr_conn *, uint32_t xid);
/* Notifies the peer of a message that is not processed, if it is a Reply with a Read
 * list.  If an earlier Reply with its XID is being pulled, the notification after that
 * pull is for both. [D5] */
void rr_reply_pull_unread(struct rr_conn *, const struct rr_msg *);
/* Starts the first pull that waits for memory.  Returns false if there is none, or
 * still no memory. */
bool rr_reply_pull_next(struct rr_conn *);
/* Returns when the first waiting pull is given up. */
rr_time rr_reply_pull_deadline(const struct rr_conn *);
/* Gives up a pull whose call ends early. */
void rr_reply_pull_end(struct rr_conn *, struct rr_call_state *);
/* Frees the call's pull. */
void rr_reply_pull_free(struct rr_conn *, struct rr_call_state *);

/* -- notice.c -------------------------------------------------------------- */

/* Queues a notification about @xid.  @pull is the pull that has completed; NULL for a
 * Reply that was not pulled. */
void rr_notice_queue(struct rr_conn *, uint32_t xid, const struct rr_reply_pull *pull);
/* Sends the first notification as RDMA2_DONE, if it is due.  The caller has checked that
 * there are a notification and a credit.  Returns false if it is not due. */
bool rr_notice_transmit(struct rr_conn *);
/* Handles RDMA2_ERR_INVAL_HTYPE about @xid.  Returns true if we have sent an RDMA2_DONE
 * with this XID.  In that case no further RDMA2_DONE is sent. [ext §2.4] */
bool rr_notice_refused(struct rr_conn *, uint32_t xid);
rr_time rr_notice_deadline(const struct rr_conn *);
/* Returns true if a notification about @xid is or will be owed, so that no Call may
 * use @xid. */
bool rr_notice_owed(const struct rr_conn *, uint32_t xid);
/* Has the Call carry waiting notifications, as many as fit in @space octets.  Returns
 * the list to encode, lent until the Call ends, or NULL if there is nothing to carry.
 * Stores the handle to invalidate in @ret_inv. */
const struct rr_wire_done_list *rr_notice_carry(struct rr_conn *,
                                                struct rr_call_state *, size_t space,
                                                uint32_t *ret_inv);
/* Ends the Call's carriage.  If the peer may not have processed the notifications,
 * queues them again. */
void rr_notice_carried(struct rr_conn *, struct rr_call_state *, bool processed);
/* Forgets all notifications. */
void rr_notice_lost(struct rr_conn *);

#endif
