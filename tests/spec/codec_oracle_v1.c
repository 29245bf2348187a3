/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our codec of version 1 beside one generated from the XDR of RFC 8166.
 *
 *   codec_oracle_v1 [seed [iterations]]
 *
 * Each iteration makes a random transport header by the generated side, has ours
 * build and encode the same, and compares; then both decode those octets, and
 * mutations of them.  A disagreement prints seed, iteration and octets.
 *
 * The generated decoder takes any "is present" word but 0 for TRUE: what it accepts
 * must be accepted by us exactly if it re-encodes to the same octets.
 */
#include "wire/wire.h"

#include <rpc/rpc.h>
#include "rpcrdma_v1.h"

#include "oracle.h"

enum { MAX_SEGS = 80 }; /* somewhat more than our arrays hold */

/* -- comparing ------------------------------------------------------------------- */

struct walk {
	const struct rr_lists *l;
	uint32_t segs; /* of the generated side */
};

/* Segments are in wire order, the first n_segs of them stored. */
static void next_segment(struct walk *k, const xdr_rdma_segment *t)
{
	const struct rr_segment *o = &k->l->seg[k->segs];

	if (k->segs++ >= k->l->n_segs)
		return;
	CHECK(o->handle == t->handle);
	CHECK(o->length == t->length);
	CHECK(o->offset == t->offset);
}

static void check_reads(struct walk *k, const xdr_read_list *t)
{
	uint32_t chunks = 0, last = 0;
	bool descend = false;

	for (; t; t = t->next) {
		if (!chunks || t->entry.position != last) {
			descend |= chunks && t->entry.position < last;
			chunks++;
		}
		last = t->entry.position;
		if (k->segs < k->l->n_segs)
			CHECK(k->l->reads[chunks - 1].position == last);
		next_segment(k, &t->entry.target);
	}
	CHECK(k->l->total_reads == chunks);
	CHECK(k->l->over || k->l->n_reads == chunks);
	CHECK(k->l->reads_descend == descend);
}

static void check_chunk(struct walk *k, const struct rr_chunk *c,
                        const xdr_write_chunk *t)
{
	CHECK(c->first == RR_MIN(k->segs, k->l->n_segs));
	CHECK(k->l->over || c->count == t->target.target_len);
	for (u_int i = 0; i < t->target.target_len; i++)
		next_segment(k, &t->target.target_val[i]);
}

static void check_lists(const struct rr_lists *l, const rpc_rdma_header *t)
{
	struct walk k = {.l = l};
	uint32_t writes = 0, skipped = 0;

	check_reads(&k, t->rdma_reads);
	for (const xdr_write_list *w = t->rdma_writes; w; w = w->next, writes++) {
		if (writes < RR_WIRE_MAX_WRITES)
			check_chunk(&k, &l->writes[writes], &w->entry);
		else
			skipped += w->entry.target.target_len;
	}
	CHECK(l->total_writes == writes);
	CHECK(l->has_reply == (t->rdma_reply != NULL));
	if (t->rdma_reply)
		check_chunk(&k, &l->reply, t->rdma_reply);
	CHECK(l->total_segs == k.segs + skipped);
	CHECK(l->over ==
	      (k.segs > RR_WIRE_MAX_SEGMENTS || writes > RR_WIRE_MAX_WRITES));
}

/* Encodes what we decoded; the octets it came from must come out. */
static void check_reencoding(const struct rr_prefix *p, const struct rr_lists *l,
                             const struct rr_error *e, const uint8_t *at, size_t len)
{
	uint8_t copy[MAX_OCTETS];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));

	rr_wire_v1_put_prefix(&w, p);
	if (e)
		rr_wire_v1_put_error(&w, e);
	else
		rr_wire_v1_put_lists(&w, l);
	CHECK(rr_writer_bad(&w) == (!e && l->over));
	if (rr_writer_bad(&w)) {
		run.over++;
		return;
	}
	CHECK(e || rr_wire_v1_lists_size(l) + RR_WIRE_V1_PREFIX == len);
	CHECK(rr_writer_used(&w) == len);
	CHECK(!memcmp(copy, at, len));
}

static void compare_error(struct rr_cursor *c, const struct rr_prefix *p,
                          const rdma_msg *t, bool accept, const uint8_t *at,
                          size_t used)
{
	const rpc_rdma_errvers *range;
	struct rr_error e;
	int err = rr_wire_v1_get_error(c, &e);

	CHECK(accept ? err == 0 : err == -EBADMSG);
	if (!accept)
		return;
	range = &t->rdma_body.rdma_body_u.rdma_error.rpc_rdma_error_u.range;
	CHECK(p->flags == RDMA2_F_RESPONSE);
	CHECK(e.code == (uint32_t)t->rdma_body.rdma_body_u.rdma_error.err);
	CHECK(e.arg[0] == (e.code == ERR_VERS ? range->rdma_vers_low : 0));
	CHECK(e.arg[1] == (e.code == ERR_VERS ? range->rdma_vers_high : 0));
	check_reencoding(p, NULL, &e, at, used);
}

static void compare_lists(struct rr_cursor *c, const struct rr_prefix *p,
                          const rdma_msg *t, bool accept, const uint8_t *at,
                          size_t used)
{
	struct rr_lists l;
	int err = rr_wire_v1_get_lists(c, &l);

	CHECK(accept ? err == 0 : err == -EBADMSG);
	if (!accept)
		return;
	CHECK(p->flags == 0 && l.inv_handle == 0);
	/* Both kinds have the same members. */
	check_lists(&l, &t->rdma_body.rdma_body_u.rdma_msg);
	check_reencoding(p, &l, NULL, at, used);
}

/* Is this an octet string that the generated side would have made?  Then it is
 * right in all that it does not look at. */
static bool canonical(rdma_msg *t, const uint8_t *at, size_t used)
{
	uint8_t copy[MAX_OCTETS];

	CHECK(oracle_encode(PROC(rdma_msg), t, copy, sizeof(copy)) == used);
	return !memcmp(copy, at, used);
}

static void compare_message(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len), before;
	struct rr_prefix p;
	rdma_msg theirs = {0};
	size_t used;
	bool accept = oracle_decode(PROC(rdma_msg), &theirs, at, len, &used);

	accept = expect(accept && canonical(&theirs, at, used));
	CHECK(rr_wire_v1_get_prefix(&c, &p) == (len < 16 ? -EBADMSG : 0));
	if (len >= 16) {
		CHECK(p.xid == rr_load_u32(at) && p.htype == rr_load_u32(at + 12));
		before = c;
		if (p.htype == RDMA_ERROR)
			compare_error(&c, &p, &theirs, accept, at, used);
		else if (p.htype == RDMA_MSG || p.htype == RDMA_NOMSG)
			compare_lists(&c, &p, &theirs, accept, at, used);
		else
			c.pos = at + used; /* nothing of ours reads it */
		if (accept)
			CHECK((size_t)(c.pos - at) == used);
		else if (p.htype == RDMA_ERROR || p.htype <= RDMA_NOMSG)
			CHECK(!memcmp(&c, &before, sizeof(c)));
	}
	xdr_free(PROC(rdma_msg), &theirs);
}

/* -- making ------------------------------------------------------------------------ */

struct model {
	rdma_msg msg;
	xdr_read_list reads[MAX_SEGS];
	xdr_write_list writes[MAX_SEGS];
	xdr_write_chunk reply;
	xdr_rdma_segment seg[MAX_SEGS];
	u_int n_segs;
};

static xdr_rdma_segment make_segment(void)
{
	return (xdr_rdma_segment){word(), word(), (uint64)word() << 32 | word()};
}

static void make_chunk(struct model *m, xdr_write_chunk *c, u_int n)
{
	n = RR_MIN(n, MAX_SEGS - m->n_segs);
	c->target.target_len = n;
	c->target.target_val = &m->seg[m->n_segs];
	for (u_int i = 0; i < n; i++)
		m->seg[m->n_segs++] = make_segment();
}

static void make_lists(struct model *m, rpc_rdma_header *h)
{
	u_int reads = few(MAX_SEGS), writes = few(24);
	uint32_t position = below(2) ? 0 : word();

	for (u_int i = 0; i < reads; i++) {
		if (!below(3))
			position = below(10) ? position + 4 * below(100) : word();
		m->reads[i].entry.position = position;
		m->reads[i].entry.target = make_segment();
		m->reads[i].next = i + 1 < reads ? &m->reads[i + 1] : NULL;
	}
	h->rdma_reads = reads ? m->reads : NULL;
	for (u_int i = 0; i < writes; i++) {
		make_chunk(m, &m->writes[i].entry, below(5));
		m->writes[i].next = i + 1 < writes ? &m->writes[i + 1] : NULL;
	}
	h->rdma_writes = writes ? m->writes : NULL;
	h->rdma_reply = below(2) ? &m->reply : NULL;
	make_chunk(m, &m->reply, few(MAX_SEGS));
}

static size_t make_message(uint8_t *buf)
{
	static struct model m;
	static const rdma_proc procs[] = {RDMA_MSG, RDMA_NOMSG, RDMA_MSG, RDMA_ERROR};
	rdma_body *b = &m.msg.rdma_body;

	m.n_segs = 0;
	m.msg.rdma_xid = word();
	m.msg.rdma_vers = word();
	m.msg.rdma_credit = word();
	b->proc = procs[below(RR_ARRAY_SIZE(procs))];
	if (b->proc == RDMA_ERROR) {
		b->rdma_body_u.rdma_error.err = below(2) ? ERR_VERS : ERR_CHUNK;
		b->rdma_body_u.rdma_error.rpc_rdma_error_u.range =
		        (rpc_rdma_errvers){word(), word()};
	} else {
		make_lists(&m, &b->rdma_body_u.rdma_msg);
	}
	return oracle_encode(PROC(rdma_msg), &m.msg, buf, MAX_OCTETS);
}

int main(int argc, char **argv)
{
	static const struct item items[] = {{"message", make_message, compare_message}};

	return run_oracle(argc, argv, items, RR_ARRAY_SIZE(items));
}
