/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watch: a provider that writes posts and completions down and passes them on.
 *
 * Sends and Writes are logged with the octets that they gather, so that the log holds
 * the wire.  Regions are counted from register_mem to the completion that ends them.
 */
#include "matrix.h"

/* -- the log ----------------------------------------------------------------------- */

struct mx_event *mx_note(struct mx_side *s, enum mx_kind kind)
{
	struct mx_event *e = &s->w->log[s->w->n_log++];

	assert_true(s->w->n_log <= MX_LOG);
	*e = (struct mx_event){.kind = kind, .side = s->side};
	return e;
}

unsigned mx_count_sent(const struct mx_world *w, unsigned side, uint32_t htype)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->n_log; i++) {
		const struct mx_event *e = &w->log[i];

		if (e->kind == MX_SEND && e->side == side)
			n += rr_load_u32(e->data + 12) == htype;
	}
	return n;
}

static void gather(struct mx_event *e, const struct rr_sge *sge, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		e->len += sge[i].len;
	e->data = malloc(e->len + 1);
	e->len = 0;
	for (unsigned i = 0; i < n; i++) {
		memcpy(e->data + e->len, sge[i].base, sge[i].len);
		e->len += sge[i].len;
	}
}

static void region_over(struct mx_side *s, uint32_t handle)
{
	for (unsigned i = 0; i < s->n_live; i++) {
		if (s->live[i] != handle)
			continue;
		s->live[i] = s->live[--s->n_live];
		mx_note(s, MX_INVALID)->handle = handle;
		return;
	}
}

/* -- posts ----------------------------------------------------------------- */

static struct mx_world *watched;

static struct mx_side *side_at(const struct rr_ep *ep)
{
	return &watched->side[watched->side[SERVER].pump.ep == ep];
}

/* Checks that no post fails, except an invalidation of a region that the peer has
 * already invalidated. */
static int accepted_post(const struct mx_side *s, int err)
{
	if (err)
		assert_true(s->w->abandon);
	return err;
}

static int watch_recv(struct rr_ep *ep, const struct rr_sge *sge, uint64_t token)
{
	struct mx_side *s = side_at(ep);

	s->receive[s->recv_tail++ % MX_RECEIVES] = sge->base;
	s->least_receive = RR_MIN(s->least_receive, (size_t)sge->len);
	assert_true(s->recv_tail - s->recv_head <= MX_RECEIVES);
	return accepted_post(s, mx_provider()->post_recv(ep, sge, token));
}

static int watch_send(struct rr_ep *ep, const struct rr_sge *sge, unsigned n,
                      uint32_t inv_handle, uint64_t token)
{
	struct mx_side *s = side_at(ep);
	struct mx_event *e = mx_note(s, MX_SEND);

	e->inv_handle = inv_handle;
	gather(e, sge, n);
	return accepted_post(s,
	                     mx_provider()->post_send(ep, sge, n, inv_handle, token));
}

static int watch_write(struct rr_ep *ep, const struct rr_sge *sge, unsigned n,
                       uint32_t handle, uint64_t offset, uint64_t token)
{
	struct mx_side *s = side_at(ep);
	struct mx_event *e = mx_note(s, MX_WRITE);

	e->handle = handle;
	e->offset = offset;
	gather(e, sge, n);
	return accepted_post(
	        s, mx_provider()->post_write(ep, sge, n, handle, offset, token));
}

static int watch_read(struct rr_ep *ep, const struct rr_sge *sge, uint32_t handle,
                      uint64_t offset, uint64_t token)
{
	struct mx_side *s = side_at(ep);
	struct mx_event *e = mx_note(s, MX_READ);

	e->handle = handle;
	e->offset = offset;
	e->len = sge->len;
	return accepted_post(s,
	                     mx_provider()->post_read(ep, sge, handle, offset, token));
}

static int watch_register(struct rr_ep *ep, void *base, size_t len, unsigned access,
                          struct rr_region *ret)
{
	struct mx_side *s = side_at(ep);
	struct mx_event *e;

	assert_int_equal(mx_provider()->register_mem(ep, base, len, access, ret), 0);
	e = mx_note(s, MX_REGISTER);
	e->handle = ret->handle;
	e->offset = ret->offset;
	e->len = len;
	e->access = access;
	e->base = base;
	assert_true(s->n_live < MX_REGIONS);
	s->live[s->n_live++] = ret->handle;
	return 0;
}

static int watch_invalidate(struct rr_ep *ep, uint32_t handle, uint64_t token)
{
	struct mx_side *s = side_at(ep);
	int err = mx_provider()->invalidate(ep, handle, token);

	if (!err)
		s->invalidating[s->inv_tail++ % MX_REGIONS] = handle;
	return err == -EINVAL ? err : accepted_post(s, err);
}

/* -- completions ----------------------------------------------------------- */

static void watch_receive(struct mx_side *s, const struct rr_wc *wc)
{
	const uint8_t *base = s->receive[s->recv_head++ % MX_RECEIVES];
	struct mx_event *e;

	if (wc->status)
		return;
	if (wc->invalidated)
		region_over(s, wc->inv_handle);
	e = mx_note(s, MX_RECV);
	e->len = wc->len;
	e->data = malloc(wc->len + 1);
	memcpy(e->data, base, wc->len);
}

static void watch_end(struct mx_side *s, const struct rr_wc *wc)
{
	if (!s->w->abandon)
		fail_msg("side %u ended with %d: %s", s->side, wc->status,
		         mx_provider()->reason(s->pump.ep));
	s->lost_status = wc->status;
}

static void watch_completion(struct mx_side *s, const struct rr_wc *wc)
{
	switch (wc->op) {
	case RR_WC_RECV:
		watch_receive(s, wc);
		break;
	case RR_WC_READ:
		mx_note(s, MX_READ_DONE);
		break;
	case RR_WC_WRITE:
		mx_note(s, MX_WRITE_DONE);
		break;
	case RR_WC_INVALIDATE:
		region_over(s, s->invalidating[s->inv_head++ % MX_REGIONS]);
		break;
	case RR_WC_DISCONNECTED:
		watch_end(s, wc);
		break;
	case RR_WC_SEND:
	case RR_WC_CONNECTED:
		break;
	}
}

/* Polls one completion at a time.  So the log has the consequences of each completion
 * before the next one. */
static unsigned watch_poll(struct rr_ep *ep, struct rr_wc *wc, unsigned max)
{
	while (mx_provider()->poll(ep, wc, 1)) {
		watch_completion(side_at(ep), wc);
		if (wc->token != MX_PROBE_TOKEN)
			return 1;
	}
	return 0; /* the connection does not know the probe's posts */
}

const struct rr_prov_ops *mx_watch(struct mx_world *w)
{
	static struct rr_prov_ops watch;

	watched = w;
	watch = *mx_provider();
	watch.post_recv = watch_recv;
	watch.post_send = watch_send;
	watch.post_write = watch_write;
	watch.post_read = watch_read;
	watch.register_mem = watch_register;
	watch.invalidate = watch_invalidate;
	watch.poll = watch_poll;
	return &watch;
}
