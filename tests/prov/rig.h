/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two endpoints, of one provider or of two, and what is needed to drive them:
 * the same tests run on virtual time over sim and on the real clock over iwarp,
 * over a device, and between those two.
 *
 * Completions are collected as they come, in @log; rig_wait draws the next one
 * of a kind.  Every post made through the rig_* helpers is counted, and
 * rig_audit holds the log against the counts: one completion per post, tokens
 * in order within a kind, DISCONNECTED last.
 */
#ifndef TESTS_PROV_RIG_H
#define TESTS_PROV_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prov/prov.h"

enum { CLIENT, SERVER, RIG_LOG = 16384, RIG_MEM = 4 << 20, RIG_RECV = 4096 };
enum { RIG_KINDS = RR_WC_DISCONNECTED + 1 };

struct rig_end {
	struct rr_ep *ep;
	struct rr_wc log[RIG_LOG];
	unsigned n_log;
	unsigned drawn[RIG_KINDS]; /* place in the log, per kind */
	unsigned posted[RIG_KINDS];
	bool deaf;    /* is neither progressed nor polled */
	uint8_t *mem; /* RIG_MEM octets */
};

struct rig {
	const struct rr_prov_ops *ops[2]; /* of CLIENT, SERVER */
	struct rr_prov_config cfg[2];
	struct rr_prov_listener *listener;
	struct sockaddr_storage addr;
	struct rig_end end[4]; /* a second pair: 2 client, 3 server */
	unsigned n_ends;
};

/*
 * Promises of prov.h that a provider cannot keep, because its device hides an event.
 * A test of such a promise requires what remains of it; every provider must pass all
 * other tests.
 */
enum rig_lack {
	/* A peer that vanished looks like one that closed: the connection manager of
	 * the peer's kernel closes the connection. */
	RIG_NO_RESET = 1,
	/* The end of the peer's private data is unknown: zeros follow. */
	RIG_PADDED_PRIVATE = 2,
	/* Octets that the peer wrote or read by RDMA are not counted. */
	RIG_NO_PASSIVE_BYTES = 4,
	/* Handles are the device's: near each other (rxe), or chosen at random from
	 * 2^24, so that one may repeat (siw). */
	RIG_DEVICE_HANDLES = 8,
	/* A Send without a Receive (InfiniBand reports it to the sender only), or an
	 * invalid handle (siw, or too late), looks like a close. */
	RIG_NO_RNR_BLAME = 16,
	RIG_NO_HANDLE_BLAME = 32,
	/* The peer's reason to end the connection is unknown: siw only logs a Terminate,
	 * in the kernel's log; rxe refuses an invalidation without a report. */
	RIG_NO_TERMINATE = 64,
	RIG_NO_INV_BLAME = 128,
	/* siw lets a peer read a region that it may only write, if it has the handle. */
	RIG_READS_ALL = 256,
	/* InfiniBand: a Send without a Receive waits, and does not end the connection. */
	RIG_RNR_WAITS = 512,
	/* rxe does not compare protection domains: a peer can invalidate a region of
	 * another connection, if it has the handle. */
	RIG_INVALIDATES_ALL = 1024,
};

/* The providers under test: rig_sim.c, rig_iwarp.c, rig_verbs.c. */
const struct rr_prov_ops *rig_provider(unsigned side);
bool rig_ready(void);                 /* false: nothing can be tested; prints why */
struct sockaddr_in rig_address(void); /* to listen on */
unsigned rig_lacks(unsigned side);
void rig_provider_begin(struct rr_prov_config *, unsigned side);
void rig_provider_end(void);
/* Runs the tests of this provider only.  Returns how many failed. */
int rig_own_tests(void);
bool rig_own_only(void);
/* Waits until the peer may access what was registered: on a device a work request
 * opens it, and a peer that learns the handle by other means could be too early. */
void rig_registered(struct rig *, unsigned side);
rr_time rig_now(void);
/* Lets time pass until something may have happened.  Returns false if nothing can. */
bool rig_pass(struct rig *);
void rig_silence(struct rig *, bool on); /* what is sent is lost, where possible */
unsigned rig_variants(void);             /* the suite runs so many times */
void rig_choose(unsigned variant);

/* The table of an end that is there. */
static inline const struct rr_prov_ops *rig_ops(struct rig *g, unsigned side)
{
	return g->end[side].ep->ops;
}

int rig_setup(void **state);           /* a listener */
int rig_setup_connected(void **state); /* and one connection */
int rig_teardown(void **state);

struct sockaddr *rig_sockaddr(struct rig *, socklen_t *ret_len);
void rig_connect(struct rig *, unsigned side, const void *priv, size_t len);
void rig_accept(struct rig *, unsigned side, const void *priv, size_t len);
void rig_connect_pair(struct rig *, unsigned first);

void rig_turn(struct rig *); /* poll everybody, then let time pass */
struct rr_wc rig_wait(struct rig *, unsigned side, enum rr_wc_op);
unsigned rig_seen(struct rig *, unsigned side, enum rr_wc_op);
void rig_settle(struct rig *); /* until nothing more comes */
void rig_ended(struct rig *, unsigned side, int status);
void rig_audit(struct rig *, unsigned side);

/* Posts that must succeed.  Tokens count up within each kind, from 1. */
void rig_recv(struct rig *, unsigned side, void *base, size_t len);
void rig_send(struct rig *, unsigned side, const void *base, size_t len, uint32_t inv);
void rig_write(struct rig *, unsigned side, const void *base, size_t len,
               uint32_t handle, uint64_t offset);
void rig_read(struct rig *, unsigned side, void *base, size_t len, uint32_t handle,
              uint64_t offset);
struct rr_region rig_register(struct rig *, unsigned side, void *base, size_t len,
                              unsigned access);
void rig_invalidate(struct rig *, unsigned side, uint32_t handle);
void rig_flush(struct rig *, unsigned side);

/* One message each way: everything sent before has been delivered. */
void rig_round_trip(struct rig *, unsigned client);

/* Octet at @i of stream @seed: contents depend on the place. */
uint8_t rig_octet(unsigned seed, size_t i);
void rig_fill(void *base, size_t len, unsigned seed);
void rig_check(const void *base, size_t len, unsigned seed);

extern const struct CMUnitTest rig_setup_tests[], rig_transfer_tests[],
        rig_pooled_tests[], rig_access_tests[], rig_end_tests[];
extern const size_t rig_setup_count, rig_transfer_count, rig_pooled_count,
        rig_access_count, rig_end_count;

#endif
