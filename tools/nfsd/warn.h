/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Warnings on standard error that clients or storage cause: at most one line of each
 * kind a second.
 *
 *   warn.c      the kinds, their limits, the lines
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

/* Prints one line: the path that @fd is open on (-1 = no path), @what, and the reason
 * (negative errno; 0 = @what includes the reason).  Prints at most one line of each
 * kind a second, and preserves errno.  Any thread may call this. */
void warn_about(enum warn_kind, int fd, const char *what, int error);
/* The two halves of warn_about, for other texts.  warn_take_turn returns true if a line
 * of this kind may be printed now; otherwise it counts the line.  warn_print prints
 * it. */
bool warn_take_turn(enum warn_kind);
void warn_print(enum warn_kind, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* Replaces control characters, so that a name from a client cannot forge a line or
 * control a terminal. */
void warn_clean_text(char *);
/* Prints the number of lines omitted in past seconds, and if @all is true also in the
 * current second. */
void warn_print_counts(bool all);

/* Reports that the procedure failed because of storage, if it did. */
void complain_of_storage(const struct op *);
/* Reports that requests on the file system use too much memory. */
void complain_of_delay(const struct op *);
/* Reports that @peer may not mount the export (@mounts) or use it, or, if @port is
 * true, may not use it from a port above 1023. */
void complain_of_access(const struct export *, const struct sockaddr_storage *peer,
                        bool mounts, bool port);
/* Reports that the request was refused with @auth_stat. */
void complain_of_flavor(const struct op *, uint32_t auth_stat);
/* Reports a refused context; for rpcrdma_service_gss_options.no_room. */
void complain_of_contexts(void *arg, const struct sockaddr *peer);

#endif
