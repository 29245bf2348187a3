/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint against a plain TCP socket, which sends what a test wants.  Frames are
 * built here by hand, with a bit by bit CRC, and not by the code under test.
 */
#ifndef RR_TEST_IWARP_RAW_H
#define RR_TEST_IWARP_RAW_H

#include <fcntl.h>
#include <unistd.h>

#include "test_iwarp_pair.h"

#define REQ1 "MPA ID Req Frame\x40\x01\x00\x00" /* CRC, revision 1 */
#define REP1 "MPA ID Rep Frame\x40\x01\x00\x00"

/* Octets written in order, with room enough for all tests. */
struct bytes {
	uint8_t b[200000];
	size_t n;
};

void bytes_put(struct bytes *o, const void *p, size_t n);
/* Big-endian integers. */
void bytes_put_be(struct bytes *o, uint64_t v, unsigned octets);
uint64_t bytes_get_be(const uint8_t *p, unsigned octets);
/* Appends a ULPDU with its length, padding and CRC. */
void bytes_put_fpdu(struct bytes *o, const struct bytes *ulpdu);
/* CRC32c, bit by bit. */
uint32_t slow_crc(const uint8_t *p, size_t n);

/* Make a ULPDU.  @ctrl: its first two octets. */
void ul_tagged(struct bytes *u, uint16_t ctrl, uint32_t stag, uint64_t to,
               const void *body, size_t n);
void ul_untagged(struct bytes *u, uint16_t ctrl, uint32_t inv, uint32_t qn,
                 uint32_t msn, uint32_t mo, const void *body, size_t n);
void ul_read(struct bytes *u, uint32_t msn, uint32_t sink, uint64_t sink_to,
             uint32_t size, uint32_t src, uint64_t src_to);

/* Append the FPDU of such a ULPDU. */
void add_tagged(struct bytes *o, uint16_t ctrl, uint32_t stag, uint64_t to,
                const void *body, size_t n);
void add_untagged(struct bytes *o, uint16_t ctrl, uint32_t inv, uint32_t qn,
                  uint32_t msn, uint32_t mo, const void *body, size_t n);
/* Appends the zero-length Write after which a responder may send. */
void add_rtr(struct bytes *o);

/* A TCP socket, and the endpoint at its other end. */
struct peer {
	int fd;
	struct end e;
	struct bytes in; /* received by the socket */
	size_t used;     /* octets of in that peer_need() returned */
	bool eof;
};

/* Connects to an endpoint, which is the responder. */
void peer_client(struct peer *r, const char *opts, rr_time handshake_ns);
/* Accepts the connection of an endpoint, which is the initiator. */
void peer_server(struct peer *r, const char *opts);
/* Connects by peer_client() and sends Request and RTR of revision 1. */
void peer_start(struct peer *r, const char *opts);
/* Closes the socket alone. */
void peer_close(struct peer *r);
/* Closes the socket and destroys the endpoint. */
void peer_fini(struct peer *r);

/* Lets the endpoint progress, after waiting for it up to @ms. */
void peer_step(struct peer *r, int ms);
/* Sends @n octets; the endpoint progresses whenever the socket is full. */
void peer_send(struct peer *r, const void *p, size_t n);
/* Receives what there is. */
void peer_receive(struct peer *r);
/* Waits for @n unused octets and uses them. */
const uint8_t *peer_need(struct peer *r, size_t n);
/* Waits for the next ULPDU and checks its padding and CRC. */
const uint8_t *peer_ulpdu(struct peer *r, size_t *ret_len);
/* Waits for the end of the stream; nothing unused may be left before it. */
void peer_expect_eof(struct peer *r);

#endif
