/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has how much of a store that peers fill, and who has to give when there is no
 * room in it.
 *
 * A tenant is a connection; a caller is an address with all its connections, those
 * included that ended and left something behind.  What a tenant has is counted in
 * octets; some of it is idle, which means that it could go.
 *
 * When one of them wants room, the caller with most idle octets pays, and there the
 * tenant with most.  So nobody loses anything to callers who fill the store, nor to
 * connections of the same address that do, until they all have as little.  A tenant
 * whose caller has more than that one, or which has more itself, pays on its own: it
 * cannot drive others out by what it keeps busy.
 *
 * "Most" is told apart by powers of two, up to 8 MiB; within one they pay in turn.
 * So everything is done in constant time, however many there are.
 *
 * Addresses are looked up by a keyed digest: nobody can choose those that collide.
 */
#ifndef RR_RPC_TENANT_H
#define RR_RPC_TENANT_H

#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

/* An address without port; IPv4 as IPv6 has it.  No padding: compared as octets. */
struct rr_caller_addr {
	uint8_t octets[16];
	uint64_t scope;
};

void rr_caller_addr(const struct sockaddr_storage *, struct rr_caller_addr *ret);

enum { RR_RANKS = 16 };

/* By powers of two of what is idle; those with nothing idle are on no list. */
struct rr_ranks {
	uint32_t used;                 /* bit i: rank[i] has some */
	struct rr_list rank[RR_RANKS]; /* the next that pays comes first */
};

struct rr_share {
	struct rr_list link; /* in its rank, or in none */
	size_t bytes, idle;
};

struct rr_caller {
	struct rr_caller *next; /* in its bucket */
	struct rr_caller_addr addr;
	uint64_t hash;
	struct rr_share share;
	struct rr_ranks ranks; /* of its tenants */
	unsigned tenants, entries;
};

struct rr_tenant {
	struct rr_tenant *next; /* in its bucket */
	struct rr_caller *caller;
	uint64_t connection;
	struct rr_share share;
	struct rr_list idle; /* the user's: what could go, the oldest first */
	unsigned entries;
};

struct rr_tenants {
	struct rr_caller **callers;
	struct rr_tenant **tenants;
	size_t mask; /* of both tables' sizes */
	uint64_t key[2];
	struct rr_ranks ranks; /* of callers */
	size_t bytes;          /* of all, with what this takes itself */
};

/* @buckets: a power of two.  -ENOMEM. */
int rr_tenants_init(struct rr_tenants *, size_t buckets,
                    const uint64_t key[2]) RR_MUST_CHECK;
/* Nobody has anything any more; harmless on a zeroed one. */
void rr_tenants_fini(struct rr_tenants *);

/* The tenant, with one entry more; NULL without memory. */
struct rr_tenant *rr_tenant_get(struct rr_tenants *, const struct rr_caller_addr *,
                                uint64_t connection);
/* One entry less.  A tenant without entries is forgotten: it has no octets either. */
void rr_tenant_put(struct rr_tenants *, struct rr_tenant *);

/* It has so many octets more, or less. */
void rr_tenant_charge(struct rr_tenants *, struct rr_tenant *, size_t bytes);
void rr_tenant_discharge(struct rr_tenants *, struct rr_tenant *, size_t bytes);
/* Of what it has so much may go from now on, or may go no longer. */
void rr_tenant_idle(struct rr_tenants *, struct rr_tenant *, size_t bytes);
void rr_tenant_busy(struct rr_tenants *, struct rr_tenant *, size_t bytes);

/* The one that pays for @t, with something idle; @own: of @t's caller.  NULL: nobody
 * does. */
struct rr_tenant *rr_tenants_payer(const struct rr_tenants *, struct rr_tenant *t,
                                   bool own);

#endif
