/* SPDX-License-Identifier: BSD-3-Clause */
/* See test_nfsd.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/resource.h>
#include "test_nfsd.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>

enum { MAX_ARGS = 32, CALL_MS = 60000 };

/* The memory of decoded results is freed at the end of the test: tests are small. */
static void *keep[65536];
static unsigned n_keep;

static void keep_free(void)
{
	while (n_keep)
		free(keep[--n_keep]);
}

/* The server does not treat tmpfs as it does storage, and on some machines /tmp is one. */
static const char *on_storage(void)
{
	struct statfs fs;

	return statfs("/tmp", &fs) || fs.f_type != TMPFS_MAGIC ? "/tmp" : "/var/tmp";
}

void nfsd_init(struct nfsd *r)
{
	*r = (struct nfsd){.flavor = RPCRDMA_AUTH_SYS};
	snprintf(r->dir, sizeof(r->dir), "%s/rr-nfsd-XXXXXX", on_storage());
	assert_non_null(mkdtemp(r->dir));
	assert_int_equal(chmod(r->dir, 0755), 0);
	snprintf(r->exp, sizeof(r->exp), "%s/exp", r->dir);
	snprintf(r->state, sizeof(r->state), "%s/state", r->dir);
	snprintf(r->err, sizeof(r->err), "%s/stderr", r->dir);
	assert_int_equal(mkdir(r->exp, 0755), 0);
	assert_int_equal(mkdir(r->state, 0777), 0);
	assert_int_equal(chmod(r->state, 0777), 0);
	r->uid = geteuid() ? geteuid() : 1000;
	r->gid = geteuid() ? getegid() : 1000;
	assert_int_equal(chown(r->exp, r->uid, r->gid), 0);
	if (!geteuid())
		assert_int_equal(chown(r->state, r->uid, r->gid), 0);
}

void nfsd_deny_faccessat2(void)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_faccessat2, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {4, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		abort();
}

static void child(const struct nfsd *r, int out, char *const argv[])
{
	const struct rlimit limit = {r->fsize, r->fsize};
	const struct rlimit files = {r->nofile, r->nofile};
	int exe;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	int err = open(r->err, O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (err >= 0)
		dup2(err, STDERR_FILENO);
	if (r->fsize)
		setrlimit(RLIMIT_FSIZE, &limit);
	if (r->nofile)
		setrlimit(RLIMIT_NOFILE, &files);
	if (r->preload) {
		const char *had = getenv("ASAN_OPTIONS");
		char asan[1024], shim[32];

		snprintf(asan, sizeof(asan), "%s%sverify_asan_link_order=0",
		         had ? had : "", had ? ":" : "");
		setenv("ASAN_OPTIONS", asan, 1);
		/* Opened as who we are: the user to become may not reach our build. */
		snprintf(shim, sizeof(shim), "/proc/self/fd/%d",
		         open(r->preload, O_RDONLY));
		setenv("LD_PRELOAD", r->server_uid ? shim : r->preload, 1);
		setenv("FSYNC_FAILS", r->preload_flag, 1);
	}
	exe = open(RPCRDMA_TOOL, O_PATH | O_CLOEXEC);
	if (r->server_uid &&
	    (setgroups(0, NULL) || setgid(r->server_uid) || setuid(r->server_uid)))
		_exit(99);
	if (r->no_faccessat2)
		nfsd_deny_faccessat2();
	fexecve(exe, argv, environ);
	_exit(98);
}

/* The server writes all lines at once: they are there. */
static void read_rest(struct nfsd *r, int fd)
{
	ssize_t n = -1;

	if (!fcntl(fd, F_SETFL, O_NONBLOCK))
		n = read(fd, r->printed, sizeof(r->printed) - 1);
	r->printed[n > 0 ? n : 0] = 0;
}

/* The first line, with a deadline: the server is an instrumented build maybe. */
static void read_line(struct nfsd *r, int fd)
{
	char line[256], addr[128], provider[32];
	size_t n = 0;
	unsigned version;
	char *colon;

	while (n < sizeof(line) - 1 && read(fd, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = 0;
	if (sscanf(line, "listening %127s %31s %u", addr, provider, &version) != 3) {
		char cmd[128];

		snprintf(cmd, sizeof(cmd), "cat %s >&2", r->err);
		if (system(cmd))
			n = 0;
		fail_msg("the server said '%s'", line);
	}
	assert_string_equal(provider, "iwarp");
	assert_int_equal(version, 2);
	colon = strrchr(addr, ':');
	assert_non_null(colon);
	snprintf(r->port, sizeof(r->port), "%.8s", colon + 1);
	read_rest(r, fd);
}

mountstat3 nfsd_mount(struct nfsd *r, const char *path, nfs_fh3 *ret)
{
	dirpath p = (char *)(uintptr_t)path;
	mountres3 res;
	mountstat3 status;
	const fhandle3 *fh = &res.mountres3_u.mountinfo.fhandle;

	nfsd_call(r, RPCRDMA_MOUNT_PROGRAM, MOUNTPROC3_MNT, XDR_OF(dirpath), &p,
	          XDR_OF(mountres3), &res, sizeof(res));
	assert_int_equal(r->status, RPCRDMA_OK);
	status = res.fhs_status;
	if (status == MNT3_OK && ret)
		*ret = nfsd_fh(r, fh->fhandle3_val, fh->fhandle3_len);
	NFS3_FREE(mountres3, &res);
	return status;
}

static void mount_exp(struct nfsd *r)
{
	nfs_fh3 fh;

	r->root = (nfs_fh3){.data = {0, NULL}};
	if (nfsd_mount(r, "/exp", &fh) != MNT3_OK)
		return;
	r->root.data.data_len = fh.data.data_len;
	r->root.data.data_val = r->root_data;
	memcpy(r->root_data, fh.data.data_val, fh.data.data_len);
}

static void dial(struct nfsd *r)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	assert_int_equal(rpcrdma_engine_new(NULL, &r->engine), 0);
	o.no_reconnect = true;
	o.version = r->rpcrdma_version;
	o.send_item_bytes = r->send_item_bytes;
	assert_int_equal(rpcrdma_connect(r->engine, "127.0.0.1", r->port, &o, NULL,
	                                 NULL, &r->conn),
	                 0);
}

void nfsd_start(struct nfsd *r, ...)
{
	char export[128];
	const char *argv[MAX_ARGS] = {RPCRDMA_TOOL,  "nfsd",     "--export",
	                              export,        "--listen", "127.0.0.1:0",
	                              "--state-dir", r->state};
	int n = 8, out[2];
	va_list ap;

	snprintf(export, sizeof(export), "%s:/exp", r->exp);
	va_start(ap, r);
	while (n < MAX_ARGS - 1 && (argv[n] = va_arg(ap, const char *)))
		n++;
	va_end(ap);
	argv[n] = NULL;
	assert_int_equal(pipe(out), 0);
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (!r->pid) {
		close(out[0]);
		child(r, out[1], (char *const *)(uintptr_t)argv);
	}
	close(out[1]);
	read_line(r, out[0]);
	close(out[0]);
	dial(r);
	mount_exp(r);
}

static void hang_up(struct nfsd *r)
{
	rpcrdma_conn_close(r->conn);
	for (int i = 0; i < 100 && !rpcrdma_engine_idle(r->engine); i++)
		rpcrdma_engine_process(r->engine, 20);
	rpcrdma_engine_free(r->engine);
	r->conn = NULL;
	r->engine = NULL;
}

void nfsd_reconnect(struct nfsd *r)
{
	hang_up(r);
	dial(r);
}

void nfsd_stop(struct nfsd *r)
{
	int status = 0;

	hang_up(r);
	kill(r->pid, SIGTERM);
	assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
	r->pid = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		char cmd[128];

		snprintf(cmd, sizeof(cmd), "cat %s >&2", r->err);
		if (!system(cmd))
			fail_msg("the server ended with status %#x", status);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

void nfsd_kill(struct nfsd *r)
{
	kill(r->pid, SIGKILL);
	assert_int_equal(waitpid(r->pid, NULL, 0), r->pid);
	r->pid = 0;
	hang_up(r);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void nfsd_fini(struct nfsd *r)
{
	if (r->pid)
		nfsd_kill(r);
	keep_free();
	if (r->dir[0])
		(void)nftw(r->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int nfsd_tool(const char *first, ...)
{
	const char *argv[MAX_ARGS] = {RPCRDMA_TOOL, first};
	int n = 2, status = 0, null;
	va_list ap;
	pid_t pid;

	va_start(ap, first);
	while (n < MAX_ARGS - 1 && (argv[n] = va_arg(ap, const char *)))
		n++;
	va_end(ap);
	argv[n] = NULL;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execv(RPCRDMA_TOOL, (char *const *)(uintptr_t)argv);
		_exit(98);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool nfsd_printed(const struct nfsd *r, const char *text)
{
	static char buf[65536];
	int fd = open(r->err, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return strstr(buf, text);
}

void nfsd_wait_printed(const struct nfsd *r, const char *text)
{
	for (int i = 0; i < CALL_MS / 10; i++) {
		if (nfsd_printed(r, text))
			return;
		usleep(10000);
	}
	fail_msg("the server did not say '%s'", text);
}

const char *nfsd_path(const struct nfsd *r, const char *name)
{
	static char ring[4][512];
	static unsigned next;
	char *p = ring[next++ % 4];

	snprintf(p, sizeof(ring[0]), "%s/%s", r->exp, name);
	return p;
}

void nfsd_write_file(const struct nfsd *r, const char *name, const void *data,
                     size_t len)
{
	int fd = open(nfsd_path(r, name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	assert_int_equal(fchown(fd, r->uid, r->gid), 0);
	close(fd);
}

/* ---- Calls ----------------------------------------------------------------------- */

static void on_done(struct rpcrdma_call *call, const struct rpcrdma_reply *reply,
                    void *arg)
{
	struct nfsd *r = arg;

	(void)call;
	r->status = reply->status;
	r->auth_stat = reply->auth_stat;
	r->low = reply->low;
	r->high = reply->high;
	r->transport_error = reply->transport_error;
	r->a = reply->a;
	r->b = reply->b;
	r->len = reply->status ? 0 : reply->len;
	assert_true(r->len <= sizeof(r->results));
	if (r->len)
		memcpy(r->results, reply->results, r->len);
	r->done = true;
}

void nfsd_call_raw(struct nfsd *r, uint32_t program, uint32_t proc, const void *args,
                   size_t len)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_piece pieces[2] = {{args, len, false},
	                                  {r->item, r->item_len, true}};
	uint8_t body[400];
	struct rpcrdma_auth cred = {r->flavor, body, 0};
	int n = rpcrdma_auth_sys_encode(body, sizeof(body), 1, "test", r->uid, r->gid,
	                                r->gids, r->n_gids);

	assert_true(n > 0);
	if (r->flavor != RPCRDMA_AUTH_NONE)
		cred.len = (uint32_t)n;
	o.program = program;
	o.version = r->version ? r->version : 3;
	o.procedure = proc;
	o.cred = &cred;
	o.args = pieces;
	o.n_args = r->item ? 2 : len ? 1 : 0;
	o.dests = r->dest;
	o.n_dests = r->dest ? 1 : 0;
	o.reply_bytes = r->reply_bytes ? r->reply_bytes : NFS3_RESULT_BYTES;
	o.timeout_ns = CALL_MS * 1000000ull;
	o.done = on_done;
	o.arg = r;
	r->done = false;
	assert_int_equal(rpcrdma_call(r->conn, &o, NULL), 0);
	while (!r->done)
		assert_int_equal(rpcrdma_engine_process(r->engine, CALL_MS), 0);
	r->dest = NULL;
	r->item = NULL;
	r->version = 0;
	r->reply_bytes = 0;
	r->used = 0;
}

void nfsd_call(struct nfsd *r, uint32_t program, uint32_t proc, xdrproc_t xargs,
               const void *args, xdrproc_t xres, void *res, size_t res_size)
{
	static uint8_t buf[NFS3_MSG_BYTES];
	int n = xargs ? nfs3_encode(buf, sizeof(buf), xargs, args) : 0;

	assert_true(n >= 0);
	if (res)
		memset(res, 0, res_size);
	nfsd_call_raw(r, program, proc, buf, (size_t)n);
	if (r->status || !xres)
		return;
	n = nfs3_decode(r->results, r->len, xres, res, res_size);
	assert_true(n >= 0);
	r->used = (size_t)n;
}

nfs_fh3 nfsd_fh(struct nfsd *r, const void *data, size_t len)
{
	nfs_fh3 fh = {.data = {(u_int)len, malloc(len ? len : 1)}};

	(void)r;
	assert_non_null(fh.data.data_val);
	assert_true(n_keep < sizeof(keep) / sizeof(keep[0]));
	keep[n_keep++] = fh.data.data_val;
	memcpy(fh.data.data_val, data, len);
	return fh;
}

diropargs3 nfsd_name(nfs_fh3 dir, const char *name)
{
	return (diropargs3){dir, (char *)(uintptr_t)name};
}

nfsstat3 nfsd_lookup(struct nfsd *r, nfs_fh3 dir, const char *name, nfs_fh3 *ret)
{
	LOOKUP3args a = {nfsd_name(dir, name)};
	LOOKUP3res res;
	nfsstat3 s = NFS(r, LOOKUP, &a, &res);
	nfs_fh3 *fh = &res.LOOKUP3res_u.resok.object;

	if (s == NFS3_OK) {
		if (ret)
			*ret = nfsd_fh(r, fh->data.data_val, fh->data.data_len);
		assert_true(res.LOOKUP3res_u.resok.obj_attributes.attributes_follow);
	}
	NFS3_FREE(LOOKUP3res, &res);
	return s;
}

nfs_fh3 nfsd_walk(struct nfsd *r, const char *path)
{
	char copy[1024], *save = NULL;
	nfs_fh3 fh = r->root;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *s = strtok_r(copy, "/", &save); s; s = strtok_r(NULL, "/", &save))
		assert_int_equal(nfsd_lookup(r, fh, s, &fh), NFS3_OK);
	return fh;
}

nfsstat3 nfsd_getattr(struct nfsd *r, nfs_fh3 fh, fattr3 *ret)
{
	GETATTR3args a = {fh};
	GETATTR3res res;
	nfsstat3 s = NFS(r, GETATTR, &a, &res);

	if (s == NFS3_OK && ret)
		*ret = res.GETATTR3res_u.resok.obj_attributes;
	return s;
}

nfsstat3 nfsd_create(struct nfsd *r, nfs_fh3 dir, const char *name, nfs_fh3 *ret)
{
	CREATE3args a = {nfsd_name(dir, name), {.mode = GUARDED}};
	CREATE3res res;
	sattr3 *sa = &a.how.createhow3_u.obj_attributes;
	nfs_fh3 *fh = &res.CREATE3res_u.resok.obj.post_op_fh3_u.handle;
	nfsstat3 s;

	sa->mode.set_it = TRUE;
	sa->mode.set_mode3_u.mode = 0644;
	s = NFS(r, CREATE, &a, &res);
	if (s == NFS3_OK) {
		assert_true(res.CREATE3res_u.resok.obj.handle_follows);
		if (ret)
			*ret = nfsd_fh(r, fh->data.data_val, fh->data.data_len);
	}
	NFS3_FREE(CREATE3res, &res);
	return s;
}

nfsstat3 nfsd_write(struct nfsd *r, nfs_fh3 fh, uint64_t offset, const void *data,
                    size_t len, stable_how stable, WRITE3resok *ret)
{
	WRITE3args a = {fh, offset, (count3)len, stable, (uint32_t)len};
	WRITE3res res;
	nfsstat3 s;

	r->item = data;
	r->item_len = len;
	s = NFS(r, WRITE, &a, &res);
	if (s == NFS3_OK && ret)
		*ret = res.WRITE3res_u.resok;
	return s;
}

int64_t nfsd_read(struct nfsd *r, nfs_fh3 fh, uint64_t offset, void *buf, size_t len,
                  bool chunk, bool *ret_eof)
{
	READ3args a = {fh, offset, (count3)len};
	struct rpcrdma_dest dest = {.base = buf, .len = len};
	const READ3resok *ok;
	const void *item = NULL;
	READ3res res;
	nfsstat3 s;

	assert_true(chunk || len + NFS3_RESULT_BYTES <= sizeof(r->results));
	r->dest = chunk ? &dest : NULL;
	r->reply_bytes = NFS3_RESULT_BYTES + (chunk ? 0 : len);
	s = NFS(r, READ, &a, &res);
	if (s != NFS3_OK)
		return -(int64_t)s;
	ok = &res.READ3res_u.resok;
	assert_int_equal(ok->count, ok->data_len);
	assert_true(ok->count <= len);
	struct rpcrdma_reply reply = {.results = r->results, .len = r->len};

	assert_int_equal(nfs3_result_item(&reply, r->used, &dest, ok->data_len, &item),
	                 0);
	if (item != buf)
		memcpy(buf, item, ok->count);
	if (ret_eof)
		*ret_eof = ok->eof;
	return ok->count;
}

int nfsd_set_up(void **state)
{
	nfsd_init(*state);
	return 0;
}

int nfsd_tear_down(void **state)
{
	nfsd_fini(*state);
	return 0;
}

void nfsd_need_root(void)
{
	if (geteuid())
		skip();
}
