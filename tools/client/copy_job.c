/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file or a symbolic link on its way: the phases of a job.
 *
 * Normally: look what is in the destination's place, create a temporary, give it its
 * owner, copy, COMMIT, set size and attributes, rename.  In place of a temporary the
 * file in the place may be truncated and written (copy_place.c).  Nobody looks into a
 * directory that the run itself has made.
 *
 * A phase that needs no call (a local destination) passes at once; the others
 * end in a callback that begins the next.  Any failure waits for the calls
 * that are out and goes to removal of the temporary.
 *
 * Calls may be executed twice, when a reply was lost with the connection:
 * CREATE is UNCHECKED and sets no size, EXIST of a SYMLINK under a random name
 * is our own, and NOENT of a RENAME asks whether the file is there already.
 */
#include "client/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define MAX_ATTEMPTS 3 /* at a source that changes */

static void begin_phase(struct copy_job *j, enum copy_phase phase);

/* ---- Ends
 * ------------------------------------------------------------------------------ */

static void free_job(struct copy_job *j)
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

/* What could not be done, as cp(1) says it. */
static const char *act_of(const struct copy_job *j)
{
	switch (j->failed_in) {
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
	case COPY_REMOVING:
		return "remove";
	}
	return "copy";
}

/* The end that refused is named, with its path. */
static void tell(struct copy_job *j)
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
		copy_failed(c, act_of(j), label, client, j->status);
	}
	if (j->cut)
		tool_error("%s: it was written in place and is not whole now",
		           tool_quote(to ? to : j->name));
	if (j->status == -EHOSTUNREACH && client)
		c->fatal = j->status;
	free(to);
}

static void tell_copied(const struct copy_job *j)
{
	char *to = copy_dir_text(j->dir, j->name);

	tool_progress_end(&j->copy->progress);
	fprintf(j->copy->chatter, "%s -> %s\n", tool_quote_always(j->label),
	        tool_quote_always(to ? to : j->name));
	free(to);
}

/* Further links of the source can be made, or not. */
static void tell_twin(struct copy_job *j)
{
	char *to = j->dir->client || j->status ? NULL : copy_dir_text(j->dir, j->name);

	if (j->status)
		copy_link_lost(j->twin);
	else
		copy_link_at(j->twin, j->skipped ? &j->old_fh : &j->fh, to);
	j->twin = NULL;
	free(to);
}

static void end_job(struct copy_job *j)
{
	struct copy *c = j->copy;

	if (j->twin)
		tell_twin(j);
	if (j->status) {
		tell(j);
	} else if (!j->skipped) {
		c->files++;
		c->progress.files = c->files > 1 ? c->files : 0;
		c->bytes += j->src.kind == COPY_FILE ? j->size : 0;
		if (c->chatter)
			tell_copied(j);
	}
	free_job(j);
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

static void tell_left(struct copy_job *j, const char *words)
{
	char *to = copy_dir_text(j->dir, j->name);

	tool_error("%s: %s%s", tool_quote(to ? to : j->name), tool_quote(j->temp),
	           words);
	free(to);
}

/* All calls have ended: remove what was made. */
static void clean_up(struct copy_job *j)
{
	copy_data_cancel(j);
	if (!j->made) {
		end_job(j);
		return;
	}
	j->made = false;
	if (!j->dir->client) {
		(void)copy_local_drop(j); /* gone or not: it failed already */
		end_job(j);
	} else if (!j->dir->client->link.up) {
		tell_left(j, " may be left there: the server is away");
		end_job(j);
	} else {
		begin_phase(j, COPY_REMOVING);
	}
}

void copy_job_cancel(struct copy_job *j)
{
	copy_job_fail(j, COPY_SOURCE, -EINTR, NULL);
	for (struct copy_slot *s = j->copy->slots; s; s = s->all)
		if (s->job == j)
			nfs_op_cancel(&s->op);
	if (j->phase != COPY_REMOVING)
		nfs_op_cancel(&j->op);
	copy_job_go(j);
}

/* ---- Phases
 * -----------------------------------------------------------------------------------
 */

/* Is there anything for SETATTR to do? */
static bool needs_setattr(const struct copy_job *j)
{
	uint32_t mode = copy_place_mode(j);

	return j->copy->preserve || j->high != j->size ||
	       (!j->in_place && mode != ((mode & 0777) | 0600));
}

/* The temporary, or the file in the place, is there; whose is it to be? */
static void after_made(struct copy_job *j)
{
	if (!j->status && copy_place_owner(j))
		begin_phase(j, COPY_OWNING);
	else
		begin_phase(j, j->src.kind == COPY_LINK ? COPY_RENAMING
		               : j->in_place            ? COPY_TRUNCATING
		                                        : COPY_COPYING);
}

static bool not_allowed(int status)
{
	return status == -EACCES || status == -EPERM || status == (int)NFS3ERR_ACCES ||
	       status == (int)NFS3ERR_PERM;
}

/* -f: what may not be written may still be replaced, unless that was tried. */
static bool forces(const struct copy_job *j)
{
	return j->copy->force && j->in_place && !j->forced && !j->denied;
}

static void begin_forced(struct copy_job *j)
{
	j->in_place = false;
	j->forced = true;
	begin_phase(j, COPY_CREATING);
}

static void begin_in_place(struct copy_job *j)
{
	int r = 0;

	j->in_place = true;
	if (!j->dir->client) {
		r = copy_local_open(j);
		if (not_allowed(r) && forces(j)) {
			begin_forced(j);
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
	after_made(j);
}

/* Nothing is made yet. */
static void begin_new(struct copy_job *j)
{
	if (j->in_place && !j->status)
		begin_in_place(j);
	else
		begin_phase(j, j->src.kind == COPY_FILE ? COPY_CREATING
		               : j->src.client          ? COPY_READLINK
		                                        : COPY_SYMLINK);
}

/* A new file cannot have the old one's owner, or cannot be made: the old one is
 * written. */
static void go_in_place(struct copy_job *j)
{
	j->denied = true;
	if (!j->made) {
		begin_in_place(j);
		return;
	}
	j->made = false;
	j->in_place = true;
	begin_phase(j, COPY_REMOVING);
}

static void after_owned(struct copy_job *j, bool ok)
{
	j->owned = ok;
	if (!ok && copy_place_kept(j) && !j->copy->preserve && !j->forced)
		go_in_place(j);
	else
		begin_phase(j, j->src.kind == COPY_LINK ? COPY_RENAMING
		               : j->in_place            ? COPY_TRUNCATING
		                                        : COPY_COPYING);
}

/* What comes after a step that passed at once. */
static void local_done(struct copy_job *j, enum copy_phase phase, int r)
{
	if (phase == COPY_CREATING && not_allowed(r) && copy_place_kept(j) &&
	    !j->forced) {
		j->made = false;
		j->denied = true;
		begin_in_place(j);
		return;
	}
	if (phase == COPY_TRUNCATING && !r)
		j->cut = j->in_place;
	if (r && phase != COPY_OWNING)
		copy_job_fail(j, COPY_TARGET, r, NULL);
	if (phase == COPY_INSPECTING && !j->status && j->old.type)
		copy_place_judge(j);
	if (j->status || j->skipped)
		clean_up(j);
	else if (phase == COPY_INSPECTING)
		begin_new(j);
	else if (phase == COPY_CREATING || phase == COPY_SYMLINK)
		after_made(j);
	else if (phase == COPY_OWNING)
		after_owned(j, r == 0);
	else if (phase == COPY_REMOVING)
		begin_in_place(j);
	else if (phase == COPY_RENAMING)
		end_job(j);
	else
		begin_phase(j, phase == COPY_SETATTR ? COPY_RENAMING : COPY_COPYING);
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
	case COPY_RENAMING:
		r = copy_local_rename(j);
		break;
	case COPY_REMOVING:
		r = copy_local_drop(j);
		break;
	case COPY_LOOKING:
	case COPY_READLINK:
	case COPY_COPYING:
	case COPY_COMMITTING:
	case COPY_CHECKING:
		abort(); /* these have no local form */
	}
	local_done(j, phase, r);
}

static void begin_remote(struct copy_job *j, enum copy_phase phase)
{
	switch (phase) {
	case COPY_INSPECTING:
		copy_call_lookup(j, j->name);
		return;
	case COPY_CREATING:
		copy_call_create(j);
		return;
	case COPY_OWNING:
		copy_call_own(j);
		return;
	case COPY_LOOKING:
		copy_call_lookup(j, j->temp);
		return;
	case COPY_SYMLINK:
		copy_call_symlink(j);
		return;
	case COPY_COMMITTING:
		copy_call_commit(j);
		return;
	case COPY_TRUNCATING:
		copy_call_setattr(j);
		return;
	case COPY_SETATTR:
		if (needs_setattr(j))
			copy_call_setattr(j);
		else
			begin_phase(j, COPY_RENAMING);
		return;
	case COPY_RENAMING:
		if (j->in_place)
			end_job(j);
		else
			copy_call_rename(j);
		return;
	case COPY_CHECKING:
		copy_call_lookup(j, j->name);
		return;
	case COPY_REMOVING:
		copy_call_remove(j);
		return;
	case COPY_READLINK:
	case COPY_COPYING:
		break;
	}
	abort(); /* begin_phase has taken these */
}

static void begin_readlink(struct copy_job *j)
{
	j->src.target = malloc(NFS3_PATH_BYTES + 1);
	if (j->src.target) {
		copy_call_readlink(j);
	} else {
		copy_job_fail(j, COPY_SOURCE, -ENOMEM, NULL);
		clean_up(j);
	}
}

static void begin_phase(struct copy_job *j, enum copy_phase phase)
{
	if (j->status && phase != COPY_REMOVING) {
		clean_up(j);
		return;
	}
	j->phase = phase;
	if (phase == COPY_CREATING || phase == COPY_SYMLINK)
		j->made = true; /* even when the call is never answered */
	if (phase == COPY_COPYING)
		copy_job_go(j);
	else if (phase == COPY_READLINK)
		begin_readlink(j);
	else if (j->dir->client)
		begin_remote(j, phase);
	else
		begin_local(j, phase);
}

/* ---- What calls brought
 * --------------------------------------------------------------------------- */

static void know(struct copy_job *j, const fattr3 *a)
{
	j->fileid = a->fileid;
	j->have_owner = true;
	j->uid = a->uid;
	j->gid = a->gid;
}

static void inspected(struct copy_job *j, const fattr3 *a)
{
	copy_meta_from_attr(a, &j->old);
	copy_place_judge(j);
	if (j->status || j->skipped)
		clean_up(j);
	else
		begin_new(j);
}

static void after_inspection(struct copy_job *j)
{
	const LOOKUP3resok *ok = &j->op.res.lookup.LOOKUP3res_u.resok;

	if (j->op.status) /* NOENT */
		begin_new(j);
	else if (j->op.proc == NFSPROC3_GETATTR)
		inspected(j, &j->op.res.getattr.GETATTR3res_u.resok.obj_attributes);
	else if (nfs_fh_take(&ok->object, &j->old_fh)) {
		copy_job_fail(j, COPY_TARGET, -EBADMSG, NULL);
		clean_up(j);
	} else if (ok->obj_attributes.attributes_follow) {
		inspected(j, &ok->obj_attributes.post_op_attr_u.attributes);
	} else {
		copy_call_getattr(j);
	}
}

static bool take_made(struct copy_job *j, const post_op_fh3 *fh,
                      const post_op_attr *attr)
{
	if (!attr->attributes_follow || !fh->handle_follows ||
	    nfs_fh_take(&fh->post_op_fh3_u.handle, &j->fh))
		return false;
	know(j, &attr->post_op_attr_u.attributes);
	return true;
}

static void after_create(struct copy_job *j)
{
	const CREATE3resok *ok = &j->op.res.create.CREATE3res_u.resok;

	if (take_made(j, &ok->obj, &ok->obj_attributes))
		after_made(j);
	else
		begin_phase(j, COPY_LOOKING);
}

static void after_lookup(struct copy_job *j)
{
	const LOOKUP3resok *ok = &j->op.res.lookup.LOOKUP3res_u.resok;

	if (nfs_fh_take(&ok->object, &j->fh))
		copy_job_fail(j, COPY_TARGET, -EBADMSG, NULL);
	if (ok->obj_attributes.attributes_follow)
		know(j, &ok->obj_attributes.post_op_attr_u.attributes);
	after_made(j);
}

static void after_readlink(struct copy_job *j)
{
	j->src.target[j->op.got] = 0;
	if (!j->op.got || strlen(j->src.target) != j->op.got)
		copy_job_fail(j, COPY_SOURCE, -EBADMSG, NULL);
	begin_phase(j, COPY_SYMLINK);
}

static void after_symlink(struct copy_job *j)
{
	const SYMLINK3resok *ok = &j->op.res.symlink.SYMLINK3res_u.resok;

	if (j->op.status || !take_made(j, &ok->obj, &ok->obj_attributes))
		begin_phase(j,
		            COPY_LOOKING); /* EXIST: a repeated call met its own work */
	else
		after_made(j);
}

static void after_commit(struct copy_job *j)
{
	const COMMIT3resok *ok = &j->op.res.commit.COMMIT3res_u.resok;

	j->phase = COPY_COPYING;
	if (j->have_verf && memcmp(ok->verf, j->verf, sizeof(j->verf)))
		j->rewind = true;
	else
		copy_data_committed(j);
	copy_job_go(j);
}

static void after_check(struct copy_job *j)
{
	const post_op_attr *a = &j->op.res.lookup.LOOKUP3res_u.resok.obj_attributes;

	j->made = false;
	if (!a->attributes_follow || a->post_op_attr_u.attributes.fileid != j->fileid)
		copy_job_fail(j, COPY_TARGET, (int)NFS3ERR_NOENT,
		              "the temporary file was removed by someone else");
	if (j->status)
		clean_up(j);
	else
		end_job(j);
}

/* Failures that are none: true if the phase goes on (or another one does). */
static bool forgiven(struct copy_job *j)
{
	int status = j->op.status;

	switch (j->phase) {
	case COPY_INSPECTING:
		return status == (int)NFS3ERR_NOENT && j->op.proc == NFSPROC3_LOOKUP;
	case COPY_CREATING:
		return not_allowed(status) && copy_place_kept(j) && !j->forced;
	case COPY_TRUNCATING:
		return not_allowed(status) && forces(j);
	case COPY_SYMLINK:
		return status == (int)NFS3ERR_EXIST;
	case COPY_OWNING: /* as cp(1): wished for, not required */
		return not_allowed(status) || status == (int)NFS3ERR_INVAL ||
		       status == (int)NFS3ERR_NOTSUPP;
	case COPY_SETATTR:
		if (j->plain || !not_allowed(status) || !(copy_place_mode(j) & ~0777u))
			return false;
		j->plain = true;
		return true;
	case COPY_RENAMING:
		return status == (int)NFS3ERR_NOENT && j->fileid;
	case COPY_REMOVING:
		if (status != (int)NFS3ERR_NOENT)
			tell_left(j, " is left on the server");
		return true;
	case COPY_LOOKING:
	case COPY_READLINK:
	case COPY_COPYING:
	case COPY_COMMITTING:
	case COPY_CHECKING:
		break;
	}
	return false;
}

static void go_on(struct copy_job *j)
{
	bool ok = j->op.status == 0;

	switch (j->phase) {
	case COPY_INSPECTING:
		after_inspection(j);
		return;
	case COPY_CREATING:
		if (ok)
			after_create(j);
		else
			go_in_place(j);
		return;
	case COPY_OWNING:
		after_owned(j, ok);
		return;
	case COPY_LOOKING:
		after_lookup(j);
		return;
	case COPY_READLINK:
		after_readlink(j);
		return;
	case COPY_SYMLINK:
		after_symlink(j);
		return;
	case COPY_COMMITTING:
		after_commit(j);
		return;
	case COPY_TRUNCATING:
		if (ok)
			begin_phase(j, COPY_COPYING);
		else
			begin_forced(j);
		return;
	case COPY_SETATTR:
		begin_phase(j, ok ? COPY_RENAMING : COPY_SETATTR);
		return;
	case COPY_RENAMING:
		if (ok)
			end_job(j);
		else
			begin_phase(j, COPY_CHECKING);
		return;
	case COPY_CHECKING:
		after_check(j);
		return;
	case COPY_REMOVING:
		if (j->status)
			end_job(j);
		else
			begin_in_place(j);
		return;
	case COPY_COPYING:
		break;
	}
	abort(); /* no call of the job's own is out while it copies */
}

void copy_job_on_op(struct nfs_op *op, void *arg)
{
	struct copy_job *j = arg;
	if (j->phase == COPY_TRUNCATING && op->status <= 0)
		j->cut = j->in_place; /* or it is not known */
	if (op->status && !forgiven(j))
		copy_job_fail(j, j->phase == COPY_READLINK ? COPY_SOURCE : COPY_TARGET,
		              op->status, NULL);
	if (j->phase == COPY_RENAMING && !op->status)
		j->status = 0; /* a signal came too late to stop it */
	if ((j->phase == COPY_CREATING || j->phase == COPY_SYMLINK) && op->status > 0 &&
	    op->status < NFS_RPC && op->status != (int)NFS3ERR_EXIST)
		j->made = false; /* the server says so */
	if (j->status && j->phase != COPY_REMOVING)
		clean_up(j);
	else
		go_on(j);
}

/* ---- Copying
 * ---------------------------------------------------------------------------------------
 */

/* A local source at its end: still what it was? */
static void look_again(struct copy_job *j)
{
	struct copy_meta now;
	struct stat sb;

	if (j->src.client || j->src.stream || fstat(j->src.fd, &sb))
		return;
	copy_meta_from_stat(&sb, &now);
	if (now.size == j->src.meta.size &&
	    now.mtime.seconds == j->src.meta.mtime.seconds &&
	    now.mtime.nseconds == j->src.meta.mtime.nseconds)
		return;
	j->changed = true;
	j->changed_meta = now;
}

static void set_up_data(struct copy_job *j)
{
	const struct copy_meta *m = &j->src.meta;

	j->at = j->committed = j->high = 0;
	j->size = j->src.stream ? 0 : m->size;
	j->size_known = !j->src.stream;
	j->sparse = !j->src.stream && m->used < m->size;
	j->unstable = j->have_verf = j->rewind = j->changed = false;
	j->stable = j->size_known && j->size <= j->io_bytes ? FILE_SYNC : UNSTABLE;
}

static void start_again(struct copy_job *j)
{
	j->src.meta = j->changed_meta;
	if (++j->attempts == MAX_ATTEMPTS)
		copy_job_fail(j, COPY_SOURCE, -EAGAIN,
		              "changes while it is copied; not copied");
	set_up_data(j);
	begin_phase(j, COPY_TRUNCATING);
}

void copy_job_go(struct copy_job *j)
{
	if (j->phase != COPY_COPYING || j->pumping)
		return;
	if (j->status) {
		if (j->filling)
			copy_data_cancel(j);
		if (!j->busy && !j->posted)
			clean_up(j);
		return;
	}
	if (!copy_data_pump(j))
		return;
	if (j->status) {
		clean_up(j);
	} else if (j->changed) {
		start_again(j);
	} else if (j->rewind) {
		copy_data_rewind(j);
		copy_job_go(j);
	} else if (j->unstable) {
		begin_phase(j, COPY_COMMITTING);
	} else if (j->size_known && j->at >= j->size) {
		look_again(j);
		if (j->changed)
			start_again(j);
		else
			begin_phase(j, COPY_SETATTR);
	}
}

void copy_temp_name(const char *name, char *ret)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char r[10];
	char tail[11];

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		memset(r, (int)(tool_now_ns() & 0xff), sizeof(r));
	for (size_t i = 0; i < sizeof(r); i++)
		tail[i] = digits[r[i] % 32];
	tail[10] = 0;
	snprintf(ret, NFS_NAME_MAX + 1, ".%.*s.rpcrdma-%s", NFS_NAME_MAX - 1 - 9 - 10,
	         name, tail);
}

static uint32_t pick_io(const struct copy_job *j)
{
	uint32_t n = j->copy->io_bytes;

	if (j->src.client && j->src.client->read_bytes < n)
		n = j->src.client->read_bytes;
	if (j->dir->client && j->dir->client->write_bytes < n)
		n = j->dir->client->write_bytes;
	return n;
}

static void drop_source(const struct copy_source *src)
{
	if (src->fd >= 0)
		close(src->fd);
	free(src->target);
}

/* Another source has this name; told. */
static bool was_made(struct copy *c, const struct copy_source *src,
                     const struct copy_dir *dir, const char *name)
{
	int r = c->made ? copy_made_add(c->made, dir, name) : 0;
	char *to;

	if (r == -EEXIST) {
		to = copy_dir_text(dir, name);
		tool_progress_end(&c->progress);
		tool_error("will not overwrite just-created %s with %s",
		           tool_quote(to ? to : name), tool_quote(src->label));
		free(to);
		c->failed++;
	} else if (r) {
		copy_failed(c, "copy", src->label, NULL, r);
	}
	return r != 0;
}

void copy_job_start(struct copy *c, const struct copy_source *src, struct copy_dir *dir,
                    const char *name)
{
	struct copy_link *twin = NULL;
	struct copy_job *j;

	if (was_made(c, src, dir, name)) {
		drop_source(src);
		return;
	}
	if (c->links && copy_link_again(c, src, dir, name, &twin)) {
		drop_source(src);
		return;
	}
	j = calloc(1, sizeof(*j));
	if (!j || !(j->label = strdup(src->label))) {
		copy_failed(c, "copy", src->label, NULL, -ENOMEM);
		drop_source(src);
		free(j);
		if (twin)
			copy_link_lost(twin);
		return;
	}
	j->copy = c;
	j->twin = twin;
	j->src = *src;
	j->src.label = NULL;
	j->dir = dir;
	copy_dir_get(dir);
	j->fd = -1;
	snprintf(j->name, sizeof(j->name), "%s", name);
	copy_temp_name(j->name, j->temp);
	j->io_bytes = pick_io(j);
	nfs_op_init(&j->op, dir->client);
	j->next = c->jobs;
	j->prev = &c->jobs;
	if (j->next)
		j->next->prev = &j->next;
	c->jobs = j;
	c->n_jobs++;
	set_up_data(j);
	if (dir->fresh)
		begin_new(j);
	else
		begin_phase(j, COPY_INSPECTING);
}
