/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle's part for headers of version 1, and of the base types of version 2. */
#include "view.h"

enum { MSG_DONE = 0xffffff22 };

size_t mx_pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

void mx_put(struct mx_octets *o, uint32_t v)
{
	assert_true(o->n + 4 <= MX_HEADER);
	o->p[o->n++] = (uint8_t)(v >> 24);
	o->p[o->n++] = (uint8_t)(v >> 16);
	o->p[o->n++] = (uint8_t)(v >> 8);
	o->p[o->n++] = (uint8_t)v;
}

/* In version 1 there are no flags.       [v2 §6.2.1, §6.2.2, RFC 8166 §4.2] */
void mx_prefix(const struct mx_view *v, struct mx_octets *o, uint32_t htype,
               uint32_t flags)
{
	o->n = 0;
	mx_put(o, v->w->xid);
	mx_put(o, v->w->set->version);
	mx_put(o, 0); /* credits: compared elsewhere */
	mx_put(o, htype);
	if (v->w->set->version == 2)
		mx_put(o, flags);
}

size_t mx_segment_count(const struct mx_view *v, size_t len)
{
	size_t seg = v->w->set->segment_bytes;

	return (len + seg - 1) / seg;
}

size_t mx_filled(const struct mx_view *v, unsigned i)
{
	int r = v->result[i];
	unsigned written = v->placed & ~v->reply_sent;

	return r >= 0 && written & 1u << r ? v->k->result[r] : 0;
}

/* -- lists ----------------------------------------------------------------- */

static void put_segment(struct mx_octets *o, const struct mx_event *r, size_t at,
                        size_t len)
{
	uint64_t offset = r->offset + at;

	mx_put(o, r->handle);
	mx_put(o, (uint32_t)len);
	mx_put(o, (uint32_t)(offset >> 32));
	mx_put(o, (uint32_t)offset);
}

static void put_reads(const struct mx_view *v, struct mx_octets *o,
                      const struct mx_event *r, size_t position)
{
	size_t seg = v->w->set->segment_bytes;

	for (size_t at = 0; r && at < r->len; at += seg) {
		mx_put(o, 1);
		mx_put(o, (uint32_t)position);
		put_segment(o, r, at, RR_MIN(seg, r->len - at));
	}
}

/* A Write chunk of which @used octets are filled, from the front. */
static void put_chunk(const struct mx_view *v, struct mx_octets *o,
                      const struct mx_event *r, size_t used)
{
	size_t seg = v->w->set->segment_bytes;

	mx_put(o, r ? (uint32_t)mx_segment_count(v, r->len) : 0);
	for (size_t at = 0; r && at < r->len; at += seg) {
		size_t room = RR_MIN(seg, r->len - at);

		put_segment(o, r, at, used > at ? RR_MIN(room, used - at) : 0);
	}
}

/* -- headers --------------------------------------------------------------- */

void mx_part_header(const struct mx_view *v, struct mx_octets *o, bool reply,
                    size_t rest)
{
	if (v->family == MX_HTFAM) {
		mx_htfam_part(v, o, reply, rest);
		return;
	}
	mx_prefix(v, o, 0, reply | 2);
	for (unsigned i = v->w->set->version == 1; i < 4; i++)
		mx_put(o, 0);
}

/* The list of RDMA2_MSG_DONE.                                    [ext §3.6] */
static void put_carried(const struct mx_view *v, struct mx_octets *o)
{
	mx_put(o, v->w->n_owed);
	for (unsigned i = 0; i < v->w->n_owed; i++)
		mx_put(o, v->w->owed[i].xid);
}

void mx_call_header(const struct mx_view *v, struct mx_octets *o, bool special)
{
	if (v->family == MX_HTFAM && !v->carries) {
		mx_htfam_call(v, o, special);
		return;
	}
	mx_prefix(v, o, v->carries ? MSG_DONE : special, 0);
	if (v->carries)
		put_carried(v, o);
	if (v->w->set->version == 2)
		mx_put(o, v->inv);
	put_reads(v, o, v->special, 0);
	for (unsigned i = 0; i < v->k->n_items; i++)
		put_reads(v, o, v->read[i], v->w->call.item_at[i]);
	mx_put(o, 0);
	for (unsigned i = 0; v->chunks && i < v->k->n_dests; i++) {
		mx_put(o, 1);
		put_chunk(v, o, v->write[i], v->k->dest[i]);
	}
	mx_put(o, 0);
	mx_put(o, v->reply != NULL);
	if (v->reply)
		put_chunk(v, o, v->reply, v->reply->len);
}

void mx_reply_header(const struct mx_view *v, struct mx_octets *o,
                     enum mx_result format, size_t payload, uint32_t inv)
{
	bool special = format == MX_SPECIAL, exposed = format == MX_EXPOSED;

	if (v->family == MX_HTFAM) {
		mx_htfam_reply(v, o, format, payload, inv);
		return;
	}
	mx_prefix(v, o, special || exposed, 1);
	if (v->w->set->version == 2)
		mx_put(o, inv);
	/* a Read list only if the Reply is exposed [V2-4.4.1.1-04, ext §3.2] */
	for (const struct mx_event *r = NULL;
	     exposed && (r = mx_next(v->w, v->responder, MX_REGISTER, r));)
		put_reads(v, o, r, 0);
	mx_put(o, 0);
	for (unsigned i = 0; v->chunks && i < v->k->n_dests; i++) {
		mx_put(o, 1);
		put_chunk(v, o, v->write[i], mx_filled(v, i));
	}
	mx_put(o, 0);
	/* Version 1 gives it back also if it was not used. [RFC 8166 §4.3.3] */
	if (v->w->set->version == 2 && !special) {
		mx_put(o, 0);
		return;
	}
	mx_put(o, v->reply != NULL);
	if (v->reply)
		put_chunk(v, o, v->reply, special ? payload : 0);
}

void mx_compare_header(const struct mx_view *v, const struct mx_event *e,
                       const struct mx_octets *want)
{
	uint32_t credit;

	assert_true(e->len >= want->n);
	assert_memory_equal(e->data, want->p, 8);
	assert_memory_equal(e->data + 12, want->p + 12, want->n - 12);
	credit = mx_get(e->data, 8);
	if (v->w->set->version == 1) { /* credits wanted, or granted */
		assert_int_equal(credit, v->w->set->credits);
		return;
	}
	assert_int_equal(credit >> 16, v->w->set->credits);
	assert_in_range(credit & 0xffff, 1, v->w->set->credits);
}
