/* SPDX-License-Identifier: BSD-3-Clause */
/* See payload_stream.h. */
#include "conn/payload_stream.h"

void rr_stream_init(struct rr_stream *s)
{
	s->n = s->at = 0;
	s->off = s->left = s->all = 0;
}

bool rr_stream_add(struct rr_stream *s, const void *base, size_t len, size_t pad)
{
	if (!(len + pad))
		return true;
	if (s->n == RR_ARRAY_SIZE(s->s))
		return false;
	s->s[s->n++] = (struct rr_slice){.base = base, .len = len, .pad = pad};
	s->left += len + pad;
	s->all += len + pad;
	return true;
}

void rr_stream_copy(struct rr_stream *s, uint8_t *to, size_t len)
{
	while (len) {
		struct rr_slice run = rr_stream_next_run(s, len);
		size_t n = run.len + run.pad;

		rr_stream_copy_run(&run, to);
		to += n;
		len -= n;
		rr_stream_skip(s, n);
	}
}
