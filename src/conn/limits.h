/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of a connection, and thresholds of its choices, that are not configured. */
#ifndef RR_CONN_LIMITS_H
#define RR_CONN_LIMITS_H

#include "conn/conn.h"

enum {
	RR_MAX_WAITING_ERRORS = 64,   /* RDMA2_ERRORs that wait to be sent [C9] */
	RR_MAX_DISCARDS = 16,         /* sequences being discarded at once [M3] */
	RR_MAX_TURNS = 256,           /* requests in TURN; further ones: ERR_SYSTEM */
	RR_MAX_PROPS_BYTES = 1 << 20, /* octets of one exchange of properties [P20] */
	RR_AUTH_MAX_STEPS = 32,       /* steps of both peers */
	RR_AUTH_MAX_BYTES = 1 << 18,  /* octets of one step */
	RR_EXT_XIDS = 64,          /* XIDs remembered to match errors with messages */
	RR_REDUCE_MIN = 512,       /* octets of the shortest item that is reduced */
	RR_REPLY_CHUNK_PARTS = 16, /* parts of the longest Reply without a Reply chunk
	                            * [v2 §A.2] */
	RR_IN_PLACE_MIN = 65536,   /* octets of the shortest run of a Special Call that
	                            * gets its own region */
	RR_IN_PLACE_RUNS = 4,      /* such runs of one Special Call */
	RR_UNKNOWN_REPLY = 4000,   /* octets assumed where reply_bytes is 0 */
	RR_COPY_MAX = 256,         /* octets of the longest piece that is copied */
	RR_MAX_REFS = 12,          /* gathered pieces of one message */
	RR_XMIT_BYTES = 1280,      /* octets of a pooled message: header and copies */
	RR_XMIT_CACHED = 64,       /* free messages kept */
	RR_RETIRED_HANDLES = 64,   /* handles of cancelled calls that the peer may still
	                            * invalidate [K17] */
	RR_HELD_LEAST = 32,        /* parts of Calls held without room, if the ceiling
	                            * of credits is low */
	RR_RPC_MIN = 8,            /* octets of an RPC header's xid and msg_type */
	RR_CALL_MAX_REGIONS =
	        RR_CALL_MAX_PIECES + RR_WIRE_MAX_WRITES + RR_IN_PLACE_RUNS + 2,
};

#endif
