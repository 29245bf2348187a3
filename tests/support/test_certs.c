/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "test_certs.h"

const char *certs_path(const struct certs *c, const char *name)
{
	static char path[64][144];
	static unsigned n;
	char *p = path[n++ % 64];

	snprintf(p, sizeof(path[0]), "%s/%s", c->dir, name);
	return p;
}

const char *certs_file(const struct certs *c, const char *name, const char *suffix)
{
	char file[64];

	snprintf(file, sizeof(file), "%s%s", name, suffix);
	return certs_path(c, file);
}

static void cert_extend(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	assert_non_null(e);
	X509_add_ext(x, e, -1);
	X509_EXTENSION_free(e);
}

static void cert_name(X509 *x, const char *field, const char *value)
{
	assert_int_equal(X509_NAME_add_entry_by_txt(
	                         X509_get_subject_name(x), field, MBSTRING_ASC,
	                         (const unsigned char *)value, -1, -1, 0),
	                 1);
}

static void cert_write(struct certs *c, const char *name, const struct cert_ca *r)
{
	FILE *f = fopen(certs_file(c, name, ".pem"), "w");

	assert_non_null(f);
	PEM_write_X509(f, r->cert);
	fclose(f);
	f = fopen(certs_file(c, name, ".key"), "w");
	assert_non_null(f);
	PEM_write_PrivateKey(f, r->key, NULL, NULL, 0, NULL, NULL);
	fclose(f);
}

struct cert_ca cert_make(struct certs *c, const struct cert_want *want,
                         const struct cert_ca *ca)
{
	struct cert_ca r = {X509_new(), EVP_EC_gen("P-256")};
	const char *cn = want->cn ? want->cn : want->file;
	X509 *issuer = ca ? ca->cert : r.cert;
	static long serial;

	assert_non_null(r.key);
	X509_set_version(r.cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(r.cert), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(r.cert),
	                want->from ? want->from : -CERT_DAY);
	X509_gmtime_adj(X509_getm_notAfter(r.cert),
	                want->until ? want->until : CERT_DAY);
	X509_set_pubkey(r.cert, r.key);
	if (*cn)
		cert_name(r.cert, "CN", cn);
	for (unsigned i = 0; want->ou && i < 4; i++)
		cert_name(r.cert, "OU", want->ou);
	X509_set_issuer_name(r.cert, X509_get_subject_name(issuer));
	cert_extend(r.cert, issuer, NID_basic_constraints,
	            want->signs ? "critical,CA:TRUE" : "critical,CA:FALSE");
	if (want->san)
		cert_extend(r.cert, issuer, NID_subject_alt_name, want->san);
	if (want->eku)
		cert_extend(r.cert, issuer, NID_ext_key_usage, want->eku);
	assert_int_not_equal(X509_sign(r.cert, ca ? ca->key : r.key, EVP_sha256()), 0);
	cert_write(c, want->file, &r);
	return r;
}

void cert_drop(struct cert_ca r)
{
	X509_free(r.cert);
	EVP_PKEY_free(r.key);
}

void cert_leaf(struct certs *c, const struct cert_want *want)
{
	cert_drop(cert_make(c, want, &c->ca));
}

void certs_text(struct certs *c, const char *name, const char *text, mode_t mode)
{
	FILE *f = fopen(certs_path(c, name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(certs_path(c, name), mode), 0);
}

void certs_begin(struct certs *c)
{
	*c = (struct certs){.dir = "/tmp/rpcrdma-certs-XXXXXX"};
	assert_non_null(mkdtemp(c->dir));
	c->ca = cert_make(c, &(struct cert_want){.file = "ca", .signs = true}, NULL);
	c->other =
	        cert_make(c, &(struct cert_want){.file = "other", .signs = true}, NULL);
	cert_leaf(c, &(struct cert_want){.file = "server",
	                                 .san = "DNS:server.example,IP:127.0.0.1"});
	cert_leaf(c,
	          &(struct cert_want){.file = "client", .san = "DNS:client.example"});
	cert_leaf(c, &(struct cert_want){.file = "expired",
	                                 .san = "IP:127.0.0.1",
	                                 .from = -2 * CERT_DAY,
	                                 .until = -CERT_DAY});
	cert_drop(cert_make(
	        c, &(struct cert_want){.file = "stranger", .san = "IP:127.0.0.1"},
	        &c->other));
	certs_text(c, "psk", "host1:00112233445566778899aabbccddeeff\n", 0600);
	certs_text(c, "psk2", "host1:ff112233445566778899aabbccddeeff\n", 0600);
}

void certs_end(struct certs *c)
{
	DIR *d = opendir(c->dir);
	struct dirent *e;

	cert_drop(c->ca);
	cert_drop(c->other);
	assert_non_null(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	assert_int_equal(rmdir(c->dir), 0);
}
