/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the decoding stream does with memory where routines do more than xdr_bytes does:
 * they go on with pointers of their own after the stream has put an item's memory in
 * the place of theirs.  Found by fuzz.xdr_in; worth the most under the address
 * sanitizer.
 */
#include "tirpc/streams.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { LEN = 16 };

/* Another arm of a union has a pointer to this where an item belongs. */
struct node {
	char octets[LEN];
	char *nested;
};

struct object {
	u_int len;
	char *data;
};

static bool_t xdr_node(XDR *x, struct node *n)
{
	return xdr_opaque(x, n->octets, LEN) && xdr_string(x, &n->nested, 100);
}

static bool_t xdr_arm(XDR *x, struct object *o)
{
	return xdr_reference(x, &o->data, sizeof(struct node), (xdrproc_t)xdr_node);
}

/* Decodes the same member twice. */
static bool_t xdr_twice(XDR *x, struct object *o)
{
	return xdr_bytes(x, &o->data, &o->len, LEN) &&
	       (x->x_op == XDR_FREE || xdr_bytes(x, &o->data, &o->len, LEN));
}

static const struct rpcrdma_tirpc_item binding[1] = {
        RPCRDMA_TIRPC_ITEM(struct object, data, LEN)};
static const char nested[] = "\0\0\0\4deep", octets[] = "0123456789abcdef";

static bool take(void *taken, const void *base)
{
	*(unsigned *)taken += 1;
	return true;
}

static char *item(void)
{
	char *p = rr_xdr_item_alloc(LEN);

	memcpy(p, octets, LEN);
	return p;
}

static void begin(struct rr_xdr_in *in, const struct rpcrdma_piece *p, unsigned n,
                  struct object *o)
{
	const struct rr_xdr_items items = {binding, 1, (char *)o};

	rr_xdr_in_init(in, p, n);
	rr_xdr_in_items(in, &items);
}

static void check_node(const struct object *o)
{
	const struct node *n = (const struct node *)(const void *)o->data;

	assert_memory_equal(n->octets, octets, LEN);
	assert_string_equal(n->nested, "deep");
}

/* An argument in a Read chunk at that place. */
static void a_structure_in_the_place_of_an_argument(void **state)
{
	const struct rpcrdma_piece p[2] = {{item(), LEN, true}, {nested, 8, false}};
	struct object o = {0};
	struct rr_xdr_in in;
	unsigned taken = 0;

	begin(&in, p, 2, &o);
	in.take = take;
	in.take_arg = &taken;
	assert_true(xdr_arm(&in.xdr, &o));
	rr_xdr_in_settle(&in);
	assert_int_equal(taken, 1);
	assert_int_equal(in.count.items_placed, 0);
	assert_int_equal(in.count.item_bytes_placed, 0);
	assert_int_equal(in.count.items_copied, 1);
	check_node(&o);
	xdr_free((xdrproc_t)xdr_arm, (char *)&o);
}

/* A result in a Write chunk. */
static void a_structure_in_the_place_of_a_result(void **state)
{
	const struct rpcrdma_piece p = {nested, 8, false};
	struct rr_xdr_item dest = {item(), LEN, true, true, false};
	struct object o = {0};
	struct rr_xdr_in in;

	begin(&in, &p, 1, &o);
	in.dests = &dest;
	assert_true(xdr_arm(&in.xdr, &o));
	assert_true(rr_xdr_in_complete(&in));
	rr_xdr_in_settle(&in);
	assert_false(dest.mine);
	check_node(&o);
	xdr_free((xdrproc_t)xdr_arm, (char *)&o);
}

/* The message ends behind the item: what there is belongs to the user. */
static void a_structure_that_is_cut_off(void **state)
{
	const struct rpcrdma_piece p = {item(), LEN, true};
	struct object o = {0};
	struct rr_xdr_in in;
	unsigned taken = 0;

	begin(&in, &p, 1, &o);
	in.take = take;
	in.take_arg = &taken;
	assert_false(xdr_arm(&in.xdr, &o));
	rr_xdr_in_settle(&in);
	assert_memory_equal(o.data, octets, LEN);
	xdr_free((xdrproc_t)xdr_arm, (char *)&o);
}

/* The second item at one place is copied to the first. */
static void one_place_takes_one_item(void **state)
{
	static const char len[] = "\0\0\0\20";
	char *second = item();
	const struct rpcrdma_piece p[4] = {{len, 4, false},
	                                   {item(), LEN, true},
	                                   {len, 4, false},
	                                   {second, LEN, true}};
	struct object o = {0};
	struct rr_xdr_in in;
	unsigned taken = 0;

	second[0] = 'x';
	begin(&in, p, 4, &o);
	in.take = take;
	in.take_arg = &taken;
	assert_true(xdr_twice(&in.xdr, &o));
	rr_xdr_in_settle(&in);
	assert_int_equal(taken, 1);
	assert_memory_equal(o.data, second, LEN);
	xdr_free((xdrproc_t)xdr_twice, (char *)&o);
	free(second);
}

/* The same for results: what comes next at that place is in the message. */
static void one_result_is_decoded_once(void **state)
{
	static const char message[] = "\0\0\0\20\0\0\0\20fedcba9876543210";
	const struct rpcrdma_piece p = {message, sizeof(message) - 1, false};
	struct rr_xdr_item dest = {item(), LEN, true, true, false};
	struct object o = {0};
	struct rr_xdr_in in;

	begin(&in, &p, 1, &o);
	in.dests = &dest;
	assert_true(xdr_twice(&in.xdr, &o));
	rr_xdr_in_settle(&in);
	assert_memory_equal(o.data, "fedcba9876543210", LEN);
	xdr_free((xdrproc_t)xdr_twice, (char *)&o);
}

/* Behind an item whose roundup did not travel nothing comes but that; and an item is
 * not read where it lies. */
static void behind_an_odd_item(void **state)
{
	static const char words[] = "\0\0\0\1\0\0\0\2";
	char octets_of[8], *odd = item();
	const struct rpcrdma_piece p[3] = {
	        {words, 8, false}, {odd, 5, true}, {octets, 8, false}};
	struct rr_xdr_in in;
	long v = 0;

	for (int i = 0; i < 5; i++) {
		rr_xdr_in_init(&in, p, 3);
		assert_true(XDR_GETLONG(&in.xdr, &v));
		assert_true(XDR_GETLONG(&in.xdr, &v));
		assert_null(XDR_INLINE(&in.xdr, 4));
		assert_true(XDR_GETBYTES(&in.xdr, octets_of, 5));
		if (i == 0)
			assert_false(XDR_GETBYTES(&in.xdr, octets_of, 2));
		else if (i == 1)
			assert_false(XDR_GETLONG(&in.xdr, &v));
		else if (i == 2)
			assert_null(XDR_INLINE(&in.xdr, 4));
		else if (i == 3)
			assert_true(XDR_GETBYTES(&in.xdr, octets_of, 3));
		if (i == 3)
			assert_non_null(XDR_INLINE(&in.xdr, 4));
		/* And back to the beginning. */
		assert_true(XDR_SETPOS(&in.xdr, 0));
		assert_true(XDR_GETLONG(&in.xdr, &v));
		assert_int_equal(v, 1);
		assert_true(XDR_SETPOS(&in.xdr, 8 + 5 + 8));
		assert_false(XDR_GETLONG(&in.xdr, &v));
		assert_false(XDR_SETPOS(&in.xdr, 8 + 5 + 8 + 1));
	}
	free(odd);
}

/* What was read of it is not there again. */
static void a_piece_of_an_item(void **state)
{
	char *whole = item(), to[LEN];
	const struct rpcrdma_piece p[2] = {{whole, LEN, true}, {octets, 8, false}};
	struct rr_xdr_in in;
	long v;

	rr_xdr_in_init(&in, p, 2);
	assert_true(XDR_GETLONG(&in.xdr, &v));
	assert_true(XDR_GETBYTES(&in.xdr, to, LEN));
	assert_memory_equal(to, octets + 4, LEN - 4);
	assert_memory_equal(to + LEN - 4, octets, 4);
	free(whole);
}

/* The user's memory stays the user's, though the item has memory of its own. */
static void memory_of_the_users_is_filled(void **state)
{
	static const char len[] = "\0\0\0\20";
	char *whole = item(), *own = malloc(LEN);
	const struct rpcrdma_piece p[2] = {{len, 4, false}, {whole, LEN, true}};
	struct object o = {.data = own};
	struct rr_xdr_in in;
	unsigned taken = 0;

	begin(&in, p, 2, &o);
	in.take = take;
	in.take_arg = &taken;
	assert_true(xdr_bytes(&in.xdr, &o.data, &o.len, LEN));
	rr_xdr_in_settle(&in);
	assert_int_equal(taken, 0);
	assert_ptr_equal(o.data, own);
	assert_memory_equal(own, octets, LEN);
	free(own);
	free(whole);
}

/* -- encoding ---------------------------------------------------------------------- */

enum { MANY = 24, LONG = 20001 };

struct many {
	struct object o[MANY];
};

static const struct rpcrdma_tirpc_item some[2] = {
        RPCRDMA_TIRPC_ITEM(struct many, o[3].data, LONG),
        RPCRDMA_TIRPC_ITEM(struct many, o[20].data, LONG)};

static bool_t xdr_many(XDR *x, struct many *m)
{
	for (unsigned i = 0; i < MANY; i++)
		if (!xdr_bytes(x, &m->o[i].data, &m->o[i].len, LONG))
			return FALSE;
	return TRUE;
}

/* The pieces one behind the other, with the roundup that does not travel. */
static size_t flatten(const struct rr_xdr_out *out, char *to, unsigned *ret_items)
{
	struct rpcrdma_piece p[RPCRDMA_MAX_PIECES];
	unsigned n = rr_xdr_out_pieces(out, 0, p);
	size_t at = 0;

	assert_true(n <= RPCRDMA_MAX_PIECES);
	*ret_items = 0;
	for (unsigned i = 0; i < n; i++) {
		if (p[i].len)
			memcpy(to + at, p[i].base, p[i].len);
		at += p[i].len;
		if (!p[i].item)
			continue;
		*ret_items += 1;
		memset(to + at, 0, -p[i].len & 3);
		at += -p[i].len & 3;
	}
	return at;
}

/* More that is long than there are references: what is left over is copied, and the
 * items keep theirs. */
static void more_than_there_are_references(void **state)
{
	const size_t most = MANY * (LONG + 8);
	char *want = malloc(most), *got = malloc(most), *all = malloc(LONG * MANY);
	struct many m;
	unsigned n_items;
	XDR mem;

	for (size_t i = 0; i < LONG * MANY; i++)
		all[i] = (char)(i * 31 >> 3);
	for (unsigned bound = 0; bound < 2; bound++) {
		const struct rr_xdr_items items = {some, 2, (char *)&m};
		struct rr_xdr_out out;

		for (unsigned i = 0; i < MANY; i++) /* the odd ones have roundup */
			m.o[i] = (struct object){LONG - 1 + (i & 1), all + i * LONG};
		xdrmem_create(&mem, want, (u_int)most, XDR_ENCODE);
		assert_true(xdr_many(&mem, &m));
		rr_xdr_out_init(&out, false);
		if (bound)
			rr_xdr_out_items(&out, &items);
		assert_true(xdr_many(&out.xdr, &m));
		assert_int_equal(flatten(&out, got, &n_items), XDR_GETPOS(&mem));
		assert_memory_equal(got, want, XDR_GETPOS(&mem));
		assert_int_equal(n_items, bound ? 2 : 0);
		assert_int_equal(out.n_refs, RR_XDR_MAX_REFS);
		rr_xdr_out_fini(&out);
	}
	free(want);
	free(got);
	free(all);
}

/* As routines do that put a length in front when they know it. */
static void back_and_forth(void **state)
{
	char longest[LONG];
	struct rr_xdr_out out;
	u_int first, second, n = 7;

	memset(longest, 'l', sizeof(longest));
	rr_xdr_out_init(&out, false);
	assert_true(xdr_u_int(&out.xdr, &n));
	first = XDR_GETPOS(&out.xdr);
	assert_int_equal(first, 4);
	assert_true(XDR_SETPOS(&out.xdr, 0));
	n = 8;
	assert_true(xdr_u_int(&out.xdr, &n));
	assert_int_equal(out.buf[3], 8);
	assert_true(xdr_opaque(&out.xdr, longest, LONG - 1));
	second = XDR_GETPOS(&out.xdr);
	assert_int_equal(second, 4 + LONG - 1);
	assert_true(xdr_u_int(&out.xdr, &n));
	/* Not into what is referred to, nor before it, nor beyond what there is. */
	assert_false(XDR_SETPOS(&out.xdr, first));
	assert_false(XDR_SETPOS(&out.xdr, second - 1));
	assert_false(XDR_SETPOS(&out.xdr, second + 2 * RR_XDR_SMALL_BYTES));
	assert_true(XDR_SETPOS(&out.xdr, second));
	rr_xdr_out_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_structure_in_the_place_of_an_argument),
	        cmocka_unit_test(a_structure_in_the_place_of_a_result),
	        cmocka_unit_test(a_structure_that_is_cut_off),
	        cmocka_unit_test(one_place_takes_one_item),
	        cmocka_unit_test(one_result_is_decoded_once),
	        cmocka_unit_test(behind_an_odd_item),
	        cmocka_unit_test(a_piece_of_an_item),
	        cmocka_unit_test(memory_of_the_users_is_filled),
	        cmocka_unit_test(more_than_there_are_references),
	        cmocka_unit_test(back_and_forth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
