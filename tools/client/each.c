/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions shared by the tools that take URLs: they check all URLs first, and then
 * open them one by one. */
#include "client/nfs.h"

#include <errno.h>
#include <string.h>

/* Reports a bad URL and the right form.  Recognises HOST:/PATH, the form that mount(8)
 * takes. */
static void report_bad_url(const char *text, const char *reason)
{
	size_t host = strcspn(text, ":/");
	char meant[1024];

	if (host && !strncmp(text + host, ":/", 2) && text[host + 2] != '/') {
		snprintf(meant, sizeof(meant), "nfs://%.*s%s", (int)host, text,
		         text + host + 1);
		tool_error("%s: %s; write %s", tool_quote(text), reason,
		           tool_quote(meant));
	} else {
		tool_error("%s: %s; write nfs://HOST[:PORT]/NAME/PATH",
		           tool_quote(text), reason);
	}
}

int nfs_url(const char *text, bool export, struct url *ret)
{
	const char *reason;

	if (url_parse(text, ret, &reason)) {
		report_bad_url(text, reason);
		return -EINVAL;
	}
	if (*ret->export || !export)
		return 0;
	report_bad_url(text, "the export's name is missing");
	url_fini(ret);
	return -EINVAL;
}

int nfs_check_urls(char **urls, bool export)
{
	struct url u;

	for (; *urls; urls++) {
		if (nfs_url(*urls, export, &u))
			return tool_usage();
		url_fini(&u);
	}
	return TOOL_OK;
}

int nfs_each(struct loop *l, const struct nfs_options *o, bool export, char **urls,
             nfs_each_fn *each, void *arg)
{
	struct nfs_client client;
	int code = nfs_check_urls(urls, export), r = 0;
	struct url u;

	if (code)
		return code;
	for (; *urls && r != -EINTR && r != TOOL_REPORTED; urls++) {
		r = nfs_url(*urls, export, &u);
		if (!r) {
			r = nfs_open(&client, l, &u, o);
			if (!r) {
				r = each(&client, *urls, &u, arg);
				nfs_close(&client);
			}
			url_fini(&u);
		}
		if (r)
			code = TOOL_FAILED;
	}
	return code;
}

int nfs_run_each(struct tool_common *common, const struct nfs_options *o, bool export,
                 char **urls, nfs_each_fn *each, void *arg)
{
	struct loop l;
	int code;

	if (!*urls) {
		tool_error("missing URL operand");
		return tool_usage();
	}
	if (loop_init(&l, common))
		return TOOL_FAILED;
	code = nfs_each(&l, o, export, urls, each, arg);
	loop_fini(&l);
	return loop_exit_code(code);
}
