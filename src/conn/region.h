/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region: memory that the peer may access.  A region is VALID from its registration
 * until its invalidation begins, the peer has invalidated it, or the connection is
 * lost.
 */
#ifndef RR_CONN_REGION_H
#define RR_CONN_REGION_H

#include "conn/action.h"
#include "conn/states.h"

/* The kind of chunk that a region belongs to: Position Zero chunk, Read chunk, Write
 * chunk or Reply chunk of a Call, or Read chunk of a Reply. */
enum rr_mr_use { RR_USE_CALL, RR_USE_READ, RR_USE_WRITE, RR_USE_REPLY, RR_USE_EXPOSED };

struct rr_mr;

/* Functions with which the owner of a region handles the provider's answers. */
struct rr_mr_owner {
	/* Called when the registration has succeeded (@status 0) or failed. */
	void (*registered)(struct rr_conn *, struct rr_mr *, int status);
	/* Called when a local invalidation has ended the peer's access. */
	void (*invalidated)(struct rr_conn *, struct rr_mr *);
};

struct rr_mr {
	struct rr_op op; /* the REGISTER action, later the INVALIDATE action */
	const struct rr_mr_owner *ops;
	void *owner;
	uint32_t xid; /* XID of the call or request, for traces */
	enum rr_mr_phase phase;
	enum rr_mr_use use;
	unsigned index;    /* RR_USE_WRITE: index of the destination */
	uint32_t position; /* RR_USE_READ: Position of the item */
	uint8_t *base;
	size_t len;
	uint32_t handle;
	uint64_t offset;
	bool irrevocable; /* the peer must not invalidate the region */
};

/* Initialises a region of @len octets at @base. */
void rr_mr_init(struct rr_mr *, const struct rr_mr_owner *, void *owner, uint32_t xid,
                enum rr_mr_use, const void *base, size_t len);
/* Returns the access rights of the peer, for RR_ACT_REGISTER. */
unsigned rr_mr_access(const struct rr_mr *);
/* Queues the registration.  ops->registered is called later, unless the region is
 * withdrawn first. */
void rr_mr_register(struct rr_conn *, struct rr_mr *);
/* Ends the peer's access if the region is accessible, or cancels its registration if
 * possible.  Returns the change in the number of answers that the provider owes: -1 if
 * the registration was cancelled before it was polled; 1 if the region is being
 * invalidated; otherwise 0.  If the connection is already closing, nothing is queued,
 * because closing the connection invalidates the region. */
int rr_mr_withdraw(struct rr_conn *, struct rr_mr *);
/* Records that the peer has invalidated the region.  Returns false if the region was
 * not accessible. */
bool rr_mr_take_remote(struct rr_conn *, struct rr_mr *);
/* Handles the provider's answer to RR_ACT_REGISTER. */
void rr_mr_registered(struct rr_conn *, struct rr_mr *, int status, uint32_t handle,
                      uint64_t offset);
/* Handles the completion of RR_ACT_INVALIDATE. */
void rr_mr_invalidated(struct rr_conn *, struct rr_mr *, int status);

/* -- segments -------------------------------------------------------------- */

/* Returns the number of segments in which @len octets are announced to the peer. */
size_t rr_mr_count_segments(const struct rr_conn *, size_t len);
/* Returns the region's segment that begins at offset @at. */
struct rr_segment rr_mr_segment(const struct rr_conn *, const struct rr_mr *,
                                size_t at);
/* Appends the region to the Read list, at its Position.  The caller has counted the
 * segments, so that the list cannot overflow. */
void rr_mr_list_read(const struct rr_conn *, const struct rr_mr *, struct rr_lists *);

#endif
