/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of users as this host knows them (--manage-gids), by uid.  Looking them up
 * may block for long (LDAP, a dead server), so threads of their own do it, and requests
 * wait without a thread.  Lists are kept for a time, and shared.
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

/* A request that wants a list.  It must stay in place until @ready was called. */
struct group_wait {
	/* @list is known; in a thread of look-ups.  NULL: no wait, -EAGAIN instead. */
	void (*ready)(void *arg);
	void *arg;
	uint64_t bytes;          /* that are held while it waits */
	struct group_list *list; /* the answer; NULL: no groups */
	/* private: */
	struct group_wait *next;
	unsigned asker;
};

/* @limit_bytes: of all that waits.  NULL: no memory. */
struct groups *groups_new(uint64_t limit_bytes);
/* Finds the list of @uid for a request of @peer.  0: w->list has it, with a reference;
 * -EINPROGRESS: w->ready will be called, maybe before this returns; -EAGAIN: too much
 * waits already.  Any thread. */
int groups_get(struct groups *, uint32_t uid, const struct sockaddr_storage *peer,
               struct group_wait *w);
void group_list_put(struct group_list *);
/* Has every list looked up again when it is wanted next.  NULL: nothing. */
void groups_forget(struct groups *);
/* Requests that wait for a list.  NULL: 0. */
unsigned groups_waiting(struct groups *);
/* Waits until nothing is looked up any more, or until @until (monotonic): then false.
 * NULL: true. */
bool groups_stop(struct groups *, const struct timespec *until);
/* After groups_stop was true.  NULL: nothing. */
void groups_free(struct groups *);

#endif
