/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Authorities and certificates for tests, made in a directory of their own:
 *
 *   ca.pem    other.pem      two authorities
 *   server    client         leaves of the first (NAME.pem, NAME.key)
 *   stranger                 a leaf of the other
 *   expired                  a leaf that has expired
 *   psk  psk2                pre-shared keys of the same identity
 */
#ifndef RR_TEST_CERTS_H
#define RR_TEST_CERTS_H

#include <stdbool.h>
#include <sys/types.h>

struct cert_ca {
	struct x509_st *cert;
	struct evp_pkey_st *key;
};

struct certs {
	char dir[64];
	struct cert_ca ca, other;
};

enum { CERT_DAY = 86400 };

/* A certificate to make; all but the first may be left out. */
struct cert_want {
	const char *file; /* NAME.pem and NAME.key */
	const char *cn;   /* of the subject; NULL: the file's name, "": no subject */
	const char *ou;   /* also of the subject, four times */
	const char *san, *eku; /* as openssl.cnf has them */
	bool signs;            /* an authority */
	long from, until;      /* in seconds from now; 0, 0: a day each way */
};

/* Makes the directory and what is in it; removes both. */
void certs_begin(struct certs *c);
void certs_end(struct certs *c);

/* Return a path that stays valid during the next 63 calls. */
const char *certs_path(const struct certs *c, const char *name);
const char *certs_file(const struct certs *c, const char *name, const char *suffix);

/* Makes a certificate, self-signed if @ca is NULL. */
struct cert_ca cert_make(struct certs *c, const struct cert_want *want,
                         const struct cert_ca *ca);
void cert_drop(struct cert_ca r);
/* Makes a leaf of the first authority. */
void cert_leaf(struct certs *c, const struct cert_want *want);
/* Writes a file. */
void certs_text(struct certs *c, const char *name, const char *text, mode_t mode);

#endif
