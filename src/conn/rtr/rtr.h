/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The feature RTR: placement of items by Send, and counted continuation.  [ext §5]
 *
 *   rtr_layout.h     rtr_layout.c     the layout of a group of transmissions
 *   rtr_placement.h  rtr_placement.c  checks of a complete group
 *   rtr_group.h      rtr_group.c      the group that is being received
 *   rtr.h            rtr.c            properties; structure of Receive buffers
 *                    rtr_receive.c    groups received, and reports about them
 *                    rtr_intake.c     requests received
 *                    rtr_response.c   responses to send
 *                    rtr_call.c       requests to send
 *                    rtr_result.c     responses received
 *                    rtr_transmit.c   groups sent; messages that wait for credits
 *
 * A group is sent at once, when there is a credit for each of its transmissions, so
 * that no other message can come between them.
 */
#ifndef RR_CONN_RTR_H
#define RR_CONN_RTR_H

#include "conn/feature.h"
#include "conn/recv.h"
#include "conn/requester.h"
#include "conn/responder.h"
#include "conn/rtr/rtr_group.h"
#include "conn/rtr/rtr_placement.h"
#include "conn/slab.h"

enum {
	RR_RTR_MAX_COUNT = 64,   /* transmissions in a group that we accept or send */
	RR_RTR_RECENT = 64,      /* XIDs of responses that may be reported */
	RR_RTR_MAX_REPORTS = 32, /* reports that wait to be sent */
	RR_RTR_PAYLOAD = 1024, /* octets before the targetable segments of our buffers,
	                         * unless the inline threshold needs more */
	RR_RTR_ALIGN = 4096,   /* alignment of our targetable segments */
};

/* A group received: its header, and the Receive buffers of its transmissions.  An array
 * entry is initialized when it comes into use, because most groups are short. */
struct rr_rtr_incoming {
	uint32_t xid;
	bool response;
	uint32_t n;                  /* transmissions received */
	uint64_t charged;            /* octets charged to the quota for the buffers */
	struct rr_rtr_outgoing *out; /* requests: the response, or NULL */
	struct rr_rbuf *rbuf[RR_RTR_MAX_COUNT]; /* NULL = returned */
	struct rr_rtr_got got[RR_RTR_MAX_COUNT];
	struct rr_rtr_header h;
	struct rr_rtr_placement place;
	/* Requests: memory of each item, by index in @h.item. */
	const uint8_t *base[RR_WIRE_RTR_MAX_ITEMS];
	uint8_t *copy[RR_WIRE_RTR_MAX_ITEMS]; /* own memory for @base, or NULL */
};

/* An item that is not in the Payload stream of a message to send. */
struct rr_rtr_excised {
	uint32_t disp; /* position in the virtual stream */
	const void *base;
	uint32_t length;
};

/* A group to send.  Array entries that are not in use are not initialized. */
struct rr_rtr_outgoing {
	struct rr_stream *payload; /* lent */
	unsigned n_items;  /* requests: items placed by Send.  Responses: pieces */
	uint32_t reserved; /* requests: Receives still reserved for the response */
	uint32_t written;  /* requests: bit mask of the RR_DIRECT_FIT results that are
	                    * written, because the response cannot hold them */
	/* Requests: the response in whose Receive buffers results are lent, or NULL. */
	struct rr_rtr_incoming *lent;
	bool reported; /* requests: a response was reported as faulty */
	bool plain;    /* requests: sent by base header types instead */
	struct rr_rtr_header h;
	struct rr_rtr_load load;
	struct rr_rtr_plan plan;
	struct rr_stream items; /* the items placed by Send, one after the other */
	struct rr_rtr_excised item[RR_WIRE_RTR_MAX_ITEMS];
	/* Responses: the item of each direction; NULL = none. */
	const struct rr_piece *result[RR_WIRE_RTR_MAX_DIRS];
	struct rr_piece pieces[RR_CALL_MAX_PIECES];
};

struct rr_rtr_report {
	uint32_t xid, flags;
	struct rr_rtr_error e;
};

struct rr_rtr {
	struct rr_rbstruct own;         /* structure of our Receive buffers */
	uint32_t support;               /* what the peer accepts from us; 0 = nothing */
	const struct rr_rbstruct *peer; /* structure of the peer's Receive buffers */
	uint32_t limit;                 /* longest transmission that we send, octets */
	uint32_t take_limit;     /* longest transmission that the peer sends, octets */
	uint32_t request_limit;  /* transmissions in a request to the peer */
	uint32_t target_bytes;   /* maximum octets of items in one transmission */
	uint32_t response_limit; /* transmissions in a response of the peer */
	bool refused;            /* the peer does not know the header types after all */

	struct rr_rtr_group group;
	struct rr_rtr_incoming *in;     /* the open group, or NULL */
	uint32_t reserved;              /* Receives reserved for responses */
	uint32_t recent[RR_RTR_RECENT]; /* XIDs of responses sent; ring, 0 = none */
	unsigned n_recent;
	/* Room for RR_RTR_MAX_REPORTS, from the first report on; or NULL. */
	struct rr_rtr_report *report;
	unsigned n_reports;

	/* The message that waits for several credits, or NULL. */
	struct rr_call_state *wait_call;
	struct rr_request_state *wait_reply;
	rr_time wait_until;
	struct rr_slab in_slab, out_slab;
};

extern const struct rr_feature_ops rr_rtr_ops;

/* -- rtr.c ----------------------------------------------------------------- */

/* Initialises the state, and determines the structure of our Receive buffers. */
void rr_rtr_conn_init(struct rr_conn *);
/* Returns the number of octets to allocate for a Receive buffer of @bytes octets. */
size_t rr_rtr_block_bytes(const struct rr_conn *, size_t bytes);
/* Returns where in the allocated block the Receive buffer begins. */
uint8_t *rr_rtr_align(const struct rr_conn *, uint8_t *block);
/* Returns the most transmissions of a group to send: one less than the credits that can
 * be held, at least 1. */
uint32_t rr_rtr_most(const struct rr_conn *);
/* Return the most transmissions of a request that we accept, and of a response that we
 * send. */
uint32_t rr_rtr_own_request_limit(const struct rr_conn *);
uint32_t rr_rtr_own_response_limit(const struct rr_conn *);

/* -- rtr_receive.c --------------------------------------------------------- */

/* Handles a message of the feature's types. */
void rr_rtr_received(struct rr_conn *, struct rr_msg *);
/* Notes a message of any other type. */
void rr_rtr_interrupted(struct rr_conn *, const struct rr_msg *);
/* Queues a report about a transmission of the group @in. */
void rr_rtr_report(struct rr_conn *, bool response, const struct rr_rtr_error *);
/* Sends the next report.  Returns false if there is none. */
bool rr_rtr_send_report(struct rr_conn *);
/* Stores @in->xid and the direction in @e, as the names of transmission @e->bad.seq and
 * of its group. */
void rr_rtr_name(const struct rr_rtr_incoming *, struct rr_rtr_error *e);
/* Returns the Receive buffers, the memory and the quota of the group. */
void rr_rtr_incoming_free(struct rr_conn *, struct rr_rtr_incoming *);
/* Returns the octets of Payload stream in all transmissions. */
uint64_t rr_rtr_payload_bytes(const struct rr_rtr_incoming *);
/* Copies the Payload streams of all transmissions. */
void rr_rtr_copy_payload(const struct rr_rtr_incoming *, uint8_t *to);
/* Copies an item that was placed by Send. */
void rr_rtr_copy_item(const struct rr_rtr_incoming *, uint32_t item, uint8_t *to);
/* Refuses the open group and the rest of it. */
void rr_rtr_drop_group(struct rr_conn *);

/* -- rtr_intake.c ---------------------------------------------------------- */

/* Checks the header of a request's first transmission.  Returns false if the request
 * must be answered with error @e. */
bool rr_rtr_check_request(const struct rr_conn *, const struct rr_rtr_header *,
                          struct rr_error *e) RR_MUST_CHECK;
/* Makes a request of a complete group, which is given. */
void rr_rtr_take_request(struct rr_conn *, struct rr_rtr_incoming *);
/* Rebuilds the unreduced Call as pieces. */
void rr_rtr_hand_over(struct rr_request_state *);
/* Frees what the request holds. */
void rr_rtr_request_free(struct rr_conn *, struct rr_request_state *);

/* -- rtr_response.c -------------------------------------------------------- */

/* Plans the response, or exposes the reply.  Returns false if the caller must send error
 * @e instead. */
bool rr_rtr_respond(struct rr_conn *, struct rr_request_state *,
                    const struct rr_piece *, unsigned n, struct rr_error *e);
/* Sends the response if there are enough credits; otherwise lets it wait at the head of
 * the queue.  Returns false if it has to wait longer. */
bool rr_rtr_transmit_response(struct rr_conn *, struct rr_request_state *);
/* Returns the length of the longest result that the response can place by Send. */
uint64_t rr_rtr_result_room(const struct rr_conn *, const struct rr_request_state *);
/* Handles a report about a response to @xid. */
void rr_rtr_response_reported(struct rr_conn *, uint32_t xid);
/* Returns the length of the header of a response to this request, without segment
 * numbers of items placed by Send. */
size_t rr_rtr_response_bytes(const struct rr_rtr_header *request);

/* -- rtr_call.c ------------------------------------------------------------ */

/* Returns true if the call may be sent as RDMA2_XMOPT_REQ. */
bool rr_rtr_may_call(const struct rr_conn *, const struct rr_call_state *);
/* Attaches an empty group to the call.  Returns false if there is no memory. */
bool rr_rtr_call_begin(struct rr_conn *, struct rr_call_state *);
/* Adds an item to be placed by Send.  Returns false if there are too many. */
bool rr_rtr_call_excise(struct rr_call_state *, uint32_t disp, const void *base,
                        size_t len);
/* Plans the group of a call whose chunks are planned.  Returns false if the call cannot
 * be sent as a group, and detaches it. */
bool rr_rtr_call_plan(struct rr_conn *, struct rr_call_state *);
/* Sends the call's group if there are enough credits and Receives.  Returns false if it
 * has to wait longer. */
bool rr_rtr_transmit_call(struct rr_conn *, struct rr_call_state *);
/* Frees the call's group. */
void rr_rtr_call_free(struct rr_conn *, struct rr_call_state *);
/* Ends the reservation of a call that ends, and its wait. */
void rr_rtr_call_end(struct rr_conn *, struct rr_call_state *);
/* Handles the error that the peer does not know the call's header type. */
void rr_rtr_refused(struct rr_conn *, struct rr_call_state *);
/* Returns true if the memory of destination @i is registered. */
bool rr_rtr_dest_needs_region(const struct rr_conn *, const struct rr_call_state *,
                              unsigned i);
/* Returns true if a destination is directed in a way that base header types lack. */
bool rr_rtr_is_directed(const struct rr_conn *, const struct rr_call_state *);
/* Chooses the longest RR_DIRECT_FIT result that was to be placed by Send, and has the
 * peer write it instead.  Returns false if there is no such result. */
bool rr_rtr_write_longest(const struct rr_conn *, struct rr_call_state *);
/* Determines how many Receives the call reserves for a response with @reply_bytes
 * octets of Payload stream.  Returns false if the response needs more Receives than may
 * be reserved. */
bool rr_rtr_plan_response(const struct rr_conn *, struct rr_call_state *,
                          size_t reply_bytes) RR_MUST_CHECK;
/* Returns true if the call can reserve now the Receives that were planned. */
bool rr_rtr_has_receives(const struct rr_conn *, const struct rr_call_state *);
/* Returns the length in octets of the longest item that a request can place by Send. */
uint64_t rr_rtr_most_placed(const struct rr_conn *);
/* Handles a report about the request @xid. */
void rr_rtr_call_reported(struct rr_conn *, uint32_t xid);

/* -- rtr_result.c ---------------------------------------------------------- */

/* Returns the outstanding call that waits for a response to @xid, or NULL. */
struct rr_call_state *rr_rtr_awaiting(const struct rr_conn *, uint32_t xid);
/* Takes a complete response, which is given. */
void rr_rtr_take_response(struct rr_conn *, struct rr_rtr_incoming *);
/* Frees all but @left of the Receives that are reserved for the call's response. */
void rr_rtr_unreserve(struct rr_conn *, struct rr_call_state *, uint32_t left);
/* Handles a response that was reported as faulty: the call waits for another one.  A
 * second fault ends it. */
void rr_rtr_response_faulty(struct rr_conn *, uint32_t xid);

/* -- rtr_transmit.c -------------------------------------------------------- */

/* What the transmissions of a group have in common. */
struct rr_rtr_sending {
	uint32_t xid, htype, flags;
	struct rr_call_state *call; /* NULL = the group is a response */
	struct rr_request_state *request;
	uint32_t inv_handle; /* invalidated by the last transmission */
};

/* Makes a group to send, whose header and items are empty.  Returns NULL if there is no
 * memory. */
struct rr_rtr_outgoing *rr_rtr_new_outgoing(struct rr_conn *);
/* Sends all transmissions of the group.  There must be a credit for each.  Returns
 * false, and sends nothing, if there is no memory. */
bool rr_rtr_send_group(struct rr_conn *, struct rr_rtr_outgoing *,
                       const struct rr_rtr_sending *) RR_MUST_CHECK;
/* Returns true if a message waits for several credits: only grant messages, errors and
 * notifications may be sent before it. */
static inline bool rr_rtr_waits(const struct rr_rtr *t)
{
	return t->wait_call || t->wait_reply;
}
/* Sends the message that waits, if possible. */
bool rr_rtr_send_waiting(struct rr_conn *);
/* Begins to wait.  One of @s and @q is not NULL. */
void rr_rtr_wait(struct rr_conn *, struct rr_call_state *s, struct rr_request_state *q);
/* Ends the wait of this call or request, if it waits. */
void rr_rtr_unwait(struct rr_conn *, const struct rr_call_state *s,
                   const struct rr_request_state *q);
/* Returns true if the message that waits has waited for group_wait. */
bool rr_rtr_overdue(const struct rr_conn *);

#endif
