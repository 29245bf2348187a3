/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for ready descriptors.  Up to eight descriptors are passed to poll(2), which
 * takes one lock fewer than epoll to wake up.  When a ninth descriptor is added, or
 * rr_poller_fd is called, the poller switches to epoll for good.
 *
 * A source that was removed is never returned again, even if the last wait had found it
 * ready, so its owner may free it at once.
 */
#ifndef RR_LOOP_POLLER_H
#define RR_LOOP_POLLER_H

#include <poll.h>

#include "base/base.h"

enum { RR_POLLER_FEW = 8, RR_POLLER_BATCH = 64 };

/* A descriptor, and the function to call when it is ready. */
struct rr_source {
	void (*ready)(struct rr_source *);
	int fd;          /* -1: not in the poller */
	uint32_t events; /* events to wait for: EPOLLIN, EPOLLOUT */
	bool greedy;     /* has more work than one call handles; returned last */
};

struct rr_poller {
	int epfd; /* -1: poll(2) is used, with @few */
	unsigned n_few;
	struct rr_source *few[RR_POLLER_FEW];
	struct pollfd few_fds[RR_POLLER_FEW];     /* of @few, in the same order */
	struct rr_source *ready[RR_POLLER_BATCH]; /* NULL: removed after the wait */
	unsigned n_ready, at_ready;
	bool any_greedy; /* the last wait found a greedy source */
	uint64_t syscalls;
};

void rr_poller_init(struct rr_poller *);
void rr_poller_fini(struct rr_poller *);
int rr_poller_add(struct rr_poller *, struct rr_source *,
                  uint32_t events) RR_MUST_CHECK;
/* Changes the events to wait for. */
void rr_poller_arm(struct rr_poller *, struct rr_source *, uint32_t events);
/* Removes a source.  Does nothing if the source is not in the poller. */
void rr_poller_del(struct rr_poller *, struct rr_source *);
/* Changes to epoll.  Returns a descriptor that is readable when a source is ready, or a
 * negative errno. */
int rr_poller_fd(struct rr_poller *);
/* Waits.  Returns the number of ready sources; 0 after a timeout or a signal. */
int rr_poller_wait(struct rr_poller *, int timeout_ms);
/* Returns true if the last wait filled the array, so that more sources may be ready. */
bool rr_poller_full(const struct rr_poller *);
/* Returns the next ready source, greedy ones last; NULL after the last one. */
struct rr_source *rr_poller_next(struct rr_poller *);

#endif
