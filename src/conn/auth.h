/* SPDX-License-Identifier: BSD-3-Clause */
/* Host authentication within the exchange of properties.  See auth.c. */
#ifndef RR_CONN_AUTH_H
#define RR_CONN_AUTH_H

#include "conn/mbuf.h"
#include "conn/states.h"

struct rr_auth_state {
	enum rr_auth_phase phase;
	bool satisfied; /* the hook has accepted the peer */
	bool refused; /* the hook has refused the peer; a last step waits to be sent */
	bool heard;   /* a step of the peer's has arrived */
	bool contradicted;  /* the peer seems to have refused properties of ours */
	unsigned steps;     /* taken, by both peers */
	struct rr_mbuf out; /* our step to be sent: opaque<>, encoded */
	uint32_t xid;       /* of the message with our last step */
};

void rr_auth_init(struct rr_conn *);
/* Is the dialogue over, or is there none? */
bool rr_auth_settled(const struct rr_conn *);
/* Takes a step of the peer's: opaque<>, checked. */
void rr_auth_received(struct rr_conn *, const uint8_t *data, uint32_t len);
/* Shows the hook another property that was sent (@own) or received. */
void rr_auth_property(struct rr_conn *, bool own, const struct rr_prop *);
/* Notes that the peer reported an error about properties of ours. */
void rr_auth_rejected(struct rr_conn *);
/* Begins or ends the dialogue if it is time.  Called when an RDMA2_CONNPROP was taken,
 * when all our properties but steps are sent, and when a step is sent. */
void rr_auth_go_on(struct rr_conn *);
/* Notes that all of our step is sent. */
void rr_auth_step_sent(struct rr_conn *);
void rr_auth_fini(struct rr_conn *);

#endif
