/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes and decodes the NFS and MOUNT structures that rpcgen defines, as pieces of
 * the payload.
 *
 * To send, nfs3_encode() encodes a structure, which becomes one piece.  If the message
 * ends with a DDP-eligible item, the structure ends with the item's length, and the
 * caller adds a second piece { item, length, true }.
 *
 * To receive, nfs3_decode() decodes the structure at the front of the octets and
 * returns the number of octets used.  nfs3_args_item() or nfs3_result_item() then finds
 * the item, which is in a separate piece or inline after its length.
 *
 * nfs3_decode() allocates memory for names and handles, whose sizes are limited in the
 * .x files.  nfs3_free() frees them and zeroes the structure.  After a failed decode
 * there is nothing to free.
 */
#ifndef RPCRDMA_NFS3_MSG_H
#define RPCRDMA_NFS3_MSG_H

#include <rpcrdma/rpcrdma.h>
#include <rpc/rpc.h>
#include "nfs3.h"
#include "mount3.h"

/* Buffer size that is enough for any arguments or results, including two handles, two
 * names and attributes, but without items.  The lists in the results of READDIR,
 * READDIRPLUS, DUMP and EXPORT need more. */
#define NFS3_MSG_BYTES 9216
/* Buffer size that is enough for any results without items and lists; results contain
 * no names.  Use this as reply_bytes in struct rpcrdma_call_options. */
#define NFS3_RESULT_BYTES 512
/* Size of encoded attributes (fattr3). */
#define NFS3_FATTR_BYTES 84

/* Encodes @obj.  Returns the number of octets written, or -EMSGSIZE. */
int nfs3_encode(void *buf, size_t size, xdrproc_t proc, const void *obj);
/* Decodes @obj, which need not be initialised.  Returns the number of octets read, or
 * -EBADMSG. */
int nfs3_decode(const void *buf, size_t len, xdrproc_t proc, void *obj,
                size_t obj_size);
void nfs3_free(xdrproc_t proc, void *obj, size_t obj_size);

/* Macros for these functions that add the casts and the size for a type, for example
 * NFS3_DECODE(p, n, GETATTR3args, &args). */
#define NFS3_ENCODE(buf, size, type, obj)                                              \
	nfs3_encode(buf, size, (xdrproc_t)(void (*)(void))xdr_##type,                  \
	            (const type *){obj})
#define NFS3_DECODE(buf, len, type, obj)                                               \
	nfs3_decode(buf, len, (xdrproc_t)(void (*)(void))xdr_##type, (type *){obj},    \
	            sizeof(type))
#define NFS3_FREE(type, obj)                                                           \
	nfs3_free((xdrproc_t)(void (*)(void))xdr_##type, (type *){obj}, sizeof(type))

/*
 * Stores the octets before any item in the arguments, as received by a server, in @ret
 * and @ret_len.  Returns false if there are no pieces or the first piece is an item.
 */
bool nfs3_args_head(const struct rpcrdma_piece *args, unsigned n_args, const void **ret,
                    size_t *ret_len);
/*
 * Finds the item of @item_len octets after the first @used octets of the arguments.
 * The item is inline with padding, or in a separate piece, whose length must be
 * @item_len, with or without XDR padding.  Returns 0 or -EBADMSG.  On success *ret is
 * not NULL, even if @item_len is 0.
 */
int nfs3_args_item(const struct rpcrdma_piece *args, unsigned n_args, size_t used,
                   uint32_t item_len, const void **ret);
/* Checks that the arguments end after the first @used octets.  Returns 0, or -EBADMSG
 * if more octets or an item follow. */
int nfs3_args_end(const struct rpcrdma_piece *args, unsigned n_args, size_t used);

/*
 * Finds the item of @item_len octets after the first @used octets of a client's
 * results.  The item is at @dest if it was placed there, otherwise inline; @dest may be
 * NULL.  Returns 0.  Returns -EBADMSG if the results are malformed or the item is
 * longer than requested, or -EPROTO if the item is inline although a chunk was provided
 * for it.
 *                                                                 [v2 §A.1]
 */
int nfs3_result_item(const struct rpcrdma_reply *reply, size_t used,
                     const struct rpcrdma_dest *dest, uint32_t item_len,
                     const void **ret);

/*
 * Decodes the next element of an XDR list, as in the results of READDIR, READDIRPLUS,
 * DUMP and EXPORT.  Returns 1 with an element in @obj, which the caller must free; 0 at
 * the end of the list; or -EBADMSG.  Advances *pos, to at most @len.
 */
int nfs3_list_next(const void *buf, size_t len, size_t *pos, xdrproc_t proc, void *obj,
                   size_t obj_size);
#define NFS3_LIST_NEXT(buf, len, pos, type, obj)                                       \
	nfs3_list_next(buf, len, pos, (xdrproc_t)(void (*)(void))xdr_##type,           \
	               (type *){obj}, sizeof(type))
/* Decodes one word, such as READDIR's eof after the list.  Returns 0 or -EBADMSG. */
int nfs3_get_u32(const void *buf, size_t len, size_t *pos, uint32_t *ret);
/* Write a word, a long word or attributes (NFS3_FATTR_BYTES) at @to.  Return the
 * address after them.  In a long list, this takes much less time than nfs3_encode(). */
void *nfs3_put_u32(void *to, uint32_t v);
void *nfs3_put_u64(void *to, uint64_t v);
void *nfs3_put_fattr3(void *to, const fattr3 *);

/* Returns the name of a status, such as "NFS3ERR_NOENT", as a static string. */
const char *nfs3_strstat(nfsstat3 status);
/* Returns the positive errno that corresponds to a status. */
int nfs3_errno(nfsstat3 status);

#endif
