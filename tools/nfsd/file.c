/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READ, WRITE, COMMIT.                            [RFC 1813 §3.3.6, 7, 21]
 *
 * READ fills a buffer with one pread and sends the data from that buffer.  If the data
 * is in the page cache, the engine's own thread reads it.  WRITE writes the data
 * directly from the buffer in which it was received.  A kernel error (no space, quota,
 * I/O) becomes the status.  After a short write, the reply reports the octets written.
 * Only workers wait for storage.  If storage fails, the write verifier changes, so that
 * clients send their uncommitted data again.
 */
#include "op.h"
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* -- READ ------------------------------------------------------------------ */

/* Returns the number of octets to read: @asked, but at most NFSD_MAX_IO and at most
 * what fits in the client's buffer. */
static size_t bound_read_size(const struct op *op, uint32_t asked)
{
	uint64_t room = rpcrdma_request_result_room(op->req, 0);
	size_t n = asked < NFSD_MAX_IO ? asked : NFSD_MAX_IO;

	return room && room < n ? (size_t)room : n;
}

/* Returns memory for *n octets, or NULL.  If too little memory is left, reduces *n, so
 * that the READ returns fewer octets.  A worker reuses the memory that the engine's
 * thread allocated for the same request. */
static void *get_read_buffer(struct op *op, size_t *n)
{
	void *p = op->buf ? op->buf : op_alloc(op, *n ? *n : 1);

	if (op->buf && op->buf_len < *n)
		*n = op->buf_len;
	while (!p && *n > 16384) {
		*n /= 2;
		p = op_alloc(op, *n);
	}
	op->buf = p;
	op->buf_len = *n;
	return p;
}

/* Reads @n octets, or fewer at the end of the file, from the page cache.  Returns
 * NFSD_WOULD_SLEEP if some of these octets are not cached. */
static int64_t read_page_cache(struct op *op, int fd, void *buf, size_t n,
                               uint64_t offset, const struct statx *st)
{
	struct iovec v = {buf, n};
	ssize_t got;

	if (fs_reading_writes(op->obj->ex->fs, st))
		return op_would_sleep(op);
	got = preadv2(fd, &v, 1, (off_t)offset, RWF_NOWAIT);
	if (got >= 0 && ((size_t)got == n || offset + (uint64_t)got >= st->stx_size))
		return got;
	return op_would_sleep(op);
}

static int64_t read_fd_at(int fd, void *buf, size_t n, uint64_t offset)
{
	size_t done = 0;
	ssize_t r = 1;

	while (done < n && r > 0) {
		r = pread(fd, (char *)buf + done, n - done, (off_t)(offset + done));
		if (r > 0)
			done += (size_t)r;
		else if (r < 0 && errno == EINTR)
			r = 1;
	}
	return r < 0 && !done ? -errno : (int64_t)done;
}

static int check_regular(const struct object *o)
{
	if (S_ISREG(o->type))
		return 0;
	return S_ISDIR(o->type) ? -EISDIR : -EINVAL;
}

static int get_read_fd(struct op *op, const struct statx *st, int *ret)
{
	if (!op->cache_only)
		return object_read_fd(op->nfsd, op->obj, &op->id, st, ret);
	if (object_open_read_fd(op->nfsd, op->obj, &op->id, st, ret))
		return op_would_sleep(op);
	return 0;
}

static int read_object(struct op *op, READ3resok *ok)
{
	const READ3args *a = &op->args.read;
	size_t n = bound_read_size(op, a->count);
	void *buf = NULL;
	int64_t got = 0;
	struct statx st;
	int fd = -1, e = op_object(op, &a->file, &op->obj);

	if (!e)
		e = check_regular(op->obj);
	/* Read the attributes before the data.  Attributes that are too old only make
	 * the client read again; attributes newer than the data would make the client
	 * keep old data. */
	if (!e)
		e = object_stat(op->obj, &st);
	if (!e)
		e = get_read_fd(op, &st, &fd);
	if (e)
		return e;
	if (a->offset > INT64_MAX - NFSD_MAX_IO)
		n = 0;
	buf = get_read_buffer(op, &n);
	if (!buf)
		return -ENOMEM;
	if (n)
		got = op->cache_only ? read_page_cache(op, fd, buf, n, a->offset, &st)
		                     : read_fd_at(fd, buf, n, a->offset);
	if (got < 0)
		return (int)got;
	attr_post_statx(op->obj->ex, &st, &ok->file_attributes);
	ok->count = ok->data_len = (uint32_t)got;
	ok->eof = (n && !got) || a->offset >= st.stx_size ||
	          (uint64_t)got >= st.stx_size - a->offset;
	op->tail = (struct rpcrdma_piece){buf, (size_t)got, true};
	return 0;
}

void op_read(struct op *op)
{
	READ3resok *ok = &op->res.read.READ3res_u.resok;
	int e = read_object(op, ok);

	op->res.status = nfs_status(e);
	if (e)
		attr_post(op->obj, &op->res.read.READ3res_u.resfail.file_attributes);
}

/* -- WRITE ----------------------------------------------------------------- */

static int64_t write_fd_at(int fd, const void *buf, size_t n, uint64_t offset)
{
	size_t done = 0;
	ssize_t r;

	while (done < n) {
		r = pwrite(fd, (const char *)buf + done, n - done,
		           (off_t)(offset + done));
		if (r > 0)
			done += (size_t)r;
		else if (r == 0)
			return done ? (int64_t)done : -EIO;
		else if (errno != EINTR)
			return done ? (int64_t)done : -errno;
	}
	return (int64_t)done;
}

static int write_object(struct op *op, wcc_data *wcc, WRITE3resok *ok)
{
	const WRITE3args *a = &op->args.write;
	struct statx st;
	int64_t put;
	int fd = -1, e = object_get(op->nfsd, &a->file, &op->id, &op->obj);

	if (!e)
		e = wcc_lock(op, op->obj, NULL);
	if (!e)
		e = object_stat(op->obj, &st);
	if (e)
		return e;
	wcc_before(op->obj, &st, &wcc->before);
	e = check_regular(op->obj);
	if (!e && op->may.read_only)
		e = -EROFS;
	if (!e && (a->count > a->data_len || a->stable > FILE_SYNC))
		e = -EINVAL;
	if (!e && a->offset > INT64_MAX - (uint64_t)a->count)
		e = -EFBIG;
	if (!e)
		e = object_write_fd(op->nfsd, op->obj, &op->id, &st, &fd);
	if (e)
		return e;
	/* Copy the verifier before writing: if the data are lost later, COMMIT will
	 * return a different verifier. */
	nfsd_get_verf(op->nfsd, (uint8_t *)ok->verf);
	put = write_fd_at(fd, op->item, a->count, a->offset);
	if (put < 0)
		return (int)put;
	ok->count = (uint32_t)put;
	ok->committed = a->stable;
	if (a->stable == UNSTABLE) {
		object_count_write(op->obj);
	} else {
		op->data_only = a->stable == DATA_SYNC;
		op_sync(op, op->obj, fd);
	}
	return 0;
}

void op_write(struct op *op)
{
	wcc_data wcc = {.before = {.attributes_follow = FALSE}};
	int e = write_object(op, &wcc, &op->res.write.WRITE3res_u.resok);

	op->res.status = nfs_status(e);
	attr_post(op->obj, &wcc.after);
	/* resok and resfail both begin with file_wcc. */
	op->res.write.WRITE3res_u.resok.file_wcc = wcc;
}

/* -- COMMIT ---------------------------------------------------------------- */

/*
 * Syncs the whole file, ignoring the range.  Any descriptor for the file is suitable,
 * because the kernel syncs the inode.  The caller's permission to write is not checked
 * again, because it may have been withdrawn after the client's last WRITE.
 */
void op_commit(struct op *op)
{
	COMMIT3resok *ok = &op->res.commit.COMMIT3res_u.resok;
	struct statx st;
	int fd = -1, e;

	e = object_get(op->nfsd, &op->args.commit.file, &op->id, &op->obj);
	if (!e)
		e = object_stat(op->obj, &st);
	if (!e) { /* COMMIT changes no attribute */
		wcc_before(op->obj, &st, &ok->file_wcc.before);
		attr_post_statx(op->obj->ex, &st, &ok->file_wcc.after);
		e = check_regular(op->obj);
	}
	if (!e)
		e = object_commit_fd(op->nfsd, op->obj, &op->id, &fd);
	op->res.status = nfs_status(e);
	if (e)
		return;
	nfsd_get_verf(op->nfsd, (uint8_t *)ok->verf);
	op_sync(op, op->obj, fd);
}
