/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The group that is being received: each row of the table in [ext §5.7].
 * NS-rtrext-10, NS-rtrext-11, NS-rtrext-24, NS-s19-04.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conn/rtr/rtr_group.h"

enum { XID = 0x11223344 };

static struct rr_rtr_error report;

static struct rr_rtr_group open_group(uint32_t itype, uint32_t count)
{
	struct rr_rtr_group g = {0};

	rr_rtr_group_begin(&g, XID, itype, count);
	assert_int_equal(g.phase, RR_RTR_GROUP_OPEN);
	return g;
}

static enum rr_rtr_step next(struct rr_rtr_group *g, uint32_t xid, bool response,
                             uint32_t itype, uint32_t xnum)
{
	const struct rr_rtr_cont k = {.xnum = xnum, .itype = itype};

	memset(&report, 0, sizeof(report));
	return rr_rtr_group_next(g, xid, response, &k, &report);
}

static void expect_pair(const struct rr_rtr_group *g, uint32_t code, uint32_t seq,
                        uint32_t expect, uint32_t current)
{
	assert_int_equal(g->phase, RR_RTR_GROUP_SKIPPING);
	assert_int_equal(report.code, code);
	assert_int_equal(report.bad.seq, seq);
	assert_true(report.has_lead);
	assert_int_equal(report.lead.xid, XID);
	assert_int_equal(report.lead.seq, 0);
	assert_int_equal(report.arg[0], expect);
	assert_int_equal(report.arg[1], current);
}

static void transmissions_follow_by_number(void **state)
{
	struct rr_rtr_group g = open_group(RDMA2_XMOPT_REQ, 3);

	(void)state;
	assert_int_equal(next(&g, XID, false, RDMA2_XMOPT_REQ, 1), RR_RTR_STEP_TAKE);
	assert_int_equal(next(&g, XID, false, RDMA2_XMOPT_REQ, 2), RR_RTR_STEP_LAST);
	assert_int_equal(g.phase, RR_RTR_GROUP_IDLE);
	g = open_group(RDMA2_XMOPT_RESP, 2);
	assert_int_equal(next(&g, XID, true, RDMA2_XMOPT_RESP, 1), RR_RTR_STEP_LAST);
	rr_rtr_group_begin(&g, XID, RDMA2_XMOPT_REQ, 1);
	assert_int_equal(g.phase, RR_RTR_GROUP_IDLE);
}

static void a_wrong_xid_is_reported(void **state)
{
	struct rr_rtr_group g = open_group(RDMA2_XMOPT_REQ, 3);

	(void)state;
	assert_int_equal(next(&g, 7, false, RDMA2_XMOPT_REQ, 1), RR_RTR_STEP_REPORT);
	expect_pair(&g, OPTRERR_BADXID, 1, XID, 7);
	assert_int_equal(report.bad.xid, 7);
	g = open_group(RDMA2_XMOPT_RESP, 3); /* the other direction */
	assert_int_equal(next(&g, XID, false, RDMA2_XMOPT_RESP, 1), RR_RTR_STEP_REPORT);
	expect_pair(&g, OPTRERR_BADXID, 1, XID, XID);
	assert_int_equal(report.bad.dir, 0);
	assert_int_equal(report.lead.dir, 1);
}

static void a_wrong_type_is_reported(void **state)
{
	struct rr_rtr_group g = open_group(RDMA2_XMOPT_REQ, 3);

	(void)state;
	assert_int_equal(next(&g, XID, false, RDMA2_XMOPT_RESP, 1), RR_RTR_STEP_REPORT);
	expect_pair(&g, OPTRERR_BADOMT, 1, RDMA2_XMOPT_REQ, RDMA2_XMOPT_RESP);
}

static void a_wrong_number_is_reported(void **state)
{
	struct rr_rtr_group g = open_group(RDMA2_XMOPT_REQ, 5);

	(void)state;
	assert_int_equal(next(&g, XID, false, RDMA2_XMOPT_REQ, 2), RR_RTR_STEP_REPORT);
	expect_pair(&g, OPTRERR_BADSEQ, 1, 1, 2);
	for (uint32_t i = 2; i < 5; i++) /* the rest is dropped, of any XID */
		assert_int_equal(next(&g, i == 4 ? 9 : XID, false, RDMA2_XMOPT_REQ, i),
		                 RR_RTR_STEP_DROP);
	assert_int_equal(g.phase, RR_RTR_GROUP_SKIPPING);
	assert_false(rr_rtr_group_other(&g, 1, false, RDMA2_MSG, &report));
	assert_int_equal(g.phase, RR_RTR_GROUP_IDLE);
}

static void a_continuation_without_a_group_is_reported_once(void **state)
{
	struct rr_rtr_group g = {0};

	(void)state;
	assert_int_equal(next(&g, XID, false, RDMA2_XMOPT_REQ, 4), RR_RTR_STEP_REPORT);
	assert_int_equal(report.code, OPTRERR_BADCONT);
	assert_int_equal(report.bad.xid, XID);
	assert_int_equal(report.bad.seq, 4);
	assert_false(report.has_lead);
	assert_int_equal(next(&g, XID, false, RDMA2_XMOPT_REQ, 5), RR_RTR_STEP_DROP);
	rr_rtr_group_begin(&g, XID, RDMA2_XMOPT_REQ, 1);
	assert_int_equal(g.phase, RR_RTR_GROUP_IDLE);
}

static void another_type_in_a_group_is_reported(void **state)
{
	struct rr_rtr_group g = open_group(RDMA2_XMOPT_REQ, 3);

	(void)state;
	assert_true(rr_rtr_group_other(&g, 7, false, RDMA2_MSG, &report));
	expect_pair(&g, OPTRERR_BADHMT, 1, RDMA2_XMOPT_CONT, RDMA2_MSG);
	assert_int_equal(next(&g, XID, false, RDMA2_XMOPT_REQ, 1), RR_RTR_STEP_DROP);
	assert_false(rr_rtr_group_other(&g, 7, false, RDMA2_MSG, &report));
	assert_false(rr_rtr_group_other(&g, 7, false, RDMA2_MSG, &report));
}

static void another_optional_type_in_a_group_is_reported(void **state)
{
	static const uint32_t type[] = {RDMA2_XMOPT_REQ, RDMA2_XMOPT_RESP,
	                                RDMA2_XMOPT_ERR};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(type); i++) {
		struct rr_rtr_group g = open_group(RDMA2_XMOPT_REQ, 3);

		assert_true(rr_rtr_group_other(&g, 7, false, type[i], &report));
		expect_pair(&g, OPTRERR_BADOMT, 1, RDMA2_XMOPT_CONT, type[i]);
	}
}

static void a_new_group_may_follow_a_lost_one(void **state)
{
	struct rr_rtr_group g = open_group(RDMA2_XMOPT_REQ, 3);

	(void)state;
	rr_rtr_group_refuse(&g);
	assert_int_equal(g.phase, RR_RTR_GROUP_SKIPPING);
	rr_rtr_group_refuse(&g);
	rr_rtr_group_begin(&g, 5, RDMA2_XMOPT_REQ, 2);
	assert_int_equal(next(&g, 5, false, RDMA2_XMOPT_REQ, 1), RR_RTR_STEP_LAST);
	rr_rtr_group_refuse(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(transmissions_follow_by_number),
	        cmocka_unit_test(a_wrong_xid_is_reported),
	        cmocka_unit_test(a_wrong_type_is_reported),
	        cmocka_unit_test(a_wrong_number_is_reported),
	        cmocka_unit_test(a_continuation_without_a_group_is_reported_once),
	        cmocka_unit_test(another_type_in_a_group_is_reported),
	        cmocka_unit_test(another_optional_type_in_a_group_is_reported),
	        cmocka_unit_test(a_new_group_may_follow_a_lost_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
