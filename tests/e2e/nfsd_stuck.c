/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd with two exports, of which one lies in a file system that does not
 * answer (preload/stuck_fs.c).  The other one is served, the server ends, and what
 * waited is served when the file system answers again.
 */
#define _GNU_SOURCE
#include "test_nfsd_ask.h"
#include "test_proxy.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PROMPT_MS = 5000, /* an answer that waits for nobody, on a busy machine */
	WAIT_MS = 30000,  /* ... and one that may wait for its turn */
	A_WHILE_MS = 300, /* for what must not be answered */
	WRITES = 8,       /* more than there are threads */
	MAX_IO = 1 << 20,
	FLOOD = 40,
};

static struct nfsd r;
static struct rpcrdma_conn *other; /* a connection for the stuck export */
static char dir[128], flag[128], stats[128];
static nfs_fh3 stuck; /* its root */

static void stick(void)
{
	int fd = open(flag, O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static void unstick(void)
{
	(void)unlink(flag);
}

static void start(const char *memory)
{
	char export[160];

	snprintf(export, sizeof(export), "%s:/stuck", dir);
	r.preload = STUCK_FS;
	r.preload_flag = flag;
	nfsd_start(&r, "--export", export, "--stats-on-exit", stats, "--memory", memory,
	           "--threads", "4", "--mount-port", "0", NULL);
	assert_int_equal(nfsd_mount(&r, "/stuck", &stuck), MNT3_OK);
	other = ask_connect(&r, r.port);
}

static int set_up(void **state)
{
	(void)state;
	nfsd_init(&r);
	snprintf(dir, sizeof(dir), "%s/stuck", r.dir);
	snprintf(flag, sizeof(flag), "%s/flag", r.dir);
	snprintf(stats, sizeof(stats), "%s/stats", r.dir);
	assert_int_equal(mkdir(dir, 0777), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	setenv("STUCK_DIR", dir, 1);
	setenv("STUCK_WHILE", flag, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unstick();
	if (r.pid)
		kill(r.pid, SIGKILL);
	unsetenv("STUCK_REMOTE");
	nfsd_fini(&r);
	return 0;
}

static void stop(void)
{
	rpcrdma_conn_close(other);
	nfsd_stop(&r);
}

/* -- what waits ------------------------------------------------------------ */

static struct ask writes[WRITES], create, commit, removal, lookup;
static const char data[] = "eightoct";

static void ask_stuck(nfs_fh3 fh)
{
	CREATE3args c = {nfsd_name(stuck, "new"), {.mode = UNCHECKED}};
	REMOVE3args rm = {nfsd_name(stuck, "old")};
	LOOKUP3args l = {nfsd_name(stuck, "never-seen")};
	COMMIT3args co = {.file = fh};

	for (unsigned i = 0; i < WRITES; i++) {
		WRITE3args w = {.file = fh,
		                .offset = 8 * i,
		                .count = 8,
		                .stable = i & 1 ? FILE_SYNC : UNSTABLE,
		                .data_len = 8};

		ask_send(&r, other, &writes[i], NFSPROC3_WRITE, XDR_OF(WRITE3args), &w,
		         data, 8);
	}
	ASK(&r, other, &create, CREATE, &c);
	ASK(&r, other, &removal, REMOVE, &rm);
	ASK(&r, other, &lookup, LOOKUP, &l);
	ASK(&r, other, &commit, COMMIT, &co);
	assert_false(ask_wait(&r, &writes[0], A_WHILE_MS));
}

static void expect_served(void)
{
	char got[8 * WRITES];
	char path[256];
	int fd;

	for (unsigned i = 0; i < WRITES; i++) {
		assert_true(ask_wait(&r, &writes[i], WAIT_MS));
		assert_int_equal(ask_stat(&writes[i]), NFS3_OK);
	}
	assert_true(ask_wait(&r, &create, WAIT_MS));
	assert_int_equal(ask_stat(&create), NFS3_OK);
	assert_true(ask_wait(&r, &removal, WAIT_MS));
	assert_int_equal(ask_stat(&removal), NFS3_OK);
	assert_true(ask_wait(&r, &lookup, WAIT_MS));
	assert_int_equal(ask_stat(&lookup), NFS3ERR_NOENT);
	assert_true(ask_wait(&r, &commit, WAIT_MS));
	assert_int_equal(ask_stat(&commit), NFS3_OK);
	snprintf(path, sizeof(path), "%s/f", dir);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got)), sizeof(got));
	for (unsigned i = 0; i < WRITES; i++)
		assert_memory_equal(got + 8 * i, data, 8);
	close(fd);
}

/* -- the healthy export ---------------------------------------------------- */

static uint64_t worst_ms;

static void prompt(uint64_t since)
{
	uint64_t ms = ask_now_ms() - since;

	if (ms > worst_ms)
		worst_ms = ms;
	assert_true(ms < PROMPT_MS);
}

/* One of everything, all of them promptly. */
static void use_healthy(unsigned i)
{
	uint64_t t = ask_now_ms();
	WRITE3resok ok;
	char name[32], buf[8];
	nfs_fh3 fh;
	bool eof;

	snprintf(name, sizeof(name), "healthy%u", i);
	nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_NULL, NULL, 0);
	assert_int_equal(r.status, RPCRDMA_OK);
	prompt(t);
	assert_int_equal(nfsd_lookup(&r, r.root, name, NULL), NFS3ERR_NOENT);
	prompt(t);
	assert_int_equal(nfsd_create(&r, r.root, name, &fh), NFS3_OK);
	prompt(t);
	assert_int_equal(nfsd_write(&r, fh, 0, data, 8, FILE_SYNC, &ok), NFS3_OK);
	prompt(t);
	assert_int_equal(nfsd_read(&r, fh, 0, buf, 8, false, &eof), 8);
	prompt(t);
	assert_int_equal(nfsd_getattr(&r, fh, NULL), NFS3_OK);
	prompt(t);
}

static void run_tools(void)
{
	char url[64], from[160], to[96];
	uint64_t t = ask_now_ms();

	snprintf(url, sizeof(url), "nfs://127.0.0.1:%s/exp/", r.port);
	snprintf(from, sizeof(from), "%s", nfsd_path(&r, "healthy0"));
	snprintf(to, sizeof(to), "%scopied", url);
	assert_int_equal(nfsd_tool("ls", url, NULL), 0);
	assert_int_equal(nfsd_tool("cp", from, to, NULL), 0);
	snprintf(url, sizeof(url), "127.0.0.1:%s", r.port);
	assert_int_equal(nfsd_tool("ping", "-c", "1", url, NULL), 0);
	assert_true(ask_now_ms() - t < 3 * PROMPT_MS);
}

static nfs_fh3 open_stuck_file(void)
{
	nfs_fh3 fh, old;
	WRITE3resok ok;

	assert_int_equal(nfsd_create(&r, stuck, "f", &fh), NFS3_OK);
	assert_int_equal(nfsd_create(&r, stuck, "old", &old), NFS3_OK);
	assert_int_equal(nfsd_write(&r, fh, 0, "x", 1, FILE_SYNC, &ok), NFS3_OK);
	return fh;
}

static void others_are_served(void)
{
	nfs_fh3 fh;

	start("16M");
	assert_int_equal(chmod(r.exp, 0777), 0); /* for the tools, who may be root */
	fh = open_stuck_file();
	stick();
	ask_stuck(fh);
	for (unsigned i = 0; i < 10; i++)
		use_healthy(i);
	run_tools();
	/* What is known of the stuck one is told, too. */
	assert_int_equal(nfsd_mount(&r, "/stuck", NULL), MNT3_OK);
	if (!getenv("STUCK_REMOTE"))
		assert_int_equal(nfsd_getattr(&r, fh, NULL), NFS3_OK);
	assert_false(writes[0].done);
	printf("worst latency of the other export: %llu ms\n",
	       (unsigned long long)worst_ms);
	unstick();
	expect_served();
	stop();
}

static void a_stuck_file_system_stops_only_itself(void **state)
{
	(void)state;
	others_are_served();
}

/* Even its attributes must be asked for. */
static void a_remote_one_stops_only_itself(void **state)
{
	(void)state;
	setenv("STUCK_REMOTE", "1", 1);
	others_are_served();
}

/* The other export's directory is not opened for it. */
static void names_across_exports_are_refused_promptly(void **state)
{
	RENAME3args a;
	RENAME3res res;
	uint64_t t;

	(void)state;
	start("16M");
	stick();
	t = ask_now_ms();
	a = (RENAME3args){nfsd_name(r.root, "a"), nfsd_name(stuck, "b")};
	assert_int_equal(NFS(&r, RENAME, &a, &res), NFS3ERR_XDEV);
	assert_true(ask_now_ms() - t < PROMPT_MS);
	unstick();
	stop();
}

/* -- memory ---------------------------------------------------------------- */

/* READs of 1 MiB each of a file that is not open: half of the memory is soon asked for.
 */
static void a_full_queue_says_come_back_later(void **state)
{
	static struct ask asks[FLOOD];
	unsigned later = 0;
	struct ask *last = &asks[FLOOD - 1];
	nfs_fh3 fh;

	(void)state;
	setenv("STUCK_REMOTE", "1", 1);
	start("16M");
	fh = open_stuck_file();
	stick();
	for (unsigned i = 0; i < FLOOD; i++) {
		READ3args a = {.file = fh, .offset = 0, .count = MAX_IO};

		ASK(&r, other, &asks[i], READ, &a);
	}
	assert_true(ask_wait(&r, last, WAIT_MS));
	assert_int_equal(ask_stat(last), NFS3ERR_JUKEBOX);
	assert_true(nfsd_printed(&r, "/stuck: the file system does not answer"));
	assert_false(asks[0].done);
	use_healthy(0);
	unstick();
	for (unsigned i = 0; i < FLOOD; i++) {
		assert_true(ask_wait(&r, &asks[i], WAIT_MS));
		if (ask_stat(&asks[i]) == NFS3ERR_JUKEBOX)
			later++;
		else
			assert_int_equal(ask_stat(&asks[i]), NFS3_OK);
	}
	printf("%u of %u were told to come back later\n", later, (unsigned)FLOOD);
	assert_true(later >= 1 && later < FLOOD - 4);
	stop();
}

/* -- MOUNT over TCP -------------------------------------------------------- */

static void mount_over_tcp_waits_only_so_long(void **state)
{
	char sub[160];
	uint64_t t;
	int fd;

	(void)state;
	start("16M");
	snprintf(sub, sizeof(sub), "%s/sub", dir);
	assert_int_equal(mkdir(sub, 0755), 0);
	fd = ask_tcp_connect(&r);
	assert_int_equal(ask_tcp_mount(&r, fd, "/stuck/sub"), MNT3_OK);
	stick();
	t = ask_now_ms();
	assert_int_equal(ask_tcp_mount(&r, fd, "/stuck/sub"), -1);
	for (unsigned i = 0; i < 5; i++) /* it is not asked again */
		assert_int_equal(ask_tcp_mount(&r, fd, "/stuck/sub"), -1);
	assert_true(ask_now_ms() - t < PROMPT_MS + 2000);
	assert_int_equal(ask_tcp_mount(&r, fd, "/exp"), MNT3_OK);
	assert_int_equal(ask_tcp_mount(&r, fd, "/stuck"), MNT3_OK);
	unstick();
	t = ask_now_ms();
	while (ask_tcp_mount(&r, fd, "/stuck/sub") && ask_now_ms() - t < WAIT_MS)
		usleep(10000);
	assert_int_equal(ask_tcp_mount(&r, fd, "/stuck/sub"), MNT3_OK);
	close(fd);
	stop();
}

/* -- a connection that is lost meanwhile ----------------------------------- */

static unsigned long counter(const char *key)
{
	static char text[32768];
	int fd = open(stats, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *at;

	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, key);
	assert_non_null(at);
	return strtoul(at + strlen(key), NULL, 10);
}

static bool now(void *arg)
{
	(void)arg;
	return true;
}

/* Its client sends it again: it is not executed once more, after what came later. */
static void a_stuck_write_is_executed_once(void **state)
{
	static struct proxy proxy;
	struct rpcrdma_conn *c;
	struct ask *w = &writes[0];
	uint64_t until;
	nfs_fh3 fh;

	(void)state;
	start("16M");
	proxy_start(&proxy, r.port);
	c = ask_connect(&r, proxy.port);
	fh = open_stuck_file();
	stick();
	ask_send(&r, c, w, NFSPROC3_WRITE, XDR_OF(WRITE3args),
	         &(WRITE3args){.file = fh, .count = 8, .data_len = 8}, data, 8);
	assert_false(ask_wait(&r, w, A_WHILE_MS));
	proxy_arm(&proxy, now, NULL);
	until = ask_now_ms() + WAIT_MS;
	while (atomic_load(&proxy.connections) < 2 && ask_now_ms() < until)
		(void)ask_wait(&r, w, 10);
	assert_false(ask_wait(&r, w, A_WHILE_MS));
	unstick();
	assert_true(ask_wait(&r, w, WAIT_MS));
	assert_int_equal(ask_stat(w), NFS3_OK);
	rpcrdma_conn_close(c);
	stop();
	proxy_stop(&proxy);
	assert_int_equal(counter("\"WRITE\":{\"calls\":"), 2); /* one was before */
	assert_int_equal(counter("\"cache_waits\":"), 1);
}

/* -- the end --------------------------------------------------------------- */

static bool says(const char *path, const char *words)
{
	static char text[16384];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return strstr(text, words) != NULL;
}

static void sigterm_waits_for_no_file_system(void **state)
{
	uint64_t t;
	int status = 0;
	nfs_fh3 fh;

	(void)state;
	start("16M");
	fh = open_stuck_file();
	stick();
	ask_stuck(fh);
	t = ask_now_ms();
	assert_int_equal(kill(r.pid, SIGTERM), 0);
	while (!waitpid(r.pid, &status, WNOHANG)) {
		assert_true(ask_now_ms() - t < 4 * PROMPT_MS);
		assert_int_equal(rpcrdma_engine_process(r.engine, 50), 0);
	}
	r.pid = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_true(says(r.err, "does not answer"));
	assert_true(says(r.err, dir));
	assert_true(says(stats, "\"transport\""));
	rpcrdma_conn_close(other);
	rpcrdma_conn_close(r.conn);
	for (int i = 0; i < 100 && !rpcrdma_engine_idle(r.engine); i++)
		rpcrdma_engine_process(r.engine, 20);
	rpcrdma_engine_free(r.engine);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(a_stuck_file_system_stops_only_itself),
	        T(a_remote_one_stops_only_itself),
	        T(names_across_exports_are_refused_promptly),
	        T(a_full_queue_says_come_back_later),
	        T(mount_over_tcp_waits_only_so_long),
	        T(a_stuck_write_is_executed_once),
	        T(sigterm_waits_for_no_file_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
