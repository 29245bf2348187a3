/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations of SVCXPRTs with rpcbind; contract in svc_registry.h.  Unregistering
 * may fail because rpcbind has stopped, or because another server has replaced the
 * entry.  Such errors are ignored: svc_unreg and svc_destroy cannot report them.
 */
#include "tirpc/svc_registry.h"

#include <pthread.h>
#include <stdlib.h>

#include "rpc/leftover_rdma.h"
#include "rpcbind/rpcbind.h"
#include "rpcbind/uaddr.h"

struct entry {
	struct rr_list link;
	struct rr_rpcbind_program one;
};

static struct {
	pthread_mutex_t lock; /* guards all of the process's registries */
	struct rr_list used;  /* registries that have programs */
} all = {PTHREAD_MUTEX_INITIALIZER, {&all.used, &all.used}};

void rr_rpc_registry_lock(void)
{
	pthread_mutex_lock(&all.lock);
}

void rr_rpc_registry_unlock(void)
{
	pthread_mutex_unlock(&all.lock);
}

void rr_rpc_registry_forget(void)
{
	rr_list_init(&all.used);
}

void rr_rpc_registry_init(struct rr_rpc_registry *r, const struct sockaddr *addr)
{
	rr_list_init(&r->link);
	rr_list_init(&r->programs);
	r->addr = addr;
}

static struct entry *find_entry(const struct rr_rpc_registry *r, uint32_t program,
                                uint32_t version)
{
	const struct rr_list *n;

	rr_list_for_each (n, &r->programs) {
		struct entry *e = rr_container_of(n, struct entry, link);

		if (e->one.program == program && e->one.version == version)
			return e;
	}
	return NULL;
}

static int add_program(struct rr_rpc_registry *r, uint32_t program, uint32_t version)
{
	struct entry *e = find_entry(r, program, version), *new = NULL;
	struct rr_rpcbind b;
	int err;

	if (!e) {
		e = new = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->one = (struct rr_rpcbind_program){.program = program,
		                                     .version = version,
		                                     .netid = rr_netid,
		                                     .is_dead = rr_is_dead_over_rdma};
	}
	rr_rpcbind_local(0, &b);
	err = rr_register(&b, &e->one, 1, r->addr);
	if (err) {
		free(new);
		return err;
	}
	if (!new)
		return 1;
	if (rr_list_empty(&r->programs))
		rr_list_push(&all.used, &r->link);
	rr_list_push(&r->programs, &new->link);
	return 0;
}

int rr_rpc_registry_add(struct rr_rpc_registry *r, uint32_t program, uint32_t version)
{
	int err;

	rr_rpc_registry_lock();
	err = add_program(r, program, version);
	rr_rpc_registry_unlock();
	return err;
}

static void unregister_entry(const struct rr_rpcbind *b, struct rr_rpc_registry *r,
                             struct entry *e)
{
	rr_list_del(&e->link);
	if (rr_list_empty(&r->programs))
		rr_list_del(&r->link);
	(void)!rr_unregister(b, &e->one, 1, r->addr);
	free(e);
}

static bool del_program(const struct rr_rpcbind *b, struct rr_rpc_registry *r,
                        uint32_t program, uint32_t version)
{
	struct entry *e = find_entry(r, program, version);

	if (e)
		unregister_entry(b, r, e);
	return e;
}

void rr_rpc_registry_del(struct rr_rpc_registry *r, uint32_t program, uint32_t version)
{
	struct rr_rpcbind b;

	rr_rpc_registry_lock();
	rr_rpcbind_local(0, &b);
	(void)del_program(&b, r, program, version);
	rr_rpc_registry_unlock();
}

bool rr_rpc_registry_del_all(uint32_t program, uint32_t version)
{
	struct rr_rpcbind b;
	struct rr_list *n, *next;
	bool any = false;

	rr_rpc_registry_lock();
	rr_rpcbind_local(0, &b);
	for (n = all.used.next; n != &all.used; n = next) {
		next = n->next;
		if (del_program(&b, rr_container_of(n, struct rr_rpc_registry, link),
		                program, version))
			any = true;
	}
	rr_rpc_registry_unlock();
	return any;
}

void rr_rpc_registry_fini(struct rr_rpc_registry *r)
{
	struct rr_rpcbind b;

	rr_rpc_registry_lock();
	rr_rpcbind_local(0, &b); /* one time limit for all entries */
	while (!rr_list_empty(&r->programs))
		unregister_entry(&b, r,
		                 rr_container_of(r->programs.next, struct entry, link));
	rr_rpc_registry_unlock();
}
