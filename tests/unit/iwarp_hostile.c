/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a peer can do wrong in full operation, one row each, with the Terminate
 * that the RFCs ask for.  After each: posts flushed once, DISCONNECTED last and
 * once, no octet of the region changed.
 */
#include "test_iwarp_raw.h"

#define H 0x100 /* the Terminate returns length and DDP header */
#define R 0x200 /* and the Read Request */

struct world {
	struct peer r;
	uint8_t mem[64], rbuf[2][64], sink[64];
	struct rr_region wr, rd; /* writable, readable: the same memory */
	uint32_t read_stag;      /* the sink of the endpoint's own Read */
	uint64_t read_to;
	struct bytes u;
};

typedef void (*maker)(struct world *w, struct bytes *u);

static const uint8_t junk[256];

#define MAKE(name, ...)                                                                \
	static void name(struct world *w, struct bytes *u)                             \
	{                                                                              \
		__VA_ARGS__;                                                           \
	}

MAKE(write_wild, ul_tagged(u, 0xc140, w->wr.handle ^ 0x10, w->wr.offset, junk, 8))
MAKE(write_zero, ul_tagged(u, 0xc140, 0, w->wr.offset, junk, 8))
MAKE(write_end, ul_tagged(u, 0xc140, w->wr.handle, w->wr.offset + 57, junk, 8))
MAKE(write_before, ul_tagged(u, 0xc140, w->wr.handle, w->wr.offset - 1, junk, 8))
MAKE(write_behind, ul_tagged(u, 0xc140, w->wr.handle, w->wr.offset + 65, junk, 1))
MAKE(write_wrap, ul_tagged(u, 0xc140, w->wr.handle, UINT64_MAX - 3, junk, 8))
MAKE(write_readonly, ul_tagged(u, 0xc140, w->rd.handle, w->rd.offset, junk, 8))
MAKE(write_sink, ul_tagged(u, 0xc140, w->read_stag, w->read_to, junk, 8))
MAKE(read_wild, ul_read(u, 1, 1, 2, 8, w->rd.handle + 1, w->rd.offset))
MAKE(read_end, ul_read(u, 1, 1, 2, 65, w->rd.handle, w->rd.offset))
MAKE(read_over, ul_read(u, 1, 1, 2, 8, w->rd.handle, w->rd.offset + 57))
MAKE(read_before, ul_read(u, 1, 1, 2, 8, w->rd.handle, w->rd.offset - 1))
MAKE(read_behind, ul_read(u, 1, 1, 2, 1, w->rd.handle, w->rd.offset + 65))
MAKE(read_huge, ul_read(u, 1, 1, 2, UINT32_MAX, w->rd.handle, w->rd.offset))
MAKE(read_wrap, ul_read(u, 1, 1, 2, 8, w->rd.handle, UINT64_MAX - 2))
MAKE(read_writeonly, ul_read(u, 1, 1, 2, 8, w->wr.handle, w->wr.offset))
MAKE(read_sink, ul_read(u, 1, 1, 2, 8, w->read_stag, w->read_to))
MAKE(read_msn, ul_read(u, 2, 1, 2, 8, w->rd.handle, w->rd.offset))
MAKE(read_short, ul_untagged(u, 0x4141, 0, 1, 1, 0, junk, 27))
MAKE(read_long, ul_untagged(u, 0x4141, 0, 1, 1, 0, junk, 29))
MAKE(read_offset, ul_untagged(u, 0x4141, 0, 1, 1, 4, junk, 28))
MAKE(read_not_last, ul_untagged(u, 0x0141, 0, 1, 1, 0, junk, 28))
MAKE(send_msn_0, ul_untagged(u, 0x4143, 0, 0, 0, 0, junk, 4))
MAKE(send_msn_2, ul_untagged(u, 0x4143, 0, 0, 2, 0, junk, 4))
MAKE(send_msn_3, ul_untagged(u, 0x4143, 0, 0, 3, 0, junk, 4))
MAKE(send_msn_far, ul_untagged(u, 0x4143, 0, 0, 0xfffffff0, 0, junk, 4))
MAKE(send_mo, ul_untagged(u, 0x4143, 0, 0, 1, 1, junk, 4))
MAKE(send_long, ul_untagged(u, 0x4143, 0, 0, 1, 0, junk, 65))
MAKE(qn_3, ul_untagged(u, 0x4143, 0, 3, 1, 0, junk, 4))
MAKE(ddp_version_t, ul_tagged(u, 0xc040, w->wr.handle, w->wr.offset, junk, 4))
MAKE(ddp_version_u, ul_untagged(u, 0x4243, 0, 0, 1, 0, junk, 4))
MAKE(rdmap_version, ul_untagged(u, 0x4103, 0, 0, 1, 0, junk, 4))
MAKE(opcode_8, ul_untagged(u, 0x4148, 0, 0, 1, 0, junk, 8))
MAKE(opcode_15, ul_tagged(u, 0xc14f, w->wr.handle, w->wr.offset, junk, 4))
MAKE(write_untagged, ul_untagged(u, 0x4140, 0, 0, 1, 0, junk, 4))
MAKE(send_tagged, ul_tagged(u, 0xc143, w->wr.handle, w->wr.offset, junk, 4))
MAKE(send_on_qn_1, ul_untagged(u, 0x4143, 0, 1, 1, 0, junk, 28))
MAKE(read_on_qn_0, ul_untagged(u, 0x4141, 0, 0, 1, 0, junk, 28))
MAKE(term_on_qn_0, ul_untagged(u, 0x4147, 0, 0, 1, 0, junk, 4))
MAKE(term_tagged, ul_tagged(u, 0xc147, w->wr.handle, w->wr.offset, junk, 4))
MAKE(inv_wild, ul_untagged(u, 0x4144, w->wr.handle ^ 1, 0, 1, 0, junk, 4))
MAKE(inv_sink, ul_untagged(u, 0x4146, w->read_stag, 0, 1, 0, junk, 4))
MAKE(resp_stag, ul_tagged(u, 0xc142, w->read_stag ^ 1, w->read_to, junk, 64))
MAKE(resp_region, ul_tagged(u, 0xc142, w->wr.handle, w->wr.offset, junk, 64))
MAKE(resp_to, ul_tagged(u, 0xc142, w->read_stag, w->read_to + 1, junk, 64))
MAKE(resp_long, ul_tagged(u, 0xc142, w->read_stag, w->read_to, junk, 65))
MAKE(resp_short, ul_tagged(u, 0xc142, w->read_stag, w->read_to, junk, 63))
MAKE(resp_endless, ul_tagged(u, 0x8142, w->read_stag, w->read_to, junk, 64))
MAKE(resp_empty, ul_tagged(u, 0xc142, w->read_stag, w->read_to, junk, 0))
MAKE(ulpdu_empty, u->n = 0)
MAKE(ulpdu_13, ul_tagged(u, 0xc140, 0, 0, NULL, 0); u->n = 13)
MAKE(ulpdu_17, ul_untagged(u, 0x4143, 0, 0, 1, 0, NULL, 0); u->n = 17)

/* [RFC 5040 §4.8, RFC 5041 §8.2]: layer and type, code, what is returned */
static const struct row {
	const char *name;
	maker make;
	unsigned term; /* layer, type, code */
	unsigned ret;
} rows[] = {
        {"write_wild", write_wild, 0x1100, H},
        {"write_zero", write_zero, 0x1100, H},
        {"write_end", write_end, 0x1101, H},
        {"write_before", write_before, 0x1101, H},
        {"write_behind", write_behind, 0x1101, H},
        {"write_wrap", write_wrap, 0x1103, H},
        {"write_readonly", write_readonly, 0x0102, H},
        {"write_sink", write_sink, 0x1100, H},
        {"read_wild", read_wild, 0x0100, H | R},
        {"read_end", read_end, 0x0101, H | R},
        {"read_over", read_over, 0x0101, H | R},
        {"read_before", read_before, 0x0101, H | R},
        {"read_behind", read_behind, 0x0101, H | R},
        {"read_huge", read_huge, 0x0101, H | R},
        {"read_wrap", read_wrap, 0x0104, H | R},
        {"read_writeonly", read_writeonly, 0x0102, H | R},
        {"read_sink", read_sink, 0x0100, H | R},
        {"read_msn", read_msn, 0x1203, H},
        {"read_short", read_short, 0x02ff, H},
        {"read_long", read_long, 0x1205, H},
        {"read_offset", read_offset, 0x1204, H},
        {"read_not_last", read_not_last, 0x02ff, H},
        {"send_msn_0", send_msn_0, 0x1203, H},
        {"send_msn_2", send_msn_2, 0x1203, H},
        {"send_msn_3", send_msn_3, 0x1202, H},
        {"send_msn_far", send_msn_far, 0x1203, H},
        {"send_mo", send_mo, 0x1204, H},
        {"send_long", send_long, 0x1205, H},
        {"qn_3", qn_3, 0x1201, H},
        {"ddp_version_t", ddp_version_t, 0x1104, H},
        {"ddp_version_u", ddp_version_u, 0x1206, H},
        {"rdmap_version", rdmap_version, 0x0205, H},
        {"opcode_8", opcode_8, 0x0206, H},
        {"opcode_15", opcode_15, 0x0206, H},
        {"write_untagged", write_untagged, 0x0206, H},
        {"send_tagged", send_tagged, 0x0206, H},
        {"send_on_qn_1", send_on_qn_1, 0x0206, H},
        {"read_on_qn_0", read_on_qn_0, 0x0206, H},
        {"term_on_qn_0", term_on_qn_0, 0x0206, H},
        {"term_tagged", term_tagged, 0x0206, H},
        {"inv_wild", inv_wild, 0x0109, H},
        {"inv_sink", inv_sink, 0x0109, H},
        {"resp_stag", resp_stag, 0x1100, H},
        {"resp_region", resp_region, 0x1100, H},
        {"resp_to", resp_to, 0x1101, H},
        {"resp_long", resp_long, 0x1101, H},
        {"resp_short", resp_short, 0x02ff, H},
        {"resp_endless", resp_endless, 0x02ff, H},
        {"resp_empty", resp_empty, 0x02ff, H},
        {"ulpdu_empty", ulpdu_empty, 0x02ff, 0},
        {"ulpdu_13", ulpdu_13, 0x02ff, 0},
        {"ulpdu_17", ulpdu_17, 0x02ff, 0},
};

/* Two Receives, and a Read under way that the peer does not answer. */
static void world_open(struct world *w, const char *opts)
{
	struct rr_sge g = {w->sink, 64, 0};
	const uint8_t *p;
	struct rr_ep *ep;
	size_t len;

	memset(w->mem, 0x5a, sizeof(w->mem));
	peer_start(&w->r, opts);
	ep = w->r.e.ep;
	for (unsigned i = 0; i < 2; i++) {
		struct rr_sge rs = {w->rbuf[i], 64, 0};

		assert_int_equal(OPS->post_recv(ep, &rs, 100 + i), 0);
	}
	assert_int_equal(
	        OPS->register_mem(ep, w->mem, 64, RR_ACCESS_REMOTE_WRITE, &w->wr), 0);
	assert_int_equal(
	        OPS->register_mem(ep, w->mem, 64, RR_ACCESS_REMOTE_READ, &w->rd), 0);
	assert_int_equal(OPS->post_read(ep, &g, 7, 8, 200), 0);
	end_flush(&w->r.e);
	p = peer_ulpdu(&w->r, &len);
	assert_int_equal(len, 46);
	assert_int_equal(bytes_get_be(p, 2), 0x4141);
	w->read_stag = (uint32_t)bytes_get_be(p + 18, 4);
	w->read_to = bytes_get_be(p + 22, 8);
	assert_int_equal(bytes_get_be(p + 30, 4), 64);
	assert_int_equal(bytes_get_be(p + 34, 4), 7);
	assert_int_equal(bytes_get_be(p + 38, 8), 8);
}

/* What was posted comes back once each, then the end, then nothing. */
static void world_ends(struct world *w, int status, unsigned recvs)
{
	struct rr_wc extra;

	end_expect_wc(&w->r.e, NULL, RR_WC_READ, 200, -ECANCELED);
	for (unsigned i = 2 - recvs; i < 2; i++)
		end_expect_wc(&w->r.e, NULL, RR_WC_RECV, 100 + i, -ECANCELED);
	end_expect_wc(&w->r.e, NULL, RR_WC_DISCONNECTED, 0, status);
	OPS->progress(w->r.e.ep, test_now());
	OPS->disconnect(w->r.e.ep, test_now());
	assert_int_equal(OPS->poll(w->r.e.ep, &extra, 1), 0);
	assert_int_equal(w->r.e.taken, w->r.e.n);
	assert_int_not_equal(OPS->reason(w->r.e.ep)[0], 0);
	assert_int_equal(OPS->deadline(w->r.e.ep), RR_TIME_NEVER);
	assert_int_equal(OPS->events(w->r.e.ep), 0);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(w->mem[i], 0x5a);
	peer_fini(&w->r);
}

static void expect_terminate(struct world *w, unsigned term, unsigned ret,
                             const struct bytes *bad)
{
	static struct bytes want;
	size_t len, hlen = bad->n && bad->b[0] & 0x80 ? 14 : 18;
	const uint8_t *p = peer_ulpdu(&w->r, &len);

	ul_untagged(&want, 0x4147, 0, 2, 1, 0, NULL, 0);
	bytes_put_be(&want, term, 2);
	bytes_put_be(&want, (ret & H ? 0xc000 : 0) | (ret & R ? 0x2000 : 0), 2);
	if (ret & H) {
		bytes_put_be(&want, bad->n, 2);
		bytes_put(&want, bad->b, hlen);
	}
	if (ret & R)
		bytes_put(&want, bad->b + hlen, 28);
	assert_int_equal(len, want.n);
	assert_memory_equal(p, want.b, len);
	peer_expect_eof(&w->r);
	peer_close(&w->r);
}

static void every_row(void **state)
{
	static struct world w;
	static struct bytes o;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		print_message("           %s\n", rows[i].name);
		world_open(&w, NULL);
		rows[i].make(&w, &w.u);
		o.n = 0;
		bytes_put_fpdu(&o, &w.u);
		/* what follows an error is dropped in silence */
		add_tagged(&o, 0xc140, w.wr.handle, w.wr.offset, junk, 8);
		peer_send(&w.r, o.b, o.n);
		expect_terminate(&w, rows[i].term, rows[i].ret, &w.u);
		world_ends(&w, -EREMOTEIO, 2);
	}
}

/* One octet after the length wrong, wherever it is. */
static void bad_crc(void **state)
{
	static struct world w;
	static struct bytes o;

	for (unsigned i = 2; i < 28; i++) {
		world_open(&w, NULL);
		ul_tagged(&w.u, 0xc140, w.wr.handle, w.wr.offset, junk, 8);
		o.n = 0;
		bytes_put_fpdu(&o, &w.u);
		assert_int_equal(o.n, 28);
		o.b[i] ^= 0x04;
		peer_send(&w.r, o.b, o.n);
		expect_terminate(&w, 0x2002, 0, &w.u);
		world_ends(&w, -EREMOTEIO, 2);
	}
}

/* A large segment, received in place, with its last octet wrong. */
static void bad_crc_large(void **state)
{
	static struct world w;
	static struct bytes o;
	static uint8_t big[60000];
	struct rr_region reg;

	world_open(&w, NULL);
	assert_int_equal(OPS->register_mem(w.r.e.ep, big, sizeof(big),
	                                   RR_ACCESS_REMOTE_WRITE, &reg),
	                 0);
	o.n = 0;
	add_tagged(&o, 0xc140, reg.handle, reg.offset, big, sizeof(big));
	o.b[o.n - 1] ^= 1;
	peer_send(&w.r, o.b, 1000);
	peer_step(&w.r, 10);
	peer_send(&w.r, o.b + 1000, o.n - 1000);
	expect_terminate(&w, 0x2002, 0, &w.u);
	world_ends(&w, -EREMOTEIO, 2);
}

/* A wrong header of a large segment is judged after the CRC. */
static void wild_large(void **state)
{
	static struct world w;
	static struct bytes o;
	static uint8_t big[60000];

	world_open(&w, NULL);
	ul_tagged(&w.u, 0xc140, 1, 2, big, sizeof(big));
	o.n = 0;
	bytes_put_fpdu(&o, &w.u);
	peer_send(&w.r, o.b, 1000);
	peer_step(&w.r, 10);
	peer_send(&w.r, o.b + 1000, o.n - 1000);
	expect_terminate(&w, 0x1100, H, &w.u);
	world_ends(&w, -EREMOTEIO, 2);
}

static void no_receive_left(void **state)
{
	static struct world w;
	static struct bytes o;

	world_open(&w, NULL);
	o.n = 0;
	add_untagged(&o, 0x4143, 0, 0, 1, 0, "one", 3);
	add_untagged(&o, 0x4145, 0, 0, 2, 0, "three", 5);
	ul_untagged(&w.u, 0x4143, 0, 0, 3, 0, "x", 1);
	bytes_put_fpdu(&o, &w.u);
	peer_send(&w.r, o.b, o.n);
	expect_terminate(&w, 0x1202, H, &w.u);
	assert_int_equal(end_expect_wc(&w.r.e, NULL, RR_WC_RECV, 100, 0)->len, 3);
	assert_int_equal(end_expect_wc(&w.r.e, NULL, RR_WC_RECV, 101, 0)->len, 5);
	assert_memory_equal(w.rbuf[1], "three", 5);
	world_ends(&w, -EREMOTEIO, 0);
}

/* The sum of the segments counts, not each of them. */
static void too_long_in_segments(void **state)
{
	static struct world w;
	static struct bytes o;

	world_open(&w, NULL);
	o.n = 0;
	add_untagged(&o, 0x0143, 0, 0, 1, 0, junk, 40);
	ul_untagged(&w.u, 0x4143, 0, 0, 1, 40, junk, 25);
	bytes_put_fpdu(&o, &w.u);
	peer_send(&w.r, o.b, o.n);
	expect_terminate(&w, 0x1205, H, &w.u);
	world_ends(&w, -EREMOTEIO, 2);
}

/* Nor may one begin within the one before. */
static void segments_that_overlap(void **state)
{
	static struct world w;
	static struct bytes o;

	world_open(&w, NULL);
	o.n = 0;
	add_untagged(&o, 0x0143, 0, 0, 1, 0, junk, 40);
	ul_untagged(&w.u, 0x4143, 0, 0, 1, 39, junk, 8);
	bytes_put_fpdu(&o, &w.u);
	peer_send(&w.r, o.b, o.n);
	expect_terminate(&w, 0x1204, H, &w.u);
	world_ends(&w, -EREMOTEIO, 2);
}

static void too_many_reads(void **state)
{
	static struct world w;
	static struct bytes o;

	world_open(&w, "ird=2");
	o.n = 0;
	for (uint32_t i = 1; i <= 3; i++) {
		ul_read(&w.u, i, 1, 2, 64, w.rd.handle, w.rd.offset);
		bytes_put_fpdu(&o, &w.u);
	}
	peer_send(&w.r, o.b, o.n);
	expect_terminate(&w, 0x1202, H, &w.u);
	world_ends(&w, -EREMOTEIO, 2);
}

static void response_without_read(void **state)
{
	static struct world w;
	static struct bytes o;

	world_open(&w, NULL);
	assert_int_equal(OPS->invalidate(w.r.e.ep, w.read_stag, 1), -EINVAL);
	o.n = 0;
	add_tagged(&o, 0xc142, w.read_stag, w.read_to, junk, 64);
	ul_tagged(&w.u, 0xc142, w.read_stag, w.read_to, junk, 64);
	bytes_put_fpdu(&o, &w.u);
	peer_send(&w.r, o.b, o.n);
	expect_terminate(&w, 0x0206, H, &w.u);
	end_expect_wc(&w.r.e, NULL, RR_WC_READ, 200, 0);
	end_expect_wc(&w.r.e, NULL, RR_WC_RECV, 100, -ECANCELED);
	end_expect_wc(&w.r.e, NULL, RR_WC_RECV, 101, -ECANCELED);
	end_expect_wc(&w.r.e, NULL, RR_WC_DISCONNECTED, 0, -EREMOTEIO);
	peer_fini(&w.r);
}

/* Before a good FPDU a responder says nothing, not even Terminate. */
static void first_fpdu_bad(void **state)
{
	static struct peer r;
	static struct bytes o;

	peer_client(&r, NULL, 0);
	o.n = 0;
	bytes_put(&o, REQ1, 20);
	add_rtr(&o);
	o.b[o.n - 1] ^= 1;
	peer_send(&r, o.b, o.n);
	assert_memory_equal(peer_need(&r, 20), REP1, 20);
	peer_expect_eof(&r);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -EREMOTEIO);
	peer_fini(&r);
}

static void peer_terminates(void **state)
{
	static const struct {
		uint8_t term[4];
		size_t len;
		int status;
		const char *why;
	} t[] = {
	        {{0x01, 0x00}, 4, -EREMOTEIO, "invalid handle (Terminate 0/1/0)"},
	        {{0x12, 0x05}, 4, -EREMOTEIO, "its buffer (Terminate 1/2/5)"},
	        {{0x20, 0x02}, 4, -EREMOTEIO, "CRC mismatch (Terminate 2/0/2)"},
	        {{0x20, 0x05}, 4, -ECONNRESET, "(Terminate 2/0/5)"},
	        {{0x00, 0x07}, 4, -ECONNRESET, "(Terminate 0/0/7)"},
	        {{0xff, 0xff}, 4, -EREMOTEIO, "unknown error (Terminate 15/15/255)"},
	        {{0}, 0, -ECONNRESET, "(Terminate 0/0/0)"},
	        {{0x21, 0x02, 0x40}, 4, -EREMOTEIO, "(Terminate 2/1/2)"},
	        /* siw's order, as Linux 6.1 on x86-64 sends it */
	        {{0x21, 0x02, 0x03},
	         4,
	         -EREMOTEIO,
	         "without a posted buffer (Terminate 1/2/2, fields in siw's order)"},
	        {{0x10, 0x02, 0x07},
	         4,
	         -EREMOTEIO,
	         "access right missing (Terminate 0/1/2, fields in siw's order)"},
	        {{0x02, 0x02, 0x00},
	         4,
	         -EREMOTEIO,
	         "CRC mismatch (Terminate 2/0/2, fields in siw's order)"},
	};
	static struct world w;
	static struct bytes o;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		world_open(&w, NULL);
		o.n = 0;
		add_untagged(&o, 0x4147, 0, 2, 1, 0, t[i].term, t[i].len);
		add_untagged(&o, 0x4143, 0, 0, 1, 0, "late", 4);
		peer_send(&w.r, o.b, o.n);
		peer_expect_eof(&w.r);
		assert_non_null(strstr(OPS->reason(w.r.e.ep), t[i].why));
		peer_close(&w.r);
		world_ends(&w, t[i].status, 2);
	}
}

static void peer_vanishes(void **state)
{
	static struct world w;
	static struct bytes o;
	static uint8_t big[60000];
	struct rr_region reg;
	struct linger l = {1, 0};

	/* in order */
	world_open(&w, NULL);
	peer_close(&w.r);
	world_ends(&w, 0, 2);
	/* by reset */
	world_open(&w, NULL);
	setsockopt(w.r.fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	peer_close(&w.r);
	world_ends(&w, -ECONNRESET, 2);
	/* in the middle of an FPDU, wherever */
	for (size_t cut = 1; cut < 28; cut++) {
		world_open(&w, NULL);
		o.n = 0;
		add_tagged(&o, 0xc140, w.wr.handle, w.wr.offset, junk, 8);
		peer_send(&w.r, o.b, cut);
		peer_close(&w.r);
		world_ends(&w, -ECONNRESET, 2);
	}
	/* in a large one, of which the octets so far are in their place */
	world_open(&w, NULL);
	assert_int_equal(OPS->register_mem(w.r.e.ep, big, sizeof(big),
	                                   RR_ACCESS_REMOTE_WRITE, &reg),
	                 0);
	o.n = 0;
	add_tagged(&o, 0xc140, reg.handle, reg.offset, big, sizeof(big));
	peer_send(&w.r, o.b, 1000);
	peer_step(&w.r, 10);
	peer_close(&w.r);
	world_ends(&w, -ECONNRESET, 2);
	/* between the segments of a message */
	world_open(&w, NULL);
	o.n = 0;
	add_untagged(&o, 0x0143, 0, 0, 1, 0, junk, 8);
	peer_send(&w.r, o.b, o.n);
	peer_close(&w.r);
	world_ends(&w, -ECONNRESET, 2);
}

/* The peer neither reads nor closes: the end takes a second, not longer. */
static void silent_peer(void **state)
{
	static struct world w;
	static struct bytes o;
	rr_time t;

	world_open(&w, NULL);
	t = test_now();
	OPS->disconnect(w.r.e.ep, t);
	OPS->disconnect(w.r.e.ep, t);
	assert_int_equal(OPS->post_send(w.r.e.ep, NULL, 0, 0, 1), -ENOTCONN);
	world_ends(&w, 0, 2);
	assert_in_range(test_now() - t, RR_MS(900), RR_MS(1500));

	world_open(&w, NULL);
	t = test_now();
	o.n = 0;
	add_tagged(&o, 0xc140, 1, 2, junk, 8);
	peer_send(&w.r, o.b, o.n);
	world_ends(&w, -EREMOTEIO, 2);
	assert_in_range(test_now() - t, RR_MS(900), RR_MS(1500));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_row),
	        cmocka_unit_test(bad_crc),
	        cmocka_unit_test(bad_crc_large),
	        cmocka_unit_test(wild_large),
	        cmocka_unit_test(no_receive_left),
	        cmocka_unit_test(too_long_in_segments),
	        cmocka_unit_test(segments_that_overlap),
	        cmocka_unit_test(too_many_reads),
	        cmocka_unit_test(response_without_read),
	        cmocka_unit_test(first_fpdu_bad),
	        cmocka_unit_test(peer_terminates),
	        cmocka_unit_test(peer_vanishes),
	        cmocka_unit_test(silent_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
