/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting calls that remove, rename and make names.  A call whose reply was lost may be
 * executed twice; an error of the second execution that the first one causes is not a
 * failure.
 */
#ifndef RPCRDMA_TOOLS_CHANGE_H
#define RPCRDMA_TOOLS_CHANGE_H

#include "client/nfs.h"

/* Calls REMOVE, or RMDIR for a directory.  NOENT is not a failure, since the caller has
 * seen the name. */
int nfs_remove(struct nfs_client *, const struct nfs_fh *dir, const char *name,
               bool is_dir);
/* Calls RENAME; @fileid is that of the renamed object. */
int nfs_rename(struct nfs_client *, const struct nfs_fh *from, const char *name,
               const struct nfs_fh *to, const char *to_name, uint64_t fileid);
/* Calls MKDIR and sets exactly @mode.  Fails with EXIST if the name exists. */
int nfs_mkdir_new(struct nfs_client *, const struct nfs_fh *dir, const char *name,
                  uint32_t mode, struct nfs_fh *ret_fh, fattr3 *ret_attr);
/* Returns whether the last name of a URL's path is "." or "..". */
bool url_ends_in_dots(const struct url *);

#endif
