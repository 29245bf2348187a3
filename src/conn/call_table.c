/* SPDX-License-Identifier: BSD-3-Clause */
/* See call_table.h. */
#include "conn/call_table.h"

#include <string.h>

enum { FIRST_BUCKETS = 64 };

static void link_entry(struct rr_call_table *t, struct rr_call_entry *e)
{
	struct rr_call_entry **b = rr_call_table_bucket(t, e->xid);

	e->next = *b;
	e->at = b;
	if (e->next)
		e->next->at = &e->next;
	*b = e;
}

/* Doubles the number of buckets.  Returns false only if there is no memory for the
 * first buckets.  If there is no memory for more buckets, the chains just get
 * longer. */
static bool grow_table(struct rr_call_table *t, const struct rr_mem *mem)
{
	struct rr_call_table old = *t;
	size_t n = old.buckets ? old.buckets * 2 : FIRST_BUCKETS;
	struct rr_call_entry **b = rr_mem_get(mem, n * sizeof(*b));

	if (!b)
		return old.buckets != 0;
	memset(b, 0, n * sizeof(*b));
	t->bucket = b;
	t->buckets = n;
	for (size_t i = 0; i < old.buckets; i++) {
		struct rr_call_entry *e = old.bucket[i];

		while (e) {
			struct rr_call_entry *next = e->next;

			link_entry(t, e);
			e = next;
		}
	}
	rr_mem_put(mem, old.bucket, old.buckets * sizeof(*b));
	return true;
}

bool rr_call_table_add(struct rr_call_table *t, const struct rr_mem *mem,
                       struct rr_call_entry *e)
{
	if (t->count >= t->buckets && !grow_table(t, mem))
		return false;
	link_entry(t, e);
	t->count++;
	return true;
}

void rr_call_table_del(struct rr_call_table *t, struct rr_call_entry *e)
{
	if (!e->at)
		return;
	*e->at = e->next;
	if (e->next)
		e->next->at = e->at;
	e->at = NULL;
	t->count--;
}

void rr_call_table_fini(struct rr_call_table *t, const struct rr_mem *mem)
{
	rr_mem_put(mem, t->bucket, t->buckets * sizeof(t->bucket[0]));
	*t = (struct rr_call_table){0};
}
