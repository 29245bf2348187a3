/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host authentication: both peers of a connection prove their identity before any RPC.
 *                                                           [v2 §5.2.6, §11.1.1]
 * The draft defines a transport property for host authentication and leaves the
 * mechanism open.  This library uses TLS 1.3 [RFC 8446] with a certificate from each
 * peer or a pre-shared key.  Property 6 carries the handshake messages, in as many
 * rounds as needed.  Then each peer sends a TLS exporter value [RFC 8446 §7.5],
 * computed from its role and all properties that it sent and received.  This detects
 * an attacker in the middle who changes a property or replays a handshake.
 *
 * Host authentication proves that the peer has the key of its certificate, or the
 * shared key, and that both peers negotiated the same properties.  It does NOT protect
 * the data: after the handshake nothing is encrypted or authenticated, and an attacker
 * who can take over the connection can use it.  Use host authentication on networks
 * where such attacks are hard, bind RPCSEC_GSS to it (rpcrdma_conn_channel_binding), or
 * use krb5i or krb5p.  Under PREFER, but not under REQUIRE, an attacker in the middle
 * can remove host authentication.
 *
 * Only version 2 has host authentication.  With REQUIRE, version 1 is never used.
 */
#ifndef RPCRDMA_HOSTAUTH_H
#define RPCRDMA_HOSTAUTH_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rpcrdma_hostauth_options {
	size_t size;
	/* PEM files.  A server with REQUIRE, and every client, refuses a peer that has
	 * no certificate. */
	const char *cert_file; /* certificate chain, leaf first; a server's certificate
			       must list the server's name as a subject alternative
			       name, without wildcards */
	const char *key_file;  /* the private key, not encrypted; NULL = in cert_file */
	/* The trusted certificate authorities.  NULL = the system's list, for clients
	 * only.  The system's authorities certify anybody, so rpcrdma_listen and
	 * svc_rdma_create fail with -ENOKEY for a server that has a certificate but no
	 * ca_file. */
	const char *ca_file;
	/* A key that both peers share, used instead of certificates.  The file has one
	 * line, IDENTITY:HEX, with 16 to 64 octets in hexadecimal; only the file's
	 * owner may have permission to read it. */
	const char *psk_file;
	/* Server: the clients to admit, each given by its identity, as from
	 * rpcrdma_request_identity ("CN=...", "psk:..."), or by a DNS name in its
	 * certificate.  If the list is empty, every trusted client is admitted.
	 * Copied.  Under PREFER, a client that proves no identity is always
	 * admitted. */
	const char *const *allow;
	size_t n_allow;
};

/* Loads and checks credentials, for any number of connections and threads.
 * On failure, writes the reason as text to @ret_reason, which is NULL or has space for
 * @size octets.  Returns -EINVAL if options contradict each other; -EACCES if other
 * users can read a file; -EBADMSG if a file has no usable contents; or -ENOENT and the
 * like if a file cannot be opened. */
RPCRDMA_API int rpcrdma_hostauth_new(const struct rpcrdma_hostauth_options *,
                                     struct rpcrdma_hostauth **ret, char *ret_reason,
                                     size_t size);
/* Frees the credentials.  The connections and listeners that use them must have ended.
 */
RPCRDMA_API void rpcrdma_hostauth_free(struct rpcrdma_hostauth *);

/*
 * Writes the tls-exporter channel binding [RFC 9266]: 32 octets that only the two peers
 * of the authenticated connection know.  Returns -ENOTCONN if not connected, or -ENOENT
 * if not authenticated.  Must be called in the engine's thread.
 */
RPCRDMA_API int rpcrdma_conn_channel_binding(const struct rpcrdma_conn *,
                                             unsigned char ret[32]);
RPCRDMA_API int rpcrdma_request_channel_binding(const struct rpcrdma_request *,
                                                unsigned char ret[32]);
/* Returns the identity that the client proved: the subject of its certificate
 * ("CN=..."), or the first alternative name ("DNS:...") if the subject is empty, or
 * "psk:IDENTITY".  Returns "" if the client proved no identity.  Lent for the life of
 * the request. */
RPCRDMA_API const char *rpcrdma_request_identity(const struct rpcrdma_request *);

#ifdef __cplusplus
}
#endif

#endif
