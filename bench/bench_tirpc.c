/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libtirpc over TCP as programs of rpcgen use it: the stubs of bench.x, default buffers,
 * and one call at a time, since a CLIENT allows no more.  The client provides the memory
 * for READ's data, so that it is reused.
 */
#include <errno.h>
#include <netinet/in.h>
#include <rpc/rpc.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_xdr.h"

static uint8_t *data;

/* Called by rpcgen's dispatch function. */
void *benchproc_null_1_svc(void *args, struct svc_req *req)
{
	static char nothing;

	(void)args;
	(void)req;
	return &nothing;
}

bench_read_results *benchproc_read_1_svc(bench_read_args *args, struct svc_req *req)
{
	static bench_read_results r;

	(void)req;
	r.status = args->count > BENCH_MAX_BYTES;
	r.data.data_len = r.status ? 0 : args->count;
	r.data.data_val = (char *)data;
	return &r;
}

bench_write_results *benchproc_write_1_svc(bench_write_args *args, struct svc_req *req)
{
	static bench_write_results r;

	(void)req;
	r.count = args->data.data_len;
	r.status = r.count != args->count;
	return &r;
}

/* rpcgen -m defines it without a declaration. */
void bench_prog_1(struct svc_req *, SVCXPRT *);

static void server(void)
{
	uint16_t port;
	int fd = bench_tcp_listen(&port);
	SVCXPRT *x = svc_vc_create(fd, 0, 0);

	if (!x || !svc_reg(x, BENCH_PROG, BENCH_VERS, bench_prog_1, NULL))
		bench_die("svc_vc_create", EIO);
	bench_listening(port);
	svc_run();
}

static bool one_call(CLIENT *c, const struct bench_options *o, uint64_t i)
{
	uint32_t bytes = bench_call_bytes(o, i);
	bench_read_args ra = {.count = bytes};
	bench_write_args wa = {.count = bytes,
	                       .data = {.data_len = bytes, .data_val = (char *)data}};
	bench_read_results rr = {.data = {.data_len = bytes, .data_val = (char *)data}};
	bench_write_results wr = {0};
	xdrproc_t nothing = (xdrproc_t)(void (*)(void))xdr_void;
	struct timeval tv = {.tv_sec = 25};

	switch (o->test) {
	case BENCH_NULL:
		return clnt_call(c, BENCHPROC_NULL, nothing, NULL, nothing, NULL, tv) ==
		       RPC_SUCCESS;
	case BENCH_READ:
	case BENCH_LIST: /* by TCP, the same octets */
	case BENCH_ATTR:
	case BENCH_DIR:
		return clnt_call(c, BENCHPROC_READ, (xdrproc_t)xdr_bench_read_args, &ra,
		                 (xdrproc_t)xdr_bench_read_results, &rr,
		                 tv) == RPC_SUCCESS &&
		       !rr.status && rr.data.data_len == bytes;
	case BENCH_WRITE:
		return clnt_call(c, BENCHPROC_WRITE, (xdrproc_t)xdr_bench_write_args,
		                 &wa, (xdrproc_t)xdr_bench_write_results, &wr,
		                 tv) == RPC_SUCCESS &&
		       !wr.status && wr.count == bytes;
	default:
		break;
	}
	return false;
}

static void client(const struct bench_options *o)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct netbuf nb = {.maxlen = sizeof(a), .len = sizeof(a), .buf = &a};
	int fd = bench_tcp_connect(o->port);
	struct bench_clock clock;
	uint64_t i = 0;
	CLIENT *c;

	a.sin_port = htons((uint16_t)atoi(o->port));
	c = clnt_vc_create(fd, &nb, BENCH_PROG, BENCH_VERS, 0, 0);
	if (!c)
		bench_die("clnt_vc_create", EIO);
	bench_clock_start(&clock, o);
	do
		if (!one_call(c, o, i++))
			bench_die(clnt_sperror(c, "call"), EIO);
	while (bench_clock_count(&clock, 1));
	bench_row(o, &clock);
	puts("");
	clnt_destroy(c);
}

int main(int argc, char **argv)
{
	struct bench_options o;

	bench_options(argc, argv, &o);
	data = bench_data(BENCH_MAX_BYTES);
	if (o.depth != 1 || o.conns != 1) {
		fputs("bench_tirpc: one CLIENT, and one call at a time\n", stderr);
		return 2;
	}
	if (o.role == BENCH_SERVER)
		server();
	else
		client(&o);
	return 0;
}
