/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outstanding calls by XID: a hash table that grows with their number.  An entry
 * sits inside the object that it stands for.
 */
#ifndef RR_CONN_CALL_TABLE_H
#define RR_CONN_CALL_TABLE_H

#include "base/base.h"

struct rr_call_entry {
	struct rr_call_entry *next; /* in its bucket */
	uint32_t xid;
	bool listed; /* in the table */
};

/* All zero: an empty table. */
struct rr_call_table {
	struct rr_call_entry **bucket;
	size_t buckets; /* 0 or a power of two */
	size_t count;   /* entries */
};

/* Returns the entry with @xid, or NULL. */
struct rr_call_entry *rr_call_table_find(const struct rr_call_table *, uint32_t xid);
/* Adds @e, which is not listed; no other entry has its @xid.  Buckets come from @mem.
 * False: there is no memory for the first of them. */
bool rr_call_table_add(struct rr_call_table *, const struct rr_mem *,
                       struct rr_call_entry *e) RR_MUST_CHECK;
/* Removes @e; no effect if it is not listed. */
void rr_call_table_del(struct rr_call_table *, struct rr_call_entry *e);
/* Frees the buckets. */
void rr_call_table_fini(struct rr_call_table *, const struct rr_mem *);

#endif
