/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two iWARP endpoints over loopback in one thread, for tests.  Completions of
 * either end are collected in order; waiting is by poll(2) on both descriptors
 * with a limit that only a hang reaches.
 */
#ifndef RR_TEST_IWARP_PAIR_H
#define RR_TEST_IWARP_PAIR_H

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <arpa/inet.h>

#include <cmocka.h>

#include "prov/iwarp/iwarp.h"

#define OPS (&rr_iwarp_ops)
#define WCS 20000

struct end {
	struct rr_ep *ep;
	struct rr_wc *wc; /* all so far */
	unsigned n, taken;
};

rr_time test_now(void);
struct sockaddr_in loopback(uint16_t port);

/* Takes over @ep, with no completions yet. */
void end_init(struct end *e, struct rr_ep *ep);
void end_fini(struct end *e);
/* Collects the completions there are. */
void end_poll(struct end *e);
void end_flush(struct end *e);
/* Returns the next completion of @e, and lets @other (or NULL) progress meanwhile.
 * Fails the test after 20 s. */
struct rr_wc *end_next_wc(struct end *e, struct end *other);
/* ... which must be this one. */
struct rr_wc *end_expect_wc(struct end *e, struct end *other, enum rr_wc_op op,
                            uint64_t token, int status);

/* Lets @n ends progress, after waiting for them up to @ms. */
void ends_step(struct end **e, unsigned n, int ms);
/* Connects two ends with these provider options, without waiting for either. */
void ends_start(struct end *c, struct end *s, const char *copts, const char *sopts);
/* ... and waits until both are connected. */
void ends_open(struct end *c, struct end *s, const char *copts, const char *sopts);
/* Sends a message of four octets each way, and waits for all completions. */
void ends_exchange(struct end *c, struct end *s);
/* Disconnects, waits for both, and frees them. */
void ends_close(struct end *c, struct end *s);

/* The content of memory: each octet depends on @seed and on its place. */
uint8_t pattern_at(uint64_t seed, uint64_t i);
uint8_t *pattern(size_t len, uint64_t seed);
void check_pattern(const uint8_t *p, size_t len, uint64_t seed);

#endif
