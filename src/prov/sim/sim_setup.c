/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection set-up: listeners, connect, accept.
 *
 * Normal path: sim_connect makes the sim_conn and sends a request, which waits at the
 * listener.  sim_accept creates the other endpoint and sends the answer.  The accepting
 * endpoint is connected when the answer arrives or earlier, so that it can receive the
 * first Send.
 *
 * Failure: the connecting endpoint ends with -ECONNREFUSED if there is no listener or
 * the option refuse is set.  It ends with -ETIMEDOUT if the request is not accepted in
 * time.
 * The accepting endpoint ends with -ECONNRESET if the connecting endpoint was destroyed
 * in the meantime.
 */
#include "prov/sim/sim_internal.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define HANDSHAKE_NS RR_SEC(10)

static struct rr_prov_listener *listener_at(struct rr_sim_world *w, in_port_t port)
{
	struct rr_list *l;

	rr_list_for_each (l, &w->listeners) {
		struct rr_prov_listener *p =
		        rr_container_of(l, struct rr_prov_listener, link);

		if (p->addr.sin_port == port)
			return p;
	}
	return NULL;
}

static int take_address(const struct sockaddr *sa, socklen_t len,
                        struct sockaddr_in *ret)
{
	if (!sa || len < (socklen_t)sizeof(*ret))
		return -EINVAL;
	if (sa->sa_family != AF_INET)
		return -EAFNOSUPPORT;
	memcpy(ret, sa, sizeof(*ret));
	return 0;
}

static void end_init(struct sim_conn *c, unsigned side)
{
	struct sim_end *e = &c->end[side];

	e->ep.ops = &rr_sim_ops;
	e->conn = c;
	e->side = side;
	e->why = "";
	rr_list_init(&e->posted);
	rr_list_init(&e->held);
	rr_list_init(&e->txq);
	rr_list_init(&e->recvs);
	rr_list_init(&e->cq);
	rr_list_init(&e->regions);
}

static void end_create(struct sim_end *e, const struct rr_prov_config *cfg,
                       const void *priv, size_t priv_len)
{
	e->created = true;
	e->state = SIM_SETUP;
	e->cfg = *cfg;
	if (priv_len)
		memcpy(e->priv, priv, priv_len);
	e->priv_len = priv_len;
}

static void handshake_timeout(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	e->timer = 0;
	if (e->destroyed || e->state != SIM_SETUP)
		return;
	sim_end_now(e, -ETIMEDOUT, "no answer to the connect request");
	sim_send_end(e, -ECONNRESET);
}

static void refused_arrives(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	if (!e->destroyed && e->state == SIM_SETUP)
		sim_end_now(e, -ECONNREFUSED, "connection refused");
}

static void refuse_setup(struct sim_end *client)
{
	rr_time at = sim_world(client)->now;

	at += sim_draw(sim_world(client), client->conn->opt.dir[1].delay);
	sim_at(client, at, refused_arrives, NULL, 0);
}

static void request_arrives(struct sim_end *client, struct sim_op *op, uint64_t arg)
{
	struct rr_sim_world *w = sim_world(client);
	struct rr_prov_listener *l;

	if (client->destroyed || client->state != SIM_SETUP)
		return;
	if (w->opt.silent || client->conn->cut)
		return;
	l = listener_at(w, (in_port_t)arg);
	if (!l || w->opt.refuse)
		refuse_setup(client);
	else
		rr_list_push(&l->pending, &client->conn->pending);
}

int sim_connect(const struct rr_prov_config *cfg, const struct sockaddr *sa,
                socklen_t sa_len, const void *priv, size_t priv_len, rr_time now,
                struct rr_ep **ret)
{
	struct rr_sim_world *w = cfg->instance;
	struct sockaddr_in addr;
	struct sim_conn *c;
	struct sim_end *e;
	int err = take_address(sa, sa_len, &addr);

	if (err)
		return err;
	if (!w || priv_len > RR_PROV_PRIVATE_MAX)
		return -EINVAL;
	rr_sim_run_until(w, now);
	c = sim_alloc(sizeof(*c));
	c->world = w;
	c->opt = w->opt;
	rr_list_init(&c->pending);
	end_init(c, 0);
	end_init(c, 1);
	c->end[1].addr = addr;
	rr_list_push(&w->conns, &c->link);
	e = &c->end[0];
	end_create(e, cfg, priv, priv_len);
	e->addr.sin_family = AF_INET;
	e->addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	e->addr.sin_port = htons(w->next_port++);
	if (!w->next_port)
		w->next_port = 49152;
	sim_at(e, w->now + sim_draw(w, c->opt.dir[0].delay), request_arrives, NULL,
	       addr.sin_port);
	e->timer = sim_at(
	        e, w->now + (cfg->handshake_ns ? cfg->handshake_ns : HANDSHAKE_NS),
	        handshake_timeout, NULL, 0);
	*ret = &e->ep;
	return 0;
}

int sim_listen(const struct rr_prov_config *cfg, const struct sockaddr *sa,
               socklen_t sa_len, struct rr_prov_listener **ret,
               struct sockaddr_storage *ret_addr)
{
	struct rr_sim_world *w = cfg->instance;
	struct rr_prov_listener *l;
	struct sockaddr_in addr;
	int err = take_address(sa, sa_len, &addr);

	if (err)
		return err;
	if (!w)
		return -EINVAL;
	if (addr.sin_port && listener_at(w, addr.sin_port))
		return -EADDRINUSE;
	for (uint16_t port = 1024; !addr.sin_port; port++)
		if (!listener_at(w, htons(port)))
			addr.sin_port = htons(port);
	l = sim_alloc(sizeof(*l));
	l->world = w;
	l->addr = addr;
	rr_list_init(&l->pending);
	rr_list_push(&w->listeners, &l->link);
	memset(ret_addr, 0, sizeof(*ret_addr));
	memcpy(ret_addr, &addr, sizeof(addr));
	*ret = l;
	return 0;
}

static void complete_setup(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	const struct rr_wc wc = {.op = RR_WC_CONNECTED};

	if (e->destroyed || e->state != SIM_SETUP || e->conn->cut)
		return;
	if (e->timer)
		sim_cancel(sim_world(e), e->timer);
	e->timer = 0;
	e->state = SIM_OPEN;
	e->peer_priv_known = true;
	rr_trace(e->cfg.trace, RR_TRACE_PROV_CONNECTED, e->cfg.conn_id, 0,
	         e->conn->opt.max_ord, e->conn->opt.max_ord, 0);
	sim_push(e, &wc, false, false);
}

int sim_accept(struct rr_prov_listener *l, const struct rr_prov_config *cfg,
               const void *priv, size_t priv_len, rr_time now, struct rr_ep **ret)
{
	struct rr_sim_world *w = l->world;
	struct sim_conn *c;
	struct rr_list *n;
	struct sim_end *e;
	rr_time answer;

	if (priv_len > RR_PROV_PRIVATE_MAX)
		return -EINVAL;
	rr_sim_run_until(w, now);
	n = rr_list_pop(&l->pending);
	if (!n)
		return -EAGAIN;
	c = rr_container_of(n, struct sim_conn, pending);
	e = &c->end[1];
	end_create(e, cfg, priv, priv_len);
	answer = sim_wire(e, 0);
	sim_at(e, w->now + rr_rng_below(&w->rng, answer - w->now + 1), complete_setup,
	       NULL, 0);
	sim_at(&c->end[0], answer, complete_setup, NULL, 0);
	*ret = &e->ep;
	return 0;
}

void sim_listener_close(struct rr_prov_listener *l)
{
	struct rr_list *n;

	if (!l)
		return;
	while ((n = rr_list_pop(&l->pending)))
		refuse_setup(&rr_container_of(n, struct sim_conn, pending)->end[0]);
	rr_list_del(&l->link);
	free(l);
}
