/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin is loaded, makes a CLIENT and is unloaded.  The thread of the library that
 * serves the handles goes on: its code stays mapped, and the process ends in order.
 *
 *   dlclose LIBRARY
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#include <rpc/rpc.h>

typedef CLIENT *create_fn(const char *, rpcprog_t, rpcvers_t, const void *);
typedef SVCXPRT *serve_fn(const char *, const void *);

static int fail(const char *what)
{
	fprintf(stderr, "dlclose: %s\n", what);
	return 1;
}

int main(int argc, char **argv)
{
	const struct timespec while_the_thread_wakes = {.tv_nsec = 300000000};
	void *lib = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	create_fn *create;
	serve_fn *serve;
	SVCXPRT *xprt;

	if (!lib)
		return fail(dlerror());
	create = (create_fn *)dlsym(lib, "clnt_rdma_create");
	serve = (serve_fn *)dlsym(lib, "svc_rdma_create");
	if (!create || !serve)
		return fail(dlerror());
	/* Both start the thread; nobody listens where the CLIENT is to go. */
	xprt = serve("127.0.0.1:0", NULL);
	if (!xprt)
		return fail("svc_rdma_create failed");
	(void)create("127.0.0.1:1", 1, 1, NULL);
	dlclose(lib);
	/* The thread retries and times out meanwhile. */
	nanosleep(&while_the_thread_wakes, NULL);
	if (!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
		return fail("the library was unloaded beneath its thread");
	puts("dlclose: the library stays while its thread runs");
	return 0;
}
