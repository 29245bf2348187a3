/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version 1 by hand: prefixes as hexadecimal words, comparison of every octet.
 * H is the default, 32 credits.                                 [RFC 8166 §4]
 */
#ifndef RR_TEST_CONN_V1_H
#define RR_TEST_CONN_V1_H

#include "test_conn_raw.h"

/* XID, then by name; sent by the peer with 0x40 credits, by us with H. */
#define V1(credit, proc) " 00000001 " credit " " proc " "
#define V1_MSG           V1("00000040", "00000000")
#define V1_NOMSG         V1("00000040", "00000001")
#define V1_ERROR         V1("00000040", "00000004")
#define OUR_MSG          V1("00000020", "00000000")
#define OUR_NOMSG        V1("00000020", "00000001")
#define OUR_ERROR        V1("00000020", "00000004")
#define ERR_CHUNK(xid)   xid OUR_ERROR "00000002"
#define V1_EMPTY         "00000000 00000000 00000000 "

/* A Call of one piece, with a destination if wanted. */
struct v1_call {
	uint8_t words[9000];
	struct rr_piece piece[3];
	struct rr_dest dest;
	uint8_t result[64];
	struct rr_call call;
};

/* A server of versions 1 and 2, unless @cfg says otherwise, whose peer is silent yet. */
struct side *v1_server(const struct rr_conn_config *cfg);
/* An open connection of version 1 alone.  @hello: the peer's private data, or NULL. */
struct side *v1_new(enum rr_conn_role role, const struct rr_conn_config *cfg,
                    const char *hello);

/* Takes the oldest message sent and compares every octet. */
void v1_expect(struct side *s, const char *hex);
/* ... a message that invalidates the handle @inv. */
void v1_expect_inv(struct side *s, const char *hex, uint32_t inv);
/* For side.on_request: sends a Reply of four words. */
void v1_answer(struct side *s, struct rr_request *r);
/* A plain Call is still answered. */
void v1_expect_service(struct side *s);

/* @chunk: with the destination. */
struct v1_call *v1_call(uint32_t xid, size_t len, bool chunk);
void v1_start(struct side *s, struct v1_call *o);

#endif
