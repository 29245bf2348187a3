/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hearing of the removal of RDMA devices.
 *
 * Whoever has a connection is told by the connection manager.  But librdmacm keeps
 * a device open when its last connection has gone, and the kernel's removal of rxe
 * and siw waits for everybody who has it open (dev.c): so somebody must listen
 * for as long as devices were used.  The kernel tells all who ask, with no
 * privilege, when a device's node has gone.
 */
#ifndef RR_PROV_VERBS_WATCH_H
#define RR_PROV_VERBS_WATCH_H

#include "base/base.h"

/* A descriptor that becomes readable when devices of any kind come or go: the
 * caller's, to close.  A negative errno where the kernel does not tell. */
RR_MUST_CHECK int rr_verbs_watch(void);

/* @fd is readable: takes what it says, and lets go of RDMA devices that were removed.
 */
void rr_verbs_watched(int fd);

#endif
