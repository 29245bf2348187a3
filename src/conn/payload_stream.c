/* SPDX-License-Identifier: BSD-3-Clause */
/* See payload_stream.h. */
#include "conn/payload_stream.h"

#include <string.h>

void rr_stream_init(struct rr_stream *s)
{
	s->n = s->at = 0;
	s->off = s->left = 0;
}

bool rr_stream_add(struct rr_stream *s, const void *base, size_t len, size_t pad)
{
	if (!(len + pad))
		return true;
	if (s->n == RR_ARRAY_SIZE(s->s))
		return false;
	s->s[s->n++] = (struct rr_slice){.base = base, .len = len, .pad = pad};
	s->left += len + pad;
	return true;
}

struct rr_slice rr_stream_next_run(const struct rr_stream *s, size_t most)
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

void rr_stream_skip(struct rr_stream *s, size_t len)
{
	const struct rr_slice *k = &s->s[s->at];

	s->off += len;
	s->left -= len;
	if (s->off == k->len + k->pad) {
		s->at++;
		s->off = 0;
	}
}

void rr_stream_copy(struct rr_stream *s, uint8_t *to, size_t len)
{
	while (len) {
		struct rr_slice run = rr_stream_next_run(s, len);
		size_t n = run.len + run.pad;

		if (run.base)
			memcpy(to, run.base, n);
		else
			memset(to, 0, n);
		to += n;
		len -= n;
		rr_stream_skip(s, n);
	}
}
