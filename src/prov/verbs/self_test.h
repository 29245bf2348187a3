/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Self-test of a device: checks that its memory windows work.
 *
 * Capability flags are not reliable.  A window that stays open after its invalidation
 * would let a peer write to memory that has been reused.
 *
 * The test connects two RC queue pairs of the device to each other
 * (self_test_pair.h) and binds a type 2 window.  It writes and reads through the
 * window, and invalidates the window by Send With Invalidate and by a local work
 * request.  The following Writes must fail and change nothing: a Write after either
 * invalidation, a Write to a window with read access only, a Write with an earlier
 * handle of the window, and a Write beyond the window's end.
 *
 * The test runs once per device and process, and only for an endpoint that would use
 * windows.  It opens the device, takes milliseconds, and is limited to two seconds; a
 * device that could not be tested is assumed to have no windows.  The kernel may log
 * each refusal, as rxe does from Linux 6.12 on: a few lines per process.
 */
#ifndef RR_PROV_VERBS_SELF_TEST_H
#define RR_PROV_VERBS_SELF_TEST_H

#include "prov/verbs/dl.h"

struct rr_verbs_caps {
	/* The device's queue pairs are connected by TCP, so the data sink of a Read
	 * needs remote write access. */
	bool iwarp;
	/* True if type 2 windows work: a work request binds a window, the peer can then
	 * write and read through the window, and local and remote invalidation end the
	 * access.  The Receive's completion reports a remote invalidation and the
	 * R_key.  If false, each region is a separate memory registration, and
	 * ibv_dereg_mr ends the peer's access. */
	bool windows;
	/* The device enforces a window's bounds.  If it does not (rxe in Linux 6.1),
	 * the peer can access the entire registration to which the window is bound.
	 * Each registration must then cover only the window's octets. */
	bool window_bounds;
	/* The bit of a Receive's wc_flags that makes wc.invalidated_rkey valid:
	 * IBV_WC_WITH_INV, according to the documentation.  Not used if @windows is
	 * false. */
	unsigned with_inv;
	char text[96]; /* the result as text for users */
};

/*
 * The test does not invalidate an unbound window, because that may crash the machine:
 * rxe in Linux 6.1 dereferences a null pointer.  So the provider posts no local
 * invalidation of a window that the peer has already invalidated.
 */

/* Gets the test result for the device of @ctx.  The first call for a device runs the
 * test; the result is cached until the process ends. */
void rr_verbs_get_caps(const struct rr_rdma_lib *lib, struct ibv_context *ctx,
                       struct rr_verbs_caps *ret);

/* Runs the test without caching, and fills @ret.  Returns -EAGAIN if no port of @dev
 * was up: @ret then reports no windows, but a later test may find them. */
int rr_verbs_self_test(const struct rr_rdma_lib *lib, struct ibv_device *dev,
                       struct rr_verbs_caps *ret);

#endif
