/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begins jobs.  A source is refused if this run has already made its destination name.
 * A further hard link to a copied file needs no job.  For any other source a job begins
 * its first phase, as soon as its directory is made.
 */
#include "client/copy_phase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

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

static uint32_t pick_io_bytes(const struct copy_job *j)
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

/* If this run has already copied another source to this name, reports that and returns
 * true. */
static bool refuse_repeated(struct copy *c, const struct copy_source *src,
                            const struct copy_dir *dir, const char *name)
{
	int r = c->made ? copy_made_add(c->made, dir, name) : 0;
	char *to;

	if (r == -EEXIST) {
		to = copy_dir_text(dir, name);
		tool_progress_end(&c->progress);
		tool_error("will not overwrite just-created %s with %s",
		           tool_quote_always(to ? to : name),
		           tool_quote_always(src->label));
		free(to);
		c->failed++;
	} else if (r) {
		copy_report_failure(c, "copy", src->label, NULL, r);
	}
	return r != 0;
}

static struct copy_job *new_copy_job(struct copy *c, const struct copy_source *src,
                                     struct copy_dir *dir, const char *name)
{
	struct copy_job *j = calloc(1, sizeof(*j));

	if (!j || !(j->label = strdup(src->label))) {
		copy_report_failure(c, "copy", src->label, NULL, -ENOMEM);
		free(j);
		return NULL;
	}
	j->copy = c;
	j->src = *src;
	j->src.label = NULL;
	j->dir = dir;
	copy_dir_get(dir);
	j->fd = -1;
	snprintf(j->name, sizeof(j->name), "%s", name);
	copy_temp_name(j->name, j->temp);
	j->io_bytes = pick_io_bytes(j);
	nfs_op_init(&j->op, dir->client);
	j->next = c->jobs;
	j->prev = &c->jobs;
	if (j->next)
		j->next->prev = &j->next;
	c->jobs = j;
	c->n_jobs++;
	return j;
}

static void begin_job(struct copy_job *j)
{
	switch (j->dir->state) {
	case COPY_DIR_MAKING:
		j->phase = COPY_WAITING;
		break;
	case COPY_DIR_FAILED:
		j->skipped = true;
		copy_job_end(j);
		break;
	case COPY_DIR_READY:
		if (j->dir->fresh)
			copy_phase_new(j);
		else
			copy_phase_begin(j, COPY_INSPECTING);
		break;
	}
}

static struct copy_job *find_waiting_job(const struct copy *c,
                                         const struct copy_dir *dir)
{
	struct copy_job *j = c->jobs;

	while (j && (j->dir != dir || j->phase != COPY_WAITING))
		j = j->next;
	return j;
}

void copy_job_wake(struct copy *c, const struct copy_dir *dir)
{
	struct copy_job *j;

	while ((j = find_waiting_job(c, dir)))
		begin_job(j);
}

/* Returns true if the directory must be made before the job can begin, to check its name
 * or to choose the name of a backup. */
static bool needs_dir(const struct copy *c)
{
	return c->made || c->backup;
}

void copy_job_start(struct copy *c, const struct copy_source *src, struct copy_dir *dir,
                    const char *name)
{
	char backup[NFS_NAME_MAX + 1];
	struct copy_link *link_entry = NULL;
	struct copy_job *j = NULL;

	if (!(needs_dir(c) && !copy_dir_ready(dir)) &&
	    !refuse_repeated(c, src, dir, name) &&
	    !(c->links && copy_link_again(c, src, dir, name, &link_entry)) &&
	    !copy_backup_name(c, src, dir, name, backup))
		j = new_copy_job(c, src, dir, name);
	if (!j) {
		drop_source(src);
		if (link_entry)
			copy_link_lost(link_entry);
		return;
	}
	j->link_entry = link_entry;
	memcpy(j->backup, backup, sizeof(backup));
	copy_data_begin(j);
	begin_job(j);
}
