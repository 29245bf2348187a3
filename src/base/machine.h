/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State machines as tables.
 *
 * A header defines a machine M by three X-macro tables:
 *
 *   M_EVENTS(X)  X(name, meaning)
 *   M_STATES(X)  X(name, meaning, accepted events): event names joined by |
 *   M_MOVES(X)   X(from, event, to)
 *
 * and generates from the tables, in the same order, enumerations of the states and of
 * the events.  RR_MACHINE(f, M) in one source file defines f(), which returns the
 * tables as data.  A move caused by an event that the state does not accept is a
 * compile-time error.  A machine has at most 31 events.  tests/spec/states.sh generates
 * docs/states.md and its diagrams from the same tables.
 *
 * A function that handles an event calls RR_MACHINE_EVENT(f, state, event); the one
 * function that assigns the state calls RR_MACHINE_MOVE(f, from, event, to).  In builds
 * with RR_DEBUG (build type Debug, or sanitizers), an event or a move that is not in
 * the tables aborts the process, as RR_ASSERT does; in other builds the macros compile
 * to nothing.  If a contract says that an event is ignored, the event is dropped before
 * it reaches the machine.
 */
#ifndef RR_BASE_MACHINE_H
#define RR_BASE_MACHINE_H

#include "base/base.h"

struct rr_move {
	uint8_t from, event, to;
};

struct rr_machine {
	const char *name;
	const char *const *state; /* names */
	const char *const *event; /* names */
	const uint32_t *accepted; /* for each state, a bit mask of the accepted
	                           * events */
	const struct rr_move *move;
	unsigned n_states, n_events, n_moves;
};

bool rr_machine_accepts(const struct rr_machine *, unsigned state, unsigned event);
bool rr_machine_moves(const struct rr_machine *, unsigned from, unsigned event,
                      unsigned to);
/* Print a message and abort if the event or the move is not in the tables. */
void rr_machine_check_event(const struct rr_machine *, unsigned state, unsigned event);
void rr_machine_check_move(const struct rr_machine *, unsigned from, unsigned event,
                           unsigned to);

#ifdef RR_DEBUG
#define RR_MACHINE_EVENT(f, state, event)   rr_machine_check_event(f(), state, event)
#define RR_MACHINE_MOVE(f, from, event, to) rr_machine_check_move(f(), from, event, to)
#else
#define RR_MACHINE_EVENT(f, state, event)   ((void)(state), (void)(event))
#define RR_MACHINE_MOVE(f, from, event, to) ((void)(from), (void)(event), (void)(to))
#endif

/* Inside f(), at_NAME is a state, by_NAME an event, and NAME that event's bit. */
#define RR_MACHINE_AT(name, ...)   at_##name,
#define RR_MACHINE_BY(name, ...)   by_##name,
#define RR_MACHINE_BIT(name, ...)  name = 1u << by_##name,
#define RR_MACHINE_NAME(name, ...) #name,

#define RR_MACHINE_MASK(name, meaning, accepted)    accepted,
#define RR_MACHINE_ACCEPTS(name, meaning, accepted) accepts_##name = (accepted),
#define RR_MACHINE_ROW(from, event, to)             {at_##from, by_##event, at_##to},
/* Fails to compile if the state does not accept the event (a division by 0), or if the
 * table lists a move twice (a duplicate name). */
#define RR_MACHINE_LEGAL(from, event, to)                                              \
	legal_##from##_##event##_##to = 1 / !!(accepts_##from & event),

#define RR_MACHINE(f, M)                                                               \
	const struct rr_machine *f(void)                                               \
	{                                                                              \
		enum { M##_STATES(RR_MACHINE_AT) };                                    \
		enum { M##_EVENTS(RR_MACHINE_BY) };                                    \
		enum { M##_EVENTS(RR_MACHINE_BIT) };                                   \
		enum { M##_STATES(RR_MACHINE_ACCEPTS) };                               \
		enum { M##_MOVES(RR_MACHINE_LEGAL) };                                  \
		static const char *const state[] = {M##_STATES(RR_MACHINE_NAME)};      \
		static const char *const event[] = {M##_EVENTS(RR_MACHINE_NAME)};      \
		static const uint32_t accepted[] = {M##_STATES(RR_MACHINE_MASK)};      \
		static const struct rr_move move[] = {M##_MOVES(RR_MACHINE_ROW)};      \
		static const struct rr_machine machine = {                             \
		        .name = #M,                                                    \
		        .state = state,                                                \
		        .event = event,                                                \
		        .accepted = accepted,                                          \
		        .move = move,                                                  \
		        .n_states = RR_ARRAY_SIZE(state),                              \
		        .n_events = RR_ARRAY_SIZE(event),                              \
		        .n_moves = RR_ARRAY_SIZE(move),                                \
		};                                                                     \
                                                                                       \
		return &machine;                                                       \
	}

#endif
