/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory: one list of regions per endpoint.
 *
 * Handles and offsets are random numbers from the seeded generator, not derived from
 * addresses, so that a run can be repeated exactly.  A new handle differs from the
 * handles of all regions and from the last SIM_RETIRED handles that were retired.  A
 * region that the peer invalidated stays in the list, closed, until the Receive that
 * reports this is polled.  Until then, the owner may invalidate the region, too.
 */
#include "prov/sim/sim_internal.h"

#include <stdlib.h>

struct sim_region *sim_region_find(const struct sim_end *e, uint32_t handle)
{
	struct rr_list *l;

	rr_list_for_each (l, &e->regions) {
		struct sim_region *r = rr_container_of(l, struct sim_region, link);

		if (r->handle == handle)
			return r;
	}
	return NULL;
}

static bool handle_in_use(struct rr_sim_world *w, uint32_t handle)
{
	struct rr_list *l;

	for (unsigned i = 0; i < RR_MIN(w->n_retired, (unsigned)SIM_RETIRED); i++)
		if (w->retired[i] == handle)
			return true;
	rr_list_for_each (l, &w->conns) {
		struct sim_conn *c = rr_container_of(l, struct sim_conn, link);

		if (sim_region_find(&c->end[0], handle) ||
		    sim_region_find(&c->end[1], handle))
			return true;
	}
	return false;
}

static uint32_t draw_handle(struct rr_sim_world *w)
{
	uint32_t h;

	do {
		h = (uint32_t)rr_rng_next(&w->rng);
	} while (!h || handle_in_use(w, h));
	return h;
}

/* Returns a random offset that looks like an address.  One region in sixteen ends just
 * below 2^64. */
static uint64_t draw_offset(struct rr_sim_world *w, size_t len)
{
	uint64_t x = rr_rng_next(&w->rng);

	if (x % 16 == 0)
		return UINT64_MAX - len - (x >> 60);
	return x >> 17;
}

static bool register_fails(struct rr_sim_world *w)
{
	uint64_t n = ++w->registrations;

	return w->opt.fail_register && (n == w->opt.fail_register ||
	                                (w->opt.fail_on && n > w->opt.fail_register));
}

int sim_register(struct rr_ep *ep, void *base, size_t len, unsigned access,
                 struct rr_region *ret)
{
	struct sim_end *e = sim_end_of(ep);
	struct rr_sim_world *w = sim_world(e);
	struct sim_region *r;

	if (e->state == SIM_ENDED)
		return -ENOTCONN;
	if (!base || !len || len > UINT32_MAX || !access ||
	    (access & ~(unsigned)(RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE)))
		return -EINVAL;
	if (register_fails(w))
		return -ENOMEM;
	r = sim_alloc(sizeof(*r));
	r->base = base;
	r->len = len;
	r->access = access;
	r->handle = draw_handle(w);
	r->offset = draw_offset(w, len);
	r->open = true;
	rr_list_push(&e->regions, &r->link);
	e->count.registrations++;
	*ret = (struct rr_region){.handle = r->handle, .offset = r->offset};
	return 0;
}

uint8_t *sim_region_check(struct sim_end *e, uint32_t handle, uint64_t offset,
                          uint64_t len, unsigned access, const char **ret_why)
{
	struct sim_region *r = sim_region_find(e, handle);

	if (!r || !r->open) {
		*ret_why = "no such handle";
		return NULL;
	}
	if ((r->access & access) != access) {
		*ret_why = "access not allowed";
		return NULL;
	}
	if (offset < r->offset || offset - r->offset > r->len ||
	    len > r->len - (offset - r->offset)) {
		*ret_why = "beyond the region";
		return NULL;
	}
	return r->base + (offset - r->offset);
}

void sim_region_forget(struct sim_end *e, struct sim_region *r)
{
	struct rr_sim_world *w = sim_world(e);

	w->retired[w->n_retired++ % SIM_RETIRED] = r->handle;
	rr_list_del(&r->link);
	free(r);
}

void sim_region_shut_all(struct sim_end *e)
{
	struct rr_list *l;

	while ((l = rr_list_first(&e->regions)))
		sim_region_forget(e, rr_container_of(l, struct sim_region, link));
}

unsigned rr_sim_regions(const struct rr_ep *ep)
{
	struct rr_list *l;
	unsigned n = 0;

	rr_list_for_each (l, &sim_end_of(ep)->regions)
		n += rr_container_of(l, struct sim_region, link)->open;
	return n;
}

bool rr_sim_region_live(const struct rr_ep *ep, uint32_t handle)
{
	struct sim_region *r = sim_region_find(sim_end_of(ep), handle);

	return r && r->open;
}
