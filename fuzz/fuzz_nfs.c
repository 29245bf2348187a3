/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the NFS server and its client decode: arguments and results of every
 * NFSv3 and MOUNT procedure, with an item inline or in a piece of its own.
 * The first octet chooses the structure, the second where the input is cut
 * into head and item.  What was decoded is encoded, decoded and encoded once
 * more, which must give the same length.
 */
#include <stdlib.h>
#include <string.h>

#include "nfs/nfs3_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct type {
	xdrproc_t proc;
	size_t size;
};

#define T(t)                                                                           \
	{                                                                              \
		(xdrproc_t)(void (*)(void)) xdr_##t, sizeof(t)                         \
	}

static const struct type types[] = {
        T(GETATTR3args),     T(GETATTR3res),     T(SETATTR3args),  T(SETATTR3res),
        T(LOOKUP3args),      T(LOOKUP3res),      T(ACCESS3args),   T(ACCESS3res),
        T(READLINK3args),    T(READLINK3res),    T(READ3args),     T(READ3res),
        T(WRITE3args),       T(WRITE3res),       T(CREATE3args),   T(CREATE3res),
        T(MKDIR3args),       T(MKDIR3res),       T(SYMLINK3args),  T(SYMLINK3res),
        T(MKNOD3args),       T(MKNOD3res),       T(REMOVE3args),   T(REMOVE3res),
        T(RMDIR3args),       T(RMDIR3res),       T(RENAME3args),   T(RENAME3res),
        T(LINK3args),        T(LINK3res),        T(READDIR3args),  T(READDIR3res),
        T(READDIRPLUS3args), T(READDIRPLUS3res), T(FSSTAT3args),   T(FSSTAT3res),
        T(FSINFO3args),      T(FSINFO3res),      T(PATHCONF3args), T(PATHCONF3res),
        T(COMMIT3args),      T(COMMIT3res),      T(dirpath),       T(mountres3),
};

/* An object of any type, aligned. */
static union {
	uint8_t octets[16384];
	uint64_t align;
} obj;

static void items(const uint8_t *p, size_t used, size_t head, size_t len)
{
	struct rpcrdma_piece args[2] = {{p, head, false}, {p + head, len - head, true}};
	struct rpcrdma_dest dest = {.base = (void *)(uintptr_t)(p + head),
	                            .len = len - head,
	                            .ret_base = p + head,
	                            .ret_len = len - head,
	                            .ret_used = true};
	struct rpcrdma_reply reply = {.results = p, .len = head};
	const volatile uint8_t *item;
	const void *at;

	for (uint32_t n = 0; n <= 64; n += 7) {
		if (!nfs3_args_item(args, 2, used, n, &at))
			for (item = at; item < (const uint8_t *)at + n; item++)
				(void)*item;
		if (!nfs3_args_item(args, 1, used, n, &at))
			for (item = at; item < (const uint8_t *)at + n; item++)
				(void)*item;
		if (!nfs3_result_item(&reply, used, &dest, n, &at))
			for (item = at; item < (const uint8_t *)at + n; item++)
				(void)*item;
		if (!nfs3_result_item(&reply, used, NULL, n, &at))
			for (item = at; item < (const uint8_t *)at + n; item++)
				(void)*item;
	}
	(void)!nfs3_args_end(args, 1, used);
}

static void list(const uint8_t *p, size_t len, const struct type *t)
{
	size_t pos = 0;
	uint32_t eof;

	while (nfs3_list_next(p, len, &pos, t->proc, &obj, t->size) == 1) {
		if (pos > len)
			abort();
		nfs3_free(t->proc, &obj, t->size);
	}
	(void)!nfs3_get_u32(p, len, &pos, &eof);
	if (pos > len)
		abort();
}

static void again(const struct type *t, size_t used)
{
	static uint8_t out[1 << 16];
	static union {
		uint8_t octets[sizeof(obj)];
		uint64_t align;
	} second;
	int n = nfs3_encode(out, sizeof(out), t->proc, &obj);

	if (used > sizeof(out))
		return;
	/* Padding and booleans may differ from what was read: compare a second
	 * decoding, by its encoding. */
	if (n < 0 || (size_t)n > used)
		abort();
	if (nfs3_decode(out, (size_t)n, t->proc, &second, t->size) != n)
		abort();
	if (nfs3_encode(out, sizeof(out), t->proc, &second) != n)
		abort();
	nfs3_free(t->proc, &second, t->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct type entries[] = {T(entry3), T(entryplus3), T(dirpath),
	                                      T(mountname)};
	const struct type *t;
	size_t head;
	int n;

	if (size < 2)
		return 0;
	t = &types[data[0] % (sizeof(types) / sizeof(types[0]))];
	head = (size - 2) * data[1] / 255;
	n = nfs3_decode(data + 2, size - 2, t->proc, &obj, t->size);
	if (n >= 0) {
		if ((size_t)n > size - 2)
			abort();
		again(t, (size_t)n);
		nfs3_free(t->proc, &obj, t->size);
	}
	items(data + 2, n > 0 && (size_t)n <= head ? (size_t)n : 0, head, size - 2);
	list(data + 2, size - 2, &entries[data[0] % 4]);
	return 0;
}
