/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two queue pairs of one device, connected with each other, for self_test.c.  All
 * calls block, none beyond the deadline of the pair.
 */
#ifndef RR_PROV_VERBS_TEST_H
#define RR_PROV_VERBS_TEST_H

#include "prov/verbs/dl.h"

/* Places in the pair's page of memory, each of TEST_LEN octets. */
enum {
	TEST_LEN = 64,
	TEST_TARGET = 0x400, /* behind the window */
	TEST_SOURCE = 0x800, /* data of Writes and Sends */
	TEST_SINK = 0xc00,   /* for data of Reads and Receives */
	TEST_BYTES = 0x1000,
};

struct rr_test_pair {
	const struct rr_rdma_lib *lib;
	struct ibv_context *ctx;
	rr_time deadline;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;    /* of the whole page */
	struct ibv_mr *tight; /* of the target only */
	uint8_t *mem;
	uint8_t port;
	struct ibv_port_attr attr;
	unsigned gid; /* index; no meaning on InfiniBand */
	/* Made by rr_test_pair_connect, freed by rr_test_pair_disconnect. */
	struct ibv_qp *owner, *peer;
	struct ibv_mw *mw;
};

/* Opens the device and makes all but the queue pairs.  Returns -EAGAIN if no port is
 * up, or another error.  In every case the caller calls rr_test_pair_fini. */
int rr_test_pair_init(struct rr_test_pair *, const struct rr_rdma_lib *,
                      struct ibv_device *, rr_time within);
void rr_test_pair_fini(struct rr_test_pair *);

/* Gets the index of the port's next GID to try, the most promising first.  *@state is
 * 0 for the first call.  Returns -ENOENT if there are no more. */
int rr_test_pair_next_gid(const struct rr_test_pair *, unsigned *state, unsigned *ret);

/* Makes and connects the queue pairs, and allocates an unbound window. */
int rr_test_pair_connect(struct rr_test_pair *);
void rr_test_pair_disconnect(struct rr_test_pair *);

/* Posts @wr, whose flags it sets, on @qp and waits for the next completion.  Returns 0,
 * with the completion in @ret, or -ETIMEDOUT, or the error of the post. */
int rr_test_pair_run(struct rr_test_pair *, struct ibv_qp *, struct ibv_send_wr *,
                     struct ibv_wc *ret);
/* Posts a Receive at the owner, then @wr at the peer; waits for both completions. */
int rr_test_pair_send(struct rr_test_pair *, struct ibv_send_wr *,
                      struct ibv_wc *ret_send, struct ibv_wc *ret_recv);

#endif
