/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd answers NLM, at the port where it serves MOUNT over TCP: no locks, at
 * once.  Calls of versions 1 and 3 are what rpcgen makes of the nlm_prot.x that comes
 * with it; those of version 4, and the malformed ones, are laid here from appendix II
 * of RFC 1813.
 */
#define _GNU_SOURCE
#include "test_tcp_calls.h"
#include "nlm_prot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NLM = 100021, MOST = 1024 };
enum { GRANTED, DENIED, DENIED_NOLOCKS }; /* nlm4_stats */

/* What is answered, but for NULL and FREE_ALL, which have no results. */
static const struct {
	uint32_t proc, stat;
	bool share; /* a sequence number ends the results */
} answers[] = {
        {NLM_TEST, DENIED_NOLOCKS, false}, {NLM_LOCK, DENIED_NOLOCKS, false},
        {NLM_CANCEL, DENIED, false},       {NLM_UNLOCK, GRANTED, false},
        {NLM_GRANTED, DENIED, false},      {NLM_SHARE, DENIED_NOLOCKS, true},
        {NLM_UNSHARE, GRANTED, true},      {NLM_NM_LOCK, DENIED_NOLOCKS, false},
};
enum { N_ANSWERS = sizeof(answers) / sizeof(answers[0]) };

static struct nfsd r;
static unsigned port;

static int init(void **state)
{
	(void)state;
	nfsd_init(&r);
	nfsd_start(&r, "--mount-port", "0", NULL);
	port = tcp_port(&r, "127.0.0.1");
	return 0;
}

/* The server lives, and whatever it was told it has lost no memory. */
static int fini(void **state)
{
	(void)state;
	nfsd_stop(&r);
	nfsd_fini(&r);
	return 0;
}

/* ---- Versions 1 and 3, by rpcgen ------------------------------------------------ */

static char cookie[] = "a cookie of 21 octets", name[] = "client", handle[32], owner[7];

static netobj object(void *octets, u_int n)
{
	return (netobj){.n_len = n, .n_bytes = octets};
}

static struct nlm_lock a_lock(void)
{
	return (struct nlm_lock){.caller_name = name,
	                         .fh = object(handle, sizeof(handle)),
	                         .oh = object(owner, sizeof(owner)),
	                         .svid = 4711,
	                         .l_offset = 3,
	                         .l_len = 0xffffffff};
}

static void expect_stat(CLIENT *c, u_long proc, xdrproc_t xargs, void *args,
                        nlm_stats stat)
{
	nlm_res res = {.stat = {.stat = 99}};

	assert_int_equal(tcp_call(c, proc, xargs, args, XDR_OF(nlm_res), &res),
	                 RPC_SUCCESS);
	assert_int_equal(res.stat.stat, stat);
	assert_int_equal(res.cookie.n_len, 21);
	assert_memory_equal(res.cookie.n_bytes, cookie, 21);
	xdr_free(XDR_OF(nlm_res), (char *)&res);
}

static void expect_test(CLIENT *c)
{
	nlm_testargs args = {object(cookie, 21), TRUE, a_lock()};
	nlm_testres res = {.stat = {.stat = nlm_denied}};

	assert_int_equal(tcp_call(c, NLM_TEST, XDR_OF(nlm_testargs), &args,
	                          XDR_OF(nlm_testres), &res),
	                 RPC_SUCCESS);
	assert_int_equal(res.stat.stat, nlm_denied_nolocks);
	assert_memory_equal(res.cookie.n_bytes, cookie, 21);
	xdr_free(XDR_OF(nlm_testres), (char *)&res);
}

static void expect_share(CLIENT *c, u_long proc, nlm_stats stat)
{
	nlm_shareargs args = {object(cookie, 21),
	                      {.caller_name = name,
	                       .fh = object(handle, sizeof(handle)),
	                       .oh = object(owner, sizeof(owner)),
	                       .mode = fsm_DRW,
	                       .access = fsa_RW},
	                      FALSE};
	nlm_shareres res = {.stat = 99, .sequence = 99};

	assert_int_equal(tcp_call(c, proc, XDR_OF(nlm_shareargs), &args,
	                          XDR_OF(nlm_shareres), &res),
	                 RPC_SUCCESS);
	assert_int_equal(res.stat, stat);
	assert_int_equal(res.sequence, 0);
	assert_memory_equal(res.cookie.n_bytes, cookie, 21);
	xdr_free(XDR_OF(nlm_shareres), (char *)&res);
}

static void visit(u_long version)
{
	CLIENT *c = tcp_client(&r, AF_INET, port, NLM, version);
	nlm_lockargs lock = {object(cookie, 21), TRUE, TRUE, a_lock(), FALSE, 1};
	nlm_cancargs cancel = {object(cookie, 21), TRUE, TRUE, a_lock()};
	nlm_unlockargs unlock = {object(cookie, 21), a_lock()};
	nlm_testargs granted = {object(cookie, 21), TRUE, a_lock()};
	nlm_notify notify = {name, 7};

	assert_int_equal(tcp_call(c, 0, NOTHING, NULL, NOTHING, NULL), RPC_SUCCESS);
	expect_test(c);
	expect_stat(c, NLM_LOCK, XDR_OF(nlm_lockargs), &lock, nlm_denied_nolocks);
	expect_stat(c, NLM_CANCEL, XDR_OF(nlm_cancargs), &cancel, nlm_denied);
	expect_stat(c, NLM_UNLOCK, XDR_OF(nlm_unlockargs), &unlock, nlm_granted);
	expect_stat(c, NLM_GRANTED, XDR_OF(nlm_testargs), &granted, nlm_denied);
	if (version == 3) {
		expect_share(c, NLM_SHARE, nlm_denied_nolocks);
		expect_share(c, NLM_UNSHARE, nlm_granted);
		expect_stat(c, NLM_NM_LOCK, XDR_OF(nlm_lockargs), &lock,
		            nlm_denied_nolocks);
		assert_int_equal(tcp_call(c, NLM_FREE_ALL, XDR_OF(nlm_notify), &notify,
		                          NOTHING, NULL),
		                 RPC_SUCCESS);
	}
	tcp_hang_up(c);
}

/* XNFS chapter 10. */
static void versions_1_and_3_say_that_there_are_no_locks(void **state)
{
	(void)state;
	visit(1);
	visit(3);
}

/* ---- Calls laid by hand --------------------------------------------------------- */

struct octets {
	uint8_t at[8192];
	size_t len;
};

static void put(struct octets *o, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		o->at[o->len++] = (uint8_t)(v >> shift);
}

static uint32_t word_at(const struct octets *o, size_t at)
{
	assert_true(at + 4 <= o->len);
	return (uint32_t)o->at[at] << 24 | (uint32_t)o->at[at + 1] << 16 |
	       (uint32_t)o->at[at + 2] << 8 | o->at[at + 3];
}

/* A length, so many octets, and zeros up to the next word. */
static void put_opaque(struct octets *o, size_t n, char octet)
{
	size_t padded = (n + 3) & ~(size_t)3;

	put(o, (uint32_t)n);
	memset(o->at + o->len, 0, padded);
	memset(o->at + o->len, octet, n);
	o->len += padded;
}

struct lengths {
	size_t cookie, name, handle, owner;
};

static const struct lengths usual = {4, 6, 36, 13};
static const struct lengths longest = {MOST, MOST, MOST, MOST};

static void put_names(struct octets *o, const struct lengths *l)
{
	put_opaque(o, l->name, 'n');
	put_opaque(o, l->handle, 'h');
	put_opaque(o, l->owner, 'o');
}

static void put_lock(struct octets *o, uint32_t version, const struct lengths *l)
{
	put_names(o, l);
	put(o, 4711);
	for (int i = 0; i < (version == 4 ? 4 : 2); i++)
		put(o, 0xfffffff0u + (uint32_t)i);
}

/* RFC 1813 appendix II has the differences, XNFS chapter 10 the rest. */
static struct octets arguments(uint32_t version, uint32_t proc, const struct lengths *l)
{
	bool locks = proc == NLM_LOCK || proc == NLM_NM_LOCK;
	bool shares = proc == NLM_SHARE || proc == NLM_UNSHARE;
	struct octets o = {.len = 0};

	if (proc == NLM_FREE_ALL) {
		put_opaque(&o, l->name, 'n');
		put(&o, 7);
		return o;
	}
	put_opaque(&o, l->cookie, 'c');
	if (locks || proc == NLM_CANCEL)
		put(&o, 1); /* block */
	if (!shares && proc != NLM_UNLOCK)
		put(&o, 1); /* exclusive */
	if (shares) {
		put_names(&o, l);
		put(&o, 3);
		put(&o, 2);
	} else {
		put_lock(&o, version, l);
	}
	if (locks || shares)
		put(&o, 0); /* reclaim */
	if (locks)
		put(&o, 9); /* state */
	return o;
}

static void receive(int fd, struct octets *o, size_t n)
{
	assert_true(n <= sizeof(o->at));
	assert_int_equal(recv(fd, o->at, n, MSG_WAITALL), (ssize_t)n);
	o->len = n;
}

/* Sends a record of a header and @n octets of arguments.  The answer's status; its
 * results. */
static uint32_t ask_with(int fd, const struct octets *header, const void *args,
                         size_t n, struct octets *ret)
{
	struct octets call = {.len = 0}, mark;

	put(&call, 1u << 31 | (uint32_t)(header->len + n));
	memcpy(call.at + 4, header->at, header->len);
	memcpy(call.at + 4 + header->len, args, n);
	call.len += header->len + n;
	assert_int_equal(send(fd, call.at, call.len, MSG_NOSIGNAL), (ssize_t)call.len);
	receive(fd, &mark, 4);
	receive(fd, ret, word_at(&mark, 0) & 0x7fffffff);
	assert_int_equal(word_at(ret, 0), word_at(header, 0));
	assert_int_equal(word_at(ret, 4), 1); /* a reply, accepted, no verifier */
	for (size_t at = 8; at < 20; at += 4)
		assert_int_equal(word_at(ret, at), 0);
	ret->len -= 24;
	memmove(ret->at, ret->at + 20, ret->len + 4);
	mark.len = 4;
	memcpy(mark.at, ret->at, 4);
	memmove(ret->at, ret->at + 4, ret->len);
	return word_at(&mark, 0);
}

static uint32_t ask(int fd, uint32_t version, uint32_t proc, const void *args, size_t n,
                    struct octets *ret)
{
	static uint32_t xid;
	struct octets header = {.len = 0};
	const uint32_t words[] = {++xid, 0, 2, NLM, version, proc, 0, 0, 0, 0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		put(&header, words[i]);
	return ask_with(fd, &header, args, n, ret);
}

/* The cookie again, the status, and for SHARE a sequence number. */
static void expect_answer(const struct octets *results, unsigned i, size_t cookie_len)
{
	struct octets wanted = {.len = 0};

	put_opaque(&wanted, cookie_len, 'c');
	put(&wanted, answers[i].stat);
	if (answers[i].share)
		put(&wanted, 0);
	assert_int_equal(results->len, wanted.len);
	assert_memory_equal(results->at, wanted.at, wanted.len);
}

static void version_4_says_that_there_are_no_locks(void **state)
{
	static const size_t cookies[] = {0, 1, 4, 16, MOST};
	struct octets args, results;
	int fd = tcp_dial(AF_INET, port);

	(void)state;
	assert_int_equal(ask(fd, 4, 0, "", 0, &results), RPCRDMA_OK);
	assert_int_equal(results.len, 0);
	for (unsigned i = 0; i < N_ANSWERS; i++) {
		for (size_t k = 0; k < sizeof(cookies) / sizeof(cookies[0]); k++) {
			struct lengths l = usual;

			l.cookie = cookies[k];
			args = arguments(4, answers[i].proc, &l);
			assert_int_equal(ask(fd, 4, answers[i].proc, args.at, args.len,
			                     &results),
			                 RPCRDMA_OK);
			expect_answer(&results, i, l.cookie);
		}
	}
	args = arguments(4, NLM_FREE_ALL, &usual);
	assert_int_equal(ask(fd, 4, NLM_FREE_ALL, args.at, args.len, &results),
	                 RPCRDMA_OK);
	assert_int_equal(results.len, 0);
	close(fd);
}

/* The longest call that there can be: all names and both authenticators are full. */
static void the_longest_call_is_answered(void **state)
{
	const struct octets args = arguments(4, NLM_LOCK, &longest);
	const uint32_t words[] = {77, 0, 2, NLM, 4, NLM_LOCK};
	struct octets header = {.len = 0}, results;
	int fd = tcp_dial(AF_INET, port);

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		put(&header, words[i]);
	for (uint32_t flavor = 1; flavor <= 2; flavor++) {
		put(&header, flavor);
		put_opaque(&header, 400, 'a');
	}
	assert_int_equal(ask_with(fd, &header, args.at, args.len, &results),
	                 RPCRDMA_OK);
	expect_answer(&results, 1, MOST);
	close(fd);
}

/* ---- What is not there ----------------------------------------------------------- */

/* RFC 5531 §9.  The asynchronous procedures are among them. */
static void other_procedures_are_not_there(void **state)
{
	static const uint32_t versions[] = {1, 3, 4};
	struct octets results;
	int fd = tcp_dial(AF_INET, port);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		for (uint32_t proc = 6; proc < 20; proc++)
			assert_int_equal(ask(fd, versions[i], proc, "", 0, &results),
			                 RPCRDMA_PROC_UNAVAIL);
		for (uint32_t proc = 24; proc; proc <<= 1)
			assert_int_equal(ask(fd, versions[i], proc, "", 0, &results),
			                 RPCRDMA_PROC_UNAVAIL);
	}
	for (uint32_t proc = 20; proc < 24; proc++)
		assert_int_equal(ask(fd, 1, proc, "", 0, &results),
		                 RPCRDMA_PROC_UNAVAIL);
	close(fd);
}

static void other_versions_are_not_there(void **state)
{
	static const u_long versions[] = {0, 2, 5, 0xffffffff};

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		tcp_refused(&r, port, NLM, versions[i], 0, RPC_PROGVERSMISMATCH, 1, 4);
}

/* ---- Arguments that are none --------------------------------------------- */

static void expect_garbage(int fd, uint32_t version, uint32_t proc, const void *args,
                           size_t n)
{
	struct octets results;
	uint32_t got = ask(fd, version, proc, args, n, &results);

	if (got != RPCRDMA_GARBAGE_ARGS)
		fail_msg("version %u procedure %u with %zu octets: %u",
		         (unsigned)version, (unsigned)proc, n, (unsigned)got);
	assert_int_equal(results.len, 0);
}

/* Whatever ends too early, or too late. */
static void cut_short(int fd, uint32_t version, uint32_t proc)
{
	struct octets args = arguments(version, proc, &usual);

	for (size_t n = 0; n < args.len; n++)
		expect_garbage(fd, version, proc, args.at, n);
	put(&args, 0);
	expect_garbage(fd, version, proc, args.at, args.len);
}

static void arguments_of_another_length_are_garbage(void **state)
{
	int fd = tcp_dial(AF_INET, port);

	(void)state;
	for (unsigned i = 0; i < N_ANSWERS; i++) {
		cut_short(fd, 3, answers[i].proc);
		cut_short(fd, 4, answers[i].proc);
	}
	cut_short(fd, 3, NLM_FREE_ALL);
	cut_short(fd, 4, NLM_FREE_ALL);
	expect_garbage(fd, 4, 0, "\0\0\0", 4);
	close(fd);
}

/* One octet more than LM_MAXSTRLEN or MAX_NETOBJ_SZ, and it is there. */
static void names_beyond_the_limit_are_garbage(void **state)
{
	int fd = tcp_dial(AF_INET, port);

	(void)state;
	for (unsigned i = 0; i < N_ANSWERS; i++) {
		for (int k = 0; k < 4; k++) {
			struct lengths l = usual;
			struct octets args;

			*(size_t *[]){&l.cookie, &l.name, &l.handle, &l.owner}[k] =
			        MOST + 1;
			args = arguments(4, answers[i].proc, &l);
			expect_garbage(fd, 4, answers[i].proc, args.at, args.len);
		}
	}
	close(fd);
}

/* Lengths that lie: larger than what follows, than the limit, than half of the words'
 * range, and near its end, where adding the padding wraps. */
static void lengths_that_lie_are_garbage(void **state)
{
	static const uint32_t lies[] = {200,        1024,       0x7fffffff,
	                                0x80000000, 0xfffffffc, 0xffffffff};
	/* of the cookie; block, exclusive; then of name, handle and owner */
	static const size_t at[] = {0, 16, 28, 68};
	int fd = tcp_dial(AF_INET, port);

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		for (size_t k = 0; k < sizeof(lies) / sizeof(lies[0]); k++) {
			struct octets args = arguments(4, NLM_LOCK, &usual), lie = {0};

			assert_in_range(word_at(&args, at[i]), 4, 36);
			put(&lie, lies[k]);
			memcpy(args.at + at[i], lie.at, 4);
			expect_garbage(fd, 4, NLM_LOCK, args.at, args.len);
		}
	}
	close(fd);
}

/* ---- Its books ----------------------------------------------------------- */

static void calls_are_counted(void **state)
{
	char path[96], json[4096] = "";
	struct octets args = arguments(4, NLM_LOCK, &usual), results;
	FILE *f;
	int fd;

	(void)state;
	nfsd_stop(&r);
	snprintf(path, sizeof(path), "%s/stats", r.dir);
	nfsd_start(&r, "--mount-port", "0", "--stats-on-exit", path, NULL);
	fd = tcp_dial(AF_INET, tcp_port(&r, "127.0.0.1"));
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask(fd, 4, NLM_LOCK, args.at, args.len, &results),
		                 RPCRDMA_OK);
	expect_garbage(fd, 4, NLM_LOCK, "", 0);
	close(fd);
	nfsd_stop(&r);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(json, 1, sizeof(json) - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(json, "\"mount_tcp\":{\"calls\":4,\"errors\":1,"
	                             "\"connections\":1,\"connections_dropped\":0},"
	                             "\"nlm_tcp\":{\"calls\":4}"));
	nfsd_start(&r, NULL); /* for the end */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(versions_1_and_3_say_that_there_are_no_locks),
	        cmocka_unit_test(version_4_says_that_there_are_no_locks),
	        cmocka_unit_test(the_longest_call_is_answered),
	        cmocka_unit_test(other_procedures_are_not_there),
	        cmocka_unit_test(other_versions_are_not_there),
	        cmocka_unit_test(arguments_of_another_length_are_garbage),
	        cmocka_unit_test(names_beyond_the_limit_are_garbage),
	        cmocka_unit_test(lengths_that_lie_are_garbage),
	        cmocka_unit_test(calls_are_counted),
	};

	return cmocka_run_group_tests(tests, init, fini);
}
