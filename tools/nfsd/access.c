/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a peer may do with an export.  The list of clients is searched once for each
 * pair of address and export; the answer is remembered in a table that a new list makes
 * void. Any thread may ask: the engine's, that of MOUNT over TCP, a worker.  The one
 * that loads a file puts lists in place, all of them at once.
 */
#include "nfsd.h"
#include <errno.h>
#include <netdb.h>
#include <string.h>

void access_init(struct access *a)
{
	pthread_mutex_init(&a->lock, NULL);
	a->generation = 1; /* slots are of none */
}

void access_fini(struct access *a)
{
	pthread_mutex_destroy(&a->lock);
}

static struct access_slot *slot_of(struct nfsd *d, const struct export *ex,
                                   const struct in6_addr *addr)
{
	struct {
		struct in6_addr addr;
		uint64_t export;
	} key = {*addr, ex->fsid};

	return &d->access.slots[rr_siphash_once(d->key, &key, sizeof(key)) %
	                        ACCESS_SLOTS];
}

/* By the lock. */
static void look_up(struct nfsd *d, const struct export *ex,
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

	if (!clients_peer(peer, &addr, &port))
		return -EACCES;
	low = port < IPPORT_RESERVED;
	pthread_mutex_lock(&d->access.lock);
	s = slot_of(d, ex, &addr);
	if (s->generation != d->access.generation || s->ex != ex || s->low != low ||
	    memcmp(&s->addr, &addr, sizeof(addr)) != 0) {
		s->generation = d->access.generation;
		s->ex = ex;
		s->addr = addr;
		s->low = low;
		look_up(d, ex, peer, s);
	}
	e = s->granted ? 0 : s->port ? -EPERM : -EACCES;
	if (!e)
		*ret = s->grant;
	pthread_mutex_unlock(&d->access.lock);
	return e;
}

void access_say_refused(const struct export *ex, const struct sockaddr_storage *peer,
                        bool mounts, bool port)
{
	char host[NI_MAXHOST] = "a client without address";

	if (!warn_may(WARN_REFUSED))
		return;
	(void)getnameinfo((const struct sockaddr *)peer, sizeof(*peer), host,
	                  sizeof(host), NULL, 0, NI_NUMERICHOST);
	warn_say(WARN_REFUSED, "%s may not %s %.64s%s: %s", host,
	         port || !mounts ? "use" : "mount", ex->name,
	         port ? " from a port above 1023 (secure)" : "", strerror(EACCES));
}
