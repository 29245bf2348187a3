/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport header: octets <-> one internal representation.
 *
 * Version 2 is encoded and decoded here; version 1 (v1.c) fills the same
 * structures from another layout, so that nothing above this file knows a
 * layout.  Pure functions: no memory but the caller's, no state.
 *
 * Decoders read a message that the peer sent.  They bound every count by the octets
 * that are left before they loop.  They accept only 0 and 1 as "is present" words
 * [K24], and write their result only on success.  Segments and chunks beyond the fixed
 * arrays are counted but not stored (@over).  So the caller can answer well-formed
 * lists that are too long with RDMA2_ERR_SEGMENTS and the like.
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
	RR_WIRE_MAX_SEGMENTS = 64,     /* in one header, all kinds of chunks together */
	RR_WIRE_MAX_WRITES = 16,       /* Write chunks in one header */
	RR_WIRE_MAX_PROPS = 256,       /* properties in one set [P20] */
	RR_WIRE_PREFIX = 20,           /* octets in rpcrdma2_hdr_prefix */
	RR_WIRE_EMPTY_MSG = 36,        /* octets in a header without chunks */
	RR_WIRE_DEFAULT_INLINE = 4096, /* [v2 §4.2.2] */
	RR_WIRE_FIRST_MESSAGE = 1024,  /* most octets in a client's first message
	                                  [v2 §4.2.3] */
	RR_WIRE_MIN_INLINE = 1024,     /* [P8] */
	RR_WIRE_DEFAULT_RSSIZ = 1048576,
	RR_WIRE_DEFAULT_RCSIZ = 16,
};

struct rr_prefix {
	uint32_t xid;
	uint32_t vers;
	uint32_t credit;
	uint32_t htype; /* any value: the caller judges unknown ones */
	uint32_t flags; /* as received, reserved bits included */
};

/* A plain segment.                                               [v2 §4.3.3] */
struct rr_segment {
	uint32_t handle;
	uint32_t length;
	uint64_t offset;
};

/* A chunk: @count segments, the first of them rr_lists.seg[@first].  @length is the sum
 * of their lengths, which cannot wrap (64 segments of 32 bits). */
struct rr_chunk {
	uint16_t first;
	uint16_t count;
	uint32_t position; /* Read chunks only */
	uint64_t length;
};

/*
 * rpcrdma2_chunk_lists, parsed once.                        [v2 §6.2.3, §4.3]
 * Adjacent Read segments with the same Position form one chunk.  All segments
 * lie in @seg: those of the Read list first, then those of the Write list, then
 * those of the Reply chunk.  Array entries beyond the counts are not written.
 * With @over the end of the lists is missing and the last chunk may be
 * incomplete: such lists are judged by their totals, never used or encoded.
 */
struct rr_lists {
	uint32_t inv_handle;
	uint16_t n_segs;  /* stored */
	uint16_t n_reads; /* chunks; a Position Zero Read chunk counts */
	uint16_t n_writes;
	bool has_reply;
	bool over;          /* not all of it fits here; the totals below count all */
	bool reads_descend; /* some Position is smaller than the one before it [K3] */
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
	uint32_t arg[2]; /* VERS: low, high.  READ_CHUNKS, WRITE_CHUNKS: max.
			    SEGMENTS: max.  WRITE_RESOURCE: index, needed.
			    REPLY_RESOURCE: needed.  Others: 0. */
};

struct rr_prop {
	uint32_t id;
	uint32_t len;        /* octets of @data, without padding; 0 = the default */
	const uint8_t *data; /* borrowed: within the message, or the caller's */
	uint32_t value;      /* of uint32 properties: @data decoded (len == 4), or the
			   default (len == 0) */
};

/* -- decoding -------------------------------------------------------------- */

/* Each function takes a cursor that stands at the first octet of its subject.
 * On success it advances the cursor past exactly what it read, fills @ret and
 * returns 0; otherwise it returns -EBADMSG and changes neither. */

/* Decodes the 20-octet prefix, whatever its values.           [v2 §6.2.1-6.2.2] */
int rr_wire_get_prefix(struct rr_cursor *c, struct rr_prefix *ret) RR_MUST_CHECK;

/* Decodes rdma_inv_handle, Read list, Write list and Reply chunk. [v2 §6.2.3] */
int rr_wire_get_lists(struct rr_cursor *c, struct rr_lists *ret) RR_MUST_CHECK;

/* Decodes the body of RDMA2_ERROR.  An unknown code has the void arm.  Octets after
 * the arm are not read: the caller ignores them [E5].              [v2 §6.3.3] */
int rr_wire_get_error(struct rr_cursor *c, struct rr_error *ret) RR_MUST_CHECK;

/*
 * Decodes a refusal of a first message, before the version is settled.  [V3, V5]
 * @c covers the whole message.  Accepts RDMA2_ERR_VERS in version 2 layout (32 octets
 * or more) and in version 1 layout (28 octets, rdma_vers 1 or 2).  Accepts also the
 * version 1 error without a range (code 2, 20 octets); @ret then has the range 1 to 1.
 * Returns the layout (1 or 2), or -ENOMSG for any other message.  In @ret_prefix, flags
 * is RDMA2_F_RESPONSE for both layouts; credit is as received.
 */
int rr_wire_get_first_error(const struct rr_cursor *c, struct rr_prefix *ret_prefix,
                            struct rr_error *ret) RR_MUST_CHECK;

/* Decodes the count of a property set; as many calls of rr_wire_get_prop follow.
 * -EBADMSG also if the count exceeds RR_WIRE_MAX_PROPS, or the octets left cannot hold
 * as many properties (8 octets each at least).                   [v2 §5.1, P5] */
int rr_wire_get_props_begin(struct rr_cursor *c, uint32_t *ret_count) RR_MUST_CHECK;
/* Decodes one property of a set.  -EBADMSG if rdma_which or the length word is
 * incomplete.  -EINVAL (answer: RDMA2_ERR_BAD_PROPVAL) if rdma_data passes the end of
 * the message, or does not conform to the type of a known property.  Unknown properties
 * are returned as they are.                                          [v2 §5.1, P5] */
int rr_wire_get_prop(struct rr_cursor *c, struct rr_prop *ret) RR_MUST_CHECK;

/* Decodes an rpcrdma2_propsubset into @words; more than @max are -EBADMSG too. */
int rr_wire_get_propsubset(struct rr_cursor *c, uint32_t *words, uint32_t max,
                           uint32_t *ret_count) RR_MUST_CHECK;
/* Returns bit @n of a subset; words beyond its end are zero. [X12] */
bool rr_wire_propsubset_has(const uint32_t *words, uint32_t count, uint32_t n);

/* -- encoding -------------------------------------------------------------- */

/* Each function appends to @w; the caller checks rr_writer_bad once at the end. */
void rr_wire_put_prefix(struct rr_writer *w, const struct rr_prefix *p);
/* Marks the writer instead if @l is @over. */
void rr_wire_put_lists(struct rr_writer *w, const struct rr_lists *l);
void rr_wire_put_error(struct rr_writer *w, const struct rr_error *e);
/* Encodes RDMA2_ERR_VERS in version 1 layout, prefix included (28 octets).  Takes xid
 * and vers from @p, and the low half of its credit word. [V4] */
void rr_wire_put_error_v1(struct rr_writer *w, const struct rr_prefix *p,
                          const struct rr_error *e);
void rr_wire_put_props_begin(struct rr_writer *w, uint32_t count);
void rr_wire_put_prop(struct rr_writer *w, const struct rr_prop *p);
void rr_wire_put_prop_u32(struct rr_writer *w, uint32_t id, uint32_t value);
void rr_wire_put_propsubset(struct rr_writer *w, const uint32_t *words, uint32_t count);

/* Returns the number of octets that rr_wire_put_lists will append. */
size_t rr_wire_lists_size(const struct rr_lists *l);

/* -- version 1 ------------------------------------------------------------- */

/* The same structures, encoded as RFC 8166 has it.  The header has no flags and
 * no rdma_inv_handle: @flags is RDMA2_F_RESPONSE for RDMA_ERROR and else 0 (the
 * direction of other messages is in the RPC message).  RDMA_MSG, RDMA_NOMSG and
 * RDMA_ERROR have the values of RDMA2_MSG, RDMA2_NOMSG and RDMA2_ERROR; ERR_VERS
 * and ERR_CHUNK those of RDMA2_ERR_VERS and RDMA2_ERR_BAD_XDR. [RFC 8166 §4] */
enum {
	RR_WIRE_V1_PREFIX = 16,    /* octets in the four fixed words */
	RR_WIRE_V1_EMPTY_MSG = 28, /* octets in a header without chunks */
	RR_WIRE_V1_INLINE = 1024,  /* default inline threshold */
	RR_WIRE_V1_DONE = 3,       /* RDMA_DONE */
};
int rr_wire_v1_get_prefix(struct rr_cursor *c, struct rr_prefix *ret) RR_MUST_CHECK;
int rr_wire_v1_get_lists(struct rr_cursor *c, struct rr_lists *ret) RR_MUST_CHECK;
int rr_wire_v1_get_error(struct rr_cursor *c, struct rr_error *ret) RR_MUST_CHECK;
void rr_wire_v1_put_prefix(struct rr_writer *w, const struct rr_prefix *p);
void rr_wire_v1_put_lists(struct rr_writer *w, const struct rr_lists *l);
void rr_wire_v1_put_error(struct rr_writer *w, const struct rr_error *e);
size_t rr_wire_v1_lists_size(const struct rr_lists *l);

/* What an endpoint announces in the connection manager's private data. [RFC 8797] */
struct rr_wire_private {
	bool remote_invalidate;
	uint32_t send_bytes, recv_bytes; /* octets; 1024 to 262144 */
};
enum { RR_WIRE_PRIVATE_BYTES = 8 };
/* Encodes an announcement.  Sizes are rounded down to a multiple of 1024. */
void rr_wire_put_private(uint8_t to[RR_WIRE_PRIVATE_BYTES],
                         const struct rr_wire_private *);
/* Finds the announcement anywhere in @data.  False, and the defaults of RFC 8166 (no
 * remote invalidation, 1024 octets both ways), if there is none. */
bool rr_wire_find_private(const void *data, size_t len, struct rr_wire_private *ret);

/* -- building lists -------------------------------------------------------- */

/* Lists are built in the order of the wire (asserted): all Read segments, then
 * each Write chunk with its segments, then the Reply chunk.  Each function
 * returns -ENOSPC, and changes nothing, when the arrays are full. */
void rr_lists_init(struct rr_lists *l); /* empty lists */
int rr_lists_add_read(struct rr_lists *l, uint32_t position,
                      const struct rr_segment *s) RR_MUST_CHECK;
int rr_lists_begin_write(struct rr_lists *l) RR_MUST_CHECK;
int rr_lists_begin_reply(struct rr_lists *l) RR_MUST_CHECK;
/* Appends to the Write or Reply chunk that was begun last. */
int rr_lists_add_segment(struct rr_lists *l, const struct rr_segment *s) RR_MUST_CHECK;
/* Is there no Read list, no Write list and no Reply chunk?  rdma_inv_handle does not
 * matter. */
bool rr_lists_empty(const struct rr_lists *l);

#endif
