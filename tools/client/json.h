/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON output of the NFS tools.  File names are octets: a name that is not
 * UTF-8 is printed with U+FFFD in place of the bad ones and again, exactly, in
 * hexadecimal as NAME_hex.
 */
#ifndef RPCRDMA_TOOLS_JSON_H
#define RPCRDMA_TOOLS_JSON_H

#include "tool.h"

/* A string with its quotes; false if octets had to be replaced. */
bool json_string(FILE *f, const char *text);
/* "key":"name" and, where needed, "key_hex":"..." */
void json_name(FILE *f, const char *key, const char *name);

/* --stats FILE: one object with the engine's counters. */
struct json_stats_more {
	const char *command;
	uint64_t files, bytes, elapsed_ns;
};
int json_stats(const char *file, const struct rpcrdma_engine *,
               const struct json_stats_more *);

#endif
