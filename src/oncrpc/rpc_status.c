/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the status of a call, and transport errors, as text for messages. */
#include <rpcrdma/rpcrdma.h>

#include <errno.h>
#include <string.h>

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
