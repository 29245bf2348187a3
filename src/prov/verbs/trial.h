/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two queue pairs of one device that talk to each other, for the self-test in
 * probe.c: how they are made and connected, and how one work request is run to
 * its end.  All calls block, none beyond the trial's deadline.
 */
#ifndef RR_PROV_VERBS_TRIAL_H
#define RR_PROV_VERBS_TRIAL_H

#include "prov/verbs/dl.h"

/* Places in the trial's one page of memory; each has TRIAL_LEN octets. */
enum {
	TRIAL_LEN = 64,
	TRIAL_TARGET = 0x400, /* behind the window */
	TRIAL_SOURCE = 0x800, /* what is written */
	TRIAL_SINK = 0xc00,   /* what is read, what is received */
	TRIAL_BYTES = 0x1000,
};

struct rr_trial {
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
	/* One round: made by rr_trial_pair, ended by rr_trial_unpair. */
	struct ibv_qp *owner, *peer;
	struct ibv_mw *mw;
};

/* 0, -EAGAIN (no port is up) or what failed.  After all of them: _fini. */
int rr_trial_init(struct rr_trial *, const struct rr_rdma_lib *, struct ibv_device *,
                  rr_time within);
void rr_trial_fini(struct rr_trial *);

/* The index of the port's next address to try, in the order of promise, from
 * *@state (begin with 0) on; -ENOENT: no more. */
int rr_trial_gid(const struct rr_trial *, unsigned *state, unsigned *ret);

/* A fresh pair, connected, and a window that is bound to nothing. */
int rr_trial_pair(struct rr_trial *);
void rr_trial_unpair(struct rr_trial *);

/* Posts @wr (flags are set here) on @qp and waits for the next completion of the
 * trial's queue: 0, -ETIMEDOUT, or what the post answered.  Whether the work
 * went well is in @ret. */
int rr_trial_run(struct rr_trial *, struct ibv_qp *, struct ibv_send_wr *,
                 struct ibv_wc *ret);
/* As rr_trial_run with a Receive posted before at the owner: both completions. */
int rr_trial_send(struct rr_trial *, struct ibv_send_wr *, struct ibv_wc *ret_send,
                  struct ibv_wc *ret_recv);

#endif
