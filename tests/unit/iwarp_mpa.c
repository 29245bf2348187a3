/* SPDX-License-Identifier: BSD-3-Clause */
/* MPA frames and every combination that two sides can negotiate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prov/iwarp/mpa.h"

/* key, flags, revision, length; written down from RFC 5044 §7.1.1 */
static const uint8_t req_rev1[] = "MPA ID Req Frame"
                                  "\x40\x01\x00\x03"
                                  "abc";
/* RFC 6581 §7.1: A, C and D set; IRD 5, ORD 9 */
static const uint8_t req_rev2[] = "MPA ID Req Frame"
                                  "\xd0\x02\x00\x06"
                                  "\x80\x05\xc0\x09"
                                  "xy";
static const uint8_t rep_rev2[] = "MPA ID Rep Frame"
                                  "\x50\x02\x00\x04"
                                  "\x80\x40\x80\x05";
static const uint8_t rep_rejected[] = "MPA ID Rep Frame"
                                      "\x20\x01\x00\x00";

static struct rr_mpa_params make_params(bool crc, uint8_t rev, uint16_t ird,
                                        uint16_t ord)
{
	return (struct rr_mpa_params){
	        .crc = crc,
	        .rev = rev,
	        .ird = ird,
	        .ord = ord,
	        .default_ord = 2,
	        .p2p = true,
	};
}

static void reads_frames(void **state)
{
	struct rr_mpa_frame f;

	assert_int_equal(rr_mpa_get(req_rev1, sizeof(req_rev1) - 1, false, &f), 23);
	assert_true(f.crc && !f.markers && !f.enhanced && f.rev == 1);
	assert_int_equal(f.priv_len, 3);
	assert_memory_equal(f.priv, "abc", 3);
	assert_int_equal(rr_mpa_get(req_rev2, sizeof(req_rev2) - 1, false, &f), 26);
	assert_true(f.crc && f.markers && f.enhanced && f.p2p && f.rev == 2);
	assert_int_equal(f.rtr, RR_RTR_WRITE | RR_RTR_READ);
	assert_int_equal(f.ird, 5);
	assert_int_equal(f.ord, 9);
	assert_int_equal(f.priv_len, 2);
	assert_memory_equal(f.priv, "xy", 2);
	assert_int_equal(rr_mpa_get(rep_rejected, 20, true, &f), 20);
	assert_true(f.rejected && f.reply);
}

static void writes_the_same_bytes(void **state)
{
	static const struct {
		const uint8_t *b;
		size_t len;
		bool reply;
	} t[] = {
	        {req_rev1, sizeof(req_rev1) - 1, false},
	        {req_rev2, sizeof(req_rev2) - 1, false},
	        {rep_rev2, sizeof(rep_rev2) - 1, true},
	        {rep_rejected, sizeof(rep_rejected) - 1, true},
	};
	uint8_t out[RR_MPA_FRAME_MAX];
	struct rr_mpa_frame f;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		assert_int_equal(rr_mpa_get(t[i].b, t[i].len, t[i].reply, &f),
		                 t[i].len);
		assert_int_equal(rr_mpa_put(out, sizeof(out), &f), t[i].len);
		assert_memory_equal(out, t[i].b, t[i].len);
		assert_int_equal(rr_mpa_put(out, t[i].len - 1, &f), -EMSGSIZE);
		for (size_t k = 0; k < t[i].len; k++)
			assert_int_equal(rr_mpa_get(t[i].b, k, t[i].reply, &f),
			                 -EAGAIN);
		/* glued: octets behind are left alone */
		memcpy(out, t[i].b, t[i].len);
		out[t[i].len] = 0xff;
		assert_int_equal(rr_mpa_get(out, t[i].len + 1, t[i].reply, &f),
		                 t[i].len);
	}
}

static void refuses_garbage(void **state)
{
	uint8_t b[RR_MPA_FRAME_MAX + 8];
	struct rr_mpa_frame f;

	memset(b, 0, sizeof(b));
	for (unsigned i = 0; i < 16; i++) {
		memcpy(b, req_rev1, 20);
		b[i] ^= 0x20;
		assert_int_equal(rr_mpa_get(b, i + 1, false, &f), -EPROTO);
		assert_int_equal(rr_mpa_get(b, 20, false, &f), -EPROTO);
	}
	/* the other side's key */
	assert_int_equal(rr_mpa_get(req_rev1, 20, true, &f), -EPROTO);
	assert_int_equal(rr_mpa_get(rep_rejected, 20, false, &f), -EPROTO);
	/* private data of 513 */
	memcpy(b, req_rev1, 20);
	b[18] = 2;
	b[19] = 1;
	assert_int_equal(rr_mpa_get(b, sizeof(b), false, &f), -EPROTO);
	b[19] = 0;
	assert_int_equal(rr_mpa_get(b, sizeof(b), false, &f), 532);
	/* enhanced without room for IRD and ORD */
	memcpy(b, req_rev2, 20);
	b[19] = 3;
	assert_int_equal(rr_mpa_get(b, sizeof(b), false, &f), -EPROTO);
	/* S before revision 2 is a reserved bit */
	b[17] = 1;
	assert_int_equal(rr_mpa_get(b, sizeof(b), false, &f), 23);
	assert_false(f.enhanced);
	/* nor does R mean anything in a Request */
	memcpy(b, req_rev1, 23);
	b[16] |= 0x20;
	assert_int_equal(rr_mpa_get(b, 23, false, &f), 23);
	assert_false(f.rejected);
	/* B, C and D mean nothing without A */
	memcpy(b, req_rev2, 26);
	b[20] = 0;
	assert_int_equal(rr_mpa_get(b, sizeof(b), false, &f), 26);
	assert_false(f.p2p);
	assert_int_equal(f.rtr, 0);
	f.priv_len = 509;
	assert_int_equal(rr_mpa_put(b, sizeof(b), &f), -EMSGSIZE);
}

/* Request and Reply through bytes, both ends' deals compared. */
static void negotiate(const struct rr_mpa_params *ci, const struct rr_mpa_params *si,
                      bool peer_markers)
{
	uint8_t b[RR_MPA_FRAME_MAX];
	struct rr_mpa_frame req, rep, got;
	struct rr_mpa_agreement cd, sd;
	ssize_t n;
	int rc;

	rr_mpa_request(ci, &req);
	assert_false(req.markers);
	req.markers = peer_markers;
	n = rr_mpa_put(b, sizeof(b), &req);
	assert_true(n > 0);
	assert_int_equal(rr_mpa_get(b, (size_t)n, false, &got), n);
	rc = rr_mpa_answer(si, &got, &rep, &sd);
	if (si->rev < ci->rev) {
		assert_int_equal(rc, -EPROTONOSUPPORT);
		return;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(rep.rev, ci->rev);
	assert_false(rep.markers);
	n = rr_mpa_put(b, sizeof(b), &rep);
	assert_int_equal(rr_mpa_get(b, (size_t)n, true, &got), n);
	assert_int_equal(rr_mpa_conclude(ci, &req, &got, &cd), 0);
	assert_int_equal(cd.crc, ci->crc || si->crc);
	assert_int_equal(sd.crc, cd.crc);
	assert_int_equal(sd.send_markers, peer_markers);
	assert_false(cd.send_markers);
	if (ci->rev == 1) {
		assert_int_equal(cd.ord, RR_MIN(ci->ord, 2)); /* nobody said */
		assert_int_equal(sd.ord, RR_MIN(si->ord, 2));
		assert_int_equal(cd.ird, ci->ird);
		assert_int_equal(sd.ird, si->ird);
		return;
	}
	assert_true(cd.ord <= sd.ird && cd.ord <= ci->ord);
	assert_true(sd.ord <= cd.ird && sd.ord <= si->ord);
	assert_int_equal(cd.ord, RR_MIN(ci->ord, RR_MAX(si->ird, ci->p2p)));
	assert_int_equal(sd.ord, RR_MIN(si->ord, ci->ird));
	assert_int_equal(cd.rtr, ci->p2p ? RR_RTR_WRITE : 0);
}

static void every_combination(void **state)
{
	static const uint16_t depth[] = {0, 1, 7, 64};

	for (unsigned i = 0; i < 4 * 4 * 4 * 4 * 64; i++) {
		unsigned k = i;
		struct rr_mpa_params c, s;

		c = make_params(k & 1, (uint8_t)(1 + (k >> 1 & 1)), depth[k >> 6 & 3],
		                depth[k >> 8 & 3]);
		s = make_params(k >> 2 & 1, (uint8_t)(1 + (k >> 3 & 1)),
		                depth[k >> 10 & 3], depth[k >> 12 & 3]);
		c.p2p = k >> 5 & 1;
		negotiate(&c, &s, k >> 4 & 1);
	}
}

static void no_automatic_depths(void **state)
{
	struct rr_mpa_params w = make_params(true, 2, 8, 9);
	struct rr_mpa_frame req = {.rev = 2,
	                           .enhanced = true,
	                           .ird = RR_MPA_NO_NEGO,
	                           .ord = RR_MPA_NO_NEGO};
	struct rr_mpa_frame rep;
	struct rr_mpa_agreement d;

	assert_int_equal(rr_mpa_answer(&w, &req, &rep, &d), 0);
	assert_int_equal(rep.ird, RR_MPA_NO_NEGO);
	assert_int_equal(rep.ord, RR_MPA_NO_NEGO);
	assert_int_equal(d.ird, 8);
	assert_int_equal(d.ord, 9);
	rr_mpa_request(&w, &req);
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), 0);
	assert_int_equal(d.ird, 8);
	assert_int_equal(d.ord, 9);
}

static void rtr_forms(void **state)
{
	struct rr_mpa_params w = make_params(true, 2, 0, 4);
	struct rr_mpa_frame req = {.rev = 2, .enhanced = true, .p2p = true};
	struct rr_mpa_frame rep;
	struct rr_mpa_agreement d;

	for (unsigned forms = 0; forms < 8; forms++) {
		req.rtr = forms;
		assert_int_equal(rr_mpa_answer(&w, &req, &rep, &d), 0);
		assert_true(rep.p2p);
		assert_int_not_equal(rep.rtr, 0);
		if (forms & (RR_RTR_WRITE | RR_RTR_READ))
			assert_int_equal(rep.rtr, forms & ~(unsigned)RR_RTR_SEND);
		else if (forms)
			assert_int_equal(rep.rtr, forms);
		if (rep.rtr & RR_RTR_READ) /* it needs one */
			assert_int_equal(rep.ird, 1);
	}
}

static void bad_replies(void **state)
{
	struct rr_mpa_params w = make_params(true, 2, 4, 4);
	struct rr_mpa_frame req,
	        rep = {.reply = true, .rev = 2, .enhanced = true, .ird = 4, .ord = 4};
	struct rr_mpa_agreement d;

	rr_mpa_request(&w, &req);
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), 0);
	assert_int_equal(d.rtr, 0); /* the responder does not know RTR: fine */
	rep.ord = 5;
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), -ERANGE);
	rep.ord = 4;
	rep.p2p = true;
	rep.rtr = RR_RTR_SEND;
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), -ENOMSG);
	rep.rtr = RR_RTR_READ;
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), 0);
	assert_int_equal(d.rtr, RR_RTR_READ);
	rep.rejected = true;
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), -ECONNREFUSED);
	rep.rejected = false;
	rep.enhanced = false;
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), -EPROTO);
	rep.enhanced = true;
	rep.rev = 3;
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), -EPROTO);
	rep.rev = 0;
	assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), -EPROTO);
}

/* What our own responder would not say, but another may.  [RFC 5044 §7.1] */
static void odd_replies(void **state)
{
	struct rr_mpa_frame req,
	        rep = {.reply = true, .rev = 2, .enhanced = true, .ird = 4, .ord = 4};
	struct rr_mpa_agreement d;

	for (unsigned i = 0; i < 4; i++) { /* CRC if either asks for it */
		struct rr_mpa_params w = make_params(i & 1, 2, 4, 4);

		rr_mpa_request(&w, &req);
		rep.crc = i & 2;
		rep.markers = i == 1;
		assert_int_equal(rr_mpa_conclude(&w, &req, &rep, &d), 0);
		assert_int_equal(d.crc, i != 0);
		assert_int_equal(d.send_markers, i == 1);
	}
	/* too many Reads, and no RTR message in common: the first is said */
	rep.ord = 5;
	rep.p2p = true;
	rep.rtr = RR_RTR_SEND;
	assert_int_equal(
	        rr_mpa_conclude(
	                &(struct rr_mpa_params){.rev = 2, .ird = 4, .p2p = true}, &req,
	                &rep, &d),
	        -ERANGE);
}

static void request_revisions(void **state)
{
	struct rr_mpa_params w = make_params(true, 2, 4, 4);
	struct rr_mpa_frame req = {.rev = 0}, rep;
	struct rr_mpa_agreement d;

	assert_int_equal(rr_mpa_answer(&w, &req, &rep, &d), -EPROTONOSUPPORT);
	req.rev = 3;
	assert_int_equal(rr_mpa_answer(&w, &req, &rep, &d), -EPROTONOSUPPORT);
	req.rev = 2; /* not enhanced: answered in kind */
	assert_int_equal(rr_mpa_answer(&w, &req, &rep, &d), 0);
	assert_int_equal(d.ord, 2);
	assert_false(rep.enhanced);
	assert_int_equal(rep.rev, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(reads_frames),
	        cmocka_unit_test(writes_the_same_bytes),
	        cmocka_unit_test(refuses_garbage),
	        cmocka_unit_test(every_combination),
	        cmocka_unit_test(no_automatic_depths),
	        cmocka_unit_test(rtr_forms),
	        cmocka_unit_test(bad_replies),
	        cmocka_unit_test(odd_replies),
	        cmocka_unit_test(request_revisions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
