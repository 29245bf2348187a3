/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the options of handles, and finds the binding of a procedure. */
#include "tirpc/shared.h"

#include "base/sized.h"

/* Defaults.  A client chooses its server, so it accepts Replies of almost any size.  A
 * server must accept Calls from any host, so it keeps the transport's defaults, and
 * raises them only as far as a larger max_message_bytes requires. */
enum {
	CLIENT_MESSAGE_BYTES = 256 << 20,
	SERVER_MESSAGE_BYTES = 4 << 20,
	SERVER_CHUNK_BYTES = 8 << 20,
	SERVER_PINNED_BYTES = 32 << 20,
	SEGMENT_BYTES = 16 << 20,
	CHUNK_BYTES = 64 << 10,
	REPLY_BYTES = (1 << 20) - 4096, /* with headers, fits a size class of
					   pool.h */
};

static void fill_conn_defaults(struct rpcrdma_conn_options *o, bool server)
{
#define RR_DEFAULT(field, value) o->field = o->field ? o->field : (value)
	RR_DEFAULT(segment_bytes, SEGMENT_BYTES);
	RR_DEFAULT(max_message_bytes,
	           (uint32_t)(server ? SERVER_MESSAGE_BYTES : CLIENT_MESSAGE_BYTES));
	RR_DEFAULT(max_chunk_bytes,
	           RR_MAX(o->max_message_bytes, (uint32_t)SERVER_CHUNK_BYTES));
	RR_DEFAULT(max_held_bytes,
	           RR_MAX(2ull * o->max_message_bytes, (uint64_t)SERVER_PINNED_BYTES));
	if (!server)
		RR_DEFAULT(idle_ns, UINT64_MAX);
#undef RR_DEFAULT
}

static int check_bindings(const struct rr_rpc_options *o)
{
	for (unsigned i = 0; i < o->n_bindings; i++) {
		const struct rpcrdma_tirpc_binding *b = o->bindings[i];

		for (unsigned k = 0; k < b->n_procs; k++)
			if (b->procs[k].n_args > RR_XDR_MAX_ITEMS ||
			    b->procs[k].n_results > RR_XDR_MAX_ITEMS)
				return -EINVAL;
	}
	return 0;
}

int rr_rpc_options_from(const struct rpcrdma_tirpc_options *o, bool server,
                        struct rr_rpc_options *ret)
{
	struct rr_rpc_options r = {
	        .conn = RPCRDMA_OPTIONS(struct rpcrdma_conn_options),
	        .send_ns = RR_SEC(30),
	};
	struct rpcrdma_tirpc_options own =
	        RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	int err = o ? RR_SIZED_TAKE(&own, size, o) : 0;

	if (!err && own.conn)
		err = RR_SIZED_TAKE(&r.conn, size, own.conn);
	if (err)
		return err;
	r.bindings = own.bindings;
	r.n_bindings = own.n_bindings;
	r.resend = own.resend;
	if (own.send_ns)
		r.send_ns = own.send_ns;
	if (own.tcp_port > UINT16_MAX)
		return -EINVAL;
	r.tcp_port = (uint16_t)own.tcp_port;
	r.notice = own.notice;
	r.notice_arg = own.notice_arg;
	r.gss_principal = own.gss_principal;
	r.chunk_bytes = own.chunk_bytes ? own.chunk_bytes : CHUNK_BYTES;
	r.reply_bytes = own.reply_bytes ? own.reply_bytes : REPLY_BYTES;
	err = check_bindings(&r);
	if (!err)
		err = rr_rpc_netids_from(own.netids, &r);
	if (err)
		return err;
	fill_conn_defaults(&r.conn, server);
	*ret = r;
	return 0;
}

const struct rpcrdma_tirpc_procedure *rr_rpc_binding(const struct rr_rpc_options *o,
                                                     rpcprog_t prog, rpcvers_t vers,
                                                     rpcproc_t proc)
{
	for (unsigned i = 0; i < o->n_bindings; i++) {
		const struct rpcrdma_tirpc_binding *b = o->bindings[i];

		if (b->program != prog || b->version != vers)
			continue;
		for (unsigned k = 0; k < b->n_procs; k++)
			if (b->procs[k].procedure == proc)
				return &b->procs[k];
	}
	return NULL;
}
