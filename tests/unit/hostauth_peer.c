/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An end of ours against a peer made by hand of OpenSSL, which follows
 * <rpcrdma/hostauth.h> to the letter, or does what it should not.
 *                              [V2-5.2.6-02, V2-11.1.1-03, RFC 8446, RFC 9266]
 */
#include "test_hostauth.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>

enum { TAG = 32 };

static const char *const labels[2] = {"EXPORTER-rpcrdma2-hostauth-client",
                                      "EXPORTER-rpcrdma2-hostauth-server"};

struct peer {
	SSL_CTX *ctx;
	SSL *ssl;
	BIO *in, *out;
	struct end ours;
	bool server;           /* the peer is; ours is the client */
	uint8_t digest[2][32]; /* of what each sent */
	unsigned tickets;
};

static unsigned *counted;

static int count_ticket(SSL *ssl, SSL_SESSION *s)
{
	(void)ssl;
	(void)s;
	++*counted;
	return 0;
}

/* Ours was told of both properties; so has the digest: id, length, data. */
static void properties(struct peer *p)
{
	static const struct {
		uint32_t id;
		const char *data;
	} sent[2][2] = {{{1, "4096"}, {7, ""}}, {{2, "8192"}, {0x60000001, "x"}}};

	for (unsigned of = 0; of < 2; of++) {
		EVP_MD_CTX *md = EVP_MD_CTX_new();

		EVP_DigestInit_ex(md, EVP_sha256(), NULL);
		for (unsigned i = 0; i < 2; i++) {
			uint32_t len = (uint32_t)strlen(sent[of][i].data);
			uint32_t head[2] = {htonl(sent[of][i].id), htonl(len)};
			bool own = (of == SERVER) != p->server;

			EVP_DigestUpdate(md, head, 8);
			EVP_DigestUpdate(md, sent[of][i].data, len);
			assert_true(rr_hostauth_property(p->ours.h, own, sent[of][i].id,
			                                 sent[of][i].data, len));
		}
		EVP_DigestFinal_ex(md, p->digest[of], NULL);
		EVP_MD_CTX_free(md);
	}
}

static void peer_new(struct peer *p, bool server, struct end ours)
{
	const char *name = server ? "server" : "client";

	*p = (struct peer){.server = server, .ours = ours};
	dialogue_open_end(&p->ours, !server);
	p->ctx = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
	assert_int_equal(
	        SSL_CTX_use_certificate_chain_file(p->ctx, dialogue_file(name, ".pem")),
	        1);
	assert_int_equal(SSL_CTX_use_PrivateKey_file(
	                         p->ctx, dialogue_file(name, ".key"), SSL_FILETYPE_PEM),
	                 1);
	SSL_CTX_set_session_cache_mode(p->ctx, SSL_SESS_CACHE_BOTH);
	SSL_CTX_sess_set_new_cb(p->ctx, count_ticket);
	counted = &p->tickets;
	properties(p);
}

/* After what a test changes in the context. */
static void peer_open(struct peer *p)
{
	p->ssl = SSL_new(p->ctx);
	p->in = BIO_new(BIO_s_mem());
	p->out = BIO_new(BIO_s_mem());
	SSL_set_bio(p->ssl, p->in, p->out);
	if (p->server)
		SSL_set_accept_state(p->ssl);
	else
		SSL_set_connect_state(p->ssl);
}

static void peer_end(struct peer *p)
{
	SSL_free(p->ssl);
	SSL_CTX_free(p->ctx);
	rr_hostauth_free(p->ours.h);
	rpcrdma_hostauth_free(p->ours.creds);
}

/* What the peer has to say goes to ours, and the answer back. */
static int pass(struct peer *p)
{
	static uint8_t buf[65536];
	const void *out = NULL;
	size_t len = 0;
	int n = BIO_read(p->out, buf, sizeof(buf)), verdict;

	verdict = rr_hostauth_step(p->ours.h, n > 0 ? buf : NULL, n > 0 ? (size_t)n : 0,
	                           &out, &len);
	if (len)
		assert_int_equal(BIO_write(p->in, out, (int)len), (int)len);
	return verdict;
}

/* Until the handshake is over at the peer and its next word is a tag. */
static void shake_hands(struct peer *p)
{
	if (p->server) {
		assert_int_equal(pass(p), 0); /* ClientHello */
		assert_int_equal(SSL_do_handshake(p->ssl), -1);
		assert_int_equal(pass(p), 0); /* Finished and the client's tag */
		assert_int_equal(SSL_do_handshake(p->ssl), 1);
		return;
	}
	assert_int_equal(SSL_do_handshake(p->ssl), -1);
	assert_int_equal(pass(p), 0);
	assert_int_equal(SSL_do_handshake(p->ssl), 1);
}

static void make_tag(struct peer *p, unsigned of, uint8_t tag[TAG])
{
	uint8_t context[64];

	memcpy(context, p->digest[0], 32);
	memcpy(context + 32, p->digest[1], 32);
	assert_int_equal(SSL_export_keying_material(p->ssl, tag, TAG, labels[of],
	                                            strlen(labels[of]), context, 64, 1),
	                 1);
}

static void say(struct peer *p, const void *data, int len)
{
	assert_int_equal(SSL_write(p->ssl, data, len), len);
}

static void say_tag(struct peer *p)
{
	uint8_t tag[TAG];

	make_tag(p, p->server, tag);
	say(p, tag, TAG);
}

static void hear_tag(struct peer *p)
{
	uint8_t want[TAG], got[TAG + 1];

	make_tag(p, !p->server, want);
	assert_int_equal(SSL_read(p->ssl, got, sizeof(got)), TAG);
	assert_memory_equal(got, want, TAG);
}

/* Ours are not asked for a certificate by the peer's server, nor for a name. */
static const struct end as_server = {.cert = "server", .must = true},
                        as_client = {.cert = "client", .name = "server.example"};

static const struct end *ours_for(bool server)
{
	return server ? &as_client : &as_server;
}

static void refused(struct peer *p, const char *words)
{
	uint8_t binding[32];

	assert_false(hostauth_is_done(p->ours.h));
	assert_string_equal(rr_hostauth_identity(p->ours.h), "");
	assert_int_equal(rr_hostauth_binding(p->ours.h, binding), -ENOENT);
	if (!strstr(rr_hostauth_reason(p->ours.h), words))
		fail_msg("\"%s\" is not in \"%s\"", words,
		         rr_hostauth_reason(p->ours.h));
	peer_end(p);
}

/* -- as it should be -------------------------------------------------------------- */

static void tags_and_binding_are_as_described(void **state)
{
	for (unsigned server = 0; server < 2; server++) {
		uint8_t want[32], got[32];
		struct peer p;

		peer_new(&p, server, *ours_for(server));
		peer_open(&p);
		shake_hands(&p);
		if (server)
			hear_tag(&p);
		assert_int_equal(rr_hostauth_binding(p.ours.h, got), -ENOENT);
		say_tag(&p);
		assert_int_equal(pass(&p), 1);
		if (!server)
			hear_tag(&p);
		assert_int_equal(SSL_export_keying_material(p.ssl, want, 32,
		                                            "EXPORTER-Channel-Binding",
		                                            24, NULL, 0, 0),
		                 1);
		assert_int_equal(rr_hostauth_binding(p.ours.h, got), 0);
		assert_memory_equal(want, got, 32);
		assert_int_equal(SSL_version(p.ssl), TLS1_3_VERSION);
		say_tag(&p); /* once is enough */
		assert_int_equal(pass(&p), -EACCES);
		refused(&p, "after the last");
	}
}

/* The key of the file "psk", by hand. */
static int use_shared_key(SSL *ssl, const EVP_MD *md, const unsigned char **id,
                          size_t *id_len, SSL_SESSION **ret)
{
	static const unsigned char key[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55,
	                                      0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb,
	                                      0xcc, 0xdd, 0xee, 0xff},
	                           suite[2] = {0x13, 0x01};
	SSL_SESSION *s = SSL_SESSION_new();

	(void)md;
	assert_int_equal(SSL_SESSION_set1_master_key(s, key, sizeof(key)), 1);
	assert_int_equal(SSL_SESSION_set_cipher(s, SSL_CIPHER_find(ssl, suite)), 1);
	assert_int_equal(SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION), 1);
	*id = (const unsigned char *)"host1";
	*id_len = 5;
	*ret = s;
	return 1;
}

static void a_shared_key_is_what_the_file_says(void **state)
{
	const struct end ours = {.psk = "psk", .must = true};
	struct peer p;

	peer_new(&p, false, ours);
	SSL_CTX_set_psk_use_session_callback(p.ctx, use_shared_key);
	peer_open(&p);
	shake_hands(&p);
	say_tag(&p);
	assert_int_equal(pass(&p), 1);
	hear_tag(&p);
	assert_string_equal(rr_hostauth_identity(p.ours.h), "psk:host1");
	peer_end(&p);
}

/* -- tags ------------------------------------------------------------------------- */

enum lie {
	LAST_OCTET,
	TOO_SHORT,
	IN_PIECES,
	OF_THE_OTHER_ROLE,
	NOTHING,
	GOODBYE,
	N_LIES
};

static void tell_lie(struct peer *p, enum lie lie)
{
	uint8_t tag[TAG];

	make_tag(p, lie == OF_THE_OTHER_ROLE ? !p->server : p->server, tag);
	switch (lie) {
	case LAST_OCTET:
		tag[TAG - 1] ^= 1;
		break;
	case TOO_SHORT:
		say(p, tag, TAG - 1);
		return;
	case IN_PIECES:
		say(p, tag, 1);
		say(p, tag + 1, TAG - 1);
		return;
	case GOODBYE:
		SSL_shutdown(p->ssl);
		return;
	case NOTHING:
		return;
	case OF_THE_OTHER_ROLE:
	case N_LIES:
		break;
	}
	say(p, tag, TAG);
}

static void no_other_tag_will_do(void **state)
{
	static const char *const why[N_LIES] = {
	        [LAST_OCTET] = "changed on its way",
	        [TOO_SHORT] = "changed on its way",
	        [IN_PIECES] = "changed on its way",
	        [OF_THE_OTHER_ROLE] = "changed on its way",
	        [NOTHING] = "incomplete",
	        [GOODBYE] = "saw other transport properties",
	};

	for (enum lie lie = 0; lie < N_LIES; lie++) {
		for (unsigned server = 0; server < 2; server++) {
			uint8_t c;
			struct peer p;

			peer_new(&p, server, *ours_for(server));
			peer_open(&p);
			shake_hands(&p);
			if (server)
				hear_tag(&p);
			tell_lie(&p, lie);
			assert_int_equal(pass(&p), -EACCES);
			assert_non_null(strstr(rr_hostauth_reason(p.ours.h), why[lie]));
			/* and no tag of ours for it */
			assert_true(SSL_read(p.ssl, &c, 1) <= 0);
			/* nor a second chance */
			if (lie != GOODBYE)
				say_tag(&p);
			assert_int_equal(pass(&p), -EACCES);
			refused(&p, "after the last");
		}
	}
}

/* -- versions, ciphers, tickets --------------------------------------------------- */

static void nothing_older_than_1_3_is_spoken(void **state)
{
	for (unsigned server = 0; server < 2; server++) {
		struct peer p;
		int verdict = 0;

		peer_new(&p, server, *ours_for(server));
		SSL_CTX_set_max_proto_version(p.ctx, TLS1_2_VERSION);
		peer_open(&p);
		for (unsigned i = 0; i < 4 && verdict == 0; i++) {
			if (!server || i)
				(void)SSL_do_handshake(p.ssl);
			verdict = pass(&p);
		}
		assert_int_equal(verdict, -EACCES);
		refused(&p, server ? "protocol version" : "unsupported protocol");
	}
}

/* Nothing is given that a later handshake could begin with. */
static void no_ticket_is_given(void **state)
{
	struct peer p;

	peer_new(&p, false, as_server);
	peer_open(&p);
	shake_hands(&p);
	say_tag(&p);
	assert_int_equal(pass(&p), 1);
	hear_tag(&p);
	assert_int_equal(p.tickets, 0);
	peer_end(&p);
}

/* What a server that gives them sends besides its tag is no harm. */
static void tickets_are_passed_over(void **state)
{
	struct peer p;

	peer_new(&p, true, as_client);
	SSL_CTX_set_num_tickets(p.ctx, 20);
	peer_open(&p);
	shake_hands(&p);
	hear_tag(&p);
	say_tag(&p);
	assert_int_equal(p.tickets, 20);
	assert_int_equal(pass(&p), 1);
	peer_end(&p);
}

/* -- messages after the handshake ------------------------------------------------- */

static void new_keys(struct peer *p, unsigned n, int kind)
{
	while (n--) {
		assert_int_equal(SSL_key_update(p->ssl, kind), 1);
		assert_int_equal(SSL_do_handshake(p->ssl), 1);
	}
}

/* Before the tag they change nothing; what was asked for comes with ours. */
static void new_keys_change_nothing(void **state)
{
	for (unsigned server = 0; server < 2; server++) {
		struct peer p;

		peer_new(&p, server, *ours_for(server));
		peer_open(&p);
		shake_hands(&p);
		if (server)
			hear_tag(&p);
		new_keys(&p, 1, SSL_KEY_UPDATE_NOT_REQUESTED);
		new_keys(&p, 1, SSL_KEY_UPDATE_REQUESTED);
		say_tag(&p);
		assert_int_equal(pass(&p), 1);
		if (!server)
			hear_tag(&p);
		peer_end(&p);
	}
}

/* Each costs us more than it costs the peer. */
static void new_keys_without_end_are_refused(void **state)
{
	struct peer p;

	peer_new(&p, false, as_server);
	peer_open(&p);
	shake_hands(&p);
	new_keys(&p, 1000, SSL_KEY_UPDATE_NOT_REQUESTED);
	say_tag(&p);
	assert_int_equal(pass(&p), -EACCES);
	refused(&p, "too much after the handshake");
}

/* A word that makes us say nothing: we would wait for each other. */
static void a_word_without_an_answer_is_refused(void **state)
{
	for (int kind = SSL_KEY_UPDATE_NOT_REQUESTED; kind <= SSL_KEY_UPDATE_REQUESTED;
	     kind++) {
		struct peer p;

		peer_new(&p, false, as_server);
		peer_open(&p);
		shake_hands(&p);
		new_keys(&p, 1, kind);
		assert_int_equal(pass(&p), -EACCES);
		refused(&p, "incomplete");
	}
}

/* Half a ClientHello, however it goes on. */
static void half_a_word_is_refused(void **state)
{
	struct peer p;
	uint8_t buf[2048];
	const void *out;
	size_t len;
	int n;

	peer_new(&p, false, as_server);
	peer_open(&p);
	assert_int_equal(SSL_do_handshake(p.ssl), -1);
	n = BIO_read(p.out, buf, sizeof(buf));
	assert_true(n > 100);
	assert_int_equal(rr_hostauth_step(p.ours.h, buf, (size_t)n - 1, &out, &len),
	                 -EACCES);
	assert_int_equal(len, 0);
	refused(&p, "incomplete");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(tags_and_binding_are_as_described),
	        cmocka_unit_test(a_shared_key_is_what_the_file_says),
	        cmocka_unit_test(no_other_tag_will_do),
	        cmocka_unit_test(nothing_older_than_1_3_is_spoken),
	        cmocka_unit_test(no_ticket_is_given),
	        cmocka_unit_test(tickets_are_passed_over),
	        cmocka_unit_test(new_keys_change_nothing),
	        cmocka_unit_test(new_keys_without_end_are_refused),
	        cmocka_unit_test(a_word_without_an_answer_is_refused),
	        cmocka_unit_test(half_a_word_is_refused),
	};

	return cmocka_run_group_tests(tests, dialogue_set_up, dialogue_tear_down);
}
