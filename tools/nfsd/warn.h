/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Warnings on standard error that clients or storage cause, at most one a second of
 * each kind.
 *
 *   warn.c      the kinds, their turns, the lines
 *   complain.c  the lines about a request
 */
#ifndef RPCRDMA_NFSD_WARN_H
#define RPCRDMA_NFSD_WARN_H

#include <stdbool.h>
#include <stdint.h>

struct export;
struct op;
struct sockaddr;
struct sockaddr_storage;

enum warn_kind {
	WARN_LOST,
	WARN_FILES,
	WARN_IDENTITY,
	WARN_GROUPS,
	WARN_REFUSED,
	WARN_CROSSING,
	WARN_STORAGE,
	WARN_DELAY,
	WARN_CONTEXTS,
	WARN_KINDS
};

/* Prints one line: the path that @fd is open on (-1: none), @what, and the reason
 * (negative errno; 0: it is part of @what).  Prints at most one line a second of each
 * kind, and keeps errno.  Any thread. */
void warn_about(enum warn_kind, int fd, const char *what, int error);
/* The two halves of warn_about, for other texts.  warn_take_turn returns true if a line
 * of the kind may be printed now, and counts it otherwise; warn_print prints it. */
bool warn_take_turn(enum warn_kind);
void warn_print(enum warn_kind, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* Replaces control characters, so that a name from a client cannot forge a line or
 * command a terminal. */
void warn_clean_text(char *);
/* Prints how many lines were left out in seconds that are over, or (@all) until now. */
void warn_print_counts(bool all);

/* Reports that storage failed the procedure, if it did. */
void complain_of_storage(const struct op *);
/* Reports that requests on the file system hold too much memory. */
void complain_of_delay(const struct op *);
/* Reports that @peer may not mount or use the export, or not from its @port. */
void complain_of_access(const struct export *, const struct sockaddr_storage *peer,
                        bool mounts, bool port);
/* Reports that the request was refused with that auth_stat. */
void complain_of_flavor(const struct op *, uint32_t auth_stat);
/* For rpcrdma_service_gss_options.no_room. */
void complain_of_contexts(void *arg, const struct sockaddr *peer);

#endif
