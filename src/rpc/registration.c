/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers the programs of a service with rpcbind.                [v2 §9; O6]
 *
 * A listener at the IPv6 any address also accepts IPv4 connections, and is registered
 * under both netids.                                              [v2 §12]
 */
#include "rpc/leftover_rdma.h"
#include "rpc/listener.h"
#include "rpcbind/rpcbind.h"
#include "rpcbind/uaddr.h"

static unsigned list_programs(const struct rpcrdma_service *s,
                              struct rr_rpcbind_program ret[RR_SERVICE_MAX_PROGRAMS])
{
	for (unsigned i = 0; i < s->count; i++)
		ret[i] = (struct rr_rpcbind_program){
		        .program = s->entries[i].program->program,
		        .version = s->entries[i].program->version,
		        .netid = rr_netid,
		        .is_dead = rr_is_dead_over_rdma};
	return s->count;
}

int rr_service_register(const struct rpcrdma_service *s, const struct rr_rpcbind *b,
                        const struct sockaddr *addr)
{
	struct rr_rpcbind_program programs[RR_SERVICE_MAX_PROGRAMS];
	unsigned n = list_programs(s, programs);

	return rr_register(b, programs, n, addr);
}

int rr_service_unregister(const struct rpcrdma_service *s, const struct rr_rpcbind *b,
                          const struct sockaddr *addr)
{
	struct rr_rpcbind_program programs[RR_SERVICE_MAX_PROGRAMS];
	unsigned n = list_programs(s, programs);

	return rr_unregister(b, programs, n, addr);
}

int rpcrdma_listener_register(struct rpcrdma_listener *l, uint64_t timeout_ns)
{
	struct rr_rpcbind b;

	if (!l || l->closing)
		return -EINVAL;
	rr_rpcbind_local(timeout_ns, &b);
	return rr_service_register(l->service, &b, (const struct sockaddr *)&l->addr);
}

int rpcrdma_listener_unregister(struct rpcrdma_listener *l, uint64_t timeout_ns)
{
	struct rr_rpcbind b;

	if (!l)
		return -EINVAL;
	rr_rpcbind_local(timeout_ns, &b);
	return rr_service_unregister(l->service, &b, (const struct sockaddr *)&l->addr);
}
