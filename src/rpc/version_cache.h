/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which version to begin with: what an engine remembers of servers, and what
 * the end of a connection says about versions.  No I/O, no clock, no memory but
 * the table itself.                                        [v2 §4.2.3, V5, V7]
 *
 * Normal path: rr_version_cache_ask before each attempt to connect, rr_version_cache_ready
 * when calls may flow, rr_version_cache_learn when the attempt or the connection is
 * over, which also says whether trying again makes sense.
 *
 * A server is known to lack version 2 when it said so (RDMA2_ERR_VERS), or when
 * the first message was left unanswered, or answered by disconnection, twice in a
 * row: one time may be a restart.  Then connections begin with version 1 until
 * the note expires or version 2 was spoken there.
 *
 * Each attempt asks for less than the one before it or counts towards that, and a
 * version that began alone is not left again, so that no negotiation goes on
 * for ever.
 */
#ifndef RR_RPC_VERSION_CACHE_H
#define RR_RPC_VERSION_CACHE_H

#include <sys/socket.h>

#include "conn/conn.h"

enum {
	RR_VERSION_CACHE_MAX = 64, /* servers; the note that expires first makes room */
	RR_VERSION_CACHE_FAILURES = 2,
};

/* A server's address and port, comparable. */
struct rr_version_key {
	uint16_t family, port;
	uint32_t scope;
	uint8_t addr[16];
};

struct rr_version_entry {
	struct rr_version_key key;
	unsigned failures; /* first messages without an answer, in a row */
	bool no_two;
	rr_time until; /* 0: a free place */
};

struct rr_version_cache {
	struct rr_version_entry entry[RR_VERSION_CACHE_MAX];
};

/* How a connection went. */
struct rr_version_end {
	unsigned wanted; /* enum rr_conn_versions: what the user allows */
	unsigned asked;  /* ... and this connection: of rr_version_cache_ask */
	bool open;       /* the transport was up: the first message went out */
	bool ready;      /* calls could flow */
	bool answered;   /* as rr_conn_info has it */
	uint32_t version;
	bool had_two; /* an earlier connection for the same user spoke version 2 */
	int error;
};

enum rr_version_next {
	RR_VERSION_USUAL, /* nothing about versions: as after any loss */
	RR_VERSION_AGAIN, /* the negotiation is not over: the next attempt is part of it
	                   */
	RR_VERSION_REFUSED, /* the server speaks none that it may be asked for */
	RR_VERSION_SILENT,  /* ... it does not answer version 2, and 1 is not allowed */
};

/* The versions for the next connection to @sa, of those @wanted. */
unsigned rr_version_cache_ask(const struct rr_version_cache *,
                              const struct sockaddr *sa, unsigned wanted, rr_time now);
/* Calls may flow in @version, after the connection asked for @asked.  Notes are kept
 * for @keep_ns. */
void rr_version_cache_ready(struct rr_version_cache *, const struct sockaddr *sa,
                            unsigned asked, uint32_t version, rr_time now,
                            rr_time keep_ns);
enum rr_version_next rr_version_cache_learn(struct rr_version_cache *,
                                            const struct sockaddr *sa,
                                            const struct rr_version_end *, rr_time now,
                                            rr_time keep_ns);

#endif
