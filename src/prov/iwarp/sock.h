/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider's system calls; no other file in this folder makes system calls.  All
 * functions return 0 or a count, or a negative errno, -EAGAIN if the call would block.
 */
#ifndef RR_PROV_IWARP_SOCK_H
#define RR_PROV_IWARP_SOCK_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "base/base.h"

struct rr_sock_opts {
	int sndbuf, rcvbuf; /* octets; 0: the system's choice */
};

/* Opens a non-blocking TCP socket and starts to connect it. */
RR_MUST_CHECK int rr_sock_connect(const struct sockaddr *, socklen_t,
                                  const struct rr_sock_opts *, int *ret_fd);
/* Returns 0 if connected, -EAGAIN while connecting, or a negative errno if the
 * connection failed. */
RR_MUST_CHECK int rr_sock_connected(int fd);
RR_MUST_CHECK int rr_sock_listen(const struct sockaddr *, socklen_t,
                                 struct sockaddr_storage *ret_addr, int *ret_fd);
RR_MUST_CHECK int rr_sock_accept(int listener, const struct rr_sock_opts *,
                                 int *ret_fd);
RR_MUST_CHECK int rr_sock_peer(int fd, struct sockaddr_storage *ret);
RR_MUST_CHECK int rr_sock_local(int fd, struct sockaddr_storage *ret);

RR_MUST_CHECK ssize_t rr_sock_writev(int fd, const struct iovec *v, unsigned n);
/* Returns the number of octets read, or 0 at the end of the stream. */
RR_MUST_CHECK ssize_t rr_sock_readv(int fd, const struct iovec *v, unsigned n);

/* Closes the sending half of the connection, or both halves. */
void rr_sock_shutdown(int fd, bool both);
/* Closes the socket.  If @reset is true, unsent octets are dropped and the peer sees a
 * reset. */
void rr_sock_close(int fd, bool reset);

/* Fills @dst with random octets suitable for keys. */
RR_MUST_CHECK int rr_sock_random(void *dst, size_t len);

#endif
