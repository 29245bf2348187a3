/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Warnings on standard error about clients or storage: at most one line of each kind
 * per second.
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
 * @error (a negative errno; 0 = @what includes the reason).  Prints at most one line of
 * each kind per second, and preserves errno.  Any thread may call this. */
void warn_about(enum warn_kind, int fd, const char *what, int error);
/* The two halves of warn_about, for lines in a different format.  warn_take_turn
 * returns true if a line of this kind may be printed now; otherwise it counts the line
 * as omitted.  warn_print prints a line. */
bool warn_take_turn(enum warn_kind);
void warn_print(enum warn_kind, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* Replaces control characters, so that a name from a client cannot forge a line or
 * control a terminal. */
void warn_clean_text(char *);
/* Prints the number of lines omitted in past seconds and, if @all is true, in the
 * current second. */
void warn_print_counts(bool all);

/* If the procedure failed because of storage, prints a warning. */
void complain_of_storage(const struct op *);
/* Warns that requests on the op's file system use too much memory. */
void complain_of_delay(const struct op *);
/* Warns that @peer was denied access to the export: to mount it if @mounts is true,
 * otherwise to use it.  @port is true if the only reason is a source port above
 * 1023. */
void complain_of_access(const struct export *, const struct sockaddr_storage *peer,
                        bool mounts, bool port);
/* Warns that the request was refused with @auth_stat. */
void complain_of_flavor(const struct op *, uint32_t auth_stat);
/* The function for rpcrdma_service_gss_options.no_room: warns that a security context
 * was refused because there are too many. */
void complain_of_contexts(void *arg, const struct sockaddr *peer);

#endif
