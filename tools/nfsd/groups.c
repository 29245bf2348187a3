/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up groups by uid.  A few threads search the passwd and group databases; a
 * set-associative table caches the lists.  A new list replaces the least recently used
 * list in its set.
 *
 * A list is valid for half an hour, as in rpc.mountd(8).  After half of that time, the
 * next request starts a new look-up, but does not wait for it.  An unknown uid has no
 * groups, and is looked up again after a minute.  After a failure, the next look-up
 * happens some seconds later.
 *
 * Clients choose the uids.  So the number of concurrent look-ups is limited, for each
 * client address and in total.  The memory used by waiting requests and by lists is
 * also limited.
 */
#include "nfsd.h"
#include "tool.h"
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	SETS = 512,
	WAYS = 8,
	THREADS = 4,
	ASKERS = 256, /* counter slots, indexed by a hash of the address */
	ASKER_LOOKUPS = 64,
	ASKER_WAITS = 256,
	MOST_LOOKUPS = SETS * WAYS / 4,
	FIRST_GROUPS = 64,
	MOST_GROUPS = 65536, /* NGROUPS_MAX */
	LIST_BYTES = 32 << 20,
	MAX_PASSWD_BYTES = 1 << 20,
};
_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups are handed on as they come");

#define SECOND_NS  UINT64_C(1000000000)
#define KEEP_NS    (30 * 60 * SECOND_NS)
#define UNKNOWN_NS (60 * SECOND_NS)
#define FAILED_NS  (5 * SECOND_NS)

struct slot {
	struct worker_job job; /* first member; runs the look-up */
	struct groups *of;
	uint32_t uid;
	bool used, asked;        /* @asked: look-up queued or running */
	unsigned asker;          /* index of the asker that started the look-up */
	uint64_t until, renew;   /* when to expire and when to renew; monotonic ns */
	uint64_t seen;           /* last use, monotonic ns */
	uint64_t generation;     /* the table's generation when the look-up started */
	struct group_list *list; /* NULL = no groups */
	struct group_wait *first, **last;
};

struct asker {
	unsigned lookups, waits;
	uint64_t bytes;
};

struct groups {
	pthread_mutex_t lock; /* guards all fields; not held during a look-up */
	uint64_t key[2];
	uint64_t limit_bytes, waiting_bytes, list_bytes, generation;
	unsigned lookups, waits;
	struct asker askers[ASKERS];
	struct slot slots[SETS][WAYS];
	struct workers workers;
};

struct groups *groups_new(uint64_t limit_bytes)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	/* A getrandom call for so few octets always fills the buffer. */
	(void)!getrandom(g->key, sizeof(g->key), 0);
	pthread_mutex_init(&g->lock, NULL);
	g->limit_bytes = limit_bytes;
	workers_init(&g->workers, THREADS);
	return g;
}

/* -- lists ----------------------------------------------------------------- */

static struct group_list *hold_group_list(struct group_list *l)
{
	if (l)
		atomic_fetch_add(&l->refs, 1);
	return l;
}

void group_list_put(struct group_list *l)
{
	if (l && atomic_fetch_sub(&l->refs, 1) == 1)
		free(l);
}

static size_t measure_list(const struct group_list *l)
{
	return l ? sizeof(*l) + l->n * sizeof(l->gids[0]) : 0;
}

/* Replaces the list in the slot with @l.  The caller holds the lock. */
static void set_slot_list(struct groups *g, struct slot *s, struct group_list *l)
{
	g->list_bytes += measure_list(l);
	g->list_bytes -= measure_list(s->list);
	group_list_put(s->list);
	s->list = l;
}

/* Drops the least recently used lists until the lists fit in LIST_BYTES.  The caller
 * holds the lock. */
static void bound_group_lists(struct groups *g)
{
	while (g->list_bytes > LIST_BYTES) {
		struct slot *oldest = NULL;

		for (unsigned i = 0; i < SETS * WAYS; i++) {
			struct slot *s = &g->slots[i / WAYS][i % WAYS];

			if (s->list && !s->asked && (!oldest || s->seen < oldest->seen))
				oldest = s;
		}
		if (!oldest)
			return; /* all lists are being looked up again */
		set_slot_list(g, oldest, NULL);
		oldest->used = false;
	}
}

/* -- looking up (no lock is held) ------------------------------------------ */

static struct group_list *new_group_list(unsigned n)
{
	struct group_list *l = malloc(sizeof(*l) + n * sizeof(l->gids[0]));

	if (l) {
		atomic_init(&l->refs, 1);
		l->n = n;
	}
	return l;
}

/* Returns a user's groups, or NULL if there is no memory. */
static struct group_list *list_groups(const struct passwd *pw)
{
	int most = FIRST_GROUPS, n = most;
	struct group_list *l = new_group_list((unsigned)most);

	while (l && getgrouplist(pw->pw_name, pw->pw_gid, l->gids, &n) < 0) {
		if (most == MOST_GROUPS) {
			n = most; /* the kernel does not accept more */
			break;
		}
		/* If the groups do not fit, glibc stores their number in n. */
		most = n > most && n < MOST_GROUPS ? n : MOST_GROUPS;
		n = most;
		free(l);
		l = new_group_list((unsigned)most);
	}
	if (l)
		l->n = (unsigned)n;
	return l;
}

/* Returns true if @error is one that getpwuid_r(3) may return for an unknown uid. */
static bool is_unknown_user(int error)
{
	return error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

/* Looks up a user.  Returns 0 and stores the list (NULL = unknown uid) in @ret, or
 * returns a negative errno. */
static int look_up_uid(uint32_t uid, struct group_list **ret)
{
	struct passwd pwd, *pw = NULL;
	size_t size = 1024;
	char *buf = NULL;
	int err;

	*ret = NULL;
	do {
		free(buf);
		size *= 2;
		buf = malloc(size);
		err = buf ? getpwuid_r(uid, &pwd, buf, size, &pw) : ENOMEM;
	} while (err == ERANGE && size < MAX_PASSWD_BYTES);
	if (!err && pw) {
		*ret = list_groups(pw);
		err = *ret ? 0 : ENOMEM;
	}
	free(buf);
	return is_unknown_user(err) ? 0 : -err;
}

static void report_failed_lookup(uint32_t uid, int e)
{
	char what[96];

	snprintf(what, sizeof(what), "uid %u: its groups cannot be looked up",
	         (unsigned)uid);
	warn_about(WARN_GROUPS, -1, what, e);
}

/* -- the table (the caller holds the lock) --------------------------------- */

static unsigned find_asker(struct groups *g, const struct sockaddr_storage *peer)
{
	struct in6_addr addr;
	unsigned port;

	if (!clients_peer_address(peer, &addr, &port))
		return 0;
	return (unsigned)(rr_siphash_once(g->key, &addr, sizeof(addr)) % ASKERS);
}

/* Finds the slot for @uid, or makes one.  Returns NULL if look-ups are using all slots
 * in the set. */
static struct slot *find_uid_slot(struct groups *g, uint32_t uid)
{
	struct slot *set = g->slots[rr_siphash_once(g->key, &uid, sizeof(uid)) % SETS];
	struct slot *victim = NULL;

	for (unsigned i = 0; i < WAYS; i++)
		if (set[i].used && set[i].uid == uid)
			return &set[i];
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].asked)
			continue;
		if (!victim || !set[i].used ||
		    (victim->used && set[i].seen < victim->seen))
			victim = &set[i];
	}
	if (!victim)
		return NULL;
	set_slot_list(g, victim, NULL);
	*victim = (struct slot){.of = g, .uid = uid, .used = true};
	victim->last = &victim->first;
	return victim;
}

/* Stores the result of a look-up.  Returns the requests that were waiting for it. */
static struct group_wait *settle_lookup(struct groups *g, struct slot *s,
                                        struct group_list *list, int e)
{
	uint64_t now = tool_now_ns();
	struct group_wait *all = s->first;

	if (e && now < s->until) {
		s->renew = now + FAILED_NS; /* the old list stays valid */
	} else {
		set_slot_list(g, s, list);
		s->until = now + (e ? FAILED_NS : list ? KEEP_NS : UNKNOWN_NS);
		s->renew = list ? now + KEEP_NS / 2 : s->until;
	}
	if (s->generation != g->generation)
		s->until = now;
	for (struct group_wait *w = all; w; w = w->next) {
		w->list = hold_group_list(s->list);
		g->askers[w->asker].waits--;
		g->askers[w->asker].bytes -= w->bytes;
		g->waiting_bytes -= w->bytes;
		g->waits--;
	}
	g->askers[s->asker].lookups--;
	g->lookups--;
	s->asked = false;
	s->first = NULL;
	s->last = &s->first;
	bound_group_lists(g);
	return all;
}

static void run_lookup(struct worker_job *job)
{
	struct slot *s = (struct slot *)job;
	struct groups *g = s->of;
	struct group_list *list = NULL;
	struct group_wait *w, *next;
	uint32_t uid = s->uid; /* does not change during the look-up */
	int e = ident_enter_server();

	if (!e)
		e = look_up_uid(uid, &list);
	if (e)
		report_failed_lookup(uid, e);
	pthread_mutex_lock(&g->lock);
	w = settle_lookup(g, s, list, e);
	pthread_mutex_unlock(&g->lock);
	for (; w; w = next) {
		next = w->next;
		w->ready(w->arg);
	}
}

/* Starts a look-up.  Returns 0, -EAGAIN or -ESHUTDOWN. */
static int start_lookup(struct groups *g, struct slot *s, unsigned asker)
{
	int e;

	if (g->askers[asker].lookups >= ASKER_LOOKUPS || g->lookups >= MOST_LOOKUPS)
		return -EAGAIN;
	s->asker = asker;
	s->generation = g->generation;
	s->job = (struct worker_job){.run = run_lookup};
	e = workers_queue(&g->workers, &s->job);
	if (e)
		return e;
	s->asked = true;
	g->askers[asker].lookups++;
	g->lookups++;
	return 0;
}

/* Returns true if another request with @bytes octets may wait.  If no other request is
 * waiting, it may always wait, however little memory there is. */
static bool may_asker_wait(const struct groups *g, const struct asker *a,
                           uint64_t bytes)
{
	if (a->waits >= ASKER_WAITS)
		return false;
	if (a->bytes && a->bytes + bytes > g->limit_bytes / 4)
		return false;
	return !g->waiting_bytes || g->waiting_bytes + bytes <= g->limit_bytes;
}

static int wait_for_list(struct groups *g, struct slot *s, struct group_wait *w)
{
	struct asker *a = &g->askers[w->asker];
	int e = w->ready && may_asker_wait(g, a, w->bytes) ? 0 : -EAGAIN;

	if (!e && !s->asked)
		e = start_lookup(g, s, w->asker);
	if (e)
		return -EAGAIN;
	w->next = NULL;
	*s->last = w;
	s->last = &w->next;
	a->waits++;
	a->bytes += w->bytes;
	g->waiting_bytes += w->bytes;
	g->waits++;
	return -EINPROGRESS;
}

int groups_get(struct groups *g, uint32_t uid, const struct sockaddr_storage *peer,
               struct group_wait *w)
{
	uint64_t now = tool_now_ns();
	struct slot *s;
	int e = -EAGAIN;

	pthread_mutex_lock(&g->lock);
	s = find_uid_slot(g, uid);
	if (s && now < s->until) {
		w->list = hold_group_list(s->list);
		if (now >= s->renew && !s->asked)
			(void)start_lookup(
			        g, s,
			        find_asker(g, peer)); /* on failure, the next request
			                               * tries again */
		e = 0;
	} else if (s) {
		w->asker = find_asker(g, peer);
		e = wait_for_list(g, s, w);
	}
	if (s)
		s->seen = now;
	pthread_mutex_unlock(&g->lock);
	if (e == -EAGAIN)
		warn_about(WARN_GROUPS, -1,
		           "look-ups of groups take too long, clients are asked to "
		           "retry later",
		           -EAGAIN);
	return e;
}

void groups_forget(struct groups *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	g->generation++;
	for (unsigned i = 0; i < SETS * WAYS; i++)
		g->slots[i / WAYS][i % WAYS].until = 0;
	pthread_mutex_unlock(&g->lock);
}

unsigned groups_waiting(struct groups *g)
{
	unsigned n;

	if (!g)
		return 0;
	pthread_mutex_lock(&g->lock);
	n = g->waits;
	pthread_mutex_unlock(&g->lock);
	return n;
}

bool groups_stop(struct groups *g, const struct timespec *until)
{
	return !g || workers_stop(&g->workers, until);
}

void groups_free(struct groups *g)
{
	if (!g)
		return;
	for (unsigned i = 0; i < SETS * WAYS; i++)
		group_list_put(g->slots[i / WAYS][i % WAYS].list);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
