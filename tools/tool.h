/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the subcommands of `rpcrdma` share: the table of them, the options that
 * each takes, messages, progress, and addresses.
 */
#ifndef RPCRDMA_TOOL_H
#define RPCRDMA_TOOL_H

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <rpcrdma/rpcrdma.h>

/* Exit codes. */
enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

struct tool_option;

/* A subcommand. */
struct tool_command {
	const char *name;
	const char *summary; /* one line for `rpcrdma --help` */
	const char *usage;   /* --help: the text before the options */
	const char *notes;   /* --help: the text after them */
	const struct tool_option *options;
	size_t n_options;
	int (*main)(int argc, char **argv); /* argv[0] = the subcommand's name */
};

extern const struct tool_command tool_nfsd, tool_cp, tool_ls, tool_cat, tool_stat,
        tool_rm, tool_mkdir, tool_mv, tool_df, tool_ping;

/* Prints the file that makes bash(1) complete the command line of @commands. */
void tool_print_completion(const struct tool_command *const *commands, size_t n);

/* Why a provider cannot be used or an address not listened on, with what to do. */
const char *tool_provider_reason(int error);

/* Values of the options that every subcommand has (TOOL_COMMON_ROWS). */
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

/* How an option is read. */
enum tool_kind {
	TOOL_HEADING, /* not an option: the row's text stands before those that follow */
	TOOL_HELP,  /* prints the help; also "-h" where no other row has that letter */
	TOOL_SET,   /* bool: true */
	TOOL_CLEAR, /* bool: false */
	TOOL_COUNT, /* unsigned: one more */
	/* with an argument: */
	TOOL_TEXT,     /* const char * */
	TOOL_NUMBER,   /* uint32_t or uint64_t, by width; in [low, high] */
	TOOL_SIZE,     /* the same with a unit */
	TOOL_SECONDS,  /* uint64_t: nanoseconds */
	TOOL_CHOICE,   /* unsigned or an enum: the index among the choices */
	TOOL_TAKE,     /* the row's function: 0, or -EINVAL after a message */
	TOOL_MAY_TAKE, /* the same; without an argument, and for letters, it gets NULL */
};

/*
 * A row of a subcommand's table of options.  Parsing, --help and completion use the
 * same rows; tests/docs/man.sh compares the manual page with --help.
 */
struct tool_option {
	const char *name;    /* long; NULL: none */
	const char *letters; /* short, one or more of the same meaning; NULL: none */
	const char *arg;     /* name of the argument; NULL: the option has none */
	const char *help;    /* wrapped when printed; '\n' begins a line */
	const char *choices; /* arguments that completion offers, with spaces between */
	enum tool_kind kind;
	size_t at; /* offset of the value in the subcommand's structure */
	size_t width;
	uint64_t low, high;
	int (*take)(void *to, const char *arg);
};

#define TOOL_N(array)                (sizeof(array) / sizeof((array)[0]))
#define TOOL_AT(kind_, type, member) .kind = (kind_), .at = offsetof(type, member)
#define TOOL_CALL(function, type, member)                                              \
	TOOL_AT(TOOL_TAKE, type, member), .take = (function)
#define TOOL_RANGE(kind_, type, member, lo, hi)                                        \
	TOOL_AT(kind_, type, member), .width = sizeof(((type *)0)->member),            \
	                              .low = (lo), .high = (hi)
/* clang-format off */
/* The last rows of every table: the options of all subcommands, kept in @member. */
#define TOOL_COMMON_ROWS(type, member)                                                 \
	{.help = "common options:"},                                                   \
	{"provider", NULL, "NAME",                                                     \
	 "transport: auto (default), verbs[:DEVICE,KEY=VALUE,...] (RDMA devices) or "  \
	 "iwarp[:KEY=VALUE,...] (software, over TCP).  auto: a device that serves "    \
	 "the address, unless it is a siw (software of Linux); else iwarp",            \
	 "auto verbs iwarp",                                                           \
	 TOOL_CALL(tool_take_provider, type, member.provider)},                        \
	{"rpcrdma-version", NULL, "N",                                                 \
	 "RPC-over-RDMA version: 2 or 1 only, or auto (default): 2, and 1 with peers " \
	 "that lack it",                                                               \
	 "auto 1 2", TOOL_AT(TOOL_CHOICE, type, member.version)},                      \
	{"credits", NULL, "N", "calls in flight to ask for, 2 to 2047 (32)", NULL,     \
	 TOOL_RANGE(TOOL_NUMBER, type, member.credits, 2, 2047)},                      \
	{"inline", NULL, "BYTES", "size of Send and Receive buffers, from 1024 (4096)",\
	 NULL, TOOL_RANGE(TOOL_SIZE, type, member.inline_bytes, 1024, 1 << 20)},       \
	{"segment", NULL, "BYTES", "largest RDMA segment (1 MiB)", NULL,               \
	 TOOL_RANGE(TOOL_SIZE, type, member.segment_bytes, 4096, 1u << 30)},           \
	{"hostauth", NULL, "POLICY",                                                   \
	 "off (default), prefer or require: both ends authenticate by TLS 1.3; the "   \
	 "data are not encrypted",                                                     \
	 "off prefer require", TOOL_AT(TOOL_CHOICE, type, member.hostauth_policy)},    \
	{"cert", NULL, "FILE", "certificate chain of this end (PEM)", NULL,            \
	 TOOL_AT(TOOL_TEXT, type, member.cert)},                                       \
	{"key", NULL, "FILE", "its private key (PEM; default: in the file of --cert)", \
	 NULL, TOOL_AT(TOOL_TEXT, type, member.key)},                                  \
	{"ca", NULL, "FILE",                                                           \
	 "trusted certificate authorities (PEM; default of a client: the system's)",   \
	 NULL, TOOL_AT(TOOL_TEXT, type, member.ca)},                                   \
	{"psk", NULL, "FILE",                                                          \
	 "use a pre-shared key instead of certificates: one line IDENTITY:HEX", NULL,  \
	 TOOL_AT(TOOL_TEXT, type, member.psk)},                                        \
	{"peer-name", NULL, "NAME",                                                    \
	 "name that the server's certificate must carry (HOST)", NULL,                 \
	 TOOL_AT(TOOL_TEXT, type, member.peer_name)},                                  \
	{"trace", NULL, "FILE", "write trace points as JSON lines; - is standard "     \
	 "error", NULL, TOOL_AT(TOOL_TEXT, type, member.trace)},                       \
	{"json", NULL, NULL, "print results as JSON", NULL,                            \
	 TOOL_AT(TOOL_SET, type, member.json)},                                        \
	{"verbose", "v", NULL, "print more", NULL,                                     \
	 TOOL_AT(TOOL_COUNT, type, member.verbose)},                                   \
	{"help", NULL, NULL,                                                           \
	 "print this help and exit; -h does the same where it has no other meaning",   \
	 NULL, .kind = TOOL_HELP}
/* clang-format on */

int tool_take_provider(void *to, const char *arg);

enum { TOOL_GO_ON = -1 };

/* Reads the command line by @command's rows into @values, the structure that the
 * rows refer to, of which @common is a member.  optind is then the first operand.
 * Returns TOOL_GO_ON, or the exit code after the help or a message was printed. */
int tool_read_options(const struct tool_command *command, void *values,
                      struct tool_common *common, int argc, char **argv);
/* Whether the option takes an argument: no_argument and so on of getopt_long(3). */
int tool_has_argument(const struct tool_option *option);
/* Prints --help. */
void tool_print_help(const struct tool_command *command);

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
void tool_cannot(const char *act, const char *name, const char *reason);
/* Octets of the well-formed UTF-8 character that @s begins with; 0: none. */
unsigned tool_utf8(const char *s);
/* At the start of the process: a reader who leaves makes writing fail with EPIPE. */
void tool_keep_sigpipe(void);
/* Asks "rpcrdma cp: overwrite 'NAME'? " on standard error; whether standard input says
 * yes. */
bool tool_ask(const char *act, const char *name);
/* Writing to @name (NULL: standard output) failed with errno, which is told unless
 * nobody reads any more: then SIGPIPE ends the process in tool_finish, as it ends other
 * programs.  TOOL_REPORTED: no errno, and no more is to be said. */
enum { TOOL_REPORTED = -4095 };
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
