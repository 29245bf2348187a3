/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process of `rpcrdma nfsd`.
 *
 *   command.c    the options of the command line
 *   listening.c  RDMA and TCP listeners, rpcbind, and the lines that announce listeners
 *   report.c     lines printed about listeners and clients
 *   stats.c      the JSON that is written at exit
 *   engines.c    engines and their threads
 *   nfsd.c       set-up, main loop, shutdown
 */
#ifndef RPCRDMA_NFSD_DAEMON_H
#define RPCRDMA_NFSD_DAEMON_H

#include "mount_rpc.h"
#include "tcpd.h"
#include "tool.h"

enum {
	MAX_LISTENERS = 16,
	MAX_ENGINES = 8,
	MAX_ALLOWED = 256,
	NO_PORT = 65536,
};

struct daemon {
	struct nfsd nfsd;
	struct tool_common common;
	const char *listen[MAX_LISTENERS];
	unsigned n_listen;
	const char *allow[MAX_ALLOWED];   /* operands of --allow-identity */
	const char *clients[MAX_ALLOWED]; /* operands of --allow */
	unsigned n_clients;
	struct exports_file from_file; /* valid until export_install */
	struct reload reload;
	const char *stats, *state_dir, *pid_file;
	bool has_pid_file; /* pid_file was written */
	const char *keytab, *principal;
	uint64_t threads, connections, max_per_address, memory, reply_cache;
	struct rpcrdma_engine
	        *engines[MAX_ENGINES];         /* the main thread runs the first */
	pthread_t engine_threads[MAX_ENGINES]; /* run the engines from index 1 */
	unsigned n_engines, n_engine_threads;
	uint64_t engines_wanted; /* 0 = one for each core */
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listeners[MAX_LISTENERS];
	unsigned n_listeners;
	bool manage_gids, level_prefix;
	bool registers;                /* --register is given */
	unsigned n_registered;         /* number of @listeners that are registered */
	uint32_t mount_port, gss_port; /* NO_PORT = option not given */
	uint32_t gss_contexts;         /* 0 = the library's default */
	struct mount_rpc mount_rpc;
	struct tcpd *mountd, *gssd; /* MOUNT and RPCSEC_GSS over TCP, or NULL */
	unsigned n_registered_tcp;  /* number of mountd addresses that are registered */
	unsigned n_registered_nlm;  /* number of NLM registrations, see listening.c */
	struct rpcrdma_timer *expire;
	mode_t umask; /* umask at start; used for the server's own files */
};

/* Runs the subcommand until a signal ends it.  Returns the exit code. */
int nfsd_main(int argc, char **argv);

/* Fills @s from the command line and the exports file.  Returns TOOL_GO_ON to continue,
 * or the exit code. */
int command_parse(struct daemon *s, int argc, char **argv);

/* Makes the engines.  Returns 0, or prints a message and returns a negative errno. */
int engines_new(struct daemon *s);
/* Lets all engines serve the listener, which belongs to the first one. */
int engines_share(struct daemon *s, struct rpcrdma_listener *l);
/* Starts the threads of all engines but the first. */
int engines_start(struct daemon *s);
/* Waits until these threads have ended.  Their engines may have unfinished requests. */
void engines_stop(struct daemon *s);
/* Frees the engines.  Frees the first one last, because it owns the listeners. */
void engines_free(struct daemon *s);

/* Opens all listeners for RDMA and TCP, and registers them with rpcbind if --register
 * is given.  Returns 0, or prints a message and returns a negative errno. */
int listening_begin(struct daemon *s);
/* Removes the registrations from rpcbind. */
void listening_unregister(struct daemon *s);
/* Prints one line for each listener and flushes standard output, because scripts wait
 * for these lines.  Returns 0, TOOL_REPORTED or a negative errno. */
int listening_announce(const struct daemon *s);

/* Print a line about a listener on standard output, as a JSON object if @json is true.
 * @what is "mountd" or "gss". */
void report_listening(const struct sockaddr_storage *, const char *provider,
                      unsigned version, bool json);
void report_tcp(const char *what, const struct sockaddr_storage *, bool json);
/* An rpcrdma_client_event_fn that prints a line about a client on standard error.  If
 * @arg is NULL, reports refused clients only; otherwise also reports each client that
 * connects or disconnects. */
void report_client(struct rpcrdma_listener *, const struct rpcrdma_conn_info *, void *);

/* Writes the JSON for --stats-on-exit to @path.  @mount and @gss are the TCP services
 * for MOUNT and for GSS, or NULL.  No thread may run the engines meanwhile.  Returns 0
 * or a negative errno. */
int nfsd_write_stats(const char *path, struct rpcrdma_engine *const *engines,
                     unsigned n_engines, const struct rpcrdma_service *,
                     const struct tcpd *mount, uint64_t nlm_calls,
                     const struct tcpd *gss);

#endif
