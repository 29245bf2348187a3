/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends with the feature RTR for tests whose peer is octets laid out by hand, and a client
 * whose calls have their results directed.
 */
#ifndef RR_TEST_CONN_RTR_H
#define RR_TEST_CONN_RTR_H

#include "test_conn_spec.h"

/* Prefixes: XID, then by name.  XCONT_R continues a response. */
#define XREQ     V2 "ffffff15 00000000 "
#define XRESP    V2 "ffffff16 00000001 "
#define XCONT    V2 "ffffff17 00000000 "
#define XCONT_R  V2 "ffffff17 00000001 "
#define REPORT   V2 "ffffff18 00000001 " /* about a request */
#define REPORT_R V2 "ffffff18 00000000 " /* about a response */
#define X        "00000055"
/* Four properties of the feature: every ability, groups of 16, and Receive buffers of
 * 1,024 octets and one targetable segment of 8,192. */
#define RTR_PROPS                                                                      \
	"ffffff13 00000004 0000000f ffffff15 00000004 00000010 "                       \
	"ffffff16 00000004 00000010 ffffff14 00000028 00002400 00000002 "              \
	"00000001 00000400 00000004 00000000 00000001 00002000 00001000 00000001 "
/* The peer has these, and its Sends may be as long as such a buffer. */
#define RTR_PEER "00000005 00000001 00000004 00002400 " RTR_PROPS

enum {
	RTR_REQ = 0xffffff15,
	RTR_RESP = 0xffffff16,
	RTR_CONT = 0xffffff17,
	RTR_BUFFER = 1024 + 8192,
	RTR_XID = 0x55,
};

/* Memory for results. */
extern uint8_t rtr_result[4][8192];

struct rr_conn_config rtr_client_config(uint32_t credits);
/* A ready client of such a peer. */
struct side *rtr_client(uint32_t credits);
/* A Call with memory for a result of @len octets that is directed in this way. */
struct spec_call *rtr_start_into(struct side *, size_t len, enum rr_direct,
                                 size_t reply_bytes);
/* A Call with all of rtr_result[0] for a result, and a short Reply. */
struct spec_call *rtr_start_read(struct side *, enum rr_direct);
/* Returns the header type of the oldest message sent. */
uint32_t rtr_sent_type(const struct side *);
/* The Call has ended with @status, and no memory can be reached.  Frees both. */
void rtr_finish(struct side *, struct spec_call *, int status);
/* Receives @hex, followed by zero octets up to @len. */
void rtr_receive_long(struct side *, const char *hex, size_t len);

#endif
