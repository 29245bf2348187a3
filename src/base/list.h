/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A circular doubly linked list; its head is a node like any other.  A node that is in
 * no list points to itself, so removing a node twice is harmless.
 */
#ifndef RR_BASE_LIST_H
#define RR_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct rr_list {
	struct rr_list *next, *prev;
};

static inline void rr_list_init(struct rr_list *l)
{
	l->next = l->prev = l;
}

static inline bool rr_list_empty(const struct rr_list *l)
{
	return l->next == l;
}

static inline void rr_list_push(struct rr_list *head, struct rr_list *n)
{
	n->prev = head->prev;
	n->next = head;
	head->prev->next = n;
	head->prev = n;
}

static inline void rr_list_push_front(struct rr_list *head, struct rr_list *n)
{
	rr_list_push(head->next, n);
}

static inline void rr_list_del(struct rr_list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	rr_list_init(n);
}

static inline struct rr_list *rr_list_first(const struct rr_list *head)
{
	return rr_list_empty(head) ? NULL : head->next;
}

static inline struct rr_list *rr_list_pop(struct rr_list *head)
{
	struct rr_list *n = rr_list_first(head);

	if (n)
		rr_list_del(n);
	return n;
}

/* Moves all elements of @from to the end of @to. */
static inline void rr_list_take(struct rr_list *to, struct rr_list *from)
{
	if (rr_list_empty(from))
		return;
	from->next->prev = to->prev;
	from->prev->next = to;
	to->prev->next = from->next;
	to->prev = from->prev;
	rr_list_init(from);
}

#define rr_list_for_each(pos, head)                                                    \
	for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

#endif
