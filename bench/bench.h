/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common part of the measured programs: the kinds of work, the clock, and the row that
 * each run prints.
 *
 * A run is one test at one size, over a number of connections with a number of calls in
 * flight on each.  Each program is its own server ("PROGRAM server", prints
 * "listening PORT") and its own client ("PROGRAM client PORT --test T --bytes N
 * --depth D --conns C --ms M").  The client warms up, works for about M milliseconds
 * and prints
 *
 *   TEST BYTES DEPTH CONNS OPERATIONS NANOSECONDS [name=value ...]
 *
 * The clients of NFS servers, in the folder nfs, have the same command line and row.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum bench_test {
	BENCH_NULL,
	BENCH_READ,
	BENCH_WRITE,
	/* Results without a data item. */
	BENCH_LIST, /* the caller foresees the length */
	BENCH_ATTR, /* short, the caller foresees up to 20 KiB */
	/* The length varies from a quarter of BYTES to BYTES, which the caller
	 * foresees; the mean is 5/8 of BYTES. */
	BENCH_DIR,
	/* NFS only. */
	BENCH_GETATTR,
	BENCH_LOOKUP,
	BENCH_CREATE,
	BENCH_READDIRPLUS,
};

/* How results without a data item are returned, if they do not fit in one message. */
enum bench_reply { BENCH_CONTINUED, BENCH_CHUNK, BENCH_EXPOSED };

/* Octets besides the data in the messages of bench.x, as ONC RPC with AUTH_NONE has them:
 * raw TCP moves as many octets as an RPC over TCP. */
enum {
	BENCH_NULL_CALL = 44,                     /* record mark 4, RPC header 40 */
	BENCH_NULL_REPLY = 28,                    /* record mark 4, RPC header 24 */
	BENCH_READ_CALL = BENCH_NULL_CALL + 48,   /* handle, offset, count */
	BENCH_READ_REPLY = BENCH_NULL_REPLY + 12, /* status, eof, length word */
	BENCH_WRITE_CALL = BENCH_NULL_CALL + 52,  /* handle, offset, count, length */
	BENCH_WRITE_REPLY = BENCH_NULL_REPLY + 8, /* status, count */
	BENCH_HANDLE = 32,
	BENCH_MAX_BYTES = 4 << 20,
	BENCH_MAX_DEPTH = 256,
	BENCH_MAX_CONNS = 1024,
};

/* The program of bench.x, for sources without the header of rpcgen. */
enum {
	BENCH_PROGRAM = 0x20008267,
	BENCH_VERSION = 1,
	BENCH_PROC_NULL = 0,
	BENCH_PROC_READ = 1,
	BENCH_PROC_WRITE = 2,
	BENCH_PROC_LIST = 3,  /* bench_rdma only */
	BENCH_PROC_STATS = 4, /* bench_rdma only: the server's counters */
	BENCH_PROCS = 5,
};

/* Which ends this process is.  Only bench_rdma can be both. */
enum bench_role { BENCH_SERVER, BENCH_CLIENT, BENCH_BOTH };

struct bench_options {
	enum bench_role role;
	const char *port;
	const char *provider, *features; /* bench_rdma */
	enum bench_reply reply;          /* bench_rdma */
	enum bench_test test;
	uint32_t bytes, depth, conns;
	uint32_t credits;    /* bench_rdma; 0 = @depth, at least 32 */
	uint32_t send_items; /* bench_rdma: octets of items that a call carries; 0 = the
	                      * library's default */
	uint64_t ms, spin_us;
	uint64_t calls; /* bench_rdma: calls to make, instead of @ms; 0 = not given */
};

/* Reads the command line.  Exits with a message if it is wrong. */
void bench_options(int argc, char **argv, struct bench_options *ret);
/* Returns the data octets of call @i: BYTES, except for BENCH_DIR. */
uint32_t bench_call_bytes(const struct bench_options *, uint64_t i);

/* Times a run. */
struct bench_clock {
	uint64_t begin, warm, end, now, ops;
	bool counting; /* the warm-up is over */
};
void bench_clock_start(struct bench_clock *, const struct bench_options *);
/* Counts @n operations that have just ended.  Returns false when the time is over and at
 * least one operation was counted. */
bool bench_clock_count(struct bench_clock *, uint64_t n);
/* Prints the row, without a newline. */
void bench_row(const struct bench_options *, const struct bench_clock *);
/* Prints "listening PORT" on stdout, and flushes it. */
void bench_listening(uint16_t port);
/* Prints "bench: WHAT: REASON" on stderr and exits with 1. */
void bench_die(const char *what, int error) __attribute__((noreturn));
/* Allocates memory and fills it with octets without a pattern.  Exits if there is no
 * memory. */
uint8_t *bench_data(size_t bytes);
/* Allows the process as many descriptors as the system grants. */
void bench_allow_conns(void);
/* Writes a big-endian word.  Returns the number of octets, 4. */
size_t bench_put_u32(uint8_t *p, uint32_t v);
/* Create TCP sockets on 127.0.0.1, and set TCP_NODELAY.  Exit on failure. */
int bench_tcp_listen(uint16_t *ret_port);
int bench_tcp_connect(const char *port);
void bench_nodelay(int fd);

static inline uint64_t bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
