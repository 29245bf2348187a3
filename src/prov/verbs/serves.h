/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which addresses RDMA devices serve, for the choice between this provider and
 * another.  Answers are of the moment: devices and addresses come and go.
 */
#ifndef RR_PROV_VERBS_SERVES_H
#define RR_PROV_VERBS_SERVES_H

#include <sys/socket.h>

#include "base/base.h"

/* 0: there is an RDMA device; -ENODEV: none; -ENOPKG: no rdma-core (rr_rdma_reason).
 * Without devices rdma-core is loaded only if @load. */
int rr_verbs_present(bool load);

/* Does a device serve the local address @sa (its port does not matter), and better
 * than software iWARP would?  The any address and the loopback ones belong to none.  A
 * siw is no better: it is software and speaks the same over TCP, but sleeps on what
 * comes early, checks less, and says less.  No device is opened for the answer, so a
 * siw that was looked at can be removed. */
bool rr_verbs_preferred(const struct sockaddr *sa, socklen_t len);

#endif
