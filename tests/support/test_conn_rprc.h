/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Responder that exposes long replies, for tests of feature RPRC whose peer is octets
 * laid out by hand.
 */
#ifndef RR_TEST_CONN_RPRC_H
#define RR_TEST_CONN_RPRC_H

#include "test_conn_spec.h"

/* The peer's property: it pulls Replies of any length. */
#define RPRC(flags, lifetime, most)                                                    \
	"ffffff21 0000000c 0000000" flags " " lifetime " " most " "
#define PULLS               "00000001 " RPRC("1", "00000000", "00000000")
#define PLAIN_CALL          "00000055" MSG EMPTY CALL("00000055")
#define DONE(xid)           xid V2 "00000003 00000000"
#define MSG_DONE(xid, list) xid V2 "ffffff22 00000000 " list EMPTY CALL(xid)
/* A ready Responder that exposes what does not fit in one message, and holds its last
 * request. */
struct side *rprc_exposer(const struct rr_conn_config *cfg, const char *props);
/* Answers the held request by an RPC Reply of @len octets, which lie in @n runs; the
 * memory is the same each time.  The side is not drained. */
void rprc_answer_runs(struct side *s, size_t len, unsigned n);
/* Answers it in one run, and drains. */
void rprc_answer(struct side *s, size_t len);
extern uint8_t rprc_reply[3 << 20];
/* Receives Call 0x55 and answers it by @len octets. */
void rprc_expose(struct side *s, size_t len);

/* How the oldest message sent answers a Call. */
enum way { SIMPLE, CHUNK, PARTS, EXPOSED, TOO_LONG };
enum way rprc_way(const struct side *s);

struct rr_conn_counters rprc_counters(const struct side *s);
void rprc_pass_time(struct side *s, rr_time ns);
/* No memory can be reached, and every request has ended. */
void rprc_expect_nothing(const struct side *s);

/* Opens a connection that can do RDMA Reads or whose memory can be read, and returns its
 * first message. */
const struct side_msg *rprc_own_props(const struct rr_conn_config *cfg,
                                      enum rr_conn_role role, bool read, bool be_read,
                                      struct side **ret);

/* -- a Requester that pulls ------------------------------------------------- */

#define PEER(flags, lifetime)                                                          \
	"00000001 ffffff21 0000000c 0000000" flags " " lifetime " 00000000"
#define TEN_SECONDS "00002710"
/* A Reply to @xid with the Read chunk @reads, and rdma_inv_handle @inv. */
#define PULLED(xid, inv, reads)                                                        \
	xid NOMSG_REPLY inv " " reads " 00000000 00000000 00000000"
#define READ_OF(handle, len, offset)                                                   \
	"00000001 00000000 " handle " " len " 00000000 " offset " "
#define ONE(xid) PULLED(xid, "00000000", READ_OF("000000aa", "00002000", "00010000"))
#define ONE_INV(xid)                                                                   \
	PULLED(xid, "000000aa", READ_OF("000000aa", "00002000", "00010000"))
#define TWO_MIB(xid)                                                                   \
	PULLED(xid, "000000aa", READ_OF("000000aa", "00200000", "00010000"))
#define FOUR_GIB(xid)                                                                  \
	PULLED(xid, "000000aa", READ_OF("000000aa", "ffffffff", "00010000"))

/* What the peer exposes at offset 0x10000. */
extern uint8_t rprc_stream[2 << 20];
/* Makes it an RPC Reply to @xid. */
void rprc_lay_out(struct side *s, uint32_t xid);
/* A ready Requester. */
struct side *rprc_puller(struct rr_conn_config cfg, const char *props);
/* ... whose Call 0x55 has been sent.  @cfg may be NULL. */
struct side *rprc_asking(const struct rr_conn_config *cfg, const char *props,
                         struct spec_call **ret);
/* Receives a message; what it makes the side post does not complete. */
void rprc_receive_only(struct side *s, const char *hex);
/* Lets time pass; nothing completes. */
void rprc_turn_clock(struct side *s, rr_time ns);
/* The oldest message is an RDMA2_DONE for @xid that invalidates @inv. */
void rprc_expect_done(struct side *s, uint32_t xid, uint32_t inv);
/* Releases the call's Reply and ends the side. */
void rprc_release(struct side *s, struct spec_call *k);
void rprc_free_calls(struct spec_call *k[], unsigned n);

#endif
