/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracle's view of one call, and the oracle's parts.
 *
 *   oracle.c         the judgement: regions, RDMA, order, contents
 *   oracle_log.c     the log, credits, grant messages
 *   oracle_props.c   the exchange of properties
 *   oracle_base.c    headers of version 1, of version 2, and RDMA2_MSG_DONE
 *   oracle_htfam.c   headers of the types X_                    [ext §6]
 *   oracle_rprc.c    exposed replies, notifications             [ext §3]
 *   oracle_inv.c     the handle that a Call names               [ext §4.3]
 *   oracle_rtr.c     requests and responses of the types XMOPT  [ext §5]
 *   oracle_group.c   the layout of their transmissions          [ext §5.4]
 *
 * The expected headers of the optional types are encoded by code that rpcgen makes of
 * the XDR in tests/spec/extensions.x.
 */
#ifndef TESTS_MATRIX_VIEW_H
#define TESTS_MATRIX_VIEW_H

#include "matrix.h"

enum {
	MX_PREFIX = 20,
	MX_REDUCE_FROM = 512, /* octets of the shortest item that is reduced */
	MX_SEGMENTS = 256,
	MX_BUFFER_SEGMENTS = 16,
	MX_TRANSMISSIONS = 64,
	MX_FRAGMENTS = 256,
	MX_TBSNS = 128,
};
enum { MX_READABLE = 1, MX_WRITABLE = 2 };

struct mx_octets {
	uint8_t p[MX_HEADER];
	size_t n;
};

/* An RDMA2_ERROR. */
struct mx_error {
	uint32_t code, arg[2];
	unsigned n_args;
};

enum { MX_WRITE_RESOURCE = 9, MX_REPLY_RESOURCE = 10 };

/* The structure of a Receive buffer, segment by segment. */
struct mx_buffer {
	uint32_t length;
	unsigned n, targets; /* segments; those that are DDP-targetable */
	struct {
		uint32_t start, length;
		bool target;
	} seg[MX_BUFFER_SEGMENTS];
};

/* What a side has advertised. */
struct mx_props {
	uint32_t send_bytes, recv_bytes, segment_bytes, max_segments, rvrsdir;
	uint32_t rprc, rtr, htfam; /* flags */
	uint32_t lifetime_ms, max_reply;
	bool refuses_inv;
	uint32_t request_limit, response_limit; /* transmissions */
	struct mx_buffer buffer;
};

struct mx_view {
	struct mx_world *w;
	const struct mx_case *k;
	struct mx_props props[2];
	unsigned responder;
	size_t to_responder, to_requester; /* thresholds */
	bool chunks, may_continue;
	bool exposes; /* the Responder may expose the Reply */
	enum mx_family family;
	unsigned reduced;     /* bits: items that are not in the Call's payload */
	unsigned call_sent;   /* bits: those of them that are placed by Send */
	unsigned sent_dirs;   /* bits: destinations that are directed to Sends */
	int result[MX_ITEMS]; /* the result of each destination, or -1 */
	unsigned placed;      /* bits: results that are not in the Reply's payload */
	unsigned reply_sent;  /* bits: those of them that are placed by Send */
	bool body, offers_reply;
	const struct mx_event *read[MX_ITEMS], *write[MX_ITEMS], *special, *reply;
	unsigned regions;
	uint32_t inv;      /* the handle that the Call names */
	bool carries;      /* the Call carries the notifications that are owed */
	uint32_t reserved; /* Receives for the response */
};

/* -- oracle_log.c ---------------------------------------------------------- */

uint32_t mx_get(const uint8_t *p, size_t at);
uint32_t mx_htype(const struct mx_event *);
bool mx_is_grant(const struct mx_event *);
/* A pull completion notification.                                    [ext §3.5] */
bool mx_is_done(const struct mx_event *);
/* Returns the next event of a kind after @after, or of the call if @after is NULL; NULL
 * if there is none.  Skips grant messages and notifications. */
const struct mx_event *mx_next(const struct mx_world *, unsigned side, enum mx_kind,
                               const struct mx_event *after);
const struct mx_event *mx_last(const struct mx_world *, unsigned side, enum mx_kind);
/* The messages that were sent arrive unchanged, in that order. */
void mx_judge_arrival(const struct mx_world *, unsigned from);
void mx_judge_grants(const struct mx_view *);
void mx_judge_credits(const struct mx_view *);

/* -- oracle_props.c -------------------------------------------------------- */

/* Judges the exchange of properties, and sets @v->props. */
void mx_judge_props(struct mx_view *);

/* -- oracle_base.c --------------------------------------------------------- */

size_t mx_pad4(size_t);
void mx_put(struct mx_octets *, uint32_t);
void mx_prefix(const struct mx_view *, struct mx_octets *, uint32_t htype,
               uint32_t flags);
/* Returns the number of segments in a chunk of @len octets. */
size_t mx_segment_count(const struct mx_view *, size_t len);
/* Returns how many octets of the chunk for destination @i are filled. */
size_t mx_filled(const struct mx_view *, unsigned i);
/* The header of a message that is a part, and not the last one; @rest octets of payload
 * follow it in others. */
void mx_part_header(const struct mx_view *, struct mx_octets *, bool reply,
                    size_t rest);
void mx_call_header(const struct mx_view *, struct mx_octets *, bool special);
/* @inv: the handle that the Reply names. */
void mx_reply_header(const struct mx_view *, struct mx_octets *, enum mx_result format,
                     size_t payload, uint32_t inv);
/* Compares the header of a message, and the octets of its credit word with what the
 * text permits. */
void mx_compare_header(const struct mx_view *, const struct mx_event *,
                       const struct mx_octets *want);

/* -- oracle_htfam.c -------------------------------------------------------- */

void mx_htfam_part(const struct mx_view *, struct mx_octets *, bool reply, size_t rest);
void mx_htfam_call(const struct mx_view *, struct mx_octets *, bool special);
void mx_htfam_reply(const struct mx_view *, struct mx_octets *, enum mx_result format,
                    size_t payload, uint32_t inv);

/* -- oracle_rprc.c --------------------------------------------------------- */

/* Returns true if the Requester provides a Reply chunk while replies can be exposed.
 * [ext §3.4] */
bool mx_rprc_offers(const struct mx_view *);
/* Judges how the Requester pulls a reply of @payload octets, and how it notifies. */
void mx_judge_pull(struct mx_view *, size_t payload, uint32_t inv);
/* Returns true if a Simple Call of @payload octets carries the notifications that are
 * owed. */
bool mx_rprc_carries(const struct mx_view *, size_t payload);
/* Judges the handle that the Send of such a Call invalidates, and returns it. */
uint32_t mx_rprc_carried_handle(const struct mx_view *, const struct mx_event *call);

/* -- oracle_inv.c ---------------------------------------------------------- */

/* Takes the handle that the Call names and judges it. */
void mx_judge_named(struct mx_view *, uint32_t named);

/* -- oracle_group.c -------------------------------------------------------- */

struct mx_fragment {
	unsigned number, item; /* transmission, item */
	uint32_t at;           /* octet of the transmission */
	size_t from, len;      /* octets of the item */
};

struct mx_load {
	const struct mx_buffer *to;
	uint32_t limit; /* longest transmission, octets */
	size_t header;  /* octets in the first header, without segment numbers */
	size_t payload; /* octets */
	unsigned n_items;
	size_t item[MX_ITEMS];
};

struct mx_group {
	unsigned count;
	size_t header[MX_TRANSMISSIONS], pslen[MX_TRANSMISSIONS];
	size_t len[MX_TRANSMISSIONS];
	unsigned n_fragments;
	struct mx_fragment fragment[MX_FRAGMENTS];
	unsigned n_tbsns[MX_ITEMS];
	uint32_t tbsn[MX_ITEMS][MX_TBSNS];
};

/* Lays out a group.  Returns false if it cannot be sent in @most transmissions. */
bool mx_lay_out(const struct mx_load *, unsigned most, struct mx_group *ret);

/* -- oracle_rtr.c ---------------------------------------------------------- */

/* Returns true if the Call is sent as RDMA2_XMOPT_REQ; then sets in @v which items are
 * placed by Send, which destinations are directed to Sends, and whether there is a body
 * item or a Reply chunk. */
bool mx_rtr_begin(struct mx_view *);
/* Judges the transmissions of the request, whose regions are known. */
enum mx_result mx_rtr_request(struct mx_view *, const uint8_t *payload, size_t len);
/* Sets which results are placed, and judges the transmissions of the response.  If no
 * response is possible, returns MX_REFUSED and stores the error. */
enum mx_result mx_rtr_response(struct mx_view *, struct mx_error *ret);

#endif
