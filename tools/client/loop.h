/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tools' main loop: an engine, descriptors that are polled with it, and the signals
 * that stop a tool (SIGINT, SIGTERM, SIGHUP).
 *
 * A tool has a single flow of control, which waits in loop_wait.  Callbacks for calls
 * run inside loop_wait and must not wait.
 */
#ifndef RPCRDMA_TOOLS_LOOP_H
#define RPCRDMA_TOOLS_LOOP_H

#include "tool.h"

struct loop_watch {
	struct loop_watch *next;
	int fd;
	short events;             /* poll(2) */
	void (*ready)(void *arg); /* may unwatch */
	void *arg;
	bool on;
};

struct loop {
	struct rpcrdma_engine *engine;
	struct tool_common *common;
	struct loop_watch *watches;
	bool ignores_signal; /* ignore the first signal; set while cleaning up */
};

/* Creates the engine and installs the signal handlers.  Returns 0, or prints a message
 * and returns a negative errno. */
int loop_init(struct loop *, struct tool_common *);
/* Frees the engine.  Connections must have been closed. */
void loop_fini(struct loop *);
/* Handles events, and sleeps up to @timeout_ms (-1: no limit), but at most a quarter of
 * a second, so that callers can check their state.  Returns 0 or a negative errno;
 * after a signal, always returns -EINTR. */
int loop_wait(struct loop *, int timeout_ms);
/* Returns the signal that was caught, or 0. */
int loop_signal(void);
/* Calls watch->ready whenever the descriptor is ready.  The watch is lent until
 * loop_unwatch. */
void loop_watch(struct loop *, struct loop_watch *);
void loop_unwatch(struct loop *, struct loop_watch *);
/* If a signal was caught, ends the process by raising it again.  Otherwise returns
 * @code. */
int loop_exit_code(int code);

#endif
