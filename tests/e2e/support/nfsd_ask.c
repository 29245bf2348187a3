/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in nfsd_ask.h. */
#include "nfsd_ask.h"
#include <arpa/inet.h>
#include <string.h>
#include <time.h>

enum { CALL_SECONDS = 120 };

uint64_t ask_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct rpcrdma_conn *ask_connect(struct rig *r, const char *port)
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

void ask_send(struct rig *r, struct rpcrdma_conn *conn, struct ask *a, uint32_t proc,
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

bool ask_wait(struct rig *r, const struct ask *a, unsigned ms)
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
