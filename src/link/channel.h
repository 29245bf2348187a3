/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extensions of one link: the table that its connection reads, and whose
 * each number is.  It has copies, since a link may outlive what made it, and the
 * program's structures may be of another size (sized.h).
 */
#ifndef RR_DRIVE_EXT_H
#define RR_DRIVE_EXT_H

#include "conn/conn.h"
#include <rpcrdma/extension.h>

struct rr_link;

struct rr_exts {
	struct rr_ext_table table;
	struct rpcrdma_extension ext[RPCRDMA_MAX_EXTENSIONS];
	/* What the program calls them by. */
	const struct rpcrdma_extension *given[RPCRDMA_MAX_EXTENSIONS];
	void *data[RPCRDMA_MAX_EXTENSIONS]; /* rpcrdma_channel_set */
	unsigned n;
	bool up; /* the handlers were told */
};

/* 0 and NULL if @o has none; errors of rpcrdma_extensions_check, -ENOMEM. */
int rr_exts_new(const struct rpcrdma_conn_options *o,
                struct rr_exts **ret) RR_MUST_CHECK;

/* What the link's connection says; called while it is being drained. */
void rr_exts_event(struct rr_link *, const struct rr_ext_event *);
void rr_exts_up(struct rr_link *);
/* Is that a code of an extension of this link?  Any thread. */
bool rr_exts_error(const struct rr_link *, uint32_t code);
/* The channel of a link; NULL: it has none, or none yet or any more. */
struct rpcrdma_channel *rr_link_channel(struct rr_link *);
/* No channel any more; harmless if there was none. */
void rr_exts_down(struct rr_link *);

#endif
