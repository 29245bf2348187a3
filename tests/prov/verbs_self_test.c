/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The self-test of memory windows: its result for the devices of this machine, and
 * that it detects a device that breaks one rule.  Such a device is a real one, of
 * whose functions one is replaced.
 *
 *   prov_verbs_self_test [windows | none]   what the devices must turn out to have
 *
 * Exits with 77 if there is no device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "prov/verbs/self_test.h"

static const struct rr_rdma_lib *lib;
static struct ibv_device **devices;
static int n_devices;
static const char *wanted = "";

/* -- a device that lies --------------------------------------------------------- */

enum lie {
	HONEST,
	SEND_INVALIDATES_NOTHING,
	NOTHING_TELLS_OF_IT,
	LOCAL_INVALIDATES_NOTHING,
	WINDOWS_ARE_TOO_LONG,
	REGISTRATIONS_ARE_TOO_LONG,
	RIGHTS_ARE_TOO_MANY,
	BINDING_FAILS,
};

static struct ibv_context_ops real;
static struct rr_rdma_lib lying;
static enum lie lie;
static struct ibv_mr *widest; /* the first of a trial */

/* Something else in place of the work request @w, which its poster keeps. */
static void twist(struct ibv_send_wr *w)
{
	if (w->opcode == IBV_WR_SEND_WITH_INV && lie == SEND_INVALIDATES_NOTHING)
		w->opcode = IBV_WR_SEND;
	if (w->opcode == IBV_WR_BIND_MW && lie == WINDOWS_ARE_TOO_LONG)
		w->bind_mw.bind_info.length += 64;
	if (w->opcode == IBV_WR_BIND_MW && lie == RIGHTS_ARE_TOO_MANY)
		w->bind_mw.bind_info.mw_access_flags |= IBV_ACCESS_REMOTE_WRITE;
	if (w->opcode == IBV_WR_BIND_MW && lie == REGISTRATIONS_ARE_TOO_LONG) {
		w->bind_mw.bind_info.length += 64;
		w->bind_mw.bind_info.mr = widest;
	}
	if (w->opcode == IBV_WR_BIND_MW && lie == BINDING_FAILS)
		w->bind_mw.bind_info.length = 1u << 20;
	if (w->opcode == IBV_WR_LOCAL_INV && lie == LOCAL_INVALIDATES_NOTHING) {
		w->opcode = IBV_WR_RDMA_WRITE; /* of nothing, to nowhere */
		w->num_sge = 0;
		w->wr.rdma.remote_addr = 0;
		w->wr.rdma.rkey = 0;
	}
}

static int lying_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                           struct ibv_send_wr **bad)
{
	struct ibv_send_wr w = *wr;

	twist(&w);
	return real.post_send(qp, &w, bad);
}

static uint32_t handle; /* the window's, for a completion that lies about it */

static int lying_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int got = real.poll_cq(cq, n, wc);

	for (int i = 0; i < got; i++) {
		if (lie == NOTHING_TELLS_OF_IT)
			wc[i].wc_flags = 0;
		if (lie == SEND_INVALIDATES_NOTHING && wc[i].opcode == IBV_WC_RECV) {
			wc[i].wc_flags |= handle ? IBV_WC_WITH_INV : 0;
			wc[i].invalidated_rkey = handle;
		}
	}
	return got;
}

/* Keeps the handle that the Send should have invalidated. */
static int noting_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                            struct ibv_send_wr **bad)
{
	handle = wr->opcode == IBV_WR_SEND_WITH_INV ? wr->invalidate_rkey : 0;
	return lying_post_send(qp, wr, bad);
}

static struct ibv_mr *noting_reg(struct ibv_pd *pd, void *p, size_t len, int access)
{
	struct ibv_mr *mr = lib->ibv_reg_mr(pd, p, len, access);

	if (!widest)
		widest = mr;
	return mr;
}

static struct ibv_context *lying_open(struct ibv_device *dev)
{
	struct ibv_context *ctx = lib->ibv_open_device(dev);

	assert_non_null(ctx);
	widest = NULL;
	real = ctx->ops;
	ctx->ops.post_send = noting_post_send;
	ctx->ops.poll_cq = lying_poll_cq;
	return ctx;
}

/* -- tests ---------------------------------------------------------------------- */

static void devices_have_what_they_should(void **state)
{
	for (int i = 0; i < n_devices; i++) {
		const char *name = lib->ibv_get_device_name(devices[i]);
		struct rr_verbs_caps c;

		assert_int_equal(rr_verbs_self_test(lib, devices[i], &c), 0);
		print_message("%s: %s\n", name, c.text);
		assert_true(c.text[0]);
		if (c.iwarp)
			assert_false(c.windows);
		if (!c.windows)
			assert_false(c.window_bounds);
		if (*wanted && c.windows != !strcmp(wanted, "windows"))
			fail_msg("%s should have \"%s\"", name, wanted);
	}
}

/* Also while others ask; what is kept is what was found. */
static void answers_are_kept(void **state)
{
	for (int i = 0; i < n_devices; i++) {
		struct ibv_context *ctx = lib->ibv_open_device(devices[i]);
		struct rr_verbs_caps first, c;

		assert_non_null(ctx);
		rr_verbs_get_caps(lib, ctx, &first);
		rr_verbs_get_caps(lib, ctx, &c);
		assert_string_equal(c.text, first.text);
		assert_int_equal(c.windows, first.windows);
		assert_int_equal(c.with_inv, first.with_inv);
		assert_int_equal(lib->ibv_close_device(ctx), 0);
	}
}

static void each_lie_is_found_out(void **state)
{
	static const struct {
		enum lie lie;
		const char *text;
	} lies[] = {
	        {SEND_INVALIDATES_NOTHING, "remote invalidation does not end access"},
	        {NOTHING_TELLS_OF_IT, "remote invalidation does not end access"},
	        {LOCAL_INVALIDATES_NOTHING, "local invalidation does not end access"},
	        {WINDOWS_ARE_TOO_LONG, "an access beyond the end succeeds"},
	        {REGISTRATIONS_ARE_TOO_LONG, "an access beyond the end succeeds"},
	        {RIGHTS_ARE_TOO_MANY, "access rights are not enforced"},
	        {BINDING_FAILS, "no memory windows"},
	};
	bool tried = false;

	lying = *lib;
	lying.ibv_open_device = lying_open;
	lying.ibv_reg_mr = noting_reg;
	for (int d = 0; d < n_devices; d++) {
		struct rr_verbs_caps c;

		lie = HONEST;
		assert_int_equal(rr_verbs_self_test(&lying, devices[d], &c), 0);
		if (!c.windows)
			continue;
		tried = true;
		for (unsigned i = 0; i < RR_ARRAY_SIZE(lies); i++) {
			lie = lies[i].lie;
			assert_int_equal(rr_verbs_self_test(&lying, devices[d], &c), 0);
			print_message("lie %u: %s\n", (unsigned)lie, c.text);
			assert_false(c.windows);
			assert_non_null(strstr(c.text, lies[i].text));
		}
	}
	if (!tried) {
		print_message("NOT tried: no device here has windows\n");
		skip();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(devices_have_what_they_should),
	        cmocka_unit_test(answers_are_kept),
	        cmocka_unit_test(each_lie_is_found_out),
	};
	int failed;

	if (argc > 1)
		wanted = argv[1];
	lib = rr_rdma_lib();
	devices = lib ? lib->ibv_get_device_list(&n_devices) : NULL;
	if (!devices || n_devices == 0) {
		printf("SKIPPED: no RDMA device here: %s\n",
		       lib ? "rdma link show" : rr_rdma_reason());
		if (devices)
			lib->ibv_free_device_list(devices);
		return *wanted ? 1 : 77;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	lib->ibv_free_device_list(devices);
	return failed;
}
