/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Payload stream to send: runs of data in the caller's memory, each followed by its
 * XDR padding.  The stream is read once, from front to back.  The caller's memory is
 * lent until the stream has been read.
 */
#ifndef RR_CONN_PAYLOAD_STREAM_H
#define RR_CONN_PAYLOAD_STREAM_H

#include "conn/conn.h"

#include <string.h>

/* @len octets of data, then @pad zero octets. */
struct rr_slice {
	const uint8_t *base;
	size_t len;
	size_t pad;
};

struct rr_stream {
	struct rr_slice s[RR_CALL_MAX_PIECES];
	unsigned n;  /* number of slices */
	unsigned at; /* index of the slice to read next */
	size_t off;  /* octets of slice @at already read, including padding */
	size_t left; /* octets not yet read, including padding */
	size_t all;  /* octets of all slices, including padding */
};

void rr_stream_init(struct rr_stream *);
/* Appends a slice.  Returns false if the array is full.  Adding an empty slice always
 * succeeds and uses no entry. */
bool rr_stream_add(struct rr_stream *, const void *base, size_t len, size_t pad);
/* Returns the next run: at most @most octets, all data or all padding.  For padding,
 * @base is NULL.  The stream must not be at its end. */
static inline struct rr_slice rr_stream_next_run(const struct rr_stream *s, size_t most)
{
	const struct rr_slice *k = &s->s[s->at];
	struct rr_slice run = {0};

	if (s->off < k->len) {
		run.base = k->base + s->off;
		run.len = RR_MIN(k->len - s->off, most);
	} else {
		run.pad = RR_MIN(k->len + k->pad - s->off, most);
	}
	return run;
}
/* Copies a run that rr_stream_next_run() returned. */
static inline void rr_stream_copy_run(const struct rr_slice *run, uint8_t *to)
{
	if (run->base)
		memcpy(to, run->base, run->len);
	else
		memset(to, 0, run->pad);
}
/* Skips @len octets of the next run. */
static inline void rr_stream_skip(struct rr_stream *s, size_t len)
{
	const struct rr_slice *k = &s->s[s->at];

	s->off += len;
	s->left -= len;
	if (s->off == k->len + k->pad) {
		s->at++;
		s->off = 0;
	}
}
/* Copies the next @len octets, which must exist, and skips them. */
void rr_stream_copy(struct rr_stream *, uint8_t *to, size_t len);

#endif
