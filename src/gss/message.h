/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS messages of a client that has an established context.     [RFC 2203 §5]
 *
 * The credential of a Call contains the handle of the context and a sequence number.
 * The verifier is the MIC of the header up to and including the credential.  Arguments
 * and results are unchanged (krb5), or sent with the sequence number and a MIC of both
 * (krb5i), or encrypted together with the sequence number (krb5p).  The verifier of a
 * Reply is the MIC of the sequence number.
 *
 * These functions do no I/O and read no clock.  They allocate only struct rr_gss_body.
 * Lengths from the peer are bounded by the message received, and its data is trusted
 * only after its MIC was verified.
 */
#ifndef RR_GSS_MESSAGE_H
#define RR_GSS_MESSAGE_H

#include <gssapi/gssapi.h>

#include "gss/contexts.h"

enum {
	/* The longest handle of a server that we accept. */
	RR_GSS_HANDLE_MAX = 128,
	/* Most octets that protection adds: lengths, MIC, token headers of RFC 4121. */
	RR_GSS_PROTECTION_MAX = 256,
};

struct rr_gss_cred {
	uint32_t proc, seq, service;
	uint32_t handle_len;
	uint8_t handle[RR_GSS_HANDLE_MAX];
};

/* Encodes the body of a credential, and returns its octets.  -EMSGSIZE. */
int rr_gss_msg_put_cred(void *buf, size_t size,
                        const struct rr_gss_cred *) RR_MUST_CHECK;

/* Writes the MIC of @octets into @buf, and returns its length.  -EKEYEXPIRED,
 * -EKEYREJECTED, -EMSGSIZE. */
int rr_gss_msg_sign(gss_ctx_id_t, const void *octets, size_t len, void *buf,
                    size_t size) RR_MUST_CHECK;
/* Verifies a MIC.  -EKEYEXPIRED, -EKEYREJECTED. */
int rr_gss_msg_check(gss_ctx_id_t, const void *octets, size_t len, const void *mic,
                     size_t mic_len) RR_MUST_CHECK;
/* Verifies the verifier of a Reply; @number is the sequence number, or the window for
 * the creation of a context. */
int rr_gss_msg_check_number(gss_ctx_id_t, uint32_t number, const void *mic,
                            size_t mic_len) RR_MUST_CHECK;

/* Protected arguments as pieces of the Payload stream, or unwrapped results.  Empty if
 * zeroed. */
struct rr_gss_body {
	struct rr_piece pieces[3];
	unsigned n_pieces;
	void *own;             /* from malloc */
	gss_buffer_desc token; /* allocated by GSS-API */
	uint8_t head[4], pad[4];
};
void rr_gss_body_fini(struct rr_gss_body *);

/*
 * Protects arguments (or results); @service is INTEGRITY or PRIVACY.  Items are inline
 * then, with XDR padding.  @ret must not be moved, since its pieces point into it.
 * -EINVAL: the length is not a multiple of four; -ENOMEM, -EMSGSIZE, -EKEYEXPIRED,
 * -EKEYREJECTED.
 */
int rr_gss_msg_wrap(gss_ctx_id_t, uint32_t service, uint32_t seq,
                    const struct rr_piece *, unsigned n,
                    struct rr_gss_body *ret) RR_MUST_CHECK;
/*
 * Verifies or decrypts results.  @ret gets one piece, within @body or within memory of
 * @ret.  -EBADMSG: malformed, or of another sequence number; -EKEYREJECTED,
 * -EKEYEXPIRED, -ENOMEM.
 */
int rr_gss_msg_unwrap(gss_ctx_id_t, uint32_t service, uint32_t seq, const void *body,
                      size_t len, struct rr_gss_body *ret) RR_MUST_CHECK;

/* Writes the reason of a failed GSS-API call as text. */
void rr_gss_msg_reason(uint32_t major, uint32_t minor, gss_OID mech, char *buf,
                       size_t size);

/* The results of INIT and CONTINUE_INIT.                      [RFC 2203 §5.2.3.1] */
struct rr_gss_init_res {
	uint32_t handle_len, major, minor, window, token_len;
	const uint8_t *handle, *token; /* within the results */
};
/* Decodes them; -EBADMSG. */
int rr_gss_msg_get_init_res(const void *results, size_t len,
                            struct rr_gss_init_res *ret) RR_MUST_CHECK;

#endif
