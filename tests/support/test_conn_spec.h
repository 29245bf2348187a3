/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests that follow the sections of the specification: Calls laid out piece by
 * piece, and single words of the messages that were sent.  The peer is octets laid out
 * by hand.
 */
#ifndef RR_TEST_CONN_SPEC_H
#define RR_TEST_CONN_SPEC_H

#include "test_conn_raw.h"

#define PROPS           "00000077 00000002 00200020 00000005 00000000 "
#define PROP(id, value) id " 00000004 " value " "
#define GRANT(low)      "00000000 00000002 0020" low " 00000001 00000000 " EMPTY

enum { SPEC_HEAD = 28 };

struct spec_call {
	struct rr_call call;
	struct rr_piece piece[8];
	struct rr_dest dest[4];
	uint8_t head[SPEC_HEAD]; /* XID, Call, 2, program, version, 7, count */
};

/* A Call of program 100003 whose last word, @count, may count an item's octets. */
struct spec_call *spec_new(uint32_t xid, uint32_t count);
void spec_add(struct spec_call *k, const void *base, size_t len, bool item);
void spec_dest(struct spec_call *k, void *base, size_t len);
void spec_start(struct side *s, struct spec_call *k);
/* Starts the Call and returns the one message that it became. */
const struct side_msg *spec_sent(struct side *s, struct spec_call *k);
void spec_end(struct side *s, struct spec_call *k);

/* Returns the word at index @i of a message, and its flags word. */
uint32_t spec_word(const struct side_msg *m, unsigned i);
uint32_t spec_flags(const struct side_msg *m);
/* Returns the region registered at @base. */
const struct side_region *spec_region(const struct side *s, const void *base);
/* Returns SIDE_MSG octets that differ from their neighbours. */
const uint8_t *spec_octets(void);

#endif
