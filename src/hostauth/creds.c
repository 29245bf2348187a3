/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "hostauth/creds.h"
#include "hostauth/hostauth.h"

#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sized.h"

void rr_openssl_reason(char *text, size_t size, const char *what)
{
	unsigned long e = ERR_peek_error();
	const char *reason = e ? ERR_reason_error_string(e) : NULL;

	if (e && ERR_SYSTEM_ERROR(e))
		reason = strerror(ERR_GET_REASON(e));
	snprintf(text, size, "%s: %s", what, reason ? reason : "unknown reason");
	ERR_clear_error();
}

/* -- the pre-shared key ---------------------------------------------------------- */

static int parse_psk_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* Parses a line IDENTITY:HEX. */
static int parse_psk(struct rpcrdma_hostauth *h, char *line)
{
	char *hex = strchr(line, ':');
	size_t n;

	line[strcspn(line, "\r\n")] = '\0';
	if (!hex || hex == line || hex - line >= RR_PSK_IDENTITY)
		return -EBADMSG;
	*hex++ = '\0';
	n = strlen(hex);
	if (n % 2 || n / 2 < RR_PSK_MIN || n / 2 > RR_PSK_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < n; i += 2) {
		int hi = parse_psk_digit(hex[i]), lo = parse_psk_digit(hex[i + 1]);

		if (hi < 0 || lo < 0)
			return -EBADMSG;
		h->psk[i / 2] = (uint8_t)(hi << 4 | lo);
	}
	h->psk_len = n / 2;
	strcpy(h->psk_identity, line);
	return 0;
}

static int read_psk(struct rpcrdma_hostauth *h, const char *path, char *reason,
                    size_t size)
{
	char line[RR_PSK_IDENTITY + 2 * RR_PSK_MAX + 8] = "";
	FILE *f = fopen(path, "re");
	struct stat st;
	int err;

	if (!f) {
		err = -errno;
		snprintf(reason, size, "%s: %s", path, strerror(-err));
		return err;
	}
	if (fstat(fileno(f), &st) || st.st_mode & (S_IRWXG | S_IRWXO)) {
		snprintf(reason, size, "%s: others may read it: chmod 600", path);
		err = -EACCES;
	} else if (!fgets(line, sizeof(line), f) || parse_psk(h, line)) {
		snprintf(reason, size, "%s: not IDENTITY:HEX of %d to %d octets", path,
		         RR_PSK_MIN, RR_PSK_MAX);
		err = -EBADMSG;
	} else {
		err = 0;
	}
	OPENSSL_cleanse(line, sizeof(line));
	fclose(f);
	return err;
}

static SSL_SESSION *make_psk_session(SSL *ssl, const struct rpcrdma_hostauth *h)
{
	static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
	SSL_SESSION *s = SSL_SESSION_new();

	if (s && cipher && SSL_SESSION_set1_master_key(s, h->psk, h->psk_len) &&
	    SSL_SESSION_set_cipher(s, cipher) &&
	    SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION))
		return s;
	SSL_SESSION_free(s);
	return NULL;
}

static int offer_psk(SSL *ssl, const EVP_MD *md, const unsigned char **id,
                     size_t *id_len, SSL_SESSION **ret)
{
	const struct rpcrdma_hostauth *h = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	*ret = NULL;
	/* after a HelloRetryRequest, @md is the digest that the server has chosen */
	if (md && EVP_MD_get_type(md) != NID_sha256)
		return 1;
	*ret = make_psk_session(ssl, h);
	*id = (const unsigned char *)h->psk_identity;
	*id_len = strlen(h->psk_identity);
	return *ret != NULL;
}

static int find_psk(SSL *ssl, const unsigned char *id, size_t id_len, SSL_SESSION **ret)
{
	const struct rpcrdma_hostauth *h = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	*ret = NULL;
	if (id_len != strlen(h->psk_identity) ||
	    CRYPTO_memcmp(id, h->psk_identity, id_len) != 0)
		return 1; /* without a key or a certificate, the handshake fails */
	*ret = make_psk_session(ssl, h);
	return *ret != NULL;
}

/* -- contexts -------------------------------------------------------------------- */

/* Replaces OpenSSL's callback, which would ask for the pass phrase on a terminal. */
static int refuse_pass_phrase(char *buf, int size, int writing, void *asked)
{
	(void)buf;
	(void)size;
	(void)writing;
	*(bool *)asked = true;
	return -1;
}

static bool load_private_key(SSL_CTX *x, const char *file, char *reason, size_t size)
{
	bool enciphered = false, ok;

	SSL_CTX_set_default_passwd_cb(x, refuse_pass_phrase);
	SSL_CTX_set_default_passwd_cb_userdata(x, &enciphered);
	ok = SSL_CTX_use_PrivateKey_file(x, file, SSL_FILETYPE_PEM) == 1 &&
	     SSL_CTX_check_private_key(x) == 1;
	SSL_CTX_set_default_passwd_cb_userdata(x, NULL);
	if (!ok)
		rr_openssl_reason(reason, size, file);
	if (!ok && enciphered)
		snprintf(reason, size, "%s: it is enciphered", file);
	return ok;
}

/* Loads the trusted authorities.  Only a client may use the system's list, because the
 * client also checks the server's name.  A server would admit any client that has a
 * certificate from one of these authorities. */
static bool load_authorities(SSL_CTX *x, bool server,
                             const struct rpcrdma_hostauth_options *o, char *reason,
                             size_t size)
{
	bool ok = o->ca_file ? SSL_CTX_load_verify_file(x, o->ca_file) == 1
	                     : server || SSL_CTX_set_default_verify_paths(x) == 1;

	if (!ok)
		rr_openssl_reason(reason, size,
		                  o->ca_file ? o->ca_file : "authorities");
	return ok;
}

static bool load_files(SSL_CTX *x, bool server,
                       const struct rpcrdma_hostauth_options *o, char *reason,
                       size_t size)
{
	const char *key = o->key_file ? o->key_file : o->cert_file;

	if (!load_authorities(x, server, o, reason, size))
		return false;
	if (!o->cert_file)
		return true;
	if (SSL_CTX_use_certificate_chain_file(x, o->cert_file) != 1) {
		rr_openssl_reason(reason, size, o->cert_file);
		return false;
	}
	return load_private_key(x, key, reason, size);
}

static SSL_CTX *new_context(struct rpcrdma_hostauth *h, bool server,
                            const struct rpcrdma_hostauth_options *o, char *reason,
                            size_t size)
{
	SSL_CTX *x = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

	if (!x)
		return NULL;
	SSL_CTX_set_app_data(x, h);
	SSL_CTX_set_min_proto_version(x, TLS1_3_VERSION);
	SSL_CTX_set_session_cache_mode(x, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(x, 0); /* no session resumption */
	SSL_CTX_set_options(x, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
	if (h->psk_len) {
		SSL_CTX_set_ciphersuites(x, "TLS_AES_128_GCM_SHA256");
		SSL_CTX_set_psk_use_session_callback(x, offer_psk);
		SSL_CTX_set_psk_find_session_callback(x, find_psk);
		return x;
	}
	if (load_files(x, server, o, reason, size))
		return x;
	SSL_CTX_free(x);
	return NULL;
}

static int copy_allow(struct rpcrdma_hostauth *h,
                      const struct rpcrdma_hostauth_options *o)
{
	h->allow = calloc(o->n_allow + 1, sizeof(*h->allow));
	if (!h->allow)
		return -ENOMEM;
	for (; h->n_allow < o->n_allow; h->n_allow++) {
		h->allow[h->n_allow] = strdup(o->allow[h->n_allow]);
		if (!h->allow[h->n_allow])
			return -ENOMEM;
	}
	return 0;
}

static int fill_credentials(struct rpcrdma_hostauth *h,
                            const struct rpcrdma_hostauth_options *o, char *reason,
                            size_t size)
{
	int err = copy_allow(h, o);

	if (!err && o->psk_file)
		err = read_psk(h, o->psk_file, reason, size);
	if (err)
		return err;
	h->names_authorities = o->ca_file;
	h->client = new_context(h, false, o, reason, size);
	if (h->client)
		h->server = new_context(h, true, o, reason, size);
	return h->server ? 0 : -EBADMSG;
}

/* Returns a description of a contradiction in the options, or NULL if there is none. */
static const char *find_contradiction(const struct rpcrdma_hostauth_options *o)
{
	if (o->psk_file && (o->cert_file || o->key_file || o->ca_file))
		return "a pre-shared key or certificates, not both";
	if (o->key_file && !o->cert_file)
		return "a private key without a certificate";
	for (size_t i = 0; i < o->n_allow; i++)
		if (!o->allow || !o->allow[i] || !*o->allow[i])
			return "an identity to be allowed is empty";
	return NULL;
}

int rpcrdma_hostauth_new(const struct rpcrdma_hostauth_options *o,
                         struct rpcrdma_hostauth **ret, char *reason,
                         size_t reason_size)
{
	struct rpcrdma_hostauth_options own;
	struct rpcrdma_hostauth *h;
	char unheard[1];
	int err;

	if (!reason || !reason_size) {
		reason = unheard;
		reason_size = sizeof(unheard);
	}
	reason[0] = '\0';
	err = o ? RR_SIZED_TAKE(&own, size, o) : -EINVAL;
	if (err)
		return err;
	if (find_contradiction(&own)) {
		snprintf(reason, reason_size, "%s", find_contradiction(&own));
		return -EINVAL;
	}
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	err = fill_credentials(h, &own, reason, reason_size);
	if (err) {
		rpcrdma_hostauth_free(h);
		return err;
	}
	*ret = h;
	return 0;
}

int rr_hostauth_serves(const struct rpcrdma_hostauth *h)
{
	if (h->psk_len)
		return 0;
	if (!SSL_CTX_get0_certificate(h->server))
		return -EINVAL;
	return h->names_authorities ? 0 : -ENOKEY;
}

void rpcrdma_hostauth_free(struct rpcrdma_hostauth *h)
{
	if (!h)
		return;
	SSL_CTX_free(h->client);
	SSL_CTX_free(h->server);
	for (size_t i = 0; i < h->n_allow; i++)
		free(h->allow[i]);
	free(h->allow);
	OPENSSL_cleanse(h, sizeof(*h));
	free(h);
}
