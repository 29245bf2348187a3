/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nfs://HOST[:PORT]/NAME/PATH[?KEY=VALUE&...]: a file in an export.  HOST is a name, an
 * IPv4 address or an IPv6 address in brackets. %XX stands for an octet: names consist
 * of octets, not characters.  A name cannot contain "/" or a zero octet.  Keys:
 * mountport, the TCP port of MOUNT; nfsport, the same as PORT; sec, a security flavor.
 */
#ifndef RPCRDMA_TOOLS_URL_H
#define RPCRDMA_TOOLS_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct url {
	char host[256];      /* without brackets */
	char port[8];        /* decimal; "20049" unless given */
	bool has_port;       /* the URL has a port */
	char *export;        /* "/NAME", or "" without a name; heap */
	char *path;          /* names below the export, with "/" between them; heap */
	bool slash;          /* the URL ends with "/", so it must lead to a directory */
	uint16_t mount_port; /* 0: not given */
	uint32_t sec;        /* client/sec_option.h; 0: not given */
};

/* Returns true if @s is a URL, that is, begins with "nfs://". */
bool url_is(const char *s);
/* Parses a URL.  Returns 0, or -EINVAL or -ENOMEM with the reason in @ret_reason. */
int url_parse(const char *s, struct url *ret, const char **ret_reason);
void url_fini(struct url *);
/* Returns true if the URL's path begins with the names in @export ("/", "/a/b"). */
bool url_is_below(const struct url *, const char *export);
/* Splits the URL's path after @export; the path must begin with @export.  Returns 0 or
 * -ENOMEM. */
int url_rebase(struct url *, const char *export);
/* Appends @name to the path in the text of a URL, for messages: @name is not escaped.
 * Returns the result, which the caller frees, or NULL if out of memory. */
char *url_join(const char *url, const char *name);
/* Parses "HOST:PORT" or "[HOST]:PORT", the form of ping's argument.  Sets only host and
 * port. */
int url_parse_host(const char *s, struct url *ret, const char **ret_reason);
/* Formats "HOST:PORT", with brackets around an IPv6 address. */
void url_host_text(const struct url *, char *buf, size_t size);

#endif
