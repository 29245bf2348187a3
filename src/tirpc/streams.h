/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our XDR streams: one that collects pieces, one that walks over them.
 *
 * Encoding: small octets gather in one buffer that grows; what is large is referred
 * to where it lies, and an item of the binding is marked, so that the transport
 * may move it on its own.  Both must therefore stay until the message was sent.
 * Arguments that RPCSEC_GSS protects go into the buffer as well, since libtirpc's
 * wrappers go back in the stream.
 *
 * Decoding: an item that came on its own lies in memory of its own, from malloc.  A
 * stock XDR routine has allocated memory, set the user's pointer to it, and asks for
 * the octets to be put there; it gets the item's memory instead, by the pointer.  That
 * memory is never smaller than what it replaces, and zero behind the item.
 *
 * But a peer may make a routine decode something else at that place, the arm of a union
 * that has a pointer to a structure there: such a routine goes on to write behind the
 * octets, by a pointer of its own.  The routine's memory therefore stays until all is
 * decoded (rr_xdr_in_settle).  If there is anything in it by then the item is copied
 * to it after all, and the exchange undone.
 *
 * Neither stream believes a length: all are compared with what is there.
 */
#ifndef RR_RPC_STREAMS_H
#define RR_RPC_STREAMS_H

#include "base/base.h"
#include <rpcrdma/tirpc.h>

enum {
	RR_XDR_MAX_ITEMS = 8,
	RR_XDR_MAX_REFS = 9, /* with buffer between them they fit a message's pieces */
	RR_XDR_REFER_BYTES = 16384, /* shorter octets are copied */
	RR_XDR_SMALL_BYTES = 1024,
};

/* What the binding says, and where the user's structure is. */
struct rr_xdr_items {
	const struct rpcrdma_tirpc_item *item;
	unsigned n;
	char *object; /* NULL: no items */
};

/* What became of the octets; the names of struct rpcrdma_tirpc_stats. */
struct rr_xdr_count {
	uint64_t items_placed, items_copied, item_bytes_placed, item_bytes_copied;
	uint64_t bytes_referred, bytes_copied;
};

struct rr_xdr_ref {
	size_t at; /* octets of the buffer before it */
	const void *base;
	size_t len;
	bool item;
};

struct rr_xdr_out {
	XDR xdr;
	struct rr_xdr_items items;
	bool plain;         /* no references */
	bool bad;           /* no memory: no operation succeeds any more */
	unsigned next_item; /* of the binding's, those before it have passed */
	unsigned swallow;   /* octets of roundup after an item, which do not travel */
	uint8_t *buf;       /* small, or from malloc */
	size_t len, size, ref_bytes;
	unsigned n_refs;
	struct rr_xdr_ref refs[RR_XDR_MAX_REFS];
	struct rr_xdr_count count;
	uint8_t small[RR_XDR_SMALL_BYTES] __attribute__((aligned(8)));
};

void rr_xdr_out_init(struct rr_xdr_out *, bool plain);
void rr_xdr_out_fini(struct rr_xdr_out *);
/* What comes next is encoded from @items. */
void rr_xdr_out_items(struct rr_xdr_out *, const struct rr_xdr_items *);
/* The pieces from octet @from of the buffer on, all of it before the first reference;
 * RPCRDMA_MAX_PIECES of room. */
unsigned rr_xdr_out_pieces(const struct rr_xdr_out *, size_t from,
                           struct rpcrdma_piece *ret);

/* Memory of an item; rr_xdr_item_alloc makes it. */
struct rr_xdr_item {
	void *base;
	size_t len; /* what came */
	bool mine;  /* from rr_xdr_item_alloc, and not given away */
	bool came;  /* on its own */
	bool done;  /* decoded */
};

/* An item's memory in place of the routine's. */
struct rr_xdr_swap {
	char *old; /* the routine's; NULL: there was none */
	void *base;
	size_t len;
};

struct rr_xdr_in {
	XDR xdr;
	const struct rpcrdma_piece *pieces;
	unsigned n, at;   /* pieces, the current one */
	size_t pos;       /* within it */
	unsigned swallow; /* octets of roundup that come next, and did not travel */
	struct rr_xdr_items items;
	bool own[RR_XDR_MAX_ITEMS]; /* the pointer was not NULL: the user's memory */
	struct rr_xdr_swap swaps[RR_XDR_MAX_ITEMS];
	/* Client: results in destinations, as many as items.n.  They leave no trace in
	 * the pieces. */
	struct rr_xdr_item *dests;
	/* Server: takes the memory of an item's piece over; false: it stays. */
	bool (*take)(void *arg, const void *base);
	void *take_arg;
	struct rr_xdr_count count;
};

/* For an item of up to @len octets; free frees. */
void *rr_xdr_item_alloc(size_t len);

/* @pieces is lent for the stream's life.  take and dests may be set after it. */
void rr_xdr_in_init(struct rr_xdr_in *, const struct rpcrdma_piece *pieces, unsigned n);
/* What comes next is decoded into @items. */
void rr_xdr_in_items(struct rr_xdr_in *, const struct rr_xdr_items *);
/* After the last routine, whatever it returned: nothing else is lent from then on. */
void rr_xdr_in_settle(struct rr_xdr_in *);
/* Was each result that came in a destination decoded? */
bool rr_xdr_in_complete(const struct rr_xdr_in *);

/* The pointer of an item within the user's structure. */
static inline char **rr_xdr_slot(const struct rr_xdr_items *i, unsigned k)
{
	return (char **)(void *)(i->object + i->item[k].offset);
}

#endif
