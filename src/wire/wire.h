/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport header: octets <-> one internal representation.
 *
 * Version 2 is encoded and decoded here; version 1 (v1.c) fills the same
 * structures from another layout, so that nothing above this file knows a
 * layout.  Pure functions: no memory but the caller's, no state.
 *
 * Decoding reads a message that the peer sent.  It bounds every count by the
 * octets that are left before it loops, accepts only 0 and 1 as "is present"
 * words [K24], and writes its result only on success.  More
 * segments or chunks than the fixed arrays hold are counted, not stored
 * (@over), so that the caller can answer with RDMA2_ERR_SEGMENTS and friends
 * instead of calling well-formed octets bad.          [v2 §6, §8.3, §8.4]
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
	RR_WIRE_MAX_SEGMENTS = 64,     /* of one header, all chunk kinds together */
	RR_WIRE_MAX_WRITES = 16,       /* Write chunks of one header */
	RR_WIRE_MAX_PROPS = 256,       /* of one property set [P20] */
	RR_WIRE_PREFIX = 20,           /* octets of rpcrdma2_hdr_prefix */
	RR_WIRE_EMPTY_MSG = 36,        /* octets of a header without chunks */
	RR_WIRE_DEFAULT_INLINE = 4096, /* [v2 §4.2.2] */
	RR_WIRE_FIRST_MESSAGE = 1024,  /* client's first message [v2 §4.2.3] */
	RR_WIRE_MIN_INLINE = 1024,     /* [P8] */
	RR_WIRE_DEFAULT_RSSIZ = 1048576,
	RR_WIRE_DEFAULT_RCSIZ = 16,
};

struct rr_prefix {
	uint32_t xid;
	uint32_t vers;
	uint32_t credit;
	uint32_t htype; /* any value: unknown ones are the caller's business */
	uint32_t flags; /* reserved bits included as received */
};

/* A plain segment.                                               [v2 §4.3.3] */
struct rr_segment {
	uint32_t handle;
	uint32_t length;
	uint64_t offset;
};

/* A chunk: @count segments from lists.seg[@first] on; @length is their sum,
 * which cannot wrap (64 segments of 32 bits). */
struct rr_chunk {
	uint16_t first;
	uint16_t count;
	uint32_t position; /* Read chunks only */
	uint64_t length;
};

/*
 * rpcrdma2_chunk_lists, parsed once.                        [v2 §6.2.3, §4.3]
 * Read segments that follow each other with the same Position are one chunk.
 * All segments lie in @seg: those of the Read list first, then those of the
 * Write list, then the Reply chunk's.  Array entries beyond the counts are not
 * written.  With @over a tail is missing and the last chunk may be cut: judge
 * such a list by its totals, do not use it and do not encode it.
 */
struct rr_lists {
	uint32_t inv_handle;
	uint16_t n_segs;  /* stored */
	uint16_t n_reads; /* chunks; a Position Zero Read chunk counts */
	uint16_t n_writes;
	bool has_reply;
	bool over;          /* more than fits here: the totals below say how many */
	bool reads_descend; /* a Position smaller than the one before it [K3] */
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
	const uint8_t *data; /* within the message decoded, or the caller's */
	uint32_t value;      /* uint32 properties: @data decoded (len == 4), or the
			   default (len == 0) */
};

/* -- decoding ------------------------------------------------------------
 * Each function takes a cursor at its first octet.  On success it advances
 * the cursor past exactly what it read, and fills @ret; otherwise it returns
 * -EBADMSG and changes neither. */

/* The 20-octet prefix.  Values are not judged.                [v2 §6.2.1-6.2.2] */
int rr_wire_get_prefix(struct rr_cursor *c, struct rr_prefix *ret) RR_MUST_CHECK;

/* inv_handle, Read list, Write list, Reply chunk.                 [v2 §6.2.3] */
int rr_wire_get_lists(struct rr_cursor *c, struct rr_lists *ret) RR_MUST_CHECK;

/* The body of RDMA2_ERROR.  An unknown code takes the void arm; octets after
 * the arm are left to the caller to ignore [E5].                   [v2 §6.3.3] */
int rr_wire_get_error(struct rr_cursor *c, struct rr_error *ret) RR_MUST_CHECK;

/*
 * The answers to a first message, before the version is settled.    [V3, V5]
 * @c covers the whole message.  Understands RDMA2_ERR_VERS in version 2
 * layout (32 octets), in version 1 layout (28 octets, rdma_vers 1 or 2), and
 * the version 1 error without range (code 2, 20 octets: arg 1, 1).  Returns
 * the layout (1 or 2) and fills @ret; -ENOMSG if it is none of these.  In
 * @ret_prefix flags is RDMA2_F_RESPONSE for both layouts, credit as received.
 */
int rr_wire_get_first_error(const struct rr_cursor *c, struct rr_prefix *ret_prefix,
                            struct rr_error *ret) RR_MUST_CHECK;

/*
 * Property sets.  First rr_wire_get_props_begin for the count, then _next
 * that many times.                                              [v2 §5.1, P5]
 * @_begin: -EBADMSG if the count word is missing or the count cannot fit in
 * the octets left (8 each) or exceeds RR_WIRE_MAX_PROPS.
 * @_next: -EBADMSG if rdma_which or the length word is incomplete; -EINVAL
 * (answer: RDMA2_ERR_BAD_PROPVAL) if rdma_data passes the end of the message
 * or does not conform to the type of a known property.  Unknown properties
 * are returned as they are.
 */
int rr_wire_get_props_begin(struct rr_cursor *c, uint32_t *ret_count) RR_MUST_CHECK;
int rr_wire_get_prop(struct rr_cursor *c, struct rr_prop *ret) RR_MUST_CHECK;

/* rpcrdma2_propsubset: bit @n of the words, words beyond the end are zero. [X12]
 * A subset of more than @max words is -EBADMSG. */
int rr_wire_get_propsubset(struct rr_cursor *c, uint32_t *words, uint32_t max,
                           uint32_t *ret_count) RR_MUST_CHECK;
bool rr_wire_propsubset_has(const uint32_t *words, uint32_t count, uint32_t n);

/* -- encoding ------------------------------------------------------------
 * Each function appends to @w; check rr_writer_bad once at the end. */
void rr_wire_put_prefix(struct rr_writer *w, const struct rr_prefix *p);
/* Marks the writer if @l is @over. */
void rr_wire_put_lists(struct rr_writer *w, const struct rr_lists *l);
void rr_wire_put_error(struct rr_writer *w, const struct rr_error *e);
/* RDMA2_ERR_VERS in version 1 layout, prefix included (28 octets); of the credit
 * word only the low half, of @p only xid, vers and credit. [V4] */
void rr_wire_put_error_v1(struct rr_writer *w, const struct rr_prefix *p,
                          const struct rr_error *e);
void rr_wire_put_props_begin(struct rr_writer *w, uint32_t count);
void rr_wire_put_prop(struct rr_writer *w, const struct rr_prop *p);
void rr_wire_put_prop_u32(struct rr_writer *w, uint32_t id, uint32_t value);
void rr_wire_put_propsubset(struct rr_writer *w, const uint32_t *words, uint32_t count);

/* Octets that rr_wire_put_lists will append. */
size_t rr_wire_lists_size(const struct rr_lists *l);

/* -- version 1 --------------------------------------------------------------
 * The same structures from the layout of RFC 8166: no flags (RDMA2_F_RESPONSE is
 * set in them for RDMA_ERROR only: the direction is in the RPC message), no
 * rdma_inv_handle; RDMA_MSG 0 and RDMA_NOMSG 1 are RDMA2_MSG and RDMA2_NOMSG,
 * RDMA_ERROR 4 RDMA2_ERROR; ERR_VERS is RDMA2_ERR_VERS, ERR_CHUNK is
 * RDMA2_ERR_BAD_XDR (both are 2).                              [RFC 8166 §4] */
enum {
	RR_WIRE_V1_PREFIX = 16,
	RR_WIRE_V1_EMPTY_MSG = 28,
	RR_WIRE_V1_INLINE = 1024,
	RR_WIRE_V1_DONE = 3,
	RR_WIRE_V1_MSGP = 2
};
int rr_wire_v1_get_prefix(struct rr_cursor *c, struct rr_prefix *ret) RR_MUST_CHECK;
int rr_wire_v1_get_lists(struct rr_cursor *c, struct rr_lists *ret) RR_MUST_CHECK;
int rr_wire_v1_get_error(struct rr_cursor *c, struct rr_error *ret) RR_MUST_CHECK;
void rr_wire_v1_put_prefix(struct rr_writer *w, const struct rr_prefix *p);
void rr_wire_v1_put_lists(struct rr_writer *w, const struct rr_lists *l);
void rr_wire_v1_put_error(struct rr_writer *w, const struct rr_error *e);
size_t rr_wire_v1_lists_size(const struct rr_lists *l);

/* Private data of the connection manager.                         [RFC 8797] */
struct rr_wire_private {
	bool remote_invalidate;
	uint32_t send_bytes, recv_bytes; /* 1024 .. 262144 */
};
enum { RR_WIRE_PRIVATE_BYTES = 8 };
void rr_wire_put_private(uint8_t to[RR_WIRE_PRIVATE_BYTES],
                         const struct rr_wire_private *);
/* Anywhere in @data; the defaults (no, 1024, 1024) and false if there is none. */
bool rr_wire_find_private(const void *data, size_t len, struct rr_wire_private *ret);

/* -- building lists -------------------------------------------------------
 * In wire order: all Read segments, then for each Write chunk begin and
 * segments, then the Reply chunk (asserted).  -ENOSPC, and nothing changed,
 * when the arrays are full. */
void rr_lists_init(struct rr_lists *l);
int rr_lists_add_read(struct rr_lists *l, uint32_t position,
                      const struct rr_segment *s) RR_MUST_CHECK;
int rr_lists_begin_write(struct rr_lists *l) RR_MUST_CHECK;
int rr_lists_begin_reply(struct rr_lists *l) RR_MUST_CHECK;
/* Appends to the Write or Reply chunk begun last. */
int rr_lists_add_segment(struct rr_lists *l, const struct rr_segment *s) RR_MUST_CHECK;
/* No Read list, no Write list, no Reply chunk (rdma_inv_handle aside). */
bool rr_lists_empty(const struct rr_lists *l);

#endif
