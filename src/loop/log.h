/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where trace events go: to the program's trace as JSON, and to its log as a sentence.
 *
 * What has a peer (a link, a client's connection) has a voice, so that a line names the
 * peer; the engine has one for what has none.  Each layer emits its events to the sink of
 * the voice that it was given.  The sink is empty while nobody listens, and nothing is
 * formatted for an event that the log's level leaves out.
 */
#ifndef RR_DRIVE_LOG_H
#define RR_DRIVE_LOG_H

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
	struct rr_list all; /* of its engine */
	struct rpcrdma_engine *engine;
	rr_describe_state_fn *describe_state; /* or NULL */
	struct sockaddr_storage peer;         /* family 0: not known */
};

void rr_voice_init(struct rr_voice *, struct rpcrdma_engine *, rr_describe_state_fn *);
/* Harmless on a zeroed voice. */
void rr_voice_fini(struct rr_voice *);
void rr_voice_set_peer(struct rr_voice *, const struct sockaddr *, socklen_t len);
/* Opens or closes the sinks of all voices of the engine, after its log or trace was set. */
void rr_voices_listen(struct rpcrdma_engine *);

#endif
