/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Determines which addresses RDMA devices serve, for the choice between this provider
 * and another.  The results can change at any time, because devices and addresses can
 * be added and removed.
 */
#ifndef RR_PROV_VERBS_SERVES_H
#define RR_PROV_VERBS_SERVES_H

#include <sys/socket.h>

#include "base/base.h"

/* Returns 0 if there is an RDMA device, -ENODEV if there is none, or -ENOPKG if
 * rdma-core cannot be loaded (see rr_rdma_reason).  Without a device, rdma-core is
 * loaded only if @load is true. */
int rr_verbs_check_present(bool load);

/* Returns true if a device other than siw serves the local address @sa; the port is
 * ignored.  No device serves the any address or a loopback address.  siw implements the
 * same protocol as the iwarp provider, also in software.  The iwarp provider is
 * preferred, because siw may miss the first FPDU, checks less, and reports less.  The
 * function opens no device, so that a siw device can still be removed afterwards. */
bool rr_verbs_is_preferred(const struct sockaddr *sa, socklen_t len);

#endif
