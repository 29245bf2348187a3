/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_scene.h"

struct nfsd scene_server;
nfs_fh3 scene_file;

/* -- the honest client ----------------------------------------------------- */

/* Replaces the connection of struct nfsd, which fails the test when it is lost, by one that
 * connects again: the server may evict an idle connection. */
static void honest_reconnect(struct nfsd *r)
{
	rpcrdma_conn_close(r->conn);
	assert_int_equal(rpcrdma_connect(r->engine, "127.0.0.1", r->port, NULL, NULL,
	                                 NULL, &r->conn),
	                 0);
}

static double ms_since(uint64_t t)
{
	return (double)(raw_now() - t) / 1e6;
}

static void ping(struct nfsd *r, struct honest *h)
{
	uint64_t t = raw_now();
	double ms;

	nfsd_call_raw(r, RPCRDMA_NFS_PROGRAM, 0, NULL, 0);
	assert_int_equal(r->status, RPCRDMA_OK);
	ms = ms_since(t);
	h->worst_ms = ms > h->worst_ms ? ms : h->worst_ms;
	h->calls++;
}

/* Makes NULL calls and READs for @ms. */
static void honest_work(struct nfsd *r, struct honest *h, nfs_fh3 file, unsigned ms)
{
	static uint8_t buf[64 << 10];
	uint64_t t, end = raw_now() + (uint64_t)ms * RAW_MS;
	bool eof;

	while (raw_now() < end) {
		for (unsigned i = 0; i < 8; i++) {
			ping(r, h);
			poll(NULL, 0, 5);
		}
		t = raw_now();
		assert_int_equal(nfsd_read(r, file, 0, buf, sizeof(buf), true, &eof),
		                 sizeof(buf));
		h->read_ms = ms_since(t) > h->read_ms ? ms_since(t) : h->read_ms;
	}
}

static void newcomer_done(struct rpcrdma_call *k, const struct rpcrdma_reply *rep,
                          void *arg)
{
	*(int *)arg = rep->status;
}

/* Measures the first call of a new client. */
static void honest_newcomer(const struct nfsd *r, struct honest *h)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_engine *e;
	struct rpcrdma_conn *c;
	uint64_t t = raw_now();
	int status = -1;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	assert_int_equal(rpcrdma_connect(e, "127.0.0.1", r->port, NULL, NULL, NULL, &c),
	                 0);
	o.program = RPCRDMA_NFS_PROGRAM;
	o.version = 3;
	o.done = newcomer_done;
	o.arg = &status;
	assert_int_equal(rpcrdma_call(c, &o, NULL), 0);
	while (status == -1 && ms_since(t) < RAW_HANG_MS)
		assert_int_equal(rpcrdma_engine_process(e, 50), 0);
	assert_int_equal(status, 0);
	h->first_ms = ms_since(t) > h->first_ms ? ms_since(t) : h->first_ms;
	rpcrdma_conn_close(c);
	for (int i = 0; i < 100 && !rpcrdma_engine_idle(e); i++)
		rpcrdma_engine_process(e, 20);
	rpcrdma_engine_free(e);
}

/* Returns the server's greatest resident size so far, in octets. */
static size_t server_peak(const struct nfsd *r)
{
	char path[64], line[128];
	size_t kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)r->pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %zu", &kib) == 1)
			break;
	fclose(f);
	assert_true(kib);
	return kib << 10;
}

static void honest_report(const char *what, const struct nfsd *r,
                          const struct honest *h)
{
	print_message("%-40s %5u calls, worst %6.1f ms, READ %6.1f ms; a new client "
	              "%6.1f ms; "
	              "server's peak %zu MiB\n",
	              what, h->calls, h->worst_ms, h->read_ms, h->first_ms,
	              server_peak(r) >> 20);
}

/* -- the scene ------------------------------------------------------------- */

int scene_begin(size_t file_bytes, const char *connections, const char *memory)
{
	void *data = calloc(1, file_bytes);

	assert_non_null(data);
	nfsd_init(&scene_server);
	nfsd_write_file(&scene_server, "file", data, file_bytes);
	free(data);
	nfsd_start(&scene_server, "--connections", connections,
	           memory ? "--memory" : NULL, memory, NULL);
	scene_file = nfsd_walk(&scene_server, "file");
	honest_reconnect(&scene_server);
	return 0;
}

int scene_end(void **state)
{
	nfsd_stop(&scene_server);
	nfsd_fini(&scene_server);
	return 0;
}

struct honest scene_attack(const char *what, struct attack a,
                           void (*again)(struct foe *, const struct attack *),
                           unsigned visits, unsigned ms)
{
	struct honest h = {0};
	pid_t pid;

	a.port = (uint16_t)atoi(scene_server.port);
	pid = attack_begin(&a, again);
	while (visits--) {
		honest_newcomer(&scene_server, &h);
		honest_work(&scene_server, &h, scene_file, ms);
	}
	attack_end(pid);
	honest_report(what, &scene_server, &h);
	return h;
}

void expect_service_within_memory(struct honest h, double longest_ms)
{
	assert_true(h.worst_ms < longest_ms);
	assert_true(h.first_ms < longest_ms);
	assert_true(server_peak(&scene_server) < (size_t)(ALLOWED_MIB + OWN_MIB) * MIB);
}

void foe_add_read(struct foe *f, uint32_t xid, uint32_t credits)
{
	uint32_t w[64] = {xid, 1, credits, 0, 0, 1, 1, xid, MIB, 0, 0, 0, 0};
	size_t n = 13;

	n += put_nfs_call(w + n, &scene_server, xid, NFSPROC3_READ, &scene_file);
	w[n++] = 0; /* offset */
	w[n++] = 0;
	w[n++] = MIB;
	foe_add_words(f, w, n);
}
