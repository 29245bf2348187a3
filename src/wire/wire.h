/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport header: conversion between octets and one internal representation.
 *
 * Version 2 is encoded and decoded here.  Version 1 (v1.c) has another layout and uses
 * the same structures, so that code outside this folder depends on no layout.  All
 * functions are pure: they keep no state and use only the caller's memory.
 *
 * Decoders read a message that the peer sent.  They compare each count with the number
 * of remaining octets before they loop.  They accept only 0 and 1 as "is present" words
 * [K24], and write their result only on success.  Segments and chunks beyond the fixed
 * arrays are counted but not stored (@over), so that the caller can answer well-formed
 * lists that are too long with RDMA2_ERR_SEGMENTS or a similar error.
 *                                                     [v2 §6, §8.3, §8.4]
 */
#ifndef RR_WIRE_WIRE_H
#define RR_WIRE_WIRE_H

#include "base/base.h"
#include "base/cursor.h"

enum { RPCRDMA_VERSION_ONE = 1, RPCRDMA_VERSION_TWO = 2 };

/* rdma_htype                                                  [v2 §6.1, §8.4] */
enum rr_htype {
	RDMA2_MSG = 0,
	RDMA2_NOMSG = 1,
	RDMA2_ERROR = 4,
	RDMA2_CONNPROP = 5,
};

/* rdma_flags                                                       [v2 §6.2.2] */
enum rr_flag {
	RDMA2_F_RESPONSE = 0x00000001,
	RDMA2_F_MORE = 0x00000002,
	RDMA2_F_TPMORE = 0x00000004,
};

/* rdma_err                                                    [v2 §6.3.3, §8.4] */
enum rr_errcode {
	RDMA2_ERR_VERS = 1,
	RDMA2_ERR_BAD_XDR = 2,
	RDMA2_ERR_BAD_PROPVAL = 3,
	RDMA2_ERR_INVAL_HTYPE = 4,
	RDMA2_ERR_INVAL_CONT = 5,
	RDMA2_ERR_READ_CHUNKS = 6,
	RDMA2_ERR_WRITE_CHUNKS = 7,
	RDMA2_ERR_SEGMENTS = 8,
	RDMA2_ERR_WRITE_RESOURCE = 9,
	RDMA2_ERR_REPLY_RESOURCE = 10,
	RDMA2_ERR_SYSTEM = 100,
};

/* Transport properties                                           [v2 §5.2, §8.3] */
enum rr_propid {
	RDMA2_PROPID_SBSIZ = 1,
	RDMA2_PROPID_RBSIZ = 2,
	RDMA2_PROPID_RSSIZ = 3,
	RDMA2_PROPID_RCSIZ = 4,
	RDMA2_PROPID_BRS = 5,
	RDMA2_PROPID_HOSTAUTH = 6,
};

enum rr_rvrsdir {
	RDMA2_RVRSDIR_NONE = 0,
	RDMA2_RVRSDIR_SIMPLE = 1,
	RDMA2_RVRSDIR_CONT = 2,
	RDMA2_RVRSDIR_GENL = 3,
};

enum {
	RR_WIRE_MAX_SEGMENTS = 64,     /* segments in one header, in chunks of all
	                                * kinds */
	RR_WIRE_MAX_WRITES = 16,       /* Write chunks in one header */
	RR_WIRE_MAX_PROPS = 256,       /* properties in one set [P20] */
	RR_WIRE_PREFIX = 20,           /* octets in rpcrdma2_hdr_prefix */
	RR_WIRE_EMPTY_MSG = 36,        /* octets in a header without chunks */
	RR_WIRE_DEFAULT_INLINE = 4096, /* default threshold, octets [v2 §4.2.2] */
	RR_WIRE_FIRST_MESSAGE = 1024,  /* maximum length of a client's first message,
	                                * octets [v2 §4.2.3] */
	RR_WIRE_MIN_INLINE = 1024,     /* smallest inline threshold accepted, octets
	                                * [P8] */
	RR_WIRE_DEFAULT_RSSIZ = 1048576,
	RR_WIRE_DEFAULT_RCSIZ = 16,
};

struct rr_prefix {
	uint32_t xid;
	uint32_t vers;
	uint32_t credit;
	uint32_t htype; /* any value; the caller handles unknown types */
	uint32_t flags; /* as received, reserved bits included */
};

/* A plain segment.                                               [v2 §4.3.3] */
struct rr_segment {
	uint32_t handle;
	uint32_t length;
	uint64_t offset;
};

/* A chunk: @count segments, starting with rr_lists.seg[@first].  @length is the sum of
 * their lengths, which cannot overflow (64 segments of 32 bits). */
struct rr_chunk {
	uint16_t first;
	uint16_t count;
	uint32_t position; /* Read chunks only */
	uint64_t length;
};

/*
 * The decoded rpcrdma2_chunk_lists.                        [v2 §6.2.3, §4.3]
 * Adjacent Read segments with the same Position form one chunk.  @seg contains all
 * segments: first the Read list's, then the Write list's, then the Reply chunk's.
 * Array entries beyond the counts are not written.  If @over is set, the lists did not
 * fit and the last chunk may be incomplete.  The caller may then use the totals to
 * choose an error, but must not use or encode the lists.
 */
struct rr_lists {
	uint32_t inv_handle;
	uint16_t n_segs;  /* segments stored */
	uint16_t n_reads; /* Read chunks, including a Position Zero chunk */
	uint16_t n_writes;
	bool has_reply;
	bool over;          /* the lists exceed the arrays; the totals below count
	                     * everything received */
	bool reads_descend; /* a Position is smaller than the preceding one [K3] */
	uint32_t total_segs;
	uint32_t total_reads;
	uint32_t total_writes;
	struct rr_chunk reads[RR_WIRE_MAX_SEGMENTS];
	struct rr_chunk writes[RR_WIRE_MAX_WRITES];
	struct rr_chunk reply;
	struct rr_segment seg[RR_WIRE_MAX_SEGMENTS];
};

struct rr_error {
	uint32_t code;   /* rdma_err, any value */
	uint32_t arg[2]; /* VERS: lowest, highest version.  READ_CHUNKS, WRITE_CHUNKS,
	                  * SEGMENTS: maximum.  WRITE_RESOURCE: chunk number from 1,
	                  * octets needed.  REPLY_RESOURCE: octets needed.  Others:
	                  * 0. */
};

struct rr_prop {
	uint32_t id;
	uint32_t len;        /* octets of @data, without padding; 0 = the default value
	                      * applies */
	const uint8_t *data; /* borrowed: points into the message, or to the caller's
	                      * memory */
	uint32_t value;      /* for uint32 properties: @data decoded, or the default if
	                      * @len is 0 */
};

/* -- decoding -------------------------------------------------------------- */

/* Each function takes a cursor at the first octet of the item to decode.  On success it
 * moves the cursor past that item, fills @ret and returns 0.  Otherwise it returns
 * -EBADMSG and changes neither the cursor nor @ret. */

/* Decodes the 20-octet prefix; accepts any values.            [v2 §6.2.1-6.2.2] */
int rr_wire_get_prefix(struct rr_cursor *c, struct rr_prefix *ret) RR_MUST_CHECK;

/* Decodes rdma_inv_handle, Read list, Write list and Reply chunk. [v2 §6.2.3] */
int rr_wire_get_lists(struct rr_cursor *c, struct rr_lists *ret) RR_MUST_CHECK;

/* Decodes the body of RDMA2_ERROR.  An unknown code has no arguments.  The cursor stops
 * before any extra octets, which the caller ignores [E5].                [v2 §6.3.3] */
int rr_wire_get_error(struct rr_cursor *c, struct rr_error *ret) RR_MUST_CHECK;

/*
 * Decodes a refusal of the client's first message, before the version is settled.  @c
 * covers the complete message.  Accepts RDMA2_ERR_VERS in version 2 layout (32 octets
 * or more) and in version 1 layout (28 octets, rdma_vers 1 or 2).  Also accepts the
 * version 1 error without a range (code 2, 20 octets), and then stores the range 1 to 1
 * in @ret.  Returns the layout (1 or 2), or -ENOMSG for any other message.  In
 * @ret_prefix, the flags are RDMA2_F_RESPONSE in both layouts, and the credit word is
 * as received. [V3, V5]
 */
int rr_wire_get_first_error(const struct rr_cursor *c, struct rr_prefix *ret_prefix,
                            struct rr_error *ret) RR_MUST_CHECK;

/* Decodes the number of properties in a set.  The caller then calls rr_wire_get_prop
 * once for each property.  Returns -EBADMSG if the count is incomplete, exceeds
 * RR_WIRE_MAX_PROPS, or does not fit the remaining octets (at least 8 for each
 * property). [v2 §5.1, P5] */
int rr_wire_get_props_begin(struct rr_cursor *c, uint32_t *ret_count) RR_MUST_CHECK;
/* Decodes one property of a set.  Returns -EBADMSG if rdma_which or the length word is
 * incomplete.  Returns -EINVAL (to be answered with RDMA2_ERR_BAD_PROPVAL) if rdma_data
 * extends beyond the message, or does not conform to the type of a known property.
 * Unknown properties are returned undecoded.                         [v2 §5.1, P5] */
int rr_wire_get_prop(struct rr_cursor *c, struct rr_prop *ret) RR_MUST_CHECK;

/* Decodes the rdma_data of a uint32 property.  Empty data stands for the default value.
 * Returns -EINVAL, and changes nothing, if @len is neither 0 nor 4.      [v2 §5.1] */
int rr_wire_get_value_u32(const void *data, uint32_t len, uint32_t default_value,
                          uint32_t *ret) RR_MUST_CHECK;

/* Decodes an rpcrdma2_propsubset into @words.  Returns -EBADMSG if it is malformed or
 * has more than @max words. */
int rr_wire_get_propsubset(struct rr_cursor *c, uint32_t *words, uint32_t max,
                           uint32_t *ret_count) RR_MUST_CHECK;
/* Returns bit @n of a subset of @count words; bits beyond the subset are zero. [X12] */
bool rr_wire_propsubset_has(const uint32_t *words, uint32_t count, uint32_t n);

/* -- encoding -------------------------------------------------------------- */

/* Each function appends to @w.  The caller checks rr_writer_bad once, after the last
 * call. */
void rr_wire_put_prefix(struct rr_writer *w, const struct rr_prefix *p);
/* Encodes @l.  If @l->over is set, encodes nothing and sets @w->bad. */
void rr_wire_put_lists(struct rr_writer *w, const struct rr_lists *l);
void rr_wire_put_error(struct rr_writer *w, const struct rr_error *e);
/* Encodes a complete RDMA2_ERR_VERS message in version 1 layout (28 octets).  Uses xid,
 * vers and the low half of the credit word from @p. [V4] */
void rr_wire_put_error_v1(struct rr_writer *w, const struct rr_prefix *p,
                          const struct rr_error *e);
void rr_wire_put_props_begin(struct rr_writer *w, uint32_t count);
void rr_wire_put_prop(struct rr_writer *w, const struct rr_prop *p);
void rr_wire_put_prop_u32(struct rr_writer *w, uint32_t id, uint32_t value);
void rr_wire_put_propsubset(struct rr_writer *w, const uint32_t *words, uint32_t count);

/* Returns the number of octets that rr_wire_put_lists will append. */
size_t rr_wire_lists_size(const struct rr_lists *l);

/* -- version 1 ------------------------------------------------------------- */

/* The same structures, encoded as RFC 8166 specifies.  The header has no flags and no
 * rdma_inv_handle: @flags is RDMA2_F_RESPONSE for RDMA_ERROR, otherwise 0 (then the RPC
 * message shows the direction).  RDMA_MSG, RDMA_NOMSG and RDMA_ERROR have the values of
 * RDMA2_MSG, RDMA2_NOMSG and RDMA2_ERROR; ERR_VERS and ERR_CHUNK have the values of
 * RDMA2_ERR_VERS and RDMA2_ERR_BAD_XDR. [RFC 8166 §4] */
enum {
	RR_WIRE_V1_PREFIX = 16,    /* octets in the fixed header of four words */
	RR_WIRE_V1_EMPTY_MSG = 28, /* octets in a header without chunks */
	RR_WIRE_V1_INLINE = 1024,  /* default inline threshold of version 1, octets */
	RR_WIRE_V1_DONE = 3,       /* header type RDMA_DONE */
};
int rr_wire_v1_get_prefix(struct rr_cursor *c, struct rr_prefix *ret) RR_MUST_CHECK;
int rr_wire_v1_get_lists(struct rr_cursor *c, struct rr_lists *ret) RR_MUST_CHECK;
int rr_wire_v1_get_error(struct rr_cursor *c, struct rr_error *ret) RR_MUST_CHECK;
void rr_wire_v1_put_prefix(struct rr_writer *w, const struct rr_prefix *p);
void rr_wire_v1_put_lists(struct rr_writer *w, const struct rr_lists *l);
void rr_wire_v1_put_error(struct rr_writer *w, const struct rr_error *e);
size_t rr_wire_v1_lists_size(const struct rr_lists *l);

/* An endpoint's announcement in the connection manager's private data. [RFC 8797] */
struct rr_wire_private {
	bool remote_invalidate;
	uint32_t send_bytes, recv_bytes; /* octets; 1024 to 262144 */
};
enum { RR_WIRE_PRIVATE_BYTES = 8 };
/* Encodes an announcement.  Sizes are rounded down to a multiple of 1024. */
void rr_wire_put_private(uint8_t to[RR_WIRE_PRIVATE_BYTES],
                         const struct rr_wire_private *);
/* Searches @data for the announcement, at any offset.  If there is none, returns false
 * and stores the defaults of RFC 8166 (no remote invalidation, 1024 octets in both
 * directions). */
bool rr_wire_find_private(const void *data, size_t len, struct rr_wire_private *ret);

/* -- building lists -------------------------------------------------------- */

/* Lists must be built in wire order (asserted): all Read segments, then each Write
 * chunk with its segments, then the Reply chunk.  Each function returns -ENOSPC, and
 * changes nothing, if the arrays are full. */
void rr_lists_init(struct rr_lists *l); /* makes all lists empty */
int rr_lists_add_read(struct rr_lists *l, uint32_t position,
                      const struct rr_segment *s) RR_MUST_CHECK;
int rr_lists_begin_write(struct rr_lists *l) RR_MUST_CHECK;
int rr_lists_begin_reply(struct rr_lists *l) RR_MUST_CHECK;
/* Appends a segment to the most recently begun Write or Reply chunk. */
int rr_lists_add_segment(struct rr_lists *l, const struct rr_segment *s) RR_MUST_CHECK;
/* Returns true if there is no Read, Write or Reply chunk.  rdma_inv_handle is
 * ignored. */
bool rr_lists_empty(const struct rr_lists *l);

#endif
