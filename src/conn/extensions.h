/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and properties that extensions define. */
#ifndef RR_CONN_EXTENSIONS_H
#define RR_CONN_EXTENSIONS_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/recv.h"

/* An EXTENSION action. */
struct rr_ext_node {
	struct rr_op op;
	struct rr_ext_event ev;
	struct rr_rbuf *rbuf; /* the Receive buffer with ev.data; or NULL */
	uint8_t *copy;        /* a copy of ev.data; or NULL */
	size_t copy_len;
};

/* An extension message that we have sent. */
struct rr_ext_sent {
	uint32_t xid, htype;
};

struct rr_ext_state {
	uint32_t unsupported; /* bitmap of the header types, by index, that the peer
	                       * does not know [E7] */
	/* Ring of RR_EXT_XIDS sent messages, from the first one on, or NULL; xid 0 =
	 * answered. */
	struct rr_ext_sent *sent;
	unsigned n_sent;
};

/* The next two functions return the index in the extension table, or -1. */
int rr_ext_htype(const struct rr_conn *, uint32_t htype);
int rr_ext_prop(const struct rr_conn *, uint32_t id);
/* Returns true if the extension table contains this error code. */
bool rr_ext_error(const struct rr_conn *, uint32_t code);
/* Processes a message of an extension's type that has passed [check: late
 * properties]. */
void rr_ext_received(struct rr_conn *, struct rr_msg *);
/* Processes an RDMA2_ERROR about @xid, and records header types that the peer does not
 * support.  Returns false if @xid is not the XID of an extension message. [E7] */
bool rr_ext_answered(struct rr_conn *, uint32_t xid, uint32_t code);
/* Reports the property with index @i, and a copy of @data, to the user. */
void rr_ext_report(struct rr_conn *, unsigned i, enum rr_ext_what, const void *data,
                   size_t len);
/* Reports the default value of each property that the peer has not sent.  Called at the
 * end of the exchange. */
void rr_ext_defaults(struct rr_conn *);
void rr_ext_free(struct rr_conn *, struct rr_ext_node *);
/* Frees the messages that wait to be sent, after the connection is lost.  A polled
 * event stays lent to the user. */
void rr_ext_lost(struct rr_conn *);
/* Frees the record of sent messages. */
void rr_ext_fini(struct rr_conn *);

#endif
