/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eleven programs as rpcgen's users write them.  None knows of RDMA: eleven.c makes
 * their CLIENTs and SVCXPRTs over TCP and over RDMA, and nothing else differs.
 */
#ifndef RPC_ELEVEN_H
#define RPC_ELEVEN_H

#include <rpc/rpc.h>
#include <stdbool.h>
#include <stdint.h>

typedef void eleven_dispatch(struct svc_req *, SVCXPRT *);

struct eleven_program {
	const char *name;
	rpcprog_t prog;
	rpcvers_t vers;
	eleven_dispatch *dispatch;
	/* Calls the procedures; the digest of all results.  False: a call failed. */
	bool (*run)(CLIENT *, uint64_t *digest);
	bool big; /* its octets are in long arguments and results */
};

extern const struct eleven_program eleven_shapes, eleven_chain, eleven_maybe,
        eleven_table, eleven_words, eleven_batch, eleven_mtsafe, eleven_newstyle,
        eleven_upload, eleven_download, eleven_voids;

/* Adds octets to a digest. */
uint64_t eleven_digest(uint64_t digest, const void *p, size_t len);
/* Octets that tell their places. */
void eleven_fill(void *p, size_t len, unsigned seed);
/* calloc that does not fail. */
void *eleven_alloc(size_t n, size_t size);

#endif
