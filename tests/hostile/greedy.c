/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that ask for much and take nothing, or little, and one whose Call can never
 * be served: an honest client is served beside them, and the server's memory stays
 * within what it was allowed.
 */
#include "attack.h"

#if defined(__SANITIZE_ADDRESS__)
enum { OWN_MIB = 384 }; /* with what the sanitizer keeps */
#else
enum { OWN_MIB = 96 };
#endif

enum {
	MIB = 1 << 20,
	ALLOWED_MIB = 64,
	TAKERS = 40,
	READS = 31, /* of each, within its credits */
	LONGEST_MS = 15000,
	FOR_MS = 4000,
};

static struct rig r;
static nfs_fh3 file;
static uint8_t data[MIB];

static int begin_with(const char *option, const char *value)
{
	rig_init(&r);
	rig_write_file(&r, "file", data, sizeof(data));
	rig_start(&r, "--connections", "128", option, value, NULL);
	file = rig_walk(&r, "file");
	patient(&r);
	return 0;
}

static int begin(void **state)
{
	return begin_with("--memory", "64M");
}

static int begin_without_reads(void **state)
{
	return begin_with("--provider", "iwarp:ord=0");
}

static int end(void **state)
{
	rig_stop(&r);
	rig_fini(&r);
	return 0;
}

/* A READ of 1 MiB in version 1, with a Write chunk for it. */
static void say_read(struct foe *f, uint32_t xid)
{
	uint32_t w[64] = {xid,
	                  1,
	                  READS,
	                  0,
	                  0,
	                  1,
	                  1,
	                  xid,
	                  MIB,
	                  0,
	                  0,
	                  0,
	                  0,
	                  /* RPC */ xid,
	                  0,
	                  2,
	                  RPCRDMA_NFS_PROGRAM,
	                  3,
	                  NFSPROC3_READ,
	                  /* AUTH_SYS */ 1,
	                  20,
	                  0,
	                  0,
	                  r.uid,
	                  r.gid,
	                  0,
	                  0,
	                  0};
	size_t n = 28, len = file.data.data_len;
	uint8_t padded[NFS3_FHSIZE] = {0};

	memcpy(padded, file.data.data_val, len);
	w[n++] = (uint32_t)len;
	for (size_t i = 0; i < len; i += 4)
		w[n++] = raw_be(padded + i, 4);
	w[n++] = 0; /* offset */
	w[n++] = 0;
	w[n++] = MIB;
	say_words(f, w, n);
}

/* Says what there is and waits for the MPA Reply and the answer to a NULL call: until
 * then a client of version 1 has one credit, and there are Receives for little more. */
static void be_let_in(struct foe *f)
{
	enum { ANSWERED = 24 + 64 };
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	uint8_t bin[512];
	size_t heard = 0;
	ssize_t n = 1;

	SAY(f, 1, 1, READS + 1, 0, 0, 0, 0, 1, 0, 2, RPCRDMA_NFS_PROGRAM, 3, 0, 0, 0, 0,
	    0);
	(void)!send(f->fd, f->out, f->len, MSG_NOSIGNAL);
	f->len = 0;
	while (heard < ANSWERED && n > 0 && poll(&p, 1, 5000) == 1) {
		n = recv(f->fd, bin, sizeof(bin), 0);
		heard += n > 0 ? (size_t)n : 0;
	}
}

static void asks_for_much(struct foe *f, const struct attack *a)
{
	say_request(f);
	say_nothing(f);
	be_let_in(f);
	for (uint32_t i = 0; i < READS; i++)
		say_read(f, 2 + i);
}

static void with(const char *what, unsigned drip_ms)
{
	const struct attack a = {
	        .port = (uint16_t)atoi(r.port),
	        .from = "127.0.0.2",
	        .n = TAKERS,
	        .quiet = true,
	        .deaf = true,
	        .drip_ms = drip_ms,
	        .pause_ms = 20,
	        .prepare = asks_for_much,
	};
	struct honest h = {0};
	pid_t pid = attack(&a, NULL);

	newcomer(&r, &h);
	live(&r, &h, file, FOR_MS);
	attack_end(pid);
	report(what, &r, &h);
	assert_true(h.worst_ms < LONGEST_MS);
	assert_true(h.first_ms < LONGEST_MS);
	assert_true(server_peak(&r) < (size_t)(ALLOWED_MIB + OWN_MIB) * MIB);
}

static void who_never_reads(void **state)
{
	with("31 READs of 1 MiB, nothing taken", 0);
}

static void who_reads_a_little(void **state)
{
	with("31 READs of 1 MiB, taken in small parts", 1000);
}

/* It cannot fetch what the WRITE has: the client that asked is the only one to know. */
static void a_call_that_can_never_be_served(void **state)
{
	char local[128], url[64];
	struct honest h = {0};
	pid_t pid;

	snprintf(local, sizeof(local), "%s", rig_path(&r, "file"));
	snprintf(url, sizeof(url), "nfs://127.0.0.1:%s/exp/copy", r.port);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(rig_tool("cp", "-q", local, url, NULL));
	}
	newcomer(&r, &h);
	live(&r, &h, file, FOR_MS);
	attack_end(pid);
	report("a WRITE that cannot be served", &r, &h);
	assert_true(h.worst_ms < LONGEST_MS);
}

int main(void)
{
#define TEST(f, b) cmocka_unit_test_setup_teardown(f, b, end)
	const struct CMUnitTest tests[] = {
	        TEST(who_never_reads, begin),
	        TEST(who_reads_a_little, begin),
	        TEST(a_call_that_can_never_be_served, begin_without_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
