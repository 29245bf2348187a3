/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weak cache consistency: attributes before and after an operation.    [RFC 1813 §2.6]
 *
 * A client whose attributes equal those before takes those after as its own work, and
 * never asks for what another did in between.  So they are one with the operation, or
 * not given: a lock of the object is held from the first to the last, by all who change
 * objects for clients.  It is not held while storage is waited for.
 *
 * Processes of this host take no such lock.  A directory's attributes before are
 * therefore given only where an export says that nobody else changes it (wcc); a file's
 * are, since its attributes are what a client's whole cache of it hangs by.
 *
 * Order: directories by their place in the table, then files.  The engine's thread
 * only tries.
 */
#include "op.h"

static pthread_mutex_t *find_wcc_lock(const struct object *o)
{
	struct filesystem *fs = o->ex->fs;
	uint64_t i = o->ino * 0x9e3779b97f4a7c15u >> 58;

	return S_ISDIR(o->type) ? &fs->dirs[i] : &fs->files[i];
}

static int take_wcc_lock(struct op *op, pthread_mutex_t *m)
{
	if (op->no_wait && pthread_mutex_trylock(m))
		return op_would_sleep(op);
	if (!op->no_wait)
		pthread_mutex_lock(m);
	op->held[op->n_held++] = m;
	return 0;
}

int wcc_lock(struct op *op, const struct object *a, const struct object *b)
{
	pthread_mutex_t *first = find_wcc_lock(a),
	                *second = b ? find_wcc_lock(b) : first;
	int e;

	if (second < first) {
		second = first;
		first = find_wcc_lock(b);
	}
	e = take_wcc_lock(op, first);
	return e || second == first ? e : take_wcc_lock(op, second);
}

void wcc_unlock(struct op *op)
{
	while (op->n_held)
		pthread_mutex_unlock(op->held[--op->n_held]);
}

void wcc_before(const struct object *o, const struct statx *st, pre_op_attr *ret)
{
	if (!S_ISDIR(o->type) || export_top(o->ex)->wcc)
		attr_pre_statx(st, ret);
}
