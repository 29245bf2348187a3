/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates the Reply chunk of a call whose procedure has no binding.
 *
 * libtirpc does not know how long a Reply can be.  The CLIENT therefore records the
 * lengths of the Replies to each procedure.  A Reply longer than the estimate raises
 * the estimate at once.  After every 64 Replies, the estimate becomes the length of the
 * longest of these 64 Replies.  Before the first Reply, the estimate is the option
 * reply_bytes.
 *
 * In version 2, a Reply that does not fit is continued in further messages.  So a wrong
 * estimate does no harm, and a procedure with short Replies gets no chunk.  In version
 * 1, such a Reply is lost.  So every call provides a chunk of at least reply_bytes that
 * is long enough for the longest Reply recorded.
 */
#include "tirpc/clnt.h"

enum { ROUND = 65536, FORGET_AFTER = 64 /* Replies */ };

static struct rr_rpc_seen *find_seen(struct rr_rpc_client *c, rpcproc_t proc)
{
	return &c->seen[proc % RR_RPC_SEEN];
}

/* Adds an eighth to @bytes, since lists grow, and rounds up.  The result is at most
 * max_message_bytes, however long the server's Replies were: in version 1 a call fails
 * if there is no memory for its chunk. */
static size_t round_up_room(const struct rr_rpc_client *c, size_t bytes)
{
	size_t more = (bytes + bytes / 8 + ROUND - 1) / ROUND * ROUND;

	return RR_MIN(more, (size_t)c->o.conn.max_message_bytes);
}

struct rr_rpc_room rr_rpc_room(struct rr_rpc_client *c, rpcproc_t proc)
{
	struct rr_rpc_room r = {c->o.reply_bytes, c->o.reply_bytes};
	struct rr_rpc_seen s;

	pthread_mutex_lock(&c->lock);
	s = *find_seen(c, proc);
	pthread_mutex_unlock(&c->lock);
	if (!s.any || s.proc != proc)
		return r;
	r.v1 = RR_MAX(r.v1, round_up_room(c, s.most));
	r.v2 = s.bytes > c->o.chunk_bytes ? round_up_room(c, s.bytes) : 0;
	return r;
}

void rr_rpc_room_note(struct rr_rpc_client *c, rpcproc_t proc, size_t len)
{
	struct rr_rpc_seen *s = find_seen(c, proc);

	pthread_mutex_lock(&c->lock);
	if (!s->any || s->proc != proc)
		*s = (struct rr_rpc_seen){.any = true, .proc = proc};
	s->most = RR_MAX(s->most, len);
	s->lately = RR_MAX(s->lately, len);
	s->bytes = RR_MAX(s->bytes, len);
	if (++s->replies == FORGET_AFTER) {
		s->bytes = s->lately;
		s->lately = s->replies = 0;
	}
	pthread_mutex_unlock(&c->lock);
}
