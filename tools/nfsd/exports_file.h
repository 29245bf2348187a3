/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of clients in the syntax of exports(5): who may mount a directory, and what
 * they may do.  These functions turn text into structures, and serve no one.
 *
 *   exports_file.c  the file: lines, words, options
 *   clients.c       one client: address, network, name or *; which one a peer is
 *   flavors.c       security flavors
 */
#ifndef RPCRDMA_NFSD_EXPORTS_FILE_H
#define RPCRDMA_NFSD_EXPORTS_FILE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct rpcrdma_gss_caller;

enum {
	EXPORTS_MAX = 64,            /* directories of one file */
	EXPORTS_MAX_CLIENTS = 1024,  /* clients of one directory */
	EXPORTS_MAX_BYTES = 1 << 20, /* size of a file */
	EXPORTS_REASON_BYTES = 512,  /* size of an error text */
};

struct squash {
	bool root, all;
	uint32_t anon_uid, anon_gid;
};

/* The security flavors that are allowed, as the results of MNT list them. */
struct flavors {
	int list[5]; /* by preference; AUTH_NONE last */
	unsigned n;
	bool sys, service[4]; /* by enum rpcrdma_gss_service */
};

/* What a client may do. */
struct grant {
	struct squash squash;
	struct flavors flavors;
	bool read_only;
	bool low_ports; /* it must use a port below 1024 */
};

/* Options that apply to the whole export, whichever client they are given with. */
struct export_options {
	bool wcc, crossmnt;
};

/* In the order of precedence. */
enum client_kind { CLIENT_HOST, CLIENT_NETWORK, CLIENT_ANY };

struct export_client {
	enum client_kind kind;
	char *text;             /* as it was written; owned */
	struct in6_addr *addrs; /* owned; IPv4 as mapped; of a name: set by look-up */
	unsigned n_addrs;
	unsigned bits; /* of each address that are compared */
	bool is_name;
	struct export_options export_options; /* given with this client */
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

/* The contents of a file. */
struct exports_file {
	struct exported *all; /* owned */
	unsigned n;
};

/* -- files (exports_file.c) ------------------------------------------------ */

/* Parses @text, the contents of @file, which error texts name.  A client without
 * options gets @defaults.  Returns 0; or -EINVAL or -ENOMEM with "FILE:LINE: reason" in
 * @reason and nothing in @ret. */
int exports_parse(const char *file, const char *text, size_t len,
                  const struct grant *defaults, struct exports_file *ret,
                  char reason[EXPORTS_REASON_BYTES]);
/* Reads and parses @file.  Also returns errors of open(2) and read(2). */
int exports_read(const char *file, const struct grant *defaults,
                 struct exports_file *ret, char reason[EXPORTS_REASON_BYTES]);
void exports_free(struct exports_file *);

/* -- clients (clients.c) --------------------------------------------------- */

/* Adds the client of "CLIENT[(OPTION,...)]", whose options change the defaults.
 * Returns 0; or -EINVAL, -EEXIST, -E2BIG or -ENOMEM with the reason in @reason. */
int clients_add(struct clients *, const char *word, const struct grant *defaults,
                struct export_options, char reason[EXPORTS_REASON_BYTES]);
/* Applies options such as "rw,no_root_squash".  Returns as clients_add. */
int client_options(const char *options, struct grant *, struct export_options *,
                   char reason[EXPORTS_REASON_BYTES]);
/* Looks up the names of all clients, and blocks.  Calls @unknown for a name without
 * addresses, which no peer matches. */
void clients_resolve(struct clients *,
                     void (*unknown)(void *arg, const char *name, const char *reason),
                     void *arg);
/* Returns the grant of the client that matches @peer: a host before a network before *,
 * and among equals the first of the list.  NULL: there is none; @ret_port: there is
 * one, but it demands a port below 1024. */
const struct grant *clients_find(const struct clients *,
                                 const struct sockaddr_storage *peer, bool *ret_port);
/* Returns the options of the export that any of the clients has. */
struct export_options clients_export_options(const struct clients *);
/* Applies one option of a whole export.  Returns false if @option is not one. */
bool export_option_parse(const char *option, struct export_options *);
void clients_free(struct clients *);
/* Finds @peer's address (IPv4 as mapped) and its port in host order.  Returns false if
 * it has neither an IPv4 nor an IPv6 address. */
bool clients_peer_address(const struct sockaddr_storage *peer, struct in6_addr *ret,
                          unsigned *ret_port);

/* -- security flavors (flavors.c) ------------------------------------------ */

/* Adds the flavors of "sys,krb5,..." to the struct flavors @to.  Returns 0, or -EINVAL
 * after a message. */
int sec_take_list(void *to, const char *arg);
/* The same with another separator, and without a message. */
int sec_add_list(struct flavors *, const char *list, char separator);
/* Completes a list: sys if it is empty, and AUTH_NONE with sys. */
void sec_default(struct flavors *);
bool sec_has_kerberos(const struct flavors *);
/* Returns 0 if a request of @caller (NULL: without RPCSEC_GSS) may be served, else an
 * auth_stat. */
uint32_t sec_check(const struct flavors *, const struct rpcrdma_gss_caller *caller);

#endif
