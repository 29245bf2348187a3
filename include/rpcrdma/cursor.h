/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads XDR from pieces: arguments of a request, results of a call.   [RFC 4506]
 *
 * An item lies in a piece of its own if it came by RDMA, and between other octets if it
 * came inline; the same calls read both.  A cursor allocates nothing, copies no octets
 * unless it is asked to, and never reads past the pieces, whatever a peer says.  It
 * remembers its first error: reads return zero or NULL from there on, so that one
 * rpcrdma_cursor_end() after the last read is enough.
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
 * Roundup octets [RFC 4506 §4.10] are skipped wherever they come, and need not be zero.
 * Any thread that may read the pieces.
 */
#ifndef RPCRDMA_CURSOR_H
#define RPCRDMA_CURSOR_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The members are the library's.  A copy of the structure reads on from the same place.
 * It does not grow. */
struct rpcrdma_cursor {
	const unsigned char *pos, *end;   /* of the current piece */
	const struct rpcrdma_piece *next; /* the pieces behind it; lent */
	unsigned n_next;
	unsigned odd; /* octets read behind the last multiple of four */
	int error;
	bool item; /* the current piece is an item */
};

/* Begins to read @n pieces: array and octets are lent until the last read. */
RPCRDMA_API void rpcrdma_cursor_init(struct rpcrdma_cursor *,
                                     const struct rpcrdma_piece *pieces, unsigned n);
/* ... or octets that lie together. */
RPCRDMA_API void rpcrdma_cursor_init_octets(struct rpcrdma_cursor *, const void *octets,
                                            size_t len);
/* ... or the arguments of a request.  Each of its opaques lies in one piece. */
RPCRDMA_API void rpcrdma_request_cursor(const struct rpcrdma_request *,
                                        struct rpcrdma_cursor *ret);
/* ... or the results of a call; until its done callback returns.  An item that was placed
 * in a destination is read by rpcrdma_cursor_dest. */
RPCRDMA_API void rpcrdma_reply_cursor(const struct rpcrdma_reply *,
                                      struct rpcrdma_cursor *ret);

RPCRDMA_API uint32_t rpcrdma_cursor_u32(struct rpcrdma_cursor *);
RPCRDMA_API uint64_t rpcrdma_cursor_u64(struct rpcrdma_cursor *);
/* Opaque of fixed length: returns where its @len octets lie together, without a copy.
 * Where they do not, copies them into @buf and returns that; with @buf NULL it fails. */
RPCRDMA_API const void *rpcrdma_cursor_fixed(struct rpcrdma_cursor *, void *buf,
                                             size_t len);
/* The same for an opaque or a string of variable length, at most @max octets, for which
 * @buf has room unless it is NULL.  @ret_len is 0 where NULL is returned.  No zero octet
 * follows a string. */
RPCRDMA_API const void *rpcrdma_cursor_opaque(struct rpcrdma_cursor *, void *buf,
                                              uint32_t max, uint32_t *ret_len);
/* Copies an opaque of fixed length, wherever it lies.  False: nothing was written. */
RPCRDMA_API bool rpcrdma_cursor_copy(struct rpcrdma_cursor *, void *to, size_t len);
/* Skips @len octets and their roundup; 0 is an opaque of no octets. */
RPCRDMA_API void rpcrdma_cursor_skip(struct rpcrdma_cursor *, size_t len);
/*
 * An eligible result for which the call had a destination: reads the length word, and
 * returns where the octets are.  That is @dest->ret_base if they were placed there, else
 * in the results.  Fails with -EPROTO if they came in the results though the server was
 * offered room for them, which breaks the binding [v2 §A.1]; and if the length is not
 * that of what was placed, or above @dest->len.
 */
RPCRDMA_API const void *rpcrdma_cursor_dest(struct rpcrdma_cursor *,
                                            const struct rpcrdma_dest *dest,
                                            uint32_t *ret_len);
/* Octets that are left, items included; 0 after an error. */
RPCRDMA_API size_t rpcrdma_cursor_left(const struct rpcrdma_cursor *);
/* The first error, or 0.  -EBADMSG: there were fewer octets than were read, an opaque was
 * longer than @max, or an item began or ended elsewhere than an opaque. */
RPCRDMA_API int rpcrdma_cursor_error(const struct rpcrdma_cursor *);
/* The same, and -EBADMSG if anything but roundup is left. */
RPCRDMA_API int rpcrdma_cursor_end(struct rpcrdma_cursor *);

#ifdef __cplusplus
}
#endif
#endif
