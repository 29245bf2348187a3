/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits and thresholds of a connection that are not configurable. */
#ifndef RR_CONN_LIMITS_H
#define RR_CONN_LIMITS_H

#include "conn/conn.h"

enum {
	RR_MAX_WAITING_ERRORS = 64,   /* RDMA2_ERRORs that wait to be sent [C9] */
	RR_MAX_DISCARDS = 16,         /* sequences that are being discarded at the same
	                               * time [M3] */
	RR_MAX_TURNS = 256,           /* requests in TURN; further Calls are refused
	                               * with RDMA2_ERR_SYSTEM */
	RR_MAX_PROPS_BYTES = 1 << 20, /* octets of properties received in one exchange
	                               * [P20] */
	RR_AUTH_MAX_STEPS = 32,       /* authentication steps of both peers together */
	RR_AUTH_MAX_BYTES = 1 << 18,  /* octets of one authentication step */
	RR_EXT_XIDS = 64,             /* XIDs of sent extension messages, kept to match
	                               * errors with them */
	RR_REDUCE_MIN = 512,          /* length of the shortest item that is reduced,
	                               * octets */
	RR_REPLY_CHUNK_PARTS = 16,    /* length of the longest Reply expected without a
	                               * Reply chunk, in messages [v2 §A.2] */
	RR_IN_PLACE_MIN = 65536, /* length of the shortest run of a Special Call that
	                          * gets a separate region, octets */
	RR_IN_PLACE_RUNS = 4,    /* runs of a Special Call that get separate regions */
	RR_UNKNOWN_REPLY = 4000, /* octets of Reply assumed if reply_bytes is 0 */
	RR_COPY_MAX = 256,       /* octets of the longest piece that is copied rather
	                          * than gathered */
	RR_MAX_REFS = 12,        /* gathered pieces in one message */
	RR_XMIT_BYTES = 1280,    /* buffer size of a pooled message, for header and
	                          * copied pieces */
	RR_XMIT_CACHED = 64,     /* free messages kept for reuse */
	RR_RETIRED_HANDLES = 64, /* handles of ended calls that the peer may still
	                          * invalidate [K17] */
	RR_HELD_LEAST = 32,      /* lower bound of max_held() in collect.c, for low
	                          * credit ceilings */
	RR_RPC_MIN = 8,          /* octets of an RPC header's xid and msg_type */
	RR_CALL_MAX_REGIONS =
	        RR_CALL_MAX_PIECES + RR_WIRE_MAX_WRITES + RR_IN_PLACE_RUNS + 2,
};

#endif
