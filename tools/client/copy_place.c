/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what happens to an existing file at the destination.  As with cp(1), a file
 * that is replaced keeps its mode and owner unless -p is given.  A file replaces
 * neither a directory nor itself.
 *
 * Renaming a temporary file cannot preserve everything that cp(1) preserves.  An
 * existing file is therefore written in place if it has several links, if its owner
 * cannot be set on a new file, or if its directory is not writable.  In this case
 * j->in_place is set, and the file is incomplete until the copy ends.
 */
#define _GNU_SOURCE /* asprintf */
#include "client/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * File numbers are comparable within an export.  Across exports, two files with the
 * same number are treated as the same file if their sizes and times are equal, too.
 * Only the seconds are compared, since some servers store only seconds.  If a match
 * were missed, a file could be written in place over its own source.
 */
bool copy_is_same(const struct copy_source *src, const struct copy_meta *b,
                  const struct copy_dir *dir)
{
	const struct copy_meta *a = &src->meta;

	if (src->stream || a->fileid != b->fileid || a->type != b->type)
		return false;
	if (src->client && src->client == dir->client)
		return a->fsid == b->fsid;
	return a->size == b->size && a->mtime.seconds == b->mtime.seconds &&
	       a->ctime.seconds == b->ctime.seconds;
}

static void refuse_place(struct copy_job *j, const char *before, const char *after)
{
	char *to = copy_dir_text(j->dir, j->name);

	tool_progress_end(&j->copy->progress);
	tool_error("%s%s%s", before, tool_quote_always(to ? to : j->name), after);
	free(to);
	copy_job_fail(j, COPY_TARGET, -EEXIST, "");
}

static void refuse_itself(struct copy_job *j)
{
	char *from = NULL;

	if (asprintf(&from, "%s and ", tool_quote_always(j->label)) < 0)
		from = NULL;
	refuse_place(j, from ? from : "", " are the same file");
	free(from);
}

static bool is_older(const nfstime3 *a, const nfstime3 *b)
{
	return a->seconds < b->seconds ||
	       (a->seconds == b->seconds && a->nseconds < b->nseconds);
}

/* Returns true if the options or the user's answer require keeping the old file. */
static bool keeps_old(struct copy_job *j)
{
	const struct copy *c = j->copy;
	char *to;
	bool yes;

	if (c->keep)
		return true;
	if (c->update && !is_older(&j->old.mtime, &j->src.meta.mtime))
		return true;
	if (!c->ask)
		return false;
	to = copy_dir_text(j->dir, j->name);
	tool_progress_end(&j->copy->progress);
	yes = tool_ask("overwrite", to ? to : j->name);
	free(to);
	return !yes;
}

void copy_place_judge(struct copy_job *j)
{
	if (j->old.type != NF3DIR && j->copy->keep)
		j->skipped = true;
	else if (j->old.type == NF3DIR)
		refuse_place(j, "cannot overwrite directory ", " with non-directory");
	else if (copy_is_same(&j->src, &j->old, j->dir))
		refuse_itself(j);
	else if (keeps_old(j))
		j->skipped = true;
	else if (j->old.type == NF3LNK && j->src.kind == COPY_FILE && j->copy->dangling)
		refuse_place(j, "not writing through dangling symlink ", "");
	else if (copy_place_kept(j) && j->old.nlink > 1)
		j->in_place = true;
}

bool copy_place_kept(const struct copy_job *j)
{
	return j->old.type == NF3REG && j->src.kind == COPY_FILE && !*j->backup;
}

const struct copy_meta *copy_place_owner(struct copy_job *j)
{
	const struct copy_meta *m = j->copy->preserve                    ? &j->src.meta
	                            : copy_place_kept(j) && !j->in_place ? &j->old
	                                                                 : NULL;

	if (!m)
		return NULL;
	j->owned = j->have_owner && j->uid == m->uid && j->gid == m->gid;
	if (j->owned)
		return NULL;
	if (geteuid() == 0)
		return m;
	/* A user can set one of the user's own groups.  For an existing file, only an
	 * attempt shows whether the server permits it. */
	return j->have_owner && (j->uid == m->uid || !j->copy->preserve) ? m : NULL;
}

uint32_t copy_place_mode(const struct copy_job *j)
{
	bool special = j->owned && !j->no_setid;

	if (j->copy->preserve)
		return j->src.meta.mode & (special       ? 07777
		                           : j->no_setid ? 0777
		                                         : 01777);
	if (copy_place_kept(j) && !j->in_place)
		return j->old.mode & (special && geteuid() == 0 ? 07777 : 0777);
	return copy_mode(j->copy, &j->src.meta);
}
