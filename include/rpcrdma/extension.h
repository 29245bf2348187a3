/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions of RPC-over-RDMA version 2.                          [v2 §B]
 *
 * Version 2 can be extended without a new version: by header types, flags, transport
 * properties and error codes.  An extension consists of a list of its numbers and the
 * functions that handle them.  The options of a connection or a listener list its
 * extensions.  A peer that does not know an extension still works: it ignores unknown
 * properties and flags, and answers an unknown header type with an error.  The library
 * then no longer sends that type on the connection.
 *
 * Functions must be called, and handlers are called, in the engine's thread, unless
 * their contract says "any thread".  A connection of version 1 has no extensions.
 *
 * The base protocol uses header types 0 to 5, properties 1 to 6, error codes 1 to 10
 * and 100, and flags 0x00000007.  Two extensions of one connection must not share a
 * number. Experiments use values with the top bit set.
 * [O1]
 */
#ifndef RPCRDMA_EXTENSION_H
#define RPCRDMA_EXTENSION_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One transport connection.  Valid from the first handler that receives it until @down
 * returns.  Each reconnect makes a new channel. */
struct rpcrdma_channel;

struct rpcrdma_extension_message {
	uint32_t htype, xid;
	uint32_t flags;   /* of the extension */
	bool response;    /* RDMA2_F_RESPONSE: answers a message sent from here */
	const void *body; /* the octets after the prefix; borrowed */
	size_t len;
};

struct rpcrdma_extension_htype {
	uint32_t number;
	uint32_t flags; /* bits of rdma_flags that messages of this type may carry */
	/* Called for each received message.  Returns 0 or an error code, which the
	 * library reports to the sender in an RDMA2_ERROR.  No error is sent about a
	 * response. */
	uint32_t (*received)(struct rpcrdma_channel *,
	                     const struct rpcrdma_extension_message *, void *arg);
};

enum rpcrdma_property_event {
	RPCRDMA_PROPERTY_RECEIVED = 0, /* the peer sent this value */
	RPCRDMA_PROPERTY_DEFAULT = 1,  /* the peer sent no value */
	RPCRDMA_PROPERTY_REFUSED = 2,  /* the peer refused our value, and uses the
					  property's default instead */
};

struct rpcrdma_extension_property {
	uint32_t id;
	const void *value; /* XDR octets of the local value; lent.  NULL: not sent */
	uint32_t len;
	const void *preset; /* value assumed for a peer that sends none; lent */
	uint32_t preset_len;
	/* Returns true if the octets are valid XDR of this property's type.  The result
	 * must depend on the octets alone.  If false, the library refuses all of the
	 * peer's properties.  NULL: any octets are accepted.           [v2 §7.2.2] */
	bool (*conforms)(const void *data, size_t len);
	/* Called before @up, and possibly later with REFUSED.  @data is borrowed. */
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
	/* Error codes without data (void arms).  A call for which the peer sends such a
	 * code ends with RPCRDMA_TRANSPORT_ERROR; unknown codes are ignored. */
	const uint32_t *errors;
	unsigned n_errors;
	/* The members below may be NULL. */
	void (*up)(struct rpcrdma_channel *, void *arg);   /* messages may be sent */
	void (*down)(struct rpcrdma_channel *, void *arg); /* called only after @up */
	/* Called for an RDMA2_ERROR about the message @xid of type @htype.  @code is an
	 * error code that an extension or enum rpcrdma_transport_error defines.  A peer
	 * that does not know the type sends RPCRDMA_ERR_INVAL_HTYPE.
	 * [v2 §7.1.2] */
	void (*refused)(struct rpcrdma_channel *, uint32_t htype, uint32_t xid,
	                uint32_t code, void *arg);
};

/* Limits for all extensions of one connection together. */
enum { RPCRDMA_MAX_EXTENSIONS = 8, RPCRDMA_MAX_EXTENSION_NUMBERS = 16 };

/*
 * Checks whether these extensions can be used together.  Returns 0 or -EINVAL.  Returns
 * -EEXIST if a number belongs to the base protocol or is used twice.  Returns -E2BIG if
 * the extensions exceed the limits above, or a structure has a member that this library
 * lacks.  rpcrdma_connect and rpcrdma_listen fail with the same errors.
 */
RPCRDMA_API int rpcrdma_extensions_check(const struct rpcrdma_extension *const *,
                                         unsigned n);

/* Returns the channel of a client's connection, or NULL while the connection is not up.
 */
RPCRDMA_API struct rpcrdma_channel *rpcrdma_conn_channel(const struct rpcrdma_conn *);
/* Returns the channel on which a request was received, or NULL if the channel has
 * ended. */
RPCRDMA_API struct rpcrdma_channel *
rpcrdma_request_channel(const struct rpcrdma_request *);
/* Set and get a pointer that @ext keeps for each channel; initially NULL. */
RPCRDMA_API void rpcrdma_channel_set(struct rpcrdma_channel *,
                                     const struct rpcrdma_extension *ext, void *);
RPCRDMA_API void *rpcrdma_channel_get(const struct rpcrdma_channel *,
                                      const struct rpcrdma_extension *ext);

/*
 * Sends a message.  @len octets, a multiple of four, are copied and follow the prefix.
 * If @response is true, the message is a response, and @xid is the XID of the message
 * that it answers.  Otherwise, if @xid is 0, the library chooses an XID and stores it
 * in *ret_xid; @ret_xid may be NULL.  At most 64 messages wait for credits.  Returns
 * -EOPNOTSUPP if the peer does not know this type; -EMSGSIZE if the message exceeds the
 * inline threshold; -ENOBUFS if 64 messages wait already; -EAGAIN if the channel is not
 * up; -EINVAL if no extension of this channel has the type or flag; -ENOMEM; or the
 * error that ended the channel.
 */
RPCRDMA_API int rpcrdma_channel_send(struct rpcrdma_channel *, uint32_t htype,
                                     uint32_t flags, bool response, uint32_t xid,
                                     const void *body, size_t len, uint32_t *ret_xid);

/*
 * Answers a request with an RDMA2_ERROR that carries an error code from an extension of
 * its channel; the caller gets RPCRDMA_TRANSPORT_ERROR.  Any thread.  Returns -EINVAL
 * if no extension has the code, or if the procedure has execute_once set, since the
 * library may keep replies of such a procedure.
 */
RPCRDMA_API int rpcrdma_request_extension_error(struct rpcrdma_request *,
                                                uint32_t code);

#ifdef __cplusplus
}
#endif
#endif
