/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries to the kernel about RDMA devices, which open none.
 *
 * librdmacm opens a device as soon as an id is bound to its address, and keeps it open
 * until the process ends.  The kernel's removal of rxe and siw waits for that.  So
 * these queries, whose device may not be used afterwards, go to the kernel itself: to
 * its connection manager (/dev/infiniband/rdma_cm, by the commands that librdmacm
 * writes there), and by netlink.  Nothing stays open.
 */
#ifndef RR_PROV_VERBS_KERNEL_QUERY_H
#define RR_PROV_VERBS_KERNEL_QUERY_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/base.h"

/* An index that no device has. */
#define RR_RDMA_NO_INDEX UINT32_MAX

struct rr_rdma_node {
	char name[64];   /* of its file in /dev/infiniband, as "uverbs0" */
	uint32_t driver; /* enum rdma_driver_id */
};

/* Finds the device that serves the local address @a, whatever its port.  @ret gets the
 * device's index, or RR_RDMA_NO_INDEX from a kernel before 5.7, which does not report
 * it.  Returns -ENODEV if no device serves the address, and another negative errno if
 * the connection manager cannot be asked. */
int rr_rdma_find_device(const struct sockaddr_storage *a, uint32_t *ret) RR_MUST_CHECK;

/* Gets the device file and the driver of the device with that index.  Returns a
 * negative errno if there is no such device, or the kernel (before 5.3) does not report
 * them. */
int rr_rdma_get_node(uint32_t index, struct rr_rdma_node *ret) RR_MUST_CHECK;

#endif
