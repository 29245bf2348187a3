/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state machine of a link as tables (base/machine.h).
 *
 * The state is in the pump; only move_link in pump.c assigns it.  docs/states.md has
 * the diagram.
 */
#ifndef RR_LINK_LINK_STATES_H
#define RR_LINK_LINK_STATES_H

#include "base/machine.h"

/* -- link ------------------------------------------------------------------ */

#define RR_LINK_EVENTS(X) /* name, meaning */                                          \
	X(CONNECT, "RR_WC_CONNECTED is polled")                                        \
	X(AGREE, "RR_ACT_READY is polled")                                             \
	X(LEAVE, "the owner closes the link")                                          \
	X(DISCONNECT, "the connection asks to disconnect, or a post failed")           \
	X(COMPLETE, "a post has completed or was flushed")                             \
	X(TICK, "the connection's deadline has passed")                                \
	X(LOSE, "RR_WC_DISCONNECTED is polled, or the endpoint was destroyed")         \
	X(CLOSE, "RR_ACT_CLOSED is polled")

#define RR_LINK_STATES(X) /* name, meaning, events accepted */                         \
	X(CONNECTING, "the endpoint connects; Receives are posted",                    \
	  CONNECT | AGREE | LEAVE | DISCONNECT | COMPLETE | TICK | LOSE)               \
	X(OPEN, "version and properties are exchanged",                                \
	  AGREE | LEAVE | DISCONNECT | COMPLETE | TICK | LOSE)                         \
	X(READY, "Calls and Replies are sent and received",                            \
	  CONNECT | LEAVE | DISCONNECT | COMPLETE | TICK | LOSE)                       \
	X(LEAVING, "the owner closes the link; disconnect is not called yet",          \
	  CONNECT | AGREE | LEAVE | DISCONNECT | COMPLETE | TICK | LOSE)               \
	X(CLOSING, "the endpoint disconnects",                                         \
	  CONNECT | AGREE | LEAVE | DISCONNECT | COMPLETE | TICK | LOSE)               \
	X(LOST, "the endpoint has ended; users still hold requests or Replies",        \
	  LEAVE | DISCONNECT | CLOSE)                                                  \
	X(OVER, "the owner has been notified of the end; terminal", 0)

#define RR_LINK_MOVES(X) /* from, event, to */                                         \
	X(CONNECTING, CONNECT, OPEN)                                                   \
	X(CONNECTING, AGREE, READY)                                                    \
	X(OPEN, AGREE, READY)                                                          \
	X(CONNECTING, LEAVE, LEAVING)                                                  \
	X(OPEN, LEAVE, LEAVING)                                                        \
	X(READY, LEAVE, LEAVING)                                                       \
	X(CONNECTING, DISCONNECT, CLOSING)                                             \
	X(OPEN, DISCONNECT, CLOSING)                                                   \
	X(READY, DISCONNECT, CLOSING)                                                  \
	X(LEAVING, DISCONNECT, CLOSING)                                                \
	X(CONNECTING, LOSE, LOST)                                                      \
	X(OPEN, LOSE, LOST)                                                            \
	X(READY, LOSE, LOST)                                                           \
	X(LEAVING, LOSE, LOST)                                                         \
	X(CLOSING, LOSE, LOST)                                                         \
	X(LOST, CLOSE, OVER)

enum rr_link_event {
#define X(name, ...) RR_LINK_EV_##name,
	RR_LINK_EVENTS(X)
#undef X
};
enum rr_link_state {
#define X(name, ...) RR_LINK_##name,
	RR_LINK_STATES(X)
#undef X
};

const struct rr_machine *rr_link_machine(void);

#endif
