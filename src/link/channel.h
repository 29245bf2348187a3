/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extensions of one link: the table that its connection reads, and the extension
 * that each number belongs to.  The structures are copies, since a link may outlive
 * the client or listener that made it, and the program's structures may have another
 * size (sized.h).
 */
#ifndef RR_DRIVE_EXT_H
#define RR_DRIVE_EXT_H

#include "conn/conn.h"
#include <rpcrdma/extension.h>

struct rr_link;

struct rr_exts {
	struct rr_ext_table table;
	struct rpcrdma_extension ext[RPCRDMA_MAX_EXTENSIONS];
	/* The program's structures, by which it names an extension. */
	const struct rpcrdma_extension *given[RPCRDMA_MAX_EXTENSIONS];
	void *data[RPCRDMA_MAX_EXTENSIONS]; /* rpcrdma_channel_set */
	unsigned n;
	bool up; /* up was called, and down was not */
};

/* Copies the extensions of @o; NULL if it has none.  Returns the errors of
 * rpcrdma_extensions_check, and -ENOMEM. */
int rr_exts_new(const struct rpcrdma_conn_options *o,
                struct rr_exts **ret) RR_MUST_CHECK;

/* Passes an event of the connection on; called while the link is being drained. */
void rr_exts_event(struct rr_link *, const struct rr_ext_event *);
void rr_exts_up(struct rr_link *);
/* Is @code an error code of an extension of this link?  Any thread. */
bool rr_exts_error(const struct rr_link *, uint32_t code);
/* Returns the channel of a link; NULL without extensions, before READY, and after the
 * loss. */
struct rpcrdma_channel *rr_link_channel(struct rr_link *);
/* Calls the handlers down, if up was called. */
void rr_exts_down(struct rr_link *);

#endif
