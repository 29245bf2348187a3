/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs eleven programs of rpcgen over TCP and over RDMA, where only the calls that
 * create the handles differ.  Prints a row for each: octets of arguments and results,
 * how many of them moved by RDMA, and the time that the program took.
 *
 *   bench_eleven [REPETITIONS [NAME]]
 *
 * Fails if results over RDMA differ from those over TCP, or if a program of long
 * arguments or results moved less than nine tenths of its octets by RDMA.  Times are
 * medians, and never make it fail.
 */
#include "eleven.h"

#include <arpa/inet.h>
#include <rpcrdma/tirpc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 99 };

static const struct eleven_program *const programs[] = {
        &eleven_shapes, &eleven_chain,    &eleven_maybe,  &eleven_table,
        &eleven_words,  &eleven_batch,    &eleven_mtsafe, &eleven_newstyle,
        &eleven_upload, &eleven_download, &eleven_voids,
};
#define N_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

/* The server is forked before the library starts its thread. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

uint64_t eleven_digest(uint64_t digest, const void *p, size_t len)
{
	const unsigned char *octets = p;
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word), octets += sizeof(word)) {
		memcpy(&word, octets, sizeof(word));
		digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
		digest ^= digest >> 29;
	}
	while (len--)
		digest = (digest ^ *octets++) * 0x100000001b3u;
	return digest;
}

void eleven_fill(void *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		((unsigned char *)p)[i] =
		        (unsigned char)((i * 2654435761u + seed) >> 13);
}

void *eleven_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

/* -- the server ------------------------------------------------------------ */

static SVCXPRT *create_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 8))
		return NULL;
	return svctcp_create(fd, 0, 0);
}

static int serve(int ready)
{
	SVCXPRT *x[2] = {create_tcp(), svc_rdma_create("127.0.0.1:0", NULL)};
	unsigned short ports[2];

	for (unsigned k = 0; k < 2; k++) {
		if (!x[k])
			return 2;
		for (unsigned i = 0; i < N_PROGRAMS; i++)
			if (!svc_register(x[k], programs[i]->prog, programs[i]->vers,
			                  programs[i]->dispatch, 0))
				return 3;
		ports[k] = x[k]->xp_port;
	}
	if (write(ready, ports, sizeof(ports)) != sizeof(ports))
		return 4;
	svc_run();
	return 0;
}

/* -- clients --------------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static CLIENT *create(const struct eleven_program *p, unsigned short port, bool rdma)
{
	const struct timeval wait = {.tv_sec = 120};
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	                        .sin_port = htons(port)};
	int fd = RPC_ANYSOCK;
	char host[32];
	CLIENT *c;

	snprintf(host, sizeof(host), "127.0.0.1:%u", (unsigned)port);
	c = rdma ? clnt_rdma_create(host, p->prog, p->vers, NULL)
	         : clnttcp_create(&a, p->prog, p->vers, &fd, 0, 0);
	if (!c)
		clnt_pcreateerror(p->name);
	else
		clnt_control(c, CLSET_TIMEOUT, (char *)&wait);
	return c;
}

struct row {
	uint64_t digest, ns;
	uint64_t octets, by_rdma;
};

/* Payload octets of all messages of this process, in chunks and outside of them. */
static void count(struct row *r, bool end)
{
	struct rpcrdma_stats s = {0};
	uint64_t chunks, all;

	if (rpcrdma_tirpc_get_stats(NULL, 0, &s, sizeof(s)))
		return;
	chunks = s.bytes_read_chunk + s.bytes_write_chunk + s.bytes_special_call +
	         s.bytes_reply_chunk;
	all = chunks + s.bytes_inline + s.bytes_continued;
	r->by_rdma = end ? chunks - r->by_rdma : chunks;
	r->octets = end ? all - r->octets : all;
}

static bool run(const struct eleven_program *p, unsigned short port, bool rdma,
                struct row *r)
{
	CLIENT *c = create(p, port, rdma);
	bool ok;

	if (!c)
		return false;
	*r = (struct row){.digest = 1};
	count(r, false);
	r->ns = now();
	ok = p->run(c, &r->digest);
	r->ns = now() - r->ns;
	count(r, true);
	if (!ok)
		clnt_perror(c, p->name);
	clnt_destroy(c);
	return ok;
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static bool compare(const struct eleven_program *p, const unsigned short ports[2],
                    unsigned times)
{
	struct row tcp[MOST], rdma[MOST];
	double share, quotient;

	for (unsigned i = 0; i < times; i++) { /* TCP and RDMA in turns */
		if (!run(p, ports[0], false, &tcp[i]) ||
		    !run(p, ports[1], true, &rdma[i]))
			return false;
		if (tcp[i].digest != rdma[i].digest) {
			printf("%s: the results differ\n", p->name);
			return false;
		}
	}
	qsort(tcp, times, sizeof(tcp[0]), by_time);
	qsort(rdma, times, sizeof(rdma[0]), by_time);
	share = 100.0 * (double)rdma[0].by_rdma / (double)rdma[0].octets;
	quotient = (double)rdma[times / 2].ns / (double)tcp[times / 2].ns;
	printf("%-10s %12llu %8.1f %% %12.2f %12.2f %9.2f\n", p->name,
	       (unsigned long long)rdma[0].octets, share,
	       (double)tcp[times / 2].ns / 1e6, (double)rdma[times / 2].ns / 1e6,
	       quotient);
	fflush(stdout);
	if (p->big && share <= 90)
		printf("%s: too little of it moved by RDMA\n", p->name);
	return !p->big || share > 90;
}

int main(int argc, char **argv)
{
	unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	unsigned short ports[2];
	bool ok = true;
	int fds[2];
	pid_t pid;

	if (!times || times > MOST || pipe(fds))
		return 2;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		exit(serve(fds[1]));
	}
	close(fds[1]);
	if (pid < 0 || read(fds[0], ports, sizeof(ports)) != sizeof(ports))
		return 1;
	printf("%-10s %12s %10s %12s %12s %9s\n", "program", "octets", "by RDMA",
	       "TCP ms", "RDMA ms", "RDMA/TCP");
	for (unsigned i = 0; i < N_PROGRAMS; i++)
		if (argc < 3 || !strcmp(argv[2], programs[i]->name))
			ok = compare(programs[i], ports, times) && ok;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return !ok;
}
