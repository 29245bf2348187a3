/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of contexts, by handle and in the order of last use; contract in
 * contexts.h.
 *
 * Contexts are reference-counted: the table has one reference to each context, and each
 * request has one to the context that it uses.  So a request can still complete after
 * its context was removed from the table.  A context that has been idle for too long is
 * removed when it is looked up, or when another context is added.  No timer is needed,
 * since the number of contexts is bounded.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "gss/context.h"

enum { MAX_CONTEXTS = 8192, ADDRESS_SHARE = 4 };
#define IDLE_NS   RR_SEC(24 * 3600)
#define ACTIVE_NS RR_SEC(10)

int rr_gss_new(const struct rr_gss_options *options, struct rr_gss **ret)
{
	struct rr_gss *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	if (options)
		g->o = *options;
	if (g->o.principal) {
		g->principal = strdup(g->o.principal);
		if (!g->principal) {
			free(g);
			return -ENOMEM;
		}
	}
	g->o.principal = g->principal;
	if (!g->o.max_contexts)
		g->o.max_contexts = MAX_CONTEXTS;
	if (!g->o.max_per_address)
		g->o.max_per_address = RR_MAX(g->o.max_contexts / ADDRESS_SHARE, 1u);
	if (!g->o.idle_ns)
		g->o.idle_ns = IDLE_NS;
	if (!g->o.active_ns)
		g->o.active_ns = ACTIVE_NS;
	g->cred = GSS_C_NO_CREDENTIAL;
	pthread_mutex_init(&g->cred_lock, NULL);
	pthread_mutex_init(&g->lock, NULL);
	for (unsigned i = 0; i < RR_GSS_BUCKETS; i++)
		rr_list_init(&g->buckets[i]);
	rr_list_init(&g->order);
	*ret = g;
	return 0;
}

void rr_gss_free(struct rr_gss *g)
{
	OM_uint32 minor;

	if (!g)
		return;
	rr_gss_forget(g);
	(void)gss_release_cred(&minor, &g->cred);
	pthread_mutex_destroy(&g->cred_lock);
	pthread_mutex_destroy(&g->lock);
	free(g->principal);
	free(g);
}

/* -- one context ----------------------------------------------------------- */

static void free_context(struct rr_gss_context *c)
{
	OM_uint32 minor;

	rr_gss_identity_fini(&c->who);
	(void)gss_delete_sec_context(&minor, &c->id, GSS_C_NO_BUFFER);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

struct rr_gss_context *rr_gss_context_new(gss_ctx_id_t id)
{
	struct rr_gss_context *c = calloc(1, sizeof(*c));
	OM_uint32 minor;

	if (!c) {
		(void)gss_delete_sec_context(&minor, &id, GSS_C_NO_BUFFER);
		return NULL;
	}
	c->refs = 1;
	c->id = id;
	rr_list_init(&c->in_bucket);
	rr_list_init(&c->in_order);
	pthread_mutex_init(&c->lock, NULL);
	/* getrandom() is never interrupted for so few octets. */
	if (getrandom(c->handle, sizeof(c->handle), 0) < 0) {
		free_context(c);
		return NULL;
	}
	return c;
}

void rr_gss_context_put(struct rr_gss *g, struct rr_gss_context *c)
{
	unsigned left;

	pthread_mutex_lock(&g->lock);
	left = --c->refs;
	pthread_mutex_unlock(&g->lock);
	if (!left)
		free_context(c);
}

/* -- the table, with its lock held ----------------------------------------- */

/* Returns the bucket for a handle.  Handles are random, so peers cannot choose a
 * bucket. */
static struct rr_list *find_gss_bucket(struct rr_gss *g, const uint8_t *handle)
{
	return &g->buckets[handle[0] % RR_GSS_BUCKETS];
}

/* Moves a context from the table to @gone.  The caller passes @gone to put_contexts
 * after it has released the lock. */
static void take_out_context(struct rr_gss *g, struct rr_gss_context *c,
                             struct rr_list *gone)
{
	rr_list_del(&c->in_bucket);
	rr_list_del(&c->in_order);
	rr_list_push(gone, &c->in_order);
	g->count--;
}

static void put_contexts(struct rr_gss *g, struct rr_list *gone)
{
	struct rr_list *n;

	while ((n = rr_list_pop(gone)))
		rr_gss_context_put(g,
		                   rr_container_of(n, struct rr_gss_context, in_order));
}

static bool is_expired_idle(const struct rr_gss *g, const struct rr_gss_context *c,
                            rr_time now)
{
	return now > c->used && now - c->used > g->o.idle_ns;
}

/* Returns an address's least recently used context, and in @ret_count the number of the
 * address's contexts. */
static struct rr_gss_context *find_oldest_of(struct rr_gss *g, const uint8_t *address,
                                             unsigned *ret_count)
{
	struct rr_gss_context *first = NULL;
	const struct rr_list *n;

	*ret_count = 0;
	rr_list_for_each (n, &g->order) {
		struct rr_gss_context *c =
		        rr_container_of(n, struct rr_gss_context, in_order);

		if (memcmp(c->address, address, RR_GSS_ADDRESS) != 0)
			continue;
		if (!first)
			first = c;
		++*ret_count;
	}
	return first;
}

static bool is_active(const struct rr_gss *g, const struct rr_gss_context *c,
                      rr_time now)
{
	return now < c->used || now - c->used < g->o.active_ns;
}

static struct rr_gss_context *longest_idle(struct rr_gss *g)
{
	struct rr_list *n = rr_list_first(&g->order);

	return n ? rr_container_of(n, struct rr_gss_context, in_order) : NULL;
}

/* Evicts @c, the least recently used of @n contexts, if @n is at least @most.  Returns
 * false if @c must stay because it was used within active_ns. */
static bool evict_oldest(struct rr_gss *g, struct rr_gss_context *c, unsigned n,
                         unsigned most, rr_time now, struct rr_list *gone)
{
	if (!c || n < most)
		return true;
	if (is_active(g, c, now))
		return false;
	take_out_context(g, c, gone);
	return true;
}

/* Frees a place in the table for one more context, if necessary.  One eviction for each
 * of the two limits is enough.  The limit per address is checked first, because an
 * eviction for that limit also frees a place in the table.  Returns false if no context
 * could be evicted. */
static bool make_context_room(struct rr_gss *g, const uint8_t *address, rr_time now,
                              struct rr_list *gone)
{
	struct rr_gss_context *c;
	unsigned n;

	while ((c = longest_idle(g)) && is_expired_idle(g, c, now))
		take_out_context(g, c, gone);
	c = find_oldest_of(g, address, &n);
	return evict_oldest(g, c, n, g->o.max_per_address, now, gone) &&
	       evict_oldest(g, longest_idle(g), g->count, g->o.max_contexts, now, gone);
}

/* -- the table ------------------------------------------------------------- */

static void insert_context(struct rr_gss *g, struct rr_gss_context *c, rr_time now)
{
	rr_list_push(find_gss_bucket(g, c->handle), &c->in_bucket);
	rr_list_push(&g->order, &c->in_order);
	c->used = now;
	c->refs++;
	g->count++;
}

bool rr_gss_context_keep(struct rr_gss *g, struct rr_gss_context *c, rr_time now)
{
	struct rr_list gone;
	bool room;

	rr_list_init(&gone);
	pthread_mutex_lock(&g->lock);
	room = make_context_room(g, c->address, now, &gone);
	if (room)
		insert_context(g, c, now);
	pthread_mutex_unlock(&g->lock);
	put_contexts(g, &gone);
	return room;
}

static struct rr_gss_context *find_handle(struct rr_gss *g, const void *handle)
{
	struct rr_list *bucket = find_gss_bucket(g, handle);
	const struct rr_list *n;

	rr_list_for_each (n, bucket) {
		struct rr_gss_context *c =
		        rr_container_of(n, struct rr_gss_context, in_bucket);

		if (memcmp(c->handle, handle, RR_GSS_HANDLE) == 0)
			return c;
	}
	return NULL;
}

struct rr_gss_context *rr_gss_context_find(struct rr_gss *g, const void *handle,
                                           size_t len, rr_time now)
{
	struct rr_gss_context *c = NULL;
	struct rr_list gone;

	if (len != RR_GSS_HANDLE)
		return NULL;
	rr_list_init(&gone);
	pthread_mutex_lock(&g->lock);
	c = find_handle(g, handle);
	if (c && is_expired_idle(g, c, now)) {
		take_out_context(g, c, &gone);
		c = NULL;
	}
	if (c) {
		c->refs++;
		if (now > c->used)
			c->used = now;
		rr_list_del(&c->in_order);
		rr_list_push(&g->order, &c->in_order);
	}
	pthread_mutex_unlock(&g->lock);
	put_contexts(g, &gone);
	return c;
}

void rr_gss_context_drop(struct rr_gss *g, struct rr_gss_context *c)
{
	struct rr_list gone;

	rr_list_init(&gone);
	pthread_mutex_lock(&g->lock);
	if (!rr_list_empty(&c->in_bucket)) /* no other thread has dropped @c */
		take_out_context(g, c, &gone);
	pthread_mutex_unlock(&g->lock);
	put_contexts(g, &gone);
}

void rr_gss_forget(struct rr_gss *g)
{
	struct rr_list gone;
	struct rr_list *n;

	rr_list_init(&gone);
	pthread_mutex_lock(&g->lock);
	while ((n = rr_list_first(&g->order)))
		take_out_context(g, rr_container_of(n, struct rr_gss_context, in_order),
		                 &gone);
	pthread_mutex_unlock(&g->lock);
	put_contexts(g, &gone);
}
