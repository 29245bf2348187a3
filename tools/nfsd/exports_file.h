/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of clients in the syntax of exports(5): which clients may mount a directory,
 * and what those clients may do.  These functions only parse text into structures.
 *
 *   exports_file.c  the file: lines, words, options
 *   clients.c       one client: address, network, name or *; finding a peer's client
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
	EXPORTS_MAX = 64,            /* maximum number of directories in one file */
	EXPORTS_MAX_CLIENTS = 1024,  /* maximum number of clients of one directory */
	EXPORTS_MAX_BYTES = 1 << 20, /* maximum file size, octets */
	EXPORTS_REASON_BYTES = 512,  /* buffer size for an error text, octets */
};

struct squash {
	bool root, all;
	uint32_t anon_uid, anon_gid;
};

/* The allowed security flavors, in the form in which MNT returns them. */
struct flavors {
	int list[5]; /* most preferred first; AUTH_NONE last */
	unsigned n;
	bool sys, service[4]; /* indexed by enum rpcrdma_gss_service */
};

/* The permissions of a client. */
struct grant {
	struct squash squash;
	struct flavors flavors;
	bool read_only;
	bool low_ports; /* the client must use a port below 1024 */
};

/* Options that apply to all clients of an export, even if only one client has them. */
struct export_options {
	bool wcc, crossmnt;
};

/* In order of precedence, highest first. */
enum client_kind { CLIENT_HOST, CLIENT_NETWORK, CLIENT_ANY };

struct export_client {
	enum client_kind kind;
	char *text; /* as written in the file or option; owned */
	/* The client's addresses, IPv4 in IPv4-mapped form; owned.  A host name's
	 * addresses are set when the name is looked up. */
	struct in6_addr *addrs;
	unsigned n_addrs;
	unsigned bits; /* number of leading bits to compare */
	bool is_name;
	struct export_options export_options; /* options given with this client */
	struct grant grant;
};

struct clients {
	struct export_client *all; /* owned */
	unsigned n;
};

/* One directory in a file. */
struct exported {
	char *spec;    /* "DIR[:/NAME]"; owned */
	unsigned line; /* first line that lists the directory */
	struct clients clients;
};

/* The contents of a file. */
struct exports_file {
	struct exported *all; /* owned */
	unsigned n;
};

/* -- files (exports_file.c) ------------------------------------------------ */

/* Parses @text, the contents of the file @file.  A client without options gets
 * @defaults.  Returns 0 with the result in @ret.  On failure, returns -EINVAL with
 * "FILE:LINE: reason" in @reason, and leaves @ret empty. */
int exports_parse(const char *file, const char *text, size_t len,
                  const struct grant *defaults, struct exports_file *ret,
                  char reason[EXPORTS_REASON_BYTES]);
/* Reads and parses @file.  Returns 0 with the result in @ret.  On failure, returns
 * -EINVAL, -ENOMEM, -EFBIG or an error from open(2) or read(2), with the reason in
 * @reason, and leaves @ret empty. */
int exports_read(const char *file, const struct grant *defaults,
                 struct exports_file *ret, char reason[EXPORTS_REASON_BYTES]);
void exports_free(struct exports_file *);

/* -- clients (clients.c) --------------------------------------------------- */

/* Adds the client "CLIENT[(OPTION,...)]".  Its options override @defaults.  Returns 0.
 * On failure, returns -EINVAL, -EEXIST, -E2BIG or -ENOMEM, with the reason in
 * @reason. */
int clients_add(struct clients *, const char *word, const struct grant *defaults,
                struct export_options, char reason[EXPORTS_REASON_BYTES]);
/* Applies options such as "rw,no_root_squash".  Returns the same values as
 * clients_add. */
int client_options(const char *options, struct grant *, struct export_options *,
                   char reason[EXPORTS_REASON_BYTES]);
/* Looks up the addresses of all host names in the list, which may take seconds.  Calls
 * @unknown for each name without addresses.  No peer will match such a name. */
void clients_resolve(struct clients *,
                     void (*unknown)(void *arg, const char *name, const char *reason),
                     void *arg);
/* Returns the grant of the client that matches @peer.  A host takes precedence over a
 * network, and a network over *; between clients of the same kind, the first in the
 * list applies.  Returns NULL if none matches.  If the client must use a port below
 * 1024 and does not, returns NULL and sets *ret_port to true. */
const struct grant *clients_find(const struct clients *,
                                 const struct sockaddr_storage *peer, bool *ret_port);
/* Returns the export options that at least one of the clients has. */
struct export_options clients_export_options(const struct clients *);
/* Applies an option that concerns a whole export.  Returns false if @option is not such
 * an option. */
bool export_option_parse(const char *option, struct export_options *);
void clients_free(struct clients *);
/* Stores the address of @peer in @ret (IPv4 in IPv4-mapped form) and its port, in host
 * byte order, in @ret_port.  Returns false if the address is neither IPv4 nor IPv6. */
bool clients_peer_address(const struct sockaddr_storage *peer, struct in6_addr *ret,
                          unsigned *ret_port);

/* -- security flavors (flavors.c) ------------------------------------------ */

/* Adds the flavors in @arg, such as "sys,krb5", to @to, which points to a struct
 * flavors.  Returns 0, or prints a message and returns -EINVAL. */
int sec_take_list(void *to, const char *arg);
/* Adds the flavors in @list, separated by @separator.  Prints no message. */
int sec_add_list(struct flavors *, const char *list, char separator);
/* Completes a list: adds sys if the list is empty, and AUTH_NONE if the list contains
 * sys. */
void sec_default(struct flavors *);
bool sec_has_kerberos(const struct flavors *);
/* Returns 0 if a request from @caller (NULL = a request without RPCSEC_GSS) may be
 * served, otherwise an auth_stat. */
uint32_t sec_check(const struct flavors *, const struct rpcrdma_gss_caller *caller);

#endif
