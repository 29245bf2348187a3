/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of a listener's connections, ordered by address and kind.  If there are too
 * many connections, the listener closes one to make room for a new one.  This table
 * finds the connection to close.
 *
 * Names below: a guest is a connection, an origin is the IP address of one or more
 * peers, and the crowd is the entire table.  An origin has a list of its connections
 * for each kind, oldest first.  For each kind, the crowd groups the origins by their
 * number of connections.  So the oldest connection from the address with the most
 * connections is found in constant time.
 *
 * A busy connection changes its kind with each request, but searches are rare.  So a
 * change only puts the connection on a list of moved connections.  The next search, or
 * the next new connection, first moves these to the lists of their kinds, in the order
 * of their last changes.
 *
 * Threads: all functions are called in the listener's thread, except rr_crowd_move.
 * Each connection has one thread that calls rr_crowd_move; this takes no lock.
 *
 * Addresses are found by a keyed digest, so that peers cannot choose addresses that
 * collide.
 */
#ifndef RR_RPC_CROWD_H
#define RR_RPC_CROWD_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

enum rr_guest_kind {
	RR_GUEST_NEW,  /* not ready yet */
	RR_GUEST_IDLE, /* ready, without a request */
	RR_GUEST_BUSY, /* with requests */
	RR_GUEST_KINDS
};

struct rr_origin;

struct rr_guest {
	struct rr_list link;      /* in a list of the origin, oldest first */
	struct rr_origin *origin; /* NULL = in no crowd */
	enum rr_guest_kind kind;  /* kind of the list that contains @link */
	_Atomic unsigned state;   /* latest kind, and whether it is in rr_crowd.moved */
	_Atomic rr_time at;       /* time of the last change */
	struct rr_guest *next_moved; /* in rr_crowd.moved */
};

struct rr_crowd {
	struct rr_origin **buckets;
	uint32_t mask;
	uint64_t key[2];
	struct rr_rank {
		struct rr_origin **with; /* with[n]: first origin with n connections */
		/* @room: entries in @with; @top: largest n in use, 0 = none */
		size_t room, top;
	} rank[RR_GUEST_KINDS];
	struct rr_guest *_Atomic moved; /* moved since the last search */
};

/* Initializes an empty crowd.  @most is the number of connections to expect.  Returns 0
 * or -ENOMEM. */
int rr_crowd_init(struct rr_crowd *, unsigned most) RR_MUST_CHECK;
/* Frees the tables.  Call only after all connections have been removed.  Safe on a
 * zeroed crowd. */
void rr_crowd_fini(struct rr_crowd *);

/* Adds a connection as the newest of its kind.  The kind of a zeroed rr_guest is NEW.  A
 * connection that the caller removed and adds again has the kind that it had last.
 * Returns 0 or -ENOMEM. */
int rr_crowd_add(struct rr_crowd *, struct rr_guest *, const struct sockaddr_storage *,
                 rr_time now) RR_MUST_CHECK;
/* Changes a connection's kind to @kind, and makes it the newest connection of that
 * kind.  If the connection is in no crowd, only records the kind. */
void rr_crowd_move(struct rr_crowd *, struct rr_guest *, enum rr_guest_kind,
                   rr_time now);
/* Removes a connection.  After a removal rr_crowd_move may still be called; the caller
 * must then remove the connection again before it frees @g. */
void rr_crowd_remove(struct rr_crowd *, struct rr_guest *g);
/* Returns the latest kind of a connection. */
enum rr_guest_kind rr_crowd_kind(const struct rr_guest *);

/* Returns the number of connections of all kinds from an address. */
unsigned rr_crowd_count(const struct rr_crowd *, const struct sockaddr_storage *);
/* Returns the largest number of connections of @kind from any one address. */
size_t rr_crowd_most(struct rr_crowd *, enum rr_guest_kind);
/*
 * Finds a connection of @kind for which @may returns true.  Tries the addresses with
 * the most connections of @kind first, and the oldest connection from an address first.
 * If @from is not NULL, tries only connections from that address.  Calls @may at most
 * RR_CROWD_LOOKS times.  Returns NULL if no connection was found.
 */
enum { RR_CROWD_LOOKS = 256 };
struct rr_guest *rr_crowd_find(struct rr_crowd *, enum rr_guest_kind,
                               const struct sockaddr_storage *from,
                               bool (*may)(const struct rr_guest *));

#endif
