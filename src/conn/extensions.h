/* SPDX-License-Identifier: BSD-3-Clause */
/* What extensions add. */
#ifndef RR_CONN_EXTENSIONS_H
#define RR_CONN_EXTENSIONS_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/recv.h"

/* An extension's message under way to or from the user, or to the peer. */
struct rr_ext_node {
	struct rr_op op; /* EXTENSION; or on tx.exts */
	struct rr_ext_event ev;
	struct rr_rbuf *rbuf; /* where ev.data lies, or */
	size_t copy_len;
	uint8_t *copy; /* here */
};

struct rr_ext_sent {
	uint32_t xid, htype;
};

struct rr_ext_state {
	struct rr_ext_node *polled; /* lent until the next action */
	uint32_t unsupported;       /* bit by index of the type [E7] */
	struct rr_ext_sent sent[RR_EXT_XIDS];
	unsigned n_sent;
};

/* Its place in the table, or -1. */
int rr_ext_htype(const struct rr_conn *, uint32_t htype);
int rr_ext_prop(const struct rr_conn *, uint32_t id);
bool rr_ext_error(const struct rr_conn *, uint32_t code);
/* A message of an extension's type, past [check: late properties]. */
void rr_ext_received(struct rr_conn *, struct rr_msg *);
/* RDMA2_ERROR about a message of an extension?  Marks types unsupported. [E7] */
bool rr_ext_answered(struct rr_conn *, uint32_t xid, uint32_t code);
/* Tells the user about property @i; @data is copied. */
void rr_ext_tell(struct rr_conn *, unsigned i, enum rr_ext_what, const void *data,
                 size_t len);
/* The exchange is over: what did not come has its default. */
void rr_ext_defaults(struct rr_conn *);
/* Sends the oldest queued message (a credit is there). */
bool rr_ext_transmit(struct rr_conn *);
void rr_ext_free(struct rr_conn *, struct rr_ext_node *);
/* Nothing waits to be sent any more; what was drawn stays lent. */
void rr_ext_lost(struct rr_conn *);
void rr_ext_fini(struct rr_conn *);

#endif
