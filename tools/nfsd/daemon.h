/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process of `rpcrdma nfsd`: what its command line, its listeners and its life
 * share.
 *
 *   command.c    help and options: what is asked for
 *   listening.c  addresses: RDMA, TCP, rpcbind, and the lines that announce them
 *   nfsd.c       setting up, running, taking down
 */
#ifndef RPCRDMA_NFSD_DAEMON_H
#define RPCRDMA_NFSD_DAEMON_H

#include "mount_rpc.h"
#include "tool.h"

enum {
	MAX_LISTENERS = 16,
	MAX_ALLOWED = 256,
	NO_PORT = 65536,
};

struct daemon {
	struct nfsd nfsd;
	struct tool_common common;
	const char *listen[MAX_LISTENERS];
	unsigned n_listen;
	const char *allow[MAX_ALLOWED];   /* identities of clients */
	const char *clients[MAX_ALLOWED]; /* that may mount what --export names */
	unsigned n_clients;
	struct exports_file from_file; /* until they are in place */
	struct reload reload;
	const char *stats, *state_dir, *pid_file;
	bool has_pid_file; /* it was written */
	const char *keytab, *principal;
	uint64_t threads, connections, max_per_address, memory, reply_cache;
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listeners[MAX_LISTENERS];
	unsigned n_listeners;
	bool manage_gids, level_prefix;
	bool registers;                /* with the rpcbind of this host */
	unsigned n_registered;         /* the first ones of listeners */
	uint32_t mount_port, gss_port; /* NO_PORT: none was asked for */
	uint32_t gss_contexts;         /* 0: the library's choice */
	struct mount_rpc mount_rpc;
	struct tcpd *mountd, *gssd; /* MOUNT and contexts over TCP, or NULL */
	unsigned n_registered_tcp;  /* the first ones of mountd's addresses */
	unsigned n_registered_nlm;  /* the first versions and addresses of NLM */
	struct rpcrdma_timer *expire;
	mode_t umask; /* for the server's own files */
};

/* Runs the subcommand until a signal ends it; returns the exit code. */
int nfsd_main(int argc, char **argv);

/* Fills @s from the command line, with the lists of the file of exports.  TOOL_GO_ON,
 * or the exit code. */
int command_parse(struct daemon *s, int argc, char **argv);

/* Opens all listeners, for RDMA and for TCP, and registers them if asked.  0, or
 * negative errno after a message. */
int listening_begin(struct daemon *s);
/* Takes the registrations back. */
void listening_unregister(struct daemon *s);
/* Prints one line for each listener, at once: a script waits for them.  0, negative
 * errno or TOOL_REPORTED. */
int listening_announce(const struct daemon *s);

#endif
