/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of operations, information about endpoints, and functions for tests.
 */
#include "prov/sim/sim_internal.h"

#include <string.h>
#include <sys/epoll.h>

static int sim_listener_fd(const struct rr_prov_listener *l)
{
	return -1;
}

static void sim_progress(struct rr_ep *ep, rr_time now)
{
	rr_sim_run_until(sim_world(sim_end_of(ep)), now);
}

static int sim_fd(const struct rr_ep *ep)
{
	return -1;
}

static uint32_t sim_events(const struct rr_ep *ep)
{
	return EPOLLIN;
}

static rr_time sim_deadline(const struct rr_ep *ep)
{
	return rr_sim_next(sim_world(sim_end_of(ep)));
}

static void sim_limits(const struct rr_ep *ep, struct rr_prov_limits *ret)
{
	const struct rr_sim_options *o = &sim_end_of(ep)->conn->opt;

	*ret = (struct rr_prov_limits){
	        .max_recv = o->max_recv ? o->max_recv : 4096,
	        .max_send = o->max_send ? o->max_send : 4096,
	        .max_ord = o->max_ord ? o->max_ord : 16,
	        .max_ird = o->max_ord ? o->max_ord : 16,
	        .max_msg = o->max_msg ? o->max_msg : 1u << 30,
	        .remote_invalidate = !o->no_remote_invalidate,
	        .send_invalidate = !o->no_remote_invalidate,
	        .survives_inv_twice = o->survive_inv_twice,
	};
}

static void sim_counters(const struct rr_ep *ep, struct rr_prov_counters *ret)
{
	*ret = sim_end_of(ep)->count;
}

static const void *sim_peer_private(const struct rr_ep *ep, size_t *ret_len)
{
	struct sim_end *e = sim_end_of(ep);
	struct sim_end *p = sim_peer(e);

	*ret_len = e->peer_priv_known ? p->priv_len : 0;
	return p->priv;
}

static void fill_address(const struct sockaddr_in *addr, struct sockaddr_storage *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, addr, sizeof(*addr));
}

static int sim_peer_addr(const struct rr_ep *ep, struct sockaddr_storage *ret)
{
	fill_address(&sim_peer(sim_end_of(ep))->addr, ret);
	return 0;
}

static int sim_local_addr(const struct rr_ep *ep, struct sockaddr_storage *ret)
{
	fill_address(&sim_end_of(ep)->addr, ret);
	return 0;
}

static const char *sim_reason(const struct rr_ep *ep)
{
	return sim_end_of(ep)->why;
}

/* There are no removals to watch, because the simulator keeps no device open. */
static int sim_watch_removals(void)
{
	return -EOPNOTSUPP;
}

static void sim_read_removals(int fd)
{
}

static int sim_take(struct rr_prov_listener *l, struct rr_prov_listener **ret,
                    struct sockaddr_storage *ret_peer)
{
	return -EOPNOTSUPP;
}

const struct rr_prov_ops rr_sim_ops = {
        .name = "sim",
        .remote_invalidate = true,
        .pooled_receives = true,
        .watch_removals = sim_watch_removals,
        .read_removals = sim_read_removals,
        .connect = sim_connect,
        .listen = sim_listen,
        .listener_fd = sim_listener_fd,
        .accept = sim_accept,
        .take = sim_take,
        .listener_close = sim_listener_close,
        .post_recv = sim_post_recv,
        .post_send = sim_post_send,
        .post_write = sim_post_write,
        .post_read = sim_post_read,
        .register_mem = sim_register,
        .invalidate = sim_invalidate,
        .flush = sim_flush,
        .progress = sim_progress,
        .poll = sim_poll,
        .fd = sim_fd,
        .events = sim_events,
        .deadline = sim_deadline,
        .disconnect = sim_disconnect,
        .destroy = sim_destroy,
        .limits = sim_limits,
        .counters = sim_counters,
        .peer_private = sim_peer_private,
        .peer_addr = sim_peer_addr,
        .local_addr = sim_local_addr,
        .reason = sim_reason,
};

/* -- functions for tests that check each step ------------------------------ */

static unsigned list_length(const struct rr_list *head)
{
	const struct rr_list *l;
	unsigned n = 0;

	rr_list_for_each (l, head)
		n++;
	return n;
}

bool rr_sim_over(const struct rr_ep *ep)
{
	return sim_end_of(ep)->state == SIM_ENDED;
}

unsigned rr_sim_receives(const struct rr_ep *ep)
{
	return sim_end_of(ep)->n_recvs;
}

unsigned rr_sim_sends_under_way(const struct rr_ep *ep)
{
	return sim_end_of(ep)->sends_out;
}

unsigned rr_sim_owed(const struct rr_ep *ep)
{
	struct sim_end *e = sim_end_of(ep);

	return list_length(&e->posted) + list_length(&e->cq);
}

static bool ranges_overlap(const void *a, size_t a_len, const void *b, size_t b_len)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return x < y ? a_len > y - x : b_len > x - y;
}

bool rr_sim_lent(const struct rr_ep *ep, const void *base, size_t len)
{
	struct sim_end *e = sim_end_of(ep);
	struct rr_list *l;

	rr_list_for_each (l, &e->posted) {
		struct sim_op *op = rr_container_of(l, struct sim_op, link);

		for (unsigned i = 0; i < op->n_sge; i++)
			if (ranges_overlap(op->sge[i].base, op->sge[i].len, base, len))
				return true;
	}
	rr_list_for_each (l, &e->regions) {
		struct sim_region *r = rr_container_of(l, struct sim_region, link);

		if (r->open && ranges_overlap(r->base, r->len, base, len))
			return true;
	}
	return false;
}
