/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device really does with memory windows, found out by trying: the
 * capability flags lie, and a window that does not fence would let a peer write
 * into memory that is someone else's by then.
 *
 * The test connects two RC queue pairs of the device with each other, binds a
 * window of type 2, writes through it, has it invalidated by Send With
 * Invalidate and by the local work request, and demands each time that a Write
 * thereafter fails and changes nothing.  It runs once a device (opened for that,
 * by any thread), takes milliseconds, and is bounded to two seconds; what could
 * not be tried is off.
 */
#ifndef RR_PROV_VERBS_PROBE_H
#define RR_PROV_VERBS_PROBE_H

#include "prov/verbs/dl.h"

struct rr_verbs_caps {
	/* Queue pairs of this device are connected by TCP: a Read's sink needs
	 * remote write access. */
	bool iwarp;
	/* Windows of type 2 can be allocated and bound by a work request, carry
	 * RDMA Writes and Reads, and are closed by local and by remote
	 * invalidation, which the Receive's completion tells with the R_key.
	 * Else: only registrations, ended by ibv_dereg_mr. */
	bool windows;
	/* Which bit of a Receive's wc_flags says that wc.invalidated_rkey counts:
	 * IBV_WC_WITH_INV by the book.  Of no meaning without windows. */
	unsigned with_inv;
	char words[96]; /* what the test found, for traces and people */
};

/* Of the device that @ctx is open on.  The first time, this blocks for as long
 * as the test takes. */
void rr_verbs_probe(struct ibv_context *ctx, struct rr_verbs_caps *ret);

#endif
