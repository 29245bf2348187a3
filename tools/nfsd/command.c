/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `rpcrdma nfsd`: its help, its options, and which options exclude
 * each other.  Every refusal is one sentence on standard error and exit code 2.
 */
#include "daemon.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOUNT_PORT = 20048 }; /* where MOUNT is by custom */

#define EXPORTS_FILE "/etc/rpcrdma/exports"

static const char help[] =
        "usage: rpcrdma nfsd --export DIR[:/NAME][,OPTION]... [--allow CLIENT]... "
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
        "  --export DIR[:/NAME][,OPTION]  export DIR as /NAME (default: under its own "
        "path);\n"
        "                          repeatable.  Options:\n"
        "                          crossmnt: with what is mounted beneath, which is "
        "shown\n"
        "                          as empty directories otherwise\n"
        "                          wcc: nobody else changes its directories, so that\n"
        "                          clients may keep them over changes of their own\n"
        "  --exports FILE          export the directories that FILE names to the "
        "clients\n"
        "                          that it names, in the syntax of exports(5)\n"
        "                          (without --export: " EXPORTS_FILE ")\n"
        "  --allow CLIENT[(OPTION,...)]  let only CLIENT mount what --export names: "
        "a host,\n"
        "                          a network as 192.0.2.0/24, or *; options as in\n"
        "                          exports(5); repeatable\n"
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
        "  --register              tell the rpcbind of this host where NFS, MOUNT and "
        "NLM\n"
        "                          are, until the end; implies --mount-port 20048.  "
        "What a\n"
        "                          dead server left there is replaced\n"
        "  --read-only             refuse all changes\n"
        "  --no-root-squash        let uid 0 of clients be root here\n"
        "  --all-squash            serve every client as the anonymous user\n"
        "  --anonuid N, --anongid N  the anonymous user and group (65534)\n"
        "  -g, --manage-gids       groups of AUTH_SYS users are those that this host "
        "knows,\n"
        "                          not the 16 at most that the client sends\n"
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
        "  --allow-identity NAME   with --hostauth require: admit only clients whose\n"
        "                          identity (CN=..., psk:...) or DNS name, by their\n"
        "                          certificate, is NAME; repeatable\n"
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
        "  --level-prefix          begin lines of standard error with their severity, "
        "<3>\n"
        "                          to <6>, which the journal reads; the default if\n"
        "                          standard error is the journal\n"
        "  --pid-file FILE         write the process's number there when it listens, "
        "and\n"
        "                          remove FILE at the end\n"
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

static int take_export(void *to, const char *arg)
{
	return export_add(to, arg);
}

/* Whether what follows the address is no port.  The names of hosts and services are
 * resolved later. */
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
		return false; /* an IPv6 address without brackets has none */
	}
	if (!port || (*port == ':' && isalpha((unsigned char)port[1])))
		return false;
	return *port != ':' || tool_parse_number(port + 1, 0, 65535, &n);
}

static int take_listen(void *to, const char *arg)
{
	struct server *s = to;

	if (has_wrong_port(arg)) {
		tool_error("--listen: '%s' is no ADDR, ADDR:PORT or [ADDR6]:PORT with "
		           "a number from 0 to 65535",
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

/* Whether any list of clients, or the default, has a flavor of Kerberos. */
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
		tool_log(TOOL_NOTICE,
		         "no client is named (--allow, --exports): other hosts are not "
		         "served; --listen ADDR serves all that reach it");
}

/* TOOL_GO_ON, or the exit code. */
static int read_options(struct server *s, int argc, char **argv)
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
	        {"manage-gids", 'g', TOOL_TO(TOOL_SET, s->manage_gids)},
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
	        {"level-prefix", 0, TOOL_TO(TOOL_SET, s->level_prefix)},
	        {"pid-file", 0, TOOL_TO(TOOL_TEXT, s->pid_file)},
	        {"stats-on-exit", 0, TOOL_TO(TOOL_TEXT, s->stats)},
	};

	return tool_options(&s->common, argc, argv, options, TOOL_N(options),
	                    print_help);
}

int command_parse(struct server *s, int argc, char **argv)
{
	int r = read_options(s, argc, argv);

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
