/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd, items that move by RDMA: READ's data are an arm's member of a
 * union; they go to the chunk if that arm is there, and nothing else does.
 */
#include "test_nfsd.h"
#include <errno.h>
#include <string.h>

NFSD_FOR_ALL(r, NULL)

static nfsstat3 read_into(nfs_fh3 fh, struct rpcrdma_dest *dest, READ3res *res)
{
	READ3args a = {fh, 0, (count3)dest->len};

	r.dest = dest;
	r.reply_bytes = NFS3_RESULT_BYTES;
	return NFS(&r, READ, &a, res);
}

/* V2-4.3.4.3-02, V2-4.3.4.3-01: status, attributes, count stay in the payload. */
static void the_good_arm_of_read_fills_the_chunk(void **state)
{
	static uint8_t data[1000], got[1200];
	struct rpcrdma_dest dest = {.base = got, .len = sizeof(got)};
	WRITE3resok ok;
	READ3res res;
	nfs_fh3 fh;

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 3 + 1);
	assert_int_equal(nfsd_create(&r, r.root, "items", &fh), NFS3_OK);
	assert_int_equal(nfsd_write(&r, fh, 0, data, sizeof(data), (stable_how)2, &ok),
	                 NFS3_OK);
	memset(got, 0xee, sizeof(got));
	assert_int_equal(read_into(fh, &dest, &res), NFS3_OK);
	assert_true(dest.ret_used);
	assert_int_equal(dest.ret_len, sizeof(data));
	assert_memory_equal(got, data, sizeof(data));
	for (size_t i = sizeof(data); i < sizeof(got); i++)
		assert_int_equal(got[i], 0xee);
	assert_int_equal(r.len, r.used); /* the count is the last word of it */
	assert_int_equal(res.READ3res_u.resok.data_len, sizeof(data));
	assert_true(res.READ3res_u.resok.file_attributes.attributes_follow);
}

/* V2-4.3.4.3-02, [K21] */
static void the_bad_arm_of_read_leaves_the_chunk_unused(void **state)
{
	static uint8_t got[1200];
	struct rpcrdma_dest dest = {.base = got, .len = sizeof(got), .ret_used = true};
	READ3res res;

	(void)state;
	memset(got, 0xee, sizeof(got));
	assert_int_equal(read_into(r.root, &dest, &res), NFS3ERR_ISDIR);
	assert_false(dest.ret_used);
	for (size_t i = 0; i < sizeof(got); i++)
		assert_int_equal(got[i], 0xee);
	assert_int_equal(r.len, r.used);
}

/* V2-A.1-06: a chunk that holds something else than the item of the result. */
static void a_chunk_with_another_item_is_an_error(void **state)
{
	static uint8_t got[100];
	const struct rpcrdma_reply reply = {.results = got, .len = 8};
	struct rpcrdma_dest dest = {
	        .base = got, .len = 100, .ret_base = got, .ret_used = true};
	const void *item = NULL;

	(void)state;
	dest.ret_len = 60;
	assert_int_equal(nfs3_result_item(&reply, 8, &dest, 60, &item), 0);
	assert_ptr_equal(item, got);
	assert_int_equal(nfs3_result_item(&reply, 8, &dest, 59, &item), -EBADMSG);
	assert_int_equal(nfs3_result_item(&reply, 8, &dest, 61, &item), -EBADMSG);
	assert_int_equal(nfs3_result_item(&reply, 8, &dest, 0, &item), -EBADMSG);
	dest.ret_len = 200;
	assert_int_equal(nfs3_result_item(&reply, 8, &dest, 200, &item), -EBADMSG);
}

/* V2-7.2-03, [K3, E8]: the count in the payload says one length, the Read chunk
 * another.  The transport cannot see that; padding in the chunk is no lie, and one
 * more is. */
static void a_chunk_of_another_length_than_its_count_is_garbage(void **state)
{
	static const struct {
		uint32_t count;
		size_t chunk;
		int status;
	} rows[] = {
	        {701, 701, RPCRDMA_OK},
	        {701, 704, RPCRDMA_OK},
	        {701, 700, RPCRDMA_GARBAGE_ARGS},
	        {701, 702, RPCRDMA_GARBAGE_ARGS},
	        {701, 705, RPCRDMA_GARBAGE_ARGS},
	        {704, 701, RPCRDMA_GARBAGE_ARGS},
	        {0, 701, RPCRDMA_GARBAGE_ARGS},
	        {UINT32_MAX, 701, RPCRDMA_GARBAGE_ARGS},
	};
	static uint8_t data[708];
	WRITE3args a = {.stable = UNSTABLE};
	uint8_t buf[512];
	fattr3 attr;

	(void)state;
	r.send_item_bytes = 1; /* each item is a chunk */
	nfsd_reconnect(&r);
	assert_int_equal(nfsd_create(&r, r.root, "counts", &a.file), NFS3_OK);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int n;

		a.count = a.data_len = rows[i].count;
		a.offset = i < 2 ? 0 : 1000;
		n = NFS3_ENCODE(buf, sizeof(buf), WRITE3args, &a);
		assert_true(n > 0);
		r.item = data;
		r.item_len = rows[i].chunk;
		nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_WRITE, buf, (size_t)n);
		assert_int_equal(r.status, rows[i].status);
	}
	assert_int_equal(nfsd_getattr(&r, a.file, &attr), NFS3_OK);
	assert_int_equal(attr.size, 701); /* nothing else was written */
	r.send_item_bytes = 0;
	nfsd_reconnect(&r);
}

/* V2-7.3.4-01: the transport says so, with the index and the length, not NFS. */
static void a_chunk_too_small_for_a_link_is_named(void **state)
{
	static const char path[] = "a-path-of-thirty-octets-length";
	static uint8_t got[29];
	struct rpcrdma_dest dest = {.base = got, .len = sizeof(got)};
	SYMLINK3args sa = {nfsd_name(r.root, "link"), {.data_len = sizeof(path) - 1}};
	READLINK3args a;
	SYMLINK3res sres;
	uint8_t buf[128];

	(void)state;
	r.item = path;
	r.item_len = sizeof(path) - 1;
	assert_int_equal(NFS(&r, SYMLINK, &sa, &sres), NFS3_OK);
	NFS3_FREE(SYMLINK3res, &sres);
	a.symlink = nfsd_walk(&r, "link");
	r.dest = &dest;
	nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_READLINK, buf,
	              (size_t)NFS3_ENCODE(buf, sizeof(buf), READLINK3args, &a));
	assert_int_equal(r.status, RPCRDMA_TRANSPORT_ERROR);
	assert_int_equal(r.transport_error, RPCRDMA_ERR_WRITE_RESOURCE);
	assert_int_equal(r.a, 1);
	assert_int_equal(r.b, sizeof(path) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_good_arm_of_read_fills_the_chunk),
	        cmocka_unit_test(the_bad_arm_of_read_leaves_the_chunk_unused),
	        cmocka_unit_test(a_chunk_with_another_item_is_an_error),
	        cmocka_unit_test(a_chunk_of_another_length_than_its_count_is_garbage),
	        cmocka_unit_test(a_chunk_too_small_for_a_link_is_named),
	};

	return cmocka_run_group_tests(tests, start_nfsd, stop_nfsd);
}
