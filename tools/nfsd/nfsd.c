/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd: an NFS version 3 server over real directories.
 *
 * One engine serves all connections; worker threads do what may sleep.  The
 * process is set up in this order, and taken down in reverse: secret, exports,
 * engine, programs, listeners, privileges dropped, what TCP serves; then one
 * line per listener says that it is ready.  SIGINT, SIGTERM or, where there is no file
 * of exports for it to load and nohup(1) did not have it ignored, SIGHUP ends the loop:
 * registrations are taken back, listeners close, requests being served are answered,
 * the exit code is 0.  What a file system holds back is not waited for: it is said, and
 * the exit code is 1.  A second signal ends it at once.
 */
#include "mount_rpc.h"
#include "tool.h"
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	MAX_LISTENERS = 16,
	MAX_ALLOWED = 256,
	DRAIN_SECONDS = 2,
	STOP_SECONDS = 1, /* then, for workers without an answer to give */
	NO_PORT = 65536,
	MOUNT_PORT = 20048, /* where MOUNT is by custom */
	MAX_MESSAGE = NFSD_MAX_IO + (1 << 20), /* a WRITE or READ without chunks */
	CLIENT_MEMORY = 32 << 20,
	MAX_NULL_CALL = 68 << 10, /* with a token of GSS-API */
};

#define EXPORTS_FILE "/etc/rpcrdma/exports"

struct server {
	struct nfsd nfsd;
	struct tool_common common;
	const char *listen[MAX_LISTENERS];
	unsigned n_listen;
	const char *allow[MAX_ALLOWED]; /* identities of clients */
	const char *clients[MAX_ALLOWED]; /* that may mount what --export names */
	unsigned n_clients;
	struct exports from_file; /* until they are in place */
	struct reload reload;
	const char *stats, *state_dir;
	const char *keytab, *principal;
	uint64_t threads, connections, max_per_address, memory, reply_cache;
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listeners[MAX_LISTENERS];
	unsigned n_listeners;
	bool registers;                /* with the rpcbind of this host */
	unsigned n_registered;         /* the first ones of listeners */
	uint32_t mount_port, gss_port; /* NO_PORT: none was asked for */
	uint32_t gss_contexts;         /* 0: the library's choice */
	struct mount_rpc mount_rpc;
	struct tcpd *mountd, *gssd; /* MOUNT and contexts over TCP, or NULL */
	unsigned n_registered_tcp;  /* the first ones of mountd's addresses */
	struct rpcrdma_timer *expire;
	mode_t umask; /* for the server's own files */
};

static const char help[] =
        "usage: rpcrdma nfsd --export DIR[:/NAME][,wcc]... [--allow CLIENT]... "
        "[OPTION]...\n"
        "       rpcrdma nfsd [--exports FILE] [OPTION]...\n"
        "\n"
        "Serves directories by NFS version 3 (and MOUNT version 3) over RPC-over-RDMA\n"
        "until SIGINT or SIGTERM; SIGHUP loads FILE again, without one it ends the "
        "server.\n"
        "Prints `listening ADDR:PORT PROVIDER VERSION` on standard output when "
        "ready,\n"
        "once for each listener; with --json as an object.\n"
        "-v tells on standard error of clients that come and go.\n"
        "\n"
        "options:\n"
        "  --export DIR[:/NAME][,wcc]  export DIR as /NAME (default: under its own "
        "path);\n"
        "                          repeatable.  What is mounted beneath is not "
        "exported.\n"
        "                          wcc: nobody else changes its directories, so that\n"
        "                          clients may keep them over changes of their own\n"
        "  --exports FILE          export what FILE says, in the syntax of exports(5), "
        "to\n"
        "                          whom it says (" EXPORTS_FILE ", unless there\n"
        "                          is --export)\n"
        "  --allow CLIENT[(OPTION,...)]  let CLIENT mount what --export names, and "
        "others\n"
        "                          not: a host, a network as 192.0.2.0/24, or *; "
        "options\n"
        "                          as in exports(5); repeatable\n"
        "  --listen ADDR[:PORT]    listen there (port 20049); repeatable; port 0 takes "
        "a\n"
        "                          free one.  Without it at any address if something "
        "says\n"
        "                          who may come (--exports, --allow, --hostauth "
        "require,\n"
        "                          --sec without sys), else at 127.0.0.1\n"
        "  --mount-port PORT       serve MOUNT over TCP as well, which the clients of "
        "some\n"
        "                          systems ask for; 0 takes a free port.  Printed as\n"
        "                          `mountd ADDR:PORT tcp`\n"
        "  --gss-port PORT         accept RPCSEC_GSS contexts over TCP as well; Linux "
        "sets\n"
        "                          them up at port 2049.  Printed as `gss ADDR:PORT "
        "tcp`\n"
        "  --register              tell the rpcbind of this host where NFS and MOUNT "
        "are,\n"
        "                          until the end; implies --mount-port 20048.  What a\n"
        "                          dead server left there is replaced\n"
        "  --read-only             refuse all changes\n"
        "  --no-root-squash        let uid 0 of clients be root here\n"
        "  --all-squash            serve every client as the anonymous user\n"
        "  --anonuid N, --anongid N  the anonymous user and group (65534)\n"
        "  --sec FLAVOR[,FLAVOR]...  what NFS may be used with: sys (the default), "
        "krb5,\n"
        "                          krb5i (integrity), krb5p (privacy); the preferred "
        "first\n"
        "  --keytab FILE           the server's Kerberos keys (KRB5_KTNAME, "
        "/etc/krb5.keytab)\n"
        "  --principal NAME        the one whose key is used, as in nfs@HOST (any in "
        "it)\n"
        "  --gss-contexts N        keep N contexts of RPCSEC_GSS, one for each user of "
        "each\n"
        "                          client (8192); a quarter of them for one client's "
        "address\n"
        "  --allow-identity NAME   with --hostauth require: let only those in whose "
        "identity\n"
        "                          (CN=..., psk:...) or certificate's DNS name this "
        "is;\n"
        "                          repeatable\n"
        "  --async                 answer CREATE, REMOVE, RENAME, SETATTR... before "
        "they\n"
        "                          are on storage (WRITE and COMMIT are not affected)\n"
        "  --threads N             threads for each file system, 1 to 64 (4)\n"
        "  --connections N         most connections of a listener (128)\n"
        "  --max-per-address N     most of them from one address (0: no such limit)\n"
        "  --memory SIZE           most memory that all clients together may hold (an "
        "eighth\n"
        "                          of the machine's, at most 1G)\n"
        "  --reply-cache SIZE      memory for replies to CREATE, REMOVE, RENAME..., so "
        "that\n"
        "                          a request sent again is not executed again (8M; "
        "0: none)\n"
        "  --state-dir DIR         where the secret that seals file handles is kept, "
        "so\n"
        "                          that they survive a restart (/var/lib/rpcrdma for\n"
        "                          root, else ~/.local/state/rpcrdma)\n"
        "  --stats-on-exit FILE    write counters as JSON at the end; - is standard "
        "output\n"
        "\n"
        "As root, requests are served with the uid, gid and groups of their AUTH_SYS\n"
        "credential; otherwise all of them as the user that runs the server.\n"
        "Root needs CAP_SETUID and CAP_SETGID.  Where the kernel does not open file\n"
        "handles (not root, no CAP_DAC_READ_SEARCH, some file systems), objects more\n"
        "than 128 levels below DIR are refused as NAMETOOLONG, and a file that was\n"
        "moved to another directory may be stale after a restart.\n"
        "\n";

/* ---- Write verifier
 * ------------------------------------------------------------------- */

void nfsd_verf(struct nfsd *d, uint8_t ret[NFS3_WRITEVERFSIZE])
{
	pthread_mutex_lock(&d->lock);
	memcpy(ret, d->write_verf, NFS3_WRITEVERFSIZE);
	pthread_mutex_unlock(&d->lock);
}

void nfsd_new_verf(struct nfsd *d)
{
	uint8_t v[NFS3_WRITEVERFSIZE];

	if (getrandom(v, sizeof(v), 0) != sizeof(v)) {
		struct timespec t;

		/* Unequal to the last one is all that is asked. */
		clock_gettime(CLOCK_REALTIME, &t);
		memcpy(v, &t.tv_nsec, sizeof(v));
	}
	pthread_mutex_lock(&d->lock);
	memcpy(d->write_verf, v, sizeof(v));
	pthread_mutex_unlock(&d->lock);
}

/* ---- Options
 * -------------------------------------------------------------------------- */

static int take_export(void *to, const char *arg)
{
	return export_add(to, arg);
}

static int take_listen(void *to, const char *arg)
{
	struct server *s = to;

	if (s->n_listen == MAX_LISTENERS) {
		tool_error("more than %d listeners", MAX_LISTENERS);
		return -EINVAL;
	}
	s->listen[s->n_listen++] = arg;
	return 0;
}

static int take_client(void *to, const char *arg)
{
	struct server *s = to;

	if (s->n_clients == MAX_ALLOWED) {
		tool_error("more than %d --allow; --exports FILE takes more",
		           MAX_ALLOWED);
		return -EINVAL;
	}
	s->clients[s->n_clients++] = arg;
	return 0;
}

static int take_identity_allowed(void *to, const char *arg)
{
	struct server *s = to;

	if (!*arg || s->common.n_allow == MAX_ALLOWED) {
		tool_error(*arg ? "more than %d --allow-identity"
		                : "--allow-identity: no identity is empty",
		           MAX_ALLOWED);
		return -EINVAL;
	}
	s->allow[s->common.n_allow++] = arg;
	s->common.allow = s->allow;
	return 0;
}

static int take_reply_cache(void *to, const char *arg)
{
	uint64_t *bytes = to;

	if (!tool_parse_size(arg, bytes) && (!*bytes || *bytes >= 64 << 10))
		return 0;
	tool_error("--reply-cache: '%s' is neither 0 nor a size of at least 64K", arg);
	return -EINVAL;
}

static void print_help(void)
{
	printf("%s%s", help, tool_common_help);
}

/* -EINVAL after a message. */
static int check_hostauth(const struct tool_common *c)
{
	const char *wrong = NULL;

	if (c->hostauth_policy && !c->cert && !c->psk)
		wrong = "--hostauth: a server needs --cert or --psk";
	else if (c->hostauth_policy && c->cert && !c->ca)
		wrong = "--hostauth: a server with --cert needs --ca FILE: the "
		        "authorities of its clients, since those of the system vouch "
		        "for anybody";
	else if (c->n_allow && c->hostauth_policy != RPCRDMA_HOSTAUTH_REQUIRE)
		wrong = "--allow-identity needs --hostauth require";
	if (!wrong)
		return 0;
	tool_error("%s", wrong);
	return -EINVAL;
}

static bool clients_want_kerberos(const struct clients *l)
{
	for (unsigned i = 0; l && i < l->n; i++)
		if (sec_kerberos(&l->all[i].grant.flavors))
			return true;
	return false;
}

/* Does any list, or the default? */
static bool wants_kerberos(const struct server *s)
{
	const struct nfsd *d = &s->nfsd;
	bool wants = sec_kerberos(&d->defaults.flavors);

	for (unsigned i = 0; i < d->n_exports; i++)
		wants |= clients_want_kerberos(d->exports[i]->clients);
	for (unsigned i = 0; i < s->from_file.n; i++)
		wants |= clients_want_kerberos(&s->from_file.all[i].clients);
	return wants;
}

/* Who may mount what, by the command line and the file.  TOOL_GO_ON, or the exit code.
 */
static int take_lists(struct server *s)
{
	struct nfsd *d = &s->nfsd;

	if (!d->n_exports && !s->reload.file && !access(EXPORTS_FILE, F_OK))
		s->reload.file = EXPORTS_FILE;
	if (!d->n_exports && !s->reload.file) {
		tool_error(
		        "nothing to serve: give --export DIR, or make " EXPORTS_FILE);
		return tool_usage();
	}
	if (s->n_clients && !d->n_exports) {
		tool_error("--allow is for --export; a file names its clients itself");
		return tool_usage();
	}
	sec_default(&d->defaults.flavors);
	d->defaults.read_only = d->read_only;
	if (export_allow(d, s->clients, s->n_clients))
		return tool_usage();
	if (s->reload.file && exports_take(d, s->reload.file, &s->from_file))
		return TOOL_FAILED;
	d->kerberos = wants_kerberos(s);
	return TOOL_GO_ON;
}

/* Nobody is let in by oversight: where nothing says who may come, only this host. */
static void choose_addresses(struct server *s)
{
	bool restricted = !s->nfsd.n_exports || s->n_clients ||
	                  !s->nfsd.defaults.flavors.sys ||
	                  s->common.hostauth_policy == RPCRDMA_HOSTAUTH_REQUIRE;

	if (s->n_listen)
		return;
	s->listen[s->n_listen++] = restricted ? NULL : "127.0.0.1";
	if (!restricted)
		fprintf(stderr,
		        "rpcrdma nfsd: no client is named (--allow, --exports): other "
		        "hosts are not served; --listen ADDR serves all that reach "
		        "it\n");
}

/* TOOL_GO_ON, or the exit code. */
static int parse(struct server *s, int argc, char **argv)
{
	struct squash *squash = &s->nfsd.defaults.squash;
	const struct tool_option options[] = {
	        {"export", 0, TOOL_TO(TOOL_TAKE, s->nfsd), .take = take_export},
	        {"exports", 0, TOOL_TO(TOOL_TEXT, s->reload.file)},
	        {"allow", 0, TOOL_TO(TOOL_TAKE, *s), .take = take_client},
	        {"listen", 0, TOOL_TO(TOOL_TAKE, *s), .take = take_listen},
	        {"mount-port", 0, TOOL_RANGE(TOOL_NUMBER, s->mount_port, 0, 65535)},
	        {"gss-port", 0, TOOL_RANGE(TOOL_NUMBER, s->gss_port, 0, 65535)},
	        {"register", 0, TOOL_TO(TOOL_SET, s->registers)},
	        {"read-only", 0, TOOL_TO(TOOL_SET, s->nfsd.read_only)},
	        {"no-root-squash", 0, TOOL_TO(TOOL_CLEAR, squash->root)},
	        {"all-squash", 0, TOOL_TO(TOOL_SET, squash->all)},
	        {"anonuid", 0,
	         TOOL_RANGE(TOOL_NUMBER, squash->anon_uid, 0, UINT32_MAX - 1)},
	        {"anongid", 0,
	         TOOL_RANGE(TOOL_NUMBER, squash->anon_gid, 0, UINT32_MAX - 1)},
	        {"sec", 0, TOOL_TO(TOOL_TAKE, s->nfsd.defaults.flavors),
	         .take = sec_take_list},
	        {"keytab", 0, TOOL_TO(TOOL_TEXT, s->keytab)},
	        {"principal", 0, TOOL_TO(TOOL_TEXT, s->principal)},
	        {"gss-contexts", 0,
	         TOOL_RANGE(TOOL_NUMBER, s->gss_contexts, 4, 1 << 20)},
	        {"allow-identity", 0, TOOL_TO(TOOL_TAKE, *s),
	         .take = take_identity_allowed},
	        {"async", 0, TOOL_TO(TOOL_SET, s->nfsd.async)},
	        {"threads", 0, TOOL_RANGE(TOOL_NUMBER, s->threads, 1, 64)},
	        {"connections", 0, TOOL_RANGE(TOOL_NUMBER, s->connections, 1, 65536)},
	        {"max-per-address", 0,
	         TOOL_RANGE(TOOL_NUMBER, s->max_per_address, 0, 65536)},
	        {"memory", 0,
	         TOOL_RANGE(TOOL_SIZE, s->memory, 16 * NFSD_MAX_IO, UINT64_MAX)},
	        {"reply-cache", 0, TOOL_TO(TOOL_TAKE, s->reply_cache),
	         .take = take_reply_cache},
	        {"state-dir", 0, TOOL_TO(TOOL_TEXT, s->state_dir)},
	        {"stats-on-exit", 0, TOOL_TO(TOOL_TEXT, s->stats)},
	};
	int r = tool_options(&s->common, argc, argv, options, TOOL_N(options),
	                     print_help);

	if (r != TOOL_GO_ON)
		return r;
	if (optind < argc) {
		tool_error("unexpected argument '%s'", argv[optind]);
		return tool_usage();
	}
	r = take_lists(s);
	if (r != TOOL_GO_ON)
		return r;
	if ((s->keytab || s->principal || s->gss_port != NO_PORT || s->gss_contexts) &&
	    !s->nfsd.kerberos) {
		tool_error("--keytab, --principal, --gss-port and --gss-contexts are "
		           "for --sec krb5, krb5i or krb5p");
		return tool_usage();
	}
	if (check_hostauth(&s->common))
		return tool_usage();
	choose_addresses(s);
	if (s->registers && s->mount_port == NO_PORT)
		s->mount_port = MOUNT_PORT;
	return TOOL_GO_ON;
}

/* ---- Setting up
 * ------------------------------------------------------------------------ */

static struct rpcrdma_engine *volatile signalled; /* the engine to stop */

static void on_signal(int sig)
{
	(void)sig;
	rpcrdma_engine_stop(signalled);
}

static void set_signals(struct rpcrdma_engine *engine, bool reloads)
{
	struct sigaction stop = {.sa_handler = on_signal,
	                         .sa_flags = (int)SA_RESETHAND};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

	signalled = engine;
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	if (!reloads && !sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &stop, NULL); /* a closed terminal */
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL); /* a write beyond the limit fails instead */
}

/* As many descriptors as allowed; how many objects they are enough for. */
static unsigned object_limit(void)
{
	struct rlimit r;
	rlim_t n;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return 64;
	r.rlim_cur = r.rlim_max < 65536 ? r.rlim_max : 65536;
	(void)setrlimit(RLIMIT_NOFILE, &r); /* a wish */
	n = getrlimit(RLIMIT_NOFILE, &r) ? 256 : r.rlim_cur;
	/* Three descriptors each at most; connections, of MOUNT too, have the rest. */
	n = n > 332 ? (n - 272) / 3 : 20;
	return n < 4096 ? (unsigned)n : 4096;
}

/* What one client's requests may hold. */
static uint64_t client_memory(void)
{
	struct rpcrdma_budget b;

	rpcrdma_budget_get(&b, sizeof(b));
	return b.limit_bytes / 4 < CLIENT_MEMORY ? b.limit_bytes / 4 : CLIENT_MEMORY;
}

/* A client that there is no memory for is refused, and nobody is told why. */
static void look_at_memlock(void)
{
	struct rlimit r;

	if (!geteuid() || getrlimit(RLIMIT_MEMLOCK, &r) || r.rlim_cur >= client_memory())
		return;
	fprintf(stderr,
	        "rpcrdma nfsd: RDMA devices want locked memory, and %s are allowed "
	        "(ulimit -l; LimitMEMLOCK= of a service): clients may be refused\n",
	        tool_human(r.rlim_cur));
}

static int not_listening(const char *address, int e)
{
	const char *why = tool_provider_words(e);

	if (e == -ENXIO)
		why = "no address is known for it";
	tool_error("cannot listen on %s: %s%s",
	           address ? tool_quote(address) : "any address, port 20049", why,
	           e == -ENXIO || e == -EINVAL
	                   ? " (--listen ADDR:PORT, the port a number up to 65535)"
	                   : "");
	return e;
}

static int listen_all(struct server *s)
{
	struct rpcrdma_conn_options o;
	bool devices = false;
	int e;

	tool_conn_options(&s->common, &o);
	o.max_per_address = (uint32_t)s->max_per_address;
	o.max_message_bytes = MAX_MESSAGE;
	o.max_pinned_bytes = client_memory();
	for (unsigned i = 0; i < s->n_listen; i++) {
		e = rpcrdma_listen(s->engine, s->listen[i], &o, s->service,
		                   (unsigned)s->connections, &s->listeners[i]);
		if (e)
			return not_listening(s->listen[i], e);
		if (strstr(rpcrdma_listener_provider(s->listeners[i]), "verbs")) {
			s->nfsd.apart = s->nfsd.privileged;
			devices = true;
		}
		if (s->common.verbose)
			rpcrdma_listener_set_event(s->listeners[i], report_client,
			                           NULL);
		s->n_listeners++;
	}
	if (devices)
		look_at_memlock();
	return 0;
}

static void *answer_null(void *arg, const struct sockaddr_storage *peer,
                         const void *record, size_t len, size_t *ret_len,
                         bool *ret_failed)
{
	struct server *s = arg;
	void *reply = NULL;

	*ret_failed =
	        rpcrdma_service_null_call(s->service, (const struct sockaddr *)peer,
	                                  record, len, &reply, ret_len) != 0;
	return reply;
}

/* At the listeners' addresses. */
static int listen_tcp(struct server *s, const char *what, uint32_t port,
                      const struct tcpd_service *service, struct tcpd **ret)
{
	struct sockaddr_storage ss;
	int e = 0;

	if (port == NO_PORT)
		return 0;
	*ret = tcpd_new(service);
	if (!*ret)
		return -ENOMEM;
	for (unsigned i = 0; i < s->n_listeners && !e; i++) {
		e = rpcrdma_listener_addr(s->listeners[i], &ss);
		if (!e)
			e = tcpd_listen(*ret, &ss, htons((uint16_t)port));
	}
	if (e)
		tool_error("cannot listen for %s on TCP port %u: %s%s", what,
		           (unsigned)port, strerror(-e),
		           e == -EADDRINUSE && ret == &s->mountd
		                   ? " (--mount-port names another)"
		                   : "");
	return e;
}

static int listen_all_tcp(struct server *s)
{
	const struct tcpd_service mount = {mount_rpc_answer, &s->mount_rpc,
	                                   MOUNT_RPC_RECORD};
	const struct tcpd_service gss = {answer_null, s, MAX_NULL_CALL};
	int e;

	s->mount_rpc.nfsd = &s->nfsd;
	e = listen_tcp(s, "MOUNT", s->mount_port, &mount, &s->mountd);
	return e ? e : listen_tcp(s, "RPCSEC_GSS", s->gss_port, &gss, &s->gssd);
}

static int not_registered(int e, const char *what, const char *remedy)
{
	if (e == -EEXIST)
		tool_error("cannot register with rpcbind: it has another address for "
		           "%s, where a server may still answer; stop that one, or "
		           "remove what it left: %s",
		           what, remedy);
	else
		tool_error("cannot register with rpcbind: %s",
		           e == -ECONNREFUSED ? "none runs on this host"
		                              : strerror(-e));
	return e;
}

/* Blocks, and so comes before the loop. */
static int register_all(struct server *s)
{
	struct sockaddr_storage ss;
	int e;

	while (s->n_registered < s->n_listeners) {
		e = rpcrdma_listener_register(s->listeners[s->n_registered], 0);
		if (e)
			return not_registered(e, "NFS or MOUNT on RDMA",
			                      "rpcinfo -d 100003 3; rpcinfo -d 100005 "
			                      "3");
		s->n_registered++;
	}
	while (tcpd_addr(s->mountd, s->n_registered_tcp, &ss)) {
		e = rpcrdma_register_tcp(RPCRDMA_MOUNT_PROGRAM, 3,
		                         (const struct sockaddr *)&ss, 0);
		if (e)
			return not_registered(e, "MOUNT on TCP",
			                      "rpcinfo -d 100005 3");
		s->n_registered_tcp++;
	}
	return 0;
}

static void not_taken_back(int e)
{
	if (e)
		tool_error("rpcbind did not take the registration back: %s",
		           strerror(-e));
}

static void unregister_all(struct server *s)
{
	struct sockaddr_storage ss;

	while (s->n_registered_tcp && tcpd_addr(s->mountd, --s->n_registered_tcp, &ss))
		not_taken_back(rpcrdma_unregister_tcp(RPCRDMA_MOUNT_PROGRAM, 3,
		                                      (const struct sockaddr *)&ss, 0));
	while (s->n_registered)
		not_taken_back(rpcrdma_listener_unregister(
		        s->listeners[--s->n_registered], 0));
}

/* One line a listener: who waits for us reads them.  They are written at once. */
static int announce(const struct server *s)
{
	bool json = s->common.json;
	struct sockaddr_storage ss;

	for (unsigned i = 0; i < s->n_listeners; i++) {
		int e = rpcrdma_listener_addr(s->listeners[i], &ss);

		if (e)
			return e;
		report_listening(&ss, rpcrdma_listener_provider(s->listeners[i]),
		                 s->common.version == 1 ? 1 : 2, json);
	}
	for (unsigned i = 0; tcpd_addr(s->mountd, i, &ss); i++)
		report_tcp("mountd", &ss, json);
	for (unsigned i = 0; tcpd_addr(s->gssd, i, &ss); i++)
		report_tcp("gss", &ss, json);
	return fflush(stdout) ? tool_output_failed(NULL) : 0;
}

static void on_expire(void *arg)
{
	struct server *s = arg;

	s->expire = NULL;
	objects_expire(&s->nfsd);
	warn_count(false);
	/* Without memory for it descriptors stay until the cache is full. */
	(void)!rpcrdma_timer_start(s->engine, 1000000000, on_expire, s, &s->expire);
}

/* Before any RDMA device is opened: see struct nfsd. */
static int take_identity(struct server *s)
{
	s->nfsd.privileged = ident_init();
	if (!s->nfsd.privileged && !geteuid()) {
		/* Squashing would be in vain: everyone would be root. */
		tool_error("root without CAP_SETUID and CAP_SETGID cannot act as its "
		           "clients; run it as an ordinary user");
		return -EPERM;
	}
	if (!s->nfsd.privileged)
		fprintf(stderr,
		        "rpcrdma nfsd: not root: every request is served as uid %u\n",
		        (unsigned)geteuid());
	return 0;
}

/* Permissions are the kernel's to judge, by a call that is missing before Linux 5.8 and
 * under old seccomp profiles.  Without privilege another one does. */
static int look_at_access(struct server *s)
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
	tool_error("the kernel (Linux before 5.8) or a seccomp profile lacks "
	           "faccessat2, by which root asks what its clients may do; run it as "
	           "an ordinary user, or allow the call");
	return -ENOSYS;
}

/* Before the first request: a thread for it begins with our identity. */
static int set_gss(struct server *s)
{
	struct rpcrdma_service_gss_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_service_gss_options);
	char why[256] = "";
	int e;

	if (!s->nfsd.kerberos)
		return 0;
	if (s->keytab && setenv("KRB5_KTNAME", s->keytab, 1))
		return -ENOMEM;
	o.principal = s->principal;
	o.max_contexts = s->gss_contexts;
	o.ret_why = why;
	e = rpcrdma_service_set_gss(s->service, &o);
	if (e)
		tool_error("no key for RPCSEC_GSS in %s: %s",
		           s->keytab ? s->keytab : "the keytab",
		           *why ? why : strerror(-e));
	return e;
}

static int set_up(struct server *s)
{
	int e;

	s->umask = umask(077);
	(void)umask(s->umask); /* no other way to ask */
	s->nfsd.threads = (unsigned)s->threads;
	if (s->memory)
		(void)!rpcrdma_budget_set(s->memory); /* in range */
	nfsd_new_verf(&s->nfsd);
	e = export_load_secret(&s->nfsd, s->state_dir);
	if (!e)
		e = export_open_all(&s->nfsd);
	if (!e && s->reload.file) {
		reload_hold(); /* before there are threads */
		e = export_load(&s->nfsd, s->reload.file, &s->from_file);
	}
	if (!e)
		e = take_identity(s);
	if (!e)
		e = look_at_access(s);
	if (!e)
		e = tool_engine_new(&s->common, &s->engine);
	if (e)
		return e;
	set_signals(s->engine, s->reload.file);
	e = rpcrdma_service_new(&s->service);
	if (!e)
		e = rpcrdma_service_set_reply_cache(s->service, s->reply_cache);
	if (!e)
		e = nfsd_add_programs(&s->nfsd, s->service);
	if (e)
		tool_error("cannot start: %s", strerror(-e));
	if (!e)
		e = set_gss(s);
	if (!e)
		e = listen_all(s);
	if (!e)
		e = listen_all_tcp(s);
	return e || !s->registers ? e : register_all(s);
}

static int run(struct server *s)
{
	int e;

	e = s->mountd ? tcpd_start(s->mountd) : 0;
	if (!e && s->gssd)
		e = tcpd_start(s->gssd);
	if (!e && s->reload.file)
		e = reload_start(&s->reload);
	if (e) {
		tool_error("cannot start threads: %s", strerror(-e));
		return e;
	}
	(void)umask(0); /* from here on modes are the clients' */
	on_expire(s);
	e = announce(s);
	if (!e)
		e = rpcrdma_engine_run(s->engine);
	if (e && e != TOOL_TOLD)
		tool_error("%s", strerror(-e));
	rpcrdma_timer_cancel(s->expire);
	return e;
}

/* ---- Taking down
 * -------------------------------------------------------------------------- */

static void drain(struct server *s)
{
	uint64_t until = tool_now_ns() + (DRAIN_SECONDS + 2) * 1000000000ull;

	reload_stop(&s->reload);
	unregister_all(s);
	for (unsigned i = 0; i < s->n_listeners; i++)
		rpcrdma_listener_close(s->listeners[i], DRAIN_SECONDS * 1000000000ull);
	tcpd_stop(s->mountd);
	tcpd_stop(s->gssd);
	while (!rpcrdma_engine_idle(s->engine) && tool_now_ns() < until)
		if (rpcrdma_engine_process(s->engine, 100))
			break;
}

static void write_stats(const struct server *s)
{
	int e = 0;

	(void)umask(s->umask);
	(void)ident_enter_server(); /* the last request's identity ends here */
	warn_count(true);
	if (s->stats && s->service)
		e = nfsd_write_stats(s->stats, s->engine, s->service, s->mountd,
		                     s->gssd);
	if (e)
		tool_error("%s: %s", s->stats, strerror(-e));
}

static bool stop_workers(struct server *s)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_SECONDS;
	return fs_stop_all(&s->nfsd, &until);
}

/* Threads sleep in the kernel and hold what would be freed. */
static _Noreturn void leave_stuck(struct server *s)
{
	for (unsigned i = 0; i < s->nfsd.n_exports; i++) {
		const struct export *ex = s->nfsd.exports[i];
		unsigned n = workers_left(&ex->fs->workers);

		if (n)
			tool_error("the file system of %s does not answer: %u requests "
			           "on it were not finished",
			           ex->dir, n);
	}
	write_stats(s);
	(void)fflush(NULL); /* the trace, too */
	_exit(TOOL_FAILED);
}

static void take_down(struct server *s)
{
	write_stats(s);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	if (s->engine)
		rpcrdma_engine_free(s->engine);
	tcpd_free(s->mountd);
	tcpd_free(s->gssd);
	rpcrdma_service_free(s->service);
	objects_fini(&s->nfsd);
	export_close_all(&s->nfsd);
	exports_free(&s->from_file);
	fs_free_all(&s->nfsd);
	for (unsigned i = 0; i < s->nfsd.n_mounts; i++)
		free(s->nfsd.mounts[i].dir);
	tool_common_end(&s->common);
}

int tool_nfsd(int argc, char **argv)
{
	struct server *s = calloc(1, sizeof(*s));
	int e;

	if (!s)
		return TOOL_FAILED;
	s->threads = 4;
	s->mount_port = s->gss_port = NO_PORT;
	s->connections = 128;
	s->reply_cache = 8 << 20;
	s->nfsd.defaults.squash = (struct squash){true, false, 65534, 65534};
	s->reload.nfsd = &s->nfsd;
	access_init(&s->nfsd.access);
	pthread_mutex_init(&s->nfsd.lock, NULL);
	objects_init(&s->nfsd.objects, object_limit());
	e = parse(s, argc, argv);
	if (e != TOOL_GO_ON) {
		objects_fini(&s->nfsd);
		export_close_all(&s->nfsd);
		exports_free(&s->from_file);
		free(s);
		return e;
	}
	e = set_up(s);
	if (!e)
		e = run(s);
	if (s->engine)
		drain(s);
	if (!stop_workers(s))
		leave_stuck(s);
	take_down(s);
	pthread_mutex_destroy(&s->nfsd.lock);
	access_fini(&s->nfsd.access);
	free(s);
	return e ? TOOL_FAILED : TOOL_OK;
}
