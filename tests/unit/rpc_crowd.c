/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which connection of a full listener goes: the longest of the address that has most.
 * A model that looks at all of them says the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <cmocka.h>

#include "rpc/crowd.h"

enum { GUESTS = 300, ADDRESSES = 40, STEPS = 20000 };

struct visitor {
	struct rr_guest guest;
	unsigned address;
	uint64_t since; /* it is of its kind; 0: not in */
	bool stays;
};

static struct rr_crowd crowd;
static struct visitor v[GUESTS];
static uint64_t moment;
static unsigned asked;

static struct sockaddr_storage address(unsigned i)
{
	struct sockaddr_storage ss = {.ss_family = AF_INET};

	((struct sockaddr_in *)&ss)->sin_addr.s_addr = htonl(0x0a000000 + i);
	((struct sockaddr_in *)&ss)->sin_port = htons((uint16_t)(1000 + moment));
	return ss;
}

static void come(unsigned i, unsigned from)
{
	struct sockaddr_storage ss = address(from);

	v[i].address = from;
	v[i].since = ++moment;
	assert_int_equal(rr_crowd_add(&crowd, &v[i].guest, &ss, moment), 0);
}

static void become(unsigned i, enum rr_guest_kind kind)
{
	v[i].since = ++moment;
	rr_crowd_move(&crowd, &v[i].guest, kind, moment);
}

static void go(unsigned i)
{
	v[i].since = 0;
	rr_crowd_remove(&crowd, &v[i].guest);
}

static bool any(const struct rr_guest *g)
{
	asked++;
	return !rr_container_of((uintptr_t)g, struct visitor, guest)->stays;
}

/* Its number, or -1. */
static int found(enum rr_guest_kind kind, int from)
{
	struct sockaddr_storage ss = address(from < 0 ? 0 : (unsigned)from);
	struct rr_guest *g = rr_crowd_find(&crowd, kind, from < 0 ? NULL : &ss, any);

	return g ? (int)(rr_container_of(g, struct visitor, guest) - v) : -1;
}

static int begin(void **state)
{
	memset(v, 0, sizeof(v));
	moment = asked = 0;
	return rr_crowd_init(&crowd, 8);
}

static int end(void **state)
{
	for (unsigned i = 0; i < GUESTS; i++)
		go(i);
	rr_crowd_fini(&crowd);
	return 0;
}

static void nobody_is_found_where_nobody_is(void **state)
{
	assert_int_equal(found(RR_GUEST_NEW, -1), -1);
	assert_int_equal(found(RR_GUEST_NEW, 3), -1);
	come(0, 1);
	assert_int_equal(found(RR_GUEST_IDLE, -1), -1);
	assert_int_equal(found(RR_GUEST_NEW, 2), -1);
	assert_int_equal(found(RR_GUEST_NEW, 1), 0);
	go(0);
	go(0);
	assert_int_equal(found(RR_GUEST_NEW, -1), -1);
}

static void the_oldest_of_the_most_numerous_address_goes(void **state)
{
	come(0, 7); /* the oldest of all, alone at its address */
	come(1, 8);
	come(2, 8);
	come(3, 9);
	assert_int_equal(found(RR_GUEST_NEW, -1), 1);
	go(1);
	assert_int_equal(found(RR_GUEST_NEW, -1), 0); /* all have one: the first */
	come(4, 9);
	assert_int_equal(found(RR_GUEST_NEW, -1), 3);
	assert_int_equal(found(RR_GUEST_NEW, 8), 2);
}

static void who_was_active_last_goes_last(void **state)
{
	for (unsigned i = 0; i < 3; i++) {
		come(i, 1);
		become(i, RR_GUEST_IDLE);
	}
	become(0, RR_GUEST_BUSY);
	assert_int_equal(found(RR_GUEST_IDLE, -1), 1);
	become(0, RR_GUEST_IDLE);
	become(1, RR_GUEST_IDLE); /* again */
	assert_int_equal(found(RR_GUEST_IDLE, -1), 2);
	v[2].stays = true;
	assert_int_equal(found(RR_GUEST_IDLE, -1), 0);
}

static void a_newcomer_is_newer_than_who_moved_before(void **state)
{
	come(0, 1);
	become(0, RR_GUEST_NEW);
	come(1, 1);
	assert_int_equal(found(RR_GUEST_NEW, -1), 0);
}

static void an_ipv4_address_is_one_by_ipv6_too(void **state)
{
	struct sockaddr_storage four = address(1), six = {.ss_family = AF_INET6};
	struct sockaddr_storage none = {.ss_family = AF_UNSPEC};

	assert_int_equal(inet_pton(AF_INET6, "::ffff:10.0.0.1",
	                           &((struct sockaddr_in6 *)&six)->sin6_addr),
	                 1);
	come(0, 1);
	assert_int_equal(rr_crowd_add(&crowd, &v[1].guest, &six, 1), 0);
	assert_int_equal(rr_crowd_add(&crowd, &v[2].guest, &none, 2), 0);
	assert_int_equal(rr_crowd_count(&crowd, &four), 2);
	assert_int_equal(rr_crowd_count(&crowd, &six), 2);
	assert_int_equal(rr_crowd_count(&crowd, &none), 1);
}

/* Whoever has a thousand that must stay costs no more than a few looks. */
static void looks_are_bounded(void **state)
{
	for (unsigned i = 0; i < GUESTS; i++) {
		come(i, 1);
		v[i].stays = true;
	}
	assert_int_equal(found(RR_GUEST_NEW, -1), -1);
	assert_int_equal(asked, RR_CROWD_LOOKS);
}

/* -- against a model ------------------------------------------------------------ */

static unsigned count_of(unsigned at, enum rr_guest_kind kind)
{
	unsigned n = 0;

	for (unsigned i = 0; i < GUESTS; i++)
		n += v[i].since && v[i].guest.kind == kind && v[i].address == at;
	return n;
}

/* Of an address that nobody has more from, the longest there. */
static void check_found(enum rr_guest_kind kind)
{
	int f = found(kind, -1);
	unsigned most = 0;

	for (unsigned a = 0; a < ADDRESSES; a++)
		most = RR_MAX(most, count_of(a, kind));
	if (!most) {
		assert_int_equal(f, -1);
		return;
	}
	assert_int_equal(rr_crowd_most(&crowd, kind), most);
	assert_true(f >= 0 && v[f].since && v[f].guest.kind == kind);
	assert_int_equal(count_of(v[f].address, kind), most);
	for (unsigned i = 0; i < GUESTS; i++)
		if (v[i].since && v[i].guest.kind == kind &&
		    v[i].address == v[f].address)
			assert_true(v[i].since >= v[f].since);
	assert_int_equal(found(kind, (int)v[f].address), f);
}

static void a_model_finds_the_same(void **state)
{
	struct rr_rng rng;

	rr_rng_seed(&rng, 5);
	for (unsigned s = 0; s < STEPS; s++) {
		unsigned i = (unsigned)rr_rng_below(&rng, GUESTS);

		if (!v[i].since)
			come(i, (unsigned)rr_rng_below(&rng, ADDRESSES));
		else if (rr_rng_below(&rng, 4) == 0)
			go(i);
		else
			become(i,
			       (enum rr_guest_kind)rr_rng_below(&rng, RR_GUEST_KINDS));
		if (s % 16 == 0)
			check_found((enum rr_guest_kind)(s / 16 % RR_GUEST_KINDS));
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
	        TEST(nobody_is_found_where_nobody_is),
	        TEST(the_oldest_of_the_most_numerous_address_goes),
	        TEST(who_was_active_last_goes_last),
	        TEST(a_newcomer_is_newer_than_who_moved_before),
	        TEST(an_ipv4_address_is_one_by_ipv6_too),
	        TEST(looks_are_bounded),
	        TEST(a_model_finds_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
