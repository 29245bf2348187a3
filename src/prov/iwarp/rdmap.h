/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMAP: opcodes, the Read Request, the Terminate message and its errors.
 *                                                       [RFC 5040 §4, RFC 5044 §8]
 */
#ifndef RR_PROV_IWARP_RDMAP_H
#define RR_PROV_IWARP_RDMAP_H

#include "base/base.h"

enum rr_rdmap_op {
	RR_OP_WRITE = 0,
	RR_OP_READ_REQUEST = 1,
	RR_OP_READ_RESPONSE = 2,
	RR_OP_SEND = 3,
	RR_OP_SEND_INV = 4,
	RR_OP_SEND_SE = 5,
	RR_OP_SEND_SE_INV = 6,
	RR_OP_TERMINATE = 7,
};

/* The control octet: version 1 and the opcode. */
#define RR_RDMAP_CTRL(op)      ((uint8_t)(0x40 | (op)))
#define RR_RDMAP_VERSION(ctrl) ((ctrl) >> 6)
#define RR_RDMAP_OP(ctrl)      ((ctrl)&0x0f)

#define RR_READ_REQUEST 28 /* octets after the DDP header */
#define RR_TERM_MAX     (4 + 2 + 18 + RR_READ_REQUEST)

struct rr_read_request {
	uint32_t sink_stag;
	uint64_t sink_to;
	uint32_t size;
	uint32_t src_stag;
	uint64_t src_to;
};

void rr_read_request_put(uint8_t *dst, const struct rr_read_request *r);
void rr_read_request_get(const uint8_t *src, struct rr_read_request *ret);

/* X(name, layer, type, code, 1 if the Terminate includes headers, text) */
#define RR_TERM_ERRORS(X)                                                              \
	X(RDMAP_LOCAL, 0, 0, 0x00, 0, "local catastrophic error")                      \
	X(RDMAP_STAG, 0, 1, 0x00, 1, "invalid handle")                                 \
	X(RDMAP_BOUNDS, 0, 1, 0x01, 1, "outside the bounds of the region")             \
	X(RDMAP_ACCESS, 0, 1, 0x02, 1, "access right missing")                         \
	X(RDMAP_STREAM_STAG, 0, 1, 0x03, 1, "handle of another connection")            \
	X(RDMAP_WRAP, 0, 1, 0x04, 1, "offset wraps")                                   \
	X(RDMAP_INVALIDATE, 0, 1, 0x09, 1, "handle cannot be invalidated")             \
	X(RDMAP_PROTECTION, 0, 1, 0xff, 1, "remote protection error")                  \
	X(RDMAP_VERSION, 0, 2, 0x05, 1, "invalid RDMAP version")                       \
	X(RDMAP_OPCODE, 0, 2, 0x06, 1, "unexpected opcode")                            \
	X(RDMAP_STREAM, 0, 2, 0x07, 1, "catastrophic error of the stream")             \
	X(RDMAP_GLOBAL, 0, 2, 0x08, 1, "catastrophic error")                           \
	X(RDMAP_INVALIDATE2, 0, 2, 0x09, 1, "handle cannot be invalidated")            \
	X(RDMAP_OPERATION, 0, 2, 0xff, 1, "remote operation error")                    \
	X(DDP_LOCAL, 1, 0, 0x00, 0, "local catastrophic error (DDP)")                  \
	X(DDP_STAG, 1, 1, 0x00, 1, "invalid handle (tagged)")                          \
	X(DDP_BOUNDS, 1, 1, 0x01, 1, "outside the bounds of the region (tagged)")      \
	X(DDP_STREAM_STAG, 1, 1, 0x02, 1, "handle of another connection (tagged)")     \
	X(DDP_WRAP, 1, 1, 0x03, 1, "offset wraps (tagged)")                            \
	X(DDP_TVERSION, 1, 1, 0x04, 1, "invalid DDP version (tagged)")                 \
	X(DDP_QN, 1, 2, 0x01, 1, "invalid queue number")                               \
	X(DDP_NO_BUFFER, 1, 2, 0x02, 1, "message without a posted buffer")             \
	X(DDP_MSN, 1, 2, 0x03, 1, "message number out of range")                       \
	X(DDP_MO, 1, 2, 0x04, 1, "invalid message offset")                             \
	X(DDP_TOO_LONG, 1, 2, 0x05, 1, "message longer than its buffer")               \
	X(DDP_UVERSION, 1, 2, 0x06, 1, "invalid DDP version (untagged)")               \
	X(MPA_CLOSED, 2, 0, 0x01, 0, "TCP connection lost")                            \
	X(MPA_CRC, 2, 0, 0x02, 0, "CRC mismatch")                                      \
	X(MPA_MARKER, 2, 0, 0x03, 0, "marker mismatch")                                \
	X(MPA_FRAME, 2, 0, 0x04, 0, "bad MPA frame")                                   \
	X(MPA_LOCAL, 2, 0, 0x05, 0, "local catastrophic error (MPA)")                  \
	X(MPA_IRD, 2, 0, 0x06, 0, "not enough inbound Reads (IRD)")                    \
	X(MPA_RTR, 2, 0, 0x07, 0, "no common RTR message")

enum rr_term_error {
#define X(name, layer, type, code, hdrs, text) RR_TERM_##name,
	RR_TERM_ERRORS(X)
#undef X
	        RR_TERM_COUNT
};

struct rr_term_info {
	uint8_t layer, type, code;
	bool headers;
	const char *text;
};

extern const struct rr_term_info rr_term_info[RR_TERM_COUNT];

/* Writes the body of a Terminate into @dst, which has RR_TERM_MAX octets.  @ddp (18 or
 * 14 octets, or NULL) is the DDP header of the offending segment; @seg_len is the
 * length of the segment; @req (28 octets, or NULL) is the Read Request header.  The
 * headers are omitted for errors that do not include them.  Returns the length of the
 * body. */
size_t rr_term_put(uint8_t *dst, enum rr_term_error e, const uint8_t *ddp,
                   size_t ddp_len, uint16_t seg_len, const uint8_t *req);

struct rr_term {
	uint8_t layer, type, code;
	bool reversed; /* the fields were in siw's order */
};

/* Reads the first four of @len octets of a Terminate's body; if @len is less than four,
 * all members become 0.  Linux's siw reverses bit fields: it exchanges layer and type
 * in the first octet, and puts the flags M, D, R into the lowest bits of the third
 * octet.  We assume siw's order if all flags that are set are in the lowest bits.  If
 * no flag is set, we assume siw's order if only that order gives an error in the table
 * above. */
void rr_term_get(const uint8_t *body, size_t len, struct rr_term *ret);
/* Returns a description of the error in a Terminate, never NULL. */
const char *rr_term_text(unsigned layer, unsigned type, unsigned code);

#endif
