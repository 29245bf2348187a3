/* SPDX-License-Identifier: BSD-3-Clause */
/* What an end can prove, and whom it believes: OpenSSL contexts for both roles. */
#ifndef RR_HOSTAUTH_CREDS_H
#define RR_HOSTAUTH_CREDS_H

#include <openssl/ssl.h>

#include "base/base.h"

enum { RR_PSK_MAX = 64, RR_PSK_MIN = 16, RR_PSK_IDENTITY = 128 };

struct rpcrdma_hostauth {
	SSL_CTX *client, *server;
	uint8_t psk[RR_PSK_MAX];
	size_t psk_len; /* 0: certificates */
	char psk_identity[RR_PSK_IDENTITY];
	bool names_authorities; /* not the system's list */
	char **allow;           /* clients that a server lets in; 0: all */
	size_t n_allow;
};

/* OpenSSL's reason for the last failure of this thread, and forgets it. */
void rr_openssl_reason(char *text, size_t size, const char *what);

#endif
