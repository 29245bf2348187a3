/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A running `rpcrdma nfsd` in a temporary directory, a connection to it, and calls that
 * wait for their reply.  Each failure fails the cmocka test.
 */
#ifndef RR_TEST_NFSD_H
#define RR_TEST_NFSD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <cmocka.h>
#include <rpcrdma/nfs.h>
#include "nfs3_msg.h"

struct nfsd {
	char dir[64]; /* holds exp/ and state/ */
	char exp[80], state[80], err[80];
	uid_t uid, gid;                     /* of the calls; owner of exp */
	uid_t server_uid;                   /* of the server; 0: that of the test */
	rlim_t fsize;                       /* RLIMIT_FSIZE of the server; 0: none */
	rlim_t nofile;                      /* RLIMIT_NOFILE likewise */
	bool no_faccessat2;                 /* the system call fails with ENOSYS */
	const char *preload, *preload_flag; /* a library for the server, or NULL */
	pid_t pid;
	char port[16];
	char printed[512]; /* the server's output when it was ready, without line 1 */
	struct rpcrdma_engine *engine;
	struct rpcrdma_conn *conn;
	nfs_fh3 root; /* of the export "/exp" */
	char root_data[NFS3_FHSIZE];
	unsigned rpcrdma_version; /* of the connection; 0: negotiated */
	uint64_t send_item_bytes; /* of the connection; 0: the default */
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
void nfsd_init(struct nfsd *);
/* Starts the server with these further arguments (NULL ends), connects, and
 * mounts "/exp" unless the mount is refused (root.data_len 0). */
void nfsd_start(struct nfsd *, ...);
/* Connects again. */
void nfsd_reconnect(struct nfsd *);
/* SIGTERM; expects exit code 0. */
void nfsd_stop(struct nfsd *);
/* SIGKILL. */
void nfsd_kill(struct nfsd *);
/* Kills a server that still runs, and removes the directories. */
void nfsd_fini(struct nfsd *);
/* nfsd_init and nfsd_fini for cmocka_unit_test_prestate_setup_teardown(test, nfsd_set_up,
 * nfsd_tear_down, &nfsd). */
int nfsd_set_up(void **state);
int nfsd_tear_down(void **state);
/* One server @r for all tests of a file.  start_nfsd, which gives its server these arguments,
 * and stop_nfsd are for cmocka_run_group_tests. */
#define NFSD_FOR_ALL(r, ...)                                                           \
	static struct nfsd r;                                                          \
                                                                                       \
	static int start_nfsd(void **state)                                            \
	{                                                                              \
		nfsd_init(&r);                                                         \
		nfsd_start(&r, __VA_ARGS__);                                           \
		return 0;                                                              \
	}                                                                              \
                                                                                       \
	static int stop_nfsd(void **state)                                             \
	{                                                                              \
		nfsd_stop(&r);                                                         \
		nfsd_fini(&r);                                                         \
		return 0;                                                              \
	}
/* Skips the test unless it runs as root. */
void nfsd_need_root(void);
/* Runs `rpcrdma` with these arguments and waits.  Returns its exit code. */
int nfsd_tool(const char *first, ...);
/* Makes faccessat2 fail with ENOSYS in this process from now on. */
void nfsd_deny_faccessat2(void);

/* Returns whether the text is on the server's standard error, or waits until it is, a
 * minute at most. */
bool nfsd_printed(const struct nfsd *, const char *text);
void nfsd_wait_printed(const struct nfsd *, const char *text);

/* Returns a path beneath the export, in one of a ring of static buffers. */
const char *nfsd_path(const struct nfsd *, const char *name);
void nfsd_write_file(const struct nfsd *, const char *name, const void *data,
                     size_t len);

/* Calls with encoded arguments; status and results as above. */
void nfsd_call_raw(struct nfsd *, uint32_t program, uint32_t proc, const void *args,
                   size_t len);
/* ... with structures; results decoded into @res (zeroed if the call failed),
 * which the caller frees (NFS3_FREE) where there are handles in it. */
void nfsd_call(struct nfsd *, uint32_t program, uint32_t proc, xdrproc_t xargs,
               const void *args, xdrproc_t xres, void *res, size_t res_size);

#define XDR_OF(t) ((xdrproc_t)(void (*)(void))xdr_##t)
/* One NFS procedure by name, with the names that RFC 1813 gives its structures;
 * the status of the results. */
#define NFS(srv, P, args, res)                                                         \
	(nfsd_call((srv), RPCRDMA_NFS_PROGRAM, NFSPROC3_##P, XDR_OF(P##3args), (args), \
	           XDR_OF(P##3res), (res), sizeof(P##3res)),                           \
	 assert_int_equal((srv)->status, RPCRDMA_OK), (res)->status)

/* MNT of @path.  The handle is a copy that lasts; @ret may be NULL. */
mountstat3 nfsd_mount(struct nfsd *, const char *path, nfs_fh3 *ret);

/* Frequent calls. */
nfs_fh3 nfsd_fh(struct nfsd *, const void *data, size_t len); /* a copy that lasts */
diropargs3 nfsd_name(nfs_fh3 dir, const char *name);
nfsstat3 nfsd_lookup(struct nfsd *, nfs_fh3 dir, const char *name, nfs_fh3 *ret);
/* LOOKUP of each name of a path; must succeed. */
nfs_fh3 nfsd_walk(struct nfsd *, const char *path);
nfsstat3 nfsd_getattr(struct nfsd *, nfs_fh3, fattr3 *ret);
nfsstat3 nfsd_create(struct nfsd *, nfs_fh3 dir, const char *name, nfs_fh3 *ret);
nfsstat3 nfsd_write(struct nfsd *, nfs_fh3, uint64_t offset, const void *data,
                    size_t len, stable_how, WRITE3resok *ret);
/* @chunk: with a Write chunk.  Returns the octets read, or -status. */
int64_t nfsd_read(struct nfsd *, nfs_fh3, uint64_t offset, void *buf, size_t len,
                  bool chunk, bool *ret_eof);

#endif
