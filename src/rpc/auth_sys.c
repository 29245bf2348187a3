/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes AUTH_SYS bodies, and describes statuses. [RFC 5531 appendix A] */
#include <rpcrdma/rpcrdma.h>

#include <string.h>

#include "base/base.h"
#include "base/cursor.h"

int rpcrdma_auth_sys_encode(void *buf, size_t size, uint32_t stamp, const char *machine,
                            uint32_t uid, uint32_t gid, const uint32_t *gids,
                            unsigned n_gids)
{
	struct rr_writer w = rr_writer_over(buf, size);
	size_t len = strlen(machine);

	if (len > 255 || n_gids > 16)
		return -EINVAL;
	rr_put_u32(&w, stamp);
	rr_put_u32(&w, (uint32_t)len);
	rr_put_padded(&w, machine, len);
	rr_put_u32(&w, uid);
	rr_put_u32(&w, gid);
	rr_put_u32(&w, n_gids);
	for (unsigned i = 0; i < n_gids; i++)
		rr_put_u32(&w, gids[i]);
	return rr_writer_bad(&w) ? -EMSGSIZE : (int)rr_writer_used(&w);
}

int rpcrdma_auth_sys_decode(const struct rpcrdma_auth *a, struct rpcrdma_auth_sys *ret)
{
	struct rr_cursor c = rr_cursor_over(a->body, a->len);
	struct rpcrdma_auth_sys s = {.stamp = rr_get_u32(&c)};
	uint32_t len = rr_get_u32(&c);
	const char *machine;

	if (a->flavor != RPCRDMA_AUTH_SYS || len > 255)
		return -EBADMSG;
	machine = rr_get_bytes(&c, len + rr_pad(len));
	s.uid = rr_get_u32(&c);
	s.gid = rr_get_u32(&c);
	s.n_gids = rr_get_u32(&c);
	if (rr_cursor_bad(&c) || s.n_gids > 16)
		return -EBADMSG;
	for (unsigned i = 0; i < s.n_gids; i++)
		s.gids[i] = rr_get_u32(&c);
	if (rr_cursor_bad(&c))
		return -EBADMSG;
	memcpy(s.machine, machine, len);
	*ret = s;
	return 0;
}

static const char *remote_status_text(int status)
{
	switch (status) {
	case RPCRDMA_OK:
		return "success";
	case RPCRDMA_PROG_UNAVAIL:
		return "the server does not have that program";
	case RPCRDMA_PROG_MISMATCH:
		return "the server does not have that version of the program";
	case RPCRDMA_PROC_UNAVAIL:
		return "the server does not have that procedure";
	case RPCRDMA_GARBAGE_ARGS:
		return "the server could not decode the arguments";
	case RPCRDMA_SYSTEM_ERR:
		return "the server had a system error";
	case RPCRDMA_RPC_MISMATCH:
		return "the server does not support ONC RPC version 2";
	case RPCRDMA_AUTH_ERROR:
		return "the server refused the credential";
	case RPCRDMA_TRANSPORT_ERROR:
		return "the server reported a transport error (RDMA2_ERROR)";
	default:
		return "unknown status";
	}
}

const char *rpcrdma_strerror_transport(uint32_t code)
{
	switch (code) {
	case RPCRDMA_ERR_VERS:
		return "the server does not support this version of RPC-over-RDMA";
	case RPCRDMA_ERR_BAD_XDR:
		return "the server could not decode the transport header";
	case RPCRDMA_ERR_BAD_PROPVAL:
		return "the server could not decode a transport property";
	case RPCRDMA_ERR_INVAL_HTYPE:
		return "the server does not accept this type of message now";
	case RPCRDMA_ERR_INVAL_CONT:
		return "the server refused a continued message";
	case RPCRDMA_ERR_READ_CHUNKS:
		return "the server accepts fewer items of this procedure's arguments";
	case RPCRDMA_ERR_WRITE_CHUNKS:
		return "the server sends fewer items of this procedure's results";
	case RPCRDMA_ERR_SEGMENTS:
		return "the server accepts fewer memory segments";
	case RPCRDMA_ERR_WRITE_RESOURCE:
		return "a result is longer than the memory offered for it";
	case RPCRDMA_ERR_REPLY_RESOURCE:
		return "the reply is longer than the memory offered for it";
	case RPCRDMA_ERR_CHUNK:
		return "the reply is longer than the memory offered for it, or the "
		       "server could not use the chunks (ERR_CHUNK of version 1)";
	case RPCRDMA_ERR_SYSTEM:
		return "the server's transport lacked memory or reached a limit";
	default:
		return "unknown transport error";
	}
}

const char *rpcrdma_strstatus(int status)
{
	if (status >= 0)
		return remote_status_text(status);
	switch (-status) {
	case ETIMEDOUT:
		return "timed out";
	case EHOSTUNREACH:
		return "the server could not be reached";
	case ECONNREFUSED:
		return "connection refused: nothing listens there";
	case ECONNRESET:
		return "the connection was lost";
	case ECANCELED:
		return "cancelled";
	case EBADMSG:
		return "the reply was malformed";
	case EPROTO:
		return "the reply violated the transport protocol";
	case EREMOTEIO:
		return "RDMA protocol error, found here or by the peer";
	case EOVERFLOW:
		return "the reply is longer than this end accepts";
	case EMSGSIZE:
		return "too large for the limits of the server";
	case EPROTONOSUPPORT:
		return "no protocol version in common";
	case ENXIO:
		return "the host name does not resolve";
	default:
		return strerror(-status);
	}
}
