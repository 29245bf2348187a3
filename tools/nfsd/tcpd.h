/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ONC RPC over TCP for one service: listeners, connections, records.  A thread of its
 * own does all of it.
 */
#ifndef RPCRDMA_TCPD_H
#define RPCRDMA_TCPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct tcpd;

/* Answers one record, in the thread; it may block for a moment, others wait.  The reply
 * from malloc, or NULL: the connection is to be closed.  *ret_failed: the reply is an
 * error, for the books. */
typedef void *tcpd_answer_fn(void *arg, const struct sockaddr_storage *peer,
                             const void *record, size_t len, size_t *ret_len,
                             bool *ret_failed);

struct tcpd_service {
	tcpd_answer_fn *answer;
	void *arg;
	size_t max_record; /* longer ones end the connection */
};

struct tcpd_stats {
	uint64_t connections, calls, errors, dropped;
};

/* NULL: no memory.  Nothing happens before tcpd_start. */
struct tcpd *tcpd_new(const struct tcpd_service *);
/* Listens at the address (port in network order; 0 = any), once however often it is
 * given.  0, or negative errno. */
int tcpd_listen(struct tcpd *, const struct sockaddr_storage *, uint16_t port);
/* The i-th address; false when there are no more.  NULL has none. */
bool tcpd_addr(const struct tcpd *, unsigned i, struct sockaddr_storage *ret);
int tcpd_start(struct tcpd *);
/* Answers what was asked, for a second at most, and ends the thread.  NULL: nothing. */
void tcpd_stop(struct tcpd *);
/* After tcpd_stop. */
void tcpd_stats(const struct tcpd *, struct tcpd_stats *ret);
void tcpd_free(struct tcpd *);

#endif
