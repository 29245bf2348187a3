/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Authorities and certificates for tests, made in a directory of their own:
 *
 *   ca.pem    other.pem      two authorities
 *   server    client         leaves of the first (NAME.pem, NAME.key)
 *   stranger                 a leaf of the other
 *   expired                  a leaf whose time is over
 *   psk  psk2                pre-shared keys of the same identity
 */
#ifndef TESTS_E2E_CERTS_H
#define TESTS_E2E_CERTS_H

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct certs {
	char dir[64];
};

struct cert_ca {
	X509 *cert;
	EVP_PKEY *key;
};

/* Good for the next sixty-four. */
static inline const char *certs_path(const struct certs *c, const char *name)
{
	static char path[64][144];
	static unsigned n;
	char *p = path[n++ % 64];

	snprintf(p, sizeof(path[0]), "%s/%s", c->dir, name);
	return p;
}

static inline void cert_extend(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	assert_non_null(e);
	X509_add_ext(x, e, -1);
	X509_EXTENSION_free(e);
}

/* @ca NULL: signs itself and may sign others. */
static inline struct cert_ca cert_make(struct certs *c, const char *name,
                                       const struct cert_ca *ca, const char *san,
                                       long from, long until)
{
	struct cert_ca r = {X509_new(), EVP_EC_gen("P-256")};
	static long serial;
	char file[64];
	FILE *f;

	assert_non_null(r.key);
	X509_set_version(r.cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(r.cert), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(r.cert), from);
	X509_gmtime_adj(X509_getm_notAfter(r.cert), until);
	X509_set_pubkey(r.cert, r.key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(r.cert), "CN", MBSTRING_ASC,
	                           (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(r.cert, X509_get_subject_name(ca ? ca->cert : r.cert));
	cert_extend(r.cert, ca ? ca->cert : r.cert, NID_basic_constraints,
	            ca ? "critical,CA:FALSE" : "critical,CA:TRUE");
	if (san)
		cert_extend(r.cert, ca->cert, NID_subject_alt_name, san);
	assert_int_not_equal(X509_sign(r.cert, ca ? ca->key : r.key, EVP_sha256()), 0);
	snprintf(file, sizeof(file), "%s.pem", name);
	f = fopen(certs_path(c, file), "w");
	assert_non_null(f);
	PEM_write_X509(f, r.cert);
	fclose(f);
	snprintf(file, sizeof(file), "%s.key", name);
	f = fopen(certs_path(c, file), "w");
	assert_non_null(f);
	PEM_write_PrivateKey(f, r.key, NULL, NULL, 0, NULL, NULL);
	fclose(f);
	return r;
}

static inline void cert_drop(struct cert_ca r)
{
	X509_free(r.cert);
	EVP_PKEY_free(r.key);
}

static inline void certs_text(struct certs *c, const char *name, const char *text,
                              mode_t mode)
{
	FILE *f = fopen(certs_path(c, name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(certs_path(c, name), mode), 0);
}

static inline void certs_begin(struct certs *c)
{
	const long day = 86400;
	struct cert_ca ca, other;

	*c = (struct certs){.dir = "/tmp/rpcrdma-certs-XXXXXX"};
	assert_non_null(mkdtemp(c->dir));
	ca = cert_make(c, "ca", NULL, NULL, -day, day);
	other = cert_make(c, "other", NULL, NULL, -day, day);
	cert_drop(cert_make(c, "server", &ca, "DNS:server.example,IP:127.0.0.1", -day,
	                    day));
	cert_drop(cert_make(c, "client", &ca, "DNS:client.example", -day, day));
	cert_drop(cert_make(c, "stranger", &other, "IP:127.0.0.1", -day, day));
	cert_drop(cert_make(c, "expired", &ca, "IP:127.0.0.1", -2 * day, -day));
	cert_drop(ca);
	cert_drop(other);
	certs_text(c, "psk", "host1:00112233445566778899aabbccddeeff\n", 0600);
	certs_text(c, "psk2", "host1:ff112233445566778899aabbccddeeff\n", 0600);
}

static inline void certs_end(struct certs *c)
{
	static const char *const names[] = {"ca",     "other",    "server",
	                                    "client", "stranger", "expired"};
	char file[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(file, sizeof(file), "%s.pem", names[i]);
		unlink(certs_path(c, file));
		snprintf(file, sizeof(file), "%s.key", names[i]);
		unlink(certs_path(c, file));
	}
	unlink(certs_path(c, "psk"));
	unlink(certs_path(c, "psk2"));
	unlink(certs_path(c, "odd"));
	assert_int_equal(rmdir(c->dir), 0);
}

#endif
