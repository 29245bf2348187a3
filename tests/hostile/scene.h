/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server with a file, an attack on it, and an honest client beside that: what the
 * tests of this folder have in common.
 */
#ifndef TESTS_HOSTILE_SCENE_H
#define TESTS_HOSTILE_SCENE_H

#include "attack.h"

enum { MIB = 1 << 20, ALLOWED_MIB = 64 };
#define ALLOWED "64M" /* the same, for the command line */

#if defined(__SANITIZE_ADDRESS__)
enum { OWN_MIB = 384 }; /* with what the sanitizer keeps */
#else
enum { OWN_MIB = 96 };
#endif

static struct rig r;
static nfs_fh3 file;

/* @memory: what its clients may have it hold, or NULL. */
static inline int serve(size_t file_bytes, const char *connections, const char *memory)
{
	void *data = calloc(1, file_bytes);

	assert_non_null(data);
	rig_init(&r);
	rig_write_file(&r, "file", data, file_bytes);
	free(data);
	rig_start(&r, "--connections", connections, memory ? "--memory" : NULL, memory,
	          NULL);
	file = rig_walk(&r, "file");
	patient(&r);
	return 0;
}

static inline int end(void **state)
{
	rig_stop(&r);
	rig_fini(&r);
	return 0;
}

/* During the attack a client comes @visits times, and stays for @ms. */
static inline struct honest beside(const char *what, struct attack a,
                                   void (*again)(struct foe *, const struct attack *),
                                   unsigned visits, unsigned ms)
{
	struct honest h = {0};
	pid_t pid;

	a.port = (uint16_t)atoi(r.port);
	pid = attack(&a, again);
	while (visits--) {
		newcomer(&r, &h);
		live(&r, &h, file, ms);
	}
	attack_end(pid);
	report(what, &r, &h);
	return h;
}

/* Of a server with ALLOWED_MIB. */
static inline void expect_service_within_memory(struct honest h, double longest_ms)
{
	assert_true(h.worst_ms < longest_ms);
	assert_true(h.first_ms < longest_ms);
	assert_true(server_peak(&r) < (size_t)(ALLOWED_MIB + OWN_MIB) * MIB);
}

/* A READ of 1 MiB in version 1, with a Write chunk for it. */
static inline void say_read(struct foe *f, uint32_t xid, uint32_t credits)
{
	uint32_t w[64] = {xid, 1, credits, 0, 0, 1, 1, xid, MIB, 0, 0, 0, 0};
	size_t n = 13;

	n += put_nfs_call(w + n, &r, xid, NFSPROC3_READ, &file);
	w[n++] = 0; /* offset */
	w[n++] = 0;
	w[n++] = MIB;
	say_words(f, w, n);
}

#endif
