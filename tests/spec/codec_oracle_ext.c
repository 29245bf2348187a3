/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our codecs of RPRC, of the property for Remote Invalidation and of the header types by
 * message kind, beside ones generated from the XDR of the extensions.
 *
 *   codec_oracle_ext [seed [iterations]]
 *
 * As in codec_oracle.c, both sides encode random items and decode them and mutations of
 * them.  Where the two may differ:
 *
 *  W1  The generated decoder takes any "is present" word but 0 for TRUE, as D1 there, and
 *      any word but 0 for a bool of TRUE.  What it accepts must be accepted by us exactly
 *      if it encodes again to the same octets.
 *  W2  Rules of the text that are not in the XDR are read a second time here, from the
 *      text: kinds and Positions, arrays that must not be empty, values of properties.
 *      What breaks one must be refused.
 *  W3  Words without a meaning are not compared but must be 0 in what we encode: the
 *      Position of a result, words of RPRC whose flag is clear, unknown flags.
 *  W4  More segments or Write chunks than our arrays hold are only counted, as D4 there.
 *
 * Requirements held by this comparison: RR-P-01 RI-4.2-01 LS-s12-01 LS-s12-02 LS-s12-03
 * LS-s13-01 LS-s13-02 LS-s15-01 LS-s15-02 LS-s15-03 LS-s16-02 LS-s16-03 LS-s16-04
 * LS-s08-04
 */
#include "wire/htfam/htfam_wire.h" /* before the generated macros of the same names */
#include "wire/reminv/reminv_wire.h"
#include "wire/rprc/rprc_wire.h"

#include <rpc/rpc.h>
/* Enumerators of the same names as ours. */
#define RDMA2_BODY_PULL   spec_body_pull
#define RDMA2_BODY_PUSHED spec_body_pushed
#include "rpcrdma_ext.h"
#undef RDMA2_BODY_PULL
#undef RDMA2_BODY_PUSHED

#include "oracle.h"
#include "oracle_lists.h"

enum {
	MAX_NODES = MAX_OCTETS / 8, /* entries of any list in one message */
	VALUE_ROOM = 32,
};

/* -- values of properties ---------------------------------------------------------- */

/* Most often @len octets, now and then any number up to VALUE_ROOM. */
static size_t random_length(size_t len)
{
	return below(6) ? len : below(VALUE_ROOM);
}

/* Values are not mutated towards each other: any octets, of which both must think the
 * same.  The right length is in the majority. */
static size_t make_value(uint8_t *buf)
{
	for (size_t i = 0; i < VALUE_ROOM; i += 4)
		rr_store_u32(buf + i, below(3) ? below(8) : word());
	if (below(3))
		rr_store_u32(buf + 4, below(2000));
	return random_length(below(2) ? 4 : 12);
}

/* [W2] */
static bool obeys_rules(const rpcrdma2_prop_rprc *t)
{
	if (!(t->rprc_flags & RDMA2_RPRC_F_RESPONDER))
		return !(t->rprc_flags & RDMA2_RPRC_F_PIGGYBACK);
	return t->rprc_lifetime_ms == 0 || t->rprc_lifetime_ms >= 1000;
}

static void compare_rprc(const uint8_t *at, size_t len)
{
	rpcrdma2_prop_rprc theirs = {0};
	struct rr_wire_rprc ours = {99, 99, 99};
	uint8_t copy[RR_WIRE_RPRC_VALUE], canonical[RR_WIRE_RPRC_VALUE];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	size_t used = 0;
	bool ok = !len ||
	          (oracle_decode(PROC(rpcrdma2_prop_rprc), &theirs, at, len, &used) &&
	           used == len && obeys_rules(&theirs));

	if (!expect(ok)) {
		CHECK(rr_wire_rprc_get_value(at, (uint32_t)len, &ours) == -EINVAL);
		CHECK(ours.flags == 99 && ours.lifetime_ms == 99 &&
		      ours.max_reply == 99);
		return;
	}
	theirs.rprc_flags &= 7; /* [W3] */
	theirs.rprc_lifetime_ms *= !!(theirs.rprc_flags & RDMA2_RPRC_F_RESPONDER);
	theirs.rprc_max_reply *= theirs.rprc_flags & RDMA2_RPRC_F_REQUESTER;
	CHECK(rr_wire_rprc_get_value(at, (uint32_t)len, &ours) == 0);
	CHECK(ours.flags == theirs.rprc_flags);
	CHECK(ours.lifetime_ms == theirs.rprc_lifetime_ms);
	CHECK(ours.max_reply == theirs.rprc_max_reply);
	CHECK(oracle_encode(PROC(rpcrdma2_prop_rprc), &theirs, canonical,
	                    sizeof(canonical)) == sizeof(canonical));
	rr_wire_rprc_put_value(&w, &ours);
	CHECK(!rr_writer_bad(&w) && rr_writer_used(&w) == sizeof(copy));
	CHECK(!memcmp(copy, canonical, sizeof(copy)));
}

static void compare_reminv(const uint8_t *at, size_t len)
{
	rpcrdma2_prop_reqreminv theirs = TRUE;
	uint8_t copy[4], canonical[4];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	bool ours = false, ok = true;
	size_t used;

	if (len) {
		ok = oracle_decode(PROC(rpcrdma2_prop_reqreminv), &theirs, at, len,
		                   &used) &&
		     used == len &&
		     oracle_encode(PROC(rpcrdma2_prop_reqreminv), &theirs, canonical,
		                   sizeof(canonical)) == 4 &&
		     !memcmp(canonical, at, 4); /* [W1] */
	}
	if (!expect(ok)) {
		CHECK(rr_wire_reminv_get_value(at, (uint32_t)len, &ours) == -EINVAL);
		CHECK(!ours);
		return;
	}
	CHECK(rr_wire_reminv_get_value(at, (uint32_t)len, &ours) == 0);
	CHECK(ours == theirs);
	rr_wire_reminv_put_value(&w, ours);
	CHECK(rr_writer_used(&w) == 4);
	CHECK(!len || !memcmp(copy, at, 4));
}

static void compare_htfam(const uint8_t *at, size_t len)
{
	rpcrdma2_prop_htfam theirs = 0;
	uint32_t ours = 99;
	size_t used = 0;
	bool ok = !len ||
	          (oracle_decode(PROC(rpcrdma2_prop_htfam), &theirs, at, len, &used) &&
	           used == len);

	if (!expect(ok)) {
		CHECK(rr_wire_htfam_get_value(at, (uint32_t)len, &ours) == -EINVAL);
		CHECK(ours == 99);
		return;
	}
	CHECK(rr_wire_htfam_get_value(at, (uint32_t)len, &ours) == 0);
	CHECK(ours == (theirs & 3)); /* [W3] */
}

/* -- RDMA2_MSG_DONE ------------------------------------------------------------------ */

static void check_msg_done(const struct rr_wire_done_list *done,
                           const struct rr_lists *l, const rpcrdma2_msg_done *t,
                           const uint8_t *at, size_t len)
{
	uint8_t copy[MAX_OCTETS];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));

	CHECK(done->count == t->rdma_done_xids.rdma_done_xids_len);
	for (uint32_t i = 0; i < done->count; i++)
		CHECK(done->xid[i] == t->rdma_done_xids.rdma_done_xids_val[i]);
	check_lists(l, &t->rdma_chunks);
	rr_wire_rprc_put_msg_done(&w, done, l);
	CHECK(rr_writer_bad(&w) == l->over);
	if (l->over) {
		run.over++;
		return;
	}
	CHECK(rr_wire_rprc_msg_done_size(done, l) == len);
	CHECK(rr_writer_used(&w) == len);
	CHECK(!memcmp(copy, at, len));
}

static void compare_msg_done(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	rpcrdma2_msg_done theirs = {{0}};
	uint8_t canonical[MAX_OCTETS];
	struct rr_wire_done_list done;
	struct rr_lists ours;
	size_t used;
	bool ok;

	ok = oracle_decode(PROC(rpcrdma2_msg_done), &theirs, at, len, &used);
	if (ok) { /* [W1] */
		CHECK(oracle_encode(PROC(rpcrdma2_msg_done), &theirs, canonical,
		                    sizeof(canonical)) == used);
		ok = !memcmp(canonical, at, used);
	}
	if (expect(ok)) {
		CHECK(rr_wire_rprc_get_msg_done(&c, &done, &ours) == 0);
		CHECK((size_t)(c.pos - at) == used);
		check_msg_done(&done, &ours, &theirs, at, used);
	} else {
		CHECK(rr_wire_rprc_get_msg_done(&c, &done, &ours) == -EBADMSG);
		check_untouched(&c, at, len);
	}
	xdr_free(PROC(rpcrdma2_msg_done), &theirs);
}

static size_t make_msg_done(uint8_t *buf)
{
	static struct model m;
	u_int xids[RDMA2_MSG_DONE_MAX];
	rpcrdma2_msg_done theirs = {.rdma_done_xids = {below(17), xids}};

	for (u_int i = 0; i < RDMA2_MSG_DONE_MAX; i++)
		xids[i] = word();
	make_model(&m);
	theirs.rdma_chunks = m.lists;
	return oracle_encode(PROC(rpcrdma2_msg_done), &theirs, buf, MAX_OCTETS);
}

/* -- header types by message kind ------------------------------------------------------ */

/* Every body of the family, as one. */
union body {
	rpcrdma2x_call_external call_external;
	rpcrdma2x_call_middle call_middle;
	rpcrdma2x_call_last call_last;
	rpcrdma2x_reply_external reply_external;
	rpcrdma2x_reply_middle reply_middle;
	rpcrdma2x_reply_last reply_last;
};

/* A body written as the chunk lists of a base header. */
struct as_base {
	rpcrdma2_chunk_lists lists;
	uint32_t remaining;
	bool lawful; /* [W2] */
	rpcrdma2_read_list *reads_end;
	u_int n_reads, n_writes;
	rpcrdma2_read_list reads[MAX_OCTETS / 16];
	rpcrdma2_write_list writes[MAX_NODES];
	rpcrdma2_write_chunk reply;
};

static void add_read(struct as_base *b, uint32_t position, const rpcrdma2_segment *s)
{
	rpcrdma2_read_list *node = &b->reads[b->n_reads++];

	CHECK(b->n_reads <= RR_ARRAY_SIZE(b->reads));
	node->rdma_entry.rdma_position = position;
	node->rdma_entry.rdma_target = *s;
	node->rdma_next = NULL;
	if (b->reads_end)
		b->reads_end->rdma_next = node;
	else
		b->lists.rdma_reads = node;
	b->reads_end = node;
}

static void add_pull(struct as_base *b, const rpcrdma2x_body *t)
{
	for (u_int i = 0; i < t->rdma_target.rdma_target_len; i++)
		add_read(b, 0, &t->rdma_target.rdma_target_val[i]);
}

static void add_args(struct as_base *b, const rpcrdma2x_chunk_list *t)
{
	uint32_t last = 0;

	for (u_int i = 0; i < t->rpcrdma2x_chunk_list_len; i++) {
		const rpcrdma2x_chunk *k = &t->rpcrdma2x_chunk_list_val[i];

		if (k->rdma_position % 4 || k->rdma_position <= last ||
		    !k->rdma_target.rdma_target_len) {
			b->lawful = false;
			return;
		}
		last = k->rdma_position;
		for (u_int j = 0; j < k->rdma_target.rdma_target_len; j++)
			add_read(b, last, &k->rdma_target.rdma_target_val[j]);
	}
}

static void add_reply(struct as_base *b, u_int n, rpcrdma2_segment *segs)
{
	if (!n)
		return;
	b->reply.rdma_target.rdma_target_len = n;
	b->reply.rdma_target.rdma_target_val = segs;
	b->lists.rdma_reply = &b->reply;
}

/* Clears the Positions, which have no meaning. [W3] */
static void add_results(struct as_base *b, rpcrdma2x_chunk_list *t)
{
	for (u_int i = 0; i < t->rpcrdma2x_chunk_list_len; i++) {
		rpcrdma2x_chunk *k = &t->rpcrdma2x_chunk_list_val[i];
		rpcrdma2_write_list *node = &b->writes[b->n_writes++];

		CHECK(b->n_writes <= RR_ARRAY_SIZE(b->writes));
		k->rdma_position = 0;
		node->rdma_entry.rdma_target.rdma_target_len =
		        k->rdma_target.rdma_target_len;
		node->rdma_entry.rdma_target.rdma_target_val =
		        k->rdma_target.rdma_target_val;
		node->rdma_next = NULL;
		if (i)
			b->writes[i - 1].rdma_next = node;
		else
			b->lists.rdma_writes = node;
	}
}

static void convert_call_external(struct as_base *b, union body *t)
{
	rpcrdma2x_call_external *x = &t->call_external;

	b->lists.rdma_inv_handle = x->rdma_inv_handle;
	b->lawful =
	        x->rdma_body.rdma_how == 1 && x->rdma_body.rdma_target.rdma_target_len;
	add_pull(b, &x->rdma_body);
	add_args(b, &x->rdma_args);
	add_results(b, &x->rdma_prov_results);
	add_reply(b, x->rdma_prov_reply.rdma_prov_reply_len,
	          x->rdma_prov_reply.rdma_prov_reply_val);
}

static void convert_call_last(struct as_base *b, union body *t)
{
	rpcrdma2x_call_last *x = &t->call_last;

	b->lists.rdma_inv_handle = x->rdma_inv_handle;
	add_args(b, &x->rdma_args);
	add_results(b, &x->rdma_prov_results);
	add_reply(b, x->rdma_prov_reply.rdma_prov_reply_len,
	          x->rdma_prov_reply.rdma_prov_reply_val);
}

static void convert_reply_external(struct as_base *b, union body *t)
{
	rpcrdma2x_reply_external *x = &t->reply_external;

	b->lists.rdma_inv_handle = x->rdma_inv_handle;
	b->lawful = (x->rdma_body.rdma_how == 1 || x->rdma_body.rdma_how == 2) &&
	            x->rdma_body.rdma_target.rdma_target_len;
	if (x->rdma_body.rdma_how == 1)
		add_pull(b, &x->rdma_body);
	else
		add_reply(b, x->rdma_body.rdma_target.rdma_target_len,
		          x->rdma_body.rdma_target.rdma_target_val);
	add_results(b, &x->rdma_results);
}

static void convert_reply_last(struct as_base *b, union body *t)
{
	add_results(b, &t->reply_last.rdma_results);
}

static void convert_call_middle(struct as_base *b, union body *t)
{
	b->remaining = t->call_middle.rdma_remaining;
}

static void convert_reply_middle(struct as_base *b, union body *t)
{
	b->remaining = t->reply_middle.rdma_remaining;
}

static const struct type {
	uint32_t htype;
	xdrproc_t proc;
	void (*convert)(struct as_base *b, union body *t);
} types[] = {
        {RDMA2_X_CALL_EXTERNAL, PROC(rpcrdma2x_call_external), convert_call_external},
        {RDMA2_X_CALL_LAST, PROC(rpcrdma2x_call_last), convert_call_last},
        {RDMA2_X_REPLY_EXTERNAL, PROC(rpcrdma2x_reply_external),
         convert_reply_external},
        {RDMA2_X_REPLY_LAST, PROC(rpcrdma2x_reply_last), convert_reply_last},
        {RDMA2_X_CALL_MIDDLE, PROC(rpcrdma2x_call_middle), convert_call_middle},
        {RDMA2_X_REPLY_MIDDLE, PROC(rpcrdma2x_reply_middle), convert_reply_middle},
};

static void compare_body(const struct type *type, const uint8_t *at, size_t len)
{
	static struct as_base base;
	struct rr_cursor c = rr_cursor_over(at, len);
	uint8_t canonical[MAX_OCTETS], copy[MAX_OCTETS];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	uint32_t remaining = 99;
	union body theirs;
	struct rr_lists ours;
	size_t used;
	bool ok;

	memset(&theirs, 0, sizeof(theirs));
	memset(&base, 0, offsetof(struct as_base, reads));
	base.lawful = true;
	ok = oracle_decode(type->proc, &theirs, at, len, &used);
	if (ok) {
		type->convert(&base, &theirs);
		ok = base.lawful;
	}
	if (!expect(ok)) {
		CHECK(rr_wire_htfam_get_lists(&c, type->htype, &ours, &remaining) ==
		      -EBADMSG);
		CHECK(remaining == 99);
		check_untouched(&c, at, len);
		xdr_free(type->proc, &theirs);
		return;
	}
	CHECK(rr_wire_htfam_get_lists(&c, type->htype, &ours, &remaining) == 0);
	CHECK((size_t)(c.pos - at) == used);
	CHECK(remaining == base.remaining);
	check_lists(&ours, &base.lists);
	CHECK(oracle_encode(type->proc, &theirs, canonical, sizeof(canonical)) == used);
	rr_wire_htfam_put_lists(&w, type->htype, &ours, remaining);
	CHECK(rr_writer_bad(&w) == ours.over);
	if (ours.over)
		run.over++;
	CHECK(ours.over || rr_wire_htfam_lists_size(type->htype, &ours) == used);
	CHECK(ours.over || rr_writer_used(&w) == used);
	CHECK(ours.over || !memcmp(copy, canonical, used));
	xdr_free(type->proc, &theirs);
}

/* The first word of an item says of which type it is. */
static void compare_family(const uint8_t *at, size_t len)
{
	if (len >= 4)
		compare_body(&types[rr_load_u32(at) % RR_ARRAY_SIZE(types)], at + 4,
		             len - 4);
}

/* Structures of the generated side live here while one item is encoded. */
static struct {
	rpcrdma2_segment seg[MAX_SEGS];
	u_int n_segs;
	rpcrdma2x_chunk args[MAX_SEGS], results[24];
} parts;

static rpcrdma2_segment *take_segments(u_int n, u_int *ret_n)
{
	rpcrdma2_segment *s = &parts.seg[parts.n_segs];

	*ret_n = RR_MIN(n, MAX_SEGS - parts.n_segs);
	for (u_int i = 0; i < *ret_n; i++)
		parts.seg[parts.n_segs++] = make_segment();
	return s;
}

static void make_list(rpcrdma2x_chunk_list *l, rpcrdma2x_chunk *at, u_int n, bool args)
{
	uint32_t position = 0;

	l->rpcrdma2x_chunk_list_len = n;
	l->rpcrdma2x_chunk_list_val = at;
	for (u_int i = 0; i < n; i++) {
		position += 4 + 4 * below(100);
		at[i].rdma_position = args == !!below(20) ? position : 0;
		at[i].rdma_target.rdma_target_val =
		        take_segments(below(10) ? 1 + below(2) : below(4),
		                      &at[i].rdma_target.rdma_target_len);
	}
}

static void make_body_chunk(rpcrdma2x_body *b)
{
	b->rdma_how = below(10) ? 1 + below(2) : below(4);
	b->rdma_target.rdma_target_val = take_segments(below(10) ? 1 : few(MAX_SEGS),
	                                               &b->rdma_target.rdma_target_len);
}

static size_t make_family(uint8_t *buf)
{
	uint32_t which = below(RR_ARRAY_SIZE(types));
	rpcrdma2x_call_external x;
	union body b;
	size_t len;

	memset(&x, 0, sizeof(x));
	memset(&b, 0, sizeof(b));
	parts.n_segs = 0;
	x.rdma_inv_handle = word();
	make_body_chunk(&x.rdma_body);
	make_list(&x.rdma_args, parts.args, few(MAX_SEGS), true);
	make_list(&x.rdma_prov_results, parts.results, few(24), false);
	x.rdma_prov_reply.rdma_prov_reply_val = take_segments(
	        below(2) ? few(MAX_SEGS) : 0, &x.rdma_prov_reply.rdma_prov_reply_len);
	switch (which) {
	case 0:
		b.call_external = x;
		break;
	case 1:
		b.call_last.rdma_inv_handle = x.rdma_inv_handle;
		b.call_last.rdma_args = x.rdma_args;
		b.call_last.rdma_prov_results = x.rdma_prov_results;
		b.call_last.rdma_prov_reply.rdma_prov_reply_len =
		        x.rdma_prov_reply.rdma_prov_reply_len;
		b.call_last.rdma_prov_reply.rdma_prov_reply_val =
		        x.rdma_prov_reply.rdma_prov_reply_val;
		break;
	case 2:
		b.reply_external.rdma_inv_handle = x.rdma_inv_handle;
		b.reply_external.rdma_body = x.rdma_body;
		b.reply_external.rdma_results = x.rdma_prov_results;
		break;
	case 3:
		b.reply_last.rdma_results = x.rdma_prov_results;
		break;
	case 4:
		b.call_middle.rdma_remaining = word();
		break;
	case 5:
		b.reply_middle.rdma_remaining = word();
		break;
	}
	rr_store_u32(buf, which);
	len = oracle_encode(types[which].proc, &b, buf + 4, MAX_OCTETS - 4);
	return len ? len + 4 : 0;
}

static const struct item items[] = {
        {"rprc", make_value, compare_rprc},
        {"reqreminv", make_value, compare_reminv},
        {"htfam", make_value, compare_htfam},
        {"msg_done", make_msg_done, compare_msg_done},
        {"msg_done", make_msg_done, compare_msg_done},
        {"family", make_family, compare_family}, /* half of all: most is in there */
        {"family", make_family, compare_family},
        {"family", make_family, compare_family},
        {"family", make_family, compare_family},
        {"family", make_family, compare_family},
};

int main(int argc, char **argv)
{
	CHECK((int)RDMA2_BODY_PULL == (int)spec_body_pull);
	CHECK((int)RDMA2_BODY_PUSHED == (int)spec_body_pushed);
	return run_oracle(argc, argv, items, RR_ARRAY_SIZE(items));
}
