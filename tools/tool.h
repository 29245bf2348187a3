/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the subcommands of `rpcrdma` share: the table of them, the options that
 * each takes, messages, progress, and addresses.
 */
#ifndef RPCRDMA_TOOL_H
#define RPCRDMA_TOOL_H

#include <getopt.h>
#include <stdio.h>
#include <rpcrdma/rpcrdma.h>

/* Exit codes. */
enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

struct tool_command {
	const char *name;
	const char *summary;                /* one line for `rpcrdma --help` */
	int (*main)(int argc, char **argv); /* argv[0] = the subcommand's name */
};

int tool_nfsd(int argc, char **argv);
int tool_cp(int argc, char **argv);
int tool_ls(int argc, char **argv);
int tool_cat(int argc, char **argv);
int tool_stat(int argc, char **argv);
int tool_rm(int argc, char **argv);
int tool_mkdir(int argc, char **argv);
int tool_mv(int argc, char **argv);
int tool_df(int argc, char **argv);
int tool_ping(int argc, char **argv);

/* Why a provider cannot be used or an address not listened on, with what to do. */
const char *tool_provider_words(int error);

/* Options of every subcommand: --provider, --rpcrdma-version, --trace,
 * --json, -v, --help, tuning: --credits, --inline, --segment, and
 * authentication: --hostauth, --cert, --key, --ca, --psk, --peer-name. */
struct tool_common {
	const char *provider;
	const char *trace;
	unsigned version;
	unsigned verbose;
	bool json;
	uint32_t credits, inline_bytes, segment_bytes;
	enum rpcrdma_hostauth_policy hostauth_policy;
	const char *cert, *key, *ca, *psk, *peer_name; /* host authentication */
	const char *const *allow; /* identities that a server lets in */
	unsigned n_allow;
	struct rpcrdma_hostauth *hostauth; /* loaded by tool_engine_new */
	FILE *trace_file;
};

/* Their part of a --help text. */
extern const char tool_common_help[];

/* How an option is read. */
enum tool_kind {
	TOOL_SET,   /* bool: true */
	TOOL_CLEAR, /* bool: false */
	TOOL_COUNT, /* unsigned: one more */
	/* with an argument: */
	TOOL_TEXT,     /* const char * */
	TOOL_NUMBER,   /* uint32_t or uint64_t, by width; in [low, high] */
	TOOL_SIZE,     /* the same with a unit */
	TOOL_SECONDS,  /* uint64_t: nanoseconds */
	TOOL_TAKE,     /* the row's function: 0, or -EINVAL after a message */
	TOOL_MAY_TAKE, /* the same; without an argument it gets NULL */
};

/* A row of a subcommand's table of options. */
struct tool_option {
	const char *name; /* long; NULL: none */
	char letter;      /* short; 0: none */
	enum tool_kind kind;
	void *to;
	size_t width;
	uint64_t low, high;
	int (*take)(void *to, const char *arg);
};

#define TOOL_N(array)       (sizeof(array) / sizeof((array)[0]))
#define TOOL_TO(kind_, var) .kind = (kind_), .to = &(var)
#define TOOL_RANGE(kind_, var, lo, hi)                                                 \
	TOOL_TO(kind_, var), .width = sizeof(var), .low = (lo), .high = (hi)

enum { TOOL_GO_ON = -1 };

/* Reads the @n own @rows and the common ones; optind is the first operand.
 * TOOL_GO_ON, or the exit code: help was printed, or what is wrong. */
int tool_options(struct tool_common *, int argc, char **argv,
                 const struct tool_option *rows, size_t n, void (*print_help)(void));

/* Engine and connection options from the common ones.  Messages are printed. */
int tool_engine_new(struct tool_common *, struct rpcrdma_engine **ret);
void tool_conn_options(const struct tool_common *, struct rpcrdma_conn_options *ret);
/* Closes the trace; after rpcrdma_engine_free. */
void tool_common_end(struct tool_common *);

/* "rpcrdma cp: words\n" on stderr. */
void tool_set_name(const char *subcommand);
/* "rpcrdma cp" */
const char *tool_program(void);
void tool_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same of another severity, by the numbers of syslog(3). */
enum tool_level { TOOL_ERROR = 3, TOOL_WARNING = 4, TOOL_NOTICE = 5, TOOL_INFO = 6 };
void tool_log(enum tool_level, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* From now on each of these lines begins with its severity, "<3>", as systemd's journal
 * reads it (sd-daemon(3)).  Before there are threads. */
void tool_log_levels(void);
/* Is standard error the journal?                                  [systemd.exec(5)] */
bool tool_log_is_journal(void);
/* The name as a shell would read it, if it has anything but printing characters or any
 * that mean something to a shell; else as it is.  In a ring of four buffers.  For every
 * name in a message. */
const char *tool_quote(const char *name);
/* The same within quotes in any case, as coreutils have it behind "cannot create". */
const char *tool_quote_always(const char *name);
/* "rpcrdma cp: cannot DO 'NAME': WHY", the form of coreutils, for either end. */
void tool_cannot(const char *act, const char *name, const char *why);
/* Octets of the well-formed UTF-8 character that @s begins with; 0: none. */
unsigned tool_utf8(const char *s);
/* At the start of the process: a reader who leaves makes writing fail with EPIPE. */
void tool_keep_sigpipe(void);
/* Asks "rpcrdma cp: overwrite 'NAME'? " on standard error; whether standard input says
 * yes. */
bool tool_ask(const char *act, const char *name);
/* Writing to @name (NULL: standard output) failed with errno, which is told unless
 * nobody reads any more: then SIGPIPE ends the process in tool_finish, as it ends other
 * programs.  TOOL_TOLD: no errno, and no more is to be said. */
enum { TOOL_TOLD = -4095 };
int tool_output_failed(const char *name);
/* Flushes standard output; the exit code for @code. */
int tool_finish(int code);
/* Says where the help is; TOOL_USAGE. */
int tool_usage(void);
/* "4 MiB", "1.5G", "65536"; -EINVAL. */
int tool_parse_size(const char *s, uint64_t *ret);
/* A whole number in [@low, @high], decimal or 0x and hexadecimal; -EINVAL. */
int tool_parse_number(const char *s, uint64_t low, uint64_t high, uint64_t *ret);
/* "0.5", "60"; -EINVAL. */
int tool_parse_seconds(const char *s, uint64_t *ret_ns);
uint64_t tool_now_ns(void); /* monotonic */
/* A number and its unit, for people ("1.2 GiB"); static ring of buffers. */
const char *tool_human(uint64_t bytes);
/* The same as ls -h has it: "1.2K", rounded up; static ring of buffers. */
const char *tool_human_short(uint64_t bytes);
/* Creates or empties a file to write to; by the umask, and through a symbolic link only
 * if it is ours or root's.  NULL with errno. */
FILE *tool_create(const char *path);

/* Progress on stderr: a bar on a terminal, a line every second otherwise,
 * nothing in the first second, and nothing at all if @quiet. */
struct tool_progress {
	const char *what;
	uint64_t total, done; /* octets; total 0 = unknown */
	uint64_t files;
	uint64_t started_ns, shown_ns;
	bool shown, quiet;
};
void tool_progress_begin(struct tool_progress *, const char *what, uint64_t total,
                         bool quiet);
void tool_progress_add(struct tool_progress *, uint64_t bytes, const char *what);
void tool_progress_end(struct tool_progress *);

#endif
