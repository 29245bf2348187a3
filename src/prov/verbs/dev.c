/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State shared by the connections of one device.
 *
 * librdmacm opens a device only once per process, so the asynchronous events of all
 * connections are read from one descriptor.  Every endpoint watches the descriptor
 * (edge-triggered).  The first endpoint to read it handles all events: under the
 * device's lock, it records each event in the endpoint that the event concerns.  Each
 * endpoint looks for its event under the same lock.  No lock is taken during data
 * transfer.
 *
 * A device stays in the registry after its last endpoint is freed, because librdmacm
 * keeps the device open.  With some drivers (siw, rxe), the kernel cannot complete a
 * removal while a process has the device open.  librdmacm closes a removed device only
 * when a new device appears.  sweep_registry() therefore closes removed devices that
 * no endpoint uses.  It replaces their descriptors with other descriptors, which
 * librdmacm can still use and close.  The function is called when an endpoint releases
 * its device, at each connect and listen, and when the kernel reports a removal
 * (removals.h).  A listener also makes librdmacm open the device.  The functions in
 * kernel_query.h find the device that serves an address without opening the device.
 */
#define _GNU_SOURCE /* dup3 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "prov/verbs/vb_internal.h"

#define NOWHERE makedev(1, 3) /* /dev/null */

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rr_vb_dev *registry; /* under registry_lock */

/* Returns true if the device is in sysfs.  A removal deletes the sysfs entry first. */
static bool is_in_sysfs(const struct rr_vb_dev *d)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u", major(d->node.st_rdev),
	         minor(d->node.st_rdev));
	return access(path, F_OK) == 0 || errno != ENOENT;
}

static int new_dev(struct ibv_context *ctx, struct rr_vb_dev **ret)
{
	struct rr_vb_dev *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	rc = fstat(ctx->cmd_fd, &d->node) ? -errno : 0;
	if (!rc && d->node.st_rdev == NOWHERE)
		rc = -ENODEV; /* the descriptor is from detach_descriptors() */
	if (!rc)
		rc = -pthread_mutex_init(&d->lock, NULL);
	if (rc) {
		free(d);
		return rc;
	}
	d->ctx = ctx;
	d->cmd_fd = ctx->cmd_fd;
	d->async_fd = ctx->async_fd;
	d->watched = is_in_sysfs(d); /* otherwise it would always seem removed */
	rr_list_init(&d->eps);
	*ret = d;
	return 0;
}

/* Queries the device's attributes when its first endpoint is created. */
static int query_dev(struct rr_vb_dev *d, const struct rr_rdma_lib *lib)
{
	int flags, rc;

	if (d->queried)
		return 0;
	flags = fcntl(d->async_fd, F_GETFL);
	if (flags < 0 || fcntl(d->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	rc = rr_vb_error(lib->ibv_query_device(d->ctx, &d->attr));
	if (rc)
		return rc;
	d->caps.iwarp = d->ctx->device->transport_type == IBV_TRANSPORT_IWARP;
	d->queried = true;
	return 0;
}

bool rr_vb_dev_windows(struct rr_vb_ep *ep)
{
	struct rr_vb_dev *d = ep->dev;
	struct rr_verbs_caps c;

	pthread_mutex_lock(&registry_lock);
	if (!d->tested) {
		rr_verbs_get_caps(ep->lib, d->ctx, &c);
		d->caps.windows = c.windows; /* other threads read caps.iwarp */
		d->caps.window_bounds = c.window_bounds;
		d->caps.with_inv = c.with_inv;
		d->tested = true;
	}
	pthread_mutex_unlock(&registry_lock);
	return d->caps.windows;
}

static void free_dev(struct rr_vb_dev *d)
{
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* ---- removed devices ---- */

/* Returns true if the descriptor still refers to the device.  librdmacm may have closed
 * the descriptor, and another file may have its number now. */
static bool is_still_open(const struct rr_vb_dev *d)
{
	struct stat st;

	return !fstat(d->cmd_fd, &st) && st.st_dev == d->node.st_dev &&
	       st.st_ino == d->node.st_ino && st.st_rdev == d->node.st_rdev;
}

static bool was_removed(const struct rr_vb_dev *d)
{
	return d->watched && !is_in_sysfs(d);
}

/* Replaces the device's descriptors with /dev/null and an eventfd that is never
 * readable.  Returns false only if the process has no free descriptor; the next sweep
 * tries again. */
static bool detach_descriptors(const struct rr_vb_dev *d)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	int silent = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	bool done = nowhere >= 0 && silent >= 0 &&
	            dup3(silent, d->async_fd, O_CLOEXEC) >= 0 &&
	            dup3(nowhere, d->cmd_fd, O_CLOEXEC) >= 0;

	if (nowhere >= 0)
		close(nowhere);
	if (silent >= 0)
		close(silent);
	return done;
}

/* Frees unused devices that were removed or that librdmacm has closed.  The caller
 * holds registry_lock. */
static void sweep_registry(void)
{
	for (struct rr_vb_dev **at = &registry; *at;) {
		struct rr_vb_dev *d = *at;

		if (d->refs ||
		    (is_still_open(d) && !(was_removed(d) && detach_descriptors(d)))) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		free_dev(d);
	}
}

void rr_vb_dev_sweep(void)
{
	pthread_mutex_lock(&registry_lock);
	sweep_registry();
	pthread_mutex_unlock(&registry_lock);
}

/* ---- users of a device ---- */

/* Finds a device, or adds it.  The caller holds registry_lock. */
static int find_dev(struct ibv_context *ctx, struct rr_vb_dev **ret)
{
	struct rr_vb_dev *d;
	int rc;

	sweep_registry(); /* a device closed earlier may have had the same @ctx */
	for (d = registry; d && d->ctx != ctx; d = d->next)
		;
	if (!d) {
		rc = new_dev(ctx, &d);
		if (rc)
			return rc;
		d->next = registry;
		registry = d;
	}
	*ret = d;
	return 0;
}

void rr_vb_dev_note(struct ibv_context *ctx)
{
	struct rr_vb_dev *d;

	pthread_mutex_lock(&registry_lock);
	(void)!find_dev(ctx, &d); /* on failure, the next endpoint adds the device */
	pthread_mutex_unlock(&registry_lock);
}

int rr_vb_dev_get(struct rr_vb_ep *ep)
{
	struct rr_vb_dev *d;
	int rc;

	pthread_mutex_lock(&registry_lock);
	rc = find_dev(ep->id->verbs, &d);
	if (!rc)
		rc = query_dev(d, ep->lib);
	if (!rc)
		d->refs++;
	pthread_mutex_unlock(&registry_lock);
	if (rc)
		return rc;
	ep->dev = d;
	pthread_mutex_lock(&d->lock);
	rr_list_push(&d->eps, &ep->of_dev);
	pthread_mutex_unlock(&d->lock);
	return 0;
}

void rr_vb_dev_put(struct rr_vb_ep *ep)
{
	struct rr_vb_dev *d = ep->dev;

	if (!d)
		return;
	ep->dev = NULL;
	pthread_mutex_lock(&d->lock);
	rr_list_del(&ep->of_dev);
	pthread_mutex_unlock(&d->lock);
	pthread_mutex_lock(&registry_lock);
	d->refs--;
	sweep_registry();
	pthread_mutex_unlock(&registry_lock);
}

/* Returns the status with which an event ends connections, or 0 if the event ends no
 * connection.  Sets *ret_everybody if the event ends all connections on the device. */
static int map_async_event(enum ibv_event_type t, bool iwarp, bool *ret_everybody)
{
	*ret_everybody = t == IBV_EVENT_DEVICE_FATAL;
	if (t == IBV_EVENT_DEVICE_FATAL)
		return -ENODEV;
	if (t == IBV_EVENT_QP_ACCESS_ERR || t == IBV_EVENT_QP_REQ_ERR)
		return -EREMOTEIO;
	if (t == IBV_EVENT_QP_FATAL) /* iWARP: the stream was invalid */
		return iwarp ? -EREMOTEIO : -EIO;
	return 0;
}

static void mark_endpoints(struct rr_vb_dev *d, const struct rr_rdma_lib *lib,
                           const struct ibv_async_event *e)
{
	bool everybody;
	int status = map_async_event(e->event_type, d->caps.iwarp, &everybody);
	struct rr_list *n;

	if (!status)
		return;
	rr_list_for_each (n, &d->eps) {
		struct rr_vb_ep *ep = rr_container_of(n, struct rr_vb_ep, of_dev);

		if (ep->async || (!everybody && ep->qp != e->element.qp))
			continue;
		ep->async = status;
		ep->async_text = lib->ibv_event_type_str(e->event_type);
	}
}

int rr_vb_dev_events(struct rr_vb_ep *ep, const char **ret_text)
{
	struct rr_vb_dev *d = ep->dev;
	struct ibv_async_event e;
	int status;

	ep->dev_ready = false;
	pthread_mutex_lock(&d->lock);
	while (!ep->lib->ibv_get_async_event(d->ctx, &e)) {
		mark_endpoints(d, ep->lib, &e);
		ep->lib->ibv_ack_async_event(&e);
	}
	status = ep->async;
	if (status)
		*ret_text = ep->async_text;
	pthread_mutex_unlock(&d->lock);
	return status;
}
