/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints file attributes as text and JSON, and names that are safe on a terminal. */
#ifndef RPCRDMA_TOOLS_ATTRS_H
#define RPCRDMA_TOOLS_ATTRS_H

#include "client/nfs.h"

/* Formats "-rw-r--r--". */
void attrs_mode_text(const fattr3 *, char buf[11]);
/* Returns a static string such as "regular file". */
const char *attrs_type_text(ftype3);
/* Formats "2026-11-21 05:20" in local time; with @full adds seconds, nanoseconds and
 * zone. */
void attrs_time_text(const nfstime3 *, bool full, char *buf, size_t size);
/* Prints the members of a JSON object, without the braces. */
void attrs_json(FILE *, const fattr3 *);
/* Prints the name; if @f is a terminal, quotes it if necessary. */
void attrs_print_name(FILE *f, const char *name);

#endif
