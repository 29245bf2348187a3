/* SPDX-License-Identifier: BSD-3-Clause */
/* The types that rpcgen makes of the XDR of the extensions, for the oracle's parts that
 * build or read headers of optional types.  The library's codec has no part in it. */
#ifndef TESTS_MATRIX_VIEW_XDR_H
#define TESTS_MATRIX_VIEW_XDR_H

#include "view.h"

#define CLIENT rpc_client /* a type of the header */
#include <rpc/rpc.h>
#undef CLIENT

#include "rpcrdma_ext.h"

#define MX_PROC(name) ((xdrproc_t)(void (*)(void))xdr_##name)

struct mx_segments {
	rpcrdma2_segment s[MX_SEGMENTS];
	u_int n;
};

/* Appends the encoding of @obj. */
static inline void mx_encode(struct mx_octets *o, xdrproc_t proc, void *obj)
{
	XDR x;

	xdrmem_create(&x, (char *)o->p + o->n, (u_int)(MX_HEADER - o->n), XDR_ENCODE);
	assert_true(proc(&x, obj));
	o->n += xdr_getpos(&x);
	xdr_destroy(&x);
}

/* Decodes @obj, which is zero, and returns the octets that it has.  The caller frees it
 * by xdr_free. */
static inline size_t mx_decode(const uint8_t *at, size_t len, xdrproc_t proc, void *obj)
{
	char *octets = (char *)(uintptr_t)at;
	size_t used;
	XDR x;

	xdrmem_create(&x, octets, (u_int)len, XDR_DECODE);
	assert_true(proc(&x, obj));
	used = xdr_getpos(&x);
	xdr_destroy(&x);
	return used;
}

/* Appends the segments of @region, of which @used octets are filled, from the front.
 * No region has no segments.  Returns the first of them. */
static inline rpcrdma2_segment *mx_add_segments(const struct mx_view *v,
                                                struct mx_segments *to,
                                                const struct mx_event *region,
                                                size_t used, u_int *ret_n)
{
	rpcrdma2_segment *first = &to->s[to->n];
	size_t seg = v->w->set->segment_bytes;

	for (size_t at = 0; region && at < region->len; at += seg) {
		size_t room = RR_MIN(seg, region->len - at);

		assert_true(to->n < MX_SEGMENTS);
		to->s[to->n++] = (rpcrdma2_segment){
		        .rdma_handle = region->handle,
		        .rdma_length = (u_int)(used > at ? RR_MIN(room, used - at) : 0),
		        .rdma_offset = region->offset + at,
		};
	}
	*ret_n = (u_int)(&to->s[to->n] - first);
	return first;
}

#endif
