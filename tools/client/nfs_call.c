/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One NFS or MOUNT procedure call: encode, call, decode, and, for blocking callers,
 * wait.
 *
 * start_op encodes the arguments into the op itself and makes the call.  on_call_done
 * decodes the results and calls done.  After NFS3ERR_JUKEBOX a timer repeats the call
 * with the same encoded arguments.  If a call cannot even start, a timer ends it, so
 * that done never runs inside start.
 */
#include "client/nfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rpcrdma/nfs.h>

/* Results up to this size are returned inline rather than by RDMA Write. */
#define SMALL_READ     2048
#define JUKEBOX_MIN_NS 100000000u
#define JUKEBOX_MAX_NS 5000000000u

struct nfs_proc {
	xdrproc_t args, res;
	size_t res_size;
};

#define PROC(a, r)                                                                     \
	{                                                                              \
		(xdrproc_t)(void (*)(void)) xdr_##a,                                   \
		        (xdrproc_t)(void (*)(void))xdr_##r, sizeof(r)                  \
	}

static const struct nfs_proc nfs_procs[RPCRDMA_NFS3_PROCEDURES] = {
        [NFSPROC3_GETATTR] = PROC(GETATTR3args, GETATTR3res),
        [NFSPROC3_SETATTR] = PROC(SETATTR3args, SETATTR3res),
        [NFSPROC3_LOOKUP] = PROC(LOOKUP3args, LOOKUP3res),
        [NFSPROC3_READLINK] = PROC(READLINK3args, READLINK3res),
        [NFSPROC3_READ] = PROC(READ3args, READ3res),
        [NFSPROC3_WRITE] = PROC(WRITE3args, WRITE3res),
        [NFSPROC3_CREATE] = PROC(CREATE3args, CREATE3res),
        [NFSPROC3_MKDIR] = PROC(MKDIR3args, MKDIR3res),
        [NFSPROC3_SYMLINK] = PROC(SYMLINK3args, SYMLINK3res),
        [NFSPROC3_REMOVE] = PROC(REMOVE3args, REMOVE3res),
        [NFSPROC3_RMDIR] = PROC(RMDIR3args, RMDIR3res),
        [NFSPROC3_RENAME] = PROC(RENAME3args, RENAME3res),
        [NFSPROC3_LINK] = PROC(LINK3args, LINK3res),
        [NFSPROC3_FSSTAT] = PROC(FSSTAT3args, FSSTAT3res),
        [NFSPROC3_READDIRPLUS] = PROC(READDIRPLUS3args, READDIRPLUS3res),
        [NFSPROC3_FSINFO] = PROC(FSINFO3args, FSINFO3res),
        [NFSPROC3_COMMIT] = PROC(COMMIT3args, COMMIT3res),
};

static const struct nfs_proc mount_mnt = PROC(dirpath, mountres3);

/* COMMIT waits for storage, so its time limit is multiplied by this factor. */
enum { COMMIT_FACTOR = 5 };

static void send_op(struct nfs_op *op);

void nfs_op_init(struct nfs_op *op, struct nfs_client *client)
{
	/* There are many ops, and encoding overwrites the arguments, so clearing them
	 * would only cost time. */
	memset(op, 0, offsetof(struct nfs_op, args));
	op->client = client;
}

static void free_results(struct nfs_op *op)
{
	if (op->spec)
		nfs3_free(op->spec->res, &op->res, op->spec->res_size);
	op->spec = NULL;
}

void nfs_op_fini(struct nfs_op *op)
{
	free_results(op);
}

static void finish_op(struct nfs_op *op, int status)
{
	op->status = status;
	op->busy = false;
	op->call = NULL;
	op->item = NULL;
	op->into = NULL;
	op->via = NULL;
	op->timeout_ns = 0;
	op->reply_bytes = 0;
	if (op->done)
		op->done(op, op->arg);
}

static void on_timer(void *arg)
{
	struct nfs_op *op = arg;

	op->timer = NULL;
	if (op->status)
		finish_op(op, op->status);
	else
		send_op(op);
}

/* Starts a timer. on_timer then ends the op with @status, or repeats the call if
 * @status is 0. */
static void resume_later(struct nfs_op *op, int status, uint64_t delay_ns)
{
	op->status = status;
	if (rpcrdma_timer_start(op->client->link.loop->engine, delay_ns, on_timer, op,
	                        &op->timer))
		finish_op(op, -ENOMEM); /* there is not even memory for a timer */
}

/* Copies the item of a READ or READLINK Reply to the caller's buffer, unless it is
 * already there. */
static int take_result_item(struct nfs_op *op, const struct rpcrdma_reply *reply,
                            size_t used)
{
	const struct rpcrdma_dest *dest = reply->n_dests ? &op->dest : NULL;
	uint32_t len;
	const void *data;
	int err;

	if (op->res.status != NFS3_OK)
		return 0;
	len = op->proc == NFSPROC3_READ
	              ? op->res.read.READ3res_u.resok.data_len
	              : op->res.readlink.READLINK3res_u.resok.data_len;
	if (len > op->into_len || !op->into)
		return -EBADMSG;
	err = nfs3_result_item(reply, used, dest, len, &data);
	if (err)
		return err;
	if (data != op->into)
		memcpy(op->into, data, len);
	op->got = len;
	return 0;
}

static int take_op_results(struct nfs_op *op, const struct rpcrdma_reply *reply)
{
	const struct nfs_proc *spec = op->program == RPCRDMA_MOUNT_PROGRAM
	                                      ? &mount_mnt
	                                      : &nfs_procs[op->proc];
	int n;

	if (op->program == RPCRDMA_MOUNT_PROGRAM && op->proc != MOUNTPROC3_MNT) {
		memset(&op->res, 0, sizeof(op->res));
		op->rest = reply->results;
		op->rest_len = reply->len;
		return 0;
	}
	n = nfs3_decode(reply->results, reply->len, spec->res, &op->res,
	                spec->res_size);
	if (n < 0)
		return n;
	op->spec = spec;
	op->rest = (const char *)reply->results + n;
	op->rest_len = reply->len - (size_t)n;
	if (op->program == RPCRDMA_NFS_PROGRAM &&
	    (op->proc == NFSPROC3_READ || op->proc == NFSPROC3_READLINK))
		return take_result_item(op, reply, (size_t)n);
	return 0;
}

static bool wait_for_jukebox(struct nfs_op *op)
{
	uint64_t now = tool_now_ns(),
	         delay = JUKEBOX_MIN_NS << (op->tries < 6 ? op->tries : 6);

	if (!op->jukebox_until_ns)
		op->jukebox_until_ns = now + op->client->retry_ns;
	if (now >= op->jukebox_until_ns)
		return false;
	free_results(op);
	op->tries++;
	resume_later(op, 0, delay < JUKEBOX_MAX_NS ? delay : JUKEBOX_MAX_NS);
	return true;
}

/* -- silent servers ------------------------------------------------------------ */

static uint64_t get_silence_limit(const struct nfs_op *op)
{
	bool commit = op->program == RPCRDMA_NFS_PROGRAM && op->proc == NFSPROC3_COMMIT;

	return op->client->timeout_ns * (commit ? COMMIT_FACTOR : 1);
}

/* Returns the time until which the server may be silent.  An answer to any call extends
 * this time.  While the connection is lost, the retry time applies instead. */
static uint64_t get_silence_end(struct nfs_op *op)
{
	struct nfs_client *c = op->client;

	if (!op->link->up)
		c->last_answer_ns = tool_now_ns();
	return (c->last_answer_ns > op->sent_ns ? c->last_answer_ns : op->sent_ns) +
	       get_silence_limit(op);
}

static void on_silence(void *arg);

/* Starts a timer that checks for silence.  If there is no memory for the timer, the
 * call has no time limit. */
static void watch_silence(struct nfs_op *op, uint64_t delay_ns)
{
	if (rpcrdma_timer_start(op->client->link.loop->engine, delay_ns, on_silence, op,
	                        &op->timer))
		op->timer = NULL;
}

static void on_silence(void *arg)
{
	struct nfs_op *op = arg;
	uint64_t until = get_silence_end(op), now = tool_now_ns();

	op->timer = NULL;
	if (until > now) {
		watch_silence(op, until - now);
		return;
	}
	op->silent = true;
	rpcrdma_call_cancel(op->call);
}

static int get_op_status(const struct nfs_op *op, const struct rpcrdma_reply *reply)
{
	if (op->silent && reply->status == -ECANCELED)
		return -ETIMEDOUT;
	return reply->status < 0 ? reply->status : NFS_RPC + reply->status;
}

static void on_call_done(struct rpcrdma_call *call, const struct rpcrdma_reply *reply,
                         void *arg)
{
	struct nfs_op *op = arg;
	int r;

	op->call = NULL;
	op->link->calls--;
	if (op->timer)
		rpcrdma_timer_cancel(op->timer);
	op->timer = NULL;
	if (reply->status >= 0)
		op->client->last_answer_ns = tool_now_ns();
	op->client->link.auth_stat = reply->auth_stat;
	if (reply->status == RPCRDMA_TRANSPORT_ERROR)
		op->client->link.transport_error = reply->transport_error;
	if (reply->status) {
		finish_op(op, get_op_status(op, reply));
		return;
	}
	r = take_op_results(op, reply);
	if (r) {
		finish_op(op, r);
		return;
	}
	if (op->res.status == (nfsstat3)NFS3ERR_JUKEBOX && wait_for_jukebox(op))
		return;
	finish_op(op, (int)op->res.status);
}

/* Returns true if the call may be executed twice, because it only reads. */
static bool is_idempotent(const struct nfs_op *op)
{
	static const uint32_t procs =
	        1u << NFSPROC3_GETATTR | 1u << NFSPROC3_LOOKUP | 1u << NFSPROC3_ACCESS |
	        1u << NFSPROC3_READLINK | 1u << NFSPROC3_READ | 1u << NFSPROC3_READDIR |
	        1u << NFSPROC3_READDIRPLUS | 1u << NFSPROC3_FSSTAT |
	        1u << NFSPROC3_FSINFO | 1u << NFSPROC3_PATHCONF;

	return op->program == RPCRDMA_NFS_PROGRAM && (procs >> op->proc & 1);
}

/* Returns true if @a is a better choice for a call than @b. */
static bool suits_better(const struct link *a, const struct link *b)
{
	return a->up != b->up ? a->up : a->calls < b->calls;
}

/* Returns the connection for a call.  MOUNT uses the first one. */
static struct link *choose_link(const struct nfs_op *op)
{
	struct nfs_client *c = op->client;
	struct link *best = &c->link;

	if (op->via || op->program == RPCRDMA_MOUNT_PROGRAM)
		return op->via ? op->via : best;
	for (unsigned i = 0; i < c->n_more; i++)
		if (suits_better(&c->more[i], best))
			best = &c->more[i];
	return best;
}

static void send_op(struct nfs_op *op)
{
	struct link *k = op->link = choose_link(op);
	struct nfs_client *c = op->client;
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	int r;

	o.program = op->program;
	o.version = 3;
	o.procedure = op->proc;
	/* Servers accept AUTH_SYS from any client for MOUNT [RFC 2623 §2.3]. */
	if (k->gss && op->program == RPCRDMA_NFS_PROGRAM)
		o.gss = k->gss;
	else
		o.cred = &c->cred;
	op->pieces[0] = (struct rpcrdma_piece){.base = op->args, .len = op->args_len};
	op->pieces[1] = (struct rpcrdma_piece){op->item, op->item_len, true};
	o.args = op->pieces;
	o.n_args = op->item ? 2 : 1;
	o.reply_bytes = op->reply_bytes;
	if (op->into && op->into_len > SMALL_READ) {
		op->dest = (struct rpcrdma_dest){.base = op->into, .len = op->into_len};
		o.dests = &op->dest;
		o.n_dests = 1;
	} else if (op->into) {
		o.reply_bytes += op->into_len + 4;
	}
	o.idempotent = is_idempotent(op);
	o.timeout_ns = op->timeout_ns;
	o.done = on_call_done;
	o.arg = op;
	r = rpcrdma_call(k->conn, &o, &op->call);
	k->calls += !r;
	if (r) {
		resume_later(op, r, 0);
	} else if (c->timeout_ns) {
		op->silent = false;
		op->sent_ns = tool_now_ns();
		watch_silence(op, get_silence_limit(op));
	}
}

static void start_op(struct nfs_op *op, uint32_t program, uint32_t proc,
                     xdrproc_t encode, void *args, nfs_done_fn *done, void *arg)
{
	int n;

	free_results(op);
	op->program = program;
	op->proc = proc;
	op->done = done;
	op->arg = arg;
	op->busy = true;
	op->status = 0;
	op->got = 0;
	op->tries = 0;
	op->jukebox_until_ns = 0;
	op->reply_bytes = op->reply_bytes ? op->reply_bytes : NFS3_RESULT_BYTES;
	n = nfs3_encode(op->args, sizeof(op->args), encode, args);
	if (n < 0) {
		resume_later(op, -ENAMETOOLONG, 0);
		return;
	}
	op->args_len = (uint32_t)n;
	send_op(op);
}

void nfs_op_start(struct nfs_op *op, uint32_t proc, void *args, nfs_done_fn *done,
                  void *arg)
{
	start_op(op, RPCRDMA_NFS_PROGRAM, proc, nfs_procs[proc].args, args, done, arg);
}

void nfs_op_cancel(struct nfs_op *op)
{
	if (!op->busy)
		return;
	if (op->call) {
		rpcrdma_call_cancel(op->call);
	} else if (op->timer) {
		rpcrdma_timer_cancel(op->timer);
		resume_later(op, -ECANCELED, 0);
	}
}

static int wait_op(struct nfs_op *op)
{
	struct loop *l = op->client->link.loop;
	int r = 0;

	while (op->busy && !r)
		r = loop_wait(l, -1);
	if (!op->busy)
		return op->status;
	/* The arguments' memory is lent, so the call must end before this function
	 * returns. */
	nfs_op_cancel(op);
	while (op->busy)
		(void)rpcrdma_engine_process(l->engine,
		                             100); /* the loop ends, because the call
						      was cancelled */
	return r;
}

int nfs_op_run(struct nfs_op *op, uint32_t proc, void *args)
{
	nfs_op_start(op, proc, args, op->done, op->arg);
	return wait_op(op);
}

int nfs_op_run_mount(struct nfs_op *op, uint32_t proc, const char *path)
{
	dirpath p = (char *)path;

	start_op(op, RPCRDMA_MOUNT_PROGRAM, proc,
	         path ? mount_mnt.args : (xdrproc_t)(void (*)(void))xdr_void, &p,
	         op->done, op->arg);
	return wait_op(op);
}

nfs_fh3 nfs_fh_arg(const struct nfs_fh *fh)
{
	nfs_fh3 a;

	a.data.data_len = fh->len;
	a.data.data_val = (char *)fh->data;
	return a;
}

int nfs_fh_take(const nfs_fh3 *fh, struct nfs_fh *ret)
{
	if (fh->data.data_len == 0 || fh->data.data_len > sizeof(ret->data))
		return -EBADMSG;
	ret->len = fh->data.data_len;
	memcpy(ret->data, fh->data.data_val, ret->len);
	return 0;
}

void nfs_op_write(struct nfs_op *op, const struct nfs_fh *fh, uint64_t offset,
                  const void *data, uint32_t len, stable_how stable, nfs_done_fn *done,
                  void *arg)
{
	WRITE3args a = {.file = nfs_fh_arg(fh),
	                .offset = offset,
	                .count = len,
	                .stable = stable,
	                .data_len = len};

	op->item = data;
	op->item_len = len;
	nfs_op_start(op, NFSPROC3_WRITE, &a, done, arg);
}

void nfs_op_read(struct nfs_op *op, const struct nfs_fh *fh, uint64_t offset, void *buf,
                 uint32_t len, nfs_done_fn *done, void *arg)
{
	READ3args a = {.file = nfs_fh_arg(fh), .offset = offset, .count = len};

	op->into = buf;
	op->into_len = len;
	nfs_op_start(op, NFSPROC3_READ, &a, done, arg);
}

uint32_t nfs_read_count(const struct nfs_op *op, bool *ret_eof)
{
	const READ3resok *ok = &op->res.read.READ3res_u.resok;

	*ret_eof = ok->eof;
	return op->got < ok->count ? op->got : ok->count;
}
