/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers of a running server that mean it no good, on plain sockets: MPA, DDP and
 * RPC-over-RDMA are framed by hand (raw_peer.h).  They run in a process of their own,
 * so that the honest client of the test has its own time.
 *
 * None of them asserts anything: whatever the server does to them is its right.
 */
#ifndef TESTS_HOSTILE_ATTACK_H
#define TESTS_HOSTILE_ATTACK_H

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "support/nfsd_rig.h"
#include "test_raw_peer.h"

enum { PEERS_MAX = 160, OUT_MAX = 65536 };

struct foe {
	int fd;
	uint32_t msn;
	uint8_t *out; /* what is said, again and again or once */
	size_t len, at;
	uint64_t dripped; /* when it took something last */
};

struct attack {
	uint16_t port;
	const char *from; /* their address */
	unsigned n;       /* of them */
	const void *arg;
	bool quiet;        /* says once what it has to say */
	bool deaf;         /* never reads */
	unsigned drip_ms;  /* ... but for 256 KiB in so long; 0: really never */
	bool renew;        /* comes again when it is closed */
	unsigned pause_ms; /* between two rounds */
	/* Fills @f->out by what it says when it is connected. */
	void (*prepare)(struct foe *f, const struct attack *a);
};

/* -- what is said ------------------------------------------------------------------ */

static inline void say(struct foe *f, const void *p, size_t n)
{
	if (f->len + n <= OUT_MAX) {
		memcpy(f->out + f->len, p, n);
		f->len += n;
	}
}

/* A ULPDU becomes an FPDU. */
static inline void say_ulpdu(struct foe *f, const uint8_t *ulpdu, size_t n)
{
	uint8_t b[2 + 4096 + 8] = {0};
	size_t covered = (2 + n + 3) & ~(size_t)3;
	uint32_t crc;

	raw_put(b, (uint32_t)n, 2);
	if (n)
		memcpy(b + 2, ulpdu, n);
	crc = raw_crc(b, covered);
	for (int k = 0; k < 4; k++)
		b[covered + (size_t)k] = (uint8_t)(crc >> 8 * k);
	say(f, b, covered + 4);
}

static inline void say_request(struct foe *f)
{
	static const uint8_t mpa[24] =
	        "MPA ID Req Frame\x50\x02\x00\x04\x80\x10\x80\x10";

	say(f, mpa, sizeof(mpa));
}

static inline void say_nothing(struct foe *f) /* the RTR message is one, too */
{
	static const uint8_t write[14] = {0xc1, 0x40};

	say_ulpdu(f, write, sizeof(write));
}

static inline void say_empty_read(struct foe *f, uint32_t msn)
{
	uint8_t read[18 + 28] = {0x41, 0x41};

	raw_put(read + 6, 1, 4);
	raw_put(read + 10, msn, 4);
	say_ulpdu(f, read, sizeof(read));
}

static inline void say_words(struct foe *f, const uint32_t *word, size_t n)
{
	uint8_t send[18 + 4 * 64] = {0x41, 0x43};

	raw_put(send + 10, ++f->msn, 4);
	for (size_t i = 0; i < n && i < 64; i++)
		raw_put(send + 18 + 4 * i, word[i], 4);
	say_ulpdu(f, send, 18 + 4 * n);
}

#define SAY(f, ...)                                                                    \
	say_words((f), (const uint32_t[]){__VA_ARGS__},                                \
	          sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* Words of an NFS Call by AUTH_SYS, up to and including the file handle. */
static inline size_t put_nfs_call(uint32_t *w, const struct rig *r, uint32_t xid,
                                  uint32_t proc, const nfs_fh3 *file)
{
	const uint32_t head[] = {xid,
	                         0,
	                         2,
	                         RPCRDMA_NFS_PROGRAM,
	                         3,
	                         proc,
	                         /* AUTH_SYS */ 1,
	                         20,
	                         0,
	                         0,
	                         r->uid,
	                         r->gid,
	                         0,
	                         0,
	                         0};
	size_t n = sizeof(head) / 4, len = file->data.data_len;
	uint8_t padded[NFS3_FHSIZE] = {0};

	memcpy(w, head, sizeof(head));
	memcpy(padded, file->data.data_val, len);
	w[n++] = (uint32_t)len;
	for (size_t i = 0; i < len; i += 4)
		w[n++] = raw_be(padded + i, 4);
	return n;
}

/* Says what there is and waits for the MPA Reply and the answer to a NULL call: until
 * then a client of version 1 has one credit, and there are Receives for little more. */
static inline void be_let_in(struct foe *f, uint32_t credits)
{
	enum { ANSWERED = 24 + 64 };
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	uint8_t bin[512];
	size_t heard = 0;
	ssize_t n = 1;

	SAY(f, 1, 1, credits, 0, 0, 0, 0, 1, 0, 2, RPCRDMA_NFS_PROGRAM, 3, 0, 0, 0, 0,
	    0);
	(void)!send(f->fd, f->out, f->len, MSG_NOSIGNAL);
	f->len = 0;
	while (heard < ANSWERED && n > 0 && poll(&p, 1, 5000) == 1) {
		n = recv(f->fd, bin, sizeof(bin), 0);
		heard += n > 0 ? (size_t)n : 0;
	}
}

/* -- the process ----------------------------------------------------------- */

static inline int dial(const struct attack *a)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, a->from, &sa.sin_addr);
	if (fd < 0 || bind(fd, (void *)&sa, sizeof(sa)))
		_exit(1);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sa.sin_port = htons(a->port);
	if (connect(fd, (void *)&sa, sizeof(sa))) {
		close(fd);
		return -1;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static inline void enter(struct foe *f, const struct attack *a)
{
	if (f->fd >= 0)
		close(f->fd);
	f->msn = 0;
	f->len = f->at = 0;
	f->fd = dial(a);
	if (a->prepare)
		a->prepare(f, a);
}

/* False: it is closed. */
static inline bool drip(struct foe *f, const struct attack *a)
{
	static uint8_t bin[256 << 10];

	if (!a->drip_ms || raw_now() - f->dripped < (uint64_t)a->drip_ms * RAW_MS)
		return true;
	f->dripped = raw_now();
	return recv(f->fd, bin, sizeof(bin), MSG_DONTWAIT) != 0;
}

/* False: it is closed. */
static inline bool move(struct foe *f, const struct attack *a)
{
	static uint8_t bin[65536];
	ssize_t n;

	if (f->at < f->len) {
		n = send(f->fd, f->out + f->at, f->len - f->at,
		         MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return false;
		f->at += n > 0 ? (size_t)n : 0;
	}
	if (f->at == f->len && !a->quiet)
		f->at = f->len = 0;
	if (a->deaf)
		return drip(f, a);
	n = recv(f->fd, bin, sizeof(bin), MSG_DONTWAIT);
	return n > 0 || (n < 0 && errno == EAGAIN);
}

/* One round of all of them. */
static inline void go_round(struct foe *f, const struct attack *a,
                            void (*again)(struct foe *, const struct attack *))
{
	for (unsigned i = 0; i < a->n; i++) {
		bool alive = f[i].fd >= 0 && move(&f[i], a);

		if (!alive && a->renew)
			enter(&f[i], a);
		else if (alive && again && !f[i].len)
			again(&f[i], a);
	}
	if (a->pause_ms)
		poll(NULL, 0, (int)a->pause_ms);
}

/* Begins it; when this returns all are connected.  @again: what each says when all it
 * had to say is said. */
static inline pid_t attack(const struct attack *a,
                           void (*again)(struct foe *, const struct attack *))
{
	static struct foe f[PEERS_MAX];
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		close(ready[1]);
		assert_int_equal(read(ready[0], &c, 1), 1);
		close(ready[0]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; i < a->n; i++) {
		f[i].fd = -1;
		f[i].out = malloc(OUT_MAX);
		if (!f[i].out)
			_exit(1);
		enter(&f[i], a);
	}
	go_round(f, a, again);
	(void)!write(ready[1], "", 1);
	for (;;)
		go_round(f, a, again);
}

static inline void attack_end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* -- the honest client ----------------------------------------------------- */

struct honest {
	unsigned calls;
	double worst_ms, first_ms; /* first: of a new client */
	double read_ms;            /* the worst READ */
};

/* The rig's own connection is one that nothing may happen to.  This one connects again:
 * it may be pushed out while it is idle. */
static inline void patient(struct rig *r)
{
	rpcrdma_conn_close(r->conn);
	assert_int_equal(rpcrdma_connect(r->engine, "127.0.0.1", r->port, NULL, NULL,
	                                 NULL, &r->conn),
	                 0);
}

static inline double ms_since(uint64_t t)
{
	return (double)(raw_now() - t) / 1e6;
}

static inline void ping(struct rig *r, struct honest *h)
{
	uint64_t t = raw_now();
	double ms;

	rig_call_raw(r, RPCRDMA_NFS_PROGRAM, 0, NULL, 0);
	assert_int_equal(r->status, RPCRDMA_OK);
	ms = ms_since(t);
	h->worst_ms = ms > h->worst_ms ? ms : h->worst_ms;
	h->calls++;
}

/* Pings, and reads of the file that is there, for so long. */
static inline void live(struct rig *r, struct honest *h, nfs_fh3 file, unsigned ms)
{
	static uint8_t buf[64 << 10];
	uint64_t t, end = raw_now() + (uint64_t)ms * RAW_MS;
	bool eof;

	while (raw_now() < end) {
		for (unsigned i = 0; i < 8; i++) {
			ping(r, h);
			poll(NULL, 0, 5);
		}
		t = raw_now();
		assert_int_equal(rig_read(r, file, 0, buf, sizeof(buf), true, &eof),
		                 sizeof(buf));
		h->read_ms = ms_since(t) > h->read_ms ? ms_since(t) : h->read_ms;
	}
}

static inline void newcomer_done(struct rpcrdma_call *k,
                                 const struct rpcrdma_reply *rep, void *arg)
{
	*(int *)arg = rep->status;
}

/* Somebody who comes now is served: how soon. */
static inline void newcomer(const struct rig *r, struct honest *h)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_engine *e;
	struct rpcrdma_conn *c;
	uint64_t t = raw_now();
	int status = -1;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	assert_int_equal(rpcrdma_connect(e, "127.0.0.1", r->port, NULL, NULL, NULL, &c),
	                 0);
	o.program = RPCRDMA_NFS_PROGRAM;
	o.version = 3;
	o.done = newcomer_done;
	o.arg = &status;
	assert_int_equal(rpcrdma_call(c, &o, NULL), 0);
	while (status == -1 && ms_since(t) < RAW_HANG_MS)
		assert_int_equal(rpcrdma_engine_process(e, 50), 0);
	assert_int_equal(status, 0);
	h->first_ms = ms_since(t) > h->first_ms ? ms_since(t) : h->first_ms;
	rpcrdma_conn_close(c);
	for (int i = 0; i < 100 && !rpcrdma_engine_idle(e); i++)
		rpcrdma_engine_process(e, 20);
	rpcrdma_engine_free(e);
}

/* Octets that the server has had resident at most. */
static inline size_t server_peak(const struct rig *r)
{
	char path[64], line[128];
	size_t kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)r->pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %zu", &kib) == 1)
			break;
	fclose(f);
	assert_true(kib);
	return kib << 10;
}

static inline void report(const char *what, const struct rig *r, const struct honest *h)
{
	print_message("%-40s %5u calls, worst %6.1f ms, READ %6.1f ms; a new client "
	              "%6.1f ms; "
	              "server's peak %zu MiB\n",
	              what, h->calls, h->worst_ms, h->read_ms, h->first_ms,
	              server_peak(r) >> 20);
}

#endif
