/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host authentication: the two ends of a connection prove who they are before any RPC.
 *                                                           [v2 §5.2.6, §11.1.1]
 * The draft has a transport property for it and leaves the mechanism open.  This
 * library uses TLS 1.3 [RFC 8446] with certificates of both ends or a pre-shared key.
 * Property 6 carries the handshake messages, in as many rounds as needed.  Then each
 * end sends an exporter value [RFC 8446 §7.5] over all properties that it sent and
 * received, under a label with its role and the version.  So an attacker in the middle
 * who changes a property or replays a handshake is detected.
 *
 * It proves that the peer has the key of its certificate, or the shared key, and that
 * both ends negotiated the same properties.  It does NOT protect the data: after the
 * handshake nothing is encrypted or authenticated, and an attacker who can take over
 * the connection can use it.  Use it on networks where that is hard, bind RPCSEC_GSS to
 * it (rpcrdma_conn_channel_binding), or use krb5i or krb5p.  Under PREFER an attacker
 * in the middle can remove host authentication; under REQUIRE not.
 *
 * It exists in version 2 only: with REQUIRE an end never uses version 1.
 */
#ifndef RPCRDMA_HOSTAUTH_H
#define RPCRDMA_HOSTAUTH_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rpcrdma_hostauth_options {
	size_t size;
	/* PEM files.  A peer that requires a certificate refuses an end without one: a
	 * server with REQUIRE does, and every client does. */
	const char
	        *cert_file; /* this end's chain, leaf first; a server's certificate has
				  its name among the subject alternative names, without
				  wildcards */
	const char *key_file; /* the private key, not encrypted; NULL = in cert_file */
	/* The trusted authorities.  NULL = the system's list, for clients only: those
	 * authorities certify anybody, so rpcrdma_listen and svc_rdma_create refuse a
	 * server that has a certificate and no ca_file with -ENOKEY. */
	const char *ca_file;
	/* Instead of certificates: a key that both ends have.  The file holds one
	 * line IDENTITY:HEX, 16 to 64 octets; only its owner may read it. */
	const char *psk_file;
	/* Server: the clients that it admits, each by the identity of
	 * rpcrdma_request_identity ("CN=...", "psk:...") or by a DNS name of its
	 * certificate.  0 = every client that it trusts.  Copied.  Under PREFER a
	 * client that proves nothing is admitted all the same. */
	const char *const *allow;
	size_t n_allow;
};

/* Loads and checks credentials, for any number of connections and threads.
 * @ret_reason, which may be NULL, has room for @size octets and gets the reason of a
 * failure as text. -EINVAL: contradictory options; -EACCES: other users can read a
 * file; -EBADMSG: a file has no usable contents; -ENOENT and the like: a file cannot be
 * opened. */
RPCRDMA_API int rpcrdma_hostauth_new(const struct rpcrdma_hostauth_options *,
                                     struct rpcrdma_hostauth **ret, char *ret_reason,
                                     size_t size);
/* Frees the credentials.  The connections and listeners that use them must have ended.
 */
RPCRDMA_API void rpcrdma_hostauth_free(struct rpcrdma_hostauth *);

/*
 * Writes 32 octets that only the two ends of the authenticated connection know, the
 * same at both: the tls-exporter channel binding [RFC 9266].  -ENOTCONN: not connected;
 * -ENOENT: not authenticated.  The engine's thread.
 */
RPCRDMA_API int rpcrdma_conn_channel_binding(const struct rpcrdma_conn *,
                                             unsigned char ret[32]);
RPCRDMA_API int rpcrdma_request_channel_binding(const struct rpcrdma_request *,
                                                unsigned char ret[32]);
/* Returns the identity that the client proved: the subject of its certificate
 * ("CN=..."), or without a subject its first alternative name ("DNS:..."), or
 * "psk:IDENTITY"; "" if it proved none.  Lent for the life of the request. */
RPCRDMA_API const char *rpcrdma_request_identity(const struct rpcrdma_request *);

#ifdef __cplusplus
}
#endif

#endif
