/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is remembered of servers, for how long, and what follows from it: the
 * expected answers are those of [V7], times and counts included.
 * V2-4.2.3-01, V2-4.2.3.2-04, V2-4.2.3.2-05.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>

#include "rpc/version_cache.h"

enum { ONE = RR_CONN_V1, TWO = RR_CONN_V2, BOTH = RR_CONN_V1 | RR_CONN_V2 };

#define KEEP RR_SEC(600)

static struct rr_version_cache table;
static const struct rr_version_cache nothing;

static const struct sockaddr *ip4(const char *text, uint16_t port)
{
	static struct sockaddr_in ring[4];
	static unsigned next;
	struct sockaddr_in *in = &ring[next++ % 4];

	*in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	assert_int_equal(inet_pton(AF_INET, text, &in->sin_addr), 1);
	return (const void *)in;
}

static const struct sockaddr *ip6(const char *text, uint16_t port, uint32_t scope)
{
	static struct sockaddr_in6 ring[4];
	static unsigned next;
	struct sockaddr_in6 *in6 = &ring[next++ % 4];

	*in6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
	                             .sin6_port = htons(port),
	                             .sin6_scope_id = scope};
	assert_int_equal(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
	return (const void *)in6;
}

static const struct sockaddr *server(void)
{
	return ip4("192.0.2.1", 20049);
}

static unsigned ask(unsigned wanted, rr_time now)
{
	return rr_version_cache_ask(&table, server(), wanted, now);
}

static enum rr_version_next learn(const struct rr_version_end *e, rr_time now)
{
	return rr_version_cache_learn(&table, server(), e, now, KEEP);
}

/* The first message in version 2 had no answer. */
static const struct rr_version_end dropped = {
        .wanted = BOTH, .asked = BOTH, .open = true, .error = -ETIMEDOUT};

static void starts_with_two(void **state)
{
	table = nothing;
	assert_int_equal(ask(BOTH, 1), BOTH);
	assert_int_equal(ask(TWO, 1), TWO);
	assert_int_equal(ask(ONE, 1), ONE);
}

static void one_silence_is_no_proof(void **state)
{
	table = nothing;
	assert_int_equal(learn(&dropped, 1), RR_VERSION_AGAIN);
	assert_int_equal(ask(BOTH, 2), BOTH);
}

static void two_in_a_row_are(void **state)
{
	table = nothing;
	assert_int_equal(learn(&dropped, 1), RR_VERSION_AGAIN);
	assert_int_equal(learn(&dropped, 5), RR_VERSION_AGAIN);
	assert_int_equal(ask(BOTH, 6), ONE);
	assert_int_equal(ask(TWO, 6), TWO); /* who wants only it, asks */
}

static void disconnection_counts_as_silence(void **state)
{
	static const int losses[] = {-ECONNRESET, 0, -EREMOTEIO, -ETIMEDOUT};
	struct rr_version_end e = dropped;

	for (size_t i = 0; i < RR_ARRAY_SIZE(losses); i++) {
		table = nothing;
		e.error = losses[i];
		assert_int_equal(learn(&e, 1), RR_VERSION_AGAIN);
		assert_int_equal(ask(BOTH, 1), BOTH);
		assert_int_equal(learn(&e, 1), RR_VERSION_AGAIN);
		assert_int_equal(ask(BOTH, 1), ONE);
	}
}

static void version_two_between_them_clears(void **state)
{
	table = nothing;
	assert_int_equal(learn(&dropped, 1), RR_VERSION_AGAIN);
	rr_version_cache_ready(&table, server(), BOTH, 2, 2, KEEP);
	assert_int_equal(learn(&dropped, 3), RR_VERSION_AGAIN);
	assert_int_equal(ask(BOTH, 4), BOTH);
}

static void version_two_clears_the_note(void **state)
{
	table = nothing;
	learn(&dropped, 1);
	learn(&dropped, 1);
	assert_int_equal(ask(BOTH, 2), ONE);
	rr_version_cache_ready(&table, server(), TWO, 2, 3, KEEP);
	assert_int_equal(ask(BOTH, 4), BOTH);
}

static void version_one_alone_clears_nothing(void **state)
{
	table = nothing;
	learn(&dropped, 1);
	learn(&dropped, 1);
	rr_version_cache_ready(&table, server(), ONE, 1, 2, KEEP);
	assert_int_equal(ask(BOTH, 3), ONE);
	/* nor makes it a note */
	table = nothing;
	rr_version_cache_ready(&table, server(), ONE, 1, 2, KEEP);
	assert_int_equal(ask(BOTH, 3), BOTH);
}

static void note_expires(void **state)
{
	table = nothing;
	learn(&dropped, RR_SEC(1));
	learn(&dropped, RR_SEC(2));
	assert_int_equal(ask(BOTH, RR_SEC(602) - 1), ONE);
	assert_int_equal(ask(BOTH, RR_SEC(602)), BOTH);
	/* and then two are needed again */
	assert_int_equal(learn(&dropped, RR_SEC(603)), RR_VERSION_AGAIN);
	assert_int_equal(ask(BOTH, RR_SEC(604)), BOTH);
	assert_int_equal(learn(&dropped, RR_SEC(605)), RR_VERSION_AGAIN);
	assert_int_equal(ask(BOTH, RR_SEC(606)), ONE);
}

static void silence_long_ago_does_not_count(void **state)
{
	table = nothing;
	learn(&dropped, RR_SEC(1));
	learn(&dropped, RR_SEC(601));
	assert_int_equal(ask(BOTH, RR_SEC(602)), BOTH);
}

static void time_does_not_wrap(void **state)
{
	table = nothing;
	rr_version_cache_learn(&table, server(), &dropped, RR_SEC(5), RR_TIME_NEVER);
	rr_version_cache_learn(&table, server(), &dropped, RR_SEC(5), RR_TIME_NEVER);
	assert_int_equal(ask(BOTH, RR_TIME_NEVER - 1), ONE);
}

static void refusal_is_remembered_when_version_one_works(void **state)
{
	table = nothing;
	rr_version_cache_ready(&table, server(), BOTH, 1, RR_SEC(1), KEEP);
	assert_int_equal(ask(BOTH, RR_SEC(600)), ONE);
	assert_int_equal(ask(BOTH, RR_SEC(601)), BOTH);
}

static void refusal_then_loss_is_remembered_at_once(void **state)
{
	const struct rr_version_end e = {.wanted = BOTH,
	                                 .asked = BOTH,
	                                 .open = true,
	                                 .answered = true,
	                                 .version = 1,
	                                 .error = -ECONNRESET};

	table = nothing;
	assert_int_equal(learn(&e, 1), RR_VERSION_AGAIN);
	assert_int_equal(ask(BOTH, 2), ONE);
}

static void refusal_without_common_version_is_final(void **state)
{
	struct rr_version_end e = {.wanted = TWO,
	                           .asked = TWO,
	                           .open = true,
	                           .answered = true,
	                           .error = -EPROTONOSUPPORT};

	table = nothing;
	assert_int_equal(learn(&e, 1), RR_VERSION_REFUSED);
	e.wanted = e.asked = BOTH;
	assert_int_equal(learn(&e, 1), RR_VERSION_REFUSED);
	assert_int_equal(ask(BOTH, 2), BOTH); /* it said nothing of version 1 */
}

/* No loop: neither of them is asked for again. */
static void refusal_of_version_one_too_is_final(void **state)
{
	const struct rr_version_end e = {.wanted = BOTH,
	                                 .asked = ONE,
	                                 .open = true,
	                                 .ready = true,
	                                 .answered = true,
	                                 .error = -EPROTONOSUPPORT};

	table = nothing;
	rr_version_cache_ready(&table, server(), BOTH, 1, 1, KEEP);
	assert_int_equal(learn(&e, 2), RR_VERSION_REFUSED);
	/* who connects anew begins anew */
	assert_int_equal(ask(BOTH, 3), BOTH);
}

static void silence_ends_who_wants_only_two(void **state)
{
	struct rr_version_end e = dropped;

	e.wanted = e.asked = TWO;
	table = nothing;
	assert_int_equal(learn(&e, 1), RR_VERSION_AGAIN);
	assert_int_equal(learn(&e, 2), RR_VERSION_SILENT);
}

static void silence_of_one_that_refused_is_enough(void **state)
{
	struct rr_version_end e = dropped;

	e.wanted = e.asked = TWO;
	table = nothing;
	rr_version_cache_ready(&table, server(), BOTH, 1, 1, KEEP);
	assert_int_equal(learn(&e, 2), RR_VERSION_SILENT);
	assert_int_equal(ask(BOTH, 3), ONE);
}

/* A server that is known to speak it is broken, not old. */
static void silence_of_one_that_spoke_two_is_usual(void **state)
{
	struct rr_version_end e = dropped;

	e.wanted = e.asked = TWO;
	e.had_two = true;
	table = nothing;
	learn(&e, 1);
	assert_int_equal(learn(&e, 2), RR_VERSION_USUAL);
}

static void nothing_is_learnt_without_a_first_message(void **state)
{
	struct rr_version_end e = dropped;

	e.open = false;
	e.error = -ECONNREFUSED;
	table = nothing;
	for (int i = 0; i < 5; i++)
		assert_int_equal(learn(&e, 1), RR_VERSION_USUAL);
	assert_int_equal(ask(BOTH, 1), BOTH);
	/* nor does it break a row */
	learn(&dropped, 1);
	learn(&e, 1);
	learn(&dropped, 1);
	assert_int_equal(ask(BOTH, 1), ONE);
}

static void own_failures_are_not_the_servers(void **state)
{
	static const int own[] = {-ENOMEM, -ECANCELED};
	struct rr_version_end e = dropped;

	table = nothing;
	for (size_t i = 0; i < 2 * RR_ARRAY_SIZE(own); i++) {
		e.error = own[i / 2];
		assert_int_equal(learn(&e, 1), RR_VERSION_USUAL);
	}
	assert_int_equal(ask(BOTH, 1), BOTH);
}

static void loss_after_version_two_is_usual(void **state)
{
	const struct rr_version_end e = {.wanted = BOTH,
	                                 .asked = BOTH,
	                                 .open = true,
	                                 .answered = true,
	                                 .version = 2,
	                                 .error = -ECONNRESET};

	table = nothing;
	assert_int_equal(learn(&e, 1), RR_VERSION_USUAL);
	assert_int_equal(learn(&e, 1), RR_VERSION_USUAL);
	assert_int_equal(ask(BOTH, 1), BOTH);
}

static void loss_in_version_one_is_usual(void **state)
{
	struct rr_version_end e = {.wanted = BOTH,
	                           .asked = ONE,
	                           .open = true,
	                           .ready = true,
	                           .version = 1,
	                           .error = -ECONNRESET};

	table = nothing;
	assert_int_equal(learn(&e, 1), RR_VERSION_USUAL);
	e.asked = BOTH;
	e.answered = true;
	assert_int_equal(learn(&e, 1), RR_VERSION_USUAL);
}

static void servers_are_told_apart(void **state)
{
	const struct sockaddr *other[] = {
	        ip4("192.0.2.2", 20049), ip4("192.0.2.1", 20050),
	        ip6("::ffff:192.0.2.1", 20049, 0),
	        ip6("c000:201::", 20049, 0), /* the same four octets */
	};

	table = nothing;
	rr_version_cache_ready(&table, server(), BOTH, 1, 1, KEEP);
	for (size_t i = 0; i < RR_ARRAY_SIZE(other); i++)
		assert_int_equal(rr_version_cache_ask(&table, other[i], BOTH, 2), BOTH);
	rr_version_cache_ready(&table, ip6("fe80::1", 20049, 2), BOTH, 1, 1, KEEP);
	assert_int_equal(
	        rr_version_cache_ask(&table, ip6("fe80::1", 20049, 2), BOTH, 2), ONE);
	assert_int_equal(
	        rr_version_cache_ask(&table, ip6("fe80::1", 20049, 3), BOTH, 2), BOTH);
	assert_int_equal(
	        rr_version_cache_ask(&table, ip6("fe80::2", 20049, 2), BOTH, 2), BOTH);
	assert_int_equal(rr_version_cache_ask(&table, ip6("fe80::1", 1, 2), BOTH, 2),
	                 BOTH);
}

/* Bounded: the note that would expire first makes room. */
static void full_table_drops_the_oldest(void **state)
{
	table = nothing;
	for (unsigned i = 0; i < RR_VERSION_CACHE_MAX + 2; i++)
		rr_version_cache_ready(&table, ip4("198.51.100.1", (uint16_t)(1 + i)),
		                       BOTH, 1, RR_SEC(1 + i), KEEP);
	for (unsigned i = 0; i < RR_VERSION_CACHE_MAX + 2; i++)
		assert_int_equal(rr_version_cache_ask(
		                         &table, ip4("198.51.100.1", (uint16_t)(1 + i)),
		                         BOTH, RR_SEC(100)),
		                 i < 2 ? BOTH : ONE);
}

/* One that is noted again keeps its place and lives longer. */
static void noting_again_prolongs(void **state)
{
	table = nothing;
	rr_version_cache_ready(&table, server(), BOTH, 1, RR_SEC(1), KEEP);
	for (unsigned i = 0; i < RR_VERSION_CACHE_MAX - 1; i++)
		rr_version_cache_ready(&table, ip4("198.51.100.1", (uint16_t)(1 + i)),
		                       BOTH, 1, RR_SEC(2), KEEP);
	rr_version_cache_ready(&table, server(), BOTH, 1, RR_SEC(3), KEEP);
	assert_int_equal(ask(BOTH, RR_SEC(602)), ONE);
	assert_int_equal(ask(BOTH, RR_SEC(603)), BOTH);
	for (unsigned i = 0; i < RR_VERSION_CACHE_MAX - 1; i++)
		assert_int_equal(rr_version_cache_ask(
		                         &table, ip4("198.51.100.1", (uint16_t)(1 + i)),
		                         BOTH, RR_SEC(4)),
		                 ONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(starts_with_two),
	        cmocka_unit_test(one_silence_is_no_proof),
	        cmocka_unit_test(two_in_a_row_are),
	        cmocka_unit_test(disconnection_counts_as_silence),
	        cmocka_unit_test(version_two_between_them_clears),
	        cmocka_unit_test(version_two_clears_the_note),
	        cmocka_unit_test(version_one_alone_clears_nothing),
	        cmocka_unit_test(note_expires),
	        cmocka_unit_test(silence_long_ago_does_not_count),
	        cmocka_unit_test(time_does_not_wrap),
	        cmocka_unit_test(refusal_is_remembered_when_version_one_works),
	        cmocka_unit_test(refusal_then_loss_is_remembered_at_once),
	        cmocka_unit_test(refusal_without_common_version_is_final),
	        cmocka_unit_test(refusal_of_version_one_too_is_final),
	        cmocka_unit_test(silence_ends_who_wants_only_two),
	        cmocka_unit_test(silence_of_one_that_refused_is_enough),
	        cmocka_unit_test(silence_of_one_that_spoke_two_is_usual),
	        cmocka_unit_test(nothing_is_learnt_without_a_first_message),
	        cmocka_unit_test(own_failures_are_not_the_servers),
	        cmocka_unit_test(loss_after_version_two_is_usual),
	        cmocka_unit_test(loss_in_version_one_is_usual),
	        cmocka_unit_test(servers_are_told_apart),
	        cmocka_unit_test(full_table_drops_the_oldest),
	        cmocka_unit_test(noting_again_prolongs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
