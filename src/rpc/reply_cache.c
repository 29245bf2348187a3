/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/reply_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

enum {
	DEFAULT_PER_CALLER = 8192,
	DEFAULT_AGE_S = 300,
	BYTES_PER_BUCKET = 1024, /* about the size of an entry */
	MAX_BUCKETS = 1 << 20,
	MALLOC_COST = 16,  /* octets that malloc adds to a block */
	BRIEF_BYTES = 512, /* octets of the arguments that are compared */
};

/* Identifies a Call.  There is no padding, because keys are compared as octets. */
struct key {
	struct rr_caller_addr addr;
	uint32_t xid, program, version, procedure;
	uint64_t len; /* octets of arguments, including the padding of items */
	/* digest of the fields above, the credential and the arguments */
	uint64_t digest;
};
_Static_assert(sizeof(struct key) == 16 + 8 + 4 * 4 + 8 + 8, "no padding");

struct rr_reply_cache_entry {
	struct rr_reply_cache_entry *next; /* next in the same bucket */
	/* nodes in the lists of idle entries; not linked while the entry is held */
	struct rr_list idle, of_tenant;
	struct rr_list waiters;
	struct rr_reply_shard *shard;
	struct rr_tenant *tenant; /* tenant that is charged for the entry */
	struct key key;
	unsigned held;
	bool complete, brief;
	rr_time since; /* when the entry was completed or last requested */
	size_t bytes;  /* size of the entry, including the body */
	struct rr_rpc_reply status;
	unsigned n_results;
	/* the array and the octets that it points to, in a single allocation */
	struct rr_piece *results;
};

/* -- keys ------------------------------------------------------------------ */

static void add_cred(struct rr_siphash *h, const struct rpcrdma_auth *a)
{
	uint32_t skip = a->flavor == RPCRDMA_AUTH_SYS && a->len >= 4 ? 4 : 0;
	uint32_t head[2] = {a->flavor, a->len};

	rr_siphash_add(h, head, sizeof(head));
	if (a->len > skip)
		rr_siphash_add(h, (const uint8_t *)a->body + skip, a->len - skip);
}

static size_t pad_of(const struct rpcrdma_piece *p)
{
	return p->item ? -p->len & 3 : 0;
}

/* Adds up to *@left octets of the arguments to the digest.  Subtracts their number from
 * *@left. */
static void add_args(struct rr_siphash *h, const void *base, size_t len, uint64_t *left)
{
	size_t n = (size_t)RR_MIN(*left, (uint64_t)len);

	if (n)
		rr_siphash_add(h, base, n);
	*left -= n;
}

/* Fills in the key of a Call.  Items are digested with their padding, as if they were
 * inline.  Everything that is compared is digested, so that callers cannot choose the
 * bucket. */
static void key_from(const struct rr_reply_cache *d,
                     const struct sockaddr_storage *caller, const struct rr_rpc_call *c,
                     const struct rpcrdma_piece *args, unsigned n, uint64_t most,
                     struct key *ret)
{
	static const uint8_t zero[3];
	struct rr_siphash h;

	memset(ret, 0, sizeof(*ret));
	rr_caller_addr(caller, &ret->addr);
	ret->xid = c->xid;
	ret->program = c->program;
	ret->version = c->version;
	ret->procedure = c->procedure;
	for (unsigned i = 0; i < n; i++)
		ret->len += args[i].len + pad_of(&args[i]);
	rr_siphash_init(&h, d->o.key);
	rr_siphash_add(&h, ret, sizeof(*ret));
	add_cred(&h, &c->cred);
	for (unsigned i = 0; i < n; i++) {
		add_args(&h, args[i].base, args[i].len, &most);
		add_args(&h, zero, pad_of(&args[i]), &most);
	}
	ret->digest = rr_siphash_end(&h);
}

/* -- tables ---------------------------------------------------------------- */

static int make_tables(struct rr_reply_shard *d)
{
	size_t n = 1;
	int err;

	while (n < MAX_BUCKETS &&
	       n * BYTES_PER_BUCKET < d->cache->o.bytes / d->cache->n_shards)
		n *= 2;
	err = rr_tenants_init(&d->tenants, n, d->cache->o.key);
	if (err)
		return err;
	d->buckets = calloc(n, sizeof(*d->buckets));
	if (!d->buckets) {
		rr_tenants_fini(&d->tenants);
		return -ENOMEM;
	}
	d->mask = n - 1;
	d->tenants.bytes += n * sizeof(*d->buckets);
	d->cache->tabled++;
	return 0;
}

static struct rr_reply_cache_entry *find_reply(const struct rr_reply_shard *d,
                                               const struct key *key)
{
	struct rr_reply_cache_entry *e = d->buckets[key->digest & d->mask];

	while (e && memcmp(&e->key, key, sizeof(*key)) != 0)
		e = e->next;
	return e;
}

static void unlink_entry(struct rr_reply_shard *d, struct rr_reply_cache_entry *e)
{
	struct rr_reply_cache_entry **at = &d->buckets[e->key.digest & d->mask];

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
}

/* -- shards ---------------------------------------------------------------- */

static void lock_shard(struct rr_reply_shard *d)
{
	pthread_mutex_lock(&d->lock);
}

/* Publishes the shard's octets and its richest caller, and unlocks the shard. */
static void unlock_shard(struct rr_reply_shard *d)
{
	size_t bytes;

	d->cache->bytes += d->tenants.bytes - d->counted; /* may wrap */
	d->counted = d->tenants.bytes;
	if (d->cache->n_shards > 1 && d->buckets) {
		d->top_rank = rr_tenants_top(&d->tenants, &bytes);
		d->top_bytes = bytes;
	}
	pthread_mutex_unlock(&d->lock);
}

static struct rr_reply_shard *shard_of(struct rr_reply_cache *d, const struct key *k)
{
	uint64_t digest = d->n_shards > 1
	                          ? rr_siphash_once(d->o.key, &k->addr, sizeof(k->addr))
	                          : 0;

	/* the low bits select a bucket of the shard */
	return &d->shards[(digest >> 32) % d->n_shards];
}

/* Returns the octets of all shards.  The caller has locked @d. */
static size_t total_bytes(const struct rr_reply_shard *d)
{
	return d->cache->bytes + d->tenants.bytes - d->counted;
}

/* Returns the shard whose richest caller must lose a reply before any caller in @d, or
 * NULL.  The caller has locked @d.  @c is the caller that needs memory. */
static struct rr_reply_shard *richer_shard(struct rr_reply_shard *d,
                                           const struct rr_caller *c)
{
	struct rr_reply_cache *cache = d->cache;
	struct rr_reply_shard *ret = NULL;
	size_t own = (size_t)(d - cache->shards), bytes;
	unsigned most = rr_tenants_top(&d->tenants, &bytes);

	for (unsigned i = 1; i < cache->n_shards; i++) {
		struct rr_reply_shard *s = &cache->shards[(own + i) % cache->n_shards];

		if (s->top_rank > most) {
			most = s->top_rank;
			ret = s;
		}
	}
	return ret && ret->top_bytes >= c->share.bytes ? ret : NULL;
}

/* -- making room ----------------------------------------------------------- */

static void set_entry_idle(struct rr_reply_shard *d, struct rr_reply_cache_entry *e)
{
	rr_list_push(&d->idle, &e->idle);
	rr_list_push(&e->tenant->idle, &e->of_tenant);
	rr_tenant_idle(&d->tenants, e->tenant, e->bytes);
}

static void set_busy(struct rr_reply_shard *d, struct rr_reply_cache_entry *e)
{
	if (rr_list_empty(&e->idle))
		return;
	rr_list_del(&e->idle);
	rr_list_del(&e->of_tenant);
	rr_tenant_busy(&d->tenants, e->tenant, e->bytes);
}

static void free_entry(struct rr_reply_shard *d, struct rr_reply_cache_entry *e)
{
	RR_ASSERT(!e->held && rr_list_empty(&e->waiters));
	set_busy(d, e);
	unlink_entry(d, e);
	rr_tenant_discharge(&d->tenants, e->tenant, e->bytes);
	rr_tenant_put(&d->tenants, e->tenant);
	d->entries--;
	free(e->results);
	free(e);
}

static struct rr_reply_cache_entry *oldest_idle(const struct rr_reply_shard *d)
{
	struct rr_list *n = rr_list_first(&d->idle);

	return n ? rr_container_of(n, struct rr_reply_cache_entry, idle) : NULL;
}

/* Returns the reply to remove in order to give @t memory, or NULL if there is none.  If
 * @own is true, considers only replies to @t's caller. */
static struct rr_reply_cache_entry *find_payment(const struct rr_reply_shard *d,
                                                 struct rr_tenant *t, bool own)
{
	struct rr_tenant *payer = rr_tenants_payer(&d->tenants, t, own);

	return payer ? rr_container_of(rr_list_first(&payer->idle),
	                               struct rr_reply_cache_entry, of_tenant)
	             : NULL;
}

static bool caller_has_room(const struct rr_reply_shard *d, const struct rr_caller *c,
                            size_t bytes)
{
	size_t most = d->cache->o.bytes / 2;

	return bytes <= most && c->share.bytes <= most - bytes &&
	       c->entries <= d->cache->o.max_per_caller;
}

/* Removes a reply of the shard's richest caller. */
static void tax_shard(struct rr_reply_shard *d)
{
	struct rr_tenant *t;

	lock_shard(d);
	t = rr_tenants_richest(&d->tenants);
	if (t)
		free_entry(d, rr_container_of(rr_list_first(&t->idle),
		                              struct rr_reply_cache_entry, of_tenant));
	unlock_shard(d);
}

/* Removes replies until @t may use @bytes more.  Returns false if that is impossible.
 * Does not free @t, because @t has an entry that is not idle.  Sets @ret_unlocked to
 * true if the shard was unlocked meanwhile; otherwise does not change it. */
static bool make_cache_room(struct rr_reply_shard *d, struct rr_tenant *t, size_t bytes,
                            bool *ret_unlocked)
{
	size_t limit = d->cache->o.bytes;
	struct rr_reply_cache_entry *e;
	struct rr_reply_shard *other;
	bool own;

	if (bytes > limit / 2)
		return false;
	while ((own = !caller_has_room(d, t->caller, bytes)) ||
	       total_bytes(d) > limit - bytes) {
		other = own ? NULL : richer_shard(d, t->caller);
		if (other) {
			unlock_shard(d);
			tax_shard(other);
			lock_shard(d);
			*ret_unlocked = true;
			continue;
		}
		e = find_payment(d, t, own);
		if (!e)
			return false;
		free_entry(d, e);
	}
	return true;
}

static void expire_replies(struct rr_reply_shard *d, rr_time now)
{
	struct rr_reply_cache_entry *e;

	/* Times come from several threads, and may be slightly out of order. */
	while ((e = oldest_idle(d)) && now > e->since &&
	       now - e->since >= d->cache->o.max_age_ns)
		free_entry(d, e);
}

/* -- entries --------------------------------------------------------------- */

#define ENTRY_BYTES (sizeof(struct rr_reply_cache_entry) + MALLOC_COST)

static struct rr_reply_cache_entry *
add_entry(struct rr_reply_shard *d, struct rr_tenant *t, const struct key *key)
{
	struct rr_reply_cache_entry *e = malloc(sizeof(*e));
	struct rr_reply_cache_entry **head = &d->buckets[key->digest & d->mask];

	if (!e)
		return NULL;
	*e = (struct rr_reply_cache_entry){.key = *key,
	                                   .shard = d,
	                                   .tenant = t,
	                                   .held = 1,
	                                   .bytes = ENTRY_BYTES,
	                                   .next = *head};
	rr_list_init(&e->idle);
	rr_list_init(&e->of_tenant);
	rr_list_init(&e->waiters);
	*head = e;
	rr_tenant_charge(&d->tenants, t, ENTRY_BYTES);
	d->entries++;
	return e;
}

static enum rr_reply_cache_verdict repeat_call(struct rr_reply_shard *d,
                                               struct rr_reply_cache_entry *e,
                                               struct rr_reply_cache_waiter *w)
{
	e->held++;
	set_busy(d, e);
	if (e->complete)
		return RR_REPLY_CACHE_DONE;
	rr_list_push(&e->waiters, &w->link);
	return RR_REPLY_CACHE_WAIT;
}

static void release_entry(struct rr_reply_shard *d, struct rr_reply_cache_entry *e,
                          rr_time now)
{
	RR_ASSERT(e->held);
	if (--e->held)
		return;
	if (e->brief) {
		free_entry(d, e);
		return;
	}
	e->since = now;
	set_entry_idle(d, e);
}

static enum rr_reply_cache_verdict
begin_call(struct rr_reply_shard *d, const struct key *key, uint64_t connection,
           bool brief, struct rr_reply_cache_waiter *w, rr_time now,
           struct rr_reply_cache_entry **ret)
{
	struct rr_reply_cache_entry *e;
	bool unlocked = false, room;
	struct rr_tenant *t;

	if (!d->buckets && make_tables(d))
		return RR_REPLY_CACHE_REFUSED;
	expire_replies(d, now);
	e = find_reply(d, key);
	if (e) {
		*ret = e;
		return repeat_call(d, e, w);
	}
	t = rr_tenant_get(&d->tenants, &key->addr, connection);
	if (!t)
		return RR_REPLY_CACHE_REFUSED;
	room = make_cache_room(d, t, ENTRY_BYTES, &unlocked);
	e = unlocked ? find_reply(d, key) : NULL;
	if (e) { /* another engine has begun the same Call */
		rr_tenant_put(&d->tenants, t);
		*ret = e;
		return repeat_call(d, e, w);
	}
	e = room ? add_entry(d, t, key) : NULL;
	if (!e) {
		rr_tenant_put(&d->tenants, t);
		return RR_REPLY_CACHE_REFUSED;
	}
	e->brief = brief;
	*ret = e;
	return RR_REPLY_CACHE_NEW;
}

static enum rr_reply_cache_verdict
lock_and_begin(struct rr_reply_cache *cache, const struct key *key, uint64_t connection,
               bool brief, struct rr_reply_cache_waiter *w, rr_time now,
               struct rr_reply_cache_entry **ret)
{
	struct rr_reply_shard *d = shard_of(cache, key);
	enum rr_reply_cache_verdict v;

	lock_shard(d);
	v = begin_call(d, key, connection, brief, w, now, ret);
	unlock_shard(d);
	return v;
}

enum rr_reply_cache_verdict
rr_reply_cache_begin(struct rr_reply_cache *d, const struct rr_reply_cache_from *from,
                     const struct rr_rpc_call *c, const struct rpcrdma_piece *args,
                     unsigned n_args, struct rr_reply_cache_waiter *w, rr_time now,
                     struct rr_reply_cache_entry **ret)
{
	struct key key;

	*ret = NULL;
	if (!d->o.bytes)
		return RR_REPLY_CACHE_NEW;
	key_from(d, from->caller, c, args, n_args, UINT64_MAX, &key);
	return lock_and_begin(d, &key, from->connection, false, w, now, ret);
}

enum rr_reply_cache_verdict rr_reply_cache_begin_briefly(
        struct rr_reply_cache *d, const struct rr_reply_cache_from *from,
        const struct rr_rpc_call *c, const struct rpcrdma_piece *args, unsigned n_args,
        struct rr_reply_cache_waiter *w, rr_time now, struct rr_reply_cache_entry **ret)
{
	struct key key;

	*ret = NULL;
	if (!d->o.bytes)
		return RR_REPLY_CACHE_NEW;
	key_from(d, from->caller, c, args, n_args, BRIEF_BYTES, &key);
	return lock_and_begin(d, &key, from->connection, true, w, now, ret);
}

/* -- replies --------------------------------------------------------------- */

/* Copies the array and all octets into one allocation.  Returns NULL if there is no
 * memory. */
static struct rr_piece *copy_results(const struct rr_piece *p, unsigned n, size_t bytes)
{
	struct rr_piece *to = malloc(bytes);
	uint8_t *at = (uint8_t *)(to + n);

	if (!to)
		return NULL;
	for (unsigned i = 0; i < n; i++) {
		to[i] = (struct rr_piece){at, p[i].len, p[i].item};
		if (p[i].len)
			memcpy(at, p[i].base, p[i].len);
		at += p[i].len;
	}
	return to;
}

static bool store_results(struct rr_reply_shard *d, struct rr_reply_cache_entry *e,
                          const struct rr_piece *p, unsigned n)
{
	size_t bytes = n * sizeof(*p);
	bool unlocked; /* does not matter, because the entry is held */

	for (unsigned i = 0; i < n; i++) {
		if (p[i].len > d->cache->o.bytes - RR_MIN(bytes, d->cache->o.bytes))
			return false;
		bytes += p[i].len;
	}
	if (!n)
		return true;
	if (!make_cache_room(d, e->tenant, bytes + MALLOC_COST, &unlocked))
		return false;
	e->results = copy_results(p, n, bytes);
	if (!e->results)
		return false;
	e->n_results = n;
	e->bytes += bytes + MALLOC_COST;
	rr_tenant_charge(&d->tenants, e->tenant, bytes + MALLOC_COST);
	return true;
}

void rr_reply_cache_complete(struct rr_reply_cache *cache,
                             struct rr_reply_cache_entry *e,
                             const struct rr_rpc_reply *status,
                             const struct rr_piece *results, unsigned n, rr_time now)
{
	struct rr_reply_shard *d;
	struct rr_list *w;

	if (!e)
		return;
	d = e->shard;
	RR_ASSERT(n <= RPCRDMA_MAX_PIECES);
	lock_shard(d);
	RR_ASSERT(!e->complete);
	/* For a Call that is remembered only during its execution, the result is stored
	 * only if a repetition is waiting. */
	if ((e->brief && e->held == 1) || store_results(d, e, results, n))
		e->status = *status;
	else
		e->status = (struct rr_rpc_reply){.status = RPCRDMA_SYSTEM_ERR};
	e->complete = true;
	while ((w = rr_list_pop(&e->waiters))) {
		struct rr_reply_cache_waiter *x =
		        rr_container_of(w, struct rr_reply_cache_waiter, link);

		x->ready(x);
	}
	release_entry(d, e, now);
	unlock_shard(d);
}

/* Needs no lock, because a complete entry does not change and a held entry is not
 * freed. */
unsigned rr_reply_cache_reply(const struct rr_reply_cache_entry *e,
                              struct rr_rpc_reply *ret, struct rr_piece *ret_results)
{
	*ret = e->status;
	ret->xid = e->key.xid;
	for (unsigned i = 0; i < e->n_results; i++)
		ret_results[i] = e->results[i];
	return e->n_results;
}

void rr_reply_cache_put(struct rr_reply_cache *cache, struct rr_reply_cache_entry *e,
                        rr_time now)
{
	struct rr_reply_shard *d = e->shard;

	lock_shard(d);
	RR_ASSERT(e->complete);
	release_entry(d, e, now);
	unlock_shard(d);
}

void rr_reply_cache_leave(struct rr_reply_cache *cache, struct rr_reply_cache_entry *e,
                          struct rr_reply_cache_waiter *w, rr_time now)
{
	struct rr_reply_shard *d = e->shard;

	lock_shard(d);
	rr_list_del(&w->link);
	release_entry(d, e, now);
	unlock_shard(d);
}

/* -- set-up and destruction ------------------------------------------------ */

int rr_reply_cache_init(struct rr_reply_cache *d,
                        const struct rr_reply_cache_options *o)
{
	if (o->bytes && o->bytes < RR_REPLY_CACHE_MIN_BYTES)
		return -EINVAL;
	*d = (struct rr_reply_cache){.o = *o};
	if (!d->o.max_per_caller)
		d->o.max_per_caller = DEFAULT_PER_CALLER;
	if (!d->o.max_age_ns)
		d->o.max_age_ns = RR_SEC(DEFAULT_AGE_S);
	d->n_shards = 1;
	for (unsigned i = 0; i < RR_REPLY_CACHE_SHARDS; i++) {
		d->shards[i].cache = d;
		rr_list_init(&d->shards[i].idle);
		pthread_mutex_init(&d->shards[i].lock, NULL);
	}
	return 0;
}

int rr_reply_cache_set_bytes(struct rr_reply_cache *d, size_t bytes)
{
	if (bytes && bytes < RR_REPLY_CACHE_MIN_BYTES)
		return -EINVAL;
	if (d->tabled)
		return -EBUSY;
	d->o.bytes = bytes;
	return 0;
}

int rr_reply_cache_share(struct rr_reply_cache *d)
{
	if (d->tabled)
		return -EBUSY;
	d->n_shards = RR_REPLY_CACHE_SHARDS;
	return 0;
}

static void fini_shard(struct rr_reply_shard *d)
{
	struct rr_reply_cache_entry *e;

	while ((e = oldest_idle(d)))
		free_entry(d, e);
	RR_ASSERT(!d->entries);
	free(d->buckets);
	rr_tenants_fini(&d->tenants);
	pthread_mutex_destroy(&d->lock);
}

void rr_reply_cache_fini(struct rr_reply_cache *d)
{
	for (unsigned i = 0; i < RR_REPLY_CACHE_SHARDS; i++)
		fini_shard(&d->shards[i]);
}

uint64_t rr_reply_cache_connection(struct rr_reply_cache *d)
{
	return atomic_fetch_add(&d->connections, 1) + 1;
}
