/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the memory that each peer uses in a store (the reply cache), and chooses the
 * entries to remove when the store is full.
 *
 * A tenant is a connection with entries in the store.  A caller is an IP address with
 * all its connections, including those that have ended but still have entries.  A share
 * is the number of octets that a tenant's or a caller's entries use.  Octets of entries
 * that may be removed are idle; all other octets are busy.
 *
 * If a tenant needs memory and the store is full, some other entry must be removed.
 * The tenant that loses the entry is called the payer.  It is chosen in two steps:
 *
 *   1. The caller with the most idle octets; but if the requesting tenant's caller has
 *      a larger share, the requesting tenant's caller.
 *   2. That caller's tenant with the most idle octets; but if the requesting tenant
 *      belongs to that caller and has a larger share, the requesting tenant.
 *
 * So a peer that fills the store displaces only its own entries, until its share is as
 * small as the shares of other callers and of other connections from its address.  A
 * peer with many busy octets cannot displace the entries of others either.
 *
 * To find the most idle octets in constant time, their numbers are rounded down to a
 * power of two, at most 8 MiB.  Tenants with the same rounded number pay in turn.
 *
 * Addresses are found by a keyed digest, so that peers cannot choose addresses that
 * collide.
 */
#ifndef RR_RPC_TENANT_H
#define RR_RPC_TENANT_H

#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

/* An address without its port; IPv4 addresses are mapped to IPv6.  There is no padding,
 * because addresses are compared as octets. */
struct rr_caller_addr {
	uint8_t octets[16];
	uint64_t scope;
};

void rr_caller_addr(const struct sockaddr_storage *, struct rr_caller_addr *ret);

enum { RR_RANKS = 16 };

/* Lists of shares, grouped by the number of idle octets in the share, rounded down to a
 * power of two.  A share without idle octets is on no list. */
struct rr_ranks {
	uint32_t used;                 /* bit i: rank[i] is not empty */
	struct rr_list rank[RR_RANKS]; /* first: the share that loses entries next */
};

struct rr_share {
	struct rr_list link; /* in a rank's list, or unlinked */
	size_t bytes, idle;
};

struct rr_caller {
	struct rr_caller *next; /* next in the same bucket */
	struct rr_caller_addr addr;
	uint64_t hash;
	struct rr_share share;
	struct rr_ranks ranks; /* the caller's tenants */
	unsigned tenants, entries;
};

struct rr_tenant {
	struct rr_tenant *next; /* next in the same bucket */
	struct rr_caller *caller;
	uint64_t connection;
	struct rr_share share;
	/* entries that may be removed, oldest first; maintained by the reply cache */
	struct rr_list idle;
	unsigned entries;
};

struct rr_tenants {
	struct rr_caller **callers;
	struct rr_tenant **tenants;
	size_t mask; /* number of buckets in each table, minus one */
	uint64_t key[2];
	struct rr_ranks ranks; /* ranks of callers */
	size_t bytes;          /* total octets, including these tables */
};

/* Allocates the tables.  @buckets is a power of two.  Returns 0 or -ENOMEM. */
int rr_tenants_init(struct rr_tenants *, size_t buckets,
                    const uint64_t key[2]) RR_MUST_CHECK;
/* Frees the tables.  All shares must be empty.  Safe on a zeroed object. */
void rr_tenants_fini(struct rr_tenants *);

/* Finds or adds a tenant, and counts one more entry for it.  Returns NULL if there is
 * no memory. */
struct rr_tenant *rr_tenant_get(struct rr_tenants *, const struct rr_caller_addr *,
                                uint64_t connection);
/* Subtracts one from the tenant's number of entries.  If none is left, frees the
 * tenant, whose share must then be empty. */
void rr_tenant_put(struct rr_tenants *, struct rr_tenant *);

/* Add octets to the tenant's share, or subtract them. */
void rr_tenant_charge(struct rr_tenants *, struct rr_tenant *, size_t bytes);
void rr_tenant_discharge(struct rr_tenants *, struct rr_tenant *, size_t bytes);
/* Make octets of the tenant's share idle, or busy again. */
void rr_tenant_idle(struct rr_tenants *, struct rr_tenant *, size_t bytes);
void rr_tenant_busy(struct rr_tenants *, struct rr_tenant *, size_t bytes);

/* Returns the tenant with the most idle octets of the caller with the most idle octets,
 * or NULL if no octets are idle. */
struct rr_tenant *rr_tenants_richest(const struct rr_tenants *);
/* Returns the rank of that caller's idle octets, or 0 if no octets are idle.  Ranks of
 * different stores can be compared.  Sets @ret_bytes to the caller's share, octets. */
unsigned rr_tenants_top(const struct rr_tenants *, size_t *ret_bytes);
/* Returns the tenant that must lose an entry to give @t memory, or NULL if there is
 * none.  If @own is true, considers only tenants of @t's caller. */
struct rr_tenant *rr_tenants_payer(const struct rr_tenants *, struct rr_tenant *t,
                                   bool own);

#endif
