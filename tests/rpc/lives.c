/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles that come and go a thousand times leave neither descriptors nor memory
 * behind, however they end: CLIENTs that made calls, CLIENTs without a server, and
 * SVCXPRTs with clients.
 */
#include "rig.h"

#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define VOID ((xdrproc_t)(void (*)(void))xdr_void)

/* What is there after the first tenth is there after the rest. */
enum { MANY = 1000, WARM = MANY / 10, SLACK = 256 << 10 };

static struct rig rig;
static char dead[32];

/* Of the address sanitizer, where there is one. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t memory(void)
{
	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void a_call(void)
{
	char octets[3000] = {0};
	blob_args a = {.id = 7, .data = {sizeof(octets), octets}, .tail = 3};
	CLIENT *c = rig_client(&rig, NULL);
	blob_res *r = blob_echo_1(&a, c);

	assert_non_null(r);
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_res, r));
	clnt_destroy(c);
}

static void a_call_that_times_out(void)
{
	const struct timeval none = {.tv_usec = 1};
	CLIENT *c = rig_client(&rig, NULL);

	(void)clnt_call(c, BLOB_NULL, VOID, NULL, VOID, NULL, none);
	clnt_destroy(c);
}

static void no_server(void)
{
	assert_null(clnt_rdma_create(dead, BLOB_PROG, BLOB_VERS, NULL));
}

/* A server's end; its client makes it have a connection. */
static void a_server(void)
{
	SVCXPRT *x = svc_rdma_create("127.0.0.1:0", NULL);
	char address[32];
	CLIENT *c;

	assert_non_null(x);
	snprintf(address, sizeof(address), "127.0.0.1:%u", x->xp_port);
	c = clnt_rdma_create(address, BLOB_PROG, BLOB_VERS, NULL);
	assert_non_null(c);
	svc_destroy(x);
	clnt_destroy(c);
}

/* Connections are closed in the library's own time. */
static unsigned settled(unsigned most)
{
	time_t stop = time(NULL) + 30;

	while (descriptors() > most && time(NULL) < stop)
		usleep(10000);
	return descriptors();
}

static void leaves_nothing(void (*one)(void))
{
	unsigned fds;
	size_t bytes;

	for (int i = 0; i < 3; i++)
		one();
	usleep(100000);
	fds = descriptors();
	for (int i = 0; i < WARM; i++)
		one();
	assert_true(settled(fds) <= fds);
	bytes = memory();
	for (int i = WARM; i < MANY; i++)
		one();
	assert_true(settled(fds) <= fds);
	if (memory() > bytes + SLACK)
		fail_msg("%zu octets more", memory() - bytes);
}

static void clients_that_call(void **state)
{
	leaves_nothing(a_call);
}

static void clients_that_give_up(void **state)
{
	leaves_nothing(a_call_that_times_out);
}

static void clients_without_a_server(void **state)
{
	leaves_nothing(no_server);
}

static void servers(void **state)
{
	leaves_nothing(a_server);
}

static int begin(void **state)
{
	SVCXPRT *x = svc_rdma_create("127.0.0.1:0", NULL);

	if (!x)
		return -1;
	snprintf(dead, sizeof(dead), "127.0.0.1:%u", x->xp_port);
	svc_destroy(x); /* nobody listens there any more */
	rig_start(&rig);
	return 0;
}

static int finish(void **state)
{
	return rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(clients_that_call),
	        cmocka_unit_test(clients_that_give_up),
	        cmocka_unit_test(clients_without_a_server),
	        cmocka_unit_test(servers),
	};

	return cmocka_run_group_tests(tests, begin, finish);
}
