/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two queue pairs of one device, connected to each other, for self_test.c.  Calls
 * block, but not beyond the pair's deadline.
 */
#ifndef RR_PROV_VERBS_SELF_TEST_PAIR_H
#define RR_PROV_VERBS_SELF_TEST_PAIR_H

#include "prov/verbs/dl.h"

/* Offsets of areas of TEST_LEN octets in the pair's page of memory. */
enum {
	TEST_LEN = 64,
	TEST_TARGET = 0x400, /* memory to which the window gives access */
	TEST_SOURCE = 0x800, /* data of Writes and Sends */
	TEST_SINK = 0xc00,   /* destination of Reads and Receives */
	TEST_BYTES = 0x1000,
};

struct rr_test_pair {
	const struct rr_rdma_lib *lib;
	struct ibv_context *ctx;
	rr_time deadline;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;    /* covers the entire page */
	struct ibv_mr *tight; /* covers only the target */
	uint8_t *mem;
	uint8_t port;
	struct ibv_port_attr attr;
	unsigned gid; /* index of our GID; not used on InfiniBand */
	/* Created by rr_test_pair_connect, freed by rr_test_pair_disconnect. */
	struct ibv_qp *owner, *peer;
	struct ibv_mw *mw;
};

/* Opens the device, and creates all objects except the queue pairs and the window.
 * Returns -EAGAIN if no port is up, or another error.  The caller must always call
 * rr_test_pair_fini, even after an error. */
int rr_test_pair_init(struct rr_test_pair *, const struct rr_rdma_lib *,
                      struct ibv_device *, rr_time within);
void rr_test_pair_fini(struct rr_test_pair *);

/* Gets the index of the port's next GID to try, the most promising first.  *@state is
 * 0 for the first call.  Returns -ENOENT if there are no more. */
int rr_test_pair_next_gid(const struct rr_test_pair *, unsigned *state, unsigned *ret);

/* Creates and connects the queue pairs, and allocates an unbound window. */
int rr_test_pair_connect(struct rr_test_pair *);
void rr_test_pair_disconnect(struct rr_test_pair *);

/* Sets the flags of the work request, posts it on the queue pair and waits for the next
 * completion, which it stores in @ret.  Returns 0, -ETIMEDOUT, or the error from
 * posting. */
int rr_test_pair_run(struct rr_test_pair *, struct ibv_qp *, struct ibv_send_wr *,
                     struct ibv_wc *ret);
/* Posts a Receive on the owner, then the work request on the peer, and waits for both
 * completions. */
int rr_test_pair_send(struct rr_test_pair *, struct ibv_send_wr *,
                      struct ibv_wc *ret_send, struct ibv_wc *ret_recv);

#endif
