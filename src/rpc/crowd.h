/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a listener by address and state, to choose which one makes room
 * for another.
 *
 * A connection is a guest, an address is an origin.  For each kind of guest, an origin
 * lists its guests in the order in which they became of that kind, and the crowd orders
 * the origins by the number of such guests.  So the oldest guest of the address with
 * most guests is found in constant time, and a change of kind moves a few pointers.
 *
 * Addresses are found by a keyed digest, so that peers cannot choose colliding ones.
 */
#ifndef RR_RPC_CROWD_H
#define RR_RPC_CROWD_H

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
	struct rr_list link;      /* of its origin and kind, oldest first */
	struct rr_origin *origin; /* NULL: in no crowd */
	enum rr_guest_kind kind;
};

struct rr_crowd {
	struct rr_origin **buckets;
	uint32_t mask;
	uint64_t key[2];
	struct rr_rank {
		struct rr_origin **with; /* [n]: first of those with n guests */
		size_t room, top;        /* top: the largest n in use; 0 = none */
	} rank[RR_GUEST_KINDS];
};

/* Initializes an empty crowd; @most is the number of guests to expect.  -ENOMEM. */
int rr_crowd_init(struct rr_crowd *, unsigned most) RR_MUST_CHECK;
/* Frees the tables when all guests have left.  Harmless on a zeroed crowd. */
void rr_crowd_fini(struct rr_crowd *);

/* Adds a guest, of kind NEW.  -ENOMEM. */
int rr_crowd_add(struct rr_crowd *, struct rr_guest *,
                 const struct sockaddr_storage *) RR_MUST_CHECK;
/* Makes a guest the last one of @kind. */
void rr_crowd_move(struct rr_crowd *, struct rr_guest *, enum rr_guest_kind);
/* Removes a guest; harmless if it is in no crowd. */
void rr_crowd_remove(struct rr_crowd *, struct rr_guest *);

/* Returns the number of guests from an address, of all kinds. */
unsigned rr_crowd_count(const struct rr_crowd *, const struct sockaddr_storage *);
/* Returns the largest number of guests of @kind that an address has. */
size_t rr_crowd_most(const struct rr_crowd *, enum rr_guest_kind);
/*
 * Finds the first guest of @kind for which @may returns true: of the address with most
 * of them, the one that has been of @kind longest.  With @from only guests of that
 * address are considered.  @may is called at most RR_CROWD_LOOKS times.  NULL: none was
 * found.
 */
enum { RR_CROWD_LOOKS = 256 };
struct rr_guest *rr_crowd_find(const struct rr_crowd *, enum rr_guest_kind,
                               const struct sockaddr_storage *from,
                               bool (*may)(const struct rr_guest *));

#endif
