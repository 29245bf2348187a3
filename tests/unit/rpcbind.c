/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration and look-up, against an rpcbind made of octets: what we send is
 * compared with messages laid by hand from RFC 5531 and 1833, what it answers is
 * written here, word by word.                 [v2 §9, §12; RFC 5665 §5.2.3; O6]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cursor.h"
#include "loop/engine.h"
#include "rpc/service.h"
#include "rpcbind/leftover.h"
#include "rpcbind/rpcbind.h"
#include "rpcbind/uaddr.h"

enum { PROGRAM = 0x20000099, MAX_ANSWERS = 64, CALL_MAX = 400 };

/* -- the rpcbind -------------------------------------------------------------- */

/* What one connection gets after its Call. */
struct answer {
	const uint8_t *octets; /* from the word after the XID on */
	size_t len;
	size_t fragment;    /* octets in one; 0: all */
	uint32_t xid_off;   /* added to the XID */
	const uint8_t *raw; /* sent instead, as it is */
	size_t raw_len;
	bool repeat;  /* raw again and again, till the other side has enough */
	bool silent;  /* nothing, until the client hangs up */
	bool dribble; /* raw, an octet every 30 ms */
};

static struct mock {
	int fd;
	struct rr_rpcbind at;
	pthread_t thread;
	struct answer answers[MAX_ANSWERS];
	unsigned n, taken;
	uint8_t calls[MAX_ANSWERS][CALL_MAX]; /* records, marks included */
	size_t call_len[MAX_ANSWERS];
} m;

static bool all(int fd, uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = recv(fd, p, len, 0);

		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static void wait_for_the_end(int fd)
{
	uint8_t c;

	while (recv(fd, &c, 1, 0) > 0)
		;
}

static void send_record(int fd, const uint8_t *p, size_t len, size_t fragment)
{
	do {
		size_t n = fragment && fragment < len ? fragment : len;
		uint8_t mark[4];

		rr_store_u32(mark, (uint32_t)n | (n == len ? 1u << 31 : 0));
		(void)!send(fd, mark, 4, MSG_NOSIGNAL | MSG_MORE);
		(void)!send(fd, p, n, MSG_NOSIGNAL);
		p += n;
		len -= n;
	} while (len);
}

static void send_raw(int fd, const struct answer *a)
{
	size_t step = a->dribble ? 1 : a->raw_len;

	do {
		for (size_t i = 0; i < a->raw_len; i += step) {
			if (a->dribble)
				poll(NULL, 0, 30);
			if (send(fd, a->raw + i, step, MSG_NOSIGNAL) < 0)
				return;
		}
	} while (a->repeat);
}

static void serve_one(int fd, const struct answer *a, uint8_t *call, size_t *ret_len)
{
	uint8_t *out = malloc(a->len + 4);
	uint32_t n;

	assert_non_null(out);
	if (all(fd, call, 4)) {
		n = rr_load_u32(call) & 0x7fffffff;
		if (n > CALL_MAX - 4 || !all(fd, call + 4, n))
			n = 0;
		*ret_len = n + 4;
		if (a->silent) {
			wait_for_the_end(fd);
		} else if (a->raw) {
			send_raw(fd, a);
		} else {
			rr_store_u32(out, rr_load_u32(call + 4) + a->xid_off);
			memcpy(out + 4, a->octets, a->len);
			send_record(fd, out, a->len + 4, a->fragment);
		}
	}
	free(out);
}

static void *serve(void *arg)
{
	struct mock *k = arg;

	for (; k->taken < k->n; k->taken++) {
		int fd = accept(k->fd, NULL, NULL);

		if (fd < 0)
			break;
		serve_one(fd, &k->answers[k->taken], k->calls[k->taken],
		          &k->call_len[k->taken]);
		close(fd);
	}
	return NULL;
}

static int set_up(void **state)
{
	struct sockaddr_in *in4 = (void *)&m.at.addr;

	memset(&m, 0, sizeof(m));
	m.at.len = sizeof(*in4);
	in4->sin_family = AF_INET;
	in4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	m.fd = socket(AF_INET, SOCK_STREAM, 0);
	return bind(m.fd, (struct sockaddr *)in4, sizeof(*in4)) || listen(m.fd, 64) ||
	       getsockname(m.fd, (struct sockaddr *)in4, &m.at.len);
}

static int tear_down(void **state)
{
	shutdown(m.fd, SHUT_RDWR);
	close(m.fd);
	return 0;
}

static void start(void)
{
	m.taken = 0;
	m.at.deadline = rr_engine_clock() + RR_SEC(20);
	assert_int_equal(pthread_create(&m.thread, NULL, serve, &m), 0);
}

/* All answers were asked for. */
static void finish(void)
{
	assert_int_equal(pthread_join(m.thread, NULL), 0);
	assert_int_equal(m.taken, m.n);
}

/* -- octets ------------------------------------------------------------------- */

/* clang-format off */
#define W(n) (uint8_t)((uint32_t)(n) >> 24), (uint8_t)((uint32_t)(n) >> 16), \
	     (uint8_t)((uint32_t)(n) >> 8), (uint8_t)(n)
/* REPLY, MSG_ACCEPTED, AUTH_NONE, SUCCESS */
#define ACCEPTED W(1), W(0), W(0), W(0), W(0)

static const uint8_t yes[] = {ACCEPTED, W(1)};
static const uint8_t no[] = {ACCEPTED, W(0)};
static const uint8_t empty[] = {ACCEPTED, W(0)};
/* PROG_MISMATCH: 2 to 3 */
static const uint8_t only_3[] = {W(1), W(0), W(0), W(0), W(2), W(2), W(3)};

/* NFS by TCP at port 2049; our program in version 2 by RDMA at 5000; in version 1
 * by TCP at 2050, by RDMA at 4660 with IPv6 and at 20049 with IPv4. */
static const uint8_t list[] = {
	ACCEPTED,
	W(1), W(100003), W(3), W(3), 't', 'c', 'p', 0,
	W(11), '0', '.', '0', '.', '0', '.', '0', '.', '8', '.', '1', 0,
	W(9), 's', 'u', 'p', 'e', 'r', 'u', 's', 'e', 'r', 0, 0, 0,
	W(1), W(PROGRAM), W(2), W(4), 'r', 'd', 'm', 'a',
	W(14), '0', '.', '0', '.', '0', '.', '0', '.', '1', '9', '.', '1', '3', '6', 0, 0,
	W(0),
	W(1), W(PROGRAM), W(1), W(3), 't', 'c', 'p', 0,
	W(11), '0', '.', '0', '.', '0', '.', '0', '.', '8', '.', '2', 0,
	W(0),
	W(1), W(PROGRAM), W(1), W(5), 'r', 'd', 'm', 'a', '6', 0, 0, 0,
	W(8), ':', ':', '.', '1', '8', '.', '5', '2',
	W(1), '0', 0, 0, 0,
	W(1), W(PROGRAM), W(1), W(4), 'r', 'd', 'm', 'a',
	W(13), '0', '.', '0', '.', '0', '.', '0', '.', '7', '8', '.', '8', '1', 0, 0, 0,
	W(1), '0', 0, 0, 0,
	W(0),
};

/* One of our own registrations, as DUMP shows it, */
static const uint8_t ours[] = {
	ACCEPTED, W(1), W(PROGRAM), W(1), W(4), 'r', 'd', 'm', 'a',
	W(15), '1', '9', '2', '.', '0', '.', '2', '.', '9', '.', '7', '8', '.', '8', '1', 0,
	W(1), '0', 0, 0, 0, W(0),
};
/* The same at 127.0.0.1:1, where nobody listens. */
static const uint8_t dead[] = {
	ACCEPTED, W(1), W(PROGRAM), W(1), W(4), 'r', 'd', 'm', 'a',
	W(13), '1', '2', '7', '.', '0', '.', '0', '.', '1', '.', '0', '.', '1', 0, 0, 0,
	W(1), '0', 0, 0, 0, W(0),
};
/* and the arguments of SET and UNSET, without the owner. */
static const uint8_t set_rdma[] = {
	W(PROGRAM), W(1), W(4), 'r', 'd', 'm', 'a',
	W(15), '1', '9', '2', '.', '0', '.', '2', '.', '9', '.', '7', '8', '.', '8', '1', 0,
};
static const uint8_t set_rdma6[] = {
	W(PROGRAM), W(1), W(5), 'r', 'd', 'm', 'a', '6', 0, 0, 0,
	W(17), '2', '0', '0', '1', ':', 'd', 'b', '8', ':', ':', '9', '.', '7', '8',
	'.', '8', '1', 0, 0, 0,
};
static const uint8_t set_any6[] = {
	W(PROGRAM), W(1), W(5), 'r', 'd', 'm', 'a', '6', 0, 0, 0,
	W(8), ':', ':', '.', '7', '8', '.', '8', '1',
};
static const uint8_t set_any4[] = {
	W(PROGRAM), W(1), W(4), 'r', 'd', 'm', 'a',
	W(13), '0', '.', '0', '.', '0', '.', '0', '.', '7', '8', '.', '8', '1', 0, 0, 0,
};
/* clang-format on */

#define ANSWER(o) ((struct answer){.octets = (o), .len = sizeof(o)})
#define SAY(o)    (m.answers[m.n++] = ANSWER(o))
#define RAW(o, ...)                                                                    \
	(m.answers[m.n++] =                                                            \
	         (struct answer){.raw = (o), .raw_len = sizeof(o), __VA_ARGS__})

static struct sockaddr_storage address(int family, const char *text, unsigned port)
{
	struct sockaddr_storage ss = {.ss_family = (sa_family_t)family};
	struct sockaddr_in *in4 = (void *)&ss;
	struct sockaddr_in6 *in6 = (void *)&ss;

	if (family == AF_INET) {
		in4->sin_port = htons((uint16_t)port);
		assert_int_equal(inet_pton(family, text, &in4->sin_addr), 1);
	} else {
		in6->sin6_port = htons((uint16_t)port);
		assert_int_equal(inet_pton(family, text, &in6->sin6_addr), 1);
	}
	return ss;
}

/* The i-th Call is this one: mark, XID, CALL, RPC 2, rpcbind, @version, @procedure,
 * AUTH_NONE twice, @args; then, if @owner, who we are. */
static void expect_call(unsigned i, uint32_t version, uint32_t procedure,
                        const uint8_t *args, size_t len, bool owner)
{
	const uint8_t *c = m.calls[i];
	uint8_t head[] = {W(0), W(2), W(100000), W(version), W(procedure),
	                  W(0), W(0), W(0),      W(0)};
	char who[16];
	size_t n = 0, padded = 0;

	if (owner) {
		n = (size_t)snprintf(who, sizeof(who), "%u", (unsigned)geteuid());
		padded = 4 + (n + 3) / 4 * 4;
	}
	assert_true(i < m.taken);
	assert_int_equal(m.call_len[i], 8 + sizeof(head) + len + padded);
	assert_int_equal(rr_load_u32(c), 0x80000000u | (m.call_len[i] - 4));
	assert_memory_equal(c + 8, head, sizeof(head));
	if (len)
		assert_memory_equal(c + 8 + sizeof(head), args, len);
	if (owner) {
		c += 8 + sizeof(head) + len;
		assert_int_equal(rr_load_u32(c), n);
		assert_memory_equal(c + 4, who, n);
	}
}

/* -- a service ---------------------------------------------------------------- */

static const struct rpcrdma_program one = {PROGRAM, 1, NULL, 0};
static const struct rr_rpcbind_program mount = {
        .program = PROGRAM,
        .version = 1,
        .netid = rr_netid_tcp,
        .is_dead = rr_is_dead_over_tcp,
};
static const struct rr_rpcbind_program wanted = {
        .program = PROGRAM, .version = 1, .netid = rr_netid};
static const struct rpcrdma_program two = {PROGRAM, 2, NULL, 0};

static struct rpcrdma_service *service(bool both)
{
	struct rpcrdma_service *s;

	assert_int_equal(rpcrdma_service_new(&s), 0);
	assert_int_equal(rpcrdma_service_add(s, &one, NULL), 0);
	if (both)
		assert_int_equal(rpcrdma_service_add(s, &two, NULL), 0);
	return s;
}

static int reg(bool both, int family, const char *text)
{
	struct rpcrdma_service *s = service(both);
	struct sockaddr_storage ss = address(family, text, 20049);
	int err;

	start();
	err = rr_service_register(s, &m.at, (struct sockaddr *)&ss);
	finish();
	rpcrdma_service_free(s);
	return err;
}

static int unreg(bool both, int family, const char *text)
{
	struct rpcrdma_service *s = service(both);
	struct sockaddr_storage ss = address(family, text, 20049);
	int err;

	start();
	err = rr_service_unregister(s, &m.at, (struct sockaddr *)&ss);
	finish();
	rpcrdma_service_free(s);
	return err;
}

/* V2-12-01, V2-9-04 */
static void an_ipv4_address_is_registered_as_rdma(void **state)
{
	SAY(yes);
	assert_int_equal(reg(false, AF_INET, "192.0.2.9"), 0);
	expect_call(0, 4, 1, set_rdma, sizeof(set_rdma), true);
}

/* V2-12-02, V2-9-04 */
static void an_ipv6_address_is_registered_as_rdma6(void **state)
{
	SAY(yes);
	assert_int_equal(reg(false, AF_INET6, "2001:db8::9"), 0);
	expect_call(0, 4, 1, set_rdma6, sizeof(set_rdma6), true);
}

/* V2-12-01, V2-12-02: such a listener takes both. */
static void the_ipv6_any_address_is_registered_as_both(void **state)
{
	SAY(yes);
	SAY(yes);
	assert_int_equal(reg(false, AF_INET6, "::"), 0);
	expect_call(0, 4, 1, set_any6, sizeof(set_any6), true);
	expect_call(1, 4, 1, set_any4, sizeof(set_any4), true);
}

static void the_ipv4_any_address_is_registered_as_rdma_alone(void **state)
{
	SAY(yes);
	assert_int_equal(reg(false, AF_INET, "0.0.0.0"), 0);
	expect_call(0, 4, 1, set_any4, sizeof(set_any4), true);
}

static void every_version_of_a_program_is_registered(void **state)
{
	uint8_t second[sizeof(set_rdma)];

	memcpy(second, set_rdma, sizeof(second));
	second[7] = 2;
	SAY(yes);
	SAY(yes);
	assert_int_equal(reg(true, AF_INET, "192.0.2.9"), 0);
	expect_call(0, 4, 1, set_rdma, sizeof(set_rdma), true);
	expect_call(1, 4, 1, second, sizeof(second), true);
}

static void what_another_has_registered_fails_and_is_undone(void **state)
{
	SAY(yes);  /* the first */
	SAY(no);   /* the second is somebody else's */
	SAY(ours); /* it is not shown to us */
	SAY(ours); /* is the first still ours? */
	SAY(yes);
	assert_int_equal(reg(true, AF_INET, "192.0.2.9"), -EEXIST);
	expect_call(2, 4, 4, NULL, 0, false);
	expect_call(3, 4, 4, NULL, 0, false);
	expect_call(4, 4, 2, set_rdma, sizeof(set_rdma), true);
}

static void what_a_dead_server_left_is_replaced(void **state)
{
	SAY(no);
	SAY(dead);
	SAY(yes);
	SAY(yes);
	assert_int_equal(reg(false, AF_INET, "192.0.2.9"), 0);
	expect_call(1, 4, 4, NULL, 0, false);
	expect_call(2, 4, 2, set_rdma, sizeof(set_rdma), true);
	expect_call(3, 4, 1, set_rdma, sizeof(set_rdma), true);
}

/* Somebody else's: rpcbind does not let us remove it. */
static void what_is_not_ours_to_remove_is_not_replaced(void **state)
{
	SAY(no);
	SAY(dead);
	SAY(no);
	assert_int_equal(reg(false, AF_INET, "192.0.2.9"), -EEXIST);
}

static void a_registration_is_taken_back(void **state)
{
	SAY(ours);
	SAY(yes);
	assert_int_equal(unreg(false, AF_INET, "192.0.2.9"), 0);
	expect_call(0, 4, 4, NULL, 0, false);
	expect_call(1, 4, 2, set_rdma, sizeof(set_rdma), true);
}

/* Another server has come in our place: its port is not ours to remove. */
static void what_is_not_ours_stays_registered(void **state)
{
	SAY(ours);
	assert_int_equal(unreg(false, AF_INET, "192.0.2.8"), -ENOENT);
	expect_call(0, 4, 4, NULL, 0, false);
}

static void all_is_taken_back_though_the_first_was_not_there(void **state)
{
	static uint8_t second[sizeof(ours)];

	memcpy(second, ours, sizeof(ours));
	second[31] = 2; /* the version */
	SAY(empty);
	m.answers[m.n++] = ANSWER(second);
	SAY(yes);
	assert_int_equal(unreg(true, AF_INET, "192.0.2.9"), -ENOENT);
}

static void one_program_is_registered_as_tcp_and_taken_back(void **state)
{
	struct sockaddr_storage ss = address(AF_INET, "192.0.2.9", 20049);
	const struct sockaddr *sa = (struct sockaddr *)&ss;
	uint8_t set_tcp[sizeof(set_rdma)], shown[sizeof(ours)];

	memcpy(set_tcp, set_rdma, sizeof(set_tcp));
	memcpy(set_tcp + 8, "\0\0\0\3tcp", 8);
	memcpy(shown, ours, sizeof(shown));
	memcpy(shown + 32, "\0\0\0\3tcp", 8);
	SAY(yes);
	SAY(shown);
	SAY(yes);
	SAY(ours); /* over RDMA: another */
	start();
	assert_int_equal(rr_register(&m.at, &mount, 1, sa), 0);
	assert_int_equal(rr_unregister(&m.at, &mount, 1, sa), 0);
	assert_int_equal(rr_unregister(&m.at, &mount, 1, sa), -ENOENT);
	finish();
	expect_call(0, 4, 1, set_tcp, sizeof(set_tcp), true);
	expect_call(2, 4, 2, set_tcp, sizeof(set_tcp), true);
}

/* -- looking up --------------------------------------------------------------- */

static int find_what(int family, const struct rr_rpcb *what, uint16_t *ret_port)
{
	struct sockaddr_storage ss;
	int err;

	start();
	err = rr_rpcbind_lookup(&m.at, what, family, &ss);
	finish();
	if (!err)
		*ret_port = rr_sockaddr_port((struct sockaddr *)&ss);
	return err;
}

static int find(int family, uint32_t version, uint16_t *ret_port)
{
	const struct rr_rpcb what = {
	        .program = PROGRAM, .version = version, .netid = rr_netid(family)};

	return find_what(family, &what, ret_port);
}

/* V2-9-01, V2-9-04, V2-12-01: neither the TCP service nor another version is
 * taken for it, as GETADDR, asked over TCP, would. */
static void the_port_is_found_under_the_netid_of_ipv4(void **state)
{
	uint16_t port = 0;

	SAY(list);
	assert_int_equal(find(AF_INET, 1, &port), 0);
	assert_int_equal(port, 20049);
	expect_call(0, 4, 4, NULL, 0, false);
}

/* V2-9-01, V2-12-02 */
static void the_port_is_found_under_the_netid_of_ipv6(void **state)
{
	uint16_t port = 0;

	SAY(list);
	assert_int_equal(find(AF_INET6, 1, &port), 0);
	assert_int_equal(port, 0x1234);
}

static void another_version_or_netid_is_not_there(void **state)
{
	uint16_t port;

	SAY(list);
	assert_int_equal(find(AF_INET, 3, &port), -ENOENT);
	m.n = 0;
	SAY(list);
	assert_int_equal(find(AF_INET6, 2, &port), -ENOENT);
}

static void version_3_is_asked_where_4_is_not_spoken(void **state)
{
	uint16_t port = 0;

	SAY(only_3);
	SAY(list);
	assert_int_equal(find(AF_INET, 1, &port), 0);
	assert_int_equal(port, 20049);
	expect_call(0, 4, 4, NULL, 0, false);
	expect_call(1, 3, 4, NULL, 0, false);
}

static void neither_version_is_an_error_of_its_own(void **state)
{
	uint16_t port;

	SAY(only_3);
	SAY(only_3);
	assert_int_equal(find(AF_INET, 1, &port), -EPROTONOSUPPORT);
}

static void an_answer_may_come_in_fragments(void **state)
{
	uint16_t port = 0;

	SAY(list);
	m.answers[0].fragment = 7;
	assert_int_equal(find(AF_INET, 1, &port), 0);
	assert_int_equal(port, 20049);
}

/* For those who find out versions by calling. */
static void another_version_is_found_if_that_is_asked_for(void **state)
{
	struct rr_rpcb what = {
	        .program = PROGRAM, .version = 7, .netid = "rdma", .any_version = true};
	uint16_t port = 0;

	SAY(list);
	assert_int_equal(find_what(AF_INET, &what, &port), 0);
	assert_int_equal(port, 5000);
}

static void the_version_itself_is_found_first(void **state)
{
	struct rr_rpcb what = {
	        .program = PROGRAM, .version = 1, .netid = "rdma", .any_version = true};
	uint16_t port = 0;

	SAY(list);
	assert_int_equal(find_what(AF_INET, &what, &port), 0);
	assert_int_equal(port, 20049);
	what.program++;
	m.n = 0;
	SAY(list);
	assert_int_equal(find_what(AF_INET, &what, &port), -ENOENT);
}

static int look_up_exactly(const char *netid, uint16_t *ret_port)
{
	struct addrinfo at = {.ai_family = AF_INET,
	                      .ai_addr = (struct sockaddr *)&m.at.addr,
	                      .ai_addrlen = m.at.len};
	const struct rr_rpcbind_program what = {
	        .program = PROGRAM, .version = 1, .exact_netid = netid};
	int err;

	m.n = 0;
	SAY(list);
	start();
	err = rr_lookup_at(&at, &what, m.at.deadline, ret_port);
	finish();
	return err;
}

/* The rpcbind is asked over IPv4, whichever family the netid belongs to. */
static void a_netid_is_looked_up_exactly(void **state)
{
	uint16_t port = 0;

	assert_int_equal(look_up_exactly("tcp", &port), 0);
	assert_int_equal(port, 2050);
	assert_int_equal(look_up_exactly("rdma6", &port), 0);
	assert_int_equal(port, 0x1234);
	assert_int_equal(look_up_exactly("rdma", &port), 0);
	assert_int_equal(port, 20049);
	assert_int_equal(look_up_exactly("tcp6", &port), -ENOENT);
	assert_int_equal(look_up_exactly("rdm", &port), -ENOENT);
}

/* One host, several rpcbinds: the silent one has its share of the time only, the
 * one that knows the program decides. */
static void the_next_address_is_asked_when_one_is_silent(void **state)
{
	struct sockaddr_in mute = {.sin_family = AF_INET};
	socklen_t len = sizeof(mute);
	struct addrinfo second = {.ai_family = AF_INET,
	                          .ai_addr = (struct sockaddr *)&m.at.addr,
	                          .ai_addrlen = m.at.len};
	struct addrinfo first = {.ai_family = AF_INET,
	                         .ai_addr = (struct sockaddr *)&mute,
	                         .ai_addrlen = sizeof(mute),
	                         .ai_next = &second};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint16_t port = 0;
	rr_time t;

	mute.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&mute, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&mute, &len), 0);
	SAY(list);
	start();
	t = rr_engine_clock();
	assert_int_equal(rr_lookup_at(&first, &wanted, t + RR_SEC(4), &port), 0);
	assert_true(rr_engine_clock() - t >= RR_SEC(2));
	finish();
	assert_int_equal(port, 20049);
	close(fd);
}

/* "Not registered" was answered; that nobody listens at the other says less. */
static void not_registered_outweighs_unreachable(void **state)
{
	struct sockaddr_in none = {.sin_family = AF_INET, .sin_port = htons(1)};
	struct addrinfo last = {.ai_family = AF_INET,
	                        .ai_addr = (struct sockaddr *)&none,
	                        .ai_addrlen = sizeof(none)};
	struct addrinfo first = {.ai_family = AF_INET,
	                         .ai_addr = (struct sockaddr *)&m.at.addr,
	                         .ai_addrlen = m.at.len,
	                         .ai_next = &last};
	uint16_t port;

	none.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	SAY(empty);
	start();
	assert_int_equal(rr_lookup_at(&first, &wanted, m.at.deadline, &port), -ENOENT);
	finish();
	assert_int_equal(rr_lookup_at(&last, &wanted, m.at.deadline, &port),
	                 -ECONNREFUSED);
}

/* -- hostile ------------------------------------------------------------------ */

/* An address of our program, @text of @len octets, in a list of one. */
static int find_at(const char *text, uint32_t len)
{
	static uint8_t octets[1024];
	struct rr_writer w = rr_writer_over(octets, sizeof(octets));
	static const uint8_t head[] = {ACCEPTED, W(1), W(PROGRAM), W(1), W(4),
	                               'r',      'd',  'm',        'a'};
	uint16_t port;

	memcpy(rr_put_space(&w, sizeof(head)), head, sizeof(head));
	rr_put_u32(&w, len);
	rr_put_padded(&w, text, len);
	rr_put_u32(&w, 0); /* owner */
	rr_put_u32(&w, 0); /* no more */
	assert_false(rr_writer_bad(&w));
	m.n = 0;
	m.answers[m.n++] = (struct answer){octets, rr_writer_used(&w)};
	return find(AF_INET, 1, &port);
}

static void an_address_that_is_none_is_refused(void **state)
{
	static const char *const bad[] = {
	        "",
	        "1.2.3.4",
	        "1.2.3.4.5",
	        "1.2.3.4.0.0",
	        "1.2.3.4.256.1",
	        "1.2.3.4.1.256",
	        "1.2.3.4.1.1000",
	        "1.2.3.4.1.4294967297",
	        "1.2.3.4.-1.5",
	        "1.2.3.4.78.",
	        "1.2.3.4..81",
	        "1.2.3.4.78.81 ",
	        " 1.2.3.4.78.81",
	        "1.2.3.4.078.81",
	        "1.2.3.400.78.81",
	        "1.2.3.78.81",
	        "::1.78.81",
	        "rpcbind.sock",
	        "/run/rpcbind.sock",
	};
	char longest[300];

	for (size_t i = 0; i < RR_ARRAY_SIZE(bad); i++)
		assert_int_equal(find_at(bad[i], (uint32_t)strlen(bad[i])), -EBADMSG);
	assert_int_equal(find_at("1.2.3.4.78.81\0", 14), -EBADMSG);
	memset(longest, '1', sizeof(longest));
	assert_int_equal(find_at(longest, sizeof(longest)), -EBADMSG);
	/* the judge can say yes */
	assert_int_equal(find_at("1.2.3.4.0.1", 11), 0);
	assert_int_equal(find_at("255.255.255.255.255.255", 23), 0);
}

/* No list that ends early, or goes on behind its end, is believed: not even when
 * what we look for was read already. */
static void every_broken_list_is_refused(void **state)
{
	static uint8_t more[sizeof(list) + 4];
	uint16_t port;

	for (size_t n = 0; n < sizeof(list); n++) {
		m.n = 0;
		m.answers[m.n++] = (struct answer){list, n};
		assert_int_equal(find(AF_INET, 2, &port), -EBADMSG);
	}
	memcpy(more, list, sizeof(list));
	m.n = 0;
	m.answers[m.n++] = ANSWER(more);
	assert_int_equal(find(AF_INET, 2, &port), -EBADMSG);
	more[sizeof(list) - 1] = 2; /* neither true nor false */
	m.n = 0;
	m.answers[m.n++] = (struct answer){more, sizeof(list)};
	assert_int_equal(find(AF_INET, 2, &port), -EBADMSG);
}

static void a_text_longer_than_the_answer_is_refused(void **state)
{
	static const uint8_t huge[] = {ACCEPTED, W(1), W(PROGRAM), W(1), W(0xffffffff),
	                               W(0),     W(0), W(0),       W(0)};
	uint16_t port;

	SAY(huge);
	assert_int_equal(find(AF_INET, 1, &port), -EBADMSG);
}

static void an_answer_longer_than_the_limit_is_refused(void **state)
{
	static const uint8_t last[] = {W(0xffffffff)};
	static const uint8_t not_last[] = {W(0x00040000)};
	uint16_t port;

	RAW(last);
	assert_int_equal(find(AF_INET, 1, &port), -EMSGSIZE);
	m.n = 0;
	RAW(not_last);
	assert_int_equal(find(AF_INET, 1, &port), -EMSGSIZE);
}

static void fragments_without_octets_come_to_an_end(void **state)
{
	static const uint8_t nothing[4096];
	uint16_t port;

	RAW(nothing, .repeat = true);
	assert_int_equal(find(AF_INET, 1, &port), -EMSGSIZE);
}

static void an_answer_to_another_call_is_refused(void **state)
{
	uint16_t port;

	SAY(list);
	m.answers[0].xid_off = 1;
	assert_int_equal(find(AF_INET, 1, &port), -EBADMSG);
}

static void refusals_have_errors_of_their_own(void **state)
{
	/* MSG_DENIED, AUTH_ERROR, AUTH_TOOWEAK */
	static const uint8_t denied[] = {W(1), W(1), W(1), W(5)};
	static const uint8_t proc_unavail[] = {W(1), W(0), W(0), W(0), W(3)};
	static const uint8_t prog_unavail[] = {W(1), W(0), W(0), W(0), W(1)};
	uint16_t port;

	SAY(denied);
	assert_int_equal(find(AF_INET, 1, &port), -EACCES);
	m.n = 0;
	SAY(proc_unavail);
	assert_int_equal(find(AF_INET, 1, &port), -EPROTO);
	m.n = 0;
	SAY(prog_unavail);
	SAY(prog_unavail);
	assert_int_equal(find(AF_INET, 1, &port), -EPROTONOSUPPORT);
}

static void an_answer_to_set_that_is_no_bool_is_refused(void **state)
{
	static const uint8_t three[] = {ACCEPTED, W(3)};
	static const uint8_t longer[] = {ACCEPTED, W(1), W(0)};

	SAY(three);
	assert_int_equal(reg(false, AF_INET, "192.0.2.9"), -EBADMSG);
	m.n = 0;
	SAY(longer);
	assert_int_equal(reg(false, AF_INET, "192.0.2.9"), -EBADMSG);
}

/* An octet now and then does not move the deadline. */
static void silence_and_dribbling_end_at_the_deadline(void **state)
{
	static const uint8_t much[] = {W(0x80001000), W(0), W(0), W(0), W(0), W(0),
	                               W(0),          W(0), W(0), W(0), W(0), W(0)};
	static const struct rr_rpcb what = {
	        .program = PROGRAM, .version = 1, .netid = "rdma"};
	struct sockaddr_storage ss;

	m.answers[m.n++].silent = true;
	RAW(much, .dribble = true, .repeat = true);
	start();
	for (unsigned i = 0; i < 2; i++) {
		rr_time t = rr_engine_clock();

		m.at.deadline = t + RR_MS(300);
		assert_int_equal(rr_rpcbind_lookup(&m.at, &what, AF_INET, &ss),
		                 -ETIMEDOUT);
		assert_true(rr_engine_clock() - t >= RR_MS(300));
		assert_true(rr_engine_clock() - t < RR_SEC(10));
	}
	finish();
}

static void misuse_is_answered(void **state)
{
	char port[RPCRDMA_SERVICE_BYTES];
	struct sockaddr_storage ss = {.ss_family = AF_UNIX};
	const struct rr_rpcb what = {
	        .program = PROGRAM, .version = 1, .netid = rr_netid(AF_UNIX)};
	struct rpcrdma_service *s = service(false);
	assert_int_equal(rpcrdma_lookup(NULL, PROGRAM, 1, 0, port), -EINVAL);
	assert_int_equal(rpcrdma_lookup("127.0.0.1", PROGRAM, 1, 0, NULL), -EINVAL);
	assert_int_equal(rpcrdma_lookup_netid("127.0.0.1", NULL, PROGRAM, 1, 0, port),
	                 -EINVAL);
	assert_int_equal(rpcrdma_lookup_netid("127.0.0.1", "", PROGRAM, 1, 0, port),
	                 -EINVAL);
	assert_int_equal(rpcrdma_lookup_netid(NULL, "tcp", PROGRAM, 1, 0, port),
	                 -EINVAL);
	assert_int_equal(rpcrdma_listener_register(NULL, 0), -EINVAL);
	assert_int_equal(rpcrdma_listener_unregister(NULL, 0), -EINVAL);
	assert_int_equal(rr_service_register(s, &m.at, (struct sockaddr *)&ss),
	                 -EAFNOSUPPORT);
	assert_int_equal(rpcrdma_register_tcp(PROGRAM, 1, NULL, 0), -EINVAL);
	assert_int_equal(rr_rpcbind_lookup(&m.at, &what, AF_UNIX, &ss), -EAFNOSUPPORT);
	rpcrdma_service_free(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(an_ipv4_address_is_registered_as_rdma),
	        TEST(an_ipv6_address_is_registered_as_rdma6),
	        TEST(the_ipv6_any_address_is_registered_as_both),
	        TEST(the_ipv4_any_address_is_registered_as_rdma_alone),
	        TEST(every_version_of_a_program_is_registered),
	        TEST(what_another_has_registered_fails_and_is_undone),
	        TEST(what_a_dead_server_left_is_replaced),
	        TEST(what_is_not_ours_to_remove_is_not_replaced),
	        TEST(a_registration_is_taken_back),
	        TEST(what_is_not_ours_stays_registered),
	        TEST(all_is_taken_back_though_the_first_was_not_there),
	        TEST(one_program_is_registered_as_tcp_and_taken_back),
	        TEST(the_port_is_found_under_the_netid_of_ipv4),
	        TEST(the_port_is_found_under_the_netid_of_ipv6),
	        TEST(another_version_or_netid_is_not_there),
	        TEST(version_3_is_asked_where_4_is_not_spoken),
	        TEST(neither_version_is_an_error_of_its_own),
	        TEST(an_answer_may_come_in_fragments),
	        TEST(a_netid_is_looked_up_exactly),
	        TEST(the_next_address_is_asked_when_one_is_silent),
	        TEST(another_version_is_found_if_that_is_asked_for),
	        TEST(the_version_itself_is_found_first),
	        TEST(not_registered_outweighs_unreachable),
	        TEST(an_address_that_is_none_is_refused),
	        TEST(every_broken_list_is_refused),
	        TEST(a_text_longer_than_the_answer_is_refused),
	        TEST(an_answer_longer_than_the_limit_is_refused),
	        TEST(fragments_without_octets_come_to_an_end),
	        TEST(an_answer_to_another_call_is_refused),
	        TEST(refusals_have_errors_of_their_own),
	        TEST(an_answer_to_set_that_is_no_bool_is_refused),
	        TEST(silence_and_dribbling_end_at_the_deadline),
	        TEST(misuse_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
