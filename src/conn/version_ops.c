/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of version 2 (version1.c has the operations of version 1), and the
 * choice between the versions. */
#include "conn/core.h"

static void take_v2_credits(struct rr_conn *c, const struct rr_msg *m)
{
	rr_credit_apply(&c->credit, m->p.credit);
}

static bool has_credit(const struct rr_conn *c)
{
	return c->credit.avail > 0;
}

static bool may_call_v2(const struct rr_conn *c)
{
	return rr_credit_may_call(&c->credit, c->n_serving > 0);
}

static uint32_t spend_v2(struct rr_conn *c, bool call)
{
	(void)call; /* every message costs one credit */
	rr_tx_withhold(c);
	return rr_credit_spend(&c->credit);
}

static uint32_t idle_word(const struct rr_conn *c)
{
	return c->credit.ceiling << 16 | 1;
}

static void fill_v2_info(const struct rr_conn *c, struct rr_conn_info *ret)
{
	ret->cap = c->credit.cap;
	ret->avail = c->credit.avail;
	ret->owed = c->credit.owed;
}

const struct rr_version_ops rr_v2_ops = {
        .vers = RPCRDMA_VERSION_TWO,
        .prefix_bytes = RR_WIRE_PREFIX,
        .empty_bytes = RR_WIRE_EMPTY_MSG,
        .least = RR_WIRE_PREFIX,
        .get_prefix = rr_wire_get_prefix,
        .get_lists = rr_wire_get_lists,
        .get_error = rr_wire_get_error,
        .put_prefix = rr_wire_put_prefix,
        .put_lists = rr_wire_put_lists,
        .put_error = rr_wire_put_error,
        .lists_size = rr_wire_lists_size,
        .properties = true,
        .continues = true,
        .grants = true,
        .names_handle = true,
        .received = rr_recv_v2,
        .credited = take_v2_credits,
        .may_send = has_credit,
        .may_call = may_call_v2,
        .spend = spend_v2,
        .idle_word = idle_word,
        .fill_info = fill_v2_info,
};

const struct rr_version_ops *rr_version_ops_highest(unsigned versions)
{
	return versions & RR_CONN_V2 ? &rr_v2_ops : &rr_v1_ops;
}

const struct rr_version_ops *rr_version_ops_within(unsigned versions, uint32_t low,
                                                   uint32_t high)
{
	if ((versions & RR_CONN_V2) && low <= 2 && high >= 2)
		return &rr_v2_ops;
	if ((versions & RR_CONN_V1) && low <= 1 && high >= 1)
		return &rr_v1_ops;
	return NULL;
}
