/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups by uid as nfsd keeps them (tools/nfsd/groups.c), with a system whose users the
 * test makes and a clock that it sets: how long a list serves, and how much a client
 * that makes uids up can have.
 */
#include "nfsd/nfsd.h"
#include "tool.h"
#include <errno.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum {
	UNKNOWN = 4000000, /* and above: nobody has them */
	MINUTE = 60,
	KEPT = 30 * MINUTE,
	LOOKUPS = 64, /* of one address, as groups.c has it */
	WAITS = 256,
	LIST_BYTES = 32 << 20,
	MOST_GROUPS = 65536,
	LIMIT = 16 << 20,
	WAIT_SECONDS = 60,
};

/* ---- What stands around it ----------------------------------------------- */

static _Atomic uint64_t now_ns = 1000000000000;
static _Atomic unsigned lookups; /* of anybody */
static _Atomic unsigned n_groups = 3;
static _Atomic int broken; /* errno of each look-up */
static _Atomic unsigned warned;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool stuck;
static unsigned ready; /* waiters that were told */

uint64_t tool_now_ns(void)
{
	return now_ns;
}

static void pass(unsigned seconds)
{
	now_ns += seconds * UINT64_C(1000000000);
}

void warn_about(enum warn_kind kind, int fd, const char *what, int error)
{
	warned++;
}

int ident_enter_server(void)
{
	return 0;
}

bool clients_peer_address(const struct sockaddr_storage *peer, struct in6_addr *ret,
                          unsigned *ret_port)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, &((const struct sockaddr_in *)peer)->sin_addr, 4);
	*ret_port = 0;
	return true;
}

int __wrap_getpwuid_r(uid_t, struct passwd *, char *, size_t, struct passwd **);
int __wrap_getgrouplist(const char *, gid_t, gid_t *, int *);

int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size,
                      struct passwd **ret)
{
	*ret = NULL;
	lookups++;
	pthread_mutex_lock(&lock);
	while (stuck)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	if (broken || uid >= UNKNOWN)
		return broken;
	*pw = (struct passwd){.pw_name = strcpy(buf, "x"), .pw_uid = uid, .pw_gid = 5};
	*ret = pw;
	return 0;
}

int __wrap_getgrouplist(const char *user, gid_t group, gid_t *groups, int *n)
{
	int room = *n;

	*n = (int)n_groups;
	for (int i = 0; i < *n && i < room; i++)
		groups[i] = 100 + (gid_t)i;
	return *n <= room ? *n : -1;
}

static void stick(bool on)
{
	pthread_mutex_lock(&lock);
	stuck = on;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void count_ready(void *arg)
{
	pthread_mutex_lock(&lock);
	ready++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_for_ready(unsigned n)
{
	struct timespec until;
	int e = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_SECONDS;
	pthread_mutex_lock(&lock);
	while (ready < n && !e)
		e = pthread_cond_timedwait(&changed, &lock, &until);
	assert_int_equal(ready, n);
	pthread_mutex_unlock(&lock);
}

static void wait_for_lookups(unsigned n)
{
	for (unsigned i = 0; lookups < n && i < WAIT_SECONDS * 100; i++)
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	assert_int_equal(lookups, n);
}

/* ---- Asking -------------------------------------------------------------- */

static struct groups *g;

static struct sockaddr_storage address(unsigned n)
{
	struct sockaddr_storage ss;
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(n)}};

	memset(&ss, 0, sizeof(ss));
	memcpy(&ss, &in, sizeof(in));
	return ss;
}

static int ask(uint32_t uid, unsigned peer, uint64_t bytes, struct group_wait *w)
{
	struct sockaddr_storage ss = address(peer);

	*w = (struct group_wait){.ready = count_ready, .bytes = bytes};
	return groups_get(g, uid, &ss, w);
}

/* How many groups it has, now or when the look-up ends. */
static unsigned groups_of(uint32_t uid)
{
	unsigned had = ready, n;
	struct group_wait w;
	int e = ask(uid, 1, 100, &w);

	if (e == -EINPROGRESS)
		wait_for_ready(had + 1);
	else
		assert_int_equal(e, 0);
	n = w.list ? w.list->n : 0;
	group_list_put(w.list);
	return n;
}

static int set_up(void **state)
{
	g = groups_new(LIMIT);
	lookups = warned = ready = 0;
	broken = 0;
	n_groups = 3;
	return g ? 0 : -1;
}

static int tear_down(void **state)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WAIT_SECONDS;
	stick(false);
	if (!groups_stop(g, &until))
		return -1;
	groups_free(g);
	return 0;
}

/* ---- How long ------------------------------------------------------------ */

static void a_list_serves_and_is_renewed_meanwhile(void **state)
{
	assert_int_equal(groups_of(7), 3);
	pass(KEPT / 2 - 1);
	n_groups = 4;
	assert_int_equal(groups_of(7), 3);
	assert_int_equal(lookups, 1);
	pass(2);
	stick(true);
	assert_int_equal(groups_of(7), 3); /* at once */
	assert_int_equal(groups_of(7), 3);
	stick(false);
	wait_for_lookups(2);
	for (unsigned i = 0; i < WAIT_SECONDS * 100 && groups_of(7) != 4; i++)
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	assert_int_equal(groups_of(7), 4);
	assert_int_equal(lookups, 2);
	pass(KEPT + 1);
	n_groups = 5;
	assert_int_equal(groups_of(7), 5);
	assert_int_equal(lookups, 3);
	groups_forget(g);
	assert_int_equal(groups_of(7), 5);
	assert_int_equal(lookups, 4);
}

static void an_unknown_uid_is_asked_for_again_soon(void **state)
{
	assert_int_equal(groups_of(UNKNOWN), 0);
	pass(MINUTE - 1);
	assert_int_equal(groups_of(UNKNOWN), 0);
	assert_int_equal(lookups, 1);
	pass(2);
	assert_int_equal(groups_of(UNKNOWN), 0);
	assert_int_equal(lookups, 2);
	assert_int_equal(warned, 0);
	broken = ENOENT; /* what some modules say instead */
	assert_int_equal(groups_of(UNKNOWN + 1), 0);
	assert_int_equal(warned, 0);
}

static void a_failed_lookup_is_told_and_tried_again(void **state)
{
	broken = EIO;
	assert_int_equal(groups_of(7), 0);
	assert_int_equal(warned, 1);
	assert_int_equal(groups_of(7), 0);
	assert_int_equal(lookups, 1);
	broken = 0;
	pass(6);
	assert_int_equal(groups_of(7), 3);
	/* A list that is still good outlives it. */
	broken = EIO;
	pass(KEPT / 2 + 1);
	assert_int_equal(groups_of(7), 3);
	wait_for_lookups(3);
	for (unsigned i = 0; i < WAIT_SECONDS * 100 && warned < 2; i++)
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	assert_int_equal(groups_of(7), 3);
}

static void what_is_forgotten_while_it_is_looked_up_does_not_stay(void **state)
{
	struct group_wait w;

	stick(true);
	assert_int_equal(ask(7, 1, 100, &w), -EINPROGRESS);
	wait_for_lookups(1);
	groups_forget(g);
	stick(false);
	wait_for_ready(1);
	assert_int_equal(w.list->n, 3);
	group_list_put(w.list);
	assert_int_equal(groups_of(7), 3);
	assert_int_equal(lookups, 2);
}

static void long_lists_are_whole_and_end_where_the_kernels_do(void **state)
{
	n_groups = 1000;
	assert_int_equal(groups_of(7), 1000);
	n_groups = MOST_GROUPS + 10;
	assert_int_equal(groups_of(8), MOST_GROUPS);
}

/* ---- How much ------------------------------------------------------------ */

static struct group_wait waits[4 * WAITS];

static void one_lookup_answers_all_that_wait_for_it(void **state)
{
	stick(true);
	for (unsigned i = 0; i < WAITS; i++)
		assert_int_equal(ask(7, 1, 100, &waits[i]), -EINPROGRESS);
	assert_int_equal(ask(7, 1, 100, &waits[WAITS]), -EAGAIN);
	assert_int_equal(ask(7, 2, 100, &waits[WAITS]), -EINPROGRESS);
	assert_int_equal(groups_waiting(g), WAITS + 1);
	stick(false);
	wait_for_ready(WAITS + 1);
	assert_int_equal(lookups, 1);
	assert_int_equal(groups_waiting(g), 0);
	for (unsigned i = 0; i <= WAITS; i++) {
		assert_int_equal(waits[i].list->n, 3);
		group_list_put(waits[i].list);
	}
	assert_int_equal(ask(7, 1, 100, &waits[0]), 0); /* its turn is given back */
	group_list_put(waits[0].list);
}

static void an_address_has_so_many_lookups_at_a_time(void **state)
{
	stick(true);
	for (unsigned i = 0; i < LOOKUPS; i++)
		assert_int_equal(ask(100 + i, 1, 100, &waits[i]), -EINPROGRESS);
	assert_int_equal(ask(100 + LOOKUPS, 1, 100, &waits[LOOKUPS]), -EAGAIN);
	assert_int_equal(warned, 1);
	/* Others are not held up, nor are they when there are many such addresses. */
	assert_int_equal(ask(50, 2, 100, &waits[LOOKUPS]), -EINPROGRESS);
	stick(false);
	wait_for_ready(LOOKUPS + 1);
	for (unsigned i = 0; i <= LOOKUPS; i++)
		group_list_put(waits[i].list);
	assert_int_equal(groups_of(100 + LOOKUPS), 3);
}

static void what_waits_is_bounded_by_its_octets(void **state)
{
	unsigned n = 0;

	stick(true);
	while (ask(7, 1, 1 << 20, &waits[n]) == -EINPROGRESS)
		n++;
	assert_int_equal(n, LIMIT / 4 >> 20); /* a quarter for one address */
	for (unsigned peer = 2; peer < 40; peer++)
		if (ask(7, peer, 1 << 20, &waits[n]) == -EINPROGRESS)
			n++;
	assert_int_equal(n, LIMIT >> 20);
	stick(false);
	wait_for_ready(n);
	for (unsigned i = 0; i < n; i++)
		group_list_put(waits[i].list);
}

static void made_up_uids_do_not_drive_out_who_is_busy(void **state)
{
	assert_int_equal(groups_of(7), 3);
	for (unsigned i = 0; i < 10000; i++) {
		now_ns++;
		assert_int_equal(groups_of(UNKNOWN + i), 0);
		now_ns++;
		assert_int_equal(groups_of(7), 3);
	}
	assert_int_equal(lookups, 10001);
}

static void lists_are_bounded_by_their_octets(void **state)
{
	enum { FIT = LIST_BYTES / (4 * MOST_GROUPS), USERS = 2 * FIT };

	n_groups = MOST_GROUPS;
	for (unsigned i = 0; i < USERS; i++) {
		now_ns++;
		assert_int_equal(groups_of(i), MOST_GROUPS);
	}
	assert_int_equal(lookups, USERS);
	now_ns++;
	assert_int_equal(groups_of(USERS - 1), MOST_GROUPS);
	assert_int_equal(lookups, USERS);
	for (unsigned i = 0; i < USERS; i++)
		assert_int_equal(groups_of(i), MOST_GROUPS);
	assert_true(lookups >= USERS + USERS - FIT);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(a_list_serves_and_is_renewed_meanwhile),
	        T(an_unknown_uid_is_asked_for_again_soon),
	        T(a_failed_lookup_is_told_and_tried_again),
	        T(what_is_forgotten_while_it_is_looked_up_does_not_stay),
	        T(long_lists_are_whole_and_end_where_the_kernels_do),
	        T(one_lookup_answers_all_that_wait_for_it),
	        T(an_address_has_so_many_lookups_at_a_time),
	        T(what_waits_is_bounded_by_its_octets),
	        T(made_up_uids_do_not_drive_out_who_is_busy),
	        T(lists_are_bounded_by_their_octets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
