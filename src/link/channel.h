/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extensions of one link: the table for its connection, and the extension to which
 * each number belongs.  The program's structures are copied, because a link may outlive
 * the client or listener that made it, and the program's structures may differ in size
 * (sized.h).
 */
#ifndef RR_LINK_CHANNEL_H
#define RR_LINK_CHANNEL_H

#include "conn/conn.h"
#include <rpcrdma/extension.h>

struct rr_link;

struct rr_exts {
	struct rr_ext_table table;
	struct rpcrdma_extension ext[RPCRDMA_MAX_EXTENSIONS];
	/* the program's structures; the program refers to an extension by its
	 * address */
	const struct rpcrdma_extension *given[RPCRDMA_MAX_EXTENSIONS];
	void *data[RPCRDMA_MAX_EXTENSIONS]; /* set by rpcrdma_channel_set */
	unsigned n;
	bool up; /* up handlers have been called, but not the down handlers */
};

/* Copies the extensions in @o; @ret is NULL if there are none.  Returns 0, -ENOMEM, or
 * an error from rpcrdma_extensions_check. */
int rr_exts_new(const struct rpcrdma_conn_options *o,
                struct rr_exts **ret) RR_MUST_CHECK;

/* Passes a connection's event to the event's extension.  Called while the link's pump
 * carries out actions. */
void rr_exts_event(struct rr_link *, const struct rr_ext_event *);
void rr_exts_up(struct rr_link *);
/* Returns true if @code is an error code of one of the link's extensions.  May be
 * called in any thread. */
bool rr_exts_error(const struct rr_link *, uint32_t code);
/* Returns the link's channel, or NULL if the link has no extensions, was never ready or
 * is lost. */
struct rpcrdma_channel *rr_link_channel(struct rr_link *);
/* Calls the down handlers if the up handlers have been called. */
void rr_exts_down(struct rr_link *);

#endif
