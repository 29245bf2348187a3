/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a server's contexts refuse, and by which words: headers and arguments that were
 * changed, credentials that say wrong, handles that are not known.  With tickets of a
 * real KDC (with_kdc.sh).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig.h"

/* -- tampering --------------------------------------------------------------------- */

/* Each octet of the header counts: of the credential and verifier, and the words. */
static void a_header_that_was_changed_is_refused(void **state)
{
	struct rr_gss *g = table(NULL);
	struct saying s = data(RR_GSS_NONE, 1);
	struct rr_gss_request r;
	struct rr_gss_call k;
	struct said m;
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	peer_say(&p, &s, 77, PROGRAM, VERSION, 5, "", 0, &m);
	for (unsigned i = 0; i < 4; i++) {
		k = call_of(&m, 77 ^ (i == 0), 5 ^ (i == 1));
		k.program ^= i == 2;
		k.version ^= i == 3;
		rr_gss_accept(g, &k, &r);
		assert_denied(&r, k.xid, CREDPROBLEM);
		rr_gss_release(&r);
	}
	for (uint32_t i = 0; i < m.verf.len; i++) {
		m.verf_body[i] ^= 0x10;
		k = call_of(&m, 77, 5);
		rr_gss_accept(g, &k, &r);
		assert_denied(&r, 77, CREDPROBLEM);
		rr_gss_release(&r);
		m.verf_body[i] ^= 0x10;
	}
	for (uint32_t i = 0; i < m.cred.len; i++) {
		m.cred_body[i] ^= 0x10;
		k = call_of(&m, 77, 5);
		assert_int_equal(rr_gss_accept(g, &k, &r), RR_GSS_ANSWER);
		assert_true(r.auth_stat == CREDPROBLEM || r.auth_stat == BADCRED);
		rr_gss_release(&r);
		m.cred_body[i] ^= 0x10;
	}
	for (uint32_t i = 0; i < m.verf.len; i++) { /* shorter ones */
		k = call_of(&m, 77, 5);
		k.verf.len = i;
		rr_gss_accept(g, &k, &r);
		assert_denied(&r, 77, CREDPROBLEM);
		rr_gss_release(&r);
	}
	k = call_of(&m, 77, 5);
	k.verf = (struct rpcrdma_auth){0, NULL, 0};
	rr_gss_accept(g, &k, &r);
	assert_denied(&r, 77, BADVERF);
	rr_gss_release(&r);
	assert_int_equal(tell(g, &m, 77, 5, &r), RR_GSS_PROCEED); /* it was good */
	rr_gss_release(&r);
	said_free(&m);
	peer_end(&p);
	rr_gss_free(g);
}

static void assert_garbage(struct rr_gss_request *r, struct peer *p, uint32_t seq)
{
	struct rpcrdma_auth verf;
	struct rr_cursor c;

	assert_int_equal(r->verdict, RR_GSS_ANSWER);
	assert_int_equal(accept_stat(r, &verf, &c), GARBAGE);
	assert_true(peer_verifies(p, &verf, seq));
	assert_null(r->context);
	rr_gss_release(r);
}

/* [RFC 2203 §5.3.3.4.2, §5.3.3.4.3] */
static void arguments_that_were_changed_are_garbage(void **state)
{
	struct rr_gss *g = table(NULL);
	struct rr_gss_request r;
	struct said m;
	struct peer p;
	struct saying s;

	assert_int_equal(establish(g, &p), 0);
	for (uint32_t v = RR_GSS_INTEGRITY; v <= RR_GSS_PRIVACY; v++) {
		size_t len;

		s = data(v, ++p.seq);
		peer_say(&p, &s, 77, PROGRAM, VERSION, 5, big, 40, &m);
		len = m.args_len;
		said_free(&m);
		/* One octet wrong; then all there is of a shorter one. */
		for (size_t i = 0; i < 2 * len; i++) {
			s = data(v, ++p.seq);
			peer_say(&p, &s, 77, PROGRAM, VERSION, 5, big, 40, &m);
			if (i < len)
				m.args[i] ^= 0x80;
			else
				m.args_len = i - len;
			tell(g, &m, 77, 5, &r);
			assert_garbage(&r, &p, s.seq);
			said_free(&m);
		}
	}
	assert_works(g, &p);
	peer_end(&p);
	rr_gss_free(g);
}

/* A body of another request, and one that was not protected at all. */
static void arguments_of_another_request_are_garbage(void **state)
{
	struct rr_gss *g = table(NULL);
	struct rr_gss_request r;
	struct said m, other;
	struct peer p;
	struct saying s;

	assert_int_equal(establish(g, &p), 0);
	for (uint32_t v = RR_GSS_INTEGRITY; v <= RR_GSS_PRIVACY; v++) {
		uint8_t *args;

		s = data(v, ++p.seq);
		peer_say(&p, &s, 77, PROGRAM, VERSION, 5, "abcd", 4, &other);
		s = data(v, ++p.seq);
		peer_say(&p, &s, 77, PROGRAM, VERSION, 5, "abcd", 4, &m);
		args = m.args;
		m.args = other.args;
		tell(g, &m, 77, 5, &r);
		assert_garbage(&r, &p, s.seq);
		m.args = args;
		said_free(&m);
		said_free(&other);
		s = data(RR_GSS_NONE, ++p.seq);
		s.service = v;
		peer_credential(&p, &s, &m);
		s.service = RR_GSS_NONE;
		peer_say(&p, &(struct saying){1, 0, v, p.seq}, 77, PROGRAM, VERSION, 5,
		         "abcd", 4, &other);
		m.verf = other.verf;
		m.args = other.args;
		m.args_len = 4; /* plain octets, too short to be anything */
		tell(g, &m, 77, 5, &r);
		assert_garbage(&r, &p, p.seq);
		said_free(&other);
	}
	peer_end(&p);
	rr_gss_free(g);
}

/* A body of @len octets of @octets' under the header of a request. */
static void assert_body_is_garbage(struct rr_gss *g, struct peer *p, uint32_t service_,
                                   uint32_t seq, const void *octets, size_t len)
{
	struct saying s = data(service_, seq);
	struct rr_gss_request r;
	struct said m;

	peer_say(p, &s, 77, PROGRAM, VERSION, 5, "abcd", 4, &m);
	free(m.args);
	m.args = malloc(len);
	assert_non_null(m.args);
	memcpy(m.args, octets, len);
	m.args_len = len;
	tell(g, &m, 77, 5, &r);
	assert_garbage(&r, p, seq);
	said_free(&m);
}

/* Signed and wrapped as it should be, but for one thing. */
static void arguments_that_are_not_all_of_it_are_garbage(void **state)
{
	uint8_t body[12] = {0}, octets[400];
	gss_buffer_desc text = {12, body}, out;
	struct rr_gss *g = table(NULL);
	OM_uint32 minor;
	struct peer p;
	int sealed;

	assert_int_equal(establish(g, &p), 0);
	for (uint32_t v = RR_GSS_INTEGRITY; v <= RR_GSS_PRIVACY; v++) {
		/* A word more behind it; lengths that XDR does not have; none; and
		 * what was not encrypted. */
		static const size_t lengths[] = {12, 11, 9, 5, 3};

		for (unsigned i = 0; i <= RR_ARRAY_SIZE(lengths); i++) {
			struct rr_writer w = rr_writer_over(octets, sizeof(octets));
			bool plain = i == RR_ARRAY_SIZE(lengths);

			if (plain && v == RR_GSS_INTEGRITY)
				break;
			text.length = plain ? 12 : lengths[i];
			rr_store_u32(body, ++p.seq);
			if (v == RR_GSS_INTEGRITY) {
				assert_int_equal(
				        gss_get_mic(&minor, p.id, 0, &text, &out), 0);
				rr_put_u32(&w, (uint32_t)text.length);
				rr_put_padded(&w, body, text.length);
			} else {
				assert_int_equal(gss_wrap(&minor, p.id, !plain, 0,
				                          &text, &sealed, &out),
				                 0);
				assert_int_equal(sealed, !plain);
			}
			rr_put_u32(&w, (uint32_t)out.length);
			rr_put_padded(&w, out.value, out.length);
			gss_release_buffer(&minor, &out);
			if (!i)
				rr_put_u32(&w, 0);
			assert_false(rr_writer_bad(&w));
			assert_body_is_garbage(g, &p, v, p.seq, octets,
			                       rr_writer_used(&w));
		}
	}
	assert_works(g, &p);
	peer_end(&p);
	rr_gss_free(g);
}

static void reduced_items_are_never_protected(void **state)
{
	struct rr_gss *g = table(NULL);
	struct rpcrdma_piece piece = {.item = true};
	struct rr_gss_request r;
	struct rr_gss_call k;
	struct said m;
	struct peer p;
	struct saying s;

	assert_int_equal(establish(g, &p), 0);
	s = data(RR_GSS_INTEGRITY, ++p.seq);
	peer_say(&p, &s, 77, PROGRAM, VERSION, 5, "abcd", 4, &m);
	k = call_of(&m, 77, 5);
	piece.base = m.args;
	piece.len = m.args_len;
	k.args = &piece;
	k.n_args = 1;
	rr_gss_accept(g, &k, &r);
	assert_garbage(&r, &p, s.seq);
	said_free(&m);
	peer_end(&p);
	rr_gss_free(g);
}

static void a_token_is_no_item(void **state)
{
	struct rr_gss *g = table(NULL);
	struct rpcrdma_piece piece = {.item = true};
	struct rpcrdma_auth verf;
	struct rr_gss_request r;
	struct rr_gss_call k;
	struct rr_cursor c;
	struct said m;
	struct peer p;

	peer_begin(&p, service);
	say_init(&p, &init, &m);
	k = call_of(&m, 1, 0);
	piece.base = m.args;
	piece.len = m.args_len;
	k.args = &piece;
	k.n_args = 1;
	rr_gss_accept(g, &k, &r);
	assert_int_equal(accept_stat(&r, &verf, &c), GARBAGE);
	rr_gss_release(&r);
	said_free(&m);
	peer_end(&p);
	rr_gss_free(g);
}

/* -- who must not ------------------------------------------------------------------ */

/* [RFC 2203 §5.3.3.3] */
static void credentials_that_say_wrong_are_told(void **state)
{
	static const struct {
		struct saying s;
		uint32_t procedure, why;
	} rows[] = {
	        {{0, RR_GSS_DATA, 1, 1}, 5, BADCRED},
	        {{2, RR_GSS_DATA, 1, 1}, 5, BADCRED},
	        {{1, RR_GSS_DATA, 0, 1}, 5, BADCRED},
	        {{1, RR_GSS_DATA, 4, 1}, 5, BADCRED},
	        {{1, 4, 1, 1}, 5, BADCRED},
	        {{1, 0xffffffff, 1, 1}, 5, BADCRED},
	        {{1, RR_GSS_DESTROY, 1, 1}, 5, BADCRED},
	        {{2, RR_GSS_INIT, 1, 1}, 0, REJECTED},
	        {{1, RR_GSS_INIT, 1, 1}, 5, REJECTED},
	        {{1, RR_GSS_INIT, 1, 1}, 0, REJECTED}, /* with a handle */
	        {{1, RR_GSS_CONTINUE_INIT, 1, 1}, 0, REJECTED},
	};
	struct rr_gss *g = table(NULL);
	struct rr_gss_request r;
	struct said m;
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		peer_say(&p, &rows[i].s, 77, PROGRAM, VERSION, rows[i].procedure,
		         "abcd", 4, &m);
		tell(g, &m, 77, rows[i].procedure, &r);
		assert_denied(&r, 77, rows[i].why);
		rr_gss_release(&r);
		said_free(&m);
	}
	/* Too short, too long. */
	peer_say(&p, &(struct saying){1, 0, 1, 1}, 77, PROGRAM, VERSION, 5, "", 0, &m);
	for (uint32_t len = 0; len <= m.cred.len + 4; len++) {
		struct rr_gss_call k = call_of(&m, 77, 5);

		if (len == m.cred.len)
			continue;
		k.cred.len = len;
		rr_gss_accept(g, &k, &r);
		assert_denied(&r, 77, BADCRED);
		rr_gss_release(&r);
	}
	said_free(&m);
	peer_end(&p);
	rr_gss_free(g);
}

static void unknown_handles_are_told(void **state)
{
	struct rr_gss *g = table(NULL), *other = table(NULL);
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	assert_gone(other, &p, CREDPROBLEM);
	p.handle[15] ^= 1;
	assert_gone(g, &p, CREDPROBLEM);
	p.handle[15] ^= 1;
	p.handle_len = 15;
	assert_gone(g, &p, CREDPROBLEM);
	p.handle_len = 0;
	assert_gone(g, &p, CREDPROBLEM);
	p.handle_len = 16;
	assert_works(g, &p);
	peer_end(&p);
	rr_gss_free(g);
	rr_gss_free(other);
}

/* One's handle under another's signature. */
static void a_stolen_handle_is_of_no_use(void **state)
{
	struct rr_gss *g = table(NULL);
	struct peer a, b;

	assert_int_equal(establish(g, &a), 0);
	assert_int_equal(establish(g, &b), 0);
	memcpy(b.handle, a.handle, 16);
	assert_gone(g, &b, CREDPROBLEM);
	assert_works(g, &a);
	peer_end(&a);
	peer_end(&b);
	rr_gss_free(g);
}

/* [RFC 2203 §5.4] */
static void a_context_is_destroyed_by_whom_it_is_for(void **state)
{
	struct saying s = {
	        .version = 1, .proc = RR_GSS_DESTROY, .service = 1, .seq = 9};
	struct rr_gss *g = table(NULL);
	struct rpcrdma_auth verf;
	struct rr_gss_request r, open;
	struct rr_cursor c;
	struct said m;
	struct peer p;

	assert_int_equal(establish(g, &p), 0);
	peer_say(&p, &s, 78, PROGRAM, VERSION, 0, "", 0, &m);
	m.verf_body[8] ^= 1;
	tell(g, &m, 78, 0, &r);
	assert_denied(&r, 78, CREDPROBLEM);
	rr_gss_release(&r);
	m.verf_body[8] ^= 1;
	assert_int_equal(ask(g, &p, RR_GSS_PRIVACY, "abcd", 4, &open), RR_GSS_PROCEED);
	tell(g, &m, 78, 0, &r);
	assert_int_equal(accept_stat(&r, &verf, &c), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_true(peer_verifies(&p, &verf, 9));
	rr_gss_release(&r);
	assert_gone(g, &p, CREDPROBLEM);
	results_come_back(&p, &open, 1000); /* what was out is answered */
	rr_gss_release(&open);
	said_free(&m);
	peer_end(&p);
	rr_gss_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_header_that_was_changed_is_refused),
	        cmocka_unit_test(arguments_that_were_changed_are_garbage),
	        cmocka_unit_test(arguments_of_another_request_are_garbage),
	        cmocka_unit_test(arguments_that_are_not_all_of_it_are_garbage),
	        cmocka_unit_test(reduced_items_are_never_protected),
	        cmocka_unit_test(a_token_is_no_item),
	        cmocka_unit_test(credentials_that_say_wrong_are_told),
	        cmocka_unit_test(unknown_handles_are_told),
	        cmocka_unit_test(a_stolen_handle_is_of_no_use),
	        cmocka_unit_test(a_context_is_destroyed_by_whom_it_is_for),
	};

	rig_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
