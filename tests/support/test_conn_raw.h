/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection whose peer is octets laid out by hand.  Messages are written as
 * hexadecimal words; nothing here uses the codec under test.
 */
#ifndef RR_TEST_CONN_RAW_H
#define RR_TEST_CONN_RAW_H

#include "test_conn_side.h"

/* Prefixes: XID, then by name.  The credit word is H 32, one new credit. */
#define V2               " 00000002 00200001 "
#define MSG              V2 "00000000 00000000 "
#define MSG_MORE         V2 "00000000 00000002 "
#define MSG_REPLY        V2 "00000000 00000001 "
#define MSG_REPLY_MORE   V2 "00000000 00000003 "
#define NOMSG            V2 "00000001 00000000 "
#define NOMSG_REPLY      V2 "00000001 00000001 "
#define CONNPROP         V2 "00000005 00000000 "
#define CONNPROP_TPMORE  V2 "00000005 00000004 "
#define CONNPROP_MORE    V2 "00000005 00000002 "
#define ERRORMSG         V2 "00000004 00000001 "
#define EMPTY            "00000000 00000000 00000000 00000000 "
#define CALL(xid)        xid " 00000000 00000002 000186a3 00000003 00000000 "
#define REPLY(xid)       xid " 00000001 00000000 00000000 "
#define SEG(handle, len) handle " " len " 00000000 00010000 "
#define READ(pos, len)   "00000001 " pos " " SEG("000000aa", len)
/* A Write chunk or a Reply chunk of one segment; the end of a list, or no chunk. */
#define WRITE(handle, len) "00000001 00000001 " SEG(handle, len)
#define NONE               "00000000 "

/* Converts hexadecimal words, other characters are skipped.  Returns the length. */
size_t raw_octets(const char *hex, uint8_t *to, size_t room);
/* Appends @words @n times to the text @to.  Returns its end. */
char *raw_repeat(char *to, const char *words, unsigned n);

/* An open connection that has received nothing. */
struct side *raw_new(enum rr_conn_role role, const struct rr_conn_config *cfg);
/* A ready connection to a peer with default properties, which granted much credit. */
struct side *raw_ready(enum rr_conn_role role, const struct rr_conn_config *cfg);
/* A ready connection to a peer with the properties @props: their count, then each. */
struct side *raw_ready_by(enum rr_conn_role role, const struct rr_conn_config *cfg,
                          const char *props);
void raw_end(struct side *s);

/* Receives a message and reports all completions. */
void raw_receive(struct side *s, const char *hex);
/* ... a message that invalidates the handle @inv. */
void raw_receive_inv(struct side *s, const char *hex, uint32_t inv);
/* ... a message, without carrying out the actions that follow. */
void raw_receive_undrawn(struct side *s, const char *hex);

/* Takes the oldest message sent and compares it.  The credit word alone may differ:
 * there the ceiling must be H and the grant not zero [V2-4.2.1.1-07, -08]. */
void raw_expect(struct side *s, const char *hex);
/* Drops the oldest message sent. */
void raw_skip(struct side *s);
/* Neither a message nor a disconnect is left. */
void raw_expect_silence(const struct side *s);
void raw_expect_close(const struct side *s, int status);

/* -- a server whose user answers at once ----------------------------------- */

#define ERR(xid, code)   xid " 00000002 00200001 00000004 00000001 " code
#define BAD_XDR(xid)     ERR(xid, "00000002")
#define INVAL_HTYPE(xid) ERR(xid, "00000004")
#define INVAL_CONT(xid)  ERR(xid, "00000005")
#define SYSTEM(xid)      ERR(xid, "00000064")

/* For side.on_request: sends a Reply of four words. */
void raw_answer_call(struct side *s, struct rr_request *r);
/* A plain Call is still answered. */
void raw_expect_service(struct side *s);

/* -- a server whose user keeps one request --------------------------------- */

extern struct rr_request *raw_held;   /* the last request given to raw_hold() */
extern uint8_t raw_reply_words[8192]; /* a Reply to XID 0x55 */

/* For side.on_request: keeps the request. */
void raw_hold(struct side *s, struct rr_request *r);
/* Answers the request by the first @len octets of raw_reply_words. */
void raw_answer_held(struct side *s, size_t len);

#endif
