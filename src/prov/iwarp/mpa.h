/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPA connection set-up: the Request and Reply frames, and the negotiation.  Pure
 * functions over octets.                          [RFC 5044 §7.1, RFC 6581]
 *
 * Failure: a malformed frame is -EPROTO, an incomplete one -EAGAIN.
 */
#ifndef RR_PROV_IWARP_MPA_H
#define RR_PROV_IWARP_MPA_H

#include "base/base.h"

#define RR_MPA_HEAD      20
#define RR_MPA_PD_MAX    512
#define RR_MPA_FRAME_MAX (RR_MPA_HEAD + RR_MPA_PD_MAX)
#define RR_MPA_NO_NEGO   0x3fff /* IRD or ORD that is not negotiated */

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
	const uint8_t *priv; /* private data, borrowed */
	size_t priv_len;
};

/* What one side wants of a connection. */
struct rr_mpa_params {
	bool crc;
	bool p2p;
	uint8_t rev;          /* highest revision */
	uint16_t ird, ord;    /* limits, whatever the peer offers */
	uint16_t default_ord; /* limit of ord if the peer's IRD is unknown */
};

/* What both sides agreed on. */
struct rr_mpa_agreement {
	bool crc;
	bool send_markers;
	bool enhanced;
	uint16_t ird, ord;
	unsigned rtr; /* initiator: the form to send; responder: those announced */
};

/* Writes the frame.  Returns its length, or -EMSGSIZE if it does not fit. */
RR_MUST_CHECK ssize_t rr_mpa_put(void *dst, size_t size, const struct rr_mpa_frame *f);

/* Reads one frame at @src, a Reply or a Request.  Returns its length, -EAGAIN if octets
 * are missing and those present are valid, or -EPROTO. */
RR_MUST_CHECK ssize_t rr_mpa_get(const void *src, size_t len, bool reply,
                                 struct rr_mpa_frame *ret);

/* Makes the initiator's Request; the caller sets the private data. */
void rr_mpa_request(const struct rr_mpa_params *w, struct rr_mpa_frame *ret);

/* Makes the responder's Reply to @req, and fills @ret.  Returns -EPROTONOSUPPORT for an
 * unknown revision: the caller closes without a Reply. */
RR_MUST_CHECK int rr_mpa_answer(const struct rr_mpa_params *w,
                                const struct rr_mpa_frame *req,
                                struct rr_mpa_frame *ret_rep,
                                struct rr_mpa_agreement *ret);

/* Evaluates the Reply @rep to @req for the initiator, and fills @ret.  Returns
 * -ECONNREFUSED if the responder rejected the connection, and -EPROTO if the Reply
 * does not fit the Request.  Returns -ERANGE for too little IRD (Terminate 2/0/6) and
 * -ENOMSG if there is no common RTR form (Terminate 2/0/7); these two fill @ret as
 * well, so that the caller can send the Terminate. */
RR_MUST_CHECK int rr_mpa_conclude(const struct rr_mpa_params *w,
                                  const struct rr_mpa_frame *req,
                                  const struct rr_mpa_frame *rep,
                                  struct rr_mpa_agreement *ret);

#endif
