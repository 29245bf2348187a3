/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server's contexts of RPCSEC_GSS, octet by octet, with tickets of a real KDC
 * (with_kdc.sh): what RFC 2203 wants of them, how they come to be, and their limits.
 * Time is a number here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <krb5.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gss/context.h"
#include "rig.h"

/* What libkrb5 1.20 loses when there is no key of the name that was asked for. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:krb5_build_principal_alloc_va\n";
}

/* -- what it is for --------------------------------------------------------------- */

static void a_context_is_set_up_in_one_round(void **state)
{
	struct rr_gss *g = table(NULL);
	struct peer a, b;

	assert_int_equal(establish(g, &a), 0);
	assert_int_equal(establish(g, &b), 0);
	assert_int_equal(a.window, RR_GSS_WINDOW);
	assert_int_equal(a.handle_len, 16);
	assert_memory_not_equal(a.handle, b.handle, 16);
	assert_int_equal(g->count, 2);
	assert_works(g, &a);
	assert_works(g, &b);
	peer_end(&a);
	peer_end(&b);
	rr_gss_free(g);
}

static void names_are_known(void **state)
{
	struct rr_gss *g = table(NULL);
	struct rr_gss_request r;
	char target[400];
	struct peer p;

	snprintf(target, sizeof(target), "nfs/%s@%s", getenv("KDC_HOST"),
	         getenv("KDC_REALM"));
	assert_int_equal(establish(g, &p), 0);
	assert_int_equal(ask(g, &p, RR_GSS_NONE, "", 0, &r), RR_GSS_PROCEED);
	assert_string_equal(r.who->principal, "alice@RPCRDMA.TEST");
	assert_string_equal(r.who->target, target);
	assert_true(r.who->mapped);
	assert_int_equal(r.who->uid, 1); /* daemon */
	assert_int_equal(r.who->gid, 1);
	assert_int_equal(r.who->groups[0], 1);
	rr_gss_release(&r);
	peer_end(&p);

	setenv("KRB5CCNAME", getenv("BOB_CC"), 1);
	assert_int_equal(establish(g, &p), 0);
	setenv("KRB5CCNAME", getenv("ALICE_CC"), 1);
	assert_int_equal(ask(g, &p, RR_GSS_NONE, "", 0, &r), RR_GSS_PROCEED);
	assert_string_equal(r.who->principal, "bob@RPCRDMA.TEST");
	assert_false(r.who->mapped);
	assert_int_equal(r.who->uid, RR_GSS_NOBODY);
	assert_int_equal(r.who->n_groups, 0);
	rr_gss_release(&r);
	peer_end(&p);
	rr_gss_free(g);
}

/* Of whom there are more groups than are kept.  The linker puts this in front. */
int __real_getgrouplist(const char *, gid_t, gid_t *, int *);
int __wrap_getgrouplist(const char *, gid_t, gid_t *, int *);
static int n_groups;

int __wrap_getgrouplist(const char *name, gid_t gid, gid_t *ret, int *n)
{
	int most = *n;

	if (!n_groups)
		return __real_getgrouplist(name, gid, ret, n);
	*n = n_groups;
	for (int i = 0; i < n_groups && i < most; i++)
		ret[i] = (gid_t)i + 100;
	return most < n_groups ? -1 : n_groups;
}

static void groups_are_bounded(void **state)
{
	struct rr_gss *g = table(NULL);
	struct rr_gss_request r;
	struct peer p;

	static const int counts[] = {31, 33, 64, 65, 1000, 65535, 65536, 65537};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(counts); i++) {
		unsigned want = RR_MIN((unsigned)counts[i], 65536u);

		n_groups = counts[i];
		assert_int_equal(establish(g, &p), 0);
		assert_int_equal(ask(g, &p, RR_GSS_NONE, "", 0, &r), RR_GSS_PROCEED);
		assert_int_equal(r.who->n_groups, want);
		assert_int_equal(r.who->groups[want - 1], 100 + want - 1);
		rr_gss_release(&r);
		peer_end(&p);
	}
	n_groups = 0;
	rr_gss_free(g);
}

static void results_that_are_none_are_not_wrapped(void **state)
{
	static const struct {
		size_t len;
		bool item;
		int err;
	} t[] = {{3, false, -EINVAL},
	         {INT_MAX, false, -EMSGSIZE},
	         {INT_MAX - 3, true, -EMSGSIZE},
	         {SIZE_MAX, true, -EMSGSIZE}};
	struct rr_gss *g = table(NULL);
	struct rr_gss_request r;
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	assert_int_equal(ask(g, &p, RR_GSS_INTEGRITY, "abcd", 4, &r), RR_GSS_PROCEED);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rpcrdma_piece piece[2] = {{big, 4, false},
		                                       {big, t[i].len, t[i].item}};
		void *none;
		size_t len;

		assert_int_equal(rr_gss_wrap(&r, piece, 2, &none, &len), t[i].err);
	}
	rr_gss_release(&r);
	peer_end(&p);
	rr_gss_free(g);
}

static void services_protect_arguments_and_results(void **state)
{
	const size_t sizes[] = {12, 1000, BIG};
	struct rr_gss *g = table(NULL);
	struct rr_gss_request r;
	struct peer p;
	void *none;
	size_t len;

	assert_int_equal(establish(g, &p), 0);
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t v = RR_GSS_INTEGRITY; v <= RR_GSS_PRIVACY; v++) {
			assert_int_equal(ask(g, &p, v, big, sizes[i], &r),
			                 RR_GSS_PROCEED);
			assert_int_equal(r.service, v);
			assert_int_equal(r.args_len, sizes[i]);
			assert_memory_equal(r.args, big, sizes[i]);
			assert_true(peer_verifies(&p, &r.verf, r.seq));
			results_come_back(&p, &r, sizes[i]);
			results_come_back(&p, &r, sizes[i] - 3); /* and again */
			rr_gss_release(&r);
		}
	assert_int_equal(ask(g, &p, RR_GSS_NONE, big, 1000, &r), RR_GSS_PROCEED);
	assert_null(r.args);
	assert_int_equal(rr_gss_wrap(&r, NULL, 0, &none, &len), -EINVAL);
	rr_gss_release(&r);
	peer_end(&p);
	rr_gss_free(g);
}

/* [RFC 2203 §5.3.3.2] */
static void each_reply_has_its_own_verifier(void **state)
{
	struct rr_gss *g = table(NULL);
	struct rr_gss_request r[8];
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(ask(g, &p, 1 + i % 3, "abcd", 4, &r[i]),
		                 RR_GSS_PROCEED);
	for (unsigned i = 8; i-- > 0;) {
		assert_true(peer_verifies(&p, &r[i].verf, i + 1));
		assert_false(peer_verifies(&p, &r[i].verf, i + 2));
		if (r[i].service != RR_GSS_NONE)
			results_come_back(&p, &r[i], 100);
		rr_gss_release(&r[i]);
	}
	peer_end(&p);
	rr_gss_free(g);
}

/* -- the window ------------------------------------------------------------------- */

static enum rr_gss_verdict number(struct rr_gss *g, struct peer *p, uint32_t seq)
{
	enum rr_gss_verdict v;
	struct rr_gss_request r;

	p->seq = seq - 1;
	v = ask(g, p, RR_GSS_NONE, "", 0, &r);
	if (v == RR_GSS_ANSWER)
		assert_denied(&r, 77, CTXPROBLEM);
	rr_gss_release(&r);
	return v;
}

/* [RFC 2203 §5.3.3.1] */
static void numbers_count_once(void **state)
{
	struct rr_gss *g = table(NULL);
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	assert_int_equal(number(g, &p, 5), RR_GSS_PROCEED);
	assert_int_equal(number(g, &p, 5), RR_GSS_CLOSE);
	assert_int_equal(number(g, &p, 0), RR_GSS_PROCEED);
	assert_int_equal(number(g, &p, 0), RR_GSS_CLOSE);
	for (uint32_t s = 4; s > 0; s--) /* later ones may be first */
		assert_int_equal(number(g, &p, s), RR_GSS_PROCEED);
	for (uint32_t s = 0; s < 6; s++)
		assert_int_equal(number(g, &p, s), RR_GSS_CLOSE);
	assert_int_equal(number(g, &p, 4 + RR_GSS_WINDOW), RR_GSS_PROCEED);
	assert_int_equal(number(g, &p, 3), RR_GSS_CLOSE); /* too old */
	assert_int_equal(number(g, &p, 4), RR_GSS_CLOSE);
	assert_int_equal(number(g, &p, 5), RR_GSS_CLOSE);   /* seen */
	assert_int_equal(number(g, &p, 6), RR_GSS_PROCEED); /* the oldest there is */
	assert_int_equal(number(g, &p, 6), RR_GSS_CLOSE);
	/* In the place of one that was seen a window ago. */
	assert_int_equal(number(g, &p, 3 + RR_GSS_WINDOW), RR_GSS_PROCEED);
	assert_int_equal(number(g, &p, 3 + RR_GSS_WINDOW), RR_GSS_CLOSE);
	assert_int_equal(number(g, &p, 100000), RR_GSS_PROCEED); /* beyond all of it */
	assert_int_equal(number(g, &p, 99999 - RR_GSS_WINDOW), RR_GSS_CLOSE);
	assert_int_equal(number(g, &p, 100000 - RR_GSS_WINDOW), RR_GSS_CLOSE);
	assert_int_equal(number(g, &p, 100001 - RR_GSS_WINDOW), RR_GSS_PROCEED);
	assert_int_equal(number(g, &p, 99999), RR_GSS_PROCEED);
	assert_int_equal(number(g, &p, 99999), RR_GSS_CLOSE);
	assert_int_equal(number(g, &p, 0x7fffffff), RR_GSS_PROCEED);
	assert_int_equal(number(g, &p, 0x7fffffff), RR_GSS_CLOSE);
	/* [RFC 2203 §5.3.3.3]: the client is to begin again. */
	assert_int_equal(number(g, &p, 0x80000000), RR_GSS_ANSWER);
	assert_int_equal(number(g, &p, 0xffffffff), RR_GSS_ANSWER);
	peer_end(&p);
	rr_gss_free(g);
}

/* Each step of the window makes room for all that it passes over. */
static void numbers_that_were_passed_over_are_fresh(void **state)
{
	for (uint32_t step = 2; step < 5; step++) {
		struct rr_gss *g = table(NULL);
		struct peer p;

		assert_int_equal(establish(g, &p), 0);
		for (uint32_t s = 0; s < RR_GSS_WINDOW; s++)
			assert_int_equal(number(g, &p, s), RR_GSS_PROCEED);
		assert_int_equal(number(g, &p, RR_GSS_WINDOW - 1 + step),
		                 RR_GSS_PROCEED);
		for (uint32_t s = 0; s < step; s++)
			assert_int_equal(number(g, &p, s), RR_GSS_CLOSE);
		for (uint32_t s = 0; s < step - 1; s++) {
			assert_int_equal(number(g, &p, RR_GSS_WINDOW + s),
			                 RR_GSS_PROCEED);
			assert_int_equal(number(g, &p, RR_GSS_WINDOW + s),
			                 RR_GSS_CLOSE);
		}
		assert_int_equal(number(g, &p, step), RR_GSS_CLOSE);
		peer_end(&p);
		rr_gss_free(g);
	}
}

static void what_is_not_signed_moves_no_window(void **state)
{
	struct rr_gss *g = table(NULL);
	struct saying s = data(RR_GSS_NONE, 1000000);
	struct rr_gss_request r;
	struct said m;
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	peer_say(&p, &s, 77, PROGRAM, VERSION, 5, "", 0, &m);
	m.verf_body[m.verf.len - 1] ^= 1;
	tell(g, &m, 77, 5, &r);
	assert_denied(&r, 77, CREDPROBLEM);
	rr_gss_release(&r);
	said_free(&m);
	assert_int_equal(number(g, &p, 1), RR_GSS_PROCEED);
	peer_end(&p);
	rr_gss_free(g);
}

/* -- setting up ------------------------------------------------------------ */

static void tokens_that_are_none_leave_nothing(void **state)
{
	struct rr_gss *g = table(NULL);
	struct rpcrdma_auth verf;
	struct rr_gss_request r;
	struct rr_cursor c;
	struct said m;
	struct peer p;

	peer_begin(&p, service);
	say_init(&p, &init, &m);
	for (unsigned i = 0; i < 40; i++) { /* an octet wrong, of what is signed */
		size_t at = 4 + p.token.length - 1 - i;

		m.args[at] ^= 0x55;
		tell(g, &m, 1, 0, &r);
		assert_int_not_equal(take_init(&p, &r), 0);
		rr_gss_release(&r);
		m.args[at] ^= 0x55;
	}
	for (unsigned i = 0; i < 9; i++) { /* cut */
		size_t len = m.args_len;

		m.args_len = i;
		tell(g, &m, 1, 0, &r);
		assert_int_equal(accept_stat(&r, &verf, &c), GARBAGE);
		assert_int_equal(verf.flavor + verf.len, 0);
		rr_gss_release(&r);
		m.args_len = len;
	}
	said_free(&m);
	m.args = calloc(1, RR_GSS_MAX_TOKEN + 8); /* too long */
	m.args_len = RR_GSS_MAX_TOKEN + 8;
	rr_store_u32(m.args, RR_GSS_MAX_TOKEN + 4);
	tell(g, &m, 1, 0, &r);
	assert_int_equal(accept_stat(&r, &verf, &c), GARBAGE);
	rr_gss_release(&r);
	rr_store_u32(m.args, RR_GSS_MAX_TOKEN); /* as long as may be, and nothing */
	tell(g, &m, 1, 0, &r);
	assert_int_not_equal(take_init(&p, &r), 0);
	rr_gss_release(&r);
	said_free(&m);
	peer_end(&p);
	assert_int_equal(g->count, 0);
	rr_gss_free(g);
}

static void a_recorded_token_sets_up_nothing(void **state)
{
	struct rr_gss *g = table(NULL), *restarted = table(NULL);
	struct rr_gss_request r;
	struct said m;
	struct peer p, thief = {0};

	peer_begin(&p, service);
	say_init(&p, &init, &m);
	tell(g, &m, 1, 0, &r);
	assert_int_equal(take_init(&p, &r), 0);
	rr_gss_release(&r);
	tell(g, &m, 1, 0, &r);
	assert_int_not_equal(take_init(&thief, &r), 0);
	assert_int_equal(last_minor, (uint32_t)KRB5KRB_AP_ERR_REPEAT);
	rr_gss_release(&r);
	tell(restarted, &m, 1, 0, &r);
	assert_int_not_equal(take_init(&thief, &r), 0);
	assert_int_equal(last_minor, (uint32_t)KRB5KRB_AP_ERR_REPEAT);
	rr_gss_release(&r);
	said_free(&m);
	peer_end(&p);
	rr_gss_free(g);
	rr_gss_free(restarted);
}

static void the_key_is_the_one_that_was_named(void **state)
{
	struct rr_gss_options o = {.principal = "host@localhost"};
	struct rr_gss *g;
	char principal[300], why[200];
	struct peer p;

	snprintf(principal, sizeof(principal), "host@%s", getenv("KDC_HOST"));
	o.principal = principal;
	g = table(&o);
	assert_int_equal(rr_gss_check(g, why, sizeof(why)), 0);
	assert_int_not_equal(establish(g, &p), 0); /* a ticket for nfs */
	peer_end(&p);
	rr_gss_free(g);

	o.principal = "smtp@localhost";
	g = table(&o);
	assert_int_equal(rr_gss_check(g, why, sizeof(why)), -ENOKEY);
	assert_non_null(strstr(why, "smtp/localhost"));
	assert_int_not_equal(establish(g, &p), 0);
	peer_end(&p);
	rr_gss_free(g);
}

static void a_keytab_that_comes_later_is_found(void **state)
{
	char *keytab = strdup(getenv("KRB5_KTNAME")), why[200];
	struct rr_gss *g = table(NULL);
	struct peer p;

	setenv("KRB5_KTNAME", "FILE:/nonexistent/keytab", 1);
	assert_int_equal(rr_gss_check(g, why, sizeof(why)), -ENOKEY);
	assert_non_null(strstr(why, "/nonexistent/keytab"));
	assert_int_not_equal(establish(g, &p), 0);
	peer_end(&p);
	now += RR_SEC(5);
	assert_int_not_equal(establish(g, &p), 0);
	peer_end(&p);
	setenv("KRB5_KTNAME", keytab, 1);
	assert_int_not_equal(establish(g, &p), 0); /* clients do not make it look */
	peer_end(&p);
	now += RR_SEC(5);
	assert_int_equal(establish(g, &p), 0);
	peer_end(&p);
	free(keytab);
	rr_gss_free(g);
}

static void it_is_told_what_blocks(void **state)
{
	struct peer p = {.handle_len = 16};
	struct said m;

	for (uint32_t proc = 0; proc < 6; proc++) {
		peer_credential(&p, &(struct saying){1, proc, 1, 1}, &m);
		assert_int_equal(rr_gss_may_block(&m.cred), proc >= 1 && proc <= 3);
	}
	m.cred.len = 7;
	assert_false(rr_gss_may_block(&m.cred));
}

/* -- limits ---------------------------------------------------------------- */

static void one_address_loses_its_own_contexts(void **state)
{
	struct rr_gss_options o = {
	        .max_contexts = 6, .max_per_address = 3, .active_ns = 1};
	struct rr_gss *g = table(&o);
	struct rr_gss_request open;
	struct peer mine, his[5];

	from.sin_addr.s_addr = htonl(1);
	assert_int_equal(establish(g, &mine), 0);
	from.sin_addr.s_addr = htonl(2);
	for (unsigned i = 0; i < 5; i++) {
		now += RR_SEC(1);
		assert_int_equal(establish(g, &his[i]), 0);
		if (i == 0)
			assert_int_equal(
			        ask(g, &his[0], RR_GSS_PRIVACY, "abcd", 4, &open),
			        RR_GSS_PROCEED);
		if (i == 2)
			assert_works(g, &his[0]); /* used: not the next to go */
	}
	assert_works(g, &mine);
	assert_works(g, &his[0]);
	assert_gone(g, &his[1], CREDPROBLEM);
	assert_gone(g, &his[2], CREDPROBLEM);
	assert_works(g, &his[3]);
	assert_works(g, &his[4]);
	assert_int_equal(g->count, 4);
	rr_gss_forget(g); /* as a restart */
	assert_gone(g, &mine, CREDPROBLEM);
	results_come_back(&his[0], &open, 100);
	rr_gss_release(&open);
	for (unsigned i = 0; i < 5; i++)
		peer_end(&his[i]);
	peer_end(&mine);
	from.sin_addr.s_addr = 0;
	rr_gss_free(g);
}

/* An address of IPv4 is the same in both families; others of IPv6 are not. */
static void addresses_are_of_both_families(void **state)
{
	static const char *const at[] = {"::ffff:10.0.0.1", "2001:db8::1",
	                                 "2001:db8::2", "::ffff:10.0.0.1",
	                                 "2001:db8::1"};
	struct rr_gss_options o = {
	        .max_contexts = 9, .max_per_address = 1, .active_ns = 1};
	struct rr_gss *g = table(&o);
	struct peer p[6];

	inet_pton(AF_INET, "10.0.0.1", &from.sin_addr);
	assert_int_equal(establish(g, &p[5]), 0);
	for (unsigned i = 0; i < 5; i++) {
		struct sockaddr_in6 six = {.sin6_family = AF_INET6};

		assert_int_equal(inet_pton(AF_INET6, at[i], &six.sin6_addr), 1);
		from6 = &six;
		now += RR_SEC(1);
		assert_int_equal(establish(g, &p[i]), 0);
		from6 = NULL;
	}
	assert_gone(g, &p[5], CREDPROBLEM);
	assert_gone(g, &p[0], CREDPROBLEM);
	assert_gone(g, &p[1], CREDPROBLEM);
	for (unsigned i = 2; i < 5; i++)
		assert_works(g, &p[i]);
	for (unsigned i = 0; i < 6; i++)
		peer_end(&p[i]);
	from.sin_addr.s_addr = 0;
	rr_gss_free(g);
}

/* Engines do not agree upon what time it is, by a little. */
static void an_earlier_time_makes_nothing_idle(void **state)
{
	const rr_time began = now;
	struct rr_gss_options o = {.idle_ns = RR_SEC(600)};
	struct rr_gss *g = table(&o);
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	now -= RR_SEC(1);
	assert_works(g, &p);
	now = began + RR_SEC(600); /* its use is not earlier for that */
	assert_works(g, &p);
	now += RR_SEC(601);
	assert_gone(g, &p, CREDPROBLEM);
	peer_end(&p);
	now = began;
	rr_gss_free(g);
}

static void there_are_no_more_than_so_many(void **state)
{
	struct rr_gss_options o = {
	        .max_contexts = 4, .max_per_address = 3, .active_ns = 1};
	struct rr_gss *g = table(&o);
	struct peer p[10];

	for (unsigned i = 0; i < 10; i++) {
		from.sin_addr.s_addr = htonl(i);
		now += RR_SEC(1);
		assert_int_equal(establish(g, &p[i]), 0);
	}
	assert_int_equal(g->count, 4);
	assert_gone(g, &p[5], CREDPROBLEM);
	assert_works(g, &p[6]);
	for (unsigned i = 0; i < 10; i++)
		peer_end(&p[i]);
	from.sin_addr.s_addr = 0;
	rr_gss_free(g);
}

/* More active users than there is room for: those who are there go on, instead of each
 * taking another's place at every call. */
static void count_crowded_out(void *arg, const struct sockaddr *peer)
{
	++*(unsigned *)arg;
}

static void what_is_in_use_makes_no_room(void **state)
{
	const rr_time began = now;
	unsigned crowded_out = 0;
	struct rr_gss_options o = {.max_contexts = 4,
	                           .max_per_address = 2,
	                           .no_room = count_crowded_out,
	                           .no_room_arg = &crowded_out};
	struct rr_gss *g = table(&o);
	struct peer a, b, c;

	assert_int_equal(establish(g, &a), 0);
	now += RR_SEC(5);
	assert_int_equal(establish(g, &b), 0);
	assert_works(g, &a);
	assert_int_not_equal(establish(g, &c), 0);
	peer_end(&c);
	now += RR_SEC(9);
	assert_works(g, &a);
	assert_int_not_equal(establish(g, &c), 0);
	peer_end(&c);
	assert_works(g, &b);
	now += RR_SEC(9);
	assert_works(g, &b);
	now += RR_SEC(2); /* a has been idle for more than ten seconds */
	assert_int_equal(establish(g, &c), 0);
	assert_gone(g, &a, CREDPROBLEM);
	assert_works(g, &b);
	assert_works(g, &c);
	assert_int_equal(g->count, 2);
	assert_int_equal(crowded_out, 2);
	peer_end(&a);
	peer_end(&b);
	peer_end(&c);
	now = began;
	rr_gss_free(g);
}

static void contexts_grow_old(void **state)
{
	const rr_time began = now;
	struct rr_gss_options o = {.idle_ns = RR_SEC(600)};
	struct rr_gss *g = table(&o);
	struct peer a, b;

	assert_int_equal(establish(g, &a), 0);
	assert_int_equal(establish(g, &b), 0);
	now += RR_SEC(500);
	assert_works(g, &a);
	now += RR_SEC(500);
	assert_works(g, &a);
	assert_gone(g, &b, CREDPROBLEM); /* idle */
	peer_end(&b);
	/* Its ticket lasts an hour, and Kerberos allows for 5 minutes more. */
	while (now < began + RR_SEC(3590)) {
		assert_works(g, &a);
		now += RR_SEC(100);
	}
	now = began + RR_SEC(3905);
	assert_gone(g, &a, CTXPROBLEM);
	assert_gone(g, &a, CREDPROBLEM); /* it is forgotten */
	assert_int_equal(establish(g, &b), 0);
	now += RR_SEC(700);
	peer_end(&a);
	assert_int_equal(establish(g, &a), 0); /* wants in: b's has had its time */
	assert_int_equal(g->count, 1);
	peer_end(&a);
	peer_end(&b);
	now = began;
	rr_gss_free(g);
}

/* -- threads --------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 200 };

struct shared {
	struct rr_gss *g;
	struct peer *p;        /* all use it */
	pthread_mutex_t *lock; /* the client's */
};

static void one_round(struct shared *s, uint32_t v)
{
	struct rr_gss_request r;
	struct saying say;
	struct said m;
	size_t len, plain_len;
	void *wrapped, *plain;
	const struct rpcrdma_piece piece = {big, 4000, false};

	pthread_mutex_lock(s->lock);
	say = data(v, ++s->p->seq);
	peer_say(s->p, &say, 77, PROGRAM, VERSION, 5, big, 2000, &m);
	pthread_mutex_unlock(s->lock);
	RR_ASSERT(tell(s->g, &m, 77, 5, &r) == RR_GSS_PROCEED);
	RR_ASSERT(r.args_len == 2000 && !memcmp(r.args, big, 2000));
	RR_ASSERT(!rr_gss_wrap(&r, &piece, 1, &wrapped, &len));
	pthread_mutex_lock(s->lock);
	RR_ASSERT(peer_verifies(s->p, &r.verf, r.seq));
	plain = peer_unwrap(s->p, v, r.seq, wrapped, len, &plain_len);
	pthread_mutex_unlock(s->lock);
	RR_ASSERT(plain && plain_len == 4000 && !memcmp(plain, big, 4000));
	free(plain);
	free(wrapped);
	rr_gss_release(&r);
	said_free(&m);
}

static void *many_rounds(void *arg)
{
	struct shared *s = arg;

	for (unsigned i = 0; i < ROUNDS; i++) {
		one_round(s, 2 + i % 2);
		if (i % 50 == 0) {
			struct peer own;
			pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
			struct shared t = {s->g, &own, &lock};

			RR_ASSERT(establish(s->g, &own) == 0);
			one_round(&t, 3);
			peer_end(&own);
		}
	}
	return NULL;
}

static void threads_share_contexts_and_the_table(void **state)
{
	struct rr_gss *g = table(NULL);
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct peer p;
	struct shared s = {g, &p, &lock};
	pthread_t t[THREADS];

	assert_int_equal(establish(g, &p), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, many_rounds, &s), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	peer_end(&p);
	rr_gss_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_context_is_set_up_in_one_round),
	        cmocka_unit_test(names_are_known),
	        cmocka_unit_test(groups_are_bounded),
	        cmocka_unit_test(results_that_are_none_are_not_wrapped),
	        cmocka_unit_test(services_protect_arguments_and_results),
	        cmocka_unit_test(each_reply_has_its_own_verifier),
	        cmocka_unit_test(numbers_count_once),
	        cmocka_unit_test(numbers_that_were_passed_over_are_fresh),
	        cmocka_unit_test(what_is_not_signed_moves_no_window),
	        cmocka_unit_test(tokens_that_are_none_leave_nothing),
	        cmocka_unit_test(a_recorded_token_sets_up_nothing),
	        cmocka_unit_test(the_key_is_the_one_that_was_named),
	        cmocka_unit_test(a_keytab_that_comes_later_is_found),
	        cmocka_unit_test(it_is_told_what_blocks),
	        cmocka_unit_test(one_address_loses_its_own_contexts),
	        cmocka_unit_test(addresses_are_of_both_families),
	        cmocka_unit_test(an_earlier_time_makes_nothing_idle),
	        cmocka_unit_test(there_are_no_more_than_so_many),
	        cmocka_unit_test(what_is_in_use_makes_no_room),
	        cmocka_unit_test(contexts_grow_old),
	        cmocka_unit_test(threads_share_contexts_and_the_table),
	};

	rig_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
