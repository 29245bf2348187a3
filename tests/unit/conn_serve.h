/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Responder under test: errors laid out by hand, a user who answers each
 * Call by a Reply of four words, and a plain Call that must still be served.
 */
#ifndef TESTS_UNIT_CONN_SERVE_H
#define TESTS_UNIT_CONN_SERVE_H

#include "conn_raw.h"

#define ERR(xid, code)   xid " 00000002 00200001 00000004 00000001 " code
#define BAD_XDR(xid)     ERR(xid, "00000002")
#define INVAL_HTYPE(xid) ERR(xid, "00000004")
#define INVAL_CONT(xid)  ERR(xid, "00000005")
#define SYSTEM(xid)      ERR(xid, "00000064")

static inline void on_request(struct side *s, struct rr_request *r)
{
	static uint8_t words[16];
	const struct rr_piece p = {words, sizeof(words), false};

	raw_octets("00000000 00000001 00000000 00000000", words, sizeof(words));
	rr_store_u32(words, r->xid);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

static inline void expect_service(struct side *s)
{
	raw_receive(s, "00000099" MSG EMPTY CALL("00000099"));
	raw_expect(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	raw_expect_silence(s);
}

#endif
