/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every format with every kind of chunk, in both directions, over a provider.
 *
 * A case describes a call.  From the text of the specification, without the codec or
 * the encoder under test, the oracle (view.h) derives what must happen: the header of
 * every message, octet by octet; the parts; the RDMA Reads and Writes that are posted,
 * and when; the results of the two users.  world.c moves two connections over two
 * endpoints of one provider by the library's pump, and writes down everything that
 * passes between them (the log); prov_sim.c and prov_iwarp.c are the providers.
 *
 * matrix.c has the table for the base protocol, version 1 and the header types X_;
 * options.c has the tables for the other optional features.
 *
 * The setting's @version is the only version of the two connections.  The table does
 * not depend on a layout: the oracle encodes prefixes and lists, and knows what version
 * 1 has instead of continuation.
 */
#ifndef TESTS_MATRIX_MATRIX_H
#define TESTS_MATRIX_MATRIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/pump.h"
#include "prov/prov.h"

enum { CLIENT, SERVER };
enum {
	MX_ITEMS = 4,
	MX_LOG = 4096,
	MX_GUARD = 64,
	MX_REGIONS = 64,
	MX_HEADER = 4096,
	MX_RECEIVES = 1024,
	MX_OWED = 16
};

/* -- what is asked ------------------------------------------------------------ */

/* Direction and the client's level of support (property 5). */
enum mx_dir { MX_FORWARD, MX_REVERSE, MX_REVERSE_CONT, MX_REVERSE_SIMPLE, MX_DIRS };
enum mx_call { MX_CALL_SIMPLE, MX_CALL_CONTINUED, MX_CALL_SPECIAL, MX_CALLS };
enum mx_reply {
	MX_REPLY_SIMPLE,
	MX_REPLY_CONTINUED,
	MX_REPLY_SPECIAL,
	MX_REPLY_UNUSED,  /* Simple, beside a Reply chunk that stays unused */
	MX_REPLY_EXPOSED, /* a Read chunk of the Responder's [ext §3] */
	MX_REPLIES
};

/* The header types of the messages. */
enum mx_family {
	MX_BASE,  /* version 1, or the base types of version 2 */
	MX_HTFAM, /* X_ [ext §6] */
	MX_RTR,   /* XMOPT [ext §5] */
	MX_FAMILIES
};

struct mx_setting {
	const char *name;
	unsigned version;              /* 2 or 1 */
	uint32_t to_server, to_client; /* thresholds */
	uint32_t segment_bytes, max_segments;
	uint32_t credits;
	bool remote_invalidate;
	unsigned variant; /* of the provider */
};

struct mx_case {
	enum mx_dir dir;
	unsigned call_flags;
	size_t call_filler, reply_filler; /* octets, multiples of four */
	bool filler_first;                /* before the items */
	unsigned n_items, n_dests, n_results;
	size_t item[MX_ITEMS], dest[MX_ITEMS], result[MX_ITEMS];
	bool optional; /* "is present" words before the items, no counts */
	bool own_sinks;
	size_t reply_bytes, reply_min;
	struct rr_feature_config features[2]; /* of CLIENT and SERVER */
	size_t property;                      /* octets of an extension's property */
	enum rr_direct direct;                /* of every destination */
	uint32_t min_len, above;
	bool ranges;                  /* each result has an operation of its own */
	unsigned operation[MX_ITEMS]; /* of each result, from 0 */
};

/* Where the Responder's user stops, until mx_world_resume. */
enum mx_hold { MX_HOLD_NOT, MX_HOLD_ADMIT, MX_HOLD_REQUEST };

/* -- memory with guards -------------------------------------------------------- */

struct mx_mem {
	uint8_t *raw, *p;
	size_t len;
};

void mx_mem_new(struct mx_mem *, size_t len, unsigned misalign);
/* Fails the test if an octet before or behind it has changed. */
void mx_mem_free(struct mx_mem *);
void mx_mem_check(const struct mx_mem *);
uint8_t mx_octet(uint32_t seed, size_t i);
void mx_fill(void *, size_t len, uint32_t seed);

/* A message's contents: pieces for the connection, and the octets. */
struct mx_stream {
	uint8_t *words; /* what is no item */
	struct mx_mem item[MX_ITEMS];
	struct rr_piece piece[2 * MX_ITEMS + 2];
	unsigned n_pieces, n_items;
	size_t item_at[MX_ITEMS]; /* Position: offset in the unreduced stream */
	uint8_t *flat;            /* unreduced, with padding */
	size_t flat_len;
};

void mx_call_stream(struct mx_stream *, const struct mx_case *, uint32_t xid);
void mx_reply_stream(struct mx_stream *, const struct mx_case *, uint32_t xid);
void mx_stream_free(struct mx_stream *);
/* The octets without the items whose bit in @gone is set; to be freed. */
uint8_t *mx_reduced(const struct mx_stream *, unsigned gone, size_t *ret_len);

/* -- what happens -------------------------------------------------------------- */

enum mx_kind {
	MX_SEND, /* data: the message */
	MX_RECV, /* data: the message */
	MX_WRITE,
	MX_READ,
	MX_READ_DONE,
	MX_WRITE_DONE,
	MX_REGISTER, /* data: not copied */
	MX_INVALID,  /* a region ended, by either side */
	MX_CALL_DONE,
	MX_REQUEST,
	MX_REQUEST_DONE,
};

struct mx_event {
	enum mx_kind kind;
	unsigned side;
	uint8_t *data;
	size_t len;
	uint32_t handle, inv_handle;
	uint64_t offset;
	unsigned access;
	const uint8_t *base;
};

struct mx_world;

struct mx_side {
	struct mx_world *w;
	unsigned side;
	struct rr_pump pump;
	bool ready;
	size_t least_receive; /* octets in the shortest Receive posted */
	struct rr_ext_table ext;
	uint8_t *ext_data;
	int lost_status;
	uint32_t live[MX_REGIONS]; /* handles that can be reached */
	unsigned n_live;
	/* in the order of posting, which is that of completion */
	uint32_t invalidating[MX_REGIONS];
	unsigned inv_head, inv_tail;
	const uint8_t *receive[MX_RECEIVES];
	unsigned recv_head, recv_tail;
	size_t mem_bytes, mem_peak;
};

/* A pull completion notification that waits for a Call to carry it. */
struct mx_owed {
	uint32_t xid, inv;
	unsigned regions;
};

struct mx_world {
	const struct mx_setting *set;
	const struct mx_case *k;
	struct rr_prov_config prov;
	struct rr_prov_listener *listener;
	struct mx_side side[2];
	struct mx_event log[MX_LOG];
	unsigned n_log;
	unsigned call_at;             /* in the log */
	unsigned first_call_at;       /* the exchange of properties is before it */
	struct mx_owed owed[MX_OWED]; /* kept by the oracle */
	unsigned n_owed;
	/* the call */
	unsigned asker; /* side of the Requester */
	uint32_t xid;
	struct mx_stream call, reply;
	struct mx_stream earlier[MX_OWED]; /* replies that may still be exposed */
	unsigned n_earlier;
	struct mx_mem dest[MX_ITEMS], sink[MX_ITEMS];
	struct rr_dest dests[MX_ITEMS];
	struct rr_call rc;
	unsigned greeting; /* of version 1: what is to come of it */
	bool call_done, request_seen, request_done;
	int call_status;
	uint8_t *got; /* the Reply's payload as the caller got it */
	size_t got_len;
	enum mx_hold hold;
	struct rr_request *held;
	unsigned resumed_at; /* in the log */
	bool abandon;        /* the connection may end in any way now */
};

/* -- watch.c --------------------------------------------------------------- */

/* The token of a post that no connection has made. */
#define MX_PROBE_TOKEN UINT64_MAX

/* Appends an event to the log. */
struct mx_event *mx_note(struct mx_side *, enum mx_kind);
/* Returns the number of messages of a type that @side has sent. */
unsigned mx_count_sent(const struct mx_world *, unsigned side, uint32_t htype);
/* Returns a provider that writes down all posts and completions of the world. */
const struct rr_prov_ops *mx_watch(struct mx_world *);

/* -- world.c --------------------------------------------------------------- */

/* Octets of the header of a message without chunks.   [v2 §6.3.1, RFC 8166 §4.3] */
static inline size_t mx_empty(const struct mx_setting *s)
{
	return s->version == 1 ? 28 : 36;
}

void mx_world_open(struct mx_world *, const struct mx_setting *,
                   const struct mx_case *);
/* Until it is answered, or held, and nothing more happens. */
void mx_world_call(struct mx_world *);
/* Makes the next call of @k's kind, under the next XID. */
void mx_world_again(struct mx_world *, const struct mx_case *k);
/* Of a call whose Responder is held: gives it up; lets the Responder go on until
 * both connections are over, or the late Reply has come. */
void mx_world_cancel(struct mx_world *);
void mx_world_resume(struct mx_world *, bool breaks);
/* The Responder uses an old handle: the Requester's end must break. */
void mx_world_probe(struct mx_world *, const struct mx_event *region);
void mx_world_close(struct mx_world *);

/* -- oracle.c -------------------------------------------------------------- */

/* What came to pass, for the tally. */
enum mx_result {
	MX_SIMPLE,
	MX_CONTINUED,
	MX_SPECIAL,
	MX_REFUSED,
	MX_EXPOSED, /* a Reply */
	MX_RESULTS
};

struct mx_seen {
	enum mx_family family;
	enum mx_result call, reply;     /* REFUSED: no such message, as it has to be */
	bool carried;                   /* the Call is an RDMA2_MSG_DONE */
	unsigned call_sent, reply_sent; /* bits: items and results placed by Send */
	uint32_t reserved;              /* Receives for an XMOPT response */
	unsigned regions;
};

/* Looks at the log after mx_world_call. */
void mx_judge(struct mx_world *, struct mx_seen *ret);

/* -- matrix.c, options.c, placement.c, fence.c ---------------------------- */

/* Kinds of chunks. */
enum mx_chunks {
	MX_NO_CHUNK,
	MX_READ_CHUNK,
	MX_WRITE_CHUNK,
	MX_BOTH_CHUNKS,
	MX_READ_CHUNKS,
	MX_WRITE_CHUNKS,
	MX_ALL_CHUNKS,
	MX_EMPTY_WRITE,  /* no segments: the result comes in the payload */
	MX_UNUSED_WRITE, /* segments, and no result */
	MX_PART_WRITE,   /* filled in part: a segment full, one begun, one empty */
	MX_MIXED_WRITES, /* one used, one empty, one unused */
	MX_CHUNK_KINDS
};

enum { MX_SETTINGS = 4 };
extern struct mx_setting mx_settings[MX_SETTINGS], mx_placement_settings[MX_SETTINGS];

/* A case of the table, with no optional feature but that of MX_REPLY_EXPOSED. */
void mx_make_case(struct mx_case *, const struct mx_setting *, enum mx_dir,
                  enum mx_call, enum mx_reply, enum mx_chunks);
/* Both sides have the feature. */
void mx_add_feature(struct mx_case *, enum rr_feature);
/* Runs a case, judges it, then tries one of its handles once more.  V2-11.1.3-02 */
struct mx_seen mx_run(const struct mx_setting *, const struct mx_case *);
extern const struct CMUnitTest mx_fence_tests[], mx_option_tests[],
        mx_placement_tests[];
extern const size_t mx_fence_count, mx_option_count, mx_placement_count;
extern struct mx_setting mx_fence_settings[];
extern const size_t mx_fence_settings_count;

/* -- providers -------------------------------------------------------------------- */

const struct rr_prov_ops *mx_provider(void);
void mx_provider_begin(struct rr_prov_config *, unsigned variant);
void mx_provider_end(void);
rr_time mx_now(void);
/* Until something may have happened, or @until. */
void mx_pass(struct mx_world *, rr_time until);
/* Is something on its way in the provider? */
bool mx_busy(const struct mx_world *);

#endif
