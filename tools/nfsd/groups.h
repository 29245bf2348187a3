/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up a user's groups by uid in this host's databases (--manage-gids).  A look-up
 * may block for a long time (LDAP, a dead server), so look-ups run in separate threads,
 * and requests wait for the result without blocking a thread.  Group lists are cached
 * and shared.
 */
#ifndef RPCRDMA_NFSD_GROUPS_H
#define RPCRDMA_NFSD_GROUPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

struct groups;

struct group_list {
	_Atomic unsigned refs;
	unsigned n;
	uint32_t gids[];
};

/* A request that needs a group list.  Lent until @ready is called. */
struct group_wait {
	/* Called by a look-up thread when @list has been set.  If NULL, the request
	 * cannot wait: groups_get returns -EAGAIN instead of -EINPROGRESS. */
	void (*ready)(void *arg);
	void *arg;
	uint64_t bytes;          /* memory that the request uses while it waits */
	struct group_list *list; /* the result, with a reference; NULL = no groups */
	/* private: */
	struct group_wait *next;
	unsigned asker;
};

/* Makes an empty table.  @limit_bytes limits the memory that waiting requests use.
 * Returns NULL if there is no memory. */
struct groups *groups_new(uint64_t limit_bytes);
/* Finds the group list of @uid for a request from @peer.  Returns 0 and stores the list
 * in w->list with a reference.  Returns -EINPROGRESS if w->ready will be called,
 * possibly before this function returns, or -EAGAIN if too many requests are waiting.
 * Any thread may call this. */
int groups_get(struct groups *, uint32_t uid, const struct sockaddr_storage *peer,
               struct group_wait *w);
void group_list_put(struct group_list *);
/* Expires all lists, so that each will be looked up again when it is next used.
 * Accepts NULL. */
void groups_forget(struct groups *);
/* Returns the number of waiting requests, or 0 for NULL. */
unsigned groups_waiting(struct groups *);
/* Waits until all look-ups have ended, or until @until (monotonic).  Returns false if
 * some look-ups are still running at that time.  Returns true for NULL. */
bool groups_stop(struct groups *, const struct timespec *until);
/* Frees everything.  Call this after groups_stop has returned true.  Accepts NULL. */
void groups_free(struct groups *);

#endif
