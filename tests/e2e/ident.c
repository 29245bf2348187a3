/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who nfsd acts as for a Kerberos user (tools/nfsd/ident.c): every group counts, however
 * many there are.  The kernel is asked what the thread has.
 */
#include "nfsd/nfsd.h"
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { UID = 4711, GID = 4712, ANON = 65534, SKIPPED = 77 };

static const struct squash squash = {true, false, ANON, ANON};
static uint32_t gids[65536];

void warn_about(enum warn_kind kind, int fd, const char *what, int error)
{
	fail_msg("%s", what);
}

void tool_log(enum tool_level level, const char *fmt, ...)
{
}

static struct rpcrdma_gss_caller caller_of(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		gids[i] = 100000 + i;
	return (struct rpcrdma_gss_caller){
	        .mapped = true, .uid = UID, .gid = GID, .n_gids = n, .gids = gids};
}

/* What the kernel says of this thread: how many groups, the first and the last. */
static unsigned groups(uint32_t *ret_first, uint32_t *ret_last)
{
	char *line = NULL, *p = NULL, *end;
	size_t size = 0;
	unsigned n = 0;
	FILE *f = fopen("/proc/thread-self/status", "r");

	assert_non_null(f);
	while (getline(&line, &size, f) > 0)
		if (!strncmp(line, "Groups:", 7)) {
			p = line + 7;
			break;
		}
	assert_non_null(p);
	for (;; n++) {
		uint32_t v = (uint32_t)strtoul(p, &end, 10);

		if (end == p)
			break;
		if (!n)
			*ret_first = v;
		*ret_last = v;
		p = end;
	}
	free(line);
	fclose(f);
	return n;
}

static void every_group_counts(void **state)
{
	static const unsigned counts[] = {0, 1, 32, 33, 1000, 65536, 40, 31};

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct rpcrdma_gss_caller c = caller_of(counts[i]);
		uint32_t first = 0, last = 0;
		struct ident id;

		ident_from_caller(&c, &squash, &id);
		assert_int_equal(ident_enter(&id), 0);
		assert_int_equal(groups(&first, &last), counts[i]);
		assert_int_equal(first, counts[i] ? 100000 : 0);
		assert_int_equal(last, counts[i] ? 100000 + counts[i] - 1 : 0);
		assert_int_equal(ident_enter_server(), 0);
	}
}

/* Root's group is squashed in a list of any length. */
static void group_0_is_squashed(void **state)
{
	for (unsigned n = 32; n <= 33; n++) {
		struct rpcrdma_gss_caller c = caller_of(n);
		uint32_t first, last;
		struct ident id;

		gids[0] = 0;
		ident_from_caller(&c, &squash, &id);
		assert_int_equal(ident_enter(&id), 0);
		assert_int_equal(groups(&first, &last), n);
		assert_int_equal(first, ANON);
		assert_int_equal(ident_enter_server(), 0);
	}
}

/* Also after the list itself is gone. */
static void lists_are_told_apart(void **state)
{
	struct rpcrdma_gss_caller c = caller_of(1000);
	struct ident a, b, other;

	ident_from_caller(&c, &squash, &a);
	ident_from_caller(&c, &squash, &b);
	gids[999]++;
	ident_from_caller(&c, &squash, &other);
	assert_true(ident_same(&a, &b));
	assert_false(ident_same(&a, &other));
	c.n_gids--;
	ident_from_caller(&c, &squash, &other);
	assert_false(ident_same(&a, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_group_counts),
	        cmocka_unit_test(group_0_is_squashed),
	        cmocka_unit_test(lists_are_told_apart),
	};

	if (!ident_init()) {
		puts("SKIPPED, nothing was judged: identities are switched by root "
		     "only");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
