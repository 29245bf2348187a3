/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Warnings about request failures whose cause the administrator can remove: failing
 * storage and refused clients.  warn.c limits the number of warnings.
 */
#include "op.h"
#include "tool.h"
#include <errno.h>
#include <netdb.h>
#include <string.h>

enum { AUTH_STAT_TOOWEAK = 5 };

static const char *format_host(const struct sockaddr_storage *peer,
                               char text[NI_MAXHOST])
{
	if (getnameinfo((const struct sockaddr *)peer, sizeof(*peer), text, NI_MAXHOST,
	                NULL, 0, NI_NUMERICHOST))
		return "a client without address";
	return text;
}

void complain_of_storage(const struct op *op)
{
	const struct op_type *t = op->type;
	nfsstat3 status = op->res.status;
	char what[64];
	int fd;

	if (!t->name || (status != NFS3ERR_IO && status != NFS3ERR_NOSPC))
		return;
	fd = op->obj ? op->obj->path_fd : op->ex ? op->ex->root_fd : -1;
	snprintf(what, sizeof(what), "%s failed", t->name);
	warn_about(WARN_STORAGE, fd, what, status == NFS3ERR_IO ? -EIO : -ENOSPC);
}

void complain_of_delay(const struct op *op)
{
	warn_about(WARN_DELAY, op->ex ? op->ex->root_fd : -1,
	           "the file system does not answer, clients are asked to retry later",
	           -EAGAIN);
}

void complain_of_flavor(const struct op *op, uint32_t auth_stat)
{
	struct sockaddr_storage peer = {0};
	char text[NI_MAXHOST];

	if (!warn_take_turn(WARN_REFUSED))
		return;
	(void)op_peer(op, &peer);
	if (auth_stat == AUTH_STAT_TOOWEAK && op->ex)
		warn_print(WARN_REFUSED,
		           "%s may not use %.64s with this security flavor (sec)",
		           format_host(&peer, text), op->ex->name);
	else
		warn_print(WARN_REFUSED, "credentials of %s are refused (auth_stat %u)",
		           format_host(&peer, text), (unsigned)auth_stat);
}

void complain_of_access(const struct export *ex, const struct sockaddr_storage *peer,
                        bool mounts, bool port)
{
	char text[NI_MAXHOST];

	if (!warn_take_turn(WARN_REFUSED))
		return;
	warn_print(WARN_REFUSED, "%s may not %s %.64s%s: %s", format_host(peer, text),
	           port || !mounts ? "use" : "mount", ex->name,
	           port ? " from a port above 1023 (secure)" : "", strerror(EACCES));
}

void complain_of_contexts(void *arg, const struct sockaddr *peer)
{
	struct sockaddr_storage ss = {0};
	char text[NI_MAXHOST];

	(void)arg;
	if (!warn_take_turn(WARN_CONTEXTS))
		return;
	if (peer && peer->sa_family == AF_INET)
		memcpy(&ss, peer, sizeof(struct sockaddr_in));
	else if (peer && peer->sa_family == AF_INET6)
		memcpy(&ss, peer, sizeof(struct sockaddr_in6));
	warn_print(WARN_CONTEXTS,
	           "%s: a new RPCSEC_GSS context is refused, there are too many "
	           "(--gss-contexts)",
	           format_host(&ss, text));
}
