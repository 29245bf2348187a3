/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The XDR streams that rpcgen's XDR routines encode into and decode from.
 *
 * Encoding produces a list of pieces.  Small values are copied into one growing buffer.
 * Large opaque data is not copied: a piece refers to the user's memory, which must
 * therefore not change until the message has been sent.  If the binding lists the data
 * as an item, the piece is flagged, and the transport may move the item by RDMA.
 * Arguments that RPCSEC_GSS protects are always copied, because libtirpc's wrap
 * functions seek back in the stream.
 *
 * Decoding walks over a list of pieces.  An item that was moved by RDMA is in a block
 * from malloc.  When a stock XDR routine decodes such an item, the routine has already
 * allocated memory and stored the address of that memory in the user's structure; it
 * asks the stream to copy the octets to the memory.  Instead, the stream stores the
 * address of the item's block in the structure, and copies nothing.  The block is never
 * smaller than the memory it replaces, and is zero after the item.
 *
 * A hostile peer may select an arm of a union in which the same pointer refers to
 * another type of structure.  The XDR routine for that structure still uses the memory
 * that it allocated, and may write beyond the item's length there.  So the stream keeps
 * that memory until everything is decoded (rr_xdr_in_settle).  If the routine has
 * written there, the stream copies the item there and restores the pointer.
 *
 * Neither stream trusts a length: each length is compared with the number of octets
 * available.
 */
#ifndef RR_TIRPC_STREAMS_H
#define RR_TIRPC_STREAMS_H

#include "base/base.h"
#include <rpcrdma/tirpc.h>

enum {
	RR_XDR_MAX_ITEMS = 8,
	RR_XDR_MAX_REFS = 9,        /* 19 pieces, including parts of the buffer */
	RR_XDR_REFER_BYTES = 16384, /* shorter data is copied */
	RR_XDR_SMALL_BYTES = 1024,  /* size of the initial buffer */
};

/* The items in a binding, and the user's structure that contains pointers to them. */
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

/* A reference to data that is not copied into the buffer, but sent in place. */
struct rr_xdr_ref {
	size_t at; /* number of octets in the buffer that precede the data */
	const void *base;
	size_t len;
	bool item;
};

struct rr_xdr_out {
	XDR xdr;
	struct rr_xdr_items items;
	bool plain;         /* everything is copied; there are no references */
	bool bad;           /* out of memory: every later operation fails */
	unsigned next_item; /* index of the first item not yet encoded */
	unsigned swallow;   /* octets of XDR padding to discard after an item */
	uint8_t *buf;       /* @small, or memory from malloc */
	size_t len, size, ref_bytes;
	unsigned n_refs;
	struct rr_xdr_ref refs[RR_XDR_MAX_REFS];
	struct rr_xdr_count count;
	uint8_t small[RR_XDR_SMALL_BYTES] __attribute__((aligned(8)));
};

void rr_xdr_out_init(struct rr_xdr_out *, bool plain);
void rr_xdr_out_fini(struct rr_xdr_out *);
/* Sets the items: from now on, the data at their pointers is encoded as items. */
void rr_xdr_out_items(struct rr_xdr_out *, const struct rr_xdr_items *);
/* Stores the encoded pieces in @ret, without the first @from octets of the buffer.
 * Returns the number of pieces, at most RPCRDMA_MAX_PIECES.  @from must not be beyond
 * the first reference. */
unsigned rr_xdr_out_pieces(const struct rr_xdr_out *, size_t from,
                           struct rpcrdma_piece *ret);

/* Memory for a result that may arrive by a Write chunk. */
struct rr_xdr_item {
	void *base;
	size_t len; /* number of octets received */
	bool mine;  /* @base is from rr_xdr_item_alloc and was not passed to the user */
	bool came;  /* received by RDMA */
	bool done;  /* decoded */
};

/* An XDR routine's memory that was replaced with an item's memory. */
struct rr_xdr_swap {
	char *old;  /* the routine's memory; NULL = not replaced */
	void *base; /* the item's memory */
	size_t len; /* length of the item */
};

struct rr_xdr_in {
	XDR xdr;
	const struct rpcrdma_piece *pieces;
	unsigned n, at;   /* number of pieces, and index of the current piece */
	size_t pos;       /* offset in the current piece */
	unsigned swallow; /* octets of padding to decode next; not in the pieces */
	struct rr_xdr_items items;
	bool own[RR_XDR_MAX_ITEMS]; /* the user has set the item's pointer */
	struct rr_xdr_swap swaps[RR_XDR_MAX_ITEMS];
	/* Client: an array of items.n results that may have arrived by Write chunks, or
	 * NULL.  The pieces do not contain these results. */
	struct rr_xdr_item *dests;
	/* Server: takes over the memory of an item's piece.  Returns false if the item
	 * must be copied. */
	bool (*take)(void *arg, const void *base);
	void *take_arg;
	struct rr_xdr_count count;
};

/* Allocates memory for an item of up to @len octets, to be released with free(). */
void *rr_xdr_item_alloc(size_t len);

/* Initializes the stream.  @pieces is lent until the last use of the stream.  The
 * caller may then set @take or @dests. */
void rr_xdr_in_init(struct rr_xdr_in *, const struct rpcrdma_piece *pieces, unsigned n);
/* Sets the items.  From now on, the stream recognizes them by their pointers. */
void rr_xdr_in_items(struct rr_xdr_in *, const struct rr_xdr_items *);
/* Frees the buffers that the XDR routines allocated and that items' memory replaced.
 * Must be called after the last routine, even if that routine has failed. */
void rr_xdr_in_settle(struct rr_xdr_in *);
/* Returns true if every result received by a Write chunk has been decoded. */
bool rr_xdr_in_complete(const struct rr_xdr_in *);

/* Returns the address of an item's pointer within the user's structure. */
static inline char **rr_xdr_slot(const struct rr_xdr_items *i, unsigned k)
{
	return (char **)(void *)(i->object + i->item[k].offset);
}

#endif
