/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of directories that go, come or move: waiting calls.  A call whose reply was lost
 * is executed twice; what its second run says of the first one's work is no failure.
 */
#ifndef RPCRDMA_TOOLS_CHANGE_H
#define RPCRDMA_TOOLS_CHANGE_H

#include "client/nfs.h"

/* REMOVE, or RMDIR of a directory.  A name that is gone is no failure: the caller has
 * seen it. */
int nfs_remove(struct nfs_client *, const struct nfs_fh *dir, const char *name,
               bool is_dir);
/* RENAME; @fileid is that of what moves. */
int nfs_rename(struct nfs_client *, const struct nfs_fh *from, const char *name,
               const struct nfs_fh *to, const char *to_name, uint64_t fileid);
/* MKDIR that fails with EXIST where something is, and a mode that is exact. */
int nfs_mkdir_new(struct nfs_client *, const struct nfs_fh *dir, const char *name,
                  uint32_t mode, struct nfs_fh *ret_fh, fattr3 *ret_attr);
/* Whether the last name of a URL's path is "." or "..". */
bool url_ends_in_dots(const struct url *);

#endif
