/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names that a run has made, so that two sources with the same name are not copied
 * to one file.  A keyed digest of each name is kept in a table that is never more than
 * half full.  It takes 16 to 32 octets for each file, and is used only if there are
 * several sources.  If two names have the same 64-bit digest, which is improbable, the
 * second name is refused.
 */
#include "client/copy.h"
#include "base/siphash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct copy_made {
	uint64_t key[2];
	uint64_t *table; /* 0: free */
	size_t size, used;
};

struct copy_made *copy_made_new(void)
{
	struct copy_made *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	(void)!getrandom(&m->key, sizeof(m->key),
	                 0); /* without entropy the key is fixed */
	return m;
}

void copy_made_free(struct copy_made *m)
{
	if (m)
		free(m->table);
	free(m);
}

/* Returns the slot of @digest, or the free slot where it belongs. */
static uint64_t *find_digest(uint64_t *table, size_t size, uint64_t digest)
{
	size_t i = digest & (size - 1);

	while (table[i] && table[i] != digest)
		i = (i + 1) & (size - 1);
	return &table[i];
}

static int grow_digests(struct copy_made *m)
{
	size_t size = m->size ? 2 * m->size : 1024;
	uint64_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < m->size; i++)
		if (m->table[i])
			*find_digest(table, size, m->table[i]) = m->table[i];
	free(m->table);
	m->table = table;
	m->size = size;
	return 0;
}

int copy_made_add(struct copy_made *m, const struct copy_dir *dir, const char *name)
{
	char text[2 * sizeof(uint64_t) + NFS_NAME_MAX];
	size_t len = strnlen(name, NFS_NAME_MAX);
	uint64_t digest, *at;

	if (m->used * 2 >= m->size && grow_digests(m))
		return -ENOMEM;
	memcpy(text, &dir->fsid, sizeof(uint64_t));
	memcpy(text + sizeof(uint64_t), &dir->fileid, sizeof(uint64_t));
	memcpy(text + 2 * sizeof(uint64_t), name, len);
	digest = rr_siphash_once(m->key, text, 2 * sizeof(uint64_t) + len);
	at = find_digest(m->table, m->size, digest ? digest : 1);
	if (*at)
		return -EEXIST;
	*at = digest ? digest : 1;
	m->used++;
	return 0;
}
