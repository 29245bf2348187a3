/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials and trusted authorities: OpenSSL contexts for both roles. */
#ifndef RR_HOSTAUTH_CREDS_H
#define RR_HOSTAUTH_CREDS_H

#include <openssl/ssl.h>

#include "base/base.h"

enum { RR_PSK_MAX = 64, RR_PSK_MIN = 16, RR_PSK_IDENTITY = 128 };

struct rpcrdma_hostauth {
	SSL_CTX *client, *server;
	uint8_t psk[RR_PSK_MAX];
	size_t psk_len; /* 0: certificates are used */
	char psk_identity[RR_PSK_IDENTITY];
	bool names_authorities; /* authorities are from ca_file, not from the system's
	                         * list */
	char **allow; /* names of the clients that a server admits; empty: all */
	size_t n_allow;
};

/* Writes "@what: reason" to @text, with the reason from the oldest entry in this
 * thread's OpenSSL error queue, and clears the queue. */
void rr_openssl_reason(char *text, size_t size, const char *what);

#endif
