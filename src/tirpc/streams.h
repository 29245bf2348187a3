/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The XDR streams that the XDR routines of rpcgen encode into and decode from.
 *
 * Encoding produces a list of pieces.  Small values are copied into one growing buffer.
 * Large opaque data is not copied: a piece refers to the user's memory.  If the binding
 * lists the data as an item, the piece is marked, and the transport may move the item
 * by RDMA.  So the user's memory must not change until the message has been sent.
 * Arguments that RPCSEC_GSS protects are all copied, because libtirpc's wrap functions
 * seek back in the stream.
 *
 * Decoding walks over a list of pieces.  An item that was moved by RDMA lies in a block
 * from malloc.  When a stock XDR routine decodes such an item, it has already allocated
 * memory, stored its address in the user's structure, and asks the stream to copy the
 * octets there.  The stream stores the address of the item's block in the structure
 * instead, and copies nothing.  The block is never smaller than the memory it replaces,
 * and is zero behind the item.
 *
 * A hostile peer may choose an arm of a union where the same pointer leads to another
 * structure.  Its XDR routine goes on to write behind the octets, through a pointer of
 * its own.  Therefore the stream keeps the routine's memory until everything is decoded
 * (rr_xdr_in_settle).  If the routine has written to it, the item is copied there after
 * all, and the exchange of pointers is undone.
 *
 * Neither stream trusts a length: each is compared with the octets available.
 */
#ifndef RR_TIRPC_STREAMS_H
#define RR_TIRPC_STREAMS_H

#include "base/base.h"
#include <rpcrdma/tirpc.h>

enum {
	RR_XDR_MAX_ITEMS = 8,
	RR_XDR_MAX_REFS = 9,        /* with the buffer between them: 19 pieces */
	RR_XDR_REFER_BYTES = 16384, /* shorter data is copied */
	RR_XDR_SMALL_BYTES = 1024,  /* of the buffer before any malloc */
};

/* Items of the binding, and the user's structure that contains their pointers. */
struct rr_xdr_items {
	const struct rpcrdma_tirpc_item *item;
	unsigned n;
	char *object; /* NULL: no items */
};

/* Counters; see struct rpcrdma_tirpc_stats. */
struct rr_xdr_count {
	uint64_t items_placed, items_copied, item_bytes_placed, item_bytes_copied;
	uint64_t bytes_referred, bytes_copied;
};

/* Data that is not copied into the buffer. */
struct rr_xdr_ref {
	size_t at; /* octets of the buffer that precede it */
	const void *base;
	size_t len;
	bool item;
};

struct rr_xdr_out {
	XDR xdr;
	struct rr_xdr_items items;
	bool plain;         /* everything is copied, there are no references */
	bool bad;           /* out of memory: every later operation fails */
	unsigned next_item; /* the first item not yet encoded */
	unsigned swallow;   /* octets of XDR padding after an item: not sent */
	uint8_t *buf;       /* @small, or from malloc */
	size_t len, size, ref_bytes;
	unsigned n_refs;
	struct rr_xdr_ref refs[RR_XDR_MAX_REFS];
	struct rr_xdr_count count;
	uint8_t small[RR_XDR_SMALL_BYTES] __attribute__((aligned(8)));
};

void rr_xdr_out_init(struct rr_xdr_out *, bool plain);
void rr_xdr_out_fini(struct rr_xdr_out *);
/* From here on, data at the pointers of @items is encoded as items. */
void rr_xdr_out_items(struct rr_xdr_out *, const struct rr_xdr_items *);
/* Fills @ret with the pieces from octet @from of the buffer on, and returns their
 * number, at most RPCRDMA_MAX_PIECES.  @from must not lie behind the first
 * reference. */
unsigned rr_xdr_out_pieces(const struct rr_xdr_out *, size_t from,
                           struct rpcrdma_piece *ret);

/* Memory of a result that may arrive by a Write chunk. */
struct rr_xdr_item {
	void *base;
	size_t len; /* octets received */
	bool mine;  /* from rr_xdr_item_alloc, and not yet the user's */
	bool came;  /* received by RDMA */
	bool done;  /* decoded */
};

/* An exchange of a routine's memory for an item's. */
struct rr_xdr_swap {
	char *old;  /* the routine's memory; NULL: no exchange */
	void *base; /* the item's */
	size_t len;
};

struct rr_xdr_in {
	XDR xdr;
	const struct rpcrdma_piece *pieces;
	unsigned n, at;   /* number of pieces, and the current one */
	size_t pos;       /* within the current piece */
	unsigned swallow; /* octets of XDR padding to decode next: not received */
	struct rr_xdr_items items;
	bool own[RR_XDR_MAX_ITEMS]; /* the pointer was set before: the user's memory */
	struct rr_xdr_swap swaps[RR_XDR_MAX_ITEMS];
	/* Client: results that may have arrived by Write chunks, items.n of them.  The
	 * pieces have no trace of these.  NULL: none. */
	struct rr_xdr_item *dests;
	/* Server: takes over the memory of an item's piece; false: copy the item. */
	bool (*take)(void *arg, const void *base);
	void *take_arg;
	struct rr_xdr_count count;
};

/* Allocates memory for an item of up to @len octets; release it with free(). */
void *rr_xdr_item_alloc(size_t len);

/* @pieces is lent until the last use of the stream.  @take and @dests may be set
 * afterwards. */
void rr_xdr_in_init(struct rr_xdr_in *, const struct rpcrdma_piece *pieces, unsigned n);
/* From here on, data is decoded into the pointers of @items. */
void rr_xdr_in_items(struct rr_xdr_in *, const struct rr_xdr_items *);
/* Ends the exchanges of memory.  To be called after the last routine, whether it
 * succeeded or not. */
void rr_xdr_in_settle(struct rr_xdr_in *);
/* Returns whether every result received by a Write chunk was decoded. */
bool rr_xdr_in_complete(const struct rr_xdr_in *);

/* Returns the address of an item's pointer within the user's structure. */
static inline char **rr_xdr_slot(const struct rr_xdr_items *i, unsigned k)
{
	return (char **)(void *)(i->object + i->item[k].offset);
}

#endif
