/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A running `rpcrdma nfsd` in a temporary directory, a connection to it, and
 * calls that wait for their reply.  Failures are cmocka's.
 */
#ifndef TESTS_E2E_NFSD_RIG_H
#define TESTS_E2E_NFSD_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <cmocka.h>
#include <rpcrdma/nfs.h>
#include "nfs3_msg.h"

struct rig {
	char dir[64]; /* holds exp/ and state/ */
	char exp[80], state[80], err[80];
	uid_t uid, gid;                     /* of the calls; owner of exp */
	uid_t server_uid;                   /* who runs the server; 0 = as the test */
	rlim_t fsize;                       /* RLIMIT_FSIZE of the server; 0 = none */
	rlim_t nofile;                      /* RLIMIT_NOFILE likewise */
	bool no_faccessat2;                 /* the system call fails by ENOSYS */
	const char *preload, *preload_flag; /* a library for the server, or NULL */
	pid_t pid;
	char port[16];
	char said
	        [512]; /* what the server printed when it was ready, but the first line */
	struct rpcrdma_engine *engine;
	struct rpcrdma_conn *conn;
	nfs_fh3 root; /* of the export "/exp" */
	char root_data[NFS3_FHSIZE];
	unsigned rpcrdma_version; /* of the connection; 0: what is negotiated */
	uint32_t version;         /* of the next call's program; 0: 3; then cleared */
	uint32_t flavor;          /* of the calls' credential */
	uint32_t gids[4];
	unsigned n_gids;
	/* the last reply */
	int status;
	uint32_t auth_stat;
	uint32_t low, high; /* mismatches */
	uint32_t transport_error, a, b;
	uint8_t results[128 << 10];
	size_t len, used;          /* octets of results; how many were decoded */
	struct rpcrdma_dest *dest; /* for the next call; then cleared */
	const void *item;          /* of the next call's arguments; then cleared */
	size_t item_len;
	size_t reply_bytes; /* bound for the next call; then cleared */
	bool done;
};

/* Makes the directories. */
void rig_init(struct rig *);
/* Starts the server with these further arguments (NULL ends), connects, and
 * mounts "/exp" unless the mount is refused (root.data_len 0). */
void rig_start(struct rig *, ...);
/* Connects anew. */
void rig_again(struct rig *);
/* SIGTERM; expects exit code 0. */
void rig_stop(struct rig *);
/* SIGKILL: nothing is tidied up. */
void rig_kill(struct rig *);
/* Kills a server that still runs, and removes the directories. */
void rig_fini(struct rig *);
/* rig_init and rig_fini for cmocka_unit_test_prestate_setup_teardown(test, rig_set_up,
 * rig_tear_down, &rig). */
int rig_set_up(void **state);
int rig_tear_down(void **state);
/* A rig @r for all tests of a file.  start_rig, which gives its server these arguments,
 * and stop_rig are for cmocka_run_group_tests. */
#define RIG_FOR_ALL(r, ...)                                                            \
	static struct rig r;                                                           \
                                                                                       \
	static int start_rig(void **state)                                             \
	{                                                                              \
		rig_init(&r);                                                          \
		rig_start(&r, __VA_ARGS__);                                            \
		return 0;                                                              \
	}                                                                              \
                                                                                       \
	static int stop_rig(void **state)                                              \
	{                                                                              \
		rig_stop(&r);                                                          \
		rig_fini(&r);                                                          \
		return 0;                                                              \
	}
/* Skips the test unless it runs as root. */
void rig_need_root(void);
/* Runs the tool with arguments and waits for it; the exit code. */
int rig_tool(const char *first, ...);
/* From now on faccessat2 fails by ENOSYS in this process. */
void rig_deny_faccessat2(void);

/* Is the text on the server's standard error?  Waits until it is, a minute at most. */
bool rig_said(const struct rig *, const char *text);
void rig_wait_said(const struct rig *, const char *text);

/* A path beneath the export; static ring of buffers. */
const char *rig_path(const struct rig *, const char *name);
void rig_write_file(const struct rig *, const char *name, const void *data, size_t len);

/* Calls with encoded arguments; status and results as above. */
void rig_call_raw(struct rig *, uint32_t program, uint32_t proc, const void *args,
                  size_t len);
/* ... with structures; results decoded into @res (zeroed if the call failed),
 * which the caller frees (NFS3_FREE) where there are handles in it. */
void rig_call(struct rig *, uint32_t program, uint32_t proc, xdrproc_t xargs,
              const void *args, xdrproc_t xres, void *res, size_t res_size);

#define XDR_OF(t) ((xdrproc_t)(void (*)(void))xdr_##t)
/* One NFS procedure by name, with the names that RFC 1813 gives its structures;
 * the status of the results. */
#define NFS(rig, P, args, res)                                                         \
	(rig_call((rig), RPCRDMA_NFS_PROGRAM, NFSPROC3_##P, XDR_OF(P##3args), (args),  \
	          XDR_OF(P##3res), (res), sizeof(P##3res)),                            \
	 assert_int_equal((rig)->status, RPCRDMA_OK), (res)->status)

/* MNT of @path; the handle is a copy that lasts, @ret may be NULL. */
mountstat3 rig_mount(struct rig *, const char *path, nfs_fh3 *ret);

/* Frequent ones. */
nfs_fh3 rig_fh(struct rig *, const void *data, size_t len); /* a copy that lasts */
diropargs3 rig_in(nfs_fh3 dir, const char *name);
nfsstat3 rig_lookup(struct rig *, nfs_fh3 dir, const char *name, nfs_fh3 *ret);
/* Along a path; must succeed. */
nfs_fh3 rig_walk(struct rig *, const char *path);
nfsstat3 rig_getattr(struct rig *, nfs_fh3, fattr3 *ret);
nfsstat3 rig_create(struct rig *, nfs_fh3 dir, const char *name, nfs_fh3 *ret);
nfsstat3 rig_write(struct rig *, nfs_fh3, uint64_t offset, const void *data, size_t len,
                   stable_how, WRITE3resok *ret);
/* @chunk: offer a Write chunk; octets read, or -status. */
int64_t rig_read(struct rig *, nfs_fh3, uint64_t offset, void *buf, size_t len,
                 bool chunk, bool *ret_eof);

#endif
