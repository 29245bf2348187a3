/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which addresses RDMA devices serve, for the choice between this provider and
 * another.  The answers may change at any time: devices and addresses come and go.
 */
#ifndef RR_PROV_VERBS_SERVES_H
#define RR_PROV_VERBS_SERVES_H

#include <sys/socket.h>

#include "base/base.h"

/* Returns 0 if there is an RDMA device, -ENODEV if there is none, and -ENOPKG without
 * rdma-core (see rr_rdma_reason).  If there is none, rdma-core is loaded only if
 * @load is set. */
int rr_verbs_check_present(bool load);

/* Returns whether a device serves the local address @sa, whatever its port, and does so
 * better than software iWARP.  No device serves the any address or a loopback address.
 * siw is not better: it is software with the same protocol over TCP, but may miss the
 * first FPDU, checks less, and reports less.  The answer opens no device, so that a siw
 * can be removed afterwards. */
bool rr_verbs_is_preferred(const struct sockaddr *sa, socklen_t len);

#endif
