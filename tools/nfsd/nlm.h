/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network lock manager that grants no locks: it answers each call at once.  If there
 * were no lock manager, a Linux client that did not mount with nolock would look for
 * one again and again.
 *                                      [RFC 1813 appendix II; XNFS chapter 10]
 */
#ifndef RPCRDMA_NFSD_NLM_H
#define RPCRDMA_NFSD_NLM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NLM_PROGRAM = 100021,
	NLM_LOWEST = 1, /* version 2 is only for use within one host */
	NLM_HIGHEST = 4,
};

/* Returns true if @version is 1, 3 or 4. */
bool nlm_has_version(uint32_t version);
/* Executes a procedure of a supported version and writes the results to @ret.  Returns
 * 0, or an RPC status for the reply: RPCRDMA_PROC_UNAVAIL, RPCRDMA_GARBAGE_ARGS or
 * RPCRDMA_SYSTEM_ERR. */
int nlm_execute(uint32_t version, uint32_t proc, const void *args, size_t args_len,
                void *ret, size_t size, size_t *ret_len);

#endif
