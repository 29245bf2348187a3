/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of users by uid, from this host's databases (--manage-gids).  A look-up
 * may block for a long time (LDAP, a dead server), so look-ups have their own threads,
 * and requests wait for them without blocking a thread.  Lists are cached and shared.
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

/* A request that needs a list.  Lent until @ready is called. */
struct group_wait {
	/* Called by a look-up thread when @list is set.  NULL if the request must not
	 * wait; groups_get then returns -EAGAIN. */
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
/* Finds the list of @uid for a request from @peer.  Any thread may call this.  Returns
 * 0 with a reference in w->list; -EINPROGRESS if w->ready will be called, maybe before
 * this function returns; or -EAGAIN if too many requests wait. */
int groups_get(struct groups *, uint32_t uid, const struct sockaddr_storage *peer,
               struct group_wait *w);
void group_list_put(struct group_list *);
/* Expires all lists, so that each is looked up again on its next use.  Accepts NULL. */
void groups_forget(struct groups *);
/* Returns the number of waiting requests, or 0 for NULL. */
unsigned groups_waiting(struct groups *);
/* Waits until all look-ups have ended.  Returns false if some have not ended at @until
 * (monotonic).  Returns true for NULL. */
bool groups_stop(struct groups *, const struct timespec *until);
/* Frees everything.  Call this after groups_stop has returned true.  Accepts NULL. */
void groups_free(struct groups *);

#endif
