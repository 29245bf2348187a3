/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The identity with which a request is served.  On Linux each thread has its own
 * identity for file access, set with setfsuid and the raw setgroups system call
 * (glibc's setgroups changes all threads).  When a thread's fsuid changes from 0, the
 * thread loses the capabilities that override permissions.  Each thread remembers its
 * identity, so that consecutive requests from one user need no system call.
 *
 * A server that does not run as root serves every request with its own identity.  A
 * server that runs as root but is not allowed to change its identity does not start.
 */
#include "nfsd.h"
#include "tool.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>

enum { AUTH_STAT_BADCRED = 1, AUTH_STAT_REJECTEDCRED = 2 };

enum { MOST_GIDS = 65536 }; /* NGROUPS_MAX, as in rpcrdma/gss.h */

static bool can_switch; /* set by ident_init, before threads start */
static uint64_t key[2]; /* key for digests of group lists; set by ident_init */
static _Thread_local struct ident current; /* identity of this thread */
static _Thread_local bool known;           /* false = @current is unknown */

#ifdef SYS_setgroups32
#define SETGROUPS SYS_setgroups32
#else
#define SETGROUPS SYS_setgroups
#endif

static bool get_caps(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};

	return syscall(SYS_capget, &head, data) == 0;
}

bool ident_init(void)
{
	static const unsigned wanted[] = {
	        CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,  CAP_FOWNER,
	        CAP_FSETID, CAP_SETGID,       CAP_SETUID,           CAP_MKNOD,
	        CAP_LEASE,  CAP_IPC_LOCK,     CAP_NET_BIND_SERVICE, CAP_NET_RAW,
	};
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];
	uint32_t keep = 0;

	/* A getrandom call for so few octets always fills the buffer. */
	(void)!getrandom(key, sizeof(key), 0);
	memset(caps, 0, sizeof(caps));
	if (geteuid() != 0 || !get_caps(caps))
		return false;
	can_switch = caps[0].effective & 1u << CAP_SETUID &&
	             caps[0].effective & 1u << CAP_SETGID;
	/* CAP_SYS_RESOURCE is the most important capability to drop: with it, users
	 * could exceed their quotas. */
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		keep |= 1u << wanted[i];
	caps[0].permitted &= keep;
	caps[0].effective &= keep;
	caps[0].inheritable = 0;
	memset(&caps[1], 0, sizeof(caps[1]));
	(void)syscall(SYS_capset, &head, caps); /* if it fails, keep all capabilities */
	return can_switch;
}

static uint32_t squash_gid(const struct squash *s, uint32_t gid)
{
	return s->root && gid == 0 ? s->anon_gid : gid;
}

uint32_t ident_from_cred(const struct rpcrdma_auth *cred, const struct squash *s,
                         struct ident *ret)
{
	struct rpcrdma_auth_sys sys;
	struct ident id = {.uid = s->anon_uid, .gid = s->anon_gid};

	if (cred->flavor != RPCRDMA_AUTH_NONE && cred->flavor != RPCRDMA_AUTH_SYS)
		return AUTH_STAT_REJECTEDCRED;
	if (cred->flavor == RPCRDMA_AUTH_SYS) {
		if (rpcrdma_auth_sys_decode(cred, &sys) || sys.n_gids > 16)
			return AUTH_STAT_BADCRED;
		/* The kernel interprets the ID -1 as "no change"; no user has this
		 * ID. */
		if (!s->all && !(s->root && sys.uid == 0) && sys.uid != UINT32_MAX &&
		    sys.gid != UINT32_MAX) {
			id.asserted = true;
			id.uid = sys.uid;
			id.gid = squash_gid(s, sys.gid);
			for (unsigned i = 0; i < sys.n_gids; i++)
				if (sys.gids[i] != UINT32_MAX)
					id.gids[id.n_gids++] =
					        squash_gid(s, sys.gids[i]);
		}
	}
	*ret = id;
	return 0;
}

/* Warns once about a list of MOST_GIDS groups, which may have been truncated. */
static void warn_groups_cut(uint32_t uid, unsigned n_gids)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (n_gids >= MOST_GIDS && !atomic_flag_test_and_set(&said))
		tool_log(TOOL_WARNING,
		         "uid %u has %u groups or more: the kernel accepts no more, "
		         "others are ignored",
		         (unsigned)uid, MOST_GIDS);
}

void ident_set_groups(struct ident *id, const uint32_t *gids, unsigned n,
                      const struct squash *s)
{
	id->n_gids = n;
	if (n <= IDENT_FEW_GIDS) {
		for (unsigned i = 0; i < n; i++)
			id->gids[i] = squash_gid(s, gids[i]);
		return;
	}
	warn_groups_cut(id->uid, n);
	id->many = gids;
	id->squashed = squash_gid(s, 0);
	id->digest = rr_siphash_once(key, gids, n * sizeof(gids[0]));
}

void ident_from_caller(const struct rpcrdma_gss_caller *c, const struct squash *s,
                       struct ident *ret)
{
	struct ident id = {.uid = s->anon_uid, .gid = s->anon_gid};

	if (c->mapped && !s->all && !(s->root && c->uid == 0)) {
		id.uid = c->uid;
		id.gid = squash_gid(s, c->gid);
		ident_set_groups(&id, c->gids, c->n_gids, s);
	}
	*ret = id;
}

static bool has_same_groups(const struct ident *a, const struct ident *b)
{
	if (a->n_gids != b->n_gids)
		return false;
	if (a->n_gids > IDENT_FEW_GIDS)
		return a->digest == b->digest && a->squashed == b->squashed;
	return !memcmp(a->gids, b->gids, a->n_gids * sizeof(a->gids[0]));
}

bool ident_same(const struct ident *a, const struct ident *b)
{
	return a->uid == b->uid && a->gid == b->gid && has_same_groups(a, b);
}

static bool set_many_groups(const struct ident *id)
{
	uint32_t *list = malloc(id->n_gids * sizeof(*list));
	bool ok;

	if (!list)
		return false;
	for (unsigned i = 0; i < id->n_gids; i++)
		list[i] = id->many[i] ? id->many[i] : id->squashed;
	ok = !syscall(SETGROUPS, (size_t)id->n_gids, list);
	free(list);
	return ok;
}

static bool set_thread_groups(const struct ident *id)
{
	return id->n_gids > IDENT_FEW_GIDS
	               ? set_many_groups(id)
	               : !syscall(SETGROUPS, (size_t)id->n_gids, id->gids);
}

/* setfsuid and setfsgid do not report failure, so the ID is read back. */
static bool set_fsuid(uint32_t uid)
{
	(void)syscall(SYS_setfsuid, uid);
	return (uint32_t)syscall(SYS_setfsuid, -1) == uid;
}

static bool set_fsgid(uint32_t gid)
{
	(void)syscall(SYS_setfsgid, gid);
	return (uint32_t)syscall(SYS_setfsgid, -1) == gid;
}

static int refuse_identity(const struct ident *id)
{
	char what[64];

	snprintf(what, sizeof(what), "request not served: cannot act as uid %u",
	         (unsigned)id->uid);
	warn_about(WARN_IDENTITY, -1, what, -EPERM);
	return -EPERM;
}

int ident_enter(const struct ident *id)
{
	bool all = !known;

	if (!can_switch)
		return 0;
	known = false;
	if ((all || !has_same_groups(id, &current)) && !set_thread_groups(id))
		return refuse_identity(id);
	if ((all || id->gid != current.gid) && !set_fsgid(id->gid))
		return refuse_identity(id);
	if ((all || id->uid != current.uid) && !set_fsuid(id->uid))
		return refuse_identity(id);
	current = *id;
	known = true;
	return 0;
}

/* Does not change the thread's groups: root does not need groups, and the server
 * creates no files with this identity. */
int ident_enter_server(void)
{
	if (!can_switch || (known && current.uid == 0))
		return 0;
	if (!set_fsuid(0)) {
		known = false;
		return refuse_identity(&(struct ident){.uid = 0});
	}
	current.uid = 0; /* if @known is false, ident_enter still sets all IDs */
	return 0;
}
