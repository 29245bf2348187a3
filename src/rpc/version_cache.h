/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The version of RPC-over-RDMA to begin with: what an engine remembers of servers, and
 * what the end of a connection reveals about versions.  No I/O, no clock, no memory but
 * the table itself.                                        [v2 §4.2.3, V5, V7]
 *
 * Normal path: rr_version_cache_ask before each attempt to connect,
 * rr_version_cache_ready when calls can be sent, rr_version_cache_learn when the
 * attempt or the connection has ended.  The latter also returns whether another attempt
 * makes sense.
 *
 * A server is known to lack version 2 if it sent RDMA2_ERR_VERS, or if twice in a row
 * it did not answer the first message or closed the connection then.  A single time may
 * be a restart.  Connections begin with version 1 then, until the entry expires or the
 * server has used version 2.
 *
 * Negotiation terminates: every attempt offers fewer versions or counts a failure, and
 * a single offered version is final.
 */
#ifndef RR_RPC_VERSION_CACHE_H
#define RR_RPC_VERSION_CACHE_H

#include <sys/socket.h>

#include "conn/conn.h"

enum {
	RR_VERSION_CACHE_MAX =
	        64, /* servers; the entry that expires first makes room */
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
	unsigned failures; /* first messages without an answer, in a row */
	bool no_two;
	rr_time until; /* 0: unused */
};

struct rr_version_cache {
	struct rr_version_entry entry[RR_VERSION_CACHE_MAX];
};

/* How a connection ended. */
struct rr_version_end {
	unsigned wanted; /* allowed by the user, enum rr_conn_versions */
	unsigned asked;  /* offered: the result of rr_version_cache_ask */
	bool open;     /* the transport was connected, and the first message was sent */
	bool ready;    /* calls could be sent */
	bool answered; /* as in struct rr_conn_info */
	uint32_t version;
	bool had_two; /* an earlier connection of the same user had version 2 */
	int error;
};

enum rr_version_next {
	RR_VERSION_USUAL,   /* unrelated to versions: as after any loss */
	RR_VERSION_AGAIN,   /* the negotiation goes on with the next attempt */
	RR_VERSION_REFUSED, /* the server supports none of the allowed versions */
	/* The server does not answer in version 2, and version 1 is not allowed. */
	RR_VERSION_SILENT,
};

/* Returns the versions that the next connection to @sa offers, out of @wanted. */
unsigned rr_version_cache_ask(const struct rr_version_cache *,
                              const struct sockaddr *sa, unsigned wanted, rr_time now);
/* Notes that calls can be sent in @version over a connection that offered @asked.
 * Entries are kept for @keep_ns. */
void rr_version_cache_ready(struct rr_version_cache *, const struct sockaddr *sa,
                            unsigned asked, uint32_t version, rr_time now,
                            rr_time keep_ns);
enum rr_version_next rr_version_cache_learn(struct rr_version_cache *,
                                            const struct sockaddr *sa,
                                            const struct rr_version_end *, rr_time now,
                                            rr_time keep_ns);

#endif
