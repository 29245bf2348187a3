/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches for the removal of RDMA devices.
 *
 * The connection manager reports a removal to each connection.  However, librdmacm
 * keeps a device open after the last connection has ended.  The kernel cannot remove an
 * rxe or siw device while a process has the device open (dev.c).  A process that has
 * used a device therefore watches for removals.  The kernel sends uevents about device
 * files to any process that asks for them, even without privileges.
 */
#ifndef RR_PROV_VERBS_REMOVALS_H
#define RR_PROV_VERBS_REMOVALS_H

#include "base/base.h"

/* Opens a descriptor that becomes readable when a device of any kind is added or
 * removed; the caller closes it.  Returns a negative errno if the kernel does not
 * report these events. */
RR_MUST_CHECK int rr_verbs_watch_removals(void);

/* Reads events from the descriptor, and closes unused RDMA devices that were
 * removed. */
void rr_verbs_read_removals(int fd);

#endif
