/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_reminv.h"

struct rr_conn_config inv_config(enum rr_inv_policy policy)
{
	return (struct rr_conn_config){
	        .remote_invalidate = true,
	        .segment_bytes = 70000,
	        .grant_ns = RR_TIME_NEVER,
	        .features = {.on = 1u << RR_FEATURE_REMINV, .inv_policy = policy},
	};
}

struct side *inv_client(enum rr_inv_policy policy)
{
	const struct rr_conn_config cfg = inv_config(policy);

	return raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
}

/* Returns the handle of the region of @len octets that was registered last. */
static uint32_t handle_of(const struct side *s, const void *base, size_t len)
{
	for (unsigned i = s->n_regions; i--;)
		if (s->region[i].len == len && (!base || s->region[i].base == base))
			return s->region[i].handle;
	return 0;
}

static void release_reply(struct side *s, struct rr_call *call)
{
	rr_conn_call_release(s->c, call, s->now);
}

struct inv_call *inv_start(struct side *s, uint32_t xid, unsigned chunks)
{
	struct inv_call *v = calloc(1, sizeof(*v));

	s->on_call_done = release_reply;
	v->chunks = chunks;
	v->k = spec_new(xid, sizeof(v->item));
	if (chunks & INV_READ)
		spec_add(v->k, v->item, sizeof(v->item), true);
	if (chunks & INV_LONG)
		spec_add(v->k, spec_octets(), 9000, false);
	if (chunks & INV_WRITE)
		spec_dest(v->k, v->result, sizeof(v->result));
	if (chunks & INV_WRITE2)
		spec_dest(v->k, v->result2, sizeof(v->result2));
	if (chunks & INV_REPLY)
		v->k->call.reply_bytes = 70000;
	spec_start(s, v->k);
	v->read = handle_of(s, v->item, sizeof(v->item));
	v->write = handle_of(s, v->result, sizeof(v->result));
	v->write2 = handle_of(s, v->result2, sizeof(v->result2));
	if (chunks & INV_REPLY)
		v->reply = handle_of(s, NULL, 70000);
	return v;
}

void inv_free(struct inv_call *v)
{
	free(v->k);
	free(v);
}

static char *put_write(char *to, uint32_t handle, const void *base)
{
	return to + sprintf(to, "00000001 00000001 %08x 00000000 %016llx ", handle,
	                    (unsigned long long)(uintptr_t)base);
}

void inv_answer(struct side *s, const struct inv_call *v, uint32_t inv)
{
	char hex[1000], *to = hex;

	to += sprintf(to, "%08x" MSG_REPLY "00000000 00000000 ", v->k->call.xid);
	if (v->chunks & INV_WRITE)
		to = put_write(to, v->write, v->result);
	if (v->chunks & INV_WRITE2)
		to = put_write(to, v->write2, v->result2);
	sprintf(to, "00000000 00000000 %08x 00000001 00000000 00000000",
	        v->k->call.xid);
	raw_receive_inv(s, hex, inv);
}

uint32_t inv_named(const struct side *s)
{
	return spec_word(&s->sent[s->n_sent - 1], 5);
}

bool inv_valid(const struct side *s, uint32_t handle)
{
	for (unsigned i = 0; i < s->n_regions; i++)
		if (s->region[i].handle == handle)
			return true;
	return false;
}

struct rr_conn_counters inv_counters(const struct side *s)
{
	struct rr_conn_counters n;

	rr_conn_counters(s->c, &n);
	return n;
}
