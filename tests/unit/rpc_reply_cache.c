/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cache of replies: which Calls are the same, what a repetition gets, what
 * stays and what goes.  Keys and results are octets written here; the memory
 * bound is held against what the allocator says, not the cache's own count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <arpa/inet.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rpc/reply_cache.h"

enum { KIB = 1024 };

static struct rr_reply_cache d;
static unsigned told;
static bool shared; /* by several engines: the cache has shards */

/* A Call, as a test changes it. */
struct ask {
	const char *host;
	uint16_t port;
	uint64_t connection;
	struct rr_rpc_call call;
	struct rpcrdma_piece args[3];
	unsigned n_args;
	bool brief;
	struct rr_reply_cache_waiter waiter;
	struct rr_reply_cache_entry *entry;
};

static unsigned count_entries(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d.n_shards; i++)
		n += d.shards[i].entries;
	return n;
}

static void on_ready(struct rr_reply_cache_waiter *w)
{
	told++;
}

static struct ask ask(uint32_t xid)
{
	return (struct ask){
	        .host = "192.0.2.7",
	        .port = 700,
	        .call = {.xid = xid, .program = 100003, .version = 3, .procedure = 12},
	        .args = {{"abcdefgh", 8, false}},
	        .n_args = 1,
	        .waiter.ready = on_ready,
	};
}

static struct sockaddr_storage address(const char *host, uint16_t port)
{
	struct sockaddr_storage ss = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ss;

	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
	} else {
		assert_int_equal(inet_pton(AF_INET6, host, &in6->sin6_addr), 1);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		in6->sin6_flowinfo = port; /* no part of an address either */
	}
	return ss;
}

static int begin_at(struct ask *a, rr_time now)
{
	struct sockaddr_storage ss = address(a->host, a->port);
	const struct rr_reply_cache_from from = {&ss, a->connection};

	return (a->brief ? rr_reply_cache_begin_briefly : rr_reply_cache_begin)(
	        &d, &from, &a->call, a->args, a->n_args, &a->waiter, now, &a->entry);
}

static int begin(struct ask *a)
{
	return begin_at(a, 0);
}

static void complete(struct ask *a, int status, const void *results, size_t len)
{
	struct rr_rpc_reply r = {.xid = a->call.xid, .status = status};
	struct rr_piece p = {results, len, false};

	rr_reply_cache_complete(&d, a->entry, &r, &p, len ? 1 : 0, 0);
}

/* Begins and completes; @text is the result. */
static void execute(struct ask a, const char *text)
{
	assert_int_equal(begin(&a), RR_REPLY_CACHE_NEW);
	complete(&a, 0, text, strlen(text));
}

static void expect_reply(const struct ask *a, const char *text)
{
	struct rr_piece p[RPCRDMA_MAX_PIECES];
	struct rr_rpc_reply r;

	assert_int_equal(rr_reply_cache_reply(a->entry, &r, p), 1);
	assert_int_equal(r.xid, a->call.xid);
	assert_int_equal(r.status, 0);
	assert_int_equal(p[0].len, strlen(text));
	assert_memory_equal(p[0].base, text, p[0].len);
}

static void expect_again(struct ask a, const char *text)
{
	assert_int_equal(begin(&a), RR_REPLY_CACHE_DONE);
	expect_reply(&a, text);
	rr_reply_cache_put(&d, a.entry, 0);
}

/* Is it new?  Executes it if so, that nothing is left held. */
static bool is_new(struct ask a)
{
	int v = begin(&a);

	if (v == RR_REPLY_CACHE_NEW)
		complete(&a, 0, "new", 3);
	else if (v == RR_REPLY_CACHE_DONE)
		rr_reply_cache_put(&d, a.entry, 0);
	else
		fail_msg("verdict %d", v);
	return v == RR_REPLY_CACHE_NEW;
}

static void make(size_t bytes, unsigned max_per_caller)
{
	struct rr_reply_cache_options o = {
	        .bytes = bytes, .max_per_caller = max_per_caller, .key = {1, 2}};

	assert_int_equal(rr_reply_cache_init(&d, &o), 0);
	if (shared)
		assert_int_equal(rr_reply_cache_share(&d), 0);
}

static int set_up(void **state)
{
	told = 0;
	make(1024 * KIB, 0);
	return 0;
}

static int tear_down(void **state)
{
	rr_reply_cache_fini(&d);
	return 0;
}

/* -- which Calls are the same ---------------------------------------------------- */

/* V2-4.5.5-01: the Responder's half */
static void a_repetition_gets_the_first_reply(void **state)
{
	execute(ask(1), "one");
	expect_again(ask(1), "one");
	expect_again(ask(1), "one");
}

/* A caller that reconnects comes from another port. */
static void the_port_does_not_count(void **state)
{
	struct ask a = ask(1);

	execute(a, "one");
	a.port = 1023;
	expect_again(a, "one");
	a.host = "2001:db8::7";
	execute(a, "six");
	a.port = 4;
	expect_again(a, "six");
}

static void the_address_counts(void **state)
{
	struct ask a = ask(1);

	execute(a, "one");
	a.host = "192.0.2.8";
	assert_true(is_new(a));
	a.host = "2001:db8::7";
	assert_true(is_new(a));
	a.host = "2001:db8::8";
	assert_true(is_new(a));
}

/* The same host, seen by a listener of either kind. */
static void ipv4_is_known_as_mapped_ipv6(void **state)
{
	struct ask a = ask(1);

	execute(a, "one");
	a.host = "::ffff:192.0.2.7";
	expect_again(a, "one");
	a.host = "::192.0.2.7";
	assert_true(is_new(a));
}

static void scope_of_a_link_local_address_counts(void **state)
{
	struct sockaddr_storage ss = address("fe80::1", 1);
	const struct rr_reply_cache_from from = {&ss, 1};
	struct ask a = ask(1);

	for (uint32_t scope = 1; scope <= 2; scope++) {
		((struct sockaddr_in6 *)&ss)->sin6_scope_id = scope;
		assert_int_equal(rr_reply_cache_begin(&d, &from, &a.call, a.args, 1,
		                                      &a.waiter, 0, &a.entry),
		                 RR_REPLY_CACHE_NEW);
		complete(&a, 0, "x", 1);
	}
}

static void every_word_of_the_header_counts(void **state)
{
	struct ask a = ask(1);

	execute(a, "one");
	a.call.xid = 2;
	assert_true(is_new(a));
	a = ask(1);
	a.call.program++;
	assert_true(is_new(a));
	a = ask(1);
	a.call.version++;
	assert_true(is_new(a));
	a = ask(1);
	a.call.procedure++;
	assert_true(is_new(a));
	expect_again(ask(1), "one");
}

static void other_arguments_under_the_same_xid_are_a_new_call(void **state)
{
	struct ask a = ask(1);

	execute(a, "one");
	a.args[0].base = "abcdefgi";
	assert_true(is_new(a));
	a.args[0].len = 4; /* "abcd" */
	assert_true(is_new(a));
	a.n_args = 0;
	assert_true(is_new(a));
	expect_again(ask(1), "one");
}

/* Items count, with the padding that they have inline: the next Call may bring
 * inline what this one brought by a Read chunk. */
static void arguments_are_the_same_in_whatever_pieces_they_come(void **state)
{
	struct ask a = ask(1);

	a.args[0] = (struct rpcrdma_piece){"\0\0\0\5", 4, false};
	a.args[1] = (struct rpcrdma_piece){"hello", 5, true};
	a.args[2] = (struct rpcrdma_piece){"tail", 4, false};
	a.n_args = 3;
	execute(a, "one");
	a.args[1] = (struct rpcrdma_piece){"hello\0\0\0tail", 12, false};
	a.n_args = 2;
	expect_again(a, "one");
	a.args[0] = (struct rpcrdma_piece){"\0\0\0\5hello\0\0\0tail", 16, false};
	a.n_args = 1;
	expect_again(a, "one");
	a.args[0] = (struct rpcrdma_piece){"\0\0\0\5hellO\0\0\0tail", 16, false};
	assert_true(is_new(a));
}

/* A reply must not come to another user of the same host. */
static void the_credential_counts(void **state)
{
	struct ask a = ask(1);

	a.call.cred = (struct rpcrdma_auth){RPCRDMA_AUTH_SYS, "STAMhostUID1", 12};
	execute(a, "one");
	expect_again(a, "one");
	a.call.cred.body = "STAMhostUID2";
	assert_true(is_new(a));
	a.call.cred = (struct rpcrdma_auth){0};
	assert_true(is_new(a));
}

static void the_stamp_of_auth_sys_does_not_count(void **state)
{
	struct ask a = ask(1);

	a.call.cred = (struct rpcrdma_auth){RPCRDMA_AUTH_SYS, "STAMhostUID1", 12};
	execute(a, "one");
	a.call.cred.body = "LATEhostUID1";
	expect_again(a, "one");
	a.call.cred.flavor = 77; /* what is no AUTH_SYS has no stamp */
	assert_true(is_new(a));
	a.call.cred.body = "STAMhostUID1";
	assert_true(is_new(a));
}

/* -- what a repetition gets ------------------------------------------------ */

/* The body, unreduced and in its pieces, so that it fits the chunks that the
 * next Call offers; and its own copy of it. */
static void results_keep_their_pieces_and_items(void **state)
{
	char head[] = "head", item[] = "itemitem";
	struct rr_piece in[3] = {{head, 4, false}, {item, 8, true}, {"", 0, false}};
	struct rr_piece out[RPCRDMA_MAX_PIECES];
	struct rr_rpc_reply r = {.status = 0};
	struct ask a = ask(1);

	assert_int_equal(begin(&a), RR_REPLY_CACHE_NEW);
	rr_reply_cache_complete(&d, a.entry, &r, in, 3, 0);
	memset(head, 'x', sizeof(head));
	memset(item, 'x', sizeof(item));
	assert_int_equal(begin(&a), RR_REPLY_CACHE_DONE);
	assert_int_equal(rr_reply_cache_reply(a.entry, &r, out), 3);
	assert_int_equal(out[0].len, 4);
	assert_memory_equal(out[0].base, "head", 4);
	assert_false(out[0].item);
	assert_int_equal(out[1].len, 8);
	assert_memory_equal(out[1].base, "itemitem", 8);
	assert_true(out[1].item);
	assert_int_equal(out[2].len, 0);
	assert_false(out[2].item);
	rr_reply_cache_put(&d, a.entry, 0);
}

static void an_error_is_a_reply_too(void **state)
{
	struct rr_rpc_reply r = {.status = RPCRDMA_AUTH_ERROR, .auth_stat = 5};
	struct rr_piece out[RPCRDMA_MAX_PIECES];
	struct ask a = ask(9);

	assert_int_equal(begin(&a), RR_REPLY_CACHE_NEW);
	rr_reply_cache_complete(&d, a.entry, &r, NULL, 0, 0);
	assert_int_equal(begin(&a), RR_REPLY_CACHE_DONE);
	r = (struct rr_rpc_reply){0};
	assert_int_equal(rr_reply_cache_reply(a.entry, &r, out), 0);
	assert_int_equal(r.status, RPCRDMA_AUTH_ERROR);
	assert_int_equal(r.auth_stat, 5);
	assert_int_equal(r.xid, 9);
	rr_reply_cache_put(&d, a.entry, 0);
}

static void a_call_that_is_being_executed_makes_others_wait(void **state)
{
	struct ask first = ask(1), second = ask(1), third = ask(1);

	assert_int_equal(begin(&first), RR_REPLY_CACHE_NEW);
	second.port++;
	assert_int_equal(begin(&second), RR_REPLY_CACHE_WAIT);
	assert_int_equal(begin(&third), RR_REPLY_CACHE_WAIT);
	assert_int_equal(told, 0);
	complete(&first, 0, "one", 3);
	assert_int_equal(told, 2);
	expect_reply(&second, "one");
	expect_reply(&third, "one");
	rr_reply_cache_put(&d, second.entry, 0);
	rr_reply_cache_put(&d, third.entry, 0);
	expect_again(ask(1), "one");
	assert_int_equal(told, 2);
}

static void who_leaves_is_not_told(void **state)
{
	struct ask first = ask(1), second = ask(1), third = ask(1);

	assert_int_equal(begin(&first), RR_REPLY_CACHE_NEW);
	assert_int_equal(begin(&second), RR_REPLY_CACHE_WAIT);
	assert_int_equal(begin(&third), RR_REPLY_CACHE_WAIT);
	rr_reply_cache_leave(&d, second.entry, &second.waiter, 0);
	complete(&first, 0, "one", 3);
	assert_int_equal(told, 1);
	rr_reply_cache_leave(&d, third.entry, &third.waiter, 0); /* after it was told */
	expect_again(ask(1), "one");
}

/* -- remembered only while it is being executed ---------------------------- */

static struct ask brief(uint32_t xid)
{
	struct ask a = ask(xid);

	a.brief = true;
	return a;
}

static void a_brief_one_makes_others_wait_and_goes(void **state)
{
	struct ask first = brief(1), second = brief(1), late = brief(1);

	assert_int_equal(begin(&first), RR_REPLY_CACHE_NEW);
	assert_int_equal(begin(&second), RR_REPLY_CACHE_WAIT);
	complete(&first, 0, "one", 3);
	assert_int_equal(told, 1);
	assert_int_equal(begin(&late), RR_REPLY_CACHE_DONE); /* while somebody has it */
	expect_reply(&late, "one");
	rr_reply_cache_put(&d, late.entry, 0);
	expect_reply(&second, "one");
	rr_reply_cache_put(&d, second.entry, 0);
	assert_int_equal(count_entries(), 0);
	assert_true(is_new(brief(1)));
}

static void a_brief_one_that_nobody_asks_for_leaves_nothing(void **state)
{
	static const char reply[32 * KIB];
	struct ask a = brief(1);
	size_t before;

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	execute(ask(7), "seven");
	before = d.bytes;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(begin(&a), RR_REPLY_CACHE_NEW);
		complete(&a, 0, reply, sizeof(reply));
		assert_int_equal(count_entries(), 1);
		assert_int_equal(d.bytes, before);
	}
	expect_again(ask(7), "seven"); /* no room was made for it */
}

static void who_leaves_a_brief_one_takes_it_away(void **state)
{
	struct ask first = brief(1), second = brief(1);

	assert_int_equal(begin(&first), RR_REPLY_CACHE_NEW);
	assert_int_equal(begin(&second), RR_REPLY_CACHE_WAIT);
	complete(&first, 0, "one", 3);
	assert_int_equal(count_entries(), 1);
	rr_reply_cache_leave(&d, second.entry, &second.waiter, 0);
	assert_int_equal(count_entries(), 0);
}

static void of_a_brief_one_the_head_counts(void **state)
{
	static char data[2][2000];
	struct ask first = brief(1), second = brief(1), shorter = brief(1),
	           other = brief(1);

	first.args[0] = (struct rpcrdma_piece){data[0], 2000, false};
	memset(data, 0, sizeof(data)); /* the tests run twice */
	data[1][512] = 'x';
	second.args[0] = (struct rpcrdma_piece){data[1], 2000, false};
	assert_int_equal(begin(&first), RR_REPLY_CACHE_NEW);
	assert_int_equal(begin(&second), RR_REPLY_CACHE_WAIT);
	shorter.args[0] = (struct rpcrdma_piece){data[0], 1999, false};
	assert_int_equal(begin(&shorter), RR_REPLY_CACHE_NEW);
	data[1][511] = 'x';
	other.args[0] = second.args[0];
	assert_int_equal(begin(&other), RR_REPLY_CACHE_NEW);
	complete(&shorter, 0, NULL, 0);
	complete(&other, 0, NULL, 0);
	complete(&first, 0, NULL, 0);
	rr_reply_cache_put(&d, second.entry, 0);
	assert_int_equal(count_entries(), 0);
}

/* -- what stays and what goes ---------------------------------------------- */

/* Fills the cache with the replies of another caller. */
static void flood(const char *host, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct ask a = ask(1000 + i);

		a.host = host;
		if (begin(&a) == RR_REPLY_CACHE_NEW)
			complete(&a, 0, "some results of an ordinary size", 32);
	}
}

static void floods(void)
{
	static const char *const hosts[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};

	for (unsigned i = 0; i < 3; i++)
		flood(hosts[i], 10000);
}

static void the_oldest_go_first(void **state)
{
	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	execute(ask(1), "one");
	execute(ask(2), "two");
	for (uint32_t xid = 3; count_entries() == xid - 1; xid++)
		execute(ask(xid), "three");
	/* one entry came and one went */
	assert_true(count_entries() > 50);
	expect_again(ask(2), "two");
	assert_true(is_new(ask(1)));
}

static void what_was_asked_for_is_young_again(void **state)
{
	uint32_t xid;

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	execute(ask(1), "one");
	for (xid = 2; count_entries() == xid - 1; xid++) {
		execute(ask(xid), "two");
		expect_again(ask(1), "one");
	}
	for (unsigned i = 0; i < 5; i++)
		execute(ask(xid + i), "two");
	expect_again(ask(1), "one");
	assert_true(is_new(ask(2)));
}

/* Of the same Call one is executed at most, however long it takes. */
static void what_is_being_executed_stays(void **state)
{
	struct ask slow = ask(1), again = ask(1);

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	assert_int_equal(begin(&slow), RR_REPLY_CACHE_NEW);
	floods();
	assert_int_equal(begin_at(&again, RR_SEC(100000)), RR_REPLY_CACHE_WAIT);
	complete(&slow, 0, "one", 3);
	floods();
	expect_reply(&again, "one"); /* a waiter's answer does not go either */
	rr_reply_cache_put(&d, again.entry, RR_SEC(100000));
}

static void a_reply_that_is_being_sent_stays(void **state)
{
	struct ask a = ask(1);

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	execute(a, "one");
	assert_int_equal(begin(&a), RR_REPLY_CACHE_DONE);
	floods();
	expect_reply(&a, "one");
	rr_reply_cache_put(&d, a.entry, 0);
	flood(a.host, 10000);
	assert_true(is_new(ask(1)));
}

static void a_caller_has_so_many_entries(void **state)
{
	rr_reply_cache_fini(&d);
	make(1024 * KIB, 10);
	execute(ask(100), "hundred");
	flood("10.0.0.1", 1000);
	assert_int_equal(count_entries(), 11);
	expect_again(ask(100), "hundred");
	for (uint32_t xid = 1; xid <= 9; xid++)
		execute(ask(xid), "small");
	expect_again(ask(100), "hundred"); /* the tenth */
	for (uint32_t xid = 10; xid <= 18; xid++)
		execute(ask(xid), "small");
	expect_again(ask(100), "hundred");
	assert_true(is_new(ask(9)));
}

/* One caller cannot drive out what another may ask for again. */
static void a_caller_has_half_of_the_memory(void **state)
{
	struct ask a = ask(1);

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	a.host = "192.0.2.99";
	execute(a, "other");
	for (uint32_t xid = 1; xid < 20000; xid++)
		execute(ask(xid), "an ordinary reply, as they come");
	expect_again(a, "other");
	assert_true(d.bytes > 28 * KIB && d.bytes < 36 * KIB);
}

/* -- who pays for room ----------------------------------------------------- */

/* Many replies of one connection. */
static void flood_over(const char *host, uint64_t connection, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct ask a = ask(1000000 + (uint32_t)connection * 100000 + i);

		a.host = host;
		a.connection = connection;
		if (begin(&a) == RR_REPLY_CACHE_NEW)
			complete(&a, 0, "some results of an ordinary size", 32);
	}
}

/* The reply of a caller that has little stays, whoever floods the cache. */
static void several_callers_cannot_drive_out_another(void **state)
{
	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	execute(ask(1), "one");
	for (unsigned i = 0; i < 5; i++)
		floods();
	expect_again(ask(1), "one");
}

/* Behind one address, as of a gateway or of a client with several connections: one
 * that broke loses nothing to one that is busy. */
static void a_busy_connection_cannot_drive_out_another(void **state)
{
	struct ask a = ask(1);

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	a.connection = 1;
	execute(a, "one");
	flood_over(a.host, 2, 10000);
	a.connection = 3; /* it comes again by a third */
	expect_again(a, "one");
	flood_over(a.host, 2, 10000);
	flood_over(a.host, 3, 10000);
	expect_again(a, "one");
}

/* The same for the number of entries. */
static void entries_go_of_the_connection_that_has_most(void **state)
{
	struct ask a = ask(1);

	rr_reply_cache_fini(&d);
	make(1024 * KIB, 50);
	a.connection = 1;
	execute(a, "one");
	flood_over(a.host, 2, 1000);
	assert_int_equal(count_entries(), 50);
	expect_again(a, "one");
}

static size_t bytes_of(const char *host)
{
	struct rr_tenant *t;
	struct sockaddr_storage ss = address(host, 1);
	struct rr_caller_addr addr;
	size_t n = 0;

	rr_caller_addr(&ss, &addr);
	for (unsigned i = 0; i < d.n_shards; i++) {
		struct rr_tenants *ts = &d.shards[i].tenants;

		if (!ts->tenants)
			continue;
		t = rr_tenant_get(ts, &addr, 0);
		n = RR_MAX(n, t->caller->share.bytes); /* elsewhere it is new */
		rr_tenant_put(ts, t);
	}
	return n;
}

/* Who wants as much gets about as much, in whatever order they come. */
static void busy_callers_share_the_memory(void **state)
{
	static const char *const host[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3",
	                                   "10.0.0.4"};
	size_t least = SIZE_MAX, most = 0;

	rr_reply_cache_fini(&d);
	make(256 * KIB, 0);
	for (unsigned i = 0; i < 20; i++)
		flood_over(host[i % 4], i, 1000);
	for (unsigned i = 0; i < 4; i++) {
		least = RR_MIN(least, bytes_of(host[i]));
		most = RR_MAX(most, bytes_of(host[i]));
	}
	assert_true(least * 3 > most);
	assert_true(most * 4 > 200 * KIB);
}

/* Nor can it be done by Calls that are being executed: they are refused instead. */
static void what_is_being_executed_drives_nobody_out(void **state)
{
	static struct ask all[1000];
	unsigned n = 0;

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	execute(ask(1), "one");
	for (uint32_t i = 0; i < 1000; i++) {
		all[n] = ask(1000 + i);
		all[n].host = i & 1 ? "192.0.2.1" : "192.0.2.2";
		n += begin(&all[n]) == RR_REPLY_CACHE_NEW;
	}
	assert_true(n > 100 && n < 500);
	expect_again(ask(1), "one");
	for (unsigned i = 0; i < n; i++)
		complete(&all[i], 0, NULL, 0);
}

/* And of one address: another connection's reply stays. */
static void what_a_connection_executes_drives_no_other_out(void **state)
{
	static struct ask all[1000];
	struct ask a = ask(1);
	unsigned n = 0;

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	a.connection = 1;
	execute(a, "one");
	for (uint32_t i = 0; i < 1000; i++) {
		all[n] = ask(1000 + i);
		all[n].connection = 2;
		n += begin(&all[n]) == RR_REPLY_CACHE_NEW;
	}
	assert_true(n > 50 && n < 250);
	expect_again(a, "one");
	for (unsigned i = 0; i < n; i++)
		complete(&all[i], 0, NULL, 0);
}

static void replies_age(void **state)
{
	struct ask a = ask(1), b = ask(2);

	execute(a, "one"); /* at 0 */
	assert_int_equal(begin_at(&a, RR_SEC(299)), RR_REPLY_CACHE_DONE);
	rr_reply_cache_put(&d, a.entry, RR_SEC(299)); /* asked for: young again */
	assert_int_equal(begin_at(&b, RR_SEC(301)), RR_REPLY_CACHE_NEW);
	complete(&b, 0, "two", 3);
	assert_int_equal(begin_at(&a, RR_SEC(598)), RR_REPLY_CACHE_DONE);
	rr_reply_cache_put(&d, a.entry, RR_SEC(598));
	assert_int_equal(begin_at(&a, RR_SEC(898)), RR_REPLY_CACHE_NEW);
	complete(&a, 0, "new", 3);
}

static void a_reply_too_large_is_not_executed_again(void **state)
{
	struct rr_piece out[RPCRDMA_MAX_PIECES];
	struct ask a = ask(1), b = ask(2);
	struct rr_rpc_reply r;
	void *big = calloc(1, 40 * KIB);

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	execute(ask(3), "three");
	assert_int_equal(begin(&a), RR_REPLY_CACHE_NEW);
	complete(&a, 0, big, 40 * KIB);
	expect_again(ask(3), "three"); /* nothing went for it in vain */
	assert_int_equal(begin(&a), RR_REPLY_CACHE_DONE);
	assert_int_equal(rr_reply_cache_reply(a.entry, &r, out), 0);
	assert_int_equal(r.status, RPCRDMA_SYSTEM_ERR);
	rr_reply_cache_put(&d, a.entry, 0);
	/* what fits is kept, at the cost of others */
	floods();
	assert_int_equal(begin(&b), RR_REPLY_CACHE_NEW);
	complete(&b, 0, big, 30 * KIB);
	assert_int_equal(begin(&b), RR_REPLY_CACHE_DONE);
	assert_int_equal(rr_reply_cache_reply(b.entry, &r, out), 1);
	assert_int_equal(r.status, 0);
	assert_int_equal(out[0].len, 30 * KIB);
	rr_reply_cache_put(&d, b.entry, 0);
	free(big);
}

static void calls_beyond_the_memory_are_refused_and_not_executed(void **state)
{
	static struct ask all[1000];
	unsigned n = 0, refused = 0;

	rr_reply_cache_fini(&d);
	make(64 * KIB, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct ask *a = &all[n];

		*a = ask(i);
		a->host = i & 1 ? "192.0.2.1" : "192.0.2.2";
		if (begin(a) == RR_REPLY_CACHE_NEW) {
			n++;
		} else {
			assert_null(a->entry);
			refused++;
		}
		assert_true(d.bytes <= 64 * KIB);
	}
	assert_true(n > 100 && n < 500);
	assert_int_equal(n + refused, 1000);
	for (unsigned i = 0; i < n; i++)
		complete(&all[i], 0, NULL, 0);
	assert_true(is_new(ask(1)));
}

static void without_memory_every_call_is_new(void **state)
{
	struct ask a = ask(1);

	rr_reply_cache_fini(&d);
	make(0, 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(begin(&a), RR_REPLY_CACHE_NEW);
		assert_null(a.entry);
		complete(&a, 0, "x", 1);
	}
	assert_int_equal(d.bytes, 0);
}

static void sizes_are_checked(void **state)
{
	struct rr_reply_cache_options o = {.bytes = RR_REPLY_CACHE_MIN_BYTES - 1};
	struct rr_reply_cache other;

	assert_int_equal(rr_reply_cache_init(&other, &o), -EINVAL);
	assert_int_equal(rr_reply_cache_set_bytes(&d, RR_REPLY_CACHE_MIN_BYTES - 1),
	                 -EINVAL);
	assert_int_equal(d.o.bytes, 1024 * KIB);
	assert_int_equal(rr_reply_cache_set_bytes(&d, RR_REPLY_CACHE_MIN_BYTES), 0);
	assert_int_equal(d.o.bytes, RR_REPLY_CACHE_MIN_BYTES);
	execute(ask(1), "one");
	assert_int_equal(rr_reply_cache_set_bytes(&d, 2 * RR_REPLY_CACHE_MIN_BYTES),
	                 -EBUSY);
	expect_again(ask(1), "one");
}

/* -- hostile load ---------------------------------------------------------- */

extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated(void)
{
	return __sanitizer_get_current_allocated_bytes
	               ? __sanitizer_get_current_allocated_bytes()
	               : mallinfo2().uordblks;
}

enum { LIMIT = 256 * KIB, OPEN = 64 };

/* One random step of many callers: Calls old and new, replies of all sizes. */
static void hostile_step(struct rr_rng *rng, struct ask *open, const void *junk)
{
	struct ask *a = &open[rr_rng_below(rng, OPEN)];
	static char hosts[300][32];
	unsigned h = (unsigned)rr_rng_below(rng, 300);
	struct rr_piece p = {junk,
	                     rr_rng_below(rng, 10) ? rr_rng_below(rng, 300)
	                                           : rr_rng_below(rng, LIMIT),
	                     false};
	struct rr_rpc_reply r = {0};

	if (a->entry) {
		rr_reply_cache_complete(&d, a->entry, &r, &p, 1, 0);
		a->entry = NULL;
		return;
	}
	snprintf(hosts[h], sizeof(hosts[h]), "10.1.%u.%u", h / 200, h % 200);
	*a = ask((uint32_t)rr_rng_below(rng, 5000));
	a->host = hosts[h];
	a->connection = rr_rng_below(rng, 5);
	a->brief = rr_rng_below(rng, 2);
	switch (begin(a)) {
	case RR_REPLY_CACHE_DONE:
		rr_reply_cache_put(&d, a->entry, 0);
		a->entry = NULL;
		break;
	case RR_REPLY_CACHE_WAIT:
		rr_reply_cache_leave(&d, a->entry, &a->waiter, 0);
		a->entry = NULL;
		break;
	default:
		break;
	}
}

static void memory_is_bounded_under_hostile_load(void **state)
{
	static struct ask open[OPEN];
	void *junk = calloc(1, LIMIT);
	size_t before = allocated();
	struct rr_rng rng;

	rr_rng_seed(&rng, 7);
	rr_reply_cache_fini(&d);
	make(LIMIT, 0);
	memset(open, 0, sizeof(open));
	for (unsigned i = 0; i < 200000; i++) {
		hostile_step(&rng, open, junk);
		assert_true(d.bytes <= LIMIT);
		if (i % 64 == 0)
			/* a quarter for what an allocator rounds up */
			assert_true(allocated() - before <= LIMIT + LIMIT / 4);
	}
	assert_true(count_entries() > 20);
	for (unsigned i = 0; i < OPEN; i++)
		if (open[i].entry)
			rr_reply_cache_complete(&d, open[i].entry,
			                        &(struct rr_rpc_reply){0}, NULL, 0, 0);
	free(junk);
}

/* Who names all the memory there is gets a cache, and not its tables' worth. */
static void a_huge_limit_takes_no_memory_by_itself(void **state)
{
	size_t before = allocated();

	assert_int_equal(rr_reply_cache_set_bytes(&d, SIZE_MAX), 0);
	execute(ask(1), "one"); /* computes the size of a table */
	expect_again(ask(1), "one");
	assert_true(allocated() - before < 32u << 20);
}

/* -- threads --------------------------------------------------------------- */

enum { THREADS = 4, CALLS = 3000, FLOOD = 20000 };
static unsigned executed[CALLS], answers[CALLS];

static void *repeat_all(void *arg)
{
	struct ask a;

	for (uint32_t i = 0; i < CALLS; i++) {
		struct rr_piece p[RPCRDMA_MAX_PIECES];
		struct rr_rpc_reply r = {.status = 0};
		uint32_t x;

		a = ask(i);
		switch (begin(&a)) {
		case RR_REPLY_CACHE_NEW:
			__atomic_fetch_add(&executed[i], 1, __ATOMIC_RELAXED);
			p[0] = (struct rr_piece){&i, 4, false};
			rr_reply_cache_complete(&d, a.entry, &r, p, 1, 0);
			break;
		case RR_REPLY_CACHE_DONE:
			if (rr_reply_cache_reply(a.entry, &r, p) == 1) {
				memcpy(&x, p[0].base, 4);
				__atomic_fetch_add(&answers[i], x == i,
				                   __ATOMIC_RELAXED);
			}
			rr_reply_cache_put(&d, a.entry, 0);
			break;
		case RR_REPLY_CACHE_WAIT:
			rr_reply_cache_leave(&d, a.entry, &a.waiter, 0);
			i--;
			break;
		default:
			return "refused";
		}
	}
	return NULL;
}

static void threads_execute_each_call_once(void **state)
{
	pthread_t t[THREADS];
	void *failed;

	rr_reply_cache_fini(&d);
	make(8192 * KIB, 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, repeat_all, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(t[i], &failed), 0);
		assert_null(failed);
	}
	for (unsigned i = 0; i < CALLS; i++) {
		assert_int_equal(executed[i], 1);
		assert_int_equal(answers[i], THREADS - 1);
		executed[i] = answers[i] = 0;
	}
}

/* Callers of several threads, and so of several shards, remove each other's replies. */
static void *flood_from_one(void *arg)
{
	static const char *const host[THREADS] = {"10.0.0.1", "10.0.0.2", "10.0.0.3",
	                                          "10.0.0.4"};
	static const char octets[600];
	struct ask a;

	for (uint32_t i = 0; i < FLOOD; i++) {
		a = ask(i);
		a.host = host[(uintptr_t)arg];
		if (begin(&a) != RR_REPLY_CACHE_NEW)
			return "not new";
		complete(&a, 0, octets, sizeof(octets));
	}
	return NULL;
}

static void threads_share_the_memory(void **state)
{
	pthread_t t[THREADS];
	void *failed;

	rr_reply_cache_fini(&d);
	make(256 * KIB, 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, flood_from_one, (void *)i),
		                 0);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(t[i], &failed), 0);
		assert_null(failed);
	}
	assert_true(d.bytes <= 256 * KIB + THREADS * 2048);
	assert_true(d.bytes > 200 * KIB);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(a_repetition_gets_the_first_reply),
	        T(the_port_does_not_count),
	        T(the_address_counts),
	        T(ipv4_is_known_as_mapped_ipv6),
	        T(scope_of_a_link_local_address_counts),
	        T(every_word_of_the_header_counts),
	        T(other_arguments_under_the_same_xid_are_a_new_call),
	        T(arguments_are_the_same_in_whatever_pieces_they_come),
	        T(the_credential_counts),
	        T(the_stamp_of_auth_sys_does_not_count),
	        T(results_keep_their_pieces_and_items),
	        T(an_error_is_a_reply_too),
	        T(a_call_that_is_being_executed_makes_others_wait),
	        T(who_leaves_is_not_told),
	        T(a_brief_one_makes_others_wait_and_goes),
	        T(a_brief_one_that_nobody_asks_for_leaves_nothing),
	        T(who_leaves_a_brief_one_takes_it_away),
	        T(of_a_brief_one_the_head_counts),
	        T(the_oldest_go_first),
	        T(what_was_asked_for_is_young_again),
	        T(what_is_being_executed_stays),
	        T(a_reply_that_is_being_sent_stays),
	        T(a_caller_has_so_many_entries),
	        T(a_caller_has_half_of_the_memory),
	        T(several_callers_cannot_drive_out_another),
	        T(a_busy_connection_cannot_drive_out_another),
	        T(entries_go_of_the_connection_that_has_most),
	        T(busy_callers_share_the_memory),
	        T(what_is_being_executed_drives_nobody_out),
	        T(what_a_connection_executes_drives_no_other_out),
	        T(replies_age),
	        T(a_reply_too_large_is_not_executed_again),
	        T(calls_beyond_the_memory_are_refused_and_not_executed),
	        T(without_memory_every_call_is_new),
	        T(sizes_are_checked),
	        T(memory_is_bounded_under_hostile_load),
	        T(a_huge_limit_takes_no_memory_by_itself),
	        T(threads_execute_each_call_once),
	        T(threads_share_the_memory),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	shared = true; /* the same rules hold over all shards */
	return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
