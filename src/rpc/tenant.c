/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/tenant.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

enum {
	LOWEST = 8,       /* rank 0 contains shares below 2^9 octets */
	MALLOC_COST = 16, /* octets that malloc adds to a block */
};

/* -- ranks ----------------------------------------------------------------- */

static unsigned rank_of(size_t bytes)
{
	unsigned log2 = 63 - (unsigned)__builtin_clzll((unsigned long long)bytes | 1);

	return RR_MIN(log2 - RR_MIN(log2, LOWEST), RR_RANKS - 1u);
}

static void init_ranks(struct rr_ranks *r)
{
	r->used = 0;
	for (unsigned i = 0; i < RR_RANKS; i++)
		rr_list_init(&r->rank[i]);
}

/* Sets the number of idle octets in a share.  If the number decreases, moves the share
 * to the end of its rank's list, so that the rank's other shares lose entries first. */
static void set_share_idle(struct rr_ranks *r, struct rr_share *s, size_t idle)
{
	unsigned from = rank_of(s->idle), to = rank_of(idle);

	if (from != to || idle < s->idle) {
		rr_list_del(&s->link);
		if (rr_list_empty(&r->rank[from]))
			r->used &= ~(1u << from);
	}
	s->idle = idle;
	if (idle && rr_list_empty(&s->link)) {
		rr_list_push(&r->rank[to], &s->link);
		r->used |= 1u << to;
	}
}

static struct rr_share *most_of(const struct rr_ranks *r)
{
	if (!r->used)
		return NULL;
	return rr_container_of(
	        rr_list_first(&r->rank[31 - (unsigned)__builtin_clz(r->used)]),
	        struct rr_share, link);
}

/* -- tables ---------------------------------------------------------------- */

void rr_caller_addr(const struct sockaddr_storage *ss, struct rr_caller_addr *ret)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	memset(ret, 0, sizeof(*ret));
	if (ss->ss_family == AF_INET) {
		memcpy(&in, ss, sizeof(in));
		memcpy(ret->octets, mapped, sizeof(mapped));
		memcpy(ret->octets + 12, &in.sin_addr, 4);
	} else if (ss->ss_family == AF_INET6) {
		memcpy(&in6, ss, sizeof(in6));
		memcpy(ret->octets, &in6.sin6_addr, 16);
		ret->scope = in6.sin6_scope_id;
	}
}

int rr_tenants_init(struct rr_tenants *ts, size_t buckets, const uint64_t key[2])
{
	*ts = (struct rr_tenants){.mask = buckets - 1, .key = {key[0], key[1]}};
	init_ranks(&ts->ranks);
	ts->callers = calloc(buckets, sizeof(*ts->callers));
	ts->tenants = calloc(buckets, sizeof(*ts->tenants));
	if (!ts->callers || !ts->tenants) {
		rr_tenants_fini(ts);
		return -ENOMEM;
	}
	ts->bytes = buckets * (sizeof(*ts->callers) + sizeof(*ts->tenants));
	return 0;
}

void rr_tenants_fini(struct rr_tenants *ts)
{
	free(ts->callers);
	free(ts->tenants);
	ts->callers = NULL;
	ts->tenants = NULL;
}

static uint64_t digest_address(const struct rr_tenants *ts,
                               const struct rr_caller_addr *a)
{
	return rr_siphash_once(ts->key, a, sizeof(*a));
}

static struct rr_caller **caller_bucket(const struct rr_tenants *ts, uint64_t hash)
{
	return &ts->callers[hash & ts->mask];
}

/* Connection numbers need no digest, because the server assigns them. */
static struct rr_tenant **tenant_bucket(const struct rr_tenants *ts, uint64_t hash,
                                        uint64_t connection)
{
	return &ts->tenants[(hash + connection) & ts->mask];
}

/* -- callers and tenants --------------------------------------------------- */

static struct rr_caller *get_caller(struct rr_tenants *ts,
                                    const struct rr_caller_addr *a)
{
	uint64_t hash = digest_address(ts, a);
	struct rr_caller **head = caller_bucket(ts, hash), *c = *head;

	while (c && (c->hash != hash || memcmp(&c->addr, a, sizeof(*a)) != 0))
		c = c->next;
	if (c)
		return c;
	c = malloc(sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct rr_caller){.addr = *a, .hash = hash, .next = *head};
	rr_list_init(&c->share.link);
	init_ranks(&c->ranks);
	*head = c;
	c->share.bytes = sizeof(*c) + MALLOC_COST;
	ts->bytes += c->share.bytes;
	return c;
}

/* Frees the caller if it has no tenants. */
static void put_caller(struct rr_tenants *ts, struct rr_caller *c)
{
	struct rr_caller **at = caller_bucket(ts, c->hash);

	if (c->tenants)
		return;
	RR_ASSERT(c->share.bytes == sizeof(*c) + MALLOC_COST && !c->share.idle);
	ts->bytes -= c->share.bytes;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	free(c);
}

static struct rr_tenant *new_tenant(struct rr_tenants *ts, struct rr_caller *c,
                                    uint64_t connection)
{
	struct rr_tenant **head = tenant_bucket(ts, c->hash, connection);
	struct rr_tenant *t = malloc(sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct rr_tenant){.caller = c, .connection = connection, .next = *head};
	rr_list_init(&t->share.link);
	rr_list_init(&t->idle);
	*head = t;
	c->tenants++;
	rr_tenant_charge(ts, t, sizeof(*t) + MALLOC_COST);
	return t;
}

struct rr_tenant *rr_tenant_get(struct rr_tenants *ts, const struct rr_caller_addr *a,
                                uint64_t connection)
{
	struct rr_caller *c = get_caller(ts, a);
	struct rr_tenant *t;

	if (!c)
		return NULL;
	t = *tenant_bucket(ts, c->hash, connection);
	while (t && (t->caller != c || t->connection != connection))
		t = t->next;
	if (!t)
		t = new_tenant(ts, c, connection);
	if (!t) {
		put_caller(ts, c);
		return NULL;
	}
	t->entries++;
	c->entries++;
	return t;
}

void rr_tenant_put(struct rr_tenants *ts, struct rr_tenant *t)
{
	struct rr_caller *c = t->caller;
	struct rr_tenant **at = tenant_bucket(ts, c->hash, t->connection);

	c->entries--;
	if (--t->entries)
		return;
	rr_tenant_discharge(ts, t, sizeof(*t) + MALLOC_COST);
	RR_ASSERT(!t->share.bytes && rr_list_empty(&t->idle));
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	free(t);
	c->tenants--;
	put_caller(ts, c);
}

/* -- shares ---------------------------------------------------------------- */

void rr_tenant_charge(struct rr_tenants *ts, struct rr_tenant *t, size_t bytes)
{
	ts->bytes += bytes;
	t->caller->share.bytes += bytes;
	t->share.bytes += bytes;
}

void rr_tenant_discharge(struct rr_tenants *ts, struct rr_tenant *t, size_t bytes)
{
	RR_ASSERT(ts->bytes >= bytes && t->share.bytes >= bytes);
	ts->bytes -= bytes;
	t->caller->share.bytes -= bytes;
	t->share.bytes -= bytes;
}

void rr_tenant_idle(struct rr_tenants *ts, struct rr_tenant *t, size_t bytes)
{
	struct rr_caller *c = t->caller;

	set_share_idle(&c->ranks, &t->share, t->share.idle + bytes);
	set_share_idle(&ts->ranks, &c->share, c->share.idle + bytes);
}

void rr_tenant_busy(struct rr_tenants *ts, struct rr_tenant *t, size_t bytes)
{
	struct rr_caller *c = t->caller;

	RR_ASSERT(t->share.idle >= bytes);
	set_share_idle(&c->ranks, &t->share, t->share.idle - bytes);
	set_share_idle(&ts->ranks, &c->share, c->share.idle - bytes);
}

struct rr_tenant *rr_tenants_payer(const struct rr_tenants *ts, struct rr_tenant *t,
                                   bool own)
{
	struct rr_share *share = own ? NULL : most_of(&ts->ranks);
	struct rr_caller *c = t->caller;
	struct rr_tenant *payer = t;

	if (share && share->bytes >= c->share.bytes)
		c = rr_container_of(share, struct rr_caller, share);
	share = most_of(&c->ranks);
	if (share && (c != t->caller || share->bytes >= t->share.bytes))
		payer = rr_container_of(share, struct rr_tenant, share);
	return payer->share.idle ? payer : NULL;
}

struct rr_tenant *rr_tenants_richest(const struct rr_tenants *ts)
{
	const struct rr_share *share = most_of(&ts->ranks);

	if (!share)
		return NULL;
	share = most_of(
	        &rr_container_of((uintptr_t)share, struct rr_caller, share)->ranks);
	return rr_container_of((uintptr_t)share, struct rr_tenant, share);
}

unsigned rr_tenants_top(const struct rr_tenants *ts, size_t *ret_bytes)
{
	const struct rr_share *share = most_of(&ts->ranks);

	*ret_bytes = share ? share->bytes : 0;
	return share ? 1 + rank_of(share->idle) : 0;
}
