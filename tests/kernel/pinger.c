/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol of rdma-core's rping, over the provider contract: a peer for the
 * stock program on the other side of a kernel's RDMA stack.
 *
 *   pinger -c -a ADDR -p PORT [-n CONNECTIONS] [-C PINGS] [-S OCTETS] [-l MS]
 *   pinger -s -a ADDR -p PORT [-n CONNECTIONS] [-l MS]
 *   pinger -k -a ADDR -p PORT [-n CONNECTIONS]
 *   all: [-P iwarp|verbs] [-o OPTIONS] [-t SECONDS] [-v]
 *
 * One ping: the client sends handle, offset and length of a pattern (16 octets,
 * big endian); the server RDMA Reads it and sends a go-ahead; the client sends
 * those of its sink; the server RDMA Writes the pattern back, as a string with its
 * end, and sends another go-ahead; the client compares.  All lines printed:
 * "listening PORT" by a server, with -v what MPA agreed on for each connection
 * (iwarp only), and at the end one line of numbers.
 *
 * A client connects CONNECTIONS times, one after the other.  With -l each of them,
 * from connect to the last ping compared, has so many milliseconds.  With -k it is
 * a client that leaves again before it has said a word, each time 100 us later.
 * The exit status is 0 only if all that was asked for was done, within -t seconds.
 */
#define _GNU_SOURCE /* ppoll */
#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cursor.h"
#include "prov/iwarp/iwarp.h"
#include "prov/verbs/verbs.h"

enum { INFO = 16, SIZE_MAX_ = 64 << 10, SESSIONS = 16, CONNECTS_MAX = 10000 };

enum step { CONNECTING, READ_ADV, WRITE_ADV, READING, IDLE, ENDED };

struct memory { /* stays: a device may keep it registered */
	uint8_t recv[2][INFO], info[INFO];
	uint8_t start[SIZE_MAX_], sink[SIZE_MAX_];
};

struct session {
	struct rr_ep *ep;
	enum step step;
	unsigned recv; /* the buffer that the next Receive completes */
	unsigned pings;
	uint32_t len; /* of the pattern that a server has read */
	struct rr_region start, sink;
	struct memory *m;
};

struct task {
	const struct rr_prov_ops *ops;
	struct rr_prov_config cfg;
	struct sockaddr_in addr;
	bool server, leave;
	unsigned connections, pings, size, limit_ms;
	rr_time end; /* of everything */
	struct rr_prov_listener *listener;
	struct session s[SESSIONS];
	unsigned connected, refused, done, total_pings, again;
	uint32_t took_us[CONNECTS_MAX];
};

static rr_time now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return RR_SEC(ts.tv_sec) + (rr_time)ts.tv_nsec;
}

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("pinger: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static void must(int rc, const char *what)
{
	if (rc)
		die("%s: %s", what, strerror(-rc));
}

/* What MPA agreed on. */
static void trace(void *ctx, enum rr_trace_point p, uint32_t conn_id, uint32_t xid,
                  uint64_t a, uint64_t b, uint64_t c)
{
	(void)ctx, (void)conn_id, (void)xid;
	if (p != RR_TRACE_PROV_CONNECTED)
		return;
	printf("ird %u ord %u crc %u markers %u enhanced %u\n", (unsigned)a,
	       (unsigned)b, (unsigned)c & 1, (unsigned)c >> 1 & 1,
	       (unsigned)c >> 2 & 1);
	fflush(stdout);
}

/* -- Posts --------------------------------------------------------------------- */

static struct rr_sge sge(void *base, size_t len)
{
	return (struct rr_sge){.base = base, .len = (uint32_t)len};
}

static void receive(struct task *t, struct session *s, unsigned i)
{
	struct rr_sge g = sge(s->m->recv[i], INFO);

	must(t->ops->post_recv(s->ep, &g, i), "post a Receive");
}

/* Also a go-ahead, of which nobody looks at the contents. */
static void send_info(struct task *t, struct session *s, const struct rr_region *r,
                      uint32_t len)
{
	struct rr_sge g = sge(s->m->info, INFO);

	rr_store_u64(s->m->info, r->offset);
	rr_store_u32(s->m->info + 8, r->handle);
	rr_store_u32(s->m->info + 12, len);
	must(t->ops->post_send(s->ep, &g, 1, 0, 0), "post a Send");
	must(t->ops->flush(s->ep, now()), "flush");
}

/* -- The client ------------------------------------------------------------------ */

/* Text, then letters that begin one further on with each ping, then a zero. */
static void pattern(struct task *t, struct session *s)
{
	char *p = (char *)s->m->start;
	int n = snprintf(p, t->size, "rdma-ping-%u: ", s->pings);

	for (unsigned i = (unsigned)n, c = s->pings % 58; i < t->size - 1; i++, c++)
		p[i] = (char)('A' + c % 58);
	p[t->size - 1] = 0;
	memset(s->m->sink, 0xee, t->size);
}

static void client_ping(struct task *t, struct session *s)
{
	pattern(t, s);
	s->step = READ_ADV;
	send_info(t, s, &s->start, t->size);
}

static void client_connected(struct task *t, struct session *s)
{
	must(t->ops->register_mem(s->ep, s->m->start, t->size, RR_ACCESS_REMOTE_READ,
	                          &s->start),
	     "register the source");
	must(t->ops->register_mem(s->ep, s->m->sink, t->size, RR_ACCESS_REMOTE_WRITE,
	                          &s->sink),
	     "register the sink");
	client_ping(t, s);
}

static void client_recv(struct task *t, struct session *s)
{
	if (s->step == READ_ADV) {
		s->step = WRITE_ADV;
		send_info(t, s, &s->sink, t->size);
		return;
	}
	if (s->step != WRITE_ADV)
		die("a message out of turn");
	if (memcmp(s->m->start, s->m->sink, t->size))
		die("ping %u came back changed", s->pings);
	t->total_pings++;
	if (++s->pings < t->pings) {
		client_ping(t, s);
		return;
	}
	s->step = IDLE;
	t->ops->disconnect(s->ep, now());
}

/* -- The server ------------------------------------------------------------------ */

static void server_recv(struct task *t, struct session *s, const uint8_t *info)
{
	uint64_t offset = rr_load_u64(info);
	uint32_t handle = rr_load_u32(info + 8), len = rr_load_u32(info + 12);
	struct rr_sge g;

	if (s->step == IDLE) {
		if (len > SIZE_MAX_)
			die("the client's buffer has %u octets", len);
		s->step = READING;
		s->len = len;
		g = sge(s->m->start, len);
		must(t->ops->post_read(s->ep, &g, handle, offset, 0), "post a Read");
		must(t->ops->flush(s->ep, now()), "flush");
		return;
	}
	if (s->step != WRITE_ADV)
		die("a message out of turn");
	g = sge(s->m->start, strnlen((char *)s->m->start, s->len) + 1);
	if (g.len > len)
		die("the client's sink is too short");
	must(t->ops->post_write(s->ep, &g, 1, handle, offset, 0), "post a Write");
	s->step = IDLE;
	s->pings++;
	t->total_pings++;
	send_info(t, s, &s->start, 0);
}

static void server_read(struct task *t, struct session *s)
{
	s->step = WRITE_ADV;
	send_info(t, s, &s->start, 0);
}

/* -- Both ------------------------------------------------------------------ */

static void begin(struct task *t, struct session *s)
{
	s->step = CONNECTING;
	s->recv = s->pings = 0;
	memset(&s->start, 0, sizeof(s->start));
	receive(t, s, 0);
	receive(t, s, 1);
}

static void start(struct task *t, struct session *s)
{
	must(t->ops->connect(&t->cfg, (struct sockaddr *)&t->addr, sizeof(t->addr),
	                     NULL, 0, now(), &s->ep),
	     "connect");
	begin(t, s);
}

static void received(struct task *t, struct session *s, const struct rr_wc *wc)
{
	uint8_t info[INFO];

	if (wc->len != INFO)
		die("a message of %u octets", wc->len);
	if (wc->token != s->recv)
		die("Receives out of order");
	memcpy(info, s->m->recv[s->recv], INFO);
	receive(t, s, s->recv);
	s->recv ^= 1;
	if (t->server)
		server_recv(t, s, info);
	else
		client_recv(t, s);
}

/* A client of ours goes only when it has all its pings; one that leaves may be refused
 * before, which is counted. */
static void ended(struct task *t, struct session *s, int status)
{
	bool enough = t->server ? s->pings > 0 : s->pings == t->pings;
	bool refused = t->leave && status == -ECONNREFUSED;

	t->refused += refused;
	if (t->leave ? status != 0 && !refused : !enough || s->step != IDLE)
		die("connection %u ended after %u pings: %s (%s)", t->done + 1,
		    s->pings, t->ops->reason(s->ep), strerror(-status));
	t->ops->destroy(s->ep);
	s->ep = NULL;
	s->step = ENDED;
	t->done++;
}

/* The kernel's connection manager draws local ports without asking TCP, which may
 * have one in TIME_WAIT; who connects tries again. */
static bool port_in_use(struct task *t, struct session *s, int status)
{
	if (t->server || s->step != CONNECTING || status != -EADDRNOTAVAIL ||
	    t->again++ >= CONNECTS_MAX / 100)
		return false;
	t->ops->destroy(s->ep);
	start(t, s);
	return true;
}

static void complete(struct task *t, struct session *s, const struct rr_wc *wc)
{
	switch (wc->op) {
	case RR_WC_CONNECTED:
		t->connected++;
		s->step = IDLE;
		if (!t->server && !t->leave)
			client_connected(t, s);
		return;
	case RR_WC_DISCONNECTED:
		if (!port_in_use(t, s, wc->status))
			ended(t, s, wc->status);
		return;
	case RR_WC_RECV:
		if (!wc->status)
			received(t, s, wc);
		return; /* flushed: the end follows */
	case RR_WC_READ:
		if (!wc->status)
			server_read(t, s);
		return;
	case RR_WC_SEND:
	case RR_WC_WRITE:
	case RR_WC_INVALIDATE:
		return;
	}
}

static void run(struct task *t, struct session *s)
{
	struct rr_wc wc;

	t->ops->progress(s->ep, now());
	while (s->ep && t->ops->poll(s->ep, &wc, 1))
		complete(t, s, &wc);
}

static void take_new(struct task *t)
{
	for (unsigned i = 0; i < SESSIONS; i++) {
		struct session *s = &t->s[i];
		int rc;

		if (s->ep)
			continue;
		rc = t->ops->accept(t->listener, &t->cfg, NULL, 0, now(), &s->ep);
		if (rc == -EAGAIN)
			return;
		must(rc, "accept");
		begin(t, s);
	}
}

/* Waits until something is ready, then runs everything. */
static void turn(struct task *t)
{
	struct pollfd p[SESSIONS + 1];
	rr_time at = now(), until = RR_MIN(t->end, at + RR_MS(100));
	struct timespec ts = {0};
	nfds_t n = 0;

	for (unsigned i = 0; i < SESSIONS; i++) {
		const struct rr_ep *ep = t->s[i].ep;

		if (!ep)
			continue;
		p[n].fd = t->ops->fd(ep);
		p[n++].events = (short)t->ops->events(ep);
		until = RR_MIN(until, t->ops->deadline(ep));
	}
	if (t->listener) {
		p[n].fd = t->ops->listener_fd(t->listener);
		p[n++].events = POLLIN;
	}
	if (until > at)
		ts.tv_nsec = (long)(until - at);
	(void)ppoll(p, n, &ts, NULL); /* early or late, all is looked at */
	if (t->listener)
		take_new(t);
	for (unsigned i = 0; i < SESSIONS; i++)
		if (t->s[i].ep)
			run(t, &t->s[i]);
	if (now() >= t->end)
		die("out of time after %u connections, %u pings", t->done,
		    t->total_pings);
}

static void serve(struct task *t)
{
	struct sockaddr_storage bound;

	must(t->ops->listen(&t->cfg, (struct sockaddr *)&t->addr, sizeof(t->addr),
	                    &t->listener, &bound),
	     "listen");
	printf("listening %u\n", ntohs(((struct sockaddr_in *)&bound)->sin_port));
	fflush(stdout);
	while (t->done < t->connections)
		turn(t);
	t->ops->listener_close(t->listener);
}

static void connect_once(struct task *t, unsigned i)
{
	struct session *s = &t->s[0];
	rr_time from = now();
	/* the first one loads rdma-core and tries the device */
	unsigned limit_ms = !i && t->ops == &rr_verbs_ops ? 0 : t->limit_ms;

	start(t, s);
	while (s->step != IDLE || s->pings < t->pings) {
		turn(t);
		if (limit_ms && now() - from > RR_MS(limit_ms))
			die("connection %u stalls: %u ms and %u pings, %s", i + 1,
			    limit_ms, s->pings,
			    s->step == CONNECTING ? "not connected" : "connected");
	}
	t->took_us[i] = (uint32_t)((now() - from) / 1000);
	while (s->step != ENDED)
		turn(t);
}

static void connect_and_leave(struct task *t, unsigned i)
{
	struct session *s = &t->s[0];
	rr_time stop = now() + i * UINT64_C(100000);

	start(t, s);
	do
		run(t, s);
	while (s->ep && now() < stop);
	if (s->ep)
		t->ops->disconnect(s->ep, now());
	while (s->step != ENDED)
		turn(t);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void report(struct task *t)
{
	unsigned n = t->connections;

	printf("connections %u pings %u", t->done, t->total_pings);
	if (t->leave)
		printf(" connected %u refused %u", t->connected, t->refused);
	if (t->again)
		printf(" ports drawn in vain %u", t->again);
	if (!t->server && !t->leave) {
		qsort(t->took_us, n, sizeof(t->took_us[0]), by_value);
		printf(" ms: least %.1f median %.1f 90%% %.1f 99%% %.1f most %.1f",
		       t->took_us[0] / 1e3, t->took_us[n / 2] / 1e3,
		       t->took_us[n * 9 / 10] / 1e3, t->took_us[n * 99 / 100] / 1e3,
		       t->took_us[n - 1] / 1e3);
	}
	putchar('\n');
}

/* -- The command line ------------------------------------------------------ */

static unsigned number(const char *s, unsigned min, unsigned max)
{
	char *end;
	unsigned long v = strtoul(s, &end, 10);

	if (*end || end == s || v < min || v > max)
		die("%s is not a number from %u to %u", s, min, max);
	return (unsigned)v;
}

static const struct rr_prov_ops *provider(const char *name)
{
	if (!strcmp(name, "iwarp"))
		return &rr_iwarp_ops;
	if (!strcmp(name, "verbs"))
		return &rr_verbs_ops;
	die("no provider %s", name);
}

static void option(struct task *t, int c)
{
	static const struct rr_trace_sink sink = {.emit = trace};

	switch (c) {
	case 'c':
	case 'k':
	case 's':
		t->server = c == 's';
		t->leave = c == 'k';
		break;
	case 'a':
		if (inet_pton(AF_INET, optarg, &t->addr.sin_addr) != 1)
			die("%s is not an IPv4 address", optarg);
		break;
	case 'p':
		t->addr.sin_port = htons((uint16_t)number(optarg, 0, 65535));
		break;
	case 'n':
		t->connections = number(optarg, 1, CONNECTS_MAX);
		break;
	case 'C':
		t->pings = number(optarg, 1, 1000000);
		break;
	case 'S':
		t->size = number(optarg, 32, SIZE_MAX_ - 1);
		break;
	case 'l':
		t->limit_ms = number(optarg, 1, 100000);
		break;
	case 't':
		t->end = now() + RR_SEC(number(optarg, 1, 3600));
		break;
	case 'P':
		t->ops = provider(optarg);
		break;
	case 'o':
		t->cfg.options = optarg;
		break;
	case 'v':
		t->cfg.trace = &sink;
		break;
	default:
		die("usage: see the head of pinger.c");
	}
}

static bool block(void *ctx, const void *p, size_t len, void **ret_base,
                  size_t *ret_len)
{
	struct memory *m = ctx;

	for (unsigned i = 0; i < SESSIONS; i++)
		if ((const uint8_t *)p >= (uint8_t *)&m[i] &&
		    (const uint8_t *)p + len <= (uint8_t *)&m[i + 1]) {
			*ret_base = &m[i];
			*ret_len = sizeof(m[i]);
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	static struct memory memory[SESSIONS];
	static struct task task;
	struct task *t = &task;
	int c;

	t->ops = &rr_iwarp_ops;
	t->connections = 1;
	t->pings = 1;
	t->size = 64;
	t->end = now() + RR_SEC(60);
	t->addr.sin_family = AF_INET;
	t->cfg.handshake_ns = RR_SEC(40);
	t->cfg.memory.block = block;
	t->cfg.memory.ctx = memory;
	for (unsigned i = 0; i < SESSIONS; i++)
		t->s[i].m = &memory[i];
	while ((c = getopt(argc, argv, "cksa:p:n:C:S:l:t:P:o:v")) != -1)
		option(t, c);
	if (t->server)
		serve(t);
	else
		for (unsigned i = 0; i < t->connections; i++)
			t->leave ? connect_and_leave(t, i) : connect_once(t, i);
	report(t);
	return 0;
}
