/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of RPCSEC_GSS that is nobody's library: GSS-API and octets, so that it can
 * say what an honest one would not.                                [RFC 2203 §5]
 */
#ifndef PEER_H
#define PEER_H

#include <gssapi/gssapi.h>

#include <rpcrdma/rpcrdma.h>

struct peer {
	gss_ctx_id_t id;
	gss_name_t name;
	uint8_t handle[400];
	uint32_t handle_len, window, seq;
	gss_buffer_desc token; /* the one that was sent last */
};

/* What a Call's credential says, if not what is right. */
struct saying {
	uint32_t version, proc, service, seq;
};

/* A Call, laid out. */
struct said {
	struct rpcrdma_auth cred, verf;
	uint8_t cred_body[400], verf_body[400];
	uint8_t *args;
	size_t args_len;
};

/* The first token for @service ("nfs@HOST"), by the cache that KRB5CCNAME names. */
void peer_begin(struct peer *, const char *service);
/* Takes the server's token; it is complete then. */
void peer_complete(struct peer *, const void *token, size_t len);
void peer_end(struct peer *);

/* The credential alone. */
void peer_credential(const struct peer *, const struct saying *, struct said *);
/* A Call with arguments @plain under the service that @s names. */
void peer_say(struct peer *, const struct saying *s, uint32_t xid, uint32_t program,
              uint32_t version, uint32_t procedure, const void *plain, size_t len,
              struct said *);
void said_free(struct said *);

/* Is it the checksum of @word? */
int peer_verifies(struct peer *, const struct rpcrdma_auth *, uint32_t word);
/* The results within what the server sent: malloc'ed; NULL if they are not right. */
void *peer_unwrap(struct peer *, uint32_t service, uint32_t seq, const void *p,
                  size_t len, size_t *ret_len);

#endif
