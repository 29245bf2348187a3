/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a listener by address and by what they do: which of them has to
 * go when there is no room for another one.
 *
 * A connection is a guest, an address an origin.  Per kind, an origin keeps its
 * guests in the order in which they came to be of it, and the crowd keeps the origins
 * by how many they have.  So the longest of the most numerous is found in constant
 * time, whatever the number of guests and addresses, and each change of kind is a few
 * pointers.
 *
 * Addresses are looked up by a keyed digest: nobody can choose those that collide.
 */
#ifndef RR_RPC_CROWD_H
#define RR_RPC_CROWD_H

#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

enum rr_guest_kind {
	RR_GUEST_NEW,  /* no message exchanged yet that makes it ready */
	RR_GUEST_IDLE, /* ready, without a request */
	RR_GUEST_BUSY, /* with requests */
	RR_GUEST_KINDS
};

struct rr_origin;

struct rr_guest {
	struct rr_list link;      /* of its origin and kind, longest first */
	struct rr_origin *origin; /* NULL: not in */
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

/* @most: guests expected at most, for the size of the table.  -ENOMEM. */
int rr_crowd_init(struct rr_crowd *, unsigned most) RR_MUST_CHECK;
/* All guests have left; harmless on a zeroed one. */
void rr_crowd_fini(struct rr_crowd *);

/* A new guest, of kind NEW.  -ENOMEM. */
int rr_crowd_add(struct rr_crowd *, struct rr_guest *,
                 const struct sockaddr_storage *) RR_MUST_CHECK;
/* From now on of @kind, as the last of that kind. */
void rr_crowd_move(struct rr_crowd *, struct rr_guest *, enum rr_guest_kind);
/* Harmless for one that is not in. */
void rr_crowd_remove(struct rr_crowd *, struct rr_guest *);

/* Guests from this address, of all kinds. */
unsigned rr_crowd_count(const struct rr_crowd *, const struct sockaddr_storage *);
/* How many of @kind the address has that has most of them. */
size_t rr_crowd_most(const struct rr_crowd *, enum rr_guest_kind);
/*
 * The first of @kind that may go: from the address with most of them, there the one
 * that is of @kind longest; or, with @from, of that address only.  @may is asked no
 * more than RR_CROWD_LOOKS times.  NULL: none.
 */
enum { RR_CROWD_LOOKS = 256 };
struct rr_guest *rr_crowd_find(const struct rr_crowd *, enum rr_guest_kind,
                               const struct sockaddr_storage *from,
                               bool (*may)(const struct rr_guest *));

#endif
