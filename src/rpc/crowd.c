/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/crowd.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"

enum {
	MOST_BUCKETS = 4096,
	FIRST_ROOM = 16,
	MOVED = 4, /* bit of rr_guest.state: the guest is in rr_crowd.moved */
};
_Static_assert((int)RR_GUEST_KINDS <= (int)MOVED, "a kind fits below the bit");

struct address {
	uint32_t family, scope;
	uint8_t octets[16];
};

struct rr_origin {
	struct rr_origin *next; /* next in the same bucket */
	struct address address;
	struct ranked {
		struct rr_list guests;
		size_t count;
		struct rr_origin *next,
		        *prev; /* origins with the same count, in order of arrival */
	} of[RR_GUEST_KINDS];
};

/* -- addresses ------------------------------------------------------------- */

/* Maps IPv4 addresses to IPv6, because an IPv4 peer may have an address of either
 * family. */
static struct address address_of(const struct sockaddr_storage *ss)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct address a;

	/* set every octet, because addresses are compared as octets */
	memset(&a, 0, sizeof(a));
	if (ss->ss_family == AF_INET) {
		a.family = AF_INET6;
		memcpy(a.octets, mapped, sizeof(mapped));
		memcpy(a.octets + 12, &((const struct sockaddr_in *)ss)->sin_addr, 4);
	} else if (ss->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;

		a.family = AF_INET6;
		a.scope = in6->sin6_scope_id;
		memcpy(a.octets, &in6->sin6_addr, 16);
	}
	return a;
}

static struct rr_origin **bucket_of(const struct rr_crowd *c, const struct address *a)
{
	return &c->buckets[rr_siphash_once(c->key, a, sizeof(*a)) & c->mask];
}

static struct rr_origin *find_origin(const struct rr_crowd *c,
                                     const struct sockaddr_storage *ss)
{
	struct address a = address_of(ss);
	struct rr_origin *o = *bucket_of(c, &a);

	while (o && memcmp(&o->address, &a, sizeof(a)) != 0)
		o = o->next;
	return o;
}

static struct rr_origin *new_origin(struct rr_crowd *c,
                                    const struct sockaddr_storage *ss)
{
	struct rr_origin *o = calloc(1, sizeof(*o)), **b;

	if (!o)
		return NULL;
	o->address = address_of(ss);
	for (unsigned k = 0; k < RR_GUEST_KINDS; k++)
		rr_list_init(&o->of[k].guests);
	b = bucket_of(c, &o->address);
	o->next = *b;
	*b = o;
	return o;
}

static void free_if_empty(struct rr_crowd *c, struct rr_origin *o)
{
	struct rr_origin **b;

	for (unsigned k = 0; k < RR_GUEST_KINDS; k++)
		if (o->of[k].count)
			return;
	for (b = bucket_of(c, &o->address); *b != o; b = &(*b)->next)
		;
	*b = o->next;
	free(o);
}

/* -- ranks ----------------------------------------------------------------- */

/* Enlarges all ranks so that an origin may have @n connections of any kind.  No later
 * change of a connection's kind can fail then. */
static int reserve_ranks(struct rr_crowd *c, size_t n)
{
	for (unsigned k = 0; k < RR_GUEST_KINDS; k++) {
		struct rr_rank *r = &c->rank[k];
		size_t room = r->room ? r->room : FIRST_ROOM;
		struct rr_origin **with;

		while (room <= n)
			room *= 2;
		if (room == r->room)
			continue;
		with = realloc(r->with, room * sizeof(*with));
		if (!with)
			return -ENOMEM;
		memset(with + r->room, 0, (room - r->room) * sizeof(*with));
		r->with = with;
		r->room = room;
	}
	return 0;
}

/* Removes an origin from the list for its count.  In this list, the first origin's
 * @prev points to the last origin. */
static void leave_rank(struct rr_rank *r, struct rr_origin *o, unsigned kind)
{
	struct ranked *x = &o->of[kind];
	struct rr_origin **first = &r->with[x->count];

	if (!x->count)
		return;
	if (x->next)
		x->next->of[kind].prev = x->prev;
	else
		(*first)->of[kind].prev = x->prev;
	if (*first == o)
		*first = x->next;
	else
		x->prev->of[kind].next = x->next;
}

static void enter_rank(struct rr_rank *r, struct rr_origin *o, unsigned kind)
{
	struct ranked *x = &o->of[kind];
	struct rr_origin **first = &r->with[x->count];

	if (!x->count)
		return;
	x->next = NULL;
	if (*first) {
		x->prev = (*first)->of[kind].prev;
		x->prev->of[kind].next = o;
		(*first)->of[kind].prev = o;
	} else {
		x->prev = o;
		*first = o;
	}
}

/* Increments an origin's count if @more is true, otherwise decrements the count.  The
 * rank's @top changes by at most one. */
static void recount_guests(struct rr_crowd *c, struct rr_origin *o, unsigned kind,
                           bool more)
{
	struct rr_rank *r = &c->rank[kind];
	struct ranked *x = &o->of[kind];

	leave_rank(r, o, kind);
	x->count = more ? x->count + 1 : x->count - 1;
	RR_ASSERT(x->count < r->room);
	enter_rank(r, o, kind);
	if (x->count > r->top)
		r->top = x->count;
	else if (r->top && !r->with[r->top])
		r->top--;
}

/* -- guests ---------------------------------------------------------------- */

/* Adds a connection to the list of its kind, as the newest. */
static void list_guest(struct rr_crowd *c, struct rr_guest *g)
{
	rr_list_push(&g->origin->of[g->kind].guests, &g->link);
	recount_guests(c, g->origin, g->kind, true);
}

static void unlist_guest(struct rr_crowd *c, struct rr_guest *g)
{
	rr_list_del(&g->link);
	recount_guests(c, g->origin, g->kind, false);
}

static bool moved_before(const struct rr_guest *a, const struct rr_guest *b)
{
	return atomic_load_explicit(&a->at, memory_order_relaxed) <
	       atomic_load_explicit(&b->at, memory_order_relaxed);
}

/* Appends the lists @a and @b to each other, ordered by time.  Of two guests that moved
 * at the same time, the one in @a comes first. */
static struct rr_guest *merge_moved(struct rr_guest *a, struct rr_guest *b)
{
	struct rr_guest *first = NULL, **end = &first;

	while (a && b) {
		struct rr_guest **from = moved_before(b, a) ? &b : &a;

		*end = *from;
		end = &(*end)->next_moved;
		*from = *end;
	}
	*end = a ? a : b;
	return first;
}

/* Takes the list of moved guests, in the order of their last moves.  @moved has the
 * guest that was added last in front. */
static struct rr_guest *sort_moved(struct rr_guest *moved)
{
	/* runs[i]: a sorted list of 2^i guests, or NULL */
	struct rr_guest *runs[32] = {NULL}, *g;
	unsigned i;

	while ((g = moved)) {
		moved = g->next_moved;
		g->next_moved = NULL;
		for (i = 0; i + 1 < RR_ARRAY_SIZE(runs) && runs[i]; i++) {
			g = merge_moved(g, runs[i]);
			runs[i] = NULL;
		}
		runs[i] = merge_moved(g, runs[i]);
	}
	for (i = 0; i < RR_ARRAY_SIZE(runs); i++)
		g = merge_moved(g, runs[i]);
	return g;
}

/* Moves each connection whose kind has changed to the list of its new kind. */
static void settle_moves(struct rr_crowd *c)
{
	struct rr_guest *next, *g = sort_moved(atomic_exchange(&c->moved, NULL));

	for (; g; g = next) {
		unsigned kind;

		next = g->next_moved; /* first, because the guest may move again now */
		kind = atomic_fetch_and(&g->state, ~(unsigned)MOVED) & ~(unsigned)MOVED;
		if (!g->origin)
			continue;
		unlist_guest(c, g);
		g->kind = (enum rr_guest_kind)kind;
		list_guest(c, g);
	}
}

static unsigned count_guests(const struct rr_origin *o)
{
	size_t n = 0;

	for (unsigned k = 0; o && k < RR_GUEST_KINDS; k++)
		n += o->of[k].count;
	return (unsigned)n;
}

int rr_crowd_init(struct rr_crowd *c, unsigned most)
{
	uint32_t n = FIRST_ROOM;

	*c = (struct rr_crowd){0};
	while (n < most && n < MOST_BUCKETS)
		n *= 2;
	/* for so few octets, getrandom never returns a short count */
	(void)!getrandom(c->key, sizeof(c->key), 0);
	c->buckets = calloc(n, sizeof(*c->buckets));
	c->mask = n - 1;
	if (!c->buckets || reserve_ranks(c, 1)) {
		rr_crowd_fini(c);
		return -ENOMEM;
	}
	return 0;
}

void rr_crowd_fini(struct rr_crowd *c)
{
	for (unsigned k = 0; k < RR_GUEST_KINDS; k++)
		free(c->rank[k].with);
	free(c->buckets);
	*c = (struct rr_crowd){0};
}

int rr_crowd_add(struct rr_crowd *c, struct rr_guest *g,
                 const struct sockaddr_storage *ss, rr_time now)
{
	struct rr_origin *o = find_origin(c, ss);

	if (reserve_ranks(c, count_guests(o) + 1))
		return -ENOMEM;
	if (!o)
		o = new_origin(c, ss);
	if (!o)
		return -ENOMEM;
	settle_moves(c); /* the lists are ordered by age, and @g is the newest */
	g->origin = o;
	g->kind = rr_crowd_kind(g);
	g->at = now;
	list_guest(c, g);
	return 0;
}

void rr_crowd_move(struct rr_crowd *c, struct rr_guest *g, enum rr_guest_kind kind,
                   rr_time now)
{
	unsigned state = (unsigned)kind | MOVED;

	atomic_store_explicit(&g->at, now, memory_order_relaxed);
	if (atomic_load_explicit(&g->state, memory_order_relaxed) == state ||
	    atomic_exchange(&g->state, state) & MOVED)
		return;
	g->next_moved = atomic_load_explicit(&c->moved, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&c->moved, &g->next_moved, g))
		;
}

enum rr_guest_kind rr_crowd_kind(const struct rr_guest *g)
{
	return (enum rr_guest_kind)(
	        atomic_load_explicit(&g->state, memory_order_relaxed) &
	        ~(unsigned)MOVED);
}

void rr_crowd_remove(struct rr_crowd *c, struct rr_guest *g)
{
	struct rr_origin *o = g->origin;

	settle_moves(c);
	if (!o)
		return;
	unlist_guest(c, g);
	g->origin = NULL;
	free_if_empty(c, o);
}

unsigned rr_crowd_count(const struct rr_crowd *c, const struct sockaddr_storage *ss)
{
	return count_guests(find_origin(c, ss));
}

size_t rr_crowd_most(struct rr_crowd *c, enum rr_guest_kind kind)
{
	settle_moves(c);
	return c->rank[kind].top;
}

/* Finds the origin's first connection for which @may returns true.  Calls @may at most
 * *@looks times, and decrements *@looks at each call. */
static struct rr_guest *first_of(const struct rr_origin *o, unsigned kind,
                                 bool (*may)(const struct rr_guest *), unsigned *looks)
{
	const struct rr_list *n;

	rr_list_for_each (n, &o->of[kind].guests) {
		struct rr_guest *g = rr_container_of(n, struct rr_guest, link);

		if (!*looks)
			return NULL;
		(*looks)--;
		if (may(g))
			return g;
	}
	return NULL;
}

struct rr_guest *rr_crowd_find(struct rr_crowd *c, enum rr_guest_kind kind,
                               const struct sockaddr_storage *from,
                               bool (*may)(const struct rr_guest *))
{
	const struct rr_rank *r = &c->rank[kind];
	unsigned looks = RR_CROWD_LOOKS;
	struct rr_guest *g = NULL;

	settle_moves(c);
	if (from) {
		const struct rr_origin *o = find_origin(c, from);

		return o ? first_of(o, kind, may, &looks) : NULL;
	}
	for (size_t n = r->top; n && looks && !g; n--)
		for (const struct rr_origin *o = r->with[n]; o && !g && looks;
		     o = o->of[kind].next)
			g = first_of(o, kind, may, &looks);
	return g;
}
