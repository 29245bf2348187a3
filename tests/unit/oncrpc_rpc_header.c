/* SPDX-License-Identifier: BSD-3-Clause */
/* RPC headers against octets written by hand from RFC 5531. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "oncrpc/rpc_header.h"

/* xid 0x11223344, NFS v3 READ, AUTH_SYS of 4 octets, AUTH_NONE verifier */
static const uint8_t call_bytes[] = {
        0x11, 0x22, 0x33, 0x44, 0,    0,    0, 0, 0, 0, 0, 2, 0, 1, 0x86,
        0xa3, 0,    0,    0,    3,    0,    0, 0, 6, 0, 0, 0, 1, 0, 0,
        0,    4,    0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0, 0, 0, 0, 0,
};

static void call_header_reads_and_writes_the_rfc_octets(void **state)
{
	struct rr_rpc_call c;
	uint8_t out[sizeof(call_bytes)];

	assert_int_equal(rr_rpc_get_call(call_bytes, sizeof(call_bytes), &c), 44);
	assert_int_equal(c.xid, 0x11223344);
	assert_int_equal(c.program, 100003);
	assert_int_equal(c.version, 3);
	assert_int_equal(c.procedure, 6);
	assert_int_equal(c.cred.flavor, 1);
	assert_int_equal(c.cred.len, 4);
	assert_memory_equal(c.cred.body, "\xde\xad\xbe\xef", 4);
	assert_int_equal(rr_rpc_put_call(out, sizeof(out), &c), 44);
	assert_memory_equal(out, call_bytes, sizeof(out));
	assert_int_equal(rr_rpc_put_call(out, sizeof(out) - 1, &c), -EMSGSIZE);
}

static void every_proper_prefix_of_a_call_is_refused(void **state)
{
	struct rr_rpc_call c = {.xid = 7};

	for (size_t n = 0; n < sizeof(call_bytes); n++) {
		assert_int_equal(rr_rpc_get_call(call_bytes, n, &c), -EBADMSG);
		assert_int_equal(c.xid, 7);
	}
}

static void credential_longer_than_400_octets_is_refused(void **state)
{
	uint8_t m[24 + 8 + 404 + 8] = {0};
	struct rr_rpc_call c;

	memcpy(m, call_bytes, 28);
	m[30] = 401 >> 8;
	m[31] = 401 & 0xff;
	assert_int_equal(rr_rpc_get_call(m, sizeof(m), &c), -EBADMSG);
	m[30] = 400 >> 8;
	m[31] = 400 & 0xff;
	assert_int_equal(rr_rpc_get_call(m, sizeof(m), &c), 24 + 8 + 400 + 8);
}

static void other_rpc_versions_are_told_apart(void **state)
{
	uint8_t m[sizeof(call_bytes)];
	struct rr_rpc_call c;

	memcpy(m, call_bytes, sizeof(m));
	m[11] = 3;
	assert_int_equal(rr_rpc_get_call(m, 12, &c), 12);
	assert_int_equal(c.rpcvers, 3);
}

struct reply_row {
	const char *name;
	uint8_t bytes[36];
	size_t len;
	struct rr_rpc_reply want;
};

static const struct reply_row replies[] = {
        {"success",
         {0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
         24,
         {.xid = 9}},
        {"program mismatch",
         {0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
          0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4},
         32,
         {.xid = 9, .status = RPCRDMA_PROG_MISMATCH, .low = 3, .high = 4}},
        {"garbage args",
         {0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4},
         24,
         {.xid = 9, .status = RPCRDMA_GARBAGE_ARGS}},
        {"auth error",
         {0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5},
         20,
         {.xid = 9, .status = RPCRDMA_AUTH_ERROR, .auth_stat = 5}},
        {"rpc mismatch",
         {0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2},
         24,
         {.xid = 9, .status = RPCRDMA_RPC_MISMATCH, .low = 2, .high = 2}},
};

static void replies_read_and_write_the_rfc_octets(void **state)
{
	for (size_t i = 0; i < RR_ARRAY_SIZE(replies); i++) {
		const struct reply_row *r = &replies[i];
		struct rr_rpc_reply got;
		uint8_t out[40];

		for (size_t n = 0; n < r->len; n++)
			assert_int_equal(rr_rpc_get_reply(r->bytes, n, &got), -EBADMSG);
		assert_int_equal(rr_rpc_get_reply(r->bytes, r->len, &got), (int)r->len);
		assert_int_equal(got.xid, r->want.xid);
		assert_int_equal(got.status, r->want.status);
		assert_int_equal(got.auth_stat, r->want.auth_stat);
		assert_int_equal(got.low, r->want.low);
		assert_int_equal(got.high, r->want.high);
		assert_int_equal(rr_rpc_put_reply(out, sizeof(out), &r->want),
		                 (int)r->len);
		assert_memory_equal(out, r->bytes, r->len);
	}
}

static void unknown_stats_are_refused(void **state)
{
	uint8_t m[24] = {0, 0, 0, 9, 0, 0, 0, 1};
	struct rr_rpc_reply r;

	m[23] = 6; /* accept_stat beyond SYSTEM_ERR */
	assert_int_equal(rr_rpc_get_reply(m, sizeof(m), &r), -EBADMSG);
	m[23] = 0;
	m[11] = 2; /* reply_stat */
	assert_int_equal(rr_rpc_get_reply(m, sizeof(m), &r), -EBADMSG);
	m[11] = 1;
	m[15] = 2; /* reject_stat */
	assert_int_equal(rr_rpc_get_reply(m, sizeof(m), &r), -EBADMSG);
}

static void auth_sys_bodies_round_trip_and_are_bounded(void **state)
{
	uint32_t gids[17] = {4, 24, 27};
	uint8_t body[400];
	struct rpcrdma_auth a = {.flavor = RPCRDMA_AUTH_SYS, .body = body};
	struct rpcrdma_auth_sys s;
	int n = rpcrdma_auth_sys_encode(body, sizeof(body), 5, "host1", 1000, 100, gids,
	                                3);

	assert_int_equal(n, 4 + 4 + 8 + 4 + 4 + 4 + 12);
	assert_memory_equal(body + 4, "\0\0\0\5host1\0\0\0\0\0\3\xe8", 16);
	a.len = (uint32_t)n;
	assert_int_equal(rpcrdma_auth_sys_decode(&a, &s), 0);
	assert_int_equal(s.uid, 1000);
	assert_int_equal(s.gid, 100);
	assert_int_equal(s.n_gids, 3);
	assert_int_equal(s.gids[2], 27);
	assert_string_equal(s.machine, "host1");
	for (uint32_t cut = 0; cut < (uint32_t)n; cut++) {
		a.len = cut;
		assert_int_equal(rpcrdma_auth_sys_decode(&a, &s), -EBADMSG);
	}
	assert_int_equal(
	        rpcrdma_auth_sys_encode(body, sizeof(body), 0, "h", 0, 0, gids, 17),
	        -EINVAL);
	a.len = (uint32_t)n;
	body[4] = 0x40; /* machine name of 2^30 octets */
	assert_int_equal(rpcrdma_auth_sys_decode(&a, &s), -EBADMSG);
}

/* V2-11.2.2-02, V2-11.2.2.3-01: words are version, procedure, number, service. */
static void gss_credentials_tell_what_may_be_reduced(void **state)
{
	static const struct {
		uint32_t flavor, proc, service, len;
		bool unreducible;
	} t[] = {
	        {0, 0, 3, 24, false}, {1, 0, 3, 24, false}, {6, 0, 1, 24, false},
	        {6, 0, 2, 24, true},  {6, 0, 3, 24, true},  {6, 1, 1, 24, true},
	        {6, 2, 1, 24, true},  {6, 3, 1, 24, true},  {6, 0, 1, 16, false},
	        {6, 0, 1, 15, true},  {6, 0, 0, 24, true},  {6, 0, 1, 0, true},
	};
	uint8_t body[24] = {0, 0, 0, 1};

	for (size_t i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rpcrdma_auth a = {t[i].flavor, body, t[i].len};

		body[7] = (uint8_t)t[i].proc;
		body[15] = (uint8_t)t[i].service;
		assert_int_equal(rr_rpc_unreducible(&a), t[i].unreducible);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(call_header_reads_and_writes_the_rfc_octets),
	        cmocka_unit_test(every_proper_prefix_of_a_call_is_refused),
	        cmocka_unit_test(credential_longer_than_400_octets_is_refused),
	        cmocka_unit_test(other_rpc_versions_are_told_apart),
	        cmocka_unit_test(replies_read_and_write_the_rfc_octets),
	        cmocka_unit_test(unknown_stats_are_refused),
	        cmocka_unit_test(auth_sys_bodies_round_trip_and_are_bounded),
	        cmocka_unit_test(gss_credentials_tell_what_may_be_reduced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
