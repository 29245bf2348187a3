/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory budget; contract in budget.h. */
#include "loop/budget.h"

#include <unistd.h>

#include "base/sized.h"

enum { DEFAULT_SHARE = 8 };

#define DEFAULT_MOST ((uint64_t)1 << 30)

/* -- the budget ------------------------------------------------------------ */

void rr_budget_init(struct rr_budget *b, uint64_t limit)
{
	*b = (struct rr_budget){.limit = limit};
	pthread_mutex_init(&b->lock, NULL);
	rr_list_init(&b->first);
	rr_list_init(&b->rest);
	rr_list_init(&b->watches);
}

void rr_budget_fini(struct rr_budget *b)
{
	RR_ASSERT(!b->used && !b->exposed && !b->waiting);
	pthread_mutex_destroy(&b->lock);
}

static struct rr_budget process_budget;
static pthread_once_t process_made = PTHREAD_ONCE_INIT;

static void init_process_budget(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	uint64_t n = DEFAULT_MOST;

	if (pages > 0 && bytes > 0)
		n = (uint64_t)pages * (uint64_t)bytes / DEFAULT_SHARE;
	n = RR_MIN(n, DEFAULT_MOST);
	rr_budget_init(&process_budget, RR_MAX(n, (uint64_t)RR_BUDGET_LEAST));
}

struct rr_budget *rr_budget_process(void)
{
	pthread_once(&process_made, init_process_budget);
	return &process_budget;
}

void rr_budget_forget(void)
{
	rr_budget_init(&process_budget, rr_budget_process()->limit);
}

/* -- taking memory --------------------------------------------------------- */

/* Adds @bytes to @sum, unless the sum would exceed @most. */
static bool add_within(_Atomic uint64_t *sum, uint64_t bytes, uint64_t most)
{
	uint64_t now = *sum;

	do {
		if (now > most || bytes > most - now)
			return false;
	} while (!atomic_compare_exchange_weak(sum, &now, now + bytes));
	return true;
}

static uint64_t limit_first(const struct rr_budget *b)
{
	uint64_t limit = b->limit;

	return limit - limit / 16;
}

static uint64_t limit_rest(const struct rr_budget *b)
{
	uint64_t limit = b->limit;

	return limit - limit / 8;
}

static bool holds_nothing(const struct rr_holder *h)
{
	return !h->used && !h->exposed;
}

/* Reserves @bytes.  Returns false if that is not possible without waiting. */
static bool take_now(struct rr_holder *h, uint64_t bytes)
{
	struct rr_budget *b = h->budget;
	bool none = holds_nothing(h), taken;

	if (none && bytes <= RR_BUDGET_SMALL)
		taken = add_within(&b->used, bytes, b->limit);
	else
		taken = !b->waiting &&
		        add_within(&b->used, bytes,
		                   none ? limit_first(b) : limit_rest(b));
	if (taken)
		h->used += bytes;
	return taken;
}

/* -- the queues, with the lock held ---------------------------------------- */

static void leave_queue(struct rr_holder *h)
{
	rr_list_del(&h->link);
	h->budget->wanted -= h->wanted;
	h->budget->waiting--;
}

static void grant_turn(struct rr_holder *h)
{
	leave_queue(h);
	h->used += h->wanted;
	h->granted = true;
	if (!h->waking)
		h->wake(h);
	h->waking = true;
}

/* Serves the waiting holders as far as memory allows.  While no request uses memory,
 * none can be released.  The next holder is then served even if that exceeds the limit,
 * which may have been lowered. */
static void serve_queues(struct rr_budget *b)
{
	for (;;) {
		bool none = !rr_list_empty(&b->first);
		struct rr_list *n = rr_list_first(none ? &b->first : &b->rest);
		struct rr_holder *h;

		if (!n)
			return;
		h = rr_container_of(n, struct rr_holder, link);
		if (!add_within(&b->used, h->wanted,
		                none ? limit_first(b) : limit_rest(b))) {
			if (b->used > b->fixed)
				return;
			b->used += h->wanted;
		}
		grant_turn(h);
	}
}

static void notify_watches(struct rr_budget *b)
{
	struct rr_list *n;

	rr_list_for_each (n, &b->watches) {
		struct rr_budget_watch *w =
		        rr_container_of(n, struct rr_budget_watch, link);

		w->begin(w);
	}
}

/* Queues @h.  Returns true if @h was served at once. */
static bool join_queue(struct rr_holder *h, uint64_t bytes)
{
	struct rr_budget *b = h->budget;
	bool waking = h->waking;

	h->wanted = bytes;
	rr_list_push(holds_nothing(h) ? &b->first : &b->rest, &h->link);
	b->wanted += bytes;
	b->waiting++; /* incremented first, because threads that release memory check it */
	h->waking = true; /* no wake-up: the result is returned instead */
	serve_queues(b);
	h->waking = waking;
	if (h->granted) {
		h->granted = false;
		return true;
	}
	h->queued = true;
	b->waits++;
	if (b->waiting == 1)
		notify_watches(b);
	return false;
}

static bool take_or_queue(struct rr_holder *h, uint64_t bytes)
{
	bool taken;

	if (take_now(h, bytes))
		return true;
	pthread_mutex_lock(&h->budget->lock);
	taken = join_queue(h, bytes);
	pthread_mutex_unlock(&h->budget->lock);
	return taken;
}

/* -- claims ---------------------------------------------------------------- */

static struct rr_claim *get_first_claim(const struct rr_holder *h)
{
	struct rr_list *n = rr_list_first(&h->claims);

	return n ? rr_container_of(n, struct rr_claim, link) : NULL;
}

/* Returns the upper bound of @h->used.  A reply that is exposed in the memory of its
 * request does not count, because other limits apply to exposed replies. */
static uint64_t own_limit(const struct rr_holder *h)
{
	return h->limit + h->in_place;
}

/* Returns true if @bytes fit within the holder's limit.  Also returns true if the
 * holder uses no memory, because a claim above the limit must be served too. */
static bool fits_own_limit(const struct rr_holder *h, uint64_t bytes)
{
	uint64_t used = h->used, limit = own_limit(h);

	return !used || (used <= limit && bytes <= limit - used);
}

/* Serves the claims of @h in order of arrival, as far as memory allows. */
static void serve_claims(struct rr_holder *h)
{
	struct rr_claim *k;

	while (!h->queued && (k = get_first_claim(h)) && fits_own_limit(h, k->bytes) &&
	       take_or_queue(h, k->bytes)) {
		rr_list_del(&k->link);
		k->granted(k);
	}
}

int rr_holder_claim(struct rr_holder *h, struct rr_claim *k)
{
	if (k->bytes > h->budget->limit / 2) {
		h->budget->refused++;
		return -ENOMEM;
	}
	if (rr_list_empty(&h->claims) && fits_own_limit(h, k->bytes) &&
	    take_now(h, k->bytes))
		return 1;
	rr_list_push(&h->claims, &k->link);
	if (rr_list_first(&h->claims) != &k->link || !fits_own_limit(h, k->bytes) ||
	    !take_or_queue(h, k->bytes))
		return 0;
	rr_list_del(&k->link);
	return 1;
}

void rr_holder_woken(struct rr_holder *h)
{
	struct rr_claim *k = NULL;

	pthread_mutex_lock(&h->budget->lock);
	h->waking = false;
	if (h->granted) {
		h->queued = h->granted = false;
		k = get_first_claim(h);
	}
	pthread_mutex_unlock(&h->budget->lock);
	if (k) {
		rr_list_del(&k->link);
		k->granted(k);
	}
	serve_claims(h);
}

/* Releases the memory granted to the first claim, or gives up the claim's place in the
 * queue. */
static void give_up_turn(struct rr_holder *h)
{
	struct rr_budget *b = h->budget;

	pthread_mutex_lock(&b->lock);
	if (h->granted) {
		h->used -= h->wanted;
		b->used -= h->wanted;
	} else {
		leave_queue(h);
	}
	h->queued = h->granted = false;
	serve_queues(b);
	pthread_mutex_unlock(&b->lock);
}

void rr_holder_leave(struct rr_holder *h, struct rr_claim *k)
{
	if (rr_list_empty(&k->link))
		return;
	if (h->queued && get_first_claim(h) == k)
		give_up_turn(h);
	rr_list_del(&k->link);
	serve_claims(h);
}

/* -- giving memory back ---------------------------------------------------- */

static void give_to_waiting(struct rr_holder *h)
{
	struct rr_budget *b = h->budget;

	pthread_mutex_lock(&b->lock);
	if (h->queued && !h->granted && holds_nothing(h)) {
		rr_list_del(&h->link);
		rr_list_push(&b->first, &h->link);
	}
	serve_queues(b);
	pthread_mutex_unlock(&b->lock);
}

void rr_holder_give(struct rr_holder *h, uint64_t bytes)
{
	RR_ASSERT(h->used >= bytes);
	h->used -= bytes;
	h->budget->used -= bytes;
	if (h->budget->waiting)
		give_to_waiting(h);
	if (!rr_list_empty(&h->claims))
		serve_claims(h);
}

bool rr_holder_extend(struct rr_holder *h, uint64_t bytes)
{
	if (!add_within(&h->used, bytes, own_limit(h)))
		return false;
	if (add_within(&h->budget->used, bytes, h->budget->limit))
		return true;
	h->used -= bytes;
	return false;
}

bool rr_holder_expose(struct rr_holder *h, uint64_t bytes, uint64_t most, bool in_place)
{
	struct rr_budget *b = h->budget;

	if (!add_within(&b->exposed, bytes, most))
		return false;
	if (!add_within(&b->used, bytes, b->limit)) {
		b->exposed -= bytes;
		return false;
	}
	h->exposed += bytes;
	h->in_place += in_place ? bytes : 0;
	return true;
}

void rr_holder_unexpose(struct rr_holder *h, uint64_t bytes, bool in_place)
{
	RR_ASSERT(h->exposed >= bytes);
	h->exposed -= bytes;
	h->in_place -= in_place ? bytes : 0;
	h->budget->exposed -= bytes;
	h->budget->used -= bytes;
	if (h->budget->waiting)
		give_to_waiting(h);
}

void rr_holder_charge(struct rr_holder *h, uint64_t bytes)
{
	h->used += bytes;
	h->budget->used += bytes;
}

/* -- connections ----------------------------------------------------------- */

void rr_holder_init(struct rr_holder *h, struct rr_budget *b, uint64_t limit,
                    void (*wake)(struct rr_holder *))
{
	*h = (struct rr_holder){.budget = b, .limit = limit, .wake = wake};
	rr_list_init(&h->claims);
	rr_list_init(&h->link);
}

void rr_holder_fini(struct rr_holder *h)
{
	struct rr_budget *b = h->budget;

	RR_ASSERT(holds_nothing(h) && rr_list_empty(&h->claims) && !h->queued);
	b->fixed -= h->fixed;
	b->used -= h->fixed;
	h->fixed = 0;
	if (b->waiting)
		give_to_waiting(h);
}

static uint64_t limit_fixed(const struct rr_budget *b)
{
	return b->limit / 8 * 3;
}

bool rr_budget_spares(const struct rr_budget *b, uint64_t bytes)
{
	uint64_t most = limit_fixed(b) / 2, fixed = b->fixed;

	return fixed <= most && bytes <= most - fixed;
}

bool rr_holder_pay(struct rr_holder *h, uint64_t bytes)
{
	struct rr_budget *b = h->budget;

	if (add_within(&b->used, bytes, b->limit)) {
		if (add_within(&b->fixed, bytes, limit_fixed(b))) {
			h->fixed += bytes;
			return true;
		}
		b->used -= bytes;
	}
	b->refused++;
	return false;
}

/* -- watches --------------------------------------------------------------- */

void rr_budget_watch(struct rr_budget *b, struct rr_budget_watch *w)
{
	pthread_mutex_lock(&b->lock);
	rr_list_push(&b->watches, &w->link);
	if (b->waiting)
		w->begin(w);
	pthread_mutex_unlock(&b->lock);
}

void rr_budget_unwatch(struct rr_budget *b, struct rr_budget_watch *w)
{
	pthread_mutex_lock(&b->lock);
	rr_list_del(&w->link);
	pthread_mutex_unlock(&b->lock);
}

uint64_t rr_budget_wanted(struct rr_budget *b)
{
	uint64_t n = 0;

	if (!b->waiting)
		return 0;
	pthread_mutex_lock(&b->lock);
	n = b->wanted;
	pthread_mutex_unlock(&b->lock);
	return n;
}

/* -- public functions ------------------------------------------------------ */

int rpcrdma_budget_set(uint64_t bytes)
{
	struct rr_budget *b = rr_budget_process();

	if (bytes < RR_BUDGET_LEAST)
		return -EINVAL;
	b->limit = bytes;
	pthread_mutex_lock(&b->lock);
	serve_queues(b);
	pthread_mutex_unlock(&b->lock);
	return 0;
}

void rpcrdma_budget_get(struct rpcrdma_budget *ret, size_t size)
{
	const struct rr_budget *b = rr_budget_process();
	const struct rpcrdma_budget now = {
	        .limit_bytes = b->limit,
	        .used_bytes = b->used,
	        .connections_bytes = b->fixed,
	        .waiting = b->waiting,
	        .waits = b->waits,
	        .refused = b->refused,
	        .ended = b->ended,
	        .exposed_bytes = b->exposed,
	};

	rr_sized_give(ret, size, &now, sizeof(now));
}
