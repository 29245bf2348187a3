/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send-based placement and counted continuation on the wire: the properties of the
 * feature, and the header types RDMA2_XMOPT_REQ, _RESP, _CONT and _ERR.
 *
 * A request and a response name the items that are not in the Payload stream (struct
 * rr_rtr_item), and a request also says how to place the items of the response (struct
 * rr_rtr_dir, in sets).  Both have the same internal form, struct rr_rtr_header.
 *
 * As in wire.h, decoders bound each count by the octets that are left, check everything,
 * and write their result only on success.  What does not fit the arrays is checked and
 * counted but not stored (@over), so that the caller can answer a well-formed header
 * that is too long with RDMA2_ERR_READ_CHUNKS or a similar error.
 *                                                       [ext §5.1 to §5.8]
 */
#ifndef RR_WIRE_RTR_WIRE_H
#define RR_WIRE_RTR_WIRE_H

#include "wire/wire.h"

enum rr_wire_rtr_htype {
	RDMA2_XMOPT_REQ = 0xFFFFFF15,
	RDMA2_XMOPT_RESP = 0xFFFFFF16,
	RDMA2_XMOPT_CONT = 0xFFFFFF17,
	RDMA2_XMOPT_ERR = 0xFFFFFF18,
};

enum {
	RR_WIRE_RTR_MAX_ITEMS = 16,  /* items in one header */
	RR_WIRE_RTR_MAX_SETS = 16,   /* sets of directions in one header */
	RR_WIRE_RTR_MAX_DIRS = 16,   /* directions in one header, in all sets */
	RR_WIRE_RTR_MAX_TBSNS = 256, /* segment numbers in one header, of all items */
	RR_WIRE_RTR_MAX_GROUPS = 16, /* groups of segments in one buffer */
	RR_WIRE_RTR_CONT = 12,       /* octets in the body of RDMA2_XMOPT_CONT */
	RR_WIRE_RTR_TBSN = 4,        /* octets that a segment number adds to a header */
};

/* -- properties ------------------------------------------------------------ */

enum rr_wire_rtr_propid {
	RDMA2_PROPID_RTRSUPP = 0xFFFFFF13,
	RDMA2_PROPID_RBSTRUCT = 0xFFFFFF14,
	RDMA2_PROPID_REQRXLIM = 0xFFFFFF15,
	RDMA2_PROPID_RESPSXLIM = 0xFFFFFF16,
};

/* RDMA2_PROPID_RTRSUPP */
enum rr_wire_rtr_flag {
	RTRS_XREQ = 0x00000001,     /* RDMA2_XMOPT_REQ */
	RTRS_XRESP = 0x00000002,    /* RDMA2_XMOPT_RESP */
	RTRS_XCONT = 0x00000004,    /* RDMA2_XMOPT_CONT */
	RTRS_TBSNRESP = 0x00000008, /* places items of responses by Send */
};

enum { XMRSFLAG_DDP = 0x01 }; /* the segment is a target of placement */

/* @count segments of a Receive buffer, one after the other, that are alike. */
struct rr_rbgroup {
	uint32_t count;
	uint32_t length; /* octets in each segment */
	uint32_t align;  /* octets, a power of two */
	uint32_t flags;  /* XMRSFLAG_DDP, or 0 */
};

/* The structure of a Receive buffer, RDMA2_PROPID_RBSTRUCT.  The value of no octets, which
 * stands for the default, has a length of 0 and no groups. */
struct rr_rbstruct {
	uint32_t length; /* octets in the buffer */
	uint32_t n_groups;
	uint32_t total_groups; /* including those not stored */
	bool over;             /* more groups than the array holds: of no use for
	                        * placement */
	struct rr_rbgroup group[RR_WIRE_RTR_MAX_GROUPS];
};

/* Each decodes the value of a property in @data, with a length of 0 for the default.
 * Returns -EINVAL (to be answered with RDMA2_ERR_BAD_PROPVAL), and changes nothing, if
 * the value does not decode or breaks a rule of [ext §5.2]. */

/* Unknown flags are cleared.  XREQ and XRESP must be equal, XCONT and TBSNRESP need
 * both. */
int rr_wire_rtr_get_support(const void *data, uint32_t len,
                            uint32_t *ret) RR_MUST_CHECK;
/* REQRXLIM and RESPSXLIM.  Default: 1.  The value 0 is taken for 1. */
int rr_wire_rtr_get_limit(const void *data, uint32_t len, uint32_t *ret) RR_MUST_CHECK;
/* Checks all groups, also those not stored.  Unknown flags of segments are cleared. */
int rr_wire_rtr_get_rbstruct(const void *data, uint32_t len,
                             struct rr_rbstruct *ret) RR_MUST_CHECK;
/* Encodes the value.  If @s->over is set, encodes nothing and sets @w->bad. */
void rr_wire_rtr_put_rbstruct(struct rr_writer *w, const struct rr_rbstruct *s);
size_t rr_wire_rtr_rbstruct_size(const struct rr_rbstruct *s);
/* Returns the default structure: one segment of @bytes octets, not a target. */
struct rr_rbstruct rr_wire_rtr_default_rbstruct(uint32_t bytes);

/* -- requests and responses ------------------------------------------------ */

/* xmddp_type.  Which of them may stand where is in the table of [ext §5.3]. */
enum rr_wire_rtr_place {
	XMDTYPE_EXRW = 1,     /* explicit RDMA, in segments */
	XMDTYPE_TBSN = 2,     /* placed by Send, in numbered buffer segments */
	XMDTYPE_CHOICE = 3,   /* direction: the Responder chooses EXRW or TBSN */
	XMDTYPE_BYSIZE = 4,   /* direction: EXRW above a length, else TBSN */
	XMDTYPE_TOOSHORT = 5, /* result: inline, shorter than the direction wants */
	XMDTYPE_NOITEM = 6,   /* result: the direction had no item */
};

/* An item of the message, xmddp_mitem. */
struct rr_rtr_item {
	uint32_t disp;   /* position in the virtual stream, octets; 0: the whole
	                        * Payload stream of a request (only first, only EXRW) */
	uint32_t length; /* octets, without padding */
	uint32_t type;   /* enum rr_wire_rtr_place */
	uint32_t offset; /* TBSN: where the item begins in the first segment, octets;
	                        * else 0 */
	struct rr_chunk where; /* EXRW: in rr_rtr_header.seg.  TBSN: first and count in
	                        * rr_rtr_header.tbsn.  Its position is @disp. */
};

/* How to place one item of the response, xmddp_rsditem. */
struct rr_rtr_dir {
	uint32_t min_length; /* shorter items stay inline, octets */
	uint32_t type;       /* enum rr_wire_rtr_place */
	uint32_t above; /* BYSIZE: longer items use explicit RDMA, octets; else 0 */
	struct rr_chunk where; /* EXRW, CHOICE, BYSIZE: in rr_rtr_header.seg */
};

/* Directions for the results of request positions @begin to @end - 1, xmddp_rsdset. */
struct rr_rtr_set {
	uint32_t begin, end;
	uint16_t first, count; /* in rr_rtr_header.dir */
};

/*
 * The body of RDMA2_XMOPT_REQ or RDMA2_XMOPT_RESP.  Array entries beyond the counts are
 * not written.  @seg has the segments of items, then of directions, then of the Reply
 * chunk.  If @over is set, the arrays are incomplete: the caller may use the totals to
 * choose an error, but must not use or encode the header.
 */
struct rr_rtr_header {
	uint32_t inv_handle; /* requests only */
	uint32_t count;      /* transmissions in the group, at least 1 */
	uint32_t rsbuf;      /* Receives reserved for the response, at least 1; requests
	                      * only */
	uint32_t pslen;      /* octets of Payload stream in this transmission */
	uint16_t n_items;
	uint16_t n_sets; /* requests only, with their directions */
	uint16_t n_dirs;
	uint16_t n_segs;
	uint16_t n_tbsns;
	bool has_reply;
	bool over; /* the totals below include everything */
	uint32_t total_items;
	uint32_t total_sets;
	uint32_t total_dirs;
	uint32_t total_segs;
	uint32_t total_tbsns;
	struct rr_chunk reply;
	struct rr_rtr_item item[RR_WIRE_RTR_MAX_ITEMS];
	struct rr_rtr_set set[RR_WIRE_RTR_MAX_SETS];
	struct rr_rtr_dir dir[RR_WIRE_RTR_MAX_DIRS];
	struct rr_segment seg[RR_WIRE_MAX_SEGMENTS];
	uint32_t tbsn[RR_WIRE_RTR_MAX_TBSNS];
};

/*
 * Decode the body of a request or response.  The cursor stops at its Payload stream.
 * Return -EBADMSG, and change nothing, if the body is malformed.  That includes, apart
 * from places which the table of [ext §5.3] excludes: a count or reservation of 0; items
 * that are not in order, overlap, or are not at a multiple of four; EXRW segments whose
 * lengths do not add up to that of the item; a displacement of 0, but in a first item
 * that is the whole Payload stream of a request of one transmission; NOITEM with a
 * displacement or length; ranges that are empty or not in order.
 */
int rr_wire_rtr_get_req(struct rr_cursor *c, struct rr_rtr_header *ret) RR_MUST_CHECK;
int rr_wire_rtr_get_resp(struct rr_cursor *c, struct rr_rtr_header *ret) RR_MUST_CHECK;
/* Encode @h.  If @h->over is set, encode nothing and set @w->bad.  Set @w->bad if a place
 * is one that no item, or no direction, can have. */
void rr_wire_rtr_put_req(struct rr_writer *w, const struct rr_rtr_header *h);
void rr_wire_rtr_put_resp(struct rr_writer *w, const struct rr_rtr_header *h);
/* Return the number of octets that the encoder will append. */
size_t rr_wire_rtr_req_size(const struct rr_rtr_header *h);
size_t rr_wire_rtr_resp_size(const struct rr_rtr_header *h);

/* Building.  Headers must be built in wire order (asserted): items, sets with their
 * directions, Reply chunk, each with its segments.  A function returns -ENOSPC, and
 * changes nothing, if its array is full. */

/* Makes an empty header, with 1 for @count and @rsbuf. */
void rr_rtr_init(struct rr_rtr_header *h);
/* Copies @from to @to, without the array entries that are not in use. */
void rr_rtr_copy(struct rr_rtr_header *to, const struct rr_rtr_header *from);
int rr_rtr_add_item(struct rr_rtr_header *h, uint32_t disp, uint32_t length,
                    enum rr_wire_rtr_place type) RR_MUST_CHECK;
int rr_rtr_add_set(struct rr_rtr_header *h, uint32_t begin, uint32_t end) RR_MUST_CHECK;
/* Adds a direction to the last set.  @above is 0 unless @type is BYSIZE. */
int rr_rtr_add_dir(struct rr_rtr_header *h, uint32_t min_length,
                   enum rr_wire_rtr_place type, uint32_t above) RR_MUST_CHECK;
void rr_rtr_begin_reply(struct rr_rtr_header *h);
/* Adds a segment to what was added last: item, direction or Reply chunk. */
int rr_rtr_add_segment(struct rr_rtr_header *h,
                       const struct rr_segment *s) RR_MUST_CHECK;
/* Adds a segment number to the last item. */
int rr_rtr_add_tbsn(struct rr_rtr_header *h, uint32_t tbsn) RR_MUST_CHECK;

/* -- continuation and reports ---------------------------------------------- */

/* The body of RDMA2_XMOPT_CONT. */
struct rr_rtr_cont {
	uint32_t xnum;  /* number of the transmission in its group; the first has 0 */
	uint32_t itype; /* header type of the first transmission, any value */
	uint32_t pslen; /* octets of Payload stream in this transmission */
};

int rr_wire_rtr_get_cont(struct rr_cursor *c, struct rr_rtr_cont *ret) RR_MUST_CHECK;
void rr_wire_rtr_put_cont(struct rr_writer *w, const struct rr_rtr_cont *k);

/* optr_err */
enum rr_wire_rtr_report {
	OPTRERR_BADHMT = 1,  /* another header type within a group */
	OPTRERR_BADOMT = 2,  /* another RDMA2_XMOPT type within a group */
	OPTRERR_BADCONT = 3, /* a continuation without a group */
	OPTRERR_BADSEQ = 4,  /* a wrong number or count of transmissions */
	OPTRERR_BADXID = 5,  /* a continuation with another XID */
	OPTRERR_BADOFF = 6,  /* a wrong offset of an item, or overlap */
	OPTRERR_BADTBSN = 7, /* a wrong number, or count of numbers, of segments */
	OPTRERR_BADPL = 8,   /* a wrong length of Payload stream */
};

/* Names a transmission. */
struct rr_rtr_id {
	uint32_t xid;
	uint32_t dir; /* 0: of a Call, 1: of a Reply; any other value may be received */
	uint32_t seq; /* its number in the group */
};

/* The body of RDMA2_XMOPT_ERR. */
struct rr_rtr_error {
	struct rr_rtr_id bad;
	bool has_lead;
	struct rr_rtr_id
	        lead;    /* first transmission of the group, if @has_lead; else 0 */
	uint32_t code;   /* enum rr_wire_rtr_report */
	uint32_t arg[3]; /* BADHMT, BADOMT, BADSEQ, BADXID: expected, received.  BADOFF,
	                        * BADTBSN, BADPL: value, smallest and largest valid one.
	                        * BADCONT: none. */
};

/* Decodes the body of RDMA2_XMOPT_ERR.  Returns -EBADMSG, and changes nothing, if it is
 * malformed or has an unknown code. */
int rr_wire_rtr_get_error(struct rr_cursor *c, struct rr_rtr_error *ret) RR_MUST_CHECK;
void rr_wire_rtr_put_error(struct rr_writer *w, const struct rr_rtr_error *e);

#endif
