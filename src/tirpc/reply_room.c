/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much room a call offers for its Reply, where no binding says.
 *
 * libtirpc does not know how long a Reply can be.  The CLIENT remembers how long those
 * of each procedure were: a long one raises the figure at once; after many that were
 * shorter it is the longest of those.  Before the first Reply the option reply_bytes
 * stands for it.
 *
 * In version 2 a Reply that finds too little room is continued, so the figure may be
 * wrong, and a procedure of short Replies gets no chunk.  In version 1 such a Reply is
 * lost: every call has the longest that was seen, and reply_bytes at least.
 */
#include "tirpc/clnt.h"

enum { ROUND = 65536, MEMORY = 64 };

static struct rr_rpc_seen *place_of(struct rr_rpc_client *c, rpcproc_t proc)
{
	return &c->seen[proc % RR_RPC_SEEN];
}

/* An eighth more, since lists grow, but never above max_message_bytes, however long the
 * Replies of a server were: a call of version 1 fails if there is no memory for its
 * chunk.
 */
static size_t rounded(const struct rr_rpc_client *c, size_t bytes)
{
	size_t more = (bytes + bytes / 8 + ROUND - 1) / ROUND * ROUND;

	return RR_MIN(more, (size_t)c->o.conn.max_message_bytes);
}

struct rr_rpc_room rr_rpc_room(struct rr_rpc_client *c, rpcproc_t proc)
{
	struct rr_rpc_room r = {c->o.reply_bytes, c->o.reply_bytes};
	struct rr_rpc_seen s;

	pthread_mutex_lock(&c->lock);
	s = *place_of(c, proc);
	pthread_mutex_unlock(&c->lock);
	if (!s.any || s.proc != proc)
		return r;
	r.v1 = RR_MAX(r.v1, rounded(c, s.most));
	r.v2 = s.bytes > c->o.chunk_bytes ? rounded(c, s.bytes) : 0;
	return r;
}

void rr_rpc_room_note(struct rr_rpc_client *c, rpcproc_t proc, size_t len)
{
	struct rr_rpc_seen *s = place_of(c, proc);

	pthread_mutex_lock(&c->lock);
	if (!s->any || s->proc != proc)
		*s = (struct rr_rpc_seen){.any = true, .proc = proc};
	s->most = RR_MAX(s->most, len);
	s->lately = RR_MAX(s->lately, len);
	s->bytes = RR_MAX(s->bytes, len);
	if (++s->replies == MEMORY) {
		s->bytes = s->lately;
		s->lately = s->replies = 0;
	}
	pthread_mutex_unlock(&c->lock);
}
