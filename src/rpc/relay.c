/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Complete RPC messages for programs that relay them: see <rpcrdma/relay.h>.
 *
 * A service that relays is a pass-through service (service.h).  The library decodes the
 * RPC header of a Call only to find the procedure's limits on items, and to find out
 * whether RPCSEC_GSS permits items.
 */
#include <rpcrdma/relay.h>

#include <string.h>

#include "base/sized.h"
#include "rpc/calls.h"
#include "rpc/request.h"

/* -- services -------------------------------------------------------------- */

static const struct rpcrdma_procedure *
find_relay_limits(void *arg, uint32_t program, uint32_t version, uint32_t procedure)
{
	static const struct rpcrdma_procedure none = {.name = "relayed"};
	uint32_t low, high;
	const struct rr_service_entry *e =
	        rr_service_find(arg, program, version, &low, &high);

	return e && procedure < e->program->n_procs ? &e->program->procs[procedure]
	                                            : &none;
}

static void relay_request(struct rpcrdma_request *q, void *arg)
{
	const struct rpcrdma_service *s = arg;

	s->relay.call(q, q->dispatch->token, s->relay.arg);
}

int rpcrdma_service_set_relay(struct rpcrdma_service *s,
                              const struct rpcrdma_relay_options *o)
{
	struct rpcrdma_relay_options own;
	int err = s && o ? RR_SIZED_TAKE(&own, call, o) : -EINVAL;

	if (err)
		return err;
	if (!own.call || !own.accept != !own.lost)
		return -EINVAL;
	if (s->pass)
		return -EEXIST;
	s->relay = own;
	s->relay_pass = (struct rr_service_passthrough){.binding = find_relay_limits,
	                                                .handler = relay_request,
	                                                .complete = true,
	                                                .arg = s};
	s->pass = &s->relay_pass;
	return 0;
}

/* -- calls ----------------------------------------------------------------- */

/* Removes the RPC header, which has @n octets, from the pieces. */
static void skip_header(struct rpcrdma_call_options *o, struct rpcrdma_piece *pieces,
                        size_t n)
{
	memcpy(pieces, o->args, o->n_args * sizeof(*pieces));
	pieces[0].base = (const uint8_t *)pieces[0].base + n;
	pieces[0].len -= n;
	o->args = pieces;
	if (pieces[0].len)
		return;
	o->args++;
	o->n_args--;
}

int rpcrdma_call_message(struct rpcrdma_conn *c, const struct rpcrdma_call_options *o,
                         struct rpcrdma_call **ret)
{
	struct rpcrdma_piece pieces[RPCRDMA_MAX_PIECES];
	struct rpcrdma_call_options own;
	struct rr_call_passthrough pass = {.bound = true};
	struct rr_rpc_call h;
	int n = o ? RR_SIZED_TAKE(&own, arg, o) : -EINVAL;

	if (n)
		return n;
	if (own.program || own.version || own.procedure || own.cred || own.gss ||
	    !own.args || !own.n_args || own.n_args > RPCRDMA_MAX_PIECES ||
	    own.args[0].item)
		return -EINVAL;
	n = rr_rpc_get_call(own.args[0].base, own.args[0].len, &h);
	if (n < 0)
		return n;
	pass.header = own.args[0].base;
	pass.len = (size_t)n;
	pass.no_reduce = rr_rpc_unreducible(&h.cred);
	skip_header(&own, pieces, pass.len);
	return rr_calls_make(c, &own, &pass, ret);
}

/* -- requests -------------------------------------------------------------- */

int rpcrdma_request_reply_message(struct rpcrdma_request *q,
                                  const struct rpcrdma_piece *p, unsigned n,
                                  void (*done)(void *), void *arg)
{
	if (!q || !p || !n || n > RPCRDMA_MAX_PIECES || p[0].item || p[0].len < 4 ||
	    rr_load_u32(p[0].base) != q->r->xid || !rr_rpc_aligned(p, n))
		return -EINVAL;
	return rr_request_reply_passthrough(q, p, n, done, arg);
}

int rpcrdma_request_drop(struct rpcrdma_request *q)
{
	if (!q || q->answered)
		return -EINVAL;
	rr_request_close(q, -ECONNABORTED);
	return 0;
}
