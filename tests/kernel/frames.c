/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a receiver's TCP gives to its user, as a recording:  frames IN.pcap OUT.pcap
 *
 * Wireshark 4.0 loses its place in MPA where FPDUs do not begin with segments and TCP
 * sends a segment again, cuts it where a window ends, or puts many of them
 * into one; it takes a connection for an older one with the same ports, and one of port
 * 57000 for IRC.  So here TCP's work is done first: the octets of each connection
 * that begins with MPA, in order and once, go to OUT as one segment for each MPA
 * frame and FPDU, each connection with a client's address of its own.  Not one octet
 * is changed; where an FPDU ends is what its length says, so if that is wrong
 * Wireshark finds a bad CRC there and in all that follows.
 *
 * Prints: connections, octets of them, octets that were left over.  Left over can only
 * be what lies at the end of a direction and is no whole FPDU.  Anything else is a
 * failure: octets that were not recorded, though later ones were, or were
 * sent again and differ; a packet that was not recorded whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_HEADER = 24,
	PACKET_HEADER = 16,
	ETHERNET = 14,
	HEADERS = ETHERNET + 20 + 20,
	MPA_FRAME = 20, /* and private data [RFC 5044 §7.1] */
	MAX_FRAME = 65544,
	CLIENT_PORT = 49152,
	SERVER_PORT = 20049,
	SYN = 2,
	RST = 4,
	ACK = 16,
};

/* Octets of a stream, where they lie in the recording. */
struct piece {
	uint64_t at;
	const uint8_t *mem;
	size_t len;
};

struct direction {
	bool known;           /* the first sequence number is */
	uint32_t isn;         /* of the first octet */
	uint64_t have, done;  /* octets in order; of those, written */
	uint64_t acked;       /* as the other end says; its end counts one */
	struct piece *pieces; /* in order; from n on those that came too early */
	size_t n, early, room;
	size_t cursor; /* the piece with the first octet not written */
	bool begun;    /* the MPA frame was written */
};

struct conn {
	struct conn *next; /* of the same bucket, younger first */
	uint32_t addr[2];  /* client, server */
	uint16_t port[2];
	uint32_t number;
	uint32_t syn;
	bool mpa, other; /* begins with MPA; with something else */
	struct direction dir[2];
};

struct packet {
	uint32_t addr[2], seq, ack;
	uint16_t port[2];
	uint8_t flags;
	const uint8_t *mem;
	size_t len;
};

static struct conn *buckets[4096];
static uint32_t conns, failures;
static uint64_t octets, left_over;
static FILE *out;

static void die(const char *what)
{
	fprintf(stderr, "frames: %s\n", what);
	exit(1);
}

static void fail(const struct conn *c, const char *what, uint64_t at)
{
	if (++failures <= 10)
		fprintf(stderr, "port %u to %u, octet %" PRIu64 ": %s\n", c->port[0],
		        c->port[1], at, what);
}

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

/* ---- Writing ---- */

/* Of the whole stream: the octet at @at, which is there. */
static uint8_t octet(const struct direction *d, uint64_t at)
{
	size_t i = d->cursor;

	while (at >= d->pieces[i].at + d->pieces[i].len)
		i++;
	return d->pieces[i].mem[at - d->pieces[i].at];
}

static void write_segment(const struct conn *c, unsigned way, size_t len,
                          const uint8_t *time)
{
	static uint8_t buf[PACKET_HEADER + HEADERS + MAX_FRAME + 4096];
	const struct direction *d = &c->dir[way], *back = &c->dir[!way];
	uint8_t *p = buf + PACKET_HEADER, *ip = p + ETHERNET, *tcp = ip + 20;
	uint32_t size = (uint32_t)(HEADERS + len);

	memset(buf, 0, PACKET_HEADER + HEADERS);
	memcpy(buf, time, 8);
	memcpy(buf + 8, &size, 4);
	memcpy(buf + 12, &size, 4);
	put16(p + 12, 0x0800);
	ip[0] = 0x45;
	/* 0: larger than IP's length can say, as recordings of offloaded ones have it
	 */
	put16(ip + 2, 40 + len > 65535 ? 0 : (uint32_t)(40 + len));
	ip[8] = 64;
	ip[9] = 6;
	put32(ip + 12 + 4 * way, 10u << 24 | (c->number + 1));
	put32(ip + 16 - 4 * way, 192u << 24 | 2 << 8 | 1);
	put16(tcp, way ? SERVER_PORT : CLIENT_PORT);
	put16(tcp + 2, way ? CLIENT_PORT : SERVER_PORT);
	put32(tcp + 4, (uint32_t)d->done + 1);
	put32(tcp + 8, (uint32_t)back->done + 1);
	tcp[12] = 5 << 4;
	tcp[13] = ACK;
	put16(tcp + 14, 65535);
	for (size_t i = 0; i < len; i++)
		tcp[20 + i] = octet(d, d->done + i);
	if (fwrite(buf, PACKET_HEADER + size, 1, out) != 1)
		die("cannot write");
}

/* How long what comes next is; 0 while that is not known. */
static size_t next_frame(const struct direction *d)
{
	uint64_t there = d->have - d->done;

	if (!d->begun)
		return there < MPA_FRAME
		               ? 0
		               : MPA_FRAME + ((size_t)octet(d, 18) << 8 | octet(d, 19));
	if (there < 2)
		return 0;
	/* length, ULPDU, pad to four, CRC [RFC 5044 §4.1] */
	return ((((size_t)octet(d, d->done) << 8 | octet(d, d->done + 1)) + 5) &
	        ~(size_t)3) +
	       4;
}

static void write_frames(struct conn *c, unsigned way, const uint8_t *time)
{
	struct direction *d = &c->dir[way];
	size_t len;

	while ((len = next_frame(d)) != 0 && d->have - d->done >= len) {
		write_segment(c, way, len, time);
		d->begun = true;
		d->done += len;
		while (d->cursor < d->n &&
		       d->pieces[d->cursor].at + d->pieces[d->cursor].len <= d->done)
			d->cursor++;
	}
}

/* ---- Reading ---- */

static void keep(struct direction *d, size_t index, struct piece p)
{
	size_t all = d->n + d->early;

	if (all == d->room) {
		d->room = d->room ? 2 * d->room : 16;
		d->pieces = realloc(d->pieces, d->room * sizeof(p));
		if (!d->pieces)
			die("no memory");
	}
	memmove(d->pieces + index + 1, d->pieces + index, (all - index) * sizeof(p));
	d->pieces[index] = p;
}

/* What was sent again must be what was sent first. */
static void compare(const struct conn *c, const struct direction *d, struct piece p)
{
	size_t i = d->n;

	while (i > 0 && d->pieces[i - 1].at + d->pieces[i - 1].len > p.at)
		i--;
	for (; i < d->n && d->pieces[i].at < p.at + p.len; i++) {
		const struct piece *q = &d->pieces[i];
		uint64_t from = p.at > q->at ? p.at : q->at;
		uint64_t to =
		        p.at + p.len < q->at + q->len ? p.at + p.len : q->at + q->len;

		if (memcmp(p.mem + (from - p.at), q->mem + (from - q->at),
		           (size_t)(to - from)) != 0)
			fail(c, "sent again, and differs", from);
	}
}

/* In order, or kept until it is.  Returns true if there is more in order. */
static bool add(const struct conn *c, struct direction *d, struct piece p)
{
	if (p.at > d->have) {
		keep(d, d->n + d->early, p);
		d->early++;
		return false;
	}
	compare(c, d, p);
	if (p.at + p.len <= d->have)
		return false;
	p.mem += d->have - p.at;
	p.len -= (size_t)(d->have - p.at);
	p.at = d->have;
	keep(d, d->n, p);
	d->n++;
	d->have += p.len;
	return true;
}

static void arrived(struct conn *c, unsigned way, const struct packet *k)
{
	struct direction *d = &c->dir[way];
	int32_t at;

	if (k->flags & SYN) {
		d->isn = k->seq + 1;
		d->known = true;
	}
	if (k->len && !d->known)
		fail(c, "its beginning was not recorded", 0);
	if (!k->len || !d->known)
		return;
	/* 64-bit offsets from 32-bit numbers: near to what is there */
	at = (int32_t)(k->seq - (d->isn + (uint32_t)d->have));
	if (at < 0 && (uint64_t) - (int64_t)at > d->have)
		return; /* before the first octet: a keep-alive probe */
	add(c, d, (struct piece){d->have + (uint64_t)(int64_t)at, k->mem, k->len});
	for (size_t i = 0; i < d->early;) {
		struct piece e = d->pieces[d->n + i];

		if (e.at > d->have) {
			i++;
			continue;
		}
		memmove(d->pieces + d->n + i, d->pieces + d->n + i + 1,
		        (--d->early - i) * sizeof(e));
		(void)add(c, d, e);
		i = 0;
	}
}

/* What the other end has taken was sent, recorded or not. */
static void acked(struct direction *d, const struct packet *k)
{
	int32_t more = (int32_t)(k->ack - (d->isn + (uint32_t)d->have));

	if (d->known && (k->flags & (ACK | RST)) == ACK && more > 0 &&
	    d->have + (uint32_t)more > d->acked)
		d->acked = d->have + (uint32_t)more;
}

/* The client begins with MPA's key, or it is something else. */
static void judge(struct conn *c)
{
	static const char req[] = "MPA ID Req Frame";
	const struct direction *d = &c->dir[0];

	for (uint64_t i = 0; i < d->have && i < sizeof(req) - 1; i++)
		if (octet(d, i) != (uint8_t)req[i])
			c->other = true;
	c->mpa = !c->other && d->have >= sizeof(req) - 1;
}

static struct conn *find(const struct packet *k, unsigned *ret_way)
{
	struct conn **at = &buckets[(k->port[0] ^ k->port[1]) % 4096], *c;

	for (c = *at; c; c = c->next)
		for (unsigned w = 0; w < 2; w++)
			if (c->addr[w] == k->addr[0] && c->addr[!w] == k->addr[1] &&
			    c->port[w] == k->port[0] && c->port[!w] == k->port[1]) {
				*ret_way = w;
				goto found;
			}
found:
	if ((k->flags & (SYN | ACK)) != SYN || (c && c->syn == k->seq))
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		die("no memory");
	memcpy(c->addr, k->addr, sizeof(c->addr));
	memcpy(c->port, k->port, sizeof(c->port));
	c->syn = k->seq;
	c->number = conns++;
	c->next = *at;
	*at = c;
	*ret_way = 0;
	return c;
}

/* False: it is not TCP over IPv4. */
static bool parse(const uint8_t *p, size_t len, struct packet *ret)
{
	const uint8_t *ip = p + ETHERNET, *tcp;
	size_t header, total;

	if (len < HEADERS || be16(p + 12) != 0x0800 || ip[9] != 6)
		return false;
	header = (size_t)(ip[0] & 15) * 4;
	total = be16(ip + 2) ? be16(ip + 2) : len - ETHERNET;
	tcp = ip + header;
	if (total > len - ETHERNET || header + 20 > total ||
	    header + (size_t)(tcp[12] >> 4) * 4 > total)
		die("a packet was not recorded whole");
	ret->addr[0] = be32(ip + 12);
	ret->addr[1] = be32(ip + 16);
	ret->port[0] = be16(tcp);
	ret->port[1] = be16(tcp + 2);
	ret->seq = be32(tcp + 4);
	ret->ack = be32(tcp + 8);
	ret->flags = tcp[13];
	ret->mem = tcp + (size_t)(tcp[12] >> 4) * 4;
	ret->len = total - header - (size_t)(tcp[12] >> 4) * 4;
	return true;
}

/* @time: as the recording has it. */
static void packet(const uint8_t *time, const uint8_t *p, size_t len)
{
	struct packet k = {0};
	struct conn *c;
	unsigned way = 0;

	if (!parse(p, len, &k))
		return;
	c = find(&k, &way);
	if (!c || c->other)
		return;
	arrived(c, way, &k);
	acked(&c->dir[!way], &k);
	if (!c->mpa)
		judge(c);
	if (c->mpa) {
		write_frames(c, 0, time);
		if (c->dir[0].begun) /* an answer comes after what it answers */
			write_frames(c, 1, time);
	}
}

static uint32_t finish(void)
{
	uint32_t n = 0;

	for (size_t i = 0; i < 4096; i++)
		for (const struct conn *c = buckets[i]; c; c = c->next) {
			if (!c->mpa)
				continue;
			n++;
			for (unsigned w = 0; w < 2; w++) {
				const struct direction *d = &c->dir[w];

				if (d->early || d->acked > d->have + 1)
					fail(c, "not recorded", d->have);
				octets += d->have;
				left_over += d->have - d->done;
			}
		}
	return n;
}

int main(int argc, char **argv)
{
	struct stat st;
	const uint8_t *mem;
	size_t at = FILE_HEADER, size;
	uint32_t n;
	int fd;

	if (argc != 3)
		die("usage: frames IN.pcap OUT.pcap");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || st.st_size < FILE_HEADER)
		die("no recording");
	size = (size_t)st.st_size;
	mem = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mem == MAP_FAILED)
		die(strerror(errno));
	if (memcmp(mem, "\xd4\xc3\xb2\xa1", 4) != 0 || mem[20] != 1)
		die("not a recording of Ethernet in this machine's order");
	out = fopen(argv[2], "w");
	if (!out || fwrite(mem, FILE_HEADER, 1, out) != 1)
		die("cannot write");
	while (size - at >= PACKET_HEADER) {
		uint32_t len;

		memcpy(&len, mem + at + 8, sizeof(len));
		if (len > size - at - PACKET_HEADER)
			break; /* the end was cut off */
		packet(mem + at, mem + at + PACKET_HEADER, len);
		at += PACKET_HEADER + len;
	}
	n = finish();
	if (fclose(out))
		die("cannot write");
	printf("%u %" PRIu64 " %" PRIu64 "\n", n, octets, left_over);
	return failures != 0;
}
