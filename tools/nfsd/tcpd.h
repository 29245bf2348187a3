/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ONC RPC over TCP for one service, in a separate thread: listeners, connections and
 * records.
 */
#ifndef RPCRDMA_TCPD_H
#define RPCRDMA_TCPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct tcpd;

/* Answers one record.  Runs in the service's thread, and may block only briefly because
 * other peers wait.  Returns the reply, allocated with malloc, or NULL to have the
 * connection closed.  Sets *ret_failed if the reply is an error, for the counters. */
typedef void *tcpd_answer_fn(void *arg, const struct sockaddr_storage *peer,
                             const void *record, size_t len, size_t *ret_len,
                             bool *ret_failed);

struct tcpd_service {
	tcpd_answer_fn *answer;
	void *arg;
	size_t max_record; /* octets; a longer record closes the connection */
};

struct tcpd_stats {
	uint64_t connections, calls, errors, dropped;
};

/* Returns a service that does nothing until tcpd_start is called, or NULL if there is
 * no memory. */
struct tcpd *tcpd_new(const struct tcpd_service *);
/* Listens at the address with @port (network order; 0 = any free port), unless the
 * service already listens at that address.  Returns 0 or a negative errno. */
int tcpd_listen(struct tcpd *, const struct sockaddr_storage *, uint16_t port);
/* Stores the address with the index @i in @ret.  Returns false if there is no such
 * address or the tcpd is NULL. */
bool tcpd_addr(const struct tcpd *, unsigned i, struct sockaddr_storage *ret);
int tcpd_start(struct tcpd *);
/* Answers the calls that have already arrived, which takes at most a second, and ends
 * the thread.  Accepts NULL. */
void tcpd_stop(struct tcpd *);
/* Reads the counters.  Call this after tcpd_stop. */
void tcpd_stats(const struct tcpd *, struct tcpd_stats *ret);
void tcpd_free(struct tcpd *);

#endif
