/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which descriptors are ready.  While they are few it asks poll(2), whose
 * wake-up is a lock cheaper than epoll's; with the ninth descriptor, or when
 * somebody wants one descriptor for all, it moves to epoll and stays there.
 *
 * A source that is taken out is never handed out again, also not by a wait
 * that had already found it ready, so that its owner may free it at once.
 */
#ifndef RR_DRIVE_POLLER_H
#define RR_DRIVE_POLLER_H

#include "base/base.h"

enum { RR_POLLER_FEW = 8, RR_POLLER_BATCH = 64 };

/* A descriptor and what to do when it is ready. */
struct rr_source {
	void (*ready)(struct rr_source *);
	int fd;          /* -1: not known to the poller */
	uint32_t events; /* EPOLLIN, EPOLLOUT: as armed */
	bool greedy;     /* always has more to do than its turn allows: comes last */
};

struct rr_poller {
	int epfd; /* -1: poll(2) over @few */
	unsigned n_few;
	struct rr_source *few[RR_POLLER_FEW];
	struct rr_source *ready[RR_POLLER_BATCH]; /* NULL: taken out meanwhile */
	unsigned n_ready, at_ready;
	uint64_t syscalls;
};

void rr_poller_init(struct rr_poller *);
void rr_poller_fini(struct rr_poller *);
int rr_poller_add(struct rr_poller *, struct rr_source *,
                  uint32_t events) RR_MUST_CHECK;
void rr_poller_arm(struct rr_poller *, struct rr_source *, uint32_t events);
/* Harmless when it is not there. */
void rr_poller_del(struct rr_poller *, struct rr_source *);
/* One descriptor that is readable when a source is ready; negative errno. */
int rr_poller_fd(struct rr_poller *);
/* How many are ready; 0 also after a signal. */
int rr_poller_wait(struct rr_poller *, int timeout_ms);
/* The wait found as many as fit: there may be more. */
bool rr_poller_full(const struct rr_poller *);
/* Hands out what the wait found, one by one, then NULL; the greedy ones last. */
struct rr_source *rr_poller_next(struct rr_poller *);

#endif
