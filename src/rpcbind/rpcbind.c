/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of rpcbind; contract in rpcbind.h. */
#include "rpcbind/rpcbind.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cursor.h"
#include "loop/engine.h"
#include "oncrpc/rpc_header.h"
#include "rpcbind/uaddr.h"

enum {
	RPCBIND = 100000,
	PROC_SET = 1,
	PROC_UNSET = 2,
	PROC_DUMP = 4,
	LAST_FRAGMENT = 1u << 31,
	MARK = 4, /* octets of a record mark [RFC 5531 §11] */
	MAX_CALL = 512,
	MAX_TEXT = 64,
	FULL_MS = 10,
};

/* -- I/O before a deadline -------------------------------------------------- */

static int wait_for_events(int fd, short events, rr_time deadline)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		rr_time now = rr_engine_clock();
		rr_time left = deadline > now ? (deadline - now) / RR_MS(1) + 1 : 0;
		int n = left ? poll(&p, 1, (int)RR_MIN(left, 60000)) : 0;

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!left)
			return -ETIMEDOUT;
	}
}

static int finish_rpcbind_connect(int fd, rr_time deadline)
{
	socklen_t len = sizeof(int);
	int error, rc = wait_for_events(fd, POLLOUT, deadline);

	if (rc)
		return rc;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len))
		return -errno;
	return -error;
}

static int connect_to(const struct rr_rpcbind *b, int fd)
{
	while (connect(fd, (const struct sockaddr *)&b->addr, b->len)) {
		if (errno == EINPROGRESS)
			return finish_rpcbind_connect(fd, b->deadline);
		/* EAGAIN: the local socket's queue is full, and no event reports when
		 * this changes. */
		if (errno != EAGAIN || b->addr.ss_family != AF_UNIX)
			return -errno;
		if (rr_engine_clock() >= b->deadline)
			return -ETIMEDOUT;
		(void)poll(NULL, 0, FULL_MS);
	}
	return 0;
}

int rr_rpcbind_open(const struct rr_rpcbind *b, int *ret)
{
	int rc, fd = socket(b->addr.ss_family,
	                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	rc = connect_to(b, fd);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret = fd;
	return 0;
}

/* Handles errno after a failed system call: waits if the call would have blocked.
 * Returns 0 if the call is to be repeated, or an error. */
static int wait_or_fail(int fd, short events, rr_time deadline)
{
	if (errno == EINTR)
		return 0;
	return errno == EAGAIN ? wait_for_events(fd, events, deadline) : -errno;
}

static int send_all(int fd, const uint8_t *p, size_t len, rr_time deadline)
{
	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
		int rc = n < 0 ? wait_or_fail(fd, POLLOUT, deadline) : 0;

		if (rc)
			return rc;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int recv_all(int fd, uint8_t *p, size_t len, rr_time deadline)
{
	while (len) {
		ssize_t n = recv(fd, p, len, 0);
		int rc = n < 0 ? wait_or_fail(fd, POLLIN, deadline) : 0;

		if (rc)
			return rc;
		if (n == 0)
			return -EBADMSG; /* rpcbind closed in the middle of a record */
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* Receives one record.  Record marks count towards the size limit, so the number of
 * empty fragments is bounded.                                  [RFC 5531 §11] */
static int recv_record(int fd, uint8_t *buf, rr_time deadline, size_t *ret_len)
{
	size_t len = 0, room = RR_RPCBIND_MAX_REPLY;

	for (;;) {
		uint8_t mark[MARK];
		uint32_t n;
		int rc = recv_all(fd, mark, MARK, deadline);

		if (rc)
			return rc;
		n = rr_load_u32(mark) & ~LAST_FRAGMENT;
		if (room < MARK || n > room - MARK)
			return -EMSGSIZE;
		rc = recv_all(fd, buf + len, n, deadline);
		if (rc)
			return rc;
		room -= MARK + n;
		len += n;
		if (rr_load_u32(mark) & LAST_FRAGMENT)
			break;
	}
	*ret_len = len;
	return 0;
}

/* -- one call -------------------------------------------------------------- */

struct exchange {
	const struct rr_rpcbind *to;
	uint32_t program, procedure;
	const struct rr_rpcb *args; /* NULL: void */
	uint8_t *buf;               /* RR_RPCBIND_MAX_REPLY octets, for the Reply */
	struct rr_cursor results;   /* within @buf; set by call_on_socket */
};

static void put_text(struct rr_writer *w, const char *s)
{
	rr_put_u32(w, (uint32_t)strlen(s));
	rr_put_padded(w, s, strlen(s));
}

/* Encodes the arguments.  They include the owner, because some rpcbinds do not read the
 * local socket's credentials. */
static void put_args(struct rr_writer *w, const struct rr_rpcb *a)
{
	char owner[16];

	snprintf(owner, sizeof(owner), "%u", (unsigned)geteuid());
	rr_put_u32(w, a->program);
	rr_put_u32(w, a->version);
	put_text(w, a->netid);
	put_text(w, a->uaddr);
	put_text(w, owner);
}

/* Encodes the Call as a record.  Returns the length of the record. */
static size_t put_record(uint8_t buf[MAX_CALL], uint32_t xid, uint32_t version,
                         const struct exchange *x)
{
	const struct rr_rpc_call call = {.xid = xid,
	                                 .program = x->program,
	                                 .version = version,
	                                 .procedure = x->procedure};
	int n = rr_rpc_put_call(buf + MARK, MAX_CALL - MARK, &call);
	struct rr_writer w;

	RR_ASSERT(n > 0);
	w = rr_writer_over(buf + MARK + n, MAX_CALL - MARK - (size_t)n);
	if (x->args)
		put_args(&w, x->args);
	RR_ASSERT(!rr_writer_bad(&w)); /* call_for_bool has checked the lengths */
	rr_store_u32(buf, LAST_FRAGMENT | (uint32_t)((size_t)n + rr_writer_used(&w)));
	return MARK + (size_t)n + rr_writer_used(&w);
}

static int get_refusal(const struct rr_rpc_reply *r)
{
	switch (r->status) {
	case RPCRDMA_OK:
		return 0;
	case RPCRDMA_PROG_UNAVAIL:
	case RPCRDMA_PROG_MISMATCH:
		return -EPROTONOSUPPORT;
	case RPCRDMA_AUTH_ERROR:
		return -EACCES;
	default:
		return -EPROTO;
	}
}

static int call_on_socket(int fd, uint32_t version, struct exchange *x)
{
	uint32_t xid = (uint32_t)rr_engine_clock();
	rr_time deadline = x->to->deadline;
	uint8_t call[MAX_CALL];
	struct rr_rpc_reply reply;
	size_t len;
	int n, rc = send_all(fd, call, put_record(call, xid, version, x), deadline);

	if (!rc)
		rc = recv_record(fd, x->buf, deadline, &len);
	if (rc)
		return rc;
	n = rr_rpc_get_reply(x->buf, len, &reply);
	if (n < 0 || reply.xid != xid)
		return -EBADMSG;
	x->results = rr_cursor_over(x->buf + n, len - (size_t)n);
	return get_refusal(&reply);
}

static int call_any_version(struct exchange *x)
{
	int rc = -EPROTONOSUPPORT;

	for (uint32_t version = 4; version >= 3 && rc == -EPROTONOSUPPORT; version--) {
		int fd = -1;

		rc = rr_rpcbind_open(x->to, &fd);
		if (rc)
			return rc;
		rc = call_on_socket(fd, version, x);
		close(fd);
	}
	return rc;
}

/* -- results --------------------------------------------------------------- */

/* Decodes an XDR bool.  Returns 0, 1, or -EBADMSG. */
static int get_bool(struct rr_cursor *c)
{
	uint32_t v = rr_get_u32(c);

	return rr_cursor_bad(c) || v > 1 ? -EBADMSG : (int)v;
}

/* Calls SET or UNSET.  Returns 0 if rpcbind's result is true, or @no if it is false. */
static int call_for_bool(const struct rr_rpcbind *b, uint32_t procedure,
                         const struct rr_rpcb *r, int no)
{
	struct exchange x = {
	        .to = b, .program = RPCBIND, .procedure = procedure, .args = r};
	int rc;

	if (strlen(r->netid) > MAX_TEXT || strlen(r->uaddr) > MAX_TEXT)
		return -EINVAL;
	x.buf = malloc(RR_RPCBIND_MAX_REPLY);
	if (!x.buf)
		return -ENOMEM;
	rc = call_any_version(&x);
	if (!rc)
		rc = get_bool(&x.results);
	if (rc >= 0 && rr_cursor_left(&x.results))
		rc = -EBADMSG;
	free(x.buf);
	return rc < 0 ? rc : rc ? 0 : no;
}

int rr_rpcbind_set(const struct rr_rpcbind *b, const struct rr_rpcb *r)
{
	return call_for_bool(b, PROC_SET, r, -EEXIST);
}

int rr_rpcbind_unset(const struct rr_rpcbind *b, const struct rr_rpcb *r)
{
	return call_for_bool(b, PROC_UNSET, r, -ENOENT);
}

struct text {
	const void *at;
	uint32_t len;
};

/* Decodes a string.  Sets c->bad if the string is longer than RR_RPCBIND_MAX_REPLY. */
static struct text get_text(struct rr_cursor *c)
{
	struct text t = {.len = rr_get_u32(c)};

	if (t.len > RR_RPCBIND_MAX_REPLY)
		c->bad = true;
	t.at = rr_get_bytes(c, c->bad ? 0 : t.len + rr_pad(t.len));
	return t;
}

struct entry {
	uint32_t program, version;
	struct text netid, uaddr, owner;
};

static bool is_match(const struct entry *e, const struct rr_rpcb *r)
{
	return e->program == r->program && e->netid.len == strlen(r->netid) &&
	       !memcmp(e->netid.at, r->netid, e->netid.len);
}

/* Looks for @r in the list returned by DUMP.  Always decodes the entire list, so that a
 * malformed list is refused. */
static int search_list(struct rr_cursor *c, const struct rr_rpcb *r, int family,
                       struct sockaddr_storage *ret)
{
	struct text found = {0}, other = {0}; /* @other: another version's */
	int more;

	while ((more = get_bool(c)) == 1) {
		struct entry e;

		e.program = rr_get_u32(c);
		e.version = rr_get_u32(c);
		e.netid = get_text(c);
		e.uaddr = get_text(c);
		e.owner = get_text(c);
		if (rr_cursor_bad(c))
			return -EBADMSG;
		if (!is_match(&e, r))
			continue;
		if (e.version == r->version && !found.at)
			found = e.uaddr;
		else if (r->any_version && !other.at)
			other = e.uaddr;
	}
	if (more < 0 || rr_cursor_left(c))
		return -EBADMSG;
	if (!found.at)
		found = other;
	return found.at ? rr_uaddr_get(found.at, found.len, family, ret) : -ENOENT;
}

int rr_rpcbind_lookup(const struct rr_rpcbind *b, const struct rr_rpcb *r, int family,
                      struct sockaddr_storage *ret)
{
	struct exchange x = {.to = b, .program = RPCBIND, .procedure = PROC_DUMP};
	int rc;

	if (!r->netid)
		return -EAFNOSUPPORT;
	x.buf = malloc(RR_RPCBIND_MAX_REPLY);
	if (!x.buf)
		return -ENOMEM;
	rc = call_any_version(&x);
	if (!rc)
		rc = search_list(&x.results, r, family, ret);
	free(x.buf);
	return rc;
}

int rr_rpcbind_null(const struct rr_rpcbind *b, uint32_t program, uint32_t version)
{
	struct exchange x = {.to = b, .program = program};
	int fd = -1, rc = rr_rpcbind_open(b, &fd);

	if (rc)
		return rc;
	x.buf = malloc(RR_RPCBIND_MAX_REPLY);
	rc = x.buf ? call_on_socket(fd, version, &x) : -ENOMEM;
	free(x.buf);
	close(fd);
	return rc;
}
