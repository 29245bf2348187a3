/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that must be executed once: a client that reconnects, a server with its
 * reply cache, a store of names.  once.c calls, serves and checks; once_end.c opens,
 * moves and closes an end.
 */
#ifndef TESTS_SIM_ONCE_H
#define TESTS_SIM_ONCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rpc/reply_cache.h"
#include "link/pump.h"
#include "prov/sim/sim.h"

enum {
	LANES = 2,
	NAMES = 8,
	STEPS = 12,
	LONG_ITEM = 6001, /* a name that travels by a Read chunk; odd */
	RESULT_ITEM = 3001,
	RETRY_NS = 20000,
	MAX_ROUNDS = 100000,
	MAX_SESSIONS = 16,
};

struct world;

struct end {
	struct rr_pump pump;
	struct world *w;
	rr_time timer;
	bool server;
};

struct served {
	struct served *next;
	struct end *end;
	struct rr_request *request;
	struct rr_rpc_call call;
	struct rpcrdma_piece args[3];
	unsigned n_args;
	struct rr_reply_cache_waiter waiter;
	struct rr_reply_cache_entry *entry; /* held for its reply */
	enum { EXECUTING, WAITING, TOLD, ANSWERED } state;
	rr_time due;
	uint8_t header[64], head[8], item[RESULT_ITEM];
};

struct asked {
	struct rr_call call;
	unsigned lane, step;
	uint8_t header[RR_RPC_HEADER_MAX], args[16];
	uint8_t name[LONG_ITEM], result[RESULT_ITEM];
	struct rr_piece pieces[3];
	struct rr_dest dest;
	bool active, sent;
	unsigned attempts;
};

struct world {
	struct rr_sim_world *sim;
	struct rr_prov_listener *listener;
	struct sockaddr_storage addr;
	struct rr_reply_cache cache;
	struct end client, session[MAX_SESSIONS];
	unsigned n_sessions;
	struct served *served;
	struct asked asked[LANES];
	rr_time retry_at;
	bool ending; /* all is answered, the connection closes */
	/* the store */
	struct {
		bool there;
		uint32_t verf;
	} file[LANES][NAMES];
	unsigned executed[LANES][STEPS]; /* how often each operation was */
	uint32_t serial[LANES];
	/* memory: the connections', and the cache's; the one that fails, 0 = none */
	uint64_t gets, fail_get;
	uint64_t cache_gets, fail_cache_get;
	bool in_cache;
	/* what was seen */
	unsigned connections, retransmits, hits, waits, finished, wrong;
};

static inline rr_time world_now(const struct world *w)
{
	return rr_sim_now(w->sim);
}

/* once_end.c */
/* Without memory for it: closed, its endpoint destroyed. */
void end_open(struct world *, struct end *, struct rr_ep *, bool server);
void end_close(struct end *);
bool end_pump(struct end *); /* true if anything completed */

/* once.c, called by the pump */
void on_request(struct end *, struct rr_request *);
void on_request_done(struct end *, struct rr_request *);
void on_call_done(struct world *, struct rr_call *);
void on_session_lost(struct end *);

#endif
