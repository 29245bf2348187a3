/* SPDX-License-Identifier: BSD-3-Clause */
#include "drive/drc.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "drive/siphash.h"

enum {
	DEFAULT_PER_CALLER = 8192,
	DEFAULT_AGE_S = 300,
	BYTES_PER_BUCKET = 1024, /* about what an entry takes */
	MAX_BUCKETS = 1 << 20,
	MALLOC_COST = 16,  /* what an allocation costs beyond its size */
	BRIEF_BYTES = 512, /* of the arguments that are compared */
};

/* An address without port; IPv4 as IPv6 has it. */
struct addr {
	uint8_t octets[16];
	uint64_t scope;
};

/* Which Call it is.  No padding: compared as octets. */
struct key {
	struct addr addr;
	uint32_t xid, program, version, procedure;
	uint64_t len;    /* of the arguments, items with their padding */
	uint64_t digest; /* of all this, credential and arguments */
};
_Static_assert(sizeof(struct key) == 16 + 8 + 4 * 4 + 8 + 8, "no padding");

struct rr_drc_caller {
	struct rr_drc_caller *next; /* in its bucket */
	struct addr addr;
	uint64_t hash;
	struct rr_list idle; /* as the cache's, of this one */
	size_t bytes;
	unsigned entries;
};

struct rr_drc_entry {
	struct rr_drc_entry *next;      /* in its bucket */
	struct rr_list idle, of_caller; /* on both lists, or none while held */
	struct rr_list waiters;
	struct rr_drc_caller *caller;
	struct key key;
	unsigned held;
	bool complete, brief;
	rr_time since; /* complete, or last asked for */
	size_t bytes;  /* with the body */
	struct rr_rpc_reply status;
	unsigned n_results;
	struct rr_piece *results; /* the array, then the octets: one allocation */
};

/* -- keys ------------------------------------------------------------------------ */

/* Into zeroes. */
static void addr_from(const struct sockaddr_storage *ss, struct addr *ret)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

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

static uint64_t addr_hash(const struct rr_drc *d, const struct addr *a)
{
	struct rr_siphash h;

	rr_siphash_init(&h, d->o.key);
	rr_siphash_add(&h, a, sizeof(*a));
	return rr_siphash_end(&h);
}

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

/* Octets of the arguments, of which @left are still to be added. */
static void add_args(struct rr_siphash *h, const void *base, size_t len, uint64_t *left)
{
	size_t n = (size_t)RR_MIN(*left, (uint64_t)len);

	if (n)
		rr_siphash_add(h, base, n);
	*left -= n;
}

/* An item counts with its padding, as it has it when it travels inline.  What is
 * compared is hashed as well: a caller that chooses it cannot choose the bucket. */
static void key_from(const struct rr_drc *d, const struct sockaddr_storage *caller,
                     const struct rr_rpc_call *c, const struct rpcrdma_piece *args,
                     unsigned n, uint64_t most, struct key *ret)
{
	static const uint8_t zero[3];
	struct rr_siphash h;

	memset(ret, 0, sizeof(*ret));
	addr_from(caller, &ret->addr);
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

/* -- tables ------------------------------------------------------------------------ */

static int make_tables(struct rr_drc *d)
{
	size_t n = 1, cost;

	while (n < MAX_BUCKETS && n * BYTES_PER_BUCKET < d->o.bytes)
		n *= 2;
	cost = n * (sizeof(*d->buckets) + sizeof(*d->callers));
	d->buckets = calloc(n, sizeof(*d->buckets));
	d->callers = calloc(n, sizeof(*d->callers));
	if (!d->buckets || !d->callers) {
		free(d->buckets);
		free(d->callers);
		d->buckets = NULL;
		d->callers = NULL;
		return -ENOMEM;
	}
	d->mask = n - 1;
	d->bytes = cost;
	return 0;
}

static struct rr_drc_entry *find(const struct rr_drc *d, const struct key *key)
{
	struct rr_drc_entry *e = d->buckets[key->digest & d->mask];

	while (e && memcmp(&e->key, key, sizeof(*key)) != 0)
		e = e->next;
	return e;
}

static void unlink_entry(struct rr_drc *d, struct rr_drc_entry *e)
{
	struct rr_drc_entry **at = &d->buckets[e->key.digest & d->mask];

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
}

static void unlink_caller(struct rr_drc *d, struct rr_drc_caller *c)
{
	struct rr_drc_caller **at = &d->callers[c->hash & d->mask];

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
}

/* -- room ----------------------------------------------------------------------------
 */

static void charge(struct rr_drc *d, struct rr_drc_caller *c, size_t bytes)
{
	d->bytes += bytes;
	c->bytes += bytes;
}

static void discharge(struct rr_drc *d, struct rr_drc_caller *c, size_t bytes)
{
	RR_ASSERT(d->bytes >= bytes && c->bytes >= bytes);
	d->bytes -= bytes;
	c->bytes -= bytes;
}

/* A caller without entries is forgotten. */
static void put_caller(struct rr_drc *d, struct rr_drc_caller *c)
{
	if (--c->entries)
		return;
	discharge(d, c, sizeof(*c) + MALLOC_COST);
	RR_ASSERT(!c->bytes);
	unlink_caller(d, c);
	free(c);
}

static void free_entry(struct rr_drc *d, struct rr_drc_entry *e)
{
	struct rr_drc_caller *c = e->caller;

	RR_ASSERT(!e->held && rr_list_empty(&e->waiters));
	rr_list_del(&e->idle);
	rr_list_del(&e->of_caller);
	unlink_entry(d, e);
	discharge(d, c, e->bytes);
	d->entries--;
	free(e->results);
	free(e);
	put_caller(d, c);
}

static struct rr_drc_entry *oldest(const struct rr_drc *d)
{
	struct rr_list *n = rr_list_first(&d->idle);

	return n ? rr_container_of(n, struct rr_drc_entry, idle) : NULL;
}

static struct rr_drc_entry *oldest_of(const struct rr_drc_caller *c)
{
	struct rr_list *n = rr_list_first(&c->idle);

	return n ? rr_container_of(n, struct rr_drc_entry, of_caller) : NULL;
}

static bool caller_has_room(const struct rr_drc *d, const struct rr_drc_caller *c,
                            size_t bytes)
{
	size_t share = d->o.bytes / 2;

	return bytes <= share && c->bytes <= share - bytes &&
	       c->entries <= d->o.max_per_caller;
}

/* @c has an entry that is not idle, so that it stays. */
static bool make_room(struct rr_drc *d, struct rr_drc_caller *c, size_t bytes)
{
	struct rr_drc_entry *e;

	if (bytes > d->o.bytes / 2)
		return false;
	while (!caller_has_room(d, c, bytes)) {
		e = oldest_of(c);
		if (!e)
			return false;
		free_entry(d, e);
	}
	while (d->bytes > d->o.bytes - bytes) {
		e = oldest(d);
		if (!e)
			return false;
		free_entry(d, e);
	}
	return true;
}

static void expire(struct rr_drc *d, rr_time now)
{
	struct rr_drc_entry *e;

	/* Times come from several threads and may be a little out of order. */
	while ((e = oldest(d)) && now > e->since && now - e->since >= d->o.max_age_ns)
		free_entry(d, e);
}

/* -- entries -------------------------------------------------------------------------
 */

/* The caller's record with one entry more; NULL without memory. */
static struct rr_drc_caller *get_caller(struct rr_drc *d, const struct addr *a)
{
	uint64_t hash = addr_hash(d, a);
	struct rr_drc_caller **head = &d->callers[hash & d->mask], *c = *head;

	while (c && (c->hash != hash || memcmp(&c->addr, a, sizeof(*a)) != 0))
		c = c->next;
	if (!c) {
		c = malloc(sizeof(*c));
		if (!c)
			return NULL;
		*c = (struct rr_drc_caller){.addr = *a, .hash = hash, .next = *head};
		rr_list_init(&c->idle);
		*head = c;
		charge(d, c, sizeof(*c) + MALLOC_COST);
	}
	c->entries++;
	return c;
}

static struct rr_drc_entry *add_entry(struct rr_drc *d, struct rr_drc_caller *c,
                                      const struct key *key)
{
	const size_t bytes = sizeof(struct rr_drc_entry) + MALLOC_COST;
	struct rr_drc_entry *e = make_room(d, c, bytes) ? malloc(sizeof(*e)) : NULL;
	struct rr_drc_entry **head = &d->buckets[key->digest & d->mask];

	if (!e)
		return NULL;
	*e = (struct rr_drc_entry){
	        .key = *key, .caller = c, .held = 1, .bytes = bytes, .next = *head};
	rr_list_init(&e->idle);
	rr_list_init(&e->of_caller);
	rr_list_init(&e->waiters);
	*head = e;
	charge(d, c, bytes);
	d->entries++;
	return e;
}

static enum rr_drc_verdict again(struct rr_drc_entry *e, struct rr_drc_waiter *w)
{
	e->held++;
	rr_list_del(&e->idle);
	rr_list_del(&e->of_caller);
	if (e->complete)
		return RR_DRC_DONE;
	rr_list_push(&e->waiters, &w->link);
	return RR_DRC_WAIT;
}

static void let_go(struct rr_drc *d, struct rr_drc_entry *e, rr_time now)
{
	RR_ASSERT(e->held);
	if (--e->held)
		return;
	if (e->brief) {
		free_entry(d, e);
		return;
	}
	e->since = now;
	rr_list_push(&d->idle, &e->idle);
	rr_list_push(&e->caller->idle, &e->of_caller);
}

static enum rr_drc_verdict begin(struct rr_drc *d, const struct key *key, bool brief,
                                 struct rr_drc_waiter *w, rr_time now,
                                 struct rr_drc_entry **ret)
{
	struct rr_drc_caller *c;
	struct rr_drc_entry *e;

	if (!d->buckets && make_tables(d))
		return RR_DRC_REFUSED;
	expire(d, now);
	e = find(d, key);
	if (e) {
		*ret = e;
		return again(e, w);
	}
	c = get_caller(d, &key->addr);
	if (!c)
		return RR_DRC_REFUSED;
	e = add_entry(d, c, key);
	if (!e) {
		put_caller(d, c);
		return RR_DRC_REFUSED;
	}
	e->brief = brief;
	*ret = e;
	return RR_DRC_NEW;
}

static enum rr_drc_verdict lock_and_begin(struct rr_drc *d, const struct key *key,
                                          bool brief, struct rr_drc_waiter *w,
                                          rr_time now, struct rr_drc_entry **ret)
{
	enum rr_drc_verdict v;

	pthread_mutex_lock(&d->lock);
	v = begin(d, key, brief, w, now, ret);
	pthread_mutex_unlock(&d->lock);
	return v;
}

enum rr_drc_verdict rr_drc_begin(struct rr_drc *d,
                                 const struct sockaddr_storage *caller,
                                 const struct rr_rpc_call *c,
                                 const struct rpcrdma_piece *args, unsigned n_args,
                                 struct rr_drc_waiter *w, rr_time now,
                                 struct rr_drc_entry **ret)
{
	struct key key;

	*ret = NULL;
	if (!d->o.bytes)
		return RR_DRC_NEW;
	key_from(d, caller, c, args, n_args, UINT64_MAX, &key);
	return lock_and_begin(d, &key, false, w, now, ret);
}

enum rr_drc_verdict rr_drc_begin_briefly(struct rr_drc *d,
                                         const struct sockaddr_storage *caller,
                                         const struct rr_rpc_call *c,
                                         const struct rpcrdma_piece *args,
                                         unsigned n_args, struct rr_drc_waiter *w,
                                         rr_time now, struct rr_drc_entry **ret)
{
	struct key key;

	*ret = NULL;
	if (!d->o.bytes)
		return RR_DRC_NEW;
	key_from(d, caller, c, args, n_args, BRIEF_BYTES, &key);
	return lock_and_begin(d, &key, true, w, now, ret);
}

/* -- replies -------------------------------------------------------------------------
 */

/* One allocation with everything in it; NULL without memory. */
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

static bool keep(struct rr_drc *d, struct rr_drc_entry *e, const struct rr_piece *p,
                 unsigned n)
{
	size_t bytes = n * sizeof(*p);

	for (unsigned i = 0; i < n; i++) {
		if (p[i].len > d->o.bytes - RR_MIN(bytes, d->o.bytes))
			return false;
		bytes += p[i].len;
	}
	if (!n)
		return true;
	if (!make_room(d, e->caller, bytes + MALLOC_COST))
		return false;
	e->results = copy_results(p, n, bytes);
	if (!e->results)
		return false;
	e->n_results = n;
	e->bytes += bytes + MALLOC_COST;
	charge(d, e->caller, bytes + MALLOC_COST);
	return true;
}

void rr_drc_complete(struct rr_drc *d, struct rr_drc_entry *e,
                     const struct rr_rpc_reply *status, const struct rr_piece *results,
                     unsigned n, rr_time now)
{
	struct rr_list *w;

	if (!e)
		return;
	RR_ASSERT(n <= RPCRDMA_MAX_PIECES);
	pthread_mutex_lock(&d->lock);
	RR_ASSERT(!e->complete);
	/* Of a brief one nobody else would ask: then nothing is kept, nor made room
	 * for. */
	if ((e->brief && e->held == 1) || keep(d, e, results, n))
		e->status = *status;
	else
		e->status = (struct rr_rpc_reply){.status = RPCRDMA_SYSTEM_ERR};
	e->complete = true;
	while ((w = rr_list_pop(&e->waiters))) {
		struct rr_drc_waiter *x =
		        rr_container_of(w, struct rr_drc_waiter, link);

		x->ready(x);
	}
	let_go(d, e, now);
	pthread_mutex_unlock(&d->lock);
}

/* Without the lock: what is complete does not change, what is held stays. */
unsigned rr_drc_reply(const struct rr_drc_entry *e, struct rr_rpc_reply *ret,
                      struct rr_piece *ret_results)
{
	*ret = e->status;
	ret->xid = e->key.xid;
	for (unsigned i = 0; i < e->n_results; i++)
		ret_results[i] = e->results[i];
	return e->n_results;
}

void rr_drc_put(struct rr_drc *d, struct rr_drc_entry *e, rr_time now)
{
	pthread_mutex_lock(&d->lock);
	RR_ASSERT(e->complete);
	let_go(d, e, now);
	pthread_mutex_unlock(&d->lock);
}

void rr_drc_leave(struct rr_drc *d, struct rr_drc_entry *e, struct rr_drc_waiter *w,
                  rr_time now)
{
	pthread_mutex_lock(&d->lock);
	rr_list_del(&w->link);
	let_go(d, e, now);
	pthread_mutex_unlock(&d->lock);
}

/* -- life
 * ------------------------------------------------------------------------------
 */

int rr_drc_init(struct rr_drc *d, const struct rr_drc_options *o)
{
	if (o->bytes && o->bytes < RR_DRC_MIN_BYTES)
		return -EINVAL;
	*d = (struct rr_drc){.o = *o};
	if (!d->o.max_per_caller)
		d->o.max_per_caller = DEFAULT_PER_CALLER;
	if (!d->o.max_age_ns)
		d->o.max_age_ns = RR_SEC(DEFAULT_AGE_S);
	rr_list_init(&d->idle);
	pthread_mutex_init(&d->lock, NULL);
	return 0;
}

int rr_drc_set_bytes(struct rr_drc *d, size_t bytes)
{
	if (bytes && bytes < RR_DRC_MIN_BYTES)
		return -EINVAL;
	if (d->buckets)
		return -EBUSY;
	d->o.bytes = bytes;
	return 0;
}

void rr_drc_fini(struct rr_drc *d)
{
	struct rr_drc_entry *e;

	while ((e = oldest(d)))
		free_entry(d, e);
	RR_ASSERT(!d->entries);
	free(d->buckets);
	free(d->callers);
	pthread_mutex_destroy(&d->lock);
}
