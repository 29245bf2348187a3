/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments and results of any size, up to 64 MiB, with a binding and without one:
 * what arrives is what was sent; with a binding nothing of the octets is copied in the
 * library, on either side; and a binding on one side only works as well.
 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { BIG = 64 << 20 };

static const struct timeval long_time = {.tv_sec = 100};
static const u_int sizes[] = {1, 3, 1000, 4095, 16384, 65537, 1 << 20, BIG - 1, BIG};
static char *octets;

static struct rpcrdma_tirpc_stats stats(void)
{
	struct rpcrdma_tirpc_stats s;

	assert_int_equal(rpcrdma_tirpc_get_stats(&s, sizeof(s), NULL, 0), 0);
	return s;
}

static u_int sum(u_int len)
{
	u_int n = 0;

	for (u_int i = 0; i < len; i++)
		n += (u_char)octets[i];
	return n;
}

static void set_time(CLIENT *c)
{
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&long_time));
}

static void one_size(CLIENT *c, u_int len)
{
	blob_args a = {.id = 1, .data = {len, octets}, .tail = 2};
	u_int *n;
	blob_got *g;
	blob_res *r;

	n = blob_put_1(&a, c);
	if (!n)
		clnt_perror(c, "put");
	assert_non_null(n);
	assert_int_equal(*n, sum(len) + 3);
	g = blob_get_1(&len, c);
	if (!g)
		clnt_perror(c, "get");
	assert_non_null(g);
	assert_int_equal(g->status, 0);
	assert_int_equal(g->blob_got_u.ok.data.data_len, len);
	assert_int_equal(g->blob_got_u.ok.tail, 99);
	assert_true(rig_filled(g->blob_got_u.ok.data.data_val, len, len));
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_got, g));
	r = blob_echo_1(&a, c);
	if (!r)
		clnt_perror(c, "echo");
	assert_non_null(r);
	assert_int_equal(r->data.data_len, len);
	assert_memory_equal(r->data.data_val, octets, len);
	assert_string_equal(r->note, "echo");
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_res, r));
}

static void all_sizes(struct rig *rig, const struct rpcrdma_tirpc_options *o)
{
	CLIENT *c;

	rig_start(rig);
	c = rig_client(rig, o);
	set_time(c);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		one_size(c, sizes[i]);
	clnt_destroy(c);
}

/* What the server's library counts. */
struct counts {
	u_int placed, copied; /* items */
	uint64_t bytes;       /* that were no items, or not placed */
};

static struct counts server_counts(const struct rig *rig)
{
	CLIENT *c = rig_client(rig, NULL);
	blob_args *a = blob_counts_1(NULL, c);
	struct counts n;

	assert_non_null(a);
	n = (struct counts){.placed = a->id, .copied = a->tail};
	assert_int_equal(a->data.data_len, sizeof(n.bytes));
	memcpy(&n.bytes, a->data.data_val, sizeof(n.bytes));
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_args, a));
	clnt_destroy(c);
	return n;
}

static void without_a_binding(void **state)
{
	struct rig rig = {0};

	all_sizes(&rig, NULL);
	assert_int_equal(server_counts(&rig).placed, 0);
	assert_int_equal(rig_stop(&rig), 0);
}

static const struct rpcrdma_tirpc_options bound = {
        .size = sizeof(bound), .bindings = rig_bindings, .n_bindings = 1};

static void with_a_binding_nothing_is_copied(void **state)
{
	const unsigned n = sizeof(sizes) / sizeof(sizes[0]);
	const unsigned tiny = 5; /* arguments that go along with the message */
	struct rpcrdma_tirpc_stats before, after;
	struct rig rig = {.options = &bound};
	uint64_t bytes = 0;
	struct counts counts;

	for (unsigned i = 0; i < n; i++)
		bytes += sizes[i];
	before = stats();
	all_sizes(&rig, &bound);
	after = stats();
	/* PUT's argument, GET's result, ECHO's both. */
	assert_int_equal(after.items_placed - before.items_placed, 4 * n);
	assert_int_equal(after.item_bytes_placed - before.item_bytes_placed, 4 * bytes);
	assert_int_equal(after.items_copied, before.items_copied);
	assert_int_equal(after.item_bytes_copied, before.item_bytes_copied);
	assert_true(after.bytes_copied - before.bytes_copied < 8192 * n);
	assert_int_equal(after.bytes_referred, before.bytes_referred);
	counts = server_counts(&rig);
	assert_int_equal(counts.placed, 4 * n - 2 * tiny);
	assert_int_equal(counts.copied, 0);
	assert_true(counts.bytes < 8192 * n);
	assert_int_equal(rig_stop(&rig), 0);
}

static void a_binding_on_one_side_only(void **state)
{
	struct rig without = {0}, with = {.options = &bound};

	rig_start(&without);
	rig_start(&with);
	for (int i = 0; i < 2; i++) {
		CLIENT *c = rig_client(i ? &with : &without, i ? NULL : &bound);

		set_time(c);
		one_size(c, 100000);
		one_size(c, 5);
		clnt_destroy(c);
	}
	assert_int_equal(rig_stop(&without), 0);
	assert_int_equal(rig_stop(&with), 0);
}

/* Peak of memory in use, KiB. */
static unsigned long peak_of(pid_t pid)
{
	char path[64], line[128];
	unsigned long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lu", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* Whoever asks, and for whatever program, a server holds little unless it was told to
 * hold more. */
static void a_server_holds_little_by_default(void **state)
{
	struct rig rig = {.modest = true};
	blob_args a = {.data = {BIG, octets}};
	struct timeval tv = {20, 0};
	u_int none;
	unsigned long before;
	CLIENT *c;

	rig_start(&rig);
	c = rig_client(&rig, NULL);
	one_size(c, 100000);
	before = peak_of(rig.pid);
	for (int i = 0; i < 4; i++) {
		CLIENT *stranger = clnt_rdma_create(rig.address, 999999, 1, NULL);

		assert_non_null(stranger);
		assert_int_not_equal(clnt_call(stranger, 1, (xdrproc_t)xdr_blob_args,
		                               (caddr_t)&a, (xdrproc_t)xdr_u_int,
		                               (caddr_t)&none, tv),
		                     RPC_SUCCESS);
		clnt_destroy(stranger);
	}
	assert_true(peak_of(rig.pid) - before < 24 << 10);
	one_size(c, 100000);
	clnt_destroy(c);
	assert_int_equal(rig_stop(&rig), 0);
}

static void the_other_arm_of_a_union(void **state)
{
	struct rig rig = {.options = &bound};
	u_int len = UINT32_MAX;
	blob_got *g;
	CLIENT *c;

	rig_start(&rig);
	c = rig_client(&rig, &bound);
	g = blob_get_1(&len, c);
	assert_non_null(g);
	assert_int_equal(g->status, -1);
	assert_string_equal(g->blob_got_u.why, "too long");
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_got, g));
	clnt_destroy(c);
	assert_int_equal(rig_stop(&rig), 0);
}

static void two_items_each_way(void **state)
{
	static char word[70001], none[] = "";
	struct rig rig = {.options = &bound};
	blob_pair a = {.tail = 5}, *r;
	CLIENT *c;

	memset(word, 'w', sizeof(word) - 1);
	rig_start(&rig);
	c = rig_client(&rig, &bound);
	for (int i = 0; i < 4; i++) {
		a.first = i & 1 ? word : none;
		a.second.second_len = i & 2 ? 50001 : 0;
		a.second.second_val = octets;
		r = blob_swap_1(&a, c);
		if (!r)
			clnt_perror(c, "swap");
		assert_non_null(r);
		assert_string_equal(r->first, a.first);
		assert_int_equal(r->second.second_len, a.second.second_len);
		assert_memory_equal(r->second.second_val ? r->second.second_val
		                                         : octets,
		                    octets, a.second.second_len);
		assert_int_equal(r->tail, 6);
		assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_pair, r));
	}
	clnt_destroy(c);
	assert_int_equal(rig_stop(&rig), 0);
}

static void results_go_where_the_user_says(void **state)
{
	struct rpcrdma_tirpc_stats before = stats(), after;
	struct rig rig = {.options = &bound};
	char *mine = calloc(1, RIG_MAX);
	u_int len = 300000;
	blob_got g = {.status = 0};
	CLIENT *c;

	rig_start(&rig);
	c = rig_client(&rig, &bound);
	g.blob_got_u.ok.data.data_val = mine;
	assert_int_equal(clnt_call(c, BLOB_GET, (xdrproc_t)xdr_u_int, (char *)&len,
	                           (xdrproc_t)xdr_blob_got, (char *)&g, long_time),
	                 RPC_SUCCESS);
	after = stats();
	assert_ptr_equal(g.blob_got_u.ok.data.data_val, mine);
	assert_true(rig_filled(mine, len, len));
	assert_int_equal(after.items_placed - before.items_placed, 1);
	assert_int_equal(after.item_bytes_copied, before.item_bytes_copied);
	free(mine);
	clnt_destroy(c);
	assert_int_equal(rig_stop(&rig), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(without_a_binding),
	        cmocka_unit_test(with_a_binding_nothing_is_copied),
	        cmocka_unit_test(a_binding_on_one_side_only),
	        cmocka_unit_test(a_server_holds_little_by_default),
	        cmocka_unit_test(the_other_arm_of_a_union),
	        cmocka_unit_test(two_items_each_way),
	        cmocka_unit_test(results_go_where_the_user_says),
	};
	int failed;

	octets = malloc(BIG);
	rig_fill(octets, BIG, 3);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(octets);
	return failed;
}
