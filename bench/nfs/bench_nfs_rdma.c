/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NFS version 3 by librpcrdma's public interface: one call again and again, with any
 * number in flight.  The command line and the row are those of bench.h; EXPORT in the
 * environment is the export's path.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rpcrdma/cursor.h>
#include <rpcrdma/nfs.h>
#include <stdlib.h>
#include <string.h>

#include "bench_nfs.h"

enum {
	HANDLE_MAX = 64,
	ARGS_MAX = 256,
	RESULTS_MAX = 512, /* octets of results, except READDIRPLUS and data */
	MNT = 1,
	LOOKUP = 3,
};

static const uint32_t procedures[] = {
        [BENCH_NULL] = 0,         [BENCH_GETATTR] = 1, [BENCH_LOOKUP] = LOOKUP,
        [BENCH_READ] = 6,         [BENCH_WRITE] = 7,   [BENCH_CREATE] = 8,
        [BENCH_READDIRPLUS] = 17,
};

struct handle {
	uint8_t octets[HANDLE_MAX];
	uint32_t len;
};

/* A call in flight; reused for the next one. */
struct slot {
	uint8_t args[ARGS_MAX];
	struct rpcrdma_piece pieces[2];
	struct rpcrdma_dest dest;
	uint8_t *data;
};

static const struct bench_options *options;
static struct rpcrdma_engine *engine;
static struct rpcrdma_conn *conn;
static struct rpcrdma_auth cred;
static struct handle root, object; /* @object: the argument of the measured calls */
static struct bench_clock timer;
static unsigned in_flight;

static void die(const char *what, int error)
{
	if (error)
		bench_die(what, error);
}

/* ---- Arguments ----------------------------------------------------------------- */

static size_t put_u64(uint8_t *p, uint64_t v)
{
	bench_put_u32(p, (uint32_t)(v >> 32));
	bench_put_u32(p + 4, (uint32_t)v);
	return 8;
}

static size_t put_opaque(uint8_t *p, const void *octets, uint32_t len)
{
	bench_put_u32(p, len);
	memset(p + 4 + len / 4 * 4, 0, 4);
	memcpy(p + 4, octets, len);
	return 4 + (len + 3) / 4 * 4;
}

static size_t put_string(uint8_t *p, const char *s)
{
	return put_opaque(p, s, (uint32_t)strlen(s));
}

/* Puts the name, the mode UNCHECKED, and attributes of which only the mode is set. */
static size_t put_create(uint8_t *p)
{
	char name[BENCH_NFS_NAME];
	size_t n;

	bench_nfs_name(name);
	n = put_string(p, name);
	n += bench_put_u32(p + n, 0);
	n += bench_put_u32(p + n, 1);
	n += bench_put_u32(p + n, BENCH_NFS_MODE);
	memset(p + n, 0, 20);
	return n + 20;
}

static size_t put_args(uint8_t *p)
{
	size_t n;

	if (options->test == BENCH_NULL)
		return 0;
	n = put_opaque(p, object.octets, object.len);
	switch (options->test) {
	case BENCH_LOOKUP:
		return n + put_string(p + n, BENCH_NFS_FILE);
	case BENCH_CREATE:
		return n + put_create(p + n);
	case BENCH_READ:
		n += put_u64(p + n, bench_nfs_offset(options));
		return n + bench_put_u32(p + n, options->bytes);
	case BENCH_WRITE: /* UNSTABLE */
		n += put_u64(p + n, bench_nfs_offset(options));
		n += bench_put_u32(p + n, options->bytes);
		n += bench_put_u32(p + n, 0);
		return n + bench_put_u32(p + n, options->bytes);
	case BENCH_READDIRPLUS: /* from the start */
		memset(p + n, 0, 16);
		n += 16;
		n += bench_put_u32(p + n, BENCH_NFS_DIR_BYTES);
		return n + bench_put_u32(p + n, BENCH_NFS_DIR_BYTES);
	default:
		return n;
	}
}

/* ---- The measured calls -------------------------------------------------------- */

static void start_call(struct slot *);

static void check_reply(const struct slot *s, const struct rpcrdma_reply *r)
{
	uint32_t last = 0;

	if (r->status) {
		fprintf(stderr, "bench_nfs_rdma: %s\n", rpcrdma_strstatus(r->status));
		exit(1);
	}
	if (options->test == BENCH_NULL)
		return;
	if (r->len < 4 || memcmp(r->results, "\0\0\0", 4))
		bench_die("NFS status", EIO);
	if (options->test == BENCH_READ && s->dest.ret_used &&
	    s->dest.ret_len != options->bytes)
		bench_die("short READ", EIO);
	memcpy(&last, (const uint8_t *)r->results + r->len - 4, 4);
	if (options->test == BENCH_READDIRPLUS && ntohl(last) != 1)
		bench_die("READDIRPLUS has not all entries", EIO);
}

static void end_call(struct rpcrdma_call *call, const struct rpcrdma_reply *r,
                     void *arg)
{
	struct slot *s = arg;

	(void)call;
	check_reply(s, r);
	in_flight--;
	if (bench_clock_count(&timer, 1))
		start_call(s);
}

static void start_call(struct slot *s)
{
	struct rpcrdma_call_options c = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	enum bench_test test = options->test;

	s->pieces[0] =
	        (struct rpcrdma_piece){.base = s->args, .len = put_args(s->args)};
	s->pieces[1] = (struct rpcrdma_piece){s->data, options->bytes, true};
	c.program = RPCRDMA_NFS_PROGRAM;
	c.version = 3;
	c.procedure = procedures[test];
	c.cred = test == BENCH_NULL ? NULL : &cred;
	c.args = s->pieces;
	c.n_args = test == BENCH_NULL ? 0 : test == BENCH_WRITE ? 2 : 1;
	c.reply_bytes = RESULTS_MAX;
	if (test == BENCH_READDIRPLUS)
		c.reply_bytes += BENCH_NFS_DIR_BYTES;
	if (test == BENCH_READ) {
		s->dest = (struct rpcrdma_dest){.base = s->data, .len = options->bytes};
		c.dests = &s->dest;
		c.n_dests = 1;
	}
	c.idempotent = rpcrdma_nfs3_binding[c.procedure].idempotent;
	c.done = end_call;
	c.arg = s;
	in_flight++;
	die("call", rpcrdma_call(conn, &c, NULL));
}

/* ---- Preparation --------------------------------------------------------------- */

/* Makes a call whose results are a status and a handle. */
static void fetch_handle(const char *what, uint32_t program, uint32_t procedure,
                         const uint8_t *args, size_t len, struct handle *ret)
{
	struct rpcrdma_piece piece = {.base = args, .len = len};
	struct rpcrdma_call_options c = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	uint8_t results[RESULTS_MAX];
	struct rpcrdma_reply r = {0};
	struct rpcrdma_cursor cursor;
	uint32_t status;
	const void *octets;

	c.program = program;
	c.version = 3;
	c.procedure = procedure;
	c.cred = &cred;
	c.args = &piece;
	c.n_args = 1;
	if (rpcrdma_call_sync(conn, &c, results, sizeof(results), &r, sizeof(r)))
		bench_die(what, EIO);
	rpcrdma_reply_cursor(&r, &cursor);
	status = rpcrdma_cursor_u32(&cursor);
	octets = rpcrdma_cursor_opaque(&cursor, NULL, HANDLE_MAX, &ret->len);
	if (status || !octets)
		bench_die(what, ENOENT);
	memcpy(ret->octets, octets, ret->len);
}

static void look_up(const char *name, struct handle *ret)
{
	uint8_t args[ARGS_MAX];
	size_t n = put_opaque(args, root.octets, root.len);

	n += put_string(args + n, name);
	fetch_handle(name, RPCRDMA_NFS_PROGRAM, LOOKUP, args, n, ret);
}

static void mount_export(void)
{
	const char *export = getenv("EXPORT");
	uint8_t args[1024];

	if (!export || strlen(export) > 1000)
		bench_die("EXPORT", EINVAL);
	fetch_handle(export, RPCRDMA_MOUNT_PROGRAM, MNT, args, put_string(args, export),
	             &root);
	switch (options->test) {
	case BENCH_LOOKUP:
		object = root;
		break;
	case BENCH_CREATE:
		look_up(BENCH_NFS_MADE, &object);
		break;
	case BENCH_READDIRPLUS:
		look_up(BENCH_NFS_DIR, &object);
		break;
	default:
		look_up(BENCH_NFS_FILE, &object);
	}
}

static void open_conn(void)
{
	static uint8_t body[400];
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	int n = rpcrdma_auth_sys_encode(body, sizeof(body), 1, "bench", getuid(),
	                                getgid(), NULL, 0);

	die("AUTH_SYS", n < 0 ? n : 0);
	cred = (struct rpcrdma_auth){RPCRDMA_AUTH_SYS, body, (uint32_t)n};
	co.provider = options->provider;
	co.features = options->features;
	co.credits = options->depth < 32 ? 32 : options->depth;
	co.no_reconnect = true;
	die("engine", rpcrdma_engine_new(NULL, &engine));
	die("connect", rpcrdma_connect(engine, "127.0.0.1", options->port, &co, NULL,
	                               NULL, &conn));
}

int main(int argc, char **argv)
{
	static struct slot slots[BENCH_MAX_DEPTH];
	struct bench_options o;

	bench_options(argc, argv, &o);
	options = &o;
	if (o.role != BENCH_CLIENT || o.conns != 1 ||
	    (o.test >= BENCH_LIST && o.test <= BENCH_DIR)) {
		fputs("bench_nfs_rdma: a client of NFS, by one connection\n", stderr);
		return 2;
	}
	open_conn();
	mount_export();
	bench_clock_start(&timer, &o);
	for (uint32_t i = 0; i < o.depth; i++) {
		slots[i].data = bench_data(o.bytes);
		start_call(&slots[i]);
	}
	while (in_flight)
		die("process", rpcrdma_engine_process(engine, -1));
	bench_row(&o, &timer);
	puts("");
	rpcrdma_conn_close(conn);
	while (!rpcrdma_engine_idle(engine))
		die("close", rpcrdma_engine_process(engine, 1000));
	rpcrdma_engine_free(engine);
	for (uint32_t i = 0; i < o.depth; i++)
		free(slots[i].data);
	return 0;
}
