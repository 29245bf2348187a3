/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remembers which servers lack version 2 of RPC-over-RDMA, and chooses the version with
 * which a connection begins.  Each engine has one such table, which is updated when a
 * connection becomes ready or ends.  This module uses no I/O, no clock, and no memory
 * except the table.  [v2 §4.2.3, V5, V7]
 *
 * Normal path: call rr_version_cache_ask before each attempt to connect,
 * rr_version_cache_ready when calls can be sent, and rr_version_cache_learn when the
 * attempt or the connection has ended.  rr_version_cache_learn also returns whether
 * another attempt makes sense.
 *
 * A server is known to lack version 2 if it sent RDMA2_ERR_VERS, or if twice in a row
 * it did not answer the first message or closed the connection instead.  A single such
 * failure may be caused by a restart of the server.  Later connections to this server
 * begin with version 1, until the entry expires or the server has used version 2.
 *
 * Negotiation terminates, because each attempt offers fewer versions than the one
 * before, or counts a failure.  An attempt that offers only version 1 is the last one.
 */
#ifndef RR_RPC_VERSION_CACHE_H
#define RR_RPC_VERSION_CACHE_H

#include <sys/socket.h>

#include "conn/conn.h"

enum {
	RR_VERSION_CACHE_MAX =
	        64, /* servers; when full, the entry that expires first is replaced */
	RR_VERSION_CACHE_FAILURES = 2,
};

/* A server's address and port, comparable as octets. */
struct rr_version_key {
	uint16_t family, port;
	uint32_t scope;
	uint8_t addr[16];
};

struct rr_version_entry {
	struct rr_version_key key;
	unsigned failures; /* consecutive first messages without an answer */
	bool no_two;
	rr_time until; /* when the entry expires; 0 = the entry is unused */
};

struct rr_version_cache {
	struct rr_version_entry entry[RR_VERSION_CACHE_MAX];
};

/* How a connection ended. */
struct rr_version_end {
	unsigned wanted; /* versions allowed by the user, enum rr_conn_versions */
	unsigned asked;  /* versions offered, from rr_version_cache_ask */
	bool open;     /* the transport was connected, and the first message was sent */
	bool ready;    /* calls could be sent */
	bool answered; /* the peer answered, as in struct rr_conn_info */
	uint32_t version;
	bool had_two; /* an earlier connection of the same client used version 2 */
	int error;
};

enum rr_version_next {
	RR_VERSION_USUAL,   /* no version problem: reconnect as after any loss */
	RR_VERSION_AGAIN,   /* another attempt continues the negotiation */
	RR_VERSION_REFUSED, /* the server supports none of the allowed versions */
	/* The server does not answer in version 2, and version 1 is not allowed. */
	RR_VERSION_SILENT,
};

/* Returns the versions, a subset of @wanted, that the next connection to @sa must
 * offer. */
unsigned rr_version_cache_ask(const struct rr_version_cache *,
                              const struct sockaddr *sa, unsigned wanted, rr_time now);
/* Records that calls can be sent in @version over a connection that offered @asked.
 * Entries are kept for @keep_ns. */
void rr_version_cache_ready(struct rr_version_cache *, const struct sockaddr *sa,
                            unsigned asked, uint32_t version, rr_time now,
                            rr_time keep_ns);
enum rr_version_next rr_version_cache_learn(struct rr_version_cache *,
                                            const struct sockaddr *sa,
                                            const struct rr_version_end *, rr_time now,
                                            rr_time keep_ns);

#endif
