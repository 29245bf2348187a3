/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes trace events to the program: as JSON to its trace function, and as sentences
 * to its log function.
 *
 * Each object with a peer (a link or a client's connection) contains a struct rr_voice,
 * which adds the peer's address to each log line.  The engine has a voice for events
 * that concern no peer.  Each layer emits its events to a voice's sink.  The sink has
 * an emit function only while the program has set a trace or a log function.  Events
 * too detailed for the log level are not formatted as sentences.
 */
#ifndef RR_LOOP_LOG_H
#define RR_LOOP_LOG_H

#include <sys/socket.h>

#include "base/list.h"
#include "base/trace.h"
#include <rpcrdma/rpcrdma.h>

struct rpcrdma_engine;
struct rr_voice;

/* Describes the new @state of a connection (RR_TRACE_CONN_STATE).  Writes a sentence to
 * @s, and returns its level, or RPCRDMA_LOG_DEBUG if there is no sentence.  If @size is
 * 0, only returns the level. */
typedef enum rpcrdma_log_level
rr_describe_state_fn(const struct rr_voice *, uint64_t state, char *s, size_t size);

struct rr_voice {
	struct rr_trace_sink sink;
	struct rr_list all; /* in the engine's list */
	struct rpcrdma_engine *engine;
	rr_describe_state_fn *describe_state; /* may be NULL */
	struct sockaddr_storage peer;         /* family 0 = not known */
};

void rr_voice_init(struct rr_voice *, struct rpcrdma_engine *, rr_describe_state_fn *);
/* Does nothing if the voice is zeroed. */
void rr_voice_fini(struct rr_voice *);
void rr_voice_set_peer(struct rr_voice *, const struct sockaddr *, socklen_t len);
/* Sets or removes the emit functions of all the engine's voices, after the program has
 * set its log or trace function. */
void rr_voices_listen(struct rpcrdma_engine *);

#endif
