/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPA connection set-up: the Request and Reply frames, and the negotiation, as pure
 * functions.                                      [RFC 5044 §7.1, RFC 6581]
 */
#ifndef RR_PROV_IWARP_MPA_H
#define RR_PROV_IWARP_MPA_H

#include "base/base.h"

#define RR_MPA_HEAD      20
#define RR_MPA_PD_MAX    512
#define RR_MPA_FRAME_MAX (RR_MPA_HEAD + RR_MPA_PD_MAX)
#define RR_MPA_NO_NEGO   0x3fff /* IRD or ORD that is not negotiated */

/* The forms of the RTR message.  The values are bits that can be combined. */
enum {
	RR_RTR_SEND = 1,  /* flag B */
	RR_RTR_WRITE = 2, /* flag C */
	RR_RTR_READ = 4,  /* flag D */
};

struct rr_mpa_frame {
	bool reply;
	bool markers;  /* flag M: the sender of this frame wants to receive markers */
	bool crc;      /* flag C: the sender asks for CRC32C */
	bool rejected; /* flag R */
	uint8_t rev;
	bool enhanced; /* flag S: the fields below are present */
	bool p2p;      /* flag A: an RTR message is wanted */
	unsigned rtr;  /* flags B, C, D: RR_RTR_* */
	uint16_t ird, ord;
	const uint8_t *priv; /* private data, borrowed */
	size_t priv_len;
};

/* The parameters that one side wants for a connection. */
struct rr_mpa_params {
	bool crc;
	bool p2p;
	uint8_t rev;          /* highest revision */
	uint16_t ird, ord;    /* our limits, even if the peer offers more */
	uint16_t default_ord; /* limit on @ord if the peer's IRD is unknown */
};

/* The parameters on which both sides agreed. */
struct rr_mpa_agreement {
	bool crc;
	bool send_markers;
	bool enhanced;
	uint16_t ird, ord;
	uint16_t peer_ord; /* RR_MPA_NO_NEGO = unknown */
	unsigned rtr;      /* initiator: the form to send; responder: forms announced */
};

/* Writes the frame to @dst.  Returns the frame's length, or -EMSGSIZE if the length
 * exceeds @size. */
RR_MUST_CHECK ssize_t rr_mpa_put(void *dst, size_t size, const struct rr_mpa_frame *f);

/* Parses the frame at @src: a Reply or, if @reply is false, a Request.  Returns the
 * frame's length, -EAGAIN if the frame is valid so far but incomplete, or -EPROTO if
 * the frame is malformed. */
RR_MUST_CHECK ssize_t rr_mpa_get(const void *src, size_t len, bool reply,
                                 struct rr_mpa_frame *ret);

/* Builds the initiator's Request; the caller sets the private data. */
void rr_mpa_request(const struct rr_mpa_params *w, struct rr_mpa_frame *ret);

/* Builds the responder's Reply to @req, and fills @ret.  Returns -EPROTONOSUPPORT for
 * an unknown revision; the caller then closes the connection without a Reply. */
RR_MUST_CHECK int rr_mpa_answer(const struct rr_mpa_params *w,
                                const struct rr_mpa_frame *req,
                                struct rr_mpa_frame *ret_rep,
                                struct rr_mpa_agreement *ret);

/* Evaluates the Reply @rep to @req for the initiator, and fills @ret.  Returns
 * -ECONNREFUSED if the responder rejected the connection, and -EPROTO if the Reply
 * does not fit the Request.  Returns -ERANGE if our IRD is too small (Terminate
 * 2/0/6), and -ENOMSG if there is no common RTR form (Terminate 2/0/7); @ret is filled
 * in these two cases as well, so that the caller can send the Terminate. */
RR_MUST_CHECK int rr_mpa_conclude(const struct rr_mpa_params *w,
                                  const struct rr_mpa_frame *req,
                                  const struct rr_mpa_frame *rep,
                                  struct rr_mpa_agreement *ret);

#endif
