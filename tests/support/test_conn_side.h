/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One struct rr_conn with a fake provider and a fake user: a side.  Alone, it logs the
 * messages that it sends; test_conn_pair.h joins two of them.
 *
 * One-sided operations touch the other side's memory at once, through a table of
 * regions with handles, bounds and rights.  Misuse of a region ends the connection, as
 * a provider would end it.  Completions and messages wait in queues until the test
 * takes them.  All memory is counted.
 *
 * The side runs the connection's actions itself and not by the library's pump, since a
 * test may look at the connection between an action and its completion; tests/sim runs
 * the pump.
 */
#ifndef RR_TEST_CONN_SIDE_H
#define RR_TEST_CONN_SIDE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conn/conn.h"

#include "test_conn_limits.h"

enum { SIDE_QUEUE = 4096, SIDE_REGIONS = 512, SIDE_MSG = 65536, SIDE_LOG = 64 };

struct side_wc {
	uint64_t token;
	int status;
};

struct side_msg {
	uint8_t *p;
	size_t len;
	uint32_t inv;
	unsigned n_reads, n_writes; /* posted before it */
};

/* An RDMA Read or Write as it was posted. */
struct side_rdma {
	uint32_t handle;
	uint64_t offset;
	size_t len;
	uint8_t first[8]; /* of the data of a Write */
};

struct side_region {
	uint32_t handle;
	uint8_t *base;
	size_t len;
	unsigned access;
	bool valid;
	uint64_t token; /* of a pending local invalidation */
};

struct side;
typedef void side_request_fn(struct side *, struct rr_request *);
typedef void side_call_fn(struct side *, struct rr_call *);
typedef void side_ext_fn(struct side *, const struct rr_ext_event *);
typedef void side_sent_fn(struct side *, const struct side_msg *);

struct side {
	struct rr_conn *c;
	struct side *peer; /* NULL: messages are logged */
	struct rr_conn_config cfg;
	rr_time now;
	/* the provider */
	struct side_wc posted[SIDE_QUEUE];
	uint8_t *posted_base[SIDE_QUEUE];
	unsigned posted_head, posted_tail;
	struct side_wc wc[SIDE_QUEUE];
	unsigned wc_head, wc_tail;
	struct side_msg in[SIDE_QUEUE]; /* from the peer, not yet received */
	unsigned in_head, in_tail;
	struct side_region region[SIDE_REGIONS];
	unsigned n_regions;
	uint32_t next_handle;
	bool misuse; /* the peer used a handle, range or right that it does not have */
	uint64_t inv_octets; /* octets that this end invalidated itself */
	unsigned inv_twice;  /* how often the peer invalidated what was not valid */
	bool fail_reads;
	const uint8_t *read_from; /* what is at offset 0x10000, without a peer */
	bool hold_reads;          /* Reads never complete */
	int fail_register;
	unsigned fail_register_at; /* the n-th registration from now fails; 0 = never */
	/* bit i: the i-th registration from now is irrevocable, or has handle 0 */
	unsigned irrevocable, no_handle;
	/* the log */
	struct side_msg sent[SIDE_LOG]; /* without a peer */
	unsigned n_sent;
	unsigned n_reads, n_writes;
	unsigned sends_inv;                                 /* Sends With Invalidate */
	struct side_rdma reads[SIDE_LOG], writes[SIDE_LOG]; /* the first of them */
	bool ready, disconnect, closed, lost;
	int disconnect_status;
	unsigned calls_done, admitted, requested, requests_done;
	/* the user */
	side_request_fn *on_admit, *on_request, *on_request_done;
	side_call_fn *on_call_done;
	side_ext_fn *on_extension;
	side_sent_fn *on_sent; /* sees each message, with or without a peer */
	void *app;
	/* memory */
	size_t mem_used, mem_blocks;
	long mem_fail_at; /* the n-th get from now fails; 0 = never */
	bool mem_fail_on;
};

/* The connection's memory: counted in side.mem_used and side.mem_blocks. */
void *side_get(void *side, size_t bytes);
void side_put(void *side, void *p, size_t bytes);

/* Creates the connection from @s->cfg, with test limits for what is 0. */
void side_new(struct side *s, enum rr_conn_role role);
/* Tells the connection that the provider's connection is open. */
void side_open(struct side *s);
/* Loses the connection, frees it, and fails if it left memory behind. */
void side_end(struct side *s);

/* Carries out the actions of the connection until there are none. */
void side_drain(struct side *s);
/* Carries out one of them, which asks for a registration. */
void side_register(struct side *s, const struct rr_action *a);
/* Puts a message into the oldest Receive.  @inv: the handle it invalidates, or 0. */
void side_receive(struct side *s, const uint8_t *p, size_t len, uint32_t inv);
/* Receives the oldest message of the peer's side. */
void side_next_message(struct side *s);
/* Reports the oldest completion, or all of them. */
void side_complete_one(struct side *s);
void side_complete_all(struct side *s);
/* Flushes what is posted, then reports the loss.  A lost side stays as it is. */
void side_lose(struct side *s, int error);
/* Frees the log of sent messages. */
void side_forget_sent(struct side *s);
/* Returns how many regions the peer can reach. */
unsigned side_valid_regions(const struct side *s);

#endif
