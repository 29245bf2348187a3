/* SPDX-License-Identifier: BSD-3-Clause */
#include "prov/verbs/self_test.h"

#include <pthread.h>
#include <stdio.h>

#include "prov/verbs/self_test_pair.h"

/* Limit on cached results.  When it is reached, the oldest result is replaced. */
enum { CACHED_MAX = 16 };

struct cached_caps {
	char name[64];
	__be64 guid;
	struct rr_verbs_caps caps;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the cache */
static struct cached_caps cached[CACHED_MAX];
static unsigned n_cached, oldest;

/* -- steps of a round ----------------------------------------------------------- */

/* A step returns 0, MISBEHAVED if the device failed, or another error if the step could
 * not be run. */
enum { MISBEHAVED = -EPROTO };

enum { RIGHTS = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

static void fill_source(struct rr_test_pair *t, uint8_t octet)
{
	memset(t->mem + TEST_SOURCE, octet, TEST_LEN);
}

static bool is_target_filled(const struct rr_test_pair *t, uint8_t octet)
{
	for (unsigned i = 0; i < TEST_LEN; i++) {
		if (((volatile uint8_t *)t->mem)[TEST_TARGET + i] != octet)
			return false;
	}
	return true;
}

/* Binds the window by a work request on the owner's queue pair, as the provider
 * does. */
static int bind_window(struct rr_test_pair *t, struct ibv_mr *mr, unsigned access)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};
	struct ibv_wc wc;
	int err;

	wr.bind_mw.mw = t->mw;
	wr.bind_mw.rkey = ibv_inc_rkey(t->mw->rkey);
	wr.bind_mw.bind_info.mr = mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)t->mem + TEST_TARGET;
	wr.bind_mw.bind_info.length = TEST_LEN;
	wr.bind_mw.bind_info.mw_access_flags = access;
	err = rr_test_pair_run(t, t->owner, &wr, &wc);
	if (err)
		return err;
	if (wc.status != IBV_WC_SUCCESS)
		return MISBEHAVED;
	t->mw->rkey = wr.bind_mw.rkey;
	return 0;
}

/* Runs an RDMA Write or Read by the peer, @skip octets after the target's start. */
static int access_target(struct rr_test_pair *t, enum ibv_wr_opcode op, uint32_t rkey,
                         size_t skip, enum ibv_wc_status *ret)
{
	size_t at = op == IBV_WR_RDMA_READ ? TEST_SINK : TEST_SOURCE;
	struct ibv_sge sge = {(uintptr_t)t->mem + at, TEST_LEN, t->mr->lkey};
	struct ibv_send_wr wr = {.opcode = op, .sg_list = &sge, .num_sge = 1};
	struct ibv_wc wc;
	int err;

	wr.wr.rdma.remote_addr = (uintptr_t)t->mem + TEST_TARGET + skip;
	wr.wr.rdma.rkey = rkey;
	err = rr_test_pair_run(t, t->peer, &wr, &wc);
	if (!err)
		*ret = wc.status;
	return err;
}

/* Checks that a Write and a Read through the window succeed. */
static int expect_access(struct rr_test_pair *t)
{
	enum ibv_wc_status s;
	int err;

	fill_source(t, 0x5a);
	err = access_target(t, IBV_WR_RDMA_WRITE, t->mw->rkey, 0, &s);
	if (err)
		return err;
	if (s != IBV_WC_SUCCESS || !is_target_filled(t, 0x5a))
		return MISBEHAVED;
	memset(t->mem + TEST_SINK, 0, TEST_LEN);
	err = access_target(t, IBV_WR_RDMA_READ, t->mw->rkey, 0, &s);
	if (err)
		return err;
	return s == IBV_WC_SUCCESS && !memcmp(t->mem + TEST_SINK, t->mem + TEST_TARGET,
	                                      TEST_LEN)
	               ? 0
	               : MISBEHAVED;
}

/* Checks that a Write is refused, and changes nothing in the target or after it. */
static int expect_refused(struct rr_test_pair *t, uint32_t rkey, size_t skip)
{
	enum ibv_wc_status s;
	uint8_t before[2 * TEST_LEN];
	int err;

	fill_source(t, 0xa5);
	memcpy(before, t->mem + TEST_TARGET, sizeof(before));
	err = access_target(t, IBV_WR_RDMA_WRITE, rkey, skip, &s);
	if (err)
		return err;
	return s != IBV_WC_SUCCESS &&
	                       !memcmp(before, t->mem + TEST_TARGET, sizeof(before))
	               ? 0
	               : MISBEHAVED;
}

static int invalidate_locally(struct rr_test_pair *t)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV};
	struct ibv_wc wc;
	int err;

	wr.invalidate_rkey = t->mw->rkey;
	err = rr_test_pair_run(t, t->owner, &wr, &wc);
	if (err)
		return err;
	return wc.status == IBV_WC_SUCCESS ? 0 : MISBEHAVED;
}

/* Sends a message from the peer to the window's owner.  Stores in @ret_flags the
 * wc_flags of the Receive's completion. */
static int send_to_owner(struct rr_test_pair *t, enum ibv_wr_opcode op,
                         unsigned *ret_flags)
{
	struct ibv_sge sge = {(uintptr_t)t->mem + TEST_SOURCE, TEST_LEN, t->mr->lkey};
	struct ibv_send_wr wr = {.opcode = op, .sg_list = &sge, .num_sge = 1};
	struct ibv_wc sent, got;
	int err;

	if (op == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = t->mw->rkey;
	err = rr_test_pair_send(t, &wr, &sent, &got);
	if (err)
		return err;
	if (sent.status != IBV_WC_SUCCESS || got.status != IBV_WC_SUCCESS)
		return MISBEHAVED;
	if (op == IBV_WR_SEND_WITH_INV && got.invalidated_rkey != t->mw->rkey)
		return MISBEHAVED;
	*ret_flags = (unsigned)got.wc_flags;
	return 0;
}

/* -- rounds: each begins with a fresh pair and ends with a refusal ---------------- */

static int test_remote_invalidation(struct rr_test_pair *t, struct rr_verbs_caps *c)
{
	/* IBV_WC_IP_CSUM_OK has the value of the kernel's IB_WC_WITH_INVALIDATE, which
	 * rxe in Linux 6.1 reports unconverted. */
	static const unsigned bits[] = {IBV_WC_WITH_INV, IBV_WC_IP_CSUM_OK};
	unsigned plain, with;
	int err = bind_window(t, t->mr, RIGHTS);

	err = err ? err : expect_access(t);
	err = err ? err : send_to_owner(t, IBV_WR_SEND, &plain);
	err = err ? err : send_to_owner(t, IBV_WR_SEND_WITH_INV, &with);
	if (err)
		return err;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(bits); i++) {
		if (with & ~plain & bits[i]) {
			c->with_inv = bits[i];
			return expect_refused(t, t->mw->rkey, 0);
		}
	}
	return MISBEHAVED; /* no flag reports the invalidation */
}

static int test_local_invalidation(struct rr_test_pair *t, struct rr_verbs_caps *c)
{
	int err = bind_window(t, t->mr, RIGHTS);

	err = err ? err : expect_access(t);
	err = err ? err : invalidate_locally(t);
	return err ? err : expect_refused(t, t->mw->rkey, 0);
}

static int test_old_handle(struct rr_test_pair *t, struct rr_verbs_caps *c)
{
	int err = bind_window(t, t->mr, RIGHTS);
	uint32_t old = t->mw->rkey;

	err = err ? err : invalidate_locally(t);
	err = err ? err : bind_window(t, t->mr, RIGHTS);
	err = err ? err : expect_access(t);
	return err ? err : expect_refused(t, old, 0);
}

/* Tests a Write beyond the end of a window over a registration of the same size. */
static int test_registration_end(struct rr_test_pair *t, struct rr_verbs_caps *c)
{
	int err = bind_window(t, t->tight, RIGHTS);

	err = err ? err : expect_access(t);
	return err ? err : expect_refused(t, t->mw->rkey, 1);
}

/* Tests a Write beyond the end of a window over a larger registration.  Not all devices
 * refuse such a Write, and the provider does not depend on the refusal. */
static int test_window_bounds(struct rr_test_pair *t, struct rr_verbs_caps *c)
{
	int err = bind_window(t, t->mr, RIGHTS);

	err = err ? err : expect_refused(t, t->mw->rkey, 1);
	c->window_bounds = !err;
	return err == MISBEHAVED ? 0 : err;
}

static int test_read_only(struct rr_test_pair *t, struct rr_verbs_caps *c)
{
	int err = bind_window(t, t->mr, IBV_ACCESS_REMOTE_READ);

	return err ? err : expect_refused(t, t->mw->rkey, 0);
}

static const struct test_round {
	int (*run)(struct rr_test_pair *, struct rr_verbs_caps *);
	const char *text;
} rounds[] = {
        {test_remote_invalidation, "remote invalidation does not end access"},
        {test_local_invalidation, "local invalidation does not end access"},
        {test_old_handle, "an old handle gives access"},
        {test_registration_end, "an access beyond the end succeeds"},
        {test_read_only, "access rights are not enforced"},
        {test_window_bounds, "they cannot be bound"},
};

/* -- the complete test ----------------------------------------------------- */

static int run_rounds(struct rr_test_pair *t, struct rr_verbs_caps *c,
                      const char **ret_text)
{
	int err = 0;

	for (unsigned i = 0; !err && i < RR_ARRAY_SIZE(rounds); i++) {
		err = rr_test_pair_connect(t);
		err = err ? err : rounds[i].run(t, c);
		rr_test_pair_disconnect(t);
		*ret_text = rounds[i].text;
	}
	return err;
}

static int try_each_gid(struct rr_test_pair *t, struct rr_verbs_caps *c,
                        const char **ret_text)
{
	unsigned state = 0;
	int err, last = -EAGAIN;

	for (;;) {
		err = rr_test_pair_next_gid(t, &state, &t->gid);
		if (err)
			return last;
		err = run_rounds(t, c, ret_text);
		if (!err || err == MISBEHAVED || err == -EOPNOTSUPP ||
		    err == -ETIMEDOUT)
			return err;
		last = err;
	}
}

int rr_verbs_self_test(const struct rr_rdma_lib *lib, struct ibv_device *dev,
                       struct rr_verbs_caps *ret)
{
	struct rr_verbs_caps c = {
	        .iwarp = dev->transport_type == IBV_TRANSPORT_IWARP,
	        .with_inv = IBV_WC_WITH_INV,
	};
	const char *text = "";
	struct rr_test_pair t;
	int err;

	if (c.iwarp) {
		snprintf(c.text, sizeof(c.text),
		         "no memory windows: an iWARP device cannot be tested");
		*ret = c;
		return 0;
	}
	err = rr_test_pair_init(&t, lib, dev, RR_SEC(2));
	err = err ? err : try_each_gid(&t, &c, &text);
	rr_test_pair_fini(&t);
	c.windows = !err;
	c.window_bounds = c.windows && c.window_bounds;
	if (!err)
		snprintf(c.text, sizeof(c.text),
		         "memory windows work, flag 0x%x reports invalidation%s",
		         c.with_inv,
		         c.window_bounds ? "" : "; their bounds are not enforced");
	else if (err == MISBEHAVED)
		snprintf(c.text, sizeof(c.text), "no memory windows: %s", text);
	else if (err == -EOPNOTSUPP)
		snprintf(c.text, sizeof(c.text),
		         "no memory windows: the device has none");
	else
		snprintf(c.text, sizeof(c.text),
		         "no memory windows: they could not be tested (%s)",
		         err == -EAGAIN ? "no port is up" : strerror(-err));
	*ret = c;
	return err == -EAGAIN ? err : 0;
}

static bool is_same_device(const struct cached_caps *k, const char *name, __be64 guid,
                           const struct ibv_device *dev)
{
	return k->guid == guid && !strcmp(k->name, name) &&
	       k->caps.iwarp == (dev->transport_type == IBV_TRANSPORT_IWARP);
}

void rr_verbs_get_caps(const struct rr_rdma_lib *lib, struct ibv_context *ctx,
                       struct rr_verbs_caps *ret)
{
	struct ibv_device_attr attr;
	struct cached_caps k = {.guid = 0};

	memset(&attr, 0, sizeof(attr));
	if (!lib->ibv_query_device(ctx, &attr))
		k.guid = attr.node_guid;
	snprintf(k.name, sizeof(k.name), "%s", lib->ibv_get_device_name(ctx->device));
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n_cached; i++) {
		if (is_same_device(&cached[i], k.name, k.guid, ctx->device)) {
			*ret = cached[i].caps;
			pthread_mutex_unlock(&lock);
			return;
		}
	}
	if (!rr_verbs_self_test(lib, ctx->device, &k.caps)) {
		cached[n_cached < CACHED_MAX ? n_cached : oldest] = k;
		if (n_cached < CACHED_MAX)
			n_cached++;
		else
			oldest = (oldest + 1) % CACHED_MAX;
	}
	pthread_mutex_unlock(&lock);
	*ret = k.caps;
}
