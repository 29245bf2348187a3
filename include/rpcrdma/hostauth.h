/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host authentication: the two ends of a connection prove who they are before
 * any RPC.                                            [v2 §5.2.6, §11.1.1]
 *
 * The draft has a transport property for it and leaves the mechanism open.  Ours
 * is TLS 1.3 [RFC 8446] by certificates of both ends or by a pre-shared key; its
 * handshake messages are the words of property 6, as many rounds as it takes.
 * Then each end sends an exporter value [RFC 8446 §7.5] over all properties that
 * it sent and received, under a label of its role and the version: whoever sits
 * between and changes a property, or replays a handshake, is found out.
 *
 * What it protects: that the peer is who its certificate or key says, and that
 * what was negotiated is what both said.  What it does NOT protect: the data.
 * After the handshake nothing is encrypted or authenticated by it; whoever can
 * take over the connection afterwards, can.  Use it on networks where that is
 * hard, bind RPCSEC_GSS to it (rpcrdma_conn_channel_binding), or use krb5i, krb5p.
 * Under PREFER somebody between can remove it altogether; under REQUIRE not.
 *
 * It exists in version 2 only: REQUIRE never speaks version 1.
 */
#ifndef RPCRDMA_HOSTAUTH_H
#define RPCRDMA_HOSTAUTH_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rpcrdma_hostauth_options {
	size_t size;
	/* PEM files.  An end without certificate can be believed by nobody who asks
	 * for one: a server with REQUIRE asks, and clients always do. */
	const char *cert_file; /* the own chain, leaf first; a server's names it among
				  its subject alternative names, without wildcards */
	const char *key_file; /* its private key, not enciphered; NULL = in cert_file */
	/* Whom we believe.  NULL = the system's list, for clients only: an authority on it
	 * gives certificates to anybody, so a server with a certificate needs this, or
	 * rpcrdma_listen and svc_rdma_create refuse with -ENOKEY. */
	const char *ca_file;
	/* Instead of certificates: a key that both ends have.  The file holds one
	 * line IDENTITY:HEX, 16 to 64 octets; only its owner may read it. */
	const char *psk_file;
	/* Of a server: the only clients that it lets in, each by the identity that
	 * rpcrdma_request_identity has ("CN=...", "psk:...") or by a DNS name of its
	 * certificate.  0 = all whom it believes.  Copied.  A client that proves nothing is
	 * let in under PREFER all the same. */
	const char *const *allow;
	size_t n_allow;
};

/* Credentials, checked and loaded once; used by any number of connections and
 * threads.  @ret_reason (may be NULL) has room for @size octets and gets the reason of a failure as text.
 * -EINVAL contradictory options, -EACCES a file others can read, -EBADMSG what
 * is in it cannot be used, -ENOENT and the like: it cannot be opened. */
RPCRDMA_API int rpcrdma_hostauth_new(const struct rpcrdma_hostauth_options *,
                                     struct rpcrdma_hostauth **ret, char *ret_reason,
                                     size_t size);
/* After the last connection and listener that use it are over. */
RPCRDMA_API void rpcrdma_hostauth_free(struct rpcrdma_hostauth *);

/*
 * 32 octets that only the two ends of the authenticated connection know, the
 * same at both: the tls-exporter channel binding [RFC 9266].  -ENOTCONN: not
 * connected, -ENOENT: not authenticated.  The engine's thread.
 */
RPCRDMA_API int rpcrdma_conn_channel_binding(const struct rpcrdma_conn *,
                                             unsigned char ret[32]);
RPCRDMA_API int rpcrdma_request_channel_binding(const struct rpcrdma_request *,
                                                unsigned char ret[32]);
/* Whom the client proved to be: a certificate's subject ("CN=..."; that has none: its
 * first other name, "DNS:...") or "psk:IDENTITY"; "" if it proved nothing.  Lent for
 * the request's life. */
RPCRDMA_API const char *rpcrdma_request_identity(const struct rpcrdma_request *);

#ifdef __cplusplus
}
#endif

#endif
