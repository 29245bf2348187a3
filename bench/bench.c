/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the measured programs; contracts in bench.h. */
#include "bench.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const test_names[] = {
        [BENCH_NULL] = "null",
        [BENCH_READ] = "read",
        [BENCH_WRITE] = "write",
        [BENCH_LIST] = "list",
};

static const char *const reply_names[] = {
        [BENCH_CONTINUED] = "continued",
        [BENCH_CHUNK] = "chunk",
        [BENCH_EXPOSED] = "exposed",
};

static const char *const role_names[] = {
        [BENCH_SERVER] = "server",
        [BENCH_CLIENT] = "client",
        [BENCH_BOTH] = "both",
};

const char *bench_test_name(enum bench_test test)
{
	return test_names[test];
}

void bench_die(const char *what, int error)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(1);
}

static void usage(const char *program)
{
	fprintf(stderr,
	        "usage: %s server [--provider P] [--features LIST] [--spin US]\n"
	        "       %s client PORT --test null|read|write|list [--bytes N]\n"
	        "                [--depth N] [--ms N] [--provider P] [--features "
	        "LIST]\n"
	        "                [--reply continued|chunk|exposed] [--spin US] "
	        "[--calls N]\n"
	        "       %s both --calls N [OPTION of a client]...\n",
	        program, program, program);
	exit(2);
}

/* Looks up one of the @n names.  Returns false if @s is none of them. */
static bool parse_name(const char *s, const char *const names[], size_t n, size_t *ret)
{
	for (*ret = 0; *ret < n; ++*ret)
		if (!strcmp(s, names[*ret]))
			return true;
	return false;
}

static bool parse_test(const char *s, enum bench_test *ret)
{
	size_t i;
	bool found =
	        parse_name(s, test_names, sizeof(test_names) / sizeof(*test_names), &i);

	*ret = (enum bench_test)(found ? i : 0);
	return found;
}

static bool parse_reply(const char *s, enum bench_reply *ret)
{
	size_t i;
	bool found = parse_name(s, reply_names,
	                        sizeof(reply_names) / sizeof(*reply_names), &i);

	*ret = (enum bench_reply)(found ? i : 0);
	return found;
}

/* Reads an integer from @low to @high.  Returns false if @s is not one. */
static bool parse_number(const char *s, uint64_t low, uint64_t high, uint64_t *ret)
{
	char *end;
	unsigned long long v = strtoull(s, &end, 10);

	if (end == s || *end || v < low || v > high)
		return false;
	*ret = v;
	return true;
}

void bench_options(int argc, char **argv, struct bench_options *ret)
{
	static const struct option longs[] = {
	        {"test", required_argument, NULL, 't'},
	        {"bytes", required_argument, NULL, 'b'},
	        {"depth", required_argument, NULL, 'd'},
	        {"ms", required_argument, NULL, 'm'},
	        {"provider", required_argument, NULL, 'p'},
	        {"features", required_argument, NULL, 'f'},
	        {"reply", required_argument, NULL, 'r'},
	        {"spin", required_argument, NULL, 's'},
	        {"calls", required_argument, NULL, 'c'},
	        {0},
	};
	struct bench_options o = {.depth = 1, .ms = 200};
	size_t role = 0;
	bool ok = true;
	uint64_t v;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		v = 0;
		if (c == 't')
			ok &= parse_test(optarg, &o.test);
		else if (c == 'p')
			o.provider = optarg;
		else if (c == 'f')
			o.features = optarg;
		else if (c == 'r')
			ok &= parse_reply(optarg, &o.reply);
		else if (c == 'b')
			ok &= parse_number(optarg, 0, BENCH_MAX_BYTES, &v),
			        o.bytes = (uint32_t)v;
		else if (c == 'd')
			ok &= parse_number(optarg, 1, BENCH_MAX_DEPTH, &v),
			        o.depth = (uint32_t)v;
		else if (c == 'm')
			ok &= parse_number(optarg, 1, 600000, &o.ms);
		else if (c == 's')
			ok &= parse_number(optarg, 0, 1000000, &o.spin_us);
		else if (c == 'c')
			ok &= parse_number(optarg, 1, 1000000000, &o.calls);
		else
			ok = false;
	}
	ok &= optind < argc && parse_name(argv[optind], role_names, 3, &role);
	o.role = (enum bench_role)role;
	ok &= o.role != BENCH_CLIENT || optind + 1 < argc;
	ok &= o.role != BENCH_BOTH || o.calls;
	ok &= o.bytes % 4 == 0 && (o.test == BENCH_NULL) == (o.bytes == 0);
	if (!ok)
		usage(argv[0]);
	o.port = o.role == BENCH_CLIENT ? argv[optind + 1] : NULL;
	*ret = o;
}

void bench_row(const struct bench_options *o, uint64_t operations, uint64_t ns)
{
	printf("%s %u %u %llu %llu", bench_test_name(o->test), o->bytes, o->depth,
	       (unsigned long long)operations, (unsigned long long)ns);
}

void bench_listening(uint16_t port)
{
	printf("listening %u\n", port);
	fflush(stdout);
}

uint8_t *bench_data(size_t bytes)
{
	uint8_t *p = aligned_alloc(4096, (bytes + 4096) / 4096 * 4096);
	uint32_t x = 2463534242u;

	if (!p)
		bench_die("memory", 12);
	for (size_t i = 0; i < bytes; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		p[i] = (uint8_t)x;
	}
	return p;
}

void bench_nodelay(int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		bench_die("TCP_NODELAY", 22);
}

int bench_tcp_listen(uint16_t *ret_port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)&a, &len))
		bench_die("listen", 98);
	*ret_port = ntohs(a.sin_port);
	return fd;
}

int bench_tcp_connect(const char *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_port = htons((uint16_t)atoi(port));
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		bench_die("connect", 111);
	bench_nodelay(fd);
	return fd;
}
