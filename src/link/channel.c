/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implements extensions: collects the numbers that they define in one table for the
 * connection, and passes the connection's events to the handlers.
 *
 * A channel is a link as seen by an extension.  Like all callbacks, handlers run while
 * the link's pump carries out actions.  A handler may send messages, make calls, and
 * close the link.
 */
#include "link/channel.h"

#include <stdlib.h>

#include "base/sized.h"
#include "link/link.h"

static struct rpcrdma_channel *channel_of(struct rr_link *l)
{
	return (struct rpcrdma_channel *)l;
}

static struct rr_link *link_of(const struct rpcrdma_channel *c)
{
	return (struct rr_link *)(uintptr_t)c;
}

/* -- the table ------------------------------------------------------------- */

static bool base_has_error(uint32_t code)
{
	return code <= RDMA2_ERR_REPLY_RESOURCE || code == RDMA2_ERR_SYSTEM ||
	       code == RPCRDMA_ERR_CHUNK;
}

static bool number_listed(const uint32_t *list, unsigned n, uint32_t number)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i] == number)
			return true;
	return false;
}

static int add_htypes(struct rr_ext_table *t, const struct rpcrdma_extension *e,
                      uint32_t *flags_taken)
{
	uint32_t own = 0;

	for (unsigned i = 0; i < e->n_htypes; i++) {
		const struct rpcrdma_extension_htype *h = &e->htypes[i];

		if (!h->received)
			return -EINVAL;
		if (h->number <= RDMA2_CONNPROP ||
		    number_listed(t->htype, t->n_htypes, h->number) ||
		    h->flags & (RDMA2_F_RESPONSE | RDMA2_F_MORE | RDMA2_F_TPMORE) ||
		    h->flags & *flags_taken)
			return -EEXIST;
		if (t->n_htypes == RR_EXT_MAX)
			return -E2BIG;
		own |= h->flags;
		t->flags[t->n_htypes] = h->flags;
		t->htype[t->n_htypes++] = h->number;
	}
	/* several header types of one extension may use the same bit */
	*flags_taken |= own;
	return 0;
}

static int add_properties(struct rr_ext_table *t, const struct rpcrdma_extension *e)
{
	for (unsigned i = 0; i < e->n_properties; i++) {
		const struct rpcrdma_extension_property *p = &e->properties[i];

		if (!p->received || (p->value && !p->len) ||
		    (p->preset_len && !p->preset) || p->len > 1u << 19)
			return -EINVAL;
		if (p->id >= RDMA2_PROPID_SBSIZ && p->id <= RDMA2_PROPID_HOSTAUTH)
			return -EEXIST;
		for (unsigned k = 0; k < t->n_props; k++)
			if (t->prop[k].id == p->id)
				return -EEXIST;
		if (t->n_props == RR_EXT_MAX)
			return -E2BIG;
		t->prop[t->n_props++] = (struct rr_ext_prop){
		        .id = p->id,
		        .conforms = p->conforms,
		        .data = p->value,
		        .len = p->len,
		        .deflt = p->preset,
		        .deflt_len = p->preset_len,
		};
	}
	return 0;
}

static int add_errors(struct rr_ext_table *t, const struct rpcrdma_extension *e)
{
	for (unsigned i = 0; i < e->n_errors; i++) {
		if (base_has_error(e->errors[i]) ||
		    number_listed(t->error, t->n_errors, e->errors[i]))
			return -EEXIST;
		if (t->n_errors == RR_EXT_MAX)
			return -E2BIG;
		t->error[t->n_errors++] = e->errors[i];
	}
	return 0;
}

/* Copies the program's structure, which may be of any size, to @ret. */
static int copy_extension(const struct rpcrdma_extension *given,
                          struct rpcrdma_extension *ret)
{
	int err = given ? RR_SIZED_TAKE(ret, arg, given) : -EINVAL;

	if (err)
		return err;
	if ((ret->n_htypes && !ret->htypes) ||
	    (ret->n_properties && !ret->properties) || (ret->n_errors && !ret->errors))
		return -EINVAL;
	return 0;
}

static int fill_extensions(struct rr_exts *x,
                           const struct rpcrdma_extension *const *list, unsigned n)
{
	uint32_t flags_taken = 0;

	if (n > RPCRDMA_MAX_EXTENSIONS)
		return -E2BIG;
	for (x->n = 0; x->n < n; x->n++) {
		struct rpcrdma_extension *e = &x->ext[x->n];
		int err = copy_extension(list ? list[x->n] : NULL, e);

		if (!err)
			err = add_htypes(&x->table, e, &flags_taken);
		if (!err)
			err = add_properties(&x->table, e);
		if (!err)
			err = add_errors(&x->table, e);
		if (err)
			return err;
		x->given[x->n] = list[x->n];
	}
	return 0;
}

int rpcrdma_extensions_check(const struct rpcrdma_extension *const *list, unsigned n)
{
	struct rr_exts x = {.n = 0};

	return fill_extensions(&x, list, n);
}

int rr_exts_new(const struct rpcrdma_conn_options *o, struct rr_exts **ret)
{
	struct rr_exts *x;
	int err;

	*ret = NULL;
	if (!o->n_extensions)
		return 0;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	err = fill_extensions(x, o->extensions, o->n_extensions);
	if (err) {
		free(x);
		return err;
	}
	*ret = x;
	return 0;
}

/* -- calls of handlers ----------------------------------------------------- */

/* Finds the extension to which a header type belongs.  The search always succeeds,
 * because the connection passes only header types from the extensions' table. */
static const struct rpcrdma_extension_htype *
find_htype(const struct rr_exts *x, uint32_t number,
           const struct rpcrdma_extension **ret_ext)
{
	for (unsigned i = 0; i < x->n; i++) {
		for (unsigned k = 0; k < x->ext[i].n_htypes; k++) {
			*ret_ext = &x->ext[i];
			if (x->ext[i].htypes[k].number == number)
				return &x->ext[i].htypes[k];
		}
	}
	RR_NEVER("a header type of no extension");
}

static const struct rpcrdma_extension_property *
find_property(const struct rr_exts *x, uint32_t id,
              const struct rpcrdma_extension **ret_ext)
{
	for (unsigned i = 0; i < x->n; i++) {
		for (unsigned k = 0; k < x->ext[i].n_properties; k++) {
			*ret_ext = &x->ext[i];
			if (x->ext[i].properties[k].id == id)
				return &x->ext[i].properties[k];
		}
	}
	RR_NEVER("a property of no extension");
}

static void report_message(struct rr_link *l, const struct rr_ext_event *ev)
{
	const struct rpcrdma_extension *e;
	const struct rpcrdma_extension_htype *h = find_htype(l->exts, ev->number, &e);
	const struct rpcrdma_extension_message m = {
	        .htype = ev->number,
	        .xid = ev->xid,
	        .flags = ev->flags & ~(uint32_t)RDMA2_F_RESPONSE,
	        .response = ev->flags & RDMA2_F_RESPONSE,
	        .body = ev->data,
	        .len = ev->len,
	};
	uint32_t code = h->received(channel_of(l), &m, e->arg);

	if (code)
		rr_conn_ext_refuse(l->conn, ev, code, l->engine->now);
}

static void report_refusal(struct rr_link *l, const struct rr_ext_event *ev)
{
	const struct rpcrdma_extension *e;

	(void)find_htype(l->exts, ev->number, &e); /* sets @e */
	if (e->refused)
		e->refused(channel_of(l), ev->number, ev->xid, ev->error, e->arg);
}

static void report_property(struct rr_link *l, const struct rr_ext_event *ev,
                            enum rpcrdma_property_event what)
{
	const struct rpcrdma_extension *e;
	const struct rpcrdma_extension_property *p =
	        find_property(l->exts, ev->number, &e);

	p->received(channel_of(l), what, ev->data, ev->len, e->arg);
}

static void channel_used(struct rr_link *l)
{
	if (l->ops->used)
		l->ops->used(l);
}

void rr_exts_event(struct rr_link *l, const struct rr_ext_event *ev)
{
	if (ev->what == RR_EXT_MESSAGE || ev->what == RR_EXT_ERROR)
		channel_used(l);
	switch (ev->what) {
	case RR_EXT_MESSAGE:
		report_message(l, ev);
		break;
	case RR_EXT_ERROR:
		report_refusal(l, ev);
		break;
	case RR_EXT_PROPERTY:
		report_property(l, ev, RPCRDMA_PROPERTY_RECEIVED);
		break;
	case RR_EXT_DEFAULT:
		report_property(l, ev, RPCRDMA_PROPERTY_DEFAULT);
		break;
	case RR_EXT_REFUSED:
		report_property(l, ev, RPCRDMA_PROPERTY_REFUSED);
		break;
	}
}

void rr_exts_up(struct rr_link *l)
{
	struct rr_conn_info info;

	if (!l->exts)
		return;
	rr_conn_info(l->conn, &info);
	if (info.version != RPCRDMA_VERSION_TWO)
		return;
	l->exts->up = true;
	for (unsigned i = 0; i < l->exts->n; i++)
		if (l->exts->ext[i].up)
			l->exts->ext[i].up(channel_of(l), l->exts->ext[i].arg);
}

void rr_exts_down(struct rr_link *l)
{
	if (!l->exts || !l->exts->up)
		return;
	l->exts->up = false;
	for (unsigned i = 0; i < l->exts->n; i++)
		if (l->exts->ext[i].down)
			l->exts->ext[i].down(channel_of(l), l->exts->ext[i].arg);
}

bool rr_exts_error(const struct rr_link *l, uint32_t code)
{
	return l->exts &&
	       number_listed(l->exts->table.error, l->exts->table.n_errors, code);
}

/* -- functions for users --------------------------------------------------- */

struct rpcrdma_channel *rr_link_channel(struct rr_link *l)
{
	return l && l->exts && l->exts->up ? channel_of(l) : NULL;
}

static int place_of(const struct rpcrdma_channel *c, const struct rpcrdma_extension *e)
{
	const struct rr_exts *x = link_of(c)->exts;

	for (unsigned i = 0; i < x->n; i++)
		if (x->given[i] == e)
			return (int)i;
	return -1;
}

void rpcrdma_channel_set(struct rpcrdma_channel *c, const struct rpcrdma_extension *e,
                         void *data)
{
	int i = place_of(c, e);

	if (i >= 0)
		link_of(c)->exts->data[i] = data;
}

void *rpcrdma_channel_get(const struct rpcrdma_channel *c,
                          const struct rpcrdma_extension *e)
{
	int i = place_of(c, e);

	return i < 0 ? NULL : link_of(c)->exts->data[i];
}

int rpcrdma_channel_send(struct rpcrdma_channel *c, uint32_t htype, uint32_t flags,
                         bool response, uint32_t xid, const void *body, size_t len,
                         uint32_t *ret_xid)
{
	struct rr_link *l = link_of(c);
	int err;

	if (!c || (len && !body) || flags & RDMA2_F_RESPONSE)
		return -EINVAL;
	err = rr_conn_ext_send(l->conn, htype,
	                       flags | (response ? (uint32_t)RDMA2_F_RESPONSE : 0), xid,
	                       body, len, ret_xid, l->engine->now);
	if (!err)
		channel_used(l);
	rr_link_touch(l);
	return err;
}
