/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases of a job, which copies a file or a symbolic link, and the job's clean-up.
 *
 * A job usually looks for an existing file, creates a temporary file, sets its owner,
 * copies the data, sends COMMIT, and sets size and attributes.  Then it renames the old
 * file if a backup is wanted, and renames the temporary file.  Some existing files are
 * truncated and written in place instead (copy_place.c).  In a directory that the run
 * has made, no file can exist already.
 *
 * A phase without a call (at a local destination) ends at once.  Other phases end in a
 * callback that begins the next phase.  After a failure the job waits for its calls in
 * flight and removes the temporary file.
 */
#define _GNU_SOURCE /* asprintf */
#include "client/copy_phase.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ATTEMPTS 3 /* attempts to copy a source that changes during the copy */

/* ---- Ends ---------------------------------------------------------------- */

static void free_copy_job(struct copy_job *j)
{
	struct copy *c = j->copy;
	struct copy_dir *dir = j->dir;

	*j->prev = j->next;
	if (j->next)
		j->next->prev = j->prev;
	c->n_jobs--;
	if (j->fd >= 0)
		close(j->fd);
	if (j->src.fd >= 0)
		close(j->src.fd);
	nfs_op_fini(&j->op);
	free(j->src.target);
	free(j->label);
	free(j);
	copy_dir_put(dir);
}

/* Returns the failed action for a message, such as "create" or "open", as in cp(1). */
static const char *describe_act(const struct copy_job *j)
{
	switch (j->failed_in) {
	case COPY_WAITING:
		break;
	case COPY_INSPECTING:
		return "access";
	case COPY_CREATING:
	case COPY_LOOKING:
	case COPY_RENAMING:
	case COPY_CHECKING:
		return j->in_place ? "write" : "create";
	case COPY_READLINK:
		return "read symbolic link";
	case COPY_SYMLINK:
		return "create symbolic link";
	case COPY_OWNING:
	case COPY_SETATTR:
		return "set attributes of";
	case COPY_COPYING:
	case COPY_COMMITTING:
	case COPY_TRUNCATING:
		return j->end == COPY_TARGET ? "write" : "read";
	case COPY_BACKING:
		return "backup";
	case COPY_RESTORING:
		return "un-backup";
	case COPY_REMOVING:
		return "remove";
	}
	return "copy";
}

/* Reports the failure with the path on the side that failed. */
static void report_failure(struct copy_job *j)
{
	struct copy *c = j->copy;
	struct nfs_client *client =
	        j->end == COPY_TARGET ? j->dir->client : j->src.client;
	char *to = copy_dir_text(j->dir, j->name);
	const char *label = j->end == COPY_TARGET && to ? to : j->label;

	tool_progress_end(&c->progress);
	if (j->what && j->status != -EINTR) {
		c->failed++;
		if (*j->what)
			tool_error("%s: %s", tool_quote(label), j->what);
	} else {
		copy_report_failure(c, describe_act(j), label, client, j->status);
	}
	if (j->truncated)
		tool_error("%s: incomplete; the file was being written in place",
		           tool_quote(to ? to : j->name));
	if (j->status == -EHOSTUNREACH && client)
		c->fatal = j->status;
	free(to);
}

/* Prints " (backup: 'TO~')".  In a URL the suffix comes before "?". */
static void print_backup(FILE *f, const char *to, const char *end)
{
	size_t len = url_is(to) ? strcspn(to, "?") : strlen(to);
	char *text = NULL;

	if (asprintf(&text, "%.*s%s%s", (int)len, to, end, to + len) < 0)
		text = NULL;
	fprintf(f, " (backup: %s)", tool_quote_always(text ? text : end));
	free(text);
}

void copy_report(struct copy *c, const char *label, const struct copy_dir *dir,
                 const char *name, const char *backup)
{
	char *to;

	if (!c->verbose_out)
		return;
	to = copy_dir_text(dir, name);
	tool_progress_end(&c->progress);
	fprintf(c->verbose_out, "%s -> %s", tool_quote_always(label),
	        tool_quote_always(to ? to : name));
	if (*backup)
		print_backup(c->verbose_out, to ? to : name, backup + strlen(name));
	fputc('\n', c->verbose_out);
	free(to);
}

/* Completes the hard-link entry of the source. */
static void notify_link_entry(struct copy_job *j)
{
	char *to = j->dir->client || j->status ? NULL : copy_dir_text(j->dir, j->name);

	if (j->status)
		copy_link_lost(j->link_entry);
	else
		copy_link_at(j->link_entry, j->skipped ? &j->old_fh : &j->fh, to);
	j->link_entry = NULL;
	free(to);
}

void copy_job_end(struct copy_job *j)
{
	struct copy *c = j->copy;

	if (j->link_entry)
		notify_link_entry(j);
	if (j->status) {
		report_failure(j);
	} else if (!j->skipped) {
		c->files++;
		c->progress.files = c->files > 1 ? c->files : 0;
		c->bytes += j->src.kind == COPY_FILE ? j->size : 0;
		copy_report(c, j->label, j->dir, j->name, j->backed ? j->backup : "");
	}
	free_copy_job(j);
}

void copy_job_fail(struct copy_job *j, enum copy_end end, int status, const char *what)
{
	if (j->status)
		return;
	j->status = status;
	j->end = end;
	j->failed_in = j->phase;
	j->what = what;
}

void copy_job_report_left(struct copy_job *j, const char *text)
{
	char *to = copy_dir_text(j->dir, j->name);

	tool_error("%s: %s%s", tool_quote(to ? to : j->name), tool_quote(j->temp),
	           text);
	free(to);
}

void copy_job_report_backup(struct copy_job *j)
{
	char *to = copy_dir_text(j->dir, j->name);

	tool_error("cannot un-backup %s: it is now named %s",
	           tool_quote_always(to ? to : j->name), tool_quote_always(j->backup));
	free(to);
}

void copy_job_clean(struct copy_job *j)
{
	copy_data_cancel(j);
	if (j->backed && j->dir->client && nfs_is_up(j->dir->client)) {
		copy_phase_begin(j, COPY_RESTORING);
		return;
	}
	if (j->backed &&
	    (j->dir->client || copy_backup_move(j->dir, j->backup, j->name)))
		copy_job_report_backup(j);
	j->backed = false;
	if (!j->made) {
		copy_job_end(j);
		return;
	}
	j->made = false;
	if (!j->dir->client) {
		(void)copy_local_drop(j); /* the job has failed already */
		copy_job_end(j);
	} else if (!nfs_is_up(j->dir->client)) {
		copy_job_report_left(j,
		                     " may remain there: the server is not connected");
		copy_job_end(j);
	} else {
		copy_phase_begin(j, COPY_REMOVING);
	}
}

/* Returns true if the phase undoes the work of a failed job. */
static bool is_undoing(enum copy_phase phase)
{
	return phase == COPY_RESTORING || phase == COPY_REMOVING;
}

void copy_job_cancel(struct copy_job *j)
{
	copy_job_fail(j, COPY_SOURCE, -EINTR, NULL);
	for (struct copy_slot *s = j->copy->slots; s; s = s->all)
		if (s->job == j)
			nfs_op_cancel(&s->op);
	if (!is_undoing(j->phase) && j->phase != COPY_BACKING && !j->backed)
		nfs_op_cancel(&j->op);
	if (j->phase == COPY_WAITING)
		copy_job_end(j);
	else
		copy_job_go(j);
}

/* ---- Phases -------------------------------------------------------------- */

/* Returns true if SETATTR is needed. */
static bool needs_setattr(const struct copy_job *j)
{
	uint32_t mode = copy_place_mode(j);

	return j->copy->preserve || j->high != j->size ||
	       (!j->in_place && mode != ((mode & 0777) | 0600));
}

void copy_phase_made(struct copy_job *j)
{
	if (!j->status && copy_place_owner(j))
		copy_phase_begin(j, COPY_OWNING);
	else
		copy_phase_begin(j, j->src.kind == COPY_LINK ? COPY_RENAMING
		                    : j->in_place            ? COPY_TRUNCATING
		                                             : COPY_COPYING);
}

bool copy_not_allowed(int status)
{
	return status == -EACCES || status == -EPERM || status == (int)NFS3ERR_ACCES ||
	       status == (int)NFS3ERR_PERM;
}

bool copy_job_forces(const struct copy_job *j)
{
	return j->copy->force && j->in_place && !j->forced && !j->denied;
}

void copy_phase_forced(struct copy_job *j)
{
	j->in_place = false;
	j->forced = true;
	copy_phase_begin(j, COPY_CREATING);
}

void copy_phase_in_place(struct copy_job *j)
{
	int r = 0;

	j->in_place = true;
	if (!j->dir->client) {
		r = copy_local_open(j);
		if (copy_not_allowed(r) && copy_job_forces(j)) {
			copy_phase_forced(j);
			return;
		}
	} else {
		j->fh = j->old_fh;
		j->have_owner = true;
		j->uid = j->old.uid;
		j->gid = j->old.gid;
	}
	if (r)
		copy_job_fail(j, COPY_TARGET, r, NULL);
	copy_phase_made(j);
}

void copy_phase_new(struct copy_job *j)
{
	if (j->in_place && !j->status)
		copy_phase_in_place(j);
	else
		copy_phase_begin(j, j->src.kind == COPY_FILE ? COPY_CREATING
		                    : j->src.client          ? COPY_READLINK
		                                             : COPY_SYMLINK);
}

void copy_phase_replace(struct copy_job *j)
{
	j->denied = true;
	if (!j->made) {
		copy_phase_in_place(j);
		return;
	}
	j->made = false;
	j->in_place = true;
	copy_phase_begin(j, COPY_REMOVING);
}

void copy_phase_owned(struct copy_job *j, bool ok)
{
	j->owned = ok;
	if (!ok && copy_place_kept(j) && !j->copy->preserve && !j->forced)
		copy_phase_replace(j);
	else
		copy_phase_begin(j, j->src.kind == COPY_LINK ? COPY_RENAMING
		                    : j->in_place            ? COPY_TRUNCATING
		                                             : COPY_COPYING);
}

/* Continues the job after a local step has completed. */
static void finish_local_step(struct copy_job *j, enum copy_phase phase, int r)
{
	if (phase == COPY_CREATING && copy_not_allowed(r) && copy_place_kept(j) &&
	    !j->forced) {
		j->made = false;
		j->denied = true;
		copy_phase_in_place(j);
		return;
	}
	if (phase == COPY_TRUNCATING && !r)
		j->truncated = j->in_place;
	if (phase == COPY_BACKING && !r)
		j->backed = true;
	if (r && phase != COPY_OWNING)
		copy_job_fail(j, COPY_TARGET, r, NULL);
	if (phase == COPY_INSPECTING && !j->status && j->old.type)
		copy_place_judge(j);
	if (j->status || j->skipped)
		copy_job_clean(j);
	else if (phase == COPY_INSPECTING)
		copy_phase_new(j);
	else if (phase == COPY_CREATING || phase == COPY_SYMLINK)
		copy_phase_made(j);
	else if (phase == COPY_OWNING)
		copy_phase_owned(j, r == 0);
	else if (phase == COPY_REMOVING)
		copy_phase_in_place(j);
	else if (phase == COPY_RENAMING)
		copy_job_end(j);
	else
		copy_phase_begin(j, phase == COPY_SETATTR || phase == COPY_BACKING
		                            ? COPY_RENAMING
		                            : COPY_COPYING);
}

/* Syncs the new file before the old file is renamed.  The sync may take a long time,
 * during which the name must not be missing. */
static int back_up_local(struct copy_job *j)
{
	int r = copy_local_sync(j);

	if (r)
		j->phase = COPY_RENAMING; /* the new file failed, not its backup */
	return r ? r : copy_backup_move(j->dir, j->name, j->backup);
}

static void begin_local(struct copy_job *j, enum copy_phase phase)
{
	int r = 0;

	switch (phase) {
	case COPY_INSPECTING:
		r = copy_local_look(j);
		break;
	case COPY_CREATING:
		r = copy_local_create(j);
		break;
	case COPY_SYMLINK:
		r = copy_local_link(j);
		break;
	case COPY_OWNING:
		r = copy_local_own(j, copy_place_owner(j));
		break;
	case COPY_TRUNCATING:
		r = ftruncate(j->fd, 0) ? -errno : 0;
		break;
	case COPY_SETATTR:
		r = copy_local_set(j);
		break;
	case COPY_BACKING:
		r = back_up_local(j);
		break;
	case COPY_RENAMING:
		r = copy_local_rename(j);
		break;
	case COPY_REMOVING:
		r = copy_local_drop(j);
		break;
	case COPY_WAITING:
	case COPY_LOOKING:
	case COPY_READLINK:
	case COPY_COPYING:
	case COPY_COMMITTING:
	case COPY_CHECKING:
	case COPY_RESTORING:
		abort(); /* these phases do not exist for local destinations */
	}
	finish_local_step(j, phase, r);
}

static void look_in_place(struct copy_job *j)
{
	copy_call_lookup(j, j->name);
}

static void look_for_temp(struct copy_job *j)
{
	copy_call_lookup(j, j->temp);
}

static void begin_setattr(struct copy_job *j)
{
	if (needs_setattr(j))
		copy_call_setattr(j);
	else
		copy_phase_begin(j, COPY_RENAMING);
}

static void rename_old(struct copy_job *j)
{
	copy_call_rename(j, j->name, j->backup);
}

static void rename_back(struct copy_job *j)
{
	copy_call_rename(j, j->backup, j->name);
}

static void rename_temp(struct copy_job *j)
{
	if (j->in_place)
		copy_job_end(j);
	else
		copy_call_rename(j, j->temp, j->name);
}

/* The function that begins each phase at a remote destination.  copy_phase_begin itself
 * handles the phases whose entry is NULL. */
static void (*const begin_remote[])(struct copy_job *) = {
        [COPY_WAITING] = NULL,
        [COPY_INSPECTING] = look_in_place,
        [COPY_CREATING] = copy_call_create,
        [COPY_LOOKING] = look_for_temp,
        [COPY_READLINK] = NULL,
        [COPY_SYMLINK] = copy_call_symlink,
        [COPY_OWNING] = copy_call_own,
        [COPY_COPYING] = NULL,
        [COPY_COMMITTING] = copy_call_commit,
        [COPY_TRUNCATING] = copy_call_setattr,
        [COPY_SETATTR] = begin_setattr,
        [COPY_BACKING] = rename_old,
        [COPY_RENAMING] = rename_temp,
        [COPY_CHECKING] = look_in_place,
        [COPY_RESTORING] = rename_back,
        [COPY_REMOVING] = copy_call_remove,
};

static void begin_readlink(struct copy_job *j)
{
	j->src.target = malloc(NFS3_PATH_BYTES + 1);
	if (j->src.target) {
		copy_call_readlink(j);
	} else {
		copy_job_fail(j, COPY_SOURCE, -ENOMEM, NULL);
		copy_job_clean(j);
	}
}

void copy_phase_begin(struct copy_job *j, enum copy_phase phase)
{
	if (j->status && !is_undoing(phase)) {
		copy_job_clean(j);
		return;
	}
	if (phase == COPY_RENAMING && *j->backup && j->old.type && !j->backed)
		phase = COPY_BACKING;
	j->phase = phase;
	if (phase == COPY_CREATING || phase == COPY_SYMLINK)
		j->made = true; /* even if the call is never answered */
	if (phase == COPY_COPYING)
		copy_job_go(j);
	else if (phase == COPY_READLINK)
		begin_readlink(j);
	else if (j->dir->client)
		begin_remote[phase](j);
	else
		begin_local(j, phase);
}

/* ---- Copying ------------------------------------------------------------- */

/* Checks whether a local source changed while it was read. */
static void look_again(struct copy_job *j)
{
	struct copy_meta now;
	struct stat sb;

	if (j->src.client || j->src.stream || fstat(j->src.fd, &sb))
		return;
	copy_meta_from_stat(&sb, &now);
	copy_data_compare(j, &now);
}

static void start_again(struct copy_job *j)
{
	j->src.meta = j->changed_meta;
	if (++j->attempts == MAX_ATTEMPTS)
		copy_job_fail(j, COPY_SOURCE, -EAGAIN,
		              "changed while it was copied; not copied");
	copy_data_begin(j);
	copy_phase_begin(j, COPY_TRUNCATING);
}

void copy_job_go(struct copy_job *j)
{
	if (j->phase != COPY_COPYING || j->pumping)
		return;
	if (j->status) {
		if (j->filling)
			copy_data_cancel(j);
		if (!j->busy && !j->posted)
			copy_job_clean(j);
		return;
	}
	if (!copy_data_pump(j))
		return;
	if (j->status) {
		copy_job_clean(j);
	} else if (j->changed) {
		start_again(j);
	} else if (j->rewind) {
		copy_data_rewind(j);
		copy_job_go(j);
	} else if (j->unstable) {
		copy_phase_begin(j, COPY_COMMITTING);
	} else if (j->size_known && j->at >= j->size) {
		look_again(j);
		if (j->changed)
			start_again(j);
		else
			copy_phase_begin(j, COPY_SETATTR);
	}
}
