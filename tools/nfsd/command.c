/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `rpcrdma nfsd`: the options, their help, and the options that
 * cannot be combined.  If an option is wrong, the program prints one sentence on
 * standard error and exits with status 2.
 */
#include "daemon.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOUNT_PORT = 20048 }; /* the usual port of MOUNT */

#define EXPORTS_FILE "/etc/rpcrdma/exports"

static int take_export_option(void *to, const char *arg)
{
	return export_add(to, arg);
}

/* Returns true if the address is followed by text that is not a port.  Host and service
 * names are resolved later. */
static bool has_wrong_port(const char *address)
{
	const char *port = strrchr(address, ':');
	uint64_t n;

	if (*address == '[') {
		const char *end = strchr(address, ']');

		if (!end || !end[1])
			return !end;
		port = end + 1;
	} else if (port != strchr(address, ':')) {
		return false; /* an IPv6 address without brackets has no port */
	}
	if (!port || (*port == ':' && isalpha((unsigned char)port[1])))
		return false;
	return *port != ':' || tool_parse_number(port + 1, 0, 65535, &n);
}

static int take_listen(void *to, const char *arg)
{
	struct daemon *s = to;

	if (has_wrong_port(arg)) {
		tool_error("--listen: '%s' is not ADDR, ADDR:PORT or [ADDR6]:PORT with "
		           "a port from 0 to 65535",
		           arg);
		return -EINVAL;
	}
	if (s->n_listen == MAX_LISTENERS) {
		tool_error("more than %d listeners", MAX_LISTENERS);
		return -EINVAL;
	}
	s->listen[s->n_listen++] = arg;
	return 0;
}

static int take_client(void *to, const char *arg)
{
	struct daemon *s = to;

	if (s->n_clients == MAX_ALLOWED) {
		tool_error("more than %d times --allow; --exports FILE allows more "
		           "clients",
		           MAX_ALLOWED);
		return -EINVAL;
	}
	s->clients[s->n_clients++] = arg;
	return 0;
}

static int take_identity_allowed(void *to, const char *arg)
{
	struct daemon *s = to;

	if (!*arg || s->common.n_allow == MAX_ALLOWED) {
		tool_error(*arg ? "more than %d --allow-identity"
		                : "--allow-identity: the identity is empty",
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

/* Checks that the host authentication options are consistent.  Returns 0, or prints a
 * message and returns -EINVAL. */
static int check_hostauth(const struct tool_common *c)
{
	const char *wrong = NULL;

	if (c->hostauth_policy && !c->cert && !c->psk)
		wrong = "--hostauth: a server needs --cert or --psk";
	else if (c->hostauth_policy && c->cert && !c->ca)
		wrong = "--hostauth: a server with --cert needs --ca FILE, the "
		        "authorities of its clients; those of the system certify "
		        "anybody";
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
		if (sec_has_kerberos(&l->all[i].grant.flavors))
			return true;
	return false;
}

/* Returns true if a client list or the default flavor list contains a Kerberos
 * flavor. */
static bool wants_kerberos(const struct daemon *s)
{
	const struct nfsd *d = &s->nfsd;
	bool wants = sec_has_kerberos(&d->defaults.flavors);

	for (unsigned i = 0; i < d->n_exports; i++)
		wants |= clients_want_kerberos(d->exports[i]->clients);
	for (unsigned i = 0; i < s->from_file.n; i++)
		wants |= clients_want_kerberos(&s->from_file.all[i].clients);
	return wants;
}

/* Sets each export's clients from the command line and the exports file.  Returns
 * TOOL_GO_ON to continue, or the exit code. */
static int take_lists(struct daemon *s)
{
	struct nfsd *d = &s->nfsd;

	if (!d->n_exports && !s->reload.file && !access(EXPORTS_FILE, F_OK))
		s->reload.file = EXPORTS_FILE;
	if (!d->n_exports && !s->reload.file) {
		tool_error("nothing to export: give --export DIR, or "
		           "create " EXPORTS_FILE);
		return tool_usage();
	}
	if (s->n_clients && !d->n_exports) {
		tool_error("--allow is for --export; a file of exports names its own "
		           "clients");
		return tool_usage();
	}
	sec_default(&d->defaults.flavors);
	d->defaults.read_only = d->read_only;
	if (export_allow(d, s->clients, s->n_clients))
		return tool_usage();
	if (s->reload.file && exports_load(d, s->reload.file, &s->from_file))
		return TOOL_FAILED;
	d->kerberos = wants_kerberos(s);
	return TOOL_GO_ON;
}

/* Chooses the default address to listen on.  If access is not restricted to certain
 * clients, the server listens on the loopback address only. */
static void choose_addresses(struct daemon *s)
{
	bool restricted = !s->nfsd.n_exports || s->n_clients ||
	                  !s->nfsd.defaults.flavors.sys ||
	                  s->common.hostauth_policy == RPCRDMA_HOSTAUTH_REQUIRE;

	if (s->n_listen)
		return;
	s->listen[s->n_listen++] = restricted ? NULL : "127.0.0.1";
	if (!restricted)
		tool_log(TOOL_NOTICE,
		         "no clients are named (--allow, --exports): serving this host "
		         "only; with --listen ADDR, all hosts that reach ADDR");
}

static const struct tool_option options[] = {
        {"export", NULL, "DIR[:/NAME][,OPTION]",
         "export DIR as /NAME (default: under its own path); repeatable.  "
         "Options:\ncrossmnt: include file systems mounted below, which are empty "
         "directories otherwise\nwcc: no other program changes its directories, so "
         "that clients may keep them cached over changes of their own",
         NULL, TOOL_CALL(take_export_option, struct daemon, nfsd)},
        {"exports", NULL, "FILE",
         "export the directories in FILE to the clients in FILE, in the syntax of "
         "exports(5) (without --export: " EXPORTS_FILE ")",
         NULL, TOOL_AT(TOOL_TEXT, struct daemon, reload.file)},
        {"allow", NULL, "CLIENT[(OPTION,...)]",
         "let only CLIENT mount what --export names: a host, a network such as "
         "192.0.2.0/24, or *; options as in exports(5); repeatable",
         NULL, .kind = TOOL_TAKE, .take = take_client},
        {"listen", NULL, "ADDR[:PORT]",
         "listen at ADDR (port 20049); repeatable; port 0 takes a free one.  Default: "
         "any address if clients are restricted (--exports, --allow, --hostauth "
         "require, --sec without sys), else 127.0.0.1",
         NULL, .kind = TOOL_TAKE, .take = take_listen},
        {"mount-port", NULL, "PORT",
         "also serve MOUNT over TCP, which the clients of some systems need; 0 takes a "
         "free port.  Printed as `mountd ADDR:PORT tcp`",
         NULL, TOOL_RANGE(TOOL_NUMBER, struct daemon, mount_port, 0, 65535)},
        {"gss-port", NULL, "PORT",
         "also accept RPCSEC_GSS contexts over TCP; Linux sets them up at port 2049.  "
         "Printed as `gss ADDR:PORT tcp`",
         NULL, TOOL_RANGE(TOOL_NUMBER, struct daemon, gss_port, 0, 65535)},
        {"register", NULL, NULL,
         "register NFS, MOUNT and NLM with the rpcbind of this host until the end; "
         "implies --mount-port 20048.  Registrations of a dead server are replaced",
         NULL, TOOL_AT(TOOL_SET, struct daemon, registers)},
        {"read-only", NULL, NULL, "refuse all changes", NULL,
         TOOL_AT(TOOL_SET, struct daemon, nfsd.read_only)},
        {"no-root-squash", NULL, NULL, "let uid 0 of clients be root on this host",
         NULL, TOOL_AT(TOOL_CLEAR, struct daemon, nfsd.defaults.squash.root)},
        {"all-squash", NULL, NULL, "serve every client as the anonymous user", NULL,
         TOOL_AT(TOOL_SET, struct daemon, nfsd.defaults.squash.all)},
        {"anonuid", NULL, "N", "user ID of the anonymous user (65534)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct daemon, nfsd.defaults.squash.anon_uid, 0,
                    UINT32_MAX - 1)},
        {"anongid", NULL, "N", "group ID of the anonymous user (65534)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct daemon, nfsd.defaults.squash.anon_gid, 0,
                    UINT32_MAX - 1)},
        {"manage-gids", "g", NULL,
         "take the groups of AUTH_SYS users from this host, not the 16 at most that "
         "the client sends",
         NULL, TOOL_AT(TOOL_SET, struct daemon, manage_gids)},
        {"sec", NULL, "FLAVOR[,FLAVOR]...",
         "security flavors of NFS, the preferred one first: sys (default), krb5, krb5i "
         "(integrity), krb5p (privacy)",
         "sys krb5 krb5i krb5p",
         TOOL_CALL(sec_take_list, struct daemon, nfsd.defaults.flavors)},
        {"keytab", NULL, "FILE",
         "the server's Kerberos keys (KRB5_KTNAME, /etc/krb5.keytab)", NULL,
         TOOL_AT(TOOL_TEXT, struct daemon, keytab)},
        {"principal", NULL, "NAME",
         "principal to use, such as nfs@HOST (any in the keytab)", NULL,
         TOOL_AT(TOOL_TEXT, struct daemon, principal)},
        {"gss-contexts", NULL, "N",
         "keep N contexts of RPCSEC_GSS, one for each user of each client (8192); at "
         "most a quarter of them for one client address",
         NULL, TOOL_RANGE(TOOL_NUMBER, struct daemon, gss_contexts, 4, 1 << 20)},
        {"allow-identity", NULL, "NAME",
         "with --hostauth require: admit only clients whose identity (CN=..., psk:...) "
         "or DNS name, by their certificate, is NAME; repeatable",
         NULL, .kind = TOOL_TAKE, .take = take_identity_allowed},
        {"async", NULL, NULL,
         "answer CREATE, REMOVE, RENAME, SETATTR... before they are on storage (WRITE "
         "and COMMIT are not affected)",
         NULL, TOOL_AT(TOOL_SET, struct daemon, nfsd.async)},
        {"engines", NULL, "N",
         "threads that serve connections, 1 to 8 (one for each core, at most 8); RDMA "
         "devices use the first only",
         NULL, TOOL_RANGE(TOOL_NUMBER, struct daemon, engines_wanted, 1, MAX_ENGINES)},
        {"threads", NULL, "N", "threads for each file system, 1 to 64 (16)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct daemon, threads, 1, 64)},
        {"connections", NULL, "N", "most connections of a listener (128)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct daemon, connections, 1, 65536)},
        {"max-per-address", NULL, "N",
         "most of them from one address (0: no such limit)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct daemon, max_per_address, 0, 65536)},
        {"memory", NULL, "SIZE",
         "most memory that all clients together may hold (an eighth of the machine's, "
         "at most 1G)",
         NULL,
         TOOL_RANGE(TOOL_SIZE, struct daemon, memory, 16 * NFSD_MAX_IO, UINT64_MAX)},
        {"reply-cache", NULL, "SIZE",
         "memory for replies to CREATE, REMOVE, RENAME..., so that a request sent "
         "again is not executed again (8M; 0: none)",
         NULL, TOOL_CALL(take_reply_cache, struct daemon, reply_cache)},
        {"state-dir", NULL, "DIR",
         "directory of the secret that protects file handles, so that they survive a "
         "restart (/var/lib/rpcrdma for root, else ~/.local/state/rpcrdma)",
         NULL, TOOL_AT(TOOL_TEXT, struct daemon, state_dir)},
        {"level-prefix", NULL, NULL,
         "begin lines of standard error with their severity, <3> to <6>, as the "
         "journal reads it (default if standard error is the journal)",
         NULL, TOOL_AT(TOOL_SET, struct daemon, level_prefix)},
        {"pid-file", NULL, "FILE",
         "write the process ID to FILE when listening, and remove FILE at the end",
         NULL, TOOL_AT(TOOL_TEXT, struct daemon, pid_file)},
        {"stats-on-exit", NULL, "FILE",
         "write counters as JSON at the end; - is standard output", NULL,
         TOOL_AT(TOOL_TEXT, struct daemon, stats)},
        TOOL_COMMON_ROWS(struct daemon, common),
};

int command_parse(struct daemon *s, int argc, char **argv)
{
	int r = tool_read_options(&tool_nfsd, s, &s->common, argc, argv);

	if (r != TOOL_GO_ON)
		return r;
	if (s->level_prefix)
		tool_log_levels();
	if (optind < argc) {
		tool_error("unexpected argument '%s'", argv[optind]);
		return tool_usage();
	}
	r = take_lists(s);
	if (r != TOOL_GO_ON)
		return r;
	if ((s->keytab || s->principal || s->gss_port != NO_PORT || s->gss_contexts) &&
	    !s->nfsd.kerberos) {
		tool_error("--keytab, --principal, --gss-port and --gss-contexts need "
		           "--sec krb5, krb5i or krb5p");
		return tool_usage();
	}
	if (check_hostauth(&s->common))
		return tool_usage();
	choose_addresses(s);
	if (s->registers && s->mount_port == NO_PORT)
		s->mount_port = MOUNT_PORT;
	return TOOL_GO_ON;
}

const struct tool_command tool_nfsd = {
        .name = "nfsd",
        .summary = "serve directories by NFS version 3",
        .usage = "usage: rpcrdma nfsd --export DIR[:/NAME][,OPTION]... [--allow "
                 "CLIENT]...\n                    [OPTION]...\n"
                 "       rpcrdma nfsd [--exports FILE] [OPTION]...\n"
                 "Serves directories by NFS version 3 (and MOUNT version 3) over "
                 "RPC-over-RDMA until SIGINT or SIGTERM; SIGHUP loads FILE again, or "
                 "without FILE ends the server.  Prints `listening ADDR:PORT PROVIDER "
                 "VERSION` on standard output when ready, once for each listener; "
                 "with --json as an object.  -v reports clients that connect and "
                 "disconnect on standard error.",
        .notes = "As root, requests are served with the uid, gid and groups of their "
                 "AUTH_SYS credential; otherwise all of them as the user that runs "
                 "the server.  Root needs CAP_SETUID and CAP_SETGID.  Where the kernel "
                 "does not open file handles (not root, no CAP_DAC_READ_SEARCH, some "
                 "file systems), objects more than 128 levels below DIR are refused "
                 "as NAMETOOLONG, and a file that was moved to another directory may "
                 "be stale after a restart.",
        .options = options,
        .n_options = TOOL_N(options),
        .main = nfsd_main,
};
