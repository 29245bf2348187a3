/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Payload stream to send: runs of data that lie in the caller's memory, each
 * followed by its XDR padding.  It is read once, from the front; the memory that it
 * names is lent until then.
 */
#ifndef RR_CONN_PAYLOAD_STREAM_H
#define RR_CONN_PAYLOAD_STREAM_H

#include "conn/conn.h"

/* @len octets of data, then @pad zero octets. */
struct rr_slice {
	const uint8_t *base;
	size_t len;
	size_t pad;
};

struct rr_stream {
	struct rr_slice s[RR_CALL_MAX_PIECES];
	unsigned n;  /* slices added */
	unsigned at; /* index of the slice that is read next */
	size_t off;  /* octets of that slice already read, padding included */
	size_t left; /* octets not read yet, padding included */
};

void rr_stream_init(struct rr_stream *);
/* Appends a slice.  False if there is no room for it; an empty one needs none. */
bool rr_stream_add(struct rr_stream *, const void *base, size_t len, size_t pad);
/* Returns what comes next, at most @most octets: a run of data, or of padding (@base
 * NULL).  The stream is not at its end. */
struct rr_slice rr_stream_next_run(const struct rr_stream *, size_t most);
/* Passes over @len octets of the run that comes next. */
void rr_stream_skip(struct rr_stream *, size_t len);
/* Copies the next @len octets, which are there, and passes over them. */
void rr_stream_copy(struct rr_stream *, uint8_t *to, size_t len);

#endif
