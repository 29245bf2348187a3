/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the subcommands share, for messages, numbers, the engine and progress.
 *
 * The only global state is the subcommand's name and the form of messages, both set
 * before the subcommand runs, and a flag for failed writes to standard output.
 */
#include "tool.h"

#include <rpcrdma/hostauth.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char program[32] =
        "rpcrdma";       /* followed by the subcommand; set before threads start */
static bool with_levels; /* messages begin with their severity */
static struct {
	bool deadly;       /* tool_finish ends the process with SIGPIPE */
	bool failed, gone; /* failed: a failure was reported; gone: the pipe has no
			      reader */
} output;

/* ---- Messages --------------------------------------------------------------- */

void tool_set_name(const char *subcommand)
{
	snprintf(program, sizeof(program), "rpcrdma %s", subcommand);
}

const char *tool_program(void)
{
	return program;
}

bool tool_log_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat st;

	return stream && sscanf(stream, "%ju:%ju", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

void tool_log_levels(void)
{
	with_levels = true;
}

static void print_line(enum tool_level level, const char *fmt, va_list ap)
{
	fflush(stdout);
	flockfile(stderr);
	if (with_levels)
		fprintf(stderr, "<%d>", (int)level);
	fprintf(stderr, "%s: ", tool_program());
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void tool_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(TOOL_ERROR, fmt, ap);
	va_end(ap);
}

void tool_log(enum tool_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(level, fmt, ap);
	va_end(ap);
}

void tool_cannot(const char *act, const char *name, const char *reason)
{
	tool_error("cannot %s %s: %s", act, tool_quote_always(name), reason);
}

bool tool_ask(const char *act, const char *name)
{
	char line[64] = "", c;
	size_t n = 0;

	fflush(stdout);
	fprintf(stderr, "%s: %s %s? ", tool_program(), act, tool_quote_always(name));
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		if (n < sizeof(line) - 1)
			line[n++] = c;
	return line[0] == 'y' || line[0] == 'Y';
}

void tool_keep_sigpipe(void)
{
	/* If the parent process ignores SIGPIPE, EPIPE is reported like any other
	 * error. */
	output.deadly = signal(SIGPIPE, SIG_IGN) != SIG_IGN;
}

int tool_output_failed(const char *name)
{
	int error = errno;

	if (error == EPIPE && output.deadly)
		output.gone = true;
	else if (!output.failed)
		tool_error("%s: %s", name ? tool_quote(name) : "standard output",
		           strerror(error));
	output.failed = true;
	return TOOL_REPORTED;
}

int tool_finish(int code)
{
	if (fflush(stdout) || ferror(stdout))
		(void)tool_output_failed(NULL);
	if (output.gone) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	return output.failed && code == TOOL_OK ? TOOL_FAILED : code;
}

int tool_usage(void)
{
	fprintf(stderr, "Try `%s --help`.\n", program);
	return TOOL_USAGE;
}

/* ---- Numbers ---------------------------------------------------------------- */

int tool_parse_size(const char *s, uint64_t *ret)
{
	static const char units[] = "kmgtpe";
	const char *unit;
	char *end;
	double v, factor = 1;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	v = strtod(s, &end);
	while (*end == ' ')
		end++;
	if (*end && *end != 'b' && *end != 'B') {
		unit = strchr(units, *end | 0x20);
		if (!unit)
			return -EINVAL;
		for (const char *u = units; u <= unit; u++)
			factor *= 1024;
		end++;
		if (*end == 'i')
			end++;
	}
	if (*end == 'b' || *end == 'B')
		end++;
	v *= factor;
	if (*end || !(v >= 0) || v >= 18446744073709551615.0)
		return -EINVAL;
	*ret = (uint64_t)v;
	return 0;
}

int tool_parse_number(const char *s, uint64_t low, uint64_t high, uint64_t *ret)
{
	unsigned long long v;
	char *end;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10);
	if (errno || *end || v < low || v > high)
		return -EINVAL;
	*ret = v;
	return 0;
}

int tool_parse_seconds(const char *s, uint64_t *ret_ns)
{
	char *end;
	double v;

	if ((*s < '0' || *s > '9') && *s != '.')
		return -EINVAL;
	v = strtod(s, &end);
	if (end == s || *end || !(v >= 0) || v > 1e9)
		return -EINVAL;
	*ret_ns = (uint64_t)(v * 1e9);
	return 0;
}

const char *tool_human(uint64_t bytes)
{
	static char ring[8][32];
	static unsigned next;
	static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
	                                    "TiB", "PiB", "EiB"};
	char *buf = ring[next++ % 8];
	double v = (double)bytes;
	unsigned u = 0;

	while (v >= 1024 && u < 6) {
		v /= 1024;
		u++;
	}
	if (u == 0)
		snprintf(buf, sizeof(ring[0]), "%" PRIu64 " B", bytes);
	else
		snprintf(buf, sizeof(ring[0]), v < 10 ? "%.2f %s" : "%.1f %s", v,
		         units[u]);
	return buf;
}

const char *tool_human_short(uint64_t bytes)
{
	static char ring[8][16];
	static unsigned next;
	char *buf = ring[next++ % 8];
	uint64_t unit = 1, tenths;
	unsigned u = 0;

	while (bytes / unit >= 1024 && u < 6) {
		unit *= 1024;
		u++;
	}
	for (;;) {
		/* Rounds up without overflow. */
		tenths = bytes / unit * 10 + (bytes % unit * 10 + unit - 1) / unit;
		if (u == 6 || tenths <= 10230)
			break;
		unit *= 1024;
		u++;
	}
	if (!u)
		snprintf(buf, sizeof(ring[0]), "%" PRIu64, bytes);
	else if (tenths < 100)
		snprintf(buf, sizeof(ring[0]), "%u.%u%c", (unsigned)(tenths / 10),
		         (unsigned)(tenths % 10), " KMGTPE"[u]);
	else
		snprintf(buf, sizeof(ring[0]), "%u%c", (unsigned)((tenths + 9) / 10),
		         " KMGTPE"[u]);
	return buf;
}

uint64_t tool_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const char *tool_provider_reason(int error)
{
	switch (-error) {
	case ENOPKG:
		return "--provider verbs needs rdma-core: install libibverbs1, "
		       "librdmacm1 and ibverbs-providers";
	case ENODEV:
		return "no RDMA device serves it (`rdma link show` lists the devices)";
	default:
		return strerror(-error);
	}
}

/* ---- Engine and connection ----------------------------------------------- */

static void write_trace(void *arg, const char *json)
{
	fprintf(arg, "%s\n", json);
}

/* Returns true if a symbolic link may be followed.  Another user may have planted the
 * link in a directory that any user can write to. */
static bool link_is_trusted(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && (st.st_uid == geteuid() || !st.st_uid);
}

FILE *tool_create(const char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	int fd = open(path, flags | O_NOFOLLOW, 0666);
	FILE *f;

	if (fd < 0 && errno == ELOOP && link_is_trusted(path))
		fd = open(path, flags, 0666);
	if (fd < 0)
		return NULL;
	f = fdopen(fd, "w");
	if (!f)
		close(fd);
	return f;
}

static int load_hostauth(struct tool_common *c)
{
	struct rpcrdma_hostauth_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
	char reason[160];
	int r;

	if (!c->hostauth_policy || c->hostauth)
		return 0;
	o.cert_file = c->cert;
	o.key_file = c->key;
	o.ca_file = c->ca;
	o.psk_file = c->psk;
	o.allow = c->allow;
	o.n_allow = c->n_allow;
	r = rpcrdma_hostauth_new(&o, &c->hostauth, reason, sizeof(reason));
	if (r)
		tool_error("--hostauth: %s", reason[0] ? reason : strerror(-r));
	return r;
}

int tool_engine_new(struct tool_common *c, struct rpcrdma_engine **ret)
{
	struct rpcrdma_engine_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_engine_options);
	int r;

	if (c->trace && !c->trace_file) {
		c->trace_file = strcmp(c->trace, "-") ? tool_create(c->trace) : stderr;
		if (!c->trace_file) {
			r = -errno;
			tool_error("--trace: cannot write %s: %s",
			           tool_quote_always(c->trace), strerror(-r));
			return r;
		}
	}
	if (c->trace_file) {
		o.trace = write_trace;
		o.trace_arg = c->trace_file;
	}
	o.spin_ns = c->spin_ns;
	r = load_hostauth(c);
	if (r)
		return r;
	r = rpcrdma_engine_new(&o, ret);
	if (r)
		tool_error("cannot start: %s", strerror(-r));
	return r;
}

void tool_conn_options(const struct tool_common *c, struct rpcrdma_conn_options *ret)
{
	*ret = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	ret->provider = c->provider;
	ret->version = c->version;
	ret->features = c->features;
	ret->credits = c->credits;
	ret->inline_bytes = c->inline_bytes;
	ret->send_item_bytes = c->send_item_bytes;
	ret->segment_bytes = c->segment_bytes;
	ret->hostauth_policy = c->hostauth_policy;
	ret->hostauth = c->hostauth;
	ret->hostauth_name = c->peer_name;
}

const char *tool_feature_names(uint64_t mask, char ret[TOOL_FEATURES_BYTES])
{
	static const struct {
		enum rpcrdma_feature bit;
		const char *name;
	} features[] = {
	        {RPCRDMA_FEATURE_RPRC, "rprc"},
	        {RPCRDMA_FEATURE_REMINV, "reminv"},
	        {RPCRDMA_FEATURE_RTR, "rtr"},
	        {RPCRDMA_FEATURE_HTFAM, "htfam"},
	};
	size_t n = 0;

	ret[0] = 0;
	for (size_t i = 0; i < TOOL_N(features); i++)
		if (mask & (uint64_t)features[i].bit)
			n += (size_t)snprintf(ret + n, TOOL_FEATURES_BYTES - n, " %s",
			                      features[i].name);
	return ret;
}

void tool_common_end(struct tool_common *c)
{
	rpcrdma_hostauth_free(c->hostauth);
	c->hostauth = NULL;
	if (!c->trace_file)
		return;
	if (c->trace_file == stderr)
		fflush(stderr);
	else
		fclose(c->trace_file);
	c->trace_file = NULL;
}

/* ---- Progress ------------------------------------------------------------------ */

void tool_progress_begin(struct tool_progress *p, const char *what, uint64_t total,
                         bool quiet)
{
	*p = (struct tool_progress){.what = what, .total = total, .quiet = quiet};
	p->started_ns = tool_now_ns();
	p->shown_ns = p->started_ns;
}

static void format_bar(char *buf, size_t size, unsigned percent)
{
	unsigned n = 24, full = percent * n / 100;

	if (size < n + 3)
		return;
	buf[0] = '[';
	memset(buf + 1, '#', full);
	memset(buf + 1 + full, '.', n - full);
	memcpy(buf + 1 + n, "]", 2);
}

static void print_progress(struct tool_progress *p, bool tty, uint64_t now)
{
	double s = (double)(now - p->started_ns) / 1e9;
	uint64_t rate = s > 0 ? (uint64_t)((double)p->done / s) : 0;
	unsigned percent = 0;
	char bar[32] = "", of[64] = "", files[48] = "";

	if (p->total) {
		uint64_t done = p->done < p->total ? p->done : p->total;

		percent = (unsigned)((double)done * 100 / (double)p->total);
		format_bar(bar, sizeof(bar), percent);
		snprintf(of, sizeof(of), " of %s, %u %%", tool_human(p->total),
		         percent);
	}
	if (p->files)
		snprintf(files, sizeof(files), ", %" PRIu64 " file%s", p->files,
		         p->files == 1 ? "" : "s");
	if (tty)
		fprintf(stderr, "\r\033[K%s %s%s%s, %s/s", bar, tool_human(p->done), of,
		        files, tool_human(rate));
	else
		fprintf(stderr, "%s%s%s, %s/s\n", tool_human(p->done), of, files,
		        tool_human(rate));
	p->shown = true;
}

static void update_progress(struct tool_progress *p)
{
	static int tty = -1;
	uint64_t now;

	if (p->quiet)
		return;
	if (tty < 0)
		tty = isatty(STDERR_FILENO);
	now = tool_now_ns();
	if (now - p->shown_ns < (tty && p->shown ? 100000000u : 1000000000u))
		return;
	p->shown_ns = now;
	print_progress(p, tty, now);
}

void tool_progress_add(struct tool_progress *p, uint64_t bytes, const char *what)
{
	p->done += bytes;
	if (what)
		p->what = what;
	update_progress(p);
}

void tool_progress_end(struct tool_progress *p)
{
	if (p->shown && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	p->shown = false;
}
