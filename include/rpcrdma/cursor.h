/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads XDR from pieces: arguments of a request, results of a call.   [RFC 4506]
 *
 * An item that was moved by RDMA is a separate piece; an inline item is part of a piece
 * with other octets.  The same functions read both kinds.  A cursor allocates nothing,
 * copies octets only on request, and never reads beyond the pieces, whatever lengths a
 * peer sends.  It keeps its first error: later reads return zero or NULL, so one call
 * of rpcrdma_cursor_end() after the last read is enough.
 *
 *	struct rpcrdma_cursor c;
 *	uint32_t flags, len;
 *	const void *data;
 *
 *	rpcrdma_request_cursor(request, &c);
 *	flags = rpcrdma_cursor_u32(&c);
 *	data = rpcrdma_cursor_opaque(&c, NULL, MAX_DATA, &len);
 *	if (rpcrdma_cursor_end(&c))
 *		return rpcrdma_request_error(request, RPCRDMA_GARBAGE_ARGS, 0);
 *
 * Roundup octets [RFC 4506 §4.10] are skipped, and need not be zero.  May be called in
 * any thread that may read the pieces.
 */
#ifndef RPCRDMA_CURSOR_H
#define RPCRDMA_CURSOR_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The members are private.  A copy of the structure continues reading from the same
 * position.  The structure's size never changes. */
struct rpcrdma_cursor {
	const unsigned char *pos, *end;   /* unread octets of the current piece */
	const struct rpcrdma_piece *next; /* the following pieces; lent */
	unsigned n_next;
	unsigned odd; /* octets read beyond the last multiple of four */
	int error;
	bool item; /* the current piece is an item */
};

/* Begins to read @n pieces.  The array and the octets are lent until the last read. */
RPCRDMA_API void rpcrdma_cursor_init(struct rpcrdma_cursor *,
                                     const struct rpcrdma_piece *pieces, unsigned n);
/* Starts reading from one contiguous buffer, lent until the last read. */
RPCRDMA_API void rpcrdma_cursor_init_octets(struct rpcrdma_cursor *, const void *octets,
                                            size_t len);
/* Begins to read the arguments of a request.  No opaque is split between two pieces. */
RPCRDMA_API void rpcrdma_request_cursor(const struct rpcrdma_request *,
                                        struct rpcrdma_cursor *ret);
/* Begins to read the results of a call.  The cursor is valid until the call's done
 * callback returns. rpcrdma_cursor_dest reads an item that was placed in a destination.
 */
RPCRDMA_API void rpcrdma_reply_cursor(const struct rpcrdma_reply *,
                                      struct rpcrdma_cursor *ret);

RPCRDMA_API uint32_t rpcrdma_cursor_u32(struct rpcrdma_cursor *);
RPCRDMA_API uint64_t rpcrdma_cursor_u64(struct rpcrdma_cursor *);
/* Reads an opaque of fixed length.  If its @len octets are contiguous, returns their
 * address.  Otherwise copies them to @buf and returns @buf, or fails if @buf is NULL.
 */
RPCRDMA_API const void *rpcrdma_cursor_fixed(struct rpcrdma_cursor *, void *buf,
                                             size_t len);
/* Like rpcrdma_cursor_fixed, for an opaque or string of variable length, at most @max
 * octets.  A @buf that is not NULL has space for @max octets.  If NULL is returned,
 * *ret_len is 0.  A string is returned without a terminating zero octet. */
RPCRDMA_API const void *rpcrdma_cursor_opaque(struct rpcrdma_cursor *, void *buf,
                                              uint32_t max, uint32_t *ret_len);
/* Copies an opaque of fixed length.  Returns false, and writes nothing, on error. */
RPCRDMA_API bool rpcrdma_cursor_copy(struct rpcrdma_cursor *, void *to, size_t len);
/* Skips @len octets and their roundup; @len may be 0. */
RPCRDMA_API void rpcrdma_cursor_skip(struct rpcrdma_cursor *, size_t len);
/*
 * Reads an eligible result for which the call had a destination: reads the length word
 * and returns the address of the octets: @dest->ret_base if they were placed there,
 * otherwise an address in the results.  Fails with -EPROTO if the octets are in the
 * results although the server was offered memory for them, since that breaks the
 * binding [v2 §A.1].  Fails with -EBADMSG if the length exceeds @dest->len or differs
 * from the number of octets placed.
 */
RPCRDMA_API const void *rpcrdma_cursor_dest(struct rpcrdma_cursor *,
                                            const struct rpcrdma_dest *dest,
                                            uint32_t *ret_len);
/* Returns the number of unread octets, items included; 0 after an error. */
RPCRDMA_API size_t rpcrdma_cursor_left(const struct rpcrdma_cursor *);
/* Returns the first error, or 0.  The error is -EBADMSG if the caller has read past the last
 * octet, an opaque is longer than @max, or the octets read as an opaque are not exactly
 * one item. */
RPCRDMA_API int rpcrdma_cursor_error(const struct rpcrdma_cursor *);
/* Returns the first error, or -EBADMSG if unread octets other than roundup are left. */
RPCRDMA_API int rpcrdma_cursor_end(struct rpcrdma_cursor *);

#ifdef __cplusplus
}
#endif
#endif
