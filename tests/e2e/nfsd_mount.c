/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd --mount-port: MOUNT over TCP, as clients of NFS over RDMA ask for it.
 * Well-behaved calls come from libtirpc, the others from a plain socket.
 */
#define _GNU_SOURCE
#include "test_tcp_calls.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct nfsd r;

static unsigned port_of(const char *host)
{
	return tcp_port(&r, host);
}

static bool have_ipv6(void)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
	                           .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool have = fd >= 0 && !bind(fd, (void *)&in6, sizeof(in6));

	if (fd >= 0)
		close(fd);
	return have;
}

/* ---- Calls by libtirpc ------------------------------------------------------ */

static mountstat3 mnt(CLIENT *c, const char *path, mountres3 *ret)
{
	dirpath p = (char *)(uintptr_t)path;

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(tcp_call(c, MOUNTPROC3_MNT, XDR_OF(dirpath), &p,
	                          XDR_OF(mountres3), ret),
	                 RPC_SUCCESS);
	return ret->fhs_status;
}

/* The results of DUMP (two names an entry) or EXPORT (a name and no groups). */
struct list {
	bool dump;
	unsigned n;
	char text[512];
};

static bool_t xdr_list(XDR *x, ...)
{
	struct list *l;
	va_list ap;
	bool_t more = FALSE;

	va_start(ap, x);
	l = va_arg(ap, struct list *);
	va_end(ap);
	if (x->x_op != XDR_DECODE)
		return TRUE;
	while (xdr_bool(x, &more) && more) {
		size_t at = strlen(l->text);
		char *a = NULL, *b = NULL;
		bool_t groups = FALSE;
		bool ok = xdr_string(x, &a, 1024) &&
		          (l->dump ? xdr_string(x, &b, 1024) : xdr_bool(x, &groups));

		if (ok)
			snprintf(l->text + at, sizeof(l->text) - at, "%s%s%s;", a,
			         b ? " " : "", b ? b : "");
		l->n++;
		free(a);
		free(b);
		if (!ok || groups)
			return FALSE;
	}
	return !more;
}

static void expect_list(CLIENT *c, u_long proc, const char *text)
{
	struct list l = {.dump = proc == MOUNTPROC3_DUMP};

	assert_int_equal(tcp_call(c, proc, NOTHING, NULL, (xdrproc_t)xdr_list, &l),
	                 RPC_SUCCESS);
	assert_string_equal(l.text, text);
}

/* A client's whole visit; the handle is the one that is given over RDMA. */
static void visit(int family, unsigned port, const char *host)
{
	CLIENT *c = tcp_client(&r, family, port, RPCRDMA_MOUNT_PROGRAM, 3);
	dirpath path = (char *)"/exp/sub";
	char dump[128];
	fhandle3 *fh;
	mountres3 res;

	assert_int_equal(tcp_call(c, MOUNTPROC3_NULL, NOTHING, NULL, NOTHING, NULL),
	                 RPC_SUCCESS);
	assert_int_equal(mnt(c, "/exp", &res), MNT3_OK);
	fh = &res.mountres3_u.mountinfo.fhandle;
	assert_int_equal(fh->fhandle3_len, r.root.data.data_len);
	assert_memory_equal(fh->fhandle3_val, r.root_data, fh->fhandle3_len);
	assert_int_equal(res.mountres3_u.mountinfo.auth_flavors.auth_flavors_val[0],
	                 RPCRDMA_AUTH_SYS);
	NFS3_FREE(mountres3, &res);
	assert_int_equal(mnt(c, "/exp/sub", &res), MNT3_OK);
	NFS3_FREE(mountres3, &res);
	assert_int_equal(mnt(c, "/exp/none", &res), MNT3ERR_NOENT);
	assert_int_equal(mnt(c, "/exp/..", &res), MNT3ERR_INVAL);
	expect_list(c, MOUNTPROC3_EXPORT, "/exp;");
	snprintf(dump, sizeof(dump), "127.0.0.1 /exp;%s%s%s /exp/sub;",
	         family == AF_INET6 ? host : "", family == AF_INET6 ? " /exp;" : "",
	         host);
	expect_list(c, MOUNTPROC3_DUMP, dump);
	assert_int_equal(
	        tcp_call(c, MOUNTPROC3_UMNT, XDR_OF(dirpath), &path, NOTHING, NULL),
	        RPC_SUCCESS);
	if (family == AF_INET6)
		assert_int_equal(
		        tcp_call(c, MOUNTPROC3_UMNTALL, NOTHING, NULL, NOTHING, NULL),
		        RPC_SUCCESS);
	expect_list(c, MOUNTPROC3_DUMP, "127.0.0.1 /exp;");
	tcp_hang_up(c);
}

/* RFC 1813 appendix I: all procedures of MOUNT; by IPv4 and by IPv6. */
static void mount_is_served_over_tcp(void **state)
{
	bool v6 = have_ipv6();

	(void)state;
	assert_int_equal(mkdir(nfsd_path(&r, "sub"), 0755), 0);
	nfsd_start(&r, "--mount-port", "0", v6 ? "--listen" : NULL, "[::1]:0", NULL);
	visit(AF_INET, port_of("127.0.0.1"), "127.0.0.1");
	if (v6)
		visit(AF_INET6, port_of("[::1]"), "::1");
	nfsd_stop(&r);
}

/* RFC 5531 §9: what is not served is said in the words of RPC. */
static void other_calls_are_refused(void **state)
{
	unsigned port;

	(void)state;
	nfsd_start(&r, "--mount-port", "0", NULL);
	port = port_of("127.0.0.1");
	tcp_refused(&r, port, RPCRDMA_NFS_PROGRAM, 3, 0, RPC_PROGUNAVAIL, 0, 0);
	tcp_refused(&r, port, RPCRDMA_MOUNT_PROGRAM, 1, 0, RPC_PROGVERSMISMATCH, 3, 3);
	tcp_refused(&r, port, RPCRDMA_MOUNT_PROGRAM, 3, 6, RPC_PROCUNAVAIL, 0, 0);
	tcp_refused(&r, port, RPCRDMA_MOUNT_PROGRAM, 3, MOUNTPROC3_MNT,
	            RPC_CANTDECODEARGS, 0, 0);
	nfsd_stop(&r);
}

/* ---- Calls laid by hand ----------------------------------------------------- */

struct record {
	uint8_t octets[256];
	size_t len;
};

static void word(struct record *k, uint32_t v)
{
	v = htonl(v);
	memcpy(k->octets + k->len, &v, 4);
	k->len += 4;
}

/* A call of NULL without credentials; in pieces of @fragment octets (0: one). */
static struct record null_call(uint32_t xid, size_t fragment)
{
	const uint32_t words[] = {xid, 0, 2, RPCRDMA_MOUNT_PROGRAM, 3, 0, 0, 0, 0, 0};
	struct record call = {.len = 0}, k = {.len = 0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		word(&call, words[i]);
	if (!fragment)
		fragment = call.len;
	for (size_t at = 0; at < call.len; at += fragment) {
		word(&k,
		     (uint32_t)fragment | (at + fragment >= call.len ? 1u << 31 : 0));
		memcpy(k.octets + k.len, call.octets + at, fragment);
		k.len += fragment;
	}
	return k;
}

static void send_all(int fd, const struct record *k, size_t len)
{
	assert_int_equal(send(fd, k->octets, len, MSG_NOSIGNAL), (ssize_t)len);
}

static void expect_answer(int fd, uint32_t xid)
{
	uint32_t got[7];

	assert_int_equal(recv(fd, got, sizeof(got), MSG_WAITALL), sizeof(got));
	assert_int_equal(ntohl(got[0]), 1u << 31 | 24);
	assert_int_equal(ntohl(got[1]), xid);
	for (int i = 2; i < 7; i++)
		assert_int_equal(ntohl(got[i]), i == 2); /* REPLY, then zeros */
}

/* The server closes. */
static void expect_end(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, 0);

	assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
	close(fd);
}

/* RFC 5531 §11: a record may come in fragments, two records in one segment. */
static void records_are_put_together(void **state)
{
	struct record whole = null_call(7, 0), bits = null_call(8, 4), two = whole;
	int fd;

	(void)state;
	nfsd_start(&r, "--mount-port", "0", NULL);
	fd = tcp_dial(AF_INET, port_of("127.0.0.1"));
	send_all(fd, &bits, bits.len);
	expect_answer(fd, 8);
	memcpy(two.octets + two.len, bits.octets, bits.len);
	two.len += bits.len;
	send_all(fd, &two, two.len);
	expect_answer(fd, 7);
	expect_answer(fd, 8);
	for (size_t i = 0; i < whole.len; i++)
		assert_int_equal(send(fd, whole.octets + i, 1, MSG_NOSIGNAL), 1);
	expect_answer(fd, 7);
	close(fd);
	nfsd_stop(&r);
}

/* What is no call ends its connection, at once. */
static void nonsense_ends_the_connection(void **state)
{
	static const uint32_t bad[][12] = {
	        {1u << 31, 0},   /* an empty record */
	        {0x7fffffff, 0}, /* longer than any call */
	        {0xffffffff, 0},
	        {1u << 31 | 8, 7, 0}, /* a call that ends too early */
	        {1u << 31 | 40, 7, 1, 2, RPCRDMA_MOUNT_PROGRAM, 3}, /* a reply */
	        {1u << 31 | 40, 7, 0, 2, RPCRDMA_MOUNT_PROGRAM, 3, 0, 0, 401},
	        {1u << 31 | 40, 7, 0, 2, RPCRDMA_MOUNT_PROGRAM, 3, 0, 0, 0xfffffffd},
	};
	unsigned port;

	(void)state;
	nfsd_start(&r, "--mount-port", "0", NULL);
	port = port_of("127.0.0.1");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct record k = {.len = 0};
		int fd = tcp_dial(AF_INET, port);

		for (size_t w = 0; w < 12; w++)
			word(&k, bad[i][w]);
		send_all(fd, &k, bad[i][0] >> 31 ? 4 + (bad[i][0] & 63) : k.len);
		expect_end(fd);
	}
	nfsd_stop(&r);
}

/* Fragments without octets count: they come to an end. */
static void empty_fragments_come_to_an_end(void **state)
{
	struct record k = {.len = 0};
	int fd;

	(void)state;
	nfsd_start(&r, "--mount-port", "0", NULL);
	fd = tcp_dial(AF_INET, port_of("127.0.0.1"));
	for (int i = 0; i < 32; i++)
		word(&k, 0);
	for (int i = 0; i < 3; i++)
		if (send(fd, k.octets, k.len, MSG_NOSIGNAL) < 0)
			break;
	expect_end(fd);
	nfsd_stop(&r);
}

/* Neither half a record nor an answer that nobody reads holds up others. */
static void a_slow_peer_holds_up_no_other(void **state)
{
	struct record k = null_call(9, 0);
	unsigned port;
	int half, deaf, fd;

	(void)state;
	nfsd_start(&r, "--mount-port", "0", NULL);
	port = port_of("127.0.0.1");
	half = tcp_dial(AF_INET, port);
	send_all(half, &k, k.len - 5);
	deaf = tcp_dial(AF_INET, port);
	assert_int_equal(fcntl(deaf, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 300000; i++)
		if (send(deaf, k.octets, k.len, MSG_NOSIGNAL) < 0)
			break;
	fd = tcp_dial(AF_INET, port);
	send_all(fd, &k, k.len);
	expect_answer(fd, 9);
	assert_int_equal(send(half, k.octets + k.len - 5, 5, MSG_NOSIGNAL), 5);
	expect_answer(half, 9);
	close(fd);
	close(half);
	close(deaf);
	nfsd_stop(&r);
}

/* However many connections are left open, a new one is served: the one that did
 * nothing for longest goes. */
static void connections_left_open_keep_nobody_out(void **state)
{
	struct record k = null_call(10, 0);
	int fds[100], fd;
	unsigned port;

	(void)state;
	nfsd_start(&r, "--mount-port", "0", NULL);
	port = port_of("127.0.0.1");
	for (int i = 0; i < 100; i++)
		fds[i] = tcp_dial(AF_INET, port);
	fd = tcp_dial(AF_INET, port);
	send_all(fd, &k, k.len);
	expect_answer(fd, 10);
	expect_end(fds[0]);
	for (int i = 1; i < 100; i++)
		close(fds[i]);
	send_all(fd, &k, k.len);
	expect_answer(fd, 10);
	close(fd);
	nfsd_stop(&r);
}

/* ---- Its life --------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The end of the server is theirs, and does not wait for them; calls are counted. */
static void open_connections_do_not_hold_up_the_end(void **state)
{
	struct record k = null_call(11, 0);
	char path[96], json[4096] = "";
	double begin;
	int idle, half;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/stats", r.dir);
	nfsd_start(&r, "--mount-port", "0", "--stats-on-exit", path, NULL);
	idle = tcp_dial(AF_INET, port_of("127.0.0.1"));
	half = tcp_dial(AF_INET, port_of("127.0.0.1"));
	send_all(idle, &k, k.len);
	expect_answer(idle, 11);
	send_all(half, &k, 20);
	begin = seconds();
	nfsd_stop(&r);
	assert_true(seconds() - begin < 10);
	expect_end(idle);
	expect_end(half);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(json, 1, sizeof(json) - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(json, "\"mount_tcp\":{\"calls\":1,\"errors\":0,"
	                             "\"connections\":2,\"connections_dropped\":0}"));
}

static void only_where_it_is_asked_for(void **state)
{
	struct sockaddr_in in4 = {.sin_family = AF_INET,
	                          .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(in4);
	char port[16];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	nfsd_start(&r, NULL);
	assert_string_equal(r.printed, "");
	nfsd_stop(&r);
	/* A port that is taken, and one that is none. */
	assert_int_equal(bind(fd, (void *)&in4, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (void *)&in4, &len), 0);
	snprintf(port, sizeof(port), "%u", ntohs(in4.sin_port));
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--state-dir", r.state,
	                           "--listen", "127.0.0.1:0", "--mount-port", port,
	                           NULL),
	                 1);
	close(fd);
	assert_int_equal(
	        nfsd_tool("nfsd", "--export", r.exp, "--mount-port", "65536", NULL), 2);
}

#define T(f)                                                                           \
	cmocka_unit_test_prestate_setup_teardown(f, nfsd_set_up, nfsd_tear_down, &r)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(mount_is_served_over_tcp),
	        T(other_calls_are_refused),
	        T(records_are_put_together),
	        T(nonsense_ends_the_connection),
	        T(empty_fragments_come_to_an_end),
	        T(a_slow_peer_holds_up_no_other),
	        T(connections_left_open_keep_nobody_out),
	        T(open_connections_do_not_hold_up_the_end),
	        T(only_where_it_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
