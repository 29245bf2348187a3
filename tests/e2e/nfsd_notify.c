/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rpcrdma nfsd tells a service manager (sd_notify(3)), which is a socket of this
 * test: that it serves, that it loads its file again, that it ends.
 */
#define _GNU_SOURCE
#include "nfsd/notify.h"
#include "test_nfsd_ask.h"
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAIT_SECONDS = 60 };

static struct nfsd r;
static int manager = -1;
static char file[96], name[112];
static unsigned complaints;

/* For notify.c within this test. */
void tool_log(enum tool_level level, const char *fmt, ...)
{
	complaints++;
}

const char *tool_quote(const char *text)
{
	return text;
}

uint64_t tool_now_ns(void)
{
	return ask_now_ms() * 1000000;
}

static int set_up(void **state)
{
	(void)state;
	nfsd_init(&r);
	snprintf(file, sizeof(file), "%s/exports", r.dir);
	snprintf(name, sizeof(name), "%s/notify", r.dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	if (r.pid)
		nfsd_kill(&r);
	if (manager >= 0)
		close(manager);
	manager = -1;
	nfsd_fini(&r);
	return 0;
}

/* At a path; or, without one, at an abstract name that the kernel chooses. */
static void listen_at(const char *path)
{
	const struct timeval patience = {.tv_sec = WAIT_SECONDS};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(un.sun_family); /* of no name */

	if (path) {
		strncpy(un.sun_path, path, sizeof(un.sun_path) - 1);
		len = sizeof(un);
	}
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(manager >= 0);
	assert_int_equal(bind(manager, (struct sockaddr *)&un, len), 0);
	setsockopt(manager, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	len = sizeof(un);
	assert_int_equal(getsockname(manager, (struct sockaddr *)&un, &len), 0);
	if (!path)
		snprintf(name, sizeof(name), "@%.*s",
		         (int)(len - sizeof(un.sun_family) - 1), un.sun_path + 1);
	setenv("NOTIFY_SOCKET", name, 1);
}

static const char *hear(void)
{
	static char text[1024];
	ssize_t n = recv(manager, text, sizeof(text) - 1, 0);

	if (n < 0)
		fail_msg("nothing was told: %s", strerror(errno));
	text[n] = 0;
	return text;
}

static void hear_reloading(uint64_t since_ms)
{
	unsigned long long us;

	assert_int_equal(sscanf(hear(), "RELOADING=1\nMONOTONIC_USEC=%llu\n", &us), 1);
	assert_true(us / 1000 >= since_ms && us / 1000 <= ask_now_ms());
}

static void write_file(const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void hear_its_life(const char *path)
{
	char line[160];
	uint64_t since;

	snprintf(line, sizeof(line), "%s:/second *(rw)\n", r.state);
	write_file(line);
	listen_at(path);
	nfsd_start(&r, "--exports", file, NULL);
	assert_string_equal(hear(), "READY=1\nSTATUS=Serving 2 exports\n");
	since = ask_now_ms();
	kill(r.pid, SIGHUP);
	hear_reloading(since);
	assert_string_equal(hear(), "READY=1\nSTATUS=Serving 2 exports\n");
	write_file("nonsense\n");
	kill(r.pid, SIGHUP);
	hear_reloading(since);
	assert_string_equal(hear(), "READY=1\nSTATUS=Serving 2 exports; the file of "
	                            "exports was not loaded\n");
	nfsd_stop(&r);
	assert_string_equal(hear(), "STOPPING=1\nSTATUS=Answering the last requests\n");
	assert_int_equal(recv(manager, line, sizeof(line), MSG_DONTWAIT), -1);
}

static void by_path(void **state)
{
	(void)state;
	hear_its_life(name);
}

static void by_abstract_name(void **state)
{
	(void)state;
	hear_its_life(NULL);
}

/* The engine's thread has the identity of the last request, which may do less. */
static void by_the_server_itself(void **state)
{
	fattr3 a;

	(void)state;
	listen_at(name);
	assert_int_equal(chmod(name, 0700), 0);
	nfsd_start(&r, NULL);
	assert_string_equal(hear(), "READY=1\nSTATUS=Serving 1 export\n");
	assert_int_equal(nfsd_getattr(&r, r.root, &a), NFS3_OK);
	nfsd_stop(&r);
	assert_string_equal(hear(), "STOPPING=1\nSTATUS=Answering the last requests\n");
}

static void a_manager_that_is_not_there_is_no_obstacle(void **state)
{
	static const char *const wrong[] = {"/nonexistent/socket", "vsock:2:1234", "@",
	                                    ""};
	fattr3 a;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("NOTIFY_SOCKET", wrong[i], 1);
		nfsd_start(&r, NULL);
		assert_int_equal(nfsd_getattr(&r, r.root, &a), NFS3_OK);
		nfsd_stop(&r);
	}
}

/* Children would speak in the server's name. */
static void the_variable_is_taken_away(void **state)
{
	(void)state;
	listen_at(name);
	notify_init();
	assert_null(getenv("NOTIFY_SOCKET"));
	notify_ready("x");
	assert_string_equal(hear(), "READY=1\nSTATUS=x\n");
	assert_int_equal(complaints, 0);
	close(manager);
	manager = -1;
	notify_stopping("x");
	assert_int_equal(complaints, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(by_path),
	        T(by_abstract_name),
	        T(by_the_server_itself),
	        T(a_manager_that_is_not_there_is_no_obstacle),
	        T(the_variable_is_taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
