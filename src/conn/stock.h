/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects that a connection needs only while it has work: calls, requests, messages.
 * Connections that are used by one thread, and have the same allocator, take them from
 * one stock.  So an idle connection has none of them, and the next message uses memory
 * that the processor still has in its cache, on whichever connection it arrives.
 */
#ifndef RR_CONN_STOCK_H
#define RR_CONN_STOCK_H

#include "base/list.h"
#include "conn/slab.h"

struct rr_stock {
	struct rr_mem mem;
	struct rr_slab rbufs;    /* struct rr_rbuf */
	struct rr_slab calls;    /* struct rr_call_state */
	struct rr_slab chunks;   /* struct rr_call_chunks */
	struct rr_slab requests; /* struct rr_request_state */
	struct rr_slab lists;    /* struct rr_lists */
	struct rr_list xmits;    /* free messages, linked by rr_xmit.op.link */
	unsigned n_xmits;
};

#endif
