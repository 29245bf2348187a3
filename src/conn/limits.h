/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits and choices of a connection that are not configured. */
#ifndef RR_CONN_LIMITS_H
#define RR_CONN_LIMITS_H

#include "conn/conn.h"

enum {
	RR_MAX_WAITING_ERRORS = 64, /* [C9] */
	RR_MAX_DISCARDS = 16,       /* sequences being discarded at once [M3] */
	RR_MAX_TURNS = 256, /* Calls that wait to be served; above: ERR_SYSTEM */
	RR_MAX_PROPS_BYTES = 1 << 20, /* of one exchange [P20] */
	RR_AUTH_MAX_STEPS = 32,       /* of both peers */
	RR_AUTH_MAX_BYTES = 1 << 18,  /* of one step */
	RR_EXT_XIDS = 64,          /* messages sent whose errors are still understood */
	RR_REDUCE_MIN = 512,       /* smaller items that fit inline stay there */
	RR_REPLY_CHUNK_PARTS = 16, /* messages; a longer Reply gets a chunk [v2 §A.2] */
	RR_IN_PLACE_MIN = 65536, /* a run of a Special Call worth a region of its own */
	RR_IN_PLACE_RUNS = 4,    /* at most */
	RR_UNKNOWN_REPLY = 4000, /* reply_bytes 0, where some number is needed */
	RR_COPY_MAX = 256,       /* longer pieces are gathered, not copied */
	RR_MAX_REFS = 12,        /* gathered pieces of one message */
	RR_XMIT_BYTES = 1280,    /* room in a pooled message: header and copies */
	RR_XMIT_CACHED = 64,
	RR_RETIRED_HANDLES = 64, /* of calls given up, still tolerated [K17] */
	RR_HELD_LEAST = 32, /* parts of continued Calls without room, at low ceilings */
	RR_RPC_MIN = 8,     /* octets: xid and msg_type */
	RR_CALL_MAX_REGIONS =
	        RR_CALL_MAX_PIECES + RR_WIRE_MAX_WRITES + RR_IN_PLACE_RUNS + 2,
};

#endif
