/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Certificates: whom one names and what it is for, in which form the other end
 * learns of it, chains.                          [V2-11.1.1-03, RFC 9289 §5.2.1]
 */
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "test_hostauth.h"

/* -- whom the client asked for --------------------------------------------- */

static const struct {
	struct cert_want cert;
	const char *name;
	bool good;
} names[] = {
        {{.san = "DNS:a.example"}, "a.example", true},
        {{.san = "DNS:a.example"}, "A.Example", true},
        {{.san = "DNS:a.example"}, "b.example", false},
        {{.san = "DNS:a.example"}, "x.a.example", false},
        {{.san = "DNS:b.example,DNS:a.example"}, "a.example", true},
        {{.san = "IP:127.0.0.1"}, "127.0.0.1", true},
        {{.san = "IP:127.0.0.1"}, "127.0.0.2", false},
        {{.san = "IP:::1"}, "::1", true},
        {{.san = "IP:::1"}, "0:0:0:0:0:0:0:1", true},
        {{.san = "IP:::1"}, "::2", false},
        /* an address is an address, a name is a name */
        {{.san = "DNS:127.0.0.1"}, "127.0.0.1", false},
        {{.san = "IP:127.0.0.1"}, "localhost", false},
        /* the common name is for people, and no name stands for many */
        {{.cn = "a.example"}, "a.example", false},
        {{.cn = "a.example", .san = "DNS:b.example"}, "a.example", false},
        {{.cn = "a.example", .san = "IP:127.0.0.1"}, "a.example", false},
        {{.san = "DNS:*.hosts.example"}, "a.hosts.example", false},
        {{.san = "DNS:a*.hosts.example"}, "a1.hosts.example", false},
};

static void the_server_must_have_the_name(void **state)
{
	for (size_t i = 0; i < RR_ARRAY_SIZE(names); i++) {
		struct cert_want want = names[i].cert;
		struct dialogue t = dialogue_usual();

		want.file = "named";
		cert_leaf(&certs, &want);
		t.end[SERVER].cert = "named";
		t.end[CLIENT].name = names[i].name;
		dialogue_begin(&t);
		if ((dialogue_run(&t) == 1) != names[i].good)
			fail_msg("row %zu: %s", i, rr_hostauth_reason(t.end[CLIENT].h));
		if (!names[i].good)
			assert_non_null(strstr(rr_hostauth_reason(t.end[CLIENT].h),
			                       "mismatch"));
		dialogue_end(&t);
	}
}

/* -- what it is for --------------------------------------------------------------- */

static void a_certificate_for_the_other_role_is_refused(void **state)
{
	for (unsigned who = CLIENT; who <= SERVER; who++) {
		for (unsigned right = 0; right < 2; right++) {
			bool for_server = (who == SERVER) == right;
			struct dialogue t = dialogue_usual();

			cert_leaf(&certs, &(struct cert_want){
			                          .file = "role",
			                          .san = "IP:127.0.0.1",
			                          .eku = for_server ? "serverAuth"
			                                            : "clientAuth"});
			t.end[who].cert = "role";
			dialogue_begin(&t);
			assert_int_equal(dialogue_run(&t), right ? 1 : -1);
			if (!right)
				assert_non_null(
				        strstr(rr_hostauth_reason(t.end[who ^ 1].h),
				               "purpose"));
			dialogue_end(&t);
		}
	}
}

static void a_leaf_signs_for_nobody(void **state)
{
	struct cert_want leaf = {.file = "leaf"},
	                 below = {.file = "below", .san = "IP:127.0.0.1"};
	struct cert_ca signer = cert_make(&certs, &leaf, &certs.ca);
	struct dialogue t = dialogue_usual();
	FILE *f;

	cert_drop(cert_make(&certs, &below, &signer));
	f = fopen(dialogue_file("below", ".pem"), "a"); /* the chain as a liar has it */
	PEM_write_X509(f, signer.cert);
	fclose(f);
	cert_drop(signer);
	t.end[SERVER].cert = "below";
	dialogue_begin(&t);
	assert_int_equal(dialogue_run(&t), -1);
	assert_non_null(strstr(rr_hostauth_reason(t.end[CLIENT].h), "invalid CA"));
	dialogue_end(&t);
}

/* -- chains ----------------------------------------------------------------------- */

/* Between the leaf and whom the other end believes; the key in the same file. */
static void the_whole_chain_is_shown(void **state)
{
	struct cert_want between = {.file = "between", .signs = true},
	                 leaf = {.file = "far", .san = "IP:127.0.0.1"};
	struct cert_ca ca = cert_make(&certs, &between, &certs.ca), end_of;
	struct rpcrdma_hostauth_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
	struct dialogue t = dialogue_usual();
	FILE *f;

	end_of = cert_make(&certs, &leaf, &ca);
	f = fopen(dialogue_file("far", ".pem"), "a");
	PEM_write_X509(f, ca.cert);
	PEM_write_PrivateKey(f, end_of.key, NULL, NULL, 0, NULL, NULL);
	fclose(f);
	cert_drop(ca);
	cert_drop(end_of);
	dialogue_open_end(&t.end[CLIENT], false);
	o.cert_file = dialogue_file("far", ".pem");
	o.ca_file = dialogue_file("ca", ".pem");
	assert_int_equal(rpcrdma_hostauth_new(&o, &t.end[SERVER].creds, NULL, 0), 0);
	assert_int_equal(rr_hostauth_new(t.end[SERVER].creds, true, NULL, true,
	                                 &t.end[SERVER].h),
	                 0);
	assert_int_equal(dialogue_run(&t), 1);
	assert_string_equal(rr_hostauth_identity(t.end[CLIENT].h), "CN=far");
	dialogue_end(&t);
}

/* Words of several records, as long as it takes. */
static void a_long_certificate_passes(void **state)
{
	enum { NAMES = 1200 };
	char *san = malloc(NAMES * 40);
	struct dialogue t = dialogue_usual();
	size_t n = 0;

	for (unsigned i = 0; i < NAMES; i++)
		n += (size_t)sprintf(san + n, "DNS:host-%06u.long.example,", i);
	strcpy(san + n, "IP:127.0.0.1");
	cert_leaf(&certs, &(struct cert_want){.file = "long", .san = san});
	free(san);
	t.end[SERVER].cert = "long";
	dialogue_begin(&t);
	assert_int_equal(dialogue_run(&t), 1);
	assert_true(t.word[1].len > 16384 + 8192);
	dialogue_end(&t);
}

/* NULL: whom the system believes, which the environment can name. */
static void without_a_file_the_systems_list_counts(void **state)
{
	for (unsigned good = 0; good < 2; good++) {
		struct rpcrdma_hostauth_options o =
		        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
		struct dialogue t = dialogue_usual();

		setenv("SSL_CERT_FILE", dialogue_file(good ? "ca" : "other", ".pem"),
		       1);
		setenv("SSL_CERT_DIR", certs.dir, 1);
		assert_int_equal(
		        rpcrdma_hostauth_new(&o, &t.end[CLIENT].creds, NULL, 0), 0);
		unsetenv("SSL_CERT_FILE");
		unsetenv("SSL_CERT_DIR");
		assert_int_equal(rr_hostauth_new(t.end[CLIENT].creds, false,
		                                 "server.example", false,
		                                 &t.end[CLIENT].h),
		                 0);
		t.end[SERVER].must = false;
		dialogue_open_end(&t.end[SERVER], true);
		assert_int_equal(dialogue_run(&t), good ? 1 : -1);
		dialogue_end(&t);
	}
}

/* -- as whom the other end sees it ------------------------------------------------ */

#define LONG "0123456789012345678901234567890123456789012345678901234567890123"

static const struct {
	struct cert_want cert;
	const char *identity; /* NULL: refused */
} subjects[] = {
        {{.cn = "alice"}, "CN=alice"},
        {{.cn = "a,b=c"}, "CN=a\\,b=c"},
        {{.cn = "a\nb\x1b"}, "CN=a\\0Ab\\1B"},
        {{.cn = "alice", .ou = "x"}, "OU=x,OU=x,OU=x,OU=x,CN=alice"},
        /* cut, it could be another's */
        {{.cn = "alice", .ou = LONG}, NULL},
        /* without a subject its first name, of whatever kind */
        {{.cn = "", .san = "DNS:c1.example,DNS:c2.example"}, "DNS:c1.example"},
        {{.cn = "", .san = "IP:10.0.0.1"}, "IP Address:10.0.0.1"},
        {{.cn = "", .san = "email:a@b.example"}, "email:a@b.example"},
        {{.cn = ""}, NULL},
};

static void a_peer_is_told_by_its_subject_or_name(void **state)
{
	for (size_t i = 0; i < RR_ARRAY_SIZE(subjects); i++) {
		struct cert_want want = subjects[i].cert;
		struct dialogue t = dialogue_usual();
		const char *seen;

		want.file = "subject";
		cert_leaf(&certs, &want);
		t.end[CLIENT].cert = "subject";
		dialogue_begin(&t);
		assert_int_equal(dialogue_run(&t), subjects[i].identity ? 1 : -1);
		seen = rr_hostauth_identity(t.end[SERVER].h);
		assert_string_equal(seen,
		                    subjects[i].identity ? subjects[i].identity : "");
		if (!subjects[i].identity)
			assert_non_null(
			        strstr(rr_hostauth_reason(t.end[SERVER].h), "name"));
		dialogue_end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_server_must_have_the_name),
	        cmocka_unit_test(a_certificate_for_the_other_role_is_refused),
	        cmocka_unit_test(a_leaf_signs_for_nobody),
	        cmocka_unit_test(the_whole_chain_is_shown),
	        cmocka_unit_test(a_long_certificate_passes),
	        cmocka_unit_test(without_a_file_the_systems_list_counts),
	        cmocka_unit_test(a_peer_is_told_by_its_subject_or_name),
	};

	return cmocka_run_group_tests(tests, dialogue_set_up, dialogue_tear_down);
}
