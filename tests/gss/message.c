/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of RPCSEC_GSS by two ends of a real context: what one wraps the other
 * unwraps, and nothing else.                                  [RFC 2203 §5.3]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/cursor.h"
#include "gss/message.h"

enum { SEQ = 77 };

static gss_ctx_id_t client, server;

static int set_up(void **state)
{
	gss_buffer_desc text = {13, "nfs@localhost"}, out = GSS_C_EMPTY_BUFFER,
	                in = GSS_C_EMPTY_BUFFER;
	OM_uint32 major, minor;
	gss_name_t name;

	if (gss_import_name(&minor, &text, GSS_C_NT_HOSTBASED_SERVICE, &name))
		return -1;
	do {
		major = gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &client, name,
		                             GSS_C_NO_OID, GSS_C_MUTUAL_FLAG, 0,
		                             GSS_C_NO_CHANNEL_BINDINGS, &in, NULL, &out,
		                             NULL, NULL);
		gss_release_buffer(&minor, &in);
		if (GSS_ERROR(major))
			return -1;
		if (out.length) {
			major = gss_accept_sec_context(&minor, &server,
			                               GSS_C_NO_CREDENTIAL, &out,
			                               GSS_C_NO_CHANNEL_BINDINGS, NULL,
			                               NULL, &in, NULL, NULL, NULL);
			gss_release_buffer(&minor, &out);
			if (GSS_ERROR(major))
				return -1;
		}
	} while (in.length);
	gss_release_name(&minor, &name);
	return 0;
}

static int tear_down(void **state)
{
	OM_uint32 minor;

	gss_delete_sec_context(&minor, &client, GSS_C_NO_BUFFER);
	gss_delete_sec_context(&minor, &server, GSS_C_NO_BUFFER);
	return 0;
}

/* The octets of a body; malloc'ed at their length, so that reading on is found. */
static uint8_t *flat(const struct rr_gss_body *b, size_t *ret_len)
{
	uint8_t *p;
	size_t len = 0;

	for (unsigned i = 0; i < b->n_pieces; i++)
		len += b->pieces[i].len;
	assert_int_equal(len & 3, 0);
	p = malloc(len);
	assert_non_null(p);
	*ret_len = len;
	len = 0;
	for (unsigned i = 0; i < b->n_pieces; i++) {
		memcpy(p + len, b->pieces[i].base, b->pieces[i].len);
		len += b->pieces[i].len;
	}
	return p;
}

/* What the server says: a word, and an item of @len octets. */
static uint8_t *said(uint32_t service, uint32_t seq, size_t len, size_t *ret_len)
{
	uint8_t *item = calloc(1, len + 1), word[4] = {0, 0, 0, 9}, *p;
	struct rr_piece pieces[2] = {{word, 4, false}, {item, len, true}};
	struct rr_gss_body b;

	memset(item, 'x', len);
	assert_int_equal(rr_gss_msg_wrap(server, service, seq, pieces, 2, &b), 0);
	p = flat(&b, ret_len);
	rr_gss_body_fini(&b);
	free(item);
	return p;
}

static int heard(uint32_t service, uint32_t seq, const void *p, size_t len)
{
	struct rr_gss_body b;
	int r = rr_gss_msg_unwrap(client, service, seq, p, len, &b);

	if (!r)
		rr_gss_body_fini(&b);
	return r;
}

static void what_is_wrapped_is_unwrapped(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 3, 4, 1000, 1 << 20};

	for (uint32_t service = RR_GSS_INTEGRITY; service <= RR_GSS_PRIVACY; service++)
		for (size_t i = 0; i < RR_ARRAY_SIZE(sizes); i++) {
			size_t n = sizes[i], whole = 4 + n + rr_pad(n), len;
			uint8_t *p = said(service, SEQ, n, &len);
			struct rr_gss_body b;
			const uint8_t *got;

			assert_true(len <= whole + RR_GSS_PROTECTION_MAX);
			assert_int_equal(
			        rr_gss_msg_unwrap(client, service, SEQ, p, len, &b), 0);
			assert_int_equal(b.n_pieces, 1);
			assert_int_equal(b.pieces[0].len, whole);
			got = b.pieces[0].base;
			assert_int_equal(rr_load_u32(got), 9);
			for (size_t k = 0; k < n + rr_pad(n); k++)
				assert_int_equal(got[4 + k], k < n ? 'x' : 0);
			rr_gss_body_fini(&b);
			free(p);
		}
}

static void private_octets_are_not_seen(void **state)
{
	size_t len;
	uint8_t *p = said(RR_GSS_INTEGRITY, SEQ, 64, &len);

	assert_non_null(memmem(p, len, "xxxxxxxxxxxxxxxx", 16));
	free(p);
	p = said(RR_GSS_PRIVACY, SEQ, 64, &len);
	assert_null(memmem(p, len, "xxxxxxxxxxxxxxxx", 16));
	free(p);
}

static void a_body_cut_off_is_refused(void **state)
{
	for (uint32_t service = RR_GSS_INTEGRITY; service <= RR_GSS_PRIVACY;
	     service++) {
		size_t len;
		uint8_t *p = said(service, SEQ, 40, &len);

		for (size_t n = 0; n < len; n++) {
			uint8_t *less = malloc(n ? n : 1);

			memcpy(less, p, n);
			assert_true(heard(service, SEQ, less, n) < 0);
			free(less);
		}
		free(p);
	}
}

static void a_body_with_more_behind_is_refused(void **state)
{
	for (uint32_t service = RR_GSS_INTEGRITY; service <= RR_GSS_PRIVACY;
	     service++) {
		size_t len;
		uint8_t *p = said(service, SEQ, 40, &len);

		p = realloc(p, len + 4);
		memset(p + len, 0, 4);
		assert_int_equal(heard(service, SEQ, p, len), 0);
		assert_int_equal(heard(service, SEQ, p, len + 4), -EBADMSG);
		free(p);
	}
}

/* Roundup octets apart, which nobody reads. */
static void a_flipped_bit_is_noticed(void **state)
{
	for (uint32_t service = RR_GSS_INTEGRITY; service <= RR_GSS_PRIVACY;
	     service++) {
		size_t len;
		uint8_t *p = said(service, SEQ, 40, &len);

		uint8_t *flipped = malloc(len); /* anew: GSS-API may turn it round */

		for (size_t i = 0; i + 3 < len; i++) {
			memcpy(flipped, p, len);
			flipped[i] ^= 0x10;
			assert_true(heard(service, SEQ, flipped, len) < 0);
		}
		assert_int_equal(heard(service, SEQ, p, len), 0);
		free(flipped);
		free(p);
	}
}

/* RFC 2203 §5.3.3.4.2, §5.3.3.4.3: the reply of another call. */
static void another_sequence_number_is_refused(void **state)
{
	for (uint32_t service = RR_GSS_INTEGRITY; service <= RR_GSS_PRIVACY;
	     service++) {
		size_t len;
		uint8_t *p = said(service, SEQ, 40, &len);

		assert_int_equal(heard(service, SEQ + 1, p, len), -EBADMSG);
		free(p);
	}
}

static void a_huge_length_is_refused(void **state)
{
	static const uint32_t lengths[] = {UINT32_MAX, UINT32_MAX - 3, 1u << 31, 4096};

	for (uint32_t service = RR_GSS_INTEGRITY; service <= RR_GSS_PRIVACY; service++)
		for (size_t i = 0; i < RR_ARRAY_SIZE(lengths); i++) {
			size_t len;
			uint8_t *p = said(service, SEQ, 40, &len);

			rr_store_u32(p, lengths[i]);
			assert_int_equal(heard(service, SEQ, p, len), -EBADMSG);
			free(p);
		}
}

/* A body under the weaker service is none of the stronger. */
static void services_are_not_mixed_up(void **state)
{
	size_t len;
	uint8_t *p = said(RR_GSS_INTEGRITY, SEQ, 40, &len);

	assert_true(heard(RR_GSS_PRIVACY, SEQ, p, len) < 0);
	free(p);
	p = said(RR_GSS_PRIVACY, SEQ, 40, &len);
	assert_true(heard(RR_GSS_INTEGRITY, SEQ, p, len) < 0);
	free(p);
}

/* Wrapped, but for everybody to read. */
static void private_octets_were_encrypted(void **state)
{
	uint8_t plain[12] = {0, 0, 0, SEQ}, body[400];
	gss_buffer_desc text = {12, plain}, out;
	OM_uint32 minor;

	for (int conf = 0; conf < 2; conf++) {
		struct rr_writer w = rr_writer_over(body, sizeof(body));

		assert_int_equal(gss_wrap(&minor, server, conf, 0, &text, NULL, &out),
		                 0);
		rr_put_u32(&w, (uint32_t)out.length);
		rr_put_padded(&w, out.value, out.length);
		gss_release_buffer(&minor, &out);
		assert_int_equal(heard(RR_GSS_PRIVACY, SEQ, body, rr_writer_used(&w)),
		                 conf ? 0 : -EKEYREJECTED);
	}
}

/* Signed, but the number is not all there; what is there of roundup is not signed. */
static void a_body_without_its_number_is_refused(void **state)
{
	for (size_t n = 0; n < 4; n++) {
		uint8_t data[4] = {0, 0, 0, SEQ}, body[400];
		struct rr_writer w = rr_writer_over(body, sizeof(body));
		gss_buffer_desc text = {n, data}, mic;
		OM_uint32 minor;

		assert_int_equal(gss_get_mic(&minor, server, 0, &text, &mic), 0);
		rr_put_u32(&w, (uint32_t)n);
		if (n)
			memcpy(rr_put_space(&w, 4), data, 4);
		rr_put_u32(&w, (uint32_t)mic.length);
		rr_put_padded(&w, mic.value, mic.length);
		gss_release_buffer(&minor, &mic);
		assert_int_equal(heard(RR_GSS_INTEGRITY, SEQ, body, rr_writer_used(&w)),
		                 -EBADMSG);
	}
}

static void what_is_no_xdr_is_not_wrapped(void **state)
{
	static const struct {
		size_t len;
		int err;
	} t[] = {{3, -EINVAL}, {UINT32_MAX - 4096, -EMSGSIZE}, {SIZE_MAX, -EMSGSIZE}};

	for (uint32_t service = RR_GSS_INTEGRITY; service <= RR_GSS_PRIVACY; service++)
		for (size_t i = 0; i < RR_ARRAY_SIZE(t); i++) {
			const struct rr_piece p = {"abc", t[i].len, false};
			struct rr_gss_body b;

			assert_int_equal(
			        rr_gss_msg_wrap(client, service, SEQ, &p, 1, &b),
			        t[i].err);
		}
}

static void a_verifier_is_of_one_number(void **state)
{
	uint8_t word[4] = {0, 0, 0, SEQ}, mic[400];
	int n = rr_gss_msg_sign(server, word, 4, mic, sizeof(mic));

	assert_true(n > 0);
	assert_int_equal(rr_gss_msg_check_number(client, SEQ, mic, (size_t)n), 0);
	assert_int_equal(rr_gss_msg_check_number(client, SEQ + 1, mic, (size_t)n),
	                 -EKEYREJECTED);
	for (size_t len = 0; len < (size_t)n; len++)
		assert_int_equal(rr_gss_msg_check_number(client, SEQ, mic, len),
		                 -EKEYREJECTED);
	mic[n - 1] ^= 1;
	assert_int_equal(rr_gss_msg_check_number(client, SEQ, mic, (size_t)n),
	                 -EKEYREJECTED);
	assert_int_equal(rr_gss_msg_sign(server, word, 4, mic, 3), -EMSGSIZE);
	/* Our own, thrown back. */
	n = rr_gss_msg_sign(client, word, 4, mic, sizeof(mic));
	assert_int_equal(rr_gss_msg_check_number(client, SEQ, mic, (size_t)n),
	                 -EKEYREJECTED);
}

/* [RFC 2203 §5] */
static void a_credential_has_its_fields_in_order(void **state)
{
	static const uint8_t want[28] = {0,  0, 0, 1, 0,   0,   0,   RR_GSS_INIT,
	                                 0,  0, 0, 5, 0,   0,   0,   RR_GSS_PRIVACY,
	                                 0,  0, 0, 5, 'a', 'b', 'c', 'd',
	                                 'e'};
	const struct rr_gss_cred c = {RR_GSS_INIT, 5, RR_GSS_PRIVACY, 5, "abcde"};
	uint8_t body[400];

	assert_int_equal(rr_gss_msg_put_cred(body, sizeof(body), &c), sizeof(want));
	assert_memory_equal(body, want, sizeof(want));
	for (size_t size = 0; size < sizeof(want); size++)
		assert_int_equal(rr_gss_msg_put_cred(body, size, &c), -EMSGSIZE);
}

static void answers_to_a_set_up_are_bounded(void **state)
{
	struct rr_gss_init_res r;
	uint8_t m[512] = {0};
	struct rr_writer w = rr_writer_over(m, sizeof(m));
	size_t len;

	rr_put_u32(&w, 3);
	rr_put_padded(&w, "abc", 3);
	rr_put_u32(&w, 1);
	rr_put_u32(&w, 2);
	rr_put_u32(&w, 128);
	rr_put_u32(&w, 5);
	rr_put_padded(&w, "token", 5);
	len = rr_writer_used(&w);
	assert_int_equal(rr_gss_msg_get_init_res(m, len, &r), 0);
	assert_int_equal(r.handle_len, 3);
	assert_memory_equal(r.handle, "abc", 3);
	assert_true(r.major == 1 && r.minor == 2 && r.window == 128);
	assert_int_equal(r.token_len, 5);
	assert_memory_equal(r.token, "token", 5);
	for (size_t n = 0; n < len; n++)
		assert_int_equal(rr_gss_msg_get_init_res(m, n, &r), -EBADMSG);
	assert_int_equal(rr_gss_msg_get_init_res(m, len + 4, &r), -EBADMSG);
	rr_store_u32(m, UINT32_MAX);
	assert_int_equal(rr_gss_msg_get_init_res(m, len, &r), -EBADMSG);
	/* A handle that no credential can hold. */
	memset(m, 0, sizeof(m));
	rr_store_u32(m, 400);
	assert_int_equal(rr_gss_msg_get_init_res(m, 4 + 400 + 16, &r), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_is_wrapped_is_unwrapped),
	        cmocka_unit_test(private_octets_are_not_seen),
	        cmocka_unit_test(a_body_cut_off_is_refused),
	        cmocka_unit_test(a_body_with_more_behind_is_refused),
	        cmocka_unit_test(a_flipped_bit_is_noticed),
	        cmocka_unit_test(another_sequence_number_is_refused),
	        cmocka_unit_test(a_huge_length_is_refused),
	        cmocka_unit_test(services_are_not_mixed_up),
	        cmocka_unit_test(private_octets_were_encrypted),
	        cmocka_unit_test(a_body_without_its_number_is_refused),
	        cmocka_unit_test(what_is_no_xdr_is_not_wrapped),
	        cmocka_unit_test(a_verifier_is_of_one_number),
	        cmocka_unit_test(a_credential_has_its_fields_in_order),
	        cmocka_unit_test(answers_to_a_set_up_are_bounded),
	};

	return cmocka_run_group_tests_name("gss_message", tests, set_up, tear_down);
}
