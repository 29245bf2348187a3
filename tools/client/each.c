/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tools that take URLs have in common: options, and one URL after another. */
#include "client/nfs.h"

#include <errno.h>

const char nfs_options_help[] =
        "  --sec FLAVOR            sys, krb5, krb5i or krb5p (the first that the\n"
        "                          server lists and that can be used)\n"
        "  --timeout SECONDS       for a connected server that does not answer (60); "
        "0:\n"
        "                          none; COMMIT gets five times as long\n"
        "  --retry SECONDS         wait for a server that vanished (60)\n";

int nfs_url(const char *text, bool export, struct url *ret)
{
	const char *why;

	if (url_parse(text, ret, &why)) {
		tool_error("%s: %s", tool_quote(text), why);
		return -EINVAL;
	}
	if (*ret->export || !export)
		return 0;
	tool_error("%s: the export's name is missing: nfs://HOST/NAME/PATH",
	           tool_quote(text));
	url_fini(ret);
	return -EINVAL;
}

int nfs_each(struct loop *l, const struct nfs_options *o, bool export, char **urls,
             nfs_each_fn *each, void *arg)
{
	struct nfs_client client;
	int code = TOOL_OK, r = 0;
	struct url u;

	for (; *urls && r != -EINTR && r != TOOL_TOLD; urls++) {
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
