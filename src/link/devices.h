/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine that has used RDMA devices hears of their removal, whether it has
 * connections then or not: what the provider keeps open would keep the kernel from
 * removing them.
 */
#ifndef RR_DRIVE_DEVICES_H
#define RR_DRIVE_DEVICES_H

#include "loop/engine.h"
#include "prov/prov.h"

/* @prov is about to be used; once it is that of devices, the engine listens. */
void rr_devices_used(struct rpcrdma_engine *, const struct rr_prov_ops *prov);
void rr_devices_init(struct rpcrdma_engine *);
void rr_devices_fini(struct rpcrdma_engine *);

#endif
