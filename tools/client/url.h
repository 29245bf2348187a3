/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nfs://HOST[:PORT]/NAME/PATH[?KEY=VALUE&...]: a file behind an export.  HOST is a
 * name, an IPv4 address or an [IPv6] one; %XX stands for an octet.  Names are
 * octets, not characters; only "/" and the zero octet cannot occur in one.  Keys:
 * mountport, where MOUNT is on TCP; nfsport, the same as PORT; sec, a security flavor.
 */
#ifndef RPCRDMA_TOOLS_URL_H
#define RPCRDMA_TOOLS_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct url {
	char host[256];      /* without brackets */
	char port[8];        /* decimal; "20049" unless given */
	bool has_port;       /* it was given */
	char *export;        /* "/NAME", "" if the URL ends before it; heap */
	char *path;          /* octets after it, "/" between names, none around; heap */
	bool slash;          /* the URL ended with "/": a directory is meant */
	uint16_t mount_port; /* 0: not given */
	uint32_t sec;        /* client/sec_option.h; 0: not given */
};

/* Whether @s is to be read as a URL (it begins with "nfs://"). */
bool url_is(const char *s);
/* Parses; on failure -EINVAL or -ENOMEM, and @ret_reason says what is wrong. */
int url_parse(const char *s, struct url *ret, const char **ret_reason);
void url_fini(struct url *);
/* Whether the URL's path begins with the names of @export ("/", "/a/b"). */
bool url_is_below(const struct url *, const char *export);
/* Divides the URL's path anew: @export, which it is below, and the rest. */
int url_rebase(struct url *, const char *export);
/* The text of @name beneath the directory that the text of a URL names; on the heap,
 * NULL: no memory.  For messages: @name is not escaped. */
char *url_join(const char *url, const char *name);
/* "HOST:PORT" or "[HOST]:PORT" alone, as ping takes it.  Only host and port
 * are set. */
int url_parse_host(const char *s, struct url *ret, const char **ret_reason);
/* "HOST:PORT", with brackets where needed. */
void url_host_text(const struct url *, char *buf, size_t size);

#endif
