/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions of RPC-over-RDMA version 2.                          [v2 §B]
 *
 * Version 2 may be extended without a change of version: by header types,
 * flags, transport properties and error codes.  An extension names those that
 * are its own and brings the functions that handle them; a connection or a
 * listener gets it by its options.  A peer that does not know it loses nothing:
 * unknown properties and flags are ignored, an unknown header type is answered
 * by an error, and then not sent any more on that connection.
 *
 * All functions and handlers belong to the engine's thread, but where a line
 * says "any thread".  Nothing of this exists on a connection of version 1.
 *
 * Numbers: header types 0 to 5, properties 1 to 6, error codes 1 to 10 and 100
 * and flags 0x00000007 are the base's; no two extensions of one connection may
 * use the same.  For trials take values with the top bit set.   [O1]
 */
#ifndef RPCRDMA_EXTENSION_H
#define RPCRDMA_EXTENSION_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One transport connection: from the first handler that names it until @down
 * returns.  A client that reconnects gets another one. */
struct rpcrdma_channel;

struct rpcrdma_extension_message {
	uint32_t htype, xid;
	uint32_t flags;   /* those of the extension */
	bool response;    /* RDMA2_F_RESPONSE: the XID is one that we sent */
	const void *body; /* what follows the prefix; borrowed */
	size_t len;
};

struct rpcrdma_extension_htype {
	uint32_t number;
	uint32_t flags; /* bits of rdma_flags that messages of this type may carry */
	/* One came.  0, or a code that RDMA2_ERROR reports to its sender (not for a
	 * response: errors about those are never sent). */
	uint32_t (*received)(struct rpcrdma_channel *,
	                     const struct rpcrdma_extension_message *, void *arg);
};

enum rpcrdma_property_event {
	RPCRDMA_PROPERTY_RECEIVED = 0, /* the peer's value; the last one counts */
	RPCRDMA_PROPERTY_DEFAULT = 1,  /* it sent none */
	RPCRDMA_PROPERTY_REFUSED = 2, /* it refused ours, and uses its default for us */
};

struct rpcrdma_extension_property {
	uint32_t id;
	const void *value; /* ours: some XDR octets; lent.  NULL: none is sent */
	uint32_t len;
	const void *preset; /* taken for the peer's if it sends none; lent */
	uint32_t preset_len;
	/* Is that XDR of this property's type?  Depends on the octets alone; NULL:
	 * anything is.  No: the peer's whole set is refused. [v2 §7.2.2] */
	bool (*conforms)(const void *data, size_t len);
	/* Before @up; REFUSED also later.  @data is borrowed. */
	void (*received)(struct rpcrdma_channel *, enum rpcrdma_property_event,
	                 const void *data, size_t len, void *arg);
};

struct rpcrdma_extension {
	size_t size;
	const char *name;
	void *arg; /* for the handlers */
	const struct rpcrdma_extension_htype *htypes;
	unsigned n_htypes;
	const struct rpcrdma_extension_property *properties;
	unsigned n_properties;
	/* Codes without data (void arms): on receipt they end a call, as
	 * RPCRDMA_TRANSPORT_ERROR, where others would be ignored. */
	const uint32_t *errors;
	unsigned n_errors;
	/* The rest may be NULL. */
	void (*up)(struct rpcrdma_channel *, void *arg);   /* messages may flow */
	void (*down)(struct rpcrdma_channel *, void *arg); /* after @up only */
	/* RDMA2_ERROR came about the message @xid of type @htype: a code of an extension,
	 * or of enum rpcrdma_transport_error, as RPCRDMA_ERR_INVAL_HTYPE from a peer
	 * that does not know the type.                              [v2 §7.1.2] */
	void (*refused)(struct rpcrdma_channel *, uint32_t htype, uint32_t xid,
	                uint32_t code, void *arg);
};

/* Of one connection, all extensions together. */
enum { RPCRDMA_MAX_EXTENSIONS = 8, RPCRDMA_MAX_EXTENSION_NUMBERS = 16 };

/*
 * Can these be used together?  0; -EEXIST: a number is the base's, or stands
 * there twice; -E2BIG: more than the limits above, or as for options; -EINVAL.
 * rpcrdma_connect and rpcrdma_listen fail with the same.
 */
RPCRDMA_API int rpcrdma_extensions_check(const struct rpcrdma_extension *const *,
                                         unsigned n);

/* The channel of a client's connection; NULL while it is not up. */
RPCRDMA_API struct rpcrdma_channel *rpcrdma_conn_channel(const struct rpcrdma_conn *);
/* The one that a request came by; NULL if that is gone. */
RPCRDMA_API struct rpcrdma_channel *
rpcrdma_request_channel(const struct rpcrdma_request *);
/* A pointer of @ext's own for each channel, NULL at first. */
RPCRDMA_API void rpcrdma_channel_set(struct rpcrdma_channel *,
                                     const struct rpcrdma_extension *ext, void *);
RPCRDMA_API void *rpcrdma_channel_get(const struct rpcrdma_channel *,
                                      const struct rpcrdma_extension *ext);

/*
 * Sends a message: @len octets, a multiple of four, follow the prefix; they are
 * copied.  With @response @xid is that of the message that it answers; without,
 * 0 asks for a new one, which @ret_xid (may be NULL) gets.  It waits for a
 * credit behind at most 64 others.
 * -EOPNOTSUPP: the peer does not know this type; -EMSGSIZE: longer than the
 * inline threshold; -ENOBUFS: 64 wait; -EAGAIN: not up; -EINVAL: a type or flag that
 * is not in an extension of this channel; -ENOMEM; or why the channel ends.
 */
RPCRDMA_API int rpcrdma_channel_send(struct rpcrdma_channel *, uint32_t htype,
                                     uint32_t flags, bool response, uint32_t xid,
                                     const void *body, size_t len, uint32_t *ret_xid);

/*
 * Answers a request by RDMA2_ERROR with a code of an extension of its channel; the
 * caller gets RPCRDMA_TRANSPORT_ERROR.  Any thread.  -EINVAL: no such code, or a
 * procedure with execute_once, whose results are kept.
 */
RPCRDMA_API int rpcrdma_request_extension_error(struct rpcrdma_request *,
                                                uint32_t code);

#ifdef __cplusplus
}
#endif
#endif
