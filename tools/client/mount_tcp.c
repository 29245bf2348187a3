/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MOUNT over TCP: finds its port, from the URL or the server's rpcbind, and calls its
 * procedures.  For exports without "insecure", Linux accepts mounts only from a port
 * below 1024; if run by root, the tool uses such a port.            [RFC 1813 I]
 */
#include "client/mount.h"
#include "client/tcp.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rpcrdma/nfs.h>

#define WAIT_NS      10000000000u
#define GRACE_NS     1000000000u
#define UMNT_WAIT_NS 2000000000u

static int set_mount_reason(struct nfs_client *c, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
static int set_mount_reason(struct nfs_client *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->mount.reason, sizeof(c->mount.reason), fmt, ap);
	va_end(ap);
	return NFS_NO_MOUNT;
}

/* Returns the reason for a failure at a port, as a phrase that follows the port's name.
 */
static const char *port_reason(int r)
{
	static char other[80];

	switch (r) {
	case -ECONNREFUSED:
		return "is not running (connection refused)";
	case -ETIMEDOUT:
		return "does not answer";
	case -ECONNRESET:
		return "closed the connection";
	case -EBADMSG:
	case -EMSGSIZE:
		return "sent a malformed answer";
	case RPCRDMA_PROG_UNAVAIL:
		return "is another service";
	case RPCRDMA_PROG_MISMATCH:
	case -EPROTONOSUPPORT:
		return "does not support the version";
	case RPCRDMA_AUTH_ERROR:
		return "rejects the credential";
	default:
		snprintf(other, sizeof(other), "failed: %s",
		         r < 0 ? strerror(-r) : rpcrdma_strstatus(r));
		return other;
	}
}

static void prepare_mount_call(const struct nfs_client *c, struct tcp_call *t,
                               uint64_t wait_ns)
{
	*t = (struct tcp_call){
	        .loop = c->link.loop,
	        .until_ns = tool_now_ns() + (c->timeout_ns && c->timeout_ns < wait_ns
	                                             ? c->timeout_ns
	                                             : wait_ns),
	};
}

/* ---- rpcbind ------------------------------------------------------------- */

/* A port look-up blocks, so a separate thread makes it.  Meanwhile the main thread
 * keeps connections alive, and a signal ends the tool at once.  The look-up thread owns
 * and frees this structure. */
struct port_question {
	char host[NI_MAXHOST];
	const char *netid;
	uint64_t wait_ns;
	int fd; /* socket to which the thread sends a struct port_answer; the tool may
		   have closed the other end */
};

struct port_answer {
	int error;
	char service[RPCRDMA_SERVICE_BYTES];
};

static void *answer_question(void *arg)
{
	struct port_question *q = arg;
	struct port_answer a = {0};

	a.error = rpcrdma_lookup_netid(q->host, q->netid, RPCRDMA_MOUNT_PROGRAM, 3,
	                               q->wait_ns, a.service);
	(void)send(q->fd, &a, sizeof(a), MSG_NOSIGNAL); /* the tool may have ended */
	close(q->fd);
	free(q);
	return NULL;
}

/* Starts the thread, which blocks all signals.  @q is given. */
static int start_port_lookup(struct port_question *q)
{
	sigset_t all, old;
	pthread_t t;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&t, NULL, answer_question, q);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!r) {
		pthread_detach(t);
		return 0;
	}
	close(q->fd);
	free(q);
	return r;
}

static int make_question(const struct nfs_client *c, uint64_t wait_ns, int fd)
{
	const struct sockaddr_storage *at = &c->mount.at;
	bool v6 = at->ss_family == AF_INET6;
	struct port_question *q = malloc(sizeof(*q));

	if (!q) {
		close(fd);
		return -ENOMEM;
	}
	*q = (struct port_question){
	        .netid = v6 ? "tcp6" : "tcp", .wait_ns = wait_ns, .fd = fd};
	if (getnameinfo((const struct sockaddr *)at,
	                v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in),
	                q->host, sizeof(q->host), NULL, 0, NI_NUMERICHOST)) {
		close(fd);
		free(q);
		return -EAFNOSUPPORT;
	}
	return start_port_lookup(q);
}

static int look_up_mount_port(struct nfs_client *c, uint16_t *ret)
{
	struct port_answer a;
	struct tcp_call t;
	int fds[2], r;

	prepare_mount_call(c, &t, WAIT_NS);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	r = make_question(c, t.until_ns - tool_now_ns(), fds[1]);
	t.until_ns += GRACE_NS; /* the thread itself reports a time-out */
	if (!r)
		r = tcp_wait(&t, fds[0], POLLIN);
	/* A single small write arrives in one piece. */
	if (!r)
		r = read(fds[0], &a, sizeof(a)) == sizeof(a) ? a.error : -EIO;
	close(fds[0]);
	if (!r)
		*ret = (uint16_t)strtoul(a.service, NULL, 10);
	return r;
}

static int ask_rpcbind(struct nfs_client *c, uint16_t *ret)
{
	int r = look_up_mount_port(c, ret);

	if (!r || r == -EINTR)
		return r;
	return set_mount_reason(
	        c,
	        "the server has no MOUNT on RDMA, and its rpcbind on port 111 %s: "
	        "specify ?mountport=N",
	        r == -ENOENT ? "has no MOUNT version 3 on TCP" : port_reason(r));
}

int mount_tcp_find(struct nfs_client *c, uint16_t port)
{
	struct rpcrdma_conn_info info;
	bool given = port != 0;
	int r;

	rpcrdma_conn_get_info(c->link.conn, &info, sizeof(info));
	c->mount.at = info.peer;
	if (tcp_set_port(&c->mount.at, port))
		return set_mount_reason(
		        c, "MOUNT is needed over TCP, but the server has no IP "
		           "address");
	if (!given) {
		r = ask_rpcbind(c, &port);
		if (r)
			return r;
		(void)!tcp_set_port(&c->mount.at, port); /* succeeded before */
	}
	c->mount.tcp = true;
	c->mount.port = port;
	if (c->link.loop->common->verbose)
		fprintf(stderr, "%s: MOUNT on TCP, port %" PRIu16 " (%s)\n",
		        c->link.host, port, given ? "as given" : "from rpcbind");
	return 0;
}

/* ---- MOUNT --------------------------------------------------------------- */

int mount_tcp_call(struct nfs_client *c, uint32_t proc, const char *path,
                   struct tcp_call *t)
{
	char args[MNTPATHLEN + 8];
	int n = 0, r;

	prepare_mount_call(c, t, proc == MOUNTPROC3_UMNT ? UMNT_WAIT_NS : WAIT_NS);
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
	return set_mount_reason(c, "its MOUNT on TCP port %" PRIu16 " %s",
	                        c->mount.port, port_reason(r));
}
