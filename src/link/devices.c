/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/devices.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct device_watch {
	struct rr_part part;
	struct rpcrdma_engine *engine;
	struct rr_source source;
	const struct rr_prov_ops *prov;
};

static void devices_changed(struct rr_source *s)
{
	rr_container_of(s, struct device_watch, source)->prov->read_removals(s->fd);
}

static void free_device_watch(struct rr_part *p)
{
	struct device_watch *w = rr_container_of(p, struct device_watch, part);

	rr_poller_del(&w->engine->poller, &w->source);
	close(w->source.fd);
	free(w);
}

/* If the kernel does not report removals, the provider closes a removed device when it
 * makes its next connection. */
void rr_devices_used(struct rpcrdma_engine *e, const struct rr_prov_ops *prov)
{
	struct device_watch *w;
	int fd;

	if (rr_engine_find_part(e, free_device_watch))
		return;
	fd = prov->watch_removals();
	if (fd < 0)
		return;
	w = calloc(1, sizeof(*w));
	if (!w) {
		close(fd);
		return;
	}
	*w = (struct device_watch){.part.free = free_device_watch,
	                           .engine = e,
	                           .prov = prov,
	                           .source = {.ready = devices_changed, .fd = fd}};
	if (!rr_poller_add(&e->poller, &w->source, EPOLLIN)) {
		rr_engine_add_part(e, &w->part);
		return;
	}
	close(fd);
	free(w);
}
