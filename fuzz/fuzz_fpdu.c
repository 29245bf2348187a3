/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The FPDU stream of an established iWARP connection: framing, DDP, RDMAP.
 *
 * The system calls are played here, so that a run is a function of its input:
 * the first octet chooses role, CRC and framing, the second how many octets a
 * read yields at most; the rest is the stream.  Framed, it is taken as records
 * (length, then a ULPDU), which get their length, pad and CRC from a bit by bit
 * computation here; raw, it is the octets on the wire.  In a tagged ULPDU, and
 * in the source of a Read Request, STags 0 to 3 stand for four regions of ours,
 * 4 and 5 for the sinks of two Reads, and the offset counts from their begin.  Guard
 * octets around every buffer, and the counts of completions, are checked at the end.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "prov/iwarp/iwarp.h"
#include "prov/iwarp/sock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	RAW = 1,     /* not framed here */
	SERVER = 2,  /* our role */
	NO_CRC = 4,  /* neither side asks for it */
	MARKERS = 8, /* the peer wants markers from us */
	INV = 16,    /* our Send invalidates, and a region is withdrawn half way */
	CLOSE = 32,  /* the peer closes after its last octet */
	FD = 3,
	GUARD = 64,
	BUF = 8192, /* long enough to be received in place */
	N_BUF = 12,
	WIRE = 1 << 18,
};

#define OPS (&rr_iwarp_ops)

/* -- the socket -------------------------------------------------------------- */

static uint8_t wire[WIRE], said[WIRE];
static size_t wire_len, wire_at, read_most, said_len;
static bool closes;

int rr_sock_connect(const struct sockaddr *sa, socklen_t len,
                    const struct rr_sock_opts *o, int *ret_fd)
{
	*ret_fd = FD;
	return 0;
}

int rr_sock_connected(int fd)
{
	return 0;
}

int rr_sock_listen(const struct sockaddr *sa, socklen_t len,
                   struct sockaddr_storage *ret_addr, int *ret_fd)
{
	memset(ret_addr, 0, sizeof(*ret_addr));
	*ret_fd = FD;
	return 0;
}

int rr_sock_accept(int listener, const struct rr_sock_opts *o, int *ret_fd)
{
	*ret_fd = FD;
	return 0;
}

int rr_sock_peer(int fd, struct sockaddr_storage *ret)
{
	return -ENOTCONN;
}

int rr_sock_local(int fd, struct sockaddr_storage *ret)
{
	return -ENOTCONN;
}

ssize_t rr_sock_writev(int fd, const struct iovec *v, unsigned n)
{
	ssize_t sum = 0;

	for (unsigned i = 0; i < n; i++) {
		/* All of it is read: a sanitizer looks at what is sent. */
		if (v[i].iov_len > WIRE - said_len)
			said_len = 0;
		RR_ASSERT(v[i].iov_len <= WIRE);
		memcpy(said + said_len, v[i].iov_base, v[i].iov_len);
		said_len += v[i].iov_len;
		sum += (ssize_t)v[i].iov_len;
	}
	return sum;
}

ssize_t rr_sock_readv(int fd, const struct iovec *v, unsigned n)
{
	size_t left = RR_MIN(wire_len - wire_at, read_most), sum = 0;

	for (unsigned i = 0; i < n && left; i++) {
		size_t take = RR_MIN(left, v[i].iov_len);

		memcpy(v[i].iov_base, wire + wire_at, take);
		wire_at += take;
		left -= take;
		sum += take;
	}
	return sum || closes ? (ssize_t)sum : -EAGAIN;
}

void rr_sock_shutdown(int fd, bool both)
{
}

void rr_sock_close(int fd, bool reset)
{
}

int rr_sock_random(void *dst, size_t len)
{
	memset(dst, 0x5c, len);
	return 0;
}

/* -- what the peer says --------------------------------------------------------- */

static void say(const void *p, size_t n)
{
	if (n > WIRE - wire_len)
		return;
	memcpy(wire + wire_len, p, n);
	wire_len += n;
}

static uint32_t slow_crc(const uint8_t *p, size_t n)
{
	uint32_t c = ~0u;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
	}
	return ~c;
}

static void say_frame(const uint8_t *ulpdu, size_t len)
{
	size_t from = wire_len;
	uint8_t word[4] = {(uint8_t)(len >> 8), (uint8_t)len};
	uint32_t crc;

	say(word, 2);
	say(ulpdu, len);
	memset(word, 0, sizeof(word));
	say(word, -(len + 2) & 3);
	crc = slow_crc(wire + from, wire_len - from);
	for (int k = 0; k < 4; k++)
		word[k] = (uint8_t)(crc >> 8 * k);
	say(word, 4);
}

static struct rr_region named[6];

/* STag and offset as a peer would have learned them. */
static void name_region(uint8_t *stag, uint8_t *to)
{
	uint32_t n = rr_load_u32(stag);

	if (n >= RR_ARRAY_SIZE(named))
		return;
	rr_store_u32(stag, named[n].handle);
	if (to)
		rr_store_u64(to, named[n].offset + rr_load_u64(to));
}

/* The sinks of our Read Requests. */
static void learn_sinks(void)
{
	static const uint8_t head[] = {0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1};
	unsigned found = 0;

	for (size_t i = 0; i + 46 <= said_len && found < 2; i++) {
		if (memcmp(said + i, head, sizeof(head)))
			continue;
		named[4 + found].handle = rr_load_u32(said + i + 18);
		named[4 + found++].offset = rr_load_u64(said + i + 22);
	}
}

static void say_records(const uint8_t *p, size_t n)
{
	static uint8_t ulpdu[65536];

	while (n >= 2 && wire_len < WIRE - 70000) {
		size_t len = RR_MIN((size_t)(p[0] << 8 | p[1]), n - 2);

		memcpy(ulpdu, p + 2, len);
		if (len >= 14)
			name_region(ulpdu + 2, ulpdu[0] & 0x80 ? ulpdu + 6 : NULL);
		if (len >= 46 && (ulpdu[1] & 15) == 1)
			name_region(ulpdu + 34, ulpdu + 38);
		say_frame(ulpdu, len);
		p += 2 + len;
		n -= 2 + len;
	}
}

static void say_hello(unsigned mode)
{
	static const char key[2][17] = {"MPA ID Rep Frame", "MPA ID Req Frame"};
	uint8_t tail[4] = {0, 1, 0, 0};

	if (!(mode & NO_CRC))
		tail[0] |= 0x40;
	if (mode & MARKERS)
		tail[0] |= 0x80;
	say(key[!!(mode & SERVER)], 16);
	say(tail, sizeof(tail));
}

/* -- our side ---------------------------------------------------------------------- */

struct world {
	struct rr_ep *ep;
	uint8_t mem[N_BUF][GUARD + BUF + GUARD];
	unsigned posted, completed;
	bool up, down;
	unsigned mode;
};

static uint8_t *buf(struct world *w, unsigned i)
{
	return w->mem[i] + GUARD;
}

static void post_all(struct world *w)
{
	static const unsigned access[4] = {1, 2, 3, 2};
	struct rr_sge s;

	for (unsigned i = 0; i < 4; i++) {
		struct rr_region r;

		if (OPS->register_mem(w->ep, buf(w, 4 + i), BUF, access[i], &r))
			abort();
		named[i] = r;
	}
	for (unsigned i = 0; i < 2; i++) {
		s = (struct rr_sge){.base = buf(w, 8 + i), .len = BUF};
		w->posted += !OPS->post_read(w->ep, &s, 77, 0, i);
	}
	s = (struct rr_sge){.base = buf(w, 10), .len = BUF};
	w->posted += !OPS->post_send(w->ep, &s, 1, w->mode & INV ? 99 : 0, 3);
	w->posted += !OPS->post_write(w->ep, &s, 1, 78, 0, 4);
}

static void drain(struct world *w)
{
	struct rr_wc wc[16];
	unsigned n;

	while ((n = OPS->poll(w->ep, wc, 16)))
		for (unsigned i = 0; i < n; i++) {
			RR_ASSERT(!w->down);
			if (wc[i].op == RR_WC_CONNECTED)
				w->up = true;
			else if (wc[i].op == RR_WC_DISCONNECTED)
				w->down = true;
			else
				w->completed++;
			RR_ASSERT(wc[i].op != RR_WC_RECV || wc[i].len <= BUF);
		}
}

static void step(struct world *w, rr_time now)
{
	if (w->down)
		return;
	(void)OPS->flush(w->ep, now);
	OPS->progress(w->ep, now);
	drain(w);
}

static bool open_ep(struct world *w)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	struct rr_prov_config c = {
	        .options = w->mode & NO_CRC ? "rev=1,p2p=0,ord1=64,crc=0"
	                                    : "rev=1,p2p=0,ord1=64",
	};
	struct sockaddr_storage bound;
	struct rr_prov_listener *l;
	int err;

	if (!(w->mode & SERVER))
		return !OPS->connect(&c, (struct sockaddr *)&sa, sizeof(sa), NULL, 0, 1,
		                     &w->ep);
	if (OPS->listen(&c, (struct sockaddr *)&sa, sizeof(sa), &l, &bound))
		return false;
	err = OPS->accept(l, &c, NULL, 0, 1, &w->ep);
	OPS->listener_close(l);
	return !err;
}

static void check(struct world *w)
{
	for (unsigned i = 0; i < N_BUF; i++)
		for (unsigned k = 0; k < GUARD; k++)
			RR_ASSERT(w->mem[i][k] == 0xee &&
			          w->mem[i][GUARD + BUF + k] == 0xee);
	RR_ASSERT(w->completed <= w->posted);
	if (w->down)
		RR_ASSERT(w->completed == w->posted);
}

static void play(struct world *w, const uint8_t *p, size_t n)
{
	rr_time now = 1;

	for (unsigned i = 0; i < 4; i++) {
		struct rr_sge s = {.base = buf(w, i), .len = BUF};

		w->posted += !OPS->post_recv(w->ep, &s, i);
	}
	say_hello(w->mode);
	for (unsigned i = 0; i < 24 && !w->up && !w->down; i++)
		step(w, ++now);
	if (w->up) {
		post_all(w);
		for (unsigned i = 0; i < 4; i++)
			step(w, ++now);
		learn_sinks();
		if (w->mode & RAW)
			say(p, n);
		else
			say_records(p, n);
	}
	closes = w->mode & CLOSE;
	for (unsigned i = 0; i < 4096 && !w->down && wire_at < wire_len; i++) {
		step(w, ++now);
		if (i == 2 && w->mode & INV && !w->down)
			w->posted += !OPS->invalidate(w->ep, named[1].handle, 9);
	}
	for (unsigned i = 0; i < 4; i++)
		step(w, now += RR_SEC(5));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w;

	if (size < 2)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return 0;
	memset(w->mem, 0xee, sizeof(w->mem));
	wire_len = wire_at = said_len = 0;
	memset(named, 0, sizeof(named));
	closes = false;
	w->mode = data[0];
	read_most = data[1] ? data[1] * 8u : WIRE;
	if (open_ep(w)) {
		play(w, data + 2, size - 2);
		OPS->destroy(w->ep);
		check(w);
	}
	free(w);
	return 0;
}
