/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of clients, in the syntax of exports(5): who may mount a directory, and how.
 * Text in, structures out; nothing here serves anybody.
 *
 *   exports.c   the file: lines, words, options
 *   clients.c   one client: address, network, name or *; which one a peer is
 */
#ifndef RPCRDMA_NFSD_EXPORTS_H
#define RPCRDMA_NFSD_EXPORTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	EXPORTS_MAX = 64,           /* directories of one file */
	EXPORTS_MAX_CLIENTS = 1024, /* of one directory */
	EXPORTS_MAX_BYTES = 1 << 20,
	EXPORTS_REASON_BYTES = 512, /* room for a message */
};

struct squash {
	bool root, all;
	uint32_t anon_uid, anon_gid;
};

/* The security flavors that are allowed, as MOUNT tells them. */
struct flavors {
	int list[5]; /* in the order of preference; -1 would be none */
	unsigned n;
	bool sys, service[4]; /* by enum rpcrdma_gss_service */
};

/* What a client may do. */
struct grant {
	struct squash squash;
	struct flavors flavors;
	bool read_only;
	bool low_ports; /* it must come from a port below 1024 */
};

/* What counts for the whole export, whichever client it is said with. */
struct export_options {
	bool wcc, crossmnt;
};

/* The order is that of precedence. */
enum client_kind { CLIENT_HOST, CLIENT_NETWORK, CLIENT_ANY };

struct export_client {
	enum client_kind kind;
	char *text; /* as it was written; owned */
	struct in6_addr
	        *addrs; /* owned; IPv4 as mapped; of a name: none until looked up */
	unsigned n_addrs, bits; /* bits: of each that count */
	bool is_name;
	struct export_options export_options; /* said with it */
	struct grant grant;
};

struct clients {
	struct export_client *all; /* owned */
	unsigned n;
};

/* One directory of a file. */
struct exported {
	char *spec;    /* "DIR[:/NAME]"; owned */
	unsigned line; /* the first that names it */
	struct clients clients;
};

struct exports_file {
	struct exported *all; /* owned */
	unsigned n;
};

/* Parses @text, the contents of @file, which messages name.  A client without options
 * has those of @defaults.  0; or -EINVAL (-ENOMEM) with "FILE:LINE: reason" in @reason and
 * nothing in @ret. */
int exports_parse(const char *file, const char *text, size_t len,
                  const struct grant *defaults, struct exports_file *ret,
                  char reason[EXPORTS_REASON_BYTES]);
/* The same for a file that is to be read.  Also -ENOENT and the like. */
int exports_read(const char *file, const struct grant *defaults,
                 struct exports_file *ret, char reason[EXPORTS_REASON_BYTES]);
void exports_free(struct exports_file *);

/* Adds the client of "CLIENT[(OPTION,...)]", whose options change the defaults.  0;
 * -EINVAL, -EEXIST, -E2BIG or -ENOMEM with the reason in @reason. */
int clients_add(struct clients *, const char *word, const struct grant *defaults,
                struct export_options, char reason[EXPORTS_REASON_BYTES]);
/* Sets one client's options: "rw,no_root_squash".  As clients_add. */
int client_options(const char *options, struct grant *grant,
                   struct export_options *whole, char reason[EXPORTS_REASON_BYTES]);
/* Looks names up, and blocks.  A name without addresses is told to @unknown, and
 * matches nobody. */
void clients_resolve(struct clients *,
                     void (*unknown)(void *arg, const char *name, const char *reason),
                     void *arg);
/* What is granted to @peer by the client that comes first: a host before a network
 * before
 * *, and of each the first in the list.  NULL: nothing; @ret_port says whether a port
 * below 1024 is all that lacks. */
const struct grant *clients_find(const struct clients *,
                                 const struct sockaddr_storage *peer, bool *ret_port);
/* What any of them says. */
struct export_options clients_export_options(const struct clients *);
/* Sets what one option says of the whole export; false: it says nothing of that. */
bool export_option_parse(const char *option, struct export_options *);
void clients_free(struct clients *);
/* @peer's address, IPv4 as mapped, and port in host order.  False: it is neither. */
bool clients_peer_address(const struct sockaddr_storage *peer, struct in6_addr *ret,
                          unsigned *ret_port);

#endif
