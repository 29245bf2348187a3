/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that clients of NFS version 3 try beside it, and that rpcrdma nfsd does not
 * have: each is told so at once, on RDMA in both versions and on TCP, and NFS goes on.
 */
#include "test_tcp_calls.h"

enum { NLM = 100021, NSM = 100024, RQUOTA = 100011, NFSACL = 100227 };

NFSD_FOR_ALL(r, "--mount-port", "0", NULL)

/* Linux binds NFSACL to the connection of NFS and calls its NULL when it mounts;
 * without the program it has no ACLs there, and ls -l is content. */
static const struct {
	uint32_t program, version;
} absent[] = {
        {NFSACL, 3}, {NFSACL, 2}, {RQUOTA, 1},      {RQUOTA, 2},
        {NSM, 1},    {100000, 4}, {0x20000099u, 1}, {0xffffffffu, 0xffffffffu},
};
enum { N_ABSENT = sizeof(absent) / sizeof(absent[0]) };

static void refused_over_rdma(uint32_t program, uint32_t version, uint32_t proc,
                              enum rpcrdma_status wanted)
{
	r.version = version;
	nfsd_call_raw(&r, program, proc, "", 0);
	assert_int_equal(r.status, wanted);
	if (wanted == RPCRDMA_PROG_MISMATCH) {
		assert_int_equal(r.low, 3);
		assert_int_equal(r.high, 3);
	}
}

static void visit(void)
{
	fattr3 attr;

	for (unsigned i = 0; i < N_ABSENT; i++)
		for (uint32_t proc = 0; proc < 3; proc++)
			refused_over_rdma(absent[i].program, absent[i].version, proc,
			                  RPCRDMA_PROG_UNAVAIL);
	refused_over_rdma(NLM, 4, 0, RPCRDMA_PROG_UNAVAIL); /* it is on TCP */
	refused_over_rdma(RPCRDMA_NFS_PROGRAM, 2, 0, RPCRDMA_PROG_MISMATCH);
	refused_over_rdma(RPCRDMA_NFS_PROGRAM, 4, 0, RPCRDMA_PROG_MISMATCH);
	refused_over_rdma(RPCRDMA_MOUNT_PROGRAM, 1, 0, RPCRDMA_PROG_MISMATCH);
	refused_over_rdma(RPCRDMA_NFS_PROGRAM, 3, 22, RPCRDMA_PROC_UNAVAIL);
	assert_int_equal(nfsd_getattr(&r, r.root, &attr), NFS3_OK);
}

static void programs_that_are_absent_are_refused_over_rdma(void **state)
{
	struct rpcrdma_conn_info info;

	(void)state;
	for (unsigned version = 1; version <= 2; version++) {
		r.rpcrdma_version = version;
		nfsd_reconnect(&r);
		visit();
		rpcrdma_conn_get_info(r.conn, &info, sizeof(info));
		assert_int_equal(info.version, version);
	}
}

static void programs_that_are_absent_are_refused_over_tcp(void **state)
{
	unsigned port = tcp_port(&r, "127.0.0.1");

	(void)state;
	for (unsigned i = 0; i < N_ABSENT; i++)
		tcp_refused(&r, port, absent[i].program, absent[i].version, 0,
		            RPC_PROGUNAVAIL, 0, 0);
	tcp_refused(&r, port, RPCRDMA_NFS_PROGRAM, 3, 0, RPC_PROGUNAVAIL, 0, 0);
	tcp_refused(&r, port, RPCRDMA_MOUNT_PROGRAM, 1, 0, RPC_PROGVERSMISMATCH, 3, 3);
	tcp_refused(&r, port, RPCRDMA_MOUNT_PROGRAM, 4, 0, RPC_PROGVERSMISMATCH, 3, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(programs_that_are_absent_are_refused_over_rdma),
	        cmocka_unit_test(programs_that_are_absent_are_refused_over_tcp),
	};

	return cmocka_run_group_tests(tests, start_nfsd, stop_nfsd);
}
