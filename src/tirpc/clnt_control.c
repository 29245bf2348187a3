/* SPDX-License-Identifier: BSD-3-Clause */
/* clnt_control, clnt_geterr and clnt_freeres of a CLIENT. */
#include <string.h>

#include "tirpc/clnt.h"

void rr_rpc_error_from(int err, struct rpc_err *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->re_errno = -err;
	switch (-err) {
	case ETIMEDOUT:
		ret->re_status = RPC_TIMEDOUT;
		break;
	case EMSGSIZE: /* the Call was not sent: it exceeds the server's limits */
	case ENOMEM:
	case EINVAL:
	case ENOTCONN:
	case ENXIO:
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EPROTONOSUPPORT:
		ret->re_status = RPC_CANTSEND;
		break;
	default:
		ret->re_status = RPC_CANTRECV;
	}
}

void rr_rpc_client_geterr(CLIENT *clnt, struct rpc_err *ret)
{
	struct rr_rpc_client *c = rr_rpc_client_of(clnt);

	/* Checked before locking: see rr_rpc_client_call. */
	if (!rr_rpc_engine_runs(c->engine)) {
		rr_rpc_error_from(-ENOTCONN, ret);
		return;
	}
	pthread_mutex_lock(&c->lock);
	*ret = c->error;
	pthread_mutex_unlock(&c->lock);
}

bool_t rr_rpc_client_freeres(CLIENT *clnt, xdrproc_t proc, void *results)
{
	XDR x = {.x_op = XDR_FREE};

	return (*proc)(&x, results);
}

/* Uses the same limits as libtirpc's clnt_vc_control. */
static bool is_timeout_valid(const struct timeval *t)
{
	return t->tv_sec >= 0 && t->tv_sec <= 100000000 && t->tv_usec >= 0 &&
	       t->tv_usec <= 1000000;
}

/* Handles requests that read a value, with c->lock held.  Returns FALSE for other
 * requests. */
static bool_t get_clnt_info(struct rr_rpc_client *c, u_int request, void *info)
{
	switch (request) {
	case CLGET_TIMEOUT:
		memcpy(info, &c->timeout, sizeof(c->timeout));
		return TRUE;
	case CLGET_SERVER_ADDR:
		memcpy(info, &c->addr, c->addr_len);
		return TRUE;
	case CLGET_SVC_ADDR:
		*(struct netbuf *)info = (struct netbuf){
		        .maxlen = sizeof(c->addr), .len = c->addr_len, .buf = &c->addr};
		return TRUE;
	case CLGET_FD:
		memcpy(info, &c->lost_fd, sizeof(c->lost_fd));
		return TRUE;
	case CLGET_XID:
		memcpy(info, &c->last_xid, sizeof(c->last_xid));
		return TRUE;
	case CLGET_VERS:
		memcpy(info, &(uint32_t){(uint32_t)c->vers}, 4);
		return TRUE;
	case CLGET_PROG:
		memcpy(info, &(uint32_t){(uint32_t)c->prog}, 4);
		return TRUE;
	default:
		return FALSE;
	}
}

/* Handles requests that set a value, with c->lock held.  Returns FALSE for other
 * requests. */
static bool_t set_clnt_info(struct rr_rpc_client *c, u_int request, const void *info)
{
	uint32_t word;

	switch (request) {
	case CLSET_TIMEOUT:
		if (!is_timeout_valid(info))
			return FALSE;
		memcpy(&c->timeout, info, sizeof(c->timeout));
		c->timeout_set = true;
		return TRUE;
	case CLSET_XID:
		memcpy(&c->chosen_xid, info, sizeof(c->chosen_xid));
		return TRUE;
	case CLSET_VERS:
		memcpy(&word, info, 4);
		c->vers = word;
		return TRUE;
	case CLSET_PROG:
		memcpy(&word, info, 4);
		c->prog = word;
		return TRUE;
	default:
		return FALSE;
	}
}

bool_t rr_rpc_client_control(CLIENT *clnt, u_int request, void *info)
{
	struct rr_rpc_client *c = rr_rpc_client_of(clnt);
	bool_t ok;

	/* These requests succeed without effect, since a CLIENT over RDMA has no socket
	 * to close. */
	if (request == CLSET_FD_CLOSE || request == CLSET_FD_NCLOSE)
		return TRUE;
	if (!info || !rr_rpc_engine_runs(c->engine))
		return FALSE;
	pthread_mutex_lock(&c->lock);
	ok = get_clnt_info(c, request, info) || set_clnt_info(c, request, info);
	pthread_mutex_unlock(&c->lock);
	return ok;
}
