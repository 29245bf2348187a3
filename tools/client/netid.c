/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/netid.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

int netid_take(void *to, const char *arg)
{
	static const char *const known[] = {"rdma", "rdma6", "tcp", "tcp6"};
	const char *p = arg;
	size_t len;

	do {
		bool found = false;

		len = strcspn(p, ",");
		for (size_t i = 0; i < TOOL_N(known); i++)
			found |= strlen(known[i]) == len && !memcmp(known[i], p, len);
		if (!found) {
			tool_error("'%s' is not a list of rdma, rdma6, tcp and tcp6",
			           arg);
			return -EINVAL;
		}
		p += len + 1;
	} while (p[-1]);
	*(const char **)to = arg;
	return 0;
}

static void print_notice(const char *text, void *arg)
{
	tool_error("%s", text);
}

static struct timeval convert_ns(uint64_t ns)
{
	return (struct timeval){.tv_sec = (time_t)(ns / 1000000000),
	                        .tv_usec = (suseconds_t)(ns % 1000000000 / 1000)};
}

static void take_tcp_port(CLIENT *c, struct url *u)
{
	struct netbuf addr = {0};
	const struct sockaddr *sa;
	uint16_t port;

	if (!clnt_control(c, CLGET_SVC_ADDR, (char *)&addr))
		return;
	sa = addr.buf;
	port = sa->sa_family == AF_INET6 ? ((struct sockaddr_in6 *)addr.buf)->sin6_port
	                                 : ((struct sockaddr_in *)addr.buf)->sin_port;
	snprintf(u->port, sizeof(u->port), "%u", (unsigned)ntohs(port));
}

/* Prints the reason in rpc_createerr.  For a system error, prints the errno's text,
 * because TI-RPC's text is just "Remote system error". */
static void report_create_error(const char *host)
{
	int error = rpc_createerr.cf_error.re_errno;
	enum clnt_stat stat = rpc_createerr.cf_stat;

	if ((stat == RPC_SYSTEMERROR || stat == RPC_PMAPFAILURE ||
	     stat == RPC_RPCBFAILURE) &&
	    error > 0)
		tool_error("%s: cannot connect: %s", host, strerror(error));
	else
		tool_error("%s", clnt_spcreateerror((char *)host));
}

int netid_open(const struct netid_request *w, struct url *u, CLIENT **ret)
{
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);
	const struct timeval wait = convert_ns(w->timeout_ns);
	char host[sizeof(u->host) + sizeof(u->port) + 4];
	CLIENT *c;

	/* If there is no port, clnt_rdma_create_timed asks rpcbind. */
	if (u->has_port)
		url_host_text(u, host, sizeof(host));
	else
		snprintf(host, sizeof(host), strchr(u->host, ':') ? "[%s]" : "%s",
		         u->host);
	o.conn = w->conn;
	o.netids = w->netids;
	o.notice = print_notice;
	c = clnt_rdma_create_timed(host, w->program, w->version, &wait, &o);
	if (!c) {
		report_create_error(host);
		return -EIO;
	}
	take_tcp_port(c, u);
	if (!strncmp(c->cl_netid, "tcp", 3)) {
		*ret = c;
		return 1;
	}
	clnt_destroy(c);
	return 0;
}

enum clnt_stat netid_null(CLIENT *c, uint64_t timeout_ns, uint32_t *ret_xid)
{
	const xdrproc_t none = (xdrproc_t)(void (*)(void))xdr_void;
	enum clnt_stat stat = clnt_call(c, NULLPROC, none, NULL, none, NULL,
	                                convert_ns(timeout_ns ? timeout_ns : 1000));

	*ret_xid = 0;
	clnt_control(c, CLGET_XID, (char *)ret_xid);
	return stat;
}
