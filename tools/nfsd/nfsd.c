/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd: an NFS version 3 server for directories of this host.
 *
 * Engines, one for each core by default, serve connections.  Worker threads run the
 * operations that may sleep.  The process sets up the secret, exports, privileges,
 * engines, programs, listeners and TCP threads, in this order, and shuts down in the
 * reverse order.  When the server is
 * ready, it prints one line for each listener and notifies the service manager.
 *
 * SIGINT and SIGTERM end the first engine's loop.  SIGHUP also ends the loop, unless there is
 * an exports file to load again or nohup(1) has made the process ignore SIGHUP.  After
 * the loop, the server removes its registrations, closes its listeners, answers the
 * requests in progress, and exits with status 0.  If a file system does not respond,
 * the server does not wait for requests on that file system: it reports their number
 * and exits with status 1.  A second signal ends the process at once.
 */
#include "daemon.h"
#include "notify.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	DRAIN_SECONDS = 2,
	STOP_SECONDS = 1, /* additional time for workers and look-ups to finish */
};

time_t nfsd_now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec;
}

/* -- setting up ------------------------------------------------------------ */

static struct rpcrdma_engine *volatile signalled; /* stopped by on_stop_signal */

static void on_stop_signal(int sig)
{
	(void)sig;
	rpcrdma_engine_stop(signalled);
}

static void install_signals(struct rpcrdma_engine *engine, bool reloads)
{
	struct sigaction stop = {.sa_handler = on_stop_signal,
	                         .sa_flags = (int)SA_RESETHAND};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

	signalled = engine;
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	if (!reloads && !sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &stop, NULL); /* sent when the terminal is closed */
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL); /* writes beyond the size limit fail with
	                                    * EFBIG */
}

/* Raises the limit on open descriptors.  Returns the number of objects that may be open
 * within that limit. */
static unsigned choose_object_limit(void)
{
	struct rlimit r;
	rlim_t n;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return 64;
	r.rlim_cur = r.rlim_max < 65536 ? r.rlim_max : 65536;
	(void)setrlimit(RLIMIT_NOFILE, &r); /* if this fails, the old limit applies */
	n = getrlimit(RLIMIT_NOFILE, &r) ? 256 : r.rlim_cur;
	/* Reserve three descriptors for each object; the others are for connections. */
	n = n > 332 ? (n - 272) / 3 : 20;
	return n < 4096 ? (unsigned)n : 4096;
}

static void on_expire(void *arg)
{
	struct daemon *s = arg;

	s->expire = NULL;
	objects_expire(&s->nfsd);
	crossings_expire(&s->nfsd);
	warn_print_counts(false);
	/* If there is no memory for the timer, descriptors stay open until the cache is
	 * full. */
	(void)!rpcrdma_timer_start(s->engines[0], 1000000000, on_expire, s, &s->expire);
}

/* Drops capabilities, and finds out whether the server is privileged.  Call this before
 * any RDMA device is opened; see engine_keeps_identity. */
static int take_identity(struct daemon *s)
{
	s->nfsd.privileged = ident_init();
	if (!s->nfsd.privileged && !geteuid()) {
		/* Without the two capabilities, every client would be served as
		 * root. */
		tool_error("root without CAP_SETUID and CAP_SETGID cannot act as its "
		           "clients; run the server as an ordinary user");
		return -EPERM;
	}
	if (!s->nfsd.privileged)
		tool_log(TOOL_NOTICE, "not root: every request is served as uid %u",
		         (unsigned)geteuid());
	return 0;
}

/* Starts group look-ups if --manage-gids is given.  Without privilege, all requests are
 * served with the server's groups, so no look-ups are needed. */
static int start_groups(struct daemon *s)
{
	enum { SHARE = 8 }; /* 1/8 of the memory, for requests that wait for groups */
	struct rpcrdma_budget b;

	if (!s->manage_gids || !s->nfsd.privileged)
		return 0;
	rpcrdma_budget_get(&b, sizeof(b));
	s->nfsd.groups = groups_new(b.limit_bytes / SHARE);
	return s->nfsd.groups ? 0 : -ENOMEM;
}

/* Checks that faccessat2 is available; Linux before 5.8 and old seccomp profiles lack
 * it.  Without faccessat2, an unprivileged server uses access(2).  A privileged server
 * cannot start: the function prints a message and returns -ENOSYS. */
static int check_access_call(struct daemon *s)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int e = syscall(SYS_faccessat2, root, "", F_OK, AT_EACCESS | AT_EMPTY_PATH)
	                ? errno
	                : 0;

	if (root >= 0)
		close(root);
	if (e != ENOSYS && e != EPERM)
		return 0;
	s->nfsd.old_access = true;
	if (!s->nfsd.privileged)
		return 0;
	tool_error("the kernel (Linux before 5.8) or a seccomp profile does not allow "
	           "faccessat2, which root needs to check the permissions of clients; "
	           "allow it, or run the server as an ordinary user");
	return -ENOSYS;
}

/* Starts the thread for RPCSEC_GSS contexts.  Call this before the first request,
 * because the thread inherits the caller's identity. */
static int start_gss(struct daemon *s)
{
	struct rpcrdma_service_gss_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_service_gss_options);
	char reason[256] = "";
	int e;

	if (!s->nfsd.kerberos)
		return 0;
	if (s->keytab && setenv("KRB5_KTNAME", s->keytab, 1))
		return -ENOMEM;
	o.principal = s->principal;
	o.max_contexts = s->gss_contexts;
	o.ret_reason = reason;
	o.no_room = complain_of_contexts;
	e = rpcrdma_service_set_gss(s->service, &o);
	if (e)
		tool_error("no key for RPCSEC_GSS in %s: %s",
		           s->keytab ? s->keytab : "the keytab",
		           *reason ? reason : strerror(-e));
	return e;
}

/* Writes the PID file.  Call this after the listeners have been opened, so that a
 * second server on the same port fails before it overwrites the first server's file. */
static int write_pid_file(struct daemon *s)
{
	FILE *f = s->pid_file ? tool_create(s->pid_file) : NULL;
	int e = 0;

	if (!s->pid_file)
		return 0;
	if (!f)
		e = -errno;
	else if (fprintf(f, "%d\n", (int)getpid()) < 0 || fflush(f))
		e = -EIO;
	if (f && fclose(f) && !e)
		e = -errno;
	if (e)
		tool_error("--pid-file: cannot write %s: %s",
		           tool_quote_always(s->pid_file), strerror(-e));
	s->has_pid_file = !e;
	return e;
}

static int start_daemon(struct daemon *s)
{
	int e;

	s->umask = umask(077);
	(void)umask(s->umask); /* no system call reads the umask without setting it */
	s->nfsd.threads = (unsigned)s->threads;
	if (s->memory)
		(void)!rpcrdma_budget_set(s->memory); /* the range has been checked */
	nfsd_renew_verf(&s->nfsd);
	e = export_load_secret(&s->nfsd, s->state_dir);
	if (!e)
		e = export_open_all(&s->nfsd);
	if (!e && s->reload.file) {
		reload_hold(); /* must precede the first thread */
		e = export_install(&s->nfsd, s->reload.file, &s->from_file);
	}
	if (!e)
		e = take_identity(s);
	if (!e)
		e = check_access_call(s);
	if (!e)
		e = engines_new(s);
	if (e)
		return e;
	install_signals(s->engines[0], s->reload.file);
	e = start_groups(s);
	if (!e)
		e = rpcrdma_service_new(&s->service);
	if (!e)
		e = rpcrdma_service_set_reply_cache(s->service, s->reply_cache);
	if (!e)
		e = nfsd_add_programs(&s->nfsd, s->service);
	if (e)
		tool_error("cannot start: %s", strerror(-e));
	if (!e)
		e = start_gss(s);
	if (!e)
		e = listening_begin(s);
	return e ? e : write_pid_file(s);
}

static int run_daemon(struct daemon *s)
{
	int e;

	e = s->mountd ? tcpd_start(s->mountd) : 0;
	if (!e && s->gssd)
		e = tcpd_start(s->gssd);
	if (!e)
		e = engines_start(s);
	if (!e && s->reload.file)
		e = reload_start(&s->reload);
	if (e) {
		tool_error("cannot start threads: %s", strerror(-e));
		return e;
	}
	(void)umask(0); /* from now on, clients choose file modes */
	on_expire(s);
	e = listening_announce(s);
	if (!e)
		reload_report_ready(&s->nfsd, "");
	if (!e)
		e = rpcrdma_engine_run(s->engines[0]);
	if (e && e != TOOL_REPORTED)
		tool_error("%s", strerror(-e));
	rpcrdma_timer_cancel(s->expire);
	return e;
}

/* -- taking down ----------------------------------------------------------- */

static void drain_requests(struct daemon *s)
{
	uint64_t until = tool_now_ns() + (DRAIN_SECONDS + 2) * 1000000000ull;

	(void)ident_enter_server(); /* this thread may still have a client's identity */
	notify_stopping("Answering the last requests");
	reload_stop(&s->reload);
	listening_unregister(s);
	for (unsigned i = 0; i < s->n_listeners; i++)
		rpcrdma_listener_close(s->listeners[i], DRAIN_SECONDS * 1000000000ull);
	tcpd_stop(s->mountd);
	tcpd_stop(s->gssd);
	while (!rpcrdma_engine_idle(s->engines[0]) && tool_now_ns() < until)
		if (rpcrdma_engine_process(s->engines[0], 100))
			break;
	engines_stop(s);
}

static void remove_pid_file(const struct daemon *s)
{
	struct stat st;

	if (s->has_pid_file && !lstat(s->pid_file, &st) && S_ISREG(st.st_mode) &&
	    unlink(s->pid_file))
		tool_error("--pid-file: cannot remove %s: %s",
		           tool_quote_always(s->pid_file), strerror(errno));
}

static void finish_files(const struct daemon *s)
{
	int e = 0;

	(void)umask(s->umask);
	(void)ident_enter_server();
	warn_print_counts(true);
	remove_pid_file(s);
	if (s->stats && s->service)
		e = nfsd_write_stats(s->stats, s->engines, s->n_engines, s->service,
		                     s->mountd, s->mount_rpc.nlm_calls, s->gssd);
	if (e)
		tool_error("%s: %s", s->stats, strerror(-e));
}

static bool stop_workers(struct daemon *s)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_SECONDS;
	/* Look-ups stop first, because requests that wait for groups are passed to the
	 * workers. */
	return groups_stop(s->nfsd.groups, &until) && fs_stop_all(&s->nfsd, &until);
}

/* Reports and returns the number of unfinished requests on the file system of @ex. */
static unsigned report_stuck(const struct export *ex)
{
	unsigned n = workers_pending(&ex->fs->workers);

	if (n)
		tool_error("the file system of %s does not answer: %u requests on it "
		           "were not finished",
		           ex->top ? ex->name : ex->dir, n);
	return n;
}

/* Exits without freeing any memory, because threads that sleep in the kernel are still
 * using it. */
static _Noreturn void exit_stuck(struct daemon *s, int e)
{
	unsigned waiting = groups_waiting(s->nfsd.groups), all = waiting;

	if (waiting)
		tool_error(
		        "look-ups of groups do not end: %u requests were not finished",
		        waiting);
	for (unsigned i = 0; i < s->nfsd.n_exports; i++)
		all += report_stuck(s->nfsd.exports[i]);
	for (struct export *ex = s->nfsd.crossings.first; ex; ex = ex->next)
		all += report_stuck(ex);
	finish_files(s);
	(void)fflush(NULL); /* including the trace */
	_exit(e || all ? TOOL_FAILED : TOOL_OK);
}

static void take_down_daemon(struct daemon *s)
{
	finish_files(s);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	engines_free(s);
	tcpd_free(s->mountd);
	tcpd_free(s->gssd);
	rpcrdma_service_free(s->service);
	objects_fini(&s->nfsd);
	handle_cache_fini(&s->nfsd.handles);
	crossings_fini(&s->nfsd);
	export_close_all(&s->nfsd);
	exports_free(&s->from_file);
	fs_free_all(&s->nfsd);
	groups_free(s->nfsd.groups);
	for (unsigned i = 0; i < s->nfsd.n_mounts; i++)
		free(s->nfsd.mounts[i].dir);
	tool_common_end(&s->common);
}

int nfsd_main(int argc, char **argv)
{
	struct daemon *s = calloc(1, sizeof(*s));
	int e;

	if (!s)
		return TOOL_FAILED;
	if (tool_log_is_journal())
		tool_log_levels();
	s->threads = 16;
	s->mount_port = s->gss_port = NO_PORT;
	s->connections = 128;
	s->reply_cache = 8 << 20;
	s->nfsd.defaults.squash = (struct squash){true, false, 65534, 65534};
	s->reload.nfsd = &s->nfsd;
	access_init(&s->nfsd.access);
	pthread_mutex_init(&s->nfsd.fs_lock, NULL);
	crossings_init(&s->nfsd.crossings);
	pthread_mutex_init(&s->nfsd.lock, NULL);
	objects_init(&s->nfsd.objects, choose_object_limit());
	handle_cache_init(&s->nfsd.handles);
	e = command_parse(s, argc, argv);
	if (e != TOOL_GO_ON) {
		objects_fini(&s->nfsd);
		handle_cache_fini(&s->nfsd.handles);
		crossings_fini(&s->nfsd);
		export_close_all(&s->nfsd);
		exports_free(&s->from_file);
		free(s);
		return e;
	}
	notify_init();
	e = start_daemon(s);
	if (!e)
		e = run_daemon(s);
	if (s->engines[0])
		drain_requests(s);
	if (!stop_workers(s))
		exit_stuck(s, e);
	take_down_daemon(s);
	pthread_mutex_destroy(&s->nfsd.lock);
	pthread_mutex_destroy(&s->nfsd.fs_lock);
	access_fini(&s->nfsd.access);
	free(s);
	return e ? TOOL_FAILED : TOOL_OK;
}
