/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that grows. */
#ifndef RR_CONN_MBUF_H
#define RR_CONN_MBUF_H

#include "conn/conn.h"

/* Growing memory; @pinned: its @cap octets count against the budget. */
struct rr_mbuf {
	uint8_t *p;
	size_t len, cap;
	bool pinned;
};

/* Grows to hold @len octets; -ENOMEM, also beyond the budget, leaves it alone. */
int rr_mbuf_reserve(struct rr_conn *, struct rr_mbuf *, size_t len) RR_MUST_CHECK;
/* Exactly @len octets at once. */
int rr_mbuf_alloc(struct rr_conn *, struct rr_mbuf *, size_t len) RR_MUST_CHECK;
void rr_mbuf_free(struct rr_conn *, struct rr_mbuf *);

#endif
