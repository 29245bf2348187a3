/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See registry.h.  Taking back may fail: rpcbind is gone, or somebody else took the
 * entry over.  There is nobody to tell, and nothing to do about it.
 */
#include "rpc/registry.h"

#include <stdlib.h>

#include "drive/rpcbind.h"
#include "drive/uaddr.h"

struct entry {
	struct rr_list link;
	struct rr_one one;
};

void rr_rpc_registry_init(struct rr_rpc_registry *r)
{
	rr_list_init(&r->programs);
}

static struct entry *find(const struct rr_rpc_registry *r, uint32_t program,
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

int rr_rpc_registry_add(struct rr_rpc_registry *r, const struct sockaddr *addr,
                        uint32_t program, uint32_t version)
{
	struct entry *e = find(r, program, version), *new = NULL;
	struct rr_rpcbind b;
	int err;

	if (!e) {
		e = new = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->one = (struct rr_one){
		        .program = program, .version = version, .netid = rr_netid};
	}
	rr_rpcbind_local(0, &b);
	err = rr_register_one(&b, &e->one, addr);
	if (err) {
		free(new);
		return err;
	}
	if (!new)
		return 1;
	rr_list_push(&r->programs, &new->link);
	return 0;
}

static void take_back(const struct rr_rpcbind *b, struct entry *e,
                      const struct sockaddr *addr)
{
	rr_list_del(&e->link);
	(void)!rr_unregister_one(b, &e->one, addr);
	free(e);
}

void rr_rpc_registry_del(struct rr_rpc_registry *r, const struct sockaddr *addr,
                         uint32_t program, uint32_t version)
{
	struct entry *e = find(r, program, version);
	struct rr_rpcbind b;

	if (!e)
		return;
	rr_rpcbind_local(0, &b);
	take_back(&b, e, addr);
}

void rr_rpc_registry_fini(struct rr_rpc_registry *r, const struct sockaddr *addr)
{
	struct rr_rpcbind b;

	rr_rpcbind_local(0, &b); /* one limit for all */
	while (!rr_list_empty(&r->programs))
		take_back(&b, rr_container_of(r->programs.next, struct entry, link),
		          addr);
}
