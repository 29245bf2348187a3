/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostauth/hostauth.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "hostauth/creds.h"

enum {
	TAG = 32,
	DIGEST = 32,
	AFTER_MAX = 16384, /* limit on octets after the handshake: tag and tickets */
};
enum phase { HANDSHAKE, AWAIT_TAG, DONE, FAILED };

struct rr_hostauth {
	const struct rpcrdma_hostauth *creds;
	SSL *ssl;
	BIO *in, *out;        /* owned by @ssl */
	EVP_MD_CTX *props[2]; /* digests of properties: [0] client's, [1] server's */
	enum phase phase;
	bool server, must;
	bool frozen;      /* our tag has been made; further properties are refused */
	uint8_t *message; /* message produced by the last step, to be sent */
	char identity[RR_HOSTAUTH_IDENTITY];
	char reason[RR_HOSTAUTH_REASON];
};

/* -- creation and destruction ---------------------------------------------- */

/* Requires @name, a DNS name or an IP address, in the server's certificate.  The
 * certificate's subject and wildcards are ignored.  [RFC 9289 §5.2.1] */
static bool expect_name(SSL *ssl, const char *name)
{
	X509_VERIFY_PARAM *p = SSL_get0_param(ssl);
	unsigned char address[16];
	bool is_address = inet_pton(AF_INET, name, address) == 1 ||
	                  inet_pton(AF_INET6, name, address) == 1;

	X509_VERIFY_PARAM_set_hostflags(p, X509_CHECK_FLAG_NO_WILDCARDS |
	                                           X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	return is_address ? X509_VERIFY_PARAM_set1_ip_asc(p, name) == 1
	                  : X509_VERIFY_PARAM_set1_host(p, name, 0) == 1;
}

static bool start_dialogue(struct rr_hostauth *h, const char *name)
{
	int verify = SSL_VERIFY_PEER;

	h->ssl = SSL_new(h->server ? h->creds->server : h->creds->client);
	h->in = BIO_new(BIO_s_mem());
	h->out = BIO_new(BIO_s_mem());
	if (!h->ssl || !h->in || !h->out) {
		BIO_free(h->in);
		BIO_free(h->out);
		return false;
	}
	SSL_set_bio(h->ssl, h->in, h->out);
	for (unsigned i = 0; i < 2; i++) {
		h->props[i] = EVP_MD_CTX_new();
		if (!h->props[i] ||
		    EVP_DigestInit_ex(h->props[i], EVP_sha256(), NULL) != 1)
			return false;
	}
	if (h->creds->psk_len)
		verify = h->server ? SSL_VERIFY_NONE : SSL_VERIFY_PEER;
	else if (h->server && h->must)
		verify |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	SSL_set_verify(h->ssl, verify, NULL);
	if (h->server)
		SSL_set_accept_state(h->ssl);
	else
		SSL_set_connect_state(h->ssl);
	return h->server || !name || h->creds->psk_len || expect_name(h->ssl, name);
}

int rr_hostauth_new(const struct rpcrdma_hostauth *creds, bool server, const char *name,
                    bool must, struct rr_hostauth **ret)
{
	struct rr_hostauth *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->creds = creds;
	h->server = server;
	h->must = must;
	if (!start_dialogue(h, name)) {
		ERR_clear_error();
		rr_hostauth_free(h);
		return -ENOMEM;
	}
	*ret = h;
	return 0;
}

void rr_hostauth_free(struct rr_hostauth *h)
{
	if (!h)
		return;
	SSL_free(h->ssl);
	EVP_MD_CTX_free(h->props[0]);
	EVP_MD_CTX_free(h->props[1]);
	free(h->message);
	free(h);
}

/* -- tags over the negotiated properties ----------------------------------- */

bool rr_hostauth_property(void *ctx, bool own, uint32_t id, const void *data,
                          size_t len)
{
	struct rr_hostauth *h = ctx;
	EVP_MD_CTX *to = h->props[own == h->server];
	uint32_t head[2] = {htonl(id), htonl((uint32_t)len)};

	if (h->frozen) {
		snprintf(h->reason, sizeof(h->reason),
		         "a property after the handshake");
		return false;
	}
	return EVP_DigestUpdate(to, head, sizeof(head)) == 1 &&
	       (!len || EVP_DigestUpdate(to, data, len) == 1);
}

static bool peek_digest(EVP_MD_CTX *of, uint8_t *ret)
{
	EVP_MD_CTX *copy = EVP_MD_CTX_new();
	bool ok = copy && EVP_MD_CTX_copy_ex(copy, of) == 1 &&
	          EVP_DigestFinal_ex(copy, ret, NULL) == 1;

	EVP_MD_CTX_free(copy);
	return ok;
}

static bool make_tag(struct rr_hostauth *h, bool server, uint8_t tag[TAG])
{
	const char *label = server ? "EXPORTER-rpcrdma2-hostauth-server"
	                           : "EXPORTER-rpcrdma2-hostauth-client";
	uint8_t context[2 * DIGEST];

	return peek_digest(h->props[0], context) &&
	       peek_digest(h->props[1], context + DIGEST) &&
	       SSL_export_keying_material(h->ssl, tag, TAG, label, strlen(label),
	                                  context, sizeof(context), 1) == 1;
}

static bool send_tag(struct rr_hostauth *h)
{
	uint8_t tag[TAG];

	h->frozen = true;
	return make_tag(h, h->server, tag) && SSL_write(h->ssl, tag, TAG) == TAG;
}

/* -- allowed clients ------------------------------------------------------- */

/* Sent instead of the server's tag if the client is authenticated, but not allowed. */
static const char denied[] = "denied";

/* Returns true if @name is the client's complete identity, or a DNS name in its
 * certificate.  A DNS name must not begin with a dot, because it would match many
 * names. */
static bool is_named(const struct rr_hostauth *h, X509 *cert, const char *name)
{
	if (!strcmp(h->identity, name))
		return true;
	return cert && name[0] != '.' &&
	       X509_check_host(cert, name, 0,
	                       X509_CHECK_FLAG_NO_WILDCARDS |
	                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT,
	                       NULL) == 1;
}

static bool is_allowed(const struct rr_hostauth *h)
{
	X509 *cert = SSL_get0_peer_certificate(h->ssl);

	for (size_t i = 0; i < h->creds->n_allow; i++)
		if (is_named(h, cert, h->creds->allow[i]))
			return true;
	return !h->creds->n_allow;
}

/* -- the dialogue ---------------------------------------------------------- */

static void set_tls_reason(struct rr_hostauth *h)
{
	long verify = SSL_get_verify_result(h->ssl);

	/* X509_V_ERR_UNSPECIFIED means that no certificate was verified, because a
	 * shared key is used. */
	if (verify != X509_V_OK && verify != X509_V_ERR_UNSPECIFIED) {
		snprintf(h->reason, sizeof(h->reason), "the peer's certificate: %s",
		         X509_verify_cert_error_string(verify));
		ERR_clear_error();
	} else {
		rr_openssl_reason(h->reason, sizeof(h->reason), "TLS handshake");
	}
}

static int fail_dialogue(struct rr_hostauth *h, const char *reason)
{
	h->phase = FAILED;
	if (reason)
		snprintf(h->reason, sizeof(h->reason), "%s", reason);
	else
		set_tls_reason(h);
	return -EACCES;
}

/* Prints the certificate's subject, or its first alternative name if it has no
 * subject. */
static bool print_name(BIO *b, X509 *cert)
{
	X509_NAME *subject = X509_get_subject_name(cert);
	GENERAL_NAMES *names;
	bool ok;

	if (X509_NAME_entry_count(subject))
		return X509_NAME_print_ex(b, subject, 0, XN_FLAG_RFC2253) >= 0;
	names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	ok = sk_GENERAL_NAME_num(names) > 0 &&
	     GENERAL_NAME_print(b, sk_GENERAL_NAME_value(names, 0)) > 0;
	GENERAL_NAMES_free(names);
	return ok;
}

/* Copies the certificate's name.  A name that is too long is an error, because the
 * shortened name could be that of another host. */
static bool copy_cert_name(struct rr_hostauth *h, X509 *cert)
{
	BIO *b = BIO_new(BIO_s_mem());
	int n = -1;

	if (b && print_name(b, cert) && BIO_pending(b) < RR_HOSTAUTH_IDENTITY)
		n = BIO_read(b, h->identity, sizeof(h->identity) - 1);
	BIO_free(b);
	for (int i = 0; i < n; i++)
		if ((unsigned char)h->identity[i] < ' ')
			h->identity[i] = '.';
	return n > 0;
}

static bool identify_peer(struct rr_hostauth *h)
{
	X509 *cert = SSL_get0_peer_certificate(h->ssl);

	if (h->creds->psk_len)
		snprintf(h->identity, sizeof(h->identity), "psk:%s",
		         h->creds->psk_identity);
	return !cert || copy_cert_name(h, cert);
}

static int deny_client(struct rr_hostauth *h)
{
	char reason[RR_HOSTAUTH_REASON];

	SSL_write(h->ssl, denied, sizeof(denied) - 1);
	snprintf(reason, sizeof(reason), "%.120s is not on the list of allowed clients",
	         h->identity[0] ? h->identity : "a client without a certificate");
	return fail_dialogue(h, reason);
}

static int handle_no_tag(struct rr_hostauth *h, int reason)
{
	switch (reason) {
	case SSL_ERROR_WANT_READ:
		return 0;
	case SSL_ERROR_ZERO_RETURN: /* close_notify instead of a tag */
		return fail_dialogue(
		        h, "the peer saw other transport properties than we sent");
	default:
		return fail_dialogue(h, NULL);
	}
}

/* Reads and checks the peer's tag.  Returns 1 if the tag is correct, 0 if it has not
 * arrived yet, or a negative errno if the dialogue failed. */
static int receive_tag(struct rr_hostauth *h)
{
	uint8_t tag[TAG], want[TAG];
	int n;

	if (BIO_pending(h->in) > AFTER_MAX)
		return fail_dialogue(h, "too much after the handshake");
	n = SSL_read(h->ssl, tag, TAG);
	if (n <= 0)
		return handle_no_tag(h, SSL_get_error(h->ssl, n));
	if (n == sizeof(denied) - 1 && !h->server && !memcmp(tag, denied, (size_t)n))
		return fail_dialogue(
		        h, "we are not on the server's list of allowed clients");
	if (n != TAG || !make_tag(h, !h->server, want) ||
	    CRYPTO_memcmp(tag, want, TAG) != 0) {
		SSL_shutdown(h->ssl); /* sends close_notify instead of a tag */
		return fail_dialogue(h, "a transport property was changed on its way");
	}
	if (!identify_peer(h))
		return fail_dialogue(
		        h, "the peer's certificate has no name, or too long a one");
	return 1;
}

static int continue_after_handshake(struct rr_hostauth *h)
{
	int r;

	if (h->phase == HANDSHAKE) {
		h->phase = AWAIT_TAG;
		if (!h->server)
			return send_tag(h) ? 0 : fail_dialogue(h, NULL);
	}
	r = receive_tag(h);
	if (r == 1 && h->server && !is_allowed(h))
		return deny_client(h);
	if (r == 1 && h->server && !send_tag(h))
		return fail_dialogue(h, NULL);
	if (r == 1)
		h->phase = DONE;
	return r;
}

static int continue_dialogue(struct rr_hostauth *h)
{
	int r;

	if (h->phase == DONE || h->phase == FAILED)
		return fail_dialogue(h, "a message after the last");
	if (h->phase == AWAIT_TAG)
		return continue_after_handshake(h);
	r = SSL_do_handshake(h->ssl);
	if (r == 1)
		return continue_after_handshake(h);
	return SSL_get_error(h->ssl, r) == SSL_ERROR_WANT_READ ? 0
	                                                       : fail_dialogue(h, NULL);
}

int rr_hostauth_step(void *ctx, const void *in, size_t in_len, const void **ret_out,
                     size_t *ret_out_len)
{
	struct rr_hostauth *h = ctx;
	long n;
	int verdict;

	ERR_clear_error();
	if (in_len > INT32_MAX ||
	    (in_len && BIO_write(h->in, in, (int)in_len) != (int)in_len))
		return fail_dialogue(h, "out of memory");
	verdict = continue_dialogue(h);
	free(h->message);
	n = (long)BIO_pending(h->out);
	if (verdict == 0 && !n) /* a complete message always has an answer */
		verdict = fail_dialogue(h, "the peer's message is incomplete");
	h->message = malloc((size_t)n + 1);
	if (!h->message)
		return fail_dialogue(h, "out of memory");
	*ret_out = h->message;
	*ret_out_len = n ? (size_t)BIO_read(h->out, h->message, (int)n) : 0;
	return verdict;
}

/* -- results --------------------------------------------------------------- */

const char *rr_hostauth_identity(const struct rr_hostauth *h)
{
	return h->phase == DONE ? h->identity : "";
}

const char *rr_hostauth_reason(const struct rr_hostauth *h)
{
	return h->reason;
}

int rr_hostauth_binding(const struct rr_hostauth *h, uint8_t ret[RR_HOSTAUTH_BINDING])
{
	static const char label[] = "EXPORTER-Channel-Binding"; /* [RFC 9266 §2] */

	if (h->phase != DONE)
		return -ENOENT;
	return SSL_export_keying_material(h->ssl, ret, RR_HOSTAUTH_BINDING, label,
	                                  sizeof(label) - 1, NULL, 0, 1) == 1
	               ? 0
	               : -ENOENT;
}
