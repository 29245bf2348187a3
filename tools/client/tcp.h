/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One ONC RPC call over TCP, on its own connection.  It is for services such as MOUNT,
 * which an NFS over RDMA server may offer only on TCP.  The call waits in loop_wait, so
 * that RDMA connections stay alive and signals are handled.  The call ends no later
 * than its deadline.  [RFC 5531 §9, §11]
 */
#ifndef RPCRDMA_TOOLS_TCP_H
#define RPCRDMA_TOOLS_TCP_H

#include "client/loop.h"

enum { TCP_MAX_REPLY = 1 << 18 };

struct tcp_call {
	struct loop *loop;
	struct sockaddr_storage to;
	bool reserved; /* connect from a port below 1024, if permitted */
	uint64_t until_ns;
	uint32_t program, version, procedure;
	const struct rpcrdma_auth *cred; /* NULL: none */
	const void *args;
	size_t args_len;

	/* Set by the call; freed by tcp_call_fini. */
	char *reply;
	const char *results; /* in it */
	size_t results_len;
};

/* Makes the call.  Returns 0, an rpcrdma_status if the service refused, or a negative
 * errno.  The errno is -EBADMSG or -EMSGSIZE for a malformed answer, -ECONNRESET if the
 * service closed the connection, or -EINTR after a signal. */
int tcp_call(struct tcp_call *);
void tcp_call_fini(struct tcp_call *);
/* Waits in loop_wait for poll(2) @events on @fd.  Returns 0, -ETIMEDOUT at until_ns, or
 * -EINTR after a signal. */
int tcp_wait(const struct tcp_call *, int fd, short events);
/* Sets the port of an address.  Returns 0 or -EAFNOSUPPORT. */
int tcp_set_port(struct sockaddr_storage *, uint16_t port);

#endif
