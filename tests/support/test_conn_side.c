/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_side.h"

/* -- memory ---------------------------------------------------------------- */

void *side_get(void *ctx, size_t bytes)
{
	struct side *s = ctx;
	void *p;

	if (s->mem_fail_at && (--s->mem_fail_at == 0 || s->mem_fail_on)) {
		s->mem_fail_at = s->mem_fail_on ? 1 : 0;
		return NULL;
	}
	p = aligned_alloc(64, (bytes + 63) / 64 * 64);
	assert_non_null(p);
	memset(p, 0xa5, bytes);
	s->mem_used += bytes;
	s->mem_blocks++;
	return p;
}

void side_put(void *ctx, void *p, size_t bytes)
{
	struct side *s = ctx;

	memset(p, 0xdd, bytes);
	free(p);
	s->mem_used -= bytes;
	s->mem_blocks--;
}

/* -- provider -------------------------------------------------------------- */

static void side_complete(struct side *s, uint64_t token, int status)
{
	s->wc[s->wc_tail++ % SIDE_QUEUE] = (struct side_wc){token, status};
}

static struct side_region *side_find(struct side *s, uint32_t handle)
{
	for (unsigned i = 0; i < s->n_regions; i++)
		if (s->region[i].valid && s->region[i].handle == handle)
			return &s->region[i];
	return NULL;
}

/* Returns the peer's memory behind a handle.  On misuse marks @owner, returns NULL. */
static uint8_t *side_remote(struct side *owner, uint32_t handle, uint64_t offset,
                            size_t len, unsigned access)
{
	struct side_region *r = side_find(owner, handle);
	uint64_t base = r ? (uint64_t)(uintptr_t)r->base : 0;

	if (!r || !(r->access & access) || offset < base || offset - base > r->len ||
	    len > r->len - (offset - base)) {
		owner->misuse = true;
		return NULL;
	}
	return r->base + (offset - base);
}

static size_t side_gather(const struct rr_action *a, uint8_t *to, size_t room)
{
	size_t len = 0;

	assert_true(a->n_sge >= 1 && a->n_sge <= RR_ACTION_MAX_SGE);
	for (unsigned i = 0; i < a->n_sge; i++) {
		assert_true(a->sge[i].len <= room - len);
		memcpy(to + len, a->sge[i].base, a->sge[i].len);
		len += a->sge[i].len;
	}
	return len;
}

static void side_send(struct side *s, const struct rr_action *a)
{
	static uint8_t buf[SIDE_MSG];
	size_t len = side_gather(a, buf, sizeof(buf));
	struct side_msg m = {malloc(len), len, a->inv_handle, s->n_reads, s->n_writes};

	memcpy(m.p, buf, len);
	s->sends_inv += a->inv_handle != 0;
	side_complete(s, a->token, 0);
	if (s->on_sent)
		s->on_sent(s, &m);
	if (s->peer) {
		s->peer->in[s->peer->in_tail++ % SIDE_QUEUE] = m;
	} else {
		assert_true(s->n_sent < SIDE_LOG);
		s->sent[s->n_sent++] = m;
	}
}

static void side_write(struct side *s, const struct rr_action *a)
{
	static uint8_t buf[8 << 20];
	size_t len = side_gather(a, buf, sizeof(buf));
	uint8_t *to =
	        s->peer ? side_remote(s->peer, a->handle, a->offset, len, 2) : NULL;

	if (s->n_writes < SIDE_LOG) {
		struct side_rdma *w = &s->writes[s->n_writes];

		*w = (struct side_rdma){a->handle, a->offset, len, {0}};
		memcpy(w->first, buf, len < 8 ? len : 8);
	}
	s->n_writes++;
	if (to)
		memcpy(to, buf, len);
	side_complete(s, a->token, 0);
}

static void side_read(struct side *s, const struct rr_action *a)
{
	uint8_t *from = NULL;

	if (s->n_reads < SIDE_LOG)
		s->reads[s->n_reads] =
		        (struct side_rdma){a->handle, a->offset, a->sge[0].len, {0}};
	s->n_reads++;
	if (s->hold_reads)
		return;
	if (s->fail_reads) {
		side_complete(s, a->token, -EIO);
		return;
	}
	if (s->peer)
		from = side_remote(s->peer, a->handle, a->offset, a->sge[0].len, 1);
	else if (s->read_from)
		memcpy(a->sge[0].base, s->read_from + (a->offset - 0x10000),
		       a->sge[0].len);
	if (from)
		memcpy(a->sge[0].base, from, a->sge[0].len);
	else if (!s->read_from)
		memset(a->sge[0].base, 0x5a, a->sge[0].len);
	side_complete(s, a->token, 0);
}

void side_register(struct side *s, const struct rr_action *a)
{
	struct side_region *r = &s->region[s->n_regions++];

	assert_true(s->n_regions <= SIDE_REGIONS);
	if (s->fail_register || (s->fail_register_at && !--s->fail_register_at)) {
		s->n_regions--;
		rr_conn_registered(s->c, a->token,
		                   s->fail_register ? s->fail_register : -ENOMEM, 0, 0);
		return;
	}
	*r = (struct side_region){.handle = s->no_handle & 1 ? 0 : ++s->next_handle,
	                          .base = a->sge[0].base,
	                          .len = a->reg_len,
	                          .access = a->access,
	                          .valid = true};
	if (s->irrevocable & 1)
		rr_conn_irrevocable(s->c, a->token);
	s->irrevocable >>= 1;
	s->no_handle >>= 1;
	rr_conn_registered(s->c, a->token, 0, r->handle, (uint64_t)(uintptr_t)r->base);
}

static void side_compact(struct side *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_regions; i++)
		if (s->region[i].valid)
			s->region[n++] = s->region[i];
	s->n_regions = n;
}

static void side_invalidate(struct side *s, const struct rr_action *a)
{
	struct side_region *r = side_find(s, a->handle);

	if (!r) { /* the peer was faster */
		rr_conn_completed(s->c, a->token, -EINVAL, s->now);
		return;
	}
	r->valid = false;
	s->inv_octets += r->len;
	side_compact(s);
	side_complete(s, a->token, 0);
}

unsigned side_valid_regions(const struct side *s)
{
	return s->n_regions;
}

/* -- draining -------------------------------------------------------------- */

static void side_act(struct side *s, const struct rr_action *a)
{
	assert_false(s->closed);
	switch (a->kind) {
	case RR_ACT_POST_RECV:
		s->posted_base[s->posted_tail % SIDE_QUEUE] = a->sge[0].base;
		s->posted[s->posted_tail++ % SIDE_QUEUE].token = a->token;
		break;
	case RR_ACT_SEND:
		side_send(s, a);
		break;
	case RR_ACT_WRITE:
		side_write(s, a);
		break;
	case RR_ACT_READ:
		side_read(s, a);
		break;
	case RR_ACT_REGISTER:
		side_register(s, a);
		break;
	case RR_ACT_INVALIDATE:
		side_invalidate(s, a);
		break;
	case RR_ACT_READY:
		assert_false(s->ready);
		s->ready = true;
		break;
	case RR_ACT_EXTENSION:
		if (s->on_extension)
			s->on_extension(s, a->ext);
		break;
	case RR_ACT_ADMIT:
		s->admitted++;
		if (s->on_admit)
			s->on_admit(s, a->request);
		else
			rr_conn_admit(s->c, a->request, NULL, s->now);
		break;
	case RR_ACT_REQUEST:
		s->requested++;
		if (s->on_request)
			s->on_request(s, a->request);
		break;
	case RR_ACT_REQUEST_DONE:
		s->requests_done++;
		if (s->on_request_done)
			s->on_request_done(s, a->request);
		break;
	case RR_ACT_CALL_DONE:
		s->calls_done++;
		if (s->on_call_done)
			s->on_call_done(s, a->call);
		break;
	case RR_ACT_DISCONNECT:
		assert_false(s->disconnect);
		s->disconnect = true;
		s->disconnect_status = a->status;
		break;
	case RR_ACT_CLOSED:
		s->closed = true;
		break;
	}
}

static void side_check(const struct side *s)
{
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	assert_true(i.avail <= i.cap);
	assert_int_equal(i.receives_posted,
	                 s->lost ? 0 : s->posted_tail - s->posted_head);
}

void side_drain(struct side *s)
{
	struct rr_action a;

	memset(&a, 0xee, sizeof(a));
	while (rr_conn_next(s->c, &a))
		side_act(s, &a);
	side_check(s);
}

/* -- events ---------------------------------------------------------------- */

void side_new(struct side *s, enum rr_conn_role role)
{
	s->cfg.role = role;
	s->cfg.mem = (struct rr_mem){side_get, side_put, s};
	if (!s->cfg.xid_seed)
		s->cfg.xid_seed = role == RR_CONN_CLIENT ? 0x7000 : 0x9000;
	conn_limits(&s->cfg);
	s->now = RR_SEC(1);
	s->next_handle = role == RR_CONN_CLIENT ? 0x1000 : 0x2000;
	assert_int_equal(rr_conn_new(&s->cfg, s->now, &s->c), 0);
	side_drain(s);
}

void side_open(struct side *s)
{
	rr_conn_open(s->c, s->now);
	side_drain(s);
}

void side_receive(struct side *s, const uint8_t *p, size_t len, uint32_t inv)
{
	unsigned at = s->posted_head++ % SIDE_QUEUE;

	assert_true(s->posted_head <= s->posted_tail); /* no Receive: an overrun */
	if (!s->posted_base[at])                       /* a pooled Receive */
		s->posted_base[at] = rr_conn_receive_memory(s->c, s->posted[at].token,
		                                            0, RR_MAX(len, 1u));
	memcpy(s->posted_base[at], p, len);
	if (inv) {
		struct side_region *r = side_find(s, inv);

		if (r)
			r->valid = false;
		else
			s->inv_twice++;
		side_compact(s);
	}
	rr_conn_received(s->c, s->posted[at].token, len, inv, s->now);
	side_drain(s);
}

void side_complete_one(struct side *s)
{
	struct side_wc w = s->wc[s->wc_head++ % SIDE_QUEUE];

	if (rr_conn_completed(s->c, w.token, w.status, s->now))
		side_drain(s);
	else
		assert_false(rr_conn_next(s->c, &(struct rr_action){0}));
}

void side_complete_all(struct side *s)
{
	while (s->wc_head != s->wc_tail)
		side_complete_one(s);
}

void side_lose(struct side *s, int error)
{
	if (s->lost)
		return;
	while (s->wc_head != s->wc_tail) {
		struct side_wc w = s->wc[s->wc_head++ % SIDE_QUEUE];

		rr_conn_completed(s->c, w.token, -ECANCELED, s->now);
	}
	while (s->posted_head != s->posted_tail)
		rr_conn_completed(s->c, s->posted[s->posted_head++ % SIDE_QUEUE].token,
		                  -ECANCELED, s->now);
	s->n_regions = 0;
	s->lost = true;
	rr_conn_lost(s->c, error, s->now);
	side_drain(s);
	while (s->in_head != s->in_tail)
		free(s->in[s->in_head++ % SIDE_QUEUE].p);
}

void side_forget_sent(struct side *s)
{
	for (unsigned i = 0; i < s->n_sent; i++)
		free(s->sent[i].p);
	s->n_sent = 0;
}

void side_end(struct side *s)
{
	side_lose(s, 0);
	assert_true(s->closed);
	rr_conn_free(s->c);
	assert_int_equal(s->mem_used, 0);
	assert_int_equal(s->mem_blocks, 0);
	side_forget_sent(s);
}

void side_next_message(struct side *s)
{
	struct side_msg m = s->in[s->in_head++ % SIDE_QUEUE];

	side_receive(s, m.p, m.len, m.inv);
	free(m.p);
}
