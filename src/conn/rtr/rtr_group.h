/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The group of transmissions that is being received, as a state machine.
 *                                                                       [ext §5.7]
 *
 * A connection receives at most one group at a time.  The functions below only decide;
 * the caller keeps the transmissions, and sends the reports.
 */
#ifndef RR_CONN_RTR_GROUP_H
#define RR_CONN_RTR_GROUP_H

#include "conn/rtr/rtr_states.h"
#include "wire/rtr/rtr_wire.h"

struct rr_rtr_group {
	enum rr_rtr_group_phase phase;
	uint32_t xid;
	uint32_t itype; /* RDMA2_XMOPT_REQ or RDMA2_XMOPT_RESP */
	uint32_t count; /* transmissions */
	uint32_t next;  /* number of the transmission that is awaited */
};

/* How a continuation is to be treated. */
enum rr_rtr_step {
	RR_RTR_STEP_TAKE,   /* keep it; more are awaited */
	RR_RTR_STEP_LAST,   /* keep it; the group is complete */
	RR_RTR_STEP_DROP,   /* drop it silently */
	RR_RTR_STEP_REPORT, /* report it, and drop it and the group */
};

/* Returns true if the open group is a response. */
static inline bool rr_rtr_group_responds(const struct rr_rtr_group *g)
{
	return g->itype == RDMA2_XMOPT_RESP;
}
/* Accepts the first transmission of a group, or a message in one transmission.  No
 * group may be open. */
void rr_rtr_group_begin(struct rr_rtr_group *, uint32_t xid, uint32_t itype,
                        uint32_t count);
/* Judges a continuation, and fills @ret if it is to be reported. */
enum rr_rtr_step rr_rtr_group_next(struct rr_rtr_group *, uint32_t xid, bool response,
                                   const struct rr_rtr_cont *,
                                   struct rr_rtr_error *ret) RR_MUST_CHECK;
/* Returns true if the refused group is a response, and if this continuation, which was
 * dropped, is the last one of that group. */
bool rr_rtr_group_ends(const struct rr_rtr_group *, uint32_t xid, bool response,
                       const struct rr_rtr_cont *) RR_MUST_CHECK;
/* Notes a message of another type.  Returns true, and fills @ret, if it is to be
 * reported because a group was open.  The group is then to be dropped. */
bool rr_rtr_group_other(struct rr_rtr_group *, uint32_t xid, bool response,
                        uint32_t htype, struct rr_rtr_error *ret) RR_MUST_CHECK;
/* Notes that a transmission, or the open group, was refused. */
void rr_rtr_group_refuse(struct rr_rtr_group *);

#endif
