/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serves a request.  First, the credential and the complete arguments are decoded.
 * Then the engine's thread or a worker assumes the caller's identity, runs the
 * procedure, waits for storage if necessary, encodes the results and sends the reply.
 * All state is in the request's own memory.
 *
 * begin_op() decides where the procedure runs.  The engine's thread runs it if it uses
 * no file system, or a file system that never sleeps.  If caches may have the answer,
 * the engine's thread tries them first.  All other procedures run in a worker of the
 * file system.  The TCP thread waits only briefly for an MNT call, because it serves
 * all of its callers one at a time.
 *
 * Malformed arguments are answered with GARBAGE_ARGS and unknown credentials with
 * AUTH_ERROR.  All other errors are reported as a status in the results.
 */
#include "op.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void op_null(struct op *op)
{
	(void)op;
}

void *op_alloc(struct op *op, size_t bytes)
{
	if (op->req)
		return rpcrdma_request_alloc(op->req, bytes);
	return bytes <= op->tcp->room_bytes ? op->tcp->room : NULL;
}

int op_peer(const struct op *op, struct sockaddr_storage *ret)
{
	if (op->req)
		return rpcrdma_request_peer(op->req, ret);
	*ret = op->tcp->peer;
	return 0;
}

/* -- answers --------------------------------------------------------------- */

static void put_objects(struct op *op)
{
	object_put(op->nfsd, op->obj);
	object_put(op->nfsd, op->obj2);
	op->obj = op->obj2 = NULL;
}

static void put_exports(struct op *op)
{
	export_put(op->nfsd, op->ex);
	export_put(op->nfsd, op->cross);
	op->ex = op->cross = NULL;
}

static void release_op(struct op *op)
{
	group_list_put(op->wait.list);
	op->wait.list = NULL;
	if (op->type->args)
		nfs3_free(op->type->args, &op->args, op->type->args_size);
	put_objects(op);
	put_exports(op);
}

/* Encodes the results, and releases the op's references.  Stores the pieces, which may
 * point into the op, in @ret.  Returns the number of pieces, or -EMSGSIZE. */
static int encode_results(struct op *op, struct rpcrdma_piece ret[2])
{
	int n = 0, n_pieces = 0;

	if (op->type->res)
		n = nfs3_encode(op->head, sizeof(op->head), op->type->res, &op->res);
	release_op(op);
	if (n < 0)
		return n;
	if (n)
		ret[n_pieces++] = (struct rpcrdma_piece){op->head, (size_t)n, false};
	if (op->tail.base)
		ret[n_pieces++] = op->tail;
	return n_pieces;
}

/* Sends the reply.  Any thread may call this. */
static void answer_op(struct op *op)
{
	struct rpcrdma_request *req = op->req;
	struct rpcrdma_piece pieces[2];
	int n = encode_results(op, pieces);

	if (n < 0 || rpcrdma_request_reply(req, pieces, (unsigned)n, NULL, NULL))
		/* This call fails, harmlessly, if the connection is gone. */
		(void)rpcrdma_request_error(req, RPCRDMA_SYSTEM_ERR, 0);
}

/* Replaces the results with a status. */
static void fail_op(struct op *op, nfsstat3 status)
{
	memset(&op->res, 0, sizeof(op->res));
	op->tail = (struct rpcrdma_piece){0};
	op->res.status = status;
}

static void wait_for_storage(struct op *op)
{
	int e = 0;

	for (int i = 0; i < 2; i++) {
		int fd = op->sync_fd[i];

		if (fd >= 0 && !e)
			e = object_sync(op->nfsd, op->sync_obj[i], fd, op->data_only,
			                op->sync_failures);
	}
	if (e)
		fail_op(op, nfs_status(e));
}

void op_sync(struct op *op, struct object *o, int fd)
{
	int i = op->sync_fd[0] < 0 ? 0 : 1;

	op->sync_fd[i] = fd;
	op->sync_obj[i] = o;
}

/* -- arguments and credential ---------------------------------------------- */

/* Decodes the arguments.  Returns 0 or -EBADMSG; on failure, frees the arguments. */
static int decode_op_args(struct op *op, const struct rpcrdma_piece *p, unsigned n)
{
	const struct op_type *t = op->type;
	const void *head = "";
	size_t len = 0;
	int used = 0, e;

	if (!t->args)
		return nfs3_args_end(p, n, 0);
	if (!nfs3_args_head(p, n, &head, &len))
		return -EBADMSG;
	used = nfs3_decode(head, len, t->args, &op->args, t->args_size);
	if (used < 0)
		return used;
	if (t->item_len)
		e = nfs3_args_item(p, n, (size_t)used, t->item_len(&op->args),
		                   &op->item);
	else
		e = nfs3_args_end(p, n, (size_t)used);
	if (e)
		nfs3_free(t->args, &op->args, t->args_size);
	return e;
}

static void init_op(struct op *op, struct nfsd *d, const struct op_type *type)
{
	memset(op, 0, offsetof(struct op, head));
	op->type = type;
	op->nfsd = d;
	op->sync_fd[0] = op->sync_fd[1] = -1;
	op->sync_failures = atomic_load(&d->sync_failures);
	op->may = d->defaults;
}

static bool is_mount_op(const struct op *op)
{
	return !op->type->name;
}

/* Returns the handle in the arguments of GETATTR or FSINFO, or NULL for other
 * procedures.  A client may call these two procedures without a user's credential while
 * mounting. */
static const nfs_fh3 *find_root_argument(const struct op *op)
{
	if (op->type->run == op_getattr)
		return &op->args.getattr.object;
	if (op->type->run == op_fsinfo)
		return &op->args.fsinfo.fsroot;
	return NULL;
}

/* Finds the export that the arguments refer to, and what the peer may do with it.
 * MNT's argument is a path; the arguments of each NFS procedure begin with a handle. */
static void find_access(struct op *op)
{
	const nfs_fh3 *fh = &op->args.getattr.object;
	struct sockaddr_storage peer = {0};
	int e;

	if (is_mount_op(op))
		op->ex = op_mnt_export(op);
	else
		op->denied = handle_verify(op->nfsd, fh->data.data_val,
		                           fh->data.data_len, &op->ex);
	if (!op->ex)
		return;
	e = op_peer(op, &peer);
	if (!e)
		e = access_check(op->nfsd, op->ex, &peer, &op->may);
	if (e)
		complain_of_access(op->ex, &peer, is_mount_op(op), e == -EPERM);
	op->denied = e ? -EACCES : 0;
}

/* Finds the caller's identity, and checks the security flavor.  Returns 0 or an
 * auth_stat. */
static uint32_t identify_caller(struct op *op, const struct rpcrdma_auth *cred,
                                bool decoded)
{
	struct rpcrdma_gss_caller caller;
	bool gss = op->req && !rpcrdma_request_gss(op->req, &caller, sizeof(caller));
	uint32_t stat;

	if (op->type->null)
		return 0;
	if (gss)
		ident_from_caller(&caller, &op->may.squash, &op->id);
	stat = gss ? 0 : ident_from_cred(cred, &op->may.squash, &op->id);
	if (stat || is_mount_op(op) || (op->denied && op->ex))
		return stat;
	stat = sec_check(&op->may.flavors, gss ? &caller : NULL);
	return decoded && find_root_argument(op) &&
	                       export_is_root(op->nfsd, find_root_argument(op))
	               ? 0
	               : stat;
}

/* Decodes the arguments and the credential.  Returns 0.  On failure, frees the
 * arguments and returns the RPC status for the reply. */
static int check_op(struct op *op, const struct rpcrdma_auth *cred,
                    const struct rpcrdma_piece *args, unsigned n_args,
                    uint32_t *ret_auth_stat)
{
	bool garbage = decode_op_args(op, args, n_args);

	if (!garbage && op->type->args)
		find_access(op);
	*ret_auth_stat = identify_caller(op, cred, !garbage);
	if (*ret_auth_stat)
		complain_of_flavor(op, *ret_auth_stat);
	if (!garbage && *ret_auth_stat)
		release_op(op);
	if (*ret_auth_stat)
		return RPCRDMA_AUTH_ERROR;
	return garbage ? RPCRDMA_GARBAGE_ARGS : 0;
}

/* -- engine or worker ------------------------------------------------------ */

int op_would_sleep(struct op *op)
{
	op->would_sleep = true;
	return NFSD_WOULD_SLEEP;
}

int op_object(struct op *op, const nfs_fh3 *fh, struct object **ret)
{
	if (!op->cache_only)
		return object_get(op->nfsd, fh, &op->id, ret);
	*ret = object_find(op->nfsd, fh);
	return *ret ? 0 : op_would_sleep(op);
}

static struct filesystem *choose_filesystem(struct op *op)
{
	if (is_mount_op(op))
		return op_mnt_fs(op);
	return op->ex ? op->ex->fs : NULL;
}

/* Returns an estimate of the octets that the request uses until it is answered. */
static uint64_t estimate_op_bytes(const struct op *op, const struct rpcrdma_piece *args,
                                  unsigned n)
{
	uint64_t bytes = sizeof(*op), room = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += args[i].len;
	if (op->type->run == op_read)
		room = op->args.read.count;
	else if (op->type->run == op_readdir || op->type->run == op_readdirplus)
		room = NFSD_MAX_DIR;
	return bytes + (room < NFSD_MAX_IO ? room : NFSD_MAX_IO);
}

/* Runs the procedure.  Returns false, without any effect, if the procedure would have
 * to sleep. */
static bool attempt_op(struct op *op)
{
	op->type->run(op);
	wcc_unlock(op);
	if (!op->would_sleep) {
		complain_of_storage(op);
		return true;
	}
	op->would_sleep = false;
	if (op->cross)
		op->fs = op->cross->fs;
	op->sync_fd[0] = op->sync_fd[1] = -1;
	put_objects(op);
	fail_op(op, NFS3_OK);
	return false;
}

/* Replies with an error that makes the client send the request again later. */
static void defer_op(struct op *op)
{
	fail_op(op, is_mount_op(op) ? (nfsstat3)MNT3ERR_SERVERFAULT : NFS3ERR_JUKEBOX);
	answer_op(op);
}

static void queue_op(struct op *op)
{
	if (fs_queue(op->nfsd, op->fs, &op->job)) {
		complain_of_delay(op);
		defer_op(op);
	}
}

/* Runs the procedure in a worker with the caller's identity, and sends the reply.  If
 * the procedure reaches a mounted file system, passes it to that file system's workers
 * instead. */
static void run_op(struct op *op)
{
	if (ident_enter(&op->id)) {
		release_op(op);
		(void)rpcrdma_request_error(op->req, RPCRDMA_SYSTEM_ERR, 0);
		return;
	}
	if (!attempt_op(op)) { /* the result is on another file system */
		queue_op(op);
		return;
	}
	wait_for_storage(op);
	answer_op(op);
}

static void run_op_job(struct worker_job *job)
{
	run_op((struct op *)job); /* @job is the first member */
}

/* Runs the procedure in the engine's thread with cached data only.  Returns false,
 * without any effect, if the cached data are not sufficient. */
static bool run_from_caches(struct op *op)
{
	bool done;

	if (op->type->run == op_lookup &&
	    (op->nfsd->engine_keeps_identity || ident_enter(&op->id)))
		return false;
	op->cache_only = true;
	done = attempt_op(op);
	op->cache_only = false;
	if (done)
		answer_op(op);
	return done;
}

/* Runs the procedure in the engine's thread, for a file system whose operations never
 * sleep.  Returns false if another thread holds an object's lock. */
static bool run_in_engine(struct op *op)
{
	bool done;

	if (ident_enter(&op->id))
		return false;
	op->no_wait = true;
	done = attempt_op(op);
	op->no_wait = false;
	if (done) {
		wait_for_storage(op);
		answer_op(op);
	}
	return done;
}

static void set_op_groups(struct op *op)
{
	const struct group_list *l = op->wait.list;

	ident_set_groups(&op->id, l ? l->gids : NULL, l ? l->n : 0, &op->may.squash);
}

/* With --manage-gids, finds the caller's groups on this host.  Returns 0 if the op has
 * its groups, -EINPROGRESS if @ready has been or will be called with @arg, or -EAGAIN
 * if the client must retry later. */
static int find_op_groups(struct op *op, void (*ready)(void *arg), void *arg)
{
	struct sockaddr_storage peer = {0};
	int e;

	if (!op->nfsd->groups || !op->id.asserted)
		return 0;
	(void)op_peer(op, &peer); /* clients without an address are counted together */
	op->wait =
	        (struct group_wait){.ready = ready, .arg = arg, .bytes = op->job.bytes};
	e = groups_get(op->nfsd->groups, op->id.uid, &peer, &op->wait);
	if (!e)
		set_op_groups(op);
	return e;
}

/* Runs in a look-up thread. */
static void queue_op_with_groups(void *arg)
{
	set_op_groups(arg);
	queue_op(arg);
}

/* Decides where the request runs.  Runs in the engine's thread. */
static void begin_op(struct op *op, uint64_t bytes)
{
	struct nfsd *d = op->nfsd;
	struct filesystem *fs = op->type->args ? choose_filesystem(op) : NULL;
	int e;

	if (op->denied && !is_mount_op(op)) {
		fail_op(op, nfs_status(op->denied));
		answer_op(op);
		return;
	}
	if (!fs) {
		op->type->run(op);
		answer_op(op);
		return;
	}
	op->fs = fs;
	op->job = (struct worker_job){.run = run_op_job, .bytes = bytes};
	e = find_op_groups(op, queue_op_with_groups, op);
	if (e == -EAGAIN)
		defer_op(op);
	/* A worker runs the operations on a mounted file system, because the path to it
	 * may lead through a file system whose operations sleep. */
	if (e || (fs->kind == FS_AWAKE && !d->engine_keeps_identity && !op->ex->top &&
	          run_in_engine(op)))
		return;
	if (op->type->tries_caches && fs->kind != FS_ASLEEP && !op->cross &&
	    run_from_caches(op))
		return;
	queue_op(op);
}

void op_serve(struct nfsd *d, struct rpcrdma_request *req, const struct op_type *type)
{
	struct op *op = rpcrdma_request_alloc(req, sizeof(*op));
	const struct rpcrdma_piece *args;
	unsigned n = rpcrdma_request_args(req, &args);
	uint32_t auth_stat;
	int status;

	if (!op) {
		(void)rpcrdma_request_error(req, RPCRDMA_SYSTEM_ERR, 0);
		return;
	}
	init_op(op, d, type);
	op->req = req;
	status = check_op(op, rpcrdma_request_cred(req), args, n, &auth_stat);
	if (status)
		(void)rpcrdma_request_error(req, status, auth_stat);
	else
		begin_op(op, estimate_op_bytes(op, args, n));
}

/* -- MOUNT over TCP -------------------------------------------------------- */

enum { MNT_SECONDS = 2 }; /* longest time that an MNT call delays other calls */

/* An MNT call that a worker runs while the TCP thread waits, with a timeout. */
struct waited {
	struct op op; /* first member */
	struct mount_call call;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic unsigned *counter; /* counter to increment if the call is abandoned */
	bool done, abandoned;
};

static void free_waited(struct waited *w)
{
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void end_waited(struct waited *w)
{
	bool abandoned;

	pthread_mutex_lock(&w->lock);
	w->done = true;
	abandoned = w->abandoned;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (!abandoned)
		return;
	(*w->counter)--;
	release_op(&w->op);
	free_waited(w);
}

/* Passes the call to the workers of the mounted file system.  Returns false if that
 * file system does not respond or the call cannot be queued. */
static bool requeue_waited(struct waited *w)
{
	struct filesystem *fs = w->op.cross->fs;
	bool slow;

	w->op.would_sleep = false;
	pthread_mutex_lock(&w->lock);
	slow = fs->abandoned;
	if (w->abandoned) {
		(*w->counter)--;
		fs->abandoned++;
	}
	w->counter = &fs->abandoned;
	pthread_mutex_unlock(&w->lock);
	return !slow && !fs_queue(w->op.nfsd, fs, &w->op.job);
}

static void run_waited(struct worker_job *job)
{
	struct waited *w = (struct waited *)job; /* first member of w's first member */

	if (ident_enter(&w->op.id))
		w->op.res.mnt.fhs_status = MNT3ERR_SERVERFAULT;
	else
		w->op.type->run(&w->op);
	if (w->op.would_sleep) {
		if (requeue_waited(w))
			return;
		w->op.res.mnt.fhs_status = MNT3ERR_SERVERFAULT;
	}
	end_waited(w);
}

/* Runs in a look-up thread. */
static void queue_waited(void *arg)
{
	struct waited *w = arg;

	set_op_groups(&w->op);
	pthread_mutex_lock(&w->lock);
	if (!w->abandoned)
		w->counter = &w->op.fs->abandoned;
	pthread_mutex_unlock(&w->lock);
	if (fs_queue(w->op.nfsd, w->op.fs, &w->op.job)) {
		w->op.res.mnt.fhs_status = MNT3ERR_SERVERFAULT;
		end_waited(w);
	}
}

static bool wait_for_worker(struct waited *w)
{
	struct timespec until;
	bool done;
	int e = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += MNT_SECONDS;
	pthread_mutex_lock(&w->lock);
	while (!w->done && e != ETIMEDOUT)
		e = pthread_cond_timedwait(&w->changed, &w->lock, &until);
	done = w->done;
	w->abandoned = !done;
	if (!done)
		(*w->counter)++;
	pthread_mutex_unlock(&w->lock);
	return done;
}

/* Starts the call, after a look-up of the groups if necessary.  Returns 0, or a
 * negative errno if the call cannot be started. */
static int start_waited(struct waited *w)
{
	struct op *op = &w->op;
	int e;

	w->counter = &op->nfsd->abandoned_lookups;
	e = find_op_groups(op, *w->counter ? NULL : queue_waited, w);
	if (e)
		return e == -EINPROGRESS ? 0 : e;
	w->counter = &op->fs->abandoned;
	return fs_queue(op->nfsd, op->fs, &op->job);
}

/* Has a worker run the call, and copies the call's results to @op.  Returns false if
 * the call cannot be started or the file system does not respond in time; @op's
 * references have then been released or given to the worker.  Returns false at once if
 * an earlier call to the file system is still unanswered. */
static bool run_in_worker(struct op *op, struct filesystem *fs)
{
	struct waited *w = fs->abandoned ? NULL : malloc(sizeof(*w));

	if (!w) {
		release_op(op);
		return false;
	}
	w->op = *op;
	w->call = *op->tcp;
	w->op.tcp = &w->call;
	w->op.job = (struct worker_job){.run = run_waited, .bytes = sizeof(*w)};
	w->op.fs = fs;
	w->done = w->abandoned = false;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	if (start_waited(w)) {
		release_op(&w->op);
		free_waited(w);
		return false;
	}
	if (!wait_for_worker(w))
		return false;
	op->res = w->op.res;
	op->made = w->op.made;
	op->cross = w->op.cross;
	if (!op->res.status) { /* make the results point into @op instead of @w */
		op->res.mnt.mountres3_u.mountinfo.fhandle.fhandle3_val =
		        (char *)op->made.octets;
		op->res.mnt.mountres3_u.mountinfo.auth_flavors.auth_flavors_val =
		        op->may.flavors.list;
	}
	group_list_put(w->op.wait.list);
	free_waited(w);
	return true;
}

/* Copies the results to @ret.  Returns 0, or an RPC status for the reply. */
static int copy_op_results(struct op *op, void *ret, size_t size, size_t *ret_len)
{
	struct rpcrdma_piece pieces[2];
	int n = encode_results(op, pieces);

	if (n < 0)
		return RPCRDMA_SYSTEM_ERR;
	*ret_len = 0;
	for (int i = 0; i < n; i++) {
		if (pieces[i].len > size - *ret_len)
			return RPCRDMA_SYSTEM_ERR;
		memcpy((char *)ret + *ret_len, pieces[i].base, pieces[i].len);
		*ret_len += pieces[i].len;
	}
	return 0;
}

int nfsd_mount_by_tcp(struct nfsd *d, uint32_t proc, struct mount_call *call, void *ret,
                      size_t size, size_t *ret_len, uint32_t *ret_auth_stat)
{
	const struct rpcrdma_piece args = {call->args, call->args_len, false};
	struct filesystem *fs;
	struct op op;
	int status;

	if (proc >= RPCRDMA_MOUNT3_PROCEDURES)
		return RPCRDMA_PROC_UNAVAIL;
	init_op(&op, d, nfsd_mount_type(proc));
	op.tcp = call;
	status = check_op(&op, &call->cred, &args, 1, ret_auth_stat);
	if (status)
		return status;
	fs = op.type->args ? op_mnt_fs(&op) : NULL;
	if (!fs)
		op.type->run(&op);
	else if (!run_in_worker(&op, fs))
		return RPCRDMA_SYSTEM_ERR;
	return copy_op_results(&op, ret, size, ret_len);
}
