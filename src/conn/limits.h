/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits and thresholds of a connection that are not configurable. */
#ifndef RR_CONN_LIMITS_H
#define RR_CONN_LIMITS_H

#include "conn/conn.h"

enum {
	RR_MAX_WAITING_ERRORS = 64,   /* maximum number of RDMA2_ERRORs that wait to be
	                               * sent [C9] */
	RR_MAX_DISCARDS = 16,         /* maximum number of sequences being discarded at
	                               * the same time [M3] */
	RR_MAX_TURNS = 256,           /* maximum number of requests in TURN; further
	                               * Calls are refused with RDMA2_ERR_SYSTEM */
	RR_MAX_PROPS_BYTES = 1 << 20, /* maximum number of octets of properties in one
	                               * exchange [P20] */
	RR_AUTH_MAX_STEPS = 32,       /* maximum number of authentication steps, of both
	                               * peers together */
	RR_AUTH_MAX_BYTES = 1 << 18,  /* maximum length in octets of one authentication
	                               * step */
	RR_EXT_XIDS = 64,             /* how many XIDs of sent extension messages are
	                               * kept to match errors with them */
	RR_REDUCE_MIN = 512,          /* length in octets of the shortest item that is
	                               * reduced */
	RR_REPLY_CHUNK_PARTS = 16,    /* length in messages of the longest Reply for
	                               * which no Reply chunk is provided [v2 §A.2] */
	RR_IN_PLACE_MIN = 65536,  /* length in octets of the shortest run of a Special
	                          * Call that gets its own region */
	RR_IN_PLACE_RUNS = 4,     /* maximum number of runs of a Special Call that get
	                          * their own regions */
	RR_SHORT_REPLY_PARTS = 4, /* length in inline thresholds of the longest Reply
	                           * to a call that states no reply_bytes [O13] */
	RR_UNKNOWN_REPLY = 4000,  /* length in octets assumed for a Reply if reply_bytes
	                          * is 0 */
	RR_COPY_MAX = 256,       /* length in octets of the longest piece that is copied
	                          * instead of gathered */
	RR_MAX_REFS = 12,        /* maximum number of gathered pieces in one message */
	RR_XMIT_BYTES = 1280,    /* buffer size of a pooled message, for header and
	                          * copied pieces */
	RR_XMIT_CACHED = 64,     /* maximum number of free messages kept for reuse */
	RR_RETIRED_HANDLES = 64, /* how many handles of ended calls are kept, because
	                          * the peer may still invalidate them [K17] */
	RR_HELD_LEAST = 32,      /* lower bound for max_held() in collect.c; applies at
	                          * low credit ceilings */
	RR_RPC_MIN = 8,          /* octets of an RPC header's xid and msg_type */
	RR_CALL_MAX_REGIONS =
	        RR_CALL_MAX_PIECES + RR_WIRE_MAX_WRITES + RR_IN_PLACE_RUNS + 2,
};

#endif
