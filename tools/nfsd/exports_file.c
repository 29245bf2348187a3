/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exports file in the syntax of exports(5):
 *
 *   /srv/pub      192.0.2.0/24(rw) host.example(ro)   # client(options)
 *   "/srv/a b":/ab  -ro,sec=krb5  *                     \
 *                 admin(rw)
 *
 * A line consists of words separated by blanks.  Blanks within quotes belong to the
 * word, \040 stands for the octet with that octal value, a backslash at the end of a
 * line continues the line, and # where a word could begin starts a comment.  The first
 * word is the directory.  A word that begins with - sets the options of the clients
 * after it.  Every other word is a client.
 *
 * If one word is wrong, the whole file is refused, because the rest of a misread file
 * might give access to anybody.  For the same reason this parser refuses two things
 * that exports(5) accepts: a directory without clients, and options without a client.
 */
#include "nfsd.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD_BYTES = 8192 };

struct parser {
	const char *file, *at, *end;
	unsigned line; /* line of @at */
	const struct grant *defaults;
	struct exports_file *ret;
	char *reason;
	unsigned word_line;
	char word[WORD_BYTES]; /* decoded: without quotes and escapes */
};

/* Writes the file name, the line number and the formatted text to p->reason.  Returns
 * -EINVAL. */
static int refuse_line(struct parser *p, unsigned line, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

static int refuse_line(struct parser *p, unsigned line, const char *fmt, ...)
{
	char *to = p->reason;
	va_list ap;
	int n = snprintf(to, EXPORTS_REASON_BYTES, "%s:%u: ", p->file, line);

	va_start(ap, fmt);
	if (n >= 0 && n < EXPORTS_REASON_BYTES)
		vsnprintf(to + n, (size_t)(EXPORTS_REASON_BYTES - n), fmt, ap);
	va_end(ap);
	for (; *to; to++)
		if (iscntrl((unsigned char)*to))
			*to = '?';
	return -EINVAL;
}

/* -- words ----------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Returns the length of a line continuation (a backslash and the line end after it) at
 * the current position, or 0 if there is none. */
static size_t measure_continuation(const struct parser *p)
{
	size_t left = (size_t)(p->end - p->at);

	if (left >= 2 && p->at[0] == '\\' && p->at[1] == '\n')
		return 2;
	return left >= 3 && !memcmp(p->at, "\\\r\n", 3) ? 3 : 0;
}

/* Skips blanks and comments up to the next word or the end of the line. */
static void skip_blanks(struct parser *p)
{
	bool comment = false;
	size_t n;

	for (; p->at < p->end && *p->at != '\n'; p->at++) {
		n = measure_continuation(p);
		if (n) {
			p->at += n - 1;
			p->line++;
			continue;
		}
		if (*p->at == '#')
			comment = true;
		if (!comment && !is_blank(*p->at))
			break;
	}
}

/* Decodes an escape such as "\040".  Returns 0 or -EINVAL. */
static int take_escape(struct parser *p, char *ret)
{
	unsigned code = 0;
	int i;

	for (i = 1; i <= 3 && p->end - p->at > i; i++) {
		if (p->at[i] < '0' || p->at[i] > '7')
			break;
		code = code * 8 + (unsigned)(p->at[i] - '0');
	}
	if (i != 4 || !code || code > 255)
		return refuse_line(p, p->line,
		                   "a backslash needs three octal digits, as in \\040, "
		                   "or the end of the line");
	p->at += 4;
	*ret = (char)code;
	return 0;
}

static int take_octet(struct parser *p, char *ret)
{
	if (!*p->at)
		return refuse_line(p, p->line, "a NUL octet: this is not a text file");
	if (*p->at == '\\')
		return take_escape(p, ret);
	*ret = *p->at++;
	return 0;
}

/* Decodes the next word of the line into p->word.  Returns 1 for a word, 0 at the end
 * of the line, or -EINVAL. */
static int take_word(struct parser *p)
{
	bool quoted = false, any = false;
	size_t n = 0;

	skip_blanks(p);
	p->word_line = p->line;
	for (; p->at < p->end && *p->at != '\n'; any = true) {
		if (!quoted && (is_blank(*p->at) || measure_continuation(p)))
			break;
		if (*p->at == '"') {
			quoted = !quoted;
			p->at++;
		} else if (n == sizeof(p->word) - 1) {
			return refuse_line(p, p->line, "a word is too long");
		} else if (take_octet(p, &p->word[n++])) {
			return -EINVAL;
		}
	}
	p->word[n] = 0;
	if (quoted)
		return refuse_line(p, p->word_line, "a quote does not end on its line");
	return any;
}

/* -- lines ----------------------------------------------------------------- */

/* Finds the entry for the directory in p->word, or adds one.  Returns 0 or -EINVAL. */
static int begin_entry(struct parser *p, struct exported **ret)
{
	struct exports_file *l = p->ret;
	struct exported *more;

	if (*p->word != '/')
		return refuse_line(p, p->word_line, "'%s' is not an absolute path",
		                   p->word);
	for (unsigned i = 0; i < l->n; i++)
		if (!strcmp(l->all[i].spec, p->word)) {
			*ret = &l->all[i];
			return 0;
		}
	if (l->n == EXPORTS_MAX)
		return refuse_line(p, p->word_line, "more than %d directories",
		                   EXPORTS_MAX);
	more = realloc(l->all, (l->n + 1) * sizeof(*more));
	if (!more)
		return refuse_line(p, p->word_line, "no memory");
	l->all = more;
	*ret = &more[l->n];
	**ret = (struct exported){.spec = strdup(p->word), .line = p->word_line};
	if (!(*ret)->spec)
		return refuse_line(p, p->word_line, "no memory");
	l->n++;
	return 0;
}

static int add_client(struct parser *p, struct exported *to,
                      const struct grant *options, struct export_options export_options)
{
	char reason[EXPORTS_REASON_BYTES];

	if (clients_add(&to->clients, p->word, options, export_options, reason))
		return refuse_line(p, p->word_line, "%s", reason);
	return 0;
}

/* Parses the rest of the line, after the directory.  Returns 0 or -EINVAL. */
static int take_clients(struct parser *p, struct exported *to)
{
	struct grant options = *p->defaults;
	char reason[EXPORTS_REASON_BYTES];
	struct export_options export_options = {.wcc = false};
	unsigned n = 0;
	int e;

	while ((e = take_word(p)) > 0) {
		if (*p->word != '-') {
			e = add_client(p, to, &options, export_options);
			n++;
		} else {
			options = *p->defaults;
			export_options = (struct export_options){.wcc = false};
			e = client_options(p->word + 1, &options, &export_options,
			                   reason);
			if (e)
				e = refuse_line(p, p->word_line, "%s", reason);
		}
		if (e)
			return e;
	}
	if (!e && !n)
		return refuse_line(
		        p, p->line,
		        "no client is named for '%s'; * stands for all clients",
		        to->spec);
	return e;
}

static int take_line(struct parser *p)
{
	struct exported *to = NULL;
	int e = take_word(p);

	if (e > 0) {
		e = begin_entry(p, &to);
		if (!e)
			e = take_clients(p, to);
	}
	if (e)
		return e;
	if (p->at < p->end)
		p->at++; /* the end of the line */
	p->line++;
	return 0;
}

/* -- files ----------------------------------------------------------------- */

void exports_free(struct exports_file *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		free(l->all[i].spec);
		clients_free(&l->all[i].clients);
	}
	free(l->all);
	*l = (struct exports_file){0};
}

int exports_parse(const char *file, const char *text, size_t len,
                  const struct grant *defaults, struct exports_file *ret,
                  char reason[EXPORTS_REASON_BYTES])
{
	struct parser p = {.file = file,
	                   .at = text,
	                   .end = text + len,
	                   .line = 1,
	                   .defaults = defaults,
	                   .ret = ret,
	                   .reason = reason};
	int e = 0;

	*ret = (struct exports_file){0};
	while (!e && p.at < p.end)
		e = take_line(&p);
	if (e)
		exports_free(ret);
	return e;
}

/* Reads @fd to the end of the file.  Returns the number of octets, -EFBIG if there are
 * @size or more, or another negative errno. */
static ssize_t read_whole_fd(int fd, char *to, size_t size)
{
	size_t n = 0;
	ssize_t got;

	do {
		got = read(fd, to + n, size - n);
		if (got > 0)
			n += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	return got < 0 ? -errno : n == size ? -EFBIG : (ssize_t)n;
}

int exports_read(const char *file, const struct grant *defaults,
                 struct exports_file *ret, char reason[EXPORTS_REASON_BYTES])
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), e;
	char *text = malloc(EXPORTS_MAX_BYTES + 1);
	ssize_t n = fd < 0 ? -errno : -ENOMEM;

	*ret = (struct exports_file){0};
	if (fd >= 0 && text)
		n = read_whole_fd(fd, text, EXPORTS_MAX_BYTES + 1);
	if (n < 0)
		snprintf(reason, EXPORTS_REASON_BYTES, "%s: %s", file,
		         strerror((int)-n));
	e = n < 0 ? (int)n
	          : exports_parse(file, text, (size_t)n, defaults, ret, reason);
	free(text);
	if (fd >= 0)
		close(fd);
	return e;
}
