/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weak cache consistency: attributes before and after an operation.    [RFC 1813 §2.6]
 *
 * A reply contains an object's attributes from before and after the operation.  If the
 * attributes from before match those in the client's cache, the client concludes that
 * its own operation caused every difference.  It would never notice that another client
 * had also changed the object in between.  So each operation that changes an object for
 * a client holds the object's lock from the time it reads the first attributes until it
 * has read the last, but not while it waits for storage.
 *
 * Processes on this host do not use these locks.  So a directory's attributes from
 * before the operation are sent only if the export has the option wcc, which asserts
 * that only this server changes the directory.  A file's attributes are always sent,
 * because without them a client drops everything that it has cached for the file.
 *
 * Lock order: directories by their index in the table, then files.  The engine's thread
 * only tries to lock, and never waits.
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
