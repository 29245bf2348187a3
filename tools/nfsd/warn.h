/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of standard error that clients or storage cause, at most one a second of each
 * kind.
 *
 *   warn.c      kinds, turns, the lines
 *   complain.c  those about a request
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

/* Prints one line on standard error: the path of what @fd is open on (-1: none), @what,
 * and the reason (negative errno; 0: @what has it).  At most one line a second of each
 * kind; keeps errno.  Any thread. */
void warn_about(enum warn_kind, int fd, const char *what, int error);
/* The two halves of it, for other texts: true if a line of the kind may be printed now,
 * else it is counted; the line. */
bool warn_take_turn(enum warn_kind);
void warn_print(enum warn_kind, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* Replaces control characters: a name that a client chose must not forge a line, or
 * command a terminal. */
void warn_clean_text(char *);
/* Prints how many lines were left out, of the seconds that are over or of @all. */
void warn_print_counts(bool all);

/* Says that the procedure was failed by storage, if it was. */
void complain_of_storage(const struct op *);
/* ... that too much waits for the file system. */
void complain_of_delay(const struct op *);
/* Reports that @peer may not mount or use the export, or not from its @port. */
void complain_of_access(const struct export *, const struct sockaddr_storage *peer,
                        bool mounts, bool port);
/* ... that the request was refused with that auth_stat. */
void complain_of_flavor(const struct op *, uint32_t auth_stat);
/* For rpcrdma_service_gss_options.no_room. */
void complain_of_contexts(void *arg, const struct sockaddr *peer);

#endif
