/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop; contract in engine.h. */
#include "loop/engine.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/sized.h"

enum { POOL_CACHE_BYTES = 24 << 20 };

/* Value of rpcrdma_engine.thread: the engine has run, but no thread runs it now. */
#define NOBODY ULONG_MAX

rr_time rr_engine_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (rr_time)ts.tv_sec * 1000000000u + (rr_time)ts.tv_nsec;
}

uint32_t rr_engine_new_xid(struct rpcrdma_engine *e)
{
	if (!++e->next_xid)
		++e->next_xid;
	return e->next_xid;
}

/* -- threads and posts ----------------------------------------------------- */

bool rr_engine_here(const struct rpcrdma_engine *e)
{
	unsigned long t = atomic_load_explicit(&e->thread, memory_order_relaxed);

	return t == 0 || t == (unsigned long)pthread_self();
}

bool rr_engine_inside(const struct rpcrdma_engine *e)
{
	return atomic_load_explicit(&e->inside, memory_order_relaxed) ==
	       (unsigned long)pthread_self();
}

static void claim_thread(struct rpcrdma_engine *e)
{
	atomic_store_explicit(&e->thread, (unsigned long)pthread_self(),
	                      memory_order_relaxed);
}

bool rr_engine_enter(struct rpcrdma_engine *e)
{
	if (pthread_mutex_trylock(&e->run_lock))
		return false;
	if (atomic_load(&e->resident) && !rr_engine_here(e)) {
		pthread_mutex_unlock(&e->run_lock);
		return false;
	}
	claim_thread(e);
	return true;
}

void rr_engine_leave(struct rpcrdma_engine *e)
{
	/* After this, other threads may run the engine. */
	if (!atomic_load(&e->resident))
		atomic_store_explicit(&e->thread, NOBODY, memory_order_relaxed);
	pthread_mutex_unlock(&e->run_lock);
}

static void set_inside(struct rpcrdma_engine *e, unsigned long thread)
{
	atomic_store_explicit(&e->inside, thread, memory_order_relaxed);
}

static void wake_engine(struct rpcrdma_engine *e)
{
	uint64_t one = 1;
	int saved = errno; /* a signal handler may call this function */

	/* The write fails only if the counter is full, in which case a wake-up is
	 * already pending. */
	(void)!write(e->evfd, &one, sizeof(one));
	errno = saved;
}

void rr_engine_post(struct rpcrdma_engine *e, struct rr_post *p)
{
	bool first;

	pthread_mutex_lock(&e->post_lock);
	first = rr_list_empty(&e->posts);
	rr_list_push(&e->posts, &p->link);
	pthread_mutex_unlock(&e->post_lock);
	if (first)
		wake_engine(e);
}

void rr_engine_unpost(struct rpcrdma_engine *e, struct rr_post *p)
{
	pthread_mutex_lock(&e->post_lock);
	rr_list_del(&p->link);
	pthread_mutex_unlock(&e->post_lock);
}

static void run_posts(struct rpcrdma_engine *e)
{
	struct rr_list batch, *n;

	rr_list_init(&batch);
	pthread_mutex_lock(&e->post_lock);
	rr_list_take(&batch, &e->posts);
	pthread_mutex_unlock(&e->post_lock);
	while ((n = rr_list_pop(&batch))) {
		struct rr_post *p = rr_container_of(n, struct rr_post, link);

		p->fn(p);
	}
}

static void on_wake_event(struct rr_source *s)
{
	struct rpcrdma_engine *e = rr_container_of(s, struct rpcrdma_engine, wake);
	uint64_t n;

	(void)!read(e->evfd, &n, sizeof(n)); /* resets the counter */
	e->own_syscalls++;
	run_posts(e);
}

struct user_post {
	struct rr_post post;
	void (*fn)(void *);
	void *arg;
};

static void run_user_post(struct rr_post *p)
{
	struct user_post *u = rr_container_of(p, struct user_post, post);

	u->fn(u->arg);
	free(u);
}

int rpcrdma_engine_post(struct rpcrdma_engine *e, void (*fn)(void *), void *arg)
{
	struct user_post *u = malloc(sizeof(*u));

	if (!u)
		return -ENOMEM;
	*u = (struct user_post){.post.fn = run_user_post, .fn = fn, .arg = arg};
	rr_engine_post(e, &u->post);
	return 0;
}

/* -- timers for users ------------------------------------------------------ */

struct rpcrdma_timer {
	struct rr_timer timer;
	struct rpcrdma_engine *engine;
	void (*fn)(void *);
	void *arg;
};

static void fire_user_timer(struct rr_timer *t)
{
	struct rpcrdma_timer *u = rr_container_of(t, struct rpcrdma_timer, timer);
	void (*fn)(void *) = u->fn;
	void *arg = u->arg;

	free(u);
	fn(arg);
}

int rpcrdma_timer_start(struct rpcrdma_engine *e, uint64_t delay_ns, void (*fn)(void *),
                        void *arg, struct rpcrdma_timer **ret)
{
	struct rpcrdma_timer *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	*u = (struct rpcrdma_timer){
	        .timer.fire = fire_user_timer, .engine = e, .fn = fn, .arg = arg};
	if (rr_timer_set(&e->timers, &u->timer, rr_after(rr_engine_clock(), delay_ns)) <
	    0) {
		free(u);
		return -ENOMEM;
	}
	if (ret)
		*ret = u;
	return 0;
}

void rpcrdma_timer_cancel(struct rpcrdma_timer *u)
{
	if (!u)
		return;
	rr_timer_stop(&u->engine->timers, &u->timer);
	free(u);
}

/* -- life cycle ------------------------------------------------------------ */

static int open_eventfd(struct rpcrdma_engine *e)
{
	e->evfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->evfd < 0)
		return -errno;
	e->wake = (struct rr_source){.ready = on_wake_event, .fd = e->evfd};
	return rr_poller_add(&e->poller, &e->wake, EPOLLIN);
}

static void free_parts(struct rpcrdma_engine *e)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&e->parts))) {
		struct rr_part *p = rr_container_of(n, struct rr_part, link);

		p->free(p);
	}
}

static void free_engine(struct rpcrdma_engine *e)
{
	free_parts(e);
	rr_poller_fini(&e->poller);
	if (e->evfd >= 0)
		close(e->evfd);
	pthread_mutex_destroy(&e->post_lock);
	pthread_mutex_destroy(&e->run_lock);
	pthread_mutex_destroy(&e->sync_lock);
	rr_timers_fini(&e->timers);
	rr_pool_fini(&e->pool);
	free(e);
}

int rpcrdma_engine_new(const struct rpcrdma_engine_options *o,
                       struct rpcrdma_engine **ret)
{
	struct rpcrdma_engine_options own =
	        RPCRDMA_OPTIONS(struct rpcrdma_engine_options);
	struct rpcrdma_engine *e;
	uint64_t seed = 0;
	int err;

	if (!ret)
		return -EINVAL;
	err = o ? RR_SIZED_TAKE(&own, size, o) : 0;
	if (err)
		return err;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	rr_poller_init(&e->poller);
	e->evfd = -1;
	rr_pool_init(&e->pool, POOL_CACHE_BYTES);
	rr_heap_init(&e->heap);
	rr_list_init(&e->dirty);
	rr_list_init(&e->over);
	rr_list_init(&e->late);
	rr_list_init(&e->members);
	rr_list_init(&e->owners);
	rr_list_init(&e->parts);
	rr_list_init(&e->posts);
	pthread_mutex_init(&e->post_lock, NULL);
	pthread_mutex_init(&e->run_lock, NULL);
	pthread_mutex_init(&e->sync_lock, NULL);
	rr_list_init(&e->sync_calls);
	/* getrandom() never returns fewer octets than these 8. */
	(void)!getrandom(&seed, sizeof(seed), 0);
	rr_rng_seed(&e->rng, seed);
	e->next_xid = (uint32_t)rr_rng_next(&e->rng);
	e->now = rr_engine_clock();
	e->trace = own.trace;
	e->trace_arg = own.trace_arg;
	e->spin.ns = own.spin_ns;
	rr_list_init(&e->voices);
	rr_voice_init(&e->voice, e, NULL);
	err = open_eventfd(e);
	if (err) {
		free_engine(e);
		return err;
	}
	*ret = e;
	return 0;
}

/* -- members and parts ----------------------------------------------------- */

void rr_engine_add_member(struct rpcrdma_engine *e, struct rr_member *m,
                          const struct rr_member_ops *ops)
{
	m->ops = ops;
	rr_list_init(&m->dirty);
	rr_list_init(&m->over);
	rr_list_push(&e->members, &m->all);
	e->alive++;
}

void rr_engine_touch_member(struct rpcrdma_engine *e, struct rr_member *m)
{
	if (rr_list_empty(&m->dirty))
		rr_list_push(&e->dirty, &m->dirty);
}

void rr_engine_member_over(struct rpcrdma_engine *e, struct rr_member *m)
{
	rr_list_push(&e->over, &m->over);
}

void rr_engine_remove_member(struct rpcrdma_engine *e, struct rr_member *m)
{
	rr_list_del(&m->all);
	rr_list_del(&m->dirty);
	rr_list_del(&m->over);
	e->alive--;
}

void rr_engine_add_part(struct rpcrdma_engine *e, struct rr_part *p)
{
	rr_list_push_front(&e->parts, &p->link);
}

struct rr_part *rr_engine_find_part(const struct rpcrdma_engine *e,
                                    void (*free)(struct rr_part *))
{
	const struct rr_list *n;

	rr_list_for_each (n, &e->parts) {
		struct rr_part *p = rr_container_of((uintptr_t)n, struct rr_part, link);

		if (p->free == free)
			return p;
	}
	return NULL;
}

static void free_over_member(struct rpcrdma_engine *e)
{
	struct rr_list *n = rr_list_pop(&e->over);
	struct rr_member *m = rr_container_of(n, struct rr_member, over);

	m->ops->free(m);
	rr_heap_ended(&e->heap, &e->timers, e->now);
}

static void turn_dirty_members(struct rpcrdma_engine *e)
{
	struct rr_list *n, todo;

	rr_list_init(&todo);
	rr_list_take(&todo, &e->dirty);
	while ((n = rr_list_pop(&todo))) {
		struct rr_member *m = rr_container_of(n, struct rr_member, dirty);

		m->ops->turn(m);
	}
}

/* Calls the turn function of each touched member once.  A member that is touched again
 * during this call waits for the next one.  Then frees the connections and listeners
 * that have ended.  Their owners have been notified. */
static void flush_dirty(struct rpcrdma_engine *e)
{
	if (!rr_list_empty(&e->dirty))
		turn_dirty_members(e);
	while (!rr_list_empty(&e->over))
		free_over_member(e);
}

void rr_engine_later(struct rpcrdma_engine *e, struct rr_late *w)
{
	if (rr_list_empty(&w->link))
		rr_list_push(&e->late, &w->link);
}

static void run_late_work(struct rpcrdma_engine *e)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&e->late))) {
		struct rr_late *w = rr_container_of(n, struct rr_late, link);

		w->fn(w);
	}
}

/* Calls the abandon function of each owner.  An owner that still has links stays in the
 * list. */
static void abandon_owners(struct rpcrdma_engine *e)
{
	struct rr_list todo, *n;

	/* An owner may free other owners, so no pointer is kept across the call. */
	rr_list_init(&todo);
	rr_list_take(&todo, &e->owners);
	while ((n = rr_list_pop(&todo))) {
		rr_list_push(&e->owners, n);
		rr_container_of(n, struct rr_owner, link)
		        ->abandon(rr_container_of(n, struct rr_owner, link));
	}
}

static void free_user_timers(struct rpcrdma_engine *e)
{
	for (size_t i = 1; i <= e->timers.count; i++)
		if (e->timers.heap[i]->fire == fire_user_timer)
			free(rr_container_of(e->timers.heap[i], struct rpcrdma_timer,
			                     timer));
}

void rpcrdma_engine_free(struct rpcrdma_engine *e)
{
	struct rr_list *n;

	if (!e)
		return;
	claim_thread(e);
	set_inside(e, (unsigned long)pthread_self());
	run_posts(e);
	flush_dirty(e);
	abandon_owners(e);
	while ((n = rr_list_pop(&e->members))) { /* abort puts the member on e->over */
		struct rr_member *m = rr_container_of(n, struct rr_member, all);

		m->ops->abort(m);
	}
	flush_dirty(e);
	abandon_owners(e);
	run_posts(e); /* runs the posts that these functions made */
	free_user_timers(e);
	free_engine(e);
}

/* -- the loop -------------------------------------------------------------- */

int rpcrdma_engine_fd(struct rpcrdma_engine *e)
{
	return rr_poller_fd(&e->poller);
}

bool rpcrdma_engine_idle(const struct rpcrdma_engine *e)
{
	return e->alive == 0;
}

static int next_timeout_ms(const struct rpcrdma_engine *e, rr_time now)
{
	rr_time next = rr_timers_next(&e->timers);

	if (!rr_list_empty(&e->dirty) || next <= now)
		return 0;
	if (next == RR_TIME_NEVER)
		return -1;
	next = (next - now + 999999) / 1000000;
	return next > 3600000 ? 3600000 : (int)next;
}

int rpcrdma_engine_timeout_ms(const struct rpcrdma_engine *e)
{
	return next_timeout_ms(e, rr_engine_clock());
}

/* Polls without sleeping until an event arrives, for the engine's spin time but at most
 * @timeout_ms; -1 = no limit.  Returns the number of ready descriptors, or a negative
 * errno. */
static int poll_awake(struct rpcrdma_engine *e, int timeout_ms)
{
	rr_time limit = timeout_ms < 0 ? RR_TIME_NEVER : RR_MS((rr_time)timeout_ms);
	rr_time until = e->now + RR_MIN(e->spin.ns, limit);
	int n = rr_poller_wait(&e->poller, 0);

	if (n)
		return n; /* not counted: the event was there before the polling */
	do
		n = rr_poller_wait(&e->poller, 0);
	while (!n && rr_engine_clock() < until);
	rr_spin_end(&e->spin, n > 0);
	return n;
}

/* Sleeps until an event arrives, the first timer is due or @timeout_ms has passed.
 * Uses e->now, which the caller has just set. */
static int wait_events(struct rpcrdma_engine *e, int timeout_ms)
{
	int own = next_timeout_ms(e, e->now), n = 0;

	if (own >= 0 && (timeout_ms < 0 || own < timeout_ms))
		timeout_ms = own;
	if (timeout_ms && rr_spin_begin(&e->spin))
		n = poll_awake(e, timeout_ms);
	return n ? n : rr_poller_wait(&e->poller, timeout_ms);
}

int rr_engine_turn(struct rpcrdma_engine *e, int timeout_ms)
{
	struct rr_source *s;
	int n;

	set_inside(e, (unsigned long)pthread_self());
	e->now = rr_engine_clock();
	flush_dirty(e);
	n = wait_events(e, timeout_ms);
	e->now = rr_engine_clock();
	while ((s = rr_poller_next(&e->poller))) {
		if (s->greedy)
			flush_dirty(e); /* sends pending output first */
		s->ready(s);
	}
	flush_dirty(e); /* handles input before due timers */
	if (rr_timers_next(&e->timers) <= e->now) {
		rr_timers_run(&e->timers, e->now);
		flush_dirty(e);
	}
	if (!rr_list_empty(&e->late))
		run_late_work(e);
	while (!rr_list_empty(&e->over))
		free_over_member(e);
	set_inside(e, 0);
	return n < 0 ? n : 0;
}

int rpcrdma_engine_process(struct rpcrdma_engine *e, int timeout_ms)
{
	int err;

	if (rr_engine_inside(e))
		return -EDEADLK;
	pthread_mutex_lock(&e->run_lock);
	if (!atomic_load_explicit(&e->resident, memory_order_relaxed))
		atomic_store(&e->resident, true);
	claim_thread(e);
	err = rr_engine_turn(e, timeout_ms);
	rr_engine_leave(e);
	return err;
}

int rpcrdma_engine_run(struct rpcrdma_engine *e)
{
	int err = 0;

	while (!err && !atomic_load(&e->stop))
		err = rpcrdma_engine_process(e, -1);
	atomic_store(&e->stop, false);
	return err;
}

void rpcrdma_engine_stop(struct rpcrdma_engine *e)
{
	atomic_store(&e->stop, true);
	wake_engine(e);
}

/* -- statistics ------------------------------------------------------------ */

void rr_stats_add(struct rpcrdma_stats *to, const struct rpcrdma_stats *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	_Static_assert(sizeof(*to) % sizeof(uint64_t) == 0, "counters only");
	for (size_t i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
		t[i] += f[i];
}

void rpcrdma_engine_get_stats(const struct rpcrdma_engine *e, struct rpcrdma_stats *ret,
                              size_t size)
{
	struct rpcrdma_stats sum = e->ended, one;
	struct rr_list *n;

	rr_list_for_each (n, &e->members) {
		const struct rr_member *m = rr_container_of(n, struct rr_member, all);

		m->ops->stats(m, &one);
		rr_stats_add(&sum, &one);
	}
	sum.syscalls += e->own_syscalls + e->poller.syscalls;
	sum.held_bytes = e->pool.used_bytes;
	sum.peak_held_bytes = e->pool.peak_bytes;
	rr_sized_give(ret, size, &sum, sizeof(sum));
}
