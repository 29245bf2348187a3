/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libtirpc's SVCXPRT over RDMA: one listener on the shared engine, with all its
 * clients.
 *
 * Normal path: the engine's thread queues each request and makes an eventfd readable,
 * which svc_run polls.  The thread in svc_run takes the request with xp_recv and calls
 * the dispatch function, which decodes the arguments in place (xp_getargs) and replies
 * (xp_reply).  xp_reply waits until the transport no longer needs the caller's memory.
 * If a client does not receive its Reply within send_ns, its connection is closed.
 *
 * Requests nest, because a dispatch function may run the loop of svc_run again.  The
 * requests being dispatched form a stack: xp_recv pushes a request, and xp_stat, which
 * the loop calls once after each xp_recv, pops it.
 *
 * Failure: a request that is popped without a Reply is answered with SYSTEM_ERR; so are
 * the requests that are queued when the SVCXPRT is destroyed.  A dispatch function may
 * destroy its SVCXPRT.  Then the descriptor is unregistered at once, and the SVCXPRT is
 * freed when the stack is empty.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rpcrdma/hostauth.h>

#include "oncrpc/rpc_header.h"
#include "rpc/listener.h"
#include "tirpc/svc_gss.h"
#include "tirpc/svc_registry.h"
#include "tirpc/shared.h"

#include <rpc/svc_mt.h> /* after rpc.h, which it needs */

enum { IN_A_ROW = 16 /* requests handled before other transports get a turn */ };

struct transport;

/* A request, in the queue or being dispatched. */
struct frame {
	struct rr_list link; /* in transport.queue */
	struct frame *outer; /* the next lower frame on the stack */
	struct transport *transport;
	struct rpcrdma_request *request; /* valid until @answered */
	struct sockaddr_storage peer;
	struct rr_rpc_call rpc;
	const struct rpcrdma_tirpc_procedure *binding;
	struct rr_rpc_gss *gss; /* state of an authenticated RPCSEC_GSS request,
				   otherwise NULL */
	bool protected;         /* protected by RPCSEC_GSS, so there are no items */
	SVCAUTH auth;           /* saved while an inner request is dispatched */
	bool answered;
	bool taken;              /* the program has taken over the item's memory */
	struct rr_rpc_wait wait; /* wait until the Reply was sent */
	char *identity;          /* client's TLS identity; NULL = not authenticated */
};

struct transport {
	SVCXPRT xprt;
	SVCXPRT_EXT ext;
	struct rpcrdma_engine *engine;
	struct rr_rpc_options o;
	struct rpcrdma_service *service;
	struct rr_service_passthrough pass;
	struct rpcrdma_listener *listener; /* used in the engine's thread only */
	const char *address;               /* used only during svc_rdma_create */
	int error;
	struct rr_rpc_wait ended;
	pthread_mutex_t lock; /* guards @queue and @closed */
	struct rr_list queue; /* frames; while not empty, the eventfd is readable */
	bool closed;          /* new requests are refused */
	/* Used in the dispatching thread only: */
	struct frame *top; /* top of the stack */
	struct rr_rpc_registry registry;
	struct rr_gss *gss; /* NULL: RPCSEC_GSS is not supported */
	bool dry;           /* the last xp_recv returned no request */
	unsigned in_a_row;  /* requests since other transports had a turn */
	bool dying;         /* to be freed when the stack is empty */
	struct sockaddr_storage local, peer;
	char verf[MAX_AUTH_BYTES];
};

static struct transport *transport_of(const SVCXPRT *x)
{
	return x->xp_p1;
}

static const struct xp_ops ops;

/* Returns the transport of @x.  Returns NULL if @x is another library's SVCXPRT, or a
 * copy in a child of fork(). */
static struct transport *find_live_transport(const SVCXPRT *x)
{
	return rr_rpc_is_ours(x) && rr_rpc_engine_runs(transport_of(x)->engine)
	               ? transport_of(x)
	               : NULL;
}

/* -- in the engine --------------------------------------------------------- */

/* Returns the listener's limits on items for a procedure.  These limits may be higher
 * than the binding's, since the decoder checks the binding's limits. */
static const struct rpcrdma_procedure *
find_item_limits(void *arg, uint32_t program, uint32_t version, uint32_t procedure)
{
	static const struct rpcrdma_procedure none = {.name = "pass-through"};
	static const struct rpcrdma_procedure by_items[2] = {
	        {.name = "pass-through", .max_read_items = RR_XDR_MAX_ITEMS},
	        {.name = "pass-through",
	         .max_read_items = RR_XDR_MAX_ITEMS,
	         .max_write_items = RR_XDR_MAX_ITEMS},
	};
	const struct transport *t = arg;
	const struct rpcrdma_tirpc_procedure *p =
	        rr_rpc_binding(&t->o, program, version, procedure);

	return !p ? &none : &by_items[p->n_results != 0];
}

static void free_frame(struct frame *f)
{
	rr_rpc_gss_free(f->gss);
	free(f->identity);
	free(f);
}

/* Makes a frame with copies of all connection data that other threads need.  Returns
 * NULL if there is no memory. */
static struct frame *new_frame(struct transport *t, struct rpcrdma_request *q)
{
	const char *identity = rpcrdma_request_identity(q);
	struct frame *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->transport = t;
	f->request = q;
	f->rpc = *rr_request_rpc(q);
	if (rpcrdma_request_peer(q, &f->peer))
		f->peer.ss_family = AF_UNSPEC;
	if (!*identity)
		return f;
	f->identity = strdup(identity);
	if (f->identity)
		return f;
	free(f);
	return NULL;
}

static void on_svc_request(struct rpcrdma_request *q, void *arg)
{
	struct transport *t = arg;
	struct frame *f = new_frame(t, q);
	uint64_t one = 1;
	bool closed;

	if (!f) {
		(void)rpcrdma_request_error(q, RPCRDMA_SYSTEM_ERR, 0);
		return;
	}
	pthread_mutex_lock(&t->lock);
	closed = t->closed;
	if (!closed) {
		if (rr_list_empty(&t->queue)) /* makes the eventfd readable */
			(void)!write(t->xprt.xp_fd, &one, sizeof(one));
		rr_list_push(&t->queue, &f->link);
	}
	pthread_mutex_unlock(&t->lock);
	if (closed) {
		free_frame(f);
		(void)rpcrdma_request_error(q, RPCRDMA_SYSTEM_ERR, 0);
	}
}

static void on_listener_ended(void *arg)
{
	struct transport *t = arg;

	rr_rpc_wait_wake(&t->ended);
}

static void start_listening(void *arg)
{
	struct transport *t = arg;

	t->error = rpcrdma_listen(t->engine, t->address, &t->o.conn, t->service, 0,
	                          &t->listener);
	if (t->error)
		return;
	t->listener->ended = on_listener_ended;
	t->listener->ended_arg = t;
	t->error = rpcrdma_listener_addr(t->listener, &t->local);
}

static void stop_listening(void *arg)
{
	struct transport *t = arg;

	rpcrdma_listener_close(t->listener, 0);
}

/* -- answering ------------------------------------------------------------- */

static void on_reply_gone(void *arg)
{
	struct frame *f = arg;

	f->request = NULL; /* give_up_reply, which runs in the same thread, checks
			      this */
	rr_rpc_wait_wake(&f->wait);
}

static void give_up_reply(void *arg)
{
	struct frame *f = arg;

	if (f->request)
		rr_request_give_up(f->request);
}

/* Sends the Reply, and waits until the transport no longer needs the pieces' memory. */
static bool send_and_wait_sent(struct frame *f, const struct rpcrdma_piece *pieces,
                               unsigned n)
{
	struct transport *t = f->transport;
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	rr_rpc_wait_init(&f->wait);
	f->answered = true;
	if (rr_request_reply_passthrough(f->request, pieces, n, on_reply_gone, f) ==
	            0 &&
	    !rr_rpc_wait_until(&f->wait, rr_after(rr_engine_clock(), t->o.send_ns))) {
		rr_rpc_in_engine(t->engine, give_up_reply, f);
		rr_rpc_wait_until(&f->wait, RR_TIME_NEVER);
	}
	rr_rpc_wait_fini(&f->wait);
	pthread_setcancelstate(old, NULL);
	return true;
}

/* The results of a procedure, and their XDR routine. */
struct results {
	xdrproc_t proc;
	void *where;
};

/* A Reply: headers and plain results in @out, protected results in @wrapped. */
struct answer {
	struct rr_xdr_out out;
	void *wrapped;
	size_t wrapped_len;
};

/* Encodes the results and protects them.  Large data is copied only if it is
 * protected. */
static bool wrap_results(struct frame *f, const struct results *r, struct answer *a)
{
	struct rpcrdma_piece pieces[RPCRDMA_MAX_PIECES];
	struct rr_xdr_out body;
	bool ok;

	rr_xdr_out_init(&body, false);
	ok = (*r->proc)(&body.xdr, r->where);
	if (ok) {
		unsigned n = rr_xdr_out_pieces(&body, 0, pieces);

		ok = rr_gss_wrap(rr_rpc_gss_request(f->gss), pieces, n, &a->wrapped,
		                 &a->wrapped_len) == 0;
	}
	rr_rpc_count(&body.count);
	rr_xdr_out_fini(&body);
	return ok;
}

static bool encode_svc_results(struct frame *f, const struct results *r,
                               struct answer *a)
{
	struct rr_xdr_items items = {0};

	if (f->protected)
		return wrap_results(f, r, a);
	if (f->binding) {
		items = (struct rr_xdr_items){f->binding->results,
		                              f->binding->n_results, r->where};
		rr_xdr_out_items(&a->out, &items);
	}
	return SVCAUTH_WRAP(&SVC_XP_AUTH(&f->transport->xprt), &a->out.xdr, r->proc,
	                    r->where);
}

static bool encode_reply(struct frame *f, struct answer *a, struct rpc_msg *m)
{
	bool accepted = m->rm_reply.rp_stat == MSG_ACCEPTED;
	bool success = accepted && m->rm_reply.rp_acpt.ar_stat == SUCCESS;
	struct results r = {RR_XDR_VOID, NULL};

	m->rm_xid = f->rpc.xid;
	m->rm_direction = REPLY;
	if (accepted && f->gss) {
		/* xp_verf is not used: it may be a nested request's verifier. */
		const struct rpcrdma_auth *v = &rr_rpc_gss_request(f->gss)->verf;

		m->acpted_rply.ar_verf = (struct opaque_auth){
		        (enum_t)v->flavor, (caddr_t)(uintptr_t)v->body, v->len};
	}
	if (success) {
		r = (struct results){m->acpted_rply.ar_results.proc,
		                     m->acpted_rply.ar_results.where};
		m->acpted_rply.ar_results.proc = RR_XDR_VOID;
		m->acpted_rply.ar_results.where = NULL;
	}
	if (!xdr_replymsg(&a->out.xdr, m))
		return false;
	return !success || encode_svc_results(f, &r, a);
}

static bool_t xprt_reply(SVCXPRT *x, struct rpc_msg *m)
{
	struct frame *f = transport_of(x)->top;
	struct rpcrdma_piece pieces[RPCRDMA_MAX_PIECES];
	struct answer a = {.wrapped = NULL};
	bool ok = false;
	unsigned n;

	if (!f || f->answered || !rr_rpc_engine_runs(f->transport->engine))
		return FALSE;
	rr_xdr_out_init(&a.out, false);
	if (encode_reply(f, &a, m)) {
		n = rr_xdr_out_pieces(&a.out, 0, pieces);
		if (a.wrapped)
			pieces[n++] =
			        (struct rpcrdma_piece){a.wrapped, a.wrapped_len, false};
		ok = send_and_wait_sent(f, pieces, n);
	}
	rr_rpc_count(&a.out.count);
	rr_xdr_out_fini(&a.out);
	free(a.wrapped);
	return ok;
}

/* Replies with SYSTEM_ERR, because the dispatch function has not replied. */
static void answer_unanswered(struct frame *f)
{
	struct rpc_msg m = {.acpted_rply.ar_stat = SYSTEM_ERR};

	m.rm_reply.rp_stat = MSG_ACCEPTED;
	if (f->gss) /* a Reply to an RPCSEC_GSS request needs a verifier */
		(void)xprt_reply(&f->transport->xprt, &m);
	if (!f->answered)
		(void)rpcrdma_request_error(f->request, RPCRDMA_SYSTEM_ERR, 0);
}

/* -- arguments ------------------------------------------------------------- */

static bool take_arg_item(void *arg, const void *base)
{
	struct frame *f = arg;
	bool ok = rr_request_take_item(f->request, base);

	f->taken = f->taken || ok;
	return ok;
}

/* Decodes arguments that RPCSEC_GSS protects.  These arguments are one piece, without
 * items. */
static bool_t decode_protected(struct frame *f, xdrproc_t proc, void *args)
{
	const struct rr_gss_request *r = rr_rpc_gss_request(f->gss);
	const struct rpcrdma_piece piece = {r->args, r->args_len, false};
	struct rr_xdr_in in;
	bool_t ok;

	rr_xdr_in_init(&in, &piece, 1);
	ok = (*proc)(&in.xdr, args);
	rr_rpc_count(&in.count);
	return ok;
}

static bool_t xprt_getargs(SVCXPRT *x, xdrproc_t proc, void *args)
{
	struct frame *f = transport_of(x)->top;
	const struct rpcrdma_piece *pieces;
	struct rr_xdr_items items = {0};
	struct rr_xdr_in in;
	unsigned n;
	bool_t ok;

	/* If items were taken, the user may have freed them. */
	if (!f || f->answered || f->taken)
		return FALSE;
	if (f->protected)
		return decode_protected(f, proc, args);
	n = rpcrdma_request_args(f->request, &pieces);
	rr_xdr_in_init(&in, pieces, n);
	if (f->binding) {
		items = (struct rr_xdr_items){f->binding->args, f->binding->n_args,
		                              args};
		rr_xdr_in_items(&in, &items);
		in.take = take_arg_item;
		in.take_arg = f;
	}
	ok = SVCAUTH_UNWRAP(&SVC_XP_AUTH(x), &in.xdr, proc, args);
	rr_xdr_in_settle(&in);
	rr_rpc_count(&in.count);
	return ok;
}

static bool_t xprt_freeargs(SVCXPRT *x, xdrproc_t proc, void *args)
{
	XDR xdr = {.x_op = XDR_FREE};

	return (*proc)(&xdr, args);
}

/* -- receiving ------------------------------------------------------------- */

static struct frame *pop_queued(struct transport *t)
{
	struct rr_list *n;
	uint64_t count;

	pthread_mutex_lock(&t->lock);
	n = rr_list_pop(&t->queue);
	if (rr_list_empty(&t->queue)) /* resets the eventfd */
		(void)!read(t->xprt.xp_fd, &count, sizeof(count));
	pthread_mutex_unlock(&t->lock);
	return n ? rr_container_of(n, struct frame, link) : NULL;
}

/* Copies a credential or verifier to @to, where libtirpc's loop provides MAX_AUTH_BYTES
 * of memory. */
static void copy_opaque_auth(const struct rpcrdma_auth *from, struct opaque_auth *to)
{
	_Static_assert(RR_RPC_AUTH_MAX <= MAX_AUTH_BYTES, "it fits");
	to->oa_flavor = (enum_t)from->flavor;
	to->oa_length = from->len;
	if (from->len)
		memcpy(to->oa_base, from->body, from->len);
}

/* Sets the SVCXPRT's remote address to the client whose request is being dispatched. */
static void show_peer(struct transport *t)
{
	const struct frame *f = t->top;
	SVCXPRT *x = &t->xprt;

	if (!f)
		return;
	t->peer = f->peer;
	x->xp_rtaddr.len = x->xp_rtaddr.maxlen = sizeof(t->peer);
	x->xp_rtaddr.buf = &t->peer;
	x->xp_addrlen = f->peer.ss_family == AF_INET    ? sizeof(struct sockaddr_in)
	                : f->peer.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	                                                : sizeof(struct sockaddr);
	x->xp_rtaddr.len = (u_int)x->xp_addrlen;
	memcpy(&x->xp_raddr, &t->peer, sizeof(x->xp_raddr));
}

static void close_gss_client(void *arg)
{
	struct frame *f = arg;

	rr_request_give_up(f->request);
	/* Frees the request.  The Reply is not sent, as the connection is closed. */
	(void)rpcrdma_request_error(f->request, RPCRDMA_SYSTEM_ERR, 0);
}

/* Authenticates an RPCSEC_GSS request.  Returns false if the request must not be
 * dispatched: it was answered here, or its connection is being closed. */
static bool accept_gss_call(struct frame *f)
{
	struct transport *t = f->transport;
	struct rr_gss_call k = {
	        .xid = f->rpc.xid,
	        .program = f->rpc.program,
	        .version = f->rpc.version,
	        .procedure = f->rpc.procedure,
	        .cred = f->rpc.cred,
	        .verf = f->rpc.verf,
	        .peer = (struct sockaddr *)&f->peer,
	        .now = rr_engine_clock(),
	};
	struct rr_gss_request *r;
	struct rpcrdma_piece reply;

	k.n_args = rpcrdma_request_args(f->request, &k.args);
	switch (rr_rpc_gss_accept(t->gss, &k, &f->gss)) {
	case RR_GSS_PROCEED:
		f->protected = rr_rpc_gss_request(f->gss)->service != RR_GSS_NONE;
		return true;
	case RR_GSS_ANSWER:
		r = rr_rpc_gss_request(f->gss);
		reply = (struct rpcrdma_piece){r->reply, r->reply_len, false};
		send_and_wait_sent(f, &reply, 1);
		return false;
	case RR_GSS_CLOSE:
		break;
	}
	rr_rpc_in_engine(t->engine, close_gss_client, f);
	return false;
}

/* Returns AUTH_OK if src/gss has accepted the request.  Called by libtirpc for flavor
 * RR_RPC_GSS; see svc_gss.h. */
static enum auth_stat authenticate_gss(struct svc_req *r, struct rpc_msg *m)
{
	struct transport *t = find_live_transport(r->rq_xprt);

	if (!t || !t->top || !t->top->gss)
		return AUTH_REJECTEDCRED;
	rr_rpc_gss_show_xprt(t->top->gss, r->rq_xprt);
	rr_rpc_gss_show_req(t->top->gss, r);
	return AUTH_OK;
}

static void push_frame(struct transport *t, struct frame *f)
{
	if (t->top)
		t->top->auth = SVC_XP_AUTH(&t->xprt);
	f->outer = t->top;
	t->top = f;
	f->binding =
	        rr_rpc_binding(&t->o, f->rpc.program, f->rpc.version, f->rpc.procedure);
	show_peer(t);
}

static bool_t xprt_recv(SVCXPRT *x, struct rpc_msg *m)
{
	struct transport *t = transport_of(x);
	struct frame *f;

	if (!rr_rpc_engine_runs(t->engine)) { /* a child of fork() serves no requests */
		xprt_unregister(x);
		return FALSE;
	}
	f = pop_queued(t);
	if (f && f->rpc.cred.flavor == RPCSEC_GSS && t->gss && !accept_gss_call(f)) {
		free_frame(f);
		f = NULL;
	}
	t->dry = !f;
	if (!f)
		return FALSE;
	push_frame(t, f);
	m->rm_xid = f->rpc.xid;
	m->rm_direction = CALL;
	m->rm_call.cb_rpcvers = RPC_MSG_VERSION;
	m->rm_call.cb_prog = f->rpc.program;
	m->rm_call.cb_vers = f->rpc.version;
	m->rm_call.cb_proc = f->rpc.procedure;
	copy_opaque_auth(&f->rpc.cred, &m->rm_call.cb_cred);
	copy_opaque_auth(&f->rpc.verf, &m->rm_call.cb_verf);
	if (f->rpc.cred.flavor == RPCSEC_GSS)
		m->rm_call.cb_cred.oa_flavor = RR_RPC_GSS;
	rr_rpc_count_request();
	return TRUE;
}

/* Ends the request at the top of the stack, whose dispatch function has returned. */
static void pop_frame(struct transport *t)
{
	struct frame *f = t->top;

	if (!f->answered && rr_rpc_engine_runs(t->engine))
		answer_unanswered(f);
	t->top = f->outer;
	free_frame(f);
	show_peer(t);
	if (!t->top)
		return;
	SVC_XP_AUTH(&t->xprt) = t->top->auth;
	if (t->top->gss)
		rr_rpc_gss_show_xprt(t->top->gss, &t->xprt);
}

static enum xprt_stat xprt_stat(SVCXPRT *x)
{
	struct transport *t = transport_of(x);
	bool more;

	if (t->dry)
		t->dry = false;
	else if (t->top)
		pop_frame(t);
	if (t->dying)
		return t->top ? XPRT_IDLE : XPRT_DIED;
	if (!rr_rpc_engine_runs(t->engine))
		return XPRT_IDLE; /* a child of fork() must not lock */
	pthread_mutex_lock(&t->lock);
	more = !rr_list_empty(&t->queue);
	pthread_mutex_unlock(&t->lock);
	/* All clients share one descriptor, which is still readable.  Returning
	 * XPRT_IDLE now and then gives other transports and svc_exit a turn. */
	if (more && ++t->in_a_row < IN_A_ROW)
		return XPRT_MOREREQS;
	t->in_a_row = 0;
	return XPRT_IDLE;
}

/* -- life cycle ------------------------------------------------------------ */

static void free_transport(struct transport *t)
{
	rpcrdma_service_free(t->service);
	rr_gss_free(t->gss);
	if (t->xprt.xp_fd >= 0)
		close(t->xprt.xp_fd);
	pthread_mutex_destroy(&t->lock);
	rr_rpc_wait_fini(&t->ended);
	free(t->xprt.xp_netid);
	free(t->xprt.xp_tp);
	free(t);
}

/* Refuses new requests, and answers the queued ones with SYSTEM_ERR. */
static void close_queue(struct transport *t)
{
	struct rr_list left, *n;

	rr_list_init(&left);
	pthread_mutex_lock(&t->lock);
	t->closed = true;
	while ((n = rr_list_pop(&t->queue)))
		rr_list_push(&left, n);
	pthread_mutex_unlock(&t->lock);
	while ((n = rr_list_pop(&left))) {
		struct frame *f = rr_container_of(n, struct frame, link);

		(void)rpcrdma_request_error(f->request, RPCRDMA_SYSTEM_ERR, 0);
		free_frame(f);
	}
}

static void xprt_destroy(SVCXPRT *x)
{
	struct transport *t = transport_of(x);
	/* A child of fork() only frees memory: the listener belongs to the parent. */
	bool runs = rr_rpc_engine_runs(t->engine);
	int old;

	if (!t->dying) {
		t->dying = true;
		if (runs)
			rr_rpc_registry_fini(&t->registry);
		xprt_unregister(x);
		if (runs)
			close_queue(t);
	}
	if (t->top)
		return; /* called again after xprt_stat returns XPRT_DIED */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	if (runs) {
		rr_rpc_in_engine(t->engine, stop_listening, t);
		rr_rpc_wait_until(&t->ended, RR_TIME_NEVER);
	}
	free_transport(t);
	pthread_setcancelstate(old, NULL);
}

static bool_t xprt_control(SVCXPRT *x, const u_int request, void *info)
{
	return FALSE;
}

static const struct xp_ops ops = {
        .xp_recv = xprt_recv,
        .xp_stat = xprt_stat,
        .xp_getargs = xprt_getargs,
        .xp_reply = xprt_reply,
        .xp_freeargs = xprt_freeargs,
        .xp_destroy = xprt_destroy,
};
static const struct xp_ops2 ops2 = {.xp_control = xprt_control};

/* Sets the fields of an SVCXPRT that its users read. */
static bool set_xprt_fields(struct transport *t)
{
	bool six = t->local.ss_family == AF_INET6;
	SVCXPRT *x = &t->xprt;

	x->xp_netid = strdup(six ? "rdma6" : "rdma");
	x->xp_tp = strdup("-");
	x->xp_ltaddr.buf = &t->local;
	x->xp_ltaddr.maxlen = sizeof(t->local);
	x->xp_ltaddr.len =
	        six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	x->xp_port = ntohs(six ? ((struct sockaddr_in6 *)&t->local)->sin6_port
	                       : ((struct sockaddr_in *)&t->local)->sin_port);
	return x->xp_netid && x->xp_tp;
}

static struct transport *new_transport(void)
{
	struct transport *t = calloc(1, sizeof(*t));
	SVCXPRT *x;

	if (!t)
		return NULL;
	x = &t->xprt;
	x->xp_ops = (void *)&ops;
	x->xp_ops2 = (void *)&ops2;
	x->xp_p1 = t;
	x->xp_p3 = &t->ext;
	x->xp_verf.oa_base = t->verf;
	rr_list_init(&t->queue);
	pthread_mutex_init(&t->lock, NULL);
	rr_rpc_wait_init(&t->ended);
	rr_rpc_registry_init(&t->registry, (struct sockaddr *)&t->local);
	t->pass = (struct rr_service_passthrough){.binding = find_item_limits,
	                                          .handler = on_svc_request,
	                                          .keeps_items = true,
	                                          .arg = t};
	x->xp_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return t;
}

static int make_contexts(struct transport *t)
{
	const struct rr_gss_options o = {.principal = t->o.gss_principal};

	return rr_rpc_gss_init(authenticate_gss) ? rr_gss_new(&o, &t->gss) : 0;
}

static int start_transport(struct transport *t, const char *address)
{
	int err = rr_rpc_engine(&t->engine);

	if (!err)
		err = make_contexts(t);

	if (!err)
		err = rpcrdma_service_new(&t->service);
	if (err)
		return err;
	t->service->pass = &t->pass;
	t->address = address;
	rr_rpc_in_engine(t->engine, start_listening, t);
	return t->error;
}

SVCXPRT *svc_rdma_create(const char *address,
                         const struct rpcrdma_tirpc_options *options)
{
	struct transport *t = new_transport();
	int err = -ENOMEM;

	if (t && t->xprt.xp_fd < 0)
		err = -EMFILE;
	else if (t)
		err = rr_rpc_options_from(options, true, &t->o);
	if (!err)
		err = start_transport(t, address);
	if (err) {
		if (t)
			free_transport(t);
		return rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, err);
	}
	xprt_register(&t->xprt); /* xprt_destroy needs this */
	if (!set_xprt_fields(t)) {
		xprt_destroy(&t->xprt);
		return rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, -ENOMEM);
	}
	return &t->xprt;
}

/* -- queries --------------------------------------------------------------- */

bool rr_rpc_is_ours(const SVCXPRT *x)
{
	return x && x->xp_ops == (const void *)&ops;
}

struct rr_rpc_registry *rr_rpc_registry_of(const SVCXPRT *x)
{
	struct transport *t = find_live_transport(x);

	return t && !t->dying ? &t->registry : NULL;
}

const char *svc_rdma_identity(const SVCXPRT *x)
{
	const struct transport *t = find_live_transport(x);

	return t && t->top && t->top->identity ? t->top->identity : "";
}
