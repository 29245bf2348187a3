/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

void blob_prog_1(struct svc_req *, SVCXPRT *);
void blob_prog_3(struct svc_req *, SVCXPRT *);

/* Servers are forked while the library's thread runs, and make one of their own. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

static SVCXPRT *rdma;

/* -- the procedures -------------------------------------------------------- */

void *blob_null_1_svc(void *none, struct svc_req *r)
{
	static char nothing;

	return &nothing;
}

void *blob_null_3_3_svc(void *none, struct svc_req *r)
{
	return blob_null_1_svc(none, r);
}

blob_res *blob_echo_1_svc(blob_args *a, struct svc_req *r)
{
	static char note[] = "echo";
	static blob_res res;

	res.id = a->id;
	res.data.data_len = a->data.data_len;
	res.data.data_val = a->data.data_val;
	res.note = note;
	return &res;
}

u_int *blob_put_1_svc(blob_args *a, struct svc_req *r)
{
	static u_int sum;

	sum = a->id + a->tail;
	for (u_int i = 0; i < a->data.data_len; i++)
		sum += (u_char)a->data.data_val[i];
	return &sum;
}

blob_got *blob_get_1_svc(u_int *len, struct svc_req *r)
{
	static char why[] = "too long";
	static blob_got got;
	static char *octets;
	static size_t size;

	memset(&got, 0, sizeof(got));
	if (*len > 1u << 30) {
		got.status = -1;
		got.blob_got_u.why = why;
		return &got;
	}
	if (*len > size) {
		free(octets);
		octets = malloc(*len);
		size = *len;
	}
	rig_fill(octets, *len, *len);
	got.blob_got_u.ok.data.data_val = octets;
	got.blob_got_u.ok.data.data_len = *len;
	got.blob_got_u.ok.tail = 99;
	return &got;
}

void *blob_sleep_1_svc(u_int *ms, struct svc_req *r)
{
	usleep(*ms * 1000);
	return blob_null_1_svc(NULL, r);
}

void *blob_silent_1_svc(void *none, struct svc_req *r)
{
	return NULL;
}

u_int *blob_caller_1_svc(void *none, struct svc_req *r)
{
	static u_int port;
	struct netbuf *n = svc_getrpccaller(r->rq_xprt);

	port = ntohs(((struct sockaddr_in *)n->buf)->sin_port);
	return &port;
}

blob_pair *blob_swap_1_svc(blob_pair *a, struct svc_req *r)
{
	static blob_pair res;

	res.first = a->first;
	res.second = a->second;
	res.tail = a->tail + 1;
	return &res;
}

void *blob_die_1_svc(void *none, struct svc_req *r)
{
	_exit(0);
}

u_int *blob_uid_1_svc(void *none, struct svc_req *r)
{
	static u_int uid;

	if (r->rq_cred.oa_flavor != AUTH_SYS) {
		svcerr_weakauth(r->rq_xprt);
		return NULL;
	}
	uid = (u_int)((struct authunix_parms *)r->rq_clntcred)->aup_uid;
	return &uid;
}

void *blob_quit_1_svc(void *none, struct svc_req *r)
{
	svc_exit();
	return blob_null_1_svc(none, r);
}

blob_args *blob_counts_1_svc(void *none, struct svc_req *r)
{
	static blob_args res;
	static uint64_t copied;
	struct rpcrdma_tirpc_stats s;

	assert_int_equal(rpcrdma_tirpc_get_stats(&s, sizeof(s), NULL, 0), 0);
	copied = s.bytes_copied + s.bytes_referred + s.item_bytes_copied;
	res.id = (u_int)s.items_placed;
	res.tail = (u_int)s.items_copied;
	res.data.data_val = (char *)&copied;
	res.data.data_len = sizeof(copied);
	return &res;
}

void *blob_destroy_1_svc(void *none, struct svc_req *r)
{
	svc_destroy(rdma);
	rdma = NULL;
	return blob_null_1_svc(none, r);
}

/* -- bindings -------------------------------------------------------------- */

static const struct rpcrdma_tirpc_item args_item =
        RPCRDMA_TIRPC_ITEM(blob_args, data.data_val, RIG_MAX);
static const struct rpcrdma_tirpc_item res_item =
        RPCRDMA_TIRPC_ITEM(blob_res, data.data_val, RIG_MAX);
static const struct rpcrdma_tirpc_item got_item =
        RPCRDMA_TIRPC_ITEM(blob_got, blob_got_u.ok.data.data_val, RIG_MAX);
static const struct rpcrdma_tirpc_item pair_items[] = {
        RPCRDMA_TIRPC_ITEM(blob_pair, first, 1 << 20),
        RPCRDMA_TIRPC_ITEM(blob_pair, second.second_val, 1 << 20),
};
static const struct rpcrdma_tirpc_procedure procs[] = {
        {BLOB_ECHO, &args_item, 1, &res_item, 1, 0},
        {BLOB_PUT, &args_item, 1, NULL, 0, 0},
        {BLOB_GET, NULL, 0, &got_item, 1, 0},
        {BLOB_SWAP, pair_items, 2, pair_items, 2, 0},
};
const struct rpcrdma_tirpc_binding rig_binding = {BLOB_PROG, BLOB_VERS, procs, 4};
const struct rpcrdma_tirpc_binding *const rig_bindings[1] = {&rig_binding};

/* -- the process ----------------------------------------------------------- */

static SVCXPRT *over_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	SVCXPRT *x;

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 8))
		return NULL;
	x = svc_vc_create(fd, 0, 0);
	if (x)
		x->xp_netid = strdup("tcp");
	return x;
}

static int serve(const struct rig *rig, int ready)
{
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	struct rpcrdma_conn_options large =
	        RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	SVCXPRT *tcp = over_tcp();
	unsigned ports[2];

	if (rig->options)
		o = *rig->options;
	if (o.conn)
		large = *o.conn;
	if (!large.max_message_bytes)
		large.max_message_bytes = RIG_MAX + 4096;
	if (!rig->modest)
		o.conn = &large;
	rdma = svc_rdma_create("127.0.0.1:0", &o);
	if (!tcp || !rdma)
		return 2;
	if (!svc_reg(rdma, BLOB_PROG, BLOB_VERS, blob_prog_1, NULL) ||
	    !svc_reg(rdma, BLOB_PROG, BLOB_VERS_3, blob_prog_3, NULL) ||
	    !svc_reg(tcp, BLOB_PROG, BLOB_VERS, blob_prog_1, NULL))
		return 3;
	if (rig->more)
		rig->more(rdma);
	ports[0] = rdma->xp_port;
	ports[1] = ntohs(((struct sockaddr_in *)tcp->xp_ltaddr.buf)->sin_port);
	if (write(ready, ports, sizeof(ports)) != sizeof(ports))
		return 4;
	svc_run();
	if (rdma)
		svc_destroy(rdma);
	svc_destroy(tcp);
	return 0;
}

/* What a thread holds at that moment, of a sanitizer's allocator, say, is held in the
 * child for ever. */
pid_t rig_fork(void)
{
	if (rpcrdma_tirpc_get_stats(NULL, 0, NULL, 0) == 0)
		usleep(200000); /* the library's thread sleeps when it has closed all */
	return fork();
}

void rig_start(struct rig *rig)
{
	unsigned ports[2];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	rig->pid = rig_fork();
	assert_true(rig->pid >= 0);
	if (!rig->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		exit(serve(rig, fds[1]));
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], ports, sizeof(ports)), sizeof(ports));
	close(fds[0]);
	rig->rdma_port = ports[0];
	rig->tcp_port = ports[1];
	snprintf(rig->address, sizeof(rig->address), "127.0.0.1:%u", ports[0]);
}

int rig_stop(struct rig *rig)
{
	const struct timeval soon = {.tv_sec = 20};
	CLIENT *c = clnt_rdma_create(rig->address, BLOB_PROG, BLOB_VERS, NULL);
	int status;

	if (c) {
		(void)clnt_call(c, BLOB_QUIT, (xdrproc_t)(void (*)(void))xdr_void, NULL,
		                (xdrproc_t)(void (*)(void))xdr_void, NULL, soon);
		clnt_destroy(c);
	}
	for (int i = 0; i < 2000; i++) {
		if (waitpid(rig->pid, &status, WNOHANG) == rig->pid)
			return status;
		usleep(10000);
	}
	kill(rig->pid, SIGKILL);
	waitpid(rig->pid, &status, 0);
	return status;
}

CLIENT *rig_client(const struct rig *rig, const struct rpcrdma_tirpc_options *o)
{
	CLIENT *c = clnt_rdma_create(rig->address, BLOB_PROG, BLOB_VERS, o);

	if (!c)
		clnt_pcreateerror("create");
	assert_non_null(c);
	return c;
}

void rig_fill(char *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (char)((i * 2654435761u + seed) >> 13);
}

bool rig_filled(const char *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != (char)((i * 2654435761u + seed) >> 13))
			return false;
	return true;
}
