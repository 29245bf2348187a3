/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The identity (user and groups) with which a request is served (ident.c).
 */
#ifndef RPCRDMA_NFSD_IDENT_H
#define RPCRDMA_NFSD_IDENT_H

#include <stdbool.h>
#include <stdint.h>

struct rpcrdma_auth;
struct rpcrdma_gss_caller;
struct squash;

enum { IDENT_FEW_GIDS = 32 }; /* AUTH_SYS has at most 16 */

struct ident {
	uint32_t uid, gid;
	unsigned n_gids;
	uint32_t gids[IDENT_FEW_GIDS]; /* the groups, if n_gids <= IDENT_FEW_GIDS */
	const uint32_t *many; /* otherwise the groups, before squashing; lent */
	uint32_t squashed;    /* replaces gid 0 in @many */
	uint64_t digest;      /* keyed digest of @many, to compare identities */
	bool asserted;        /* uid and gid come from an AUTH_SYS credential */
};

/* Drops the capabilities that a file server does not need.  Call this once, before any
 * thread is started.  Returns true if the process may access files as other users. */
bool ident_init(void);
/* Finds the identity for a credential.  Returns 0 or an auth_stat. */
uint32_t ident_from_cred(const struct rpcrdma_auth *, const struct squash *,
                         struct ident *ret);
/* Finds the identity for an RPCSEC_GSS principal: this host's user with the principal's
 * name, or the anonymous user. */
void ident_from_caller(const struct rpcrdma_gss_caller *, const struct squash *,
                       struct ident *ret);
/* Replaces the groups of @id.  If there are more than IDENT_FEW_GIDS, @gids is lent
 * until the request is answered; otherwise @gids is copied. */
void ident_set_groups(struct ident *id, const uint32_t *gids, unsigned n,
                      const struct squash *);
/* Returns true if user, group and groups are the same.  The two group lists are not
 * accessed, so they may have been freed. */
bool ident_same(const struct ident *, const struct ident *);
/* Give the calling thread the identity @id, or the server's own identity, for access to
 * files.  Make no system call if the thread already has that identity.  Return 0, or
 * -EPERM, in which case the request must not be served. */
int ident_enter(const struct ident *id);
int ident_enter_server(void);

#endif
