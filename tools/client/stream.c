/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a file to a descriptor in sequence, with a ring of READs in flight.
 *
 * READs fill slots at the tail of the ring; slots are written at the head.  A short
 * READ is continued in the same slot.  READs overlap up to the known size.  Beyond the
 * known size, one READ at a time searches for the end, so that a file that grows in the
 * meantime is read completely.
 *
 * Data are written to a pipe or terminal only when poll(2) reports it writable, in
 * pieces that do not block.  The engine has to run while a pager waits for the user.
 */
#include "client/nfs.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stream;

struct stream_slot {
	struct stream *stream;
	struct nfs_op op;
	char *buf;
	uint64_t offset;
	uint32_t want, have;
	bool busy, full, eof;
};

struct stream {
	struct nfs_client *client;
	const struct nfs_fh *fh;
	int fd;
	const char *name;
	uint64_t size, next;
	uint32_t bytes, written; /* size of a READ; octets written from the head slot */
	unsigned n, head, used;
	int status;
	bool eof, done, blocks;
	struct loop_watch watch;
	struct tool_progress *progress;
	uint64_t total;
	struct stream_slot *slots;
};

static void read_slot(struct stream_slot *s);

static void fail_stream(struct stream *st, int status)
{
	if (!st->status)
		st->status = status;
}

static void on_stream_read(struct nfs_op *op, void *arg)
{
	struct stream_slot *s = arg;
	uint32_t n;

	s->busy = false;
	if (op->status) {
		fail_stream(s->stream, op->status);
		return;
	}
	n = nfs_read_count(op, &s->eof);
	s->have += n;
	if (n == 0 && !s->eof)
		fail_stream(s->stream,
		            -EBADMSG); /* the READ would be repeated forever */
	else if (s->have < s->want && !s->eof)
		read_slot(s);
	else
		s->full = true;
}

static void read_slot(struct stream_slot *s)
{
	s->busy = true;
	nfs_op_read(&s->op, s->stream->fh, s->offset + s->have, s->buf + s->have,
	            s->want - s->have, on_stream_read, s);
}

/* Starts READs while slots are free and the end is not reached. */
static void issue_reads(struct stream *st)
{
	while (!st->status && !st->eof && st->used < st->n &&
	       (st->next < st->size || st->used == 0)) {
		struct stream_slot *s = &st->slots[(st->head + st->used++) % st->n];

		s->offset = st->next;
		s->want = st->bytes;
		s->have = 0;
		s->full = s->eof = false;
		st->next += st->bytes;
		read_slot(s);
	}
}

static ssize_t write_to_stream(struct stream *st, const char *p, size_t n)
{
	if (st->blocks && n > PIPE_BUF)
		n = PIPE_BUF;
	return write(st->fd, p, n);
}

/* Frees the written head slot.  At the end of the file, discards the other slots. */
static void advance_head(struct stream *st, struct stream_slot *s)
{
	st->total += s->have;
	if (st->progress)
		tool_progress_add(st->progress, s->have, NULL);
	st->written = 0;
	if (s->eof) {
		st->eof = st->done = true;
		return;
	}
	st->head = (st->head + 1) % st->n;
	st->used--;
}

/* Writes full slots in sequence.  Returns true if the descriptor would block. */
static bool drain_slots(struct stream *st)
{
	while (!st->status && !st->done && st->used) {
		struct stream_slot *s = &st->slots[st->head];
		struct pollfd p = {.fd = st->fd, .events = POLLOUT};
		ssize_t n;

		if (!s->full)
			return false;
		if (st->written == s->have) {
			advance_head(st, s);
			continue;
		}
		if (st->blocks && poll(&p, 1, 0) == 0)
			return true;
		n = write_to_stream(st, s->buf + st->written, s->have - st->written);
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0 && errno != EINTR)
			fail_stream(st, tool_output_failed(st->name));
		if (n > 0)
			st->written += (uint32_t)n;
	}
	return false;
}

static void on_writable(void *arg)
{
	struct stream *st = arg;

	loop_unwatch(st->client->link.loop, &st->watch);
}

static int run_stream(struct stream *st)
{
	struct loop *l = st->client->link.loop;
	int r = 0;

	while (!r && !st->status && !st->done) {
		issue_reads(st);
		if (drain_slots(st))
			loop_watch(l, &st->watch);
		else if (st->used < st->n && !st->eof && st->next < st->size)
			continue;
		if (!st->status && !st->done &&
		    (st->watch.on || st->slots[st->head].busy))
			r = loop_wait(l, -1);
	}
	loop_unwatch(l, &st->watch);
	return r ? r : st->status;
}

static void stop_stream(struct stream *st)
{
	struct loop *l = st->client->link.loop;
	bool busy = true;

	for (unsigned i = 0; i < st->n; i++)
		nfs_op_cancel(&st->slots[i].op);
	while (busy) {
		busy = false;
		for (unsigned i = 0; i < st->n; i++)
			busy |= st->slots[i].op.busy;
		if (busy)
			(void)rpcrdma_engine_process(
			        l->engine, 100); /* the loop ends, because all calls
						    were cancelled */
	}
	for (unsigned i = 0; i < st->n; i++) {
		nfs_op_fini(&st->slots[i].op);
		free(st->slots[i].buf);
	}
	free(st->slots);
}

static int prepare_stream(struct stream *st, unsigned n)
{
	struct stat sb;

	st->slots = calloc(n, sizeof(*st->slots));
	if (!st->slots)
		return -ENOMEM;
	st->n = n;
	for (unsigned i = 0; i < n; i++) {
		st->slots[i].stream = st;
		st->slots[i].buf = malloc(st->bytes);
		nfs_op_init(&st->slots[i].op, st->client);
		if (!st->slots[i].buf)
			return -ENOMEM;
	}
	if (fstat(st->fd, &sb))
		return -errno;
	st->blocks = !S_ISREG(sb.st_mode) && !S_ISBLK(sb.st_mode);
	st->watch.fd = st->fd;
	st->watch.events = POLLOUT;
	st->watch.ready = on_writable;
	st->watch.arg = st;
	return 0;
}

int nfs_stream(struct nfs_client *c, const struct nfs_fh *fh, const fattr3 *attr,
               int fd, const struct nfs_stream_options *o,
               struct tool_progress *progress, uint64_t *ret_bytes)
{
	struct stream st = {.client = c, .fh = fh, .fd = fd, .size = attr->size};
	uint64_t blocks;
	unsigned n = o->in_flight;
	int r;

	st.bytes = o->bytes ? o->bytes : c->read_bytes;
	st.name = o->name;
	st.progress = progress;
	blocks = attr->size / st.bytes + 1;
	if (n > blocks)
		n = (unsigned)blocks;
	r = prepare_stream(&st, n ? n : 1);
	if (!r)
		r = run_stream(&st);
	if (!r && st.total < st.size)
		r = -ENODATA; /* otherwise the output would look complete */
	stop_stream(&st);
	*ret_bytes = st.total;
	return r;
}
