/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What RPCSEC_GSS adds to a message: a client's half, by an established context.
 *                                                             [RFC 2203 §5]
 * A Call's credential names the context and a sequence number; its verifier is the
 * MIC of the header up to the credential.  Its arguments, and the results of its
 * Reply, are as ever (krb5), together with the sequence number and a MIC of both
 * (krb5i), or encrypted with it (krb5p).  A Reply's verifier is the MIC of the
 * sequence number.
 *
 * Functions over octets: no I/O, no clock; what they allocate is in struct
 * rr_gss_body.  What comes from the peer is bounded by the message that it came in,
 * and believed after its MIC was right only.
 */
#ifndef RR_GSS_MESSAGE_H
#define RR_GSS_MESSAGE_H

#include <gssapi/gssapi.h>

#include "gss/contexts.h"

enum {
	RR_GSS_FLAVOR = 6,
	/* Handles as servers give them out; a credential holds 20 octets beside it. */
	RR_GSS_HANDLE_MAX = 128,
	/* What protection adds at most: words, MIC, headers of RFC 4121. */
	RR_GSS_PROTECTION_MAX = 256,
};

struct rr_gss_cred {
	uint32_t proc, seq, service;
	uint32_t handle_len;
	uint8_t handle[RR_GSS_HANDLE_MAX];
};

/* Octets of the body.  -EMSGSIZE. */
int rr_gss_msg_put_cred(void *buf, size_t size,
                        const struct rr_gss_cred *) RR_MUST_CHECK;
/* -EBADMSG; service and procedure are not judged. */
int rr_gss_msg_get_cred(const void *body, size_t len,
                        struct rr_gss_cred *ret) RR_MUST_CHECK;

/* The MIC of some octets: how many, -EKEYEXPIRED, -EKEYREJECTED or -EMSGSIZE. */
int rr_gss_msg_sign(gss_ctx_id_t, const void *octets, size_t len, void *buf,
                    size_t size) RR_MUST_CHECK;
/* 0, -EKEYEXPIRED or -EKEYREJECTED. */
int rr_gss_msg_check(gss_ctx_id_t, const void *octets, size_t len, const void *mic,
                     size_t mic_len) RR_MUST_CHECK;
/* The verifier of a Reply, or of a context's (the number is the window then). */
int rr_gss_msg_check_number(gss_ctx_id_t, uint32_t number, const void *mic,
                            size_t mic_len) RR_MUST_CHECK;

/* Protected arguments as pieces of the Payload stream, or plain results.  Zeroed it
 * is empty. */
struct rr_gss_body {
	struct rr_piece pieces[3];
	unsigned n_pieces;
	void *own;             /* from malloc */
	gss_buffer_desc token; /* of the mechanism's */
	uint8_t head[4], pad[4];
};
void rr_gss_body_fini(struct rr_gss_body *);

/*
 * Protects a message's arguments (or results): @service is INTEGRITY or PRIVACY.
 * Items are XDR like the rest then, with their padding.  @ret is over them, and must
 * not be moved.  -EINVAL: it is no XDR; -ENOMEM, -EMSGSIZE, -EKEYEXPIRED, -EKEYREJECTED.
 */
int rr_gss_msg_wrap(gss_ctx_id_t, uint32_t service, uint32_t seq,
                    const struct rr_piece *, unsigned n,
                    struct rr_gss_body *ret) RR_MUST_CHECK;
/*
 * The other way: @ret has one piece, within @body or memory of its own.
 * -EBADMSG malformed, or another message's; -EKEYREJECTED, -EKEYEXPIRED, -ENOMEM.
 */
int rr_gss_msg_unwrap(gss_ctx_id_t, uint32_t service, uint32_t seq, const void *body,
                      size_t len, struct rr_gss_body *ret) RR_MUST_CHECK;

/* What a failed GSS-API call says, in words. */
void rr_gss_msg_words(uint32_t major, uint32_t minor, gss_OID mech, char *buf,
                      size_t size);

/* The answer to INIT and CONTINUE_INIT.                       [RFC 2203 §5.2.3.1] */
struct rr_gss_init_res {
	uint32_t handle_len, major, minor, window, token_len;
	const uint8_t *handle, *token; /* within the results */
};
/* -EBADMSG. */
int rr_gss_msg_get_init_res(const void *results, size_t len,
                            struct rr_gss_init_res *ret) RR_MUST_CHECK;

#endif
