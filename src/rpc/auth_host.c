/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the functions that security flavors call on a connection (call_auth.h),
 * and creates RPCSEC_GSS contexts. */
#include "gss/gss_client.h"
#include "rpc/calls.h"

static struct rpcrdma_conn *conn_of_host(const struct rr_auth_host *h)
{
	return rr_container_of((uintptr_t)h, struct rpcrdma_conn, auth);
}

static void submit_for_flavor(struct rr_auth_host *h)
{
	rr_calls_submit(conn_of_host(h));
}

static void end_calls_for_flavor(struct rr_auth_host *h, struct rr_list *queue,
                                 int status)
{
	rr_calls_end_all(conn_of_host(h), queue, status);
}

static int call_for_flavor(struct rr_auth_host *h, const struct rpcrdma_call_options *o,
                           const void *header, size_t len, struct rpcrdma_call **ret)
{
	const struct rr_call_passthrough pass = {
	        .header = header, .len = len, .no_reduce = true};

	return rr_calls_make(conn_of_host(h), o, &pass, ret);
}

static bool is_connected(const struct rr_auth_host *h)
{
	const struct rpcrdma_conn *c = conn_of_host(h);

	return !c->closed && !c->over && c->link;
}

static const struct rr_auth_host_ops host_ops = {
        .submit = submit_for_flavor,
        .end_calls = end_calls_for_flavor,
        .call = call_for_flavor,
        .reply = rr_call_message,
        .is_connected = is_connected,
};

void rr_calls_init_auth(struct rpcrdma_conn *c)
{
	c->auth = (struct rr_auth_host){
	        .ops = &host_ops, .engine = c->engine, .trace = &c->voice.sink};
	rr_list_init(&c->auth.contexts);
}

int rr_calls_new_auth(struct rpcrdma_conn *c, const struct rpcrdma_call_options *o,
                      struct rr_call_auth **ret)
{
	struct rr_auth_context *a = &o->gss->auth;

	return a->host == &c->auth ? a->ops->new_call(a, o, ret) : -EINVAL;
}

int rpcrdma_gss_new(struct rpcrdma_conn *c, const struct rpcrdma_gss_options *o,
                    struct rpcrdma_gss **ret)
{
	if (!c || !o || !ret)
		return -EINVAL;
	return c->closed ? -ECANCELED : rr_gss_client_new(&c->auth, o, ret);
}
