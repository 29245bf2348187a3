/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what a peer may do with an export.  The result of searching the client list
 * is cached in a table, by client address and export, until the client lists are
 * replaced.  The engine's thread, the MOUNT-over-TCP thread and the workers call
 * access_check.  The thread that loads an exports file replaces all client lists at
 * once.
 */
#include "nfsd.h"
#include <errno.h>
#include <string.h>

void access_init(struct access *a)
{
	pthread_mutex_init(&a->lock, NULL);
	a->generation = 1; /* unused slots have generation 0 */
}

void access_fini(struct access *a)
{
	pthread_mutex_destroy(&a->lock);
}

static struct access_slot *find_access_slot(struct nfsd *d, const struct export *ex,
                                            const struct in6_addr *addr)
{
	struct {
		struct in6_addr addr;
		uint64_t export;
	} key = {*addr, ex->fsid};

	return &d->access.slots[rr_siphash_once(d->key, &key, sizeof(key)) %
	                        ACCESS_SLOTS];
}

/* Fills the slot with what @peer may do.  The caller holds the lock. */
static void look_up_grant(struct nfsd *d, const struct export *ex,
                          const struct sockaddr_storage *peer, struct access_slot *s)
{
	const struct grant *g = &d->defaults;

	s->port = false;
	if (ex->clients)
		g = clients_find(ex->clients, peer, &s->port);
	s->granted = g != NULL;
	if (g)
		s->grant = *g;
	if (d->read_only)
		s->grant.read_only = true;
}

int access_check(struct nfsd *d, const struct export *beneath,
                 const struct sockaddr_storage *peer, struct grant *ret)
{
	const struct export *ex = export_top(beneath);
	struct access_slot *s;
	struct in6_addr addr;
	unsigned port;
	bool low;
	int e;

	if (!clients_peer_address(peer, &addr, &port))
		return -EACCES;
	low = port < IPPORT_RESERVED;
	pthread_mutex_lock(&d->access.lock);
	s = find_access_slot(d, ex, &addr);
	if (s->generation != d->access.generation || s->ex != ex || s->low != low ||
	    memcmp(&s->addr, &addr, sizeof(addr)) != 0) {
		s->generation = d->access.generation;
		s->ex = ex;
		s->addr = addr;
		s->low = low;
		look_up_grant(d, ex, peer, s);
	}
	e = s->granted ? 0 : s->port ? -EPERM : -EACCES;
	if (!e)
		*ret = s->grant;
	pthread_mutex_unlock(&d->access.lock);
	return e;
}
