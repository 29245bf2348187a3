/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of rpcgen, store.x, that moves large blocks over RDMA in both directions:
 * without and with a binding, a table of the members that may move by RDMA outside of
 * the message.  The client does both and prints the octets copied and the time.
 *
 *   store serve ADDR:PORT         port 0: any; prints the port
 *   store move HOST:PORT MIB      puts and gets a block of MIB mebibytes, eight times
 *
 * The server always has the binding, and serves clients without one as well.
 */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rpcrdma/tirpc.h>

enum { BLOCKS = 8, MOST = 64 << 20 };

/* -- the binding ----------------------------------------------------------- */

static const struct rpcrdma_tirpc_item block_data =
        RPCRDMA_TIRPC_ITEM(block, data.data_val, MOST);
static const struct rpcrdma_tirpc_procedure procs[] = {
        {.procedure = STORE_PUT, .args = &block_data, .n_args = 1},
        {.procedure = STORE_GET, .results = &block_data, .n_results = 1},
};
static const struct rpcrdma_tirpc_binding binding = {STORE_PROG, STORE_VERS, procs, 2};
static const struct rpcrdma_tirpc_binding *const bindings[] = {&binding};
static const struct rpcrdma_tirpc_options bound = {
        .size = sizeof(bound), .bindings = bindings, .n_bindings = 1};

/* -- the server: only its creation differs from TCP ------------------------ */

void store_prog_1(struct svc_req *, SVCXPRT *);

static block stored;

void *store_put_1_svc(block *b, struct svc_req *r)
{
	static char nothing;

	(void)r;
	free(stored.data.data_val);
	stored = *b;
	b->data.data_val = NULL; /* so that svc_freeargs does not free it */
	b->data.data_len = 0;
	return &nothing;
}

block *store_get_1_svc(u_int *number, struct svc_req *r)
{
	(void)r;
	stored.number = *number;
	return &stored;
}

static int serve(const char *address)
{
	struct rpcrdma_conn_options large =
	        RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_tirpc_options o = bound;
	SVCXPRT *x;

	/* By default a server holds less memory for a client. */
	large.max_message_bytes = MOST + 4096;
	o.conn = &large;
	x = svc_rdma_create(address, &o);
	if (!x || !svc_reg(x, STORE_PROG, STORE_VERS, store_prog_1, NULL)) {
		clnt_pcreateerror(address);
		return 1;
	}
	printf("listening %u\n", x->xp_port);
	fflush(stdout);
	svc_run();
	return 1;
}

/* -- the client ------------------------------------------------------------ */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Sends eight blocks and gets them back.  Returns false if one is wrong. */
static bool move_blocks(CLIENT *c, block *b)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		block *got;
		bool same;

		b->number = i;
		b->data.data_val[i] = (char)i;
		if (!store_put_1(b, c))
			return false;
		got = store_get_1(&b->number, c);
		if (!got)
			return false;
		same = got->number == i && got->data.data_len == b->data.data_len &&
		       !memcmp(got->data.data_val, b->data.data_val, b->data.data_len);
		clnt_freeres(c, (xdrproc_t)xdr_block, got);
		if (!same)
			return false;
	}
	return true;
}

static bool move_with(const char *host, block *b, const struct rpcrdma_tirpc_options *o)
{
	const struct timeval wait = {.tv_sec = 60};
	CLIENT *c = clnt_rdma_create(host, STORE_PROG, STORE_VERS, o);
	struct rpcrdma_tirpc_stats was, is = {0};
	struct rpcrdma_stats rdma_was, rdma_is = {0};
	double t;
	bool ok;

	if (!c ||
	    rpcrdma_tirpc_get_stats(&was, sizeof(was), &rdma_was, sizeof(rdma_was))) {
		clnt_pcreateerror(host);
		return false;
	}
	clnt_control(c, CLSET_TIMEOUT, (char *)&wait);
	t = now();
	ok = move_blocks(c, b);
	t = now() - t;
	if (!ok)
		clnt_perror(c, host);
	if (rpcrdma_tirpc_get_stats(&is, sizeof(is), &rdma_is, sizeof(rdma_is)))
		ok = false;
	printf("%s: %llu octets copied, %llu messages sent, %llu received, %.3f s\n",
	       o ? "with the binding" : "without",
	       (unsigned long long)(is.bytes_copied + is.item_bytes_copied -
	                            was.bytes_copied - was.item_bytes_copied),
	       (unsigned long long)(rdma_is.sends - rdma_was.sends),
	       (unsigned long long)(rdma_is.recvs - rdma_was.recvs), t);
	clnt_destroy(c);
	return ok;
}

int main(int argc, char **argv)
{
	block b = {.number = 0};
	bool ok;

	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc != 4 || strcmp(argv[1], "move") || atoi(argv[3]) < 1 ||
	    atoi(argv[3]) > MOST >> 20) {
		fprintf(stderr,
		        "usage: store serve ADDR:PORT | store move HOST:PORT MIB\n");
		return 2;
	}
	b.data.data_len = (u_int)atoi(argv[3]) << 20;
	b.data.data_val = calloc(1, b.data.data_len);
	if (!b.data.data_val)
		return 1;
	ok = move_with(argv[2], &b, NULL) && move_with(argv[2], &b, &bound);
	free(b.data.data_val);
	return !ok;
}
