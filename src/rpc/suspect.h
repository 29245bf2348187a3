/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that may be the reason why connections end.                 [v2 §7.3]
 *
 * A call that is out when its connection is lost is sent again.  Were it the reason of
 * the loss, it would end the next connection too, and take the other calls along for
 * ever.  So each call counts its losses.
 *
 * A call with RR_LOSSES_SUSPECT losses is suspected.  Suspected calls are sent first on a
 * new connection, one after the other; each has the connection to itself until it ends,
 * or for RR_LOSSES_LONE_NS, since others must not wait for what merely takes long.  A call
 * that loses RR_LOSSES_LONE connections that it had to itself, or RR_LOSSES_MAX in all,
 * ends with the error of the last.
 */
#ifndef RR_RPC_SUSPECT_H
#define RR_RPC_SUSPECT_H

#include "base/base.h"

enum { RR_LOSSES_SUSPECT = 2, RR_LOSSES_LONE = 2, RR_LOSSES_MAX = 8 };
#define RR_LOSSES_LONE_NS RR_SEC(2)

struct rr_losses {
	unsigned all, lone; /* connections lost; of these, with no other call on them */
};

static inline bool rr_losses_suspect(const struct rr_losses *n)
{
	return n->all >= RR_LOSSES_SUSPECT;
}

/* Counts one more.  True: the call is not to be sent again. */
static inline bool rr_losses_add(struct rr_losses *n, bool lone)
{
	n->all++;
	n->lone += lone;
	return n->lone >= RR_LOSSES_LONE || n->all >= RR_LOSSES_MAX;
}

#endif
