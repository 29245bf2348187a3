/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS messages of a client that has an established context.     [RFC 2203 §5]
 *
 * The credential of a Call contains the context's handle and a sequence number.  The
 * verifier is the MIC of the header up to and including the credential.  Arguments and
 * results are sent unchanged (krb5), with the sequence number and a MIC of both
 * (krb5i), or encrypted together with the sequence number (krb5p).  The verifier of a
 * Reply is the MIC of the sequence number.
 *
 * These functions do no I/O and read no clock.  They allocate memory only for a struct
 * rr_gss_body.  Each length from the peer is checked against the received message.  The
 * peer's data are used only after their MIC was verified.
 */
#ifndef RR_GSS_MESSAGE_H
#define RR_GSS_MESSAGE_H

#include <gssapi/gssapi.h>

#include "gss/contexts.h"

enum {
	/* Maximum length of a server's handle that we accept. */
	RR_GSS_HANDLE_MAX = 128,
	/* Maximum number of octets that protection adds: lengths, a MIC, and RFC 4121's
	 * token headers. */
	RR_GSS_PROTECTION_MAX = 256,
};

struct rr_gss_cred {
	uint32_t proc, seq, service;
	uint32_t handle_len;
	uint8_t handle[RR_GSS_HANDLE_MAX];
};

/* Encodes the body of a credential.  Returns its length in octets, or -EMSGSIZE. */
int rr_gss_msg_put_cred(void *buf, size_t size,
                        const struct rr_gss_cred *) RR_MUST_CHECK;

/* Writes the MIC of @octets to @buf.  Returns the length of the MIC, -EKEYEXPIRED,
 * -EKEYREJECTED or -EMSGSIZE. */
int rr_gss_msg_sign(gss_ctx_id_t, const void *octets, size_t len, void *buf,
                    size_t size) RR_MUST_CHECK;
/* Verifies a MIC.  Returns 0, -EKEYEXPIRED or -EKEYREJECTED. */
int rr_gss_msg_check(gss_ctx_id_t, const void *octets, size_t len, const void *mic,
                     size_t mic_len) RR_MUST_CHECK;
/* Checks the verifier of a Reply.  @number is the sequence number, or the window if the
 * Reply creates a context. */
int rr_gss_msg_check_number(gss_ctx_id_t, uint32_t number, const void *mic,
                            size_t mic_len) RR_MUST_CHECK;

/* Protected arguments, as pieces of the Payload stream, or unwrapped results.  A zeroed
 * struct has no pieces. */
struct rr_gss_body {
	struct rr_piece pieces[3];
	unsigned n_pieces;
	void *own;             /* memory from malloc, or NULL */
	gss_buffer_desc token; /* memory from GSS-API, or empty */
	uint8_t head[4], pad[4];
};
void rr_gss_body_fini(struct rr_gss_body *);

/*
 * Protects arguments or results.  @service is INTEGRITY or PRIVACY.  Items become
 * inline data with XDR padding.  @ret must not be moved, since its pieces point into
 * it.  Returns -EINVAL if the length is not a multiple of four, -ENOMEM, -EMSGSIZE,
 * -EKEYEXPIRED or -EKEYREJECTED.
 */
int rr_gss_msg_wrap(gss_ctx_id_t, uint32_t service, uint32_t seq,
                    const struct rr_piece *, unsigned n,
                    struct rr_gss_body *ret) RR_MUST_CHECK;
/*
 * Verifies or decrypts results.  @ret gets one piece, which points into @body or into
 * memory that @ret owns.  Returns -EBADMSG if the results are malformed or contain a
 * wrong sequence number, -EKEYREJECTED, -EKEYEXPIRED or -ENOMEM.
 */
int rr_gss_msg_unwrap(gss_ctx_id_t, uint32_t service, uint32_t seq, const void *body,
                      size_t len, struct rr_gss_body *ret) RR_MUST_CHECK;

/* Writes to @buf an explanation of why a GSS-API call failed. */
void rr_gss_msg_reason(uint32_t major, uint32_t minor, gss_OID mech, char *buf,
                       size_t size);

/* The results of INIT and CONTINUE_INIT.                      [RFC 2203 §5.2.3.1] */
struct rr_gss_init_res {
	uint32_t handle_len, major, minor, window, token_len;
	const uint8_t *handle, *token; /* within the results */
};
/* Decodes the results of INIT and CONTINUE_INIT.  Returns 0 or -EBADMSG. */
int rr_gss_msg_get_init_res(const void *results, size_t len,
                            struct rr_gss_init_res *ret) RR_MUST_CHECK;

#endif
