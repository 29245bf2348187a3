/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server with many connections.
 *
 *   throng CONNS HALF_OPEN
 *
 * Ten processes connect to one server, all at once, CONNS times in all.  Each connection
 * makes calls, whose results are digests that the client checks.  The program prints the
 * memory of the server for each idle connection.  Then one hostile process opens
 * HALF_OPEN connections and never completes them, while an honest client makes calls
 * one by one; the program prints the longest time that one of them took.  At last all
 * connections make calls again, and the server ends, within a time limit.
 *
 * Proves that every call is answered, that the hostile process delays nobody for long,
 * and that a server with so many connections ends in order.  Times and memory are judged
 * only without sanitizers, whose memory and speed say nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rpcrdma/cursor.h>
#include <rpcrdma/rpcrdma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef SANITIZED
enum { WORST_MS = 3000, MOST_KIB = 1 << 20 };
#else
enum { WORST_MS = 900, MOST_KIB = 20 }; /* a lost SYN costs a second */
#endif

enum {
	PROGRAM = 0x20008268,
	CLIENTS = 10,
	ARGS_MAX = 2000,
	SPARE_FILES = 300,
	STEP_S = 60,   /* time limit of each step */
	HOSTILE_S = 3, /* time for which the hostile process is watched */
	SKIP = 77,
};

static struct rpcrdma_engine *engine;

_Noreturn static void give_up(const char *what, int error)
{
	fprintf(stderr, "throng: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(1);
}

static void check_ok(const char *what, int error)
{
	if (error)
		give_up(what, error);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Forks a process that ends with this one. */
static pid_t fork_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		give_up("fork", errno);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

static uint32_t digest_of(const uint8_t *p, size_t n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ *p++) * 16777619u;
	return h;
}

/* -- the server ------------------------------------------------------------ */

static void serve_digest(struct rpcrdma_request *r, void *arg)
{
	struct rpcrdma_cursor c;
	uint32_t len, word;
	const uint8_t *p;
	uint8_t *res = rpcrdma_request_alloc(r, 4);
	struct rpcrdma_piece piece = {.base = res, .len = 4};

	(void)arg;
	rpcrdma_request_cursor(r, &c);
	p = rpcrdma_cursor_opaque(&c, NULL, ARGS_MAX, &len);
	if (rpcrdma_cursor_end(&c) || !res) {
		check_ok("reply", rpcrdma_request_error(r, RPCRDMA_GARBAGE_ARGS, 0));
		return;
	}
	word = htonl(digest_of(p, len));
	memcpy(res, &word, 4);
	check_ok("reply", rpcrdma_request_reply(r, &piece, 1, NULL, NULL));
}

static const struct rpcrdma_procedure procedures[] = {
        {.name = "DIGEST", .handler = serve_digest}};
static const struct rpcrdma_program program = {PROGRAM, 1, procedures, 1};

static void stop_server(int sig)
{
	(void)sig;
	rpcrdma_engine_stop(engine);
}

/* Writes the port to @out, serves until SIGTERM, and exits. */
_Noreturn static void run_server(int out, unsigned places)
{
	struct rpcrdma_service *service;
	struct rpcrdma_listener *l;
	struct sockaddr_storage ss;
	uint16_t port;

	check_ok("budget", rpcrdma_budget_set((uint64_t)16 << 30));
	check_ok("engine", rpcrdma_engine_new(NULL, &engine));
	check_ok("service", rpcrdma_service_new(&service));
	check_ok("service", rpcrdma_service_add(service, &program, NULL));
	check_ok("listen",
	         rpcrdma_listen(engine, "127.0.0.1:0", NULL, service, places, &l));
	check_ok("address", rpcrdma_listener_addr(l, &ss));
	signal(SIGTERM, stop_server);
	port = ntohs(((struct sockaddr_in *)&ss)->sin_port);
	if (write(out, &port, sizeof(port)) != sizeof(port))
		give_up("port", errno);
	check_ok("run", rpcrdma_engine_run(engine));
	rpcrdma_listener_close(l, 0);
	while (!rpcrdma_engine_idle(engine))
		check_ok("drain", rpcrdma_engine_process(engine, 100));
	rpcrdma_engine_free(engine);
	rpcrdma_service_free(service);
	exit(0);
}

static long anonymous_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	if (!f)
		give_up(path, errno);
	while (kib < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) != 1)
			kib = -1;
	fclose(f);
	return kib;
}

/* -- clients --------------------------------------------------------------- */

struct client {
	struct rpcrdma_conn *conn;
	uint8_t args[4 + ARGS_MAX];
	struct rpcrdma_piece piece;
	uint32_t want;
};

static unsigned answered;

static void check_answer(struct rpcrdma_call *call, const struct rpcrdma_reply *r,
                         void *arg)
{
	const struct client *c = arg;
	struct rpcrdma_cursor cur;

	(void)call;
	if (r->status) {
		fprintf(stderr, "throng: a call: %s\n", rpcrdma_strstatus(r->status));
		exit(1);
	}
	rpcrdma_reply_cursor(r, &cur);
	if (rpcrdma_cursor_u32(&cur) != c->want || rpcrdma_cursor_end(&cur))
		give_up("a wrong digest", EBADMSG);
	answered++;
}

static void start_call(struct client *c, unsigned seed)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	uint32_t len = 4 * (1 + seed % (ARGS_MAX / 4)), word = htonl(len);

	memcpy(c->args, &word, 4);
	for (uint32_t i = 0; i < len; i++)
		c->args[4 + i] = (uint8_t)(seed * 31 + i * 7 + (i >> 8));
	c->want = digest_of(c->args + 4, len);
	c->piece = (struct rpcrdma_piece){.base = c->args, .len = 4 + len};
	o.program = PROGRAM;
	o.version = 1;
	o.args = &c->piece;
	o.n_args = 1;
	o.done = check_answer;
	o.arg = c;
	check_ok("call", rpcrdma_call(c->conn, &o, NULL));
}

static void await_answers(unsigned n)
{
	uint64_t stop = now_ms() + STEP_S * 1000;

	while (answered < n) {
		check_ok("process", rpcrdma_engine_process(engine, 100));
		if (now_ms() > stop)
			give_up("calls without an answer", ETIMEDOUT);
	}
}

static void open_connection(struct client *c, const char *port)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	o.no_reconnect = true;
	check_ok("connect",
	         rpcrdma_connect(engine, "127.0.0.1", port, &o, NULL, NULL, &c->conn));
}

static void close_connections(struct client *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		rpcrdma_conn_close(c[i].conn);
	while (!rpcrdma_engine_idle(engine))
		check_ok("close", rpcrdma_engine_process(engine, 1000));
	rpcrdma_engine_free(engine);
	free(c);
}

/* The two ends of a child's standard input and output. */
struct child {
	pid_t pid;
	int to, from;
};

static void tell_parent(int out)
{
	if (write(out, "", 1) != 1)
		give_up("pipe", errno);
}

static void await_parent(int in)
{
	char c;

	if (read(in, &c, 1) != 1)
		give_up("the parent has ended", EPIPE);
}

/* Makes @n connections at once, with one call each; tells the parent; makes two more
 * calls on each when the parent says so. */
static void run_client(int in, int out, const char *port, unsigned n)
{
	struct client *c = calloc(n, sizeof(*c));

	if (!c)
		give_up("memory", ENOMEM);
	check_ok("engine", rpcrdma_engine_new(NULL, &engine));
	for (unsigned i = 0; i < n; i++) {
		open_connection(&c[i], port);
		start_call(&c[i], i);
	}
	await_answers(n);
	tell_parent(out);
	await_parent(in);
	for (unsigned round = 2; round < 4; round++) {
		for (unsigned i = 0; i < n; i++)
			start_call(&c[i], round * n + i);
		await_answers(round * n);
	}
	tell_parent(out);
	close_connections(c, n);
}

/* Opens connections that stop at TCP, within the MPA Request, or within the first FPDU,
 * and keeps them. */
static void run_hostile(int in, int out, const char *port, unsigned n)
{
	static const uint8_t octets[] =
	        "MPA ID Req Frame\x40\x01\x00\x00\x00\x40\x41\x43";
	static const size_t len[] = {0, 9, 20, 24};
	struct sockaddr_in sin = {.sin_family = AF_INET,
	                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	                          .sin_port = htons((uint16_t)atoi(port))};

	for (unsigned i = 0; i < n; i++) {
		size_t k = len[i % 4];
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&sin, sizeof(sin)))
			give_up("hostile connect", errno);
		/* The server may have closed it already. */
		(void)!send(fd, octets, k, MSG_NOSIGNAL);
	}
	tell_parent(out);
	await_parent(in);
}

/* -- the parent ------------------------------------------------------------ */

static struct child start_child(void (*run)(int, int, const char *, unsigned),
                                const char *port, unsigned n)
{
	int down[2], up[2];
	struct child c;

	if (pipe(down) || pipe(up))
		give_up("pipe", errno);
	c.pid = fork_child();
	if (!c.pid) {
		close(down[1]);
		close(up[0]);
		run(down[0], up[1], port, n);
		exit(0);
	}
	close(down[0]);
	close(up[1]);
	c.to = down[1];
	c.from = up[0];
	return c;
}

static bool has_reported(const struct child *c, int ms)
{
	struct pollfd p = {.fd = c->from, .events = POLLIN};
	char byte;

	if (poll(&p, 1, ms) != 1)
		return false;
	if (read(c->from, &byte, 1) != 1)
		give_up("a process has failed", ECHILD);
	return true;
}

static void tell_child(const struct child *c)
{
	if (write(c->to, "", 1) != 1)
		give_up("pipe", errno);
}

static void await_report(const struct child *c)
{
	if (!has_reported(c, (STEP_S + 5) * 1000))
		give_up("a process does not answer", ETIMEDOUT);
}

static void await_exit(pid_t pid, const char *what)
{
	uint64_t stop = now_ms() + STEP_S * 1000;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (now_ms() > stop)
			give_up(what, ETIMEDOUT);
		usleep(10000);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		give_up(what, ECHILD);
}

/* Makes a call on @c and, every so often, on a new connection.  Returns its time in
 * milliseconds. */
static uint64_t time_call(struct client *c, const char *port, bool renew)
{
	uint64_t begin = now_ms();

	if (renew) {
		rpcrdma_conn_close(c->conn);
		open_connection(c, port);
	}
	start_call(c, answered);
	await_answers(answered + 1);
	return now_ms() - begin;
}

/* Makes calls while the hostile process connects, and for a while after that. */
static void watch_hostile(const char *port, unsigned half_open)
{
	struct client *c = calloc(1, sizeof(*c));
	uint64_t worst = 0, stop = 0;
	struct child foe;
	unsigned n = 0;

	if (!c)
		give_up("memory", ENOMEM);
	foe = start_child(run_hostile, port, half_open);
	check_ok("engine", rpcrdma_engine_new(NULL, &engine));
	open_connection(c, port);
	while (!stop || now_ms() < stop) {
		uint64_t t = time_call(c, port, n++ % 16 == 15);

		worst = t > worst ? t : worst;
		if (!stop && has_reported(&foe, 0))
			stop = now_ms() + HOSTILE_S * 1000;
	}
	printf("%u half-open connections: %u calls of an honest client, the longest "
	       "took "
	       "%u ms\n",
	       half_open, n, (unsigned)worst);
	fflush(stdout);
	close_connections(c, 1);
	tell_child(&foe);
	await_exit(foe.pid, "the hostile process");
	if (worst > WORST_MS)
		give_up("a call took too long", ETIMEDOUT);
}

static void allow_files(unsigned n)
{
	struct rlimit r;

	check_ok("getrlimit", getrlimit(RLIMIT_NOFILE, &r));
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
	if (r.rlim_cur >= n)
		return;
	printf("skipped: the test needs %u descriptors\n", n);
	exit(SKIP);
}

static struct child start_server(unsigned places, char port[8])
{
	int up[2];
	struct child c = {.to = -1};
	uint16_t number;

	if (pipe(up))
		give_up("pipe", errno);
	c.pid = fork_child();
	if (!c.pid)
		run_server(up[1], places);
	close(up[1]);
	if (read(up[0], &number, sizeof(number)) != sizeof(number))
		give_up("the server does not start", ECHILD);
	snprintf(port, 8, "%u", number);
	c.from = up[0];
	return c;
}

static void end_server(const struct child *server)
{
	uint64_t begin = now_ms();

	kill(server->pid, SIGTERM);
	await_exit(server->pid, "the server");
	printf("the server ended after %u ms\n", (unsigned)(now_ms() - begin));
}

int main(int argc, char **argv)
{
	unsigned conns = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
	unsigned half_open = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
	struct child server, client[CLIENTS];
	uint64_t begin;
	long before;
	double each;
	char port[8];

	if (!conns) {
		fputs("usage: throng CONNS HALF_OPEN\n", stderr);
		return 2;
	}
	conns -= conns % CLIENTS;
	allow_files(conns + half_open + SPARE_FILES);
	server = start_server(conns + half_open + 16, port);
	before = anonymous_kib(server.pid);
	begin = now_ms();
	for (unsigned i = 0; i < CLIENTS; i++)
		client[i] = start_child(run_client, port, conns / CLIENTS);
	for (unsigned i = 0; i < CLIENTS; i++)
		await_report(&client[i]);
	each = (double)(anonymous_kib(server.pid) - before) / conns;
	printf("%u connections at once, a call on each: %u ms\n"
	       "memory of the server for each: %.1f KiB\n",
	       conns, (unsigned)(now_ms() - begin), each);
	fflush(stdout);
	watch_hostile(port, half_open);
	begin = now_ms();
	for (unsigned i = 0; i < CLIENTS; i++)
		tell_child(&client[i]);
	for (unsigned i = 0; i < CLIENTS; i++)
		await_report(&client[i]);
	printf("two calls on each connection: %u ms\n", (unsigned)(now_ms() - begin));
	for (unsigned i = 0; i < CLIENTS; i++)
		await_exit(client[i].pid, "a client");
	end_server(&server);
	if (each > MOST_KIB)
		give_up("an idle connection occupies too much memory", ENOMEM);
	return 0;
}
