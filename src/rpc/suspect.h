/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that may cause the loss of connections.                     [v2 §7.3]
 *
 * A call whose connection was lost is sent again.  If it caused the loss, it would end
 * the next connection too, and all other calls with it, for ever.  So each call counts
 * its losses.
 *
 * A call with RR_LOSSES_SUSPECT losses is suspected.  Suspected calls are sent first on
 * a new connection, one after the other.  Each has the connection to itself until it
 * ends, but for RR_LOSSES_LONE_NS at most, so that other calls do not wait for one that
 * is merely slow.  A call ends with the last error after it was lost with
 * RR_LOSSES_LONE connections that it had to itself, or with RR_LOSSES_MAX connections
 * in all.
 */
#ifndef RR_RPC_SUSPECT_H
#define RR_RPC_SUSPECT_H

#include "base/base.h"

enum { RR_LOSSES_SUSPECT = 2, RR_LOSSES_LONE = 2, RR_LOSSES_MAX = 8 };
#define RR_LOSSES_LONE_NS RR_SEC(2)

struct rr_losses {
	unsigned all, lone; /* connections lost; those that the call had to itself */
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
