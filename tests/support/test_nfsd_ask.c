/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in nfsd_ask.h. */
#include "test_nfsd_ask.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { CALL_SECONDS = 120, TCP_SECONDS = 30 };

uint64_t ask_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct rpcrdma_conn *ask_connect(struct nfsd *r, const char *port)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_conn *c;

	o.reconnect_min_ns = 2000000;
	o.reconnect_max_ns = 20000000;
	assert_int_equal(
	        rpcrdma_connect(r->engine, "127.0.0.1", port, &o, NULL, NULL, &c), 0);
	return c;
}

static void done(struct rpcrdma_call *call, const struct rpcrdma_reply *reply,
                 void *arg)
{
	struct ask *a = arg;

	(void)call;
	a->status = reply->status;
	a->len = reply->status ? 0 : reply->len;
	assert_true(a->len <= sizeof(a->results));
	if (a->len)
		memcpy(a->results, reply->results, a->len);
	a->done = true;
}

void ask_send(struct nfsd *r, struct rpcrdma_conn *conn, struct ask *a, uint32_t proc,
              xdrproc_t xargs, const void *args, const void *item, size_t len)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	int n = nfs3_encode(a->head, sizeof(a->head), xargs, args);
	uint8_t body[400];
	struct rpcrdma_auth cred = {RPCRDMA_AUTH_SYS, body, 0};

	assert_true(n > 0);
	cred.len = (uint32_t)rpcrdma_auth_sys_encode(body, sizeof(body), 1, "test",
	                                             r->uid, r->gid, NULL, 0);
	a->pieces[0] = (struct rpcrdma_piece){a->head, (size_t)n, false};
	a->pieces[1] = (struct rpcrdma_piece){item, len, true};
	a->done = false;
	o.program = RPCRDMA_NFS_PROGRAM;
	o.version = 3;
	o.procedure = proc;
	o.cred = &cred;
	o.args = a->pieces;
	o.n_args = item ? 2 : 1;
	o.reply_bytes = NFS3_RESULT_BYTES;
	o.timeout_ns = CALL_SECONDS * 1000000000ull;
	o.done = done;
	o.arg = a;
	assert_int_equal(rpcrdma_call(conn, &o, NULL), 0);
}

bool ask_wait(struct nfsd *r, const struct ask *a, unsigned ms)
{
	uint64_t now = ask_now_ms(), until = now + ms;

	while (!a->done && now < until) {
		assert_int_equal(rpcrdma_engine_process(r->engine, (int)(until - now)),
		                 0);
		now = ask_now_ms();
	}
	return a->done;
}

nfsstat3 ask_stat(const struct ask *a)
{
	uint32_t word;

	assert_true(a->done);
	assert_int_equal(a->status, RPCRDMA_OK);
	assert_true(a->len >= 4);
	memcpy(&word, a->results, 4);
	return (nfsstat3)ntohl(word);
}

int ask_tcp_connect(struct nfsd *r)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	const char *at = strstr(r->printed, "mountd 127.0.0.1:");
	const struct timeval patience = {.tv_sec = TCP_SECONDS};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_non_null(at);
	assert_true(fd >= 0);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in.sin_port = htons((uint16_t)atoi(strchr(at, ':') + 1));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	return fd;
}

int ask_tcp_mount(struct nfsd *r, int fd, const char *path)
{
	enum { MNT = 1, WORDS = 256 };
	size_t len = strlen(path), n = 9, bytes;
	uint32_t call[WORDS] = {
	        0, 77, 0, 2, RPCRDMA_MOUNT_PROGRAM, 3, MNT, RPCRDMA_AUTH_SYS};
	uint32_t reply[WORDS];
	int cred = rpcrdma_auth_sys_encode((uint8_t *)&call[n], 400, 1, "test", r->uid,
	                                   r->gid, r->gids, r->n_gids);

	assert_true(cred > 0 && len < 400);
	call[8] = (uint32_t)cred;
	bytes = 4 * (n + 3) + (size_t)cred + ((len + 3) & ~(size_t)3);
	call[0] = (uint32_t)(bytes - 4) | 1u << 31;
	for (size_t i = 0; i < n; i++)
		call[i] = htonl(call[i]);
	n += (size_t)cred / 4 + 2; /* and no verifier */
	call[n] = htonl((uint32_t)len);
	memcpy(&call[n + 1], path, len);
	assert_int_equal(write(fd, call, bytes), bytes);
	assert_true(recv(fd, reply, 28, MSG_WAITALL) == 28);
	bytes = (ntohl(reply[0]) & 0x7fffffff) - 24;
	if (ntohl(reply[6]) == SYSTEM_ERR)
		return -1;
	assert_int_equal(ntohl(reply[6]), 0);
	assert_true(bytes >= 4 && bytes <= sizeof(reply));
	assert_true(recv(fd, reply, bytes, MSG_WAITALL) == (ssize_t)bytes);
	return (int)ntohl(reply[0]);
}
