/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel says of RDMA devices, asked without opening one.
 *
 * librdmacm opens a device as soon as an id is bound to its address, and keeps it
 * open for the life of the process; the kernel's removal of rxe and siw waits for
 * that.  So a question about a device that may not be used afterwards goes to the
 * kernel itself: to its connection manager (/dev/infiniband/rdma_cm, by the commands
 * that librdmacm writes there), and by netlink.  Nothing stays open.
 */
#ifndef RR_PROV_VERBS_ASK_H
#define RR_PROV_VERBS_ASK_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/base.h"

/* An index that no device has. */
#define RR_RDMA_NO_INDEX UINT32_MAX

struct rr_rdma_node {
	char name[64];   /* of its file in /dev/infiniband: "uverbs0" */
	uint32_t driver; /* enum rdma_driver_id */
};

/* Finds the device that serves the local address @a; its port does not matter.
 * @ret: the device's index, RR_RDMA_NO_INDEX from a kernel that does not tell (before
 * 5.7).  -ENODEV: none serves it.  Another negative errno: the connection manager
 * cannot be asked. */
int rr_rdma_who_serves(const struct sockaddr_storage *a, uint32_t *ret) RR_MUST_CHECK;

/* Tells the device file and the driver of the device with that index.  A negative
 * errno: there is no such device, or the kernel (before 5.3) does not tell. */
int rr_rdma_node(uint32_t index, struct rr_rdma_node *ret) RR_MUST_CHECK;

#endif
