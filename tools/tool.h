/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations that the subcommands of `rpcrdma` share: the table of subcommands, their
 * options, messages, progress, and numbers.
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

/* Returns the reason why a provider cannot be used or a server cannot listen on an
 * address, with the remedy. */
const char *tool_provider_reason(int error);

/* Values of the options that every subcommand has (TOOL_COMMON_ROWS). */
struct tool_common {
	const char *provider;
	const char *features;
	const char *trace;
	unsigned version;
	unsigned verbose;
	bool json;
	uint32_t credits, inline_bytes, send_item_bytes, segment_bytes;
	uint64_t spin_ns; /* polling time; 0 = none */
	enum rpcrdma_hostauth_policy hostauth_policy;
	const char *cert, *key, *ca, *psk, *peer_name; /* host authentication */
	const char *const *allow; /* identities that a server admits */
	unsigned n_allow;
	struct rpcrdma_hostauth *hostauth; /* loaded by tool_engine_new */
	FILE *trace_file;
};

/* The kinds of options. */
enum tool_kind {
	TOOL_HEADING, /* not an option: text printed before the next rows */
	TOOL_HELP,    /* prints the help; -h also does, unless another row has it */
	TOOL_SET,     /* bool: true */
	TOOL_CLEAR,   /* bool: false */
	TOOL_COUNT,   /* unsigned: incremented */
	/* with an argument: */
	TOOL_TEXT,     /* const char * */
	TOOL_NUMBER,   /* uint32_t or uint64_t, depending on width; in [low, high] */
	TOOL_SIZE,     /* a number with a unit */
	TOOL_SECONDS,  /* uint64_t: nanoseconds */
	TOOL_CHOICE,   /* unsigned or an enum: index of the choice */
	TOOL_TAKE,     /* calls the row's function, which returns 0, or prints a
	                   message and returns -EINVAL */
	TOOL_MAY_TAKE, /* like TOOL_TAKE, with an optional argument; NULL if absent */
};

/*
 * A row of a subcommand's option table.  Parsing, --help and completion use the same
 * rows; tests/docs/man.sh compares the manual page with --help.
 */
struct tool_option {
	const char *name;    /* long; NULL: none */
	const char *letters; /* equivalent short options; NULL = none */
	const char *arg;     /* name of the argument; NULL: the option has none */
	const char *help;    /* wrapped when printed; '\n' begins a line */
	const char *choices; /* arguments that completion offers, separated by spaces */
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
/* The last rows of every table: the options that all subcommands have in common.  Their
 * values are stored in @member. */
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
	{"features", NULL, "LIST",                                                     \
	 "optional features of version 2 to offer: none, all, default "                \
	 "(rprc,reminv,rtr), or a list such as default,reminv=first,htfam",            \
	 "none all default rprc reminv rtr htfam",                                     \
	 TOOL_CALL(tool_take_features, type, member.features)},                        \
	{"credits", NULL, "N", "calls in flight to ask for, 2 to 2047 (32)", NULL,     \
	 TOOL_RANGE(TOOL_NUMBER, type, member.credits, 2, 2047)},                      \
	{"inline", NULL, "BYTES", "size of Send and Receive buffers, from 1024 (4096)",\
	 NULL, TOOL_RANGE(TOOL_SIZE, type, member.inline_bytes, 1024, 1 << 20)},       \
	{"send-items", NULL, "BYTES",                                                  \
	 "longest data that a call carries itself; the server reads longer data by "   \
	 "RDMA (32 KiB; 1: none)",                                                     \
	 NULL, TOOL_RANGE(TOOL_SIZE, type, member.send_item_bytes, 1, 1 << 20)},       \
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
	{"spin", NULL, "USEC",                                                         \
	 "poll for up to USEC microseconds (50) before sleeping, while that pays; "    \
	 "faster answers for processor time.  Default: sleep at once",                 \
	 NULL, .kind = TOOL_MAY_TAKE,                                                  \
	 .at = offsetof(type, member.spin_ns), .take = tool_take_spin},                \
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
int tool_take_features(void *to, const char *arg);
int tool_take_spin(void *to, const char *arg);

enum { TOOL_GO_ON = -1 };

/* Reads the command line according to @command's rows, and stores the values in
 * @values, the structure that the rows refer to.  @common is a member of @values.  Sets
 * optind to the first operand.  Returns TOOL_GO_ON, or the exit code after the help or
 * a message was printed. */
int tool_read_options(const struct tool_command *command, void *values,
                      struct tool_common *common, int argc, char **argv);
/* Returns no_argument, required_argument or optional_argument, as in getopt_long(3). */
int tool_has_argument(const struct tool_option *option);
/* Prints --help. */
void tool_print_help(const struct tool_command *command);

/* Creates an engine from the common options.  Returns 0, or prints a message and
 * returns a negative errno. */
int tool_engine_new(struct tool_common *, struct rpcrdma_engine **ret);
void tool_conn_options(const struct tool_common *, struct rpcrdma_conn_options *ret);
/* Closes the trace; to be called after rpcrdma_engine_free. */
void tool_common_end(struct tool_common *);

/* Sets the name that begins each message: "rpcrdma cp: ". */
void tool_set_name(const char *subcommand);
/* Returns the name that tool_set_name set, such as "rpcrdma cp". */
const char *tool_program(void);
void tool_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints a message with the given severity.  The numbers are those of syslog(3). */
enum tool_level { TOOL_ERROR = 3, TOOL_WARNING = 4, TOOL_NOTICE = 5, TOOL_INFO = 6 };
void tool_log(enum tool_level, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* Makes each message begin with its severity, such as "<3>", in the form that systemd's
 * journal reads (sd-daemon(3)).  Must be called before any thread starts. */
void tool_log_levels(void);
/* Returns true if standard error is the journal.  [systemd.exec(5)] */
bool tool_log_is_journal(void);
/* Returns @name, quoted for a shell if it has a character that is special to a shell or
 * not printable.  The result is in one of four buffers, which are used in turn.  Every
 * name in a message must pass through this function. */
const char *tool_quote(const char *name);
/* Returns @name always in quotes, as coreutils print it after "cannot create". */
const char *tool_quote_always(const char *name);
/* Prints "rpcrdma cp: cannot @act '@name': @reason", in the form that coreutils use. */
void tool_cannot(const char *act, const char *name, const char *reason);
/* Returns the length in octets of the UTF-8 character at @s, or 0 if it is malformed.
 */
unsigned tool_utf8(const char *s);
/* Ignores SIGPIPE, so that writing to a closed pipe fails with EPIPE.  Must be called
 * first in main. */
void tool_keep_sigpipe(void);
/* Asks a question on standard error, such as "rpcrdma cp: overwrite '@name'? " if @act
 * is "overwrite".  Returns true if the answer on standard input begins with y or Y. */
bool tool_ask(const char *act, const char *name);
/* Reports that writing to @name (NULL: standard output) failed with errno.  Does not
 * report EPIPE: SIGPIPE ends the process in tool_finish, as it ends other programs.
 * Returns TOOL_REPORTED, which means that the error needs no further message. */
enum { TOOL_REPORTED = -4095 };
int tool_output_failed(const char *name);
/* Flushes standard output.  Returns the exit code: @code, or TOOL_FAILED if writing
 * failed. */
int tool_finish(int code);
/* Prints how to get help.  Returns TOOL_USAGE. */
int tool_usage(void);
/* Parses a size such as "4 MiB", "1.5G" or "65536".  Returns 0 or -EINVAL. */
int tool_parse_size(const char *s, uint64_t *ret);
/* Parses a whole number from @low to @high, decimal or hexadecimal after 0x.  Returns 0
 * or -EINVAL. */
int tool_parse_number(const char *s, uint64_t low, uint64_t high, uint64_t *ret);
/* Parses a number of seconds such as "0.5" or "60".  Returns 0 or -EINVAL. */
int tool_parse_seconds(const char *s, uint64_t *ret_ns);
uint64_t tool_now_ns(void); /* monotonic */
/* Writes to @ret the names of the features in @mask (enum rpcrdma_feature), each after a
 * space.  Returns @ret. */
enum { TOOL_FEATURES_BYTES = 32 };
const char *tool_feature_names(uint64_t mask, char ret[TOOL_FEATURES_BYTES]);
/* Returns a size such as "1.2 GiB", in a static buffer that later calls reuse. */
const char *tool_human(uint64_t bytes);
/* Returns a size rounded up as in `ls -h`, such as "1.2K", in a static buffer that
 * later calls reuse. */
const char *tool_human_short(uint64_t bytes);
/* Creates or truncates a file for writing.  Follows a symbolic link only if the user or
 * root owns it.  Returns NULL and sets errno on failure. */
FILE *tool_create(const char *path);

/* Progress on standard error: a bar on a terminal, otherwise a line every second.
 * Prints nothing in the first second, and nothing at all if @quiet. */
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
