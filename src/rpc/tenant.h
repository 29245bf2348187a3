/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares of a store that peers fill, and the choice of what is removed when it is full.
 *
 * A tenant is a connection.  A caller is an address with all its connections, including
 * those that have ended and left something in the store.  The share of a tenant is
 * counted in octets; the idle part of it may be removed.
 *
 * If a tenant needs room, the caller with the most idle octets pays, and of its tenants
 * the one with most.  So peers that fill the store cost others nothing, neither other
 * callers nor other connections of the same address, before all have as little.  But
 * the tenant's own caller pays if its share is larger, and within that caller the
 * tenant itself if its share is larger.  So busy octets cannot displace those of others.
 *
 * "Most" is compared by powers of two, up to 8 MiB; within one power they pay in turn.
 * So all operations take constant time.
 *
 * Addresses are found by a keyed digest, so that peers cannot choose colliding ones.
 */
#ifndef RR_RPC_TENANT_H
#define RR_RPC_TENANT_H

#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

/* An address without port; IPv4 addresses are mapped to IPv6.  No padding: compared as
 * octets. */
struct rr_caller_addr {
	uint8_t octets[16];
	uint64_t scope;
};

void rr_caller_addr(const struct sockaddr_storage *, struct rr_caller_addr *ret);

enum { RR_RANKS = 16 };

/* Shares by powers of two of their idle octets; a share without any is on no list. */
struct rr_ranks {
	uint32_t used;                 /* bit i: rank[i] is not empty */
	struct rr_list rank[RR_RANKS]; /* the next one that pays comes first */
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
	struct rr_ranks ranks; /* its tenants */
	unsigned tenants, entries;
};

struct rr_tenant {
	struct rr_tenant *next; /* in its bucket */
	struct rr_caller *caller;
	uint64_t connection;
	struct rr_share share;
	struct rr_list idle; /* for the user: what may be removed, the oldest first */
	unsigned entries;
};

struct rr_tenants {
	struct rr_caller **callers;
	struct rr_tenant **tenants;
	size_t mask; /* size of both tables, less one */
	uint64_t key[2];
	struct rr_ranks ranks; /* callers */
	size_t bytes;          /* all, with the memory of these tables */
};

/* Allocates the tables.  @buckets is a power of two.  -ENOMEM. */
int rr_tenants_init(struct rr_tenants *, size_t buckets,
                    const uint64_t key[2]) RR_MUST_CHECK;
/* Frees the tables, when all shares are empty.  Harmless on a zeroed one. */
void rr_tenants_fini(struct rr_tenants *);

/* Finds or adds a tenant, and counts one more entry of it.  Returns NULL without
 * memory. */
struct rr_tenant *rr_tenant_get(struct rr_tenants *, const struct rr_caller_addr *,
                                uint64_t connection);
/* Counts one entry less.  A tenant without entries is freed; it must have no octets. */
void rr_tenant_put(struct rr_tenants *, struct rr_tenant *);

/* Add octets to the share, or subtract them. */
void rr_tenant_charge(struct rr_tenants *, struct rr_tenant *, size_t bytes);
void rr_tenant_discharge(struct rr_tenants *, struct rr_tenant *, size_t bytes);
/* Make octets of the share idle, or busy again. */
void rr_tenant_idle(struct rr_tenants *, struct rr_tenant *, size_t bytes);
void rr_tenant_busy(struct rr_tenants *, struct rr_tenant *, size_t bytes);

/* Returns the tenant that pays for @t, which has idle octets; NULL if there is none.
 * @own: of the same caller only. */
struct rr_tenant *rr_tenants_payer(const struct rr_tenants *, struct rr_tenant *t,
                                   bool own);

#endif
