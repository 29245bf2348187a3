/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracle's part for the handle that a Call names.                  [ext §4.3]
 *
 * RI-4.3-01 RI-4.4-01 RI-4.4-02 RI-5.2-01 RI-5.2-02
 */
#include "view.h"

enum { MOST_REGIONS = 2 * MX_ITEMS + 2 };

/* The chunks of the header, in header order. */
struct header {
	const struct mx_event *region[MOST_REGIONS];
	unsigned n, writes; /* all; index of the first that is not in the Read list */
};

static void add_region(struct header *h, const struct mx_event *r)
{
	if (r)
		h->region[h->n++] = r;
}

static struct header list_regions(const struct mx_view *v)
{
	struct header h = {0};

	add_region(&h, v->special);
	for (unsigned i = 0; i < MX_ITEMS; i++)
		add_region(&h, v->read[i]);
	h.writes = h.n;
	for (unsigned i = 0; i < MX_ITEMS; i++)
		add_region(&h, v->write[i]);
	add_region(&h, v->reply);
	return h;
}

static const struct mx_event *largest(const struct header *h)
{
	const struct mx_event *best = h->region[0];

	for (unsigned i = 1; i < h->n; i++)
		if (h->region[i]->len > best->len)
			best = h->region[i];
	return best;
}

static uint32_t by_policy(const struct header *h, enum rr_inv_policy policy)
{
	if (!h->n)
		return 0;
	switch (policy) {
	case RR_INV_NONE:
		return 0;
	case RR_INV_LARGEST:
		return largest(h)->handle;
	case RR_INV_SINGLE:
		return h->n == 1 ? h->region[0]->handle : 0;
	case RR_INV_WRITE_FIRST:
		return h->region[h->writes < h->n ? h->writes : 0]->handle;
	case RR_INV_READ_FIRST:
	case RR_INV_FIRST:
		return h->region[0]->handle;
	}
	return 0;
}

void mx_judge_named(struct mx_view *v, uint32_t named)
{
	const struct rr_feature_config *f = &v->k->features[v->w->asker];
	bool on = f->on >> RR_FEATURE_REMINV & 1 && v->w->set->version == 2;
	bool able = v->w->set->remote_invalidate && !(on && f->no_remote_inv);
	struct header h = list_regions(v);
	bool known = false;

	v->inv = named;
	assert_int_equal(h.n, v->regions);
	for (unsigned i = 0; i < h.n; i++)
		known |= h.region[i]->handle == named;
	if (!able)
		assert_int_equal(named, 0);
	else if (on)
		assert_int_equal(named, by_policy(&h, f->inv_policy));
	else
		assert_true(h.n ? known : !named);
}
