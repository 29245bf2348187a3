/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches for the removal of RDMA devices.
 *
 * A connection learns of it from the connection manager.  But librdmacm keeps a device
 * open when the last connection has ended, and the kernel's removal of rxe and siw
 * waits until no process has the device open (dev.c).  So a process that has used a
 * device watches for removals.  The kernel reports each removal of a device node to
 * any process that listens, without privileges.
 */
#ifndef RR_PROV_VERBS_REMOVALS_H
#define RR_PROV_VERBS_REMOVALS_H

#include "base/base.h"

/* Opens a descriptor that becomes readable when a device of any kind is added or
 * removed; the caller closes it.  Returns a negative errno if the kernel does not
 * report that. */
RR_MUST_CHECK int rr_verbs_watch_removals(void);

/* Reads the descriptor, and closes RDMA devices that were removed and are not used. */
void rr_verbs_read_removals(int fd);

#endif
