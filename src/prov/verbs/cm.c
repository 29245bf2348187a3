/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection set-up through librdmacm.
 *
 * Normal path: a client resolves the address, which determines the device, creates a
 * queue pair, resolves the route, and sends a request.  For a request to a listener,
 * an endpoint with its own event channel is created.  The endpoint answers the request
 * in its first flush or progress, so that its first Receives are posted before the
 * client can send.  Each side enters READY on the event ESTABLISHED.
 *
 * Failure: an unexpected event ends the connection and sets a reason.  An event is
 * copied and acknowledged before it is handled, because an id cannot be destroyed until
 * its events are acknowledged.
 */
#define _GNU_SOURCE /* eaccess */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "prov/verbs/vb_internal.h"

#define BACKLOG 128

struct rr_prov_listener {
	const struct rr_rdma_lib *lib;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rr_verbs_opts opts;
};

/* A copy of an event. */
struct cm_event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	uint8_t ird, ord; /* limits on our IRD and ORD, from the peer's offer */
	uint8_t priv[256];
	size_t priv_len;
};

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

static bool next_cm_event(const struct rr_rdma_lib *lib, struct rdma_event_channel *ch,
                          struct cm_event *ret)
{
	const struct rdma_conn_param *p;
	struct rdma_cm_event *e;

	if (lib->rdma_get_cm_event(ch, &e))
		return false;
	p = &e->param.conn;
	*ret = (struct cm_event){
	        .type = e->event,
	        /* the kernel's errno, or -1 if librdmacm has set errno */
	        .status = e->status == -1 ? rr_vb_error(-1) : e->status,
	        .id = e->id,
	        .ird = p->responder_resources,
	        .ord = p->initiator_depth,
	};
	if (p->private_data && p->private_data_len) {
		ret->priv_len = p->private_data_len;
		memcpy(ret->priv, p->private_data, p->private_data_len);
	}
	(void)lib->rdma_ack_cm_event(e); /* cannot fail for a valid event */
	return true;
}

static const char *format_addr(const struct sockaddr_storage *a, char *buf, size_t len)
{
	char ip[INET6_ADDRSTRLEN] = "?";
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (a->ss_family == AF_INET) {
		memcpy(&in, a, sizeof(in));
		inet_ntop(AF_INET, &in.sin_addr, ip, sizeof(ip));
	} else if (a->ss_family == AF_INET6) {
		memcpy(&in6, a, sizeof(in6));
		inet_ntop(AF_INET6, &in6.sin6_addr, ip, sizeof(ip));
	}
	snprintf(buf, len, "%s", ip);
	return buf;
}

static void keep_addr(struct sockaddr_storage *to, const struct sockaddr *from)
{
	size_t len = from->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
	             : from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	                                           : 0;

	if (len)
		memcpy(to, from, len);
}

static void keep_addrs(struct rr_vb_ep *ep)
{
	keep_addr(&ep->base.peer, rdma_get_peer_addr(ep->id));
	keep_addr(&ep->local, rdma_get_local_addr(ep->id));
}

static void fail_cm_setup(struct rr_vb_ep *ep, int status)
{
	rr_ep_trace_rejected(&ep->base, status, ep->state);
	rr_vb_dead(ep);
}

static int make_channel(struct rr_vb_ep *ep)
{
	struct epoll_event e = {.events = EPOLLIN};
	int rc = rr_rdma_channel(ep->lib, &ep->channel);

	if (rc)
		return rc;
	rc = set_nonblocking(ep->channel->fd);
	e.data.fd = ep->channel->fd;
	if (!rc && epoll_ctl(ep->epfd, EPOLL_CTL_ADD, ep->channel->fd, &e))
		rc = -errno;
	return rc;
}

/* ---- client ---- */

static int resolve_limit_ms(const struct rr_vb_ep *ep)
{
	rr_time ms = ep->handshake / RR_MS(1);

	return ms > 60000 ? 60000 : ms < 1 ? 1 : (int)ms;
}

static void fail_no_manager(struct rr_vb_ep *ep, int status)
{
	rr_ep_set_reason(&ep->base, status, "/dev/infiniband/rdma_cm: %s%s",
	                 strerror(-status),
	                 status == -ENOENT ? " (modprobe rdma_ucm)" : "");
	fail_cm_setup(ep, status);
}

/* Returns -EACCES if there is a device file that we have no permission to open, because
 * librdmacm ignores such a file.  Otherwise returns -ENODEV. */
static int find_device_error(const struct rr_vb_ep *ep)
{
	struct ibv_device **list = ep->lib->ibv_get_device_list(NULL);
	char path[sizeof(list[0]->dev_name) + sizeof("/dev/infiniband/")];
	int err = -ENODEV;

	for (unsigned i = 0; list && list[i] && err == -ENODEV; i++) {
		snprintf(path, sizeof(path), "/dev/infiniband/%s", list[i]->dev_name);
		if (eaccess(path, R_OK | W_OK) && errno == EACCES)
			err = -EACCES;
	}
	if (list)
		ep->lib->ibv_free_device_list(list);
	return err;
}

static void fail_no_device(struct rr_vb_ep *ep, int status)
{
	char a[INET6_ADDRSTRLEN];

	if (status == -ENODEV)
		status = find_device_error(ep);

	if (status == -ETIMEDOUT)
		rr_ep_set_reason(&ep->base, status,
		                 "%s does not answer (address resolution)",
		                 format_addr(&ep->base.peer, a, sizeof(a)));
	else if (status == -EACCES)
		rr_ep_set_reason(
		        &ep->base, status,
		        "/dev/infiniband/uverbs* must be readable and writable");
	else
		rr_ep_set_reason(&ep->base, status, "no RDMA device reaches %s: %s",
		                 format_addr(&ep->base.peer, a, sizeof(a)),
		                 strerror(-status));
	fail_cm_setup(ep, status);
}

int rr_vb_connect(const struct rr_prov_config *cfg, const struct sockaddr *sa,
                  socklen_t sa_len, const void *priv, size_t priv_len, rr_time now,
                  struct rr_ep **ret)
{
	struct sockaddr_storage to = {0};
	struct rr_vb_ep *ep;
	int rc;

	if (!rr_rdma_lib())
		return -EOPNOTSUPP;
	if (sa_len > sizeof(to))
		return -EINVAL;
	memcpy(&to, sa, sa_len);
	rr_vb_dev_sweep(); /* lets the kernel complete earlier removals */
	rc = rr_vb_new(cfg, priv, priv_len, now, &ep);
	if (rc)
		return rc;
	ep->state = RR_VB_RESOLVE;
	keep_addr(&ep->base.peer, (struct sockaddr *)&to);
	rc = make_channel(ep);
	if (!rc && ep->lib->rdma_create_id(ep->channel, &ep->id, ep, RDMA_PS_TCP))
		rc = rr_vb_error(-1);
	if (rc)
		fail_no_manager(ep, rc);
	else if (ep->lib->rdma_resolve_addr(ep->id, NULL, (struct sockaddr *)&to,
	                                    resolve_limit_ms(ep)))
		fail_no_device(ep, rr_vb_error(-1));
	*ret = &ep->base.ep;
	return 0;
}

static void handle_addr_event(struct rr_vb_ep *ep, const struct cm_event *e)
{
	if (e->type != RDMA_CM_EVENT_ADDR_RESOLVED) {
		fail_no_device(ep, e->status < 0 ? e->status : -ENODEV);
		return;
	}
	keep_addrs(ep);
	if (rr_vb_qp_open(ep)) {
		fail_cm_setup(ep, ep->base.status);
		return;
	}
	ep->state = RR_VB_ROUTE;
	if (ep->lib->rdma_resolve_route(ep->id, resolve_limit_ms(ep)))
		fail_no_device(ep, rr_vb_error(-1));
}

static struct rdma_conn_param make_conn_param(const struct rr_vb_ep *ep)
{
	return (struct rdma_conn_param){
	        .private_data = ep->priv_len ? ep->priv : NULL,
	        .private_data_len = (uint8_t)ep->priv_len,
	        .responder_resources = ep->ird,
	        .initiator_depth = ep->ord,
	        .retry_count = RR_VB_RETRY,
	        /* a peer's Send is repeated until there is a Receive for it */
	        .rnr_retry_count = RR_VB_RNR,
	};
}

static void handle_route_event(struct rr_vb_ep *ep, const struct cm_event *e)
{
	struct rdma_conn_param p = make_conn_param(ep);
	int rc;

	if (e->type != RDMA_CM_EVENT_ROUTE_RESOLVED) {
		fail_no_device(ep, e->status < 0 ? e->status : -EHOSTUNREACH);
		return;
	}
	ep->state = RR_VB_ASKED;
	if (!ep->lib->rdma_connect(ep->id, &p))
		return;
	rc = rr_vb_error(-1);
	rr_ep_set_reason(&ep->base, rc, "cannot connect: %s", strerror(-rc));
	fail_cm_setup(ep, rc);
}

/* ---- both ---- */

static void enter_established(struct rr_vb_ep *ep, const struct cm_event *e)
{
	if (ep->state == RR_VB_ASKED) {
		ep->peer_priv_len = e->priv_len;
		memcpy(ep->peer_priv, e->priv, e->priv_len);
		/* iWARP devices disagree about which value is IRD and which is ORD */
		if (!ep->dev->caps.iwarp) {
			ep->ird = RR_MIN(ep->ird, e->ird);
			ep->ord = RR_MIN(ep->ord, e->ord);
		}
		keep_addrs(ep);
	}
	ep->state = RR_VB_READY;
	ep->base.deadline = RR_TIME_NEVER;
	ep->armed = false; /* the event may have arrived before READY; arm again */
	rr_trace(ep->base.trace, RR_TRACE_PROV_CONNECTED, ep->base.conn_id, 0, ep->ird,
	         ep->ord, ep->windows);
	rr_ep_complete(&ep->base, RR_WC_CONNECTED, 0, 0);
}

static void fail_established(struct rr_vb_ep *ep, const struct cm_event *e)
{
	int status;

	if (ep->state == RR_VB_ACCEPTED || ep->state == RR_VB_CALLED) {
		rr_ep_set_reason(
		        &ep->base, -ECONNRESET,
		        "the client went away during the connection set-up (%s)",
		        ep->lib->rdma_event_str(e->type));
		fail_cm_setup(ep, -ECONNRESET);
		return;
	}
	if (e->type == RDMA_CM_EVENT_REJECTED)
		status = -ECONNREFUSED;
	else if (e->status < 0)
		status = e->status;
	else
		status = e->type == RDMA_CM_EVENT_UNREACHABLE ? -EHOSTUNREACH
		                                              : -ECONNABORTED;
	if (status == -ECONNREFUSED)
		rr_ep_set_reason(&ep->base, status,
		                 "the server refused the connection (%d)", e->status);
	else
		rr_ep_set_reason(&ep->base, status, "cannot connect: %s (%s)",
		                 strerror(-status), ep->lib->rdma_event_str(e->type));
	fail_cm_setup(ep, status);
}

static void end_on_removal(struct rr_vb_ep *ep, const char *reason)
{
	rr_ep_set_reason(&ep->base, -ENODEV, "%s", reason);
	rr_vb_cm_disconnect(ep);
	rr_vb_dead(ep);
}

static void handle_cm_event(struct rr_vb_ep *ep, const struct cm_event *e)
{
	if (e->type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		end_on_removal(ep, "the RDMA device was removed");
		return;
	}
	if (e->type == RDMA_CM_EVENT_ADDR_CHANGE) {
		end_on_removal(ep, "the RDMA device's address moved to another device");
		return;
	}
	switch (ep->state) {
	case RR_VB_RESOLVE:
		handle_addr_event(ep, e);
		break;
	case RR_VB_ROUTE:
		handle_route_event(ep, e);
		break;
	case RR_VB_ASKED:
	case RR_VB_CALLED:
	case RR_VB_ACCEPTED:
		if (e->type == RDMA_CM_EVENT_ESTABLISHED)
			enter_established(ep, e);
		else
			fail_established(ep, e);
		break;
	case RR_VB_READY:
	case RR_VB_DRAIN:
	case RR_VB_SHUT:
		if (e->type == RDMA_CM_EVENT_DISCONNECTED)
			rr_vb_peer_closed(ep, e->status);
		break;
	case RR_VB_DEAD:
		break;
	}
}

void rr_vb_cm_events(struct rr_vb_ep *ep)
{
	struct cm_event e;

	while (ep->state != RR_VB_DEAD) {
		ep->base.count.syscalls++;
		if (!next_cm_event(ep->lib, ep->channel, &e))
			break;
		handle_cm_event(ep, &e);
	}
}

/* Errors are ignored: they mean that the connection has already ended. */
void rr_vb_cm_disconnect(struct rr_vb_ep *ep)
{
	if (ep->state == RR_VB_CALLED)
		(void)ep->lib->rdma_reject(ep->id, NULL, 0);
	else if (rr_vb_is(ep, RR_VB_BIT(ACCEPTED) | RR_VB_IN_STREAM))
		(void)ep->lib->rdma_disconnect(ep->id);
}

/* ---- server ---- */

static void free_listener(struct rr_prov_listener *l)
{
	if (l->id)
		(void)l->lib->rdma_destroy_id(l->id);
	if (l->channel)
		l->lib->rdma_destroy_event_channel(l->channel);
	free(l);
}

static bool is_any_address(const struct sockaddr_storage *a)
{
	const struct sockaddr_in6 *in6 = (const void *)a;
	const struct sockaddr_in *in = (const void *)a;

	return a->ss_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr)
	                                : in->sin_addr.s_addr == htonl(INADDR_ANY);
}

static int bind_listener(struct rr_prov_listener *l, struct sockaddr_storage *addr)
{
	const struct rr_rdma_lib *lib = l->lib;
	int yes = 1, rc = rr_rdma_channel(lib, &l->channel);

	if (!rc)
		rc = set_nonblocking(l->channel->fd);
	if (rc)
		return rc;
	if (lib->rdma_create_id(l->channel, &l->id, l, RDMA_PS_TCP))
		return rr_vb_error(-1);
	/* a restarted server must be able to bind while old connections remain */
	(void)lib->rdma_set_option(l->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
	                           &yes, sizeof(yes));
	if (lib->rdma_bind_addr(l->id, (struct sockaddr *)addr))
		return rr_vb_error(-1);
	if (l->id->verbs)
		rr_vb_dev_note(l->id->verbs);
	else if (!is_any_address(addr))
		return -ENODEV; /* a loopback address: no peer could connect */
	if (l->id->verbs && l->opts.device[0] &&
	    strcmp(lib->ibv_get_device_name(l->id->verbs->device), l->opts.device))
		return -ENODEV;
	return lib->rdma_listen(l->id, BACKLOG) ? rr_vb_error(-1) : 0;
}

int rr_vb_listen(const struct rr_prov_config *cfg, const struct sockaddr *sa,
                 socklen_t sa_len, struct rr_prov_listener **ret,
                 struct sockaddr_storage *ret_addr)
{
	struct sockaddr_storage addr = {0};
	struct rr_prov_listener *l;
	int rc;

	if (!rr_rdma_lib())
		return -EOPNOTSUPP;
	if (sa_len > sizeof(addr))
		return -EINVAL;
	memcpy(&addr, sa, sa_len);
	rr_vb_dev_sweep();
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->lib = rr_rdma_lib();
	rc = rr_verbs_opts_parse(cfg->options, &l->opts, RR_NO_REASON);
	if (!rc)
		rc = bind_listener(l, &addr);
	if (rc) {
		free_listener(l);
		return rc;
	}
	if (addr.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&addr)->sin6_port =
		        l->lib->rdma_get_src_port(l->id);
	else
		((struct sockaddr_in *)&addr)->sin_port =
		        l->lib->rdma_get_src_port(l->id);
	*ret_addr = addr;
	*ret = l;
	return 0;
}

int rr_vb_listener_fd(const struct rr_prov_listener *l)
{
	return l->channel->fd;
}

void rr_vb_listener_close(struct rr_prov_listener *l)
{
	if (l)
		free_listener(l);
}

/* Limits IRD and ORD to the client's offer.  With MPA revision 1 there is no offer. */
static void agree_depths(struct rr_vb_ep *ep, const struct cm_event *e)
{
	if (ep->dev->caps.iwarp && !e->ird && !e->ord)
		return;
	ep->ird = RR_MIN(ep->ird, e->ird);
	ep->ord = RR_MIN(ep->ord, e->ord);
}

/* Moves the request's id to the endpoint and to the endpoint's own event channel. */
static int adopt_request(struct rr_vb_ep *ep, const struct cm_event *e)
{
	int rc = make_channel(ep);

	if (rc)
		return rc;
	if (ep->lib->rdma_migrate_id(e->id, ep->channel))
		return rr_vb_error(-1);
	ep->id = e->id;
	ep->id->context = ep;
	keep_addrs(ep);
	ep->peer_priv_len = e->priv_len;
	memcpy(ep->peer_priv, e->priv, e->priv_len);
	rc = rr_vb_qp_open(ep);
	if (!rc)
		agree_depths(ep, e);
	return rc;
}

static int take_request(struct rr_prov_listener *l, const struct cm_event *e,
                        const struct rr_prov_config *cfg, const void *priv,
                        size_t priv_len, rr_time now, struct rr_ep **ret)
{
	struct rr_vb_ep *ep = NULL;
	int rc = rr_vb_new(cfg, priv, priv_len, now, &ep);

	if (!rc)
		rc = adopt_request(ep, e);
	if (!rc) {
		ep->state = RR_VB_CALLED;
		*ret = &ep->base.ep;
		return 0;
	}
	rr_trace(cfg->trace, RR_TRACE_PROV_REJECTED, cfg->conn_id, 0, (uint64_t)-rc,
	         RR_VB_CALLED, 0);
	(void)l->lib->rdma_reject(e->id, NULL, 0); /* best effort */
	if (ep && ep->id) {
		ep->state = RR_VB_RESOLVE; /* there is no connection yet */
		rr_vb_dead(ep);
	} else {
		(void)l->lib->rdma_destroy_id(e->id);
	}
	if (ep)
		rr_vb_free(ep);
	return rc;
}

int rr_vb_accept(struct rr_prov_listener *l, const struct rr_prov_config *cfg,
                 const void *priv, size_t priv_len, rr_time now, struct rr_ep **ret)
{
	struct cm_event e;

	while (next_cm_event(l->lib, l->channel, &e)) {
		if (e.type == RDMA_CM_EVENT_CONNECT_REQUEST)
			return take_request(l, &e, cfg, priv, priv_len, now, ret);
		if (e.id == l->id && (e.type == RDMA_CM_EVENT_DEVICE_REMOVAL ||
		                      e.type == RDMA_CM_EVENT_ADDR_CHANGE))
			return -ESHUTDOWN; /* the address was removed or moved */
	}
	return -EAGAIN;
}

void rr_vb_answer(struct rr_vb_ep *ep)
{
	struct rdma_conn_param p = make_conn_param(ep);
	int rc;

	if (ep->base.ended) { /* the Receives could not be posted */
		rr_vb_cm_disconnect(ep);
		fail_cm_setup(ep, ep->base.status);
		return;
	}
	ep->state = RR_VB_ACCEPTED;
	if (!ep->lib->rdma_accept(ep->id, &p))
		return;
	rc = rr_vb_error(-1);
	rr_ep_set_reason(&ep->base, -ECONNRESET, "the client could not be answered: %s",
	                 strerror(-rc));
	fail_cm_setup(ep, rc);
}
