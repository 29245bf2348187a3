/* SPDX-License-Identifier: BSD-3-Clause */
/* What is behind the main function that rpcgen made of tally.x. */
#include "tally.h"

u_int *tally_double_1_svc(u_int *n, struct svc_req *r)
{
	static u_int answer;

	answer = 2 * *n;
	return &answer;
}
