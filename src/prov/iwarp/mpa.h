/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPA connection set-up: the Request and the Reply frame, and what two of
 * them agree on.  Pure functions over bytes.      [RFC 5044 §7.1, RFC 6581]
 *
 * Failure: a malformed frame is -EPROTO; a frame not yet complete -EAGAIN.
 */
#ifndef RR_PROV_IWARP_MPA_H
#define RR_PROV_IWARP_MPA_H

#include "base/base.h"

#define RR_MPA_HEAD      20
#define RR_MPA_PD_MAX    512
#define RR_MPA_FRAME_MAX (RR_MPA_HEAD + RR_MPA_PD_MAX)
#define RR_MPA_NO_NEGO   0x3fff /* IRD or ORD: leave it alone */

/* Forms of the RTR message, as bits. */
enum {
	RR_RTR_SEND = 1,  /* B */
	RR_RTR_WRITE = 2, /* C */
	RR_RTR_READ = 4,  /* D */
};

struct rr_mpa_frame {
	bool reply;
	bool markers;  /* M: the sender of this frame wants to receive markers */
	bool crc;      /* C */
	bool rejected; /* R */
	uint8_t rev;
	bool enhanced; /* S: the fields below are present */
	bool p2p;      /* A */
	unsigned rtr;  /* B, C, D */
	uint16_t ird, ord;
	const uint8_t *priv; /* of the layer above; borrowed */
	size_t priv_len;
};

/* What we want of a connection. */
struct rr_mpa_wish {
	bool crc;
	bool p2p;
	uint8_t rev;        /* highest revision */
	uint16_t ird, ord;  /* limits: neither is exceeded, whatever the peer says */
	uint16_t blind_ord; /* and towards a peer that does not say its IRD */
};

/* What was agreed. */
struct rr_mpa_deal {
	bool crc;
	bool send_markers;
	bool enhanced;
	uint16_t ird, ord;
	unsigned rtr; /* initiator: send this one; responder: announced these */
};

/* Writes the frame.  Returns its length, or -EMSGSIZE. */
RR_MUST_CHECK ssize_t rr_mpa_put(void *dst, size_t size, const struct rr_mpa_frame *f);

/* Reads one frame at @src; @reply says which key to expect.  Returns its
 * length; -EAGAIN when octets are missing and those present fit; -EPROTO. */
RR_MUST_CHECK ssize_t rr_mpa_get(const void *src, size_t len, bool reply,
                                 struct rr_mpa_frame *ret);

/* The initiator's Request (private data still to be set by the caller). */
void rr_mpa_request(const struct rr_mpa_wish *w, struct rr_mpa_frame *ret);

/* The responder's decision about @req: fills the Reply and the deal.
 * -EPROTONOSUPPORT: a revision we do not speak; close without a Reply. */
RR_MUST_CHECK int rr_mpa_answer(const struct rr_mpa_wish *w,
                                const struct rr_mpa_frame *req,
                                struct rr_mpa_frame *ret_rep, struct rr_mpa_deal *ret);

/* The initiator's view of @rep.  -ECONNREFUSED: rejected.  -EPROTO: the Reply
 * does not fit the Request.  -ERANGE: not enough IRD (Terminate 2/0/6).
 * -ENOMSG: no common RTR form (Terminate 2/0/7).  With the last two @ret is
 * filled all the same, so that the Terminate can be sent. */
RR_MUST_CHECK int rr_mpa_conclude(const struct rr_mpa_wish *w,
                                  const struct rr_mpa_frame *req,
                                  const struct rr_mpa_frame *rep,
                                  struct rr_mpa_deal *ret);

#endif
