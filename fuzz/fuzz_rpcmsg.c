/* SPDX-License-Identifier: BSD-3-Clause */
/* RPC call and reply headers, and AUTH_SYS bodies inside them. */
#include <string.h>

#include "oncrpc/rpc_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpcrdma_auth_sys s;
	struct rr_rpc_call c;
	struct rr_rpc_reply r;
	int n = rr_rpc_get_call(data, size, &c);

	if (n >= 0) {
		RR_ASSERT((size_t)n <= size);
		if (c.rpcvers == 2)
			(void)!rpcrdma_auth_sys_decode(&c.cred, &s);
	}
	n = rr_rpc_get_reply(data, size, &r);
	if (n >= 0) {
		uint8_t again[64];
		int m = rr_rpc_put_reply(again, sizeof(again), &r);

		RR_ASSERT((size_t)n <= size);
		/* Equal but for the verifier, which replies of ours leave empty. */
		RR_ASSERT(m > 0 && m <= n);
		RR_ASSERT(memcmp(again, data, 12) == 0);
	}
	return 0;
}
