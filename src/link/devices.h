/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine that has used RDMA devices watches for their removal, with or without
 * connections: the kernel cannot remove a device that the provider keeps open.
 */
#ifndef RR_DRIVE_DEVICES_H
#define RR_DRIVE_DEVICES_H

#include "loop/engine.h"
#include "prov/prov.h"

/* Reports that @prov is about to be used.  The watch begins with the first use of the
 * provider for devices. */
void rr_devices_used(struct rpcrdma_engine *, const struct rr_prov_ops *prov);

#endif
