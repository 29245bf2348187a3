/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listener's connections by address and state.  If there are too many connections,
 * one of them is closed to make room for a new one; this table finds the one to close.
 *
 * A connection is called a guest, and an IP address from which connections come is
 * called an origin.  For each kind of guest, an origin lists its guests in the order in
 * which they became of that kind, and the crowd (all guests of a listener) sorts the
 * origins by their number of such guests.  So the oldest guest from the address with
 * the most guests is found in constant time, and a change of kind moves only a few
 * pointers.
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
	struct rr_list link;      /* in the origin's list for @kind, oldest first */
	struct rr_origin *origin; /* NULL = in no crowd */
	enum rr_guest_kind kind;
};

struct rr_crowd {
	struct rr_origin **buckets;
	uint32_t mask;
	uint64_t key[2];
	struct rr_rank {
		struct rr_origin **with; /* with[n]: first origin with n guests */
		/* @room: entries in @with; @top: largest n in use, 0 = none */
		size_t room, top;
	} rank[RR_GUEST_KINDS];
};

/* Initializes an empty crowd.  @most is the number of guests to expect.  Returns 0 or
 * -ENOMEM. */
int rr_crowd_init(struct rr_crowd *, unsigned most) RR_MUST_CHECK;
/* Frees the tables.  Call only after all guests have been removed.  Safe on a zeroed
 * crowd. */
void rr_crowd_fini(struct rr_crowd *);

/* Adds a guest of kind NEW.  Returns 0 or -ENOMEM. */
int rr_crowd_add(struct rr_crowd *, struct rr_guest *,
                 const struct sockaddr_storage *) RR_MUST_CHECK;
/* Changes a guest's kind to @kind, and makes it the newest guest of that kind. */
void rr_crowd_move(struct rr_crowd *, struct rr_guest *, enum rr_guest_kind);
/* Removes a guest.  Does nothing if the guest is in no crowd. */
void rr_crowd_remove(struct rr_crowd *, struct rr_guest *);

/* Returns the number of guests of all kinds from an address. */
unsigned rr_crowd_count(const struct rr_crowd *, const struct sockaddr_storage *);
/* Returns the largest number of guests of @kind from any one address. */
size_t rr_crowd_most(const struct rr_crowd *, enum rr_guest_kind);
/*
 * Finds a guest of @kind for which @may returns true.  Tries the addresses with the
 * most such guests first, and the oldest guest of an address first.  With @from, tries
 * only guests from that address.  Calls @may at most RR_CROWD_LOOKS times.  Returns
 * NULL if no guest was found.
 */
enum { RR_CROWD_LOOKS = 256 };
struct rr_guest *rr_crowd_find(const struct rr_crowd *, enum rr_guest_kind,
                               const struct sockaddr_storage *from,
                               bool (*may)(const struct rr_guest *));

#endif
