/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eleven programs as users of rpcgen write them, without code for RDMA.  eleven.c creates
 * their CLIENTs and SVCXPRTs over TCP and over RDMA; nothing else differs.
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
	/* Calls the procedures and digests all results.  Returns false if a call failed. */
	bool (*run)(CLIENT *, uint64_t *digest);
	bool big; /* most octets are in long arguments or results */
};

extern const struct eleven_program eleven_shapes, eleven_chain, eleven_maybe,
        eleven_table, eleven_words, eleven_batch, eleven_mtsafe, eleven_newstyle,
        eleven_upload, eleven_download, eleven_voids;

/* Adds octets to a digest. */
uint64_t eleven_digest(uint64_t digest, const void *p, size_t len);
/* Fills memory with octets that depend on their offsets. */
void eleven_fill(void *p, size_t len, unsigned seed);
/* Does what calloc does; exits if there is no memory. */
void *eleven_alloc(size_t n, size_t size);

#endif
