/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MOUNT over TCP: rpcbind's GETADDR (versions 4 and 3) or GETPORT (version 2) for
 * its port, then its procedures.  Exports without "insecure" want to be mounted
 * from a port below 1024: root gets one.                   [RFC 1833; RFC 1813 I]
 */
#include "client/mount.h"
#include "client/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <rpcrdma/nfs.h>

#define RPCBIND      100000
#define RPCBIND_PORT 111
#define GETADDR      3 /* and GETPORT of version 2 */
#define WAIT_NS      10000000000u
#define UMNT_WAIT_NS 2000000000u

static int cannot(struct nfs_client *c, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
static int cannot(struct nfs_client *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->mount.why, sizeof(c->mount.why), fmt, ap);
	va_end(ap);
	return NFS_NO_MOUNT;
}

/* What went wrong at a port, after "it". */
static const char *words(int r)
{
	static char other[80];

	switch (r) {
	case -ECONNREFUSED:
		return "is not there (connection refused)";
	case -ETIMEDOUT:
		return "does not answer";
	case -ECONNRESET:
		return "hung up";
	case -EBADMSG:
	case -EMSGSIZE:
		return "answers what cannot be";
	case RPCRDMA_PROG_UNAVAIL:
		return "is another service";
	case RPCRDMA_PROG_MISMATCH:
		return "lacks the version";
	case RPCRDMA_AUTH_ERROR:
		return "refuses our credential";
	default:
		snprintf(other, sizeof(other), "failed: %s",
		         r < 0 ? strerror(-r) : rpcrdma_strstatus(r));
		return other;
	}
}

static void prepare(const struct nfs_client *c, struct tcp_call *t, uint64_t wait_ns)
{
	*t = (struct tcp_call){
	        .loop = c->link.loop,
	        .until_ns = tool_now_ns() + (c->timeout_ns && c->timeout_ns < wait_ns
	                                             ? c->timeout_ns
	                                             : wait_ns),
	};
}

/* ---- rpcbind ------------------------------------------------------------- */

/* The last two numbers of "h1.h2.h3.h4.p1.p2" are the port.  [RFC 5665 §5.2.3.3] */
static int port_of(const char *uaddr, uint16_t *ret)
{
	const char *dot = NULL, *before = NULL;
	unsigned p1, p2;
	char end;

	for (const char *p = uaddr; *p; p++)
		if (*p == '.') {
			before = dot;
			dot = p;
		}
	if (!before || sscanf(before, ".%3u.%3u%c", &p1, &p2, &end) != 2 || p1 > 255 ||
	    p2 > 255 || p1 + p2 == 0)
		return -EBADMSG;
	*ret = (uint16_t)(p1 << 8 | p2);
	return 0;
}

/* An empty address: not registered. */
static int take_addr(const struct tcp_call *t, uint16_t *ret)
{
	char text[80];
	uint32_t len;

	if (t->results_len < 4)
		return -EBADMSG;
	memcpy(&len, t->results, 4);
	len = ntohl(len);
	if (len >= sizeof(text) || len > t->results_len - 4)
		return -EBADMSG;
	memcpy(text, t->results + 4, len);
	text[len] = 0;
	return len ? port_of(text, ret) : -ENOENT;
}

static int take_port(const struct tcp_call *t, uint16_t *ret)
{
	uint32_t port;

	if (t->results_len != 4)
		return -EBADMSG;
	memcpy(&port, t->results, 4);
	port = ntohl(port);
	*ret = (uint16_t)port;
	return port > 65535 ? -EBADMSG : port ? 0 : -ENOENT;
}

/* Arguments of GETADDR: program, version, netid, and an empty address and owner;
 * of GETPORT: program, version, protocol, 0. */
static int ask(struct tcp_call *t, uint32_t version, bool v6, uint16_t *ret)
{
	uint32_t addr[] = {
	        htonl(RPCRDMA_MOUNT_PROGRAM), htonl(3), htonl(v6 ? 4 : 3), 0, 0, 0};
	uint32_t port[] = {htonl(RPCRDMA_MOUNT_PROGRAM), htonl(3), htonl(6), 0};
	int r;

	memcpy(&addr[3], v6 ? "tcp6" : "tcp", v6 ? 4 : 3);
	t->program = RPCBIND;
	t->version = version;
	t->procedure = GETADDR;
	t->args = version == 2 ? port : addr;
	t->args_len = version == 2 ? sizeof(port) : sizeof(addr);
	r = tcp_call(t);
	if (!r)
		r = version == 2 ? take_port(t, ret) : take_addr(t, ret);
	tcp_call_fini(t);
	return r;
}

static int ask_rpcbind(struct nfs_client *c, uint16_t *ret)
{
	bool v6 = c->mount.at.ss_family == AF_INET6;
	struct tcp_call t;
	int r = RPCRDMA_PROG_MISMATCH;

	prepare(c, &t, WAIT_NS);
	t.to = c->mount.at;
	(void)!tcp_set_port(&t.to, RPCBIND_PORT); /* find() has tried */
	for (uint32_t v = 4; v >= (v6 ? 3 : 2) && r == RPCRDMA_PROG_MISMATCH; v--)
		r = ask(&t, v, v6, ret);
	if (!r || r == -EINTR)
		return r;
	return cannot(
	        c,
	        "the server has no MOUNT on RDMA, and its rpcbind on port 111 %s: "
	        "give ?mountport=N",
	        r == -ENOENT ? "knows no MOUNT version 3 on TCP" : words(r));
}

int mount_tcp_find(struct nfs_client *c, uint16_t port)
{
	struct rpcrdma_conn_info info;
	bool given = port != 0;
	int r;

	rpcrdma_conn_get_info(c->link.conn, &info, sizeof(info));
	c->mount.at = info.peer;
	if (tcp_set_port(&c->mount.at, port))
		return cannot(c, "MOUNT is asked over TCP, and the server has no IP "
		                 "address");
	if (!given) {
		r = ask_rpcbind(c, &port);
		if (r)
			return r;
		(void)!tcp_set_port(&c->mount.at, port); /* as before */
	}
	c->mount.tcp = true;
	c->mount.port = port;
	if (c->link.loop->common->verbose)
		fprintf(stderr, "%s: MOUNT on TCP, port %" PRIu16 " (%s)\n",
		        c->link.host, port, given ? "as given" : "said rpcbind");
	return 0;
}

/* ---- MOUNT --------------------------------------------------------------- */

int mount_tcp_call(struct nfs_client *c, uint32_t proc, const char *path,
                   struct tcp_call *t)
{
	char args[MNTPATHLEN + 8];
	int n = 0, r;

	prepare(c, t, proc == MOUNTPROC3_UMNT ? UMNT_WAIT_NS : WAIT_NS);
	if (path)
		n = NFS3_ENCODE(args, sizeof(args), dirpath, &(dirpath){(char *)path});
	if (n < 0)
		return (int)MNT3ERR_NAMETOOLONG;
	t->to = c->mount.at;
	t->reserved = true;
	t->program = RPCRDMA_MOUNT_PROGRAM;
	t->version = 3;
	t->procedure = proc;
	t->cred = &c->cred;
	t->args = args;
	t->args_len = (size_t)n;
	r = tcp_call(t);
	t->args = NULL;
	if (!r || r == -EINTR)
		return r;
	return cannot(c, "its MOUNT on TCP port %" PRIu16 " %s", c->mount.port,
	              words(r));
}
