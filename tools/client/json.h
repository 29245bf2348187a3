/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON output from the NFS tools.  File names are octets.  In a name that is not UTF-8,
 * U+FFFD replaces each invalid octet, and NAME_hex has the exact name in hexadecimal.
 */
#ifndef RPCRDMA_TOOLS_JSON_H
#define RPCRDMA_TOOLS_JSON_H

#include "tool.h"

/* Prints a string in quotes.  Returns false if invalid octets were replaced. */
bool json_string(FILE *f, const char *text);
/* Prints "key":"name" and, if octets were replaced, "key_hex":"...". */
void json_name(FILE *f, const char *key, const char *name);

/* Writes one object with the engine's counters, for --stats FILE.  Returns 0, or prints
 * a message and returns -EIO. */
struct json_stats_more {
	const char *command;
	uint64_t files, bytes, elapsed_ns;
};
int json_stats(const char *file, const struct rpcrdma_engine *,
               const struct json_stats_more *);

#endif
