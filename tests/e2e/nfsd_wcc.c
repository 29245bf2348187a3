/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd: what clients that cache are told.  Two of them work in one directory,
 * or on one file, at once; each changes what it has cached as Linux does: attributes
 * before that equal its own mean that the attributes after are its own work, others
 * that all it has is to be read again.  At rest a cache whose attributes are the
 * server's must be the truth.  preload/stuck_fs.c stretches each change, so that they
 * meet. [RFC 1813 §2.6]
 */
#define _GNU_SOURCE
#include "test_nfsd_ask.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLIENTS = 2, ROUNDS = 40, NAMES = 2 * ROUNDS, WAIT_MS = 60000, OWN = 8 };

struct client {
	struct rpcrdma_conn *conn;
	struct ask ask;
	fattr3 attr; /* of the directory or file, as it was told */
	bool valid;  /* what follows belongs to it */
	bool names[NAMES];
	char data[CLIENTS * OWN];
};

static struct nfsd r;
static struct client clients[CLIENTS];
static bool truth[NAMES];
static char written[CLIENTS * OWN];
static unsigned given, stale, kept; /* before; caches that are wrong; that are right */

static void start(const char *export_option)
{
	char export[160];

	given = stale = kept = 0;
	memset(clients, 0, sizeof(clients));
	memset(truth, 0, sizeof(truth));
	nfsd_init(&r);
	snprintf(export, sizeof(export), "%s:/again%s", r.exp, export_option);
	r.preload = STUCK_FS;
	r.preload_flag = "";
	setenv("SLOW_US", "3000", 1);
	nfsd_start(&r, "--export", export, "--async", "--threads", "4", NULL);
	for (unsigned i = 0; i < CLIENTS; i++)
		clients[i].conn = ask_connect(&r, r.port);
}

static void stop(void)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		rpcrdma_conn_close(clients[i].conn);
	nfsd_stop(&r);
	unsetenv("SLOW_US");
	nfsd_fini(&r);
}

/* The same directory by the export with the option. */
static nfs_fh3 mount_again(void)
{
	nfs_fh3 fh;

	assert_int_equal(nfsd_mount(&r, "/again", &fh), MNT3_OK);
	return fh;
}

/* -- the model -------------------------------- */

static bool same_time(const nfstime3 *a, const nfstime3 *b)
{
	return a->seconds == b->seconds && a->nseconds == b->nseconds;
}

static bool is_before(const wcc_attr *w, const fattr3 *a)
{
	return w->size == a->size && same_time(&w->mtime, &a->mtime) &&
	       same_time(&w->ctime, &a->ctime);
}

/* True if the client may go on with what it has. */
static bool take_wcc(struct client *c, const wcc_data *w)
{
	const wcc_attr *before = &w->before.pre_op_attr_u.attributes;

	if (w->before.attributes_follow)
		given++;
	c->valid =
	        c->valid && w->before.attributes_follow && is_before(before, &c->attr);
	assert_true(w->after.attributes_follow);
	c->attr = w->after.post_op_attr_u.attributes;
	return c->valid;
}

/* At rest: does it believe what it has, and is it right? */
static void look(struct client *c, nfs_fh3 fh, const void *has, const void *is,
                 size_t size)
{
	wcc_attr w;
	fattr3 now;

	assert_int_equal(nfsd_getattr(&r, fh, &now), NFS3_OK);
	w = (wcc_attr){now.size, now.mtime, now.ctime};
	if (c->valid && is_before(&w, &c->attr)) {
		if (memcmp(has, is, size))
			stale++;
		else
			kept++;
	}
	c->attr = now;
	c->valid = true;
}

/* -- one directory -------------------------------- */

static void name_of(unsigned i, char ret[16])
{
	snprintf(ret, 16, "name%u", i);
}

static void take_directory(struct client *c, unsigned i, bool made)
{
	CREATE3res cr;
	REMOVE3res rm;
	wcc_data w;

	assert_int_equal(ask_stat(&c->ask), NFS3_OK);
	if (made) {
		assert_true(NFS3_DECODE(c->ask.results, c->ask.len, CREATE3res, &cr) >
		            0);
		w = cr.CREATE3res_u.resok.dir_wcc;
		NFS3_FREE(CREATE3res, &cr);
	} else {
		assert_true(NFS3_DECODE(c->ask.results, c->ask.len, REMOVE3res, &rm) >
		            0);
		w = rm.REMOVE3res_u.resok.dir_wcc;
	}
	if (take_wcc(c, &w))
		c->names[i] = made;
}

/* One makes what the other will remove. */
static void change_directory(nfs_fh3 dir, unsigned round)
{
	unsigned which[CLIENTS] = {2 * round, round ? 2 * round - 2 : 1};
	bool make[CLIENTS] = {true, round == 0};
	char name[CLIENTS][16];

	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &clients[(i + round) % CLIENTS];
		CREATE3args cr = {nfsd_name(dir, name[i]), {.mode = GUARDED}};
		REMOVE3args rm = {nfsd_name(dir, name[i])};

		name_of(which[i], name[i]);
		if (make[i])
			ASK(&r, c->conn, &c->ask, CREATE, &cr);
		else
			ASK(&r, c->conn, &c->ask, REMOVE, &rm);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &clients[(i + round) % CLIENTS];

		assert_true(ask_wait(&r, &c->ask, WAIT_MS));
		take_directory(c, which[i], make[i]);
		truth[which[i]] = make[i];
	}
}

static void use_directory(nfs_fh3 dir)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		change_directory(dir, round);
		for (unsigned i = 0; i < CLIENTS; i++) {
			struct client *c = &clients[i];

			look(c, dir, c->names, truth, sizeof(truth));
			memcpy(c->names, truth, sizeof(truth));
		}
	}
	printf("%u times before was given, %u caches were kept, %u are stale\n", given,
	       kept, stale);
}

static void a_directory_of_one_server(void **state)
{
	(void)state;
	start(",wcc");
	use_directory(mount_again());
	assert_int_equal(stale, 0);
	assert_int_equal(given, CLIENTS * ROUNDS);
	stop();
}

/* Others may change it: nothing is said that they could make untrue. */
static void a_directory_of_others_too(void **state)
{
	(void)state;
	start("");
	use_directory(r.root);
	assert_int_equal(stale, 0);
	assert_int_equal(given, 0);
	stop();
}

/* Who is alone in it keeps what it knows. */
static void who_works_alone_keeps_the_directory(void **state)
{
	nfs_fh3 dir;

	(void)state;
	start(",wcc");
	dir = mount_again();
	for (unsigned i = 0; i < 5; i++) {
		struct client *c = &clients[0];
		char name[16];
		CREATE3args a = {nfsd_name(dir, name), {.mode = GUARDED}};

		name_of(i, name);
		ASK(&r, c->conn, &c->ask, CREATE, &a);
		assert_true(ask_wait(&r, &c->ask, WAIT_MS));
		take_directory(c, i, true);
		truth[i] = true;
		look(c, dir, c->names, truth, sizeof(truth));
		memcpy(c->names, truth, sizeof(truth));
	}
	assert_int_equal(kept, 4); /* it knew nothing before the first */
	assert_int_equal(stale, 0);
	stop();
}

/* -- one file -------------------------------- */

/* Each writes its own part, and has pages of the whole. */
static void change_file(nfs_fh3 fh, unsigned round)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &clients[i];
		WRITE3args a = {.file = fh,
		                .offset = i * OWN,
		                .count = OWN,
		                .stable = UNSTABLE,
		                .data_len = OWN};

		snprintf(written + i * OWN, OWN, "%7u", round);
		ask_send(&r, c->conn, &c->ask, NFSPROC3_WRITE, XDR_OF(WRITE3args), &a,
		         written + i * OWN, OWN);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &clients[i];
		WRITE3res res;

		assert_true(ask_wait(&r, &c->ask, WAIT_MS));
		assert_int_equal(ask_stat(&c->ask), NFS3_OK);
		assert_true(NFS3_DECODE(c->ask.results, c->ask.len, WRITE3res, &res) >
		            0);
		if (take_wcc(c, &res.WRITE3res_u.resok.file_wcc))
			memcpy(c->data + i * OWN, written + i * OWN, OWN);
	}
}

static void a_file_that_two_write(void **state)
{
	nfs_fh3 fh;

	(void)state;
	start("");
	assert_int_equal(nfsd_create(&r, r.root, "f", &fh), NFS3_OK);
	for (unsigned round = 0; round < ROUNDS; round++) {
		change_file(fh, round);
		for (unsigned i = 0; i < CLIENTS; i++) {
			struct client *c = &clients[i];

			look(c, fh, c->data, written, sizeof(written));
			memcpy(c->data, written, sizeof(written));
		}
	}
	printf("%u times before was given, %u caches were kept, %u are stale\n", given,
	       kept, stale);
	assert_int_equal(stale, 0);
	assert_int_equal(given, CLIENTS * ROUNDS);
	stop();
}

/* One reads while the other one writes: old data under new attributes stay for good. */
static void a_file_that_one_reads(void **state)
{
	struct client *writer = &clients[0], *reader = &clients[1];
	nfs_fh3 fh;

	(void)state;
	start("");
	assert_int_equal(nfsd_create(&r, r.root, "f", &fh), NFS3_OK);
	for (unsigned round = 0; round < ROUNDS; round++) {
		WRITE3args w = {
		        .file = fh, .count = OWN, .stable = UNSTABLE, .data_len = OWN};
		READ3args a = {.file = fh, .count = OWN};
		READ3res res;
		READ3resok *ok = &res.READ3res_u.resok;
		int n;

		snprintf(written, OWN, "%7u", round);
		ASK(&r, reader->conn, &reader->ask, READ, &a);
		usleep(round * 100);
		ask_send(&r, writer->conn, &writer->ask, NFSPROC3_WRITE,
		         XDR_OF(WRITE3args), &w, written, OWN);
		assert_true(ask_wait(&r, &reader->ask, WAIT_MS));
		assert_true(ask_wait(&r, &writer->ask, WAIT_MS));
		n = NFS3_DECODE(reader->ask.results, reader->ask.len, READ3res, &res);
		assert_true(n > 0);
		assert_int_equal(res.status, NFS3_OK);
		reader->attr = ok->file_attributes.post_op_attr_u.attributes;
		reader->valid = true;
		memset(reader->data, 0, OWN);
		memcpy(reader->data, reader->ask.results + n, ok->count);
		look(reader, fh, reader->data, written, OWN);
	}
	printf("%u reads were kept, %u are stale\n", kept, stale);
	assert_int_equal(stale, 0);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_directory_of_one_server),
	        cmocka_unit_test(a_directory_of_others_too),
	        cmocka_unit_test(who_works_alone_keeps_the_directory),
	        cmocka_unit_test(a_file_that_two_write),
	        cmocka_unit_test(a_file_that_one_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
