/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognizes registrations of dead RDMA servers; contract in leftover_rdma.h. */
#include "rpc/leftover_rdma.h"

#include <netdb.h>
#include <netinet/in.h>

#include "rpc/calls.h"
#include "rpcbind/uaddr.h"

enum { ASK_S = 2 };

static int call_null(struct rpcrdma_conn *c, const struct rr_rpcb *r)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = r->program;
	o.version = r->version;
	o.timeout_ns = RR_SEC(ASK_S);
	return rpcrdma_call_sync(c, &o, NULL, 0, NULL, 0);
}

static int ask_by_rdma(struct rpcrdma_engine *e, const struct rr_rpcb *r,
                       const struct sockaddr *sa)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	char host[NI_MAXHOST], service[NI_MAXSERV];
	struct rpcrdma_conn *c;
	int err;

	o.no_reconnect = true;
	if (getnameinfo(sa, rr_sockaddr_len(sa), host, sizeof(host), service,
	                sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV))
		return -ENXIO;
	err = rpcrdma_connect(e, host, service, &o, NULL, NULL, &c);
	if (err)
		return err;
	err = call_null(c, r);
	rpcrdma_conn_close(c);
	while (!rpcrdma_engine_idle(e) && !rpcrdma_engine_process(e, 100))
		; /* ends, since closing has a time limit */
	return err;
}

/* Connects as a client would: through an RDMA device, if any device serves the
 * address. */
bool rr_is_dead_over_rdma(const struct rr_rpcb *r, const struct sockaddr *sa)
{
	struct rpcrdma_engine *e;
	int status;

	if (rpcrdma_engine_new(NULL, &e))
		return false;
	status = ask_by_rdma(e, r, sa);
	rpcrdma_engine_free(e);
	return status == -ECONNREFUSED || status == RPCRDMA_PROG_UNAVAIL ||
	       status == RPCRDMA_PROG_MISMATCH;
}
