/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy over several connections through a relay.  All connections carry data, and the
 * copy succeeds although one of them is reset in the middle. */
#include "test_nfsd.h"
#include "test_proxy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 4, SIZE = 96 << 20, PATIENCE_S = 60 };

static struct proxy proxy;

static void make_source(const char *path)
{
	static unsigned char block[1 << 20];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	for (unsigned i = 0; i < SIZE / sizeof(block); i++) {
		for (unsigned j = 0; j < sizeof(block); j++)
			block[j] = (unsigned char)(i * 7 + j % 251);
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	}
	close(fd);
}

static void assert_same_file(const char *a, const char *b)
{
	char command[300];

	snprintf(command, sizeof(command), "cmp '%s' '%s'", a, b);
	assert_int_equal(system(command), 0);
}

static pid_t start_copy(char *src, char *dst)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		execl(RPCRDMA_TOOL, "rpcrdma", "cp", "--connections", "4",
		      "--in-flight", "16", "--size", "64k", src, dst, NULL);
		_exit(127);
	}
	return pid;
}

/* Waits until every connection has relayed @octets, or the copy has ended. */
static bool wait_for_octets(unsigned long octets)
{
	time_t until = time(NULL) + PATIENCE_S;
	struct timespec nap = {.tv_nsec = 1000000};
	unsigned n = 0;

	while (n < CONNECTIONS && time(NULL) < until) {
		nanosleep(&nap, NULL);
		n = 0;
		for (unsigned i = 0; i < PROXY_PAIRS; i++)
			n += atomic_load(&proxy.relayed[i]) >= octets;
	}
	return n >= CONNECTIONS;
}

static void assert_copied(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void copy_with_a_loss(char *src, char *dst)
{
	pid_t pid;

	for (unsigned i = 0; i < PROXY_PAIRS; i++)
		atomic_store(&proxy.relayed[i], 0);
	atomic_store(&proxy.connections, 0);
	pid = start_copy(src, dst);
	assert_true(wait_for_octets(1 << 20));
	atomic_store(&proxy.cut_one, 3);
	assert_copied(pid);
	assert_int_equal(atomic_load(&proxy.connections), CONNECTIONS + 1);
}

static void survives_the_loss_of_one_connection(void **state)
{
	char src[128], back[128], there[128], url[64];
	struct nfsd n;

	(void)state;
	nfsd_init(&n);
	nfsd_start(&n, "--no-root-squash", NULL);
	proxy_start(&proxy, n.port);
	snprintf(src, sizeof(src), "%s/src", n.dir);
	snprintf(back, sizeof(back), "%s/back", n.dir);
	snprintf(there, sizeof(there), "%s/copy", n.exp);
	snprintf(url, sizeof(url), "nfs://127.0.0.1:%s/exp/copy", proxy.port);
	make_source(src);
	copy_with_a_loss(src, url);
	assert_same_file(src, there);
	copy_with_a_loss(url, back);
	assert_same_file(src, back);
	proxy_stop(&proxy);
	unlink(src);
	unlink(back);
	unlink(there);
	nfsd_stop(&n);
	nfsd_fini(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(survives_the_loss_of_one_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
