/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outstanding calls by XID: a hash table that grows with the number of calls.  An entry
 * is a member of the object that it represents.
 */
#ifndef RR_CONN_CALL_TABLE_H
#define RR_CONN_CALL_TABLE_H

#include "base/base.h"

struct rr_call_entry {
	struct rr_call_entry *next; /* next entry in the same bucket */
	struct rr_call_entry **at; /* the pointer to this entry; NULL = the entry is not
	                             * in the table */
	uint32_t xid;
};

/* A table with all members zero is empty. */
struct rr_call_table {
	struct rr_call_entry **bucket;
	size_t buckets; /* 0 or a power of two */
	size_t count;   /* number of entries */
};

/* Returns the bucket of @xid.  There must be buckets. */
static inline struct rr_call_entry **rr_call_table_bucket(const struct rr_call_table *t,
                                                          uint32_t xid)
{
	/* Sequential XIDs need no hashing; the multiplication spreads other XIDs. */
	return &t->bucket[(xid ^ (xid * 2654435761u >> 16)) & (t->buckets - 1)];
}
/* Returns the entry with @xid, or NULL. */
static inline struct rr_call_entry *rr_call_table_find(const struct rr_call_table *t,
                                                       uint32_t xid)
{
	struct rr_call_entry *e = t->count ? *rr_call_table_bucket(t, xid) : NULL;

	while (e && e->xid != xid)
		e = e->next;
	return e;
}
/* Adds @e, which must not be in the table, under an XID that no other entry has.  Allocates
 * buckets from @mem.  Returns false if there is no memory for the first buckets. */
bool rr_call_table_add(struct rr_call_table *, const struct rr_mem *,
                       struct rr_call_entry *e) RR_MUST_CHECK;
/* Removes @e.  No effect if @e is not in the table. */
void rr_call_table_del(struct rr_call_table *, struct rr_call_entry *e);
/* Frees the buckets. */
void rr_call_table_fini(struct rr_call_table *, const struct rr_mem *);

#endif
