/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries the kernel about RDMA devices without opening a device.
 *
 * librdmacm opens a device as soon as an id is bound to the device's address, and keeps
 * the device open until the process ends.  Until then, the kernel cannot remove an rxe
 * or siw device.  The process may query a device and then not use it, so the functions
 * below bypass librdmacm.  They query the kernel's connection manager
 * (/dev/infiniband/rdma_cm, with the same commands as librdmacm) and use netlink.  No
 * descriptor stays open.
 */
#ifndef RR_PROV_VERBS_KERNEL_QUERY_H
#define RR_PROV_VERBS_KERNEL_QUERY_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/base.h"

/* An index that no device has. */
#define RR_RDMA_NO_INDEX UINT32_MAX

struct rr_rdma_node {
	char name[64];   /* file name in /dev/infiniband, such as "uverbs0" */
	uint32_t driver; /* enum rdma_driver_id */
};

/* Finds the device that serves the local address @a; the port is ignored.  Stores the
 * device's index in @ret, or RR_RDMA_NO_INDEX if the kernel (before 5.7) does not
 * report the index.  Returns -ENODEV if no device serves the address, or another
 * negative errno if the connection manager cannot be queried. */
int rr_rdma_find_device(const struct sockaddr_storage *a, uint32_t *ret) RR_MUST_CHECK;

/* Gets the device file and the driver of the device with index @index.  Returns a
 * negative errno if there is no such device, or if the kernel is older than 5.3 and
 * cannot answer. */
int rr_rdma_get_node(uint32_t index, struct rr_rdma_node *ret) RR_MUST_CHECK;

#endif
