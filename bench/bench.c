/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the measured programs; contracts in bench.h. */
#include "bench.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const test_names[] = {
        [BENCH_NULL] = "null",       [BENCH_READ] = "read",
        [BENCH_WRITE] = "write",     [BENCH_LIST] = "list",
        [BENCH_ATTR] = "attr",       [BENCH_DIR] = "dir",
        [BENCH_GETATTR] = "getattr", [BENCH_LOOKUP] = "lookup",
        [BENCH_CREATE] = "create",   [BENCH_READDIRPLUS] = "readdirplus",
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

void bench_die(const char *what, int error)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(1);
}

static void usage(const char *program)
{
	fprintf(stderr,
	        "usage: %s server [--provider P] [--features LIST] [--credits N]\n"
	        "                [--spin US]\n"
	        "       %s client PORT --test T [--bytes N] [--depth N] [--conns N]\n"
	        "                [--ms N] [--provider P] [--features LIST] [--credits "
	        "N]\n"
	        "                [--reply continued|chunk|exposed] [--spin US] "
	        "[--calls N]\n"
	        "                [--send-items N]\n"
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

/* Returns true if the amount of data of @test is a parameter. */
static bool has_bytes(enum bench_test test)
{
	return test >= BENCH_READ && test <= BENCH_DIR;
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
	        {"conns", required_argument, NULL, 'n'},
	        {"credits", required_argument, NULL, 'g'},
	        {"ms", required_argument, NULL, 'm'},
	        {"provider", required_argument, NULL, 'p'},
	        {"features", required_argument, NULL, 'f'},
	        {"reply", required_argument, NULL, 'r'},
	        {"send-items", required_argument, NULL, 'i'},
	        {"spin", required_argument, NULL, 's'},
	        {"calls", required_argument, NULL, 'c'},
	        {0},
	};
	struct bench_options o = {.depth = 1, .conns = 1, .ms = 200};
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
		else if (c == 'n')
			ok &= parse_number(optarg, 1, BENCH_MAX_CONNS, &v),
			        o.conns = (uint32_t)v;
		else if (c == 'g')
			ok &= parse_number(optarg, 2, 2047, &v),
			        o.credits = (uint32_t)v;
		else if (c == 'i')
			ok &= parse_number(optarg, 1, BENCH_MAX_BYTES, &v),
			        o.send_items = (uint32_t)v;
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
	ok &= o.bytes % (o.test == BENCH_DIR ? 32 : 4) == 0 &&
	      has_bytes(o.test) == (o.bytes > 0);
	if (!ok)
		usage(argv[0]);
	o.port = o.role == BENCH_CLIENT ? argv[optind + 1] : NULL;
	*ret = o;
}

uint32_t bench_call_bytes(const struct bench_options *o, uint64_t i)
{
	return o->test == BENCH_DIR ? o->bytes / 4 * (uint32_t)(1 + i % 4) : o->bytes;
}

void bench_clock_start(struct bench_clock *c, const struct bench_options *o)
{
	*c = (struct bench_clock){.now = bench_now()};
	c->warm = c->now + o->ms * 1000000 / 10;
	c->end = c->warm + o->ms * 1000000;
}

bool bench_clock_count(struct bench_clock *c, uint64_t n)
{
	c->ops += n;
	c->now = bench_now();
	if (!c->counting && c->now >= c->warm) {
		c->counting = true;
		c->begin = c->now;
		c->ops = 0;
	}
	return c->now < c->end || !c->ops;
}

void bench_row(const struct bench_options *o, const struct bench_clock *c)
{
	printf("%s %u %u %u %llu %llu", test_names[o->test], o->bytes, o->depth,
	       o->conns, (unsigned long long)c->ops,
	       (unsigned long long)(c->now - c->begin));
}

void bench_allow_conns(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* if it fails, so will connections */
}

size_t bench_put_u32(uint8_t *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, sizeof(v));
	return sizeof(v);
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

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(fd, BENCH_MAX_CONNS) || getsockname(fd, (struct sockaddr *)&a, &len))
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
