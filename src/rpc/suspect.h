/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds calls that may have caused the loss of connections.        [v2 §7.3]
 *
 * A call whose connection was lost is sent again.  If the call itself caused the loss,
 * it would end every later connection too, along with all other calls.  So each call
 * counts the connections that were lost while it was outstanding.
 *
 * A call with RR_LOSSES_SUSPECT losses is suspected.  Suspected calls are sent first on
 * a new connection, one after the other.  Each has the connection to itself until the
 * call ends, but for at most RR_LOSSES_LONE_NS, so that other calls do not wait for one
 * that is merely slow.  A call ends with the last connection's error after it has lost
 * RR_LOSSES_LONE connections that it used alone, or RR_LOSSES_MAX connections in total.
 */
#ifndef RR_RPC_SUSPECT_H
#define RR_RPC_SUSPECT_H

#include "base/base.h"

enum { RR_LOSSES_SUSPECT = 2, RR_LOSSES_LONE = 2, RR_LOSSES_MAX = 8 };
#define RR_LOSSES_LONE_NS RR_SEC(2)

struct rr_losses {
	/* @all: connections lost; @lone: lost while they carried only this call */
	unsigned all, lone;
};

static inline bool rr_losses_suspect(const struct rr_losses *n)
{
	return n->all >= RR_LOSSES_SUSPECT;
}

/* Counts a loss.  Returns true if the call must not be sent again. */
static inline bool rr_losses_add(struct rr_losses *n, bool lone)
{
	n->all++;
	n->lone += lone;
	return n->lone >= RR_LOSSES_LONE || n->all >= RR_LOSSES_MAX;
}

#endif
