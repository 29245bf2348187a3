/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of an iWARP connection on a plain TCP socket: MPA start-up, FPDUs
 * with their CRC, and Sends, framed here from RFC 5044, 5041, 5040 and 6581 and not
 * by the library.  It sends and receives whole RPC-over-RDMA messages as 32-bit words.
 *
 * The library's engine runs in the same thread: each function that waits runs it.
 * Failures and hangs fail the cmocka test.
 */
#ifndef RR_TEST_RAW_PEER_H
#define RR_TEST_RAW_PEER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { RAW_MS = 1000000, RAW_HANG_MS = 20000, RAW_WORDS = 2048 };

struct raw_peer {
	struct rpcrdma_engine *engine;
	int fd;
	uint8_t in[65536];
	size_t len;
	bool eof;
	uint32_t sent, received; /* message sequence numbers of Sends */
	uint8_t head[24];        /* the peer's MPA frame, without private data */
	uint8_t private[512]; /* its private data, without the first word of RFC 6581 */
	size_t private_len;
	uint32_t inv_stag; /* that the last message invalidates; 0: none */
};

struct raw_msg {
	size_t len; /* octets */
	uint32_t word[RAW_WORDS];
};

/* Takes over the socket @fd. */
void raw_init(struct raw_peer *p, struct rpcrdma_engine *e, int fd);
void raw_close(struct raw_peer *p);
/* Resets the connection instead of closing it in order. */
void raw_abort(struct raw_peer *p);
/* Runs the library for up to @ms, then receives what has arrived. */
void raw_step(struct raw_peer *p, int ms);
uint64_t raw_now(void);

/* Receives the MPA frame of revision 2 with this key. */
void raw_receive_mpa(struct raw_peer *p, const char *key);
/* Sends one: peer to peer, zero-length Write as RTR message, 16 Reads each way. */
void raw_send_mpa(struct raw_peer *p, const char *key, const void *private, size_t len);
/* Sends the RTR message of an initiator. */
void raw_send_rtr(struct raw_peer *p);

/* Sends one message. */
void raw_send_octets(struct raw_peer *p, const void *b, size_t len);
void raw_send_words(struct raw_peer *p, const uint32_t *word, size_t n);
#define RAW_SEND(p, ...)                                                               \
	raw_send_words((p), (const uint32_t[]){__VA_ARGS__},                           \
	               sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
/* Frames and sends the ULPDU that stands at @f + 2. */
void raw_fpdu(struct raw_peer *p, uint8_t *f, size_t ulpdu);

/* Waits for the next message. */
void raw_receive_msg(struct raw_peer *p, struct raw_msg *ret);
/* Takes the next message if it has arrived.  RTR messages are skipped. */
bool raw_have_msg(struct raw_peer *p, struct raw_msg *ret);
/* The message has these words and no more. */
void raw_is(const struct raw_msg *m, const uint32_t *word, size_t n);
#define RAW_IS(m, ...)                                                                 \
	raw_is((m), (const uint32_t[]){__VA_ARGS__},                                   \
	       sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
/* For @ms no message arrives, and the connection stays. */
void raw_expect_quiet(struct raw_peer *p, unsigned ms);
/* The library ends the connection without another message. */
void raw_expect_end(struct raw_peer *p);

/* Big-endian integers. */
uint32_t raw_be(const uint8_t *p, unsigned octets);
void raw_put(uint8_t *p, uint32_t v, unsigned octets);
/* CRC32c, reflected; sent lowest octet first. */
uint32_t raw_crc(const uint8_t *p, size_t n);

#endif
