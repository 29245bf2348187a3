/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma cp: decides which files are copied to which names.  client/copy*.c copies the
 * files; client/cp_dst.c opens the destination.
 *
 * Sources and the destination are URLs, local paths or "-"; at least one of them must
 * be a URL.  cp makes one connection for each export, or several (--connections).
 */
#include "client/cp_dst.h"
#include "client/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- Servers ------------------------------------------------------------- */

static struct server *find_server(const struct cp *c, const struct url *u)
{
	struct server *s;

	for (s = c->servers; s; s = s->next)
		if (!strcmp(s->url.host, u->host) && !strcmp(s->url.port, u->port) &&
		    nfs_serves(&s->client, u))
			break;
	return s;
}

/* Returns the client for the export in @u.  Connects if this is its first use. */
static struct server *get_server(struct cp *c, struct url *u)
{
	struct server *s = find_server(c, u), *same;

	if (s)
		return url_rebase(u, s->client.export) ? NULL : s;
	s = calloc(1, sizeof(*s));
	if (!s || nfs_open(&s->client, &c->loop, u, &c->nfs)) {
		free(s);
		return NULL;
	}
	/* nfs_open has found out where the export's name ends, so search again. */
	same = find_server(c, u);
	if (same) {
		nfs_close(&s->client);
		free(s);
		return same;
	}
	memcpy(s->url.host, u->host, sizeof(u->host));
	memcpy(s->url.port, u->port, sizeof(u->port));
	s->next = c->servers;
	c->servers = s;
	return s;
}

static void drop_servers(struct cp *c)
{
	struct server *s;

	while ((s = c->servers)) {
		c->servers = s->next;
		nfs_close(&s->client);
		free(s);
	}
}

struct server *cp_server(struct cp *c, const char *text, struct url *u)
{
	struct server *s;

	if (nfs_url(text, true, u))
		return NULL;
	s = get_server(c, u);
	if (!s)
		url_fini(u);
	return s;
}

/* ---- Sources ------------------------------------------------------------- */

/* Returns the name that a source gets in the destination.  Returns NULL for "." and
 * "..", or if -T is given: the contents of the source are then copied into the
 * destination itself.
 */
static const char *choose_name(const struct cp *c, const char *last)
{
	if (c->name)
		return c->name;
	return c->no_target_dir || !strcmp(last, ".") || !strcmp(last, "..") ? NULL
	                                                                     : last;
}

/* If -T is given and a file would have no name in the destination, prints a message and
 * returns true. */
static bool lacks_name(struct cp *c, const char *name)
{
	if (name)
		return false;
	tool_error("cannot overwrite directory %s with non-directory",
	           tool_quote_always(c->dst));
	c->copy.failed++;
	return true;
}

static int write_to_output(struct cp *c, struct nfs_client *client,
                           const struct nfs_node *node, const char *text)
{
	struct nfs_stream_options o = {c->copy.in_flight, c->copy.io_bytes,
	                               c->stream == STDOUT_FILENO ? NULL : c->dst};
	uint64_t n = 0;
	int r;

	if (o.bytes > client->read_bytes)
		o.bytes = client->read_bytes;
	if (node->attr.type == NF3REG)
		r = nfs_stream(client, &node->fh, &node->attr, c->stream, &o,
		               &c->copy.progress, &n);
	else
		r = node->attr.type == NF3DIR ? (int)NFS3ERR_ISDIR : (int)NFS3ERR_INVAL;
	c->copy.bytes += n;
	if (r)
		copy_report_failure(&c->copy, "read", text, client, r);
	else
		c->copy.files++;
	return r == -EINTR || r == TOOL_REPORTED ? r : 0;
}

static int start_node(struct cp *c, struct nfs_client *client,
                      const struct nfs_node *node, const char *text, const char *last)
{
	struct copy_source src = {
	        .client = client, .fh = node->fh, .fd = -1, .label = text};
	const char *name = choose_name(c, last);

	if (c->single && node->attr.type == NF3REG)
		c->copy.progress.total = node->attr.size;
	if (c->stream >= 0)
		return write_to_output(c, client, node, text);
	if (node->attr.type == NF3DIR && c->recursive)
		return copy_tree_remote(&c->copy, client, &node->fh, &node->attr, text,
		                        c->dir, name);
	if (node->attr.type == NF3DIR) {
		tool_error("-r not specified; omitting directory %s",
		           tool_quote_always(text));
		c->copy.failed++;
		return 0;
	}
	if (node->attr.type != NF3REG && node->attr.type != NF3LNK) {
		tool_error("omitting special file %s", tool_quote_always(text));
		c->copy.failed++;
		return 0;
	}
	if (lacks_name(c, name))
		return 0;
	src.kind = node->attr.type == NF3LNK ? COPY_LINK : COPY_FILE;
	copy_meta_from_attr(&node->attr, &src.meta);
	copy_job_start(&c->copy, &src, c->dir, name);
	return 0;
}

/* Returns true if a symbolic link given as a source is followed. */
static bool follows_source(const struct cp *c)
{
	if (c->never_follow)
		return false;
	return c->copy.follow || c->follow_named || !c->recursive;
}

static int start_url(struct cp *c, const char *text)
{
	struct nfs_node node;
	struct server *s;
	const char *last;
	struct url u;
	int r;

	s = cp_server(c, text, &u);
	if (!s) {
		c->copy.failed++;
		return loop_signal() ? -EINTR : 0;
	}
	r = nfs_walk_url(&s->client, &u, follows_source(c) || u.slash ? NFS_FOLLOW : 0,
	                 &node);
	last = *u.path ? u.path : u.export;
	if (strrchr(last, '/'))
		last = strrchr(last, '/') + 1;
	if (r) {
		(void)nfs_report(&s->client, "access", text, r);
		c->copy.failed++;
	} else {
		r = start_node(c, &s->client, &node, text, last);
	}
	url_fini(&u);
	return r == -EINTR ? r : c->copy.fatal;
}

static int start_stdin(struct cp *c)
{
	struct copy_source src = {.kind = COPY_FILE, .stream = true, .label = "-"};
	struct stat sb;

	if (!c->name) {
		tool_error("-: standard input needs the name of a destination file");
		c->copy.failed++;
		return 0;
	}
	src.fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (src.fd < 0 || fstat(src.fd, &sb)) {
		copy_report_failure(&c->copy, "read", "-", NULL, -errno);
		return 0;
	}
	copy_meta_from_stat(&sb, &src.meta);
	src.meta.mode = 0666;
	copy_job_start(&c->copy, &src, c->dir, c->name);
	return 0;
}

static int start_file(struct cp *c, const char *path, const struct stat *found,
                      const char *name)
{
	struct copy_source src = {.kind = COPY_FILE, .label = path, .fd = -1};
	struct stat sb = *found;

	if (S_ISLNK(sb.st_mode)) {
		src.kind = COPY_LINK;
		src.target = copy_read_target(AT_FDCWD, path);
	} else {
		src.fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (src.kind == COPY_LINK ? !src.target : src.fd < 0 || fstat(src.fd, &sb)) {
		copy_report_failure(&c->copy, "open", path, NULL, -errno);
		if (src.fd >= 0)
			close(src.fd);
		return 0;
	}
	copy_meta_from_stat(&sb, &src.meta);
	src.stream = src.kind == COPY_FILE && copy_is_stream(src.fd, &sb);
	copy_job_start(&c->copy, &src, c->dir, name);
	return 0;
}

static int start_local(struct cp *c, const char *path)
{
	char *copy = strdup(path);
	size_t n = strlen(path);
	const char *name;
	struct stat sb;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	if (follows_source(c) || (n && path[n - 1] == '/') ? stat(path, &sb)
	                                                   : lstat(path, &sb)) {
		copy_report_failure(&c->copy, "access", path, NULL, -errno);
		free(copy);
		return 0;
	}
	name = choose_name(c, basename(copy));
	if (S_ISDIR(sb.st_mode) && !c->recursive) {
		tool_error("-r not specified; omitting directory %s",
		           tool_quote_always(path));
		c->copy.failed++;
	} else if (S_ISDIR(sb.st_mode)) {
		if (name && !strcmp(name, "/"))
			name = NULL;
		r = copy_tree_local(&c->copy, AT_FDCWD, path, path, c->dir, name);
	} else if (c->recursive && !S_ISREG(sb.st_mode) && !S_ISLNK(sb.st_mode)) {
		tool_error("omitting special file %s", tool_quote_always(path));
		c->copy.failed++;
	} else if (!lacks_name(c, name)) {
		r = start_file(c, path, &sb, name);
	}
	free(copy);
	return r;
}

static int start_source(struct cp *c, const char *source)
{
	if (url_is(source))
		return start_url(c, source);
	if (!strcmp(source, "-"))
		return start_stdin(c);
	return start_local(c, source);
}

/* ---- The whole ----------------------------------------------------------- */

static bool refuse_local(char **v, int n)
{
	for (int i = 0; i < n - 1 && !url_is(v[n - 1]); i++)
		if (!url_is(v[i])) {
			tool_error("neither %s nor %s is a URL "
			           "(nfs://HOST/NAME/PATH); use "
			           "cp(1) for local files",
			           tool_quote(v[i]), tool_quote(v[n - 1]));
			return true;
		}
	return false;
}

static bool refuse_bad_urls(char **v)
{
	struct url u;

	for (; *v; v++)
		if (url_is(*v)) {
			if (nfs_url(*v, true, &u))
				return true;
			url_fini(&u);
		}
	return false;
}

static void raise_files(void)
{
	struct rlimit l;

	if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &l); /* not required */
	}
}

static uint64_t get_known_size(char **v, int n)
{
	struct stat sb;

	if (n == 1 && !url_is(v[0]) && !stat(v[0], &sb) && S_ISREG(sb.st_mode))
		return (uint64_t)sb.st_size;
	return 0;
}

/* Reports a source that is given twice.  As in cp(1), that is not a failure. */
static bool report_repeated(char **v, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(v[i], v[n])) {
			tool_error("warning: source %s specified more than once",
			           tool_quote_always(v[n]));
			return true;
		}
	return false;
}

static int copy_all(struct cp *c, char **v, int n)
{
	bool quiet = c->copy.quiet ||
	             !(c->progress || c->common.verbose || isatty(STDERR_FILENO));
	int r = 0;

	c->single = n == 1;
	tool_progress_begin(&c->copy.progress, NULL, get_known_size(v, n), quiet);
	for (int i = 0; i < n && !r; i++) {
		if (report_repeated(v, i))
			continue;
		r = copy_wait(&c->copy, c->copy.max_jobs);
		if (!r)
			r = start_source(c, v[i]);
	}
	if (!r)
		r = copy_wait(&c->copy, 1);
	if (r) {
		c->copy.fatal = r;
		copy_abort(&c->copy);
	}
	tool_progress_end(&c->copy.progress);
	return r;
}

static int report_totals(struct cp *c)
{
	const struct copy *k = &c->copy;
	struct json_stats_more more = {"cp", k->files, k->bytes,
	                               tool_now_ns() - c->started_ns};
	double s = (double)more.elapsed_ns / 1e9;

	if (k->failed > 1 || (k->failed && k->files))
		tool_error("%" PRIu64 " copied, %" PRIu64 " not copied", k->files,
		           k->failed);
	if (c->common.json)
		/* Keep messages out of the data. */
		fprintf(c->stream == STDOUT_FILENO ? stderr : stdout,
		        "{\"files\":%" PRIu64 ",\"failed\":%" PRIu64
		        ",\"bytes\":%" PRIu64 ",\"elapsed_s\":%.6f}\n",
		        k->files, k->failed, k->bytes, s);
	else if (c->common.verbose)
		fprintf(stderr, "%" PRIu64 " file%s, %s in %.2f s, %s/s\n", k->files,
		        k->files == 1 ? "" : "s", tool_human(k->bytes), s,
		        tool_human(s > 0 ? (uint64_t)((double)k->bytes / s) : 0));
	return c->stats ? json_stats(c->stats, c->loop.engine, &more) : 0;
}

static int run_copy(struct cp *c, char **v, int n)
{
	bool made;
	int r;

	c->started_ns = tool_now_ns();
	copy_init(&c->copy, &c->loop);
	/* Keep messages out of data and JSON. */
	if (c->common.verbose)
		c->copy.verbose_out =
		        c->common.json || !strcmp(v[n - 1], "-") ? stderr : stdout;
	if (c->links && !(c->copy.links = copy_links_new()))
		return TOOL_FAILED;
	/* With numbered backups, cp backs up a destination file that this run has made.
	 * Otherwise cp refuses to copy another source to that file. */
	made = n > 2 && c->copy.backup != COPY_NUMBERED;
	if (made)
		c->copy.made = copy_made_new();
	r = made && !c->copy.made ? -ENOMEM : cp_open_dst(c, v[n - 1], n - 1);
	if (!r)
		r = copy_all(c, v, n - 1);
	if (c->dir)
		copy_dir_put(c->dir);
	free(c->name);
	if (report_totals(c) || c->copy.failed)
		r = r ? r : -EIO;
	drop_servers(c);
	copy_fini(&c->copy);
	return r ? TOOL_FAILED : TOOL_OK;
}

/* Reads the argument of --preserve.  Each word (mode, ownership, timestamps) selects
 * all three. */
static int take_preserve(void *to, const char *arg)
{
	struct cp *c = to;
	char *copy = strdup(arg ? arg : "mode"), *rest = copy, *word;
	int r = copy ? 0 : -ENOMEM;

	while (!r && (word = strsep(&rest, ","))) {
		bool all = !strcmp(word, "all");

		c->links |= all || !strcmp(word, "links");
		c->copy.preserve |= all || !strcmp(word, "mode") ||
		                    !strcmp(word, "ownership") ||
		                    !strcmp(word, "timestamps");
		if (!all && strcmp(word, "links") && strcmp(word, "mode") &&
		    strcmp(word, "ownership") && strcmp(word, "timestamps")) {
			tool_error("--preserve: %s is not one of mode, ownership, "
			           "timestamps, links, all",
			           tool_quote_always(word));
			r = -EINVAL;
		}
	}
	free(copy);
	return r;
}

static int take_backup(void *to, const char *arg)
{
	struct cp *c = to;

	c->backup_given = true;
	if (arg)
		c->control = arg;
	return 0;
}

/* Sets the options that other options imply.  -L and -H take precedence over -P. */
static void settle_options(struct cp *c)
{
	if (c->as_links)
		c->never_follow = c->links = true;
	if (c->archive)
		c->recursive = c->copy.preserve = c->links = true;
	if (c->copy.keep)
		c->copy.ask = false;
	if (c->copy.follow || c->follow_named)
		c->never_follow = false;
}

/* Returns TOOL_OK, or prints a message and returns the exit code if options exclude
 * each other. */
static int check_cp_options(struct cp *c)
{
	if (c->no_target_dir && c->target) {
		tool_error("cannot combine --target-directory (-t) and "
		           "--no-target-directory (-T)");
		return tool_usage();
	}
	if (!c->backup_given && !c->suffix)
		return TOOL_OK;
	if (c->copy.keep) {
		tool_error("options --backup and --no-clobber are mutually exclusive");
		return tool_usage();
	}
	return copy_backup_choose(&c->copy, c->control, c->suffix) ? tool_usage()
	                                                           : TOOL_OK;
}

/* Appends the target of -t to the sources, as if it were the last operand. */
static char **append_target(struct cp *c, char **v, int *n)
{
	char **all;

	if (!c->target)
		return v;
	all = calloc((size_t)*n + 2, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, v, (size_t)*n * sizeof(*all));
	all[(*n)++] = (char *)c->target;
	return all;
}

/* Checks the operands and copies.  Returns the exit code. */
static int begin_copy(struct cp *c, char **v, int n)
{
	int r;

	if (n < 2) {
		tool_error(n ? c->target ? "missing source operand"
		                         : "missing destination operand"
		             : "missing source and destination operands");
		return tool_usage();
	}
	if (n > 2 && c->no_target_dir) {
		tool_error("extra operand %s", tool_quote_always(v[2]));
		return tool_usage();
	}
	if (refuse_local(v, n) || refuse_bad_urls(v))
		return tool_usage();
	raise_files();
	if (loop_init(&c->loop, &c->common))
		return TOOL_FAILED;
	r = run_copy(c, v, n);
	loop_fini(&c->loop);
	return loop_exit_code(r);
}

static const struct tool_option options[] = {
        {"recursive", "rR", NULL, "copy directories recursively", NULL,
         TOOL_AT(TOOL_SET, struct cp, recursive)},
        {"archive", "a", NULL, "same as -rpP --preserve=links", NULL,
         TOOL_AT(TOOL_SET, struct cp, archive)},
        {"preserve", "p", "LIST",
         "keep times, modes, groups and (as root) owners; LIST may name all, and "
         "links: hard links within the copy",
         "all links mode ownership timestamps", .kind = TOOL_MAY_TAKE,
         .take = take_preserve},
        {NULL, "d", NULL, "same as -P --preserve=links", NULL,
         TOOL_AT(TOOL_SET, struct cp, as_links)},
        {"force", "f", NULL, "replace a destination that cannot be opened for writing",
         NULL, TOOL_AT(TOOL_SET, struct cp, copy.force)},
        {"interactive", "i", NULL, "ask before replacing", NULL,
         TOOL_AT(TOOL_SET, struct cp, copy.ask)},
        {"no-clobber", "n", NULL, "do not replace anything", NULL,
         TOOL_AT(TOOL_SET, struct cp, copy.keep)},
        {"update", "u", NULL, "replace only files that are older than the source", NULL,
         TOOL_AT(TOOL_SET, struct cp, copy.update)},
        {"dereference", "L", NULL, "follow all symbolic links", NULL,
         TOOL_AT(TOOL_SET, struct cp, copy.follow)},
        {NULL, "H", NULL, "follow symbolic links that are named as SRC", NULL,
         TOOL_AT(TOOL_SET, struct cp, follow_named)},
        {"no-dereference", "P", NULL, "follow no symbolic links (default with -r)",
         NULL, TOOL_AT(TOOL_SET, struct cp, never_follow)},
        {"target-directory", "t", "DIR", "copy all SRC into DIR", NULL,
         TOOL_AT(TOOL_TEXT, struct cp, target)},
        {"no-target-directory", "T", NULL,
         "treat DST as a file, not as a directory to copy into", NULL,
         TOOL_AT(TOOL_SET, struct cp, no_target_dir)},
        {"backup", "b", "CONTROL",
         "keep a backup of each file that is replaced; CONTROL is none or off, simple "
         "or never, existing or nil (default), numbered or t",
         "none off simple never existing nil numbered t", .kind = TOOL_MAY_TAKE,
         .take = take_backup},
        {"suffix", "S", "SUFFIX", "suffix of simple backups (~)", NULL,
         TOOL_AT(TOOL_TEXT, struct cp, suffix)},
        {"quiet", "q", NULL, "show no progress", NULL,
         TOOL_AT(TOOL_SET, struct cp, copy.quiet)},
        {"progress", NULL, NULL,
         "show progress even if standard error is not a terminal", NULL,
         TOOL_AT(TOOL_SET, struct cp, progress)},
        {"in-flight", NULL, "N", "READs and WRITEs in flight, 1 to 64 (8)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct cp, copy.in_flight, 1, 64)},
        {"size", NULL, "BYTES",
         "size of one READ or WRITE, 4 KiB to 1 MiB (what the server prefers)", NULL,
         TOOL_RANGE(TOOL_SIZE, struct cp, copy.io_bytes, 4096, NFS_IO_MAX)},
        NFS_CONNECTIONS_ROW(struct cp, nfs),
        {"stats", NULL, "FILE",
         "write counters as JSON at the end; - is standard output", NULL,
         TOOL_AT(TOOL_TEXT, struct cp, stats)},
        NFS_OPTION_ROWS(struct cp, nfs),
        TOOL_COMMON_ROWS(struct cp, common),
};

static int run_cp(int argc, char **argv)
{
	struct cp c = {.stream = -1, .nfs = NFS_OPTIONS};
	char **v;
	int r, n;

	r = tool_read_options(&tool_cp, &c, &c.common, argc, argv);
	if (r != TOOL_GO_ON)
		return r;
	c.copy.io_bytes &= ~4095u;
	settle_options(&c);
	r = check_cp_options(&c);
	if (r != TOOL_OK)
		return r;
	n = argc - optind;
	v = append_target(&c, argv + optind, &n);
	if (!v)
		return TOOL_FAILED;
	r = begin_copy(&c, v, n);
	if (v != argv + optind)
		free(v);
	return r;
}

const struct tool_command tool_cp = {
        .name = "cp",
        .summary = "copy files and trees to or from an NFS server",
        .usage = "usage: rpcrdma cp [OPTION]... SRC... DST\n"
                 "Copies files and trees to or from an NFS server, or between two.  "
                 "SRC and DST are URLs, nfs://HOST[:PORT]/NAME/PATH, local paths, or "
                 "- for a standard stream; at least one of the two is a URL. "
                 "?mountport=N at the end of a URL names the TCP port of MOUNT (see "
                 "`rpcrdma ls --help`).",
        .notes = "A destination is replaced when its new contents are complete and, "
                 "on a server, stable; until then they are named "
                 ".NAME.rpcrdma-XXXXXXXXXX.  The destination keeps its mode and "
                 "owner.  It is written in place if it has several links, or if "
                 "replacing it would lose them.  With -r, symbolic links are copied as "
                 "links; without -r, they are followed.  Sparse files stay sparse.  A "
                 "source that changes while it is read is read again, and refused the "
                 "third time.\n\n"
                 "exit status: 0 success, 1 something was not copied, 2 usage error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_cp,
};
