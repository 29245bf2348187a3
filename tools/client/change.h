/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking calls that remove, rename and create directory entries.  If a reply is lost,
 * the server may execute the call twice.  The second execution may then fail only
 * because the first one succeeded; such an error is not treated as a failure.
 */
#ifndef RPCRDMA_TOOLS_CHANGE_H
#define RPCRDMA_TOOLS_CHANGE_H

#include "client/nfs.h"

/* Calls REMOVE, or RMDIR for a directory.  NOENT counts as success, since the caller
 * has seen the name. */
int nfs_remove(struct nfs_client *, const struct nfs_fh *dir, const char *name,
               bool is_dir);
/* Calls RENAME; @fileid is the fileid of the renamed object. */
int nfs_rename(struct nfs_client *, const struct nfs_fh *from, const char *name,
               const struct nfs_fh *to, const char *to_name, uint64_t fileid);
/* Calls MKDIR and sets the mode to exactly @mode.  Returns EXIST if the name exists. */
int nfs_mkdir_new(struct nfs_client *, const struct nfs_fh *dir, const char *name,
                  uint32_t mode, struct nfs_fh *ret_fh, fattr3 *ret_attr);
/* Returns true if the last name in the URL's path is "." or "..". */
bool url_ends_in_dots(const struct url *);

#endif
