/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hard links within the copy: the first name of a file is copied, and each further name
 * becomes a link to that copy.  Each source with several links has an entry that
 * contains the copy's handle on a server, or its local path.
 *
 * Like a file, a link is made under a temporary name and then renamed; between these
 * steps the old file is renamed to its backup's name.  If a LINK is executed twice,
 * after a lost reply, it fails with EXIST because its first execution made the name.
 */
#include "client/copy.h"
#include "base/siphash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define BUCKETS 4096

struct copy_link {
	struct copy_link *next;
	const struct nfs_client *client; /* of the source */
	uint64_t fsid, fileid;
	enum { UNDER_WAY, THERE, LOST } state;
	struct nfs_fh fh;
	char *path;
};

struct copy_links {
	uint64_t key[2];
	struct copy_link *buckets[BUCKETS];
};

struct copy_links *copy_links_new(void)
{
	struct copy_links *l = calloc(1, sizeof(*l));

	if (l)
		(void)!getrandom(&l->key, sizeof(l->key),
		                 0); /* without entropy the key is fixed */
	return l;
}

void copy_links_free(struct copy_links *l)
{
	for (size_t i = 0; l && i < BUCKETS; i++)
		while (l->buckets[i]) {
			struct copy_link *k = l->buckets[i];

			l->buckets[i] = k->next;
			free(k->path);
			free(k);
		}
	free(l);
}

/* Returns the entry for a source, or a new entry in state LOST.  Returns NULL if out of
 * memory. */
static struct copy_link *find_link(struct copy_links *l, const struct copy_source *src)
{
	const uint64_t number[2] = {src->meta.fsid, src->meta.fileid};
	struct copy_link *
	        *at = &l->buckets[rr_siphash_once(l->key, number, sizeof(number)) %
	                          BUCKETS],
	       *k;

	for (k = *at; k; k = k->next)
		if (k->client == src->client && k->fsid == number[0] &&
		    k->fileid == number[1])
			return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	*k = (struct copy_link){*at, src->client, number[0], number[1], .state = LOST};
	*at = k;
	return k;
}

void copy_link_at(struct copy_link *k, const struct nfs_fh *fh, const char *path)
{
	k->fh = *fh;
	k->path = path ? strdup(path) : NULL;
	k->state = k->path || fh->len ? THERE : LOST;
}

void copy_link_lost(struct copy_link *k)
{
	k->state = LOST;
}

/* ---- Making a link --------------------------------------------------------------- */

/* If @backup is not empty, renames the old file to that name. */
static int back_up(const struct copy_dir *dir, const char *name, const char *backup)
{
	return *backup ? copy_backup_move(dir, name, backup) : 0;
}

/* Gives the old file its original name again, after the link could not be renamed. */
static void undo_backup(const struct copy_dir *dir, const char *name,
                        const char *backup)
{
	if (*backup && copy_backup_move(dir, backup, name))
		tool_error("cannot un-backup %s: it is now named %s",
		           tool_quote_always(name), tool_quote_always(backup));
}

static int link_locally(const struct copy_link *k, struct copy_dir *dir,
                        const char *name, const char *temp, const char *backup)
{
	int r;

	if (linkat(AT_FDCWD, k->path, dir->fd, temp, 0))
		return -errno;
	r = back_up(dir, name, backup);
	if (!r && renameat(dir->fd, temp, dir->fd, name)) {
		r = -errno;
		undo_backup(dir, name, backup);
	}
	(void)unlinkat(dir->fd, temp, 0); /* renameat does nothing if both names are
					     links to the same file */
	return r;
}

static int link_remotely(const struct copy_link *k, struct copy_dir *dir, char *name,
                         char *temp, const char *backup)
{
	LINK3args link = {nfs_fh_arg(&k->fh), {nfs_fh_arg(&dir->fh), temp}};
	RENAME3args rename = {link.link, {nfs_fh_arg(&dir->fh), name}};
	REMOVE3args remove = {link.link};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, dir->client);
	r = nfs_op_run(&op, NFSPROC3_LINK, &link);
	if (!r || r == (int)NFS3ERR_EXIST) {
		r = back_up(dir, name, backup);
		if (!r && (r = nfs_op_run(&op, NFSPROC3_RENAME, &rename)))
			undo_backup(dir, name, backup);
		if (r || !dir->fresh)
			(void)nfs_op_run(&op, NFSPROC3_REMOVE, &remove);
	}
	nfs_op_fini(&op);
	return r;
}

static bool name_exists(struct copy_dir *dir, const char *name)
{
	struct nfs_fh fh;
	struct stat sb;
	fattr3 attr;

	if (dir->client)
		return nfs_lookup(dir->client, &dir->fh, name, &fh, &attr) !=
		       (int)NFS3ERR_NOENT;
	return !fstatat(dir->fd, name, &sb, AT_SYMLINK_NOFOLLOW);
}

static void make_link(struct copy *c, const struct copy_link *k,
                      const struct copy_source *src, struct copy_dir *dir,
                      const char *name)
{
	char temp[NFS_NAME_MAX + 1], backup[NFS_NAME_MAX + 1], *to;
	int r;

	if (copy_backup_name(c, src, dir, name, backup))
		return;
	copy_temp_name(name, temp);
	to = copy_dir_text(dir, name);
	r = dir->client ? link_remotely(k, dir, (char *)name, temp, backup)
	                : link_locally(k, dir, name, temp, backup);
	if (r) {
		copy_report_failure(c, "create hard link", to ? to : name, dir->client,
		                    r);
		c->fatal = r == -EINTR ? r : c->fatal;
	} else {
		c->files++;
		copy_report(c, src->label, dir, name, backup);
	}
	free(to);
}

bool copy_link_again(struct copy *c, const struct copy_source *src,
                     struct copy_dir *dir, const char *name,
                     struct copy_link **ret_link)
{
	struct copy_link *k;

	*ret_link = NULL;
	if (src->kind != COPY_FILE || src->meta.nlink < 2 || src->stream)
		return false;
	k = find_link(c->links, src);
	if (!k)
		return false; /* without memory the file is copied again */
	if (k->state == UNDER_WAY && copy_wait(c, 1))
		return true;
	if (k->state != THERE) {
		k->state = UNDER_WAY;
		*ret_link = k;
		return false;
	}
	if (!copy_dir_ready(dir))
		return true;
	/* For an existing file, a job decides. */
	if ((c->keep || c->update || c->ask) && !dir->fresh && name_exists(dir, name))
		return false;
	make_link(c, k, src, dir, name);
	return true;
}
