/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in tcp_calls.h. */
#include "test_tcp_calls.h"
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

unsigned tcp_port(const struct nfsd *r, const char *host)
{
	char start[80], tcp[8];
	unsigned port = 0;
	const char *at;

	snprintf(start, sizeof(start), "mountd %s:", host);
	at = strstr(r->printed, start);
	if (!at)
		return 0;
	assert_int_equal(sscanf(at + strlen(start), "%u %7s", &port, tcp), 2);
	assert_string_equal(tcp, "tcp");
	assert_in_range(port, 1, 65535);
	return port;
}

int tcp_dial(int family, unsigned port)
{
	const struct timeval limit = {TCP_CALL_S, 0};
	struct sockaddr_in in4 = {.sin_family = AF_INET,
	                          .sin_port = htons((uint16_t)port),
	                          .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
	                           .sin6_port = htons((uint16_t)port),
	                           .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	bool v6 = family == AF_INET6;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
	                 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)),
	                 0);
	assert_int_equal(connect(fd, v6 ? (void *)&in6 : (void *)&in4,
	                         v6 ? sizeof(in6) : sizeof(in4)),
	                 0);
	return fd;
}

CLIENT *tcp_client(const struct nfsd *r, int family, unsigned port, u_long program,
                   u_long version)
{
	struct sockaddr_storage ss;
	struct netbuf to = {sizeof(ss), sizeof(ss), &ss};
	int fd = tcp_dial(family, port);
	socklen_t len = sizeof(ss);
	CLIENT *c;

	assert_int_equal(getpeername(fd, (struct sockaddr *)&ss, &len), 0);
	to.len = len;
	c = clnt_vc_create(fd, &to, (rpcprog_t)program, (rpcvers_t)version, 0, 0);
	assert_non_null(c);
	clnt_control(c, CLSET_FD_CLOSE, NULL);
	auth_destroy(c->cl_auth);
	c->cl_auth = authunix_create((char *)"client", r->uid, r->gid, 0, NULL);
	assert_non_null(c->cl_auth);
	return c;
}

void tcp_hang_up(CLIENT *c)
{
	auth_destroy(c->cl_auth);
	clnt_destroy(c);
}

bool_t tcp_no_xdr(XDR *x, ...)
{
	(void)x;
	return TRUE;
}

enum clnt_stat tcp_call(CLIENT *c, u_long proc, xdrproc_t xargs, void *args,
                        xdrproc_t xres, void *res)
{
	const struct timeval limit = {TCP_CALL_S, 0};

	return clnt_call(c, (rpcproc_t)proc, xargs, args, xres, res, limit);
}

void tcp_refused(const struct nfsd *r, unsigned port, u_long program, u_long version,
                 u_long proc, enum clnt_stat expected, unsigned low, unsigned high)
{
	CLIENT *c = tcp_client(r, AF_INET, port, program, version);
	struct rpc_err e;

	assert_int_equal(tcp_call(c, proc, NOTHING, NULL, NOTHING, NULL), expected);
	clnt_geterr(c, &e);
	if (expected == RPC_PROGVERSMISMATCH) {
		assert_int_equal(e.re_vers.low, low);
		assert_int_equal(e.re_vers.high, high);
	}
	tcp_hang_up(c);
}
