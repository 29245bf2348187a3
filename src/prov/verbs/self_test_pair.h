/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two queue pairs of one device that talk to each other, for the self-test in
 * self_test.c: how they are made and connected, and how one work request is run to
 * its end.  All calls block, none beyond the trial's deadline.
 */
#ifndef RR_PROV_VERBS_TEST_H
#define RR_PROV_VERBS_TEST_H

#include "prov/verbs/dl.h"

/* Places in the trial's one page of memory; each has TEST_LEN octets. */
enum {
	TEST_LEN = 64,
	TEST_TARGET = 0x400, /* behind the window */
	TEST_SOURCE = 0x800, /* what is written */
	TEST_SINK = 0xc00,   /* what is read, what is received */
	TEST_BYTES = 0x1000,
};

struct rr_test_pair {
	const struct rr_rdma_lib *lib;
	struct ibv_context *ctx;
	rr_time deadline;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;    /* of all of it */
	struct ibv_mr *tight; /* of the target alone */
	uint8_t *mem;
	uint8_t port;
	struct ibv_port_attr attr;
	unsigned gid; /* index; of no meaning on InfiniBand */
	/* One round: made by rr_test_pair_connect, ended by rr_test_pair_disconnect. */
	struct ibv_qp *owner, *peer;
	struct ibv_mw *mw;
};

/* 0, -EAGAIN (no port is up) or what failed.  After all of them: _fini. */
int rr_test_pair_init(struct rr_test_pair *, const struct rr_rdma_lib *,
                      struct ibv_device *, rr_time within);
void rr_test_pair_fini(struct rr_test_pair *);

/* The index of the port's next address to try, in the order of promise, from
 * *@state (begin with 0) on; -ENOENT: no more. */
int rr_test_pair_next_gid(const struct rr_test_pair *, unsigned *state, unsigned *ret);

/* A fresh pair, connected, and a window that is bound to nothing. */
int rr_test_pair_connect(struct rr_test_pair *);
void rr_test_pair_disconnect(struct rr_test_pair *);

/* Posts @wr (flags are set here) on @qp and waits for the next completion of the
 * trial's queue: 0, -ETIMEDOUT, or what the post answered.  Whether the work
 * went well is in @ret. */
int rr_test_pair_run(struct rr_test_pair *, struct ibv_qp *, struct ibv_send_wr *,
                     struct ibv_wc *ret);
/* As rr_test_pair_run with a Receive posted before at the owner: both completions. */
int rr_test_pair_send(struct rr_test_pair *, struct ibv_send_wr *,
                      struct ibv_wc *ret_send, struct ibv_wc *ret_recv);

#endif
