/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dialogue of host authentication, words passed by hand: who is believed, who
 * is not and why; what is bound into it.            [V2-5.2.6-01 to -03, V2-11.1.1-03]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "test_hostauth.h"

/* Properties as both see them. */
static void tell(struct dialogue *t, unsigned of, uint32_t id, const char *value)
{
	for (unsigned i = 0; i < 2; i++)
		assert_true(rr_hostauth_property(t->end[i].h, i == of, id, value,
		                                 strlen(value)));
}

static void both_are_who_they_say(void **state)
{
	struct dialogue t = dialogue_usual();
	uint8_t a[RR_HOSTAUTH_BINDING], b[RR_HOSTAUTH_BINDING], zero[32] = {0};

	dialogue_begin(&t);
	tell(&t, CLIENT, 1, "4096");
	tell(&t, SERVER, 2, "8192");
	assert_string_equal(rr_hostauth_identity(t.end[SERVER].h), "");
	assert_int_equal(rr_hostauth_binding(t.end[SERVER].h, a), -ENOENT);
	assert_int_equal(dialogue_run(&t), 1);
	assert_true(hostauth_is_done(t.end[CLIENT].h));
	assert_true(hostauth_is_done(t.end[SERVER].h));
	assert_string_equal(rr_hostauth_identity(t.end[SERVER].h), "CN=client");
	assert_string_equal(rr_hostauth_identity(t.end[CLIENT].h), "CN=server");
	assert_int_equal(rr_hostauth_binding(t.end[CLIENT].h, a), 0);
	assert_int_equal(rr_hostauth_binding(t.end[SERVER].h, b), 0);
	assert_memory_equal(a, b, sizeof(a));
	assert_memory_not_equal(a, zero, sizeof(a));
	assert_int_equal(t.n, 4); /* two each */
	dialogue_end(&t);
}

static void a_name_of_the_certificate_will_do(void **state)
{
	struct dialogue t = dialogue_usual();

	t.end[CLIENT].name = "server.example";
	dialogue_begin(&t);
	assert_int_equal(dialogue_run(&t), 1);
	dialogue_end(&t);
	t = dialogue_usual();
	t.end[CLIENT].name = NULL;
	dialogue_begin(&t);
	assert_int_equal(dialogue_run(&t), 1);
	dialogue_end(&t);
}

static void a_shared_key_will_do(void **state)
{
	struct dialogue t = {.end = {{.psk = "psk", .name = "other.example"},
	                             {.psk = "psk", .must = true}}};

	dialogue_begin(&t);
	assert_int_equal(dialogue_run(&t), 1);
	assert_string_equal(rr_hostauth_identity(t.end[SERVER].h), "psk:host1");
	assert_string_equal(rr_hostauth_identity(t.end[CLIENT].h), "psk:host1");
	dialogue_end(&t);
}

static void a_server_that_need_not_takes_anybody(void **state)
{
	struct dialogue t = dialogue_usual();

	t.end[CLIENT].cert = NULL;
	t.end[SERVER].must = false;
	dialogue_begin(&t);
	assert_int_equal(dialogue_run(&t), 1);
	assert_string_equal(rr_hostauth_identity(t.end[SERVER].h), "");
	assert_string_equal(rr_hostauth_identity(t.end[CLIENT].h), "CN=server");
	dialogue_end(&t);
}

/* By the whole identity or a DNS name; a part of either is nothing. */
static void a_server_lets_in_whom_it_lists(void **state)
{
	static const struct {
		const char *allow[2];
		bool in;
	} t[] = {
	        {{"CN=client"}, true},
	        {{"client.example"}, true},
	        {{"CN=other", "CLIENT.example"}, true},
	        {{"CN=other", "client"}, false},
	        {{".example"}, false},
	        {{"*.example"}, false},
	        {{"CN=clien"}, false},
	        {{"psk:host1"}, false},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct dialogue k = dialogue_usual();

		memcpy(k.end[SERVER].allow, t[i].allow, sizeof(t[i].allow));
		dialogue_begin(&k);
		if (t[i].in) {
			assert_int_equal(dialogue_run(&k), 1);
		} else {
			assert_true(dialogue_run(&k) < 0);
			assert_non_null(strstr(rr_hostauth_reason(k.end[SERVER].h),
			                       "CN=client is not on the list"));
			assert_non_null(strstr(rr_hostauth_reason(k.end[CLIENT].h),
			                       "not on the server's list"));
			assert_false(hostauth_is_done(k.end[CLIENT].h));
		}
		dialogue_end(&k);
	}
}

/* Not those of the system, which vouch for anybody: "other" is one of them here. */
static void a_server_believes_no_authority_unasked(void **state)
{
	struct rpcrdma_hostauth_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
	struct rpcrdma_hostauth *h;
	struct dialogue t = dialogue_usual();

	setenv("SSL_CERT_FILE", dialogue_file("other", ".pem"), 1);
	o.cert_file = dialogue_file("server", ".pem");
	o.key_file = dialogue_file("server", ".key");
	assert_int_equal(rpcrdma_hostauth_new(&o, &h, NULL, 0), 0);
	assert_int_equal(rr_hostauth_serves(h), -ENOKEY);
	t.end[CLIENT].cert = "stranger";
	dialogue_begin(&t);
	rr_hostauth_free(t.end[SERVER].h);
	assert_int_equal(rr_hostauth_new(h, true, NULL, true, &t.end[SERVER].h), 0);
	assert_true(dialogue_run(&t) < 0);
	assert_int_equal(rr_hostauth_serves(t.end[SERVER].creds), 0);
	dialogue_end(&t);
	rpcrdma_hostauth_free(h);
	unsetenv("SSL_CERT_FILE");
}

/* -- refusals: at which end, in which words; and the other end hears of it ---- */

struct refusal {
	const char *what;
	struct end client, server;
	unsigned at;
	const char *why, *why_other; /* parts of the words */
};

#define GOOD_CLIENT                                                                    \
	{                                                                              \
		.cert = "client", .name = "127.0.0.1"                                  \
	}
#define GOOD_SERVER                                                                    \
	{                                                                              \
		.cert = "server", .must = true                                         \
	}
static const struct refusal refusals[] = {
        {"a client of another authority",
         {.cert = "stranger", .name = "127.0.0.1"},
         GOOD_SERVER,
         SERVER,
         "issuer certificate",
         "unknown ca"},
        {"a server of another authority",
         GOOD_CLIENT,
         {.cert = "stranger"},
         CLIENT,
         "issuer certificate",
         "unknown ca"},
        {"an expired client",
         {.cert = "expired", .name = "127.0.0.1"},
         GOOD_SERVER,
         SERVER,
         "expired",
         "expired"},
        {"an expired server",
         GOOD_CLIENT,
         {.cert = "expired"},
         CLIENT,
         "expired",
         "expired"},
        {"a client without a certificate",
         {.name = "127.0.0.1"},
         GOOD_SERVER,
         SERVER,
         "did not return a certificate",
         "certificate required"},
        {"a server of another name",
         {.cert = "client", .name = "else.example"},
         GOOD_SERVER,
         CLIENT,
         "hostname mismatch",
         "bad certificate"},
        {"a server at another address",
         {.cert = "client", .name = "127.0.0.2"},
         GOOD_SERVER,
         CLIENT,
         "IP address mismatch",
         "bad certificate"},
        {"another shared key",
         {.psk = "psk2"},
         {.psk = "psk"},
         SERVER,
         "binder does not verify",
         "illegal parameter"},
        {"a shared key of another identity",
         {.psk = "psk3"},
         {.psk = "psk"},
         SERVER,
         "no suitable signature",
         "handshake failure"},
        {"a shared key of a longer identity",
         {.psk = "psk4"},
         {.psk = "psk"},
         SERVER,
         "no suitable signature",
         "handshake failure"},
        {"a shared key of a shorter identity",
         {.psk = "psk"},
         {.psk = "psk4"},
         SERVER,
         "no suitable signature",
         "handshake failure"},
        {"a shared key against certificates",
         {.psk = "psk"},
         GOOD_SERVER,
         CLIENT,
         "self-signed certificate",
         "unknown ca"},
        {"certificates against a shared key",
         GOOD_CLIENT,
         {.psk = "psk"},
         SERVER,
         "no suitable signature",
         "handshake failure"},
};

static void strangers_are_refused_with_the_reason(void **state)
{
	certs_text(&certs, "psk3", "host2:00112233445566778899aabbccddeeff\n", 0600);
	certs_text(&certs, "psk4", "host11:00112233445566778899aabbccddeeff\n", 0600);
	for (size_t i = 0; i < RR_ARRAY_SIZE(refusals); i++) {
		const struct refusal *r = &refusals[i];
		struct dialogue t = {.end = {r->client, r->server}};
		const char *why, *other;

		dialogue_begin(&t);
		assert_int_equal(dialogue_run(&t), -1);
		why = rr_hostauth_reason(t.end[r->at].h);
		other = rr_hostauth_reason(t.end[r->at ^ 1].h);
		if (t.end[r->at].verdict != -EACCES || !strstr(why, r->why) ||
		    !strstr(other, r->why_other))
			fail_msg("%s: \"%s\", \"%s\"", r->what, why, other);
		assert_false(hostauth_is_done(t.end[r->at].h));
		assert_string_equal(rr_hostauth_identity(t.end[SERVER].h), "");
		dialogue_end(&t);
	}
}

/* -- somebody between ------------------------------------------------------------- */

static void a_changed_property_is_noticed(void **state)
{
	for (unsigned of = 0; of < 2; of++) {
		struct dialogue t = dialogue_usual();

		dialogue_begin(&t);
		tell(&t, CLIENT, 1, "4096");
		assert_true(rr_hostauth_property(t.end[of].h, true, 4, "16", 2));
		assert_true(rr_hostauth_property(t.end[of ^ 1].h, false, 4, "17", 2));
		assert_int_equal(dialogue_run(&t), -1);
		assert_int_equal(t.end[SERVER].verdict, -EACCES);
		assert_non_null(strstr(rr_hostauth_reason(t.end[SERVER].h), "changed"));
		assert_non_null(strstr(rr_hostauth_reason(t.end[CLIENT].h),
		                       "other transport properties"));
		dialogue_end(&t);
	}
}

/* The same octets cut elsewhere, or told of the other end. */
static void properties_cannot_be_exchanged(void **state)
{
	struct dialogue t = dialogue_usual();

	dialogue_begin(&t);
	assert_true(rr_hostauth_property(t.end[CLIENT].h, true, 1, "ab", 2));
	assert_true(rr_hostauth_property(t.end[SERVER].h, false, 1, "a", 1));
	assert_int_equal(dialogue_run(&t), -1);
	dialogue_end(&t);
	t = dialogue_usual();
	dialogue_begin(&t);
	assert_true(rr_hostauth_property(t.end[CLIENT].h, true, 1, "ab", 2));
	assert_true(rr_hostauth_property(t.end[SERVER].h, true, 1, "ab", 2));
	assert_int_equal(dialogue_run(&t), -1);
	dialogue_end(&t);
	t = dialogue_usual();
	dialogue_begin(&t);
	assert_true(rr_hostauth_property(t.end[CLIENT].h, true, 1, "ab", 2));
	assert_true(rr_hostauth_property(t.end[SERVER].h, false, 2, "ab", 2));
	assert_int_equal(dialogue_run(&t), -1);
	dialogue_end(&t);
	t = dialogue_usual();
	dialogue_begin(&t);
	for (unsigned i = 0; i < 2; i++) { /* two of them, in either order */
		assert_true(
		        rr_hostauth_property(t.end[CLIENT].h, true, 1 + i, "ab", 2));
		assert_true(
		        rr_hostauth_property(t.end[SERVER].h, false, 2 - i, "ab", 2));
	}
	assert_int_equal(dialogue_run(&t), -1);
	dialogue_end(&t);
}

static void a_property_after_the_tag_is_refused(void **state)
{
	struct dialogue t = dialogue_usual();

	dialogue_begin(&t);
	tell(&t, CLIENT, 1, "4096");
	assert_int_equal(dialogue_run(&t), 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_false(rr_hostauth_property(t.end[i].h, false, 1, "512", 3));
		assert_non_null(strstr(rr_hostauth_reason(t.end[i].h), "after"));
	}
	dialogue_end(&t);
}

static unsigned flip_round;
static size_t flip_at;

static void flip(struct dialogue *t, unsigned round, uint8_t *p, size_t len)
{
	if (round == flip_round && len)
		p[flip_at % len] ^= 0x10;
}

/* Any octet of any word, and nobody is blamed for a certificate he does not have. */
static void a_changed_word_is_noticed(void **state)
{
	const struct dialogue shared = {
	        .end = {{.psk = "psk"}, {.psk = "psk", .must = true}}};

	for (flip_round = 0; flip_round < 4; flip_round++) {
		for (flip_at = 11; flip_at < 800; flip_at += 131) {
			for (unsigned psk = 0; psk < 2; psk++) {
				struct dialogue t = psk ? shared : dialogue_usual();

				t.meddle = flip;
				dialogue_begin(&t);
				assert_int_not_equal(dialogue_run(&t), 1);
				assert_false(hostauth_is_done(t.end[CLIENT].h));
				for (unsigned i = 0; i < 2 && psk; i++) {
					const char *why =
					        rr_hostauth_reason(t.end[i].h);

					if (strstr(why, "certificate"))
						fail_msg("%s", why);
				}
				dialogue_end(&t);
			}
		}
	}
}

/* What a client once said is worth nothing to another server or later. */
static void a_replayed_client_is_refused(void **state)
{
	struct dialogue t = dialogue_usual(), again = dialogue_usual();
	const void *out;
	size_t len;

	dialogue_begin(&t);
	assert_int_equal(dialogue_run(&t), 1);
	dialogue_begin(&again);
	assert_int_equal(rr_hostauth_step(again.end[SERVER].h, t.word[0].p,
	                                  t.word[0].len, &out, &len),
	                 0);
	assert_true(rr_hostauth_step(again.end[SERVER].h, t.word[2].p, t.word[2].len,
	                             &out, &len) < 0);
	assert_non_null(
	        strstr(rr_hostauth_reason(again.end[SERVER].h), "bad record mac"));
	dialogue_end(&again);
	dialogue_end(&t);
}

static void garbage_is_refused(void **state)
{
	static const char *const words[] = {"", "G", "GET / HTTP/1.1\r\n\r\n",
	                                    "\x16\x03\x01\xff\xff",
	                                    "\x15\x03\x03\0\2\2\50"};

	for (size_t i = 1; i < RR_ARRAY_SIZE(words); i++) {
		struct dialogue t = dialogue_usual();
		const void *out;
		size_t len;
		int verdict = 0;

		dialogue_begin(&t);
		for (unsigned k = 0; k < 3 && verdict == 0; k++)
			verdict = rr_hostauth_step(
			        t.end[SERVER].h, words[i],
			        i == 1 ? 1 : strlen(words[i]) + (i == 4) * 3, &out,
			        &len);
		assert_true(verdict <= 0);
		assert_false(hostauth_is_done(t.end[SERVER].h));
		dialogue_end(&t);
	}
}

static void a_word_after_the_last_is_refused(void **state)
{
	struct dialogue t = dialogue_usual();
	const void *out;
	size_t len;

	dialogue_begin(&t);
	assert_int_equal(dialogue_run(&t), 1);
	assert_int_equal(rr_hostauth_step(t.end[SERVER].h, "x", 1, &out, &len),
	                 -EACCES);
	dialogue_end(&t);
}

/* -- credentials ----------------------------------------------------------- */

static int load(struct rpcrdma_hostauth_options o, char *why)
{
	struct rpcrdma_hostauth *h = NULL;
	int err;

	o.size = sizeof(o);
	err = rpcrdma_hostauth_new(&o, &h, why, 128);
	assert_true((err == 0) == (h != NULL));
	rpcrdma_hostauth_free(h);
	return err;
}

static void bad_credentials_are_told_apart(void **state)
{
	struct rpcrdma_hostauth_options o = {0};
	struct rpcrdma_hostauth *none;
	char why[128];

	o.ca_file = dialogue_file("ca", ".pem");
	assert_int_equal(rpcrdma_hostauth_new(&o, &none, why, sizeof(why)), -EINVAL);
	assert_int_equal(rpcrdma_hostauth_new(NULL, &none, why, sizeof(why)), -EINVAL);
	o.ca_file = dialogue_file("absent", ".pem");
	assert_int_equal(load(o, why), -EBADMSG);
	assert_non_null(strstr(why, "No such file"));
	assert_non_null(strstr(why, "absent.pem"));
	o = (struct rpcrdma_hostauth_options){
	        .cert_file = dialogue_file("client", ".pem"),
	        .key_file = dialogue_file("server", ".key"),
	        .ca_file = dialogue_file("ca", ".pem")};
	assert_int_equal(load(o, why), -EBADMSG);
	assert_non_null(strstr(why, "key values mismatch"));
	o = (struct rpcrdma_hostauth_options){.key_file =
	                                              dialogue_file("server", ".key")};
	assert_int_equal(load(o, why), -EINVAL);
	for (unsigned i = 0; i < 3; i++) {
		o = (struct rpcrdma_hostauth_options){.psk_file =
		                                              dialogue_file("psk", "")};
		*(i == 0   ? &o.ca_file
		  : i == 1 ? &o.cert_file
		           : &o.key_file) = dialogue_file("ca", ".pem");
		assert_int_equal(load(o, why), -EINVAL);
		assert_non_null(strstr(why, "not both"));
	}
	o = (struct rpcrdma_hostauth_options){.psk_file = dialogue_file("absent", "")};
	assert_int_equal(load(o, why), -ENOENT);
}

/* A key under a pass phrase: nobody is asked for it. */
static void an_enciphered_key_is_refused(void **state)
{
	struct rpcrdma_hostauth_options o = {.cert_file =
	                                             dialogue_file("client", ".pem"),
	                                     .ca_file = dialogue_file("ca", ".pem")};
	EVP_PKEY *key = EVP_EC_gen("P-256");
	FILE *f = fopen(dialogue_file("locked", ".key"), "w");
	char why[128];

	assert_non_null(f);
	assert_int_equal(PEM_write_PrivateKey(f, key, EVP_aes_256_cbc(), NULL, 0, NULL,
	                                      (void *)(uintptr_t) "secret"),
	                 1);
	fclose(f);
	EVP_PKEY_free(key);
	o.key_file = dialogue_file("locked", ".key");
	assert_int_equal(load(o, why), -EBADMSG);
	if (!strstr(why, "locked.key: it is enciphered"))
		fail_msg("%s", why);
}

#define TEN(x)   x x x x x x x x x x
#define HEX_64   TEN("001122334455") "01020304"
#define NAME_127 TEN("0123456789ab") "0123456"

static void bad_shared_keys_are_refused(void **state)
{
	static const struct {
		const char *text;
		mode_t mode;
		int want;
	} t[] = {
	        {"h:00112233445566778899aabbccddeeff", 0600, 0},
	        {"h:00112233445566778899AABBCCDDEEFF\r\n", 0400, 0},
	        {"h:00112233445566778899aabbccddeeff", 0640, -EACCES},
	        {"h:00112233445566778899aabbccddeeff", 0604, -EACCES},
	        {"h:00112233445566778899aabbccddee", 0600, -EBADMSG},
	        {"h:00112233445566778899aabbccddeeff0", 0600, -EBADMSG},
	        {"h:00112233445566778899aabbccddeefg", 0600, -EBADMSG},
	        {":00112233445566778899aabbccddeeff", 0600, -EBADMSG},
	        {"00112233445566778899aabbccddeeff", 0600, -EBADMSG},
	        {"", 0600, -EBADMSG},
	        {"h:" HEX_64, 0600, 0},
	        {"h:" HEX_64 "00", 0600, -EBADMSG},
	        {NAME_127 ":" HEX_64 "\r\n", 0600, 0},
	        {NAME_127 "n:00112233445566778899aabbccddeeff", 0600, -EBADMSG},
	};
	char why[128];

	for (size_t i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct rpcrdma_hostauth_options o = {.psk_file =
		                                             dialogue_file("odd", "")};

		unlink(o.psk_file);
		certs_text(&certs, "odd", t[i].text, t[i].mode);
		if (load(o, why) != t[i].want)
			fail_msg("row %zu: %s", i, why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(both_are_who_they_say),
	        cmocka_unit_test(a_name_of_the_certificate_will_do),
	        cmocka_unit_test(a_shared_key_will_do),
	        cmocka_unit_test(a_server_that_need_not_takes_anybody),
	        cmocka_unit_test(a_server_lets_in_whom_it_lists),
	        cmocka_unit_test(a_server_believes_no_authority_unasked),
	        cmocka_unit_test(strangers_are_refused_with_the_reason),
	        cmocka_unit_test(a_changed_property_is_noticed),
	        cmocka_unit_test(properties_cannot_be_exchanged),
	        cmocka_unit_test(a_property_after_the_tag_is_refused),
	        cmocka_unit_test(a_changed_word_is_noticed),
	        cmocka_unit_test(a_replayed_client_is_refused),
	        cmocka_unit_test(garbage_is_refused),
	        cmocka_unit_test(a_word_after_the_last_is_refused),
	        cmocka_unit_test(bad_credentials_are_told_apart),
	        cmocka_unit_test(an_enciphered_key_is_refused),
	        cmocka_unit_test(bad_shared_keys_are_refused),
	};

	return cmocka_run_group_tests(tests, dialogue_set_up, dialogue_tear_down);
}
