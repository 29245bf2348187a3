/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ONC RPC over TCP for one service, with its own thread: listeners, connections,
 * records.
 */
#ifndef RPCRDMA_TCPD_H
#define RPCRDMA_TCPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct tcpd;

/* Answers one record, in the thread.  It may block for a moment, while other peers
 * wait.  Returns the reply, from malloc, or NULL to close the connection.  *ret_failed:
 * the reply is an error, for the counters.  */
typedef void *tcpd_answer_fn(void *arg, const struct sockaddr_storage *peer,
                             const void *record, size_t len, size_t *ret_len,
                             bool *ret_failed);

struct tcpd_service {
	tcpd_answer_fn *answer;
	void *arg;
	size_t max_record; /* octets; a longer one closes the connection */
};

struct tcpd_stats {
	uint64_t connections, calls, errors, dropped;
};

/* Returns NULL without memory.  Nothing is served before tcpd_start.  */
struct tcpd *tcpd_new(const struct tcpd_service *);
/* Listens at the address with @port (network order; 0: a free one), unless it listens
 * at that address already.  Returns 0 or negative errno.  */
int tcpd_listen(struct tcpd *, const struct sockaddr_storage *, uint16_t port);
/* Finds the i-th address.  Returns false if there are no more; NULL has none.  */
bool tcpd_addr(const struct tcpd *, unsigned i, struct sockaddr_storage *ret);
int tcpd_start(struct tcpd *);
/* Answers the calls that have come, for at most a second, and ends the thread.  Accepts
 * NULL. */
void tcpd_stop(struct tcpd *);
/* Reads the counters, after tcpd_stop.  */
void tcpd_stats(const struct tcpd *, struct tcpd_stats *ret);
void tcpd_free(struct tcpd *);

#endif
