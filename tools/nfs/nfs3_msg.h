/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between rpcgen's NFS and MOUNT structures and payload pieces.
 *
 * Sending: nfs3_encode() into a buffer gives an XDR piece; where the message
 * ends with a DDP-eligible item, its structure ends with the item's length
 * word, and a second piece { item, length, true } follows.
 *
 * Receiving: nfs3_decode() reads the structure from the front of the octets and
 * says how many it took; nfs3_args_item() or nfs3_result_item() then finds the
 * item, in a piece of its own or inline behind the length word.
 *
 * Memory: nfs3_decode() allocates names and handles (all bounded by the .x
 * files); nfs3_free() gives them back and zeroes the structure.  After a
 * failed decode nothing is left to free.
 */
#ifndef RPCRDMA_NFS3_MSG_H
#define RPCRDMA_NFS3_MSG_H

#include <rpcrdma/rpcrdma.h>
#include <rpc/rpc.h>
#include "nfs3.h"
#include "mount3.h"

/* Room for any arguments or results but READDIR, READDIRPLUS, DUMP and EXPORT
 * lists and items: two handles, two names, attributes. */
#define NFS3_MSG_BYTES 9216
/* A bound of the results that are not lists, items apart (results have no
 * names): enough for rpcrdma_call_options.reply_bytes. */
#define NFS3_RESULT_BYTES 512

/* Octets written, or -EMSGSIZE. */
int nfs3_encode(void *buf, size_t size, xdrproc_t proc, const void *obj);
/* Octets read, or -EBADMSG.  @obj need not be initialised. */
int nfs3_decode(const void *buf, size_t len, xdrproc_t proc, void *obj,
                size_t obj_size);
void nfs3_free(xdrproc_t proc, void *obj, size_t obj_size);

/* As above, with the casts and the size: NFS3_DECODE(p, n, GETATTR3args, &args). */
#define NFS3_ENCODE(buf, size, type, obj)                                              \
	nfs3_encode(buf, size, (xdrproc_t)(void (*)(void))xdr_##type,                  \
	            (const type *){obj})
#define NFS3_DECODE(buf, len, type, obj)                                               \
	nfs3_decode(buf, len, (xdrproc_t)(void (*)(void))xdr_##type, (type *){obj},    \
	            sizeof(type))
#define NFS3_FREE(type, obj)                                                           \
	nfs3_free((xdrproc_t)(void (*)(void))xdr_##type, (type *){obj}, sizeof(type))

/*
 * A server's arguments: the octets of the first piece that is no item; false
 * if there is none.
 */
bool nfs3_args_head(const struct rpcrdma_piece *args, unsigned n_args, const void **ret,
                    size_t *ret_len);
/*
 * The item of @item_len octets that follows @used octets of the arguments'
 * head: from its own piece, whose length must agree (with or without XDR
 * padding), or inline, padding included.  0, or -EBADMSG.
 * With @item_len 0 and nothing there, *ret is not NULL.
 */
int nfs3_args_item(const struct rpcrdma_piece *args, unsigned n_args, size_t used,
                   uint32_t item_len, const void **ret);
/* No octet is left behind the @used ones, no item either.  0, or -EBADMSG. */
int nfs3_args_end(const struct rpcrdma_piece *args, unsigned n_args, size_t used);

/*
 * A client's results: the item of @item_len octets that follows @used octets
 * of the results, from where @dest (may be NULL) says if that was used, or inline.
 * 0, or -EBADMSG, also if it is longer than what was asked for; -EPROTO if it came
 * inline although there was a chunk for it.                        [v2 §A.1]
 */
int nfs3_result_item(const struct rpcrdma_reply *reply, size_t used,
                     const struct rpcrdma_dest *dest, uint32_t item_len,
                     const void **ret);

/*
 * One step along a list { TRUE, element }*, FALSE, as READDIR, READDIRPLUS,
 * DUMP and EXPORT have them.  1: an element was decoded into @obj (free it);
 * 0: the list has ended; -EBADMSG.  *pos advances, to at most @len.
 */
int nfs3_list_next(const void *buf, size_t len, size_t *pos, xdrproc_t proc, void *obj,
                   size_t obj_size);
#define NFS3_LIST_NEXT(buf, len, pos, type, obj)                                       \
	nfs3_list_next(buf, len, pos, (xdrproc_t)(void (*)(void))xdr_##type,           \
	               (type *){obj}, sizeof(type))
/* One word (READDIR's eof, which follows the list).  0, or -EBADMSG. */
int nfs3_get_u32(const void *buf, size_t len, size_t *pos, uint32_t *ret);
/* Writes the 4 octets of @v at @to, and returns the place behind them. */
void *nfs3_put_u32(void *to, uint32_t v);

/* For messages: "NFS3ERR_NOENT"; static. */
const char *nfs3_strstat(nfsstat3 status);
/* The errno that says the same. */
int nfs3_errno(nfsstat3 status);

#endif
