/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes trace events to the program: to its trace function as JSON, to its log
 * function as sentences.
 *
 * An object with a peer (a link, a client's connection) has a voice, so that each line
 * names the peer.  The engine has a voice for events without a peer.  Each layer emits
 * its events to the sink of a voice.  While the program has neither trace nor log, the
 * sink has no function.  An event below the level of the log is not formatted.
 */
#ifndef RR_LOOP_LOG_H
#define RR_LOOP_LOG_H

#include <sys/socket.h>

#include "base/list.h"
#include "base/trace.h"
#include <rpcrdma/rpcrdma.h>

struct rpcrdma_engine;
struct rr_voice;

/* Describes the state of a connection that has just changed (RR_TRACE_CONN_STATE).
 * Writes a sentence to @s, and returns its level; RPCRDMA_LOG_DEBUG: there is no
 * sentence.  With @size 0 only the level is wanted. */
typedef enum rpcrdma_log_level
rr_describe_state_fn(const struct rr_voice *, uint64_t state, char *s, size_t size);

struct rr_voice {
	struct rr_trace_sink sink;
	struct rr_list all; /* in the engine's list */
	struct rpcrdma_engine *engine;
	rr_describe_state_fn *describe_state; /* or NULL */
	struct sockaddr_storage peer;         /* family 0: not known */
};

void rr_voice_init(struct rr_voice *, struct rpcrdma_engine *, rr_describe_state_fn *);
/* Harmless on a zeroed voice. */
void rr_voice_fini(struct rr_voice *);
void rr_voice_set_peer(struct rr_voice *, const struct sockaddr *, socklen_t len);
/* Opens or closes the sinks of all voices of the engine, after its log or trace was
 * set. */
void rr_voices_listen(struct rpcrdma_engine *);

#endif
