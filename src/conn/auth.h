/* SPDX-License-Identifier: BSD-3-Clause */
/* Host authentication within the exchange of properties. */
#ifndef RR_CONN_AUTH_H
#define RR_CONN_AUTH_H

#include "conn/mbuf.h"
#include "conn/states.h"

struct rr_auth_state {
	enum rr_auth_phase phase;
	bool satisfied;     /* the hook said so */
	bool refused;       /* it said no, and the peer is still to be told why */
	bool heard;         /* a step of the peer's came */
	bool contradicted;  /* the peer seems to have refused what the proof is about */
	unsigned steps;     /* of both */
	struct rr_mbuf out; /* the own step: opaque<>, encoded */
	uint32_t xid;       /* of the message that carried the last one */
};

void rr_auth_init(struct rr_conn *);
/* Nothing more of ours depends on the dialogue. */
bool rr_auth_settled(const struct rr_conn *);
/* A step of the peer's: opaque<>, checked. */
void rr_auth_received(struct rr_conn *, const uint8_t *data, uint32_t len);
/* Another property went out or came. */
void rr_auth_property(struct rr_conn *, bool own, const struct rr_prop *);
/* An error came about properties of ours. */
void rr_auth_rejected(struct rr_conn *);
/* A whole RDMA2_CONNPROP was taken, all own properties but steps are sent, or
 * a step is sent: what follows from it? */
void rr_auth_go_on(struct rr_conn *);
void rr_auth_step_sent(struct rr_conn *);
void rr_auth_fini(struct rr_conn *);

#endif
