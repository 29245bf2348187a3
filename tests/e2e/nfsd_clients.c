/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd --allow and --exports: which client may mount and use an export, from
 * addresses of the loopback network.  connect(2) is wrapped: it binds to @source first.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test_nfsd.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct nfsd r;
static const char *source = "127.0.0.1";
static uint16_t source_port;
static pid_t loader;               /* sends SIGHUP, or 0 */
static char file[128], other[128]; /* the list, and a directory for it */

int __real_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	struct sockaddr_in from = {.sin_family = AF_INET,
	                           .sin_port = htons(source_port)};

	if (to->sa_family != AF_INET ||
	    inet_pton(AF_INET, source, &from.sin_addr) != 1 ||
	    bind(fd, (struct sockaddr *)&from, sizeof(from)))
		abort();
	return __real_connect(fd, to, len);
}

static int init(void **state)
{
	(void)state;
	nfsd_init(&r);
	snprintf(file, sizeof(file), "%s/exports", r.dir);
	snprintf(other, sizeof(other), "%s/other", r.dir);
	assert_int_equal(mkdir(other, 0755), 0);
	assert_int_equal(chown(other, r.uid, r.gid), 0);
	return 0;
}

static void end_loader(void)
{
	if (loader > 0 && !kill(loader, SIGKILL))
		waitpid(loader, NULL, 0);
	loader = 0;
}

static int end(void **state)
{
	(void)state;
	end_loader();
	if (r.pid)
		nfsd_kill(&r);
	source = "127.0.0.1";
	source_port = 0;
	r.uid = geteuid() ? geteuid() : 1000;
	unlink(r.err);
	return 0;
}

static int fini(void **state)
{
	(void)state;
	nfsd_fini(&r);
	return 0;
}

/* From now on the client has this address, on a new connection. */
static void come_from(const char *address)
{
	source = address;
	nfsd_reconnect(&r);
}

/* In one go: it may be being read. */
static void write_list(const char *text)
{
	char tmp[sizeof(file) + 4];
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s.new", file);
	f = fopen(tmp, "w");
	assert_non_null(f);
	fprintf(f, "# the list\n%s", text);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rename(tmp, file), 0);
}

/* SIGHUP; waits for @text. */
static void reload(const char *list, const char *text)
{
	write_list(list);
	assert_int_equal(truncate(r.err, 0), 0);
	assert_int_equal(kill(r.pid, SIGHUP), 0);
	nfsd_wait_printed(&r, text);
}

/* ---- Who may mount ------------------------------------------------------- */

static void a_client_is_let_in_by_its_address(void **state)
{
	nfs_fh3 root;

	(void)state;
	nfsd_start(&r, "--allow", "127.0.0.2", "--allow", "127.0.1.0/24", NULL);
	assert_int_equal(r.root.data.data_len, 0); /* 127.0.0.1 was refused */
	assert_int_equal(nfsd_mount(&r, "/exp", NULL), MNT3ERR_ACCES);
	nfsd_wait_printed(&r, "127.0.0.1 may not mount /exp: Permission denied");
	assert_int_equal(nfsd_mount(&r, "/none", NULL), MNT3ERR_NOENT);
	come_from("127.0.0.2");
	assert_int_equal(nfsd_mount(&r, "/exp", &root), MNT3_OK);
	assert_int_equal(nfsd_create(&r, root, "by-2", NULL), NFS3_OK);
	come_from("127.0.0.3");
	assert_int_equal(nfsd_mount(&r, "/exp", NULL), MNT3ERR_ACCES);
	come_from("127.0.1.3");
	assert_int_equal(nfsd_mount(&r, "/exp", &root), MNT3_OK);
	nfsd_stop(&r);
}

static void nothing_beneath_is_shown_either(void **state)
{
	(void)state;
	assert_int_equal(mkdir(nfsd_path(&r, "sub"), 0755), 0);
	nfsd_start(&r, "--allow", "127.0.0.2", NULL);
	assert_int_equal(nfsd_mount(&r, "/exp/sub", NULL), MNT3ERR_ACCES);
	assert_int_equal(nfsd_mount(&r, "/exp/none", NULL), MNT3ERR_ACCES);
	come_from("127.0.0.2");
	assert_int_equal(nfsd_mount(&r, "/exp/sub", NULL), MNT3_OK);
	assert_int_equal(nfsd_mount(&r, "/exp/none", NULL), MNT3ERR_NOENT);
	nfsd_stop(&r);
}

/* Handles are of no use to whom they were not given. */
static void a_handle_lets_nobody_in(void **state)
{
	nfs_fh3 root, f;
	RENAME3args rename;
	RENAME3res rename_res;
	LINK3args link;
	LINK3res link_res;
	FSINFO3args fsinfo;
	FSINFO3res fsinfo_res;
	ACCESS3args access;
	ACCESS3res access_res;
	char buf[16];

	(void)state;
	source = "127.0.0.2";
	nfsd_start(&r, "--allow", "127.0.0.2", NULL);
	root = nfsd_fh(&r, r.root.data.data_val, r.root.data.data_len);
	assert_int_equal(nfsd_create(&r, root, "f", &f), NFS3_OK);
	assert_int_equal(nfsd_write(&r, f, 0, "abc", 3, FILE_SYNC, NULL), NFS3_OK);
	come_from("127.0.0.1");
	assert_int_equal(nfsd_getattr(&r, root, NULL), NFS3ERR_ACCES);
	nfsd_wait_printed(&r, "127.0.0.1 may not use /exp: Permission denied");
	assert_int_equal(nfsd_getattr(&r, f, NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_lookup(&r, root, "f", NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_create(&r, root, "g", NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_write(&r, f, 0, "x", 1, FILE_SYNC, NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_read(&r, f, 0, buf, 3, false, NULL), -NFS3ERR_ACCES);
	assert_int_equal(nfsd_read(&r, f, 0, buf, 3, true, NULL), -NFS3ERR_ACCES);
	fsinfo.fsroot = root;
	assert_int_equal(NFS(&r, FSINFO, &fsinfo, &fsinfo_res), NFS3ERR_ACCES);
	access.object = root;
	access.access = 1;
	assert_int_equal(NFS(&r, ACCESS, &access, &access_res), NFS3ERR_ACCES);
	rename = (RENAME3args){nfsd_name(root, "f"), nfsd_name(root, "g")};
	assert_int_equal(NFS(&r, RENAME, &rename, &rename_res), NFS3ERR_ACCES);
	link = (LINK3args){f, nfsd_name(root, "g")};
	assert_int_equal(NFS(&r, LINK, &link, &link_res), NFS3ERR_ACCES);
	come_from("127.0.0.2");
	assert_int_equal(nfsd_read(&r, f, 0, buf, 3, false, NULL), 3);
	assert_memory_equal(buf, "abc", 3);
	nfsd_stop(&r);
}

static void a_client_that_may_only_read_changes_nothing(void **state)
{
	ACCESS3args access = {.access = 0x3f};
	ACCESS3res res;

	(void)state;
	nfsd_start(&r, "--allow", "*(rw)", "--allow", "127.0.0.2(ro)", NULL);
	access.object = r.root;
	assert_int_equal(NFS(&r, ACCESS, &access, &res), NFS3_OK);
	assert_int_equal(res.ACCESS3res_u.resok.access & ACCESS3_MODIFY,
	                 ACCESS3_MODIFY);
	assert_int_equal(nfsd_create(&r, r.root, "by-1", NULL), NFS3_OK);
	come_from("127.0.0.2");
	assert_int_equal(nfsd_mount(&r, "/exp", NULL), MNT3_OK);
	assert_int_equal(NFS(&r, ACCESS, &access, &res), NFS3_OK);
	assert_int_equal(res.ACCESS3res_u.resok.access & ACCESS3_MODIFY, 0);
	assert_int_equal(nfsd_create(&r, r.root, "by-2", NULL), NFS3ERR_ROFS);
	nfsd_stop(&r);
	source = "127.0.0.1";
	nfsd_start(&r, "--allow", "*(rw)", "--read-only", NULL);
	assert_int_equal(nfsd_create(&r, r.root, "by-1-again", NULL), NFS3ERR_ROFS);
	nfsd_stop(&r);
}

static uid_t owner_of_new(const char *name)
{
	struct stat st;

	assert_int_equal(nfsd_create(&r, r.root, name, NULL), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, name), &st), 0);
	return st.st_uid;
}

static void squashing_is_the_clients_own(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* all are the server itself */
	assert_int_equal(chmod(r.exp, 0777), 0);
	nfsd_start(&r, "--anonuid", "5", "--allow", "127.0.0.0/8", "--allow",
	           "127.0.0.2(all_squash,anonuid=7)", "--allow",
	           "127.0.0.3(no_root_squash)", NULL);
	assert_int_equal(owner_of_new("user-1"), 1000);
	r.uid = 0;
	assert_int_equal(owner_of_new("root-1"), 5);
	come_from("127.0.0.3");
	assert_int_equal(owner_of_new("root-3"), 0);
	r.uid = 1000;
	come_from("127.0.0.2");
	assert_int_equal(owner_of_new("user-2"), 7);
	nfsd_stop(&r);
	assert_int_equal(chmod(r.exp, 0755), 0);
}

static void secure_asks_for_a_port_of_root(void **state)
{
	(void)state;
	nfsd_start(&r, "--allow", "127.0.0.2(secure)", "--allow", "*(insecure)", NULL);
	assert_int_equal(nfsd_mount(&r, "/exp", NULL), MNT3_OK);
	come_from("127.0.0.2");
	assert_int_equal(nfsd_mount(&r, "/exp", NULL), MNT3ERR_ACCES);
	if (!geteuid()) {
		source_port = (uint16_t)(700 + getpid() % 300);
		nfsd_reconnect(&r);
		assert_int_equal(nfsd_mount(&r, "/exp", NULL), MNT3_OK);
	}
	nfsd_stop(&r);
}

/* ---- showmount -e -------------------------------------------------------- */

static uint32_t word_at(size_t *at)
{
	uint32_t v;

	assert_true(*at + 4 <= r.len);
	memcpy(&v, r.results + *at, 4);
	*at += 4;
	return ntohl(v);
}

/* "/exp:a,b /f:*", of the results of EXPORT. */
static const char *listed(void)
{
	static char buf[1024];
	size_t at = 0, n = 0;
	uint32_t len;

	buf[0] = 0;
	nfsd_call_raw(&r, RPCRDMA_MOUNT_PROGRAM, MOUNTPROC3_EXPORT, NULL, 0);
	assert_int_equal(r.status, RPCRDMA_OK);
	while (word_at(&at)) {
		len = word_at(&at);
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%.*s", n ? " " : "",
		                      (int)len, r.results + at);
		at += (len + 3) / 4 * 4;
		for (char sep = ':'; word_at(&at); sep = ',') {
			len = word_at(&at);
			n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%c%.*s", sep,
			                      (int)len, r.results + at);
			at += (len + 3) / 4 * 4;
		}
	}
	return buf;
}

static void the_list_names_each_exports_clients(void **state)
{
	char list[256];

	(void)state;
	nfsd_start(&r, NULL);
	assert_string_equal(listed(), "/exp"); /* no group: everybody */
	nfsd_stop(&r);
	snprintf(list, sizeof(list), "%s:/f *(rw) 127.0.0.2\n", other);
	write_list(list);
	nfsd_start(&r, "--allow", "127.0.0.0/8(rw)", "--exports", file, NULL);
	assert_string_equal(listed(), "/exp:127.0.0.0/8 /f:*,127.0.0.2");
	nfsd_stop(&r);
}

/* ---- Files --------------------------------------------------------------- */

static const char *line(const char *clients)
{
	static char buf[512];

	snprintf(buf, sizeof(buf), "%s:/f %s\n", other, clients);
	return buf;
}

/* exports(5): who does not say rw may read. */
static void a_file_grants_reading_unless_it_says_more(void **state)
{
	nfs_fh3 f;

	(void)state;
	write_list(line("127.0.0.1 127.0.0.2(rw)"));
	nfsd_start(&r, "--exports", file, NULL);
	assert_int_equal(nfsd_mount(&r, "/f", &f), MNT3_OK);
	assert_int_equal(nfsd_create(&r, f, "1", NULL), NFS3ERR_ROFS);
	assert_int_equal(nfsd_create(&r, r.root, "cli", NULL), NFS3_OK);
	come_from("127.0.0.2");
	assert_int_equal(nfsd_create(&r, f, "2", NULL), NFS3_OK);
	come_from("127.0.0.3");
	assert_int_equal(nfsd_mount(&r, "/f", NULL), MNT3ERR_ACCES);
	assert_int_equal(nfsd_mount(&r, "/exp", NULL), MNT3_OK);
	nfsd_stop(&r);
}

static void a_broken_or_missing_file_starts_nothing(void **state)
{
	(void)state;
	write_list(line("127.0.0.1(bogus)"));
	assert_int_equal(nfsd_tool("nfsd", "--exports", file, "--listen", "127.0.0.1:0",
	                           "--state-dir", r.state, NULL),
	                 1);
	assert_int_equal(nfsd_tool("nfsd", "--exports", "/no/such", "--listen",
	                           "127.0.0.1:0", NULL),
	                 1);
	write_list("/no/such *\n");
	assert_int_equal(nfsd_tool("nfsd", "--exports", file, "--listen", "127.0.0.1:0",
	                           "--state-dir", r.state, NULL),
	                 1);
	write_list(line("127.0.0.1"));
	assert_int_equal(nfsd_tool("nfsd", "--exports", file, "--allow", "*",
	                           "--listen", "127.0.0.1:0", NULL),
	                 2);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--allow", "*(bogus)",
	                           "--listen", "127.0.0.1:0", NULL),
	                 2);
}

static void an_unknown_host_is_told_and_matches_nobody(void **state)
{
	(void)state;
	write_list(line("no-such-host.invalid(rw) 127.0.0.2"));
	nfsd_start(&r, "--exports", file, NULL);
	nfsd_wait_printed(&r,
	                  "exports:2: client 'no-such-host.invalid' matches no host");
	assert_int_equal(nfsd_mount(&r, "/f", NULL), MNT3ERR_ACCES);
	nfsd_stop(&r);
}

static void sighup_loads_the_file_again(void **state)
{
	nfs_fh3 f, root = {.data = {0, NULL}};

	(void)state;
	write_list(line("127.0.0.1"));
	nfsd_start(&r, "--exports", file, NULL);
	assert_int_equal(nfsd_mount(&r, "/f", &f), MNT3_OK);
	assert_int_equal(nfsd_create(&r, f, "a", NULL), NFS3ERR_ROFS);
	root = nfsd_fh(&r, r.root.data.data_val, r.root.data.data_len);
	/* The same connection, handles and all. */
	reload(line("127.0.0.1(rw)"), "was loaded");
	assert_int_equal(nfsd_create(&r, f, "a", NULL), NFS3_OK);
	reload(line("127.0.0.2(rw)"), "was loaded");
	assert_int_equal(nfsd_create(&r, f, "b", NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_getattr(&r, f, NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_mount(&r, "/f", NULL), MNT3ERR_ACCES);
	/* What the command line exports is not the file's. */
	assert_int_equal(nfsd_getattr(&r, root, NULL), NFS3_OK);
	nfsd_stop(&r);
}

static void an_export_that_goes_leaves_stale_handles_until_it_is_back(void **state)
{
	nfs_fh3 f, g;

	(void)state;
	write_list(line("*(rw)"));
	nfsd_start(&r, "--exports", file, NULL);
	assert_int_equal(nfsd_mount(&r, "/f", &f), MNT3_OK);
	assert_int_equal(nfsd_create(&r, f, "kept", &g), NFS3_OK);
	reload("", "was loaded");
	assert_int_equal(nfsd_getattr(&r, f, NULL), NFS3ERR_STALE);
	assert_int_equal(nfsd_getattr(&r, g, NULL), NFS3ERR_STALE);
	assert_int_equal(nfsd_write(&r, g, 0, "x", 1, FILE_SYNC, NULL), NFS3ERR_STALE);
	assert_int_equal(nfsd_mount(&r, "/f", NULL), MNT3ERR_NOENT);
	assert_string_equal(listed(), "/exp");
	reload(line("*"), "was loaded");
	assert_int_equal(nfsd_getattr(&r, g, NULL), NFS3_OK);
	assert_string_equal(listed(), "/exp /f:*");
	nfsd_stop(&r);
}

static void a_broken_file_leaves_the_old_lists_in_force(void **state)
{
	static const struct {
		const char *clients, *why;
	} t[] = {
	        {"127.0.0.1(rw) 127.0.0.3(bogus)", "exports:2: unknown option 'bogus'"},
	        {"127.0.0.1(rw)\n/no/such *", "exports:3: cannot export /no/such"},
	        {"127.0.0.1(rw)\n/tmp:/f *", "exports:3: two exports have the name /f"},
	        {"127.0.0.1(rw)\n/tmp:/exp *",
	         "exports:3: two exports have the name /exp"},
	        {"127.0.0.1(rw,sec=krb5)", "exports:2: '127.0.0.1' needs Kerberos"},
	        {"127.0.0.1(rw) \"", "exports:2: a quote"},
	};
	nfs_fh3 f;

	(void)state;
	write_list(line("127.0.0.1"));
	nfsd_start(&r, "--exports", file, NULL);
	assert_int_equal(nfsd_mount(&r, "/f", &f), MNT3_OK);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		reload(line(t[i].clients),
		       "was not loaded: the previous exports stay in effect");
		if (!nfsd_printed(&r, t[i].why))
			fail_msg("it did not say '%s'", t[i].why);
		assert_int_equal(nfsd_create(&r, f, "a", NULL), NFS3ERR_ROFS);
		assert_string_equal(listed(), "/exp /f:127.0.0.1");
	}
	assert_int_equal(unlink(file), 0);
	assert_int_equal(truncate(r.err, 0), 0);
	assert_int_equal(kill(r.pid, SIGHUP), 0);
	nfsd_wait_printed(&r, "was not loaded");
	assert_int_equal(nfsd_mount(&r, "/f", NULL), MNT3_OK);
	reload(line("127.0.0.1(rw)"), "was loaded");
	assert_int_equal(nfsd_create(&r, f, "b", NULL), NFS3_OK);
	nfsd_stop(&r);
}

/* Another process has it loaded again and again, and from list to list. */
static void load_all_the_time(const char *const lists[2])
{
	pid_t pid = loader = fork();

	assert_true(pid >= 0);
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; !kill(r.pid, SIGHUP); i++) {
		write_list(lists[i % 2]);
		usleep(3000);
	}
	_exit(0); /* the server is gone */
}

static void clients_go_on_while_it_is_loaded(void **state)
{
	char text[2][256];
	const char *const lists[2] = {text[0], text[1]};
	nfs_fh3 f, kept, g;

	(void)state;
	snprintf(text[0], sizeof(text[0]), "%s:/f *(rw)\n", other);
	snprintf(text[1], sizeof(text[1]), "%s:/f 127.0.0.1(rw)\n%s:/g *\n", other,
	         r.dir);
	write_list(text[1]);
	nfsd_start(&r, "--exports", file, NULL);
	assert_int_equal(nfsd_mount(&r, "/f", &f), MNT3_OK);
	assert_int_equal(nfsd_mount(&r, "/g", &g), MNT3_OK);
	assert_int_equal(nfsd_create(&r, f, "loaded", &kept), NFS3_OK);
	load_all_the_time(lists);
	for (int i = 0; i < 1000; i++) {
		nfsstat3 other_one = nfsd_getattr(&r, g, NULL);
		mountstat3 mounted = nfsd_mount(&r, "/g", NULL);

		assert_int_equal(nfsd_getattr(&r, kept, NULL), NFS3_OK);
		assert_int_equal(nfsd_write(&r, kept, 0, "x", 1, UNSTABLE, NULL),
		                 NFS3_OK);
		assert_true(other_one == NFS3_OK || other_one == NFS3ERR_STALE);
		assert_true(mounted == MNT3_OK || mounted == MNT3ERR_NOENT);
	}
	end_loader();
	assert_true(nfsd_printed(&r, "was loaded"));
	nfsd_stop(&r);
}

/* Each load costs nothing that stays. */
static void it_can_be_loaded_for_ever(void **state)
{
	char list[2][256];
	nfs_fh3 f;

	(void)state;
	snprintf(list[0], sizeof(list[0]), "%s:/f *\n", other);
	snprintf(list[1], sizeof(list[1]), "%s:/f *\n%s:/g *(rw)\n", other, r.dir);
	write_list(list[0]);
	nfsd_start(&r, "--exports", file, NULL);
	for (int i = 1; i < 300; i++)
		reload(list[i % 2], "was loaded");
	assert_int_equal(nfsd_mount(&r, "/f", &f), MNT3_OK);
	assert_int_equal(nfsd_mount(&r, "/g", NULL), MNT3_OK);
	nfsd_stop(&r);
}

/* Without a file to load it is the end of a terminal. */
static void sighup_ends_a_server_without_file(void **state)
{
	int status;

	(void)state;
	nfsd_start(&r, NULL);
	assert_int_equal(kill(r.pid, SIGHUP), 0);
	assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	r.pid = fork(); /* for nfsd_fini() */
	if (!r.pid)
		for (;;)
			pause();
	nfsd_kill(&r);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, end)
	const struct CMUnitTest tests[] = {
	        T(a_client_is_let_in_by_its_address),
	        T(nothing_beneath_is_shown_either),
	        T(a_handle_lets_nobody_in),
	        T(a_client_that_may_only_read_changes_nothing),
	        T(squashing_is_the_clients_own),
	        T(secure_asks_for_a_port_of_root),
	        T(the_list_names_each_exports_clients),
	        T(a_file_grants_reading_unless_it_says_more),
	        T(a_broken_or_missing_file_starts_nothing),
	        T(an_unknown_host_is_told_and_matches_nobody),
	        T(sighup_loads_the_file_again),
	        T(an_export_that_goes_leaves_stale_handles_until_it_is_back),
	        T(a_broken_file_leaves_the_old_lists_in_force),
	        T(clients_go_on_while_it_is_loaded),
	        T(it_can_be_loaded_for_ever),
	        T(sighup_ends_a_server_without_file),
	};

	return cmocka_run_group_tests(tests, init, fini);
}
