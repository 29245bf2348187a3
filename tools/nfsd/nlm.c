/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NLM replies, by procedure:
 *
 *   TEST, LOCK, NM_LOCK, SHARE   no locks: the client's program gets ENOLCK
 *   UNLOCK, UNSHARE              granted: nothing is locked afterwards, which satisfies
 *                                XNFS even if there was no lock
 *   CANCEL, GRANTED              denied: no call waits for a lock.  After "no locks",
 *                                Linux would repeat CANCEL every half minute.
 *   FREE_ALL                     done: there are no locks
 *
 * The asynchronous procedures (TEST_MSG ... GRANTED_RES) are not implemented, because
 * this server would have to call the client's lock manager to answer them.  They get
 * PROC_UNAVAIL at once.  Linux does not use them.
 *
 * The arguments are decoded completely, within the limits in nlm4.x, but only the
 * cookie is used: it is copied to the results.
 */
#include "nlm.h"
#include "nfs/nfs3_msg.h"
#include "nlm4.h"

union arguments {
	netobj cookie; /* the first field, except in FREE_ALL */
	nlm3_testargs test3;
	nlm4_testargs test4;
	nlm3_lockargs lock3;
	nlm4_lockargs lock4;
	nlm3_cancargs cancel3;
	nlm4_cancargs cancel4;
	nlm3_unlockargs unlock3;
	nlm4_unlockargs unlock4;
	nlm4_shareargs share;
	nlm4_notify notify;
};

struct procedure {
	xdrproc_t args3; /* for versions 1 and 3 */
	xdrproc_t args4; /* for version 4; NULL = no such procedure */
	bool shares;     /* not in version 1 */
	xdrproc_t res;   /* NULL = void */
	nlm4_stats stat;
};

#define XDR(type) ((xdrproc_t)(void (*)(void))xdr_##type)
#define LOCKING(type, stat)                                                            \
	{                                                                              \
		XDR(nlm3_##type), XDR(nlm4_##type), false, XDR(nlm4_res), stat         \
	}
#define SHARING(args, res, stat)                                                       \
	{                                                                              \
		args, args, true, res, stat                                            \
	}

static const struct procedure procedures[] = {
        [NLM_TEST] = LOCKING(testargs, NLM4_DENIED_NOLOCKS),
        [NLM_LOCK] = LOCKING(lockargs, NLM4_DENIED_NOLOCKS),
        [NLM_CANCEL] = LOCKING(cancargs, NLM4_DENIED),
        [NLM_UNLOCK] = LOCKING(unlockargs, NLM4_GRANTED),
        [NLM_GRANTED] = LOCKING(testargs, NLM4_DENIED),
        [NLM_SHARE] =
                SHARING(XDR(nlm4_shareargs), XDR(nlm4_shareres), NLM4_DENIED_NOLOCKS),
        [NLM_UNSHARE] = SHARING(XDR(nlm4_shareargs), XDR(nlm4_shareres), NLM4_GRANTED),
        [NLM_NM_LOCK] = {XDR(nlm3_lockargs), XDR(nlm4_lockargs), true, XDR(nlm4_res),
                         NLM4_DENIED_NOLOCKS},
        [NLM_FREE_ALL] = SHARING(XDR(nlm4_notify), NULL, NLM4_GRANTED),
};

bool nlm_has_version(uint32_t version)
{
	return version == 1 || version == 3 || version == 4;
}

/* Returns the procedure, or NULL if @version does not have it. */
static const struct procedure *find_nlm_procedure(uint32_t version, uint32_t proc)
{
	const struct procedure *p;

	if (proc >= sizeof(procedures) / sizeof(procedures[0]))
		return NULL;
	p = &procedures[proc];
	return p->args4 && (version != 1 || !p->shares) ? p : NULL;
}

/* Encodes the results.  Returns the number of octets, or -EMSGSIZE. */
static int put_nlm_results(const struct procedure *p, const union arguments *a,
                           void *ret, size_t size)
{
	/* The fields of nlm4_res are the first fields of nlm4_shareres. */
	const union {
		nlm4_shareres share;
		nlm4_res res;
	} r = {.share = {.cookie = a->cookie, .stat = p->stat}};

	return p->res ? nfs3_encode(ret, size, p->res, &r) : 0;
}

int nlm_execute(uint32_t version, uint32_t proc, const void *args, size_t args_len,
                void *ret, size_t size, size_t *ret_len)
{
	const struct procedure *p = find_nlm_procedure(version, proc);
	int taken, put = 0, status = RPCRDMA_GARBAGE_ARGS;
	union arguments a;
	xdrproc_t xargs;

	*ret_len = 0;
	if (proc == NLM_NULL)
		return args_len ? RPCRDMA_GARBAGE_ARGS : 0;
	if (!p)
		return RPCRDMA_PROC_UNAVAIL;
	xargs = version == 4 ? p->args4 : p->args3;
	taken = nfs3_decode(args, args_len, xargs, &a, sizeof(a));
	if (taken < 0)
		return RPCRDMA_GARBAGE_ARGS;
	if ((size_t)taken == args_len) {
		put = put_nlm_results(p, &a, ret, size);
		status = put < 0 ? RPCRDMA_SYSTEM_ERR : 0;
	}
	nfs3_free(xargs, &a, sizeof(a));
	*ret_len = put > 0 ? (size_t)put : 0;
	return status;
}
