/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/devices.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "prov/verbs/verbs.h"
#include "prov/verbs/watch.h"

static void ready(struct rr_source *s)
{
	rr_verbs_watched(s->fd);
}

void rr_devices_init(struct rpcrdma_engine *e)
{
	e->devices = (struct rr_source){.ready = ready, .fd = -1};
}

/* Where the kernel does not tell, the next connection finds out. */
void rr_devices_used(struct rpcrdma_engine *e, const struct rr_prov_ops *prov)
{
	int fd;

	if (prov != &rr_verbs_ops || e->devices.fd >= 0)
		return;
	fd = rr_verbs_watch();
	if (fd < 0)
		return;
	e->devices.fd = fd;
	if (!rr_poller_add(&e->poller, &e->devices, EPOLLIN))
		return;
	e->devices.fd = -1;
	close(fd);
}

void rr_devices_fini(struct rpcrdma_engine *e)
{
	int fd = e->devices.fd;

	if (fd < 0)
		return;
	rr_poller_del(&e->poller, &e->devices);
	close(fd);
}
