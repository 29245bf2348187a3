/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which security flavors a request may use.  MOUNT and the NULL procedure of
 * NFS accept any flavor: a client learns handles and flavors from MOUNT, and the flavor
 * that it chooses is checked when it uses the handles.  GETATTR and FSINFO for an
 * export's root also accept any flavor, because clients call these procedures while
 * mounting, when there may be no user with a credential.
 *                                                             [RFC 2623 §2.3, §2.7]
 */
#include "nfsd.h"

#include "client/sec_option.h"
#include "tool.h"
#include <errno.h>
#include <string.h>

enum { AUTH_STAT_TOOWEAK = 5 };

static void add_flavor(struct flavors *f, uint32_t flavor)
{
	enum rpcrdma_gss_service service = sec_service(flavor);
	bool *known = service ? &f->service[service] : &f->sys;

	if (*known)
		return;
	*known = true;
	f->list[f->n++] = (int)flavor;
}

void sec_default(struct flavors *f)
{
	if (!f->n)
		add_flavor(f, SEC_SYS);
	/* A caller without a credential is served as the anonymous user. */
	if (f->sys)
		f->list[f->n++] = RPCRDMA_AUTH_NONE;
}

/* Adds the flavors named in @list.  Returns NULL, or the first word that is not a
 * flavor. */
static const char *add_flavor_list(struct flavors *f, const char *list, char separator)
{
	const char stop[] = {separator, 0};

	for (const char *s = list;; s++) {
		size_t len = strcspn(s, stop);
		uint32_t flavor = sec_from_name(s, len);

		if (!flavor)
			return s;
		add_flavor(f, flavor);
		s += len;
		if (!*s)
			return NULL;
	}
}

int sec_add_list(struct flavors *f, const char *list, char separator)
{
	return add_flavor_list(f, list, separator) ? -EINVAL : 0;
}

int sec_take_list(void *to, const char *arg)
{
	const char *bad = add_flavor_list(to, arg, ',');

	if (!bad)
		return 0;
	tool_error("--sec: '%.*s' is not one of sys, krb5, krb5i, krb5p",
	           (int)strcspn(bad, ","), bad);
	return -EINVAL;
}

bool sec_has_kerberos(const struct flavors *f)
{
	return f->service[1] || f->service[2] || f->service[3];
}

uint32_t sec_check(const struct flavors *f, const struct rpcrdma_gss_caller *caller)
{
	bool ok = caller ? f->service[caller->service] : f->sys;

	return ok ? 0 : AUTH_STAT_TOOWEAK;
}
