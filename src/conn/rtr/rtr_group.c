/* SPDX-License-Identifier: BSD-3-Clause */
/* See rtr_group.h. */
#include "conn/rtr/rtr_group.h"

static void move_group(struct rr_rtr_group *g, enum rr_rtr_group_event by,
                       enum rr_rtr_group_phase to)
{
	RR_MACHINE_MOVE(rr_rtr_group_machine, g->phase, by, to);
	g->phase = to;
}

void rr_rtr_group_begin(struct rr_rtr_group *g, uint32_t xid, uint32_t itype,
                        uint32_t count)
{
	if (count == 1) {
		move_group(g, RR_RTR_GROUP_EV_WHOLE, RR_RTR_GROUP_IDLE);
		return;
	}
	move_group(g, RR_RTR_GROUP_EV_LEAD, RR_RTR_GROUP_OPEN);
	g->xid = xid;
	g->itype = itype;
	g->count = count;
	g->next = 1;
}

void rr_rtr_group_refuse(struct rr_rtr_group *g)
{
	move_group(g, RR_RTR_GROUP_EV_REFUSE, RR_RTR_GROUP_SKIPPING);
}

/* Fills a report about a message that does not belong in the open group. */
static void report_pair(const struct rr_rtr_group *g, uint32_t xid, bool response,
                        uint32_t code, uint32_t expect, uint32_t current,
                        struct rr_rtr_error *ret)
{
	*ret = (struct rr_rtr_error){
	        .bad = {xid, response, g->next},
	        .has_lead = true,
	        .lead = {g->xid, rr_rtr_group_responds(g), 0},
	        .code = code,
	        .arg = {expect, current},
	};
}

/* Returns true if the continuation is not the one that is awaited, and reports it. */
static bool is_misplaced(const struct rr_rtr_group *g, uint32_t xid, bool response,
                         const struct rr_rtr_cont *k, struct rr_rtr_error *ret)
{
	if (xid != g->xid || response != rr_rtr_group_responds(g))
		report_pair(g, xid, response, OPTRERR_BADXID, g->xid, xid, ret);
	else if (k->itype != g->itype)
		report_pair(g, xid, response, OPTRERR_BADOMT, g->itype, k->itype, ret);
	else if (k->xnum != g->next)
		report_pair(g, xid, response, OPTRERR_BADSEQ, g->next, k->xnum, ret);
	else
		return false;
	return true;
}

enum rr_rtr_step rr_rtr_group_next(struct rr_rtr_group *g, uint32_t xid, bool response,
                                   const struct rr_rtr_cont *k,
                                   struct rr_rtr_error *ret)
{
	if (g->phase == RR_RTR_GROUP_SKIPPING)
		return RR_RTR_STEP_DROP;
	if (g->phase == RR_RTR_GROUP_IDLE) {
		*ret = (struct rr_rtr_error){
		        .bad = {xid, response, k->xnum},
		        .code = OPTRERR_BADCONT,
		};
		rr_rtr_group_refuse(g);
		return RR_RTR_STEP_REPORT;
	}
	if (is_misplaced(g, xid, response, k, ret)) {
		rr_rtr_group_refuse(g);
		return RR_RTR_STEP_REPORT;
	}
	if (++g->next < g->count) {
		move_group(g, RR_RTR_GROUP_EV_NEXT, RR_RTR_GROUP_OPEN);
		return RR_RTR_STEP_TAKE;
	}
	move_group(g, RR_RTR_GROUP_EV_LAST, RR_RTR_GROUP_IDLE);
	return RR_RTR_STEP_LAST;
}

bool rr_rtr_group_ends(const struct rr_rtr_group *g, uint32_t xid, bool response,
                       const struct rr_rtr_cont *k)
{
	return response && rr_rtr_group_responds(g) && xid == g->xid &&
	       k->xnum == g->count - 1;
}

/* The message that interrupts a group does not end the skipping of the group's
 * continuations, which follow it. */
bool rr_rtr_group_other(struct rr_rtr_group *g, uint32_t xid, bool response,
                        uint32_t htype, struct rr_rtr_error *ret)
{
	bool xmopt = htype == RDMA2_XMOPT_REQ || htype == RDMA2_XMOPT_RESP ||
	             htype == RDMA2_XMOPT_ERR;

	if (g->phase != RR_RTR_GROUP_OPEN) {
		move_group(g, RR_RTR_GROUP_EV_OTHER, RR_RTR_GROUP_IDLE);
		return false;
	}
	report_pair(g, xid, response, xmopt ? OPTRERR_BADOMT : OPTRERR_BADHMT,
	            RDMA2_XMOPT_CONT, htype, ret);
	move_group(g, RR_RTR_GROUP_EV_OTHER, RR_RTR_GROUP_SKIPPING);
	return true;
}

RR_MACHINE(rr_rtr_group_machine, RR_RTR_GROUP)
