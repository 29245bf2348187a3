/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies the data of one file through slots: each slot reads a range and writes its
 * nonzero parts.  Several slots work in parallel.
 *
 * WRITEs are UNSTABLE and followed by COMMIT, every COPY_CHECKPOINT octets and at the
 * end.  If the verifier differs from that in earlier replies, the server has restarted
 * and may have lost data: all data since the last COMMIT are read and sent again.  Data
 * from a pipe cannot be read again.  The pipe's slots are therefore kept until a
 * COMMIT, and sent again from memory.
 *                                                       [RFC 1813 §3.3.7, §3.3.21]
 *
 * Holes: SEEK_DATA finds the data of a sparse local source.  Within data, and in files
 * from a server, 4 KiB blocks of zeros are skipped if the source occupies less space
 * than its size.  The size is set when all data are written.
 *
 * busy counts slots with a call in flight; the job does not change its phase until busy
 * is 0.
 */
#define _GNU_SOURCE /* SEEK_DATA */
#include "client/copy.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define BLOCK       4096u
#define GAP         (16 * BLOCK) /* a run of zeros of this length ends a WRITE */
#define TURNS       64           /* slots that a job fills before other jobs run */
#define MAX_REWINDS 1000

static void write_filled_slot(struct copy_slot *s);

/* ---- Writing ------------------------------------------------------------- */

static bool is_zero(const uint8_t *p, size_t n)
{
	return n == 0 || (p[0] == 0 && !memcmp(p, p + 1, n - 1));
}

static uint32_t block_length(const struct copy_slot *s, uint32_t pos)
{
	return s->have - pos < BLOCK ? s->have - pos : BLOCK;
}

/* Moves pos to the next octets to write and sets run to their number, or to 0 if none
 * are left. */
static void next_run(struct copy_slot *s)
{
	uint32_t end, zeros = 0, n;

	if (!s->job->sparse) {
		s->run = s->have - s->pos;
		return;
	}
	while (s->pos < s->have && is_zero(s->buf + s->pos, block_length(s, s->pos)))
		s->pos += block_length(s, s->pos);
	end = s->pos;
	for (uint32_t p = s->pos; p < s->have && zeros < GAP; p += n) {
		n = block_length(s, p);
		if (is_zero(s->buf + p, n)) {
			zeros += n;
		} else {
			zeros = 0;
			end = p + n;
		}
	}
	s->run = end - s->pos;
}

static void finish_slot(struct copy_slot *s)
{
	struct copy_job *j = s->job;

	tool_progress_add(&j->copy->progress, s->have, NULL);
	if (j->src.stream && j->unstable) {
		s->next = j->held;
		j->held = s;
	} else {
		copy_slot_put(s);
	}
}

static void check_verf(struct copy_job *j, const WRITE3resok *ok)
{
	if (ok->committed == FILE_SYNC)
		return;
	j->unstable = true;
	if (!j->have_verf) {
		memcpy(j->verf, ok->verf, sizeof(j->verf));
		j->have_verf = true;
	} else if (memcmp(j->verf, ok->verf, sizeof(j->verf))) {
		j->rewind = true;
	}
}

static void write_slot(struct copy_slot *s);

static void on_written(struct nfs_op *op, void *arg)
{
	struct copy_slot *s = arg;
	struct copy_job *j = s->job;
	const WRITE3resok *ok = &op->res.write.WRITE3res_u.resok;

	j->busy--;
	if (op->status) {
		copy_job_fail(j, COPY_TARGET, op->status, NULL);
	} else if (ok->count == 0 || ok->count > s->run) {
		copy_job_fail(j, COPY_TARGET, -EBADMSG, NULL);
	} else {
		check_verf(j, ok);
		s->pos += ok->count;
	}
	write_slot(s);
	copy_job_go(j);
}

static int write_local(struct copy_slot *s)
{
	struct copy_job *j = s->job;

	while (s->run) {
		ssize_t n = pwrite(j->fd, s->buf + s->pos, s->run,
		                   (off_t)(s->offset + s->pos));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		s->pos += (uint32_t)n;
		s->run -= (uint32_t)n;
	}
	return 0;
}

/* Writes the rest of a slot. on_written continues the slot. */
static void write_slot(struct copy_slot *s)
{
	struct copy_job *j = s->job;
	uint64_t end;
	int r;

	while (!j->status) {
		next_run(s);
		if (!s->run)
			break;
		end = s->offset + s->pos + s->run;
		if (end > j->high)
			j->high = end;
		if (j->dir->client) {
			j->busy++;
			nfs_op_fini(&s->op);
			nfs_op_init(&s->op, j->dir->client);
			nfs_op_write(&s->op, &j->fh, s->offset + s->pos,
			             s->buf + s->pos, s->run, j->stable, on_written, s);
			return;
		}
		r = write_local(s);
		if (r)
			copy_job_fail(j, COPY_TARGET, r, NULL);
	}
	finish_slot(s);
}

/* ---- Reading ------------------------------------------------------------- */

static void read_slot_remotely(struct copy_slot *s);

static void write_filled_slot(struct copy_slot *s)
{
	s->pos = 0;
	write_slot(s);
}

static bool same_time(const nfstime3 *a, const nfstime3 *b)
{
	return a->seconds == b->seconds && a->nseconds == b->nseconds;
}

void copy_data_compare(struct copy_job *j, const struct copy_meta *now)
{
	if (now->size == j->src.meta.size && same_time(&now->mtime, &j->src.meta.mtime))
		return;
	j->changed = true;
	j->changed_meta = *now;
}

static void on_slot_read(struct nfs_op *op, void *arg)
{
	struct copy_slot *s = arg;
	struct copy_job *j = s->job;
	const post_op_attr *attr = &op->res.read.READ3res_u.resok.file_attributes;
	struct copy_meta now;
	uint32_t n;
	bool eof;

	j->busy--;
	if (op->status || j->status) {
		if (op->status)
			copy_job_fail(j, COPY_SOURCE, op->status, NULL);
		copy_slot_put(s);
		copy_job_go(j);
		return;
	}
	if (attr->attributes_follow) {
		copy_meta_from_attr(&attr->post_op_attr_u.attributes, &now);
		copy_data_compare(j, &now);
	}
	n = nfs_read_count(op, &eof);
	s->have += n;
	if (s->have < s->len && (n == 0 || eof) && !j->changed) {
		/* The file is shorter than its attributes say, or READ returns no data.
		 */
		copy_job_fail(j, COPY_SOURCE, -EIO, "truncated while it was read");
	}
	if (j->changed || j->status)
		copy_slot_put(s);
	else if (s->have < s->len)
		read_slot_remotely(s);
	else
		write_filled_slot(s);
	copy_job_go(j);
}

static void read_slot_remotely(struct copy_slot *s)
{
	struct copy_job *j = s->job;

	j->busy++;
	nfs_op_fini(&s->op);
	nfs_op_init(&s->op, j->src.client);
	nfs_op_read(&s->op, &j->src.fh, s->offset + s->have, s->buf + s->have,
	            s->len - s->have, on_slot_read, s);
}

static void read_slot_locally(struct copy_slot *s)
{
	struct copy_job *j = s->job;

	while (s->have < s->len) {
		ssize_t n = pread(j->src.fd, s->buf + s->have, s->len - s->have,
		                  (off_t)(s->offset + s->have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			copy_job_fail(j, COPY_SOURCE, -errno, NULL);
		if (n == 0) {
			struct copy_meta now;
			struct stat sb;

			if (!fstat(j->src.fd, &sb)) {
				copy_meta_from_stat(&sb, &now);
				copy_data_compare(j, &now);
			}
			if (!j->changed)
				copy_job_fail(j, COPY_SOURCE, -EIO,
				              "truncated while it was read");
		}
		if (n <= 0) {
			copy_slot_put(s);
			return;
		}
		s->have += (uint32_t)n;
	}
	write_filled_slot(s);
}

/* Moves past a hole in a local source file to the next data region.  Returns false at
 * the end of the file. */
static bool skip_hole(struct copy_job *j)
{
	off_t data;

	if (j->src.client || !j->sparse)
		return true;
	data = lseek(j->src.fd, (off_t)j->at, SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		data = (off_t)j->size;
	if (data < 0)
		return true; /* SEEK_DATA is not supported: read all */
	if ((uint64_t)data > j->size)
		data = (off_t)j->size;
	tool_progress_add(&j->copy->progress, (uint64_t)data - j->at, NULL);
	j->at = (uint64_t)data;
	return j->at < j->size;
}

/* ---- Streams ------------------------------------------------------------- */

static void end_stream(struct copy_job *j)
{
	struct copy_slot *s = j->filling;

	j->size_known = true;
	j->size = s->offset + s->have;
	j->filling = NULL;
	if (s->have)
		write_filled_slot(s);
	else
		copy_slot_put(s);
}

static void on_readable(void *arg)
{
	struct copy_job *j = arg;
	struct copy_slot *s = j->filling;
	ssize_t n = read(j->src.fd, s->buf + s->have, s->len - s->have);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		s->have += (uint32_t)n;
		if (s->have < s->len)
			return;
	}
	loop_unwatch(j->copy->loop, &j->watch);
	if (n > 0) {
		j->filling = NULL;
		write_filled_slot(s);
	} else if (n == 0) {
		end_stream(j);
	} else {
		copy_job_fail(j, COPY_SOURCE, -errno, NULL);
		j->filling = NULL;
		copy_slot_put(s);
	}
	copy_job_go(j);
}

static void fill_from_stream(struct copy_job *j, struct copy_slot *s)
{
	j->filling = s;
	j->watch.fd = j->src.fd;
	j->watch.events = POLLIN;
	j->watch.ready = on_readable;
	j->watch.arg = j;
	loop_watch(j->copy->loop, &j->watch);
}

/* ---- The pump ------------------------------------------------------------ */

static bool may_issue(const struct copy_job *j)
{
	if (j->status || j->rewind || j->changed || j->filling || j->copy->fatal)
		return false;
	if (j->size_known && j->at >= j->size)
		return false;
	if (j->unstable && j->at - j->committed >= COPY_CHECKPOINT)
		return false;
	return j->busy < j->copy->in_flight;
}

/* Returns the number of octets of the next slot. */
static uint32_t next_length(const struct copy_job *j)
{
	uint64_t left = j->size_known ? j->size - j->at : UINT64_MAX;

	return left < j->io_bytes ? (uint32_t)left : j->io_bytes;
}

static void begin_slot(struct copy_job *j, struct copy_slot *s, uint32_t len)
{
	s->offset = j->at;
	s->len = len;
	s->have = s->pos = s->run = 0;
	j->at += s->len;
	if (j->src.stream)
		fill_from_stream(j, s);
	else if (j->src.client)
		read_slot_remotely(s);
	else
		read_slot_locally(s);
}

static void on_turn(void *arg)
{
	struct copy_job *j = arg;

	j->posted = false;
	copy_job_go(j);
}

/* Lets other jobs run. on_turn resumes this job, which cannot end until then. */
static void take_turns(struct copy_job *j)
{
	if (rpcrdma_engine_post(j->copy->loop->engine, on_turn, j) == 0)
		j->posted = true;
}

void copy_data_begin(struct copy_job *j)
{
	const struct copy_meta *m = &j->src.meta;

	j->at = j->committed = j->high = 0;
	j->size = j->src.stream ? 0 : m->size;
	j->size_known = !j->src.stream;
	j->sparse = !j->src.stream && m->used < m->size;
	j->unstable = j->have_verf = j->rewind = j->changed = false;
	j->stable = j->size_known && j->size <= j->io_bytes ? FILE_SYNC : UNSTABLE;
}

bool copy_data_pump(struct copy_job *j)
{
	struct copy_pool *pool;
	struct copy_slot *s;
	unsigned turns = 0;
	uint32_t len;

	if (j->pumping)
		return false;
	j->pumping = true;
	while (may_issue(j) && skip_hole(j)) {
		if (turns++ == TURNS && j->busy == 0) {
			take_turns(j);
			if (j->posted)
				break;
		}
		len = next_length(j);
		pool = copy_pool_for(j->copy, len);
		s = copy_slot_get(pool, j);
		if (!s && !pool->n) {
			copy_job_fail(j, COPY_SOURCE, -ENOMEM, NULL);
			break;
		}
		if (!s) {
			/* If calls are in flight, their completions continue the job.
			 * If slots are held, the job must first send COMMIT. */
			j->waiting = j->busy == 0 && !j->held ? pool : NULL;
			break;
		}
		begin_slot(j, s, len);
	}
	j->pumping = false;
	return !j->busy && !j->posted && !j->waiting && !j->filling;
}

static void release_held(struct copy_job *j)
{
	struct copy_slot *s;

	while ((s = j->held)) {
		j->held = s->next;
		copy_slot_put(s);
	}
}

void copy_data_committed(struct copy_job *j)
{
	j->committed = j->at;
	j->unstable = j->have_verf = false;
	release_held(j);
}

void copy_data_rewind(struct copy_job *j)
{
	struct copy_slot *s = j->held, *next;

	j->rewind = j->unstable = j->have_verf = false;
	if (++j->rewinds > MAX_REWINDS) {
		copy_job_fail(j, COPY_TARGET, (int)NFS3ERR_IO,
		              "the server restarted too often");
		return;
	}
	if (!j->src.stream) {
		j->at = j->committed;
		return;
	}
	j->held = NULL;
	for (; s; s = next) {
		next = s->next;
		s->next = NULL;
		write_filled_slot(s);
	}
}

void copy_data_cancel(struct copy_job *j)
{
	if (j->filling) {
		loop_unwatch(j->copy->loop, &j->watch);
		copy_slot_put(j->filling);
		j->filling = NULL;
	}
	j->waiting = NULL;
	release_held(j);
}
