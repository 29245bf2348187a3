/* SPDX-License-Identifier: BSD-3-Clause */
/* tally_client HOST rdma|TRANSPORT: one call, "answered by TRANSPORT". */
#include "tally.h"
#include <rpcrdma/tirpc.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	u_int n = 21, *answer;
	CLIENT *c;

	if (argc != 3)
		return 2;
	c = strcmp(argv[2], "rdma")
	            ? clnt_create(argv[1], TALLY_PROG, TALLY_VERS, argv[2])
	            : clnt_rdma_create(argv[1], TALLY_PROG, TALLY_VERS, NULL);
	if (!c) {
		printf("error: %s\n", clnt_spcreateerror(argv[1]));
		return 1;
	}
	answer = tally_double_1(&n, c);
	if (!answer || *answer != 42) {
		printf("error: %s\n", clnt_sperror(c, "double"));
		return 1;
	}
	printf("answered by %s\n", c->cl_netid ? c->cl_netid : argv[2]);
	clnt_destroy(c);
	return 0;
}
