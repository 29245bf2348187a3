/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server with a file, an attack on it, and an honest client beside the attack: what
 * the tests in tests/hostile share.
 */
#ifndef RR_TEST_SCENE_H
#define RR_TEST_SCENE_H

#include "test_attack.h"

enum { MIB = 1 << 20, ALLOWED_MIB = 64 };
#define ALLOWED "64M" /* the same, for the command line */

#if defined(__SANITIZE_ADDRESS__)
enum { OWN_MIB = 384 }; /* with the memory of the sanitizer */
#else
enum { OWN_MIB = 96 };
#endif

/* The honest client's experience. */
struct honest {
	unsigned calls;
	double worst_ms; /* the slowest NULL call */
	double first_ms; /* the slowest first call of a new client */
	double read_ms;  /* the slowest READ */
};

extern struct nfsd scene_server;
extern nfs_fh3 scene_file;

/* Starts the server with a file of @file_bytes.  @connections, @memory (or NULL): its
 * options. */
int scene_begin(size_t file_bytes, const char *connections, const char *memory);
int scene_end(void **state);
/* Attacks the server; meanwhile a client connects @visits times and calls for @ms. */
struct honest scene_attack(const char *what, struct attack a,
                           void (*again)(struct foe *, const struct attack *),
                           unsigned visits, unsigned ms);
/* For a server with ALLOWED_MIB. */
void expect_service_within_memory(struct honest h, double longest_ms);

/* Appends a READ of 1 MiB of scene_file in version 1, with a Write chunk. */
void foe_add_read(struct foe *f, uint32_t xid, uint32_t credits);

#endif
