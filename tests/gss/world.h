/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client and a server of the native API under RPCSEC_GSS, both in one engine over
 * software iWARP, with tickets of a real KDC (with_kdc.sh).
 */
#ifndef WORLD_H
#define WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "gss/gss_client.h"

enum { PROG = 0x20000099, VERS = 1 };
enum { P_NULL, P_ECHO, P_ONCE, P_WHO, N_PROCS };

extern struct world {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	struct rpcrdma_gss *gss;
	char port[16];
	unsigned once;                  /* executed */
	struct rpcrdma_request *parked; /* of P_ONCE */
	bool park;
	struct rpcrdma_gss_caller caller; /* of the last P_WHO */
	char principal[128];
	/* An impostor's answers to whatever NULL is called with. */
	uint8_t answer[512];
	size_t answer_len;
	unsigned mistakes; /* replies of the handler that were refused to it */
	bool impostor;
	unsigned version; /* of RPC-over-RDMA; 0: as ever */
	bool exact;       /* echo offers no destination, and room for what comes only */
	unsigned contexts, refused; /* traced; by both ends */
	unsigned weak;
	unsigned sent, ended, most; /* calls; in flight */
} w;

void start_service(void);
void start_listener(void);
/* Both ends, and a context object of that service that does nothing yet. */
void start(enum rpcrdma_gss_service service);
struct rpcrdma_gss *context(const char *principal, enum rpcrdma_gss_service service,
                            uint64_t timeout_ns);
/* The teardown of each test. */
int clean_up(void **state);

/* A call's end. */
struct wait {
	unsigned done;
	int status;
	uint32_t auth_stat, word;
	bool right, used;
	size_t reply_len;
	const uint8_t *expect;
	uint32_t len;
};
struct rpcrdma_call_options call_to(uint32_t proc, struct wait *x);
/* Until *@count is @want; not for ever. */
void spin(const unsigned *count, unsigned want);
/* The loop, for a while in which nothing is waited for. */
void turn(unsigned times);
int run(struct rpcrdma_call_options *o);
int run_null(struct rpcrdma_gss *g);
/* @len octets there and back; did they move by RDMA? */
bool echo(uint32_t len);
struct rpcrdma_stats stats(void);
struct rpcrdma_gss_info info(struct rpcrdma_gss *g);

#define TEST(f) cmocka_unit_test_teardown(f, clean_up)

/* Where a test has --wrap for it. */
OM_uint32 __real_gss_accept_sec_context(OM_uint32 *, gss_ctx_id_t *, gss_cred_id_t,
                                        gss_buffer_t, gss_channel_bindings_t,
                                        gss_name_t *, gss_OID *, gss_buffer_t,
                                        OM_uint32 *, OM_uint32 *, gss_cred_id_t *);
OM_uint32 __wrap_gss_accept_sec_context(OM_uint32 *, gss_ctx_id_t *, gss_cred_id_t,
                                        gss_buffer_t, gss_channel_bindings_t,
                                        gss_name_t *, gss_OID *, gss_buffer_t,
                                        OM_uint32 *, OM_uint32 *, gss_cred_id_t *);

#endif
