/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quotes names for messages.  A server or a user may have chosen a name that moves a
 * terminal's cursor or that looks like another name.  Names are quoted as in ls(1) and
 * cp(1): as printable characters that a shell reads as the same name.
 */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

unsigned tool_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned n = *s < 0x80                 ? 1
	             : *s >= 0xc2 && *s < 0xe0 ? 2
	             : *s >= 0xe0 && *s < 0xf0 ? 3
	             : *s >= 0xf0 && *s < 0xf5 ? 4
	                                       : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

/* Returns the length in octets of the printable character at @s, or 0 if there is none.
 * U+0080 to U+009F are control characters. */
static unsigned printing_length(const char *s)
{
	unsigned n = tool_utf8(s);

	if (n == 1)
		return (unsigned char)*s >= 0x20 && *s != 0x7f;
	if (n == 2 && (unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0)
		return 0;
	return n;
}

static bool is_plain(const char *s)
{
	unsigned n;

	if (!*s || *s == '~' || *s == '#')
		return false;
	for (; *s; s += n) {
		n = printing_length(s);
		if (!n || strchr(" !\"$&'()*;<=>?[\\^`|", *s))
			return false;
	}
	return true;
}

/* Writes the escape sequence for an unprintable octet within $'...'.  Returns a pointer
 * past the sequence. */
static char *escape_octet(unsigned char octet, char *out)
{
	static const char letters[] = "abtnvfr"; /* escapes of octets 7 to 13 */

	if (octet >= 7 && octet <= 13)
		return out + sprintf(out, "\\%c", letters[octet - 7]);
	return out + sprintf(out, "\\%03o", (unsigned)octet);
}

/* Writes the quoted form of @s to @out, which has space for three octets and seven more
 * for each octet of @s. */
static void write_quoted(const char *s, char *out)
{
	bool escaped = false;
	unsigned n;

	*out++ = '\'';
	for (; *s; s += n) {
		n = printing_length(s);
		if (!n) {
			if (!escaped)
				out = stpcpy(out, "'$'");
			out = escape_octet((unsigned char)*s, out);
			n = 1;
			escaped = true;
			continue;
		}
		if (escaped)
			out = stpcpy(out, "''");
		escaped = false;
		if (*s == '\'') {
			out = stpcpy(out, "'\\''");
		} else {
			memcpy(out, s, n);
			out += n;
		}
	}
	strcpy(out, "'");
}

const char *tool_quote(const char *text)
{
	return is_plain(text) ? text : tool_quote_always(text);
}

const char *tool_quote_always(const char *text)
{
	static char *ring[4];
	static unsigned next;
	char **buf = &ring[next++ % TOOL_N(ring)];

	free(*buf);
	*buf = malloc(7 * strlen(text) + 3);
	if (!*buf)
		return "(out of memory)";
	write_quoted(text, *buf);
	return *buf;
}
