/* SPDX-License-Identifier: BSD-3-Clause */
/* Host authentication within the exchange of properties.  See auth.c. */
#ifndef RR_CONN_AUTH_H
#define RR_CONN_AUTH_H

#include "conn/mbuf.h"
#include "conn/states.h"

struct rr_auth_state {
	enum rr_auth_phase phase;
	bool satisfied; /* the hook has accepted the peer */
	bool refused;   /* the hook has refused the peer, but our last step has not been
	                 * sent yet */
	bool heard;     /* a step from the peer has arrived */
	bool contradicted;  /* the peer seems to have refused some of our properties */
	unsigned steps;     /* steps so far, of both peers */
	struct rr_mbuf out; /* our next step, encoded as opaque<> */
	uint32_t xid;       /* XID of the message with our last step */
};

void rr_auth_init(struct rr_conn *);
/* Returns true if the dialogue has ended, or authentication is not used. */
bool rr_auth_settled(const struct rr_conn *);
/* Processes a step from the peer.  Its opaque<> encoding has already been checked. */
void rr_auth_received(struct rr_conn *, const uint8_t *data, uint32_t len);
/* Passes to the hook a property that was sent (@own) or received. */
void rr_auth_property(struct rr_conn *, bool own, const struct rr_prop *);
/* Records that the peer refused some of our properties. */
void rr_auth_rejected(struct rr_conn *);
/* Begins or ends the dialogue as soon as this is possible.  Call it after an
 * RDMA2_CONNPROP has been processed or sent, and after a step has been sent. */
void rr_auth_go_on(struct rr_conn *);
/* Records that our step has been sent completely. */
void rr_auth_step_sent(struct rr_conn *);
void rr_auth_fini(struct rr_conn *);

#endif
