/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Requester with the feature REMINV whose peer is octets laid out by hand, and Calls
 * that offer up to four regions: a Read chunk of 600 octets, Write chunks of 700 and 600
 * octets, and a Reply chunk of 70000.
 */
#ifndef RR_TEST_CONN_REMINV_H
#define RR_TEST_CONN_REMINV_H

#include "test_conn_spec.h"

#define PROP_REQREMINV "ffffff02 00000004 "

enum inv_chunk {
	INV_READ = 1,
	INV_WRITE = 2,
	INV_WRITE2 = 4,
	INV_REPLY = 8,
	INV_ALL = 15,
	INV_LONG = 16, /* the Call is too long for two messages */
};

/* A Call, and the handles of its regions in header order. */
struct inv_call {
	struct spec_call *k;
	unsigned chunks;
	uint8_t item[600], result[700], result2[600];
	uint32_t read, write, write2, reply; /* handles; 0 = no such chunk */
};

/* Returns a configuration with the feature switched on. */
struct rr_conn_config inv_config(enum rr_inv_policy policy);
/* Returns a ready Requester with that policy. */
struct side *inv_client(enum rr_inv_policy policy);
/* Starts a Call with these chunks. */
struct inv_call *inv_start(struct side *s, uint32_t xid, unsigned chunks);
/* Frees a call that has ended; its Reply has been released. */
void inv_free(struct inv_call *v);
/* Receives a good Reply to the call, which invalidates @inv; 0 = nothing. */
void inv_answer(struct side *s, const struct inv_call *v, uint32_t inv);
/* Returns the rdma_inv_handle of the last message sent. */
uint32_t inv_named(const struct side *s);
/* Returns true if the region is registered. */
bool inv_valid(const struct side *s, uint32_t handle);
struct rr_conn_counters inv_counters(const struct side *s);

#endif
