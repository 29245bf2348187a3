/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP relay in front of a server on the loopback interface, which loses the answers
 * of the server.  While it is armed it drops all that the server sends.  Once the test's
 * condition holds it resets both sides of every connection and relays again.  It can
 * also reset a single connection.  It has one thread; a failure in it aborts.
 */
#ifndef RR_TEST_PROXY_H
#define RR_TEST_PROXY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { PROXY_PAIRS = 16 };

struct proxy {
	char port[16];           /* the port that it listens at */
	atomic_uint target;      /* port of the server, host order */
	atomic_uint connections; /* relayed so far */
	atomic_uint cuts;
	atomic_bool refuse;                /* new connections are reset */
	atomic_uint cut_one;               /* a pair to reset, from 1; 0: none */
	atomic_ulong relayed[PROXY_PAIRS]; /* octets, in both directions */
	/* private */
	atomic_bool armed, stop;
	bool (*when)(void *);
	void *arg;
	int listener;
	int fd[PROXY_PAIRS][2]; /* towards client, server; -1 */
	pthread_t thread;
};

void proxy_start(struct proxy *, const char *target_port);
/* @when is called by the proxy's thread; NULL: when the server has answered. */
void proxy_arm(struct proxy *, bool (*when)(void *), void *arg);
void proxy_stop(struct proxy *);

#endif
