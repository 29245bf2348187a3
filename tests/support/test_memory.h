/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is counted, and refused on demand.  The linker puts functions of
 * test_memory.c in front of the real ones: a program that includes this links with
 * --wrap for each of them.
 */
#ifndef RR_TEST_MEMORY_H
#define RR_TEST_MEMORY_H

#include <stdbool.h>

/* Of the events, counted from one, @len fail from the one numbered @from on. */
struct fault {
	bool on;
	_Atomic unsigned long n; /* threads of the library may count, too */
	unsigned long from, len;
};

extern struct fault fault_memory; /* of allocations */
extern _Atomic long live_blocks;  /* allocated and not freed */

/* Counts an event and returns whether it fails. */
static inline bool fault_hit(struct fault *f)
{
	unsigned long n;

	if (!f->on)
		return false;
	n = ++f->n;
	return n >= f->from && n - f->from < f->len;
}

#endif
