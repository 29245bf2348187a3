/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device really does with memory windows, found out by trying: the
 * capability flags lie, and a window that does not fence would let a peer write
 * into memory that is someone else's by then.
 *
 * The test connects two RC queue pairs of the device with each other, binds a
 * window of type 2, writes and reads through it, has it invalidated by Send With
 * Invalidate and by the local work request, and demands each time that a Write
 * thereafter fails and changes nothing; so too for a Write into a window that
 * may only be read, by a handle that it had before, and beyond its end.  It runs
 * once a device (opened for that, by any thread) and process, and only for an
 * endpoint that would use windows, takes milliseconds, and is bounded to two seconds;
 * what could not be tried is off.  The kernel may note each refusal in its log, as rxe
 * does from Linux 6.12 on: some lines for each process.
 */
#ifndef RR_PROV_VERBS_SELF_TEST_H
#define RR_PROV_VERBS_SELF_TEST_H

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
	/* A window's own bounds hold.  If not (rxe of Linux 6.1), a peer reaches
	 * all of the registration behind it: that must be of just those octets. */
	bool window_bounds;
	/* Which bit of a Receive's wc_flags says that wc.invalidated_rkey counts:
	 * IBV_WC_WITH_INV by the book.  Of no meaning without windows. */
	unsigned with_inv;
	char text[96]; /* what the test found, for traces and people */
};

/*
 * Not tried, since it may take the machine down: rxe of Linux 6.1 follows a null
 * pointer when a window that is bound to nothing is invalidated.  A provider posts
 * no local invalidation of a window that the peer has invalidated.
 */

/* Of the device that @ctx is open on.  The first time, this blocks for as long
 * as the test takes; the answer is kept for the process. */
void rr_verbs_get_caps(const struct rr_rdma_lib *lib, struct ibv_context *ctx,
                       struct rr_verbs_caps *ret);

/* The test itself, with nothing kept.  -EAGAIN: no port of @dev was ready for it,
 * later may be another matter; @ret is filled in (windows off) all the same. */
int rr_verbs_self_test(const struct rr_rdma_lib *lib, struct ibv_device *dev,
                       struct rr_verbs_caps *ret);

#endif
