/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches for the removal of RDMA devices, even while an engine has no connections,
 * because the kernel cannot remove a device that the provider keeps open.
 */
#ifndef RR_LINK_DEVICES_H
#define RR_LINK_DEVICES_H

#include "loop/engine.h"
#include "prov/prov.h"

/* Call before @prov is used.  Starts the watch if @prov uses devices and the engine
 * does not yet watch them. */
void rr_devices_used(struct rpcrdma_engine *, const struct rr_prov_ops *prov);

#endif
