/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file or a symbolic link on its way: the phases of a job.
 *
 * Normally: create a temporary, copy, COMMIT, set size and attributes, rename.
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
#define CLEANUP_NS   3000000000u

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

static void end_job(struct copy_job *j)
{
	struct copy *c = j->copy;

	if (j->status) {
		if (j->what && j->status != -EINTR) {
			c->failed++;
			tool_progress_end(&c->progress);
			tool_error("%s: %s", tool_quote(j->label), j->what);
		} else {
			copy_failed(c, j->label, j->failed_client, j->status);
		}
		if (j->status == -EHOSTUNREACH && j->failed_client)
			c->fatal = j->status;
	} else {
		c->files++;
		c->progress.files = c->files > 1 ? c->files : 0;
		c->bytes += j->src.kind == COPY_FILE ? j->size : 0;
		if (c->verbose)
			fprintf(stderr, "%s copied\n", tool_quote(j->label));
	}
	free_job(j);
}

void copy_job_fail(struct copy_job *j, struct nfs_client *client, int status,
                   const char *what)
{
	if (j->status)
		return;
	j->status = status;
	j->failed_client = client;
	j->what = what;
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
		(void)unlinkat(j->dir->fd, j->temp,
		               0); /* gone or not: it failed already */
		end_job(j);
	} else if (!j->dir->client->link.up) {
		tool_error("%s: the server is away; %s may be left there",
		           tool_quote(j->label), tool_quote(j->temp));
		end_job(j);
	} else {
		begin_phase(j, COPY_REMOVING);
	}
}

void copy_job_cancel(struct copy_job *j)
{
	copy_job_fail(j, NULL, -EINTR, NULL);
	for (struct copy_slot *s = j->copy->slots; s; s = s->all)
		if (s->job == j)
			nfs_op_cancel(&s->op);
	if (j->phase != COPY_REMOVING)
		nfs_op_cancel(&j->op);
	copy_job_go(j);
}

/* ---- Local destinations
 * ------------------------------------------------------------------ */

static void local_step(struct copy_job *j, int r)
{
	if (r)
		copy_job_fail(j, NULL, r, NULL);
}

static int create_local(struct copy_job *j)
{
	j->fd = openat(j->dir->fd, j->temp,
	               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return j->fd < 0 ? -errno : 0;
}

static int set_local(struct copy_job *j)
{
	struct stat sb;

	if (fstat(j->fd, &sb))
		return -errno;
	if ((uint64_t)sb.st_size != j->size && ftruncate(j->fd, (off_t)j->size))
		return -errno;
	return copy_set_local(j->copy, j->fd, &j->src.meta);
}

static int rename_local(struct copy_job *j)
{
	int fd = j->fd;

	j->fd = -1;
	if (fd >= 0 && close(fd))
		return -errno; /* a quota may be noticed here */
	return renameat(j->dir->fd, j->temp, j->dir->fd, j->name) ? -errno : 0;
}

static int link_local(struct copy_job *j)
{
	struct timespec t[2] = {
	        {j->src.meta.atime.seconds, j->src.meta.atime.nseconds},
	        {j->src.meta.mtime.seconds, j->src.meta.mtime.nseconds}};

	if (symlinkat(j->src.target, j->dir->fd, j->temp))
		return -errno;
	if (j->copy->preserve)
		(void)utimensat(j->dir->fd, j->temp, t,
		                AT_SYMLINK_NOFOLLOW); /* a wish */
	return 0;
}

/* ---- Calls
 * ---------------------------------------------------------------------------------- */

static void on_op(struct nfs_op *op, void *arg);

static void call(struct copy_job *j, uint32_t proc, void *args)
{
	nfs_op_start(&j->op, proc, args, on_op, j);
}

static diropargs3 temp_where(struct copy_job *j)
{
	return (diropargs3){nfs_fh_arg(&j->dir->fh), j->temp};
}

static void call_create(struct copy_job *j)
{
	CREATE3args a = {.where = temp_where(j), .how = {.mode = UNCHECKED}};
	sattr3 *s = &a.how.createhow3_u.obj_attributes;

	s->mode.set_it = true;
	s->mode.set_mode3_u.mode = (copy_mode(j->copy, &j->src.meta) & 0777) | 0600;
	call(j, NFSPROC3_CREATE, &a);
}

static void call_lookup(struct copy_job *j, char *name)
{
	LOOKUP3args a = {.what = {nfs_fh_arg(&j->dir->fh), name}};

	call(j, NFSPROC3_LOOKUP, &a);
}

static void call_readlink(struct copy_job *j)
{
	READLINK3args a = {.symlink = nfs_fh_arg(&j->src.fh)};

	j->src.target = malloc(NFS3_PATH_BYTES + 1);
	if (!j->src.target) {
		copy_job_fail(j, NULL, -ENOMEM, NULL);
		clean_up(j);
		return;
	}
	nfs_op_fini(&j->op);
	nfs_op_init(&j->op, j->src.client);
	j->op.into = j->src.target;
	j->op.into_len = NFS3_PATH_BYTES;
	call(j, NFSPROC3_READLINK, &a);
}

static void call_symlink(struct copy_job *j)
{
	SYMLINK3args a = {.where = temp_where(j)};

	a.symlink.data_len = (uint32_t)strlen(j->src.target);
	if (j->copy->preserve) {
		copy_sattr(j->copy, &j->src.meta, true, &a.symlink.symlink_attributes);
		a.symlink.symlink_attributes.mode.set_it = false;
	}
	nfs_op_fini(&j->op);
	nfs_op_init(&j->op, j->dir->client);
	j->op.item = j->src.target;
	j->op.item_len = a.symlink.data_len;
	call(j, NFSPROC3_SYMLINK, &a);
}

static void call_commit(struct copy_job *j)
{
	COMMIT3args a = {.file = nfs_fh_arg(&j->fh)};

	call(j, NFSPROC3_COMMIT, &a);
}

/* At the end size, where a hole comes last, and attributes. */
static void call_setattr(struct copy_job *j)
{
	SETATTR3args a = {.object = nfs_fh_arg(&j->fh)};
	sattr3 *s = &a.new_attributes;

	if (j->phase == COPY_SETATTR)
		copy_sattr(j->copy, &j->src.meta, j->no_owner, s);
	s->size.set_it = j->phase == COPY_TRUNCATING || j->high != j->size;
	s->size.set_size3_u.size = j->phase == COPY_TRUNCATING ? 0 : j->size;
	call(j, NFSPROC3_SETATTR, &a);
}

static void call_rename(struct copy_job *j)
{
	RENAME3args a = {.from = temp_where(j),
	                 .to = {nfs_fh_arg(&j->dir->fh), j->name}};

	call(j, NFSPROC3_RENAME, &a);
}

static void call_remove(struct copy_job *j)
{
	REMOVE3args a = {.object = temp_where(j)};

	nfs_op_fini(&j->op);
	nfs_op_init(&j->op, j->dir->client);
	j->op.timeout_ns = CLEANUP_NS;
	call(j, NFSPROC3_REMOVE, &a);
}

/* ---- Phases
 * -----------------------------------------------------------------------------------
 */

/* Is there anything for SETATTR to do? */
static bool needs_setattr(const struct copy_job *j)
{
	uint32_t mode = copy_mode(j->copy, &j->src.meta);

	return j->copy->preserve || j->high != j->size ||
	       mode != ((mode & 0777) | 0600);
}

static void begin_local(struct copy_job *j, enum copy_phase phase)
{
	switch (phase) {
	case COPY_CREATING:
		local_step(j, create_local(j));
		begin_phase(j, COPY_COPYING);
		return;
	case COPY_SYMLINK:
		local_step(j, link_local(j));
		begin_phase(j, COPY_RENAMING);
		return;
	case COPY_TRUNCATING:
		local_step(j, ftruncate(j->fd, 0) ? -errno : 0);
		begin_phase(j, COPY_COPYING);
		return;
	case COPY_SETATTR:
		local_step(j, set_local(j));
		begin_phase(j, COPY_RENAMING);
		return;
	case COPY_RENAMING:
		local_step(j, rename_local(j));
		if (j->status)
			clean_up(j);
		else
			end_job(j);
		return;
	case COPY_LOOKING:
	case COPY_READLINK:
	case COPY_COPYING:
	case COPY_COMMITTING:
	case COPY_CHECKING:
	case COPY_REMOVING:
		break;
	}
	abort(); /* these have no local form */
}

static void begin_remote(struct copy_job *j, enum copy_phase phase)
{
	switch (phase) {
	case COPY_CREATING:
		call_create(j);
		return;
	case COPY_LOOKING:
		call_lookup(j, j->temp);
		return;
	case COPY_SYMLINK:
		call_symlink(j);
		return;
	case COPY_COMMITTING:
		call_commit(j);
		return;
	case COPY_TRUNCATING:
		call_setattr(j);
		return;
	case COPY_SETATTR:
		if (needs_setattr(j))
			call_setattr(j);
		else
			begin_phase(j, COPY_RENAMING);
		return;
	case COPY_RENAMING:
		call_rename(j);
		return;
	case COPY_CHECKING:
		call_lookup(j, j->name);
		return;
	case COPY_REMOVING:
		call_remove(j);
		return;
	case COPY_READLINK:
	case COPY_COPYING:
		break;
	}
	abort(); /* begin_phase has taken these */
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
		call_readlink(j);
	else if (j->dir->client)
		begin_remote(j, phase);
	else
		begin_local(j, phase);
}

/* ---- What calls brought
 * --------------------------------------------------------------------------- */

static bool take_made(struct copy_job *j, const post_op_fh3 *fh,
                      const post_op_attr *attr)
{
	if (!attr->attributes_follow || !fh->handle_follows ||
	    nfs_fh_take(&fh->post_op_fh3_u.handle, &j->fh))
		return false;
	j->fileid = attr->post_op_attr_u.attributes.fileid;
	return true;
}

static void after_create(struct copy_job *j)
{
	const CREATE3resok *ok = &j->op.res.create.CREATE3res_u.resok;

	begin_phase(j, take_made(j, &ok->obj, &ok->obj_attributes) ? COPY_COPYING
	                                                           : COPY_LOOKING);
}

static void after_lookup(struct copy_job *j)
{
	const LOOKUP3resok *ok = &j->op.res.lookup.LOOKUP3res_u.resok;

	if (nfs_fh_take(&ok->object, &j->fh))
		copy_job_fail(j, j->dir->client, -EBADMSG, NULL);
	if (ok->obj_attributes.attributes_follow)
		j->fileid = ok->obj_attributes.post_op_attr_u.attributes.fileid;
	begin_phase(j, j->src.kind == COPY_LINK ? COPY_RENAMING : COPY_COPYING);
}

static void after_readlink(struct copy_job *j)
{
	j->src.target[j->op.got] = 0;
	if (!j->op.got || strlen(j->src.target) != j->op.got)
		copy_job_fail(j, j->src.client, -EBADMSG, NULL);
	begin_phase(j, COPY_SYMLINK);
}

static void after_symlink(struct copy_job *j)
{
	const SYMLINK3resok *ok = &j->op.res.symlink.SYMLINK3res_u.resok;

	if (j->op.status || !take_made(j, &ok->obj, &ok->obj_attributes))
		begin_phase(j,
		            COPY_LOOKING); /* EXIST: a repeated call met its own work */
	else
		begin_phase(j, COPY_RENAMING);
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
		copy_job_fail(j, j->dir->client, (int)NFS3ERR_NOENT,
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
	case COPY_SYMLINK:
		return status == (int)NFS3ERR_EXIST;
	case COPY_SETATTR:
		if (j->no_owner ||
		    (status != (int)NFS3ERR_PERM && status != (int)NFS3ERR_ACCES))
			return false;
		j->no_owner = true; /* as cp(1): wished for, not required */
		return true;
	case COPY_RENAMING:
		return status == (int)NFS3ERR_NOENT && j->fileid;
	case COPY_REMOVING:
		if (status != (int)NFS3ERR_NOENT)
			tool_error("%s: %s is left on the server", tool_quote(j->label),
			           tool_quote(j->temp));
		return true;
	case COPY_CREATING:
	case COPY_LOOKING:
	case COPY_READLINK:
	case COPY_COPYING:
	case COPY_COMMITTING:
	case COPY_TRUNCATING:
	case COPY_CHECKING:
		break;
	}
	return false;
}

static void go_on(struct copy_job *j)
{
	bool ok = j->op.status == 0;

	switch (j->phase) {
	case COPY_CREATING:
		after_create(j);
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
		begin_phase(j, COPY_COPYING);
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
		end_job(j);
		return;
	case COPY_COPYING:
		break;
	}
	abort(); /* no call of the job's own is out while it copies */
}

static void on_op(struct nfs_op *op, void *arg)
{
	struct copy_job *j = arg;
	bool read = j->phase == COPY_READLINK;

	if (op->status && !forgiven(j))
		copy_job_fail(j, read ? j->src.client : j->dir->client, op->status,
		              NULL);
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
		copy_job_fail(j, NULL, -EAGAIN,
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

static void make_temp_name(struct copy_job *j)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char r[10];
	char tail[11];

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		memset(r, (int)(tool_now_ns() & 0xff), sizeof(r));
	for (size_t i = 0; i < sizeof(r); i++)
		tail[i] = digits[r[i] % 32];
	tail[10] = 0;
	snprintf(j->temp, sizeof(j->temp), ".%.*s.rpcrdma-%s",
	         (int)(sizeof(j->temp) - 1 - 1 - 9 - 10), j->name, tail);
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

void copy_job_start(struct copy *c, const struct copy_source *src, struct copy_dir *dir,
                    const char *name)
{
	struct copy_job *j = calloc(1, sizeof(*j));

	if (!j || !(j->label = strdup(src->label))) {
		copy_failed(c, src->label, NULL, -ENOMEM);
		if (src->fd >= 0)
			close(src->fd);
		free(src->target);
		free(j);
		return;
	}
	j->copy = c;
	j->src = *src;
	j->src.label = NULL;
	j->dir = dir;
	copy_dir_get(dir);
	j->fd = -1;
	snprintf(j->name, sizeof(j->name), "%s", name);
	make_temp_name(j);
	j->io_bytes = pick_io(j);
	nfs_op_init(&j->op, dir->client);
	j->next = c->jobs;
	j->prev = &c->jobs;
	if (j->next)
		j->next->prev = &j->next;
	c->jobs = j;
	c->n_jobs++;
	set_up_data(j);
	begin_phase(j, src->kind == COPY_FILE ? COPY_CREATING
	               : src->client          ? COPY_READLINK
	                                      : COPY_SYMLINK);
}
