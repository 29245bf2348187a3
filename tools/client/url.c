/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses NFS URLs.  The text is split first and unescaped afterwards.  An escaped "/"
 * therefore cannot become a separator; the parser refuses it, since no file name can
 * contain "/".  An escaped "?" is part of a name.
 */
#include "url.h"

#include "client/sec_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool url_is(const char *s)
{
	return !strncmp(s, "nfs://", 6);
}

static int unescape_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

static int parse_number(const char *s, size_t len, uint16_t *ret)
{
	unsigned port = 0;

	if (len == 0 || len > 5 || strspn(s, "0123456789") < len)
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		port = port * 10 + (unsigned)(s[i] - '0');
	if (port == 0 || port > 65535)
		return -EINVAL;
	*ret = (uint16_t)port;
	return 0;
}

static int parse_port(const char *s, size_t len, struct url *u, const char **reason)
{
	uint16_t port;

	if (parse_number(s, len, &port)) {
		*reason = "the port is not a number from 1 to 65535";
		return -EINVAL;
	}
	snprintf(u->port, sizeof(u->port), "%u", (unsigned)port);
	u->has_port = true;
	return 0;
}

/* @s[0..@len): HOST, HOST:PORT, [HOST], [HOST]:PORT */
static int parse_host(const char *s, size_t len, struct url *u, const char **reason)
{
	const char *host = s, *end = s + len, *colon;
	size_t host_len;

	strcpy(u->port, "20049");
	if (len && *s == '[') {
		const char *close = memchr(s, ']', len);

		if (!close) {
			*reason = "']' is missing after the IPv6 address";
			return -EINVAL;
		}
		host = s + 1;
		host_len = (size_t)(close - host);
		colon = close + 1;
		if (colon < end && *colon != ':') {
			*reason = "only ':' and a port may follow ']'";
			return -EINVAL;
		}
	} else {
		colon = memchr(s, ':', len);
		if (!colon)
			colon = end;
		host_len = (size_t)(colon - host);
		if (colon < end && memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
			*reason = "an IPv6 address needs brackets, as in [::1]";
			return -EINVAL;
		}
	}
	if (host_len == 0 || host_len >= sizeof(u->host)) {
		*reason = host_len ? "the host is too long" : "the host is missing";
		return -EINVAL;
	}
	memcpy(u->host, host, host_len);
	u->host[host_len] = 0;
	if (colon < end)
		return parse_port(colon + 1, (size_t)(end - colon - 1), u, reason);
	return 0;
}

/* Unescapes one name into @out.  Returns the length of @out, or -EINVAL. */
static int unescape_name(const char *s, size_t len, char *out, const char **reason)
{
	int n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (c == '%') {
			int hi = len - i > 2 ? unescape_digit(s[i + 1]) : -1;
			int lo = len - i > 2 ? unescape_digit(s[i + 2]) : -1;

			if (hi < 0 || lo < 0) {
				*reason =
				        "'%' needs two hexadecimal digits (%25 is '%' "
				        "itself)";
				return -EINVAL;
			}
			c = (char)(hi << 4 | lo);
			i += 2;
			if (c == 0 || c == '/') {
				*reason = "no file name contains %00 or %2F";
				return -EINVAL;
			}
		}
		out[n++] = c;
	}
	return n;
}

/* Splits @s into names, unescapes them, and joins them by single slashes. */
static int parse_path(const char *s, struct url *u, const char **reason)
{
	size_t size = strlen(s) + 2;
	char *path = malloc(size), *export = malloc(size);
	size_t n_path = 0, n_export = 0;

	*reason = "out of memory";
	if (!path || !export) {
		free(path);
		free(export);
		return -ENOMEM;
	}
	u->slash = *s && s[strlen(s) - 1] == '/';
	while (*s) {
		size_t len = strcspn(s, "/");
		bool first = n_export == 0;
		char *out;
		int n;

		if (len) {
			if (!first && n_path)
				path[n_path++] = '/';
			if (first)
				export[n_export++] = '/';
			out = first ? export + n_export : path + n_path;
			n = unescape_name(s, len, out, reason);
			if (n < 0) {
				free(path);
				free(export);
				return n;
			}
			*(first ? &n_export : &n_path) += (size_t)n;
		}
		s += len + (s[len] == '/');
	}
	path[n_path] = 0;
	export[n_export] = 0;
	u->path = path;
	u->export = export;
	return 0;
}

static int parse_sec(const char *s, size_t len, struct url *u, const char **reason)
{
	if (u->sec) {
		*reason = "sec is given twice";
		return -EINVAL;
	}
	u->sec = sec_from_name(s, len);
	*reason = "sec is not one of sys, krb5, krb5i, krb5p";
	return u->sec ? 0 : -EINVAL;
}

/* Parses one KEY=VALUE. */
static int parse_key(const char *s, size_t len, struct url *u, const char **reason)
{
	static char text[160];
	const char *equal = memchr(s, '=', len);
	size_t key = equal ? (size_t)(equal - s) : len;
	bool mount = key == 9 && !memcmp(s, "mountport", 9);
	uint16_t port;

	if (key == 3 && !memcmp(s, "sec", 3))
		return parse_sec(equal ? equal + 1 : s, equal ? len - key - 1 : 0, u,
		                 reason);
	*reason = text;
	if (!mount && !(key == 7 && !memcmp(s, "nfsport", 7))) {
		snprintf(
		        text, sizeof(text),
		        "unknown key '%.*s' after '?'; the keys are mountport, nfsport "
		        "and sec (write %%3F for '?' in a name; wildcards are not "
		        "expanded)",
		        (int)(key < 20 ? key : 20), s);
		return -EINVAL;
	}
	snprintf(text, sizeof(text), "%.*s is not a number from 1 to 65535", (int)key,
	         s);
	if (!equal || parse_number(equal + 1, len - key - 1, &port))
		return -EINVAL;
	snprintf(text, sizeof(text), "%.*s is given twice", (int)key, s);
	if (mount ? u->mount_port : u->has_port)
		return -EINVAL;
	if (mount)
		u->mount_port = port;
	else
		return parse_port(equal + 1, len - key - 1, u, reason);
	return 0;
}

/* Parses KEY=VALUE&... */
static int parse_keys(const char *s, struct url *u, const char **reason)
{
	for (;;) {
		size_t len = strcspn(s, "&");
		int r = parse_key(s, len, u, reason);

		if (r || !s[len])
			return r;
		s += len + 1;
	}
}

int url_parse(const char *s, struct url *ret, const char **ret_reason)
{
	struct url u = {.port = ""};
	char *names;
	size_t len;
	int r;

	if (!url_is(s)) {
		*ret_reason = "not a URL";
		return -EINVAL;
	}
	s += 6;
	len = strcspn(s, "/?");
	r = parse_host(s, len, &u, ret_reason);
	if (!r && s[strcspn(s, "?")])
		r = parse_keys(s + strcspn(s, "?") + 1, &u, ret_reason);
	if (r)
		return r;
	*ret_reason = "out of memory";
	names = strndup(s + len, strcspn(s + len, "?"));
	if (!names)
		return -ENOMEM;
	r = parse_path(names, &u, ret_reason);
	free(names);
	if (!r)
		*ret = u;
	return r;
}

void url_fini(struct url *u)
{
	free(u->export);
	free(u->path);
	u->export = u->path = NULL;
}

int url_parse_host(const char *s, struct url *ret, const char **ret_reason)
{
	struct url u = {.port = ""};
	int r;

	if (url_is(s))
		s += 6;
	if (strchr(s, '?') || (strchr(s, '/') && strcspn(s, "/") + 1 != strlen(s))) {
		*ret_reason = "expected HOST or HOST:PORT, without a path";
		return -EINVAL;
	}
	r = parse_host(s, strcspn(s, "/"), &u, ret_reason);
	if (!r)
		*ret = u;
	return r;
}

void url_host_text(const struct url *u, char *buf, size_t size)
{
	snprintf(buf, size, strchr(u->host, ':') ? "[%s]:%s" : "%s:%s", u->host,
	         u->port);
}

char *url_join(const char *url, const char *name)
{
	size_t len = strcspn(url, "?");
	const char *keys = url + len;
	char *text = malloc(strlen(url) + strlen(name) + 2);

	while (len > 1 && url[len - 1] == '/')
		len--;
	if (text)
		sprintf(text, "%.*s/%s%s", (int)len, url, name, keys);
	return text;
}

int url_rebase(struct url *u, const char *export)
{
	size_t len = strlen(export), skip;
	char *full, *name = strdup(export);

	if (!name)
		return -ENOMEM;
	full = malloc(strlen(u->export) + strlen(u->path) + 2);
	if (!full) {
		free(name);
		return -ENOMEM;
	}
	sprintf(full, *u->path ? "%s/%s" : "%s%s", u->export, u->path);
	if (len == 1) /* "/" */
		len = 0;
	skip = len + (full[len] == '/');
	memmove(full, full + skip, strlen(full + skip) + 1);
	url_fini(u);
	u->export = name;
	u->path = full;
	return 0;
}

bool url_is_below(const struct url *u, const char *export)
{
	size_t n = strlen(u->export), len = strlen(export);

	if (*export != '/')
		return false;
	if (len == 1)
		return true;
	if (len <= n)
		return len == n && !memcmp(u->export, export, len);
	if (export[len - 1] == '/')
		return false; /* @export ends with an empty name */
	return !strncmp(u->export, export, n) && export[n] == '/' &&
	       !strncmp(u->path, export + n + 1, len - n - 1) &&
	       (u->path[len - n - 1] == '/' || !u->path[len - n - 1]);
}
