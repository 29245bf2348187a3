/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tools' main loop: an engine, descriptors to wait for beside it, and the
 * signals that ask a tool to stop (SIGINT, SIGTERM, SIGHUP).
 *
 * A tool has one line of control that waits in loop_wait; callbacks of calls
 * run inside it and never wait themselves.
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
	bool deaf; /* while cleaning up: the first signal is not news */
};

/* Makes the engine and catches the signals.  Messages are printed. */
int loop_init(struct loop *, struct tool_common *);
/* Frees the engine; connections must have been closed. */
void loop_fini(struct loop *);
/* Handles what is ready, sleeping up to @timeout_ms (and never longer than a
 * quarter of a second, so that callers look around).  0, a negative errno, or
 * -EINTR for ever once a signal came. */
int loop_wait(struct loop *, int timeout_ms);
/* The signal that came, or 0. */
int loop_signal(void);
/* Calls watch->ready whenever the descriptor is; lent until unwatched. */
void loop_watch(struct loop *, struct loop_watch *);
void loop_unwatch(struct loop *, struct loop_watch *);
/* Ends the process as the signal that came would have; else returns @code. */
int loop_exit_code(int code);

#endif
