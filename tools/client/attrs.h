/* SPDX-License-Identifier: BSD-3-Clause */
/* File attributes, for people and as JSON; names, safe on a terminal. */
#ifndef RPCRDMA_TOOLS_ATTRS_H
#define RPCRDMA_TOOLS_ATTRS_H

#include "client/nfs.h"

/* "-rw-r--r--" */
void attrs_mode_text(const fattr3 *, char buf[11]);
/* "regular file"; static. */
const char *attrs_type_text(ftype3);
/* "2026-11-21 05:20" in local time, or with @full seconds, nanoseconds, zone. */
void attrs_time_text(const nfstime3 *, bool full, char *buf, size_t size);
/* Members of a JSON object, without the braces. */
void attrs_json(FILE *, const fattr3 *);
/* The name as it is, or if @f is a terminal, quoted where it needs that. */
void attrs_print_name(FILE *f, const char *name);

#endif
