/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder-provided Read chunks on the wire: the property RDMA2_PROPID_RPRC and the
 * header types RDMA2_DONE and RDMA2_MSG_DONE.
 *
 * RDMA2_DONE has no body: its header is the 20-octet prefix, which has the XID of the
 * pulled Reply and RDMA2_F_RESPONSE clear.  RDMA2_MSG_DONE is an RDMA2_MSG Call that
 * begins with a list of XIDs of pulled Replies.  A Reply with a Read chunk is an
 * ordinary RDMA2_NOMSG. [ext §3.1, §3.2, §3.5, §3.6]
 */
#ifndef RR_WIRE_RPRC_WIRE_H
#define RR_WIRE_RPRC_WIRE_H

#include "wire/wire.h"

enum rr_wire_rprc_htype {
	RDMA2_DONE = 3,
	RDMA2_MSG_DONE = 0xFFFFFF22,
};

enum { RDMA2_PROPID_RPRC = 0xFFFFFF21 };

enum rr_wire_rprc_flag {
	RDMA2_RPRC_F_REQUESTER = 0x00000001, /* pulls Replies and sends RDMA2_DONE */
	RDMA2_RPRC_F_RESPONDER = 0x00000002, /* may send Replies with a Read chunk */
	RDMA2_RPRC_F_PIGGYBACK = 0x00000004, /* accepts RDMA2_MSG_DONE */
};

enum {
	RDMA2_MSG_DONE_MAX = 16,          /* XIDs in one RDMA2_MSG_DONE */
	RR_WIRE_RPRC_VALUE = 12,          /* octets in the value of RDMA2_PROPID_RPRC */
	RR_WIRE_RPRC_MIN_LIFETIME = 1000, /* smallest nonzero lifetime, ms */
};

/* The value of RDMA2_PROPID_RPRC.  Default: all words 0.                [ext §3.1] */
struct rr_wire_rprc {
	uint32_t flags;       /* enum rr_wire_rprc_flag */
	uint32_t lifetime_ms; /* how long a Responder exposes memory; 0 = no limit */
	uint32_t max_reply;   /* octets in the largest Reply that a Requester pulls; 0 =
	                     * no limit */
};

/*
 * Decodes the value in @data.  If @len is 0, the default applies.  Unknown flags, and
 * words whose flag is clear, are stored as 0.  Returns -EINVAL (to be answered with
 * RDMA2_ERR_BAD_PROPVAL), and changes nothing, if the length is neither 0 nor 12, if
 * PIGGYBACK is set without RESPONDER, or if RESPONDER is set with a lifetime of 1 to
 * 999 ms.
 */
int rr_wire_rprc_get_value(const void *data, uint32_t len,
                           struct rr_wire_rprc *ret) RR_MUST_CHECK;
/* Encodes the value, 12 octets.  A word whose flag is clear is encoded as 0. */
void rr_wire_rprc_put_value(struct rr_writer *w, const struct rr_wire_rprc *v);

/* The XIDs of pulled Replies in one RDMA2_MSG_DONE. */
struct rr_wire_done_list {
	uint32_t count;
	uint32_t xid[RDMA2_MSG_DONE_MAX];
};

/* Decodes the body of RDMA2_MSG_DONE, and leaves the cursor at the RPC Call.  Returns
 * -EBADMSG, and changes nothing, if the list has more than 16 XIDs or the body is
 * malformed. [ext §3.6] */
int rr_wire_rprc_get_msg_done(struct rr_cursor *c, struct rr_wire_done_list *ret_done,
                              struct rr_lists *ret) RR_MUST_CHECK;
/* Encodes the body.  If @done has more than 16 XIDs, or @l->over is set, encodes
 * nothing and sets @w->bad. */
void rr_wire_rprc_put_msg_done(struct rr_writer *w,
                               const struct rr_wire_done_list *done,
                               const struct rr_lists *l);
/* Returns the number of octets that rr_wire_rprc_put_msg_done will append. */
size_t rr_wire_rprc_msg_done_size(const struct rr_wire_done_list *done,
                                  const struct rr_lists *l);

#endif
