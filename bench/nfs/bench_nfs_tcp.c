/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NFS version 3 over TCP by libnfs: the calls of bench_nfs_rdma.c, by the interface of
 * libnfs that is nearest to the protocol.  READ's data are copied to the caller's
 * memory, as libnfs does for its users.  The command line and the row are those of
 * bench.h; EXPORT in the environment is the export's path, MOUNT_PORT the port of
 * MOUNT.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <nfsc/libnfs.h>

#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

#include "bench_nfs.h"

static const struct bench_options *options;
static struct rpc_context *rpc;
static char handle_octets[2][NFS3_FHSIZE];
static nfs_fh3 root = {.data.data_val = handle_octets[0]};
static nfs_fh3 object = {.data.data_val = handle_octets[1]};
static uint8_t *data; /* WRITE's */
static struct bench_clock timer;
static unsigned in_flight;

static void die(const char *what, int failed)
{
	if (!failed)
		return;
	fprintf(stderr, "bench_nfs_tcp: %s: %s\n", what, rpc_get_error(rpc));
	exit(1);
}

/* Serves the connection until no call is in flight. */
static void run_calls(void)
{
	while (in_flight) {
		struct pollfd p = {.fd = rpc_get_fd(rpc),
		                   .events = (short)rpc_which_events(rpc)};

		if (poll(&p, 1, 10000) <= 0)
			bench_die("poll", ETIMEDOUT);
		die("connection", rpc_service(rpc, p.revents) < 0);
	}
}

/* ---- The measured calls -------------------------------------------------------- */

static void start_call(void *buf);

/* Fails unless the call has succeeded.  @buf receives READ's data. */
static void check_reply(const void *results, void *buf)
{
	const READ3res *read = results;
	const READDIRPLUS3res *dir = results;

	if (options->test == BENCH_NULL)
		return;
	if (*(const nfsstat3 *)results != NFS3_OK)
		bench_die("NFS status", EIO);
	if (options->test == BENCH_READ) {
		if (read->READ3res_u.resok.data.data_len != options->bytes)
			bench_die("short READ", EIO);
		memcpy(buf, read->READ3res_u.resok.data.data_val, options->bytes);
	}
	if (options->test == BENCH_READDIRPLUS &&
	    !dir->READDIRPLUS3res_u.resok.reply.eof)
		bench_die("READDIRPLUS has not all entries", EIO);
}

static void end_call(struct rpc_context *context, int status, void *results, void *buf)
{
	(void)context;
	die("call", status != RPC_STATUS_SUCCESS);
	check_reply(results, buf);
	in_flight--;
	if (bench_clock_count(&timer, 1))
		start_call(buf);
}

static int start_create(void *buf)
{
	char name[BENCH_NFS_NAME];
	CREATE3args a = {.where = {object, name}, .how.mode = UNCHECKED};
	set_mode3 *mode = &a.how.createhow3_u.obj_attributes.mode;

	bench_nfs_name(name);
	mode->set_it = 1;
	mode->set_mode3_u.mode = BENCH_NFS_MODE;
	return rpc_nfs3_create_async(rpc, end_call, &a, buf);
}

static int start_readdirplus(void *buf)
{
	READDIRPLUS3args a = {.dir = object,
	                      .dircount = BENCH_NFS_DIR_BYTES,
	                      .maxcount = BENCH_NFS_DIR_BYTES};

	return rpc_nfs3_readdirplus_async(rpc, end_call, &a, buf);
}

static int start_read(void *buf)
{
	READ3args a = {object, bench_nfs_offset(options), options->bytes};

	return rpc_nfs3_read_async(rpc, end_call, &a, buf);
}

static int start_write(void *buf)
{
	WRITE3args a = {
	        .file = object,
	        .offset = bench_nfs_offset(options),
	        .count = options->bytes,
	        .stable = UNSTABLE,
	        .data = {.data_len = options->bytes, .data_val = (char *)data},
	};

	return rpc_nfs3_write_async(rpc, end_call, &a, buf);
}

/* Starts a call.  It ends with end_call, which starts the next one. */
static void start_call(void *buf)
{
	GETATTR3args getattr = {object};
	LOOKUP3args lookup = {{object, (char *)BENCH_NFS_FILE}};
	int r = -1;

	switch (options->test) {
	case BENCH_NULL:
		r = rpc_nfs3_null_async(rpc, end_call, buf);
		break;
	case BENCH_GETATTR:
		r = rpc_nfs3_getattr_async(rpc, end_call, &getattr, buf);
		break;
	case BENCH_LOOKUP:
		r = rpc_nfs3_lookup_async(rpc, end_call, &lookup, buf);
		break;
	case BENCH_CREATE:
		r = start_create(buf);
		break;
	case BENCH_READDIRPLUS:
		r = start_readdirplus(buf);
		break;
	case BENCH_READ:
		r = start_read(buf);
		break;
	case BENCH_WRITE:
		r = start_write(buf);
		break;
	default:
		break;
	}
	die("call", r);
	in_flight++;
}

/* ---- Preparation --------------------------------------------------------------- */

static void connected(struct rpc_context *context, int status, void *results, void *arg)
{
	(void)context;
	(void)results;
	(void)arg;
	die("connect", status != RPC_STATUS_SUCCESS);
	in_flight--;
}

static void connect_to(const char *port, int program)
{
	rpc = rpc_init_context();
	if (!rpc)
		bench_die("libnfs", ENOMEM);
	die("connect", rpc_connect_port_async(rpc, "127.0.0.1", atoi(port), program, 3,
	                                      connected, NULL));
	in_flight++;
	run_calls();
}

/* Copies a handle.  Returns false if it is too long. */
static bool copy_handle(nfs_fh3 *to, const char *octets, unsigned len)
{
	if (len > NFS3_FHSIZE)
		return false;
	memcpy(to->data.data_val, octets, len);
	to->data.data_len = len;
	return true;
}

static void mounted(struct rpc_context *context, int status, void *results, void *arg)
{
	const mountres3 *m = results;

	(void)context;
	(void)arg;
	die("MNT", status != RPC_STATUS_SUCCESS);
	if (m->fhs_status != MNT3_OK ||
	    !copy_handle(&root, m->mountres3_u.mountinfo.fhandle.fhandle3_val,
	                 m->mountres3_u.mountinfo.fhandle.fhandle3_len))
		bench_die("MNT", EACCES);
	in_flight--;
}

static void found(struct rpc_context *context, int status, void *results, void *arg)
{
	const LOOKUP3res *l = results;

	(void)context;
	(void)arg;
	die("LOOKUP", status != RPC_STATUS_SUCCESS);
	if (l->status != NFS3_OK ||
	    !copy_handle(&object, l->LOOKUP3res_u.resok.object.data.data_val,
	                 l->LOOKUP3res_u.resok.object.data.data_len))
		bench_die("LOOKUP", ENOENT);
	in_flight--;
}

static void mount_export(void)
{
	char *export = getenv("EXPORT");
	const char *port = getenv("MOUNT_PORT");

	if (!export || !port)
		bench_die("EXPORT, MOUNT_PORT", EINVAL);
	connect_to(port, MOUNT_PROGRAM);
	die("MNT", rpc_mount3_mnt_async(rpc, mounted, export, NULL));
	in_flight++;
	run_calls();
	rpc_destroy_context(rpc);
}

static void find_object(void)
{
	const char *name = options->test == BENCH_CREATE        ? BENCH_NFS_MADE
	                   : options->test == BENCH_READDIRPLUS ? BENCH_NFS_DIR
	                                                        : BENCH_NFS_FILE;
	LOOKUP3args a = {{root, (char *)name}};

	if (options->test == BENCH_LOOKUP) {
		object = root;
		return;
	}
	die("LOOKUP", rpc_nfs3_lookup_async(rpc, found, &a, NULL));
	in_flight++;
	run_calls();
}

int main(int argc, char **argv)
{
	struct bench_options o;

	bench_options(argc, argv, &o);
	options = &o;
	if (o.role != BENCH_CLIENT || o.conns != 1 ||
	    (o.test >= BENCH_LIST && o.test <= BENCH_DIR)) {
		fputs("bench_nfs_tcp: a client of NFS, by one connection\n", stderr);
		return 2;
	}
	mount_export();
	connect_to(o.port, NFS_PROGRAM);
	find_object();
	data = bench_data(o.bytes);
	bench_clock_start(&timer, &o);
	for (uint32_t i = 0; i < o.depth; i++)
		start_call(bench_data(o.bytes));
	run_calls();
	bench_row(&o, &timer);
	puts("");
	rpc_destroy_context(rpc);
	return 0; /* the exit of the process frees the memory of the calls */
}
