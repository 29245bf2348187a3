/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma-core is loaded when it is asked for, and a machine without it, or with a
 * wrong one, gets an answer in words.  Libraries are looked for once a process,
 * so each wrong one is shown to a child of this program, first in its path.
 */
#define _GNU_SOURCE /* dladdr */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prov/verbs/dl.h"

static const char *self;

static void *ask(void *unused)
{
	return (void *)(uintptr_t)rr_rdma_lib();
}

static void every_thread_gets_the_same_table(void **state)
{
	enum { N = 8 };
	pthread_t t[N];
	void *got[N];

	for (unsigned i = 0; i < N; i++)
		assert_int_equal(pthread_create(&t[i], NULL, ask, NULL), 0);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(pthread_join(t[i], &got[i]), 0);
	for (unsigned i = 0; i < N; i++)
		assert_ptr_equal(got[i], rr_rdma_lib());
	if (!rr_rdma_lib()) {
		assert_non_null(strstr(rr_rdma_reason(), "install"));
		print_message("NOT tried, there is no rdma-core: %s\n",
		              rr_rdma_reason());
		skip();
	}
	assert_string_equal(rr_rdma_reason(), "");
}

static void its_functions_are_the_right_ones(void **state)
{
	const struct rr_rdma_lib *lib = rr_rdma_lib();

	if (!lib)
		skip();
	/* These need no device.  Neighbours in the table must differ. */
	assert_string_equal(lib->ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR),
	                    "Work Request Flushed Error");
	assert_string_equal(lib->rdma_event_str(RDMA_CM_EVENT_ESTABLISHED),
	                    "RDMA_CM_EVENT_ESTABLISHED");
	assert_ptr_not_equal(lib->ibv_alloc_pd, lib->ibv_dealloc_pd);
}

/* Runs this program with @file, leading to @target, as the first choice. */
static void child_says(const char *file, const char *target, const char *words)
{
	char dir[] = "/tmp/verbs_dl.XXXXXX", path[128], line[300] = "";
	int out[2];
	pid_t pid;
	int status;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setenv("LD_LIBRARY_PATH", dir, 1);
		dup2(out[1], 1);
		execl(self, self, "why", (char *)NULL);
		_exit(9);
	}
	close(out[1]);
	f = fdopen(out[0], "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unlink(path);
	rmdir(dir);
	if (!strstr(line, words))
		fail_msg("wanted \"%s\", got \"%s\"", words, line);
}

static void a_missing_library_is_named(void **state)
{
	child_says("libibverbs.so.1", "/dev/null", "install rdma-core");
	child_says("libibverbs.so.1", "/dev/null", "no libibverbs.so.1");
	if (!rr_rdma_lib())
		skip();
	child_says("librdmacm.so.1", "/dev/null", "no librdmacm.so.1");
}

static void a_library_without_a_function_is_not_used(void **state)
{
	Dl_info libc;

	assert_true(dladdr((void *)(uintptr_t)&getenv, &libc));
	child_says("libibverbs.so.1", libc.dli_fname, "has no ibv_get_device_list");
	if (!rr_rdma_lib())
		skip();
	child_says("librdmacm.so.1", libc.dli_fname,
	           "has no rdma_create_event_channel");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_thread_gets_the_same_table),
	        cmocka_unit_test(its_functions_are_the_right_ones),
	        cmocka_unit_test(a_missing_library_is_named),
	        cmocka_unit_test(a_library_without_a_function_is_not_used),
	};

	self = argv[0];
	if (argc > 1) { /* a child of child_says() */
		printf("%s: %s\n", rr_rdma_lib() ? "loaded" : "not loaded",
		       rr_rdma_reason());
		return rr_rdma_lib() ? 1 : 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
